/* What stands around an instruction.  See around.h. */
#include "hlo/around.h"

#include "base/stats.h"
#include "hlo/inside.h"
#include "hlo/walk.h"

enum { THROUGH_VIEWS = THROUGH_BITCASTS | THROUGH_ELEMENTS | THROUGH_DONES };

/* What only names bytes that another op made: the done of an asynchronous pair is one, too. */
static bool is_view(const struct hlo_module *m, ptrdiff_t i)
{
	return hlo_seen_through(m->instructions[i].op) & THROUGH_VIEWS ||
	       hlo_async_start(m, i) >= 0;
}

/* What does no work of its own within a fusion. */
static bool is_plumbing(enum hlo_op op)
{
	return op == HLO_BITCAST || op == HLO_GET_TUPLE_ELEMENT || op == HLO_PARAMETER ||
	       op == HLO_CONSTANT || op == HLO_TUPLE || op == HLO_BROADCAST || op == HLO_RESHAPE;
}

/* ---- the heaviest ---------------------------------------------------------------------------- */

struct candidate {
	ptrdiff_t instruction;
	int64_t weight;
};

struct candidates {
	struct candidate *items;
	ptrdiff_t count, cap;
};

static void add(struct candidates *c, ptrdiff_t instruction, int64_t weight, struct arena *scratch)
{
	*arena_push(scratch, c->items, c->count, c->cap) =
		(struct candidate){ instruction, weight };
}

static int heavier_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = order_integers(y->weight, x->weight);
	return order ? order : order_integers(x->instruction, y->instruction);
}

static int program_order(const void *a, const void *b)
{
	return order_integers(*(const ptrdiff_t *)a, *(const ptrdiff_t *)b);
}

/* Of the same instruction twice the weights are equal, so doubles are neighbours. */
static struct hlo_neighbours heaviest(struct candidates *c)
{
	struct hlo_neighbours ret = { .count = 0 };
	sort_by(c->items, c->count, heavier_first);
	for (ptrdiff_t i = 0; i < c->count; i++) {
		if (i && c->items[i].instruction == c->items[i - 1].instruction)
			continue;
		if (ret.count < HLO_MAX_AROUND)
			ret.items[ret.count++] = c->items[i].instruction;
		else
			ret.left_out++;
	}
	sort_by(ret.items, ret.count, program_order);
	return ret;
}

/* ---- the three sides ------------------------------------------------------------------------- */

static int64_t bytes_of(const struct hlo_module *m, ptrdiff_t i)
{
	return shape_padded_bytes(&m->instructions[i].shape);
}

static struct hlo_neighbours takes(
	const struct hlo_module *m, const struct hlo_instruction *i, struct arena scratch)
{
	struct candidates c = { NULL, 0, 0 };
	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		ptrdiff_t from = hlo_walk(m, i->operands[k], THROUGH_VIEWS);
		if (from >= 0)
			add(&c, from, bytes_of(m, from), &scratch);
	}
	return heaviest(&c);
}

/* What takes it twice is there twice, and kept once. */
static struct hlo_neighbours gives(
	const struct hlo_module *m, ptrdiff_t instruction, struct arena scratch)
{
	const struct hlo_computation *comp =
		&m->computations[m->instructions[instruction].computation];
	struct candidates c = { NULL, 0, 0 };
	for (ptrdiff_t k = comp->first; k < comp->first + comp->count; k++)
		for (ptrdiff_t o = 0; !is_view(m, k) && o < m->instructions[k].operand_count; o++)
			if (hlo_walk(m, m->instructions[k].operands[o], THROUGH_VIEWS) ==
				instruction)
				add(&c, k, bytes_of(m, k), &scratch);
	return heaviest(&c);
}

/* Matmuls and collectives first, whatever they weigh: they are what a fusion is about. */
static struct hlo_neighbours holds(
	const struct hlo_module *m, const struct hlo_instruction *i, struct arena scratch)
{
	struct candidates c = { NULL, 0, 0 };
	if (!is_wrapper(i) || !i->called_count || i->called[0] < 0)
		return heaviest(&c);
	const struct hlo_computation *comp = &m->computations[i->called[0]];
	for (ptrdiff_t k = comp->first; k < comp->first + comp->count; k++) {
		enum op_kind kind = opcode_kind(m->instructions[k].op);
		bool is_core = kind == KIND_MATMUL || kind == KIND_CONVOLUTION ||
			       op_kind_is_collective(kind);
		if (!is_plumbing(m->instructions[k].op))
			add(&c, k, is_core ? INT64_MAX : bytes_of(m, k), &scratch);
	}
	return heaviest(&c);
}

void hlo_around(const struct hlo_module *m, ptrdiff_t instruction, struct arena scratch,
	struct hlo_around *ret)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	ret->takes = takes(m, i, scratch);
	ret->holds = holds(m, i, scratch);
	ret->gives = gives(m, instruction, scratch);
}
