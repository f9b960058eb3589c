/*
 * The rule file as it was understood: resolved, every value with its origin, itself a valid file;
 * and as a JSON Schema, so that an editor completes and checks it: keys of rules with their
 * meaning, and the rules of a set with their titles and parameters.
 *
 * A schema describes shapes.  Refuses: what only loading can tell, such as whether a column exists.
 */
#ifndef RULES_PRINT_H
#define RULES_PRINT_H

#include "base/out.h"
#include "rules/ruleset.h"

void rules_print(const struct ruleset *set, struct arena *keep, struct out *o);
/* What judges, without origins and whom it tells: facts are compared only when it is the same. */
struct str rules_identity(const struct ruleset *set, struct arena *keep);
/* One rule of it alone, with what applies to it: gates, what matters, waivers. */
void rules_print_rule(
	const struct ruleset *set, const struct rule *rule, struct arena *keep, struct out *o);
void rules_schema(const struct ruleset *set, struct arena *keep, struct out *out);

#endif
