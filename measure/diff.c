/* Two runs, op by op.  See diff.h. */
#include "measure/diff.h"

#include <math.h>

#include "base/kind.h"
#include "base/map.h"
#include "base/out.h"
#include "base/stats.h"

/* Less is not worth a line, however sure it is. */
#define CHANGE_LEAST 0.02

/* Sums of the same numbers in another order, or scaled, differ by less. */
#define ROUNDING 1e-9

/* All ops of one key in one run. */
struct group {
	const struct ops_row *op; /* the heaviest; NULL: there is none */
	double step_s, count;
	ptrdiff_t ops;
	bool is_timed; /* of one of them at least the time is known */
};

/* One op, before and after. */
struct match {
	struct group base, head;
	enum change change;
	bool is_piece;	    /* part of another match: split, or changed */
	struct str purpose; /* what pairs it with others */
	double split_s;	    /* SPLIT: time of all pieces */
	struct str pieces;
	bool is_joined; /* CHANGED: groups of several ops */
};

struct matches {
	struct match *items; /* by key */
	ptrdiff_t count;
};

/* Some of the matches, in an order of their own. */
struct match_list {
	struct match **items;
	ptrdiff_t count;
};

/* The heaviest first. */
static int by_weight(const struct group *x, const struct group *y)
{
	int order = order_numbers(y->step_s, x->step_s);

	return order ? order : str_cmp(x->op->name, y->op->name);
}

/* Adds a group to others, which are named after the first. */
static bool group_add(struct group *all, const struct group *g)
{
	if (!g->op)
		return false;
	all->op = all->op ? all->op : g->op;
	all->step_s += g->step_s;
	all->count += g->count;
	all->ops += g->ops;
	all->is_timed |= g->is_timed;
	return true;
}

struct sided_op {
	struct group op; /* alone */
	bool is_head;
};

static int by_key(const void *a, const void *b)
{
	const struct sided_op *x = a, *y = b;
	int order = str_cmp(x->op.op->key, y->op.op->key);

	order = order ? order : x->is_head - y->is_head;
	return order ? order : by_weight(&x->op, &y->op);
}

static ptrdiff_t ops_read(const struct tables *t, bool is_head, struct sided_op *ret)
{
	ptrdiff_t n = 0;
	bool planned = is_planned(t);

	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct ops_row *op = &table_rows(t, ops)[i];
		double s = (planned ? op->common->roofline_s : op->mean_s) * op->common->per_step;
		double count = isnan(op->common->per_step) ? 0 : op->common->per_step;
		if (op->key.p)
			ret[n++] = (struct sided_op){ { op, isnan(s) ? 0 : s, count, 1, !isnan(s) },
				is_head };
	}
	return n;
}

/* The ops of both runs, by key. */
static struct matches match_ops(
	const struct tables *base, const struct tables *head, struct arena *keep)
{
	ptrdiff_t most = table_count(base, ops) + table_count(head, ops);
	struct matches all = { arena_make(keep, struct match, most + 1), 0 };
	struct arena scratch = *keep;
	struct sided_op *ops = arena_make(&scratch, struct sided_op, most + 1);
	ptrdiff_t n = ops_read(base, false, ops);

	n += ops_read(head, true, ops + n);
	sort_by(ops, n, by_key);
	for (ptrdiff_t i = 0; i < n; i++) {
		all.count += i == 0 || !str_eq(ops[i - 1].op.op->key, ops[i].op.op->key);
		struct match *m = &all.items[all.count - 1];
		group_add(ops[i].is_head ? &m->head : &m->base, &ops[i].op);
	}
	return all;
}

/* ---- what changed --------------------------------------------------------------------------- */

/* Does how often an op runs make more of its change than how long it takes? */
static bool is_of_runs(const struct group *base, const struct group *head)
{
	double times = head->step_s / base->step_s, runs = head->count / base->count;

	return base->count > 0 && (times > 1 ? runs * runs > times : runs * runs < times);
}

static enum change change_of(const struct group *base, const struct group *head)
{
	double lost = head->step_s - base->step_s;
	const struct ops_row *a = base->op, *b = head->op;

