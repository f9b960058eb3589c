/*
 * Idle time of the devices, and what the host was doing in it: the table of gaps, and the waits
 * between the executions of one device.
 */
#ifndef MEASURE_GAPS_H
#define MEASURE_GAPS_H

#include "base/diag.h"
#include "base/stats.h"

/*
 * Why a device waits, in the order in which a tie is decided.  Idle inside an execution is the
 * program's own.  Outside, it is laid to what the thread that launches work was at: to the
 * outermost event that tells, so that a loader is one at any depth.  An event that goes on when
 * the device works again did not keep it waiting: the work had been launched before.  What is left
 * of a gap that began while the host waited for a result is the wait's: without it the next work
 * would have been launched before.
 */
enum cause {
	CAUSE_UNKNOWN,
	CAUSE_INPUT,
	CAUSE_COMPILE,
	CAUSE_CHECKPOINT,
	CAUSE_TRANSFER,
	CAUSE_SYNC,
	CAUSE_HOST,
	CAUSE_PROGRAM,
	CAUSES
};
extern const struct str cause_words[CAUSES];

struct gap_sums {
	double all_s, input_s, sync_s; /* of the gaps kept */
	/* Of all waits of the device that ends last, in and between the steps. */
	struct {
		int64_t time_ps;
		struct dist lengths; /* of those that are this for the most part */
	} waits[CAUSES];
	struct arena *keep;
};

struct capture;
struct swept;
struct host_facts;
struct op_rows;
struct tables;
bool fill_gaps(const struct capture *in, const struct swept *run, const struct host_facts *facts,
	const struct op_rows *op_rows, struct tables *tables, struct gap_sums *ret,
	struct diag *err);

#endif
