/*
 * rooflint store: what a store holds, as records; and forgetting what is old or was judged again.
 */
#include "base/when.h"
#include "cmd/shared.h"
#include "session/connection.h"
#include "store/runs.h"

struct store_settings {
	struct str since, until, before;
	bool superseded;
};

/* As the command's arguments have them. */
enum verb { VERB_EXPORT, VERB_PRUNE };

static bool write_facts(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)err;
	run_facts_write(f, arg);
	return true;
}

/* One that is not given leaves *ns as it is. */
static bool read_moment(struct str text, const char *option, int64_t *ns, struct diag *err)
{
	return !text.p || when_parse(text, ns) ||
	       diag_set(err, DIAG_USAGE,
		       "--%s takes a date or a moment in UTC, like 2026-11-20, not '%.*s'", option,
		       STR_ARG(text));
}

struct moments {
	int64_t since, until, before;
};

static bool check_settings(
	const struct store_settings *s, int verb, struct moments *ret, struct diag *err)
{
	if (verb == VERB_PRUNE && !s->before.p && !s->superseded)
		return diag_set(err, DIAG_USAGE,
			"prune takes --before DATE, --superseded or both: nothing is forgotten "
			"unasked");
	return read_moment(s->since, "since", &ret->since, err) &&
	       read_moment(s->until, "until", &ret->until, err) &&
	       read_moment(s->before, "before", &ret->before, err);
}

static enum status store_run(struct context *c, const void *settings, const struct list *args)
{
	const struct store_settings *s = settings;
	struct moments when = { .until = INT64_MAX };
	struct connection connection;
	struct diag err;
	int verb = verb_find(&store_command, args->items[0], c->keep, &err);
	int64_t count = 0;
	if (verb < 0 || !check_settings(s, verb, &when, &err) ||
		!connection_open(&connection, args->items[1],
			verb == VERB_PRUNE ? STORE_PRUNE : STORE_READ, c->keep, &err))
		return misused(&err);
	bool ok = verb == VERB_EXPORT
			  ? store_scan(connection.store, when.since, when.until, write_facts,
				    c->out, &err)
			  : store_prune(connection.store, when.before, s->superseded, &count, &err);
	connection_close(&connection);
	if (!ok)
		return fail(&err);
	if (verb == VERB_PRUNE)
		out_fmt(c->out, "%lld judged run%s forgotten\n", (long long)count,
			count == 1 ? "" : "s");
	return STATUS_OK;
}

#define AT(member) offsetof(struct store_settings, member)
static const struct option store_options[] = {
	{ "since", 0, OPTION_TEXT, AT(since), "MOMENT", "export: captured then or later" },
	{ "until", 0, OPTION_TEXT, AT(until), "MOMENT", "export: captured then or earlier" },
	{ "before", 0, OPTION_TEXT, AT(before), "MOMENT",
		"prune: forget what was captured earlier" },
	{ "superseded", 0, OPTION_FLAG, AT(superseded), NULL,
		"prune: of a run that was judged several times, keep what came last" },
	OPTIONS_END,
};

const struct command store_command = {
	.name = "store",
	.arguments = "export|prune STORE",
	.summary = "what a store holds, as records, and forgetting what is old",
	.details = "  export  the records that `rooflint facts` writes, newest runs first; those "
		   "without a date are always among them\n"
		   "  prune   forget runs of a file, and what is kept beside them for comparisons; "
		   "the file becomes smaller. A server drops old weeks by its table's TTL",
	.options = store_options,
	.least = 2,
	.most = 2,
	.settings_bytes = sizeof(struct store_settings),
	.run = store_run,
};
