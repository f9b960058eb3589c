/*
 * rooflint check: judge profiles, report, and let the exit status tell.
 */
#include <unistd.h>

#include "base/task.h"
#include "base/text.h"
#include "base/when.h"
#include "cmd/output.h"
#include "cmd/shared.h"
#include "report/alert.h"
#include "session/batch.h"
#include "session/deliver.h"
#include "session/history.h"
#include "session/previous.h"

enum fail_on { FAIL_ON_ERROR, FAIL_ON_NEW, FAIL_ON_WARN, FAIL_ON_NEVER };
enum inconclusive { INCONCLUSIVE_FAIL, INCONCLUSIVE_PASS };

struct check_settings {
	struct read_settings read;
	struct rule_settings rule;
	struct output_settings output;
	struct notify_settings notify;
	struct str store;
	int fail_on, inconclusive, jobs;
	bool all_runs, record;
	struct str previous, today;
	struct list baseline;
};

/* ---- how it ends ----------------------------------------------------------------------------- */

/* What the reports of a run say about the exit status, each apart. */
struct outcome {
	bool failed, unreadable, misconfigured, unproven;
};

/* With --fail-on new, a rule does not fail the run where all of its failures were there before. */
static bool has_failed(
	const struct report *r, const struct rule_result *rule, const struct check_settings *s)
{
	ptrdiff_t failed = 0, known = 0;
	if (s->fail_on != FAIL_ON_NEW)
		return s->fail_on != FAIL_ON_NEVER;
	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		if (!str_eq(f->rule, rule->name) || f->verdict != VERDICT_FAIL)
			continue;
		failed++;
		known += f->failed_before;
	}
	return !failed || known < failed;
}

static bool rule_breaks(
	const struct report *r, const struct rule_result *rule, const struct check_settings *s)
{
	if (rule->verdict == VERDICT_FAIL)
		return has_failed(r, rule, s);
	if (rule->verdict == VERDICT_WARN)
		return s->fail_on == FAIL_ON_WARN;
	return rule->verdict == VERDICT_INCONCLUSIVE && rule->demanded &&
	       s->inconclusive == INCONCLUSIVE_FAIL;
}

static void outcome_add(struct outcome *o, struct report *r, const struct check_settings *s)
{
	if (r->error.text.p)
		*(status_of(r->error.id) == STATUS_USAGE ? &o->misconfigured : &o->unreadable) =
			true;
	o->unproven |= r->verdict == VERDICT_INCONCLUSIVE && s->inconclusive == INCONCLUSIVE_FAIL;
	for (ptrdiff_t i = 0; i < r->results.count; i++) {
		struct rule_result *rule = &r->results.items[i];
		rule->breaks = rule_breaks(r, rule, s);
		*(rule->verdict == VERDICT_INCONCLUSIVE ? &o->unproven : &o->failed) |=
			rule->breaks;
	}
}

/* ---- what is remembered ---------------------------------------------------------------------- */

/* Looked at before anything is judged, so that a store that cannot be used costs no time. */
static bool check_store(const struct check_settings *s, struct arena *keep, struct diag *err)
{
	struct connection store;
	bool is_asked = s->notify.to.count > 0;
	for (ptrdiff_t i = 0; i < s->baseline.count; i++)
		is_asked |= history_is_query(s->baseline.items[i]);
	if (s->record && !s->store.p)
		return diag_set(err, DIAG_USAGE, "--record needs a --store to append to");
	if (!s->record && s->store.p && !is_asked)
		return diag_set(err, DIAG_USAGE,
			"--store names where to --record, what --baseline store:... asks, and what "
			"--notify holds a run against; give one of these");
	if (!s->store.p)
		return true;
	bool ok =
		connection_open(&store, s->store, s->record ? STORE_WRITE : STORE_READ, keep, err);
	connection_close(&store);
	return ok;
}

/*
 * What the store knew before these runs are recorded, unless --previous says it; then they are.
 * False when the store failed; that was printed.
 */
