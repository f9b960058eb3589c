/* Two runs, op by op.  See diff.h. */
#include "measure/diff.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/out.h"

/* Less is not worth a line, however sure it is. */
#define CHANGE_LEAST 0.02

static struct str change_name(enum change c)
{
	static const struct str names[CHANGES] = { STR_INIT("new"), STR_INIT("gone"),
		STR_INIT("changed"), STR_INIT("split"), STR_INIT("slower"), STR_INIT("faster"),
		STR_INIT("same") };

	return names[c];
}

/* All ops of one key in one run. */
struct group {
	struct str key;
	const struct ops_row *op; /* the heaviest */
	double step_s, count;
	bool is_timed; /* of one of them at least the time is known */
};

struct groups {
	struct group *items; /* by key */
	ptrdiff_t count;
};

bool is_planned(const struct tables *t)
{
	return table_count(t, run) && str_eq(table_rows(t, run)[0].evidence, STR("planned"));
}

bool is_window(const struct tables *t)
{
	return table_count(t, run) && str_eq(table_rows(t, run)[0].steps_source, STR("window"));
}

static double op_step_s(const struct ops_row *op, bool planned)
{
	return (planned ? op->roofline_s : op->mean_s) * op->per_step;
}

static struct group group_of_op(const struct ops_row *op, bool planned)
{
	double s = op_step_s(op, planned);

	return (struct group){ op->key, op, isnan(s) ? 0 : s,
		isnan(op->per_step) ? 0 : op->per_step, !isnan(s) };
}

/* The heaviest first. */
static int by_weight(const struct group *x, const struct group *y)
{
	int order = (x->step_s < y->step_s) - (x->step_s > y->step_s);

	return order ? order : str_cmp(x->op->name, y->op->name);
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = str_cmp(x->key, y->key);

	return order ? order : by_weight(x, y);
}

/* Sorted by key and weight, so the first of a key is the heaviest. */
static struct groups group_ops(const struct tables *t, struct arena *keep)
{
	struct groups g = { arena_make(keep, struct group, table_count(t, ops) + 1), 0 };
	ptrdiff_t kept = 0;
	bool planned = is_planned(t);

	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct ops_row *op = &table_rows(t, ops)[i];
		if (op->key.p)
			g.items[g.count++] = group_of_op(op, planned);
	}
	qsort(g.items, (size_t)g.count, sizeof(*g.items), by_key);
	for (ptrdiff_t i = 0; i < g.count; i++) {
		if (kept && str_eq(g.items[kept - 1].key, g.items[i].key)) {
			g.items[kept - 1].step_s += g.items[i].step_s;
			g.items[kept - 1].count += g.items[i].count;
			g.items[kept - 1].is_timed |= g.items[i].is_timed;
		} else {
			g.items[kept++] = g.items[i];
		}
	}
	g.count = kept;
	return g;
}

/* ---- what changed --------------------------------------------------------------------------- */

/* Unknown intervals do not stand in the way. */
static bool intervals_meet(const struct ops_row *a, const struct ops_row *b)
{
	return a->lo_s <= b->hi_s && b->lo_s <= a->hi_s;
}

static enum change change_of(const struct group *base, const struct group *head)
{
	double lost = head->step_s - base->step_s;

	if (!base->is_timed || !head->is_timed || fabs(lost) <= CHANGE_LEAST * base->step_s ||
		(head->count == base->count && intervals_meet(head->op, base->op)))
		return CHANGE_SAME;
	return lost > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

/* One op, before and after. */
struct match {
	enum change change;
	const struct group *base, *head; /* NULL where there is none */
	bool is_piece;			 /* part of another match: split, or changed */
	double split_s;			 /* SPLIT: time of all pieces */
	struct str pieces;
};

struct matches {
	struct match *items; /* by key */
	ptrdiff_t count;
};

/* What the op would have taken in the base, had it run as often as in the head. */
static void scale_base(struct group *base, const struct group *head)
{
	if (base->count > 0 && head->count > 0)
		base->step_s *= head->count / base->count;
}

static void scale_bases(const struct groups *base, const struct groups *head)
{
	for (ptrdiff_t i = 0, k = 0; i < base->count && k < head->count;) {
		int order = str_cmp(base->items[i].key, head->items[k].key);
		if (order == 0)
			scale_base(&base->items[i], &head->items[k]);
		i += order <= 0;
		k += order >= 0;
	}
}

/* Both are sorted by key. */
static struct matches match_groups(
	const struct groups *base, const struct groups *head, struct arena *keep)
{
	struct matches all = { arena_make(keep, struct match, base->count + head->count + 1), 0 };
	ptrdiff_t i = 0, k = 0;

	while (i < base->count || k < head->count) {
		int order = i == base->count   ? 1
			    : k == head->count ? -1
					       : str_cmp(base->items[i].key, head->items[k].key);
		struct match *m = &all.items[all.count++];
		m->base = order <= 0 ? &base->items[i++] : NULL;
		m->head = order >= 0 ? &head->items[k++] : NULL;
		m->change = !m->base   ? CHANGE_NEW
			    : !m->head ? CHANGE_GONE
				       : change_of(m->base, m->head);
	}
	return all;
}

/* ---- fusions that split ---------------------------------------------------------------------- */

/* Where ops stand that were one: a scope without its last part, or a line. */
static struct str place_of(const struct ops_row *op, struct arena *keep)
{
	ptrdiff_t slash = str_rfind_char(op->scope, '/');

