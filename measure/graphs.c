/* Kernels of a graph against the schedule of their program.  See graphs.h. */
#include "measure/graphs.h"

/* A kernel's instruction is looked for among so many behind the last one's: a branch that does not
 * run is skipped so.  What stands further apart is not of one stretch of the schedule. */
#define LOOK_AHEAD 256

struct aligning {
	const struct hlo_module *m;
	const ptrdiff_t *order; /* of the schedule */
	ptrdiff_t order_count;
	struct map spelled; /* place in the order, by the name that its kernel would have */
	enum platform platform;
};

/* "loop_fusion.3" as a kernel's name. */
static struct str spelled_as_kernel(struct str name, struct arena *keep)
{
	struct str ret = arena_str(keep, name);

	for (ptrdiff_t i = 0; i < ret.len; i++)
		if (!is_letter(ret.p[i]) && !is_digit(ret.p[i]))
			((char *)ret.p)[i] = '_';
	return ret;
}

static const struct hlo_instruction *placed(const struct aligning *a, ptrdiff_t place)
{
	return &a->m->instructions[a->order[place]];
}

/* A kernel bears the name of the instruction, or of the one that runs beside the others. */
static void names_spell(struct aligning *a, ptrdiff_t place, struct arena *keep)
{
	const struct hlo_instruction *i = placed(a, place);

	map_put(&a->spelled, spelled_as_kernel(i->name, keep), (int32_t)place, keep);
	for (ptrdiff_t k = 0; i->op == HLO_ASYNC_START && k < i->called_count; k++) {
		if (i->called[k] < 0)
			continue;
		const struct hlo_computation *c = &a->m->computations[i->called[k]];
		for (ptrdiff_t n = c->first; n < c->first + c->count; n++)
			map_put(&a->spelled, spelled_as_kernel(a->m->instructions[n].name, keep),
				(int32_t)place, keep);
	}
}

/* XLA compiles it, and the kernel bears its name, unless it hands the fusion to a library. */
static bool is_compiled(const struct hlo_instruction *i)
{
	return i->op == HLO_FUSION;
}

/* A library runs it, or a copy.  What a loop or a branch holds has places of its own. */
static bool is_call(const struct hlo_instruction *i)
{
	return !is_compiled(i) && i->op != HLO_WHILE && i->op != HLO_CONDITIONAL;
}

/* One kernel may run both: they do the same to arrays of the same shapes. */
static bool alike(const struct hlo_module *m, const struct hlo_instruction *a,
	const struct hlo_instruction *b)
{
	if (a->op != b->op || !shape_equal(&a->shape, &b->shape, true) ||
		a->called_count != b->called_count)
		return false;
	for (ptrdiff_t k = 0; k < a->called_count; k++) {
		if (a->called[k] < 0 || b->called[k] < 0)
			return false;
		const struct hlo_computation *x = &m->computations[a->called[k]];
		const struct hlo_computation *y = &m->computations[b->called[k]];
		if (x->count != y->count)
			return false;
		for (ptrdiff_t i = 0; i < x->count; i++)
			if (m->instructions[x->first + i].op != m->instructions[y->first + i].op)
				return false;
	}
	return true;
}

/*
 * Where the instruction stands that a kernel runs behind `from`.  The kernel is named after the
 * first like it, at `named`: XLA compiles in the order of the schedule.
 */
static ptrdiff_t place_of(const struct aligning *a, ptrdiff_t from, ptrdiff_t named)
{
	const struct hlo_instruction *as = placed(a, named);

	for (ptrdiff_t i = from + 1; named <= from && i < a->order_count && i - from <= LOOK_AHEAD;
		i++)
		if (alike(a->m, placed(a, i), as))
			return i;
	return named;
}

/* Kernels without an instruction of their own: they prepare or end the work of the kernel beside
 * them (zeroes, sums of partial products), or hand the graph a loop's or a branch's condition. */
