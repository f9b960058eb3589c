/* One step on its lanes, and above them what the device as a whole was at. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

/* LANES_MOST is more than measure/timeline.c keeps: a report.json may come from anywhere. */
enum { WIDTH = 960, LEFT = 158, RIGHT = 10, TOP = 6, PLOT = WIDTH - LEFT - RIGHT };
enum { LANE_HEIGHT = 26, BAR_HEIGHT = 20, LANES_MOST = 16, LABEL_COLUMNS = 24 };

#define CHAR 6.8 /* of a name in a bar: an op's letters are wide */

/* In the order in which they hide each other: communication behind compute costs nothing. */
static const struct act {
	struct str word; /* in the plot */
	enum ink ink;
	struct str text;
} acts[] = {
	{ STR_INIT("compute"), INK_COMPUTE, STR_INIT("compute") },
	{ STR_INIT("communication"), INK_COMMS, STR_INIT("communication") },
	{ STR_INIT("copy"), INK_COPY, STR_INIT("copies on the chip") },
	{ STR_INIT("transfer"), INK_TRANSFER, STR_INIT("host transfers") },
	{ STR_INIT(""), INK_IDLE, STR_INIT("idle") },
};
enum { ACTS = sizeof(acts) / sizeof(acts[0]), ACT_IDLE = ACTS - 1 };

struct timeline {
	const struct moment_row *moment;
	const struct timeline_row *bars;
	ptrdiff_t bar_count;
	struct str lanes[LANES_MOST];
	int lane_count;
	double scale; /* units per second */
	bool used[ACTS];
	double cover[ACTS][PLOT]; /* how much of each unit is taken, 0 to 1 */
};

static int act_of(const struct timeline_row *b)
{
	for (int i = 0; i < ACT_IDLE; i++)
		if (str_eq(acts[i].word, b->activity))
			return i;
	return 0;
}

/* Its lane; -1 when there are too many. */
static int lane_of(struct timeline *t, struct str name)
{
	int i = 0;
	while (i < t->lane_count && !str_eq(t->lanes[i], name))
		i++;
	if (i == LANES_MOST)
		return -1;
	if (i == t->lane_count)
		t->lanes[t->lane_count++] = name;
	return i;
}

/* ---- the device ------------------------------------------------------------------------------ */

static void add_cover(struct timeline *t, const struct timeline_row *b)
{
	double from = b->start_s * t->scale, to = from + b->time_s * t->scale;
	double density = b->time_s > 0 ? fmin(b->busy_s / b->time_s, 1) : 0;
	if (!(from >= 0 && from <= to && to <= PLOT + 1 && density > 0))
		return;
	for (int i = (int)from; i < PLOT && i < to; i++) {
		double share = fmin(to, i + 1) - fmax(from, i);
		t->cover[act_of(b)][i] += share * density;
	}
}

/* What takes most of a unit, when each activity hides those behind it. */
static int act_at(const struct timeline *t, int unit)
{
	double left = 1, most = 0;
	int best = ACT_IDLE;
	for (int i = 0; i <= ACT_IDLE; i++) {
		double share = i == ACT_IDLE ? left : fmin(left, t->cover[i][unit]);
		left -= share;
		if (share > most + 1e-9) {
			most = share;
			best = i;
		}
	}
	return best;
}

static void draw_stretch(struct xhtml *x, struct timeline *t, int act, int from, int to)
{
	double seconds = (to - from) / t->scale;
	t->used[act] = true;
	svg_rect_title(x, acts[act].ink, LEFT + from, TOP + 2, to - from, BAR_HEIGHT,
		arena_fmt(x->keep, "%.*s: about %.*s from %.*s on", STR_ARG(acts[act].text),
			STR_ARG(time_text(x->keep, seconds)),
			STR_ARG(time_text(x->keep, from / t->scale))));
}

