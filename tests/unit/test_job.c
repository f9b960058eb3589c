/* measure/job: what job files come to, by hand and by published figures, and their mistakes. */
#include <math.h>
#include <string.h>

#include "measure/job.h"
#include "tests/unit/keep.h"

static struct diag err;

static struct job_file job_of(const char *text)
{
	struct job_file job;
	if (!job_parse(STR("job.yaml"), str_from(text), &keep, &job, &err))
		fail_msg("%s", err.text);
	return job;
}

#define assert_near(a, b) assert_true(fabs((double)(a) - (b)) <= 1e-9 * fabs((double)(b)))
#define assert_unknown(a) assert_true(isnan(a))

/* ---- figures --------------------------------------------------------------------------------- */

/* 540.35e9 parameters on 6144 TPU v4 at 238.3k tokens/s: 46.2%, 45.7% without attention. */
static void test_palm(void **state)
{
	static const char *const attention[] = { "full", "none", "causal" };
	static const double mfu[] = { 0.4623, 0.4573, 0.4598 };
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct job_file j = job_of(arena_fmt(&keep,
			"version: 1\ntokens_per_step: 238.3e3\nmodel: { params: 540.35e9, "
			"layers: 118, heads: 48, head_dim: 256, seq_len: 2048, attention: %s }",
			attention[i])
						   .p);
		double seen = job_model_flops(&j, PHASE_TRAIN) / (6144 * 275e12);
		assert_true(fabs(seen - mfu[i]) < 5e-5);
	}
}

/* 6P + 12LHQT: 1000 tokens, P = 10, L = 2, HQ = 3 x 4, T = 5. */
static void test_model_flops(void **state)
{
	struct job_file j = job_of("version: 1\ntokens_per_step: 1000\nmodel: { params: 10, "
				   "layers: 2, heads: 3, head_dim: 4, seq_len: 5, remat: block }");
	(void)state;
	assert_near(job_model_flops(&j, PHASE_TRAIN), 1000.0 * (60 + 12 * 2 * 12 * 5));
	assert_near(job_hardware_flops(&j, PHASE_TRAIN), 1000.0 * (80 + 16 * 2 * 12 * 5));
	assert_near(job_model_flops(&j, PHASE_INFERENCE), 1000.0 * (20 + 4 * 2 * 12 * 5));
	assert_near(job_hardware_flops(&j, PHASE_INFERENCE), job_model_flops(&j, PHASE_INFERENCE));
	assert_unknown(job_model_flops(&j, PHASE_UNKNOWN));
}

static void test_what_is_not_said_is_unknown(void **state)
{
	struct job_file j = job_of("version: 1\nmodel: { params: 10 }\ntokens_per_step: 10");
	(void)state;
	assert_unknown(job_model_flops(&j, PHASE_TRAIN)); /* attention */
	j = job_of("version: 1\nmodel: { params: 10, attention: none }");
	assert_unknown(job_model_flops(&j, PHASE_TRAIN)); /* tokens */
	j = job_of("version: 1\nmodel: { params: 10, attention: none }\ntokens_per_step: 10");
	assert_near(job_model_flops(&j, PHASE_TRAIN), 600);
	assert_unknown(job_hardware_flops(&j, PHASE_TRAIN)); /* remat */
	assert_unknown(job_bubble(&j));
	assert_unknown(job_memory_bytes(&j, 8));
}

static void test_variants(void **state)
{
	struct job_file j = job_of("version: 1\nglobal_batch: 4\nmodel: { params: 100, "
				   "active_params: 10, attention: none, seq_len: 8 }");
	(void)state;
	assert_near(job_tokens(&j), 32);
	assert_near(job_model_flops(&j, PHASE_TRAIN), 32 * 60); /* only experts that are used */
	j = job_of("version: 1\ntokens_per_step: 32\nmodel: { flops_per_token: 7 }");
	assert_near(job_model_flops(&j, PHASE_TRAIN), 224);
	j = job_of("version: 1\ntokens_per_step: 1\nmodel: { params: 1, layers: 1, hidden: 6, "
		   "seq_len: 2 }");
	assert_near(job_model_flops(&j, PHASE_TRAIN), 6 + 12 * 6 * 2);
}

