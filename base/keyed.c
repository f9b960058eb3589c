/* Documents of keys.  See keyed.h. */
#include "base/keyed.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* ---- mistakes -------------------------------------------------------------------------------- */

bool mistake_note(struct mistakes *m, struct arena *keep, const struct diag *err)
{
	struct str text = str_from(err->text);

	for (ptrdiff_t i = 0; i < m->count; i++)
		if (str_eq(m->items[i].note.text, text))
			return false;
	if (m->count < MISTAKES_MAX)
		*arena_push(keep, m->items, m->count, m->cap) =
			(struct mistake_at){ { err->id, arena_str(keep, text) }, err->place,
				m->count };
	return false;
}

/* Whether reading goes on behind what was read well or not. */
static bool goes_on(const struct keyed *r, bool ok)
{
	return ok || (r->mistakes && r->mistakes->count < MISTAKES_MAX);
}

static bool tell(const struct keyed *r, const struct doc_node *node, enum diag_id id,
	struct str path, const char *fmt, va_list args)
{
	struct str text = arena_vfmt(r->keep, fmt, args);

	diag_caret(r->err, id, doc_place(r->doc, node), "%.*s%.*s", STR_ARG(path), STR_ARG(text));
	return r->mistakes ? mistake_note(r->mistakes, r->keep, r->err) : false;
}

bool keyed_fail_as(
	const struct keyed *r, const struct doc_node *node, enum diag_id id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(r, node, id, STR(""), fmt, args);
	va_end(args);
	return false;
}

bool key_fail(const struct keyed *r, const struct key *k, const struct doc_node *node,
	enum diag_id id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(r, node, id, key_path(r, k->name), fmt, args);
	va_end(args);
	return false;
}

struct str key_path(const struct keyed *r, struct str name)
{
	return r->owner.len ? arena_fmt(r->keep, "%.*s.%.*s", STR_ARG(r->owner), STR_ARG(name))
			    : name;
}

/* "copy-share: a rule"; of a map that is named itself "matters.memory". */
static struct str map_name(const struct keyed *r, const struct key *of)
{
	if (!r->owner.len)
		return of->name;
	return str_ends(r->owner, of->name)
		       ? r->owner
		       : arena_fmt(r->keep, "%.*s: %.*s", STR_ARG(r->owner), STR_ARG(of->name));
}

/* How a file begins, in words. */
static const char *begins_with(const struct key *of)
{
	return of->keys->read == key_version ? "begins with 'version: 1'" : "is a map of keys";
}

/* ---- maps ------------------------------------------------------------------------------------ */

const struct key *key_named(const struct key *keys, struct str name)
{
	for (const struct key *k = keys; k->name.p; k++)
		if (str_eq(k->name, name))
			return k;
	return NULL;
}

/* Whether a text leaves parentheses open, or the next key goes on with its number: 5,000. */
static bool is_opened(const struct doc_node *node, struct str key)
{
	bool is_number = node->text.len && key.len && is_digit(node->text.p[node->text.len - 1]) &&
			 is_digit(key.p[0]);

	return doc_is_open(node) || (node->kind == DOC_SCALAR && !node->quoted && is_number);
}

/* What stands in { } and whose comma YAML took for its own: the next key is the rest of it. */
static const struct doc_node *cut_value(const struct key *of, const struct doc_node *map)
{
	for (ptrdiff_t i = 1; map->flow && i < map->count; i++)
		if (is_opened(map->pairs[i - 1].value, map->pairs[i].key->text) &&
			!key_named(of->keys, map->pairs[i].key->text))
			return map->pairs[i - 1].value;
	return NULL;
}

/* The last of the entries by name that such a map would be one of; or NULL. */
static const struct key *entries_of(const struct key *keys, const struct doc_node *map)
{
	const struct key *ret = NULL;

	for (const struct key *k = keys; k->read; k++) {
		bool is = map->kind == DOC_MAP && map->count && k->each && k->each->keys &&
			  !k->each->is_list;
		for (ptrdiff_t i = 0; is && i < map->count; i++)
			is = key_named(k->each->keys, map->pairs[i].key->text);
		ret = is ? k : ret;
	}
	return ret;
}

