/* Pictures of a fleet: a workload's history, and where the chips go. */
#include <math.h>

#include "report/fleet_view.h"
#include "report/prose.h"
#include "report/svg.h"

/* ---- a history ------------------------------------------------------------------------------- */

enum { HISTORY_WIDTH = 220, HISTORY_HEIGHT = 44, HISTORY_MARGIN = 4 };

struct level {
	ptrdiff_t from; /* index of its first run */
	double value;
};

struct history {
	double *values;
	ptrdiff_t count, cap;
	struct level *levels;
	ptrdiff_t level_count, level_cap;
	double least, most;
};

/* Where each level begins is told by its first capture; newest first, so from the back. */
static void take_levels(
	const struct fleet_report *r, struct str workload, struct history *h, struct arena *keep)
{
	const struct fleet_answer *a = &r->answers[FLEET_CHANGES],
				  *all = &r->answers[FLEET_HISTORY];
	for (ptrdiff_t i = a->count; i-- > 0;) {
		if (!str_eq(fleet_word(a, i, "workload"), workload))
			continue;
		struct str since = fleet_word(a, i, "since");
		ptrdiff_t from = 0;
		for (ptrdiff_t k = 0; k < all->count; k++)
			from += str_eq(fleet_word(all, k, "workload"), workload) &&
				str_cmp(fleet_word(all, k, "captured"), since) < 0;
		if (!h->level_count)
			*arena_push(keep, h->levels, h->level_count, h->level_cap) =
				(struct level){ 0, fleet_real(a, i, "before_s") };
		*arena_push(keep, h->levels, h->level_count, h->level_cap) =
			(struct level){ from, fleet_real(a, i, "after_s") };
	}
}

static double history_x(const struct history *h, ptrdiff_t i)
{
	double room = HISTORY_WIDTH - 2 * HISTORY_MARGIN;
	return HISTORY_MARGIN + room * ((double)i + 0.5) / (double)h->count;
}

static double history_y(const struct history *h, double value)
{
	double room = HISTORY_HEIGHT - 2 * HISTORY_MARGIN, range = h->most - h->least;
	return HISTORY_MARGIN + room * (range > 0 ? (h->most - value) / range : 0.5);
}

static double draw_history(struct svg *x, const void *what)
{
	const struct history *h = what;
	double half = history_x(h, 1) - history_x(h, 0);
	for (ptrdiff_t i = 0; i < h->count; i++)
		svg_dot(x, INK_HIDDEN, history_x(h, i), history_y(h, h->values[i]), 1.6, MISSING);
	for (ptrdiff_t i = 0; i < h->level_count; i++) {
		ptrdiff_t to = i + 1 < h->level_count ? h->levels[i + 1].from : h->count;
		double y = history_y(h, h->levels[i].value);
		svg_stroke(x, INK_TEXT, history_x(h, h->levels[i].from) - half / 2, y,
			history_x(h, to - 1) + half / 2, y, 1.6, false);
	}
	return HISTORY_HEIGHT;
}

struct template_picture svg_history(
	const struct fleet_report *r, struct str workload, struct arena *keep)
{
	static const struct svg_plot plot = { NULL, "Step times, run after run, and their levels",
		NULL, NULL, HISTORY_WIDTH, draw_history };
	struct history *h = arena_make(keep, struct history, 1);
	const struct fleet_answer *a = &r->answers[FLEET_HISTORY];
	for (ptrdiff_t i = 0; i < a->count; i++) {
		if (!str_eq(fleet_word(a, i, "workload"), workload))
			continue;
		double value = fleet_real(a, i, "step_time_s");
		h->least = h->count ? fmin(h->least, value) : value;
		h->most = h->count ? fmax(h->most, value) : value;
		*arena_push(keep, h->values, h->count, h->cap) = value;
	}
	take_levels(r, workload, h, keep);
	return h->count > 1 ? svg_drawing(&plot, h, keep) : (struct template_picture){ 0 };
}

/* ---- where the chips go ---------------------------------------------------------------------- */

