/* hlo/print: what XLA printed comes back byte for byte, from the model and not from the text. */
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "hlo/print.h"
#include "hlo/text.h"
#include "profile/profile.h"
#include "tests/unit/keep.h"

static struct diag err;

static void assert_same(const char *what, struct str got, struct str want)
{
	ptrdiff_t at = 0;
	if (str_eq(got, want))
		return;
	while (at < got.len && at < want.len && got.p[at] == want.p[at])
		at++;
	ptrdiff_t from = at > 40 ? at - 40 : 0;
	fail_msg("%s, byte %td: ...%.*s... was ...%.*s...", what, at,
		STR_ARG(str_head(str_from_offset(got, from), 120)),
		STR_ARG(str_head(str_from_offset(want, from), 120)));
}

static struct hlo_module *parse(struct str text)
{
	struct hlo_module *m = hlo_text_parse(STR("test"), text, &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static struct hlo_module *parse_alone(struct str text)
{
	struct hlo_module *m = hlo_text_instruction(STR("test"), text, &keep, &err);
	if (!m)
		fail_msg("%.*s\n%s", STR_ARG(text), err.text);
	return m;
}

static struct str print_module(const struct hlo_module *m)
{
	struct out *o = out_memory(&keep);
	hlo_print_module(m, &keep, o);
	return out_text(o);
}

static ptrdiff_t root_of(const struct hlo_module *m)
{
	return m->computations[m->entry].root;
}

static struct str print_root(const struct hlo_module *m)
{
	struct out *o = out_memory(&keep);
	hlo_print_instruction(m, root_of(m), &keep, o);
	return out_text(o);
}

/* ---- modules --------------------------------------------------------------------------------- */

static void print_file(struct str path)
{
	struct arena before = keep;
	struct input in;
	if (!input_open(path, &keep, &in, &err))
		fail_msg("%s", err.text);
	assert_same(arena_z(&keep, path), print_module(parse(in.bytes)), in.bytes);
	input_close(&in);
	keep = before;
}

static const char *carried(void)
{
	const char *folder = getenv("CARRIED");
	return folder ? folder : "tests/profiles";
}

/* Whatever in the folder is the text of a module; how many. */
static ptrdiff_t print_folder(struct str folder)
{
	struct dir_entry *entries;
	ptrdiff_t count, printed = 0;
	if (!dir_list(folder, &keep, &entries, &count, &err))
		return 0;
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str name = entries[i].name;
		if (!str_ends(name, STR(".hlo.txt")) &&
			!str_ends(name, STR("after_optimizations.txt")))
			continue;
		print_file(arena_fmt(&keep, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name)));
		printed++;
	}
	return printed;
}

/* HLO_TEXTS names another folder of modules' texts. */
static void carried_modules(void **state)
{
	const char *other = getenv("HLO_TEXTS");
	(void)state;
	if (other)
		assert_true(print_folder(str_from(other)) > 0);
	ptrdiff_t printed = print_folder(arena_fmt(&keep, "%s/hlo", carried()));
	if (!printed)
		skip(); /* run from the repository's root */
	assert_true(printed >= 6);
	assert_int_equal(print_folder(arena_fmt(&keep,
				 "%s/jax-cpu-set/plugins/profile/2026_11_20_18_57_48", carried())),
		1);
}

