/* hlo/cost and hlo/kind: FLOPs, bytes by memory space, library calls, sorts of work. */
#include <math.h>
#include <string.h>

#include "hlo/cost.h"
#include "hlo/work.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;

#define NONE ((struct str){ NULL, 0 })
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

static struct hlo_module *parse(const struct pb_computation *c)
{
	struct hlo_module *m = pb_parse(&keep, c, NONE, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

/* The cost of the entry's root. */
static struct hlo_cost cost_on(enum hlo_platform platform, const struct pb_computation *c)
{
	struct hlo_module *m = parse(c);
	return hlo_cost(hlo_costs_new(m, platform, &keep), m->computations[m->entry].root);
}

static struct hlo_cost cost_of(const struct pb_instruction *body)
{
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	return cost_on(HLO_TPU, c);
}

static enum op_kind kind_of(const struct pb_computation *c)
{
	struct hlo_module *m = parse(c);
	return hlo_kind(m, m->computations[m->entry].root);
}

static enum op_kind kind_alone_of(const struct pb_instruction *body)
{
	const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	return kind_of(c);
}

static void assert_number(double got, double want)
{
	if (!(got == want))
		fail_msg("%.17g is not %.17g", got, want);
}

static void assert_kind(enum op_kind got, enum op_kind want)
{
	if (got != want)
		fail_msg("%.*s is not %.*s", STR_ARG(op_kind_name(got)),
			STR_ARG(op_kind_name(want)));
}

static struct str field(int number, struct str bytes)
{
	struct pb b = pb_new(&keep);
	pb_bytes(&b, number, bytes);
	return pb_done(&b);
}

static struct str int_field(int number, int64_t value)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, number, value);
	return pb_done(&b);
}

static struct str text_field(int number, const char *text)
{
	return field(number, str_from(text));
}

static struct str join(struct str a, struct str b)
{
	struct pb both = pb_new(&keep);
	pb_raw(&both, a);
	pb_raw(&both, b);
	return pb_done(&both);
}

/* DotDimensionNumbers: contracting dimensions of both sides, and a leading batch dimension. */
static struct str dot_dims(int64_t lhs, int64_t rhs, bool batch)
{
	struct pb b = pb_new(&keep);
	pb_packed(&b, 1, &lhs, 1);
	pb_packed(&b, 2, &rhs, 1);
	if (batch) {
		pb_packed(&b, 3, PB_LIST(0));
		pb_packed(&b, 4, PB_LIST(0));
	}
	return pb_done(&b);
}

static struct str precision(int64_t operands, int64_t algorithm)
{
	struct pb b = pb_new(&keep);
	pb_packed(&b, 1, PB_LIST(operands, operands));
	pb_int(&b, 2, algorithm);
	return field(51, pb_done(&b));
}

static void dots(void **state)
{
	const struct pb_instruction body[] = {
		{ "a", "parameter", "bf16[4,16,64]{2,1,0}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "f32[4,64,32]{2,1,0}", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "d", "dot", "f32[4,16,32]{2,1,0}", 3, { 1, 2 }, { 0 }, 0,
			field(30, dot_dims(2, 1, true)) },
		NO_ROW,
	};
	(void)state;
	struct hlo_cost c = cost_of(body);
	assert_int_equal(c.flops_bound, COST_EXACT);
	assert_number(c.flops, 2.0 * 4 * 16 * 64 * 32);
	assert_number(c.matmul_flops, c.flops);
	assert_int_equal(c.dtype, DTYPE_F32); /* the wider of the two */
	assert_true(c.has_matmul && !c.has_convolution);
	assert_number(c.hbm_bytes, 4 * (16 * 64 * 2 + 64 * 32 * 4 + 16 * 32 * 4));
	assert_kind(kind_alone_of(body), KIND_MATMUL);
}

static void dots_that_do_not_fit(void **state)
{
	(void)state;
	for (int64_t dim = -1; dim < 4; dim += 4) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[16,64]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "d", "dot", "f32[16,32]", 3, { 1, 9 }, { 0 }, 0,
				field(30, dot_dims(dim, 0, false)) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		assert_int_equal(c.flops_bound, COST_UNKNOWN);
		assert_number(c.matmul_flops, 0);
	}
}

