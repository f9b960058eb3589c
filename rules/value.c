/*
 * The values of keys, by type.  See parse.h.
 *
 * Numbers and flags are written bare, so that "1" and 1 never mean different things silently.
 */
#include "rules/parse.h"

#include "base/secret.h"
#include "rules/dimension.h"
#include "rules/engine.h"

/* A value under way: a key's of an entry, or a parameter's of a rule. */
struct value_at {
	const struct rule_reader *r;
	struct str owner, name;
	const struct doc_node *node;
};

static bool fail(const struct value_at *v, enum diag_id id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "copy-share.severity ..." */
static bool fail(const struct value_at *v, enum diag_id id, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(v->r->keep, fmt, args);
	va_end(args);
	return node_fail(v->r, v->node, id, "%.*s.%.*s%.*s", STR_ARG(v->owner), STR_ARG(v->name),
		STR_ARG(text));
}

static bool need_scalar(const struct value_at *v, const struct doc_node *node)
{
	if (node->kind == DOC_SCALAR && str_trim(node->text).len)
		return true;
	struct value_at at = { v->r, v->owner, v->name, node };
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

static bool set_word(const struct value_at *v, const struct rule_key *key, unsigned *ret)
{
	if (!need_scalar(v, v->node))
		return false;
	for (int i = 0; i < key->word_count; i++)
		if (str_eq(key->words[i], v->node->text)) {
			*ret = (unsigned)i;
			return true;
		}
	struct str hint = did_you_mean(v->r->keep, v->node->text, key->words, key->word_count);
	struct str all = words_joined(v->r->keep, key->words, key->word_count, " or ");
	return fail(v, DIAG_RULE_SCHEMA, " is %.*s%.*s", STR_ARG(all), STR_ARG(hint));
}

static bool set_bool(const struct value_at *v, bool *ret)
{
	if (!need_bare(v, "true or false"))
		return false;
	*ret = str_eq(v->node->text, STR("true"));
	return *ret || str_eq(v->node->text, STR("false")) ||
	       fail(v, DIAG_RULE_SCHEMA, " is true or false");
}

static bool set_count(const struct value_at *v, int64_t *ret)
{
	return need_bare(v, "a number") &&
	       ((str_to_i64(v->node->text, ret) && *ret >= 0) ||
		       fail(v, DIAG_RULE_SCHEMA, " is a number: 0, 1, 2 ..."));
}

static bool set_variable(const struct value_at *v, struct str *ret)
{
	*ret = v->node->text;
	return (v->node->kind == DOC_SCALAR && secret_name_ok(v->node->text)) ||
	       fail(v, DIAG_RULE_SCHEMA,
		       " is the name of an environment variable: ROOFLINT_ and more of A-Z, "
		       "0-9 and _; what is in it does not belong into a file");
}

static bool set_formula(const struct value_at *v, struct formula *ret)
{
	struct formula_fault fault;

	if (!need_scalar(v, v->node))
		return false;
	if (formula_parse(v->node->text, v->r->keep, ret, &fault))
		return true;
	return diag_caret(v->r->err, DIAG_RULE_SCHEMA,
		doc_place_in(v->r->doc, v->node, fault.at, fault.width), "%.*s.%.*s: %.*s",
		STR_ARG(v->owner), STR_ARG(v->name), STR_ARG(fault.text));
}

static bool set_table(const struct value_at *v, struct rule *rule)
{
	struct str names[TABLE_COUNT];

	if (!need_scalar(v, v->node))
		return false;
	rule->from = table_find(v->node->text);
	rule->from_text.text = v->node->text;
	if (rule->from)
		return true;
	for (int i = 0; i < TABLE_COUNT; i++)
		names[i] = table_defs[i].name;
	struct str hint = did_you_mean(v->r->keep, v->node->text, names, TABLE_COUNT);
	if (!hint.len)
		hint = STR("; `rooflint tables` lists them");
	return fail(v, DIAG_RULE_NAME, ": there is no table '%.*s'%.*s", STR_ARG(v->node->text),
		STR_ARG(hint));
}

static bool set_names(const struct value_at *v, struct rule *rule)
{
	if (v->node->kind != DOC_LIST)
		return fail(v, DIAG_RULE_SCHEMA, " is a list: [a, b], or [] for none");
	rule->needs = arena_make(v->r->keep, struct str, v->node->count + 1);
	for (ptrdiff_t i = 0; i < v->node->count; i++) {
		if (!need_scalar(v, v->node->items[i]))
			return false;
		rule->needs[i] = v->node->items[i]->text;
	}
	rule->need_count = v->node->count;
	rule->needs_all = false;
	return true;
}

/* ---- parameters --------------------------------------------------------------------------- */

struct rule_param *rule_param_named(const struct rule *rule, struct str name)
{
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		if (str_eq(rule->params[i].name, name))
			return &rule->params[i];
	return NULL;
}

static bool is_param_name(struct str s)
{
	if (!s.len || s.len > 64 || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (ptrdiff_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return true;
}

/* Numbers that mean the same without a unit.  Of a time, 20 may be seconds or microseconds. */
static bool may_be_bare(enum unit u, double value)
{
	return u == UNIT_NONE || u == UNIT_COUNT || u == UNIT_RATIO || u == UNIT_BOOL || value == 0;
}

/* A parameter keeps the unit it was declared with; a bare ratio or count takes it over. */
static bool check_unit(
	const struct value_at *v, const struct rule_param *old, struct rule_param *ret)
{
	enum unit wanted = old->unit == UNIT_NONE ? UNIT_COUNT : old->unit;
	struct str text = v->node->text;

	if (!dimension_fits(dimension_of(wanted), dimension_of(ret->unit)))
		return fail(v, DIAG_RULE_UNIT, " is %s (%.*s), and '%.*s' is %s",
			unit_noun(old->unit), STR_ARG(old->text), STR_ARG(text),
			unit_noun(ret->unit));
	if (ret->unit != UNIT_NONE)
		return true;
	if (old->unit == UNIT_RATIO && ret->value > 1)
		return fail(v, DIAG_RULE_UNIT, " is a ratio (%.*s): did you mean %.*s%%?",
			STR_ARG(old->text), STR_ARG(text));
	if (!may_be_bare(old->unit, ret->value))
		return fail(v, DIAG_RULE_UNIT, " is %s (%.*s), and '%.*s' has no unit",
			unit_noun(old->unit), STR_ARG(old->text), STR_ARG(text));
	ret->unit = old->unit;
	return true;
}

bool param_set(const struct rule_reader *r, struct rule *rule, struct str name,
	const struct doc_node *at, const struct doc_node *node)
{
	const struct value_at v = { r, rule->name, name, node };
	struct rule_param *old = rule_param_named(rule, name);
	struct rule_param param = { .name = name, .text = node->text, .origin = origin_of(r, at) };
	struct str nearest;

	if (!is_param_name(name))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter's name has small letters, digits and '_'");
	if (section_key(&rule_section, name))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter cannot be called '%.*s': rules have a key of that name",
			STR_ARG(name));
	if (!need_bare(&v, "a number"))
		return false;
	if (!unit_parse(node->text, &param.value, &param.unit, &nearest))
		return nearest.p
			       ? fail(&v, DIAG_RULE_UNIT,
					 ": '%.*s' has an unknown unit; did you mean '%.*s'?",
					 STR_ARG(node->text), STR_ARG(nearest))
			       : fail(&v, DIAG_RULE_UNIT,
					 ": '%.*s' is no number with a unit, such as 10%%, 64 MiB, "
					 "250 us, 45 GB/s",
					 STR_ARG(node->text));
	if (old && !check_unit(&v, old, &param))
		return false;
	if (!old)
		old = arena_push(r->keep, rule->params, rule->param_count, rule->param_cap);
	*old = param;
	return true;
}

static bool set_params(const struct value_at *v, struct rule *rule)
{
	const struct doc_node *map = v->node;

	if (map->kind != DOC_MAP)
		return fail(v, DIAG_RULE_SCHEMA, " is a map: { limit: 10%%, min_bytes: 64 MiB }");
	for (ptrdiff_t i = 0; i < map->count; i++)
		if (!param_set(v->r, rule, map->pairs[i].key->text, map->pairs[i].key,
			    map->pairs[i].value))
			return false;
	return true;
}

/* ---- by type ------------------------------------------------------------------------------ */

_Static_assert(sizeof(enum severity) == sizeof(unsigned), "a word's index");

static bool set(const struct value_at *v, const struct rule_key *key, void *entry, void *to)
{
	struct rule *rule = entry; /* KEY_TABLE, KEY_NAMES and KEY_PARAMS are of rules alone */
	struct rule_text *text = to;

	switch (key->type) {
	case KEY_TEXT:
	case KEY_SQL:
	case KEY_SCALAR:
		if (!need_scalar(v, v->node))
			return false;
		text->text = key->type == KEY_SQL ? v->node->text : str_trim(v->node->text);
		return true;
	case KEY_TABLE:
		return set_table(v, rule);
	case KEY_WORD:
		return set_word(v, key, to);
	case KEY_BOOL:
		return set_bool(v, to);
	case KEY_COUNT:
		return set_count(v, to);
	case KEY_NAMES:
		return set_names(v, rule);
	case KEY_PARAMS:
		return set_params(v, rule);
	case KEY_RULES:
		*(const struct doc_node **)to = v->node;
		return v->node->kind == DOC_MAP ||
		       fail(v, DIAG_RULE_SCHEMA, " is a map from names of rules to changes");
	case KEY_VARIABLE:
		return set_variable(v, to);
	case KEY_FORMULA:
		return set_formula(v, to);
	}
	return false;
}

bool value_set(const struct rule_reader *r, struct str owner, const struct rule_key *key,
	const struct doc_node *node, void *entry)
{
	const struct value_at v = { r, owner, key->name, node };

	if (!set(&v, key, entry, (char *)entry + key->value))
		return false;
	if (key->origin >= 0)
		*(struct origin *)(void *)((char *)entry + key->origin) = origin_of(r, node);
	return true;
}
