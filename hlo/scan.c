/* Scanning HLO text.  See scan.h. */
#include "hlo/scan.h"

bool scan_fail_at(struct scan *s, ptrdiff_t at, const char *why)
{
	if (!s->why) {
		s->why = why;
		s->wrong = at;
	}
	return false;
}

bool scan_fail(struct scan *s, const char *why)
{
	return scan_fail_at(s, s->at, why);
}

bool scan_tell(const struct scan *s, struct str file, struct diag *err)
{
	return diag_caret(err, DIAG_HLO, text_place_at(file, s->text, s->wrong), "%s", s->why);
}

static struct str rest(const struct scan *s)
{
	return str_from_offset(s->text, s->at);
}

bool scan_take(struct scan *s, struct str word)
{
	if (s->why || !str_starts(rest(s), word))
		return false;
	s->at += word.len;
	return true;
}

bool scan_expect(struct scan *s, struct str word, const char *why)
{
	return scan_take(s, word) || scan_fail(s, why);
}

static bool comment(struct scan *s)
{
	if (scan_peek(s) != '/' || !str_starts(rest(s), STR("/*")))
		return false;
	ptrdiff_t end = str_find(rest(s), STR("*/"));
	if (end < 0)
		return scan_fail(s, "the comment does not end");
	s->at += end + 2;
	return true;
}

void scan_blanks(struct scan *s)
{
	while (!s->why) {
		char c = scan_peek(s);
		if (c == ' ' || c == '\t' || c == '\r')
			s->at++;
		else if (!comment(s))
			return;
	}
}

void scan_space(struct scan *s)
{
	scan_blanks(s);
	while (!s->why && scan_peek(s) == '\n') {
		s->at++;
		scan_blanks(s);
	}
}

void scan_rest_of_line(struct scan *s)
{
	ptrdiff_t end = str_find_char(rest(s), '\n');
	s->at = end < 0 ? s->text.len : s->at + end;
}

/* What a byte does outside of quotes. */
enum { PLAIN, ENDS_NAME = 1, OPENS = 2, CLOSES = 4, STOPS = 8, QUOTES = 16 };
static const unsigned char roles[256] = {
	[0] = ENDS_NAME,
	[' '] = ENDS_NAME,
	['\t'] = ENDS_NAME,
	['\r'] = ENDS_NAME,
	['='] = ENDS_NAME,
	['\''] = ENDS_NAME,
	['\n'] = ENDS_NAME | STOPS,
	[','] = ENDS_NAME | STOPS,
	['"'] = ENDS_NAME | QUOTES,
	['('] = ENDS_NAME | OPENS,
	['['] = ENDS_NAME | OPENS,
	['{'] = ENDS_NAME | OPENS,
	[')'] = ENDS_NAME | CLOSES,
	[']'] = ENDS_NAME | CLOSES,
	['}'] = ENDS_NAME | CLOSES,
};

static unsigned role(char c)
{
	return roles[(unsigned char)c];
}

struct str scan_since(const struct scan *s, ptrdiff_t from)
{
	return str_head(str_from_offset(s->text, from), s->at - from);
}

struct str scan_name(struct scan *s)
{
	scan_take(s, STR("%"));
	ptrdiff_t from = s->at;
	while (s->at < s->text.len && !(role(s->text.p[s->at]) & ENDS_NAME))
		s->at++;
	return scan_since(s, from);
}

bool scan_i64(struct scan *s, int64_t *ret)
{
	ptrdiff_t from = s->at;
	scan_take(s, STR("-"));
	while (scan_peek(s) >= '0' && scan_peek(s) <= '9')
		s->at++;
	return (!s->why && str_to_i64(scan_since(s, from), ret)) ||
	       scan_fail_at(s, from, "expected a number of at most 64 bits");
}

/* Behind the closing quote of a string whose opening one is at `at`. */
static bool skip_string(struct scan *s)
{
	ptrdiff_t from = s->at++;
	for (;;) {
		ptrdiff_t quote = str_find_char(rest(s), '"');
		if (quote < 0)
			return scan_fail_at(s, from, "the string does not end");
		ptrdiff_t at = s->at + quote, back = at;
		while (back > s->at && s->text.p[back - 1] == '\\')
			back--;
		s->at = at + 1;
		if ((at - back) % 2 == 0)
			return true;
	}
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* One escape, its backslash at in.p[*at]; XLA writes \n \r \t \" \' \\ and three octal digits. */
static char unescape(struct str in, ptrdiff_t *at)
{
	char c = ++*at < in.len ? in.p[*at] : '\\';
	++*at;
	if (is_octal(c)) {
		int value = c - '0';
		for (int n = 1; n < 3 && *at < in.len && is_octal(in.p[*at]); n++)
			value = value * 8 + (in.p[(*at)++] - '0');
		return (char)(unsigned char)value;
	}
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

struct str scan_string(struct scan *s)
{
	ptrdiff_t from = s->at + 1;
	if (scan_peek(s) != '"' || s->why) {
		scan_fail(s, "expected a string in double quotes");
		return MISSING;
	}
	if (!skip_string(s))
		return MISSING;
	struct str in = str_head(str_from_offset(s->text, from), s->at - from - 1);
	if (str_find_char(in, '\\') < 0)
		return in;
	char *to = arena_make(s->keep, char, in.len);
	ptrdiff_t n = 0;
	for (ptrdiff_t at = 0; at < in.len;)
		to[n++] = in.p[at] == '\\' ? unescape(in, &at) : in.p[at++];
	return (struct str){ to, n };
}

struct str scan_value(struct scan *s)
{
	ptrdiff_t from = s->at, depth = 0;
	while (!s->why && s->at < s->text.len) {
		unsigned r = role(s->text.p[s->at]);
		if (!depth && r & (STOPS | CLOSES))
			break;
		if (r & QUOTES) {
			skip_string(s);
			continue;
		}
		depth += (r & OPENS ? 1 : 0) - (r & CLOSES ? 1 : 0);
		s->at++;
	}
	if (depth)
		scan_fail_at(s, from, "a bracket in this is not closed");
	return scan_since(s, from);
}

void scan_element(struct scan *s)
{
	while (!s->why && s->at < s->text.len) {
		char c = scan_peek(s);
		if (c == ' ' || c == '\n' || c == ',' || c == '}')
			return;
		if (c == '"')
			skip_string(s);
		else if (c == '{' || c == '[' || c == '(')
			scan_value(s);
		else
			s->at++;
	}
}

static bool more_to(struct scan *s, struct str end)
{
	scan_space(s);
	if (scan_take(s, STR(",")))
		scan_space(s);
	if (s->at >= s->text.len)
		return scan_fail(s, end.p[0] == '}' ? "expected '}'" : "expected ',' or a bracket");
	return !s->why && !scan_take(s, end);
}

bool scan_more(struct scan *s)
{
	return more_to(s, STR("}"));
}

bool scan_numbers(struct scan *s, struct str end, struct hlo_dims *ret)
{
	while (more_to(s, end)) {
		int64_t number;
		if (!scan_i64(s, &number))
			return false;
		if (ret->count == READ_MAX_LIST)
			return scan_fail(s, "too many numbers");
		*READ_PUSH(s->keep, ret->items, ret->count) = number;
	}
	return !s->why;
}

bool scan_dims(struct scan *s, struct hlo_dims *ret)
{
	return scan_expect(s, STR("{"), "expected '{' and numbers") &&
	       scan_numbers(s, STR("}"), ret);
}
