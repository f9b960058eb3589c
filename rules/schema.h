/*
 * The JSON Schema of a rule file, so that an editor completes and checks it: keys of rules with
 * their meaning, and the rules of a set with their titles and parameters.
 *
 * It describes shapes.  Refuses: what only loading can tell, such as whether a column exists.
 */
#ifndef RULES_SCHEMA_H
#define RULES_SCHEMA_H

#include "base/out.h"
#include "rules/ruleset.h"

void rules_schema(const struct ruleset *set, struct arena *keep, struct out *out);

#endif
