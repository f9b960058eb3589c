/*
 * What a run is beside its baseline, in sentences: what differs, the step time, and whatever else
 * changed beyond noise, for better or worse.  Private to report/.
 */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "report/model.h"

/* Why there was no earlier run to compare with; missing: there was, or none was asked for. */
struct str comparison_missing(const struct report *r);

/* None without a baseline. */
struct list comparison_lines(const struct report *r, struct arena *keep);
/* Whether a note is told in those lines. */
bool note_is_comparison(const struct diag_note *note);
/* "; 3 more baselines like these would settle it", of one that is too noisy to tell; else empty. */
struct str comparison_needs(const struct deltas_row *d, struct arena *keep);

#endif
