/* Any bytes as a database of Nsight Systems: whatever opens is read whole. */
#include <setjmp.h>
#include <stdint.h>

#include "tests/fuzz/profile.h"

/* Small, so that running out is met as well. */
#define ARENA_BYTES ((ptrdiff_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf full;

static void on_full(ptrdiff_t bytes)
{
	(void)bytes;
	longjmp(full, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena arena;
	struct str s = { size ? (const char *)data : "", (ptrdiff_t)size };
	struct input in = input_memory(STR("fuzz"), s);
	struct profile profile;

	if (!arena.base) {
		arena_on_full(on_full);
		arena = arena_new(ARENA_BYTES);
	}
	arena_clear(&arena);
	if (setjmp(full))
		return 0;
	if (!nsys_open(&in, STR("host"), &arena, &profile, &err)) {
		require(err.text[0] && err.id != DIAG_NONE);
		return 0;
	}
	read_profile(&profile, arena);
	input_close(&in);
	return 0;
}
