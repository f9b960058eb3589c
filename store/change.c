/* Change points.  See change.h. */
#include "store/change.h"

#include <math.h>

#include "base/resample.h"
#include "base/stats.h"
#include "measure/noise.h"

/* Ratios below 2% are no news: a new compiler or another rack does as much. */
#define LEAST_EFFECT 0.02
/* Of a hundred quiet histories one may show a change. */
#define FALSE_RATE 0.01
/* Of quiet workloads that one window reports as slower or faster. */
#define TOLD_FALSELY 1e-4
/* Histories quieter than this are rounded, or not measured. */
#define LEAST_NOISE 1e-3
/* In noise: normal noise gets there once in two million runs. */
#define SPIKE 5

double change_least(const double *values, ptrdiff_t count, ptrdiff_t now, ptrdiff_t before,
	struct arena scratch)
{
	double *logs = arena_make(&scratch, double, count);
	for (ptrdiff_t i = 0; i < count; i++)
		logs[i] = log(values[i]);
	double half = noise_half(workload_noise(logs, count), NOISE_PRIOR_DEFAULT, TOLD_FALSELY);
	return expm1(half * sqrt(1 / (double)now + 1 / (double)before));
}

/* ---- segments -------------------------------------------------------------------------------- */

struct history {
	ptrdiff_t count;
	double *sums, *squares; /* of the first i logarithms, less their median */
	double middle;		/* that median */
	double noise;
};

static double mean_of(const struct history *h, ptrdiff_t from, ptrdiff_t to)
{
	return (h->sums[to] - h->sums[from]) / (double)(to - from);
}

static double error_of(const struct history *h, ptrdiff_t from, ptrdiff_t to)
{
	double sum = h->sums[to] - h->sums[from];
	double error = h->squares[to] - h->squares[from] - sum * sum / (double)(to - from);
	return error > 0 ? error : 0;
}

/* Differences of neighbours: their median over what it is for normal noise of size one. */
static double noise_of(const double *logs, ptrdiff_t count, struct arena scratch)
{
	const double normal = 0.6744897501960817 * 1.4142135623730951;
	double *steps = arena_make(&scratch, double, count);
	for (ptrdiff_t i = 1; i < count; i++)
		steps[i - 1] = fabs(logs[i] - logs[i - 1]);
	return fmax(median(steps, count - 1) / normal, LEAST_NOISE);
}

/* Of up to three neighbours: their middle, or where there are fewer the one nearest to x. */
static double nearby(const double *logs, ptrdiff_t count, double x)
{
	double near = count ? logs[0] : x;
	if (count >= CHANGE_MIN_RUN)
		return fmax(fmin(logs[0], logs[1]), fmin(fmax(logs[0], logs[1]), logs[2]));
	for (ptrdiff_t i = 1; i < count; i++)
		near = fabs(logs[i] - x) < fabs(near - x) ? logs[i] : near;
	return near;
}

/*
 * A run or two that stand out from those on either side are no level, yet their spread would hide
 * one; they take their neighbour's place.
 */
static double settled(const double *logs, ptrdiff_t count, ptrdiff_t at, double most)
{
	ptrdiff_t left = at < CHANGE_MIN_RUN ? at : CHANGE_MIN_RUN;
	ptrdiff_t right = count - 1 - at < CHANGE_MIN_RUN ? count - 1 - at : CHANGE_MIN_RUN;
	double x = logs[at];
	double before = nearby(logs + at - left, left, x), after = nearby(logs + at + 1, right, x);
	if (!left || !right)
		before = after = left ? before : after;
	double low = fmin(before, after), high = fmax(before, after);
	if (x >= low - most && x <= high + most)
		return x;
	return fmin(fmax(logs[right ? at + 1 : at - 1], low), high);
}

static void history_read(
	struct history *h, const double *values, ptrdiff_t count, struct arena *keep)
{
	double *raw = arena_make(keep, double, count), *logs = arena_make(keep, double, count);
	double *sorted = arena_make(keep, double, count);
	for (ptrdiff_t i = 0; i < count; i++)
		sorted[i] = raw[i] = log(values[i]);
	h->middle = median(sorted, count);
	h->noise = noise_of(raw, count, *keep);
	for (ptrdiff_t i = 0; i < count; i++)
		logs[i] = settled(raw, count, i, SPIKE * h->noise);
	h->count = count;
	h->sums = arena_make(keep, double, count + 1);
	h->squares = arena_make(keep, double, count + 1);
	for (ptrdiff_t i = 0; i < count; i++) {
		double x = logs[i] - h->middle;
		h->sums[i + 1] = h->sums[i] + x;
		h->squares[i + 1] = h->squares[i] + x * x;
	}
}