static bool remember(struct context *c, const struct check_settings *s, const struct ruleset *rules,
	const struct report_set *set, struct plan *plan)
{
	struct report_set *before = arena_make(c->keep, struct report_set, 1);
	struct diag err;
	bool asks = !plan->previous && plan->count && s->store.p;
	bool ok = !asks || history_previous(s->store, set, s->record, c->keep, before, &err);
	if (ok && asks)
		plan->previous = before;
	if (ok && s->record) {
		struct str judge = judge_identity(rules, &s->read, c->keep);
		ok = history_record(s->store, set, judge, print_line, c->keep, &err);
	}
	if (!ok)
		print_error(&err);
	return ok;
}

/* Places that a reviewer cannot open are worth a word, once. */
static void tell_lost(
	struct context *c, const struct check_settings *s, const struct report_set *set)
{
	const struct list *roots = &s->read.source_roots;
	const struct alerts all = alerts_of(set, c->keep);
	struct str lost = alerts_lost(&all);
	if (lost.p && roots->count)
		print_line(arena_fmt(c->keep,
			"--source-root %.*s: no finding's file is below it; one is %.*s: name the "
			"folder that was the repository's root where the job ran",
			STR_ARG(roots->items[0]), STR_ARG(text_clean(c->keep, lost))));
	else if (lost.p)
		print_line(arena_fmt(c->keep,
			"no finding's file is in this repository; one is %.*s: name the folder "
			"that was the repository's root where the job ran with --source-root",
			STR_ARG(text_clean(c->keep, lost))));
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool settings_agree(const struct check_settings *s, struct diag *err)
{
	if (s->fail_on == FAIL_ON_NEW && !s->previous.p)
		return diag_set(err, DIAG_USAGE,
			"--fail-on new needs --previous: what failed before is in that report");
	if (s->today.p && !when_is_day(s->today))
		return diag_set(err, DIAG_USAGE, NO_DAY, STR_ARG(s->today));
	return true;
}

static enum status check_run(struct context *c, const void *settings, const struct list *args)
{
	static struct str here = STR_INIT(".");
	const struct check_settings *s = settings;
	const struct list paths = args->count ? *args : (struct list){ &here, 1, 1 };
	struct load_options options;
	struct report_set set, previous;
	struct ruleset rules;
	struct plan plan;
	struct diag err;
	int jobs = s->jobs ? s->jobs : task_cpus();
	if (!settings_agree(s, &err) || !output_settings_agree(&s->output, &err) ||
		!load_judge(load_engine(c, &err), &s->rule, &s->read, jobs, c->keep, &rules,
			&options, &err) ||
		!plan_make(&s->notify, &rules, s->output.templates, false, print_line, c->keep,
			&plan, &err) ||
		!check_store(s, c->keep, &err))
		return misused(&err);

	struct batch batch = {
		.rules = &rules, .options = &options, .workers = jobs, .give_up = give_up
	};
	if ((s->previous.p && !report_load(s->previous, c->keep, &previous, &err)) ||
		!baselines_load(&batch.baselines, &s->baseline, s->store, &options, c->keep, &err))
		return fail(&err);
	batch.baselines.prior = ruleset_noise(&rules);
	batch.previous = s->previous.p ? &previous : NULL;
	batch.all_runs = s->all_runs;
	batch.today = s->today;
	plan.previous = batch.previous;
	if (!s->output.quiet && isatty(STDERR_FILENO))
		batch.progress = show_progress;
	batch.keep_plots = s->output.json.p || s->output.html.p;
	batch.keep_tables = batch.keep_plots || s->record;
	if (!batch_run(&batch, &paths, c->keep, &set, &err))
		return fail(&err);

