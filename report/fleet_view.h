/*
 * What the weekly page shows, as records that its templates are filled with.  Private to report/.
 */
#ifndef REPORT_FLEET_VIEW_H
#define REPORT_FLEET_VIEW_H

#include "report/fleet.h"
#include "report/html.h"

#define FLEET_SECTION(R, F)                                                                        \
	F(R, TEXT, id, "its anchor")                                                               \
	F(R, TEXT, title, "what is asked")                                                         \
	F(R, TEXT, about, "what a line is, and how they are sorted")                               \
	F(R, TEXT, none, "what it means that there are no lines")                                  \
	F(R, TEXT, more, "how many lines are not shown")                                           \
	F(R, FLAG, is_narrow, "it fits beside another")                                            \
	F(R, LIST(html_column), columns, "heads of the columns")                                   \
	F(R, LIST(html_row), lines, "the answer")
RECORD_STRUCT(fleet_section, FLEET_SECTION);

#define FLEET_PAGE(R, F)                                                                           \
	F(R, TEXT, title, "for the window")                                                        \
	F(R, TEXT, window, "from when to when")                                                    \
	F(R, TEXT, owner, "whose workloads alone it has; none: all of them")                       \
	F(R, TEXT, before, "begin of the window before, which this one is compared with")          \
	FLEET_SAIDS(R, F)                                                                          \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, TEXT, weight, "what ratios of several workloads are weighted by")                     \
	F(R, FLAG, has_mfu, "the MFU of some workload is known")                                   \
	F(R, FLAG, has_usage, "chip-hours are known")                                              \
	F(R, LIST(html_fact), tiles, "the numbers at the top")                                     \
	F(R, LIST(fleet_section), main, "what to do first")                                        \
	F(R, LIST(fleet_section), groups, "the fleet by chip, owner, model and size")              \
	F(R, LIST(fleet_section), rest, "what moved, and how good the data is")
RECORD_STRUCT(fleet_page, FLEET_PAGE);

extern const struct record fleet_page_record;

/* How a column is shown, whatever the document. */
enum head_kind {
	HEAD_PLAIN,
	HEAD_LOSS,     /* above zero is bad and has its sign, below is good */
	HEAD_PART,     /* drawn as a bar, too */
	HEAD_AMOUNT,   /* the same, the largest of its column as the whole bar */
	HEAD_DEADLINE, /* days, of which two weeks are few */
	HEAD_CHANCE,   /* below a thousandth they are all alike */
	HEAD_DATA      /* told by another column's cells, or for machines only */
};
struct fleet_head {
	const char *column, *label;
	enum head_kind kind;
	const char *of; /* the column that it is a part of: "5.4 of 8"; that one has no place */
};
struct fleet_head fleet_head(struct str column); /* its name says it where there is no label */
/* In a table for people: it is not NULL in every row, and no other column's cells tell it. */
bool fleet_is_shown(const struct fleet_answer *a, ptrdiff_t column);

/* As a link on the weekly page has it; missing when the row's run has no page. */
struct str fleet_page_link(
	const struct fleet_row *row, const struct fleet_pages *pages, struct arena *keep);

/* A workload's step times, small, with its levels. */
struct template_picture svg_history(
	const struct fleet_report *r, struct str workload, struct arena *keep);

#endif
