/* Outputs that a parameter could have made room for.  See memory.h. */
#include "hlo/memory.h"

#include "base/map.h"

/* Of one type and dimensions: parameters to give, outputs to take, and what a buffer takes. */
struct exchange {
	int64_t given, taken, bytes;
};

/*
 * Layouts differ between a parameter and an output that could still have been laid out alike.  The
 * parameters of a jitted function are arrays, one for each leaf.
 */
int64_t hlo_undonated_bytes(const struct hlo_module *m, struct arena scratch)
{
	const struct hlo_computation *entry = &m->computations[m->entry];
	const struct shape *out = &m->instructions[entry->root].shape;
	struct exchange *all = arena_make(&scratch, struct exchange, out->leaves);
	bool *is_donated = arena_make(&scratch, bool, entry->count); /* by parameter number */
	struct map index = { 0 };
	int64_t sum = 0;

	for (ptrdiff_t i = 0; i < m->donated.count; i++)
		if (m->donated.items[i] >= 0 && m->donated.items[i] < entry->count)
			is_donated[m->donated.items[i]] = true;
	for (ptrdiff_t i = 0; i < out->leaves; i++) {
		const struct shape *leaf = shape_leaf(out, i);
		struct str key = shape_text(leaf, false, &scratch);
		struct exchange *x = &all[map_put(&index, key, (int32_t)i, &scratch)];
		x->bytes = x->taken++ ? x->bytes : shape_padded_bytes(leaf);
	}
	for (ptrdiff_t i = entry->first; i < entry->first + entry->count; i++) {
		const struct hlo_instruction *p = &m->instructions[i];
		if (p->op != HLO_PARAMETER || shape_leaf(&p->shape, 0) != &p->shape ||
			p->parameter_number < 0 || p->parameter_number >= entry->count)
			continue;
		int32_t at = map_get(&index, shape_text(&p->shape, false, &scratch));
		if (at == MAP_NONE)
			continue;
		/* A donated one has its output; another could have had one of those left. */
		all[at].taken -= is_donated[p->parameter_number];
		all[at].given += !is_donated[p->parameter_number];
	}
	for (ptrdiff_t i = 0; i < out->leaves; i++) {
		int64_t pairs = all[i].given < all[i].taken ? all[i].given : all[i].taken;
		sum += pairs > 0 ? pairs * all[i].bytes : 0;
	}
	return sum;
}
