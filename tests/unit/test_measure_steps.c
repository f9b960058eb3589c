/* measure/: which steps a run has, which of them are steady, and how their time is divided. */
#include <math.h>

#include "measure/measured.h"
#include "tests/unit/run.h"

#define PROGRAM	     7
#define IS(category) X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", (category)))
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

static const char *number(int64_t n)
{
	return arena_z(&run.keep, arena_fmt(&run.keep, "%lld", (long long)n));
}

static const struct steps_row *step_row(ptrdiff_t i)
{
	assert_true(i < table_count(&run.tables, steps));
	return &table_rows(&run.tables, steps)[i];
}

/* A program of one parameter: what its ops are, their events say. */
static void has_program(struct xspace *host, const char *name, int64_t id)
{
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW }, NO_ROW
	};
	static const struct pb_computation module[] = { { "main", 1, body }, NO_ROW };

	x_hlo(host, name, id, pb_write_module(&run.keep, module, STR("")));
}

static struct xplane *one_tpu(void)
{
	return x_tpu(xrun_host(&run, "worker-0"), 0, "TPU v5 lite");
}

/* ---- the Steps line -------------------------------------------------------------------------- */

/*
 * us after the mark   0    100       300   350       550  600  650  750        900
 * while.1             |-----------------------------------|
 *   dot.2                  |---------|     |---------|
 * copy.3                                                       |----|
 */
static void tell_marked_steps(int64_t count)
{
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");

	x_op(tpu, "while.1", IS("while"));
	x_op(tpu, "dot.2", IS("convolution fusion"));
	x_op(tpu, "copy.3", IS("data formatting"));
	for (int64_t i = 0; i < count; i++) {
		int64_t at = i * 900;
		x_event(steps, number(i + 10), at, at + 900, NULL);
		x_event(ops, "while.1", at, at + 600, NULL);
		x_event(ops, "dot.2", at + 100, at + 300, NULL);
		x_event(ops, "dot.2", at + 350, at + 550, NULL);
		x_event(ops, "copy.3", at + 650, at + 750, NULL);
	}
}

static void marked_steps_without_the_warm_up(void **state)
{
	(void)state;
	tell_marked_steps(5);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->steps_source, "steps-line");
	assert_number(r->steps, 4);
	assert_number(r->step_time_s, 900 * US);
	assert_number(r->step_time_lo_s, 900 * US);
	assert_number(r->step_time_hi_s, 900 * US);
	assert_number(r->window_s, 4350 * US);
	assert_int_equal(table_count(&run.tables, steps), 5);
	assert_number(step_row(0)->step, 10);
	assert_number(step_row(0)->is_warmup, 1);
	assert_number(step_row(4)->step, 14);
	assert_number(step_row(4)->is_warmup, 0);
	assert_number(step_row(4)->is_complete, 1);
	assert_number(step_row(4)->start_s, 3600 * US);
	assert_number(xrun_device(&run, "/device:TPU:0")->steps, 4);
	assert_number(xrun_quality(&run, "steps-found")->ok, 1);
	assert_number(xrun_quality(&run, "steady-steps")->ok, 1);
}

static void time_of_marked_steps(void **state)
{
	(void)state;
	tell_marked_steps(5);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_number(r->compute_ratio, 600. / 900);
	assert_true(isnan(r->layout_copy_ratio)); /* no HLO says why there is a copy */
	assert_number(r->idle_ratio, 200. / 900);
	assert_number(r->busy_ratio, 700. / 900);
	assert_number(r->comms_exposed_ratio, 0);
	const struct steps_row *s = step_row(2);
	assert_number(s->time_s, 900 * US);
	assert_number(s->compute_s, 600 * US);
	assert_number(s->copy_s, 100 * US);
	assert_number(s->idle_s, 200 * US);
	const struct devices_row *d = xrun_device(&run, "/device:TPU:0");
	assert_number(d->busy_s, 5 * 700 * US);
	assert_number(d->events, 20);
	assert_number(d->window_s, 4350 * US);
	assert_number(d->idle_ratio, 200. / 900);
}

static void ops_give_back_what_their_children_take(void **state)
{
	(void)state;
	tell_marked_steps(5);
	xrun_measure(&run);
	const struct ops_row *loop = xrun_op(&run, "while.1"), *dot = xrun_op(&run, "dot.2");
	assert_text(loop->common->kind, "control");
	assert_number(loop->common->count, 4);
	assert_number(loop->p50_s, 200 * US);
	assert_number(loop->time_s, 800 * US);
	assert_text(dot->common->kind, "matmul");
	assert_number(dot->common->count, 8);
	assert_number(dot->common->per_step, 2);
	assert_number(dot->time_s, 1600 * US);
	assert_number(dot->time_share, 1600. / 3600);
	assert_number(dot->mean_s, 200 * US);
	assert_number(dot->p50_s, 200 * US);
	assert_number(dot->max_s, 200 * US);
	assert_number(xrun_op(&run, "copy.3")->time_s, 400 * US);
	/* heaviest first */
	assert_text(table_rows(&run.tables, ops)[0].name, "dot.2");
}

static void two_marked_steps_have_no_warm_up(void **state)
{
	(void)state;
	tell_marked_steps(2);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 2);
	assert_number(step_row(0)->is_warmup, 0);
}

/* The profiler stopped inside the last one: it is less than half as long as the others. */
static void a_cut_last_mark_is_no_step(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1", IS("convolution fusion"));
	for (int64_t i = 0; i < 4; i++) {
		int64_t length = i < 3 ? 200 : 60;
		x_event(steps, number(i), i * 200, i * 200 + length, NULL);
		x_event(ops, "dot.1", i * 200, i * 200 + length, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 2); /* the first is a warm-up, the last is cut */
	assert_int_equal(table_count(&run.tables, steps), 3);
	assert_number(xrun_op(&run, "dot.1")->max_s, 200 * US);
}

/* Where two marks overlap the next step begins. */
static void overlapping_marks(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1", IS("convolution fusion"));
	for (int64_t i = 0; i < 4; i++) {
		x_event(steps, number(i), i * 200, i * 200 + 230, NULL);
		x_event(ops, "dot.1", i * 200, i * 200 + 100, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(step_row(2)->start_s, 400 * US);
	assert_number(step_row(2)->time_s, 200 * US);
	assert_number(step_row(3)->time_s, 230 * US);
}

/*
 * 128 devices of 300 steps: the first keeps 256 steady ones, the others half as many, and of 12,800
 * gaps 6,400 have a row, those of the slowest device among them.
 */
static void of_many_devices_less_is_kept(void **state)
{
	enum { DEVICES = 128, MARKS = 300, SLOW = 100 };
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < DEVICES; d++) {
		int64_t length = d == SLOW ? 130 : 100;
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.1", IS("convolution fusion"));
		for (int64_t i = 0; i < MARKS; i++) {
			int64_t at = i * length;
			x_event(steps, number(i), at, at + length, NULL);
			x_event(ops, "dot.1", at, at + 60, NULL);
			x_event(ops, "dot.1", at + length - 20, at + length, NULL);
		}
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, MARKS - 1);
	assert_number(xrun_row(&run)->step_time_s, 130 * US);
	assert_int_equal(table_count(&run.tables, steps), 257 + (DEVICES - 1) * 129);
	assert_number(step_row(256)->global_s, 130 * US);
	assert_int_equal(table_count(&run.tables, gaps), 6400);
	int slow = 0;
	for (ptrdiff_t i = 0; i < 6400; i++)
		slow += table_rows(&run.tables, gaps)[i].time_s > 40 * US;
	assert_int_equal(slow, 100);
}

/* Idle time inside a step, and between the ops of two. */
static void idle_gaps_and_what_surrounds_them(void **state)
{
	(void)state;
	tell_marked_steps(2);
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 3);
	assert_text(gaps[0].before, "while.1");
	assert_text(gaps[0].after, "copy.3");
	assert_number(gaps[0].start_s, 600 * US);
	assert_number(gaps[0].time_s, 50 * US);
	assert_text(gaps[0].cause, "program"); /* inside an execution */
	assert_text(gaps[0].host_activity, NULL);
	assert_text(gaps[1].before, "copy.3");
	assert_text(gaps[1].after, "while.1");
}

/* ---- executions of the main program ---------------------------------------------------------- */

/* 150 us of work, and as long an execution as the next one lets it be. */
static void execute(struct xline *ops, int64_t at)
{
	x_event(ops, "dot.1", at, at + 100, NULL);
	x_event(ops, "add.2", at + 100, at + 150, NULL);
}

static struct xline *two_ops(struct xplane *tpu)
{
	x_op(tpu, "dot.1", IS("convolution fusion"));
	x_op(tpu, "add.2", IS("loop fusion"));
	return x_line(tpu, "XLA Ops");
}

static void executions_are_steps(void **state)
{
	(void)state;
	struct xline *ops = two_ops(one_tpu());
	for (int64_t i = 0; i < 5; i++)
		execute(ops, 3000 + i * 200);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->steps_source, "program");
	assert_number(r->steps, 3); /* neither the first nor the last, whose end nobody saw */
	assert_number(r->step_time_s, 200 * US);
	assert_number(r->idle_ratio, 0.25);
	assert_int_equal(table_count(&run.tables, steps), 5);
	assert_number(step_row(0)->is_warmup, 1);
	assert_number(step_row(0)->is_complete, 1);
	assert_number(step_row(4)->is_complete, 0);
	assert_number(step_row(4)->time_s, 150 * US);
	assert_number(step_row(4)->start_s, 800 * US); /* since the device's first event */
	assert_number(xrun_op(&run, "add.2")->common->count, 3);
	assert_number(xrun_op(&run, "add.2")->common->per_step, 1);
}

static void executions_of_programs(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8), x_text("hlo_category", "reduce")));
	for (int64_t i = 0; i < 4; i++) {
		execute(ops, i * 200);
		x_event(ops, "sum.1", i * 200 + 160, i * 200 + 170, NULL);
		x_event(ops, "sum.1", i * 200 + 170, i * 200 + 180, NULL);
	}
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_metrics", 8);
	xrun_measure(&run);
	const struct programs_row *p = xrun_program(&run, "jit_train_step");
	assert_text(xrun_row(&run)->main_program, "jit_train_step");
	assert_text(xrun_row(&run)->phase, "train");
	assert_text(p->role, "step");
	assert_text(p->program, "7");
	assert_number(p->executions, 4);
	assert_number(p->time_s, 4 * 150 * US);
	assert_number(p->p50_s, 150 * US);
	assert_number(p->has_hlo, 1);
	p = xrun_program(&run, "jit_metrics");
	assert_text(p->role, "step");
	assert_number(p->executions, 8);
	assert_number(p->time_s, 8 * 10 * US);
	/* both programs are in each period */
	assert_number(xrun_op(&run, "sum.1")->common->per_step, 2);
}

/* Only a part of a long profile is looked at first; what comes behind it may weigh more. */
static void the_first_look_was_wrong(void **state)
{
	enum { SHORT = 25000 };
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "init.1", X_STATS(x_int("program_id", 8)));
	for (int64_t i = 0; i < SHORT; i++)
		x_event(ops, "init.1", i, i + 1, NULL);
	for (int64_t i = 0; i < 5; i++)
		x_event(ops, "dot.1", SHORT + i * 20000, SHORT + i * 20000 + 10000, NULL);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->step_time_s, 20000 * US);
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
	assert_text(xrun_op(&run, "init.1")->common->role, "other");
	assert_number(xrun_op(&run, "init.1")->time_share, 0);
	assert_number(xrun_op(&run, "init.1")->common->count, SHORT);
}

/* Recording began inside a loop: its body's op comes first and three times an execution. */
static void an_op_of_a_loop_marks_nothing(void **state)
{
	(void)state;
	static const struct pb_instruction body[] = {
		{ "p", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "in.1", "add", "f32[4]", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction condition[] = {
		{ "q", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "c", "constant", "pred[]", 2, NO_ROW, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction entry[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "head.2", "add", "f32[4]", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		{ "while.3", "while", "f32[4]", 3, { 2 }, { 2, 1 }, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation module[] = { { "body", 1, body },
		{ "condition", 2, condition }, { "main", 3, entry }, NO_ROW };
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_step", PROGRAM, pb_write_module(&run.keep, module, STR("")));
	x_op(tpu, "in.1", IS("loop fusion"));
	x_op(tpu, "head.2", IS("loop fusion"));
	for (int64_t i = 0; i < 5; i++) {
		for (int64_t k = 0; k < 3; k++)
			x_event(ops, "in.1", i * 200 + k * 20, i * 200 + k * 20 + 20, NULL);
		x_event(ops, "head.2", i * 200 + 100, i * 200 + 150, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->step_time_s, 200 * US);
	assert_number(step_row(0)->start_s, 100 * US);
	assert_number(xrun_op(&run, "in.1")->common->per_step, 3);
}

/* Two executions: only the first has both ends, and it is too dear to drop. */
/* A capture that begins in a loop, without HLO: what runs there is seen inside the loop later. */
static void a_capture_that_begins_in_a_loop(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = x_line(tpu, "XLA Ops");

	x_op(tpu, "copy.1", IS("data formatting"));
	x_op(tpu, "while.2", IS("while"));
	x_op(tpu, "dot.3", IS("convolution fusion"));
	for (int64_t at = 0; at < 200; at += 50)
		x_event(ops, "dot.3", at, at + 40, NULL);
	for (int64_t at = 1000; at < 6000; at += 1000) {
		x_event(ops, "copy.1", at, at + 100, NULL);
		x_event(ops, "while.2", at + 200, at + 900, NULL);
		for (int64_t k = 0; k < 3; k++)
			x_event(ops, "dot.3", at + 210 + 200 * k, at + 400 + 200 * k, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
	assert_number(xrun_row(&run)->steps, 3); /* without the first and the cut one */
}

static void two_executions(void **state)
{
	(void)state;
	struct xline *ops = two_ops(one_tpu());
	execute(ops, 0);
	execute(ops, 200);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 1);
	assert_number(xrun_quality(&run, "steps-found")->ok, 1);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"2 steps in the capture: the last is cut");
	assert_number(xrun_quality(&run, "steady-steps")->ok, 0);
}

/* A job that marks its only step is not told that it marks none. */
static void one_annotation_is_no_lack_of_marks(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	x_event(thread, "train", 0, 200, X_STATS(x_int("_r", 1), x_int("step_num", 7)));
	execute(two_ops(x_tpu(host, 0, "TPU v5 lite")), 10);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 0);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"1 step in the capture: none follows it, so its end is not known");
}

/* Marks around nothing that ran on a device. */
static void annotations_without_work(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	for (int64_t i = 0; i < 2; i++)
		x_event(thread, "train", i * 100, i * 100 + 50,
			X_STATS(x_int("_r", 1), x_int("step_num", i)));
	execute(two_ops(x_tpu(host, 0, "TPU v5 lite")), 1000000);
	xrun_measure(&run);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"the host has 2 annotations of steps, and no work of a device is of one");
}

/* Nothing repeats: the whole window is the step. */
static void one_execution_is_a_window(void **state)
{
	(void)state;
	execute(two_ops(one_tpu()), 1000);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->steps_source, "window");
	assert_text(r->main_program, NULL);
	assert_number(r->steps, 0);
	assert_number(r->step_time_s, 150 * US);
	assert_number(xrun_op(&run, "dot.1")->common->count, 1);
	assert_number(xrun_op(&run, "dot.1")->time_share, 100. / 150);
	const struct quality_row *q = xrun_quality(&run, "steps-found");
	assert_number(q->ok, 0);
	assert_has(q->detail, "nothing marks steps");
	assert_number(xrun_quality(&run, "steady-steps")->ok, 0);
}

/*
 * Four marks of two programs in an order that repeats nothing.  The device runs `late_us` behind
 * the marks' own clock, so that containment would tell nothing.
 */
static void tell_device(struct xspace *host, int ordinal, int64_t late_us, bool has_line)
{
	static const bool is_large[] = { true, false, false, true };
	struct xplane *tpu = x_tpu(host, ordinal, "TPU v5 lite");
	struct xline *steps = has_line ? x_line(tpu, "Steps") : NULL, *ops = x_line(tpu, "XLA Ops");

	x_op(tpu, "dot.1", X_STATS(x_int("program_id", 7), x_text("hlo_category", "fusion")));
	x_op(tpu, "dot.2", X_STATS(x_int("program_id", 8), x_text("hlo_category", "fusion")));
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 1000 + late_us;
		if (steps)
			x_event(steps, number(i), at, at + 1000, NULL);
		x_event(ops, is_large[i] ? "dot.1" : "dot.2", at + 100,
			at + (is_large[i] ? 900 : 500), NULL);
	}
}

/* A device whose Steps line is missing has the steps of one that ran the same. */
static void a_line_that_one_device_lacks(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	tell_device(host, 0, 0, true);
	tell_device(host, 1, 2400, false);
	tell_device(host, 2, 0, true);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "steps-line");
	assert_number(xrun_quality(&run, "steps-found")->ok, 1);
	assert_has(xrun_quality(&run, "steps-found")->detail, "1 of 3 devices have no Steps line");
	assert_number(xrun_device(&run, "/device:TPU:0")->steps, 2);
	/* The end of its last step was not seen. */
	assert_number(xrun_device(&run, "/device:TPU:1")->steps, 1);
	assert_number(xrun_quality(&run, "devices-agree")->ok, 1);
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
}

/* What it ran does not fit: it is said that the line is missing, not that nothing marks steps. */
static void a_line_that_cannot_be_lent(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	tell_device(host, 0, 0, true);
	struct xplane *tpu = x_tpu(host, 1, "TPU v5 lite");
	x_op(tpu, "dot.1", X_STATS(x_int("program_id", 7), x_text("hlo_category", "fusion")));
	x_event(x_line(tpu, "XLA Ops"), "dot.1", 0, 900, NULL);
	xrun_measure(&run);
	assert_has(xrun_quality(&run, "steps-found")->detail,
		"1 of 2 devices have no Steps line, and what they ran does not fit the others'");
}

/* A device that ran nothing of a step has none; the others' line counts. */
static void a_device_beside_the_steps(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	tell_device(host, 0, 0, true);
	struct xplane *tpu = x_tpu(host, 1, "TPU v5 lite");
	x_op(tpu, "dot.9", X_STATS(x_int("program_id", 9), x_text("hlo_category", "fusion")));
	x_event(x_line(tpu, "XLA Ops"), "dot.9", 0, 900, NULL);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "steps-line");
	assert_number(xrun_row(&run)->steps, 2);
	assert_number(xrun_device(&run, "/device:TPU:1")->steps, 0);
}

