/* report/diff: names of any length and any letters, in each form of a diff. */
#include "base/text.h"
#include "report/diff.h"
#include "report/html.h"
#include "tests/unit/keep.h"

#define NONE   ((struct str){ NULL, 0 })
#define MARKUP STR("</script></style></title><img src=x onerror=alert(1)>'\" {{name}}")

/* As a kernel of templates is called. */
static struct str long_name(void)
{
	struct str text = STR("void fill");
	for (int i = 0; i < 20; i++)
		text = arena_fmt(&keep, "%.*s<array<float, %d>>", STR_ARG(text), i);
	return arena_fmt(&keep, "%.*s(T3, int)", STR_ARG(text));
}

/* An op that got slower, all of whose names are `name`. */
static struct diff_report diff_of(struct str name)
{
	struct changes_row *row = arena_make(&keep, struct changes_row, 1);
	struct op_diff *ops = arena_make(&keep, struct op_diff, 1);
	*row = (struct changes_row){ .change = STR("slower"),
		.key = name,
		.name = name,
		.kind = STR("matmul"),
		.shape = name,
		.base_shape = STR("f32[8]"),
		.scope = name,
		.feeds = name,
		.instead_of = name,
		.pieces = name,
		.base_s = 1e-3,
		.head_s = 2e-3,
		.lost_s = 1e-3,
		.size_s = 1e-3,
		.base_per_step = 1,
		.head_per_step = 1 };
	*ops = (struct op_diff){ .items = row, .count = 1, .lost_s = 1e-3 };
	return (struct diff_report){ .base = name,
		.head = name,
		.ops = ops,
		.report = arena_make(&keep, struct report, 1),
		.most = DIFF_MOST,
		.tool_version = STR("0.1.0") };
}

static struct str written(const struct diff_report *d,
	void (*write)(const struct diff_report *, struct arena *, struct out *))
{
	struct out *out = out_memory(&keep);
	write(d, &keep, out);
	return out_text(out);
}

static struct str page_of(const struct diff_report *d)
{
	struct diag err = { 0 };
	struct doc_template *t = diff_html_load(NONE, &keep, &err);
	struct out *out = out_memory(&keep);
	assert_non_null(t);
	diff_html(d, t, &keep, out);
	return out_text(out);
}

/* What stands between `open` and `close`, for the first time. */
static struct str between(struct str text, const char *open, const char *close)
{
	ptrdiff_t at = str_find(text, str_from(open));
	assert_true(at >= 0);
	text = str_from_offset(text, at + str_from(open).len);
	return str_head(text, str_find(text, str_from(close)));
}

static void test_long_names(void **state)
{
	(void)state;
	struct diff_report d = diff_of(long_name());
	d.base = d.head = STR("runs/nightly");
	assert_false(str_contains(written(&d, diff_text), STR("<array<float, 9>>")));
	assert_true(str_contains(written(&d, diff_text), STR("(T3, int)")));
	assert_false(str_contains(written(&d, diff_markdown), STR("array\\<float, 9")));
	assert_true(str_contains(written(&d, diff_json), long_name()));
	struct str row = between(page_of(&d), "<tbody>", "</tbody>");
	assert_true(
		str_contains(between(row, "<th", ">void"), STR("&lt;array&lt;float, 9&gt;&gt;")));
	assert_false(str_contains(between(row, "\">void", "</th>"), STR("float, 9&gt;&gt;")));
	assert_true(str_contains(between(row, "\">void", "</th>"), STR("(T3, int)")));
}

/* What fits has no title that says it again. */
static void test_short_names(void **state)
{
	(void)state;
	struct diff_report d = diff_of(STR("fusion.7"));
	struct str row = between(page_of(&d), "<tbody>", "</tbody>");
	assert_true(str_contains(row, STR("<th scope=\"row\">fusion.7</th>")));
	assert_false(str_contains(row, STR("title=")));
}

static void test_nothing_becomes_markup(void **state)
{
	(void)state;
	struct diff_report d = diff_of(MARKUP);
	struct str html = page_of(&d);
	assert_false(str_contains(html, STR("<img")));
	assert_true(str_contains(html, STR("&lt;img src=x")));
	assert_true(str_contains(html, STR("{{name}}")));
	struct str after = str_from_offset(html, str_find(html, STR("</script>")) + 1);
	assert_false(str_contains(after, STR("</script>")));
	assert_false(str_contains(written(&d, diff_markdown), STR(" <img")));
}

