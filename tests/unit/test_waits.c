/* measure/waits: why the device that waits most does, by tables made by hand. */
#include <math.h>
#include <string.h>

#include "measure/writers.h"
#include "tests/unit/keep.h"

static struct tables t;

/* Ten steps of 10 ms on two devices. */
static void begin(void)
{
	t = (struct tables){ 0 };
	struct run_row *run = table_new(&t, run, &keep);

	run->name = STR("demo");
	run->compiler = STR("xla");
	run->devices = 2;
	run->steps = 10;
	run->step_mean_s = 0.01;
	run->window_s = 0.1;
	run->idle_ratio = 0.5;
}

static void device(const char *name, double wait_ratio)
{
	struct devices_row *d = table_new(&t, devices, &keep);

	d->host = STR("h");
	d->device = str_from(name);
	d->core_type = STR("compute");
	d->wait_ratio = wait_ratio;
}

static struct gaps_row *gap(
	const char *on, double step, const char *cause, const char *call, double time_s)
{
	struct gaps_row *g = table_new(&t, gaps, &keep);

	g->role = STR("step");
	g->host = STR("h");
	g->device = str_from(on);
	g->step = step;
	g->cause = str_from(cause);
	g->host_call = g->host_activity = call ? str_from(call) : MISSING;
	g->activity = g->host_call;
	g->time_s = time_s;
	return g;
}

static void step_programs(double executions)
{
	struct programs_row *p = table_new(&t, programs, &keep);

	p->role = STR("step");
	p->executions = executions;
}

/* In the steps; outside of them is the row behind it. */
static const struct waits_row *waits(void)
{
	fill_waits(&t, false, &keep);
	return &table_rows(&t, waits)[table_count(&t, waits) - 2];
}

static void assert_text(struct str s, const char *expected)
{
	assert_string_equal(arena_z(&keep, s), expected);
}

static void the_device_that_waits_most(void **state)
{
	(void)state;
	begin();
	device("A", 0.1);
	device("B", 0.5);
	((struct devices_row *)table_new(&t, devices, &keep))->core_type = STR("sparse");
	const struct waits_row *w = waits();
	assert_text(w->key, "demo");
	assert_text(w->device, "B");
	assert_true(w->wait_ratio == 0.5);
	assert_true(fabs(w->mean_ratio - 0.3) < 1e-12);
	assert_true(fabs(w->pool_share - 0.6) < 1e-12);
	assert_true(isnan(w->waited_share)); /* without collectives none waits for it */
	assert_true(w->programs_agree == 1);
	assert_null(w->cause.p);
	((struct collectives_row *)table_new(&t, collectives, &keep))->role = STR("step");
	struct quality_row *q = table_new(&t, quality, &keep);
	q->name = STR("programs-agree");
	q->ok = 0;
	w = waits();
	assert_true(fabs(w->waited_share - 0.4) < 1e-12);
	assert_true(w->programs_agree == 0);
}

static void devices_that_wait_alike(void **state)
{
	(void)state;
	begin();
	device("A", 0.48);
	device("B", 0.5);
	assert_true(isnan(waits()->mean_ratio));
	begin(); /* no step was steady */
	device("A", NAN);
	assert_true(isnan(waits()->wait_ratio));
	assert_null(waits()->device.p);
}

/* The longest time together, on that device alone; idle inside of programs is no wait. */
static void the_cause_of_most_of_the_wait(void **state)
{
	(void)state;
	begin();
	device("A", 0.1);
	device("B", 0.5);
	gap("A", 1, "host", "train.py:1 f", 0.03);
	gap("B", 1, "program", NULL, 0.04);
	gap("B", 1, "sync", "train.py:2 log", 0.004);
	gap("B", 1, "input", "data.py:3 next", 0.003);
	gap("B", 1, "sync", "train.py:2 log", 0.001);
	gap("B", 2, "input", "data.py:3 next", 0.003);
	const struct waits_row *w = waits();
	assert_text(w->cause, "input");
	assert_text(w->doing, "data.py:3 next");
	assert_text(w->at, "while it gets the next batch");
	assert_true(w->is_debugging == 0 && w->launching == 0);
	/* Two steps of ten, but what has rows is a fraction of the wait. */
	assert_true(isnan(w->steps_hit));
}

/* Each row has its own device and its own gaps. */
static void waits_outside_the_steps(void **state)
{
	(void)state;
	begin();
	device("A", 0.5);
	device("B", 0.1);
	struct devices_row *d = table_rows(&t, devices);
	d[0].other_wait_ratio = 0;
	d[1].other_wait_ratio = 0.2;
	((struct collectives_row *)table_new(&t, collectives, &keep))->role = STR("step");
	gap("A", 1, "sync", "train.py:2 log", 0.04);
	gap("B", 4, "input", "eval.py:3 load", 0.01)->role = STR("other");
	gap("B", 1, "sync", "train.py:2 log", 0.01);
	const struct waits_row *w = waits(), *other = w + 1;
	assert_text(w->role, "step");
	assert_text(w->device, "A");
	assert_text(w->doing, "train.py:2 log");
	assert_text(other->role, "other");
	assert_text(other->device, "B");
	assert_true(other->wait_ratio == 0.2 && other->mean_ratio == 0.1);
	assert_text(other->cause, "input");
	assert_text(other->doing, "eval.py:3 load");
	/* Shares of the window are of no pool of the step, and are not told by steps. */
	assert_true(isnan(other->pool_share) && isnan(other->waited_share));
	assert_true(isnan(other->steps_hit) && isnan(other->launches));
}

