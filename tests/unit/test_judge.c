/*
 * rules/judge: every verdict and what leads to it, three-valued logic, evidence, messages, gates,
 * credits, what SQL is allowed and what it may cost.  rules/recommended.test.yaml tests the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/out.h"
#include "base/text.h"
#include "rules/engine.h"
#include "rules/judge.h"
#include "tests/unit/rows.h"
#include "tests/unit/rules_text.h"

static struct arena keep;
static struct diag err;
static struct ruleset set;
static struct tables tables;
static struct engine *engine;
static struct judgement j;
static struct judge_context context;

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_RUN_BYTES);
	arena_clear(&keep);
	err = (struct diag){ .id = DIAG_NONE };
	tables = (struct tables){ 0 };
	context = (struct judge_context){ 0 };
	engine = engine_new(&err);
	return !engine;
}

static int done(void **state)
{
	(void)state;
	engine_free(engine);
	return 0;
}

#define assert_str(s, z) assert_string_equal(arena_z(&keep, (s)), (z))

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * fabs(b) + 1e-15))
		fail_msg("%.17g is not %.17g", a, b);
}

static void add(const char *lines)
{
	rows_tell(&tables, &keep, lines);
}

/* ---- judging ------------------------------------------------------------------------------ */

static void judge_set(void)
{
	if (!judge(&set, &tables, &context, &keep, &j, &err))
		fail_msg("%s", err.text);
}

static void judge_yaml(const char *yaml)
{
	if (!ruleset_parse(engine, STR("t.yaml"), str_from(yaml), &keep, &set, &err))
		fail_msg("%s", err.text);
	judge_set();
}

#define HEAD                                                                                       \
	"version: 1\n"                                                                             \
	"rules:\n"
#define RULE                                                                                       \
	HEAD "  r:\n"                                                                              \
	     "    from: ops\n"

static const struct rule_result *result(const char *rule)
{
	for (ptrdiff_t i = 0; i < j.result_count; i++)
		if (str_eq(j.results[i].name, str_from(rule)))
			return &j.results[i];
	fail_msg("no rule %s", rule);
	return NULL;
}

static const struct finding *finding(const char *rule, const char *subject)
{
	for (ptrdiff_t i = 0; i < j.finding_count; i++)
		if (str_eq(j.findings[i].rule, str_from(rule)) &&
			str_eq(j.findings[i].subject, str_from(subject)))
			return &j.findings[i];
	fail_msg("no finding %s %s", rule, subject);
	return NULL;
}

static void assert_verdict(const char *rule, enum verdict v)
{
	const struct rule_result *r = result(rule);

	if (r->verdict != v)
		fail_msg("%s is %s (%s)", rule, arena_z(&keep, verdict_name(r->verdict)),
			arena_z(&keep, r->reason));
}

/* ---- one rule ----------------------------------------------------------------------------- */

static void pass_and_fail(void **state)
{
	(void)state;
	add("ops name=a key=ka kind=matmul p50_s=1\n"
	    "ops name=b key=kb kind=matmul p50_s=3\n"
	    "ops name=c key=kc kind=copy p50_s=9\n");
	judge_yaml(RULE "    where: kind = 'matmul'\n    assert: p50_s <= 2\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(result("r")->subjects, 2);
	assert_int_equal(result("r")->unknown, 0);
	assert_int_equal(j.finding_count, 1);
	assert_int_equal(j.findings[0].verdict, VERDICT_FAIL);
	assert_str(j.findings[0].subject, "kb");
	assert_str(j.findings[0].name, "b");
	assert_str(j.findings[0].message, "b: this does not hold: p50_s <= 2");
	assert_int_equal(j.verdict, VERDICT_FAIL);
	judge_yaml(RULE "    where: kind = 'matmul'\n    assert: p50_s <= 5\n");
	assert_verdict("r", VERDICT_PASS);
	assert_int_equal(j.finding_count, 0);
	assert_int_equal(j.verdict, VERDICT_PASS);
}

static void warnings(void **state)
{
	(void)state;
	add("ops key=a p50_s=1\nops key=b p50_s=3\nops key=c p50_s=9\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s, fail: 5 s }\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(finding("r", "b")->verdict, VERDICT_WARN);
	assert_int_equal(finding("r", "c")->verdict, VERDICT_FAIL);
	assert_near(finding("r", "c")->value, 9);
	assert_str(finding("r", "c")->message, "c: p50_s is 9.00 s");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s }\n");
	assert_verdict("r", VERDICT_WARN);
	assert_int_equal(j.finding_count, 2);
	assert_int_equal(j.verdict, VERDICT_WARN);
	/* At a limit is within it, and limits may be lower ones. */
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 9 s }\n");
	assert_verdict("r", VERDICT_PASS);
	judge_yaml(RULE "    value: p50_s\n    at_least: { warn: 4 s, fail: 2 s }\n");
	assert_int_equal(finding("r", "a")->verdict, VERDICT_FAIL);
	assert_int_equal(finding("r", "b")->verdict, VERDICT_WARN);
	assert_int_equal(j.finding_count, 2);
	/* Demoted: nothing fails. */
	judge_yaml(RULE
		"    value: p50_s\n    at_most: { warn: 2 s, fail: 5 s }\n    severity: warn\n");
	assert_verdict("r", VERDICT_WARN);
	assert_int_equal(finding("r", "c")->verdict, VERDICT_WARN);
}

