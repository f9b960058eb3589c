/* The page: what stands on it, that it is whole, and that a profile cannot become markup. */
#include <stdio.h>
#include <stdlib.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/fleet_view.h"
#include "report/html.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"
#include "tests/unit/manual.h"

static struct str page(const struct report_set *set)
{
	struct diag err = { 0 };
	const struct doc_template *t = report_html_load(NONE, &keep, &err);
	if (!t)
		fail_msg("%s", err.text);
	struct out *out = out_memory(&keep);
	report_html(set, HTML_WHOLE, t, &keep, out);
	return out_text(out);
}

static struct str page_of(struct report r)
{
	struct report_set set = { &r, 1, STR("0.1.0") };
	return page(&set);
}

static void assert_has(struct str text, const char *words)
{
	if (!str_contains(text, str_from(words)))
		fail_msg("not on the page: %s", words);
}

static ptrdiff_t count_of(struct str text, struct str needle)
{
	ptrdiff_t count = 0;
	for (ptrdiff_t at; (at = str_find(text, needle)) >= 0; count++)
		text = str_from_offset(text, at + needle.len);
	return count;
}

/* ---- what stands on it ----------------------------------------------------------------------- */

static void test_demo(void **state)
{
	(void)state;
	struct str html = page_of(demo_report(&keep));
	assert_has(html, "<!DOCTYPE html>\n<html lang=\"en\">");
	assert_has(html, "<title>Failed: runs/nightly</title>");
	assert_has(html, "TPU v5e \xc3\x97"
			 "8, 2 of 4 hosts, 8 steady steps, 28.1 ms per step");
	assert_has(html, "All fixes together give back up to 18.6 ms of 28.1 ms per step");
	assert_has(html, "id=\"rule-oversized-all-gather\"");
	assert_has(html, "all-gather.17 stands in the way for 12.3 ms of every step");
	assert_has(html, "<code class=\"place\">model/ffn.py:41</code>");
	assert_has(html, "up to 12.3 ms of 28.1 ms per step (43.8%); both together 18.3 ms");
	assert_has(html, "<pre><code>h = jax.lax.with_sharding_constraint(h, P(&#39;data&#39;, "
			 "&#39;model&#39;))</code></pre>");
	assert_has(html, "1 more could not be judged");
	assert_has(html, "window_peak_bytes is unknown for all 8 rows of memory");
	assert_has(html, "2 of 4711 rows");
	assert_true(str_find(html, STR("Findings<")) <
		    str_find(html, STR("Could not be judged")));
	assert_true(str_find(html, STR("Could not be judged")) < str_find(html, STR(">Passed<")));
}

static void test_pictures(void **state)
{
	(void)state;
	struct str html = page_of(demo_report(&keep));
	assert_has(html, "Step 41, 28.1 ms on TPU:0: a typical one. Of 9 ops, "
			 "8 share a bar with others");
	assert_has(html, "all-gather.17 (all-gather): 12.3 ms from 1.00 ms on");
	assert_has(html, "and 7 more ops, busy for 100 us together");
	assert_has(html, "The allocator holds 2.79 GiB at most. 3 events.");
	assert_has(html, "<dt class=\"takes\">Takes</dt>");
	assert_has(html, "<code>param.3</code> <span class=\"opcode\">parameter</span>");
	assert_has(html, "and 4 more, of smaller results");
}

/* What follows from a cost that is a bound says so. */
static void test_bounds_of_costs(void **state)
{
	(void)state;
	static const char *const bounds[] = { "lower", "upper", "exact" };
	struct report r = good_report(&keep);
	for (int i = 0; i < 3; i++) {
		struct families_row *f = table_new(&r.tables, families, &keep);
		f->name = arena_fmt(&keep, "op.%d", i);
		f->kind = STR("attention");
		f->time_share = 0.2;
		f->roofline_s = 1e-3;
		f->cost_bound = str_from(bounds[i]);
	}
	r.row_totals[TABLE_families] = 3;
	struct str html = page_of(r);
	assert_has(html, "roofline at least 1.00 ms<");
	assert_has(html, "roofline at most 1.00 ms<");
	assert_has(html, "roofline 1.00 ms<");
	assert_has(html, ">lower<");
}

