/*
 * Shapes as text, in XLA's grammar:
 *
 *	shape  := array | "(" [shape {"," shape}] ")" | "b(" shape ")"
 *	array  := type "[" [dim {"," dim}] "]" [layout]       also token[] and opaque[]
 *	dim    := number | "<=" number | "?"
 *	layout := "{" [number {"," number}] [":" {attribute}] "}"
 *
 * An attribute is a word and parentheses; tiles T may repeat theirs.  What sizes do not depend on
 * (sparse levels, index types, split configurations, physical shapes) is skipped.
 */
#include "hlo/internal.h"

/* Of the text quoted in an error: enough to find the place, short enough to read. */
enum { QUOTE_BYTES = 512 };

struct cursor {
	struct str text; /* all of it */
	ptrdiff_t at;
	struct arena *keep;
	const char *why; /* sticky: what is wrong at `at` */
	int depth;
};

static struct str rest(const struct cursor *c)
{
	return str_from_offset(c->text, c->at);
}

static bool fail(struct cursor *c, const char *why)
{
	if (!c->why)
		c->why = why;
	return false;
}

static bool take(struct cursor *c, struct str word)
{
	if (!str_starts(rest(c), word))
		return false;
	c->at += word.len;
	return true;
}

static bool expect(struct cursor *c, struct str word, const char *why)
{
	return take(c, word) || fail(c, why);
}

static char peek(const struct cursor *c)
{
	return c->at < c->text.len ? c->text.p[c->at] : 0;
}

