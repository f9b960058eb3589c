/*
 * Bytes that an instruction moves, by memory space.
 *
 * Every operand is read once and every result written once, dense and padded; slices, updates and
 * gathers touch what they name.  What lies on chip costs no HBM: the copy that brought it paid.
 *
 * Source: XLA's HloCostAnalysis.
 */
#include <math.h>

#include "hlo/inside.h"
#include "hlo/walk.h"
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

struct extent extent_scaled(struct extent e, double factor)
{
	e.whole |= !isfinite(factor);
	if (e.whole || e.bound == COST_UNKNOWN)
		return e;
	e.logical *= factor;
	e.padded *= factor;
	return e;
}

struct extent extent_as(struct extent e, const struct shape *from, const struct shape *to)
{
	if (e.bound == COST_UNKNOWN)
		return e;
	double before = extent_of(from).logical / element_count(from);
	double after = extent_of(to).logical / element_count(to);
	return extent_scaled(e, after / before);
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

static void touch_extent(
	const struct hlo_costs *c, struct traffic *t, struct extent e, int64_t memory_space)
{
	struct traffic more = { .logical = e.logical, .padded = e.padded, .bound = e.bound };
	enum hlo_space space = hlo_space(memory_space, c->platform);
	if (space == SPACE_HBM) {
		more.hbm = e.logical;
		more.hbm_padded = e.padded;
	} else if (space == SPACE_HOST) {
		more.host = e.logical;
	}
	traffic_add(t, &more);
}

/* Recursion is bounded by SHAPE_MAX_DEPTH. */
static void touch_shape(const struct hlo_costs *c, struct traffic *t, const struct shape *s)
{
	if (s->dtype != DTYPE_TUPLE && s->dtype != DTYPE_BUFFER)
		touch_extent(c, t, extent_of(s), s->memory_space);
	for (ptrdiff_t i = 0; i < s->element_count; i++)
		touch_shape(c, t, &s->elements[i]);
}

/* Part of an array: never more than the whole. */
static void touch_part(
	const struct hlo_costs *c, struct traffic *t, struct extent part, const struct shape *of)
{
	if (part.whole || part.logical > extent_of(of).logical)
		touch_shape(c, t, of);
	else
		touch_extent(c, t, part, of->memory_space);
}

/* A tuple may have many users: what reading all of it takes is added up once. */
static void touch_operand(struct hlo_costs *c, struct traffic *t, ptrdiff_t operand)
{
	if (operand < 0)
		return;
	const struct shape *s = &c->m->instructions[operand].shape;
	struct traffic **tuple = &c->tuples[operand];
	if (s->dtype != DTYPE_TUPLE) {
		touch_shape(c, t, s);
		return;
	}
	if (!*tuple) {
		*tuple = arena_make(c->keep, struct traffic, 1);
		(*tuple)->bound = COST_EXACT;
		touch_shape(c, *tuple, s);
	}
	traffic_add(t, *tuple);
}

/* Operands looked at for twins: an op with more is a concatenation, which reads all of them. */
enum { MAX_TWINS = 16 };

static bool seen_before(const struct hlo_instruction *i, ptrdiff_t operand)
{
	for (ptrdiff_t k = 0; k < operand && operand < MAX_TWINS; k++)
		if (i->operands[k] == i->operands[operand])
			return true;
	return false;
}

static void touch_operands(
	struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t, ptrdiff_t from)
{
	for (ptrdiff_t k = from; k < i->operand_count; k++)
		if (!seen_before(i, k))
			touch_operand(c, t, i->operands[k]);
}

/* Results of start ops carry their operands and handles along: (destination, source, context). */
static const struct shape *result_part(const struct hlo_instruction *i)
{
	ptrdiff_t element = -1;
	if (i->op == HLO_COPY_START || i->op == HLO_RECV)
		element = 0;
	else if (i->op == HLO_ALL_GATHER_START || i->op == HLO_COLLECTIVE_PERMUTE_START)
		element = 1;
	return element >= 0 && element < i->shape.element_count ? &i->shape.elements[element]
								: &i->shape;
}

static void touch_all(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	touch_operands(c, i, t, 0);
	if (i->op != HLO_SEND)
		touch_shape(c, t, result_part(i));
}

static void touch_result(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	touch_shape(c, t, &i->shape);
}

static void touch_unknown(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	touch_all(c, i, t);
	t->bound = COST_UNKNOWN;
}

/*
 * Slices and gathers: as many elements of the operand as the result holds, and the indices.  A
 * TPU's gather may change their type.
 */
static void touch_slice(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	const struct shape *from = operand_shape(c->m, i, 0);
	if (from)
		touch_part(c, t, extent_as(extent_of(&i->shape), &i->shape, from), from);
	touch_operands(c, i, t, 1);
	touch_shape(c, t, &i->shape);
}

/* The update is read and written; the array it goes into stays where it is. */
static void touch_update(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	const struct shape *update = operand_shape(c->m, i, 1);
	if (!update) {
		touch_unknown(c, i, t);
		return;
	}
	touch_operands(c, i, t, 1);
	touch_part(c, t, extent_of(update), &i->shape);
}

/*
 * A combiner that hands the update on is how a scatter sets elements.  XLA counts a read of them
 * all the same.
 */
bool scatter_combines(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = called_at(m, i, 0);
	ptrdiff_t root =
		c && c->root >= 0 ? hlo_walk(m, c->root, THROUGH_BITCASTS | THROUGH_COPIES) : -1;
	return root < 0 || m->instructions[root].op != HLO_PARAMETER ||
	       m->instructions[root].parameter_number < (i->operand_count - 1) / 2;
}

/* Operands: n arrays, indices, n updates.  Each element met is written, and combined with what it
 * was before. */
static void touch_scatter(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	ptrdiff_t n = (i->operand_count - 1) / 2;
	touch_operands(c, i, t, n);
	for (ptrdiff_t k = 0; k < n; k++) {
		const struct shape *array = operand_shape(c->m, i, k),
				   *update = operand_shape(c->m, i, n + 1 + k);
		if (!array || !update)
			continue;
		touch_part(c, t, extent_of(update), array);
		if (scatter_combines(c->m, i))
			touch_part(c, t, extent_of(update), array);
	}
}

static void touch_fusion(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	const struct extent whole = { .whole = true };
	if (!i->called_count || i->called[0] < 0) {
		touch_unknown(c, i, t);
		return;
	}
	const struct footprint *f = footprint_of(c, i->called[0]);
	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		const struct shape *s = operand_shape(c->m, i, k);
		if (s && s->dtype != DTYPE_TUPLE)
			touch_part(c, t, k < f->read_count ? f->reads[k] : whole, s);
		else
			touch_operand(c, t, i->operands[k]);
	}
	touch_extent(c, t, f->constants, 0);
	if (f->write_count != i->shape.leaves) {
		touch_shape(c, t, &i->shape);
		return;
	}
	for (ptrdiff_t k = 0; k < f->write_count; k++)
		touch_part(c, t, f->writes[k], shape_leaf(&i->shape, k));
}

