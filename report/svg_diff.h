/*
 * The pictures of a diff.  Private to report/.
 */
#ifndef REPORT_SVG_DIFF_H
#define REPORT_SVG_DIFF_H

#include "measure/diff.h"
#include "report/html.h"

/* False: there is nothing to draw. */
bool svg_waterfall(const struct op_diff *d, struct arena *keep, struct html_picture *ret);
bool svg_kinds_change(const struct op_diff *d, struct arena *keep, struct html_picture *ret);

#endif
