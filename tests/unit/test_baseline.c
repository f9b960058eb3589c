/*
 * measure/baseline: what may be compared, what a comparison says with one baseline and with
 * several, and when it says that it cannot tell.  The numbers are those of SciPy or of paper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "measure/baseline.h"
#include "tests/unit/rows.h"

enum { BASES = 5, MOST = 9, STEPS = 24 };

static struct arena keep;
static struct diag err;
static struct diag_list notes;
static struct tables head, bases[MOST];
static struct baseline items[MOST];
static const struct baseline *chosen;

/* A run whose steps go up and down by `noise` around `step_s`, in an order without memory. */
static void make_run(struct tables *t, double step_s, double noise)
{
	static const double wave[] = { -1, 0.5, 1, -0.5, 0, 0.9, -0.8, 0.2 };

	*t = (struct tables){ 0 };
	struct run_row *run = table_new(t, run, &keep);
	run->name = STR("r");
	run->main_program = STR("jit_step");
	run->chip = STR("tpu_v5e");
	run->chips = run->devices = 8;
	run->step_time_s = run->step_mean_s = step_s;
	run->window_s = step_s * STEPS;
	run->roofline_ratio_lo = 0.01 / step_s;
	for (int i = 0; i < STEPS; i++) {
		struct steps_row *s = table_new(t, steps, &keep);
		s->host = STR("h");
		s->device = STR("d");
		s->global_s = s->time_s = step_s * (1 + noise * wave[(i * 5 + i / 8) % 8]);
	}
}

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_RUN_BYTES);
	arena_clear(&keep);
	notes = (struct diag_list){ .count = 0 };
	make_run(&head, 0.020, 0.01);
	for (int i = 0; i < MOST; i++)
		items[i] = (struct baseline){ .name = STR("old"), .tables = &bases[i] };
	return 0;
}

static bool compare(ptrdiff_t count)
{
	return baseline_compare(
		&head, items, count, NOISE_PRIOR_DEFAULT, &keep, &chosen, &notes, &err);
}

static const struct deltas_row *delta(const char *metric)
{
	for (ptrdiff_t i = 0; i < table_count(&head, deltas); i++)
		if (str_eq(table_rows(&head, deltas)[i].metric, str_from(metric)))
			return &table_rows(&head, deltas)[i];
	fail_msg("no delta of %s", metric);
	return NULL;
}

