/* store/fleet: answers that can be worked out by hand, whatever the order of facts. */
#include <math.h>
#include <sqlite3.h>

#include "store/fleet.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

static const struct fleet_window week = { STR_INIT("2026-01-08T00:00:00.000Z"),
	STR_INIT("2026-01-15T00:00:00.000Z"), STR_INIT("2026-01-01T00:00:00.000Z") };

static struct run_facts run(const char *workload, int day, double step_time_s)
{
	struct str captured = arena_fmt(&keep, "2026-01-%02dT00:00:00.000Z", day);
	return fixture_run(&keep, str_from(workload), captured, step_time_s);
}

static struct run_facts sealed(struct run_facts f)
{
	run_facts_seal(&f, &keep);
	return f;
}

struct asked {
	struct fleet *fleet;
	struct fleet_report report;
};

static struct asked ask(const struct run_facts *runs, ptrdiff_t count, const char *usage)
{
	struct asked a;
	struct diag err;
	a.fleet = fleet_new(&keep, &err);
	for (ptrdiff_t i = 0; a.fleet && i < count; i++)
		if (!fleet_take(a.fleet, &runs[i], &err))
			fail_msg("%s", err.text);
	if (!a.fleet || (usage && !fleet_usage(a.fleet, STR("u"), str_from(usage), &err)) ||
		!fleet_ask(a.fleet, NULL, &week, STR("judge"), &keep, &a.report, &err))
		fail_msg("%s", err.text);
	return a;
}

static double real(const struct asked *a, enum fleet_id id, ptrdiff_t row, struct str column)
{
	const struct fleet_answer *answer = &a->report.answers[id];
	assert_true(row < answer->count);
	return fleet_cell(answer, row, column)->real;
}

static struct str text(const struct asked *a, enum fleet_id id, ptrdiff_t row, struct str column)
{
	const struct fleet_answer *answer = &a->report.answers[id];
	assert_true(row < answer->count);
	return fleet_cell(answer, row, column)->text;
}

#define R(id, row, column) real(&a, id, row, STR(column))
#define T(id, row, column) text(&a, id, row, STR(column))
#define assert_str(s, z)   assert_true(str_eq((s), STR(z)))
static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* 8 chips that waste a quarter and 24 that waste half: (8/4 + 24/2) of 32. */
static void totals(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 10, 2) };
	runs[1].chips = 24;
	runs[1].gain_s = 1;
	runs[1].roofline_ratio_lo = 0.25;
	runs[1].mfu = 0.4;
	runs[1] = sealed(runs[1]);
	struct asked a = ask(runs, 2, NULL);
	assert_int_equal(a.report.answers[FLEET_TOTALS].count, 1);
	assert_near(R(FLEET_TOTALS, 0, "chips"), 32);
	assert_near(R(FLEET_TOTALS, 0, "chips_back"), 14);
	assert_near(R(FLEET_TOTALS, 0, "share"), 14.0 / 32);
	assert_near(R(FLEET_TOTALS, 0, "roofline_ratio"), (0.5 * 8 + 0.25 * 24) / 32);
	assert_near(R(FLEET_TOTALS, 0, "mfu"), 0.4);
	assert_near(R(FLEET_TOTALS, 0, "mfu_workloads"), 1);
	assert_true(isnan(R(FLEET_TOTALS, 0, "dollars_back")));
	assert_str(T(FLEET_RANKING, 0, "workload"), "b");
	assert_str(T(FLEET_RANKING, 0, "top_rule"), "copy-share");
	fleet_free(a.fleet);
}

/* Ops of unknown cost make a ratio a range, and none where nothing was counted. */
static void roofline_range(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 9, 1), run("c", 9, 1) };
	runs[0].roofline_ratio_hi = 0.9;
	runs[0].judged_ratio = 0.6;
	runs[1].roofline_ratio_lo = 0;
	runs[1].roofline_ratio_hi = 1;
	runs[1].judged_ratio = 0;
	for (int i = 0; i < 3; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 3, NULL);
	assert_near(R(FLEET_TOTALS, 0, "roofline_ratio"), 0.5);
	assert_near(R(FLEET_TOTALS, 0, "roofline_ratio_hi"), 0.7);
	assert_near(R(FLEET_TOTALS, 0, "roofline_workloads"), 2);
	assert_str(T(FLEET_RANKING, 1, "workload"), "b");
	assert_true(isnan(R(FLEET_RANKING, 1, "roofline_ratio")));
	assert_near(R(FLEET_RANKING, 0, "roofline_ratio_hi"), 0.9);
	assert_near(R(FLEET_BY_CHIP, 0, "roofline_ratio_hi"), 0.7);
	fleet_free(a.fleet);
}

