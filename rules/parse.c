/* Reading one rule file: the document, its sections, and rules.  See parse.h. */
#include "base/text.h"
#include "rules/parse.h"

#include <math.h>
#include <stdarg.h>

#include "rules/engine.h"

enum { RULE_NAME_MAX = 64 }; /* it becomes a JUnit case, an anchor and a column of every report */

struct origin origin_of(const struct rule_reader *r, const struct doc_node *node)
{
	return (struct origin){ r->doc, node };
}

bool node_fail(const struct rule_reader *r, const struct doc_node *node, enum diag_id id,
	const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	diag_caret(r->err, id, doc_place(r->doc, node), "%.*s", STR_ARG(text));
	return mistake_note(r->set ? r->set->mistakes : NULL, r->keep, r->err); /* no set: tests */
}

bool mistake_note(struct mistakes *m, struct arena *keep, const struct diag *err)
{
	struct str text = str_from(err->text);

	if (!m)
		return false;
	for (ptrdiff_t i = 0; i < m->count; i++)
		if (str_eq(m->items[i].note.text, text))
			return false;
	struct rule_mistake new = { { err->id, arena_str(keep, text) }, err->place, m->count };
	*arena_push(keep, m->items, m->count, m->cap) = new;
	return false;
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
	return NAMED(section->keys, section->count, name);
}

static ptrdiff_t opened(struct str sql)
{
	ptrdiff_t depth = 0;

	for (ptrdiff_t i = 0; i < sql.len; i++)
		depth += (sql.p[i] == '(') - (sql.p[i] == ')');
	return depth;
}

static bool unknown_key(const struct rule_reader *r, const struct section *section,
	struct str owner, const struct doc_node *map, ptrdiff_t at)
{
	enum { LISTED_MOST = 8 }; /* all keys of an entry are named only when they are few */
	struct list names = { NULL, 0, 0 };
	const struct doc_node *key = map->pairs[at].key,
			      *last = at ? map->pairs[at - 1].value : NULL;

	NAMES(&names, r->keep, section->keys, section->count);
	if (last && last->kind == DOC_SCALAR && !last->quoted && opened(last->text) > 0)
		return node_fail(r, last, DIAG_RULE_SCHEMA,
			"%.*s.%.*s: quote this expression: its comma ends it inside { }",
			STR_ARG(owner), STR_ARG(map->pairs[at - 1].key->text));
	struct str hint = did_you_mean(r->keep, key->text, names.items, names.count);
	if (section == &rule_section &&
		(str_eq(key->text, STR("warn")) || str_eq(key->text, STR("fail")) ||
			str_eq(key->text, STR("limit"))))
		hint = STR("; limits are at_most: { warn, fail }, or at_least");
	else if (!hint.len && section->count <= LISTED_MOST)
		hint = arena_fmt(r->keep, "; it has %.*s",
			STR_ARG(words_joined(r->keep, names.items, names.count, " and ")));
	return node_fail(r, key, DIAG_RULE_SCHEMA, "%.*s: %s has no key '%.*s'%.*s", STR_ARG(owner),
		section->entry, STR_ARG(key->text), STR_ARG(hint));
}

bool entry_read(const struct rule_reader *r, const struct section *section, struct str owner,
	const struct doc_node *at, const struct doc_node *map, void *entry)
{
	bool ok = true;

	if (map->kind != DOC_MAP)
		return node_fail(r, map, DIAG_RULE_SCHEMA, "%.*s: %s is a map of keys, such as %s",
			STR_ARG(owner), section->entry, section->example);
	for (ptrdiff_t i = 0; i < map->count; i++) {
		const struct doc_pair *pair = &map->pairs[i];
		const struct rule_key *key = section_key(section, pair->key->text);

		ok &= key ? value_set(r, owner, key, pair->value, entry)
			  : unknown_key(r, section, owner, map, i);
		if (!ok && !key && opened(i ? map->pairs[i - 1].value->text : STR("")) > 0)
			break; /* the rest of the map is what the expression lost */
	}
	for (int i = 0; i < section->count; i++) {
		const struct rule_key *key = &section->keys[i];
		const struct doc_node *both = doc_get(map, key->name);

		if (key->required && !both)
			ok = node_fail(r, at, DIAG_RULE_SCHEMA, "%.*s: %s needs '%.*s'",
				STR_ARG(owner), section->entry, STR_ARG(key->name));
		if (key->instead && both && doc_get(map, str_from(key->instead)))
			ok = node_fail(r, both, DIAG_RULE_SCHEMA, "%.*s: it has either %s or %.*s",
				STR_ARG(owner), key->instead, STR_ARG(key->name));
	}
	return ok;
}

