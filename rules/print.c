/* The rule file as it was understood.  See print.h. */
#include "rules/print.h"

#include "base/text.h"
#include "rules/parse.h"

enum { ORIGIN_COLUMN = 60, LINE_MOST = 90 };

/* Needs no quotes in YAML, and is no word that YAML reads as something else. */
static bool is_plain(struct str s)
{
	static const struct str first =
		STR_INIT("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789(");
	static const struct str other = STR_INIT(" _.,;)/+-*<>=%");
	if (!s.len || str_find_char(first, s.p[0]) < 0 || str_ends(s, STR(" ")))
		return false;
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (str_find_char(first, s.p[i]) < 0 && str_find_char(other, s.p[i]) < 0)
			return false;
	return true;
}

/* Where the text goes, and whether with what does not change a verdict: where things were set. */
struct printer {
	struct out *o;
	struct arena *keep;
	bool has_origins;
};

static void put_origin(const struct printer *p, const struct origin *at, ptrdiff_t column)
{
	if (!p->has_origins || !at->node) {
		out_char(p->o, '\n');
		return;
	}
	out_repeat(p->o, ' ', column < ORIGIN_COLUMN ? ORIGIN_COLUMN - column : 1);
	out_fmt(p->o, " # %.*s", STR_ARG(at->doc->file));
	if (at->doc->root) /* the default has no lines */
		out_fmt(p->o, ":%lld", (long long)at->node->line);
	out_char(p->o, '\n');
}

/* "it's", or 'say "it''s"' where double quotes would need escapes. */
static ptrdiff_t put_quoted(const struct printer *p, struct str s)
{
	bool single = str_find_char(s, '"') >= 0 || str_find_char(s, '\\') >= 0;
	struct str head;
	ptrdiff_t columns = 2;
	out_char(p->o, single ? '\'' : '"');
	for (bool more = single; more; columns += head.len + (more ? 2 : 0)) {
		more = str_cut(s, '\'', &head, &s);
		out_str(p->o, head);
		out_z(p->o, more ? "''" : "");
	}
	if (!single)
		out_str(p->o, s);
	out_char(p->o, single ? '\'' : '"');
	return single ? columns : columns + s.len;
}

/* As it is, or in quotes where YAML would read it otherwise; its columns. */
static ptrdiff_t put_word(const struct printer *p, struct str s)
{
	if (!is_plain(s))
		return put_quoted(p, s);
	out_str(p->o, s);
	return s.len;
}

/* "key: value  # origin", behind the indent; long and many-line values stand in a block below. */
static void put_text(const struct printer *p, struct str key, struct str value, bool is_quoted,
	const struct origin *at, int indent)
{
	ptrdiff_t column = indent + put_word(p, key) + 2;
	struct str line;
	out_z(p->o, ": ");
	if (str_find_char(value, '\n') >= 0 || value.len > LINE_MOST) {
		out_z(p->o, "|-");
		put_origin(p, at, column + 2);
		for (bool more = true; more;) {
			more = str_cut(value, '\n', &line, &value);
			out_repeat(p->o, ' ', line.len ? indent + 2 : 0);
			out_fmt(p->o, "%.*s\n", STR_ARG(line));
		}
		return;
	}
	if (is_quoted) {
		column += put_word(p, value);
	} else {
		out_str(p->o, value);
		column += value.len;
	}
	put_origin(p, at, column);
}

static void put_value(const struct printer *p, struct str key, const struct origin *at, int indent);

/* The pairs of a map; of an item of a list the first key stands behind a dash. */
static void put_pairs(const struct printer *p, const struct origin *at, int indent, bool is_item)
{
	for (ptrdiff_t i = 0; i < at->node->count; i++) {
		const struct doc_pair *pair = &at->node->pairs[i];
		bool is_first = is_item && !i;

		out_repeat(p->o, ' ', is_first ? indent - 2 : indent);
		out_z(p->o, is_first ? "- " : "");
		put_value(p, pair->key->text, &(struct origin){ at->doc, pair->value }, indent);
	}
}

/* A value as it was written, in a layout of its own. */
static void put_value(const struct printer *p, struct str key, const struct origin *at, int indent)
{
	const struct doc_node *n = at->node;

	if (n->kind == DOC_SCALAR) {
		put_text(p, key, str_trim(n->text), n->quoted, at, indent);
		return;
	}
	ptrdiff_t column = indent + put_word(p, key) + 1;
	bool is_flow = !n->count || (n->kind == DOC_LIST && n->items[0]->kind == DOC_SCALAR);
	out_z(p->o, !is_flow ? ":" : n->kind == DOC_LIST ? ": [" : ": {");
	column += is_flow ? 3 : 0;
	for (ptrdiff_t i = 0; i < n->count && is_flow; i++) {
		out_z(p->o, i ? ", " : "");
		column += put_word(p, n->items[i]->text) + (i ? 2 : 0);
	}
	out_z(p->o, !is_flow ? "" : n->kind == DOC_LIST ? "]" : "}");
	put_origin(p, at, column);
	if (!is_flow && n->kind == DOC_MAP)
		put_pairs(p, at, indent + 2, false);
	for (ptrdiff_t i = 0; i < n->count && n->kind == DOC_LIST && !is_flow; i++)
		put_pairs(p, &(struct origin){ at->doc, n->items[i] }, indent + 4, true);
}

