/*
 * Moments and spans as people write them: ISO 8601 in UTC, "7d".
 *
 * A moment is nanoseconds since 1970 without leap seconds, in the years 1970 to 2261.  Its text has
 * milliseconds and sorts as the moments do: "2026-03-14T09:26:53.000Z".
 *
 * Refuses: time zones, and what day it is.  No program output depends on when it was made.
 */
#ifndef BASE_WHEN_H
#define BASE_WHEN_H

#include "base/arena.h"

struct str when_text(struct arena *keep, int64_t ns);
/* "2026-03-14", "2026-03-14T09:26:53Z", with or without seconds' fraction. */
bool when_parse(struct str text, int64_t *ret_ns);
/* A run directory's name as JAX gives it, "2026_03_14_09_26_53": the host's local time. */
bool when_parse_run(struct str name, int64_t *ret_ns);
/* A day of the calendar, "2026-03-14", of any year; days written so sort as they come. */
bool when_is_day(struct str text);
/* "90m", "12h", "7d", "2w": more than nothing, at most a hundred years. */
bool span_parse(struct str text, int64_t *ret_ns);

double now_s(void); /* of a clock that only goes forward: for waiting */

#endif