/* ---- what matters, noise, the step -------------------------------------------------------- */

#define MATTER(key, m, says)                                                                       \
	{                                                                                          \
		.name = STR_INIT(key), .type = KEY_SHARE, .value = m * sizeof(struct rule_param),  \
		.meaning = STR_INIT(says)                                                          \
	}

/* As of limits; where it stands elsewhere, what is worth a failure is worth a warning. */
static bool matters_agree(const struct rule_reader *r, const struct doc_node *map,
	const struct rule_param *own, enum matter warn, enum matter failure)
{
	const struct doc_node *node = doc_get(map, STR("warn"));
	const struct rule_param *fail_at =
		own[failure].text.p ? &own[failure] : &r->set->matters[failure];

	return !node || !(own[warn].value > fail_at->value) ||
	       node_fail(r, node, DIAG_RULE_SCHEMA,
		       "warn %.*s lies beyond fail %.*s: it could never warn",
		       STR_ARG(own[warn].text), STR_ARG(fail_at->text));
}

static bool check_memory(const struct rule_reader *r, const struct doc_node *map, void *entry)
{
	return matters_agree(r, map, entry, MATTER_MEMORY_WARN, MATTER_MEMORY_FAIL);
}

static bool check_matters(const struct rule_reader *r, const struct doc_node *map, void *entry)
{
	return matters_agree(r, map, entry, MATTER_WARN, MATTER_FAIL);
}

static const struct rule_key memory_keys[] = {
	MATTER("warn", MATTER_MEMORY_WARN, "less than this of the capacity passes"),
	MATTER("fail", MATTER_MEMORY_FAIL, "beyond the failure limit, so much fails"),
};
static const struct section memory_section = { "memory", "{ warn: 5%, fail: 10% }", "", memory_keys,
	sizeof(memory_keys) / sizeof(memory_keys[0]), false, NULL, check_memory };

static const struct rule_key matters_keys[] = {
	MATTER("warn", MATTER_WARN, "findings that together cost less pass"),
	MATTER("fail", MATTER_FAIL, "those beyond the failure limit fail from here on"),
	MATTER("together", MATTER_TOGETHER, "all that can fail do from here on"),
	{ .name = STR_INIT("memory"),
		.type = KEY_PART,
		.part = &memory_section,
		.meaning = STR_INIT("the same for bytes, as shares of the capacity") },
};

static const struct section matters_section = { "matters", "{ warn: 1%, fail: 2%, together: 10% }",
	"", matters_keys, sizeof(matters_keys) / sizeof(matters_keys[0]), false, NULL,
	check_matters };

static const struct rule_key noise_keys[] = {
	RULE_KEY("assumed", KEY_SHARE, struct ruleset, noise_assumed,
		"standard deviation between runs, as a share"),
	RULE_KEY("worth", KEY_NUMBER, struct ruleset, noise_worth,
		"how many degrees of freedom the assumption counts"),
};

