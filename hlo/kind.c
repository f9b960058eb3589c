/*
 * What sort of work an op does: its opcode's kind, unless it wraps, calls or moves to the host.
 *
 * A fusion is what is heaviest in it.  The order of `ranks` decides; a fused update counts only
 * where it is the result.
 */
#include "hlo/inside.h"
#include "hlo/slices.h"
#include "hlo/walk.h"
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

static bool touches_host(const struct hlo_module *m, const struct hlo_instruction *i)
{
	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		const struct shape *s = operand_shape(m, i, k);
		if (s && s->on_host)
			return true;
	}
	return i->shape.on_host;
}

/* Ops that only move data are transfers when the host is at one end. */
static enum op_kind moved(
	const struct hlo_module *m, const struct hlo_instruction *i, enum op_kind kind)
{
	bool only_moves = kind == KIND_COPY || kind == KIND_UPDATE || i->op == HLO_SLICE ||
			  i->op == HLO_DYNAMIC_SLICE;
	return only_moves && touches_host(m, i) ? KIND_TRANSFER : kind;
}

/* Names that authors of attention kernels give them. */
static bool names_attention(struct str name)
{
	static const struct str globs[] = { STR_INIT("*attention*"), STR_INIT("*flash*"),
		STR_INIT("*splash*"), STR_INIT("*mha*"), STR_INIT("*attn*") };
	for (ptrdiff_t i = 0; i < COUNT_OF(globs); i++)
		if (str_glob(name, globs[i]))
			return true;
	return false;
}

struct str hlo_scope_end(struct str op_name)
{
	ptrdiff_t last = str_rfind_char(op_name, '/');
	if (last < 0)
		return op_name;
	return str_from_offset(op_name, str_rfind_char(str_head(op_name, last), '/') + 1);
}

static bool is_update(const struct hlo_module *m, ptrdiff_t instruction)
{
	ptrdiff_t at = hlo_walk(m, instruction, THROUGH_BITCASTS | THROUGH_RESHAPES);
	return at >= 0 && m->instructions[at].op == HLO_DYNAMIC_UPDATE_SLICE;
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

/* The start that `i` ends or goes on with; else `i` itself. */
static const struct hlo_instruction *begun_by(
	const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t start = hlo_async_start(m, i - m->instructions);
	return start >= 0 ? &m->instructions[start] : i;
}

/* The kind of the heaviest thing inside; KIND_UNKNOWN when nothing is done. */
static enum op_kind heaviest(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_inside *x = inside_of(m, i);
	if (!x)
		return KIND_UNKNOWN;
	uint32_t kinds = x->kinds | (uint32_t)root_updates(m, i) << KIND_UPDATE;
	size_t rank = 0;
	while (ranks[rank] != KIND_UNKNOWN && !(kinds >> ranks[rank] & 1))
		rank++;
	/* What is moved may change its type on the way. */
	if (ranks[rank] == KIND_ELEMENTWISE && x->only_moves && (kinds >> KIND_COPY & 1))
		return KIND_COPY;
	bool something = x->has_small_work || (kinds >> KIND_UNKNOWN & 1);
	return ranks[rank] == KIND_UNKNOWN && something ? KIND_ELEMENTWISE : ranks[rank];
}

static enum op_kind fusion_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	i = begun_by(m, i);
	/* A fusion that does nothing is a bitcast; XLA keeps some around operands of matmuls. */
	enum op_kind kind = heaviest(m, i);
	return moved(m, i, kind == KIND_UNKNOWN ? KIND_COPY : kind);
}

static enum op_kind custom_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	enum op_kind kind = library_find(i->custom_call_target)->kind;
	if (kind != KIND_CUSTOM)
		return kind;
	if (names_attention(i->name) || names_attention(hlo_scope_end(i->op_name)))
		return KIND_ATTENTION;
	kind = i->called_count ? heaviest(m, i) : KIND_UNKNOWN;
	return op_kind_is_collective(kind) ? kind : KIND_CUSTOM;
}

/*
 * The one thing that a call does, if it is one.  A slice or update that is called asynchronously is
 * how XLA prefetches: a copy in the background.
 */