static void assert_close(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* ---- what may be compared ----------------------------------------------------------------- */

static void test_itself_is_refused(void **state)
{
	(void)state;
	bases[0] = head;
	assert_false(compare(1));
	assert_int_equal(err.id, DIAG_BASELINE);
	assert_non_null(strstr(err.text, "is this very run"));
	/* A job file adds to what is known of a run, and does not make it another one. */
	table_rows(&head, run)->global_batch = 64;
	table_rows(&head, run)->mfu = 0.5;
	assert_false(compare(1));
	assert_non_null(strstr(err.text, "is this very run"));
}

/* One host of a capture is the capture. */
static void test_a_sample_of_itself(void **state)
{
	(void)state;
#define DEVICE(host, busy) "devices host=" host " device=d events=9 busy_s=" busy " window_s=0.5\n"
	make_run(&bases[0], 0.0200001, 0.01);
	rows_tell(&head, &keep, "run hosts=1\n" DEVICE("a", "0.4"));
	rows_tell(&bases[0], &keep, "run hosts=2\n" DEVICE("b", "0.3") DEVICE("a", "0.4"));
	assert_false(compare(1));
	assert_non_null(strstr(err.text, "is this very run"));
	table_rows(&bases[0], devices)[1].busy_s += 1e-12;
	assert_true(compare(1));
}

static void test_one_baseline_twice(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	bases[1] = bases[0];
	assert_false(compare(2));
	assert_int_equal(err.id, DIAG_BASELINE);
	assert_non_null(strstr(err.text, "are one run"));
}

static const char *reason(void)
{
	const struct quality_row *row = table_rows(&head, quality);

	assert_int_equal(table_count(&head, quality), 1);
	return arena_z(&keep, row->detail);
}

/* It may be the baseline of others that are judged beside it. */
static void test_itself_among_others(void **state)
{
	(void)state;
	bases[0] = head;
	items[0].is_of_others = items[1].is_of_others = true;
	assert_true(compare(1));
	assert_null(chosen);
	assert_true(str_eq(table_rows(&head, quality)->name, STR("baseline-found")));
	assert_string_equal(reason(), "old is this very run, and no run is compared with itself");
	/* It is not among those that it is compared with. */
	fresh(NULL);
	bases[0] = head;
	items[0].is_of_others = items[1].is_of_others = true;
	make_run(&bases[1], 0.018, 0.01);
	assert_true(compare(2));
	assert_ptr_equal(chosen->tables, &bases[1]);
	assert_true(delta("run.step_time_s")->runs == 1);
}

static void test_parity(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	table_rows(&bases[0], run)->chips = 16;
	assert_true(compare(1));
	assert_null(chosen);
	assert_int_equal(table_count(&head, deltas), 0);
	assert_string_equal(reason(), "the number of chips is 8 here and 16 in old");
}

/* Each alone keeps two runs apart; a batch that only one of them tells does not. */
static void test_all_that_must_match(void **state)
{
	static const struct {
		const char *head, *base, *why;
	} cases[] = {
		{ "platform=tpu", "platform=cpu", "the platform is tpu here and cpu in old" },
		{ "platform=tpu", "platform=unknown", NULL },
		{ "steps_source=window", "steps_source=program",
			"nothing marks the steps of this run, and the baseline has steps" },
		{ "steps_source=annotation", "steps_source=window",
			"nothing marks the steps of old, and this run has steps" },
		{ "steps_source=window", "steps_source=window", NULL },
		{ "is_server=1", "is_server=0",
			"a step of this run leaves out the waits between executions, and one of "
			"the baseline holds them: mark the steps of both, or of neither" },
		{ "is_server=1", "is_server=1", NULL },
		{ "main_program=jit_step", "main_program=jit_eval",
			"the main program is jit_step here and jit_eval in old" },
		{ "chip=tpu_v5e", "chip=tpu_v6e", "the chip is tpu_v5e here and tpu_v6e in old" },
		{ "devices=8", "devices=4",
			"the number of devices at work is 8 here and 4 in old" },
		{ "phase=train", "phase=inference",
			"the phase is train here and inference in old" },
		{ "global_batch=64", "global_batch=32",
			"the global batch is 64 here and 32 in old" },
		{ "evidence=measured", "evidence=planned",
			"the evidence is measured here and planned in old" },
		{ "name=a labels=x=1", "name=b labels=x=1", "the workload is a here and b in old" },
		{ "global_batch=64", "name=r", NULL },
		{ "steps_source=program step_flops=23e12", "steps_source=program step_flops=3e12",
			"a step computes 23.0 TFLOP here and 3.00 TFLOP in old, and no job file of "
			"both says that the batch is the same" },
		{ "step_flops=3e12 global_batch=64", "step_flops=23e12",
			"a step computes 3.00 TFLOP here and 23.0 TFLOP in old, and no job file of "
			"both says that the batch is the same" },
		{ "name=r\nops flops=1e12 per_step=5\nops per_step=1", "step_flops=3e12",
			"a step computes at least 5.00 TFLOP here and 3.00 TFLOP in old, and no "
			"job file of both says that the batch is the same" },
		{ "step_flops=3e12", "name=r\nops flops=1e12 per_step=5",
			"a step computes 3.00 TFLOP here and at least 5.00 TFLOP in old, and no "
			"job file of both says that the batch is the same" },
		{ "name=r\nops flops=1e12 per_step=4", "step_flops=3e12", NULL },
		{ "name=r\nops flops=1e12 per_step=1", "step_flops=3e12", NULL },
		{ "name=r\nops flops=1e12 per_step=5 cost_bound=upper", "step_flops=3e12", NULL },
		{ "step_flops=3e12", "step_flops=4e12", NULL },
		{ "step_flops=3e12 global_batch=64", "step_flops=23e12 global_batch=64", NULL },
		{ "step_flops=3e12 mfu=0.2 model_flops=9e12",
			"step_flops=23e12 mfu=0.4 model_flops=9e12", NULL },
		{ "step_flops=3e12 mfu=0.2 model_flops=9e12",
			"step_flops=23e12 mfu=0.4 model_flops=60e12",
			"a step computes 3.00 TFLOP here and 23.0 TFLOP in old, and no job file of "
			"both says that the batch is the same" },
		{ "tokens_per_step=65536", "tokens_per_step=131072",
			"the number of tokens in a step is 65536 here and 131072 in old" },
		/* 1 TFLOP is known, and at 1 TFLOP/s half of 2 s can be no more than 1 more. */
		{ "step_flops=4e12",
			"step_mean_s=2 uncounted_ratio=0.5\nops flops=1e12 per_step=1\n"
			"devices peak_flops=1e12",
			"a step computes 4.00 TFLOP here and at most 2.00 TFLOP in old, and no job "
			"file of both says that the batch is the same" },
		/* A kernel that came may do 1.5 TFLOP more; one that was there does not. */
		{ "step_time_s=3 step_mean_s=3 uncounted_ratio=0.5\ndevices peak_flops=1e12\n"
		  "ops key=k name=k kind=custom mean_s=1.5 per_step=1\n"
		  "ops key=m name=m flops=2e12 per_step=1 mean_s=1.5",
			"step_time_s=2 step_flops=2e12\nops key=m name=m mean_s=2 per_step=1",
			"ops that are new and whose work is unknown take 1.50 s of a step: it may "
			"do more than 1.5 times the work of old, and no job file of both says that "
			"the batch is the same" },
		{ "step_time_s=3 step_mean_s=3 uncounted_ratio=0.5\ndevices peak_flops=1e12\n"
		  "ops key=k name=k kind=custom mean_s=1.5 per_step=1\n"
		  "ops key=m name=m flops=2e12 per_step=1 mean_s=1.5",
			"step_time_s=2 step_flops=2e12\nops key=m name=m mean_s=1.5 per_step=1\n"
			"ops key=k name=k kind=custom mean_s=0.5 per_step=1",
			NULL },
		{ "step_flops=2.9e12",
			"step_mean_s=2 uncounted_ratio=0.5\nops flops=1e12 per_step=1\n"
			"devices peak_flops=1e12",
			NULL },
		{ "steps_source=window step_flops=3e12", "steps_source=window step_flops=23e12",
			NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag why;
		fresh(state);
		head = bases[0] = (struct tables){ 0 };
		rows_tell(&head, &keep, arena_fmt(&keep, "run %s", cases[i].head).p);
		rows_tell(&bases[0], &keep, arena_fmt(&keep, "run %s", cases[i].base).p);
		bool fits = baseline_fits(&head, &items[0], keep, &why);
		assert_int_equal(fits, !cases[i].why);
		if (!fits)
			assert_string_equal(why.text, cases[i].why);
	}
}

/* Marks around each of four microbatches, and none: an update is a step then. */
static void test_steps_of_other_length(void **state)
{
	static const struct {
		const char *source;
		double per_step;
		bool fits;
	} cases[] = { { "annotation", 1, false }, { "annotation", 3, true },
		{ "program", 1, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag why;
		fresh(state);
		head = bases[0] = (struct tables){ 0 };
		rows_tell(&head, &keep,
			"run main_program=jit_step steps_source=program\n"
			"ops module=jit_step per_step=40\n"
			"ops module=jit_step per_step=4\n"
			"ops module=jit_other per_step=1");
		rows_tell(&bases[0], &keep,
			arena_fmt(&keep,
				"run main_program=jit_step steps_source=%s\n"
				"ops module=jit_step per_step=%g",
				cases[i].source, cases[i].per_step)
				.p);
		assert_int_equal(baseline_fits(&head, &items[0], keep, &why), cases[i].fits);
		if (!cases[i].fits)
			assert_string_equal(why.text, "a step is 4 executions of jit_step here "
						      "(marked by an execution of the "
						      "program) and 1 in old (by the job's "
						      "annotation); --step names what a "
						      "step is in both");
	}
}

static void test_unknown_chip(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	table_rows(&bases[0], run)->chip = (struct str){ NULL, 0 };
	assert_true(compare(1));
	assert_null(chosen);
	assert_string_equal(reason(), "the chip is tpu_v5e here and unknown in old");
}

/* Of several, those that do not match are left out and named. */
static void test_odd_one_out(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	make_run(&bases[1], 0.019, 0.01);
	table_rows(&bases[0], run)->main_program = STR("jit_eval");
	assert_true(compare(2));
	assert_ptr_equal(chosen->tables, &bases[1]);
	assert_true(delta("run.step_time_s")->runs == 1);
	assert_string_equal(reason(), "1 of 2 baselines match");
	assert_int_equal(notes.count, 1);
	assert_int_equal(notes.items[0].id, DIAG_DIFFERS);
}

static void test_no_baseline(void **state)
{
	(void)state;
	assert_true(compare(0));
	assert_int_equal(table_count(&head, quality), 0);
	assert_int_equal(table_count(&head, deltas), 0);
}

static void test_news(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	rows_tell(&head, &keep,
		"ops key=a per_step=1 mean_s=0.009\nops key=b per_step=1 mean_s=0.001");
	rows_tell(&bases[0], &keep,
		"ops key=a per_step=1 mean_s=0.0098\nops key=c kind=reduce per_step=1 "
		"mean_s=0.0002");
	assert_true(compare(1));
	assert_int_equal(notes.count, 1);
	assert_string_equal(arena_z(&keep, notes.items[0].text),
		"the program changed: 1 new op takes 10.0% of the time, "
		"1 op that is gone took 2.00%");
}

/* A diff counts all of them. */
static void test_trifles_are_counted(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	rows_tell(&head, &keep,
		"ops key=a per_step=1 mean_s=0.009\nops key=b kind=sort per_step=1 mean_s=0.001\n"
		"ops key=c kind=copy per_step=1 mean_s=0.0000001");
	rows_tell(&bases[0], &keep, "ops key=a per_step=1 mean_s=0.009");
	assert_true(compare(1));
	assert_string_equal(arena_z(&keep, notes.items[0].text),
		"the program changed: 2 new ops take 10.0% of the time");
}

/* Versions come first; what only one of the two tells is no difference. */
static void test_versions_are_news(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	struct run_row *here = table_rows(&head, run), *there = table_rows(&bases[0], run);
	there->jax_version = STR("0.10.1");
	here->jax_version = STR("0.10.2");
	here->jaxlib_version = STR("0.10.2");
	there->runtime_version = STR("cl/1");
	here->runtime_version = STR("cl/2");
	there->hosts = 1;
	here->hosts = 2;
	assert_true(compare(1));
	assert_int_equal(notes.count, 3);
	assert_string_equal(arena_z(&keep, notes.items[0].text), "JAX is 0.10.2, was 0.10.1");
	assert_string_equal(arena_z(&keep, notes.items[1].text), "the runtime is cl/2, was cl/1");
	assert_string_equal(arena_z(&keep, notes.items[2].text), "the number of hosts is 2, was 1");
}

/* In another precision results may have the shapes they had; of no type nothing is told. */
static void test_dtypes_are_news(void **state)
{
	(void)state;
	const char *f32 = "ops key=a kind=matmul dtype=f32 time_share=0.5";
	make_run(&bases[0], 0.018, 0.01);
	rows_tell(&head, &keep, f32);
	rows_tell(&bases[0], &keep, "ops key=a kind=matmul dtype=bf16 time_share=0.25");
	assert_true(compare(1));
	assert_int_equal(notes.count, 2);
	assert_string_equal(arena_z(&keep, notes.items[0].text),
		"matmuls in f32 take 50.0% of the time, was 0%");
	assert_string_equal(arena_z(&keep, notes.items[1].text),
		"matmuls in bf16 take 0% of the time, was 25.0%");
	fresh(state);
	make_run(&bases[0], 0.018, 0.01);
	rows_tell(&head, &keep, f32);
	rows_tell(&bases[0], &keep, "ops key=a kind=matmul time_share=0.5");
	assert_true(compare(1));
	assert_int_equal(notes.count, 0);
}

/* ---- one baseline ------------------------------------------------------------------------- */

/* scipy: h = t.isf(.005, 4) * .01 * sqrt(2); expm1([h, log(r), log(r) - h, log(r) + h]) */
static void test_slower_than_one(void **state)
{
	(void)state;
	make_run(&head, 0.020, 0.0001);
	make_run(&bases[0], 0.0185, 0.0001);
	assert_true(compare(1));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_close(d->resolution, 0.0672782691, 1e-3);
	assert_close(d->worse, 0.0810810811, 1e-5);
	assert_close(d->lo, 0.0129327209, 1e-2);
	assert_close(d->hi, 0.153814345, 1e-3);
	assert_close(d->lost_s, 0.0015, 1e-5);
	assert_true(d->runs == 1 && isnan(d->noise_seen) && d->noise_worth == 4);
	assert_true(d->noise_assumed == 0.01 && d->noise_workloads == 0);
	assert_close(d->noise, 0.01, 1e-3);
	d = delta("run.roofline_ratio_lo");
	assert_close(d->worse, 0.0810810811, 1e-5);
	assert_close(d->lost_s, 0.0015, 1e-5);
}

/* Three times as long as one step: that step may be the odd one. */
static void test_one_step(void **state)
{
	for (int i = 0; i < 3; i++) {
		fresh(state);
		make_run(&head, 0.060, 0.0001);
		make_run(&bases[0], 0.020, 0.0001);
		make_run(&bases[1], 0.0201, 0.0001);
		(i == 1 ? &head : &bases[0])->items[TABLE_steps].count = 1;
		bases[1].items[TABLE_steps].count = 1;
		assert_true(compare(i == 2 ? 2 : 1));
		const struct deltas_row *d = delta("run.step_time_s");
		assert_true(isnan(d->lo) == (i < 2) && !isnan(d->resolution));
		assert_true(isnan(d->claimed_s) == (i < 2) && d->is_short == (i < 2));
	}
}

static void test_within_noise(void **state)
{
	(void)state;
	make_run(&bases[0], 0.01998, 0.01);
	assert_true(compare(1));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->resolution > 0.067 && d->resolution < 0.08);
	assert_true(d->lo < 0 && d->hi > 0);
}

/*
 * Of a step of the same length 30 to 90% are known to be needed, and 80% were: it may be worse, and
 * it may be better.
 */
static void test_shares_known_in_part(void **state)
{
	static const struct {
		double lo, hi, base_lo, base_hi, told, worse;
		bool is_open;
	} cases[] = {
		{ 0.3, 0.9, 0.8, 0.8, 0.3, 5. / 3, true },
		{ 0.8, 0.8, 0.3, 0.9, 0.8, -0.625, true },
		{ 0.3, 0.9, 0.3, 0.9, 0.3, 0, false },	     /* the same is unknown of both */
		{ 0.3, 0.4, 0.8, 0.8, 0.4, 1, true },	     /* less, whatever it is */
		{ 0.8, 0.8, 0.3, 0.5, 0.8, -0.375, false },  /* more */
		{ 0.8, 0.8, 0.3, 0.82, 0.8, -0.625, false }, /* hardly less at most */
	};

	for (int i = 0; i < (int)COUNT_OF(cases); i++) {
		fresh(state);
		make_run(&bases[0], 0.020001, 0.01);
		table_rows(&head, run)->roofline_ratio_lo = cases[i].lo;
		table_rows(&head, run)->roofline_ratio_hi = cases[i].hi;
		table_rows(&bases[0], run)->roofline_ratio_lo = cases[i].base_lo;
		table_rows(&bases[0], run)->roofline_ratio_hi = cases[i].base_hi;
		assert_true(compare(1));
		const struct deltas_row *d = delta("run.roofline_ratio_lo");
		assert_true(fabs(d->head - cases[i].told) < 1e-9);
		assert_true(fabs(d->worse - cases[i].worse) < 1e-4);
		assert_true(!d->work_source.p);
		assert_true(isnan(d->is_slower) == cases[i].is_open);
		assert_true(cases[i].is_open || d->is_slower == 0);
		assert_true(d->claimed_s == (cases[i].is_open ? d->lost_most_s : 0));
		assert_true(d->lost_s <= d->lost_most_s);
	}
}

/* Less work in a step of the same length is a loss only where the work was needed. */
static void test_needed_work(void **state)
{
	static const struct {
		double flops, remat, base_flops, base_remat;
		const char *source;
	} cases[] = {
		{ 6e12, 0, 8e12, 0.25, "ops" }, /* what was computed again is not any more */
		{ 6e12, 0, 8e12, 0, NULL },	/* another batch, or work that is saved */
		{ 8e12, 0.25, 8e12, 0, NULL },	/* a part of it is computed again now */
		{ 8e12, NAN, 8e12, 0, NULL }, { 5.99e12, 0, 8e12, 0.25, "ops" }, /* a trifle */
	};

	(void)state;
	for (int i = 0; i < (int)COUNT_OF(cases); i++) {
		fresh(NULL);
		make_run(&bases[0], 0.020001, 0.0001);
		make_run(&head, 0.020, 0.0001);
		struct run_row *here = table_rows(&head, run), *base = table_rows(&bases[0], run);
		here->roofline_ratio_lo = 0.4;
		here->step_flops = cases[i].flops;
		here->remat_flops_ratio = cases[i].remat;
		base->step_flops = cases[i].base_flops;
		base->remat_flops_ratio = cases[i].base_remat;
		assert_true(compare(1));
		const struct deltas_row *d = delta("run.roofline_ratio_lo");
		assert_true(d->lo > 0 && isnan(d->is_slower));
		assert_true(d->tells_step == (cases[i].source ? 0 : 1));
		assert_true(str_eq(d->work_source,
			cases[i].source ? str_from(cases[i].source) : (struct str){ NULL, 0 }));
		here->global_batch = base->global_batch = 512;
		head.items[TABLE_deltas].count = head.items[TABLE_quality].count = 0;
		assert_true(compare(1));
		d = delta("run.roofline_ratio_lo");
		assert_true(str_eq(d->work_source, STR("job")) && d->tells_step == 0);
	}
}

static void add_op(struct tables *t, const char *scope, double flops, bool is_remat)
{
	struct ops_row *op = table_new(t, ops, &keep);
	struct op_common *common = arena_make(&keep, struct op_common, 1);

	common->flops = flops;
	common->per_step = 1;
	common->is_remat = is_remat;
	op->common = common;
	op->key = op->scope = str_from(scope);
}

/* A shorter step has lost needless work, or computes less of everything. */
static void test_another_amount_of_work(void **state)
{
	static const struct {
		double forward, backward, loss; /* of a baseline of 4, 4 and 2 */
		bool does_less, is_unknown;	/* of a baseline without FLOPs by op */
	} cases[] = {
		{ 3, 3, 1.5, true, false }, /* three quarters of the batch */
		{ 4, 4, 0, false, false },  /* not computed any more */
		{ 4, 4, 1, false, false },
		{ 4, 3.99, 2, false, false }, /* a trifle */
		{ 8, 4, 1, false, false },    /* most computes as much or more */
		{ 3, 3, 1.5, false, true },
	};

	(void)state;
	for (int i = 0; i < (int)COUNT_OF(cases); i++) {
		double known = cases[i].is_unknown ? 0 : 1;
		fresh(NULL);
		make_run(&bases[0], 0.020001, 0.0001);
		make_run(&head, 0.017, 0.0001);
		table_rows(&head, run)->roofline_ratio_lo = 0.42;
		table_rows(&head, run)->step_flops = 8e12;
		table_rows(&bases[0], run)->step_flops = 10e12;
		add_op(&bases[0], "forward", known * 4e12, false);
		add_op(&bases[0], "again", known * 9e12, true);
		add_op(&bases[0], "backward", known * 4e12, false);
		add_op(&bases[0], "loss", known * 2e12, false);
		add_op(&head, "forward", cases[i].forward * 1e12, false);
		add_op(&head, "again", 1e12, true);
		add_op(&head, "backward", cases[i].backward * 1e12, false);
		add_op(&head, "loss", cases[i].loss * 1e12, false);
		assert_true(compare(1));
		const struct deltas_row *d = delta("run.roofline_ratio_lo");
		assert_true(d->lo > 0 && (d->does_less > 0) == cases[i].does_less);
		assert_true(isnan(d->does_less) == cases[i].is_unknown);
		assert_true(d->tells_step == cases[i].does_less && isnan(d->is_slower));
	}
}

/* A loss is claimed once: by the time, else by the larger of what does not speak of it. */
static void test_one_row_claims(void **state)
{
	static const struct {
		double step_s, mfu, exposed; /* of a baseline of 20 ms, 0.5 and 0.1 */
		const char *claims;
	} cases[] = {
		{ 0.030, 1. / 3, 0.4, "run.step_time_s" },
		{ 0.020, 0.25, 0.1, "run.mfu" },
		{ 0.020, 0.5, 0.4, "run.comms_exposed_ratio" },
		{ 0.020, 0.25, 0.3, "run.mfu" },
		{ 0.010, 1, 0.3, NULL },
		{ 0.020, 0.5, 0.1, NULL },
	};

	(void)state;
	for (int i = 0; i < (int)COUNT_OF(cases); i++) {
		fresh(NULL);
		make_run(&bases[0], 0.020001, 0.0001);
		make_run(&head, cases[i].step_s, 0.0001);
		struct run_row *here = table_rows(&head, run), *base = table_rows(&bases[0], run);
		here->mfu = cases[i].mfu;
		base->mfu = 0.5;
		here->comms_exposed_ratio = cases[i].exposed;
		base->comms_exposed_ratio = 0.1;
		for (ptrdiff_t k = 0; k < STEPS; k++) {
			struct steps_row *x = &table_rows(&head, steps)[k];
			struct steps_row *y = &table_rows(&bases[0], steps)[k];
			x->comms_exposed_s = x->time_s * cases[i].exposed;
			y->comms_exposed_s = y->time_s * 0.1;
		}
		assert_true(compare(1));
		for (ptrdiff_t k = 0; k < table_count(&head, deltas); k++) {
			const struct deltas_row *d = &table_rows(&head, deltas)[k];
			bool claims =
				cases[i].claims && str_eq(d->metric, str_from(cases[i].claims));
			assert_true(d->claimed_s == (claims ? d->lost_s : 0));
			assert_true(!claims || (d->tells_step == 1 && d->lost_s > 0));
			assert_true(
				!(d->tells_step > 0) ||
				d->is_slower == !str_eq(d->metric, STR("run.comms_exposed_ratio")));
		}
	}
}

/* A share that may be 0 is compared by the difference: a point is a hundredth of a step. */
static void test_shares_by_difference(void **state)
{
	(void)state;
	make_run(&bases[0], 0.020001, 0.0001);
	table_rows(&head, run)->idle_ratio = 0.09;
	table_rows(&bases[0], run)->idle_ratio = 0;
	for (int i = 0; i < STEPS; i++) {
		table_rows(&head, steps)[i].idle_s = 0.09 * table_rows(&head, steps)[i].time_s;
		table_rows(&bases[0], steps)[i].idle_s = 0;
	}
	assert_true(compare(1));
	const struct deltas_row *d = delta("run.idle_ratio");
	assert_close(d->worse, 0.09, 1e-9);
	assert_close(d->lost_s, 0.0018, 1e-9);
	assert_true(isnan(d->ratio) && d->lo > 0.02 && d->lo < 0.025 && d->hi < 0.16);
}

/* Steps that jump by half, and few of them, hide fifteen percent: the answer is no answer. */
static void test_cannot_tell(void **state)
{
	(void)state;
	make_run(&head, 0.020, 0.6);
	make_run(&bases[0], 0.0195, 0.6);
	assert_true(compare(1));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->resolution > 0.15);
	assert_true(isnan(d->lo) && isnan(d->hi));
	assert_close(d->worse, 0.020 / 0.0195 - 1, 1e-5);
	/* Steps that are shorter by more than they hide are no slower. */
	fresh(state);
	make_run(&head, 0.016, 0.15);
	make_run(&bases[0], 0.0195, 0.15);
	assert_true(compare(1));
	d = delta("run.step_time_s");
	assert_true(d->resolution > 0.15 && d->lo < 0 && d->hi < 0.15);
}

static void keep_steps(struct tables *t, ptrdiff_t count)
{
	t->items[TABLE_steps].count = count;
}

/* A run of four steps is judged; without any step nothing tells noise from change. */
static void test_few_steps(void **state)
{
	(void)state;
	make_run(&bases[0], 0.016, 0.01);
	keep_steps(&bases[0], 4);
	keep_steps(&head, 4);
	assert_true(compare(1));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->lo > 0.10 && d->lo < 0.20);
	fresh(state);
	make_run(&bases[0], 0.016, 0.01);
	keep_steps(&bases[0], 0);
	assert_true(compare(1));
	d = delta("run.step_time_s");
	assert_true(isnan(d->lo) && isnan(d->hi) && isnan(d->resolution));
	assert_close(d->ratio, 0.020 / 0.016, 1e-5);
	/* One of several without steps is as if it were not there. */
	fresh(state);
	make_run(&bases[0], 0.016, 0.01);
	make_run(&bases[1], 0.017, 0.01);
	keep_steps(&bases[0], 0);
	assert_true(compare(2));
	d = delta("run.step_time_s");
	assert_true(d->runs == 1 && d->lo > 0);
	assert_close(d->base, 0.017, 1e-9);
}

