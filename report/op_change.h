/*
 * Ops that changed, in words: rows of the table changes, for whoever writes them down.  Private to
 * report/.
 */
#ifndef REPORT_OP_CHANGE_H
#define REPORT_OP_CHANGE_H

#include "measure/diff.h"
#include "report/model.h"

/* With names and shapes as they are, however long, or cut by text_brief. */
enum change_length { CHANGE_BRIEF, CHANGE_WHOLE };

struct str change_name(const struct changes_row *c, enum change_length length, struct arena *keep);
/* "copy bf16[8,128], before dot.3, in place of fusion.2; 1.2 ms per step" */
struct str change_sentence(
	const struct changes_row *c, enum change_length length, struct arena *keep);
/* Where in Python, never cut, else the scope; may be empty. */
struct str change_place(const struct changes_row *c, enum change_length length, struct arena *keep);
/* So many of its kinds, from the first, changed by half a percent of all or more. */
int kinds_changed(const struct op_diff *d);

#endif
