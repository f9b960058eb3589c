/*
 * One step as bars, read once more on some devices (representative.c says which).
 *
 * On each lane a bar is what runs innermost; what is too short for the eye is joined to its
 * neighbours, and what is in flight asynchronously has lanes of its own.
 *
 *	XLA Ops                    |--fusion--|ag-start|--fusion--|---ag-done---|
 *	collectives in flight                 |=========all-gather=============|
 */
#include <stdlib.h>

#include "base/text.h"
#include "measure/writers.h"
#include "measure/plots.h"

/* Bars of a lane are drawn on so many units of width; less than one is a sliver. */
#define PIXELS 600
/* Lanes of a picture that still fits a screen: a GPU that computes has about five. */
#define LANES_SHOWN 16
/*
 * Events read for a picture, on all its devices: a third of a second.  Behind them no step is
 * looked for.
 */
#define EVENTS_MAX 4000000
/* Ops within ops: a while in a while in a call.  What is deeper is drawn as its parent. */
#define DEPTH_MAX 32
/* Asynchronous pairs open at one time, and of one step; more are not drawn. */
#define OPEN_MAX   256
#define FLIGHT_MAX 65536

/* In flight there is no lane for what computes, or of which nobody knows what it does. */
enum { ACTIVITIES = 4, FLIGHTS = ACTIVITIES - 1 };

struct bar {
	int64_t start_ps, end_ps, busy_ps[ACTIVITIES], longest_ps;
	int64_t ops;
	const struct subject *op; /* the longest */
	enum op_kind kind;
};

/* An op that runs, or waits for those it holds, or is in flight. */
struct open {
	const struct subject *op;
	enum op_kind kind;
	int64_t from_ps, end_ps; /* from: what came before is drawn */
	bool is_begun;		 /* it was counted */
};

struct row {
	struct str name;
	struct bar *bars;
	ptrdiff_t count, cap;
	struct open stack[DEPTH_MAX];
	int depth;
	int64_t busy_ps;
	bool is_shown;
};

struct timeline {
	const struct device *device;
	const struct swept_step *step;
	int room;	/* lanes it may have */
	ptrdiff_t most; /* bars */
	int64_t events; /* to be read */
	struct registry *registry;
	struct arena *keep, *work;   /* work: for what dies with this picture's reading */
	int64_t sliver_ps, until_ps; /* until: the end of what was read */
	struct row *rows;	     /* one per lane of the plane, then those in flight */
	ptrdiff_t row_count;
	struct open open[OPEN_MAX]; /* starts whose done did not come yet */
	int open_count;
};

/* ---- bars ------------------------------------------------------------------------------------ */

static int activity_index(enum op_kind kind)
{
	static const int index[ACTIVITY_MASKS] = {
		[ACTIVITY_COMMS] = 1, [ACTIVITY_COPY] = 2, [ACTIVITY_TRANSFER] = 3
	};

	return index[op_kind_activity(kind)]; /* a loop's own time keeps the core busy */
}

/* What overlaps is one bar, and so is what is a sliver even together. */
static bool joins(const struct bar *last, const struct bar *b, int64_t sliver_ps)
{
	return b->start_ps < last->end_ps || b->end_ps - last->start_ps < sliver_ps;
}

static void join(struct bar *into, const struct bar *b)
{
	for (int i = 0; i < ACTIVITIES; i++)
		into->busy_ps[i] += b->busy_ps[i];
	into->ops += b->ops;
	if (b->end_ps > into->end_ps)
		into->end_ps = b->end_ps;
	if (b->longest_ps <= into->longest_ps)
		return;
	into->longest_ps = b->longest_ps;
	into->op = b->op;
	into->kind = b->kind;
}

/* The part within what is shown; false when there is none. */
static bool bar_of(const struct timeline *t, const struct open *o, int64_t to, struct bar *ret)
{
	int64_t from = o->from_ps > t->step->start_ps ? o->from_ps : t->step->start_ps;

	to = to < t->until_ps ? to : t->until_ps;
	*ret = (struct bar){ .start_ps = from, .end_ps = to, .op = o->op, .kind = o->kind };
	ret->longest_ps = ret->busy_ps[activity_index(o->kind)] = to - from;
	return to > from;
}

/* `o` ran from where it was last drawn up to `to_ps`. */
static void draw(struct timeline *t, struct row *r, struct open *o, int64_t to_ps)
{
	struct bar b;
	bool any = bar_of(t, o, to_ps, &b);

	o->from_ps = to_ps;
	if (!any)
		return;
	b.ops = !o->is_begun;
	o->is_begun = true;
	r->busy_ps += b.longest_ps;
	if (r->count > 0 && joins(&r->bars[r->count - 1], &b, t->sliver_ps))
		join(&r->bars[r->count - 1], &b);
	else
		*arena_push(t->work, r->bars, r->count, r->cap) = b;
}

