/*
 * FLOPs of dots and convolutions from shapes and dimension numbers.
 *
 * Source: XLA's HloCostAnalysis.  A convolution counts the (kernel, output) pairs that meet a real
 * input element: padding and the holes of dilation are free.  TPU writes batched matmuls as
 * convolutions whose dilations leave one tap per output, so anything cruder is wrong by far.
 */
#include <math.h>

#include "hlo/work.h"

double element_count(const struct shape *s)
{
	int64_t n = shape_elements(s);
	return n == INT64_MAX ? NAN : (double)n;
}

static double dim(const struct shape *s, int64_t i)
{
	if (i < 0 || i >= s->rank || s->dims[i] == DIM_UNBOUNDED)
		return NAN;
	return (double)s->dims[i];
}

double dot_flops(const struct shape *out, const struct shape *lhs, const struct hlo_dot *dims)
{
	double flops = 2 * element_count(out);
	for (ptrdiff_t i = 0; i < dims->lhs_contracting.count; i++)
		flops *= dim(lhs, dims->lhs_contracting.items[i]);
	return flops;
}

/* Beyond these no dimension of a real program lies, and products stay inside 64 bits. */
#define MAX_EXTENT ((int64_t)1 << 31)
/* Taps looked at one by one; of kernel and output the smaller one is walked. */
#define MAX_TAPS ((int64_t)1 << 16)

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

/* The x in [0, m) with a x = 1 mod m, for a and m without common divisor. */
static int64_t inverse(int64_t a, int64_t m)
{
	int64_t r0 = m, r1 = a % m, x0 = 0, x1 = 1;
	while (r1) {
		int64_t q = r0 / r1, r = r0 - q * r1, x = x0 - q * x1;
		r0 = r1;
		r1 = r;
		x0 = x1;
		x1 = x;
	}
	return x0 < 0 ? x0 + m : x0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/*
 * How many x in [0, count) have x * step + offset = 0 mod hole and within [0, last]: the outputs
 * that a kernel tap serves, or the taps that serve an output.
 */
struct comb {
	int64_t count, step, hole, last;
	int64_t divisor, period, inverse; /* of step and hole */
};

static struct comb comb_new(int64_t count_, int64_t step, int64_t hole, int64_t last)
{
	struct comb c = { .count = count_, .step = step, .hole = hole, .last = last };
	c.divisor = gcd(step, hole);
	c.period = hole / c.divisor;
	c.inverse = inverse(step / c.divisor % c.period, c.period);
	return c;
}

static int64_t comb_count(const struct comb *c, int64_t offset)
{
	int64_t low = -floor_div(offset, c->step); /* ceil(-offset / step) */
	int64_t high = floor_div(c->last - offset, c->step);
	if (offset % c->divisor)
		return 0;
	if (low < 0)
		low = 0;
	if (high > c->count - 1)
		high = c->count - 1;
	/* x = first mod period; offset/divisor may be negative. */
	int64_t want = -(offset / c->divisor) % c->period;
	if (want < 0)
		want += c->period;
	int64_t first = want * c->inverse % c->period;
	if (low > high)
		return 0;
	return floor_div(high - first, c->period) - floor_div(low - 1 - first, c->period);
}

double valid_positions(
	const struct hlo_window_dim *w, int64_t in, int64_t out, int64_t kernel, int64_t *budget)
{
	const struct {
		int64_t value, least;
	} extents[] = { { in, 0 }, { out, 0 }, { kernel, 0 }, { w->stride, 1 },
		{ w->window_dilation, 1 }, { w->base_dilation, 1 },
		{ w->padding_low, -MAX_EXTENT } };
	for (ptrdiff_t i = 0; i < COUNT_OF(extents); i++)
		if (extents[i].value < extents[i].least || extents[i].value >= MAX_EXTENT)
			return NAN;
	if (!in || !out || !kernel)
		return 0;
	bool walk_kernel = kernel <= out;
	int64_t taps = walk_kernel ? kernel : out;
	int64_t stride = walk_kernel ? w->window_dilation : w->stride;
	struct comb c =
		comb_new(walk_kernel ? out : kernel, walk_kernel ? w->stride : w->window_dilation,
			w->base_dilation, (in - 1) * w->base_dilation);
	if (taps > MAX_TAPS || taps > *budget)
		return NAN;
	*budget -= taps;
	double sum = 0;
	for (int64_t t = 0; t < taps; t++)
		sum += (double)comb_count(&c, t * stride - w->padding_low);
	return sum;
}

static int64_t extent(const struct shape *s, const struct hlo_dims *dims, ptrdiff_t i)
{
	if (i >= dims->count || dims->items[i] < 0 || dims->items[i] >= s->rank)
		return -1;
	return s->dims[dims->items[i]];
}

double convolution_flops(const struct convolution *c, int64_t *budget)
{
	const struct hlo_convolution *dims = c->i->convolution;
	double flops = 2 * dim(c->in, dims->input_feature) / (double)c->i->feature_group_count *
		       dim(c->kernel, dims->kernel_output_feature) * dim(c->in, dims->input_batch) /
		       (double)c->i->batch_group_count;
	if (c->i->window_rank != dims->input_spatial.count)
		return NAN;
	for (ptrdiff_t i = 0; i < c->i->window_rank; i++)
		flops *= valid_positions(&c->i->window[i], extent(c->in, &dims->input_spatial, i),
			extent(c->out, &dims->output_spatial, i),
			extent(c->kernel, &dims->kernel_spatial, i), budget);
	return flops;
}

/*
 * A spatial dimension that a matmul has too.  XLA:TPU writes rows with a kernel of one, further
 * contractions as one output over the whole input, columns as a kernel over an input of one, and
 * batches by dilations that leave one tap per output.
 */
static bool is_matmul_dim(const struct hlo_window_dim *w, int64_t in, int64_t out, int64_t kernel)
{
	bool rows = kernel == 1 && out == in && w->stride == 1 && w->base_dilation == 1;
	bool contraction = out == 1 && kernel == in && !w->padding_low;
	bool columns = in == 1 && kernel == out;
	bool batch = kernel == in && out == in && w->base_dilation == in && w->stride == in - 1 &&
		     !w->padding_low;
	return rows || contraction || columns || batch;
}

bool convolution_is_matmul(const struct convolution *c)
{
	const struct hlo_convolution *dims = c->i->convolution;
	if (!dims || c->i->window_rank != dims->input_spatial.count)
		return false;
	for (ptrdiff_t k = 0; k < c->i->window_rank; k++)
		if (!is_matmul_dim(&c->i->window[k], extent(c->in, &dims->input_spatial, k),
			    extent(c->out, &dims->output_spatial, k),
			    extent(c->kernel, &dims->kernel_spatial, k)))
			return false;
	return true;
}
