/* The section costs: of a rule file.  See parse.h. */
#include "base/text.h"
#include "rules/parse.h"

/* A rule file with more is generated; each custom call is matched against all of them. */
enum { COSTS_MAX = 1000 };

#define KEY(member, how, ...) RULE_KEY(#member, how, struct op_cost, member, __VA_ARGS__)

static const struct rule_key cost_keys[] = {
	KEY(flops, KEY_FORMULA, "SQL over the shapes of operands"),
	KEY(bytes, KEY_FORMULA, "SQL over the shapes of operands"),
	KEY(dtype, KEY_FORMULA,
		"SQL that gives the type that is multiplied; the first factor's by "
		"default"),
	KEY(slowest, KEY_FORMULA,
		"SQL that gives a type that it may be multiplied in as well, at a lower "
		"rate"),
	KEY(kind, KEY_WORD, "what it is judged as", .words = kernel_kinds,
		.word_count = KERNEL_KINDS),
	KEY(bound, KEY_WORD, "what the figures are", .words = kernel_bounds,
		.word_count = KERNEL_BOUNDS),
};

static bool read_cost(
	const struct rule_reader *r, const struct doc_node *name, const struct doc_node *map)
{
	if (!name->text.len || r->set->costs.count == COSTS_MAX)
		return node_fail(
			r, name, DIAG_RULE_SCHEMA, "a cost has a name, and at most %d", COSTS_MAX);
	if (map->kind == DOC_MAP && !map->count)
		return node_fail(r, map, DIAG_RULE_SCHEMA, "%.*s: a cost has flops or bytes",
			STR_ARG(name->text));
	struct op_costs *costs = &r->set->costs;
	/* That of the name, which a file that extends another may write anew. */
	struct op_cost *cost = NAMED(costs->items, costs->count, name->text);
	if (!cost)
		cost = arena_push(r->keep, costs->items, costs->count, costs->cap);
	*cost = (struct op_cost){ .name = name->text, .origin = origin_of(r, name) };
	return entry_read(r, &cost_section, name->text, name, map, cost);
}

const struct section cost_section = { "a cost", "{ flops: 2 * elements(0), bytes: bytes(0) }",
	"a map from names of custom calls to formulas", cost_keys,
	sizeof(cost_keys) / sizeof(cost_keys[0]), false, read_cost, NULL };
