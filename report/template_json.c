/* Messages: from JSON to a tree of our own, and filled to JSON again.  See template.h. */
#include "report/template_tree.h"

#define TEMPLATE_MAX_NESTING 64 /* objects and lists in each other; messages have ten */

/* ---- loading --------------------------------------------------------------------------------- */

static bool compile(struct loader *l, const cJSON *from, struct node *ret);

static const char *const directives[] = { "data-each", "data-if", "data-else" };

static bool is_directive(struct str key)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(directives); i++)
		if (str_eq(key, str_from(directives[i])))
			return true;
	return false;
}

static struct str directive_of(struct loader *l, const void *from, const char *name)
{
	(void)l;
	return is_directive(str_from(name)) ? json_get_str(from, name) : MISSING;
}

static bool check_directives(struct loader *l, const cJSON *from, bool in_list)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(directives); i++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(from, directives[i]);
		if (v && !cJSON_IsString(v))
			return loader_bad(l, str_from(directives[i]),
				"%s takes the name of a field", directives[i]);
		if (v && i == 0 && !in_list)
			return loader_bad(l, STR("data-each"),
				"data-each repeats an object of a list: put [ ] around it");
	}
	return true;
}

static bool compile_members(struct loader *l, const cJSON *from, struct node *ret)
{
	struct node **end = &ret->child;
	const cJSON *v;
	cJSON_ArrayForEach(v, from)
	{
		struct str key = str_from(v->string);
		loader_seek_past(l, arena_fmt(l->keep, "\"%.*s\"", STR_ARG(key)));
		if (is_directive(key))
			continue;
		if (has_slot(key))
			return loader_bad(l, key, "no slot may stand in a key");
		if (str_starts(key, STR("data-")))
			return loader_bad(l, key,
				"unknown '%.*s'; there are data-each, data-if and data-else",
				STR_ARG(key));
		*end = arena_make(l->keep, struct node, 1);
		(*end)->key = arena_str(l->keep, key);
		if (!compile(l, v, *end))
			return false;
		end = &(*end)->next;
	}
	return true;
}

static bool compile_object(struct loader *l, const cJSON *from, bool in_list, struct node *ret)
{
	int scopes = l->scope_count;
	struct str type = json_get_str(from, "type");
	ret->kind = NODE_OBJECT;
	if (type.p && !has_slot(type))
		ret->type = arena_str(l->keep, type);
	bool ok = check_directives(l, from, in_list) &&
		  loader_directives(l, ret, from, directive_of) && compile_members(l, from, ret);
	l->scope_count = scopes;
	return ok;
}

static bool compile_list(struct loader *l, const cJSON *from, struct node *ret)
{
	struct node **end = &ret->child;
	const cJSON *v;
	ret->kind = NODE_LIST;
	cJSON_ArrayForEach(v, from)
	{
		*end = arena_make(l->keep, struct node, 1);
		bool ok =
			cJSON_IsObject(v) ? compile_object(l, v, true, *end) : compile(l, v, *end);
		if (!ok)
			return false;
		end = &(*end)->next;
	}
	return true;
}

static bool compile(struct loader *l, const cJSON *from, struct node *ret)
{
	bool ok = true;
	if (++l->depth > TEMPLATE_MAX_NESTING)
		return loader_bad(l, STR("{"), "more than %d objects and lists within each other",
			TEMPLATE_MAX_NESTING);
	if (cJSON_IsObject(from)) {
		ok = compile_object(l, from, false, ret);
	} else if (cJSON_IsArray(from)) {
		ok = compile_list(l, from, ret);
	} else if (cJSON_IsString(from)) {
		struct str text = str_from(from->valuestring);
		bool is_slot =
			str_starts(text, STR("{{")) && str_find(text, STR("}}")) == text.len - 2;
		ret->kind = NODE_TEXT;
		ok = loader_pattern(l, text, is_slot, &ret->text);
	} else {
		ret->kind = NODE_RAW;
		ret->raw = arena_str(l->keep, json_compact(from, l->keep));
	}
	l->depth--;
	return ok;
}

