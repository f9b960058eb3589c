/*
 * The cost of instructions and computations: one rule per opcode (see opcode.h), sums over what an
 * instruction calls, kept per computation.
 *
 * Recursion follows calls, whose depth the parser has limited to HLO_MAX_CALL_DEPTH.
 */
#include <math.h>

#include "hlo/work.h"

struct callee {
	bool has_work, has_traffic;
	struct work work;
	struct traffic traffic;
	struct footprint *footprint;
};

/* Taps of convolutions walked for one module, 0.4 s worth of them: a thousand convolutions of
 * batched matmuls take a tenth. */
#define TAP_BUDGET ((int64_t)1 << 24)

struct hlo_costs {
	const struct hlo_module *m;
	enum hlo_platform platform;
	struct arena *keep;
	int64_t taps;
	struct callee *callees;	 /* per computation */
	struct traffic **tuples; /* per instruction: all of its result, once somebody asked */
};

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

/* Views of views are few; the limit is for operands that go around in a ring. */
enum { MAX_VIEWS = 64 };

ptrdiff_t skip_views(const struct hlo_module *m, ptrdiff_t instruction)
{
	for (int n = 0; n < MAX_VIEWS; n++) {
		const struct hlo_instruction *i = &m->instructions[instruction];
		bool view = i->op == HLO_BITCAST || i->op == HLO_RESHAPE;
		if (!view || !i->operand_count || i->operands[0] < 0)
			break;
		instruction = i->operands[0];
	}
	return instruction;
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
		w->passes = more->passes;
	}
	w->has_matmul |= more->has_matmul;
	w->has_convolution |= more->has_convolution;
}

static struct work work_of(struct hlo_costs *costs, const struct hlo_instruction *i);

static const struct work no_work = { .bound = COST_EXACT, .passes = 1 };

static struct work work_of_callee(struct hlo_costs *costs, ptrdiff_t computation)
{
	struct callee *callee = &costs->callees[computation];
	if (callee->has_work)
		return callee->work;
	const struct hlo_computation *c = &costs->m->computations[computation];
	struct work sum = no_work;
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++) {
		struct work w = work_of(costs, &costs->m->instructions[i]);
		work_add(&sum, &w);
	}
	callee->has_work = true;
	callee->work = sum;
	return sum;
}

struct traffic traffic_of_callee(struct hlo_costs *costs, ptrdiff_t computation)
{
	struct callee *callee = &costs->callees[computation];
	if (callee->has_traffic)
		return callee->traffic;
	const struct hlo_computation *c = &costs->m->computations[computation];
	struct traffic sum = { .bound = COST_EXACT };
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++)
		traffic_of(costs, costs->m, costs->platform, &costs->m->instructions[i], &sum);
	callee->has_traffic = true;
	callee->traffic = sum;
	return sum;
}

const struct traffic *traffic_of_tuple(struct hlo_costs *costs, ptrdiff_t instruction)
{
	struct traffic *t = costs->tuples[instruction];
	if (t)
		return t;
	t = costs->tuples[instruction] = arena_make(costs->keep, struct traffic, 1);
	t->bound = COST_EXACT;
	traffic_of_result(
		costs, costs->m, costs->platform, &costs->m->instructions[instruction], t);
	return t;
}

const struct footprint *footprint_of(struct hlo_costs *costs, ptrdiff_t computation)
{
	struct callee *callee = &costs->callees[computation];
	if (!callee->footprint)
		callee->footprint = footprint_make(costs, costs->m, computation, costs->keep);
	return callee->footprint;
}

/* A rule's view of one instruction. */
struct rule {
	struct hlo_costs *costs;
	const struct hlo_instruction *i;
	struct work *w;
};

static double elements(const struct shape *s, struct work *w)
{
	int64_t n = s ? shape_elements(s) : INT64_MAX;
	if (n != INT64_MAX)
		return (double)n;
	w->bound = COST_UNKNOWN;
	return 0;
}

/* Of results that are tuples of equals (a reduction of several arrays), the first. */
static double result_elements(const struct rule *r)
{
	return elements(shape_leaf(&r->i->shape, 0), r->w);
}