static void pop(struct timeline *t, struct row *r)
{
	struct open *top = &r->stack[--r->depth];
	int64_t end_ps = top->end_ps;

	draw(t, r, top, end_ps);
	if (r->depth > 0)
		r->stack[r->depth - 1].from_ps = end_ps;
}

/* As in the sweep: an op that does not fit into the one before it ends that one. */
static void push(struct timeline *t, struct row *r, const struct open *o)
{
	while (r->depth > 0) {
		struct open *top = &r->stack[r->depth - 1];
		if (top->end_ps > o->from_ps && top->end_ps >= o->end_ps)
			break;
		if (top->end_ps > o->from_ps)
			top->end_ps = o->from_ps;
		pop(t, r);
	}
	if (r->depth > 0)
		draw(t, r, &r->stack[r->depth - 1], o->from_ps);
	if (r->depth < DEPTH_MAX)
		r->stack[r->depth++] = *o;
}

/* ---- what is in flight ----------------------------------------------------------------------- */

/* What a done may end, it ends in the order they began. */
static void flight_end(struct timeline *t, const struct subject *done, int64_t at_ps)
{
	int i = 0;

	while (i < t->open_count && !subject_ends(done, t->open[i].op->index))
		i++;
	if (i == t->open_count)
		return;
	struct open f = t->open[i];
	struct bar b;
	for (t->open_count--; i < t->open_count; i++)
		t->open[i] = t->open[i + 1];
	struct row *r = &t->rows[t->row_count - FLIGHTS + activity_index(f.kind) - 1];
	if (!bar_of(t, &f, at_ps, &b) || r->count >= FLIGHT_MAX)
		return;
	b.ops = 1;
	*arena_push(t->work, r->bars, r->count, r->cap) = b;
	r->busy_ps += b.longest_ps;
}