/* ---- cutting --------------------------------------------------------------------------------- */

/*
 * best[i] is the least cost of the first i values and from[i] where their last level begins.  The
 * price of a cut is three logarithms of the length (Zhang and Siegmund 2007).
 */
static ptrdiff_t cut(const struct history *h, struct arena scratch, ptrdiff_t *cuts)
{
	double *best = arena_make(&scratch, double, h->count + 1);
	ptrdiff_t *from = arena_make(&scratch, ptrdiff_t, h->count + 1), found = 0;
	double price = 3 * log((double)h->count), unit = h->noise * h->noise;
	for (ptrdiff_t i = CHANGE_MIN_RUN; i <= h->count; i++) {
		best[i] = error_of(h, 0, i) / unit;
		for (ptrdiff_t k = CHANGE_MIN_RUN; k <= i - CHANGE_MIN_RUN; k++) {
			double cost = best[k] + price + error_of(h, k, i) / unit;
			if (cost < best[i]) {
				best[i] = cost;
				from[i] = k;
			}
		}
	}
	for (ptrdiff_t i = from[h->count]; i > 0; i = from[i])
		found++;
	for (ptrdiff_t i = from[h->count], k = found; i > 0; i = from[i])
		cuts[--k] = i;
	return found;
}

/* ---- testing --------------------------------------------------------------------------------- */

/*
 * The levels before and after a cut.  Their spread is that of both together, or of one that spreads
 * more: a few outliers in a row beside a long quiet level are no level.
 */
static double test(const struct history *h, ptrdiff_t from, ptrdiff_t at, ptrdiff_t to)
{
	double n = (double)(at - from), m = (double)(to - at);
	double step = mean_of(h, at, to) - mean_of(h, from, at);
	double before = error_of(h, from, at), after = error_of(h, at, to);
	double spread = (before + after) / (n + m - 2);
	if (fabs(expm1(step)) < LEAST_EFFECT)
		return 1;
	spread = fmax(spread, fmax(before / (n - 1), after / (m - 1)));
	spread = fmax(spread, LEAST_NOISE * LEAST_NOISE);
	return student_p(step / sqrt(spread * (1 / n + 1 / m)), n + m - 2);
}

/* Drops the weakest cut until all hold. */
static ptrdiff_t prune(const struct history *h, ptrdiff_t *cuts, ptrdiff_t count, double *p_values)
{
	double stretches = (double)h->count * (double)(h->count - 1) / 2;
	double level = FALSE_RATE / stretches;
	for (;;) {
		ptrdiff_t weakest = -1;
		for (ptrdiff_t i = 0; i < count; i++) {
			p_values[i] = test(h, i ? cuts[i - 1] : 0, cuts[i],
				i + 1 < count ? cuts[i + 1] : h->count);
			if (p_values[i] > (weakest < 0 ? level : p_values[weakest]))
				weakest = i;
		}
		if (weakest < 0)
			return count;
		count--;
		for (ptrdiff_t i = weakest; i < count; i++)
			cuts[i] = cuts[i + 1];
	}
}

ptrdiff_t change_points(
	const double *values, ptrdiff_t count, struct arena *keep, struct change **ret)
{
	ptrdiff_t skipped = count > CHANGE_MAX ? count - CHANGE_MAX : 0;
	struct history h;
	*ret = NULL;
	count -= skipped;
	if (count < 2 * CHANGE_MIN_RUN)
		return 0;
	values += skipped;
	history_read(&h, values, count, keep);
	ptrdiff_t *cuts = arena_make(keep, ptrdiff_t, count);
	double *p_values = arena_make(keep, double, count);
	ptrdiff_t found = prune(&h, cuts, cut(&h, *keep, cuts), p_values);
	*ret = arena_make(keep, struct change, found);
	for (ptrdiff_t i = 0; i < found; i++)
		(*ret)[i] = (struct change){
			.at = skipped + cuts[i],
			.before = exp(h.middle + mean_of(&h, i ? cuts[i - 1] : 0, cuts[i])),
			.after = exp(h.middle +
				     mean_of(&h, cuts[i], i + 1 < found ? cuts[i + 1] : count)),
			.p_value = p_values[i],
		};
	return found;
}
