/* Outputs that a parameter could have made room for.  See memory.h. */
#include "hlo/memory.h"

#include "base/map.h"
#include "hlo/walk.h"

/* The least share of weights in what a step returns: a seventh where bf16 weights come with a copy
 * in f32 and two moments of the optimizer. */
#define WEIGHTS_SHARE 0.1

/* Still one array: other names for it, casts and moves. */
#define SAME_ARRAY (THROUGH_BITCASTS | THROUGH_COPIES | THROUGH_MOVES)

/* What made an output. */
static const struct hlo_instruction *maker(const struct hlo_module *m, ptrdiff_t output)
{
	ptrdiff_t at = output < 0 ? -1 : hlo_walk(m, output, SAME_ARRAY | THROUGH_ELEMENTS);

	return at < 0 ? NULL : &m->instructions[at];
}

/* What a product makes of its operands is another array, though it be of the same shape. */
static bool is_product(const struct hlo_instruction *i)
{
	return i->op == HLO_DOT || i->op == HLO_CONVOLUTION;
}

/* The parameter that an operand hands on; NULL when it is something else. */
static const struct hlo_instruction *parameter_of(const struct hlo_module *m, ptrdiff_t operand)
{
	ptrdiff_t from = hlo_walk(m, operand, SAME_ARRAY);
	const struct hlo_instruction *p = from < 0 ? NULL : &m->instructions[from];

	return p && p->op == HLO_PARAMETER ? p : NULL;
}

/*
 * A backward pass makes it, from no parameter of its size.  Who takes it still needs the weights
 * that are as large.  New weights are made from old ones, be these of another type.
 */
static bool is_gradient(const struct hlo_module *m, ptrdiff_t output)
{
	const struct hlo_instruction *made = maker(m, output);
	bool ret = made && hlo_is_backward(made);

	for (ptrdiff_t i = 0; ret && !is_product(made) && i < made->operand_count; i++) {
		const struct hlo_instruction *p = parameter_of(m, made->operands[i]);
		ret = !p ||
		      shape_elements(&p->shape) != shape_elements(&m->instructions[output].shape);
	}
	return ret;
}

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
	const struct hlo_instruction *root = &m->instructions[entry->root];
	bool is_flat = root->op == HLO_TUPLE && root->operand_count == out->leaves;
	bool is_lone = shape_leaf(out, 0) == out;
	struct map index = { 0 };
	int64_t sum = 0;

	for (ptrdiff_t i = 0; i < m->donated.count; i++)
		if (m->donated.items[i] >= 0 && m->donated.items[i] < entry->count)
			is_donated[m->donated.items[i]] = true;
	for (ptrdiff_t i = 0; i < out->leaves; i++) {
		const struct shape *leaf = shape_leaf(out, i);
		if (is_gradient(m, is_flat ? root->operands[i] : is_lone ? entry->root : -1))
			continue;
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

/* Was this made from a parameter of its own shape, which something else takes, too? */
static bool is_updated(const struct hlo_module *m, ptrdiff_t output)
{
	const struct shape *shape = &m->instructions[output].shape;
	const struct hlo_instruction *made = maker(m, output);

	for (ptrdiff_t i = 0; made && !is_product(made) && i < made->operand_count; i++) {
		const struct hlo_instruction *p = parameter_of(m, made->operands[i]);
		if (p && shape_equal(&p->shape, shape, false) &&
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
