/*
 * What `rooflint hlo` works out of an op, for its two views: one instruction, a whole module.
 *
 * Costs come from hlo/, times from hardware/; here they only meet.
 */
#ifndef CMD_HLO_H
#define CMD_HLO_H

#include "cmd/cmd.h"
#include "hardware/roofline.h"
#include "hlo/collective.h"
#include "hlo/cost.h"

struct hlo_view {
	struct context *c;
	struct chip_device device; /* chip NULL: no times */
	enum hlo_platform platform;
	bool json;
};

/* NaN where nobody can count. */
struct estimate {
	struct hlo_cost cost;
	double flops, hbm_bytes, hbm_padded_bytes;
	enum dtype dtype; /* of the peak that applies */
	struct roofline roof;
	bool is_collective;
	struct hlo_collective collective;
	struct collective_time comms;
};
struct estimate estimate_op(const struct hlo_view *v, const struct hlo_module *m,
	struct hlo_costs *costs, ptrdiff_t instruction);

/* "TPU v2, one device of two a chip" */
struct str device_text(const struct hlo_view *v);
/* What stands in for times without a chip. */
void put_no_chip(const struct hlo_view *v);

/* hlo_module.c */
void put_module(const struct hlo_view *v, const struct hlo_module *m);

#endif
