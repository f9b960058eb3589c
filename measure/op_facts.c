/*
 * What each op costs and should take, once: its work by the program, unless the profile says more,
 * unless the kernel is known, held against the chip.  Where there is no profile, the same by the
 * program alone.
 */
#include <math.h>

#include "base/saturate.h"
#include "measure/estimate.h"
#include "measure/writers.h"

/* A cost as work; NaN where it is unknown. */
static struct op_work estimate_work(enum op_kind kind, const struct hlo_cost *c)
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

/*
 * Of an op that is no collective.  Without a rate for its FLOPs a product's bytes say nothing of
 * its time; nor do they of a send or receive alone, which goes over links that no group names:
 * then t_hbm_s alone is known.
 */
static struct roofline estimate_roofline(
	const struct chip_device *d, enum op_kind kind, const struct op_work *work)
{
	struct roofline r = roofline_op(d, work), bytes_alone = roofline_unknown;
	bool leaves = op_kind_activity(kind) == ACTIVITY_COMMS;

	bytes_alone.t_hbm_s = r.t_hbm_s;
	return leaves || (op_kind_multiplies(kind) && isnan(r.t_math_s)) ? bytes_alone : r;
}

static struct collective_time estimate_collective(const struct chip_device *d,
	const struct hlo_collective *c, const struct job_shape *job, struct arena *keep)
{
	const struct collective_op op = { c->kind, (double)c->message_bytes, c->group_size,
		c->stride, c->between_slices, c->at_most };

	return roofline_collective(d, &op, job, keep);
}

static struct roofline estimate_comms(const struct collective_time *t)
{
	struct roofline r = roofline_unknown;

	r.t_comms_s = r.roofline_s = t->lo_s;
	r.attainable_s = t->hi_s;
	r.bound = isnan(t->lo_s) ? BOUND_UNKNOWN : BOUND_COMMS;
	return r;
}

/* ---- by the program and the profile ---------------------------------------------------------- */

static bool is_custom_call(const struct subject *s)
{
	return str_eq(s->said->category, STR("custom-call")) || s->kind == KIND_CUSTOM;
}

/* A loop, a branch: what it runs has costs of its own.  Its own part is a condition, which a GPU
 * may copy to the host. */
static bool is_control(const struct subject *s)
{
	return s->kind == KIND_CONTROL ||
	       (s->instruction >= 0 &&
		       hlo_kind(program_hlo(s->program), s->instruction) == KIND_CONTROL);
}

/* The compiler's own figure of an op's FLOPs, where it is to be trusted: not of custom calls,
 * whose estimates are off by any factor, nor of loops, whose figure is one iteration's. */
static double profile_flops(const struct subject *s)
{
	if (is_custom_call(s) || is_control(s) || s->async != ASYNC_NONE)
		return NAN;
	return s->said->model_flops > 0 ? s->said->model_flops : s->said->flops;
}

static double profile_hbm_bytes(const struct subject *s)
{
	if (is_custom_call(s) || is_control(s))
		return NAN;
	if (!isnan(s->said->hbm_read_bytes))
		return s->said->hbm_read_bytes + s->said->hbm_write_bytes;
	return s->said->bytes_accessed;
}

/*
 * Without the breakdown by memory the profile's figure counts what stays on the chip as well.
 * Operands and results count whole arrays, and a fusion may read a slice.  Both are at least what
 * HBM moves, so the lesser one is taken.
 */
static double partial_hbm_bytes(const struct subject *s, const struct hlo_cost *cost)
{
	double bytes = profile_hbm_bytes(s);

	if (isnan(bytes) || !isnan(s->said->hbm_read_bytes) || s->instruction < 0 ||
		!s->program->is_partial || !hlo_knows_operands(subject_instruction(s)))
		return bytes;
	return fmin(bytes, cost->hbm_bytes);
}

/*
 * What a matmul whose fusion is not there multiplies: the type of its arrays, when all that could
 * be factors have the same.  A result alone does not tell: sums of bf16 are often f32.  Nor does
 * f32: how many passes of bf16 it takes is said where the matmul is.
 */
