/* GitLab's code quality report: every field it demands, and identities that stay. */
#include "base/json.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static cJSON *gitlab(const struct report_set *set)
{
	struct diag err;
	struct out *o = out_memory(&keep);
	report_gitlab(set, &keep, o);
	cJSON *list = json_parse(STR("quality.json"), out_text(o), &err);
	assert_true(cJSON_IsArray(list));
	return list;
}

static struct report_set set_of(struct report *r)
{
	return (struct report_set){ r, 1, STR("0.1.0") };
}

static const char *text_of(const cJSON *o, const char *key)
{
	struct str text = json_get_str(o, key);
	assert_non_null(text.p);
	return text.p;
}

static void test_demo(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	cJSON *list = gitlab(&set);
	assert_int_equal(cJSON_GetArraySize(list), 4);
	const cJSON *first = cJSON_GetArrayItem(list, 0);
	const cJSON *place = cJSON_GetObjectItem(first, "location");
	assert_string_equal(text_of(first, "check_name"), "oversized-all-gather");
	assert_string_equal(text_of(first, "severity"), "major");
	assert_memory_equal(text_of(first, "description"), "all-gather.17 stands in the way", 31);
	assert_string_equal(text_of(place, "path"), "model/ffn.py");
	assert_true(json_get_double(cJSON_GetObjectItem(place, "lines"), "begin") == 41);
	assert_string_equal(text_of(cJSON_GetArrayItem(list, 2), "severity"), "minor");
	assert_string_equal(text_of(cJSON_GetArrayItem(list, 3), "severity"), "info");
	cJSON_Delete(list);
}

/* Each entry is complete, and GitLab keeps one of each fingerprint. */
static void test_all(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	cJSON *list = gitlab(&set), *item, *other;
	cJSON_ArrayForEach(item, list)
	{
		const cJSON *place = cJSON_GetObjectItem(item, "location");
		struct str path = json_get_str(place, "path");
		assert_true(strlen(text_of(item, "description")) > 0);
		assert_true(strlen(text_of(item, "severity")) > 0);
		assert_true(path.len > 0 && path.p[0] != '/');
		assert_true(json_get_double(cJSON_GetObjectItem(place, "lines"), "begin") >= 1);
		for (other = item->next; other; other = other->next)
			assert_string_not_equal(
				text_of(item, "fingerprint"), text_of(other, "fingerprint"));
	}
	cJSON_Delete(list);
}

static const char *profile_place(const char *profile)
{
	struct report r = broken_report(&keep);
	struct report_set set = set_of(&r);
	r.profile = str_from(profile);
	cJSON *list = gitlab(&set);
	const cJSON *place = cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "location");
	const char *path = arena_z(&keep, json_get_str(place, "path"));
	cJSON_Delete(list);
	return path;
}

static void test_profile_as_place(void **state)
{
	(void)state;
	assert_string_equal(profile_place("runs/a"), "runs/a");
	assert_string_equal(profile_place("/data/runs/a"), "runs/a");
	assert_string_equal(profile_place("../../a"), "a");
	assert_string_equal(profile_place("."), "profile");
	assert_string_equal(profile_place("a/../../b"), "profile");
	assert_string_equal(profile_place(""), "profile");
	assert_string_equal(
		profile_place("logs/plugins/profile/2026_03_14_09_26_53/h.xplane.pb"), "logs");
	assert_string_equal(profile_place("logs/plugins/profile/2026_03_14_09_26_53"), "logs");
}

static void test_left_out(void **state)
{
	(void)state;
	enum { MANY = 1001 };
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	struct finding *many = arena_make(&keep, struct finding, MANY);
	for (int i = 0; i < MANY; i++)
		many[i] = r.findings.items[0];
	r.findings.items = many;
	r.findings.count = MANY;
	cJSON *list = gitlab(&set);
	assert_int_equal(cJSON_GetArraySize(list), 1001);
	assert_memory_equal(
		text_of(cJSON_GetArrayItem(list, 1000), "description"), "2 more, the last of", 19);
	cJSON_Delete(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_profile_as_place),
		cmocka_unit_test(test_left_out),
	};
	return cmocka_run_group_tests_name("report_gitlab", tests, keep_begin, keep_end);
}