static enum op_kind call_kind(
	const struct hlo_module *m, const struct hlo_instruction *i, bool is_async)
{
	const struct hlo_inside *x = inside_of(m, i);
	if (!x || x->only < 0)
		return KIND_CONTROL;
	const struct hlo_instruction *only = &m->instructions[x->only];
	enum op_kind kind = hlo_kind(m, x->only);
	bool copies = only->op == HLO_SLICE || only->op == HLO_DYNAMIC_SLICE || kind == KIND_UPDATE;
	if (is_async && copies)
		return touches_host(m, only) ? KIND_TRANSFER : KIND_COPY;
	return kind;
}

static enum op_kind async_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	i = begun_by(m, i);
	if (i->op != HLO_ASYNC_START)
		return KIND_CONTROL;
	if (hollow_copy(m, i))
		return moved(m, i, KIND_COPY);
	enum op_kind kind = heaviest(m, i);
	return op_kind_is_collective(kind) ? kind : call_kind(m, i, true);
}

/* Between slices the receiving half stands for the collective; the other one only sends. */
static enum op_kind channel_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_instruction *half = begun_by(m, i);
	enum op_kind kind = half->op == HLO_RECV ? transfer_kind(half) : KIND_UNKNOWN;
	if (half->transfer)
		return kind != KIND_UNKNOWN ? kind : KIND_SEND;
	return i->is_host_transfer ? KIND_TRANSFER : opcode_kind(i->op);
}

enum op_kind kind_alone(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (i->op == HLO_CONVOLUTION)
		return is_real_convolution(m, i) ? KIND_CONVOLUTION : KIND_MATMUL;
	if (i->op == HLO_CUSTOM_CALL)
		return library_find(i->custom_call_target)->kind;
	return i->op == HLO_FUSION ? KIND_CONTROL : opcode_kind(i->op);
}

/*
 * What a fusion does stands in what it calls, which is not there.  Only one that begins or ends a
 * collective names what goes in and what comes out: its first two results when it begins, its first
 * two operands when it ends.
 *
 *	(bf16[512,7168], bf16[2048,7168], ...) async-collective-start   gathers
 */
static enum op_kind hollow_kind(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct shape *in = shape_leaf(&i->shape, 0), *out = shape_leaf(&i->shape, 1);
	enum collective_half half = collective_half(m, i);
	if (half == HALF_DONE) {
		in = hlo_operand_array(m, i, 0);
		out = hlo_operand_array(m, i, 1);
	} else if (half == HALF_NONE) {
		return hollow_copy(m, i) ? moved(m, i, KIND_COPY) : KIND_UNKNOWN;
	}
	int64_t taken = in ? shape_logical_bytes(in) : 0,
		given = out ? shape_logical_bytes(out) : 0;
	if (!in || !out || taken == given)
		return KIND_UNKNOWN;
	return taken < given ? KIND_ALL_GATHER : KIND_REDUCE_SCATTER;
}

enum op_kind hlo_kind(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	if (m->partial && i->called_count)
		return hollow_kind(m, i);
	switch (i->op) {
	case HLO_FUSION:
		return fusion_kind(m, i);
	case HLO_CUSTOM_CALL:
		return custom_kind(m, i);
	case HLO_CONVOLUTION:
		return kind_alone(m, i);
	case HLO_CALL:
		return call_kind(m, i, false);
	case HLO_ASYNC_START:
	case HLO_ASYNC_UPDATE:
	case HLO_ASYNC_DONE:
		return async_kind(m, i);
	case HLO_COPY_DONE:
		return moved(m, begun_by(m, i), KIND_COPY);
	case HLO_SEND:
	case HLO_SEND_DONE:
	case HLO_RECV:
	case HLO_RECV_DONE:
		return channel_kind(m, i);
	default:
		return moved(m, i, opcode_kind(i->op));
	}
}

bool hlo_is_work(const struct hlo_module *m, ptrdiff_t instruction)
{
	enum hlo_rule rule = opcode_rule(m->instructions[instruction].op);

	return rule != HLO_RULE_FREE && rule != HLO_RULE_DONE &&
	       hlo_async_start(m, instruction) < 0 && hlo_kind(m, instruction) != KIND_CONTROL;
}
