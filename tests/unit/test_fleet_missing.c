/* store/fleet, store/fleet_file: silence is told once, and nobody is accused falsely. */
#include <math.h>

#include "base/when.h"
#include "report/fleet.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

static struct str day_text(int day) /* counted from 1 January on */
{
	return when_text(
		&keep, INT64_C(1767225600) * 1000000000 + (int64_t)(day - 1) * 86400 * 1000000000);
}

static struct run_facts capture(const char *workload, int day, int hour)
{
	struct str captured = arena_fmt(
		&keep, "%.*sT%02d:00:00.000Z", STR_ARG(str_head(day_text(day), 10)), hour);
	return fixture_run(&keep, str_from(workload), captured, 1);
}

static struct fleet_report ask(
	const struct run_facts *runs, ptrdiff_t count, int end, const char *file, const char *usage)
{
	const struct fleet_window window = { day_text(end - 7), day_text(end), day_text(end - 14) };
	struct fleet_file f = { 0 };
	struct fleet_report r = { 0 };
	struct diag err;
	struct fleet *fleet = fleet_new(&keep, &err);
	bool ok = fleet && (!file || fleet_file_parse(STR("f"), str_from(file), &keep, &f, &err)) &&
		  fleet_expect(fleet, &f, &err);
	for (ptrdiff_t i = 0; ok && i < count; i++)
		ok = fleet_take(fleet, &runs[i], &err);
	ok = ok && (!usage || fleet_usage(fleet, STR("u"), str_from(usage), &err)) &&
	     fleet_ask(fleet, NULL, &window, STR("judge"), &keep, &r, &err);
	if (!ok)
		fail_msg("%s", err.text);
	fleet_free(fleet);
	return r;
}

/* "what workload due-day new" of each row, a line each. */
static struct str told(const struct fleet_report *r)
{
	const struct fleet_answer *a = &r->answers[FLEET_MISSING];
	struct out *o = out_memory(&keep);
	for (ptrdiff_t i = 0; i < a->count; i++) {
		struct str due = str_head(fleet_cell(a, i, STR("due"))->text, 10);
		out_fmt(o, "%.*s %.*s%s%.*s %s\n", STR_ARG(fleet_cell(a, i, STR("what"))->text),
			STR_ARG(fleet_cell(a, i, STR("workload"))->text), due.len ? " " : "",
			STR_ARG(due), fleet_cell(a, i, STR("is_new"))->real > 0 ? "new" : "known");
	}
	return out_text(o);
}

#define assert_told(r, z)                                                                          \
	do {                                                                                       \
		struct str got_ = told(r);                                                         \
		if (!str_eq(got_, STR(z)))                                                         \
			fail_msg("\n%.*s", STR_ARG(got_));                                         \
	} while (0)

/*
 * Five weeks that end on day 36: `weekly` always came, `gone` in the four weeks before, `young` in
 * three of them; `nightly` lacks one night, and `moved` came a day later than it did.
 */
enum { END = 36, MOST = 80 };
static ptrdiff_t five_weeks(struct run_facts *runs)
{
	ptrdiff_t n = 0;
	for (int week = 0; week < 5; week++) {
		runs[n++] = capture("weekly", 4 + 7 * week, 3);
		if (week < 4)
			runs[n++] = capture("gone", 4 + 7 * week, 3);
		if (week > 0 && week < 4)
			runs[n++] = capture("young", 4 + 7 * week, 3);
		runs[n++] = capture("moved", 3 + 7 * week + (week == 4), 3);
		for (int night = 1; night < 8; night++)
			if (week < 4 || night != 4)
				runs[n++] = capture("nightly", 7 * week + night, night % 2 ? 4 : 2);
	}
	assert_true(n <= MOST);
	return n;
}

static void silence_is_told_once(void **state)
{
	(void)state;
	struct run_facts runs[MOST];
	ptrdiff_t n = five_weeks(runs);
	struct fleet_report r =
		ask(runs, n, END, NULL, "workload,chip_hours,price\nghost,10,2\nweekly,5,1\n");
	assert_told(&r, "workload gone new\nnight nightly 2026-02-01 new\nbilled ghost known\n");
	const struct fleet_answer *a = &r.answers[FLEET_MISSING];
	assert_true(
		str_eq(fleet_cell(a, 0, STR("last_seen"))->text, STR("2026-01-25T03:00:00.000Z")));
	assert_true(str_eq(fleet_cell(a, 0, STR("owner"))->text, STR("team \"a\"")));
	assert_true(fleet_cell(a, 2, STR("dollars"))->real == 20);
	assert_true(str_eq(fleet_said(&r, SAID_missing, &keep),
		STR("1 workload stopped; 1 night is missing")));
	assert_false(fleet_is_silent(&r));
	/* A week later nothing came: what was told stays in the list, and is not told again. */
	r = ask(runs, n, END + 7, NULL, NULL);
	assert_told(&r, "workload moved new\nworkload nightly new\nworkload weekly new\n"
			"workload gone known\n");
	assert_true(fleet_is_silent(&r));
}

