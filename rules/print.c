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

/* "key: value  # origin", behind the indent; long and many-line values stand in a block below. */
static void put_text(const struct printer *p, struct str key, struct str value,
	const struct origin *at, int indent)
{
	ptrdiff_t column = indent + key.len + 2;
	struct str line;
	out_fmt(p->o, "%.*s: ", STR_ARG(key));
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
	if (is_plain(value)) {
		out_str(p->o, value);
		column += value.len;
	} else {
		column += put_quoted(p, value);
	}
	put_origin(p, at, column);
}

/* A node as it was written, in flow style. */
static void put_flow(const struct printer *p, const struct doc_node *n)
{
	if (n->kind == DOC_SCALAR && !n->quoted && is_plain(n->text))
		out_str(p->o, n->text);
	else if (n->kind == DOC_SCALAR)
		put_quoted(p, n->text);
	if (n->kind == DOC_SCALAR)
		return;
	out_z(p->o, n->kind == DOC_MAP ? "{ " : "[");
	for (ptrdiff_t i = 0; i < n->count; i++) {
		out_z(p->o, i ? ", " : "");
		if (n->kind == DOC_MAP)
			out_fmt(p->o, "%.*s: ", STR_ARG(n->pairs[i].key->text));
		put_flow(p, n->kind == DOC_MAP ? n->pairs[i].value : n->items[i]);
	}
	out_z(p->o, n->kind == DOC_MAP ? " }" : "]");
}

static void put_names(
	const struct printer *p, struct str key, const struct name_list *list, int indent)
{
	struct str text = words_joined(p->keep, list->items, list->count, ", ");

	out_fmt(p->o, "%.*s: [%.*s]", STR_ARG(key), STR_ARG(text));
	put_origin(p, &list->origin, indent + key.len + text.len + 4);
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
		put_text(p, items[i].name, items[i].text, &items[i].origin, 6);
	}
}

/* The value as it is printed. */
static struct str key_text_of(const struct printer *p, const struct key *key, const void *entry)
{
	const void *value = (const char *)entry + key->offset;
	struct str words[KEY_WORDS_MAX];

	if (key->read == key_word) {
		key_words(key, words);
		return words[*(const int *)value];
	}
	if (key->read == key_bool)
		return *(const bool *)value ? STR("true") : STR("false");
	if (key->read == key_int)
		return arena_fmt(p->keep, "%d", *(const int *)value);
	if (key->read == key_measure || key->read == key_ceiling)
		return ((const struct rule_param *)value)->text;
	return *(const struct str *)value; /* what begins with its text */
}

static void put_entry(const struct printer *p, const struct key *of, const void *entry,
	const struct origin *at, int indent);

static void put_advice(const struct printer *p, struct str key, const struct advice_list *list)
{
	if (list->count == 1 && !list->items[0].when.text.p) {
		out_z(p->o, "    ");
		put_text(p, key, list->items[0].text.text, &list->origin, 4);
		return;
	}
	out_fmt(p->o, "    %.*s:\n", STR_ARG(key));
	for (ptrdiff_t i = 0; i < list->count; i++)
		put_entry(p, &advice_entry, &list->items[i], &list->origin, 8);
}

/* Keys under a name; nothing where neither it nor any of them was set. */
static void put_named(const struct printer *p, struct str name, const struct key *of,
	const void *entry, const struct origin *at, int indent)
{
	const struct printer keys = { out_memory(p->keep), p->keep, p->has_origins };
	ptrdiff_t columns = name.len;

	put_entry(&keys, of, entry, at, indent + 2);
	if (!at->node && !out_text(keys.o).len)
		return;
	out_repeat(p->o, ' ', indent);
	if (is_plain(name))
		out_str(p->o, name);
	else
		columns = put_quoted(p, name);
	out_z(p->o, out_text(keys.o).len ? ":" : ": {}");
	put_origin(p, at, indent + columns + 1);
	out_str(p->o, out_text(keys.o));
}

/* One of a set's sections, if it has entries. */
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

		if (!i)
			out_fmt(p->o, "%s%.*s:\n", is_behind ? "\n" : "", STR_ARG(k->name));
		if (each == &rule_entry && i)
			out_char(p->o, '\n');
		if (each->is_list) {
			put_entry(p, each, entry, key_origin(each, entry), 4);
		} else if (each->keys) {
			put_named(p, *(const struct str *)entry, each, entry,
				key_origin(each, entry), 2);
		} else {
			out_z(p->o, "  ");
			put_names(p, *(const struct str *)entry,
				(const void *)((const char *)entry + each->offset), 2);
		}
	}
}

/* What takes more than a line; false for other keys. */
static bool put_block(const struct printer *p, const struct key *key, const void *entry,
	const struct origin *at, int indent)
{
	const void *value = (const char *)entry + key->offset;
	const struct rule *rule = entry;     /* limits and parameters are of rules alone, */
	const struct waiver *waiver = entry; /* and a ceiling of a waiver */
	const struct origin none = { 0 };

	if (key->read == key_entries) {
		put_section(p, key, entry);
	} else if (key->read == key_map) {
		put_named(p, key->name, key, value, key->origin ? at : &none, indent);
	} else if (key->read == key_params) {
		put_numbers(p, key->name, rule->params + PARAM_OWN, rule->param_count - PARAM_OWN);
	} else if (key->read == key_limit) {
		if (rule->at_least == !!(key->flags & RULE_AT_LEAST))
			put_numbers(p, key->name, rule->params, PARAM_EXPLAINED);
	} else if (key->read == key_advice) {
		if (((const struct advice_list *)value)->count)
			put_advice(p, key->name, value);
	} else if (key->read == key_list) {
		if (at->node) {
			out_repeat(p->o, ' ', indent);
			put_names(p, key->name, value, indent);
		}
	} else if (key->read == key_changes) {
		out_fmt(p->o, "    %.*s: ", STR_ARG(key->name));
		put_flow(p, *(const struct doc_node *const *)value);
		out_char(p->o, '\n');
	} else {
		return key->read == key_ceiling &&
		       waiver->at_least != !!(key->flags & RULE_AT_LEAST);
	}
	return true;
}

/* The keys of an entry that were set; `at` says where, for keys without an origin of their own. */
static void put_entry(const struct printer *p, const struct key *of, const void *entry,
	const struct origin *at, int indent)
{
	bool is_item = of->is_list; /* its first key stands behind a dash */

	for (const struct key *key = of->keys; key->read; key++) {
		const struct origin *own = key_origin(key, entry), *from = own ? own : at;

		if (put_block(p, key, entry, from, indent))
			continue;
		if (!from->node)
			continue;
		struct str text = key_text_of(p, key, entry);
		if (!text.p)
			continue;
		out_repeat(p->o, ' ', is_item ? indent - 2 : indent);
		out_z(p->o, is_item ? "- " : "");
		is_item = false;
		put_text(p, key->name, text, from, indent);
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
		put_entry(&p, &waiver_entry, rule->waivers[i], &rule->waivers[i]->origin, 4);
}

void rules_print(const struct ruleset *set, struct arena *keep, struct out *o)
{
	const struct printer p = { o, keep, true };
	const struct origin none = { 0 };

	out_fmt(o, "# %.*s, resolved: every value and where it was set\nversion: 1\n",
		STR_ARG(set->name));
	put_entry(&p, &document, set, &none, 0);
}

struct str rules_identity(const struct ruleset *set, struct arena *keep)
{
	const struct printer p = { out_memory(keep), keep, false };
	const struct origin none = { 0 };

	put_entry(&p, &document, set, &none, 0);
	return out_text(p.o);
}
