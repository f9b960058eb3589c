/* The noise between runs.  See noise.h; the numbers were settled by tests/bench/power.c. */
#include "measure/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/resample.h"

/* ---- within a run --------------------------------------------------------------------------- */

struct run_reading reading_of(
	double x, const double *steps, ptrdiff_t count, bool is_log, struct arena scratch)
{
	double *y = arena_make(&scratch, double, count + 1), mean = 0, spread = 0;

	for (ptrdiff_t i = 0; i < count; i++)
		y[i] = is_log ? log(steps[i] / steps[0]) : steps[i];
	for (ptrdiff_t i = 0; i < count; i++)
		mean += y[i] / (double)count;
	for (ptrdiff_t i = 0; i < count; i++)
		spread += (y[i] - mean) * (y[i] - mean);
	struct median_noise noise = median_noise(y, count, scratch);
	return (struct run_reading){ x, noise.se, spread, noise.n_effective, count };
}

/* Below these the bootstrap says three times too much: 2.2% at 8 steps where it is 0.63%. */
enum { STEPS_SHORT = 16 };
/* What is assumed of steps, and how many degrees of freedom that is worth. */
#define STEP_SD	   0.015
#define STEP_WORTH 4.0
/* Variance of a median over that of one sample, times n: pi/2, and twice that for steps that
 * remember the one before. */
#define MEDIAN_FACTOR 3.14

void noise_settle(struct run_reading *all, ptrdiff_t count)
{
	double sum = STEP_WORTH * STEP_SD * STEP_SD, worth = STEP_WORTH;

	for (ptrdiff_t i = 0; i < count; i++)
		if (all[i].steps > 0) {
			sum += all[i].spread;
			worth += (double)(all[i].steps - 1);
		}
	for (ptrdiff_t i = 0; i < count; i++) {
		struct run_reading *r = &all[i];
		double pooled = r->steps > 0 ? sqrt(MEDIAN_FACTOR * sum / worth / (double)r->steps)
					     : (double)NAN;
		bool is_short = r->steps < STEPS_SHORT || isnan(r->se);
		r->se = is_short ? pooled : fmin(r->se, pooled);
	}
}

/* ---- between runs --------------------------------------------------------------------------- */

double readings_mean(struct run_readings set)
{
	double mean = 0;

	assert(set.count > 0);
	for (ptrdiff_t i = 0; i < set.count; i++)
		mean += set.items[i].x / (double)set.count;
	return mean;
}

/* Mean variance within a set's runs. */
static double within_of(struct run_readings set)
{
	double within = 0;

	for (ptrdiff_t i = 0; i < set.count; i++)
		within += set.items[i].se * set.items[i].se / (double)set.count;
	return within;
}

static double squares_of(struct run_readings set)
{
	double mean = readings_mean(set), sum = 0;

	for (ptrdiff_t i = 0; i < set.count; i++)
		sum += (set.items[i].x - mean) * (set.items[i].x - mean);
	return sum;
}

/* What all baselines of a comparison show: means of variances, and sums. */
struct shown {
	double within, squares, dof;
};

static struct shown shown_by(const struct run_readings *sets, ptrdiff_t count)
{
	struct shown ret = { 0, 0, 0 };
	double runs = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		ret.within += within_of(sets[i]) * (double)sets[i].count;
		ret.squares += squares_of(sets[i]);
		ret.dof += (double)(sets[i].count - 1);
		runs += (double)sets[i].count;
	}
	ret.within /= runs;
	return ret;
}

/* What the width of an interval is made of: variances, baselines, degrees of freedom. */
struct width {
	double variance, within, more, n, dof;
};

/* By the baselines alone where nothing is assumed. */
static struct width width_of(const struct run_reading *head, struct run_readings set,
	const struct shown *shown, struct noise_prior prior)
{
	struct width w = { .n = (double)set.count, .dof = prior.worth + shown->dof };
	/* A store's figure has the noise within runs in it. */
	double assumed = prior.sd * prior.sd + (prior.workloads > 0 ? 0 : shown->within);
	w.within = shown->within;
	w.variance = fmax((prior.worth * assumed + shown->squares) / w.dof, w.within);
	/* Either side may have fewer steps than the runs that told the noise. */
	w.more = fmax(0, head->se * head->se - w.within) + fmax(0, within_of(set) - w.within) / w.n;
	return w;
}

/* Half the interval's width, with `baselines` more like these, of `times` as many steps. */
static double half_of(struct width w, double alpha, double baselines, double times)
{
	double variance = w.variance - w.within * (1 - 1 / times);

	return student_quantile(alpha, w.dof + baselines) *
	       sqrt(variance * (1 + 1 / (w.n + baselines)) + w.more / times);
}

/* More of them are no advice: a capture of a thousand steps, a month of nights. */
enum { BASELINES_MORE = 30, TIMES_MORE = 100 };

static void settle_by(struct width w, double alpha, double wanted, struct noise *ret)
{
	double k = 1, times = 2;

	while (k <= BASELINES_MORE && half_of(w, alpha, k, 1) > wanted)
		k++;
	while (times <= TIMES_MORE && half_of(w, alpha, 0, times) > wanted)
		times++;
	ret->baselines_more = k <= BASELINES_MORE ? k : (double)NAN;
	ret->steps_times = times <= TIMES_MORE ? times : (double)NAN;
}

