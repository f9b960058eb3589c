/*
 * Formulas for what nobody can count: FLOPs and bytes of a custom call from its operands' shapes.
 *
 * Numbers, + - * /, parentheses, and the functions that formula.c lists:
 *
 *     4 * dim(0, 0) * dim(0, 1) * dim(1, 0) * dim(0, 2)
 *
 * Operands count from 0; dimensions too, or from the end with -1.  Read once, when the rule file is
 * loaded; computed once for each op.  What cannot be computed (a missing operand, a dimension of
 * unknown size, a negative result) is NaN, never 0.
 *
 * Refuses: conditions, variables, anything that could take long.
 */
#ifndef MEASURE_FORMULA_H
#define MEASURE_FORMULA_H

#include "base/arena.h"
#include "base/str.h"

struct hlo_module;
struct hlo_instruction;

#define FORMULA_MAX_NODES 256 /* longer ones are computed elsewhere and pasted */
#define FORMULA_MAX_DEPTH 32

struct formula_node;
struct formula {
	struct str text; /* as it was written; missing: none */
	struct formula_node *nodes;
	ptrdiff_t count, root;
};

/* A mistake, and where it stands in the text. */
struct formula_fault {
	ptrdiff_t at, width; /* bytes */
	struct str text;
};

bool formula_parse(
	struct str text, struct arena *keep, struct formula *ret, struct formula_fault *fault);
double formula_value(
	const struct formula *f, const struct hlo_module *m, const struct hlo_instruction *call);

/* What the rule file says of the custom calls of a name. */
struct op_cost {
	struct str name; /* pattern of the call's target, its instruction's name or its JAX name */
	struct formula flops, bytes;
	struct str file; /* where it was written */
	int64_t line;
};
struct op_costs {
	struct op_cost *items; /* the last that fits decides */
	ptrdiff_t count, cap;
};
/* The row for a custom call; NULL when there is none, or it is another op. */
const struct op_cost *op_cost_find(const struct op_costs *costs, const struct hlo_instruction *i);

#endif
