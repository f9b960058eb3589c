/*
 * Formulas for what a program does not tell: FLOPs and bytes of a custom call, from the shapes of
 * its operands.
 *
 * A formula is an expression of SQL with the functions that formula.c lists:
 *
 *     4 * dim(0, 0) * dim(0, 1) * dim(1, 0) * dim(0, 2)
 *
 * Operands count from 0; dimensions too, or from the end with -1.  What cannot be computed (a
 * missing operand, a dimension of unknown size, a negative result) is NULL in SQL, and NaN here;
 * never 0.  Numbers are floating-point, so a quotient is no whole number.
 *
 * Refuses: whatever base/sql.h does.
 */
#ifndef MEASURE_FORMULA_H
#define MEASURE_FORMULA_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/kind.h"
#include "base/sql.h"
#include "base/str.h"

struct hlo_module;
struct hlo_instruction;

struct formula {
	struct str text; /* as it was written; missing: none */
};

/* What they may call; a missing name ends them. */
extern const struct sql_own_function formula_functions[];

/* Only looks whether it can be computed, and is not below 0 for every call. */
bool formula_parse(
	struct str text, struct arena *keep, struct formula *ret, struct sql_fault *fault);

/* What computes them: each formula is prepared once.  For one thread at a time. */
struct formulas;
struct formulas *formulas_new(struct arena *keep);
void formulas_free(struct formulas *f);
double formula_value(struct formulas *f, const struct formula *formula, const struct hlo_module *m,
	const struct hlo_instruction *call);
/* Of a formula whose value is the name of a type; DTYPE_INVALID where it is none. */
enum dtype formula_dtype(struct formulas *f, const struct formula *formula,
	const struct hlo_module *m, const struct hlo_instruction *call);

/* The first floating-point array of two or more dimensions that a call takes; -1 none. */
ptrdiff_t formula_factor(const struct hlo_module *m, const struct hlo_instruction *call);

/* What a file says of the custom calls of a name. */
struct op_cost {
	struct str name; /* pattern of the call's target, its instruction's name or its JAX name */
	struct formula flops, bytes;
	struct formula dtype;	/* of what is multiplied; missing: that of the first factor */
	struct formula slowest; /* what it may be multiplied in as well, at a lower rate */
	int kind, bound;	/* by the words of kernels.c */
	bool gradient;		/* of one that ships: it makes gradients, whatever its scope says */
	struct str source;	/* of a kernel that ships: where its name and operands are from */
	struct origin origin;
};
struct op_costs {
	struct op_cost *items; /* the last that fits decides */
	ptrdiff_t count, cap;
};

#endif