/* An initialisation: one program makes the weights, another fills array after array with zeros. */
static void filling_arrays_is_no_step(void **state)
{
	static const struct pb_instruction fills[] = {
		{ "zeros", "broadcast", "f32[64,64]", 1, NO_ROW, NO_ROW, 0, NO_ROW }, NO_ROW
	};
	static const struct pb_computation module[] = { { "main", 1, fills }, NO_ROW };
	static const int64_t init_us[] = { 900, 20 };
	(void)state;
	for (ptrdiff_t k = 0; k < COUNT_OF(init_us); k++) {
		run.count = 0;
		struct xspace *host = xrun_host(&run, "worker-0");
		has_program(host, "jit_init", 7);
		x_hlo(host, "jit_broadcast_in_dim", 8, pb_write_module(&run.keep, module, STR("")));
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.1", X_STATS(x_int("program_id", 7)));
		x_op(tpu, "zeros", X_STATS(x_int("program_id", 8)));
		x_event(ops, "dot.1", 0, init_us[k], NULL);
		for (int64_t i = 0; i < 3; i++)
			x_event(ops, "zeros", 1000 + 100 * i, 1005 + 100 * i, NULL);
		xrun_measure(&run);
		assert_text(xrun_row(&run)->steps_source, "window");
		assert_has(xrun_quality(&run, "steps-found")->detail, "what repeats takes");
	}
}

/* Steps differ between devices: a step lasts as long as on its slowest one. */
static void the_slowest_device_makes_the_step(void **state)
{
	static const int64_t lengths[] = { 200, 300, 250 };
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < 3; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
		for (int64_t i = 0; i < 5; i++) {
			x_event(steps, number(i), i * lengths[d], (i + 1) * lengths[d], NULL);
			execute(ops, i * lengths[d]);
		}
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->devices, 3);
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_row(&run)->step_time_s, 300 * US);
	assert_number(xrun_op(&run, "dot.1")->common->count, 12);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 1);
	/* 150 us of every step are busy */
	assert_number(xrun_row(&run)->busy_ratio, 3 * 150. / (200 + 300 + 250));
}

/* Recording ended earlier on one device: steps are those that all of them have. */
static void devices_with_more_steps_than_others(void **state)
{
	static const int64_t executions[] = { 8, 5, 6 };
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < 3; d++) {
		struct xline *ops = two_ops(x_tpu(host, d, "TPU v5 lite"));
		for (int64_t i = 0; i < executions[d]; i++)
			execute(ops, i * 200);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->window_s, (7 * 200 + 150) * US);
	assert_number(xrun_device(&run, "/device:TPU:0")->steps, 6);
	assert_number(xrun_device(&run, "/device:TPU:1")->steps, 3);
	assert_number(xrun_op(&run, "dot.1")->common->count, 6 + 3 + 4);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 1);
}

/* Steps are guessed by one device; one that ran nothing twice says nothing about the others. */
static void the_first_device_is_idle(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < 3; d++) {
		struct xline *ops = two_ops(x_tpu(host, d, "TPU v5 lite"));
		for (int64_t i = 0; i < (d ? 5 : 1); i++)
			execute(ops, i * 200);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_device(&run, "/device:TPU:0")->steps, 0);
	assert_number(xrun_device(&run, "/device:TPU:2")->steps, 3);
}

/* Each device leaves out its first step when it has enough others, whatever the first one has. */
static void warm_ups_of_unlike_devices(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct xspace *host = xrun_host(&run, turn ? "worker-1" : "worker-0");
		for (int d = 0; d < 2; d++) {
			struct xline *ops = two_ops(x_tpu(host, d, "TPU v5 lite"));
			for (int64_t i = 0; i < (d == turn ? 2 : 6); i++)
				execute(ops, i * 200);
		}
	}
	xrun_measure(&run);
	assert_number(table_rows(&run.tables, devices)[0].steps, 1);
	assert_number(table_rows(&run.tables, devices)[1].steps, 4);
	assert_number(table_rows(&run.tables, devices)[2].steps, 4);
	assert_number(table_rows(&run.tables, devices)[3].steps, 1);
}

/* Two programs of equal time: the smaller id, though its op comes last. */
static void the_main_program_of_two_alike(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.8", X_STATS(x_int("program_id", 8)));
	x_op(tpu, "dot.7", X_STATS(x_int("program_id", 7)));
	for (int64_t i = 0; i < 5; i++) {
		x_event(ops, "dot.8", i * 200, i * 200 + 50, NULL);
		x_event(ops, "dot.7", i * 200 + 100, i * 200 + 150, NULL);
	}
	xrun_measure(&run);
	assert_number(step_row(0)->start_s, 100 * US);
}

static void no_device_event_at_all(void **state)
{
	(void)state;
	x_line(one_tpu(), "XLA Ops");
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_number(r->devices, 0);
	assert_number(r->steps, 0);
	assert_unknown(r->step_time_s);
	assert_unknown(r->idle_ratio);
	assert_text(r->steps_source, NULL);
	assert_int_equal(table_count(&run.tables, ops), 0);
	assert_number(xrun_quality(&run, "ops-recorded")->ok, 0);
}

/* A CPU's host tracer was off: what to do is what the reason says. */
static void no_device_and_no_call(void **state)
{
	(void)state;
	x_host(xrun_host(&run, "worker-0"));
	xrun_measure(&run);
	assert_has(xrun_quality(&run, "ops-recorded")->detail, "host_tracer_level");
	assert_has(xrun_quality(&run, "ops-recorded")->todo, "host_tracer_level");
}

/* The trace stopped before the device began with what was launched. */
static void a_call_without_an_op(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	x_event(x_line(x_host(host), "python"), "PjitFunction(train_step)", 10, 20, NULL);
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "ops-recorded");
	assert_has(q->detail, "the host called train_step, and no");
	assert_has(q->todo, "wait for the last (jax.block_until_");
}

/* ---- annotations ----------------------------------------------------------------------------- */

static void annotate(struct xline *thread, int64_t step, int64_t from, int64_t to)
{
	x_event(thread, "train", from, to, X_STATS(x_int("_r", 1), x_int("step_num", step)));
}

/* Of many samples those within 2^-10 are one. */
#define assert_bucket(a, b) assert_true(fabs((a) - (b)) <= (b)*0x1p-10)

/* The median is of all steps, more than have a row: the longer ones come later. */
static void steps_beyond_those_that_have_a_row(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0, at = 0; i < 700; i++) {
		int64_t next = at + (i < 300 ? 1000 : 2000);
		annotate(thread, i, at, next);
		execute(ops, at);
		at = next;
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 698);
	assert_bucket(xrun_row(&run)->step_time_s, 2000 * US);
	assert_bucket(xrun_row(&run)->step_time_hi_s, 2000 * US);
}

/* Accumulated gradients: the program runs twice in a step. */
static void two_executions_an_annotation(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 4; i++) {
		annotate(thread, 100 + i, i * 500, i * 500 + 400);
		execute(ops, i * 500);
		execute(ops, i * 500 + 200);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 2);
	assert_number(xrun_row(&run)->step_time_s, 500 * US);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 2);
	assert_int_equal(table_count(&run.tables, steps), 4);
	assert_number(step_row(0)->step, 100);
	assert_number(step_row(3)->step, 103);
	assert_number(step_row(3)->is_complete, 0);
}

/* What runs in a mark is its work, however many executions that are. */
static void annotations_hold_what_runs_in_them(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 5; i++)
		execute(ops, i * 200);
	for (int64_t i = 0; i < 3; i++)
		annotate(thread, i, i * 400, i * 400 + 400);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 1);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(step_row(1)->step, 1);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 2);
	assert_number(step_row(2)->is_complete, 0);
}

/* Steps of two kinds cannot be compared: one device without a match spoils all. */
static void annotations_on_one_host_alone(void **state)
{
	(void)state;
	static const char *const names[] = { "worker-0", "worker-1" };
	for (int h = 0; h < 2; h++) {
		struct xspace *host = xrun_host(&run, names[h]);
		struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
		struct xline *thread = x_line(x_host(host), "python");
		for (int64_t i = 0; i < 6; i++) {
			execute(ops, i * 200);
			if (h == 0 && i % 2 == 0)
				annotate(thread, i, i * 200, i * 200 + 400);
		}
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_op(&run, "dot.1")->common->count, 8);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"steps were found by what repeats: the host has 3 annotations of steps, and "
		"no work of a device is of one");
}

/* 24 steps of one program, whose marks are called "<word> <number>": i, or i modulo `names`. */
static void mark_by_number(const char *word, int64_t names)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 24; i++) {
		x_event(thread,
			arena_z(&run.keep,
				arena_fmt(&run.keep, "%s %lld", word, (long long)(i % names))),
			i * 200, i * 200 + 200, X_STATS(x_int("_r", 1), x_int("step_num", i)));
		execute(ops, i * 200);
	}
	xrun_measure(&run);
}

/* A number that never comes again counts; it is no sort of steps. */
static void marks_that_are_numbered_by_name(void **state)
{
	(void)state;
	mark_by_number("train", 24);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 22);
	assert_text(xrun_quality(&run, "steps-found")->detail, "steps were found");
}

/* Numbers that come again are stages, or buckets: of many only some are listed. */
static void marks_that_are_called_by_stages(void **state)
{
	(void)state;
	mark_by_number("stage", 8);
	assert_number(xrun_row(&run)->steps, 2);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"steps were found: 3 of stage 0 (program 7), which are judged, 3 of stage 1 "
		"(program 7), 3 of stage 2 (program 7), 3 of stage 3 (program 7) and 4 more sorts");
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The host's clock is 7 ms ahead of the device's, which ops carry beside it. */
#define SHIFT 7000

static void on_both_clocks(struct xline *ops, const char *name, int64_t from, int64_t to)
{
	x_event(ops, name, from + SHIFT, to + SHIFT,
		X_STATS(x_int("device_offset_ps", from * 1000000),
			x_int("device_duration_ps", (to - from) * 1000000)));
}

/* What the host saw of an op is of no account. */
static void the_devices_own_clock(void **state)
{
	(void)state;
	struct xline *ops = two_ops(one_tpu());
	for (int64_t i = 0; i < 5; i++)
		x_event(ops, "dot.1", SHIFT + i * 200 + i % 2 * 70, SHIFT + i * 200 + 199,
			X_STATS(x_int("device_offset_ps", i * 200 * 1000000),
				x_int("device_duration_ps", 50 * 1000000)));
	xrun_measure(&run);
	assert_number(xrun_row(&run)->step_time_s, 200 * US);
	assert_number(xrun_op(&run, "dot.1")->max_s, 50 * US);
	assert_number(xrun_row(&run)->busy_ratio, 0.25);
}

/*
 * us        0    200   400   600   800   1000
 * step      |--0--|--1--|--2--|--3--|--4--|     the first is a warm-up, the last has no end
 * sparse    |---|    |----|                     50 us twice over each other; 300 to 450
 */
static void sparse_cores(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++)
		execute(ops, i * 200);
	struct xplane *core = x_plane(host, "/device:TPU:0 SparseCore 0", NULL);
	struct xline *lookups = x_line(core, "Sparse Core Ops");
	x_op(core, "lookup", IS("custom-call"));
	x_event(lookups, "lookup", 0, 100, NULL);
	x_event(lookups, "lookup", 50, 150, NULL);
	x_event(lookups, "lookup", 300, 450, NULL);
	x_plane(host, "/device:TPU:7 SparseCore 0", NULL); /* of a chip that was not recorded */
	xrun_measure(&run);
	const struct devices_row *d = xrun_device(&run, "/device:TPU:0 SparseCore 0");
	assert_text(d->core_type, "sparse");
	assert_number(d->events, 3);
	assert_number(d->busy_s, 300 * US);
	assert_number(d->window_s, 450 * US);
	assert_number(d->steps, 4);
	assert_number(d->busy_ratio, 150. / 800);
	assert_number(xrun_row(&run)->devices, 1);
	d = xrun_device(&run, "/device:TPU:7 SparseCore 0");
	assert_number(d->events, 0);
	assert_true(isnan(d->busy_ratio));
}

