/*
 * Tokens; expressions, by precedence climbing; SELECTs as a row of expressions between keywords.
 * See check.h; the grammar is that of SQLite (www.sqlite.org/lang_expr.html).
 *
 * Where the text stops making sense the reading stops too and leaves the message to SQLite; it only
 * ever fails for a mistake that it understands.
 */
#include "rules/check.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "rules/parse.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME, /* column, table, function or keyword */
	TOKEN_TEXT, /* 'matmul' */
	TOKEN_NUMBER,
	TOKEN_PARAM, /* :limit */
	TOKEN_SIGN,  /* operator or punctuation, as long as SQLite would take it */
};

struct token {
	enum token_kind kind;
	struct str text;	       /* as it is written */
	const struct word *word;       /* what the grammar knows it as; or NULL */
	const struct table_def *table; /* that it names behind FROM or JOIN; or NULL */
	ptrdiff_t open;		       /* the parenthesis around it; or -1 */
	ptrdiff_t select;	       /* the innermost SELECT around it, or itself; or -1 */
};

/* What is known of an operand. */
struct value {
	struct dimension dimension;
	const struct column *column; /* when it is a column and nothing else */
	const struct token *literal; /* when it is one literal and nothing else */
	bool is_truth;		     /* what a comparison or a condition comes to */
	struct str text;	     /* as it is written */
};

struct checker {
	struct token *tokens; /* ends with a TOKEN_END at the end of the text */
	ptrdiff_t count, cap, at;
	const struct token **tables; /* those that name one */
	ptrdiff_t table_count, table_cap;
	struct str sql;
	const struct sql_names *names;
	struct sql_facts *facts;
	bool has_with;	/* a table may be a WITH clause's */
	bool is_number; /* the expression is a value, or what is computed with it */
	bool failed;	/* fault is filled; nothing more is read */
	int depth;
	struct list texts, numbers;  /* names of the SELECTs' results */
	struct arena *keep, scratch; /* scratch: of the tokens and these names */
	struct sql_fault *fault;
};

static void reads_add(struct reads *reads, struct arena *keep, const struct table_def *table,
	const struct column *column)
{
	for (ptrdiff_t i = 0; i < reads->count; i++)
		if (reads->items[i].column == column && reads->items[i].table == table)
			return;
	*arena_push(keep, reads->items, reads->count, reads->cap) =
		(struct column_read){ table, column };
}

void reads_join(struct reads *to, const struct reads *more, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < more->count; i++)
		if (engine_table(more->items[i].table->name))
			reads_add(to, keep, more->items[i].table, more->items[i].column);
}

/* Where a part of the text stands in it. */
static ptrdiff_t place_of(const struct checker *c, struct str part)
{
	return part.p - c->sql.p;
}

/* Only the first fault counts; after it the reading stands at the end. */
__attribute__((format(printf, 4, 5))) static bool fail(
	struct checker *c, enum diag_id id, struct str part, const char *fmt, ...)
{
	va_list args;
	if (c->failed)
		return false;
	va_start(args, fmt);
	*c->fault = (struct sql_fault){ id, place_of(c, part), part.len + !part.len,
		arena_vfmt(c->keep, fmt, args), false };
	va_end(args);
	c->failed = true;
	c->at = c->count - 1;
	return false;
}

/* ---- units -------------------------------------------------------------------------------- */

static bool is_share(enum unit u)
{
	return u == UNIT_RATIO || u == UNIT_COUNT || u == UNIT_BOOL;
}

bool unit_fits(enum unit a, enum unit b)
{
	return a == b || a == UNIT_NONE || b == UNIT_NONE || (is_share(a) && is_share(b));
}

static struct dimension of_unit(enum unit u)
{
	return (struct dimension){ DIMENSION_NUMBER, u };
}

static bool is_number(struct dimension d)
{
	return d.kind >= DIMENSION_NUMBER;
}

/* The same, now that it is known to be a number. */
static struct dimension as_number(struct dimension d)
{
	return is_number(d) ? d : of_unit(UNIT_NONE);
}

/* Numbers without dimension: multiplying by them keeps a unit. */
static bool is_pure(struct dimension d)
{
	return d.kind == DIMENSION_BARE || is_share(d.unit);
}

static bool is_known(struct dimension d)
{
	return d.kind == DIMENSION_BARE || d.unit;
}

static struct dimension quotient(enum unit over, enum unit under)
{
	static const struct {
		enum unit over, under, result;
	} quotients[] = {
		{ UNIT_BYTES, UNIT_SECONDS, UNIT_BYTES_PER_SECOND },
		{ UNIT_BYTES, UNIT_BYTES_PER_SECOND, UNIT_SECONDS },
		{ UNIT_FLOPS, UNIT_SECONDS, UNIT_FLOPS_PER_SECOND },
		{ UNIT_FLOPS, UNIT_FLOPS_PER_SECOND, UNIT_SECONDS },
	};
	for (int i = 0; i < COUNT_OF(quotients); i++)
		if (quotients[i].over == over && quotients[i].under == under)
			return of_unit(quotients[i].result);
	return of_unit(over == under ? UNIT_RATIO : UNIT_NONE);
}

static struct dimension combine(char sign, struct dimension a, struct dimension b)
{
	switch (sign) {
	case '+':
	case '-':
		if (!is_known(a) || !is_known(b))
			return of_unit(UNIT_NONE);
		return a.unit ? a : b;
	case '*':
		if (a.kind == DIMENSION_BARE || (b.unit && is_share(a.unit)))
			return b;
		return is_pure(b) ? a : of_unit(UNIT_NONE);
	case '/':
		return is_pure(b)	  ? a
		       : a.unit && b.unit ? quotient(a.unit, b.unit)
					  : of_unit(UNIT_NONE);
	default:
		return a;
	}
}

bool column_is_share(const struct column *c)
{
	return c->unit == UNIT_RATIO &&
	       (str_ends(c->name, STR("share")) || str_ends(c->name, STR("_ratio")));
}

/* ---- words -------------------------------------------------------------------------------- */

/* www.sqlite.org/lang_expr.html, from loose to tight. */
enum precedence {
	P_OR = 1,
	P_AND,
	P_NOT,
	P_EQUAL,
	P_ORDER,
	P_BITS,
	P_SUM,
	P_PRODUCT,
	P_CONCAT,
	P_COLLATE,
	P_UNARY
};

/* What an operator does with what stands before it, and what it reads behind. */
enum infix_kind {
	LOGIC,
	COMPARE,
	IDENTITY,
	MEMBERSHIP,
	PATTERN,
	RANGE,
	NULLNESS,
	SUM,
	CONCAT,
	COLLATE
};

#define RESERVED(word)                                                                             \
	{                                                                                          \
		STR_INIT(word), 0, LOGIC                                                           \
	}
/*
 * Words that can be neither operand nor alias, and operators between operands.
 * `null` is the end of "not null", and an operand elsewhere.
 */
