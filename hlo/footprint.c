/*
 * What a fusion touches of its operands and results.
 *
 * Each value is asked for as much of itself as its readers need, from the results back to the
 * parameters: a slice or a gather needs what it takes, elementwise ops and moves need of their
 * operands what is needed of them, in the operand's type.  A result that updates a parameter in
 * place costs the update.  Everything between parameters and results stays on chip.
 *
 * Source: HloCostAnalysis::HandleFusion and FusionCalculateUtilizations, which look at the direct
 * readers of a parameter only.
 */
#include <math.h>

#include "hlo/walk.h"
#include "hlo/work.h"

enum { VIEWS = THROUGH_BITCASTS | THROUGH_RESHAPES };

/* Updates chained onto one buffer; a fusion of more is not taken for in-place. */
enum { MAX_CHAIN = 64 };

/* What readers need of a value. */
struct need {
	struct extent part;
	/*
	 * 1 + the instruction that all of it comes from, SEVERAL, or 0.  Elementwise ops hand on
	 * the same elements: of x in gather(x * logistic(x)) they are read once.
	 */
	ptrdiff_t from;
	bool has_reader, in_place; /* an update that writes where it reads */
};
enum { SEVERAL = -1 };

struct walk {
	struct hlo_costs *costs;
	const struct hlo_module *m;
	const struct hlo_computation *c;
	struct footprint *f;
	struct need *needs; /* per instruction of c */
};

static const struct extent whole = { .whole = true, .bound = COST_EXACT };
static const struct extent nothing = { .bound = COST_EXACT };

static const struct footprint *footprint_of_element(struct hlo_costs *c, ptrdiff_t computation);

/* The operand that holds what an in-place op writes; NULL for other ops. */
static const struct shape *update_shape(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (i->op == HLO_DYNAMIC_UPDATE_SLICE)
		return operand_shape(m, i, 1);
	if (i->op == HLO_SCATTER && i->operand_count == 3)
		return operand_shape(m, i, 2);
	return NULL;
}

/* What an op writes in place: a fusion what the one inside of it writes. */
struct update {
	ptrdiff_t into; /* the instruction whose memory it is, through views */
	struct extent part;
};

static bool update_at(const struct walk *w, ptrdiff_t i, struct update *ret)
{
	const struct hlo_instruction *x = &w->m->instructions[i];
	const struct shape *update = update_shape(w->m, x);
	ptrdiff_t operand = 0;
	if (update) {
		ret->part = extent_of(update);
	} else if (x->op == HLO_FUSION && x->called_count && x->called[0] >= 0) {
		const struct footprint *inner = footprint_of(w->costs, x->called[0]);
		operand = inner->base;
		if (operand >= 0)
			ret->part = inner->writes[0];
	} else {
		return false;
	}
	if (operand < 0 || operand >= x->operand_count)
		return false;
	ret->into = hlo_walk(w->m, x->operands[operand], VIEWS);
	return true;
}

/* The end of a chain of updates that starts at `i`: what the first of them updates. */
static ptrdiff_t chain_base(const struct walk *w, ptrdiff_t i)
{
	struct update u;
	for (int n = 0; n < MAX_CHAIN && i >= 0; n++) {
		if (!update_at(w, i, &u))
			return i;
		i = u.into;
	}
	return -1;
}

static struct extent chain_mark(struct walk *w, ptrdiff_t i)
{
	struct extent e = nothing;
	struct update u;
	for (; update_at(w, i, &u); i = u.into) {
		extent_add(&e, u.part);
		w->needs[i - w->c->first].in_place = true;
	}
	return e;
}

/* What an update may write into without writing the rest of it: XLA:TPU allocates inside of
 * fusions too. */
static bool is_memory(const struct hlo_instruction *i)
{
	return i->op == HLO_PARAMETER || (i->op == HLO_CUSTOM_CALL && !i->operand_count &&
						 library_find(i->custom_call_target)->is_free);
}

static struct extent written(struct walk *w, ptrdiff_t i, ptrdiff_t *base)
{
	i = hlo_walk(w->m, i, VIEWS);
	*base = i >= 0 ? chain_base(w, i) : -1;
	if (*base < 0 || *base == i || !is_memory(&w->m->instructions[*base]))
		return whole;
	return chain_mark(w, i);
}

static void need(struct walk *w, ptrdiff_t value, struct extent part, ptrdiff_t from)
{
	if (value < 0)
		return;
	struct need *n = &w->needs[value - w->c->first];
	n->has_reader = true;
	if (!part.whole && part.logical <= 0 && part.bound == COST_EXACT)
		return;
	if (n->from == from) {
		n->part.logical = fmax(n->part.logical, part.logical);
		n->part.padded = fmax(n->part.padded, part.padded);
		n->part.whole |= part.whole;
		n->part.bound = worse(n->part.bound, part.bound);
	} else {
		extent_add(&n->part, part);
		n->from = n->from ? SEVERAL : from;
	}
}

