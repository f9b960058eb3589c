/* The values of a rule's keys, by type.  See parse.h. */
#include "rules/parse.h"

#include "rules/dimension.h"
#include "rules/engine.h"

#define MEMBER(rule, offset, type) ((type *)(void *)((char *)(rule) + (offset)))

/* ---- words -------------------------------------------------------------------------------- */

static bool need_scalar(const struct rule_reader *r, const struct rule *rule, struct str key,
	const struct doc_node *node)
{
	if (node->kind != DOC_SCALAR)
		return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s.%.*s takes one value",
			STR_ARG(rule->name), STR_ARG(key));
	if (!str_trim(node->text).len)
		return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s.%.*s has no value",
			STR_ARG(rule->name), STR_ARG(key));
	return true;
}

/* Numbers and flags are written bare, so that "1" and 1 never mean different things silently. */
static bool need_bare(const struct rule_reader *r, const struct rule *rule, struct str key,
	const struct doc_node *node, const char *what)
{
	if (!need_scalar(r, rule, key, node))
		return false;
	if (node->quoted)
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"%.*s.%.*s is %s: write it without quotes", STR_ARG(rule->name),
			STR_ARG(key), what);
	return true;
}

/* Index of the node's word, or -1 and an error. */
static int word_index(const struct rule_reader *r, const struct rule *rule,
	const struct rule_key *key, const struct doc_node *node, const struct str *words, int count)
{
	struct str all = words[0];

	for (int i = 0; i < count; i++)
		if (str_eq(words[i], node->text))
			return i;
	for (int i = 1; i < count; i++)
		all = arena_fmt(r->keep, "%.*s%s%.*s", STR_ARG(all), i + 1 < count ? ", " : " or ",
			STR_ARG(words[i]));
	node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s.%.*s is %.*s", STR_ARG(rule->name),
		STR_ARG(key->name), STR_ARG(all));
	return -1;
}

static bool set_severity(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	static const struct str words[] = { STR_INIT("off"), STR_INIT("warn"), STR_INIT("error") };
	int i = need_scalar(r, rule, key->name, node) ? word_index(r, rule, key, node, words, 3)
						      : -1;

	if (i >= 0)
		*MEMBER(rule, key->value, enum severity) = (enum severity)i;
	return i >= 0;
}

static bool set_bool(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	bool is_true = str_eq(node->text, STR("true"));

	if (!need_bare(r, rule, key->name, node, "true or false"))
		return false;
	if (!is_true && !str_eq(node->text, STR("false")))
		return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s.%.*s is true or false",
			STR_ARG(rule->name), STR_ARG(key->name));
	*MEMBER(rule, key->value, bool) = is_true;
	return true;
}

static bool set_pool(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	struct str words[POOL_COUNT];
	int i = -1;

	for (int k = 0; k < POOL_COUNT; k++)
		words[k] = pool_name((enum pool)k);
	if (need_scalar(r, rule, key->name, node))
		i = word_index(r, rule, key, node, words, POOL_COUNT);
	if (i >= 0)
		*MEMBER(rule, key->value, enum pool) = (enum pool)i;
	return i >= 0;
}

static bool set_count(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	int64_t value;

	if (!need_bare(r, rule, key->name, node, "a number"))
		return false;
	if (!str_to_i64(node->text, &value) || value < 0)
		return node_fail(r, node, DIAG_RULE_SCHEMA, "%.*s.%.*s is a number: 0, 1, 2 ...",
			STR_ARG(rule->name), STR_ARG(key->name));
	*MEMBER(rule, key->value, int64_t) = value;
	return true;
}

/* ---- texts -------------------------------------------------------------------------------- */

static bool set_text(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	if (!need_scalar(r, rule, key->name, node))
		return false;
	MEMBER(rule, key->value, struct rule_text)->text = str_trim(node->text);
	return true;
}

/* As it stands, so that places in it are places in the file. */
static bool set_sql(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	if (!need_scalar(r, rule, key->name, node))
		return false;
	MEMBER(rule, key->value, struct rule_text)->text = node->text;
	if (str_eq(key->name, STR("select"))) {
		rule->from = NULL;
		rule->from_text = (struct rule_text){ { NULL, 0 }, { .line = 0 } };
	}
	return true;
}

static bool set_table(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	struct str names[TABLE_COUNT];

	if (!need_scalar(r, rule, key->name, node))
		return false;
	rule->from = table_find(node->text);
	rule->from_text.text = node->text;
	rule->select = (struct rule_text){ { NULL, 0 }, { .line = 0 } };
	if (rule->from)
		return true;
	for (int i = 0; i < TABLE_COUNT; i++)
		names[i] = table_defs[i].name;
	struct str hint = did_you_mean(r->keep, node->text, names, TABLE_COUNT);
	if (!hint.len)
		hint = STR("; `rooflint tables` lists them");
	return node_fail(r, node, DIAG_RULE_NAME, "%.*s.from: there is no table '%.*s'%.*s",
		STR_ARG(rule->name), STR_ARG(node->text), STR_ARG(hint));
}

static bool set_names(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	if (node->kind != DOC_LIST)
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"%.*s.%.*s is a list: [a, b], or [] for none", STR_ARG(rule->name),
			STR_ARG(key->name));
	rule->needs = arena_make(r->keep, struct str, node->count + 1);
	for (ptrdiff_t i = 0; i < node->count; i++) {
		if (!need_scalar(r, rule, key->name, node->items[i]))
			return false;
		rule->needs[i] = node->items[i]->text;
	}
	rule->need_count = node->count;
	rule->needs_all = false;
	return true;
}

