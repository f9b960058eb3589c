/*
 * What is new in a set of reports beside an earlier one: what began to fail, what ceased to, what
 * can no longer be told.
 *
 * The same rule of the same workload is compared (workload_of), or the only report with the
 * only one; which op it is about may change
 * from run to run.  Without an earlier set everything that fails is new.
 *
 * Refuses: calling something mended that was not judged.
 */
#ifndef REPORT_NEWS_H
#define REPORT_NEWS_H

#include "report/report.h"

enum news_kind {
	NEWS_NEW,   /* fails, and did not before */
	NEWS_LOST,  /* failed or could be judged before, and cannot be judged now */
	NEWS_FIXED, /* failed before, and was judged not to now */
	NEWS_STILL, /* fails as before */
	NEWS_WARNS, /* a warning, old or new */
	NEWS_KINDS
};

struct alert;

struct news_item {
	enum news_kind kind;
	struct str workload, rule;
	const struct alert *alert; /* the one that costs most; NULL for what does not fail now */
	ptrdiff_t subjects;	   /* alerts of this rule, with that one */
	struct str reason;	   /* where there is no alert */
};

struct news {
	const struct report_set *set;
	struct news_item *items; /* by kind, then by gain */
	ptrdiff_t count, cap;
	ptrdiff_t kinds[NEWS_KINDS];
};

/* `previous` may be NULL. */
struct news news_of(
	const struct report_set *set, const struct report_set *previous, struct arena *keep);
bool news_is_due(const struct news *n, enum notice_when when);

#endif