/* Blanks, and comments as XLA prints them between the elements of long tuples. */
static void skip_blanks(struct cursor *c)
{
	for (;;) {
		if (peek(c) == ' ' || peek(c) == '\n' || peek(c) == '\t') {
			c->at++;
		} else if (str_starts(rest(c), STR("/*"))) {
			ptrdiff_t end = str_find(rest(c), STR("*/"));
			if (end < 0)
				return;
			c->at += end + 2;
		} else {
			return;
		}
	}
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool number(struct cursor *c, int64_t *ret)
{
	ptrdiff_t from = c->at;
	while (is_digit(peek(c)))
		c->at++;
	struct str digits = str_head(str_from_offset(c->text, from), c->at - from);
	if (str_to_i64(digits, ret))
		return true;
	c->at = from;
	return fail(c, digits.len ? "the number is too large" : "expected a number");
}

static void push_dim(int64_t *dims, ptrdiff_t *rank, ptrdiff_t max, struct cursor *c, int64_t dim)
{
	if (*rank == max)
		fail(c, "too many dimensions");
	else
		dims[(*rank)++] = dim;
}

static int64_t *keep_dims(struct cursor *c, const int64_t *dims, ptrdiff_t rank)
{
	int64_t *kept = arena_make(c->keep, int64_t, rank);
	for (ptrdiff_t i = 0; i < rank; i++)
		kept[i] = dims[i];
	return kept;
}

static bool dimension(struct cursor *c, struct shape *s, int64_t *dims)
{
	int64_t dim = DIM_UNBOUNDED;
	bool dynamic = true;
	if (!take(c, STR("?"))) {
		dynamic = take(c, STR("<="));
		if (!number(c, &dim))
			return false;
	}
	if (dynamic && s->rank < SHAPE_MAX_RANK)
		s->dynamic_dims |= (uint64_t)1 << s->rank;
	push_dim(dims, &s->rank, SHAPE_MAX_RANK, c, dim);
	return !c->why;
}

static bool dimensions(struct cursor *c, struct shape *s)
{
	int64_t dims[SHAPE_MAX_RANK];
	if (!expect(c, STR("["), "expected '[' and the dimensions"))
		return false;
	while (!take(c, STR("]"))) {
		if (s->rank && !expect(c, STR(","), "expected ',' or ']'"))
			return false;
		if (!dimension(c, s, dims))
			return false;
	}
	s->dims = keep_dims(c, dims, s->rank);
	s->is_dynamic = s->dynamic_dims != 0;
	return true;
}

static bool tile_entry(struct cursor *c, int64_t *ret)
{
	if (take(c, STR("*"))) {
		*ret = TILE_COMBINE;
		return peek(c) != ')' || fail(c, "a tile cannot end in '*'");
	}
	if (!number(c, ret))
		return false;
	return *ret > 0 || fail(c, "a tile's dimension must be above 0");
}

static bool tile(struct cursor *c, struct tile *ret)
{
	int64_t dims[TILE_MAX_RANK];
	while (!take(c, STR(")"))) {
		int64_t dim;
		if (ret->rank && !expect(c, STR(","), "expected ',' or ')'"))
			return false;
		if (!tile_entry(c, &dim))
			return false;
		push_dim(dims, &ret->rank, TILE_MAX_RANK, c, dim);
		if (c->why)
			return false;
	}
	ret->dims = keep_dims(c, dims, ret->rank);
	return true;
}

static bool attr_tiles(struct cursor *c, struct shape *s)
{
	s->tiles = arena_make(c->keep, struct tile, LAYOUT_MAX_TILES);
	do {
		if (s->tile_count == LAYOUT_MAX_TILES)
			return fail(c, "too many tiles");
		if (!tile(c, &s->tiles[s->tile_count++]))
			return false;
	} while (take(c, STR("(")));
	return true;
}

static bool bounded(struct cursor *c, int64_t max, int64_t *ret)
{
	ptrdiff_t from = c->at;
	if (!number(c, ret))
		return false;
	if (*ret > max) {
		c->at = from;
		return fail(c, "the number is too large");
	}
	return expect(c, STR(")"), "expected ')'");
}

/* The same bounds as for shapes from the wire. */
enum { MAX_ELEMENT_BITS = 1024 };
#define MAX_LAYOUT_NUMBER ((int64_t)1 << 31)

static bool attr_tail(struct cursor *c, struct shape *s)
{
	return bounded(c, MAX_LAYOUT_NUMBER, &s->tail_alignment);
}

static bool attr_bits(struct cursor *c, struct shape *s)
{
	int64_t bits = 0;
	bool ok = bounded(c, MAX_ELEMENT_BITS, &bits);
	s->element_bits = (int)bits;
	return ok;
}

static bool attr_space(struct cursor *c, struct shape *s)
{
	return bounded(c, INT64_MAX, &s->memory_space);
}

static bool attr_prefix(struct cursor *c, struct shape *s)
{
	return bounded(c, MAX_LAYOUT_NUMBER, &s->metadata_bytes);
}

/* Over one or more balanced groups; the first '(' is taken already. */
static bool attr_skip(struct cursor *c, struct shape *s)
{
	(void)s;
	for (ptrdiff_t open = 1; open;) {
		char ch = peek(c);
		if (!ch)
			return fail(c, "expected ')'");
		c->at++;
		open += (ch == '(') - (ch == ')');
		if (!open && take(c, STR("(")))
			open = 1;
	}
	return true;
}

static const struct {
	struct str word;
	bool (*read)(struct cursor *c, struct shape *s);
} attributes[] = {
	{ STR_INIT("T("), attr_tiles },	 /* tiles */
	{ STR_INIT("L("), attr_tail },	 /* tail padding alignment, elements */
	{ STR_INIT("E("), attr_bits },	 /* element size, bits */
	{ STR_INIT("S("), attr_space },	 /* memory space */
	{ STR_INIT("M("), attr_prefix }, /* dynamic shape prefix, bytes */
	{ STR_INIT("D("), attr_skip },	 /* sparse level types */
	{ STR_INIT("#("), attr_skip },	 /* index type */
	{ STR_INIT("*("), attr_skip },	 /* pointer type */
	{ STR_INIT("SC("), attr_skip },	 /* split configuration */
	{ STR_INIT("P("), attr_skip },	 /* physical shape */
};

static bool attribute(struct cursor *c, struct shape *s)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (take(c, attributes[i].word))
			return attributes[i].read(c, s);
	return fail(c, "expected a layout attribute (T, L, E, S, M ...) or '}'");
}