static const struct word {
	struct str text;
	int precedence; /* 0: no operator */
	enum infix_kind kind;
} known_words[] = { { STR_INIT("!="), P_EQUAL, COMPARE }, { STR_INIT("%"), P_PRODUCT, SUM },
	{ STR_INIT("&"), P_BITS, SUM }, { STR_INIT("*"), P_PRODUCT, SUM },
	{ STR_INIT("+"), P_SUM, SUM }, { STR_INIT("-"), P_SUM, SUM },
	{ STR_INIT("/"), P_PRODUCT, SUM }, { STR_INIT("<"), P_ORDER, COMPARE },
	{ STR_INIT("<<"), P_BITS, SUM }, { STR_INIT("<="), P_ORDER, COMPARE },
	{ STR_INIT("<>"), P_EQUAL, COMPARE }, { STR_INIT("="), P_EQUAL, COMPARE },
	{ STR_INIT("=="), P_EQUAL, COMPARE }, { STR_INIT(">"), P_ORDER, COMPARE },
	{ STR_INIT(">="), P_ORDER, COMPARE }, { STR_INIT(">>"), P_BITS, SUM }, RESERVED("all"),
	{ STR_INIT("and"), P_AND, LOGIC }, RESERVED("as"), RESERVED("asc"),
	{ STR_INIT("between"), P_EQUAL, RANGE }, RESERVED("by"),
	{ STR_INIT("collate"), P_COLLATE, COLLATE }, RESERVED("cross"), RESERVED("desc"),
	RESERVED("distinct"), RESERVED("else"), RESERVED("end"), RESERVED("escape"),
	RESERVED("except"), RESERVED("from"), RESERVED("full"),
	{ STR_INIT("glob"), P_EQUAL, PATTERN }, RESERVED("group"), RESERVED("having"),
	{ STR_INIT("in"), P_EQUAL, MEMBERSHIP }, RESERVED("inner"), RESERVED("intersect"),
	{ STR_INIT("is"), P_EQUAL, IDENTITY }, { STR_INIT("isnull"), P_EQUAL, NULLNESS },
	RESERVED("join"), RESERVED("left"), { STR_INIT("like"), P_EQUAL, PATTERN },
	RESERVED("limit"), RESERVED("natural"), RESERVED("not"),
	{ STR_INIT("notnull"), P_EQUAL, NULLNESS }, { STR_INIT("null"), P_EQUAL, NULLNESS },
	RESERVED("nulls"), RESERVED("offset"), RESERVED("on"), { STR_INIT("or"), P_OR, LOGIC },
	RESERVED("order"), RESERVED("outer"), RESERVED("right"), RESERVED("select"),
	RESERVED("then"), RESERVED("union"), RESERVED("using"), RESERVED("values"),
	RESERVED("when"), RESERVED("where"), RESERVED("window"), RESERVED("with"),
	{ STR_INIT("|"), P_BITS, SUM }, { STR_INIT("||"), P_CONCAT, CONCAT } };
enum { WORD_MAX = 9 }; /* the longest: "intersect" */

/* ---- tokens ------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool begins_name(char c)
{
	return is_letter(c) || c == '_';
}

/* The byte at an offset, or 0 behind the end. */
static char byte_at(struct str s, ptrdiff_t at)
{
	return at < s.len ? s.p[at] : 0;
}

/* Length with both quotes, or 0 when the closing one is missing. */
static ptrdiff_t quoted_length(struct str s)
{
	for (ptrdiff_t n = 1; n < s.len; n++)
		if (s.p[n] == s.p[0] && byte_at(s, n + 1) == s.p[0])
			n++;
		else if (s.p[n] == s.p[0])
			return n + 1;
	return 0;
}

/* What begins no token, and what there is to say; the last one is for all the rest. */
static const struct refusal {
	struct str begins;
	const char *says;
} refusals[] = {
	{ STR_INIT("--"), "SQL has no comments here" },
	{ STR_INIT("/*"), "SQL has no comments here" },
	{ STR_INIT("&&"), "'&&' is written 'and'" },
	{ STR_INIT("**"), "'**' is no operator; write x * x, or in a rule pow(x, y)" },
	{ STR_INIT("^"), "'^' is no operator; write x * x, or in a rule pow(x, y)" },
	{ STR_INIT("!"), "'!' is written 'not'" },
	{ STR_INIT("'"), "this quote is never closed, and texts take single quotes" },
	{ STR_INIT("["), "names take no brackets, and a list takes parentheses: in ('copy', "
			 "'matmul')" },
	{ STR_INIT(";"), "one expression only, without ';'" },
	{ STR_INIT("?"), "a parameter is written :name" },
	{ STR_INIT("@"), "a parameter is written :name" },
	{ STR_INIT("$"), "a parameter is written :name" },
	{ STR_INIT(":"), "a parameter is written :name" },
	{ STR_INIT("\xe2\x80"), "texts take straight quotes: 'bf16'" },
	{ STR_INIT(""), "this is no SQL; texts take single quotes" },
};
enum { REFUSED_PAIRS = 4 }; /* the first, whose bytes are signs by themselves */

static const struct refusal *refusal_of(struct str s)
{
	const struct refusal *x = refusals;
	while (!str_starts(s, x->begins))
		x++;
	return x;
}

static ptrdiff_t sign_length(struct str s)
{
	static const struct str pairs[] = { STR_INIT("<="), STR_INIT(">="), STR_INIT("<>"),
		STR_INIT("!="), STR_INIT("=="), STR_INIT("||"), STR_INIT("<<"), STR_INIT(">>") };
	char second = byte_at(s, 1); /* few signs have one */
	if (second && strchr("=<>|", second) && NAMED(pairs, COUNT_OF(pairs), str_head(s, 2)))
		return 2;
	if (second && strchr("-*&", second) && refusal_of(s) < refusals + REFUSED_PAIRS)
		return 0;
	return strchr("()+-*/%<>=,.&|~", s.p[0]) != NULL;
}

/* What the grammar knows a word or a sign as; or NULL.  They are sorted by their first byte. */
static const struct word *word_of(struct str text)
{
	char first = (char)(text.p[0] | (is_letter(text.p[0]) ? 0x20 : 0));
	int from = 0, to = COUNT_OF(known_words);
	if (text.len > WORD_MAX)
		return NULL;
	while (from < to) {
		int middle = (from + to) / 2;
		if (known_words[middle].text.p[0] < first)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < COUNT_OF(known_words) && known_words[from].text.p[0] == first; from++)
		if (str_eq_nocase(text, known_words[from].text))
			return &known_words[from];
	return NULL;
}

/* A keyword or a sign; ASCII case ignored. */
#define token_is(t, word) token_reads(t, STR(word))
static bool token_reads(const struct token *t, struct str word)
{
	return t->kind != TOKEN_TEXT && str_eq_nocase(t->text, word);
}

static bool is_select(const struct token *t)
{
	return t->word && (token_is(t, "select") || token_is(t, "with") || token_is(t, "values"));
}

/* The token at the beginning of `s`; an empty one when there is none. */
static struct token token_of(struct str s)
{
	char c = s.p[0];
	bool is_param = c == ':' && begins_name(byte_at(s, 1));
	enum token_kind kind = TOKEN_SIGN;
	ptrdiff_t width = 1;
	if (begins_name(c) || is_param) {
		kind = is_param ? TOKEN_PARAM : TOKEN_NAME;
		while (begins_name(byte_at(s, width)) || is_digit(byte_at(s, width)))
			width++;
	} else if (is_digit(c) || (c == '.' && is_digit(byte_at(s, 1)))) {
		kind = TOKEN_NUMBER;
		width = str_number(s);
	} else if (c == '\'') {
		kind = TOKEN_TEXT;
		width = quoted_length(s);
	} else {
		width = sign_length(s);
	}
	struct str text = str_head(s, width);
	bool is_word = width && (kind == TOKEN_NAME || kind == TOKEN_SIGN);
	return (struct token){ kind, text, is_word ? word_of(text) : NULL, NULL, -1, -1 };
}

