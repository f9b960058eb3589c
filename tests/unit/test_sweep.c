/*
 * measure/sweep: what one pass over a device's ops adds up to, seen before it becomes tables
 * (test_measure_* tell the rest).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/sweep.h"
#include "tests/unit/xspace.h"

#define PS_PER_US    INT64_C(1000000)
#define IS(category) X_STATS(x_int("program_id", 7), x_text("hlo_category", (category)))

static struct arena a;
static struct xplane *tpu;
static struct xspace *space;
static struct profile profile;
static struct registry *registry;
static struct sweep sweep;

static int setup(void **state)
{
	(void)state;
	a = arena_new((ptrdiff_t)1 << 30);
	space = xspace_new(&a);
	tpu = x_tpu(space, 0, "TPU v5 lite");
	registry = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (registry)
		registry_free(registry);
	arena_free(&a);
	return 0;
}

/* Sweeps what was written; steps of `step_us` from 0 on, or the whole window as one. */
static void sweep_now(int64_t step_us, ptrdiff_t steps)
{
	static struct input in;
	static struct diag err;
	static struct diag_list notes;
	static const struct host_facts facts;
	struct step_plan plan = { .source = steps ? STEPS_LINE : STEPS_WINDOW };

	in = input_memory(STR("test"), xspace_done(space));
	assert_true(xplane_open(&in, STR("host"), &a, &profile, &err));
	registry = registry_new(&profile, 1, &a, &notes);
	plan.marks = steps ? arena_make(&a, struct step_mark, steps) : NULL;
	for (ptrdiff_t i = 0; i < steps; i++)
		plan.marks[i] = (struct step_mark){ i * step_us * PS_PER_US,
			(i + 1) * step_us * PS_PER_US, i };
	plan.mark_count = steps;
	assert_true(
		sweep_plane(&profile.planes[0], 0, &plan, &facts, registry, 0, &a, &sweep, &err));
}

static const struct op_total *total_of(const char *name)
{
	for (ptrdiff_t i = 0; i < registry_subject_count(registry); i++)
		if (str_eq(registry_subject_at(registry, i)->name, str_from(name)))
			return &sweep.ops[i];
	fail_msg("no %s", name);
	return NULL;
}

#define assert_us(ps, us) assert_int_equal((ps), (us)*PS_PER_US)

static void children_take_from_their_parent(void **state)
{
	(void)state;
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "while", IS("while"));
	x_op(tpu, "call", IS("call"));
	x_op(tpu, "dot", IS("convolution fusion"));
	x_event(ops, "while", 0, 100, NULL);
	x_event(ops, "call", 10, 60, NULL);
	x_event(ops, "dot", 10, 30, NULL);
	x_event(ops, "dot", 40, 60, NULL);
	x_event(ops, "dot", 70, 90, NULL);
	sweep_now(0, 0);
	assert_us(total_of("while")->self.sum, 30);
	assert_us(total_of("call")->self.sum, 10);
	assert_us(total_of("dot")->self.sum, 60);
	assert_int_equal(total_of("dot")->self.count, 3);
	assert_us(sweep.mask_ps[ACTIVITY_COMPUTE], 100);
	assert_us(sweep.idle_ps, 0);
}

/*
 * us             0     100    150    200    300    350
 * dot, lane 0    |------------|             |------|
 * all-reduce, 1        |-------------|
 */
static void exposed_and_hidden(void **state)
{
	(void)state;
	struct xline *ops = x_line(tpu, "XLA Ops"), *other = x_line(tpu, "Sparse Core Ops");
	x_op(tpu, "dot", IS("convolution fusion"));
	x_op(tpu, "all-reduce", IS("all-reduce"));
	for (int64_t at = 0; at < 1600; at += 400) {
		x_event(ops, "dot", at, at + 150, NULL);
		x_event(other, "all-reduce", at + 100, at + 200, NULL);
		x_event(ops, "dot", at + 300, at + 350, NULL);
	}
	sweep_now(400, 4);
	const struct op_total *reduce = total_of("all-reduce"), *dot = total_of("dot");
	assert_int_equal(sweep.steady_count, 4);
	assert_int_equal(reduce->self.count, 4);
	assert_us(reduce->hidden_ps, 200);
	assert_us(reduce->exposed_ps, 200);
	assert_us(reduce->overlap_ps, 200);
	assert_us(dot->overlap_ps, 200);
	assert_us(dot->self.sum, 800);
	assert_us(sweep.mask_ps[ACTIVITY_COMMS], 200);
	assert_us(sweep.mask_ps[ACTIVITY_COMPUTE | ACTIVITY_COMMS], 200);
	assert_us(sweep.idle_ps, 600);
}

