/* measure/: the timeline of one step, memory over time, and what stands around an op. */
#include <stdlib.h>
#include <string.h>

#include "measure/memory_curve.h"
#include "measure/plots.h"
#include "tests/unit/run.h"

static struct plots plots;

#define PROGRAM 7
#define OF_IT	X_STATS(x_int("program_id", PROGRAM))
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

static void measure(void)
{
	xrun_measure(&run);
	if (!measure_plots(run.measured, &plots, &run.err))
		fail_msg("%s", run.err.text);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void add_in_order(struct curve *c, int64_t count, int64_t by)
{
	memset(c, 0, sizeof(*c));
	for (int64_t i = 0; i < count; i++) {
		int64_t k = i * by % count;
		curve_add(c, (k - count / 3) * 7000000, k * k % 1009);
	}
}

/* 5000 samples 7 us apart, some before zero, in order and shuffled: 35 ms in 320 slots at most. */
static void a_curve_does_not_depend_on_the_order(void **state)
{
	(void)state;
	enum { COUNT = 5000 };
	struct curve *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));
	add_in_order(one, COUNT, 1);
	add_in_order(other, COUNT, 1777);
	assert_int_equal(one->count, other->count);
	assert_int_equal(one->shift, other->shift);
	assert_memory_equal(one->slots, other->slots, (size_t)one->count * sizeof(one->slots[0]));
	assert_true(one->count > CURVE_SLOTS / 2 && one->count <= CURVE_SLOTS);
	assert_int_equal(curve_slot_ps(one), INT64_C(1) << 27);
	assert_int_equal(curve_at_ps(one, 0), -(COUNT / 3) * INT64_C(7000000));
	for (ptrdiff_t i = 1; i < one->count; i++)
		assert_int_equal(curve_at_ps(one, i) % (INT64_C(1) << 27), 0);
	int64_t most = 0;
	for (ptrdiff_t i = 0; i < one->count; i++)
		most = one->slots[i].most > most ? one->slots[i].most : most;
	assert_int_equal(most, 1008);
	free(one);
	free(other);
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static void assert_bar(ptrdiff_t i, const char *lane, const char *activity, const char *name,
	double start_us, double time_us, double ops)
{
	assert_true(i < plot_count(&plots, timeline));
	const struct timeline_row *b = &plot_rows(&plots, timeline)[i];
	assert_text(b->lane, lane);
	assert_text(b->activity, activity);
	assert_text(b->name, name);
	assert_number(b->start_s, start_us * US);
	assert_number(b->time_s, time_us * US);
	assert_number(b->ops, ops);
}

/*
 * Steps of 6000, 9000, 6000 and 6000 us; the first is a warm-up, and the second is not typical, so
 * the third is shown.  A sliver is 10 us.
 *
 *	while.1  |------------------------------------------|
 *	dot.1      |--------|       |-| |-| |-|    dot.1 five times, 3 us each
 */
static void a_step_as_bars(void **state)
{
	(void)state;
	static const int64_t starts[] = { 0, 6000, 15000, 21000, 27000 };
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "while.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "while")));
	x_op(tpu, "dot.1", X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "dot")));
	x_op(tpu, "all-reduce.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "all-reduce")));
	for (int k = 0; k < 4; k++) {
		int64_t at = starts[k];
		x_event(steps, arena_z(&run.keep, arena_fmt(&run.keep, "%d", k + 40)), at,
			starts[k + 1], NULL);
		x_event(ops, "while.1", at + 100, at + 4000, NULL);
		x_event(ops, "dot.1", at + 200, at + 1200, NULL);
		for (int i = 0; i < 3; i++)
			x_event(ops, "dot.1", at + 2000 + 3 * i, at + 2003 + 3 * i, NULL);
		x_event(ops, "all-reduce.1", at + 5000, at + 5900, NULL);
	}
	measure();
	const struct moment_row *m = plot_rows(&plots, moment);
	assert_int_equal(plot_count(&plots, moment), 1);
	assert_number(m->step, 42);
	assert_number(m->step_s, 6000 * US);
	assert_number(m->shown_s, 6000 * US);
	assert_number(m->lanes, 1);
	assert_int_equal(plot_count(&plots, timeline), 6);
	assert_bar(0, "XLA Ops", "compute", "while.1", 100, 100, 1);
	assert_bar(1, "XLA Ops", "compute", "dot.1", 200, 1000, 1);
	assert_bar(2, "XLA Ops", "compute", "while.1", 1200, 800, 0);
	assert_bar(3, "XLA Ops", "compute", "dot.1", 2000, 9, 3);
	assert_bar(4, "XLA Ops", "compute", "while.1", 2009, 1991, 0);
	assert_bar(5, "XLA Ops", "communication", "all-reduce.1", 5000, 900, 1);
	assert_number(m->ops, 6);
	assert_number(m->merged, 3);
}