/* Beyond a minute the ticks of an axis share one unit. */
static void test_long_axis(void **state)
{
	(void)state;
	static const struct {
		double most;
		const char *has, *has_not;
	} axes[] = { { 92, ">80 s<", "min<" }, { 900, ">10 min<", " s<" },
		{ 36000, ">6 h<", "min<" }, { 0.092, ">80 ms<", " s<" } };
	for (size_t i = 0; i < COUNT_OF(axes); i++) {
		struct report r = demo_report(&keep);
		struct moment_row *m = plot_rows(&r.plots, moment);
		m->step_s = m->shown_s = axes[i].most;
		struct str html = page_of(r);
		struct str picture = str_from_offset(html, str_find(html, STR("picture-timeline")));
		picture = str_head(picture, str_find(picture, STR("</svg>")));
		assert_has(picture, axes[i].has);
		assert_int_equal(count_of(picture, str_from(axes[i].has_not)), 0);
	}
}

/* The policy allows the page's own script and nothing else. */
static struct moment_row *add_moment(
	struct report *r, const char *host, const char *device, const char *role, double own_s)
{
	struct moment_row *m = plot_new(&r->plots, moment, &keep);
	m->host = str_from(host);
	m->device = str_from(device);
	m->role = str_from(role);
	m->own_s = own_s;
	m->step_s = m->shown_s = 0.03;
	return m;
}

static void test_devices(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	struct moment_row *first = plot_rows(&r.plots, moment);
	first->host = STR("worker-0");
	first->left_out = 61;
	add_moment(&r, "worker-0", "/device:TPU:3", "slowest", 0.02);
	add_moment(&r, "worker-1-of-a-long-name", "/device:TPU:1", "waiting", 0.015);
	struct timeline_row *bar = plot_new(&r.plots, timeline, &keep);
	*bar = plot_rows(&r.plots, timeline)[0];
	bar->moment = 2;
	bar->name = STR("fusion.99");
	bar = plot_new(&r.plots, timeline, &keep);
	*bar = plot_rows(&r.plots, timeline)[0];
	bar->moment = 3; /* of no device that is there */
	bar->name = STR("fusion.100");
	struct str html = page_of(r);
	assert_has(html, "3 of 64 devices are drawn. Each device begins at the start "
			 "of its own step.");
	assert_has(html, "Without exposed communication a step takes 20.0 ms on TPU:3 on worker-0, "
			 "which works longest, and 15.0 ms on TPU:1 on worker-1");
	assert_has(html, ">TPU:3 (works longest)<");
	assert_has(html, ">TPU:1 (waits most)<");
	assert_has(html, "fusion.99 (all-gather): 12.3 ms");
	assert_int_equal(count_of(html, STR("fusion.100")), 0);
}

/* The caption says of which step it is, and of each device what is missing. */
static void test_steps_of_devices(void **state)
{
	(void)state;
	struct report r = demo_report(&keep);
	assert_has(page_of(r), "on TPU:0: a typical one. Of 9 ops");
	assert_false(str_contains(page_of(r), STR("come before the rest")));
	add_moment(&r, "", "/device:TPU:3", "", 0.02)->shown_s = 0.002;
	add_moment(&r, "", "/device:TPU:4", "", 0.02)->shown_s = 0;
	assert_has(page_of(r), "a typical one. Of TPU:3 only the first 2.00 ms are drawn, of TPU:4 "
			       "nothing is drawn: too many ops come before the rest.");
	plot_rows(&r.plots, moment)->shown_s /= 2;
	assert_has(page_of(r), "Of TPU:0 only the first 14.1 ms are drawn, of TPU:3");
	r.facts->steps = 1;
	assert_has(page_of(r), "on TPU:0: the only steady one. Of");
}

static double attribute(struct str tag, const char *name)
{
	struct str needle = arena_fmt(&keep, " %s=\"", name);
	struct str rest = str_from_offset(tag, str_find(tag, needle) + needle.len);
	return strtod(arena_z(&keep, str_head(rest, str_find_char(rest, '"'))), NULL);
}

/* The first rectangle before the title that begins so. */
static double area_of(struct str picture, const char *title)
{
	ptrdiff_t at = str_find(picture, arena_fmt(&keep, "<title>%s", title));
	if (at < 0)
		fail_msg("no box is titled %s", title);
	struct str before = str_head(picture, at);
	for (ptrdiff_t next; (next = str_find(before, STR("<rect"))) >= 0;)
		before = str_from_offset(before, next + 5);
	return (attribute(before, "width") + 1) * (attribute(before, "height") + 1);
}

