/* Where op time goes, family by family, and what collectives took against what was expected. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

enum { ROWS = 14, ROW_HEIGHT = 30, LEFT = 8, TOP = 8 };

/* ---- op time --------------------------------------------------------------------------------- */

struct ops {
	const struct report *r;
	const struct families_row *items;
	int count, known; /* known: how many of them have a roofline */
	double most;	  /* share */
};

static struct str family_name(const struct families_row *f, int columns, struct arena *keep)
{
	struct str scope = str_from_offset(f->scope, str_find_char(f->scope, '/') + 1);
	struct str name = html_clip(f->name, scope.len ? (columns - 14) / 2 : columns - 14, keep);
	if (f->members > 1)
		name = arena_fmt(keep, "%.*s and %.0f alike", STR_ARG(name), f->members - 1);
	int room = columns - 4 - text_columns(name);
	if (!scope.len || room < 12)
		return html_clip(name, columns, keep);
	return arena_fmt(
		keep, "%.*s \xc2\xb7 %.*s", STR_ARG(name), STR_ARG(html_clip(scope, room, keep)));
}

/* The name above its bar; where others have a roofline, a family that has none says so. */
static void draw_family(
	struct svg *x, const struct ops *o, const struct families_row *f, double top)
{
	double scale = (x->width - LEFT - 64) / o->most, width = f->time_share * scale;
	const char *unknown = o->known && isnan(f->efficiency) ? " \xc2\xb7 roofline unknown" : "";
	int columns = svg_columns(x->width - LEFT) - (unknown[0] ? 19 : 0);
	/* What the roofline explains is solid, or all of it where no op has one. */
	double solid = !o->known ? width : f->efficiency > 0 ? width * fmin(f->efficiency, 1) : 0;
	enum ink ink = svg_kind_ink(f->kind);
	struct out *title = out_memory(x->keep);
	out_fmt(title, "%.*s (%.*s)\n%.*s of the %s", STR_ARG(f->name), STR_ARG(f->kind),
		STR_ARG(ratio_text(x->keep, f->time_share)), prose_span(o->r));
	if (f->per_step > 0 && f->p50_s > 0)
		out_fmt(title, "\n%.3g %s, %.*s each", f->per_step, prose_per(o->r),
			STR_ARG(time_text(x->keep, f->p50_s)));
	if (f->roofline_s > 0)
		out_fmt(title, "\nroofline %s%.*s", prose_bound(f->cost_bound),
			STR_ARG(time_text(x->keep, f->roofline_s)));
	svg_text(x, INK_TEXT, ANCHOR_START, LEFT, top + 10,
		arena_fmt(x->keep, "%.*s%s", STR_ARG(family_name(f, columns, x->keep)), unknown));
	svg_group(x, "0.35");
	svg_rect_title(x, ink, LEFT + solid, top + 14, width - solid, 11, out_text(title));
	svg_end(x);
	svg_rect_title(x, ink, LEFT, top + 14, solid, 11, out_text(title));
	svg_strong(x, INK_TEXT, ANCHOR_START, LEFT + width + 6, top + 24,
		ratio_text(x->keep, f->time_share));
}

static double draw_ops(struct svg *x, const void *what)
{
	const struct ops *o = what;
	for (int i = 0; i < o->count; i++)
		draw_family(x, o, &o->items[i], TOP + i * ROW_HEIGHT);
	return TOP * 2 + o->count * ROW_HEIGHT;
}

