/*
 * The tables of work: ops, the families they form, and the edges between them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/out.h"
#include "base/text.h"
#include "hlo/walk.h"
#include "measure/op_key.h"
#include "measure/estimate.h"
#include "measure/writers.h"

/* Edges are for explaining a finding; the heaviest this many are kept. */
#define EDGES_MAX 20000

void subject_sum(
	const struct capture *in, const struct swept *run, ptrdiff_t subject, struct op_total *ret)
{
	*ret = aggregate_op(run->sums, subject);
	ret->planned = registry_subject_at(in->registry, subject)->planned;
}

static bool is_custom_call(const struct subject *s)
{
	return str_eq(s->said.category, STR("custom-call")) || s->kind == KIND_CUSTOM;
}

/* The compiler's own figure of an op's FLOPs, where it is to be trusted: not of custom calls,
 * whose estimates are off by any factor, nor of loops, whose figure is one iteration's. */
static double profile_flops(const struct subject *s)
{
	if (is_custom_call(s) || s->kind == KIND_CONTROL || s->async != ASYNC_NONE)
		return NAN;
	return s->said.model_flops > 0 ? s->said.model_flops : s->said.flops;
}

static double profile_hbm_bytes(const struct subject *s)
{
	if (is_custom_call(s) || s->kind == KIND_CONTROL)
		return NAN;
	if (!isnan(s->said.hbm_read_bytes))
		return s->said.hbm_read_bytes + s->said.hbm_write_bytes;
	return s->said.bytes_accessed;
}

/*
 * Without the breakdown by memory the profile's figure counts what stays on the chip as well, and
 * operands and results count arrays whole of which a fusion may read a slice: both are at least
 * what HBM moves, so the lesser one is taken.
 */
static double partial_hbm_bytes(const struct subject *s, const struct hlo_cost *cost)
{
	double bytes = profile_hbm_bytes(s);

	if (isnan(bytes) || !isnan(s->said.hbm_read_bytes) || s->instruction < 0 ||
		!s->program->hlo->partial ||
		!hlo_knows_operands(&s->program->hlo->instructions[s->instruction]))
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

	if (cost->dtype != DTYPE_INVALID || !i)
		return cost->dtype;
	if ((s->kind == KIND_MATMUL || s->kind == KIND_CONVOLUTION) && s->program->hlo->partial)
		return factor_dtype(s->program->hlo, i);
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
static struct job_shape shape_of_job(const struct capture *in, const struct swept *run)
{
	const struct job_file *said = in->options->job;
	struct job_shape job = { .chips = run->shape.chips,
		.hosts = capture_is_planned(in) ? 0 : in->host_count };
	if (said && said->hosts > 0)
		job.hosts = (int64_t)said->hosts;
	if (said && said->slices > 0)
		job.slices = (int64_t)said->slices;
	for (int k = 0; said && k < TORUS_AXES; k++)
		job.torus[k] = said->torus[k];
	if (run->shape.slices > 1) {
		job.chips /= run->shape.slices;
		job.slices = 1;
	}
	return job;
}

bool collective_facts(const struct capture *in, const struct swept *run, const struct subject *s,
	struct hlo_collective *c, struct collective_time *t)
{
	if (s->instruction < 0 || !run->first || !run->first->chip.chip ||
		!hlo_collective(s->program->hlo, s->instruction, in->keep, c))
		return false;
	struct job_shape job = shape_of_job(in, run);
	*t = estimate_collective(&run->first->chip, c, &job, in->keep);
	return true;
}

static void note_formula(const struct capture *in, const struct subject *s,
	const struct op_cost *cost, const struct formula *f, double value)
{
	if (cost && !cost->source.p && f->text.p && isnan(value))
		diag_note(in->notes, in->keep, DIAG_HLO,
			"costs: %.*s: %.*s cannot be computed for %.*s: its operands do not fit",
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
		{ STR_INIT("f32f32_f32f32"), F32_FULL },
		{ STR_INIT("s1688"), F32_TF32 },
		{ STR_INIT("s1684"), F32_TF32 },
		{ STR_INIT("nvjet"), F32_TF32 },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!str_contains(kernel, parts[i].part))
			continue;
		w->passes = w->f32_units == parts[i].units ? w->passes : 1;
		w->f32_units = parts[i].units;
		return;
	}
}

