/* Two runs in pictures: the way from the time before to the time after, and the time by kind. */
#include <math.h>

#include "report/diff.h"
#include "report/prose.h"
#include "report/svg.h"

enum { BAR_HEIGHT = 10, CHANGES_DRAWN = 10, KINDS_DRAWN = 10 };

/* ---- the way from one to the other ----------------------------------------------------------- */

static void add_stage(struct svg_rows *w, struct str name, double from_s, double to_s, enum ink ink,
	struct str value, struct str title, struct arena *keep)
{
	svg_row_add(w, name, value, keep);
	svg_bar_add(w, 0, ink, from_s, to_s, title, keep);
}

static enum ink ink_of(double lost_s)
{
	return lost_s > 0 ? INK_BAD : INK_GOOD;
}

/*
 * The largest changes, whichever way they go; then the others, and the time between ops: idle
 * time, less what ops take beside each other.  Together they lead from one time to the other.
 */
static void take_stages(
	struct svg_rows *w, const struct op_diff *d, struct diff_times t, struct arena *keep)
{
	ptrdiff_t lost = 0, won = d->count - 1;
	double at_s = t.base_s, ops_s = t.base_s + d->head_ops_s - d->base_ops_s;
	const struct {
		const char *name;
		double to_s;
	} rests[] = { { "all others", ops_s }, { "between ops", t.head_s } };
	add_stage(w, STR("before"), 0, at_s, INK_IDLE, time_text(keep, at_s), MISSING, keep);
	while (lost <= won && w->count <= CHANGES_DRAWN) {
		bool is_loss = d->items[lost].lost_s >= -d->items[won].lost_s;
		const struct changes_row *c = is_loss ? &d->items[lost++] : &d->items[won--];
		if (!(fabs(c->lost_s) > 0.002 * t.base_s))
			break;
		struct html_change told = html_change_of(c, keep);
		add_stage(w, told.name, at_s, at_s + c->lost_s, ink_of(c->lost_s), told.time,
			told.text_whole.p ? told.text_whole : told.text, keep);
		at_s += c->lost_s;
	}
	for (int i = 0; i < COUNT_OF(rests); i++) {
		double rest_s = rests[i].to_s - at_s;
		if (!(fabs(rest_s) > 1e-3 * t.base_s))
			continue;
		add_stage(w, str_from(rests[i].name), at_s, rests[i].to_s, ink_of(rest_s),
			signed_time_text(keep, rest_s), MISSING, keep);
		at_s = rests[i].to_s;
	}
	add_stage(w, STR("after"), 0, t.head_s, INK_COMPUTE, time_text(keep, t.head_s), MISSING,
		keep);
}

bool svg_waterfall(const struct op_diff *d, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-waterfall", "From before to after", NULL,
		"Bars from top to bottom: the time before, what each change added or took away, "
		"and the time after.",
		SVG_HALF, svg_draw_rows };
	struct svg_rows *w = svg_rows_new(BAR_HEIGHT, keep);
	struct diff_times t = diff_times(d);
	if (!(d->base_ops_s > 0) || !(d->head_ops_s > 0))
		return false;
	w->is_chain = true;
	take_stages(w, d, t, keep);
	*ret = svg_picture(&plot, w,
		arena_fmt(keep, "%s: the changes that add or take away most.",
			t.by_ops       ? "Time of all ops"
			: d->is_window ? "Time of the same work"
				       : "Time of a step"),
		keep);
	return true;
}

/* ---- by kind --------------------------------------------------------------------------------- */

bool svg_kinds_change(const struct op_diff *d, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-kinds", "Time by kind", NULL,
		"Two bars for each kind of op: the time before and the time after.", SVG_HALF,
		svg_draw_rows };
	static const struct svg_key keys[] = { { INK_IDLE, STR_INIT("before") },
		{ INK_COMPUTE, STR_INIT("after") } };
	struct svg_rows *k = svg_rows_new(BAR_HEIGHT, keep);
	k->is_of_all = true;
	k->keys = keys;
	k->key_count = COUNT_OF(keys);
	for (int i = 0; i < d->kinds_changed && i < KINDS_DRAWN; i++) {
		const struct diff_kind *row = &d->kinds[i];
		svg_row_add(k, row->kind, signed_time_text(keep, row->head_s - row->base_s), keep);
		svg_bar_add(k, 0, INK_IDLE, 0, row->base_s, MISSING, keep);
		svg_bar_add(k, 1, INK_COMPUTE, 0, row->head_s, MISSING, keep);
	}
	if (!(k->most > 0))
		return false;
	*ret = svg_picture(&plot, k,
		STR("What ops of each kind took, and what lies between them, where it changed: the "
		    "largest change first."),
		keep);
	return true;
}