static enum dtype factor_dtype(const struct hlo_module *h, const struct hlo_instruction *i)
{
	enum dtype same = DTYPE_INVALID;

	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		const struct shape *s = hlo_operand_array(h, i, k);

		if (!s)
			return DTYPE_INVALID;
		if (s->rank < 2)
			continue;
		if (same != DTYPE_INVALID && s->dtype != same)
			return DTYPE_INVALID;
		same = s->dtype;
	}
	return same == DTYPE_F32 ? DTYPE_INVALID : same;
}

static enum dtype dtype_of(const struct subject *s, const struct hlo_cost *cost)
{
	const struct hlo_instruction *i = subject_instruction(s);

	if (cost->dtype != DTYPE_INVALID)
		return cost->dtype;
	if (!i)
		return s->kind == KIND_MATMUL || s->kind == KIND_CONVOLUTION ||
				       s->kind == KIND_ATTENTION
			       ? kernel_dtype(s->said->name)
			       : DTYPE_INVALID;
	if ((s->kind == KIND_MATMUL || s->kind == KIND_CONVOLUTION) && s->program->is_partial)
		return factor_dtype(program_hlo(s->program), i);
	const struct shape *leaf = shape_leaf(&i->shape, 0);
	return leaf ? leaf->dtype : DTYPE_INVALID;
}

/* Kinds whose time the matrix units, vector units, memory and the way to the host explain. */
static bool kind_has_roofline(enum op_kind k)
{
	enum activity a = op_kind_activity(k);

	return ((a == ACTIVITY_COMPUTE || a == ACTIVITY_COPY) && k != KIND_CONTROL) ||
	       k == KIND_TRANSFER;
}

/* A program that joins slices is one slice's, and its other collectives stay there. */
static struct job_shape shape_of_job(const struct run *run, const struct run_shape *shape)
{
	const struct job_file *said = run->options->job;
	struct job_shape job = { .chips = shape->chips,
		.hosts = run_is_planned(run) ? 0 : run->host_count };
	if (said && said->hosts > 0)
		job.hosts = (int64_t)said->hosts;
	if (said && said->slices > 0)
		job.slices = (int64_t)said->slices;
	for (int k = 0; said && k < TORUS_AXES; k++)
		job.torus[k] = said->torus[k];
	if (shape->slices > 1) {
		job.chips /= shape->slices;
		job.slices = 1;
	}
	return job;
}

static void note_formula(const struct run *run, const struct subject *s, const struct op_cost *cost,
	const struct formula *f, double value)
{
	if (cost && !cost->source.p && f->text.p && isnan(value))
		diag_note(run->notes, run->keep, DIAG_HLO,
			"costs: %.*s: %.*s cannot be computed for %.*s: its operands do not fit, "
			"or it is less than 0",
			STR_ARG(cost->name), STR_ARG(f->text), STR_ARG(s->name));
}

/*
 * What multiplies f32 by the name of the library's kernel, the first that fits: cuBLAS and CUTLASS
 * write the units' type, or the shape of the instruction (s1688), s for sums in f32; what runs
 * outside the tensor cores is "simt" or a plain sgemm.
 */
static void f32_of_kernel(struct str kernel, struct op_work *w)
{
	static const struct {
		struct str part;
		enum f32_units units;
	} parts[] = {
		{ STR_INIT("tf32"), F32_TF32 },
		{ STR_INIT("bf16"), F32_BF16 },
		{ STR_INIT("simt"), F32_FULL },
		{ STR_INIT("sgemm"), F32_FULL },
		{ STR_INIT("scudnn"), F32_FULL },
		{ STR_INIT("f32f32_f32f32"), F32_FULL },
		{ STR_INIT("s1688"), F32_TF32 },
		{ STR_INIT("s1684"), F32_TF32 },
		{ STR_INIT("nvjet"), F32_TF32 },
	};

	for (ptrdiff_t i = 0; i < COUNT_OF(parts); i++) {
		if (!str_contains(kernel, parts[i].part))
			continue;
		w->passes = w->f32_units == parts[i].units ? w->passes : 1;
		w->f32_units = parts[i].units;
		return;
	}
}

