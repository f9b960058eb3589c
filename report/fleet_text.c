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
	{ "step_time_s", "step", HEAD_PLAIN, NULL },
	{ "roofline_ratio", "of roofline", HEAD_PLAIN, NULL },
	{ "roofline_ratio_hi", "of roofline at most", HEAD_DATA, NULL },
	{ "mfu", "MFU", HEAD_PLAIN, NULL },
	{ "share", "recoverable", HEAD_PART, NULL },
	{ "share_before", "before", HEAD_PLAIN, NULL },
	{ "part", "of all", HEAD_PLAIN, NULL },
	{ "chips_back", "chips back", HEAD_AMOUNT, "chips" },
	{ "ran_before", "windows before", HEAD_DATA, NULL },
	{ "seen_before", "found before", HEAD_PLAIN, "ran_before" },
	{ "chip_hours_back", "chip-hours back", HEAD_AMOUNT, NULL },
	{ "dollars_back", "money back", HEAD_PLAIN, NULL },
	{ "priced_hours_back", "of them with a price", HEAD_DATA, NULL },
	{ "top_rule", "costliest rule", HEAD_PLAIN, NULL },
	{ "first_seen", "first seen", HEAD_DATA, NULL },
	{ "of_workloads", "of workloads", HEAD_PLAIN, NULL },
	{ "slow_runs", "slow runs", HEAD_PLAIN, NULL },
	{ "slowness", "times the median", HEAD_PLAIN, NULL },
	{ "before_s", "before", HEAD_PLAIN, NULL },
	{ "now_s", "now", HEAD_PLAIN, NULL },
	{ "after_s", "after", HEAD_PLAIN, NULL },
	{ "change", "change", HEAD_LOSS, NULL },
	{ "work_change", "roofline time", HEAD_PLAIN, NULL },
	{ "chips_lost", "chips lost", HEAD_LOSS, NULL },
	{ "is_now", "in window", HEAD_PLAIN, NULL },
	{ "p_value", "p", HEAD_CHANCE, NULL },
	{ "commit_id", "commit", HEAD_PLAIN, NULL },
	{ "days_left", "days left", HEAD_DEADLINE, NULL },
	{ "dollars_limit", "at most", HEAD_PLAIN, NULL },
	{ "chip_hours_limit", "chip-hours at most", HEAD_PLAIN, NULL },
	{ "of_hours", "of", HEAD_PLAIN, NULL },
	{ "ratio", "share", HEAD_PART, NULL },
	{ "ratio_hi", "share at most", HEAD_DATA, NULL },
	{ "changes", "change points", HEAD_PLAIN, NULL },
	{ "is_broken", "over", HEAD_PLAIN, NULL },
	{ "last_seen", "last seen", HEAD_PLAIN, NULL },
	{ "is_new", "new", HEAD_PLAIN, NULL },
	{ "snoozed_until", "snoozed until", HEAD_PLAIN, NULL },
	{ "chip_hours", "chip-hours", HEAD_PLAIN, NULL },
	{ "dollars", "money", HEAD_PLAIN, NULL },
};

struct fleet_head fleet_head(struct str column)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(heads); i++)
		if (str_eq(str_from(heads[i].column), column))
			return heads[i];
	return (struct fleet_head){ .column = column.p, .label = column.p };
}

