/* Whether two modules are one program, compiled or written out twice. */
#include "hlo/module.h"

/* Recursion is bounded by SHAPE_MAX_DEPTH. */
static bool same_shape(const struct shape *a, const struct shape *b)
{
	if (a->dtype != b->dtype || a->rank != b->rank || a->element_count != b->element_count ||
		a->memory_space != b->memory_space ||
		shape_padded_bytes(a) != shape_padded_bytes(b))
		return false;
	for (ptrdiff_t i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	for (ptrdiff_t i = 0; i < a->element_count; i++)
		if (!same_shape(&a->elements[i], &b->elements[i]))
			return false;
	return true;
}

static bool same_numbers(const ptrdiff_t *a, const ptrdiff_t *b, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Numbers of instructions and channels differ between compilations of one program. */
static bool same_instruction(const struct hlo_instruction *a, const struct hlo_instruction *b)
{
	return a->operand_count == b->operand_count && a->called_count == b->called_count &&
	       a->computation == b->computation && a->value == b->value &&
	       str_eq(a->opcode, b->opcode) && str_eq(a->name, b->name) &&
	       str_eq(a->op_name, b->op_name) &&
	       str_eq(a->custom_call_target, b->custom_call_target) &&
	       same_numbers(a->operands, b->operands, a->operand_count) &&
	       same_numbers(a->called, b->called, a->called_count) &&
	       same_shape(&a->shape, &b->shape);
}

bool hlo_same(const struct hlo_module *a, const struct hlo_module *b)
{
	if (!str_eq(a->name, b->name) || a->instruction_count != b->instruction_count ||
		a->computation_count != b->computation_count ||
		a->replica_count != b->replica_count || a->partition_count != b->partition_count)
		return false;
	for (ptrdiff_t i = 0; i < a->instruction_count; i++)
		if (!same_instruction(&a->instructions[i], &b->instructions[i]))
			return false;
	return true;
}
