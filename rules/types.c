/* What may be compared and computed with what.  See parser.h. */
#include "rules/parse.h"
#include "rules/parser.h"

enum { WORDS_MAX = 64 }; /* the longest list of a column's words has 25 */

struct value value_any(void)
{
	return (struct value){ CLASS_ANY, { DIMENSION_ANY, UNIT_NONE }, NULL, NULL, 0, 0 };
}

struct value value_number(struct dimension d)
{
	return (struct value){ CLASS_NUMBER, d, NULL, NULL, 0, 0 };
}

/* How a fault speaks of an operand: as it is written. */
static struct str written(const struct parser *p, const struct value *v)
{
	return str_head(str_from_offset(p->sql, v->at), v->width);
}

static const char *class_name(const struct value *v)
{
	return v->class == CLASS_TEXT ? "a text" : "a number";
}

/* The one to point at: a literal is easier to have mistaken than a column. */
static const struct value *suspect(const struct value *a, const struct value *b)
{
	return a->literal && !b->literal ? a : b;
}

static ptrdiff_t words_split(const char *words, struct str *items)
{
	struct str rest = str_from(words);
	ptrdiff_t n = 0;

	while (rest.p && n < WORDS_MAX)
		str_cut(rest, '|', &items[n++], &rest);
	return n;
}

static void unknown_word(struct parser *p, const struct value *column, const struct value *text,
	const struct str *words, ptrdiff_t count, const char *verb)
{
	struct str word = token_string(text->literal, p->keep);
	struct str hint = did_you_mean(p->keep, word, words, count);

	if (!hint.len)
		hint = arena_fmt(p->keep, "; it is one of %.*s",
			STR_ARG(words_joined(p->keep, words, count, ", ")));
	parser_fail(p, DIAG_RULE_TYPE, text->at, text->width, "%.*s %s '%.*s'%.*s",
		STR_ARG(column->column->name), verb, STR_ARG(word), STR_ARG(hint));
}

static bool has_words(const struct value *column, const struct value *text)
{
	return column->column && column->column->words && text->literal &&
	       text->literal->kind == TOKEN_TEXT;
}

/* `kind = 'matmull'`: a word that is never there makes a rule that never speaks. */
static void check_word(struct parser *p, const struct value *column, const struct value *text)
{
	struct str words[WORDS_MAX];

	if (!has_words(column, text))
		return;
	ptrdiff_t count = words_split(column->column->words, words);
	struct str word = token_string(text->literal, p->keep);
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_eq(words[i], word))
			return;
	unknown_word(p, column, text, words, count, "is never");
}

static void check_units(
	struct parser *p, const struct value *a, const struct value *b, const char *verb)
{
	const struct value *bad = suspect(a, b), *good = bad == a ? b : a;

	if (a->class != CLASS_NUMBER || b->class != CLASS_NUMBER ||
		dimension_fits(a->dimension, b->dimension))
		return;
	parser_fail(p, DIAG_RULE_UNIT, bad->at, bad->width,
		"%.*s is %s and %.*s is %s; they cannot be %s", STR_ARG(written(p, good)),
		unit_noun(good->dimension.unit), STR_ARG(written(p, bad)),
		unit_noun(bad->dimension.unit), verb);
}

void check_compare(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign)
{
	if (a->class == CLASS_NULL || b->class == CLASS_NULL) {
		if (!token_is(sign, "is"))
			parser_fail(p, DIAG_RULE_TYPE, sign->at, sign->width,
				"comparing with null is never true; write 'is null' or "
				"'is not null'");
		return;
	}
	const struct value *bad = suspect(a, b), *good = bad == a ? b : a;
	if (a->class != CLASS_ANY && b->class != CLASS_ANY && a->class != b->class)
		parser_fail(p, DIAG_RULE_TYPE, bad->at, bad->width,
			"%.*s is %s and %.*s is %s; they cannot be compared",
			STR_ARG(written(p, good)), class_name(good), STR_ARG(written(p, bad)),
			class_name(bad));
	check_units(p, a, b, "compared");
	if (token_is(sign, "=") || token_is(sign, "==") || token_is(sign, "<>") ||
		token_is(sign, "!=") || token_is(sign, "in") || token_is(sign, "is")) {
		check_word(p, a, b);
		check_word(p, b, a);
	}
}

/* glob with a pattern that fits none of the column's words; like and sets are left alone. */
void check_pattern(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign)
{
	struct str words[WORDS_MAX];

	if (a->class == CLASS_NUMBER || b->class == CLASS_NUMBER) {
		const struct value *bad = a->class == CLASS_NUMBER ? a : b;

		parser_fail(p, DIAG_RULE_TYPE, bad->at, bad->width,
			"%.*s is a number; '%.*s' compares texts", STR_ARG(written(p, bad)),
			STR_ARG(sign->text));
		return;
	}
	if (!token_is(sign, "glob") || !has_words(a, b))
		return;
	struct str pattern = token_string(b->literal, p->keep);
	if (str_find_char(pattern, '[') >= 0)
		return;
	ptrdiff_t count = words_split(a->column->words, words);
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_glob(words[i], pattern))
			return;
	unknown_word(p, a, b, words, count, "never matches");
}

static bool is_whole(const struct value *v)
{
	return v->literal && v->literal->kind == TOKEN_NUMBER &&
	       str_find_char(v->literal->text, '.') < 0 && str_find_char(v->literal->text, 'e') < 0;
}

struct value check_arithmetic(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct value *text = a->class == CLASS_TEXT ? a : b;
	char c = sign->text.p[0];

	if (text->class == CLASS_TEXT)
		parser_fail(p, DIAG_RULE_TYPE, text->at, text->width,
			"%.*s is a text; '%c' computes with numbers", STR_ARG(written(p, text)), c);
	if (c == '/' && is_whole(a) && is_whole(b))
		parser_fail(p, DIAG_RULE_TYPE, a->at, b->at + b->width - a->at,
			"%.*s divides whole numbers and drops the rest; write %.*s.0 / %.*s",
			STR_ARG(str_head(str_from_offset(p->sql, a->at), b->at + b->width - a->at)),
			STR_ARG(written(p, a)), STR_ARG(written(p, b)));
	if (c == '+' || c == '-')
		check_units(p, a, b, c == '+' ? "added" : "subtracted");
	return value_number(dimension_combine(c, a->dimension, b->dimension));
}

void check_number(struct parser *p, const struct value *v, bool is_condition)
{
	if (v->class == CLASS_TEXT)
		parser_fail(p, DIAG_RULE_TYPE, v->at, v->width, "%.*s is a text and no %s",
			STR_ARG(written(p, v)),
			is_condition ? "condition; compare it with something" : "number");
}