/*
 * `a` ran in 80 of 100 hours, nine tenths of that in steps, which could take half as long, or six
 * tenths; `b` was billed and has no capture; of `c` nothing but a capture is known.
 */
static void goodput(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("c", 9, 1) };
	runs[0].steps_ratio = 0.9;
	runs[0].roofline_ratio_hi = 0.6;
	runs[0] = sealed(runs[0]);
	struct asked a = ask(runs, 2,
		"workload,chip_hours,price,running_hours\na,100,2,80\nb,50,1,40\nc,10,,\n");
	static const struct {
		const char *part;
		double hours, of, dollars, workloads;
	} expected[] = { { "allocated", 160, 160, 250, 3 }, { "running", 120, 150, 200, 2 },
		{ "in steps", 72, 80, 144, 1 }, { "at the roofline", 36, 72, 72, 1 } };
	assert_int_equal(a.report.answers[FLEET_GOODPUT].count, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(str_eq(T(FLEET_GOODPUT, i, "part"), str_from(expected[i].part)));
		assert_near(R(FLEET_GOODPUT, i, "chip_hours"), expected[i].hours);
		assert_near(R(FLEET_GOODPUT, i, "of_hours"), expected[i].of);
		assert_near(R(FLEET_GOODPUT, i, "ratio"), expected[i].hours / expected[i].of);
		assert_near(R(FLEET_GOODPUT, i, "dollars"), expected[i].dollars);
		assert_near(R(FLEET_GOODPUT, i, "workloads"), expected[i].workloads);
	}
	assert_near(R(FLEET_GOODPUT, 3, "ratio_hi"), 0.6);
	fleet_free(a.fleet);
	a = ask(runs, 2, NULL);
	assert_int_equal(a.report.answers[FLEET_GOODPUT].count, 0);
	fleet_free(a.fleet);
}

/* This window and the one before have what the totals say. */
static void trend(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 10, 2), run("a", 3, 1), run("b", 2, 1),
		run("b", 4, 1), run("c", 10, 1) };
	struct asked a;
	runs[1].chips = 24;
	runs[1].gain_s = 1;
	runs[4].gain_s = 0.5;
	runs[5].platform = STR("cpu");
	runs[2].captured = STR("2025-12-26T00:00:00.000Z"); /* two windows ago */
	for (int i = 0; i < 6; i++)
		runs[i] = sealed(runs[i]);
	a = ask(runs, 6, NULL);
	assert_int_equal(a.report.answers[FLEET_TREND].count, 3);
	for (int i = 0; i < 2; i++) {
		assert_near(R(FLEET_TREND, i, "chips"), R(FLEET_TOTALS, i, "chips"));
		assert_near(R(FLEET_TREND, i, "chips_back"), R(FLEET_TOTALS, i, "chips_back"));
		assert_near(R(FLEET_TREND, i, "share"), R(FLEET_TOTALS, i, "share"));
		assert_near(R(FLEET_TREND, i, "workloads"), R(FLEET_TOTALS, i, "workloads"));
		assert_near(
			R(FLEET_TREND, i, "roofline_ratio"), R(FLEET_TOTALS, i, "roofline_ratio"));
	}
	assert_near(R(FLEET_TREND, 0, "chips_back"), 14);
	assert_near(R(FLEET_TREND, 1, "chips_back"), 8 * 0.375);
	assert_near(R(FLEET_TREND, 2, "chips_back"), 2);
	assert_str(T(FLEET_TREND, 0, "until"), "2026-01-15");
	assert_str(T(FLEET_TREND, 2, "until"), "2026-01-01");
	fleet_free(a.fleet);
}

/* A host's two devices, as many times as long as the median of a step of 180 ms. */
static void add_host(struct run_facts *f, const char *host, double first, double second)
{
	const double slowness[] = { first, second };
	for (int i = 0; i < 2; i++) {
		struct device_facts *d = run_facts_add(f, FACT_DEVICES, &keep);
		d->host = str_from(host);
		d->device = i ? STR("/device:TPU:1") : STR("/device:TPU:0");
		d->slowness = slowness[i];
		d->lost_s = f->step_time_s * fmax(0, 1 - 1 / slowness[i]);
	}
}

