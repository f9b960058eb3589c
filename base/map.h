/*
 * A map from byte strings to small numbers: open addressing that grows and never forgets.
 *
 * Keys are borrowed and must outlive the map.  The order of insertion shows nowhere, so a map may
 * serve where results must not depend on it.
 *
 * Refuses: removal, iteration.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

struct map_slot {
	struct str key; /* p NULL: free */
	int32_t value;
};

struct map {
	struct map_slot *slots; /* a power of two of them, at most half used */
	uint64_t mask;
	ptrdiff_t count;
};

#define MAP_NONE (-1)

int32_t map_get(const struct map *m, struct str key); /* MAP_NONE when absent */
/* Put a value, 0 or more, under a key that is absent. */
void map_put(struct map *m, struct str key, int32_t value, struct arena *keep);

#endif
