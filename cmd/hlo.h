/*
 * What the files of `rooflint hlo` share: its view of one shape or op (hlo_op.c), and of a whole
 * module (hlo_module.c).
 *
 * Costs and times come from measure/estimate.h; here they are printed.
 */
#ifndef CMD_HLO_H
#define CMD_HLO_H

#include "base/json.h"
#include "base/unit.h"
#include "cmd/cmd.h"
#include "cmd/grid.h"
#include "measure/estimate.h"
#include "measure/tables.h"

struct hlo_view {
	struct context *c;
	struct chip_device device; /* chip NULL: no times */
	enum hlo_platform platform;
	bool platform_known; /* else it is taken for a GPU's, which has HBM alone */
	bool json;
	const struct op_costs *formulas; /* of the rule file; NULL: none */
	struct kernels *kernels;	 /* these, and those that ship */
	const struct hlo_module *m;	 /* NULL for a shape */
};

struct estimator hlo_estimator(const struct hlo_view *v);

/* Labels, values and remarks under headings; JSON has the values as members. */
struct sheet {
	const struct hlo_view *v;
	struct grid grid;
	cJSON *json; /* NULL: text */
};
struct sheet sheet_begin(const struct hlo_view *v);
void sheet_end(struct sheet *s);
void put_heading(struct sheet *s, struct str text); /* behind the rows before it; not in JSON */
/* The label is NULL where text has no such row, the key where JSON has no such member. */
void put(struct sheet *s, const char *label, const char *key, double value, enum unit unit,
	struct str remark);

/* A member of JSON alone. */
void put_word(struct sheet *s, const char *key, struct str text);

/* Is padding too little to show in three digits? */
static inline bool pads_little(double dense, double padded)
{
	return !(padded > dense * 1.005);
}

/* "TPU v2, one device of two a chip" */
struct str device_text(const struct hlo_view *v);
/* What stands in for times without a chip. */
void put_no_chip(const struct hlo_view *v);

void put_shape(const struct hlo_view *v, const struct shape *shape);
void put_instruction(const struct hlo_view *v, ptrdiff_t at);
void put_module(const struct hlo_view *v);

#endif
