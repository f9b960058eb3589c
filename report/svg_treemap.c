/*
 * Op time as areas, in groups by where in the model the ops stand, or by what they do where the
 * model names no scopes.  Ops that differ in their layer only are one box.
 */
#include <math.h>

#include "base/text.h"
#include "base/stats.h"
#include "report/prose.h"
#include "report/svg.h"

/* A narrow drawing is higher: a name needs a box that is wide. */
enum { HEIGHT = 340, HEIGHT_NARROW = 460 };
enum { GROUPS = 12, HEAD = 16, GAP = 2, GROUP_LEAST = 8 /* less of a name says nothing */ };

/* A box below so many units of area is a speck: its op is in the table. */
#define SPECK 6.0
/* Sums of shares below it stay exact enough: a report.json may come from anywhere. */
#define SHARE_MOST 1e6
#define CHAR	   6.8 /* of a name in a box: an op's letters are wide */

struct box {
	double left, top, width, height;
};

/* ---- squares --------------------------------------------------------------------------------- */

/*
 * Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000): boxes are laid in rows along the shorter
 * side of the room that is left, and a row grows as long as its worst box gets no longer and
 * thinner.  Shares come largest first.
 */
static double worst_of(double sum, double most, double least, double side)
{
	double square = side * side;
	return fmax(square * most / (sum * sum), sum * sum / (square * least));
}

static int row_length(const double *areas, int count, double side)
{
	double sum = areas[0];
	int n = 1;
	for (; n < count; n++) {
		double grown = sum + areas[n];
		if (worst_of(grown, areas[0], areas[n], side) >
			worst_of(sum, areas[0], areas[n - 1], side))
			break;
		sum = grown;
	}
	return n;
}

/* Takes the row off the room. */
static void place_row(const double *areas, int count, struct box *room, struct box *ret)
{
	bool is_wide = room->width >= room->height;
	double sum = 0, side = is_wide ? room->height : room->width, at = 0;
	for (int i = 0; i < count; i++)
		sum += areas[i];
	double depth = sum / side;
	for (int i = 0; i < count; i++) {
		double length = areas[i] / depth;
		ret[i] = is_wide ? (struct box){ room->left, room->top + at, depth, length }
				 : (struct box){ room->left + at, room->top, length, depth };
		at += length;
	}
	*(is_wide ? &room->left : &room->top) += depth;
	*(is_wide ? &room->width : &room->height) -= depth;
}

