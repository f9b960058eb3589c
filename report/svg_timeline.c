/* One step on some devices: what each as a whole was at, and below it its lanes. */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

/* The most of both is above what measure/ keeps: a report.json may come from anywhere. */
enum { DEVICES_MOST = 8, LANES_MOST = 16 };
enum { NAME_WIDTH = 186, NAME_COLUMNS = 26, RIGHT = 22, BAR_HEIGHT = 20 };
enum { UNITS = SVG_WIDE - NAME_WIDTH - RIGHT }; /* of the wide drawing */
#define OVERHANG 1.03				/* of the step: what is in flight at its end */

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
	double longest_s; /* of the steps */
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

/* ---- the device ------------------------------------------------------------------------------ */

/* Of the lanes that are drawn; those are known by now. */
static void add_cover(const struct timeline *t, const struct timeline_row *b)
{
	struct part *p = part_of(t, b);
	double from = b->start_s / t->longest_s * UNITS;
	double to = from + b->time_s / t->longest_s * UNITS;
	double density = b->time_s > 0 ? fmin(b->busy_s / b->time_s, 1) : 0;
	if (!p || !NAMED(p->lanes, p->lane_count, b->lane) ||
		!(from >= 0 && from <= to && to <= UNITS + 1 && density > 0))
		return;
	for (int i = (int)from; i < UNITS && i < to; i++)
		p->cover[act_of(b)][i] += (fmin(to, i + 1) - fmax(from, i)) * density;
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
static void add_device(
	struct svg_rows *rows, const struct timeline *t, const struct part *p, struct arena *keep)
{
	const struct moment_row *m = p->moment;
	double unit_s = t->longest_s / UNITS;
	int end = (int)fmax(fmin(ceil(m->shown_s / unit_s), UNITS), 0), from = 0;
	struct str role = str_eq(m->role, STR("slowest"))   ? STR(" (works longest)")
			  : str_eq(m->role, STR("waiting")) ? STR(" (waits most)")
			  : str_eq(m->role, STR("median"))  ? STR(" (median)")
							    : STR("");
	struct str name = part_name(t, m, keep);
	if (name.len + role.len > NAME_COLUMNS)
		name = device_name(m);
	name = arena_fmt(keep, "%.*s%.*s", STR_ARG(name), STR_ARG(role));
	svg_row_add(rows, name, MISSING, keep)->is_head = true;
	for (int i = 1; i <= end; i++) {
		int act = act_at(p, from);
		if (i < end && act_at(p, i) == act)
			continue;
		svg_bar_add(rows, 0, acts[act].ink, from * unit_s, i * unit_s,
			arena_fmt(keep, "%.*s: about %.*s from %.*s on", STR_ARG(acts[act].text),
				STR_ARG(time_text(keep, (i - from) * unit_s)),
				STR_ARG(time_text(keep, from * unit_s))),
			keep);
		from = i;
	}
}

static void add_bar(struct svg_rows *rows, const struct timeline *t, const struct timeline_row *b,
	struct arena *keep)
{
	double end_s = b->start_s + b->time_s;
	struct out *o = out_memory(keep);
	if (!(b->start_s >= 0 && b->time_s > 0 && end_s <= OVERHANG * t->longest_s))
		return;
	out_fmt(o, "%.*s (%.*s): %.*s from %.*s on", STR_ARG(b->name), STR_ARG(b->kind),
		STR_ARG(time_text(keep, b->time_s)), STR_ARG(time_text(keep, b->start_s)));
	if (b->ops > 1)
		out_fmt(o, "\nand %.0f more ops, busy for %.*s together", b->ops - 1,
			STR_ARG(time_text(keep, b->busy_s)));
	svg_bar_add(rows, 0, acts[act_of(b)].ink, b->start_s, end_s, out_text(o), keep)->label =
		b->name;
}

/* Each device as a whole, and its lanes below it. */
static struct svg_rows *rows_of(const struct timeline *t, struct arena *keep)
{
	struct svg_rows *rows = svg_rows_new(BAR_HEIGHT, keep);
	rows->name_width = NAME_WIDTH;
	rows->value_width = RIGHT;
	rows->is_lane = true;
	rows->ticks = 8;
	rows->keys = acts;
	rows->key_count = ACTS;
	rows->most = t->longest_s;
	for (ptrdiff_t i = 0; i < t->bar_count; i++)
		add_cover(t, &t->bars[i]);
	for (const struct part *p = t->parts; p < t->parts + t->part_count; p++) {
		add_device(rows, t, p, keep);
		for (int lane = 0; lane < p->lane_count; lane++) {
			svg_row_add(rows, p->lanes[lane], MISSING, keep);
			for (ptrdiff_t i = 0; i < t->bar_count; i++)
				if (part_of(t, &t->bars[i]) == p &&
					str_eq(t->bars[i].lane, p->lanes[lane]))
					add_bar(rows, t, &t->bars[i], keep);
		}
	}
	return rows;
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
		out_fmt(o, " Each device begins %s.",
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
		out_fmt(o, "All that was recorded, %.*s on %.*s: its steps were not found",
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
		SVG_WIDE, svg_draw_rows };
	struct timeline t = { 0 };
	if (!take(&t, r, keep))
		return false;
	*ret = svg_picture(&plot, rows_of(&t, keep), caption_of(&t, keep), keep);
	if (is_whole_capture(r))
		ret->title = STR("The capture");
	return true;
}