static void nothing_to_judge(void **state)
{
	(void)state;
	judge_yaml(RULE "    where: kind = 'copy'\n    assert: p50_s <= 2\n");
	assert_verdict("r", VERDICT_NOT_APPLICABLE);
	assert_str(result("r")->reason, "the profile has no ops");
	add("ops key=a kind=matmul p50_s=1\n");
	judge_yaml(RULE "    where: kind = 'copy'\n    assert: p50_s <= 2\n");
	assert_verdict("r", VERDICT_NOT_APPLICABLE);
	assert_str(result("r")->reason, "no row of ops (of 1) is one that this rule judges");
	/* A run in which no rule applied has not passed. */
	assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
	judge_yaml(RULE "    where: kind = 'copy'\n    assert: p50_s <= 2\n    min_subjects: 1\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(result("r")->reason, "no row of ops (of 1) is one that this rule judges");
	judge_yaml(RULE "    assert: p50_s <= 2\n    min_subjects: 3\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(result("r")->reason, "1 of at least 3 subjects found");
	judge_yaml(RULE "    assert: p50_s > 2\n    min_subjects: 3\n");
	assert_verdict("r", VERDICT_FAIL);
}

static void switched_off(void **state)
{
	(void)state;
	add("ops key=a p50_s=1\n");
	judge_yaml(RULE "    assert: p50_s > 2\n    severity: off\n");
	assert_verdict("r", VERDICT_OFF);
	assert_str(result("r")->reason, "switched off in t.yaml, line 6");
	assert_int_equal(j.finding_count, 0);
}

/* ---- unknown ------------------------------------------------------------------------------ */

static void unknown_where(void **state)
{
	(void)state;
	add("ops key=a name=x kind=matmul p50_s=1\n"
	    "ops key=b name=y kind=matmul time_share=0.5 p50_s=1\n"
	    "ops key=c name=z kind=copy\n");
	judge_yaml(RULE "    where: kind = 'matmul' and time_share > 0.1\n    assert: p50_s < 2\n");
	assert_verdict("r", VERDICT_PASS); /* a is good, be it a subject or not */
	add("ops key=a name=x kind=matmul p50_s=3\n");
	judge_yaml(RULE "    where: kind = 'matmul' and time_share > 0.1\n    assert: p50_s < 2\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_int_equal(result("r")->subjects, 1);
	assert_int_equal(result("r")->unknown, 1); /* false and NULL is false: c is none */
	assert_int_equal(finding("r", "a")->verdict, VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "a")->missing, "time_share");
	assert_str(finding("r", "a")->message, "the profile does not say \"share of the "
					       "steady-step time of all devices\"");
	assert_str(result("r")->reason, "the profile does not say \"share of the "
					"steady-step time of all devices\"");
	assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
}

static void unknown_assert(void **state)
{
	(void)state;
	add("ops key=a\nops key=b p50_s=1 lo_s=1\n");
	judge_yaml(RULE "    assert: p50_s < 2 and lo_s < 2 and 1 = 1\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "a")->missing, "p50_s, lo_s");
	assert_int_equal(result("r")->subjects, 2);
	assert_int_equal(result("r")->unknown, 1);
	/* Known to be false whatever the unknown is. */
	add("ops key=c p50_s=5\n");
	judge_yaml(RULE "    assert: p50_s < 2 and lo_s < 2\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(finding("r", "c")->verdict, VERDICT_FAIL);
	assert_int_equal(j.finding_count, 1);
	assert_int_equal(result("r")->unknown, 1);
}

static void unknown_warn(void **state)
{
	(void)state;
	add("ops key=a p50_s=1\n");
	judge_yaml(RULE "    value: lo_s\n    at_most: { warn: 2 s }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "a")->missing, "lo_s");
	assert_true(isnan(finding("r", "a")->value));
}

/* An unknown subject outweighs a warning, and a failure outweighs it. */
static void weights_within_a_rule(void **state)
{
	(void)state;
	add("ops key=a p50_s=1\nops key=b p50_s=3\nops key=c\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s, fail: 5 s }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_int_equal(finding("r", "b")->verdict, VERDICT_WARN);
	assert_int_equal(finding("r", "c")->verdict, VERDICT_INCONCLUSIVE);
	/* Of a rule that only warns, a warning says it all. */
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s }\n");
	assert_verdict("r", VERDICT_WARN);
	add("ops key=d p50_s=9\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s, fail: 5 s }\n");
	assert_verdict("r", VERDICT_FAIL);
}

static void unknown_elsewhere(void **state)
{
	(void)state;
	add("ops key=a name=a p50_s=1\nrun name=x\n");
	judge_yaml(RULE "    assert: p50_s < (select step_time_s from run)\n");
	assert_str(finding("r", "a")->missing, "run.step_time_s");
	assert_str(finding("r", "a")->evidence.items[1].name, "run.step_time_s");
	assert_true(finding("r", "a")->evidence.items[1].value.is_null);
	judge_yaml(RULE "    assert: p50_s < (select max(time_s) from gaps)\n");
	assert_str(finding("r", "a")->missing, "gaps.time_s");
	judge_yaml(RULE "    assert: (select iif(count(flops) = count(*), total(flops), null) "
			"from ops) < 1e12\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	judge_yaml(RULE "    assert: 1 / (p50_s - p50_s) > 0\n"); /* a division by zero */
	assert_str(finding("r", "a")->missing, "");
	assert_str(finding("r", "a")->message,
		"a cannot be judged: the rule's assert is unknown for it");
}

/* A column that a SELECT hands on is the table's, under any name; what it makes is its own. */
static void unknown_of_a_select(void **state)
{
	(void)state;
	add("ops key=a name=a p50_s=1\nrun name=x\n");
	judge_yaml(HEAD "  r:\n    select: select key, mfu as lo from ops join run\n"
			"    value: lo\n    at_most: 1\n");
	assert_str(finding("r", "a")->message,
		"the job file does not say the model and its tokens, or contradicts the profile");
	assert_str(finding("r", "a")->missing, "lo");
	assert_str(result("r")->lacks, "mfu");
	judge_yaml(HEAD "  r:\n    select: select key, mfu + 1 as lo from ops join run\n"
			"    value: lo\n    at_most: 1\n");
	assert_str(finding("r", "a")->message,
		"a cannot be judged: the rule's value is unknown for it");
	assert_str(finding("r", "a")->missing, "lo");
	assert_null(result("r")->lacks.p);
	judge_yaml(
		HEAD "  r:\n    select: select key, p50_s * 0 as n, mfu as lo from ops join run\n"
		     "      union all select key, 0, hfu from ops join run\n"
		     "    value: lo\n    at_most: 1\n");
	assert_null(result("r")->lacks.p);
}

/* ---- what a finding says ------------------------------------------------------------------ */

static void evidence(void **state)
{
	(void)state;
	add("ops key=k name=n kind=matmul p50_s=3 attainable_s=1 scope=net/dense "
	    "source_file=lib.py source_line=7 user_file=train.py user_line=42\n");
	judge_yaml(RULE "    where: kind = 'matmul' and count is null\n"
			"    assert: p50_s <= attainable_s * (1 + :far)\n"
			"    params: { far: 100% }\n");
	const struct finding *f = finding("r", "k");
	assert_int_equal(f->evidence.count, 3);
	assert_str(f->evidence.items[0].name, "p50_s");
	assert_int_equal(f->evidence.items[0].unit, UNIT_SECONDS);
	assert_str(f->evidence.items[0].meaning,
		"median execution; within 0.1% beyond 256 executions");
	assert_near(f->evidence.items[0].value.real, 3);
	assert_str(f->evidence.items[1].name, "attainable_s");
	assert_str(f->evidence.items[2].name, "far");
	assert_int_equal(f->evidence.items[2].unit, UNIT_RATIO);
	assert_near(f->evidence.items[2].value.real, 1);
	assert_str(f->scope, "net/dense");
	assert_str(f->source_file, "train.py");
	assert_near(f->source_line, 42);
	add("ops key=l p50_s=3 attainable_s=1 kind=matmul source_file=lib.py source_line=7\n");
	judge_yaml(RULE "    assert: kind = 'copy'\n");
	f = finding("r", "l");
	assert_str(f->source_file, "lib.py");
	assert_near(f->source_line, 7);
	assert_true(f->evidence.items[0].value.is_text);
	assert_str(f->evidence.items[0].value.text, "matmul");
}

static struct str message_of(const char *template)
{
	judge_yaml(arena_z(
		&keep, arena_fmt(&keep, RULE "    assert: p50_s < 1e-9\n    message: \"%s\"\n",
			       template)));
	return j.findings[0].message;
}

static void messages(void **state)
{
	(void)state;
	add("ops key=k name=dot.1 p50_s=0.006 efficiency=0.284 hbm_bytes=67108864 flops=2e12 "
	    "count=12 skew=1.25 bound=memory\n"
	    "transfers direction=h2d bps=45e9 count=3 bytes=1e6\n"
	    "run name=demo step_time_s=0.0125 step_mean_s=0.0125\n");
	assert_str(
		message_of("{name}: {p50_s}, {efficiency}, {hbm_bytes}, {flops}, {count}, {skew}"),
		"dot.1: 6.00 ms, 28.4%, 64.0 MiB, 2.00 TFLOP, 12, 1.25");
	assert_str(message_of("{p50_s:time} {efficiency:percent} {hbm_bytes:bytes} {flops:flops} "
			      "{count:count} {skew:number}"),
		"6.00 ms 28.4% 64.0 MiB 2.00 TFLOP 12 1.25");
	assert_str(
		message_of("{efficiency:number} {skew:percent} {skew:count}"), "0.284 125% 1.25");
	assert_str(
		message_of("{count:count step}, {count / 12:count batch}, {count / 6:count batch}, "
			   "{run.steps:count step}"),
		"12 steps, 1 batch, 2 batches, unknown steps");
	assert_str(message_of("{{{name}}} {bound} {lo_s} {scope} {run.step_time_s} {run.name}"),
		"{dot.1} memory unknown unknown 12.5 ms demo");
	assert_str(message_of("{name}{? in {scope}}{? of {bound}}{? {p50_s} {lo_s}}{? x} {{?}}"),
		"dot.1 of memory x {?}");
	assert_str(message_of("{?in {scope}}{?{run.name}{{{name}}} }{?at {run.chip}}."),
		"demo{dot.1} .");
	judge_yaml(
		HEAD "  r:\n    from: transfers\n    assert: bps > :least\n    params: { least: 50 "
		     "GB/s }\n    message: \"{direction} {bps:rate} of {least}\"\n");
	assert_str(j.findings[0].message, "h2d 45.0 GB/s of 50 GB/s");
	assert_str(j.findings[0].subject, "h2d");
	assert_str(j.findings[0].name, "h2d");
}

static void messages_of_their_own(void **state)
{
	(void)state;
	add("ops key=k name=dot.1 p50_s=0.006\nrun name=demo idle_ratio=0.5\n");
	judge_yaml(RULE "    title: \"Ops are {short}\"\n    assert: p50_s < 1e-3\n");
	assert_str(finding("r", "k")->message, "dot.1: this does not hold: Ops are {short}");
	judge_yaml(RULE "    value: p50_s\n    at_most: 1 ms\n");
	assert_str(finding("r", "k")->message, "dot.1: p50_s is 6.00 ms");
	judge_yaml(HEAD "  r:\n    from: run\n    value: idle_ratio\n    at_most: 5%\n");
	assert_str(j.findings[0].message, "idle_ratio is 50.0%");
	/* All of it is optional, and unknown. */
	judge_yaml(RULE "    value: p50_s\n    at_most: 1 ms\n"
			"    message: \"{?{mfu:percent} is little}\"\n");
	assert_str(finding("r", "k")->message, "dot.1: p50_s is 6.00 ms");
	/* A number is no name. */
	judge_yaml(HEAD "  r:\n    select: select p50_s from ops\n    value: p50_s\n"
			"    at_most: 1 ms\n");
	assert_str(j.findings[0].message, "p50_s is 6.00 ms");
}

/* A long name is brief in a message that asks for it; the finding has all of it. */
static void brief_messages(void **state)
{
	struct out *name = out_memory(&keep);
	(void)state;
	for (int i = 0; i < TEXT_BRIEF; i++)
		out_char(name, (char)('a' + i % 26));
	add(arena_z(&keep, arena_fmt(&keep, "ops key=k name=<%.*s> p50_s=0.006\nrun name=demo\n",
				   STR_ARG(out_text(name)))));
	struct str all = message_of("{name}"), brief = message_of("{name:brief}, {key:brief}");
	assert_int_equal(all.len, TEXT_BRIEF + 2);
	assert_true(str_eq(j.findings[0].name, all));
	assert_int_equal(brief.len, TEXT_BRIEF + 3);
	assert_true(str_starts(brief, STR("<abc")) && str_ends(brief, STR("v>, k")));
	assert_true(str_contains(brief, STR("...")));
}

/* Findings: failures first, then by what they give back, then by name. */
static void order_of_findings(void **state)
{
	static const char *const order[] = { "b", "a", "e", "c" };
	(void)state;
	add("ops key=d name=d\n"
	    "ops key=a name=a p50_s=9 lo_s=1\n"
	    "ops key=b name=b p50_s=9 lo_s=2\n"
	    "ops key=c name=c p50_s=3 lo_s=0\n"
	    "ops key=e name=e p50_s=3 lo_s=3\n");
	add("run name=r step_time_s=1e3 step_mean_s=1e3\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 2 s, fail: 5 s }\n    gain: lo_s\n"
			"    matters: { warn: 0%, fail: 0.1% }\n");
	assert_int_equal(j.finding_count, 4); /* of one that failed, what is open is no news */
	for (int i = 0; i < 4; i++)
		assert_str(j.findings[i].subject, order[i]);
}

/* ---- SELECT ------------------------------------------------------------------------------- */

static void rules_over_a_select(void **state)
{
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10\n"
	    "ops key=a module=m p50_s=1 kind=copy\n"
	    "ops key=b module=m p50_s=3 kind=copy\n"
	    "ops key=c module=n p50_s=1 kind=copy\n"
	    "ops key=d module=o kind=copy\n");
	judge_yaml(HEAD "  r:\n"
			"    select: select module as key, sum(p50_s) as p50_s, count(*) as ops, "
			"min(kind) as kind from ops group by module\n"
			"    where: kind = 'copy'\n"
			"    value: p50_s\n"
			"    at_most: 2 s\n"
			"    gain: p50_s - :fail\n"
			"    message: \"{key}: {p50_s} in {ops:count} {kind}\"\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(result("r")->subjects, 3);
	assert_str(finding("r", "m")->message, "m: 4.00 s in 2 copy");
	assert_near(finding("r", "m")->claimed_s, 2);
	assert_int_equal(finding("r", "m")->evidence.count, 2); /* and the limit */
	assert_str(finding("r", "m")->evidence.items[0].name, "p50_s");
	assert_int_equal(result("r")->unknown, 1);
	judge_yaml(HEAD "  r:\n    select: select name from gaps join ops on 1 = 0\n"
			"    assert: name = 'x'\n");
	assert_verdict("r", VERDICT_NOT_APPLICABLE);
	assert_str(result("r")->reason, "the profile has nothing that this rule judges");
	judge_yaml(HEAD "  r:\n    select: select key, p50_s from ops\n"
			"    where: key = 'zz'\n"
			"    assert: p50_s < 200\n");
	assert_verdict("r", VERDICT_NOT_APPLICABLE);
	assert_str(result("r")->reason, "the profile has nothing that this rule judges");
	judge_yaml(HEAD "  r:\n    select: select coalesce(kind, name) as who, p50_s from ops\n"
			"    where: who glob 'c*'\n"
			"    assert: p50_s < 2 or who is null\n");
	assert_int_equal(result("r")->subjects, 4);
	assert_verdict("r", VERDICT_FAIL);
}

/* A computed column has the unit that its name ends in, unless it is one of the tables'. */
static void units_of_computed_columns(void **state)
{
	(void)state;
	add("ops key=a p50_s=0.004 hbm_bytes=2048 flops=6 padding_ratio=3\n");
	judge_yaml(HEAD "  r:\n"
			"    select: select key, p50_s / 2 as half_s, hbm_bytes / 2 as half_bytes, "
			"flops / 3 as some_flops, 0.25 as a_share, 0.5 as a_ratio, hbm_bytes / "
			"p50_s as in_bps, padding_ratio, 7 as plain from ops\n"
			"    assert: half_s > 1\n"
			"    message: \"{half_s} {half_bytes} {some_flops} {a_share} {a_ratio} "
			"{in_bps} {padding_ratio} {plain}\"\n");
	assert_str(finding("r", "a")->message, "2.00 ms 1.00 KiB 2 FLOP 25.0% 50.0% 512 kB/s 3 7");
}

/* Joins on the indexed columns find the same rows as a scan does. */
static void joins(void **state)
{
	char line[128];
	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "ops key=k%d name=n%d family=f%d p50_s=1\n", i, i,
			i % 10);
		add(line);
		snprintf(line, sizeof(line), "edges producer=n%d consumer=n%d bytes=1\n", i,
			(i + 1) % 1000);
		add(line);
	}
	judge_yaml(HEAD
		"  by-name:\n"
		"    select: select count(*) as n, 'x' as key from edges e "
		"join ops a on a.name = e.producer join ops b on b.name = e.consumer\n"
		"    assert: n = 1000\n"
		"  by-family:\n"
		"    select: select o.key as key, (select count(*) from ops p "
		"where p.family = o.family) as n from ops o\n"
		"    assert: n = 100\n"
		"  by-text:\n"
		"    select: select count(*) as n, 'x' as key from ops where name = lower('N7') or "
		"key is null\n"
		"    assert: n = 1\n");
	assert_verdict("by-name", VERDICT_PASS);
	assert_verdict("by-family", VERDICT_PASS);
	assert_int_equal(result("by-family")->subjects, 1000);
	assert_verdict("by-text", VERDICT_PASS);
}

/* ---- gates -------------------------------------------------------------------------------- */

#define GATED                                                                                      \
	HEAD "  open-one: { group: evidence, from: run, value: steps, at_least: 1 }\n"             \
	     "  shut-one: { group: evidence, from: run, value: steps, at_least: 5, message: "      \
	     "\"{steps:count} steps\" }\n"                                                         \
	     "  all: { from: ops, assert: p50_s < 2 }\n"                                           \
	     "  free: { from: ops, assert: p50_s < 2, needs: [] }\n"                               \
	     "  lucky: { from: ops, assert: p50_s < 2, needs: open-one }\n"                        \
	     "  held: { from: ops, assert: p50_s < 20, needs: both }\n"                            \
	     "  none: { from: gaps, assert: time_s < 2 }\n"                                        \
	     "sets: { both: [open-one, inner], inner: [shut-one] }\n"

static void gates(void **state)
{
	(void)state;
	add("run name=x steps=3\nops key=a p50_s=1\nops key=b p50_s=3\n");
	judge_yaml(GATED);
	assert_verdict("open-one", VERDICT_PASS);
	/* A gate that does not hold is no verdict on the program. */
	assert_verdict("shut-one", VERDICT_INCONCLUSIVE);
	assert_int_equal(finding("shut-one", "run")->verdict, VERDICT_INCONCLUSIVE);
	assert_str(finding("shut-one", "run")->message, "3 steps");
	assert_str(finding("shut-one", "run")->missing, "");
	assert_verdict("all", VERDICT_INCONCLUSIVE);
	assert_str(result("all")->closed_gate, "shut-one");
	assert_str(result("all")->reason, "gate shut-one failed: 3 steps");
	assert_int_equal(result("all")->withheld, 1);
	assert_int_equal(result("all")->finding_count, 0);
	assert_verdict("free", VERDICT_FAIL);
	assert_verdict("lucky", VERDICT_FAIL);
	assert_verdict("held", VERDICT_INCONCLUSIVE);
	assert_str(result("held")->reason, "gate shut-one failed: 3 steps");
	assert_verdict("none", VERDICT_INCONCLUSIVE); /* not even "not applicable" */
	assert_int_equal(j.finding_count, 3);
	assert_int_equal(j.verdict, VERDICT_FAIL);
}

static void unknown_gates(void **state)
{
	(void)state;
	add("run name=x\nops key=a p50_s=1\n");
	judge_yaml(GATED);
	assert_verdict("open-one", VERDICT_INCONCLUSIVE);
	assert_str(result("held")->reason,
		"gate open-one failed: the profile does not say \"steady "
		"steps: complete, without warm-up, compilation or profiler start\"");
	assert_verdict("free", VERDICT_PASS);
	assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
	/* A gate without subjects holds nothing up, unless it says that it needs some. */
	tables = (struct tables){ 0 };
	add("ops key=a p50_s=1\n");
	judge_yaml(GATED);
	assert_verdict("shut-one", VERDICT_NOT_APPLICABLE);
	assert_verdict("all", VERDICT_PASS);
	judge_yaml(HEAD "  g: { group: evidence, from: run, assert: steps > 1, min_subjects: 1 }\n"
			"  r: { from: ops, assert: p50_s < 2 }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(result("r")->reason, "gate g failed: the profile has no run");
}

static void gates_of_other_kinds(void **state)
{
	(void)state;
	add("run name=x steps=3\nops key=a p50_s=1\n");
	/* What only warns closes nothing, by its severity, its limits or its subjects. */
	judge_yaml(HEAD "  g: { group: evidence, from: run, assert: steps > 5, severity: warn }\n"
			"  h: { group: evidence, from: run, value: steps, at_least: { warn: 5, "
			"fail: 1 } }\n"
			"  i: { group: evidence, from: run, assert: steps > 5, can_fail: 1 = 0 }\n"
			"  j: { group: evidence, from: run, assert: mfu > 5, can_fail: 1 = 0 }\n"
			"  r: { from: ops, assert: p50_s < 2 }\n");
	assert_verdict("g", VERDICT_WARN);
	assert_verdict("h", VERDICT_WARN);
	assert_verdict("i", VERDICT_WARN);
	assert_verdict("j", VERDICT_PASS);
	assert_verdict("r", VERDICT_PASS);
	/* The order in the file does not matter. */
	judge_yaml(HEAD "  r: { from: ops, assert: p50_s < 2 }\n"
			"  g: { group: evidence, from: run, assert: steps > 5 }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
}

/* Rows of a gate weigh by the time they stand for. */
static void gates_weigh(void **state)
{
	static const char gate[] =
		HEAD "  g: { group: evidence, from: ops, assert: flops > 0, gain: "
		     "time_s }\n"
		     "  r: { from: ops, assert: p50_s < 2 }\n";
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10\nops key=a p50_s=1 time_s=0.05 flops=0\n");
	judge_yaml(gate);
	assert_verdict("g", VERDICT_PASS);
	assert_int_equal(result("g")->let_be, 1);
	assert_verdict("r", VERDICT_PASS);
	add("ops key=b p50_s=1 time_s=0.06 flops=0\n");
	judge_yaml(gate);
	assert_verdict("g", VERDICT_INCONCLUSIVE);
	assert_true(isnan(finding("g", "b")->gain_s)); /* no time to be had back */
	assert_near(j.gain_s, 0);
	assert_verdict("r", VERDICT_INCONCLUSIVE);
}

static void verdict_of_the_whole(void **state)
{
	static const struct {
		const char *rules;
		enum verdict verdict;
	} cases[] = {
		{ "  a: { from: run, assert: steps > 1 }\n", VERDICT_PASS },
		{ "  a: { from: run, value: steps, at_least: { warn: 9 } }\n", VERDICT_WARN },
		{ "  a: { from: run, assert: mfu > 0 }\n", VERDICT_INCONCLUSIVE },
		{ "  a: { from: run, assert: mfu > 0 }\n"
		  "  b: { from: run, value: steps, at_least: { warn: 9 } }\n",
			VERDICT_WARN },
		{ "  a: { from: run, assert: mfu > 0 }\n  b: { from: run, assert: steps > 1 }\n",
			VERDICT_PASS },
		{ "  a: { from: run, assert: mfu > 0, required: true }\n"
		  "  b: { from: run, value: steps, at_least: { warn: 9 } }\n",
			VERDICT_INCONCLUSIVE },
		/* A gate that a live rule needs; not one that none needs. */
		{ "  a: { group: evidence, from: run, assert: mfu > 0 }\n"
		  "  b: { from: run, assert: steps > 1, needs: [] }\n"
		  "  c: { from: run, assert: steps > 1 }\n",
			VERDICT_INCONCLUSIVE },
		{ "  a: { group: evidence, from: run, assert: mfu > 0 }\n"
		  "  b: { from: run, assert: steps > 1, needs: [] }\n"
		  "  c: { from: gaps, assert: time_s < 1 }\n"
		  "  d: { from: run, assert: steps > 9, severity: off }\n",
			VERDICT_PASS },
		{ "  a: { from: run, assert: mfu > 0, required: true }\n"
		  "  b: { from: run, assert: steps > 9, needs: [] }\n",
			VERDICT_FAIL },
		{ "  a: { group: evidence, from: run, assert: steps > 1 }\n",
			VERDICT_INCONCLUSIVE },
		{ "  a: { from: run, assert: steps > 9, severity: off }\n", VERDICT_INCONCLUSIVE },
	};
	struct rule_result before[] = { { .name = STR("a"), .verdict = VERDICT_PASS },
		{ .name = STR("b"), .verdict = VERDICT_INCONCLUSIVE } };
	const struct judgement previous = { .results = before, .result_count = 2 };
	(void)state;
	add("run name=x steps=3\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge_yaml(arena_z(&keep, arena_fmt(&keep, HEAD "%s", cases[i].rules)));
		if (j.verdict != cases[i].verdict)
			fail_msg("%s", cases[i].rules);
	}
	/* What could be judged before is demanded. */
	context.previous = &previous;
	judge_yaml(HEAD "  a: { from: run, assert: mfu > 0 }\n"
			"  b: { from: run, assert: steps > 1 }\n");
	assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
	assert_true(result("a")->demanded);
	assert_false(result("b")->demanded);
	context = (struct judge_context){ .alone = &previous };
	judge_yaml(HEAD "  a: { from: run, assert: mfu > 0 }\n"
			"  b: { from: run, assert: steps > 1 }\n");
	assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
}

/* ---- what it costs ------------------------------------------------------------------------ */

#define SLOW                                                                                       \
	RULE "    value: p50_s / attainable_s - 1\n"                                               \
	     "    at_most: { warn: 10%, fail: 100% }\n"                                            \
	     "    gain: (p50_s - attainable_s) * per_step\n"

/* Twice its time and more, so many times a step of a second. */
static void add_slow(const char *key, double attainable_s, double p50_s, double per_step)
{
	add(arena_z(&keep, arena_fmt(&keep,
				   "ops key=%s kind=matmul attainable_s=%g p50_s=%g per_step=%g "
				   "time_share=%g\n",
				   key, attainable_s, p50_s, per_step, p50_s * per_step)));
}

static void nothing_tiny_stops_a_release(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n");
	add_slow("far", 1e-3, 5e-3, 1);
	add_slow("near", 10e-3, 12e-3, 1);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_PASS);
	assert_int_equal(result("r")->let_be, 2);
	assert_near(result("r")->cost, 6e-3);
	assert_str(result("r")->reason,
		"2 findings are beyond the limit; together they cost 0.60% of the step, and a "
		"rule warns from 1.00%");
	assert_int_equal(j.finding_count, 0);
	/* What is worth a failure is worth a warning, though the file says nothing of it. */
	judge_yaml(SLOW "    matters: { fail: 0.4% }\n");
	assert_verdict("r", VERDICT_FAIL);
	judge_yaml(SLOW "    matters: { together: 0.5% }\n");
	assert_verdict("r", VERDICT_FAIL);
	/* The file and the rule say what matters. */
	judge_yaml(SLOW "    matters: { warn: 0.5% }\n");
	assert_verdict("r", VERDICT_WARN);
	judge_yaml(SLOW "matters: { warn: 0.4%, fail: 0.4% }\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(finding("r", "far")->verdict, VERDICT_FAIL);
	assert_int_equal(finding("r", "near")->verdict, VERDICT_WARN);
	judge_yaml(SLOW "    matters: { fail: 1% }\nmatters: { warn: 0.4%, fail: 0.4% }\n");
	assert_verdict("r", VERDICT_WARN);
}

/* One op that runs ten times, and ten that run once, have one verdict. */
static void nothing_large_passes_in_pieces(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n");
	add_slow("scanned", 1e-3, 4e-3, 10);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_FAIL);
	assert_near(result("r")->cost, 0.03);
	tables = (struct tables){ 0 };
	add("run name=x step_time_s=1 step_mean_s=1\n");
	for (int i = 0; i < 10; i++)
		add_slow(arena_fmt(&keep, "unrolled.%d", i).p, 1e-3, 4e-3, 1);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_FAIL);
	assert_near(result("r")->cost, 0.03);
	/* None is beyond the failure's limit, but together they are a tenth of the step. */
	tables = (struct tables){ 0 };
	add("run name=x step_time_s=1 step_mean_s=1\n");
	for (int i = 0; i < 10; i++)
		add_slow(arena_fmt(&keep, "near.%d", i).p, 30e-3, 41e-3, 1);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(finding("r", "near.0")->verdict, VERDICT_FAIL);
	assert_str(finding("r", "near.0")->note,
		"within its failure limit; it fails since all findings of the rule together cost "
		"10.0% of the step or more (matters.together)");
	judge_yaml(SLOW "    can_fail: key <> 'near.0'\n"); /* 9.9% that can fail */
	assert_verdict("r", VERDICT_WARN);
	judge_yaml(SLOW "    severity: warn\n");
	assert_verdict("r", VERDICT_WARN);
}

/* A gain is never more than its pool holds, and what can only warn never fails. */
static void pools_cap_the_cost(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1 compute_ratio=0.015\n");
	add_slow("a", 1e-3, 50e-3, 1);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_WARN);
	assert_near(result("r")->cost, 0.015);
	assert_str(finding("r", "a")->note,
		"beyond its failure limit; it fails when that costs 2.00% of the step or more");
	judge_yaml(RULE "    value: p50_s\n    at_most: { warn: 1 ms }\n    gain: p50_s\n"
			"    matters: { warn: 0.1%, fail: 0.1%, together: 0.1% }\n");
	assert_verdict("r", VERDICT_WARN); /* without a failure limit */
}

static void chips_work_side_by_side(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n"
	    "devices host=h device=0 slowness=1.6 busy_s=0.02\n"
	    "devices host=h device=1 slowness=1.6 busy_s=0.02\n"
	    "devices host=i device=0 slowness=1.7 busy_s=0.02\n");
	judge_yaml(HEAD
		"  r: { from: devices, value: slowness - 1, at_most: { warn: 10%, fail: 50% }, "
		"gain: busy_s * (slowness - 1) }\n");
	assert_verdict("r", VERDICT_WARN);
	assert_near(result("r")->cost, 0.014);
	assert_near(finding("r", "0")->claimed_s, 0.014);
	assert_near(j.gain_s, 0.014); /* of the worst one alone */
}

/*
 * By hand: of four devices that compute 60 ms one takes 100, so three wait 40 ms; all communicate
 * for 10 ms more.  Without the slow one a step takes 70 ms, and 60 with all of it hidden.
 */
static void a_delay_is_credited_once(void **state)
{
	static const char rules[] = HEAD
		"  exposed: { group: communication, select: \"select name as key, "
		"comms_exposed_ratio as share from run\", value: share, at_most: { warn: 20% }, "
		"gain: value, places: { from: collectives, value: exposed_share } }\n"
		"  late: { select: \"select device as key, slowness - 1 as excess_ratio, busy_s, "
		"0.75 as waited_share from devices\", value: excess_ratio, at_most: { warn: 10% }, "
		"gain: busy_s * excess_ratio }\n";
	(void)state;
	add("run name=x step_time_s=0.11 step_mean_s=0.11 compute_ratio=0.636363636363636 "
	    "comms_exposed_ratio=0.363636363636364\n"
	    "devices host=h device=0 slowness=1.66666666666667 busy_s=0.06\n"
	    "devices host=h device=1 slowness=1 busy_s=0.06\n"
	    "collectives key=a role=step exposed_share=0.363636363636364\n");
	judge_yaml(rules);
	assert_near(finding("late", "0")->gain_s, 0.04);
	assert_near(finding("exposed", "run")->claimed_s, 0.04);
	assert_near(finding("exposed", "run")->gain_s, 0.01); /* less the average device's 30 */
	assert_near(finding("exposed", "run")->shared_s, 0.03);
	assert_near(j.gain_s, 0.05);
	assert_str(j.findings[0].rule, "late"); /* what others are credited with comes later */
	/* The links need 64 ms of a step, however well that is hidden. */
	table_rows(&tables, run)->predicted_step_s = 0.064;
	judge_yaml(rules);
	assert_near(finding("late", "0")->gain_s, 0.04);
	assert_near(finding("exposed", "run")->gain_s, 0.006);
	assert_near(j.gain_s, 0.11 - 0.064);
	/* A prediction that the job is faster than is wrong. */
	table_rows(&tables, run)->predicted_step_s = 0.2;
	judge_yaml(rules);
	assert_near(j.gain_s, 0.05);
}

/*
 * By hand: of four devices that compute 60 ms two wait 40 ms for their host, and the others as long
 * for them; all communicate for 10 ms more.  So 20 ms of the mean are idle, 30 communication.
 */
static void a_late_host_is_credited_once(void **state)
{
	static const char rules[] = HEAD
		"  exposed: { group: communication, select: \"select name as key, "
		"comms_exposed_ratio as share from run\", value: share, at_most: { warn: 20% }, "
		"gain: value, places: { from: collectives, value: exposed_share } }\n"
		"  idle: { group: waiting, select: \"select name as key, 0.363636363636364 as "
		"share, "
		"0.5 as pool_share, 0.5 as waited_share from run\", value: share, "
		"at_most: { warn: 10% }, gain: value }\n";
	(void)state;
	add("run name=x step_time_s=0.11 step_mean_s=0.11 compute_ratio=0.545454545454545 "
	    "comms_exposed_ratio=0.272727272727273 idle_ratio=0.181818181818182\n"
	    "collectives key=a role=step exposed_share=0.272727272727273\n");
	judge_yaml(rules);
	assert_near(finding("idle", "run")->gain_s, 0.04);
	assert_near(finding("exposed", "run")->gain_s, 0.01);
	assert_near(j.gain_s, 0.05);
}

/*
 * By hand: of a step of 100 ms 90 are idle, and 60 of them are in compilations.  These are rows of
 * a SELECT, which no kind tells of: they say what they take.
 */
static void compiling_is_idle_time(void **state)
{
	static const char rules[] = HEAD
		"  compiling: { group: waiting, select: \"select module as key, time_s, 1.0 as "
		"pool_share from compiles\", value: time_s, at_most: { warn: 10ms }, "
		"gain: time_s }\n"
		"  idle: { group: waiting, select: \"select name as key, idle_ratio as share from "
		"run\", value: share, at_most: { warn: 10% }, gain: value, places: { select: "
		"\"select cause as key, time_s as share from gaps\", value: share } }\n";
	(void)state;
	add("run name=x step_time_s=0.1 step_mean_s=0.1 compute_ratio=0.1 idle_ratio=0.9\n"
	    "gaps host=h device=0 step=1 cause=compile time_s=0.06\n"
	    "compiles module=a time_s=0.04\ncompiles module=b time_s=0.02\n");
	judge_yaml(rules);
	assert_near(finding("compiling", "a")->gain_s, 0.04);
	assert_near(finding("compiling", "b")->gain_s, 0.02);
	assert_near(finding("idle", "run")->gain_s, 0.03);
	assert_near(finding("idle", "run")->shared_s, 0.06);
	assert_near(j.gain_s, 0.09);
}

/* Nothing says that an evaluation comes again which the window saw once. */
static void work_that_runs_once_warns(void **state)
{
	static const char rules[] = HEAD "  r: { from: families, value: window_share, "
					 "at_most: { fail: 10% }, gain: p50_s * rate }\n";
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n"
	    "families family=a key=a role=other recurs=0 window_share=0.4 p50_s=0.4 rate=1\n");
	judge_yaml(rules);
	assert_verdict("r", VERDICT_WARN);
	assert_non_null(strstr(finding("r", "a")->note.p, "it runs once in the window"));
	table_rows(&tables, families)->recurs = 1;
	judge_yaml(rules);
	assert_verdict("r", VERDICT_FAIL);
}

/* A SELECT with places and a number of the run tell of the same waiting: it counts once. */
static void waiting_is_credited_once(void **state)
{
	static const char rules[] =
		HEAD "  idle: { group: waiting, value: share, "
		     "select: \"select name as key, 0.78 as share from run\", "
		     "at_most: { warn: 10% }, gain: value, "
		     "places: { select: \"select cause as key, time_s / 10 as share from gaps\", "
		     "value: share } }\n"
		     "  input: { group: waiting, from: run, value: input_wait_ratio, "
		     "at_most: { warn: 5% }, gain: value }\n";
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10 compute_ratio=0.2 idle_ratio=0.8 "
	    "input_wait_ratio=0.75\n"
	    "gaps key=g after=g cause=input time_s=7.5\n");
	judge_yaml(rules);
	assert_near(finding("idle", "run")->gain_s, 7.8);
	assert_near(finding("input", "run")->gain_s, 0);
	assert_near(finding("input", "run")->shared_s, 7.5);
	assert_near(j.gain_s, 7.8);
}

