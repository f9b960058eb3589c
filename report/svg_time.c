/* Where the time of steps goes: a step's budget, and step after step. */
#include <math.h>

#include "report/prose.h"
#include "report/svg.h"

/* What a step is made of, in the order of its shares. */
static const struct svg_key layers[SHARES] = {
	{ INK_COMPUTE, STR_INIT("compute") },
	{ INK_COMMS, STR_INIT("exposed communication") },
	{ INK_COPY, STR_INIT("copies on the chip") },
	{ INK_TRANSFER, STR_INIT("host transfers") },
	{ INK_IDLE, STR_INIT("idle") },
};

static double layer_of(const struct steps_row *s, int layer)
{
	const double values[SHARES] = { s->compute_s, s->comms_exposed_s, s->copy_s, s->transfer_s,
		s->idle_s };
	return fmax(values[layer], 0);
}

static struct str share_text(struct arena *keep, int layer, double seconds, double whole)
{
	return arena_fmt(keep, "%.*s: %.*s (%.*s)", STR_ARG(layers[layer].text),
		STR_ARG(time_text(keep, seconds)), STR_ARG(ratio_text(keep, seconds / whole)));
}

/* ---- the budget ------------------------------------------------------------------------------ */

bool svg_budget(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { NULL,
		"The time as it is, without the findings, and at the roofline", NULL,
		"Bars on one scale: what the time is made of, what is left of it, and what is "
		"ideal.",
		SVG_WIDE, svg_draw_rows };
	enum { BAR_HEIGHT = 18, NAME_WIDTH = 122 };
	struct svg_rows *rows = svg_rows_new(BAR_HEIGHT, keep);
	double lo = run_of(r)->roofline_ratio_lo, hi = run_of(r)->roofline_ratio_hi;
	double step = run_of(r)->step_mean_s, shares[SHARES], at = 0;
	prose_shares(r, shares);
	if (!(step > 0) || isnan(shares[SHARE_COPY]))
		return false;
	shares[SHARE_COPY] = fmax(shares[SHARE_COPY], 0);
	rows->name_width = NAME_WIDTH;
	svg_row_add(rows, is_whole_capture(r) ? STR("the capture") : STR("a step today"),
		time_text(keep, step), keep);
	for (int i = 0; i < SHARES; at += shares[i++] * step)
		svg_bar_add(rows, 0, layers[i].ink, at, at + shares[i] * step,
			share_text(keep, i, shares[i] * step, step), keep)
			->label = arena_fmt(keep, "%.*s %.*s", STR_ARG(layers[i].text),
			STR_ARG(ratio_text(keep, shares[i])));
	if (r->gain_s > 0 && step > r->gain_s) {
		svg_row_add(rows, STR("findings settled"), time_text(keep, step - r->gain_s), keep);
		svg_bar_add(rows, 0, INK_GOOD, 0, step - r->gain_s, MISSING, keep);
	}
	if (lo > 0 && lo <= 1) {
		/* Where the cost of some ops is unknown, only the low end is drawn. */
		struct str ideal = time_text(keep, lo * step), why = MISSING;
		if (hi > lo * 1.02) {
			ideal = arena_fmt(keep, "at least %.*s", STR_ARG(ideal));
			why = STR("without ops of unknown cost");
		}
		svg_row_add(rows, STR("roofline"), ideal, keep);
		svg_bar_add(rows, 0, INK_IDLE, 0, lo * step, why, keep);
	}
	ret->drawing = svg_drawing(&plot, rows, keep);
	return true;
}

/* ---- step after step ------------------------------------------------------------------------- */

struct steps {
	const struct steps_row **items;
	ptrdiff_t count;
	double used[SHARES], most;
};

enum { STEPS_LEFT = 58, STEPS_RIGHT = 12, STEPS_TOP = 14, STEPS_BOTTOM = 230 };

static bool is_judged(const struct steps_row *s)
{
	return s->is_warmup != 1 && s->is_complete != 0;
}

