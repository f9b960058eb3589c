/*
 * store/change: planted changes are found where they are, and quiet histories stay quiet.  The
 * noise is made here, by a generator of our own, so that the counts below never vary.
 */
#include <math.h>
#include <stdlib.h>

#include "store/change.h"
#include "tests/unit/keep.h"

/* splitmix64 (Steele et al. 2014), and Box-Muller. */
static uint64_t seed;

static double uniform(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));
	return radius * cos(6.283185307179586 * uniform());
}

/* Of a hundred runs three are a tenth slower; three of those in a row would be a level. */
static double spiky(void)
{
	return normal() + (uniform() < 0.03 ? 10 : 0);
}

/* Heavy tails: Student's t with four degrees of freedom, scaled to a spread of one. */
static double heavy(void)
{
	double sum = 0;
	for (int i = 0; i < 4; i++) {
		double x = normal();
		sum += x * x;
	}
	return normal() / sqrt(sum / 4) / sqrt(2);
}

/* One percent of noise around levels that begin where `starts` says. */
struct level {
	ptrdiff_t at;
	double value;
};

static void fill(double *values, ptrdiff_t count, const struct level *levels, double (*noise)(void))
{
	for (ptrdiff_t i = 0, at = 0; i < count; i++) {
		while (levels[at + 1].value > 0 && i >= levels[at + 1].at)
			at++;
		values[i] = levels[at].value * exp(0.01 * noise());
	}
}

static ptrdiff_t find(const double *values, ptrdiff_t count, struct change **ret)
{
	arena_clear(&keep);
	return change_points(values, count, &keep, ret);
}

static int count_false(ptrdiff_t count, double (*noise)(void))
{
	const struct level quiet[] = { { 0, 0.1 }, { 0, 0 } };
	double values[200];
	struct change *changes;
	int found = 0;
	for (int i = 0; i < 2000; i++) {
		fill(values, count, quiet, noise);
		found += find(values, count, &changes) > 0;
	}
	return found;
}

/* At most 20 of 2000: one of a hundred. */
static void quiet_histories(void **state)
{
	static const ptrdiff_t lengths[] = { 6, 8, 13, 26, 60, 200 };
	static double (*const noises[])(void) = { normal, heavy, spiky };
	(void)state;
	seed = 1;
	for (size_t n = 0; n < sizeof(noises) / sizeof(noises[0]); n++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			int found = count_false(lengths[i], noises[n]);
			print_message("noise %zu, %td runs: %d of 2000\n", n, lengths[i], found);
			assert_true(found <= 20);
		}
}

static void is_found(const struct level *levels, ptrdiff_t count, double (*noise)(void), int least)
{
	double values[200];
	struct change *changes;
	int hits = 0;
	for (int i = 0; i < 500; i++) {
		fill(values, count, levels, noise);
		ptrdiff_t found = find(values, count, &changes), planted = 0;
		bool hit = true;
		for (; levels[planted + 1].value > 0; planted++)
			hit = hit && planted < found &&
			      labs(changes[planted].at - levels[planted + 1].at) <= 1;
		hits += hit && found == planted;
	}
	print_message(
		"%td runs, %g to %g: %d of 500\n", count, levels[0].value, levels[1].value, hits);
	assert_true(hits >= least);
}

/* Within one run of the truth, and no others. */
static void planted_changes(void **state)
{
	(void)state;
	seed = 2;
	is_found((struct level[]){ { 0, 1 }, { 20, 1.10 }, { 0, 0 } }, 40, normal, 495);
	is_found((struct level[]){ { 0, 1 }, { 20, 1.05 }, { 0, 0 } }, 40, normal, 480);
	is_found((struct level[]){ { 0, 1 }, { 37, 1.10 }, { 0, 0 } }, 40, normal, 490);
	is_found((struct level[]){ { 0, 1 }, { 5, 0.85 }, { 0, 0 } }, 9, normal, 480);
	is_found((struct level[]){ { 0, 1 }, { 8, 1.1 }, { 16, 1 }, { 0, 0 } }, 24, normal, 490);
	is_found((struct level[]){ { 0, 1 }, { 20, 1.10 }, { 0, 0 } }, 40, heavy, 480);
	is_found((struct level[]){ { 0, 1 }, { 20, 1.10 }, { 0, 0 } }, 40, spiky, 480);
	is_found((struct level[]){ { 0, 1 }, { 20, 1.05 }, { 0, 0 } }, 40, spiky, 450);
	is_found((struct level[]){ { 0, 1 }, { 60, 1.2 }, { 90, 1.1 }, { 140, 1 }, { 0, 0 } }, 200,
		normal, 490);
}

static void levels_are_told(void **state)
{
	double values[12];
	struct change *changes;
	(void)state;
	for (int i = 0; i < 12; i++)
		values[i] = i < 7 ? 2 : 3;
	assert_int_equal(find(values, 12, &changes), 1);
	assert_int_equal(changes[0].at, 7);
	assert_true(fabs(changes[0].before - 2) < 1e-12);
	assert_true(fabs(changes[0].after - 3) < 1e-12);
	/* A level shorter than three runs is none yet. */
	for (int i = 0; i < 12; i++)
		values[i] = i < 10 ? 2 : 3;
	assert_int_equal(find(values, 12, &changes), 0);
	assert_int_equal(find(values, 5, &changes), 0);
	assert_int_equal(find(values, 0, &changes), 0);
}

/* Wherever one run or two stand out, the levels are those of the others. */
static void spikes_are_set_aside(void **state)
{
	double values[14];
	struct change *changes;
	(void)state;
	for (int at = 0; at < 14; at++) {
		for (int i = 0; i < 14; i++)
			values[i] = i < 7 ? 2 : 3;
		values[at] *= 5;
		assert_int_equal(find(values, 14, &changes), 1);
		assert_true(labs(changes[0].at - 7) <= 1);
		if (at > 0 && at < 13)
			assert_true(fabs(changes[0].before - 2) < 0.2 &&
				    fabs(changes[0].after - 3) < 0.2);
	}
	for (int i = 0; i < 14; i++)
		values[i] = i == 5 || i == 6 ? 9 : 2;
	assert_int_equal(find(values, 14, &changes), 0);
}

/* Only the newest of a long history count, at their own places. */
static void long_history(void **state)
{
	enum { COUNT = CHANGE_MAX + 50 };
	double *values = calloc(COUNT, sizeof(*values));
	struct change *changes;
	(void)state;
	for (int i = 0; i < COUNT; i++)
		values[i] = i < 20 ? 5 : i < COUNT - 30 ? 1 : 2;
	assert_int_equal(find(values, COUNT, &changes), 1);
	assert_int_equal(changes[0].at, COUNT - 30);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_histories),
		cmocka_unit_test(planted_changes),
		cmocka_unit_test(levels_are_told),
		cmocka_unit_test(spikes_are_set_aside),
		cmocka_unit_test(long_history),
	};
	return cmocka_run_group_tests_name("change", tests, keep_begin, keep_end);
}
