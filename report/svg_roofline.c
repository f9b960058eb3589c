/*
 * The roofline plot: FLOPs per byte against FLOP/s, both logarithmic.
 *
 * Peaks are read off the ops themselves (flops over t_math_s, bytes over t_hbm_s), so that the
 * roof is the one they were judged by: of their type, on their share of a chip.
 */
#include <math.h>

#include "base/text.h"
#include "report/prose.h"
#include "report/svg.h"

enum {
	POINTS = 80,
	ROOFS = 3,
	NAMES_MOST = 7,
	NAME_PITCH = 16,
	ROW_PITCH = 14,
	NAMES_LEFT = 8,
	LEFT = 84,
	TOP = 16,
	BOTTOM = 336,
	RIDGE_WIDTH = 70
};
#define CHAR	    6.4	  /* of a name: an op's letters are wide */
#define TICK_PITCH  38	  /* between two labels of the axis */
#define LEAST_SHARE 0.002 /* of the step; smaller dots only stretch the axes */

struct point {
	const struct ops_row *op;
	double x, y; /* FLOPs per byte, FLOP/s */
};

struct roof {
	double peak, weight; /* time spent under it */
	struct str types;
};

struct plot {
	struct point points[POINTS];
	int count;
	struct roof roofs[ROOFS];
	int roof_count;
	double hbm_bps, covered;       /* share of the step in these ops */
	double x_lo, x_hi, y_lo, y_hi; /* decades */
	double right;		       /* of the drawing, once its width is known */
};

/* ---- what is plotted ------------------------------------------------------------------------- */

static bool takes_type(const struct roof *roof, struct str type)
{
	struct str rest = roof->types, word;
	while (str_next(&rest, ',', &word))
		if (str_eq(str_trim(word), type))
			return true;
	return false;
}

/* Peaks within a percent are one roof. */
static void add_roof(struct plot *p, const struct ops_row *op, struct arena *keep)
{
	double peak = op->common->flops / op->common->t_math_s;
	enum ink ink = svg_kind_ink(op->common->kind);
	/* Matrices of a type, or all that the vector units do. */
	struct str type =
		ink == INK_ELEMENTWISE || ink == INK_COPY ? STR("vector") : op->common->dtype;
	if (!(peak > 0) || !isfinite(peak))
		return;
	int i = 0;
	while (i < p->roof_count && fabs(p->roofs[i].peak / peak - 1) > 0.01)
		i++;
	if (i == ROOFS)
		return;
	if (i == p->roof_count)
		p->roofs[p->roof_count++] = (struct roof){ peak, 0, type };
	else if (type.len && !takes_type(&p->roofs[i], type))
		p->roofs[i].types =
			arena_fmt(keep, "%.*s, %.*s", STR_ARG(p->roofs[i].types), STR_ARG(type));
	p->roofs[i].weight += op->time_s;
}

/* Ops behind others take as long as those, so their speed says nothing. */
static bool is_plotted(const struct point *pt)
{
	const struct ops_row *op = pt->op;
	enum ink ink = svg_kind_ink(op->common->kind);
	return pt->x > 0 && pt->y > 0 && isfinite(pt->x) && isfinite(pt->y) &&
	       !(op->overlap_ratio > 0.5) && op->time_share >= LEAST_SHARE && ink != INK_COMMS &&
	       ink != INK_TRANSFER && ink != INK_IDLE;
}

/* Ops come heaviest first. */
static void take_points(struct plot *p, const struct report *r, struct arena *keep)
{
	const struct ops_row *rows = table_rows(&r->tables, ops);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, ops) && p->count < POINTS; i++) {
		const struct ops_row *op = &rows[i];
		struct point pt = { op, op->common->flops / op->common->hbm_bytes,
			op->common->flops / op->p50_s };
		if (!is_plotted(&pt))
			continue;
		p->points[p->count++] = pt;
		add_roof(p, op, keep);
		if (op->common->t_hbm_s > 0 && !(p->hbm_bps > 0))
			p->hbm_bps = op->common->hbm_bytes / op->common->t_hbm_s;
		if (op->time_share > 0)
			p->covered += op->time_share;
	}
}

static double top_peak(const struct plot *p)
{
	double most = 0;
	for (int i = 0; i < p->roof_count; i++)
		most = fmax(most, p->roofs[i].peak);
	return most;
}

