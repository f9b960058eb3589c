/*
 * measure/sweep: what one pass over a device's ops adds up to, seen before it becomes tables
 * (test_measure_* tell the rest).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

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

/* Sweeps a plane; steps of `step_us` from 0 on, or the whole window as one. */
static void sweep_of(int plane, int64_t step_us, ptrdiff_t steps)
{
	static struct diag err;
	static const struct host_facts facts;
	struct step_plan plan = { .source = steps ? STEPS_LINE : STEPS_WINDOW };

	plan.marks = steps ? arena_make(&a, struct step_mark, steps) : NULL;
	for (ptrdiff_t i = 0; i < steps; i++)
		plan.marks[i] = (struct step_mark){ .start_ps = i * step_us * PS_PER_US,
			.end_ps = (i + 1) * step_us * PS_PER_US,
			.number = i };
	plan.mark_count = steps;
	plane_learn(&profile.planes[plane], &a);
	assert_true(sweep_plane(
		&profile.planes[plane], 0, &plan, &facts, registry, 0, false, &a, &sweep, &err));
}

/* The first of what was written. */
static void sweep_now(int64_t step_us, ptrdiff_t steps)
{
	static struct input in;
	static struct diag err;
	static struct diag_list notes;

	in = input_memory(STR("test"), xspace_done(space));
	assert_true(xplane_open(&in, STR("host"), &a, &profile, &err));
	registry = registry_new(&profile, 1, NULL, NULL, &a, &notes);
	sweep_of(0, step_us, steps);
}

static ptrdiff_t subject_named(const char *name)
{
	for (ptrdiff_t i = 0; i < registry_subject_count(registry); i++)
		if (str_eq(registry_subject_at(registry, i)->name, str_from(name)))
			return i;
	fail_msg("no %s", name);
	return -1;
}

static const struct op_total *total_of(const char *name)
{
	return sweep_op(&sweep, subject_named(name));
}

static const struct moving_total *moving_of(const char *name)
{
	return sweep_moving(&sweep, subject_named(name));
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
	assert_us(moving_of("all-reduce")->hidden_ps, 200);
	assert_us(moving_of("all-reduce")->exposed_ps, 200);
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
	assert_us(moving_of("infeed")->exposed_ps, 1);
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
	assert_us(moving_of("infeed")->hidden_ps, 180);
	assert_us(moving_of("infeed")->exposed_ps, 90);
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
			assert_int_equal(t->self.run_count, steps.run_count);
			for (int32_t k = 0; k < steps.run_count; k++)
				if (steps.runs[k])
					assert_memory_equal(t->self.runs[k], steps.runs[k],
						DIST_RUN * sizeof(*steps.runs[k]));
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

/* ---- against the definition, microsecond by microsecond -------------------------------------- */

enum { SPAN_US = 600, LANES = 3, OPS = 5, STEP_US = 100 };
static const struct {
	const char *name, *category;
	int activity;
} op_kinds[OPS] = {
	{ "dot", "convolution fusion", ACTIVITY_COMPUTE },
	{ "add", "loop fusion", ACTIVITY_COMPUTE },
	{ "copy", "copy", ACTIVITY_COPY },
	{ "infeed", "infeed", ACTIVITY_TRANSFER },
	{ "all-reduce", "all-reduce", ACTIVITY_COMMS },
};

/* Which op is innermost on a lane at a microsecond; -1 none. */
static int8_t innermost[LANES][SPAN_US];

static uint32_t random_below(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*seed * n >> 32);
}

/* Events within [from, to), one after the other, some with others inside. */
static void random_events(
	struct xline *line, int lane, int64_t from, int64_t to, int depth, uint32_t *seed)
{
	while (from < to) {
		int64_t start = from + random_below(seed, 4) * (random_below(seed, 3) == 0);
		int64_t end = start + 1 + random_below(seed, depth ? 12 : 60);
		int op = (int)random_below(seed, OPS);

		end = end < to ? end : to;
		if (start >= end)
			return;
		x_event(line, op_kinds[op].name, start, end, NULL);
		memset(&innermost[lane][start], op, (size_t)(end - start));
		if (depth < 3 && random_below(seed, 2))
			random_events(line, lane, start, end, depth + 1, seed);
		from = end;
	}
}

struct op_sum {
	double self, overlap, exposed, hidden; /* microseconds */
};

struct sums {
	struct op_sum ops[OPS];
	double mask[ACTIVITY_MASKS];
};

/* One microsecond of one lane's op, among what the other lanes run. */
static void add_op(struct sums *sums, int op, int mask, int busy, const int *sharing)
{
	struct op_sum *sum = &sums->ops[op];
	int activity = op_kinds[op].activity;
	bool counts = activity & (ACTIVITY_COMPUTE | ACTIVITY_COMMS);
	bool hidden =
		activity == ACTIVITY_COMMS ? mask & ACTIVITY_COMPUTE : mask != ACTIVITY_TRANSFER;

	sum->self++;
	sum->overlap += busy > counts;
	if (activity & (ACTIVITY_COMMS | ACTIVITY_TRANSFER))
		*(hidden ? &sum->hidden : &sum->exposed) += 1.0 / sharing[activity];
}

static struct sums by_definition(void)
{
	struct sums sums = { 0 };