/* ---- several ------------------------------------------------------------------------------ */

/*
 * y = log([.0190, .0192, .0191, .0189, .0193]); S = ((y - y.mean())**2).sum()
 * V = (4 * .01**2 + S) / 8; h = scipy.stats.t.isf(.005, 8) * sqrt(V * 1.2)
 */
static void test_against_five(void **state)
{
	static const double step_s[] = { 0.0190, 0.0192, 0.0191, 0.0189, 0.0193 };

	(void)state;
	make_run(&head, 0.020, 0.0001); /* quiet steps: runs differ more than steps */
	for (int i = 0; i < BASES; i++)
		make_run(&bases[i], step_s[i], 0.0001);
	assert_true(compare(BASES));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->runs == 5 && d->noise_runs == 5 && d->noise_worth == 4);
	assert_close(d->base, 0.0190994764, 1e-5);
	assert_close(d->worse, 0.0471491238, 1e-4);
	assert_close(d->lo, 0.0124063875, 1e-3);
	assert_close(d->resolution, 0.0343169865, 1e-3);
	assert_close(d->noise, 0.00917969877, 1e-3);
	assert_close(d->noise_seen, 0.00827851068, 1e-4);
}

/*
 * Five that hardly differ see more than what is assumed lets them: S / 4 alone, with its four
 * degrees of freedom; h = t.isf(.005, 4) * sqrt(S / 4 * 1.2)
 */
