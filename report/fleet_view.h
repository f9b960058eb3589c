/*
 * What the weekly page shows, as records that its templates are filled with.  Private to report/.
 */
#ifndef REPORT_FLEET_VIEW_H
#define REPORT_FLEET_VIEW_H

#include "report/fleet.h"
#include "report/html.h"

#define FLEET_TILE(R, F)                                                                           \
	F(R, TEXT, label, "what is counted: \"Step time\"")                                        \
	F(R, TEXT, value, "how much: \"32.5 ms\"")                                                 \
	F(R, TEXT, note, "a remark in small print")                                                \
	F(R, TEXT, section, "anchor of the section that has it in parts")
RECORD_STRUCT(fleet_tile, FLEET_TILE);

#define FLEET_VALUE(R, F)                                                                          \
	F(R, TEXT, text, "the value with its unit")                                                \
	F(R, TEXT, whole, "all of it, when it was cut")                                            \
	F(R, TEXT, tone, "\"bad\" or \"good\" where that can be said")                             \
	F(R, FLAG, is_number, "it is a number")                                                    \
	F(R, FLAG, is_short, "it is a text too short to be broken into lines")                     \
	F(R, PICTURE, picture, "the same, drawn")
RECORD_STRUCT(fleet_value, FLEET_VALUE);

#define FLEET_LINE(R, F)                                                                           \
	F(R, TEXT, page, "the page of the run that it tells of, where there is one")               \
	F(R, TEXT, head, "the name it goes by")                                                    \
	F(R, TEXT, head_whole, "all of it, when it was cut")                                       \
	F(R, LIST(fleet_value), cells, "its values")
RECORD_STRUCT(fleet_line, FLEET_LINE);

#define FLEET_SECTION(R, F)                                                                        \
	F(R, TEXT, id, "its anchor")                                                               \
	F(R, TEXT, title, "what is asked")                                                         \
	F(R, TEXT, about, "what a line is, and how they are sorted")                               \
	F(R, TEXT, none, "what it means that there are no lines")                                  \
	F(R, TEXT, more, "how many lines are not shown")                                           \
	F(R, FLAG, is_narrow, "it fits beside another")                                            \
	F(R, LIST(html_column), columns, "heads of the columns")                                   \
	F(R, LIST(fleet_line), lines, "the answer")
RECORD_STRUCT(fleet_section, FLEET_SECTION);

#define FLEET_PAGE(R, F)                                                                           \
	F(R, TEXT, title, "for the window")                                                        \
	F(R, TEXT, window, "from when to when")                                                    \
	F(R, TEXT, owner, "whose workloads alone it has; none: all of them")                       \
	F(R, TEXT, before, "begin of the window before, which this one is compared with")          \
	F(R, TEXT, coverage, "how many of the runs could be judged")                               \
	F(R, TEXT, goodput, "how near to its roofline the fleet runs")                             \
	F(R, TEXT, promise, "what all fixes together give back")                                   \
	F(R, TEXT, news, "how many problems are new and fixed, and workloads slower and faster")   \
	F(R, TEXT, problems, "its first half, where there is a window to compare with")            \
	F(R, TEXT, moves, "its second half")                                                       \
	F(R, TEXT, cpus, "how many workloads ran on CPUs alone")                                   \
	F(R, TEXT, missing, "what was expected and did not come")                                  \
	F(R, TEXT, later, "how many runs are dated after this window")                             \
	F(R, TEXT, budget, "whose budgets are broken")                                             \
	F(R, TEXT, machines, "which machines are slow in several workloads")                       \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, TEXT, weight, "what ratios of several workloads are weighted by")                     \
	F(R, FLAG, has_mfu, "the MFU of some workload is known")                                   \
	F(R, FLAG, has_usage, "chip-hours are known")                                              \
	F(R, LIST(fleet_tile), tiles, "the numbers at the top")                                    \
	F(R, TEXT, chips_about, "what is drawn there")                                             \
	F(R, PICTURE, chips, "the workloads that would give back most")                            \
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
	HEAD_DEADLINE, /* days, of which two weeks are few */
	HEAD_CHANCE,   /* beyond a few digits nobody tells them apart */
	HEAD_DATA      /* told by another column's cells, or for machines only */
};
struct fleet_head {
	struct str column, label;
	enum head_kind kind;
	struct str of; /* the column that it is a part of: "5.4 of 8"; that one has no place */
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
/* Workloads as bars as long as their chips, with what could be had back; each links to its page. */
struct template_picture svg_fleet(
	const struct fleet_report *r, const struct fleet_pages *pages, struct arena *keep);

#endif