/*
 * Of ten seconds eight are the roofline, and half of the FLOPs are too many: without them four of
 * the eight go, and one of the two beyond.  The roofline itself explains the four.
 */
static void work_that_goes_takes_its_roofline_along(void **state)
{
	static const char rules[] = HEAD
		"  twice: { select: \"select 'x' as key, 0.5 as share, 0.8 as unneeded_share from "
		"run\", value: share, at_most: { warn: 5% }, gain: share * step_mean_s }\n"
		"  slow: { from: ops, assert: p50_s < 0, gain: p50_s }\n"
		"  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, at_most: { warn: "
		"30% }, gain: value }\n";
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10 roofline_ratio_hi=0.5 roofline_ratio_lo=0.8\n"
	    "ops key=a kind=matmul p50_s=4\n");
	judge_yaml(rules);
	assert_near(finding("slow", "a")->gain_s, 1); /* of the two seconds one is left */
	assert_near(finding("twice", "run")->gain_s, 5);
	assert_near(j.gain_s, 6);
	assert_near(result("rest")->number.value, 0.5 - 0.2);
}

#define CHANGED_RUN                                                                                \
	"run name=x step_time_s=0.18 step_mean_s=0.18 compute_ratio=0.9 roofline_ratio_lo=0.5\n"   \
	"deltas metric=run.step_time_s key=run.step_time_s lo=0.1 lost_s=0.03 "                    \
	"base=0.15 head=0.18 against=b\n"                                                          \
	"families key=a family=a kind=matmul time_s=0.02\n"

