/* The key costs: of a rule file.  See parse.h. */
#include "rules/parse.h"

#include "rules/engine.h"

/* A rule file with more is generated; each custom call is matched against all of them. */
enum { COSTS_MAX = 1000 };

#define KEY(member)                                                                                \
	{                                                                                          \
		STR_INIT(#member), offsetof(struct op_cost, member), SHAPE_SCALAR, false, NULL, 0, \
			STR_INIT("formula over the shapes of operands")                            \
	}

static const struct section_key cost_keys[] = { KEY(flops), KEY(bytes) };
const struct section cost_section = { "a cost", cost_keys,
	sizeof(cost_keys) / sizeof(cost_keys[0]) };

static bool read_formula(const struct rule_reader *r, struct str name, const struct doc_node *node,
	struct formula *ret)
{
	struct formula_fault fault;

	if (node->kind != DOC_SCALAR || !str_trim(node->text).len)
		return node_fail(
			r, node, DIAG_RULE_SCHEMA, "%.*s: a formula is wanted here", STR_ARG(name));
	if (formula_parse(node->text, r->keep, ret, &fault))
		return true;
	return diag_caret(r->err, DIAG_RULE_SCHEMA,
		doc_place_in(r->doc, node, fault.at, fault.width), "%.*s: %.*s", STR_ARG(name),
		STR_ARG(fault.text));
}

static bool read_key(const struct rule_reader *r, const struct doc_pair *pair, struct op_cost *cost)
{
	const struct section_key *key = section_key_find(r, &cost_section, pair->key);

	return key && read_formula(r, key->name, pair->value,
			      (struct formula *)(void *)((char *)cost + key->value));
}

/* The name's row, which a file that extends another may write anew. */
static struct op_cost *cost_named(const struct rule_reader *r, struct str name)
{
	struct op_costs *costs = &r->set->costs;

	for (ptrdiff_t i = 0; i < costs->count; i++)
		if (str_eq(costs->items[i].name, name))
			return &costs->items[i];
	struct op_cost *cost = arena_push(r->keep, costs->items, costs->count, costs->cap);
	cost->name = name;
	return cost;
}

static bool read_cost(const struct rule_reader *r, const struct doc_pair *pair)
{
	if (!pair->key->text.len || r->set->costs.count == COSTS_MAX)
		return node_fail(r, pair->key, DIAG_RULE_SCHEMA,
			"a cost has a name, and at most %d", COSTS_MAX);
	if (pair->value->kind != DOC_MAP || !pair->value->count)
		return node_fail(r, pair->value, DIAG_RULE_SCHEMA,
			"%.*s: a cost is a map: { flops: 2 * elements(0), bytes: bytes(0) }",
			STR_ARG(pair->key->text));
	struct op_cost *cost = cost_named(r, pair->key->text);
	*cost = (struct op_cost){
		.name = pair->key->text, .file = r->doc->file, .line = pair->key->line
	};
	for (ptrdiff_t i = 0; i < pair->value->count; i++)
		if (!read_key(r, &pair->value->pairs[i], cost))
			return false;
	return true;
}

bool document_costs(const struct rule_reader *r)
{
	const struct doc_node *costs = doc_get(r->doc->root, STR("costs"));

	if (!costs)
		return true;
	if (costs->kind != DOC_MAP)
		return node_fail(r, costs, DIAG_RULE_SCHEMA,
			"costs is a map from names of custom calls to formulas");
	for (ptrdiff_t i = 0; i < costs->count; i++)
		if (!read_cost(r, &costs->pairs[i]))
			return false;
	return true;
}
