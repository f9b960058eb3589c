/* What one op should take.  See estimate.h. */
#include "measure/estimate.h"

#include <math.h>

#include "base/saturate.h"

struct op_work estimate_work(enum op_kind kind, const struct hlo_cost *c)
{
	return (struct op_work){
		.flops = c->flops_bound != COST_UNKNOWN ? c->flops : NAN,
		.dtype = c->dtype,
		.passes = c->precision_passes,
		.f32_units = c->f32_units,
		.is_vector = !c->has_matmul && op_kind_is_vector(kind),
		.hbm_bytes = c->bytes_bound != COST_UNKNOWN ? c->hbm_bytes : NAN,
		.host_bytes = c->bytes_bound != COST_UNKNOWN ? c->host_bytes : NAN,
	};
}

const struct op_cost *estimate_formula(const struct op_costs *costs, const struct hlo_module *m,
	ptrdiff_t instruction, struct op_work *work)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	const struct op_cost *f = op_cost_find(costs, i);
	const struct shape *factor = hlo_operand_array(m, i, 0);

	if (f && f->bytes.text.p)
		work->hbm_bytes = formula_value(&f->bytes, m, i);
	if (f && f->flops.text.p) {
		work->flops = formula_value(&f->flops, m, i);
		if (factor && factor->dtype != DTYPE_INVALID)
			work->dtype = factor->dtype;
	}
	return f;
}

struct roofline estimate_roofline(
	const struct chip_device *d, enum op_kind kind, const struct op_work *work)
{
	struct roofline r = roofline_op(d, work), bytes_alone = roofline_unknown;
	bool leaves = op_kind_activity(kind) == ACTIVITY_COMMS;

	bytes_alone.t_hbm_s = r.t_hbm_s;
	return leaves || (op_kind_multiplies(kind) && isnan(r.t_math_s)) ? bytes_alone : r;
}

struct collective_time estimate_collective(const struct chip_device *d,
	const struct hlo_collective *c, const struct job_shape *job, struct arena *keep)
{
	const struct collective_op op = { c->kind, (double)c->message_bytes, c->group_size,
		c->stride, c->between_slices, c->at_most };

	return roofline_collective(d, &op, job, keep);
}

struct roofline estimate_comms(const struct collective_time *t)
{
	struct roofline r = roofline_unknown;

	r.t_comms_s = r.roofline_s = t->lo_s;
	r.attainable_s = t->hi_s;
	r.bound = isnan(t->lo_s) ? BOUND_UNKNOWN : BOUND_COMMS;
	return r;
}

/* All devices of the job, where the op or the module tells; every one is in some group.  XLA's
 * numbers of devices have 32 bits. */
static int64_t devices_of(const struct hlo_module *m, const struct hlo_collective *c)
{
	int64_t devices = sat_mul(m->replica_count, m->partition_count);
	if (m->replica_count <= 0 || m->partition_count <= 0 || devices == 1)
		devices = sat_mul(c->group_size, c->groups);
	return devices < INT32_MAX ? devices : INT32_MAX;
}

struct estimate estimate_op(const struct estimator *e, ptrdiff_t instruction)
{
	struct estimate ret = { .cost = hlo_cost(e->costs, instruction), .roof = roofline_unknown };
	const struct hlo_instruction *i = &e->m->instructions[instruction];
	const struct shape *leaf = shape_leaf(&i->shape, 0);
	enum op_kind kind = hlo_kind(e->m, instruction);

	ret.work = estimate_work(kind, &ret.cost);
	if (ret.work.dtype == DTYPE_INVALID && leaf)
		ret.work.dtype = leaf->dtype;
	if (!hlo_knows_operands(i))
		ret.work.hbm_bytes = ret.work.host_bytes = NAN;
	ret.hbm_padded_bytes = isnan(ret.work.hbm_bytes) ? NAN : ret.cost.hbm_padded_bytes;
	ret.formula = estimate_formula(e->formulas, e->m, instruction, &ret.work);
	if (ret.formula && ret.formula->bytes.text.p)
		ret.hbm_padded_bytes = ret.work.hbm_bytes;
	if (ret.formula && ret.formula->flops.text.p)
		ret.cost.flops_bound = isnan(ret.work.flops) ? COST_UNKNOWN : COST_EXACT;
	ret.is_collective = op_kind_is_collective(kind) &&
			    hlo_collective(e->m, instruction, e->keep, &ret.collective);
	if (ret.is_collective) {
		double chips = (double)devices_of(e->m, &ret.collective) * e->device->share;
		struct job_shape job = { .chips = (int64_t)ceil(chips) };
		ret.comms = estimate_collective(e->device, &ret.collective, &job, e->keep);
		ret.roof = estimate_comms(&ret.comms);
	} else if (hlo_is_work(e->m, instruction)) {
		ret.roof = estimate_roofline(e->device, kind, &ret.work);
	}
	return ret;
}
