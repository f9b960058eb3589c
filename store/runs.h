/*
 * What is asked of single runs: questions (runs.sql) that every kind of store answers the same way.
 *
 * Refuses: choosing among runs; whoever asks does.
 */
#ifndef STORE_RUNS_H
#define STORE_RUNS_H

#include "store/store.h"

/* One that a store has; no parts until they are asked for. */
struct stored_run {
	struct run_facts facts;
	int64_t captured_ns; /* 0: no date is known */
	bool is_kept;	     /* something is, beside its facts */
	struct str kept;     /* missing until it is asked for */
};

/*
 * Runs page by page, newest first, then by hash, each once; those without a date come last, in any
 * window.  A page lives until the next one.  What was appended meanwhile may be among them or not.
 */
struct run_pages {
	struct store *store;
	struct str workload;	/* missing: of all */
	int64_t from_ns, to_ns; /* both included */
	struct stored_run **runs;
	ptrdiff_t count, cap; /* 0: there are no more */
	/* Where the next page begins: behind this run. */
	int64_t behind_ns;
	struct str behind;
	struct arena place, keep, bytes;
};
void run_pages_open(
	struct run_pages *p, struct store *s, struct str workload, int64_t from_ns, int64_t to_ns);
bool run_pages_next(struct run_pages *p, struct diag *err);
void run_pages_close(struct run_pages *p);
/* Of some runs of the page, in its order. */
bool run_pages_add(struct run_pages *p, struct stored_run **runs, ptrdiff_t count,
	enum fact_record part, struct diag *err);
/* What is kept of them, until this is asked again: so many take 10 MB at most. */
enum { RUNS_KEPT_MAX = 20 };
bool run_pages_kept(
	struct run_pages *p, struct stored_run **runs, ptrdiff_t count, struct diag *err);

/*
 * All that is said of the runs of a window.  False when the store fails, one does not fit its hash,
 * or `take` ends it: then with take's diagnostic.
 */
bool store_scan(struct store *s, int64_t from_ns, int64_t to_ns, run_facts_fn *take, void *arg,
	struct diag *err);

/*
 * Captures of these profiles that are there, judged by that judge and readable: the profile, and
 * its listing where it has one, else its run; in no order.  A file has an index for it.  A server
 * reads a few columns of every row, so it is asked for many profiles at once, QUESTION_MAX_LIST at
 * most.
 */
bool store_look(struct store *s, struct str judge, const struct str *profiles, ptrdiff_t count,
	answer_row_fn *take, void *arg, struct diag *err);

/*
 * Step times of the newest runs of each workload on the same chips, captured in the ninety days
 * before that moment: the workload, the chip and how many, and the time; workload by workload, in
 * the order of their capture; a run comes once.
 */
#define STORE_MEDIANS_RUNS 20	 /* more tell little more of noise */
#define STORE_MEDIANS_MOST 20000 /* a thousand workloads */
bool store_medians(
	struct store *s, int64_t until_ns, answer_row_fn *take, void *arg, struct diag *err);

#endif
