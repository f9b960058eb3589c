/* Open addressing.  See map.h. */
#include "base/map.h"

#include <assert.h>

enum { FIRST_SLOTS = 16 };

static void grow(struct map *m, struct arena *keep)
{
	struct map old = *m;
	uint64_t slots = old.slots ? (old.mask + 1) * 4 : FIRST_SLOTS;

	m->slots = arena_make(keep, struct map_slot, (ptrdiff_t)slots);
	m->mask = slots - 1;
	for (uint64_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value)
			*map_slot(m, old.slots[i].text, old.slots[i].key) = old.slots[i];
}

static int32_t put(struct map *m, const char *text, int64_t key, int32_t value, struct arena *keep)
{
	assert(value >= 0 && !m->dense);
	if (!m->slots || (uint64_t)m->count * 2 > m->mask)
		grow(m, keep);
	struct map_slot *s = map_slot(m, text, key);
	if (!s->value) {
		*s = (struct map_slot){ text, key, value + 1 };
		m->count++;
	}
	return s->value - 1;
}

struct map map_with_room(ptrdiff_t keys, struct arena *keep)
{
	ptrdiff_t slots = FIRST_SLOTS;

	while (slots < 2 * keys)
		slots *= 2;
	return (struct map){ .slots = arena_make(keep, struct map_slot, slots),
		.mask = (uint64_t)slots - 1 };
}

int32_t map_get(const struct map *m, struct str key)
{
	return m->slots ? map_slot(m, key.p ? key.p : "", key.len)->value - 1 : MAP_NONE;
}

int32_t map_put(struct map *m, struct str key, int32_t value, struct arena *keep)
{
	return put(m, key.p ? key.p : "", key.len, value, keep);
}

int32_t map_put_id(struct map *m, int64_t id, int32_t value, struct arena *keep)
{
	return put(m, NULL, id, value, keep);
}

struct map map_of_ids(
	const int64_t *ids, const int32_t *values, ptrdiff_t count, struct arena *keep)
{
	struct map m = { 0 };
	int64_t max = -1;
	bool negative = false;

	for (ptrdiff_t i = 0; i < count; i++) {
		negative |= ids[i] < 0;
		max = ids[i] > max ? ids[i] : max;
	}
	if (!negative && max < 4 * count + 64) {
		m.count = max + 1;
		m.dense = arena_make(keep, int32_t, m.count);
		memset(m.dense, 0xff, (size_t)m.count * sizeof(*m.dense)); /* MAP_NONE */
		for (ptrdiff_t i = count - 1; i >= 0; i--)
			m.dense[ids[i]] = values ? values[i] : (int32_t)i;
		return m;
	}
	for (ptrdiff_t i = 0; i < count; i++)
		map_put_id(&m, ids[i], values ? values[i] : (int32_t)i, keep);
	return m;
}
