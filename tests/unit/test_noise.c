/*
 * measure/noise: what steps, runs and a store's workloads say of noise.  The numbers are SciPy's or
 * those of paper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "measure/noise.h"

static struct arena keep;

static void assert_close(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static int start(void **state)
{
	(void)state;
	keep = arena_new(ARENA_RUN_BYTES);
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

/*
 * sigma^2 = (4 * .015**2 + .0006 + .0001) / (4 + 3 + 1); se^2 = 3.14 * sigma^2 / steps
 * A run without steps has no error, and takes no part.
 */
static void test_short_runs_share_their_steps(void **state)
{
	struct run_reading r[] = {
		{ .x = 1, .se = NAN, .spread = 0.0006, .steps = 4 },
		{ .x = 1, .se = 0.5, .spread = 0.0001, .steps = 2 },
		{ .x = 1, .se = NAN },
	};
	(void)state;
	noise_settle(r, 3);
	assert_close(r[0].se, sqrt(3.14 * 0.0002 / 4));
	assert_close(r[1].se, sqrt(3.14 * 0.0002 / 2));
	assert_true(isnan(r[2].se));
}

/* From 16 steps on the smaller of the two counts. */
static void test_long_runs_may_know_better(void **state)
{
	struct run_reading r[] = {
		{ .x = 1, .se = 0.001, .spread = 0.0150, .steps = 16 },
		{ .x = 1, .se = 0.900, .spread = 0.0150, .steps = 16 },
	};
	(void)state;
	noise_settle(r, 2);
	assert_close(r[0].se, 0.001);
	assert_close(r[1].se, sqrt(3.14 * (0.0009 + 0.03) / 34 / 16));
}

/* Steps and their logarithms. */
static void test_reading(void **state)
{
	static const double steps[] = { 1, 2, 4 };
	(void)state;
	struct run_reading r = reading_of(7, steps, 3, true, keep);
	assert_close(r.spread, 2 * log(2) * log(2));
	assert_true(r.x == 7 && r.steps == 3);
	r = reading_of(7, steps, 3, false, keep);
	assert_close(r.spread, 14.0 / 3);
	r = reading_of(7, steps, 0, false, keep);
	assert_true(isnan(r.se) && r.steps == 0);
}

/*
 * x = log([...]); d = diff(x)**2 / 2; (d.sum() - d.max()) / 8 * 1.43: the level shifts by a tenth
 * after six runs, and that difference is left out.
 */
static void test_a_shift_is_no_noise(void **state)
{
	static const double step_s[] = { 0.0200, 0.0202, 0.0199, 0.0201, 0.0200, 0.0203, 0.0225,
		0.0224, 0.0226, 0.0223 };
	double x[10];
	(void)state;
	for (int i = 0; i < 10; i++)
		x[i] = log(step_s[i]);
	struct workload_noise w = workload_noise(x, 10);
	assert_close(w.variance, 8.462696587170504e-05);
	assert_close(w.dof, 4.8);
	assert_true(workload_noise(x, 4).dof == 0);
}

/* v = (0.5 + 0.1 i)**2 * 1e-4, nu = 3 + 2 (i mod 4), by the formulas with scipy.special. */
static void test_prior_of_a_store(void **state)
{
	struct workload_noise w[20];
	struct noise_prior p = NOISE_PRIOR_DEFAULT;
	(void)state;
	for (int i = 0; i < 20; i++)
		w[i] = (struct workload_noise){ pow(0.5 + 0.1 * i, 2) * 1e-4, 3 + 2 * (i % 4) };
	assert_true(noise_prior_fit(w, 20, &p));
	assert_close(p.sd, 0.013576668846632455);
	assert_close(p.worth, 6.737973719267493);
	assert_true(p.workloads == 20);
	/* Workloads that differ widely among themselves are worth less. */
	for (int i = 0; i < 20; i++)
		w[i].variance = pow(w[i].variance * 1e4, 3) * 1e-4;
	assert_true(noise_prior_fit(w, 20, &p));
	assert_close(p.worth, 0.8011176116683977);
	/* Nineteen are too few; one that repeats to the last digit does not count. */
	p = NOISE_PRIOR_DEFAULT;
	assert_false(noise_prior_fit(w, 19, &p));
	w[3].variance = 0;
	assert_false(noise_prior_fit(w, 20, &p));
	assert_true(p.sd == 0.01 && p.worth == 4 && p.workloads == 0);
}