/* Six devices of equal steps: work[d] us of compute, and the rest of 1000 us in an all-reduce. */
static void six_devices(const int64_t *work)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < 6; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.1",
			X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "dot")));
		x_op(tpu, "all-reduce.1",
			X_STATS(x_int("program_id", PROGRAM),
				x_text("hlo_category", "all-reduce")));
		for (int k = 0; k < 4; k++) {
			int64_t at = 1000 * k;
			x_event(steps, arena_z(&run.keep, arena_fmt(&run.keep, "%d", k)), at,
				at + 1000, NULL);
			x_event(ops, "dot.1", at, at + work[d], NULL);
			x_event(ops, "all-reduce.1", at + work[d], at + 1000, NULL);
		}
	}
	measure();
}

static void assert_moment(ptrdiff_t i, const char *device, const char *role, double own_us)
{
	const struct moment_row *m = &plot_rows(&plots, moment)[i];
	assert_text(m->device, device);
	assert_text(m->role, role);
	assert_number(m->own_s, own_us * US);
	assert_number(m->left_out, 2);
	assert_number(m->step, 1);
	assert_int_equal(plot_count(&plots, timeline), 8);
	assert_number(plot_rows(&plots, timeline)[2 * i].moment, (double)i);
	assert_number(plot_rows(&plots, timeline)[2 * i].time_s, own_us * US);
	assert_number(plot_rows(&plots, timeline)[2 * i + 1].moment, (double)i);
}

/* Device 4 keeps the others waiting, 5 waits most, and 2 is the lower median: 700 600 500 400. */
static void the_devices_that_tell_most(void **state)
{
	(void)state;
	static const int64_t work[] = { 500, 400, 600, 300, 700, 200 };
	six_devices(work);
	assert_int_equal(plot_count(&plots, moment), 4);
	assert_moment(0, "/device:TPU:0", "median", 500);
	assert_moment(1, "/device:TPU:1", NULL, 400);
	assert_moment(2, "/device:TPU:4", "slowest", 700);
	assert_moment(3, "/device:TPU:5", "waiting", 200);
}

/* Within a hundredth of the step nobody is slow. */
static void devices_that_are_alike(void **state)
{
	(void)state;
	static const int64_t work[] = { 500, 501, 509, 505, 504, 500 };
	six_devices(work);
	assert_int_equal(plot_count(&plots, moment), 4);
	for (ptrdiff_t i = 0; i < 4; i++)
		assert_moment(i, arena_z(&run.keep, arena_fmt(&run.keep, "/device:TPU:%td", i)),
			NULL, (double)work[i]);
}