static void test_quiet_baselines_speak_for_themselves(void **state)
{
	static const double step_s[] = { 0.01900, 0.01902, 0.01901, 0.01899, 0.01903 };

	(void)state;
	make_run(&head, 0.0195, 0.00001);
	for (int i = 0; i < BASES; i++)
		make_run(&bases[i], step_s[i], 0.00001);
	assert_true(compare(BASES));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->noise_worth == 0);
	assert_close(d->noise, d->noise_seen, 1e-3);
	assert_close(d->noise_seen, 0.000831742, 1e-3);
	assert_close(d->resolution, 0.00420, 1e-2);
	assert_true(d->lo > 0.02);
	fresh(state);
	make_run(&head, 0.0195, 0.00001);
	for (int i = 0; i < BASES; i++)
		make_run(&bases[i], step_s[i], 0.00001);
	assert_true(compare(BASES - 1));
	d = delta("run.step_time_s"); /* four are too few to do without the assumption */
	assert_true(d->noise_worth == 4 && d->resolution > 0.02);
}

/* Runs that happen to agree do not make the next one's noise vanish. */
static void test_lucky_runs(void **state)
{
	(void)state;
	make_run(&head, 0.0203, 0.02);
	for (int i = 0; i < BASES; i++)
		make_run(&bases[i], 0.0200 * (1 + i * 1e-9), 0.02);
	assert_true(compare(BASES));
	assert_true(delta("run.step_time_s")->lo < 0);
}