static bool refuse(struct checker *c, struct str s)
{
	ptrdiff_t width = strchr("\"`", s.p[0]) ? quoted_length(s) : 0;
	if (width)
		return fail(c, DIAG_RULE_SQL, str_head(s, width),
			"a text takes single quotes: '%.*s'",
			STR_ARG(str_head(str_from_offset(s, 1), width - 2)));
	const struct refusal *x = refusal_of(s);
	return fail(c, DIAG_RULE_SQL, str_head(s, x->begins.len), "%s", x->says);
}

/* Parentheses are balanced and nothing refused is in the text; or false and a fault. */
static bool read_tokens(struct checker *c)
{
	ptrdiff_t open = -1, select = -1;
	struct str rest = c->sql;
	if (c->sql.len > SQL_MAX_BYTES)
		return fail(c, DIAG_RULE_SQL, str_head(c->sql, 1), "longer than %lld bytes",
			(long long)SQL_MAX_BYTES);
	if (str_find_char(c->sql, 0) >= 0)
		return fail(c, DIAG_RULE_SQL, str_head(c->sql, 1), "there is a NUL byte in it");
	for (;;) {
		ptrdiff_t blanks = 0;
		while (is_blank(byte_at(rest, blanks)))
			blanks++;
		rest = str_from_offset(rest, blanks);
		if (!rest.len)
			break;
		char first = rest.p[0];
		struct token t = token_of(rest);
		if (!t.text.len)
			return refuse(c, rest);
		if (first == ')' && open < 0)
			return fail(c, DIAG_RULE_SQL, t.text, "this parenthesis was never opened");
		if (first == ')') {
			select = c->tokens[open].select;
			open = c->tokens[open].open;
		}
		t.open = open;
		t.select = select = is_select(&t) ? c->count : select;
		open = first == '(' ? c->count : open;
		*arena_push(&c->scratch, c->tokens, c->count, c->cap) = t;
		rest = str_from_offset(rest, t.text.len);
	}
	*arena_push(&c->scratch, c->tokens, c->count, c->cap) =
		(struct token){ TOKEN_END, rest, NULL, NULL, -1, -1 };
	return open < 0 ||
	       fail(c, DIAG_RULE_SQL, c->tokens[open].text, "this parenthesis is never closed");
}

/* ---- the next token ----------------------------------------------------------------------- */

/* It can be neither operand nor alias; `null` is the end of "not null", and an operand. */
static bool is_reserved(const struct token *t)
{
	return t->kind == TOKEN_NAME && t->word && t->word->kind != NULLNESS;
}

static const struct token *ahead(const struct checker *c, ptrdiff_t n)
{
	ptrdiff_t last = c->count - 1;
	return &c->tokens[c->at + n < last ? c->at + n : last];
}

#define is_ahead(c, word) token_is(ahead(c, 0), word)

static const struct token *next(struct checker *c)
{
	const struct token *t = ahead(c, 0);
	c->at += t->kind != TOKEN_END;
	return t;
}

#define accept(c, word) accept_word(c, STR(word))
static bool accept_word(struct checker *c, struct str word)
{
	bool is = token_reads(ahead(c, 0), word);
	c->at += is;
	return is;
}

/* After the opening one: to behind its partner. */
static void skip_parentheses(struct checker *c)
{
	for (int depth = 1; depth > 0 && ahead(c, 0)->kind != TOKEN_END; c->at++)
		depth += is_ahead(c, "(") - is_ahead(c, ")");
}

/* From one part of the text to another, both included. */
static struct str through(const struct checker *c, struct str first, struct str last)
{
	ptrdiff_t from = place_of(c, first);
	return str_head(str_from_offset(c->sql, from), place_of(c, last) + last.len - from);
}

/* ---- what may be compared and computed with what ------------------------------------------ */

static struct value of(struct dimension d)
{
	return (struct value){ .dimension = d };
}

static struct value of_kind(enum dimension_kind kind)
{
	return of((struct dimension){ kind, UNIT_NONE });
}

static struct value truth(void)
{
	struct value v = of(of_unit(UNIT_BOOL));
	v.is_truth = true;
	return v;
}

static bool is_literal(const struct value *v, enum token_kind kind)
{
	return v->literal && v->literal->kind == kind;
}

static bool is_number_literal(const struct value *v, double *ret)
{
	return is_literal(v, TOKEN_NUMBER) && str_to_double(v->literal->text, ret);
}

static struct str unquoted(struct str text, struct arena *keep) /* 'it''s' is it's */
{
	char *to = arena_make(keep, char, text.len);
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 1; i + 1 < text.len; i += text.p[i] == '\'' ? 2 : 1)
		to[n++] = text.p[i];
	return (struct str){ to, n };
}

/* `kind = 'matmull'`: a word that is never there makes a rule that never speaks; so does a glob. */
static void check_word(
	struct checker *c, const struct value *column, const struct value *text, bool is_glob)
{
	struct str words[KEY_WORDS_MAX];
	bool fits = false;
	if (!column->column || !column->column->words || !is_literal(text, TOKEN_TEXT))
		return;
	struct str word = unquoted(text->text, c->keep);
	if (is_glob && str_find_char(word, '[') >= 0)
		return;
	int count = key_words(&(struct key){ .form = column->column->words }, words);
	for (int i = 0; i < count; i++)
		fits |= is_glob ? str_glob(words[i], word) : str_eq(words[i], word);
	if (fits)
		return;
	struct str hint = did_you_mean(c->keep, word, words, count);
	if (!hint.len)
		hint = arena_fmt(c->keep, "; it is one of %.*s",
			STR_ARG(words_joined(c->keep, words, count, ", ")));
	fail(c, DIAG_RULE_TYPE, text->text, "%.*s %s '%.*s'%.*s", STR_ARG(column->column->name),
		is_glob ? "never matches" : "is never", STR_ARG(word), STR_ARG(hint));
}

static const char *noun_of(const struct value *v, bool of_units)
{
	return of_units			 ? unit_noun(v->dimension.unit)
	       : is_number(v->dimension) ? "a number"
					 : "a text";
}

/* A literal is easier to have mistaken than a column. */
static void check_pair(
	struct checker *c, const struct value *a, const struct value *b, const char *verb)
{
	enum dimension_kind ka = a->dimension.kind, kb = b->dimension.kind;
	const struct value *bad = a->literal && !b->literal ? a : b, *good = bad == a ? b : a;
	bool is_mixed = ka && kb && is_number(a->dimension) != is_number(b->dimension);
	if (is_mixed || !unit_fits(a->dimension.unit, b->dimension.unit))
		fail(c, is_mixed ? DIAG_RULE_TYPE : DIAG_RULE_UNIT, bad->text,
			"%.*s is %s and %.*s is %s; they cannot be %s", STR_ARG(good->text),
			noun_of(good, !is_mixed), STR_ARG(bad->text), noun_of(bad, !is_mixed),
			verb);
}

/* The SELECT around one; or -1. */
static ptrdiff_t select_above(const struct checker *c, ptrdiff_t select)
{
	ptrdiff_t open = c->tokens[select].open;
	return open < 0 ? -1 : c->tokens[open].select;
}

/* The table that a SELECT's FROM calls so, by its name or an alias; or NULL. */
static const struct table_def *table_called(
	const struct checker *c, ptrdiff_t select, struct str alias)
{
	for (ptrdiff_t i = 0; i < c->table_count; i++) {
		const struct token *t = c->tables[i], *as = token_is(t + 1, "as") ? t + 2 : t + 1;
		bool has_alias = as->kind == TOKEN_NAME && !is_reserved(as);
		if (t->select == select && str_eq_nocase(has_alias ? as->text : t->text, alias))
			return t->table;
	}
	return NULL;
}

