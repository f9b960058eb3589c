/* Reading markup: one character after the other, an element within the other.  See markup.h. */
#include "report/markup.h"

#include "base/out.h"

/* Of an element: each is compared with all before it, and people write ten. */
enum { ATTRIBUTES_MAX = 200 };

struct reader {
	struct str file, source;
	struct str rest; /* not read yet */
	int depth, most_depth;
	struct arena *keep;
	struct diag *err;
};

static ptrdiff_t place(const struct reader *r)
{
	return r->source.len - r->rest.len;
}

/* Always false. */
__attribute__((format(printf, 3, 4))) static bool wrong(
	const struct reader *r, ptrdiff_t at, const char *fmt, ...)
{
	struct text_place where = text_place_at(r->file, r->source, at);
	va_list args;

	va_start(args, fmt);
	struct str text = arena_vfmt(r->keep, fmt, args);
	va_end(args);
	where.width = 1;
	return diag_caret(
		r->err, DIAG_TEMPLATE, where, "not well-formed XHTML: %.*s", STR_ARG(text));
}

/* The longest piece of such characters. */
static struct str take_only(struct reader *r, const char *set)
{
	struct str all = r->rest;
	ptrdiff_t n = 0;

	while (n < all.len && str_only(str_head(str_from_offset(all, n), 1), set))
		n++;
	r->rest = str_from_offset(all, n);
	return str_head(all, n);
}

static bool take_blanks(struct reader *r)
{
	return take_only(r, " \t\r\n").len > 0;
}

static struct str take_name(struct reader *r)
{
	bool is_name = r->rest.len && (is_letter(r->rest.p[0]) || r->rest.p[0] == '_');

	return is_name ? take_only(r, "a-zA-Z0-9_:.-") : STR("");
}

/* What is ahead of `end`, which is passed, too. */
static bool take_until(struct reader *r, const char *end, ptrdiff_t from, struct str *ret)
{
	ptrdiff_t at = str_find(r->rest, str_from(end));

	if (at < 0)
		return wrong(r, from, "what begins here has no '%s' at its end", end);
	*ret = str_head(r->rest, at);
	r->rest = str_from_offset(r->rest, at + str_from(end).len);
	return true;
}

/* ---- texts -------------------------------------------------------------------------------- */

