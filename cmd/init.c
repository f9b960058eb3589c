/*
 * rooflint init: a rule file whose limits are a good run with some room.
 */
#include "cmd/init_ci.h"
#include "cmd/shared.h"
#include "rules/judge.h"
#include "rules/limits.h"
#include "session/baseline.h"

struct init_settings {
	struct read_settings read;
	struct str from;
	int ci;
};

static void put_step_time(struct out *o, const struct limit *l)
{
	out_fmt(o,
		"  %.*s:\n"
		"    title: A step takes no longer than it did when this file was written\n"
		"    from: run\n"
		"    assert: step_time_s <= :limit\n"
		"    params: { limit: %.*s }\n"
		"    needs: [data-quality, ops-recorded, enough-steps]\n"
		"    message: \"a step takes {step_time_s:time}, {limit} is allowed\"\n",
		STR_ARG(l->rule), STR_ARG(l->text));
}

/* Rules that a run breaks and that get no limit from it: "matmul-roofline, straggler", or empty. */
static bool list_broken(
	struct context *c, const struct tables *good, struct str *ret, struct diag *err)
{
	const struct judge_context alone = { 0 };
	struct tables tables = *good; /* judging takes them as its own */
	struct ruleset rules;
	struct judgement j;
	struct out *o = out_memory(c->keep);
	if (!load_engine(c, err) ||
		!ruleset_load(c->engine, NULL, STR("recommended"), NULL, c->keep, &rules, err) ||
		!judge(&rules, &tables, &alone, c->keep, &j, err))
		return false;
	for (ptrdiff_t i = 0; i < j.result_count; i++) {
		struct str name = j.results[i].rule->name;
		if (j.results[i].verdict == VERDICT_FAIL && !limits_cover(name))
			out_fmt(o, "%s%.*s", out_text(o).len ? ", " : "", STR_ARG(name));
	}
	*ret = out_text(o);
	return true;
}

static enum status init_run(struct context *c, const void *settings, const struct list *args)
{
	const struct init_settings *s = settings;
	struct limit *limits;
	struct baseline good;
	struct str broken;
	struct diag err;
	(void)args;
	if (s->ci)
		return init_ci(c, s->ci, s->from);
	if (!s->from.p) {
		diag_set(&err, DIAG_USAGE, "init needs --from: a good run, or the report of one");
		return misused(&err);
	}
	if (!baseline_load_good(s->from, &s->read, c->keep, &good, &err) ||
		!list_broken(c, good.tables, &broken, &err))
		return fail(&err);
	struct str left;
	ptrdiff_t count = limits_of(good.tables, c->keep, &limits, &left);
	out_fmt(c->out,
		"# Limits are what %.*s had, with room for its noise.\n"
		"# Tighten them when the program got better: rooflint ratchet rooflint.yaml --from "
		"RUN\n"
		"version: 1\n"
		"extends: recommended\n"
		"rules:\n",
		STR_ARG(good.name));
	if (left.p)
		out_fmt(c->out,
			"  # No room above what the run had, so these keep their limits, and fail: "
			"%.*s\n",
			STR_ARG(left));
	if (broken.len)
		out_fmt(c->out,
			"  # The run breaks these, whose limits stay those of recommended: %.*s\n",
			STR_ARG(broken));
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_eq(limits[i].rule, STEP_TIME_RULE))
			put_step_time(c->out, &limits[i]);
		else if (str_eq(limits[i].param, STR("warn_at")))
			/* The two levels of a rule stand side by side in the list. */
			out_fmt(c->out, "  %.*s: { params: { warn_at: %.*s, limit: %.*s } }\n",
				STR_ARG(limits[i].rule), STR_ARG(limits[i].text),
				STR_ARG(limits[i + 1].text));
	return STATUS_OK;
}

static const struct option init_options[] = {
	{ "from", 0, OPTION_TEXT, offsetof(struct init_settings, from), "PROFILE|REPORT.json",
		"the good run, as a profile or as the report of it" },
	{ "ci", 0, OPTION_WORD, offsetof(struct init_settings, ci), CI_WORDS,
		"instead of rules, a pipeline of that system that judges the profile --from" },
	READ_OPTIONS(struct init_settings),
	{ 0 },
};

const struct command init_command = {
	.name = "init",
	.arguments = "",
	.summary = "write a rule file from a good run",
	.details = "The file extends the built-in rules. Its limits are what the run had, with "
		   "room for its own noise: a twentieth of the step time or three times the width "
		   "of the median's interval, a tenth or half a point for shares of a step. Rules "
		   "that the run breaks and that have no such limit are named, for you to retune "
		   "or to waive. For example:\n"
		   "\n"
		   "  rooflint init --from runs/good >rooflint.yaml\n"
		   "  rooflint init --ci github --from runs >.github/workflows/rooflint.yml",
	.options = init_options,
	.settings_bytes = sizeof(struct init_settings),
	.run = init_run,
};
