/* Two runs, op by op.  See diff.h. */
#include "measure/diff.h"

#include <math.h>
#include <stdlib.h>

/* Less is not worth a line, however sure it is. */
#define CHANGE_LEAST 0.02

struct str change_name(enum change c)
{
	static const struct str names[] = { STR_INIT("new"), STR_INIT("gone"), STR_INIT("slower"),
		STR_INIT("faster"), STR_INIT("same") };

	return names[c];
}

/* All ops of one key in one run. */
struct group {
	struct str key;
	const struct ops_row *op; /* the heaviest */
	double step_s, count;
};

struct groups {
	struct group *items; /* by key */
	ptrdiff_t count;
};

static double op_step_s(const struct ops_row *op)
{
	double s = op->mean_s * op->per_step;

	return isnan(s) ? 0 : s;
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = str_cmp(x->key, y->key);

	if (!order)
		order = (x->step_s < y->step_s) - (x->step_s > y->step_s);
	return order ? order : str_cmp(x->op->name, y->op->name);
}

/* Sorted by key and weight, so the first of a key is the heaviest. */
static struct groups group_ops(const struct tables *t, struct arena *keep)
{
	struct groups g = { arena_make(keep, struct group, table_count(t, ops) + 1), 0 };
	ptrdiff_t kept = 0;

	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct ops_row *op = &table_rows(t, ops)[i];
		double count = isnan(op->per_step) ? 0 : op->per_step;
		if (op->key.p)
			g.items[g.count++] = (struct group){ op->key, op, op_step_s(op), count };
	}
	qsort(g.items, (size_t)g.count, sizeof(*g.items), by_key);
	for (ptrdiff_t i = 0; i < g.count; i++) {
		if (kept && str_eq(g.items[kept - 1].key, g.items[i].key)) {
			g.items[kept - 1].step_s += g.items[i].step_s;
			g.items[kept - 1].count += g.items[i].count;
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

	if (fabs(lost) < CHANGE_LEAST * base->step_s ||
		(head->count == base->count && intervals_meet(head->op, base->op)))
		return CHANGE_SAME;
	return lost > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

static void add_change(struct op_diff *d, const struct group *base, const struct group *head)
{
	struct op_change *c = &d->items[d->count++];

	if (base) {
		c->base = base->op;
		c->base_s = base->step_s;
		c->base_count = base->count;
	}
	if (head) {
		c->head = head->op;
		c->head_s = head->step_s;
		c->head_count = head->count;
	}
	c->change = !base ? CHANGE_NEW : !head ? CHANGE_GONE : change_of(base, head);
	c->lost_s = c->head_s - c->base_s;
	d->lost_s += c->lost_s;
	d->counts[c->change]++;
}

/* Both are sorted by key. */
static void merge(struct op_diff *d, const struct groups *base, const struct groups *head)
{
	ptrdiff_t i = 0, k = 0;

	while (i < base->count || k < head->count) {
		int order = i == base->count   ? 1
			    : k == head->count ? -1
					       : str_cmp(base->items[i].key, head->items[k].key);
		add_change(d, order <= 0 ? &base->items[i] : NULL,
			order >= 0 ? &head->items[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

/* ---- what it has to do with --------------------------------------------------------------- */

/* Gone and of the same kind and scope: the nearest in weight. */
static const struct ops_row *find_instead(const struct op_diff *d, const struct op_change *c)
{
	const struct op_change *best = NULL;

	for (ptrdiff_t i = 0; i < d->count; i++) {
		const struct op_change *o = &d->items[i];
		if (o->change != CHANGE_GONE || !c->head->scope.len ||
			!str_eq(o->base->scope, c->head->scope) ||
			!str_eq(o->base->kind, c->head->kind))
			continue;
		if (!best || fabs(o->base_s - c->head_s) < fabs(best->base_s - c->head_s))
			best = o;
	}
	return best ? best->base : NULL;
}

static struct str find_consumer(const struct tables *t, const struct ops_row *op)
{
	for (ptrdiff_t i = 0; i < table_count(t, edges); i++) {
		const struct edges_row *e = &table_rows(t, edges)[i];
		if (str_eq(e->producer, op->name) && str_eq(e->program, op->program))
			return e->consumer;
	}
	return (struct str){ NULL, 0 };
}

static struct str key_of(const struct op_change *c)
{
	return c->head ? c->head->key : c->base->key;
}

static int by_loss(const void *a, const void *b)
{
	const struct op_change *x = a, *y = b;

	if (x->lost_s != y->lost_s)
		return x->lost_s > y->lost_s ? -1 : 1;
	return str_cmp(key_of(x), key_of(y));
}

static double step_time(const struct tables *t)
{
	return table_count(t, run) ? table_rows(t, run)[0].step_time_s : (double)NAN;
}

void diff_ops(const struct tables *base, const struct tables *head, struct arena *keep,
	struct op_diff *ret)
{
	struct groups b = group_ops(base, keep), h = group_ops(head, keep);

	*ret = (struct op_diff){ .base_step_s = step_time(base), .head_step_s = step_time(head) };
	ret->items = arena_make(keep, struct op_change, b.count + h.count + 1);
	merge(ret, &b, &h);
	for (ptrdiff_t i = 0; i < ret->count; i++) {
		struct op_change *c = &ret->items[i];
		if (c->change != CHANGE_NEW)
			continue;
		c->instead = find_instead(ret, c);
		c->feeds = find_consumer(head, c->head);
	}
	qsort(ret->items, (size_t)ret->count, sizeof(*ret->items), by_loss);
}
