/* One step on some devices: what each as a whole was at, and below it its lanes. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

/* The most of both is above what measure/ keeps: a report.json may come from anywhere. */
enum { DEVICES_MOST = 8, LANES_MOST = 16 };
/* Lanes are named on their left, or above where there is no room beside them. */
enum { LEFT = 186, RIGHT = 22, TOP = 6, NAME_HEIGHT = 16, NAME_COLUMNS = 24 };
enum { LANE_HEIGHT = 26, BAR_HEIGHT = 20, BETWEEN = 12, UNITS = SVG_WIDE - LEFT - RIGHT };

#define CHAR 6.8 /* of a name in a bar: an op's letters are wide */

/* In the order in which they hide each other: communication behind compute costs nothing. */
static const struct svg_key acts[] = {
	{ INK_COMPUTE, STR_INIT("compute") },
	{ INK_COMMS, STR_INIT("communication") },
	{ INK_COPY, STR_INIT("copies on the chip") },
	{ INK_TRANSFER, STR_INIT("host transfers") },
	{ INK_IDLE, STR_INIT("idle") },
};
enum { ACTS = COUNT_OF(acts), ACT_IDLE = ACTS - 1 };

/* A device of the picture. */
struct part {
	const struct moment_row *moment;
	struct str lanes[LANES_MOST];
	int lane_count;
	double cover[ACTS][UNITS]; /* how much of each unit is taken, 0 to 1 */
};

struct timeline {
	const struct timeline_row *bars;
	ptrdiff_t bar_count;
	struct part *parts;
	int part_count;
	double longest_s;		 /* of the steps */
	double left, scale, name_height; /* of a drawing: units, units per second */
	int units;			 /* of its bars; at most UNITS */
	int name_columns;
	double steady_steps;
	bool many_hosts;
};

static int act_of(const struct timeline_row *b)
{
	static const struct str words[ACT_IDLE] = { STR_INIT("compute"), STR_INIT("communication"),
		STR_INIT("copy"), STR_INIT("transfer") };
	int act = ACT_IDLE;
	while (act > 0 && (act == ACT_IDLE || !str_eq(words[act], b->activity)))
		act--;
	return act;
}

/* The device of a bar, or NULL when it is not drawn. */
static struct part *part_of(const struct timeline *t, const struct timeline_row *b)
{
	return b->moment >= 0 && b->moment < t->part_count ? &t->parts[(int)b->moment] : NULL;
}

static struct str device_name(const struct moment_row *m)
{
	struct str device = m->device;
	str_take(&device, STR("/device:"));
	return device;
}

/* "TPU:3", or where there are several hosts "TPU:3 on worker-1" */
static struct str part_name(
	const struct timeline *t, const struct moment_row *m, struct arena *keep)
{
	struct str device = device_name(m);
	if (!t->many_hosts)
		return device;
	return arena_fmt(keep, "%.*s on %.*s", STR_ARG(device), STR_ARG(m->host));
}

static double lane_height(const struct timeline *t)
{
	return LANE_HEIGHT + t->name_height;
}

static double part_height(const struct timeline *t, const struct part *p)
{
	return (p->lane_count + 1) * lane_height(t);
}

/* Returns the top of the bars it names. */
static double name_lane(
	struct svg *x, const struct timeline *t, struct str name, bool is_strong, double top)
{
	bool is_above = t->name_height > 0;
	(is_strong ? svg_strong : svg_text)(x, INK_TEXT, is_above ? ANCHOR_START : ANCHOR_END,
		is_above ? t->left : t->left - 10, top + (is_above ? 12 : 16), name);
	return top + t->name_height;
}

/* ---- the device ------------------------------------------------------------------------------ */

static void add_cover(const struct timeline *t, struct part *p, const struct timeline_row *b)
{
	double from = b->start_s * t->scale, to = from + b->time_s * t->scale;
	double density = b->time_s > 0 ? fmin(b->busy_s / b->time_s, 1) : 0;
	if (!(from >= 0 && from <= to && to <= t->units + 1 && density > 0))
		return;
	for (int i = (int)from; i < t->units && i < to; i++)
		p->cover[act_of(b)][i] += (fmin(to, i + 1) - fmax(from, i)) * density;
}

/* Of the lanes that are drawn; those are known by now. */
static void take_cover(struct timeline *t, struct arena *keep)
{
	struct part *parts = arena_make(keep, struct part, t->part_count);
	for (int i = 0; i < t->part_count; i++)
		parts[i] = t->parts[i];
	t->parts = parts;
	for (ptrdiff_t i = 0; i < t->bar_count; i++) {
		struct part *p = part_of(t, &t->bars[i]);
		if (p && NAMED(p->lanes, p->lane_count, t->bars[i].lane))
			add_cover(t, p, &t->bars[i]);
	}
}

/* What takes most of a unit, when each activity hides those behind it. */
static int act_at(const struct part *p, int unit)
{
	double left = 1, most = 0;
	int best = ACT_IDLE;
	for (int i = 0; i <= ACT_IDLE; i++) {
		double share = i == ACT_IDLE ? left : fmin(left, p->cover[i][unit]);
		left -= share;
		if (share > most + 1e-9) {
			most = share;
			best = i;
		}
	}
	return best;
}

