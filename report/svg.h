/*
 * Drawings: SVG by elements, with one palette for all of them.  Private to report/.
 *
 * Every shape has a class, which the page's stylesheet colours for light, dark and print, and the
 * same as presentation attributes, because some places that show our pages allow no stylesheet.
 * No style attributes, no ids, no links.
 * Coordinates have one decimal, so that bytes do not depend on the last bits of a sum.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "measure/diff.h"
#include "report/html.h"

/* X(enum, class, colour on white paper).  templates/report.css has the same classes. */
#define INKS(X)                                                                                    \
	X(TEXT, "text", "#1b1f24")                                                                 \
	X(MUTED, "muted", "#57606a")                                                               \
	X(ON_FILL, "on-fill", "#ffffff") /* text on a filled bar */                                \
	X(GRID, "grid", "#dfe3e8")                                                                 \
	X(AXIS, "axis", "#6b7480")                                                                 \
	X(TRACK, "track", "#eceff3") /* the whole of which a bar is a part */                      \
	X(COMPUTE, "compute", "#2563c9")                                                           \
	X(COMMS, "comms", "#d9480f")                                                               \
	X(HIDDEN, "hidden", "#8fa9d6") /* communication behind compute */                          \
	X(COPY, "copy", "#a16207")                                                                 \
	X(TRANSFER, "transfer", "#7c3aed")                                                         \
	X(IDLE, "idle", "#98a1ad")                                                                 \
	X(ATTENTION, "attention", "#0f766e")                                                       \
	X(ELEMENTWISE, "elementwise", "#4d7c0f")                                                   \
	X(CUSTOM, "custom", "#b83280")                                                             \
	X(BAND, "band", "#c9d8f2") /* what was expected */                                         \
	X(BAD, "bad", "#b42318")                                                                   \
	X(WARN, "warn", "#8a5a00")                                                                 \
	X(GOOD, "good", "#1a7f37")                                                                 \
	X(UNSURE, "unsure", "#6639ba")

