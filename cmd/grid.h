/*
 * Text in aligned columns, and prose that is wrapped: what commands print for people.
 *
 * Widths count characters, which is what a terminal shows of the texts we have.
 */
#ifndef CMD_GRID_H
#define CMD_GRID_H

#include "base/arena.h"
#include "base/out.h"
#include "base/str.h"

struct grid {
	struct arena *keep;
	ptrdiff_t columns; /* cells of a row */
	struct str *cells; /* row by row */
	ptrdiff_t count, cap;
	bool has_header; /* the first row holds names, which decide nothing about alignment */
	int indent;
	int wrap; /* the last column goes on below itself at this width; 0: never */
};

/* Line ends and tabs in `text` become blanks. */
void grid_add(struct grid *g, struct str text);
/* Several of them. */
#define grid_row(g, ...)                                                                           \
	grid_cells((g), (const struct str[]){ __VA_ARGS__ },                                       \
		COUNT_OF(((const struct str[]){ __VA_ARGS__ })))
void grid_cells(struct grid *g, const struct str *cells, ptrdiff_t count);
/* A column of numbers, with or without a unit behind them, is aligned to the right. */
void grid_print(const struct grid *g, struct out *o);

/* Words from column `at` on; lines that would pass `width` go on at `indent`.  Ends the line. */
void print_words(struct out *o, struct str text, int at, int indent, int width);
/*
 * A line is a paragraph, wrapped; one that begins with blanks is printed as it is.  All of it is
 * indented.
 */
void print_paragraphs(struct out *o, struct str text, int indent, int width);

#endif
