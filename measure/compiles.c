/*
 * The table of compilations that the host recorded in the window.
 */
#include "measure/writers.h"

/* The host time from the end of the first step to the end of the last, on any device. */
static bool steps_span(const struct swept *run, int32_t host, int64_t *from, int64_t *to)
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

int64_t fill_compiles(const struct capture *in, const struct swept *run,
	const struct host_facts *facts, struct tables *tables)
{
	const struct host_spans *c = &facts->compiles;
	int64_t in_steps = 0;

	for (ptrdiff_t i = 0; i < c->count; i++) {
		const struct host_span *s = &c->items[i];
		struct compiles_row *row = table_new(tables, compiles, in->keep);
		int64_t from = 0, to = 0;

		row->module = s->name;
		row->programs = 0;
		for (ptrdiff_t k = 0; k < registry_program_count(in->registry); k++) {
			const struct program *p = registry_program_at(in->registry, k);
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
	return in_steps;
}