static bool check_noise(const struct rule_reader *r, const struct doc_node *map, void *entry)
{
	const struct rule_param *sd = &r->set->noise_assumed, *worth = &r->set->noise_worth;

	(void)map;
	(void)entry;
	/* Runs that differ by half of a step are no baselines; a hundred drown any of them. */
	if (sd->text.p && !(sd->unit == UNIT_RATIO && sd->value > 0 && sd->value <= 0.5))
		return node_fail(r, sd->origin.node, DIAG_RULE_SCHEMA,
			"assumed is how much runs differ, above 0%% and at most 50%%: assumed: "
			"1%%");
	if (worth->text.p &&
		!(worth->unit == UNIT_COUNT && worth->value > 0 && worth->value <= 100))
		return node_fail(r, worth->origin.node, DIAG_RULE_SCHEMA,
			"worth is a number above 0 and at most 100: worth: 4");
	return true;
}

static const struct section noise_section = { "noise", "{ assumed: 1%, worth: 4 }", "", noise_keys,
	sizeof(noise_keys) / sizeof(noise_keys[0]), false, NULL, check_noise };

static const struct rule_key head_keys[] = {
	RULE_KEY("matters", KEY_PART, struct ruleset, matters,
		"what is worth a warning, and a build", .part = &matters_section),
	{ .name = STR_INIT("noise"),
		.type = KEY_PART,
		.meaning = STR_INIT("between runs, before baselines show it"),
		.part = &noise_section },
	RULE_KEY("step", KEY_TEXT, struct ruleset, step,
		"glob of the annotation or program that is the step"),
};
const struct section head_section = { "", "", "", head_keys,
	sizeof(head_keys) / sizeof(head_keys[0]), false, NULL, NULL };

/* ---- the document ------------------------------------------------------------------------- */

/* In the order in which they are read: rules are of groups, and waivers speak of rules. */
const struct document_key document_keys[] = {
	{ STR_INIT("version"), STR_INIT("1"), NULL },
	{ STR_INIT("extends"), STR_INIT("recommended, strict, fleet, or a file"), NULL },
	{ STR_INIT("matters"), STR_INIT(""), NULL },
	{ STR_INIT("noise"), STR_INIT(""), NULL },
	{ STR_INIT("step"), STR_INIT(""), NULL },
	{ STR_INIT("sets"), STR_INIT("gates under one name, for needs"), &set_section },
	{ STR_INIT("groups"), STR_INIT("what all rules of a group have in common"),
		&group_section },
	{ STR_INIT("rules"), STR_INIT("by name: new ones, or changes to inherited ones"),
		&rule_section },
	{ STR_INIT("waivers"), STR_INIT("findings that a team has accepted, up to a limit"),
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
	struct list names = { NULL, 0, 0 };

	if (NAMED(document_keys, DOCUMENT_KEYS, key->text))
		return true;
	NAMES(&names, r->keep, document_keys, DOCUMENT_KEYS);
	struct str hint = did_you_mean(r->keep, key->text, names.items, names.count);
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
	bool is_known = false; /* a single key tells that rules are meant */
	for (ptrdiff_t i = 0; i < root->count; i++)
		is_known |= check_document_key(r, root->pairs[i].key);
	if (!is_known)
		return false;
	if (!version)
		node_fail(r, root, DIAG_RULE_SCHEMA, "a rule file begins with 'version: 1'");
	else if (version->quoted)
		node_fail(r, version, DIAG_RULE_SCHEMA,
			"version is a number: write it without quotes");
	else if (version->kind != DOC_SCALAR || !str_eq(version->text, STR("1")))
		return node_fail(r, version, DIAG_RULE_SCHEMA,
			"this rooflint reads rule files of version 1");
	*extends = doc_get(root, STR("extends"));
	return true;
}

void document_read(const struct rule_reader *r)
{
	for (int k = 0; k < DOCUMENT_KEYS; k++) {
		const struct document_key *key = &document_keys[k];
		const struct section *section = key->section;
		const struct rule_key *own = section_key(&head_section, key->name);
		const struct doc_node *node = doc_get(r->doc->root, key->name);

		if (node && own)
			value_set(r, STR(""), own, node, r->set);
		if (!section || !node)
			continue;
		if (node->kind != (section->is_list ? DOC_LIST : DOC_MAP))
			node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s is %s", STR_ARG(key->name),
				section->wanted);
		else
			for (ptrdiff_t i = 0; i < node->count; i++)
				section->is_list ? section->read(r, node->items[i], node->items[i])
						 : section->read(r, node->pairs[i].key,
							   node->pairs[i].value);
	}
}

