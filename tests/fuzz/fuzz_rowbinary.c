/* Any bytes as a server's rows: what is taken for one is the same when it is written and read. */
#include "store/rowbinary.h"
#include "tests/fuzz/fuzz.h"

static struct str write_row(const struct run_facts *f, struct arena *keep)
{
	struct out *o = out_memory(keep);
	rowbinary_write(o, f);
	return out_text(o);
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct run_facts f, again;
	while (rowbinary_read(&bytes, keep, &f) == ROWBINARY_ROW) {
		struct str row = write_row(&f, keep), copy = row;
		require(rowbinary_read(&copy, keep, &again) == ROWBINARY_ROW && !copy.len);
		require(str_eq(write_row(&again, keep), row));
		run_facts_flaw(&f, keep);
		arena_clear(keep);
	}
}
