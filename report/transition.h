/*
 * What is new in a set of reports beside an earlier one: what began to fail, what ceased to, what
 * can no longer be told.
 *
 * The same rule of the same workload is compared (workload_of), or the only report with the only
 * one; which op it is about may change from run to run.  Without an earlier set everything that
 * fails is new.
 *
 * Refuses: calling something mended that was not judged.
 */
#ifndef REPORT_TRANSITION_H
#define REPORT_TRANSITION_H

#include "report/report.h"

enum transition_kind {
	TRANSITION_NEW,	  /* fails, and did not before */
	TRANSITION_LOST,  /* failed or could be judged before, and cannot be judged now */
	TRANSITION_FIXED, /* failed before, and was judged not to now */
	TRANSITION_STILL, /* fails as before */
	TRANSITION_WARNS, /* a warning, old or new */
	TRANSITION_KINDS
};

struct alert;

struct transition {
	enum transition_kind kind;
	struct str workload, rule;
	const struct alert *alert; /* the one that costs most; NULL for what does not fail now */
	ptrdiff_t subjects;	   /* alerts of this rule, with that one */
	struct str reason;	   /* where there is no alert */
};

struct transitions {
	const struct report_set *set;
	struct transition *items; /* by kind, then by gain */
	ptrdiff_t count, cap;
	ptrdiff_t kinds[TRANSITION_KINDS];
};

/* `previous` may be NULL. */
struct transitions transitions_of(
	const struct report_set *set, const struct report_set *previous, struct arena *keep);
bool transitions_are_due(const struct transitions *n, enum notice_when when);

#endif
