/* Walks from operands back.  See walk.h. */
#include "hlo/walk.h"

/* Views of views are few; the limit is for operands that go around in a ring. */
enum { MAX_STEPS = 64 };

unsigned hlo_seen_through(enum hlo_op op)
{
	switch (op) {
	case HLO_BITCAST:
		return THROUGH_BITCASTS;
	case HLO_RESHAPE:
		return THROUGH_RESHAPES;
	case HLO_COPY:
	case HLO_CONVERT:
		return THROUGH_COPIES;
	case HLO_GET_TUPLE_ELEMENT:
		return THROUGH_ELEMENTS;
	case HLO_COPY_START:
	case HLO_COPY_DONE:
	case HLO_TRANSPOSE:
	case HLO_SLICE:
	case HLO_ASYNC_START:
	case HLO_ASYNC_UPDATE:
	case HLO_ASYNC_DONE:
	case HLO_OPT_BARRIER:
	case HLO_BROADCAST:
		return THROUGH_MOVES;
	case HLO_DYNAMIC_SLICE:
		return THROUGH_LAYERS;
	default:
		return 0;
	}
}

ptrdiff_t hlo_tuple_element(const struct hlo_module *m, ptrdiff_t tuple, int64_t index)
{
	const struct hlo_instruction *t = tuple < 0 ? NULL : &m->instructions[tuple];
	bool known = t && t->op == HLO_TUPLE && index >= 0 && index < t->operand_count;
	return known ? t->operands[index] : -1;
}

ptrdiff_t hlo_walk(const struct hlo_module *m, ptrdiff_t instruction, unsigned through)
{
	for (int n = 0; n < MAX_STEPS && instruction >= 0; n++) {
		const struct hlo_instruction *i = &m->instructions[instruction];
		bool seen = hlo_seen_through(i->op) & through ||
			    (through & THROUGH_DONES && hlo_async_start(m, instruction) >= 0);
		if (!seen || !i->operand_count)
			break;
		instruction = i->operands[0];
		ptrdiff_t put_in = i->op == HLO_GET_TUPLE_ELEMENT
					   ? hlo_tuple_element(m, instruction, i->tuple_index)
					   : -1;
		instruction = put_in >= 0 ? put_in : instruction;
	}
	return instruction;
}