/* By the program, unless the profile says more, unless the kernel is known. */
static void work_of(const struct run *run, const struct chip_device *d, const struct subject *s,
	const struct hlo_cost *cost, struct op_facts *f, struct op_work *work)
{
	enum dtype type = cost->dtype;
	/* The compiler counts products of complex numbers as real ones. */
	bool is_complex = dtype_of_parts(type) != type;
	double flops = is_complex ? (double)NAN : profile_flops(s);
	double bytes = partial_hbm_bytes(s, cost);
	struct kernel_work kernel;

	*work = estimate_work(s->kind, cost);
	work->dtype = dtype_of(s, cost);
	if (!isnan(flops) || s->async != ASYNC_NONE || is_control(s))
		work->flops = flops;
	if (!isnan(bytes) || is_control(s))
		work->hbm_bytes = bytes;
	if (cost->has_matmul && s->platform == PLATFORM_NVIDIA)
		f32_of_kernel(s->said->name, work);
	f->source = isnan(flops) ? COST_OF_HLO : COST_OF_PROFILE;
	f->bound = isnan(flops) ? cost->flops_bound : COST_EXACT;
	f->reads_all = cost->bytes_bound == COST_EXACT && !cost->has_matmul;
	if (s->instruction >= 0 &&
		kernel_work(run->kernels, program_hlo(s->program), s->instruction, &kernel)) {
		estimate_kernel(d, &kernel, work);
		note_formula(run, s, kernel.cost, &kernel.cost->bytes, kernel.bytes);
		note_formula(run, s, kernel.cost, &kernel.cost->flops, kernel.flops);
		f->source = kernel.has_flops ? kernel.source : f->source;
		f->bound = kernel.has_flops ? kernel.bound : f->bound;
		f->reads_all &= !kernel.has_flops;
	}
	if (isnan(work->flops))
		f->bound = COST_UNKNOWN;
}

/*
 * A half of an asynchronous pair takes no such time, but what it sets off does: memory and the way
 * to the host are busy behind the core.
 */
static void roofline_of(const struct chip_device *d, const struct subject *s,
	const struct op_work *work, struct arena *keep, struct op_facts *f)
{
	if (op_kind_is_collective(s->kind)) {
		if (s->async == ASYNC_NONE && f->comms)
			f->roof = estimate_comms(f->comms);
		return;
	}
	struct roofline r = estimate_roofline(d, s->kind, work);
	if (s->async != ASYNC_NONE) {
		struct roofline *behind = arena_make(keep, struct roofline, 1);
		*behind = r;
		f->behind = behind;
	} else if (kind_has_roofline(s->kind) && !isnan(work->flops) && !isnan(r.roofline_s)) {
		f->roof = r;
	}
	if (s->async != ASYNC_NONE && kind_has_roofline(s->kind))
		f->roof.t_host_s = r.t_host_s;
}

static bool same_layout(const struct shape *a, const struct shape *b)
{
	if (a->rank != b->rank || a->has_layout != b->has_layout || a->tile_count != b->tile_count)
		return false;
	for (ptrdiff_t i = 0; a->has_layout && i < a->rank; i++)
		if (a->minor_to_major[i] != b->minor_to_major[i])
			return false;
	return shape_padded_bytes(a) == shape_padded_bytes(b);
}

/*
 * A plain copy whose operand is laid out as its result moves bytes for another reason: an input
 * that was not donated, a value two loops need.  Transposes and fusions of them change the layout.
 */
static bool changes_layout(const struct subject *s)
{
	const struct hlo_module *h = program_hlo(s->program);
	const struct hlo_instruction *i = &h->instructions[s->instruction];
	const struct shape *out = shape_leaf(&i->shape, 0);

	if (out && shape_elements(out) <= 1)
		return false;
	if (i->op != HLO_COPY || i->operand_count != 1)
		return true;
	const struct shape *in = hlo_operand_array(h, i, 0);
	return !in || !out || !same_layout(in, out);
}

