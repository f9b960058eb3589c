/*
 * Change points: where a history of positive numbers took another level.
 *
 * Levels are fitted to the logarithms, since what matters is the ratio: all ways to cut the history
 * are compared by squared error and a price for each cut (optimal partitioning, Jackson et al.
 * 2005), with the noise taken from the differences of neighbours, which a change of level hardly
 * touches; a run or two that stand out alone are set aside.  Then every cut must hold in a t-test
 * of the two levels beside it alone, as Hunter does (Fleming et al., "Hunter: Using Change Point
 * Detection to Hunt for Performance Regressions", 2023); the weakest goes first.  The test's level
 * is divided by the number of stretches that a level could be (Bonferroni).
 *
 * No randomness: the same history has the same changes.
 *
 * Refuses: drift and cycles, which are no levels.
 */
#ifndef STORE_CHANGE_H
#define STORE_CHANGE_H

#include "base/arena.h"

/* A level is at least this long: two numbers have no spread worth a test. */
#define CHANGE_MIN_RUN 3
/* Newest values looked at: two years of a nightly job, and the fit is quadratic. */
#define CHANGE_MAX 750

struct change {
	ptrdiff_t at;	      /* index of the first value of the new level */
	double before, after; /* the levels: geometric means */
	double p_value;	      /* of the test, before the division */
};

/*
 * The least change, as a ratio less one, that `now` and `before` values of a history differ by in
 * their means when it is not its noise: what is assumed of noise, or less where the history shows
 * it (measure/noise.h).  One of ten thousand quiet histories differs by as much.
 */
double change_least(const double *values, ptrdiff_t count, ptrdiff_t now, ptrdiff_t before,
	struct arena scratch);

/* Changes in order; all values are above 0. */
ptrdiff_t change_points(
	const double *values, ptrdiff_t count, struct arena *keep, struct change **ret);

#endif
