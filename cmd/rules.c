/*
 * rooflint rules: the rule file as it was understood.
 *
 *     list    what is judged
 *     show    the resolved file, or one rule, with the origin of every value; a whole one is
 *             itself a valid rule file
 *     check   only whether it loads
 *     test    against rows whose verdict is known
 *     schema  what a rule file may hold, for editors
 */
#include <math.h>

#include "base/embed.h"
#include "base/input.h"
#include "base/text.h"
#include "base/when.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "report/report.h"
#include "rules/fixture.h"
#include "rules/print.h"

struct rules_settings {
	struct rule_settings rule;
	struct str tests, junit, today;
	bool mutate;
};

/* ---- list ------------------------------------------------------------------------------------ */

/* The worst that a rule can say. */
static struct str level_of(const struct rule *r)
{
	if (r->severity == SEVERITY_OFF)
		return STR("off");
	if (r->gate)
		return STR("gate");
	bool fails = r->assert.text.p || r->params[PARAM_FAIL].text.p;
	return fails && r->severity == SEVERITY_ERROR ? STR("error") : STR("warn");
}

static void list_rules(struct context *c, const struct ruleset *set)
{
	struct grid g = { .keep = c->keep, .columns = 4, .has_header = true, .wrap = TEXT_WIDTH };
	grid_row(&g, STR("RULE"), STR("GROUP"), STR("LEVEL"), STR("DEMANDS"));
	for (ptrdiff_t i = 0; i < set->count; i++)
		grid_row(&g, set->items[i]->name, set->items[i]->group.text,
			level_of(set->items[i]), set->items[i]->title.text);
	grid_print(&g, c->out);
}

/* ---- check ----------------------------------------------------------------------------------- */

static void check_rules(struct context *c, const struct ruleset *set, struct str today)
{
	ptrdiff_t gates = 0, off = 0;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		gates += set->items[i]->gate && set->items[i]->severity != SEVERITY_OFF;
		off += set->items[i]->severity == SEVERITY_OFF;
	}
	out_fmt(c->out, "%.*s: OK, %td rule%s (%td gate%s, %td off) from ", STR_ARG(set->name),
		set->count, set->count == 1 ? "" : "s", gates, gates == 1 ? "" : "s", off);
	for (ptrdiff_t i = 0; i < set->file_count; i++)
		out_fmt(c->out, "%s%.*s", i ? ", " : "", STR_ARG(set->files[i]));
	out_char(c->out, '\n');
	for (ptrdiff_t i = 0; i < set->count && gates; i++) {
		const struct rule *rule = set->items[i];
		if (!rule->gate && !rule->group.text.p && !rule->needs.origin.node &&
			rule->severity != SEVERITY_OFF)
			out_fmt(c->out, "%.*s: no group and no needs, so it needs every gate\n",
				STR_ARG(rule->name));
		if (rule->required && rule->value.text.p && !rule->params[PARAM_FAIL].text.p)
			out_fmt(c->out,
				"%.*s: required, and without a failure limit: it only warns\n",
				STR_ARG(rule->name));
	}
	for (ptrdiff_t i = 0; i < set->waiver_count && today.p; i++) {
		struct str expired = waiver_expired(set->waivers[i], today, c->keep);
		if (expired.p)
			out_fmt(c->out, "%.*s: %.*s\n", STR_ARG(set->waivers[i]->rule.text),
				STR_ARG(expired));
	}
}

/* ---- show ------------------------------------------------------------------------------------ */

static enum status show_rule(struct context *c, const struct ruleset *set, struct str name)
{
	struct diag err;
	const struct rule *rule = ruleset_find_rule(set, name, c->keep, &err);
	if (!rule)
		return misused(&err);
	rules_print_rule(set, rule, c->keep, c->out);
	return STATUS_OK;
}

struct tester {
	struct context *c;
	const struct ruleset *rules;
	struct fixture_set set;
	struct str file;
	bool is_named;	      /* with --tests, not found beside the rules */
	struct report report; /* one case per test, for JUnit */
	ptrdiff_t failed;
};

/* ---- test: where they are -------------------------------------------------------------------- */

/* "rooflint.yaml" has its tests in "rooflint.test.yaml". */
static struct str beside(struct str rules, struct arena *keep)
{
	static const struct str ends[] = { STR_INIT(".yaml"), STR_INIT(".yml"), STR_INIT(".json") };
	for (ptrdiff_t i = 0; i < COUNT_OF(ends); i++)
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
	if (!t->is_named && !input_is_below(path_parent(t->file), t->file))
		return diag_set(err, DIAG_RULE_SCHEMA,
			"%.*s is a link that leaves its folder; name the file with --tests",
			STR_ARG(t->file));
	return input_text(t->file, DOC_MAX_BYTES, t->c->keep, text, err) ||
	       diag_append(err, "the tests of a rule file stand beside it, or --tests names them");
}

/* ---- test: one ------------------------------------------------------------------------------- */

static void add_case(struct tester *t, const struct fixture *f, struct str wrong)
{
	struct arena *keep = t->c->keep;
	struct report *r = &t->report;
	struct str title = arena_fmt(keep, "%.*s: %.*s", STR_ARG(f->rule),
		STR_ARG(f->name.p ? f->name : verdict_name(f->expect)));
	enum verdict verdict = wrong.p ? VERDICT_FAIL : VERDICT_PASS;
	r->results.items[r->results.count++] = (struct rule_result){ .name = title,
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
	r->findings.items[r->findings.count++] = (struct finding){ .rule = title,
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
	struct str wrong = { NULL, 0 }, fix;
	if (!fixture_judge(t->rules, f, keep, &result, &fix, err))
		return false;
	if (result.verdict != f->expect)
		wrong = arena_fmt(keep, "%.*s was expected, and it is %.*s%s%.*s",
			STR_ARG(verdict_name(f->expect)), STR_ARG(verdict_name(result.verdict)),
			result.reason.len ? ": " : "", STR_ARG(result.reason));
	else if (!str_contains(fix, f->fix))
		wrong = arena_fmt(keep, "its fix should hold '%.*s', and is: %.*s", STR_ARG(f->fix),
			STR_ARG(fix));
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
			    "finds nothing");
	add_case(t, f, wrong);
	return true;
}

/* ---- test: all of them ----------------------------------------------------------------------- */

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
				: good	? "no test expects a pass: "
					: "no test expects a finding: ",
				STR_ARG(t->rules->items[i]->name));
	if (count)
		out_char(t->c->out, '\n');
}