enum share { SHARE_NONE, SHARE_OF_NEXT, SHARE_OF_LAST, SHARE_OF_LOOP, SHARE_OF_BRANCH };

static enum share share_of(const struct profile_op *kernel)
{
	static const struct {
		struct str part;
		enum share share;
	} parts[] = {
		{ STR_INIT("Memset"), SHARE_OF_NEXT },
		{ STR_INIT("splitKreduce"), SHARE_OF_LAST },
		{ STR_INIT("set_while_condition"), SHARE_OF_LOOP },
		{ STR_INIT("set_for_condition"), SHARE_OF_LOOP },
		{ STR_INIT("set_if_condition"), SHARE_OF_BRANCH },
		{ STR_INIT("set_if_else_condition"), SHARE_OF_BRANCH },
		{ STR_INIT("set_case_condition"), SHARE_OF_BRANCH },
	};

	for (ptrdiff_t i = 0; i < COUNT_OF(parts); i++)
		if (str_contains(kernel->name, parts[i].part))
			return parts[i].share;
	return SHARE_NONE;
}

/* A loop's condition is computed inside it, a branch's before it. */
static ptrdiff_t condition_place(const struct aligning *a, enum share share, ptrdiff_t behind)
{
	ptrdiff_t at = behind;

	if (share == SHARE_OF_LOOP)
		while (at >= 0 && placed(a, at)->op != HLO_WHILE)
			at--;
	else
		while (++at < a->order_count && placed(a, at)->op != HLO_CONDITIONAL)
			;
	return at < a->order_count ? at : -1;
}

/* A slice of a stacked array may be a copy; so may anything that runs beside other work. */
static enum op_kind kind_of_call(const struct aligning *a, ptrdiff_t place)
{
	enum op_kind kind = hlo_kind(a->m, a->order[place]);
	bool tells = kind != KIND_CUSTOM &&
		     (placed(a, place)->op != HLO_ASYNC_START || op_kind_is_collective(kind));

	return tells ? kind : KIND_UNKNOWN;
}

/* Kernels of libraries that ran side by side, and the calls that may have launched them. */
struct stretch {
	enum op_kind *kernel_kinds, *call_kinds;
	enum share *shares;
	ptrdiff_t *calls; /* places in the order */
	ptrdiff_t kernel_count, call_count;
	ptrdiff_t whole; /* kernels that are no share of another */
};

static struct stretch stretch_read(const struct aligning *a,
	const struct profile_op *const *kernels, ptrdiff_t n, ptrdiff_t from, ptrdiff_t to,
	struct arena *keep)
{
	ptrdiff_t room = to - from > LOOK_AHEAD + n ? 0 : to - from - 1, launched = 0;
	bool by_calls = false;
	struct stretch s = { .kernel_count = n };

	s.kernel_kinds = arena_make(keep, enum op_kind, n);
	s.shares = arena_make(keep, enum share, n);
	for (ptrdiff_t k = 0; k < n; k++) {
		s.kernel_kinds[k] = kind_decide(NULL, -1, kernels[k], a->platform);
		s.shares[k] = share_of(kernels[k]);
		s.whole += s.shares[k] == SHARE_NONE;
	}
	s.calls = arena_make(keep, ptrdiff_t, room > 0 ? room : 1);
	s.call_kinds = arena_make(keep, enum op_kind, room > 0 ? room : 1);
	for (ptrdiff_t i = from + 1; i <= from + room; i++) {
		by_calls |= is_call(placed(a, i));
		launched += is_call(placed(a, i)) || is_compiled(placed(a, i));
	}
	/* A fusion that a library runs bears no name of its own either. */
	by_calls &= s.whole != launched;
	for (ptrdiff_t i = from + 1; i <= from + room; i++) {
		if (!is_call(placed(a, i)) && (by_calls || !is_compiled(placed(a, i))))
			continue;
		s.call_kinds[s.call_count] = kind_of_call(a, i);
		s.calls[s.call_count++] = i;
	}
	return s;
}

