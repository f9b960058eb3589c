/*
 * The values of keys, by type.  See parse.h.
 *
 * Numbers and flags are written bare, so that "1" and 1 never mean different things silently; one
 * with a unit may be a text, as JSON has it.
 */
#include "rules/parse.h"

#include <math.h>

#include "base/secret.h"
#include "base/text.h"
#include "rules/check.h"

/* ---- texts and names ---------------------------------------------------------------------- */

bool key_trimmed(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct rule_text *to = key_slot(r, k);

	if (!key_scalar(r, k, node))
		return false;
	to->text = str_trim(node->text);
	return true;
}

bool key_sql(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct rule_text *to = key_slot(r, k);

	if (!key_scalar(r, k, node))
		return false;
	to->text = node->text;
	return true;
}

bool key_variable(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct str *to = key_slot(r, k);

	*to = node->text;
	return (node->kind == DOC_SCALAR && secret_name_ok(node->text)) ||
	       key_fail(r, k, node, r->mistake,
		       " is the name of an environment variable: ROOFLINT_ and more of A-Z, "
		       "0-9 and _; what is in it does not belong into a file");
}

bool key_table(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	if (!key_sql(r, k, node))
		return false;
	return table_find(node->text) || key_fail(r, k, node, DIAG_RULE_NAME, ": %.*s",
						 STR_ARG(tell_table(r->keep, node->text, false)));
}

bool key_list(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct name_list *to = key_slot(r, k);
	ptrdiff_t count = node->kind == DOC_LIST ? node->count : 1;

	if (node->kind == DOC_MAP)
		return key_fail(
			r, k, node, r->mistake, " is a name or a list: [a, b], or [] for none");
	to->items = arena_make(r->keep, struct str, count + 1);
	to->count = count;
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct doc_node *name = node->kind == DOC_LIST ? node->items[i] : node;

		if (!key_scalar(r, k, name))
			return false;
		to->items[i] = name->text;
	}
	return true;
}

bool key_advice(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct advice_list *to = key_slot(r, k);
	ptrdiff_t count = node->kind == DOC_LIST ? node->count : 1;
	bool ok = true;

	to->items = arena_make(r->keep, struct advice_item, count + 1);
	to->count = count;
	if (node->kind == DOC_SCALAR) {
		to->items[0].text = (struct rule_text){ str_trim(node->text), origin_of(r, node) };
		return key_scalar(r, k, node);
	}
	if (node->kind != DOC_LIST || !count)
		return key_fail(
			r, k, node, r->mistake, " is a text, or a list of %s", advice_entry.form);
	for (ptrdiff_t i = 0; i < count; i++)
		ok &= entry_read(r, &advice_entry, key_path(r, k->name), node->items[i],
			node->items[i], &to->items[i]);
	return ok;
}

struct str advice_text(const struct advice_list *list)
{
	for (ptrdiff_t i = list->count - 1; i >= 0; i--)
		if (!list->items[i].when.text.p)
			return list->items[i].text.text;
	return MISSING;
}

bool key_changes(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	*(const struct doc_node **)key_slot(r, k) = node;
	return node->kind == DOC_MAP ||
	       key_fail(r, k, node, r->mistake, " is a map from names of rules to changes");
}

/* ---- numbers ------------------------------------------------------------------------------ */

struct rule_param *rule_param_named(const struct rule *rule, struct str name)
{
	return NAMED(rule->params, rule->param_count, name);
}

struct str rule_param_hint(const struct rule *rule, struct str name, struct arena *keep)
{
	struct list known = { NULL, 0, 0 };

	NAMES(&known, keep, rule->params, rule->param_count);
	return did_you_mean(keep, name, known.items, known.count);
}

static bool is_param_name(struct str s)
{
	return s.len && s.len <= 64 && !is_digit(s.p[0]) && str_only(s, "a-z0-9_");
}

static bool read_number(const struct keyed *r, const struct key *k, const struct doc_node *node,
	struct rule_param *ret)
{
	struct str nearest;

