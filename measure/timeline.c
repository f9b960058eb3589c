/*
 * One step as bars: the devices it is shown on are swept once more, and the picture is a sink of
 * that sweep.
 *
 * The step is the earliest steady one of the first device whose length is within 2% of the median,
 * so that little is read again.  Of many devices the first is drawn, and those that a reader looks
 * for: the one that keeps the others waiting, the one that waits most, and the median between them.
 *
 * On each lane a bar is what runs innermost; what is too short for the eye is joined to its
 * neighbours, and what is in flight asynchronously has lanes of its own.
 *
 *	XLA Ops                    |--fusion--|ag-start|--fusion--|---ag-done---|
 *	collectives in flight                 |=========all-gather=============|
 */
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/plots.h"
#include "measure/writers.h"

/* Bars of a lane are drawn on so many units of width; less than one is a sliver. */
#define PIXELS 600
/* Lanes of a picture that still fits a screen: a GPU that computes has about five. */
#define LANES_SHOWN 16
/*
 * Events read for a picture, on all its devices: a third of a second.  Behind them no step is
 * looked for.
 */
#define EVENTS_MAX 4000000
/* Asynchronous pairs of one step; more are not drawn. */
#define FLIGHT_MAX 65536

/* In flight there is no lane for what computes, or for what an unknown op does. */
enum { ACTIVITIES = 4, FLIGHTS = ACTIVITIES - 1 };

/* ---- which step, on which devices ------------------------------------------------------------ */

/* Devices that the picture of a step shows.  More would not fit a screen. */
#define SHOWN_DEVICES 4
/* In the order of ROLE_WORDS. */
enum shown_role { SHOWN_OTHER, SHOWN_SLOWEST, SHOWN_MEDIAN, SHOWN_WAITING };
struct shown {
	const struct device *device;
	const struct swept_step *step;
	double own_s; /* mean of its steady steps, without waiting for others */
	enum shown_role role;
};

/* How far from the median a step may be and still stand for the others. */
#define TYPICAL 0.02
/* Devices that differ by less than this share of a step are alike: none is called slow. */
#define ALIKE 0.01

/* A length of zero stands for nothing. */
static bool stands_for_others(const struct swept_step *s)
{
	return step_is_steady(s) && s->end_ps > s->start_ps;
}

/* The median is the length of one of them, so there is one when any is steady. */
static const struct swept_step *typical_step(const struct sweep *s, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, s->step_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (stands_for_others(&s->steps[i]))
			lengths[n++] = step_length_ps(&s->steps[i]);
	sort_integers(lengths, n);
	double median_ps = n ? (double)lengths[(n - 1) / 2] : 0;
	for (ptrdiff_t i = 0; i < s->step_count; i++) {
		double off = fabs((double)step_length_ps(&s->steps[i]) - median_ps);
		if (stands_for_others(&s->steps[i]) && off <= TYPICAL * median_ps)
			return &s->steps[i];
	}
	return NULL;
}

static const struct swept_step *step_numbered(const struct sweep *s, int64_t number)
{
	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (s->steps[i].number == number && stands_for_others(&s->steps[i]))
			return &s->steps[i];
	return NULL;
}

/* Of a steady step: what a device takes when it does not wait for others. */
static double own_s(const struct sweep *s)
{
	struct mask_sum sum = mask_sum(s->mask_ps, s->idle_ps);
	double steps = (double)s->steady_count;

	return steps > 0 ? ((double)s->steady_ps * PS - sum.exposed) / steps : (double)NAN;
}

static int by_own(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order = order_numbers(y->own_s, x->own_s);

	return order ? order : order_integers(x->device - y->device, 0);
}

static int by_place(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	return order_integers(x->device - y->device, 0);
}

static void name_roles(struct shown *all, ptrdiff_t n, double step_s)
{
	sort_by(all, n, by_own);
	if (n < 2 || !(all[0].own_s - all[n - 1].own_s > ALIKE * step_s))
		return;
	all[(n - 1) / 2].role = SHOWN_MEDIAN;
	all[n - 1].role = SHOWN_WAITING;
	all[0].role = SHOWN_SLOWEST;
}

static ptrdiff_t choose_devices(const struct run *run, struct shown **ret, ptrdiff_t *left_out)
{
	const struct swept_step *step =
		run->first ? typical_step(&run->first->sweep, *run->keep) : NULL;
	struct shown *all = arena_make(run->keep, struct shown, run->device_count);
	ptrdiff_t n = 0, kept = 0, room = SHOWN_DEVICES;

	*ret = all;
	if (!step)
		return 0;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		const struct swept_step *its =
			d == run->first ? step : step_numbered(&d->sweep, step->number);
		if (its)
			all[n++] = (struct shown){ d, its, own_s(&d->sweep), SHOWN_OTHER };
	}
	name_roles(all, n, (double)step_length_ps(step) * PS);
	sort_by(all, n, by_place);
	/* Those with a role, the first, and then the next until the picture is full. */
	for (ptrdiff_t i = 0; i < n; i++)
		room -= all[i].role != SHOWN_OTHER || all[i].device == run->first;
	for (ptrdiff_t i = 0; i < n; i++)
		if (all[i].role != SHOWN_OTHER || all[i].device == run->first || room-- > 0)
			all[kept++] = all[i];
	*left_out = n - kept;
	return kept;
}

/* ---- bars ------------------------------------------------------------------------------------ */

