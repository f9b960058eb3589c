/* report/fleet: what facts say stays text in every document, and links lead to pages that exist. */
#include <math.h>

#include "base/json.h"
#include "report/fleet_view.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

#define LINE_BREAK "two\nlines"
#define HOSTILE	   "</style><script>alert(1)</script>|`\"\x1b[31m" LINE_BREAK

static const struct fleet_window week = { STR_INIT("2026-01-08T00:00:00.000Z"),
	STR_INIT("2026-01-15T00:00:00.000Z"), STR_INIT("2026-01-01T00:00:00.000Z") };

/* A run that somebody would have; no text of it is hostile. */
static struct run_facts plain_run(const char *workload)
{
	return fixture_run(&keep, str_from(workload), STR("2026-01-09T00:00:00.000Z"), 1);
}

static struct fleet_report report_on(struct run_facts *runs, ptrdiff_t count, const char *usage)
{
	struct diag err;
	struct fleet_report r;
	struct fleet *fleet = fleet_new(&keep, &err);
	assert_non_null(fleet);
	for (ptrdiff_t i = 0; i < count; i++) {
		run_facts_seal(&runs[i], &keep);
		assert_true(fleet_take(fleet, &runs[i], &err));
	}
	if (usage && !fleet_usage(fleet, STR("u"), str_from(usage), &err))
		fail_msg("%s", err.text);
	if (!fleet_ask(fleet, NULL, &week, STR("judge"), &keep, &r, &err))
		fail_msg("%s", err.text);
	r.tool_version = STR("0");
	fleet_free(fleet);
	return r;
}

static void take(struct fleet *fleet, const char *workload, int day, double step_time_s)
{
	struct diag err;
	struct str captured = arena_fmt(&keep, "2026-01-%02dT00:00:00.000Z", day);
	struct run_facts f = fixture_run(&keep, str_from(workload), captured, step_time_s);
	f.owner = f.model = f.chip = f.quality = STR(HOSTILE);
	run_rules(&f)->rule = run_rules(&f)->title = run_rules(&f)->message = STR(HOSTILE);
	run_facts_seal(&f, &keep);
	assert_true(fleet_take(fleet, &f, &err));
}

static struct fleet_report report_of(const char *workload)
{
	struct diag err;
	struct fleet_report r;
	struct fleet *fleet = fleet_new(&keep, &err);
	assert_non_null(fleet);
	for (int day = 1; day < 14; day++)
		take(fleet, workload, day, day < 9 ? 1 : 1.5);
	if (!fleet_ask(fleet, NULL, &week, STR("judge"), &keep, &r, &err))
		fail_msg("%s", err.text);
	r.tool_version = STR("0");
	fleet_free(fleet);
	return r;
}

static struct str page_of(const struct fleet_report *r, const struct fleet_pages *pages)
{
	struct diag err;
	struct out *o = out_memory(&keep);
	struct doc_template *t = report_fleet_load((struct str){ NULL, 0 }, &keep, &err);
	if (!t)
		fail_msg("%s", err.text);
	report_fleet_html(r, pages, t, &keep, o);
	return out_text(o);
}

static void stays_text(void **state)
{
	(void)state;
	const struct fleet_pages none = { 0 };
	struct fleet_report r = report_of(HOSTILE);
	struct out *markdown = out_memory(&keep), *plain = out_memory(&keep);
	report_fleet_markdown(&r, &keep, markdown);
	report_fleet_text(&r, &keep, plain);
	struct str page = page_of(&r, &none);
	assert_true(str_contains(page, STR("&lt;script&gt;")));
	assert_false(str_contains(page, STR("<script")));
	assert_true(str_contains(out_text(markdown), STR("\\<script")));
	assert_false(str_contains(out_text(markdown), STR("><script")));
	assert_false(str_contains(page, STR("\x1b")));
	assert_false(str_contains(out_text(markdown), STR("\x1b")));
	assert_false(str_contains(out_text(plain), STR("\x1b")));
	assert_false(str_contains(out_text(plain), STR(LINE_BREAK)));
}

