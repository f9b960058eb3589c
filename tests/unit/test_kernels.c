/* measure/kernels: which calls a cost is for, and the kernels that ship, counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/sql.h"
#include "hardware/roofline.h"
#include "hlo/text.h"
#include "measure/estimate.h"
#include "measure/kernels.h"

static struct arena keep;
static struct diag err;

static int setup(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&keep);
	return 0;
}

/* One instruction, with the types of its operands. */
static struct hlo_module *module_of(const char *text)
{
	struct hlo_module *m = hlo_text_instruction(STR("text"), str_from(text), &keep, &err);
	if (!m)
		fail_msg("%s", err.text);
	return m;
}

static ptrdiff_t call_of(const struct hlo_module *m)
{
	return m->computations[m->entry].root;
}

static void names(void **state)
{
	static const struct {
		const char *name;
		bool fits;
	} cases[] = { { "tpu_custom_call", true }, { "tpu_*", true }, { "mine", true },
		{ "*my_attention*", true }, { "other", false }, { "", false } };
	struct hlo_module *m =
		module_of("%mine.3 = bf16[8,64]{1,0} custom-call(bf16[8,64]{1,0} %q), "
			  "custom_call_target=\"tpu_custom_call\", "
			  "metadata={op_name=\"jit(f)/layer_0/my_attention/pallas_call\"}");
	const struct hlo_instruction *call = &m->instructions[call_of(m)];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_cost items[] = { { .name = STR("other one") },
			{ .name = str_from(cases[i].name) } };
		struct op_costs costs = { items, 2, 2 };
		struct kernels *k = kernels_new(&costs, &keep);
		assert_true((kernel_find(k, call) == &items[1]) == cases[i].fits);
		assert_null(kernel_find(k, &m->instructions[call->operands[0]]));
		kernels_free(k);
	}
	struct op_cost twice[] = { { .name = STR("tpu_*") }, { .name = STR("*"), .kind = 1 } };
	struct op_costs costs = { twice, 2, 2 };
	struct kernels *k = kernels_new(&costs, &keep);
	assert_ptr_equal(kernel_find(k, call), &twice[1]);
	assert_int_equal(kernel_kind(k, call, KIND_CUSTOM), KIND_MATMUL);
	assert_int_equal(kernel_kind(NULL, call, KIND_CUSTOM), KIND_CUSTOM);
	kernels_free(k);
}

/* Every formula of the file that ships can be prepared, and every kernel has a source. */
static void the_file(void **state)
{
	struct op_costs known;
	(void)state;
	if (!kernels_known(&keep, &known, &err))
		fail_msg("%s", err.text);
	assert_true(known.count > 10);
	for (ptrdiff_t i = 0; i < known.count; i++) {
		const struct op_cost *c = &known.items[i];
		const struct formula *all[] = { &c->flops, &c->bytes, &c->dtype, &c->slowest };
		struct formula again;
		struct sql_fault fault;
		assert_true(c->source.len > 0 && c->flops.text.len > 0);
		for (size_t k = 0; k < 4; k++)
			if (all[k]->text.p && !formula_parse(all[k]->text, &keep, &again, &fault))
				fail_msg("%.*s: %.*s", STR_ARG(c->name), STR_ARG(fault.text));
	}
}

#define KERNEL "custom_call_target=\"tpu_custom_call\""

