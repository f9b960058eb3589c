/*
 * Dots and convolutions as they stand in a program: their FLOPs, the number format that decides
 * which peak applies, and how many passes a TPU needs for more than bf16 precision.
 */
#include <math.h>

#include "hlo/work.h"

/* The number format the units see: of mixed operands the wider, which the narrower becomes. */
static enum dtype wider(enum dtype a, enum dtype b)
{
	return dtype_bits(b) > dtype_bits(a) ? b : a;
}

void matmul_add(struct work *w, double flops, enum dtype lhs, enum dtype rhs, struct f32_way f32,
	enum cost_bound bound)
{
	w->has_matmul = true;
	enum dtype type = wider(lhs, rhs);
	if (isnan(flops))
		bound = COST_UNKNOWN;
	if (dtype_of_parts(type) != type) /* a product of complex numbers is four of real ones */
		flops *= 4;
	w->bound = worse(w->bound, bound);
	if (bound == COST_UNKNOWN)
		flops = 0;
	w->matmul += flops;
	if (flops > w->heaviest || w->dtype == DTYPE_INVALID) {
		w->heaviest = flops;
		w->dtype = type;
		w->f32 = f32;
	}
}

/* PrecisionConfig.Algorithm -> what multiplies, and how often for one product in the source. */
static const struct f32_way algorithms[] = {
	[5] = { F32_BF16, 1 },	/* BF16_BF16_BF16 */
	[6] = { F32_BF16, 1 },	/* BF16_BF16_F32 */
	[7] = { F32_BF16, 3 },	/* BF16_BF16_F32_X3 */
	[8] = { F32_BF16, 6 },	/* BF16_BF16_F32_X6 */
	[9] = { F32_TF32, 1 },	/* TF32_TF32_F32 */
	[10] = { F32_TF32, 3 }, /* TF32_TF32_F32_X3 */
	[11] = { F32_FULL, 6 }, /* F32_F32_F32: a TPU has bf16 alone */
	[13] = { F32_BF16, 9 }, /* BF16_BF16_F32_X9 */
};

static int operand_passes(const struct hlo_dims *precision)
{
	static const int passes[] = { 1, 3, 6 }; /* DEFAULT, HIGH, HIGHEST */
	int most = 1;
	for (ptrdiff_t i = 0; i < precision->count; i++)
		if (precision->items[i] >= 0 && precision->items[i] < 3 &&
			passes[precision->items[i]] > most)
			most = passes[precision->items[i]];
	return most;
}

struct f32_way f32_way_of(
	const struct hlo_instruction *i, enum dtype operands, enum hlo_platform platform)
{
	if (platform == HLO_CPU || dtype_of_parts(operands) != DTYPE_F32)
		return (struct f32_way){ F32_ANY, 1 };
	if (i->algorithm > 0 && i->algorithm < COUNT_OF(algorithms) &&
		algorithms[i->algorithm].passes)
		return algorithms[i->algorithm];
	return (struct f32_way){ F32_ANY, operand_passes(&i->precision) };
}

static void add(const struct hlo_costs *c, const struct hlo_instruction *i, struct work *w,
	double flops, enum cost_bound bound)
{
	const struct shape *lhs = operand_shape(c->m, i, 0), *rhs = operand_shape(c->m, i, 1);
	enum dtype a = lhs ? lhs->dtype : DTYPE_INVALID, b = rhs ? rhs->dtype : DTYPE_INVALID;
	if (i->shape.is_dynamic || (lhs && lhs->is_dynamic))
		bound = worse(bound, COST_UPPER);
	matmul_add(w, flops, a, b, f32_way_of(i, wider(a, b), c->platform), bound);
}

static double flops_of_dot(const struct hlo_costs *c, const struct hlo_instruction *i)
{
	const struct shape *lhs = operand_shape(c->m, i, 0);
	return lhs && i->dot ? dot_flops(&i->shape, lhs, i->dot) : NAN;
}

void work_dot(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	add(c, i, w, flops_of_dot(c, i), COST_EXACT);
}

/*
 * Groups share out one dimension of the left side between them.  When that is a contracting one,
 * every group has a result of its own, and all of them together do the work of one.
 */
