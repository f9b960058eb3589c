/*
 * Waivers: what a rule would find bad and a team has accepted, up to a limit and until a day.
 *
 *     waivers:
 *       - rule: oversized-all-gather
 *         where: scope glob '*embed*'        # subjects it speaks of; without it all of the rule
 *         at_most: 30%                       # beyond it the finding stands
 *         owner: perf-team
 *         reason: the vocabulary is gathered on purpose until the sharded softmax lands
 *         issue: PERF-12                     # may be left out
 *         expires: 2027-01-31                # the last day on which it holds
 *
 * Of a rule with places, `where` speaks of the places: they leave the value while their sum is
 * within the limit.  A waiver whose where or value is unknown for a row does not hold for it, nor
 * does one on a day that is not known: silence never excuses.  Private to rules/ but for struct
 * waiver.
 *
 * Refuses: waiving a gate, which says whether the profile can be judged at all.
 */
#ifndef RULES_WAIVER_H
#define RULES_WAIVER_H

#include "rules/parse.h"

#define WAIVERS_MAX 1000 /* a team with more has switched the rules off in its own way */
/* Of a rule with places: each place has a bit for each of them. */
#define PLACE_WAIVERS_MAX 64

/* What a waiver says of a row that did not pass, the better ones first. */
enum excuse {
	EXCUSE_HOLDS,
	EXCUSE_EXCEEDED, /* beyond the limit */
	EXCUSE_UNKNOWN,	 /* the value is not known */
	EXCUSE_EXPIRED,
	EXCUSE_UNDATED, /* nobody knows what day it is */
	EXCUSE_NONE,
};

/* Of a waiver that speaks of the row, or of places with this sum, on a day that may be missing. */
enum excuse waiver_excuse(const struct waiver *w, double value, struct str today);
/* For people: "waived until 2027-01-31 by perf-team (PERF-12): ..." */
struct str waiver_note(const struct waiver *w, enum excuse excuse, struct arena *keep);

#endif