static struct traffic traffic_of_call(
	struct hlo_costs *c, const struct hlo_instruction *i, ptrdiff_t k)
{
	const struct hlo_computation *called = called_at(c->m, i, k);
	struct traffic sum = { .bound = called ? COST_EXACT : COST_UNKNOWN };
	if (!called)
		return sum;
	struct callee *callee = &c->callees[i->called[k]];
	if (callee->has_traffic)
		return callee->traffic;
	for (ptrdiff_t n = 0; n < called->count; n++)
		traffic_instruction(c, &c->m->instructions[called->first + n], &sum);
	callee->has_traffic = true;
	return callee->traffic = sum;
}

/* Of all it calls the sum. */
static void touch_callees(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	const struct shape *copy = hollow_copy(c->m, i);
	if (copy) {
		touch_part(c, t, extent_of(copy), operand_shape(c->m, i, 0));
		touch_shape(c, t, copy);
		return;
	}
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		struct traffic more = traffic_of_call(c, i, k);
		traffic_add(t, &more);
	}
}

static void touch_heaviest(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	struct traffic most = { .bound = i->called_count ? COST_EXACT : COST_UNKNOWN };
	for (ptrdiff_t k = 0; k < i->called_count; k++) {
		struct traffic more = traffic_of_call(c, i, k);
		enum cost_bound bound = worse(most.bound, more.bound);
		if (more.logical > most.logical)
			most = more;
		most.bound = bound;
	}
	traffic_add(t, &most);
}

static void touch_library(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	const struct library *l = library_find(i->custom_call_target);
	if (l->is_free)
		return;
	const struct shape *halved = l->halves ? operand_shape(c->m, i, 0) : NULL;
	if (halved)
		touch_part(c, t, extent_of(&i->shape), halved);
	touch_operands(c, i, t, halved ? 1 : 0);
	for (ptrdiff_t k = 0; k < i->shape.leaves; k++)
		if (!is_workspace(i, k))
			touch_shape(c, t, shape_leaf(&i->shape, k));
	if (!l->work)
		t->bound = COST_UNKNOWN;
}

/* Whose operands are not all read, or whose result is not all written. */
static traffic_fn *const rules[HLO_RULE_COUNT] = {
	[HLO_RULE_UNKNOWN] = touch_unknown,
	[HLO_RULE_GENERATE] = touch_result,
	[HLO_RULE_SLICE] = touch_slice,
	[HLO_RULE_UPDATE] = touch_update,
	[HLO_RULE_CUSTOM_CALL] = touch_library,
	[HLO_RULE_SCATTER] = touch_scatter,
	[HLO_RULE_FUSION] = touch_fusion,
	[HLO_RULE_CALL] = touch_callees,
	[HLO_RULE_CONDITIONAL] = touch_heaviest,
};

void traffic_instruction(struct hlo_costs *c, const struct hlo_instruction *i, struct traffic *t)
{
	enum hlo_rule rule = opcode_rule(i->op);
	traffic_fn *touch = rules[rule] ? rules[rule] : touch_all;
	double before = t->hbm;
	bool feeds = i->op == HLO_INFEED || i->op == HLO_OUTFEED;
	bool sends = i->is_host_transfer && (i->op == HLO_SEND || i->op == HLO_RECV);
	if (rule != HLO_RULE_FREE && rule != HLO_RULE_DONE)
		touch(c, i, t);
	/* What these move in or out of HBM goes over to the host, or comes from it. */
	if ((feeds || sends) && c->platform != HLO_CPU)
		t->host += t->hbm - before;
}
