/*
 * What a fusion touches of its operands and results.
 *
 * A parameter that is only sliced or gathered from costs its slices; a result that updates a
 * parameter in place costs the update.  Everything between parameters and results stays on chip.
 *
 * Source: HloCostAnalysis::HandleFusion and FusionCalculateUtilizations.
 */
#include "hlo/walk.h"
#include "hlo/work.h"

enum { VIEWS = THROUGH_BITCASTS | THROUGH_RESHAPES };

/* Updates chained onto one buffer; a fusion of more is not taken for in-place. */
enum { MAX_CHAIN = 64 };

struct walk {
	const struct hlo_module *m;
	const struct hlo_computation *c;
	struct footprint *f;
	ptrdiff_t *view; /* per instruction of c: 1 + the parameter it is a view of, or 0 */
	bool *in_place;	 /* per instruction of c: an update that writes where it reads */
};

/* The operand that holds what an in-place op writes; NULL for other ops. */
static const struct shape *update_shape(const struct hlo_module *m, const struct hlo_instruction *i)
{
	if (i->op == HLO_DYNAMIC_UPDATE_SLICE)
		return operand_shape(m, i, 1);
	if (i->op == HLO_SCATTER && i->operand_count == 3)
		return operand_shape(m, i, 2);
	return NULL;
}

static ptrdiff_t first_operand(const struct walk *w, ptrdiff_t i)
{
	const struct hlo_instruction *x = &w->m->instructions[i];
	return x->operand_count ? hlo_walk(w->m, x->operands[0], VIEWS) : -1;
}

/* The end of a chain of updates that starts at `i`: what the first of them updates. */
static ptrdiff_t chain_base(const struct walk *w, ptrdiff_t i)
{
	for (int n = 0; n < MAX_CHAIN && i >= 0; n++) {
		if (!update_shape(w->m, &w->m->instructions[i]))
			return i;
		i = first_operand(w, i);
	}
	return -1;
}

static struct extent chain_mark(struct walk *w, ptrdiff_t i)
{
	struct extent e = { .bound = COST_EXACT };
	const struct shape *update;
	while ((update = update_shape(w->m, &w->m->instructions[i]))) {
		extent_add(&e, extent_of(update));
		w->in_place[i - w->c->first] = true;
		i = first_operand(w, i);
	}
	return e;
}

static struct extent written(struct walk *w, ptrdiff_t i)
{
	const struct extent whole = { .whole = true, .bound = COST_EXACT };
	i = hlo_walk(w->m, i, VIEWS);
	if (i < 0 || !update_shape(w->m, &w->m->instructions[i]))
		return whole;
	ptrdiff_t base = chain_base(w, i);
	if (base < 0 || w->m->instructions[base].op != HLO_PARAMETER)
		return whole;
	return chain_mark(w, i);
}

/* One extent per result leaf; a root that is no tuple of arrays writes all of them whole. */
static void write_extents(struct walk *w, struct arena *keep)
{
	const struct hlo_instruction *root = &w->m->instructions[w->c->root];
	struct footprint *f = w->f;
	bool tuple = root->op == HLO_TUPLE && root->operand_count == root->shape.leaves;
	f->write_count = tuple || root->shape.dtype != DTYPE_TUPLE ? root->shape.leaves : 0;
	f->writes = arena_make(keep, struct extent, f->write_count);
	for (ptrdiff_t i = 0; i < f->write_count; i++)
		f->writes[i] = written(w, tuple ? root->operands[i] : w->c->root);
}

static void read_extent(const struct walk *w, struct hlo_costs *costs,
	const struct hlo_instruction *user, ptrdiff_t operand, struct extent *e)
{
	ptrdiff_t at = user - &w->m->instructions[w->c->first];
	enum hlo_rule rule = opcode_rule(user->op);
	if (operand == 0 && rule == HLO_RULE_SLICE) {
		extent_add(e, extent_of(&user->shape));
	} else if (operand == 0 && w->in_place[at]) {
		if (rule == HLO_RULE_SCATTER)
			extent_add(e, extent_of(update_shape(w->m, user)));
	} else if (rule == HLO_RULE_FUSION && user->called_count && user->called[0] >= 0) {
		const struct footprint *inner = footprint_of(costs, user->called[0]);
		if (operand < inner->read_count)
			extent_add(e, inner->reads[operand]);
		else
			e->whole = true;
	} else {
		e->whole = true;
	}
}

/* Operands come before their users, so one pass in order sees every view first. */
static void read_extents(struct walk *w, struct hlo_costs *costs)
{
	for (ptrdiff_t at = 0; at < w->c->count; at++) {
		const struct hlo_instruction *x = &w->m->instructions[w->c->first + at];
		if (x->op == HLO_PARAMETER && x->parameter_number >= 0 &&
			x->parameter_number < w->f->read_count)
			w->view[at] = (ptrdiff_t)x->parameter_number + 1;
		if (x->op == HLO_CONSTANT && shape_elements(&x->shape) > 1) /* a large one */
			extent_add(&w->f->constants, extent_of(&x->shape));
		for (ptrdiff_t k = 0; k < x->operand_count; k++) {
			ptrdiff_t view =
				x->operands[k] < 0 ? 0 : w->view[x->operands[k] - w->c->first];
			if (view && hlo_seen_through(x->op) & VIEWS)
				w->view[at] = view;
			else if (view)
				read_extent(w, costs, x, k, &w->f->reads[view - 1]);
		}
	}
}

const struct footprint *footprint_of(struct hlo_costs *c, ptrdiff_t computation)
{
	struct walk w = { .m = c->m, .c = &c->m->computations[computation] };
	if (c->callees[computation].footprint)
		return c->callees[computation].footprint;
	w.f = arena_make(c->keep, struct footprint, 1);
	w.f->constants.bound = COST_EXACT;
	for (ptrdiff_t i = w.c->first; i < w.c->first + w.c->count; i++)
		w.f->read_count += c->m->instructions[i].op == HLO_PARAMETER;
	w.f->reads = arena_make(c->keep, struct extent, w.f->read_count);
	for (ptrdiff_t i = 0; i < w.f->read_count; i++)
		w.f->reads[i].bound = COST_EXACT;
	w.view = arena_make(c->keep, ptrdiff_t, w.c->count);
	w.in_place = arena_make(c->keep, bool, w.c->count);
	if (w.c->root >= 0)
		write_extents(&w, c->keep);
	read_extents(&w, c);
	if (w.c->root >= 0 && w.view[w.c->root - w.c->first])
		w.f->reads[w.view[w.c->root - w.c->first] - 1].whole = true;
	return c->callees[computation].footprint = w.f;
}