/* Areas are shares, less the heads of groups and the gaps between them. */
static void test_treemap(void **state)
{
	(void)state;
	static const struct {
		const char *name, *scope, *kind;
		double share;
	} ops[] = {
		{ "a.1", "jit(f)/attn/dot", "matmul", 0.6 },
		{ "b.1", "jit(f)/ffw/layer_1/dot", "matmul", 0.2 },
		{ "c.1", "jit(f)/ffw/add", "elementwise", 0.1 },
		{ "d.1", "", "copy", 0.1 },
		{ "e.1", "", "copy", INFINITY },
	};
	struct report r = good_report(&keep);
	for (size_t i = 0; i < COUNT_OF(ops); i++) {
		struct families_row *f = table_new(&r.tables, families, &keep);
		f->name = str_from(ops[i].name);
		f->scope = str_from(ops[i].scope);
		f->kind = str_from(ops[i].kind);
		f->time_share = ops[i].share;
	}
	struct str html = page_of(r);
	struct str picture = str_from_offset(html, str_find(html, STR("picture-treemap")));
	picture = str_head(picture, str_find(picture, STR("</figure>")));
	assert_has(picture, ">attn 60.0%<");
	assert_has(picture, ">ffw 30.0%<");
	assert_has(picture, ">no scope");
	assert_has(picture, ">matmul, convolution<"); /* a colour's key */
	double a = area_of(picture, "a.1 (matmul): 60.0%"), b = area_of(picture, "b.1"),
	       c = area_of(picture, "c.1"), d = area_of(picture, "d.1 (copy): 10.0%");
	assert_true(fabs(a / (6 * d) - 1) < 0.35);
	assert_true(fabs(b / (2 * c) - 1) < 0.1);
	assert_int_equal(count_of(picture, STR("e.1")), 0);
}

/* Options are code, so that no line breaks behind their dashes. */
static void test_spans(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_code;
	} expected[] = { { "none (", false }, { "--baseline", true }, { "); name it with ", false },
		{ "--hardware=x", true }, { ", or ", false }, { "a b", true },
		{ " -- so", false } };
	struct template_list spans = html_spans(
		STR("none (--baseline); name it with --hardware=x, or `a b` -- so"), &keep);
	const struct html_span *items = spans.items;
	assert_int_equal(spans.count, COUNT_OF(expected));
	for (ptrdiff_t i = 0; i < spans.count; i++) {
		assert_string_equal(arena_z(&keep, items[i].text), expected[i].text);
		assert_int_equal(items[i].is_code, expected[i].is_code);
	}
}

static void test_policy(void **state)
{
	(void)state;
	struct str html = page_of(demo_report(&keep)), before, script, rest;
	struct sha256 hash = sha256_new();
	sha256_add(&hash, embed_find(STR("templates/report.js")));
	struct str policy =
		arena_fmt(&keep, "form-action &#39;none&#39;; script-src &#39;%.*s&#39;\"",
			STR_ARG(sha256_source(&hash, &keep)));
	assert_has(html, arena_z(&keep, policy));
	ptrdiff_t at = str_find(html, STR("<script>"));
	assert_true(at > 0);
	rest = str_from_offset(html, at + 8);
	script = str_head(rest, str_find(rest, STR("</script>")));
	assert_true(str_eq(script, embed_find(STR("templates/report.js"))));
	before = str_head(html, at);
	assert_true(str_contains(before, STR("</main>"))); /* all that is read comes first */
}

static void test_unreadable(void **state)
{
	(void)state;
	struct str html = page_of(broken_report(&keep));
	assert_has(html, "<title>Unreadable: runs/broken</title>");
	assert_has(html, "<b>RL201</b> runs/broken/host0.xplane.pb: XPlane at byte 1021");
	assert_false(str_contains(html, STR("<h2")));
}