/* Of nine baselines one on a slow host is left out and named. */
static void test_outlying_baseline(void **state)
{
	(void)state;
	make_run(&head, 0.0200, 0.0001);
	for (int i = 0; i < MOST; i++) {
		make_run(&bases[i], 0.0190 + 0.000005 * i, 0.0001);
		items[i] = (struct baseline){ .name = i ? STR("old") : STR("slow"),
			.tables = &bases[i] };
	}
	table_rows(&bases[0], run)->step_time_s = 0.0205;
	assert_true(compare(MOST));
	const struct deltas_row *d = delta("run.step_time_s");
	assert_true(d->runs == MOST - 1 && d->lo > 0.03);
	assert_true(delta("run.roofline_ratio_lo")->runs == MOST - 1);
	assert_int_equal(notes.count, 1);
	assert_non_null(strstr(arena_z(&keep, notes.items[0].text), "left out: slow"));
	/* Below eight the odd one is part of what is usual. */
	fresh(state);
	make_run(&head, 0.0200, 0.0001);
	for (int i = 0; i < 7; i++)
		make_run(&bases[i], 0.0190 + 0.000005 * i, 0.0001);
	table_rows(&bases[0], run)->step_time_s = 0.0205;
	assert_true(compare(7));
	assert_true(delta("run.step_time_s")->runs == 7 && notes.count == 0);
}