/* By the program, unless the profile says more, unless the kernel is known. */
static void work_of(const struct capture *in, const struct swept *run, const struct subject *s,
	struct op_facts *f)
{
	enum dtype type = f->cost.dtype;
	/* The compiler counts products of complex numbers as real ones. */
	bool is_complex = dtype_of_parts(type) != type;
	double flops = is_complex ? (double)NAN : profile_flops(s);
	double bytes = partial_hbm_bytes(s, &f->cost);
	struct kernel_work kernel;

	f->work = estimate_work(s->kind, &f->cost);
	f->work.dtype = dtype_of(s, &f->cost);
	if (!isnan(flops) || s->async != ASYNC_NONE || s->kind == KIND_CONTROL)
		f->work.flops = flops;
	if (!isnan(bytes) || s->kind == KIND_CONTROL)
		f->work.hbm_bytes = bytes;
	if (f->cost.has_matmul && s->platform == PLATFORM_NVIDIA)
		f32_of_kernel(s->said.name, &f->work);
	f->source = isnan(flops) ? COST_OF_HLO : COST_OF_PROFILE;
	f->bound = isnan(flops) ? f->cost.flops_bound : COST_EXACT;
	if (s->instruction >= 0 &&
		kernel_work(in->kernels, s->program->hlo, s->instruction, &kernel)) {
		estimate_kernel(run->first ? &run->first->chip : NULL, &kernel, &f->work);
		note_formula(in, s, kernel.cost, &kernel.cost->bytes, kernel.bytes);
		note_formula(in, s, kernel.cost, &kernel.cost->flops, kernel.flops);
		f->source = kernel.has_flops ? kernel.source : f->source;
		f->bound = kernel.has_flops ? kernel.bound : f->bound;
	}
	if (isnan(f->work.flops))
		f->bound = COST_UNKNOWN;
}

void op_facts_of(const struct capture *in, const struct swept *run, const struct subject *s,
	struct op_facts *f)
{
	struct hlo_collective c;
	struct collective_time t;

	*f = (struct op_facts){ .cost = { .precision_passes = 1 }, .roof = roofline_unknown };
	if (s->instruction >= 0)
		f->cost = hlo_cost(s->program->costs, s->instruction);
	work_of(in, run, s, f);
	if (!run->first || !run->first->chip.chip)
		return;
	if (op_kind_is_collective(s->kind)) {
		if (s->async == ASYNC_NONE && collective_facts(in, run, s, &c, &t))
			f->roof = estimate_comms(&t);
	} else if (kind_has_roofline(s->kind) &&
		   (!isnan(f->work.flops) || s->async != ASYNC_NONE)) {
		struct roofline r = estimate_roofline(&run->first->chip, s->kind, &f->work);
		if (s->async != ASYNC_NONE) /* a half takes no such time, but what it sets off */
			f->roof.t_host_s = r.t_host_s;
		else if (!isnan(r.roofline_s))
			f->roof = r;
	}
}

/* Clean, and without the colon XProf puts behind a framework op. */
static struct str scope_of(const struct subject *s, struct arena *keep)
{
	const struct hlo_instruction *i = subject_instruction(s);
	struct str scope = i && i->op_name.len > 0 ? i->op_name : s->said.scope;

	if (str_ends(scope, STR(":")))
		scope = str_head(scope, scope.len - 1);
	return scope.len > 0 ? text_clean(keep, scope) : (struct str){ 0 };
}

