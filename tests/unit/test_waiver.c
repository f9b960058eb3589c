/*
 * What excuses a finding or holds it back: waivers with ceiling and last day, confirmation by
 * earlier reports, and limits of their own for some workloads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "base/out.h"
#include "rules/fixture.h"
#include "tests/unit/rows.h"
#include "tests/unit/rules_text.h"

static struct arena keep;
static struct diag err;
static struct engine *engine;
static struct tables tables;
static struct judge_context context;
static struct judgement j;

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_RUN_BYTES);
	arena_clear(&keep);
	err = (struct diag){ .id = DIAG_NONE };
	engine = engine ? engine : engine_new(&err);
	tables = (struct tables){ 0 };
	rows_tell(&tables, &keep, "run name=r step_time_s=10 step_mean_s=10");
	context = (struct judge_context){ .today = STR("2026-06-30") };
	return !engine;
}

static int done(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

#define assert_str(s, z) assert_string_equal(arena_z(&keep, (s)), (z))

static bool load(const char *yaml, struct ruleset *set)
{
	return ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, set, &err);
}

static void judge_yaml(const char *yaml)
{
	struct ruleset set;

	if (!load(yaml, &set) || !judge(&set, &tables, &context, &keep, &j, &err))
		fail_msg("%s", err.text);
}

static void assert_verdict(const char *verdict)
{
	assert_str(verdict_name(j.results[0].verdict), verdict);
}

static void refuses(const char *yaml, const char *text)
{
	struct ruleset set;

	assert_false(load(yaml, &set));
	if (!str_contains(str_from(err.text), str_from(text)))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

#define RULES                                                                                      \
	"version: 1\n"                                                                             \
	"rules:\n"                                                                                 \
	"  share:\n"                                                                               \
	"    from: ops\n"                                                                          \
	"    value: time_share\n"                                                                  \
	"    at_most: 10%\n"                                                                       \
	"    gain: time_s\n"                                                                       \
	"    message: \"{name} takes {time_share:percent}, {fail} is allowed\"\n"
#define WAIVER(rest)                                                                               \
	RULES "waivers:\n"                                                                         \
	      "  - rule: share\n"                                                                  \
	      "    owner: perf-team\n"                                                             \
	      "    reason: on purpose\n"                                                           \
	      "    issue: PERF-12\n" rest
#define EMBED                                                                                      \
	WAIVER("    where: scope glob '*embed*'\n"                                                 \
	       "    at_most: 30%\n"                                                                \
	       "    expires: 2026-06-30\n")

/* ---- waivers ------------------------------------------------------------------------------ */

static void test_holds_on_its_last_day(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_share=0.3 time_s=1");
	judge_yaml(EMBED);
	assert_verdict("waived");
	assert_int_equal(j.verdict, VERDICT_PASS);
	assert_int_equal(j.waivers[0].subjects[EXCUSE_HOLDS], 1);
	assert_true(j.waivers[0].judged);
	assert_str(
		j.findings[0].note, "waived until 2026-06-30 by perf-team (PERF-12): on purpose");
	assert_true(j.gain_s == 0); /* nobody is asked to give it back */
}