static double roof_at(const struct plot *p, double x)
{
	return fmin(p->hbm_bps * x, top_peak(p));
}

/* Whole decades that hold all points and the ridges; at most eight below the top. */
static void set_range(struct plot *p)
{
	double ridge = top_peak(p) / p->hbm_bps;
	double x_lo = ridge / 30, x_hi = ridge * 10, y_lo = INFINITY, y_hi = top_peak(p) * 2.5;
	for (int i = 0; i < p->count; i++) {
		x_lo = fmin(x_lo, p->points[i].x);
		x_hi = fmax(x_hi, p->points[i].x * 3); /* room for the dot */
		y_lo = fmin(y_lo, p->points[i].y);
		y_hi = fmax(y_hi, p->points[i].y * 1.5);
	}
	p->x_lo = fmax(floor(log10(x_lo)), floor(log10(x_hi)) - 7);
	p->x_hi = log10(x_hi);
	p->y_lo = fmax(floor(log10(y_lo * 0.8)), floor(log10(y_hi)) - 7);
	p->y_hi = log10(y_hi);
}

static double at_x(const struct plot *p, double x)
{
	double t = (log10(x) - p->x_lo) / (p->x_hi - p->x_lo);
	return LEFT + (p->right - LEFT) * fmin(fmax(t, 0), 1);
}

static double at_y(const struct plot *p, double y)
{
	double t = (log10(y) - p->y_lo) / (p->y_hi - p->y_lo);
	return BOTTOM - (BOTTOM - TOP) * fmin(fmax(t, 0), 1);
}

/* Of the HBM roof: pixels up for a pixel to the right. */
static double slope_of(const struct plot *p)
{
	return (BOTTOM - TOP) / (p->y_hi - p->y_lo) * (p->x_hi - p->x_lo) / (p->right - LEFT);
}

/* The area of a dot is the op's share of the step. */
static double radius_of(const struct ops_row *op)
{
	return fmin(fmax(sqrt(fmax(op->time_share, 0)) * 34, 2.5), 22);
}

/* ---- the roof -------------------------------------------------------------------------------- */

static void draw_grid(const struct plot *p, struct svg *x)
{
	double pitch = (p->right - LEFT) / (p->x_hi - p->x_lo);
	for (double d = ceil(p->x_lo); d <= p->x_hi; d++) {
		double value = pow(10, d), at = at_x(p, value);
		svg_line(x, INK_GRID, at, TOP, at, BOTTOM);
		if (pitch < TICK_PITCH && fmod(d, 2) != 0)
			continue;
		svg_text(x, INK_MUTED, ANCHOR_MIDDLE, at, BOTTOM + 15,
			value >= 1e5 || value < 1e-3 ? arena_fmt(x->keep, "1e%.0f", log10(value))
						     : svg_tick(x->keep, value, UNIT_NONE));
	}
	for (double d = ceil(p->y_lo); d <= p->y_hi; d++) {
		double at = at_y(p, pow(10, d));
		svg_line(x, INK_GRID, LEFT, at, p->right, at);
		svg_text(x, INK_MUTED, ANCHOR_END, LEFT - 6, at + 4,
			svg_tick(x->keep, pow(10, d), UNIT_FLOPS_PER_SECOND));
	}
	svg_line(x, INK_AXIS, LEFT, BOTTOM, p->right, BOTTOM);
	svg_line(x, INK_AXIS, LEFT, TOP, LEFT, BOTTOM);
	svg_text(x, INK_TEXT, ANCHOR_MIDDLE, (LEFT + p->right) / 2, BOTTOM + 32,
		STR("FLOPs per byte of HBM traffic"));
}

/* Where the name of the highest roof stands: above its line, and above the dots that lie there. */
static double above_dots(const struct plot *p, double left, double y)
{
	double top = y - 6;
	for (int i = 0; i < p->count; i++) {
		const struct point *pt = &p->points[i];
		double radius = radius_of(pt->op), dot = at_y(p, pt->y) - radius;
		if (at_x(p, pt->x) + radius > left && dot < y)
			top = fmin(top, dot - 3);
	}
	return fmax(top, 11);
}

/*
 * A level line from where the slope meets it.  Ridges are named below it, each on a row of its own:
 * two may be close.
 */