/* One extent per result leaf; a root that is no tuple of arrays writes all of them whole. */
static void write_extents(struct walk *w, struct arena *keep)
{
	const struct hlo_instruction *root = &w->m->instructions[w->c->root];
	struct footprint *f = w->f;
	bool tuple = root->op == HLO_TUPLE && root->operand_count == root->shape.leaves;
	f->write_count = tuple || root->shape.dtype != DTYPE_TUPLE ? root->shape.leaves : 0;
	f->writes = arena_make(keep, struct extent, f->write_count);
	for (ptrdiff_t i = 0; i < f->write_count; i++) {
		ptrdiff_t leaf = tuple ? root->operands[i] : w->c->root, base;
		f->writes[i] = written(w, leaf, &base);
		bool updates = f->write_count == 1 && !f->writes[i].whole;
		if (updates && w->m->instructions[base].op == HLO_PARAMETER)
			f->base = w->m->instructions[base].parameter_number;
		need(w, leaf, f->writes[i].whole ? whole : nothing, leaf + 1);
	}
	if (!f->write_count)
		need(w, w->c->root, whole, w->c->root + 1);
}

/* ---- what an op needs of its operands -------------------------------------------------------- */

/* The same share of another array. */
static struct extent share_of(struct extent part, const struct shape *from, const struct shape *to)
{
	return extent_scaled(part, extent_of(to).logical / extent_of(from).logical);
}

/* Without padding, which depends on where the element lies. */
static struct extent element_extent(const struct shape *s)
{
	struct extent e = extent_of(s);
	e.logical /= element_count(s);
	e.padded = e.logical;
	return e;
}

static struct extent needed_by_update(
	const struct walk *w, const struct hlo_instruction *x, ptrdiff_t k, const struct need *n)
{
	const struct shape *update = update_shape(w->m, x);
	if (!update || k > 1)
		return whole;
	if (k == 1)
		return n->in_place ? whole : n->part;
	if (!n->part.whole)
		return n->part;
	/* What is left of the array when the update has taken its place. */
	struct extent rest = extent_of(&x->shape), taken = extent_of(update);
	rest.logical = fmax(0, rest.logical - taken.logical);
	rest.padded = fmax(0, rest.padded - taken.padded);
	rest.bound = worse(rest.bound, taken.bound);
	return rest;
}

/* Of an updated array the elements that a scatter combines with its updates are read. */
static struct extent needed_by_scatter(
	const struct walk *w, const struct hlo_instruction *x, ptrdiff_t k, const struct need *n)
{
	struct extent part = n->part;
	if (k || x->operand_count != 3)
		return whole;
	if (n->in_place && update_shape(w->m, x) && scatter_combines(w->m, x))
		extent_add(&part, extent_of(update_shape(w->m, x)));
	return part;
}

/*
 * Of less than the whole result as many times what one element of it takes.  What it updates it
 * takes whole, unless that stays where it is.
 */
static struct extent needed_by_fusion(
	const struct walk *w, const struct hlo_instruction *x, ptrdiff_t k, const struct need *n)
{
	if (!x->called_count || x->called[0] < 0)
		return whole;
	const struct footprint *all = footprint_of(w->costs, x->called[0]);
	if (k >= all->read_count)
		return whole;
	struct extent most = k == all->base && !n->in_place ? whole : all->reads[k];
	if (n->part.whole || n->in_place || x->shape.dtype == DTYPE_TUPLE)
		return most;
	const struct footprint *one = footprint_of_element(w->costs, x->called[0]);
	double size = element_extent(&x->shape).logical;
	struct extent part = extent_scaled(one->reads[k], n->part.logical / size);
	part.padded = one->reads[k].padded * n->part.padded / size;
	bool less = !part.whole && (most.whole || part.logical < most.logical);
	return less ? part : most;
}

static bool keeps_elements(enum hlo_op op)
{
	enum hlo_rule rule = opcode_rule(op);
	enum op_kind kind = opcode_kind(op);
	bool hands_on = rule == HLO_RULE_ELEMENTWISE || rule == HLO_RULE_TRANSCENDENTAL ||
			rule == HLO_RULE_MOVE;
	return hands_on && (kind == KIND_ELEMENTWISE || kind == KIND_COPY);
}

