/*
 * A finding: a subject that did not pass, put into words and numbers.  Private to rules/.
 */
#ifndef RULES_FINDING_H
#define RULES_FINDING_H

#include "rules/compile.h"
#include "rules/waiver.h"

/* A row that was judged. */
struct subject {
	const struct rule *rule;
	struct rule_code *code;
	const void *row;		    /* laid out by code->subjects.rows */
	const struct tables *tables, *base; /* base: NULL without a baseline */
	struct arena *keep;
	double value; /* NaN: not known, or an assert */
	double unclear, explained;
	double gain; /* seconds per step, bytes, or a share; NaN: none, or not known */
	struct expression *fault, *open;  /* what was broken; what is not known; or NULL */
	const struct extra *extras;	  /* of its texts */
	const struct found_place *places; /* the largest first, PLACES_KEPT at most */
	ptrdiff_t place_count, places_left_out;
	enum excuse excuse;
	const struct waiver *waiver;
	bool is_known; /* it failed in the report before, too */
	int64_t seen;
};

/* Its columns, which expression_reads has found out, are the evidence.  Credit is the caller's. */
void finding_fill(
	const struct subject *s, enum verdict verdict, struct engine *e, struct finding *ret);
/* A cell as text; missing for NULL and for a table without that column. */
struct str row_text(const struct column *c, const void *row, struct arena *keep);
/* The place that a row of the places' listing stands for. */
void place_fill(const struct listing *l, const void *row, double value, struct arena *keep,
	struct found_place *ret);

#endif
