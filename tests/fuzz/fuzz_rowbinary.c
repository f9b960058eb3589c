/* Any bytes as a server's rows: what is taken for one is the same when it is written and read. */
#include <stdint.h>
#include <stdlib.h>

#include "store/rowbinary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static struct str write(const struct run_facts *f, struct arena *keep)
{
	struct out *o = out_memory(keep);
	rowbinary_write(o, f);
	return out_text(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct str rest = { size ? (const char *)data : "", (ptrdiff_t)size };
	struct run_facts f, again;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	while (rowbinary_read(&rest, &keep, &f) == ROWBINARY_ROW) {
		struct str row = write(&f, &keep), copy = row;
		require(rowbinary_read(&copy, &keep, &again) == ROWBINARY_ROW && !copy.len);
		require(str_eq(write(&again, &keep), row));
		run_facts_flaw(&f, &keep);
		arena_clear(&keep);
	}
	return 0;
}
