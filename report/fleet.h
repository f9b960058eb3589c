/*
 * The weekly report: answers about a fleet (store/fleet.h) as documents.
 *
 * Every writer walks the same questions and columns, so none of them can leave one out unseen.
 * Numbers link to the page of the run that they come from, where there is one.
 */
#ifndef REPORT_FLEET_H
#define REPORT_FLEET_H

#include "base/map.h"
#include "report/report.h"
#include "store/fleet.h"

#define FLEET_REPORT_VERSION "1.0"

/* Lines of a table on the page; JSON has all. */
enum { FLEET_LINES = 50 };

/* Pages of single runs, as they are reached from the weekly page; no runs: no links. */
struct fleet_pages {
	struct str dir;
	struct map runs;   /* those that have a page */
	struct str owners; /* "weekly-": what names of owners' pages begin with; missing: none */
};
/* "1a2b.html": a name that stays in its directory, whatever a run is called. */
struct str fleet_page_name(struct str run, struct arena *keep);

/* A cell of a named column; NaN, or missing, for NULL and where there is no such row or column. */
double fleet_real(const struct fleet_answer *a, ptrdiff_t row, const char *column);
struct str fleet_word(const struct fleet_answer *a, ptrdiff_t row, const char *column);
/* "12.0%", or "12.0% to 31.0%" where a column NAME_hi has another one; missing when not known. */
struct str fleet_ratio_text(
	const struct fleet_answer *a, ptrdiff_t row, const char *column, struct arena *keep);
/*
 * A cell with its unit, for people; "" for NULL.  With it what other columns know of it: the other
 * end of a range, the chips that chips are part of, and that money is of some of the hours only.
 */
struct str fleet_text(
	const struct fleet_answer *a, ptrdiff_t row, ptrdiff_t column, struct arena *keep);
/* "103,207": what adds up over a fleet is large, and people read it. */
struct str fleet_number_text(double value, enum unit unit, struct arena *keep);
/* "2026-11-13 to 2026-11-20" */
struct str fleet_window_text(const struct fleet_report *r, struct arena *keep);
/* How many runs of the window could be judged; both 0 when no run was found. */
void fleet_coverage(const struct fleet_report *r, double *judged, double *runs);
/* The first row of FLEET_TOTALS is of this window: some run of it was usable. */
bool fleet_has_week(const struct fleet_report *r);
/* What it means that an answer has no rows; without a usable run, not that all is well. */
struct str fleet_none_text(const struct fleet_report *r, int id);
/* What the fleet file expects did not come, or nothing at all did. */
bool fleet_is_silent(const struct fleet_report *r);
struct str fleet_chips_text(double count, struct arena *keep); /* "1 chip" */
/* "12.3 of 64 chips", or chip-hours and money where the usage file tells them. */
struct str fleet_back_text(const struct fleet_answer *a, ptrdiff_t row, struct arena *keep);
/* Of a row of FLEET_MISSING: what was due, what came and when it was last seen. */
struct str fleet_absence_text(const struct fleet_answer *a, ptrdiff_t row, struct arena *keep);

/*
 * What is said of a fleet, whatever the document, in this order; the page has each as a field.  The
 * last two are the halves of the news, and are not said beside it.
 */
#define FLEET_SAIDS(R, F)                                                                          \
	F(R, TEXT, promise, "what all fixes together give back")                                   \
	F(R, TEXT, most, "which owner has most of that")                                           \
	F(R, TEXT, missing, "what was expected and did not come")                                  \
	F(R, TEXT, later, "how many runs are dated after this window")                             \
	F(R, TEXT, budget, "whose budgets are broken")                                             \
	F(R, TEXT, machines, "which machines are slow in several workloads")                       \
	F(R, TEXT, coverage, "how many of the runs could be judged")                               \
	F(R, TEXT, goodput, "how near to its roofline the fleet runs, and its MFU")                \
	F(R, TEXT, cpus, "how many workloads ran on CPUs alone")                                   \
	F(R, TEXT, news,                                                                           \
		"how many problems are new and fixed, and workloads slower and faster; where the " \
		"window before is empty, that other runs are older")                               \
	F(R, TEXT, problems, "its first half, where there is a window to compare with")            \
	F(R, TEXT, moves, "its second half")

enum fleet_said {
#define X(R, kind, name, meaning) SAID_##name,
	FLEET_SAIDS(, X)
#undef X
		SAIDS,
	SAID_ALL = SAID_problems
};
/* A sentence without its point; missing where there is nothing to say. */
struct str fleet_said(const struct fleet_report *r, enum fleet_said what, struct arena *keep);
/* All sentences but those of `left_out`, which is made of 1 << SAID_... */
struct str fleet_paragraph(const struct fleet_report *r, unsigned left_out, struct arena *keep);

void report_fleet_text(const struct fleet_report *r, struct arena *keep, struct out *out);
void report_fleet_json(const struct fleet_report *r, struct arena *keep, struct out *out);
/* The ranking, for spreadsheets: base units, no rounding. */
void report_fleet_csv(const struct fleet_report *r, struct arena *keep, struct out *out);
/* For the textfile collector of Prometheus' node exporter. */
void report_fleet_openmetrics(const struct fleet_report *r, struct arena *keep, struct out *out);
void report_fleet_markdown(const struct fleet_report *r, struct arena *keep, struct out *out);

struct doc_template *report_fleet_load(struct str dir, struct arena *keep, struct diag *err);
void report_fleet_html(const struct fleet_report *r, const struct fleet_pages *pages,
	const struct doc_template *t, struct arena *keep, struct out *out);

#endif