/* ---- groups and sets ---------------------------------------------------------------------- */

enum { NAMED_MAX = 100 }; /* groups, and sets: more are generated */

static const struct str severity_names[] = { STR_INIT("off"), STR_INIT("warn"), STR_INIT("error") };

static const struct rule_key group_keys[] = {
	RULE_KEY("severity", KEY_WORD, struct rule_group, severity, "of each rule of the group",
		.origin = offsetof(struct rule_group, severity_origin), .words = severity_names,
		.word_count = SEVERITY_ERROR + 1),
	RULE_KEY("needs", KEY_NAMES, struct rule_group, needs,
		"gates and sets that its rules depend on"),
};

struct rule_group *group_named(const struct ruleset *set, struct str name)
{
	return NAMED(set->groups, set->group_count, name);
}

struct rule_set *set_named(const struct ruleset *set, struct str name)
{
	return NAMED(set->sets, set->set_count, name);
}

static bool read_group(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *map)
{
	struct ruleset *set = r->set;
	struct rule_group *g = group_named(set, name->text);

	if (!rule_name_ok(name->text) || (!g && set->group_count == NAMED_MAX))
		return node_fail(r, name, DIAG_RULE_SCHEMA,
			"a group's name has small letters, digits and '-', and there are at most "
			"%d",
			NAMED_MAX);
	if (!g) {
		g = arena_push(r->keep, set->groups, set->group_count, set->group_cap);
		*g = (struct rule_group){ .name = name->text, .severity = SEVERITY_ERROR };
	}
	g->origin = origin_of(r, name);
	if (!entry_read(r, &group_section, g->name, name, map, g))
		return false;
	/* The whole group: inherited rules that said otherwise, too. */
	for (ptrdiff_t i = 0; doc_get(map, STR("severity")) && i < set->count; i++)
		if (str_eq(set->items[i]->group.text, g->name))
			set->items[i]->severity_origin = (struct origin){ 0 };
	return true;
}

const struct section group_section = { "a group", "{ severity: warn }",
	"a map from groups to what their rules have in common: memory: { severity: warn }",
	group_keys, sizeof(group_keys) / sizeof(group_keys[0]), false, read_group, NULL };

static const struct rule_key set_keys[] = {
	RULE_KEY("names", KEY_NAMES, struct rule_set, names, "gates and other sets"),
};

static bool read_set(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *value)
{
	struct rule_set *s = set_named(r->set, name->text);

	if (!rule_name_ok(name->text) || (!s && r->set->set_count == NAMED_MAX))
		return node_fail(r, name, DIAG_RULE_SCHEMA,
			"a set's name has small letters, digits and '-', and there are at most %d",
			NAMED_MAX);
	if (!s)
		s = arena_push(r->keep, r->set->sets, r->set->set_count, r->set->set_cap);
	s->name = name->text;
	return value_set(r, STR("sets"), &set_keys[0], value, s);
}

const struct section set_section = { "a set", "[data-quality, steps-recorded]",
	"a map from names to gates: timed: [data-quality, steps-recorded]", NULL, 0, false,
	read_set, NULL };

/* ---- rules -------------------------------------------------------------------------------- */

#define KEY(member, how, ...)	RULE_KEY(#member, how, struct rule, member, __VA_ARGS__)
#define PLACE(member, how, ...) RULE_KEY(#member, how, struct rule_places, member, __VA_ARGS__)
#define TUNED(member)		.tuned = true, .origin = offsetof(struct rule, member)