enum ink {
#define X(id, name, color) INK_##id,
	INKS(X)
#undef X
		INK_COUNT
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* A unit is a CSS pixel or a little more, so that no text is smaller than its 11 units. */
enum {
	SVG_WIDE = 960,	 /* over the whole page */
	SVG_HALF = 548,	 /* two side by side on a page of 1280 pixels */
	SVG_NARROW = 320 /* on a phone of 390 pixels, less the margins */
};
#define SVG_CHAR 6.1 /* a character of a label, on average; text is never measured */

/* A drawing as it grows.  How high it is shows when it is finished, and keys are of its inks. */
struct svg {
	struct xhtml *x;
	struct arena *keep;
	double width;
	bool is_narrow;
	struct str desc; /* for those who do not see it */
	bool used[INK_COUNT];
};

/* Returns the height. */
typedef double svg_draw(struct svg *x, const void *what);

/* How a plot is drawn: at its width and, if that is more, for a phone, too. */
struct svg_plot {
	const char *id, *title; /* of its figure; no id: it has none */
	const char *name;	/* for those who do not see it; NULL: the title */
	const char *desc;
	double width;
	svg_draw *draw;
};
struct template_picture svg_drawing(
	const struct svg_plot *plot, const void *what, struct arena *keep);
struct html_picture svg_picture(
	const struct svg_plot *plot, const void *what, struct str caption, struct arena *keep);

/* How many characters of a label have room. */
int svg_columns(double width);

/* What is drawn until svg_end stands in it; opacity may be NULL. */
void svg_group(struct svg *x, const char *opacity);
void svg_title(struct svg *x, struct str title); /* of what is open */
void svg_end(struct svg *x);
/* The title, which may be missing, shows when the pointer rests on it. */
void svg_rect(struct svg *x, enum ink ink, double left, double top, double width, double height,
	struct str title);
void svg_line(struct svg *x, enum ink ink, double x1, double y1, double x2, double y2);
void svg_stroke(struct svg *x, enum ink ink, double x1, double y1, double x2, double y2,
	double width, bool dashed);
void svg_dot(struct svg *x, enum ink ink, double cx, double cy, double radius, struct str title);
void svg_area(struct svg *x, enum ink ink, const char *d);
void svg_text(struct svg *x, enum ink ink, enum anchor anchor, double left, double baseline,
	struct str text);
void svg_strong(struct svg *x, enum ink ink, enum anchor anchor, double left, double baseline,
	struct str text);

struct svg_key {
	enum ink ink;
	struct str text;
};
/*
 * Squares with words, for those inks that were drawn with, from left to right in as many rows as
 * it takes.  Returns where they end.
 */
double svg_keys(struct svg *x, const struct svg_key *keys, int count, double left, double top);

/* Ticks 0, step, 2 step ... of an axis that reaches `most`. */
struct svg_scale {
	double most, step;
	enum unit unit;
};
struct svg_scale svg_scale(double most, enum unit unit, int ticks);
struct str svg_tick(struct arena *keep, double value, enum unit unit); /* "5 ms" */
/* A horizontal scale of `width` from `left`, with grid lines from `top` to `bottom`. */
void svg_scale_x(struct svg *x, const struct svg_scale *s, double left, double width, double top,
	double bottom);
void svg_scale_y(struct svg *x, const struct svg_scale *s, double left, double right, double top,
	double bottom);

/* Bars in rows, one below the other, on one scale. */
struct svg_bar {
	enum ink ink;
	int line; /* of its row, from 0 */
	double from, to;
	struct str title; /* shows when the pointer rests on it */
	struct str label; /* stands in it, where there is room */
};

struct svg_row {
	struct str name, value;
	bool is_head; /* of those below it, up to the next */
	struct svg_bar *bars;
	ptrdiff_t count, cap;
};

struct svg_rows {
	struct svg_row *items;
	ptrdiff_t count, cap;
	double height;	   /* of a bar */
	double name_width; /* of names beside the rows, in a wide drawing; 0: they stand above */
	double value_width;
	const char *title; /* or NULL */
	int ticks;	   /* of an axis in seconds; 0: none */
	bool is_chain;	   /* each row begins where the one above it ends */
	bool is_of_all;	   /* a value is of all lines of its row, not of the first */
	bool is_lane;	   /* a hair is between bars, and a label is cut to its bar */
	const struct svg_key *keys;
	int key_count;
	const struct svg_rows *next; /* drawn below, on a scale of its own */
	/* What the bars say. */
	double most;
	int lines;
};
struct svg_rows *svg_rows_new(double height, struct arena *keep);
/* The value stands behind the bars of the first line, or behind all of them (is_of_all). */
struct svg_row *svg_row_add(
	struct svg_rows *r, struct str name, struct str value, struct arena *keep);
/* One more of the row that was added last. */
struct svg_bar *svg_bar_add(struct svg_rows *r, int line, enum ink ink, double from, double to,
	struct str title, struct arena *keep);
double svg_draw_rows(struct svg *x, const void *rows);

enum ink svg_kind_ink(struct str kind); /* of an op */
/* What the inks of ops mean. */
enum { SVG_KINDS = 8 };
extern const struct svg_key svg_kinds[SVG_KINDS];

/* The sign of a verdict, and a bar that is filled to `share`. */
struct template_picture svg_icon(enum verdict v);
struct template_picture svg_share(double share, struct arena *keep);
/* A number as a bar, with a line at each of its limits; nothing where there are none. */
struct template_picture svg_limits(const struct rule_number *n, double value, struct arena *keep);

/* The pictures.  False: the report has nothing to draw. */
bool svg_budget(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_timeline(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_steps(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_roofline(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_treemap(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_collectives(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_memory(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_usage(const struct report *r, struct arena *keep, struct html_picture *ret);
bool svg_waterfall(const struct op_diff *d, struct arena *keep, struct html_picture *ret);
bool svg_kinds_change(const struct op_diff *d, struct arena *keep, struct html_picture *ret);

#endif