/* As many calls as kernels, and each may be the one in its place. */
static bool is_in_order(const struct stretch *s)
{
	bool ok = s->call_count == s->whole;

	for (ptrdiff_t k = 0, n = 0; k < s->kernel_count && ok; k++)
		if (s->shares[k] == SHARE_NONE) {
			enum op_kind is = s->kernel_kinds[k], asked = s->call_kinds[n++];
			ok = is == asked || is == KIND_UNKNOWN || asked == KIND_UNKNOWN;
		}
	return ok;
}

/* As many calls of a kind of work as kernels are these in order; one call has all kernels of its
 * kind.  `place` is by kernel. */
static void kinds_place(const struct stretch *s, ptrdiff_t *place)
{
	ptrdiff_t kernels[KIND_COUNT] = { 0 }, calls[KIND_COUNT] = { 0 }, next[KIND_COUNT] = { 0 };
	bool in_order = is_in_order(s);

	for (ptrdiff_t k = 0; k < s->kernel_count; k++)
		kernels[s->kernel_kinds[k]] += s->shares[k] == SHARE_NONE;
	for (ptrdiff_t i = 0; i < s->call_count; i++)
		calls[s->call_kinds[i]]++;
	for (ptrdiff_t k = 0, n = 0; k < s->kernel_count; k++) {
		enum op_kind kind = s->kernel_kinds[k];
		ptrdiff_t *at = &next[kind];
		place[k] = -1;
		if (s->shares[k] != SHARE_NONE)
			continue;
		if (in_order) {
			place[k] = s->calls[n++];
		} else if (calls[kind] == kernels[kind] || calls[kind] == 1) {
			while (s->call_kinds[*at] != kind)
				++*at;
			place[k] = s->calls[*at];
			*at += calls[kind] > 1;
		}
	}
}

/* A kernel whose name does not tell what it does belongs to the neighbouring call that takes more
 * than one kernel.  A product takes one, and its shares. */
static void unknown_place(
	const struct aligning *a, const struct stretch *s, ptrdiff_t *place, struct arena scratch)
{
	ptrdiff_t *behind = arena_make(&scratch, ptrdiff_t, s->kernel_count + 1);

	behind[s->kernel_count] = -1;
	for (ptrdiff_t k = s->kernel_count; k-- > 0;)
		behind[k] = place[k] >= 0 ? place[k] : behind[k + 1];
	for (ptrdiff_t k = 0; k < s->kernel_count; k++) {
		ptrdiff_t before = k > 0 ? place[k - 1] : -1;
		if (place[k] >= 0 || s->shares[k] != SHARE_NONE ||
			s->kernel_kinds[k] != KIND_UNKNOWN)
			continue;
		if (before >= 0 && kind_of_call(a, before) != KIND_MATMUL)
			place[k] = before;
		else if (behind[k] >= 0 && kind_of_call(a, behind[k]) != KIND_MATMUL)
			place[k] = behind[k];
	}
}

/* Instructions of `n` kernels of libraries, which ran between the places `from` and `to`; -1 for
 * what cannot be told. */
static void libraries_place(const struct aligning *a, const struct profile_op *const *kernels,
	ptrdiff_t n, ptrdiff_t from, ptrdiff_t to, ptrdiff_t *ret, struct arena scratch)
{
	struct stretch s = stretch_read(a, kernels, n, from, to, &scratch);

	kinds_place(&s, ret);
	unknown_place(a, &s, ret, scratch);
	for (ptrdiff_t k = 0; k < n; k++)
		if (s.shares[k] == SHARE_OF_LAST)
			ret[k] = k ? ret[k - 1] : from;
	for (ptrdiff_t k = n; k-- > 0;)
		if (s.shares[k] == SHARE_OF_NEXT)
			ret[k] = k + 1 < n ? ret[k + 1] : to < a->order_count ? to : -1;
	for (ptrdiff_t k = 0; k < n; k++)
		if (s.shares[k] == SHARE_OF_LOOP || s.shares[k] == SHARE_OF_BRANCH)
			ret[k] = condition_place(
				a, s.shares[k], k > 0 && ret[k - 1] >= 0 ? ret[k - 1] : from);
	for (ptrdiff_t k = 0; k < n; k++)
		ret[k] = ret[k] < 0 ? -1 : a->order[ret[k]];
}