static void put_character(struct out *o, uint32_t c)
{
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned leads[] = { 0, 0xc0, 0xe0, 0xf0 };

	out_char(o, (char)(leads[more] | c >> 6 * more));
	while (more-- > 0)
		out_char(o, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* "#160" or "#xa0"; what it stands for is cleaned where it is written, as all text is. */
static bool put_number(struct out *o, struct str digits)
{
	bool is_hex = str_take(&digits, STR("x"));
	uint32_t c = 0;

	if (!digits.len || digits.len > 7 || !str_only(digits, is_hex ? "0-9a-fA-F" : "0-9"))
		return false;
	for (ptrdiff_t i = 0; i < digits.len; i++) {
		char digit = lower_case(digits.p[i]);

		c = c * (is_hex ? 16 : 10) +
		    (uint32_t)(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
	}
	if (!c || c > 0x10ffff)
		return false;
	put_character(o, c);
	return true;
}

/* Lines end in a newline; in an attribute blanks are spaces. */
static bool put_text(
	const struct reader *r, struct str text, ptrdiff_t at, bool in_attribute, struct out *o)
{
	static const struct {
		struct str name;
		char character;
	} entities[] = { { STR_INIT("lt"), '<' }, { STR_INIT("gt"), '>' }, { STR_INIT("amp"), '&' },
		{ STR_INIT("quot"), '"' }, { STR_INIT("apos"), '\'' } };
	static const char *const spaces[] = { "", " ", " " }, *const lines[] = { "", "\t", "\n" };
	struct str piece, name, number;
	ptrdiff_t len = text.len;

	while (str_cut(text, '&', &piece, &text)) {
		out_replaced(o, piece, "\r\t\n", in_attribute ? spaces : lines);
		ptrdiff_t from = at + len - text.len - 1, k = 0;
		bool is_ended = str_cut(text, ';', &name, &text);
		number = name;
		while (k < COUNT_OF(entities) && !str_eq(entities[k].name, name))
			k++;
		if (is_ended && k < COUNT_OF(entities))
			out_char(o, entities[k].character);
		else if (!is_ended || !str_take(&number, STR("#")) || !put_number(o, number))
			return wrong(r, from,
				"'&' begins &lt; &gt; &amp; &quot; &apos; or a character's number, "
				"as &#160;");
	}
	out_replaced(o, piece, "\r\t\n", in_attribute ? spaces : lines);
	return true;
}

/* Up to the next element, comment or end. */
static bool read_text(struct reader *r, struct markup *ret)
{
	struct out *o = out_memory(r->keep);
	struct str text;

	ret->kind = MARKUP_TEXT;
	for (;;) {
		ptrdiff_t at = place(r);

		if (str_take(&r->rest, STR("<![CDATA["))) {
			if (!take_until(r, "]]>", at, &text))
				return false;
			out_str(o, text);
			continue;
		}
		if (!r->rest.len || r->rest.p[0] == '<')
			break;
		ptrdiff_t end = str_find_char(r->rest, '<');
		text = end < 0 ? r->rest : str_head(r->rest, end);
		r->rest = str_from_offset(r->rest, text.len);
		if (!put_text(r, text, at, false, o))
			return false;
	}
	ret->text = out_text(o);
	return true;
}

/* ---- elements ----------------------------------------------------------------------------- */

static bool read_attribute(struct reader *r, struct markup *element)
{
	ptrdiff_t at = place(r);
	struct str name = take_name(r), value;

	if (!name.len)
		return wrong(
			r, at, "a name, '>' or '/>' is expected in <%.*s", STR_ARG(element->text));
	take_blanks(r);
	bool is_equal = str_take(&r->rest, STR("="));
	take_blanks(r);
	ptrdiff_t from = place(r);
	const char *quote = str_take(&r->rest, STR("\""))  ? "\""
			    : str_take(&r->rest, STR("'")) ? "'"
							   : NULL;
	if (!is_equal || !quote)
		return wrong(r, from, "%.*s=\"...\" is expected: a value stands in quotes",
			STR_ARG(name));
	if (!take_until(r, quote, from, &value))
		return false;
	if (str_find_char(value, '<') >= 0)
		return wrong(r, from, "a value holds no '<'; is its quote closed?");
	if (markup_value(element, name).p || element->attribute_count == ATTRIBUTES_MAX)
		return wrong(r, at, "%.*s is there twice, or is attribute %d of <%.*s",
			STR_ARG(name), ATTRIBUTES_MAX + 1, STR_ARG(element->text));
	struct out *o = out_memory(r->keep);
	if (!put_text(r, value, from + 1, true, o))
		return false;
	*arena_push(
		r->keep, element->attributes, element->attribute_count, element->attribute_cap) =
		(struct markup_attribute){ .name = name, .value = out_text(o), .at = at };
	return true;
}

static bool read_node(struct reader *r, struct markup **ret);

static bool read_inside(struct reader *r, struct markup *element)
{
	struct markup **end = &element->child;

	for (;;) {
		ptrdiff_t at = place(r);

		if (!r->rest.len)
			return wrong(
				r, element->at, "<%.*s> is never closed", STR_ARG(element->text));
		if (str_take(&r->rest, STR("</"))) {
			struct str name = take_name(r);

			take_blanks(r);
			return (str_eq(name, element->text) && str_take(&r->rest, STR(">"))) ||
			       wrong(r, at, "</%.*s> is expected", STR_ARG(element->text));
		}
		if (!read_node(r, end))
			return false;
		end = &(*end)->next;
	}
}

static bool read_element(struct reader *r, struct markup *ret)
{
	ret->at = place(r);
	ret->text = take_name(r);
	if (!ret->text.len)
		return wrong(r, ret->at, "an element's name is expected; '<' is written &lt;");
	if (r->depth >= r->most_depth)
		return wrong(r, ret->at, "too many elements within each other");
	for (;;) {
		bool is_apart = take_blanks(r);

		if (str_take(&r->rest, STR("/>")))
			return true;
		if (str_take(&r->rest, STR(">")))
			break;
		if (!is_apart)
			return wrong(r, place(r), "a blank, '>' or '/>' is expected in <%.*s",
				STR_ARG(ret->text));
		if (!read_attribute(r, ret))
			return false;
	}
	r->depth++;
	bool ok = read_inside(r, ret);
	r->depth--;
	return ok;
}

static bool read_node(struct reader *r, struct markup **ret)
{
	struct markup *n = *ret = arena_make(r->keep, struct markup, 1);
	ptrdiff_t at = n->at = place(r);

	if (str_take(&r->rest, STR("<!--"))) {
		n->kind = MARKUP_COMMENT;
		return take_until(r, "-->", at, &n->text);
	}
	if (str_take(&r->rest, STR("<?"))) {
		n->kind = MARKUP_OTHER;
		return take_until(r, "?>", at, &n->text);
	}
	if (str_starts(r->rest, STR("<![CDATA[")) || !str_take(&r->rest, STR("<")))
		return read_text(r, n);
	return read_element(r, n);
}

/* ---- the document ------------------------------------------------------------------------- */

/* Blanks, comments and "<?xml ...?>" around its element. */
static bool read_around(struct reader *r)
{
	struct markup *ignored;

	take_blanks(r);
	while (str_starts(r->rest, STR("<!--")) || str_starts(r->rest, STR("<?"))) {
		if (!read_node(r, &ignored))
			return false;
		take_blanks(r);
	}
	return true;
}

static bool read_doctype(struct reader *r)
{
	ptrdiff_t at = place(r);

	if (!str_take(&r->rest, STR("<!")))
		return true;
	bool is_html = str_take(&r->rest, STR("DOCTYPE")) && take_blanks(r) && take_name(r).len;
	take_blanks(r);
	return (is_html && str_take(&r->rest, STR(">"))) ||
	       wrong(r, at, "the document type is <!DOCTYPE html> or nothing");
}

static bool read_document(struct reader *r, struct markup *root)
{
	str_take(&r->rest, STR("\xef\xbb\xbf")); /* of editors on Windows */
	if (!read_around(r) || !read_doctype(r) || !read_around(r))
		return false;
	if (!str_take(&r->rest, STR("<")))
		return wrong(r, place(r), "an element is expected");
	if (!read_element(r, root) || !read_around(r))
		return false;
	return !r->rest.len ||
	       wrong(r, place(r), "nothing may stand behind </%.*s>", STR_ARG(root->text));
}

const struct markup *markup_read(
	struct str file, struct str source, int most_depth, struct arena *keep, struct diag *err)
{
	struct reader r = { file, source, source, 0, most_depth, keep, err };
	struct markup *root = arena_make(keep, struct markup, 1);

	return read_document(&r, root) ? root : NULL;
}

struct str markup_value(const struct markup *element, struct str name)
{
	for (ptrdiff_t i = 0; i < element->attribute_count; i++)
		if (str_eq(element->attributes[i].name, name))
			return element->attributes[i].value;
	return MISSING;
}
