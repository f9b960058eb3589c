/* The fleet in words: cells, headlines, and what a terminal shows. */
#include <math.h>

#include "base/text.h"
#include "base/when.h"
#include "report/fleet_view.h"
#include "report/prose.h"

struct str fleet_page_name(struct str run, struct arena *keep)
{
	return arena_fmt(keep, "%.*s.html", STR_ARG(html_slug(run, keep)));
}

/* ---- columns --------------------------------------------------------------------------------- */

static const struct fleet_head heads[] = {
	{ STR_INIT("step_time_s"), STR_INIT("step"), HEAD_PLAIN },
	{ STR_INIT("roofline_ratio"), STR_INIT("of roofline"), HEAD_PLAIN },
	{ STR_INIT("mfu"), STR_INIT("MFU"), HEAD_PLAIN },
	{ STR_INIT("share"), STR_INIT("recoverable"), HEAD_PART },
	{ STR_INIT("share_before"), STR_INIT("before"), HEAD_PLAIN },
	{ STR_INIT("part"), STR_INIT("of all"), HEAD_PLAIN },
	{ STR_INIT("chips_back"), STR_INIT("chips back"), HEAD_PLAIN },
	{ STR_INIT("chip_hours_back"), STR_INIT("chip-hours back"), HEAD_PLAIN },
	{ STR_INIT("dollars_back"), STR_INIT("money back"), HEAD_PLAIN },
	{ STR_INIT("top_rule"), STR_INIT("costliest rule"), HEAD_PLAIN },
	{ STR_INIT("first_seen"), STR_INIT("first seen"), HEAD_PLAIN },
	{ STR_INIT("before_s"), STR_INIT("before"), HEAD_PLAIN },
	{ STR_INIT("now_s"), STR_INIT("now"), HEAD_PLAIN },
	{ STR_INIT("after_s"), STR_INIT("after"), HEAD_PLAIN },
	{ STR_INIT("change"), STR_INIT("change"), HEAD_LOSS },
	{ STR_INIT("chips_lost"), STR_INIT("chips lost"), HEAD_LOSS },
	{ STR_INIT("is_now"), STR_INIT("in window"), HEAD_PLAIN },
	{ STR_INIT("p_value"), STR_INIT("p"), HEAD_PLAIN },
	{ STR_INIT("commit_id"), STR_INIT("commit"), HEAD_PLAIN },
	{ STR_INIT("days_left"), STR_INIT("days left"), HEAD_DEADLINE },
};

struct fleet_head fleet_head(struct str column)
{
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (str_eq(heads[i].column, column))
			return heads[i];
	return (struct fleet_head){ .column = column, .label = column };
}

