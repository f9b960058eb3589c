/*
 * Bytes that an instruction moves, by memory space.
 *
 * Every operand is read once and every result written once, dense and padded; slices, updates and
 * gathers touch what they name.  What lies on chip costs no HBM: the copy that brought it paid.
 *
 * Source: XLA's HloCostAnalysis.
 */
#include "hlo/work.h"

enum { MAX_SPACE = 6 };

/*
 * What S(n) means where.  TPU: 1 is VMEM, 3 is CMEM (v4 only), 5 the host; 2, 4, 6 and more are
 * flags and scalar memories.  GPU: 1 is memory registered for collectives, 2 a temporary pool,
 * both HBM; 5 the host.
 */
static const enum hlo_space spaces[][MAX_SPACE] = {
	[HLO_TPU] = { SPACE_HBM, SPACE_ON_CHIP, SPACE_OTHER, SPACE_ON_CHIP, SPACE_OTHER,
		SPACE_HOST },
	[HLO_GPU] = { SPACE_HBM, SPACE_HBM, SPACE_HBM, SPACE_OTHER, SPACE_OTHER, SPACE_HOST },
	[HLO_CPU] = { SPACE_HBM, SPACE_OTHER, SPACE_OTHER, SPACE_OTHER, SPACE_OTHER, SPACE_HOST },
};

enum hlo_space hlo_space(int64_t memory_space, enum hlo_platform platform)
{
	if (memory_space < 0 || memory_space >= MAX_SPACE)
		return SPACE_OTHER;
	return spaces[platform][memory_space];
}

struct extent extent_of(const struct shape *s)
{
	struct extent e = { .bound = s->is_dynamic ? COST_UPPER : COST_EXACT };
	int64_t logical = shape_logical_bytes(s), padded = shape_padded_bytes(s);
	if (logical == INT64_MAX || padded == INT64_MAX) {
		e.bound = COST_UNKNOWN;
		return e;
	}
	e.logical = (double)logical;
	e.padded = (double)padded;
	return e;
}

void extent_add(struct extent *e, struct extent more)
{
	e->logical += more.logical;
	e->padded += more.padded;
	e->whole |= more.whole;
	e->bound = worse(e->bound, more.bound);
}

static void traffic_add(struct traffic *t, const struct traffic *more)
{
	t->hbm += more->hbm;
	t->hbm_padded += more->hbm_padded;
	t->host += more->host;
	t->logical += more->logical;
	t->padded += more->padded;
	t->bound = worse(t->bound, more->bound);
}

/* One instruction's bytes on their way into a sum. */
struct touch {
	struct hlo_costs *costs;
	const struct hlo_module *m;
	enum hlo_platform platform;
	const struct hlo_instruction *i;
	struct traffic *t;
};

static void touch_extent(const struct touch *x, struct extent e, int64_t memory_space)
{
	struct traffic more = { .logical = e.logical, .padded = e.padded, .bound = e.bound };
	switch (hlo_space(memory_space, x->platform)) {
	case SPACE_HBM:
		more.hbm = e.logical;
		more.hbm_padded = e.padded;
		break;
	case SPACE_HOST:
		more.host = e.logical;
		break;
	case SPACE_ON_CHIP:
	case SPACE_OTHER:
		break;
	}
	traffic_add(x->t, &more);
}

/* Recursion is bounded by SHAPE_MAX_DEPTH. */
static void touch_shape(const struct touch *x, const struct shape *s)
{
	if (!s)
		return;
	if (s->dtype != DTYPE_TUPLE && s->dtype != DTYPE_BUFFER)
		touch_extent(x, extent_of(s), s->memory_space);
	for (ptrdiff_t i = 0; i < s->element_count; i++)
		touch_shape(x, &s->elements[i]);
}

/* A tuple may have many users: what reading all of it takes is added up once. */
static void touch_operand(const struct touch *x, ptrdiff_t k)
{
	const struct hlo_instruction *operand = operand_at(x->m, x->i, k);
	if (!operand)
		return;
	if (operand->shape.dtype == DTYPE_TUPLE)
		traffic_add(x->t, traffic_of_tuple(x->costs, operand - x->m->instructions));
	else
		touch_shape(x, &operand->shape);
}