static void passes(void **state)
{
	static const struct {
		const char *shape;
		int64_t operands, algorithm;
		enum hlo_platform platform;
		int passes;
	} cases[] = {
		{ "f32[8,8]", 0, 0, HLO_TPU, 1 },
		{ "f32[8,8]", 1, 0, HLO_TPU, 3 },
		{ "f32[8,8]", 2, 0, HLO_TPU, 6 },
		{ "f32[8,8]", 2, 7, HLO_TPU, 3 },
		{ "f32[8,8]", 0, 13, HLO_TPU, 9 },
		{ "bf16[8,8]", 2, 0, HLO_TPU, 1 },
		{ "f32[8,8]", 2, 0, HLO_GPU, 6 },
		{ "f32[8,8]", 2, 0, HLO_CPU, 1 },
		{ "f32[8,8]", 0, 11, HLO_TPU, 6 },
		{ "f32[8,8]", 77, 77, HLO_TPU, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", cases[i].shape, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "d", "dot", "f32[8,8]", 2, { 1, 1 }, { 0 }, 0,
				join(field(30, dot_dims(1, 0, false)),
					precision(cases[i].operands, cases[i].algorithm)) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		assert_int_equal(cost_on(cases[i].platform, c).precision_passes, cases[i].passes);
	}
}

static double slow_positions(
	const struct hlo_window_dim *w, int64_t in, int64_t out, int64_t kernel)
{
	int64_t n = 0;
	for (int64_t k = 0; k < kernel; k++)
		for (int64_t o = 0; o < out; o++) {
			int64_t u = o * w->stride - w->padding_low + k * w->window_dilation;
			n += u >= 0 && u % w->base_dilation == 0 && u / w->base_dilation < in;
		}
	return (double)n;
}

static double positions_of(const struct hlo_window_dim *w, int64_t in, int64_t out, int64_t kernel)
{
	int64_t budget = 1 << 16;
	return valid_positions(w, in, out, kernel, &budget);
}

/* The closed form against XLA's definition, over every small window. */
static void positions(void **state)
{
	(void)state;
	struct hlo_window_dim w = { .size = 1 };
	for (int64_t n = 0; n < 4 * 4 * 4 * 9 * 5 * 5 * 5; n++) {
		int64_t x = n;
		w.stride = x % 4 + 1;
		w.window_dilation = (x /= 4) % 4 + 1;
		w.base_dilation = (x /= 4) % 4 + 1;
		w.padding_low = (x /= 4) % 9 - 4;
		int64_t in = (x /= 9) % 5, out = (x /= 5) % 5 * 2, kernel = (x /= 5) % 5;
		double got = positions_of(&w, in, out, kernel);
		if (got != slow_positions(&w, in, out, kernel))
			fail_msg("case %lld: %g", (long long)n, got);
	}
}

static void positions_of_note(void **state)
{
	struct hlo_window_dim trick = { 64, 63, 0, 1, 64 };
	struct hlo_window_dim same = { 3, 1, 1, 1, 1 };
	struct hlo_window_dim huge = { 3, 1, 0, 1, 1 };
	(void)state;
	assert_number(positions_of(&trick, 64, 64, 64), 64);
	trick = (struct hlo_window_dim){ 8, 7, 0, 1, 8 };
	assert_number(positions_of(&trick, 8, 8, 8), 8);
	assert_number(positions_of(&same, 14, 14, 3), 40);
	/* Sizes are the file's: no overflow, and no loop that never ends. */
	assert_true(isnan(positions_of(&huge, INT64_MAX, 3, 3)));
	assert_true(isnan(positions_of(&huge, 1 << 20, 1 << 20, 1 << 20)));
	huge.stride = 0;
	assert_true(isnan(positions_of(&huge, 3, 3, 3)));
	huge.stride = huge.window_dilation = huge.base_dilation = INT32_MAX;
	huge.padding_low = -INT32_MAX;
	assert_number(positions_of(&huge, INT32_MAX, INT32_MAX, 3), 3.0 * INT32_MAX - 6);
}

struct window {
	int64_t size, stride, low, high, rhs_dilate, lhs_dilate;
};

static struct str window(const struct window *dims, ptrdiff_t rank)
{
	struct pb b = pb_new(&keep);
	for (ptrdiff_t i = 0; i < rank; i++) {
		const int64_t values[] = { dims[i].size, dims[i].stride, dims[i].low, dims[i].high,
			dims[i].rhs_dilate, dims[i].lhs_dilate };
		struct pb d = pb_new(&keep);
		for (int k = 0; k < 6; k++)
			pb_int(&d, k + 1, values[k]);
		pb_bytes(&b, 1, pb_done(&d));
	}
	return field(15, pb_done(&b));
}

/* From "b01f_01io->b01f", as XLA writes it. */
static void labels_side(struct pb *b, const char **at, char first, char second, int first_field,
	int second_field, int spatial_field)
{
	int64_t spatial[8] = { 0 };
	ptrdiff_t count = 0;
	for (int64_t dim = 0; **at && **at != '_' && **at != '-'; ++*at, dim++) {
		if (**at == first)
			pb_int(b, first_field, dim);
		else if (**at == second)
			pb_int(b, second_field, dim);
		else
			spatial[**at - '0'] = dim, count++;
	}
	pb_packed(b, spatial_field, spatial, count);
}

static struct str labels(const char *text)
{
	struct pb b = pb_new(&keep);
	labels_side(&b, &text, 'b', 'f', 7, 8, 11);
	text++;
	labels_side(&b, &text, 'i', 'o', 3, 4, 6);
	text += 2;
	labels_side(&b, &text, 'b', 'f', 9, 10, 12);
	return field(16, pb_done(&b));
}

static const struct {
	const char *lhs, *rhs, *out, *labels, *op_name;
	struct window window[2];
	ptrdiff_t rank;
	int64_t feature_groups;
	double flops;
	enum op_kind kind;
} convolutions[] = {
	/* TPU matmuls: plain, transposed, with a row dimension in front, batched by dilation. */
	{ "bf16[128,64]", "bf16[64,32]", "bf16[128,32]", "bf_io->bf", "", { { 0 } }, 0, 1,
		2.0 * 128 * 64 * 32, KIND_MATMUL },
	{ "bf16[64,128]", "bf16[64,32]", "bf16[128,32]", "fb_io->bf", "", { { 0 } }, 0, 1,
		2.0 * 128 * 64 * 32, KIND_MATMUL },
	{ "bf16[8,128,64]", "bf16[64,32,1]", "bf16[8,128,32]", "0bf_io0->0bf", "",
		{ { 1, 1, 0, 0, 1, 1 } }, 1, 1, 2.0 * 8 * 128 * 64 * 32, KIND_MATMUL },
	{ "bf16[2,512,8,128]", "bf16[2,512,8,128]", "f32[2,8,512,512]", "0b1f_0o1i->01bf", "",
		{ { 2, 1, 0, 0, 1, 2 }, { 8, 7, 0, 0, 1, 8 } }, 2, 1, 2.0 * 2 * 8 * 512 * 512 * 128,
		KIND_MATMUL },
	/* Columns in front: a kernel over an input of one. */
	{ "bf16[1,16,64]", "bf16[8,64,32]", "bf16[8,16,32]", "0bf_0io->0bf", "",
		{ { 8, 1, 7, 7, 1, 1 } }, 1, 1, 2.0 * 16 * 8 * 64 * 32, KIND_MATMUL },
	/* A contraction over two dimensions. */
	{ "bf16[16,8,64]", "bf16[8,64,32]", "bf16[16,32,1]", "b0f_0io->bf0", "",
		{ { 8, 1, 0, 0, 1, 1 } }, 1, 1, 2.0 * 16 * 8 * 64 * 32, KIND_MATMUL },
	/* Convolutions. */
	{ "bf16[32,56,56,128]", "bf16[3,3,128,256]", "bf16[32,28,28,256]", "b01f_01io->b01f", "",
		{ { 3, 2, 0, 1, 1, 1 }, { 3, 2, 0, 1, 1, 1 } }, 2, 1, 14447280128.0,
		KIND_CONVOLUTION },
	{ "f32[1,14,4]", "f32[3,1,8]", "f32[1,14,8]", "b0f_0io->b0f", "", { { 3, 1, 1, 1, 1, 1 } },
		1, 4, 2.0 * 8 * 40, KIND_CONVOLUTION },
	/* A 1x1 convolution is a matmul, unless the user wrote a convolution. */
	{ "f32[8,14,64]", "f32[1,64,32]", "f32[8,14,32]", "b0f_0io->b0f", "",
		{ { 1, 1, 0, 0, 1, 1 } }, 1, 1, 2.0 * 8 * 14 * 64 * 32, KIND_MATMUL },
	{ "f32[8,14,64]", "f32[1,64,32]", "f32[8,14,32]", "b0f_0io->b0f",
		"jit(f)/conv_general_dilated", { { 1, 1, 0, 0, 1, 1 } }, 1, 1,
		2.0 * 8 * 14 * 64 * 32, KIND_CONVOLUTION },
};

static void convolution_ops(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(convolutions) / sizeof(convolutions[0]); i++) {
		struct pb more = pb_new(&keep);
		pb_raw(&more, window(convolutions[i].window, convolutions[i].rank));
		pb_raw(&more, labels(convolutions[i].labels));
		pb_int(&more, 50, convolutions[i].feature_groups);
		pb_raw(&more, field(7, text_field(2, convolutions[i].op_name)));
		const struct pb_instruction body[] = {
			{ "a", "parameter", convolutions[i].lhs, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", convolutions[i].rhs, 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "convolution", convolutions[i].out, 3, { 1, 2 }, { 0 }, 0,
				pb_done(&more) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		assert_int_equal(c.flops_bound, COST_EXACT);
		assert_number(c.flops, convolutions[i].flops);
		assert_kind(kind_alone_of(body), convolutions[i].kind);
		assert_int_equal(c.has_convolution, convolutions[i].kind == KIND_CONVOLUTION);
	}
}

static const char gemm_config[] =
	"{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"beta\":0,"
	"\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
	"\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[]}}}";
static const char fmha_config[] =
	"{\"cudnn_fmha_backend_config\":{\"mask_type\":\"NO_MASK\",\"intermediate_tensor_shape\":"
	"{\"element_type\":\"BF16\",\"dimensions\":[\"2\",\"16\",\"512\",\"256\"]},"
	"\"bmm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"]}}}";
static const char te_config[] =
	"{attn_heads = 16 : i64, input_batch = 2 : i64, kv_max_seqlen = 2048 : i64, mask_type = "
	"2 : i64, q_max_seqlen = 2048 : i64, qk_head_dim = 128 : i64, scaling_factor = 0.08 : f64, "
	"v_head_dim = 128 : i64, window_size_left = -1 : i64, window_size_right = -1 : i64}";
static const char te_plain[] =
	"{attn_heads = 16 : i64, head_dim = 128 : i64, input_batch = 2 : i64, kv_max_seqlen = 2048 "
	": i64, mask_type = 0 : i64, q_max_seqlen = 2048 : i64, window_size_left = -1 : i64, "
	"window_size_right = -1 : i64}";

static const char fmha_causal[] =
	"{\"cudnn_fmha_backend_config\":{\"mask_type\":\"CAUSAL\",\"intermediate_tensor_shape\":"
	"{\"element_type\":\"BF16\",\"dimensions\":[\"2\",\"16\",\"512\",\"256\"]},"
	"\"bmm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"]}}}";
/* As JAX writes it: of [batch, sequence, heads, width]. */
static const char fmha_backward[] =
	"{\"cudnn_fmha_backend_config\":{\"mask_type\":\"NO_MASK\",\"intermediate_tensor_shape\":"
	"{\"element_type\":\"BF16\",\"dimensions\":[\"2\",\"16\",\"512\",\"256\"]},"
	"\"bmm1_grad_gemm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"2\"]},"
	"\"bmm1_grad_gemm2_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"]},"
	"\"bmm2_grad_gemm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"2\"]},"
	"\"bmm2_grad_gemm2_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"],"
	"\"rhs_contracting_dimensions\":[\"3\"]}}}";
static const char te_padding[] =
	"{attn_heads = 16 : i64, input_batch = 2 : i64, kv_max_seqlen = 2048 : i64, mask_type = "
	"3 : i64, q_max_seqlen = 2048 : i64, qk_head_dim = 128 : i64, scaling_factor = 0.08 : f64, "
	"v_head_dim = 128 : i64, window_size_left = -1 : i64, window_size_right = -1 : i64}";

#define ATTENTION 68719476736.0		      /* 4 B N T S H of te_config */
#define CAUSAL	  (2049.0 / 4096 * ATTENTION) /* T (T + 1) / 2 of T S */

