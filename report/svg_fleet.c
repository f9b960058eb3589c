/* A workload's history, small: its step times and their levels. */
#include <math.h>

#include "report/fleet_view.h"
#include "report/svg.h"

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

/* A level begins at its first capture; newest first, so from the back. */
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
