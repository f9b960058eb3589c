/*
 * rooflint facts: judged runs as records that a warehouse loads as they are.
 */
#include "base/task.h"
#include "cmd/shared.h"
#include "report/facts.h"
#include "session/batch.h"
#include "store/rowbinary.h"

enum facts_format { FORMAT_NDJSON, FORMAT_CLICKHOUSE, FORMAT_CLUSTER, FORMAT_BIGQUERY };

struct facts_settings {
	struct read_settings read;
	struct rule_settings rule;
	int jobs, format;
	bool newest;
};

struct writing {
	struct out *out;
	struct str judge;
	struct arena scratch;
	ptrdiff_t judged;
};

static void take_reports(void *arg, const struct report_set *set)
{
	struct writing *w = arg;
	struct run_facts facts;
	for (ptrdiff_t i = 0; i < set->count; i++) {
		const struct report *r = &set->items[i];
		report_facts(r, w->judge, STR(ROOFLINT_VERSION), &w->scratch, &facts);
		run_facts_write(&facts, w->out);
		/* The record goes into a warehouse, which the owner of the job does not see. */
		if (r->error.text.p)
			print_error_text((enum diag_id)r->error.id, r->error.text);
		w->judged += !facts.error_id.p;
		arena_clear(&w->scratch);
	}
}

static enum status write_records(
	struct context *c, const struct facts_settings *s, const struct list *paths)
{
	struct load_options options;
	struct report_set set;
	struct ruleset rules;
	struct diag err;
	int jobs = s->jobs ? s->jobs : task_cpus();
	if (!load_judge(load_engine(c, &err), &s->rule, &s->read, jobs, c->keep, &rules, &options,
		    &err))
		return misused(&err);
	struct writing w = { .out = c->out, .scratch = arena_new(ARENA_SCRATCH_BYTES) };
	w.judge = judge_identity(&rules, &s->read, c->keep);
	struct batch batch = {
		.rules = &rules, .options = &options, .workers = jobs, .give_up = give_up
	};
	batch.all_runs = !s->newest;
	batch.take = take_reports;
	batch.take_arg = &w;
	bool ok = batch_run(&batch, paths, c->keep, &set, &err);
	arena_free(&w.scratch);
	if (!ok)
		return fail(&err);
	return w.judged ? STATUS_OK : STATUS_PROFILE;
}

static enum status facts_run(struct context *c, const void *settings, const struct list *args)
{
	const struct facts_settings *s = settings;
	static struct str here = STR_INIT(".");
	const struct list paths = args->count ? *args : (struct list){ &here, 1, 1 };
	/* Of the columns, by format. */
	static void (*const writers[])(struct out *) = { [FORMAT_CLICKHOUSE] = store_table,
		[FORMAT_CLUSTER] = store_table_cluster,
		[FORMAT_BIGQUERY] = facts_bigquery };
	if (s->format == FORMAT_NDJSON)
		return write_records(c, s, &paths);
	writers[s->format](c->out);
	return STATUS_OK;
}

#define AT(member) offsetof(struct facts_settings, member)
static const struct option facts_options[] = {
	RULE_OPTIONS(struct facts_settings),
	READ_OPTIONS(struct facts_settings),
	{ "newest", 0, OPTION_FLAG, AT(newest), NULL,
		"only the newest run below each PROFILE, not all" },
	{ "jobs", 'j', OPTION_NUMBER, AT(jobs), "N",
		"processes for several profiles, or threads for one; by default one per "
		"processor" },
	{ "format", 0, OPTION_WORD, AT(format), "ndjson|clickhouse|clickhouse-cluster|bigquery",
		"records (default), the statements that make a table "
		"of ClickHouse for --store, or BigQuery's schema of the records" },
	OPTIONS_END,
};

const struct command facts_command = {
	.name = "facts",
	.arguments = "[PROFILE...]",
	.summary = "judged runs as flat records, for a warehouse or a weekly audit",
	.details = "Judges every run below each PROFILE, and writes one JSON object a line: a "
		   "record for the run and one for each rule. Every record has the same columns in "
		   "the same order, no value is nested, and null stands for what is not known; "
		   "docs/facts.md lists them. A compiler's dump that has not run has no records, "
		   "nor has a report.json: name the profile that it is of.\n"
		   "\n"
		   "A profile that cannot be read has a record too, with its error, which is "
		   "printed to standard error as well. The exit status is 3 only when none could "
		   "be read; rules that fail do not change it.",
	.options = facts_options,
	.most = -1,
	.settings_bytes = sizeof(struct facts_settings),
	.run = facts_run,
};
