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
#include "hlo/scan.h"

/* Of the text quoted in an error: enough to find the place, short enough to read. */
enum { QUOTE_BYTES = 512 };

static bool number(struct scan *s, int64_t max, int64_t *ret)
{
	ptrdiff_t from = s->at;
	while (is_digit(scan_peek(s)))
		s->at++;
	struct str digits = scan_since(s, from);
	if (!digits.len)
		return scan_fail(s, "expected a number");
	return (str_to_i64(digits, ret) && *ret <= max) ||
	       scan_fail_at(s, from, "the number is too large");
}

/* "8,<=16,?]" */
static bool dimensions(struct scan *s, struct shape *ret)
{
	while (!scan_take(s, STR("]"))) {
		int64_t dim = DIM_UNBOUNDED;
		if (ret->rank && !scan_expect(s, STR(","), "expected ',' or ']'"))
			return false;
		bool dynamic = scan_take(s, STR("?")), bounded = !dynamic;
		if (bounded) {
			dynamic = scan_take(s, STR("<="));
			if (!number(s, INT64_MAX, &dim))
				return false;
		}
		if (ret->rank == SHAPE_MAX_RANK)
			return scan_fail(s, "too many dimensions");
		ret->dynamic_dims |= (uint64_t)dynamic << ret->rank;
		*READ_PUSH(s->keep, ret->dims, ret->rank) = dim;
	}
	ret->is_dynamic = ret->dynamic_dims != 0;
	return true;
}

/* "*,8,128)" */
static bool tile(struct scan *s, struct tile *ret)
{
	while (!scan_take(s, STR(")"))) {
		int64_t dim = TILE_COMBINE;
		if (ret->rank && !scan_expect(s, STR(","), "expected ',' or ')'"))
			return false;
		if (scan_take(s, STR("*"))) {
			if (scan_peek(s) == ')')
				return scan_fail(s, "a tile cannot end in '*'");
		} else if (!number(s, INT64_MAX, &dim)) {
			return false;
		} else if (!dim) {
			return scan_fail(s, "a tile's dimension must be above 0");
		}
		if (ret->rank == TILE_MAX_RANK)
			return scan_fail(s, "too many dimensions");
		*READ_PUSH(s->keep, ret->dims, ret->rank) = dim;
	}
	return true;
}

static bool tiles(struct scan *s, struct shape *ret)
{
	do {
		if (ret->tile_count == LAYOUT_MAX_TILES)
			return scan_fail(s, "too many tiles");
		if (!tile(s, READ_PUSH(s->keep, ret->tiles, ret->tile_count)))
			return false;
	} while (scan_take(s, STR("(")));
	return true;
}

/* Over one or more balanced groups; the first '(' is taken already. */
static bool skip_groups(struct scan *s)
{
	for (ptrdiff_t open = 1; open;) {
		char c = scan_peek(s);
		if (!c)
			return scan_fail(s, "expected ')'");
		s->at++;
		open += (c == '(') - (c == ')');
		if (!open && scan_take(s, STR("(")))
			open = 1;
	}
	return true;
}

static bool attribute(struct scan *s, struct shape *ret)
{
	static const struct str skipped[] = {
		STR_INIT("D("),	 /* sparse level types */
		STR_INIT("#("),	 /* index type */
		STR_INIT("*("),	 /* pointer type */
		STR_INIT("SC("), /* split configuration */
		STR_INIT("P("),	 /* physical shape */
	};
	const struct {
		struct str word;
		int64_t *into, max;
	} numbers[] = {
		{ STR("L("), &ret->tail_alignment, LAYOUT_MAX_NUMBER },
		{ STR("E("), &ret->element_bits, ELEMENT_MAX_BITS },
		{ STR("S("), &ret->memory_space, INT64_MAX },
		{ STR("M("), &ret->metadata_bytes, LAYOUT_MAX_NUMBER },
	};
	if (scan_take(s, STR("T(")))
		return tiles(s, ret);
	for (ptrdiff_t i = 0; i < COUNT_OF(numbers); i++)
		if (scan_take(s, numbers[i].word))
			return number(s, numbers[i].max, numbers[i].into) &&
			       scan_expect(s, STR(")"), "expected ')'");
	for (ptrdiff_t i = 0; i < COUNT_OF(skipped); i++)
		if (scan_take(s, skipped[i]))
			return skip_groups(s);
	return scan_fail(s, "expected a layout attribute (T, L, E, S, M ...) or '}'");
}

static bool layout(struct scan *s, struct shape *ret)
{
	uint64_t seen = 0;
	ret->has_layout = true;
	ret->minor_to_major = arena_make(s->keep, int64_t, ret->rank);
	for (ptrdiff_t i = 0; i < ret->rank; i++) {
		if (i && !scan_expect(s, STR(","), "expected ',', ':' or '}'"))
			return false;
		ptrdiff_t from = s->at;
		int64_t dim;
		if (!number(s, INT64_MAX, &dim))
			return false;
		if (dim >= ret->rank || (seen >> dim & 1))
			return scan_fail_at(s, from, "a layout lists every dimension once, from 0");
		seen |= (uint64_t)1 << dim;
		ret->minor_to_major[i] = dim;
	}
	if (scan_take(s, STR(":")))
		while (scan_peek(s) != '}')
			if (!attribute(s, ret))
				return false;
	return scan_expect(s, STR("}"), "expected '}'");
}