/* Ops of one core that overlap without holding each other: part of the lane was moved. */
static void a_clock_that_jumped(void **state)
{
	(void)state;
	for (int jumped = 0; jumped < 2; jumped++) {
		struct xline *ops = two_ops(
			x_tpu(xrun_host(&run, jumped ? "worker-1" : "worker-0"), 0, "TPU v5 lite"));
		for (int64_t i = 0; i < 10; i++) {
			execute(ops, i * 200);
			/* over 60 us of dot.1 */
			if (jumped && i == 5)
				x_event(ops, "add.2", i * 200 + 40, i * 200 + 160, NULL);
		}
	}
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "clock-sane");
	assert_number(q->ok, 0);
	assert_has(q->detail, "/device:TPU:0 overlap for 0.06 ms");
	assert_number(xrun_quality(&run, "devices-agree")->ok, 1);
}

static void marks_on_the_hosts_clock(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	for (int64_t i = 0; i < 5; i++) {
		x_event(steps, number(i), SHIFT + i * 200, SHIFT + i * 200 + 200, NULL);
		on_both_clocks(ops, "dot.1", i * 200 + 20, i * 200 + 120);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(step_row(1)->start_s, 180 * US);
	assert_number(step_row(1)->compute_s, 100 * US);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 1);
}

static void marks_on_both_clocks(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	for (int64_t i = 0; i < 5; i++) {
		on_both_clocks(steps, number(i), i * 200, i * 200 + 200);
		on_both_clocks(ops, "dot.1", i * 200 + 20, i * 200 + 120);
	}
	xrun_measure(&run);
	assert_number(step_row(1)->start_s, 180 * US);
	assert_number(step_row(1)->compute_s, 100 * US);
}

/* Most marks of the line hold no work, so they make no schedule; the host marks steps, too. */
static void a_line_of_idle_marks_beside_annotations(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	for (int64_t i = 0; i < 6; i++) {
		annotate(thread, i, i * 200, i * 200 + 190);
		x_event(steps, number(i), i * 200, i * 200 + 200, NULL);
		if (i % 2)
			x_event(ops, "dot.1", i * 200 + 20, i * 200 + 120, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "steps-line");
	assert_number(xrun_row(&run)->steps, 5);
}

/* The last step's op takes no time: nothing of the step before is cut for it. */
static void a_last_step_without_a_duration(void **state)
{
	(void)state;
	static const double steady[] = { 0, 0, 1, 1, 2 };
	for (int64_t count = 1; count < 5; count++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xline *thread = x_line(x_host(host), "python");
		struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
		for (int64_t i = 0; i < count; i++) {
			int64_t at = i * 1000, ends = i + 1 < count ? at + 400 : at + 10;
			annotate(thread, i, at, at + 500);
			x_event(ops, "dot.1", at + 10, ends, NULL);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, steady[count]);
	}
}

/* ---- what disturbs a step -------------------------------------------------------------------- */

static struct xline *six_executions(void)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));

	for (int64_t i = 0; i < 6; i++)
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
	return thread;
}

/* Six calls, every 20 ms, of which the fourth begins 15 ms before its execution. */
static double compiles_beside_a_long_call(int64_t busy_us)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));

	for (int64_t i = 0; i < 6; i++) {
		int64_t at = 1000 + i * 20000;
		x_event(thread, "PjitFunction(f)", SHIFT + at - (i == 3 ? 15000 : 60),
			SHIFT + at - 10, NULL);
		on_both_clocks(ops, "dot.1", at, at + busy_us);
	}
	xrun_measure(&run);
	return xrun_row(&run)->compiles_in_steps;
}

static void a_call_that_compiles_unseen(void **state)
{
	(void)state;
	assert_unknown(compiles_beside_a_long_call(1000));
}

static void a_call_that_waits_for_the_device(void **state)
{
	(void)state;
	assert_number(compiles_beside_a_long_call(19000), 0);
}

static void a_compilation_spoils_its_step(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "backend_compile", SHIFT + 450, SHIFT + 550, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(step_row(1)->is_warmup, 0);
	assert_number(step_row(2)->is_warmup, 1);
	assert_number(step_row(3)->is_warmup, 0);
	assert_number(xrun_row(&run)->compiles_in_steps, 1);
	assert_int_equal(table_count(&run.tables, compiles), 1);
	const struct compiles_row *c = table_rows(&run.tables, compiles);
	assert_text(c->module, "backend_compile");
	assert_number(c->in_step, 1);
	assert_number(c->time_s, 100 * US);
}

/* Only 256 steady steps have a row; behind them, between two others, is inside the steps, too. */
static void a_compilation_behind_the_steps_with_a_row(void **state)
{
	enum { MARKS = 300, AT = 280 * 200 };
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	for (int64_t i = 0; i < MARKS; i++) {
		on_both_clocks(steps, number(i), i * 200, i * 200 + 150);
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
	}
	x_event(thread, "backend_compile", SHIFT + AT - 40, SHIFT + AT - 10, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, MARKS - 3); /* the first, the last, and this one */
	assert_int_equal(table_count(&run.tables, steps), 259);
	assert_number(xrun_row(&run)->compiles_in_steps, 1);
}

/* The profiler was still starting when the last step ended: the window has to do. */
static void every_step_is_spoiled(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "$profiler.py:101 start_trace", SHIFT, SHIFT + 5000, NULL);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "window");
	assert_number(xrun_row(&run)->steps, 0);
	assert_number(xrun_row(&run)->step_time_s, 1100 * US);
	assert_number(xrun_op(&run, "dot.1")->common->count, 6);
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"6 steps in the capture: 5 hold the profiler's start, the last is cut");
	assert_number(xrun_quality(&run, "steady-steps")->ok, 0);
}

/* What one host compiles does not disturb the others' steps. */
static void a_compilation_on_another_host(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	struct xline *ops = two_ops(x_tpu(xrun_host(&run, "worker-1"), 1, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++)
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
	x_event(thread, "backend_compile", SHIFT + 450, SHIFT + 550, NULL);
	xrun_measure(&run);
	assert_number(xrun_device(&run, "/device:TPU:0")->steps, 3);
	assert_number(xrun_device(&run, "/device:TPU:1")->steps, 4);
}

static void a_compilation_in_the_first_step_is_expected(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "backend_compile", SHIFT + 50, SHIFT + 150, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_row(&run)->compiles_in_steps, 0);
	assert_number(table_rows(&run.tables, compiles)->in_step, 0);
}

/* A compilation inside a compilation is one. */
static void nested_compilations_count_once(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "backend_compile", SHIFT + 450, SHIFT + 590, NULL);
	x_event(thread, "backend_compile_and_load", SHIFT + 460, SHIFT + 500, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->compiles_in_steps, 1);
}

/* Each step compiles: that is how the job runs.  The compiler works on a thread of its own. */
static void a_job_that_compiles_in_every_step(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	struct xline *pool = x_line(x_host(run.files[0]), "compilers");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		x_event(thread, "backend_compile", at + 110, at + 190, NULL);
		x_event(pool, "CpuCompiler::RunBackend", at + 120, at + 180,
			X_STATS(x_text("name", "jit_step")));
		x_event(pool, "CpuCompiler::RunBackend", at + 130, at + 140,
			X_STATS(x_text("name", "jit_inner")));
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_row(&run)->step_time_s, 200 * US);
	assert_number(
		xrun_row(&run)->compiles_in_steps, 4); /* not in the first, nor after the last */
	assert_int_equal(table_count(&run.tables, compiles), 6);
	for (ptrdiff_t i = 0; i < 6; i++)
		assert_text(table_rows(&run.tables, compiles)[i].module, "jit_step");
}

/* The window was opened with the job: its two steps warm up, and the third is cut. */
static void a_warm_up_compiles_twice(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 3; i++) {
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(thread, "backend_compile", SHIFT + i * 200 + 110, SHIFT + i * 200 + 190,
			NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 0);
	assert_text(xrun_row(&run)->steps_source, "window");
}

static void the_profilers_start_spoils_its_step(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "$profiler.py:101 start_trace", SHIFT + 210, SHIFT + 220, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(step_row(1)->is_warmup, 1);
	assert_number(xrun_row(&run)->compiles_in_steps, 0);
}

/* Of what covers a gap the shortest says most: the longer ones are the functions around it. */
static void what_the_host_did_in_a_gap(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "$train.py:10 loop", SHIFT, SHIFT + 1200, NULL);
	x_event(thread, "$data.py:20 next_batch", SHIFT + 500, SHIFT + 600, NULL);
	x_event(thread, "H2D Dispatch", SHIFT + 700, SHIFT + 800, NULL);
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 4);
	assert_text(gaps[0].host_activity, "train.py:10 loop");
	assert_number(gaps[0].start_s, 300 * US);
	assert_text(gaps[1].host_activity, "data.py:20 next_batch");
	assert_text(gaps[1].cause, "input");
	assert_text(gaps[2].host_activity, "H2D Dispatch");
	assert_text(gaps[2].cause, "transfer");
}

/*
 * The runtime copies in a thread of its own, and the thread that waits for it shows nothing.  An
 * array is ready before the event of its copy ends; a copy that spans the gap is of a later batch.
 */
static void a_copy_by_the_runtimes_thread(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host);
	struct xline *loop = x_line(threads, "python"), *runtime = x_line(threads, "tf_pjrt");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$api.py:20 device_put", at + 101, at + 110, NULL);
		if (i == 1 || i == 2)
			x_event(runtime, "H2D Dispatch", at + 112, at + 195 + 60 * (i == 2), NULL);
		else if (i == 3)
			x_event(runtime, "H2D Dispatch", at + 90, at + 290, NULL);
	}
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 4);
	for (ptrdiff_t i = 0; i < 2; i++) {
		assert_text(gaps[i].cause, "transfer");
		assert_text(gaps[i].host_activity, "H2D Dispatch");
	}
	assert_text(gaps[2].cause, "unknown");
	assert_text(gaps[3].cause, "unknown");
	assert_true(table_count(&run.tables, quality) > 0);
	assert_text(table_rows(&run.tables, quality)[0].name, "host-functions");
}

/* The loop reaches beyond a gap, libraries lie deeper: between them is the job's own call. */
static void the_call_that_a_gap_holds(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host);
	struct xline *loop = x_line(threads, "python"), *other = x_line(threads, "prefetch");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$train.py:10 epoch", at - 150, at + 250, NULL);
		x_event(loop, "$builtins next", at + 105, at + 181, NULL);
		x_event(loop, "$data.py:20 rows", at + 106, at + 180, NULL);
		x_event(loop, "$library.py:3 sort", at + 107, at + 179, NULL);
		x_event(other, "$worker.py:7 read", at + 100, at + 199, NULL);
	}
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 4);
	for (ptrdiff_t i = 0; i < 4; i++) {
		assert_text(gaps[i].cause, "input");
		assert_text(gaps[i].host_call, "data.py:20 rows");
		assert_text(gaps[i].host_activity, "library.py:3 sort");
	}
}

/* What lies in no file of the program's ops is a library's: the line that called it is told. */
static void the_users_line_around_a_library(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("source", "/job/train.py:12")));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$runner.py:10 main", at - 180, at + 280, NULL);
		x_event(loop, "$train.py:10 epoch", at - 150, at + 250, NULL);
		x_event(loop, "$core.py:630 bind", at + 106, at + 180, NULL);
		x_event(loop, "$core.py:652 bind_with_trace", at + 107, at + 179, NULL);
	}
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 4);
	for (ptrdiff_t i = 0; i < 4; i++) {
		assert_text(gaps[i].cause, "host");
		assert_text(gaps[i].host_call, "train.py:10 epoch");
		assert_text(gaps[i].host_activity, "core.py:652 bind_with_trace");
	}
}

/*
 * A loader may launch work of its own.  While it is ahead, the device waits for another thread: the
 * one that calls the steps' function.
 */
static void a_loader_that_is_ahead(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host);
	struct xline *loop = x_line(threads, "python"), *loader = x_line(threads, "loader");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(modules, "jit_train_step(7)", i * 200, i * 200 + 100);
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$metrics.py:3 update", at + 110, at + 190, NULL);
		x_event(loader, "PjitFunction(augment)", at - 4, at + 5, NULL);
		x_event(loader, "$queue.py:154 get", at + 90, at + 190, NULL);
	}
	xrun_measure(&run);
	assert_text(table_rows(&run.tables, gaps)->cause, "host");
	assert_text(table_rows(&run.tables, gaps)->host_activity, "metrics.py:3 update");
	assert_number(xrun_row(&run)->input_wait_ratio, 0);
}

/*
 * A loader may prepare its batch on the device: what it waits for in between is its own, too.  What
 * holds the step, as well, is a loop around the work.
 */
static void a_loader_that_computes(void **state)
{
	static const char *const around[] = { "$data.py:20 loader", "$runner.py:5 batches" };
	(void)state;
	for (int is_loop = 0; is_loop < 2; is_loop++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(x_host(host), "python");
		struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 200;
			on_both_clocks(modules, "jit_train_step(7)", i * 200, i * 200 + 100);
			on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
			on_both_clocks(modules, "jit_gather(8)", i * 200 + 155, i * 200 + 165);
			on_both_clocks(ops, "sum.1", i * 200 + 155, i * 200 + 165);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
			x_event(loop, around[is_loop], at + 105, at + 190 + 100 * is_loop, NULL);
			x_event(loop, "$indexing.py:9 gather", at + 106, at + 156, NULL);
			x_event(loop, "PjitFunction(gather)", at + 150, at + 156, NULL);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, is_loop ? "host" : "input");
		assert_text(gap->host_call, is_loop ? "indexing.py:9 gather" : "data.py:20 loader");
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/*
 * Between executions a server's own code keeps the device waiting, or what it waits for itself:
 * then another thread may be at work for it, which is its own code, too.
 */
static void a_server_between_executions(void **state)
{
	static const struct {
		const char *own, *inner, *of_other; /* inner: what the own function calls */
		const char *doing;		    /* NULL: it is not told */
		int64_t until;			    /* then it waits in a queue, mostly */
	} servers[] = {
		{ "$answers.py:37 detokenize", NULL, NULL, "answers.py:37 detokenize", 3900 },
		{ "$answers.py:37 detokenize", NULL, NULL, "answers.py:37 detokenize", 2700 },
		{ "$answers.py:37 detokenize", NULL, NULL, NULL, 2300 },
		{ "$spec.py:9 accept", NULL, NULL, "spec.py:9 accept", 3900 }, /* of tokens */
		{ "$queue.py:154 get", "$<unknown> acquire", NULL, NULL, 3900 },
		{ "$main.py:9 next_request", "$time sleep", NULL, NULL, 3900 },
		{ "$base_events.py:1845 _run_once", "$<unknown> poll", NULL, NULL, 3900 },
		{ "$queue.py:122 put", "$<unknown> acquire", NULL, "queue.py:122 put", 3900 },
		{ "$<unknown> get", NULL, "$answers.py:9 encode", "answers.py:9 encode", 3900 },
		{ "$server.py:9 finish", NULL, NULL, NULL, 1100 }, /* then nothing is recorded */
		{ "detokenize", NULL, NULL, "detokenize", 3900 },
		{ "wait_for_request", NULL, NULL, NULL, 3900 },
		{ "$<unknown> get", NULL, "$time sleep", NULL, 3900 },
		{ "$<unknown> get", NULL, "$<unknown> serve", NULL, 3900 },
	};
	(void)state;
	for (int k = 0; k < COUNT_OF(servers); k++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
		struct xplane *threads = x_host(host);
		struct xline *loop = x_line(threads, "python"), *other = x_line(threads, "other");
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 4000;
			on_both_clocks(modules, "jit_decode(7)", i * 4000, i * 4000 + 1000);
			on_both_clocks(ops, "dot.1", i * 4000, i * 4000 + 1000);
			x_event(loop, "PjitFunction(decode)", at - 5, at + 5, NULL);
			x_event(loop, servers[k].own, at + 1010, at + servers[k].until, NULL);
			if (servers[k].inner)
				x_event(loop, servers[k].inner, at + 1020, at + 3890, NULL);
			if (servers[k].until > 2000 && servers[k].until < 3900)
				x_event(loop, "$queue.py:154 get", at + servers[k].until, at + 3900,
					NULL);
			x_event(loop, "$threading.py:8 _bootstrap", 0, at + 5, NULL);
			x_event(other, "$threading.py:5 run", at + 1000, at + 3950, NULL);
			if (servers[k].of_other)
				x_event(other, servers[k].of_other, at + 1010, at + 3900, NULL);
			else
				x_event(other, "$<unknown> acquire", at + 1010, at + 3900, NULL);
		}
		xrun_measure(&run);
		const struct waits_row *w = &table_rows(&run.tables, waits)[1];
		assert_true(xrun_row(&run)->is_server == 1);
		assert_text(w->role, "other");
		if (servers[k].doing) {
			assert_text(w->cause, "host");
			assert_text(w->doing, servers[k].doing);
			assert_true(w->wait_ratio > 0.4);
		} else {
			assert_null(w->cause.p);
			assert_true(isnan(w->wait_ratio));
		}
		xrun_end(&run);
		xrun_begin(&run);
	}
}