bool fleet_is_shown(const struct fleet_answer *a, ptrdiff_t column)
{
	struct str name = a->question->columns[column].name;
	bool is_told = fleet_head(name).kind == HEAD_DATA;
	for (ptrdiff_t i = 0; i < COUNT_OF(heads); i++)
		is_told |= str_eq(str_from(heads[i].of), name) &&
			   fleet_column(a, str_from(heads[i].column)) >= 0;
	if (is_told)
		return false;
	for (ptrdiff_t i = 0; i < a->count; i++)
		if (!a->rows[i].cells[column].is_null)
			return true;
	return false;
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

struct str fleet_number_text(double value, enum unit unit, struct arena *keep)
{
	struct str s = unit_text(keep, value, unit);
	struct out *o = out_memory(keep);
	ptrdiff_t from = 0, to;
	while (from < s.len && !is_digit(s.p[from]))
		from++;
	for (to = from; to < s.len && is_digit(s.p[to]);)
		to++;
	if (to - from < 4)
		return s;
	for (ptrdiff_t i = 0; i < s.len; i++) {
		if (i > from && i < to && (to - i) % 3 == 0)
			out_char(o, ',');
		out_char(o, s.p[i]);
	}
	return out_text(o);
}

double fleet_real(const struct fleet_answer *a, ptrdiff_t row, const char *column)
{
	const struct fleet_cell *cell =
		row < a->count ? fleet_cell(a, row, str_from(column)) : NULL;
	return cell && !cell->is_null ? cell->real : (double)NAN;
}

struct str fleet_word(const struct fleet_answer *a, ptrdiff_t row, const char *column)
{
	const struct fleet_cell *cell =
		row < a->count ? fleet_cell(a, row, str_from(column)) : NULL;
	return cell && !cell->is_null ? cell->text : MISSING;
}

static double most_at(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	return fleet_real(a, row, arena_fmt(keep, "%s_hi", column).p);
}

/* Money is of part of the chip-hours that stand beside it: no price is known of the others. */
static bool is_part_priced(const struct fleet_answer *a, ptrdiff_t row)
{
	double hours = fleet_real(a, row, "chip_hours_back");
	return fleet_real(a, row, "priced_hours_back") < hours;
}

static struct str number_text(
	const struct fleet_answer *a, ptrdiff_t row, ptrdiff_t column, struct arena *keep)
{
	const struct fleet_column *c = &a->question->columns[column];
	double value = a->rows[row].cells[column].real;
	struct str text = c->unit == UNIT_SECONDS ? time_text(keep, value)
						  : fleet_number_text(value, c->unit, keep);
	double most = most_at(a, row, c->name.p, keep);
	if (c->unit == UNIT_RATIO && most >= 0) { /* "12.0\u201331.0%" */
		struct str to = ratio_text(keep, most);
		return str_eq(text, to)
			       ? text
			       : arena_fmt(keep, "%.*s\xe2\x80\x93%.*s",
					 STR_ARG(str_head(text, text.len - 1)), STR_ARG(to));
	}
	if (fleet_head(c->name).kind == HEAD_CHANCE && value < 0.001)
		return STR("<0.001");
	if (fleet_head(c->name).kind == HEAD_LOSS && value > 0)
		return arena_fmt(keep, "+%.*s", STR_ARG(text));
	if (c->unit == UNIT_DOLLARS && is_part_priced(a, row))
		return arena_fmt(keep, "\xe2\x89\xa5 %.*s", STR_ARG(text));
	const char *of = fleet_head(c->name).of;
	if (of && fleet_real(a, row, of) >= 0)
		return arena_fmt(keep, "%.*s of %.*s", STR_ARG(text),
			STR_ARG(fleet_number_text(fleet_real(a, row, of), UNIT_COUNT, keep)));
	return text;
}

struct str fleet_text(
	const struct fleet_answer *a, ptrdiff_t row, ptrdiff_t column, struct arena *keep)
{
	const struct fleet_column *c = &a->question->columns[column];
	const struct fleet_cell *cell = &a->rows[row].cells[column];
	if (cell->is_null)
		return STR("");
	/* A chip that no file describes has no name. */
	if (c->is_chip && !str_eq(cell->text, STR("unknown")))
		return chip_text(keep, cell->text);
	return c->is_text ? moment_text(cell->text, keep) : number_text(a, row, column, keep);
}

/* ---- headlines ------------------------------------------------------------------------------- */

struct str fleet_ratio_text(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep)
{
	double least = fleet_real(a, row, column), hi = most_at(a, row, column, keep);
	if (!(least >= 0))
		return MISSING;
	struct str text = ratio_text(keep, least), most = text;
	if (hi >= 0)
		most = ratio_text(keep, hi);
	return str_eq(text, most) ? text
				  : arena_fmt(keep, "%.*s to %.*s", STR_ARG(text), STR_ARG(most));
}

bool fleet_has_week(const struct fleet_report *r)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	return a->count && str_eq(fleet_word(a, 0, "window"), STR("this"));
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
		double here = fleet_real(a, i, "runs");
		*runs += here;
		if (str_eq(fleet_word(a, i, "outcome"), STR("judged")))
			*judged = here;
	}
}

