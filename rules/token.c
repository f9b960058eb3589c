/* The tokenizer.  See token.h; the grammar is that of SQLite (www.sqlite.org/lang_expr.html). */
#include "rules/token.h"

#include <string.h>

struct reader {
	struct str sql;
	ptrdiff_t at;
	int64_t depth;
	ptrdiff_t opened; /* where the last unclosed parenthesis stands */
	struct arena *keep;
	struct sql_fault *fault;
};

static char peek(const struct reader *r, ptrdiff_t ahead)
{
	return r->at + ahead < r->sql.len ? r->sql.p[r->at + ahead] : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
	return is_name_start(c) || is_digit(c);
}

static bool fail(struct reader *r, ptrdiff_t width, const char *what)
{
	return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at, width, "%s", what);
}

static ptrdiff_t name_length(const struct reader *r, ptrdiff_t from)
{
	ptrdiff_t n = from;

	while (is_name_char(peek(r, n)))
		n++;
	return n;
}

static ptrdiff_t digits(const struct reader *r, ptrdiff_t n)
{
	while (is_digit(peek(r, n)))
		n++;
	return n;
}

static ptrdiff_t number_length(const struct reader *r)
{
	ptrdiff_t n = digits(r, 0);

	if (peek(r, n) == '.')
		n = digits(r, n + 1);
	if (peek(r, n) == 'e' || peek(r, n) == 'E') {
		ptrdiff_t sign = peek(r, n + 1) == '+' || peek(r, n + 1) == '-';

		if (is_digit(peek(r, n + 1 + sign)))
			n = digits(r, n + 1 + sign);
	}
	return n;
}

/* Length with both quotes, or 0 when the closing one is missing. */
static ptrdiff_t quoted_length(const struct reader *r, char quote)
{
	for (ptrdiff_t n = 1; r->at + n < r->sql.len; n++) {
		if (peek(r, n) != quote)
			continue;
		if (peek(r, n + 1) != quote)
			return n + 1;
		n++;
	}
	return 0;
}

static ptrdiff_t sign_length(const struct reader *r)
{
	static const char *const pairs[] = { "<=", ">=", "<>", "!=", "==", "||", "<<", ">>" };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (peek(r, 0) == pairs[i][0] && peek(r, 1) == pairs[i][1])
			return 2;
	return strchr("()+-*/%<>=,.&|~", peek(r, 0)) ? 1 : 0;
}

/* Whatever begins no token: say why, where there is something to say. */
static bool refuse(struct reader *r)
{
	char c = peek(r, 0);

	if (c == '"' || c == '`' || c == '[') {
		ptrdiff_t len = quoted_length(r, c == '[' ? ']' : c);
		struct str inner = str_head(str_from_offset(r->sql, r->at + 1), len - 2);

		if (!len)
			return fail(
				r, 1, "this quote is never closed, and texts take single quotes");
		if (c == '"')
			return sql_fail(r->fault, r->keep, DIAG_RULE_SQL, r->at, len,
				"a text takes single quotes: '%.*s'", STR_ARG(inner));
		return fail(
			r, len, "names are written without quotes, and texts take single quotes");
	}
	if (c == ';')
		return fail(r, 1, "one expression only, without ';'");
	if (c == '\'')
		return fail(r, 1, "this quote is never closed");
	if (c && strchr("?@$#:", c))
		return fail(r, 1, "a parameter is written :name");
	return fail(r, 1, "unexpected character");
}

/* Kind and length of the token at `at`; length 0 when there is none. */
static ptrdiff_t classify(const struct reader *r, enum token_kind *kind)
{
	char c = peek(r, 0);

	if (is_name_start(c)) {
		*kind = TOKEN_NAME;
		return name_length(r, 0);
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(r, 1)))) {
		*kind = TOKEN_NUMBER;
		return number_length(r);
	}
	if (c == '\'') {
		*kind = TOKEN_TEXT;
		return quoted_length(r, c);
	}
	if (c == ':' && is_name_start(peek(r, 1))) {
		*kind = TOKEN_PARAM;
		return name_length(r, 1);
	}
	*kind = TOKEN_SIGN;
	return c ? sign_length(r) : 0;
}

static bool read_one(struct reader *r, struct tokens *ret)
{
	enum token_kind kind;
	ptrdiff_t len = classify(r, &kind);

	char c = peek(r, 0), next = peek(r, 1);

	if ((c == '-' && next == '-') || (c == '/' && next == '*'))
		return fail(r, 2, "SQL has no comments here");
	if (!len)
		return refuse(r);
	if (c == '(') {
		r->depth++;
		r->opened = r->at;
	} else if (c == ')' && --r->depth < 0) {
		return fail(r, 1, "this parenthesis was never opened");
	}
	struct str text = str_head(str_from_offset(r->sql, r->at), len);
	struct token *t = arena_push(r->keep, ret->items, ret->count, ret->cap);
	*t = (struct token){ kind, r->at, text, len };
	if (kind == TOKEN_PARAM)
		t->text = str_from_offset(text, 1);
	r->at += len;
	if (kind == TOKEN_NUMBER && is_name_char(peek(r, 0)))
		return fail(r, name_length(r, 0),
			"a unit belongs into a parameter: params: { limit: 10 ms }, then :limit");
	return true;
}

bool tokens_read(struct str sql, struct arena *keep, struct tokens *ret, struct sql_fault *fault)
{
	struct reader r = { sql, 0, 0, 0, keep, fault };

	*ret = (struct tokens){ NULL, 0, 0 };
	if (sql.len > SQL_MAX_BYTES)
		return sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "longer than %lld bytes",
			(long long)SQL_MAX_BYTES);
	if (str_find_char(sql, 0) >= 0)
		return sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "there is a NUL byte in it");
	for (;;) {
		while (r.at < sql.len && str_find_char(STR(" \t\n\r"), sql.p[r.at]) >= 0)
			r.at++;
		if (r.at >= sql.len)
			break;
		if (!read_one(&r, ret))
			return false;
	}
	*arena_push(keep, ret->items, ret->count, ret->cap) =
		(struct token){ TOKEN_END, sql.len, str_head(sql, 0), 1 };
	if (r.depth > 0) {
		r.at = r.opened;
		return fail(&r, 1, "this parenthesis is never closed");
	}
	return true;
}

struct str token_string(const struct token *t, struct arena *keep)
{
	struct str inner = str_head(str_from_offset(t->text, 1), t->width - 2);
	char *to = arena_make(keep, char, inner.len + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < inner.len; i++) {
		to[n++] = inner.p[i];
		if (inner.p[i] == '\'')
			i++; /* the second of two */
	}
	return (struct str){ to, n };
}