/* The same of those in reach, the innermost first. */
static const struct table_def *table_in_reach(
	const struct checker *c, ptrdiff_t select, struct str alias)
{
	const struct table_def *def = NULL;
	for (; !def && select >= 0; select = select_above(c, select))
		def = table_called(c, select, alias);
	return def;
}

/* Whether `whole` is `name` of a table of the innermost SELECT, which is what `name` alone is. */
static bool is_own(const struct checker *c, struct str whole, struct str name)
{
	struct str table, column;
	return str_cut(whole, '.', &table, &column) && str_eq_nocase(column, name) &&
	       table_called(c, ahead(c, -1)->select, table);
}

/* Each way to compare texts has wildcards of its own, or none, and lets those of others pass. */
static void check_wildcards(struct checker *c, const struct value *text, const struct token *sign)
{
	struct str literal = is_literal(text, TOKEN_TEXT) ? text->text : STR("");
	bool has_star = str_find_char(literal, '*') >= 0,
	     has_percent = str_find_char(literal, '%') >= 0;
	if (has_star && !has_percent && !token_is(sign, "glob"))
		fail(c, DIAG_RULE_TYPE, literal,
			"'*' is a wildcard for glob alone: write glob %.*s", STR_ARG(literal));
	if (has_percent && !has_star && token_is(sign, "glob"))
		fail(c, DIAG_RULE_TYPE, literal,
			"'%%' is a wildcard for like alone: glob takes '*'");
}

/* time_share > 5: a share of a whole is meant as a percentage. */
static void check_share(struct checker *c, const struct value *column, const struct value *number)
{
	double value;
	const struct column *of = column->column;
	if (of && column_is_share(of) && is_number_literal(number, &value) && value >= 2)
		fail(c, DIAG_RULE_UNIT, number->text,
			"%.*s is a ratio, 1 is all of it: write %.6g for %.6g%%", STR_ARG(of->name),
			value / 100, value);
}

static void check_compare(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct word *word = sign->word;
	if (a->dimension.kind == DIMENSION_NULL || b->dimension.kind == DIMENSION_NULL) {
		if (word->kind != IDENTITY)
			fail(c, DIAG_RULE_TYPE, sign->text,
				"comparing with null is never true; write 'is null' or 'is not "
				"null'");
		return;
	}
	check_pair(c, a, b, "compared");
	check_share(c, a, b);
	check_share(c, b, a);
	if (a->column && a->column == b->column &&
		(is_own(c, a->text, b->text) || is_own(c, b->text, a->text)))
		fail(c, DIAG_RULE_SQL, through(c, a->text, b->text),
			"%.*s compares a column with itself: a bare name is a column of the "
			"subquery's own table; the judged row's is written with its table, as "
			"devices.host",
			STR_ARG(through(c, a->text, b->text)));
	if (word->precedence != P_EQUAL || word->kind == RANGE)
		return;
	check_wildcards(c, b, sign);
	check_word(c, a, b, false);
	check_word(c, b, a, false);
}

static void check_pattern(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct value *bad = is_number(a->dimension) ? a : b;
	if (is_number(bad->dimension))
		fail(c, DIAG_RULE_TYPE, bad->text, "%.*s is a number; '%.*s' compares texts",
			STR_ARG(bad->text), STR_ARG(sign->text));
	check_wildcards(c, b, sign);
	if (token_is(sign, "glob"))
		check_word(c, a, b, true);
}

/* What people convert by: thousands, 1024s and per cent. 128 layers are no conversion. */
static bool is_conversion(const struct value *v)
{
	double factor, decimal = 1e3, binary = 1024;
	if (!is_number_literal(v, &factor) || !(factor > 0))
		return false;
	factor = factor < 1 ? 1 / factor : factor;
	while (decimal < factor * 0.999)
		decimal *= 1e3;
	while (binary < factor)
		binary *= 1024;
	return fabs(factor / decimal - 1) < 1e-9 || factor == binary || factor == 100;
}

/* value: hbm_bytes / 1e9 would be held against 16 GiB as so many bytes. */
static void check_scale(struct checker *c, const struct value *a, const struct value *b, char s)
{
	const struct value *factor = s == '*' && is_conversion(a) ? a : b;
	enum unit unit = (factor == a ? b : a)->dimension.unit;
	bool is_within = ahead(c, -1)->select >= 0;
	if (!c->is_number || is_within || !strchr("*/", s) || unit <= UNIT_COUNT ||
		unit == UNIT_BOOL || !is_conversion(factor))
		return;
	fail(c, DIAG_RULE_UNIT, through(c, a->text, b->text),
		"leave the %.*s out: this is %s, and its limit is written with a unit, as 5 ms, "
		"16 GiB or 30%%",
		STR_ARG(factor->text), unit_noun(unit));
}

static bool is_whole(const struct value *v)
{
	return is_literal(v, TOKEN_NUMBER) && str_only(v->text, "0-9");
}

static struct value check_arithmetic(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct value *text = a->dimension.kind == DIMENSION_TEXT ? a : b;
	struct str whole = through(c, a->text, b->text);
	char s = sign->text.p[0];
	if (text->dimension.kind == DIMENSION_TEXT)
		fail(c, DIAG_RULE_TYPE, text->text, "%.*s is a text; '%c' computes with numbers",
			STR_ARG(text->text), s);
	if (s == '/' && is_whole(a) && is_whole(b))
		fail(c, DIAG_RULE_TYPE, whole,
			"%.*s divides whole numbers and drops the rest; write %.*s.0 / %.*s",
			STR_ARG(whole), STR_ARG(a->text), STR_ARG(b->text));
	if (s == '+' || s == '-')
		check_pair(c, a, b, s == '+' ? "added" : "subtracted");
	check_scale(c, a, b, s);
	return of(as_number(combine(s, a->dimension, b->dimension)));
}

static void check_number(struct checker *c, const struct value *v, bool is_condition)
{
	if (v->dimension.kind == DIMENSION_TEXT)
		fail(c, DIAG_RULE_TYPE, v->text, "%.*s is a text and no %s", STR_ARG(v->text),
			is_condition ? "condition; compare it with something" : "number");
	if (is_condition && v->dimension.unit > UNIT_COUNT && v->dimension.unit != UNIT_BOOL)
		fail(c, DIAG_RULE_TYPE, v->text,
			"%.*s is %s and no condition; compare it with something", STR_ARG(v->text),
			unit_noun(v->dimension.unit));
	if (!is_condition && v->is_truth)
		fail(c, DIAG_RULE_TYPE, v->text,
			"%.*s is yes or no, and no number; the limit of a number is at_most or "
			"at_least, and yes or no stands under assert",
			STR_ARG(v->text));
}

/* ---- operands ----------------------------------------------------------------------------- */

static struct value expression(struct checker *c, int precedence); /* 0: a whole one */
static struct value select_value(struct checker *c);

static const struct column *find_column(const struct table_def *def, struct str name)
{
	for (ptrdiff_t i = 0; def && i < def->column_count; i++)
		if (str_eq_nocase(def->columns[i].name, name))
			return &def->columns[i];
	return NULL;
}