/* Several profiles: an index on top, and ids that no two reports share. */
static void test_batch(void **state)
{
	(void)state;
	struct report items[] = { demo_report(&keep), good_report(&keep), broken_report(&keep) };
	struct report_set set = { items, 3, STR("0.1.0") };
	struct str html = page(&set);
	assert_has(html, "3 profiles: 1 failed, 1 unreadable, 1 passed");
	assert_int_equal(count_of(html, STR("<h1")), 1);
	assert_int_equal(count_of(html, STR("-rule-copy-share\"")), 2); /* of both that were read */
	assert_false(str_contains(html, STR("id=\"rule-")));
}

static void test_same_bytes(void **state)
{
	(void)state;
	struct report_set set = all_reports(&keep);
	assert_true(str_eq(page(&set), page(&set)));
}

/* ---- hostile input --------------------------------------------------------------------------- */

static void fill_table(struct table *t, const struct table_def *def, struct str text)
{
	static const double numbers[] = { INFINITY, -INFINITY, NAN, 0, -1, 1e300, 1e-300, 3 };
	for (int i = 0; i < 64; i++) {
		void *row = rows_add(t, def, &keep);
		for (ptrdiff_t k = 0; k < def->column_count; k++) {
			const struct column *c = &def->columns[k];
			if (c->type == COLUMN_TEXT)
				cell_set_text(c, row, text);
			else
				cell_set_real(c, row, numbers[(i * 5 + k * (1 + i / 8)) % 8]);
		}
	}
}

/* Every table with rows of text that wants to be markup, and numbers that no plot expects. */
static void fill_tables(struct report *r, struct str text)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		fill_table(&r->tables.items[id], &table_defs[id], text);
		r->row_totals[id] = 1e9;
	}
	for (int id = 0; id < PLOT_COUNT; id++)
		fill_table(&r->plots.items[id], &plot_defs[id], text);
	/* Enough of it is sound that pictures are drawn. */
	plot_rows(&r->plots, moment)->step_s = plot_rows(&r->plots, moment)->shown_s = 3;
	plot_rows(&r->plots, curves)->length_s = 3;
}

static void surround(struct finding *f, struct str text)
{
	struct around *a = &f->around;
	a->ops.items = arena_make(&keep, struct neighbour, AROUND_ROLES);
	a->ops.count = AROUND_ROLES;
	a->takes_left_out = a->holds_left_out = a->gives_left_out = 1e300;
	for (int role = 0; role < AROUND_ROLES; role++)
		a->ops.items[role] =
			(struct neighbour){ (enum around_role)role, text, text, text, 1 };
}

#define MARKUP STR("</script></style></title></svg><img src=x onerror=alert(1)>'\" --{{name}}`a`")

static void test_nothing_becomes_markup(void **state)
{
	(void)state;
	struct report r = hostile_report(&keep);
	fill_tables(&r, MARKUP);
	r.profile = MARKUP;
	for (ptrdiff_t i = 0; i < r.findings.count; i++) {
		struct finding *f = &r.findings.items[i];
		f->rule = f->subject = f->name = f->message = f->cause = f->fix = f->source_file =
			f->scope = MARKUP;
		surround(f, MARKUP);
	}
	for (ptrdiff_t i = 0; i < r.results.count; i++) {
		struct rule_result *rule = &r.results.items[i];
		rule->name = rule->title = rule->reason = rule->todo = rule->why = MARKUP;
	}
	struct str html = page_of(r);
	assert_false(str_contains(html, STR("<img")));
	assert_int_equal(count_of(html, STR("<script")), 1); /* the page's own */
	assert_int_equal(count_of(html, STR("</script")), 1);
	assert_int_equal(count_of(html, STR("</style>")), 1);
	assert_int_equal(count_of(html, STR("{{name}}`a`")) > 0, 1); /* slots do not nest */
	assert_false(str_contains(html, STR("nan")) && str_contains(html, STR("=\"nan")));
	assert_false(str_contains(html, STR("=\"inf")));
}

static void test_controls_and_bad_utf8(void **state)
{
	(void)state;
	struct report r = hostile_report(&keep);
	fill_tables(&r, HOSTILE);
	struct str html = page_of(r), line, rest = html;
	for (bool more = true; more;) {
		more = str_cut(rest, '\n', &line, &rest);
		while (line.len > TEXT_MAX / 2) { /* text_is_clean has a limit of its own */
			ptrdiff_t end = TEXT_MAX / 2;
			while (((unsigned char)line.p[end] & 0xc0) == 0x80)
				end--;
			assert_true(text_is_clean(str_head(line, end)));
			line = str_from_offset(line, end);
		}
		assert_true(text_is_clean(line));
	}
}

