/* The report for people: complete pages compared, and what may never reach a terminal. */
#include "base/text.h"
#include "report/prose.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static const char *page(const struct report_set *set, struct report_style style)
{
	struct out *out = out_memory(&keep);
	report_terminal(set, &style, &keep, out);
	return arena_z(&keep, out_text(out));
}

static const char *page_of(struct report r, struct report_style style)
{
	struct report_set set = { &r, 1, STR("0.1.0") };
	return page(&set, style);
}

static const char demo_page[] =
	"FAIL  runs/nightly: oversized-all-gather costs 65.2% of the step (18.3 ms of\n"
	"      28.1 ms): all-gather.17, model/ffn.py:41\n"
	"      TPU v5e x8, 2 of 4 hosts, 8 steady steps, 28.1 ms per step\n"
	"      a step is 26% computing, 65% waiting for communication, 2% idle\n"
	"      all fixes together give back up to 18.6 ms of 28.1 ms per step (66.3%)\n"
	"\n"
	"fail[oversized-all-gather]: all-gather.17 stands in the way for 12.3 ms of every\n"
	"       step, and gathers the same array 4 times\n"
	"   --> model/ffn.py:41\n"
	"  costs     up to 12.3 ms of 28.1 ms per step (43.8%); both together 18.3 ms\n"
	"  measured  43.8% of all devices: warns above 20.0%, fails above 50.0%\n"
	"  also      all-gather.18: 21.4%, up to 6.02 ms (model/ffn.py:44)\n"
	"  unknown   1 more could not be judged\n"
	"  fix       Constrain the activations between the two matmuls:\n"
	"              h = jax.lax.with_sharding_constraint(h, P('data', 'model'))\n"
	"            or gather the next layer's weights while this layer computes.\n"
	"\n"
	"warning[copy-share]: 3.40% of the step only changes layouts\n"
	"  costs     up to 300 us of 28.1 ms per step (1.07%); 660 us more are already\n"
	"            counted in other findings\n"
	"  measured  3.40%: warns above 3.00%\n"
	"  fix       Let XLA choose the layouts of the inputs (Layout.AUTO).\n"
	"\n"
	"not judged: 1 of 7 rules: window_peak_bytes is unknown for all 8 rows of memory\n"
	"  do        the profile has no allocator events; record it with host tracing on\n"
	"\n"
	"note[RL202]: host1.xplane.pb: 3 events begin before the line they are on; they\n"
	"       were left out\n"
	"\n"
	"1 failed, 1 warning, 1 inconclusive, 2 passed, 1 not applicable, 1 off\n"
	"More about a rule: rooflint explain oversized-all-gather\n";

static void test_demo(void **state)
{
	(void)state;
	assert_string_equal(page_of(demo_report(&keep), (struct report_style){ 0 }), demo_page);
}

/* The first line and the line of costs add up to what all fixes give back. */
static void test_headline_is_credited(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.findings.items[1].gain_s = 0.00302;
	assert_non_null(strstr(page_of(r, (struct report_style){ .quiet = true }),
		"oversized-all-gather costs 54.5% of the step (15.3 ms of 28.1 ms)"));
	/* Others are credited with all of its time: the one credited most. */
	for (int i = 0; i < 2; i++) {
		r.findings.items[i].gain_s = 0;
		r.findings.items[i].shared_s = r.findings.items[i].claimed_s;
	}
	r.findings.items[2].verdict = VERDICT_FAIL;
	assert_non_null(strstr(page_of(r, (struct report_style){ .quiet = true }),
		"FAIL  runs/nightly: copy-share costs 1.07% of the step (300 us of 28.1 ms)"));
	/* Or one that only warns: the line says what decided, and what it costs. */
	r.findings.items[0].gain_s = 0.0123;
	r.findings.items[0].verdict = r.findings.items[1].verdict = VERDICT_WARN;
	r.findings.items[2].shared_s = 0.00066;
	assert_non_null(strstr(page_of(r, (struct report_style){ .quiet = true }),
		"FAIL  runs/nightly: copy-share is at 3.40% and warns above 3.00%; "
		"oversized-all-gather costs 43.8% of the step (12.3 ms of 28.1 ms)"));
}

