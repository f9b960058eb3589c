/* Reading one rule file: the document, its sections, and rules.  See parse.h. */
#include "rules/parse.h"

#include <float.h>
#include <math.h>

#include "base/embed.h"
#include "base/text.h"
#include "measure/kernels.h"
#include "rules/check.h"

enum { RULE_NAME_MAX = 64 }; /* it becomes a JUnit case, an anchor and a column of every report */

struct origin origin_of(const struct keyed *r, const struct doc_node *node)
{
	return (struct origin){ r->doc, node };
}

struct keyed rule_reading(
	struct ruleset *set, const struct doc *doc, struct arena *keep, struct diag *err)
{
	return (struct keyed){ doc, keep, DIAG_RULE_SCHEMA, err, set, set->mistakes, STR(""), set };
}

bool entry_read(const struct keyed *r, const struct key *of, struct str owner,
	const struct doc_node *at, const struct doc_node *map, void *to)
{
	struct keyed entry = *r;

	entry.owner = owner;
	entry.to = to;
	return keyed_map(&entry, of, at, map);
}

/* ---- what matters, noise, the step -------------------------------------------------------- */

#define MATTER(key, m, says)                                                                       \
	KEYED(key, key_measure, .offset = m * sizeof(struct rule_param),                           \
		.origin = m * sizeof(struct rule_param) + offsetof(struct rule_param, origin),     \
		.meaning = STR_INIT(says), .unit = UNIT_RATIO, .max = 1,                           \
		.form = "a share, from 0% to 100%")

/* A warn of this map beyond its fail, or beyond the file's, is a mistake. */
static bool matters_agree(
	const struct keyed *r, const struct doc_node *map, enum matter warn, enum matter failure)
{
	const struct ruleset *set = r->arg;
	const struct rule_param *own = r->to;
	const struct doc_node *node = doc_get(map, STR("warn"));
	const struct rule_param *fail_at =
		own[failure].text.p ? &own[failure] : &set->matters[failure];

	return !node || !(own[warn].value > fail_at->value) ||
	       keyed_fail(r, node, "warn %.*s lies beyond fail %.*s: it could never warn",
		       STR_ARG(own[warn].text), STR_ARG(fail_at->text));
}

static bool check_memory(const struct keyed *r, const struct doc_node *map)
{
	return matters_agree(r, map, MATTER_MEMORY_WARN, MATTER_MEMORY_FAIL);
}

static bool check_matters(const struct keyed *r, const struct doc_node *map)
{
	return matters_agree(r, map, MATTER_WARN, MATTER_FAIL);
}

static const struct key memory_keys[] = {
	MATTER("warn", MATTER_MEMORY_WARN, "less than this of the capacity passes"),
	MATTER("fail", MATTER_MEMORY_FAIL, "beyond the failure limit, so much fails"),
	KEYED_END,
};

static const struct key matters_keys[] = {
	MATTER("warn", MATTER_WARN, "findings that together cost less pass"),
	MATTER("fail", MATTER_FAIL, "those beyond the failure limit fail from here on"),
	MATTER("together", MATTER_TOGETHER, "all that can fail do from here on"),
	KEYED("memory", key_map, .keys = memory_keys, .agree = check_memory,
		.form = "{ warn: 5%, fail: 10% }",
		.meaning = STR_INIT("the same for bytes, as shares of the capacity")),
	KEYED_END,
};
#define MATTERS_MAP                                                                                \
	.keys = matters_keys, .agree = check_matters,                                              \
	.form = "{ warn: 1%, fail: 2%, together: 10% }"

/* Runs that differ by half of a step are no baselines; a hundred drown any of them. */
static const struct key noise_keys[] = {
	RULE_KEY("assumed", key_measure, struct ruleset, noise_assumed,
		"standard deviation between runs, as a share", .unit = UNIT_RATIO, .min = DBL_MIN,
		.max = 0.5, .form = "how much runs differ, above 0% and at most 50%: assumed: 1%"),
	RULE_KEY("worth", key_measure, struct ruleset, noise_worth,
		"how many degrees of freedom the assumption counts", .unit = UNIT_COUNT,
		.min = DBL_MIN, .max = 100, .form = "a number above 0 and at most 100: worth: 4"),
	KEYED_END,
};