/* What stands in for a column that the row lacks; not the name: nothing else is called so. */
static const struct column *column_of_run(const struct sql_names *names, struct str name)
{
	return names->table && !str_eq_nocase(name, STR("name"))
		       ? find_column(&table_defs[TABLE_run], name)
		       : NULL;
}

/* The table whose column a bare name is: the innermost SELECT's that has one, else the row's. */
static const struct table_def *table_with(const struct checker *c, const struct token *t)
{
	for (ptrdiff_t select = t->select; select >= 0; select = select_above(c, select))
		for (ptrdiff_t i = 0; i < c->table_count; i++)
			if (c->tables[i]->select == select &&
				find_column(c->tables[i]->table, t->text))
				return c->tables[i]->table;
	return c->names->table;
}

/* A column of the table before the dot, or of those in reach; else of the run. */
static struct value name_value(struct checker *c)
{
	const struct token *t = next(c);
	const struct table_def *def = NULL;
	if (accept(c, ".")) {
		def = table_in_reach(c, t->select, t->text);
		def = def ? def : engine_table(t->text);
		t = next(c);
	}
	if (!find_column(def, t->text))
		def = table_with(c, t);
	const struct column *column = find_column(def, t->text);
	if (!column && (column = column_of_run(c->names, t->text))) {
		def = &table_defs[TABLE_run];
		reads_add(&c->facts->run_columns, c->keep, def, column);
	}
	if (!column)
		return of_kind(DIMENSION_ANY);
	reads_add(&c->facts->reads, c->keep, def, column);
	struct value v = of(of_unit(column->unit));
	v.column = column;
	if (column->type == COLUMN_TEXT)
		v.dimension.kind = DIMENSION_TEXT;
	return v;
}

static struct value param_value(struct checker *c)
{
	const struct token *t = next(c);
	const struct rule *rule = c->names->rule;
	struct str name = str_from_offset(t->text, 1);
	const struct rule_param *param = rule ? rule_param_named(rule, name) : NULL;
	struct value v = of_kind(DIMENSION_BARE);
	if (!rule)
		fail(c, DIAG_RULE_NAME, t->text, "a %s has no parameters",
			c->names->own ? "formula" : "query");
	if (!param && rule) {
		struct str hint = rule_param_hint(rule, name, c->keep);
		fail(c, DIAG_RULE_NAME, t->text, "the rule has no parameter '%.*s'%s%.*s",
			STR_ARG(name), hint.len ? "" : "; declare it under params:", STR_ARG(hint));
	}
	if (!param)
		return v;
	c->facts->uses[param - rule->params] = true;
	if (param->unit != UNIT_NONE)
		v = of(of_unit(param->unit));
	v.literal = t;
	return v;
}

static struct value function_value(struct checker *c)
{
	const struct token *name = next(c);
	const struct sql_function *f = sql_function_find(name->text);
	const struct sql_own_function *own = sql_own_find(c->names->own, name->text);
	struct value first = of_kind(DIMENSION_ANY), last = first;
	bool same_unit = true;
	ptrdiff_t count = 0;
	accept(c, "(");
	accept(c, "distinct");
	if (!accept(c, "*") && !is_ahead(c, ")"))
		do {
			struct value v = expression(c, 0);
			first = count++ ? first : v;
			last = v.dimension.kind == DIMENSION_NULL ? last : v;
			same_unit &= v.dimension.kind == first.dimension.kind &&
				     v.dimension.unit == first.dimension.unit;
		} while (accept(c, ","));
	accept(c, ")");
	while (accept(c, "filter") || accept(c, "over")) /* (where ...), or a window's name */
		token_is(next(c), "(") ? skip_parentheses(c) : (void)0;
	if (own && own->is_text)
		return of_kind(DIMENSION_TEXT);
	if (!f)
		return of_kind(DIMENSION_ANY);
	if (f->result == RESULT_NUMBER && (f->keeps_unit || f->math1 || f->math2) &&
		first.dimension.kind == DIMENSION_TEXT)
		fail(c, DIAG_RULE_TYPE, first.text,
			"%.*s() computes with numbers, and this is a text", STR_ARG(name->text));
	if (f->result == RESULT_TEXT)
		return of_kind(DIMENSION_TEXT);
	if (f->result == RESULT_NUMBER)
		return of(f->keeps_unit ? as_number(first.dimension) : of_unit(UNIT_NONE));
	return same_unit || !is_number(last.dimension) ? of(last.dimension)
						       : of(of_unit(UNIT_NONE));
}

static struct value parenthesis(struct checker *c)
{
	if (is_select(ahead(c, 0)))
		return select_value(c);
	struct value v = expression(c, 0);
	while (accept(c, ",")) {
		expression(c, 0);
		v = of_kind(DIMENSION_ANY);
	}
	accept(c, ")");
	v.column = NULL;
	return v;
}

/* Behind `case`: [x] when a then b ... else c end */
static struct value case_value(struct checker *c)
{
	const struct token equals = { .text = STR("="), .word = word_of(STR("=")) };
	struct value base = of_kind(DIMENSION_ANY), result = base, v;
	bool has_base = !is_ahead(c, "when"), is_first = true;
	if (has_base)
		base = expression(c, 0);
	for (ptrdiff_t before = -1; c->at != before; is_first = false) {
		before = c->at;
		if (accept(c, "when")) {
			v = expression(c, 0);
			if (has_base)
				check_compare(c, &base, &v, &equals);
			accept(c, "then");
		} else if (!accept(c, "else")) {
			break;
		}
		v = expression(c, 0);
		bool is_alike = v.dimension.kind == result.dimension.kind ||
				(is_number(v.dimension) && is_number(result.dimension));
		bool is_news = is_first || result.dimension.kind == DIMENSION_NULL;
		result = is_news ? v : is_alike ? result : of_kind(DIMENSION_ANY);
	}
	accept(c, "end");
	return of(result.dimension);
}

static struct value operand(struct checker *c)
{
	const struct token *t = ahead(c, 0);
	struct value v = of_kind(DIMENSION_ANY);
	if (t->kind == TOKEN_PARAM)
		return param_value(c);
	if (t->kind == TOKEN_NUMBER || t->kind == TOKEN_TEXT) {
		v = of_kind(t->kind == TOKEN_TEXT ? DIMENSION_TEXT : DIMENSION_BARE);
		v.literal = next(c);
		return v;
	}
	if (accept(c, "("))
		return parenthesis(c);
	if (accept(c, "-") || accept(c, "+") || accept(c, "~")) {
		v = expression(c, P_UNARY);
		if (v.dimension.kind == DIMENSION_TEXT)
			check_arithmetic(c, &v, &v, t);
		return is_literal(&v, TOKEN_NUMBER) ? v : of(v.dimension);
	}
	if (accept(c, "not")) {
		v = expression(c, P_NOT);
		check_number(c, &v, true);
		return truth();
	}
	if (accept(c, "case"))
		return case_value(c);
	if (accept(c, "cast")) { /* (x as real) */
		accept(c, "(");
		v = expression(c, 0);
		accept(c, "as");
		bool is_text = is_ahead(c, "text");
		skip_parentheses(c);
		return is_text ? of_kind(DIMENSION_TEXT) : of(as_number(v.dimension));
	}
	if (accept(c, "exists")) {
		if (accept(c, "("))
			select_value(c);
		return truth();
	}
	if (accept(c, "null"))
		return of_kind(DIMENSION_NULL);
	if (accept(c, "true") || accept(c, "false"))
		return of_kind(DIMENSION_BARE);
	if (t->kind != TOKEN_NAME || is_reserved(t))
		return v;
	return token_is(ahead(c, 1), "(") ? function_value(c) : name_value(c);
}