/* A rule about the rest of the step does not ask for what is waived: 3 of 10 s. */
static void test_what_is_waived_is_explained(void **state)
{
	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a name=a scope=embed kind=compute time_share=0.3 time_s=3");
	rows_tell(
		&tables, &keep, "ops key=b name=b scope=head kind=compute time_share=0.2 time_s=2");
	table_rows(&tables, run)->roofline_ratio_lo = table_rows(&tables, run)->roofline_ratio_hi =
		0.2;
	const char *rest = "  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, "
			   "at_most: { warn: 10% }, gain: value, message: x }\n";
	const char *places =
		"  of-places: { from: run, value: 0.5, at_most: { warn: 10% }, gain: value, "
		"places: { from: ops, value: time_share }, message: x }\n";
	const char *waivers = "waivers:\n  - { rule: %s, owner: o, reason: r, expires: 2026-12-31, "
			      "where: scope = 'embed', at_most: 40%% }\n";
	struct out *o = out_memory(&keep);
	out_fmt(o, "%s%s", RULES, rest);
	out_fmt(o, waivers, "share");
	judge_yaml(arena_z(&keep, out_text(o)));
	assert_true(fabs(j.gain_s - 5) < 1e-9); /* 2 of the head, and 3 that no finding explains */
	o = out_memory(&keep);
	out_fmt(o, "version: 1\nrules:\n%s%s", places, rest);
	out_fmt(o, waivers, "of-places");
	judge_yaml(arena_z(&keep, out_text(o)));
	assert_true(fabs(j.gain_s - 5) < 1e-9); /* 2 of other places, and again 3 */
}

/* Two rules tell of one op, and both are waived: it explains its 3 s, not 5 s. */
static void test_what_is_waived_twice_is_explained_once(void **state)
{
	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a name=a scope=embed kind=compute time_share=0.3 time_s=3");
	table_rows(&tables, run)->roofline_ratio_lo = table_rows(&tables, run)->roofline_ratio_hi =
		0.2;
	judge_yaml(RULES
		"  again: { from: ops, value: time_share, at_most: 10%, gain: time_s * 2 / 3, "
		"message: x }\n"
		"  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, "
		"at_most: { warn: 10% }, gain: value, message: x }\n"
		"waivers:\n"
		"  - { rule: share, at_most: 40%, owner: o, reason: r, expires: 2026-12-31 }\n"
		"  - { rule: again, at_most: 40%, owner: o, reason: r, expires: 2026-12-31 }\n");
	assert_true(fabs(j.gain_s - 5) < 1e-9); /* of 8 */
}

/* One of several ops of a family is waived: together they still explain 4 of 8 s. */
static void test_waived_between_others_of_its_family(void **state)
{
	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a family=f name=a scope=head kind=compute time_share=0.2 time_s=2");
	rows_tell(&tables, &keep,
		"ops key=b family=f name=b scope=embed kind=compute time_share=0.15 time_s=1");
	rows_tell(&tables, &keep,
		"ops key=c family=f name=c scope=head kind=compute time_share=0.12 time_s=1");
	table_rows(&tables, run)->roofline_ratio_lo = table_rows(&tables, run)->roofline_ratio_hi =
		0.2;
	judge_yaml(RULES
		"  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, "
		"at_most: { warn: 10% }, gain: value, message: x }\n"
		"waivers:\n"
		"  - { rule: share, at_most: 40%, where: scope = 'embed', owner: o, reason: r, "
		"expires: 2026-12-31 }\n");
	assert_true(fabs(j.results[1].number.value - 0.4) < 1e-9);
}

/* A finding about the run explains 2 s, ops 2 s, and 3 s that are waived: 1 of 8 s is left. */
static void test_waived_op_beside_a_run(void **state)
{
	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a name=a scope=embed kind=compute time_share=0.3 time_s=3");
	rows_tell(
		&tables, &keep, "ops key=b name=b scope=head kind=compute time_share=0.2 time_s=2");
	table_rows(&tables, run)->roofline_ratio_lo = table_rows(&tables, run)->roofline_ratio_hi =
		0.2;
	judge_yaml(RULES
		"  slow: { from: run, value: 0.2, at_most: { warn: 10% }, gain: value, message: x "
		"}\n"
		"  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, "
		"at_most: { warn: 10% }, gain: value, message: x }\n"
		"waivers:\n"
		"  - { rule: share, at_most: 40%, where: scope = 'embed', owner: o, reason: r, "
		"expires: 2026-12-31 }\n");
	assert_true(fabs(j.results[2].number.value - 0.1) < 1e-9);
}

