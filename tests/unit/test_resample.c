/*
 * base/resample: Student's t against tables made with SciPy 1.x, Holm's adjustment by hand, and by
 * simulation with fixed seeds how often the noise of a median raises a false alarm and how often a
 * true change is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/resample.h"
#include "base/stats.h"

static struct arena arena;

static int start(void **state)
{
	(void)state;
	arena = arena_new(ARENA_SCRATCH_BYTES);
	return 0;
}

static void assert_close(double a, double b)
{
	if (!(fabs(a - b) <= 1e-10 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* 2 * scipy.stats.t.sf(t, df) */
static void test_student_p(void **state)
{
	static const struct {
		double df, t, p;
	} rows[] = {
		{ 1, 0.5, 0.7048327646991335 },
		{ 1, 31.8, 0.020012894619137408 },
		{ 2.5, 2, 0.1573914957579659 },
		{ 2.5, 31.8, 0.00025168283240164846 },
		{ 4, 5, 0.007490433881274525 },
		{ 30, 2, 0.054625044962983094 },
		{ 30, 31.8, 1.1462086750898039e-24 },
		{ 200, 0.5, 0.6176247523164609 },
		{ 200, 5, 1.2501981277715407e-06 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_close(student_p(rows[i].t, rows[i].df), rows[i].p);
		assert_close(student_p(-rows[i].t, rows[i].df), rows[i].p);
	}
	assert_true(student_p(0, 3) == 1);
	assert_true(student_p(INFINITY, 3) == 0);
	assert_true(isnan(student_p(1, 0)));
	assert_true(isnan(student_p(NAN, 3)));
}

/* scipy.stats.t.isf(0.005, df) */
static void test_student_quantile(void **state)
{
	(void)state;
	assert_close(student_quantile(0.01, 1), 63.65674116287158);
	assert_close(student_quantile(0.01, 4), 4.604094871349993);
	assert_close(student_quantile(0.01, 7.3), 3.4510316556221854);
	assert_close(student_quantile(0.01, 99), 2.6264054572808275);
	assert_true(isnan(student_quantile(0, 4)));
}

/* scipy.special: digamma, polygamma(1, x). */
static void test_gamma_derivatives(void **state)
{
	static const struct {
		double x, psi, psi1;
	} rows[] = {
		{ 0.5, -1.9635100260214235, 4.93480220054468 },
		{ 1, -0.5772156649015329, 1.6449340668482266 },
		{ 2.4, 0.6529011697005981, 0.5151525088969443 },
		{ 30, 3.384438132685525, 0.033895060357739946 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_close(digamma(rows[i].x), rows[i].psi);
		assert_close(trigamma(rows[i].x), rows[i].psi1);
		assert_close(trigamma_inverse(rows[i].psi1), rows[i].x);
	}
	assert_true(isnan(digamma(0)) && isnan(trigamma(-1)) && isnan(trigamma_inverse(0)));
}

/* ---- simulated steps ----------------------------------------------------------------------- */

static uint64_t seed;

static double uniform(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* AR(1) noise of `sd`, and one step in twenty that is much longer. */
static void simulate(double *steps, ptrdiff_t n, double rho, double sd, double mean)
{
	double e = normal();
	for (ptrdiff_t i = 0; i < n; i++) {
		e = rho * e + sqrt(1 - rho * rho) * normal();
		steps[i] = mean * (1 + sd * e);
		if (uniform() < 0.05)
			steps[i] += mean * sd * 10 * uniform();
	}
}

/* Share of pairs in which a difference is seen at 1%. */
static double seen(ptrdiff_t n, double rho, double shift)
{
	enum { PAIRS = 300, MOST = 100 };
	double a[MOST], b[MOST];
	int count = 0;
	for (int i = 0; i < PAIRS; i++) {
		simulate(a, n, rho, 0.01, 1);
		simulate(b, n, rho, 0.01, 1 + shift);
		struct median_noise x = median_noise(a, n, arena), y = median_noise(b, n, arena);
		double vx = x.se * x.se, vy = y.se * y.se;
		double df = (vx + vy) * (vx + vy) /
			    (vx * vx / (x.n_effective - 1) + vy * vy / (y.n_effective - 1));
		count += student_p((median(b, n) - median(a, n)) / sqrt(vx + vy), df) <= 0.01;
	}
	return count / (double)PAIRS;
}

/* 300 pairs at 1% give 3; more than 9 would be chance once in 700 times. */
static void test_false_alarms(void **state)
{
	(void)state;
	seed = 1;
	assert_true(seen(15, 0, 0) <= 0.03);
	assert_true(seen(30, 0.4, 0) <= 0.03);
	assert_true(seen(100, 0.6, 0) <= 0.03);
}

static void test_power(void **state)
{
	(void)state;
	seed = 2;
	assert_true(seen(30, 0, 0.03) >= 0.95);
	assert_true(seen(100, 0.6, 0.03) >= 0.95);
}

/* ---- the noise itself ---------------------------------------------------------------------- */

static void test_same_samples_same_answer(void **state)
{
	double x[40];
	(void)state;
	seed = 3;
	simulate(x, 40, 0.5, 0.01, 1);
	struct median_noise a = median_noise(x, 40, arena), b = median_noise(x, 40, arena);
	assert_true(a.se == b.se && a.n_effective == b.n_effective);
}

/* The spread of a normal sample's median is 1.2533 sd / sqrt(n), by theory. */
static void test_independent_normal(void **state)
{
	double x[100], sum = 0;
	(void)state;
	seed = 4;
	for (int k = 0; k < 50; k++) {
		for (int i = 0; i < 100; i++)
			x[i] = 10 + normal();
		sum += median_noise(x, 100, arena).se / 50;
	}
	assert_true(sum > 0.125 && sum < 0.165);
}

static void test_correlation(void **state)
{
	double x[200], sum = 0;
	(void)state;
	seed = 5;
	for (int k = 0; k < 20; k++) {
		simulate(x, 200, 0.6, 0.01, 1);
		sum += autocorrelation(x, 200, arena) / 20;
	}
	assert_true(sum > 0.45 && sum < 0.65); /* wild steps take a little away */
	assert_true(isnan(autocorrelation(x, 4, arena)));
}

static void test_few_and_constant(void **state)
{
	static const double same[] = { 2, 2, 2, 2, 2, 2 };
	(void)state;
	assert_true(isnan(median_noise(same, 4, arena).se));
	assert_true(isnan(median_noise(same, 0, arena).se));
	struct median_noise m = median_noise(same, 6, arena);
	assert_true(m.se < 1e-12 && m.n_effective == 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student_p),
		cmocka_unit_test(test_student_quantile),
		cmocka_unit_test(test_gamma_derivatives),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_same_samples_same_answer),
		cmocka_unit_test(test_independent_normal),
		cmocka_unit_test(test_correlation),
		cmocka_unit_test(test_few_and_constant),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