static struct str coverage_text(const struct fleet_report *r, struct arena *keep)
{
	double all, judged;
	fleet_coverage(r, &judged, &all);
	if (all == 0 && r->owner.p)
		return arena_fmt(keep, "no run of %.*s was found in this window",
			STR_ARG(text_clean(keep, r->owner)));
	if (all == 0)
		return STR("no run was found in this window");
	if (all == 1)
		return judged == 1 ? STR("the only run could be judged")
				   : STR("the only run could not be judged");
	if (judged == all && all == 2)
		return STR("both runs could be judged");
	if (judged == all)
		return arena_fmt(keep, "all %.0f runs could be judged", all);
	if (judged == 0)
		return arena_fmt(keep, "none of %.0f runs could be judged", all);
	return arena_fmt(keep, "%.0f of %.0f runs could be judged", judged, all);
}

struct str fleet_none_text(const struct fleet_report *r, int id)
{
	bool is_told = fleet_has_week(r) || id == FLEET_COVERAGE;
	return is_told ? r->answers[id].question->none : r->answers[FLEET_RANKING].question->none;
}

/* A ratio of this window, and of the one before it. */
static void put_ratio(
	const struct fleet_report *r, const char *column, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	struct str before = fleet_ratio_text(a, row + 1, column, keep);
	out_str(out, fleet_ratio_text(a, row, column, keep));
	if (before.p)
		out_fmt(out, " (%.*s before)", STR_ARG(before));
}

static struct str goodput_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	struct out *o = out_memory(keep);
	if (!(fleet_real(a, row, "roofline_ratio") >= 0))
		return MISSING;
	if (r->owner.p)
		out_fmt(o, "What %.*s runs is at ", STR_ARG(text_clean(keep, r->owner)));
	else
		out_z(o, "The fleet runs at ");
	put_ratio(r, "roofline_ratio", keep, o);
	out_z(o, " of its roofline");
	if (fleet_real(a, row, "mfu") >= 0) {
		out_z(o, ", with an MFU of ");
		put_ratio(r, "mfu", keep, o);
	}
	return out_text(o);
}

static struct str count_text(double count, struct arena *keep)
{
	return fleet_number_text(count, UNIT_COUNT, keep);
}

/* Workloads of the usage file that have no usable run of that name are listed, too. */
static void put_hours(
	const struct fleet_answer *a, ptrdiff_t row, struct arena *keep, struct out *out)
{
	double hours = fleet_real(a, row, "chip_hours_back");
	double billed = fleet_real(a, row, "billed_workloads");
	double listed = fleet_real(a, row, "listed_workloads");
	if (listed > 0 && billed == 0)
		out_z(out, "; the usage file lists none of these workloads");
	if (!(hours >= 0))
		return;
	double all = fleet_real(a, row, "listed_hours");
	double outside = fleet_real(a, row, "outside_hours");
	out_fmt(out, "; %.*s of %.*s chip-hours of ", STR_ARG(count_text(hours, keep)),
		STR_ARG(count_text(all, keep)));
	if (listed > billed)
		out_fmt(out, "%.0f of ", billed);
	if (listed == 1)
		out_z(out, "the one workload in the usage file");
	else
		out_fmt(out, "the %.0f workloads in the usage file", listed);
	/* Only what has a price has money: of the other hours none is made. */
	double dollars = fleet_real(a, row, "dollars_back");
	if (dollars >= 0)
		out_fmt(out, ", %.*s of %.*s",
			STR_ARG(fleet_number_text(dollars, UNIT_DOLLARS, keep)),
			STR_ARG(fleet_number_text(
				fleet_real(a, row, "listed_dollars"), UNIT_DOLLARS, keep)));
	if (dollars >= 0 && is_part_priced(a, row))
		out_fmt(out, " for the %.*s of them that have a price",
			STR_ARG(count_text(fleet_real(a, row, "priced_hours_back"), keep)));
	if (outside > 0)
		out_fmt(out, "; %.*s chip-hours have no usable run",
			STR_ARG(count_text(outside, keep)));
}