/* Of the 30 ms that a step lost, what other findings are credited with may be a part. */
static void what_may_explain_a_regression_is_not_paid_again(void **state)
{
	static const char rules[] = HEAD
		"  worse: { group: regression, needs: [], from: deltas, value: lo, at_most: 0, "
		"gain: lost_s }\n"
		"  slow: { from: families, assert: time_s < 0, gain: time_s }\n";
	(void)state;
	add(CHANGED_RUN);
	judge_yaml(rules);
	assert_near(finding("slow", "a")->gain_s, 0.02);
	assert_near(finding("worse", "run.step_time_s")->gain_s, 0.01);
	assert_near(finding("worse", "run.step_time_s")->shared_s, 0.02);
	assert_near(j.gain_s, 0.03);
	add("families key=b family=b kind=matmul time_s=0.025\n");
	judge_yaml(rules);
	assert_near(finding("worse", "run.step_time_s")->gain_s, 0);
	assert_near(finding("worse", "run.step_time_s")->shared_s, 0.03);
	assert_near(j.gain_s, 0.045);
}

/*
 * A step of 228 ms, 75 more than before, waits for a slow network: the collective gives back 74.1
 * of the 84.9 that its programs do not need, and all that it lost is among these.
 */
static void a_regression_that_waits_is_explained(void **state)
{
	static const char rules[] =
		HEAD "  worse: { group: regression, needs: [], from: deltas, where: \"metric = "
		     "'run.step_time_s'\", value: lo, at_most: 0, gain: lost_s }\n"
		     "  slow: { from: collectives, assert: exposed_s < 0.03, gain: exposed_s }\n"
		     "  waits: { group: communication, needs: [], from: run, assert: "
		     "comms_exposed_ratio < 0.01, gain: comms_exposed_ratio * step_mean_s }\n";
	(void)state;
	add("run name=x step_time_s=0.2275 step_mean_s=0.2275 comms_exposed_ratio=0.4088 "
	    "roofline_ratio_lo=0.5582 predicted_step_s=0.1426\n"
	    "deltas metric=run.step_time_s key=run.step_time_s lo=0.1 lost_s=0.0752 "
	    "base=0.1523 head=0.2275 against=b\n"
	    "deltas metric=run.comms_exposed_ratio key=c lo=0 base=0.117 head=0.4088 against=b\n"
	    "ops key=start family=start kind=recv\nops key=done family=done kind=recv\n"
	    "changes key=done kind=recv change=slower lost_s=0.0741\n"
	    "collectives key=start family=start kind=recv exposed_s=0.0741\n");
	judge_yaml(rules);
	assert_near(finding("slow", "start")->gain_s, 0.0741);
	assert_near(finding("waits", "run")->gain_s, 0.2275 - 0.1426 - 0.0741);
	assert_near(finding("worse", "run.step_time_s")->gain_s, 0);
	assert_near(finding("worse", "run.step_time_s")->shared_s, 0.0752);
	assert_near(j.gain_s, 0.2275 - 0.1426);
}

/* It needs all of its step now, and needed less before. */
static void a_change_gives_back_what_was_lost(void **state)
{
	(void)state;
	add("run name=x step_time_s=0.02 step_mean_s=0.02 roofline_ratio_lo=1 "
	    "predicted_step_s=0.019\n"
	    "deltas metric=run.step_time_s key=run.step_time_s lo=0.1 lost_s=0.005 "
	    "base=0.015 head=0.02 against=b\n");
	judge_yaml(HEAD "  worse: { group: regression, needs: [], from: deltas, value: lo, "
			"at_most: 0, gain: lost_s }\n");
	assert_near(finding("worse", "run.step_time_s")->gain_s, 0.005);
}

/* The host's link needs 50 of 78 ms a step, so that copying while computing saves 28. */
static void transfers_end_where_the_hosts_link_begins(void **state)
{
	static const char rules[] = HEAD
		"  host: { group: waiting, select: \"select name as key, transfer_ratio as share "
		"from run\", value: share, at_most: { warn: 2% }, gain: value, "
		"places: { from: transfers, value: step_share } }\n";
	(void)state;
	add("run name=x step_time_s=0.078 step_mean_s=0.078 transfer_ratio=0.96 "
	    "predicted_step_s=0.05\n"
	    "transfers direction=h2d step_share=0.96 per_step=1\n");
	judge_yaml(rules);
	assert_near(finding("host", "run")->gain_s, 0.028);
	assert_near(j.gain_s, 0.028);
}

static void of_busy_time_and_of_capacity(void **state)
{
	static const char memory[] =
		HEAD "  r: { group: memory, from: memory, value: "
		     "window_peak_bytes / compiled_bytes - 1, at_most: { warn: "
		     "15%, fail: 50% }, gain: window_peak_bytes - "
		     "compiled_bytes }\n";
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1 phase=train busy_ratio=0.1\n");
	add_slow("a", 1e-3, 6e-3, 1);
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_PASS);
	table_rows(&tables, run)->phase = STR("inference"); /* an idle server */
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_FAIL);
	assert_near(result("r")->cost, 0.05);
	add("memory device=0 capacity_bytes=1000 window_peak_bytes=160 compiled_bytes=100\n"
	    "memory device=1 capacity_bytes=1000 window_peak_bytes=160 compiled_bytes=100\n");
	judge_yaml(memory);
	assert_verdict("r", VERDICT_WARN); /* far, and 6% of the capacity */
	assert_true(result("r")->of_capacity);
	assert_near(result("r")->cost, 0.06);
	assert_near(finding("r", "0")->bytes, 60);
	assert_true(isnan(finding("r", "0")->claimed_s));
	add("memory device=2 capacity_bytes=1000 window_peak_bytes=260 compiled_bytes=150\n");
	judge_yaml(memory);
	assert_verdict("r", VERDICT_FAIL);
}

