/*
 * Memory over time: what the fullest allocator held in the window, and what the compiler planned
 * over one run of the largest program.
 */
#include <math.h>

#include "base/text.h"
#include "measure/writers.h"
#include "measure/plots.h"

/* The first of those with the highest peak that have a curve. */
static const struct allocator *fullest(const struct host_facts *f)
{
	const struct allocator *best = NULL;

	for (ptrdiff_t i = 0; i < f->allocator_count; i++) {
		const struct allocator *a = &f->allocators[i];
		if (!is_host_allocator(a) && a->used && a->used->count > 1 &&
			(!best || a->window_peak_bytes > best->window_peak_bytes))
			best = a;
	}
	return best;
}

static void point_row(const struct capture *in, struct plots *ret, struct str source,
	double position, int64_t most, int64_t least)
{
	struct usage_row *row = plot_new(ret, usage, in->keep);

	row->source = source;
	row->position = position;
	row->bytes = (double)most;
	row->least_bytes = (double)least;
}

static void allocator_curve(const struct capture *in, const struct allocator *a, struct plots *ret)
{
	const struct curve *c = a->used;
	struct curves_row *row = plot_new(ret, curves, in->keep);
	double length = (double)(c->last_ps - c->first_ps);

	row->source = STR("allocator");
	row->host = text_clean(in->keep, in->hosts[a->host].host);
	row->device = a->name;
	row->length_s = length * PS;
	row->slot_s = (double)curve_slot_ps(c) * PS;
	row->samples = (double)c->samples;
	for (ptrdiff_t i = 0; i < c->count; i++)
		point_row(in, ret, row->source, (double)(curve_at_ps(c, i) - c->first_ps) / length,
			c->slots[i].most, c->slots[i].least);
}

static void schedule_curve(const struct capture *in, const struct program *p, struct plots *ret)
{
	struct hlo_memory_point *points =
		arena_make(in->keep, struct hlo_memory_point, CURVE_SLOTS);
	int64_t events;
	ptrdiff_t count = hlo_memory_points(p->hlo, 0, in->keep, points, CURVE_SLOTS, &events);

	if (count < 2)
		return;
	struct curves_row *row = plot_new(ret, curves, in->keep);
	row->source = STR("schedule");
	row->module = p->module;
	row->samples = (double)events;
	for (ptrdiff_t i = 0; i < count; i++)
		point_row(in, ret, row->source, (double)i / (double)count, points[i].most,
			points[i].least);
}

void fill_usage(const struct capture *in, const struct host_facts *facts,
	const struct memory_plans *plans, struct plots *ret)
{
	const struct allocator *a = fullest(facts);

	if (a)
		allocator_curve(in, a, ret);
	if (plans->largest)
		schedule_curve(in, plans->largest, ret);
}
