/*
 * What SQLite would let pass and a rule must not: a number compared with a text, a word that a
 * column never holds, seconds compared with bytes; and what unit an expression comes to.
 *
 * A tolerant reading of SQL: it finds these mistakes and leaves the grammar and names to SQLite,
 * which sees every expression after it; check_tell finds words for what SQLite then refuses.
 * Private to rules/.
 *
 * Refuses: what the rule language does without: comments, double-quoted names (which SQLite may
 * read as text), semicolons, unnamed parameters.
 */
#ifndef RULES_CHECK_H
#define RULES_CHECK_H

#include "base/unit.h"
#include "rules/engine.h"

/* Longest expression: a longer one cannot be reviewed. */
#define SQL_MAX_BYTES ((ptrdiff_t)16 << 10)
/* Deepest nesting of an expression; SQLite's own limit here is of the same size. */
#define SQL_MAX_DEPTH 100

/* What an expression comes to, as far as its columns and literals tell. */
enum dimension_kind {
	DIMENSION_ANY, /* a number or a text */
	DIMENSION_NULL,
	DIMENSION_TEXT,
	DIMENSION_NUMBER, /* from here on numbers */
	DIMENSION_BARE,	  /* as written: 1.5 takes the unit of its neighbour */
};

struct dimension {
	enum dimension_kind kind;
	enum unit unit; /* of a number; UNIT_NONE: it cannot be known */
};

/* A share of a whole, as it is called: 1 is all of it. */
bool column_is_share(const struct column *c);
/* Seconds and bytes never meet; shares, counts and flags are plain numbers among themselves. */
bool unit_fits(enum unit a, enum unit b);

/* What an expression may speak of beside the tables. */
struct sql_names {
	/* Its row, beside which columns of the run stand that it lacks; NULL for a SELECT. */
	const struct table_def *table;
	const struct rule *rule; /* whose; NULL: a query by hand, which has no parameters */
	/* Of a formula, which has neither tables nor parameters: what it may call; or NULL. */
	const struct sql_own_function *own;
};

/* What it speaks of, and what it comes to. */
struct sql_facts {
	bool *uses;		     /* for each parameter of the rule */
	struct reads reads;	     /* in order of first use, of subqueries, too */
	struct reads run_columns;    /* columns of the run that the row has none of */
	bool needs_baseline;	     /* it names a table of the baseline */
	bool is_joining;	     /* it makes long texts: puts some together, or writes one */
	struct dimension dimension;  /* of an expression */
	const struct column *column; /* that is all of the expression, or NULL */
	/* Of a SELECT: its results before the first '*'. */
	struct sql_results {
		struct sql_result {
			struct dimension dimension;
			struct str name;	     /* the last word of its expression */
			const struct column *column; /* that is all of the expression, or NULL */
		} * items;
		ptrdiff_t count, cap;
	} results;
};

/* Adds all but columns of a SELECT's rows, which are in no table. */
void reads_join(struct reads *to, const struct reads *more, struct arena *keep);

/* What an expression is for: a condition, a number, or a text or number. */
enum sql_want { WANT_CONDITION, WANT_NUMBER, WANT_ANY };

bool check_expression(struct str sql, const struct sql_names *names, enum sql_want want,
	struct arena *keep, struct arena scratch, struct sql_facts *ret, struct sql_fault *fault);
bool check_select(struct str sql, const struct sql_names *names, struct arena *keep,
	struct arena scratch, struct sql_facts *ret, struct sql_fault *fault);
/* There is no table of that name, and which one may be meant; SQL can name a baseline's. */
struct str tell_table(struct arena *keep, struct str name, bool is_sql);
/*
 * SQLite refuses this text at fault->at: the width of the token there and, where SQLite came as far
 * as names, what is wrong with this one and which one may be meant.
 */
void check_tell(struct str sql, const struct sql_names *names, struct arena *keep,
	struct arena scratch, struct sql_fault *fault);
/* A formula of a custom call's costs. */
bool check_formula(struct str sql, enum sql_want want, struct arena *keep, struct arena scratch,
	struct sql_fault *fault);

#endif