/* As libtpu compiles them, and as a trace of vLLM has them. */
static const struct {
	const char *text;
	enum op_kind kind;
	enum cost_bound bound;
	enum dtype dtype;
	double flops;
} kernels[] = {
	{ "%quantized_matmul_kernel_512_6400_1024.64 = bf16[1024,25600]{1,0} custom-call("
	  "bf16[1024,5120]{1,0} %f, f4e2m1fn[25600,5120]{1,0} %w, f32[10,1,25600]{2,1,0} "
	  "%s), " KERNEL,
		KIND_MATMUL, COST_EXACT, DTYPE_F4E2M1FN, 2. * 1024 * 5120 * 25600 },
	{ "%flash_attention.1 = bf16[2,8,1024,128]{3,2,1,0} custom-call("
	  "bf16[2,8,1024,128]{3,2,1,0} %q, bf16[2,8,2048,128]{3,2,1,0} %k, "
	  "bf16[2,8,2048,128]{3,2,1,0} %v), " KERNEL,
		KIND_ATTENTION, COST_UPPER, DTYPE_BF16, 4. * 2 * 8 * 1024 * 2048 * 128 },
	{ "%flash_mha_bwd_dkv_block_q_major_128.1 = (bf16[2,8,2048,128]{3,2,1,0}, "
	  "bf16[2,8,2048,128]{3,2,1,0}) custom-call(bf16[2,8,2048,128]{3,2,1,0} %q, "
	  "bf16[2,8,2048,128]{3,2,1,0} %k, bf16[2,8,2048,128]{3,2,1,0} %v), " KERNEL
	  ", metadata={op_name=\"jit(f)/transpose(jvp(jit(flash_attention)))/"
	  "flash_mha_bwd_dkv_block_q_major=128/pallas_call\"}",
		KIND_ATTENTION, COST_UPPER, DTYPE_BF16, 8. * 2 * 8 * 2048 * 2048 * 128 },
	{ "%splash_mha_fwd_residuals.1 = (f32[2,128,128]{2,1,0}, bf16[2,8,2048,128]{3,2,1,0}) "
	  "custom-call(s8[1,16,16]{2,1,0} %a, s8[1,16,16]{2,1,0} %b, "
	  "bf16[2,8,2048,128]{3,2,1,0} %q, bf16[2,8,2048,128]{3,2,1,0} %k, "
	  "bf16[2,8,2048,128]{3,2,1,0} %v, s32[2048,128]{1,0} %i), " KERNEL,
		KIND_ATTENTION, COST_UPPER, DTYPE_BF16, 4. * 2 * 8 * 2048 * 2048 * 128 },
	{ "%transpose_jvp_jit_gmm___.2 = bf16[2048,1024]{1,0} custom-call(s32[9]{0} %a, "
	  "s32[11]{0} %b, s32[11]{0} %c, s32[1]{0} %d, bf16[2048,512]{1,0} %l, "
	  "bf16[8,1024,512]{2,1,0} %r), " KERNEL,
		KIND_MATMUL, COST_UPPER, DTYPE_BF16, 2. * 2048 * 1024 * 512 },
	{ "%transpose_jvp_jit_tgmm___.2 = bf16[8,1024,512]{2,1,0} custom-call(s32[9]{0} %a, "
	  "s32[11]{0} %b, bf16[2048,1024]{1,0} %l, bf16[2048,512]{1,0} %r), " KERNEL,
		KIND_MATMUL, COST_UPPER, DTYPE_BF16, 2. * 2048 * 1024 * 512 },
	{ "%matmul.1 = bf16[1024,2048]{1,0} custom-call(bf16[1024,512]{1,0} %a, "
	  "bf16[512,2048]{1,0} %b), " KERNEL,
		KIND_MATMUL, COST_EXACT, DTYPE_BF16, 2. * 1024 * 512 * 2048 },
	/* 256 sequences of 4 tokens each: 1 + 2 + 3 + 4 pairs. */
	{ "%RPA-bq_32-bkvp_64-p_64-.1 = (bf16[4,1024,3,2,128]{4,3,2,1,0}, "
	  "bf16[7007,64,4,2,128]{4,3,2,1,0}) custom-call(s32[]{} %b, s32[256]{0} %l, "
	  "s32[131072]{0} %p, s32[257]{0} %c, s32[3]{0} %d, s32[3]{0} %e, s32[4]{0} %f, "
	  "s32[6]{0} %g, bf16[4,1024,3,2,128]{4,3,2,1,0} %q, bf16[1024,4,2,128]{3,2,1,0} %n, "
	  "bf16[7007,64,4,2,128]{4,3,2,1,0} %k), " KERNEL,
		KIND_ATTENTION, COST_LOWER, DTYPE_BF16, 4. * 24 * 128 * 256 * (1 + 2 + 3 + 4) },
};

static void known_kernels(void **state)
{
	struct kernels *k = kernels_new(NULL, &keep);
	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct hlo_module *m = module_of(kernels[i].text);
		const struct hlo_instruction *call = &m->instructions[call_of(m)];
		struct kernel_work w;
		if (!kernel_work(k, m, call_of(m), &w))
			fail_msg("%.*s is not known", STR_ARG(call->name));
		if (w.flops != kernels[i].flops)
			fail_msg("%.*s: %g FLOPs", STR_ARG(call->name), w.flops);
		assert_int_equal(w.source, COST_OF_KERNELS);
		assert_int_equal(w.bound, kernels[i].bound);
		assert_int_equal(w.dtype, kernels[i].dtype);
		assert_int_equal(kernel_kind(k, call, KIND_CUSTOM), kernels[i].kind);
	}
	kernels_free(k);
}

