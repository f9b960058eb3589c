/*
 * The table of compilations that the host recorded in the window.
 */
#include "measure/measured.h"

/* The host time from the end of the first step to the end of the last, on any device. */
static bool steps_span(const struct measured *m, int32_t host, int64_t *from, int64_t *to)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
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

void fill_compiles(struct measured *m)
{
	const struct host_spans *c = &m->facts.compiles;

	for (ptrdiff_t i = 0; i < c->count; i++) {
		const struct host_span *s = &c->items[i];
		struct compiles_row *row = table_new(m->tables, compiles, m->keep);
		int64_t from = 0, to = 0;

		row->module = s->name;
		row->programs = 0;
		for (ptrdiff_t k = 0; k < table_count(m->tables, programs); k++)
			row->programs += str_eq(table_rows(m->tables, programs)[k].module, s->name);
		row->start_s = (double)s->start_ps * PS;
		row->time_s = (double)(s->end_ps - s->start_ps) * PS;
		if (m->source != STEPS_WINDOW)
			row->in_step = steps_span(m, s->host, &from, &to) && s->start_ps < to &&
				       s->end_ps > from;
	}
}
