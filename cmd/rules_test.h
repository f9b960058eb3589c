/* rooflint rules test: the rule file against rows whose verdict is known. */
#ifndef CMD_RULES_TEST_H
#define CMD_RULES_TEST_H

#include "cmd/cmd.h"
#include "rules/ruleset.h"

struct test_settings {
	struct str tests, junit;
	bool mutate;
};

enum status rules_test(
	struct context *c, const struct test_settings *s, const struct ruleset *rules);

#endif