/* The picture holds the kinds that the text holds: those that changed. */
static void test_kinds(void **state)
{
	(void)state;
	struct diff_report d = diff_of(STR("dot.1"));
	struct op_diff ops = *d.ops;
	ops.base_ops_s = 7e-3;
	ops.head_ops_s = 8e-3;
	ops.kinds[0] = (struct diff_kind){ STR("matmul"), 5e-3, 6e-3, 0 };
	ops.kinds[1] = (struct diff_kind){ STR("softmax"), 2e-3, 2e-3, 0 };
	ops.kind_count = 2;
	ops.kinds_changed = 1;
	d.ops = &ops;
	struct str picture = between(page_of(&d), "Two bars for each kind", "</figure>");
	assert_true(str_contains(picture, STR(">matmul<")));
	assert_false(str_contains(picture, STR(">softmax<")));
	assert_false(str_contains(picture, STR("+0 s")));
}

/* The picture leads from the step before to the step after, as the first line does. */
static void test_waterfall(void **state)
{
	(void)state;
	struct diff_report d = diff_of(STR("dot.1"));
	struct op_diff ops = *d.ops;
	ops.base_ops_s = 8e-3;
	ops.head_ops_s = 9e-3;
	ops.base_step_s = 10e-3;
	ops.head_step_s = 30e-3;
	d.ops = &ops;
	struct str picture = between(page_of(&d), "the time before, what each change", "</figure>");
	const char *texts[] = { ">10.0 ms<", ">+1.00 ms<", ">between ops<", ">+19.0 ms<",
		">30.0 ms<" };
	for (int i = 0; i < COUNT_OF(texts); i++)
		assert_true(str_contains(picture, str_from(texts[i])));
	assert_false(str_contains(picture, STR(">all others<")));
}

/* The lines of a diff and these words come to its total. */
static void test_counts(void **state)
{
	(void)state;
	struct op_diff ops = { .is_planned = true, .same_s = -2e-3, .untimed = 3 };
	ops.counts[CHANGE_SAME] = 7;
	assert_string_equal(arena_z(&keep, diff_counts(&ops, &keep)),
		"7 the same (-2.00 ms "
		"together); of 3 of them the roofline is not known");
	ops = (struct op_diff){ .counts = { 1 } };
	assert_string_equal(arena_z(&keep, diff_counts(&ops, &keep)), "1 new, 0 the same");
}

/* One line says what happened; what ops do not explain is not laid to an op. */
static void test_headline(void **state)
{
	(void)state;
	struct changes_row rows[] = { { .name = STR("dot.1"),
		.lost_s = 3e-3,
		.size_s = 3e-3,
		.user_file = STR("/home/me/train/model.py"),
		.user_line = 9 } };
	struct op_diff ops = { .items = rows,
		.count = 1,
		.lost_s = 3e-3,
		.work = 1,
		.base_ops_s = 8e-3,
		.head_ops_s = 11e-3,
		.base_step_s = 10e-3,
		.head_step_s = 13e-3 };
	assert_string_equal(arena_z(&keep, diff_headline(&ops, &keep)),
		"A step takes 30.0% longer: 13.0 ms, was 10.0 ms; mostly by dot.1, "
		"train/model.py:9 (+3.00 ms)");
	ops.head_step_s = 30e-3;
	assert_string_equal(arena_z(&keep, diff_headline(&ops, &keep)),
		"A step takes 3 times as long: 30.0 ms, was 10.0 ms; ops make up 3.00 ms of "
		"it, the rest passes between them");
	ops.head_step_s = 10.01e-3;
	assert_string_equal(
		arena_z(&keep, diff_headline(&ops, &keep)), "A step takes 10.0 ms, as before");
	ops.is_window = true;
	assert_string_equal(arena_z(&keep, diff_headline(&ops, &keep)),
		"The same work takes 10.0 ms, as before");
	ops.work = NAN;
	assert_string_equal(arena_z(&keep, diff_headline(&ops, &keep)),
		"The captures hold different work, and no steps: ops take 11.0 ms, was 8.00 "
		"ms");
}