static void test_has_a_limit(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_share=0.31 time_s=1");
	judge_yaml(EMBED);
	assert_verdict("fail");
	assert_int_equal(j.waivers[0].subjects[EXCUSE_EXCEEDED], 1);
	assert_str(j.findings[0].note,
		"beyond what the waiver by perf-team (PERF-12) accepts: at most 30%");
}

static void test_expires(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_share=0.2 time_s=1");
	context.today = STR("2026-07-01");
	judge_yaml(EMBED);
	assert_verdict("fail");
	assert_int_equal(j.waivers[0].subjects[EXCUSE_EXPIRED], 1);
	assert_str(j.findings[0].note, "the waiver by perf-team (PERF-12) expired on 2026-06-30");
}

/* Without a day from outside it is that of the capture; without that, the waiver does not hold. */
static void test_day_of_the_capture(void **state)
{
	(void)state;
	context.today = (struct str){ NULL, 0 };
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_share=0.2 time_s=1");
	judge_yaml(EMBED);
	assert_verdict("fail");
	assert_int_equal(j.waivers[0].subjects[EXCUSE_UNDATED], 1);
	rows_tell(&tables, &keep, "run captured=2026-06-30T23:59:59Z");
	judge_yaml(EMBED);
	assert_verdict("waived");
	rows_tell(&tables, &keep, "run captured=2026-07-01T00:00:00Z");
	judge_yaml(EMBED);
	assert_verdict("fail");
}

static void test_speaks_of_its_rows_only(void **state)
{
	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a name=a scope=x/embed/y time_share=0.2 time_s=1\n"
		"ops key=b name=b scope=x/dense/y time_share=0.2 time_s=1\n"
		"ops key=c name=c time_share=0.2 time_s=1"); /* unknown scope: not excused */
	judge_yaml(EMBED);
	assert_verdict("fail");
	assert_int_equal(j.finding_count, 3);
	assert_int_equal(j.findings[0].verdict, VERDICT_FAIL);
	assert_int_equal(j.findings[1].verdict, VERDICT_FAIL);
	assert_str(j.findings[2].subject, "a");
	assert_int_equal(j.findings[2].verdict, VERDICT_WAIVED);
}

/* A value that is not known is within no limit; a rule without a value has waivers without one. */
static void test_limit_needs_a_value(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_s=1");
	judge_yaml(EMBED);
	assert_verdict("inconclusive");
	assert_int_equal(j.waivers[0].subjects[EXCUSE_UNKNOWN], 1);
	rows_tell(&tables, &keep, "ops key=a name=a time_share=0.2 time_s=1");
	judge_yaml(
		"version: 1\nrules:\n  a: { from: ops, where: time_share > 0, assert: time_share < "
		"0.1 }\nwaivers:\n"
		"  - { rule: a, owner: me, reason: known, expires: 2026-06-30 }\n");
	assert_verdict("waived");
}

