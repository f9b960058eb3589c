/*
 * Two runs, op by op: what is new, gone, slower and faster, and the time each lost or won.
 *
 * Ops are matched by their key, which is what they are and where they come from and not what the
 * compiler called them.  Ops of one key are one (a layer repeated, a program compiled twice).  A
 * new op is laid beside the gone one of its scope that is most like it, as a changed shape gives an
 * op another key.
 *
 * Refuses: verdicts; whether the runs may be compared (baseline.h).
 */
#ifndef MEASURE_DIFF_H
#define MEASURE_DIFF_H

#include "measure/tables.h"

enum change { CHANGE_NEW, CHANGE_GONE, CHANGE_SLOWER, CHANGE_FASTER, CHANGE_SAME };
struct str change_name(enum change c); /* "new", "gone" ... */

struct op_change {
	enum change change;
	const struct ops_row *base, *head; /* the heaviest of the key; NULL where there is none */
	double base_s, head_s;		   /* per device and step, of all of the key; 0 without */
	double base_count, head_count;	   /* executions per device and step */
	double lost_s;			   /* head_s - base_s */
	const struct ops_row *instead;	   /* NEW: the gone op whose place it seems to take */
	struct str feeds;		   /* NEW: an op that reads its result; missing: unknown */
};

struct op_diff {
	struct op_change *items; /* by lost_s, the largest loss first; then by key */
	ptrdiff_t count;
	double base_step_s, head_step_s, lost_s; /* lost_s: sum over all ops */
	ptrdiff_t counts[CHANGE_SAME + 1];
};

/*
 * Slower and faster are changes of at least 2% whose median intervals do not meet; what is less
 * counts as the same.
 */
void diff_ops(const struct tables *base, const struct tables *head, struct arena *keep,
	struct op_diff *ret);

#endif
