/*
 * Limits from a good run: what it had, and room for its own noise.
 */
#ifndef RULES_LIMITS_H
#define RULES_LIMITS_H

#include "measure/tables.h"

struct limit {
	struct str rule, param;
	double seen, value; /* in base units */
	struct str text;    /* the value as a rule file says it, rounded up */
	struct str seen_text;
};

/* The rule that `init` writes for the step time. */
#define STEP_TIME_RULE STR("step-time")

/*
 * Figures that are not known give no limit.  Returns how many there are.  *left_out (may be NULL)
 * names the rules whose limit would leave no room below all of a step, so that no run could break
 * it, and what was seen: "idle-gaps (97.0%)".  Missing when there are none.
 */
ptrdiff_t limits_of(
	const struct tables *t, struct arena *keep, struct limit **ret, struct str *left_out);

/* Whether limits_of has limits for this rule, where it finds room. */
bool limits_cover(struct str rule);

#endif
