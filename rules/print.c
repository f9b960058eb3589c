/* The rule file as it was understood.  See print.h. */
#include "rules/print.h"

enum { ORIGIN_COLUMN = 60, LINE_MOST = 90 };

static bool is_plain_char(char c)
{
	static const struct str plain = STR_INIT(
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,;()/+-*<>=%");
	return str_find_char(plain, c) >= 0;
}

/* Needs no quotes in YAML, and is no word that YAML reads as something else. */
static bool is_plain(struct str s)
{
	static const struct str first =
		STR_INIT("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789(");
	if (!s.len || str_find_char(first, s.p[0]) < 0 || str_ends(s, STR(" ")))
		return false;
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (!is_plain_char(s.p[i]))
			return false;
	return true;
}

/* An option has no lines. */
static void put_place(struct out *o, const struct origin *at)
{
	out_str(o, at->file);
	if (at->line && !str_starts(at->file, STR("--")))
		out_fmt(o, ":%lld", (long long)at->line);
}

static void put_origin(struct out *o, const struct origin *at, ptrdiff_t column)
{
	if (!at->file.p) {
		out_char(o, '\n');
		return;
	}
	out_repeat(o, ' ', column < ORIGIN_COLUMN ? ORIGIN_COLUMN - column : 1);
	out_z(o, " # ");
	put_place(o, at);
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

static void put_block(struct out *o, struct str s, int indent)
{
	struct str line;
	for (bool more = true; more;) {
		more = str_cut(s, '\n', &line, &s);
		out_repeat(o, ' ', line.len ? indent : 0);
		out_str(o, line);
		out_char(o, '\n');
	}
}

/* "key: value  # origin"; long and many-line values stand in a block below. */
static void put_value(
	struct out *o, struct str key, struct str value, const struct origin *at, int indent)
{
	ptrdiff_t column = indent + key.len + 2;
	bool block = str_find_char(value, '\n') >= 0 || value.len > LINE_MOST;
	out_repeat(o, ' ', indent);
	out_fmt(o, "%.*s: ", STR_ARG(key));
	if (block) {
		out_z(o, "|-");
		put_origin(o, at, column + 2);
		put_block(o, value, indent + 2);
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

static struct str needs_text(const struct rule *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_char(o, '[');
	for (ptrdiff_t i = 0; i < r->need_count; i++)
		out_fmt(o, "%s%.*s", i ? ", " : "", STR_ARG(r->needs[i]));
	out_char(o, ']');
	return out_text(o);
}

static void put_params(struct out *o, const struct rule *r)
{
	if (!r->param_count)
		return;
	out_z(o, "    params:\n");
	for (ptrdiff_t i = 0; i < r->param_count; i++)
		put_value(o, r->params[i].name, r->params[i].text, &r->params[i].origin, 6);
}

/* A list in brackets and a plain word need no quotes, whatever is in them. */
static void put_word(struct out *o, struct str key, struct str value, const struct origin *at)
{
	out_fmt(o, "    %.*s: %.*s", STR_ARG(key), STR_ARG(value));
	put_origin(o, at, 4 + key.len + 2 + value.len);
}

static void put_key(
	struct out *o, const struct rule *r, const struct rule_key *k, struct arena *keep)
{
	static const struct str severities[] = { STR_INIT("off"), STR_INIT("warn"),
		STR_INIT("error") };
	const char *value = (const char *)r + k->value;
	const struct origin *at = (const void *)((const char *)r + k->origin);
	if (k->type == KEY_PARAMS) {
		put_params(o, r);
		return;
	}
	if (!at->file.p)
		return;
	switch (k->type) {
	case KEY_TEXT:
	case KEY_SQL:
	case KEY_TABLE:
		put_value(o, k->name, ((const struct rule_text *)(const void *)value)->text, at, 4);
		break;
	case KEY_SEVERITY:
		put_word(o, k->name, severities[*(const enum severity *)(const void *)value], at);
		break;
	case KEY_POOL:
		put_word(o, k->name, pool_name(*(const enum pool *)(const void *)value), at);
		break;
	case KEY_BOOL:
		put_word(o, k->name, *(const bool *)value ? STR("true") : STR("false"), at);
		break;
	case KEY_COUNT:
		put_word(o, k->name,
			arena_fmt(keep, "%lld", (long long)*(const int64_t *)(const void *)value),
			at);
		break;
	case KEY_NAMES:
		put_word(o, k->name, needs_text(r, keep), at);
		break;
	case KEY_PARAMS:
		break;
	}
}

static void put_formula(
	struct out *o, struct str key, const struct formula *f, const struct origin *at)
{
	if (f->text.p)
		put_value(o, key, f->text, at, 4);
}

static void put_costs(struct out *o, const struct op_costs *costs)
{
	if (costs->count)
		out_z(o, "\ncosts:\n");
	for (ptrdiff_t i = 0; i < costs->count; i++) {
		const struct op_cost *cost = &costs->items[i];
		struct origin at = { .file = cost->file, .line = cost->line };
		out_z(o, "  ");
		put_quoted(o, cost->name);
		out_z(o, ":\n");
		put_formula(o, STR("flops"), &cost->flops, &at);
		put_formula(o, STR("bytes"), &cost->bytes, &at);
	}
}

/* "  - key: ..." for the first of an item's keys, "    key: ..." for the others. */
static void put_item(struct out *o, bool *first, struct str key, const struct rule_text *value)
{
	if (!value->text.p)
		return;
	out_z(o, *first ? "  - " : "    ");
	*first = false;
	struct str text = str_trim(value->text);
	ptrdiff_t column = 4 + key.len + 2 + text.len;
	out_fmt(o, "%.*s: ", STR_ARG(key));
	if (is_plain(text))
		out_str(o, text);
	else
		column += put_quoted(o, text) - text.len;
	put_origin(o, &value->origin, column);
}

static void put_waivers(struct out *o, const struct ruleset *set)
{
	if (set->waiver_count)
		out_z(o, "\nwaivers:\n");
	for (ptrdiff_t i = 0; i < set->waiver_count; i++) {
		const struct waiver *w = set->waivers[i];
		bool first = true;
		put_item(o, &first, STR("rule"), &w->rule);
		put_item(o, &first, STR("where"), &w->where);
		put_item(o, &first, STR("ceiling"), &w->ceiling);
		put_item(o, &first, STR("owner"), &w->owner);
		put_item(o, &first, STR("reason"), &w->reason);
		put_item(o, &first, STR("issue"), &w->issue);
		put_item(o, &first, STR("expires"), &w->expires);
	}
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

static void put_tunings(struct out *o, const struct ruleset *set)
{
	if (set->tuning_count)
		out_z(o, "\nprofiles:\n");
	for (ptrdiff_t i = 0; i < set->tuning_count; i++) {
		const struct tuning *t = &set->tunings[i];
		const struct rule_text match = { t->match, t->origin };
		const struct rule_text label = { t->label, t->origin };
		bool first = true;
		put_item(o, &first, STR("match"), &match);
		put_item(o, &first, STR("label"), &label);
		out_z(o, "    rules: ");
		put_flow(o, t->rules);
		out_char(o, '\n');
	}
}

void rules_print(const struct ruleset *set, struct arena *keep, struct out *o)
{
	out_fmt(o, "# %.*s, resolved: every value and where it was set\nversion: 1\nrules:\n",
		STR_ARG(set->name));
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct rule *r = set->items[i];
		out_fmt(o, "%s  %.*s:", i ? "\n" : "", STR_ARG(r->name));
		put_origin(o, &r->origin, 3 + r->name.len);
		for (ptrdiff_t k = 0; k < rule_key_count; k++)
			put_key(o, r, &rule_keys[k], keep);
	}
	put_costs(o, &set->costs);
	put_waivers(o, set);
	put_tunings(o, set);
}

/* Apart from the rules: who is told changes no verdict. */
void rules_print_notices(const struct ruleset *set, struct out *o)
{
	if (set->notice_count)
		out_z(o, "\nnotifications:\n");
	for (ptrdiff_t i = 0; i < set->notice_count; i++) {
		const struct notice *n = &set->notices[i];
		struct origin at = { .file = n->file, .line = n->line };
		out_fmt(o, "  %.*s:", STR_ARG(n->name));
		put_origin(o, &at, 3 + n->name.len);
		put_word(o, STR("kind"), notice_kind_name(n->kind), &at);
		put_word(o, STR("url_from"), n->url_from, &at);
		if (n->secret_from.p)
			put_word(o, STR("secret_from"), n->secret_from, &at);
		put_word(o, STR("when"), notice_when_name(n->when), &at);
		put_word(o, STR("required"), n->required ? STR("true") : STR("false"), &at);
	}
}
