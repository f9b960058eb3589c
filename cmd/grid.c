/* Columns and paragraphs.  See grid.h. */
#include "cmd/grid.h"

#include <assert.h>

#include "base/text.h"

struct grid_column {
	ptrdiff_t width;
	bool is_text;
};

void grid_add(struct grid *g, struct str text)
{
	char *copy = arena_make(g->keep, char, text.len + 1);
	for (ptrdiff_t i = 0; i < text.len; i++)
		copy[i] = text.p[i] == '\n' || text.p[i] == '\r' || text.p[i] == '\t' ? ' '
										      : text.p[i];
	*arena_push(g->keep, g->cells, g->count, g->cap) = (struct str){ copy, text.len };
}

void grid_cells(struct grid *g, const struct str *cells, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++)
		grid_add(g, cells[i]);
}

/* "12", "-3e5", "197 TFLOP/s", "28.4%"; "NULL" and "-" stand for one that is missing. */
static bool is_number(struct str s)
{
	double value;
	struct str head, unit;
	if (str_eq(s, STR("NULL")) || str_eq(s, STR("-")))
		return true;
	str_cut(s, ' ', &head, &unit);
	if (str_ends(head, STR("%")))
		head.len--;
	return str_to_double(head, &value) && str_find_char(unit, ' ') < 0;
}

static struct grid_column *measure(const struct grid *g)
{
	struct grid_column *columns = arena_make(g->keep, struct grid_column, g->columns);
	ptrdiff_t first = g->has_header ? g->columns : 0;
	for (ptrdiff_t i = 0; i < g->count; i++) {
		struct grid_column *c = &columns[i % g->columns];
		if (text_columns(g->cells[i]) > c->width)
			c->width = text_columns(g->cells[i]);
		c->is_text |= i >= first && !is_number(g->cells[i]);
	}
	return columns;
}

/* Blanks in front of the last cell are owed until it is known to have a text. */
void grid_print(const struct grid *g, struct out *o)
{
	assert(!g->count || g->count % g->columns == 0);
	struct grid_column *columns = measure(g);
	ptrdiff_t at = 0, owed = 0;
	for (ptrdiff_t i = 0; i < g->count; i++) {
		const struct grid_column *c = &columns[i % g->columns];
		ptrdiff_t pad = c->width - text_columns(g->cells[i]);
		if (i % g->columns == 0)
			at = owed = g->indent;
		owed += c->is_text ? 0 : pad;
		if (g->cells[i].len) {
			out_repeat(o, ' ', owed);
			owed = 0;
		}
		if (i % g->columns == g->columns - 1) {
			if (g->wrap)
				out_words(o, g->cells[i], (int)at, (int)at, g->wrap);
			else
				out_str(o, g->cells[i]);
			out_char(o, '\n');
			continue;
		}
		out_str(o, g->cells[i]);
		owed += 2 + (c->is_text ? pad : 0);
		at += c->width + 2;
	}
}

void print_words(struct out *o, struct str text, int at, int indent, int width)
{
	out_words(o, text, at, indent, width);
	out_char(o, '\n');
}

void print_paragraphs(struct out *o, struct str text, int indent, int width)
{
	struct str line;
	for (bool more = text.p != NULL; more;) {
		more = str_cut(text, '\n', &line, &text);
		if (!more && !line.len)
			break;
		out_repeat(o, ' ', line.len ? indent : 0);
		if (line.len && !str_starts(line, STR(" "))) {
			print_words(o, line, indent, indent, width);
			continue;
		}
		out_str(o, line);
		out_char(o, '\n');
	}
}