/*
 * Four jobs wait for host `late`: 180 ms where the others need 152.  `uneven` has more to do in one
 * job of its three, `twin` in one of two, and what is late beside a later one costs nothing more.
 */
static void slow_machines(void **state)
{
	(void)state;
	const double late = 180.0 / 152;
	struct run_facts runs[] = { run("a", 9, 0.18), run("a", 10, 0.18), run("b", 9, 0.18),
		run("c", 9, 0.18), run("d", 9, 0.18), run("e", 9, 0.18), run("f", 9, 0.152) };
	add_host(&runs[0], "fast", 1, 1);
	add_host(&runs[1], "fast", 1, 1);
	for (int i = 0; i < 5; i++)
		add_host(&runs[i], "late", late, late);
	add_host(&runs[2], "uneven", 1.1, 1);
	add_host(&runs[3], "uneven", 1, 1.01);
	add_host(&runs[4], "uneven", 1, 1);
	add_host(&runs[5], "twin", 1.3, 1);
	add_host(&runs[6], "twin", 1, 1.02);
	for (int i = 0; i < 7; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 7,
		"workload,chip_hours,price\na,100,2\nb,10,2\nc,10,2\n"
		"d,20,2\ne,10,2\nf,10,2\n");
	assert_int_equal(a.report.answers[FLEET_MACHINES].count, 1);
	assert_str(T(FLEET_MACHINES, 0, "host"), "late");
	assert_null(T(FLEET_MACHINES, 0, "device").p); /* both are */
	assert_near(R(FLEET_MACHINES, 0, "workloads"), 4);
	assert_near(R(FLEET_MACHINES, 0, "of_workloads"), 4);
	assert_near(R(FLEET_MACHINES, 0, "slow_runs"), 5);
	/* What adds up is in units of 1e-12. */
	assert_true(fabs(R(FLEET_MACHINES, 0, "slowness") - late) < 1e-12);
	assert_true(fabs(R(FLEET_MACHINES, 0, "chips_back") - 4 * 8 * 28.0 / 180) < 32e-12);
	assert_true(fabs(R(FLEET_MACHINES, 0, "chip_hours_back") - 140 * 28.0 / 180) < 140e-12);
	assert_true(fabs(R(FLEET_MACHINES, 0, "dollars_back") - 280 * 28.0 / 180) < 280e-12);
	assert_true(a.report.answers[FLEET_MACHINES].rows[0].run.p != NULL);
	fleet_free(a.fleet);
	/* Of one chip it is said. */
	for (int i = 0; i < 5; i++) {
		run_device_count(&runs[i]) = 0;
		add_host(&runs[i], "late", 1, late);
		runs[i] = sealed(runs[i]);
	}
	a = ask(runs, 7, NULL);
	assert_str(T(FLEET_MACHINES, 0, "device"), "/device:TPU:1");
	fleet_free(a.fleet);
}

/* A workload that ran on fewer chips, too, did not become slower by that. */
static void other_chips(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("w", 3, 0.5), run("w", 9, 1), run("w", 10, 0.5) };
	runs[0].chips = runs[2].chips = 16;
	runs[0] = sealed(runs[0]);
	runs[2] = sealed(runs[2]);
	struct asked a = ask(runs, 3, NULL);
	assert_int_equal(a.report.answers[FLEET_MOVERS].count, 0);
	assert_near(R(FLEET_RANKING, 0, "step_time_s"), 0.5);
	assert_near(R(FLEET_RANKING, 0, "runs"), 2);
	fleet_free(a.fleet);
}

/* Chip-hours turn the order round, and money is known only where every line has a price. */
static void usage(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 10, 2), run("c", 10, 2) };
	runs[1].chips = 24;
	runs[1] = sealed(runs[1]);
	struct asked a = ask(runs, 3,
		"\xef\xbb\xbfprice,Workload,chip_hours\r\n2,\"a\",100\r\n1,a,300,,\n,b,40\n\n");
	assert_str(T(FLEET_RANKING, 0, "workload"), "a");
	assert_near(R(FLEET_RANKING, 0, "chip_hours_back"), 100);
	assert_near(R(FLEET_RANKING, 0, "dollars_back"), 500.0 / 4);
	assert_str(T(FLEET_RANKING, 1, "workload"), "b");
	assert_true(isnan(R(FLEET_RANKING, 1, "dollars_back")));
	assert_true(isnan(R(FLEET_RANKING, 2, "chip_hours_back")));
	assert_true(a.report.has_usage);
	fleet_free(a.fleet);
}