static struct str promise_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	ptrdiff_t row = this_window(r);
	double chips = fleet_real(a, row, "chips"), back = fleet_real(a, row, "chips_back");
	if (!(back >= 0))
		return MISSING;
	struct out *o = out_memory(keep);
	out_fmt(o, "All fixes together give back the work of %.*s of %.*s chip%s",
		STR_ARG(count_text(back, keep)), STR_ARG(count_text(chips, keep)),
		chips == 1 ? "" : "s");
	put_hours(a, row, keep, o);
	return out_text(o);
}

/* By the first column of FLEET_MISSING: how many rows are new, in words. */
static const struct {
	struct str what;
	const char *one, *many;
} absences[] = {
	{ STR_INIT("expected"), "expected workload did not come",
		"expected workloads did not come" },
	{ STR_INIT("workload"), "workload stopped", "workloads stopped" },
	{ STR_INIT("night"), "night is missing", "nights are missing" },
	{ STR_INIT("owner"), "owner in the fleet file has no usable run",
		"owners in the fleet file have no usable run" },
};

static ptrdiff_t count_new(const struct fleet_answer *a, struct str what)
{
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < a->count; i++)
		count += str_eq(fleet_word(a, i, "what"), what) && fleet_real(a, i, "is_new") > 0;
	return count;
}

static struct str missing_text(const struct fleet_report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < COUNT_OF(absences); i++) {
		ptrdiff_t count = count_new(&r->answers[FLEET_MISSING], absences[i].what);
		if (count)
			out_fmt(out_part(o, "; "), "%td %s", count,
				count == 1 ? absences[i].one : absences[i].many);
	}
	return out_text(o).len ? out_text(o) : MISSING;
}

static struct str budget_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_BUDGETS];
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < a->count && fleet_real(a, i, "is_broken") > 0; i++) {
		bool is_money = fleet_real(a, i, "dollars_limit") >= 0;
		enum unit unit = is_money ? UNIT_DOLLARS : UNIT_COUNT;
		double back = fleet_real(a, i, is_money ? "dollars_back" : "chip_hours_back");
		double limit = fleet_real(a, i, is_money ? "dollars_limit" : "chip_hours_limit");
		out_fmt(o, "%s%.*s could have %.*s%s back, and may have %.*s",
			out_text(o).len ? "; " : "Over budget: ",
			STR_ARG(text_clean(keep, fleet_word(a, i, "owner"))),
			STR_ARG(fleet_number_text(back, unit, keep)), is_money ? "" : " chip-hours",
			STR_ARG(fleet_number_text(limit, unit, keep)));
	}
	return out_text(o).len ? out_text(o) : MISSING;
}

static struct str later_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_QUALITY];
	for (ptrdiff_t i = 0; i < a->count; i++) {
		double runs = fleet_real(a, i, "runs");
		if (str_eq(fleet_word(a, i, "check"), STR("dated-after-window")))
			return arena_fmt(keep,
				"%.0f run%s dated more than a window after this one: a clock is "
				"ahead, or --until is in the past",
				runs, runs == 1 ? " is" : "s are");
	}
	return MISSING;
}

