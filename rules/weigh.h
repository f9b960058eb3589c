/*
 * What the subjects of a rule come to together.
 *
 * Costs are shares of the step, or of the memory's capacity.  They add up within a pool of the
 * step, which gives back no more than it holds; of chips that work side by side the worst counts;
 * and all of a step is the most.  Private to rules/.
 */
#ifndef RULES_WEIGH_H
#define RULES_WEIGH_H

#include "rules/credit.h"

/* How far beyond its limits. */
enum level { LEVEL_OK, LEVEL_NEAR, LEVEL_FAR };

/* What is known of a subject leaves its level and its cost between two ends. */
struct weight {
	enum level level;
	bool can_fail;
	double cost; /* infinite: limits alone decide */
};

struct subject;
struct weighed {
	double value; /* NaN: not known, or an assert */
	struct weight least, most;
	int32_t chip; /* of those that work side by side; -1: none */
	enum pool pool;
	bool is_waived;
	struct subject *subject; /* NULL: beyond no limit, and nothing open */
};

struct scale {
	double pools[POOL_COUNT];    /* as shares */
	int32_t chips;		     /* that the rule's rows are of */
	double warn, fail, together; /* what matters; together is infinite where there is no such */
	bool can_fail;		     /* the rule has a failure limit or an assert */
	bool at_least;
};

/*
 * PASS, WARN or FAIL if all unknowns turn out best, or all worst.  *together: the findings that may
 * fail cost so much together that all of them fail.
 */
enum verdict weigh(const struct weighed *subjects, ptrdiff_t count, const struct scale *s,
	bool at_worst, struct arena scratch, double *cost, bool *together);
/*
 * The smallest limit at which what lies beyond it would cost less than `matter`; of subjects that
 * can fail only, if so asked.  NaN: any limit would do.
 */
double weigh_number(const struct weighed *subjects, ptrdiff_t count, const struct scale *s,
	double matter, bool of_failures, struct arena scratch);

#endif
