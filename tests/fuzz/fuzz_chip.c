/* A user's hardware file: any bytes give a chip or a diagnostic, and a chip can be worked with. */
#include <stdint.h>
#include <stdlib.h>

#include "hardware/roofline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void work_with(const struct chip *c, struct arena *keep)
{
	const struct chip *items[] = { c };
	struct chip_set set = { items, 1 };
	struct chip_hints hints = {
		.device_name = c->name, .cc_major = 9, .core_count = 132, .peak_flops = 1e14
	};
	struct job_shape job = { 64, 8, 2 };
	struct chip_device d = chip_device(c, &hints);
	chip_recognise(&set, &hints, keep);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		struct collective_op op = { (enum op_kind)kind, 1e6, 48, kind % 3 };
		roofline_collective(&d, &op, &job, keep);
	}
	if (!(roofline_hbm_bps(&d) > 0) || c->id.len == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct diag err = { .id = DIAG_NONE };
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	struct str json = { (const char *)data, (ptrdiff_t)size };
	const struct chip *c = chip_parse(STR("fuzz.json"), json, &keep, &err);
	if (c)
		work_with(c, &keep);
	else if (err.id == DIAG_NONE || !err.text[0])
		abort();
	arena_clear(&keep);
	return 0;
}
