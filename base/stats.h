/*
 * Distributions of durations, in integers so that neither order nor threads can matter.
 *
 * Exact up to 256 samples; then counts in log buckets 2^-9 apart (error of a quantile below
 * 0.1%).  Merging two distributions gives the same bytes in either order.
 */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include "base/arena.h"
#include "base/branch.h"
#include "base/saturate.h"

#define DIST_EXACT 256 /* samples kept as they are: more than any interval below needs */

struct dist {
	int64_t count, sum, min, max; /* picoseconds */
	/* The samples while count <= DIST_EXACT, newest chunk first; then room for runs. */
	struct dist_chunk *exact;
	/* Counts by dist_bucket(value): runs of DIST_RUN buckets, NULL where nothing fell; itself
	 * NULL while exact. */
	uint32_t **runs;
	int32_t run_base, run_count;
};

/* The bucket of a value that is not negative: 512 to an octave, one each below 1024. */
enum { DIST_OCTAVE_BITS = 9, DIST_OCTAVE = 1 << DIST_OCTAVE_BITS, DIST_RUN = DIST_OCTAVE / 8 };
static inline int32_t dist_bucket(int64_t value)
{
	int shift =
		63 - __builtin_clzll((unsigned long long)value | DIST_OCTAVE) - DIST_OCTAVE_BITS;
	return (int32_t)(shift * DIST_OCTAVE + (value >> shift));
}

/* The counter of a value; NULL when it needs a new one, or there are none. */
static inline uint32_t *dist_counter(const struct dist *d, int64_t value)
{
	if (rarely(!d->runs || value < d->min || value > d->max))
		return NULL;
	uint32_t bucket = (uint32_t)dist_bucket(value);
	uint32_t *run = d->runs[(int32_t)(bucket / DIST_RUN) - d->run_base];
	return run ? &run[bucket % DIST_RUN] : NULL;
}

void dist_add_new(struct dist *d, struct arena *keep, int64_t value_ps);
static inline void dist_add(struct dist *d, struct arena *keep, int64_t value_ps)
{
	uint32_t *n = dist_counter(d, value_ps);
	if (!n) {
		dist_add_new(d, keep, value_ps);
		return;
	}
	*n += *n < UINT32_MAX;
	d->count++; /* of what is counted one by one: it cannot overflow */
	d->sum = sat_add(d->sum, value_ps);
}
void dist_merge(struct dist *into, struct arena *keep, const struct dist *from);
/* The q-quantile, 0 <= q <= 1, interpolated between order statistics (type 7); 0 when empty. */
double dist_quantile(const struct dist *d, double q, struct arena scratch);

/*
 * Interval of the median at 95% for n_effective independent samples, by order statistics
 * (binomial): lo and hi are values of the distribution.  With fewer than 6 effective samples no
 * such interval exists, and it is that of 6: of few values lo = min, hi = max.  Of many values for
 * each sample (ops that run often in a step) single odd ones are not its ends.
 */
void dist_median_interval(const struct dist *d, int64_t n_effective, struct arena scratch,
	double *ret_lo, double *ret_hi);

/* What a comparison for qsort says of two values; NaN equals all. */
static inline int order_integers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}
static inline int order_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

/* By a comparison for qsort, which takes no array of nothing. */
#define sort_by(items, n, cmp) sort_items((items), (n), (ptrdiff_t)sizeof(*(items)), (cmp))
void sort_items(void *items, ptrdiff_t n, ptrdiff_t size, int (*cmp)(const void *, const void *));

/* Sets `at` to the first place of [from, end) at which `holds`; `end` where none does.  What holds
 * at a place holds at all behind it. */
#define FIND_FIRST(at, from, end, holds)                                                           \
	for (ptrdiff_t lo_ = (from), hi_ = (end); at = lo_ + (hi_ - lo_) / 2, lo_ < hi_;)          \
		if (holds)                                                                         \
			hi_ = at;                                                                  \
		else                                                                               \
			lo_ = at + 1

/* In place, ascending; NaN comes last. */
void sort_integers(int64_t *values, ptrdiff_t n);
void sort_numbers(double *values, ptrdiff_t n);

/* Median of n values; sorts `values` in place.  NaN when n is 0. */
double median(double *values, ptrdiff_t n);

/* A value, and how much it counts. */
struct weighted {
	double value, weight;
};
/*
 * The value below which this share of a weight lies: of `whole` or, where that is NaN, of their
 * own.  Sorts `items` in place.  NaN when they do not reach so far.
 */
double weighted_quantile(struct weighted *items, ptrdiff_t n, double share, double whole);

#endif
