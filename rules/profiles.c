/*
 * Retuning by workload: the same rules with other limits where a job is known to differ.
 *
 *     profiles:
 *       - match: serve-*               # a glob over the run's name
 *         rules:
 *           idle: { severity: off }
 *       - label: team=vision           # one of the run's labels, a glob too
 *         rules:
 *           copy-share: { at_most: { fail: 12% } }
 *
 * Later entries win.  Only what needs no new expression can be changed: limits, parameters, what
 * matters, severity, required, confirm and min_subjects.
 */
#include "rules/parse.h"

#include <string.h>

#include "base/text.h"
#include "rules/engine.h"

/* ---- reading ------------------------------------------------------------------------------ */

static const struct key profile_keys[] = {
	RULE_KEY("match", key_trimmed, struct tuning, match, "glob of the workload"),
	RULE_KEY("label", key_trimmed, struct tuning, label, "glob of a label"),
	RULE_PLAIN("rules", key_changes, struct tuning, rules, "changes by rule", .required = true),
	KEYED_END,
};

static bool check_profile(const struct keyed *r, const struct doc_node *map)
{
	const struct tuning *t = r->to;

	return t->match.text.p || t->label.text.p ||
	       keyed_fail(r, map, "an entry of profiles has match or label, and rules");
}

const struct key profile_entry = { .name = STR_INIT("an entry of profiles"),
	.form = "{ match: serve-*, rules: { copy-share: { severity: off } } }",
	.origin = offsetof(struct tuning, origin),
	.keys = profile_keys,
	.is_list = true,
	.agree = check_profile };

/* ---- applying ----------------------------------------------------------------------------- */

static bool no_param(const struct keyed *r, const struct rule *rule, const struct doc_node *name)
{
	struct list names = { NULL, 0, 0 };

	NAMES(&names, r->keep, rule->params, PARAM_EXPLAINED);
	NAMES(&names, r->keep, rule->params + PARAM_OWN, rule->param_count - PARAM_OWN);
	ptrdiff_t own = names.count;
	for (const struct key *k = rule_entry.keys; k->read; k++)
		list_add(&names, k->name, r->keep);
	/* "at_most.fail": a limit is named alone. */
	ptrdiff_t dot = str_find_char(name->text, '.');
	struct str hint = did_you_mean(
		r->keep, str_from_offset(name->text, dot + 1), names.items, names.count);
	if (!hint.len)
		hint = arena_fmt(r->keep, "; it has %.*s",
			STR_ARG(words_joined(r->keep, names.items, own, " and ")));
	return keyed_fail_as(r, name, DIAG_RULE_NAME,
		"rule %.*s has no limit or parameter '%.*s'%.*s", STR_ARG(rule->name),
		STR_ARG(name->text), STR_ARG(hint));
}

/* Sets what needs no new expression; `pair` is "at_most: { fail: 5% }". */
static bool set_key(const struct keyed *r, struct rule *rule, const struct doc_pair *pair)
{
	const struct key *key = key_named(rule_entry.keys, pair->key->text);
	const struct doc_node *params = pair->value;
	struct keyed of_rule = *r;

	of_rule.owner = rule->name;
	of_rule.to = rule;
	if (!key || !(key->flags & RULE_TUNED))
		return keyed_fail(r, pair->key,
			"profiles and --set change limits, params, matters, severity, required, "
			"confirm and min_subjects of a rule, not '%.*s'",
			STR_ARG(pair->key->text));
	if (key->read == key_limit && rule->at_least != str_eq(key->name, STR("at_least")))
		return keyed_fail(r, pair->key, "the limit of %.*s is %s", STR_ARG(rule->name),
			rule->at_least ? "at_least" : "at_most");
	for (ptrdiff_t i = 0;
		key->read == key_params && params->kind == DOC_MAP && i < params->count; i++)
		if (!rule_param_named(rule, params->pairs[i].key->text))
			return no_param(r, rule, params->pairs[i].key);
	return key_set(&of_rule, key, pair->value);
}

