/* The rule file as it was understood.  See print.h. */
#include "rules/print.h"

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

static void put_origin(struct out *o, const struct origin *at, ptrdiff_t column)
{
	if (!at->node) {
		out_char(o, '\n');
		return;
	}
	out_repeat(o, ' ', column < ORIGIN_COLUMN ? ORIGIN_COLUMN - column : 1);
	out_fmt(o, " # %.*s", STR_ARG(at->doc->file));
	if (at->doc->root) /* an option has no lines */
		out_fmt(o, ":%lld", (long long)at->node->line);
	out_char(o, '\n');
}

/* "it's", or 'say "it''s"' where double quotes would need escapes. */
static ptrdiff_t put_quoted(struct out *o, struct str s)
{
	bool single = str_find_char(s, '"') >= 0 || str_find_char(s, '\\') >= 0;
	struct str head;
	ptrdiff_t columns = 2;
	out_char(o, single ? '\'' : '"');
	for (bool more = single; more; columns += head.len + (more ? 2 : 0)) {
		more = str_cut(s, '\'', &head, &s);
		out_str(o, head);
		out_z(o, more ? "''" : "");
	}
	if (!single)
		out_str(o, s);
	out_char(o, single ? '\'' : '"');
	return single ? columns : columns + s.len;
}

/* "key: value  # origin", behind the indent; long and many-line values stand in a block below. */
static void put_text(
	struct out *o, struct str key, struct str value, const struct origin *at, int indent)
{
	ptrdiff_t column = indent + key.len + 2;
	struct str line;
	out_fmt(o, "%.*s: ", STR_ARG(key));
	if (str_find_char(value, '\n') >= 0 || value.len > LINE_MOST) {
		out_z(o, "|-");
		put_origin(o, at, column + 2);
		for (bool more = true; more;) {
			more = str_cut(value, '\n', &line, &value);
			out_repeat(o, ' ', line.len ? indent + 2 : 0);
			out_fmt(o, "%.*s\n", STR_ARG(line));
		}
		return;
	}
	if (is_plain(value)) {
		out_str(o, value);
		column += value.len;
	} else {
		column += put_quoted(o, value);
	}
	put_origin(o, at, column);
}

/* A node as it was written, in flow style. */
static void put_flow(struct out *o, const struct doc_node *n)
{
	if (n->kind == DOC_SCALAR && !n->quoted && is_plain(n->text))
		out_str(o, n->text);
	else if (n->kind == DOC_SCALAR)
		put_quoted(o, n->text);
	if (n->kind == DOC_SCALAR)
		return;
	out_z(o, n->kind == DOC_MAP ? "{ " : "[");
	for (ptrdiff_t i = 0; i < n->count; i++) {
		out_z(o, i ? ", " : "");
		if (n->kind == DOC_MAP)
			out_fmt(o, "%.*s: ", STR_ARG(n->pairs[i].key->text));
		put_flow(o, n->kind == DOC_MAP ? n->pairs[i].value : n->items[i]);
	}
	out_z(o, n->kind == DOC_MAP ? " }" : "]");
}

static void put_names(
	struct out *o, struct str key, const struct name_list *list, int indent, struct arena *keep)
{
	struct str text = words_joined(keep, list->items, list->count, ", ");

	out_fmt(o, "%.*s: [%.*s]", STR_ARG(key), STR_ARG(text));
	put_origin(o, &list->origin, indent + key.len + text.len + 4);
}

static void put_numbers(
	struct out *o, struct str key, const struct rule_param *items, ptrdiff_t count)
{
	bool is_any = false;

	for (ptrdiff_t i = 0; i < count; i++) {
		if (!items[i].text.p)
			continue;
		if (!is_any)
			out_fmt(o, "    %.*s:\n", STR_ARG(key));
		is_any = true;
		out_z(o, "      ");
		put_text(o, items[i].name, items[i].text, &items[i].origin, 6);
	}
}

/* The value as it is printed. */
static struct str key_text(const struct rule_key *key, const void *entry, struct arena *keep)
{
	const void *value = (const char *)entry + key->value;

