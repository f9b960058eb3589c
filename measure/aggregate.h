/*
 * Inside of measure/: the sums of all devices' sweeps.  Not for other folders.
 *
 * Answers borrow from the sums: they are good until the next aggregate_clear, and are not changed.
 */
#ifndef MEASURE_AGGREGATE_H
#define MEASURE_AGGREGATE_H

#include "measure/sweep.h"

/* Address space of the sums and of what each device keeps: a million ops on a thousand devices. */
#define AGGREGATE_ARENA_BYTES ((ptrdiff_t)16 << 30)

/* One instance of a collective, as all devices saw it. */
struct aggregate_instance {
	int64_t min_ps, max_ps;
	int64_t seen; /* by so many devices */
};

struct aggregate_moving {
	int64_t exposed_ps, hidden_ps, bytes, pageable_bytes; /* as in moving_total */
	struct aggregate_instance *instances;
	ptrdiff_t count;
	struct dist span;
	int64_t done_self_ps;
};

struct aggregate;
struct aggregate *aggregate_new(struct arena *keep);
void aggregate_free(struct aggregate *j);
void aggregate_clear(struct aggregate *j); /* and with it what devices kept */

/*
 * Add a device's sweep, which is changed to what the device keeps: its ops and collectives are
 * gone, as are all but its first `steps` steady steps and as many others, and the rest no longer
 * lives in the arena that it was swept with.  Safe in threads.
 */
void aggregate_add(struct aggregate *j, struct sweep *s, ptrdiff_t steps);

const struct op_total *aggregate_op(const struct aggregate *j, ptrdiff_t subject);
const struct aggregate_moving *aggregate_moving(const struct aggregate *j, ptrdiff_t subject);
/* How long a program's executions took. */
struct dist aggregate_program(const struct aggregate *j, ptrdiff_t program);
/* Lengths of the job's steady steps, those of the device that ends last, */
struct dist aggregate_lengths(const struct aggregate *j);
/* and of the first SWEEP_MAX_STEPS each. */
ptrdiff_t aggregate_steps(const struct aggregate *j, const int64_t **ret_ps);

#endif