bool compile_message(struct loader *l, struct node **ret)
{
	struct diag syntax;
	cJSON *root = json_parse(l->at.file, l->at.source, &syntax);
	if (!root)
		return diag_set(l->err, DIAG_TEMPLATE, "%s", syntax.text);
	*ret = arena_make(l->keep, struct node, 1);
	bool ok = cJSON_IsObject(root) ? compile(l, root, *ret)
				       : loader_bad(l, STR("["), "a message is an object: { }");
	cJSON_Delete(root);
	return ok;
}

/* ---- filling --------------------------------------------------------------------------------- */

struct fill {
	struct records r;
	const struct json_escape *escapes;
};

static cJSON *fill_item(struct fill *f, const struct node *n, struct str type);

static cJSON *fill_text(const struct fill *f, const struct node *n, struct str type)
{
	const struct part *first = n->text.count ? &n->text.parts[0] : NULL;
	const struct json_escape *e = f->escapes;
	struct out *o = out_memory(f->r.keep);
	while ((e->type && !str_eq(type, str_from(e->type))) ||
		(e->key && !str_eq(n->key, str_from(e->key))))
		e++;
	if (first && n->text.count == 1 && first->ref.field) {
		if (!record_has(&f->r, first->ref))
			return NULL;
		if (first->ref.field->type == RECORD_FLAG)
			return cJSON_CreateTrue();
		if (first->ref.field->type == RECORD_REAL)
			return cJSON_CreateRaw(arena_z(f->r.keep, record_text(&f->r, first->ref)));
	}
	for (ptrdiff_t i = 0; i < n->text.count; i++) {
		const struct part *p = &n->text.parts[i];
		if (p->ref.field)
			e->put(o, record_text(&f->r, p->ref));
		else
			out_str(o, p->literal);
	}
	return json_str(out_text(o));
}

/* A list that was empty in the template stays. */
static cJSON *fill_list(struct fill *f, const struct node *n, struct str type)
{
	cJSON *list = cJSON_CreateArray();
	for (const struct node *i = n->child; i; i = i->next) {
		ptrdiff_t count = i->each.field ? record_list(&f->r, i->each).count : 0;
		for (ptrdiff_t k = 0; k < count; k++) {
			records_enter(&f->r, i->each, k);
			cJSON_AddItemToArray(list, fill_item(f, i, MISSING));
			f->r.count--;
		}
		if (!i->each.field)
			cJSON_AddItemToArray(list, fill_item(f, i, type));
	}
	if (list->child || !n->child)
		return list;
	cJSON_Delete(list);
	return NULL;
}

/* NULL, which cJSON does not add, where nothing is left; `type` is of the object around it. */
static cJSON *fill_item(struct fill *f, const struct node *n, struct str type)
{
	cJSON *object;
	if (!records_allow(&f->r, n->only_if, n->only_else))
		return NULL;
	switch (n->kind) {
	case NODE_OBJECT:
		object = cJSON_CreateObject();
		for (const struct node *i = n->child; i; i = i->next)
			cJSON_AddItemToObject(object, i->key.p, fill_item(f, i, n->type));
		return object;
	case NODE_LIST:
		return fill_list(f, n, type);
	case NODE_TEXT:
		return fill_text(f, n, type);
	case NODE_RAW:
		break;
	}
	return cJSON_CreateRaw(n->raw.p);
}

cJSON *template_fill_json(const struct doc_template *t, const void *record,
	const struct json_escape *escapes, struct arena *keep)
{
	struct fill f = { { .items = { record }, .count = 1, .keep = keep }, escapes };
	cJSON *root = fill_item(&f, t->root, MISSING);
	return root ? root : cJSON_CreateObject();
}