/* A share of the step itself: limits alone decide. */
static void a_share_is_its_own_cost(void **state)
{
	static const char share[] = HEAD "  r: { from: run, value: layout_copy_ratio, at_most: { "
					 "warn: 0.1%, fail: 80% }, gain: value }\n";
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10 layout_copy_ratio=0.3\n");
	judge_yaml(share);
	assert_verdict("r", VERDICT_WARN); /* whatever `together` says */
	assert_near(finding("r", "run")->claimed_s, 3);
	assert_near(result("r")->cost, 0.3);
	table_rows(&tables, run)->layout_copy_ratio = 0.002;
	judge_yaml(share);
	assert_verdict("r", VERDICT_WARN); /* whatever `warn` says */
}

/* ---- what is not known -------------------------------------------------------------------- */

static void trifles_open_nothing(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n"
	    "ops key=a kind=matmul per_step=1 p50_s=1e-3 time_share=0.001\n"
	    "ops key=b kind=matmul per_step=1 p50_s=1e-3 attainable_s=1e-3 time_share=0.001\n");
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_PASS);
	assert_int_equal(result("r")->unknown, 1);
	assert_int_equal(j.finding_count, 0);
	/* Its cost may be 3% of the step, if it is far. */
	add("ops key=c kind=matmul per_step=1 p50_s=0.03 time_share=0.03\n");
	judge_yaml(SLOW);
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "c")->missing, "attainable_s");
	judge_yaml(SLOW "    can_fail: 1 = 0\n"); /* it might still warn */
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	/* Limits alone: a row of unknown value costs the time that it takes. */
	judge_yaml(RULE "    where: key <> 'c'\n    value: attainable_s\n    at_most: 1 s\n");
	assert_verdict("r", VERDICT_PASS);
	judge_yaml(RULE "    value: attainable_s\n    at_most: 1 s\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	/* Work outside the steps costs what it takes of the window. */
	add("ops key=d kind=matmul role=other time_share=0 window_share=0.3\n");
	judge_yaml(RULE "    where: role = 'other'\n    value: attainable_s\n    at_most: 1 s\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
}

static void a_gain_that_is_not_known(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n"
	    "ops key=a p50_s=3 time_share=0.5\n"
	    "ops key=b p50_s=3 time_share=0.001\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: 1 s\n    gain: lo_s\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "a")->missing, "lo_s");
	judge_yaml(
		RULE "    where: key = 'b'\n    value: p50_s\n    at_most: 1 s\n    gain: lo_s\n");
	assert_verdict("r", VERDICT_PASS);
	/* What is known already fails. */
	add("ops key=c p50_s=3 time_share=0.5 lo_s=0.1\n");
	judge_yaml(RULE "    value: p50_s\n    at_most: 1 s\n    gain: lo_s\n");
	assert_verdict("r", VERDICT_FAIL);
}

static void what_may_come_on_top(void **state)
{
	static const char unclear[] =
		HEAD "  r: { from: run, value: comms_exposed_ratio, unclear: unclear_comms_ratio, "
		     "at_most: { warn: 20%, fail: 30% } }\n";
	static const struct {
		double value, unclear;
		enum verdict verdict;
	} cases[] = {
		{ 0.1, 0.05, VERDICT_PASS },
		{ 0.1, 0.15, VERDICT_INCONCLUSIVE }, /* it may warn */
		{ 0.1, NAN, VERDICT_INCONCLUSIVE },
		{ 0.25, 0.01, VERDICT_WARN },
		{ 0.25, 0.1, VERDICT_INCONCLUSIVE }, /* it may fail */
		{ 0.31, NAN, VERDICT_FAIL },	     /* broken, though evidence is missing */
		{ NAN, 0, VERDICT_INCONCLUSIVE },
	};
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		table_rows(&tables, run)->comms_exposed_ratio = cases[i].value;
		table_rows(&tables, run)->unclear_comms_ratio = cases[i].unclear;
		judge_yaml(unclear);
		if (result("r")->verdict != cases[i].verdict)
			fail_msg("case %zu", i);
	}
	/* Off it, for a lower limit. */
	table_rows(&tables, run)->judged_ratio = 0.8;
	table_rows(&tables, run)->unclear_comms_ratio = 0.2;
	judge_yaml(HEAD "  r: { from: run, value: judged_ratio, unclear: unclear_comms_ratio, "
			"at_least: 70% }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
}

static void who_can_fail(void **state)
{
	(void)state;
	add("run name=x phase=unknown idle_ratio=0.5\n");
	judge_yaml(HEAD "  r: { from: run, value: idle_ratio, at_most: 10%, can_fail: phase = "
			"'train' }\n");
	assert_verdict("r", VERDICT_WARN);
	assert_str(finding("r", "run")->note,
		"beyond its failure limit; it only warns, since the rule's can_fail does not hold "
		"for it");
	judge_yaml(HEAD "  r: { from: run, value: idle_ratio, at_most: 10%, can_fail: phase = "
			"'train', only_warns: [{ when: steps > 1, do: no }, { do: '{name} may "
			"serve' }] }\n");
	assert_str(finding("r", "run")->note,
		"beyond its failure limit; it only warns, since x may serve");
	judge_yaml(
		HEAD "  r: { from: run, value: idle_ratio, at_most: 10%, can_fail: steps > 1 }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "run")->missing, "steps");
}

/* ---- the number --------------------------------------------------------------------------- */

static void numbers_of_one(void **state)
{
	(void)state;
	add("run name=x layout_copy_ratio=0.03 judged_ratio=0.9\n");
	judge_yaml(
		HEAD "  r: { from: run, value: layout_copy_ratio, at_most: { warn: 4%, fail: 10% } "
		     "}\n"
		     "  s: { from: run, value: judged_ratio, at_least: 60% }\n"
		     "  t: { from: run, assert: judged_ratio > 0 }\n");
	const struct rule_number *n = &result("r")->number;
	assert_int_equal(n->unit, UNIT_RATIO);
	assert_near(n->value, 0.03);
	assert_near(n->warn_number, 0.03);
	assert_near(n->fail_number, 0.03);
	assert_near(n->warn_limit, 0.04);
	assert_near(n->fail_limit, 0.10);
	assert_near(n->warn_headroom, 0.25);
	assert_near(n->fail_headroom, 0.7);
	n = &result("s")->number;
	assert_true(n->at_least && isnan(n->warn_limit));
	assert_near(n->fail_headroom, 0.5);
	assert_near(n->warn_headroom, 0.5);
	assert_true(isnan(result("t")->number.value));
}

/* Of a limit of 0 there are no shares: what is left is told itself. */
static void headroom_of_nothing(void **state)
{
	(void)state;
	add("run name=x layout_copy_ratio=0.03 idle_ratio=-0.02 steps=0\n");
	judge_yaml(HEAD "  r: { from: run, value: layout_copy_ratio, at_most: 0% }\n"
			"  s: { from: run, value: idle_ratio, at_most: 0% }\n"
			"  t: { from: run, value: steps, at_most: 0 }\n");
	assert_near(result("r")->number.fail_headroom, -0.03);
	assert_near(result("s")->number.fail_headroom, 0.02);
	assert_near(result("t")->number.fail_headroom, 0);
}

/* A rule that fails by what its findings cost together is beyond what it may be. */
static void headroom_of_many(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n");
	for (int i = 0; i < 12; i++)
		add("families key=a p50_s=0.01 lo_s=0.5\n");
	judge_yaml(HEAD "  r: { from: families, value: lo_s, at_most: { warn: 0.4 s, fail: 1 s }, "
			"gain: p50_s }\n"
			"  s: { from: families, value: lo_s, at_most: { warn: 0.4 s, fail: 1 s }, "
			"gain: p50_s, matters: { together: 20% } }\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_near(result("r")->number.fail_headroom, -0.25);
	assert_verdict("s", VERDICT_WARN);
	assert_true(
		isnan(result("s")->number.fail_headroom) || result("s")->number.fail_headroom > 0);
}

/* Limits set to a rule's numbers let it pass, and a hair less do not. */
static void numbers_of_many(void **state)
{
	static const char *const names[] = { "warn", "fail" };
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1\n");
	add_slow("trifle", 1e-4, 9e-4, 1);
	add_slow("large", 20e-3, 35e-3, 1);
	add_slow("other", 20e-3, 30e-3, 1);
	judge_yaml(SLOW);
	const struct rule_number n = result("r")->number;
	assert_near(n.value, 8);
	assert_near(n.warn_number, 0.75);
	assert_near(n.fail_number, 0.5); /* 2% lies beyond half: the trifle, large and other */
	for (int which = 0; which < 2; which++)
		for (int less = 0; less < 2; less++) {
			double limit =
				(which ? n.fail_number : n.warn_number) + (less ? -1e-6 : 1e-9);
			judge_yaml(arena_z(
				&keep, arena_fmt(&keep,
					       RULE "    value: p50_s / attainable_s - 1\n"
						    "    at_most: { %s: %.12g%% }\n"
						    "    gain: (p50_s - attainable_s) * per_step\n",
					       names[which], limit * 100)));
			enum verdict bad = which ? VERDICT_FAIL : VERDICT_WARN;
			assert_true((result("r")->verdict == bad) == (less == 1));
		}
	/* Nothing of it matters at any limit. */
	judge_yaml(SLOW "    where: key = 'trifle'\n");
	assert_true(isnan(result("r")->number.warn_number));
	assert_near(result("r")->number.value, 8);
}

/* ---- what was there before ------------------------------------------------------------------ */

static const struct finding *judge_again(struct judgement *previous, const char *yaml)
{
	*previous = j;
	context.previous = previous;
	judge_yaml(yaml);
	context.previous = NULL;
	return &j.findings[0];
}

/* The run is called otherwise in each capture. */
static void the_run_is_known_again(void **state)
{
	static const char yaml[] =
		HEAD "  r: { from: run, value: idle_ratio, at_most: 10% }\n"
		     "  s: { select: \"select name as key, idle_ratio as v from run\", value: v, "
		     "at_most: 10% }\n";
	struct judgement first;
	(void)state;
	add("run name=2026_11_01 idle_ratio=0.5\n");
	judge_yaml(yaml);
	tables = (struct tables){ 0 };
	add("run name=2026_11_02 idle_ratio=0.6\n");
	judge_again(&first, yaml);
	assert_int_equal(j.finding_count, 2);
	assert_true(finding("r", "run")->failed_before && finding("s", "run")->failed_before);
	assert_str(finding("s", "run")->name, "run");
}

/* A device of another host is another device, whatever the host is called today. */
static void a_device_is_its_hosts(void **state)
{
	static const char yaml[] = HEAD "  r: { from: devices, value: idle_ratio, at_most: 10% }\n";
	struct judgement first;
	(void)state;
	add("run name=a hosts=2\n"
	    "devices host=w-x-0 device=TPU:0 idle_ratio=0.5\n"
	    "devices host=w-x-1 device=TPU:0 idle_ratio=0\n");
	judge_yaml(yaml);
	tables = (struct tables){ 0 };
	add("run name=b hosts=2\n"
	    "devices host=w-y-0 device=TPU:0 idle_ratio=0.5\n"
	    "devices host=w-y-1 device=TPU:0 idle_ratio=0.5\n");
	judge_again(&first, yaml);
	assert_true(finding("r", "host 0/TPU:0")->failed_before);
	assert_false(finding("r", "host 1/TPU:0")->failed_before);
}

/* ---- places ------------------------------------------------------------------------------- */

#define GATHERS                                                                                    \
	HEAD "  r:\n"                                                                              \
	     "    from: run\n"                                                                     \
	     "    value: (select total(exposed_share) from collectives)\n"                         \
	     "    at_most: { warn: 10%, fail: 20% }\n"                                             \
	     "    gain: value\n"                                                                   \
	     "    places: { from: collectives, where: kind = 'all-gather', value: exposed_share "  \
	     "}\n"                                                                                 \
	     "    message: \"{value:percent}: {places}\"\n"

static void places_make_up_the_value(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1 comms_exposed_ratio=0.5\n"
	    "collectives key=a name=ag.1 kind=all-gather exposed_share=0.05 scope=embed\n"
	    "collectives key=b name=ag.2 kind=all-gather exposed_share=0.2 scope=mlp "
	    "source_file=m.py source_line=3\n"
	    "collectives key=c name=ag.3 kind=all-gather exposed_share=0.01 scope=mlp\n"
	    "collectives key=e name=ag.5 kind=all-gather exposed_share=0.02 scope=mlp\n"
	    "collectives key=d name=ar.4 kind=all-reduce exposed_share=0.01\n");
	judge_yaml(GATHERS);
	const struct finding *f = finding("r", "run");
	assert_int_equal(f->verdict, VERDICT_FAIL);
	assert_str(f->message, "29.0%: ag.2 (20.0%), ag.1 (5.00%), ag.5 (2.00%) and 1 more");
	assert_int_equal(f->places.count, 4);
	assert_str(f->places.items[1].subject, "a");
	assert_near(f->places.items[1].value, 0.05);
	assert_str(f->source_file, "m.py");
	assert_near(f->source_line, 3);
	assert_str(f->scope, "mlp");
	/* Credited to the pool of what makes it up. */
	assert_near(f->gain_s, 0.29);
}

/* A waiver of the steps' places takes nothing off what runs beside them. */
static void places_belong_to_their_row(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1 comms_exposed_ratio=0.5\n"
	    "collectives key=a name=ag.1 kind=all-gather role=step module=jit_f "
	    "exposed_share=0.35\n"
	    "collectives key=b name=ag.2 kind=all-gather role=other module=jit_eval "
	    "exposed_share=0.4\n"
	    "collectives key=c name=ag.3 kind=all-gather role=other module=jit_save "
	    "exposed_share=0.3\n");
	context.today = STR("2026-11-01");
	judge_yaml(
		HEAD "  r:\n"
		     "    select: select 'step' as key, 'step' as role, 0.35 as share union all "
		     "select 'jit_eval', 'other', 0.4 union all select 'jit_save', 'other', 0.3\n"
		     "    value: share\n"
		     "    at_most: { warn: 10%, fail: 20% }\n"
		     "    places: { from: collectives, value: exposed_share }\n"
		     "    message: \"{value:percent}: {places}\"\n"
		     "waivers:\n"
		     "  - { rule: r, where: role = 'step', at_most: 90%, owner: o, "
		     "reason: meant, expires: 2030-01-01 }\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(finding("r", "step")->verdict, VERDICT_WAIVED);
	assert_str(finding("r", "jit_eval")->message, "40.0%: ag.2 (40.0%)");
	assert_int_equal(finding("r", "jit_save")->verdict, VERDICT_FAIL);
}

/* A finding keeps the largest places, and its message counts all of them. */
static void all_places_are_counted(void **state)
{
	(void)state;
	add("run name=x step_time_s=1 step_mean_s=1 comms_exposed_ratio=0.5\n");
	for (int i = 0; i < PLACES_KEPT + 10; i++)
		add("collectives key=a name=ag kind=all-gather exposed_share=0.01\n");
	judge_yaml(GATHERS);
	assert_int_equal(finding("r", "run")->places.count, PLACES_KEPT);
	assert_str(finding("r", "run")->message,
		"30.0%: ag (1.00%), ag (1.00%), ag (1.00%) and 27 more");
}

/* ---- texts -------------------------------------------------------------------------------- */

static void advice_that_applies(void **state)
{
	static const char yaml[] = RULE
		"    assert: p50_s < 1e-9\n"
		"    message: \"{p50_s * 2:time} {per_step / 4:count} {iif(kind = 'copy', 'c', "
		"'other')}{? of {lo_s * 2}} {platform}\"\n"
		"    fix:\n"
		"      - when: dtype = 'f32' and platform = 'tpu'\n"
		"        do: \"use bf16: {p50_s / 2:time}\"\n"
		"      - when: chips > 1\n"
		"        do: shard it\n"
		"      - do: nothing helps\n"
		"    cause:\n"
		"      - when: lo_s > 1\n"
		"        do: unknown is not true\n";
	(void)state;
	add("run name=x platform=tpu chips=4\n"
	    "ops key=a p50_s=0.002 dtype=f32 per_step=6 kind=copy\n"
	    "ops key=b p50_s=0.002 dtype=bf16 per_step=6 kind=matmul\n");
	judge_yaml(yaml);
	assert_str(finding("r", "a")->fix, "use bf16: 1.00 ms");
	assert_str(finding("r", "b")->fix, "shard it");
	assert_null(finding("r", "a")->cause.p);
	assert_str(finding("r", "a")->message, "4.00 ms 1.5 c tpu");
	assert_str(finding("r", "b")->message, "4.00 ms 1.5 other tpu");
	table_rows(&tables, run)->chips = NAN;
	judge_yaml(yaml);
	assert_str(finding("r", "b")->fix, "nothing helps");
}

/* Columns of the run that the rows have none of stand beside each row. */
static void the_run_is_in_reach(void **state)
{
	(void)state;
	add("run name=x step_time_s=2 step_mean_s=2 "
	    "platform=tpu\nops key=a name=n p50_s=1\nops key=b name=x\n");
	judge_yaml(RULE "    where: platform = 'tpu' and name = 'n'\n"
			"    value: p50_s / step_time_s\n    at_most: 10%\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(result("r")->subjects, 1);
	assert_near(result("r")->number.value, 0.5);
	assert_str(finding("r", "a")->evidence.items[1].name, "run.step_time_s");
	assert_int_equal(finding("r", "a")->evidence.count, 3); /* platform is not the value's */
	tables = (struct tables){ 0 };
	add("ops key=a name=n p50_s=1\n");
	judge_yaml(RULE "    value: p50_s / step_time_s\n    at_most: 10%\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(finding("r", "a")->missing, "run.step_time_s");
}

/* The step's distance from its floor that no finding explains. */
static void a_backstop_is_a_remainder(void **state)
{
	static const char yaml[] =
		HEAD "  rest: { from: run, value: 1 - roofline_ratio_hi - :explained, at_most: { "
		     "warn: 30% "
		     "}, gain: value, message: \"{value:percent} beside {explained:percent}\" }\n"
		     "  r: { from: ops, value: p50_s, at_most: 1 s, gain: p50_s }\n";
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10 roofline_ratio_hi=0.2 roofline_ratio_lo=0.2\n"
	    "ops key=a kind=matmul p50_s=2\n");
	judge_yaml(yaml);
	assert_verdict("rest", VERDICT_WARN);
	assert_near(finding("rest", "run")->value, 0.6);
	assert_str(finding("rest", "run")->message, "60.0% beside 20.0%");
	bool is_told = false;
	for (ptrdiff_t i = 0; i < finding("rest", "run")->evidence.count; i++)
		if (str_eq(finding("rest", "run")->evidence.items[i].name, STR("explained"))) {
			assert_near(finding("rest", "run")->evidence.items[i].value.real, 0.2);
			is_told = true;
		}
	assert_true(is_told);
	assert_near(j.gain_s, 8);
	add("ops key=b kind=matmul p50_s=4\n");
	judge_yaml(yaml);
	assert_verdict("rest", VERDICT_PASS);
	assert_near(result("rest")->number.value, 0.2);
}

/* A SELECT that asks for what is explained is judged last, as an expression is. */
static void a_backstop_may_be_a_select(void **state)
{
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10 roofline_ratio_hi=0.2 roofline_ratio_lo=0.2\n"
	    "ops key=a kind=matmul p50_s=2\n");
	judge_yaml(HEAD
		"  rest:\n"
		"    select: select 1 - roofline_ratio_hi - :explained as rest_ratio from run\n"
		"    value: rest_ratio\n"
		"    at_most: { warn: 30% }\n"
		"    gain: value\n"
		"  r: { from: ops, value: p50_s, at_most: 1 s, gain: p50_s }\n");
	assert_near(result("rest")->number.value, 0.6);
}

/* ---- credits ------------------------------------------------------------------------------ */

#define CREDIT_RUN                                                                                 \
	"run name=x step_time_s=10 step_mean_s=10 "                                                \
	"compute_ratio=0.5 comms_exposed_ratio=0.4 idle_ratio=0.1 "                                \
	"roofline_ratio_lo=0.2\n"

/* One all-gather, blamed by three rules: its second is credited once, to who claims most. */
static void a_second_is_credited_once(void **state)
{
	(void)state;
	add(CREDIT_RUN "collectives key=ag family=ag kind=all-gather exposed_s=3 transfer_s=2\n"
		       "ops key=ag family=ag kind=all-gather time_s=1\n");
	judge_yaml(HEAD "  big: { from: collectives, assert: exposed_s < 1, gain: exposed_s }\n"
			"  slow: { from: collectives, assert: exposed_s < 1, gain: transfer_s }\n"
			"  op: { from: ops, assert: time_s < 0.1, gain: time_s }\n"
			"  comms: { from: run, assert: comms_exposed_ratio < 0.1, gain: "
			"comms_exposed_ratio * step_time_s, group: communication, needs: [] }\n");
	assert_near(finding("big", "ag")->gain_s, 3);
	assert_near(finding("slow", "ag")->gain_s, 0);
	assert_near(finding("slow", "ag")->claimed_s, 2);
	assert_near(finding("slow", "ag")->shared_s, 2);
	assert_near(finding("big", "ag")->shared_s, 0);
	assert_near(finding("comms", "run")->shared_s, 3);
	assert_near(finding("op", "ag")->gain_s, 0);
	assert_near(finding("comms", "run")->gain_s, 1); /* 4 claimed, 3 credited below it */
	assert_near(finding("comms", "run")->claimed_s, 4);
	assert_near(j.gain_s, 4);
	assert_near(table_rows(&tables, run)->gain_s, 4);
}

/* What was asked for, what failed, what warns: in each whole rules, by what they claim. */
static void findings_come_by_cost(void **state)
{
	static const char *const order[] = { "slower b", "comms run", "two c", "two d", "one e",
		"peak m", "wary f" };

	(void)state;
	add(CREDIT_RUN
		"ops key=c name=c kind=copy time_s=0.6\nops key=d name=d kind=copy time_s=0.5\n"
		"ops key=e name=e kind=sort time_s=0.8\nops key=f name=f kind=matmul time_s=3\n"
		"deltas metric=run.step_time_s key=b lo=0.01 lost_s=0.2\n"
		"memory device=m capacity_bytes=100 window_peak_bytes=99\n");
	judge_yaml(HEAD "  one: { from: ops, where: kind = 'sort', value: time_s, at_most: 0.1 s, "
			"gain: time_s }\n"
			"  two: { from: ops, where: kind = 'copy', value: time_s, at_most: 0.1 s, "
			"gain: time_s }\n"
			"  comms: { from: run, value: comms_exposed_ratio, at_most: 10%, gain: "
			"value, group: "
			"communication, needs: [] }\n"
			"  peak: { from: memory, value: window_peak_bytes / capacity_bytes, "
			"at_most: 50%, gain: "
			"window_peak_bytes - 1, group: memory, needs: [] }\n"
			"  wary: { from: ops, where: kind = 'matmul', value: time_s, at_most: "
			"{ warn: 0.1 s }, gain: time_s }\n"
			"  slower: { from: deltas, value: lo, at_most: 0%, gain: lost_s }\n");
	assert_int_equal(j.finding_count, 7);
	for (ptrdiff_t i = 0; i < j.finding_count; i++)
		assert_str(arena_fmt(&keep, "%.*s %.*s", STR_ARG(j.findings[i].rule),
				   STR_ARG(j.findings[i].subject)),
			order[i]);
}

/* A row of the run keeps its subject, whatever check of the data it tells. */
static void a_select_says_what_it_tells(void **state)
{
	(void)state;
	add("run name=x\nquality name=all-hosts ok=0 detail=y\n");
	judge_yaml(HEAD "  r: { group: evidence, select: \"select run.name as key, 'all-hosts' as "
			"tells, 1 as n from run\", value: n, at_least: 2, message: few }\n");
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_str(result("r")->lacks, "all-hosts");
	assert_str(finding("r", "run")->message, "few");
}

/* What a command takes is ready for a shell; without a baseline its part is left out. */
static void commands_name_what_was_given(void **state)
{
	(void)state;
	add("ops name=a key=ka kind=copy p50_s=9\n");
	context.profile = STR("'my runs'");
	judge_yaml(RULE
		"    value: p50_s\n    at_most: 1 s\n    message: \"query {profile}{? and diff "
		"{baseline} {profile}}\"\n");
	assert_str(finding("r", "ka")->message, "query 'my runs'");
	context.baseline = STR("monday");
	judge_set();
	assert_str(finding("r", "ka")->message, "query 'my runs' and diff monday 'my runs'");
}

/* Ops of a family and the family itself are the same seconds, as many as the most of both. */
static void a_family_is_one_claim(void **state)
{
	(void)state;
	add(CREDIT_RUN "families family=f key=a kind=matmul p50_s=1.5\n"
		       "ops key=a family=f kind=matmul p50_s=1\n"
		       "ops key=b family=f kind=matmul p50_s=1\n"
		       "ops key=c family=g kind=matmul p50_s=0.5\n");
	judge_yaml(HEAD "  fam: { from: families, assert: p50_s < 0, gain: p50_s }\n"
			"  ops: { from: ops, assert: p50_s < 0, gain: p50_s }\n");
	assert_near(finding("fam", "f")->gain_s, 1.5);
	assert_near(finding("ops", "a")->gain_s, 0);
	assert_near(finding("ops", "b")->gain_s, 0.5);
	assert_near(finding("ops", "c")->gain_s, 0.5);
	assert_near(j.gain_s, 2.5);
}

static void pools_are_limited(void **state)
{
	(void)state;
	add(CREDIT_RUN "ops key=a kind=all-gather p50_s=3\n"
		       "ops key=b kind=all-reduce p50_s=2\n"
		       "ops key=c kind=matmul p50_s=4\n"
		       "ops key=d kind=matmul p50_s=4\n"
		       "gaps key=g after=g time_s=5\n");
	judge_yaml(HEAD "  r: { from: ops, assert: p50_s < 0, gain: p50_s }\n"
			"  g: { from: gaps, assert: time_s < 0, gain: time_s }\n");
	/* Largest first: 1 s of idling, 5 of computing, 4 of communicating; 8 is the ideal. */
	assert_near(finding("g", "g")->gain_s, 1);
	assert_near(finding("g", "g")->shared_s, 0); /* the devices idle no longer than that */
	assert_near(finding("r", "d")->shared_s, 3);
	assert_near(finding("r", "c")->gain_s, 4);
	assert_near(finding("r", "d")->gain_s, 1);
	assert_near(finding("r", "a")->gain_s, 2);
	assert_near(finding("r", "b")->gain_s, 0);
	assert_near(j.gain_s, 8);
}

static void unknown_budgets(void **state)
{
	(void)state;
	add("run name=x step_time_s=10 step_mean_s=10\nops "
	    "key=a kind=matmul p50_s=7\nops key=b kind=copy "
	    "p50_s=7\n");
	judge_yaml(RULE "    assert: p50_s < 0\n    gain: p50_s\n");
	assert_near(j.gain_s, 10); /* no pool is known, but the step is */
	judge_yaml(RULE "    assert: p50_s < 0\n    gain: lo_s\n"); /* an unknown gain */
	assert_true(isnan(finding("r", "a")->gain_s));
	/* Never negative, so nothing of it matters. */
	judge_yaml(RULE "    assert: p50_s < 0\n    gain: 0 - p50_s\n");
	assert_verdict("r", VERDICT_PASS);
	assert_near(result("r")->cost, 0);
	tables = (struct tables){ 0 };
	add("ops key=a kind=matmul p50_s=7\n");
	judge_yaml(
		RULE "    assert: p50_s < 0\n    gain: p50_s\n"); /* of a step that is not known */
	assert_verdict("r", VERDICT_INCONCLUSIVE);
	assert_near(j.gain_s, 0);
}

static void held_up_rules_claim_nothing(void **state)
{
	(void)state;
	add(CREDIT_RUN "ops key=a kind=matmul p50_s=3\n");
	judge_yaml(HEAD "  g: { group: evidence, from: run, assert: steps > 1 }\n"
			"  r: { from: ops, assert: p50_s < 0, gain: p50_s }\n"
			"  s: { from: ops, assert: p50_s < 0, gain: p50_s / 3, needs: [] }\n");
	assert_near(finding("s", "a")->gain_s, 1);
	assert_near(j.gain_s, 1);
}

/* ---- what SQL may do ---------------------------------------------------------------------- */

static void runaway_rules(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		add("ops key=a p50_s=1\n");
	assert_true(ruleset_parse(engine, STR("t.yaml"),
		STR(HEAD "  r:\n"
			 "    select: select count(*) as n from ops a, ops b, ops c\n"
			 "    assert: n > 1\n"),
		&keep, &set, &err));
	assert_false(judge(&set, &tables, &context, &keep, &j, &err));
	assert_int_equal(err.id, DIAG_RULE_BUDGET);
	assert_string_equal(err.text,
		"t.yaml:3:3: rule r cannot be judged: it did not end within 51 million steps; join "
		"on key, family or name, or select fewer rows");
	/* The engine is none the worse for it. */
	judge_yaml(RULE "    assert: p50_s < 2\n");
	assert_verdict("r", VERDICT_PASS);
}

/* A rule that joins a few texts of each row ends, however many rows a job has. */
static void budgets_grow_with_rows(void **state)
{
	struct str joined = STR("key");
	(void)state;
	for (int i = 0; i < 100000; i++)
		add("ops key=a p50_s=1\n");
	for (int i = 1; i < 18; i++)
		joined = arena_fmt(&keep, "%.*s || key", STR_ARG(joined));
	judge_yaml(arena_z(&keep, arena_fmt(&keep, RULE "    assert: %.*s = 'aaaaaaaaaaaaaaaaaa'\n",
					  STR_ARG(joined))));
	assert_verdict("r", VERDICT_PASS);
}

/* Bytes cost, too: texts that nested subqueries double, looked at by whatever looks at texts. */
static void texts_have_a_budget(void **state)
{
	static const char *const conditions[] = { "max(t like '%a%b%a%b') >= 0",
		"max(instr(t, substr(t, 2) || 'b')) >= 0", "max(glob('*a*b*', t)) >= 0",
		"max(length(t || lower(t))) >= 0", "max(substr(t, -9) = upper(t)) >= 0",
		"max(t + 0) >= 0", "max((x.key || t) = 'b') >= 0" };
	(void)state;
	for (int i = 0; i < 300; i++)
		add("ops key=a p50_s=1\n");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		struct str text = STR("'aaaaaaaaaaaaaaaa' as t");
		for (int k = 0; k < 9; k++)
			text = arena_fmt(&keep, "t || t as t from (select %.*s)", STR_ARG(text));
		text = arena_fmt(&keep,
			HEAD "  r:\n    select: select %s as n from ops x, ops y, ops z, (select "
			     "%.*s)\n    assert: n = 1\n",
			conditions[i], STR_ARG(text));
		if (!ruleset_parse(engine, STR("t.yaml"), text, &keep, &set, &err))
			fail_msg("%s", err.text);
		clock_t begin = clock(); /* style: a limit of time is what is tested */
		assert_false(judge(&set, &tables, &context, &keep, &j, &err));
		if (clock() - begin > 5 * CLOCKS_PER_SEC)
			fail_msg("%s", conditions[i]);
	}
}

static void changes_need_a_baseline(void **state)
{
	(void)state;
	add("run name=x\n");
	judge_yaml(HEAD "  g: { group: evidence, from: run, value: steps, at_least: 2 }\n"
			"  r: { from: changes, value: lost_s, at_most: 1 s, needs: g }\n");
	assert_verdict("g", VERDICT_INCONCLUSIVE);
	assert_verdict("r", VERDICT_NOT_APPLICABLE);
}

/* Each is within the budget of one. */
static void rules_have_a_budget_together(void **state)
{
	struct str text = STR(HEAD);
	(void)state;
	for (int i = 0; i < 1000; i++)
		add("ops key=a p50_s=1\n");
	for (int i = 0; i < 100; i++)
		text = arena_fmt(&keep,
			"%.*s  r%d: { select: 'select count(*) as n from ops a, ops b', assert: n "
			"> 1 }\n",
			STR_ARG(text), i);
	assert_true(ruleset_parse(engine, STR("t.yaml"), text, &keep, &set, &err));
	assert_false(judge(&set, &tables, &context, &keep, &j, &err));
	assert_int_equal(err.id, DIAG_RULE_BUDGET);
	assert_non_null(
		strstr(err.text, "the rules of the file together take more than 102 million"));
	assert_int_equal(sqlite3_hard_heap_limit64(-1), 0); /* others of the process use SQLite */
}

/* Ours say what SQLite's own say. */
static void functions_of_texts(void **state)
{
	static const char *const texts[] = { "null", "''", "'a'", "'Abc'",
		"'a\xc3\xa9\xe2\x82\xac b'", "'%_a'", "12", "1.5" };
	sqlite3 *plain;
	char sql[512];
	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &plain), SQLITE_OK);
	for (size_t a = 0; a < sizeof(texts) / sizeof(texts[0]); a++)
		for (size_t b = 0; b < sizeof(texts) / sizeof(texts[0]); b++)
			for (int y = -7; y <= 7; y++) {
				snprintf(sql, sizeof(sql),
					"select lower(%s), upper(%s), length(%s), substr(%s, %d), "
					"substr(%s, %d, %s), "
					"instr(%s, %s), %s like %s, %s glob %s, %s like %s escape "
					"'!', "
					"substr(%s, 3, %d), substr(%s, -2, %d)",
					texts[a], texts[a], texts[a], texts[a], y, texts[a], y,
					texts[b], texts[a], texts[b], texts[a], texts[b], texts[a],
					texts[b], texts[a], texts[b], texts[a], y, texts[a], y);
				sqlite3_stmt *stmts[2];
				for (int k = 0; k < 2; k++) {
					assert_int_equal(
						sqlite3_prepare_v2(k ? engine->sql.db : plain, sql,
							-1, &stmts[k], NULL),
						SQLITE_OK);
					assert_int_equal(sqlite3_step(stmts[k]), SQLITE_ROW);
				}
				for (int i = 0; i < sqlite3_column_count(stmts[0]); i++) {
					const char *x =
						(const char *)sqlite3_column_text(stmts[0], i);
					const char *z =
						(const char *)sqlite3_column_text(stmts[1], i);
					if (!x != !z || (x && strcmp(x, z)))
						fail_msg("%s: %d: %s, not %s", sql, i,
							z ? z : "NULL", x ? x : "NULL");
				}
				for (int k = 0; k < 2; k++)
					sqlite3_finalize(stmts[k]);
			}
	sqlite3_close(plain);
}