static bool order_entry(struct cursor *c, const struct shape *s, ptrdiff_t i, uint64_t *seen)
{
	ptrdiff_t from = c->at;
	if (i && !expect(c, STR(","), "expected ',', ':' or '}'"))
		return false;
	if (!number(c, &s->minor_to_major[i]))
		return false;
	int64_t dim = s->minor_to_major[i];
	if (dim < s->rank && !(*seen >> dim & 1)) {
		*seen |= (uint64_t)1 << dim;
		return true;
	}
	c->at = from + (i > 0);
	return fail(c, "a layout lists every dimension once, from 0");
}

static bool layout(struct cursor *c, struct shape *s)
{
	if (!take(c, STR("{")))
		return true;
	s->has_layout = true;
	s->minor_to_major = arena_make(c->keep, int64_t, s->rank);
	uint64_t seen = 0;
	for (ptrdiff_t i = 0; i < s->rank; i++)
		if (!order_entry(c, s, i, &seen))
			return false;
	if (take(c, STR(":")))
		while (peek(c) != '}')
			if (!attribute(c, s))
				return false;
	return expect(c, STR("}"), "expected '}'");
}

static struct str type_word(const struct cursor *c)
{
	struct str s = rest(c);
	ptrdiff_t n = 0;
	while (n < s.len && (is_digit(s.p[n]) || (s.p[n] >= 'a' && s.p[n] <= 'z')))
		n++;
	return str_head(s, n);
}

static bool array(struct cursor *c, struct shape *s)
{
	struct str word = type_word(c);
	s->dtype = dtype_find(word);
	if (s->dtype == DTYPE_INVALID || s->dtype == DTYPE_TUPLE || s->dtype == DTYPE_BUFFER)
		return fail(c, "expected a shape such as bf16[8,128]{1,0}");
	c->at += word.len;
	s->leaves = 1;
	return dimensions(c, s) && layout(c, s);
}

static bool shape(struct cursor *c, struct shape *s);

/* Elements up to ')'; the opening one is taken already. */
static bool elements(struct cursor *c, struct shape *s, ptrdiff_t max)
{
	ptrdiff_t cap = 0;
	for (skip_blanks(c); !take(c, STR(")")); skip_blanks(c)) {
		if (s->element_count && !expect(c, STR(","), "expected ',' or ')'"))
			return false;
		if (s->element_count >= max || s->leaves >= SHAPE_MAX_LEAVES)
			return fail(c, "too many elements");
		struct shape element = { 0 };
		if (!shape(c, &element))
			return false;
		element.leaf_first = s->leaves;
		s->leaves += element.leaves;
		*arena_push(c->keep, s->elements, s->element_count, cap) = element;
	}
	return true;
}

static bool tuple(struct cursor *c, struct shape *s, enum dtype type, ptrdiff_t max)
{
	s->dtype = type;
	if (c->depth == SHAPE_MAX_DEPTH)
		return fail(c, "tuples are nested too deeply");
	c->depth++;
	bool ok = elements(c, s, max);
	c->depth--;
	return ok;
}

static bool shape(struct cursor *c, struct shape *s)
{
	bool ok;
	skip_blanks(c);
	if (take(c, STR("(")))
		ok = tuple(c, s, DTYPE_TUPLE, SHAPE_MAX_LEAVES);
	else if (take(c, STR("b(")))
		ok = tuple(c, s, DTYPE_BUFFER, 1);
	else
		ok = array(c, s);
	if (ok)
		shape_complete(s, c->keep);
	return ok;
}

/* The line of the text that holds `at`, cut around it, as a place for a caret. */
static struct text_place place(const struct cursor *c)
{
	ptrdiff_t from = c->at > QUOTE_BYTES / 2 ? c->at - QUOTE_BYTES / 2 : 0;
	struct str quote = str_head(str_from_offset(c->text, from), QUOTE_BYTES);
	ptrdiff_t newline = str_rfind_char(str_head(quote, c->at - from), '\n');
	quote = str_from_offset(quote, newline + 1);
	ptrdiff_t end = str_find_char(quote, '\n');
	return (struct text_place){ .file = STR("shape"),
		.source = end < 0 ? quote : str_head(quote, end),
		.line = 1,
		.column = c->at - from - newline,
		.width = 1 };
}