	if (op->scope.len)
		return slash > 0 ? str_head(op->scope, slash) : op->scope;
	if (!op->source_file.len || !(op->source_line > 0))
		return (struct str){ NULL, 0 };
	return arena_fmt(keep, "%.*s:%.0f", STR_ARG(op->source_file), op->source_line);
}

/* A new op where it stands. */
struct placed {
	struct str place;
	struct match *match;
};

struct placed_list {
	struct placed *items; /* by place, then the heaviest first */
	ptrdiff_t count;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = str_cmp(x->place, y->place);

	return order ? order : by_weight(x->match->head, y->match->head);
}

static struct placed_list place_new(const struct matches *all, struct arena *keep)
{
	struct placed_list list = { arena_make(keep, struct placed, all->count + 1), 0 };

	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct match *m = &all->items[i];
		struct str place = { NULL, 0 };
		if (m->change == CHANGE_NEW)
			place = place_of(m->head->op, keep);
		if (place.len)
			list.items[list.count++] = (struct placed){ place, m };
	}
	qsort(list.items, (size_t)list.count, sizeof(*list.items), by_place);
	return list;
}

static ptrdiff_t first_at(const struct placed_list *list, struct str place)
{
	ptrdiff_t from = 0, to = list->count;

	while (from < to) {
		ptrdiff_t middle = from + (to - from) / 2;
		if (str_cmp(list->items[middle].place, place) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* What an op does, as ops.inside says it. */
static struct str work_of(const struct ops_row *op)
{
	return str_eq(op->opcode, STR("fusion")) ? op->inside : op->opcode;
}

static bool next_word(struct str *list, struct str *ret)
{
	if (!list->len)
		return false;
	if (!str_cut(*list, ',', ret, list))
		*list = (struct str){ NULL, 0 };
	*ret = str_trim(*ret);
	return true;
}

/* Bit i for the i-th word of `all`; 0 for a word that is none of them. */
static uint64_t word_bit(struct str all, struct str word)
{
	struct str other;

	for (uint64_t bit = 1; bit && next_word(&all, &other); bit <<= 1)
		if (str_eq(word, other))
			return bit;
	return 0;
}

/* 0 when `part` is empty, or has a word that `all` has not. */
static uint64_t words_among(struct str part, struct str all)
{
	uint64_t bits = 0;
	struct str word;

	while (next_word(&part, &word)) {
		uint64_t bit = word_bit(all, word);
		if (!bit)
			return 0;
		bits |= bit;
	}
	return bits;
}

static int count_bits(uint64_t bits)
{
	int count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count;
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
	uint64_t bits = words_among(work_of(m->head->op), held);

	if (p->count == PIECES_MAX || !(bits & ~p->covered))
		return;
	p->items[p->count++] = m;
	p->covered |= bits;
}

static void find_pieces(
	const struct placed_list *list, struct str place, struct str held, struct pieces *ret)
{
	ptrdiff_t first = first_at(list, place);

	for (ptrdiff_t i = first; i < list->count && i < first + PIECES_LOOKED; i++) {
		if (!str_eq(list->items[i].place, place))
			return;
		if (!list->items[i].match->is_piece)
			add_piece(ret, list->items[i].match, held);
	}
}

static void join_pieces(struct match *split, const struct pieces *pieces, struct arena *keep)
{
	struct out *o = out_memory(keep);

	split->change = CHANGE_SPLIT;
	for (int i = 0; i < pieces->count; i++) {
		pieces->items[i]->is_piece = pieces->items[i] != split;
		split->split_s += pieces->items[i]->head->step_s;
		out_fmt(o, "%s%.*s", i ? ", " : "", STR_ARG(pieces->items[i]->head->op->name));
	}
	split->pieces = out_text(o);
}

/* A fusion that is gone, or that holds less than it did. */
static bool may_have_split(const struct match *m)
{
	struct str held = m->base ? m->base->op->inside : (struct str){ NULL, 0 };

	if (!held.len || !m->head)
		return held.len > 0;
	struct str holds = work_of(m->head->op);
	return words_among(holds, held) && count_words(holds) < count_words(held);
}

static void find_splits(const struct matches *all, struct arena *keep)
{
	struct placed_list list = place_new(all, keep);

	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct match *m = &all->items[i];
		if (!may_have_split(m))
			continue;
		struct pieces pieces = { .count = 0 };
		struct str place = place_of(m->base->op, keep), held = m->base->op->inside;
		if (m->head)
			add_piece(&pieces, m, held);
		if (place.len)
			find_pieces(&list, place, held, &pieces);
		if (pieces.count >= 2 && 2 * count_bits(pieces.covered) >= count_words(held))
			join_pieces(m, &pieces, keep);
	}
}

/* ---- ops that changed ------------------------------------------------------------------------ */

static int by_likeness(const struct group *x, const struct group *y)
{
	int order = str_cmp(x->op->scope, y->op->scope);

	if (!order)
		order = str_cmp(x->op->kind, y->op->kind);
	return order ? order : by_weight(x, y);
}

static const struct group *group_of(const struct match *m)
{
	return m->head ? m->head : m->base;
}

static int match_by_likeness(const void *a, const void *b)
{
	return by_likeness(
		group_of(*(struct match *const *)a), group_of(*(struct match *const *)b));
}

static int match_by_weight(const void *a, const void *b)
{
	return by_weight(group_of(*(struct match *const *)a), group_of(*(struct match *const *)b));
}

struct match_list {
	struct match **items;
	ptrdiff_t count;
};

static struct match_list list_of(const struct matches *all, enum change change,
	int (*order)(const void *, const void *), struct arena *keep)
{
	struct match_list list = { arena_make(keep, struct match *, all->count + 1), 0 };

	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct match *m = &all->items[i];
		if (m->change == change && !m->is_piece && group_of(m)->op->scope.len)
			list.items[list.count++] = m;
	}
	qsort(list.items, (size_t)list.count, sizeof(struct match *), order);
	return list;
}

static bool is_alike(const struct group *a, const struct group *b)
{
	return str_eq(a->op->scope, b->op->scope) && str_eq(a->op->kind, b->op->kind);
}

/* Of a crowd of one kind and scope, only the nearest are looked at. */
enum { ALIKE_LOOKED = 64 };

/* From `at` on in steps of `way`: the first that is like `head` and not taken, or NULL. */
static struct match *find_alike(
	const struct match_list *gone, ptrdiff_t at, int way, const struct group *head)
{
	for (int n = 0; n < ALIKE_LOOKED && at >= 0 && at < gone->count; n++, at += way) {
		struct match *m = gone->items[at];
		if (!is_alike(m->base, head))
			return NULL;
		if (!m->is_piece)
			return m;
	}
	return NULL;
}

/* Gone, alike and the nearest in time, which stands beside where `head` would; or NULL. */
static struct match *find_gone(const struct match_list *gone, const struct group *head)
{
	ptrdiff_t from = 0, to = gone->count;

	while (from < to) {
		ptrdiff_t middle = from + (to - from) / 2;
		if (by_likeness(gone->items[middle]->base, head) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	struct match *more = find_alike(gone, from - 1, -1, head);
	struct match *less = find_alike(gone, from, 1, head);
	if (!more || !less)
		return more ? more : less;
	return more->base->step_s - head->step_s <= head->step_s - less->base->step_s ? more : less;
}

static void find_changed(const struct matches *all, struct arena *keep)
{
	struct match_list gone = list_of(all, CHANGE_GONE, match_by_likeness, keep);
	struct match_list new = list_of(all, CHANGE_NEW, match_by_weight, keep);

	for (ptrdiff_t i = 0; i < new.count; i++) {
		struct match *was = find_gone(&gone, new.items[i]->head);
		if (!was)
			continue;
		new.items[i]->change = CHANGE_CHANGED;
		new.items[i]->base = was->base;
		was->is_piece = true;
	}
}

/* ---- what reads a result -------------------------------------------------------------------- */

static struct str producer_key(struct str program, struct str name, struct arena *keep)
{
	return arena_fmt(keep, "%.*s\n%.*s", STR_ARG(program), STR_ARG(name));
}

/* The first edge of each producer. */
static void map_edges(const struct tables *t, struct arena *keep, struct map *ret)
{
	*ret = (struct map){ 0 };
	for (ptrdiff_t i = 0; i < table_count(t, edges); i++) {
		const struct edges_row *e = &table_rows(t, edges)[i];
		struct str key = producer_key(e->program, e->producer, keep);
		if (map_get(ret, key) == MAP_NONE)
			map_put(ret, key, (int32_t)i, keep);
	}
}

static struct str find_consumer(const struct tables *t, const struct map *edges,
	const struct ops_row *op, struct arena scratch)
{
	int32_t at = map_get(edges, producer_key(op->program, op->name, &scratch));

	return at == MAP_NONE ? (struct str){ NULL, 0 } : table_rows(t, edges)[at].consumer;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void describe(const struct ops_row *op, struct changes_row *row)
{
	row->key = op->key;
	row->name = op->name;
	row->kind = op->kind;
	row->shape = op->shape;
	row->scope = op->scope;
	row->source_file = op->source_file;
	row->source_line = op->source_line;
	row->user_file = op->user_file;
	row->user_line = op->user_line;
}

/* 0 where there is no op, NaN where nobody knows its time. */
static double group_s(const struct group *g)
{
	return !g ? 0 : g->is_timed ? g->step_s : (double)NAN;
}

static double lost_by(const struct match *m)
{
	if (m->change == CHANGE_SPLIT)
		return m->split_s - group_s(m->base);
	return group_s(m->head) - group_s(m->base);
}

static struct changes_row row_of(const struct match *m)
{
	struct changes_row row = { .change = change_name(m->change),
		.pieces = m->pieces,
		.source_line = NAN,
		.user_line = NAN,
		.base_s = NAN,
		.head_s = NAN,
		.base_per_step = NAN,
		.head_per_step = NAN };

	bool is_split = m->change == CHANGE_SPLIT;

	describe(m->head && !is_split ? m->head->op : m->base->op, &row);
	if (m->change == CHANGE_CHANGED) {
		row.instead_of = m->base->op->name;
		row.base_shape = m->base->op->shape;
	}
	if (m->base) {
		row.base_s = group_s(m->base);
		row.base_per_step = m->base->count;
	}
	if (is_split) {
		row.head_s = m->split_s;
	} else if (m->head) {
		row.head_s = group_s(m->head);
		row.head_per_step = m->head->count;
	}
	row.lost_s = lost_by(m);
	row.size_s = fabs(row.lost_s);
	return row;
}

static int by_loss(const void *a, const void *b)
{
	const struct changes_row *x = a, *y = b;

	double lost = isnan(x->lost_s) ? 0 : x->lost_s, other = isnan(y->lost_s) ? 0 : y->lost_s;

	if (lost != other)
		return lost > other ? -1 : 1;
	return str_cmp(x->key, y->key);
}

static double step_time(const struct tables *t)
{
	return table_count(t, run) ? table_rows(t, run)[0].step_time_s : (double)NAN;
}

static void count_match(struct op_diff *d, const struct match *m)
{
	double lost_s = lost_by(m);

	d->counts[m->change]++;
	d->untimed += isnan(lost_s);
	if (isnan(lost_s))
		return;
	d->lost_s += lost_s;
	if (m->change == CHANGE_SAME)
		d->same_s += lost_s;
}

static void fill(
	struct op_diff *d, const struct matches *all, const struct tables *head, struct arena *keep)
{
	struct map edges;

	map_edges(head, keep, &edges);
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct match *m = &all->items[i];
		if (m->is_piece)
			continue;
		count_match(d, m);
		if (m->change == CHANGE_SAME)
			continue;
		struct changes_row *row = &d->items[d->count++];
		*row = row_of(m);
		if (m->change == CHANGE_NEW || m->change == CHANGE_CHANGED)
			row->feeds = find_consumer(head, &edges, m->head->op, *keep);
	}
	qsort(d->items, (size_t)d->count, sizeof(*d->items), by_loss);
}

void diff_ops(const struct tables *base, const struct tables *head, struct arena *keep,
	struct op_diff *ret)
{
	struct groups b = group_ops(base, keep), h = group_ops(head, keep);
	bool window = is_window(base) || is_window(head);
	if (window)
		scale_bases(&b, &h);
	struct matches all = match_groups(&b, &h, keep);

	*ret = (struct op_diff){ .is_planned = is_planned(head),
		.is_window = window,
		.base_step_s = step_time(base),
		.head_step_s = step_time(head) };
	ret->items = arena_make(keep, struct changes_row, all.count + 1);
	find_splits(&all, keep);
	find_changed(&all, keep);
	fill(ret, &all, head, keep);
}

void diff_fill(const struct op_diff *d, struct tables *head, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < d->count; i++)
		*table_new(head, changes, keep) = d->items[i];
}