/* The opcodes of a large fusion's parts are few; what is beyond says nothing new. */
enum { INSIDE_MAX = 64 };

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Missing where the op is no fusion, or nobody kept what it holds. */
static struct str inside_of(const struct subject *s, struct arena *keep)
{
	struct str texts[INSIDE_MAX];
	ptrdiff_t count = 0;
	const struct hlo_module *h = s->program->hlo;
	const struct hlo_instruction *op = subject_instruction(s);

	if (!op || op->op != HLO_FUSION || !op->called_count || op->called[0] < 0)
		return (struct str){ 0 };
	const struct hlo_computation *held = &h->computations[op->called[0]];
	for (ptrdiff_t i = held->first; i < held->first + held->count; i++) {
		struct str text = h->instructions[i].opcode;
		ptrdiff_t k = 0;
		while (k < count && !str_eq(texts[k], text))
			k++;
		if (k == count && k < INSIDE_MAX &&
			opcode_rule(h->instructions[i].op) != HLO_RULE_FREE)
			texts[count++] = text;
	}
	if (!count)
		return (struct str){ 0 };
	qsort(texts, (size_t)count, sizeof(*texts), by_text);
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s%.*s", i ? ", " : "", STR_ARG(texts[i]));
	return text_clean(keep, out_text(o));
}

static const struct str attribution_names[] = {
	[ATTRIBUTION_NONE] = STR_INIT("none"),
	[ATTRIBUTION_PROFILE] = STR_INIT("profile"),
	[ATTRIBUTION_NAME] = STR_INIT("name"),
	[ATTRIBUTION_EXACT] = STR_INIT("name"),
};
const struct str role_names[] = {
	[ROLE_STEP] = STR_INIT("step"),
	[ROLE_OTHER] = STR_INIT("other"),
	[ROLE_SERVING] = STR_INIT("serving"),
};

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
	const struct hlo_module *h = s->program->hlo;
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
static struct str copy_cause_of(const struct subject *s)
{
	if (s->kind == KIND_TRANSFER && s->async != ASYNC_NONE)
		return STR("offload");
	if (s->kind != KIND_COPY)
		return (struct str){ 0 };
	if (s->async != ASYNC_NONE)
		return STR("prefetch");
	if (s->instruction >= 0)
		return changes_layout(s) ? STR("layout") : STR("donation");
	return s->said.copy != COPY_NONE ? STR("d2d") : (struct str){ 0 };
}

/* The columns that ops and families share, computed once and copied to either row by name. */
struct op_measures {
	OP_MEASURES(ROW_TEXT, ROW_REAL)
};
#define COPY_COLUMN(name, words_or_unit, meaning) row->name = v.name;

static void executions_measure(const struct capture *in, const struct swept *run,
	const struct op_total *t, enum role role, struct op_measures *v)
{
	bool in_step = role == ROLE_STEP;
	double steps = in_step ? run->device_steps : run->windows_s / run->step_time_s;

	if (t->planned > 0) { /* of a program that has not run only this is known */
		v->count = 0;
		v->per_step = v->rate = in_step ? t->planned : 0;
		v->time_s = v->time_share = v->window_share = v->mean_s = v->p50_s = v->lo_s = NAN;
		v->hi_s = v->max_s = v->overlap_ratio = NAN;
		return;
	}
	v->count = (double)t->self.count;
	v->rate = steps > 0 ? v->count / steps : NAN;
	v->per_step = in_step ? v->rate : 0;
	v->time_s = (double)t->self.sum * PS;
	v->time_share = !in_step ? 0 : run->steady_s > 0 ? v->time_s / run->steady_s : NAN;
	v->window_share = run->windows_s > 0 ? v->time_s / run->windows_s : NAN;
	v->mean_s = v->time_s / v->count;
	v->p50_s = dist_quantile(&t->self, 0.5, *in->keep) * PS;
	dist_median_interval(&t->self, run->steps, *in->keep, &v->lo_s, &v->hi_s);
	v->lo_s *= PS;
	v->hi_s *= PS;
	v->max_s = (double)t->self.max * PS;
	/* What runs beside work outside the steps was not looked at. */
	v->overlap_ratio =
		in_step && t->self.sum > 0 ? (double)t->overlap_ps / (double)t->self.sum : NAN;
}

