/*
 * A rule compiled: one statement that judges every row, and what each expression reads.
 *
 * Every expression is checked alone: its parentheses and quotes are closed and it is a single one,
 * which is why pasting them into one statement is safe.  SQLite sees an expression apart from the
 * others only when it is asked where the statement is wrong, or what the expression reads.  Private
 * to rules/.
 */
#ifndef RULES_COMPILE_H
#define RULES_COMPILE_H

#include "rules/message.h"

struct expression {
	const struct rule_text *source; /* NULL when the rule has no such expression */
	const char *key;		/* of the rule, for messages */
	int result;			/* its column, counted from first_result */
	struct reads reads;		/* see expression_reads */
	bool is_asked;			/* whether `reads` is filled */
	bool has_subquery;
	bool is_open; /* it says null itself, where pass and fail are open */
	bool *uses;   /* for each parameter of the rule */
};

struct rule_code {
	/*
	 * The table whose rows are subjects: rule->from, or one made up for a SELECT, whose rows
	 * are copied out of the result.
	 */
	const struct table_def *rows;
	bool needs_baseline; /* it compares: without a baseline it does not apply */
	bool is_joining;     /* it makes long texts, which costs */
	/* (row id | columns of the SELECT), where, warn, assert, gain, waivers; the engine's. */
	sqlite3_stmt *stmt;
	int first_result, result_count;
	struct str from; /* what it selects from: the table, or the SELECT in parentheses */
	struct expression where, warn, assert, gain;
	struct expression **all;     /* those that the rule has, its waivers' too: by result */
	struct waiver_code *waivers; /* rules/waiver.h; as many as the rule has */
	struct template message;
	/* Columns of `rows` that say what and where a subject is; NULL when it has none such. */
	const struct column *key, *name, *family, *kind, *scope, *source_file, *source_line,
		*user_file, *user_line;
};

/* Fills rule->code, or reports with a caret into the rule file. */
bool rule_compile(struct engine *e, struct rule *rule, struct arena *keep, struct diag *err);

/*
 * The columns that an expression reads, of the row and of other tables, in order of first use; of a
 * SELECT's row only.  Found out once, when a finding has to show them, and kept with the engine.
 */
const struct reads *expression_reads(
	struct engine *e, const struct rule *rule, struct expression *x);

#endif
