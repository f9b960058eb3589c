/*
 * What kernels cost that the program itself does not tell: custom calls, by their names.
 *
 * A rule file's section costs: knows best; then the file that ships, hardware/kernels.yaml; then
 * what the kernel's author wrote into the program.
 *
 * Refuses: library calls whose configuration names what they do (hlo/library.c).
 */
#ifndef MEASURE_KERNELS_H
#define MEASURE_KERNELS_H

#include "base/keyed.h"
#include "hlo/cost.h"
#include "measure/formula.h"

struct kernels;
struct kernels *kernels_new(const struct op_costs *own, struct arena *keep); /* NULL: none */
void kernels_free(struct kernels *k);

/* The row for a custom call; NULL when there is none, or it is another op. */
const struct op_cost *kernel_find(struct kernels *k, const struct hlo_instruction *i);
/* The kind of an op, which otherwise is `kind`. */
enum op_kind kernel_kind(struct kernels *k, const struct hlo_instruction *i, enum op_kind kind);

/* In the order of FLOPS_SOURCE_WORDS. */
enum cost_source { COST_OF_PROFILE, COST_OF_HLO, COST_OF_RULES, COST_OF_KERNELS, COST_OF_AUTHOR };

/* What one execution does; NaN where it is not known. */
struct kernel_work {
	const struct op_cost *cost; /* NULL: the author's */
	enum cost_source source;
	enum cost_bound bound;
	bool has_flops, has_bytes;
	double flops, bytes;
	enum dtype dtype, slowest; /* DTYPE_INVALID: not known, none */
};
bool kernel_work(struct kernels *k, const struct hlo_module *m, ptrdiff_t instruction,
	struct kernel_work *ret);

/* What a file says of one: keys of struct op_cost, the first two of those that ship alone. */
extern const struct key kernel_keys[];
enum { KERNEL_KEYS_SHIPPED = 2 };
KEY_READ(key_formula); /* as it stands: who reads a file of the user's looks at it */
/* The kernels that ship; a mistake in them is a broken build. */
const struct op_costs *kernels_known(struct arena *keep, struct op_costs *ret, struct diag *err);

#endif