struct bar {
	int64_t start_ps, end_ps, busy_ps[ACTIVITIES], longest_ps;
	int64_t ops;
	const struct subject *op; /* the longest */
	enum op_kind kind;
};

struct row {
	struct str name;
	struct bar *bars;
	ptrdiff_t count, cap;
	int64_t busy_ps;
	bool is_shown;
};

struct timeline {
	const struct device *device;
	const struct swept_step *step;
	int room;		   /* lanes it may have */
	ptrdiff_t most;		   /* bars */
	struct arena *keep, *work; /* work: for what dies with this picture's reading */
	int64_t sliver_ps;
	struct row *rows; /* one per lane of the plane, then those in flight */
	ptrdiff_t row_count;
	struct sweep_watch watch;
};

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
	/* Kernels of one stream may overlap: each is reported as it ends. */
	if (b->start_ps < into->start_ps)
		into->start_ps = b->start_ps;
	if (b->end_ps > into->end_ps)
		into->end_ps = b->end_ps;
	if (b->longest_ps <= into->longest_ps)
		return;
	into->longest_ps = b->longest_ps;
	into->op = b->op;
	into->kind = b->kind;
}

/* The part within what is shown; a sink of the sweep. */
static bool take(void *to, const struct sweep_stretch *s, bool is_new)
{
	struct timeline *t = to;
	bool in_flight = s->lane < 0;
	int activity = activity_index(s->kind);
	int64_t from = s->start_ps > t->step->start_ps ? s->start_ps : t->step->start_ps;
	int64_t end = s->end_ps < t->watch.until_ps ? s->end_ps : t->watch.until_ps;

	if (end <= from || (in_flight && activity == 0))
		return false;
	struct row *r = &t->rows[in_flight ? t->row_count - FLIGHTS + activity - 1 : s->lane];
	if (in_flight && r->count >= FLIGHT_MAX)
		return false;
	struct bar b = { .start_ps = from,
		.end_ps = end,
		.longest_ps = end - from,
		.ops = is_new,
		.op = s->op,
		.kind = s->kind };
	b.busy_ps[activity] = end - from;
	r->busy_ps += end - from;
	if (!in_flight && r->count > 0 && joins(&r->bars[r->count - 1], &b, t->sliver_ps))
		join(&r->bars[r->count - 1], &b);
	else
		*arena_push(t->work, r->bars, r->count, r->cap) = b;
	return true;
}

static int bar_cmp(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	order = order ? order : order_integers(x->end_ps, y->end_ps);
	return order ? order : str_cmp(x->op->name, y->op->name);
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
			row->activity = word_at(ACTIVITY_WORDS, most);
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

static void fill(
	const struct run *run, const struct shown *shown, struct timeline *t, struct plots *ret)
{
	struct moment_row *row = plot_new(ret, moment, t->keep);

	row->host = t->device->host_name;
	row->device = t->device->name;
	row->role = word_at(ROLE_WORDS, shown->role - 1);
	row->own_s = shown->own_s;
	if (run->source != STEPS_WINDOW)
		row->step = (double)t->step->number;
	row->step_s = (double)step_length_ps(t->step) * PS;
	row->shown_s = (double)(t->watch.until_ps - t->step->start_ps) * PS;
	row->lanes_shown = (double)choose_rows(t);
	thin_out(t);
	row->sliver_s = (double)t->sliver_ps * PS;
	bars_fill(t, row, ret);
	if (!(row->shown_s > 0))
		row->shown_s = 0;
}

/*
 * The device is swept once more, with no step to measure.  What that reads dies with it; its bars
 * are copied into the plot.
 */
static bool read_device(const struct run *run, const struct shown *shown, ptrdiff_t devices,
	struct plots *ret, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES);
	const struct device *d = shown->device;
	struct timeline t = { .device = d,
		.step = shown->step,
		.room = (int)(LANES_SHOWN / devices),
		.most = PLOT_MAX_ROWS / devices,
		.keep = run->keep,
		.work = &work,
		.sliver_ps = step_length_ps(shown->step) / PIXELS + 1 };
	const struct step_plan plan = { .source = STEPS_PROGRAM, .watch = &t.watch };
	struct sweep swept;

	t.watch = (struct sweep_watch){ take, &t, shown->step->end_ps };
	rows_new(&t);
	plane_learn(d->plane, &work);
	bool ok = sweep_plane(d->plane, d->host, &plan, NULL, run->registry, EVENTS_MAX / devices,
		false, &work, &swept, err);
	plane_forget(d->plane);
	plane_drop(d->plane);
	/* What was in flight was drawn as it ended. */
	for (ptrdiff_t i = t.row_count - FLIGHTS; i < t.row_count; i++)
		sort_by(t.rows[i].bars, t.rows[i].count, bar_cmp);
	if (ok)
		fill(run, shown, &t, ret);
	arena_free(&work);
	return ok;
}

bool fill_timeline(const struct run *run, struct plots *ret, struct diag *err)
{
	struct shown *shown;
	ptrdiff_t left_out, n = choose_devices(run, &shown, &left_out);

	for (ptrdiff_t i = 0; i < n; i++)
		if (!read_device(run, &shown[i], n, ret, err))
			return false;
	for (ptrdiff_t i = 0; i < n; i++)
		plot_rows(ret, moment)[i].left_out = (double)left_out;
	return true;
}
