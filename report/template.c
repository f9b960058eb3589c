/*
 * What templates of any form need: of a file its names, its slots and where a mistake stands; of a
 * record the values of its fields.  See template_tree.h.
 */
#include "report/template_tree.h"

#include <math.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/text.h"

/* ---- where things stand ---------------------------------------------------------------------- */

void loader_seek_past(struct loader *l, struct str needle)
{
	ptrdiff_t at = str_find(str_from_offset(l->at.source, l->at.cursor), needle);
	if (at >= 0)
		l->at.cursor += at + needle.len;
}

/* The thing itself is wrong: the caret stands under its next occurrence. */
bool loader_bad(struct loader *l, struct str thing, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct str text = arena_vfmt(l->keep, fmt, args);
	va_end(args);
	ptrdiff_t at = str_find(str_from_offset(l->at.source, l->at.cursor), thing);
	struct text_place place =
		text_place_at(l->at.file, l->at.source, l->at.cursor + (at > 0 ? at : 0));
	place.width = thing.len > 0 ? thing.len : 1;
	return diag_caret(l->err, DIAG_TEMPLATE, place, "%.*s", STR_ARG(text));
}

/* ---- names ----------------------------------------------------------------------------------- */

static const struct record_field *record_field(const struct record *record, struct str name)
{
	for (const struct record_field *f = record->fields; f->name; f++)
		if (str_eq(str_from(f->name), name))
			return f;
	return NULL;
}

static bool find_field(struct loader *l, struct str name, struct ref *ret)
{
	for (int up = 0; up < l->scope_count; up++) {
		const struct record *record = l->scopes[l->scope_count - 1 - up];
		*ret = (struct ref){ record_field(record, name), up };
		if (ret->field)
			return true;
	}
	/* Of all fields that are seen from here, the one that may have been meant. */
	struct str *names = NULL, nearest;
	ptrdiff_t count = 0, cap = 0;
	for (int i = l->scope_count - 1; i >= 0; i--)
		for (const struct record_field *f = l->scopes[i]->fields; f->name; f++)
			*arena_push(l->keep, names, count, cap) = str_from(f->name);
	nearest = text_nearest(name, names, count);
	const char *record = l->scopes[l->scope_count - 1]->name;
	if (nearest.p)
		return loader_bad(l, name, "no field '%.*s' in %s; did you mean '%.*s'?",
			STR_ARG(name), record, STR_ARG(nearest));
	return loader_bad(l, name, "no field '%.*s' in %s; docs/templates.md lists them",
		STR_ARG(name), record);
}

static bool want(struct loader *l, struct str name, const struct ref *ref, enum record_type kind,
	const char *what)
{
	return ref->field->type == kind ||
	       loader_bad(l, name, "'%.*s' is no %s", STR_ARG(name), what);
}

/* The list whose items an element repeats over: inside it their fields come first. */
static bool repeat(struct loader *l, struct str name, struct ref *ret)
{
	if (!find_field(l, name, ret) ||
		!want(l, name, ret, RECORD_LIST, "list, and cannot be repeated"))
		return false;
	if (l->scope_count == TEMPLATE_MAX_SCOPES)
		return loader_bad(
			l, name, "more than %d lists within each other", TEMPLATE_MAX_SCOPES);
	l->scopes[l->scope_count++] = ret->field->record;
	return true;
}

bool loader_directives(struct loader *l, struct node *n, const void *from,
	struct str (*get)(struct loader *l, const void *from, const char *name))
{
	static const char *const order[] = { "data-each", "data-if", "data-else", "data-picture" };
	struct ref *refs[] = { &n->each, &n->only_if, &n->only_else, &n->picture };
	ptrdiff_t start = l->at.cursor;
	for (ptrdiff_t i = 0; i < COUNT_OF(order); i++) {
		struct str name = get(l, from, order[i]);
		if (!name.p)
			continue;
		l->at.cursor = start;
		loader_seek_past(l, str_from(order[i]));
		if (!(refs[i] == &n->each ? repeat : find_field)(l, name, refs[i]))
			return false;
		if (refs[i] == &n->picture && !want(l, name, refs[i], RECORD_PICTURE, "picture"))
			return false;
	}
	l->at.cursor = start;
	return true;
}

/* ---- slots ----------------------------------------------------------------------------------- */

void loader_literal(struct loader *l, struct pattern *p, struct str text)
{
	if (text.len)
		arena_push(l->keep, p->parts, p->count, p->cap)->literal = arena_str(l->keep, text);
}

static bool add_slot(struct loader *l, struct pattern *p, struct str name, bool in_attribute)
{
	struct ref ref;
	name = str_trim(name);
	loader_seek_past(l, STR("{{"));
	if (!find_field(l, name, &ref))
		return false;
	if (ref.field->type == RECORD_LIST)
		return loader_bad(l, name,
			"'%.*s' is a list: repeat an element with data-each=\"%.*s\"",
			STR_ARG(name), STR_ARG(name));
	if (ref.field->type == RECORD_PICTURE)
		return loader_bad(
			l, name, "'%.*s' is a picture: it goes into data-picture", STR_ARG(name));
	if (ref.field->type == RECORD_FLAG && !in_attribute)
		return loader_bad(
			l, name, "'%.*s' is yes or no: ask for it with data-if", STR_ARG(name));
	arena_push(l->keep, p->parts, p->count, p->cap)->ref = ref;
	return true;
}

