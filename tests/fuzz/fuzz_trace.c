/*
 * Any bytes as a trace, packed or not: whatever opens is read whole.  As a trace beside an xplane
 * its head is asked first, and must not depend on what comes behind it.
 */
#define FUZZ_ARENA_BYTES FUZZ_SMALL
#include "tests/fuzz/profile.h"

/* A host whose threads are those of the seeds. */
static void ask_head(struct input *in)
{
	static struct lane lanes[] = { { .id = 1 }, { .id = 5 }, { .id = -1 } };
	static struct plane host = { .class = PLANE_HOST, .lanes = lanes, .lane_count = 3 };
	static const struct profile beside = { .planes = &host, .plane_count = 1 };
	enum { HEAD_BYTES = 64 << 10 };
	struct input head = input_memory(STR("head"), str_head(in->bytes, HEAD_BYTES));
	enum trace_kin kin = trace_kin_of(in, &beside);
	require(kin == TRACE_SAME || kin == TRACE_OTHER || kin == TRACE_UNTOLD);
	require(kin == trace_kin_of(&head, &beside));
	input_close(&head);
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct input in = input_memory(STR("fuzz"), bytes);
	struct profile profile;
	ask_head(&in);
	if (!trace_open(&in, STR("host"), keep, &profile, &err)) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	read_profile(&profile, *keep);
	input_close(&in);
}
