/*
 * How sure one may be of a median of few, autocorrelated, heavy-tailed samples, and Student's t.
 *
 * Nothing here is random: the generator of the bootstrap is seeded by the data itself, so the same
 * samples give the same answer.
 *
 * Refuses: knowing what the samples are, and deciding what is worse (measure/baseline.h).
 */
#ifndef BASE_RESAMPLE_H
#define BASE_RESAMPLE_H

#include "base/arena.h"

struct median_noise {
	double se; /* standard error of the median, in the samples' unit; NaN when not known */
	double n_effective; /* independent samples that would know as much; at most n */
};

/*
 * Of `n` samples in the order of their time.  The standard error of their median comes from a
 * moving block bootstrap (Künsch 1989), with blocks as long as the lag-1 autocorrelation asks for
 * (the plug-in of Carlstein 1986 for an AR(1) process, which grows as the cube root of n).  Below
 * NOISE_LEAST samples there is none.
 */
#define NOISE_LEAST 5 /* fewer cannot tell spread from luck */
struct median_noise median_noise(const double *samples, ptrdiff_t n, struct arena scratch);

/*
 * Lag-1 autocorrelation of the samples' ranks, which a few wild ones cannot hide, with the bias of
 * a short series taken off (Marriott and Pope 1954).  From 0 to 0.9; NaN below NOISE_LEAST.
 */
double autocorrelation(const double *samples, ptrdiff_t n, struct arena scratch);

/* Probability that |T| exceeds |t|, with `df` > 0 degrees of freedom, which need not be whole. */
double student_p(double t, double df);
/* The t with student_p(t, df) = p, for 0 < p < 1. */
double student_quantile(double p, double df);

/* Derivatives of ln gamma, for x > 0, and where the second takes the value y > 0. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

#endif
