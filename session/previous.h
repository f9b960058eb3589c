/*
 * Reports written before: reading report.json, and what the last one already said of a profile.
 *
 * A runner that keeps nothing hands the last report back with --previous; a finding is the same
 * when its rule and its subject are, which survive a recompile.
 */
#ifndef SESSION_PREVIOUS_H
#define SESSION_PREVIOUS_H

#include "report/report.h"

bool report_load(struct str path, struct arena *keep, struct report_set *ret, struct diag *err);

/*
 * What the last report on a profile found bad: the one of its name, or the only one there is, since
 * names hold dates.  Nothing when there is none, or it could not be read then.  Returns how many.
 */
ptrdiff_t previous_sightings(const struct report_set *previous, struct str profile,
	struct arena *keep, struct sighting **ret);

/*
 * Rules that the last report on the profile, or the baseline, could judge: that one of them is open
 * now is news.  Names are appended.
 */
void previous_judged(const struct report_set *previous, struct str profile, struct arena *keep,
	struct list *ret);
bool baseline_judged(const struct ruleset *rules, const struct tables *base, struct arena *keep,
	struct list *ret, struct diag *err);

#endif
