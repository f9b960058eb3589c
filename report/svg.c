/* Shapes, scales, signs.  See svg.h. */
#include "report/svg.h"

#include <assert.h>
#include <math.h>

#include "base/kind.h"
#include "base/text.h"

#define KEY_PITCH 18 /* from one row of keys to the next */

static const struct {
	struct str name, color;
} inks[INK_COUNT] = {
#define X(id, name, color) [INK_##id] = { STR_INIT(name), STR_INIT(color) },
	INKS(X)
#undef X
};

/* ---- attributes ------------------------------------------------------------------------------ */

/* One decimal, and none where it is zero. */
static struct str number(struct arena *keep, double value)
{
	double tenths = round((isfinite(value) ? value : 0) * 10);
	if (fmod(tenths, 10) == 0)
		return arena_fmt(keep, "%.0f", tenths / 10 + 0.0);
	return arena_fmt(keep, "%.1f", tenths / 10);
}

static void put(struct svg *x, const char *name, double value)
{
	xhtml_attr(x->x, str_from(name), number(x->keep, value));
}

/* class="f-compute" fill="#2563c9" x="8" y="14": a number for each of `names`, or none. */
static void open_shape(struct svg *x, struct str element, const char *attribute, enum ink ink,
	const char *names, const double *numbers)
{
	struct str class = arena_fmt(x->keep, "%c-%.*s", *attribute, STR_ARG(inks[ink].name));
	struct str rest = str_from(names), name;
	xhtml_open(x->x, element);
	xhtml_attr(x->x, STR("class"), class);
	xhtml_attr(x->x, str_from(attribute), inks[ink].color);
	x->used[ink] = true;
	for (ptrdiff_t i = 0; numbers && str_next(&rest, ' ', &name); i++)
		xhtml_attr(x->x, name, number(x->keep, numbers[i]));
}

static void put_words(struct xhtml *x, struct str element, struct str text)
{
	if (!text.len)
		return;
	xhtml_open(x, element);
	xhtml_text(x, text);
	xhtml_close(x);
}

