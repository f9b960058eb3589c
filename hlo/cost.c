/*
 * The cost of instructions and computations: one rule per opcode (see opcode.h), sums over what an
 * instruction calls, kept per computation.
 *
 * Recursion follows calls, whose depth the parser has limited to HLO_MAX_CALL_DEPTH.
 */
#include <math.h>

#include "hlo/work.h"

/* Taps of convolutions walked for one module, 0.4 s worth of them: a thousand convolutions of
 * batched matmuls take a tenth. */
#define TAP_BUDGET ((int64_t)1 << 24)

struct str cost_bound_name(enum cost_bound b)
{
	static const struct str names[] = { [COST_EXACT] = STR_INIT("exact"),
		[COST_UPPER] = STR_INIT("upper"),
		[COST_LOWER] = STR_INIT("lower") };
	return names[b];
}

struct hlo_costs *hlo_costs_new(
	const struct hlo_module *m, enum hlo_platform platform, struct arena *keep)
{
	struct hlo_costs *costs = arena_make(keep, struct hlo_costs, 1);
	*costs = (struct hlo_costs){
		.m = m, .platform = platform, .keep = keep, .taps = TAP_BUDGET
	};
	costs->callees = arena_make(keep, struct callee, m->computation_count);
	costs->tuples = arena_make(keep, struct traffic *, m->instruction_count);
	return costs;
}

const struct hlo_instruction *operand_at(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k)
{
	if (k >= i->operand_count || i->operands[k] < 0)
		return NULL;
	return &m->instructions[i->operands[k]];
}

const struct shape *operand_shape(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k)
{
	const struct hlo_instruction *operand = operand_at(m, i, k);
	return operand ? &operand->shape : NULL;
}

const struct shape *hlo_operand_array(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t operand)
{
	const struct shape *whole = operand_shape(m, i, operand);
	return whole ? shape_leaf(whole, 0) : NULL;
}

bool hlo_knows_operands(const struct hlo_instruction *i)
{
	for (ptrdiff_t k = 0; k < i->operand_count; k++)
		if (i->operands[k] < 0)
			return false;
	return true;
}

const struct hlo_computation *called_at(
	const struct hlo_module *m, const struct hlo_instruction *i, ptrdiff_t k)
{
	if (k >= i->called_count || i->called[k] < 0)
		return NULL;
	return &m->computations[i->called[k]];
}

static void work_add(struct work *w, const struct work *more)
{
	w->matmul += more->matmul;
	w->other += more->other;
	w->transcendental += more->transcendental;
	w->bound = worse(w->bound, more->bound);
	if (more->has_matmul && (more->heaviest > w->heaviest || !w->has_matmul)) {
		w->heaviest = more->heaviest;
		w->dtype = more->dtype;
		w->f32 = more->f32;
	}
	w->has_matmul |= more->has_matmul;
	w->has_convolution |= more->has_convolution;
}

static const struct work no_work = { .bound = COST_EXACT, .f32 = { F32_ANY, 1 } };

/* ---- sums over what is called, kept per computation ------------------------------------------ */

static void work_instruction(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w);
static void traffic_instruction(
	struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t);

static struct work work_of_callee(struct hlo_costs *c, ptrdiff_t computation)
{
	const struct hlo_computation *called = &c->m->computations[computation];
	struct callee *callee = &c->callees[computation];
	struct work sum = no_work;
	for (ptrdiff_t k = 0; !callee->has_work && k < called->count; k++)
		work_instruction(c, &c->m->instructions[called->first + k], &sum);
	if (!callee->has_work)
		callee->work = sum;
	callee->has_work = true;
	return callee->work;
}

struct traffic traffic_of_callee(struct hlo_costs *c, ptrdiff_t computation)
{
	const struct hlo_computation *called = &c->m->computations[computation];
	struct callee *callee = &c->callees[computation];
	struct traffic sum = { .bound = COST_EXACT };
	for (ptrdiff_t k = 0; !callee->has_traffic && k < called->count; k++)
		traffic_instruction(c, &c->m->instructions[called->first + k], &sum);
	if (!callee->has_traffic)
		callee->traffic = sum;
	callee->has_traffic = true;
	return callee->traffic;
}

const struct footprint *footprint_of(struct hlo_costs *c, ptrdiff_t computation)
{
	struct callee *callee = &c->callees[computation];
	if (!callee->footprint)
		callee->footprint = footprint_make(c, computation);
	return callee->footprint;
}