/* A pair in flight has a lane of its own, from its start to the end of its done. */
static void what_is_in_flight(void **state)
{
	(void)state;
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "bf16[256]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather-start.2", "all-gather-start", "(bf16[256]{0}, bf16[1024]{0})", 2,
			{ 1 }, NO_ROW, 0, NO_ROW },
		{ "add.1", "add", "bf16[256]{0}", 3, { 1, 1 }, NO_ROW, 0, NO_ROW },
		{ "all-gather-done.2", "all-gather-done", "bf16[1024]{0}", 4, { 2 }, NO_ROW, 0,
			NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_f", PROGRAM, pb_write_module(&run.keep, c, STR("")));
	x_op(tpu, "all-gather-start.2", OF_IT);
	x_op(tpu, "add.1", OF_IT);
	x_op(tpu, "all-gather-done.2", OF_IT);
	for (int64_t at = 0; at < 5000; at += 1000) {
		x_event(ops, "all-gather-start.2", at, at + 10, NULL);
		x_event(ops, "add.1", at + 10, at + 600, NULL);
		x_event(ops, "all-gather-done.2", at + 600, at + 800, NULL);
	}
	measure();
	assert_int_equal(plot_count(&plots, timeline), 4);
	assert_bar(0, "XLA Ops", "communication", "all-gather-start.2", 0, 10, 1);
	assert_bar(1, "XLA Ops", "compute", "add.1", 10, 590, 1);
	assert_bar(2, "XLA Ops", "communication", "all-gather-done.2", 600, 200, 1);
	assert_bar(3, "collectives in flight", "communication", "all-gather-start.2", 0, 800, 1);

	struct around around;
	assert_true(measure_around(run.measured, STR("all-gather-start.2"), STR(""), &around));
	assert_int_equal(around.ops.count, 2);
	assert_text(around.ops.items[0].name, "x");
	assert_int_equal(around.ops.items[0].role, AROUND_TAKES);
	assert_text(around.ops.items[1].opcode, "all-gather-start");
	assert_int_equal(around.ops.items[1].role, AROUND_SELF);
	assert_false(measure_around(run.measured, STR("nobody"), STR(""), &around));
}

/* A hundred thousand ops between two others: as many bars as a picture takes, and none lost. */
static void a_bound(void **state)
{
	(void)state;
	enum { OPS = 100000 };
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *gpu = x_gpu(host, 0, "NVIDIA H100 80GB HBM3");
	for (int s = 0; s < 3; s++) {
		struct xline *stream = x_line(gpu,
			arena_z(&run.keep, arena_fmt(&run.keep, "Stream #%d(Compute)", s + 1)));
		for (int64_t i = 0; i < OPS / 3; i++)
			x_event(stream, i % 2 ? "a" : "b", i * 4 + s, i * 4 + s + 3, NULL);
	}
	measure();
	const struct moment_row *m = plot_rows(&plots, moment);
	assert_unknown(m->step);
	assert_number(m->lanes_shown, 3);
	assert_number(m->ops, OPS / 3 * 3);
	assert_true(plot_count(&plots, timeline) <= PLOT_MAX_ROWS);
	assert_true(plot_count(&plots, timeline) > PLOT_MAX_ROWS / 4);
}

/* ---- memory over time ------------------------------------------------------------------------ */

static void what_the_fullest_allocator_held(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "main/1");
	for (int64_t i = 0; i < 4; i++)
		for (int64_t device = 0; device < 2; device++)
			x_event(thread, "MemoryAllocation", 100 * i, 100 * i,
				X_STATS(x_int("index_on_host", device),
					x_int("bytes_allocated", (i + 1) * (device + 1) << 20)));
	measure();
	const struct curves_row *c = plot_rows(&plots, curves);
	assert_int_equal(plot_count(&plots, curves), 1);
	assert_text(c->source, "allocator");
	assert_text(c->device, "device 1");
	assert_number(c->samples, 4);
	assert_number(c->length_s, 300 * US);
	assert_int_equal(plot_count(&plots, usage), 4);
	for (int i = 0; i < 4; i++)
		assert_number(plot_rows(&plots, usage)[i].bytes, (double)((i + 1) * 2 << 20));
}

static void nothing_to_draw(void **state)
{
	(void)state;
	xrun_host(&run, "worker-0");
	measure();
	for (int id = 0; id < PLOT_COUNT; id++)
		assert_int_equal(plots.items[id].count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_curve_does_not_depend_on_the_order),
		cmocka_unit_test_setup_teardown(a_step_as_bars, run_begin, run_end),
		cmocka_unit_test_setup_teardown(the_devices_that_tell_most, run_begin, run_end),
		cmocka_unit_test_setup_teardown(devices_that_are_alike, run_begin, run_end),
		cmocka_unit_test_setup_teardown(what_is_in_flight, run_begin, run_end),
		cmocka_unit_test_setup_teardown(a_bound, run_begin, run_end),
		cmocka_unit_test_setup_teardown(
			what_the_fullest_allocator_held, run_begin, run_end),
		cmocka_unit_test_setup_teardown(nothing_to_draw, run_begin, run_end),
	};
	return cmocka_run_group_tests_name("measure_plots", tests, NULL, NULL);
}
