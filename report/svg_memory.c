/* Memory at its fullest, and the buffers alive then. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

enum { LEFT = 8, KEYS_TOP = 90, BUFFERS = 10, BUFFER_HEIGHT = 30 };

/* ---- memory ---------------------------------------------------------------------------------- */

struct memory {
	const struct memory_row *row; /* the fullest device */
	const struct buffers_row *buffers;
	int buffer_count;
	double devices, most;
};

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
	return fmax(values[part], 0);
}

/* A mark across the bar, with its name above. */
static void draw_mark(struct svg *x, enum ink ink, const char *label, double bytes, double at,
	double top, double text_top)
{
	bool flip = at > x->width / 2;
	svg_stroke(x, ink, at, top - 4, at, top + 30, 2, false);
	svg_strong(x, ink, flip ? ANCHOR_END : ANCHOR_START, flip ? at - 4 : at + 4, text_top,
		arena_fmt(x->keep, "%s %.*s", label, STR_ARG(bytes_text(x->keep, bytes))));
}

static void draw_device(struct svg *x, const struct memory *m)
{
	const struct memory_row *row = m->row;
	double at = LEFT, top = 40, scale = (x->width - 2 * LEFT) / m->most;
	svg_rect(x, INK_TRACK, LEFT, top, m->most * scale, 26);
	for (int i = 0; i < PARTS; i++) {
		double width = part_of(row, i) * scale;
		svg_rect_title(x, parts[i].ink, at, top, width, 26,
			arena_fmt(x->keep, "%.*s: %.*s", STR_ARG(parts[i].text),
				STR_ARG(bytes_text(x->keep, part_of(row, i)))));
		at += width;
		/* A sliver has no key. */
		x->used[parts[i].ink] = part_of(row, i) > 0.001 * m->most;
	}
	if (row->compiled_bytes > 0)
		draw_mark(x, INK_MUTED, "planned", row->compiled_bytes,
			LEFT + row->compiled_bytes * scale, top, 14);
	if (row->window_peak_bytes > 0)
		draw_mark(x, INK_BAD, "peak", row->window_peak_bytes,
			LEFT + row->window_peak_bytes * scale, top, 29);
	if (row->capacity_bytes > 0)
		svg_text(x, INK_MUTED, ANCHOR_END, x->width - LEFT, top + 40,
			arena_fmt(x->keep, "capacity %.*s",
				STR_ARG(bytes_text(x->keep, row->capacity_bytes))));
	svg_keys(x, parts, PARTS, LEFT, KEYS_TOP);
}

/* What the elements need is solid; padding is red. */
static void draw_buffer(struct svg *x, const struct buffers_row *b, double scale, double top)
{
	int columns = svg_columns(x->width - LEFT);
	struct str op = html_clip(b->op, columns / 3, x->keep),
		   size = bytes_text(x->keep, b->bytes);
	struct str label = arena_fmt(x->keep, "%.*s \xc2\xb7 %.*s", STR_ARG(op), STR_ARG(b->kind));
	double width = fmax(b->bytes, 0) * scale;
	double padding = b->unpadded_bytes > 0 ? fmax(b->bytes - b->unpadded_bytes, 0) : 0;
	int room = columns - 6 - text_columns(op) - (int)b->kind.len;
	if (b->shape.len)
		label = arena_fmt(x->keep, "%.*s \xc2\xb7 %.*s", STR_ARG(label),
			STR_ARG(html_clip(b->shape, room > 8 ? room : 8, x->keep)));
	svg_text(x, INK_TEXT, ANCHOR_START, LEFT, top + 10, label);
	svg_rect_title(x, INK_IDLE, LEFT, top + 14, width - padding * scale, 10,
		arena_fmt(x->keep, "%.*s: %.*s", STR_ARG(b->op), STR_ARG(size)));
	svg_rect_title(x, INK_BAD, LEFT + width - padding * scale, top + 14, padding * scale, 10,
		arena_fmt(x->keep, "padding: %.*s", STR_ARG(bytes_text(x->keep, padding))));
	svg_strong(x, INK_TEXT, ANCHOR_START, LEFT + width + 6, top + 23, size);
}

static double draw_memory(struct svg *x, const void *what)
{
	const struct memory *m = what;
	double top = KEYS_TOP + (x->is_narrow ? 50 : 32);
	draw_device(x, m);
	if (!m->buffer_count)
		return top - 10;
	svg_strong(x, INK_TEXT, ANCHOR_START, LEFT, top + 8,
		STR("Largest buffers at the program's peak"));
	double scale = (x->width - 2 * LEFT - 76) / m->buffers[0].bytes;
	for (int i = 0; i < m->buffer_count; i++)
		draw_buffer(x, &m->buffers[i], scale, top + 18 + i * BUFFER_HEIGHT);
	return top + 18 + m->buffer_count * BUFFER_HEIGHT;
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

static struct str memory_caption(const struct report *r, const struct memory *m, struct arena *keep)
{
	const struct memory_row *row = m->row;
	struct out *o = out_memory(keep);
	bool is_seen = row->window_peak_bytes > 0;
	out_fmt(o, "%.*s %s %.*s", STR_ARG(row->device), is_seen ? "peaks at" : "is planned for",
		STR_ARG(bytes_text(keep, peak_of(row))));
	if (row->capacity_bytes > 0)
		out_fmt(o, ", %.*s of its %.*s",
			STR_ARG(ratio_text(keep, peak_of(row) / row->capacity_bytes)),
			STR_ARG(bytes_text(keep, row->capacity_bytes)));
	if (m->devices > 1)
		out_fmt(o, ", the fullest of %.0f", m->devices);
	if (m->buffer_count)
		out_str(o, padding_text(r, keep));
	out_char(o, '.');
	return out_text(o);
}

bool svg_memory(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-memory", "Memory", NULL,
		"What the program needs of a device's memory, and the largest buffers alive at its "
		"peak.",
		SVG_HALF, draw_memory };
	struct memory *m = arena_make(keep, struct memory, 1);
	const struct memory_row *rows = table_rows(&r->tables, memory);
	double parts_sum = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, memory); i++)
		if (peak_of(&rows[i]) > 0 && (!m->row || peak_of(&rows[i]) > peak_of(m->row)))
			m->row = &rows[i];
	if (!m->row)
		return false;
	for (int i = 0; i < PARTS; i++)
		parts_sum += part_of(m->row, i);
	m->most = fmax(fmax(m->row->capacity_bytes, m->row->compiled_bytes),
		fmax(m->row->window_peak_bytes, parts_sum));
	m->devices = r->row_totals[TABLE_memory];
	m->buffers = table_rows(&r->tables, buffers);
	while (m->buffer_count < BUFFERS && m->buffer_count < table_count(&r->tables, buffers) &&
		m->buffers[m->buffer_count].bytes > 0.002 * m->buffers[0].bytes)
		m->buffer_count++;
	*ret = svg_picture(&plot, m, memory_caption(r, m, keep), keep);
	return true;
}