/* The same noise everywhere: as much as is allowed, and no more. */
static void test_alike_workloads(void **state)
{
	struct workload_noise w[30];
	struct noise_prior p;
	(void)state;
	for (int i = 0; i < 30; i++)
		w[i] = (struct workload_noise){ 4e-4, 6 };
	assert_true(noise_prior_fit(w, 30, &p));
	assert_true(p.worth == 8);
}

/* A pinned run of few steps beside ten long ones is no surer than its own steps are. */
static void test_a_short_set_is_less_sure(void **state)
{
	struct run_reading pinned = { .x = 0, .se = 0.03, .steps = 4 }, many[10],
			   head = { .se = 0.001 };
	(void)state;
	for (int i = 0; i < 10; i++)
		many[i] = (struct run_reading){ .x = i % 2 * 0.01, .se = 0.001, .steps = 30 };
	const struct run_readings sets[] = { { &pinned, 1 }, { many, 10 } };
	struct noise noise;
	double wide =
		noise_interval(&head, sets, 2, 0, NOISE_PRIOR_DEFAULT, 0.01, INFINITY, &noise);
	pinned.se = 0.001;
	double narrow =
		noise_interval(&head, sets, 2, 0, NOISE_PRIOR_DEFAULT, 0.01, INFINITY, &noise);
	assert_true(wide > narrow * 1.5);
	assert_true(isnan(noise_interval(&(struct run_reading){ .se = NAN }, sets, 2, 0,
		NOISE_PRIOR_DEFAULT, 0.01, INFINITY, &noise)));
}

/* By hand, with the 99.5% quantiles of Student: 4.604 of 4, 4.032 of 5, 2.73 of 34 degrees. */
static void test_what_would_settle_it(void **state)
{
	struct run_reading base = { .se = 0, .steps = 10 }, head = { .se = 0, .steps = 10 };
	const struct run_readings set = { &base, 1 };
	struct noise noise;
	(void)state;
	/* 4.604 * 0.01 * sqrt(1 + 1) = 0.0651; one more: 4.032 * 0.01 * sqrt(1 + 1 / 2) = 0.0494 */
	noise_interval(&head, &set, 1, 0, NOISE_PRIOR_DEFAULT, 0.01, 0.05, &noise);
	assert_true(noise.baselines_more == 1);
	assert_true(isnan(noise.steps_times)); /* all noise is between runs */
	noise_interval(&head, &set, 1, 0, NOISE_PRIOR_DEFAULT, 0.01, 0.07, &noise);
	assert_true(isnan(noise.baselines_more));
	/* 4.604 * sqrt(0.0002 + 0.01 / times) < 0.15: times > 11.6; baselines leave 0.274 */
	head.se = 0.1;
	noise_interval(&head, &set, 1, 0, NOISE_PRIOR_DEFAULT, 0.01, 0.15, &noise);
	assert_true(noise.steps_times == 12);
	assert_true(isnan(noise.baselines_more));
}

/* At most a fifth may be odd; more of them are the set. */
static void test_many_odd_ones_stay(void **state)
{
	struct run_reading r[10];
	bool out[10];
	(void)state;
	for (int i = 0; i < 10; i++)
		r[i] = (struct run_reading){ .x = i * 1e-5, .se = 1e-4, .steps = 30 };
	const struct run_readings set = { r, 10 };
	assert_true(noise_outlying(set, NOISE_PRIOR_DEFAULT, 0.01, keep, out) == 0);
	r[4].x = 0.08;
	assert_true(noise_outlying(set, NOISE_PRIOR_DEFAULT, 0.01, keep, out) == 1);
	assert_true(out[4] && !out[3]);
	r[4].x = 0.3;
	r[5].x = -0.3;
	r[6].x = 0.3;
	assert_true(
		noise_outlying(set, (struct noise_prior){ 1e-4, 100, 0 }, 0.01, keep, out) == 0);
	assert_false(out[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_runs_share_their_steps),
		cmocka_unit_test(test_long_runs_may_know_better),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_a_shift_is_no_noise),
		cmocka_unit_test(test_prior_of_a_store),
		cmocka_unit_test(test_alike_workloads),
		cmocka_unit_test(test_a_short_set_is_less_sure),
		cmocka_unit_test(test_what_would_settle_it),
		cmocka_unit_test(test_many_odd_ones_stay),
	};

	return cmocka_run_group_tests(tests, start, end);
}