void svg_title(struct svg *x, struct str title)
{
	put_words(x->x, STR("title"), title);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

void svg_group(struct svg *x, const char *opacity)
{
	xhtml_open(x->x, STR("g"));
	if (opacity)
		xhtml_attr(x->x, STR("opacity"), str_from(opacity));
}

void svg_end(struct svg *x)
{
	xhtml_close(x->x);
}

void svg_rect(struct svg *x, enum ink ink, double left, double top, double width, double height,
	struct str title)
{
	if (!(width > 0) || !(height > 0))
		return;
	width = fmax(width, 0.3); /* a sliver is still seen */
	open_shape(x, STR("rect"), "fill", ink, "x y width height",
		(const double[]){ left, top, width, height });
	svg_title(x, title);
	xhtml_close(x->x);
}

void svg_stroke(struct svg *x, enum ink ink, double x1, double y1, double x2, double y2,
	double width, bool dashed)
{
	open_shape(
		x, STR("line"), "stroke", ink, "x1 y1 x2 y2", (const double[]){ x1, y1, x2, y2 });
	if (width != 1)
		put(x, "stroke-width", width);
	if (dashed)
		xhtml_attr(x->x, STR("stroke-dasharray"), STR("3 3"));
	xhtml_close(x->x);
}

void svg_line(struct svg *x, enum ink ink, double x1, double y1, double x2, double y2)
{
	svg_stroke(x, ink, x1, y1, x2, y2, 1, false);
}

void svg_dot(struct svg *x, enum ink ink, double cx, double cy, double radius, struct str title)
{
	open_shape(x, STR("circle"), "fill", ink, "cx cy r", (const double[]){ cx, cy, radius });
	xhtml_attr(x->x, STR("fill-opacity"), STR("0.75"));
	xhtml_attr(x->x, STR("stroke"), STR("#ffffff"));
	xhtml_attr(x->x, STR("stroke-width"), STR("0.8"));
	svg_title(x, title);
	xhtml_close(x->x);
}

static void svg_path(struct svg *x, enum ink ink, const char *d, double width)
{
	open_shape(x, STR("path"), "stroke", ink, NULL, NULL);
	xhtml_attr(x->x, STR("fill"), STR("none"));
	put(x, "stroke-width", width);
	xhtml_attr(x->x, STR("stroke-linecap"), STR("round"));
	xhtml_attr(x->x, STR("stroke-linejoin"), STR("round"));
	xhtml_attr(x->x, STR("d"), str_from(d));
	xhtml_close(x->x);
}

void svg_area(struct svg *x, enum ink ink, const char *d)
{
	open_shape(x, STR("path"), "fill", ink, NULL, NULL);
	xhtml_attr(x->x, STR("d"), str_from(d));
	xhtml_close(x->x);
}

static void put_text(struct svg *x, enum ink ink, enum anchor anchor, double left, double baseline,
	const char *weight, struct str text)
{
	static const struct str anchors[] = { STR_INIT("start"), STR_INIT("middle"),
		STR_INIT("end") };
	open_shape(x, STR("text"), "fill", ink, "x y", (const double[]){ left, baseline });
	if (anchor != ANCHOR_START)
		xhtml_attr(x->x, STR("text-anchor"), anchors[anchor]);
	if (weight)
		xhtml_attr(x->x, STR("font-weight"), str_from(weight));
	xhtml_attr(x->x, STR("font-size"), STR("11"));
	xhtml_text(x->x, text);
	xhtml_close(x->x);
}

void svg_text(struct svg *x, enum ink ink, enum anchor anchor, double left, double baseline,
	struct str text)
{
	put_text(x, ink, anchor, left, baseline, NULL, text);
}

void svg_strong(struct svg *x, enum ink ink, enum anchor anchor, double left, double baseline,
	struct str text)
{
	put_text(x, ink, anchor, left, baseline, "600", text);
}

double svg_keys(struct svg *x, const struct svg_key *keys, int count, double left, double top)
{
	double at = left;
	for (int i = 0; i < count; i++) {
		double width = 16 + SVG_CHAR * (double)keys[i].text.len;
		if (!x->used[keys[i].ink])
			continue;
		if (at > left && at + width > x->width) {
			at = left;
			top += KEY_PITCH;
		}
		svg_rect(x, keys[i].ink, at, top, 11, 11, MISSING);
		svg_text(x, INK_TEXT, ANCHOR_START, at + 16, top + 9.5, keys[i].text);
		at += width + 14;
	}
	return top + KEY_PITCH;
}

/* ---- plots ----------------------------------------------------------------------------------- */

struct drawing {
	const struct svg_plot *plot;
	const void *what;
};

/* Drawn aside, as the height comes first. */
static void draw_at(const struct drawing *d, double width, struct xhtml *x)
{
	struct xhtml aside = xhtml_aside(x);
	struct svg s = { .x = &aside,
		.keep = x->keep,
		.width = width,
		.is_narrow = width == SVG_NARROW,
		.desc = str_from(d->plot->desc) };
	double height = d->plot->draw(&s, d->what);
	xhtml_open(x, STR("svg"));
	xhtml_attr(x, STR("xmlns"), STR("http://www.w3.org/2000/svg"));
	xhtml_attr(x, STR("viewBox"),
		arena_fmt(x->keep, "0 0 %.*s %.*s", STR_ARG(number(x->keep, width)),
			STR_ARG(number(x->keep, height))));
	if (s.is_narrow) /* where no stylesheet may say it */
		xhtml_attr(x, STR("display"), STR("none"));
	xhtml_attr(x, STR("role"), STR("img"));
	xhtml_attr(x, STR("font-family"), STR("system-ui, sans-serif"));
	xhtml_attr(x, STR("font-size"), STR("12"));
	put_words(x, STR("title"), str_from(d->plot->name ? d->plot->name : d->plot->title));
	put_words(x, STR("desc"), s.desc);
	xhtml_take(x, &aside);
	xhtml_close(x);
}

/* The stylesheet shows one of the two. */
static void draw(const void *what, struct xhtml *x)
{
	const struct drawing *d = what;
	draw_at(d, d->plot->width, x);
	if (d->plot->width > SVG_NARROW)
		draw_at(d, SVG_NARROW, x);
}

struct template_picture svg_drawing(
	const struct svg_plot *plot, const void *what, struct arena *keep)
{
	struct drawing *d = arena_make(keep, struct drawing, 1);
	*d = (struct drawing){ plot, what };
	return (struct template_picture){ draw, d };
}

struct html_picture svg_picture(
	const struct svg_plot *plot, const void *what, struct str caption, struct arena *keep)
{
	return (struct html_picture){ .id = str_from(plot->id),
		.title = str_from(plot->title),
		.caption = caption,
		.size = plot->width == SVG_WIDE ? STR("wide") : MISSING,
		.drawing = svg_drawing(plot, what, keep) };
}

int svg_columns(double width)
{
	return width > SVG_CHAR ? (int)(width / SVG_CHAR) : 1;
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten. */
static double round_step(double rough)
{
	double power = pow(10, floor(log10(rough))), digit = rough / power;
	return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/*
 * Bytes are counted in powers of 1024, and time beyond five minutes in powers of 60: the step is
 * round in the unit that is shown.
 */
static double unit_size(double most, enum unit unit)
{
	if (unit == UNIT_SECONDS)
		return most < 300 ? 1 : most < 5 * 3600 ? 60 : 3600;
	if (unit != UNIT_BYTES || most < 1024)
		return 1;
	return pow(1024, floor(log2(most) / 10));
}

struct svg_scale svg_scale(double most, enum unit unit, int ticks)
{
	struct svg_scale s = { most, 1, unit };
	assert(ticks > 0);
	if (!(most > 0) || !isfinite(most))
		return (struct svg_scale){ 1, 1, unit };
	double size = unit_size(most, unit);
	s.step = round_step(most / size / ticks) * size;
	return s;
}

/* "5.00 ms" is exact where a tick is meant: "5 ms". */
struct str svg_tick(struct arena *keep, double value, enum unit unit)
{
	struct str text = unit_text(keep, value, unit), head = text, tail = STR("");
	ptrdiff_t blank = str_find_char(text, ' ');
	if (value == 0)
		return STR("0");
	if (blank >= 0) {
		head = str_head(text, blank);
		tail = str_from_offset(text, blank);
	} else if (str_ends(text, STR("%"))) {
		head = str_head(text, text.len - 1);
		tail = STR("%");
	}
	if (str_find_char(head, '.') >= 0) {
		while (str_ends(head, STR("0")))
			head.len--;
		if (str_ends(head, STR(".")))
			head.len--;
	}
	return arena_fmt(keep, "%.*s%.*s", STR_ARG(head), STR_ARG(tail));
}

/* Beyond a minute all ticks are of one unit: "80 s" beside "40 s", not "1.33 min". */
static struct str axis_tick(struct arena *keep, const struct svg_scale *s, int i)
{
	double value = i * s->step, size = unit_size(s->most, s->unit);
	if (i == 0 || s->unit != UNIT_SECONDS || s->most < 60)
		return svg_tick(keep, value, s->unit);
	return arena_fmt(keep, "%.6g %s", value / size, size == 1 ? "s" : size == 60 ? "min" : "h");
}

static int tick_count(const struct svg_scale *s)
{
	double n = floor(s->most / s->step * (1 + 1e-9));
	return n > 0 && n < 100 ? (int)n : 0;
}

void svg_scale_x(struct svg *x, const struct svg_scale *s, double left, double width, double top,
	double bottom)
{
	for (int i = 0; i <= tick_count(s); i++) {
		double at = left + width * i * s->step / s->most;
		svg_line(x, i ? INK_GRID : INK_AXIS, at, top, at, bottom);
		svg_text(x, INK_MUTED, ANCHOR_MIDDLE, at, bottom + 14, axis_tick(x->keep, s, i));
	}
}

void svg_scale_y(struct svg *x, const struct svg_scale *s, double left, double right, double top,
	double bottom)
{
	for (int i = 0; i <= tick_count(s); i++) {
		double at = bottom - (bottom - top) * i * s->step / s->most;
		svg_line(x, i ? INK_GRID : INK_AXIS, left, at, right, at);
		svg_text(x, INK_MUTED, ANCHOR_END, left - 6, at + 4, axis_tick(x->keep, s, i));
	}
}

/* ---- kinds ----------------------------------------------------------------------------------- */

const struct svg_key svg_kinds[SVG_KINDS] = {
	{ INK_COMPUTE, STR_INIT("matmul, convolution") },
	{ INK_ATTENTION, STR_INIT("attention") },
	{ INK_ELEMENTWISE, STR_INIT("elementwise, reduce") },
	{ INK_COPY, STR_INIT("moving data") },
	{ INK_CUSTOM, STR_INIT("custom, other") },
	{ INK_COMMS, STR_INIT("communication") },
	{ INK_TRANSFER, STR_INIT("host transfers") },
	{ INK_IDLE, STR_INIT("unknown") },
};

enum ink svg_kind_ink(struct str kind)
{
	static const struct exact {
		struct str kind;
		enum ink ink;
	} exact[] = {
		{ STR_INIT("matmul"), INK_COMPUTE },
		{ STR_INIT("convolution"), INK_COMPUTE },
		{ STR_INIT("attention"), INK_ATTENTION },
		{ STR_INIT("elementwise"), INK_ELEMENTWISE },
		{ STR_INIT("reduce"), INK_ELEMENTWISE },
		{ STR_INIT("rng"), INK_ELEMENTWISE },
		{ STR_INIT("gather"), INK_COPY },
		{ STR_INIT("scatter"), INK_COPY },
		{ STR_INIT("sort"), INK_COPY },
		{ STR_INIT("update"), INK_COPY },
	};
	static const enum ink by_activity[] = {
		[0] = INK_IDLE,
		[ACTIVITY_COMPUTE] = INK_CUSTOM,
		[ACTIVITY_COMMS] = INK_COMMS,
		[ACTIVITY_COPY] = INK_COPY,
		[ACTIVITY_TRANSFER] = INK_TRANSFER,
	};
	const struct exact *e = NAMED(exact, COUNT_OF(exact), kind);
	return e ? e->ink : by_activity[op_kind_activity(op_kind_find(kind))];
}

/* ---- signs ----------------------------------------------------------------------------------- */

#define DASH "M8 12 L16 12"

static const struct icon {
	enum ink ink;
	const char *path; /* in a square of 24 */
} icons[VERDICT_ERROR + 1] = {
	[VERDICT_FAIL] = { INK_BAD, "M8 8 L16 16 M16 8 L8 16" },
	[VERDICT_ERROR] = { INK_BAD, "M12 6.5 L12 13 M12 17 L12 17.1" },
	[VERDICT_WARN] = { INK_WARN, "M12 6.5 L12 13 M12 17 L12 17.1" },
	[VERDICT_PASS] = { INK_GOOD, "M7 12.5 L10.5 16 L17 8.5" },
	[VERDICT_INCONCLUSIVE] = { INK_UNSURE,
		"M9 9.2 C9 5.4 15 5.4 15 9.2 C15 11.6 12 11.6 12 14 M12 17.5 L12 17.6" },
	[VERDICT_WAIVED] = { INK_MUTED, DASH },
	[VERDICT_NOT_APPLICABLE] = { INK_MUTED, DASH },
	[VERDICT_OFF] = { INK_MUTED, DASH },
};

/* A sign or a bar is hidden from screen readers: the words stand beside it. */
static struct svg begin_small(
	struct xhtml *x, const char *class, const char *box, const char *width, const char *height)
{
	xhtml_open(x, STR("svg"));
	xhtml_attr(x, STR("xmlns"), STR("http://www.w3.org/2000/svg"));
	xhtml_attr(x, STR("class"), str_from(class));
	xhtml_attr(x, STR("viewBox"), str_from(box));
	if (width)
		xhtml_attr(x, STR("width"), str_from(width));
	xhtml_attr(x, STR("height"), str_from(height));
	if (!width) /* as wide as there is room */
		xhtml_attr(x, STR("preserveAspectRatio"), STR("none"));
	xhtml_attr(x, STR("aria-hidden"), STR("true"));
	return (struct svg){ .x = x, .keep = x->keep };
}

static void draw_icon(const void *what, struct xhtml *x)
{
	const struct icon *icon = what;
	struct svg s = begin_small(x, "icon", "0 0 24 24", "20", "20");
	open_shape(&s, STR("circle"), "fill", icon->ink, "cx cy r", (const double[]){ 12, 12, 11 });
	xhtml_close(x);
	svg_path(&s, INK_ON_FILL, icon->path, 2.4);
	xhtml_close(x);
}

struct template_picture svg_icon(enum verdict v)
{
	return (struct template_picture){ draw_icon, &icons[v] };
}

static void draw_share(const void *what, struct xhtml *x)
{
	double share = *(const double *)what;
	struct svg s = begin_small(x, "share", "0 0 100 4", NULL, "6");
	svg_rect(&s, INK_TRACK, 0, 0, 100, 4, MISSING);
	svg_rect(&s, INK_BAD, 0, 0, 100 * fmin(share, 1), 4, MISSING);
	xhtml_close(x);
}

struct limits {
	double value, warn, fail, end;
	bool is_bad;
};

static void draw_limits(const void *what, struct xhtml *x)
{
	const struct limits *l = what;
	enum { WIDTH = 100, HEIGHT = 10, BAR = 6 };
	struct svg s = begin_small(x, "limits", "0 0 100 10", NULL, "10");
	svg_rect(&s, INK_TRACK, 0, 2, WIDTH, BAR, MISSING);
	svg_rect(&s, l->is_bad ? INK_BAD : INK_GOOD, 0, 2, WIDTH * fmax(0, l->value) / l->end, BAR,
		MISSING);
	if (!isnan(l->warn))
		svg_rect(&s, INK_WARN, WIDTH * l->warn / l->end, 0, 1, HEIGHT, MISSING);
	if (!isnan(l->fail))
		svg_rect(&s, INK_BAD, WIDTH * l->fail / l->end, 0, 1, HEIGHT, MISSING);
	xhtml_close(x);
}

struct template_picture svg_limits(const struct rule_number *n, double value, struct arena *keep)
{
	struct limits *l = arena_make(keep, struct limits, 1);
	double most = fmax(fmax(value, n->warn_limit), n->fail_limit);
	double limit = isnan(n->warn_limit) ? n->fail_limit : n->warn_limit;
	*l = (struct limits){ value, n->warn_limit, n->fail_limit, most * 1.1,
		n->at_least ? value < limit : value > limit };
	bool is_drawn = isfinite(most) && most > 0 && isfinite(value) && !isnan(limit);
	return (struct template_picture){ is_drawn ? draw_limits : NULL, l };
}

struct template_picture svg_share(double share, struct arena *keep)
{
	double *own = arena_make(keep, double, 1);
	*own = share;
	return (struct template_picture){ share > 0 ? draw_share : NULL, own };
}
