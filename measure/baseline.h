/*
 * A run beside the runs before it: deltas, and whether they may be compared at all.
 *
 *  - What must match is what was asked of the machine: workload, chip, chips, devices, phase and
 *    batch.  Everything else that differs is the news and is told.
 *  - One baseline: medians over the steady steps; their noise by a moving block bootstrap
 *    (base/resample.h), compared with Welch's t.  That knows the noise between steps only, and
 *    not what changes from one run to the next.
 *  - Several baselines: their values are the samples, and the run is asked whether it could be one
 *    more of them (the prediction interval of a normal sample), never with less noise than the
 *    steps within the runs have.
 *  - Several sets of baselines, such as a pinned run and the last ten: each is compared alone.  How
 *    much runs vary is one question, so the largest set answers it for all.
 *  - The step time is the primary comparison; p-values of all others are adjusted together by
 *    Holm's method, and so are those of the step time where there are several sets.  So each of
 *    the two has its own 1%.
 *  - A comparison that found nothing and would not have found a change of 10% (5 points for shares
 *    of the step) says nothing: its p_value is NULL.
 *  - Peak memory has no noise within a run: no p_value; lo and hi are the ratios to the largest and
 *    to the smallest baseline.
 *
 * Refuses: deciding what is too much; that is the rules' own minimum effect.
 */
#ifndef MEASURE_BASELINE_H
#define MEASURE_BASELINE_H

#include "base/diag.h"
#include "measure/tables.h"

struct baseline {
	struct str name; /* as given, for messages; without tables: why there is none */
	/*
	 * The query that found it, and its set; missing: named one by one.  What is named by
	 * mistake is an error; what a query finds is passed over: the run itself, and a run found
	 * before.
	 */
	struct str query;
	const struct tables *tables; /* NULL: the query found none */
};

/* How a set without a query is called in deltas. */
#define BASELINE_NAMED STR("the baseline")

#define BASELINE_ALPHA 0.01 /* what counts as seen: one false alarm in a hundred nights */

/*
 * Whether a run may be compared with the baseline; `why` tells why not.  What is no run at all, or
 * the query's own word that it found none, fits nothing.
 */
bool baseline_fits(const struct tables *head, const struct baseline *item, struct arena scratch,
	struct diag *why);

/*
 * Fills deltas, the row "baseline-comparable" of quality and, against the first baseline that
 * matches, changes.  *ret is the first baseline that
 * matches, or NULL when none does.  False, with a diagnostic, when a named baseline is this very
 * run, or is named twice.
 */
bool baseline_compare(struct tables *head, const struct baseline *items, ptrdiff_t count,
	struct arena *keep, const struct tables **ret, struct diag_list *notes, struct diag *err);

#endif
