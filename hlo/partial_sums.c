/*
 * Products in parts: a matmul whose contracting dimension is split into batches, each with a result
 * of its own, and the reduction that adds them up ("split-K").
 *
 *	f32[4,2048,6144] gemm_fusion_dot   ->   bf16[2048,6144] reduce over the first dimension
 *
 * What the parts take in memory is a choice of the compiler's: a product that adds as it goes does
 * without.  A sum over the batches of a batched product is one product, too.
 */
#include "hlo/walk.h"
#include "hlo/work.h"

enum { NO_USER = -1, SEVERAL = -2 };

/* The one instruction that uses each; NO_USER and SEVERAL. */
static const ptrdiff_t *sole_users(struct hlo_costs *c)
{
	const struct hlo_module *m = c->m;
	if (c->sole_users)
		return c->sole_users;
	c->sole_users = arena_make(c->keep, ptrdiff_t, m->instruction_count);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		c->sole_users[i] = NO_USER;
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		for (ptrdiff_t k = 0; k < m->instructions[i].operand_count; k++) {
			ptrdiff_t used = m->instructions[i].operands[k];
			if (used >= 0)
				c->sole_users[used] = c->sole_users[used] == NO_USER ? i : SEVERAL;
		}
	return c->sole_users;
}

/* Does it add up all parts, and nothing else? */
static bool sums_parts(
	const struct hlo_module *m, const struct hlo_instruction *reduce, int64_t parts)
{
	const struct shape *in = operand_shape(m, reduce, 0), *out = &reduce->shape;
	const struct hlo_computation *c = called_at(m, reduce, 0);
	if (!in || in->rank < 1 || in->rank != out->rank + 1 || in->dims[0] != parts || !c ||
		c->root < 0 || m->instructions[c->root].op != HLO_ADD)
		return false;
	for (ptrdiff_t i = 0; i < out->rank; i++)
		if (out->dims[i] != in->dims[i + 1])
			return false;
	return true;
}

static ptrdiff_t parameter_of(
	const struct hlo_module *m, const struct hlo_computation *c, ptrdiff_t number)
{
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++)
		if (m->instructions[i].op == HLO_PARAMETER &&
			m->instructions[i].parameter_number == number)
			return i;
	return -1;
}

/* The reduction that the user of `made` is, or does with it before anything else; NULL: none. */
static const struct hlo_instruction *reduction_of(struct hlo_costs *c, ptrdiff_t made)
{
	const unsigned views = THROUGH_BITCASTS | THROUGH_RESHAPES | THROUGH_COPIES;
	const ptrdiff_t *users = sole_users(c);
	ptrdiff_t at = users[made];
	const struct hlo_instruction *user = at < 0 ? NULL : &c->m->instructions[at];
	const struct hlo_computation *held = NULL;
	if (user && user->op == HLO_FUSION)
		held = called_at(c->m, user, 0);
	for (ptrdiff_t k = 0; held && k < user->operand_count; k++)
		if (user->operands[k] == made) {
			ptrdiff_t inside = parameter_of(c->m, held, k);
			at = inside < 0 ? -1 : users[inside];
			break;
		}
	while (at >= 0 && hlo_seen_through(c->m->instructions[at].op) & views)
		at = users[at];
	return at >= 0 && c->m->instructions[at].op == HLO_REDUCE ? &c->m->instructions[at] : NULL;
}

bool is_partial_sum(struct hlo_costs *c, ptrdiff_t instruction)
{
	if (instruction < 0)
		return false;
	const struct hlo_instruction *i = &c->m->instructions[instruction];
	const struct hlo_instruction *dot = &c->m->instructions[hlo_unwrap(c->m, instruction)];
	if (dot->op != HLO_DOT || !dot->dot || !dot->dot->lhs_batch.count ||
		i->shape.dtype == DTYPE_TUPLE || i->shape.rank < 3 || i->shape.dims[0] < 2 ||
		dot->shape.rank < 1 || dot->shape.dims[0] != i->shape.dims[0])
		return false;
	const struct hlo_instruction *reduce = reduction_of(c, instruction);
	return reduce && sums_parts(c->m, reduce, i->shape.dims[0]);
}
