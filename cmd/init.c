/*
 * rooflint init: a rule file whose limits are those of good runs with some room; with --ci a
 * pipeline that judges every run, for the systems that templates/ci/ has.
 */
#include <math.h>

#include "base/embed.h"
#include "base/task.h"
#include "cmd/shared.h"
#include "session/baseline.h"

struct init_settings {
	struct read_settings read;
	struct list from;
	int ci;
};

/* The built-in set that the file extends. */
#define EXTENDED "recommended"

static void put_step_time(struct out *o, const struct limits *l, struct arena *keep)
{
	struct str step[LIMITS];
	if (l->step_s > 0 && !limits_are_known(l))
		out_fmt(o,
			"  # No limit on the step time: the median step is known to within %.*s "
			"only.\n"
			"  # Record more steps, while nothing else runs there, and run init "
			"again.\n",
			STR_ARG(unit_text(keep, l->noise, UNIT_RATIO)));
	if (!limits_of_step(l, keep, step))
		return;
	out_fmt(o,
		"  step-time:\n"
		"    title: A step takes no longer than it did when this file was written\n"
		"    group: compute\n"
		"    from: run\n"
		"    value: step_time_s\n"
		"    at_most: { warn: %.*s, fail: %.*s }\n"
		"    needs: [data-quality, steps-recorded]\n"
		"    message: \"a step takes {step_time_s:time}, and {fail:time} is allowed\"\n",
		STR_ARG(step[LIMIT_WARN]), STR_ARG(step[LIMIT_FAIL]));
}

static void put_limit(struct out *o, const struct limit *l)
{
	static const char *const words[] = { "warn", "fail" };
	bool is_any = false;
	for (int i = 0; i < LIMITS; i++) {
		if (isnan(l->value[i]))
			continue;
		if (!is_any)
			out_fmt(o, "  %.*s: { at_%s: {", STR_ARG(l->rule->name),
				l->at_least ? "least" : "most");
		out_fmt(o, "%s %s: %.*s", is_any ? "," : "", words[i], STR_ARG(l->text[i]));
		is_any = true;
	}
	if (is_any)
		out_fmt(o, " } }  # seen: %.*s\n", STR_ARG(l->seen_text));
}

/* What the runs do not keep is no limit; the file says it, and the user sees failures, too. */
static void put_comments(struct context *c, const struct limits *l)
{
	static const struct {
		enum verdict worst;
		bool numbers;
		const char *text;
	} lists[] = {
		{ VERDICT_FAIL, true, "The runs fail these, which keep the limits of " EXTENDED },
		{ VERDICT_WARN, true, "They only warn of these, whose limits stay" },
		{ VERDICT_INCONCLUSIVE, false,
			"These could not be judged, and keep the limits of " EXTENDED },
	};
	bool fails = false;
	for (ptrdiff_t i = 0; i < COUNT_OF(lists); i++) {
		bool is_any = false;
		for (ptrdiff_t k = 0; k < l->count; k++) {
			const struct limit *x = &l->items[k];
			struct str numbers = STR("");
			if (x->worst != lists[i].worst)
				continue;
			if (lists[i].numbers)
				numbers = arena_fmt(c->keep, ": %.*s, %s %.*s",
					STR_ARG(x->seen_text), x->at_least ? "at least" : "at most",
					STR_ARG(x->now_text));
			if (!is_any)
				out_fmt(c->out, "  # %s:\n", lists[i].text);
			is_any = true;
			out_fmt(c->out, "  #   %.*s%.*s\n", STR_ARG(x->rule->name),
				STR_ARG(numbers));
			fails |= x->worst == VERDICT_FAIL;
			if (x->worst == VERDICT_FAIL)
				print_line(arena_fmt(c->keep,
					"the runs fail %.*s%.*s: no limit was made of that",
					STR_ARG(x->rule->name), STR_ARG(numbers)));
		}
	}
	if (fails)
		print_line(STR("the other limits, the step time too, are those of runs that fail: "
			       "from good runs they would be tighter"));
}

/* What is left when findings have taken their part is no number of a good run. */
static void put_explained(struct out *o, const struct limits *l)
{
	for (ptrdiff_t i = 0; i < l->count; i++)
		if (l->items[i].is_explained)
			out_fmt(o,
				"  # %.*s: findings explain a part of a step, so no limit was made "
				"of the rest\n",
				STR_ARG(l->items[i].rule->name));
}

/* ---- a pipeline ------------------------------------------------------------------------------ */

enum ci { CI_NONE, CI_GITHUB, CI_GITLAB, CI_JENKINS, CI_BUILDKITE };
#define CI_WORDS "none|github|gitlab|jenkins|buildkite"