static const struct str cost_sources[] = {
	[COST_OF_HLO] = STR_INIT("hlo"),
	[COST_OF_PROFILE] = STR_INIT("profile"),
	[COST_OF_RULES] = STR_INIT("rules"),
	[COST_OF_KERNELS] = STR_INIT("kernels"),
	[COST_OF_AUTHOR] = STR_INIT("author"),
};

static void costs_measure(const struct op_facts *f, struct op_measures *v)
{
	v->flops = f->work.flops;
	v->hbm_bytes = f->work.hbm_bytes;
	v->logical_bytes = v->padded_bytes = NAN;
	if (f->cost.bytes_bound != COST_UNKNOWN && f->cost.logical_bytes > 0) {
		v->logical_bytes = f->cost.logical_bytes;
		v->padded_bytes = f->cost.padded_bytes;
	}
	v->padding_ratio = v->padded_bytes / v->logical_bytes;
	if (isnan(f->work.flops))
		return;
	v->flops_source = cost_sources[f->source];
	v->cost_bound = cost_bound_name(f->bound);
}

/* Work that is seen more than once can be expected again. */
static bool program_recurs(const struct swept *run, const struct program *p)
{
	bool recurs = p->role == ROLE_STEP;

	for (ptrdiff_t i = 0; i < run->device_count && !recurs; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		recurs = p->index < s->program_cap && s->programs[p->index].executions > 1;
	}
	return recurs;
}

/* `t` counts at least one execution, or one that is planned. */
static struct op_measures measures_of(const struct capture *in, const struct swept *run,
	const struct op_total *t, const struct op_facts *f, enum role role, double skew)
{
	struct op_measures v = { .role = role_names[role], .skew = skew };

	executions_measure(in, run, t, role, &v);
	costs_measure(f, &v);
	v.t_math_s = f->roof.t_math_s;
	v.t_hbm_s = f->roof.t_hbm_s;
	v.t_comms_s = f->roof.t_comms_s;
	v.t_host_s = f->roof.t_host_s;
	v.roofline_s = f->roof.roofline_s;
	/* What takes at least so long may well take what it took. */
	v.attainable_s = f->bound == COST_LOWER ? NAN : f->roof.attainable_s;
	v.efficiency = f->bound == COST_LOWER ? NAN : v.roofline_s / v.p50_s;
	v.gain_s = (v.p50_s - v.attainable_s) * v.per_step;
	if (v.gain_s < 0)
		v.gain_s = 0;
	if (f->roof.bound != BOUND_UNKNOWN)
		v.bound = bound_name(f->roof.bound);
	return v;
}

static void op_row(const struct capture *in, const struct swept *run, struct tables *tables,
	const struct subject *s, const struct op_total *t)
{
	struct ops_row *row = table_new(tables, ops, in->keep);
	const struct hlo_instruction *i = subject_instruction(s);
	struct op_facts f;
	struct op_source where;
	struct op_key_text key;

	op_facts_of(in, run, s, &f);
	op_source_of(in, s, &where);
	row->program = program_text(s->program, in->keep);
	row->module = s->program->module;
	row->name = s->name;
	if (i)
		row->opcode = text_clean(in->keep, i->opcode);
	row->inside = inside_of(s, in->keep);
	row->kind = op_kind_name(s->kind);
	if (s->said.category.len > 0)
		row->category = text_clean(in->keep, s->said.category);
	row->attribution = attribution_names[s->attribution];
	row->scope = scope_of(s, in->keep);
	row->source_file = where.file;
	row->source_line = where.line;
	row->user_file = where.user_file;
	row->user_line = where.user_line;
	row->dtype = f.work.dtype != DTYPE_INVALID ? dtype_name(f.work.dtype) : (struct str){ 0 };
	if (i)
		row->shape = text_clean(in->keep, shape_text(&i->shape, true, in->keep));
	else if (s->said.shape.len > 0)
		row->shape = text_clean(in->keep, s->said.shape);
	key = op_key_text(in, s, row->scope, &where);
	row->key = key.key;
	row->family = key.family;
	struct op_measures v =
		measures_of(in, run, t, &f, s->program->role, subject_skew(in, run, s->index));
	if (s->async != ASYNC_NONE)
		v.overlap_ratio = NAN; /* the pair's span tells, not its halves */
	v.recurs = program_recurs(run, s->program);
	OP_MEASURES(COPY_COLUMN, COPY_COLUMN)
	row->copy_cause = copy_cause_of(s);
	const struct op_cost *kernel = i ? kernel_find(in->kernels, i) : NULL;
	row->is_remat = (str_contains(row->scope, STR("rematted_computation")) ||
				str_contains(s->name, STR(".remat"))) &&
			!(kernel && kernel->gradient);
	row->is_async = s->async != ASYNC_NONE;
}

