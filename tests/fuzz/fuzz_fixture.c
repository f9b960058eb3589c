/* Tests of rules: read and judged. */
#include "rules/fixture.h"
#include "tests/fuzz/fuzz.h"

enum { TESTS_JUDGED = 4 }; /* more judge no other code */

static void fuzz(struct str bytes, struct arena *keep)
{
	static const struct str rules =
		STR_INIT("version: 1\nrules:\n  a: { from: run, assert: steps > 1 }\n"
			 "  b: { from: ops, where: kind = 'copy', value: time_share, at_most: { "
			 "warn: 50% } }\n");
	struct diag err = { .id = DIAG_NONE };
	struct engine *engine = engine_new(&err);
	struct fixture_set set;
	struct rule_result result;
	struct ruleset ruleset;

	if (!engine || !ruleset_parse(engine, STR("r.yaml"), rules, keep, &ruleset, &err))
		abort();
	if (fixtures_parse(STR("t.yaml"), bytes, &ruleset, keep, &set, &err))
		for (ptrdiff_t i = 0; i < set.count && i < TESTS_JUDGED; i++)
			fixture_judge(&ruleset, &set.items[i], keep, &result, &err);
	else if (err.id == DIAG_NONE || !err.text[0])
		abort();
	engine_free(engine);
}
