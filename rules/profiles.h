/*
 * Retuning by workload: the same rules with other limits where a job is known to differ.
 *
 *     profiles:
 *       - match: serve-*               # a glob over the run's name
 *         rules:
 *           idle: { severity: off }
 *       - label: team=vision           # one of the run's labels, a glob too
 *         rules:
 *           copy-share: { at_most: { fail: 12% } }
 *
 * Later entries win.  Only what needs no new expression can be changed: limits, parameters, what
 * matters, severity, required, confirm and min_subjects.  Private to rules/.
 */
#ifndef RULES_PROFILES_H
#define RULES_PROFILES_H

#include "rules/parse.h"

#define PROFILES_MAX 1000 /* each is matched against every run */

/* Once all rules are known: whether every entry could be applied. */
bool profiles_check(const struct ruleset *set, struct arena *keep, struct diag *err);
/* The set as it is for this run; the same one when no entry matches. */
const struct ruleset *profiles_apply(
	const struct ruleset *set, const struct tables *tables, struct arena *keep);

#endif
