/*
 * What wants attention in a set of reports, worst first: the list that annotations, code scanning
 * and comments are cut from.  Private to report/.
 *
 * One alert is a finding that failed or warns; rules that could not be judged, together when for
 * one reason; or a profile that could not be read.  Waived findings are none, and have a list of
 * their own: most consumers would show them as open.
 */
#ifndef REPORT_ALERT_H
#define REPORT_ALERT_H

#include "report/model.h"

/* Error: what makes the exit status differ from 0 by default, but for evidence, which warns. */
enum alert_level { ALERT_ERROR, ALERT_WARNING, ALERT_NOTE, ALERT_LEVELS };

/* The rule that an unreadable profile breaks; JUnit has a case of that name. */
#define ALERT_UNREADABLE STR("profile-readable")

struct alert {
	enum alert_level level;
	const struct report *report;
	const struct finding *finding; /* NULL: not judged, or not read */
	struct str rule;	       /* the first, when several share a reason */
	struct str title;	       /* "fail: matmul-roofline", "inconclusive: a, b" */
	struct str message;	       /* a line of clean text, without the gain */
	struct str cost;	       /* "up to 6 ms of 32 ms per step (18%)", or missing */
	struct str of;		       /* which of several profiles; missing: it is said */
	/*
	 * A relative path of the user's sources, its line or 0, and whether that is known.  Where
	 * it is not, `path` is the profile without its dates, for formats that demand a place; of
	 * an absolute one its end, since a machine's folders are no place in a repository.
	 */
	struct str path;
	int64_t line;
	bool in_source;
	struct str fingerprint; /* unique in the set; survives a recompile and edited lines */
	double gain_s;		/* NaN when unknown */
	ptrdiff_t order;	/* in the set */
	ptrdiff_t place;	/* in its report */
};

struct alerts {
	struct alert *items; /* notes last, then by place, then as reports are sorted */
	ptrdiff_t count, cap;
	ptrdiff_t levels[ALERT_LEVELS];
};

struct alerts alerts_of(const struct report_set *set, struct arena *keep);
/* A file that the repository lacks, where no place is one of its files: its root is not known. */
struct str alerts_lost(const struct alerts *all);
/* Findings that are waived, for formats that can say so. */
struct alerts alerts_waived(const struct report_set *set, struct arena *keep);

/* Profile, message, cost, and the place when `in_source` does not tell it: all of one line. */
struct str alert_text(const struct alert *a, struct arena *keep);

#endif