/* Part of an array: never more than the whole. */
static void touch_part(const struct touch *x, struct extent part, const struct shape *of)
{
	struct extent all = extent_of(of);
	if (part.whole || part.logical > all.logical)
		touch_shape(x, of);
	else
		touch_extent(x, part, of->memory_space);
}

/* Operands looked at for twins: above this an op is a concatenation, which has none. */
enum { MAX_TWINS = 16 };

static bool seen_before(const struct hlo_instruction *i, ptrdiff_t operand)
{
	for (ptrdiff_t k = 0; k < operand && operand < MAX_TWINS; k++)
		if (i->operands[k] == i->operands[operand])
			return true;
	return false;
}

static void touch_operands(const struct touch *x, ptrdiff_t from)
{
	for (ptrdiff_t k = from; k < x->i->operand_count; k++)
		if (!seen_before(x->i, k))
			touch_operand(x, k);
}

/* Results of start ops carry their operands and handles along: (destination, source, context). */
static const struct shape *result_part(const struct hlo_instruction *i)
{
	static const struct {
		enum hlo_op op;
		ptrdiff_t element; /* that is written */
	} parts[] = {
		{ HLO_COPY_START, 0 },
		{ HLO_ALL_GATHER_START, 1 },
		{ HLO_COLLECTIVE_PERMUTE_START, 1 },
		{ HLO_RECV, 0 },
	};
	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
		if (i->op == parts[k].op && parts[k].element < i->shape.element_count)
			return &i->shape.elements[parts[k].element];
	return i->op == HLO_SEND ? NULL : &i->shape;
}

static void touch_all(const struct touch *x)
{
	touch_operands(x, 0);
	touch_shape(x, result_part(x->i));
}

static void touch_result(const struct touch *x)
{
	touch_shape(x, &x->i->shape);
}

static void touch_nothing(const struct touch *x)
{
	(void)x;
}

static void touch_unknown(const struct touch *x)
{
	touch_all(x);
	x->t->bound = COST_UNKNOWN;
}

/* Slices and gathers: as much of the operand as the result holds, and the indices. */
static void touch_slice(const struct touch *x)
{
	const struct shape *from = operand_shape(x->m, x->i, 0);
	if (from)
		touch_part(x, extent_of(&x->i->shape), from);
	touch_operands(x, 1);
	touch_result(x);
}

/* The update is read and written; the array it goes into stays where it is. */
static void touch_update(const struct touch *x)
{
	const struct shape *update = operand_shape(x->m, x->i, 1);
	if (!update) {
		touch_unknown(x);
		return;
	}
	touch_operands(x, 1);
	touch_part(x, extent_of(update), &x->i->shape);
}

/* Operands: n arrays, indices, n updates.  Each element met is read, combined and written. */
static void touch_scatter(const struct touch *x)
{
	ptrdiff_t n = (x->i->operand_count - 1) / 2;
	touch_operands(x, n);
	for (ptrdiff_t k = 0; k < n; k++) {
		const struct shape *array = operand_shape(x->m, x->i, k),
				   *update = operand_shape(x->m, x->i, n + 1 + k);
		if (!array || !update)
			continue;
		touch_part(x, extent_of(update), array);
		touch_part(x, extent_of(update), array);
	}
}

static void touch_fusion_operands(const struct touch *x, const struct footprint *f)
{
	const struct extent whole = { .whole = true };
	for (ptrdiff_t k = 0; k < x->i->operand_count; k++) {
		const struct shape *s = operand_shape(x->m, x->i, k);
		if (s && s->dtype != DTYPE_TUPLE)
			touch_part(x, k < f->read_count ? f->reads[k] : whole, s);
		else
			touch_operand(x, k);
	}
}