/* "TPU:3 (works longest)": the host goes where it has no room, and no role is twice. */
static void draw_whole(struct svg *x, const struct timeline *t, const struct part *p, double top)
{
	const struct moment_row *m = p->moment;
	int end = (int)fmax(fmin(ceil(m->shown_s * t->scale), t->units), 0), from = 0;
	struct str role = str_eq(m->role, STR("slowest"))   ? STR(" (works longest)")
			  : str_eq(m->role, STR("waiting")) ? STR(" (waits most)")
			  : str_eq(m->role, STR("median"))  ? STR(" (median)")
							    : STR("");
	struct str name = part_name(t, m, x->keep);
	if (name.len + role.len > t->name_columns)
		name = device_name(m);
	name = arena_fmt(x->keep, "%.*s%.*s", STR_ARG(name), STR_ARG(role));
	top = name_lane(x, t, html_clip(name, t->name_columns, x->keep), true, top);
	for (int i = 1; i <= end; i++) {
		int act = act_at(p, from);
		if (i < end && act_at(p, i) == act)
			continue;
		svg_rect(x, acts[act].ink, t->left + from, top + 2, i - from, BAR_HEIGHT,
			arena_fmt(x->keep, "%.*s: about %.*s from %.*s on", STR_ARG(acts[act].text),
				STR_ARG(time_text(x->keep, (i - from) / t->scale)),
				STR_ARG(time_text(x->keep, from / t->scale))));
		from = i;
	}
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* A hair between bars, so that neighbours are told apart. */
static void draw_bar(
	struct svg *x, const struct timeline *t, const struct timeline_row *b, double top)
{
	double left = t->left + b->start_s * t->scale, width = b->time_s * t->scale;
	if (!(left >= t->left && width > 0 && left + width <= t->left + t->units + RIGHT))
		return;
	int act = act_of(b), columns = (int)((width - 8) / CHAR);
	struct out *o = out_memory(x->keep);
	out_fmt(o, "%.*s (%.*s): %.*s from %.*s on", STR_ARG(b->name), STR_ARG(b->kind),
		STR_ARG(time_text(x->keep, b->time_s)), STR_ARG(time_text(x->keep, b->start_s)));
	if (b->ops > 1)
		out_fmt(o, "\nand %.0f more ops, busy for %.*s together", b->ops - 1,
			STR_ARG(time_text(x->keep, b->busy_s)));
	svg_rect(x, acts[act].ink, left, top + 2, width > 3 ? width - 0.6 : width, BAR_HEIGHT,
		out_text(o));
	if (columns >= 6)
		svg_text(x, INK_ON_FILL, ANCHOR_START, left + 4, top + 16,
			html_clip(b->name, columns, x->keep));
}

static void draw_part(struct svg *x, const struct timeline *t, const struct part *p, double top)
{
	draw_whole(x, t, p, top);
	for (int lane = 0; lane < p->lane_count; lane++) {
		top += lane_height(t);
		double bars = name_lane(
			x, t, html_clip(p->lanes[lane], t->name_columns, x->keep), false, top);
		for (ptrdiff_t i = 0; i < t->bar_count; i++)
			if (part_of(t, &t->bars[i]) == p && str_eq(t->bars[i].lane, p->lanes[lane]))
				draw_bar(x, t, &t->bars[i], bars);
	}
}

static double draw_timeline(struct svg *x, const void *what)
{
	struct timeline t = *(const struct timeline *)what;
	bool is_narrow = x->is_narrow;
	double height = (t.part_count - 1) * BETWEEN, top = TOP;
	t.left = is_narrow ? 4 : LEFT;
	t.units = (int)(x->width - t.left) - RIGHT;
	t.scale = t.units / t.longest_s;
	t.name_height = is_narrow ? NAME_HEIGHT : 0;
	t.name_columns = is_narrow ? svg_columns(x->width) : NAME_COLUMNS;
	take_cover(&t, x->keep);
	for (int i = 0; i < t.part_count; i++)
		height += part_height(&t, &t.parts[i]);
	double bottom = TOP + height + 4;
	struct svg_scale scale = svg_scale(t.longest_s, UNIT_SECONDS, is_narrow ? 3 : 8);
	svg_scale_x(x, &scale, t.left, t.units, TOP, bottom);
	for (int i = 0; i < t.part_count; i++) {
		draw_part(x, &t, &t.parts[i], top);
		top += part_height(&t, &t.parts[i]) + BETWEEN;
	}
	svg_keys(x, acts, ACTS, t.left, bottom + 26);
	return bottom + 30 + (is_narrow ? 2 * 18 : 18);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Reading stops somewhere, and the step of one device may lie behind that of another. */
static void say_what_was_not_read(struct out *o, const struct timeline *t, struct arena *keep)
{
	const char *between = " Of ";
	for (int i = 0; i < t->part_count; i++) {
		const struct moment_row *m = t->parts[i].moment;
		struct str name = part_name(t, m, keep);
		if (!(m->shown_s < m->step_s))
			continue;
		if (m->shown_s > 0)
			out_fmt(o, "%s%.*s only the first %.*s are drawn", between, STR_ARG(name),
				STR_ARG(time_text(keep, m->shown_s)));
		else
			out_fmt(o, "%s%.*s nothing is drawn", between, STR_ARG(name));
		between = ", of ";
	}
	if (between[0] == ',')
		out_z(o, ": too many ops come before the rest.");
}

static const struct moment_row *with_role(const struct timeline *t, struct str role)
{
	for (int i = 0; i < t->part_count; i++)
		if (str_eq(t->parts[i].moment->role, role))
			return t->parts[i].moment;
	return NULL;
}

static void say_devices(struct out *o, const struct timeline *t, struct arena *keep)
{
	const struct moment_row *slow = with_role(t, STR("slowest"));
	const struct moment_row *fast = with_role(t, STR("waiting"));
	double left_out = t->parts[0].moment->left_out;
	bool is_capture = isnan(t->parts[0].moment->step);
	if (left_out > 0)
		out_fmt(o, " %d of %.0f devices are drawn.", t->part_count,
			t->part_count + left_out);
	if (t->part_count > 1)
		out_fmt(o, " Each begins %s.",
			is_capture ? "with its first op" : "at the start of its own step");
	if (slow && fast)
		out_fmt(o,
			" Without exposed communication %s takes %.*s on %.*s, which works "
			"longest, and %.*s on %.*s, which waits most.",
			is_capture ? "the capture" : "a step",
			STR_ARG(time_text(keep, slow->own_s)), STR_ARG(part_name(t, slow, keep)),
			STR_ARG(time_text(keep, fast->own_s)), STR_ARG(part_name(t, fast, keep)));
}

static void say_what_is_left_out(struct out *o, const struct timeline *t)
{
	double ops = 0, merged = 0, lanes = 0, shown = 0;
	for (int i = 0; i < t->part_count; i++) {
		ops += t->parts[i].moment->ops;
		merged += t->parts[i].moment->merged;
		lanes += t->parts[i].moment->lanes;
		shown += t->parts[i].moment->lanes_shown;
	}
	if (merged > 0)
		out_fmt(o,
			" Of %.0f ops, %.0f share a bar with others: they are too short to be "
			"seen, or in flight together.",
			ops, merged);
	if (lanes > shown)
		out_fmt(o, " %.0f of %.0f lanes are drawn, the busiest.", shown, lanes);
}

static struct str caption_of(const struct timeline *t, struct arena *keep)
{
	struct out *o = out_memory(keep);
	const struct moment_row *m = t->parts[0].moment;
	struct str name = part_name(t, m, keep), length = time_text(keep, m->step_s);
	if (isnan(m->step))
		out_fmt(o, "All that was recorded, %.*s on %.*s: nothing tells its steps apart",
			STR_ARG(length), STR_ARG(name));
	else
		out_fmt(o, "Step %.0f, %.*s on %.*s: %s", m->step, STR_ARG(length), STR_ARG(name),
			t->steady_steps == 1 ? "the only steady one" : "a typical one");
	out_char(o, '.');
	say_what_was_not_read(o, t, keep);
	say_devices(o, t, keep);
	say_what_is_left_out(o, t);
	return out_text(o);
}

/* False when nothing is drawn. */
static bool take(struct timeline *t, const struct report *r, struct arena *keep)
{
	const struct moment_row *rows = plot_rows(&r->plots, moment);
	ptrdiff_t count = plot_count(&r->plots, moment);
	t->part_count = count < DEVICES_MOST ? (int)count : DEVICES_MOST;
	t->steady_steps = run_of(r)->steps;
	t->parts = arena_make(keep, struct part, t->part_count);
	t->bars = plot_rows(&r->plots, timeline);
	t->bar_count = plot_count(&r->plots, timeline);
	for (int i = 0; i < t->part_count; i++) {
		t->parts[i].moment = &rows[i];
		t->longest_s = fmax(t->longest_s, rows[i].step_s);
		t->many_hosts |= !str_eq(rows[i].host, rows[0].host);
	}
	if (!t->bar_count || !(t->longest_s > 0) || !isfinite(t->longest_s))
		return false;
	for (ptrdiff_t i = 0; i < t->bar_count; i++) {
		struct part *p = part_of(t, &t->bars[i]);
		bool is_new = p && !NAMED(p->lanes, p->lane_count, t->bars[i].lane);
		if (is_new && p->lane_count < LANES_MOST)
			p->lanes[p->lane_count++] = t->bars[i].lane;
	}
	return true;
}

bool svg_timeline(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-timeline", "One step", "What ran when",
		"Bars from left to right. Of each device the first row is the device as a whole, "
		"with what hides behind compute left out; its lanes are below.",
		SVG_WIDE, draw_timeline };
	struct timeline *t = arena_make(keep, struct timeline, 1);
	if (!take(t, r, keep))
		return false;
	*ret = svg_picture(&plot, t, caption_of(t, keep), keep);
	if (is_whole_capture(r))
		ret->title = STR("The capture");
	return true;
}