	if (!a || !b)
		return a ? CHANGE_GONE : CHANGE_NEW;
	/* Unknown intervals do not stand in the way. */
	bool intervals_meet = a->lo_s <= b->hi_s && b->lo_s <= a->hi_s;
	/* One slow device makes the intervals of all together wide, not those of each. */
	bool apart = a->most_s < b->least_s || b->most_s < a->least_s;
	if (!base->is_timed || !head->is_timed ||
		fabs(lost) <= CHANGE_LEAST * fmin(base->step_s, head->step_s) ||
		(fabs(head->count - base->count) <= ROUNDING * base->count && intervals_meet &&
			!apart))
		return CHANGE_SAME;
	if (is_of_runs(base, head))
		return lost > 0 ? CHANGE_MORE : CHANGE_FEWER;
	return lost > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

static const struct group *group_of(const struct match *m)
{
	return m->head.op ? &m->head : &m->base;
}

static bool is_new(const struct match *m)
{
	return m->change == CHANGE_NEW;
}

static bool is_alone(const struct match *m)
{
	return is_new(m) || m->change == CHANGE_GONE;
}

/* ---- what ops have in common ----------------------------------------------------------------- */

/* What a name says without its numbers: a kernel's block sizes, an instruction's id. */
static struct str stem_of(struct str name, struct arena *keep)
{
	struct out *o = out_memory(keep);

	for (ptrdiff_t i = 0; i < name.len; i++)
		if (name.p[i] != '.' && (name.p[i] < '0' || name.p[i] > '9'))
			out_char(o, name.p[i]);
	return out_text(o);
}

/* A shape without its layouts. */
static struct str dims_of(struct str shape, struct arena *keep)
{
	struct out *o = out_memory(keep);
	int depth = 0;

	for (ptrdiff_t i = 0; i < shape.len; i++) {
		depth += shape.p[i] == '{';
		if (!depth)
			out_char(o, shape.p[i]);
		depth -= shape.p[i] == '}' && depth > 0;
	}
	return out_text(o);
}

static struct str line_of(const struct ops_row *op, struct arena *keep)
{
	bool users = op->common->user_file.len > 0;
	struct str file = users ? op->common->user_file : op->common->source_file;

	return file.len ? arena_fmt(keep, "%.*s:%.0f", STR_ARG(file),
				  users ? op->common->user_line : op->common->source_line)
			: MISSING;
}

/* Does the name come from the author of the kernel, and not from what XLA makes it of? */
static bool has_own_name(const struct ops_row *op, struct arena *keep)
{
	struct str stem = stem_of(op->name, keep);

	return !str_eq(op->common->opcode, STR("fusion")) && !str_starts(stem, op->common->opcode);
}

/*
 * The part of the model that an op of the matrix units works for: the first part of its scope that
 * is no function's transformation, "Linear" of "jit(step)/Linear/dot_general".
 */
static struct str layer_of(const struct ops_row *op)
{
	enum op_kind k = op_kind_find(op->common->kind);
	bool works = k == KIND_MATMUL || k == KIND_CONVOLUTION || k == KIND_ATTENTION ||
		     k == KIND_CUSTOM;
	struct str rest = op->scope, part;

	while (works && str_cut(rest, '/', &part, &rest))
		if (str_find_char(part, '(') < 0)
			return part;
	return MISSING;
}

/*
 * A scope without numbers, and without what a loop adds to it: "jit f transpose jvp block dot" of
 * "jit(f)/transpose(jvp(block))/dot", and of the same in a loop,
 * "jit(f)/transpose(jvp())/while/body/closed_call/block/dot".
 */
static struct str role_of(struct str scope, struct arena *keep)
{
	struct str stem = stem_of(scope, keep);
	struct out *o = out_memory(keep);

	for (ptrdiff_t at = 0, end; at < stem.len; at = end + 1) {
		for (end = at; end < stem.len && !memchr("/()", stem.p[end], 3); end++)
			;
		struct str part = str_head(str_from_offset(stem, at), end - at);
		if (part.len && !str_is_among(part, "while body cond closed_call"))
			out_fmt(o, "%.*s ", STR_ARG(part));
	}
	return out_text(o);
}

/* Where ops stand that were one: a scope without its last part, or a line. */
static struct str place_of(const struct ops_row *op, struct arena *keep)
{
	ptrdiff_t slash = str_rfind_char(op->scope, '/');

