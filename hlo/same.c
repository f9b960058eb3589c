/* Whether two modules are one program, compiled or written out twice. */
#include "hlo/module.h"

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
	       shape_equal(&a->shape, &b->shape, true);
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
