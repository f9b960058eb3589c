/* Reading one rule file: the document, its sections, and rules.  See parse.h. */
#include "rules/parse.h"

#include <stdarg.h>

#include "rules/engine.h"

enum { RULE_NAME_MAX = 64 }; /* it becomes a JUnit case, an anchor and a column of every report */

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

struct str words_joined(
	struct arena *keep, const struct str *words, ptrdiff_t count, const char *last)
{
	struct str all = count ? words[0] : STR("");

	for (ptrdiff_t i = 1; i < count; i++)
		all = arena_fmt(keep, "%.*s%s%.*s", STR_ARG(all), i + 1 < count ? ", " : last,
			STR_ARG(words[i]));
	return all;
}

/* ---- entries ------------------------------------------------------------------------------ */

const struct rule_key *section_key(const struct section *section, struct str name)
{
	for (int i = 0; i < section->count; i++)
		if (str_eq(section->keys[i].name, name))
			return &section->keys[i];
	return NULL;
}

static bool unknown_key(const struct rule_reader *r, const struct section *section,
	struct str owner, const struct doc_node *key, const void *entry)
{
	enum { LISTED_MOST = 8 }; /* all keys of an entry are named only when they are few */
	struct str *names = arena_make(r->keep, struct str, section->count);

	for (int i = 0; i < section->count; i++)
		names[i] = section->keys[i].name;
	struct str hint = did_you_mean(r->keep, key->text, names, section->count);
	if (!hint.len && section == &rule_section && rule_param_named(entry, key->text))
		hint = arena_fmt(r->keep, "; parameters stand under params: { %.*s: ... }",
			STR_ARG(key->text));
	else if (!hint.len && section->count <= LISTED_MOST)
		hint = arena_fmt(r->keep, "; it has %.*s",
			STR_ARG(words_joined(r->keep, names, section->count, " and ")));
	return node_fail(r, key, DIAG_RULE_SCHEMA, "%.*s: %s has no key '%.*s'%.*s", STR_ARG(owner),
		section->entry, STR_ARG(key->text), STR_ARG(hint));
}

bool entry_read(const struct rule_reader *r, const struct section *section, struct str owner,
	const struct doc_node *at, const struct doc_node *map, void *entry)
{
	if (map->kind != DOC_MAP)
		return node_fail(r, map, DIAG_RULE_SCHEMA, "%.*s: %s is a map of keys, such as %s",
			STR_ARG(owner), section->entry, section->example);
	for (ptrdiff_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		const struct rule_key *key = section_key(section, pair->key->text);

		if (!key)
			return unknown_key(r, section, owner, pair->key, entry);
		if (!value_set(r, owner, key, pair->value, entry))
			return false;
	}
	for (int i = 0; i < section->count; i++)
		if (section->keys[i].need == REQUIRED && !doc_get(map, section->keys[i].name))
			return node_fail(r, at, DIAG_RULE_SCHEMA, "%.*s: %s needs '%.*s'",
				STR_ARG(owner), section->entry, STR_ARG(section->keys[i].name));
	return true;
}

/* ---- the document ------------------------------------------------------------------------- */

/* In the order in which they are read: waivers speak of rules. */
const struct document_key document_keys[] = {
	{ STR_INIT("version"), STR_INIT("1"), NULL },
	{ STR_INIT("extends"), STR_INIT("recommended, strict, fleet, or a file"), NULL },
	{ STR_INIT("rules"), STR_INIT("by name: new ones, or changes to inherited ones"),
		&rule_section },
	{ STR_INIT("waivers"), STR_INIT("findings that a team has accepted, up to a ceiling"),
		&waiver_section },
	{ STR_INIT("profiles"), STR_INIT("changes for some workloads, by name or label"),
		&profile_section },
	{ STR_INIT("costs"), STR_INIT("what custom calls cost, by name"), &cost_section },
	{ STR_INIT("notifications"), STR_INIT("who is told, by name"), &notice_section },
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

bool document_check(const struct rule_reader *r, const struct doc_node **extends)
{
	const struct doc_node *root = r->doc->root, *version = doc_get(root, STR("version"));

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
	if (!version)
		return node_fail(r, root, DIAG_RULE_SCHEMA, "a rule file begins with 'version: 1'");
	if (version->quoted)
		return node_fail(r, version, DIAG_RULE_SCHEMA,
			"version is a number: write it without quotes");
	if (version->kind != DOC_SCALAR || !str_eq(version->text, STR("1")))
		return node_fail(r, version, DIAG_RULE_SCHEMA,
			"this rooflint reads rule files of version 1");
	*extends = doc_get(root, STR("extends"));
	if (*extends && ((*extends)->kind != DOC_SCALAR || !(*extends)->text.len))
		return node_fail(r, *extends, DIAG_RULE_SCHEMA,
			"extends takes one name: a built-in rule set or a file");
	return true;
}

bool document_read(const struct rule_reader *r)
{
	for (int k = 0; k < DOCUMENT_KEYS; k++) {
		const struct section *section = document_keys[k].section;
		const struct doc_node *node = doc_get(r->doc->root, document_keys[k].name);

		if (!section || !node)
			continue;
		if (node->kind != (section->is_list ? DOC_LIST : DOC_MAP))
			return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s is %s",
				STR_ARG(document_keys[k].name), section->wanted);
		for (ptrdiff_t i = 0; i < node->count; i++)
			if (!(section->is_list ? section->read(r, node->items[i], node->items[i])
					       : section->read(r, node->pairs[i].key,
							 node->pairs[i].value)))
				return false;
	}
	return true;
}

