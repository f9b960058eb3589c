/* A user's hardware file: any bytes give a chip or a diagnostic, and a chip can be worked with. */
#include "hardware/roofline.h"
#include "tests/fuzz/fuzz.h"

static void work_with(const struct chip *c, struct arena *keep)
{
	static struct arena own;
	static struct chip_set *set;
	if (!set) {
		own = arena_new(ARENA_SCRATCH_BYTES);
		set = chip_set_new(&own);
	}
	struct chip_hints hints = {
		.device_name = c->name, .cc_major = 9, .core_count = 132, .peak_flops = 1e14
	};
	struct job_shape job = { .chips = 64, .hosts = 8, .slices = 2, .torus = { 4, 8 } };
	struct chip_device d = chip_device(c, &hints);
	chip_recognise(set, &hints, keep);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		struct collective_op op = { .kind = (enum op_kind)kind,
			.message_bytes = 1e6,
			.group_size = 48,
			.group_stride = kind % 3,
			.at_most = kind % 2 };
		roofline_collective(&d, &op, &job, keep);
	}
	if (!(roofline_hbm_bps(&d) > 0) || c->id.len == 0)
		abort();
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { .id = DIAG_NONE };
	const struct chip *c = chip_parse(STR("fuzz.json"), bytes, keep, &err);
	if (c)
		work_with(c, keep);
	else if (err.id == DIAG_NONE || !err.text[0])
		abort();
}
