/*
 * What the writers of OpenMetrics share: heads of families and labels.  Private to report/.
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "base/out.h"

/* `unit` is what the name ends in, or NULL. */
void metrics_family(struct out *o, struct str name, const char *unit, struct str help);
/* name="value", cut and escaped. */
void metrics_label(struct out *o, const char *name, struct str value, struct arena *keep);

#endif
