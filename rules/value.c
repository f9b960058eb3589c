/*
 * The values of keys, by type.  See parse.h.
 *
 * Numbers and flags are written bare, so that "1" and 1 never mean different things silently.
 */
#include "rules/parse.h"

#include <math.h>

#include "base/secret.h"
#include "base/sql.h"
#include "base/text.h"
#include "rules/check.h"

/* A value under way: a key's of an entry, or a number's of a rule. */
struct value_at {
	const struct rule_reader *r;
	struct str owner, name;
	const struct doc_node *node;
	const struct rule_key *key; /* NULL of a parameter, and of one of two limits */
	void *entry;
};

/* "copy-share.severity"; of the set's own values "step" alone. */
static struct str path_of(const struct value_at *v)
{
	return v->owner.len
		       ? arena_fmt(v->r->keep, "%.*s.%.*s", STR_ARG(v->owner), STR_ARG(v->name))
		       : v->name;
}

__attribute__((format(printf, 3, 4))) static bool fail(
	const struct value_at *v, enum diag_id id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(v->r->keep, fmt, args);
	va_end(args);
	return node_fail(v->r, v->node, id, "%.*s%.*s", STR_ARG(path_of(v)), STR_ARG(text));
}

static bool need_scalar(const struct value_at *v, const struct doc_node *node)
{
	if (node->kind == DOC_SCALAR && str_trim(node->text).len)
		return true;
	struct value_at at = { v->r, v->owner, v->name, node, NULL, NULL };
	return fail(&at, DIAG_RULE_SCHEMA,
		node->kind == DOC_SCALAR ? " has no value" : " takes one value");
}

static bool need_bare(const struct value_at *v, const char *what)
{
	if (!need_scalar(v, v->node))
		return false;
	return !v->node->quoted ||
	       fail(v, DIAG_RULE_SCHEMA, " is %s: write it without quotes", what);
}

/* ---- keys --------------------------------------------------------------------------------- */

static bool set_text(const struct value_at *v, void *to)
{
	struct rule_text *ret = to;

	if (!need_scalar(v, v->node))
		return false;
	ret->text = v->key->type == KEY_SQL ? v->node->text : str_trim(v->node->text);
	return true;
}

static bool set_word(const struct value_at *v, void *to)
{
	const struct rule_key *key = v->key;

	if (!need_scalar(v, v->node))
		return false;
	const struct str *word = NAMED(key->words, key->word_count, v->node->text);
	if (word) {
		*(unsigned *)to = (unsigned)(word - key->words);
		return true;
	}
	struct str hint = did_you_mean(v->r->keep, v->node->text, key->words, key->word_count);
	struct str all = words_joined(v->r->keep, key->words, key->word_count, " or ");
	return fail(v, DIAG_RULE_SCHEMA, " is %.*s%.*s", STR_ARG(all), STR_ARG(hint));
}

static bool set_bool(const struct value_at *v, void *to)
{
	bool *ret = to;
	if (!need_bare(v, "true or false"))
		return false;
	*ret = str_eq(v->node->text, STR("true"));
	return *ret || str_eq(v->node->text, STR("false")) ||
	       fail(v, DIAG_RULE_SCHEMA, " is true or false");
}

static bool set_count(const struct value_at *v, void *to)
{
	int64_t *ret = to;
	return need_bare(v, "a number") &&
	       ((str_to_i64(v->node->text, ret) && *ret >= 0) ||
		       fail(v, DIAG_RULE_SCHEMA, " is a number: 0, 1, 2 ..."));
}

static bool set_variable(const struct value_at *v, void *to)
{
	struct str *ret = to;
	*ret = v->node->text;
	return (v->node->kind == DOC_SCALAR && secret_name_ok(v->node->text)) ||
	       fail(v, DIAG_RULE_SCHEMA,
		       " is the name of an environment variable: ROOFLINT_ and more of A-Z, "
		       "0-9 and _; what is in it does not belong into a file");
}

