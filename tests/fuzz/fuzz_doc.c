/*
 * Any bytes as a YAML document: it is refused with a place in the text, or is a tree whose every
 * node stands in the text, holds clean characters and is found under its key.
 */
#include "base/doc.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"

static void require_place(const struct doc *d, struct text_place place)
{
	struct str rest = d->source, line = d->source;
	require(place.line >= 1 && place.column >= 1 && place.width >= 1);
	for (int64_t n = 0; n < place.line; n++) {
		require(n == 0 || rest.p);
		str_cut(rest, '\n', &line, &rest);
	}
	require(place.column <= line.len + 1);
}

static void scalar(const struct doc *d, const struct doc_node *n)
{
	require(n->text.p && n->text.len >= 0);
	require(str_find_char(n->text, '\0') < 0);
	ptrdiff_t step = n->text.len / 16 + 1;
	for (ptrdiff_t at = -1; at <= n->text.len + 1; at += step)
		require_place(d, doc_place_in(d, n, at, 3));
}

static void node(const struct doc *d, const struct doc_node *n, int depth)
{
	require(n != NULL && depth <= DOC_MAX_DEPTH);
	require_place(d, doc_place(d, n));
	if (n->kind == DOC_SCALAR)
		scalar(d, n);
	for (ptrdiff_t i = 0; i < n->count; i++) {
		if (n->kind == DOC_LIST) {
			node(d, n->items[i], depth + 1);
			continue;
		}
		const struct doc_pair *pair = &n->pairs[i];
		require(pair->key->kind == DOC_SCALAR);
		require(i > 100 || d->repeat_count || doc_get(n, pair->key->text) == pair->value);
		node(d, pair->key, depth + 1);
		node(d, pair->value, depth + 1);
	}
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { 0 };
	struct doc d;
	bool ok = doc_parse(STR("f"), bytes, keep, &d, &err);
	if (d.root)
		node(&d, d.root, 0);
	for (ptrdiff_t i = 0; i < d.repeat_count; i++)
		require(str_eq(d.repeats[i].key->text, d.repeats[i].first->text));
	if (!ok) {
		require(!d.root == !d.repeat_count && err.id != DIAG_NONE);
		require(str_starts(str_from(err.text), STR("f:")));
	}
}
