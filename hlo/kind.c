/*
 * What sort of work an op does: its opcode's kind, unless it wraps, calls or moves to the host.
 *
 * A fusion is what is heaviest in it.  The order of `ranks` decides; a fused update counts only
 * where it is the result.
 */
#include "hlo/inside.h"
#include "hlo/work.h"

static const enum op_kind ranks[] = {
	KIND_CONVOLUTION,
	KIND_ATTENTION,
	KIND_MATMUL, /* a collective beside these is overlapped */
	KIND_ALL_GATHER,
	KIND_ALL_REDUCE,
	KIND_REDUCE_SCATTER,
	KIND_ALL_TO_ALL,
	KIND_PERMUTE,
	KIND_BROADCAST,
	KIND_SEND,
	KIND_RECV,
	KIND_SORT,
	KIND_SCATTER,
	KIND_UPDATE,
	KIND_GATHER,
	KIND_REDUCE,
	KIND_CUSTOM,
	KIND_RNG,
	KIND_ELEMENTWISE,
	KIND_COPY, /* and then: */
	KIND_UNKNOWN,
};

/* Memory space 5 is the host's on every platform. */
enum { HOST_SPACE = 5 };

/* Recursion is bounded by SHAPE_MAX_DEPTH. */
static bool on_host(const struct shape *s)
{
	if (!s)
		return false;
	for (ptrdiff_t i = 0; i < s->element_count; i++)
		if (on_host(&s->elements[i]))
			return true;
	return !s->element_count && s->memory_space == HOST_SPACE;
}

static bool touches_host(const struct hlo_module *m, const struct hlo_instruction *i)
{
	for (ptrdiff_t k = 0; k < i->operand_count; k++)
		if (on_host(operand_shape(m, i, k)))
			return true;
	return on_host(&i->shape);
}

/* Ops that only move data are transfers when the host is at one end. */
static bool only_moves(const struct hlo_instruction *i, enum op_kind kind)
{
	return kind == KIND_COPY || kind == KIND_UPDATE || i->op == HLO_SLICE ||
	       i->op == HLO_DYNAMIC_SLICE;
}

static enum op_kind moved(
	const struct hlo_module *m, const struct hlo_instruction *i, enum op_kind kind)
{
	return only_moves(i, kind) && touches_host(m, i) ? KIND_TRANSFER : kind;
}

/* Names that authors of attention kernels give them. */
static const struct str attention_names[] = {
	STR_INIT("*attention*"),
	STR_INIT("*flash*"),
	STR_INIT("*splash*"),
	STR_INIT("*mha*"),
	STR_INIT("*attn*"),
};

static bool names_attention(struct str name)
{
	for (size_t i = 0; i < sizeof(attention_names) / sizeof(attention_names[0]); i++)
		if (str_glob(name, attention_names[i]))
			return true;
	return false;
}

/* The last two parts of a scope: "flash_attention/pallas_call". */
static struct str scope_end(struct str op_name)
{
	ptrdiff_t last = str_rfind_char(op_name, '/');
	if (last < 0)
		return op_name;
	return str_from_offset(op_name, str_rfind_char(str_head(op_name, last), '/') + 1);
}

/* What a wrapper holds, as bits 1 << kind. */
struct contents {
	uint32_t seen;
	bool has_small_work; /* what no copy is spoilt by: slices, and arithmetic on indices */
	const struct hlo_instruction *wrapper;
};

static bool is_small_work(const struct hlo_instruction *i)
{
	bool scalar = i->shape.dtype != DTYPE_TUPLE && !i->shape.rank;
	return i->op == HLO_SLICE || i->op == HLO_DYNAMIC_SLICE ||
	       (scalar && opcode_kind(i->op) == KIND_ELEMENTWISE);
}

static enum op_kind kind_alone(const struct hlo_module *m, const struct hlo_instruction *i);

static bool note_contents(void *arg, const struct hlo_module *m, ptrdiff_t instruction)
{
	struct contents *c = arg;
	const struct hlo_instruction *i = &m->instructions[instruction];
	enum op_kind kind = kind_alone(m, i);
	if (op_kind_is_collective(kind))
		kind = collective_kind(m, c->wrapper, i);
	if (i->op == HLO_DYNAMIC_UPDATE_SLICE)
		kind = KIND_ELEMENTWISE; /* unless it is the result: see root_updates */
	if (is_small_work(i))
		c->has_small_work = true;
	else
		c->seen |= 1u << kind;
	return true;
}

_Static_assert(KIND_COUNT <= 32, "contents.seen has a bit per kind");

static bool is_update(const struct hlo_module *m, ptrdiff_t instruction)
{
	return instruction >= 0 &&
	       m->instructions[skip_views(m, instruction)].op == HLO_DYNAMIC_UPDATE_SLICE;
}

static bool root_updates(const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t root = inside_root(m, i);
	if (root < 0 || i->op != HLO_FUSION)
		return false;
	const struct hlo_instruction *r = &m->instructions[root];
	for (ptrdiff_t k = 0; r->op == HLO_TUPLE && k < r->operand_count; k++)
		if (is_update(m, r->operands[k]))
			return true;
	return is_update(m, root);
}

