/* Any bytes as a file of the spool: refused with a reason, or a message that survives a round. */
#include "session/outbox.h"
#include "tests/fuzz/fuzz.h"

static void fuzz(struct str bytes, struct arena *keep)
{
	struct letter l, again;
	struct diag err = { 0 };
	if (letter_read(STR("f"), bytes, keep, &l, &err)) {
		struct str text = letter_write(&l, keep);
		if (text.len <= OUTBOX_MAX_BYTES) {
			require(letter_read(STR("f"), text, keep, &again, &err));
			require(str_eq(letter_write(&again, keep), text));
		}
	} else {
		require(err.id != DIAG_NONE && err.text[0]);
	}
}
