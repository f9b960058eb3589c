/*
 * Saturating arithmetic for sizes that come from files.
 *
 * Operands are never negative; a result that does not fit is INT64_MAX and stays there, so a
 * saturated size reads as "too large to count" wherever it ends up.
 */
#ifndef HLO_SIZE_H
#define HLO_SIZE_H

#include <stdint.h>

static inline int64_t size_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t size_mul(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t size_ceil(int64_t a, int64_t unit)
{
	return a / unit + (a % unit != 0);
}

#endif