/* ---- groups and sets ---------------------------------------------------------------------- */

#define SEVERITIES .form = "off|warn|error"

static const struct key group_keys[] = {
	RULE_PLAIN("severity", key_word, struct rule_group, severity, "of each rule of the group",
		.origin = offsetof(struct rule_group, severity_origin), SEVERITIES),
	RULE_KEY("needs", key_list, struct rule_group, needs,
		"gates and sets that its rules depend on"),
	KEYED_END,
};

struct rule_group *group_named(const struct ruleset *set, struct str name)
{
	return NAMED(set->groups, set->group_count, name);
}

struct rule_set *set_named(const struct ruleset *set, struct str name)
{
	return NAMED(set->sets, set->set_count, name);
}

/* The whole group: inherited rules that said otherwise, too. */
static bool check_group(const struct keyed *r, const struct doc_node *map)
{
	const struct ruleset *set = r->arg;

	for (ptrdiff_t i = 0; doc_get(map, STR("severity")) && i < set->count; i++)
		if (str_eq(set->items[i]->group.text, r->owner))
			set->items[i]->severity_origin = (struct origin){ 0 };
	return true;
}

static const struct key group_entry = { .name = STR_INIT("a group"),
	.form = "{ severity: warn }",
	.origin = offsetof(struct rule_group, origin),
	.keys = group_keys,
	.is_merged = true,
	.is_name = rule_name_ok,
	.agree = check_group };

const struct key set_entry = { .name = STR_INIT("a set"),
	.read = key_list,
	.offset = offsetof(struct rule_set, names),
	.origin = offsetof(struct rule_set, names.origin),
	.is_name = rule_name_ok };

/* ---- costs of custom calls ---------------------------------------------------------------- */

static bool check_cost(const struct keyed *r, const struct doc_node *map)
{
	const struct ruleset *set = r->arg;
	struct sql_fault fault;
	bool ok = true;

	if (!map->count)
		return keyed_fail(r, map, "%.*s: a cost has flops or bytes", STR_ARG(r->owner));
	for (const struct key *k = kernel_keys; k->name.p; k++) {
		const struct doc_node *node = doc_get(map, k->name);
		bool is_type = k->offset >= (ptrdiff_t)offsetof(struct op_cost, dtype);

		if (!node || k->read != key_formula ||
			check_formula(node->text, is_type ? WANT_ANY : WANT_NUMBER, r->keep,
				set->engine->scratch, &fault))
			continue;
		diag_caret(r->err, r->mistake, doc_place_in(r->doc, node, fault.at, fault.width),
			"%.*s: %.*s", STR_ARG(key_path(r, k->name)), STR_ARG(fault.text));
		ok = mistake_note(r->mistakes, r->keep, r->err);
	}
	return ok;
}

static const struct key cost_entry = { .name = STR_INIT("a cost"),
	.form = "{ flops: 2 * elements(0), bytes: bytes(0) }",
	.origin = offsetof(struct op_cost, origin),
	.keys = kernel_keys + KERNEL_KEYS_SHIPPED,
	.agree = check_cost };

/* ---- rules -------------------------------------------------------------------------------- */

#define KEY(member, how, ...)	RULE_KEY(#member, how, struct rule, member, __VA_ARGS__)
#define PLACE(member, how, ...) RULE_KEY(#member, how, struct rule_places, member, __VA_ARGS__)
#define TUNED(member)		.flags = RULE_TUNED, .origin = offsetof(struct rule, member)

static const struct key place_keys[] = {
	RULE_KEY("from", key_table, struct rule_places, from_text,
		"the table whose rows are the places"),
	PLACE(select, key_sql, "instead of from: a SELECT whose rows are", .instead = "from"),
	PLACE(where, key_sql, "which of its rows"),
	PLACE(value, key_sql, "the part of the rule's value that is the place's"),
	KEYED_END,
};

