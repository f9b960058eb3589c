/*
 * Saturating arithmetic for sizes and times that come from files.
 *
 * Sizes are never negative; one that does not fit is INT64_MAX and stays there, so that it reads
 * as "too large to count" wherever it ends up.  A sum of negative ones ends at INT64_MIN.
 */
#ifndef BASE_SATURATE_H
#define BASE_SATURATE_H

#include <stdint.h>

static inline int64_t sat_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static inline int64_t sat_mul(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t ceil_div(int64_t a, int64_t unit)
{
	return a / unit + (a % unit != 0);
}

#endif
