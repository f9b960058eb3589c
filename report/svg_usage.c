/* Memory over time: what the allocator held, and what the compiler planned. */
#include <math.h>

#include "report/prose.h"
#include "report/svg.h"

enum { LEFT = 62, RIGHT = 18, PANEL = 196, HEIGHT = 124 };
enum { PANELS = 2, TITLE = 14, LINE_GAP = 14 };

struct panel {
	const struct curves_row *curve;
	const struct usage_row *points; /* `count` of them, of this curve alone */
	ptrdiff_t count;
	double peak;
};

struct usage {
	struct panel panels[PANELS];
	int count;
	double planned, capacity, most; /* bytes; 0 unknown */
};

/* ---- one curve ------------------------------------------------------------------------------- */

static double height_of(const struct usage *u, double bytes)
{
	return HEIGHT * fmax(0, fmin(bytes / u->most, 1));
}

/* The area below the most, or the least, that was in use. */
static void draw_area(struct svg *x, const struct usage *u, const struct panel *p, bool is_least,
	double width, double bottom)
{
	struct out *o = out_memory(x->keep);
	out_fmt(o, "M%d %.1f", LEFT, bottom);
	for (ptrdiff_t i = 0; i < p->count; i++) {
		const struct usage_row *point = &p->points[i];
		double bytes = is_least ? point->least_bytes : point->bytes;
		if (point->position >= 0 && point->position <= 1 && bytes >= 0)
			out_fmt(o, "H%.1fV%.1f", LEFT + width * point->position,
				bottom - height_of(u, bytes));
	}
	out_fmt(o, "H%.1fV%.1fZ", LEFT + width, bottom);
	svg_area(x, is_least ? INK_HIDDEN : INK_BAND, arena_z(x->keep, out_text(o)));
}

/* Each has its own place along its line; one that another line would cross stands below its own. */
static void draw_level(struct svg *x, const struct usage *u, enum ink ink, const char *name,
	double bytes, enum anchor anchor, double width, double bottom, double above)
{
	const double places[] = { LEFT + 6, LEFT + width / 2, LEFT + width - 4 };
	double at = bottom - height_of(u, bytes), gap = height_of(u, above) - height_of(u, bytes);
	bool is_crossed = gap > 0.5 && gap < LINE_GAP + 2;
	svg_stroke(x, ink, LEFT, at, LEFT + width, at, 1.5, anchor == ANCHOR_START);
	svg_strong(x, ink, anchor, places[anchor], is_crossed ? at + 12 : at - 4,
		arena_fmt(x->keep, "%s %.*s", name, STR_ARG(bytes_text(x->keep, bytes))));
}

static bool is_schedule(const struct panel *p)
{
	return str_eq(p->curve->source, STR("schedule"));
}

static void draw_panel(struct svg *x, const struct usage *u, const struct panel *p, double top)
{
	double bottom = top + TITLE + LINE_GAP + HEIGHT, width = x->width - LEFT - RIGHT;
	struct svg_scale bytes = svg_scale(u->most, UNIT_BYTES, 4);
	struct svg_scale along =
		is_schedule(p) ? svg_scale(1, UNIT_RATIO, x->is_narrow ? 2 : 5)
			       : svg_scale(p->curve->length_s, UNIT_SECONDS, x->is_narrow ? 3 : 6);
	const struct curves_row *c = p->curve;
	struct str name =
		is_schedule(p)
			? arena_fmt(x->keep, "Planned by the compiler for %.*s", STR_ARG(c->module))
			: arena_fmt(x->keep, "Held by the allocator of %.*s%s%.*s",
				  STR_ARG(c->device), c->host.len ? " on " : "", STR_ARG(c->host));
	svg_strong(x, INK_TEXT, ANCHOR_START, 4, top + 11,
		html_clip(name, svg_columns(width), x->keep));
	svg_scale_x(x, &along, LEFT, width, bottom - HEIGHT, bottom);
	svg_scale_y(x, &bytes, LEFT, LEFT + width, bottom - HEIGHT, bottom);
	draw_area(x, u, p, false, width, bottom);
	draw_area(x, u, p, true, width, bottom);
	if (u->capacity > 0 && u->capacity <= u->most)
		draw_level(
			x, u, INK_TEXT, "capacity", u->capacity, ANCHOR_MIDDLE, width, bottom, 0);
	if (u->planned > 0)
		draw_level(x, u, INK_TEXT, "planned", u->planned, ANCHOR_START, width, bottom,
			p->peak);
	draw_level(x, u, INK_BAD, "peak", p->peak, ANCHOR_END, width, bottom, u->planned);
}