/*
 * The second line of defence: what SQLite itself is asked, without the checks that refuse most of
 * these before.
 */
static void what_the_authorizer_denies(void **state)
{
	static const char *const denied[] = { "attach database '/tmp/x' as y",
		"pragma user_version", "pragma temp_store = file",
		"select * from pragma_table_list", "select * from sqlite_schema",
		"select * from json_each('[1]')", "create table x(a)",
		"create temp view v as select 1", "insert into ops(name) values ('x')",
		"update ops set name = 'x'", "delete from ops", "drop table ops",
		"vacuum into '/tmp/x'", "begin", "analyze", "reindex", "select load_extension('x')",
		"select writefile('/tmp/x', 'y')", "select readfile('/x')", "select random()",
		"select randomblob(9)", "select current_timestamp", "select datetime('now')",
		"select sqlite_version()", "select zeroblob(99999999)",
		"with recursive a(x) as (select 1 union all select x + 1 from a) select x from a",
		"explain select 1", "select 1; select 2", "select fts5(1)", "select hex('a')",
		"select name from ops -> 'x'", "select \"matmul\"", "select printf('%9999d', 1)" };
	(void)state;
	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
		struct sql_fault fault = { .id = DIAG_NONE };
		sqlite3_stmt *stmt = sql_prepare(&engine->sql, str_from(denied[i]), &keep, &fault);

		if (stmt)
			fail_msg("allowed: %s", denied[i]);
		assert_int_equal(fault.id, DIAG_RULE_SQL);
		assert_true(fault.text.len > 0);
	}
}