/* One bar; steps that are not judged stand behind a light veil. */
static void draw_step(
	struct svg *x, const struct steps_row *s, double most, double left, double width)
{
	double scale = (STEPS_BOTTOM - STEPS_TOP) / most, at = STEPS_BOTTOM;
	struct out *title = out_memory(x->keep);
	out_fmt(title, "step %.0f: %.*s", s->step, STR_ARG(time_text(x->keep, s->time_s)));
	for (int i = 0; i < SHARES; i++)
		if (layer_of(s, i) > 0)
			out_fmt(title, "\n%.*s",
				STR_ARG(share_text(x->keep, i, layer_of(s, i), s->time_s)));
	if (!is_judged(s))
		out_fmt(title, "\n%s, not judged", s->is_warmup == 1 ? "warm-up" : "incomplete");
	svg_group(x, is_judged(s) ? NULL : "0.4");
	svg_title(x, out_text(title));
	for (int i = 0; i < SHARES; i++) {
		double height = layer_of(s, i) * scale;
		at -= height;
		svg_rect(x, layers[i].ink, left, at, width, height, MISSING);
	}
	svg_end(x);
}

static double draw_steps(struct svg *x, const void *what)
{
	const struct steps *s = what;
	struct svg_scale scale = svg_scale(s->most, UNIT_SECONDS, 5);
	double pitch = (x->width - STEPS_LEFT - STEPS_RIGHT) / (double)s->count;
	double width = fmin(pitch > 9 ? pitch * 0.8 : pitch, 46);
	int numbers = x->is_narrow ? 6 : 12;
	ptrdiff_t every = (s->count + numbers - 1) / numbers;
	svg_scale_y(x, &scale, STEPS_LEFT, x->width - 4, STEPS_TOP, STEPS_BOTTOM);
	for (ptrdiff_t i = 0; i < s->count; i++) {
		double left = STEPS_LEFT + 4 + pitch * (double)i + (pitch - width) / 2;
		draw_step(x, s->items[i], s->most, left, width);
		/* Numbers below some: the first, the last, and as many between as have room. */
		bool is_last = i == s->count - 1;
		if (is_last || (i % every == 0 && i + every < s->count))
			svg_text(x, INK_MUTED, ANCHOR_MIDDLE, left + width / 2, STEPS_BOTTOM + 15,
				arena_fmt(x->keep, "%.0f", s->items[i]->step));
	}
	return svg_keys(x, layers, SHARES, STEPS_LEFT, STEPS_BOTTOM + 32);
}

/* Steps of one device; a warm-up ten times as long would make the others flat: it is left out. */
static void take_steps(const struct report *r, struct steps *s, double median, struct arena *keep)
{
	const struct steps_row *rows = table_rows(&r->tables, steps);
	ptrdiff_t count = table_count(&r->tables, steps);
	s->items = arena_make(keep, const struct steps_row *, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct steps_row *row = &rows[i];
		bool is_first =
			str_eq(row->device, rows[0].device) && str_eq(row->host, rows[0].host);
		bool is_drawn = row->time_s > 0 &&
				(!(median > 0) || row->is_warmup != 1 || row->time_s < 3 * median);
		if (!is_first || !is_drawn)
			continue;
		s->items[s->count++] = row;
		s->most = fmax(s->most, row->time_s);
		for (int k = 0; k < SHARES; k++)
			s->used[k] += is_judged(row) ? layer_of(row, k) : 0;
	}
}

static struct str steps_caption(const struct report *r, const struct steps *s, struct arena *keep)
{
	int top = 0;
	double whole = 0;
	const struct steps_row *first = s->items[0];
	for (int i = 0; i < SHARES; i++) {
		whole += s->used[i];
		if (s->used[i] > s->used[top])
			top = i;
	}
	if (!(whole > 0))
		return arena_fmt(keep, "Every step of %.*s is a bar.", STR_ARG(first->device));
	double devices = run_of(r)->devices;
	return arena_fmt(keep, "On %.*s%s%.*s, %.*s take%s %.*s of the steady steps%s.",
		STR_ARG(first->device), first->host.len ? " of " : "", STR_ARG(first->host),
		STR_ARG(layers[top].text), top == SHARE_COPY || top == SHARE_TRANSFER ? "" : "s",
		STR_ARG(ratio_text(keep, s->used[top] / whole)),
		devices > 1 ? arena_z(keep, arena_fmt(keep, " (one of %.0f devices)", devices))
			    : "");
}

bool svg_steps(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-steps", "Step after step", NULL,
		"Stacked bars, one for each step.", SVG_HALF, draw_steps };
	struct steps *s = arena_make(keep, struct steps, 1);
	take_steps(r, s, run_of(r)->step_time_s, keep);
	if (!s->count || is_whole_capture(r))
		return false;
	*ret = svg_picture(&plot, s, steps_caption(r, s, keep), keep);
	return true;
}