	for (int t = 0; t < SPAN_US; t++) {
		int mask = 0, sharing[ACTIVITY_MASKS] = { 0 };

		for (int lane = 0; lane < LANES; lane++) {
			int op = innermost[lane][t];
			if (op < 0)
				continue;
			mask |= op_kinds[op].activity;
			sharing[op_kinds[op].activity]++;
		}
		sums.mask[mask]++;
		for (int lane = 0; lane < LANES; lane++)
			if (innermost[lane][t] >= 0)
				add_op(&sums, innermost[lane][t], mask,
					sharing[ACTIVITY_COMPUTE] + sharing[ACTIVITY_COMMS],
					sharing);
	}
	return sums;
}

/* Rounding is to a picosecond, once for every step. */
static void assert_near_us(int64_t ps, double us)
{
	assert_true(fabs((double)ps - us * (double)PS_PER_US) <= SPAN_US / STEP_US);
}

static void as_defined(void **state)
{
	uint32_t seed = 1;

	for (int round = 0; round < 300; round++) {
		memset(innermost, -1, sizeof(innermost));
		for (int op = 0; op < OPS; op++)
			x_op(tpu, op_kinds[op].name, IS(op_kinds[op].category));
		for (int lane = 0; lane < LANES; lane++)
			random_events(x_line(tpu, "XLA Ops"), lane, 0, SPAN_US, 0, &seed);
		sweep_now(STEP_US, SPAN_US / STEP_US);
		struct sums sums = by_definition();
		assert_int_equal(sweep.steady_count, SPAN_US / STEP_US);
		int64_t busy_ps = 0;
		for (int mask = 0; mask < ACTIVITY_MASKS; mask++) {
			assert_near_us(sweep.mask_ps[mask], sums.mask[mask]);
			busy_ps += mask > 0 ? sweep.mask_ps[mask] : 0;
		}
		assert_int_equal(sweep.busy_ps, busy_ps);
		for (int op = 0; op < OPS; op++) {
			const struct op_total *t = total_of(op_kinds[op].name);
			const struct moving_total *m = moving_of(op_kinds[op].name);
			assert_near_us(t->self.sum, sums.ops[op].self);
			assert_near_us(t->overlap_ps, sums.ops[op].overlap);
			assert_near_us(m->exposed_ps, sums.ops[op].exposed);
			assert_near_us(m->hidden_ps, sums.ops[op].hidden);
		}
		teardown(state);
		setup(state);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/*
 * A sweep takes memory for its own ops alone, whatever number the first of them has in a job of
 * many programs; one that is met later may stand before it.
 */
static void few_ops_of_many(void **state)
{
	enum { OTHERS = 5000 };
	(void)state;
	struct xline *ops = x_line(tpu, "XLA Ops");
	struct xplane *second = x_tpu(space, 1, "TPU v5 lite");
	for (int i = 0; i < OTHERS; i++) {
		const char *name = arena_fmt(&a, "op.%d", i).p;
		x_op(tpu, name, IS("convolution fusion"));
		x_event(ops, name, 10 * i, 10 * i + 5, NULL);
	}
	x_op(second, "last", X_STATS(x_int("program_id", 8), x_text("hlo_category", "copy")));
	x_op(second, "op.4000", IS("convolution fusion"));
	ops = x_line(second, "XLA Ops");
	x_event(ops, "last", 0, 5, NULL);
	x_event(ops, "op.4000", 10, 30, NULL);
	x_event(ops, "last", 40, 50, NULL);
	sweep_now(0, 0);
	assert_int_equal(sweep.op_first, 0);
	sweep_of(1, 0, 0);
	assert_true(sweep.op_first >= 3000 && sweep.op_cap <= 2048);
	assert_us(total_of("op.4000")->self.sum, 20);
	assert_us(total_of("last")->self.sum, 15);
}

/* A sum of doubles in the order in which threads met the ops would depend on them. */
static void ops_have_ranks_whoever_met_them_first(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	static struct diag_list notes;
	struct xplane *other = x_tpu(space, 1, "TPU v5 lite");
	struct xline *first = x_line(tpu, "XLA Ops"), *second = x_line(other, "XLA Ops");

	(void)state;
	x_op(tpu, "c", IS("while"));
	x_op(tpu, "a", IS("while"));
	x_op(other, "b", IS("while"));
	x_event(first, "c", 0, 10, NULL);
	x_event(first, "a", 10, 20, NULL);
	x_event(second, "b", 0, 10, NULL);
	sweep_now(0, 0);
	for (int round = 0; round < 2; round++) {
		sweep_of(!round, 0, 0);
		sweep_of(round, 0, 0);
		assert_int_equal(registry_subject_count(registry), 3);
		for (int i = 0; i < 3; i++)
			assert_true(str_eq(registry_subjects_ranked(registry)[i]->name,
				str_from(names[i])));
		registry_free(registry);
		registry = registry_new(&profile, 1, NULL, NULL, &a, &notes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(children_take_from_their_parent),
		CASE(exposed_and_hidden),
		CASE(shared_time),
		CASE(counted_once),
		CASE(a_step_of_many),
		CASE(too_deep),
		CASE(as_defined),
		CASE(few_ops_of_many),
		CASE(ops_have_ranks_whoever_met_them_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
