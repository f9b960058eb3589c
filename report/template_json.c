/* Message templates: from JSON to a tree of our own, and filled to JSON again. */
#include "report/template_json.h"

#include <math.h>

#include "report/template_tree.h"

#define TEMPLATE_MAX_NESTING 64 /* objects and lists in each other; messages have ten */

enum item_kind { ITEM_OBJECT, ITEM_LIST, ITEM_TEXT, ITEM_RAW };

struct item {
	enum item_kind kind;
	struct str key; /* inside an object */
	struct str
		type; /* of an object: its member of that name, when it is a text without slots */
	struct pattern text;
	struct str raw; /* a number, true, false or null */
	struct ref each, only_if, only_else;
	struct item *child, *next;
};

struct json_template {
	struct item *root;
};

/* ---- loading --------------------------------------------------------------------------------- */

static bool compile(struct loader *l, const cJSON *from, struct item *ret);

/* data-each first, whatever the order: the other names are looked up in the item. */
static bool compile_directives(struct loader *l, const cJSON *from, bool in_list, struct item *ret)
{
	static const char *const order[] = { "data-each", "data-if", "data-else" };
	ptrdiff_t start = l->cursor;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(from, order[i]);
		struct str name = json_get_str(from, order[i]);
		if (!v)
			continue;
		l->cursor = start;
		if (!name.p)
			return loader_bad(
				l, str_from(order[i]), "%s takes the name of a field", order[i]);
		loader_seek_past(l, str_from(order[i]));
		if (i == 0 && !in_list)
			return loader_bad(l, STR("data-each"),
				"data-each repeats an object of a list: put [ ] around it");
		bool ok = i == 0   ? loader_each(l, name, &ret->each)
			  : i == 1 ? loader_field(l, name, &ret->only_if)
				   : loader_field(l, name, &ret->only_else);
		if (!ok)
			return false;
	}
	l->cursor = start;
	return true;
}

static bool compile_members(struct loader *l, const cJSON *from, struct item *ret)
{
	struct item **end = &ret->child;
	const cJSON *v;
	cJSON_ArrayForEach(v, from)
	{
		struct str key = str_from(v->string);
		loader_seek_past(l, arena_fmt(l->keep, "\"%.*s\"", STR_ARG(key)));
		if (str_eq(key, STR("data-each")) || str_eq(key, STR("data-if")) ||
			str_eq(key, STR("data-else")))
			continue;
		if (has_slot(key))
			return loader_bad(l, key, "no slot may stand in a key");
		if (str_starts(key, STR("data-")))
			return loader_bad(l, key,
				"unknown '%.*s'; there are data-each, data-if and data-else",
				STR_ARG(key));
		*end = arena_make(l->keep, struct item, 1);
		(*end)->key = arena_str(l->keep, key);
		if (!compile(l, v, *end))
			return false;
		end = &(*end)->next;
	}
	return true;
}

static bool compile_object(struct loader *l, const cJSON *from, bool in_list, struct item *ret)
{
	int scopes = l->scope_count;
	struct str type = json_get_str(from, "type");
	ret->kind = ITEM_OBJECT;
	if (type.p && !has_slot(type))
		ret->type = arena_str(l->keep, type);
	bool ok = compile_directives(l, from, in_list, ret) && compile_members(l, from, ret);
	l->scope_count = scopes;
	return ok;
}

static bool compile_list(struct loader *l, const cJSON *from, struct item *ret)
{
	struct item **end = &ret->child;
	const cJSON *v;
	ret->kind = ITEM_LIST;
	cJSON_ArrayForEach(v, from)
	{
		*end = arena_make(l->keep, struct item, 1);
		bool ok =
			cJSON_IsObject(v) ? compile_object(l, v, true, *end) : compile(l, v, *end);
		if (!ok)
			return false;
		end = &(*end)->next;
	}
	return true;
}

static bool compile(struct loader *l, const cJSON *from, struct item *ret)
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
		ret->kind = ITEM_TEXT;
		ok = loader_pattern(l, text, is_slot, &ret->text);
	} else {
		ret->kind = ITEM_RAW;
		ret->raw = arena_str(l->keep, json_compact(from, l->keep));
	}
	l->depth--;
	return ok;
}

static struct json_template *compile_source(struct loader *l)
{
	struct diag syntax;
	struct json_template *t = arena_make(l->keep, struct json_template, 1);
	cJSON *root = json_parse(l->file, l->source, &syntax);
	if (!root) {
		diag_set(l->err, DIAG_TEMPLATE, "%s", syntax.text);
		return NULL;
	}
	t->root = arena_make(l->keep, struct item, 1);
	bool ok = cJSON_IsObject(root) ? compile(l, root, t->root)
				       : loader_bad(l, STR("["), "a message is an object: { }");
	cJSON_Delete(root);
	return ok ? t : NULL;
}

struct json_template *json_template_load(struct str dir, struct str name,
	const struct record *record, struct arena *keep, struct diag *err)
{
	struct loader l = loader_new(dir, record, keep, err);
	return loader_start(&l, name) ? compile_source(&l) : NULL;
}

struct json_template *json_template_parse(struct str file, struct str source,
	const struct record *record, struct arena *keep, struct diag *err)
{
	struct loader l = loader_new(str_from(NULL), record, keep, err);
	l.file = file;
	l.source = source;
	return compile_source(&l);
}

/* ---- filling --------------------------------------------------------------------------------- */

struct fill {
	struct records r;
	const struct json_escape *escapes;
};

static cJSON *fill_item(struct fill *f, const struct item *n, struct str type);

static cJSON *fill_text(const struct fill *f, const struct item *n, struct str type)
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
static cJSON *fill_list(struct fill *f, const struct item *n, struct str type)
{
	cJSON *list = cJSON_CreateArray();
	for (const struct item *i = n->child; i; i = i->next) {
		ptrdiff_t count = i->each.field ? record_list(&f->r, i->each).count : 0;
		for (ptrdiff_t k = 0; k < count; k++) {
			records_enter(&f->r, i->each, k);
			cJSON_AddItemToArray(list, fill_item(f, i, str_from(NULL)));
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
static cJSON *fill_item(struct fill *f, const struct item *n, struct str type)
{
	cJSON *object;
	if (!records_allow(&f->r, n->only_if, n->only_else))
		return NULL;
	switch (n->kind) {
	case ITEM_OBJECT:
		object = cJSON_CreateObject();
		for (const struct item *i = n->child; i; i = i->next)
			cJSON_AddItemToObject(object, i->key.p, fill_item(f, i, n->type));
		return object;
	case ITEM_LIST:
		return fill_list(f, n, type);
	case ITEM_TEXT:
		return fill_text(f, n, type);
	case ITEM_RAW:
		break;
	}
	return cJSON_CreateRaw(n->raw.p);
}

cJSON *json_template_fill(const struct json_template *t, const void *record,
	const struct json_escape *escapes, struct arena *keep)
{
	struct fill f = { { .items = { record }, .count = 1, .keep = keep }, escapes };
	cJSON *root = fill_item(&f, t->root, str_from(NULL));
	return root ? root : cJSON_CreateObject();
}
