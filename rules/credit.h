/*
 * Crediting recoverable time: each second once.
 *
 * Findings claim seconds per step.  Their sum would count one slow all-gather under three rules
 * and promise more than a step lasts, so claims are credited in this order:
 *
 *   1. Findings about ops (also gaps, transfers, compilations) before those about devices, before
 *      those about the whole run; larger claims first.
 *   2. Claims of one family within a pool are one claim: the rule that claims most for it gets it.
 *   3. What was credited in a pool for ops is taken off the claims about devices, and what was
 *      credited for both off the claims about the run: those look at the same seconds from above.
 *   4. A pool gives back no more than it holds, and all together no more than step minus ideal.
 *
 * Refuses: verdicts.  Private to rules/.
 */
#ifndef RULES_CREDIT_H
#define RULES_CREDIT_H

#include "rules/judge.h"

struct claim {
	ptrdiff_t finding; /* index */
	enum pool pool;
	int level;	   /* 0 ops, 1 devices, 2 the run */
	struct str family; /* what is credited once: the row's family, else its key */
	double seconds;	   /* NaN: none */
};

/* Level and, where that is auto, pool of a row of `table`; `kind`: only where it has one. */
void claim_place(struct claim *c, const struct table_def *table, struct str kind);

/* Sets gain_s of the findings named by claims and returns their sum. */
double credit(const struct tables *tables, struct claim *claims, ptrdiff_t count,
	struct finding *findings, struct arena *keep);

#endif
