/*
 * What the files of `rooflint hlo` share: its view of one shape or op (hlo_op.c), and of a whole
 * module (hlo_module.c).
 *
 * Costs and times come from measure/estimate.h; here they are printed.
 */
#ifndef CMD_HLO_H
#define CMD_HLO_H

#include "cmd/cmd.h"
#include "measure/estimate.h"

struct hlo_view {
	struct context *c;
	struct chip_device device; /* chip NULL: no times */
	enum hlo_platform platform;
	bool platform_known; /* else it is taken for a GPU's, which has HBM alone */
	bool json;
	const struct op_costs *formulas; /* of the rule file; NULL: none */
	const struct hlo_module *m;	 /* NULL for a shape */
};

struct estimator hlo_estimator(const struct hlo_view *v);

/* Is padding too little to show in three digits? */
static inline bool pads_little(double dense, double padded)
{
	return !(padded > dense * 1.005);
}

/* "exact", "upper"; missing where the cost is unknown */
struct str cost_bound_name(enum cost_bound b);
/* "TPU v2, one device of two a chip" */
struct str device_text(const struct hlo_view *v);
/* What stands in for times without a chip. */
void put_no_chip(const struct hlo_view *v);

void put_shape(const struct hlo_view *v, const struct shape *shape);
void put_instruction(const struct hlo_view *v, ptrdiff_t at);
void put_module(const struct hlo_view *v);

#endif
