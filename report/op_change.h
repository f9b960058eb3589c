/*
 * Ops that changed, in words: rows of the table changes, for whoever writes them down.  Private to
 * report/.
 */
#ifndef REPORT_OP_CHANGE_H
#define REPORT_OP_CHANGE_H

#include "report/model.h"

struct picked_changes {
	const struct changes_row **items;
	ptrdiff_t count, left_out;
};

/* Losses from the largest on, or gains from the largest on; at most `most`, 0 for all. */
struct picked_changes changes_pick(const struct changes_row *rows, ptrdiff_t count, bool losses,
	ptrdiff_t most, struct arena *keep);

/* With names and shapes as they are, however long, or cut by text_brief. */
enum change_length { CHANGE_BRIEF, CHANGE_WHOLE };

struct str change_name(const struct changes_row *c, enum change_length length, struct arena *keep);
/* "copy bf16[8,128], before dot.3, in place of fusion.2; 1.2 ms per step" */
struct str change_sentence(
	const struct changes_row *c, enum change_length length, struct arena *keep);
/* Where in Python, never cut, else the scope; may be empty. */
struct str change_place(const struct changes_row *c, enum change_length length, struct arena *keep);
struct str change_lost(const struct changes_row *c, struct arena *keep); /* "+1.2 ms" */

#endif
