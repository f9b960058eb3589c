/* What collectives took, against what was expected, and how much of it held up a step. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

enum { COLLECTIVES = 10, COLLECTIVE_HEIGHT = 48, LEFT = 8, TOP = 8 };

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
	double exposed = fmax(c->exposed_s, 0) * scale;
	double hidden = fmax(c->hidden_s, 0) * scale, end = LEFT + took(c) * scale;
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
		exposed += fmax(c->items[i].exposed_s, 0);
		hidden += fmax(c->items[i].hidden_s, 0);
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
		c->most = fmax(c->most, took(row));
		c->most = fmax(c->most, fmax(row->exposed_s, 0) + fmax(row->hidden_s, 0));
		c->most = fmax(c->most, row->expected_hi_s);
		c->any_expected |= row->expected_hi_s > 0;
	}
	if (!(c->most > 0))
		return false;
	*ret = svg_picture(&plot, c, collectives_caption(r, c, keep), keep);
	return true;
}
