/* base/stats: quantiles, merging in any order, and the interval of a median by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

static struct arena a, scratch;

static int setup(void **state)
{
	(void)state;
	a = arena_new(512 << 20);
	scratch = arena_new(64 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&a);
	arena_free(&scratch);
	return 0;
}

static uint64_t seed = 1;

static int64_t below(int64_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 20) % (uint64_t)limit);
}

static struct dist of(const int64_t *values, ptrdiff_t n)
{
	struct dist d = { 0 };
	for (ptrdiff_t i = 0; i < n; i++)
		dist_add(&d, &a, values[i]);
	return d;
}

static void assert_near(double got, double want, double ratio)
{
	if (fabs(got - want) > fabs(want) * ratio)
		fail_msg("%.17g is not %.17g", got, want);
}

static void empty(void **state)
{
	double lo = 7, hi = 7;
	(void)state;
	struct dist d = { 0 };
	assert_true(dist_quantile(&d, 0.5, scratch) == 0);
	dist_median_interval(&d, 10, scratch, &lo, &hi);
	assert_true(lo == 0 && hi == 0);
}

static void exact_quantiles(void **state)
{
	static const int64_t values[] = { 40, 10, 30, 20 };
	(void)state;
	struct dist d = of(values, 4);
	assert_int_equal(d.count, 4);
	assert_int_equal(d.sum, 100);
	assert_int_equal(d.min, 10);
	assert_int_equal(d.max, 40);
	assert_true(dist_quantile(&d, 0, scratch) == 10);
	assert_true(dist_quantile(&d, 0.5, scratch) == 25);
	assert_true(dist_quantile(&d, 1, scratch) == 40);
	assert_true(dist_quantile(&d, 0.25, scratch) == 17.5);
	assert_true(dist_quantile(&d, 0.9, scratch) == 37);
	struct dist one = of(values, 1);
	assert_true(dist_quantile(&one, 0.3, scratch) == 40);
}

static void negative_counts_as_zero(void **state)
{
	static const int64_t values[] = { -5, 3 };
	(void)state;
	struct dist d = of(values, 2);
	assert_int_equal(d.min, 0);
	assert_int_equal(d.sum, 3);
}

static void sums_saturate(void **state)
{
	(void)state;
	struct dist d = { 0 };
	for (int i = 0; i < 300; i++)
		dist_add(&d, &a, INT64_MAX);
	assert_true(d.sum == INT64_MAX);
	assert_true(dist_quantile(&d, 0.5, scratch) == (double)INT64_MAX);
}

static int by_value(const void *x, const void *y)
{
	int64_t p = *(const int64_t *)x, q = *(const int64_t *)y;
	return (p > q) - (p < q);
}

/* Past 256 samples: every quantile within 0.1% of the exact one, over 18 orders of magnitude. */
static void bucket_error(void **state)
{
	enum { N = 3000 };
	static int64_t values[N];
	(void)state;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < N; i++)
			values[i] = below((int64_t)1 << (3 * round + 1)) +
				    (round % 2 ? (int64_t)1 << (3 * round) : 0);
		struct dist d = of(values, N);
		assert_non_null(d.runs);
		qsort(values, N, sizeof(values[0]), by_value);
		for (int k = 0; k < N; k += 37)
			assert_near(dist_quantile(&d, (double)k / (N - 1), scratch),
				(double)values[k], 0.001);
		assert_true(dist_quantile(&d, 0, scratch) == (double)values[0]);
		assert_true(dist_quantile(&d, 1, scratch) == (double)values[N - 1]);
	}
}

/* The 257th sample changes how they are kept, not what they say. */
static void at_the_limit(void **state)
{
	(void)state;
	struct dist d = { 0 };
	for (int i = 0; i < DIST_EXACT; i++)
		dist_add(&d, &a, 1000000 + i);
	assert_null(d.runs);
	assert_true(dist_quantile(&d, 0.5, scratch) == 1000127.5);
	dist_add(&d, &a, 1000000 + DIST_EXACT);
	assert_non_null(d.runs);
	assert_int_equal(d.count, 257);
	assert_near(dist_quantile(&d, 0.5, scratch), 1000128, 0.001);
	/* Small values have a bucket each: nothing is lost. */
	struct dist small = { 0 };
	for (int i = 0; i < 1023; i++)
		dist_add(&small, &a, i);
	assert_true(dist_quantile(&small, 0.5, scratch) == 511);
}

