/*
 * SQL text as tokens with their places, for checks that SQLite does not make.
 *
 * Refuses: what the rule language does without: comments, double-quoted names (which SQLite may
 * read as text), semicolons, unnamed parameters.  Private to rules/.
 */
#ifndef RULES_TOKEN_H
#define RULES_TOKEN_H

#include "base/arena.h"
#include "rules/engine.h"

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
	ptrdiff_t at;	 /* offset in the SQL text */
	struct str text; /* as written; without the colon of a parameter */
	ptrdiff_t width; /* bytes as written */
};

/* Longest expression: nobody reviews a longer one. */
#define SQL_MAX_BYTES ((ptrdiff_t)16 << 10)

struct tokens {
	struct token *items; /* ends with a TOKEN_END at the end of the text */
	ptrdiff_t count, cap;
};

/* Parentheses are balanced and nothing refused is in the text; or false and a fault. */
bool tokens_read(struct str sql, struct arena *keep, struct tokens *ret, struct sql_fault *fault);

/* Keyword or sign; ASCII case ignored.  Most of the many questions end at the first letter. */
static inline bool token_is(const struct token *t, const char *word)
{
	return (t->kind == TOKEN_NAME || t->kind == TOKEN_SIGN) &&
	       (t->text.p[0] | 0x20) == (word[0] | 0x20) && str_eq_nocase(t->text, str_from(word));
}
struct str token_string(const struct token *t, struct arena *keep); /* 'it''s' is it's */

#endif
