/* Looking into fusions, calls and async wrappers.  See inside.h. */
#include "hlo/inside.h"

#include "hlo/work.h"

/* Reducers and loop bodies are called too, but what they hold is not what the op is. */
bool is_wrapper(const struct hlo_instruction *i)
{
	return i->called_count && (i->op == HLO_FUSION || i->op == HLO_ASYNC_START ||
					  i->op == HLO_CALL || i->op == HLO_CUSTOM_CALL);
}

struct walk {
	const struct hlo_module *m;
	inside_fn *visit;
	void *arg;
	int budget;
};

/* Recursion is bounded by HLO_MAX_CALL_DEPTH. */
static bool walk_computation(struct walk *w, ptrdiff_t computation)
{
	const struct hlo_computation *c = &w->m->computations[computation];
	for (ptrdiff_t k = c->first; k < c->first + c->count; k++) {
		const struct hlo_instruction *i = &w->m->instructions[k];
		if (--w->budget < 0)
			return false;
		bool inner = is_wrapper(i) && i->called[0] >= 0;
		if (inner ? !walk_computation(w, i->called[0]) : !w->visit(w->arg, w->m, k))
			return false;
	}
	return true;
}

bool inside_walk(const struct hlo_module *m, ptrdiff_t wrapper, inside_fn *visit, void *arg)
{
	const struct hlo_instruction *i = &m->instructions[wrapper];
	struct walk w = { m, visit, arg, INSIDE_BUDGET };
	return !is_wrapper(i) || i->called[0] < 0 || walk_computation(&w, i->called[0]);
}

ptrdiff_t inside_root(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = called_at(m, i, 0);
	return c && c->root >= 0 ? skip_views(m, c->root) : -1;
}

static bool root_calls(
	const struct hlo_module *m, const struct hlo_instruction *i, struct str target)
{
	ptrdiff_t root = i->op == HLO_FUSION ? inside_root(m, i) : -1;
	return root >= 0 && str_eq(m->instructions[root].custom_call_target, target);
}

bool is_async_collective_start(const struct hlo_module *m, const struct hlo_instruction *i)
{
	return root_calls(m, i, STR("AsyncCollectiveStart")) ||
	       (i->op == HLO_FUSION && str_starts(i->name, STR("async-collective-start")));
}

bool is_async_collective_done(const struct hlo_module *m, const struct hlo_instruction *i)
{
	return root_calls(m, i, STR("AsyncCollectiveDone")) ||
	       (i->op == HLO_FUSION && str_starts(i->name, STR("async-collective-done")));
}

enum op_kind collective_kind(const struct hlo_module *m, const struct hlo_instruction *wrapper,
	const struct hlo_instruction *collective)
{
	enum op_kind kind = opcode_kind(collective->op);
	const struct hlo_computation *c = called_at(m, wrapper, 0);
	if (kind == KIND_ALL_REDUCE && wrapper->op == HLO_FUSION && c &&
		str_starts(c->name, STR("all-reduce-scatter")))
		return KIND_REDUCE_SCATTER;
	return op_kind_is_collective(kind) ? kind : KIND_UNKNOWN;
}

/* Which op a done waits for. */
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
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].done == done)
			return pairs[i].start;
	return HLO_OP_UNKNOWN;
}

static bool passes_through(const struct hlo_instruction *i, bool fused)
{
	return i->op == HLO_GET_TUPLE_ELEMENT || i->op == HLO_BITCAST ||
	       i->op == HLO_ASYNC_UPDATE || i->op == HLO_OPT_BARRIER ||
	       (fused && i->op == HLO_FUSION);
}

/* Steps from a done to its start; longer ways are rings, or no pair. */
enum { MAX_STEPS = 64 };

ptrdiff_t hlo_async_start(const struct hlo_module *m, ptrdiff_t done)
{
	const struct hlo_instruction *i = &m->instructions[done];
	enum hlo_op start = start_of(i->op);
	bool fused = start == HLO_OP_UNKNOWN && is_async_collective_done(m, i);
	if (start == HLO_OP_UNKNOWN && !fused)
		return -1;
	for (int n = 0; n < MAX_STEPS && i->operand_count && i->operands[0] >= 0; n++) {
		ptrdiff_t at = i->operands[0];
		i = &m->instructions[at];
		if (fused ? is_async_collective_start(m, i) : i->op == start)
			return at;
		if (!passes_through(i, fused))
			return -1;
	}
	return -1;
}

struct target {
	ptrdiff_t found; /* -1 none */
	int count;
};

static bool note_target(void *arg, const struct hlo_module *m, ptrdiff_t instruction)
{
	struct target *t = arg;
	enum op_kind kind = opcode_kind(m->instructions[instruction].op);
	if (kind != KIND_MATMUL && kind != KIND_CONVOLUTION && !op_kind_is_collective(kind))
		return true;
	t->found = instruction;
	return ++t->count < 2;
}

ptrdiff_t hlo_unwrap(const struct hlo_module *m, ptrdiff_t instruction)
{
	struct target t = { -1, 0 };
	if (!is_wrapper(&m->instructions[instruction]))
		return instruction;
	return inside_walk(m, instruction, note_target, &t) && t.count ? t.found : instruction;
}
