/* Memory at its fullest, and the buffers alive then. */
#include <math.h>

#include "report/prose.h"
#include "report/svg.h"

enum { BUFFERS = 10, NAME_COLUMNS = 28, BAR_HEIGHT = 10 };

static double peak_of(const struct memory_row *m)
{
	return m->window_peak_bytes > 0 ? m->window_peak_bytes : fmax(m->compiled_bytes, 0);
}

static const struct svg_key parts[] = {
	{ INK_COMPUTE, STR_INIT("arguments") },
	{ INK_COPY, STR_INIT("temporaries") },
	{ INK_ATTENTION, STR_INIT("outputs") },
	{ INK_TRANSFER, STR_INIT("alive beside the program") },
};
enum { PARTS = COUNT_OF(parts) };

static double part_of(const struct memory_row *m, int part)
{
	const double values[PARTS] = { m->arguments_bytes, m->temp_bytes, m->output_bytes,
		m->other_live_bytes };
	return values[part] > 0 && isfinite(values[part]) ? values[part] : 0;
}

static void add_bytes(
	struct svg_rows *rows, const char *name, enum ink ink, double bytes, struct arena *keep)
{
	if (!(bytes > 0))
		return;
	svg_row_add(rows, str_from(name), bytes_text(keep, bytes), keep);
	svg_bar_add(rows, 0, ink, 0, bytes, MISSING, keep);
}

/* What the program needs by its parts, what was in use, and what there is. */
static void add_device(struct svg_rows *rows, const struct memory_row *m, struct arena *keep)
{
	double at = 0, all = 0;
	for (int i = 0; i < PARTS; i++)
		all += part_of(m, i);
	if (all > 0)
		svg_row_add(rows, STR("planned"),
			bytes_text(keep, m->compiled_bytes > 0 ? m->compiled_bytes : all), keep);
	for (int i = 0; i < PARTS; i++) {
		double bytes = part_of(m, i);
		if (!(bytes > 0.001 * all)) /* a sliver has no key */
			continue;
		svg_bar_add(rows, 0, parts[i].ink, at, at + bytes,
			arena_fmt(keep, "%.*s: %.*s", STR_ARG(parts[i].text),
				STR_ARG(bytes_text(keep, bytes))),
			keep);
		at += bytes;
	}
	if (!(all > 0))
		add_bytes(rows, "planned", INK_COMPUTE, m->compiled_bytes, keep);
	add_bytes(rows, "peak", INK_BAD, m->window_peak_bytes, keep);
	add_bytes(rows, "capacity", INK_IDLE, m->capacity_bytes, keep);
}

/* What the elements need is solid; padding is red. */
static void add_buffer(struct svg_rows *rows, const struct buffers_row *b, struct arena *keep)
{
	struct str op = html_clip(b->op, NAME_COLUMNS, keep), size = bytes_text(keep, b->bytes);
	double padding = b->unpadded_bytes > 0 ? fmax(b->bytes - b->unpadded_bytes, 0) : 0;
	svg_row_add(rows,
		arena_fmt(keep, "%.*s \xc2\xb7 %.*s%s%.*s", STR_ARG(op), STR_ARG(b->kind),
			b->shape.len ? " \xc2\xb7 " : "", STR_ARG(b->shape)),
		size, keep);
	svg_bar_add(rows, 0, INK_IDLE, 0, b->bytes - padding,
		arena_fmt(keep, "%.*s: %.*s", STR_ARG(b->op), STR_ARG(size)), keep);
	svg_bar_add(rows, 0, INK_BAD, b->bytes - padding, b->bytes,
		arena_fmt(keep, "padding: %.*s", STR_ARG(bytes_text(keep, padding))), keep);
}

static struct str padding_text(const struct report *r, struct arena *keep)
{
	const struct buffers_row *rows = table_rows(&r->tables, buffers);
	double padding = 0, bytes = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, buffers); i++) {
		bytes += fmax(rows[i].bytes, 0);
		if (rows[i].unpadded_bytes > 0)
			padding += fmax(rows[i].bytes - rows[i].unpadded_bytes, 0);
	}
	if (!(padding > 0.005 * bytes))
		return STR("; next to nothing of it is padding");
	return arena_fmt(keep, "; padding is %.*s of the buffers listed",
		STR_ARG(ratio_text(keep, padding / bytes)));
}

static struct str memory_caption(
	const struct report *r, const struct memory_row *row, bool has_buffers, struct arena *keep)
{
	struct out *o = out_memory(keep);
	bool is_seen = row->window_peak_bytes > 0;
	out_fmt(o, "%.*s %s %.*s", STR_ARG(capital(row->device, keep)),
		is_seen ? "peaks at" : "is planned for", STR_ARG(bytes_text(keep, peak_of(row))));
	if (row->capacity_bytes > 0)
		out_fmt(o, ", %.*s of its %.*s",
			STR_ARG(ratio_text(keep, peak_of(row) / row->capacity_bytes)),
			STR_ARG(bytes_text(keep, row->capacity_bytes)));
	if (r->row_totals[TABLE_memory] > 1)
		out_fmt(o, ", the fullest of %.0f", r->row_totals[TABLE_memory]);
	if (has_buffers)
		out_str(o, padding_text(r, keep));
	out_char(o, '.');
	return out_text(o);
}

bool svg_memory(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-memory", "Memory", NULL,
		"What the program needs of a device's memory, and the largest buffers alive at its "
		"peak.",
		SVG_HALF, svg_draw_rows };
	const struct memory_row *rows = table_rows(&r->tables, memory), *row = NULL;
	const struct buffers_row *b = table_rows(&r->tables, buffers);
	struct svg_rows *device = svg_rows_new(BAR_HEIGHT, keep);
	struct svg_rows *buffers = svg_rows_new(BAR_HEIGHT, keep);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, memory); i++)
		if (peak_of(&rows[i]) > 0 && (!row || peak_of(&rows[i]) > peak_of(row)))
			row = &rows[i];
	if (!row)
		return false;
	add_device(device, row, keep);
	device->keys = parts;
	device->key_count = PARTS;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, buffers) && i < BUFFERS; i++)
		if (b[i].bytes > 0.002 * b[0].bytes)
			add_buffer(buffers, &b[i], keep);
	buffers->title = "Largest buffers at the program's peak";
	device->next = buffers->count ? buffers : NULL;
	*ret = svg_picture(&plot, device, memory_caption(r, row, buffers->count > 0, keep), keep);
	return true;
}
