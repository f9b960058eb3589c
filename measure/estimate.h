/*
 * How long one op should take: its work, as the program and what is known of kernels tell, against
 * what the chip can do.  The tables and `rooflint hlo` have it from here.
 *
 * Refuses: what a profile says of the op.  ops.c puts that in between the two steps.
 */
#ifndef MEASURE_ESTIMATE_H
#define MEASURE_ESTIMATE_H

#include "hardware/roofline.h"
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "measure/kernels.h"

/* A cost as work; NaN where it is unknown. */
struct op_work estimate_work(enum op_kind kind, const struct hlo_cost *c);

/* What is known of a kernel replaces what the program tells.  `d` may be NULL. */
void estimate_kernel(
	const struct chip_device *d, const struct kernel_work *k, struct op_work *work);

/*
 * Of an op that is no collective.  Without a rate for its FLOPs a product's bytes say nothing of
 * its time; nor do they of a send or receive alone, which goes over links that no group names:
 * then t_hbm_s alone is known.
 */
struct roofline estimate_roofline(
	const struct chip_device *d, enum op_kind kind, const struct op_work *work);

struct collective_time estimate_collective(const struct chip_device *d,
	const struct hlo_collective *c, const struct job_shape *job, struct arena *keep);
struct roofline estimate_comms(const struct collective_time *t);

/* All of it, where there is a program and no profile. */
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
