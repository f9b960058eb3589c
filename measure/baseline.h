/*
 * A run beside the runs before it: deltas, and whether they may be compared at all.
 *
 *  - What must match is what was asked of the machine: workload, chip, chips, devices, phase and
 *    batch.  A step that was found in another way must be as much work, too, and a step that
 *    computes much more or less is another batch or model unless the job files say otherwise.
 *    Everything else that differs is the news and is reported.
 *  - Times and rates are compared by their ratio, shares of the step by their difference.  The
 *    noise is what noise.h says of steps and runs; a change outside the 99% interval is seen.
 *  - Several sets of baselines, such as a pinned run and the last ten: each is compared alone, with
 *    its part of the 1%.  How much runs vary is one question, which all of them answer together.
 *  - Of eight baselines or more, those whose step time lies beyond the others' are left out and
 *    named.
 *  - A comparison that found nothing and would not have found a change of 15% (15 points for shares
 *    of the step) says nothing: its lo and hi are NULL.
 *  - A roofline share is an interval where the work of some ops is unknown.  It is compared as if
 *    nothing of the unknown were work, and as if all of it were, in both runs alike: what is worse
 *    is worse by either.
 *  - Bytes have no noise: lo and hi are against the largest and the smallest baseline.
 *
 * Refuses: deciding what is too much; that is the rules' `matters`.
 */
#ifndef MEASURE_BASELINE_H
#define MEASURE_BASELINE_H

#include "base/diag.h"
#include "measure/noise.h"
#include "measure/tables.h"

struct baseline {
	struct str name; /* as given, for messages; where it has no tables: the reason */
	/*
	 * The query that found it, and its set; missing: named one by one.  What is named by
	 * mistake is an error; what a query finds is passed over: the run itself, and a run found
	 * before.
	 */
	struct str query;
	const struct tables *tables; /* NULL: it may not be compared, or there is none */
	bool is_missing;	     /* the query found no earlier run */
	bool is_head;		     /* it was read from where the head was */
	bool is_of_others;	     /* of several runs that are judged: it may be one of them */
};

/* How several that were named one by one are called in deltas. */
#define BASELINE_NAMED STR("the baselines")

/* How a figure of the run moves from step to step. */
enum series {
	SERIES_TIME,	 /* it is the step's time */
	SERIES_INVERSE,	 /* as one over the step's time: work that does not change */
	SERIES_SHARE,	 /* as a time of the step over the step */
	SERIES_CONSTANT, /* not at all: it has no noise */
	SERIES_PLANNED,	 /* the same of two plans alone: what has run has its own figures */
};

/* What it says of how long a step takes for its work, where it is worse. */
enum loss {
	LOSS_NONE,
	LOSS_STEP, /* longer: it is the step's time */
	LOSS_RATE, /* longer for its work, which a job file states */
	LOSS_PART, /* a part of it is, and others are shorter if the step is not longer */
	LOSS_WORK, /* it does less in its time, or needs less for the same: other facts decide */
};

/* What is compared: METRICS in columns.h. */
struct metric {
	struct str word; /* of deltas.metric */
	enum table_id table;
	struct str column;
	enum series series;
	struct str part; /* SERIES_SHARE: column of steps; SERIES_INVERSE: the most it may be */
	bool more_is_worse;
	enum loss loss;
	struct str name;  /* in words */
	const char *says; /* "a step takes" */
};
const struct metric *metric_find(struct str word);
const struct column *metric_column(const struct metric *m);
bool metric_is_exact(const struct metric *m); /* there is no noise in it */

#define BASELINE_ALPHA 0.01 /* what counts as seen: one false alarm in a hundred nights */

/*
 * Whether a run may be compared with the baseline; `why` tells why not.  What was never measured
 * fits nothing, nor does a query that found no run.
 */
bool baseline_fits(const struct tables *head, const struct baseline *item, struct arena scratch,
	struct diag *why);

/* Whether there was something to compare with, alike or not; after baseline_compare. */
bool baseline_was_there(const struct tables *head);

/*
 * Fills deltas, the row "baseline-comparable" of quality and, against the first baseline that
 * matches, changes.  *ret is the first baseline that matches, or NULL when none does.  Where
 * nothing was there to compare with, the row is "baseline-found": nothing is wrong with this run.
 * False, with a diagnostic, when a named baseline is this very run, which is judged alone, or is
 * named twice.
 */
bool baseline_compare(struct tables *head, const struct baseline *items, ptrdiff_t count,
	struct noise_prior prior, struct arena *keep, const struct baseline **ret,
	struct diag_list *notes, struct diag *err);

#endif