static void squarify(
	const double *shares, int count, struct box room, struct box *ret, struct arena *keep)
{
	double *areas = arena_make(keep, double, count), sum = 0;
	for (int i = 0; i < count; i++)
		sum += shares[i];
	for (int i = 0; i < count; i++)
		areas[i] = shares[i] / sum * room.width * room.height;
	for (int at = 0, n; at < count; at += n) {
		double side = fmin(room.width, room.height);
		n = side > 0 ? row_length(areas + at, count - at, side) : count - at;
		if (side > 0)
			place_row(areas + at, n, &room, ret + at);
	}
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct area {
	struct str name;
	double share;
	const struct families_row **ops; /* the heaviest first, as in the table */
	int count;
};

struct treemap {
	const struct report *r;
	bool by_scope;
	struct area *groups;
	int count;
};

/*
 * "jit(train_step)/jvp(ffw)/btf,fd->btd/dot_general" stands in jvp(ffw): a program's own name tells
 * nothing, and the last part is the primitive.
 */
static struct str scope_of(const struct families_row *op)
{
	struct str scope = op->scope, head, rest;
	if (str_starts(scope, STR("jit(")) && str_cut(scope, '/', &head, &rest))
		scope = rest;
	return str_cut(scope, '/', &head, &rest) ? head : STR("no scope");
}

static int by_share(const void *a, const void *b)
{
	const struct area *x = a, *y = b;
	int order = order_numbers(y->share, x->share);
	return order ? order : str_cmp(x->name, y->name);
}

static int heavier(const void *a, const void *b)
{
	const struct families_row *x = *(const struct families_row *const *)a;
	const struct families_row *y = *(const struct families_row *const *)b;
	int order = order_numbers(y->time_share, x->time_share);
	return order ? order : (x > y) - (x < y);
}

static void area_add(struct area *g, const struct families_row *op)
{
	g->ops[g->count++] = op;
	g->share += op->time_share;
}

/* The lightest groups are one. */
static void join_tail(struct treemap *m, int ops)
{
	if (m->count <= GROUPS)
		return;
	struct area *rest = &m->groups[GROUPS - 1];
	for (int i = GROUPS; i < m->count; i++)
		for (int k = 0; k < m->groups[i].count && rest->count < ops; k++)
			area_add(rest, m->groups[i].ops[k]);
	rest->name = STR("others");
	m->count = GROUPS;
	sort_by(rest->ops, rest->count, heavier);
	sort_by(m->groups, m->count, by_share);
}

static struct treemap map_of(const struct report *r, bool by_scope, struct arena *keep)
{
	const struct families_row *rows = table_rows(&r->tables, families);
	int count = (int)table_count(&r->tables, families);
	struct treemap m = {
		.r = r, .by_scope = by_scope, .groups = arena_make(keep, struct area, count + 1)
	};
	for (int i = 0; i < count; i++) {
		if (!(rows[i].time_share > 0 && rows[i].time_share < SHARE_MOST))
			continue;
		struct str name = by_scope	     ? scope_of(&rows[i])
				  : rows[i].kind.len ? rows[i].kind
						     : STR("unknown");
		struct area *group = NAMED(m.groups, m.count, name);
		if (!group) {
			group = &m.groups[m.count++];
			group->name = name;
			group->ops = arena_make(keep, const struct families_row *, count);
		}
		area_add(group, &rows[i]);
	}
	sort_by(m.groups, m.count, by_share);
	join_tail(&m, count);
	return m;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void draw_op(
	struct svg *x, const struct report *r, const struct families_row *op, const struct box *b)
{
	int columns = (int)((b->width - 8) / CHAR);
	struct out *o = out_memory(x->keep);
	if (b->width * b->height < SPECK)
		return;
	out_fmt(o, "%.*s (%.*s): %.*s of the %s", STR_ARG(op->name), STR_ARG(op->kind),
		STR_ARG(ratio_text(x->keep, op->time_share)), prose_span(r));
	if (op->members > 1)
		out_fmt(o, "\nwith %.0f alike", op->members - 1);
	if (op->per_step > 0 && op->p50_s > 0)
		out_fmt(o, "\n%.3g %s, %.*s each", op->per_step, prose_per(r),
			STR_ARG(time_text(x->keep, op->p50_s)));
	if (op->roofline_s > 0)
		out_fmt(o, "\nroofline %s%.*s", prose_bound(op->cost_bound),
			STR_ARG(time_text(x->keep, op->roofline_s)));
	if (op->scope.len)
		out_fmt(o, "\n%.*s", STR_ARG(op->scope));
	if (op->source_file.len)
		out_fmt(o, "\n%.*s",
			STR_ARG(place_text(op->source_file, op->source_line, x->keep)));
	svg_rect(x, svg_kind_ink(op->kind), b->left, b->top, fmax(b->width - 1, 0.5),
		fmax(b->height - 1, 0.5), out_text(o));
	if (columns >= 5 && b->height > 16)
		svg_text(x, INK_ON_FILL, ANCHOR_START, b->left + 4, b->top + 13,
			html_clip(text_function(op->name), columns, x->keep));
}

/* The name of a group stands above its ops, when it has the room. */
static void draw_group(struct svg *x, const struct report *r, const struct area *g, struct box room)
{
	int columns = (int)((room.width - 4) / CHAR);
	struct box *boxes = arena_make(x->keep, struct box, g->count);
	double *shares = arena_make(x->keep, double, g->count);
	room.width = fmax(room.width - GAP, 1);
	room.height = fmax(room.height - GAP, 1);
	if (columns >= GROUP_LEAST && room.height > 2 * HEAD) {
		struct str name = arena_fmt(x->keep, "%.*s %.*s", STR_ARG(g->name),
			STR_ARG(ratio_text(x->keep, g->share)));
		svg_text(x, INK_TEXT, ANCHOR_START, room.left + 1, room.top + 12,
			html_clip(name, columns, x->keep));
		room.top += HEAD;
		room.height -= HEAD;
	}
	for (int i = 0; i < g->count; i++)
		shares[i] = g->ops[i]->time_share;
	squarify(shares, g->count, room, boxes, x->keep);
	for (int i = 0; i < g->count; i++)
		draw_op(x, r, g->ops[i], &boxes[i]);
}

static double draw_treemap(struct svg *x, const void *what)
{
	const struct treemap *m = what;
	double height = x->is_narrow ? HEIGHT_NARROW : HEIGHT;
	struct box room = { 0, 0, x->width, height }, boxes[GROUPS] = { { 0 } };
	double shares[GROUPS];
	for (int i = 0; i < m->count; i++)
		shares[i] = m->groups[i].share;
	squarify(shares, m->count, room, boxes, x->keep);
	for (int i = 0; i < m->count; i++)
		draw_group(x, m->r, &m->groups[i], boxes[i]);
	return svg_keys(x, svg_kinds, SVG_KINDS, 0, height + 6);
}

static struct str caption_of(const struct treemap *m, struct arena *keep)
{
	double share = 0, ops = 0, all = m->r->row_totals[TABLE_families];
	for (int i = 0; i < m->count; i++) {
		share += m->groups[i].share;
		ops += m->groups[i].count;
	}
	return arena_fmt(keep,
		"A box is an op, or several that differ in the layer only: %s%.0f, with %.*s of "
		"the %s.",
		all > ops ? arena_z(keep, arena_fmt(keep, "%.0f of ", ops)) : "",
		all > ops ? all : ops, STR_ARG(ratio_text(keep, share)), prose_span(m->r));
}

bool svg_treemap(const struct report *r, struct arena *keep, struct html_picture *ret)
{
	static const struct svg_plot plot = { "picture-treemap", "Time by scope",
		"Time by op, as areas",
		"Every box is an op and those alike, as large as their share of the time.",
		SVG_WIDE, draw_treemap };
	struct treemap *m = arena_make(keep, struct treemap, 1);
	*m = map_of(r, true, keep);
	if (m->count < 2) /* a single scope tells nothing */
		*m = map_of(r, false, keep);
	if (!m->count || (m->count == 1 && m->groups[0].count == 1)) /* one box tells nothing */
		return false;
	*ret = svg_picture(&plot, m, caption_of(m, keep), keep);
	if (!m->by_scope)
		ret->title = STR("Time by kind");
	return true;
}
