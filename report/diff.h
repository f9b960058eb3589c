/*
 * A diff of two runs as text, JSON and Markdown.  Each says what it leaves out.
 */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "measure/diff.h"
#include "report/report.h"

struct diff_report {
	struct str base, head; /* names as given */
	const struct op_diff *ops;
	/* The head's deltas and notes, for what is not an op: step time, memory, news. */
	const struct report *report;
	ptrdiff_t most; /* ops listed on either side, lost and won; 0: all */
};

void diff_text(const struct diff_report *d, struct arena *keep, struct out *out);
void diff_json(const struct diff_report *d, struct arena *keep, struct out *out);
void diff_markdown(const struct diff_report *d, struct arena *keep, struct out *out);

#endif
