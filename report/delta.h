/*
 * What a run is beside its baseline, in sentences: the news, the step time, and whatever else
 * changed beyond noise, for better or worse.  Private to report/.
 */
#ifndef REPORT_DELTA_H
#define REPORT_DELTA_H

#include "report/model.h"

/* None without a baseline. */
ptrdiff_t delta_lines(const struct report *r, struct arena *keep, struct str **ret);
/* Whether a note is told in those lines. */
bool note_is_news(const struct report_note *note);

#endif
