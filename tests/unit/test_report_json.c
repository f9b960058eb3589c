/*
 * report.json: nothing is lost, what does not fit is refused with its place, and the schema in
 * docs/ is the one the program means.
 *
 * UPDATE=1 rewrites docs/report.schema.json.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"
#include "tests/unit/report_schema.h"

#define SCHEMA "docs/report.schema.json"

static struct str write_set(const struct report_set *set)
{
	struct out *out = out_memory(&keep);
	report_json_write(set, &keep, out);
	return out_text(out);
}

static struct report_set read_set(struct str text)
{
	struct report_set set;
	struct diag err = { 0 };
	if (!report_json_read(STR("report.json"), text, &keep, &set, &err))
		fail_msg("%s", err.text);
	return set;
}

static void assert_refused(const char *text, const char *expected)
{
	struct report_set set;
	struct diag err = { 0 };
	assert_false(report_json_read(STR("r.json"), str_from(text), &keep, &set, &err));
	if (!strstr(err.text, expected))
		fail_msg("'%s' is not in: %s", expected, err.text);
}

static void assert_same(struct str a, struct str b)
{
	assert_string_equal(arena_z(&keep, a), arena_z(&keep, b));
}

static void test_round_trip(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct str first = write_set(&set);
	struct report_set again = read_set(first);
	assert_same(write_set(&again), first);
}

/* What a page shows does not depend on whether the report went through a file. */
static void test_same_page(void **state)
{
	(void)state;
	struct report_style style = { .verbose = true };
	struct report r = demo_report(&keep);
	struct report_set set = { &r, 1, STR("0.1.0") }, again = read_set(write_set(&set));
	struct out *a = out_memory(&keep), *b = out_memory(&keep);
	report_terminal(&set, &style, &keep, a);
	report_terminal(&again, &style, &keep, b);
	assert_same(out_text(a), out_text(b));
}

static void test_values(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = { &r, 1, STR("0.1.0") }, again = read_set(write_set(&set));
	const struct report *got = &again.items[0];
	const struct families_row *rows = table_rows(&got->tables, families);
	assert_int_equal(again.count, 1);
	assert_true(rows[1].time_s == 0.1 + 0.2);
	assert_true(isnan(rows[1].p50_s));
	assert_null(rows[1].dtype.p);
	assert_true(got->row_totals[TABLE_families] == 4711);
	assert_true(got->facts->step_time_s == 0.0281);
	assert_true(got->findings.items[0].evidence.items[2].limit);
	assert_true(isnan(got->findings.items[2].source_line));
	assert_null(got->findings.items[2].scope.p);
	assert_null(got->error.text.p);
	assert_same(got->findings.items[0].fix, r.findings.items[0].fix);
	assert_int_equal(got->findings.items[0].around.ops.count, 3);
	assert_int_equal(got->findings.items[0].around.ops.items[1].role, AROUND_SELF);
	assert_same(got->findings.items[0].around.ops.items[2].opcode, STR("fusion"));
	assert_true(isnan(got->findings.items[0].around.ops.items[2].bytes));
	assert_true(got->findings.items[0].around.gives_left_out == 4);
	assert_int_equal(got->findings.items[1].around.ops.count, 0);
	assert_true(plot_rows(&got->plots, timeline)[1].start_s == 0.0133);
	assert_int_equal(plot_count(&got->plots, usage), 3);
}

static void test_empty_text_is_not_missing(void **state)
{
	(void)state;
	struct report r = { .profile = STR(""), .verdict = VERDICT_PASS, .rules = STR("") };
	struct report_set set = { &r, 1, NONE }, again = read_set(write_set(&set));
	assert_non_null(again.items[0].rules.p);
	assert_null(again.tool_version.p);
}

static void test_broken(void **state)
{
	(void)state;
	struct report r = broken_report(&keep);
	struct report_set set = { &r, 1, STR("0.1.0") }, again = read_set(write_set(&set));
	assert_same(again.items[0].error.text, r.error.text);
	assert_int_equal(again.items[0].error.id, 201);
	assert_int_equal(again.items[0].verdict, VERDICT_ERROR);
}

#define HEAD   "{\"format\":\"rooflint-report\",\"version\":\"1.0\","
#define REPORT HEAD "\"reports\":[{\"profile\":\"x\",\"verdict\":\"pass\","
#define CLOSED "}]}"

static void test_newer_minor_is_read(void **state)
{
	(void)state;
	struct report_set set =
		read_set(STR("{\"format\":\"rooflint-report\",\"version\":\"1.9\","
			     "\"novelty\":[1],\"reports\":[{\"profile\":\"x\","
			     "\"verdict\":\"pass\",\"facts\":{\"news\":3,\"steps\":4},"
			     "\"tables\":{\"nova\":1,\"ops\":{\"rows\":1,"
			     "\"columns\":{\"nova\":7,\"time_s\":[2]}}}}]}"));
	assert_int_equal(set.count, 1);
	assert_true(table_rows(&set.items[0].tables, ops)[0].time_s == 2);
	assert_true(set.items[0].facts->steps == 4);
}

