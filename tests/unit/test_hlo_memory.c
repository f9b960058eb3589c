/* hlo/memory: replaying traces, what is alive at the peak, and the figures of real programs. */
#include <string.h>

#include "hlo/memory.h"
#include "hlo/text.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

/* An allocation of buffers `first` to `last`, with flags of BufferAllocationProto by number. */
enum flag { TEMP = 0, THREAD_LOCAL = 3, PARAMETER = 5, LIVE_OUT = 7, CONSTANT = 12 };

struct allocation {
	int64_t size, color, first, last;
	enum flag flags[2];
};

struct event {
	int64_t kind, buffer, with; /* 0 ALLOC, 1 FREE, 2 SHARE_WITH */
};

#define END                                                                                        \
	{                                                                                          \
		-1, 0, 0                                                                           \
	}

struct program {
	const int64_t *sizes; /* of buffers 1, 2 ... up to 0, all made by instruction `x` */
	int64_t color;
	const struct allocation *allocations; /* up to size 0 */
	const struct event *traces[2];	      /* each up to END */
};

static struct str location(void)
{
	struct pb b = pb_new(&keep);
	pb_packed(&b, 3, PB_LIST(1));
	pb_int(&b, 4, 7);
	return pb_done(&b);
}

static void write_buffers(struct pb *b, const struct program *p)
{
	for (int64_t i = 0; p->sizes[i]; i++) {
		struct pb x = pb_new(&keep);
		pb_int(&x, 1, i + 1);
		pb_int(&x, 2, p->sizes[i]);
		pb_bytes(&x, 3, location());
		pb_int(&x, 4, p->color);
		pb_bytes(b, 1, pb_done(&x));
	}
}

static void write_allocation(struct pb *b, const struct allocation *a)
{
	struct pb x = pb_new(&keep);
	pb_int(&x, 2, a->size);
	pb_int(&x, 8, a->color);
	for (int k = 0; k < 2; k++)
		if (a->flags[k])
			pb_int(&x, a->flags[k], 1);
	for (int64_t id = a->first; id && id <= a->last; id++) {
		struct pb assigned = pb_new(&keep);
		pb_int(&assigned, 1, id);
		pb_bytes(&x, 9, pb_done(&assigned));
	}
	pb_bytes(b, 3, pb_done(&x));
}

static void write_trace(struct pb *b, const struct event *e)
{
	struct pb x = pb_new(&keep);
	for (; e->kind >= 0; e++) {
		struct pb inner = pb_new(&keep);
		pb_int(&inner, 1, e->kind);
		pb_int(&inner, 2, e->buffer);
		pb_int(&inner, 5, e->with);
		pb_bytes(&x, 1, pb_done(&inner));
	}
	pb_int(&x, 3, 18); /* an allocation that its buffers are not in */
	pb_bytes(b, 4, pb_done(&x));
}