static double operand_elements(const struct rule *r, ptrdiff_t k)
{
	return elements(operand_shape(r->costs->m, r->i, k), r->w);
}

static struct matmul_context context(const struct rule *r)
{
	return (struct matmul_context){ r->costs->m, r->costs->platform, r->costs->keep,
		&r->costs->taps };
}

static void rule_none(const struct rule *r)
{
	(void)r;
}

static void rule_unknown(const struct rule *r)
{
	r->w->bound = COST_UNKNOWN;
}

static void rule_elementwise(const struct rule *r)
{
	r->w->other += result_elements(r);
}

static void rule_transcendental(const struct rule *r)
{
	r->w->transcendental += elements(&r->i->shape, r->w);
}

static void rule_dot(const struct rule *r)
{
	struct matmul_context c = context(r);
	work_dot(&c, r->i, r->w);
}

static void rule_ragged_dot(const struct rule *r)
{
	struct matmul_context c = context(r);
	work_ragged_dot(&c, r->i, r->w);
}

static void rule_convolution(const struct rule *r)
{
	struct matmul_context c = context(r);
	work_convolution(&c, r->i, r->w);
}

static void rule_custom_call(const struct rule *r)
{
	const struct library *l = library_find(r->i->custom_call_target);
	struct matmul_context c = context(r);
	if (l->work)
		l->work(&c, r->i, r->w);
	else if (!l->is_free)
		rule_unknown(r);
}

/* What is called, `times` over. */
static void apply(const struct rule *r, double times)
{
	struct work w = no_work;
	w.bound = COST_UNKNOWN;
	if (r->i->called_count && r->i->called[0] >= 0)
		w = work_of_callee(r->costs, r->i->called[0]);
	w.matmul *= times;
	w.other *= times;
	w.transcendental *= times;
	work_add(r->w, &w);
}