/* Money is of the hours that have a price, and how many those are is told beside it. */
static void money_of_some_hours(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 10, 2) };
	struct asked a = ask(runs, 2, "workload,chip_hours,price\na,100,2\nb,40,\n");
	assert_near(R(FLEET_TOTALS, 0, "chip_hours_back"), 35);
	assert_near(R(FLEET_TOTALS, 0, "priced_hours_back"), 25);
	assert_near(R(FLEET_TOTALS, 0, "dollars_back"), 50);
	assert_near(R(FLEET_BY_CHIP, 0, "priced_hours_back"), 25);
	assert_near(R(FLEET_RULES, 0, "priced_hours_back"), 25);
	fleet_free(a.fleet);
}

/* Chip-hours weigh only when they weigh every workload: none is left out of a ratio unseen. */
static void weights(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 10, 2) };
	runs[1].gain_s = 0;
	runs[1] = sealed(runs[1]);
	static const struct {
		const char *usage;
		double share;
	} cases[] = { { NULL, 0.125 }, { "workload,chip_hours\na,300\n", 0.125 },
		{ "workload,chip_hours\na,300\nb,0\n", 0.125 },
		{ "workload,chip_hours\na,300\nb,100\n", 0.1875 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct asked a = ask(runs, 2, cases[i].usage);
		assert_near(R(FLEET_TOTALS, 0, "share"), cases[i].share);
		assert_near(R(FLEET_BY_CHIP, 0, "share"), cases[i].share);
		assert_int_equal(a.report.by_hours, i == 3);
		fleet_free(a.fleet);
	}
}

/* A CPU is no chip, whatever the usage file says; it is told of, and ranked last. */
static void cpus_are_no_chips(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 2, 1), run("b", 10, 2) };
	runs[1].platform = runs[2].platform = STR("cpu");
	runs[1].chip = runs[2].chip = (struct str){ NULL, 0 };
	runs[1].gain_s = runs[2].gain_s = 1;
	runs[1].chips = 4;
	runs[1] = sealed(runs[1]);
	runs[2] = sealed(runs[2]);
	struct asked a = ask(runs, 3, "workload,chip_hours\na,100\nb,1000\n");
	assert_near(R(FLEET_TOTALS, 0, "workloads"), 2);
	assert_near(R(FLEET_TOTALS, 0, "cpu_workloads"), 1);
	assert_near(R(FLEET_TOTALS, 0, "chips"), 8);
	assert_near(R(FLEET_TOTALS, 0, "chip_hours_back"), 25);
	assert_near(R(FLEET_TOTALS, 0, "share"), 0.25);
	assert_true(a.report.by_hours);
	assert_str(T(FLEET_RANKING, 1, "workload"), "b");
	assert_true(isnan(R(FLEET_RANKING, 1, "chips_back")));
	assert_str(T(FLEET_BY_CHIP, 1, "group"), "cpu");
	assert_str(T(FLEET_BY_SIZE, 1, "group"), "CPUs only");
	assert_near(R(FLEET_RULES, 0, "workloads"), 2);
	assert_near(R(FLEET_RULES, 0, "chips_back"), 2);
	assert_int_equal(a.report.answers[FLEET_MOVERS].count, 0); /* on twice as many */
	fleet_free(a.fleet);
}

/* A rule costs what it did over the window, so that no rule gives back more than all of them do. */
static void rules_cost_means(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("a", 10, 1) };
	run_rules(&runs[0])->verdict = STR("pass");
	run_rules(&runs[0])->gain_s = runs[0].gain_s = 0;
	runs[0] = sealed(runs[0]);
	struct asked a = ask(runs, 2, NULL);
	assert_near(R(FLEET_TOTALS, 0, "chips_back"), 1);
	assert_near(R(FLEET_RULES, 0, "chips_back"), 1);
	fleet_free(a.fleet);
}