/* ---- rules -------------------------------------------------------------------------------- */

static const struct str severity_names[] = { STR_INIT("off"), STR_INIT("warn"), STR_INIT("error") };

#define TEXT_KEY(member, type, meaning)                                                            \
	{                                                                                          \
		STR_INIT(#member), type, offsetof(struct rule, member),                            \
			offsetof(struct rule, member.origin), OPTIONAL, NULL, 0, STR_INIT(meaning) \
	}
#define KEY(member, type, words, count, meaning)                                                   \
	{                                                                                          \
		STR_INIT(#member), type, offsetof(struct rule, member),                            \
			offsetof(struct rule, member##_origin), OPTIONAL, words, count,            \
			STR_INIT(meaning)                                                          \
	}

/* In the order in which `rules show` prints them. */
static const struct rule_key rule_keys[] = {
	TEXT_KEY(title, KEY_TEXT, "what is demanded, in one sentence"),
	{ STR_INIT("from"), KEY_TABLE, offsetof(struct rule, from_text),
		offsetof(struct rule, from_text.origin), OPTIONAL, NULL, 0,
		STR_INIT("the table whose rows are judged") },
	TEXT_KEY(select, KEY_SQL, "instead of from: a SELECT whose rows are judged"),
	TEXT_KEY(where, KEY_SQL, "which rows are subjects; without it all are"),
	TEXT_KEY(warn, KEY_SQL, "what a subject should fulfil; else a warning"),
	TEXT_KEY(assert, KEY_SQL, "what a subject must fulfil; else the rule fails"),
	KEY(params, KEY_PARAMS, NULL, 0, "named values with units, used as :name"),
	TEXT_KEY(gain, KEY_SQL, "seconds per step and device that a finding would give back"),
	KEY(pool, KEY_WORD, pool_names, POOL_COUNT,
		"the part of the step that the gain comes from"),
	KEY(severity, KEY_WORD, severity_names, SEVERITY_ERROR + 1,
		"error, warn (a failed assert is a warning) or off"),
	KEY(gate, KEY_BOOL, NULL, 0, "when it does not hold, rules that need it are inconclusive"),
	KEY(needs, KEY_NAMES, NULL, 0, "the gates the rule depends on; without it all of them"),
	KEY(required, KEY_BOOL, NULL, 0, "inconclusive counts for the exit status"),
	KEY(min_subjects, KEY_COUNT, NULL, 0, "with fewer subjects the rule is inconclusive"),
	KEY(confirm, KEY_COUNT, NULL, 0,
		"reports in a row that must fail (--previous); before it warns"),
	TEXT_KEY(message, KEY_TEXT,
		"what a finding says; {column} and {column:format} are filled in"),
	TEXT_KEY(cause, KEY_TEXT, "the likely cause"),
	TEXT_KEY(fix, KEY_TEXT, "what to do"),
	TEXT_KEY(why, KEY_TEXT, "why this matters"),
	TEXT_KEY(measured, KEY_TEXT, "where the limits come from"),
	TEXT_KEY(wrong_when, KEY_TEXT, "when the rule may be wrong"),
};

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

struct rule *rule_named(const struct ruleset *set, struct str name)
{
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (str_eq(set->items[i]->name, name))
			return set->items[i];
	return NULL;
}

/* Into the inherited rule of that name, or a new one. */
static bool read_rule(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *map)
{
	const struct doc_node *select = doc_get(map, STR("select"));
	struct rule *rule = rule_named(r->set, name->text);

	if (!rule && !rule_name_ok(name->text))
		return node_fail(r, name, DIAG_RULE_SCHEMA,
			"a rule's name has small letters, digits and '-', at most %d",
			RULE_NAME_MAX);
	if (!rule && r->set->count >= RULES_MAX)
		return node_fail(r, name, DIAG_LIMIT, "more than %d rules", RULES_MAX);
	if (!rule) {
		rule = arena_make(r->keep, struct rule, 1);
		rule->name = name->text;
		rule->severity = SEVERITY_ERROR;
		rule->needs_all = true;
		rule->origin = origin_of(r, name);
		*arena_push(r->keep, r->set->items, r->set->count, r->set->cap) = rule;
	}
	if (select && doc_get(map, STR("from")))
		return node_fail(r, select, DIAG_RULE_SCHEMA,
			"%.*s: a rule has either from or select", STR_ARG(rule->name));
	if (!entry_read(r, &rule_section, rule->name, name, map, rule))
		return false;
	if (select) {
		rule->from = NULL;
		rule->from_text = (struct rule_text){ 0 };
	} else if (doc_get(map, STR("from"))) {
		rule->select = (struct rule_text){ 0 };
	}
	return true;
}

const struct section rule_section = { "a rule", "{ severity: off }",
	"a map from names to rules: my-rule: { from: ..., assert: ... }", rule_keys,
	sizeof(rule_keys) / sizeof(rule_keys[0]), false, read_rule };

bool rule_is_from(const struct rule *rule, struct str file)
{
	for (int i = 0; i < rule_section.count; i++) {
		const char *at = (const char *)rule + rule_keys[i].origin;

		if (str_eq(((const struct origin *)(const void *)at)->file, file))
			return true;
	}
	return false;
}