/* 7e9 parameters with Adam in mixed precision are 112 GB; over 8 devices by ZeRO's stages. */
static void test_state(void **state)
{
	static const double gb[] = { 112, 38.5, 26.25, 14 };
	(void)state;
	for (int stage = 0; stage < 4; stage++) {
		struct job_file j = job_of(arena_fmt(&keep,
			"version: 1\nmodel: { params: 7e9 }\nmemory: { optimizer: adam, zero: %d, "
			"shards: 8, activations: 0 }",
			stage)
						   .p);
		assert_near(job_memory_bytes(&j, 8), gb[stage] * 1e9);
	}
	struct job_file f32 = job_of("version: 1\nmodel: { params: 7e9 }\nmemory: { "
				     "optimizer: adam-f32, model_shards: 2, activations: 0 }");
	assert_near(job_memory_bytes(&f32, 8), 56e9);
}

/* 4M tokens, hidden 8192, 64 layers: 84 TB with everything kept, 4.2 TB with blocks alone. */
static void test_activations(void **state)
{
	static const struct {
		const char *remat;
		double tb;
	} cases[] = { { "none", 85.9 }, { "matmuls", 30.06 }, { "block", 4.295 } };
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct job_file j = job_of(arena_fmt(&keep,
			"version: 1\ntokens_per_step: 4096000\nmodel: { params: 1, layers: 64, "
			"hidden: 8192, remat: %s }\nmemory: { optimizer: adam }",
			cases[i].remat)
						   .p);
		assert_true(fabs(job_memory_bytes(&j, 1) / 1e12 / cases[i].tb - 1) < 1e-3);
		assert_near((job_memory_bytes(&j, 256) - 16) * 256, job_memory_bytes(&j, 1) - 16);
	}
	struct job_file serving = job_of("version: 1\nphase: inference\nmodel: { params: 1e9 }\n"
					 "memory: { optimizer: none, extra: 1 GiB }");
	assert_near(job_memory_bytes(&serving, 4), 2e9 + 1073741824.0);
}

static void test_bubble(void **state)
{
	struct job_file j = job_of("version: 1\npipeline: { stages: 4, microbatches: 4 }");
	(void)state;
	assert_near(job_bubble(&j), 3.0 / 7);
	j = job_of("version: 1\npipeline: { stages: 4, microbatches: 4, repeats: 2 }");
	assert_near(job_bubble(&j), 3.0 / 11);
	j = job_of("version: 1\npipeline: { stages: 1, microbatches: 4 }");
	assert_near(job_bubble(&j) + 1, 1);
}

static void test_words(void **state)
{
	struct job_file j = job_of("version: 1\nworkload: w\nowner: o\ncommit: 1234567\n"
				   "step: train*\n"
				   "labels: { branch: main, size: 7b }\nmesh: { data: 4, model: 2 "
				   "}\nphase: inference\nhosts: 2\nslices: 1\ntopology: 2x4\n"
				   "versions: { jax: 0.10, jaxlib: 0.10.2, runtime: libtpu 1 }\n");
	(void)state;
	assert_string_equal(arena_z(&keep, j.commit), "1234567");
	assert_string_equal(arena_z(&keep, j.labels), "branch=main,size=7b");
	assert_string_equal(arena_z(&keep, j.mesh), "data=4,model=2");
	assert_string_equal(arena_z(&keep, j.versions.jax), "0.10");
	assert_string_equal(arena_z(&keep, j.versions.jaxlib), "0.10.2");
	assert_string_equal(arena_z(&keep, j.versions.runtime), "libtpu 1");
	assert_near(j.devices, 8);
	assert_string_equal(arena_z(&keep, j.step), "train*");
	assert_int_equal(j.phase, PHASE_INFERENCE);
}

