/* OpenMetrics: families whole and once, labels that do not grow, text that cannot break out. */
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static struct str metrics(const struct report_set *set)
{
	struct out *o = out_memory(&keep);
	report_openmetrics(set, &keep, o);
	return out_text(o);
}

static struct str metrics_of(struct report *r)
{
	struct report_set set = { r, 1, STR("0.1.0") };
	return metrics(&set);
}

static void assert_has(struct str text, const char *part)
{
	if (!str_contains(text, str_from(part)))
		fail_msg("no '%s' in:\n%.*s", part, STR_ARG(text));
}

static void test_demo(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct str text = metrics_of(&r);
	assert_has(text, "# TYPE rooflint_step_time_seconds gauge\n"
			 "# UNIT rooflint_step_time_seconds seconds\n"
			 "# HELP rooflint_step_time_seconds median steady step");
	assert_has(text,
		"\nrooflint_step_time_seconds{run=\"runs/nightly\",chip=\"tpu_v5e\"} 0.0281\n");
	assert_has(text, "\nrooflint_idle_ratio{run=\"runs/nightly\",chip=\"tpu_v5e\"} 0.021\n");
	assert_has(text, "{run=\"runs/nightly\",chip=\"tpu_v5e\",verdict=\"fail\"} 1\n");
	assert_has(text, "rooflint_rule_gain_seconds{run=\"runs/nightly\",chip=\"tpu_v5e\","
			 "rule=\"oversized-all-gather\"} 0.01832\n");
	assert_has(text, "\nrooflint_profiles_left_out 0\n");
	assert_true(str_ends(text, STR("\n# EOF\n")));
}

/* A dashboard must not get a new series with each capture. */
static void test_labels_stay(void **state)
{
	(void)state;
	struct report a = demo_report(&keep), b = demo_report(&keep);
	a.facts->name = STR("2026_03_14_09_26_53");
	a.profile = STR("logs/train/plugins/profile/2026_03_14_09_26_53");
	b.facts->name = STR("2026_03_15_09_26_53");
	b.profile = STR("logs/train/plugins/profile/2026_03_15_09_26_53");
	assert_true(str_eq(metrics_of(&a), metrics_of(&b)));
	assert_has(metrics_of(&a), "{run=\"logs/train\",");
	a.profile = STR("/data/20260314-092653/host0.xplane.pb");
	assert_has(metrics_of(&a), "{run=\"/data\",");
	a.facts->name = STR("pretrain");
	a.facts->labels = STR("team=a"); /* of a job file */
	assert_has(metrics_of(&a), "{run=\"pretrain\",");
}

static void test_same_names(void **state)
{
	(void)state;
	struct report items[] = { demo_report(&keep), demo_report(&keep), demo_report(&keep),
		demo_report(&keep) };
	struct report_set set = { items, COUNT_OF(items), STR("0.1.0") };
	items[1].profile = STR("runs/nightly #3"); /* taken when the third comes */
	items[1].facts->name = STR("nightly #3");
	struct str text = metrics(&set);
	assert_has(text, "rooflint_chips{run=\"runs/nightly\",chip=\"tpu_v5e\"} 8\n"
			 "rooflint_chips{run=\"runs/nightly #3\",chip=\"tpu_v5e\"} 8\n"
			 "rooflint_chips{run=\"runs/nightly #2\",chip=\"tpu_v5e\"} 8\n"
			 "rooflint_chips{run=\"runs/nightly #4\",chip=\"tpu_v5e\"} 8\n");
}

/* Each line is metadata or a sample; each family comes once; no series comes twice. */
static void assert_well_formed(struct str text)
{
	struct str line, rest = text, other, more;
	while (str_cut(rest, '\n', &line, &rest)) {
		bool is_meta = str_starts(line, STR("# TYPE rooflint_")) ||
			       str_starts(line, STR("# UNIT rooflint_")) ||
			       str_starts(line, STR("# HELP rooflint_")) ||
			       str_eq(line, STR("# EOF"));
		ptrdiff_t end = str_rfind_char(line, ' ');
		double value;
		assert_true(is_meta || str_starts(line, STR("rooflint_")));
		if (!is_meta)
			assert_true(str_to_double(str_from_offset(line, end + 1), &value));
		struct str key = is_meta ? line : str_head(line, end);
		for (more = rest; str_cut(more, '\n', &other, &more);)
			assert_false(
				str_starts(other, key) && (is_meta || other.p[key.len] == ' '));
	}
	assert_int_equal(rest.len, 0);
}

static void test_hostile(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct report r = demo_report(&keep);
	assert_well_formed(metrics(&set));
	r.profile = r.facts->name = STR("a\"} 1\nevil{x=\"\\");
	assert_well_formed(metrics_of(&r));
	assert_has(metrics_of(&r), "{run=\"a\\\"} 1 evil{x=\\\"\\\\\",chip=");
}

static void test_long_labels(void **state)
{
	(void)state;
	char name[1000];
	struct report r = demo_report(&keep);
	memset(name, 'x', sizeof(name));
	r.profile = r.facts->name = (struct str){ name, sizeof(name) };
	struct str text = metrics_of(&r), line;
	assert_well_formed(text);
	while (str_cut(text, '\n', &line, &text))
		assert_true(line.len < 300);
}

static void test_many_profiles(void **state)
{
	(void)state;
	enum { MANY = 1002 };
	struct report *items = arena_make(&keep, struct report, MANY);
	for (int i = 0; i < MANY; i++)
		items[i] = (struct report){ .profile = arena_fmt(&keep, "p%d", i),
			.verdict = VERDICT_PASS };
	struct report_set set = { items, MANY, STR("0.1.0") };
	assert_has(metrics(&set), "\nrooflint_profiles_left_out 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_labels_stay),
		cmocka_unit_test(test_same_names),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_long_labels),
		cmocka_unit_test(test_many_profiles),
	};
	return cmocka_run_group_tests_name("report_openmetrics", tests, keep_begin, keep_end);
}
