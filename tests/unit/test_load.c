/* session/load, baseline: options from words, and runs that a run is compared with. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/baseline.h"
#include "session/history.h"
#include "tests/unit/keep.h"

static struct diag err;
static struct load_options options;

static bool loads(const struct read_settings *s)
{
	return load_options(s, 1, &keep, &options, &err);
}

#define assert_refused(call, words)                                                                \
	do {                                                                                       \
		assert_false(call);                                                                \
		assert_non_null(strstr(err.text, (words)));                                        \
	} while (0)

/* ---- options --------------------------------------------------------------------------------- */

static void a_duration_is_an_age(void **state)
{
	(void)state;
	struct read_settings s = { .max_age = { NULL, 0 } };
	assert_true(loads(&s));
	assert_true(isnan(options.max_age_s));
	s.max_age = STR("2h");
	assert_true(loads(&s));
	assert_true(options.max_age_s == 7200 && options.now_ns > 0);
	static const char *const bad[] = { "", "2", "0s", "-1h", "2h30", "5GiB", "soon" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s.max_age = str_from(bad[i]);
		assert_refused(loads(&s), "--max-age takes a duration");
	}
}

static void a_commit_has_seven_digits(void **state)
{
	(void)state;
	struct read_settings s = { .expect_commit = STR_INIT("abcdef") };
	assert_refused(loads(&s), "at least 7 digits");
	s.expect_commit = STR("abcdef0");
	assert_true(loads(&s));
}

static bool root_is(const char *word, const char *seen, const char *kept)
{
	struct str text = str_from(word);
	struct read_settings s = { .source_roots = { &text, 1, 1 } };
	if (!loads(&s))
		return false;
	const struct source_root *r = options.measure.source_roots;
	assert_int_equal(options.measure.source_root_count, 1);
	return str_eq(r->seen, str_from(seen)) && str_eq(r->kept, str_from(kept));
}

static void source_roots_lead_into_the_repository(void **state)
{
	(void)state;
	assert_true(root_is("/job/src", "/job/src", ""));
	assert_true(root_is("/job/src=python/src//", "/job/src", "python/src"));
	assert_true(root_is("/a=b=c", "/a=b", "c"));
	assert_true(root_is("/job/=a", "/job", "a"));
	assert_true(root_is("/", "", ""));
	assert_refused(root_is("/job=/abs", "", ""), "--source-root takes DIR");
	assert_refused(root_is("/job=../up", "", ""), "--source-root takes DIR");
	assert_refused(root_is("=src", "", ""), "--source-root takes DIR");
}

static void a_sample_has_both_ends(void **state)
{
	(void)state;
	struct found_file files[5];
	for (int i = 0; i < 5; i++)
		files[i] = (struct found_file){ .path = arena_fmt(&keep, "%d", i) };
	struct found_run run = { .files = files, .file_count = 5 };
	struct found_run some = run_sample(&run, 3, &keep);
	assert_int_equal(some.file_count, 3);
	assert_true(str_eq(some.files[0].path, STR("0")) && str_eq(some.files[1].path, STR("2")) &&
		    str_eq(some.files[2].path, STR("4")));
	assert_true(str_eq(run_sample(&run, 1, &keep).files[0].path, STR("0")));
	assert_int_equal(run_sample(&run, 0, &keep).file_count, 5);
	assert_int_equal(run_sample(&run, 9, &keep).file_count, 5);
}

/* ---- baselines ------------------------------------------------------------------------------- */

static bool named(const char *word, const char *store, struct baselines *ret)
{
	struct str text = str_from(word);
	struct list words = { &text, 1, 1 };
	struct read_settings s = { .job = { NULL, 0 } };
	assert_true(loads(&s));
	return baselines_load(ret, &words, str_from(store), &options, &keep, &err);
}

static void a_baseline_is_a_run_or_a_report(void **state)
{
	(void)state;
	struct baselines b;
	char path[] = "/tmp/rooflint-load-XXXXXX.json";
	assert_true(named("tests/profiles/jax-cpu-train", NULL, &b));
	assert_int_equal(b.count, 1);
	assert_true(table_count(b.items[0].tables, run) == 1);
	assert_refused(named("/nonexistent", NULL, &b), "baseline");
	int fd = mkstemps(path, 5);
	assert_true(fd >= 0);
	assert_true(write(fd, "{}", 2) == 2);
	close(fd);
	assert_refused(named(path, NULL, &b), path);
	unlink(path);
}

static void a_baseline_may_be_old(void **state)
{
	(void)state;
	struct load_options head = { .max_age_s = 60, .expect_commit = STR_INIT("abcdef0") };
	struct load_options base = baseline_options(&head);
	assert_true(isnan(base.max_age_s) && !base.expect_commit.p && !base.measure.job);
}

static void a_query_needs_a_store(void **state)
{
	(void)state;
	struct baselines b;
	assert_refused(named("store:last=2", NULL, &b), "name it with --store");
	assert_true(named("store:last=2", "clickhouses://host/db", &b));
	assert_true(named("store:last=2", "facts.db", &b));
	assert_int_equal(b.query_count, 1);
	assert_int_equal(b.count, 0);
}

/* ---- queries of a store ---------------------------------------------------------------------- */

static struct history_query query;

static bool parses(const char *word)
{
	return history_query_parse(str_from(word), &keep, &query, &err);
}

static void a_query_has_keys_and_labels(void **state)
{
	(void)state;
	assert_true(history_is_query(STR("store:")) && !history_is_query(STR("runs/store")));
	assert_true(parses("store:"));
	assert_int_equal(query.last, HISTORY_LAST);
	assert_true(parses("store:branch=main,last=3,workload=w=1,verdict=pass,team=x,commit=c"));
	assert_int_equal(query.last, 3);
	assert_int_equal(query.label_count, 2);
	assert_true(str_eq(query.labels[0], STR("branch=main")));
	assert_true(str_eq(query.workload, STR("w=1")) && str_eq(query.commit, STR("c")));
	assert_refused(parses("store:main"), "is no key=value");
	assert_refused(parses("store:branch="), "is no key=value");
	assert_refused(parses("store:a=b,,c=d"), "is no key=value");
	assert_refused(parses("store:last=0"), "a number from 1 to 100");
	assert_refused(parses("store:last=101"), "a number from 1 to 100");
	assert_refused(parses("store:last=2,last=3"), "second of its key");
	assert_refused(parses("store:branch=a,branch=b"), "second of its key");
	assert_refused(parses("store:verdict=pass,verdict=fail"), "second of its key");
	assert_refused(parses("store:verdict=off"), "takes pass, warn, fail or inconclusive");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_duration_is_an_age),
		cmocka_unit_test(a_commit_has_seven_digits),
		cmocka_unit_test(source_roots_lead_into_the_repository),
		cmocka_unit_test(a_sample_has_both_ends),
		cmocka_unit_test(a_baseline_is_a_run_or_a_report),
		cmocka_unit_test(a_baseline_may_be_old),
		cmocka_unit_test(a_query_needs_a_store),
		cmocka_unit_test(a_query_has_keys_and_labels),
	};
	return cmocka_run_group_tests_name("load", tests, keep_begin, keep_end);
}