/* Of names that nobody has, no ratio and no rank is made; that they are not there can be told. */
static void usage_of_others(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("gone", 2, 1) };
	struct asked a = ask(runs, 2, "workload,chip_hours\ngone,100\nnobody,300\n");
	assert_false(a.report.has_usage);
	assert_near(R(FLEET_TOTALS, 0, "roofline_ratio"), 0.5);
	assert_near(R(FLEET_TOTALS, 0, "share"), 0.25);
	assert_near(R(FLEET_TOTALS, 0, "listed_workloads"), 2);
	assert_true(R(FLEET_TOTALS, 0, "billed_workloads") == 0);
	fleet_free(a.fleet);
}

static void usage_mistakes(void **state)
{
	(void)state;
	static const char *const wrong[][2] = { { "", "u:1: the first line" },
		{ "workload,hours\n", "u:1: the first line" },
		{ "workload,chip_hours\na,1e3x\n", "u:2: chip_hours is a number" },
		{ "workload,chip_hours\na,-1\n", "u:2: chip_hours is a number" },
		{ "workload,chip_hours\na,\"1,000\"\n", "not '1,000'" },
		{ "workload,chip_hours\na\n", "u:2: chip_hours is a number" },
		{ "workload,chip_hours\na,1,200\n", "u:2: more fields than the first line" },
		{ "workload,chip_hours\na,1e13\n", "u:2: chip_hours is a number from 0 to 1e+12" },
		{ "workload,chip_hours,price\na,1,1e7\n", "u:2: price is a number from 0 to" },
		{ "workload,chip_hours,Chip_Hours\na,1,2\n",
			"u:1: the first line names two columns chip_hours" },
		{ "workload;chip_hours\na;1\n", "with commas between them" },
		{ "workload,chip_hours\n\n", "no workload is listed" },
		{ "workload,chip_hours\n,1\n", "u:2: a line without a workload" },
		{ "workload,chip_hours\n\"a\n\",1\n", "u:2: a quote that does not end" },
		{ "workload,chip_hours\n\"a\"b,1\n", "u:2: text behind a quote" } };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct diag err;
		struct fleet *f = fleet_new(&keep, &err);
		assert_false(fleet_usage(f, STR("u"), str_from(wrong[i][0]), &err));
		assert_int_equal(err.id, DIAG_CHIP_HOURS);
		if (!str_contains(str_from(err.text), str_from(wrong[i][1])))
			fail_msg("%s", err.text);
		fleet_free(f);
	}
}

static struct run_facts unreadable(const char *profile)
{
	struct run_facts f;
	run_facts_clear(&f);
	f.profile = f.run = str_from(profile);
	f.workload = STR("w");
	f.captured = STR("2026-01-09T00:00:00.000Z");
	f.verdict = STR("error");
	f.error_id = STR("RL201");
	f.error = STR("cut short");
	return sealed(f);
}

static void coverage(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("a", 10, 1), run("a", 10, 1),
		run("b", 9, 1), unreadable("lost"), unreadable("mended"), run("c", 9, 1),
		run("old", 3, 1) };
	runs[2].profile = STR("a copy"); /* of the run before it */
	runs[3].verdict = STR("inconclusive");
	runs[6].profile = STR("mended");
	for (int i = 2; i < 7; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 8, NULL);
	assert_int_equal(a.report.answers[FLEET_COVERAGE].count, 3);
	assert_str(T(FLEET_COVERAGE, 0, "outcome"), "judged");
	assert_near(R(FLEET_COVERAGE, 0, "runs"), 3);
	assert_near(R(FLEET_COVERAGE, 0, "part"), 0.6);
	assert_str(T(FLEET_COVERAGE, 1, "outcome"), "inconclusive");
	assert_str(T(FLEET_COVERAGE, 2, "outcome"),
		"unreadable: bytes are not the protobuf message they should be");
	assert_str(T(FLEET_COVERAGE, 2, "example"), "cut short");
	assert_int_equal(a.report.answers[FLEET_RANKING].count, 2); /* not b, not old */
	fleet_free(a.fleet);
}

