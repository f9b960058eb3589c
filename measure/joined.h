/*
 * Inside of measure/: the sums of all devices' sweeps.  Not for other folders.
 *
 * Answers borrow from the sums: they are good until the next joined_clear, and nobody changes them.
 */
#ifndef MEASURE_JOINED_H
#define MEASURE_JOINED_H

#include "measure/sweep.h"

/* Address space of the sums and of what each device keeps: a million ops on a thousand devices. */
#define JOINED_ARENA_BYTES ((ptrdiff_t)16 << 30)

/* One instance of a collective, as all devices saw it. */
struct joined_instance {
	int64_t min_ps, max_ps;
	int64_t seen; /* by so many devices */
};

struct joined_collective {
	struct joined_instance *instances;
	ptrdiff_t count;
	struct dist span;
	int64_t done_self_ps;
};

struct joined;
struct joined *joined_new(struct arena *keep);
void joined_free(struct joined *j);
void joined_clear(struct joined *j); /* and with it what devices kept */

/*
 * Add a device's sweep, which is changed to what the device keeps: its ops and collectives are
 * gone, as are all but its first `steps` steady steps and as many others, and the rest no longer
 * lives in the arena that it was swept with.  Safe in threads.
 */
void joined_add(struct joined *j, struct sweep *s, ptrdiff_t steps);

ptrdiff_t joined_op_count(const struct joined *j); /* subjects from this on were not met */
struct op_total joined_op(const struct joined *j, ptrdiff_t subject);
struct joined_collective joined_collective(const struct joined *j, ptrdiff_t subject);
/* How long a program's executions took. */
struct dist joined_program(const struct joined *j, ptrdiff_t program);
/* By steady step, SWEEP_MAX_STEPS of them: how long it was on its slowest device. */
const int64_t *joined_slowest_ps(const struct joined *j);

#endif