/* Forms that no dump here has: XLA before 2024, and hand-made layouts. */
static void dialects_of_modules(void **state)
{
	static const char *const texts[] = {
		"HloModule jit_f.7, is_scheduled=true, replica_count=2, num_partitions=4, "
		"input_output_alias={ {0}: (1, {}, may-alias), {1}: (3, {}) }\n\n"
		"%add (a: f32[], b: f32[]) -> f32[] {\n"
		"  %a = f32[] parameter(0)\n"
		"  %b = f32[] parameter(1)\n"
		"  ROOT %sum = f32[] add(f32[] %a, f32[] %b)\n"
		"}\n\n"
		"ENTRY %main (p: f32[4,<=8], q: (s32[], /*x*/ f32[2])) -> f32[4] {\n"
		"  %q = (s32[], f32[2]{0}) parameter(1)\n"
		"  %p = f32[4,<=8]{1,0} parameter(0)\n"
		"  %zero = f32[] constant(-0)\n"
		"  %n = s32[] constant(-12)\n"
		"  %table = s8[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })\n"
		"  ROOT %reduce = f32[4]{0} reduce(f32[4,<=8]{1,0} %p, f32[] %zero), "
		"dimensions={1}, to_apply=%add\n"
		"}\n\n",
		/* as_text() of JAX: what the async ops call stays unsaid */
		"HloModule sugar\n\n"
		"%add (a: f32[], b: f32[]) -> f32[] {\n"
		"  %a = f32[] parameter(0)\n"
		"  %b = f32[] parameter(1)\n"
		"  ROOT %s = f32[] add(%a, %b)\n"
		"}\n\n"
		"ENTRY %main (x: f32[8]) -> f32[2] {\n"
		"  %x = f32[8]{0} parameter(0)\n"
		"  %rs = ((f32[8]{0}), f32[2]{0}) reduce-scatter-start(%x), channel_id=1, "
		"replica_groups=[1,4]<=[4], dimensions={0}, to_apply=%add\n"
		"  ROOT %rd = f32[2]{0} reduce-scatter-done(%rs)\n"
		"}\n\n",
		"HloModule short\n\n"
		"cond {\n"
		"  s = (s32[], f32[8]{0}) parameter(0)\n"
		"  i = s32[] get-tuple-element(s), index=0\n"
		"  n = s32[] constant(6)\n"
		"  ROOT lt = pred[] compare(i, n), direction=LT, type=SIGNED\n"
		"}, execution_thread=\"host\"\n\n"
		"body {\n"
		"  ROOT s.1 = (s32[], f32[8]{0}) parameter(0)\n"
		"}\n\n"
		"ENTRY main {\n"
		"  init = (s32[], f32[8]{0}) parameter(0)\n"
		"  ROOT loop = (s32[], f32[8]{0}) while(init), condition=cond, body=body\n"
		"}\n\n",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str want = str_from(texts[i]), no = STR("/*x*/ ");
		ptrdiff_t at = str_find(want, no);
		struct str got = print_module(parse(want));
		if (at >= 0) /* a comment of another's hand is not kept */
			want = arena_fmt(&keep, "%.*s%.*s", (int)at, want.p,
				STR_ARG(str_from_offset(want, at + no.len)));
		assert_same("module", got, want);
	}
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void instructions(void **state)
{
	static const char *const texts[] = {
		"%dot.1 = f32[8,64,32]{2,1,0} dot(f32[8,64,16]{2,1,0} %a, f32[8,16,32]{2,1,0} "
		"%b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
		"rhs_contracting_dims={1}, algorithm=dot_bf16_bf16_f32_x3, "
		"operand_precision={high,highest}, metadata={op_type=\"dot\" "
		"op_name=\"jit(f)/\\\"dot\\\"\\\\\" source_file=\"a\\'b.py\" source_line=7 "
		"source_end_line=7 stack_frame_id=3}",
		"c = f32[8,14,14,32]{3,2,1,0} convolution(a, b), window={size=3x5 stride=1x2 "
		"pad=1_1x2_-2 lhs_dilate=1x3 rhs_dilate=2x1 rhs_reversal=1x0}, "
		"dim_labels=b01f_01io->bf01, feature_group_count=2, batch_group_count=4",
		"%ar = (f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, "
		"/*index=5*/f32[4]{0}) all-reduce(f32[4]{0} %a, f32[4]{0} %b, f32[4]{0} %c, "
		"f32[4]{0} %d, f32[4]{0} %e, "
		"/*index=5*/f32[4]{0} %f), channel_id=7, replica_groups={{0,2},{1,3}}, "
		"use_global_device_ids=true, to_apply=%add",
		"%ag = f32[8]{0} all-gather(f32[4]{0} %a), replica_groups=[4,2]<=[2,4]T(1,0), "
		"dimensions={0}, use_global_device_ids=false",
		"ag = f32[8]{0} all-gather(a), replica_groups=mesh['a'=2,'b'=4], "
		"device_ids=([2,4]T(1,0)) {'b'}, dimensions={0}",
		"%p = f32[4]{0} collective-permute(f32[4]{0} %a), "
		"source_target_pairs={{0,1},{1,0}}",
		"%cc = (bf16[2]{0}, u8[16]{0}) custom-call(bf16[2]{0} %a), "
		"custom_call_target=\"te_gemm_v2_ffi\", api_version=API_VERSION_TYPED_FFI, "
		"backend_config={attn_heads = 16 : i64, name = \"a, b}\"}",
		"%cc = f32[] custom-call(), custom_call_target=\"x\", "
		"backend_config=\"\\010\\001 bytes\\377\"",
		"%b = f32[] conditional(s32[] %i, f32[] %x, f32[] %y), "
		"branch_computations={%one, %two}",
		"%w = (s32[]) while((s32[]) %x), condition=%c, body=%b, "
		"backend_config={\"known_trip_count\":{\"n\":\"6\"}}",
		"%r = u32[2]{0} rng-bit-generator(u64[2]{0} %k), algorithm=rng_default",
		"%d = s4[8,128]{1,0:T(8,128)L(16)E(4)S(1)M(64)} copy(s4[8,128]{1,0} %a)",
		"%d = f32[8,?,<=4]{2,1,0:D(C+,S~)T(*,128)(2,1)#(u32)*(u16)S(5)SC(0:4,8)"
		"P(f32[8]{0})} copy(token[] %a)",
		"rd = bf16[4,6]{1,0} ragged-dot(a, b, g), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
		"recv = (f32[2]{0}, u32[], token[]) recv(t), channel_id=5, is_host_transfer=true, "
		"frontend_attributes={_xla_host_transfer_rendezvous=\"a,b\"}",
		"f32[8]{0} add(f32[8]{0} %x, f32[8]{0} %y)",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_same("instruction", print_root(parse_alone(str_from(texts[i]))),
			str_from(texts[i]));
}

/* Blanks, comments and escapes of other hands come out in XLA's form. */
static void normalised(void **state)
{
	(void)state;
	assert_same("instruction",
		print_root(parse_alone(STR("  a=f32[8] add( f32[8]  x ,/* b */f32[8] y ) , "
					   "metadata={op_name=\"it's\",op_type=\"\"}"))),
		STR("a = f32[8] add(f32[8] x, f32[8] y), metadata={op_name=\"it\\'s\" "
		    "op_type=\"\"}"));
}

/* ---- from the model -------------------------------------------------------------------------- */

static struct hlo_instruction *change(struct hlo_module *m)
{
	return &m->instructions[root_of(m)];
}

#define DOT                                                                                        \
	"%d = f32[8,8]{1,0:S(1)} dot(f32[8,8]{1,0} %a, f32[8,8]{1,0} %b), "                        \
	"lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name=\"f\" "             \
	"source_line=3}, backend_config={\"a\":1}"

/* A printer that copied the text would not notice what changes here. */
static void what_the_model_holds(void **state)
{
	(void)state;
	struct hlo_module *m = parse_alone(STR(DOT));
	struct hlo_instruction *i = change(m);
	i->name = STR("product");
	i->opcode = STR("ragged-dot");
	i->shape.dims[0] = 16;
	i->shape.memory_space = 5;
	i->dot->lhs_contracting.items[0] = 0;
	i->op_name = STR("g");
	i->source.line = 4;
	i->backend_config = STR("{}");
	m->instructions[i->operands[0]].name = STR("z");
	m->instructions[i->operands[1]].shape.dtype = DTYPE_BF16;
	assert_same("changed", print_root(m),
		STR("%product = f32[16,8]{1,0:S(5)} ragged-dot(f32[8,8]{1,0} %z, "
		    "bf16[8,8]{1,0} %b), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
		    "metadata={op_name=\"g\" source_line=4}, backend_config={}"));
}

static void what_else_the_model_holds(void **state)
{
	(void)state;
	struct hlo_module *m = parse_alone(
		STR("c = f32[8] all-reduce(f32[8] a), channel_id=3, replica_groups={{0,1},{2,3}}, "
		    "use_global_device_ids=true, dimensions={0}, window={size=2 pad=0_0}, "
		    "dim_labels=bf_io->bf, kind=kLoop"));
	struct hlo_instruction *i = change(m);
	i->channel_id = 4;
	i->groups.first.items[1] = 9;
	i->use_global_device_ids = false;
	i->dimensions.items[0] = 1;
	i->window[0].size = 3;
	i->window[0].padding_high = -1;
	i->convolution->input_batch = 1;
	i->convolution->input_feature = 0;
	i->fusion_kind = STR("kInput");
	assert_same("changed", print_root(m),
		STR("c = f32[8] all-reduce(f32[8] a), channel_id=4, replica_groups={{0,9},{2,3}}, "
		    "use_global_device_ids=false, dimensions={1}, window={size=3 pad=0_-1}, "
		    "dim_labels=fb_io->bf, kind=kInput"));
}

static void tables_of_the_model(void **state)
{
	(void)state;
	struct hlo_module *m = parse(
		STR("HloModule m, num_partitions=8\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n"
		    "1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=2 "
		    "column=3}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=0}\n\n\n"
		    "ENTRY e (p: f32[]) -> f32[] {\n  ROOT p = f32[] parameter(0), "
		    "metadata={stack_frame_id=1}\n}\n\n"));
	m->partition_count = 4;
	m->instructions[0].parameter_number = 0;
	m->computations[0].name = STR("main");
	assert_same("changed", print_module(m),
		STR("HloModule m, num_partitions=4\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n"
		    "1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=2 "
		    "column=3}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=0}\n\n\n"
		    "ENTRY main (p: f32[]) -> f32[] {\n  ROOT p = f32[] parameter(0), "
		    "metadata={stack_frame_id=1}\n}\n\n"));
}

/* ---- what real TPUs ran ---------------------------------------------------------------------- */

#define SHARED "../shared/profiles/"

static void print_ops(const struct str *texts, ptrdiff_t count)
{
	for (ptrdiff_t k = 0; k < count; k++) {
		struct arena before = keep;
		assert_same("op", print_root(parse_alone(texts[k])), texts[k]);
		keep = before;
	}
}

/* A trace has the texts of what ran; of an xplane the planes have them. */
static ptrdiff_t print_program(const struct profile *p, const struct hlo_entry *program)
{
	struct str *texts = program->ops;
	ptrdiff_t count = program->op_count;
	if (!count)
		count = profile_op_texts(p, program->program, &keep, &texts);
	print_ops(texts, count);
	return count;
}

typedef bool open_fn(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err);

static void print_profile(const char *path, open_fn *open, ptrdiff_t least)
{
	struct input in;
	struct profile profile;
	ptrdiff_t printed = 0;
	if (!input_open(str_from(path), &keep, &in, &err)) {
		print_message("the shared profiles are not here\n");
		skip();
	}
	if (!open(&in, STR("host"), &keep, &profile, &err))
		fail_msg("%s", err.text);
	for (ptrdiff_t i = 0; i < profile.hlo_count; i++)
		printed += print_program(&profile, &profile.hlo[i]);
	input_close(&in);
	if (printed < least)
		fail_msg("%s: only %td ops", path, printed);
}

static void real_ops(void **state)
{
	(void)state;
	print_profile(SHARED "tpu-inference-2/plugins/profile/test/tpu_inference_2.xplane.pb",
		xplane_open, 17);
	print_profile(SHARED "tpu-vllm-qwen-trace/plugins/profile/2026_01_11_21_26_41/"
			     "t1v-n-9eb622fc-w-0.trace.json.gz",
		trace_open, 3000);
	print_profile(SHARED "tpu-vllm-qwen-trace/plugins/profile/2026_01_12_01_08_50/"
			     "t1v-n-9eb622fc-w-0.trace.json.gz",
		trace_open, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carried_modules),
		cmocka_unit_test(dialects_of_modules),
		cmocka_unit_test(instructions),
		cmocka_unit_test(normalised),
		cmocka_unit_test(what_the_model_holds),
		cmocka_unit_test(what_else_the_model_holds),
		cmocka_unit_test(tables_of_the_model),
		cmocka_unit_test(real_ops),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