/* ---- operators ---------------------------------------------------------------------------- */

/* The operator ahead, "not in" and its like included; NULL when it binds looser than asked. */
static const struct word *operator_ahead(const struct checker *c, int precedence)
{
	ptrdiff_t skip = is_ahead(c, "not");
	const struct word *x = ahead(c, skip)->word;
	bool is = x && x->precedence && x->precedence >= precedence;

	return is && (!skip || x->precedence == P_EQUAL) ? x : NULL;
}

/* in (a, b) or in (select ...) */
static void membership(struct checker *c, const struct value *left, const struct token *sign)
{
	if (!token_is(next(c), "("))
		return;
	if (is_select(ahead(c, 0))) {
		select_value(c);
		return;
	}
	if (!is_ahead(c, ")"))
		do {
			struct value item = expression(c, 0);
			check_compare(c, left, &item, sign);
		} while (accept(c, ","));
	accept(c, ")");
}

/* "idle_ratio <= 10%" reads like a percentage and would be a remainder. */
static void check_percent(struct checker *c, const struct value *left, const struct token *sign)
{
	const struct token *t = ahead(c, 0);
	bool is_end =
		t->kind == TOKEN_END || token_is(t, ")") || token_is(t, ",") || is_reserved(t);
	double percent;
	if (is_end && token_is(sign, "%") && is_number_literal(left, &percent))
		fail(c, DIAG_RULE_UNIT, through(c, left->text, sign->text),
			"'%.*s%%' is no number in SQL; write %.6g or a param", STR_ARG(left->text),
			percent / 100);
}

static struct value infix_value(
	struct checker *c, struct value left, const struct token *sign, const struct word *x)
{
	if (x->kind == NULLNESS)
		return truth();
	if (x->kind == COLLATE) {
		next(c);
		return left;
	}
	if (x->kind == MEMBERSHIP) {
		membership(c, &left, sign);
		return truth();
	}
	if (x->kind == SUM)
		check_percent(c, &left, sign);
	if (x->kind == IDENTITY) { /* is [not] [distinct from] x */
		accept(c, "not");
		if (accept(c, "distinct"))
			accept(c, "from");
	}
	if (is_ahead(c, "*"))
		fail(c, DIAG_RULE_SQL, ahead(c, 0)->text,
			"a text takes single quotes, as in glob '*embed*'");
	struct value right = expression(c, x->precedence + 1);
	if (x->kind == SUM)
		return check_arithmetic(c, &left, &right, sign);
	if (x->kind == CONCAT)
		return of_kind(DIMENSION_TEXT);
	if (x->kind == LOGIC) {
		check_number(c, &left, true);
		check_number(c, &right, true);
	} else if (x->kind == PATTERN) {
		check_pattern(c, &left, &right, sign);
		if (accept(c, "escape"))
			expression(c, x->precedence + 1);
	} else {
		check_compare(c, &left, &right, sign);
	}
	if (x->kind == RANGE && accept(c, "and")) {
		right = expression(c, x->precedence + 1);
		check_compare(c, &left, &right, sign);
	}
	return truth();
}

/* The text read since `from`, as the place of a value. */
static struct value spanning(const struct checker *c, struct value v, const struct token *from)
{
	v.text = through(c, from->text, c->at > 0 ? c->tokens[c->at - 1].text : from->text);
	return v;
}

static bool too_deep(struct checker *c)
{
	if (++c->depth > SQL_MAX_DEPTH)
		fail(c, DIAG_RULE_SQL, ahead(c, 0)->text, "nested deeper than %d levels",
			SQL_MAX_DEPTH);
	return c->failed;
}

static struct value expression(struct checker *c, int precedence)
{
	const struct token *first = ahead(c, 0);
	const struct word *x;
	if (too_deep(c))
		return of_kind(DIMENSION_ANY);
	struct value left = spanning(c, operand(c), first);
	while (!c->failed && (x = operator_ahead(c, precedence))) {
		accept(c, "not");
		const struct token *sign = next(c);
		left = spanning(c, infix_value(c, left, sign, x), first);
	}
	c->depth--;
	return left;
}

/* ---- SELECT ------------------------------------------------------------------------------- */

struct str tell_table(struct arena *keep, struct str name, bool is_sql)
{
	struct list names = { NULL, 0, 0 };
	NAMES(&names, keep, table_defs, TABLE_COUNT);
	if (is_sql)
		NAMES(&names, keep, base_table_defs, TABLE_COUNT);
	struct str hint = did_you_mean(keep, name, names.items, names.count);
	if (!str_only(name, "a-zA-Z0-9_"))
		hint = STR("; more than one name is a query, and stands under select");
	return arena_fmt(keep, "there is no table '%.*s'%.*s", STR_ARG(name),
		STR_ARG(hint.len ? hint : STR("; `rooflint tables` lists them")));
}

/* Behind FROM or JOIN: a table, or something in parentheses.  SQLite gives no place of a table. */
static void from_item(struct checker *c)
{
	const struct token *t = ahead(c, 0);
	if (t->kind != TOKEN_NAME || is_reserved(t))
		return;
	next(c);
	if (!c->has_with && !t->table)
		fail(c, DIAG_RULE_NAME, t->text, "%.*s",
			STR_ARG(tell_table(c->keep, t->text, true)));
}

/* A name of a subquery's result is a text where all results of that name are. */
static struct dimension dimension_of(const struct checker *c, const struct sql_result *r)
{
	struct dimension d = r->dimension;
	if (d.kind == DIMENSION_ANY && NAMED(c->texts.items, c->texts.count, r->name) &&
		!NAMED(c->numbers.items, c->numbers.count, r->name))
		d.kind = DIMENSION_TEXT;
	return d;
}

/* Notes the result that has just been read, under the name that the SELECTs around it see. */
static struct sql_result note_result(struct checker *c, const struct value *v)
{
	struct sql_result r = { v->dimension, ahead(c, -1)->text, v->column };
	struct str name = is_ahead(c, "as") ? ahead(c, 1)->text : r.name;
	r.dimension = dimension_of(c, &r);
	if (r.dimension.kind >= DIMENSION_TEXT)
		list_add(r.dimension.kind == DIMENSION_TEXT ? &c->texts : &c->numbers, name,
			&c->scratch);
	return r;
}

/* A compound hands a column on where each of its SELECTs has the same. */
static void same_column(struct sql_result *r, const struct column *c)
{
	r->column = r->column == c ? c : NULL;
}

/*
 * From SELECT, WITH or VALUES to behind its ')' or the end: expressions between keywords.  It comes
 * to what its first column is.
 */
