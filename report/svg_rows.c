/* Rows of bars: what most pictures are made of.  See svg.h. */
#include <math.h>

#include "base/text.h"
#include "report/svg.h"

enum { LEFT = 8, TOP = 4, NAME_HEIGHT = 14, BETWEEN = 8, VALUE_WIDTH = 76 };
enum { TITLE_HEIGHT = 28, AXIS_HEIGHT = 28, LABEL_LEAST = 6 };

#define NAME_CHAR 7.0 /* of a name: the letters of ops and streams are wide */

struct svg_rows *svg_rows_new(double height, struct arena *keep)
{
	struct svg_rows *r = arena_make(keep, struct svg_rows, 1);
	r->height = height;
	r->value_width = VALUE_WIDTH;
	return r;
}

struct svg_row *svg_row_add(
	struct svg_rows *r, struct str name, struct str value, struct arena *keep)
{
	struct svg_row *row = arena_push(keep, r->items, r->count, r->cap);
	*row = (struct svg_row){ .name = name, .value = value };
	return row;
}

struct svg_bar *svg_bar_add(struct svg_rows *r, int line, enum ink ink, double from, double to,
	struct str title, struct arena *keep)
{
	struct svg_row *row = &r->items[r->count - 1];
	struct svg_bar *bar = arena_push(keep, row->bars, row->count, row->cap);
	*bar = (struct svg_bar){ ink, line, isfinite(from) ? from : 0, isfinite(to) ? to : 0, title,
		MISSING };
	r->most = fmax(r->most, fmax(bar->from, bar->to));
	r->lines = line + 1 > r->lines ? line + 1 : r->lines;
	return bar;
}

/* Where the bars begin, and the width of one counted thing. */
struct span {
	double left, scale;
};

static void draw_bar(
	struct svg *x, const struct svg_rows *r, const struct svg_bar *b, struct span s, double top)
{
	double left = s.left + fmin(b->from, b->to) * s.scale;
	double width = fabs(b->to - b->from) * s.scale;
	int columns = (int)((width - 8) / NAME_CHAR);
	bool fits = r->is_lane ? columns >= LABEL_LEAST
			       : width > SVG_CHAR * text_columns(b->label) + 10;
	top += b->line * (r->height + 1);
	svg_rect(x, b->ink, left, top, r->is_lane && width > 3 ? width - 0.6 : width, r->height,
		b->title);
	if (b->label.len && fits)
		svg_text(x, INK_ON_FILL, ANCHOR_START, left + (r->is_lane ? 4 : 6),
			top + r->height / 2 + 4,
			r->is_lane ? html_clip(b->label, columns, x->keep) : b->label);
}

/* Behind the bars that it is of, or at the end of them where there is no room. */
static void draw_value(struct svg *x, const struct svg_rows *r, const struct svg_row *row,
	struct span s, double top)
{
	double most = 0, width = SVG_CHAR * text_columns(row->value) + 12;
	if (!row->value.len)
		return;
	for (ptrdiff_t i = 0; i < row->count; i++)
		if (!row->bars[i].line || r->is_of_all)
			most = fmax(most, fmax(row->bars[i].from, row->bars[i].to));
	double end = s.left + most * s.scale;
	double height = r->is_of_all ? r->lines * (r->height + 1) - 1 : r->height;
	bool is_inside = end + width > x->width && end - s.left > width;
	svg_strong(x, is_inside ? INK_ON_FILL : INK_TEXT, is_inside ? ANCHOR_END : ANCHOR_START,
		end + (is_inside ? -6 : 6), top + height / 2 + 4,
		html_clip(row->value, svg_columns(is_inside ? end : x->width - end - 6), x->keep));
}

static double draw_rows(struct svg *x, const struct svg_rows *r, double top)
{
	bool is_beside = r->name_width > 0 && !x->is_narrow;
	double left = is_beside ? r->name_width : LEFT;
	double across = x->width - left - r->value_width;
	struct span s = { left, across / r->most };
	double name = is_beside ? 0 : NAME_HEIGHT, bars = r->lines * (r->height + 1);
	double pitch = name + bars + BETWEEN, bottom = top + pitch * (double)r->count;
	for (ptrdiff_t i = 1; i < r->count; i++)
		bottom += r->items[i].is_head ? BETWEEN : 0;
	if (r->title) {
		svg_strong(x, INK_TEXT, ANCHOR_START, LEFT, top + TITLE_HEIGHT - 10,
			str_from(r->title));
		top += TITLE_HEIGHT;
		bottom += TITLE_HEIGHT;
	}
	if (r->ticks) {
		struct svg_scale scale =
			svg_scale(r->most, UNIT_SECONDS, x->is_narrow ? r->ticks / 2 : r->ticks);
		svg_scale_x(x, &scale, left, across, top, bottom);
		bottom += AXIS_HEIGHT;
	}
	for (ptrdiff_t i = 0; i < r->count; i++, top += pitch) {
		const struct svg_row *row = &r->items[i];
		top += i && row->is_head ? BETWEEN : 0;
		(row->is_head ? svg_strong : svg_text)(x, INK_TEXT,
			is_beside ? ANCHOR_END : ANCHOR_START,
			is_beside ? left - 8 : LEFT + (r->ticks ? 4 : 0),
			top + (is_beside ? r->height / 2 + 4 : NAME_HEIGHT - 4),
			html_clip(row->name,
				(int)((is_beside ? left - 8 : x->width - LEFT - 8) / NAME_CHAR),
				x->keep));
		for (ptrdiff_t k = 0; k < row->count; k++)
			draw_bar(x, r, &row->bars[k], s, top + name);
		draw_value(x, r, row, s, top + name);
		if (r->is_chain && i + 1 < r->count) {
			double end = s.left + row->bars->to * s.scale;
			/* Not through the next name. */
			bool is_free = LEFT + NAME_CHAR * text_columns(row[1].name) < end;
			svg_line(x, INK_GRID, end, top + name + bars, end,
				top + pitch + (is_free ? name : 0));
		}
	}
	return r->key_count ? svg_keys(x, r->keys, r->key_count, left, bottom) : bottom;
}

double svg_draw_rows(struct svg *x, const void *what)
{
	double top = TOP;
	for (const struct svg_rows *r = what; r; r = r->next)
		top = draw_rows(x, r, top);
	return top;
}
