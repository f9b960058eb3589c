/*
 * measure/diff: ops matched by what they are, in the order of the time they lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "measure/diff.h"
#include "tests/unit/rows.h"

static struct arena keep;
static struct tables base, head;
static struct op_diff d;

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	base = head = (struct tables){ 0 };
	return 0;
}

static void diff(const char *before, const char *after)
{
	rows_tell(&base, &keep, before);
	rows_tell(&head, &keep, after);
	diff_ops(&base, &head, &keep, &d);
}

#define assert_str(s, z) assert_string_equal(arena_z(&keep, (s)), (z))
#define OP(key, mean, count) "ops key=" key " name=" key " mean_s=" mean " per_step=" count

static void test_new_and_gone(void **state)
{
	(void)state;
	diff(OP("a", "3e-3", "2") "\n" OP("gone", "1e-3", "1"),
		OP("new", "2e-3", "4") "\n" OP("a", "3e-3", "2"));
	assert_int_equal(d.count, 3);
	assert_int_equal(d.items[0].change, CHANGE_NEW);
	assert_true(fabs(d.items[0].lost_s - 8e-3) < 1e-15);
	assert_int_equal(d.items[1].change, CHANGE_SAME);
	assert_int_equal(d.items[2].change, CHANGE_GONE);
	assert_true(fabs(d.items[2].lost_s + 1e-3) < 1e-15);
	assert_true(fabs(d.lost_s - 7e-3) < 1e-15);
}

/* Two layers of one key are one op, named after the heavier. */
static void test_ops_of_one_key(void **state)
{
	(void)state;
	diff("ops key=k name=x.1 mean_s=1e-3 per_step=1\nops key=k name=x.2 mean_s=2e-3 per_step=1",
		"ops key=k name=y.9 mean_s=6e-3 per_step=1");
	assert_int_equal(d.count, 1);
	assert_int_equal(d.items[0].change, CHANGE_SLOWER);
	assert_true(fabs(d.items[0].lost_s - 3e-3) < 1e-15);
	assert_true(d.items[0].base_count == 2 && d.items[0].head_count == 1);
	assert_str(d.items[0].base->name, "x.2");
}

static void test_noise_is_the_same(void **state)
{
	(void)state;
	diff(OP("small", "1e-3", "1") "\n" OP("noisy", "1e-3", "1")
	     " lo_s=0.9e-3 hi_s=1.1e-3\n" OP("sure", "1e-3", "1") " lo_s=0.99e-3 hi_s=1.01e-3",
		OP("small", "1.01e-3", "1") "\n" OP("noisy", "1.09e-3", "1")
		" lo_s=1.05e-3 hi_s=1.2e-3\n" OP("sure", "0.9e-3", "1")
		" lo_s=0.89e-3 hi_s=0.91e-3");
	assert_int_equal(d.counts[CHANGE_SAME], 2);
	assert_int_equal(d.counts[CHANGE_FASTER], 1);
	assert_str(d.items[2].head->key, "sure");
}

/* A changed shape is another key: the new op stands in the place of the gone one of its scope. */
static void test_place_and_consumer(void **state)
{
	(void)state;
	diff("ops key=f32 name=dot.1 kind=matmul scope=ffn mean_s=1e-3 per_step=1\n"
	     "ops key=else name=dot.2 kind=matmul scope=attn mean_s=2e-3 per_step=1",
		"ops key=bf16 name=dot.7 program=1 kind=matmul scope=ffn mean_s=2e-3 per_step=1\n"
		"ops key=else name=dot.2 kind=matmul scope=attn mean_s=2e-3 per_step=1\n"
		"edges program=1 producer=dot.7 consumer=add.3\n"
		"edges program=2 producer=dot.7 consumer=wrong");
	assert_int_equal(d.items[0].change, CHANGE_NEW);
	assert_non_null(d.items[0].instead);
	assert_str(d.items[0].instead->name, "dot.1");
	assert_str(d.items[0].feeds, "add.3");
}

static void test_nothing(void **state)
{
	(void)state;
	diff("", "");
	assert_int_equal(d.count, 0);
	assert_true(isnan(d.base_step_s) && d.lost_s == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_new_and_gone, fresh),
		cmocka_unit_test_setup(test_ops_of_one_key, fresh),
		cmocka_unit_test_setup(test_noise_is_the_same, fresh),
		cmocka_unit_test_setup(test_place_and_consumer, fresh),
		cmocka_unit_test_setup(test_nothing, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
