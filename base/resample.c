/* The noise of a median, and Student's t.  See resample.h. */
#include "base/resample.h"

#include <math.h>

#include "base/stats.h"

/* ---- Student's t --------------------------------------------------------------------------- */

/* It converges in about the square root of the larger argument; df stays below 1e5. */
enum { FRACTION_TERMS = 1000 };

/*
 * The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the
 * method of Lentz: quotients of neighbouring convergents, kept away from zero.
 */
struct fraction {
	double value, c, d;
};

static bool fraction_term(struct fraction *f, double term)
{
	static const double tiny = 1e-300, enough = 1e-15;
	f->d = 1 + term * f->d;
	f->c = 1 + term / f->c;
	f->d = 1 / (fabs(f->d) < tiny ? tiny : f->d);
	f->c = fabs(f->c) < tiny ? tiny : f->c;
	f->value *= f->c * f->d;
	return fabs(f->c * f->d - 1) < enough;
}

static double beta_fraction(double a, double b, double x)
{
	struct fraction f = { 1, 1, 0 };
	bool done = false;
	f.d = 1 / (1 - (a + b) * x / (a + 1));
	f.value = f.d;
	for (int m = 1; m < FRACTION_TERMS && !done; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		fraction_term(&f, even);
		done = fraction_term(&f, odd);
	}
	return f.value;
}

/* The regularised incomplete beta function, on the side where the fraction converges. */
static double beta_share(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	return beta_share(df / 2, 0.5, df / (df + t * t));
}

double student_quantile(double p, double df)
{
	double low = 0, high = 1;
	if (!(p > 0 && p < 1) || !(df > 0))
		return NAN;
	while (student_p(high, df) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double middle = low + (high - low) / 2;
		*(student_p(middle, df) > p ? &low : &high) = middle;
	}
	return low + (high - low) / 2;
}

/* ---- derivatives of ln gamma ---------------------------------------------------------------- */

/* From here on the series of Abramowitz and Stegun (6.3.18, 6.4.12) are right to twelve digits. */
#define SERIES_LEAST 12.0

double digamma(double x)
{
	double less = 0;
	if (!(x > 0))
		return NAN;
	for (; x < SERIES_LEAST; x++)
		less += 1 / x;
	double y = 1 / (x * x);
	return log(x) - 1 / (2 * x) - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y / 240))) -
	       less;
}

double trigamma(double x)
{
	double more = 0;
	if (!(x > 0))
		return NAN;
	for (; x < SERIES_LEAST; x++)
		more += 1 / (x * x);
	double y = 1 / (x * x);
	return 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30))) + more;
}

double trigamma_inverse(double y)
{
	double low = 1e-9, high = 1e9; /* it falls all the way */
	if (!(y > 0))
		return NAN;
	for (int i = 0; i < 200 && high > low * (1 + 1e-14); i++) {
		double middle = sqrt(low * high);
		*(trigamma(middle) > y ? &low : &high) = middle;
	}
	return sqrt(low * high);
}

/* ---- the noise of a median ------------------------------------------------------------------ */

/* Resamples: the standard error is then within 5% of what more of them would say. */
enum { RESAMPLES = 200 };
/* An estimate above this says "nearly one sample"; a longer memory cannot be told from a trend. */
#define CORRELATION_MAX 0.9

/* The rank of each sample, counted from 1; equal ones share the middle of theirs. */
static double *ranks(const double *samples, ptrdiff_t n, struct arena *scratch)
{
	double *rank = arena_make(scratch, double, n + 1);
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t k = 0; k < n; k++)
			rank[i] += samples[k] < samples[i] ? 1 : samples[k] > samples[i] ? 0 : 0.5;
	return rank;
}

double autocorrelation(const double *samples, ptrdiff_t n, struct arena scratch)
{
	double middle = (double)n / 2, together = 0, alone = 0;
	if (n < NOISE_LEAST)
		return NAN;
	double *rank = ranks(samples, n, &scratch);
	for (ptrdiff_t i = 0; i < n; i++) {
		alone += (rank[i] - middle) * (rank[i] - middle);
		if (i + 1 < n)
			together += (rank[i] - middle) * (rank[i + 1] - middle);
	}
	if (!(alone > 0))
		return 0;
	double r = (together / alone * (double)n + 1) / (double)(n - 4);
	return fmin(fmax(r, 0), CORRELATION_MAX);
}

/* SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to pick blocks. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static ptrdiff_t block_length(double r, ptrdiff_t n)
{
	double length = pow(2 * r / (1 - r * r), 2.0 / 3) * cbrt((double)n);
	ptrdiff_t most = n / 3 > 1 ? n / 3 : 1;
	return length < 1 ? 1 : length > (double)most ? most : (ptrdiff_t)ceil(length);
}

static void draw(const double *samples, ptrdiff_t n, ptrdiff_t length, uint64_t *state, double *ret)
{
	for (ptrdiff_t i = 0; i < n;) {
		ptrdiff_t from = (ptrdiff_t)(next_random(state) % (uint64_t)(n - length + 1));
		for (ptrdiff_t k = 0; k < length && i < n; k++)
			ret[i++] = samples[from + k];
	}
}

static double spread(const double *values, ptrdiff_t n)
{
	double mean = 0, sum = 0;
	for (ptrdiff_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (ptrdiff_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

static double resampled_se(
	const double *samples, ptrdiff_t n, ptrdiff_t length, struct arena scratch)
{
	struct str bytes = { (const char *)samples, n * (ptrdiff_t)sizeof(*samples) };
	uint64_t state = str_hash(bytes);
	double *drawn = arena_make(&scratch, double, n);
	double medians[RESAMPLES];
	for (int i = 0; i < RESAMPLES; i++) {
		draw(samples, n, length, &state, drawn);
		medians[i] = median(drawn, n);
	}
	return spread(medians, RESAMPLES);
}

/*
 * Blocks cut the correlation at their ends, and resampling knows only the samples there are: both
 * make the spread too small, by about the share that one block has of the whole.  Where memory is
 * long and samples are few that is not enough, so it is never taken for less than what single
 * samples say, widened as an AR(1) process of this correlation asks for.
 */
static double standard_error(
	const double *samples, ptrdiff_t n, double correlation, struct arena scratch)
{
	ptrdiff_t length = block_length(correlation, n);
	double blocks = (double)n / (double)length;
	double alone = resampled_se(samples, n, 1, scratch) * sqrt((double)n / (double)(n - 1));
	double together = resampled_se(samples, n, length, scratch) * sqrt(blocks / (blocks - 1));
	return fmax(together, alone * sqrt((1 + correlation) / (1 - correlation)));
}

struct median_noise median_noise(const double *samples, ptrdiff_t n, struct arena scratch)
{
	struct median_noise ret = { NAN, (double)n };
	if (n < NOISE_LEAST)
		return ret;
	double r = autocorrelation(samples, n, scratch);
	ret.n_effective = fmax(1, (double)n * (1 - r) / (1 + r));
	ret.se = standard_error(samples, n, r, scratch);
	return ret;
}