static struct value select_value(struct checker *c)
{
	struct sql_results own = { NULL, 0, 0 };
	struct sql_results *results = c->at ? &own : &c->facts->results;
	bool is_listing = false, is_new = false;
	ptrdiff_t selects = 0, place = 0; /* of a compound; of a result in its SELECT */
	const struct token *t = ahead(c, 0);
	if (c->names->own)
		fail(c, DIAG_RULE_SQL, t->text,
			"a formula reads no tables: it has the shapes of the call alone");
	c->has_with |= is_ahead(c, "with");
	if (too_deep(c))
		return of_kind(DIMENSION_ANY);
	while (!c->failed && (t = ahead(c, 0))->kind != TOKEN_END && !token_is(t, ")")) {
		ptrdiff_t before = c->at;
		bool is_mark = token_is(t, ",") || token_is(t, "*");
		if (token_is(t, "select")) {
			is_listing = is_new = true;
			selects++;
			place = 0;
		}
		is_new |= token_is(t, ",");
		is_listing &= !token_is(t, "*") && !token_is(t, "from");
		if (accept(c, "from") || accept(c, "join")) {
			from_item(c);
		} else if (accept(c, "as")) {
			if (!is_ahead(c, "("))
				next(c); /* a name */
		} else if (is_mark || (is_reserved(t) && !token_is(t, "not"))) {
			c->at++;
		} else {
			struct value v = expression(c, 0);
			is_listing &= !token_is(ahead(c, -1), "*");
			if (is_new && is_listing && selects == 1)
				*arena_push(c->keep, results->items, results->count, results->cap) =
					note_result(c, &v);
			else if (is_new && is_listing && place < results->count)
				same_column(&results->items[place], v.column);
			place += is_new;
			is_new = false;
			c->at += c->at == before && !c->failed; /* it begins no expression */
		}
	}
	accept(c, ")");
	c->depth--;
	return results->count ? of(results->items[0].dimension) : of_kind(DIMENSION_ANY);
}

/* ---- entry -------------------------------------------------------------------------------- */

static bool open_checker(struct checker *c, struct str sql, const struct sql_names *names,
	struct arena *keep, struct arena scratch, struct sql_facts *facts, struct sql_fault *fault)
{
	*c = (struct checker){ .sql = sql,
		.names = names,
		.facts = facts,
		.keep = keep,
		.scratch = scratch,
		.fault = fault };
	*facts = (struct sql_facts){ .uses = arena_make(keep, bool,
					     names->rule ? names->rule->param_count + 1 : 1) };
	if (!read_tokens(c))
		return false;
	for (struct token *t = c->tokens; t->kind != TOKEN_END; t++) {
		bool is_long = t->kind == TOKEN_TEXT && t->text.len > SQL_PATTERN_MAX;
		bool is_behind =
			t > c->tokens && (token_is(t - 1, "from") || token_is(t - 1, "join"));
		bool is_behind_table = t > c->tokens + 1 && token_is(t - 1, ",") && t[-2].table;
		if ((is_behind || is_behind_table) && (t->table = engine_table(t->text)))
			*arena_push(&c->scratch, c->tables, c->table_count, c->table_cap) = t;
		facts->needs_baseline |= str_eq_nocase(str_head(t->text, 5), STR("base_")) &&
					 t->kind == TOKEN_NAME && engine_table(t->text);
		facts->is_joining |= is_long || token_is(t, "||");
	}
	return true;
}

bool check_expression(struct str sql, const struct sql_names *names, enum sql_want want,
	struct arena *keep, struct arena scratch, struct sql_facts *ret, struct sql_fault *fault)
{
	struct checker c;
	if (!open_checker(&c, sql, names, keep, scratch, ret, fault))
		return false;
	c.is_number = want == WANT_NUMBER;
	struct value v = expression(&c, 0);
	if (is_ahead(&c, ","))
		fail(&c, DIAG_RULE_SQL, ahead(&c, 0)->text,
			"one expression is wanted, and this begins a second one");
	if (want != WANT_ANY && ahead(&c, 0)->kind == TOKEN_END)
		check_number(&c, &v, want == WANT_CONDITION);
	if (!c.failed)
		ret->dimension = v.dimension;
	ret->column = v.column;
	return !c.failed;
}

bool check_select(struct str sql, const struct sql_names *names, struct arena *keep,
	struct arena scratch, struct sql_facts *ret, struct sql_fault *fault)
{
	struct checker c;
	if (!open_checker(&c, sql, names, keep, scratch, ret, fault))
		return false;
	if (!is_select(ahead(&c, 0)))
		fail(&c, DIAG_RULE_SQL, ahead(&c, 0)->text, "a SELECT is wanted here");
	select_value(&c);
	/* Only now all is known of subqueries, which stand behind what takes their results. */
	for (ptrdiff_t i = 0; i < ret->results.count; i++)
		ret->results.items[i].dimension = dimension_of(&c, &ret->results.items[i]);
	return !c.failed;
}

/* ---- what SQLite refuses ------------------------------------------------------------------ */

/* There is none of that name that may be called here. */
static struct str tell_no_function(const struct checker *c, struct str name)
{
	enum { TOLD_MOST = 8 };
	struct list names = { NULL, 0, 0 }, meant = { NULL, 0, 0 };
	const struct sql_own_function *own = c->names->own;
	for (ptrdiff_t i = 0; own && own[i].name.p; i++)
		list_add(&names, own[i].name, c->keep);
	for (ptrdiff_t i = 0; i < sql_function_count; i++) {
		const struct sql_function *f = &sql_functions[i];
		if (!own && (!c->names->rule || !f->query_only))
			list_add(&names, f->name, c->keep);
		if (sql_function_is_meant(f, name))
			list_add(&meant, arena_fmt(c->keep, "%.*s()", STR_ARG(f->name)), c->keep);
	}
	if (str_eq_nocase(name, STR("concat")))
		list_add(&meant, STR("the operator ||"), c->keep);
	struct str hint = did_you_mean(c->keep, name, names.items, names.count);
	if (meant.count)
		hint = arena_fmt(c->keep, "; it is %.*s",
			STR_ARG(words_joined(c->keep, meant.items, meant.count, " or ")));
	else if (!hint.len)
		hint = arena_fmt(c->keep, "; there are %.*s and more (docs/rules.md)",
			STR_ARG(words_joined(c->keep, names.items, TOLD_MOST, ", ")));
	return arena_fmt(
		c->keep, "there is no function %.*s() here%.*s", STR_ARG(name), STR_ARG(hint));
}

static struct str tell_function(const struct checker *c, const struct token *t)
{
	const struct table_def *rows = c->names->table;
	const struct sql_function *f = sql_function_find(t->text);
	if (c->names->own ? !sql_own_find(c->names->own, t->text)
			  : !f || (f->query_only && c->names->rule))
		return tell_no_function(c, t->text);
	if (!rows || (!f->aggregate && !token_is(t, "min") && !token_is(t, "max")))
		return MISSING;
	return arena_fmt(c->keep, "%.*s() runs over rows, and each row is judged by itself; %.*s",
		STR_ARG(t->text),
		STR_ARG(table_find(rows->name)
				? arena_fmt(c->keep,
					  "for one number of all: from: run, and (select %.*s(...) "
					  "from %.*s)",
					  STR_ARG(t->text), STR_ARG(rows->name))
				: STR("compute it in the SELECT")));
}

/* dtype = bf16, kind in (copy, matmul): what is compared with a text is one without its quotes. */
static bool is_text_meant(const struct checker *c, const struct token *t)
{
	const struct token *x = t;
	do {
		if (x <= c->tokens + 1)
			return false;
		x--;
	} while (token_is(x, ",") || token_is(x, "(") || (!x->word && x->kind != TOKEN_SIGN));
	if (!x->word || x->word->kind < COMPARE || x->word->kind > PATTERN)
		return false;
	x -= token_is(x - 1, "not") && x - 1 > c->tokens ? 2 : 1;
	const struct column *column = find_column(table_with(c, x), x->text);
	column = column ? column : column_of_run(c->names, x->text);
	return column && column->type == COLUMN_TEXT;
}

