/*
 * What a reader of one line gets: what happened, how much, where and what it costs.  Every writer
 * begins with it.  Private to report/.
 */
#ifndef REPORT_HEADLINE_H
#define REPORT_HEADLINE_H

#include "report/model.h"

/* One clean line, without the verdict and the profile; never empty but for a report of nothing. */
struct str headline_of(const struct report *r, struct arena *keep);

/* Why rules could not be judged, first of all: what had to be, before what else; or NULL. */
const struct rule_result *headline_cause(const struct report *r);

/* What a rule's findings cost: "73.4% of the step (23.8 ms of 32.5 ms)"; missing: not known. */
struct str headline_cost(const struct report *r, const struct group *g, struct arena *keep);

/* The step beside the baseline's: "+7.60% against night-0.json"; missing: not compared. */
struct str headline_delta(const struct report *r, struct arena *keep);

#endif
