/*
 * A rule compiled: one statement that judges every row, and what each expression reads.
 *
 * Every expression is checked and prepared alone and whole, which gives it its own caret and its
 * own evidence, and is why pasting them into one statement afterwards is safe.  Private to rules/.
 */
#ifndef RULES_COMPILE_H
#define RULES_COMPILE_H

#include "rules/message.h"

struct expression {
	const struct rule_text *source; /* NULL when the rule has no such expression */
	int result;			/* its column in the statement's result */
	struct reads reads;		/* columns it reads, of the row and of other tables */
	const struct rule_param **params;
	ptrdiff_t param_count;
};

struct rule_code {
	/*
	 * The table whose rows are subjects: rule->from, or one made up for a SELECT, whose rows
	 * are copied out of the result.
	 */
	const struct table_def *rows;
	bool needs_baseline; /* it compares: without a baseline it does not apply */
	struct str sql; /* (row id | columns of the SELECT), where, warn, assert, gain, waivers */
	struct expression where, warn, assert, gain;
	struct waiver_code *waivers; /* rules/waiver.h; as many as the rule has */
	struct template message;
	/* Columns of `rows` that say what and where a subject is; NULL when it has none such. */
	const struct column *key, *name, *family, *kind, *scope, *source_file, *source_line,
		*user_file, *user_line;
};

/* Fills rule->code, or reports with a caret into the rule file. */
bool rule_compile(struct engine *e, struct rule *rule, struct arena *keep, struct diag *err);

#endif
