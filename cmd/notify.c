/*
 * rooflint notify: tell people what a report says, or send again what could not be delivered.
 */
#include "cmd/shared.h"
#include "session/deliver.h"
#include "session/load.h"
#include "session/previous.h"

struct notify_command_settings {
	struct notify_settings notify;
	struct rule_settings rule;
	struct str templates, previous;
	bool quiet;
};

static enum status notify_run(struct context *c, const void *settings, const struct list *args)
{
	const struct notify_command_settings *s = settings;
	struct ruleset rules;
	struct report_set previous, set;
	struct plan plan;
	struct diag err;
	if (!args->count && s->notify.to.count)
		return misuse(
			"--to needs a REPORT.json; without one, what waits in the spool is sent to "
			"whom it was for");
	if (!load_rules(load_engine(c, &err), &s->rule, c->keep, &rules, &err) ||
		!plan_make(
			&s->notify, &rules, s->templates, true, print_line, c->keep, &plan, &err))
		return misused(&err);
	if (s->previous.p && !report_load(s->previous, c->keep, &previous, &err))
		return fail(&err);
	plan.previous = s->previous.p ? &previous : NULL;
	plan.quiet = s->quiet;
	plan.all_required = true;
	ptrdiff_t failed;
	if (!args->count)
		return !plan_resend(&plan, c->keep, &failed, &err) ? fail(&err)
		       : failed					   ? STATUS_DELIVERY
								   : STATUS_OK;
	if (!plan.count)
		return misuse("no receiver: give --to, or put notifications into the rule file");
	if (!report_load(args->items[0], c->keep, &set, &err))
		return fail(&err);
	return plan_deliver_news(&plan, &set, c->keep) ? STATUS_DELIVERY : STATUS_OK;
}

#define AT(member) offsetof(struct notify_command_settings, member)
static const struct option notify_options[] = {
	NOTIFY_OPTIONS(struct notify_command_settings, "to", "when",
		"whom to tell: a notification of the rule file, or KIND:VARIABLE; may be repeated; "
		"by default all of the rule file"),
	{ "previous", 0, OPTION_TEXT, AT(previous), "REPORT.json",
		"the report before this one, with which changes are compared" },
	RULE_OPTIONS(struct notify_command_settings),
	{ "templates", 0, OPTION_TEXT, AT(templates), "DIR",
		"templates of messages that replace built-in ones (docs/notify.md)" },
	{ "quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "only what went wrong" },
	OPTIONS_END,
};

const struct command notify_command = {
	.name = "notify",
	.arguments = "[REPORT.json]",
	.summary = "tell people what a report says, or send again what did not arrive",
	.details =
		"REPORT.json is what `rooflint check --json` wrote; each target gets a message, "
		"when there is something to say. Without it, the messages are sent that wait in "
		"the spool because they could not be delivered.\n"
		"\n"
		"A target is a notification of the rule file, or KIND:VARIABLE with KIND one of "
		"slack, google-chat, teams, discord, mattermost or webhook, and VARIABLE the name "
		"of an environment variable that holds the address and begins with ROOFLINT_. "
		"webhook:VARIABLE:SECRET signs with the key that SECRET holds. Addresses of chats "
		"are secrets, so they are never part of a command line or a file.\n"
		"\n"
		"Exit status, the first that applies:\n"
		"  2  the command line or the rule file is wrong\n"
		"  3  a REPORT.json could not be read\n"
		"  5  a message could not be delivered; it waits in the spool\n"
		"  0  none of these",
	.options = notify_options,
	.most = 1,
	.settings_bytes = sizeof(struct notify_command_settings),
	.run = notify_run,
};
