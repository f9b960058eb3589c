/* Walks from operands back.  See walk.h. */
#include "hlo/walk.h"

#include "hlo/inside.h"

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

/* Within what a fusion calls only its parameters lead on: `ret` stays as it was outside. */
struct hlo_array hlo_array_taken(const struct hlo_module *m, ptrdiff_t instruction)
{
	struct hlo_array ret = { instruction, -1, NULL };
	ptrdiff_t at = hlo_unwrap(m, instruction);
	const struct hlo_instruction *taker = &m->instructions[at], *slice = NULL;
	const struct hlo_instruction *caller =
		at != instruction ? &m->instructions[instruction] : NULL;

	at = taker->operand_count ? taker->operands[0] : -1;
	for (int n = 0; n < MAX_STEPS; n++) {
		at = hlo_walk(m, at, THROUGH_BITCASTS | THROUGH_COPIES);
		if (at < 0)
			break;
		const struct hlo_instruction *i = &m->instructions[at];
		if (!caller)
			ret = (struct hlo_array){ at, -1, slice };
		if (i->op == HLO_SLICE && !slice && i->slice_rank && i->operand_count) {
			slice = i;
			at = i->operands[0];
		} else if (caller && i->op == HLO_PARAMETER && i->parameter_number >= 0 &&
			   i->parameter_number < caller->operand_count) {
			at = caller->operands[i->parameter_number];
			caller = NULL;
		} else if (!caller && i->op == HLO_GET_TUPLE_ELEMENT && i->operand_count &&
			   i->operands[0] >= 0) {
			ret = (struct hlo_array){ i->operands[0], i->tuple_index, slice };
			const struct hlo_instruction *made = &m->instructions[ret.instruction];
			caller = made->op == HLO_FUSION ? made : NULL;
			at = hlo_tuple_element(m, caller ? inside_root(m, caller) : ret.instruction,
				i->tuple_index);
		} else if (!caller && i->op == HLO_FUSION) {
			caller = i;
			at = inside_root(m, i);
		} else {
			break;
		}
	}
	return ret;
}

static bool same_slice(const struct hlo_instruction *a, const struct hlo_instruction *b)
{
	if (!a || !b || a->slice_rank != b->slice_rank)
		return a == b;
	return !memcmp(a->slice, b->slice, (size_t)a->slice_rank * sizeof(*a->slice));
}

bool hlo_array_same(const struct hlo_array *a, const struct hlo_array *b)
{
	return a->instruction == b->instruction && a->instruction >= 0 &&
	       a->element == b->element && same_slice(a->slice, b->slice);
}
