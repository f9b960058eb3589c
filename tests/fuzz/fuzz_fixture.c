/* Tests of rules: read, judged, and turned bad. */
#include "rules/fixture.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/rules_text.h"

/* More judge no other code, and mutation tries all pairs of cells. */
enum { TESTS_JUDGED = 4, ROWS_MUTATED = 2 };

static bool is_small(const struct fixture *f)
{
	for (int id = 0; id < TABLE_COUNT; id++)
		if (f->tables.items[id].count > ROWS_MUTATED)
			return false;
	return true;
}

static void judge_tests(
	const struct ruleset *rules, struct fixture_set *set, struct arena *keep, struct diag *err)
{
	for (ptrdiff_t i = 0; i < set->count && i < TESTS_JUDGED; i++) {
		struct rule_result result;
		struct str how, fix;
		bool is_red;

		fixture_judge(rules, &set->items[i], keep, &result, &fix, err);
		if (is_small(&set->items[i]))
			fixture_mutate(rules, &set->items[i], keep, &is_red, &how, err);
	}
}

static void fuzz(struct str bytes, struct arena *keep)
{
	static const struct str rules =
		STR_INIT("version: 1\nrules:\n  a: { from: run, assert: steps > 1 }\n"
			 "  b: { from: ops, where: kind = 'copy', value: time_share, at_most: { "
			 "warn: 50% } }\n");
	struct diag err = { .id = DIAG_NONE };
	struct engine *engine = engine_new(&err);
	struct fixture_set set;
	struct ruleset ruleset;

	if (!engine || !ruleset_parse(engine, STR("r.yaml"), rules, keep, &ruleset, &err))
		abort();
	if (fixtures_parse(STR("t.yaml"), bytes, &ruleset, keep, &set, &err))
		judge_tests(&ruleset, &set, keep, &err);
	else if (err.id == DIAG_NONE || !err.text[0])
		abort();
	engine_free(engine);
}