/* What decided is that evidence is missing; what costs most all the same, and its fix, follow. */
static void test_headline_without_evidence(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.verdict = VERDICT_INCONCLUSIVE;
	r.findings.items[0].verdict = r.findings.items[1].verdict = VERDICT_WARN;
	r.results.items[1].verdict = VERDICT_WARN;
	static const char head[] =
		"INCONCLUSIVE  runs/nightly: window_peak_bytes is unknown for all 8 rows of\n"
		"      memory; even so, oversized-all-gather costs 65.2% of the step (18.3 ms of\n"
		"      28.1 ms): all-gather.17, model/ffn.py:41\n";
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_memory_equal(text, head, sizeof(head) - 1);
	assert_non_null(strstr(
		text, "  fix       oversized-all-gather: Constrain the activations between"));
	/* What lies outside the steps costs as much of the window. */
	r.findings.items[2].of_window = true;
	r.findings.items[2].verdict = VERDICT_WARN;
	r.findings.items[2].gain_s = NAN;
	r.findings.items[2].claimed_s = 0.02;
	text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "memory; even so, 3.40% of the step only changes layouts"));
	assert_non_null(strstr(text, "  fix       copy-share: "));
}

/* What no other finding has is not "counted" there. */
static void test_rest_of_claim(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.findings.items[2].shared_s = 0;
	const char *text = page_of(r, (struct report_style){ .width = 100 });
	assert_null(strstr(text, "counted in other"));
	assert_non_null(strstr(text, "(1.07%); a fix may give back"));
	r.findings.items[2].gain_s = 0;
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_non_null(strstr(text, "which a fix may or may not give back"));
}

static struct report compared_report(double base, double lo, double hi, double resolution)
{
	struct report r = good_report(&keep);
	struct deltas_row d = { .metric = STR("run.step_time_s"),
		.key = STR("run.step_time_s"),
		.against = STR("monday"),
		.base = base,
		.head = 2.34e-3,
		.lo = lo,
		.hi = hi,
		.resolution = resolution,
		.n_base = 4,
		.n_head = 4,
		.baselines_more = 13,
		.steps_times = 12,
		.steps_more = 48 };
	struct deltas_row rows[] = { d };
	r.tables.items[TABLE_deltas] = (struct table){ .rows = COPY_OF(&keep, rows), .count = 1 };
	return r;
}

static const char *compared(double base, double lo, double hi, double resolution)
{
	return page_of(
		compared_report(base, lo, hi, resolution), (struct report_style){ .quiet = true });
}

/* What to do about noise: in the advice, once. */
static void test_noise_can_be_settled(void **state)
{
	(void)state;
	struct report r = compared_report(9.12e-3, NAN, NAN, 70.39);
	assert_string_equal(arena_z(&keep, comparison_needs(&r, &keep)),
		"13 more baselines like these, or 12 times the steps in every run (48 in this one) "
		"would settle whether it is slower.");
	r = compared_report(2.35e-3, -0.02, 0.01, 0.015);
	assert_null(comparison_needs(&r, &keep).p);
	/* A capture without steps asks for both runs' where it is compared. */
	r.facts->steps_source = STR("window");
	assert_true(str_starts(comparison_needs(&r, &keep), STR("Capture whole steps of both")));
	r.tables.items[TABLE_deltas].count = 0;
	assert_null(comparison_needs(&r, &keep).p);
}

static void test_noise_is_not_equality(void **state)
{
	(void)state;
	assert_non_null(strstr(compared(2.35e-3, -0.02, 0.01, 0.015),
		": as fast as monday: 2.34 ms, was 2.35 ms; 1.50% slower would have been seen"));
	/* What is seen and may be noise keeps its number, and is no equality. */
	assert_non_null(strstr(compared(2.18e-3, -0.08, 0.2, 0.152),
		": 7.34% slower than monday (2.34 ms, was 2.18 ms), within the noise: 15.2% slower "
		"would have been seen"));
	assert_non_null(strstr(
		page_of(compared_report(2.18e-3, -0.08, 0.2, 0.152), (struct report_style){ 0 }),
		"against monday: the step changed by +7.3%: within the noise ("));
	assert_non_null(strstr(compared(9.12e-3, -0.8, -0.7, 0.1),
		": 74.3% faster than monday: 2.34 ms, was 9.12 ms"));
	const char *noisy = compared(9.12e-3, NAN, NAN, 70.39);
	assert_null(strstr(noisy, "as fast"));
	assert_non_null(strstr(noisy,
		": 2.34 ms, against 9.12 ms in monday: too noisy to tell; not even twice as long "
		"would be seen"));
	assert_non_null(strstr(compared(9.12e-3, NAN, NAN, 0.39),
		"too noisy to tell; less than 39.0% slower would not be seen"));
	assert_non_null(strstr(
		compared(9.12e-3, NAN, NAN, NAN), "without steps a change looks like noise"));
}

