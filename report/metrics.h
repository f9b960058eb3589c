/*
 * What the writers of OpenMetrics share: heads of families and labels.  Private to report/.
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "base/out.h"

/* `unit` is what the name ends in, or NULL. */
void metrics_family(struct out *o, struct str name, const char *unit, struct str help);
/* One more label, cut and escaped: name="value". */
void metrics_label(struct out *labels, const char *name, struct str value, struct arena *keep);
/* Without labels where they are empty. */
void metrics_sample(struct out *o, struct str name, struct str labels, double value);

#endif