static enum status test_rules(
	struct context *c, const struct rules_settings *s, const struct ruleset *rules)
{
	struct tester tester = { .c = c, .rules = rules, .is_named = s->tests.p }, *t = &tester;
	struct arena *keep = c->keep;
	struct str text;
	struct diag err;
	t->file = s->tests.p ? s->tests : beside(rules->name, keep);
	if (!read_tests(t, &text, &err) ||
		!fixtures_parse(t->file, text, t->rules, keep, &t->set, &err))
		return misused(&err);
	t->report = (struct report){ .profile = t->file, .rules = t->rules->name, .gain_s = NAN };
	t->report.results.items = arena_make(keep, struct rule_result, t->set.count + 1);
	t->report.findings.items = arena_make(keep, struct finding, t->set.count + 1);
	for (ptrdiff_t i = 0; i < t->set.count; i++)
		if (!(s->mutate ? run_mutation : run_test)(t, &t->set.items[i], &err))
			return misused(&err);
	tell_untested(t, true);
	tell_untested(t, false);
	out_fmt(t->c->out, "%.*s: %td test%s of %td rules, %td failed\n", STR_ARG(t->file),
		t->report.results.count, t->report.results.count == 1 ? "" : "s", t->rules->count,
		t->failed);
	t->report.verdict = t->failed ? VERDICT_FAIL : VERDICT_PASS;
	if (s->junit.p) {
		struct report_set set = { &t->report, 1, STR_INIT(ROOFLINT_VERSION) };
		struct out *o = out_file(keep, s->junit, &err);
		if (o)
			report_junit(&set, JUNIT_STRICT, keep, o);
		if (!o || !out_close(o, &err))
			return fail(&err);
	}
	return t->failed ? STATUS_RULE : STATUS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* As the command's arguments have them. */
enum verb { VERB_LIST, VERB_SHOW, VERB_CHECK, VERB_TEST, VERB_SCHEMA };

static enum status rules_run(struct context *c, const void *settings, const struct list *args)
{
	const struct rules_settings *s = settings;
	struct rule_settings rule = s->rule;
	struct ruleset set;
	struct diag err;
	int verb = verb_find(&rules_command, args->items[0], c->keep, &err);
	if (verb < 0)
		return misused(&err);
	if (s->today.p && !when_is_day(s->today))
		return misuse(NO_DAY, STR_ARG(s->today));
	/* A file or a set has a dot, a slash or is known; else it is a rule's name. */
	struct str only = { NULL, 0 };
	if (verb == VERB_SHOW && args->count > 1 && !ruleset_is_name(args->items[1]))
		only = args->items[1];
	else if (args->count > 1 && rule.rules.p) {
		return misuse("name the rule file once: by --rules or as an argument");
	} else if (args->count > 1)
		rule.rules = args->items[1];
	if (!load_rules(load_engine(c, &err), &rule, c->keep, &set, &err))
		return misused(&err);
	switch ((enum verb)verb) {
	case VERB_LIST:
		list_rules(c, &set);
		break;
	case VERB_SHOW:
		if (only.p)
			return show_rule(c, &set, only);
		rules_print(&set, c->keep, c->out);
		break;
	case VERB_CHECK:
		check_rules(c, &set, s->today);
		break;
	case VERB_TEST:
		return test_rules(c, s, &set);
	case VERB_SCHEMA:
		rules_schema(&set, c->keep, c->out);
		break;
	}
	return STATUS_OK;
}

#define AT(member) offsetof(struct rules_settings, member)
static const struct option rules_options[] = {
	RULE_OPTIONS(struct rules_settings),
	{ "tests", 0, OPTION_TEXT, AT(tests), "FILE",
		"test: the rows and verdicts, by default NAME.test.yaml beside NAME.yaml" },
	{ "mutate", 0, OPTION_FLAG, AT(mutate), NULL,
		"test: turn every test that passes bad, and demand that its rule says so" },
	{ "today", 0, OPTION_TEXT, AT(today), "YYYY-MM-DD",
		"check: name the waivers that have expired by that day" },
	{ "junit", 0, OPTION_TEXT, AT(junit), "FILE",
		"test: write JUnit XML, a case for each test; - is standard output" },
	OPTIONS_END,
};

const struct command rules_command = {
	.name = "rules",
	.arguments = "list|show|check|test|schema [FILE|RULE]",
	.summary = "the rule file as it was understood, or its mistakes",
	.details = "  list   every rule, its group, the worst it can say, and what it demands\n"
		   "  show   the resolved file, or the RULE of it, with the origin of every value\n"
		   "  check  load it and say OK; or all its mistakes, and exit with 2\n"
		   "  test   judge rows whose verdict is known; exit with 1 when one comes out "
		   "otherwise\n"
		   "  schema the JSON Schema of a rule file, with the rules and parameters that it "
		   "may change, for editors",
	.options = rules_options,
	.least = 1,
	.most = 2,
	.settings_bytes = sizeof(struct rules_settings),
	.run = rules_run,
};
