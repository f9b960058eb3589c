/*
 * The table of compilations that the host recorded in the window.
 */
#include <math.h>

#include "measure/writers.h"

/* The host time from the end of the warm-up to the end of the last step, on any device. */
static bool steps_span(const struct run *run, int32_t host, int64_t *from, int64_t *to)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		const struct sweep *s = &d->sweep;
		if (d->host != host || s->steady_count + s->other_count < 2)
			continue;
		int64_t start = s->first_end_ps + d->plane->host_shift_ps;
		int64_t end = s->last_end_ps + d->plane->host_shift_ps;
		*from = !any || start < *from ? start : *from;
		*to = !any || end > *to ? end : *to;
		any = true;
	}
	return any;
}

/* Time of the call in which the device that ends last ran nothing. */
static int64_t waited_ps(const struct lasting *l, const struct host_span *call)
{
	int64_t shift_ps = l->device->plane->host_shift_ps;
	int64_t waited = call->end_ps - call->start_ps;

	for (ptrdiff_t i = 0; i < l->run_count; i++) {
		int64_t from = l->runs[i].start_ps + shift_ps, to = l->runs[i].end_ps + shift_ps;
		from = from > call->start_ps ? from : call->start_ps;
		to = to < call->end_ps ? to : call->end_ps;
		waited -= to > from ? to - from : 0;
	}
	return waited;
}

/*
 * A call of a jitted function only enqueues its work, unless it compiles it first.  In all captures
 * at hand each call that took this long, and this many times the median one, has a compilation in
 * it.  A call that waits for earlier work can be as long, but not while the device waits for it.
 */
#define COMPILING_PS	INT64_C(10000000000)
#define COMPILING_RATIO 20
/* Calls to look at: each is compared with all others. */
#define COMPILING_CALLS 16

static bool call_compiles(const struct host_spans *calls, const struct host_span *call)
{
	ptrdiff_t all = 0, shorter = 0;

	for (ptrdiff_t i = 0; i < calls->count; i++) {
		const struct host_span *c = &calls->items[i];
		if (c->name.p != call->name.p)
			continue;
		all++;
		shorter += (c->end_ps - c->start_ps) <=
			   (call->end_ps - call->start_ps) / COMPILING_RATIO;
	}
	return shorter * 2 > all;
}

/* Was a function compiled inside the steps, and that compilation not recorded? */
static bool compiled_unseen(const struct run *run)
{
	const struct lasting *l = &run->lasting;
	const struct host_spans *calls = &run->facts.launches;
	int64_t from = 0, to = 0;
	int looked = 0;

	if (!l->device || run->source == STEPS_WINDOW ||
		!steps_span(run, l->device->host, &from, &to))
		return false;
	for (ptrdiff_t i = 0; i < calls->count && looked < COMPILING_CALLS; i++) {
		const struct host_span *c = &calls->items[i];
		if (c->host != l->device->host || c->end_ps - c->start_ps < COMPILING_PS ||
			c->end_ps <= from || c->start_ps >= to ||
			host_spans_meet(&run->facts.compiles, c->host, c->start_ps, c->end_ps))
			continue;
		looked++;
		if (waited_ps(l, c) > (c->end_ps - c->start_ps) / 2 && call_compiles(calls, c))
			return true;
	}
	return false;
}

double fill_compiles(const struct run *run)
{
	const struct host_spans *c = &run->facts.compiles;
	int64_t in_steps = 0;

	for (ptrdiff_t i = 0; i < c->count; i++) {
		const struct host_span *s = &c->items[i];
		struct compiles_row *row = table_new(run->tables, compiles, run->keep);
		int64_t from = 0, to = 0;

		row->module = s->name;
		row->programs = 0;
		for (ptrdiff_t k = 0; k < registry_program_count(run->registry); k++) {
			const struct program *p = registry_program_at(run->registry, k);
			row->programs += p->id != PROGRAM_UNKNOWN && str_eq(p->module, s->name) &&
					 aggregate_program(run->sums, k).count > 0;
		}
		row->start_s = (double)s->start_ps * PS;
		row->time_s = (double)(s->end_ps - s->start_ps) * PS;
		if (run->source != STEPS_WINDOW)
			row->in_step = steps_span(run, s->host, &from, &to) && s->start_ps < to &&
				       s->end_ps > from;
		in_steps += row->in_step > 0;
	}
	return in_steps == 0 && compiled_unseen(run) ? (double)NAN : (double)in_steps;
}
