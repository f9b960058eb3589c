/*
 * The tables of memory: what the compiler planned, what the allocator saw, what lives at the peak.
 *
 * Over time: what the fullest allocator held in the window, and what the compiler planned over one
 * run of the largest program.
 *
 * The three figures stay apart.  They are compared only where they mean the same: reserved plus
 * allocated against the program's plan plus whatever else was alive.
 */
#include <math.h>

#include "base/text.h"
#include "measure/op_key.h"
#include "measure/plots.h"
#include "measure/writers.h"

static void plan_columns(
	struct memory_row *row, const struct program *p, const struct hlo_memory *plan)
{
	if (!p)
		return;
	row->compiled_program = p->module;
	row->compiled_bytes = (double)plan->allocated_bytes;
	if (plan->total_only)
		return;
	row->arguments_bytes = (double)plan->arguments_bytes;
	row->temp_bytes = (double)plan->temp_bytes;
	row->output_bytes = (double)(plan->output_bytes - plan->alias_bytes);
}

static void allocator_row(const struct run *run, const struct allocator *a, const struct program *p,
	const struct hlo_memory *plan)
{
	struct memory_row *row = table_new(run->tables, memory, run->keep);

	row->host = text_clean(run->keep, run->hosts[a->host].host);
	row->device = a->name;
	row->capacity_bytes = (double)a->capacity_bytes;
	row->window_peak_bytes = (double)a->window_peak_bytes;
	if (a->lifetime_peak_bytes > 0)
		row->lifetime_peak_bytes = (double)a->lifetime_peak_bytes;
	row->fragmentation = a->fragmentation;
	row->samples = (double)a->samples;
	int64_t growth = a->used && run->step_time_s > 0 ? curve_growth(a->used) : -1;
	if (growth >= 0 && run->first) {
		const struct sweep *s = &run->first->sweep;
		double steps = (double)(s->last_ps - s->first_ps) * PS / run->step_time_s;
		row->growth_bytes = (double)growth / fmax(steps, 1);
	}
	plan_columns(row, p, plan);
	if (p && !plan->total_only)
		row->other_live_bytes =
			fmax(0, (double)a->lowest_bytes - (double)plan->arguments_bytes);
}

/* Without allocator events the plan stands alone, once for each device: unknown where a program's
 * is there and cannot be read. */
static void device_rows(const struct run *run, const struct programs *programs,
	const struct program *p, const struct hlo_memory *plan)
{
	for (ptrdiff_t i = 0; (p || programs->unread.p) && i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		struct memory_row *row = table_new(run->tables, memory, run->keep);

		row->host = d->host_name;
		row->device = d->name;
		if (d->chip.chip)
			row->capacity_bytes = d->chip.chip->hbm_bytes.value * d->chip.share;
		plan_columns(row, p, plan);
	}
}

static void buffer_row(const struct run *run, const struct program *p,
	const struct hlo_memory *plan, const struct hlo_live_buffer *b)
{
	struct buffers_row *row = table_new(run->tables, buffers, run->keep);

	row->program = program_text(p, run->keep);
	row->op = row->key = text_clean(run->keep, b->name);
	row->kind = b->kind;
	row->bytes = (double)b->bytes;
	if (b->shape.dtype != DTYPE_INVALID) { /* a tuple's table of addresses has none */
		row->shape = text_clean(run->keep, shape_text(&b->shape, true, run->keep));
		row->padded_bytes = (double)shape_padded_bytes(&b->shape);
	}
	if (b->unpadded_bytes > 0) {
		row->unpadded_bytes = (double)b->unpadded_bytes;
		row->padding_ratio = (double)b->bytes / (double)b->unpadded_bytes;
	}
	row->share = (double)b->bytes / (double)plan->allocated_bytes;
	if (b->instruction < 0)
		return;
	const struct hlo_instruction *i = &program_hlo(p)->instructions[b->instruction];
	row->key = buffer_key_text(i, row->kind, run->keep);
	if (i->op_name.len > 0)
		row->scope = text_clean(run->keep, i->op_name);
	if (i->source.file.len > 0) {
		row->source_file = text_clean(run->keep, i->source.file);
		row->source_line = (double)i->source.line;
	}
}

/* Pinned host memory has an allocator too ("xla_gpu_host_bfc"); it is not a chip's. */
static bool is_host_allocator(const struct allocator *a)
{
	return str_contains(a->name, STR("_host_"));
}

void fill_memory(const struct run *run, const struct programs *programs)
{
	const struct program *p = programs->largest;
	const struct hlo_memory *plan = p ? p->plan : NULL;

	for (ptrdiff_t i = 0; i < run->facts.allocator_count; i++)
		if (!is_host_allocator(&run->facts.allocators[i]))
			allocator_row(run, &run->facts.allocators[i], p, plan);
	if (table_count(run->tables, memory) == 0)
		device_rows(run, programs, programs->unread.p ? NULL : p, plan);
	for (ptrdiff_t i = 0; run->options->job && i < table_count(run->tables, memory); i++)
		table_rows(run->tables, memory)[i].owner_bytes =
			job_memory_bytes(run->options->job, run->shape.devices);
	for (ptrdiff_t i = 0; p && i < plan->live_count; i++)
		buffer_row(run, p, plan, &plan->live[i]);
}

/* ---- memory over time ------------------------------------------------------------------------ */

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

static void point_row(const struct run *run, struct plots *ret, struct str source, double position,
	int64_t most, int64_t least)
{
	struct usage_row *row = plot_new(ret, usage, run->keep);

	row->source = source;
	row->position = position;
	row->bytes = (double)most;
	row->least_bytes = (double)least;
}

static void allocator_curve(const struct run *run, const struct allocator *a, struct plots *ret)
{
	const struct curve *c = a->used;
	struct curves_row *row = plot_new(ret, curves, run->keep);
	double length = (double)(c->last_ps - c->first_ps);

	row->source = STR("allocator");
	row->host = text_clean(run->keep, run->hosts[a->host].host);
	row->device = a->name;
	row->length_s = length * PS;
	row->slot_s = (double)curve_slot_ps(c) * PS;
	row->samples = (double)c->samples;
	for (ptrdiff_t i = 0; i < c->count; i++)
		point_row(run, ret, row->source, (double)(curve_at_ps(c, i) - c->first_ps) / length,
			c->slots[i].most, c->slots[i].least);
}

static void schedule_curve(const struct run *run, const struct program *p, struct plots *ret)
{
	struct hlo_memory_point *points =
		arena_make(run->keep, struct hlo_memory_point, CURVE_SLOTS);
	int64_t events;
	ptrdiff_t count =
		hlo_memory_points(program_hlo(p), run->keep, points, CURVE_SLOTS, &events);

	if (count < 2)
		return;
	struct curves_row *row = plot_new(ret, curves, run->keep);
	row->source = STR("schedule");
	row->module = p->module;
	row->samples = (double)events;
	for (ptrdiff_t i = 0; i < count; i++)
		point_row(run, ret, row->source, (double)i / (double)count, points[i].most,
			points[i].least);
}

void fill_usage(const struct run *run, const struct programs *programs, struct plots *ret)
{
	const struct allocator *a = fullest(&run->facts);

	if (a)
		allocator_curve(run, a, ret);
	if (programs->largest)
		schedule_curve(run, programs->largest, ret);
}