	if (op->scope.len)
		return slash > 0 ? str_head(op->scope, slash) : op->scope;
	if (!op->common->source_file.len || !(op->common->source_line > 0))
		return MISSING;
	return arena_fmt(
		keep, "%.*s:%.0f", STR_ARG(op->common->source_file), op->common->source_line);
}

/* What ops may have in common. */
enum trait {
	KIND = 1,
	SCOPE = 2,
	STEM = 4,
	LINE = 8,
	DIMS = 16,
	OWN_NAME = 32,
	LAYER = 64,
	ROLE = 128,
	PASS = 256, /* forward or backward */
	PLACE = 512,
	NAME = 1024,
	LIBRARY = 2048,
	TRAITS = 4096,
};

/*
 * What ops have in common that are one, the surest first.
 *
 * With a slack: what one piece of source code became, in a loop or written out.  Of a line all work
 * is one, though a loop does some of it once more than is needed; where no line is known, only what
 * runs as often as before.  Without: two that serve the same purpose.
 */
static const struct likeness {
	int traits;
	double slack;
} likenesses[] = {
	{ KIND | ROLE | LINE, 1.5 },
	{ KIND | PASS | LINE, 1.5 },
	{ KIND | ROLE, 1.01 },
	{ KIND | SCOPE, 0 },
	{ KIND | STEM | LINE, 0 },
	{ KIND | STEM | DIMS, 0 },
	{ KIND | OWN_NAME, 0 },
	{ LAYER, 0 },
	{ KIND | LINE, 0 },
	{ KIND | DIMS, 0 },
	{ KIND | LIBRARY, 0 },
};

/* A kernel that no instruction is known for. */
static bool is_bare(const struct ops_row *op)
{
	return !op->common->opcode.len;
}

/* May a kernel of a library have run it, whose name is not its instruction's? */
static bool is_of_library(const struct ops_row *op)
{
	enum op_kind k = op_kind_find(op->common->kind);

	return (k == KIND_MATMUL || k == KIND_CONVOLUTION) &&
	       (is_bare(op) || str_eq(op->common->opcode, STR("custom-call")));
}

/* Is one of both a kernel, and the other the instruction that may have run it? */
static bool may_tie(const struct ops_row *a, const struct ops_row *b)
{
	return is_bare(a) != is_bare(b);
}

/* Empty where there is nothing to tell it by. */
static struct str trait_of(const struct ops_row *op, enum trait t, struct arena *keep)
{
	switch (t) {
	case KIND:
		return op->common->kind;
	case SCOPE:
		return op->scope;
	case STEM:
		return stem_of(op->name, keep);
	case LINE:
		return line_of(op, keep);
	case DIMS:
		return dims_of(op->common->shape, keep);
	case OWN_NAME:
		return has_own_name(op, keep) ? stem_of(op->name, keep) : STR("");
	case LAYER:
		return layer_of(op);
	case ROLE:
		return role_of(op->scope, keep);
	case PASS:
		return str_contains(op->scope, STR("transpose(")) ? STR("backward")
								  : STR("forward");
	case PLACE:
		return place_of(op, keep);
	case NAME:
		return op->name;
	case LIBRARY:
		return is_of_library(op) ? STR("library") : STR("");
	case TRAITS:
		break;
	}
	return STR("");
}

/* Equal for ops that are alike; missing where one of the traits is not known. */
static struct str purpose_of(const struct ops_row *op, int like, struct arena *keep)
{
	struct out *o = out_memory(keep);