bool svg_ops(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-ops", "Time by op", NULL,
		"Bars, the longest first: the share of the time that ops alike take. The solid "
		"part is what their roofline explains.",
		SVG_HALF, draw_ops };
	struct ops *o = arena_make(keep, struct ops, 1);
	double covered = 0;
	o->r = r;
	o->items = table_rows(&r->tables, families);
	while (o->count < ROWS && o->count < table_count(&r->tables, families) &&
		o->items[o->count].time_share > 0.0005) {
		o->most = fmax(o->most, o->items[o->count].time_share);
		o->known += !isnan(o->items[o->count].efficiency);
		covered += o->items[o->count++].time_share;
	}
	if (!o->count)
		return false;
	struct out *caption = out_memory(keep);
	double all = r->row_totals[TABLE_families];
	if (o->count > 1)
		out_fmt(caption, "The %d heaviest of %.0f kinds of work take", o->count, all);
	else if (all > 1)
		out_fmt(caption, "The heaviest of %.0f kinds of work takes", all);
	else
		out_z(caption, "The only kind of work takes");
	out_fmt(caption, " %.*s of the %s; ", STR_ARG(ratio_text(keep, covered)), prose_span(r));
	if (!o->known)
		out_z(caption, "what they should take is not known.");
	else
		out_fmt(caption,
			"of each bar the solid part is what its roofline explains, the pale part "
			"is above it%s.",
			o->known < o->count ? "; a bar without a known roofline is pale" : "");
	*ret = svg_picture(&plot, o, out_text(caption), keep);
	return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

enum { COLLECTIVES = 10, COLLECTIVE_HEIGHT = 48 };

struct collectives {
	const char *per; /* "per step" */
	const struct collectives_row *items;
	int count;
	double most;
	bool any_expected;
};

/* How long one execution took: while the data moved, else from start to end. */
static double took(const struct collectives_row *c)
{
	return c->transfer_s > 0 ? c->transfer_s : c->span_s;
}

static bool is_late(const struct collectives_row *c)
{
	return c->expected_hi_s > 0 && took(c) > c->expected_hi_s;
}

static void draw_collective(
	struct svg *x, const struct collectives *all, const struct collectives_row *c, double top)
{
	double scale = (x->width - LEFT - 76) / all->most;
	double exposed = c->exposed_s > 0 ? c->exposed_s * scale : 0;
	double hidden = c->hidden_s > 0 ? c->hidden_s * scale : 0, end = LEFT + took(c) * scale;
	struct out *label = out_memory(x->keep), *title = out_memory(x->keep);
	out_str(label, html_clip(c->name, svg_columns(x->width) / 2 - 8, x->keep));
	if (c->message_bytes > 0)
		out_fmt(label, " \xc2\xb7 %.*s", STR_ARG(bytes_text(x->keep, c->message_bytes)));
	if (c->group_size > 0)
		out_fmt(label, " over %.0f devices", c->group_size);
	if (c->per_step > 0 && c->per_step != 1)
		out_fmt(label, " \xc2\xb7 %.3g %s", c->per_step, all->per);
	svg_text(x, INK_TEXT, ANCHOR_START, LEFT + 4, top + 10,
		html_clip(out_text(label), svg_columns(x->width - LEFT - 4), x->keep));
	out_fmt(title, "%.*s\ntook %.*s", STR_ARG(c->name), STR_ARG(time_text(x->keep, took(c))));
	if (c->expected_lo_s > 0 && c->expected_hi_s > 0)
		out_fmt(title, ", expected %.*s to %.*s",
			STR_ARG(time_text(x->keep, c->expected_lo_s)),
			STR_ARG(time_text(x->keep, c->expected_hi_s)));
	if (c->exposed_s >= 0 && c->hidden_s >= 0)
		out_fmt(title, "\n%s %.*s exposed, %.*s hidden", all->per,
			STR_ARG(time_text(x->keep, c->exposed_s)),
			STR_ARG(time_text(x->keep, c->hidden_s)));
	if (c->expected_hi_s >= c->expected_lo_s)
		svg_rect(x, INK_BAND, LEFT + c->expected_lo_s * scale, top + 14,
			(c->expected_hi_s - c->expected_lo_s) * scale, 13);
	svg_stroke(
		x, is_late(c) ? INK_BAD : INK_TEXT, LEFT, top + 20.5, end, top + 20.5, 1.6, false);
	svg_dot(x, is_late(c) ? INK_BAD : INK_TEXT, end, top + 20.5, 5, out_text(title));
	double band_end = c->expected_hi_s > 0 ? LEFT + c->expected_hi_s * scale : 0;
	svg_strong(x, is_late(c) ? INK_BAD : INK_TEXT, ANCHOR_START,
		fmax(end + 9, band_end > end - 40 && band_end < end + 80 ? band_end + 6 : 0),
		top + 24.5, time_text(x->keep, took(c)));
	svg_rect_title(x, INK_COMMS, LEFT, top + 30, exposed, 7,
		arena_fmt(x->keep, "exposed: %.*s %s", STR_ARG(time_text(x->keep, c->exposed_s)),
			all->per));
	svg_rect_title(x, INK_HIDDEN, LEFT + exposed, top + 30, hidden, 7,
		arena_fmt(x->keep, "hidden behind compute: %.*s %s",
			STR_ARG(time_text(x->keep, c->hidden_s)), all->per));
}

