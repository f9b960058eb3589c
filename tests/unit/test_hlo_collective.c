/* hlo/collective: bytes of messages and of rings, who takes part, and along which axis. */
#include <string.h>

#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/text.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;

#define NONE ((struct str){ NULL, 0 })
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}
#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

static struct str assignment(int64_t replicas, int64_t partitions)
{
	struct pb b = pb_new(&keep), inner = pb_new(&keep);
	pb_int(&inner, 1, replicas);
	pb_int(&inner, 2, partitions);
	pb_bytes(&b, 15, pb_done(&inner));
	return pb_done(&b);
}

static struct hlo_module *parse(const struct pb_computation *c, struct str more)
{
	struct hlo_module *m = pb_parse(&keep, c, more, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

/* The collective that the entry's root is. */
static struct hlo_collective collective(const struct pb_computation *c, struct str more)
{
	struct hlo_module *m = parse(c, more);
	struct hlo_collective ret;
	if (!hlo_collective(m, m->computations[m->entry].root, &keep, &ret))
		fail_msg("no collective");
	return ret;
}

/* replica_groups of two, as a list in field 49. */
static struct str pairs_of(int64_t stride, bool channel, bool global)
{
	struct pb b = pb_new(&keep);
	for (int64_t k = 0; k < 2; k++)
		pb_bytes(&b, 49, pb_list(&keep, 1, PB_LIST(k, k + stride)));
	if (channel)
		pb_int(&b, 26, 1);
	if (global)
		pb_int(&b, 71, 1);
	return pb_done(&b);
}

/* f32[4,256] (4096 bytes) in groups of two. */
static const struct {
	const char *opcode, *out;
	int64_t message, wire;
	enum op_kind kind;
	bool is_async;
} sizes[] = {
	{ "all-gather", "f32[8,256]", 8192, 4096, KIND_ALL_GATHER, false },
	{ "all-gather-start", "(f32[4,256], f32[8,256])", 8192, 4096, KIND_ALL_GATHER, true },
	{ "all-gather-start", "((f32[4,256]), (f32[8,256]))", 8192, 4096, KIND_ALL_GATHER, true },
	{ "all-reduce", "f32[4,256]", 4096, 4096, KIND_ALL_REDUCE, false },
	{ "all-reduce-start", "f32[4,256]", 4096, 4096, KIND_ALL_REDUCE, true },
	{ "reduce-scatter", "f32[2,256]", 4096, 2048, KIND_REDUCE_SCATTER, false },
	{ "all-to-all", "f32[4,256]", 8192, 2048, KIND_ALL_TO_ALL, false },
	{ "ragged-all-to-all", "f32[4,256]", 8192, 2048, KIND_ALL_TO_ALL, false },
	{ "collective-broadcast", "f32[4,256]", 4096, 4096, KIND_BROADCAST, false },
};

static void bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[4,256]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "c", sizes[i].opcode, sizes[i].out, 2, { 1 }, { 0 }, 0,
				pairs_of(2, true, true) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		struct hlo_collective x = collective(c, assignment(1, 4));
		if (x.message_bytes != sizes[i].message || x.wire_bytes != sizes[i].wire)
			fail_msg("%s: %lld, %lld bytes", sizes[i].opcode,
				(long long)x.message_bytes, (long long)x.wire_bytes);
		assert_int_equal(x.kind, sizes[i].kind);
		assert_int_equal(x.is_async, sizes[i].is_async);
		assert_int_equal(x.group_size, 2);
		assert_int_equal(x.groups, 2);
		assert_int_equal(x.stride, 2);
		assert_str(x.axis, "axis of 2, stride 2");
		assert_str(x.operand_kind, "parameter");
		assert_int_equal(x.instruction, 1);
	}
}

static void several_arrays(void **state)
{
	const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[4,256]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "bf16[4]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "c", "all-reduce", "(f32[4,256], bf16[4])", 3, { 1, 2 }, { 0 }, 0,
			pairs_of(1, false, false) },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	(void)state;
	assert_int_equal(collective(c, NONE).message_bytes, 4096 + 8);
}

