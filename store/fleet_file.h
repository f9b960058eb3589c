/*
 * What a fleet's owner says of it once, and no profile can: which captures are expected to come,
 * which silence is known, what a workload was called before, and where its owners are told.
 *
 *     version: 1
 *     expected:
 *       - { workload: runs/llama-70b, every: 1d }
 *       - { workload: "runs/vit-*" }
 *     snoozed:
 *       - { workload: runs/old-job, until: 2026-12-31, reason: moved to the other cluster }
 *     aliases:
 *       - { from: runs/llama, to: runs/llama-70b }
 *     budgets:
 *       - { owner: vision, dollars: 2000 }
 *       - { chip_hours: 10000 }
 *     routes:
 *       - { owner: vision, notify: "slack:ROOFLINT_SLACK_VISION" }
 *
 * Patterns are globs over a workload's name.
 *
 * Refuses: unknown keys, days that are none, an alias of an alias; each with its place.
 */
#ifndef STORE_FLEET_FILE_H
#define STORE_FLEET_FILE_H

#include "base/arena.h"
#include "base/diag.h"

/* A list longer than this is generated, and belongs into the names of the workloads. */
#define FLEET_FILE_MAX 10000

struct fleet_expected {
	struct str workload; /* a glob */
	struct str every;    /* as it was given; missing: once a window */
	int64_t every_ns;    /* 0: once a window */
};
struct fleet_snooze {
	struct str workload; /* a glob */
	struct str until;    /* last day */
	struct str reason;
};
struct fleet_alias {
	struct str from, to;
};

/* How much may be recoverable in a window; NaN: any. */
struct fleet_budget {
	struct str owner; /* missing: of the whole fleet */
	double dollars, chip_hours;
};

/* Where an owner is told of what is theirs: as --notify takes it. */
struct fleet_route {
	struct str owner, notify;
};

struct fleet_file {
	struct fleet_expected *expected;
	ptrdiff_t expected_count;
	struct fleet_snooze *snoozed;
	ptrdiff_t snoozed_count;
	struct fleet_alias *aliases;
	ptrdiff_t alias_count;
	struct fleet_budget *budgets;
	ptrdiff_t budget_count;
	struct fleet_route *routes;
	ptrdiff_t route_count;
};

bool fleet_file_parse(struct str file, struct str text, struct arena *keep, struct fleet_file *ret,
	struct diag *err);

#endif
