/*
 * The figures of a run against those of comparable runs: rows of deltas.  Inside of measure/.
 */
#ifndef MEASURE_DELTAS_H
#define MEASURE_DELTAS_H

#include "base/diag.h"
#include "measure/noise.h"
#include "measure/tables.h"

/* Baselines that are one sample. */
struct run_sample {
	struct str query;	    /* missing: named one by one */
	const struct tables **runs; /* at least one; every one has a row in run */
	struct str *names;
	ptrdiff_t count;
};

/* Whether the job files of both say what the work is: one batch, or what the model needs. */
bool job_says_work(const struct run_row *here, const struct run_row *base);

/* Names in notes the baselines whose step time lies beyond the others'; they are left out. */
void compare_runs(struct tables *head, const struct run_sample *samples, ptrdiff_t count,
	struct noise_prior prior, struct arena *keep, struct diag_list *notes);

#endif