static void draw_ceiling(const struct plot *p, const struct roof *roof, struct svg *x)
{
	double ridge = roof->peak / p->hbm_bps, left = at_x(p, ridge), y = at_y(p, roof->peak);
	struct str text = arena_fmt(x->keep, "%.*s \xc2\xb7 %.*s",
		STR_ARG(html_clip(roof->types, 16, x->keep)),
		STR_ARG(unit_text(x->keep, roof->peak, UNIT_FLOPS_PER_SECOND)));
	bool is_top = roof->peak == top_peak(p);
	double room = p->right - 2 - SVG_CHAR * text_columns(text);
	/* The highest has room above it, the others below it and below the slope. */
	double begin = is_top ? room : fmin(left + 5, room);
	double below = y + 13 + fmax(left + 5 - begin, 0) * slope_of(p);
	svg_stroke(x, INK_TEXT, left, y, p->right, y, 1.8, false);
	svg_strong(x, INK_TEXT, ANCHOR_START, begin, is_top ? above_dots(p, room, y) : below, text);
	svg_stroke(x, INK_MUTED, left, y, left, BOTTOM, 1, true);
	bool is_last = left > p->right - RIDGE_WIDTH;
	svg_text(x, INK_MUTED, is_last ? ANCHOR_END : ANCHOR_START, left + (is_last ? -4 : 4),
		BOTTOM - 6 - ROW_PITCH * (double)(roof - p->roofs),
		arena_fmt(x->keep, "ridge %.*s",
			STR_ARG(svg_tick(x->keep, round(ridge), UNIT_NONE))));
}

static void draw_roof(const struct plot *p, struct svg *x)
{
	double x0 = pow(10, p->x_lo), y0 = p->hbm_bps * x0;
	if (y0 < pow(10, p->y_lo)) {
		y0 = pow(10, p->y_lo);
		x0 = y0 / p->hbm_bps;
	}
	double x1 = top_peak(p) / p->hbm_bps;
	svg_stroke(x, INK_TEXT, at_x(p, x0), at_y(p, y0), at_x(p, x1), at_y(p, top_peak(p)), 1.8,
		false);
	for (int i = 0; i < p->roof_count; i++)
		draw_ceiling(p, &p->roofs[i], x);
	struct str text = arena_fmt(x->keep, "HBM %.*s",
		STR_ARG(unit_text(x->keep, p->hbm_bps, UNIT_BYTES_PER_SECOND)));
	/* Above the slope, where no op can be. */
	double middle = sqrt(x0 * x1);
	svg_strong(x, INK_TEXT, ANCHOR_END, at_x(p, middle) - 8, at_y(p, middle * p->hbm_bps) - 4,
		text);
}

/* ---- points and their names ------------------------------------------------------------------ */

static struct str point_title(const struct point *pt, struct arena *keep)
{
	const struct ops_row *op = pt->op;
	struct out *o = out_memory(keep);
	out_fmt(o, "%.*s (%.*s)\n%.*s of the time, %.*s each", STR_ARG(op->name),
		STR_ARG(op->common->kind), STR_ARG(ratio_text(keep, op->time_share)),
		STR_ARG(time_text(keep, op->p50_s)));
	const char *bound = prose_bound(op->common->cost_bound);
	out_fmt(o, "\n%s%.*s at %.3g FLOPs per byte", bound,
		STR_ARG(unit_text(keep, pt->y, UNIT_FLOPS_PER_SECOND)), pt->x);
	if (op->efficiency > 0)
		out_fmt(o, "\n%s%.*s of its %.*s roofline", bound,
			STR_ARG(ratio_text(keep, op->efficiency)), STR_ARG(op->common->bound));
	return out_text(o);
}

/* How many others lie in its place; -1 where a heavier one does. */
static int count_near(const struct plot *p, int index)
{
	const struct point *pt = &p->points[index];
	int near = 0;
	for (int i = 0; i < p->count; i++) {
		double dx = at_x(p, pt->x) - at_x(p, p->points[i].x);
		double dy = at_y(p, pt->y) - at_y(p, p->points[i].y);
		if (i == index || !(fabs(dx) < 9 && fabs(dy) < 9))
			continue;
		if (i < index)
			return -1;
		near++;
	}
	return near;
}

