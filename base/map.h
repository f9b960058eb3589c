/*
 * A map from byte strings, or from 64-bit integers, to small numbers: open addressing that grows
 * and never forgets.  One map has keys of one sort.
 *
 * Strings are borrowed and must outlive the map.  The order of insertion shows nowhere, so a map
 * may serve where results must not depend on it.
 *
 * Refuses: removal, iteration, replacing a value.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <string.h>

#include "base/arena.h"

struct map_slot {
	const char *text; /* of a string */
	int64_t key;	  /* the integer, or the string's length */
	int32_t value;	  /* plus one; 0: free */
};

struct map {
	struct map_slot *slots; /* a power of two of them, at most half used */
	uint64_t mask;
	int32_t *dense; /* instead of slots: values by integer, MAP_NONE for a hole */
	int64_t count;	/* of used slots, or of the dense array */
};

#define MAP_NONE (-1)

/*
 * Where the search for a key begins, before the mask; text is NULL for an integer.  Keys come from
 * files, so the hash is seeded with an address that the system chooses anew for each process: a
 * file cannot be made whose keys all collide.
 */
static inline uint64_t map_home(const struct map *m, const char *text, int64_t key)
{
	uint64_t seed = (uintptr_t)m->slots;

	return text ? str_hash_quick((struct str){ text, key }, seed)
		    : hash_mix((uint64_t)key ^ seed);
}

/* The slot of a key, or the free one where it belongs. */
static inline struct map_slot *map_slot(const struct map *m, const char *text, int64_t key)
{
	uint64_t i = map_home(m, text, key);
	struct map_slot *s = &m->slots[i & m->mask];

	while (s->value && (s->key != key || (text && memcmp(s->text, text, (size_t)key))))
		s = &m->slots[++i & m->mask];
	return s;
}

static inline int32_t map_get_id(const struct map *m, int64_t id) /* MAP_NONE when absent */
{
	if (mostly(m->dense))
		return mostly(id >= 0 && id < m->count) ? m->dense[id] : MAP_NONE;
	return m->slots ? map_slot(m, NULL, id)->value - 1 : MAP_NONE;
}

/* Empty, with room for so many keys. */
struct map map_with_room(ptrdiff_t keys, struct arena *keep);

int32_t map_get(const struct map *m, struct str key);

/* Put a value, 0 or more, under a key unless one is there; returns the one that is there then. */
int32_t map_put(struct map *m, struct str key, int32_t value, struct arena *keep);
int32_t map_put_id(struct map *m, int64_t id, int32_t value, struct arena *keep);

/*
 * Ids to values, NULL for 0 and up; the first of equal ids wins.  A plain array where they fit in
 * four times their count and a little, as ids mostly do; such a map takes no more of them.
 */
struct map map_of_ids(
	const int64_t *ids, const int32_t *values, ptrdiff_t count, struct arena *keep);

#endif