/* Sides in the words of Cloud TPU; whatever else is for people. */
static void test_topology(void **state)
{
	static const struct {
		const char *text;
		int64_t sides[JOB_TORUS_AXES];
		double chips;
	} cases[] = {
		{ "4x8", { 4, 8 }, 32 },
		{ "v5p:4x4x8", { 4, 4, 8 }, 128 },
		{ "two racks", { 0 }, 0 },
		{ "8", { 0 }, 0 },
		{ "4x", { 0 }, 0 },
		{ "4x8x", { 0 }, 0 },
		{ "0x8", { 0 }, 0 },
		{ "2x2x2x2", { 0 }, 0 },
		{ "4x99999", { 0 }, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_fmt(&keep, "version: 1\ntopology: \"%s\"\n", cases[i].text);
		struct job_file j = job_of(arena_z(&keep, text));
		for (int k = 0; k < JOB_TORUS_AXES; k++)
			assert_int_equal(j.torus[k], cases[i].sides[k]);
		assert_true(job_torus_chips(&j) == cases[i].chips);
	}
}

/* data=2, expert=3, model=4: ids are data x 12 + expert x 4 + model. */
static void test_axes(void **state)
{
	static const struct {
		int64_t size, stride;
		const char *name;
	} cases[] = {
		{ 4, 1, "model" },
		{ 3, 4, "expert" },
		{ 2, 12, "data" },
		{ 12, 1, "expert x model" },
		{ 6, 4, "data x expert" },
		{ 24, 1, "data x expert x model" },
		{ 2, 1, NULL },
		{ 4, 2, NULL },
		{ 1, 1, NULL },
		{ 8, 1, NULL },
	};
	struct job_file j = job_of("version: 1\nmesh: { data: 2, expert: 3, model: 4 }");
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str name = job_axis_name(&j, cases[i].size, cases[i].stride, &keep);
		if (!str_eq(name, str_from(cases[i].name)) || !name.p != !cases[i].name)
			fail_msg("%d, %d: %s", (int)cases[i].size, (int)cases[i].stride,
				name.p ? arena_z(&keep, name) : "none");
	}
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "job.yaml: the file is empty" },
		{ "owner: me", "job.yaml:1:1: a job file begins with 'version: 1'" },
		{ "version: 2", "job.yaml:1:10: this rooflint reads job files of version 1" },
		{ "version: 1\nownr: me",
			"job.yaml:2:1: a job file has no key 'ownr'; did you mean 'owner'?" },
		{ "version: 1\nmodel: { parms: 1 }",
			"job.yaml:2:10: model has no key 'parms'; did you" },
		{ "version: 1\nowner: \"\"", "2:8: owner has no value" },
		{ "version: 1\nowner: [a]", "2:8: owner takes one value" },
		{ "version: 1\nphase: training",
			"job.yaml:2:8: phase is train or inference; did you mean 'train'?" },
		{ "version: 1\nhosts: 1.5", "job.yaml:2:8: hosts is a whole number from 1" },
		{ "version: 1\nhosts: '2'", "without quotes" },
		{ "version: 1\nhosts: 0", "hosts is a whole number from 1" },
		{ "version: 1\nmodel: { params: 7 GiB }", "params is a number above 0" },
		{ "version: 1\nmodel: 7", "model is a map of keys" },
		{ "version: 1\nmodel: { heads: 7 }", "heads and head_dim go together" },
		{ "version: 1\nmodel: { params: 1, active_params: 2 }", "2:36: active_params are" },
		{ "version: 1\npipeline: { stages: 7 }", "a pipeline has stages and microbatches" },
		{ "version: 1\ndevices: 4\nmesh: { a: 3 }", "the mesh has 3 devices, and devices" },
		{ "version: 1\nlabels: { a: 'x,y' }", "a takes one value without ','" },
		{ "version: 1\nmemory: { shards: 7 }",
			"memory needs model.params and an optimizer" },
		{ "version: 1\nmodel: { params: 1 }\nmemory: { optimizer: adam, zero: 3 }",
			"zero says what is sharded" },
		{ "version: 1\nmodel: { params: 1 }\nmemory: { optimizer: adam, shards: 3 }",
			"shards needs zero" },
		{ "version: 1\nmodel: { params: 1 }\nmemory: { optimizer: adam }",
			"the activations need model.remat" },
		{ "version: 1\nmemory: { expected: 1 GiB, optimizer: adam }",
			"memory is either expected, or counted" },
		{ "version: 1\nmemory: { expected: 12 s }", "expected is bytes, as in 12 GiB" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_file job;
		struct str text = str_from(cases[i].text);
		assert_false(job_parse(STR("job.yaml"), text, &keep, &job, &err));
		assert_int_equal(err.id, DIAG_JOB_FILE);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s\nshould say: %s", err.text, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_palm),
		cmocka_unit_test(test_model_flops),
		cmocka_unit_test(test_what_is_not_said_is_unknown),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_activations),
		cmocka_unit_test(test_bubble),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_topology),
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_mistakes),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
