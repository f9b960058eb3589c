/* SARIF: what code scanning shows of a set of reports, and what it must never be given. */
#include "base/json.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static struct str sarif_text(const struct report_set *set)
{
	struct out *o = out_memory(&keep);
	report_sarif(set, &keep, o);
	return out_text(o);
}

/* The only run; the caller frees the root. */
static const cJSON *sarif(const struct report_set *set, cJSON **root)
{
	struct diag err;
	*root = json_parse(STR("x.sarif"), sarif_text(set), &err);
	assert_non_null(*root);
	assert_string_equal(json_get_str(*root, "version").p, "2.1.0");
	const cJSON *runs = cJSON_GetObjectItem(*root, "runs");
	assert_int_equal(cJSON_GetArraySize(runs), 1);
	return cJSON_GetArrayItem(runs, 0);
}

static struct report_set set_of(struct report *r)
{
	return (struct report_set){ r, 1, STR("0.1.0") };
}

/* "a.0.b": object keys and array indices. */
static const cJSON *at(const cJSON *item, const char *path)
{
	struct str rest = str_from(path), key;
	bool more = true;
	while (more) {
		int64_t index;
		more = str_cut(rest, '.', &key, &rest);
		item = str_to_i64(key, &index)
			       ? cJSON_GetArrayItem(item, (int)index)
			       : cJSON_GetObjectItemCaseSensitive(item, arena_z(&keep, key));
		assert_non_null(item);
	}
	return item;
}

static const char *text_at(const cJSON *item, const char *path)
{
	const cJSON *found = at(item, path);
	assert_true(cJSON_IsString(found));
	return found->valuestring;
}

static void test_demo(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	cJSON *root;
	const cJSON *run = sarif(&set, &root), *first = at(run, "results.0");
	assert_int_equal(cJSON_GetArraySize(at(run, "results")), 3);
	assert_int_equal(cJSON_GetArraySize(at(run, "tool.driver.rules")), 7);
	assert_string_equal(text_at(first, "ruleId"), "oversized-all-gather");
	assert_int_equal(at(first, "ruleIndex")->valueint, 1);
	assert_string_equal(text_at(run, "tool.driver.rules.1.id"), "oversized-all-gather");
	assert_string_equal(text_at(first, "level"), "error");
	assert_string_equal(text_at(run, "results.2.level"), "warning");
	assert_non_null(strstr(text_at(first, "message.text"), "up to 12.3 ms of 28.1 ms"));
	const cJSON *place = at(first, "locations.0.physicalLocation");
	assert_string_equal(text_at(place, "artifactLocation.uri"), "model/ffn.py");
	assert_string_equal(text_at(place, "artifactLocation.uriBaseId"), "%SRCROOT%");
	assert_int_equal(at(place, "region.startLine")->valueint, 41);
	assert_string_equal(text_at(first, "locations.0.logicalLocations.0.fullyQualifiedName"),
		"jit(train_step)/transformer/ffn/dot/all-gather.17");
	assert_true(fabs(at(first, "rank")->valuedouble - 43.77) < 0.01);
	assert_true(at(first, "properties.gain_s")->valuedouble == 0.0123);
	assert_string_equal(text_at(first, "properties.evidence.1.name"), "regathers");
	cJSON_Delete(root);
}

/* What could not be judged is told beside the results: as a result it would be an alert. */
static void test_unjudged(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	cJSON *root;
	const cJSON *run = sarif(&set, &root);
	const cJSON *note = at(run, "invocations.0.toolExecutionNotifications.0");
	assert_string_equal(text_at(note, "level"), "note");
	assert_string_equal(text_at(note, "associatedRule.id"), "peak-memory");
	assert_int_equal(at(note, "associatedRule.index")->valueint, 3);
	assert_non_null(strstr(text_at(note, "message.text"), "window_peak_bytes is unknown"));
	assert_true(cJSON_IsTrue(at(run, "invocations.0.executionSuccessful")));
	cJSON_Delete(root);
}

static void test_unreadable(void **state)
{
	(void)state;
	struct report r = broken_report(&keep);
	struct report_set set = set_of(&r);
	cJSON *root;
	const cJSON *run = sarif(&set, &root);
	const cJSON *note = at(run, "invocations.0.toolExecutionNotifications.0");
	assert_true(cJSON_IsFalse(at(run, "invocations.0.executionSuccessful")));
	assert_string_equal(text_at(note, "level"), "error");
	assert_non_null(strstr(text_at(note, "message.text"), "XPlane at byte 1021"));
	assert_int_equal(cJSON_GetArraySize(at(run, "results")), 0);
	cJSON_Delete(root);
}

