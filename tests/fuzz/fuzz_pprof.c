/* Any bytes as a snapshot of live buffers; those that are no gzip data are packed first. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "profile/pprof.h"
#include "tests/unit/pack.h"

/* Small, so that running out is met as well. */
#define ARENA_BYTES ((ptrdiff_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf full;

static void on_full(ptrdiff_t bytes)
{
	(void)bytes;
	longjmp(full, 1);
}

static void check(const struct live_site *s)
{
	if (s->bytes < -1 || s->count < 0 || s->frame_count < 0)
		abort();
	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		if (s->frames[i].line < 0 || !s->frames[i].file.p)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena arena;
	static struct diag err;
	struct live_snapshot snapshot;

	if (!arena.base) {
		arena_on_full(on_full);
		arena = arena_new(ARENA_BYTES);
	}
	arena_clear(&arena);
	if (setjmp(full))
		return 0;
	struct str bytes = { size ? (const char *)data : "", (ptrdiff_t)size };
	struct input in = input_memory(STR("fuzz"), bytes);
	if (in.kind != INPUT_GZIP)
		in = input_memory(STR("fuzz"), pack(bytes, &arena));
	if (!pprof_open(&in, &arena, &snapshot, &err)) {
		if (!err.text[0])
			abort();
		return 0;
	}
	for (ptrdiff_t i = 0; i < snapshot.site_count; i++)
		check(&snapshot.sites[i]);
	return 0;
}
