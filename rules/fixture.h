/*
 * Tests of rules: rows of tables, and the verdict that a rule must come to.
 *
 *     version: 1
 *     extends: recommended                     # begins with what these tests have in common
 *     usual:                                   # what a row of a table says if it says nothing else
 *       families: { role: step, recurs: 1 }
 *     given:                                   # every test begins with these rows
 *       run: { name: demo, step_time_s: 10 ms, step_mean_s: 10 ms }
 *       quality: [{ name: not-truncated, ok: 1 }]
 *     tests:
 *       copy-share:
 *         - fail: { run: { layout_copy_ratio: 9% } } # completes the given row
 *           fix: the order of dimensions       # what it advises then has this in it
 *         - name: with a check that does not hold
 *           inconclusive:
 *             quality: { name: x, ok: 0 }      # of other tables: one more row, or a list
 *             base_run: { step_time_s: 9 ms }  # of the baseline
 *
 * A rule that cannot fail finds nothing, so a test that passes can be turned bad: one value after
 * the other, then two at a time, becomes absurd until the rule says so (fixture_mutate).
 *
 * Refuses: reading files (the caller has the text), judging by itself (judge.h does).
 */
#ifndef RULES_FIXTURE_H
#define RULES_FIXTURE_H

#include "rules/judge.h"

#define FIXTURES_MAX	 10000 /* of one file: a thousand rules, ten tests each */
#define FIXTURE_ROWS_MAX 1000  /* of one test: more is a profile */

struct fixture {
	struct str rule, name; /* name: what is special about it, or missing */
	enum verdict expect;
	struct str fix; /* part of what its first finding advises; missing: anything */
	struct tables tables, base;
	bool has_base;
	ptrdiff_t given_rows[TABLE_COUNT]; /* the first rows of each table are everybody's */
	int64_t line;
};

struct fixture_set {
	struct fixture *items;
	ptrdiff_t count, cap;
};

bool fixtures_parse(struct str file, struct str text, const struct ruleset *rules,
	struct arena *keep, struct fixture_set *ret, struct diag *err);

/* What became of the fixture's rule, and what its first finding advises (missing: it has none). */
bool fixture_judge(const struct ruleset *rules, struct fixture *f, struct arena *keep,
	struct rule_result *ret, struct str *fix, struct diag *err);

/*
 * Whether some absurd value makes the rule fail or warn (a gate: inconclusive); *how
 * names the first found.  The fixture's rows are as before afterwards, and what each
 * try takes from `keep` is given back.
 */
bool fixture_mutate(const struct ruleset *rules, struct fixture *f, struct arena *keep,
	bool *is_red, struct str *how, struct diag *err);

#endif