/* The kind of the heaviest thing inside; KIND_UNKNOWN when nothing is known to be done. */
static enum op_kind heaviest(const struct hlo_module *m, const struct hlo_instruction *i)
{
	struct contents c = { .wrapper = i };
	inside_walk(m, i - m->instructions, note_contents, &c);
	if (root_updates(m, i))
		c.seen |= 1u << KIND_UPDATE;
	size_t rank = 0;
	while (ranks[rank] != KIND_UNKNOWN && !(c.seen >> ranks[rank] & 1))
		rank++;
	bool small = ranks[rank] == KIND_UNKNOWN && c.has_small_work;
	return small ? KIND_ELEMENTWISE : ranks[rank];
}

static enum op_kind fusion_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (is_async_collective_done(m, i)) {
		ptrdiff_t start = hlo_async_start(m, i - m->instructions);
		if (start >= 0)
			i = &m->instructions[start];
	}
	/* A fusion that does nothing is a bitcast; XLA keeps some around operands of matmuls. */
	enum op_kind kind = heaviest(m, i);
	return moved(m, i, kind == KIND_UNKNOWN ? KIND_COPY : kind);
}

static enum op_kind custom_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	enum op_kind kind = library_find(i->custom_call_target)->kind;
	if (kind != KIND_CUSTOM)
		return kind;
	if (names_attention(i->name) || names_attention(scope_end(i->op_name)))
		return KIND_ATTENTION;
	kind = i->called_count ? heaviest(m, i) : KIND_UNKNOWN;
	return op_kind_is_collective(kind) ? kind : KIND_CUSTOM;
}

/* The one thing that a call does, or NULL. */
static const struct hlo_instruction *only_work(
	const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = called_at(m, i, 0);
	const struct hlo_instruction *only = NULL;
	for (ptrdiff_t k = 0; c && k < c->count; k++) {
		const struct hlo_instruction *x = &m->instructions[c->first + k];
		if (opcode_rule(x->op) == HLO_RULE_FREE)
			continue;
		if (only)
			return NULL;
		only = x;
	}
	return only;
}

/* A slice or update in a wrapper of its own is how XLA prefetches: a copy in the background. */
static enum op_kind wrapped_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_instruction *only = only_work(m, i);
	if (!only)
		return KIND_CONTROL;
	enum op_kind kind = hlo_kind(m, only - m->instructions);
	if (only->op == HLO_SLICE || only->op == HLO_DYNAMIC_SLICE || kind == KIND_UPDATE)
		return touches_host(m, only) ? KIND_TRANSFER : KIND_COPY;
	return kind;
}

static enum op_kind async_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (i->op != HLO_ASYNC_START) {
		ptrdiff_t start = hlo_async_start(m, i - m->instructions);
		if (start < 0)
			return KIND_CONTROL;
		i = &m->instructions[start];
	}
	enum op_kind kind = heaviest(m, i);
	return op_kind_is_collective(kind) ? kind : wrapped_kind(m, i);
}

static enum op_kind call_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_instruction *only = only_work(m, i);
	return only ? hlo_kind(m, only - m->instructions) : KIND_CONTROL;
}

static enum op_kind convolution_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	return is_real_convolution(m, i) ? KIND_CONVOLUTION : KIND_MATMUL;
}

static enum op_kind copy_done_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t start = hlo_async_start(m, i - m->instructions);
	return moved(m, start >= 0 ? &m->instructions[start] : i, KIND_COPY);
}

static enum op_kind channel_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	(void)m;
	return i->is_host_transfer ? KIND_TRANSFER : opcode_kind(i->op);
}

typedef enum op_kind kind_fn(const struct hlo_module *m, const struct hlo_instruction *i);

static const struct {
	enum hlo_op op;
	kind_fn *kind;
} closer_looks[] = {
	{ HLO_FUSION, fusion_kind },
	{ HLO_CUSTOM_CALL, custom_kind },
	{ HLO_CONVOLUTION, convolution_kind },
	{ HLO_CALL, call_kind },
	{ HLO_ASYNC_START, async_kind },
	{ HLO_ASYNC_UPDATE, async_kind },
	{ HLO_ASYNC_DONE, async_kind },
	{ HLO_COPY_DONE, copy_done_kind },
	{ HLO_SEND, channel_kind },
	{ HLO_SEND_DONE, channel_kind },
	{ HLO_RECV, channel_kind },
	{ HLO_RECV_DONE, channel_kind },
};

/* Without looking into wrappers: what it is inside one. */
static enum op_kind kind_alone(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (i->op == HLO_CONVOLUTION)
		return convolution_kind(m, i);
	if (i->op == HLO_CUSTOM_CALL)
		return library_find(i->custom_call_target)->kind;
	return i->op == HLO_FUSION ? KIND_CONTROL : opcode_kind(i->op);
}

enum op_kind hlo_kind(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	for (size_t k = 0; k < sizeof(closer_looks) / sizeof(closer_looks[0]); k++)
		if (closer_looks[k].op == i->op)
			return closer_looks[k].kind(m, i);
	return moved(m, i, opcode_kind(i->op));
}