bool has_slot(struct str text)
{
	return str_contains(text, STR("{{"));
}

bool loader_pattern(struct loader *l, struct str text, bool in_attribute, struct pattern *ret)
{
	for (;;) {
		ptrdiff_t open = str_find(text, STR("{{"));
		if (open < 0)
			break;
		struct str rest = str_from_offset(text, open + 2);
		ptrdiff_t close = str_find(rest, STR("}}"));
		if (close < 0)
			return loader_bad(l, STR("{{"), "'{{' has no '}}' behind it");
		loader_literal(l, ret, str_head(text, open));
		if (!add_slot(l, ret, str_head(rest, close), in_attribute))
			return false;
		text = str_from_offset(rest, close + 2);
	}
	loader_literal(l, ret, text);
	return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_file_name(struct str name)
{
	return name.len && name.p[0] != '.' && str_only(name, "a-z0-9_.-");
}

static bool dir_has(struct loader *l, struct str name)
{
	struct dir_entry *entries;
	struct diag ignored;
	ptrdiff_t count = 0;
	if (!l->dir.p || !dir_list(l->dir, l->keep, &entries, &count, &ignored))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_eq(entries[i].name, name) && !entries[i].is_dir)
			return true;
	return false;
}

/* Makes the named file the loader's current one. */
bool loader_open(struct loader *l, struct str name)
{
	struct str source;
	if (!is_file_name(name))
		return loader_bad(
			l, name, "a file's name has small letters, digits, '-', '_', '.'");
	if (dir_has(l, name)) {
		struct str path = arena_fmt(l->keep, "%.*s/%.*s", STR_ARG(l->dir), STR_ARG(name));
		if (!input_text(path, TEMPLATE_MAX_BYTES, l->keep, &source, l->err))
			return false;
		l->at.file = path;
	} else {
		struct str path = arena_fmt(l->keep, "templates/%.*s", STR_ARG(name));
		source = embed_find(path);
		if (!source.p)
			return loader_bad(l, name, "there is no template '%.*s'", STR_ARG(name));
		l->at.file = path;
	}
	l->at.source = source;
	l->at.cursor = 0;
	return true;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static struct doc_template *compile(struct loader *l)
{
	struct doc_template *t = arena_make(l->keep, struct doc_template, 1);
	bool is_message = str_ends(l->at.file, STR(".json"));
	return (is_message ? compile_message : compile_page)(l, &t->root) ? t : NULL;
}

struct doc_template *template_load(struct str dir, struct str name, const struct record *record,
	struct arena *keep, struct diag *err)
{
	struct loader l = {
		.dir = dir, .keep = keep, .err = err, .scopes = { record }, .scope_count = 1
	};
	struct dir_entry *entries;
	ptrdiff_t count;
	if (dir.p && !dir_list(dir, keep, &entries, &count, err))
		return NULL;
	return loader_open(&l, name) ? compile(&l) : NULL;
}

struct doc_template *template_parse(struct str file, struct str source, const struct record *record,
	struct arena *keep, struct diag *err)
{
	struct loader l = { .at = { file, source, 0 },
		.keep = keep,
		.err = err,
		.scopes = { record },
		.scope_count = 1 };
	if (source.len > TEMPLATE_MAX_BYTES) {
		diag_set(err, DIAG_TEMPLATE, "%.*s: longer than %td KiB", STR_ARG(file),
			TEMPLATE_MAX_BYTES >> 10);
		return NULL;
	}
	return compile(&l);
}

/* ---- filling --------------------------------------------------------------------------------- */

const void *record_cell(const struct records *r, struct ref ref)
{
	return (const char *)r->items[r->count - 1 - ref.up] + ref.field->offset;
}

bool record_has(const struct records *r, struct ref ref)
{
	const void *at = record_cell(r, ref);
	switch (ref.field->type) {
	case RECORD_LIST:
		return record_list(r, ref).count > 0;
	case RECORD_PICTURE:
		return ((const struct template_picture *)at)->draw != NULL;
	case RECORD_REAL:
		return isfinite(*(const double *)at);
	case RECORD_FLAG:
		return *(const bool *)at;
	default:
		return ((const struct str *)at)->len > 0;
	}
}

struct str record_text(const struct records *r, struct ref ref)
{
	if (!record_has(r, ref))
		return MISSING;
	if (ref.field->type == RECORD_FLAG)
		return STR("yes");
	if (ref.field->type == RECORD_REAL)
		return double_text(r->keep, *(const double *)record_cell(r, ref));
	return *(const struct str *)record_cell(r, ref);
}

struct template_list record_list(const struct records *r, struct ref ref)
{
	return *(const struct template_list *)record_cell(r, ref);
}

bool records_allow(const struct records *r, struct ref only_if, struct ref only_else)
{
	return (!only_if.field || record_has(r, only_if)) &&
	       (!only_else.field || !record_has(r, only_else));
}

void records_enter(struct records *r, struct ref list, ptrdiff_t index)
{
	r->items[r->count++] =
		(const char *)record_list(r, list).items + index * list.field->record->bytes;
}