static void tell_gaps(const char *role, double count, double time_s)
{
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	double n = 0, sum = 0;

	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++)
		if (str_eq(gaps[i].role, str_from(role))) {
			n++;
			sum += gaps[i].time_s;
		}
	assert_number(n, count);
	assert_number(sum, time_s);
}

/* A prefill `at_us` after each decode began, and when behind that the host detokenizes. */
static void tell_two_programs(int64_t at_us, int64_t from_us, int64_t until_us)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
	struct xline *loop = x_line(x_host(host), "python");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 4000;
		on_both_clocks(modules, "jit_decode(7)", i * 4000, i * 4000 + 1000);
		on_both_clocks(ops, "dot.1", i * 4000, i * 4000 + 1000);
		on_both_clocks(modules, "jit_prefill(8)", i * 4000 + at_us, i * 4000 + at_us + 190);
		on_both_clocks(ops, "sum.1", i * 4000 + at_us, i * 4000 + at_us + 190);
		x_event(loop, "PjitFunction(decode)", at - 5, at + 5, NULL);
		x_event(loop, "$answers.py:37 detokenize", at + from_us, at + until_us, NULL);
		x_event(loop, "PjitFunction(prefill)", at + at_us - 10, at + at_us - 5, NULL);
	}
}

/* Of a server with two programs, what lies between them has rows, too. */
static void a_server_of_two_programs(void **state)
{
	(void)state;
	tell_two_programs(3500, 1010, 3480);
	xrun_measure(&run);
	const struct waits_row *w = &table_rows(&run.tables, waits)[1];
	assert_text(w->cause, "host");
	assert_text(w->doing, "answers.py:37 detokenize");
	const struct gaps_row *gap =
		&table_rows(&run.tables, gaps)[table_count(&run.tables, gaps) - 1];
	assert_text(gap->role, "other");
	assert_null(gap->before.p);
	tell_gaps("step", 5, 5 * 310 * US);
	tell_gaps("other", 6, 6 * 2500 * US);
}

/* What it waits for before a step is the step's alone. */
static void a_server_that_waits_before_its_steps(void **state)
{
	(void)state;
	tell_two_programs(1010, 1210, 3980);
	xrun_measure(&run);
	tell_gaps("step", 5, 5 * 2800 * US);
	tell_gaps("other", 6, 6 * 10 * US);
}

/* Between two executions of other work that is marked, the wait is that work's, once. */
static void a_server_that_marks_its_prefills(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *modules = x_line(tpu, "XLA Modules");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	has_program(host, "jit_decode", 7);
	has_program(host, "jit_prefill", 8);
	for (int64_t i = 0; i < 16; i++) {
		int64_t at = i * 1000, until = at + (i % 2 ? 200 : 500);
		x_event(steps, number(i), at, at + 500, NULL);
		x_event(modules, i % 2 ? "jit_prefill(8)" : "jit_decode(7)", at, until, NULL);
		x_event(ops, i % 2 ? "sum.1" : "dot.1", at, until, NULL);
		if (i % 2) {
			x_event(modules, "jit_prefill(8)", at + 300, at + 500, NULL);
			x_event(ops, "sum.1", at + 300, at + 500, NULL);
		}
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->is_server, 1);
	tell_gaps("step", 7, 7 * 500 * US);
	tell_gaps("other", 16, 8 * 600 * US);
}

/* Waits of one length: as many have rows as of any other. */
static void a_server_of_many_equal_waits(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	has_program(host, "jit_decode", 7);
	has_program(host, "jit_prefill", 8);
	for (int64_t i = 0; i < 500; i++) {
		execute(ops, i * 1000);
		x_event(ops, "sum.1", i * 1000 + 400, i * 1000 + 500, NULL);
		if (i % 3)
			execute(ops, i * 1000 + 700);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->is_server, 1);
	tell_gaps("other", 100, 100 * 250 * US);
}

/* Python runs one thread at a time: one that works keeps that waiting which would launch the next
 * step, and which shows nothing meanwhile. */
static void a_thread_that_holds_the_interpreter(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xplane *threads = x_host(host);
		struct xline *loop = x_line(threads, "python"), *other = x_line(threads, "other");
		struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 4000;
			on_both_clocks(modules, "jit_train_step(7)", i * 4000, i * 4000 + 1000);
			on_both_clocks(ops, "dot.1", i * 4000, i * 4000 + 1000);
			x_event(loop, "$train.py:9 log", at - 90, at - 10, NULL);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
			x_event(other, "$data.py:3 tokenize", at + 900, at + 3990, NULL);
			if (waits)
				x_event(other, "$<unknown> fetch", at + 950, at + 3980, NULL);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, waits ? "unknown" : "host");
		/* Of 3 ms, in which the loop logs and launches for 85 us. */
		assert_number(gap->cause_s, (waits ? 2915 : 3000) * US);
		assert_number(gap->by_others, !waits);
		if (!waits) {
			assert_text(gap->host_activity, "data.py:3 tokenize");
			assert_text(table_rows(&run.tables, waits)->at,
				"while another thread runs Python code");
		}
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* A thread that waits for another process, or for its next task, keeps nobody waiting. */
static void threads_that_wait(void **state)
{
	(void)state;
	static const char *const waits[] = { "$socket.py:800 recv", "$poll.py:80 poll",
		"$queue.py:154 get", "$time sleep" };
	for (size_t k = 0; k < COUNT_OF(waits); k++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xplane *threads = x_host(host);
		struct xline *loop = x_line(threads, "python"), *other = x_line(threads, "other");
		struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 4000;
			on_both_clocks(modules, "jit_train_step(7)", i * 4000, i * 4000 + 1000);
			on_both_clocks(ops, "dot.1", i * 4000, i * 4000 + 1000);
			x_event(loop, "$train.py:9 log", at - 90, at - 10, NULL);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
			x_event(other, "$heartbeat.py:3 run", at + 900, at + 905, NULL);
			x_event(other, waits[k], at + 910, at + 4890, NULL);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, "unknown");
		assert_number(gap->by_others, 0);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/*
 * What a host does behind a result that it read could be done while the next step runs, if it is
 * work of its own and launches nothing; no longer than that step lasts.
 */
static void work_behind_a_result(void **state)
{
	static const struct {
		const char *behind;
		bool works_after;
	} steps[] = { { "$metrics.py:3 update", true }, { "$array.py:615 _value", false } };
	(void)state;
	for (int k = 0; k < COUNT_OF(steps); k++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(x_host(host), "python");
		struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 2000;
			on_both_clocks(modules, "jit_train_step(7)", i * 2000, i * 2000 + 1000);
			on_both_clocks(ops, "dot.1", i * 2000, i * 2000 + 1000);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
			x_event(loop, "$api.py:9 block_until_ready", at + 10, at + 1005, NULL);
			x_event(loop, steps[k].behind, at + 1010, at + 1990, NULL);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, "sync");
		assert_number(gap->works_after, steps[k].works_after);
		assert_number(table_rows(&run.tables, waits)->works_after, steps[k].works_after);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* An evaluation that waits for its result could have had that much of the host's work beside it. */
static void work_behind_a_short_evaluation(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python");
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
	for (int64_t i = 0; i < 6; i++) {
		int64_t begin = i * 8000;
		on_both_clocks(modules, "jit_train_step(7)", begin, begin + 3000);
		on_both_clocks(ops, "dot.1", begin, begin + 3000);
		x_event(loop, "PjitFunction(train_step)", SHIFT + begin - 5, SHIFT + begin + 5,
			NULL);
		for (int64_t k = 0; i % 2 && k < 2; k++) {
			int64_t at = begin + 3000 + k * 2200;
			on_both_clocks(modules, "jit_evaluate(8)", at, at + 100);
			on_both_clocks(ops, "sum.1", at, at + 100);
			x_event(loop, "PjitFunction(evaluate)", SHIFT + at - 5, SHIFT + at + 5,
				NULL);
			x_event(loop, "$api.py:9 block_until_ready", SHIFT + at + 10,
				SHIFT + at + 101, NULL);
			x_event(loop, "$eval.py:3 read_rows", SHIFT + at + 105, SHIFT + at + 2190,
				NULL);
		}
	}
	xrun_measure(&run);
	const struct waits_row *w = &table_rows(&run.tables, waits)[1];
	assert_text(w->cause, "host");
	assert_text(w->doing, "eval.py:3 read_rows");
}

/* An annotation around a step, by whatever name, says nothing of what the host did in it. */
static void an_annotation_around_a_step(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python");
	struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(modules, "jit_train_step(7)", i * 200, i * 200 + 100);
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "my step", at - 60, at + 130, NULL);
		x_event(loop, "$files.py:3 read", at - 55, at - 15, NULL);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
	}
	xrun_measure(&run);
	assert_text(table_rows(&run.tables, gaps)->cause, "unknown");
}

/* A function that launches a step is no mark, whatever its file is named after. */
static void a_function_around_a_step(void **state)
{
	(void)state;
	static const char *const files[] = { "/demo.py:12", "/checkpoint_demo.py:12" },
				 *const frames[] = { "$demo.py:10 one_step",
					 "$checkpoint_demo.py:10 one_step" };
	for (size_t k = 0; k < COUNT_OF(files); k++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(x_host(host), "python"), *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.1",
			X_STATS(x_int("program_id", PROGRAM), x_text("source", files[k])));
		has_program(host, "jit_train_step", PROGRAM);
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 2000;
			on_both_clocks(ops, "dot.1", i * 2000, i * 2000 + 1000);
			x_event(loop, frames[k], at - 995, at + 20, NULL);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, "host");
		assert_text(gap->host_call, frames[k] + 1);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* Who reads a loss finds the own line sooner than JAX's. */
static void a_wait_of_the_users(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("source", "/job/train.py:12")));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$train.py:50 log", at + 20, at + 190, NULL);
		x_event(loop, "$array.py:615 _value", at + 21, at + 180, NULL);
	}
	xrun_measure(&run);
	const struct gaps_row *gap = table_rows(&run.tables, gaps);
	assert_text(gap->cause, "sync");
	assert_text(gap->host_call, "train.py:50 log");
	assert_text(gap->host_activity, "array.py:615 _value");
}

/* A library's file of checkpoints writes some; the user's may only be named so. */
static void files_named_after_checkpoints(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("source", "/checkpoint_demo.py:12")));
	static const char *const calls[] = { "", "$checkpoint_demo.py:10 log",
		"$checkpoint_demo.py:20 save_checkpoint", "$checkpointer.py:30 save" };
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		if (i > 0 && i < 4)
			x_event(loop, calls[i], at + 105, at + 190, NULL);
	}
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_text(gaps[0].cause, "host");
	assert_text(gaps[1].cause, "checkpoint");
	assert_text(gaps[2].cause, "checkpoint");
}

/* More and larger gaps inside the programs than are kept: the waits between them are known all the
 * same. */
static void short_waits_beside_longer_gaps(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *loop = x_line(x_host(host), "python");
	struct xline *ops = two_ops(tpu), *modules = x_line(tpu, "XLA Modules");
	for (int64_t i = 0; i < 60; i++) {
		int64_t from = i * 1000, at = SHIFT + from;
		annotate(loop, i, at, at + 1000);
		x_event(loop, "PjitFunction(f)", at - 5, at + 5, NULL);
		on_both_clocks(modules, "jit_f(7)", from, from + 900);
		for (int64_t k = 0; k < 3; k++)
			on_both_clocks(
				ops, k ? "add.2" : "dot.1", from + 400 * k, from + 400 * k + 100);
		x_event(loop, "$api.py:9 block_until_ready", at + 10, at + 940, NULL);
		x_event(loop, "$builtins next", at + 940, at + 990, NULL);
	}
	xrun_measure(&run);
	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++)
		assert_text(table_rows(&run.tables, gaps)[i].cause, "program");
	assert_number(xrun_row(&run)->idle_ratio, .7);
	assert_number(xrun_row(&run)->input_wait_ratio, .05);
	assert_number(xrun_row(&run)->sync_wait_ratio, .05);
}

/*
 * A thread without marks samples now and then on the device whose steps another one marks, and acts
 * as often as it can on a device of its own: nothing of that is a step's.
 */
static void a_thread_beside_the_marks(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host), *tpu = x_tpu(host, 0, "TPU v5 lite"),
		      *other = x_tpu(host, 1, "TPU v5 lite");
	struct xline *loop = x_line(threads, "main"), *beside = x_line(threads, "actor");
	struct xline *ops = two_ops(tpu), *acts = x_line(other, "XLA Ops");
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	x_op(other, "tanh.1", X_STATS(x_int("program_id", 9)));
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_sample", 8);
	has_program(host, "jit_act", 9);
	for (int64_t i = 0; i < 20; i++) {
		int64_t at = i * 1000;
		annotate(loop, i, at, at + 990);
		x_event(loop, "PjitFunction(train_step)", at + 5, at + 15, NULL);
		x_event(ops, "dot.1", at + 20, at + 620, NULL);
		if (i % 3 == 1) {
			x_event(beside, "PjitFunction(sample)", at + 100, at + 110, NULL);
			x_event(ops, "sum.1", at + 700, at + 900, NULL);
		}
		for (int64_t k = 0; k < 2 + i * 7 % 3; k++) {
			int64_t act = at + 200 * k;
			x_event(beside, "PjitFunction(act)", act + 150, act + 160, NULL);
			x_event(acts, "tanh.1", act + 170, act + 270, NULL);
		}
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
	assert_number(xrun_row(&run)->programs_per_step, 1);
	assert_text(table_rows(&run.tables, phases)[0].name, "train");
	assert_text(table_rows(&run.tables, phases)[0].modules, "jit_train_step");
	assert_number(table_rows(&run.tables, phases)[0].count, 20);
}

/* Every fourth marked step runs one more program, which takes more than all else: a step is one
 * without it, and the others can be asked for by its name. */
