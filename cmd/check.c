/*
 * rooflint check: judge profiles, report, and let the exit status tell.
 *
 * Files are written before the terminal's report, so that a reader of ours who goes away costs
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"
#include "cmd/batch.h"

enum fail_on { FAIL_ON_ERROR, FAIL_ON_WARN, FAIL_ON_NEVER };
enum inconclusive { INCONCLUSIVE_FAIL, INCONCLUSIVE_PASS };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct check_settings {
	struct read_settings read;
	struct rule_settings rule;
	struct str junit, json;
	int junit_flavor, fail_on, inconclusive, color, jobs, verbose;
	bool quiet, all_runs;
};

/* ---- how it ends ----------------------------------------------------------------------------- */

/* What the reports of a run say about the exit status, each apart. */
struct outcome {
	bool failed, unreadable, misconfigured, unproven;
};

static bool is_verdict(struct str name, enum verdict v)
{
	return str_eq(name, verdict_name(v));
}

static void outcome_add_error(struct outcome *o, const struct report *r)
{
	struct str digits = r->error_id;
	int64_t id = 0;
	str_take(&digits, STR("RL"));
	str_to_i64(digits, &id);
	*(status_of((enum diag_id)id) == STATUS_USAGE ? &o->misconfigured : &o->unreadable) = true;
}

static void outcome_add(struct outcome *o, const struct report *r, const struct check_settings *s)
{
	if (r->error.p)
		outcome_add_error(o, r);
	for (ptrdiff_t i = 0; i < r->result_count; i++) {
		const struct report_rule *rule = &r->results[i];
		if (is_verdict(rule->verdict, VERDICT_FAIL))
			o->failed |= s->fail_on != FAIL_ON_NEVER;
		else if (is_verdict(rule->verdict, VERDICT_WARN))
			o->failed |= s->fail_on == FAIL_ON_WARN;
		else if (is_verdict(rule->verdict, VERDICT_INCONCLUSIVE))
			o->unproven |= (rule->gate || rule->required) &&
				       s->inconclusive == INCONCLUSIVE_FAIL;
	}
}

static enum status outcome_status(const struct outcome *o, bool delivered)
{
	return o->misconfigured ? STATUS_USAGE
	       : o->failed	? STATUS_RULE
	       : o->unreadable	? STATUS_PROFILE
	       : !delivered	? STATUS_DELIVERY
	       : o->unproven	? STATUS_EVIDENCE
				: STATUS_OK;
}

/* ---- what it writes -------------------------------------------------------------------------- */

static bool takes_stdout(struct str path)
{
	return str_eq(path, STR("-"));
}

/* The document is whole before the file is touched; main closes standard output. */
static bool deliver(struct context *c, struct str path, struct str text)
{
	struct diag err;
	if (takes_stdout(path)) {
		out_str(c->out, text);
		return true;
	}
	struct out *o = out_file(c->keep, path, &err);
	if (o) {
		out_str(o, text);
		if (out_close(o, &err))
			return true;
	}
	print_error(&err);
	return false;
}

static bool write_junit(
	struct context *c, const struct check_settings *s, const struct report_set *set)
{
	struct diag err;
	struct out *o = out_memory(c->keep);
	if (!s->junit.p)
		return true;
	if (report_junit(set, (enum junit_flavor)s->junit_flavor, c->keep, o, &err))
		return deliver(c, s->junit, out_text(o));
	print_error(&err);
	return false;
}

static bool write_json(
	struct context *c, const struct check_settings *s, const struct report_set *set)
{
	struct diag err;
	struct out *o = out_memory(c->keep);
	if (!s->json.p)
		return true;
	if (report_json_write(set, c->keep, o, &err))
		return deliver(c, s->json, out_text(o));
	print_error(&err);
	return false;
}