/* Places that are waived leave the value and what it costs. */
static void test_places(void **state)
{
#define PLACED(limit)                                                                              \
	"version: 1\n"                                                                             \
	"rules:\n"                                                                                 \
	"  r:\n"                                                                                   \
	"    from: run\n"                                                                          \
	"    value: (select total(exposed_share) from collectives)\n"                              \
	"    at_most: { warn: 10%, fail: 20% }\n"                                                  \
	"    gain: value\n"                                                                        \
	"    places: { from: collectives, value: exposed_share }\n"                                \
	"waivers:\n"                                                                               \
	"  - { rule: r, where: scope glob '*embed*', at_most: " limit ", owner: me,\n"             \
	"      reason: on purpose, expires: 2026-06-30 }\n"
	(void)state;
	rows_tell(&tables, &keep,
		"collectives key=a name=a scope=x/embed exposed_share=0.15\n"
		"collectives key=b name=b scope=y/embed exposed_share=0.1\n"
		"collectives key=c name=c scope=mlp exposed_share=0.12");
	judge_yaml(PLACED("30%"));
	assert_verdict("warn"); /* 12% are left */
	assert_int_equal(j.waivers[0].subjects[EXCUSE_HOLDS], 1);
	assert_true(j.findings[0].value > 0.1199 && j.findings[0].value < 0.1201);
	assert_int_equal(j.findings[0].places.count, 1);
	assert_str(j.findings[0].places.items[0].name, "c");
	assert_null(j.findings[0].note.p);
	assert_int_equal(j.finding_count, 2); /* the others are told for themselves */
	assert_int_equal(j.findings[1].verdict, VERDICT_WAIVED);
	assert_true(j.findings[1].value > 0.2499 && j.findings[1].value < 0.2501);
	assert_int_equal(j.findings[1].places.count, 2);
	assert_str(j.findings[1].note, "waived until 2026-06-30 by me: on purpose");
	judge_yaml(PLACED("20%")); /* together they are 25% */
	assert_verdict("fail");
	assert_int_equal(j.waivers[0].subjects[EXCUSE_EXCEEDED], 1);
	assert_str(j.findings[0].note, "beyond what the waiver by me accepts: at most 20%");
	context.today = STR("2026-07-01");
	judge_yaml(PLACED("30%"));
	assert_verdict("fail");
	context.today = STR("2026-06-30");
	table_rows(&tables, collectives)[2].exposed_share = 0.05;
	judge_yaml(PLACED("30%"));
	assert_verdict("waived");
	assert_true(j.results[0].number.value > 0.0499 && j.results[0].number.value < 0.0501);
}

static void test_unused(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a scope=x/embed/y time_share=0.1 time_s=1");
	judge_yaml(EMBED);
	assert_verdict("pass");
	assert_true(j.waivers[0].judged);
	assert_int_equal(j.waivers[0].subjects[EXCUSE_HOLDS] +
				 j.waivers[0].subjects[EXCUSE_EXCEEDED] +
				 j.waivers[0].subjects[EXCUSE_EXPIRED],
		0);
}

static void test_waiver_mistakes(void **state)
{
	(void)state;
	refuses(WAIVER("    expires: 2027-01-31\n"), "share.waiver: a waiver has a limit: at_most");
	refuses(WAIVER("    at_least: 30%\n    expires: 2027-01-31\n"),
		"the rule's limit is at_most, and so is a waiver's");
	refuses(WAIVER("    at_most: 30\n    expires: 2027-01-31\n"), "did you mean 30%?");
	refuses(WAIVER("    at_most: 30 ms\n    expires: 2027-01-31\n"), "'30 ms' is a time");
	refuses(WAIVER("    at_most: 30%\n    expires: 2027-02-29\n"),
		"expires is a day, such as 2027-01-31");
	refuses(WAIVER("    at_mots: 30%\n"), "did you mean 'at_most'?");
	refuses(WAIVER("    where: time_shar < 1\n    at_most: 30%\n    expires: 2027-01-31\n"),
		"share.waiver.where: ");
	refuses(RULES "waivers:\n  - { rule: shares, at_most: 1%, owner: a, reason: b, "
		      "expires: 2027-01-31 }\n",
		"there is no rule 'shares' to waive; did you mean 'share'?");
	refuses("version: 1\nrules:\n  g: { group: evidence, from: run, assert: steps > 1 }\n"
		"waivers:\n  - { rule: g, owner: a, reason: b, expires: 2027-01-31 }\n",
		"evidence that is missing cannot be waived");
	refuses("version: 1\nrules:\n  g: { from: run, assert: steps > 1 }\n"
		"waivers:\n  - { rule: g, at_most: 5, owner: a, reason: b, expires: 2027-01-31 }\n",
		"its waiver has no limit");
	refuses(WAIVER("    at_least: 1%\n    at_most: 30%\n    expires: 2027-01-31\n"),
		"waiver: it has either at_most or at_least");
}