static bool array(struct scan *s, struct shape *ret)
{
	ptrdiff_t from = s->at;
	while (is_digit(scan_peek(s)) || (scan_peek(s) >= 'a' && scan_peek(s) <= 'z'))
		s->at++;
	ret->leaves = 1;
	ret->dtype = dtype_find(scan_since(s, from));
	if (ret->dtype == DTYPE_INVALID || ret->dtype == DTYPE_TUPLE || ret->dtype == DTYPE_BUFFER)
		return scan_fail_at(s, from, "expected a shape such as bf16[8,128]{1,0}");
	return scan_expect(s, STR("["), "expected '[' and the dimensions") && dimensions(s, ret) &&
	       (!scan_take(s, STR("{")) || layout(s, ret));
}

static bool shape_at_depth(struct scan *s, struct shape *ret, int depth);

/* Elements up to ')'; the opening one is taken already. */
static bool tuple(struct scan *s, struct shape *ret, int depth)
{
	ptrdiff_t max = ret->dtype == DTYPE_BUFFER ? 1 : SHAPE_MAX_LEAVES;
	if (depth == SHAPE_MAX_DEPTH)
		return scan_fail(s, "tuples are nested too deeply");
	for (scan_space(s); !scan_take(s, STR(")")); scan_space(s)) {
		struct shape element;
		if (ret->element_count && !scan_expect(s, STR(","), "expected ',' or ')'"))
			return false;
		if (ret->element_count >= max || ret->leaves >= SHAPE_MAX_LEAVES)
			return scan_fail(s, "too many elements");
		if (!shape_at_depth(s, &element, depth + 1))
			return false;
		element.leaf_first = ret->leaves;
		ret->leaves += element.leaves;
		*READ_PUSH(s->keep, ret->elements, ret->element_count) = element;
	}
	return true;
}

static bool shape_at_depth(struct scan *s, struct shape *ret, int depth)
{
	*ret = (struct shape){ 0 };
	scan_space(s);
	if (scan_take(s, STR("(")))
		ret->dtype = DTYPE_TUPLE;
	else if (scan_take(s, STR("b(")))
		ret->dtype = DTYPE_BUFFER;
	if (!(ret->dtype == DTYPE_INVALID ? array(s, ret) : tuple(s, ret, depth)))
		return false;
	shape_complete(ret, s->keep);
	return true;
}

bool scan_shape(struct scan *s, struct shape *ret)
{
	return shape_at_depth(s, ret, 0);
}

/* The line of the text that is wrong, cut around the place, for a caret. */
static struct text_place place(const struct scan *s)
{
	ptrdiff_t from = s->wrong > QUOTE_BYTES / 2 ? s->wrong - QUOTE_BYTES / 2 : 0;
	struct str quote = str_head(str_from_offset(s->text, from), QUOTE_BYTES);
	ptrdiff_t newline = str_rfind_char(str_head(quote, s->wrong - from), '\n');
	str_cut(str_from_offset(quote, newline + 1), '\n', &quote, &MISSING);
	return text_place_at(STR("shape"), quote, s->wrong - from - newline - 1);
}

bool shape_parse(
	struct str text, struct arena *keep, struct shape *ret, struct str *rest, struct diag *err)
{
	struct scan s = { .text = text, .keep = keep };
	bool ok = scan_shape(&s, ret);
	*rest = str_from_offset(text, s.at);
	if (ok)
		return true;
	if (s.wrong <= QUOTE_BYTES / 2)
		return diag_caret(err, DIAG_HLO, place(&s), "%s", s.why);
	return diag_caret(err, DIAG_HLO, place(&s), "at byte %td of the text: %s", s.wrong, s.why);
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
	if (s->tail_alignment > 1)
		out_fmt(o, "L(%lld)", (long long)s->tail_alignment);
	if (s->element_bits)
		out_fmt(o, "E(%lld)", (long long)s->element_bits);
	if (s->memory_space > 0)
		out_fmt(o, "S(%lld)", (long long)s->memory_space);
	if (s->metadata_bytes)
		out_fmt(o, "M(%lld)", (long long)s->metadata_bytes);
	out_char(o, '}');
}

/* XLA marks every fifth element of a tuple with its index. */
static void write_shape(struct out *o, const struct shape *s, bool with_layout);

static void write_tuple(struct out *o, const struct shape *s, bool with_layout)
{
	out_z(o, s->dtype == DTYPE_BUFFER ? "b(" : "(");
	for (ptrdiff_t i = 0; i < s->element_count; i++) {
		if (i)
			out_z(o, ", ");
		if (i && i % 5 == 0)
			out_fmt(o, "/*index=%td*/", i);
		write_shape(o, &s->elements[i], with_layout);
	}
	out_char(o, ')');
}

static void write_shape(struct out *o, const struct shape *s, bool with_layout)
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
	write_shape(o, s, with_layout);
	return out_text(o);
}
