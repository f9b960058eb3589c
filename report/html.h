/*
 * What a page shows, as records that templates are filled with.  Private to report/.
 *
 * The fields of each record, with their meaning for people who write templates, stand in
 * html_fields.c; docs/templates.md is the same list.  Values are made from struct report alone, so
 * that a page can be made later, from report.json.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/model.h"
#include "report/template.h"

/* A piece of prose: plain, or `code` between backquotes. */
struct html_span {
	struct str text;
	bool is_code;
};

/* A paragraph, or lines of code. */
struct html_block {
	struct template_list spans; /* of html_span; empty for code */
	struct str code;
};

struct html_fact { /* a number at the top of the page */
	struct str label, value, note, tone;
};

struct html_count { /* "2 failed", and where they stand */
	struct str text, verdict, target;
};

struct html_evidence {
	struct str role; /* "measured" or "limit" */
	struct str name, value, meaning;
};

struct html_subject { /* one more subject of a rule */
	struct str id, message, cost, place;
	struct template_list around; /* of html_side */
};

struct html_neighbour { /* an op beside the one that was found, or in it */
	struct str name, opcode, shape, bytes;
};

struct html_side { /* "takes", and from whom */
	struct str role, label, more;
	struct template_list ops; /* of html_neighbour */
};

struct html_finding {
	struct str id, subject_id, rule, verdict, word, message, place, scope, cost, expected, note;
	struct template_picture icon, share;
	struct template_list evidence, others, warned; /* of html_evidence, html_subject */
	struct str others_more, warned_more, unknown;  /* "and 7 more" */
	struct template_list around;		       /* of html_side */
	struct template_list cause, fix, why;	       /* of html_block */
};

struct html_rule_name {
	struct str name, id;
};

struct html_trouble {		     /* rules that could not be judged, for the same reason */
	struct template_list rules;  /* of html_rule_name */
	struct template_list reason; /* of html_span */
	struct template_picture icon;
	struct template_list evidence, todo;
};

struct html_rule {
	struct str name, id, title, verdict, word;
	struct template_list reason; /* of html_span */
	struct template_picture icon;
};

struct html_note {
	struct str id, text;
	bool is_bad;
};

struct html_picture {
	struct str id, title, caption, size; /* size: "wide", or missing */
	struct template_picture drawing;
};

struct html_cell {
	struct str text, whole; /* whole: when the text was cut */
	struct str value;	/* of a number, in base units */
	bool is_number;
};

struct html_column {
	struct str name, meaning;
	bool is_number, is_choice; /* choice: one of a few words */
};

struct html_row {
	struct str head, head_whole, head_value;
	struct template_list cells;
};

struct html_table {
	struct str id, title, meaning, count;
	struct template_list columns, rows;
};

struct html_change { /* an op that changed against the baseline */
	struct str time, value, tone, change, name, text, place;
	struct str name_whole, text_whole, place_whole; /* when it was cut */
};

struct html_changes { /* those that lost time, or won some */
	struct str title, more;
	struct template_list rows;
	bool has_places;
};

struct html_report {
	struct str id, ids; /* ids: what stands before every id of this report */
	struct str profile, verdict, word, machine, summary, inputs, promise, rules, error,
		error_id;
	struct str step, gives_back, first_finding;
	struct str step_value, gives_back_value; /* in seconds, for sorting */
	struct template_picture icon, budget;
	struct template_list facts, counts, deltas, changes, failed, warned, unsure, waived, passed,
		skipped, notes;
	struct template_list pictures, tables;
	bool is_cut; /* one of too many: without pictures and tables */
};

struct html_page {
	struct str title, version, count, verdict;
	struct template_picture icon;
	struct template_list reports;
	bool is_batch;
};

extern const struct template_record html_page_record;

/* ---- making them ----------------------------------------------------------------------------- */

#define LIST(items, count) ((struct template_list){ (items), (count) })

/* Prose with code in it: lines that begin with two blanks, and words between backquotes. */
/* A line of it, of html_span. */
struct template_list html_spans(struct str text, struct arena *keep);
struct template_list html_prose(struct str text, struct arena *keep);
/* At most `columns` characters, the last of them an ellipsis when something was cut. */
struct str html_clip(struct str s, int columns, struct arena *keep);
struct str html_place(struct str file, double line, struct arena *keep); /* "train.py:41" */
/* Letters, digits, '-', '_' and '.'; anything else becomes '-'. */
struct str html_slug(struct str s, struct arena *keep);

/* Where a finding stands in the program's graph, side by side; empty when that is not known. */
struct template_list html_around(const struct report_finding *f, struct arena *keep);

/* At most two lists: losses, and gains. */
extern const struct template_record html_changes_record;
struct template_list html_changes(
	const struct changes_row *rows, ptrdiff_t count, ptrdiff_t most, struct arena *keep);
extern const struct template_record html_note_record, html_diff_record;
/* What differs from the baseline, a sentence each. */
struct template_list html_deltas(const struct report *r, struct arena *keep);

void html_rules(const struct report *r, struct arena *keep, struct html_report *ret);
void html_tables(const struct report *r, struct arena *keep, struct html_report *ret);

#endif