	switch (key->type) {
	case KEY_WORD:
		return key->words[*(const unsigned *)value];
	case KEY_BOOL:
		return *(const bool *)value ? STR("true") : STR("false");
	case KEY_COUNT:
		return arena_fmt(keep, "%lld", (long long)*(const int64_t *)value);
	case KEY_NUMBER:
	case KEY_SHARE:
	case KEY_CEILING:
		return ((const struct rule_param *)value)->text;
	default: /* what begins with its text */
		return *(const struct str *)value;
	}
}

static void put_entry(struct out *o, const struct section *section, const void *entry,
	const struct origin *at, int indent, struct arena *keep);

static void put_advice(
	struct out *o, struct str key, const struct advice_list *list, struct arena *keep)
{
	if (list->count == 1 && !list->items[0].when.text.p) {
		out_z(o, "    ");
		put_text(o, key, list->items[0].text.text, &list->origin, 4);
		return;
	}
	out_fmt(o, "    %.*s:\n", STR_ARG(key));
	for (ptrdiff_t i = 0; i < list->count; i++)
		put_entry(o, &advice_section, &list->items[i], &list->origin, 8, keep);
}

/* Under its name, if any of its keys was set. */
static void put_part(struct out *o, const struct rule_key *key, const void *entry,
	const struct origin *at, int indent, struct arena *keep)
{
	struct out *part = out_memory(keep);

	put_entry(part, key->part, (const char *)entry + key->value, at, indent + 2, keep);
	if (!out_text(part).len)
		return;
	out_repeat(o, ' ', indent);
	out_fmt(o, "%.*s:\n", STR_ARG(key->name));
	out_str(o, out_text(part));
}

/* What takes more than a line; false for other keys. */
static bool put_block(struct out *o, const struct rule_key *key, const void *entry,
	const struct origin *at, int indent, struct arena *keep)
{
	const void *value = (const char *)entry + key->value;
	const struct rule *rule = entry;     /* limits and parameters are of rules alone, */
	const struct waiver *waiver = entry; /* and a ceiling of a waiver */
	bool at_least = str_eq(key->name, STR("at_least"));

	if (key->type == KEY_PART) {
		put_part(o, key, entry, at, indent, keep);
	} else if (key->type == KEY_PARAMS) {
		put_numbers(o, key->name, rule->params + PARAM_OWN, rule->param_count - PARAM_OWN);
	} else if (key->type == KEY_LIMIT) {
		if (rule->at_least == at_least)
			put_numbers(o, key->name, rule->params, PARAM_EXPLAINED);
	} else if (key->type == KEY_ADVICE) {
		if (((const struct advice_list *)value)->count)
			put_advice(o, key->name, value, keep);
	} else if (key->type == KEY_NAMES) {
		if (at->node) {
			out_repeat(o, ' ', indent);
			put_names(o, key->name, value, indent, keep);
		}
	} else if (key->type == KEY_RULES) {
		out_fmt(o, "    %.*s: ", STR_ARG(key->name));
		put_flow(o, *(const struct doc_node *const *)value);
		out_char(o, '\n');
	} else {
		return key->type == KEY_CEILING && waiver->at_least != at_least;
	}
	return true;
}

/* The keys of an entry that were set; `at` says where, for keys without an origin of their own. */
static void put_entry(struct out *o, const struct section *section, const void *entry,
	const struct origin *at, int indent, struct arena *keep)
{
	bool is_item = section->is_list; /* its first key stands behind a dash */

	for (int i = 0; i < section->count; i++) {
		const struct rule_key *key = &section->keys[i];
		const struct origin *own = key_origin(key, entry), *from = own ? own : at;

		if (put_block(o, key, entry, from, indent, keep))
			continue;
		struct str text = key_text(key, entry, keep);
		if (!from->node || !text.p)
			continue;
		out_repeat(o, ' ', is_item ? indent - 2 : indent);
		out_z(o, is_item ? "- " : "");
		is_item = false;
		put_text(o, key->name, text, from, indent);
	}
}