/* Whether the first line says that its change may be noise; lo and hi are of the step's change. */
static bool doubts(double lo, double hi, double resolution)
{
	struct diff_report d = diff_of(STR("dot.1"));
	struct op_diff *ops = arena_make(&keep, struct op_diff, 1);
	struct report *report = arena_make(&keep, struct report, 1);

	*ops = (struct op_diff){ .base_step_s = 0.010, .head_step_s = 0.012 };
	struct deltas_row *row = table_new(&report->tables, deltas, &keep);
	row->metric = STR("run.step_time_s");
	row->lo = lo;
	row->hi = hi;
	row->resolution = resolution;
	row->n_head = row->n_base = 4;
	d.ops = ops;
	d.report = report;
	return str_contains(written(&d, diff_text), STR("; this may be noise"));
}

static void test_noise_is_no_change(void **state)
{
	(void)state;
	assert_false(doubts(0.15, 0.25, 0.05));
	assert_true(doubts(-0.05, 0.45, 0.1));
	assert_true(doubts(NAN, NAN, 0.5));
	assert_false(doubts(NAN, NAN, NAN)); /* without steps nothing is known of noise */
}

/* What the first line says beyond the time, which is the same. */
static void test_memory_is_a_change(void **state)
{
	static const struct {
		double head_s, base, head;
		const char *said;
	} cases[] = { { 0.010, 8e9, 9e9, "as before; the peak memory grew by 12.5%" },
		{ 0.010, 8e9, 6e9, "as before; the peak memory shrank by 25.0%" },
		{ 0.010, 8e9, 8.2e9, "as before\n" }, { 0.012, 8e9, 9e9, "was 10.0 ms" } };
	(void)state;
	for (ptrdiff_t i = 0; i < COUNT_OF(cases); i++) {
		struct diff_report d = diff_of(STR("dot.1"));
		struct op_diff *ops = arena_make(&keep, struct op_diff, 1);
		struct report *report = arena_make(&keep, struct report, 1);
		*ops = (struct op_diff){ .base_step_s = 0.010, .head_step_s = cases[i].head_s };
		struct deltas_row *row = table_new(&report->tables, deltas, &keep);
		row->metric = STR("memory.window_peak_bytes");
		row->name = STR("the peak memory");
		row->against = row->key = STR("before");
		row->base = cases[i].base;
		row->head = cases[i].head;
		row->ratio = row->head / row->base;
		d.ops = ops;
		d.report = report;
		struct str text = written(&d, diff_text);
		assert_true(str_contains(text, str_from(cases[i].said)));
		assert_int_equal(
			str_contains(text, STR("grew")) || str_contains(text, STR("shrank")),
			i < 2);
	}
}

/* Without steps a change is sure as far as the ops that changed explain it. */
static void test_noise_of_windows(void **state)
{
	(void)state;
	struct diff_report d = diff_of(STR("dot.1"));
	struct op_diff ops = *d.ops;
	ops.is_window = true;
	ops.work = 1;
	ops.base_step_s = ops.base_ops_s = 10e-3;
	ops.head_step_s = ops.head_ops_s = 12e-3;
	ops.lost_s = 2e-3;
	ops.kinds[0] = (struct diff_kind){ STR("all-to-all"), 5e-3, 7e-3, 0 };
	ops.kind_count = ops.kinds_changed = 1;
	d.ops = &ops;
	assert_false(str_contains(written(&d, diff_text), STR("noise")));
	assert_false(str_contains(written(&d, diff_text), STR("spread")));
	ops.same_s = ops.kinds[0].same_s = 1.5e-3;
	assert_true(str_contains(written(&d, diff_text), STR("; this may be noise")));
	assert_true(str_contains(
		written(&d, diff_text), STR("7.00 ms, was 5.00 ms, within its spread or 2%")));
	assert_true(str_contains(
		written(&d, diff_markdown), STR("| +2.00 ms, within its spread or 2% |")));
	ops.head_step_s = ops.base_step_s;
	assert_false(str_contains(written(&d, diff_text), STR("noise")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_nothing_becomes_markup),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_waterfall),
		cmocka_unit_test(test_headline),
		cmocka_unit_test(test_noise_is_no_change),
		cmocka_unit_test(test_memory_is_a_change),
		cmocka_unit_test(test_noise_of_windows),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
