/* Two runs in pictures: the way from the time before to the time after, and the time by kind. */
#include <math.h>

#include "base/text.h"
#include "report/diff.h"
#include "report/prose.h"
#include "report/svg.h"

enum { LEFT = 8, TOP = 4, ROW_HEIGHT = 32, PAIR_HEIGHT = 40, BAR_HEIGHT = 11, VALUE_WIDTH = 72 };
enum { CHANGES_DRAWN = 10, KINDS_DRAWN = 10 };

/* ---- the way from one to the other ----------------------------------------------------------- */

struct stage {
	struct str name;
	double from_s, to_s; /* of its bar */
	enum ink ink;
	struct str value, title;
};

struct waterfall {
	struct stage items[CHANGES_DRAWN + 3]; /* before, changes, the others, after */
	int count;
	double most_s;
};

static void add_stage(struct waterfall *w, struct str name, double from_s, double to_s,
	enum ink ink, struct str value, struct str title)
{
	w->items[w->count++] = (struct stage){ name, from_s, to_s, ink, value, title };
	w->most_s = fmax(w->most_s, fmax(from_s, to_s));
}

static enum ink ink_of(double lost_s)
{
	return lost_s > 0 ? INK_BAD : INK_GOOD;
}

/* The largest changes, whichever way they go; the others are one stage. */
static void take_stages(struct waterfall *w, const struct op_diff *d, struct arena *keep)
{
	ptrdiff_t lost = 0, won = d->count - 1;
	double at_s = d->base_ops_s;
	add_stage(w, STR("before"), 0, at_s, INK_IDLE, time_text(keep, at_s), MISSING);
	while (lost <= won && w->count <= CHANGES_DRAWN) {
		bool is_loss = d->items[lost].lost_s >= -d->items[won].lost_s;
		const struct changes_row *c = is_loss ? &d->items[lost++] : &d->items[won--];
		if (!(fabs(c->lost_s) > 0.002 * d->base_ops_s))
			break;
		struct html_change told = html_change_of(c, keep);
		add_stage(w, told.name, at_s, at_s + c->lost_s, ink_of(c->lost_s), told.time,
			told.text_whole.p ? told.text_whole : told.text);
		at_s += c->lost_s;
	}
	double rest_s = d->head_ops_s - at_s;
	if (fabs(rest_s) > 1e-4 * d->base_ops_s)
		add_stage(w, STR("all others"), at_s, d->head_ops_s, ink_of(rest_s),
			signed_time_text(keep, rest_s), MISSING);
	add_stage(w, STR("after"), 0, d->head_ops_s, INK_COMPUTE, time_text(keep, d->head_ops_s),
		MISSING);
}

static double draw_waterfall(struct svg *x, const void *what)
{
	const struct waterfall *w = what;
	double scale = (x->width - 2 * LEFT - VALUE_WIDTH) / w->most_s;
	for (int i = 0; i < w->count; i++) {
		const struct stage *s = &w->items[i];
		double top = TOP + i * ROW_HEIGHT;
		double from = LEFT + fmin(s->from_s, s->to_s) * scale;
		double end = LEFT + fmax(s->from_s, s->to_s) * scale;
		svg_text(x, INK_TEXT, ANCHOR_START, LEFT, top + 10,
			html_clip(s->name, svg_columns(x->width - 2 * LEFT), x->keep));
		svg_rect_title(
			x, s->ink, from, top + 14, fmax(end - from, 1), BAR_HEIGHT, s->title);
		svg_strong(x, INK_TEXT, ANCHOR_START, end + 6, top + 24, s->value);
		if (i + 1 < w->count)
			svg_line(x, INK_GRID, LEFT + s->to_s * scale, top + 14 + BAR_HEIGHT,
				LEFT + s->to_s * scale, top + 14 + ROW_HEIGHT);
	}
	return TOP * 2 + w->count * ROW_HEIGHT;
}

bool svg_waterfall(const struct op_diff *d, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-waterfall", "From before to after", NULL,
		"Bars from top to bottom: the time before, what each change added or took away, "
		"and the time after.",
		SVG_HALF, draw_waterfall };
	struct waterfall *w = arena_make(keep, struct waterfall, 1);
	if (!(d->base_ops_s > 0) || !(d->head_ops_s > 0))
		return false;
	take_stages(w, d, keep);
	*ret = svg_picture(&plot, w,
		arena_fmt(keep, "Time of all ops %s: the changes that add or take away most.",
			d->is_window ? "in the capture" : "per step"),
		keep);
	return true;
}

/* ---- by kind --------------------------------------------------------------------------------- */

struct kinds {
	const struct diff_kind *items;
	int count;
	double most_s;
};

static double draw_kinds(struct svg *x, const void *what)
{
	static const struct svg_key keys[] = { { INK_IDLE, STR_INIT("before") },
		{ INK_COMPUTE, STR_INIT("after") } };
	const struct kinds *k = what;
	double scale = (x->width - 2 * LEFT - VALUE_WIDTH) / k->most_s;
	double bottom = TOP + k->count * PAIR_HEIGHT;
	for (int i = 0; i < k->count; i++) {
		const struct diff_kind *row = &k->items[i];
		double top = TOP + i * PAIR_HEIGHT;
		double before = row->base_s * scale, after = row->head_s * scale;
		svg_text(x, INK_TEXT, ANCHOR_START, LEFT, top + 10, row->kind);
		svg_rect(x, INK_IDLE, LEFT, top + 14, before, 9);
		svg_rect(x, INK_COMPUTE, LEFT, top + 24, after, 9);
		svg_strong(x, INK_TEXT, ANCHOR_START, LEFT + fmax(before, after) + 6, top + 27,
			signed_time_text(x->keep, row->head_s - row->base_s));
	}
	svg_keys(x, keys, 2, LEFT, bottom + 6);
	return bottom + 22;
}

bool svg_kinds_change(const struct op_diff *d, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-kinds", "Time by kind", NULL,
		"Two bars for each kind of op: the time before and the time after.", SVG_HALF,
		draw_kinds };
	struct kinds *k = arena_make(keep, struct kinds, 1);
	k->items = d->kinds;
	while (k->count < kinds_changed(d) && k->count < KINDS_DRAWN) {
		const struct diff_kind *row = &d->kinds[k->count++];
		k->most_s = fmax(k->most_s, fmax(row->base_s, row->head_s));
	}
	if (!(k->most_s > 0))
		return false;
	*ret = svg_picture(&plot, k,
		STR("What ops took, of each kind that changed: the largest change first."), keep);
	return true;
}