static int bar_cmp(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	order = order ? order : order_integers(x->end_ps, y->end_ps);
	return order ? order : str_cmp(x->op->name, y->op->name);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void take(struct timeline *t, const struct op_event *e)
{
	struct open o = { .from_ps = e->start_ps, .end_ps = e->end_ps };

	o.op = registry_subject(
		t->registry, t->device->plane, &t->device->plane->ops[e->op], &o.kind);
	push(t, &t->rows[e->lane], &o);
	if (o.op->async == ASYNC_START && activity_index(o.kind) > 0 && t->open_count < OPEN_MAX)
		t->open[t->open_count++] = o;
	else if (o.op->async == ASYNC_DONE)
		flight_end(t, o.op, e->end_ps);
}

static bool read_step(struct timeline *t, struct diag *err)
{
	struct plane *plane = t->device->plane;
	plane_learn(plane, t->work);
	struct merge *m = merge_new(plane, t->work);
	const struct op_event *e;
	int64_t events = 0, last_ps = INT64_MIN;
	bool is_past = false;

	while (!is_past && events < t->events && (e = merge_next(m))) {
		last_ps = e->start_ps;
		is_past = e->start_ps >= t->step->end_ps;
		if (!is_past)
			take(t, e);
		events++;
	}
	err->id = DIAG_NONE;
	/* Lanes that need it were marked to be sorted by the sweep: out of order is no error. */
	bool ok = is_past || events == t->events || merge_end(m, err) || err->id == DIAG_NONE;
	merge_free(m);
	plane_forget(plane);
	if (!is_past && events == t->events && last_ps < t->until_ps)
		t->until_ps = last_ps;
	for (ptrdiff_t i = 0; i < t->row_count; i++)
		while (t->rows[i].depth > 0)
			pop(t, &t->rows[i]);
	/* What was in flight was drawn as it ended. */
	for (ptrdiff_t i = t->row_count - FLIGHTS; i < t->row_count; i++)
		if (t->rows[i].count > 1)
			qsort(t->rows[i].bars, (size_t)t->rows[i].count, sizeof(struct bar),
				bar_cmp);
	return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The busiest that there is room for; ties in their order.  Returns how many. */
static int choose_rows(struct timeline *t)
{
	for (int shown = 0; shown < t->room; shown++) {
		struct row *best = NULL;
		for (ptrdiff_t i = 0; i < t->row_count; i++) {
			struct row *r = &t->rows[i];
			if (r->count > 0 && !r->is_shown && (!best || r->busy_ps > best->busy_ps))
				best = r;
		}
		if (!best)
			return shown;
		best->is_shown = true;
	}
	return t->room;
}

static void thin_out(struct timeline *t)
{
	for (;; t->sliver_ps *= 2) {
		ptrdiff_t shown = 0;
		for (ptrdiff_t i = 0; i < t->row_count; i++) {
			struct row *r = &t->rows[i];
			ptrdiff_t kept = 0;
			for (ptrdiff_t k = 0; k < r->count; k++)
				if (kept > 0 &&
					joins(&r->bars[kept - 1], &r->bars[k], t->sliver_ps))
					join(&r->bars[kept - 1], &r->bars[k]);
				else
					r->bars[kept++] = r->bars[k];
			r->count = kept;
			shown += r->is_shown ? r->count : 0;
		}
		if (shown <= t->most)
			return;
	}
}

static void bars_fill(struct timeline *t, struct moment_row *moment, struct plots *ret)
{
	static const struct str names[ACTIVITIES] = { STR_INIT("compute"),
		STR_INIT("communication"), STR_INIT("copy"), STR_INIT("transfer") };

	moment->ops = moment->merged = moment->lanes = 0;
	for (ptrdiff_t i = 0; i < t->row_count; i++) {
		const struct row *r = &t->rows[i];
		moment->lanes += r->count > 0;
		for (ptrdiff_t k = 0; r->is_shown && k < r->count; k++) {
			const struct bar *b = &r->bars[k];
			struct timeline_row *row = plot_new(ret, timeline, t->keep);
			int64_t busy_ps = 0;
			int most = 0;
			for (int a = 0; a < ACTIVITIES; a++) {
				most = b->busy_ps[a] > b->busy_ps[most] ? a : most;
				busy_ps += b->busy_ps[a];
			}
			row->busy_s = (double)busy_ps * PS;
			row->moment = (double)(plot_count(ret, moment) - 1);
			row->lane = r->name;
			row->activity = names[most];
			row->kind = op_kind_name(b->kind);
			row->name = b->op->name;
			row->start_s = (double)(b->start_ps - t->step->start_ps) * PS;
			row->time_s = (double)(b->end_ps - b->start_ps) * PS;
			row->ops = (double)b->ops;
			moment->ops += row->ops;
			moment->merged += b->ops > 1 ? row->ops : 0;
		}
	}
}

static void rows_new(struct timeline *t)
{
	static const struct str flights[FLIGHTS] = { STR_INIT("collectives in flight"),
		STR_INIT("copies in flight"), STR_INIT("transfers in flight") };
	const struct plane *p = t->device->plane;

	t->row_count = p->lane_count + FLIGHTS;
	t->rows = arena_make(t->work, struct row, t->row_count);
	for (ptrdiff_t i = 0; i < t->row_count; i++)
		t->rows[i].name = i < p->lane_count ? text_clean(t->keep, p->lanes[i].name)
						    : flights[i - p->lane_count];
}

static const struct str roles[] = {
	[SHOWN_OTHER] = { NULL, 0 },
	[SHOWN_SLOWEST] = STR_INIT("slowest"),
	[SHOWN_MEDIAN] = STR_INIT("median"),
	[SHOWN_WAITING] = STR_INIT("waiting"),
};

static void fill(const struct capture *in, const struct swept *run, const struct shown *shown,
	struct timeline *t, struct plots *ret)
{
	struct moment_row *row = plot_new(ret, moment, t->keep);

	row->host = text_clean(in->keep, in->hosts[t->device->host].host);
	row->device = text_clean(in->keep, t->device->plane->name);
	row->role = roles[shown->role];
	row->own_s = shown->own_s;
	if (run->source != STEPS_WINDOW)
		row->step = (double)t->step->number;
	row->step_s = (double)step_length_ps(t->step) * PS;
	row->shown_s = (double)(t->until_ps - t->step->start_ps) * PS;
	row->lanes_shown = (double)choose_rows(t);
	thin_out(t);
	row->sliver_s = (double)t->sliver_ps * PS;
	bars_fill(t, row, ret);
	if (!(row->shown_s > 0))
		row->shown_s = 0;
}

/* What it reads dies with it; its bars are copied into the plot. */
static bool read_device(const struct capture *in, const struct swept *run,
	const struct shown *shown, ptrdiff_t devices, struct plots *ret, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES);
	struct timeline *t = arena_make(&work, struct timeline, 1);
	bool ok;

	t->device = shown->device;
	t->step = shown->step;
	t->room = (int)(LANES_SHOWN / devices);
	t->most = PLOT_MAX_ROWS / devices;
	t->events = EVENTS_MAX / devices;
	t->registry = in->registry;
	t->keep = in->keep;
	t->work = &work;
	t->until_ps = t->step->end_ps;
	t->sliver_ps = step_length_ps(t->step) / PIXELS + 1;
	rows_new(t);
	ok = read_step(t, err);
	if (ok)
		fill(in, run, shown, t, ret);
	else
		diag_context(err, "%.*s", STR_ARG(t->device->plane->profile->input->path));
	arena_free(&work);
	return ok;
}

bool fill_timeline(
	const struct capture *in, const struct swept *run, struct plots *ret, struct diag *err)
{
	struct shown *shown;
	ptrdiff_t left_out, n = representative_step(in, run, &shown, &left_out);

	for (ptrdiff_t i = 0; i < n; i++)
		if (!read_device(in, run, &shown[i], n, ret, err))
			return false;
	for (ptrdiff_t i = 0; i < n; i++)
		plot_rows(ret, moment)[i].left_out = (double)left_out;
	return true;
}