/* Transfers at the same time share it to the last picosecond. */
static void shared_time(void **state)
{
	(void)state;
	x_op(tpu, "infeed", IS("infeed"));
	for (int i = 0; i < 7; i++)
		x_event(x_line(tpu, "XLA Ops"), "infeed", 0, 1, NULL);
	sweep_now(0, 0);
	const struct op_total *t = total_of("infeed");
	assert_int_equal(t->self.count, 7);
	assert_us(t->self.sum, 7);
	assert_us(t->exposed_ps, 1);
	assert_us(sweep.mask_ps[ACTIVITY_TRANSFER], 1);
}

/* What computes beside a transfer overlaps nothing that counts, and is still counted once. */
static void counted_once(void **state)
{
	(void)state;
	struct xline *ops = x_line(tpu, "XLA Ops"), *other = x_line(tpu, "Sparse Core Ops");
	x_op(tpu, "dot", IS("convolution fusion"));
	x_op(tpu, "infeed", IS("infeed"));
	for (int64_t at = 0; at < 300; at += 100) {
		x_event(other, "infeed", at, at + 90, NULL);
		x_event(ops, "dot", at + 10, at + 50, NULL);
		x_event(ops, "dot", at + 60, at + 80, NULL);
	}
	sweep_now(100, 3);
	assert_int_equal(total_of("dot")->self.count, 6);
	assert_us(total_of("dot")->self.sum, 180);
	assert_int_equal(total_of("dot")->overlap_ps, 0);
	assert_int_equal(total_of("infeed")->self.count, 3);
	assert_us(total_of("infeed")->hidden_ps, 180);
	assert_us(total_of("infeed")->exposed_ps, 90);
}

/* A step of more executions than are kept one by one: the same as many small steps. */
static void a_step_of_many(void **state)
{
	enum { MANY = 20000 };
	(void)state;
	struct dist steps = { 0 };
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot", IS("convolution fusion"));
	x_op(tpu, "add", IS("loop fusion"));
	for (int64_t i = 0; i < MANY; i++)
		x_event(ops, i % 10 ? "dot" : "add", i * 100, i * 100 + 1 + i % 97, NULL);
	for (int round = 0; round < 2; round++) {
		sweep_now(round ? 1000 : 0, round ? MANY / 10 : 0);
		const struct op_total *t = total_of("dot");
		assert_int_equal(t->self.count, MANY / 10 * 9);
		assert_us(t->self.max, 97);
		if (round) {
			assert_int_equal(t->self.sum, steps.sum);
			assert_int_equal(t->self.bucket_count, steps.bucket_count);
			assert_memory_equal(t->self.buckets, steps.buckets,
				(size_t)steps.bucket_count * sizeof(*steps.buckets));
		}
		steps = t->self;
		if (!round)
			registry_free(registry);
	}
}

/* More at once than a device can run: said so, and every event still ends. */
static void too_deep(void **state)
{
	(void)state;
	x_op(tpu, "dot", IS("convolution fusion"));
	struct xline *ops = x_line(tpu, "XLA Ops");
	for (int64_t i = 0; i < 2 * SWEEP_MAX_RUNNING; i++)
		x_event(ops, "dot", i, 100000 - i, NULL);
	sweep_now(0, 0);
	assert_true(sweep.too_deep);
	assert_int_equal(total_of("dot")->self.count, 2 * SWEEP_MAX_RUNNING);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(children_take_from_their_parent),
		CASE(exposed_and_hidden),
		CASE(shared_time),
		CASE(counted_once),
		CASE(a_step_of_many),
		CASE(too_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
