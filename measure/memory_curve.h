/*
 * A curve of samples in any order, kept as at most CURVE_SLOTS slots of time.
 *
 * A slot is 2^shift picoseconds, aligned to zero; it begins fine, and when there are too many slots
 * they are joined two by two.  So what is kept depends on the samples alone, not on their order.
 */
#ifndef MEASURE_MEMORY_CURVE_H
#define MEASURE_MEMORY_CURVE_H

#include <stdint.h>
#include <stddef.h>

/* Half the units of a picture's width: two curves together are within PLOT_MAX_ROWS. */
#define CURVE_SLOTS 320
#define CURVE_SHIFT 20 /* the first slots: a microsecond */

struct curve_slot {
	uint64_t at; /* time >> shift, time counted from INT64_MIN */
	int64_t most, least;
};

struct curve { /* all zero: empty */
	struct curve_slot slots[CURVE_SLOTS];
	ptrdiff_t count;
	int shift; /* 0: no sample yet */
	int64_t samples, first_ps, last_ps;
};

void curve_add(struct curve *c, int64_t at_ps, int64_t value);
int64_t curve_slot_ps(const struct curve *c);
/* When slot `i` begins, but not before the first sample. */
int64_t curve_at_ps(const struct curve *c, ptrdiff_t i);
/*
 * What was taken and not given back from the first sample to the last, by the lowest levels.  0
 * unless each half of the time saw a quarter of it: a job that keeps something in every step.  -1
 * where there are too few samples to tell.
 */
int64_t curve_growth(const struct curve *c);

#endif