/* Why a copy exists, where its instruction tells. */
static enum copy_cause copy_cause_of(const struct subject *s)
{
	if (s->kind == KIND_TRANSFER && s->async != ASYNC_NONE)
		return COPY_OFFLOAD;
	if (s->kind != KIND_COPY)
		return COPY_CAUSE_UNKNOWN;
	if (s->async != ASYNC_NONE)
		return COPY_PREFETCH;
	if (s->instruction >= 0)
		return changes_layout(s) ? COPY_LAYOUT : COPY_DONATION;
	return s->said->copy != COPY_NONE ? COPY_ON_DEVICE : COPY_CAUSE_UNKNOWN;
}

/* More than clocks and a boosted chip explain, as faster-than-possible has it. */
#define BEYOND_PEAK 1.05

/*
 * A formula of the rule file, or the kernel author's estimate, that says more than the chip can do
 * is wrong, and what it says of bytes is no better: the cost is not known.  What is the most it can
 * be may well be more than was done.
 */
static void formula_doubt(
	const struct run *run, const struct subject *s, struct op_facts *f, struct op_work *work)
{
	double p50_s = NAN;

	if (f->total->self.count > 0 && f->bound != COST_UPPER)
		p50_s = dist_quantile(&f->total->self, 0.5, *run->keep) * PS;
	if (!(p50_s * BEYOND_PEAK < f->roof.t_math_s))
		return;
	diag_note(run->notes, run->keep, DIAG_HLO,
		"%s %.*s more FLOPs than it does: the chip needs %.3g ms for them, and it took "
		"%.3g; its cost is not known",
		f->source == COST_OF_RULES ? "costs: gives" : "the author's cost estimate gives",
		STR_ARG(s->name), f->roof.t_math_s * 1e3, p50_s * 1e3);
	f->roof = roofline_unknown;
	f->behind = f->behind ? &roofline_unknown : NULL;
	work->flops = work->hbm_bytes = NAN;
	f->bound = COST_UNKNOWN;
}

/* Bytes of an array that is read or written in memory, and is smaller than this. */
static double smaller_bytes(const struct shape *s, double elements, enum hlo_platform platform)
{
	bool counts = s && hlo_space(s->memory_space, platform) == SPACE_HBM &&
		      (double)shape_elements(s) < elements;

	return counts ? (double)shape_logical_bytes(s) : 0;
}

/*
 * The largest array of a product lacks its smallest dimension, and stays as it is when that grows.
 * What is larger still holds that array and is read in part; what is smaller grows.
 */
static double rows_ratio(const struct subject *s, const struct hlo_product *p,
	const struct roofline *roof, double hbm_bytes)
{
	const struct hlo_instruction *i = subject_instruction(s);
	const struct hlo_module *h = program_hlo(s->program);
	enum hlo_platform platform = s->program->platform;
	double bytes = 0;

	if (p->batch > 1)
		return NAN;
	double largest = p->m * p->n * p->k / fmin(p->m, fmin(p->n, p->k));
	for (ptrdiff_t k = 0; k < i->operand_count; k++)
		bytes += smaller_bytes(hlo_operand_array(h, i, k), largest, platform);
	for (ptrdiff_t k = 0; k < i->shape.leaves; k++)
		bytes += smaller_bytes(shape_leaf(&i->shape, k), largest, platform);
	double grows_s = roof->t_hbm_s * fmin(1, bytes / hbm_bytes);
	double left_s = roof->t_math_s - grows_s;
	return left_s > 0 ? (roof->t_hbm_s - grows_s) / left_s : (double)NAN;
}

static double aligned_to(const struct hlo_product *p)
{
	double unit = 1;

	while (unit < 1024 &&
		fmod(p->m, 2 * unit) + fmod(p->n, 2 * unit) + fmod(p->k, 2 * unit) == 0)
		unit *= 2;
	return unit;
}

static enum copy_direction direction_of(const struct subject *s)
{
	const struct hlo_instruction *i = subject_instruction(s);

