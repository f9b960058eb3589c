/*
 * Finding instructions by id and by name.
 *
 * Open addressing at a load below one half.  The hash is public, so a file can be made whose keys
 * all collide; the length of a search is bounded instead, and what does not fit is not found.
 */
#include "hlo/internal.h"

/* Random keys at this load stay far below; 2^23 of them were seen to need 40. */
enum { MAX_PROBES = 256 };

struct hlo_index index_new(struct arena *keep, ptrdiff_t items)
{
	ptrdiff_t size = 8;
	while (size < items * 2)
		size *= 2;
	return (struct hlo_index){ arena_make(keep, struct index_slot, size), (uint64_t)size - 1 };
}

/* The finaliser of SplitMix64 (Sebastiano Vigna, public domain). */
uint64_t index_hash_id(int64_t id)
{
	uint64_t h = (uint64_t)id + 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static struct index_slot *slot_at(const struct hlo_index *x, uint64_t hash, int probe)
{
	return &x->slots[((hash >> 32) + (uint64_t)probe) & x->mask];
}

bool index_add(struct hlo_index *x, uint64_t hash, ptrdiff_t item)
{
	for (int i = 0; i < MAX_PROBES; i++) {
		struct index_slot *slot = slot_at(x, hash, i);
		if (!slot->item) {
			*slot = (struct index_slot){ (uint32_t)hash, (uint32_t)item + 1 };
			return true;
		}
	}
	return false;
}

ptrdiff_t index_find(const struct hlo_index *x, uint64_t hash, index_is_fn *is, const void *items,
	const void *key)
{
	for (int i = 0; i < MAX_PROBES; i++) {
		const struct index_slot *slot = slot_at(x, hash, i);
		if (!slot->item)
			return -1;
		if (slot->hash == (uint32_t)hash && is(items, slot->item - 1, key))
			return slot->item - 1;
	}
	return -1;
}

bool index_is_instruction_id(const void *items, ptrdiff_t item, const void *key)
{
	const struct hlo_instruction *instructions = items;
	return instructions[item].id == *(const int64_t *)key;
}

static bool is_name(const void *items, ptrdiff_t item, const void *key)
{
	const struct hlo_instruction *instructions = items;
	return str_eq(instructions[item].name, *(const struct str *)key);
}

static ptrdiff_t find_name(const struct hlo_module *m, struct str name)
{
	return index_find(m->index, str_hash(name), is_name, m->instructions, &name);
}

/* Names are unique in a module; of twins, the first is found. */
struct hlo_index *index_names(const struct hlo_module *m, struct arena *keep)
{
	struct hlo_index *x = arena_make(keep, struct hlo_index, 1);
	*x = index_new(keep, m->instruction_count);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		if (m->instructions[i].name.len)
			index_add(x, str_hash(m->instructions[i].name), i);
	return x;
}

ptrdiff_t hlo_find_exact(const struct hlo_module *m, struct str name)
{
	return name.len ? find_name(m, name) : -1;
}

/* Longest name that is looked for in another spelling: XLA's own are below 100 bytes. */
enum { NAME_BYTES = 512 };

/* "<base>-start<suffix>" */
static ptrdiff_t find_start(const struct hlo_module *m, struct str base, struct str suffix)
{
	char text[NAME_BYTES];
	static const char start[] = "-start";
	ptrdiff_t extra = (ptrdiff_t)sizeof(start) - 1;
	if (!base.len || base.len + suffix.len + extra > NAME_BYTES)
		return -1;
	memcpy(text, base.p, (size_t)base.len);
	memcpy(text + base.len, start, (size_t)extra);
	if (suffix.len)
		memcpy(text + base.len + extra, suffix.p, (size_t)suffix.len);
	return find_name(m, (struct str){ text, base.len + extra + suffix.len });
}

/* The part of a name before a final ".N", or all of it. */
static struct str without_number(struct str name)
{
	ptrdiff_t dot = str_rfind_char(name, '.');
	uint64_t number;
	if (dot > 0 && str_to_u64(str_from_offset(name, dot + 1), &number))
		return str_head(name, dot);
	return name;
}

static struct str last_part(struct str path)
{
	ptrdiff_t colon = str_rfind_char(path, ':');
	if (colon > 0 && path.p[colon - 1] == ':')
		return str_from_offset(path, colon + 1);
	return path;
}

ptrdiff_t hlo_find(const struct hlo_module *m, struct str name)
{
	name = last_part(name);
	str_take(&name, STR("%"));
	struct str base = without_number(name), number = str_from_offset(name, base.len);
	ptrdiff_t found = hlo_find_exact(m, name);
	if (found < 0 && number.len)
		found = hlo_find_exact(m, base);
	if (found < 0)
		found = find_start(m, name, STR(""));
	if (found < 0 && number.len)
		found = find_start(m, base, number);
	if (found < 0 && number.len)
		found = find_start(m, base, STR(""));
	return found;
}