	/* Of elementwise work there is much of one shape. */
	if (like == (KIND | DIMS) && op_kind_find(op->common->kind) == KIND_ELEMENTWISE)
		return MISSING;
	for (int t = KIND; t < TRAITS; t *= 2) {
		struct str part = like & t ? trait_of(op, (enum trait)t, keep) : MISSING;
		if (like & t && !part.len && t != STEM)
			return MISSING;
		out_fmt(o, "%.*s\n", STR_ARG(part));
	}
	return out_text(o);
}

static int by_purpose(const void *a, const void *b)
{
	const struct match *x = *(struct match *const *)a, *y = *(struct match *const *)b;
	int order = str_cmp(x->purpose, y->purpose);

	return order ? order : by_weight(group_of(x), group_of(y));
}

/* Those that the test holds for, which stand for themselves, by purpose and weight. */
static struct match_list list_by_purpose(const struct matches *all,
	bool (*holds)(const struct match *), int like, struct arena *keep)
{
	struct match_list list = { arena_make(keep, struct match *, all->count + 1), 0 };

	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct match *m = &all->items[i];
		if (!holds(m) || m->is_piece)
			continue;
		m->purpose = purpose_of(group_of(m)->op, like, keep);
		list.items[list.count++] = m;
	}
	sort_by(list.items, list.count, by_purpose);
	return list;
}

/* The end of those that have the purpose of the one at `i`. */
static ptrdiff_t purpose_end(const struct match_list *list, ptrdiff_t i)
{
	ptrdiff_t end = i + 1;

	while (end < list->count && str_eq(list->items[end]->purpose, list->items[i]->purpose))
		end++;
	return end;
}

/* ---- kernels of no known instruction --------------------------------------------------------- */

static bool is_of_one_run(const struct match *m)
{
	return !m->base.op || !m->head.op;
}

static bool kinds_agree(struct str a, struct str b)
{
	return str_eq(a, b) || op_kind_find(a) == KIND_UNKNOWN || op_kind_find(b) == KIND_UNKNOWN;
}

/*
 * The profile of one run ties a kernel to its instruction, and that of the other does not, as in a
 * CUDA graph: their keys differ.  They are one op where no third has this name.
 */
static void tie_kernels(const struct matches *all, struct arena *keep)
{
	struct match_list list = list_by_purpose(all, is_of_one_run, NAME, keep);

	for (ptrdiff_t i = 0, end; i < list.count; i = end) {
		end = purpose_end(&list, i);
		struct match *a = list.items[i], *b = list.items[end - 1];
		struct match *is = a->head.op ? a : b, *was = a->head.op ? b : a;
		if (end - i != 2 || !a->purpose.len || !is->head.op || !was->base.op ||
			!may_tie(is->head.op, was->base.op) ||
			!kinds_agree(is->head.op->common->kind, was->base.op->common->kind))
			continue;
		is->base = was->base;
		*was = (struct match){ .is_piece = true };
	}
}

/* ---- fusions that split ---------------------------------------------------------------------- */

/* What an op does, as ops.inside says it. */
static struct str work_of(const struct ops_row *op)
{
	return str_eq(op->common->opcode, STR("fusion")) ? op->common->inside : op->common->opcode;
}

static bool next_word(struct str *list, struct str *ret)
{
	if (!list->len)
		return false;
	if (!str_cut(*list, ',', ret, list))
		*list = MISSING;
	*ret = str_trim(*ret);
	return true;
}

/* Bit i for the i-th word of `all`; 0 when `part` is empty, or has a word that `all` has not. */
static uint64_t words_among(struct str part, struct str all)
{
	uint64_t bits = 0;
	struct str word;

	while (next_word(&part, &word)) {
		struct str rest = all, other = { NULL, 0 };
		uint64_t bit = 1;
		while (next_word(&rest, &other) && !str_eq(word, other))
			bit <<= 1;
		if (!bit || !str_eq(word, other))
			return 0;
		bits |= bit;
	}
	return bits;
}

static int count_words(struct str list)
{
	struct str word;
	int count = 0;

	while (next_word(&list, &word))
		count++;
	return count;
}

/* Of a crowd in one place only the heaviest are looked at: a fusion's pieces are few. */
enum { PIECES_LOOKED = 256, PIECES_MAX = 16 };

struct pieces {
	struct match *items[PIECES_MAX];
	int count;
	uint64_t covered; /* of the words that the fusion held */
};