static const struct rule_key place_keys[] = {
	RULE_KEY("from", KEY_TABLE, struct rule_places, from_text,
		"the table whose rows are the places"),
	PLACE(select, KEY_SQL, "instead of from: a SELECT whose rows are", .instead = "from"),
	PLACE(where, KEY_SQL, "which of its rows"),
	PLACE(value, KEY_SQL, "the part of the rule's value that is the place's"),
};
static const struct section places_section = { "places",
	"{ from: families, where: kind = 'copy', value: time_share }", "", place_keys,
	sizeof(place_keys) / sizeof(place_keys[0]), false, NULL, NULL };

static const struct rule_key advice_keys[] = {
	RULE_KEY("when", KEY_SQL, struct advice_item, when, "for which subjects; without it all"),
	RULE_KEY("do", KEY_TEXT, struct advice_item, text, "what it says", .required = true),
};
const struct section advice_section = { "an advice", "{ when: CONDITION, do: \"...\" }", "",
	advice_keys, sizeof(advice_keys) / sizeof(advice_keys[0]), true, NULL, NULL };

/* In the order in which `rules show` prints them. */
static const struct rule_key rule_keys[] = {
	KEY(group, KEY_TEXT, "what it is about; brings its needs and severity"),
	KEY(title, KEY_TEXT, "what is demanded, in one sentence"),
	RULE_KEY("from", KEY_TABLE, struct rule, from_text, "the table whose rows are judged"),
	KEY(select, KEY_SQL, "instead of from: a SELECT whose rows are judged", .instead = "from"),
	KEY(where, KEY_SQL, "which rows are subjects; without it all are"),
	KEY(value, KEY_SQL, "the number that is limited, one for each subject"),
	KEY(unclear, KEY_SQL, "how much may come on top of the value; NULL is not known"),
	RULE_KEY("at_most", KEY_LIMIT, struct rule, name,
		"how large the value may be: the failure's limit, or { warn, fail }",
		TUNED(limit_origin)),
	RULE_KEY("at_least", KEY_LIMIT, struct rule, name, "how small the value may be",
		TUNED(limit_origin), .at_least = true, .instead = "at_most"),
	KEY(assert, KEY_SQL, "instead of value and limit: what a subject must fulfil",
		.instead = "value"),
	KEY(can_fail, KEY_SQL, "which subjects can fail; others only warn"),
	KEY(only_warns, KEY_ADVICE, "why those only warn, for people, or a list of { when, do }"),
	KEY(gain, KEY_SQL, "what a finding costs: seconds per step, or bytes; or value"),
	KEY(places, KEY_PART, "the rows that make up a number of the whole run",
		.origin = offsetof(struct rule, places.origin), .part = &places_section),
	KEY(params, KEY_PARAMS, "constants with units, used as :name", TUNED(params_origin)),
	KEY(matters, KEY_PART, "what is worth a warning and a build, for this rule",
		TUNED(matters_origin), .part = &matters_section),
	KEY(severity, KEY_WORD, "error, warn (it never fails) or off", TUNED(severity_origin),
		.words = severity_names, .word_count = SEVERITY_ERROR + 1),
	KEY(needs, KEY_NAMES,
		"gates and sets it depends on; without it the group's, else all gates"),
	KEY(required, KEY_BOOL, "inconclusive counts for the exit status", TUNED(required_origin)),
	KEY(min_subjects, KEY_COUNT, "with fewer subjects the rule is inconclusive",
		TUNED(min_subjects_origin)),
	KEY(confirm, KEY_COUNT, "reports in a row that must fail (--previous); before it warns",
		TUNED(confirm_origin)),
	KEY(says, KEY_TEXT, "what its number counts, for people: 12% beyond what is attainable"),
	KEY(applies_to, KEY_TEXT, "what it judges, for people: the profile has no ..."),
	KEY(message, KEY_TEXT, "what a finding says; {column} and {column:format} are filled in"),
	KEY(cause, KEY_ADVICE, "the likely cause, or a list of { when, do }"),
	KEY(fix, KEY_ADVICE, "what to do, or a list of { when, do }"),
	KEY(why, KEY_TEXT, "why this matters"),
	KEY(measured, KEY_TEXT, "where the limits come from"),
	KEY(wrong_when, KEY_TEXT, "when the rule may be wrong"),
};