	if ((s->said->copy != COPY_NONE && s->said->copy != COPY_UNKNOWN) || !i)
		return s->said->copy == COPY_NONE ? COPY_UNKNOWN : s->said->copy;
	if (s->kind == KIND_INFEED)
		return COPY_H2D;
	if (s->kind == KIND_OUTFEED)
		return COPY_D2H;
	/* A copy between memory spaces: S(5) is the host's, on the result or on the operand. */
	const struct shape *out = shape_leaf(&i->shape, 0);
	if (out && hlo_space(out->memory_space, s->program->platform) == SPACE_HOST)
		return COPY_D2H;
	const struct shape *in = hlo_operand_array(program_hlo(s->program), i, 0);
	if (in && hlo_space(in->memory_space, s->program->platform) == SPACE_HOST)
		return COPY_H2D;
	return COPY_UNKNOWN;
}

void op_comms_of(const struct run *run, const struct subject *s, struct op_facts *f)
{
	const struct chip_device *d = run->first ? &run->first->chip : NULL;
	struct hlo_collective *c;

	if (!op_kind_is_collective(s->kind) || s->instruction < 0)
		return;
	c = arena_make(run->keep, struct hlo_collective, 1);
	if (!hlo_collective(program_hlo(s->program), s->instruction, run->keep, c))
		return;
	f->collective = c;
	if (!d || !d->chip)
		return;
	struct job_shape job = shape_of_job(run, &run->shape);
	f->comms = arena_make(run->keep, struct collective_time, 1);
	*f->comms = estimate_collective(d, c, &job, run->keep);
	/* Which links carry a collective is not known then. */
	if (run->beats_network.p && f->comms->link == LINK_DCN)
		f->comms->lo_s = f->comms->hi_s = NAN;
}

static void facts_of(const struct run *run, const struct subject *s, struct op_facts *f,
	struct op_costing *costing)
{
	const struct chip_device *d = run->first ? &run->first->chip : NULL;
	struct hlo_cost cost = { .precision_passes = 1 };

	f->copy_cause = copy_cause_of(s);
	if (s->instruction >= 0)
		cost = hlo_cost(program_costs(s->program), s->instruction);
	if (cost.bytes_bound != COST_UNKNOWN && cost.logical_bytes > 0) {
		costing->logical_bytes = cost.logical_bytes;
		costing->padded_bytes = cost.padded_bytes;
	}
	work_of(run, d, s, &cost, f, &costing->work);
	op_comms_of(run, s, f);
	if (!d || !d->chip)
		return;
	roofline_of(d, s, &costing->work, run->keep, f);
	struct hlo_product p;
	if (subject_instruction(s) &&
		hlo_product(program_hlo(s->program), s->instruction, *run->keep, &p)) {
		costing->rows_ratio = rows_ratio(s, &p, &f->roof, costing->work.hbm_bytes);
		costing->aligned_to = aligned_to(&p);
	}
	if (f->source == COST_OF_RULES || f->source == COST_OF_AUTHOR)
		formula_doubt(run, s, f, &costing->work);
}

bool subject_ran(const struct run *run, const struct subject *s)
{
	return aggregate_op(run->sums, s->index)->self.count > 0 || s->planned > 0;
}

struct op_facts op_facts_of(
	const struct run *run, const struct subject *s, struct op_costing *costing)
{
	struct op_facts ret = { .total = aggregate_op(run->sums, s->index),
		.ran = subject_ran(run, s),
		.direction = direction_of(s),
		/* An instruction's copy kernel that says no direction stays on the device. */
		.is_copy = s->said->copy != COPY_NONE &&
			   !(s->said->copy == COPY_UNKNOWN && s->said->hlo_op.len > 0),
		.roof = roofline_unknown };

	*costing = (struct op_costing){
		.logical_bytes = NAN, .padded_bytes = NAN, .rows_ratio = NAN, .aligned_to = NAN
	};
	if (ret.ran)
		facts_of(run, s, &ret, costing);
	return ret;
}

/* ---- by the program alone -------------------------------------------------------------------- */

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