	if (!key_scalar(r, k, node))
		return false;
	ret->text = node->text;
	ret->origin = origin_of(r, node);
	bool is_number = unit_parse(node->text, &ret->value, &ret->unit, &nearest);
	if (is_number && (!node->quoted || ret->unit != UNIT_NONE))
		return true;
	ret->value = NAN; /* nothing more is said of it */
	if (is_number)
		return key_fail(r, k, node, r->mistake, " is a number: write it without quotes");
	return nearest.p ? key_fail(r, k, node, DIAG_RULE_UNIT,
				   ": '%.*s' has an unknown unit; did you mean '%.*s'?",
				   STR_ARG(node->text), STR_ARG(nearest))
			 : key_fail(r, k, node, DIAG_RULE_UNIT,
				   ": '%.*s' is no number with a unit, such as 10%%, 64 MiB, "
				   "250 us, 45 GB/s%s",
				   STR_ARG(node->text),
				   str_find_char(node->text, ',') < 0 ? ""
								      : "; 5,000 is written 5000");
}

/* Numbers that mean the same without a unit.  Of a time, 20 may be seconds or microseconds. */
static bool may_be_bare(enum unit u, double value)
{
	return u == UNIT_NONE || u == UNIT_COUNT || u == UNIT_RATIO || u == UNIT_BOOL || value == 0;
}

bool number_fits(const struct keyed *r, struct str name, struct rule_param *number,
	enum unit wanted, struct str instead)
{
	const struct key k = { .name = name };
	const struct doc_node *node = number->origin.node;
	struct str text = number->text;
	double shown = number->value * 100;

	if (number->unit != UNIT_NONE)
		return unit_fits(wanted == UNIT_NONE ? UNIT_COUNT : wanted, number->unit) ||
		       key_fail(r, &k, node, DIAG_RULE_UNIT, " is %s%.*s, and '%.*s' is %s",
			       unit_noun(wanted), STR_ARG(instead), STR_ARG(text),
			       unit_noun(number->unit));
	/* 1.3 of a quotient is meant as it stands; 5 of a share is 5%. */
	if (wanted == UNIT_RATIO && fabs(shown) > 100 && number->value != floor(number->value))
		return key_fail(r, &k, node, DIAG_RULE_UNIT,
			" is a ratio%.*s: did you mean %.6g%%, or %.*s%%?", STR_ARG(instead), shown,
			STR_ARG(text));
	if (wanted == UNIT_RATIO && fabs(shown) > 100)
		return key_fail(r, &k, node, DIAG_RULE_UNIT,
			" is a ratio%.*s: did you mean %.*s%%? (%.*s is %.6g%%)", STR_ARG(instead),
			STR_ARG(text), STR_ARG(text), shown);
	if (!may_be_bare(wanted, number->value))
		return key_fail(r, &k, node, DIAG_RULE_UNIT,
			" is %s%.*s, and '%.*s' has no unit, as 250 us, 64 MiB "
			"or 45 GB/s have",
			unit_noun(wanted), STR_ARG(instead), STR_ARG(text));
	number->unit = wanted;
	return true;
}

/* A bare 1 would be all of the step. */
bool key_measure(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct rule_param *to = key_slot(r, k);

	if (!read_number(r, k, node, to))
		return false;
	if (k->unit == UNIT_RATIO && to->unit == UNIT_NONE && to->value >= 1)
		return key_fail(r, k, node, DIAG_RULE_UNIT,
			" is a ratio: did you mean %.*s%%? (%.*s is %.6g%%)", STR_ARG(to->text),
			STR_ARG(to->text), to->value * 100);
	return number_fits(r, k->name, to, k->unit, STR("")) &&
	       ((to->value >= k->min && to->value <= k->max) ||
		       key_fail(r, k, node, DIAG_RULE_UNIT, " is %s", k->form));
}

bool key_ceiling(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct waiver *w = r->to;

	w->at_least = k->flags & RULE_AT_LEAST;
	return read_number(r, k, node, &w->limit);
}

/* A parameter or a limit keeps the unit it was declared with. */
static bool set_number(
	const struct keyed *r, struct str path, const struct doc_node *node, struct rule_param *to)
{
	struct rule_param number = *to;

	if (!read_number(r, &(struct key){ .name = path }, node, &number))
		return false;
	if (to->text.p && to->unit != UNIT_NONE &&
		!number_fits(r, path, &number, to->unit,
			arena_fmt(r->keep, " (%.*s)", STR_ARG(to->text))))
		return false;
	*to = number;
	return true;
}