/* What differs of two captures without steps is news, whatever can be judged of them. */
static void test_news_of_captures(void **state)
{
	(void)state;
	struct report r = compared_report(2.18e-3, NAN, NAN, NAN);
	r.facts->steps_source = STR("window");
	r.verdict = VERDICT_INCONCLUSIVE;
	struct diag_note notes[] = { { DIAG_DIFFERS, STR("the program changed: much of it") } };
	r.notes.items = COPY_OF(&keep, notes);
	r.notes.count = 1;
	assert_non_null(strstr(page_of(r, (struct report_style){ .width = 100 }),
		"the program changed: much of it"));
}

/* Whatever is assumed of it, one step shows no noise. */
static void test_one_step_shows_no_noise(void **state)
{
	(void)state;
	struct report r = compared_report(1.71e-3, NAN, NAN, 0.36);
	((struct deltas_row *)r.tables.items[TABLE_deltas].rows)->is_short = 1;
	const char *text = page_of(r, (struct report_style){ .width = 100 });
	assert_null(strstr(text, "slower"));
	assert_null(strstr(text, "beyond the noise"));
	assert_true(str_starts(str_from(text),
		STR("PASS  runs/good: 2.34 ms, against 1.71 ms in monday: with fewer")));
	assert_true(str_starts(comparison_needs(&r, &keep), STR("Capture more whole")));
}

static void test_causes_are_whole(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	for (ptrdiff_t i = 0; i < r.results.count; i++)
		r.results.items[i].reason =
			STR("half of the time is in work whose kind is unknown (the largest takes "
			    "0.5% of it)");
	assert_non_null(strstr(page_of(r, (struct report_style){ 0 }),
		"not judged: 1 of 7 rules: half of the time is in work whose kind is unknown (the\n"
		"  largest takes 0.5% of it)\n"));
	/* What has no room is left to -v, not cut. */
	for (ptrdiff_t i = 0; i < r.results.count; i++)
		r.results.items[i].reason = arena_fmt(&keep, "%0400d", 0);
	assert_non_null(strstr(
		page_of(r, (struct report_style){ 0 }), "not judged: 1 of 7 rules: -v says why\n"));
}

static void test_quiet(void **state)
{
	(void)state;
	assert_string_equal(page_of(demo_report(&keep), (struct report_style){ .quiet = true }),
		"FAIL  runs/nightly: oversized-all-gather costs 65.2% of the step (18.3 ms of "
		"28.1 ms): all-gather.17, model/ffn.py:41\n");
}

/* A rule that only fails has no warning that it could come close to. */
static void test_closest_failure(void **state)
{
	struct report r = good_report(&keep);
	struct rule_number *n = &r.results.items[0].number;

	(void)state;
	n->fail_limit = n->warn_limit;
	n->fail_number = n->warn_number;
	n->fail_headroom = n->warn_headroom;
	n->warn_limit = NAN;
	assert_string_equal(page_of(r, (struct report_style){ .quiet = true }),
		"PASS  runs/good: closest to its limit: copy-share, 2.00% where it fails above "
		"3.00%\n");
}

static void test_pass_is_short(void **state)
{
	(void)state;
	assert_string_equal(page_of(good_report(&keep), (struct report_style){ 0 }),
		"PASS  runs/good: closest to its limit: copy-share, 2.00% where it warns above\n"
		"      3.00%\n"
		"      H100 SXM x1, 1 host, 1 steady step, 500 ms per step\n"
		"\n"
		"1 passed\n");
}