static bool set_formula(const struct value_at *v, void *to)
{
	struct formula *ret = to;
	struct sql_fault fault;

	if (!need_scalar(v, v->node))
		return false;
	if (formula_parse(v->node->text, v->r->keep, ret, &fault))
		return true;
	diag_caret(v->r->err, DIAG_RULE_SCHEMA,
		doc_place_in(v->r->doc, v->node, fault.at, fault.width), "%.*s.%.*s: %.*s",
		STR_ARG(v->owner), STR_ARG(v->name), STR_ARG(fault.text));
	return mistake_note(v->r->set->mistakes, v->r->keep, v->r->err);
}

static bool set_table(const struct value_at *v, void *to)
{
	struct rule_text *ret = to;
	struct list names = { NULL, 0, 0 };

	if (!need_scalar(v, v->node))
		return false;
	ret->text = v->node->text;
	if (table_find(v->node->text))
		return true;
	NAMES(&names, v->r->keep, table_defs, TABLE_COUNT);
	struct str hint = did_you_mean(v->r->keep, v->node->text, names.items, names.count);
	if (!hint.len)
		hint = STR("; `rooflint tables` lists them");
	return fail(v, DIAG_RULE_NAME, ": there is no table '%.*s'%.*s", STR_ARG(v->node->text),
		STR_ARG(hint));
}

static bool set_names(const struct value_at *v, void *to)
{
	struct name_list *ret = to;
	const struct doc_node *node = v->node;
	ptrdiff_t count = node->kind == DOC_LIST ? node->count : 1;

	if (node->kind == DOC_MAP)
		return fail(v, DIAG_RULE_SCHEMA, " is a name or a list: [a, b], or [] for none");
	*ret = (struct name_list){ arena_make(v->r->keep, struct str, count + 1), count,
		origin_of(v->r, node) };
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct doc_node *name = node->kind == DOC_LIST ? node->items[i] : node;

		if (!need_scalar(v, name))
			return false;
		ret->items[i] = name->text;
	}
	return true;
}

/* ---- numbers ------------------------------------------------------------------------------ */

struct rule_param *rule_param_named(const struct rule *rule, struct str name)
{
	return NAMED(rule->params, rule->param_count, name);
}

static bool is_param_name(struct str s)
{
	return s.len && s.len <= 64 && !(s.p[0] >= '0' && s.p[0] <= '9') && str_only(s, "a-z0-9_");
}

static bool read_number(const struct value_at *v, struct rule_param *ret)
{
	struct str nearest, text = v->node->text;

	if (!need_bare(v, "a number"))
		return false;
	ret->text = text;
	ret->origin = origin_of(v->r, v->node);
	if (unit_parse(text, &ret->value, &ret->unit, &nearest))
		return true;
	return nearest.p ? fail(v, DIAG_RULE_UNIT,
				   ": '%.*s' has an unknown unit; did you mean '%.*s'?",
				   STR_ARG(text), STR_ARG(nearest))
			 : fail(v, DIAG_RULE_UNIT,
				   ": '%.*s' is no number with a unit, such as 10%%, 64 MiB, "
				   "250 us, 45 GB/s",
				   STR_ARG(text));
}

/* Numbers that mean the same without a unit.  Of a time, 20 may be seconds or microseconds. */
static bool may_be_bare(enum unit u, double value)
{
	return u == UNIT_NONE || u == UNIT_COUNT || u == UNIT_RATIO || u == UNIT_BOOL || value == 0;
}

bool number_fits(const struct rule_reader *r, struct str owner, struct str name,
	struct rule_param *number, enum unit wanted, struct str instead)
{
	struct value_at v = { r, owner, name, number->origin.node, NULL, NULL };
	struct str text = number->text;

