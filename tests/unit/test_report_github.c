/* Workflow commands: ten of each level, each on one line, and none that a profile wrote. */
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static struct str github(struct report *r)
{
	struct report_set set = { r, 1, STR("0.1.0") };
	struct out *o = out_memory(&keep);
	report_github(&set, &keep, o);
	return out_text(o);
}

static struct str line_of(struct str text, int index)
{
	struct str line = { NULL, 0 };
	while (index-- >= 0)
		str_cut(text, '\n', &line, &text);
	return line;
}

static int count_lines(struct str text, struct str start)
{
	struct str line;
	int count = 0;
	while (str_cut(text, '\n', &line, &text))
		count += str_starts(line, start);
	return count;
}

static void assert_line(struct str line, const char *expected)
{
	assert_string_equal(arena_z(&keep, line), expected);
}

static void test_demo(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct str text = github(&r);
	assert_line(line_of(text, 0),
		"::error file=model/ffn.py,line=41,title=fail%3A oversized-all-gather::"
		"all-gather.17 stands in the way for 12.3 ms of every step, and gathers the same "
		"array 4 times; costs up to 12.3 ms of 28.1 ms per step (43.8%25)");
	assert_line(line_of(text, 2),
		"::warning title=warning%3A copy-share::3.40%25 of the step only changes layouts; "
		"costs up to 300 us of 28.1 ms per step (1.07%25)");
	assert_true(str_starts(line_of(text, 3),
		STR("::notice title=inconclusive%3A peak-memory::window_peak_bytes is unknown")));
	assert_int_equal(count_lines(text, STR("::")), 4);
}

static void test_evidence_that_counts_warns(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rules[] = {
		{ .name = STR("a"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no roofline is known"),
			.lacks = STR("roofline_s") },
		{ .name = STR("b"),
			.verdict = VERDICT_INCONCLUSIVE,
			.reason = STR("no roofline is known"),
			.lacks = STR("roofline_s"),
			.subjects = 2,
			.withheld = 2 },
		{ .name = STR("x"),
			.verdict = VERDICT_INCONCLUSIVE,
			.gate = true,
			.demanded = true },
	};
	r.results.items = rules;
	r.results.count = COUNT_OF(rules);
	struct str text = github(&r);
	assert_line(line_of(text, 0), "::warning title=inconclusive%3A x::could not be judged");
	assert_line(
		line_of(text, 1), "::notice title=inconclusive%3A a%2C b::no roofline is known");
}

static void test_unreadable(void **state)
{
	(void)state;
	struct report r = broken_report(&keep);
	assert_true(str_starts(
		github(&r), STR("::error title=error%3A unreadable::runs/broken/host0.")));
}

/* A path that is not of the repository is told in the message. */
static void test_foreign_path(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.findings.items[0].source_file = STR("/usr/lib/jax/lax.py");
	struct str line = line_of(github(&r), 0);
	assert_true(str_starts(line, STR("::error title=")));
	assert_true(str_ends(line, STR(" (at /usr/lib/jax/lax.py:41)")));
}

static void test_ten_of_each(void **state)
{
	(void)state;
	enum { MANY = 40 };
	struct report r = demo_report(&keep);
	struct finding many[MANY];
	for (int i = 0; i < MANY; i++) {
		many[i] = r.findings.items[i % 3 ? 0 : 2];
		many[i].gain_s = MANY - i;
	}
	r.findings.items = many;
	r.findings.count = MANY;
	struct str text = github(&r);
	assert_int_equal(count_lines(text, STR("::error ")), 10);
	assert_int_equal(count_lines(text, STR("::warning ")), 10);
	assert_int_equal(count_lines(text, STR("::notice ")), 2);
	assert_true(str_contains(line_of(text, 0), STR("costs up to 40.0 s")));
	assert_line(line_of(text, 21),
		"::notice title=rooflint::left out here, last in the report: 16 errors 4 warnings");
}

/* Also with the line that tells of the rest, ten notices are not exceeded. */
static void test_ten_notices(void **state)
{
	(void)state;
	enum { MANY = 12 };
	struct report r = good_report(&keep);
	struct rule_result rules[MANY];
	for (int i = 0; i < MANY; i++)
		rules[i] = (struct rule_result){ .name = arena_fmt(&keep, "r%d", i),
			.verdict = VERDICT_INCONCLUSIVE };
	r.results.items = rules;
	r.results.count = MANY;
	struct str text = github(&r);
	assert_int_equal(count_lines(text, STR("::notice ")), 10);
	assert_true(str_contains(text, STR("last in the report: 3 notices")));
}

static void test_hostile(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.findings.items[0].source_file = STR("a,line=9::b%\r\n::error::.py");
	r.findings.items[0].message = STR("x%0A\r\n::stop-commands::pwn\n##[error]y");
	struct str text = github(&r);
	assert_true(str_starts(text, STR("::error file=a%2Cline=9%3A%3Ab%25  %3A%3Aerror%3A%3A.py,"
					 "line=41,title=")));
	assert_true(
		str_contains(text, STR("::x%250A  ::stop-commands::pwn ##[error]y; costs up to")));
	assert_int_equal(count_lines(text, STR("::")), 4);
	r = hostile_report(&keep);
	text = github(&r);
	assert_int_equal(count_lines(text, STR("::")), count_lines(text, STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_evidence_that_counts_warns),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_foreign_path),
		cmocka_unit_test(test_ten_of_each),
		cmocka_unit_test(test_ten_notices),
		cmocka_unit_test(test_hostile),
	};
	return cmocka_run_group_tests_name("report_github", tests, keep_begin, keep_end);
}