/* A run stands with the gate that kept most of its rules from judging, in that gate's words. */
static void gates(void **state)
{
	(void)state;
	static const char *const said[][3] = {
		{ "chip-known", "a CPU has no roofline", NULL },
		{ "copy-share", "not enough steps (1 of 1 would not pass)", "enough-steps" },
		{ "enough-steps", "1 step", NULL },
		{ "idle-gaps", "not enough steps", "enough-steps" },
		{ "padding-waste", "a CPU has no roofline", "chip-known" },
	};
	enum { RULES = sizeof(said) / sizeof(said[0]) };
	struct run_facts runs[] = { run("a", 9, 1), run("b", 9, 1) };
	runs[0].verdict = runs[1].verdict = STR("inconclusive");
	run_rule_count(&runs[0]) = 0;
	for (int i = 0; i < RULES; i++) {
		struct rule_facts *rule = run_facts_add(&runs[0], FACT_RULES, &keep);
		rule->rule = str_from(said[i][0]);
		rule->verdict = STR("inconclusive");
		rule->reason = str_from(said[i][1]);
		rule->closed_gate = str_from(said[i][2]);
	}
	runs[0] = sealed(runs[0]);
	runs[1] = sealed(runs[1]);
	struct asked a = ask(runs, 2, NULL);
	assert_int_equal(a.report.answers[FLEET_COVERAGE].count, 2);
	assert_str(T(FLEET_COVERAGE, 0, "outcome"), "inconclusive"); /* no gate */
	assert_str(T(FLEET_COVERAGE, 1, "outcome"), "inconclusive: enough-steps");
	assert_str(T(FLEET_COVERAGE, 1, "example"), "1 step");
	fleet_free(a.fleet);
}

/* Another judge's word counts only where this one has said nothing. */
static void judges(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("a", 9, 1), run("b", 9, 1) };
	runs[1].judge = runs[2].judge = STR("another");
	runs[1].gain_s = runs[2].gain_s = 1;
	runs[1] = sealed(runs[1]);
	runs[2] = sealed(runs[2]);
	struct asked a = ask(runs, 3, NULL);
	assert_str(T(FLEET_RANKING, 0, "workload"), "b");
	assert_near(R(FLEET_RANKING, 0, "share"), 1);
	assert_near(R(FLEET_RANKING, 1, "share"), 0.25);
	fleet_free(a.fleet);
}

/* Hosts that came later, or that a sample passed over, make no second run of it. */
static void parts_of_a_capture(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("a", 9, 2), run("a", 9, 4),
		run("a", 9, 8) };
	for (int i = 0; i < 4; i++) {
		runs[i].run = arena_fmt(&keep, "%d", i);
		runs[i].hosts = 1 + i;
	}
	runs[1].captured = STR("2026-01-09T00:00:20.000Z");
	runs[2].captured = STR("2026-01-09T01:00:00.000Z"); /* overwritten by the next capture */
	runs[3].captured = STR("2026-01-09T01:00:00.000Z");
	runs[3].judge = STR("another");
	for (int i = 0; i < 4; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 4, NULL);
	assert_near(R(FLEET_COVERAGE, 0, "runs"), 2);
	assert_near(R(FLEET_RANKING, 0, "step_time_s"), 3);
	fleet_free(a.fleet);
}

/* The run that is named is the one at the place that is named, the newest. */
static void quality(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("a", 10, 1), run("b", 10, 1) };
	static const char *const ids[] = { "2", "3", "1" }, *const places[] = { "x", "y", "z" };
	for (int i = 0; i < 3; i++) {
		runs[i].run = str_from(ids[i]);
		runs[i].profile = str_from(places[i]);
		runs[i].quality = i ? STR("chip-known") : STR("chip-known,hosts");
		runs[i] = sealed(runs[i]);
	}
	struct asked a = ask(runs, 3, NULL);
	const struct fleet_answer *answer = &a.report.answers[FLEET_QUALITY];
	assert_int_equal(answer->count, 2);
	assert_str(T(FLEET_QUALITY, 0, "check"), "chip-known");
	assert_near(R(FLEET_QUALITY, 0, "runs"), 3);
	assert_near(R(FLEET_QUALITY, 0, "workloads"), 2);
	assert_str(answer->rows[0].run, "3");
	assert_str(answer->rows[0].profile, "y");
	assert_str(answer->rows[1].run, "2");
	fleet_free(a.fleet);
}