static const struct deltas_row *delta_of(const char *metric, const char *against)
{
	for (ptrdiff_t i = 0; i < table_count(&head, deltas); i++) {
		const struct deltas_row *d = &table_rows(&head, deltas)[i];
		if (str_eq(d->metric, str_from(metric)) && str_eq(d->against, str_from(against)))
			return d;
	}
	fail_msg("no delta of %s against %s", metric, against);
	return NULL;
}

/*
 * A pinned run beside the last four, which tell the noise for both:
 * y = log([.0190, .0192, .0191, .0189]); S = ((y - y.mean())**2).sum(); V = (4 * .01**2 + S) / 7
 * h = scipy.stats.t.isf(.0025, 7) * sqrt(V * [2, 1.25]): each set has half of the 1%.
 */
static void test_pinned_and_rolling(void **state)
{
	static const double step_s[] = { 0.0193, 0.0190, 0.0192, 0.0191, 0.0189 };

	(void)state;
	make_run(&head, 0.020, 0.0001);
	for (int i = 0; i < BASES; i++) {
		make_run(&bases[i], step_s[i], 0.0001);
		items[i].query = i ? STR("store:last=4") : (struct str){ NULL, 0 };
	}
	assert_true(compare(BASES));
	const struct deltas_row *pinned = delta_of("run.step_time_s", "old");
	const struct deltas_row *rolling = delta_of("run.step_time_s", "store:last=4");
	assert_true(pinned->runs == 1 && pinned->noise_runs == 5);
	assert_true(rolling->runs == 4 && rolling->noise_runs == 5);
	assert_close(pinned->base, 0.0193, 1e-9);
	assert_close(rolling->base, 0.0190496719, 1e-5);
	assert_close(pinned->resolution, 0.0512146696, 1e-3);
	assert_close(rolling->resolution, 0.0402759723, 1e-3);
	assert_close(rolling->lo, 0.00923877520, 1e-2);
	assert_close(pinned->noise_seen, 0.00677702003, 1e-3);
	assert_string_equal(arena_z(&keep, pinned->key), "run.step_time_s");
	assert_string_equal(arena_z(&keep, rolling->key), "run.step_time_s, store:last=4");
}

