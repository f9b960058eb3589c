/*
 * Limits from runs: what each rule's number was, and room for its noise.
 *
 * Refuses: limits for what a run breaks, or for what could not be judged; those are listed by name.
 */
#ifndef RULES_LIMITS_H
#define RULES_LIMITS_H

#include "rules/judge.h"

/* A warning's and a failure's. */
enum { LIMIT_WARN, LIMIT_FAIL, LIMITS };

struct limit {
	const struct rule *rule;
	enum verdict worst; /* of the runs; not applicable weighs less than any other */
	enum unit unit;
	bool at_least;
	double seen[LIMITS];	 /* the worst numbers; NaN: not known, or any limit would do */
	double now[LIMITS];	 /* the limits; NaN: none */
	double value[LIMITS];	 /* with room for noise; NaN: none that is tighter */
	struct str text[LIMITS]; /* as a rule file says it */
	struct str seen_text, now_text; /* of the failure, else of the warning */
	bool is_explained; /* a backstop of a run with findings: what is left says nothing */
};

struct limits {
	const struct ruleset *rules;
	struct limit *items; /* one for each rule that has limits, gates aside */
	ptrdiff_t count, runs;
	double noise;  /* the largest of the runs', of the step time */
	double step_s; /* the longest; NaN: none */
};

void limits_begin(struct limits *l, const struct ruleset *rules, struct arena *keep);
/* `tables` are of the run that was judged. */
void limits_add(struct limits *l, const struct judgement *j, const struct tables *tables);
void limits_end(struct limits *l, struct arena *keep);

/* The runs are worse than this limit allows; of a limit or a number that is not known, false. */
bool limit_is_broken(const struct limit *l, int which);
/* The median step of the runs is known well enough for a limit on times. */
bool limits_are_known(const struct limits *l);
/* A step time with room: warn at the first, fail at the second; false when none is known. */
bool limits_of_step(const struct limits *l, struct arena *keep, struct str ret[LIMITS]);

#endif
