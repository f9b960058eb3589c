/*
 * How much runs of one program differ, and whether a run differs from them by more.
 * docs/statistics.md says how often it is wrong.
 *
 *  - A figure of a run is one reading: the logarithm of a time or a rate, or a share of the step as
 *    it is, so that 1% is a hundredth of the step in both.
 *  - Noise within a run is the standard error of its median step: of short runs by all their steps
 *    together, as the bootstrap is wrong on few; of others by the bootstrap, where it is smaller.
 *  - Noise between runs is what is assumed and what the baselines show, pooled by degrees of
 *    freedom; never less than the noise within a run.
 *  - From four degrees of freedom on (five baselines) the baselines alone may show less: the
 *    narrower of the two intervals counts.
 *
 * Refuses: knowing what the figures are, and deciding what is too much.
 */
#ifndef MEASURE_NOISE_H
#define MEASURE_NOISE_H

#include "base/arena.h"

/* What is assumed of the noise between runs before they show it. */
struct noise_prior {
	double sd;	  /* standard deviation: of ln of a time, or of a share of the step */
	double worth;	  /* degrees of freedom that the assumption is worth */
	double workloads; /* of a store, that showed it, noise within runs included; else 0 */
};
#define NOISE_PRIOR_DEFAULT ((struct noise_prior){ .sd = 0.01, .worth = 4 })

/* One run's figure. */
struct run_reading {
	double x;
	double se;	 /* of x; by the bootstrap, until noise_settle; NaN: not known */
	double spread;	 /* sum of squares of the steps' own x around their mean */
	double worth;	 /* independent steps that would know as much */
	ptrdiff_t steps; /* 0: nothing tells noise from change */
};

/* Steps in the order of their time; `is_log`: their logarithms are what is compared. */
struct run_reading reading_of(
	double x, const double *steps, ptrdiff_t count, bool is_log, struct arena scratch);

/* Sets `se` of all runs that take part in a comparison. */
void noise_settle(struct run_reading *all, ptrdiff_t count);

/* Baselines that are one sample, settled. */
struct run_readings {
	const struct run_reading *items;
	ptrdiff_t count; /* at least one */
};

/* The noise that a comparison was judged with: standard deviations. */
struct noise {
	double taken;
	double seen;  /* in the baselines; NaN when there are no two in a set */
	double worth; /* of the assumption; 0 when the baselines alone told it */
	/* What would make the interval as narrow as wanted; NaN: it is, or nothing would. */
	double baselines_more, steps_times;
};

/*
 * Half the width of the interval of the difference between `head` and the mean of sets[at], which
 * is left out by chance on `alpha` of nights; NaN when it is not known.  `wanted`: half the width
 * that would be of use.
 */
double noise_interval(const struct run_reading *head, const struct run_readings *sets,
	ptrdiff_t count, ptrdiff_t at, struct noise_prior prior, double alpha, double wanted,
	struct noise *ret);

/* The mean of a set's readings. */
double readings_mean(struct run_readings set);

/*
 * Marks in ret the readings of a set that lie beyond the interval of the others, and returns how
 * many: 0 below NOISE_OUTLYING_LEAST, and when more than a fifth do, as then they are the set.
 */
#define NOISE_OUTLYING_LEAST 8 /* of fewer, a good one is as likely the odd one */
ptrdiff_t noise_outlying(struct run_readings set, struct noise_prior prior, double alpha,
	struct arena scratch, bool *ret);

/* ---- what a store's workloads show ---------------------------------------------------------- */

/* How medians of one workload's runs vary; dof 0: too few of them. */
struct workload_noise {
	double variance, dof;
};
/* ln of medians in the order of their time; a level that shifts once does no harm. */
struct workload_noise workload_noise(const double *x, ptrdiff_t count);

/*
 * Half the width of the interval of one run of a workload: by the assumption and the workload, or
 * by the workload alone where that is narrower.
 */
double noise_half(struct workload_noise shown, struct noise_prior prior, double alpha);

/* The prior that these workloads show; false, and untouched, when they are too few to say so. */
#define NOISE_WORKLOADS_LEAST 20
bool noise_prior_fit(const struct workload_noise *items, ptrdiff_t count, struct noise_prior *ret);

#endif