/* What a query finds is no mistake of the user's: the run itself, or one twice. */
/* How long a capture without steps is says nothing of its program, nor do its devices' rows. */
static void test_captures_without_steps(void **state)
{
#define CAPTURE(per_step)                                                                          \
	"run steps_source=window step_time_s=0.3 window_s=0.3\n"                                   \
	"steps host=h device=d global_s=0.3 time_s=0.3\n"                                          \
	"ops key=a mean_s=4e-3 per_step=" per_step "\n"
	(void)state;
	head = bases[0] = (struct tables){ 0 };
	rows_tell(&head, &keep, CAPTURE("60"));
	rows_tell(&bases[0], &keep, CAPTURE("68") "run window_s=0.30001");
	assert_true(compare(1));
	assert_close(delta("run.step_time_s")->base, 0.3 * 60 / 68, 1e-5);
	assert_true(isnan(delta("run.step_time_s")->lo));
	assert_true(isnan(delta("run.step_time_s")->resolution));
	/* Of other work, nothing is known. */
	head = bases[0] = (struct tables){ 0 };
	rows_tell(&head, &keep, CAPTURE("60"));
	rows_tell(&bases[0], &keep,
		CAPTURE("68") "run window_s=0.30001\nops key=b mean_s=4e-3 per_step=50");
	assert_true(compare(1));
	assert_int_equal(table_count(&head, deltas), 0);
}