static double draw_usage(struct svg *x, const void *what)
{
	static const struct svg_key keys[] = {
		{ INK_HIDDEN, STR_INIT("in use throughout a point") },
		{ INK_BAND, STR_INIT("in use at some moment of it") },
	};
	const struct usage *u = what;
	for (int i = 0; i < u->count; i++)
		draw_panel(x, u, &u->panels[i], i * PANEL);
	return svg_keys(x, keys, 2, LEFT, u->count * PANEL + 4) - 2;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* Points of a curve stand together, in its order. */
static void take_panel(const struct report *r, const struct curves_row *curve, struct usage *u)
{
	const struct usage_row *rows = plot_rows(&r->plots, usage);
	ptrdiff_t count = plot_count(&r->plots, usage), first = 0;
	struct panel *p = &u->panels[u->count];
	*p = (struct panel){ .curve = curve };
	while (first < count && !str_eq(rows[first].source, curve->source))
		first++;
	if (first == count)
		return;
	p->points = rows + first;
	for (; first + p->count < count && str_eq(p->points[p->count].source, curve->source);
		p->count++)
		if (p->points[p->count].bytes > p->peak)
			p->peak = p->points[p->count].bytes;
	bool has_length = is_schedule(p) || curve->length_s > 0;
	u->count += p->count > 1 && p->peak > 0 && isfinite(p->peak) && has_length;
}

/* A capacity that would flatten the curves is left to the words. */
static void scale_usage(const struct report *r, struct usage *u)
{
	const struct memory_row *rows = table_rows(&r->tables, memory), *row = NULL;
	const struct curves_row *c = u->panels[0].curve;
	double most = 0;
	/* The allocator's own row, else the first: a plan is the same for all. */
	for (ptrdiff_t i = table_count(&r->tables, memory); i-- > 0;) {
		bool is_own = str_eq(rows[i].device, c->device) && str_eq(rows[i].host, c->host);
		if (is_own || (i == 0 && !row))
			row = &rows[i];
	}
	if (row && row->compiled_bytes > 0 && isfinite(row->compiled_bytes))
		u->planned = row->compiled_bytes;
	if (row && row->capacity_bytes > 0 && isfinite(row->capacity_bytes))
		u->capacity = row->capacity_bytes;
	for (int i = 0; i < u->count; i++)
		most = fmax(most, u->panels[i].peak);
	most = fmax(most, u->planned);
	u->most = fmax(most, u->capacity <= 3 * most ? u->capacity : 0) * 1.04;
}

static struct str caption_of(const struct usage *u, struct arena *keep)
{
	struct out *o = out_memory(keep);
	const struct panel *p = &u->panels[0];
	out_fmt(o, "%s %.*s at most", is_schedule(p) ? "The plan needs" : "The allocator holds",
		STR_ARG(bytes_text(keep, p->peak)));
	if (u->planned > 0 && !is_schedule(p))
		out_fmt(o, "; the compiler planned %.*s for its largest program",
			STR_ARG(bytes_text(keep, u->planned)));
	if (u->capacity > u->most)
		out_fmt(o, "; the capacity, %.*s, is far above",
			STR_ARG(bytes_text(keep, u->capacity)));
	out_fmt(o, ". %.0f events", p->curve->samples);
	if (p->curve->samples > (double)p->count)
		out_fmt(o, " in %lld points", (long long)p->count);
	out_char(o, '.');
	return out_text(o);
}

bool svg_usage(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-usage", "Memory over time", NULL,
		"Areas below the bytes in use, with lines for the plan, the peak and the capacity.",
		SVG_HALF, draw_usage };
	struct usage *u = arena_make(keep, struct usage, 1);
	const struct curves_row *curves = plot_rows(&r->plots, curves);
	for (ptrdiff_t i = 0; i < plot_count(&r->plots, curves) && u->count < PANELS; i++)
		take_panel(r, &curves[i], u);
	if (!u->count)
		return false;
	scale_usage(r, u);
	*ret = svg_picture(&plot, u, caption_of(u, keep), keep);
	return true;
}