static bool tune_rule(
	const struct keyed *r, const struct ruleset *from, const struct doc_pair *pair)
{
	struct ruleset *set = r->arg;
	struct str name = pair->key->text;
	ptrdiff_t i = 0;
	bool ok = true;

	while (i < set->count && !str_eq(set->items[i]->name, name))
		i++;
	if (i == set->count)
		return keyed_fail_as(r, pair->key, DIAG_RULE_NAME,
			"there is no rule '%.*s' to change%.*s", STR_ARG(name),
			STR_ARG(rule_hint(set, name, NULL, r->keep)));
	struct rule *rule = set->items[i];
	if (rule->is_broken) /* what it has is not known */
		return true;
	if (pair->value->kind != DOC_MAP)
		return keyed_fail(r, pair->value,
			"%.*s: changes are a map, such as { severity: off }", STR_ARG(name));
	if (from && rule == from->items[i]) { /* it shares what was compiled */
		set->items[i] = arena_make(r->keep, struct rule, 1);
		*set->items[i] = *rule;
		rule = set->items[i];
		rule->params = arena_make(r->keep, struct rule_param, rule->param_count);
		memcpy(rule->params, from->items[i]->params,
			(size_t)rule->param_count * sizeof(*rule->params));
		rule->param_cap = rule->param_count;
	}
	for (ptrdiff_t k = 0; k < pair->value->count; k++)
		ok &= set_key(r, rule, &pair->value->pairs[k]);
	return ok;
}

bool rules_tune(const struct keyed *r, const struct ruleset *from, const struct doc_node *changes)
{
	bool ok = true;

	if (changes->kind != DOC_MAP)
		return keyed_fail(r, changes, "changes are a map by rule");
	for (ptrdiff_t i = 0; i < changes->count; i++)
		ok &= tune_rule(r, from, &changes->pairs[i]);
	return ok;
}

static struct ruleset *copy_set(const struct ruleset *set, struct arena *keep)
{
	struct ruleset *copy = arena_make(keep, struct ruleset, 1);

	*copy = *set;
	copy->items = arena_make(keep, struct rule *, set->count + 1);
	if (set->count)
		memcpy(copy->items, set->items, (size_t)set->count * sizeof(*set->items));
	return copy;
}

static bool tune(const struct tuning *t, const struct ruleset *from, struct ruleset *into,
	struct arena *keep, struct diag *err)
{
	const struct keyed r = rule_reading(into, t->origin.doc, keep, err);

	return rules_tune(&r, from, t->rules);
}

bool profiles_check(const struct ruleset *set, struct arena *keep, struct diag *err)
{
	bool ok = true;

	for (ptrdiff_t i = 0; i < set->tuning_count; i++)
		ok &= tune(&set->tunings[i], set, copy_set(set, keep), keep, err);
	return ok;
}

/* ---- matching ----------------------------------------------------------------------------- */

static bool matches(const struct tuning *t, const struct run_row *run)
{
	struct str labels = run->labels, label;
	bool fits = !t->label.text.p;

	while (!fits && str_next(&labels, ',', &label))
		fits = str_glob(str_trim(label), t->label.text);
	return fits && (!t->match.text.p || (run->name.p && str_glob(run->name, t->match.text)));
}

const struct ruleset *profiles_apply(
	const struct ruleset *set, const struct tables *tables, struct arena *keep)
{
	struct ruleset *tuned = NULL;
	struct diag ignored; /* profiles_check has tried it all */

	for (ptrdiff_t i = 0; i < set->tuning_count && table_count(tables, run); i++) {
		if (!matches(&set->tunings[i], table_rows(tables, run)))
			continue;
		tuned = tuned ? tuned : copy_set(set, keep);
		/* A set with fewer rules (fixture_judge) lacks some: that is no mistake. */
		tuned->mistakes = arena_make(keep, struct mistakes, 1);
		tune(&set->tunings[i], set, tuned, keep, &ignored);
	}
	return tuned ? tuned : set;
}
