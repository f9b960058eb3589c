/* The fleet as Markdown, for a mail, a wiki or a job summary. */
#include "report/fleet_view.h"
#include "report/md.h"
#include "report/model.h"

enum {
	ROWS = 20, /* of an answer: a page is read, a list is not */
	SUMMARY_BYTES = MARKDOWN_SUMMARY - 4096
};

/* In Markdown's tables: neither pictures' data nor what has its own sentence above. */
static bool is_shown(const struct fleet_report *r, int id)
{
	bool is_empty = !r->answers[id].count;
	if (is_empty && !fleet_has_week(r) && id != FLEET_RANKING && id != FLEET_COVERAGE)
		return false;
	return id != FLEET_TOTALS && id != FLEET_HISTORY &&
	       !(is_empty && (id == FLEET_WAIVERS || id == FLEET_QUALITY));
}

static void put_head(const struct fleet_answer *a, struct out *out)
{
	for (ptrdiff_t k = 0; k < a->question->column_count; k++)
		if (fleet_is_shown(a, k)) {
			out_z(out, "| ");
			md_text(out, fleet_head(a->question->columns[k].name).label);
			out_char(out, ' ');
		}
	out_z(out, "|\n");
	for (ptrdiff_t k = 0; k < a->question->column_count; k++)
		if (fleet_is_shown(a, k))
			out_z(out, a->question->columns[k].is_text ? "|---" : "|--:");
	out_z(out, "|\n");
}

static void put_rows(const struct fleet_answer *a, struct arena *keep, struct out *out)
{
	for (ptrdiff_t i = 0; i < a->count && i < ROWS; i++) {
		for (ptrdiff_t k = 0; k < a->question->column_count; k++) {
			if (!fleet_is_shown(a, k))
				continue;
			out_z(out, "| ");
			md_text(out, clean_lines(keep, fleet_text(a, i, k, keep)));
			out_char(out, ' ');
		}
		out_z(out, "|\n");
	}
	if (a->total > ROWS)
		out_fmt(out, "\n%td more in the page and in JSON.\n", a->total - ROWS);
}

static void put_answer(const struct fleet_report *r, int id, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[id];
	out_fmt(out, "\n## %.*s\n\n", STR_ARG(a->question->title));
	if (!a->count) {
		out_fmt(out, "%.*s\n", STR_ARG(fleet_none_text(r, id)));
		return;
	}
	out_fmt(out, "%.*s\n\n", STR_ARG(a->question->about));
	put_head(a, out);
	put_rows(a, keep, out);
}

/* Sentences begin with a capital, or with a number. */
static void put_sentence(struct str s, struct out *out)
{
	bool is_small = s.p[0] >= 'a' && s.p[0] <= 'z';
	out_char(out, is_small ? (char)(s.p[0] - 'a' + 'A') : s.p[0]);
	out_fmt(out, "%.*s.", STR_ARG(str_from_offset(s, 1)));
}

void report_fleet_markdown(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	const struct str sentences[] = { fleet_coverage_text(r, keep), fleet_goodput_text(r, keep),
		fleet_promise_text(r, keep), fleet_cpus_text(r, keep), fleet_news_text(r, keep) };
	out_fmt(out, "# Fleet, %.*s\n\n", STR_ARG(fleet_window_text(r, keep)));
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (sentences[i].p) {
			out_z(out, i ? " " : "");
			put_sentence(sentences[i], out);
		}
	out_char(out, '\n');
	for (int id = 0; id < FLEET_COUNT; id++) {
		struct out *part = out_memory(keep);
		if (!is_shown(r, id))
			continue;
		put_answer(r, id, keep, part);
		if (out_text(out).len + out_text(part).len < SUMMARY_BYTES)
			out_str(out, out_text(part));
	}
}
