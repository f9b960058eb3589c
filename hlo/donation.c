/* Outputs that a parameter could have made room for.  See memory.h. */
#include "hlo/memory.h"

#include "base/map.h"

/* Of one type and dimensions: parameters to give, outputs to take, and what a buffer takes. */
struct exchange {
	int64_t given, taken, bytes;
};

/* Layouts differ between a parameter and an output that could still have been laid out alike. */
static struct exchange *exchange_of(struct exchange *all, ptrdiff_t *count, struct map *index,
	const struct shape *leaf, struct arena *keep)
{
	struct str key = shape_text(leaf, false, keep);
	int32_t at = map_get(index, key);

	if (at == MAP_NONE) {
		at = (int32_t)(*count)++;
		map_put(index, key, at, keep);
		all[at].bytes = shape_padded_bytes(leaf);
	}
	return &all[at];
}

/* By parameter number. */
static bool *donated(const struct hlo_module *m, ptrdiff_t count, struct arena *keep)
{
	bool *ret = arena_make(keep, bool, count);

	for (ptrdiff_t i = 0; i < m->donated.count; i++)
		if (m->donated.items[i] >= 0 && m->donated.items[i] < count)
			ret[m->donated.items[i]] = true;
	return ret;
}

/* The parameters of a jitted function are arrays, one for each leaf. */
static bool is_array_parameter(const struct hlo_instruction *p, ptrdiff_t count)
{
	return p->op == HLO_PARAMETER && shape_leaf(&p->shape, 0) == &p->shape &&
	       p->parameter_number >= 0 && p->parameter_number < count;
}

int64_t hlo_undonated_bytes(const struct hlo_module *m, struct arena scratch)
{
	const struct hlo_computation *entry = &m->computations[m->entry];
	const struct shape *out = &m->instructions[entry->root].shape;
	ptrdiff_t leaves = out->leaves, count = 0;
	struct exchange *all = arena_make(&scratch, struct exchange, leaves);
	bool *is_donated = donated(m, entry->count, &scratch);
	struct map index = { 0 };
	int64_t sum = 0;

	for (ptrdiff_t i = 0; i < leaves; i++)
		exchange_of(all, &count, &index, shape_leaf(out, i), &scratch)->taken++;
	for (ptrdiff_t i = entry->first; i < entry->first + entry->count; i++) {
		const struct hlo_instruction *p = &m->instructions[i];
		if (!is_array_parameter(p, entry->count))
			continue;
		int32_t at = map_get(&index, shape_text(&p->shape, false, &scratch));
		if (at == MAP_NONE)
			continue;
		/* A donated one has its output; another could have had one of those left. */
		all[at].taken -= is_donated[p->parameter_number];
		all[at].given += !is_donated[p->parameter_number];
	}
	for (ptrdiff_t i = 0; i < count; i++) {
		int64_t pairs = all[i].given < all[i].taken ? all[i].given : all[i].taken;
		sum += pairs > 0 ? pairs * all[i].bytes : 0;
	}
	return sum;
}
