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
	for (size_t k = 0; k < sizeof(halves) / sizeof(halves[0]); k++) {
		enum hlo_op op = opcode_find(wrapped(opcode, halves[k].ending));
		if (op != HLO_OP_UNKNOWN && op != HLO_PARAMETER && op != HLO_CONSTANT)
			return halves[k].op;
	}
	return HLO_OP_UNKNOWN;
}

static bool is_sugar(const struct hlo_instruction *i)
{
	return i->op == HLO_ASYNC_START && !str_eq(i->opcode, STR("async-start"));
}

/* What the computations to be made will hold. */
static ptrdiff_t count_made(const struct hlo_module *m, ptrdiff_t *computations)
{
	ptrdiff_t instructions = 0;
	*computations = 0;
	for (ptrdiff_t k = 0; k < m->instruction_count; k++)
		if (is_sugar(&m->instructions[k])) {
			instructions += m->instructions[k].operand_count + 1;
			++*computations;
		}
	return instructions;
}

static void make_parameter(
	struct hlo_module *m, ptrdiff_t computation, ptrdiff_t of, int64_t number)
{
	struct hlo_instruction *i = &m->instructions[m->instruction_count];
	*i = (struct hlo_instruction){ .name = m->instructions[of].name,
		.opcode = STR("parameter"),
		.op = HLO_PARAMETER,
		.id = ++m->instruction_count,
		.computation = computation,
		.shape = m->instructions[of].shape,
		.parameter_number = number,
		.user_count = 1,
		.feature_group_count = 1,
		.batch_group_count = 1 };
}

/* A start's shape is ((operands), result, context); what it calls itself, the op inside calls. */
static void make_computation(struct text *t, ptrdiff_t start)
{
	struct hlo_module *m = t->m;
	struct hlo_computation *c = &m->computations[m->computation_count];
	struct hlo_instruction *outer = &m->instructions[start], inner = *outer;
	*c = (struct hlo_computation){ .name = outer->name,
		.id = m->computation_count + 1,
		.first = m->instruction_count,
		.count = outer->operand_count + 1,
		.root = m->instruction_count + outer->operand_count };
	inner.operands = arena_make(t->s.keep, ptrdiff_t, outer->operand_count);
	for (ptrdiff_t k = 0; k < outer->operand_count; k++) {
		inner.operands[k] = m->instruction_count;
		make_parameter(m, m->computation_count, outer->operands[k], k);
	}
	inner.opcode = wrapped(outer->opcode, STR("-start"));
	inner.op = opcode_find(inner.opcode);
	inner.computation = m->computation_count;
	inner.id = m->instruction_count + 1;
	inner.user_count = 0;
	if (outer->shape.element_count >= 2)
		inner.shape = outer->shape.elements[1];
	m->instructions[m->instruction_count++] = inner;
	outer->called = arena_make(t->s.keep, ptrdiff_t, 1);
	outer->called[0] = m->computation_count++;
	outer->called_count = 1;
}

bool text_desugar(struct text *t)
{
	struct hlo_module *m = t->m;
	ptrdiff_t computations, count = m->instruction_count, made = count_made(m, &computations);
	if (!made)
		return true;
	if (count + made > HLO_MAX_INSTRUCTIONS)
		return scan_fail(&t->s, "the async ops make too many instructions");
	struct hlo_instruction *items = arena_make(t->s.keep, struct hlo_instruction, count + made);
	struct hlo_computation *rooms =
		arena_make(t->s.keep, struct hlo_computation, m->computation_count + computations);
	memcpy(items, m->instructions, (size_t)count * sizeof(*items));
	memcpy(rooms, m->computations, (size_t)m->computation_count * sizeof(*rooms));
	m->instructions = items;
	m->computations = rooms;
	for (ptrdiff_t k = 0; k < count; k++)
		if (is_sugar(&items[k]))
			make_computation(t, k);
	return true;
}
