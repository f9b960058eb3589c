/*
 * A rule compiled: one statement that measures every row, one that lists its places, and what each
 * expression reads.
 *
 * Every expression is checked alone: its parentheses and quotes are closed and it is a single one,
 * which is why pasting them into one statement is safe.  SQLite sees an expression apart from the
 * others only when it is asked where the statement is wrong, or what the expression reads.  Private
 * to rules/.
 */
#ifndef RULES_COMPILE_H
#define RULES_COMPILE_H

#include "rules/check.h"
#include "rules/message.h"

struct expression {
	const struct rule_text *source; /* where it is written; NULL: the rule has no such one */
	struct str text;
	ptrdiff_t at;	 /* of the text in its source */
	const char *key; /* of the rule, for messages */
	enum sql_want want;
	int result; /* its column, counted from first_result */
	struct sql_facts facts;
	bool is_wrong; /* its mistake was reported */
};

/* What a statement lists: rows of a table or of a SELECT, and expressions over them. */
struct listing {
	/*
	 * The table whose rows are listed, or one made up for a SELECT, whose rows are copied out
	 * of the result.
	 */
	const struct table_def *rows;
	const struct rule_text *select; /* NULL: a table's */
	struct str source; /* what it selects from: the table, or a SELECT in parentheses */
	struct str head;   /* columns of the row itself: its id, or all of a SELECT */
	struct str from;   /* the same with the run's columns that are in reach */
	/* (head), results; the engine's; NULL: not asked for yet */
	sqlite3_stmt *stmt;
	int first_result;
	struct expression **all; /* by result */
	ptrdiff_t result_count, cap;
	struct expression *where;
	struct reads of_select;	  /* what the SELECT reads */
	struct reads run_columns; /* of all its expressions */
	bool is_joining;	  /* it makes long texts, which costs */
	/* Columns of `rows` that say what and where a subject is; NULL when it has none such. */
	const struct column *key, *name, *family, *kind, *scope, *source_file, *source_line,
		*user_file, *user_line, *host, *device, *module, *role, *recurs, *window_share,
		*share, *pool_share, *waited_share, *unneeded_share, *tells;
};

struct advice_code {
	struct expression *when; /* NULL: always */
	struct template text;
};

struct waiver_code {
	const struct waiver *waiver;
	struct expression where; /* of the places where the rule has such, else of the subjects */
};

struct rule_code {
	struct listing subjects, places; /* places: of a rule that has such */
	struct listing texts;		 /* over one row of the subjects', bound as @c0, @c1 ... */
	struct compiler *later;		 /* of places and texts; NULL: they are compiled */
	bool needs_baseline;		 /* it compares: without a baseline it does not apply */
	struct expression where, value, unclear, assert, can_fail, gain;
	struct expression place_where, place_value;
	struct waiver_code *waivers; /* as many as the rule has */
	struct template message;
	struct advice_code *cause, *fix, *only_warns; /* as many as the rule has */
	enum unit unit;				      /* of the value */
	bool is_share;	  /* gain: value; its limits alone say what it costs */
	bool is_bytes;	  /* the gain is */
	bool is_backstop; /* asks for :explained, so it is judged last */
};

struct compiler {
	struct ruleset *set;
	struct engine *engine;
	struct rule *rule;
	struct rule_code *code;
	struct arena *keep;
	struct diag *err;
	bool ok;
};
/* A fault in the text of `origin`'s node, with "<rule>.<key>: " in front.  Always false. */
bool rule_fault(struct compiler *c, const char *key, const struct origin *origin,
	const struct sql_fault *fault);
/* Of a text: an expression so many bytes into it, or NULL and a fault. */
struct expression *text_expression(struct compiler *c, const struct rule_text *source,
	const char *key, struct str sql, ptrdiff_t at, struct sql_fault *fault);

/* Fills rule->code, or notes its mistakes, with carets into the rule file. */
void rule_compile(struct ruleset *set, struct rule *rule, struct arena *keep, struct diag *err);
/*
 * The places and texts of a rule that is wholly as it ships are compiled when a row that may be
 * beyond a limit first wants them: few rules find anything, and tests have seen all of it.  Only
 * memory can run out here: then it returns false, and err says so.
 */
bool rule_rest_want(const struct rule *rule, struct diag *err);

/* Its statement, when it is first wanted; false and a fault that no rule is to blame for. */
bool listing_prepare(
	struct engine *e, struct listing *l, struct arena *keep, struct sql_fault *fault);

int result_column(const struct listing *l, const struct expression *x);
/* Of the current row; NaN for NULL, a text, an infinity, a NaN, or what the rule does not have. */
double number_of(const struct listing *l, const struct expression *x);

#endif
