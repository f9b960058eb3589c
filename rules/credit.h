/*
 * Crediting recoverable time: each second once.
 *
 * Findings claim seconds per step.  Their sum would count one slow all-gather under three rules
 * and promise more than a step lasts, so claims are credited in this order:
 *
 *   1. Findings about ops (also gaps, transfers, compilations) before those about devices, before
 *      those about the whole run; larger claims first.
 *   2. What rules claim for one family within a pool are the same seconds, as many as the rule that
 *      claims most has.  Claims of no pool have nothing in common.
 *   3. What was credited in a pool for ops is taken off the claims about devices, and what was
 *      credited for both off the claims about the run: those look at the same seconds from above.
 *   4. A change against a baseline comes last, and is credited with what it lost beyond all
 *      that was credited before: those may be the same seconds.
 *   5. A pool gives back no more than it holds, and all together no more than the step takes beyond
 *      its ideal and beyond what its programs need at least (predicted_step_s: links need theirs,
 *      also where compute hides them).  Work that a fix takes away has no ideal: unneeded_s of it
 *      come on top.
 *
 * A device that is slow or idle costs the step all of its delay, and the pool of communication what
 * the others wait meanwhile.  Such claims come first on their level: they are why the others wait.
 *
 * Refuses: verdicts.  Private to rules/.
 */
#ifndef RULES_CREDIT_H
#define RULES_CREDIT_H

#include "rules/judge.h"

/*
 * Which part of a step a rule's gain would give back.  A second of a pool is credited once, and a
 * pool gives back no more than it holds.
 */
enum pool {
	POOL_NONE, /* not of the step */
	POOL_COMPUTE,
	POOL_UPDATE, /* in-place updates */
	POOL_COPY,
	POOL_COMMS,
	POOL_TRANSFER,
	POOL_IDLE,
	POOL_COUNT
};

enum { LEVEL_CHANGE = 3 };

struct claim {
	ptrdiff_t finding; /* index */
	enum pool pool;
	int level;	   /* 0 ops, 1 devices, 2 the run, LEVEL_CHANGE */
	struct str family; /* what is credited once: the row's family, else its key */
	double seconds;	   /* known */
	bool is_waived;	   /* of what others of its level leave; gives nothing back */
	/* What a second of it takes, as a mean over the devices: of the pool, and of communication,
	 * in which the others wait. */
	double share, waited;
	double unneeded_s; /* ideal time of work that its fix takes away; 0: none */
};

/* Of a row of `table`: POOL_NONE where neither the table nor the row's kind says. */
enum pool pool_of_row(const struct table_def *table, struct str kind);
/* Of what rules of a group are about. */
enum pool pool_of_group(enum group_id group);
int claim_level(const struct table_def *table);
/* Seconds per step in each pool; infinite where the profile does not tell. */
void pools_fill(const struct tables *tables, double pools[POOL_COUNT]);

/*
 * Sets gain_s and shared_s of findings named by claims; returns the sum, with what is waived.  What
 * is explained is all that communication takes, also what its links need.
 */
double credit(const struct tables *tables, bool is_explaining, struct claim *claims,
	ptrdiff_t count, struct finding *findings, struct arena *keep);

#endif
