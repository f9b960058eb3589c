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
#include "report/facts.h"
#include "report/fleet.h"

struct audit_settings {
	struct read_settings read;
	struct rule_settings rule;
	struct notify_settings notify;
	struct str since, until, store, usage, fleet, owner, html, pages, markdown, json, csv,
		openmetrics, facts, shard;
	struct str templates;
	int jobs;
	bool merge, owner_pages;
};

struct audit {
	struct arena *keep;
	struct ruleset rules;
	struct load_options options;
	struct shard shard;
	int jobs;
	struct connection connection; /* open when there is a --store */
	struct fleet *fleet;	      /* gets the facts where there is no --store */
	struct out *facts;	      /* --facts, or NULL */
	struct arena scratch;	      /* of the facts of one run */
	bool has_answers;	      /* in the report */
	bool is_partial;	      /* a ROOT could not be listed; it was told */
	bool is_full;		      /* the store took no more; err says why */
	struct str judge;
	struct str first_error; /* of a profile: said when there is nothing else to say */
	int64_t since_ns, until_ns, tomorrow_ns;
	int64_t newest_ns; /* of the runs that were taken; 0: none had a date */
	struct fleet_window window;
	struct fleet_report report;
	struct plan plan; /* whom the report is told */
	struct fleet_file file;
	struct fleet_pages pages; /* of --html, for owners' pages beside it */
	struct plan *routes;	  /* as many as the file has: whom an owner's part is told */
	struct diag err;
};

/* Templates are read before anything is judged, since somebody may have edited them. */
bool audit_check_templates(const struct audit_settings *s, struct diag *err);
/* --pages as the page at --html reaches it; missing when it does not lie below that directory. */
struct str audit_pages_below(const struct audit_settings *s);
/* Every output that was asked for. */
enum status audit_write(struct context *c, const struct audit_settings *s, struct audit *a);

#endif