static void test_verbose(void **state)
{
	(void)state;
	const char *text = page_of(demo_report(&keep), (struct report_style){ .verbose = true });
	assert_non_null(strstr(text,
		"rules of recommended\n"
		"  pass            matmul-roofline       Matmuls run within 10% of their roofline\n"
		"                                        (0: fails above 0)\n"
		"  fail            oversized-all-gather  No all-gather holds up more than a fifth\n"
		"                                        of the step\n"));
	assert_non_null(strstr(text,
		"  not applicable  recompiles            Nothing compiles inside the steps (no\n"
		"                                        compilation was seen)\n"));
	assert_non_null(strstr(text, "  why       Waiting chips compute nothing.\n"));
	assert_non_null(strstr(text, "note[warm-up]: step 0 was left out"));
}

static void test_batch(void **state)
{
	(void)state;
	struct report items[] = { demo_report(&keep), good_report(&keep), broken_report(&keep) };
	struct report_set set = { items, COUNT_OF(items), STR("0.1.0") };
	report_set_sort(&set);
	const char *text = page(&set, (struct report_style){ 0 });
	assert_true(str_starts(str_from(text),
		STR("FAIL  3 profiles: 1 failed, 1 unreadable, 1 passed; first runs/nightly:\n"
		    "      oversized-all-gather costs 65.2% of the step")));
	assert_non_null(strstr(text,
		"\nERROR[RL201]  runs/broken/host0.xplane.pb: XPlane at byte 1021: the file ends "
		"inside a field; it is cut off: copy or record it again\n"));
	assert_non_null(strstr(text,
		"       profile       mean step  gives back       first finding\n"
		"FAIL   runs/nightly  28.1 ms    18.6 ms (66.3%)  oversized-all-gather\n"
		"ERROR  runs/broken   -          -                -\n"
		"PASS   runs/good     500 ms     -                -\n"));
	/* The path that stands whole with its report leaves room for the others. */
	items[1].profile = STR("/data/of/somebody/runs/broken");
	assert_non_null(strstr(page(&set, (struct report_style){ 0 }),
		"ERROR  ...somebody/runs/broken  -          -                -\n"));
	items[1].profile = STR("runs/broken");
	assert_true(
		str_ends(str_from(text), STR("\n3 profiles: 1 failed, 1 unreadable, 1 passed\n")));
	assert_string_equal(page(&set, (struct report_style){ .quiet = true }),
		"FAIL  runs/nightly: oversized-all-gather costs 65.2% of the step (18.3 ms of "
		"28.1 ms): all-gather.17, model/ffn.py:41\n"
		"ERROR[RL201]  runs/broken/host0.xplane.pb: XPlane at byte 1021: the file ends "
		"inside a field; it is cut off: copy or record it again\n"
		"PASS  runs/good: closest to its limit: copy-share, 2.00% where it warns above "
		"3.00%\n"
		"3 profiles: 1 failed, 1 unreadable, 1 passed\n");
}

/* What is wrong with the rules gets the profile's name; a caret stays under its column. */
static void test_error_lines(void **state)
{
	(void)state;
	struct report r;
	struct diag d;
	diag_set(&d, DIAG_RULE_SQL, "t.yaml:12:3: x\n  12 | x\n     | ^");
	report_error(&d, STR("runs/empty"), &(struct tables){ 0 }, STR("recommended"), &keep, &r);
	assert_string_equal(page_of(r, (struct report_style){ .width = 40 }),
		"ERROR[RL305]  runs/empty: t.yaml:12:3: x\n"
		"  12 | x\n"
		"     | ^\n");
	diag_set(&d, DIAG_NO_PROFILE, "runs/empty: no *.xplane.pb below it");
	report_error(&d, STR("runs/empty"), &(struct tables){ 0 }, STR("recommended"), &keep, &r);
	assert_string_equal(page_of(r, (struct report_style){ .width = 40 }),
		"ERROR[RL105]  runs/empty: no *.xplane.pb below it\n");
}

