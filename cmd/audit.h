/*
 * What the parts of `rooflint audit` share: gathering facts (audit.c), and writing what they come
 * to (audit_write.c).
 */
#ifndef CMD_AUDIT_H
#define CMD_AUDIT_H

#include "cmd/cmd.h"
#include "base/task.h"
#include "session/connection.h"
#include "session/batch.h"
#include "session/deliver.h"
#include "report/fleet.h"

struct audit_settings {
	struct read_settings read;
	struct rule_settings rule;
	struct notify_settings notify;
	struct str since, until, store, usage, html, pages, markdown, json, csv, facts, shard;
	struct str templates;
	int jobs;
	bool merge;
};

enum { MOMENT_MAX = 64 }; /* "2026-11-20T12:00:00.000Z" and some room */

struct audit {
	struct arena *keep;
	struct ruleset rules;
	struct load_options options;
	struct shard shard;
	int jobs;
	struct connection archive; /* open when there is a --store */
	struct fleet *fleet;
	struct str judge, until, first_error, newest;
	char newest_text[MOMENT_MAX]; /* where that is */
	int64_t since_ns;
	struct fleet_window window;
	struct str history; /* facts older than this are not asked about */
	struct fleet_report report;
	struct plan plan; /* whom the report is told */
	struct diag err;
};

/* Templates are read before anything is judged, since somebody may have edited them. */
bool audit_check_templates(const struct audit_settings *s, struct diag *err);
/* --pages as the page at --html reaches it; missing when it does not lie below that directory. */
struct str audit_pages_below(const struct audit_settings *s);
/* Every output that was asked for. */
enum status audit_write(struct context *c, const struct audit_settings *s, struct audit *a);

#endif