bool fleet_is_silent(const struct fleet_report *r)
{
	double judged, runs;
	fleet_coverage(r, &judged, &runs);
	return runs == 0 || count_new(&r->answers[FLEET_MISSING], STR("expected")) > 0 ||
	       count_new(&r->answers[FLEET_MISSING], STR("owner")) > 0;
}

static struct str cpus_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	double cpus = fleet_real(a, this_window(r), "cpu_workloads");
	if (!(cpus > 0))
		return MISSING;
	return arena_fmt(keep, "%.0f workload%s ran on CPUs only, which count for no chips", cpus,
		cpus == 1 ? "" : "s");
}

static void put_counted(struct out *out, double count, const char *what, const char *how)
{
	out_fmt(out, "%.0f %s%s %s", count, what, count == 1 ? "" : "s", how);
}

/* Something of the window before counts, so that this one can be held against it. */
static bool has_before(const struct fleet_report *r)
{
	return fleet_has_week(r) && r->answers[FLEET_TOTALS].count > 1;
}

static struct str problems_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	struct out *o = out_memory(keep);
	if (!has_before(r))
		return MISSING;
	put_counted(o, fleet_real(a, 0, "new_problems"), "problem", "new");
	out_fmt(o, ", %.0f fixed", fleet_real(a, 0, "fixed_problems"));
	if (fleet_real(a, 0, "rejudged_workloads") > 0)
		out_fmt(o,
			" (the judge changed for %.0f workload%s; its %.0f other verdict%s left "
			"out)",
			fleet_real(a, 0, "rejudged_workloads"),
			fleet_real(a, 0, "rejudged_workloads") == 1 ? "" : "s",
			fleet_real(a, 0, "rejudged"),
			fleet_real(a, 0, "rejudged") == 1 ? " is" : "s are");
	return out_text(o);
}

static struct str moves_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	struct out *o = out_memory(keep);
	if (!has_before(r))
		return MISSING;
	put_counted(o, fleet_real(a, 0, "slower"), "workload", "slower");
	out_fmt(o, ", %.0f faster", fleet_real(a, 0, "faster"));
	if (fleet_real(a, 0, "other_work") > 0)
		out_fmt(o, ", %.0f at other work", fleet_real(a, 0, "other_work"));
	if (fleet_real(a, 0, "unlike_before") > 0)
		out_fmt(o, ", %.0f with another batch or on other chips",
			fleet_real(a, 0, "unlike_before"));
	return out_text(o);
}

static struct str news_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_TOTALS];
	double older = fleet_real(a, this_window(r), "older_runs");
	if (fleet_has_week(r) && !has_before(r) && older > 0)
		return arena_fmt(keep, "No run is of the window before, and %.0f %s older", older,
			older == 1 ? "is" : "are");
	if (!has_before(r))
		return MISSING;
	return arena_fmt(
		keep, "%.*s; %.*s", STR_ARG(problems_text(r, keep)), STR_ARG(moves_text(r, keep)));
}

static struct str machines_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_MACHINES];
	enum { SHOWN = 3 };
	struct out *o = out_memory(keep);
	if (!a->count)
		return MISSING;
	out_fmt(o, "%td machine%s slow in several workloads: ", a->total,
		a->total == 1 ? " is" : "s are");
	for (ptrdiff_t i = 0; i < a->count && i < SHOWN; i++)
		out_fmt(o, "%s%.*s (%.0f of %.0f workloads)", i ? ", " : "",
			STR_ARG(text_clean(keep, fleet_word(a, i, "host"))),
			fleet_real(a, i, "workloads"), fleet_real(a, i, "of_workloads"));
	if (a->total > SHOWN)
		out_fmt(o, " and %td more", a->total - SHOWN);
	return out_text(o);
}

struct str fleet_chips_text(double count, struct arena *keep)
{
	struct str text = count_text(count, keep);
	return arena_fmt(keep, "%.*s chip%s", STR_ARG(text), str_eq(text, STR("1")) ? "" : "s");
}