/* Each place has a bit for each waiver that speaks of it: one more is an error, not ignored. */
static void test_too_many_waivers_of_places(void **state)
{
	struct out *o = out_memory(&keep);

	(void)state;
	out_z(o, "version: 1\nrules:\n"
		 "  r: { from: run, value: mfu, at_most: 5%, places: { from: ops, value: mfu } }\n"
		 "waivers:\n");
	for (int i = 0; i < 65; i++)
		out_z(o, "  - { rule: r, where: mfu > 0, at_most: 5%, owner: a, reason: b, "
			 "expires: 2027-01-31 }\n");
	refuses(arena_z(&keep, out_text(o)), "more than 64 waivers of one rule with places");
}

/* ---- confirmation ------------------------------------------------------------------------- */

static struct finding found(enum verdict v, const char *rule, const char *subject, double seen)
{
	return (struct finding){
		.verdict = v, .rule = str_from(rule), .subject = str_from(subject), .seen = seen
	};
}

static void test_fails_when_confirmed(void **state)
{
	struct finding once[] = { found(VERDICT_WAIVED, "share", "a", 7),
		found(VERDICT_WARN, "share", "a", NAN), found(VERDICT_FAIL, "other", "a", 5) };
	const struct judgement nothing = { 0 },
			       previous = { .findings = once, .finding_count = COUNT_OF(once) };

	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a time_share=0.2 time_s=1");
	judge_yaml(RULES "    confirm: 2\n");
	assert_verdict("warn");
	assert_str(j.findings[0].note, "found in 1 of the 2 reports in a row after which it fails; "
				       "give the last one with --previous");
	context.previous = &nothing;
	judge_yaml(RULES "    confirm: 2\n");
	assert_verdict("warn");
	assert_int_equal(j.findings[0].seen, 1);
	context.previous = &previous;
	judge_yaml(RULES "    confirm: 2\n");
	assert_verdict("fail");
	assert_int_equal(j.findings[0].seen, 2);
	assert_false(j.findings[0].failed_before); /* it only warned */
	judge_yaml(RULES "    confirm: 3\n");
	assert_verdict("warn");
}

static void test_known_failure(void **state)
{
	struct finding before = found(VERDICT_FAIL, "share", "a", 4);
	const struct judgement previous = { .findings = &before, .finding_count = 1 };

	(void)state;
	rows_tell(&tables, &keep,
		"ops key=a name=a time_share=0.2 time_s=2\n"
		"ops key=b name=b time_share=0.2 time_s=1");
	context = (struct judge_context){ .previous = &previous };
	judge_yaml(RULES);
	assert_true(j.findings[0].failed_before);
	assert_int_equal(j.findings[0].seen, 5);
	assert_false(j.findings[1].failed_before);
}

/* ---- profiles ----------------------------------------------------------------------------- */

#define TUNED                                                                                      \
	RULES "profiles:\n"                                                                        \
	      "  - match: serve-*\n"                                                               \
	      "    rules: { share: { at_most: 25% } }\n"                                           \
	      "  - label: team=v*\n"                                                               \
	      "    rules: { share: { severity: warn } }\n"

static void test_tuned_by_name_and_label(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a time_share=0.2 time_s=1\nrun name=train");
	judge_yaml(TUNED);
	assert_verdict("fail");
	rows_tell(&tables, &keep, "run name=serve-7b");
	judge_yaml(TUNED);
	assert_verdict("pass");
	rows_tell(&tables, &keep, "run name=train labels=size=7b,team=audio");
	judge_yaml(TUNED);
	assert_verdict("fail");
	rows_tell(&tables, &keep, "run name=train labels=size=7b,team=vision");
	judge_yaml(TUNED);
	assert_verdict("warn");
	assert_str(j.findings[0].message, "a takes 20.0%, 10% is allowed");
}