static double draw_collectives(struct svg *x, const void *what)
{
	const struct collectives *c = what;
	const struct svg_key keys[] = { { INK_TEXT, STR("took") }, { INK_BAND, STR("expected") },
		{ INK_BAD, STR("later than expected") },
		{ INK_COMMS, arena_fmt(x->keep, "exposed %s", c->per) },
		{ INK_HIDDEN, arena_fmt(x->keep, "hidden %s", c->per) } };
	struct svg_scale scale = svg_scale(c->most, UNIT_SECONDS, x->is_narrow ? 3 : 6);
	double bottom = TOP + c->count * COLLECTIVE_HEIGHT;
	svg_scale_x(x, &scale, LEFT, x->width - LEFT - 76, TOP, bottom);
	for (int i = 0; i < c->count; i++)
		draw_collective(x, c, &c->items[i], TOP + i * COLLECTIVE_HEIGHT);
	return svg_keys(x, keys, COUNT_OF(keys), LEFT, bottom + 28);
}

static struct str collectives_caption(
	const struct report *r, const struct collectives *c, struct arena *keep)
{
	double exposed = 0, hidden = 0, step = run_of(r)->step_mean_s;
	ptrdiff_t late = 0, count = table_count(&r->tables, collectives);
	for (ptrdiff_t i = 0; i < count; i++) {
		exposed += c->items[i].exposed_s > 0 ? c->items[i].exposed_s : 0;
		hidden += c->items[i].hidden_s > 0 ? c->items[i].hidden_s : 0;
		late += is_late(&c->items[i]);
	}
	struct str share =
		step > 0 ? arena_fmt(keep, " (%.*s)", STR_ARG(ratio_text(keep, exposed / step)))
			 : STR("");
	struct str speed = !c->any_expected ? STR("what they should take is not known")
			   : late ? arena_fmt(keep, "%lld of %lld took longer than expected",
					    (long long)late, (long long)count)
				  : STR("none took longer than expected");
	struct str behind = hidden > 0 ? arena_fmt(keep, "%.*s more hide behind compute",
						 STR_ARG(time_text(keep, hidden)))
				       : STR("nothing hides behind compute");
	return arena_fmt(keep, "%s waits %.*s%.*s for them, and %.*s; %.*s.",
		is_whole_capture(r) ? "The capture" : "A step", STR_ARG(time_text(keep, exposed)),
		STR_ARG(share), STR_ARG(behind), STR_ARG(speed));
}

bool svg_collectives(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-collectives", "Collectives", NULL,
		"For each collective the interval that was expected, the time it took, and below "
		"it how much time it held up.",
		SVG_HALF, draw_collectives };
	struct collectives *c = arena_make(keep, struct collectives, 1);
	c->per = prose_per(r);
	c->items = table_rows(&r->tables, collectives);
	while (c->count < COLLECTIVES && c->count < table_count(&r->tables, collectives)) {
		const struct collectives_row *row = &c->items[c->count++];
		double exposed = row->exposed_s > 0 ? row->exposed_s : 0;
		c->most = fmax(c->most, took(row));
		c->most = fmax(c->most, row->hidden_s > 0 ? exposed + row->hidden_s : exposed);
		c->most = fmax(c->most, row->expected_hi_s);
		c->any_expected |= row->expected_hi_s > 0;
	}
	if (!(c->most > 0))
		return false;
	*ret = svg_picture(&plot, c, collectives_caption(r, c, keep), keep);
	return true;
}
