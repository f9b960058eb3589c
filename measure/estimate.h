/*
 * How long one op should take, by its program and what is known of kernels alone, for `rooflint
 * hlo`.  Of ops that ran op_facts.c puts what the profile says between the same two steps.
 */
#ifndef MEASURE_ESTIMATE_H
#define MEASURE_ESTIMATE_H

#include "hardware/roofline.h"
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "measure/kernels.h"

/* What is known of a kernel replaces what the program tells.  `d` may be NULL. */
void estimate_kernel(
	const struct chip_device *d, const struct kernel_work *k, struct op_work *work);

/* What an op would take, told from its program alone: there is no profile. */
struct estimator {
	const struct chip_device *device; /* its chip may be NULL: no times */
	const struct hlo_module *m;
	struct hlo_costs *costs;
	struct kernels *kernels;
	struct arena *keep;
};
struct estimate {
	struct hlo_cost cost;
	struct op_work work;
	double hbm_padded_bytes; /* NaN unknown */
	enum op_kind kind;
	struct kernel_work kernel; /* that gave the work, if it gave any */
	struct roofline roof;
	bool is_collective;
	struct hlo_collective collective;
	struct collective_time comms;
};
struct estimate estimate_op(const struct estimator *e, ptrdiff_t instruction);

#endif
