/* session/previous, profile_name, shard: what the last report said, names, and who takes what. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/previous.h"
#include "session/profile_name.h"
#include "session/shard.h"
#include "tests/unit/keep.h"

static struct diag err;

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

/* ---- the last report ------------------------------------------------------------------------- */

static void the_last_report_is_found(void **state)
{
	(void)state;
	struct finding findings[2] = { { .verdict = VERDICT_FAIL } };
	struct rule_result results[3] = { { .verdict = VERDICT_FAIL } };
	struct report reports[] = { { .profile = STR_INIT("one"),
					    .findings = { findings, 2 },
					    .results = { results, 3 } },
		{ .profile = STR_INIT("two") } };
	struct report_set set = { reports, 2, STR_INIT("x") };
	struct judgement j = previous_judgement(&set, STR("one"));
	assert_true(j.findings == findings && j.finding_count == 2);
	assert_true(j.results == results && j.result_count == 3);
	assert_int_equal(previous_judgement(&set, STR("two")).finding_count, 0);
	assert_int_equal(previous_judgement(&set, STR("three")).finding_count, 0);
	/* Names hold dates: the only report is the one before. */
	set.count = 1;
	assert_int_equal(previous_judgement(&set, STR("three")).finding_count, 2);
	reports[0].error.text = STR("damaged");
	assert_int_equal(previous_judgement(&set, STR("one")).finding_count, 0);
	assert_false(report_load(STR("/nonexistent.json"), &keep, &set, &err));
}

/* ---- names ----------------------------------------------------------------------------------- */

static void a_profile_has_one_name(void **state)
{
	(void)state;
	char cwd[4096];
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	const char *here = strrchr(cwd, '/') + 1;
	assert_str(profile_name(STR("./runs//a/."), &keep), "runs/a");
	assert_str(profile_name(arena_fmt(&keep, "%s/runs/", cwd), &keep), "runs");
	assert_str(profile_name(arena_fmt(&keep, "../%s/runs", here), &keep), "runs");
	assert_str(profile_name(STR("."), &keep), ".");
	assert_str(profile_name(str_from(cwd), &keep), ".");
	assert_str(profile_name(STR("/nonexistent//x/"), &keep), "/nonexistent/x");
	assert_str(profile_name(STR("a/../b"), &keep), "a/../b"); /* it may be a link */
	assert_str(profile_name(STR("s3://bucket/a//b/"), &keep), "s3://bucket/a//b");
}

/* ---- shards ---------------------------------------------------------------------------------- */

static void shards_are_counted_from_one(void **state)
{
	(void)state;
	struct shard s;
	assert_true(shard_parse(STR("2/8"), &s, &err));
	assert_true(s.index == 1 && s.count == 8);
	static const char *const bad[] = { "0/8", "9/8", "8", "a/b", "1/", "1/100001" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(shard_parse(str_from(bad[i]), &s, &err));
	setenv("ROOFLINT_SHARD_INDEX", "3", 1);
	setenv("ROOFLINT_SHARD_COUNT", "4", 1);
	assert_true(shard_parse(STR("auto"), &s, &err));
	assert_true(s.index == 3 && s.count == 4);
	setenv("ROOFLINT_SHARD_INDEX", "4", 1);
	assert_false(shard_parse(STR("auto"), &s, &err));
	unsetenv("ROOFLINT_SHARD_INDEX");
	unsetenv("ROOFLINT_SHARD_COUNT");
}

/* Each run has one shard, and the fullest has at most one run more than the emptiest. */
static void each_run_has_one_shard(void **state)
{
	(void)state;
	enum { RUNS = 50, SHARDS = 4 };
	int64_t bytes[RUNS], sum[SHARDS] = { 0 };
	int owners[RUNS] = { 0 };
	bool ours[RUNS];
	for (int i = 0; i < RUNS; i++)
		bytes[i] = 1000 + i * 37 % 11 * 100;
	for (int k = 0; k < SHARDS; k++) {
		shard_pick((struct shard){ k, SHARDS }, bytes, RUNS, keep, ours);
		for (int i = 0; i < RUNS; i++) {
			owners[i] += ours[i];
			sum[k] += ours[i] ? bytes[i] : 0;
		}
	}
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(owners[i], 1);
	for (int k = 1; k < SHARDS; k++)
		assert_true(llabs(sum[k] - sum[0]) <= 2000);
	shard_pick((struct shard){ 0, SHARDS }, bytes, 0, keep, ours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_report_is_found),
		cmocka_unit_test(a_profile_has_one_name),
		cmocka_unit_test(shards_are_counted_from_one),
		cmocka_unit_test(each_run_has_one_shard),
	};
	return cmocka_run_group_tests_name("previous", tests, keep_begin, keep_end);
}
