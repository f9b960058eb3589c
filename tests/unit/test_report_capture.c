/* A capture without steps: no writer calls its length, or a part of it, that of a step. */
#include "report/message.h"
#include "report/transition.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static struct diag err;

static void assert_has(struct str text, const char *part)
{
	if (!str_contains(text, str_from(part)))
		fail_msg("no '%s' in:\n%.*s", part, STR_ARG(text));
}

static void assert_no_step(struct str text)
{
	static const char *const words[] = { "per step", "of the step", "A step waits",
		"a step today", "a step is", "of a step, if", "Step time", "step_time", "95%" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_contains(text, str_from(words[i])))
			fail_msg("'%s' in:\n%.*s", words[i], STR_ARG(text));
}

static struct report_set capture(void)
{
	struct report *r = arena_make(&keep, struct report, 1);
	*r = capture_report(&keep);
	struct moment_row *m = plot_rows(&r->plots, moment);
	m->step = NAN;
	m->role = STR("slowest");
	m->own_s = 0.02;
	m = plot_new(&r->plots, moment, &keep);
	m->device = STR("/device:TPU:1");
	m->role = STR("waiting");
	m->own_s = 0.01;
	return (struct report_set){ r, 1, STR("0.1.0") };
}

static void test_terminal(void **state)
{
	(void)state;
	struct report_set set = capture();
	struct report_style style = { .width = 200 };
	struct out *o = out_memory(&keep);
	report_terminal(&set, &style, &keep, o);
	assert_has(out_text(o), "the whole capture, 28.1 ms");
	assert_has(out_text(o), "up to 12.3 ms of 28.1 ms in the whole capture (43.8%)");
	assert_no_step(out_text(o));
}

static void test_page(void **state)
{
	(void)state;
	struct report_set set = capture();
	const struct doc_template *t = report_html_load(NONE, &keep, &err);
	struct out *o = out_memory(&keep);
	assert_non_null(t);
	report_html(&set, HTML_WHOLE, t, &keep, o);
	struct str page = str_head(out_text(o), str_find(out_text(o), STR("<footer>")));
	assert_has(page, "<dt>The capture</dt><dd><b>28.1 ms</b> <span>in all: its steps were "
			 "not found</span>");
	assert_has(page, "<dt>Recoverable</dt><dd><b>18.6 ms</b> <span>66.3% of the capture, if");
	assert_has(page, ">the capture</text>");
	assert_has(page, "All that was recorded, 28.1 ms on TPU:0: its steps were not found.");
	assert_has(page, "Without exposed communication the capture takes 20.0 ms on TPU:0,");
	assert_no_step(page);
}

static void test_markdown(void **state)
{
	(void)state;
	struct report_set set = capture();
	struct out *o = out_memory(&keep);
	report_markdown(&set, MARKDOWN_COMMENT, &keep, o);
	assert_has(out_text(o), "\n28.1 ms in the whole capture on TPU v5e");
	assert_has(out_text(o), "| Rule | Finding | Gain | Where |\n");
	assert_no_step(out_text(o));
}

/* Beside runs that have steps, a row says that it has none. */
static void test_batch(void **state)
{
	(void)state;
	struct report both[] = { capture_report(&keep), good_report(&keep) };
	struct report_set set = { both, 2, STR("0.1.0") };
	struct report_style style = { .width = 200 };
	struct out *o = out_memory(&keep);
	report_markdown(&set, MARKDOWN_COMMENT, &keep, o);
	assert_has(out_text(o), " | 28.1 ms, no steps | 18.6 ms |\n");
	assert_has(out_text(o), " | 500 ms |  |\n");
	o = out_memory(&keep);
	report_terminal(&set, &style, &keep, o);
	assert_has(out_text(o), "28.1 ms, no steps  18.6 ms (66.3%)");
	const struct doc_template *t = report_html_load(NONE, &keep, &err);
	o = out_memory(&keep);
	report_html(&set, HTML_WHOLE, t, &keep, o);
	assert_has(out_text(o), "data-value=\"0.0281\">28.1 ms, no steps</td>");
}

static void test_messages(void **state)
{
	(void)state;
	struct report_set set = capture();
	struct transitions news = transitions_of(&set, NULL, &keep);
	struct message_source source = report_message(&news);
	for (int kind = 0; kind < NOTICE_KINDS; kind++) {
		struct str text = NONE;
		struct doc_template *t = message_load((enum notice_kind)kind, NONE, &keep, &err);
		assert_non_null(t);
		assert_true(message_write(
			(enum notice_kind)kind, t, &source, NONE, &keep, &text, &err));
		assert_has(text, "28.1 ms in the whole capture on TPU");
		assert_no_step(text);
	}
}

static void test_openmetrics(void **state)
{
	(void)state;
	struct report_set set = capture();
	struct out *o = out_memory(&keep);
	report_openmetrics(&set, &keep, o);
	assert_has(out_text(o), "\nrooflint_idle_ratio{");
	assert_false(str_contains(out_text(o), STR("rooflint_step")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_openmetrics),
	};
	return cmocka_run_group_tests_name("report_capture", tests, keep_begin, keep_end);
}