static const struct key advice_keys[] = {
	RULE_KEY("when", key_sql, struct advice_item, when, "for which subjects; without it all"),
	RULE_KEY("do", key_trimmed, struct advice_item, text, "what it says", .required = true),
	KEYED_END,
};
const struct key advice_entry = { .name = STR_INIT("an advice"),
	.form = "{ when: CONDITION, do: \"...\" }",
	.keys = advice_keys,
	.is_list = true };

#define COUNT	    .whole = true, .max = INT32_MAX, .form = "a number: 0, 1, 2 ..."
#define LIMITS_HINT "limits are at_most: { warn, fail }, or at_least"

/* In the order in which `rules show` prints them. */
static const struct key rule_keys[] = {
	KEY(group, key_trimmed, "what it is about; brings its needs and severity"),
	KEY(title, key_trimmed, "what is demanded, in one sentence"),
	RULE_KEY("from", key_table, struct rule, from_text, "the table whose rows are judged"),
	KEY(select, key_sql, "instead of from: a SELECT whose rows are judged", .instead = "from"),
	KEY(where, key_sql, "which rows are subjects; without it all are"),
	KEY(value, key_sql, "the number that is limited, one for each subject"),
	KEY(unclear, key_sql, "how much may come on top of the value; NULL is not known"),
	KEYED("at_most", key_limit, TUNED(limit_origin),
		.meaning = STR_INIT("how large the value may be: the failure's limit, or { warn, "
				    "fail }")),
	KEYED("at_least", key_limit, .origin = offsetof(struct rule, limit_origin),
		.flags = RULE_TUNED | RULE_AT_LEAST, .instead = "at_most",
		.meaning = STR_INIT("how small the value may be")),
	KEY(assert, key_sql, "instead of value and limit: what a subject must fulfil",
		.instead = "value"),
	KEY(can_fail, key_sql, "which subjects can fail; others only warn"),
	KEY(only_warns, key_advice, "why those only warn, for people, or a list of { when, do }"),
	KEY(gain, key_sql, "what a finding costs: seconds per step, or bytes; or value"),
	KEY(places, key_map, "the rows that make up a number of the whole run", .keys = place_keys,
		.form = "{ from: families, where: kind = 'copy', value: time_share }"),
	KEYED("params", key_params, TUNED(params_origin),
		.meaning = STR_INIT("constants with units, used as :name")),
	RULE_PLAIN("matters", key_map, struct rule, matters,
		"what is worth a warning and a build, for this rule", TUNED(matters_origin),
		MATTERS_MAP),
	RULE_PLAIN("severity", key_word, struct rule, severity,
		"error, warn (it never fails) or off", TUNED(severity_origin), SEVERITIES),
	KEY(needs, key_list,
		"gates and sets it depends on; without it the group's, else all gates"),
	RULE_PLAIN("required", key_bool, struct rule, required,
		"inconclusive counts for the exit status", TUNED(required_origin)),
	RULE_PLAIN("min_subjects", key_int, struct rule, min_subjects,
		"with fewer subjects the rule is inconclusive", TUNED(min_subjects_origin), COUNT),
	RULE_PLAIN("confirm", key_int, struct rule, confirm,
		"reports in a row that must fail (--previous); before it warns",
		TUNED(confirm_origin), COUNT),
	KEY(says, key_trimmed, "what its number counts, for people: 12% beyond what is attainable"),
	KEY(applies_to, key_trimmed, "what it judges, for people: the profile has no ..."),
	KEY(message, key_trimmed,
		"what a finding says; {column} and {column:format} are filled in"),
	KEY(advice_of, key_trimmed, "a rule above, whose cause and fix hold for this one, too"),
	KEY(cause, key_advice, "the likely cause, or a list of { when, do }"),
	KEY(fix, key_advice, "what to do, or a list of { when, do }"),
	KEY(why, key_trimmed, "why this matters"),
	KEY(measured, key_trimmed, "where the limits come from"),
	KEY(wrong_when, key_trimmed, "when the rule may be wrong"),
	KEYED_NOT("enabled", "severity: off switches a rule off"),
	KEYED_NOT("warn", LIMITS_HINT),
	KEYED_NOT("fail", LIMITS_HINT),
	KEYED_NOT("limit", LIMITS_HINT),
	KEYED_NOT("warn_at", LIMITS_HINT),
	KEYED_NOT("fail_at", LIMITS_HINT),
	KEYED_NOT("max", LIMITS_HINT),
	KEYED_NOT("min", LIMITS_HINT),
	KEYED_END,
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

static struct rule *new_rule(const struct keyed *r, const struct doc_node *name)
{
	struct ruleset *set = r->arg;
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
	*arena_push(r->keep, set->items, set->count, set->cap) = rule;
	return rule;
}

/* Into the inherited rule of that name, or a new one. */
static bool read_rule(const struct keyed *r, const struct key *each, const struct doc_node *name,
	const struct doc_node *map)
{
	static const struct rule_text none;
	struct ruleset *set = r->arg;
	struct rule *rule = ruleset_rule(set, name->text);
	bool has_limit = doc_get(map, STR("at_most")) || doc_get(map, STR("at_least"));

	bool ok = rule || rule_name_ok(name->text) ||
		  keyed_fail(r, name, "a rule's name has small letters, digits and '-', at most %d",
			  RULE_NAME_MAX);
	rule = rule ? rule : new_rule(r, name);
	if (doc_get(map, STR("value")) &&
		doc_get(map, rule->at_least ? STR("at_most") : STR("at_least")))
		limits_clear(rule);	 /* another value may have the other direction */
	if (doc_get(map, STR("places"))) /* anew, not key by key */
		rule->places = (struct rule_places){ 0 };
	ok &= entry_read(r, each, rule->name, name, map, rule);
	rule->is_broken |= !ok;
	bool is_own = !embed_of(r->doc->source) && map->kind == DOC_MAP;
	for (ptrdiff_t i = 0; is_own && i < map->count; i++) {
		const struct key *key = key_named(rule_keys, map->pairs[i].key->text);
		rule->is_own |= !key || !(key->flags & RULE_TUNED) || key->read == key_params;
	}
	if (doc_get(map, STR("select")))
		rule->from_text = none;
	else if (doc_get(map, STR("from")))
		rule->select = none;
	if (doc_get(map, STR("assert"))) {
		rule->value = none;
		if (!has_limit)
			limits_clear(rule);
		if (!doc_get(map, STR("unclear")))
			rule->unclear = none;
	} else if (doc_get(map, STR("value"))) {
		rule->assert = none;
	}
	rule->from = rule->from_text.text.p ? table_find(rule->from_text.text) : NULL;
	rule->places.from =
		rule->places.from_text.text.p ? table_find(rule->places.from_text.text) : NULL;
	return ok;
}

const struct key rule_entry = { .name = STR_INIT("a rule"),
	.form = "{ at_most: 5% } or { severity: off }",
	.origin = offsetof(struct rule, origin),
	.keys = rule_keys,
	.entry = read_rule };

bool rule_is_from(const struct rule *rule, struct str file)
{
	for (const struct key *k = rule_keys; k->read; k++) { /* it keeps where each was set */
		const struct origin *origin = key_origin(k, rule);

		if (origin && origin->doc && str_eq(origin->doc->file, file))
			return true;
	}
	return false;
}

/* ---- the document ------------------------------------------------------------------------- */

static bool check_extends(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	return (node->kind == DOC_SCALAR && node->text.len) ||
	       key_fail(r, k, node, r->mistake, " takes one name: a built-in rule set or a file");
}

enum {
	NAMED_MAX = 100,     /* groups, and sets: more are generated */
	COSTS_MAX = 1000,    /* each custom call is matched against all of them */
	WAIVERS_MAX = 1000,  /* a team with more has switched the rules off in its own way */
	PROFILES_MAX = 1000, /* each is matched against every run */
	NOTICES_MAX = 64,    /* each waits for a server; a team reads two */
};

/* Items of their own, so that pointers to them stay good. */
#define KEYED_POINTERS(owner, items, number)                                                       \
	.offset = offsetof(owner, items), .count = offsetof(owner, number)

/* In the order in which they are read: rules are of groups, and waivers speak of rules. */
static const struct key document_keys[] = {
	KEYED("version", key_version, .form = "rule files", .meaning = STR_INIT("1")),
	KEYED("extends", check_extends,
		.meaning = STR_INIT("recommended, strict, fleet, or a file")),
	RULE_PLAIN("matters", key_map, struct ruleset, matters,
		"what is worth a warning, and a build", MATTERS_MAP),
	KEYED("noise", key_map, .keys = noise_keys, .form = "{ assumed: 1%, worth: 4 }",
		.meaning = STR_INIT("between runs, before baselines show it")),
	RULE_KEY("step", key_trimmed, struct ruleset, step,
		"glob of the annotation or program that is the step"),
	KEYED("sets", key_entries, KEYED_ITEMS(struct ruleset, sets, set_count, set_cap),
		.each = &set_entry, .max = NAMED_MAX,
		.form = "a map from names to gates: timed: [data-quality, steps-recorded]",
		.meaning = STR_INIT("gates under one name, for needs")),
	KEYED("groups", key_entries, KEYED_ITEMS(struct ruleset, groups, group_count, group_cap),
		.each = &group_entry, .max = NAMED_MAX,
		.form = "a map from groups to what their rules have in common: memory: { severity: "
			"warn }",
		.meaning = STR_INIT("what all rules of a group have in common")),
	KEYED("rules", key_entries, KEYED_POINTERS(struct ruleset, items, count),
		.each = &rule_entry, .max = RULES_MAX,
		.form = "a map from names to rules: my-rule: { from: ..., value: ..., at_most: ... "
			"}",
		.meaning = STR_INIT("by name: new ones, or changes to inherited ones")),
	KEYED("costs", key_entries,
		KEYED_ITEMS(struct ruleset, costs.items, costs.count, costs.cap),
		.each = &cost_entry, .max = COSTS_MAX,
		.form = "a map from names of custom calls to formulas",
		.meaning = STR_INIT("what custom calls cost, by name")),
	KEYED("waivers", key_entries, KEYED_POINTERS(struct ruleset, waivers, waiver_count),
		.each = &waiver_entry, .max = WAIVERS_MAX,
		.form = "a list: each begins with '- rule: NAME'",
		.meaning = STR_INIT("findings that a team has accepted, up to a limit")),
	KEYED("profiles", key_entries,
		KEYED_ITEMS(struct ruleset, tunings, tuning_count, tuning_cap),
		.each = &profile_entry, .max = PROFILES_MAX,
		.form = "a list: each begins with '- match: GLOB'",
		.meaning = STR_INIT("changes for some workloads, by name or label")),
	KEYED("notifications", key_entries,
		KEYED_ITEMS(struct ruleset, notices, notice_count, notice_cap),
		.each = &notice_entry, .max = NOTICES_MAX,
		.form = "a map from names to targets: team-chat: { kind: slack, url_from: "
			"ROOFLINT_SLACK_URL }",
		.meaning = STR_INIT("who gets a message, by name")),
	KEYED_END,
};
const struct key document = { .name = STR_INIT("a rule file"), .keys = document_keys };

bool document_check(const struct keyed *r, const struct doc_node **extends)
{
	const struct doc_node *root = r->doc->root, *version = doc_get(root, STR("version"));
	bool is_known = false; /* a single key tells that rules are meant */

	if (root->kind != DOC_MAP)
		return keyed_fail(
			r, root, "a rule file is a map with the keys version, extends and rules");
	keyed_names(r, &document, root);
	for (ptrdiff_t i = 0; i < root->count; i++)
		is_known |= key_named(document_keys, root->pairs[i].key->text) != NULL;
	if (is_known && !version)
		keyed_fail(r, root, "a rule file begins with 'version: 1'");
	*extends = doc_get(root, STR("extends"));
	return is_known && (!version || key_set(r, &document_keys[0], version) || version->quoted);
}

void document_read(const struct keyed *r)
{
	for (const struct key *k = document_keys; k->read; k++) {
		const struct doc_node *node = doc_get(r->doc->root, k->name);

		if (node)
			key_set(r, k, node);
	}
}