static void steps_that_do_more(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(x_host(host), "main"), *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
		has_program(host, "jit_train_step", 7);
		has_program(host, "jit_precondition", 8);
		for (int64_t i = 0, at = 0; i < 17; i++) {
			bool more = i % 4 == 3;
			annotate(loop, i, at, at + (more ? 1190 : 190));
			x_event(loop, "PjitFunction(train_step)", at + 1, at + 9, NULL);
			execute(ops, at + 20);
			if (more)
				x_event(loop, "PjitFunction(precondition)", at + 11, at + 19, NULL);
			if (more)
				x_event(ops, "sum.1", at + 180, at + 1180, NULL);
			at += more ? 1200 : 200;
		}
		run.options.step = asked ? STR("jit_precondition") : (struct str){ 0 };
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, asked ? 3 : 11);
		assert_number(xrun_row(&run)->step_time_s, (asked ? 1200 : 200) * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* One step in five is marked.  What comes behind it is the same work: steps without a mark.  Other
 * work has a wait of 50 us on each side. */
static void one_step_in_five_is_marked(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *loop = x_line(x_host(host), "main");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	has_program(host, "jit_train_step", 7);
	for (int64_t i = 0; i < 40; i++) {
		if (i % 5 == 0)
			annotate(loop, i, i * 200, i * 200 + 190);
		x_event(loop, "PjitFunction(train_step)", i * 200 + 1, i * 200 + 9, NULL);
		execute(ops, i * 200 + 20);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->step_time_s, 250 * US);
	assert_number(xrun_row(&run)->programs_per_step, 1);
	assert_number(xrun_row(&run)->steps, 6);
}

/* Two threads launch, and both wait through the same gaps: the time passed once. */
static void two_threads_in_a_gap(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host);
	struct xline *loop = x_line(threads, "python"), *loader = x_line(threads, "loader");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(loop, "$api.py:9 block_until_ready", at + 50, at + 190, NULL);
		x_event(loader, "PjitFunction(augment)", at - 5, at + 5, NULL);
		x_event(loader, "$builtins next", at + 110, at + 190, NULL);
	}
	xrun_measure(&run);
	double sum_s = 0;
	for (ptrdiff_t i = 0; i < table_count(&run.tables, phases); i++)
		sum_s += table_rows(&run.tables, phases)[i].time_s;
	assert_number(sum_s, 1100 * US);
	assert_number(xrun_row(&run)->input_wait_ratio + xrun_row(&run)->sync_wait_ratio, .5);
}

/* Two threads launch: the first is seen in a fifth of each gap, the second in most of it. */
static void two_threads_that_launch(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host);
	struct xline *logs = x_line(threads, "logs"), *plans = x_line(threads, "plans");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = SHIFT + i * 200;
		on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		x_event(logs, "PjitFunction(train_step)", at - 5, at + 5, NULL);
		x_event(logs, "log", at + 180, at + 194, NULL);
		x_event(plans, "PjitFunction(plan)", at - 5, at + 5, NULL);
		x_event(plans, "plan", at + 100, at + 140, NULL);
		x_event(plans, "send", at + 140, at + 170, NULL);
	}
	xrun_measure(&run);
	assert_text(table_rows(&run.tables, gaps)->cause, "host");
	assert_text(table_rows(&run.tables, gaps)->host_activity, "plan");
}

/* A mark around steps tells of no gap, nor does a thread that launches nothing, nor an event that
 * covers little of it. */