static const struct {
	const char *target, *config, *lhs, *rhs, *third, *out;
	enum cost_bound bound;
	double flops;
	enum op_kind kind;
} calls[] = {
	{ "__cublas$gemm", gemm_config, "bf16[8192,4096]", "bf16[4096,8192]", "f32[]",
		"(bf16[8192,8192], s8[79691776])", COST_EXACT, 549755813888.0, KIND_MATMUL },
	/* Without dimension numbers the shapes tell, if they fit. */
	{ "__cublas$lt$matmul$f8", "", "f8e4m3fn[64,32]", "f8e4m3fn[32,16]", "f32[]",
		"(bf16[64,16], u8[1024])", COST_EXACT, 2.0 * 64 * 32 * 16, KIND_MATMUL },
	{ "__cublas$gemm", "{\"gemm_backend_config\":", "f32[4,64,32]", "f32[4,16,32]", "f32[]",
		"f32[4,64,16]", COST_EXACT, 2.0 * 4 * 64 * 32 * 16, KIND_MATMUL },
	{ "__cublas$gemm", "{}", "f32[64,32]", "f32[33,16]", "f32[]", "f32[64,16]", COST_UNKNOWN, 0,
		KIND_MATMUL },
	{ "__cublas$gemm", gemm_config, "f32[64]", "f32[64]", "f32[]", "f32[]", COST_UNKNOWN, 0,
		KIND_MATMUL },
	{ "__cublas$lt$groupedMatmul", "", "bf16[64,32]", "bf16[8,32,16]", "s32[8]", "bf16[64,16]",
		COST_UPPER, 2.0 * 64 * 32 * 16, KIND_MATMUL },
	{ "te_gemm_v2_ffi", "{}", "bf16[64,32]", "f32[0]", "bf16[16,32]", "(bf16[64,16], u8[4])",
		COST_EXACT, 2.0 * 64 * 32 * 16, KIND_MATMUL },
	{ "te_grouped_gemm_ffi", "{}", "bf16[64,32]", "f32[0]", "bf16[16,32]", "bf16[64,16]",
		COST_UNKNOWN, 0, KIND_MATMUL },
	{ "__cudnn$fmhaSoftmax", fmha_config, "bf16[2,16,512,64]", "bf16[2,16,256,64]",
		"bf16[2,16,256,64]", "(bf16[2,16,512,64], u8[0])", COST_EXACT,
		4.0 * 2 * 16 * 512 * 256 * 64, KIND_ATTENTION },
	{ "__cudnn$fmhaSoftmaxBackward", fmha_config, "bf16[2,16,512,64]", "bf16[2,16,256,64]",
		"bf16[2,16,256,64]", "(bf16[2,16,512,64], u8[0])", COST_EXACT,
		10.0 * 2 * 16 * 512 * 256 * 64, KIND_ATTENTION },
	{ "__cudnn$fmhaSoftmaxBackward", fmha_backward, "bf16[2,512,16,64]", "bf16[2,256,16,64]",
		"bf16[2,256,16,64]", "(bf16[2,512,16,64], u8[0])", COST_EXACT,
		10.0 * 2 * 16 * 512 * 256 * 64, KIND_ATTENTION },
	/* Of 512 queries the first 256 see 1 to 256 keys, the others all. */
	{ "__cudnn$fmhaSoftmax", fmha_causal, "bf16[2,16,512,64]", "bf16[2,16,256,64]",
		"bf16[2,16,256,64]", "(bf16[2,16,512,64], u8[0])", COST_EXACT,
		4.0 * 2 * 16 * (256 * 257 / 2 + 256 * 256) * 64, KIND_ATTENTION },
	{ "te_fused_attn_forward_ffi", te_config, "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_EXACT, CAUSAL, KIND_ATTENTION },
	{ "te_fused_attn_forward_ffi", te_padding, "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_UPPER, ATTENTION, KIND_ATTENTION },
	{ "te_fused_attn_forward_ffi", te_plain, "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_EXACT, ATTENTION, KIND_ATTENTION },
	{ "te_fused_attn_backward_ffi", te_config, "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_EXACT, 2.5 * CAUSAL, KIND_ATTENTION },
	{ "te_fused_attn_forward_ffi", "{}", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_UNKNOWN, 0, KIND_ATTENTION },
	{ "tpu_custom_call", "{}", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]", COST_UNKNOWN, 0,
		KIND_CUSTOM },
	{ "my_flash_attn_kernel", "", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]", COST_UNKNOWN, 0,
		KIND_ATTENTION },
	{ "__cub$DeviceRadixSort", "", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]", COST_UNKNOWN, 0,
		KIND_SORT },
	{ "xla.gpu.ext.cub_sort_pairs", "", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]",
		COST_UNKNOWN, 0, KIND_SORT },
	{ "__cublas$triangularSolve", "", "f32[64,64]", "f32[64,8]", "f32[]",
		"(f32[64,8], u8[64])", COST_EXACT, 64.0 * 8 * 64, KIND_CUSTOM },
	{ "lapack_strsm_ffi", "", "f32[3,64,64]", "f32[3,64,8]", "f32[]", "f32[3,64,8]", COST_EXACT,
		3.0 * 64 * 8 * 64, KIND_CUSTOM },
	{ "lapack_strsm_ffi", "", "f32[]", "f32[64,8]", "f32[]", "f32[64,8]", COST_UNKNOWN, 0,
		KIND_CUSTOM },
	{ "PartialReduce", "", "bf16[64,512]", "s32[64,512]", "bf16[]",
		"(bf16[64,128], s32[64,128])", COST_EXACT, 64.0 * 512, KIND_SORT },
	{ "PartialReduce", "", "bf16[64,?]", "s32[64,?]", "bf16[]", "(bf16[64,128], s32[64,128])",
		COST_UNKNOWN, 0, KIND_SORT },
	{ "AllocateBuffer", "", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]", COST_EXACT, 0,
		KIND_CONTROL },
	{ "PrepareAsyncCallDone", "", "s32[]", "s32[]", "s32[]", "token[]", COST_EXACT, 0,
		KIND_CONTROL },
	{ "Noop", "", "s32[]", "s32[]", "s32[]", "token[]", COST_EXACT, 0, KIND_CONTROL },
	{ "", "", "bf16[2]", "bf16[2]", "bf16[2]", "bf16[2]", COST_UNKNOWN, 0, KIND_CUSTOM },
};

static void library_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", calls[i].lhs, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", calls[i].rhs, 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "parameter", calls[i].third, 3, { 0 }, { 0 }, 2, { 0 } },
			{ "call", "custom-call", calls[i].out, 4, { 1, 2, 3 }, { 0 }, 0,
				join(text_field(28, calls[i].target),
					text_field(43, calls[i].config)) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		if (c.flops_bound != calls[i].bound)
			fail_msg(
				"%s %s: bound %d", calls[i].target, calls[i].config, c.flops_bound);
		if (c.flops_bound != COST_UNKNOWN)
			assert_number(c.flops, calls[i].flops);
		assert_kind(kind_alone_of(body), calls[i].kind);
	}
}

