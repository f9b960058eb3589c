/*
 * A finding: a subject that did not pass, put into words and numbers.  Private to rules/.
 */
#ifndef RULES_FINDING_H
#define RULES_FINDING_H

#include "rules/compile.h"

/* A row under judgement. */
struct subject {
	const struct rule *rule;
	struct rule_code *code;
	const void *row;		    /* laid out by code->rows */
	const struct tables *tables, *base; /* base: NULL without a baseline */
	struct arena *keep;
};

/*
 * `x` is the expression that was false, or unknown; its columns, which expression_reads has found
 * out, are the evidence.  Gains are left to the caller.
 */
void finding_fill(const struct subject *s, enum verdict verdict, const struct expression *x,
	bool is_unknown, struct finding *ret);
/* A cell as text; missing for NULL and for a table without that column. */
struct str subject_text(const struct subject *s, const struct column *c);

#endif