/* Baselines alone may show less noise than is assumed from here on: five of them. */
enum { DOF_ALONE = 4 };

double noise_interval(const struct run_reading *head, const struct run_readings *sets,
	ptrdiff_t count, ptrdiff_t at, struct noise_prior prior, double alpha, double wanted,
	struct noise *ret)
{
	static const struct noise_prior none = { 0 };
	struct shown shown = shown_by(sets, count);
	double share = alpha / (double)count;
	struct width w = width_of(head, sets[at], &shown, prior);
	double half = half_of(w, share, 0, 1);

	*ret = (struct noise){ sqrt(w.variance),
		shown.dof > 0 ? sqrt(shown.squares / shown.dof) : (double)NAN, prior.worth, NAN,
		NAN };
	if (isnan(shown.within + head->se))
		return NAN;
	struct width alone = width_of(head, sets[at], &shown, none);
	if (shown.dof >= DOF_ALONE && half_of(alone, share, 0, 1) < half) {
		w = alone;
		half = half_of(w, share, 0, 1);
		ret->taken = sqrt(w.variance);
		ret->worth = 0;
	}
	if (half > wanted)
		settle_by(w, share, wanted, ret);
	return half;
}

ptrdiff_t noise_outlying(struct run_readings set, struct noise_prior prior, double alpha,
	struct arena scratch, bool *ret)
{
	struct run_reading *others = arena_make(&scratch, struct run_reading, set.count + 1);
	ptrdiff_t found = 0;

	memset(ret, 0, (size_t)set.count * sizeof(*ret));
	if (set.count < NOISE_OUTLYING_LEAST)
		return 0;
	for (ptrdiff_t i = 0; i < set.count; i++) {
		memcpy(others, set.items, (size_t)i * sizeof(*others));
		memcpy(others + i, set.items + i + 1,
			(size_t)(set.count - i - 1) * sizeof(*others));
		struct run_readings rest = { others, set.count - 1 };
		struct shown shown = shown_by(&rest, 1);
		double half = half_of(width_of(&set.items[i], rest, &shown, prior), alpha, 0, 1);
		ret[i] = fabs(set.items[i].x - readings_mean(rest)) > half;
		found += ret[i];
	}
	if (found * 5 <= set.count)
		return found;
	memset(ret, 0, (size_t)set.count * sizeof(*ret));
	return 0;
}

/* ---- what a store's workloads show ---------------------------------------------------------- */

/* Fewer differences leave nothing when the largest is out. */
enum { RUNS_LEAST = 5 };

/* What leaving the largest of so many squared differences out takes away; simulated. */
static double largest_factor(ptrdiff_t runs)
{
	static const struct {
		double runs, factor;
	} table[] = { { 5, 1.77 }, { 6, 1.66 }, { 8, 1.52 }, { 10, 1.43 }, { 15, 1.32 },
		{ 20, 1.25 } };
	enum { LAST = COUNT_OF(table) - 1 };
	double r = (double)runs;
	int i = 0;

	if (r >= table[LAST].runs)
		return table[LAST].factor;
	while (r >= table[i + 1].runs)
		i++;
	return table[i].factor + (table[i + 1].factor - table[i].factor) * (r - table[i].runs) /
					 (table[i + 1].runs - table[i].runs);
}

struct workload_noise workload_noise(const double *x, ptrdiff_t count)
{
	double sum = 0, most = 0;

	if (count < RUNS_LEAST)
		return (struct workload_noise){ NAN, 0 };
	for (ptrdiff_t i = 1; i < count; i++) {
		double half = (x[i] - x[i - 1]) * (x[i] - x[i - 1]) / 2;
		sum += half;
		most = fmax(most, half);
	}
	return (struct workload_noise){
		(sum - most) / (double)(count - 2) * largest_factor(count),
		0.6 * (double)(count - 2),
	};
}

double noise_half(struct workload_noise shown, struct noise_prior prior, double alpha)
{
	double squares = shown.dof > 0 ? shown.dof * shown.variance : 0;
	double dof = prior.worth + shown.dof;
	double half = student_quantile(alpha, dof) *
		      sqrt((prior.worth * prior.sd * prior.sd + squares) / dof);
	return shown.dof < DOF_ALONE
		       ? half
		       : fmin(half, student_quantile(alpha, shown.dof) * sqrt(shown.variance));
}

/* The most that workloads may be worth: beyond, they would drown what a run's own baselines say. */
#define WORTH_MOST 8.0

bool noise_prior_fit(const struct workload_noise *items, ptrdiff_t count, struct noise_prior *ret)
{
	double mean = 0, squares = 0, expected = 0, used = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		/* A workload that repeats to the last digit says nothing of others. */
		if (!(items[i].dof > 0) || !(items[i].variance > 0))
			continue;
		double half = items[i].dof / 2;
		double e = log(items[i].variance) - digamma(half) + log(half);
		used++;
		squares += (e - mean) * (e - mean) * (used - 1) / used;
		mean += (e - mean) / used;
		expected += trigamma(half);
	}
	if (used < NOISE_WORKLOADS_LEAST)
		return false;
	double more = squares / (used - 1) - expected / used;
	double worth = more > 0 ? fmin(2 * trigamma_inverse(more), WORTH_MOST) : WORTH_MOST;
	ret->sd = exp((mean + digamma(worth / 2) - log(worth / 2)) / 2);
	ret->worth = worth;
	ret->workloads = used;
	return true;
}