static struct work work_of_call(struct hlo_costs *c, const struct hlo_instruction *i, ptrdiff_t k)
{
	const struct work unknown = { .bound = COST_UNKNOWN };
	return k < i->called_count && i->called[k] >= 0 ? work_of_callee(c, i->called[k]) : unknown;
}

/* ---- how rules count FLOPs ------------------------------------------------------------------- */

static double elements(const struct shape *s, struct work *w)
{
	int64_t n = s ? shape_elements(s) : INT64_MAX;
	if (n != INT64_MAX)
		return (double)n;
	w->bound = COST_UNKNOWN;
	return 0;
}

/* Of results that are tuples of equals (a reduction of several arrays), the first. */
static double result_elements(const struct hlo_instruction *i, struct work *w)
{
	return elements(shape_leaf(&i->shape, 0), w);
}

void work_unknown(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	(void)c;
	(void)i;
	w->bound = COST_UNKNOWN;
}

static void work_elementwise(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	(void)c;
	w->other += elements(&i->shape, w);
}

static void work_transcendental(
	struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	(void)c;
	w->transcendental += elements(&i->shape, w);
}

static void work_custom_call(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct library *l = library_find(i->custom_call_target);
	if (l->work)
		l->work(c, i, w);
	else if (!l->is_free)
		w->bound = COST_UNKNOWN;
}

/* What is called, `times` over. */
static void apply(
	struct hlo_costs *c, const struct hlo_instruction *i, double times, struct work *w)
{
	struct work more = work_of_call(c, i, 0);
	more.matmul *= times;
	more.other *= times;
	more.transcendental *= times;
	work_add(w, &more);
}

static void work_map(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	apply(c, i, result_elements(i, w), w);
}

static void work_reduce(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	double in = elements(operand_shape(c->m, i, 0), w), out = result_elements(i, w);
	apply(c, i, in > out ? in - out : 0, w);
}

/*
 * A window as wide as the array is how running sums and row maxima are written; whatever its
 * padding, it is computed along the dimension once and not anew for every element.
 */
static bool is_running(const struct hlo_window_dim *d, const struct shape *in, ptrdiff_t k)
{
	return in && k < in->rank && d->size >= in->dims[k] && d->size > 1 && d->stride == 1 &&
	       d->window_dilation == 1 && d->base_dilation == 1;
}

static void work_window(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	double window = 1, out = result_elements(i, w);
	const struct shape *in = operand_shape(c->m, i, 0);
	for (ptrdiff_t k = 0; k < i->window_rank; k++)
		window *= is_running(&i->window[k], in, k) ? 2 : (double)i->window[k].size;
	if (window > 1)
		apply(c, i, (window - 1) * out, w);
}

/* Compare within the window, then add once. */
static void work_select_scatter(
	struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	double window = 1, from = elements(operand_shape(c->m, i, 1), w);
	for (ptrdiff_t k = 0; k < i->window_rank; k++)
		window *= (double)i->window[k].size;
	if (window > 0)
		w->other += from * window;
}

static void work_scatter(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	ptrdiff_t arrays = (i->operand_count - 1) / 2;
	apply(c, i, elements(operand_shape(c->m, i, arrays + 1), w), w);
}

static void work_sort(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	double n = elements(operand_shape(c->m, i, 0), w);
	if (n > 1)
		w->other += n * ceil(log2(n));
}

static int64_t last_dim(const struct shape *s)
{
	return s && s->rank ? s->dims[s->rank - 1] : 0;
}

/* Along the last dimension; more dimensions cost more, so this is no upper limit either. */
static void work_fft(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct shape *in = operand_shape(c->m, i, 0);
	int64_t n = last_dim(in);
	if (n > 1)
		w->other += 8 * elements(in, w) * log2((double)n);
	w->bound = worse(w->bound, COST_UPPER);
}

static void work_cholesky(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct shape *in = operand_shape(c->m, i, 0);
	w->other += elements(in, w) * (double)last_dim(in) / 3;
}

static void work_triangular(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	w->other += 2 * elements(&i->shape, w) * (double)last_dim(operand_shape(c->m, i, 0));
}

static void work_call(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		struct work more = work_of_call(c, i, k);
		work_add(w, &more);
	}
}

static void work_fusion(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	if (!i->called_count)
		w->bound = COST_UNKNOWN;
	work_call(c, i, w);
}

static double weight(const struct work *w)
{
	return w->matmul + w->other + w->transcendental;
}