void work_ragged_dot(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	double flops = flops_of_dot(c, i);
	const struct shape *sizes = operand_shape(c->m, i, 2);
	bool contracts = false;
	for (ptrdiff_t k = 0; i->dot && k < i->dot->lhs_contracting.count; k++)
		contracts |= i->dot->lhs_ragged.count == 1 &&
			     i->dot->lhs_contracting.items[k] == i->dot->lhs_ragged.items[0];
	if (contracts && sizes)
		flops /= (double)shape_elements(sizes);
	add(c, i, w, flops, COST_UPPER); /* group sizes need not fill the dimension */
}

void work_convolution(struct hlo_costs *c, const struct hlo_instruction *i, struct work *w)
{
	const struct convolution x = { operand_shape(c->m, i, 0), operand_shape(c->m, i, 1),
		&i->shape, i };
	double flops = NAN;
	if (x.in && x.kernel && i->convolution)
		flops = convolution_flops(&x, &c->taps);
	add(c, i, w, flops, COST_EXACT);
	w->has_convolution |= is_real_convolution(c->m, i);
}

static double dims_product(const struct shape *s, const struct hlo_dims *dims)
{
	double product = 1;
	for (ptrdiff_t i = 0; i < dims->count; i++) {
		if (dims->items[i] < 0 || dims->items[i] >= s->rank)
			return NAN;
		product *= (double)s->dims[dims->items[i]];
	}
	return product;
}

static struct hlo_product dot_product(
	const struct hlo_dot *d, const struct shape *lhs, const struct shape *rhs)
{
	struct hlo_product p = { .batch = dims_product(lhs, &d->lhs_batch),
		.k = dims_product(lhs, &d->lhs_contracting) };
	p.m = (double)shape_elements(lhs) / (p.batch * p.k);
	p.n = (double)shape_elements(rhs) / (p.batch * p.k);
	return p;
}

/* Without a window nothing slides: inputs are rows, the kernel is the matrix. */
static struct hlo_product plain_convolution(
	const struct hlo_instruction *i, const struct shape *lhs, const struct shape *rhs)
{
	int64_t features = i->convolution->input_feature;
	struct hlo_product p = { .batch = 1, .k = NAN };
	if (!i->window_rank && i->feature_group_count == 1 && i->batch_group_count == 1 &&
		features >= 0 && features < lhs->rank)
		p.k = (double)lhs->dims[features];
	p.m = (double)shape_elements(lhs) / p.k;
	p.n = (double)shape_elements(rhs) / p.k;
	return p;
}

/* A library call's dimension numbers stand in its configuration. */
static bool call_product(const struct hlo_instruction *i, const struct shape *lhs,
	const struct shape *rhs, struct arena scratch, struct hlo_product *ret)
{
	struct hlo_dot dims = { 0 };
	if (i->op != HLO_CUSTOM_CALL || library_find(i->custom_call_target)->kind != KIND_MATMUL ||
		!gemm_dims(i, &scratch, &dims))
		return false;
	*ret = dot_product(&dims, lhs, rhs);
	return true;
}

bool hlo_product(const struct hlo_module *m, ptrdiff_t instruction, struct arena scratch,
	struct hlo_product *ret)
{
	const struct hlo_instruction *i = &m->instructions[hlo_unwrap(m, instruction)];
	const struct shape *lhs = operand_shape(m, i, 0), *rhs = operand_shape(m, i, 1);
	if (!lhs || !rhs || lhs->is_dynamic || rhs->is_dynamic)
		return false;
	if (i->op == HLO_DOT && i->dot)
		*ret = dot_product(i->dot, lhs, rhs);
	else if (i->op == HLO_CONVOLUTION && i->convolution)
		*ret = plain_convolution(i, lhs, rhs);
	else if (!call_product(i, lhs, rhs, scratch, ret))
		return false;
	return isfinite(ret->m * ret->n * ret->k * ret->batch);
}

/* What the user wrote settles it where it is known; else the shape of the work does. */
bool is_real_convolution(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (str_contains(i->op_name, STR("conv_general_dilated")))
		return true;
	if (str_contains(i->op_name, STR("dot_general")))
		return false;
	const struct convolution x = { operand_shape(m, i, 0), operand_shape(m, i, 1), &i->shape,
		i };
	return !x.in || !x.kernel || !convolution_is_matmul(&x);
}