/* A parameter is bound, never pasted; a text in a table is only ever a value. */
static void nothing_is_injected(void **state)
{
	(void)state;
	add("ops key=a' name=x'||(select(1))||' kind=matmul p50_s=1\n");
	judge_yaml(RULE "    where: name glob '*select*'\n"
			"    assert: p50_s < :limit\n"
			"    params: { limit: 0.5 }\n"
			"    message: \"{name} {limit}\"\n");
	assert_str(j.findings[0].message, "x'||(select(1))||' 0.5");
	assert_str(j.findings[0].subject, "a'");
}

static void used_again(void **state)
{
	struct tables other = { 0 };
	(void)state;
	add("ops key=a name=a p50_s=1\nops key=b name=b p50_s=3\n");
	judge_yaml(
		HEAD "  r: { from: ops, where: key = 'b', assert: p50_s <= 2 }\n"
		     "  s: { select: select key from ops where key = 'b', assert: key = 'a' }\n");
	assert_verdict("r", VERDICT_FAIL);
	assert_verdict("s", VERDICT_FAIL);
	struct tables first = tables;
	tables = other;
	add("ops key=b name=b p50_s=1\n");
	judge_set();
	assert_verdict("r", VERDICT_PASS);
	assert_verdict("s", VERDICT_FAIL);
	tables = first;
	judge_set();
	assert_verdict("r", VERDICT_FAIL);
	assert_int_equal(j.finding_count, 2);
}

/* ---- queries ------------------------------------------------------------------------------ */

struct seen {
	char text[4096];
	int rows;
	int stop_after;
};

static bool see_header(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct seen *s = arg;
	assert_null(cells);
	for (ptrdiff_t i = 0; i < count; i++)
		strncat(s->text, arena_z(&keep, arena_fmt(&keep, "%.*s|", STR_ARG(columns[i]))),
			100);
	return true;
}

