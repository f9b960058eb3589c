/*
 * What stands around an instruction: whose results it takes, what it holds, who takes its own.
 *
 * Views of the same bytes (bitcasts, elements of tuples, the done of an asynchronous pair) are seen
 * through, so that neighbours are ops that do something.  Of many the heaviest are kept, in the
 * program's order.
 *
 * Refuses: the graph as a whole.
 */
#ifndef HLO_AROUND_H
#define HLO_AROUND_H

#include "hlo/module.h"

/* Kept of each sort: what a reader takes in at a glance. */
#define HLO_MAX_AROUND 8

struct hlo_neighbours {
	ptrdiff_t items[HLO_MAX_AROUND]; /* instructions */
	ptrdiff_t count, left_out;
};

struct hlo_around {
	struct hlo_neighbours takes, holds, gives;
};

/* Looks at every instruction of the computation once. */
void hlo_around(const struct hlo_module *m, ptrdiff_t instruction, struct arena scratch,
	struct hlo_around *ret);

#endif