/* What may be meant: the key that comes nearest, or all of them where they are not too many. */
static struct str names_hint(const struct keyed *r, const struct key *keys, struct str name,
	const struct doc_node *value)
{
	struct list names = { NULL, 0, 0 };

	for (const struct key *k = keys; k->read; k++)
		list_add(&names, k->name, r->keep);
	struct str hint = did_you_mean(r->keep, name, names.items, names.count);
	const struct key *entries = entries_of(keys, value);
	if (!hint.len && entries)
		return arena_fmt(r->keep, "; %.*s stands below '%.*s:', further to the right",
			STR_ARG(entries->each->name), STR_ARG(entries->name));
	return hint.len
		       ? hint
		       : arena_fmt(r->keep, "; it has %.*s",
				 STR_ARG(words_joined(r->keep, names.items, names.count, " and ")));
}

bool keyed_names(const struct keyed *r, const struct key *of, const struct doc_node *map)
{
	const struct doc_node *cut = cut_value(of, map);
	const char *told = NULL; /* what is meant instead is said once */
	bool ok = true;

	for (ptrdiff_t i = 0; i < map->count && goes_on(r, ok); i++) {
		const struct doc_node *key = map->pairs[i].key;
		const struct key *known = key_named(of->keys, key->text);
		const struct doc_pair *last = i ? &map->pairs[i - 1] : NULL;

		if (known && (known->read || (told && !strcmp(known->form, told))))
			continue;
		/* The rest of the map is what an expression lost. */
		if (cut && last && last->value == cut)
			return key_fail(r, &(struct key){ .name = last->key->text }, last->value,
				r->mistake, ": %s",
				doc_is_open(cut)
					? DOC_CUT
					: "write 5000 for 5,000: its comma ends it inside { }");
		struct str hint = known ? arena_fmt(r->keep, "; %s", known->form)
					: names_hint(r, of->keys, key->text, map->pairs[i].value);
		told = known ? known->form : told;
		ok = keyed_fail(r, key, "%.*s has no key '%.*s'%.*s", STR_ARG(map_name(r, of)),
			STR_ARG(key->text), STR_ARG(hint));
	}
	return ok;
}

/* Whether an unknown key of the map comes near this one, which is then its hint. */
static bool is_misspelt(const struct key *of, const struct key *k, const struct doc_node *map)
{
	for (ptrdiff_t i = 0; i < map->count; i++)
		if (!key_named(of->keys, map->pairs[i].key->text) &&
			text_nearest(map->pairs[i].key->text, &k->name, 1).p)
			return true;
	return false;
}

/* A map that was forgotten, or whose keys are not indented. */
static bool is_empty(const struct doc_node *node)
{
	return node->kind == DOC_SCALAR && !node->text.len && !node->quoted;
}
#define EMPTY_MAP " is empty; what belongs to it stands below, further to the right"

bool keyed_map(const struct keyed *r, const struct key *of, const struct doc_node *at,
	const struct doc_node *map)
{
	if (is_empty(map))
		return keyed_fail(r, map, "%.*s" EMPTY_MAP, STR_ARG(map_name(r, of)));
	if (map->kind != DOC_MAP)
		return keyed_fail(r, map, "%.*s is a map of keys%s%s", STR_ARG(map_name(r, of)),
			of->form ? ", such as " : "", of->form ? of->form : "");
	const struct doc_node *cut = cut_value(of, map);
	bool ok = keyed_names(r, of, map);
	for (const struct key *k = of->keys; k->read && goes_on(r, ok); k++) {
		const struct doc_node *value = doc_get(map, k->name);

		if (value && value == cut)
			ok = false; /* which was reported */
		else if (value)
			ok &= key_set(r, k, value);
		else if (k->required && !is_misspelt(of, k, map))
			ok = k->read == key_version
				     ? keyed_fail(
					       r, at, "%.*s %s", STR_ARG(of->name), begins_with(of))
				     : keyed_fail(r, at, "%.*s needs '%.*s'%s%.*s",
					       STR_ARG(map_name(r, of)), STR_ARG(k->name),
					       k->meaning.len ? ": " : "", STR_ARG(k->meaning));
		if (value && k->instead && doc_get(map, str_from(k->instead)))
			ok = keyed_fail(r, value, "%.*s: it has either %s or %.*s",
				STR_ARG(r->owner), k->instead, STR_ARG(k->name));
	}
	return ok && (!of->agree || of->agree(r, map));
}