/* A workload is named on the left of its bar, or above where there is no room beside it. */
enum { FLEET_LEFT = 300, FLEET_RIGHT = 110, FLEET_BARS = 12, FLEET_PITCH = 26, FLEET_NAME = 16 };

/* What is drawn: chip-hours where the order is by them, else chips. */
struct fleet_bars {
	const struct fleet_answer *ranking;
	const struct fleet_pages *pages;
	const char *column; /* what could be had back */
	const char *unit;
	ptrdiff_t count;
	double most;
};

/* All that a workload has: what could be had back, over its share. */
static double bar_whole(const struct fleet_bars *b, ptrdiff_t row)
{
	double back = fleet_real(b->ranking, row, b->column);
	double share = fleet_real(b->ranking, row, "share");
	return back > 0 && share > 0 ? back / share : 0;
}

static void draw_shapes(struct svg *x, const struct fleet_bars *b, ptrdiff_t row, double top)
{
	double all = bar_whole(b, row), left = x->is_narrow ? 0 : FLEET_LEFT;
	double scale = (x->width - left - FLEET_RIGHT) / b->most;
	double back = fleet_real(b->ranking, row, b->column);
	struct str name = fleet_word(b->ranking, row, "workload");
	struct str amount = fleet_number_text(back, UNIT_COUNT, x->keep);
	struct str whole = fleet_number_text(all, UNIT_COUNT, x->keep);
	name = html_clip(name, svg_columns(x->is_narrow ? x->width : left), x->keep);
	svg_text(x, INK_TEXT, x->is_narrow ? ANCHOR_START : ANCHOR_END,
		x->is_narrow ? 0 : left - 10, top + 14, name);
	top += x->is_narrow ? FLEET_NAME : 0;
	svg_rect_title(x, INK_BAD, left, top + 2, back * scale, 17,
		arena_fmt(x->keep, "%.*s %s could be had back", STR_ARG(amount), b->unit));
	svg_rect_title(x, INK_HIDDEN, left + back * scale, top + 2, (all - back) * scale, 17,
		arena_fmt(x->keep, "%.*s %s in all", STR_ARG(whole), b->unit));
	svg_strong(x, INK_TEXT, ANCHOR_START, left + all * scale + 8, top + 15,
		arena_fmt(x->keep, "%.*s of %.*s", STR_ARG(amount), STR_ARG(whole)));
}

static double draw_fleet(struct svg *x, const void *what)
{
	const struct fleet_bars *b = what;
	const struct svg_key keys[] = {
		{ INK_BAD, arena_fmt(x->keep, "%s that a workload could have back", b->unit) },
		{ INK_HIDDEN, arena_fmt(x->keep, "the rest of its %s", b->unit) }
	};
	double pitch = FLEET_PITCH + (x->is_narrow ? FLEET_NAME : 0);
	for (ptrdiff_t i = 0; i < b->count; i++) {
		struct str page = fleet_page_link(&b->ranking->rows[i], b->pages, x->keep);
		if (page.p)
			svg_link(x, arena_fmt(x->keep, "./%.*s", STR_ARG(page)));
		draw_shapes(x, b, i, pitch * (double)i);
		if (page.p)
			svg_end(x);
	}
	return svg_keys(x, keys, 2, 8, pitch * (double)b->count + 8);
}

struct template_picture svg_fleet(
	const struct fleet_report *r, const struct fleet_pages *pages, struct arena *keep)
{
	static const struct svg_plot plot = { NULL, "Where the chips go", NULL,
		"Bars, one for each of the workloads that would give back most.", SVG_WIDE,
		draw_fleet };
	struct fleet_bars *b = arena_make(keep, struct fleet_bars, 1);
	b->ranking = &r->answers[FLEET_RANKING];
	b->pages = pages;
	b->column = r->has_usage ? "chip_hours_back" : "chips_back";
	b->unit = r->has_usage ? "chip-hours" : "chips";
	while (b->count < b->ranking->count && b->count < FLEET_BARS && bar_whole(b, b->count) > 0)
		b->most = fmax(b->most, bar_whole(b, b->count++));
	return b->count ? svg_drawing(&plot, b, keep) : (struct template_picture){ 0 };
}
