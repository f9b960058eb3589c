/*
 * Async ops as people are shown them: what XLA calls syntactic sugar.
 *
 *	%s = ((f32[8]), f32[4], u32[]) slice-start(%x), slice={[0:4]}
 *
 * is an async-start of a computation that holds nothing but slice(x).  Dumps write the computation
 * out, as_text() of JAX does not.  Here it is made, so that no other file has to know.
 */
#include "hlo/text_inside.h"

static const struct {
	struct str ending;
	enum hlo_op op;
} halves[] = {
	{ STR_INIT("-start"), HLO_ASYNC_START },
	{ STR_INIT("-update"), HLO_ASYNC_UPDATE },
	{ STR_INIT("-done"), HLO_ASYNC_DONE },
};

static struct str wrapped(struct str opcode, struct str ending)
{
	return str_ends(opcode, ending) ? str_head(opcode, opcode.len - ending.len) : STR("");
}

enum hlo_op text_sugar_op(struct str opcode)
{
	for (ptrdiff_t k = 0; k < COUNT_OF(halves); k++) {
		enum hlo_op op = opcode_find(wrapped(opcode, halves[k].ending));
		if (op != HLO_OP_UNKNOWN && op != HLO_PARAMETER && op != HLO_CONSTANT)
			return halves[k].op;
	}
	return HLO_OP_UNKNOWN;
}

/* A start's shape is ((operands), result, context); what it calls itself, the op inside calls. */
static bool make_computation(struct text *t, ptrdiff_t start)
{
	struct hlo_module *m = t->m;
	struct hlo_instruction *outer = &m->instructions[start], inner = *outer;
	ptrdiff_t count = inner.operand_count, first = m->instruction_count;
	ptrdiff_t *called = arena_make(t->s.keep, ptrdiff_t, 1);
	*called = m->computation_count;
	outer->called = called;
	outer->called_count = 1;
	*arena_push(t->s.keep, m->computations, m->computation_count, t->computation_cap) =
		(struct hlo_computation){ .name = inner.name,
			.id = *called + 1,
			.first = first,
			.count = count + 1,
			.root = first + count };
	inner.computation = *called;
	inner.opcode = wrapped(inner.opcode, STR("-start"));
	inner.op = opcode_find(inner.opcode);
	inner.user_count = 0;
	if (inner.shape.element_count >= 2)
		inner.shape = inner.shape.elements[1];
	ptrdiff_t *operands = arena_make(t->s.keep, ptrdiff_t, count);
	for (ptrdiff_t k = 0; k < count; k++) {
		struct hlo_instruction of = m->instructions[inner.operands[k]];
		struct hlo_instruction *made = text_parameter(t, of.name, &of.shape, k);
		if (!made)
			return false;
		made->computation = *called;
		made->user_count = 1;
		operands[k] = first + k;
	}
	inner.operands = operands;
	struct hlo_instruction *root = text_push(t);
	if (!root)
		return false;
	inner.id = root->id;
	*root = inner;
	return true;
}

bool text_desugar(struct text *t)
{
	ptrdiff_t count = t->m->instruction_count;
	for (ptrdiff_t k = 0; k < count; k++) {
		const struct hlo_instruction *i = &t->m->instructions[k];
		if (i->op == HLO_ASYNC_START && !str_eq(i->opcode, STR("async-start")) &&
			!make_computation(t, k))
			return false;
	}
	return true;
}