/* Names of kernels mean nothing elsewhere, and shapes that do not fit nothing at all. */
static void strangers(void **state)
{
	struct kernels *k = kernels_new(NULL, &keep);
	struct kernel_work w;
	struct hlo_module *m = module_of("%gmm.1 = bf16[8,8]{1,0} custom-call(bf16[8,8]{1,0} %a), "
					 "custom_call_target=\"TopK\"");
	(void)state;
	assert_false(kernel_work(k, m, call_of(m), &w));
	m = module_of("%mine.1 = bf16[8,8]{1,0} custom-call(bf16[8,8]{1,0} %a), " KERNEL
		      ", metadata={op_name=\"jit(gmm)/inner/mine/pallas_call\"}");
	assert_false(kernel_work(k, m, call_of(m), &w));
	m = module_of("%matmul.1 = bf16[8,8]{1,0} custom-call(bf16[8,64]{1,0} %a, "
		      "bf16[8,64]{1,0} %b, bf16[8,64]{1,0} %c), " KERNEL);
	assert_true(kernel_work(k, m, call_of(m), &w) && w.has_flops && w.flops == 2. * 8 * 8 * 64);
	m = module_of("%matmul.1 = bf16[8,9]{1,0} custom-call(bf16[8,64]{1,0} %a, "
		      "bf16[8,64]{1,0} %b), " KERNEL);
	assert_true(kernel_work(k, m, call_of(m), &w) && w.has_flops && isnan(w.flops));
	kernels_free(k);
}

static void authors(void **state)
{
	struct kernels *k = kernels_new(NULL, &keep);
	struct kernel_work w;
	struct hlo_module *m = module_of(
		"%mine.1 = f32[256,256]{1,0} custom-call(s32[4]{0} %l, bf16[256,256]{1,0} "
		"%x), " KERNEL
		", backend_config={\"custom_call_config\":{\"body\":\"TUzv\",\"cost_estimate\":"
		"{\"flops\":\"33554432\",\"transcendentals\":\"7\",\"bytes_accessed\":\"12345\","
		"\"remote_bytes_transferred\":\"0\"},\"needs_layout_passes\":true}}");
	(void)state;
	assert_true(kernel_work(k, m, call_of(m), &w));
	assert_int_equal(w.source, COST_OF_AUTHOR);
	assert_int_equal(w.bound, COST_UPPER);
	assert_int_equal(w.dtype, DTYPE_BF16);
	assert_true(w.flops == 33554432 && w.bytes == 12345);
	m = module_of("%mine.1 = f32[8]{0} custom-call(f32[8]{0} %x), " KERNEL
		      ", backend_config={\"cost_estimate\":{\"flops\":\"-1\"}}");
	assert_false(kernel_work(k, m, call_of(m), &w));
	kernels_free(k);
}

/* f4 is multiplied as f8 where a chip has no f4, and may be multiplied as its other factor. */
static void rates(void **state)
{
	struct chip_hints none = CHIP_HINTS_NONE;
	struct chip_set *set = chip_set_new(&keep);
	struct chip_device d = chip_device(chip_find(set, STR("tpu_v7x"), &err), &none);
	struct kernels *k = kernels_new(NULL, &keep);
	struct hlo_module *m = module_of(kernels[0].text);
	struct op_work work = { .dtype = DTYPE_BF16, .passes = 1 };
	struct kernel_work w;
	(void)state;
	assert_true(kernel_work(k, m, call_of(m), &w));
	assert_int_equal(w.slowest, DTYPE_BF16);
	estimate_kernel(&d, &w, &work);
	assert_int_equal(work.dtype, DTYPE_F8E4M3FN);
	struct roofline r = roofline_op(&d, &work);
	/* 268.4 GFLOP at half a chip's 4614 TFLOP/s; the trace's 199.5 us beat bf16's 233. */
	assert_true(fabs(r.roofline_s / 116.36e-6 - 1) < 1e-3);
	/* And what an op takes to start. */
	assert_true(fabs((r.attainable_s - 0.5e-6) / 232.7e-6 - 1) < 1e-3);
	assert_int_equal(roofline_wider(&d, DTYPE_S4), DTYPE_BF16);
	assert_int_equal(roofline_wider(&d, DTYPE_F32), DTYPE_F32);
	kernels_free(k);
	arena_free(&set->own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(the_file),
		cmocka_unit_test(known_kernels),
		cmocka_unit_test(strangers),
		cmocka_unit_test(authors),
		cmocka_unit_test(rates),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