bool fleet_is_empty(const struct fleet_answer *a, ptrdiff_t column)
{
	for (ptrdiff_t i = 0; i < a->count; i++)
		if (!a->rows[i].cells[column].is_null)
			return false;
	return true;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A moment to the minute; any other text as it is. */
static struct str moment_text(struct str s, struct arena *keep)
{
	int64_t ns;
	if (!when_parse(s, &ns))
		return s;
	struct str date = str_head(s, 10), time = str_head(str_from_offset(s, 11), 5);
	return time.len ? arena_fmt(keep, "%.*s %.*s", STR_ARG(date), STR_ARG(time)) : date;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

struct str fleet_number_text(double value, enum unit unit, struct arena *keep)
{
	struct str s = unit_text(keep, value, unit);
	struct out *o = out_memory(keep);
	ptrdiff_t from = 0, to;
	while (from < s.len && !is_digit(s.p[from]))
		from++;
	for (to = from; to < s.len && is_digit(s.p[to]);)
		to++;
	if (to - from < 5)
		return s;
	for (ptrdiff_t i = 0; i < s.len; i++) {
		if (i > from && i < to && (to - i) % 3 == 0)
			out_char(o, ',');
		out_char(o, s.p[i]);
	}
	return out_text(o);
}

struct str fleet_text(
	const struct fleet_column *c, const struct fleet_cell *cell, struct arena *keep)
{
	if (cell->is_null)
		return STR("");
	if (c->is_text)
		return moment_text(cell->text, keep);
	struct str text = c->unit == UNIT_SECONDS ? time_text(keep, cell->real)
						  : fleet_number_text(cell->real, c->unit, keep);
	if (fleet_head(c->name).kind == HEAD_LOSS && cell->real > 0)
		return arena_fmt(keep, "+%.*s", STR_ARG(text));
	return text;
}

/* ---- headlines ------------------------------------------------------------------------------- */

static double real_at(const struct fleet_answer *a, ptrdiff_t row, struct str column)
{
	return row < a->count ? fleet_cell(a, row, column)->real : (double)NAN;
}

struct str fleet_ratio_text(
	const struct fleet_answer *a, ptrdiff_t row, struct str column, struct arena *keep)
{
	double least = real_at(a, row, column);
	if (!(least >= 0))
		return MISSING;
	struct str text = unit_text(keep, least, UNIT_RATIO), most = text;
	const struct fleet_cell *hi =
		fleet_cell(a, row, arena_fmt(keep, "%.*s_hi", STR_ARG(column)));
	if (hi && !hi->is_null)
		most = unit_text(keep, hi->real, UNIT_RATIO);
	return str_eq(text, most) ? text
				  : arena_fmt(keep, "%.*s to %.*s", STR_ARG(text), STR_ARG(most));
}

bool fleet_has_week(const struct fleet_report *r)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	return a->count && str_eq(fleet_cell(a, 0, STR("window"))->text, STR("this"));
}

/* The row of this window, if any run was usable. */
static ptrdiff_t this_window(const struct fleet_report *r)
{
	return fleet_has_week(r) ? 0 : r->answers[FLEET_TOTALS].count;
}

struct str fleet_window_text(const struct fleet_report *r, struct arena *keep)
{
	return arena_fmt(keep, "%.*s to %.*s UTC", STR_ARG(moment_text(r->window.from, keep)),
		STR_ARG(moment_text(r->window.to, keep)));
}

void fleet_coverage(const struct fleet_report *r, double *judged, double *runs)
{
	const struct fleet_answer *a = &r->answers[FLEET_COVERAGE];
	*judged = *runs = 0;
	for (ptrdiff_t i = 0; i < a->count; i++) {
		double here = real_at(a, i, STR("runs"));
		*runs += here;
		if (str_eq(fleet_cell(a, i, STR("outcome"))->text, STR("judged")))
			*judged = here;
	}
}

struct str fleet_coverage_text(const struct fleet_report *r, struct arena *keep)
{
	double all, judged;
	fleet_coverage(r, &judged, &all);
	if (all == 0)
		return STR("no run was found in this window");
	return arena_fmt(
		keep, "%.0f of %.0f run%s could be judged", judged, all, all == 1 ? "" : "s");
}

/* A ratio of this window, and of the one before it. */
static void put_ratio(
	const struct fleet_report *r, struct str column, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	struct str before = fleet_ratio_text(a, row + 1, column, keep);
	out_str(out, fleet_ratio_text(a, row, column, keep));
	if (before.p)
		out_fmt(out, " (%.*s before)", STR_ARG(before));
}

struct str fleet_goodput_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	struct out *o = out_memory(keep);
	if (!(real_at(a, row, STR("roofline_ratio")) >= 0))
		return MISSING;
	out_z(o, "The fleet runs at ");
	put_ratio(r, STR("roofline_ratio"), keep, o);
	out_z(o, " of its roofline");
	if (real_at(a, row, STR("mfu")) >= 0) {
		out_z(o, ", with an MFU of ");
		put_ratio(r, STR("mfu"), keep, o);
	}
	return out_text(o);
}

/* Workloads of the usage file that have no usable run of that name are told of, too. */
static void put_hours(
	const struct fleet_answer *a, ptrdiff_t row, struct arena *keep, struct out *out)
{
	double hours = real_at(a, row, STR("chip_hours_back"));
	double billed = real_at(a, row, STR("billed_workloads"));
	double listed = real_at(a, row, STR("listed_workloads"));
	if (listed > 0 && billed == 0)
		out_z(out, "; the usage file lists none of these workloads");
	if (!(hours >= 0))
		return;
	out_fmt(out, "; %.*s chip-hours of ", STR_ARG(fleet_number_text(hours, UNIT_COUNT, keep)));
	if (listed > billed)
		out_fmt(out, "%.0f of ", billed);
	out_fmt(out, "the %.0f workload%s in the usage file", listed, listed == 1 ? "" : "s");
}