	if (number->unit != UNIT_NONE) {
		return unit_fits(wanted == UNIT_NONE ? UNIT_COUNT : wanted, number->unit) ||
		       fail(&v, DIAG_RULE_UNIT, " is %s%.*s, and '%.*s' is %s", unit_noun(wanted),
			       STR_ARG(instead), STR_ARG(text), unit_noun(number->unit));
	}
	double shown = number->value * 100;
	/* 1.3 of a quotient is meant as it stands; 5 of a share is 5%. */
	if (wanted == UNIT_RATIO && fabs(shown) > 100 && number->value != floor(number->value))
		return fail(&v, DIAG_RULE_UNIT, " is a ratio%.*s: did you mean %.6g%%, or %.*s%%?",
			STR_ARG(instead), shown, STR_ARG(text));
	if (wanted == UNIT_RATIO && fabs(shown) > 100)
		return fail(&v, DIAG_RULE_UNIT,
			" is a ratio%.*s: did you mean %.*s%%? (%.*s is %.6g%%)", STR_ARG(instead),
			STR_ARG(text), STR_ARG(text), shown);
	if (!may_be_bare(wanted, number->value))
		return fail(&v, DIAG_RULE_UNIT, " is %s%.*s, and '%.*s' has no unit",
			unit_noun(wanted), STR_ARG(instead), STR_ARG(text));
	number->unit = wanted;
	return true;
}

/* A parameter keeps the unit it was declared with. */
static bool check_unit(
	const struct value_at *v, const struct rule_param *old, struct rule_param *ret)
{
	return number_fits(v->r, v->owner, v->name, ret, old->unit,
		arena_fmt(v->r->keep, " (%.*s)", STR_ARG(old->text)));
}

bool param_set(const struct rule_reader *r, struct rule *rule, struct str name,
	const struct doc_node *at, const struct doc_node *node)
{
	const struct value_at v = { r, rule->name, name, node, NULL, NULL };
	struct rule_param *old = rule_param_named(rule, name);
	struct rule_param param = { .name = name };

	if (!is_param_name(name))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter's name has small letters, digits and '_'");
	if (section_key(&rule_section, name) || (old && old < rule->params + PARAM_OWN))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter cannot be called '%.*s': rules have %s of that name",
			STR_ARG(name), old ? "a limit" : "a key");
	if (!read_number(&v, &param) || (old && !check_unit(&v, old, &param)))
		return false;
	param.origin = origin_of(r, at);
	if (!old)
		old = arena_push(r->keep, rule->params, rule->param_count, rule->param_cap);
	*old = param;
	return true;
}

static bool set_params(const struct value_at *v, void *to)
{
	struct rule *rule = v->entry;
	const struct doc_node *map = v->node;
	bool ok = true;

	if (map->kind != DOC_MAP)
		return fail(v, DIAG_RULE_SCHEMA, " is a map: { slack: 20 us, least: 64 MiB }");
	for (ptrdiff_t i = 0; i < map->count; i++)
		ok &= param_set(v->r, rule, map->pairs[i].key->text, map->pairs[i].key,
			map->pairs[i].value);
	(void)to;
	return ok;
}

/* ---- limits ------------------------------------------------------------------------------- */

void limits_clear(struct rule *rule)
{
	for (int i = 0; i < PARAM_EXPLAINED; i++)
		rule->params[i] = (struct rule_param){ .name = rule->params[i].name, .value = NAN };
}

bool limit_set(
	const struct rule_reader *r, struct rule *rule, int which, const struct doc_node *node)
{
	struct rule_param *own = &rule->params[which], number = *own;
	struct str key = rule->at_least ? STR("at_least") : STR("at_most");
	const struct value_at v = { r, rule->name,
		arena_fmt(r->keep, "%.*s.%.*s", STR_ARG(key), STR_ARG(own->name)), node, NULL,
		NULL };

	if (!read_number(&v, &number))
		return false;
	if (own->text.p && own->unit != UNIT_NONE && !check_unit(&v, own, &number))
		return false;
	*own = number;
	return true;
}

