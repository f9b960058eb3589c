/*
 * Profiles in, reports out: one in this process, several in worker processes.
 *
 * A worker sends back the report.json of what it judged, so a report is the same whichever way it
 * came.  Whatever happens to one profile (damage, a crash, memory) becomes a report of that, and
 * the others are judged.
 */
#ifndef SESSION_BATCH_H
#define SESSION_BATCH_H

#include "session/baseline.h"
#include "session/shard.h"
#include "report/report.h"

struct batch {
	const struct ruleset *rules;
	const struct load_options *options;
	struct baselines baselines;	   /* that each run is compared with */
	const struct report_set *previous; /* --previous, or NULL */
	struct str today;		   /* --today, or missing */
	int workers;
	bool all_runs;	  /* not only the newest of each */
	bool keep_tables; /* reports carry their tables; without, only those of its head */
	bool keep_plots;  /* and what a page draws; with keep_tables */
	/* Memory is full, and one profile is judged in this process: say so and end it. */
	void (*give_up)(const struct diag *err);
	void (*progress)(ptrdiff_t done, ptrdiff_t count); /* after each of several; or NULL */
	/*
	 * NULL: reports are gathered.  Else each profile's are handed over when they come, in the
	 * order of names, and forgotten, so that memory does not grow with their number.
	 */
	void (*take)(void *arg, const struct report_set *set);
	void *take_arg; /* of the next two, too */
	/*
	 * A path that was named and whose runs could not be listed: told, and no report.  NULL: it
	 * has a report that says so.
	 */
	void (*lost)(void *arg, const struct diag *err);
	/* With take: a second passed in which none came; or NULL. */
	void (*idle)(void *arg);
	/*
	 * A run that need not be judged has no report: asked in the worker, after this process
	 * was told the names of all, in their order and QUESTION_MAX_LIST at a time, and then
	 * none.  NULL: judge all.
	 */
	bool (*skip)(void *arg, struct str shown, const struct found_run *run);
	bool (*expect)(void *arg, const struct str *shown, ptrdiff_t count, struct diag *err);
	void *skip_arg;
	struct shard shard; /* which part of the runs; all zero: the whole */
};

/*
 * Reports come in order of their profiles' names, each profile once.  Of a run its name and its
 * path are held, and what is in its directory is looked at again when its turn comes.
 */
bool batch_run(const struct batch *b, const struct list *paths, struct arena *keep,
	struct report_set *ret, struct diag *err);

#endif