/* Of what has not run, the time it would take at its roofline. */
static double op_weight(const struct ops_row *op)
{
	double s = isnan(op->time_s) ? op->roofline_s * op->per_step : op->time_s;

	return isnan(s) ? 0 : s;
}

/* Rows of ops in sorted order keep their subjects beside them. */
struct op_order {
	struct ops_row row;
	const struct subject *subject;
};

/* By time, then by what does not depend on who came first. */
static int op_cmp(const void *a, const void *b)
{
	const struct ops_row *x = &((const struct op_order *)a)->row;
	const struct ops_row *y = &((const struct op_order *)b)->row;
	int c = order_numbers(op_weight(y), op_weight(x));

	c = c ? c : str_cmp(x->program, y->program);
	c = c ? c : str_cmp(x->module, y->module);
	c = c ? c : str_cmp(x->name, y->name);
	return c ? c : str_cmp(x->key, y->key);
}

static void ops_sort(
	const struct capture *in, struct tables *tables, const struct subject **subjects)
{
	ptrdiff_t n = table_count(tables, ops);
	struct ops_row *rows = table_rows(tables, ops);
	struct op_order *order = arena_make(in->keep, struct op_order, n);

	for (ptrdiff_t i = 0; i < n; i++)
		order[i] = (struct op_order){ rows[i], subjects[i] };
	if (n > 1)
		qsort(order, (size_t)n, sizeof(*order), op_cmp);
	for (ptrdiff_t i = 0; i < n; i++) {
		rows[i] = order[i].row;
		subjects[i] = order[i].subject;
	}
}

static void edges_fill(
	const struct capture *in, const struct op_rows *op_rows, struct tables *tables)
{
	for (ptrdiff_t i = 0; i < op_rows->count; i++) {
		const struct subject *s = op_rows->subjects[i];
		if (s->instruction < 0)
			continue;
		const struct hlo_module *h = s->program->hlo;
		const struct hlo_instruction *to = &h->instructions[s->instruction];
		for (ptrdiff_t k = 0; k < to->operand_count; k++) {
			if (to->operands[k] < 0 || table_count(tables, edges) >= EDGES_MAX)
				continue;
			ptrdiff_t from =
				hlo_walk(h, to->operands[k], THROUGH_BITCASTS | THROUGH_ELEMENTS);
			const struct subject *p =
				from < 0 ? NULL : registry_find(in->registry, s->program, from);
			if (!p || op_rows->at[p->index] < 0)
				continue;
			struct edges_row *row = table_new(tables, edges, in->keep);
			row->program = program_text(s->program, in->keep);
			row->producer = p->name;
			row->producer_kind = op_kind_name(p->kind);
			row->consumer = s->name;
			row->consumer_kind = op_kind_name(s->kind);
			row->key = op_rows->rows[i].key;
			row->bytes =
				(double)shape_padded_bytes(&h->instructions[to->operands[k]].shape);
		}
	}
}

/* Families: rows of ops alike in module, family, kind and role, summed; the heaviest names them. */

