/* Outputs that a parameter could have made room for.  See memory.h. */
#include "hlo/memory.h"

#include "base/map.h"
#include "hlo/walk.h"

/* Weights of what a step returns: a seventh where it holds them once more in f32, with two moments
 * of the optimizer. */
#define WEIGHTS_SHARE 0.1

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

/* Was this made from a parameter of its own shape, which something else takes, too?  What a product
 * makes of its operands is another array, though it be of the same shape. */
static bool is_updated(const struct hlo_module *m, ptrdiff_t output)
{
	const unsigned same = THROUGH_BITCASTS | THROUGH_COPIES | THROUGH_MOVES;
	const struct shape *shape = &m->instructions[output].shape;
	ptrdiff_t at = hlo_walk(m, output, same | THROUGH_ELEMENTS);
	const struct hlo_instruction *made = at < 0 ? NULL : &m->instructions[at];
	bool is_product = made && (made->op == HLO_DOT || made->op == HLO_CONVOLUTION);

	for (ptrdiff_t i = 0; made && !is_product && i < made->operand_count; i++) {
		ptrdiff_t from = hlo_walk(m, made->operands[i], same);
		const struct hlo_instruction *p = from < 0 ? NULL : &m->instructions[from];
		if (p && p->op == HLO_PARAMETER && shape_equal(&p->shape, shape, false) &&
			(p->user_count > 1 || m->instructions[made->operands[i]].user_count > 1))
			return true;
	}
	return false;
}

bool hlo_updates_weights(const struct hlo_module *m)
{
	const struct hlo_instruction *root = &m->instructions[m->computations[m->entry].root];
	double all = 0, updated = 0;

	for (ptrdiff_t i = 0; root->op == HLO_TUPLE && i < root->operand_count; i++) {
		ptrdiff_t output = root->operands[i];
		double bytes =
			output < 0 ? 0
				   : (double)shape_logical_bytes(&m->instructions[output].shape);
		all += bytes;
		updated += output >= 0 && is_updated(m, output) ? bytes : 0;
	}
	return updated > WEIGHTS_SHARE * all;
}