static void what_nothing_tells_of(void **state)
{
	(void)state;
	struct xline *thread = six_executions();
	x_event(thread, "train", SHIFT, SHIFT + 1200,
		X_STATS(x_int("_r", 1), x_int("step_num", 1)));
	for (int64_t i = 0; i < 6; i++)
		x_event(thread, "PjitFunction(f)", SHIFT + i * 200 + 190, SHIFT + i * 200 + 199,
			NULL);
	x_event(x_line(x_host(run.files[0]), "writer"), "$writer.py:3 flush", SHIFT, SHIFT + 1200,
		NULL);
	xrun_measure(&run);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_int_equal(table_count(&run.tables, gaps), 5);
	for (ptrdiff_t i = 0; i < 5; i++) {
		assert_text(gaps[i].cause, "unknown");
		assert_text(gaps[i].host_activity, NULL);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

/* Two devices, the second without the add of some steps, or with one more in some. */
static const struct quality_row *devices_but(int64_t first, int64_t last, bool more)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	for (int d = 0; d < 3; d++) {
		struct xline *ops = two_ops(x_tpu(host, d, "TPU v5 lite"));
		for (int64_t i = 0; i < 8; i++) {
			bool odd = d == 1 && i >= first && i <= last;
			x_event(ops, "dot.1", i * 200, i * 200 + 100, NULL);
			if (!odd || more)
				x_event(ops, "add.2", i * 200 + 100, i * 200 + 150, NULL);
			if (odd && more)
				x_event(ops, "add.2", i * 200 + 150, i * 200 + 160, NULL);
		}
	}
	xrun_measure(&run);
	return xrun_quality(&run, "devices-agree");
}

static void a_device_recorded_in_part(void **state)
{
	(void)state;
	const struct quality_row *q = devices_but(3, 4, false);
	assert_number(q->ok, 0);
	assert_text(q->detail, "2 of 12 events of /device:TPU:1 of worker-0 are missing from steps "
			       "that other devices recorded whole");
}

static void devices_of_other_work_lack_nothing(void **state)
{
	(void)state;
	assert_number(devices_but(0, 7, false)->ok, 1); /* less in each step */
	xrun_end(&run);
	xrun_begin(&run);
	assert_number(devices_but(3, 4, true)->ok, 1); /* more in some */
	xrun_end(&run);
	xrun_begin(&run);
	assert_number(devices_but(1, 5, true)->ok, 1); /* and in most */
}

/* ---- what is a step, of several programs ----------------------------------------------------- */

enum { EVALUATION = 8 };

/* An evaluation of 100 us behind the fourth mark is no part of that step; its wait is. */
static void other_work_is_cut_out(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	for (int64_t i = 0; i < 6; i++) {
		annotate(thread, i, i * 400, i * 400 + 200);
		execute(ops, i * 400 + 10);
		if (i == 3)
			x_event(ops, "sum.1", i * 400 + 220, i * 400 + 320, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 4); /* without the first and the last */
	assert_number(step_row(2)->time_s, 400 * US);
	assert_number(step_row(3)->time_s, 300 * US);
	assert_number(step_row(3)->compute_s, 150 * US);
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
	assert_text(xrun_op(&run, "sum.1")->common->role, "other");
	assert_number(xrun_op(&run, "sum.1")->p50_s, 100 * US);
	assert_number(xrun_op(&run, "sum.1")->common->per_step, 0);
	assert_number(xrun_op(&run, "sum.1")->time_share, 0);
	assert_number(xrun_row(&run)->verdict_share, 900. / 1000);
	assert_number(xrun_row(&run)->programs_per_step, 1);
}

/* The window finds an execution launched, and ends before the last call has its own. */
static void a_queue_at_both_ends(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	has_program(host, "jit_train_step", 7);
	for (int64_t i = 0; i < 12; i++) {
		int64_t at = i * 3000;
		execute(ops, at);
		annotate(thread, 100 + i, at + 400, at + 600);
		x_event(thread, "PjitFunction(train_step)", at + 450, at + 550, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 9);
	assert_number(xrun_row(&run)->step_time_s, 3000 * US);
	assert_number(table_rows(&run.tables, steps)->step, 100); /* the second execution's */
	assert_number(table_rows(&run.tables, steps)->start_s, 3000 * US);
}

/* The first execution of a warm-up takes longer than all the rest: it is not the job. */
static void marks_of_a_warm_up(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 12; i++) {
		int64_t at = i * 400 + (i ? 9000 : 0);
		x_event(thread, i < 4 ? "first" : "rest", at, at + (i ? 300 : 9300),
			X_STATS(x_int("_r", 1), x_int("step_num", i)));
		x_event(ops, "dot.1", at + 10, at + (i ? 110 : 9110), NULL);
	}
	xrun_measure(&run);
	assert_text(table_rows(&run.tables, phases)->name, "first");
	assert_text(table_rows(&run.tables, phases)->role, "other");
	assert_number(xrun_row(&run)->steps, 6);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
}

/* Each mark holds two others: these are the steps, unless the outer ones are asked for. */
static void marks_around_marks(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 12; i++) {
		if (i % 2 == 0)
			x_event(thread, "batch", i * 400, i * 400 + 790,
				X_STATS(x_int("_r", 1), x_int("step_num", i / 2)));
		annotate(thread, i % 2, i * 400 + 5, i * 400 + 380);
		execute(ops, i * 400 + 10);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 10);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	run.options.step = STR("batch");
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_row(&run)->step_time_s, 800 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
}

/* Marks around the gradient: the update behind each of them, but the last, is of the step.  What
 * comes behind every second one is not. */
static void work_behind_every_mark(void **state)
{
	(void)state;
	for (int every = 1; every <= 2; every++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xline *thread = x_line(x_host(host), "python");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		for (int64_t i = 0; i < 9; i++) {
			annotate(thread, i, i * 400, i * 400 + 200);
			execute(ops, i * 400 + 10);
			if (i % every == 0 && i < 8)
				x_event(ops, "sum.1", i * 400 + 250, i * 400 + 350, NULL);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, 7);
		assert_number(xrun_row(&run)->step_time_s, 400 * US);
		assert_number(xrun_row(&run)->programs_per_step, every == 1 ? 2 : 1);
		assert_text(xrun_op(&run, "sum.1")->common->role, every == 1 ? "step" : "other");
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* One thread trains on a device, and beside it another evaluates on the other: each launches the
 * work of its own marks.  The evaluation is the last to end. */
static void two_threads_mark(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *threads = x_host(host), *other = x_tpu(host, 1, "TPU v5 lite");
	struct xline *trains = x_line(threads, "main"), *evaluates = x_line(threads, "evaluator");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	x_op(other, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	struct xline *sums = x_line(other, "XLA Ops");
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_evaluate", EVALUATION);
	for (int64_t i = 0; i < 8; i++) {
		annotate(trains, i, i * 300, i * 300 + 290);
		x_event(trains, "PjitFunction(train_step)", i * 300 + 1, i * 300 + 9, NULL);
		execute(ops, i * 300 + 20);
	}
	for (int64_t i = 0; i < 5; i++) {
		x_event(evaluates, "eval", i * 500, i * 500 + 400,
			X_STATS(x_int("_r", 1), x_int("step_num", i)));
		x_event(evaluates, "PjitFunction(evaluate)", i * 500 + 1, i * 500 + 9, NULL);
		x_event(sums, "sum.1", i * 500 + 20, i * 500 + 390, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_text(xrun_row(&run)->main_program, "jit_train_step");
	assert_number(xrun_row(&run)->steps, 6);
	assert_number(xrun_row(&run)->step_time_s, 300 * US);
	assert_number(xrun_row(&run)->programs_per_step, 1);
	assert_text(table_rows(&run.tables, phases)->name, "train");
}

/*
 * Small programs run now and then, 300 us apart: of the loop's own they are other work together.
 * For a loader's the loop does not stop, and what it waits between them is the step's.
 */
static void a_loader_s_programs(void **state)
{
	(void)state;
	for (int own = 0; own < 2; own++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *threads = x_host(host), *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(threads, "main"), *loader = x_line(threads, "loader");
		struct xline *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_train_step", 7);
		has_program(host, "jit_shift", EVALUATION);
		for (int64_t i = 0; i < 8; i++) {
			int64_t at = i * 600;
			annotate(loop, i, at, at + 180);
			x_event(loop, "PjitFunction(train_step)", at + 1, at + 9, NULL);
			execute(ops, at + 20);
			for (int64_t k = 200; i % 3 == 2 && k <= 500; k += 300) {
				x_event(own ? loop : loader, "PjitFunction(shift)", at + k,
					at + k + 5, NULL);
				x_event(ops, "sum.1", at + k + 5, at + k + 15, NULL);
			}
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, 6);
		assert_number(xrun_row(&run)->step_time_s, 600 * US);
		assert_number(xrun_row(&run)->step_mean_s, (600 - (own ? 620 : 40) / 6.) * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/*
 * A Steps line that marks training and an evaluation, and a program that runs between the marks:
 * each device program has a role, and the judged steps are those that train.
 */
static void tell_two_sorts(void)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	x_op(tpu, "copy.1", X_STATS(x_int("program_id", EVALUATION + 1)));
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_evaluate", EVALUATION);
	has_program(host, "jit_save", EVALUATION + 1);
	for (int64_t i = 0; i < 8; i++) {
		int64_t at = i * 1000;
		bool evaluates = i % 4 == 3;
		x_event(steps, number(i), at, at + (evaluates ? 700 : 200), NULL);
		if (evaluates)
			x_event(ops, "sum.1", at + 10, at + 690, NULL);
		else
			execute(ops, at + 10);
		if (i == 5)
			x_event(ops, "copy.1", at + 300, at + 400, NULL);
	}
}

static void a_steps_line_of_two_sorts(void **state)
{
	(void)state;
	tell_two_sorts();
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->steps_source, "steps-line");
	assert_number(r->steps, 5);
	assert_number(r->step_time_s, 1000 * US); /* with the wait behind each mark */
	assert_number(r->programs_per_step, 1);
	assert_number(r->verdict_share, 900. / (900 + 2 * 680 + 100));
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
	assert_number(xrun_op(&run, "dot.1")->common->count, 5);
	assert_text(xrun_op(&run, "sum.1")->common->role, "other");
	assert_number(xrun_op(&run, "sum.1")->p50_s, 680 * US);
	assert_number(xrun_op(&run, "sum.1")->common->count, 2);
	assert_text(xrun_op(&run, "copy.1")->common->role, "other");
	assert_number(xrun_op(&run, "copy.1")->common->count, 1);
	const struct phases_row *p = table_rows(&run.tables, phases);
	assert_text(p[1].name, "jit_evaluate");
	assert_number(p[1].marks, 2);
	assert_text(p[1].step, "jit_evaluate");
	assert_text(p[2].name, "jit_train_step");
	assert_number(p[2].is_judged, 1);
	assert_number(p[2].marks, 6);
	assert_text(p[3].name, "jit_save");
	assert_text(p[3].step, NULL);
	/* The first evaluation has a step behind it: 10 us before its op, and 310 behind. */
	assert_number(xrun_device(&run, "/device:TPU:0")->other_wait_ratio, 320. / 6000);
	double other_s = 0;
	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++) {
		const struct gaps_row *g = &table_rows(&run.tables, gaps)[i];
		other_s += str_eq(g->role, STR("other")) ? g->time_s : 0;
	}
	assert_number(other_s, 320 * US);
}

/*
 * Two stages of a pipeline: a host and a device each, with a program of its own that takes 100 or
 * 200 us of each step, and an evaluation on the first of them behind every third step.
 */
static void tell_stages(bool by_line, const char *second)
{
	static const char *const hosts[] = { "worker-0", "worker-1" };

	for (int stage = 0; stage < 2; stage++) {
		struct xspace *host = xrun_host(&run, hosts[stage]);
		struct xplane *tpu = x_tpu(host, stage, "TPU v5 lite");
		struct xline *marks =
			by_line ? x_line(tpu, "Steps") : x_line(x_host(host), "python");
		struct xline *ops = x_line(tpu, "XLA Ops");
		const char *op = stage ? "dot.2" : "dot.1";
		x_op(tpu, op, X_STATS(x_int("program_id", 20 + stage)));
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, stage ? second : "jit_train_first", 20 + stage);
		has_program(host, "jit_evaluate", EVALUATION);
		for (int64_t i = 0; i < 8; i++) {
			int64_t at = i * 1000;
			bool evaluates = i % 4 == 3;
			if (stage && evaluates)
				continue;
			if (by_line)
				x_event(marks, number(i), at, at + 300, NULL);
			else
				annotate(marks, i, at, at + 300);
			x_event(ops, evaluates ? "sum.1" : op, at + 10, at + (stage ? 210 : 110),
				NULL);
		}
	}
}

static void stages_are_one_step(const char *source)
{
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, source);
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
	assert_text(xrun_op(&run, "dot.2")->common->role, "step");
	assert_text(xrun_op(&run, "sum.1")->common->role, "other");
	assert_true(xrun_device(&run, "/device:TPU:0")->steps >= 4);
	assert_true(xrun_device(&run, "/device:TPU:1")->steps >= 4);
	assert_number(xrun_quality(&run, "devices-agree")->ok, 1);
}

static void stages_that_hosts_mark(void **state)
{
	(void)state;
	tell_stages(false, "jit_train_last");
	stages_are_one_step("annotation");
}

static void stages_with_a_line(void **state)
{
	(void)state;
	tell_stages(true, "jit_train_last");
	stages_are_one_step("steps-line");
}

/* A host that evaluates beside those that train is no stage of them. */
static void an_evaluator_is_no_stage(void **state)
{
	(void)state;
	tell_stages(true, "jit_eval_step");
	xrun_measure(&run);
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
	assert_text(xrun_op(&run, "dot.2")->common->role, "other");
}

/* One that is asked for is judged. */
static void a_steps_line_s_other_sort(void **state)
{
	(void)state;
	run.options.step = STR("evaluate");
	tell_two_sorts();
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "steps-line");
	assert_number(xrun_row(&run)->steps, 1); /* the last one's wait was not seen to end */
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
	assert_text(xrun_op(&run, "sum.1")->common->role, "step");
	assert_text(xrun_op(&run, "dot.1")->common->role, "other");
}

/* --step goes before the job file's. */
static void whose_step_is_judged(void **state)
{
	struct job_file job;
	struct diag err;
	(void)state;
	assert_true(job_parse(
		STR("job.yaml"), STR("version: 1\nstep: '*evaluate'\n"), &run.keep, &job, &err));
	run.options.job = &job;
	tell_two_sorts();
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 1);
	assert_text(xrun_op(&run, "dot.1")->common->role, "other");
	run.options.step = STR("train_step");
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 5);
	assert_text(xrun_op(&run, "dot.1")->common->role, "step");
}

/* Work and waits of the window before add up to it, whatever the steps are. */
static void phases_add_up_to_the_window(void **state)
{
	other_work_is_cut_out(state);
	const struct phases_row *rows = table_rows(&run.tables, phases);
	assert_int_equal(table_count(&run.tables, phases), 3);
	assert_text(rows[0].name, "unknown"); /* marks do not say what the host does */
	assert_number(rows[0].is_wait, 1);
	assert_number(rows[0].count, 6);
	assert_number(rows[0].time_s, (2150 - 1000) * US);
	assert_text(rows[1].name, "train");
	assert_text(rows[1].role, "step");
	assert_number(rows[1].marks, 6);
	assert_number(rows[1].count, 6);
	assert_number(rows[1].p50_s, 400 * US);
	assert_number(rows[1].time_s, 900 * US);
	assert_text(rows[1].step, "train");
	assert_text(rows[2].role, "other");
	assert_number(rows[2].marks, 0);
	assert_number(rows[2].count, 1);
	assert_number(rows[2].p50_s, 100 * US);
	assert_text(rows[2].step, NULL); /* once is no step */
	assert_number(rows[2].time_share, 100. / 2150);
}

/*
 * More executions than are kept, 60,000 rounds of two programs and a wait for the loader in every
 * 20,000th: no step is told from the order, and the window still adds up.
 *
 * us after a round's begin   0         10  12   15    20
 *                            |--dot.1--|   |sum.1|
 */
static void tell_rounds(void)
{
	enum { ROUNDS = 60000, WAIT = 500, WAITS = 3 };
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_log", EVALUATION);
	for (int64_t i = 0, at = 0; i < ROUNDS; i++, at += 20) {
		x_event(ops, "dot.1", at, at + 10, NULL);
		x_event(ops, "sum.1", at + 12, at + 15, NULL);
		if (i % (ROUNDS / WAITS) != ROUNDS / WAITS / 2)
			continue;
		x_event(thread, "$builtins next", at + 15, at + 20 + WAIT, NULL);
		at += WAIT;
	}
}

static void phases_of_more_executions_than_are_kept(void **state)
{
	double window_s = (60000 * 20 + 3 * 500 - 5) * US, sum_s = 0;
	(void)state;
	tell_rounds();
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_bucket(xrun_row(&run)->step_time_s, 20 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_number(xrun_row(&run)->verdict_share, 1);
	const struct phases_row *rows = table_rows(&run.tables, phases);
	assert_int_equal(table_count(&run.tables, phases), 4);
	for (ptrdiff_t i = 0; i < 4; i++)
		sum_s += rows[i].time_s;
	assert_number(sum_s, window_s);
	assert_text(rows[0].name, "jit_train_step");
	assert_text(rows[0].role, "step");
	assert_number(rows[0].count, 60000);
	assert_number(rows[0].p50_s, 10 * US);
	assert_number(rows[0].time_s, 60000 * 10 * US);
	assert_text(rows[1].name, "unknown");
	assert_true(isnan(rows[1].count));
	assert_text(rows[2].name, "jit_log");
	assert_number(rows[2].time_s, 60000 * 3 * US);
	assert_text(rows[3].name, "input");
	assert_number(rows[3].time_s, 3 * 505 * US);
	assert_text(xrun_op(&run, "sum.1")->common->role, "step");
	assert_text(xrun_quality(&run, "steps-found")->detail,
		"steps were found by what repeats: programs ran more than 100000 times on a "
		"device, too often to hold each against a mark or a period; a step is from one "
		"execution of the heaviest program to the next");
}

static void a_step_that_too_many_executions_hide(void **state)
{
	(void)state;
	run.options.step = STR("train_step");
	tell_rounds();
	assert_false(xrun_try(&run));
	assert_has(str_from(run.err.text), "more than 100000 times on a device");
}

enum { SCALAR = 9 };

/*
 * A job with an evaluation now and then, a module without ops before each step, and a Modules line
 * whose clock runs away from the ops' by more than lies between two executions.
 */
static void tell_evaluations(bool modules, bool amiss, bool compiles)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *told = modules ? x_line(tpu, "XLA Modules") : NULL, *ops = two_ops(tpu);

	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	has_program(host, "jit_train", PROGRAM);
	has_program(host, "jit_eval", EVALUATION);
	has_program(host, "jit_scalar", SCALAR);
	for (int64_t i = 0; i < 12; i++) {
		int64_t at = i * 40000, drift = SHIFT + i * 30;
		annotate(thread, i, at + SHIFT, at + SHIFT + 25000);
		on_both_clocks(ops, "dot.1", at + 10, at + 20010);
		on_both_clocks(ops, "add.2", at + 20012, at + 21000);
		if (compiles)
			x_event(thread, "backend_compile", at + SHIFT + 100, at + SHIFT + 200,
				NULL);
		if (i % 4 == 2)
			on_both_clocks(ops, "sum.1", at + 30003, at + 35000);
		if (!modules)
			continue;
		x_event(told, "jit_scalar(9)", at + drift, at + drift + 1, NULL);
		x_event(told, "jit_train(7)", at + drift + 9, at + drift + 21001, NULL);
		if (i % 4 == 2 && !(amiss && i == 6))
			x_event(told, "jit_eval(8)", at + drift + 30002, at + drift + 35001, NULL);
	}
}

static void programs_that_were_foreseen(void **state)
{
	static const struct {
		bool modules, amiss, compiles;
		int sweeps;
	} cases[] = { { false, false, false, 1 }, { true, false, false, 1 },
		{ true, true, false, 2 }, { true, false, true, 2 } };
	(void)state;
	for (int c = 0; c < 4; c++) {
		xrun_end(&run);
		xrun_begin(&run);
		tell_evaluations(cases[c].modules, cases[c].amiss, cases[c].compiles);
		xrun_measure(&run);
		assert_int_equal(run.measured->run.sweeps, cases[c].sweeps);
		assert_text(xrun_row(&run)->steps_source, "annotation");
		assert_number(xrun_row(&run)->steps, 10);
		assert_number(xrun_row(&run)->step_time_s, 40000 * US);
		assert_number(step_row(2)->start_s, 80000 * US);
		assert_number(step_row(2)->time_s, (40000 - 4997) * US);
		assert_number(step_row(2)->idle_s, (40000 - 4997 - 20000 - 988) * US);
		assert_number(step_row(11)->is_complete, 0);
		assert_text(xrun_op(&run, "sum.1")->common->role, "other");
		assert_number(xrun_op(&run, "sum.1")->p50_s, 4997 * US);
		/* The wait for the evaluation, the one behind it, and those of the other steps. */
		assert_number(table_rows(&run.tables, gaps)[0].time_s, (40010 - 21000) * US);
	}
}

/*
 * Pieces of the second device's ops in the wrong order: its sweep begins again, and meets what the
 * Modules line foresees where that is.
 */
static void programs_that_were_foreseen_out_of_order(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	has_program(host, "jit_train", PROGRAM);
	has_program(host, "jit_eval", EVALUATION);
	for (int d = 0; d < 2; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *told = x_line(tpu, "XLA Modules"), *ops = two_ops(tpu);
		x_op(tpu, "all-reduce.1",
			X_STATS(x_int("program_id", EVALUATION),
				x_text("hlo_category", "all-reduce")));
		for (int64_t i = 0; i < 200; i++) {
			int64_t at = (d ? (i + 100) % 200 : i) * 100;
			bool trains = at >= 300;
			on_both_clocks(told, trains ? "jit_train(7)" : "jit_eval(8)", at, at + 80);
			on_both_clocks(ops, trains ? "dot.1" : "all-reduce.1", at, at + 50);
			if (trains)
				on_both_clocks(ops, "add.2", at + 50, at + 80);
		}
	}
	xrun_measure(&run);
	assert_number(xrun_quality(&run, "lanes-in-order")->ok, 0);
	assert_int_equal(run.measured->run.sweeps, 1);
	assert_number(xrun_row(&run)->step_time_s, 100 * US);
	assert_int_equal(table_count(&run.tables, collectives), 1);
	assert_number(table_rows(&run.tables, collectives)->wait_s, 0);
	assert_number(xrun_op(&run, "all-reduce.1")->common->count, 6);
}

/* A small program takes about a twentieth of each step, now a little more and now a little less. */
static void a_module_near_the_limit(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	for (int64_t i = 0; i < 10; i++) {
		int64_t at = i * 400, small = i % 2 ? 6 : 10; /* of 150 */
		annotate(thread, i, at, at + 200);
		execute(ops, at + 10);
		x_event(ops, "sum.1", at + 170, at + 170 + small, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 8); /* of one sort */
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_number(xrun_row(&run)->verdict_share, 1);
}

/* The job does not wait in its marks: what a call launched is its mark's, however late it runs. */
static void work_is_the_mark_s_that_launched_it(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	has_program(host, "jit_train_step", 7);
	for (int64_t i = 0; i < 5; i++) {
		annotate(thread, i, i * 20, i * 20 + 20);
		/* two calls in each mark, and each call is seen twice */
		for (int64_t at = i * 20 + 1; at < i * 20 + 20; at += 10) {
			x_event(thread, "PjitFunction(train_step)", at, at + 5, NULL);
			x_event(thread, "PjitFunction(train_step)", at + 1, at + 4, NULL);
		}
		execute(ops, 300 + i * 400);
		execute(ops, 500 + i * 400);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "annotation");
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 2);
}

/* A program twice and another once, over and over: that is a step, though nothing marks it. */
static void a_period_of_programs_is_a_step(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	for (int64_t i = 0; i < 5; i++) {
		execute(ops, i * 600);
		execute(ops, i * 600 + 160);
		x_event(ops, "sum.1", i * 600 + 320, i * 600 + 400, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->step_time_s, 600 * US);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 2);
	assert_number(xrun_op(&run, "sum.1")->common->per_step, 1);
	assert_number(step_row(1)->idle_s, (600 - 2 * 150 - 80) * US);
}

/* Gradients, an update of the weights, and what only looks at them. */
enum { UPDATE = 8, NORM };

static struct xline *gradients_and_updates(void)
{
	static const struct pb_instruction update[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "n", "negate", "f32[4]", 2, { 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction norm[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "n", "custom-call", "f32[]", 2, { 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation updates[] = { { "main", 1, update }, NO_ROW };
	static const struct pb_computation norms[] = { { "main", 1, norm }, NO_ROW };
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");

	has_program(host, "jit_train_gradients", 7);
	x_hlo(host, "jit_update", UPDATE, pb_write_module(&run.keep, updates, STR("")));
	x_hlo(host, "jit_norm", NORM, pb_write_module(&run.keep, norms, STR("")));
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", UPDATE)));
	x_op(tpu, "sqrt.1", X_STATS(x_int("program_id", NORM)));
	return two_ops(tpu);
}

/* Two gradients and an update, twice: too few to show a period, and a gradient alone is no step. */
static void gradients_without_their_update(void **state)
{
	(void)state;
	struct xline *ops = gradients_and_updates();
	for (int64_t at = 0; at < 1200; at += 600) {
		execute(ops, at);
		execute(ops, at + 160);
		x_event(ops, "sum.1", at + 320, at + 400, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "window");
	assert_has(xrun_quality(&run, "steps-found")->detail, "updates no weights");
}

/* Gradients of now more and now less micro-batches, each time with an update.  Returns the end. */
static int64_t run_updates(struct xline *ops, const int64_t *gradients, ptrdiff_t count)
{
	int64_t at = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		for (int64_t k = 0; k < gradients[i]; k++, at += 160)
			execute(ops, at);
		x_event(ops, "sum.1", at, at + 80, NULL);
		at += 80;
	}
	return at;
}

/* Two to four gradients, and then an update, which ends the step. */
static void an_update_ends_a_step(void **state)
{
	static const int64_t gradients[] = { 2, 3, 4, 2, 3, 2, 4 };
	(void)state;
	struct xline *ops = gradients_and_updates();
	run_updates(ops, gradients, COUNT_OF(gradients));
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 5);
	assert_number(xrun_row(&run)->step_time_s, (3 * 160 + 80) * US);
	assert_number(step_row(2)->time_s, (4 * 160 + 80) * US);
	assert_text(xrun_op(&run, "sum.1")->common->role, "step");
}

/* Two updates are too few, whatever runs behind them. */
static void two_updates_end_no_step(void **state)
{
	static const int64_t gradients[] = { 2, 3 };
	(void)state;
	struct xline *ops = gradients_and_updates();
	int64_t at = run_updates(ops, gradients, COUNT_OF(gradients));
	x_event(ops, "sqrt.1", at, at + 10, NULL);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "window");
}

/* What only looks at the weights, behind every third update, makes no step of three. */
static void a_norm_behind_every_third_update(void **state)
{
	(void)state;
	struct xline *ops = gradients_and_updates();
	for (int64_t i = 0; i < 12; i++) {
		execute(ops, i * 400);
		x_event(ops, "sum.1", i * 400 + 160, i * 400 + 240, NULL);
		if (i % 3 == 2)
			x_event(ops, "sqrt.1", i * 400 + 250, i * 400 + 260, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 10);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_text(xrun_op(&run, "sum.1")->common->role, "step");
	assert_text(xrun_op(&run, "sqrt.1")->common->role, "other");
}

/* An execution from before the capture, not waited for, ends in front of the first period. */
static void a_late_execution_hides_no_period(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	execute(ops, 0);
	for (int64_t i = 0; i < 5; i++) {
		execute(ops, 200 + i * 400);
		x_event(ops, "sum.1", 200 + i * 400 + 160, 200 + i * 400 + 240, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_number(step_row(0)->start_s, 200 * US);
}

/* What ran once, for longer than all steps together, is left out before what runs in every step. */
static void an_initialisation_hides_no_period(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	x_op(tpu, "iota.1", X_STATS(x_int("program_id", 9)));
	x_event(ops, "iota.1", 0, 5000, NULL);
	for (int64_t i = 0; i < 6; i++) {
		execute(ops, 6000 + i * 400);
		x_event(ops, "sum.1", 6000 + i * 400 + 160, 6000 + i * 400 + 170, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 4);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_text(xrun_op(&run, "iota.1")->common->role, "other");
}

/* A lambda whose only op is from a helper that it calls in this line of main.py. */
static void has_lambda(struct xspace *host, int64_t id, const char *op, int64_t line)
{
	struct pb at = pb_new(&run.keep), more = pb_new(&run.keep);
	struct pb frames = pb_new(&run.keep), module_more = pb_new(&run.keep);
	struct pb_instruction body[] = {
		{ .name = op, .opcode = "parameter", .shape = "f32[4]", .id = 1 }, NO_ROW
	};
	struct pb_computation module[] = { { "main", 1, body }, NO_ROW };

	pb_frame(&run.keep, &frames, 1, "layers.py", "dense", 3);
	pb_frame(&run.keep, &frames, 2, "main.py", "train.<locals>.<lambda>", line);
	pb_frame(&run.keep, &frames, 3, "main.py", "train", 30 + id);
	pb_bytes(&module_more, 17, pb_done(&frames));
	pb_int(&at, 15, 1);
	pb_bytes(&more, 7, pb_done(&at));
	body->more = pb_done(&more);
	x_hlo(host, "jit__lambda_", id, pb_write_module(&run.keep, module, pb_done(&module_more)));
}

/*
 * A library that is called with a module works around the launch, and keeps the device waiting: it
 * dispatches.  What it calls of the user's is no dispatch.
 */
static void a_library_that_dispatches(void **state)
{
	static const struct pb_instruction body[] = {
		{ "dot.1", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW }, NO_ROW
	};
	static const struct pb_computation module[] = { { "main", 1, body }, NO_ROW };
	(void)state;
	for (int calls_back = 0; calls_back < 2; calls_back++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *loop = x_line(x_host(host), "python"), *ops = x_line(tpu, "XLA Ops");
		struct pb frames = pb_new(&run.keep), more = pb_new(&run.keep);
		pb_frame(&run.keep, &frames, 1, "/py/site-packages/flax/jit.py", "__call__", 10);
		pb_frame(&run.keep, &frames, 2, "/home/me/train.py", "epoch", 5);
		x_op(tpu, "dot.1",
			X_STATS(x_int("program_id", 7), x_text("source", "/home/me/train.py:5")));
		pb_bytes(&more, 17, pb_done(&frames));
		x_hlo(host, "jit_train_step", 7,
			pb_write_module(&run.keep, module, pb_done(&more)));
		x_event(loop, "$train.py:4 epoch", SHIFT - 200, SHIFT + 1400, NULL);
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = SHIFT + i * 200;
			x_event(loop, "$jit.py:9 __call__", at - 95, at + 8, NULL);
			x_event(loop, "$jit.py:20 flatten", at - 94, at - 10, NULL);
			if (calls_back)
				x_event(loop, "$train.py:3 augment", at - 90, at - 12, NULL);
			x_event(loop, "PjitFunction(train_step)", at - 5, at + 5, NULL);
			on_both_clocks(ops, "dot.1", i * 200, i * 200 + 100);
		}
		xrun_measure(&run);
		const struct gaps_row *gap = table_rows(&run.tables, gaps);
		assert_text(gap->cause, "host");
		assert_number(gap->dispatching, !calls_back);
		assert_text(
			gap->host_call, calls_back ? "train.py:3 augment" : "jit.py:9 __call__");
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* Two programs of one name take turns. */
static void tell_turns(int64_t first_line, int64_t second_line)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");

	x_op(tpu, "tanh.1", X_STATS(x_int("program_id", 7)));
	x_op(tpu, "sin.1", X_STATS(x_int("program_id", 8)));
	has_lambda(host, 7, "tanh.1", first_line);
	has_lambda(host, 8, "sin.1", second_line);
	for (int64_t i = 0; i < 8; i++) {
		x_event(ops, "tanh.1", i * 400, i * 400 + 150, NULL);
		x_event(ops, "sin.1", i * 400 + 150, i * 400 + 250, NULL);
	}
	xrun_measure(&run);
}

/* Two lambdas bear one name; the lines that they are from tell them apart. */
static void lambdas_that_take_turns(void **state)
{
	(void)state;
	tell_turns(10, 11);
	assert_number(xrun_row(&run)->steps, 6);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_text(table_rows(&run.tables, phases)->modules, "jit__lambda_");
}

/* One function, compiled for two shapes: each execution is a step. */
static void shapes_that_take_turns(void **state)
{
	(void)state;
	tell_turns(10, 10);
	assert_number(xrun_row(&run)->steps, 14);
	assert_number(xrun_row(&run)->programs_per_step, 1);
}

/* Nothing is marked, and an evaluation behind every second step makes no step of three programs. */
static void an_evaluation_is_in_no_period(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_eval_step", EVALUATION);
	for (int64_t i = 0; i < 8; i++) {
		execute(ops, i * 400);
		if (i % 2)
			x_event(ops, "sum.1", i * 400 + 160, i * 400 + 260, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 6);
	assert_number(xrun_row(&run)->programs_per_step, 1);
	assert_text(xrun_op(&run, "sum.1")->common->role, "other");
	assert_number(xrun_op(&run, "sum.1")->common->count, 4);
}

/* A device waits meanwhile for another that evaluates: neither's steps hold that, and only the one
 * that evaluates waits for the host in it.  A Modules line's clock may be another than the ops'. */
static void other_work_of_one_device(void **state)
{
	static const struct {
		bool modules;
		int64_t late, drift;
		int sweeps;
	} cases[] = { { false, 0, 0, 1 }, { true, 0, 0, 1 }, { true, 500, 3, 2 } };
	(void)state;
	for (int c = 0; c < 3; c++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *first = x_tpu(host, 0, "TPU v5 lite"),
			      *second = x_tpu(host, 1, "TPU v5 lite");
		struct xline *told = cases[c].modules ? x_line(first, "XLA Modules") : NULL,
			     *also = cases[c].modules ? x_line(second, "XLA Modules") : NULL;
		struct xline *ops = two_ops(first), *others = two_ops(second);
		x_op(first, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_train_step", 7);
		has_program(host, "jit_eval_step", EVALUATION);
		for (int64_t i = 0; i < 8; i++) {
			int64_t at = i * 400, by = at + cases[c].late + i * cases[c].drift;
			execute(ops, at);
			execute(others, at);
			if (told) {
				x_event(told, "jit_train_step(7)", by, by + 150, NULL);
				x_event(also, "jit_train_step(7)", by, by + 150, NULL);
			}
			for (int k = 0; i % 2 && k < 2; k++) {
				int64_t from = k ? 300 : 160, to = k ? 360 : 260;
				x_event(ops, "sum.1", at + from, at + to, NULL);
				if (told)
					x_event(told, "jit_eval_step(8)", by + from, by + to, NULL);
			}
		}
		xrun_measure(&run);
		assert_int_equal(run.measured->run.sweeps, cases[c].sweeps);
		assert_number(xrun_row(&run)->steps, 6);
		assert_number(xrun_device(&run, "/device:TPU:0")->idle_ratio, 3 * 300 / 1800.);
		assert_number(xrun_device(&run, "/device:TPU:1")->idle_ratio, 3 * 300 / 1800.);
		assert_number(xrun_device(&run, "/device:TPU:0")->other_wait_ratio, 120 / 2400.);
		assert_number(xrun_device(&run, "/device:TPU:1")->other_wait_ratio, 0);
		const struct gaps_row *gaps = table_rows(&run.tables, gaps);
		double other_s = 0;
		for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++)
			other_s += str_eq(gaps[i].role, STR("other")) ? gaps[i].time_s : 0;
		assert_number(other_s, 120 * US);
	}
}

/* Marks that end a clock's tick before the next one leave no wait behind them. */
static void a_line_with_ticks_between_its_marks(void **state)
{
	(void)state;
	struct xplane *tpu = one_tpu();
	struct xline *steps = x_line(tpu, "Steps"), *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "dot.1", IS("convolution fusion"));
	for (int64_t i = 0; i < 5; i++) {
		x_event(steps, number(i), i * 100001, i * 100001 + 100000, NULL);
		x_event(ops, "dot.1", i * 100001, i * 100001 + 90000, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 4);
}

/* Marks may begin before their ops: what a device waits behind the last op of one is that one's. */
static void marks_that_begin_before_their_ops(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
	has_program(host, "jit_train_step", 7);
	has_program(host, "jit_evaluate", EVALUATION);
	for (int64_t i = 0; i < 16; i++) {
		int64_t at = 10 + i * 1000;
		x_event(steps, number(i), at - 1, at + 500, NULL);
		x_event(ops, i % 2 ? "sum.1" : "dot.1", at, at + 490, NULL);
		x_event(thread, i % 2 ? "PjitFunction(evaluate)" : "PjitFunction(train_step)",
			at - 8, at - 4, NULL);
		if (i % 2 == 0)
			x_event(thread, "$loader.py:3 __next__", at + 495, at + 990, NULL);
	}
	xrun_measure(&run);
	const struct waits_row *w = table_rows(&run.tables, waits);
	assert_text(w[0].role, "step");
	assert_text(w[0].cause, "input");
	assert_text(w[0].doing, "loader.py:3 __next__");
	double step_s = 0, other_s = 0;
	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++) {
		const struct gaps_row *g = &table_rows(&run.tables, gaps)[i];
		*(str_eq(g->role, STR("step")) ? &step_s : &other_s) += g->time_s;
	}
	/* Of steps 2 to 14, and of evaluations but the last: 1 us before the op, and 509 behind. */
	assert_number(step_s, 7 * 510 * US);
	assert_number(other_s, 7 * 510 * US);
}

/* A Modules line whose clock is another than the ops' changes nothing of marked evaluations. */
static void marked_evaluations_that_were_foreseen(void **state)
{
	static const int64_t early_us[] = { -1, 0, 50, 105, 200, 300 };
	(void)state;
	for (int c = 0; c < 6; c++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xline *thread = x_line(x_host(host), "python");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *told = c ? x_line(tpu, "XLA Modules") : NULL, *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		x_op(tpu, "sum.2", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_train", PROGRAM);
		has_program(host, "jit_eval", EVALUATION);
		for (int64_t i = 0; i < 12; i++) {
			int64_t at = 5000 + i * 1000, by = SHIFT + at - early_us[c];
			int64_t called = SHIFT + 1000 + i * 1000;
			bool ev = i % 3 == 2;
			x_event(thread, ev ? "eval" : "train", called, called + 900,
				X_STATS(x_int("_r", 1), x_int("step_num", i)));
			x_event(thread, ev ? "PjitFunction(eval)" : "PjitFunction(train)",
				called + 5, called + 10, NULL);
			on_both_clocks(ops, ev ? "sum.1" : "dot.1", at + 10, at + 700);
			on_both_clocks(ops, ev ? "sum.2" : "add.2", at + 800, at + 900);
			if (told)
				x_event(told, ev ? "jit_eval(8)" : "jit_train(7)", by + 9, by + 901,
					NULL);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, 7);
		assert_number(xrun_row(&run)->idle_ratio, .21);
		/* Of the steady 7 ms, and 3.89 ms of evaluations, 330 us are no execution's. */
		assert_number(
			xrun_device(&run, "/device:TPU:0")->other_wait_ratio, 330. / (7000 + 3890));
		double other_s = 0;
		for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++) {
			const struct gaps_row *g = &table_rows(&run.tables, gaps)[i];
			other_s += str_eq(g->role, STR("other")) ? g->time_s : 0;
		}
		assert_number(other_s, (4 * 100 + 3 * 110) * US);
	}
}

/* A server waits for requests: its step is an execution, and a prefill now and then is none. */
static void a_server_s_step_is_an_execution(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	has_program(host, "jit_decode", 7);
	has_program(host, "jit_prefill", 8);
	for (int64_t i = 0; i < 7; i++) {
		execute(ops, i * 1000);
		if (i % 3 == 1)
			x_event(ops, "sum.1", i * 1000 + 400, i * 1000 + 600, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->step_time_s, 150 * US);
	assert_number(xrun_row(&run)->idle_ratio, 0);
	assert_number(xrun_row(&run)->steps, 6); /* without the first; the end of each is seen */
	assert_text(xrun_op(&run, "sum.1")->common->role, "serving");
	assert_number(xrun_op(&run, "sum.1")->common->count, 2);
}

static void has_gradient(struct xspace *host, const char *name, int64_t id)
{
	struct pb metadata = pb_new(&run.keep), more = pb_new(&run.keep);
	struct pb_instruction body[] = {
		{ .name = "x", .opcode = "parameter", .shape = "f32[4]", .id = 1 }, NO_ROW
	};
	struct pb_computation module[] = { { "main", 1, body }, NO_ROW };

	pb_bytes(&metadata, 2, STR("jit(f)/transpose(jvp(f))/neg"));
	pb_bytes(&more, 7, pb_done(&metadata));
	body->more = pb_done(&more);
	x_hlo(host, name, (uint64_t)id, pb_write_module(&run.keep, module, STR("")));
}

/* The job file says whether it serves; else a gradient trains, whatever its program's name. */
static void what_serves(void **state)
{
	static const struct {
		const char *module, *job;
		bool trains, serves;
	} cases[] = {
		{ "jit_generate_and_update", NULL, true, false },
		{ "jit_generate", NULL, false, true },
		{ "jit_forward", NULL, false, false },
		{ "jit_forward", "version: 1\nphase: inference\n", false, true },
		{ "jit_generate", "version: 1\nphase: train\n", false, false },
	};
	(void)state;
	for (int k = 0; k < COUNT_OF(cases); k++) {
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
		struct job_file job;
		struct diag err;
		if (cases[k].job)
			assert_true(job_parse(
				STR("job.yaml"), str_from(cases[k].job), &run.keep, &job, &err));
		run.options.job = cases[k].job ? &job : NULL;
		if (cases[k].trains)
			has_gradient(host, cases[k].module, 7);
		else
			has_program(host, cases[k].module, 7);
		for (int64_t i = 0; i < 6; i++)
			execute(ops, i * 1000);
		xrun_measure(&run);
		assert_number(xrun_row(&run)->is_server, cases[k].serves);
		assert_number(xrun_row(&run)->step_time_s, (cases[k].serves ? 150 : 1000) * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* A step that generates, and trains on that for a shorter time, is no server's. */
static void what_generates_and_trains(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = two_ops(tpu);
	x_op(tpu, "sum.1", X_STATS(x_int("program_id", 8)));
	has_program(host, "jit_generate", 7);
	has_gradient(host, "jit_update", 8);
	for (int64_t i = 0; i < 7; i++) {
		execute(ops, i * 1000);
		x_event(ops, "sum.1", i * 1000 + 400, i * 1000 + 500, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->is_server, 0);
	assert_text(xrun_row(&run)->phase, "train");
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
	assert_number(xrun_row(&run)->programs_per_step, 2);
}

/* What generates and trains on it by turns is no server, where a line marks its work, too. */
static void a_line_of_what_generates_and_trains(void **state)
{
	(void)state;
	for (int by_line = 0; by_line < 2; by_line++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *steps = by_line ? x_line(tpu, "Steps") : NULL, *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_generate", 7);
		has_gradient(host, "jit_update", EVALUATION);
		for (int64_t i = 0; i < 12; i++) {
			int64_t at = i * 2000;
			if (steps)
				x_event(steps, number(i), at, at + 1000, NULL);
			x_event(ops, "dot.1", at, at + 600, NULL);
			x_event(ops, "sum.1", at + 650, at + 1000, NULL);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->is_server, 0);
		assert_number(xrun_row(&run)->step_time_s, 2000 * US);
		assert_number(xrun_row(&run)->idle_ratio, 1050. / 2000);
	}
}

/*
 * us       0            700  1000
 * mark     |-------------------|---   the last one ends with its work
 * dot.1    |-------------|     |---
 *
 * The last step's wait is not seen, so it is none to judge; and where each step but that compiles,
 * they are steps all the same.
 */
static void marks_that_hold_the_wait(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		bool compiles = way & 1;
		int64_t tick = way / 2; /* the ops begin so much before their marks */
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *thread = x_line(x_host(host), "python");
		struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
		has_program(host, "jit_train_step", 7);
		for (int64_t i = 0; i < 6; i++) {
			int64_t at = 100 + i * 1000;
			x_event(steps, number(i), at, at + (i < 5 ? 1000 : 700), NULL);
			x_event(ops, "dot.1", at - tick, at + 700, NULL);
			if (compiles && i < 5)
				x_event(thread, "backend_compile", at + 710, at + 750, NULL);
		}
		xrun_measure(&run);
		assert_text(xrun_row(&run)->steps_source, "steps-line");
		assert_number(xrun_row(&run)->steps, 4);
		assert_number(xrun_row(&run)->step_mean_s, 1000 * US);
		assert_number(xrun_row(&run)->idle_ratio, .3 - (double)tick / 1000);
		if (compiles)
			assert_number(xrun_row(&run)->compiles_in_steps, 4);
	}
}

/*
 * Three steps train, and between them two evaluations run: their waits say nothing of a last step
 * that trains, and those of the steps that train do.
 */
static void marks_that_hold_waits_of_one_sort(void **state)
{
	(void)state;
	for (int trains_wait = 0; trains_wait < 2; trains_wait++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_train_step", 7);
		has_program(host, "jit_evaluate", EVALUATION);
		for (int64_t i = 0; i < 13; i++) {
			bool trains = i % 3 == 0, waits = trains == trains_wait;
			int64_t at = i * 1000, end = at + (waits ? 700 : 1000);
			x_event(steps, number(i), at, i < 12 ? at + 1000 : end, NULL);
			x_event(ops, trains ? "dot.1" : "sum.1", at, end, NULL);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, trains_wait ? 3 : 4);
		assert_number(xrun_row(&run)->step_mean_s, 1000 * US);
		assert_number(xrun_row(&run)->idle_ratio, trains_wait ? .3 : 0);
	}
}

/* A warm-up that compiles three times is no habit, though one step alone is without. */
static void a_warm_up_compiles_three_times(void **state)
{
	(void)state;
	for (int by_line = 0; by_line < 2; by_line++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *thread = x_line(x_host(host), "python");
		struct xline *steps = by_line ? x_line(tpu, "Steps") : NULL, *ops = two_ops(tpu);
		for (int64_t i = 0, at = 0; i < 5 - by_line; i++) {
			int64_t end = at + (i < 3 ? 5000 : 1000);
			if (steps)
				x_event(steps, number(i), at, end, NULL);
			x_event(ops, "dot.1", at, at + 1000, NULL);
			if (i < 3)
				x_event(thread, "backend_compile", at + 1010, end - 10, NULL);
			at = end;
		}
		xrun_measure(&run);
		/* The line's last mark is so much shorter than the others that it may be cut. */
		assert_number(xrun_row(&run)->steps, by_line ? 0 : 1);
		assert_text(xrun_row(&run)->steps_source, by_line ? "window" : "program");
	}
}

/* A server's step ends with its work: what its mark holds behind that is the wait for a request. */
static void a_server_whose_marks_hold_the_wait(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	has_program(host, "jit_decode", 7);
	for (int64_t i = 0; i < 8; i++) {
		x_event(steps, number(i), i * 1000, (i + 1) * 1000, NULL);
		x_event(ops, "dot.1", i * 1000, i * 1000 + 400, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "steps-line");
	assert_number(xrun_row(&run)->is_server, 1);
	assert_number(xrun_row(&run)->steps, 7);
	assert_number(xrun_row(&run)->step_time_s, 400 * US);
	assert_number(xrun_row(&run)->idle_ratio, 0);
}

/* The host compiles ahead, and for the last step it has nothing to compile any more. */
static void all_steps_but_the_last_compile(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
	for (int64_t i = 0; i < 6; i++) {
		x_event(steps, number(i), i * 1000, (i + 1) * 1000, NULL);
		x_event(ops, "dot.1", i * 1000, (i + 1) * 1000, NULL);
		if (i < 5)
			x_event(thread, "backend_compile", i * 1000 + 310, i * 1000 + 350, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 5);
	assert_number(xrun_row(&run)->step_mean_s, 1000 * US);
}

/* What runs beside the step's own work is not cut out, whichever clock's tick that began by. */
static void work_that_begins_a_tick_before_its_mark(void **state)
{
	(void)state;
	for (int tick = 0; tick < 2; tick++) {
		xrun_end(&run);
		xrun_begin(&run);
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
		struct xline *steps = x_line(tpu, "Steps"), *ops = two_ops(tpu);
		x_op(tpu, "sum.1", X_STATS(x_int("program_id", EVALUATION)));
		has_program(host, "jit_train_step", 7);
		has_program(host, "jit_log", EVALUATION);
		for (int64_t i = 0; i < 8; i++) {
			int64_t at = 100 + i * 1000;
			x_event(steps, number(i), at, at + 300, NULL);
			x_event(ops, "dot.1", at - tick, at + 500, NULL);
			if (i % 2 == 0)
				x_event(ops, "sum.1", at + 310, at + 400, NULL);
		}
		xrun_measure(&run);
		assert_text(xrun_row(&run)->steps_source, "steps-line");
		assert_number(xrun_row(&run)->steps, 6);
		assert_number(xrun_row(&run)->step_mean_s, 1000 * US);
	}
}

/* In its second step the loader calls others so often. */
static void tell_waits(const char *loader, int calls)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xline *thread = x_line(x_host(host), "python");
	struct xline *ops = two_ops(x_tpu(host, 0, "TPU v5 lite"));
	for (int64_t i = 0; i < 5; i++) {
		int64_t at = i * 1000;
		annotate(thread, i, at, at + 1000);
		x_event(thread, loader, at + 10, at + 610, NULL);
		for (int k = 0; i == 1 && k < calls; k++)
			x_event(thread, "$records.py:9 __next__", at + 20, at + 20, NULL);
		x_event(thread, "$files.py:3 read", at + 20, at + 600, NULL);
		x_event(thread, "PjitFunction(f)", at + 610, at + 640, NULL);
		execute(ops, at + 650);
		x_event(thread, "$api.py:9 block_until_ready", at + 700, at + 810, NULL);
	}
	xrun_measure(&run);
}

/* A helper that makes the batch is a loader; one that trains on it is none. */
static void a_loader_by_its_name(void **state)
{
	static const char *const loaders[] = { "$train.py:9 get_batch", "$train.py:7 load",
		"$queues.py:98 get", "$_base.py:428 result", "BatchIterator.__next__" };
	(void)state;
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		tell_waits(loaders[i], 0);
		assert_number(xrun_row(&run)->input_wait_ratio, .6);
		xrun_end(&run);
		xrun_begin(&run);
	}
	tell_waits("$train.py:12 train_batch", 0);
	assert_number(xrun_row(&run)->input_wait_ratio, 0);
}

/* A loader that asks others for each record shows more calls than are kept. */
static void a_loader_of_many_calls(void **state)
{
	(void)state;
	tell_waits("$builtins next", HOST_SPANS_MAX);
	assert_number(xrun_row(&run)->input_wait_ratio, .6);
}

/* The device waits for the next batch, which is made deep inside a call, and for a result. */
static void why_a_device_waits(void **state)
{
	(void)state;
	tell_waits("$builtins next", 0);
	/* To 810 it waits, from 1010 to 1610 it makes the batch.  Without that wait it could do as
	 * much of the other 240 as the device works: 150. */
	assert_number(xrun_row(&run)->input_wait_ratio, .6);
	assert_number(xrun_row(&run)->sync_wait_ratio, .16);
	assert_text(table_rows(&run.tables, gaps)[0].cause, "input");
	assert_number(xrun_device(&run, "/device:TPU:0")->wait_ratio, .85);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(marked_steps_without_the_warm_up),
		TEST(time_of_marked_steps),
		TEST(ops_give_back_what_their_children_take),
		TEST(two_marked_steps_have_no_warm_up),
		TEST(a_cut_last_mark_is_no_step),
		TEST(overlapping_marks),
		TEST(of_many_devices_less_is_kept),
		TEST(idle_gaps_and_what_surrounds_them),
		TEST(executions_are_steps),
		TEST(executions_of_programs),
		TEST(the_first_look_was_wrong),
		TEST(an_op_of_a_loop_marks_nothing),
		TEST(a_capture_that_begins_in_a_loop),
		TEST(two_executions),
		TEST(one_execution_is_a_window),
		TEST(one_annotation_is_no_lack_of_marks),
		TEST(annotations_without_work),
		TEST(the_slowest_device_makes_the_step),
		TEST(filling_arrays_is_no_step),
		TEST(a_line_that_one_device_lacks),
		TEST(a_line_that_cannot_be_lent),
		TEST(a_device_beside_the_steps),
		TEST(devices_with_more_steps_than_others),
		TEST(the_first_device_is_idle),
		TEST(warm_ups_of_unlike_devices),
		TEST(the_main_program_of_two_alike),
		TEST(no_device_event_at_all),
		TEST(no_device_and_no_call),
		TEST(a_call_without_an_op),
		TEST(steps_beyond_those_that_have_a_row),
		TEST(two_executions_an_annotation),
		TEST(annotations_hold_what_runs_in_them),
		TEST(other_work_is_cut_out),
		TEST(a_device_recorded_in_part),
		TEST(devices_of_other_work_lack_nothing),
		TEST(phases_add_up_to_the_window),
		TEST(phases_of_more_executions_than_are_kept),
		TEST(a_step_that_too_many_executions_hide),
		TEST(programs_that_were_foreseen),
		TEST(programs_that_were_foreseen_out_of_order),
		TEST(marks_that_are_numbered_by_name),
		TEST(marks_that_are_called_by_stages),
		TEST(a_steps_line_of_two_sorts),
		TEST(a_steps_line_s_other_sort),
		TEST(stages_that_hosts_mark),
		TEST(stages_with_a_line),
		TEST(an_evaluator_is_no_stage),
		TEST(whose_step_is_judged),
		TEST(work_is_the_mark_s_that_launched_it),
		TEST(a_period_of_programs_is_a_step),
		TEST(gradients_without_their_update),
		TEST(an_update_ends_a_step),
		TEST(two_updates_end_no_step),
		TEST(a_norm_behind_every_third_update),
		TEST(a_late_execution_hides_no_period),
		TEST(a_server_s_step_is_an_execution),
		TEST(what_serves),
		TEST(what_generates_and_trains),
		TEST(a_loader_of_many_calls),
		TEST(why_a_device_waits),
		TEST(short_waits_beside_longer_gaps),
		TEST(a_thread_beside_the_marks),
		TEST(steps_that_do_more),
		TEST(one_step_in_five_is_marked),
		TEST(a_loader_by_its_name),
		TEST(a_module_near_the_limit),
		TEST(an_initialisation_hides_no_period),
		TEST(lambdas_that_take_turns),
		TEST(shapes_that_take_turns),
		TEST(an_evaluation_is_in_no_period),
		TEST(other_work_of_one_device),
		TEST(a_line_of_what_generates_and_trains),
		TEST(work_that_begins_a_tick_before_its_mark),
		TEST(marks_that_hold_the_wait),
		TEST(marks_that_hold_waits_of_one_sort),
		TEST(a_warm_up_compiles_three_times),
		TEST(a_server_whose_marks_hold_the_wait),
		TEST(all_steps_but_the_last_compile),
		TEST(a_line_with_ticks_between_its_marks),
		TEST(marks_that_begin_before_their_ops),
		TEST(marked_evaluations_that_were_foreseen),
		TEST(annotations_on_one_host_alone),
		TEST(the_devices_own_clock),
		TEST(a_clock_that_jumped),
		TEST(sparse_cores),
		TEST(marks_on_the_hosts_clock),
		TEST(marks_on_both_clocks),
		TEST(a_line_of_idle_marks_beside_annotations),
		TEST(a_last_step_without_a_duration),
		TEST(a_call_that_compiles_unseen),
		TEST(a_call_that_waits_for_the_device),
		TEST(a_compilation_spoils_its_step),
		TEST(a_compilation_behind_the_steps_with_a_row),
		TEST(every_step_is_spoiled),
		TEST(a_compilation_on_another_host),
		TEST(a_compilation_in_the_first_step_is_expected),
		TEST(nested_compilations_count_once),
		TEST(a_job_that_compiles_in_every_step),
		TEST(a_warm_up_compiles_twice),
		TEST(the_profilers_start_spoils_its_step),
		TEST(what_the_host_did_in_a_gap),
		TEST(a_copy_by_the_runtimes_thread),
		TEST(the_call_that_a_gap_holds),
		TEST(the_users_line_around_a_library),
		TEST(what_nothing_tells_of),
		TEST(a_loader_that_is_ahead),
		TEST(a_loader_that_computes),
		TEST(a_server_between_executions),
		TEST(a_server_of_two_programs),
		TEST(a_server_that_waits_before_its_steps),
		TEST(a_server_that_marks_its_prefills),
		TEST(a_server_of_many_equal_waits),
		TEST(a_thread_that_holds_the_interpreter),
		TEST(threads_that_wait),
		TEST(work_behind_a_result),
		TEST(work_behind_a_short_evaluation),
		TEST(an_annotation_around_a_step),
		TEST(a_function_around_a_step),
		TEST(a_wait_of_the_users),
		TEST(files_named_after_checkpoints),
		TEST(two_threads_in_a_gap),
		TEST(two_threads_that_launch),
		TEST(a_library_that_dispatches),
		TEST(two_threads_mark),
		TEST(a_loader_s_programs),
		TEST(work_behind_every_mark),
		TEST(marks_around_marks),
		TEST(marks_of_a_warm_up),
		TEST(a_queue_at_both_ends),
	};
	return cmocka_run_group_tests_name("measure_steps", tests, NULL, NULL);
}