/* The array it is put into and the four that say what goes where do not travel. */
static void ragged(void **state)
{
	const struct pb_instruction body[] = {
		{ "sent", "parameter", "f32[4,256]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "into", "parameter", "f32[16,256]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "where", "parameter", "s32[8]", 3, { 0 }, { 0 }, 2, { 0 } },
		{ "c", "ragged-all-to-all", "f32[16,256]", 4, { 1, 2, 3, 3, 3, 3 }, { 0 }, 0,
			pairs_of(1, true, true) },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	(void)state;
	struct hlo_collective x = collective(c, assignment(1, 4));
	assert_int_equal(x.message_bytes, 2 * 4096);
	assert_int_equal(x.wire_bytes, 2048);
	assert_true(x.at_most);
}

/* Replica, partition or device ids: 2 replicas of 3 partitions, groups named or everybody. */
static void participants(void **state)
{
	static const struct {
		const char *opcode;
		bool named, channel, global;
		int64_t size, groups;
	} cases[] = {
		{ "all-reduce", true, false, false, 2, 6 },
		{ "all-reduce", true, true, false, 6, 2 },
		{ "all-reduce", true, true, true, 2, 2 },
		{ "all-to-all", true, true, false, 2, 4 },
		{ "all-reduce", false, false, false, 2, 3 },
		{ "all-reduce", false, true, false, 6, 1 },
		{ "all-reduce", false, true, true, 6, 1 },
		{ "all-to-all", false, true, false, 3, 2 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb b = pb_new(&keep);
		if (cases[i].named)
			pb_raw(&b, pairs_of(1, cases[i].channel, cases[i].global));
		else if (cases[i].channel)
			pb_int(&b, 26, 1);
		if (cases[i].global)
			pb_int(&b, 71, 1);
		const struct pb_instruction body[] = {
			{ "c", cases[i].opcode, "f32[4]", 2, { 0 }, { 0 }, 0, pb_done(&b) }, NO_ROW
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		struct hlo_collective x = collective(c, assignment(2, 3));
		if (x.group_size != cases[i].size || x.groups != cases[i].groups)
			fail_msg("case %zu: %lld groups of %lld", i, (long long)x.groups,
				(long long)x.group_size);
	}
}

static void nobody_knows(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[4]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "c", "all-reduce", "f32[4]", 2, { 1 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	(void)state;
	struct hlo_collective x = collective(c, NONE);
	assert_int_equal(x.group_size, 0);
	assert_int_equal(x.wire_bytes, 0);
	assert_int_equal(x.message_bytes, 16);
	assert_null(x.axis.p);
}

#define IDS(...) ((const int64_t[]){ __VA_ARGS__ })

static void axes(void **state)
{
	static const struct {
		int64_t ids[8];
		ptrdiff_t count;
		int64_t stride;
		const char *axis;
	} cases[] = {
		{ { 0, 16, 32, 48 }, 4, 16, "axis of 4, stride 16" },
		{ { 0, 1, 8, 9 }, 4, 0, "axes of 2 and 2, strides 8 and 1" },
		{ { 0, 1, 2, 3, 16, 17, 18, 19 }, 8, 0, "axes of 2 and 4, strides 16 and 1" },
		{ { 0, 12, 24, 2, 14, 26 }, 6, 0, "axes of 2 and 3, strides 2 and 12" },
		{ { 0, 1, 3, 7 }, 4, 0, "irregular" },
		{ { 0, 1, 8, 9, 20, 21 }, 6, 0, "irregular" },
		{ { 3, 0 }, 2, 0, "irregular" },
		{ { 7 }, 1, 0, "none" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb b = pb_new(&keep);
		pb_bytes(&b, 49, pb_list(&keep, 1, cases[i].ids, cases[i].count));
		const struct pb_instruction body[] = {
			{ "c", "all-reduce", "f32[4]", 2, { 0 }, { 0 }, 0, pb_done(&b) }, NO_ROW
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		struct hlo_collective x = collective(c, assignment(32, 1));
		assert_str(x.axis, cases[i].axis);
		assert_int_equal(x.stride, cases[i].stride);
	}
}

static struct str pairs(const int64_t *ids, ptrdiff_t count)
{
	struct pb b = pb_new(&keep);
	for (ptrdiff_t k = 0; k < count; k += 2) {
		struct pb pair = pb_new(&keep);
		pb_int(&pair, 1, ids[k]);
		pb_int(&pair, 2, ids[k + 1]);
		pb_bytes(&b, 52, pb_done(&pair));
	}
	return pb_done(&b);
}

static void permutes(void **state)
{
	static const struct {
		int64_t ids[12];
		ptrdiff_t count;
		int64_t size, groups;
		const char *axis;
		int direction;
	} cases[] = {
		{ { 0, 1, 1, 2, 2, 3, 3, 0 }, 8, 4, 1, "ring of 4, stride 1", 1 },
		{ { 1, 2, 0, 1, 3, 0, 2, 3 }, 8, 4, 1, "ring of 4, stride 1", 1 },
		{ { 0, 4, 4, 0, 1, 5, 5, 1 }, 8, 2, 2, "ring of 2, stride 4", 0 },
		{ { 0, 1, 1, 2, 2, 3 }, 6, 4, 1, "chain of 4, stride 1", 1 },
		{ { 3, 3 }, 2, 1, 0, "none", 0 }, /* moves nothing */
		/* A device that keeps its own says nothing of the others; sets of two sizes. */
		{ { 0, 0, 1, 2, 2, 3, 3, 1 }, 8, 3, 1, "ring of 3, stride 1", 1 },
		{ { 0, 0, 1, 2, 2, 1, 3, 3 }, 8, 2, 1, "ring of 2, stride 1", 0 },
		{ { 0, 0, 1, 2, 2, 1, 4, 5, 5, 6 }, 10, 3, 2, "sets of up to 3, stride 1", 0 },
		/* down, first over the seam; two rings at once; here and there */
		{ { 0, 3, 1, 0, 2, 1, 3, 2 }, 8, 4, 1, "ring of 4, stride 1", -1 },
		{ { 4, 0, 0, 4, 5, 1, 1, 5 }, 8, 2, 2, "ring of 2, stride 4", 0 },
		{ { 0, 2, 2, 4, 4, 0, 1, 3, 3, 5, 5, 1 }, 12, 3, 2, "ring of 3, stride 2", 1 },
		{ { 0, 2, 2, 1, 1, 3, 3, 0 }, 8, 4, 1, "ring of 4", 0 },
		{ { INT64_MIN, INT64_MAX }, 2, 2, 1, "chain of 2", 0 },
		{ { 0, 0 }, 0, 0, 0, "", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[4]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "c", "collective-permute", "f32[4]", 2, { 1 }, { 0 }, 0,
				pairs(cases[i].ids, cases[i].count) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		struct hlo_collective x = collective(c, NONE);
		assert_int_equal(x.group_size, cases[i].size);
		assert_int_equal(x.groups, cases[i].groups);
		assert_string_equal(x.axis.p ? x.axis.p : "", cases[i].axis);
		assert_int_equal(x.message_bytes, 16);
		assert_int_equal(x.wire_bytes, x.group_size == 1 ? 0 : 16);
		assert_int_equal(x.direction, cases[i].direction);
	}
}

static struct str op_name(const char *text)
{
	struct pb b = pb_new(&keep), inner = pb_new(&keep);
	pb_text(&inner, 2, text);
	pb_bytes(&b, 7, pb_done(&inner));
	return pb_done(&b);
}

/* One layer of stacked weights; what the loop carries along; a gradient; nothing to go by. */
static void what_is_moved(void **state)
{
	const struct pb_instruction body[] = {
		{ "w", "parameter", "(f32[8,4], f32[4])", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "g0", "get-tuple-element", "f32[8,4]", 2, { 1 }, { 0 }, 0, { 0 } },
		{ "g1", "get-tuple-element", "f32[4]", 3, { 1 }, { 0 }, 0, { 0 } },
		{ "i", "constant", "s32[]", 4, { 0 }, { 0 }, 0, { 0 } },
		{ "ds", "dynamic-slice", "f32[1,4]", 5, { 2, 4 }, { 0 }, 0, { 0 } },
		{ "cv", "convert", "bf16[1,4]", 6, { 5 }, { 0 }, 0, { 0 } },
		{ "c0", "all-gather", "bf16[2,4]", 7, { 6 }, { 0 }, 0, op_name("x") },
		{ "c1", "all-gather", "f32[8]", 8, { 3 }, { 0 }, 0, op_name("x") },
		{ "d", "multiply", "f32[4]", 9, { 3, 3 }, { 0 }, 0,
			op_name("jit(f)/transpose(jvp())/mul") },
		{ "c2", "all-reduce", "f32[4]", 10, { 9 }, { 0 }, 0, op_name("x") },
		{ "e", "multiply", "f32[4]", 11, { 3, 3 }, { 0 }, 0, { 0 } },
		{ "c3", "all-reduce", "f32[4]", 12, { 11 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction entry[] = {
		{ "p", "parameter", "(f32[8,4], f32[4])", 21, { 0 }, { 0 }, 0, { 0 } },
		{ "loop", "while", "f32[4]", 22, { 21 }, { 1 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct {
		const char *name, *kind;
	} cases[] = {
		{ "c0", "parameter" },
		{ "c1", "activation" },
		{ "c2", "gradient" },
		{ "c3", "" },
	};
	const struct pb_computation c[] = { { "body", 1, body }, { "main", 2, entry }, { 0 } };
	(void)state;
	struct hlo_module *m = parse(c, NONE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hlo_collective x;
		assert_true(hlo_collective(m, hlo_find(m, str_from(cases[i].name)), &keep, &x));
		assert_string_equal(x.operand_kind.p ? x.operand_kind.p : "", cases[i].kind);
	}
	struct hlo_collective x;
	assert_false(hlo_collective(m, hlo_find(m, STR("loop")), &keep, &x));
	assert_false(hlo_collective(m, hlo_find(m, STR("d")), &keep, &x));
}

/* TPU: an all-reduce and a slice in one fusion are a reduce-scatter. */
static void all_reduce_scatter(void **state)
{
	const struct pb_instruction inside[] = {
		{ "input", "parameter", "f32[8,4]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "ar", "all-reduce", "f32[8,4]", 2, { 1 }, { 0 }, 0, pairs_of(1, false, false) },
		{ "i", "constant", "s32[]", 3, { 0 }, { 0 }, 0, { 0 } },
		{ "ds", "dynamic-slice", "f32[4,4]", 4, { 2, 3 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction body[] = {
		{ "p", "parameter", "f32[8,4]", 11, { 0 }, { 0 }, 0, { 0 } },
		{ "fusion.3", "fusion", "f32[4,4]", 12, { 11 }, { 1 }, 0, { 0 } },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "all-reduce-scatter.3", 1, inside },
		{ "main", 2, body }, { 0 } };
	(void)state;
	struct hlo_collective x = collective(c, NONE);
	assert_int_equal(x.kind, KIND_REDUCE_SCATTER);
	assert_int_equal(x.message_bytes, 128);
	assert_int_equal(x.wire_bytes, 64);
	assert_int_equal(x.instruction, 1);
	assert_false(x.is_async);
}

/* Programs compiled for TPUs: the same collective under every name that an event may have. */
static void real_programs(void **state)
{
	static const struct {
		const char *path, *name;
		enum op_kind kind;
		int64_t message, size;
		const char *operand;
		bool is_async;
	} cases[] = {
		{ "fsdp_scan.v5e-2x4", "async-collective-start", KIND_ALL_GATHER, 8388608, 8,
			"parameter", true },
		{ "fsdp_scan.v5e-2x4", "async-collective-done", KIND_ALL_GATHER, 8388608, 8,
			"parameter", true },
		{ "fsdp_scan.v5e-2x4", "all-gather.42", KIND_ALL_GATHER, 8388608, 8, "parameter",
			false },
		{ "fsdp_scan.v5e-2x4", "fusion.72", KIND_REDUCE_SCATTER, 8388608, 8, "gradient",
			false },
		{ "fsdp_scan.v5e-2x4", "fusion.76", KIND_UNKNOWN, 0, 0, "", false },
		{ "fsdp_one_layer.tpu7x-2x2x1", "all-gather.9.cloned.1.call-start", KIND_ALL_GATHER,
			33554432, 8, "parameter", true },
		{ "fsdp_one_layer.tpu7x-2x2x1", "all-gather.9.cloned.1.call-done", KIND_ALL_GATHER,
			33554432, 8, "parameter", true },
		{ "fsdp_one_layer.tpu7x-2x2x1", "reduce-scatter.9.cloned.1.call-update",
			KIND_REDUCE_SCATTER, 33554432, 8, "gradient", true },
		{ "moe_all_to_all.v5p-2x2x2", "all_to_all.6", KIND_ALL_TO_ALL, 8388608, 8,
			"parameter", false },
		{ "over_slices.v5e-2x4x2", "recv", KIND_ALL_REDUCE, 4194304, 2, "", true },
		{ "over_slices.v5e-2x4x2", "recv-done", KIND_ALL_REDUCE, 4194304, 2, "", true },
		{ "over_slices.v5e-2x4x2", "recv.1", KIND_PERMUTE, 131072, 2, "parameter", true },
		{ "over_slices.v5e-2x4x2", "recv.2", KIND_ALL_GATHER, 262144, 2, "parameter",
			true },
		{ "over_slices.v5e-2x4x2", "recv.3", KIND_REDUCE_SCATTER, 131072, 2, "parameter",
			true },
		{ "over_slices.v5e-2x4x2", "recv.4", KIND_ALL_TO_ALL, 262144, 2, "parameter",
			true },
		{ "over_slices.v5e-2x4x2", "send", KIND_UNKNOWN, 0, 0, "", false },
		{ "over_slices.v5e-2x4x2", "all-gather.8", KIND_ALL_GATHER, 33554432, 8,
			"parameter", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str path = arena_fmt(&keep, "tests/profiles/hlo/%s.hlo.pb", cases[i].path);
		struct hlo_module *m = pb_file(&keep, path.p, &err);
		struct hlo_collective x = { 0 };
		if (!m && err.id == DIAG_FILE_OPEN)
			skip(); /* run from the repository's root */
		if (!m)
			fail_msg("%s", err.text);
		bool found = hlo_collective(m, hlo_find(m, str_from(cases[i].name)), &keep, &x);
		assert_int_equal(found, cases[i].kind != KIND_UNKNOWN);
		if (x.kind != cases[i].kind || x.message_bytes != cases[i].message ||
			x.group_size != cases[i].size || x.is_async != cases[i].is_async)
			fail_msg("%s: %d, %lld bytes among %lld", cases[i].name, x.kind,
				(long long)x.message_bytes, (long long)x.group_size);
		if (strcmp(x.operand_kind.p ? x.operand_kind.p : "", cases[i].operand))
			fail_msg("%s: %s", cases[i].name, x.operand_kind.p);
	}
}

/* What the runtime is asked for: the attributes that both halves carry. */
static struct str between(const char *transfer, const char *target)
{
	const char *const pairs[][2] = { { "_xla_megascale_target", target },
		{ "_xla_megascale_transfer_type", transfer } };
	struct pb b = pb_new(&keep), map = pb_new(&keep);
	for (int i = 0; i < 2; i++) {
		struct pb entry = pb_new(&keep);
		pb_text(&entry, 1, pairs[i][0]);
		pb_text(&entry, 2, pairs[i][1]);
		pb_bytes(&map, 1, pb_done(&entry));
	}
	pb_bytes(&b, 68, pb_done(&map));
	pb_int(&b, 47, 1);
	return pb_done(&b);
}

#define BUFFER "(f32[4,256], u32[], token[])" /* 4096 bytes */

/* Between slices the recv is the collective, and the send beside it only sends. */
static void between_slices(void **state)
{
	static const struct {
		const char *transfer, *target;
		enum op_kind kind;
		int64_t message, wire, slices, groups;
	} cases[] = {
		{ "ALL_REDUCE", "{1,2}x{0:3}", KIND_ALL_REDUCE, 4096, 4096, 2, 4 },
		{ "ALL_REDUCE", "{1,2,3,4}x{0:7}", KIND_ALL_REDUCE, 4096, 6144, 4, 8 },
		{ "ALL_GATHER", "{1:4}x{0}", KIND_ALL_GATHER, 4096, 3072, 4, 1 },
		{ "REDUCE_SCATTER", "{1,2}x{0:3}", KIND_REDUCE_SCATTER, 8192, 4096, 2, 4 },
		{ "ALL_TO_ALL", "{1,2}x{0,2:4}", KIND_ALL_TO_ALL, 8192, 2048, 2, 4 },
		{ "ONE_TO_ONE", "{1,2}x{0:3}", KIND_PERMUTE, 4096, 4096, 2, 4 },
		{ "ALL_REDUCE", "{1,2", KIND_ALL_REDUCE, 4096, 0, 0, 0 },
		{ "ALL_REDUCE", "{4:1}x{0}", KIND_ALL_REDUCE, 4096, 0, 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str more = between(cases[i].transfer, cases[i].target);
		const struct pb_instruction body[] = {
			{ "p", "parameter", "f32[4,256]", 1, NO_ROW, NO_ROW, 0, op_name("w") },
			{ "t", "after-all", "token[]", 2, NO_ROW, NO_ROW, 0, NONE },
			{ "send", "send", BUFFER, 3, { 1, 2 }, NO_ROW, 0, more },
			{ "recv", "recv", BUFFER, 4, { 2 }, NO_ROW, 0, more },
			{ "recv-done", "recv-done", "(f32[4,256], token[])", 5, { 4 }, NO_ROW, 0,
				NONE },
			{ "send-done", "send-done", "token[]", 6, { 3 }, NO_ROW, 0, NONE },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };
		struct hlo_module *m = parse(c, NONE);
		struct hlo_collective x;
		assert_true(hlo_collective(m, hlo_find(m, STR("recv-done")), &keep, &x));
		assert_true(x.between_slices && x.is_async);
		assert_int_equal(x.kind, cases[i].kind);
		assert_int_equal(x.message_bytes, cases[i].message);
		assert_int_equal(x.wire_bytes, cases[i].wire);
		assert_int_equal(x.group_size, cases[i].slices);
		assert_int_equal(x.groups, cases[i].groups);
		assert_str(x.operand_kind, "parameter");
		assert_int_equal(hlo_kind(m, hlo_find(m, STR("recv-done"))), cases[i].kind);
		assert_int_equal(hlo_kind(m, hlo_find(m, STR("send-done"))), KIND_SEND);
		assert_false(hlo_collective(m, hlo_find(m, STR("send")), &keep, &x));
	}
}

/* Whom the runtime carries it to, in the three forms that libtpu writes. */
static void targets(void **state)
{
	static const struct {
		const char *type, *target;
		int64_t members, groups;
	} cases[] = {
		{ "ALL_REDUCE", "\"{1,2}x{0:7}\"", 2, 8 },
		{ "ALL_REDUCE", "\"{1,3:6}x{0:3,8}\"", 5, 5 },
		{ "ALL_TO_ALL", "{{100000,200000},{100001,200001}}", 2, 2 },
		{ "ONE_TO_ONE", "{{100000->200000},{200000->100000}}", 2, 0 },
		{ "ALL_REDUCE", "\"{1,2\"", 0, 0 },
		{ "ALL_REDUCE", "\"{3:1}x{0:7}\"", 0, 0 },
		{ "ALL_REDUCE", "\"{0:9223372036854775807}\"", 0, 0 },
		{ "ALL_REDUCE", "\"\"", 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep,
			"r = (f32[8], u32[], token[]) recv(token[] t), channel_id=1, "
			"is_host_transfer=true, frontend_attributes={_xla_megascale_target=%s,"
			"_xla_megascale_transfer_type=\"%s\"}",
			cases[i].target, cases[i].type);
		struct hlo_module *m = hlo_text_instruction(STR("test"), text, &keep, &err);
		struct hlo_collective x;
		if (!m)
			fail_msg("%s", err.text);
		assert_true(hlo_collective(m, m->computations[0].root, &keep, &x));
		assert_true(x.between_slices && x.is_async);
		if (x.group_size != cases[i].members || x.groups != cases[i].groups)
			fail_msg("%s: %lld in %lld", cases[i].target, (long long)x.group_size,
				(long long)x.groups);
		assert_int_equal(m->slices, cases[i].members > 1 ? cases[i].members : 1);
	}
}

/* One of another type goes between slices, too; one without is the host's. */
static void other_transfers(void **state)
{
	static const struct {
		const char *attributes;
		enum op_kind kind;
	} cases[] = {
		{ "", KIND_TRANSFER },
		{ ", frontend_attributes={_xla_megascale_transfer_type=\"NEW\"}", KIND_SEND },
		{ ", frontend_attributes={_xla_host_transfer_rendezvous=\"x\"}", KIND_TRANSFER },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep,
			"r = (f32[8], u32[], token[]) recv(token[] t), is_host_transfer=true%s",
			cases[i].attributes);
		struct hlo_module *m = hlo_text_instruction(STR("test"), text, &keep, &err);
		struct hlo_collective x;
		assert_non_null(m);
		assert_false(hlo_collective(m, m->computations[0].root, &keep, &x));
		assert_int_equal(hlo_kind(m, m->computations[0].root), cases[i].kind);
		assert_int_equal(m->slices, 1);
	}
}

static void profile_of_tpu(void **state)
{
	(void)state;
	struct hlo_module *m = pb_profile(&keep,
		PB_PROFILES "tpu-inference-2/plugins/profile/test/tpu_inference_2.xplane.pb",
		"jit__psum(9646411105960254074)", &err);
	if (!m) {
		print_message("the shared profiles are not here\n");
		skip();
	}
	struct hlo_collective x;
	assert_true(hlo_collective(m, hlo_find(m, STR("all-reduce")), &keep, &x));
	assert_int_equal(x.message_bytes, 5368709120);
	assert_int_equal(x.groups, 4); /* [4,2]<=[2,4]T(1,0) */
	assert_str(x.axis, "axis of 2, stride 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes),
		cmocka_unit_test(several_arrays),
		cmocka_unit_test(ragged),
		cmocka_unit_test(participants),
		cmocka_unit_test(nobody_knows),
		cmocka_unit_test(axes),
		cmocka_unit_test(permutes),
		cmocka_unit_test(what_is_moved),
		cmocka_unit_test(all_reduce_scatter),
		cmocka_unit_test(real_programs),
		cmocka_unit_test(between_slices),
		cmocka_unit_test(targets),
		cmocka_unit_test(other_transfers),
		cmocka_unit_test(profile_of_tpu),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
