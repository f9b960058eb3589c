/* Any bytes as a database of Nsight Systems: whatever opens is read whole. */
#define FUZZ_ARENA_BYTES FUZZ_SMALL
#include "tests/fuzz/profile.h"

static void fuzz(struct str bytes, struct arena *keep)
{
	struct input in = input_memory(STR("fuzz"), bytes);
	struct profile profile;
	if (!nsys_open(&in, STR("host"), STR("*a*"), keep, &profile, &err)) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	read_profile(&profile, *keep);
	input_close(&in);
}
