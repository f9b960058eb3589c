/*
 * Devices that share the processors of their host: XLA's virtual CPU devices.
 *
 * A program that runs on all of them is under way from the first device's begin to the last one's
 * end.  Which device gets a processor when is neither the host's doing nor the program's.  So of
 * the time in which a device waits outside of its executions, what lies inside another's of the
 * same program is time inside.
 *
 *	CPU:0   |--step--|        |--step--|
 *	CPU:1      |---step---|      |---step---|
 *	CPU:0 waits        |in |host|
 *
 * Refuses: devices that run programs of their own, which wait for each other as stages do.
 */
#include "base/stats.h"
#include "measure/writers.h"

struct spans {
	struct time_span *items; /* apart from each other, in order */
	ptrdiff_t count;
};

static int span_cmp(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	return order ? order : order_integers(x->end_ps, y->end_ps);
}

/* The executions of some devices of a host as one. */
static struct spans executions_of(const struct device *devices, ptrdiff_t count, struct arena *keep)
{
	struct spans ret = { 0 };
	ptrdiff_t n = 0, all = 0;

	for (ptrdiff_t i = 0; i < count; i++)
		all += devices[i].sweep.run_count;
	ret.items = arena_make(keep, struct time_span, all);
	for (ptrdiff_t i = 0; i < count; i++)
		for (ptrdiff_t k = 0; k < devices[i].sweep.run_count; k++) {
			const struct program_run *r = &devices[i].sweep.runs[k];
			ret.items[n++] = (struct time_span){ r->start_ps, r->end_ps };
		}
	sort_by(ret.items, n, span_cmp);
	for (ptrdiff_t i = 0; i < n; i++) {
		struct time_span *last = ret.count ? &ret.items[ret.count - 1] : NULL;
		if (!last || ret.items[i].start_ps > last->end_ps)
			ret.items[ret.count++] = ret.items[i];
		else if (ret.items[i].end_ps > last->end_ps)
			last->end_ps = ret.items[i].end_ps;
	}
	return ret;
}

/* Of the time between two moments, what lies in the spans. */
static int64_t covered_ps(const struct spans *s, int64_t from_ps, int64_t to_ps)
{
	int64_t sum_ps = 0;
	ptrdiff_t i;

	FIND_FIRST(i, 0, s->count, s->items[i].end_ps > from_ps);
	for (; i < s->count && s->items[i].start_ps < to_ps; i++) {
		int64_t lo = s->items[i].start_ps > from_ps ? s->items[i].start_ps : from_ps;
		int64_t hi = s->items[i].end_ps < to_ps ? s->items[i].end_ps : to_ps;
		sum_ps += hi - lo;
	}
	return sum_ps;
}

static void gaps_share(struct gap_heap *h, const struct spans *all)
{
	for (ptrdiff_t i = 0; i < h->count; i++) {
		struct swept_gap *g = &h->items[i];
		int64_t length_ps = g->end_ps - g->start_ps;
		g->inside |= 2 * covered_ps(all, g->start_ps, g->end_ps) > length_ps;
	}
}

/* The same of a step's stretches of one kind; without marks it is a single one. */
static int64_t stretches_ps(const struct step_plan *plan, const struct swept_step *step,
	enum mark_kind kind, const struct spans *s)
{
	int64_t sum_ps = 0;
	ptrdiff_t i;

	if (plan->mark_count == 0)
		return kind == MARK_STEP ? covered_ps(s, step->start_ps, step->end_ps) : 0;
	FIND_FIRST(i, 0, plan->mark_count, plan->marks[i].end_ps > step->start_ps);
	for (; i < plan->mark_count && plan->marks[i].start_ps < step->end_ps; i++)
		if (plan->marks[i].kind == kind)
			sum_ps += covered_ps(s, plan->marks[i].start_ps, plan->marks[i].end_ps);
	return sum_ps;
}

/* The steady steps that are kept stand for all of them. */
static void device_shares(struct device *d, const struct spans *all, struct arena scratch)
{
	struct sweep *s = &d->sweep;
	const struct spans own = executions_of(d, 1, &scratch);
	int64_t kept_ps = 0, shared_ps = 0, other_ps = 0;

	for (ptrdiff_t i = 0; i < s->step_count; i++) {
		const struct swept_step *step = &s->steps[i];
		if (!step_is_steady(step))
			continue;
		shared_ps += stretches_ps(&d->plan, step, MARK_STEP, all) -
			     stretches_ps(&d->plan, step, MARK_STEP, &own);
		other_ps += stretches_ps(&d->plan, step, MARK_OTHER, all) -
			    stretches_ps(&d->plan, step, MARK_OTHER, &own);
		kept_ps += step_length_ps(step);
	}
	if (kept_ps > 0) {
		double steady = (double)s->steady_ps, kept = (double)kept_ps;
		s->inside_ps += (int64_t)((double)shared_ps * steady / kept);
		s->other_wait_ps -= (int64_t)((double)other_ps * steady / kept);
	}
	for (ptrdiff_t i = 0; i < d->plan.mark_count; i++) {
		const struct step_mark *m = &d->plan.marks[i];
		if (m->is_counted)
			s->other_wait_ps -= covered_ps(all, m->start_ps, m->end_ps) -
					    covered_ps(&own, m->start_ps, m->end_ps);
	}
	s->inside_ps = s->inside_ps < s->idle_ps ? s->inside_ps : s->idle_ps;
	s->other_wait_ps = s->other_wait_ps > 0 ? s->other_wait_ps : 0;
	gaps_share(&s->gaps, all);
	gaps_share(&s->other_gaps, all);
}

void processors_share(struct run *run)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);

	for (ptrdiff_t i = 0, end; i < run->device_count; i = end) {
		struct device *d = &run->devices[i];
		const struct program *ran = heaviest_program(run, d);
		bool shares = d->plane->platform == PLATFORM_CPU && ran;
		for (end = i; end < run->device_count && run->devices[end].host == d->host; end++)
			shares = shares && !run->devices[end].sweep.runs_cut &&
				 heaviest_program(run, &run->devices[end]) == ran;
		struct arena work = scratch;
		if (!shares || end == i + 1)
			continue;
		const struct spans all = executions_of(d, end - i, &work);
		for (ptrdiff_t k = i; k < end; k++)
			device_shares(&run->devices[k], &all, work);
	}
	arena_free(&scratch);
}