static void draw_whole(struct xhtml *x, struct timeline *t)
{
	int end = (int)fmin(ceil(t->moment->shown_s * t->scale), PLOT), from = 0;
	svg_strong(x, INK_TEXT, ANCHOR_END, LEFT - 10, TOP + 16, STR("the device"));
	for (int i = 1; i <= end; i++)
		if (i == end || act_at(t, i) != act_at(t, from)) {
			draw_stretch(x, t, act_at(t, from), from, i);
			from = i;
		}
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static struct str bar_title(const struct timeline_row *b, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_fmt(o, "%.*s (%.*s): %.*s from %.*s on", STR_ARG(b->name), STR_ARG(b->kind),
		STR_ARG(time_text(keep, b->time_s)), STR_ARG(time_text(keep, b->start_s)));
	if (b->ops > 1)
		out_fmt(o, "\nand %.0f more ops, busy for %.*s together", b->ops - 1,
			STR_ARG(time_text(keep, b->busy_s)));
	return out_text(o);
}

/* A hair between bars, so that neighbours are told apart. */
static void draw_bar(struct xhtml *x, struct timeline *t, const struct timeline_row *b, double top)
{
	double left = LEFT + b->start_s * t->scale, width = b->time_s * t->scale;
	int act = act_of(b);
	if (!(left >= LEFT && width > 0 && left + width <= WIDTH))
		return;
	int columns = (int)((width - 8) / CHAR);
	t->used[act] = true;
	svg_rect_title(x, acts[act].ink, left, top + 2, width > 3 ? width - 0.6 : width, BAR_HEIGHT,
		bar_title(b, x->keep));
	if (columns >= 6)
		svg_text(x, INK_ON_FILL, ANCHOR_START, left + 4, top + 16,
			html_clip(b->name, columns, x->keep));
}

static void draw_lanes(struct xhtml *x, struct timeline *t)
{
	for (int i = 0; i < t->lane_count; i++)
		svg_text(x, INK_TEXT, ANCHOR_END, LEFT - 10, TOP + 16 + (i + 1) * LANE_HEIGHT,
			html_clip(t->lanes[i], LABEL_COLUMNS, x->keep));
	for (ptrdiff_t i = 0; i < t->bar_count; i++) {
		int lane = lane_of(t, t->bars[i].lane);
		if (lane >= 0)
			draw_bar(x, t, &t->bars[i], TOP + (lane + 1) * LANE_HEIGHT);
	}
}

static void draw_acts(struct xhtml *x, const struct timeline *t, double top)
{
	struct svg_key keys[ACTS];
	int count = 0;
	for (int i = 0; i < ACTS; i++)
		if (t->used[i])
			keys[count++] = (struct svg_key){ acts[i].ink, acts[i].text };
	svg_keys(x, keys, count, LEFT, top);
}

static void draw_timeline(const void *what, struct xhtml *x)
{
	struct timeline t = *(const struct timeline *)what;
	double bottom = TOP + (t.lane_count + 1) * LANE_HEIGHT + 4;
	struct svg_scale scale = svg_scale(t.moment->step_s, UNIT_SECONDS, 8);
	svg_begin(x, WIDTH, bottom + 48, STR("One step"),
		STR("Bars from left to right: what ran when. The first row is the device as a "
		    "whole, "
		    "with what hides behind compute left out."));
	svg_scale_x(x, &scale, LEFT, PLOT, TOP, bottom);
	draw_whole(x, &t);
	draw_lanes(x, &t);
	draw_acts(x, &t, bottom + 26);
	svg_end(x);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void say_which(struct out *o, const struct moment_row *m, struct arena *keep)
{
	if (isnan(m->step))
		out_fmt(o, "All that was recorded on %.*s, %.*s: nothing tells its steps apart",
			STR_ARG(m->device), STR_ARG(time_text(keep, m->step_s)));
	else
		out_fmt(o, "Step %.0f on %.*s, %.*s: as long as its median step", m->step,
			STR_ARG(m->device), STR_ARG(time_text(keep, m->step_s)));
	if (m->shown_s < m->step_s)
		out_fmt(o, "; only the first %.*s are drawn, for it has too many ops",
			STR_ARG(time_text(keep, m->shown_s)));
	out_char(o, '.');
}

static struct str caption_of(const struct timeline *t, struct arena *keep)
{
	const struct moment_row *m = t->moment;
	struct out *o = out_memory(keep);
	say_which(o, m, keep);
	if (m->merged > 0)
		out_fmt(o,
			" Of %.0f ops, %.0f share a bar with others: they are too short to be "
			"seen, or "
			"in flight together.",
			m->ops, m->merged);
	if (m->lanes > m->lanes_shown)
		out_fmt(o, " %.0f of its %.0f lanes are drawn, the busiest.", m->lanes_shown,
			m->lanes);
	return out_text(o);
}

bool svg_timeline(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	struct timeline *t = arena_make(keep, struct timeline, 1);
	t->moment = plot_rows(&r->plots, moment);
	t->bars = plot_rows(&r->plots, timeline);
	t->bar_count = plot_count(&r->plots, timeline);
	if (!plot_count(&r->plots, moment) || !t->bar_count || !(t->moment->step_s > 0) ||
		!(t->moment->shown_s > 0))
		return false;
	t->scale = PLOT / t->moment->step_s;
	for (ptrdiff_t i = 0; i < t->bar_count; i++)
		if (lane_of(t, t->bars[i].lane) >= 0)
			add_cover(t, &t->bars[i]);
	ret->id = STR("picture-timeline");
	ret->title = STR("One step");
	ret->size = STR("wide");
	ret->caption = caption_of(t, keep);
	ret->drawing = (struct template_picture){ draw_timeline, t };
	return true;
}
