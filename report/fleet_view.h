/*
 * What the weekly page shows, as records that its templates are filled with.  Private to report/.
 */
#ifndef REPORT_FLEET_VIEW_H
#define REPORT_FLEET_VIEW_H

#include "report/fleet.h"
#include "report/html.h"

struct fleet_value {
	struct str text, whole; /* whole: when the text was cut */
	struct str tone;	/* "bad" or "good", where up and down mean something */
	bool is_number, is_short;
	struct template_picture picture; /* beside the text */
};

struct fleet_line {
	struct str page; /* of the run it tells of; missing when there is none */
	struct str head, head_whole;
	struct template_list cells; /* of fleet_value */
};

/* A number at the top, and the section that has it in parts. */
struct fleet_tile {
	struct str label, value, note, section;
};

struct fleet_section {
	struct str id, title, about, none, more;
	bool is_narrow;			     /* fits beside another */
	struct template_list columns, lines; /* of html_column, fleet_line */
};

struct fleet_page {
	struct str title, window, before, coverage, goodput, promise, news, cpus, version, weight;
	struct str problems, moves, chips_about;
	bool has_mfu, has_usage;
	struct template_list tiles; /* of fleet_tile */
	struct template_picture chips;
	struct template_list main, groups, rest; /* of fleet_section */
};

extern const struct template_record fleet_page_record;

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