static bool param_set(const struct keyed *r, struct str name, const struct doc_node *at,
	const struct doc_node *node)
{
	struct rule *rule = r->to;
	struct rule_param *old = rule_param_named(rule, name);
	struct rule_param param = { .name = name };

	bool ok = is_param_name(name) ||
		  keyed_fail(r, at, "a parameter's name has small letters, digits and '_'");
	const struct key *key = key_named(rule_entry.keys, name);
	bool is_limit = old && old < rule->params + PARAM_OWN;
	if ((key && key->read) || is_limit)
		ok = keyed_fail(r, at,
			"a parameter cannot be called '%.*s': rules have %s of that name",
			STR_ARG(name), is_limit ? "a limit" : "a key");
	if (is_limit)
		return false;
	if (old)
		param = *old;
	ok &= set_number(r, name, node, &param);
	param.origin = origin_of(r, at);
	if (!old) /* of a mistake, too: expressions that use it are not to blame */
		old = arena_push(r->keep, rule->params, rule->param_count, rule->param_cap);
	*old = param;
	return ok;
}

bool key_params(const struct keyed *r, const struct key *k, const struct doc_node *map)
{
	bool ok = true;

	if (map->kind != DOC_MAP)
		return key_fail(
			r, k, map, r->mistake, " is a map: { slack: 20 us, least: 64 MiB }");
	for (ptrdiff_t i = 0; i < map->count; i++)
		ok &= param_set(r, map->pairs[i].key->text, map->pairs[i].key, map->pairs[i].value);
	return ok;
}

/* ---- limits ------------------------------------------------------------------------------- */

void limits_clear(struct rule *rule)
{
	for (int i = 0; i < PARAM_EXPLAINED; i++)
		rule->params[i] = (struct rule_param){ .name = rule->params[i].name, .value = NAN };
}

/* A warning looser than the failure moves to it, or is a mistake at the node that sets it. */
static bool limits_agree(const struct keyed *r, const struct doc_node *sets_warn)
{
	struct rule *rule = r->to;
	struct rule_param *warn = &rule->params[PARAM_WARN], *fail_at = &rule->params[PARAM_FAIL];
	double over = rule->at_least ? fail_at->value - warn->value : warn->value - fail_at->value;

	if (!warn->text.p || !fail_at->text.p || !(over > 0))
		return true;
	if (sets_warn)
		return keyed_fail(r, sets_warn,
			"warn %.*s lies beyond fail %.*s: it could never warn", STR_ARG(warn->text),
			STR_ARG(fail_at->text));
	*warn = *fail_at;
	warn->name = STR("warn");
	return true;
}

bool key_limit(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	static const struct key limits[] = { KEYED("warn", key_measure), KEYED("fail", key_measure),
		KEYED_END };
	const struct key of = { .name = k->name, .keys = limits };
	struct keyed part = *r;
	struct rule *rule = r->to;
	const struct doc_node *warn = NULL, *fail_at = node;
	const struct rule_param *has = &rule->params[PARAM_FAIL];
	bool at_least = k->flags & RULE_AT_LEAST, ok = true;

	if (node->kind == DOC_LIST)
		return key_fail(
			r, k, node, r->mistake, " is a number, or { warn: 3%%, fail: 8%% }");
	if (!has->text.p)
		has = &rule->params[PARAM_WARN];
	if (at_least != rule->at_least && has->text.p && rule->limit_origin.doc != r->doc)
		return key_fail(r, k, node, r->mistake,
			": the rule has %s: %.*s, and another direction takes another value, too",
			rule->at_least ? "at_least" : "at_most", STR_ARG(has->text));
	if (at_least != rule->at_least)
		limits_clear(rule); /* the same file says both, which is reported */
	rule->at_least = at_least;
	if (node->kind == DOC_MAP) {
		warn = doc_get(node, STR("warn"));
		fail_at = doc_get(node, STR("fail"));
		part.owner = key_path(r, k->name);
		ok = keyed_names(&part, &of, node);
	}
	ok &= !fail_at || set_number(r, arena_fmt(r->keep, "%.*s.fail", STR_ARG(k->name)), fail_at,
				  &rule->params[PARAM_FAIL]);
	ok &= !warn || set_number(r, arena_fmt(r->keep, "%.*s.warn", STR_ARG(k->name)), warn,
			       &rule->params[PARAM_WARN]);
	return ok && limits_agree(r, warn);
}
