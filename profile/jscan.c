/* JSON in a window.  See jscan.h. */
#include "profile/jscan.h"

#include <string.h>

/* An odd number of backslashes in front of a quote makes it a character of the string. */
static bool is_escaped(const char *from, const char *quote)
{
	const char *p = quote;
	while (p > from && p[-1] == '\\')
		p--;
	return (quote - p) & 1;
}

bool jscan_string(struct jscan *s, struct str *ret)
{
	if (!jscan_expect(s, '"', "a string"))
		return false;
	const char *p = s->at;
	while (p && (p = memchr(p, '"', (size_t)(s->end - p))) && is_escaped(s->at, p))
		p++;
	if (!p) {
		s->more = true;
		return false;
	}
	*ret = str_span(s->at, p);
	s->at = p + 1;
	return true;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

bool jscan_word(struct jscan *s, struct str *ret)
{
	if (!jscan_blanks(s))
		return false;
	const char *p = s->at;
	while (p < s->end && is_word(*p))
		p++;
	s->more |= p == s->end;
	if (p == s->at || (p < s->end && !jscan_ends_word(*p)))
		return jscan_fail(s, "a value");
	if (s->more)
		return false;
	*ret = str_span(s->at, p);
	s->at = p;
	return true;
}

bool jscan_value(struct jscan *s, struct str *ret)
{
	struct jscan_skip skip = { 0 };
	if (!jscan_blanks(s))
		return false;
	if (*s->at == '"')
		return jscan_string(s, ret);
	if (*s->at != '{' && *s->at != '[')
		return jscan_word(s, ret);
	const char *from = s->at;
	if (!jscan_skip(s, &skip)) {
		s->more |= !s->why;
		return false;
	}
	*ret = str_span(from, s->at);
	return true;
}

static bool next(struct jscan *s, bool *first, char close)
{
	if (jscan_take(s, close) || s->more || s->why)
		return false;
	if (!*first && !jscan_expect(s, ',', "',' or the closing bracket"))
		return false;
	*first = false;
	return true;
}

bool jscan_member(struct jscan *s, bool *first, struct str *key)
{
	return next(s, first, '}') && jscan_string(s, key) && jscan_expect(s, ':', "':'");
}

bool jscan_element(struct jscan *s, bool *first)
{
	return next(s, first, ']') && jscan_blanks(s);
}

/* ---- escapes --------------------------------------------------------------------------------- */

static int hex4(struct str s)
{
	int value = 0;
	if (s.len < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s.p[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* A code point as UTF-8; at most four bytes. */
static ptrdiff_t put_utf8(char *to, uint32_t c)
{
	static const struct {
		uint32_t below;
		unsigned char head;
		int tail;
	} forms[] = { { 0x80, 0, 0 }, { 0x800, 0xc0, 1 }, { 0x10000, 0xe0, 2 },
		{ 0x110000, 0xf0, 3 } };
	int form = 0;
	while (c >= forms[form].below)
		form++;
	int tail = forms[form].tail;
	to[0] = (char)(forms[form].head | c >> (6 * tail));
	for (int i = 1; i <= tail; i++)
		to[i] = (char)(0x80 | (c >> (6 * (tail - i)) & 0x3f));
	return tail + 1;
}

/* "XXXX", and the second half of a surrogate pair; an invalid one becomes U+FFFD. */
static ptrdiff_t put_unicode(char *to, struct str *rest)
{
	int c = hex4(*rest);
	uint32_t code = 0xfffd;
	*rest = str_from_offset(*rest, c < 0 ? 0 : 4);
	if (c >= 0 && (c < 0xd800 || c > 0xdfff))
		code = (uint32_t)c;
	if (c >= 0xd800 && c < 0xdc00 && str_starts(*rest, STR("\\u"))) {
		int low = hex4(str_from_offset(*rest, 2));
		if (low >= 0xdc00 && low <= 0xdfff) {
			code = 0x10000 + ((uint32_t)(c - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
			*rest = str_from_offset(*rest, 6);
		}
	}
	return put_utf8(to, code);
}

/* Never longer than it is written: the shortest escape of three bytes of UTF-8 has six. */
struct str jscan_text(struct str inside, struct arena *keep)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	struct str head, rest;
	if (!str_cut(inside, '\\', &head, &rest))
		return inside;
	char *to = arena_make(keep, char, inside.len + 1);
	ptrdiff_t n = 0;
	for (bool more = true; more;) {
		if (head.len)
			memcpy(to + n, head.p, (size_t)head.len);
		n += head.len;
		char c = rest.len ? *rest.p : '\\';
		const char *name = strchr(names, c);
		rest = str_from_offset(rest, 1);
		if (c == 'u')
			n += put_unicode(to + n, &rest);
		else
			to[n++] = name && c ? values[name - names] : c;
		more = str_cut(rest, '\\', &head, &rest);
	}
	if (head.len)
		memcpy(to + n, head.p, (size_t)head.len);
	return (struct str){ to, n + head.len };
}

/* ---- values of any size ---------------------------------------------------------------------- */

/* Inside a string: behind its end, or at the window's.  Whether the next character is escaped is
 * kept from window to window. */
static void skip_string(struct jscan *s, struct jscan_skip *skip)
{
	for (; s->at < s->end && skip->in_string; s->at++) {
		skip->in_string = skip->escaped || *s->at != '"';
		skip->escaped = !skip->escaped && *s->at == '\\';
	}
}

static bool is_bracket(char c)
{
	return c == '{' || c == '[' || c == '}' || c == ']';
}

/* One character outside of strings; false when the value ends before it. */
static bool skip_char(struct jscan *s, struct jscan_skip *skip, char c)
{
	bool closes = c == '}' || c == ']';
	if (!skip->depth && skip->begun && (c == ',' || closes))
		return false;
	skip->begun |= (unsigned char)c > ' ';
	skip->in_string = c == '"';
	skip->depth += is_bracket(c) ? closes ? -1 : 1 : 0;
	s->at++;
	return true;
}

bool jscan_skip(struct jscan *s, struct jscan_skip *skip)
{
	while (s->at < s->end && !s->why) {
		if (skip->in_string) {
			skip_string(s, skip);
			continue;
		}
		char c = *s->at;
		if (!skip_char(s, skip, c))
			return true;
		if (skip->depth < 0 || skip->depth > JSCAN_MAX_DEPTH)
			return jscan_fail(s, "a value of fewer brackets");
		if (!skip->depth && is_bracket(c))
			return true;
	}
	return false;
}