/* Outliers cost a run of buckets each, and a place for those in between. */
static void outliers_are_cheap(void **state)
{
	(void)state;
	struct dist d = { 0 };
	for (int i = 0; i < 1000; i++)
		dist_add(&d, &a, i % 250 ? 1000000 + i % 7 : INT64_C(1) << (i / 250 * 10));
	const char *before = a.at;
	for (int i = 0; i < 1000; i++)
		dist_add(&d, &a, 1000000 + i % 5000);
	assert_ptr_equal(a.at, before);
	int runs = 0;
	for (int32_t i = 0; i < d.run_count; i++)
		runs += d.runs[i] != NULL;
	assert_int_equal(runs, 5);
}

static void constant_stays_exact(void **state)
{
	(void)state;
	struct dist d = { 0 };
	for (int i = 0; i < 1000; i++)
		dist_add(&d, &a, 123456789);
	assert_true(dist_quantile(&d, 0.37, scratch) == 123456789);
}

static void assert_same(const struct dist *x, const struct dist *y)
{
	assert_int_equal(x->count, y->count);
	assert_int_equal(x->sum, y->sum);
	assert_int_equal(x->min, y->min);
	assert_int_equal(x->max, y->max);
	assert_int_equal(x->run_base, y->run_base);
	assert_int_equal(x->run_count, y->run_count);
	assert_int_equal(x->runs == NULL, y->runs == NULL);
	for (int32_t i = 0; i < x->run_count; i++) {
		assert_int_equal(x->runs[i] == NULL, y->runs[i] == NULL);
		if (x->runs[i])
			assert_memory_equal(x->runs[i], y->runs[i], DIST_RUN * sizeof(*x->runs[i]));
	}
	for (int i = 0; i <= 10; i++)
		assert_true(
			dist_quantile(x, i / 10.0, scratch) == dist_quantile(y, i / 10.0, scratch));
}

/* Parts of any size merged in any order are the same bytes as the samples added one by one. */
static void merging_in_any_order(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		enum { PARTS = 5 };
		struct dist parts[PARTS] = { { 0 } }, whole = { 0 }, forth = { 0 }, back = { 0 };
		struct dist nested = { 0 };
		int64_t most = round % 2 ? 40 : 400, spread = (int64_t)1 << (round % 50 + 1);
		for (int p = 0; p < PARTS; p++) {
			for (int64_t n = below(most); n > 0; n--) {
				int64_t value = below(spread);
				dist_add(&parts[p], &a, value);
				dist_add(&whole, &a, value);
			}
		}
		for (int p = 0; p < PARTS; p++) {
			dist_merge(&forth, &a, &parts[p]);
			dist_merge(&back, &a, &parts[PARTS - 1 - p]);
		}
		dist_merge(&parts[3], &a, &parts[4]);
		dist_merge(&parts[1], &a, &parts[2]);
		dist_merge(&nested, &a, &parts[3]);
		dist_merge(&nested, &a, &parts[0]);
		dist_merge(&nested, &a, &parts[1]);
		assert_same(&whole, &forth);
		assert_same(&whole, &back);
		assert_same(&whole, &nested);
		arena_clear(&a);
	}
}

static void assert_ranks(int64_t n, int64_t n_effective, double want_lo, double want_hi)
{
	double lo, hi;
	struct dist d = { 0 };
	for (int64_t i = n; i >= 1; i--)
		dist_add(&d, &a, i);
	dist_median_interval(&d, n_effective, scratch, &lo, &hi);
	if (fabs(lo - want_lo) > 1e-12 || fabs(hi - want_hi) > 1e-12)
		fail_msg("n %d: %g..%g, not %g..%g", (int)n, lo, hi, want_lo, want_hi);
}