const char *shape_scan(struct str text, struct arena *keep, struct shape *ret, ptrdiff_t *at)
{
	struct cursor c = { .text = text, .keep = keep };
	*ret = (struct shape){ 0 };
	shape(&c, ret);
	*at = c.at;
	return c.why;
}

bool shape_parse(struct str text, struct arena *keep, struct shape *ret, struct str *rest_of,
	struct diag *err)
{
	struct cursor c = { .text = text, .keep = keep };
	*ret = (struct shape){ 0 };
	bool ok = shape(&c, ret);
	if (rest_of)
		*rest_of = rest(&c);
	if (ok)
		return true;
	if (c.at <= QUOTE_BYTES / 2)
		return diag_caret(err, DIAG_HLO, place(&c), "%s", c.why);
	return diag_caret(err, DIAG_HLO, place(&c), "at byte %td of the text: %s", c.at, c.why);
}

static void write_numbers(struct out *o, const int64_t *items, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		if (i)
			out_char(o, ',');
		if (items[i] == TILE_COMBINE)
			out_char(o, '*');
		else
			out_i64(o, items[i]);
	}
}

static void write_dims(struct out *o, const struct shape *s)
{
	for (ptrdiff_t i = 0; i < s->rank; i++) {
		if (i)
			out_char(o, ',');
		if (s->dims[i] == DIM_UNBOUNDED) {
			out_char(o, '?');
			continue;
		}
		if (s->dynamic_dims >> i & 1)
			out_z(o, "<=");
		out_i64(o, s->dims[i]);
	}
}

static void write_tiles(struct out *o, const struct shape *s)
{
	if (s->tile_count)
		out_char(o, 'T');
	for (ptrdiff_t i = 0; i < s->tile_count; i++) {
		out_char(o, '(');
		write_numbers(o, s->tiles[i].dims, s->tiles[i].rank);
		out_char(o, ')');
	}
}

static void write_number_attr(struct out *o, char word, int64_t value, int64_t least)
{
	if (value >= least)
		out_fmt(o, "%c(%lld)", word, (long long)value);
}

static void write_layout(struct out *o, const struct shape *s)
{
	bool plain = !s->tile_count && s->tail_alignment <= 1 && !s->element_bits &&
		     !s->memory_space && !s->metadata_bytes;
	if (plain && !s->rank)
		return;
	out_char(o, '{');
	write_numbers(o, s->minor_to_major, s->rank);
	if (!plain)
		out_char(o, ':');
	write_tiles(o, s);
	write_number_attr(o, 'L', s->tail_alignment, 2);
	write_number_attr(o, 'E', s->element_bits, 1);
	write_number_attr(o, 'S', s->memory_space, 1);
	write_number_attr(o, 'M', s->metadata_bytes, 1);
	out_char(o, '}');
}

/* XLA marks every fifth element of a tuple with its index. */
static void write_tuple(struct out *o, const struct shape *s, bool with_layout)
{
	out_z(o, s->dtype == DTYPE_BUFFER ? "b(" : "(");
	for (ptrdiff_t i = 0; i < s->element_count; i++) {
		if (i)
			out_z(o, ", ");
		if (i && i % 5 == 0)
			out_fmt(o, "/*index=%td*/", i);
		shape_print(o, &s->elements[i], with_layout);
	}
	out_char(o, ')');
}

void shape_print(struct out *o, const struct shape *s, bool with_layout)
{
	if (s->dtype == DTYPE_TUPLE || s->dtype == DTYPE_BUFFER) {
		write_tuple(o, s, with_layout);
		return;
	}
	out_str(o, dtype_name(s->dtype));
	out_char(o, '[');
	write_dims(o, s);
	out_char(o, ']');
	if (with_layout && s->has_layout)
		write_layout(o, s);
}

struct str shape_text(const struct shape *s, bool with_layout, struct arena *keep)
{
	struct out *o = out_memory(keep);
	shape_print(o, s, with_layout);
	return out_text(o);
}