static void test_query_finds_itself(void **state)
{
	(void)state;
	make_run(&bases[0], 0.018, 0.01);
	bases[1] = head;
	bases[2] = bases[0];
	for (int i = 0; i < 3; i++)
		items[i].query = STR("store:");
	assert_true(compare(3));
	assert_true(delta("run.step_time_s")->runs == 1);
	assert_string_equal(reason(), "1 of 1 baselines match");
}

static void test_query_finds_nothing(void **state)
{
	(void)state;
	items[0] = (struct baseline){
		.name = STR("nobody home"), .query = STR("store:"), .is_missing = true
	};
	assert_true(compare(1));
	assert_null(chosen);
	assert_string_equal(reason(), "nobody home");
	assert_true(str_eq(table_rows(&head, quality)->name, STR("baseline-found")));
	assert_int_equal(notes.count, 0);
	/* Something was there, and is not alike: that is another matter. */
	fresh(NULL);
	make_run(&bases[1], 0.018, 0.01);
	table_rows(&bases[1], run)->chips = 16;
	items[0] = (struct baseline){
		.name = STR("nobody home"), .query = STR("store:"), .is_missing = true
	};
	assert_true(compare(2));
	assert_true(str_eq(table_rows(&head, quality)->name, STR("baseline-comparable")));
	fresh(NULL);
	make_run(&bases[1], 0.018, 0.01);
	items[0] = (struct baseline){ .name = STR("nobody home"), .query = STR("store:") };
	assert_true(compare(2));
	assert_ptr_equal(chosen->tables, &bases[1]);
	assert_string_equal(
		arena_z(&keep, notes.items[0].text), "a baseline was left out: nobody home");
}

static void test_memory_has_no_noise(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		make_run(&bases[i], 0.018 + i * 0.001, 0.01);
	rows_tell(&head, &keep,
		"memory device=a window_peak_bytes=120\nmemory device=b window_peak_bytes=110");
	rows_tell(&bases[0], &keep, "memory device=a window_peak_bytes=100");
	rows_tell(&bases[1], &keep, "memory device=a window_peak_bytes=80");
	assert_true(compare(2));
	const struct deltas_row *d = delta("memory.window_peak_bytes");
	assert_true(d->head == 120 && d->base == 90 && d->lost_bytes == 30);
	assert_close(d->worse, 1.0 / 3, 1e-5);
	assert_close(d->lo, 0.2, 1e-9);
	assert_close(d->hi, 0.5, 1e-9);
	assert_true(isnan(d->lost_s) && isnan(d->resolution));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_itself_is_refused, fresh),
		cmocka_unit_test_setup(test_itself_among_others, fresh),
		cmocka_unit_test_setup(test_a_sample_of_itself, fresh),
		cmocka_unit_test_setup(test_one_baseline_twice, fresh),
		cmocka_unit_test_setup(test_steps_of_other_length, fresh),
		cmocka_unit_test_setup(test_unknown_chip, fresh),
		cmocka_unit_test_setup(test_parity, fresh),
		cmocka_unit_test_setup(test_all_that_must_match, fresh),
		cmocka_unit_test_setup(test_odd_one_out, fresh),
		cmocka_unit_test_setup(test_no_baseline, fresh),
		cmocka_unit_test_setup(test_news, fresh),
		cmocka_unit_test_setup(test_trifles_are_counted, fresh),
		cmocka_unit_test_setup(test_versions_are_news, fresh),
		cmocka_unit_test_setup(test_dtypes_are_news, fresh),
		cmocka_unit_test_setup(test_slower_than_one, fresh),
		cmocka_unit_test_setup(test_one_step, fresh),
		cmocka_unit_test_setup(test_within_noise, fresh),
		cmocka_unit_test_setup(test_shares_by_difference, fresh),
		cmocka_unit_test_setup(test_shares_known_in_part, fresh),
		cmocka_unit_test_setup(test_needed_work, fresh),
		cmocka_unit_test_setup(test_another_amount_of_work, fresh),
		cmocka_unit_test_setup(test_one_row_claims, fresh),
		cmocka_unit_test_setup(test_cannot_tell, fresh),
		cmocka_unit_test_setup(test_few_steps, fresh),
		cmocka_unit_test_setup(test_against_five, fresh),
		cmocka_unit_test_setup(test_quiet_baselines_speak_for_themselves, fresh),
		cmocka_unit_test_setup(test_lucky_runs, fresh),
		cmocka_unit_test_setup(test_outlying_baseline, fresh),
		cmocka_unit_test_setup(test_pinned_and_rolling, fresh),
		cmocka_unit_test_setup(test_captures_without_steps, fresh),
		cmocka_unit_test_setup(test_query_finds_itself, fresh),
		cmocka_unit_test_setup(test_query_finds_nothing, fresh),
		cmocka_unit_test_setup(test_memory_has_no_noise, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
