/*
 * From a report to the facts that a fleet remembers of it.
 */
#ifndef REPORT_FACTS_H
#define REPORT_FACTS_H

#include "report/report.h"
#include "store/facts.h"

/* `judge` and `tool` tell who judged.  The result borrows from the report and lives in `keep`. */
void report_facts(const struct report *r, struct str judge, struct str tool, struct arena *keep,
	struct run_facts *ret);

/*
 * When a run of that name was captured: by the profile's own word, which may be missing, else by
 * its directory's name.  Missing when nothing tells it.
 */
struct str report_moment(
	struct str profile, struct str name, struct str captured, struct arena *keep);

#endif