static void rule_reduce(const struct rule *r)
{
	double in = operand_elements(r, 0), out = result_elements(r);
	apply(r, in > out ? in - out : 0);
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

static void rule_window(const struct rule *r)
{
	double window = 1, out = result_elements(r);
	const struct shape *in = operand_shape(r->costs->m, r->i, 0);
	for (ptrdiff_t k = 0; k < r->i->window_rank; k++) {
		const struct hlo_window_dim *d = &r->i->window[k];
		window *= is_running(d, in, k) ? 2 : (double)d->size;
	}
	if (window > 1)
		apply(r, (window - 1) * out);
}

static void rule_select_scatter(const struct rule *r)
{
	double window = 1, from = operand_elements(r, 1);
	for (ptrdiff_t k = 0; k < r->i->window_rank; k++)
		window *= (double)r->i->window[k].size;
	if (window > 0)
		r->w->other += from * window; /* compare within the window, then add once */
}

static void rule_scatter(const struct rule *r)
{
	ptrdiff_t n = (r->i->operand_count - 1) / 2;
	apply(r, operand_elements(r, n + 1));
}

static void rule_map(const struct rule *r)
{
	apply(r, result_elements(r));
}

static void rule_sort(const struct rule *r)
{
	double n = operand_elements(r, 0);
	if (n > 1)
		r->w->other += n * ceil(log2(n));
}

static void rule_all_reduce(const struct rule *r)
{
	r->w->other += elements(&r->i->shape, r->w);
}

static int64_t last_dim(const struct shape *s)
{
	return s && s->rank ? s->dims[s->rank - 1] : 0;
}

/* Along the last dimension; more dimensions cost more, so this is no upper limit either. */
static void rule_fft(const struct rule *r)
{
	const struct shape *in = operand_shape(r->costs->m, r->i, 0);
	int64_t n = last_dim(in);
	if (n > 1)
		r->w->other += 8 * elements(in, r->w) * log2((double)n);
	r->w->bound = worse(r->w->bound, COST_UPPER);
}

static void rule_cholesky(const struct rule *r)
{
	const struct shape *in = operand_shape(r->costs->m, r->i, 0);
	r->w->other += elements(in, r->w) * (double)last_dim(in) / 3;
}

static void rule_triangular(const struct rule *r)
{
	const struct shape *in = operand_shape(r->costs->m, r->i, 0);
	r->w->other += 2 * elements(&r->i->shape, r->w) * (double)last_dim(in);
}

static void rule_call(const struct rule *r)
{
	for (ptrdiff_t k = 0; k < r->i->called_count; k++) {
		struct work w = { .bound = COST_UNKNOWN };
		if (r->i->called[k] >= 0)
			w = work_of_callee(r->costs, r->i->called[k]);
		work_add(r->w, &w);
	}
}

static void rule_fusion(const struct rule *r)
{
	if (!r->i->called_count)
		rule_unknown(r);
	rule_call(r);
}

static double weight(const struct work *w)
{
	return w->matmul + w->other + w->transcendental;
}

static void rule_conditional(const struct rule *r)
{
	struct work most = no_work;
	for (ptrdiff_t k = 0; k < r->i->called_count; k++) {
		struct work w = { .bound = COST_UNKNOWN };
		if (r->i->called[k] >= 0)
			w = work_of_callee(r->costs, r->i->called[k]);
		enum cost_bound bound = worse(most.bound, w.bound);
		if (weight(&w) > weight(&most))
			most = w;
		most.bound = bound;
	}
	work_add(r->w, &most);
}

static void (*const rules[HLO_RULE_COUNT])(const struct rule *) = {
	[HLO_RULE_UNKNOWN] = rule_unknown,
	[HLO_RULE_ELEMENTWISE] = rule_elementwise,
	[HLO_RULE_TRANSCENDENTAL] = rule_transcendental,
	[HLO_RULE_DOT] = rule_dot,
	[HLO_RULE_RAGGED_DOT] = rule_ragged_dot,
	[HLO_RULE_CONVOLUTION] = rule_convolution,
	[HLO_RULE_CUSTOM_CALL] = rule_custom_call,
	[HLO_RULE_REDUCE] = rule_reduce,
	[HLO_RULE_WINDOW] = rule_window,
	[HLO_RULE_SELECT_SCATTER] = rule_select_scatter,
	[HLO_RULE_SCATTER] = rule_scatter,
	[HLO_RULE_MAP] = rule_map,
	[HLO_RULE_SORT] = rule_sort,
	[HLO_RULE_ALL_REDUCE] = rule_all_reduce,
	[HLO_RULE_FFT] = rule_fft,
	[HLO_RULE_CHOLESKY] = rule_cholesky,
	[HLO_RULE_TRIANGULAR] = rule_triangular,
	[HLO_RULE_BATCH_NORM] = rule_unknown,
	[HLO_RULE_FUSION] = rule_fusion,
	[HLO_RULE_CALL] = rule_call,
	[HLO_RULE_WRAPPER] = rule_call,
	[HLO_RULE_CONDITIONAL] = rule_conditional,
};

static struct work work_of(struct hlo_costs *costs, const struct hlo_instruction *i)
{
	struct work w = no_work;
	struct rule r = { costs, i, &w };
	void (*rule)(const struct rule *) = rules[opcode_rule(i->op)];
	(rule ? rule : rule_none)(&r);
	if (i->shape.is_dynamic)
		w.bound = worse(w.bound, COST_UPPER);
	return w;
}

struct hlo_cost hlo_cost(struct hlo_costs *costs, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &costs->m->instructions[instruction];
	struct work w = work_of(costs, i);
	struct traffic t = { .bound = COST_EXACT };
	traffic_of(costs, costs->m, costs->platform, i, &t);
	return (struct hlo_cost){
		.flops_bound = isfinite(weight(&w)) ? w.bound : COST_UNKNOWN,
		.bytes_bound = t.bound,
		.flops = w.has_matmul ? w.matmul : w.other,
		.matmul_flops = w.matmul,
		.other_flops = w.other,
		.transcendentals = w.transcendental,
		.dtype = w.dtype,
		.precision_passes = w.passes,
		.hbm_bytes = t.hbm,
		.hbm_padded_bytes = t.hbm_padded,
		.host_bytes = t.host,
		.logical_bytes = t.logical,
		.padded_bytes = t.padded,
		.has_matmul = w.has_matmul,
		.has_convolution = w.has_convolution,
	};
}