bool rule_name_ok(struct str s)
{
	return s.len && s.len <= RULE_NAME_MAX && s.p[0] != '-' && str_only(s, "a-z0-9-");
}

struct rule *ruleset_rule(const struct ruleset *set, struct str name)
{
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (str_eq(set->items[i]->name, name))
			return set->items[i];
	return NULL;
}

static struct rule *new_rule(const struct rule_reader *r, const struct doc_node *name)
{
	struct rule *rule = arena_make(r->keep, struct rule, 1);
	static const struct str limits[PARAM_OWN] = { STR_INIT("warn"), STR_INIT("fail"),
		STR_INIT("explained") };

	rule->name = name->text;
	rule->severity = SEVERITY_ERROR;
	rule->origin = origin_of(r, name);
	for (int i = 0; i < PARAM_OWN; i++)
		*arena_push(r->keep, rule->params, rule->param_count, rule->param_cap) =
			(struct rule_param){ .name = limits[i], .value = NAN };
	rule->params[PARAM_EXPLAINED].unit = UNIT_RATIO;
	*arena_push(r->keep, r->set->items, r->set->count, r->set->cap) = rule;
	return rule;
}

/* Into the inherited rule of that name, or a new one. */
static bool read_rule(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *map)
{
	struct rule *rule = ruleset_rule(r->set, name->text);

	if (!rule && !rule_name_ok(name->text))
		return node_fail(r, name, DIAG_RULE_SCHEMA,
			"a rule's name has small letters, digits and '-', at most %d",
			RULE_NAME_MAX);
	if (!rule && r->set->count >= RULES_MAX)
		return node_fail(r, name, DIAG_LIMIT, "more than %d rules", RULES_MAX);
	rule = rule ? rule : new_rule(r, name);
	if (doc_get(map, STR("value")) &&
		doc_get(map, rule->at_least ? STR("at_most") : STR("at_least")))
		limits_clear(rule); /* another value may have the other direction */
	const struct doc_node *places = doc_get(map, STR("places"));
	if (places) /* anew, not key by key */
		rule->places = (struct rule_places){ 0 };
	bool ok = entry_read(r, &rule_section, rule->name, name, map, rule);
	rule->is_broken |= !ok;
	if (doc_get(map, STR("select")))
		rule->from_text = (struct rule_text){ 0 };
	else if (doc_get(map, STR("from")))
		rule->select = (struct rule_text){ 0 };
	if (doc_get(map, STR("assert")) && !doc_get(map, STR("at_most")) &&
		!doc_get(map, STR("at_least")))
		limits_clear(rule);
	if (doc_get(map, STR("assert")))
		rule->value = (struct rule_text){ 0 };
	if (doc_get(map, STR("assert")) && !doc_get(map, STR("unclear")))
		rule->unclear = (struct rule_text){ 0 };
	else if (doc_get(map, STR("value")))
		rule->assert = (struct rule_text){ 0 };
	rule->from = rule->from_text.text.p ? table_find(rule->from_text.text) : NULL;
	rule->places.from =
		rule->places.from_text.text.p ? table_find(rule->places.from_text.text) : NULL;
	return ok;
}

const struct section rule_section = { "a rule", "{ severity: off }",
	"a map from names to rules: my-rule: { from: ..., value: ..., at_most: ... }", rule_keys,
	sizeof(rule_keys) / sizeof(rule_keys[0]), false, read_rule, NULL };

bool rule_is_from(const struct rule *rule, struct str file)
{
	for (int i = 0; i < rule_section.count; i++) { /* a rule keeps where each key was set */
		const struct doc *doc = key_origin(&rule_keys[i], rule)->doc;

		if (doc && str_eq(doc->file, file))
			return true;
	}
	return false;
}