static bool see_row(
	void *arg, const struct str *columns, const struct query_cell *cells, ptrdiff_t count)
{
	struct seen *s = arg;
	(void)columns;
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str t = cells[i].is_null	  ? STR("NULL")
			       : cells[i].is_text ? cells[i].text
			       : cells[i].is_integer
				       ? arena_fmt(&keep, "%lld", (long long)cells[i].integer)
				       : arena_fmt(&keep, "%g", cells[i].real);
		strncat(s->text, arena_z(&keep, arena_fmt(&keep, " %.*s", STR_ARG(t))), 100);
	}
	return ++s->rows != s->stop_after;
}

static bool query(const char *sql, struct seen *s)
{
	return engine_query(engine, &tables, NULL, str_from(sql), see_row, see_header, s, &err);
}

static void queries(void **state)
{
	struct seen s = { .stop_after = -1 };
	(void)state;
	add("ops key=a name=n p50_s=1.5 kind=matmul\nops key=b p50_s=2\n");
	assert_true(
		query("SELECT key, name, p50_s, count(*) OVER () AS n FROM ops ORDER BY 1;", &s));
	assert_string_equal(s.text, "key|name|p50_s|n| a n 1.5 2 b NULL 2 2");
	s = (struct seen){ .stop_after = 1 };
	assert_false(query("select key from ops", &s));
	assert_int_equal(s.rows, 1);
	s = (struct seen){ .stop_after = -1 };
	assert_true(
		query("with m as (select kind k, group_concat(key) as keys from ops group by 1) "
		      "select keys from m where k is null",
			&s));
	assert_string_equal(s.text, "keys| b");
	s = (struct seen){ .stop_after = -1 };
	assert_true(query("with m as (select kind, key from ops) select kind, "
			  "(select count(*) from m) as n from m where kind is not null",
		&s));
	assert_string_equal(s.text, "kind|n| matmul 2");
}

#define FUNCTIONS                                                                                  \
	"; there are abs, min, max, coalesce, ifnull, nullif, iif, round and more (docs/rules.md)"

static void refused_queries(void **state)
{
	static const struct {
		const char *sql, *error;
	} cases[] = {
		{ "select p50 from ops", "query:1:8: there is no column 'p50' here; did you mean "
					 "'p50_s'?\n"
					 "  select p50 from ops\n"
					 "         ^~~" },
		{ "select p50_s\nfrom op",
			"query:2:6: there is no table 'op'; did you mean 'ops'?\n"
			"  from op\n"
			"       ^~" },
		{ "select 1 from ops where kind = 'matmull'",
			"query:1:32: kind is never 'matmull'; did you mean 'matmul'?\n"
			"  select 1 from ops where kind = 'matmull'\n"
			"                                 ^~~~~~~~~" },
		{ "select random()", "query:1:8: there is no function random() here" FUNCTIONS "\n"
				     "  select random()\n"
				     "         ^~~~~~" },
		{ "select", "query: not valid SQL: incomplete input" },
		{ "", "query:1:1: a SELECT is wanted here\n"
		      "  \n"
		      "  ^" },
		{ "drop table ops", "query:1:1: a SELECT is wanted here\n"
				    "  drop table ops\n"
				    "  ^~~~" },
		{ "attach 'x' as y", "query:1:1: a SELECT is wanted here\n"
				     "  attach 'x' as y\n"
				     "  ^~~~~~" },
		{ "pragma table_list", "query:1:1: a SELECT is wanted here\n"
				       "  pragma table_list\n"
				       "  ^~~~~~" },
		{ "select 1; select 2", "query:1:9: one expression only, without ';'\n"
					"  select 1; select 2\n"
					"          ^" },
		{ "with recursive a(x) as (select 1 union all select x + 1 from a) select x from a",
			"query: not allowed here (not authorized): only reading the tables of the "
			"run is" },
		{ "with x as (select 1 as a) select count(*) from sqlite_schema, x",
			"query: not allowed here (not authorized): only reading the tables of the "
			"run is" },
		{ "with x as (select 1 as a) select count(*) from pragma_table_list",
			"query: not allowed here (not authorized): only reading the tables of the "
			"run is" },
		{ "select * from sqlite_schema", "query:1:15: there is no table 'sqlite_schema'; "
						 "`rooflint tables` lists them\n"
						 "  select * from sqlite_schema\n"
						 "                ^~~~~~~~~~~~~" },
		{ "select log(2)", "query:1:8: there is no function log() here; it is ln(), log2() "
				   "or log10()\n"
				   "  select log(2)\n"
				   "         ^~~" },
		{ "select concat(1)", "query:1:8: there is no function concat() here; it is the "
				      "operator ||\n"
				      "  select concat(1)\n"
				      "         ^~~~~~" },
		{ "select load_extension('x')", "query:1:8: there is no function load_extension() "
						"here" FUNCTIONS "\n"
						"  select load_extension('x')\n"
						"         ^~~~~~~~~~~~~~" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen s = { .stop_after = -1 };

		assert_false(query(cases[i].sql, &s));
		assert_string_equal(err.text, cases[i].error);
		assert_int_equal(s.rows, 0);
	}
}

/* ---- the built-in rules ------------------------------------------------------------------- */

/* A run that nothing is wrong with, as far as the gates look. */
#define SOUND                                                                                      \
	"run name=demo platform=tpu devices=8 chips=8 hosts=1 hosts_expected=1 phase=train "       \
	"steps=10 step_time_s=0.01 step_mean_s=0.01 "                                              \
	"remat_flops_ratio=0.1 uncounted_ratio=0.05 "                                              \
	"input_wait_ratio=0 sync_wait_ratio=0 "                                                    \
	"unattributed_ratio=0.01 unknown_kind_ratio=0 unclear_comms_ratio=0 "                      \
	"op_util=0.6 hbm_util=0.3 "                                                                \
	"judged_ratio=0.9 roofline_ratio_lo=0.2 roofline_ratio_hi=0.8 window_s=0.1 "               \
	"evidence=measured compute_ratio=0.5 comms_exposed_ratio=0.05 "                            \
	"idle_ratio=0.01 layout_copy_ratio=0.01 update_excess_ratio=0 transfer_ratio=0.01 "        \
	"all_hosts_read=1 whole_hlo=1 "                                                            \
	"tiny_ops_ratio=0.01 tiny_ops_count_ratio=0.2 compiles_in_steps=0\n"                       \
	"devices host=h device=0 core_type=compute slowness=1 wait_ratio=0.01 busy_s=0.05 "        \
	"window_s=0.1\n"                                                                           \
	"quality name=not-truncated ok=1 detail=-\n"                                               \
	"quality name=no-dropped-events ok=1 detail=-\n"                                           \
	"quality name=clock-sane ok=1 detail=-\n"                                                  \
	"quality name=ops-recorded ok=1 detail=-\n"                                                \
	"quality name=steps-found ok=1 detail=-\n"                                                 \
	"quality name=chip-known ok=1 detail=-\n"                                                  \
	"quality name=peaks-agree ok=1 detail=-\n"                                                 \
	"quality name=hlo-present ok=1 detail=-\n"

#define DOT                                                                                        \
	"families name=dot.1 family=ffn kind=matmul time_share=0.3 overlap_ratio=0 p50_s=1e-3 "    \
	"per_step=1 rate=1 recurs=1 role=step cost_bound=exact bound=compute shape=bf16[8,8] "     \
	"skew=1 efficiency=0.9 "
#define GATHER                                                                                     \
	"collectives name=ag.1 key=ag family=ag kind=all-gather message_bytes=1e8 group_size=8 "   \
	"per_step=1 role=step link=ici topology_source=table "

static void judge_builtin(const char *rows)
{
	tables = (struct tables){ 0 };
	add(SOUND);
	add(rows);
	judge_set();
}

/* A sound run has nothing to say but that it passed. */
static void a_sound_run_passes(void **state)
{
	(void)state;
	assert_true(ruleset_load(engine, NULL, STR("recommended"), NULL, &keep, &set, &err));
	judge_builtin("");
	for (ptrdiff_t i = 0; i < j.finding_count; i++)
		fail_msg("%.*s: %.*s", STR_ARG(j.findings[i].rule), STR_ARG(j.findings[i].message));
	assert_int_equal(j.verdict, VERDICT_PASS);
}

/* Where nothing is known, nothing is green. */
static void an_empty_profile_is_never_green(void **state)
{
	static const char *const builtin[] = { "recommended", "strict", "fleet" };
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(
			ruleset_load(engine, NULL, str_from(builtin[i]), NULL, &keep, &set, &err));
		tables = (struct tables){ 0 };
		judge_set();
		assert_int_equal(j.verdict, VERDICT_INCONCLUSIVE);
		for (ptrdiff_t k = 0; k < j.result_count; k++)
			assert_int_not_equal(j.results[k].verdict, VERDICT_PASS);
	}
}

static void messages_of_builtin_rules(void **state)
{
	(void)state;
	assert_true(ruleset_load(engine, NULL, STR("recommended"), NULL, &keep, &set, &err));
	judge_builtin(DOT "lo_s=1e-3 attainable_s=0.4e-3 t_math_s=0.4e-3\n" GATHER
			  "exposed_s=6e-3 exposed_share=0.45\n");
	assert_true(str_contains(finding("matmul-roofline", "ffn")->message,
		STR("takes 1.00 ms where 400 us is attainable")));
	assert_str(finding("oversized-all-gather", "run")->places.items[0].name, "ag.1");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)
	const struct CMUnitTest tests[] = {
		TEST(pass_and_fail),
		TEST(warnings),
		TEST(nothing_to_judge),
		TEST(switched_off),
		TEST(unknown_where),
		TEST(unknown_assert),
		TEST(unknown_of_a_select),
		TEST(unknown_warn),
		TEST(weights_within_a_rule),
		TEST(unknown_elsewhere),
		TEST(evidence),
		TEST(messages),
		TEST(messages_of_their_own),
		TEST(brief_messages),
		TEST(order_of_findings),
		TEST(rules_over_a_select),
		TEST(units_of_computed_columns),
		TEST(joins),
		TEST(gates),
		TEST(unknown_gates),
		TEST(gates_of_other_kinds),
		TEST(gates_weigh),
		TEST(verdict_of_the_whole),
		TEST(nothing_tiny_stops_a_release),
		TEST(nothing_large_passes_in_pieces),
		TEST(pools_cap_the_cost),
		TEST(chips_work_side_by_side),
		TEST(a_delay_is_credited_once),
		TEST(a_late_host_is_credited_once),
		TEST(compiling_is_idle_time),
		TEST(waiting_is_credited_once),
		TEST(work_that_runs_once_warns),
		TEST(work_that_goes_takes_its_roofline_along),
		TEST(what_may_explain_a_regression_is_not_paid_again),
		TEST(a_regression_that_waits_is_explained),
		TEST(a_change_gives_back_what_was_lost),
		TEST(transfers_end_where_the_hosts_link_begins),
		TEST(of_busy_time_and_of_capacity),
		TEST(a_share_is_its_own_cost),
		TEST(trifles_open_nothing),
		TEST(a_gain_that_is_not_known),
		TEST(what_may_come_on_top),
		TEST(who_can_fail),
		TEST(numbers_of_one),
		TEST(headroom_of_nothing),
		TEST(headroom_of_many),
		TEST(numbers_of_many),
		TEST(the_run_is_known_again),
		TEST(a_device_is_its_hosts),
		TEST(places_make_up_the_value),
		TEST(places_belong_to_their_row),
		TEST(all_places_are_counted),
		TEST(advice_that_applies),
		TEST(the_run_is_in_reach),
		TEST(a_backstop_is_a_remainder),
		TEST(a_backstop_may_be_a_select),
		TEST(a_second_is_credited_once),
		TEST(findings_come_by_cost),
		TEST(a_select_says_what_it_tells),
		TEST(commands_name_what_was_given),
		TEST(a_family_is_one_claim),
		TEST(pools_are_limited),
		TEST(unknown_budgets),
		TEST(held_up_rules_claim_nothing),
		TEST(runaway_rules),
		TEST(budgets_grow_with_rows),
		TEST(texts_have_a_budget),
		TEST(changes_need_a_baseline),
		TEST(rules_have_a_budget_together),
		TEST(functions_of_texts),
		TEST(what_the_authorizer_denies),
		TEST(nothing_is_injected),
		TEST(used_again),
		TEST(queries),
		TEST(refused_queries),
		TEST(a_sound_run_passes),
		TEST(an_empty_profile_is_never_green),
		TEST(messages_of_builtin_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