/* Files of the job that are not of the repository: GitHub wants a place, so the profile is it. */
static void test_no_users_line(void **state)
{
	(void)state;
	static const char *const files[] = { "/usr/lib/python3/jax/lax.py", "../up.py", "a/../b.py",
		"C:\\x.py", "C:/x.py", "file:///x.py", "<string>", "~/x.py", "", NULL };
	for (ptrdiff_t i = 0; i < COUNT_OF(files); i++) {
		struct report r = demo_report(&keep);
		struct report_set set = set_of(&r);
		cJSON *root;
		r.findings.items[0].source_file = str_from(files[i]);
		const cJSON *run = sarif(&set, &root);
		const cJSON *place = at(run, "results.0.locations.0.physicalLocation");
		assert_string_equal(text_at(place, "artifactLocation.uri"), "runs/nightly");
		assert_int_equal(at(place, "region.startLine")->valueint, 1);
		assert_null(cJSON_GetObjectItem(at(place, "artifactLocation"), "uriBaseId"));
		cJSON_Delete(root);
	}
}

static const char *fingerprint(struct report *r, int index)
{
	struct report_set set = set_of(r);
	cJSON *root;
	const cJSON *run = sarif(&set, &root);
	const cJSON *result = cJSON_GetArrayItem(at(run, "results"), index);
	const char *z =
		arena_z(&keep, str_from(text_at(result, "partialFingerprints.rooflint/v1")));
	assert_string_equal(text_at(result, "partialFingerprints.primaryLocationLineHash"), z);
	cJSON_Delete(root);
	return z;
}

/* A recompile renames ops, an edit moves lines, the profiler names runs by the date. */
static void test_fingerprint_survives(void **state)
{
	(void)state;
	struct report a = demo_report(&keep), b = demo_report(&keep);
	b.findings.items[0].name = STR("all-gather.99");
	b.findings.items[0].message = STR("all-gather.99 is slower now");
	b.findings.items[0].source_line = 57;
	b.findings.items[0].gain_s = 0.02;
	assert_string_equal(fingerprint(&a, 0), fingerprint(&b, 0));
	a.facts->name = STR("2026_03_14_09_26_53");
	b.facts->name = STR("2026_03_15_01_02_03");
	a.profile = STR("logs/train/plugins/profile/2026_03_14_09_26_53");
	b.profile = STR("logs/train");
	assert_string_equal(fingerprint(&a, 0), fingerprint(&b, 0));
	assert_string_equal(fingerprint(&a, 2), fingerprint(&b, 2));
	b.profile = STR("logs/eval");
	assert_string_not_equal(fingerprint(&a, 0), fingerprint(&b, 0));
	assert_string_not_equal(fingerprint(&a, 0), fingerprint(&a, 1));
}

static void test_equal_subjects_are_numbered(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	r.findings.items[1].subject = r.findings.items[0].subject;
	assert_true(str_ends(str_from(fingerprint(&r, 0)), STR(":1")));
	assert_true(str_ends(str_from(fingerprint(&r, 1)), STR(":2")));
}

/* Every text hostile; the reader is json_parse, which refuses bad UTF-8 and controls. */
static void test_hostile(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct report r = demo_report(&keep);
	struct report_set one = set_of(&r);
	cJSON *root;
	sarif(&set, &root);
	cJSON_Delete(root);
	r.findings.items[0].message = STR("[free chips](https://evil.example) "
					  "</script><img src=x onerror=alert(1)>");
	r.findings.items[0].source_file = STR("a b/\xc3\xa4%00?#.py");
	const cJSON *run = sarif(&one, &root);
	assert_memory_equal(text_at(run, "results.0.message.text"),
		"[free chips] (https://evil.example) </script><img src=x", 55);
	assert_string_equal(
		text_at(run, "results.0.locations.0.physicalLocation.artifactLocation.uri"),
		"a%20b/%C3%A4%2500%3F%23.py");
	cJSON_Delete(root);
}

enum { MANY = 5003 };

static void test_left_out(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	cJSON *root;
	struct finding *many = arena_make(&keep, struct finding, MANY);
	for (int i = 0; i < MANY; i++) {
		many[i] = r.findings.items[0];
		many[i].evidence.count = 0;
		many[i].gain_s = MANY - 1 - i;
	}
	r.findings.items = many;
	r.findings.count = MANY;
	const cJSON *run = sarif(&set, &root);
	assert_int_equal(cJSON_GetArraySize(at(run, "results")), 5000);
	assert_true(at(run, "results.0.properties.gain_s")->valuedouble == MANY - 1);
	const cJSON *note = at(run, "invocations.0.toolExecutionNotifications.1");
	assert_memory_equal(text_at(note, "message.text"), "3 more findings", 15);
	cJSON_Delete(root);
}

static void test_same_bytes(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep), none = { NULL, 0, STR("0.1.0") };
	assert_true(str_eq(sarif_text(&set), sarif_text(&set)));
	assert_true(str_contains(sarif_text(&none), STR("\"results\": []")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_unjudged),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_no_users_line),
		cmocka_unit_test(test_fingerprint_survives),
		cmocka_unit_test(test_equal_subjects_are_numbered),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_same_bytes),
	};
	return cmocka_run_group_tests_name("report_sarif", tests, keep_begin, keep_end);
}