static void a_cause_that_comes_now_and_then(void **state)
{
	(void)state;
	begin();
	device("A", 0.5);
	gap("A", 3, "checkpoint", "train.py:90 save", 0.03);
	gap("A", 4, "checkpoint", "train.py:90 save", 0.0001); /* not a tenth of the longest */
	gap("A", 8, "checkpoint", "train.py:90 save", 0.02);
	gap("A", 8, "checkpoint", "train.py:90 save", 0.01);
	const struct waits_row *w = waits();
	assert_true(w->steps_hit == 2);
	assert_true(fabs(w->hit_s - 0.03) < 1e-12);
	assert_true(w->in_background == 0);
	gap("A", 9, "checkpoint", "checkpoint_manager.py:1228 save", 0.001);
	assert_true(waits()->in_background == 1);
}

static void results_read_to_be_checked(void **state)
{
	(void)state;
	begin();
	device("A", 0.3);
	gap("A", 1, "sync", "dispatch.py:294 check_special", 0.002);
	gap("A", 2, "sync", "train.py:2 log", 0.001);
	assert_true(waits()->is_debugging == 1);
	gap("A", 3, "sync", "train.py:2 log", 0.002);
	assert_true(waits()->is_debugging == 0);
}

static void programs_launched_one_by_one(void **state)
{
	(void)state;
	begin();
	device("A", 0.3);
	step_programs(400);
	gap("A", 1, "host", "PjitFunction(add)", 0.001);
	gap("A", 1, "host", "PjitFunction(mul)", 0.001);
	const struct waits_row *w = waits();
	assert_true(w->launches == 20); /* of 400, on two devices in ten steps */
	assert_true(w->launching == 1);
	assert_text(w->at, "while it launches programs one by one");
	/* One piece of work in each step is most of the wait. */
	begin();
	device("A", 0.3);
	step_programs(400);
	gap("A", 1, "host", "numpy.py:9 write", 0.0028);
	assert_true(isnan(waits()->launches));
	/* The longest gaps of many, which have rows, are most of the wait in two steps alone. */
	begin();
	device("A", 0.28);
	step_programs(400);
	gap("A", 1, "host", "indexing.py:9 gather", 0.002);
	gap("A", 2, "host", "indexing.py:9 gather", 0.002);
	gap("A", 2, "host", "indexing.py:9 gather", 0.0004);
	assert_true(waits()->launches == 20);
	/* The job's own functions may be what launches them, or other work. */
	((struct ops_row *)table_new(&t, ops, &keep))->common->source_file = STR("/job/train.py");
	for (ptrdiff_t i = 0; i < table_count(&t, gaps); i++)
		table_rows(&t, gaps)[i].host_activity = STR("train.py:9 loop");
	assert_true(isnan(waits()->launches));
	for (ptrdiff_t i = 0; i < table_count(&t, gaps); i++)
		table_rows(&t, gaps)[i].launching = 1;
	assert_true(waits()->launches == 20);
	assert_true(waits()->launching == 1);
	/* Kernels are no programs. */
	table_rows(&t, run)->compiler = STR("none");
	assert_true(isnan(waits()->launches));
}

/* The job's own code is late by itself; a library that calls JAX launches. */
static void whose_code_runs(void **state)
{
	static const char *const files[] = { "/home/me/train.py",
		"/venv/lib/python3.11/site-packages/optax/transform.py" };
	(void)state;
	begin();
	device("A", 0.3);
	step_programs(400);
	for (int i = 0; i < 2; i++)
		((struct ops_row *)table_new(&t, ops, &keep))->common->source_file =
			str_from(files[i]);
	struct gaps_row *g = gap("A", 1, "host", "train.py:9 step", 0.0003);
	assert_true(isnan(waits()->launches));
	g->host_activity = STR("transform.py:281 update_fn");
	assert_true(waits()->launches == 20);
	g->host_activity = STR("time sleep"); /* the call's line counts */
	assert_true(isnan(waits()->launches));
	assert_text(waits()->innermost, "time sleep");
	g->dispatching = 1;
	assert_true(waits()->dispatching == 1 && waits()->launching == 1);
}

/* Gaps before each kernel, none of them long. */
static void kernels_without_programs(void **state)
{
	(void)state;
	begin();
	table_rows(&t, run)->compiler = STR("none");
	device("A", 0.3);
	gap("A", 1, "host", "cudaLaunchKernel", 0.0001);
	assert_null(waits()->cause.p);
	assert_text(waits()->at, "a little before each kernel");
	gap("A", 1, "host", "cudaLaunchKernel", 0.0004);
	assert_text(waits()->cause, "host");
	assert_text(waits()->at, "while it runs other code");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_that_waits_most),
		cmocka_unit_test(devices_that_wait_alike),
		cmocka_unit_test(the_cause_of_most_of_the_wait),
		cmocka_unit_test(waits_outside_the_steps),
		cmocka_unit_test(a_cause_that_comes_now_and_then),
		cmocka_unit_test(results_read_to_be_checked),
		cmocka_unit_test(programs_launched_one_by_one),
		cmocka_unit_test(whose_code_runs),
		cmocka_unit_test(kernels_without_programs),
	};
	return cmocka_run_group_tests_name("waits", tests, keep_begin, keep_end);
}