static struct extent needed_of(
	const struct walk *w, const struct hlo_instruction *x, ptrdiff_t k, const struct need *n)
{
	const struct shape *from = &x->shape, *to = operand_shape(w->m, x, k);
	if (!to)
		return whole;
	switch (opcode_rule(x->op)) {
	case HLO_RULE_SLICE:
		if (k)
			return whole;
		return extent_as(n->part.whole ? extent_of(from) : n->part, from, to);
	case HLO_RULE_UPDATE:
		return needed_by_update(w, x, k, n);
	case HLO_RULE_SCATTER:
		return needed_by_scatter(w, x, k, n);
	case HLO_RULE_REDUCE:
		return k < x->operand_count / 2 ? share_of(n->part, from, to) : whole;
	case HLO_RULE_FUSION:
		return needed_by_fusion(w, x, k, n);
	default:
		break;
	}
	if (x->op == HLO_BITCAST || x->op == HLO_BITCAST_CONVERT || x->op == HLO_RESHAPE)
		return share_of(n->part, from, to);
	/* Padding is read from nowhere.  Of a part so much is the operand's as of the whole: as a
	 * mean of all places where the part may lie. */
	if (x->op == HLO_PAD && k == 0 && element_count(to) < element_count(from))
		return share_of(n->part, from, to);
	return keeps_elements(x->op) ? extent_as(n->part, from, to) : whole;
}

/* A sum of parts that is as much as the array is the array. */
static void settle(struct need *n, const struct shape *s)
{
	struct extent all = extent_of(s);
	n->part.whole |= s->dtype == DTYPE_TUPLE || n->part.logical >= all.logical;
	n->part.padded = fmin(n->part.padded, all.padded);
}

static void ask_operands(struct walk *w, ptrdiff_t at)
{
	const struct hlo_instruction *x = &w->m->instructions[w->c->first + at];
	struct need *n = &w->needs[at];
	enum hlo_rule rule = opcode_rule(x->op);
	bool hands_on = rule == HLO_RULE_ELEMENTWISE || rule == HLO_RULE_TRANSCENDENTAL;
	ptrdiff_t from = hands_on && n->from != SEVERAL ? n->from : w->c->first + at + 1;
	for (ptrdiff_t k = 0; k < x->operand_count; k++) {
		bool asks = n->from || n->in_place;
		need(w, x->operands[k], asks ? needed_of(w, x, k, n) : nothing, from);
	}
}

/* Operands come before their users: one pass back sees every reader of a value before it. */
static void read_extents(struct walk *w)
{
	for (ptrdiff_t at = w->c->count - 1; at >= 0; at--) {
		const struct hlo_instruction *x = &w->m->instructions[w->c->first + at];
		struct need *n = &w->needs[at];
		bool is_root = w->c->first + at == w->c->root;
		if (!n->has_reader && !is_root && x->op != HLO_PARAMETER)
			need(w, w->c->first + at, whole, w->c->first + at + 1);
		if (n->from)
			settle(n, &x->shape);
		if (x->op == HLO_PARAMETER && x->parameter_number >= 0 &&
			x->parameter_number < w->f->read_count)
			extent_add(&w->f->reads[x->parameter_number], n->part);
		else if (x->op == HLO_CONSTANT && shape_elements(&x->shape) > 1) /* a large one */
			extent_add(
				&w->f->constants, n->part.whole ? extent_of(&x->shape) : n->part);
		else if (!is_root || x->op != HLO_TUPLE || !w->f->write_count)
			ask_operands(w, at);
	}
}

static struct footprint *footprint_new(struct hlo_costs *c, ptrdiff_t computation, bool of_element)
{
	struct walk w = { .costs = c, .m = c->m, .c = &c->m->computations[computation] };
	w.f = arena_make(c->keep, struct footprint, 1);
	w.f->base = -1;
	w.f->constants = nothing;
	for (ptrdiff_t i = w.c->first; i < w.c->first + w.c->count; i++)
		w.f->read_count += c->m->instructions[i].op == HLO_PARAMETER;
	w.f->reads = arena_make(c->keep, struct extent, w.f->read_count);
	for (ptrdiff_t i = 0; i < w.f->read_count; i++)
		w.f->reads[i] = nothing;
	w.needs = arena_make(c->keep, struct need, w.c->count);
	for (ptrdiff_t i = 0; i < w.c->count; i++)
		w.needs[i].part = nothing;
	if (w.c->root >= 0 && of_element)
		need(&w, w.c->root, element_extent(&c->m->instructions[w.c->root].shape),
			w.c->root + 1);
	else if (w.c->root >= 0)
		write_extents(&w, c->keep);
	read_extents(&w);
	return w.f;
}

const struct footprint *footprint_of(struct hlo_costs *c, ptrdiff_t computation)
{
	struct callee *callee = &c->callees[computation];
	if (!callee->footprint)
		callee->footprint = footprint_new(c, computation, false);
	return callee->footprint;
}

/* What one element of the result takes of the parameters. */
static const struct footprint *footprint_of_element(struct hlo_costs *c, ptrdiff_t computation)
{
	struct callee *callee = &c->callees[computation];
	if (!callee->element)
		callee->element = footprint_new(c, computation, true);
	return callee->element;
}