void graph_align(const struct hlo_module *m, const struct profile_op *const *kernels,
	ptrdiff_t count, enum platform platform, ptrdiff_t *ret, struct arena scratch)
{
	ptrdiff_t *order, from = -1, first = 0;
	struct aligning a = { .m = m, .platform = platform };

	a.order_count = hlo_order(m, &scratch, &order);
	a.order = order;
	a.spelled = map_with_room(a.order_count, &scratch);
	for (ptrdiff_t i = 0; i < a.order_count; i++)
		names_spell(&a, i, &scratch);
	for (ptrdiff_t k = 0; k <= count; k++) {
		int32_t named = k < count ? map_get(&a.spelled, kernels[k]->name) : MAP_NONE;
		if (named < 0 && k < count)
			continue;
		ptrdiff_t to = k < count ? place_of(&a, from, named) : from, end = to;
		/* No compiled instruction before the first name is in the graph, and none behind
		 * the last, as where a loop begins again. */
		if (to <= from)
			for (end = from + 1; end < a.order_count && !is_compiled(placed(&a, end));)
				end++;
		if (!first)
			for (from = end - 1; from >= 0 && !is_compiled(placed(&a, from));)
				from--;
		if (k > first)
			libraries_place(
				&a, kernels + first, k - first, from, end, ret + first, scratch);
		if (k < count)
			ret[k] = a.order[to];
		from = to;
		first = k + 1;
	}
}

/* ---- the graphs of a plane ------------------------------------------------------------------ */

/* The kernels of one graph, which is one program's, in order. */
struct graph {
	int32_t first, latest; /* ops */
	ptrdiff_t count;
};

/* An op as a kernel of its graph; of none it is all 0. */
struct kernel {
	int32_t graph; /* and 1 */
	int32_t next;  /* op; -1 behind the last */
};

struct graphs {
	struct graph *items;
	ptrdiff_t count, cap;
	struct map of_id;
	struct kernel *kernels; /* by op */
	ptrdiff_t kernel_count, kernel_cap, node_count;
};

/* A node's number holds its graph's. */
static int64_t graph_of(const struct profile_op *op)
{
	return op->node >> 32;
}

/* The profile names the instruction: of a program that calls a command buffer it names that. */
static bool is_told(const struct hlo_module *m, const struct profile_op *op)
{
	ptrdiff_t at = hlo_find_exact(m, op->hlo_op);

	return at >= 0 && m->instructions[at].op != HLO_CALL;
}

/* A branch that was not taken at first stands where it was met: behind what ran before it. */
static void kernel_met(struct graphs *all, const struct plane *p, int32_t op, struct arena *scratch)
{
	while (all->kernel_count <= op)
		*arena_push(scratch, all->kernels, all->kernel_count, all->kernel_cap) =
			(struct kernel){ 0 };
	struct kernel *k = &all->kernels[op];
	if (!k->graph) {
		int32_t at = map_put_id(
			&all->of_id, graph_of(&p->ops[op]), (int32_t)all->count, scratch);
		bool is_new = at == all->count;
		struct graph *g = is_new ? arena_push(scratch, all->items, all->count, all->cap)
					 : &all->items[at];
		k->graph = at + 1;
		k->next = -1;
		if (is_new) {
			*g = (struct graph){ op, op, 0 };
		} else {
			k->next = all->kernels[g->latest].next;
			all->kernels[g->latest].next = op;
		}
		g->count++;
		all->node_count++;
	}
	all->items[k->graph - 1].latest = op;
}