/* Another piece has to do something that those before it do not. */
static void add_piece(struct pieces *p, struct match *m, struct str held)
{
	uint64_t bits = words_among(work_of(m->head.op), held);

	if (p->count == PIECES_MAX || !(bits & ~p->covered))
		return;
	p->items[p->count++] = m;
	p->covered |= bits;
}

/* A fusion that is gone, or that holds less than it did. */
static bool may_have_split(const struct match *m)
{
	struct str held = m->base.op ? m->base.op->common->inside : MISSING;

	if (!held.len || !m->head.op)
		return held.len > 0;
	struct str holds = work_of(m->head.op);
	return words_among(holds, held) && count_words(holds) < count_words(held);
}

static void find_splits(const struct matches *all, struct arena *keep)
{
	struct match_list list = list_by_purpose(all, is_new, PLACE, keep);

	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct match *m = &all->items[i];
		if (!may_have_split(m))
			continue;
		struct pieces pieces = { .count = 0 };
		struct str place = purpose_of(m->base.op, PLACE, keep),
			   held = m->base.op->common->inside;
		if (m->head.op)
			add_piece(&pieces, m, held);
		ptrdiff_t k, looked = 0;
		FIND_FIRST(k, 0, list.count, str_cmp(list.items[k]->purpose, place) >= 0);
		for (; place.len && k < list.count && looked < PIECES_LOOKED &&
			str_eq(list.items[k]->purpose, place);
			k++, looked++)
			if (!list.items[k]->is_piece)
				add_piece(&pieces, list.items[k], held);
		if (pieces.count < 2 ||
			2 * __builtin_popcountll(pieces.covered) < count_words(held))
			continue;
		struct out *o = out_memory(keep);
		m->change = CHANGE_SPLIT;
		for (int n = 0; n < pieces.count; n++) {
			const struct group *piece = &pieces.items[n]->head;
			pieces.items[n]->is_piece = pieces.items[n] != m;
			m->split_s += piece->step_s;
			out_str(out_part(o, ", "), piece->op->name);
		}
		m->pieces = out_text(o);
	}
}

/* ---- ops that changed ------------------------------------------------------------------------ */

/* Of a crowd of one purpose, only the nearest are looked at. */
enum { ALIKE_LOOKED = 64 };

static bool is_taken(const struct match *m)
{
	return m->is_piece || m->change == CHANGE_CHANGED;
}

/* From `at` on in steps of `way`: the first of the other run that is not taken, or NULL. */
static struct match *find_other(
	struct match *const *items, ptrdiff_t count, ptrdiff_t at, int way, bool is_tie)
{
	const struct ops_row *op = group_of(items[at])->op;
	bool is_head = items[at]->head.op != NULL;
	int looked = 0;

	for (at += way; at >= 0 && at < count && looked < ALIKE_LOOKED; at += way) {
		if ((items[at]->head.op != NULL) == is_head)
			continue;
		if (!is_taken(items[at]) && (!is_tie || may_tie(op, group_of(items[at])->op)))
			return items[at];
		looked++;
	}
	return NULL;
}

/* Of the other run the nearest in time, or NULL. */
static struct match *find_nearest(
	struct match *const *items, ptrdiff_t count, ptrdiff_t at, bool is_tie)
{
	struct match *more = find_other(items, count, at, -1, is_tie);
	struct match *less = find_other(items, count, at, 1, is_tie);

	if (!more || !less)
		return more ? more : less;
	double step_s = group_of(items[at])->step_s;
	return group_of(more)->step_s * group_of(less)->step_s <= step_s * step_s ? more : less;
}

/*
 * What serves one purpose is one op that changed.  The heaviest of both runs chooses first, so that
 * the runs the other way round give the same pairs.
 */
static void pair(struct match **items, ptrdiff_t count, bool is_tie)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		struct match *m = items[i];
		struct match *other = is_taken(m) ? NULL : find_nearest(items, count, i, is_tie);
		if (!other)
			continue;
		struct match *is = m->head.op ? m : other, *was = m->head.op ? other : m;
		is->change = CHANGE_CHANGED;
		is->base = was->base;
		was->is_piece = true;
	}
	/* A kernel and the call that it ran for are one op: nothing was compiled otherwise. */
	for (ptrdiff_t i = 0; i < count && is_tie; i++)
		if (items[i]->change == CHANGE_CHANGED &&
			change_of(&items[i]->base, &items[i]->head) == CHANGE_SAME)
			items[i]->change = CHANGE_SAME;
}