static void family_begin(const struct capture *in, struct tables *tables, const struct ops_row *op)
{
	struct families_row *row = table_new(tables, families, in->keep);

	row->module = op->module;
	row->family = op->family;
	row->name = op->name;
	row->key = op->key;
	row->opcode = op->opcode;
	row->kind = op->kind;
	row->scope = op->scope;
	row->source_file = op->source_file;
	row->source_line = op->source_line;
	row->user_file = op->user_file;
	row->user_line = op->user_line;
	row->dtype = op->dtype;
	row->shape = op->shape;
	row->copy_cause = op->copy_cause;
	row->members = 0;
}

struct family_sum {
	struct op_total total;
	struct op_facts facts;
	double skew;
	enum role role;
	bool recurs;
	bool halves; /* of pairs: their span tells how much overlaps */
};

static void families_fill(const struct capture *in, const struct swept *run,
	const struct op_rows *op_rows, struct tables *tables)
{
	const struct subject *const *subjects = op_rows->subjects;
	ptrdiff_t n = op_rows->count;
	struct family_sum *sums = arena_make(in->keep, struct family_sum, n);
	struct map index = { 0 };

	for (ptrdiff_t i = 0; i < n; i++) {
		const struct ops_row *op = &op_rows->rows[i];
		struct str key = arena_fmt(in->keep, "%.*s\n%.*s\n%.*s\n%d", STR_ARG(op->family),
			STR_ARG(op->module), STR_ARG(op->kind), (int)subjects[i]->program->role);
		int32_t next = (int32_t)table_count(tables, families);
		int32_t at = map_put(&index, key, next, in->keep);
		struct op_total t;

		subject_sum(in, run, subjects[i]->index, &t);
		if (at == next) {
			family_begin(in, tables, op);
			op_facts_of(in, run, subjects[i], &sums[at].facts);
			sums[at].skew = op->skew;
			sums[at].role = subjects[i]->program->role;
			sums[at].halves = op->is_async > 0;
		}
		struct families_row *row = &table_rows(tables, families)[at];
		row->members++;
		if (str_eq(op->copy_cause, STR("layout")))
			row->copy_cause = op->copy_cause;
		sums[at].recurs |= op->recurs > 0;
		sums[at].total.overlap_ps += t.overlap_ps;
		sums[at].total.planned += t.planned;
		dist_merge(&sums[at].total.self, in->keep, &t.self);
	}
	for (ptrdiff_t i = 0; i < table_count(tables, families); i++) {
		struct families_row *row = &table_rows(tables, families)[i];
		struct op_measures v = measures_of(
			in, run, &sums[i].total, &sums[i].facts, sums[i].role, sums[i].skew);
		v.recurs = sums[i].recurs;
		if (sums[i].halves)
			v.overlap_ratio = NAN;
		OP_MEASURES(COPY_COLUMN, COPY_COLUMN)
	}
}

struct op_rows fill_ops(const struct capture *in, const struct swept *run, struct tables *tables)
{
	ptrdiff_t n = registry_subject_count(in->registry), rows = 0;
	const struct subject **subjects = arena_make(in->keep, const struct subject *, n);

	for (ptrdiff_t i = 0; i < n; i++) {
		const struct subject *s = registry_subject_at(in->registry, i);
		struct op_total t;

		subject_sum(in, run, i, &t);
		if (t.self.count == 0 && !(t.planned > 0))
			continue;
		op_row(in, run, tables, s, &t);
		subjects[rows++] = s;
	}
	ops_sort(in, tables, subjects);
	int32_t *at = arena_make(in->keep, int32_t, n);
	for (ptrdiff_t i = 0; i < n; i++)
		at[i] = -1;
	for (ptrdiff_t i = 0; i < rows; i++)
		at[subjects[i]->index] = (int32_t)i;
	struct op_rows ret = { table_rows(tables, ops), subjects, rows, at };
	edges_fill(in, &ret, tables);
	families_fill(in, run, &ret, tables);
	return ret;
}
