/*
 * Which start a done waits for.
 *
 * A done's operand leads back to its start, through tuples and their elements.  Where a loop
 * carries it the way parts: to what the trip before left, and to what stood before the loop.
 *
 *	start.1 -> tuple -> while(state) -> get-tuple-element -> done.2
 *	                     body: state -> get-tuple-element -> done
 *	                           start -> tuple (the next state)
 *
 * Source: XLA's collective_pipeliner and pipelined_p2p_rewriter, which make such loops.
 */
#include "hlo/inside.h"
#include "hlo/work.h"

static const struct {
	enum hlo_op done, start;
} pairs[] = {
	{ HLO_ALL_GATHER_DONE, HLO_ALL_GATHER_START },
	{ HLO_ALL_REDUCE_DONE, HLO_ALL_REDUCE_START },
	{ HLO_COLLECTIVE_PERMUTE_DONE, HLO_COLLECTIVE_PERMUTE_START },
	{ HLO_COPY_DONE, HLO_COPY_START },
	{ HLO_SEND_DONE, HLO_SEND },
	{ HLO_RECV_DONE, HLO_RECV },
	{ HLO_ASYNC_DONE, HLO_ASYNC_START },
	{ HLO_ASYNC_UPDATE, HLO_ASYNC_START },
};

static enum hlo_op start_of(enum hlo_op done)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(pairs); i++)
		if (pairs[i].done == done)
			return pairs[i].start;
	return HLO_OP_UNKNOWN;
}

bool hlo_starts(const struct hlo_instruction *i)
{
	return i->op == HLO_SEND || i->op == HLO_RECV || str_ends(i->opcode, STR("-start"));
}

bool hlo_ends(const struct hlo_instruction *i)
{
	return str_ends(i->opcode, STR("-done"));
}

enum {
	MAX_STEPS = 64, /* on one way; longer ones are rings, or no pair */
	MAX_WAYS = 16,	/* nested loops, two for each */
	MAX_NESTED = 4, /* tuples in tuples */
};

/* One way back: where it stands, and which elements of the tuples to come it is about. */
struct way {
	ptrdiff_t at;
	int64_t elements[MAX_NESTED];
	int nested;
};

struct search {
	const struct hlo_module *m;
	enum hlo_op start; /* HLO_OP_UNKNOWN: a fusion that begins a collective */
	struct way ways[MAX_WAYS];
	int count;
};

static bool is_found(const struct search *s, ptrdiff_t at)
{
	const struct hlo_instruction *i = &s->m->instructions[at];
	return s->start == HLO_OP_UNKNOWN ? hlo_begins_collective(s->m, at) : i->op == s->start;
}

static ptrdiff_t operand(const struct hlo_instruction *i, ptrdiff_t k)
{
	return k < i->operand_count ? i->operands[k] : -1;
}

/* The way before this one: -1 where it ends, or parts. */
static ptrdiff_t one_back(const struct search *s, struct way *w)
{
	const struct hlo_instruction *i = &s->m->instructions[w->at];
	int64_t k = 0;
	switch (i->op) {
	case HLO_GET_TUPLE_ELEMENT:
		if (w->nested == MAX_NESTED)
			return -1;
		w->elements[w->nested++] = i->tuple_index;
		return operand(i, 0);
	case HLO_TUPLE:
		/* A start taken apart and put together again is itself: then none is asked for. */
		k = w->nested ? w->elements[--w->nested] : 0;
		return k >= 0 ? operand(i, k) : -1;
	case HLO_FUSION:
		w->nested = 0;
		return s->start == HLO_OP_UNKNOWN ? operand(i, 0) : -1;
	case HLO_BITCAST:
	case HLO_ASYNC_UPDATE:
	case HLO_OPT_BARRIER:
		return operand(i, 0);
	default:
		return -1;
	}
}

/* The loop that a way comes to, from behind or from inside; NULL if to none. */
static const struct hlo_instruction *loop_at(const struct hlo_module *m, ptrdiff_t at)
{
	const struct hlo_instruction *i = &m->instructions[at];
	if (i->op == HLO_PARAMETER && m->computations[i->computation].loop >= 0)
		return &m->instructions[m->computations[i->computation].loop];
	return i->op == HLO_WHILE ? i : NULL;
}

/* Not the same way twice: what a loop hands on unchanged leads back to where it was. */
static void add_way(struct search *s, struct way w, ptrdiff_t at)
{
	w.at = at;
	for (int k = 0; k < s->count; k++) {
		const struct way *met = &s->ways[k];
		size_t bytes = (size_t)w.nested * sizeof(w.elements[0]);
		if (met->at == at && met->nested == w.nested &&
			!memcmp(met->elements, w.elements, bytes))
			return;
	}
	if (at >= 0 && s->count < MAX_WAYS)
		s->ways[s->count++] = w;
}

/* The start at the end of a way; -1 when it ends elsewhere, or parts into others. */
static ptrdiff_t follow(struct search *s, struct way w)
{
	for (int n = 0; n < MAX_STEPS && w.at >= 0; n++) {
		if (is_found(s, w.at))
			return w.at;
		const struct hlo_instruction *loop = loop_at(s->m, w.at);
		if (loop) {
			const struct hlo_computation *body = called_at(s->m, loop, 0);
			add_way(s, w, body ? body->root : -1);
			add_way(s, w, operand(loop, 0));
			return -1;
		}
		w.at = one_back(s, &w);
	}
	return -1;
}

static int starts_of(struct search *s, ptrdiff_t operand, ptrdiff_t ret[HLO_MAX_STARTS])
{
	int found = 0;
	add_way(s, (struct way){ 0 }, operand);
	for (int k = 0; k < s->count && found < HLO_MAX_STARTS; k++) {
		ptrdiff_t start = follow(s, s->ways[k]);
		bool again = start < 0;
		for (int f = 0; f < found; f++)
			again |= ret[f] == start;
		if (!again)
			ret[found++] = start;
	}
	return found;
}

/*
 * Where only the ops that ran are known, a loop's state is not: what stands for it tells its shape.
 * It may be each start of that shape that no done takes by its name.
 */
static int starts_alike(const struct search *s, ptrdiff_t state, ptrdiff_t ret[HLO_MAX_STARTS])
{
	const struct hlo_module *m = s->m;
	int found = 0;
	if (!m->partial || state < 0 || m->instructions[state].op != HLO_PARAMETER)
		return 0;
	for (ptrdiff_t k = 0; k < m->instruction_count && found < HLO_MAX_STARTS; k++)
		if (is_found(s, k) && !m->instructions[k].user_count &&
			shape_equal(
				&m->instructions[k].shape, &m->instructions[state].shape, false))
			ret[found++] = k;
	return found;
}

int hlo_async_starts(const struct hlo_module *m, ptrdiff_t done, ptrdiff_t ret[HLO_MAX_STARTS])
{
	const struct hlo_instruction *i = &m->instructions[done];
	enum hlo_op start = start_of(i->op);
	if (start == HLO_OP_UNKNOWN && collective_half(m, i) != HALF_DONE)
		return 0;
	struct search s;
	s.m = m;
	s.start = start;
	s.count = 0;
	int found = starts_of(&s, operand(i, 0), ret);
	return found ? found : starts_alike(&s, operand(i, 0), ret);
}

ptrdiff_t hlo_async_start(const struct hlo_module *m, ptrdiff_t done)
{
	ptrdiff_t starts[HLO_MAX_STARTS];
	return hlo_async_starts(m, done, starts) ? starts[0] : -1;
}
