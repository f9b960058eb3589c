/*
 * What SQLite would let pass and a rule must not: a number compared with a text, a word that a
 * column never holds, seconds compared with bytes; and what unit an expression comes to.
 *
 * A tolerant reading of SQL: it finds these mistakes and leaves the grammar, and names inside of
 * subqueries, to SQLite, which sees every expression after it.  Private to rules/.
 */
#ifndef RULES_CHECK_H
#define RULES_CHECK_H

#include "rules/dimension.h"
#include "rules/engine.h"

/* Deepest nesting of an expression; SQLite's own limit here is of the same size. */
#define SQL_MAX_DEPTH 100

/* Of each result of a SELECT before the first '*': whether it is a text. */
struct texts {
	bool *items;
	ptrdiff_t count, cap;
};

/* What an expression may speak of beside the tables. */
struct sql_names {
	const struct table_def *table; /* its row; NULL for a SELECT */
	const struct rule_param *params;
	ptrdiff_t param_count;
	bool *uses;	      /* set for each of params that is met */
	struct reads *reads;  /* if given: columns of the row, outside of subqueries */
	struct reads *run;    /* if given: columns of the run that are in reach and were met */
	bool is_query;	      /* functions for queries by hand; no parameters */
	bool *has_subquery;   /* of an expression: set when it has one */
	bool *needs_baseline; /* set when it names a table of the baseline */
	bool *is_joining;     /* set when it makes long texts: puts some together, or writes one */
	struct texts *texts;  /* of a SELECT: which of its results are texts */
	struct dimension *dimension; /* of an expression: what it comes to */
};

/* What an expression is for: a condition, a number, or a text or number. */
enum sql_want { WANT_CONDITION, WANT_NUMBER, WANT_ANY };

bool check_expression(struct str sql, const struct sql_names *names, enum sql_want want,
	struct arena *keep, struct sql_fault *fault);
bool check_select(
	struct str sql, const struct sql_names *names, struct arena *keep, struct sql_fault *fault);
/* SQLite refuses this text at fault->at: the width of the token there, and what it may mean. */
void check_hint(
	struct str sql, const struct table_def *rows, struct arena *keep, struct sql_fault *fault);

#endif
