/* Markdown: inside its limit whatever comes, and nothing in it but our own markup. */
#include "report/md.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

#define ZERO "\xe2\x80\x8b"

static struct str markdown(const struct report_set *set, ptrdiff_t bytes)
{
	struct out *o = out_memory(&keep);
	report_markdown(set, bytes, &keep, o);
	return out_text(o);
}

static struct report_set set_of(struct report *r)
{
	return (struct report_set){ r, 1, STR("0.1.0") };
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
	struct report_set set = set_of(&r);
	struct str text = markdown(&set, MARKDOWN_COMMENT);
	assert_has(text, "FAIL rooflint: runs/nightly\n");
	assert_has(text, "\n28.1 ms per step on TPU v5e \xc3\x97"
			 "8; all fixes together give back up to 18.6 ms");
	assert_has(text,
		"Rules: 1 failed, 1 warning, 1 inconclusive, 2 passed, 1 not applicable, 1 off");
	assert_has(text, "| fail: oversized-all-gather | all-gather.17 stands");
	assert_has(text, " | 12.3 ms | model/ffn.py:41 |\n");
	assert_has(text, "| inconclusive: peak-memory | window\\_peak\\_bytes is unknown");
	assert_has(text, "<summary><b>warning: copy-share</b></summary>\n\n```text\n3.40% of the");
	assert_false(str_contains(text, STR("Left out")));
}

static void test_batch(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct str text = markdown(&set, MARKDOWN_COMMENT);
	assert_has(text, "## \xe2\x9d\x8c FAIL rooflint: 5 profiles: 2 failed, 1 unreadable, 1 ");
	assert_has(text, "ERROR | runs/broken |  |  |  |\n");
	assert_has(text, "| error: unreadable | runs/broken | runs/broken/host0.xplane.pb: XPlane");
	assert_has(text, "PASS | runs/good | H100 SXM \xc3\x97"
			 "1 | 500 ms |  |\n");
}

/* Every length is kept to, and from some length on nothing is missing. */
static void test_limit(void **state)
{
	(void)state;
	enum { MANY = 300 };
	struct report r = demo_report(&keep);
	struct report_set set = set_of(&r);
	struct finding many[MANY];
	for (int i = 0; i < MANY; i++) {
		many[i] = r.findings.items[0];
		many[i].rule = arena_fmt(&keep, "rule-%d", i);
	}
	r.findings.items = many;
	r.findings.count = MANY;
	for (ptrdiff_t bytes = 0; bytes < 20000; bytes += 197)
		assert_true(markdown(&set, bytes).len <= bytes);
	struct str text = markdown(&set, MARKDOWN_COMMENT);
	assert_true(text.len <= MARKDOWN_COMMENT && text.len > MARKDOWN_COMMENT / 2);
	assert_has(text, "_Left out here for its length: 251 rows and ");
	assert_has(markdown(&set, MARKDOWN_SUMMARY), "length: 251 rows. report.json has all._\n");
}

static const char *as_text(struct str s)
{
	struct out *o = out_memory(&keep);
	md_text(o, s);
	return arena_z(&keep, out_text(o));
}

static void test_text(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain text, 3.4% (of 9)", "plain text, 3.4% (of 9)" },
		{ "a|b`c`*d*_e_~f~\\", "a\\|b\\`c\\`\\*d\\*\\_e\\_\\~" ZERO "f\\~\\\\" },
		{ "[x](y)", "\\[x\\](y)" },
		{ "<img src=x>&amp;", "\\<img src=x\\>\\&" ZERO "amp;" },
		{ "ping @team a@b.c", "ping @" ZERO "team a@" ZERO "b.c" },
		{ "fixes #12, !3", "fixes #" ZERO "12, !" ZERO "3" },
		{ "https://e.x", "https:" ZERO "//e.x" },
		{ "www.e.x wWw.e", "ww" ZERO "w.e.x wW" ZERO "w.e" },
		{ "# head", "\\# head" },
		{ "- item", "\\- item" },
		{ "  ", "" },
	};
	for (ptrdiff_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(as_text(str_from(cases[i].in)), cases[i].out);
}

static void test_html(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	md_html(o, STR("</summary><img src=\"x\">&'@me"));
	assert_string_equal(arena_z(&keep, out_text(o)),
		"&#60;/summary&#62;&#60;img src=&#34;x&#34;&#62;&#38;&#39;@" ZERO "me");
}

static void test_block(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	md_block(o, STR("```\n</details>\n````"));
	assert_string_equal(
		arena_z(&keep, out_text(o)), "`````text\n```\n</details>\n````\n`````\n");
}

/* Lines outside code blocks hold no tag but those of a fold. */
static void assert_own_markup(struct str text)
{
	struct str line, fence = { NULL, 0 };
	while (str_cut(text, '\n', &line, &text)) {
		if (fence.p) {
			if (str_eq(line, fence))
				fence.p = NULL;
			continue;
		}
		if (str_starts(line, STR("```"))) {
			fence = str_head(line, line.len - 4); /* without "text" */
			continue;
		}
		if (str_starts(line, STR("<details>")) || str_starts(line, STR("</details>")) ||
			str_starts(line, STR("<summary><b>")))
			continue;
		for (ptrdiff_t i = 0; i < line.len; i++)
			if (line.p[i] == '<')
				assert_true(i > 0 && line.p[i - 1] == '\\');
	}
	assert_null(fence.p);
}

static void test_hostile(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	struct report r = demo_report(&keep);
	struct report_set one = set_of(&r);
	assert_own_markup(markdown(&set, MARKDOWN_SUMMARY));
	struct finding *f = &r.findings.items[0];
	r.profile = f->message = f->source_file = f->rule =
		STR("</summary></details>\n```\n| x | @all </script><img src=x onerror=alert(1)>");
	struct str text = markdown(&one, MARKDOWN_COMMENT);
	assert_own_markup(text);
	assert_has(text, "| @" ZERO "all") /* in the summary, where no table is */;
	assert_has(text, "\n````text\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_hostile),
	};
	return cmocka_run_group_tests_name("report_markdown", tests, keep_begin, keep_end);
}
