/*
 * What `rooflint hlo` works out of an op, for its two views: one instruction, a whole module.
 *
 * Costs come from hlo/, those of custom calls from a rule file, times from hardware/; here they
 * only meet.
 */
#ifndef CMD_HLO_H
#define CMD_HLO_H

#include "cmd/cmd.h"
#include "hardware/roofline.h"
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "measure/formula.h"

struct hlo_view {
	struct context *c;
	struct chip_device device; /* chip NULL: no times */
	enum hlo_platform platform;
	bool platform_known; /* else it is taken for a GPU's, which has HBM alone */
	bool json;
	const struct op_costs *costs; /* of the rule file; NULL: none */
};

struct estimate {
	struct hlo_cost cost;
	struct op_work work;
	double hbm_padded_bytes; /* NaN where nobody can count */
	struct roofline roof;
	bool is_collective;
	struct hlo_collective collective;
	struct collective_time comms;
	const struct op_cost *formula; /* that the rule file has for it, or NULL */
};
struct estimate estimate_op(const struct hlo_view *v, const struct hlo_module *m,
	struct hlo_costs *costs, ptrdiff_t instruction);

/* Is padding too little to show in three digits? */
static inline bool pads_little(double dense, double padded)
{
	return !(padded > dense * 1.005);
}

/* "exact", "upper"; missing where nobody can count */
struct str cost_bound_name(enum cost_bound b);

/* "TPU v2, one device of two a chip" */
struct str device_text(const struct hlo_view *v);
/* What stands in for times without a chip. */
void put_no_chip(const struct hlo_view *v);

/* hlo_module.c */
void put_module(const struct hlo_view *v, const struct hlo_module *m);

#endif