/* A job file names the owner, and an export is opened in a spreadsheet. */
static void csv_has_no_formula(void **state)
{
	(void)state;
	struct fleet_report r = report_of("=HYPERLINK(\"http://x\")");
	struct out *o = out_memory(&keep);
	report_fleet_csv(&r, &keep, o);
	assert_true(
		str_contains(out_text(o), STR("\n1,\"'=HYPERLINK(\"\"http://x\"\")\",\"</style>")));
	assert_true(str_contains(out_text(o), STR(",\"'=HYPERLINK(\"\"http://x\"\")/2026-01")));
	assert_false(str_contains(out_text(o), STR("\"=")));
}

static void json_is_json(void **state)
{
	(void)state;
	struct diag err;
	struct fleet_report r = report_of(HOSTILE);
	struct out *o = out_memory(&keep);
	report_fleet_json(&r, &keep, o);
	cJSON *root = json_parse(STR("r"), out_text(o), &err);
	if (!root)
		fail_msg("%s", err.text);
	for (int id = 0; id < FLEET_COUNT; id++) {
		const cJSON *answer =
			cJSON_GetObjectItemCaseSensitive(root, fleet_questions[id].name.p);
		assert_int_equal(cJSON_GetArraySize(answer), r.answers[id].count);
	}
	cJSON_Delete(root);
}

static void links(void **state)
{
	(void)state;
	struct fleet_pages pages = { .dir = STR("50% of/runs") };
	struct fleet_report r = report_of("w");
	assert_false(str_contains(page_of(&r, &pages), STR("href=\"./")));
	map_put(&pages.runs, r.answers[FLEET_RANKING].rows[0].run, 0, &keep);
	struct str page = page_of(&r, &pages);
	assert_true(str_contains(page, STR("href=\"./50%25%20of/runs/w-2026-01-13T00-00-00.000Z"
					   ".html\"")));
}

static void page_names(void **state)
{
	(void)state;
	assert_true(str_eq(fleet_page_name(STR("../../x"), &keep), STR("..-..-x.html")));
	assert_true(str_eq(fleet_page_name(STR("1a2b"), &keep), STR("1a2b.html")));
}

/* Two levels and thirteen runs. */
static void history_is_drawn(void **state)
{
	(void)state;
	const struct fleet_pages none = { 0 };
	struct fleet_report r = report_of("w");
	struct str page = page_of(&r, &none), rest = page, head;
	int dots = 0;
	assert_int_equal(r.answers[FLEET_CHANGES].count, 1);
	while (str_cut(rest, '<', &head, &rest))
		dots += str_starts(head, STR("circle class=\"f-hidden\""));
	assert_int_equal(dots, 13);
}

/* In a table a column has words for its head, not a name of the JSON. */
static void heads_are_words(void **state)
{
	(void)state;
	struct fleet_report r = report_of("w");
	struct out *o = out_memory(&keep);
	for (int id = 0; id < FLEET_COUNT; id++) {
		const struct fleet_question *q = &fleet_questions[id];
		for (ptrdiff_t i = 0; id != FLEET_TOTALS && i < q->column_count; i++)
			if (strchr(fleet_head(q->columns[i].name).label, '_'))
				fail_msg("%s: %s", q->name.p, q->columns[i].name.p);
	}
	report_fleet_markdown(&r, &keep, o);
	assert_true(str_contains(out_text(o), STR("| recoverable |")));
	assert_true(str_contains(
		out_text(o), STR("0 problems new, 0 fixed; 1 workload slower, 0 faster.")));
	assert_true(str_contains(out_text(o), STR("| +50.0% |")));
}

static void large_numbers(void **state)
{
	(void)state;
	static const struct {
		double value;
		enum unit unit;
		const char *text;
	} cases[] = { { 999, UNIT_COUNT, "999" }, { 9999, UNIT_COUNT, "9,999" },
		{ 12345, UNIT_COUNT, "12,345" }, { -1234567, UNIT_DOLLARS, "-$1,234,567" },
		{ 12.5, UNIT_COUNT, "12.5" }, { 1e18, UNIT_COUNT, "1e+18" },
		{ (double)NAN, UNIT_COUNT, "unknown" } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = fleet_number_text(cases[i].value, cases[i].unit, &keep);
		if (!str_eq(text, str_from(cases[i].text)))
			fail_msg("%s: %.*s", cases[i].text, STR_ARG(text));
	}
}

