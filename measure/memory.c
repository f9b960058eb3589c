/*
 * The tables of memory: what the compiler planned, what the allocator saw, what lives at the peak.
 *
 * The three figures stay apart.  They are compared only where they mean the same: reserved plus
 * allocated against the program's plan plus whatever else was alive.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "measure/op_key.h"
#include "measure/measured.h"

bool program_memory(struct measured *m, const struct program *p, struct hlo_memory *ret)
{
	struct diag *err = arena_make(m->keep, struct diag, 1);

	if (!p->hlo)
		return false;
	if (hlo_memory(p->hlo, 0, m->keep, ret, err))
		return true;
	if (err->id != DIAG_NONE) {
		diag_note(m->notes, m->keep, err->id, "module %.*s: %s", STR_ARG(p->module),
			err->text);
		m->plan_unread = p->module;
	}
	return false;
}

const struct program *largest_program(struct measured *m, struct hlo_memory *ret)
{
	const struct program *best = NULL;

	for (ptrdiff_t i = 0; i < registry_program_count(m->registry); i++) {
		const struct program *p = registry_program_at(m->registry, i);
		struct hlo_memory memory;

		if (!program_memory(m, p, &memory))
			continue;
		if (!best || memory.allocated_bytes > ret->allocated_bytes ||
			(memory.allocated_bytes == ret->allocated_bytes && p->id < best->id)) {
			best = p;
			*ret = memory;
		}
	}
	return best;
}

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

static void allocator_row(struct measured *m, const struct allocator *a, const struct program *p,
	const struct hlo_memory *plan)
{
	struct memory_row *row = table_new(m->tables, memory, m->keep);

	row->host = text_clean(m->keep, m->hosts[a->host].host);
	row->device = a->name;
	row->capacity_bytes = (double)a->capacity_bytes;
	row->window_peak_bytes = (double)a->window_peak_bytes;
	if (a->lifetime_peak_bytes > 0)
		row->lifetime_peak_bytes = (double)a->lifetime_peak_bytes;
	row->fragmentation = a->fragmentation;
	row->samples = (double)a->samples;
	plan_columns(row, p, plan);
	if (p && !plan->total_only)
		row->other_live_bytes =
			fmax(0, (double)a->lowest_bytes - (double)plan->arguments_bytes);
}

/* Without allocator events the plan stands alone, once for each device: unknown where a program's
 * is there and cannot be read. */
static void device_rows(struct measured *m, const struct program *p, const struct hlo_memory *plan)
{
	for (ptrdiff_t i = 0; (p || m->plan_unread.p) && i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		struct memory_row *row = table_new(m->tables, memory, m->keep);

		row->host = text_clean(m->keep, m->hosts[d->host].host);
		row->device = text_clean(m->keep, d->plane->name);
		if (d->chip.chip)
			row->capacity_bytes = d->chip.chip->hbm_bytes.value * d->chip.share;
		plan_columns(row, p, plan);
	}
}

static void buffer_row(struct measured *m, const struct program *p, const struct hlo_memory *plan,
	const struct hlo_live_buffer *b)
{
	struct buffers_row *row = table_new(m->tables, buffers, m->keep);

	row->program = program_text(p, m->keep);
	row->op = row->key = text_clean(m->keep, b->name);
	row->kind = b->kind;
	row->bytes = (double)b->bytes;
	if (b->shape.dtype != DTYPE_INVALID) { /* a tuple's table of addresses has none */
		row->shape = text_clean(m->keep, shape_text(&b->shape, true, m->keep));
		row->padded_bytes = (double)shape_padded_bytes(&b->shape);
	}
	if (b->unpadded_bytes > 0) {
		row->unpadded_bytes = (double)b->unpadded_bytes;
		row->padding_ratio = (double)b->bytes / (double)b->unpadded_bytes;
	}
	row->share = (double)b->bytes / (double)plan->allocated_bytes;
	if (b->instruction < 0)
		return;
	const struct hlo_instruction *i = &p->hlo->instructions[b->instruction];
	row->key = buffer_key_text(i, row->kind, m->keep);
	if (i->op_name.len > 0)
		row->scope = text_clean(m->keep, i->op_name);
	if (i->source.file.len > 0) {
		row->source_file = text_clean(m->keep, i->source.file);
		row->source_line = (double)i->source.line;
	}
}

/* Pinned host memory has an allocator too ("xla_gpu_host_bfc"); it is not a chip's. */
bool is_host_allocator(const struct allocator *a)
{
	return str_contains(a->name, STR("_host_"));
}

void fill_memory(struct measured *m)
{
	struct hlo_memory plan = { 0 };
	const struct program *p = largest_program(m, &plan);

	for (ptrdiff_t i = 0; i < m->facts.allocator_count; i++)
		if (!is_host_allocator(&m->facts.allocators[i]))
			allocator_row(m, &m->facts.allocators[i], p, &plan);
	if (table_count(m->tables, memory) == 0)
		device_rows(m, m->plan_unread.p ? NULL : p, &plan);
	for (ptrdiff_t i = 0; m->options->job && i < table_count(m->tables, memory); i++)
		table_rows(m->tables, memory)[i].owner_bytes =
			job_memory_bytes(m->options->job, m->shape.devices);
	for (ptrdiff_t i = 0; p && i < plan.live_count; i++)
		buffer_row(m, p, &plan, &plan.live[i]);
}