/* The heaviest have letters, and are named in the order of these; returns where the names end. */
static double draw_names(const struct plot *p, struct svg *x, double top)
{
	int count = 0;
	for (int i = 0; i < p->count && count < NAMES_MOST; i++) {
		const struct point *pt = &p->points[i];
		double radius = radius_of(pt->op), roof = roof_at(p, pt->x);
		bool is_inside = radius >= 7;
		int near = count_near(p, i);
		if (near < 0)
			continue;
		struct str letter = arena_fmt(x->keep, "%c", 'a' + count++);
		svg_strong(x, INK_TEXT, is_inside ? ANCHOR_MIDDLE : ANCHOR_START,
			at_x(p, pt->x) + (is_inside ? 0 : radius + 2), at_y(p, pt->y) + 4, letter);
		struct str share = arena_fmt(x->keep,
			"%s%.*s of its roof: ", prose_bound(pt->op->common->cost_bound),
			STR_ARG(ratio_text(x->keep, pt->y / roof)));
		struct str others = near ? arena_fmt(x->keep, " and %d near it", near) : STR("");
		double room =
			(x->width - NAMES_LEFT - 14) / CHAR - (double)(share.len + others.len);
		struct str name = html_clip(pt->op->name, (int)fmax(room, 8), x->keep);
		svg_strong(x, INK_TEXT, ANCHOR_START, NAMES_LEFT, top + 11, letter);
		svg_text(x, INK_TEXT, ANCHOR_START, NAMES_LEFT + 14, top + 11,
			arena_fmt(x->keep, "%.*s%.*s%.*s", STR_ARG(share), STR_ARG(name),
				STR_ARG(others)));
		top += NAME_PITCH;
	}
	return top;
}

static double draw_plot(struct svg *x, const void *what)
{
	struct plot *p = arena_make(x->keep, struct plot, 1);
	*p = *(const struct plot *)what;
	p->right = x->width - 14;
	draw_grid(p, x);
	draw_roof(p, x);
	/* From the heaviest dots up to their roof: what is lost. */
	for (int i = 0; i < p->count && i < NAMES_MOST; i++) {
		const struct point *pt = &p->points[i];
		double roof = roof_at(p, pt->x), left = at_x(p, pt->x);
		if (pt->y < roof * 0.95)
			svg_stroke(x, INK_BAD, left, at_y(p, pt->y), left, at_y(p, roof), 1, true);
	}
	for (int i = p->count - 1; i >= 0; i--) { /* the heaviest on top */
		const struct point *pt = &p->points[i];
		svg_dot(x, svg_kind_ink(pt->op->common->kind), at_x(p, pt->x), at_y(p, pt->y),
			radius_of(pt->op), point_title(pt, x->keep));
	}
	return svg_keys(x, svg_kinds, SVG_KINDS, NAMES_LEFT, draw_names(p, x, BOTTOM + 42) + 8);
}

/* ---- what is said of it ---------------------------------------------------------------------- */

static struct str caption_of(const struct report *r, const struct plot *p, struct arena *keep)
{
	const struct point *top = &p->points[0];
	double roof = roof_at(p, top->x), ridge = top_peak(p) / p->hbm_bps;
	return arena_fmt(keep,
		"The heaviest op with FLOPs, %.*s, reaches %s%.*s of the roof above it and lies on "
		"the %s side of the ridge; the ops drawn take %.*s of the %s.",
		STR_ARG(html_clip(top->op->name, 40, keep)),
		prose_bound(top->op->common->cost_bound), STR_ARG(ratio_text(keep, top->y / roof)),
		top->x < ridge ? "memory" : "compute", STR_ARG(ratio_text(keep, p->covered)),
		prose_span(r));
}

bool svg_roofline(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-roofline", "Roofline", NULL,
		"Every dot is an op; its area is its share of the time. The heaviest have letters, "
		"and dashed lines lead from them up to what the chip could do.",
		SVG_HALF, draw_plot };
	struct plot *p = arena_make(keep, struct plot, 1);
	take_points(p, r, keep);
	if (!p->count || !p->roof_count || !(p->hbm_bps > 0))
		return false;
	set_range(p);
	*ret = svg_picture(&plot, p, caption_of(r, p, keep), keep);
	return true;
}
