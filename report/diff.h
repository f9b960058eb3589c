/*
 * A diff of two runs as text, JSON, Markdown and a page.  Each says what it leaves out.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "measure/diff.h"
#include "report/report.h"

/* Lines on either side: what is below is noise in all pairs we have seen. */
#define DIFF_MOST 20

struct diff_report {
	struct str base, head; /* names as given */
	const struct op_diff *ops;
	/* The head's deltas and notes, for what is not an op: step time, memory, news. */
	const struct report *report;
	ptrdiff_t most; /* ops listed on either side, lost and won; 0: all */
	struct str tool_version;
};

void diff_text(const struct diff_report *d, struct arena *keep, struct out *out);
void diff_json(const struct diff_report *d, struct arena *keep, struct out *out);
void diff_markdown(const struct diff_report *d, struct arena *keep, struct out *out);

/* Filled into diff.xhtml, which is a directory's, or the embedded one where `dir` is missing. */
struct doc_template;
struct doc_template *diff_html_load(struct str dir, struct arena *keep, struct diag *err);
void diff_html(const struct diff_report *d, const struct doc_template *t, struct arena *keep,
	struct out *out);

/* Sentences of them all. */
struct str diff_counts(const struct op_diff *d, struct arena *keep);
struct str diff_headline(const struct op_diff *d, struct arena *keep);

#endif