/* Without steps the window must not pass for one; the job file's line comes second. */
static void test_head(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct run_row *run = no_facts(&keep);
	run->platform = STR("cpu");
	run->steps_source = STR("window");
	run->steps = 1;
	run->step_time_s = run->step_mean_s = 0.0453;
	run->idle_ratio = 0.5;
	run->owner = STR("perf-team");
	run->mfu = 0.462;
	r.facts = run;
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "\n      CPU devices, the whole capture, 45.3 ms\n"
				     "      of perf-team, MFU 46.2%\n"
				     "      the capture is 50% idle"));
}

/* A verdict on half of the work says so, names the rest, and tells how to judge it. */
static void test_what_a_verdict_speaks_for(void **state)
{
	(void)state;
	static const struct {
		const char *name, *role, *modules, *option;
		double time_s, p50_s, count;
	} phases[] = {
		{ "train", "step", "jit_train", "train", 0.54, 0.01, 54 },
		{ "jit_eval_epoch", "other", "jit_eval_epoch", "jit_eval_epoch", 0.46, 0.115, 4 },
		{ "host", "wait", NULL, NULL, 3, 0.1, 30 },
	};
	struct report r = good_report(&keep);
	struct run_row *run = no_facts(&keep);
	run->platform = STR("cpu");
	run->verdict_share = 0.54;
	r.facts = run;
	for (ptrdiff_t i = 0; i < COUNT_OF(phases); i++) {
		struct phases_row *row = table_new(&r.tables, phases, &keep);
		row->name = str_from(phases[i].name);
		row->role = str_from(phases[i].role);
		row->modules = str_from(phases[i].modules);
		row->step = str_from(phases[i].option);
		row->is_judged = row->judged_share = i == 0;
		row->is_wait = i == 2;
		row->time_s = phases[i].time_s;
		row->p50_s = phases[i].p50_s;
		row->count = phases[i].count;
	}
	const char *text = page_of(r, (struct report_style){ .width = 100 });
	assert_non_null(strstr(text,
		"\n      this verdict speaks for 54% of the device time; jit_eval_epoch takes 46%\n"
		"      sorts of steps: train, 54 times 10.0 ms, judged; jit_eval_epoch, 4 "
		"times 115 ms (--step\n      jit_eval_epoch)\n"));
	struct phases_row *small = table_new(&r.tables, phases, &keep); /* not "jit_log 0%" */
	small->modules = STR("jit_log");
	small->is_judged = small->judged_share = small->is_wait = 0;
	small->time_s = 1e-4;
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_null(strstr(text, "jit_log"));
	assert_non_null(strstr(text, "1 more the"));
	run->verdict_share = 0.96;
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_null(strstr(text, "this verdict speaks for"));
	/* Executions of a server are steps without what it waits between them. */
	run->is_server = 1;
	struct phases_row *wait = table_new(&r.tables, phases, &keep);
	wait->name = STR("host");
	wait->is_wait = 1;
	wait->time_share = 0.54;
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_non_null(
		strstr(text, "\n      the device waits between its steps for 54% of the time\n"));
	wait->name = STR("request");
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_non_null(strstr(text, "between its steps for 54% of the time, for requests 54%\n"));
	wait->name = STR("unknown");
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_non_null(strstr(text, "54% of the time, for what the profile does not show 54%"));
	run->is_server = 0; /* these hold their waits */
	text = page_of(r, (struct report_style){ .width = 100 });
	assert_null(strstr(text, "waits between its steps"));
}

/* One step is no measure; its ops and gaps stand beside what is possible all the same. */
static void test_what_was_seen(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct run_row *run = no_facts(&keep);
	run->platform = STR("tpu");
	run->evidence = STR("measured");
	run->steps = 1;
	r.facts = run;
	for (int i = 0; i < 7; i++) {
		struct families_row *f = table_new(&r.tables, families, &keep);
		f->name = arena_fmt(&keep, "fusion.%d", i == 3 ? 2 : i);
		f->source_file = STR("lib/model.py");
		f->source_line = 31;
		f->p50_s = 0.002;
		f->attainable_s = i == 1 ? 0.003 : 0.001; /* which it beat */
	}
	r.tables.items[TABLE_families].count = REPORT_SEEN_ROWS; /* as a head has them */
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "\n  heaviest  fusion.0: unknown, 2.00 ms where 1.00 ms is "
				     "attainable\n"));
	assert_non_null(strstr(text, "\n            fusion.1: unknown, 2.00 ms\n"));
	assert_non_null(strstr(text, "\n            fusion.2, lib/model.py:31: unknown, 2.00 ms "
				     "where 1.00 ms is\n"));
	assert_null(strstr(text, "fusion.4"));
	text = page_of(r, (struct report_style){ .verbose = true });
	assert_non_null(strstr(text, "\n            fusion.4: unknown, 2.00 ms where"));
	run->steps = 2;
	assert_null(strstr(page_of(r, (struct report_style){ 0 }), "heaviest"));
}

