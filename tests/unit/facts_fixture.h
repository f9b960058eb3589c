/* Facts for tests of store/ and of what is asked of it. */
#ifndef TESTS_UNIT_FACTS_FIXTURE_H
#define TESTS_UNIT_FACTS_FIXTURE_H

#include "store/facts.h"

/* A run of eight chips with one rule that failed; sealed. */
static inline struct run_facts fixture_run(
	struct arena *keep, struct str workload, struct str captured, double step_time_s)
{
	struct run_facts f;
	run_facts_clear(&f);
	f.workload = workload;
	f.captured = captured;
	f.captured_source = STR("profile");
	f.profile = arena_fmt(keep, "%.*s/%.*s", STR_ARG(workload), STR_ARG(captured));
	f.run = f.profile;
	f.judge = STR("judge");
	f.tool = STR("0");
	f.rules = STR("recommended");
	f.chip = STR("tpu_v5e");
	f.owner = STR("team \"a\"");
	f.verdict = STR("fail");
	f.chips = 8;
	f.step_time_s = f.step_mean_s = step_time_s;
	f.gain_s = step_time_s / 4;
	f.roofline_ratio_lo = 0.5 / step_time_s; /* the same work, however long it takes */
	struct rule_facts *rule = run_facts_add(&f, FACT_RULES, keep);
	rule->rule = STR("copy-share");
	rule->title = STR("Copies are cheap");
	rule->verdict = STR("fail");
	rule->gain_s = f.gain_s;
	rule->findings = 1;
	run_facts_seal(&f, keep);
	return f;
}

#endif