static void movers_and_problems(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 2, 1), run("a", 9, 1.25), run("b", 2, 1),
		run("b", 9, 2), run("c", 2, 1), run("c", 9, 1), run("d", 2, 1), run("d", 9, 1) };
	runs[3].chips = 16; /* on other chips: no mover */
	run_rules(&runs[4])->verdict = STR("pass");
	run_rules(&runs[7])->verdict = STR("inconclusive"); /* not fixed: nobody knows */
	for (int i = 0; i < 8; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 8, NULL);
	assert_int_equal(a.report.answers[FLEET_MOVERS].count, 1);
	assert_near(R(FLEET_MOVERS, 0, "change"), 0.25);
	assert_near(R(FLEET_MOVERS, 0, "chips_lost"), 8 * 0.2);
	assert_int_equal(a.report.answers[FLEET_PROBLEMS].count, 1);
	assert_str(T(FLEET_PROBLEMS, 0, "state"), "new");
	assert_str(T(FLEET_PROBLEMS, 0, "workload"), "c");
	assert_near(R(FLEET_PROBLEMS, 0, "chips"), 2);
	fleet_free(a.fleet);
}

/*
 * Twice the batch that no job file tells is other work, in movers and at the change of a level;
 * that and half as long again is slower, and so is what takes longer for the same.
 */
static void other_work(void **state)
{
	(void)state;
	static const struct {
		double step_s, work_s;
		const char *state;
	} cases[] = { { 2, 2, "other-work" }, { 3, 2, "slower" }, { 2, 1, "slower" },
		{ 0.5, 0.5, "other-work" }, { 0.5, 1, "faster" }, { 1.4, 2, "other-work" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run_facts runs[8];
		for (int day = 0; day < 8; day++) {
			bool is_after = day >= 4;
			double scatter = 1 + 0.002 * (day % 3);
			runs[day] = run("w", (is_after ? 5 : 2) + day,
				(is_after ? cases[i].step_s : 1) * scatter);
			runs[day].roofline_ratio_lo =
				0.5 * (is_after ? cases[i].work_s : 1) / runs[day].step_time_s;
			runs[day] = sealed(runs[day]);
		}
		struct asked a = ask(runs, 8, NULL);
		bool is_other = str_eq(str_from(cases[i].state), STR("other-work"));
		assert_int_equal(a.report.answers[FLEET_MOVERS].count, 1);
		assert_true(str_eq(T(FLEET_MOVERS, 0, "state"), str_from(cases[i].state)));
		assert_true(fabs(R(FLEET_MOVERS, 0, "work_change") - cases[i].work_s + 1) < 1e-3);
		assert_true(isnan(R(FLEET_MOVERS, 0, "chips_lost")) == is_other);
		assert_near(R(FLEET_TOTALS, 0, "other_work"), is_other);
		assert_near(R(FLEET_TOTALS, 0, "slower") + R(FLEET_TOTALS, 0, "faster"), !is_other);
		assert_int_equal(a.report.answers[FLEET_CHANGES].count, 1);
		assert_true(fabs(R(FLEET_CHANGES, 0, "work_change") - cases[i].work_s + 1) < 1e-3);
		fleet_free(a.fleet);
	}
}

/* Means that lie 1.3% apart in a history that scatters by as much; and 30%, which it does not. */
static void noise_is_no_mover(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		double more = i ? 1.3 : 1;
		struct run_facts runs[] = { run("w", 1, 0.99), run("w", 2, 1), run("w", 3, 1.02),
			run("w", 8, more), run("w", 9, more * 1.03), run("w", 10, more * 1.02) };
		struct asked a = ask(runs, 6, NULL);
		assert_int_equal(a.report.answers[FLEET_MOVERS].count, i);
		fleet_free(a.fleet);
	}
}

/* What an expired waiver no longer excuses stands first; a rule that merely fails does not. */
static void waivers(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 9, 1), run("b", 9, 1), run("c", 9, 1) };
	run_rules(&runs[0])->verdict = STR("waived");
	run_rules(&runs[0])->note = STR("me: why");
	run_rules(&runs[0])->waiver_ends = STR("2026-01-20");
	run_rules(&runs[1])->note = STR("no longer");
	run_rules(&runs[1])->waiver_ends = STR("2026-01-08");
	run_rules(&runs[2])->note = STR("beyond the ceiling of the waiver by me: x < 1");
	for (int i = 0; i < 3; i++)
		runs[i] = sealed(runs[i]);
	struct asked a = ask(runs, 3, NULL);
	assert_int_equal(a.report.answers[FLEET_WAIVERS].count, 2);
	assert_str(T(FLEET_WAIVERS, 0, "workload"), "b");
	assert_str(T(FLEET_WAIVERS, 0, "ends"), "2026-01-08");
	assert_near(R(FLEET_WAIVERS, 0, "days_left"), -6);
	assert_str(T(FLEET_WAIVERS, 1, "workload"), "a");
	assert_near(R(FLEET_WAIVERS, 1, "days_left"), 6);
	fleet_free(a.fleet);
}