static void work_heaviest(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	struct work most = no_work;
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		struct work more = work_of_call(c, i, k);
		enum cost_bound bound = worse(most.bound, more.bound);
		if (weight(&more) > weight(&most))
			most = more;
		most.bound = bound;
	}
	work_add(w, &most);
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* NULL: no FLOPs, no bytes. */
static const struct {
	work_fn *work;
	traffic_fn *traffic;
} rules[HLO_RULE_COUNT] = {
	[HLO_RULE_UNKNOWN] = { work_unknown, touch_unknown },
	[HLO_RULE_FREE] = { NULL, NULL },
	[HLO_RULE_DONE] = { NULL, NULL },
	[HLO_RULE_MOVE] = { NULL, touch_all },
	[HLO_RULE_GENERATE] = { NULL, touch_result },
	[HLO_RULE_SLICE] = { NULL, touch_slice },
	[HLO_RULE_UPDATE] = { NULL, touch_update },
	[HLO_RULE_ELEMENTWISE] = { work_elementwise, touch_all },
	[HLO_RULE_TRANSCENDENTAL] = { work_transcendental, touch_all },
	[HLO_RULE_DOT] = { work_dot, touch_all },
	[HLO_RULE_RAGGED_DOT] = { work_ragged_dot, touch_all },
	[HLO_RULE_CONVOLUTION] = { work_convolution, touch_all },
	[HLO_RULE_CUSTOM_CALL] = { work_custom_call, touch_library },
	[HLO_RULE_REDUCE] = { work_reduce, touch_all },
	[HLO_RULE_WINDOW] = { work_window, touch_all },
	[HLO_RULE_SELECT_SCATTER] = { work_select_scatter, touch_all },
	[HLO_RULE_SCATTER] = { work_scatter, touch_scatter },
	[HLO_RULE_MAP] = { work_map, touch_all },
	[HLO_RULE_SORT] = { work_sort, touch_all },
	[HLO_RULE_FFT] = { work_fft, touch_all },
	[HLO_RULE_CHOLESKY] = { work_cholesky, touch_all },
	[HLO_RULE_TRIANGULAR] = { work_triangular, touch_all },
	[HLO_RULE_BATCH_NORM] = { work_unknown, touch_all },
	[HLO_RULE_FUSION] = { work_fusion, touch_fusion },
	[HLO_RULE_CALL] = { work_call, touch_callees },
	[HLO_RULE_CONDITIONAL] = { work_heaviest, touch_heaviest },
};

static void work_instruction(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	struct work own = no_work;
	work_fn *work = rules[opcode_rule(i->op)].work;
	if (work)
		work(c, i, &own);
	if (i->shape.is_dynamic)
		own.bound = worse(own.bound, COST_UPPER);
	work_add(w, &own);
}

/* What these move in or out of HBM goes over to the host, or comes from it. */
static bool is_with_host(const struct hlo_instruction *i, enum hlo_platform platform)
{
	bool feeds = i->op == HLO_INFEED || i->op == HLO_OUTFEED;
	bool sends = i->is_host_transfer && (i->op == HLO_SEND || i->op == HLO_RECV);
	return (feeds || sends) && platform != HLO_CPU;
}

static void traffic_instruction(
	struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	traffic_fn *traffic = rules[opcode_rule(i->op)].traffic;
	double before = t->hbm;
	if (traffic)
		traffic(c, i, t);
	if (is_with_host(i, c->platform))
		t->host += t->hbm - before;
}

struct hlo_cost hlo_cost(struct hlo_costs *costs, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &costs->m->instructions[instruction];
	struct work w = no_work;
	struct traffic t = { .bound = COST_EXACT };
	work_instruction(costs, i, &w);
	traffic_instruction(costs, i, &t);
	return (struct hlo_cost){
		.flops_bound = isfinite(weight(&w)) ? w.bound : COST_UNKNOWN,
		.bytes_bound = t.bound,
		.flops = w.has_matmul ? w.matmul : w.other,
		.matmul_flops = w.matmul,
		.other_flops = w.other,
		.transcendentals = w.transcendental,
		.dtype = w.dtype,
		.precision_passes = w.f32.passes,
		.f32_units = w.f32.units,
		.hbm_bytes = t.hbm,
		.hbm_padded_bytes = t.hbm_padded,
		.host_bytes = t.host,
		.logical_bytes = t.logical,
		.padded_bytes = t.padded,
		.has_matmul = w.has_matmul,
		.has_convolution = w.has_convolution,
	};
}
