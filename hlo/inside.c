/* What is inside of computations.  See inside.h. */
#include "hlo/inside.h"

#include "hlo/slices.h"
#include "hlo/walk.h"
#include "hlo/work.h"

bool is_wrapper(const struct hlo_instruction *i)
{
	return i->called_count && (i->op == HLO_FUSION || i->op == HLO_ASYNC_START ||
					  i->op == HLO_CALL || i->op == HLO_CUSTOM_CALL);
}

static bool is_scalar(const struct hlo_instruction *i)
{
	return i->shape.dtype != DTYPE_TUPLE && !i->shape.rank;
}

static void note_target(struct hlo_inside *x, int targets, ptrdiff_t target)
{
	x->targets = x->targets + targets < 2 ? x->targets + targets : 2;
	if (targets)
		x->target = target;
}

static void note_alone(const struct hlo_module *m, ptrdiff_t at, struct hlo_inside *x)
{
	const struct hlo_instruction *i = &m->instructions[at];
	enum op_kind kind = kind_alone(m, i);
	enum op_kind plain = opcode_kind(i->op);
	if (plain == KIND_MATMUL || plain == KIND_CONVOLUTION || op_kind_is_collective(plain))
		note_target(x, 1, at);
	if (op_kind_is_collective(kind))
		kind = collective_kind(m, i);
	if (i->op == HLO_DYNAMIC_UPDATE_SLICE)
		kind = KIND_ELEMENTWISE; /* unless it is the result, which kind.c looks at */
	x->slices |= i->op == HLO_DYNAMIC_SLICE;
	bool hands_on =
		hlo_seen_through(i->op) || is_scalar(i) || opcode_rule(i->op) == HLO_RULE_FREE;
	x->only_hands_on &= hands_on;
	x->only_moves &=
		hands_on || i->op == HLO_PAD || i->op == HLO_CONCATENATE || i->op == HLO_REVERSE;
	if (i->op == HLO_SLICE || i->op == HLO_DYNAMIC_SLICE ||
		(is_scalar(i) && plain == KIND_ELEMENTWISE))
		x->has_small_work = true;
	else
		x->kinds |= 1u << kind;
}

/* What a library's name says stands: the comparator that it calls says less. */
static bool says_itself(const struct hlo_instruction *i)
{
	if (i->op != HLO_CUSTOM_CALL)
		return false;
	enum op_kind kind = library_find(i->custom_call_target)->kind;
	return kind != KIND_CUSTOM && kind != KIND_CONTROL;
}

_Static_assert(KIND_COUNT <= 32, "hlo_inside.kinds has a bit per kind");

static void gather_one(struct hlo_module *m, ptrdiff_t computation)
{
	const struct hlo_computation *c = &m->computations[computation];
	struct hlo_inside *x = &m->inside[computation];
	ptrdiff_t works = 0;
	*x = (struct hlo_inside){
		.only_hands_on = true, .only_moves = true, .target = -1, .only = -1
	};
	for (ptrdiff_t k = c->first; k < c->first + c->count; k++) {
		const struct hlo_instruction *i = &m->instructions[k];
		const struct hlo_inside *inner = says_itself(i) ? NULL : inside_of(m, i);
		if (inner) {
			x->kinds |= inner->kinds;
			x->has_small_work |= inner->has_small_work;
			x->only_hands_on &= inner->only_hands_on;
			x->only_moves &= inner->only_moves;
			x->slices |= inner->slices;
			note_target(x, inner->targets, inner->target);
		} else {
			note_alone(m, k, x);
		}
		if (opcode_rule(m->instructions[k].op) != HLO_RULE_FREE)
			x->only = ++works == 1 ? k : -1;
	}
}

void inside_gather(struct hlo_module *m, const ptrdiff_t *callees_first, struct arena *keep)
{
	m->inside = arena_make(keep, struct hlo_inside, m->computation_count);
	for (ptrdiff_t i = 0; i < m->computation_count; i++)
		gather_one(m, callees_first[i]);
}

const struct hlo_inside *inside_of(const struct hlo_module *m, const struct hlo_instruction *i)
{
	return is_wrapper(i) && i->called[0] >= 0 ? &m->inside[i->called[0]] : NULL;
}

ptrdiff_t inside_root(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = called_at(m, i, 0);
	return c && c->root >= 0 ? hlo_walk(m, c->root, THROUGH_BITCASTS | THROUGH_RESHAPES) : -1;
}

/* By what they call at their root, or by their names where the body of a fusion is not there. */
enum collective_half collective_half(const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t root = i->op == HLO_FUSION ? inside_root(m, i) : -1;
	struct str target = root >= 0 ? m->instructions[root].custom_call_target : STR("");
	struct str name = i->op == HLO_FUSION ? i->name : STR("");
	if (str_eq(target, STR("AsyncCollectiveStart")) ||
		str_starts(name, STR("async-collective-start")))
		return HALF_START;
	if (str_eq(target, STR("AsyncCollectiveDone")) ||
		str_starts(name, STR("async-collective-done")))
		return HALF_DONE;
	return HALF_NONE;
}

const struct shape *hollow_copy(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct shape *from = operand_shape(m, i, 0), *to = NULL;
	if (i->op != HLO_ASYNC_START || !m->partial || called_at(m, i, 0))
		return NULL;
	if (i->shape.dtype == DTYPE_TUPLE && i->shape.element_count > 1)
		to = shape_leaf(&i->shape.elements[1], 0);
	bool moves = from && to && from->dtype == to->dtype &&
		     from->memory_space != to->memory_space &&
		     shape_elements(to) <= shape_elements(from);
	return moves ? to : NULL;
}

bool hlo_begins_collective(const struct hlo_module *m, ptrdiff_t instruction)
{
	return collective_half(m, &m->instructions[instruction]) == HALF_START;
}

enum op_kind collective_kind(const struct hlo_module *m, const struct hlo_instruction *collective)
{
	enum op_kind kind = collective->op == HLO_RECV ? transfer_kind(collective)
						       : opcode_kind(collective->op);
	const struct hlo_computation *c = &m->computations[collective->computation];
	if (kind == KIND_ALL_REDUCE && str_starts(c->name, STR("all-reduce-scatter")))
		return KIND_REDUCE_SCATTER;
	return op_kind_is_collective(kind) ? kind : KIND_UNKNOWN;
}

ptrdiff_t hlo_unwrap(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_inside *x = inside_of(m, &m->instructions[instruction]);
	return x && x->targets == 1 ? x->target : instruction;
}

bool hlo_is_backward(const struct hlo_instruction *i)
{
	return str_contains(i->op_name, STR("transpose(jvp"));
}