static void put_numbers(
	const struct printer *p, struct str key, const struct rule_param *items, ptrdiff_t count)
{
	bool is_any = false;

	for (ptrdiff_t i = 0; i < count; i++) {
		if (!items[i].text.p)
			continue;
		if (!is_any)
			out_fmt(p->o, "    %.*s:\n", STR_ARG(key));
		is_any = true;
		out_z(p->o, "      ");
		put_text(p, items[i].name, items[i].text, false, &items[i].origin, 6);
	}
}

static void put_keys(const struct printer *p, const struct key *of, const void *entry, int indent);

/* Keys under a name; nothing where neither it nor any of them was set. */
static void put_named(const struct printer *p, struct str name, const struct key *of,
	const void *entry, const struct origin *at, int indent)
{
	const struct printer keys = { out_memory(p->keep), p->keep, p->has_origins };

	put_keys(&keys, of, entry, indent + 2);
	if (!at->node && !out_text(keys.o).len)
		return;
	out_repeat(p->o, ' ', indent);
	ptrdiff_t column = indent + put_word(p, name) + 1;
	out_z(p->o, out_text(keys.o).len ? ":" : ": {}");
	put_origin(p, at, column);
	out_str(p->o, out_text(keys.o));
}

/* One of a set's sections, if it has entries: what is merged key by key, or as it was written. */
static void put_section(const struct printer *p, const struct key *k, const void *set)
{
	const struct key *each = k->each;
	const char *items = *(char *const *)((const char *)set + k->offset);
	ptrdiff_t count = *(const ptrdiff_t *)((const char *)set + k->count);
	bool is_behind = k > key_named(document.keys, STR("rules"));

	if (each == &notice_entry && !p->has_origins)
		return; /* whom it tells is no part of how it judges */
	for (ptrdiff_t i = 0; i < count; i++) {
		const void *entry = k->item_bytes ? items + i * k->item_bytes
						  : ((const void *const *)(const void *)items)[i];
		struct origin at = *key_origin(each, entry);

		if (!i)
			out_fmt(p->o, "%s%.*s:\n", is_behind ? "\n" : "", STR_ARG(k->name));
		if (each == &rule_entry && i)
			out_char(p->o, '\n');
		if (each->is_list) {
			put_pairs(p, &at, 4, true);
		} else if (each == &rule_entry || each->is_merged) {
			put_named(p, *(const struct str *)entry, each, entry, &at, 2);
		} else {
			at.node = doc_get(doc_get(at.doc->root, k->name), at.node->text);
			out_z(p->o, "  ");
			put_value(p, *(const struct str *)entry, &at, 2);
		}
	}
}

/* The keys of an entry that were set, each as it stands where that was. */
static void put_keys(const struct printer *p, const struct key *of, const void *entry, int indent)
{
	const struct rule *rule = entry; /* limits and parameters are of rules alone */
	const struct origin none = { 0 };

	for (const struct key *key = of->keys; key->read; key++) {
		const struct origin *at = key_origin(key, entry) ? key_origin(key, entry) : &none;

		if (key->read == key_entries) {
			put_section(p, key, entry);
		} else if (key->read == key_map) {
			put_named(p, key->name, key, (const char *)entry + key->offset, at, indent);
		} else if (key->read == key_params) {
			put_numbers(p, key->name, rule->params + PARAM_OWN,
				rule->param_count - PARAM_OWN);
		} else if (key->read == key_limit) {
			if (rule->at_least == !!(key->flags & RULE_AT_LEAST))
				put_numbers(p, key->name, rule->params, PARAM_EXPLAINED);
		} else if (at->node) {
			out_repeat(p->o, ' ', indent);
			put_value(p, key->name, at, indent);
		}
	}
}

void rules_print_rule(
	const struct ruleset *set, const struct rule *rule, struct arena *keep, struct out *o)
{
	const struct printer p = { o, keep, true };

	out_fmt(o, "# %.*s of %.*s, resolved: every value and where it was set\n",
		STR_ARG(rule->name), STR_ARG(set->name));
	for (ptrdiff_t i = 0; i < rule->gate_count; i++)
		out_fmt(o, "%s %.*s%s",
			i ? "" : "# needs these gates:", STR_ARG(rule->gates[i]->name),
			i + 1 < rule->gate_count ? "" : "\n");
	for (int i = 0; i < MATTERS; i++) {
		const struct rule_param *m =
			rule->matters[i].text.p ? &rule->matters[i] : &set->matters[i];
		struct str line = arena_fmt(keep, "# matters.%.*s: %.*s",
			STR_ARG(set->matters[i].name), STR_ARG(m->text));

		out_str(o, line);
		put_origin(&p, &m->origin, line.len);
	}
	out_z(o, "rules:\n");
	put_named(&p, rule->name, &rule_entry, rule, &rule->origin, 2);
	out_z(o, rule->waiver_count ? "\nwaivers:\n" : "");
	for (ptrdiff_t i = 0; i < rule->waiver_count; i++)
		put_pairs(&p, &rule->waivers[i]->origin, 4, true);
}

void rules_print(const struct ruleset *set, struct arena *keep, struct out *o)
{
	const struct printer p = { o, keep, true };

	out_fmt(o, "# %.*s, resolved: every value and where it was set\nversion: 1\n",
		STR_ARG(set->name));
	put_keys(&p, &document, set, 0);
}

struct str rules_identity(const struct ruleset *set, struct arena *keep)
{
	const struct printer p = { out_memory(keep), keep, false };

	put_keys(&p, &document, set, 0);
	return out_text(p.o);
}
