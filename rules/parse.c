/* Reading one rule file.  See parse.h. */
#include "rules/parse.h"

#include <stdarg.h>

#include "rules/engine.h"

enum { RULE_NAME_MAX = 64 }; /* it becomes a JUnit case, an anchor and a column of every report */

#define TEXT_KEY(member, meaning)                                                                  \
	{                                                                                          \
		STR_INIT(#member), KEY_TEXT, offsetof(struct rule, member),                        \
			offsetof(struct rule, member) + offsetof(struct rule_text, origin),        \
			STR_INIT(meaning)                                                          \
	}
#define SQL_KEY(member, meaning)                                                                   \
	{                                                                                          \
		STR_INIT(#member), KEY_SQL, offsetof(struct rule, member),                         \
			offsetof(struct rule, member) + offsetof(struct rule_text, origin),        \
			STR_INIT(meaning)                                                          \
	}
#define KEY(member, type, meaning)                                                                 \
	{                                                                                          \
		STR_INIT(#member), type, offsetof(struct rule, member),                            \
			offsetof(struct rule, member##_origin), STR_INIT(meaning)                  \
	}

/* In the order in which `rules show` prints them. */
const struct rule_key rule_keys[] = {
	TEXT_KEY(title, "what is demanded, in one sentence"),
	{ STR_INIT("from"), KEY_TABLE, offsetof(struct rule, from_text),
		offsetof(struct rule, from_text) + offsetof(struct rule_text, origin),
		STR_INIT("the table whose rows are judged") },
	SQL_KEY(select, "instead of from: a SELECT whose rows are judged"),
	SQL_KEY(where, "which rows are subjects; without it all are"),
	SQL_KEY(warn, "what a subject should fulfil; else a warning"),
	SQL_KEY(assert, "what a subject must fulfil; else the rule fails"),
	KEY(params, KEY_PARAMS, "named values with units, used as :name"),
	SQL_KEY(gain, "seconds per step and device that a finding would give back"),
	KEY(pool, KEY_POOL, "the part of the step that the gain comes from"),
	KEY(severity, KEY_SEVERITY, "error, warn (a failed assert is a warning) or off"),
	KEY(gate, KEY_BOOL, "when it does not hold, rules that need it are inconclusive"),
	KEY(needs, KEY_NAMES, "the gates the rule depends on; without it all of them"),
	KEY(required, KEY_BOOL, "inconclusive counts for the exit status"),
	KEY(min_subjects, KEY_COUNT, "with fewer subjects the rule is inconclusive"),
	KEY(confirm, KEY_COUNT, "reports in a row that must fail (--previous); before it warns"),
	TEXT_KEY(message, "what a finding says; {column} and {column:format} are filled in"),
	TEXT_KEY(cause, "the likely cause"),
	TEXT_KEY(fix, "what to do"),
	TEXT_KEY(why, "why this matters"),
	TEXT_KEY(measured, "where the limits come from"),
	TEXT_KEY(wrong_when, "when the rule may be wrong"),
};
const ptrdiff_t rule_key_count = (ptrdiff_t)(sizeof(rule_keys) / sizeof(rule_keys[0]));

const struct rule_key *rule_key_find(struct str name)
{
	for (ptrdiff_t i = 0; i < rule_key_count; i++)
		if (str_eq(rule_keys[i].name, name))
			return &rule_keys[i];
	return NULL;
}

struct origin origin_of(const struct rule_reader *r, const struct doc_node *node)
{
	return (struct origin){ r->doc->file, node->line, node->column, r->doc, node };
}

bool node_fail(const struct rule_reader *r, const struct doc_node *node, enum diag_id id,
	const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	return diag_caret(r->err, id, doc_place(r->doc, node), "%.*s", STR_ARG(text));
}

/* ---- the document ------------------------------------------------------------------------- */

const struct document_key document_keys[] = {
	{ STR_INIT("version"), STR_INIT("1"), SHAPE_VERSION, NULL },
	{ STR_INIT("extends"), STR_INIT("recommended, strict, fleet, or a file"), SHAPE_TEXT,
		NULL },
	{ STR_INIT("rules"), STR_INIT("by name: new ones, or changes to inherited ones"),
		SHAPE_RULES, NULL },
	{ STR_INIT("waivers"), STR_INIT("findings that a team has accepted, up to a ceiling"),
		SHAPE_LIST, &waiver_section },
	{ STR_INIT("profiles"), STR_INIT("changes for some workloads, by name or label"),
		SHAPE_LIST, &profile_section },
	{ STR_INIT("costs"), STR_INIT("what custom calls cost, by name"), SHAPE_MAP,
		&cost_section },
	{ STR_INIT("notifications"), STR_INIT("who is told, by name"), SHAPE_MAP, &notice_section },
};
enum { DOCUMENT_KEYS = sizeof(document_keys) / sizeof(document_keys[0]) };
const int document_key_count = DOCUMENT_KEYS;

static bool check_document_key(const struct rule_reader *r, const struct doc_node *key)
{
	struct str names[DOCUMENT_KEYS];

	for (int i = 0; i < DOCUMENT_KEYS; i++) {
		names[i] = document_keys[i].name;
		if (str_eq(names[i], key->text))
			return true;
	}
	struct str hint = did_you_mean(r->keep, key->text, names, DOCUMENT_KEYS);
	if (!hint.len)
		hint = STR("; a rule file has version, extends and rules");
	return node_fail(r, key, DIAG_RULE_SCHEMA, "unknown key '%.*s'%.*s", STR_ARG(key->text),
		STR_ARG(hint));
}

static bool check_version(const struct rule_reader *r)
{
	const struct doc_node *version = doc_get(r->doc->root, STR("version"));

	if (!version)
		return node_fail(
			r, r->doc->root, DIAG_RULE_SCHEMA, "a rule file begins with 'version: 1'");
	if (version->quoted)
		return node_fail(r, version, DIAG_RULE_SCHEMA,
			"version is a number: write it without quotes");
	if (version->kind != DOC_SCALAR || !str_eq(version->text, STR("1")))
		return node_fail(r, version, DIAG_RULE_SCHEMA,
			"this rooflint reads rule files of version 1");
	return true;
}

bool document_check(const struct rule_reader *r, const struct doc_node **extends)
{
	const struct doc_node *root = r->doc->root;

	*extends = NULL;
	if (!root)
		return diag_set(r->err, DIAG_RULE_SCHEMA,
			"%.*s: the file is empty; a rule file begins with 'version: 1'",
			STR_ARG(r->doc->file));
	if (root->kind != DOC_MAP)
		return node_fail(r, root, DIAG_RULE_SCHEMA,
			"a rule file is a map with the keys version, extends and rules");
	for (ptrdiff_t i = 0; i < root->count; i++)
		if (!check_document_key(r, root->pairs[i].key))
			return false;
	if (!check_version(r))
		return false;
	*extends = doc_get(root, STR("extends"));
	if (*extends && ((*extends)->kind != DOC_SCALAR || !(*extends)->text.len))
		return node_fail(r, *extends, DIAG_RULE_SCHEMA,
			"extends takes one name: a built-in rule set or a file");
	return true;
}

/* ---- sections ----------------------------------------------------------------------------- */

/* "; it has match, label and rules" */
static struct str keys_hint(struct arena *keep, const struct str *names, int count)
{
	struct str all = STR("; it has ");

	for (int i = 0; i < count; i++)
		all = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(all),
			i == 0		 ? ""
			: i == count - 1 ? " and "
					 : ", ",
			STR_ARG(names[i]));
	return all;
}

const struct section_key *section_key_find(
	const struct rule_reader *r, const struct section *section, const struct doc_node *key)
{
	struct str *names = arena_make(r->keep, struct str, section->count);

	for (int i = 0; i < section->count; i++) {
		names[i] = section->keys[i].name;
		if (str_eq(names[i], key->text))
			return &section->keys[i];
	}
	struct str hint = did_you_mean(r->keep, key->text, names, section->count);
	if (!hint.len)
		hint = keys_hint(r->keep, names, section->count);
	node_fail(r, key, DIAG_RULE_SCHEMA, "%s has no key '%.*s'%.*s", section->entry,
		STR_ARG(key->text), STR_ARG(hint));
	return NULL;
}

/* ---- rules -------------------------------------------------------------------------------- */

bool rule_name_ok(struct str s)
{
	if (!s.len || s.len > RULE_NAME_MAX || s.p[0] == '-')
		return false;
	for (ptrdiff_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
			return false;
	}
	return true;
}

static struct rule *new_rule(const struct rule_reader *r, struct str name)
{
	struct rule *rule = arena_make(r->keep, struct rule, 1);

	rule->name = name;
	rule->severity = SEVERITY_ERROR;
	rule->needs_all = true;
	*arena_push(r->keep, r->set->items, r->set->count, r->set->cap) = rule;
	return rule;
}

/* The inherited rule of that name, or a new one. */
static struct rule *rule_named(const struct rule_reader *r, const struct doc_node *key)
{
	for (ptrdiff_t i = 0; i < r->set->count; i++)
		if (str_eq(r->set->items[i]->name, key->text))
			return r->set->items[i];
	if (!rule_name_ok(key->text)) {
		node_fail(r, key, DIAG_RULE_SCHEMA,
			"a rule's name has small letters, digits and '-', at most %d",
			RULE_NAME_MAX);
		return NULL;
	}
	if (r->set->count >= RULES_MAX) {
		node_fail(r, key, DIAG_LIMIT, "more than %d rules", RULES_MAX);
		return NULL;
	}
	return new_rule(r, key->text);
}

static bool unknown_key(
	const struct rule_reader *r, const struct rule *rule, const struct doc_node *key)
{
	struct str *names = arena_make(r->keep, struct str, rule_key_count);

	for (ptrdiff_t i = 0; i < rule_key_count; i++)
		names[i] = rule_keys[i].name;
	struct str hint = did_you_mean(r->keep, key->text, names, rule_key_count);
	for (ptrdiff_t i = 0; i < rule->param_count && !hint.len; i++)
		if (str_eq(rule->params[i].name, key->text))
			hint = arena_fmt(r->keep, "; parameters stand under params: { %.*s: ... }",
				STR_ARG(key->text));
	return node_fail(r, key, DIAG_RULE_SCHEMA, "%.*s: a rule has no key '%.*s'%.*s",
		STR_ARG(rule->name), STR_ARG(key->text), STR_ARG(hint));
}

static bool read_rule(const struct rule_reader *r, const struct doc_pair *pair)
{
	const struct doc_node *map = pair->value, *select = doc_get(map, STR("select"));
	struct rule *rule = rule_named(r, pair->key);

	if (!rule)
		return false;
	if (map->kind != DOC_MAP)
		return node_fail(r, map, DIAG_RULE_SCHEMA,
			"%.*s: a rule is a map of keys, such as { severity: off }",
			STR_ARG(rule->name));
	if (select && doc_get(map, STR("from")))
		return node_fail(r, select, DIAG_RULE_SCHEMA,
			"%.*s: a rule has either from or select", STR_ARG(rule->name));
	if (!rule->origin.doc)
		rule->origin = origin_of(r, pair->key);
	for (ptrdiff_t i = 0; i < map->count; i++) {
		const struct rule_key *key = rule_key_find(map->pairs[i].key->text);

		if (!key)
			return unknown_key(r, rule, map->pairs[i].key);
		if (!value_set(r, rule, key, map->pairs[i].value))
			return false;
	}
	return true;
}

bool document_rules(const struct rule_reader *r)
{
	const struct doc_node *rules = doc_get(r->doc->root, STR("rules"));

	if (!rules)
		return true;
	if (rules->kind != DOC_MAP)
		return node_fail(r, rules, DIAG_RULE_SCHEMA,
			"rules is a map from names to rules: my-rule: { from: ..., assert: ... }");
	for (ptrdiff_t i = 0; i < rules->count; i++)
		if (!read_rule(r, &rules->pairs[i]))
			return false;
	return true;
}
