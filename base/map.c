#include "base/map.h"

enum { FIRST_SLOTS = 64 };

/* The slot of a key, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *m, struct str key)
{
	uint64_t i = str_hash(key) & m->mask;

	while (m->slots[i].key.p && !str_eq(m->slots[i].key, key))
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static void grow(struct map *m, struct arena *keep)
{
	struct map old = *m;
	uint64_t slots = old.slots ? (old.mask + 1) * 4 : FIRST_SLOTS;

	m->slots = arena_make(keep, struct map_slot, (ptrdiff_t)slots);
	m->mask = slots - 1;
	for (uint64_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].key.p)
			*slot_of(m, old.slots[i].key) = old.slots[i];
}

int32_t map_get(const struct map *m, struct str key)
{
	const struct map_slot *s = m->slots ? slot_of(m, key) : NULL;

	return s && s->key.p ? s->value : MAP_NONE;
}

void map_put(struct map *m, struct str key, int32_t value, struct arena *keep)
{
	if (!m->slots || (uint64_t)m->count * 2 > m->mask)
		grow(m, keep);
	/* A key of no bytes still needs a pointer: NULL marks a free slot. */
	*slot_of(m, key) = (struct map_slot){ key.p ? key : STR(""), value };
	m->count++;
}
