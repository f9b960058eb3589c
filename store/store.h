/*
 * The store: a set of facts that only grows, on two verbs, append and ask; a look whether what
 * would be appended is there, and a scan for whoever wants facts whole.
 *
 * Facts are known by their hash, so appending what is there changes nothing, in whatever order and
 * by however many writers at once.  A question (question.h) runs where the facts are, and adds up
 * whole numbers, so that every kind of store gives the same answers.
 *
 * A store is a SQLite file on a local disk (write-ahead logging, which several writers share, does
 * not work over network file systems), or a table of ClickHouse (address.h says how it is named).
 *
 * A file also keeps, for those runs of which it was given, what a later run is compared with: bytes
 * that mean nothing here.
 *
 * Refuses: changing facts, and forgetting any unasked; files and tables that are not its own;
 * opening connections, which a link does that the caller gives.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/facts.h"
#include "store/question.h"

struct store;

/* One question to a server, and its answer. */
struct store_question {
	struct str url;			     /* holds no secret */
	struct str user_from, password_from; /* names of variables; missing: none */
	struct str body;
	double timeout_s;
	ptrdiff_t answer_bytes; /* what is beyond is dropped */
};
struct store_answer {
	struct str error; /* missing: the server took the question and this is its answer */
	struct str body;  /* the server's own words if it refused */
};
struct store_link {
	void (*ask)(void *arg, const struct store_question *q, struct arena *keep,
		struct store_answer *ret);
	void *arg;
};

/*
 * A file is made when it is not there yet, unless it is only read.  One that cannot be written here
 * is read as it is, if all that was appended is in it; a scan fails when it was written meanwhile.
 * A server is not asked before the first append or scan, and nothing is made there.  NULL and a
 * diagnostic (RL701).
 */
enum store_use { STORE_READ, STORE_WRITE, STORE_PRUNE }; /* the last: one that is there */
struct store *store_open(struct str place, enum store_use use, const struct store_link *link,
	struct arena *keep, struct diag *err);
/* Without flushing. */
void store_close(struct store *s);

/*
 * All of a run or nothing.  Waits for other writers, at most a minute.  A server gets runs in
 * batches: what was appended is there after a flush or a scan, or when it has waited too long.
 */
bool store_append(struct store *s, const struct run_facts *f, struct diag *err);
bool store_flush(struct store *s, struct diag *err);

/* Moments as facts have them, both included; missing: open at that end. */
struct window {
	struct str from, to;
};
/*
 * Runs captured in the window, newest first, then by hash; those without a date come last, in any
 * window.  False when the store fails, or `take` ends it: then with take's diagnostic.  `take` does
 * not use the store.
 */
bool store_scan(
	struct store *s, struct window window, run_facts_fn *take, void *arg, struct diag *err);

/*
 * The rows of an answer, in the order of the question.  A server answers itself, and moves nothing
 * else; one of before 2022 knows no window functions: its runs come here once and are asked here.
 */
bool store_ask(struct store *s, const struct question *q, answer_row_fn *take, void *arg,
	struct diag *err);

/*
 * Captures of these profiles that are there (their listing where they have one, else their run),
 * judged by that judge and readable; in no order, and one may come twice.  A file has an index for
 * it.  A server reads a few columns of every row, so it is asked for many profiles at once,
 * STORE_LOOK_MAX at most.
 */
#define STORE_LOOK_MAX 1000 /* some 100 kB of a query, of which servers read 256 kB */
typedef void store_look_fn(void *arg, struct str profile, struct str run);
bool store_look(struct store *s, struct str judge, const struct str *profiles, ptrdiff_t count,
	store_look_fn *take, void *arg, struct diag *err);

/*
 * Forgets runs captured before a moment (missing: none), and of a run that was judged several times
 * all but what was appended last; how many judged runs that were.  Of a file only: a server's table
 * has an owner, and a time to live.
 */
bool store_prune(
	struct store *s, struct str before, bool superseded, int64_t *count, struct diag *err);

/*
 * What is kept of a run beside its facts, which were appended before; what is there already stays.
 * A server keeps facts alone: nothing is done there.  Longer than STORE_KEPT_MAX is an error.
 */
#define STORE_KEPT_MAX ((ptrdiff_t)1 << 19)
bool store_keep(struct store *s, const struct run_facts *f, struct str bytes, struct diag *err);
/*
 * Runs of which something was kept, of that workload and captured until then (missing: whenever),
 * newest first, then by hash, those without a date last.  Their rules are left out.  When `take`
 * sets *more to false, it is enough.
 */
typedef bool run_kept_fn(
	void *arg, const struct run_facts *f, struct str bytes, bool *more, struct diag *err);
bool store_recall(struct store *s, struct str workload, struct str until, run_kept_fn *take,
	void *arg, struct diag *err);

/*
 * Step times of the newest runs of each workload on the same chips, captured in the ninety days
 * before that moment: workload by workload, in the order of their capture; a run comes once.  A
 * server has none of them here.
 */
#define STORE_MEDIANS_RUNS 20	 /* more tell little more of noise */
#define STORE_MEDIANS_MOST 20000 /* a thousand workloads */
typedef void store_median_fn(void *arg, struct str workload, double step_time_s);
bool store_medians(
	struct store *s, struct str until, store_median_fn *take, void *arg, struct diag *err);

#endif