/* The launch that a window begins with. */
struct launch {
	int64_t graph;	 /* 0: none is cut */
	int64_t last_ps; /* where its last kernel begins */
};

/* Its kernels, or all others. */
static void kernels_meet(struct graphs *all, struct plane *p, const struct launch *cut, bool of_it,
	struct arena *scratch)
{
	struct merge *merge = merge_new(p, scratch);
	const struct op_event *e;

	while ((e = merge_next(merge)) && (!of_it || e->start_ps <= cut->last_ps)) {
		const struct profile_op *op = e->op >= 0 ? &p->ops[e->op] : NULL;
		if (op && op->node &&
			of_it == (graph_of(op) == cut->graph && e->start_ps <= cut->last_ps))
			kernel_met(all, p, e->op, scratch);
	}
	merge_free(merge);
}

/* None where kernels do not say which launch they are of. */
static struct launch first_launch(const struct plane *p, struct arena scratch)
{
	struct event *e = arena_make(&scratch, struct event, 1);
	struct launch ret = { 0, INT64_MIN };
	int64_t launch = 0, begin_ps = INT64_MAX;

	for (int turn = 0; turn < 2; turn++) /* which it is; how far it goes */
		for (ptrdiff_t i = 0; i < p->lane_count; i++) {
			struct arena work = scratch;
			uint64_t node = STAT_BIT(CUDA_GRAPH_NODE_ID);
			struct cursor *c = p->lanes[i].class == LANE_STREAM
						   ? cursor_new(p, &p->lanes[i],
							     STAT_BIT(CORRELATION_ID) | node, &work)
						   : NULL;
			while (c && cursor_next(c, e) &&
				e->stats.present & STAT_BIT(CORRELATION_ID)) {
				int64_t of = e->stats.at[STAT_CORRELATION_ID].i64;
				if (turn == 0 && e->start_ps < begin_ps) {
					begin_ps = e->start_ps;
					launch = of;
					ret.graph = e->stats.present & node
							    ? e->stats.at[STAT_CUDA_GRAPH_NODE_ID]
									      .i64 >>
								      32
							    : 0;
				}
				if (turn == 0 || of != launch)
					break;
				ret.last_ps = e->start_ps > ret.last_ps ? e->start_ps : ret.last_ps;
			}
		}
	return ret;
}

/*
 * A window may begin within a launch, whose kernels then come from the middle of their graph on:
 * the order is that of later launches, and the first one tells only of what did not run again.
 */
void graphs_read(struct plane *p, struct registry *r, struct arena scratch)
{
	struct graphs all = { 0 };
	struct launch cut = first_launch(p, scratch);

	kernels_meet(&all, p, &cut, false, &scratch);
	kernels_meet(&all, p, &cut, true, &scratch);
	int64_t *nodes = arena_make(&scratch, int64_t, all.node_count);
	struct str *ops = arena_make(&scratch, struct str, all.node_count);
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 0; i < all.count; i++) {
		const struct graph *g = &all.items[i];
		const struct profile_op **kernels =
			arena_make(&scratch, const struct profile_op *, g->count);
		ptrdiff_t *runs = arena_make(&scratch, ptrdiff_t, g->count), count = 0;
		for (int32_t op = g->first; op >= 0; op = all.kernels[op].next)
			kernels[count++] = &p->ops[op];
		const struct hlo_module *m = registry_hlo(r, p, kernels[0]);
		bool aligned = m && !is_told(m, kernels[0]);
		if (aligned)
			graph_align(m, kernels, count, p->platform, runs, scratch);
		for (ptrdiff_t k = 0; k < count; k++) {
			nodes[n] = kernels[k]->node;
			ops[n++] = aligned && runs[k] >= 0	 ? m->instructions[runs[k]].name
				   : m && is_told(m, kernels[k]) ? kernels[k]->hlo_op
								 : MISSING;
		}
	}
	registry_keep_nodes(r, p, nodes, ops, n);
}