struct str fleet_promise_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	double chips = real_at(a, row, STR("chips")), back = real_at(a, row, STR("chips_back"));
	double dollars = real_at(a, row, STR("dollars_back"));
	if (!(back >= 0))
		return MISSING;
	struct out *o = out_memory(keep);
	out_fmt(o, "All fixes together give back the work of %.*s of %.*s chip%s",
		STR_ARG(fleet_number_text(back, UNIT_COUNT, keep)),
		STR_ARG(fleet_number_text(chips, UNIT_COUNT, keep)), chips == 1 ? "" : "s");
	put_hours(a, row, keep, o);
	if (dollars >= 0)
		out_fmt(o, ", %.*s", STR_ARG(fleet_number_text(dollars, UNIT_DOLLARS, keep)));
	return out_text(o);
}

static void put_counted(struct out *out, double count, const char *what, const char *how)
{
	out_fmt(out, "%.0f %s%s %s", count, what, count == 1 ? "" : "s", how);
}

struct str fleet_news_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	struct out *o = out_memory(keep);
	if (!fleet_has_week(r) || a->count < 2)
		return MISSING;
	put_counted(o, real_at(a, 0, STR("new_problems")), "problem", "new");
	out_fmt(o, ", %.0f fixed; ", real_at(a, 0, STR("fixed_problems")));
	put_counted(o, real_at(a, 0, STR("slower")), "workload", "slower");
	out_fmt(o, ", %.0f faster", real_at(a, 0, STR("faster")));
	return out_text(o);
}

/* ---- a terminal ------------------------------------------------------------------------------ */

/* By what they are ranked: chip-hours where the usage file tells them. */
static void put_back(
	const struct fleet_answer *a, ptrdiff_t row, struct arena *keep, struct out *out)
{
	double hours = real_at(a, row, STR("chip_hours_back"));
	double chips = real_at(a, row, STR("chips"));
	struct str back = fleet_number_text(real_at(a, row, STR("chips_back")), UNIT_COUNT, keep);
	if (hours >= 0)
		out_fmt(out, "  %7.*s chip-hours  ",
			STR_ARG(fleet_number_text(hours, UNIT_COUNT, keep)));
	else
		out_fmt(out, "  %5.*s of %.*s chip%s  ", STR_ARG(back),
			STR_ARG(fleet_number_text(chips, UNIT_COUNT, keep)), chips == 1 ? "" : "s");
}

static void put_first(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[FLEET_RANKING];
	enum { SHOWN = 5 };
	for (ptrdiff_t i = 0; i < a->count && i < SHOWN; i++) {
		struct str rule = fleet_cell(a, i, STR("top_rule"))->text;
		put_back(a, i, keep, out);
		out_str(out, text_clean(keep, fleet_cell(a, i, STR("workload"))->text));
		if (rule.p)
			out_fmt(out, " (%.*s)", STR_ARG(text_clean(keep, rule)));
		out_char(out, '\n');
	}
	if (a->total > SHOWN)
		out_fmt(out, "  and %td more workloads\n", a->total - SHOWN);
}

void report_fleet_text(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	struct str goodput = fleet_goodput_text(r, keep), promise = fleet_promise_text(r, keep);
	struct str news = fleet_news_text(r, keep);
	out_fmt(out, "%.*s: %.*s\n", STR_ARG(fleet_window_text(r, keep)),
		STR_ARG(fleet_coverage_text(r, keep)));
	if (goodput.p)
		out_fmt(out, "%.*s.\n", STR_ARG(goodput));
	if (promise.p)
		out_fmt(out, "%.*s:\n", STR_ARG(promise));
	put_first(r, keep, out);
	if (news.p)
		out_fmt(out, "%.*s.\n", STR_ARG(news));
}
