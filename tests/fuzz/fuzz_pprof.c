/* Any bytes as a snapshot of live buffers; those that are no gzip data are packed first. */
#define FUZZ_ARENA_BYTES FUZZ_SMALL
#include "profile/pprof.h"
#include "tests/fuzz/fuzz.h"
#include "session/pack.h"

static void check(const struct live_site *s)
{
	if (s->bytes < -1 || s->count < 0 || s->frame_count < 0)
		abort();
	for (ptrdiff_t i = 0; i < s->frame_count; i++)
		if (s->frames[i].line < 0 || !s->frames[i].file.p)
			abort();
}

static void fuzz(struct str bytes, struct arena *keep)
{
	static struct diag err;
	struct live_snapshot snapshot;
	struct input in = input_memory(STR("fuzz"), bytes);
	if (in.kind != INPUT_GZIP)
		in = input_memory(STR("fuzz"), pack(bytes, keep));
	if (!pprof_open(&in, keep, &snapshot, &err)) {
		if (!err.text[0])
			abort();
		return;
	}
	for (ptrdiff_t i = 0; i < snapshot.site_count; i++)
		check(&snapshot.sites[i]);
}