/* ---- copies of one piece of code ------------------------------------------------------------- */

/*
 * Matches of one purpose, the heaviest first.  Where more or fewer ops do its work, in counts that
 * differ by the factor `slack` at most, one piece of code was compiled otherwise: its loop was
 * written out.
 */
static void join(struct match **items, ptrdiff_t count, double slack)
{
	struct group base = { 0 }, head = { 0 };
	ptrdiff_t bases = 0, heads = 0;
	struct match *one = NULL;

	for (ptrdiff_t i = 0; i < count; i++) {
		bases += group_add(&base, &items[i]->base);
		heads += group_add(&head, &items[i]->head);
		one = !one && items[i]->head.op ? items[i] : one;
	}
	double most = fmax(base.count, head.count), least = fmin(base.count, head.count);
	if (!bases || !heads || bases == heads || !(least > 0) || most > slack * least)
		return;
	for (ptrdiff_t i = 0; i < count; i++)
		items[i]->is_piece = items[i] != one;
	one->base = base;
	one->head = head;
	one->change = CHANGE_CHANGED;
	one->is_joined = true;
}

/* What is alone, purpose by purpose. */
static void find_alike(const struct matches *all, const struct likeness *like, struct arena *keep)
{
	struct match_list list = list_by_purpose(all, is_alone, like->traits, keep);

	for (ptrdiff_t i = 0, end; i < list.count; i = end) {
		end = purpose_end(&list, i);
		if (list.items[i]->purpose.len && like->slack > 0)
			join(&list.items[i], end - i, like->slack);
		else if (list.items[i]->purpose.len)
			pair(&list.items[i], end - i, like->traits & LIBRARY);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct str producer_key(struct str program, struct str name, struct arena *keep)
{
	return arena_fmt(keep, "%.*s\n%.*s", STR_ARG(program), STR_ARG(name));
}

/* 0 where there is no op, NaN where its time is not known. */
static double group_s(const struct group *g)
{
	return !g->op ? 0 : g->is_timed ? g->step_s : (double)NAN;
}

static double lost_by(const struct match *m)
{
	double base_s = group_s(&m->base);
	double head_s = m->change == CHANGE_SPLIT ? m->split_s : group_s(&m->head);

	return fabs(head_s - base_s) <= ROUNDING * base_s ? 0 : head_s - base_s;
}

static void row_fill(struct changes_row *row, const struct match *m)
{
	bool is_split = m->change == CHANGE_SPLIT;
	const struct ops_row *op = m->head.op && !is_split ? m->head.op : m->base.op;

	row->change = word_at(CHANGE_WORDS, m->change);
	row->pieces = m->pieces;
	OP_PLACE;
	if (m->change == CHANGE_CHANGED) {
		row->instead_of = m->base.op->name;
		row->base_shape = m->base.op->common->shape;
	}
	if (m->is_joined) {
		row->base_ops = (double)m->base.ops;
		row->head_ops = (double)m->head.ops;
	}
	if (m->base.op) {
		row->base_s = group_s(&m->base);
		row->base_per_step = m->base.count;
	}
	if (is_split) {
		row->head_s = m->split_s;
	} else if (m->head.op) {
		row->head_s = group_s(&m->head);
		row->head_per_step = m->head.count;
	}
	row->lost_s = lost_by(m);
	row->size_s = fabs(row->lost_s);
}

static int by_loss(const void *a, const void *b)
{
	const struct changes_row *x = a, *y = b;

	int order =
		order_numbers(isnan(y->lost_s) ? 0 : y->lost_s, isnan(x->lost_s) ? 0 : x->lost_s);

	return order ? order : str_cmp(x->key, y->key);
}

static struct diff_kind *kind_row(struct op_diff *d, struct str kind)
{
	int i = 0;

	while (i < d->kind_count && !str_eq(d->kinds[i].kind, kind))
		i++;
	if (i == d->kind_count && i < DIFF_KINDS)
		d->kinds[d->kind_count++].kind = kind;
	return &d->kinds[i < DIFF_KINDS ? i : DIFF_KINDS - 1];
}

static void fill(
	struct op_diff *d, const struct matches *all, const struct tables *head, struct arena *keep)
{
	const struct edges_row *edges = table_rows(head, edges);
	struct map first_edge = { 0 }; /* of each producer */
	struct table rows = { 0 };

	for (ptrdiff_t i = 0; i < table_count(head, edges); i++)
		map_put(&first_edge, producer_key(edges[i].program, edges[i].producer, keep),
			(int32_t)i, keep);
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct match *m = &all->items[i];
		double lost_s = lost_by(m);
		if (m->is_piece)
			continue;
		d->counts[m->change]++;
		d->untimed += isnan(lost_s);
		d->lost_s += isnan(lost_s) ? 0 : lost_s;
		if (m->change == CHANGE_SAME) {
			d->same_s += isnan(lost_s) ? 0 : lost_s;
			kind_row(d, group_of(m)->op->common->kind)->same_s +=
				isnan(lost_s) ? 0 : lost_s;
			continue;
		}
		struct changes_row *row = rows_add(&rows, &table_defs[TABLE_changes], keep);
		row_fill(row, m);
		if (m->change != CHANGE_NEW && m->change != CHANGE_CHANGED)
			continue;
		struct arena scratch = *keep;
		int32_t at = map_get(&first_edge,
			producer_key(m->head.op->common->program, m->head.op->name, &scratch));
		if (at != MAP_NONE)
			row->feeds = edges[at].consumer;
	}
	d->items = rows.rows;
	d->count = rows.count;
	sort_by(d->items, d->count, by_loss);
}

/* The largest change first. */
static int by_change(const void *a, const void *b)
{
	const struct diff_kind *x = a, *y = b;
	int order = order_numbers(fabs(y->head_s - y->base_s), fabs(x->head_s - x->base_s));

	return order ? order : str_cmp(x->kind, y->kind);
}

/* Of steps: what is left of them without their ops. */
static void sum_between(struct op_diff *d)
{
	struct diff_times t = diff_times(d);
	double base_s = t.base_s - d->base_ops_s, head_s = t.head_s - d->head_ops_s;

	if (t.by_ops || base_s < 0 || head_s < 0 ||
		!(fabs(head_s - base_s) >= DIFF_SAME * fmax(t.base_s, t.head_s)))
		return;
	struct diff_kind *k = kind_row(d, STR("between ops"));
	k->base_s = base_s;
	k->head_s = head_s;
}

static void sum_by_kind(struct op_diff *d, const struct matches *all)
{
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct match *m = &all->items[i];
		if (m->is_piece)
			continue;
		struct diff_kind *k = kind_row(d, group_of(m)->op->common->kind);
		k->base_s += m->base.step_s;
		k->head_s += m->head.step_s;
	}
	for (int i = 0; i < d->kind_count; i++) {
		d->base_ops_s += d->kinds[i].base_s;
		d->head_ops_s += d->kinds[i].head_s;
	}
	sum_between(d);
	sort_by(d->kinds, d->kind_count, by_change);
	double least_s = DIFF_SAME * fmax(d->base_ops_s, d->head_ops_s);
	for (int i = 0; i < d->kind_count; i++)
		d->kinds_changed += fabs(d->kinds[i].head_s - d->kinds[i].base_s) >= least_s;
}