static struct str markdown_of(const struct fleet_report *r)
{
	struct out *o = out_memory(&keep);
	report_fleet_markdown(r, &keep, o);
	return out_text(o);
}

static void assert_says(struct str text, const char *what)
{
	if (!str_contains(text, str_from(what)))
		fail_msg("no '%s' in: %.*s", what, STR_ARG(text));
}

/* Money stands beside the hours that it is of. */
static void money_is_of_its_hours(void **state)
{
	(void)state;
	struct run_facts runs[] = { plain_run("a"), plain_run("b"), plain_run("c") };
	struct fleet_report r = report_on(runs, 3, "workload,chip_hours,price\na,100,2\nb,40,\n");
	struct str text = markdown_of(&r);
	assert_says(text,
		"give back the work of 6 of 24 chips; 35 of 140 chip-hours of the 2 workloads in "
		"the usage file, $50.00 of $200.00 for the 25 of them that have a "
		"price.");
	assert_says(text, "| TPU v5e | 25.0% | 6 of 24 | 35 | \xe2\x89\xa5 \\$");
	r = report_on(runs, 3, "workload,chip_hours,price\na,100,2\n");
	assert_says(markdown_of(&r), "25 of 100 chip-hours of the one workload in the usage "
				     "file, $50.00");
	assert_false(str_contains(markdown_of(&r), STR("for the 25")));
}

static void cpus_are_told_apart(void **state)
{
	(void)state;
	struct run_facts runs[] = { plain_run("a"), plain_run("b") };
	runs[1].platform = STR("cpu");
	runs[1].chip = (struct str){ NULL, 0 };
	struct fleet_report r = report_on(runs, 2, NULL);
	struct str text = markdown_of(&r);
	assert_says(text, "of 8 chips. Both runs could be judged.");
	assert_says(text, "1 workload ran on CPUs only, which count for no chips.");
	assert_says(text, "| CPU |");
	r = report_on(&runs[1], 1, NULL);
	assert_says(markdown_of(&r), "The only run could be judged. 1 workload ran on CPUs only");
	assert_false(str_contains(markdown_of(&r), STR("All fixes")));
}

/* A clock that is ahead moves the window away from all other runs. */
static void empty_window_before_is_told(void **state)
{
	(void)state;
	struct run_facts runs[] = { plain_run("a"), plain_run("b") };
	runs[1].captured = STR("2025-12-09T00:00:00.000Z");
	struct fleet_report r = report_on(runs, 2, NULL);
	assert_says(markdown_of(&r), "No run is of the window before, and 1 is older.");
	r = report_on(runs, 1, NULL);
	assert_false(str_contains(markdown_of(&r), STR("window before, and")));
}

/* Both ends of what is known only between them. */
static void ranges_are_shown(void **state)
{
	(void)state;
	struct run_facts runs[] = { plain_run("a") };
	runs[0].roofline_ratio_hi = 0.9;
	runs[0].chip = STR("h100_sxm");
	struct fleet_report r = report_on(runs, 1, NULL);
	const struct fleet_pages none = { 0 };
	assert_says(markdown_of(&r), "| 50.0\xe2\x80\x93"
				     "90.0% |");
	assert_says(markdown_of(&r), "| H100 SXM |");
	assert_says(page_of(&r, &none), ">50.0\xe2\x80\x93"
					"90.0%<");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_text),
		cmocka_unit_test(csv_has_no_formula),
		cmocka_unit_test(json_is_json),
		cmocka_unit_test(links),
		cmocka_unit_test(page_names),
		cmocka_unit_test(history_is_drawn),
		cmocka_unit_test(heads_are_words),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(money_is_of_its_hours),
		cmocka_unit_test(cpus_are_told_apart),
		cmocka_unit_test(empty_window_before_is_told),
		cmocka_unit_test(ranges_are_shown),
	};
	return cmocka_run_group_tests_name("report_fleet", tests, keep_begin, keep_end);
}