bool key_array(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	ptrdiff_t *count = (void *)((char *)r->to + k->count);
	struct keyed one = *r;

	if (node->kind != DOC_LIST)
		return key_fail(r, k, node, r->mistake, " is %s", k->form);
	if ((double)node->count > k->max)
		return key_fail(r, k, node, r->mistake, " has more than %.0f entries", k->max);
	one.to = arena_alloc(r->keep, k->item_bytes, alignof(max_align_t), node->count);
	*(void **)key_slot(r, k) = one.to;
	for (*count = 0; *count < node->count; one.to = (char *)one.to + k->item_bytes) {
		if (k->initial)
			memcpy(one.to, k->initial, (size_t)k->item_bytes);
		const struct doc_node *item = node->items[(*count)++];
		if (k->each->keys ? !keyed_map(&one, k->each, item, item)
				  : !k->each->read(&one, k->each, item))
			return false;
	}
	return !k->agree || k->agree(r, node);
}

bool key_map(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct keyed part = *r;

	part.to = key_slot(r, k);
	part.owner = key_path(r, k->name);
	return keyed_map(&part, k, node, node);
}

/* The item of that name, or a new one. */
static void *item_named(const struct keyed *r, const struct key *k, struct str name)
{
	void **items = key_slot(r, k);
	ptrdiff_t *count = (void *)((char *)r->to + k->count);
	void *item =
		k->each->is_list ? NULL : text_named(*items, *count, (size_t)k->item_bytes, name);

	if (item)
		return k->each->is_merged ? item : memset(item, 0, (size_t)k->item_bytes);
	arena_grow(r->keep, items, count, (void *)((char *)r->to + k->cap), k->item_bytes);
	return (char *)*items + (*count - 1) * k->item_bytes;
}

/* An entry as an item of the array; of a list, one that is wrong is left out. */
static bool read_item(const struct keyed *r, const struct key *k, const struct doc_node *name,
	const struct doc_node *node)
{
	struct keyed one = *r;
	struct key each = *k->each;

	if (!each.is_list && !(each.is_name ? each.is_name(name->text) : name->text.len > 0))
		return keyed_fail(r, name, "%.*s%s", STR_ARG(each.name),
			each.is_name ? "'s name has small letters, digits and '-'" : " has a name");
	one.to = item_named(r, k, name->text);
	one.owner = each.is_list || !each.keys ? k->name : name->text;
	if (key_origin(&each, one.to))
		*key_origin(&each, one.to) = (struct origin){ r->doc, name };
	if (!each.is_list)
		*(struct str *)one.to = name->text;
	if (!each.keys)
		each.name = name->text;
	bool ok = each.keys ? keyed_map(&one, &each, name, node) : each.read(&one, &each, node);
	if (!ok && each.is_list)
		--*(ptrdiff_t *)(void *)((char *)r->to + k->count);
	return ok;
}

bool key_entries(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	bool is_list = k->each->is_list, is_cut = false, ok = true;

	if (node->kind != (is_list ? DOC_LIST : DOC_MAP))
		return is_empty(node) ? key_fail(r, k, node, r->mistake, EMPTY_MAP)
				      : key_fail(r, k, node, r->mistake, " is %s", k->form);
	if (k->max > 0 && (double)node->count > k->max)
		return key_fail(r, k, node, DIAG_LIMIT, " has more than %.0f entries", k->max);
	for (ptrdiff_t i = 0; i < node->count && goes_on(r, ok); i++) {
		const struct doc_node *value = is_list ? node->items[i] : node->pairs[i].value;
		const struct doc_node *name = is_list ? value : node->pairs[i].key;

		/* The keys of an entry that seems empty stand beside it. */
		if (is_cut && key_named(k->each->keys, name->text))
			continue;
		is_cut |= k->each->keys && is_empty(value);
		ok &= k->each->entry ? k->each->entry(r, k->each, name, value)
				     : read_item(r, k, name, value);
	}
	return ok;
}

