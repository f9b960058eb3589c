/* Documents of keys.  See keyed.h. */
#include "base/keyed.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "base/text.h"

/* Keys of one map, or words of one key: the longest table has 26. */
enum { WORDS_MAX = 32 };

/* ---- mistakes -------------------------------------------------------------------------------- */

bool keyed_fail(const struct keyed *r, const struct doc_node *node, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct str text = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	return diag_caret(r->err, r->mistake, doc_place(r->doc, node), "%.*s", STR_ARG(text));
}

static bool keyed_unknown(const struct keyed *r, const struct doc_node *node, struct str what,
	const struct str *words, ptrdiff_t count)
{
	struct str hint = did_you_mean(r->keep, node->text, words, count);
	bool near = hint.len > 0;
	for (ptrdiff_t i = 0; i < count && !near; i++)
		hint = arena_fmt(r->keep, "%.*s%s%.*s", STR_ARG(hint),
			i == 0		? "; expected "
			: i + 1 < count ? ", "
					: " or ",
			STR_ARG(words[i]));
	return keyed_fail(r, node, "unknown %.*s '%.*s'%.*s", STR_ARG(what), STR_ARG(node->text),
		STR_ARG(hint));
}

/* ---- maps ------------------------------------------------------------------------------------ */

bool keyed_map(
	const struct keyed *r, struct str what, const struct key *keys, const struct doc_node *node)
{
	struct str names[WORDS_MAX];
	ptrdiff_t count = 0;
	for (const struct key *k = keys; k->name.p; k++) {
		assert(count < WORDS_MAX);
		names[count++] = k->name;
	}
	if (node->kind != DOC_MAP)
		return keyed_fail(r, node, "%.*s is a map of keys", STR_ARG(what));
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!NAMED(names, count, node->pairs[i].key->text))
			return keyed_unknown(r, node->pairs[i].key, STR("key"), names, count);
	for (const struct key *k = keys; k->name.p; k++) {
		const struct doc_node *value = doc_get(node, k->name);
		if (value ? !k->read(r, k, value) : k->required)
			return value ? false
				     : keyed_fail(r, node, "the key '%.*s' is missing",
					       STR_ARG(k->name));
	}
	return true;
}

bool key_map(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	return keyed_map(r, k->name, k->keys, node);
}

/* ---- values ---------------------------------------------------------------------------------- */

static void *slot(const struct keyed *r, const struct key *k)
{
	return (char *)r->to + k->offset;
}

static bool need_scalar(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (node->kind != DOC_SCALAR)
		return keyed_fail(r, node, "%.*s takes one value", STR_ARG(k->name));
	if (!str_trim(node->text).len)
		return keyed_fail(
			r, node, "%.*s is empty; say it, or leave the line out", STR_ARG(k->name));
	return true;
}

bool key_text(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (!need_scalar(r, k, node))
		return false;
	*(struct str *)slot(r, k) = text_clean(r->keep, str_trim(node->text));
	return true;
}

/* Bare, so that "1" and 1 never mean different things silently. */
bool keyed_number(
	const struct keyed *r, const struct key *k, const struct doc_node *node, double *ret)
{
	struct str nearest;
	enum unit unit;
	bool ok = node->kind == DOC_SCALAR && !node->quoted &&
		  unit_parse(node->text, ret, &unit, &nearest) &&
		  (unit == UNIT_NONE || unit == k->unit) && *ret >= k->min && *ret <= k->max &&
		  (!k->whole || *ret == floor(*ret));
	return ok || keyed_fail(r, node, "%.*s is %s%s", STR_ARG(k->name), k->form,
			     node->quoted ? ", without quotes" : "");
}

bool key_number(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	return keyed_number(r, k, node, slot(r, k));
}

bool key_int(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	double value;
	assert(k->whole && k->max <= INT32_MAX);
	if (!keyed_number(r, k, node, &value))
		return false;
	*(int *)slot(r, k) = (int)value;
	return true;
}

bool key_bool(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	bool yes = str_eq(node->text, STR("true"));
	if (node->kind != DOC_SCALAR || node->quoted || (!yes && !str_eq(node->text, STR("false"))))
		return keyed_fail(r, node, "%.*s is true or false", STR_ARG(k->name));
	*(bool *)slot(r, k) = yes;
	return true;
}

bool key_word(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct str words[WORDS_MAX], rest = str_from(k->form);
	ptrdiff_t count = 0;
	for (bool more = true; more; count++) {
		assert(count < WORDS_MAX);
		more = str_cut(rest, '|', &words[count], &rest);
	}
	if (!need_scalar(r, k, node))
		return false;
	const struct str *word = NAMED(words, count, node->text);
	if (!word)
		return keyed_unknown(r, node, k->name, words, count);
	*(int *)slot(r, k) = (int)(word - words) + 1;
	return true;
}