static struct hlo_module *module_with(struct str assignment)
{
	static const struct pb_instruction body[] = {
		{ "x", "custom-call", "(f32[1], bf16[3,5]{1,0:T(8,128)(2,1)})", 7, { 0 }, { 0 }, 0,
			{ 0 } },
		{ 0 },
	};
	static const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	struct pb b = pb_new(&keep);
	pb_bytes(&b, 1, pb_write_module(&keep, c, STR("")));
	pb_bytes(&b, 3, assignment);
	struct hlo_module *m = hlo_module_parse(pb_done(&b), pb_done(&b), &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static struct hlo_module *module_of(const struct program *p)
{
	struct pb b = pb_new(&keep);
	write_buffers(&b, p);
	for (const struct allocation *a = p->allocations; a->size; a++)
		write_allocation(&b, a);
	for (int k = 0; k < 2 && p->traces[k]; k++)
		write_trace(&b, p->traces[k]);
	return module_with(pb_done(&b));
}

static struct hlo_memory memory_of(const struct program *p, int64_t space)
{
	struct hlo_memory ret;
	if (!hlo_memory(module_of(p), space, &keep, &ret, &err))
		fail_msg("%s", err.text);
	return ret;
}

/* Buffers 1: parameter, 2: output, 3 and 4 and 5: temporaries. */
static const int64_t five[] = { 100, 200, 30, 50, 70, 0 };
static const struct allocation usual[] = {
	{ 128, 0, 1, 1, { PARAMETER } },
	{ 256, 0, 2, 2, { LIVE_OUT } },
	{ 160, 0, 3, 5, { TEMP } },
	{ 64, 0, 0, 0, { CONSTANT } }, /* of no buffer: not counted */
	{ 0 },
};

/* A reference to nothing: what the allocation holds cannot be told. */
static void unknown_buffer(void **state)
{
	static const struct allocation unknown[] = { { 64, 0, 9, 9, { CONSTANT } }, { 0 } };
	static const struct program p = { five, 0, unknown, { 0 } };
	(void)state;
	struct hlo_memory m;
	assert_false(hlo_memory(module_of(&p), 0, &keep, &m, &err));
	assert_non_null(strstr(err.text, "no buffer has that id"));
}

static void trace(void **state)
{
	static const struct event events[] = { { 0, 3, 0 }, { 0, 4, 0 }, { 1, 3, 0 }, { 0, 5, 0 },
		{ 1, 4, 0 }, { 1, 5, 0 }, END };
	static const struct program p = { five, 0, usual, { events } };
	(void)state;
	struct hlo_memory m = memory_of(&p, 0);
	assert_true(m.from_trace);
	assert_int_equal(m.temp_bytes, 160);
	assert_int_equal(m.allocated_bytes, 128 + 256 + 160);
	assert_int_equal(m.peak_bytes, 128 + 256 + 50 + 70);
	assert_int_equal(m.arguments_bytes, 128);
	assert_int_equal(m.output_bytes, 256);
	assert_int_equal(m.alias_bytes, 0);
	assert_int_equal(m.live_count, 5);
	static const int64_t sizes[] = { 256, 128, 70, 50 };
	static const char *const kinds[] = { "output", "parameter", "temp", "temp" };
	for (int k = 0; k < 4; k++) {
		assert_int_equal(m.live[k].bytes, sizes[k]);
		assert_str(m.live[k].kind, kinds[k]);
		assert_str(m.live[k].name, "x");
		assert_int_equal(m.live[k].unpadded_bytes, 30);
		assert_int_equal(m.live[k].shape.dtype, DTYPE_BF16);
	}
	assert_int_equal(m.live[4].bytes, 160 - 50 - 70); /* nobody's at the peak */
	assert_str(m.live[4].kind, "hole");
	assert_int_equal(m.live[4].unpadded_bytes, 40); /* no padding */
	assert_int_equal(memory_of(&p, 1).allocated_bytes, 0);
}

/* The same program over its schedule: six events above 384 bytes that are always there. */
static void points(void **state)
{
	static const struct event events[] = { { 0, 3, 0 }, { 0, 4, 0 }, { 1, 3, 0 }, { 0, 5, 0 },
		{ 1, 4, 0 }, { 1, 5, 0 }, END };
	static const struct program p = { five, 0, usual, { events } },
				    q = { five, 0, usual, { 0 } };
	static const int64_t each[] = { 30, 80, 50, 120, 70, 0 };
	struct hlo_memory_point got[8];
	int64_t count = 0;
	(void)state;
	assert_int_equal(hlo_memory_points(module_of(&p), &keep, got, 8, &count), 6);
	assert_int_equal(count, 6);
	for (int k = 0; k < 6; k++) {
		assert_int_equal(got[k].most, 384 + each[k]);
		assert_int_equal(got[k].least, 384 + each[k]);
	}
	assert_int_equal(hlo_memory_points(module_of(&p), &keep, got, 2, &count), 2);
	assert_int_equal(got[0].most, 384 + 80);
	assert_int_equal(got[0].least, 384 + 30);
	assert_int_equal(got[1].most, 384 + 120);
	assert_int_equal(got[1].least, 384);
	assert_int_equal(hlo_memory_points(module_of(&q), &keep, got, 8, &count), 0);
}

/* SHARE_WITH keeps a buffer alive; shared again after its end, it takes memory again. */
static void sharing(void **state)
{
	static const struct event kept[] = { { 0, 3, 0 }, { 2, 4, 3 }, { 1, 3, 0 }, { 0, 5, 0 },
		{ 1, 4, 0 }, { 1, 5, 0 }, END };
	static const struct event again[] = { { 0, 3, 0 }, { 1, 3, 0 }, { 0, 5, 0 }, { 2, 4, 3 },
		{ 1, 4, 0 }, { 1, 4, 0 }, { 1, 5, 0 }, END };
	static const struct event odd[] = { { 1, 3, 0 }, { 2, 4, 77 }, { 1, 77, 0 }, { 0, 77, 0 },
		{ 9, 5, 0 }, { 0, 5, 0 }, END };
	const struct program p = { five, 0, usual, { kept } }, q = { five, 0, usual, { again } },
			     r = { five, 0, usual, { odd } };
	(void)state;
	assert_int_equal(memory_of(&p, 0).peak_bytes, 384 + 30 + 70);
	assert_int_equal(memory_of(&q, 0).peak_bytes, 384 + 30 + 70);
	assert_int_equal(memory_of(&r, 0).peak_bytes, 384 + 50 + 70);
}

static void donated_counts_once(void **state)
{
	static const struct allocation a[] = { { 128, 0, 1, 2, { PARAMETER, LIVE_OUT } },
		{ 64, 0, 3, 3, { THREAD_LOCAL } }, { 0 } };
	static const struct program p = { five, 0, a, { NULL } };
	(void)state;
	struct hlo_memory m = memory_of(&p, 0);
	assert_int_equal(m.allocated_bytes, 128);
	assert_int_equal(m.arguments_bytes, 128);
	assert_int_equal(m.output_bytes, 128);
	assert_int_equal(m.alias_bytes, 128);
	assert_int_equal(m.live_count, 1);
	assert_str(m.live[0].kind, "parameter");
}

static void without_trace(void **state)
{
	static const struct program p = { five, 0, usual, { NULL } };
	(void)state;
	struct hlo_memory m = memory_of(&p, 0);
	assert_false(m.from_trace);
	assert_int_equal(m.temp_bytes, 160);
	assert_int_equal(m.peak_bytes, 128 + 256 + 160);
	assert_int_equal(m.allocated_bytes, 128 + 256 + 160);
	assert_int_equal(m.live_count, 3);
	assert_int_equal(m.live[1].bytes, 160);
}

/* Of several traces, the one whose buffers lie in this space's temporary allocation. */
static void choice_of_trace(void **state)
{
	static const struct allocation a[] = {
		{ 256, 5, 2, 2, { LIVE_OUT } },
		{ 160, 0, 3, 3, { TEMP } },
		{ 320, 5, 4, 5, { TEMP } },
		{ 0 },
	};
	static const struct event there[] = { { 0, 3, 0 }, END }, here[] = { { 0, 4, 0 }, END };
	static const struct program p = { five, 5, a, { there, here } };
	(void)state;
	assert_int_equal(memory_of(&p, 5).temp_bytes, 320);
	assert_int_equal(memory_of(&p, 5).peak_bytes, 256 + 50);
	assert_int_equal(memory_of(&p, 0).allocated_bytes, 160);
	assert_int_equal(memory_of(&p, 0).peak_bytes, 30);
}

static void absent_and_broken(void **state)
{
	struct hlo_memory m;
	(void)state;
	assert_false(hlo_memory(module_with(STR("")), 0, &keep, &m, &err));
	assert_int_equal(err.id, DIAG_NONE);
	assert_false(hlo_memory(module_with(STR("\x0a\x7f")), 0, &keep, &m, &err));
	assert_int_equal(err.id, DIAG_WIRE);
	/* Sizes below zero and above any machine. */
	assert_false(hlo_memory(module_with(STR("\x0a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff"
						"\x01")),
		0, &keep, &m, &err));
	assert_non_null(strstr(err.text, "no memory has that size"));
	assert_false(
		hlo_memory(module_with(STR("\x1a\x0a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f")), 0,
			&keep, &m, &err));
	/* A trace that ends in the middle of an event. */
	assert_false(hlo_memory(module_with(STR("\x22\x02\x0a\x7f")), 0, &keep, &m, &err));
	assert_int_equal(err.id, DIAG_WIRE);
}

static void many_buffers(void **state)
{
	enum { MANY = HLO_MAX_LIVE + 100 };
	static int64_t sizes[MANY + 1];
	static struct event events[MANY + 1];
	(void)state;
	for (int k = 0; k < MANY; k++) {
		sizes[k] = k + 1;
		events[k] = (struct event){ 0, k + 1, 0 };
	}
	events[MANY] = (struct event)END;
	static const struct allocation a[] = { { MANY * (MANY + 1) / 2, 0, 1, MANY, { TEMP } },
		{ 0 } };
	const struct program p = { sizes, 0, a, { events } };
	struct hlo_memory m = memory_of(&p, 0);
	assert_int_equal(m.live_count, HLO_MAX_LIVE);
	assert_int_equal(m.live[0].bytes, MANY);
}

/* XLA's own memory_analysis; its peak is HBM alone where nothing lies on chip at that moment. */
static void xla_agrees(void **state)
{
	static const struct {
		const char *path;
		int64_t arguments, output, alias, peak;
	} files[] = {
		{ "fsdp_one_layer.tpu7x-2x2x1", 12582912, 8389152, 8388608, 88081440 },
		{ "fsdp_scan.v5e-2x4", 9437184, 8389632, 8388608, 0 },
		{ "matmul_bf16.v5e-2x4", 20971520, 8388608, 0, 29360640 },
		{ "matmul_f32_highest.v6e-2x4", 41943040, 16777216, 0, 58720288 },
		{ "moe_all_to_all.v5p-2x2x2", 5242880, 1048576, 0, 11534336 },
		{ "scan_layers.v6e-2x4", 0, 0, 0, 33557504 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct str path = arena_fmt(&keep, "tests/profiles/hlo/%s.hlo.pb", files[i].path);
		struct hlo_module *m = pb_file(&keep, path.p, &err);
		struct hlo_memory x;
		if (!m && err.id == DIAG_FILE_OPEN)
			skip(); /* run from the repository's root */
		if (!m || !hlo_memory(m, 0, &keep, &x, &err))
			fail_msg("%s", err.text);
		if (files[i].arguments) {
			assert_int_equal(x.arguments_bytes, files[i].arguments);
			assert_int_equal(x.output_bytes, files[i].output);
			assert_int_equal(x.alias_bytes, files[i].alias);
		}
		if (files[i].peak)
			assert_int_equal(x.peak_bytes, files[i].peak);
		assert_true(x.allocated_bytes >= x.peak_bytes);
		int64_t sum = 0;
		for (ptrdiff_t k = 0; k < x.live_count; k++)
			sum += x.live[k].bytes;
		assert_int_equal(sum, x.allocated_bytes);
	}
}

static const struct {
	const char *path, *name;
	int64_t space, peak, arguments, output, temp;
} profiles[] = {
	{ "mi300-conv-08/plugins/profile/test/tw003.xplane.pb", "jit_forward_3d_conv(15)", 0,
		1158144000, 6389760 + 655360, 572026880, 579072256 },
	{ "amd-te-fused-attn/plugins/profile/test/934987a2fc2f.xplane.pb", "jit_loss_fn(17)", 0,
		520618120, 100663320, 100663332, 319293224 },
	{ "tpu-inference-2/plugins/profile/test/tpu_inference_2.xplane.pb",
		"jit_f(12190760917235803885)", 0, 21474836512, 0, 32, 21474934784 },
	{ "tpu-inference-2/plugins/profile/test/tpu_inference_2.xplane.pb",
		"jit_f(12190760917235803885)", 5, 16106127360, 16106127360, 16106127360, 0 },
};

static void profiles_of_old(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		struct str path = arena_fmt(&keep, PB_PROFILES "%s", profiles[i].path);
		struct hlo_module *m = pb_profile(&keep, path.p, profiles[i].name, &err);
		struct hlo_memory x;
		if (!m) {
			print_message("the shared profiles are not here\n");
			skip();
		}
		if (!hlo_memory(m, profiles[i].space, &keep, &x, &err))
			fail_msg("%s", err.text);
		assert_int_equal(x.peak_bytes, profiles[i].peak);
		assert_int_equal(x.arguments_bytes, profiles[i].arguments);
		assert_int_equal(x.output_bytes, profiles[i].output);
		assert_int_equal(x.temp_bytes, profiles[i].temp);
	}
}

/* A training step hands back its weights; one that makes gradients, or sums them up, does not. */
static void whose_weights_are_updated(void **state)
{
	static const struct {
		const char *outputs;
		bool updates;
	} cases[] = {
		{ "new = f32[8,8]{1,0} subtract(w, g)\n"
		  "  ROOT t = (f32[8,8]{1,0}, f32[4,8]{1,0}) tuple(new, y)",
			true },
		{ "new = f32[8,8]{1,0} subtract(w, g)\n"
		  "  mean = f32[8,8]{1,0} add(sum, g)\n"
		  "  kept = f32[8,8]{0,1} copy(new)\n"
		  "  ROOT t = (f32[8,8]{0,1}, f32[8,8]{1,0}) tuple(kept, mean)",
			true },
		{ "ROOT t = (f32[8,8]{1,0}, f32[4,8]{1,0}) tuple(g, y)", false },
		{ "mean = f32[8,8]{1,0} add(sum, g)\n"
		  "  ROOT t = (f32[8,8]{1,0}) tuple(mean)",
			false },
		{ "ROOT g2 = f32[8,8]{1,0} negate(g)", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep,
			"HloModule jit_f\n\nENTRY main {\n  w = f32[8,8]{1,0} parameter(0)\n"
			"  sum = f32[8,8]{1,0} parameter(1)\n  x = f32[4,8]{1,0} parameter(2)\n"
			"  y = f32[4,8]{1,0} dot(x, w), lhs_contracting_dims={1}, "
			"rhs_contracting_dims={0}\n"
			"  g = f32[8,8]{1,0} dot(x, y), lhs_contracting_dims={0}, "
			"rhs_contracting_dims={0}\n  %s\n}\n",
			cases[i].outputs);
		struct hlo_module *m = hlo_text_parse(STR("t"), text, &keep, &err);
		if (!m)
			fail_msg("%s", err.text);
		assert_int_equal(hlo_updates_weights(m), cases[i].updates);
	}
}

/* Two states in, two out, of 64 and 16 bytes; the batch is as large as a state. */
static void what_was_not_donated(void **state)
{
	static const struct {
		const char *aliases;
		int64_t bytes;
	} cases[] = {
		{ "", 80 },
		{ ", input_output_alias={ {0}: (0, {}, may-alias) }", 16 },
		{ ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }", 0 },
		/* The batch took the state's place: there is nothing left to give. */
		{ ", input_output_alias={ {0}: (2, {}, may-alias), {1}: (1, {}, may-alias) }", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep,
			"HloModule jit_f%s\n\nENTRY main {\n  p0 = f32[16]{0} parameter(0)\n"
			"  p1 = f32[4]{0} parameter(1)\n  p2 = f32[16]{0} parameter(2)\n"
			"  a = f32[16]{0} add(p0, p2)\n  b = f32[4]{0} negate(p1)\n"
			"  ROOT t = (f32[16]{0}, f32[4]{0}) tuple(a, b)\n}\n",
			cases[i].aliases);
		struct hlo_module *m = hlo_text_parse(STR("t"), text, &keep, &err);
		if (!m)
			fail_msg("%s", err.text);
		assert_int_equal(hlo_undonated_bytes(m, keep), cases[i].bytes);
	}
}

/* Arrays of the weights' shape: gradients, whose taker still needs the weights, and new weights. */
static void gradients_take_no_parameter(void **state)
{
	static const struct {
		const char *outputs;
		int64_t bytes;
	} cases[] = {
		{ "ROOT t = (f32[8,8]{1,0}) tuple(g)", 0 },
		{ "ROOT g2 = f32[8,8]{1,0} negate(g), metadata={op_name=\"transpose(jvp())/neg\"}",
			0 },
		{ "ROOT g2 = f32[8,8]{1,0} negate(g), metadata={op_name=\"jit(f)/neg\"}", 256 },
		/* A compiler names the whole after the product that it begins with. */
		{ "n = f32[8,8]{1,0} add(w, g), metadata={op_name=\"transpose(jvp())/dot\"}\n"
		  "  ROOT t = (f32[8,8]{1,0}) tuple(n)",
			256 },
		{ "n = f32[8,8]{1,0} add(master, g), metadata={op_name=\"transpose(jvp())/dot\"}\n"
		  "  ROOT t = (f32[8,8]{1,0}) tuple(n)",
			256 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep,
			"HloModule jit_f\n\nENTRY main {\n  w = f32[8,8]{1,0} parameter(0)\n"
			"  master = f64[8,8]{1,0} parameter(1)\n  x = f32[4,8]{1,0} parameter(2)\n"
			"  g = f32[8,8]{1,0} dot(x, x), lhs_contracting_dims={0}, "
			"rhs_contracting_dims={0}, "
			"metadata={op_name=\"jit(f)/transpose(jvp())/dot_general\"}\n  %s\n}\n",
			cases[i].outputs);
		struct hlo_module *m = hlo_text_parse(STR("t"), text, &keep, &err);
		if (!m)
			fail_msg("%s", err.text);
		assert_int_equal(hlo_undonated_bytes(m, keep), cases[i].bytes);
	}
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char small_program[] = "HloModule f\n"
				    "ENTRY e {\n"
				    "  p = f32[8,100]{1,0:T(8,128)} parameter(0)\n"
				    "  a = f32[8,100]{1,0} negate(p)\n"
				    "  ROOT t = (f32[8,100]{1,0}, f32[8,100]{1,0}) tuple(a, a)\n"
				    "}\n";

static const char small_assignment[] =
	"BufferAssignment:\n"
	"allocation 0: size 4096, parameter 0, shape |(f32[8,100], s32[])| at ShapeIndex {0,1}:\n"
	" value: <1 p @0> (size=4096,offset=0): f32[8,100]{1,0:T(8,128)}\n"
	"allocation 1: size 16, output shape is |(f32[8,100], f32[8,100])|, maybe-live-out:\n"
	" value: <3 t{} @0> (size=16,offset=0): (f32[8,100]{1,0}, f32[8,100]{1,0})\n"
	"allocation 2: size 8, color 1, preallocated-temp:\n"
	" value: <9 a @1> (size=8,offset=0): f32[2]{0}\n"
	"allocation 3: 0x7f00, size 640, thread-local:\n"
	"allocation 4: size 3200, preallocated-temp:\n"
	" value: <2 a @0> (size=3200,offset=0): f32[8,100]{1,0}\n"
	"allocation 5: size 4, constant:\n"
	" value: <4 c @0> (size=4,offset=0): f32[]\n"
	"\n"
	"Total bytes used: 7968 (7.8KiB)\n";

static struct hlo_module *small_module(void)
{
	struct hlo_module *m = hlo_text_parse(STR("f.txt"), str_from(small_program), &keep, &err);

	assert_non_null(m);
	return m;
}

static void test_assignment_text(void **state)
{
	(void)state;
	struct hlo_module *m = small_module();
	struct hlo_memory x;

	m->buffers_note =
		(struct hlo_note){ STR("f-buffer-assignment.txt"), str_from(small_assignment) };
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	assert_int_equal(x.peak_bytes, 4096 + 16 + 3200 + 4);
	assert_int_equal(x.arguments_bytes, 4096);
	assert_int_equal(x.output_bytes, 16);
	assert_int_equal(x.temp_bytes, 3200);
	assert_false(x.from_trace || x.total_only);
	assert_int_equal(x.live_count, 4);
	assert_str(x.live[0].name, "p");
	assert_int_equal(x.live[0].unpadded_bytes, 3200);
	assert_str(x.live[1].name, "(temporaries)");
	assert_int_equal(x.live[1].unpadded_bytes, 0);
	assert_true(hlo_memory(m, 1, &keep, &x, &err));
	assert_int_equal(x.peak_bytes, 8);
}

static void test_report_text(void **state)
{
	(void)state;
	struct hlo_module *m = small_module();
	struct hlo_memory x;

	m->memory_note = (struct hlo_note){ STR("f-memory-usage-report.txt"),
		STR("Memory Space: alternate (color=1)\nTotal bytes: 7 (7B)\n  cumulative_size\n\n"
		    "Memory Space: default (color=0)\nTotal bytes: 3620 (3.5KiB)\n") };
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	assert_true(x.total_only);
	assert_int_equal(x.peak_bytes, 3620);
	assert_true(hlo_memory(m, 1, &keep, &x, &err));
	assert_int_equal(x.peak_bytes, 7);
	assert_false(hlo_memory(m, 2, &keep, &x, &err));
	assert_int_equal(err.id, DIAG_NONE);
	m->memory_note.text = STR("Total bytes used: 99 (99B)\n\nAllocations sorted by size:\n");
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	assert_int_equal(x.peak_bytes, 99);
	/* What comes first counts more: the assignment knows the parts. */
	m->buffers_note = (struct hlo_note){ STR("b"), str_from(small_assignment) };
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	assert_false(x.total_only);
}

/* The text has no end mark: cut at the end of a line it reads well, and comes to less. */
static void test_cut_text(void **state)
{
	(void)state;
	struct hlo_module *m = small_module();
	struct hlo_memory x;
	struct str whole = str_from(small_assignment);

	m->memory_note = (struct hlo_note){ STR("f-memory-usage-report.txt"),
		STR("Memory Space: default (color=0)\nTotal bytes: 7956 (7.8KiB)\n") };
	m->buffers_note = (struct hlo_note){ STR("f.txt"), whole };
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	m->buffers_note.text = str_head(whole, str_find(whole, STR("allocation 4")));
	assert_false(hlo_memory(m, 0, &keep, &x, &err));
	assert_int_equal(err.id, DIAG_HLO);
	/* Without a report the program's own ops tell. */
	m->memory_note.text = STR("");
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		if (str_eq(m->instructions[i].name, STR("p")))
			m->instructions[i].op = HLO_FUSION;
	assert_true(hlo_memory(m, 0, &keep, &x, &err));
	m->buffers_note.text = str_head(whole, str_find(whole, STR(" value: <1 p")));
	assert_false(hlo_memory(m, 0, &keep, &x, &err));
	assert_int_equal(err.id, DIAG_HLO);
}

static void test_bad_texts(void **state)
{
	static const struct {
		const char *buffers, *report, *says;
	} bad[] = {
		{ "x", NULL, "f.txt:1:1: expected 'BufferAssignment:'" },
		{ "BufferAssignment:\n", NULL, "f.txt:2:1: expected at least one allocation" },
		{ "BufferAssignment:\nallocation 0: size -4:\n", NULL,
			"f.txt:2:20: no memory has that size" },
		{ "BufferAssignment:\nallocation 0: size 4:\n value: <1 p> size=4\n", NULL,
			"f.txt:3:14: expected '(size=' and bytes in this line" },
		{ "BufferAssignment:\n value: <1 p @0> (size=4,offset=0)\n", NULL,
			"f.txt:2:1: expected 'allocation' and its number, or one of its values" },
		{ NULL, "hello", "f.txt:1:1: expected 'Memory Space:' or 'Total bytes used:'" },
		{ NULL, "Memory Space: default (color=0)\nnothing\n",
			"f.txt:2:1: expected 'Total bytes:'" },
	};
	(void)state;
	struct hlo_memory x;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hlo_module *m = small_module();
		m->buffers_note = (struct hlo_note){ STR("f.txt"), str_from(bad[i].buffers) };
		m->memory_note = (struct hlo_note){ STR("f.txt"), str_from(bad[i].report) };
		assert_false(hlo_memory(m, 0, &keep, &x, &err));
		assert_int_equal(err.id, DIAG_HLO);
		assert_memory_equal(err.text, bad[i].says, strlen(bad[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_assignment_text),
		cmocka_unit_test(test_report_text),
		cmocka_unit_test(test_cut_text),
		cmocka_unit_test(test_bad_texts),
		cmocka_unit_test(unknown_buffer),
		cmocka_unit_test(trace),
		cmocka_unit_test(points),
		cmocka_unit_test(sharing),
		cmocka_unit_test(donated_counts_once),
		cmocka_unit_test(what_was_not_donated),
		cmocka_unit_test(gradients_take_no_parameter),
		cmocka_unit_test(whose_weights_are_updated),
		cmocka_unit_test(without_trace),
		cmocka_unit_test(choice_of_trace),
		cmocka_unit_test(absent_and_broken),
		cmocka_unit_test(many_buffers),
		cmocka_unit_test(xla_agrees),
		cmocka_unit_test(profiles_of_old),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