/* ---- values ---------------------------------------------------------------------------------- */

void *key_slot(const struct keyed *r, const struct key *k)
{
	return (char *)r->to + k->offset;
}

struct origin *key_origin(const struct key *k, const void *of)
{
	return k->origin ? (void *)((char *)(uintptr_t)of + k->origin) : NULL;
}

bool key_set(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct origin *origin = key_origin(k, r->to);

	if (!k->read(r, k, node))
		return false;
	if (origin)
		*origin = (struct origin){ r->doc, node };
	return true;
}

bool key_scalar(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (node->kind != DOC_SCALAR)
		return key_fail(r, k, node, r->mistake, " takes one value");
	return str_trim(node->text).len || key_fail(r, k, node, r->mistake, " has no value");
}

bool key_text(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (!key_scalar(r, k, node))
		return false;
	*(struct str *)key_slot(r, k) = text_clean(r->keep, str_trim(node->text));
	return true;
}

/* Bare, so that "1" and 1 never mean different things silently. */
bool keyed_number(
	const struct keyed *r, const struct key *k, const struct doc_node *node, double *ret)
{
	enum unit unit;
	bool ok = node->kind == DOC_SCALAR && !node->quoted &&
		  unit_parse(node->text, ret, &unit, NULL) &&
		  (unit == UNIT_NONE || unit == k->unit) && *ret >= k->min && *ret <= k->max &&
		  (!k->whole || *ret == floor(*ret));
	return ok || key_fail(r, k, node, r->mistake, " is %s%s", k->form,
			     node->quoted ? "; write it without quotes" : "");
}

bool key_number(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	return keyed_number(r, k, node, key_slot(r, k));
}

bool key_int(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	double value;
	assert(k->whole && k->max <= INT32_MAX);
	if (!keyed_number(r, k, node, &value))
		return false;
	*(int *)key_slot(r, k) = (int)value;
	return true;
}

bool key_bool(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	bool yes = str_eq(node->text, STR("true"));
	if (node->kind != DOC_SCALAR || node->quoted || (!yes && !str_eq(node->text, STR("false"))))
		return key_fail(r, k, node, r->mistake, " is true or false%s",
			node->quoted ? "; write it without quotes" : "");
	*(bool *)key_slot(r, k) = yes;
	return true;
}

int key_words(const struct key *k, struct str ret[KEY_WORDS_MAX])
{
	return (int)text_words(str_from(k->form), ret, KEY_WORDS_MAX);
}

bool key_word(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct str words[KEY_WORDS_MAX];
	int count = key_words(k, words), first = !words[0].len;

	if (node->kind == DOC_SCALAR && !key_scalar(r, k, node))
		return false;
	const struct str *word = node->kind == DOC_SCALAR ? NAMED(words, count, node->text) : NULL;
	if (!word)
		return key_fail(r, k, node, r->mistake, " is %.*s%.*s",
			STR_ARG(words_joined(r->keep, words + first, count - first, " or ")),
			STR_ARG(did_you_mean(r->keep, node->text, words + first, count - first)));
	*(int *)key_slot(r, k) = (int)(word - words);
	return true;
}

/* ---- documents ------------------------------------------------------------------------------- */

bool keyed_open(const struct keyed *r, struct doc *doc, struct str file, struct str text,
	const struct key *of)
{
	bool ok = doc_parse(file, text, r->keep, doc, r->err);

	for (ptrdiff_t i = 0; r->mistakes && i < doc->repeat_count; i++) {
		ok = true;
		doc_tell_repeat(doc, &doc->repeats[i], r->err);
		mistake_note(r->mistakes, r->keep, r->err);
	}
	return ok && (doc->root || diag_set(r->err, r->mistake, "%.*s: the file is empty; %.*s %s",
					   STR_ARG(file), STR_ARG(of->name), begins_with(of)));
}

bool key_version(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (node->quoted)
		return key_fail(r, k, node, r->mistake, " is a number: write it without quotes");
	return (node->kind == DOC_SCALAR && str_eq(node->text, STR("1"))) ||
	       keyed_fail(r, node, "this rooflint reads %s of version 1", k->form);
}