static void nothing_is_missing(void **state)
{
	(void)state;
	struct run_facts runs[MOST];
	ptrdiff_t n = 0;
	for (int day = 1; day < END; day++) /* each night at another hour */
		runs[n++] = capture("nightly", day, day * 5 % 9);
	struct fleet_report r = ask(runs, n, END, NULL, NULL);
	assert_told(&r, "");
	assert_false(fleet_said(&r, SAID_missing, &keep).p != NULL);
}

static void what_is_expected(void **state)
{
	(void)state;
	struct run_facts runs[MOST];
	ptrdiff_t n = five_weeks(runs);
	static const char file[] = "version: 1\n"
				   "expected:\n"
				   "  - { workload: weekly }\n"
				   "  - { workload: nightly, every: 1d }\n"
				   "  - { workload: 'absent-*' }\n"
				   "  - { workload: gone }\n";
	struct fleet_report r = ask(runs, n, END, file, NULL);
	assert_told(&r, "expected absent-* new\nexpected gone new\nexpected nightly new\n"
			"night nightly 2026-02-01 new\n");
	const struct fleet_answer *a = &r.answers[FLEET_MISSING];
	assert_true(fleet_cell(a, 2, STR("came"))->real == 6);
	assert_true(fleet_cell(a, 2, STR("wanted"))->real == 7);
	assert_true(fleet_is_silent(&r));
}

static void snoozed(void **state)
{
	(void)state;
	struct run_facts runs[MOST];
	ptrdiff_t n = five_weeks(runs);
	static const char file[] =
		"version: 1\n"
		"expected: [ { workload: gone } ]\n"
		"snoozed:\n"
		"  - { workload: 'g*', until: 2026-02-05, reason: moved }\n"
		"  - { workload: nightly, until: 2026-02-04, reason: over by the window's end }\n";
	struct fleet_report r = ask(runs, n, END, file, NULL);
	assert_told(&r, "night nightly 2026-02-01 new\nexpected gone known\n");
	assert_false(fleet_is_silent(&r));
}

/* A workload that was renamed goes on under its new name. */
static void renamed(void **state)
{
	(void)state;
	struct run_facts runs[] = { capture("old", 4, 3), capture("old", 11, 3),
		capture("old", 18, 3), capture("old", 25, 3), capture("new", 32, 3) };
	struct fleet_report r = ask(runs, 5, END, NULL, NULL);
	assert_told(&r, "workload old new\n");
	r = ask(runs, 5, END, "version: 1\naliases: [ { from: old, to: new } ]\n", NULL);
	assert_told(&r, "");
	assert_int_equal(r.answers[FLEET_TOTALS].count, 2);
}

/* What a host with a clock that is ahead has dated is told, and moves nothing. */
static void dated_later(void **state)
{
	(void)state;
	struct run_facts runs[] = { capture("w", 32, 3), capture("w", END + 8, 3) };
	struct fleet_report r = ask(runs, 2, END, NULL, NULL);
	assert_non_null(fleet_said(&r, SAID_later, &keep).p);
	r = ask(runs, 2, END + 2, NULL, NULL);
	assert_null(fleet_said(&r, SAID_later, &keep).p);
}

