/*
 * rooflint rules: the rule file as it was understood.
 *
 *     list    what is judged
 *     show    the resolved file, or one rule, with the origin of every value; a whole one is
 *             itself a valid rule file
 *     check   only whether it loads
 *     test    against rows whose verdict is known (rules_test.c)
 *     schema  what a rule file may hold, for editors
 */
#include "base/text.h"
#include "cmd/grid.h"
#include "cmd/rules_test.h"
#include "cmd/shared.h"
#include "rules/print.h"
#include "rules/schema.h"

struct rules_settings {
	struct rule_settings rule;
	struct test_settings test;
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
	struct grid g = { .keep = c->keep, .columns = 3, .has_header = true, .wrap = 100 };
	grid_add(&g, STR("RULE"));
	grid_add(&g, STR("LEVEL"));
	grid_add(&g, STR("DEMANDS"));
	for (ptrdiff_t i = 0; i < set->count; i++) {
		grid_add(&g, set->items[i]->name);
		grid_add(&g, level_of(set->items[i]));
		grid_add(&g, set->items[i]->title.text);
	}
	grid_print(&g, c->out);
}

/* ---- check ----------------------------------------------------------------------------------- */

static void check_rules(struct context *c, const struct ruleset *set)
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

/* ---- the command ----------------------------------------------------------------------------- */

enum verb { VERB_LIST, VERB_SHOW, VERB_CHECK, VERB_TEST, VERB_SCHEMA, VERBS };

static const struct str verbs[VERBS] = {
	[VERB_LIST] = STR_INIT("list"),
	[VERB_SHOW] = STR_INIT("show"),
	[VERB_CHECK] = STR_INIT("check"),
	[VERB_TEST] = STR_INIT("test"),
	[VERB_SCHEMA] = STR_INIT("schema"),
};

static enum status rules_run(struct context *c, const void *settings, const struct list *args)
{
	const struct rules_settings *s = settings;
	struct rule_settings rule = s->rule;
	struct str name = args->items[0];
	struct ruleset set;
	struct diag err;
	int verb = 0;
	while (verb < VERBS && !str_eq(name, verbs[verb]))
		verb++;
	if (verb == VERBS)
		return misuse(
			"rooflint rules takes list, show, check, test or schema, not '%.*s'%.*s",
			STR_ARG(name), STR_ARG(did_you_mean(c->keep, name, verbs, VERBS)));
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
		check_rules(c, &set);
		break;
	case VERB_TEST:
		return rules_test(c, &s->test, &set);
	case VERB_SCHEMA:
	case VERBS:
		rules_schema(&set, c->keep, c->out);
		break;
	}
	return STATUS_OK;
}

#define AT(member) offsetof(struct rules_settings, member)
static const struct option rules_options[] = {
	RULE_OPTIONS(struct rules_settings),
	{ "tests", 0, OPTION_TEXT, AT(test.tests), "FILE",
		"test: the rows and verdicts, by default NAME.test.yaml beside NAME.yaml" },
	{ "mutate", 0, OPTION_FLAG, AT(test.mutate), NULL,
		"test: turn every test that passes bad, and demand that its rule says so" },
	{ "junit", 0, OPTION_TEXT, AT(test.junit), "FILE",
		"test: write JUnit XML, a case for each test; - is standard output" },
	{ 0 },
};

const struct command rules_command = {
	.name = "rules",
	.arguments = "list|show|check|test|schema [FILE|RULE]",
	.summary = "the rule file as it was understood, or its mistakes",
	.details = "  list   every rule, the worst it can say, and what it demands\n"
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
