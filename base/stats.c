/*
 * Distributions in integers, and the interval of a median.  See stats.h.
 *
 * Buckets: 512 to an octave, so a bucket's middle is within 2^-10 of everything in it.  Values
 * below 1024 have a bucket each.
 *
 *     value   0 .. 1023   1024 .. 2047   2048 .. 4095   ...
 *     bucket  0 .. 1023   1024 .. 1535   1536 .. 2047   ...   28159
 *
 * They are kept in runs of an eighth of an octave, where something fell: a few outliers cost a run
 * each and not all that lies between them and the others.  Which runs are kept is a function of the
 * samples alone, so two distributions of the same samples are the same, however they came together.
 *
 * Samples lie in chunks of 64, 128 and then 256 bytes; the last are as large as a run and
 * become runs: a million ops have as many distributions, and an arena takes nothing back.
 */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples --------------------------------------------------------------------------------- */

struct dist_chunk {
	struct dist_chunk *older;
	int64_t values[];
};
enum { FIRST = 7, SECOND = 15, SMALL = FIRST + SECOND, LARGE = 31 }; /* values of a chunk */
_Static_assert(sizeof(struct dist_chunk) + LARGE * sizeof(int64_t) == DIST_RUN * sizeof(uint32_t),
	"a large chunk is a run");

/* The first sample of the chunk that a sample is in; both count from 0. */
static int64_t chunk_first(int64_t sample)
{
	if (sample < SMALL)
		return sample < FIRST ? 0 : FIRST;
	return sample - (sample - SMALL) % LARGE;
}

static struct dist_chunk *chunk_new(struct arena *keep, int64_t first)
{
	ptrdiff_t values = first < FIRST ? FIRST : first < SMALL ? SECOND : LARGE;
	ptrdiff_t bytes =
		(ptrdiff_t)sizeof(struct dist_chunk) + values * (ptrdiff_t)sizeof(int64_t);
	return arena_alloc(keep, bytes, alignof(struct dist_chunk), 1);
}

static void sample_add(struct dist *d, struct arena *keep, int64_t sample, int64_t value)
{
	int64_t first = chunk_first(sample);
	if (sample == first) {
		struct dist_chunk *c = chunk_new(keep, first);
		c->older = d->exact;
		d->exact = c;
	}
	d->exact->values[sample - first] = value;
}

/* All of them, in the order in which they came. */
static void samples_read(const struct dist *d, int64_t count, int64_t *ret)
{
	const struct dist_chunk *c = d->exact;
	for (int64_t first; count > 0; count = first, c = c->older) {
		first = chunk_first(count - 1);
		memcpy(ret + first, c->values, (size_t)(count - first) * sizeof(*ret));
	}
}

/* Of the chunks only those stay that are as large as a run. */
static void samples_give_up(struct dist *d, int64_t count)
{
	struct dist_chunk **c = &d->exact;
	for (; count > SMALL; count = chunk_first(count - 1))
		c = &(*c)->older;
	*c = NULL;
}

