/*
 * What a store remembers of runs: baselines by a query, and how the run before ended.
 *
 *     store:branch=main,last=10
 *
 * The last ten runs of the judged run's own workload that were captured before it, bear that label
 * and may be compared with it, by whatever judge; a run counts once, and never the judged one.
 * Keys besides labels are last, workload, commit and verdict, each once.
 *
 * A connection does not survive the fork of workers, so each of these opens the store anew.
 *
 * Refuses: deciding whether runs may be compared (measure/baseline.h).
 */
#ifndef SESSION_HISTORY_H
#define SESSION_HISTORY_H

#include "session/connection.h"
#include "session/baseline.h"
#include "report/report.h"

/* More tell nothing new of noise, and are read for each profile. */
#define HISTORY_MAX_LAST 100
#define HISTORY_LAST	 20
/* Unpacking one takes a millisecond; whose last thousand runs do not fit has another workload. */
#define HISTORY_MAX_LOOKED 1000

struct history_query {
	struct str text;		      /* as it was given */
	struct str workload, commit, verdict; /* missing: the run's own workload; any */
	struct str *labels;		      /* "branch=main" */
	ptrdiff_t label_count, label_cap;
	int64_t last; /* runs that may be compared */
};

bool history_is_query(struct str word);

/* Of a word that is one. */
bool history_query_parse(
	struct str word, struct arena *keep, struct history_query *ret, struct diag *err);

/* What a query finds for `head`, whose profile is called `shown`, behind what is in *ret. */
bool history_recall(struct store *store, const struct history_query *q, const struct tables *head,
	struct str shown, struct arena *keep, struct baselines *ret, struct diag *err);

/*
 * What the store's workloads show of the noise between runs before `head`, in place of *ret; left
 * as it is where they are too few.
 */
bool history_noise(struct store *store, const struct tables *head, struct str shown,
	struct arena *keep, struct noise_prior *ret, struct diag *err);

/*
 * Appends the facts of every run, and the tables that a later run is compared with.  A run whose
 * tables are too large for a store is recorded without them, and `tell` is given a line about it.
 */
bool history_record(struct str store, const struct report_set *set, struct str judge,
	void (*tell)(struct str line), struct arena *keep, struct diag *err);

/*
 * For each report the state of its rules in the last recorded run of its workload and branch,
 * captured no later: reports that hold verdicts and nothing else.  Runs without one have none.
 * With `is_recorded`, when who tells records as well, a run that the store has is its own last one:
 * what it failed was told then.
 */
bool history_previous(struct str store, const struct report_set *set, bool is_recorded,
	struct arena *keep, struct report_set *ret, struct diag *err);

#endif
