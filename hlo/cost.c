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

static struct work work_of_instruction(struct hlo_costs *c, const struct hlo_instruction *i);

static struct work work_of_call(struct hlo_costs *c, const struct hlo_instruction *i, ptrdiff_t k)
{
	const struct hlo_computation *called = called_at(c->m, i, k);
	if (!called)
		return (struct work){ .bound = COST_UNKNOWN };
	struct callee *callee = &c->callees[i->called[k]];
	if (callee->has_work)
		return callee->work;
	struct work sum = no_work;
	for (ptrdiff_t n = 0; n < called->count; n++) {
		struct work one = work_of_instruction(c, &c->m->instructions[called->first + n]);
		work_add(&sum, &one);
	}
	callee->has_work = true;
	return callee->work = sum;
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

/*
 * A window as wide as the array is how running sums and row maxima are written; whatever its
 * padding, it is computed along the dimension once and not anew for every element.
 */
static bool is_running(const struct hlo_window_dim *d, const struct shape *in, ptrdiff_t k)
{
	return in && k < in->rank && d->size >= in->dims[k] && d->size > 1 && d->stride == 1 &&
	       d->window_dilation == 1 && d->base_dilation == 1;
}

static int64_t last_dim(const struct shape *s)
{
	return s && s->rank ? s->dims[s->rank - 1] : 0;
}

/* One dimension after the other, each in log2 of its length; XLA multiplies the logarithms. */
static double fft_passes(const struct hlo_instruction *i, const struct shape *in)
{
	double points = i->fft_length.count ? 1 : (double)last_dim(in);
	for (ptrdiff_t k = 0; k < i->fft_length.count; k++)
		points *= (double)i->fft_length.items[k];
	return points > 1 ? log2(points) : 0;
}

static double weight(const struct work *w)
{
	return w->matmul + w->other + w->transcendental;
}

/* Of all it calls the sum; of a conditional the heaviest. */
static void work_calls(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	struct work most = no_work;
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		struct work more = work_of_call(c, i, k);
		enum cost_bound bound = worse(most.bound, more.bound);
		if (opcode_rule(i->op) != HLO_RULE_CONDITIONAL)
			work_add(&most, &more);
		else if (weight(&more) > weight(&most))
			most = more;
		most.bound = bound;
	}
	work_add(w, &most);
}

/*
 * A reduction calls its computation for each element of a window but the first.  A scatter compares
 * within the window, then adds once.
 */
static void work_windows(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct shape *in = operand_shape(c->m, i, 0);
	bool selects = opcode_rule(i->op) == HLO_RULE_SELECT_SCATTER;
	double n = elements(selects ? operand_shape(c->m, i, 1) : shape_leaf(&i->shape, 0), w);
	double window = 1;
	for (ptrdiff_t k = 0; k < i->window_rank; k++)
		window *= !selects && is_running(&i->window[k], in, k) ? 2
								       : (double)i->window[k].size;
	if (selects && window > 0)
		w->other += n * window;
	else if (!selects && window > 1)
		apply(c, i, (window - 1) * n, w);
}

/* Rules that multiply are in matmul.c and library.c.  style: one switch */
static void work_by_rule(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct shape *in = operand_shape(c->m, i, 0);
	/* Of results that are tuples of equals (a reduction of several arrays), the first. */
	const struct shape *out = shape_leaf(&i->shape, 0);
	const struct library *l;
	double n;
	switch (opcode_rule(i->op)) {
	case HLO_RULE_UNKNOWN:
	case HLO_RULE_BATCH_NORM:
	case HLO_RULE_COUNT:
		w->bound = COST_UNKNOWN;
		break;
	case HLO_RULE_FREE:
	case HLO_RULE_DONE:
	case HLO_RULE_MOVE:
	case HLO_RULE_GENERATE:
	case HLO_RULE_SLICE:
	case HLO_RULE_UPDATE:
		break;
	case HLO_RULE_ELEMENTWISE:
		w->other += elements(&i->shape, w);
		break;
	case HLO_RULE_TRANSCENDENTAL:
		w->transcendental += elements(&i->shape, w);
		break;
	case HLO_RULE_DOT:
		work_dot(c, i, w);
		break;
	case HLO_RULE_RAGGED_DOT:
		work_ragged_dot(c, i, w);
		break;
	case HLO_RULE_CONVOLUTION:
		work_convolution(c, i, w);
		break;
	case HLO_RULE_CUSTOM_CALL:
		l = library_find(i->custom_call_target);
		if (l->work ? !l->work(c, i, l, w) : !l->is_free)
			w->bound = COST_UNKNOWN;
		break;
	case HLO_RULE_MAP:
		apply(c, i, elements(out, w), w);
		break;
	case HLO_RULE_REDUCE:
		n = elements(in, w) - elements(out, w);
		apply(c, i, n > 0 ? n : 0, w);
		break;
	case HLO_RULE_WINDOW:
	case HLO_RULE_SELECT_SCATTER:
		work_windows(c, i, w);
		break;
	case HLO_RULE_SCATTER: /* of arrays, indices and updates, as many updates as arrays */
		apply(c, i, elements(operand_shape(c->m, i, (i->operand_count - 1) / 2 + 1), w), w);
		break;
	case HLO_RULE_SORT:
		n = elements(in, w);
		if (n > 1)
			w->other += n * ceil(log2(n));
		break;
	case HLO_RULE_FFT: /* four fused multiply-adds; better algorithms take fewer */
		w->other += 8 * elements(in, w) * fft_passes(i, in);
		w->bound = worse(w->bound, COST_UPPER);
		break;
	case HLO_RULE_CHOLESKY:
		w->other += elements(in, w) * (double)last_dim(in) / 3;
		break;
	case HLO_RULE_TRIANGULAR: /* half a row of products and sums; XLA counts all of it */
		w->other += elements(&i->shape, w) * (double)last_dim(in);
		break;
	case HLO_RULE_FUSION:
		if (!i->called_count)
			w->bound = COST_UNKNOWN;
		work_calls(c, i, w);
		break;
	case HLO_RULE_CALL:
	case HLO_RULE_CONDITIONAL:
		work_calls(c, i, w);
		break;
	}
}

static struct work work_of_instruction(struct hlo_costs *c, const struct hlo_instruction *i)
{
	struct work w = no_work;
	work_by_rule(c, i, &w);
	if (i->shape.is_dynamic)
		w.bound = worse(w.bound, COST_UPPER);
	return w;
}

struct hlo_cost hlo_cost(struct hlo_costs *costs, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &costs->m->instructions[instruction];
	struct work w = work_of_instruction(costs, i);
	struct traffic t = { .bound = COST_EXACT };
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