static void test_same_trouble_is_said_once(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rules[] = {
		{ .name = STR("a"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no chip"),
			.lacks = STR("chip"),
			.todo = STR("name it") },
		{ .name = STR("b"), .verdict = VERDICT_PASS },
		{ .name = STR("c"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no chip"),
			.lacks = STR("chip"),
			.todo = STR("name it") },
		{ .name = STR("e"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no chip"),
			.lacks = STR("chip"),
			.subjects = 3,
			.withheld = 2,
			.todo = STR("name it") },
		{ .name = STR("d"), .verdict = VERDICT_INCONCLUSIVE },
		/* Alone in its trouble: only then is there room for what was withheld. */
		{ .name = STR("f"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no chip (lost)"),
			.lacks = STR("lost"),
			.subjects = 3,
			.withheld = 1,
			.todo = STR("name it") },
	};
	r.verdict = VERDICT_INCONCLUSIVE;
	r.results.items = rules;
	r.results.count = COUNT_OF(rules);
	assert_string_equal(page_of(r, (struct report_style){ 0 }),
		"INCONCLUSIVE  runs/good: no chip\n"
		"      H100 SXM x1, 1 host, 1 steady step, 500 ms per step\n"
		"\n"
		"not judged: 5 of 6 rules\n"
		"  do        name it\n"
		"  also      could not be judged; no chip (lost) (1 of 3 subjects would not pass)\n"
		"\n"
		"5 inconclusive, 1 passed\n");
	/* -v has each with its rules */
	assert_non_null(strstr(page_of(r, (struct report_style){ .verbose = true }),
		"inconclusive[a, c, e]: no chip\n"
		"  do        name it\n"
		"\n"
		"inconclusive[d]: could not be judged\n"
		"\n"
		"inconclusive[f]: no chip (lost) (1 of 3 subjects would not pass)\n"
		"  do        name it\n"));
}

/* What a finding has said, with what to do, is not said again of a rule that waits for it. */
static void test_trouble_that_a_finding_says(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rule = { .name = STR("uneven-devices"),
		.verdict = VERDICT_INCONCLUSIVE,
		.reason = STR("1 of 2 hosts"),
		.lacks = STR("all-hosts"),
		.todo = STR("copy the others") };
	struct finding f = { .rule = STR("data-quality"),
		.verdict = VERDICT_WARN,
		.subject = STR("all-hosts"),
		.gain_s = NAN,
		.claimed_s = NAN,
		.source_line = NAN };
	struct quality_row *quality = table_new(&r.tables, quality, &keep);
	quality->name = f.subject;
	r.results.items = &rule;
	r.results.count = 1;
	r.findings.items = &f;
	r.findings.count = 1;
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "not judged: 1 of 1 rules: see data-quality\n\n"));
	f.verdict = VERDICT_WAIVED;
	text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "not judged: 1 of 1 rules: 1 of 2 hosts\n  do  "));
}

static void test_unknown_run(void **state)
{
	(void)state;
	struct report r = { .profile = STR("x"), .verdict = VERDICT_PASS, .gain_s = NAN };
	struct run_row *run = no_facts(&keep);
	run->platform = STR("nvidia");
	assert_string_equal(page_of(r, (struct report_style){ 0 }),
		"PASS  x: all rules that apply hold\n      no device ops\n\nno rules\n");
	r.facts = run;
	assert_string_equal(page_of(r, (struct report_style){ .quiet = true }),
		"PASS  x: all rules that apply hold\n");
	run->platform = STR("cpu");
	assert_string_equal(page_of(r, (struct report_style){ 0 }),
		"PASS  x: all rules that apply hold\n      CPU devices\n\nno rules\n");
}