struct str fleet_back_text(const struct fleet_answer *a, ptrdiff_t row, struct arena *keep)
{
	double hours = fleet_real(a, row, "chip_hours_back"), chips = fleet_real(a, row, "chips");
	double dollars = fleet_real(a, row, "dollars_back");
	struct str back = count_text(hours >= 0 ? hours : fleet_real(a, row, "chips_back"), keep);
	if (hours >= 0 && dollars >= 0)
		return arena_fmt(keep, "%s%.*s, %.*s chip-hours",
			is_part_priced(a, row) ? "at least " : "",
			STR_ARG(fleet_number_text(dollars, UNIT_DOLLARS, keep)), STR_ARG(back));
	if (hours >= 0)
		return arena_fmt(keep, "%.*s chip-hours", STR_ARG(back));
	if (chips >= 0)
		return arena_fmt(keep, "%.*s of %.*s chip%s", STR_ARG(back),
			STR_ARG(count_text(chips, keep)), chips == 1 ? "" : "s");
	return fleet_chips_text(fleet_real(a, row, "chips_back"), keep);
}

static struct str most_text(const struct fleet_report *r, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_BY_OWNER];
	if (a->count < 2 || !(fleet_real(a, 0, "chips_back") > 0))
		return MISSING;
	/* "unknown" stands for workloads without an owner. */
	struct str who = text_clean(keep, fleet_word(a, 0, "group"));
	bool is_named = !str_eq(who, STR("unknown"));
	return arena_fmt(keep, "Most of it %s%.*s: %.*s", is_named ? "is with " : "has no owner",
		STR_ARG(is_named ? who : STR("")), STR_ARG(fleet_back_text(a, 0, keep)));
}

struct str fleet_said(const struct fleet_report *r, enum fleet_said what, struct arena *keep)
{
	static struct str (*const says[SAIDS])(const struct fleet_report *, struct arena *) = {
#define X(R, kind, name, meaning) [SAID_##name] = name##_text,
		FLEET_SAIDS(, X)
#undef X
	};
	return says[what](r, keep);
}

struct str fleet_paragraph(const struct fleet_report *r, unsigned left_out, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (int i = 0; i < SAID_ALL; i++) {
		struct str s = fleet_said(r, (enum fleet_said)i, keep);
		if (!s.p || left_out & 1u << i)
			continue;
		out_fmt(out_part(o, " "), "%.*s.", STR_ARG(capital(s, keep)));
	}
	return out_text(o);
}

/* ---- a terminal ------------------------------------------------------------------------------ */

enum { ROWS = 5 /* of a list */, EXAMPLE_BYTES = 160, ROW_TEXT = 20 };

/* What it costs or how many they are, right before the text. */
static void put_row(struct page *p, struct str number, struct str text)
{
	page_line(p);
	page_pad(p, ROW_TEXT - 2 - text_columns(number));
	page_put(p, number);
	page_put(p, STR("  "));
	page_pad(p, ROW_TEXT);
	page_wrap(p, ROW_TEXT, text);
}

static void put_first(struct page *p, const struct fleet_report *r)
{
	struct arena *keep = p->keep;
	const struct fleet_answer *a = &r->answers[FLEET_RANKING];
	for (ptrdiff_t i = 0; i < a->count && i < ROWS; i++) {
		struct str rule = fleet_word(a, i, "top_rule");
		struct str back = fleet_back_text(a, i, keep);
		if (isnan(fleet_real(a, i, "chips_back")))
			back = arena_fmt(keep, "%.*s of a step",
				STR_ARG(ratio_text(keep, fleet_real(a, i, "share"))));
		put_row(p, back,
			arena_fmt(keep, "%.*s%s%.*s%s", STR_ARG(fleet_word(a, i, "workload")),
				rule.p ? " (" : "", STR_ARG(rule), rule.p ? ")" : ""));
	}
	if (a->total > ROWS)
		page_item(p, 2, "and %td more workload%s", a->total - ROWS,
			a->total - ROWS == 1 ? "" : "s");
}