/*
 * Ranks from P(Bin(n, 1/2) < r) <= 0.025: n = 6: 1/64 = 0.016; n = 8: 1/256, then 9/256 = 0.035;
 * n = 9: 10/512 = 0.0195; n = 10: 11/1024 = 0.011, then 56/1024 = 0.055; n = 20 and 100 as in the
 * usual tables of the sign test (6..15 and 40..61).
 */
static void median_intervals(void **state)
{
	(void)state;
	assert_ranks(5, 5, 1, 5);
	assert_ranks(6, 6, 1, 6);
	assert_ranks(8, 8, 1, 8);
	assert_ranks(9, 9, 2, 8);
	assert_ranks(10, 10, 2, 9);
	assert_ranks(20, 20, 6, 15);
	assert_ranks(100, 100, 40, 61);
	/* Never more independent samples than samples. */
	assert_ranks(10, 1000, 2, 9);
	/* 10 worth 6: the middle of the first sixth is 5/6, and that of the first value 1/2. */
	assert_ranks(10, 5, 1 + 1.0 / 3, 10 - 1.0 / 3);
	assert_ranks(10, 0, 1 + 1.0 / 3, 10 - 1.0 / 3);
	/* 19 samples worth 10, rank 2: the middle of the second tenth is 2.85. */
	assert_ranks(19, 10, 3.35, 16.65);
}

/* Four steps of 300 executions: one odd one is not the end of what their median may be. */
static void an_odd_one_among_many(void **state)
{
	double lo, hi;
	(void)state;
	struct dist d = { 0 };
	for (int i = 0; i < 1200; i++)
		dist_add(&d, &a, i == 700 ? 5 : i == 800 ? 90 : 19);
	dist_median_interval(&d, 4, scratch, &lo, &hi);
	assert_true(lo == 19 && hi == 19);
}

/* Past 1000 an approximation takes over: its rank must be the exact one's neighbour's. */
static void interval_is_continuous(void **state)
{
	double lo, hi, last = 0;
	(void)state;
	struct dist d = { 0 };
	for (int64_t i = 0; i < 1023; i++)
		dist_add(&d, &a, i);
	for (int64_t n = 985; n <= 1020; n++) {
		dist_median_interval(&d, n, scratch, &lo, &hi);
		double rank = lo / 1022 * (double)(n - 1) + 1;
		assert_true(last == 0 || (rank - last > -0.01 && rank - last < 1.01));
		assert_true(fabs(lo + hi - 1022) < 1e-6);
		last = rank;
	}
}

static void medians(void **state)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 5 };
	(void)state;
	assert_true(median(odd, 3) == 2);
	assert_true(odd[0] == 1 && odd[2] == 3);
	assert_true(median(even, 4) == 2.5);
	assert_true(median(one, 1) == 5);
	assert_true(isnan(median(NULL, 0)));
}

static void weighted_values(void **state)
{
	struct weighted items[] = { { 3, 1 }, { 1, 1 }, { 2, 2 } };
	(void)state;
	assert_true(weighted_quantile(items, 3, 0.25, NAN) == 1);
	assert_true(weighted_quantile(items, 3, 0.5, NAN) == 2);
	assert_true(weighted_quantile(items, 3, 1, NAN) == 3);
	assert_true(weighted_quantile(items, 3, 0.5, 8) == 3);
	assert_true(isnan(weighted_quantile(items, 3, 1, 8)));
	assert_true(isnan(weighted_quantile(NULL, 0, 0.5, NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(exact_quantiles),
		cmocka_unit_test(negative_counts_as_zero),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(outliers_are_cheap),
		cmocka_unit_test(bucket_error),
		cmocka_unit_test(at_the_limit),
		cmocka_unit_test(constant_stays_exact),
		cmocka_unit_test(merging_in_any_order),
		cmocka_unit_test(median_intervals),
		cmocka_unit_test(an_odd_one_among_many),
		cmocka_unit_test(interval_is_continuous),
		cmocka_unit_test(medians),
		cmocka_unit_test(weighted_values),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