/* What stands above the rules. */
static void put_head(const struct ruleset *set, struct arena *keep, struct out *o)
{
	const struct origin none = { 0 };

	put_entry(o, &head_section, set, &none, 0, keep);
	out_z(o, set->set_count ? "sets:\n" : "");
	for (ptrdiff_t i = 0; i < set->set_count; i++) {
		out_z(o, "  ");
		put_names(o, set->sets[i].name, &set->sets[i].names, 2, keep);
	}
	out_z(o, set->group_count ? "groups:\n" : "");
	for (ptrdiff_t i = 0; i < set->group_count; i++) {
		const struct rule_group *g = &set->groups[i];
		bool has_keys = g->severity_origin.node || g->needs.origin.node;

		out_fmt(o, "  %.*s:%s", STR_ARG(g->name), has_keys ? "" : " {}");
		put_origin(o, &g->origin, 3 + g->name.len);
		put_entry(o, &group_section, g, &g->origin, 4, keep);
	}
}

static void put_rule(const struct rule *r, struct arena *keep, struct out *o)
{
	out_fmt(o, "  %.*s:", STR_ARG(r->name));
	put_origin(o, &r->origin, 3 + r->name.len);
	put_entry(o, &rule_section, r, &r->origin, 4, keep);
}

void rules_print_rule(
	const struct ruleset *set, const struct rule *rule, struct arena *keep, struct out *o)
{
	bool is_any = false;

	out_fmt(o, "# %.*s of %.*s, resolved: every value and where it was set\n",
		STR_ARG(rule->name), STR_ARG(set->name));
	if (rule->gate_count) {
		out_z(o, "# needs these gates:");
		for (ptrdiff_t i = 0; i < rule->gate_count; i++)
			out_fmt(o, " %.*s", STR_ARG(rule->gates[i]->name));
		out_char(o, '\n');
	}
	for (int i = 0; i < MATTERS; i++) {
		const struct rule_param *p =
			rule->matters[i].text.p ? &rule->matters[i] : &set->matters[i];
		struct str line = arena_fmt(keep, "# matters.%.*s: %.*s",
			STR_ARG(set->matters[i].name), STR_ARG(p->text));

		out_str(o, line);
		put_origin(o, &p->origin, line.len);
	}
	out_z(o, "rules:\n");
	put_rule(rule, keep, o);
	for (ptrdiff_t i = 0; i < rule->waiver_count; i++) {
		out_z(o, is_any ? "" : "\nwaivers:\n");
		is_any = true;
		put_entry(o, &waiver_section, rule->waivers[i], &rule->waivers[i]->origin, 4, keep);
	}
}

void rules_print(const struct ruleset *set, struct arena *keep, struct out *o)
{
	out_fmt(o, "# %.*s, resolved: every value and where it was set\nversion: 1\n",
		STR_ARG(set->name));
	put_head(set, keep, o);
	out_z(o, "rules:\n");
	for (ptrdiff_t i = 0; i < set->count; i++) {
		out_z(o, i ? "\n" : "");
		put_rule(set->items[i], keep, o);
	}
	out_z(o, set->costs.count ? "\ncosts:\n" : "");
	for (ptrdiff_t i = 0; i < set->costs.count; i++) {
		const struct op_cost *cost = &set->costs.items[i];
		out_z(o, "  ");
		put_quoted(o, cost->name);
		out_z(o, ":\n");
		put_entry(o, &cost_section, cost, &cost->origin, 4, keep);
	}
	out_z(o, set->waiver_count ? "\nwaivers:\n" : "");
	for (ptrdiff_t i = 0; i < set->waiver_count; i++)
		put_entry(o, &waiver_section, set->waivers[i], &set->waivers[i]->origin, 4, keep);
	out_z(o, set->tuning_count ? "\nprofiles:\n" : "");
	for (ptrdiff_t i = 0; i < set->tuning_count; i++)
		put_entry(o, &profile_section, &set->tunings[i], &set->tunings[i].origin, 4, keep);
}

/* Apart from the rules: who is told changes no verdict. */
void rules_print_notices(const struct ruleset *set, struct arena *keep, struct out *o)
{
	out_z(o, set->notice_count ? "\nnotifications:\n" : "");
	for (ptrdiff_t i = 0; i < set->notice_count; i++) {
		const struct notice *n = &set->notices[i];
		out_fmt(o, "  %.*s:", STR_ARG(n->name));
		put_origin(o, &n->origin, 3 + n->name.len);
		put_entry(o, &notice_section, n, &n->origin, 4, keep);
	}
}
