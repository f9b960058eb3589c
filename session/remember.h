/*
 * From what a batch judged to facts: who judged it, and a line or a store for each run.
 */
#ifndef SESSION_REMEMBER_H
#define SESSION_REMEMBER_H

#include "session/load.h"
#include "report/facts.h"

/*
 * Identity of whoever judges: rules as they were understood, options, version.  Facts of the same
 * judge can be compared, and need not be judged again.
 */
struct str judge_identity(
	const struct ruleset *rules, const struct read_settings *read, struct arena *keep);

/* The facts of each report, one after the other, in `scratch` which is cleared behind each. */
void remember_each(const struct report_set *set, struct str judge, run_facts_fn *take, void *arg,
	struct arena *scratch, struct diag *err, bool *ok);

#endif