static bool wants_color(const struct check_settings *s, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (s->color != COLOR_AUTO)
		return s->color == COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

static int terminal_width(int fd)
{
	struct winsize size;
	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Nothing was judged: there is no report to print, only errors. */
static bool print_errors(const struct report_set *set)
{
	for (ptrdiff_t i = 0; i < set->count; i++)
		if (!set->items[i].error.p)
			return false;
	for (ptrdiff_t i = 0; i < set->count; i++)
		fprintf(stderr, "rooflint: error %.*s: %.*s\n", STR_ARG(set->items[i].error_id),
			STR_ARG(set->items[i].error));
	return true;
}

static void print_report(
	struct context *c, const struct check_settings *s, const struct report_set *set)
{
	struct diag err;
	bool is_taken = takes_stdout(s->json) || takes_stdout(s->junit);
	int fd = is_taken ? STDERR_FILENO : STDOUT_FILENO;
	struct out *o = is_taken ? out_fd(c->keep, fd) : c->out;
	struct report_style style = {
		.color = wants_color(s, fd),
		.verbose = s->verbose,
		.quiet = s->quiet,
		.width = terminal_width(fd),
	};
	if (print_errors(set))
		return;
	report_terminal(set, &style, c->keep, o);
	if (is_taken)
		out_close(o, &err);
}

/* A line that is written over; only after a second, so that short batches show nothing. */
static void show_progress(ptrdiff_t done, ptrdiff_t count)
{
	static struct timespec start;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start.tv_sec)
		start = now;
	if (now.tv_sec - start.tv_sec < 1)
		return;
	fprintf(stderr, "\rrooflint: %td of %td profiles", done, count);
	if (done == count)
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool settings_agree(const struct check_settings *s, struct diag *err)
{
	if (takes_stdout(s->json) && takes_stdout(s->junit))
		return diag_set(err, DIAG_USAGE,
			"--json and --junit cannot both be written to standard output");
	if (s->quiet && s->verbose)
		return diag_set(err, DIAG_USAGE, "--quiet and --verbose exclude each other");
	return true;
}

static enum status check_run(struct context *c, const void *settings, const struct list *args)
{
	static struct str here = STR_INIT(".");
	const struct check_settings *s = settings;
	const struct list paths = args->count ? *args : (struct list){ &here, 1, 1 };
	struct measure_options options;
	struct report_set set;
	struct ruleset rules;
	struct diag err;
	int jobs = s->jobs ? s->jobs : task_cpus();
	if (!settings_agree(s, &err) || !load_rules(&s->rule, c->keep, &rules, &err) ||
		!load_options(&s->read, jobs, c->keep, &options, &err))
		return misused(&err);

	struct batch batch = { .rules = &rules, .options = &options, .workers = jobs };
	batch.all_runs = s->all_runs;
	if (!s->quiet && isatty(STDERR_FILENO))
		batch.progress = show_progress;
	batch.keep_tables = s->json.p || s->verbose > 1;
	if (!batch_run(&batch, &paths, c->keep, &set, &err))
		return fail(&err);

	struct outcome outcome = { 0 };
	for (ptrdiff_t i = 0; i < set.count; i++)
		outcome_add(&outcome, &set.items[i], s);
	bool delivered = write_junit(c, s, &set);
	delivered &= write_json(c, s, &set);
	print_report(c, s, &set);
	return outcome_status(&outcome, delivered);
}

#define AT(member) offsetof(struct check_settings, member)
static const struct option check_options[] = {
	RULE_OPTIONS(struct check_settings),
	READ_OPTIONS(struct check_settings),
	{ "all-runs", 0, OPTION_FLAG, AT(all_runs), NULL,
		"judge every run below a PROFILE, not only the newest" },
	{ "fail-on", 0, OPTION_WORD, AT(fail_on), "error|warn|never",
		"what makes the exit status 1: failed rules (default), warnings too, or nothing" },
	{ "inconclusive", 0, OPTION_WORD, AT(inconclusive), "fail|pass",
		"whether the exit status is 4 when a gate or a required rule could not be judged "
		"(default) or such rules are let pass" },
	{ "junit", 0, OPTION_TEXT, AT(junit), "FILE", "write JUnit XML; - is standard output" },
	{ "junit-flavor", 0, OPTION_WORD, AT(junit_flavor), "strict|rich",
		"the shape Jenkins' schema allows (default), or with file, line and properties" },
	{ "json", 0, OPTION_TEXT, AT(json), "FILE",
		"write report.json, which holds everything; - is standard output" },
	{ "jobs", 'j', OPTION_NUMBER, AT(jobs), "N",
		"processes for several profiles, or threads for one; by default one per "
		"processor" },
	{ "quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "one line per profile: its verdict" },
	{ "verbose", 'v', OPTION_COUNT, AT(verbose), NULL,
		"every rule and every finding; given twice, the heads of the tables too" },
	{ "color", 0, OPTION_WORD, AT(color), "auto|always|never",
		"colour, by default on a terminal without NO_COLOR" },
	{ 0 },
};

const struct command check_command = {
	.name = "check",
	.arguments = "[PROFILE...]",
	.summary = "judge profiles by the rules and report",
	.details = "A PROFILE is a log directory as given to jax.profiler.trace, a run directory "
		   "below "
		   "it, one *.xplane.pb, or a directory of many of these; without any, the current "
		   "directory. All hosts of a run are judged together.\n"
		   "\n"
		   "Exit status, the first that applies:\n"
		   "  2  the command line or the rule file is wrong\n"
		   "  1  a rule failed (see --fail-on)\n"
		   "  3  a profile could not be read; the others were judged\n"
		   "  5  an output file could not be written\n"
		   "  4  a gate or a required rule could not be judged (see --inconclusive)\n"
		   "  0  none of these",
	.options = check_options,
	.most = -1,
	.settings_bytes = sizeof(struct check_settings),
	.run = check_run,
};
