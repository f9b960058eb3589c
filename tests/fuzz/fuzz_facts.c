/* Records of facts: whatever comes, a run that is handed over can be written and read again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena keep;

static bool accept(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)arg;
	(void)f;
	(void)err;
	return true;
}

static bool write_again(void *arg, const struct run_facts *f, struct diag *err)
{
	struct diag why;
	struct out *o = out_memory(&keep);
	(void)arg;
	(void)err;
	run_facts_write(f, o);
	if (!run_facts_read(STR("again"), out_text(o), accept, NULL, &why))
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag err;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	struct str text = { size ? (const char *)data : "", (ptrdiff_t)size };
	run_facts_read(STR("fuzz"), text, write_again, NULL, &err);
	return 0;
}
