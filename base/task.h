/*
 * Work in parallel: threads inside one large run, processes over many profiles.
 *
 * Results never depend on which worker did what: tasks write only to their own slot, and callers
 * merge slots in order.
 */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include "base/arena.h"
#include "base/diag.h"

int task_cpus(void); /* processors this process may use, at least 1 */

/* Run fn(arg, 0) .. fn(arg, count-1) on at most `threads` threads; returns when all are done. */
typedef void task_fn(void *arg, ptrdiff_t index);
void task_threads(task_fn *fn, void *arg, ptrdiff_t count, int threads);

/*
 * Run `count` jobs in `workers` forked processes; each job returns bytes.  A worker that dies
 * costs only the job it was on (result.ok = false, with the signal or status in result.why) and
 * is replaced; so a job may give up, from any of its threads, by _exit with a status.  `done` is
 * called in the parent, in order of index; `idle`, or NULL, each second in which no answer comes.
 */
struct job_result {
	bool ok;
	int status;	  /* of a worker that ended by itself, without an answer; else -1 */
	struct str bytes; /* valid during the call */
	char why[256];
};
typedef struct str job_fn(void *arg, ptrdiff_t index, struct arena *keep);
typedef void job_done_fn(void *arg, ptrdiff_t index, const struct job_result *result);
typedef void job_idle_fn(void *arg);
bool task_processes(job_fn *job, job_done_fn *done, job_idle_fn *idle, void *arg, ptrdiff_t count,
	int workers, struct diag *err);

#endif