/* A test judges its rule and the gates: changes of other rules are no mistakes then. */
static void test_tuned_in_a_fixture(void **state)
{
	static const char tests[] = "version: 1\ntests:\n"
				    "  other: [{ pass: { run: { name: serve-7b } } }]\n";
	struct ruleset set;
	struct fixture_set fixtures;
	struct rule_result result;
	struct str fix;

	(void)state;
	assert_true(load("version: 1\nrules:\n"
			 "  share: { from: ops, value: time_share, at_most: 10% }\n"
			 "  other: { from: run, assert: name is not null }\n"
			 "profiles:\n  - { match: serve-*, rules: { share: { at_most: 5% } } }\n",
		&set));
	assert_true(
		fixtures_parse(STR("t.test.yaml"), str_from(tests), &set, &keep, &fixtures, &err));
	assert_true(fixture_judge(&set, &fixtures.items[0], &keep, &result, &fix, &err));
	assert_int_equal(result.verdict, VERDICT_PASS);
	assert_int_equal(set.mistakes->count, 0);
}

/* Message and evidence say the limit that was applied. */
static void test_tuned_values_are_told(void **state)
{
	(void)state;
	rows_tell(&tables, &keep, "ops key=a name=a time_share=0.5 time_s=1\nrun name=serve-7b");
	judge_yaml(TUNED);
	assert_verdict("fail");
	assert_str(j.findings[0].message, "a takes 50.0%, 25% is allowed");
	assert_true(j.findings[0].evidence.items[1].value.real == 0.25);
}

static void test_tuning_mistakes(void **state)
{
	(void)state;
#define TUNE(what) RULES "profiles:\n  - { match: x, rules: { " what " } }\n"
	refuses(TUNE("shar: { severity: off }"), "there is no rule 'shar' to change");
	refuses(TUNE("share: { params: { limt: 1% } }"), "has no limit or parameter 'limt'");
	refuses(TUNE("share: { params: { at_mots: 1% } }"), "did you mean 'at_most'?");
	refuses(TUNE("share: { params: { at_mots.fail: 1% } }"), "did you mean 'fail'?");
	refuses(TUNE("share: { at_most: 1 ms }"), "share.at_most.fail is a ratio");
	refuses(TUNE("share: { at_least: 1% }"), "the limit of share is at_most");
	refuses(TUNE("share: { assert: '1' }"), "not 'assert'");
	refuses(RULES "profiles:\n  - rules: { share: { severity: off } }\n", "has match or label");
	refuses(RULES "profiles:\n  - { mach: x, rules: {} }\n", "did you mean 'match'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_holds_on_its_last_day, fresh),
		cmocka_unit_test_setup(test_what_is_waived_is_explained, fresh),
		cmocka_unit_test_setup(test_what_is_waived_twice_is_explained_once, fresh),
		cmocka_unit_test_setup(test_waived_between_others_of_its_family, fresh),
		cmocka_unit_test_setup(test_waived_op_beside_a_run, fresh),
		cmocka_unit_test_setup(test_has_a_limit, fresh),
		cmocka_unit_test_setup(test_expires, fresh),
		cmocka_unit_test_setup(test_day_of_the_capture, fresh),
		cmocka_unit_test_setup(test_speaks_of_its_rows_only, fresh),
		cmocka_unit_test_setup(test_limit_needs_a_value, fresh),
		cmocka_unit_test_setup(test_places, fresh),
		cmocka_unit_test_setup(test_unused, fresh),
		cmocka_unit_test_setup(test_waiver_mistakes, fresh),
		cmocka_unit_test_setup(test_too_many_waivers_of_places, fresh),
		cmocka_unit_test_setup(test_fails_when_confirmed, fresh),
		cmocka_unit_test_setup(test_known_failure, fresh),
		cmocka_unit_test_setup(test_tuned_by_name_and_label, fresh),
		cmocka_unit_test_setup(test_tuned_values_are_told, fresh),
		cmocka_unit_test_setup(test_tuned_in_a_fixture, fresh),
		cmocka_unit_test_setup(test_tuning_mistakes, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, done);
}