static void touch_fusion(const struct touch *x)
{
	const struct hlo_instruction *i = x->i;
	if (!i->called_count || i->called[0] < 0) {
		touch_unknown(x);
		return;
	}
	const struct footprint *f = footprint_of(x->costs, i->called[0]);
	touch_fusion_operands(x, f);
	touch_extent(x, f->constants, 0);
	if (f->write_count != i->shape.leaves) {
		touch_result(x);
		return;
	}
	for (ptrdiff_t k = 0; k < f->write_count; k++)
		touch_part(x, f->writes[k], shape_leaf(&i->shape, k));
}

static void touch_callees(const struct touch *x)
{
	for (ptrdiff_t k = 0; k < x->i->called_count; k++) {
		struct traffic t = { .bound = COST_UNKNOWN };
		if (x->i->called[k] >= 0)
			t = traffic_of_callee(x->costs, x->i->called[k]);
		traffic_add(x->t, &t);
	}
}

static void touch_heaviest(const struct touch *x)
{
	struct traffic most = { .bound = x->i->called_count ? COST_EXACT : COST_UNKNOWN };
	for (ptrdiff_t k = 0; k < x->i->called_count; k++) {
		struct traffic t = { .bound = COST_UNKNOWN };
		if (x->i->called[k] >= 0)
			t = traffic_of_callee(x->costs, x->i->called[k]);
		enum cost_bound bound = worse(most.bound, t.bound);
		if (t.logical > most.logical)
			most = t;
		most.bound = bound;
	}
	traffic_add(x->t, &most);
}

static void touch_library(const struct touch *x)
{
	const struct library *l = library_find(x->i->custom_call_target);
	if (l->is_free)
		return;
	touch_operands(x, 0);
	for (ptrdiff_t k = 0; k < x->i->shape.leaves; k++)
		if (!is_workspace(x->i, k))
			touch_shape(x, shape_leaf(&x->i->shape, k));
	if (!l->work)
		x->t->bound = COST_UNKNOWN;
}

/* Rules not named here move every operand and every result. */
static void (*const touches[HLO_RULE_COUNT])(const struct touch *) = {
	[HLO_RULE_UNKNOWN] = touch_unknown,
	[HLO_RULE_FREE] = touch_nothing,
	[HLO_RULE_DONE] = touch_nothing,
	[HLO_RULE_CUSTOM_CALL] = touch_library,
	[HLO_RULE_SCATTER] = touch_scatter,
	[HLO_RULE_SLICE] = touch_slice,
	[HLO_RULE_GATHER] = touch_slice,
	[HLO_RULE_UPDATE] = touch_update,
	[HLO_RULE_GENERATE] = touch_result,
	[HLO_RULE_FUSION] = touch_fusion,
	[HLO_RULE_CALL] = touch_callees,
	[HLO_RULE_WRAPPER] = touch_callees,
	[HLO_RULE_CONDITIONAL] = touch_heaviest,
};

void traffic_of_result(struct hlo_costs *costs, const struct hlo_module *m,
	enum hlo_platform platform, const struct hlo_instruction *i, struct traffic *t)
{
	struct touch x = { costs, m, platform, i, t };
	touch_shape(&x, &i->shape);
}

/* What these move in or out of HBM goes over to the host, or comes from it. */
static bool is_with_host(const struct hlo_instruction *i, enum hlo_platform platform)
{
	bool feeds = i->op == HLO_INFEED || i->op == HLO_OUTFEED;
	bool sends = i->is_host_transfer && (i->op == HLO_SEND || i->op == HLO_RECV);
	return (feeds || sends) && platform != HLO_CPU;
}

void traffic_of(struct hlo_costs *costs, const struct hlo_module *m, enum hlo_platform platform,
	const struct hlo_instruction *i, struct traffic *t)
{
	struct touch x = { costs, m, platform, i, t };
	void (*touch)(const struct touch *) = touches[opcode_rule(i->op)];
	double before = t->hbm;
	(touch ? touch : touch_all)(&x);
	if (is_with_host(i, platform))
		t->host += t->hbm - before;
}
