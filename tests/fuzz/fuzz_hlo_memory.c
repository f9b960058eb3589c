/* Any bytes as the texts a compiler dumps about memory: figures that make sense, or a reason. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "hlo/memory.h"
#include "hlo/text.h"

/* Small, so that running out is met as well. */
#define ARENA_BYTES ((ptrdiff_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf full;
static struct diag err;

static void on_full(ptrdiff_t bytes)
{
	(void)bytes;
	longjmp(full, 1);
}

static void require(bool truth)
{
	if (!truth)
		abort();
}

static void check(const struct hlo_module *m, struct arena scratch)
{
	struct hlo_memory x;

	for (int64_t space = 0; space < 2; space++) {
		if (!hlo_memory(m, space, &scratch, &x, &err)) {
			require(err.id == DIAG_NONE || err.text[0]);
			continue;
		}
		require(x.peak_bytes >= 0 && x.temp_bytes >= 0 &&
			x.allocated_bytes >= x.peak_bytes);
		for (ptrdiff_t i = 0; i < x.live_count; i++)
			require(x.live[i].bytes > 0 && x.live[i].instruction >= -1 &&
				x.live[i].instruction < m->instruction_count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena arena;
	struct str s = { size ? (const char *)data : "", (ptrdiff_t)size };
	if (!arena.base) {
		arena_on_full(on_full);
		arena = arena_new(ARENA_BYTES);
	}
	arena_clear(&arena);
	if (setjmp(full))
		return 0;
	struct hlo_module *m = hlo_text_parse(STR("fuzz"),
		STR("HloModule f\nENTRY e {\n  ROOT p = (f32[8], f32[]) parameter(0)\n}\n"), &arena,
		&err);
	require(m);
	m->memory_note = (struct hlo_note){ STR("fuzz"), s };
	check(m, arena);
	m->buffers_note = m->memory_note;
	check(m, arena);
	return 0;
}
