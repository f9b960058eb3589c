/*
 * The figures of a run against those of comparable runs: rows of deltas.  Inside of measure/.
 */
#ifndef MEASURE_COMPARE_H
#define MEASURE_COMPARE_H

#include "measure/tables.h"

/* `bases` has at least one; every one has a row in run. */
void compare_runs(struct tables *head, const struct tables *const *bases, ptrdiff_t count,
	struct arena *keep);

#endif