/* Devices that are alike differ by less. */
#define STRAGGLES 1.05

static const struct devices_row *straggler_of(const struct tables *t)
{
	const struct devices_row *slowest = NULL, *rows = table_rows(t, devices);

	for (ptrdiff_t i = 0; i < table_count(t, devices); i++)
		if (rows[i].slowness > (slowest ? slowest->slowness : STRAGGLES))
			slowest = &rows[i];
	return slowest;
}

/* Ops whose counts change alike, and the share of the time that has to be in such ops. */
#define ALIKE	   1.1
#define MOST_ALIKE (2. / 3)

/* How much more often the ops ran: the median by their time, where most of it agrees, both ways. */
static double work_of_head(const struct matches *all, struct arena scratch)
{
	struct weighted *ratios = arena_make(&scratch, struct weighted, all->count + 1);
	double base_s = 0, head_s = 0, base_alike_s = 0, head_alike_s = 0;
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct group *b = &all->items[i].base, *h = &all->items[i].head;
		base_s += b->step_s;
		head_s += h->step_s;
		if (b->count > 0 && h->count > 0)
			ratios[count++] = (struct weighted){ h->count / b->count, b->step_s };
	}
	double median = weighted_quantile(ratios, count, 0.5, base_s);
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct group *b = &all->items[i].base, *h = &all->items[i].head;
		double ratio = h->count / b->count;
		if (ratio < median * ALIKE && ratio > median / ALIKE) {
			base_alike_s += b->step_s;
			head_alike_s += h->step_s;
		}
	}
	bool agrees = base_alike_s >= MOST_ALIKE * base_s && head_alike_s >= MOST_ALIKE * head_s;
	return agrees && base_s > 0 ? median : (double)NAN;
}