static void change_points(void **state)
{
	(void)state;
	struct run_facts runs[14];
	for (int i = 0; i < 14; i++)
		runs[i] = run("a", i + 1, i < 10 ? 1 + i % 2 * 0.001 : 1.5);
	struct asked a = ask(runs, 14, NULL);
	assert_int_equal(a.report.answers[FLEET_CHANGES].count, 1);
	assert_str(T(FLEET_CHANGES, 0, "since"), "2026-01-11T00:00:00.000Z");
	assert_near(R(FLEET_CHANGES, 0, "is_now"), 1);
	assert_true(fabs(R(FLEET_CHANGES, 0, "change") - 0.499) < 0.001);
	assert_int_equal(a.report.answers[FLEET_HISTORY].count, 14);
	fleet_free(a.fleet);
}

/* A question has a dozen caches and sorts, which are small however many runs there are. */
static void memory(void **state)
{
	(void)state;
	struct diag err;
	struct fleet_report report;
	struct fleet *fleet = fleet_new(&keep, &err);
	struct arena of_runs = arena_new(ARENA_SCRATCH_BYTES);
	sqlite3_memory_highwater(1);
	for (int i = 0; i < 16000; i++) {
		struct arena scratch = of_runs;
		struct str name = arena_fmt(&scratch, "w%d", i % 800),
			   when = arena_fmt(
				   &scratch, "2026-01-%02dT%02d:00:00.000Z", 2 + i % 13, i / 800);
		struct run_facts f = fixture_run(&scratch, name, when, 1 + i % 7);
		assert_true(fleet_take(fleet, &f, &err));
	}
	assert_true(fleet_ask(fleet, NULL, &week, STR("judge"), &keep, &report, &err));
	assert_int_equal(report.answers[FLEET_RANKING].total, 800);
	assert_true(sqlite3_memory_highwater(0) < 12 << 20);
	arena_free(&of_runs);
	fleet_free(fleet);
}

static void nothing_at_all(void **state)
{
	(void)state;
	struct asked a = ask(NULL, 0, NULL);
	for (int id = 0; id < FLEET_COUNT; id++)
		assert_int_equal(a.report.answers[id].count, 0);
	fleet_free(a.fleet);
}

/* A column that the SQL has and the table here has not, or the other way round. */
static void columns_agree(void **state)
{
	(void)state;
	struct run_facts runs[] = { run("a", 2, 1), run("a", 9, 1.25) };
	runs[1].quality = STR("hosts,steps");
	runs[1] = sealed(runs[1]);
	struct asked a = ask(runs, 2, NULL);
	assert_str(T(FLEET_QUALITY, 1, "check"), "steps");
	for (int id = 0; id < FLEET_COUNT; id++) {
		const struct fleet_answer *answer = &a.report.answers[id];
		for (ptrdiff_t i = 0; i < answer->count; i++)
			if (answer->rows[i].profile.p &&
				!str_starts(answer->rows[i].profile, STR("a/2026-")))
				fail_msg("%s: %.*s", answer->question->name.p,
					STR_ARG(answer->rows[i].profile));
	}
	fleet_free(a.fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals),
		cmocka_unit_test(roofline_range),
		cmocka_unit_test(slow_machines),
		cmocka_unit_test(goodput),
		cmocka_unit_test(trend),
		cmocka_unit_test(other_chips),
		cmocka_unit_test(usage),
		cmocka_unit_test(usage_of_others),
		cmocka_unit_test(money_of_some_hours),
		cmocka_unit_test(weights),
		cmocka_unit_test(cpus_are_no_chips),
		cmocka_unit_test(rules_cost_means),
		cmocka_unit_test(usage_mistakes),
		cmocka_unit_test(coverage),
		cmocka_unit_test(gates),
		cmocka_unit_test(judges),
		cmocka_unit_test(parts_of_a_capture),
		cmocka_unit_test(quality),
		cmocka_unit_test(movers_and_problems),
		cmocka_unit_test(other_work),
		cmocka_unit_test(noise_is_no_mover),
		cmocka_unit_test(waivers),
		cmocka_unit_test(change_points),
		cmocka_unit_test(memory),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(columns_agree),
	};
	return cmocka_run_group_tests_name("fleet", tests, keep_begin, keep_end);
}
