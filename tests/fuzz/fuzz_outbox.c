/* Any bytes as a file of the spool: refused with a reason, or a message that survives a round. */
#include <stdint.h>
#include <stdlib.h>

#include "cmd/outbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	struct str text = { size ? (const char *)data : "", (ptrdiff_t)size };
	struct letter l, again;
	struct diag err = { 0 };
	if (letter_read(STR("f"), text, &keep, &l, &err)) {
		text = letter_write(&l, &keep);
		if (text.len <= OUTBOX_MAX_BYTES) {
			require(letter_read(STR("f"), text, &keep, &again, &err));
			require(str_eq(letter_write(&again, &keep), text));
		}
	} else {
		require(err.id != DIAG_NONE && err.text[0]);
	}
	arena_free(&keep);
	return 0;
}
