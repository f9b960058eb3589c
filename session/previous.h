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
 * What the last report on a profile says of it: the one of its name, or the only one there is,
 * since names hold dates.  Nothing when there is none, or it could not be read then.
 */
struct judgement previous_judgement(const struct report_set *previous, struct str profile);

#endif