/* Why the others could not be judged. */
static void put_unjudged(struct page *p, const struct fleet_report *r)
{
	struct arena *keep = p->keep;
	const struct fleet_answer *a = &r->answers[FLEET_COVERAGE];
	for (ptrdiff_t i = 0, shown = 0; i < a->count && shown < ROWS; i++) {
		struct str outcome = fleet_word(a, i, "outcome");
		if (str_eq(outcome, STR("judged")))
			continue;
		shown++;
		struct str example = text_clean(keep, fleet_word(a, i, "example"));
		double runs = fleet_real(a, i, "runs");
		/* Of several runs it is the reason of one. */
		put_row(p, arena_fmt(keep, "%.0f", runs),
			arena_fmt(keep, "%.*s%s%.*s", STR_ARG(outcome),
				!example.len ? ""
				: runs > 1   ? "; one of them: "
					     : ": ",
				STR_ARG(text_cut(keep, example, EXAMPLE_BYTES))));
	}
}

struct str fleet_absence_text(const struct fleet_answer *a, ptrdiff_t row, struct arena *keep)
{
	struct str due = fleet_word(a, row, "due");
	struct str last = fleet_word(a, row, "last_seen");
	struct out *o = out_memory(keep);
	if (str_eq(fleet_word(a, row, "what"), STR("owner")))
		out_z(o, "the fleet file names this owner, and no usable run does");
	if (fleet_real(a, row, "wanted") > 0)
		out_fmt(o, "%.0f of %.0f expected captures came", fleet_real(a, row, "came"),
			fleet_real(a, row, "wanted"));
	if (due.p)
		out_fmt(out_part(o, "; "), "the capture of %.*s did not come",
			STR_ARG(moment_text(due, keep)));
	if (last.p)
		out_fmt(out_part(o, "; "), "last seen on %.*s", STR_ARG(moment_text(last, keep)));
	return out_text(o);
}

static void put_missing(struct page *p, const struct fleet_report *r)
{
	struct arena *keep = p->keep;
	const struct fleet_answer *a = &r->answers[FLEET_MISSING];
	for (ptrdiff_t i = 0, shown = 0; i < a->count && shown < ROWS; i++) {
		struct str told = fleet_absence_text(a, i, keep);
		if (!(fleet_real(a, i, "is_new") > 0))
			continue;
		shown++;
		page_item(p, 2, "%.*s%s%.*s", STR_ARG(fleet_word(a, i, "workload")),
			told.len ? ": " : "", STR_ARG(told));
	}
}

void report_fleet_text(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	struct page page = { .out = out, .keep = keep, .width = TEXT_WIDTH };
	page_fmt(&page, 0, "%.*s:", STR_ARG(fleet_window_text(r, keep)));
	for (int i = 0; i < SAID_ALL; i++) {
		struct str s = fleet_said(r, (enum fleet_said)i, keep);
		struct page list = { .out = out_memory(keep), .keep = keep, .width = TEXT_WIDTH };
		if (i == SAID_coverage)
			put_unjudged(&list, r);
		if (i == SAID_missing)
			put_missing(&list, r);
		if (i == SAID_promise)
			put_first(&list, r);
		page_line(&list);
		struct str below = out_text(list.out);
		if (!s.p && below.len) /* no chip was used: nothing is given back */
			s = fleet_questions[FLEET_RANKING].title;
		if (!s.p)
			continue;
		/* The runs below the coverage are those that could not be judged. */
		page_fmt(&page, 0, "%s%.*s%s", page.column ? " " : "", STR_ARG(capital(s, keep)),
			below.len && i != SAID_coverage ? ":" : ".");
		page_line(&page);
		out_str(out, below);
	}
}