/* ---- parameters --------------------------------------------------------------------------- */

static struct rule_param *find_param(const struct rule *rule, struct str name)
{
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		if (str_eq(rule->params[i].name, name))
			return &rule->params[i];
	return NULL;
}

const struct rule_param *rule_param_named(const struct rule *rule, struct str name)
{
	return find_param(rule, name);
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

static bool parse_value(const struct rule_reader *r, const struct rule *rule, struct str name,
	const struct doc_node *node, double *value, enum unit *unit)
{
	struct str nearest;

	if (!need_bare(r, rule, name, node, "a number"))
		return false;
	if (unit_parse(node->text, value, unit, &nearest))
		return true;
	if (nearest.p)
		return node_fail(r, node, DIAG_RULE_UNIT,
			"%.*s.%.*s: '%.*s' has an unknown unit; did you mean '%.*s'?",
			STR_ARG(rule->name), STR_ARG(name), STR_ARG(node->text), STR_ARG(nearest));
	return node_fail(r, node, DIAG_RULE_UNIT,
		"%.*s.%.*s: '%.*s' is no number with a unit, such as 10%%, 64 MiB, 250 us, 45 GB/s",
		STR_ARG(rule->name), STR_ARG(name), STR_ARG(node->text));
}

/* Numbers that mean the same without a unit.  Of a time, 20 may be seconds or microseconds. */
static bool may_be_bare(enum unit u, double value)
{
	return u == UNIT_NONE || u == UNIT_COUNT || u == UNIT_RATIO || u == UNIT_BOOL || value == 0;
}

/* A parameter keeps the unit it was declared with; a bare ratio or count takes it over. */
static bool check_unit(const struct rule_reader *r, const struct rule *rule,
	const struct rule_param *old, const struct doc_node *node, double value, enum unit *unit)
{
	enum unit wanted = old->unit == UNIT_NONE ? UNIT_COUNT : old->unit;

	if (!dimension_fits(dimension_of(wanted), dimension_of(*unit)))
		return node_fail(r, node, DIAG_RULE_UNIT,
			"%.*s.%.*s is %s (%.*s), and '%.*s' is %s", STR_ARG(rule->name),
			STR_ARG(old->name), unit_noun(old->unit), STR_ARG(old->text),
			STR_ARG(node->text), unit_noun(*unit));
	if (*unit == UNIT_NONE && old->unit == UNIT_RATIO && value > 1)
		return node_fail(r, node, DIAG_RULE_UNIT,
			"%.*s.%.*s is a ratio (%.*s): did you mean %.*s%%?", STR_ARG(rule->name),
			STR_ARG(old->name), STR_ARG(old->text), STR_ARG(node->text));
	if (*unit == UNIT_NONE && !may_be_bare(old->unit, value))
		return node_fail(r, node, DIAG_RULE_UNIT,
			"%.*s.%.*s is %s (%.*s), and '%.*s' has no unit", STR_ARG(rule->name),
			STR_ARG(old->name), unit_noun(old->unit), STR_ARG(old->text),
			STR_ARG(node->text));
	if (*unit == UNIT_NONE)
		*unit = old->unit;
	return true;
}

bool param_set(const struct rule_reader *r, struct rule *rule, struct str name,
	const struct doc_node *at, const struct doc_node *node)
{
	struct rule_param *old = find_param(rule, name), param = { .name = name };

	if (!is_param_name(name))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter's name has small letters, digits and '_'");
	if (rule_key_find(name))
		return node_fail(r, at, DIAG_RULE_SCHEMA,
			"a parameter cannot be called '%.*s': rules have a key of that name",
			STR_ARG(name));
	if (!parse_value(r, rule, name, node, &param.value, &param.unit) ||
		(old && !check_unit(r, rule, old, node, param.value, &param.unit)))
		return false;
	param.text = node->text;
	param.origin = origin_of(r, at);
	if (!old)
		old = arena_push(r->keep, rule->params, rule->param_count, rule->param_cap);
	*old = param;
	return true;
}

static bool set_params(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	if (node->kind != DOC_MAP)
		return node_fail(r, node, DIAG_RULE_SCHEMA,
			"%.*s.%.*s is a map: { limit: 10%%, min_bytes: 64 MiB }",
			STR_ARG(rule->name), STR_ARG(key->name));
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!param_set(r, rule, node->pairs[i].key->text, node->pairs[i].key,
			    node->pairs[i].value))
			return false;
	return true;
}

bool value_set(const struct rule_reader *r, struct rule *rule, const struct rule_key *key,
	const struct doc_node *node)
{
	static bool (*const setters[])(const struct rule_reader *, struct rule *,
		const struct rule_key *, const struct doc_node *) = {
		[KEY_TEXT] = set_text,
		[KEY_SQL] = set_sql,
		[KEY_TABLE] = set_table,
		[KEY_SEVERITY] = set_severity,
		[KEY_BOOL] = set_bool,
		[KEY_COUNT] = set_count,
		[KEY_NAMES] = set_names,
		[KEY_POOL] = set_pool,
		[KEY_PARAMS] = set_params,
	};

	if (!setters[key->type](r, rule, key, node))
		return false;
	*MEMBER(rule, key->origin, struct origin) = origin_of(r, node);
	return true;
}
