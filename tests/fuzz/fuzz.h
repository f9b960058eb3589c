/*
 * What all targets share: the entry, an arena that every input finds empty, and what must hold.
 *
 * A target defines fuzz().  Readers that own nothing beside their arena are given a small one, so
 * that running out is met as well:
 *
 *	#define FUZZ_ARENA_BYTES FUZZ_SMALL
 *	#include "tests/fuzz/fuzz.h"
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"

/* Beyond what inputs of a megabyte, the most that a fuzzer makes, need in readers that are well. */
#define FUZZ_SMALL ((ptrdiff_t)64 << 20)
#ifndef FUZZ_ARENA_BYTES
#define FUZZ_ARENA_BYTES ARENA_RUN_BYTES
#endif

/* One input.  A call of its own: what it changes in registers is not seen behind a longjmp. */
__attribute__((noinline)) static void fuzz(struct str bytes, struct arena *keep);

static inline void require(bool truth)
{
	if (!truth)
		abort();
}

static jmp_buf fuzz_ran_out;

static void fuzz_on_full(ptrdiff_t bytes)
{
	(void)bytes;
	longjmp(fuzz_ran_out, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct str bytes = { size ? (const char *)data : "", (ptrdiff_t)size };
	if (!keep.base) {
		arena_on_full(fuzz_on_full);
		keep = arena_new(FUZZ_ARENA_BYTES);
	}
	arena_clear(&keep);
	if (!setjmp(fuzz_ran_out))
		fuzz(bytes, &keep);
	return 0;
}

#endif