/* What cuBLAS is told stands in its configuration. */
static void precision_of_calls(void **state)
{
	static const struct {
		const char *said;
		enum f32_units units;
		int passes;
	} cases[] = {
		{ "", F32_ANY, 1 },
		{ "\"operand_precision\":[\"DEFAULT\",\"DEFAULT\"],\"algorithm\":\"ALG_UNSET\"",
			F32_ANY, 1 },
		{ "\"operand_precision\":[\"HIGHEST\",\"HIGHEST\"]", F32_ANY, 6 },
		{ "\"algorithm\":\"ALG_DOT_BF16_BF16_F32_X3\"", F32_BF16, 3 },
		{ "\"algorithm\":\"ALG_DOT_TF32_TF32_F32\"", F32_TF32, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str config = arena_fmt(&keep,
			"{\"gemm_backend_config\":{\"precision_config\":{%s}}}", cases[i].said);
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[64,32]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", "f32[32,16]", 2, { 0 }, { 0 }, 1, { 0 } },
			{ "call", "custom-call", "f32[64,16]", 4, { 1, 2 }, { 0 }, 0,
				join(text_field(28, "__cublas$gemm"),
					text_field(43, arena_z(&keep, config))) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		struct hlo_cost cost = cost_on(HLO_GPU, c);
		assert_int_equal(cost.f32_units, cases[i].units);
		assert_int_equal(cost.precision_passes, cases[i].passes);
	}
}

/* The scratch in a result costs nothing; a lone result of bytes is no scratch. */
static void workspaces(void **state)
{
	static const struct {
		const char *out;
		double bytes;
	} cases[] = {
		{ "(bf16[8], s8[1000])", 8 * 2 },
		{ "(bf16[8], u8[1000])", 8 * 2 },
		{ "(bf16[8], f32[1000])", 8 * 2 + 4000 },
		{ "(bf16[8], u8[10], bf16[8])", 8 * 2 + 10 + 8 * 2 },
		{ "u8[1000]", 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_instruction body[] = {
			{ "c", "custom-call", cases[i].out, 1, { 0 }, { 0 }, 0,
				text_field(28, "__cublas$gemm") },
			NO_ROW,
		};
		assert_number(cost_of(body).hbm_bytes, cases[i].bytes);
	}
}

static void convolution_calls(void **state)
{
	static const struct {
		const char *target, *lhs, *rhs, *out;
	} cases[] = {
		{ "__cudnn$convForward", "bf16[1,16,32,60,104]", "bf16[5120,16,1,2,2]",
			"(bf16[1,5120,34,31,53], u8[7150336])" },
		{ "__cudnn$convBackwardInput", "bf16[1,5120,34,31,53]", "bf16[5120,16,1,2,2]",
			"(bf16[1,16,32,60,104], u8[7150336])" },
		{ "__cudnn$convBackwardFilter", "bf16[1,16,32,60,104]", "bf16[1,5120,34,31,53]",
			"(bf16[5120,16,1,2,2], u8[7150336])" },
	};
	const struct window w[] = { { 1, 1, 1, 1, 1, 1 }, { 2, 2, 1, 1, 1, 1 },
		{ 2, 2, 1, 1, 1, 1 } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb more = pb_new(&keep);
		pb_raw(&more, text_field(28, cases[i].target));
		pb_raw(&more, window(w, 3));
		pb_raw(&more, labels("bf012_oi012->bf012"));
		const struct pb_instruction body[] = {
			{ "a", "parameter", cases[i].lhs, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", cases[i].rhs, 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "custom-call", cases[i].out, 3, { 1, 2 }, { 0 }, 0, pb_done(&more) },
			NO_ROW,
		};
		/* Padding costs nothing: the same convolution counted in full is 36.6e9. */
		assert_number(cost_of(body).flops, 32715571200.0);
		assert_kind(kind_alone_of(body), KIND_CONVOLUTION);
	}
}

static void ragged_dots(void **state)
{
	(void)state;
	for (int contracting = 0; contracting < 2; contracting++) {
		struct pb b = pb_new(&keep);
		pb_bytes(&b, 1, contracting ? dot_dims(0, 0, false) : dot_dims(1, 1, false));
		pb_packed(&b, 2, PB_LIST(0));
		const struct pb_instruction body[] = {
			{ "a", "parameter", "bf16[64,32]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", contracting ? "bf16[64,16]" : "bf16[8,32,16]", 2, { 0 },
				{ 0 }, 1, { 0 } },
			{ "g", "parameter", "s32[8]", 3, { 0 }, { 0 }, 2, { 0 } },
			{ "r", "ragged-dot", contracting ? "f32[8,32,16]" : "f32[64,16]", 4,
				{ 1, 2, 3 }, { 0 }, 0, field(90, pb_done(&b)) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		assert_int_equal(c.flops_bound, COST_UPPER);
		assert_number(c.flops, 2.0 * 64 * 32 * 16);
	}
}

static const struct pb_instruction adder[] = {
	{ "ax", "parameter", "f32[]", 101, { 0 }, { 0 }, 0, { 0 } },
	{ "ay", "parameter", "f32[]", 102, { 0 }, { 0 }, 1, { 0 } },
	{ "as", "add", "f32[]", 103, { 101, 102 }, { 0 }, 0, { 0 } },
	NO_ROW,
};

/* What a scatter calls that sets elements. */
static const struct pb_instruction setter[] = {
	{ "sx", "parameter", "f32[]", 91, { 0 }, { 0 }, 0, { 0 } },
	{ "sy", "parameter", "f32[]", 92, { 0 }, { 0 }, 1, { 0 } },
	{ "ss", "bitcast", "f32[]", 93, { 92 }, { 0 }, 0, { 0 } },
	NO_ROW,
};

/* One op over f32[8,16] and friends: other_flops, transcendentals and logical bytes. */
static const struct {
	const char *opcode, *out;
	int64_t operands[4], called[2];
	double flops, transcendentals, bytes;
	enum op_kind kind;
} ops[] = {
	{ "add", "f32[8,16]", { 1, 2 }, { 0 }, 128, 0, 3 * 512, KIND_ELEMENTWISE },
	{ "add", "f32[8,16]", { 1, 1 }, { 0 }, 128, 0, 2 * 512, KIND_ELEMENTWISE },
	{ "mulhi", "f32[8,16]", { 1, 2 }, { 0 }, 128, 0, 3 * 512, KIND_ELEMENTWISE },
	{ "tanh", "f32[8,16]", { 1 }, { 0 }, 0, 128, 2 * 512, KIND_ELEMENTWISE },
	{ "copy", "f32[8,16]", { 1 }, { 0 }, 0, 0, 2 * 512, KIND_COPY },
	{ "transpose", "f32[16,8]", { 1 }, { 0 }, 0, 0, 2 * 512, KIND_COPY },
	{ "bitcast", "f32[128]", { 1 }, { 0 }, 0, 0, 0, KIND_CONTROL },
	{ "tuple", "(f32[8,16])", { 1 }, { 0 }, 0, 0, 0, KIND_CONTROL },
	{ "broadcast", "f32[8,16]", { 4 }, { 0 }, 0, 0, 4 + 512, KIND_ELEMENTWISE },
	{ "iota", "f32[8,16]", { 0 }, { 0 }, 0, 0, 512, KIND_ELEMENTWISE },
	{ "reduce", "f32[8]", { 1, 4 }, { 9 }, 120, 0, 512 + 4 + 32, KIND_REDUCE },
	{ "sort", "f32[8,16]", { 1 }, { 9 }, 128 * 7, 0, 2 * 512, KIND_SORT },
	{ "triangular-solve", "f32[8,16]", { 5, 1 }, { 0 }, 8 * 16 * 8, 0, 256 + 2 * 512,
		KIND_CUSTOM },
	{ "slice", "f32[2,16]", { 1 }, { 0 }, 0, 0, 2 * 128, KIND_ELEMENTWISE },
	{ "dynamic-slice", "f32[2,16]", { 1, 4 }, { 0 }, 0, 0, 2 * 128 + 4, KIND_ELEMENTWISE },
	{ "dynamic-update-slice", "f32[8,16]", { 1, 3, 4 }, { 0 }, 0, 0, 2 * 128 + 4, KIND_UPDATE },
	{ "gather", "f32[2,16]", { 1, 4 }, { 0 }, 0, 0, 2 * 128 + 4, KIND_GATHER },
	{ "gather", "bf16[2,16]", { 1, 4 }, { 0 }, 0, 0, 128 + 64 + 4, KIND_GATHER },
	{ "scatter", "f32[8,16]", { 1, 4, 3 }, { 9 }, 32, 0, 3 * 128 + 4, KIND_SCATTER },
	{ "scatter", "f32[8,16]", { 1, 4, 3 }, { 8 }, 0, 0, 2 * 128 + 4, KIND_SCATTER },
	{ "all-reduce", "f32[8,16]", { 1 }, { 9 }, 128, 0, 2 * 512, KIND_ALL_REDUCE },
	{ "all-gather", "f32[32,16]", { 1 }, { 0 }, 0, 0, 5 * 512, KIND_ALL_GATHER },
	{ "all-gather-start", "(f32[8,16], f32[32,16])", { 1 }, { 0 }, 0, 0, 5 * 512,
		KIND_ALL_GATHER },
	{ "copy-start", "(f32[8,16], f32[8,16], u32[])", { 1 }, { 0 }, 0, 0, 2 * 512, KIND_COPY },
	{ "send", "(f32[8,16], u32[], token[])", { 1 }, { 0 }, 0, 0, 512, KIND_SEND },
	{ "recv", "(f32[8,16], u32[], token[])", { 0 }, { 0 }, 0, 0, 512, KIND_RECV },
	{ "rng-bit-generator", "f32[8,16]", { 0 }, { 0 }, 0, 128, 512, KIND_RNG },
	{ "while", "f32[]", { 4 }, { 9 }, 1, 0, 12, KIND_CONTROL },
	{ "infeed", "(f32[8,16], token[])", { 0 }, { 0 }, 0, 0, 512, KIND_INFEED },
};

static void plain_ops(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct pb_instruction body[] = {
			{ "a", "parameter", "f32[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", "f32[8,16]", 2, { 0 }, { 0 }, 1, { 0 } },
			{ "u", "parameter", "f32[2,16]", 3, { 0 }, { 0 }, 2, { 0 } },
			{ "s", "parameter", "s32[]", 4, { 0 }, { 0 }, 3, { 0 } },
			{ "t", "parameter", "f32[8,8]", 5, { 0 }, { 0 }, 4, { 0 } },
			{ "op", ops[i].opcode, ops[i].out, 6, { 0 }, { 0 }, 0, { 0 } },
			NO_ROW,
		};
		memcpy(body[5].operands, ops[i].operands, sizeof(ops[i].operands));
		memcpy(body[5].called, ops[i].called, sizeof(ops[i].called));
		const struct pb_computation c[] = { { "setter", 8, setter }, { "adder", 9, adder },
			{ "main", 1, body }, { 0 } };
		struct hlo_cost cost = cost_on(HLO_TPU, c);
		if (cost.flops_bound != COST_EXACT || cost.other_flops != ops[i].flops ||
			cost.transcendentals != ops[i].transcendentals ||
			cost.logical_bytes != ops[i].bytes)
			fail_msg("%s: %g FLOPs, %g, %g bytes", ops[i].opcode, cost.other_flops,
				cost.transcendentals, cost.logical_bytes);
		assert_kind(kind_of(c), ops[i].kind);
	}
}

/* Of several dimensions the logarithms add up. */
static void transforms(void **state)
{
	static const struct {
		const char *in, *out;
		int64_t length[3];
		double flops;
	} cases[] = {
		{ "c64[4,8,16,32]", "c64[4,8,16,32]", { 8, 16, 32 }, 8.0 * 16384 * (3 + 4 + 5) },
		{ "f32[4,32]", "c64[4,17]", { 32 }, 8.0 * 128 * 5 },
		{ "c64[4,17]", "f32[4,32]", { 32 }, 8.0 * 68 * 5 },
		{ "c64[4,32]", "c64[4,32]", { 0 }, 8.0 * 128 * 5 }, /* says nothing of them */
		{ "c64[4,1]", "c64[4,1]", { 1 }, 0 },
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct pb length = pb_new(&keep);
		ptrdiff_t rank = 0;
		while (rank < 3 && cases[k].length[rank])
			rank++;
		pb_packed(&length, 32, cases[k].length, rank);
		const struct pb_instruction body[] = {
			{ "a", "parameter", cases[k].in, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "f", "fft", cases[k].out, 2, { 1 }, { 0 }, 0, pb_done(&length) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		assert_int_equal(c.flops_bound, COST_UPPER);
		assert_number(c.flops, cases[k].flops);
	}
}

static void unknown_ops(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "quantum-leap", "f32[8]", 1, { 0 }, { 0 }, 0, { 0 } }, NO_ROW
	};
	(void)state;
	assert_int_equal(cost_of(body).flops_bound, COST_UNKNOWN);
	assert_int_equal(cost_of(body).bytes_bound, COST_UNKNOWN);
	assert_kind(kind_alone_of(body), KIND_UNKNOWN);
}

static void dynamic_shapes_are_bounds(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[<=8]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "negate", "f32[<=8]", 2, { 1 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction boundless[] = {
		{ "a", "parameter", "f32[?]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "negate", "f32[?]", 2, { 1 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	(void)state;
	assert_int_equal(cost_of(body).flops_bound, COST_UPPER);
	assert_int_equal(cost_of(body).bytes_bound, COST_UPPER);
	assert_int_equal(cost_of(boundless).flops_bound, COST_UNKNOWN);
	assert_int_equal(cost_of(boundless).bytes_bound, COST_UNKNOWN);
}

static void spaces(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[3,5]{1,0:T(8,128)}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "f32[3,5]{1,0:T(8,128)S(1)}", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "c", "parameter", "f32[3,5]{1,0:T(8,128)S(5)}", 3, { 0 }, { 0 }, 2, { 0 } },
		{ "d", "select", "f32[3,5]{1,0:T(8,128)S(2)}", 4, { 1, 2, 3 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
	static const double hbm[] = { [HLO_TPU] = 60, [HLO_GPU] = 180, [HLO_CPU] = 60 };
	(void)state;
	for (int p = HLO_TPU; p <= HLO_CPU; p++) {
		struct hlo_cost cost = cost_on((enum hlo_platform)p, c);
		assert_number(cost.hbm_bytes, hbm[p]);
		assert_number(cost.hbm_padded_bytes, hbm[p] / 60 * 4096);
		assert_number(cost.host_bytes, 60);
		assert_number(cost.logical_bytes, 240);
		assert_number(cost.padded_bytes, 4 * 4096);
	}
	assert_int_equal(hlo_space(3, HLO_TPU), SPACE_ON_CHIP); /* CMEM of v4 */
	assert_int_equal(hlo_space(12, HLO_TPU), SPACE_OTHER);
	assert_int_equal(hlo_space(-1, HLO_GPU), SPACE_OTHER);
}

/* Feeds, and sends to the host, are of HBM's bytes and cross to the host. */
static void feeds(void **state)
{
	static const struct {
		const char *opcode, *shape;
		bool host_transfer;
		double host;
	} cases[] = {
		{ "infeed", "(f32[8], token[])", false, 32 },
		{ "outfeed", "token[]", false, 64 },
		{ "send", "(f32[16], u32[], token[])", true, 64 },
		{ "recv", "(f32[16], u32[], token[])", true, 64 },
		{ "send", "(f32[16], u32[], token[])", false, 0 },
		{ "copy", "f32[16]", false, 0 },
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const bool takes = !str_eq(str_from(cases[k].opcode), STR("recv")) && k > 0;
		const struct pb_instruction body[] = {
			{ "a", "parameter", takes ? "f32[16]" : "token[]", 1, { 0 }, { 0 }, 0,
				{ 0 } },
			{ "b", cases[k].opcode, cases[k].shape, 2, { 1 }, { 0 }, 0,
				int_field(47, cases[k].host_transfer) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, { 0 } };
		assert_number(cost_on(HLO_TPU, c).host_bytes, cases[k].host);
		assert_number(cost_on(HLO_CPU, c).host_bytes, 0);
	}
}

/* Numbers of 64 bits are taken apart and joined: half of one is read where half of it is written.
 */
static void halves(void **state)
{
	static const struct {
		const char *target, *in, *out;
		int64_t operands[2];
		double hbm;
	} cases[] = {
		{ "X64SplitLow", "c64[64]", "f32[64]", { 1 }, 2 * 256 },
		{ "X64SplitHigh", "u64[64]", "u32[64]{0:S(1)}", { 1 }, 256 },
		{ "X64Combine", "f32[64]", "c64[64]", { 1, 2 }, 4 * 256 },
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", cases[k].in, 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", cases[k].in, 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "custom-call", cases[k].out, 3,
				{ cases[k].operands[0], cases[k].operands[1] }, { 0 }, 0,
				text_field(28, cases[k].target) },
			NO_ROW,
		};
		struct hlo_cost c = cost_of(body);
		assert_int_equal(c.flops_bound, COST_EXACT);
		assert_int_equal(c.bytes_bound, COST_EXACT);
		assert_number(c.flops, 0);
		assert_number(c.hbm_bytes, cases[k].hbm);
		assert_kind(kind_alone_of(body), KIND_ELEMENTWISE);
	}
}

static const struct pb_instruction fused_slices[] = {
	{ "p0", "parameter", "f32[8,16]", 11, { 0 }, { 0 }, 0, { 0 } },
	{ "p1", "parameter", "f32[8,16]", 12, { 0 }, { 0 }, 1, { 0 } },
	{ "p2", "parameter", "s32[]", 13, { 0 }, { 0 }, 2, { 0 } },
	{ "unused", "parameter", "f32[999]", 14, { 0 }, { 0 }, 3, { 0 } },
	{ "view", "bitcast", "f32[128]", 15, { 11 }, { 0 }, 0, { 0 } },
	{ "ds", "dynamic-slice", "f32[16]", 16, { 15, 13 }, { 0 }, 0, { 0 } },
	{ "ds2", "dynamic-slice", "f32[16]", 17, { 15, 13 }, { 0 }, 0, { 0 } },
	{ "k", "constant", "f32[100]", 18, { 0 }, { 0 }, 0, { 0 } },
	{ "sum", "add", "f32[16]", 19, { 16, 17 }, { 0 }, 0, { 0 } },
	{ "up", "bitcast", "f32[1,16]", 20, { 19 }, { 0 }, 0, { 0 } },
	{ "dus", "dynamic-update-slice", "f32[8,16]", 21, { 12, 20, 13 }, { 0 }, 0, { 0 } },
	NO_ROW,
};

/* A stack updated in place: two slices are read, one is written, and the rest is left alone. */
static void fusions_touch_slices(void **state)
{
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "f32[8,16]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "c", "parameter", "s32[]", 3, { 0 }, { 0 }, 2, { 0 } },
		{ "d", "parameter", "f32[999]", 4, { 0 }, { 0 }, 3, { 0 } },
		{ "f", "fusion", "f32[8,16]", 5, { 1, 2, 3, 4 }, { 1 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "fused", 1, fused_slices },
		{ "main", 2, body }, { 0 } };
	(void)state;
	struct hlo_cost cost = cost_on(HLO_GPU, c);
	assert_number(cost.hbm_bytes, 2 * 64 + 4 + 400 + 64);
	assert_number(cost.flops, 16);
	assert_kind(kind_of(c), KIND_UPDATE);
}

/*
 * As a collective matmul does: a shard is padded to two, and a slice of both is taken.  Half of
 * what is taken is padding, and no byte of that is read.
 */
static void fusions_read_no_padding(void **state)
{
	static const struct pb_instruction inner[] = {
		{ "p0", "parameter", "f32[8,1,64]", 11, { 0 }, { 0 }, 0, { 0 } },
		{ "p1", "parameter", "s32[]", 12, { 0 }, { 0 }, 1, { 0 } },
		{ "zero", "constant", "f32[]", 13, { 0 }, { 0 }, 0, { 0 } },
		{ "pad", "pad", "f32[8,2,64]", 14, { 11, 13 }, { 0 }, 0, { 0 } },
		{ "ds", "dynamic-slice", "f32[8,2,16]", 15, { 14, 12 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[8,1,64]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "s32[]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "f", "fusion", "f32[8,2,16]", 3, { 1, 2 }, { 1 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "fused", 1, inner }, { "main", 2, body },
		{ 0 } };
	(void)state;
	assert_number(cost_on(HLO_TPU, c).hbm_bytes, 8 * 16 * 4 + 4 + 8 * 2 * 16 * 4);
}

/* A fusion writes what it puts into memory that it is given, or takes, and nothing around it. */
static void fusions_write_updates(void **state)
{
	static const struct {
		const char *opcode, *target, *update;
		double hbm;
	} cases[] = {
		{ "custom-call", "AllocateBuffer", "dynamic-update-slice", 2 * 64 + 4 },
		{ "custom-call", "my_buffer", "dynamic-update-slice", 64 + 4 + 8 * 64 },
		{ "iota", "", "dynamic-update-slice", 64 + 4 + 8 * 64 },
		{ "parameter", "", "dynamic-update-slice", 2 * 64 + 4 },
		{ "parameter", "", "scatter", 2 * 64 + 4 },
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		bool sets = str_eq(str_from(cases[k].update), STR("scatter"));
		struct pb_instruction inner[] = {
			{ "p0", "parameter", "f32[1,16]", 11, { 0 }, { 0 }, 0, { 0 } },
			{ "p1", "parameter", "s32[]", 12, { 0 }, { 0 }, 1, { 0 } },
			{ "to", cases[k].opcode, "f32[8,16]", 13, { 0 }, { 0 }, 2,
				text_field(28, cases[k].target) },
			{ "up", cases[k].update, "f32[8,16]", 14, { 13, 11, 12 }, { 0 }, 0, { 0 } },
			NO_ROW,
		};
		if (sets) {
			inner[3].operands[1] = 12;
			inner[3].operands[2] = 11;
			inner[3].called[0] = 8;
		}
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[1,16]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", "s32[]", 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "parameter", "f32[8,16]", 3, { 0 }, { 0 }, 2, { 0 } },
			{ "f", "fusion", "f32[8,16]", 4, { 1, 2, k < 3 ? 0 : 3 }, { 1 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "setter", 8, setter }, { "fused", 1, inner },
			{ "main", 2, body }, { 0 } };
		double hbm = cost_on(HLO_TPU, c).hbm_bytes;
		if (hbm != cases[k].hbm)
			fail_msg("%s of %s: %g bytes", cases[k].update, cases[k].opcode, hbm);
	}
}

/* XLA:TPU wraps what updates its parameter in another fusion, and may move the update before it. */
static void fusions_write_inner_updates(void **state)
{
	static const struct pb_instruction inner[] = {
		{ "i0", "parameter", "f32[8,16]", 21, { 0 }, { 0 }, 0, { 0 } },
		{ "i1", "parameter", "s32[]", 22, { 0 }, { 0 }, 1, { 0 } },
		{ "i2", "parameter", "f32[1,16]", 23, { 0 }, { 0 }, 2, { 0 } },
		{ "is", "scatter", "f32[8,16]", 24, { 21, 22, 23 }, { 9 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct {
		const char *base; /* of what the inner fusion is given */
		double hbm;	  /* read, combined with what was there, written */
	} cases[] = { { "bitcast", 64 + 4 + 2 * 64 }, { "negate", 64 + 4 + 2 * 512 } };
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "s32[]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "c", "parameter", "f32[16]", 3, { 0 }, { 0 }, 2, { 0 } },
		{ "f", "fusion", "f32[8,16]", 4, { 1, 2, 3 }, { 1 }, 0, { 0 } },
		NO_ROW,
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct pb_instruction outer[] = {
			{ "p0", "parameter", "f32[8,16]", 11, { 0 }, { 0 }, 0, { 0 } },
			{ "p1", "parameter", "s32[]", 12, { 0 }, { 0 }, 1, { 0 } },
			{ "p2", "parameter", "f32[16]", 13, { 0 }, { 0 }, 2, { 0 } },
			{ "to", cases[k].base, "f32[8,16]", 14, { 11 }, { 0 }, 0, { 0 } },
			{ "up", "reshape", "f32[1,16]", 15, { 13 }, { 0 }, 0, { 0 } },
			{ "r", "fusion", "f32[8,16]", 16, { 14, 12, 15 }, { 7 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "adder", 9, adder }, { "inner", 7, inner },
			{ "outer", 1, outer }, { "main", 2, body }, { 0 } };
		assert_number(cost_on(HLO_TPU, c).hbm_bytes, cases[k].hbm);
	}
}

/*
 * What a fusion reads of its first parameter, of 8 x 16 bf16, behind ops that hand elements on.
 * The last op makes the result.
 */
struct handed {
	const char *what;
	struct {
		const char *opcode, *shape;
		int64_t operands[3];
	} ops[6];
	double read;
};

static const struct handed handed[] = {
	{ "a gather of a converted array",
		{ { "convert", "f32[8,16]", { 11 } }, { "gather", "f32[4]", { 21, 12 } } }, 4 * 2 },
	{ "a gather that changes the type", { { "gather", "f32[4]", { 11, 12 } } }, 4 * 2 },
	{ "both ways to one gather are one read",
		{ { "logistic", "bf16[8,16]", { 11 } },
			{ "multiply", "bf16[8,16]", { 11, 21 } },
			{ "gather", "bf16[4]", { 22, 12 } } },
		4 * 2 },
	{ "two slices add up",
		{ { "convert", "f32[8,16]", { 11 } },
			{ "dynamic-slice", "f32[1,16]", { 21, 12, 12 } },
			{ "dynamic-slice", "f32[1,16]", { 21, 12, 12 } },
			{ "add", "f32[1,16]", { 22, 23 } } },
		2 * 16 * 2 },
	{ "slices are no more than the array",
		{ { "slice", "bf16[6,16]", { 11 } }, { "slice", "bf16[6,16]", { 11 } },
			{ "add", "bf16[6,16]", { 21, 22 } } },
		8 * 16 * 2 },
	{ "a slice of a slice",
		{ { "slice", "bf16[4,16]", { 11 } }, { "slice", "bf16[1,16]", { 21 } } }, 16 * 2 },
	{ "a slice through views and moves",
		{ { "transpose", "bf16[16,8]", { 11 } }, { "reverse", "bf16[16,8]", { 21 } },
			{ "reshape", "bf16[4,32]", { 22 } }, { "bitcast", "u16[4,32]", { 23 } },
			{ "slice", "u16[1,32]", { 24 } } },
		32 * 2 },
	{ "a slice of row sums",
		{ { "reduce", "bf16[8]", { 11, 13 } }, { "slice", "bf16[2]", { 21 } } },
		2 * 16 * 2 },
	{ "a slice of a broadcast takes no more than there is",
		{ { "broadcast", "bf16[9,8,16]", { 11 } }, { "slice", "bf16[2,8,16]", { 21 } } },
		8 * 16 * 2 },
	{ "an update of a converted array takes the rest of it",
		{ { "convert", "f32[8,16]", { 11 } }, { "convert", "f32[1,16]", { 14 } },
			{ "dynamic-update-slice", "f32[8,16]", { 21, 22, 12 } } },
		7 * 16 * 2 },
	{ "a scatter to a converted array takes all of it",
		{ { "convert", "f32[8,16]", { 11 } }, { "convert", "f32[1,16]", { 14 } },
			{ "scatter", "f32[8,16]", { 21, 12, 22 } } },
		8 * 16 * 2 },
	{ "a slice of a fusion that copies",
		{ { "fusion", "bf16[8,16]", { 11 } }, { "slice", "bf16[1,16]", { 21 } } }, 16 * 2 },
	{ "a slice beside another reader",
		{ { "slice", "bf16[1,16]", { 11 } }, { "negate", "bf16[8,16]", { 11 } },
			{ "pad", "bf16[8,16]", { 21, 13 } }, { "add", "bf16[8,16]", { 22, 23 } } },
		8 * 16 * 2 },
	{ "select of an array, then its slice",
		{ { "compare", "pred[8,16]", { 11, 11 } },
			{ "select", "bf16[8,16]", { 21, 11, 11 } },
			{ "slice", "bf16[1,16]", { 22 } } },
		16 * 2 },
	{ "a product takes all",
		{ { "dot", "bf16[8,8]", { 11, 11 } }, { "slice", "bf16[1,8]", { 21 } } },
		8 * 16 * 2 },
};

static const struct pb_instruction copies[] = {
	{ "cp", "parameter", "bf16[8,16]", 101, { 0 }, { 0 }, 0, { 0 } },
	{ "cc", "copy", "bf16[8,16]", 102, { 101 }, { 0 }, 0, { 0 } },
	NO_ROW,
};

static const char *on_chip(const char *shape)
{
	static const char *const orders[] = { "0", "1,0", "2,1,0" };
	size_t commas = 0;
	for (const char *p = shape; *p; p++)
		commas += *p == ',';
	return arena_fmt(&keep, "%s{%s:S(1)}", shape, orders[commas]).p;
}

static void fusions_hand_elements_on(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(handed) / sizeof(handed[0]); k++) {
		/* Only the first parameter lies in HBM. */
		struct pb_instruction inner[12] = {
			{ "p0", "parameter", "bf16[8,16]", 11, { 0 }, { 0 }, 0, { 0 } },
			{ "p1", "parameter", "s32[]", 12, { 0 }, { 0 }, 1, { 0 } },
			{ "p2", "parameter", "bf16[]", 13, { 0 }, { 0 }, 2, { 0 } },
			{ "p3", "parameter", "bf16[1,16]", 14, { 0 }, { 0 }, 3, { 0 } },
		};
		static const char *const names[] = { "o1", "o2", "o3", "o4", "o5", "o6" };
		const char *out = NULL;
		for (size_t n = 0; n < 6 && handed[k].ops[n].opcode; n++) {
			struct pb_instruction *i = &inner[4 + n];
			*i = (struct pb_instruction){ names[n], handed[k].ops[n].opcode,
				handed[k].ops[n].shape, 21 + (int64_t)n, { 0 }, { 0 }, 0, { 0 } };
			memcpy(i->operands, handed[k].ops[n].operands,
				sizeof(handed[k].ops[n].operands));
			i->called[0] = str_eq(str_from(i->opcode), STR("fusion")) ? 9 : 0;
			out = on_chip(i->shape);
		}
		const struct pb_instruction body[] = {
			{ "a", "parameter", "bf16[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "b", "parameter", "s32[]{:S(1)}", 2, { 0 }, { 0 }, 1, { 0 } },
			{ "c", "parameter", "bf16[]{:S(1)}", 3, { 0 }, { 0 }, 2, { 0 } },
			{ "d", "parameter", "bf16[1,16]{1,0:S(1)}", 4, { 0 }, { 0 }, 3, { 0 } },
			{ "f", "fusion", out, 5, { 1, 2, 3, 4 }, { 1 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "copies", 9, copies }, { "fused", 1, inner },
			{ "main", 2, body }, { 0 } };
		double read = cost_on(HLO_TPU, c).hbm_bytes;
		if (read != handed[k].read)
			fail_msg("%s: %g bytes", handed[k].what, read);
	}
}

/* A matmul with its elementwise tail, its operands behind bitcasts in fusions of their own. */
static void fusions_of_matmuls(void **state)
{
	static const struct pb_instruction inner[] = {
		{ "q", "parameter", "bf16[64,32]", 21, { 0 }, { 0 }, 0, { 0 } },
		{ "v", "bitcast", "bf16[64,32]", 22, { 21 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	const struct pb_instruction outer[] = {
		{ "p", "parameter", "bf16[64,32]", 11, { 0 }, { 0 }, 0, { 0 } },
		{ "r", "parameter", "bf16[32,16]", 12, { 0 }, { 0 }, 1, { 0 } },
		{ "n", "fusion", "bf16[64,32]", 13, { 11 }, { 1 }, 0, { 0 } },
		{ "d", "dot", "f32[64,16]", 14, { 13, 12 }, { 0 }, 0,
			field(30, dot_dims(1, 0, false)) },
		{ "e", "tanh", "f32[64,16]", 15, { 14 }, { 0 }, 0, { 0 } },
		{ "m", "multiply", "f32[64,16]", 16, { 15, 15 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "bf16[64,32]{1,0:S(1)}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "b", "parameter", "bf16[32,16]", 2, { 0 }, { 0 }, 1, { 0 } },
		{ "f", "fusion", "f32[64,16]", 3, { 1, 2 }, { 2 }, 0, { 0 } },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "inner", 1, inner }, { "outer", 2, outer },
		{ "main", 3, body }, { 0 } };
	(void)state;
	struct hlo_cost cost = cost_on(HLO_TPU, c);
	assert_number(cost.flops, 2.0 * 64 * 32 * 16);
	assert_number(cost.other_flops, 64 * 16);
	assert_number(cost.transcendentals, 64 * 16);
	assert_int_equal(cost.dtype, DTYPE_BF16);
	assert_number(cost.hbm_bytes, 32 * 16 * 2 + 64 * 16 * 4);
	assert_number(cost.logical_bytes, 64 * 32 * 2 + 32 * 16 * 2 + 64 * 16 * 4);
	assert_kind(kind_of(c), KIND_MATMUL);
	struct hlo_module *m = parse(c);
	ptrdiff_t dot = hlo_unwrap(m, m->computations[2].root);
	assert_int_equal(m->instructions[dot].op, HLO_DOT);
}

/* A fusion's kind by what is in it; the fused computation's root is the last. */
static const struct {
	const char *opcodes[4];
	const char *out;
	enum op_kind kind;
} fused[] = {
	{ { "bitcast" }, "f32[8,16]", KIND_COPY },
	{ { "transpose", "bitcast" }, "f32[8,16]", KIND_COPY },
	{ { "copy", "slice" }, "f32[8,16]", KIND_COPY },
	{ { "slice", "bitcast" }, "f32[8,16]", KIND_ELEMENTWISE },
	{ { "copy", "convert" }, "f32[8,16]", KIND_COPY },
	{ { "convert", "transpose", "pad" }, "f32[8,16]", KIND_COPY },
	{ { "convert" }, "f32[8,16]", KIND_ELEMENTWISE }, /* a cast moves nothing */
	{ { "broadcast", "convert" }, "f32[8,16]", KIND_ELEMENTWISE },
	{ { "transpose", "convert", "add" }, "f32[8,16]", KIND_ELEMENTWISE },
	{ { "transpose", "gather" }, "f32[8,16]", KIND_GATHER },
	{ { "transpose", "sort" }, "f32[8,16]", KIND_SORT },
	{ { "transpose", "scatter", "convert" }, "f32[8,16]", KIND_SCATTER },
	{ { "copy", "reduce", "add" }, "f32[8,16]", KIND_REDUCE },
	{ { "gather", "multiply" }, "f32[8,16]", KIND_GATHER },
	{ { "scatter", "bitcast" }, "f32[8,16]", KIND_SCATTER },
	{ { "reduce", "dynamic-update-slice", "bitcast" }, "f32[8,16]", KIND_UPDATE },
	{ { "dynamic-update-slice", "add" }, "f32[8,16]", KIND_ELEMENTWISE },
	{ { "add", "all-gather" }, "f32[8,16]", KIND_ALL_GATHER },
	{ { "all-gather", "dot" }, "f32[8,16]", KIND_MATMUL },
	{ { "quantum-leap" }, "f32[8,16]", KIND_ELEMENTWISE },
	{ { "copy" }, "f32[8,16]{1,0:S(5)}", KIND_TRANSFER },
	{ { "dynamic-update-slice" }, "f32[8,16]{1,0:S(5)}", KIND_TRANSFER },
	{ { "add" }, "f32[8,16]{1,0:S(5)}", KIND_ELEMENTWISE },
};

static void kinds_of_fusions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fused) / sizeof(fused[0]); i++) {
		struct pb_instruction inside[6] = { { "p", "parameter", "f32[8,16]", 11, { 0 },
			{ 0 }, 0, { 0 } } };
		for (int k = 0; k < 4 && fused[i].opcodes[k]; k++)
			inside[k + 1] = (struct pb_instruction){ .name = "x",
				.opcode = fused[i].opcodes[k],
				.shape = "f32[8,16]",
				.id = 12 + k,
				.operands = { 11 + k } };
		const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "f", "fusion", fused[i].out, 2, { 1 }, { 1 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "fused", 1, inside }, { "main", 2, body },
			{ 0 } };
		enum op_kind kind = kind_of(c);
		if (kind != fused[i].kind)
			fail_msg("case %zu: %.*s", i, STR_ARG(op_kind_name(kind)));
	}
}

/* A comparator's ops are not what a sort does. */
static void fusions_of_libraries(void **state)
{
	static const struct {
		const char *target;
		enum op_kind kind;
	} cases[] = {
		{ "PartialReduce", KIND_SORT },
		{ "my_kernel", KIND_ELEMENTWISE },
	};
	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct pb_instruction inside[] = {
			{ "p", "parameter", "f32[8,16]", 11, { 0 }, { 0 }, 0, { 0 } },
			{ "r", "custom-call", "f32[8,16]", 12, { 11 }, { 9 }, 0,
				text_field(28, cases[k].target) },
			NO_ROW,
		};
		static const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[8,16]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "f", "fusion", "f32[8,16]", 2, { 1 }, { 1 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "adder", 9, adder }, { "fused", 1, inside },
			{ "main", 2, body }, { 0 } };
		assert_kind(kind_of(c), cases[k].kind);
	}
}

/* Kinds of ops that say it themselves, by their memory, or by their names. */
static void kinds_of_movers(void **state)
{
	static const struct {
		const char *opcode, *name, *in, *out;
		enum op_kind kind;
	} cases[] = {
		{ "copy", "c", "f32[8]", "f32[8]{0:S(5)}", KIND_TRANSFER },
		{ "copy-start", "c", "f32[8]{0:S(5)}", "(f32[8], f32[8]{0:S(5)}, u32[])",
			KIND_TRANSFER },
		{ "copy-start", "c", "f32[8]", "(f32[8]{0:S(1)}, f32[8], u32[])", KIND_COPY },
		{ "dynamic-slice", "c", "f32[8]{0:S(5)}", "f32[2]", KIND_TRANSFER },
		{ "custom-call", "splash_mha_fwd.1", "f32[8]", "f32[8]", KIND_ATTENTION },
		{ "conditional", "c", "f32[8]", "f32[8]", KIND_CONTROL },
		{ "collective-permute-done", "c", "f32[8]", "f32[8]", KIND_PERMUTE },
		{ "outfeed", "c", "f32[8]", "token[]", KIND_OUTFEED },
		{ "async-done", "c", "f32[8]", "f32[8]", KIND_CONTROL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_instruction body[] = {
			{ "a", "parameter", cases[i].in, 1, { 0 }, { 0 }, 0, { 0 } },
			{ cases[i].name, cases[i].opcode, cases[i].out, 2, { 1 }, { 0 }, 0, { 0 } },
			NO_ROW,
		};
		assert_kind(kind_alone_of(body), cases[i].kind);
	}
}

/* An async pair around one op is that op; around a slice it is a copy in the background. */
static void wrappers(void **state)
{
	static const struct {
		const char *opcode;
		enum op_kind kind;
	} cases[] = {
		{ "all-to-all", KIND_ALL_TO_ALL },
		{ "slice", KIND_COPY },
		{ "dynamic-update-slice", KIND_COPY },
		{ "exponential", KIND_ELEMENTWISE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_instruction inside[] = {
			{ "p", "parameter", "f32[8]", 11, { 0 }, { 0 }, 0, { 0 } },
			{ "o", cases[i].opcode, "f32[8]", 12, { 11 }, { 0 }, 0, { 0 } },
			NO_ROW,
		};
		static const struct pb_instruction body[] = {
			{ "a", "parameter", "f32[8]", 1, { 0 }, { 0 }, 0, { 0 } },
			{ "s", "async-start", "((f32[8]), f32[8], u32[])", 2, { 1 }, { 1 }, 0,
				{ 0 } },
			{ "u", "async-update", "((f32[8]), f32[8], u32[])", 3, { 2 }, { 0 }, 0,
				{ 0 } },
			{ "d", "async-done", "f32[8]", 4, { 3 }, { 0 }, 0, { 0 } },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "wrapped", 1, inside }, { "main", 2, body },
			{ 0 } };
		struct hlo_module *m = parse(c);
		for (ptrdiff_t k = 3; k < 6; k++)
			assert_kind(hlo_kind(m, k), cases[i].kind);
		assert_int_equal(hlo_async_start(m, 5), 3);
		assert_int_equal(hlo_async_start(m, 3), -1);
		struct hlo_costs *costs = hlo_costs_new(m, HLO_GPU, &keep);
		assert_number(hlo_cost(costs, 5).hbm_bytes, 0);
	}
}

static void branches_and_loops(void **state)
{
	static const struct pb_instruction small[] = {
		{ "p", "parameter", "f32[8]", 11, { 0 }, { 0 }, 0, { 0 } },
		{ "x", "negate", "f32[8]", 12, { 11 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction large[] = {
		{ "q", "parameter", "f32[8]", 21, { 0 }, { 0 }, 0, { 0 } },
		{ "y", "negate", "f32[8]", 22, { 21 }, { 0 }, 0, { 0 } },
		{ "z", "add", "f32[8]", 23, { 22, 21 }, { 0 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_instruction body[] = {
		{ "a", "parameter", "f32[8]", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "c", "conditional", "f32[8]", 2, { 1 }, { 1, 2 }, 0, { 0 } },
		{ "w", "while", "f32[8]", 3, { 2 }, { 1, 2 }, 0, { 0 } },
		{ "k", "call", "f32[8]", 4, { 3 }, { 1 }, 0, { 0 } },
		{ "n", "call", "f32[8]", 5, { 4 }, { 77 }, 0, { 0 } },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "small", 1, small }, { "large", 2, large },
		{ "main", 3, body }, { 0 } };
	(void)state;
	struct hlo_module *m = parse(c);
	struct hlo_costs *costs = hlo_costs_new(m, HLO_CPU, &keep);
	ptrdiff_t first = m->computations[2].first;
	assert_number(hlo_cost(costs, first + 1).flops, 16);
	assert_number(hlo_cost(costs, first + 1).hbm_bytes, 64 + 96);
	assert_number(hlo_cost(costs, first + 2).flops, 8 + 16);
	assert_number(hlo_cost(costs, first + 3).flops, 8);
	assert_int_equal(hlo_cost(costs, first + 4).flops_bound, COST_UNKNOWN);
	assert_kind(hlo_kind(m, first + 2), KIND_CONTROL);
	assert_kind(hlo_kind(m, first + 3), KIND_ELEMENTWISE); /* it does one thing only */
}

/* Computations that call the next one twice: costs are kept, walks have a budget. */
static void shared_callees(void **state)
{
	enum { DEEP = 100 };
	static struct pb_instruction i[DEEP][4];
	static struct pb_computation c[DEEP + 1];
	(void)state;
	for (int k = 0; k < DEEP; k++) {
		int64_t id = k * 10 + 1;
		i[k][0] = (struct pb_instruction){
			.name = "p", .opcode = "parameter", .shape = "f32[8]", .id = id
		};
		for (int n = 1; n < 3; n++)
			i[k][n] = (struct pb_instruction){ .name = "f",
				.opcode = "fusion",
				.shape = "f32[8]",
				.id = id + n,
				.operands = { id },
				.called = { k } };
		c[k] = (struct pb_computation){ "c", k + 1, i[k] };
	}
	i[0][1].opcode = i[0][2].opcode = "negate";
	struct hlo_cost cost = cost_on(HLO_GPU, c);
	assert_number(cost.flops, ldexp(16, DEEP - 2));
	kind_of(c);
}

/* XLA's own cost analysis of programs compiled for TPUs; it sums in single precision. */
static void xla_agrees(void **state)
{
	static const struct {
		const char *path;
		double xla, matmul;
	} files[] = {
		{ "fsdp_one_layer.tpu7x-2x2x1", 171863703552.0, 171798691840.0 },
		{ "fsdp_scan.v5e-2x4", 30130831360.0, 30064771072.0 },
		{ "matmul_bf16.v5e-2x4", 17179869184.0, 17179869184.0 },
		{ "matmul_f32_highest.v6e-2x4", 17179869184.0, 17179869184.0 },
		{ "moe_all_to_all.v5p-2x2x2", 4309647360.0, 4294967296.0 },
		{ "scan_layers.v6e-2x4", 4307550208.0, 4294967296.0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct str path = arena_fmt(&keep, "tests/profiles/hlo/%s.hlo.pb", files[i].path);
		struct hlo_module *m = pb_file(&keep, path.p, &err);
		if (!m && err.id == DIAG_FILE_OPEN)
			skip(); /* run from the repository's root */
		if (!m)
			fail_msg("%s", err.text);
		struct hlo_costs *costs = hlo_costs_new(m, HLO_TPU, &keep);
		const struct hlo_computation *entry = &m->computations[m->entry];
		double matmul = 0, all = 0;
		for (ptrdiff_t k = entry->first; k < entry->first + entry->count; k++) {
			struct hlo_cost c = hlo_cost(costs, k);
			matmul += c.matmul_flops;
			all += c.matmul_flops + c.other_flops;
		}
		assert_number(matmul, files[i].matmul);
		if (fabs(all - files[i].xla) > files[i].xla * 1e-7)
			fail_msg("%s: %.0f", files[i].path, all);
	}
}

static void profile_of_transformer_engine(void **state)
{
	static const struct {
		const char *name;
		double flops;
	} names[] = {
		{ "gemm_fusion_dot", 103079215104.0 },
		{ "gemm_fusion_dot.7", 103079215104.0 },
		{ "custom-call.1", 103079215104.0 },
		/* Causal: 2048 queries see (1 + 2048) / 2 keys each. */
		{ "te_fused_attn_forward_ffi.10", 34376515584.0 },
		{ "te_fused_attn_backward_ffi.12", 85941288960.0 },
	};
	(void)state;
	struct hlo_module *m = pb_profile(&keep,
		PB_PROFILES "amd-te-fused-attn/plugins/profile/test/934987a2fc2f.xplane.pb",
		"jit_loss_fn(17)", &err);
	if (!m) {
		print_message("the shared profiles are not here\n");
		skip();
	}
	struct hlo_costs *costs = hlo_costs_new(m, HLO_GPU, &keep);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_number(hlo_cost(costs, hlo_find(m, str_from(names[i].name))).flops,
			names[i].flops);
}

static void profile_of_tpu(void **state)
{
	(void)state;
	struct hlo_module *m = pb_profile(&keep,
		PB_PROFILES "tpu-inference-2/plugins/profile/test/tpu_inference_2.xplane.pb",
		"jit_f(12190760917235803885)", &err);
	if (!m) {
		print_message("the shared profiles are not here\n");
		skip();
	}
	/* What libtpu itself wrote beside the op. */
	struct hlo_cost c = hlo_cost(
		hlo_costs_new(m, HLO_TPU, &keep), hlo_find(m, STR("broadcast_add_fusion.2")));
	assert_number(c.flops, 1342177280);
	assert_number(c.hbm_bytes, 10737418240);
	assert_kind(hlo_kind(m, hlo_find(m, STR("copy-done.1"))), KIND_TRANSFER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dots),
		cmocka_unit_test(dots_that_do_not_fit),
		cmocka_unit_test(passes),
		cmocka_unit_test(precision_of_calls),
		cmocka_unit_test(positions),
		cmocka_unit_test(positions_of_note),
		cmocka_unit_test(convolution_ops),
		cmocka_unit_test(library_calls),
		cmocka_unit_test(workspaces),
		cmocka_unit_test(convolution_calls),
		cmocka_unit_test(ragged_dots),
		cmocka_unit_test(plain_ops),
		cmocka_unit_test(transforms),
		cmocka_unit_test(unknown_ops),
		cmocka_unit_test(dynamic_shapes_are_bounds),
		cmocka_unit_test(spaces),
		cmocka_unit_test(feeds),
		cmocka_unit_test(halves),
		cmocka_unit_test(fusions_touch_slices),
		cmocka_unit_test(fusions_read_no_padding),
		cmocka_unit_test(fusions_write_updates),
		cmocka_unit_test(fusions_write_inner_updates),
		cmocka_unit_test(fusions_hand_elements_on),
		cmocka_unit_test(fusions_of_matmuls),
		cmocka_unit_test(kinds_of_fusions),
		cmocka_unit_test(fusions_of_libraries),
		cmocka_unit_test(kinds_of_movers),
		cmocka_unit_test(wrappers),
		cmocka_unit_test(branches_and_loops),
		cmocka_unit_test(shared_callees),
		cmocka_unit_test(xla_agrees),
		cmocka_unit_test(profile_of_transformer_engine),
		cmocka_unit_test(profile_of_tpu),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
