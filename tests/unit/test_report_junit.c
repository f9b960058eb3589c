/*
 * JUnit XML: every document fits the schema of its flavour in docs/, and says what the rules say.
 * Parsing back is libxml2's; the program itself never parses XML.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <libxml/xpath.h>

#include "tests/unit/test_report_fixture.h"

static struct arena keep;
static xmlSchemaPtr schemas[2]; /* by flavour */
static const char *const schema_files[] = { "docs/junit-strict.xsd", "docs/junit-rich.xsd" };

static int begin(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	for (int i = 0; i < 2; i++) {
		xmlSchemaParserCtxtPtr parser = xmlSchemaNewParserCtxt(schema_files[i]);
		schemas[i] = parser ? xmlSchemaParse(parser) : NULL;
		xmlSchemaFreeParserCtxt(parser);
		if (!schemas[i])
			return -1;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		xmlSchemaFree(schemas[i]);
	xmlCleanupParser();
	arena_free(&keep);
	return 0;
}

static struct str junit(const struct report_set *set, enum junit_flavor flavor)
{
	struct out *out = out_memory(&keep);
	report_junit(set, flavor, &keep, out);
	return out_text(out);
}

static xmlDocPtr parse(struct str text)
{
	xmlDocPtr doc = xmlReadMemory(text.p, (int)text.len, "junit.xml", NULL, XML_PARSE_NONET);
	assert_non_null(doc);
	return doc;
}

static bool expect_errors;

static void show(void *unused, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void show(void *unused, const char *fmt, ...)
{
	va_list args;
	(void)unused;
	va_start(args, fmt);
	if (!expect_errors)
		vfprintf(stderr, fmt, args);
	va_end(args);
}

static int validate(xmlDocPtr doc, enum junit_flavor flavor)
{
	xmlSchemaValidCtxtPtr valid = xmlSchemaNewValidCtxt(schemas[flavor]);
	xmlSchemaSetValidErrors(valid, show, show, NULL);
	int result = xmlSchemaValidateDoc(valid, doc);
	xmlSchemaFreeValidCtxt(valid);
	return result;
}

/* A parsed document that fits its schema; the caller frees it. */
static xmlDocPtr checked(const struct report_set *set, enum junit_flavor flavor)
{
	xmlDocPtr doc = parse(junit(set, flavor));
	assert_int_equal(validate(doc, flavor), 0);
	return doc;
}

static xmlDocPtr checked_one(struct report r, enum junit_flavor flavor)
{
	struct report_set set = { &r, 1, STR("0.1.0") };
	return checked(&set, flavor);
}

/* The text of an XPath expression, copied. */
static const char *query(xmlDocPtr doc, const char *path)
{
	xmlXPathContextPtr context = xmlXPathNewContext(doc);
	xmlXPathObjectPtr object = xmlXPathEvalExpression((const xmlChar *)path, context);
	assert_non_null(object);
	xmlChar *text = xmlXPathCastToString(object);
	const char *copy = arena_z(&keep, str_from((const char *)text));
	xmlFree(text);
	xmlXPathFreeObject(object);
	xmlXPathFreeContext(context);
	return copy;
}

static void test_demo(void **state)
{
	(void)state;
	xmlDocPtr doc = checked_one(demo_report(&keep), JUNIT_STRICT);
	assert_string_equal(query(doc, "/testsuites/@tests"), "7");
	assert_string_equal(query(doc, "/testsuites/@failures"), "1");
	assert_string_equal(query(doc, "/testsuites/@errors"), "0");
	assert_string_equal(query(doc, "/testsuites/@time"), "0.019");
	assert_string_equal(query(doc, "//testsuite/@name"), "runs/nightly");
	assert_string_equal(query(doc, "//testsuite/@skipped"), "3");
	assert_string_equal(query(doc, "count(//testcase)"), "7");
	assert_string_equal(
		query(doc, "//testcase[failure]/@name"), "oversized-all-gather [runs/nightly]");
	assert_string_equal(query(doc, "//testcase[failure]/@classname"), "rooflint.runs/nightly");
	assert_string_equal(query(doc, "//testcase[failure]/@time"), "0.018");
	assert_string_equal(query(doc, "//failure/@message"),
		"all-gather.17 stands in the way for 12.3 ms of every step, and gathers the same "
		"array 4 times (and 1 more)");
	assert_string_equal(query(doc, "//property[@name='step_time_s']/@value"), "0.0281");
	xmlFreeDoc(doc);
}

/* GitLab shows the text alone: message, evidence, cause and fix must all be in it. */
static void test_failure_text(void **state)
{
	(void)state;
	xmlDocPtr doc = checked_one(demo_report(&keep), JUNIT_STRICT);
	const char *text = query(doc, "//failure");
	assert_non_null(strstr(text, "all-gather.17 stands in the way"));
	assert_non_null(strstr(text, "--> model/ffn.py:41"));
	assert_non_null(strstr(text, "up to 12.3 ms of 28.1 ms per step (43.8%)"));
	assert_non_null(strstr(text, "exposed_share  43.8%"));
	assert_non_null(strstr(text, "The partitioner gathers"));
	assert_non_null(strstr(text, "with_sharding_constraint"));
	assert_non_null(strstr(text, "all-gather.18 stands in the way"));
	xmlFreeDoc(doc);
}

static void test_other_verdicts(void **state)
{
	(void)state;
	xmlDocPtr doc = checked_one(demo_report(&keep), JUNIT_STRICT);
	assert_string_equal(query(doc, "count(//testcase[1]/*)"), "0");
	assert_memory_equal(query(doc, "//testcase[starts-with(@name, 'copy-share')]/system-out"),
		"warning: 3.40% of the step", 26);
	assert_string_equal(query(doc, "//testcase[starts-with(@name, 'peak')]/skipped/@message"),
		"inconclusive: window_peak_bytes is unknown for all 8 rows of memory");
	assert_string_equal(query(doc, "//testcase[starts-with(@name, 'recom')]/skipped/@message"),
		"not-applicable: no compilation was seen");
	assert_string_equal(
		query(doc, "//testcase[starts-with(@name, 'tiny')]/skipped/@type"), "off");
	xmlFreeDoc(doc);
}

/* What the exit status counts is an error; what it does not is skipped. */
static void test_inconclusive(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rules[] = {
		{ .name = STR("gate"),
			.verdict = VERDICT_INCONCLUSIVE,
			.gate = true,
			.breaks = true },
		{ .name = STR("must"),
			.verdict = VERDICT_INCONCLUSIVE,
			.demanded = true,
			.breaks = true,
			.reason = STR("why"),
			.todo = STR("what to do") },
		{ .name = STR("may"), .verdict = VERDICT_INCONCLUSIVE },
	};
	r.results.items = rules;
	r.results.count = COUNT_OF(rules);
	xmlDocPtr doc = checked_one(r, JUNIT_STRICT);
	assert_string_equal(query(doc, "/testsuites/@errors"), "2");
	assert_string_equal(query(doc, "//testcase[1]/error/@message"), "inconclusive");
	assert_string_equal(
		query(doc, "//testcase[2]/error"), "inconclusive: why\n  do        what to do\n");
	assert_string_equal(query(doc, "//testcase[3]/skipped/@type"), "inconclusive");
	xmlFreeDoc(doc);
}

/* --fail-on and --inconclusive move the line; what lies below it never breaks a build. */
static void test_what_breaks(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rules[] = {
		{ .name = STR("worse"), .verdict = VERDICT_WARN, .breaks = true },
		{ .name = STR("known"), .verdict = VERDICT_FAIL },
		{ .name = STR("gate"), .verdict = VERDICT_INCONCLUSIVE, .gate = true },
	};
	struct finding findings[] = {
		{ .rule = STR("worse"),
			.verdict = VERDICT_WARN,
			.message = STR("it is late"),
			.gain_s = NAN,
			.claimed_s = NAN },
		{ .rule = STR("known"),
			.verdict = VERDICT_FAIL,
			.message = STR("it was late before"),
			.gain_s = NAN,
			.claimed_s = NAN },
	};
	r.results.items = rules;
	r.results.count = COUNT_OF(rules);
	r.findings.items = findings;
	r.findings.count = COUNT_OF(findings);
	xmlDocPtr doc = checked_one(r, JUNIT_STRICT);
	assert_string_equal(query(doc, "/testsuites/@failures"), "1");
	assert_string_equal(query(doc, "/testsuites/@errors"), "0");
	assert_string_equal(query(doc, "//testcase[1]/failure/@message"), "it is late");
	assert_string_equal(query(doc, "count(//testcase[2]/failure)"), "0");
	assert_memory_equal(query(doc, "//testcase[2]/system-out"),
		"failed, and --fail-on lets it be: it was late before", 52);
	assert_string_equal(query(doc, "//testcase[3]/skipped/@type"), "inconclusive");
	xmlFreeDoc(doc);
}

static void test_waived(void **state)
{
	(void)state;
	struct report r = good_report(&keep);
	struct rule_result rule = { .name = STR("w"), .verdict = VERDICT_WAIVED };
	struct finding finding = { .rule = STR("w"),
		.verdict = VERDICT_WAIVED,
		.message = STR("known and accepted"),
		.gain_s = NAN };
	r.results.items = &rule;
	r.findings.items = &finding;
	r.results.count = r.findings.count = 1;
	xmlDocPtr doc = checked_one(r, JUNIT_STRICT);
	assert_string_equal(query(doc, "//skipped/@message"), "waived: known and accepted");
	xmlFreeDoc(doc);
}

static void test_unreadable(void **state)
{
	(void)state;
	xmlDocPtr doc = checked_one(broken_report(&keep), JUNIT_STRICT);
	assert_string_equal(query(doc, "count(//testcase)"), "1");
	assert_string_equal(query(doc, "//testcase/@name"), "profile-readable [runs/broken]");
	assert_string_equal(query(doc, "//error/@type"), "RL201");
	assert_non_null(strstr(query(doc, "//error"), "XPlane at byte 1021"));
	assert_string_equal(query(doc, "//testsuite/@errors"), "1");
	xmlFreeDoc(doc);
}

static void test_rich(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	xmlDocPtr doc = checked(&set, JUNIT_RICH);
	expect_errors = true;
	assert_int_not_equal(validate(doc, JUNIT_STRICT), 0);
	expect_errors = false;
	assert_string_equal(query(doc, "//testcase[failure]/@file"), "model/ffn.py");
	assert_string_equal(query(doc, "//testcase[failure]/@line"), "41");
	assert_string_equal(
		query(doc, "//testcase[failure]/properties/property[@name='exposed_share']/@value"),
		"0.438");
	xmlFreeDoc(doc);
}

/* Equal profiles, equal rules, and names that look like the numbered ones. */
static void test_unique_names(void **state)
{
	(void)state;
	struct rule_result rules[] = { { .name = STR("a"), .verdict = VERDICT_PASS },
		{ .name = STR("a"), .verdict = VERDICT_PASS },
		{ .name = STR("a"), .verdict = VERDICT_PASS } };
	struct str profiles[] = { STR("x"), STR("x"), STR("x #2"), STR("x"), STR("") };
	struct report items[COUNT_OF(profiles)];
	for (ptrdiff_t i = 0; i < COUNT_OF(profiles); i++)
		items[i] = (struct report){ .profile = profiles[i],
			.verdict = VERDICT_PASS,
			.results.items = rules,
			.results.count = COUNT_OF(rules) };
	struct report_set set = { items, COUNT_OF(items), STR("0.1.0") };
	xmlDocPtr doc = checked(&set, JUNIT_STRICT); /* the schema demands uniqueness */
	assert_string_equal(query(doc, "//testsuite[2]/@name"), "x #2");
	assert_string_equal(query(doc, "//testsuite[3]/@name"), "x #2 #2");
	assert_string_equal(query(doc, "//testsuite[4]/@name"), "x #3");
	assert_string_equal(query(doc, "//testsuite[5]/@name"), "unnamed");
	assert_string_equal(query(doc, "//testsuite[1]/testcase[3]/@name"), "a [x] #3");
	xmlFreeDoc(doc);
}

static void test_hostile(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	xmlFreeDoc(checked(&set, JUNIT_RICH));
	xmlDocPtr doc = checked(&set, JUNIT_STRICT);
	assert_non_null(strstr(query(doc, "//testsuite[4]/@name"), "red"));
	assert_non_null(strstr(query(doc, "//testsuite[4]/@name"), "]]><!-- & \"'"));
	assert_non_null(strstr(query(doc, "//testsuite[4]//failure"), "\xf0\x9f\x94\xa5"));
	xmlFreeDoc(doc);
}

static void test_utf8_stays(void **state)
{
	(void)state;
	struct report r = { .profile = STR("l\xc3\xa4ufe"), .verdict = VERDICT_PASS };
	struct report_set set = { &r, 1, STR("0.1.0") };
	struct str text = junit(&set, JUNIT_STRICT);
	assert_true(str_starts(text, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")));
	assert_true(str_contains(text, STR("name=\"l\xc3\xa4ufe\"")));
}

/* Below a microsecond, not a number, and beyond any step. */
static void test_times(void **state)
{
	(void)state;
	static const struct {
		double gain_s;
		const char *expected;
	} cases[] = { { NAN, "0.000" }, { -1, "0.000" }, { 1e-9, "0.000" }, { 1.5, "1.500" },
		{ 1e300, "1000000.000" }, { INFINITY, "1000000.000" } };
	for (ptrdiff_t i = 0; i < COUNT_OF(cases); i++) {
		struct report r = {
			.profile = STR("x"), .verdict = VERDICT_FAIL, .gain_s = cases[i].gain_s
		};
		xmlDocPtr doc = checked_one(r, JUNIT_STRICT);
		assert_string_equal(query(doc, "//testsuite/@time"), cases[i].expected);
		xmlFreeDoc(doc);
	}
}

static void test_empty_set(void **state)
{
	(void)state;
	struct report_set set = { NULL, 0, STR("0.1.0") };
	xmlDocPtr doc = checked(&set, JUNIT_STRICT);
	assert_string_equal(query(doc, "count(//testsuite)"), "0");
	xmlFreeDoc(doc);
}

static void test_same_bytes(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct str a = junit(&set, JUNIT_RICH), b = junit(&set, JUNIT_RICH);
	assert_true(str_eq(a, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_failure_text),
		cmocka_unit_test(test_other_verdicts),
		cmocka_unit_test(test_inconclusive),
		cmocka_unit_test(test_what_breaks),
		cmocka_unit_test(test_waived),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_rich),
		cmocka_unit_test(test_unique_names),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_utf8_stays),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_empty_set),
		cmocka_unit_test(test_same_bytes),
	};
	return cmocka_run_group_tests_name("report_junit", tests, begin, end);
}