static void test_refused(void **state)
{
	(void)state;
	assert_refused("", "empty");
	assert_refused("[1", "r.json:1:3");
	assert_refused("[]", "format must be");
	assert_refused("{\"format\":\"sarif\"}", "format must be");
	assert_refused("{\"format\":\"rooflint-report\",\"version\":\"2.0\"}",
		"'2.0', and this rooflint reads 1.x");
	assert_refused(HEAD "\"reports\":7}", "reports must be a list");
	assert_refused(HEAD "\"reports\":[{\"profile\":\"x\",\"verdict\":\"pass\"},7]}",
		"reports[1] must be an object");
	assert_refused(
		HEAD "\"reports\":[{\"verdict\":\"pass\"}]}", "reports[0].profile is missing");
	assert_refused(HEAD "\"reports\":[{\"profile\":\"x\",\"verdict\":\"off\"}]}",
		"reports[0].verdict is 'off'");
	assert_refused(REPORT "\"gain_s\":\"1\"" CLOSED, "reports[0].gain_s must be a number");
	assert_refused(REPORT "\"rules\":1" CLOSED, "reports[0].rules must be a text");
	assert_refused(REPORT "\"facts\":{\"chip\":[]}" CLOSED, "facts.chip must hold texts");
	assert_refused(
		REPORT "\"facts\":{\"steps\":\"9\"}" CLOSED, "facts.steps must hold numbers");
	assert_refused(REPORT "\"error\":{}" CLOSED, "reports[0].error.text is missing");
	assert_refused(REPORT
		"\"results\":[{\"name\":\"x\",\"verdict\":\"pass\",\"gate\":1}]" CLOSED,
		"reports[0].results[0].gate must be true or false");
	assert_refused(REPORT "\"findings\":[{\"rule\":\"x\",\"verdict\":\"meh\"}]" CLOSED,
		"reports[0].findings[0].verdict is 'meh', which is not a verdict");
	assert_refused(REPORT
		"\"findings\":[{\"rule\":\"x\",\"verdict\":\"fail\",\"message\":\"m\","
		"\"evidence\":[{\"name\":\"a\",\"unit\":\"ells\"}]}]" CLOSED,
		"reports[0].findings[0].evidence[0].unit is 'ells'");
}

static void test_refused_tables(void **state)
{
	(void)state;
	assert_refused(
		REPORT "\"tables\":{\"ops\":[]}" CLOSED, "reports[0].tables.ops must be an object");
	assert_refused(REPORT "\"tables\":{\"ops\":{\"rows\":1e9}}" CLOSED,
		"reports[0].tables.ops.rows must be a number from 0 to 200");
	assert_refused(REPORT
		"\"tables\":{\"ops\":{\"rows\":2,\"columns\":{\"time_s\":[1]}}}" CLOSED,
		"reports[0].tables.ops.time_s must be a list of 2 values");
	assert_refused(REPORT
		"\"tables\":{\"ops\":{\"rows\":1,\"columns\":{\"time_s\":[1,2]}}}" CLOSED,
		"reports[0].tables.ops.time_s must be a list of 1 values");
	assert_refused(REPORT
		"\"tables\":{\"ops\":{\"rows\":1,\"columns\":{\"time_s\":[\"1\"]}}}" CLOSED,
		"reports[0].tables.ops.time_s must hold numbers or null");
	assert_refused(REPORT "\"tables\":{\"ops\":{\"rows\":1,\"columns\":{\"name\":[1]}}}" CLOSED,
		"reports[0].tables.ops.name must hold texts or null");
}

/* ---- the schema ------------------------------------------------------------------------------ */

static struct str file_text(const char *path)
{
	struct out *out = out_memory(&keep);
	FILE *f = fopen(path, "rb");
	char bytes[4096];
	size_t n;
	if (!f)
		return NONE;
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		out_str(out, (struct str){ bytes, (ptrdiff_t)n });
	fclose(f);
	return out_text(out);
}

static void write_file(const char *path, struct str text)
{
	struct diag err = { 0 };
	struct out *out = out_file(&keep, str_from(path), &err);
	if (!out)
		fail_msg("%s", err.text);
	out_str(out, text);
	if (!out_close(out, &err))
		fail_msg("%s", err.text);
}

static void test_schema_is_kept(void **state)
{
	(void)state;
	struct out *schema = out_memory(&keep);
	const char *update = getenv("UPDATE");
	report_schema(&keep, schema);
	if (update && *update)
		write_file(SCHEMA, out_text(schema));
	struct str kept = file_text(SCHEMA);
	if (!str_eq(kept, out_text(schema)))
		fail_msg("%s is out of date: UPDATE=1 rewrites it", SCHEMA);
}

/* The exit status of python3 tests/check_schema.py SCHEMA document. */
static int run_check(const char *document)
{
	int status = 0;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("python3", "python3", "tests/check_schema.py", SCHEMA, document,
			(char *)NULL);
		_exit(77); /* no Python here */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_document_fits_schema(void **state)
{
	(void)state;
	char path[] = "/tmp/rooflint-report-XXXXXX";
	struct report_set set = all_reports(&keep);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	write_file(path, write_set(&set));
	int status = run_check(path);
	unlink(path);
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_same_page),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_empty_text_is_not_missing),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_newer_minor_is_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_tables),
		cmocka_unit_test(test_schema_is_kept),
		cmocka_unit_test(test_document_fits_schema),
	};
	return cmocka_run_group_tests_name("report_json", tests, keep_begin, keep_end);
}