static void mistakes(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "f: the file is empty" },
		{ "expected: []\n", "a fleet file begins with 'version: 1'" },
		{ "version: 2\n", "fleet files of version 1" },
		{ "version: 1\nexpect: []\n", "did you mean 'expected'" },
		{ "version: 1\nexpected: {}\n", "expected is a list" },
		{ "version: 1\nexpected: [ { workload: a, every: day } ]\n", "like 1d or 12h" },
		{ "version: 1\nsnoozed: [ { workload: a, until: soon, reason: r } ]\n",
			"last day" },
		{ "version: 1\nsnoozed: [ { workload: a, until: 2026-01-01 } ]\n",
			"a snoozed workload needs 'reason'" },
		{ "version: 1\naliases: [ { from: a, to: b }, { from: b, to: c } ]\n",
			"'b' is itself an alias of 'c'" },
		{ "version: 1\naliases: [ { from: a, to: b }, { from: a, to: c } ]\n",
			"'a' has two aliases" },
		{ "version: 1\nbudgets: [ { owner: a } ]\n", "either dollars or chip_hours" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fleet_file f;
		struct diag err;
		assert_false(fleet_file_parse(STR("f"), str_from(cases[i].text), &keep, &f, &err));
		assert_int_equal(err.id, DIAG_FLEET_FILE);
		if (str_find(str_from(err.text), str_from(cases[i].says)) < 0)
			fail_msg("%s", err.text);
	}
}

/* ---- like with like -------------------------------------------------------------------------- */

static struct run_facts sealed(struct run_facts f)
{
	run_facts_seal(&f, &keep);
	return f;
}

static double total(const struct fleet_report *r, const char *column)
{
	return fleet_cell(&r->answers[FLEET_TOTALS], 0, str_from(column))->real;
}

/* Twice the batch takes twice as long; that is no regression, and no other level. */
static void another_batch_is_another_step(void **state)
{
	(void)state;
	struct run_facts runs[MOST];
	ptrdiff_t n = 0;
	for (int day = 1; day < END; day++) {
		runs[n] = capture("w", day, 3);
		runs[n].global_batch = day < 30 ? 256 : 512;
		runs[n].step_time_s = day < 30 ? 1 : 2;
		runs[n] = sealed(runs[n]);
		n++;
	}
	struct fleet_report r = ask(runs, n, END, NULL, NULL);
	assert_int_equal(r.answers[FLEET_MOVERS].count, 0);
	assert_int_equal(r.answers[FLEET_CHANGES].count, 0);
	assert_true(total(&r, "unlike_before") == 1);
	for (ptrdiff_t i = 0; i < n; i++) {
		runs[i].global_batch = 256;
		runs[i] = sealed(runs[i]);
	}
	r = ask(runs, n, END, NULL, NULL);
	assert_int_equal(r.answers[FLEET_MOVERS].count, 1);
	assert_int_equal(r.answers[FLEET_CHANGES].count, 1);
}

/* Where the judge changed, it is not known what made a rule fail. */
static void another_judge_makes_no_problem(void **state)
{
	(void)state;
	struct run_facts runs[] = { capture("w", 25, 3), capture("w", 32, 3) };
	run_rules(&runs[0])->verdict = STR("pass");
	runs[0] = sealed(runs[0]);
	struct fleet_report r = ask(runs, 2, END, NULL, NULL);
	assert_true(total(&r, "new_problems") == 1 && total(&r, "rejudged") == 0);
	runs[1].judge = STR("stricter");
	runs[1] = sealed(runs[1]);
	r = ask(runs, 2, END, NULL, NULL);
	assert_true(total(&r, "new_problems") == 0 && total(&r, "rejudged") == 1);
	assert_true(str_find(fleet_said(&r, SAID_problems, &keep),
			    STR("the judge changed for 1 workload")) >= 0);
}

/* An archive has one capture of each workload; the real one keeps its own. */
static void copies_take_nothing(void **state)
{
	(void)state;
	struct run_facts runs[] = { capture("runs/w", 30, 3), capture("runs/w", 31, 3),
		capture("runs/w", 32, 3), capture("archive/w", 31, 3) };
	runs[3].run = runs[1].run;
	runs[3] = sealed(runs[3]);
	struct fleet_report r = ask(runs, 4, END, NULL, NULL);
	assert_int_equal(r.answers[FLEET_RANKING].count, 1);
	assert_true(fleet_cell(&r.answers[FLEET_RANKING], 0, STR("runs"))->real == 3);
}

/* ---- whose it is ----------------------------------------------------------------------------- */

#define BUDGETS                                                                                    \
	"version: 1\nbudgets:\n  - { owner: o'neill, dollars: 5 }\n  - { chip_hours: 100 }\n"