bool limits_agree(const struct rule_reader *r, struct rule *rule, const struct doc_node *sets_warn)
{
	struct rule_param *warn = &rule->params[PARAM_WARN], *fail_at = &rule->params[PARAM_FAIL];
	double over = rule->at_least ? fail_at->value - warn->value : warn->value - fail_at->value;

	if (!warn->text.p || !fail_at->text.p || !(over > 0))
		return true;
	if (sets_warn)
		return node_fail(r, sets_warn, DIAG_RULE_SCHEMA,
			"warn %.*s lies beyond fail %.*s: it could never warn", STR_ARG(warn->text),
			STR_ARG(fail_at->text));
	const struct rule_param moved = *fail_at;
	*warn = moved;
	warn->name = STR("warn");
	return true;
}

static bool set_limit(const struct value_at *v, void *to)
{
	const struct rule_key *key = v->key;
	struct rule *rule = v->entry;
	const struct doc_node *node = v->node, *warn = NULL, *fail_at;
	bool ok = true;

	if (node->kind == DOC_LIST)
		return fail(v, DIAG_RULE_SCHEMA, " is a number, or { warn: 3%%, fail: 8%% }");
	const struct rule_param *has = &rule->params[PARAM_FAIL];
	if (!has->text.p)
		has = &rule->params[PARAM_WARN];
	if (key->at_least != rule->at_least && has->text.p && rule->limit_origin.doc != v->r->doc)
		return fail(v, DIAG_RULE_SCHEMA,
			": the rule has %s: %.*s, and another direction takes another value, too",
			rule->at_least ? "at_least" : "at_most", STR_ARG(has->text));
	if (key->at_least != rule->at_least)
		limits_clear(rule); /* the same file says both, which is told */
	rule->at_least = key->at_least;
	if (node->kind == DOC_SCALAR) {
		ok = limit_set(v->r, rule, PARAM_FAIL, node);
	} else {
		warn = doc_get(node, STR("warn"));
		fail_at = doc_get(node, STR("fail"));
		for (ptrdiff_t i = 0; i < node->count; i++)
			if (node->pairs[i].value != warn && node->pairs[i].value != fail_at)
				ok = node_fail(v->r, node->pairs[i].key, DIAG_RULE_SCHEMA,
					"limits are %.*s: { warn, fail }", STR_ARG(key->name));
		ok &= !fail_at || limit_set(v->r, rule, PARAM_FAIL, fail_at);
		ok &= !warn || limit_set(v->r, rule, PARAM_WARN, warn);
	}
	(void)to;
	return ok && limits_agree(v->r, rule, warn);
}

/* A bare 1 would be all of the step. */
static bool set_share(const struct value_at *v, void *to)
{
	struct rule_param *ret = to;
	if (!read_number(v, ret))
		return false;
	if (ret->unit == UNIT_NONE && ret->value >= 1)
		return fail(v, DIAG_RULE_UNIT, " is a ratio: did you mean %.*s%%? (%.*s is %.6g%%)",
			STR_ARG(ret->text), STR_ARG(ret->text), ret->value * 100);
	return number_fits(v->r, v->owner, v->name, ret, UNIT_RATIO, STR("")) &&
	       ((ret->value >= 0 && ret->value <= 1) ||
		       fail(v, DIAG_RULE_UNIT, " is a share, from 0%% to 100%%"));
}

static bool set_number(const struct value_at *v, void *to)
{
	return read_number(v, to) && number_fits(v->r, v->owner, v->name, to, UNIT_COUNT, STR(""));
}

static bool set_ceiling(const struct value_at *v, void *to)
{
	((struct waiver *)v->entry)->at_least = v->key->at_least;
	return read_number(v, to);
}

/* ---- advice ------------------------------------------------------------------------------- */

static bool set_advice(const struct value_at *v, void *to)
{
	struct advice_list *ret = to;
	const struct doc_node *node = v->node;
	ptrdiff_t count = node->kind == DOC_LIST ? node->count : 1;
	bool ok = true;

	*ret = (struct advice_list){ arena_make(v->r->keep, struct advice_item, count + 1), count,
		ret->origin };
	if (node->kind == DOC_SCALAR) {
		ret->items[0].text =
			(struct rule_text){ str_trim(node->text), origin_of(v->r, node) };
		return need_scalar(v, node);
	}
	if (node->kind != DOC_LIST || !count)
		return fail(
			v, DIAG_RULE_SCHEMA, " is a text, or a list of %s", advice_section.example);
	for (ptrdiff_t i = 0; i < count; i++)
		ok &= entry_read(v->r, &advice_section, path_of(v), node->items[i], node->items[i],
			&ret->items[i]);
	return ok;
}