	struct outcome outcome = { 0 };
	for (ptrdiff_t i = 0; i < set.count; i++)
		outcome_add(&outcome, &set.items[i], s);
	/* The files, the terminal, then the messages: a verdict does not wait for servers. */
	bool delivered = remember(c, s, &rules, &set, &plan);
	delivered &= output_write(c, &s->output, &set);
	if (s->output.sarif.p || s->output.gitlab.p || s->output.github ||
		s->read.source_roots.count)
		tell_lost(c, s, &set);
	out_flush(c->out);
	plan.quiet = s->output.quiet;
	delivered &= !plan_deliver_news(&plan, &set, c->keep);
	return outcome.misconfigured ? STATUS_USAGE
	       : outcome.failed	     ? STATUS_RULE
	       : outcome.unreadable  ? STATUS_PROFILE
	       : !delivered	     ? STATUS_DELIVERY
	       : outcome.unproven    ? STATUS_EVIDENCE
				     : STATUS_OK;
}

#define AT(member) offsetof(struct check_settings, member)
static const struct option check_options[] = {
	RULE_OPTIONS(struct check_settings),
	READ_OPTIONS(struct check_settings),
	CURRENCY_OPTIONS(struct check_settings),
	{ "all-runs", 0, OPTION_FLAG, AT(all_runs), NULL,
		"judge every run below a PROFILE, not only the newest" },
	{ "fail-on", 0, OPTION_WORD, AT(fail_on), "error|new|warn|never",
		"what makes the exit status 1: failed rules (default), only failures that "
		"--previous did not have, warnings too, or nothing" },
	{ "baseline", 0, OPTION_LIST, AT(baseline), "PROFILE|REPORT.json|store:QUERY",
		"a run to compare with, as a profile or as the report of it, or runs that the "
		"--store remembers, as in store:branch=main,last=10; may be repeated: "
		"more of them find smaller slowdowns (docs/baselines.md)" },
	{ "previous", 0, OPTION_TEXT, AT(previous), "REPORT.json",
		"the report before this one: for --fail-on new, for rules that fail only when they "
		"were found in several reports in a row (confirm), and for what messages call "
		"new" },
	{ "today", 0, OPTION_TEXT, AT(today), "YYYY-MM-DD",
		"the day on which waivers are judged; by default that of the capture, so that a "
		"profile keeps its verdict" },
	{ "inconclusive", 0, OPTION_WORD, AT(inconclusive), "fail|pass",
		"whether the exit status is 4 when a gate or a required rule could not be judged "
		"(default), or to ignore that" },
	{ "jobs", 'j', OPTION_NUMBER, AT(jobs), "N",
		"processes for several profiles, or threads for one; by default one per "
		"processor" },
	{ "store", 0, OPTION_TEXT, AT(store), STORE_ARGUMENT,
		"a store of facts: a file on a local disk that several may write at once, or "
		"clickhouses://HOST/DATABASE (docs/fleet.md)" },
	{ "record", 0, OPTION_FLAG, AT(record), NULL,
		"append the facts of every run to the --store, and to a file what later runs are "
		"compared with; what is there already stays" },
	OUTPUT_OPTIONS(struct check_settings),
	NOTIFY_OPTIONS(struct check_settings, "notify", "notify-when",
		"tell a notification of the rule file, or KIND:VARIABLE (rooflint notify --help), "
		"what is new; may be repeated"),
	OPTIONS_END,
};

const struct command check_command = {
	.name = "check",
	.arguments = "[PROFILE...]",
	.summary = "judge profiles by the rules and report",
	.details = "A PROFILE is a log directory as given to jax.profiler.trace, a run directory "
		   "below it, one *.xplane.pb, or a directory of many of these; without any, the "
		   "current directory. All hosts of a run are judged together. Of a host without "
		   "an xplane.pb the *.trace.json.gz is read, which says less: what it lacks makes "
		   "rules inconclusive. An export of Nsight Systems (nsys export --type sqlite) is "
		   "read, too; NVTX ranges of XLA, or ranges named as in \"step 12\", mark its "
		   "steps. gs://BUCKET/PREFIX and s3://BUCKET/PREFIX are profiles as well "
		   "(docs/buckets.md).\n"
		   "\n"
		   "Exit status, the first that applies:\n"
		   "  2  the command line or the rule file is wrong\n"
		   "  1  a rule failed (see --fail-on)\n"
		   "  3  a profile could not be read; the others were judged\n"
		   "  5  an output file could not be written, or a required message delivered\n"
		   "  4  a gate or a required rule could not be judged (see --inconclusive)\n"
		   "  0  none of these",
	.options = check_options,
	.most = -1,
	.settings_bytes = sizeof(struct check_settings),
	.run = check_run,
};