/* Verdicts that are not of a profile must not look green. */
static void test_never_green_by_mistake(void **state)
{
	(void)state;
	struct report r = { .profile = STR("x"), .verdict = VERDICT_OFF };
	assert_memory_equal(page_of(r, (struct report_style){ .quiet = true }), "INCONCLUSIVE", 12);
}

static void test_many_subjects(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct finding findings[7];
	for (int i = 0; i < 7; i++)
		findings[i] = (struct finding){ .rule = STR("slow"),
			.verdict = VERDICT_FAIL,
			.name = arena_fmt(&keep, "op.%d", i),
			.message = arena_fmt(&keep, "op.%d is slow", i),
			.gain_s = i ? (double)NAN : 0.001,
			.claimed_s = NAN,
			.source_line = NAN };
	r.findings.items = findings;
	r.findings.count = 7;
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "fail[slow]: op.0 is slow\n"
				     "  costs     up to 1.00 ms of 500 ms per step (0.20%)\n"
				     "  also      op.1\n"
				     "            op.2\n"
				     "            op.3\n"
				     "            and 3 more\n"));
	text = page_of(r, (struct report_style){ .verbose = true });
	assert_non_null(strstr(text, "            op.6 is slow\n"));
}

static struct str line_told(struct report *r, enum comparison_told told, ptrdiff_t at)
{
	struct list lines = comparison_lines(r, told, &keep);
	return at < lines.count ? lines.items[at] : STR("");
}

/* The first line tells the step beside one set of baselines; a store's query is named whole. */
static void test_each_set_is_told(void **state)
{
	(void)state;
	struct report r = compared_report(2.35e-3, -0.02, 0.01, 0.015);
	struct deltas_row rows[2];
	rows[0] = rows[1] = *table_rows(&r.tables, deltas);
	rows[1].against = STR("store:branch=rel/1,last=10");
	rows[1].key = STR("run.step_time_s, store:branch=rel/1,last=10");
	r.tables.items[TABLE_deltas] = (struct table){ .rows = rows, .count = 2 };
	assert_true(str_starts(line_told(&r, COMPARISON_REST, 0),
		STR("against monday: the step changed by -0.4%: ")));
	assert_true(str_starts(line_told(&r, COMPARISON_REST, 1),
		STR("against store:branch=rel/1,last=10: a step takes 2.34 ms, was 2.35 ms")));
}

static void test_unlike_is_told(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct quality_row row = {
		.name = STR("baseline-comparable"), .ok = 0, .detail = STR("the chip differs")
	};
	r.tables.items[TABLE_quality] = (struct table){ .rows = &row, .count = 1 };
	r.tables.items[TABLE_deltas].count = 0;
	assert_true(
		str_eq(line_told(&r, COMPARISON_WHOLE, 0), STR("not compared: the chip differs")));
	assert_true(str_eq(line_told(&r, COMPARISON_REST, 0), STR("")));
}

/* Cause and fix of a rule are said once, though it fails for one subject and warns of another. */
static void test_failed_and_warned(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct finding findings[] = {
		{ .rule = STR("slow"),
			.verdict = VERDICT_FAIL,
			.message = STR("a is slow"),
			.fix = STR("hurry"),
			.gain_s = NAN },
		{ .rule = STR("slow"),
			.verdict = VERDICT_WARN,
			.message = STR("b is slowish"),
			.fix = STR("hurry"),
			.gain_s = NAN },
	};
	r.findings.items = findings;
	r.findings.count = COUNT_OF(findings);
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "fail[slow]: a is slow\n"
				     "  warned    b is slowish\n"
				     "  fix       hurry\n"));
	assert_null(strstr(text, "warning["));
}

