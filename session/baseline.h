/*
 * Baselines as the command line names them: profiles, measured like any other, and report.json,
 * which holds what was measured then.
 */
#ifndef SESSION_BASELINE_H
#define SESSION_BASELINE_H

#include "session/load.h"
#include "measure/baseline.h"

struct baselines {
	struct baseline *items;
	ptrdiff_t count, cap;
};

/* Options for a run before this one: of another commit, older, and not what --job is about. */
struct load_options baseline_options(const struct load_options *of_head);

/* One, appended: a file that ends in .json is a report, of which every profile is a baseline. */
bool baseline_load(struct str path, const struct load_options *options, struct arena *keep,
	struct baselines *ret, struct diag *err);

/* The one run that `path` names, as a profile or its report, with enough steps to set limits by. */
bool baseline_load_good(struct str path, const struct read_settings *s, struct arena *keep,
	struct baseline *ret, struct diag *err);

#endif