static struct fleet_report ask_owner(const char *says, const char *owner)
{
	const struct fleet_window window = { day_text(END - 7), day_text(END), day_text(END - 14) };
	struct run_facts runs[] = { capture("a", 32, 3), capture("b", 33, 3) };
	struct fleet_file file;
	struct fleet_report r = { 0 };
	struct diag err;
	runs[1].owner = STR("o'neill");
	runs[1] = sealed(runs[1]);
	struct fleet *fleet = fleet_new(&keep, &err);
	bool ok = fleet_file_parse(STR("f"), str_from(says), &keep, &file, &err) &&
		  fleet_expect(fleet, &file, &err) &&
		  fleet_usage(fleet, STR("u"), STR("workload,chip_hours,price\na,40,1\nb,40,1\n"),
			  &err) &&
		  fleet_take(fleet, &runs[0], &err) && fleet_take(fleet, &runs[1], &err) &&
		  fleet_ask(fleet, NULL, &window, STR("judge"), &keep, &r, &err) &&
		  (!owner || fleet_ask_owner(fleet, str_from(owner), &keep, &r, &err));
	if (!ok)
		fail_msg("%s", err.text);
	fleet_free(fleet);
	return r;
}

static void one_owner(void **state)
{
	(void)state;
	struct fleet_report r = ask_owner(BUDGETS, NULL);
	assert_true(total(&r, "workloads") == 2);
	assert_true(total(&r, "listed_hours") == 80);
	r = ask_owner(BUDGETS, "o'neill");
	assert_true(total(&r, "workloads") == 1);
	assert_true(total(&r, "listed_hours") == 40);
	assert_true(
		str_eq(fleet_cell(&r.answers[FLEET_RANKING], 0, STR("workload"))->text, STR("b")));
	assert_int_equal(r.answers[FLEET_MISSING].count, 0);
}

/* A quarter of forty hours at a dollar is ten dollars; of all, twenty hours. */
static void budgets(void **state)
{
	(void)state;
	struct fleet_report r = ask_owner(BUDGETS, NULL);
	assert_int_equal(r.answers[FLEET_BUDGETS].count, 2);
	assert_true(str_eq(fleet_said(&r, SAID_budget, &keep),
		STR("Over budget: o'neill could have $10.00 back, and may have $5.00")));
	assert_true(fleet_cell(&r.answers[FLEET_BUDGETS], 1, STR("chip_hours_back"))->real == 20);
	assert_true(fleet_cell(&r.answers[FLEET_BUDGETS], 1, STR("is_broken"))->real == 0);
}

/* Misspelt once in a budget, which would never break, and once in a route. */
static void owners_without_runs(void **state)
{
	(void)state;
	const char *says =
		"version: 1\nbudgets:\n  - { owner: oneill, dollars: 5 }\n"
		"routes:\n  - { owner: o'neill, notify: 'slack:A' }\n"
		"  - { owner: speech, notify: 'slack:B' }\n"
		"snoozed:\n  - { workload: speech, until: 2999-12-31, reason: on leave }\n";
	struct fleet_report r = ask_owner(says, NULL);
	const struct fleet_answer *missing = &r.answers[FLEET_MISSING];
	assert_int_equal(missing->count, 2);
	assert_true(str_eq(fleet_cell(missing, 0, STR("workload"))->text, STR("oneill")));
	assert_true(str_eq(fleet_cell(missing, 0, STR("owner"))->text, STR("oneill")));
	assert_true(str_eq(fleet_cell(missing, 1, STR("snoozed_until"))->text, STR("2999-12-31")));
	assert_true(str_eq(fleet_absence_text(missing, 0, &keep),
		STR("the fleet file names this owner, and no usable run does")));
	assert_true(str_eq(fleet_said(&r, SAID_missing, &keep),
		STR("1 owner in the fleet file has no usable run")));
	assert_true(fleet_is_silent(&r));
	r = ask_owner(says, "o'neill");
	assert_int_equal(r.answers[FLEET_MISSING].count, 0);
	assert_false(fleet_is_silent(&r));
	r = ask_owner(says, "speech");
	assert_int_equal(r.answers[FLEET_MISSING].count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_is_told_once),
		cmocka_unit_test(nothing_is_missing),
		cmocka_unit_test(what_is_expected),
		cmocka_unit_test(snoozed),
		cmocka_unit_test(renamed),
		cmocka_unit_test(dated_later),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(another_batch_is_another_step),
		cmocka_unit_test(another_judge_makes_no_problem),
		cmocka_unit_test(copies_take_nothing),
		cmocka_unit_test(one_owner),
		cmocka_unit_test(budgets),
		cmocka_unit_test(owners_without_runs),
	};
	return cmocka_run_group_tests_name("fleet-missing", tests, keep_begin, keep_end);
}
