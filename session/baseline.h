/*
 * Runs that a run is compared with, as --baseline names them: profiles, measured like any other,
 * report.json, which holds what was measured then, and queries of a store (history.h), which find
 * other runs for each run.
 */
#ifndef SESSION_BASELINE_H
#define SESSION_BASELINE_H

#include "session/load.h"
#include "measure/baseline.h"
#include "rules/limits.h"

struct baselines {
	struct baseline *items;
	ptrdiff_t count, cap;
	struct str store;	  /* --store, or missing */
	struct noise_prior prior; /* of the noise between runs, unless the store shows it */
	bool are_of_others;	  /* several runs are judged, and one may be a baseline, too */
	struct history_query *queries;
	ptrdiff_t query_count, query_cap;
};

/* Options for a run before this one: of another commit, older, and not what --job is about. */
struct load_options baseline_options(const struct load_options *of_head);

/* One, appended: a file that ends in .json is a report, and each of its profiles is a baseline. */
bool baseline_load(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err);

/* All that --baseline names; `options` are those of the runs that are compared. */
bool baselines_load(struct baselines *ret, const struct list *words, struct str store,
	const struct load_options *options, struct arena *keep, struct diag *err);

/*
 * Compares `head` with the named baselines and with what each query finds for it; a run that may
 * not be compared, and a query that finds nothing, is a baseline without tables, whose name says
 * why.  The rest is baseline_compare's.
 */
bool baselines_compare(const struct baselines *b, struct tables *head, struct str shown,
	struct arena *keep, const struct baseline **ret, struct diag_list *notes, struct diag *err);

/*
 * What good runs, profiles or reports of them, showed of the rules' numbers; each has enough steps
 * to set limits by.
 */
bool limits_from_runs(const struct ruleset *rules, const struct list *paths,
	const struct load_options *options, struct arena *keep, struct limits *ret,
	struct diag *err);

#endif