struct str advice_text(const struct advice_list *list)
{
	for (ptrdiff_t i = list->count - 1; i >= 0; i--)
		if (!list->items[i].when.text.p)
			return list->items[i].text.text;
	return (struct str){ NULL, 0 };
}

/* ---- by type ------------------------------------------------------------------------------ */

static bool set_part(const struct value_at *v, void *to)
{
	const struct section *part = v->key->part;

	return entry_read(v->r, part, path_of(v), v->node, v->node, to) &&
	       (!part->agree || part->agree(v->r, v->node, to));
}

static bool set_rules(const struct value_at *v, void *to)
{
	*(const struct doc_node **)to = v->node;
	return v->node->kind == DOC_MAP ||
	       fail(v, DIAG_RULE_SCHEMA, " is a map from names of rules to changes");
}

_Static_assert(sizeof(enum severity) == sizeof(unsigned), "a word's index");

static const struct key_form {
	bool (*set)(const struct value_at *v, void *to);
	const char *schema;
	ptrdiff_t origin; /* in the value; 0: it has none */
} forms[KEY_TYPES] = {
	[KEY_TEXT] = { set_text, "string", offsetof(struct rule_text, origin) },
	[KEY_SQL] = { set_text, "string", offsetof(struct rule_text, origin) },
	[KEY_SCALAR] = { set_text, "#/$defs/scalar", offsetof(struct rule_text, origin) },
	[KEY_TABLE] = { set_table, "string", offsetof(struct rule_text, origin) },
	[KEY_WORD] = { set_word, "string", 0 },
	[KEY_BOOL] = { set_bool, "boolean", 0 },
	[KEY_COUNT] = { set_count, "integer", 0 },
	[KEY_NAMES] = { set_names, "#/$defs/names", offsetof(struct name_list, origin) },
	[KEY_NUMBER] = { set_number, "#/$defs/scalar", offsetof(struct rule_param, origin) },
	[KEY_SHARE] = { set_share, "#/$defs/scalar", offsetof(struct rule_param, origin) },
	[KEY_LIMIT] = { set_limit, "#/$defs/limit", 0 },
	[KEY_CEILING] = { set_ceiling, "#/$defs/scalar", offsetof(struct rule_param, origin) },
	[KEY_PARAMS] = { set_params, "object", 0 },
	[KEY_ADVICE] = { set_advice, "#/$defs/advice", offsetof(struct advice_list, origin) },
	[KEY_PART] = { set_part, "object", 0 },
	[KEY_RULES] = { set_rules, "#/$defs/rules", 0 },
	[KEY_VARIABLE] = { set_variable, "string", 0 },
	[KEY_FORMULA] = { set_formula, "#/$defs/scalar", 0 },
};

static ptrdiff_t origin_offset(const struct rule_key *key)
{
	ptrdiff_t own = forms[key->type].origin;

	return key->origin ? key->origin : own ? key->value + own : -1;
}

const struct origin *key_origin(const struct rule_key *key, const void *entry)
{
	ptrdiff_t at = origin_offset(key);

	return at < 0 ? NULL : (const void *)((const char *)entry + at);
}

const char *key_schema(enum key_type type)
{
	return forms[type].schema;
}

bool value_set(const struct rule_reader *r, struct str owner, const struct rule_key *key,
	const struct doc_node *node, void *entry)
{
	const struct value_at v = { r, owner, key->name, node, key, entry };
	ptrdiff_t at = origin_offset(key);

	if (!forms[key->type].set(&v, (char *)entry + key->value))
		return false;
	if (at >= 0)
		*(struct origin *)(void *)((char *)entry + at) = origin_of(r, node);
	return true;
}