/* A template is text with two slots; the profile's path is the only word of the user's in it. */
static const struct system {
	const char *template, *place; /* where the system looks for it */
} systems[] = {
	[CI_GITHUB] = { "templates/ci/github.yml", ".github/workflows/rooflint.yml" },
	[CI_GITLAB] = { "templates/ci/gitlab.yml", ".gitlab-ci.yml" },
	[CI_JENKINS] = { "templates/ci/jenkins.groovy", "Jenkinsfile" },
	[CI_BUILDKITE] = { "templates/ci/buildkite.yml", ".buildkite/pipeline.yml" },
};

/* Letters that mean nothing to YAML, Groovy or a shell, wherever in a word they stand. */
static bool is_plain(struct str path)
{
	return path.len > 0 && path.p[0] != '-' && str_only(path, "0-9A-Za-z_./-");
}

static void fill(struct out *o, struct str text, struct str profile)
{
	while (text.len)
		if (str_take(&text, STR("@PROFILE@"))) {
			out_str(o, profile);
		} else if (str_take(&text, STR("@VERSION@"))) {
			out_z(o, ROOFLINT_VERSION);
		} else {
			out_char(o, text.p[0]);
			text = str_from_offset(text, 1);
		}
}

static enum status put_pipeline(struct context *c, int system, struct str profile)
{
	const struct system *s = &systems[system];
	if (!profile.p)
		profile = STR("runs");
	if (!is_plain(profile))
		return misuse(
			"a pipeline takes a path of letters, digits and ._-/ for the profile, not "
			"'%.*s'",
			STR_ARG(profile));
	fill(c->out, embed_find(str_from(s->template)), profile);
	print_line(arena_fmt(
		c->keep, "this belongs into %s; train.py stands for your own job", s->place));
	return STATUS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum status init_run(struct context *c, const void *settings, const struct list *args)
{
	const struct init_settings *s = settings;
	const struct rule_settings rule = { .rules = STR(EXTENDED) };
	struct list runs = s->from;
	struct load_options options;
	struct ruleset rules;
	struct limits limits;
	struct diag err;
	for (ptrdiff_t i = 0; i < args->count; i++)
		list_add(&runs, args->items[i], c->keep);
	if (s->ci)
		return put_pipeline(c, s->ci, runs.count ? runs.items[0] : MISSING);
	if (!runs.count)
		return misuse("init needs good runs, or the reports of them: rooflint init --from "
			      "RUN...");
	if (!load_judge(load_engine(c, &err), &rule, &s->read, task_cpus(), c->keep, &rules,
		    &options, &err) ||
		!limits_from_runs(&rules, &runs, &options, c->keep, &limits, &err))
		return fail(&err);
	out_z(c->out, "# Limits are what these runs had, with room for their noise:");
	for (ptrdiff_t i = 0; i < runs.count; i++)
		out_fmt(c->out, " %.*s", STR_ARG(runs.items[i]));
	out_z(c->out,
		"\n# Tighten them when the program got better: rooflint ratchet rooflint.yaml "
		"--from RUN\n"
		"version: 1\n"
		"extends: " EXTENDED "\n"
		"rules:\n");
	put_comments(c, &limits);
	put_explained(c->out, &limits);
	put_step_time(c->out, &limits, c->keep);
	for (ptrdiff_t i = 0; i < limits.count; i++)
		put_limit(c->out, &limits.items[i]);
	return STATUS_OK;
}

static const struct option init_options[] = {
	{ "from", 0, OPTION_LIST, offsetof(struct init_settings, from), "RUN",
		"a good run, as a profile or as the report of it; may be repeated, and is the same "
		"as an argument" },
	{ "ci", 0, OPTION_WORD, offsetof(struct init_settings, ci), CI_WORDS,
		"instead of rules, a pipeline of that system that judges the run" },
	READ_OPTIONS(struct init_settings),
	OPTIONS_END,
};

const struct command init_command = {
	.name = "init",
	.arguments = "[RUN...]",
	.summary = "write a rule file from good runs",
	.details =
		"The file extends the built-in rules. The limits of each rule become the worst "
		"number that the runs had, with room for noise, where that is less than what "
		"the rule allows: a tenth of the number, of a share what matters, or three times "
		"the width of the median step's interval; twice that for the failure. The step "
		"time gets a rule of its own. What the runs break is never made a limit: those "
		"rules are named, for you to mend, to retune or to waive. For example:\n"
		"\n"
		"  rooflint init --from runs/good >rooflint.yaml\n"
		"  rooflint init --ci github --from runs >.github/workflows/rooflint.yml",
	.options = init_options,
	.most = -1,
	.settings_bytes = sizeof(struct init_settings),
	.run = init_run,
};
