/* Running the tests of a rule file.  See rules_test.h. */
#include "cmd/rules_test.h"

#include <math.h>

#include "base/embed.h"
#include "base/input.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "rules/fixture.h"

struct tester {
	struct context *c;
	const struct ruleset *rules;
	struct fixture_set set;
	struct str file;
	bool is_named;	      /* with --tests, not found beside the rules */
	struct report report; /* one case per test, for JUnit */
	ptrdiff_t failed;
};

/* ---- where they are -------------------------------------------------------------------------- */

/* "rooflint.yaml" has its tests in "rooflint.test.yaml". */
static struct str beside(struct str rules, struct arena *keep)
{
	static const struct str ends[] = { STR_INIT(".yaml"), STR_INIT(".yml"), STR_INIT(".json") };
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_ends(rules, ends[i]))
			return arena_fmt(keep, "%.*s.test.yaml",
				STR_ARG(str_head(rules, rules.len - ends[i].len)));
	return arena_fmt(keep, "%.*s.test.yaml", STR_ARG(rules));
}

static bool read_tests(const struct tester *t, struct str *text, struct diag *err)
{
	struct str built_in = arena_fmt(t->c->keep, "rules/%.*s", STR_ARG(t->file));
	*text = str_find_char(t->file, '/') < 0 ? embed_find(built_in) : STR("");
	if (text->p && text->len)
		return true;
	if (!t->is_named && !input_is_below(path_folder(t->file), t->file))
		return diag_set(err, DIAG_RULE_SCHEMA,
			"%.*s is a link that leaves its folder; name the file with --tests",
			STR_ARG(t->file));
	return input_text(t->file, DOC_MAX_BYTES, t->c->keep, text, err) ||
	       diag_append(err, "the tests of a rule file stand beside it, or --tests names them");
}

/* ---- one test -------------------------------------------------------------------------------- */

static void add_case(struct tester *t, const struct fixture *f, struct str wrong)
{
	struct arena *keep = t->c->keep;
	struct report *r = &t->report;
	struct str title = arena_fmt(keep, "%.*s: %.*s", STR_ARG(f->rule),
		STR_ARG(f->name.p ? f->name : verdict_name(f->expect)));
	enum verdict verdict = wrong.p ? VERDICT_FAIL : VERDICT_PASS;
	r->results[r->result_count++] = (struct report_rule){ .name = title,
		.title = title,
		.verdict = verdict,
		.number = NO_NUMBER,
		.cost = NAN,
		.breaks = wrong.p != NULL };
	if (!wrong.p)
		return;
	t->failed++;
	out_fmt(t->c->out, "%.*s:%lld: %.*s: %.*s\n", STR_ARG(t->file), (long long)f->line,
		STR_ARG(f->rule), STR_ARG(wrong));
	r->findings[r->finding_count++] = (struct report_finding){ .rule = title,
		.verdict = verdict,
		.message = wrong,
		.gain_s = NAN,
		.claimed_s = NAN,
		.source_file = t->file,
		.source_line = (double)f->line };
}

static bool run_test(struct tester *t, struct fixture *f, struct diag *err)
{
	struct arena *keep = t->c->keep;
	struct rule_result result = { .verdict = VERDICT_OFF };
	struct str wrong = { NULL, 0 };
	if (!fixture_judge(t->rules, f, keep, &result, err))
		return false;
	if (result.verdict != f->expect)
		wrong = arena_fmt(keep, "%.*s was expected, and it is %.*s%s%.*s",
			STR_ARG(verdict_name(f->expect)), STR_ARG(verdict_name(result.verdict)),
			result.reason.len ? ": " : "", STR_ARG(result.reason));
	add_case(t, f, wrong);
	return true;
}

/* Only what passes can be turned bad. */
static bool run_mutation(struct tester *t, struct fixture *f, struct diag *err)
{
	struct str how, wrong = { NULL, 0 };
	bool is_red;
	if (f->expect != VERDICT_PASS)
		return true;
	if (!fixture_mutate(t->rules, f, t->c->keep, &is_red, &how, err))
		return false;
	if (!is_red)
		wrong = STR("no absurd value of a column or two makes the rule fail or warn: it "
			    "protects nobody");
	add_case(t, f, wrong);
	return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_tested(const struct tester *t, const struct rule *rule, bool good)
{
	for (ptrdiff_t i = 0; i < t->set.count; i++)
		if (str_eq(t->set.items[i].rule, rule->name) &&
			good == (t->set.items[i].expect == VERDICT_PASS))
			return true;
	return false;
}

/* An inherited rule is tested where it comes from, unless the file changes it. */
static bool is_own(const struct ruleset *rules, const struct rule *rule)
{
	return rule->severity != SEVERITY_OFF && rule_is_from(rule, rules->files[0]);
}

/* Rules that nothing shows to pass, or nothing shows to fail. */
static void tell_untested(const struct tester *t, bool good)
{
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < t->rules->count; i++)
		if (is_own(t->rules, t->rules->items[i]) && !is_tested(t, t->rules->items[i], good))
			out_fmt(t->c->out, "%s%.*s",
				count++ ? ", "
				: good	? "no test passes: "
					: "no test is bad: ",
				STR_ARG(t->rules->items[i]->name));
	if (count)
		out_char(t->c->out, '\n');
}

static enum status run(struct tester *t, const struct test_settings *s, struct diag *err)
{
	struct arena *keep = t->c->keep;
	struct str text;
	if (!read_tests(t, &text, err) ||
		!fixtures_parse(t->file, text, t->rules, keep, &t->set, err))
		return misused(err);
	t->report = (struct report){ .profile = t->file, .rules = t->rules->name, .gain_s = NAN };
	t->report.results = arena_make(keep, struct report_rule, t->set.count + 1);
	t->report.findings = arena_make(keep, struct report_finding, t->set.count + 1);
	for (ptrdiff_t i = 0; i < t->set.count; i++)
		if (!(s->mutate ? run_mutation : run_test)(t, &t->set.items[i], err))
			return misused(err);
	tell_untested(t, true);
	tell_untested(t, false);
	out_fmt(t->c->out, "%.*s: %td test%s of %td rules, %td failed\n", STR_ARG(t->file),
		t->report.result_count, t->report.result_count == 1 ? "" : "s", t->rules->count,
		t->failed);
	t->report.verdict = t->failed ? VERDICT_FAIL : VERDICT_PASS;
	if (s->junit.p) {
		struct report_set set = { &t->report, 1, STR_INIT(ROOFLINT_VERSION) };
		struct out *o = out_file(keep, s->junit, err);
		if (!o || !report_junit(&set, JUNIT_STRICT, keep, o, err) || !out_close(o, err))
			return fail(err);
	}
	return t->failed ? STATUS_RULE : STATUS_OK;
}

enum status rules_test(
	struct context *c, const struct test_settings *s, const struct ruleset *rules)
{
	struct diag err;
	struct tester t = { .c = c, .rules = rules, .is_named = s->tests.p };
	t.file = s->tests.p ? s->tests : beside(rules->name, c->keep);
	return run(&t, s, &err);
}