/* Tags are balanced, so that nothing that follows changes its meaning. */
static void test_tags_are_balanced(void **state)
{
	(void)state;
	static const char *const names[] = { "svg", "div", "section", "table", "tr", "td", "th",
		"details", "g", "text", "title", "p", "span", "a", "ul", "li", "figure", "h3" };
	struct report r = demo_report(&keep);
	fill_tables(&r, STR("x"));
	struct str html = page_of(r);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str open = arena_fmt(&keep, "<%s ", names[i]);
		struct str bare = arena_fmt(&keep, "<%s>", names[i]);
		struct str close = arena_fmt(&keep, "</%s>", names[i]);
		if (count_of(html, open) + count_of(html, bare) != count_of(html, close))
			fail_msg("<%s> is not balanced", names[i]);
	}
}

/* ---- the contract with template authors ------------------------------------------------------ */

/* "a row" under "row", */
static struct str heading_of(const struct record *r)
{
	static const struct str articles[] = { STR_INIT("a "), STR_INIT("an "), STR_INIT("the ") };
	struct str name = str_from(r->name);
	for (int i = 0; i < 3; i++)
		if (str_starts(name, articles[i]))
			return str_from_offset(name, articles[i].len);
	return name;
}

/* to which a link leads by the name's words with '-' between them. */
static struct str link_to(const struct record *r)
{
	struct str name = heading_of(r);
	struct out *o = out_memory(&keep);
	out_fmt(o, "list of [%.*s](#", STR_ARG(name));
	for (ptrdiff_t i = 0; i < name.len; i++)
		if (name.p[i] != '\'')
			out_char(o, name.p[i] == ' ' ? '-' : name.p[i]);
	out_char(o, ')');
	return out_text(o);
}

static struct str sort_of(const struct record_field *f)
{
	switch (f->type) {
	case RECORD_FLAG:
		return STR("flag");
	case RECORD_PICTURE:
		return STR("picture");
	case RECORD_LIST:
		return link_to(f->record);
	default:
		return STR("text");
	}
}

/* A record, then those that its fields are lists of; each once. */
static void put_record(struct out *o, const struct record *record, struct map *told)
{
	ptrdiff_t known = told->count;
	if (map_put(told, str_from(record->name), (int32_t)known, &keep) != known)
		return;
	out_fmt(o, "### %.*s\n\n| field | meaning | sort |\n|---|---|---|\n",
		STR_ARG(heading_of(record)));
	for (const struct record_field *f = record->fields; f->name; f++)
		out_fmt(o, "| `%s` | %s | %.*s |\n", f->name, f->meaning, STR_ARG(sort_of(f)));
	out_char(o, '\n');
	for (const struct record_field *f = record->fields; f->name; f++)
		if (f->record)
			put_record(o, f->record, told);
}

#define MANUAL	   "docs/templates.md"
#define FIELDS_END "<!-- end -->\n"

/* UPDATE=1 rewrites what stands between the marks. */
static void test_manual_is_kept(void **state)
{
	(void)state;
	static const struct record *const pages[] = { &html_page_record, &html_diff_record,
		&fleet_page_record };
	struct map told = { 0 };
	struct str rest = manual_kept(MANUAL);
	struct out *o = out_memory(&keep);
	for (int i = 0; i < 3; i++) {
		struct str mark = arena_fmt(&keep, "<!-- fields of %s -->\n", pages[i]->name);
		ptrdiff_t from = str_find(rest, mark) + mark.len;
		out_str(o, str_head(rest, from));
		put_record(o, pages[i], &told);
		rest = str_from_offset(rest, from);
		rest = str_from_offset(rest, str_find(rest, STR(FIELDS_END)));
	}
	out_str(o, rest);
	manual_is(MANUAL, out_text(o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_bounds_of_costs),
		cmocka_unit_test(test_long_axis),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_steps_of_devices),
		cmocka_unit_test(test_treemap),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_nothing_becomes_markup),
		cmocka_unit_test(test_controls_and_bad_utf8),
		cmocka_unit_test(test_tags_are_balanced),
		cmocka_unit_test(test_manual_is_kept),
	};
	return cmocka_run_group_tests_name("report_html", tests, keep_begin, keep_end);
}