/* One that does not fit the screen does not keep the next one off it. */
static void test_the_next_that_fits(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct out *many = out_memory(&keep);
	for (int i = 0; i < 50; i++)
		out_z(many, "one line\n");
	struct finding findings[] = {
		{ .rule = STR("a"), .fix = STR("hurry") },
		{ .rule = STR("b"), .fix = out_text(many) },
		{ .rule = STR("c"), .fix = STR("wait") },
	};
	for (int i = 0; i < COUNT_OF(findings); i++) {
		findings[i].verdict = VERDICT_FAIL;
		findings[i].message = STR("is slow");
		findings[i].gain_s = findings[i].source_line = NAN;
	}
	r.findings.items = findings;
	r.findings.count = COUNT_OF(findings);
	const char *text = page_of(r, (struct report_style){ 0 });
	assert_non_null(strstr(text, "fail[a]: is slow\n  fix       hurry\n\n"
				     "fail[c]: is slow\n  fix       wait\n\n"
				     "  also: fail[b] (is slow)\n"));
}

static bool is_our_colour(struct str s)
{
	return str_starts(s, STR("\033[1;3")) || str_starts(s, STR("\033[0m")) ||
	       str_starts(s, STR("\033[1m")) || str_starts(s, STR("\033[2m"));
}

static void assert_harmless(const char *text, bool color)
{
	struct str rest = str_from(text), line;
	bool more = true;
	while (more) {
		more = str_cut(rest, '\n', &line, &rest);
		assert_true(color || text_is_clean(line));
		for (ptrdiff_t at = str_find_char(line, '\033'); at >= 0;
			at = str_find_char(line, '\033')) {
			assert_true(color && is_our_colour(str_from_offset(line, at)));
			assert_true(text_is_clean(str_head(line, at)));
			line = str_from_offset(line, at + 1);
		}
		assert_true(text_is_clean(line));
	}
}

static void test_hostile(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	for (int i = 0; i < 24; i++) {
		struct report_style style = {
			.color = i % 2, .verbose = i / 2 % 2, .quiet = i == 6, .width = i * 17 - 10
		};
		assert_harmless(page(&set, style), style.color);
	}
}

static void test_colour_changes_nothing_else(void **state)
{
	(void)state;
	const char *color = page_of(demo_report(&keep), (struct report_style){ .color = true });
	struct out *plain = out_memory(&keep);
	assert_non_null(strstr(color, "\033[1;31mFAIL\033[0m  \033[1mruns/nightly\033[0m: overs"));
	for (; *color; color++)
		if (*color == '\033')
			color = strchr(color, 'm');
		else
			out_char(plain, *color);
	assert_string_equal(arena_z(&keep, out_text(plain)), demo_page);
}

/* No line of prose passes the width; code and long words may. */
static void test_width(void **state)
{
	(void)state;
	struct str rest =
		str_from(page_of(demo_report(&keep), (struct report_style){ .width = 60 }));
	struct str line;
	while (str_cut(rest, '\n', &line, &rest))
		assert_true(line.len <= 60 || str_contains(line, STR("with_sharding_constraint")));
}

static void test_empty_set(void **state)
{
	(void)state;
	struct report_set set = { NULL, 0, STR("0.1.0") };
	assert_string_equal(page(&set, (struct report_style){ 0 }), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_headline_is_credited),
		cmocka_unit_test(test_headline_without_evidence),
		cmocka_unit_test(test_rest_of_claim),
		cmocka_unit_test(test_noise_is_not_equality),
		cmocka_unit_test(test_news_of_captures),
		cmocka_unit_test(test_one_step_shows_no_noise),
		cmocka_unit_test(test_noise_can_be_settled),
		cmocka_unit_test(test_causes_are_whole),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_closest_failure),
		cmocka_unit_test(test_pass_is_short),
		cmocka_unit_test(test_verbose),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_error_lines),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_what_a_verdict_speaks_for),
		cmocka_unit_test(test_what_was_seen),
		cmocka_unit_test(test_same_trouble_is_said_once),
		cmocka_unit_test(test_trouble_that_a_finding_says),
		cmocka_unit_test(test_unknown_run),
		cmocka_unit_test(test_never_green_by_mistake),
		cmocka_unit_test(test_many_subjects),
		cmocka_unit_test(test_failed_and_warned),
		cmocka_unit_test(test_the_next_that_fits),
		cmocka_unit_test(test_each_set_is_told),
		cmocka_unit_test(test_unlike_is_told),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_colour_changes_nothing_else),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_empty_set),
	};
	return cmocka_run_group_tests_name("report_terminal", tests, keep_begin, keep_end);
}