static uint32_t *run_new(struct dist *d, struct arena *keep)
{
	struct dist_chunk *c = d->exact;
	if (!c)
		return arena_make(keep, uint32_t, DIST_RUN);
	d->exact = c->older;
	return memset(c, 0, DIST_RUN * sizeof(uint32_t));
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The middle of a bucket's values. */
static double bucket_middle(int32_t bucket)
{
	if (bucket < 2 * DIST_OCTAVE)
		return bucket;
	int shift = bucket / DIST_OCTAVE - 1;
	int64_t low = (int64_t)(bucket - shift * DIST_OCTAVE) << shift;
	return (double)low + ((double)((int64_t)1 << shift) - 1) / 2;
}

/* Have a place for each run from min's to max's. */
static void cover(struct dist *d, struct arena *keep)
{
	int32_t base = dist_bucket(d->min) / DIST_RUN;
	int32_t count = dist_bucket(d->max) / DIST_RUN + 1 - base;
	if (d->runs && base == d->run_base && count == d->run_count)
		return;
	uint32_t **runs = arena_make(keep, uint32_t *, count);
	if (d->runs)
		memcpy(runs + (d->run_base - base), d->runs, (size_t)d->run_count * sizeof(*runs));
	d->runs = runs;
	d->run_base = base;
	d->run_count = count;
}

static void count_in(struct dist *d, struct arena *keep, int32_t bucket, uint32_t more)
{
	uint32_t **run = &d->runs[bucket / DIST_RUN - d->run_base];
	if (!*run)
		*run = run_new(d, keep);
	uint32_t *n = &(*run)[bucket % DIST_RUN];
	*n = *n > UINT32_MAX - more ? UINT32_MAX : *n + more;
}

/* From samples to buckets; there are `samples` of them so far. */
static void spill(struct dist *d, struct arena *keep, int64_t samples)
{
	int64_t values[DIST_EXACT];
	samples_read(d, samples, values);
	samples_give_up(d, samples);
	cover(d, keep);
	for (int64_t i = 0; i < samples; i++)
		count_in(d, keep, dist_bucket(values[i]), 1);
}

static void widen(struct dist *d, int64_t count, int64_t sum, int64_t min, int64_t max)
{
	d->min = !d->count || min < d->min ? min : d->min;
	d->max = !d->count || max > d->max ? max : d->max;
	d->sum = sat_add(d->sum, sum);
	d->count = sat_add(d->count, count);
}

void dist_add_new(struct dist *d, struct arena *keep, int64_t value_ps)
{
	int64_t samples = d->count, value = value_ps < 0 ? 0 : value_ps;
	widen(d, 1, value, value, value);
	if (d->count <= DIST_EXACT) {
		sample_add(d, keep, samples, value);
		return;
	}
	if (!d->runs)
		spill(d, keep, samples);
	cover(d, keep);
	count_in(d, keep, dist_bucket(value), 1);
}

void dist_merge(struct dist *into, struct arena *keep, const struct dist *from)
{
	if (!from->count)
		return;
	if (!from->runs) {
		const struct dist_chunk *c = from->exact;
		for (int64_t first, n = from->count; n > 0; n = first, c = c->older) {
			first = chunk_first(n - 1);
			for (int64_t i = first; i < n; i++)
				dist_add(into, keep, c->values[i - first]);
		}
		return;
	}
	int64_t samples = into->runs ? 0 : into->count;
	widen(into, from->count, from->sum, from->min, from->max);
	if (!into->runs)
		spill(into, keep, samples);
	cover(into, keep);
	for (int32_t i = 0; i < from->run_count; i++)
		for (int32_t k = 0; from->runs[i] && k < DIST_RUN; k++)
			if (from->runs[i][k])
				count_in(into, keep, (from->run_base + i) * DIST_RUN + k,
					from->runs[i][k]);
}

/* ---- quantiles ------------------------------------------------------------------------------- */

static int by_integer(const void *a, const void *b)
{
	return order_integers(*(const int64_t *)a, *(const int64_t *)b);
}

void sort_items(void *items, ptrdiff_t n, ptrdiff_t size, int (*cmp)(const void *, const void *))
{
	const char *at = items;
	ptrdiff_t sorted = 1; /* what was recorded in order need not be sorted */

	for (; sorted < n && cmp(at, at + size) <= 0; at += size)
		sorted++;
	if (sorted < n)
		qsort(items, (size_t)n, (size_t)size, cmp);
}

void sort_integers(int64_t *values, ptrdiff_t n)
{
	sort_by(values, n, by_integer);
}

/* The bucket that holds a rank, which is below the count. */
static int32_t bucket_at(const struct dist *d, int64_t rank)
{
	int64_t seen = 0;
	for (int32_t i = 0; i < d->run_count; i++)
		for (int32_t k = 0; d->runs[i] && k < DIST_RUN; k++) {
			seen += d->runs[i][k];
			if (seen > rank)
				return (d->run_base + i) * DIST_RUN + k;
		}
	return dist_bucket(d->max); /* counts that stood still at their largest */
}

static double bucket_rank(const struct dist *d, int64_t rank)
{
	if (rank <= 0 || rank >= d->count - 1)
		return (double)(rank <= 0 ? d->min : d->max);
	double value = bucket_middle(bucket_at(d, rank));
	return fmin(fmax(value, (double)d->min), (double)d->max);
}

/* The samples in order, or NULL when there are only buckets. */
static const int64_t *sorted(const struct dist *d, struct arena *scratch)
{
	if (d->runs || !d->count)
		return NULL;
	int64_t *values = arena_make(scratch, int64_t, d->count);
	samples_read(d, d->count, values);
	sort_integers(values, d->count);
	return values;
}

/* The value at a rank that may lie between two samples; ranks count from 0. */
static double at_rank(const struct dist *d, const int64_t *values, double rank)
{
	if (!d->count)
		return 0;
	int64_t low = (int64_t)floor(fmax(rank, 0));
	low = low > d->count - 1 ? d->count - 1 : low;
	int64_t high = low < d->count - 1 ? low + 1 : low;
	double part = rank - (double)low;
	double a = values ? (double)values[low] : bucket_rank(d, low);
	if (part <= 0)
		return a;
	double b = values ? (double)values[high] : bucket_rank(d, high);
	return a + (b - a) * part;
}

double dist_quantile(const struct dist *d, double q, struct arena scratch)
{
	return at_rank(d, sorted(d, &scratch), (double)(d->count - 1) * q);
}

/* Past this many samples the normal approximation finds the same rank. */
enum { BINOMIAL_EXACT = 1000, INTERVAL_LEAST = 6 /* with fewer samples there is no interval */ };

/*
 * The largest rank r, counted from 1, with P(Bin(n, 1/2) < r) <= 2.5%; 0 when there is none.
 * Sums binomial coefficients in doubles scaled by powers of two: the same on every machine.
 */
static int64_t lower_rank(int64_t n)
{
	if (n > BINOMIAL_EXACT)
		return (int64_t)floor((double)n / 2 - 0.97998199227 * sqrt((double)n) + 0.5);
	double term = 1, sum = 1;
	int scale = 0;
	int64_t r = 0;
	while (ldexp(sum, scale - (int)n) <= 0.025) {
		r++;
		term *= (double)(n - r + 1) / (double)r;
		sum += term;
		if (sum > 0x1p+500) {
			term *= 0x1p-500;
			sum *= 0x1p-500;
			scale += 500;
		}
	}
	return r;
}

void dist_median_interval(const struct dist *d, int64_t n_effective, struct arena scratch,
	double *ret_lo, double *ret_hi)
{
	int64_t n = n_effective < d->count ? n_effective : d->count;
	n = n > INTERVAL_LEAST ? n : INTERVAL_LEAST;
	/* The middle of a sample's share of all values: with n == count, whole ranks. */
	const int64_t *values = sorted(d, &scratch);
	double rank = ((double)lower_rank(n) - 0.5) * (double)d->count / (double)n - 0.5;
	double last = (double)(d->count - 1);
	*ret_lo = at_rank(d, values, fmax(rank, 0));
	*ret_hi = at_rank(d, values, fmin(last - rank, last));
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return order_numbers(x, y);
}

void sort_numbers(double *values, ptrdiff_t n)
{
	if (n > 1)
		qsort(values, (size_t)n, sizeof(*values), by_number);
}

static int by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;
	int order = order_numbers(x->value, y->value);

	return order ? order : order_numbers(x->weight, y->weight);
}

double weighted_quantile(struct weighted *items, ptrdiff_t n, double share, double whole)
{
	double own = 0, below = 0;

	sort_by(items, n, by_value);
	for (ptrdiff_t i = 0; i < n; i++)
		own += items[i].weight;
	for (ptrdiff_t i = 0; i < n; i++) {
		below += items[i].weight;
		if (below >= (isnan(whole) ? own : whole) * share)
			return items[i].value;
	}
	return NAN;
}

double median(double *values, ptrdiff_t n)
{
	if (n <= 0)
		return NAN;
	sort_numbers(values, n);
	if (n % 2)
		return values[n / 2];
	double a = values[n / 2 - 1], b = values[n / 2];
	return a + (b - a) / 2;
}
