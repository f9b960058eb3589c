/* The fleet as Markdown, for a mail, a wiki or a job summary. */
#include "report/fleet_view.h"
#include "report/md.h"
#include "report/model.h"

enum {
	ROWS = 20, /* of an answer: a page is read, a list is not */
	SUMMARY_BYTES = MARKDOWN_SUMMARY - 4096
};

static void put_answer(const struct fleet_report *r, int id, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[id];
	const struct fleet_question *q = a->question;
	struct str *cells = arena_make(keep, struct str, q->column_count);
	out_fmt(out, "\n## %.*s\n\n", STR_ARG(q->title));
	if (!a->count) {
		out_fmt(out, "%.*s\n", STR_ARG(fleet_none_text(r, id)));
		return;
	}
	out_fmt(out, "%.*s\n\n", STR_ARG(q->about));
	/* The names, then the rows. */
	for (ptrdiff_t i = -1; i < a->count && i < ROWS; i++) {
		ptrdiff_t count = 0;
		for (ptrdiff_t k = 0; k < q->column_count; k++)
			if (fleet_is_shown(a, k))
				cells[count++] =
					i < 0 ? str_from(fleet_head(q->columns[k].name).label)
					      : clean_lines(keep, fleet_text(a, i, k, keep));
		md_row(out, cells, count);
		for (ptrdiff_t k = 0; i < 0 && k < q->column_count; k++)
			if (fleet_is_shown(a, k))
				out_z(out, q->columns[k].is_text ? "|---" : "|--:");
		out_z(out, i < 0 ? "|\n" : "");
	}
	if (a->total > ROWS)
		out_fmt(out, "\n%td more in the page and in JSON.\n", a->total - ROWS);
}

void report_fleet_markdown(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	out_fmt(out, "# Fleet, %.*s\n\n%.*s\n", STR_ARG(fleet_window_text(r, keep)),
		STR_ARG(fleet_paragraph(r, 0, keep)));
	for (int id = 0; id < FLEET_COUNT; id++) {
		struct out *part = out_memory(keep);
		bool is_empty = !r->answers[id].count;
		bool is_always = id == FLEET_RANKING || id == FLEET_COVERAGE;
		/* Neither pictures' data nor what has its own sentence above. */
		if (id == FLEET_TOTALS || id == FLEET_HISTORY ||
			(is_empty && !fleet_has_week(r) && !is_always) ||
			(is_empty && (id == FLEET_WAIVERS || id == FLEET_QUALITY ||
					     id == FLEET_BUDGETS || id == FLEET_MISSING ||
					     id == FLEET_MACHINES || id == FLEET_GOODPUT)))
			continue;
		put_answer(r, id, keep, part);
		if (out_text(out).len + out_text(part).len < SUMMARY_BYTES)
			out_str(out, out_text(part));
	}
}
