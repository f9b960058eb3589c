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

void estimate_kernel(const struct chip_device *d, const struct kernel_work *k, struct op_work *work)
{
	if (k->has_bytes)
		work->hbm_bytes = k->bytes;
	if (!k->has_flops)
		return;
	work->flops = k->flops;
	work->slowest = k->slowest;
	if (k->dtype != DTYPE_INVALID)
		work->dtype = d ? roofline_wider(d, k->dtype) : k->dtype;
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
	enum op_kind kind = kernel_kind(e->kernels, i, hlo_kind(e->m, instruction));

	ret.kind = kind;
	ret.work = estimate_work(kind, &ret.cost);
	if (ret.work.dtype == DTYPE_INVALID && leaf)
		ret.work.dtype = leaf->dtype;
	if (!hlo_knows_operands(i))
		ret.work.hbm_bytes = ret.work.host_bytes = NAN;
	ret.hbm_padded_bytes = isnan(ret.work.hbm_bytes) ? NAN : ret.cost.hbm_padded_bytes;
	if (kernel_work(e->kernels, e->m, instruction, &ret.kernel)) {
		estimate_kernel(e->device, &ret.kernel, &ret.work);
		if (ret.kernel.has_bytes)
			ret.hbm_padded_bytes = ret.work.hbm_bytes;
		if (ret.kernel.has_flops)
			ret.cost.flops_bound =
				isnan(ret.work.flops) ? COST_UNKNOWN : ret.kernel.bound;
	}
	ret.is_collective = op_kind_is_collective(kind) &&
			    hlo_collective(e->m, instruction, e->keep, &ret.collective);
	if (ret.is_collective) {
		double chips = (double)devices_of(e->m, &ret.collective) * e->device->share;
		struct job_shape job = { .chips = (int64_t)ceil(chips) };
		ret.comms = estimate_collective(e->device, &ret.collective, &job, e->keep);
		ret.roof = estimate_comms(&ret.comms);
	} else if (hlo_is_work(e->m, instruction)) {
		ret.roof = estimate_roofline(e->device, kind, &ret.work);
		if (ret.cost.flops_bound == COST_LOWER)
			ret.roof.attainable_s = NAN;
	}
	return ret;
}
