/*
 * From reports to messages that arrive: who is told, whether there is news for them, the sending,
 * and the spool for what did not get through.
 *
 * What could not be delivered is reported on standard error and never changes a verdict.
 */
#ifndef SESSION_DELIVER_H
#define SESSION_DELIVER_H

#include "report/message.h"
#include "report/report.h"
#include "rules/ruleset.h"

struct notify_settings {
	struct list to;
	struct str report_url, spool;
	int when;
};

struct target {
	struct notice notice;
	const struct doc_template *message;
};

struct plan {
	struct target *targets;
	ptrdiff_t count, cap;
	const struct report_set *previous; /* what --previous named, or NULL */
	struct str report_url, spool;	   /* spool: missing when there is no home */
	int when;			   /* as in the settings */
	bool quiet;			   /* only what went wrong is reported */
	void (*tell)(struct str line);
	bool all_required; /* as where nothing but delivery was asked for */
};

/*
 * "slack:ROOFLINT_SLACK_URL", "webhook:ROOFLINT_HOOK:ROOFLINT_HOOK_SECRET": what the command line
 * may say instead of a name.  It is named by its kind.
 */
bool target_parse(struct str word, struct arena *keep, struct notice *ret, struct diag *err);

/*
 * Everything that can be wrong with the settings is found here, before anything is judged.  With
 * `by_default`, no name means every notification of the rule file.
 */
bool plan_make(const struct notify_settings *s, const struct ruleset *rules, struct str templates,
	bool by_default, void (*tell)(struct str line), struct arena *keep, struct plan *ret,
	struct diag *err);

/* All: how many messages had to be delivered and were not. */
ptrdiff_t plan_deliver(
	const struct plan *p, const struct message_source *source, struct arena *keep);
/* The same of what is new in reports. */
ptrdiff_t plan_deliver_news(const struct plan *p, const struct report_set *set, struct arena *keep);
bool plan_resend(const struct plan *p, struct arena *keep, ptrdiff_t *ret, struct diag *err);

#endif
