/*
 * Units: how values are written in rule files and shown to people.
 *
 * Inside the program there are base units only: seconds, bytes, FLOPs, FLOP/s, bytes/s, ratios
 * from 0 to 1, counts.  This module is the only place where "64 MiB" becomes 67108864 and back.
 */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum unit {
	UNIT_NONE, /* text, or a number without dimension that is not a share */
	UNIT_COUNT,
	UNIT_RATIO, /* 0 to 1; shown as a percentage */
	UNIT_SECONDS,
	UNIT_BYTES,
	UNIT_FLOPS,
	UNIT_BYTES_PER_SECOND,
	UNIT_FLOPS_PER_SECOND,
	UNIT_BOOL, /* 0 or 1; shown as yes or no */
	UNIT_DOLLARS,
};

const char *unit_name(enum unit u); /* "seconds", "bytes", "ratio" ... */
const char *unit_noun(enum unit u); /* "a time", "a size in bytes", "a ratio" ... */

/*
 * "10%", "64 MiB", "1.5 GB", "250 us", "2 ms", "45 GB/s", "197 TFLOP/s", "0.3", "12".
 * A bare number has UNIT_NONE.  On failure *nearest, unless it is NULL, names the closest
 * known unit, or is missing.
 */
bool unit_parse(struct str text, double *ret, enum unit *ret_unit, struct str *nearest);

/*
 * A value for people, three significant digits: "6.02 ms", "64.0 MiB", "28.4%", "187 TFLOP/s".
 * NaN is "unknown".
 */
struct str unit_text(struct arena *keep, double value, enum unit u);
/*
 * The same for a rule file, which reads it back: six digits, in the unit that makes it shortest of
 * those in which it is 1 to 1000.
 */
struct str unit_exact(struct arena *keep, double value, enum unit u);

#endif
