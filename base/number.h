/* Numbers as text in the caller's buffer, for out.c and json.c.  Private to base/. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/str.h"

/* Longest texts: 20 digits and sign of an integer, "-2.2250738585072014e-308". */
enum { NUMBER_BYTES = 40 };

/* Both end in NUL, and the result is a slice of `buf`. */
struct str number_i64(char buf[NUMBER_BYTES], int64_t value);
struct str number_double(char buf[NUMBER_BYTES], double value); /* see out_double */

#endif