/* The time that a side's ops are compared within: its step, or the window of a capture without. */
static double length_of(const struct tables *t)
{
	const struct run_row *run = row_of_run(t);

	return !run ? (double)NAN : is_window(t) ? run->window_s : run->step_time_s;
}

/*
 * The length of a capture says nothing: the base is shown as if it did the work of the head.  What
 * ran once in both is no part of that work: a filling at the start, say.
 */
static void compare_windows(struct op_diff *d, const struct tables *base, const struct tables *head,
	const struct matches *all, struct arena scratch)
{
	bool both = is_window(base) && is_window(head);

	d->work = work_of_head(all, scratch);
	for (ptrdiff_t i = 0; i < all->count && !isnan(d->work); i++) {
		struct group *b = &all->items[i].base;
		bool is_other = both && b->count <= 1 && all->items[i].head.count <= 1;
		double times = is_other ? 1 : d->work;
		b->step_s *= times;
		b->count *= times;
	}
	d->base_step_s = length_of(base) * d->work;
	d->head_step_s = length_of(head);
}

void diff_ops(const struct tables *base, const struct tables *head, struct arena *keep,
	struct op_diff *ret)
{
	struct matches all = match_ops(base, head, keep);

	*ret = (struct op_diff){ .is_planned = is_planned(head),
		.is_window = is_window(base) || is_window(head),
		.work = NAN,
		.base_step_s = row_of_run(base) ? row_of_run(base)->step_time_s : NAN,
		.head_step_s = row_of_run(head) ? row_of_run(head)->step_time_s : NAN };
	tie_kernels(&all, keep);
	ret->straggler = straggler_of(base) ? NULL : straggler_of(head);
	if (ret->is_window)
		compare_windows(ret, base, head, &all, *keep);
	sum_by_kind(ret, &all);
	for (ptrdiff_t i = 0; i < all.count; i++)
		all.items[i].change = change_of(&all.items[i].base, &all.items[i].head);
	find_splits(&all, keep);
	for (ptrdiff_t i = 0; i < COUNT_OF(likenesses); i++)
		find_alike(&all, &likenesses[i], keep);
	fill(ret, &all, head, keep);
}

/* Captures without steps that hold different work: what is idle in them does not grow with it. */
static bool is_idle(const struct op_diff *d)
{
	return d->is_window && fabs(d->work - 1) >= DIFF_SAME &&
	       (d->base_ops_s < d->base_step_s / 2 || d->head_ops_s < d->head_step_s / 2);
}

struct diff_times diff_times(const struct op_diff *d)
{
	if (d->is_planned || !(d->base_step_s > 0) || !(d->head_step_s > 0) || is_idle(d))
		return (struct diff_times){ d->base_ops_s, d->head_ops_s, true };
	return (struct diff_times){ d->base_step_s, d->head_step_s, false };
}

void diff_fill(const struct op_diff *d, struct tables *head, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < d->count; i++)
		*table_new(head, changes, keep) = d->items[i];
}