/* The tables that have a column of that name: "; it is a column of ops and families". */
static struct str tell_tables(const struct checker *c, struct str column)
{
	enum { TOLD_MOST = 6 };
	struct str names[TOLD_MOST];
	ptrdiff_t count = 0;
	for (int i = 0; i < TABLE_COUNT && count < TOLD_MOST; i++)
		if (find_column(&table_defs[i], column))
			names[count++] = table_defs[i].name;
	if (!count)
		return STR("");
	bool is_of_ops = find_column(&table_defs[TABLE_ops], column);
	struct str first = is_of_ops ? table_defs[TABLE_ops].name : names[0];
	return arena_fmt(c->keep,
		"; it is a column of %.*s: judge such rows (from: %.*s), or write (select ... from "
		"%.*s)",
		STR_ARG(words_joined(c->keep, names, count, " and ")), STR_ARG(first),
		STR_ARG(first));
}

/* Of a formula, which has no columns: a type is meant, or what is known elsewhere. */
static struct str tell_shapes(const struct checker *c, struct str name)
{
	if (dtype_find(name) == DTYPE_INVALID)
		return arena_fmt(c->keep,
			"there is no '%.*s' here: a formula has the shapes of the call alone, as "
			"dim(0, 1), bytes(1) and out_elements()",
			STR_ARG(name));
	/* Quotes around all of the value are YAML's. */
	return arena_fmt(c->keep,
		str_eq(str_trim(c->sql), name) ? "a type is a text in quotes of its own: \"'%.*s'\""
					       : "a text takes single quotes: '%.*s'",
		STR_ARG(name));
}

static struct str tell_column(const struct checker *c, const struct token *t, bool *is_name)
{
	const struct token *last = token_is(t + 1, ".") ? t + 2 : t;
	const struct sql_names *names = c->names;
	struct str name = through(c, t->text, last->text);
	struct list known = { NULL, 0, 0 };
	bool is_known = column_of_run(names, last->text);
	if (names->rule)
		NAMES(&known, c->keep, names->rule->params, names->rule->param_count);
	for (ptrdiff_t i = 0; i < c->table_count + (names->table ? 2 : 0); i++) {
		const struct table_def *def = i < c->table_count    ? c->tables[i]->table
					      : i == c->table_count ? names->table
								    : &table_defs[TABLE_run];
		NAMES(&known, c->keep, def->columns, def->column_count);
		is_known |= i <= c->table_count && find_column(def, last->text);
	}
	if (is_known && last != t && names->table && engine_table(t->text))
		return arena_fmt(c->keep,
			"table %.*s is not in reach here; write (select %.*s from %.*s)",
			STR_ARG(t->text), STR_ARG(last->text), STR_ARG(t->text));
	if (is_known)
		return MISSING; /* SQLite knows better */
	if (is_text_meant(c, t))
		return arena_fmt(c->keep, "a text takes single quotes: '%.*s'", STR_ARG(t->text));
	const struct table_def *called = last == t ? NULL : table_in_reach(c, t->select, t->text);
	const struct table_def *of = called ? called : names->table;
	bool is_made = of && !table_find(of->name);
	/* So many tables have a name that none of them is meant. */
	bool wants_name = str_eq_nocase(last->text, STR("name"));
	const struct key *key = names->rule ? key_named(rule_entry.keys, last->text) : NULL;
	struct str hint = is_made || called || wants_name ? STR("") : tell_tables(c, last->text);
	if (!hint.len && key && key->read)
		hint = key->read == key_limit
			       ? STR("; the limits are :warn and :fail, and {warn} and {fail} in "
				     "texts")
			       : STR("; it is a key of the rule: write its expression out");
	if (!hint.len && !wants_name)
		hint = did_you_mean(c->keep, last->text, known.items, known.count);
	if (!hint.len)
		hint = is_made ? STR("; the SELECT has none of that name")
			       : arena_fmt(c->keep, "; `rooflint tables%s%.*s` lists them",
					 of ? " " : "", STR_ARG(of ? of->name : STR("")));
	*is_name = true;
	return arena_fmt(
		c->keep, "there is no column '%.*s' here%.*s", STR_ARG(name), STR_ARG(hint));
}

/* 10 ms, and 10ms, which is one word to SQLite; or missing. */
static struct str tell_unit(const struct checker *c, const struct token **at)
{
	const struct token *t = *at + ((*at)->kind == TOKEN_NUMBER);
	enum unit unit;
	double ignored;
	if (t == c->tokens || t[-1].kind != TOKEN_NUMBER || t->kind != TOKEN_NAME ||
		!c->names->rule)
		return MISSING;
	struct str text = arena_fmt(c->keep, "%.*s %.*s", STR_ARG(t[-1].text), STR_ARG(t->text));
	if (!unit_parse(text, &ignored, &unit, NULL))
		return MISSING;
	*at = t;
	return arena_fmt(c->keep,
		"a unit belongs into a parameter: params: { slack: %.*s }, then :slack",
		STR_ARG(text));
}

void check_tell(struct str sql, const struct sql_names *names, struct arena *keep,
	struct arena scratch, struct sql_fault *fault)
{
	struct sql_facts ignored;
	struct sql_fault again;
	struct checker c;
	if (!open_checker(&c, sql, names, keep, scratch, &ignored, &again))
		return;
	const struct token *t = c.tokens;
	while (t->kind != TOKEN_END && place_of(&c, t->text) != fault->at)
		t++;
	if (t->kind == TOKEN_END)
		return;
	bool is_name = false;
	const struct rule *rule = names->rule;
	const struct rule_param *param = /* without its colon */
		rule && t->kind == TOKEN_NAME ? rule_param_named(rule, t->text) : NULL;
	const struct sql_own_function *own = sql_own_find(names->own, t->text);
	struct str text = { NULL, 0 };
	if (param)
		text = arena_fmt(keep, "a parameter is written :%.*s", STR_ARG(param->name));
	else if (!fault->is_of_names)
		text = tell_unit(&c, &t);
	else if (own && own->form)
		text = arena_fmt(keep, "the call is written %s", own->form);
	else if (t->kind == TOKEN_NAME && token_is(t + 1, "("))
		text = tell_function(&c, t);
	else if (t->kind == TOKEN_NAME && !is_reserved(t))
		text = names->own ? tell_shapes(&c, t->text) : tell_column(&c, t, &is_name);
	const struct token *last = token_is(t + 1, ".") ? t + 2 : t;
	fault->at = place_of(&c, t->text);
	fault->width = through(&c, t->text, last->text).len;
	fault->text = text.p ? text : fault->text;
	fault->id = is_name ? DIAG_RULE_NAME : fault->id;
}

bool check_formula(struct str sql, enum sql_want want, struct arena *keep, struct arena scratch,
	struct sql_fault *fault)
{
	const struct sql_names names = { .own = formula_functions };
	struct sql_facts ignored;
	struct formula formula;
	if (!check_expression(sql, &names, want, keep, scratch, &ignored, fault))
		return false;
	struct str type = unquoted(str_trim(sql), keep);
	bool is_type =
		want == WANT_ANY && str_starts(str_trim(sql), STR("'")) && str_only(type, "a-z0-9");
	if (is_type && dtype_find(type) == DTYPE_INVALID)
		return sql_fail(fault, keep, DIAG_RULE_NAME, 0, sql.len,
			"there is no type %.*s; they are called as in HLO: 'bf16', 'f8e4m3fn'",
			STR_ARG(str_trim(sql)));
	if (formula_parse(sql, keep, &formula, fault))
		return true;
	if (fault->id == DIAG_RULE_SQL)
		check_tell(sql, &names, keep, scratch, fault);
	return false;
}
