/*
 * measure/diff: ops matched by what they are, in the order of the time they lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "measure/diff.h"
#include "report/diff.h"
#include "report/html.h"
#include "tests/unit/rows.h"

static struct arena keep;
static struct tables base, head;
static struct op_diff d;

static int fresh(void **state)
{
	(void)state;
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	base = head = (struct tables){ 0 };
	return 0;
}

static void diff(const char *before, const char *after)
{
	rows_tell(&base, &keep, before);
	rows_tell(&head, &keep, after);
	diff_ops(&base, &head, &keep, &d);
}

#define assert_str(s, z)     assert_string_equal(arena_z(&keep, (s)), (z))
#define OP(key, mean, count) "ops key=" key " name=" key " mean_s=" mean " per_step=" count

static void test_new_and_gone(void **state)
{
	(void)state;
	diff(OP("a", "3e-3", "2") "\n" OP("gone", "1e-3", "1"),
		OP("new", "2e-3", "4") "\n" OP("a", "3e-3", "2"));
	assert_int_equal(d.count, 2);
	assert_str(d.items[0].change, "new");
	assert_true(fabs(d.items[0].lost_s - 8e-3) < 1e-15);
	assert_int_equal(d.counts[CHANGE_SAME], 1);
	assert_str(d.items[1].change, "gone");
	assert_true(fabs(d.items[1].lost_s + 1e-3) < 1e-15);
	assert_true(fabs(d.lost_s - 7e-3) < 1e-15);
}

/* Two layers of one key are one op, named after the heavier. */
static void test_ops_of_one_key(void **state)
{
	(void)state;
	diff("ops key=k name=x.1 mean_s=1e-3 per_step=1\nops key=k name=x.2 mean_s=2e-3 per_step=1",
		"ops key=k name=y.9 mean_s=6e-3 per_step=1");
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].change, "slower");
	assert_true(fabs(d.items[0].lost_s - 3e-3) < 1e-15);
	assert_true(d.items[0].base_per_step == 2 && d.items[0].head_per_step == 1);
	diff_ops(&head, &base, &keep, &d);
	assert_str(d.items[0].name, "x.2");
}

/* What makes most of the change gives it its word: 60 runs for 30, or 20% longer each. */
static void test_more_runs_are_not_slower(void **state)
{
	static const char before[] = OP("a", "1e-3", "30") "\n" OP("b", "1e-3", "30");
	static const char after[] = OP("a", "1.2e-3", "60") "\n" OP("b", "1.2e-3", "31");
	(void)state;
	diff(before, after);
	assert_str(d.items[0].change, "more-runs");
	assert_str(d.items[1].change, "slower");
	diff_ops(&head, &base, &keep, &d);
	assert_int_equal(d.counts[CHANGE_FEWER], 1);
	assert_int_equal(d.counts[CHANGE_FASTER], 1);
}

static void test_time_between_ops_is_a_kind(void **state)
{
	(void)state;
	diff("run step_time_s=0.004\n" OP("a", "1e-3", "2"),
		"run step_time_s=0.026\n" OP("a", "1e-3", "2"));
	assert_str(d.kinds[0].kind, "between ops");
	assert_true(fabs(d.kinds[0].base_s - 0.002) < 1e-12);
	assert_true(fabs(d.kinds[0].head_s - 0.024) < 1e-12);
	assert_int_equal(d.kinds_changed, 1);
	assert_str(diff_headline(&d, &keep),
		"A step takes 6.5 times as long: 26.0 ms, was 4.00 ms; no op explains it, the time "
		"between ops does");
}

/* Of four devices one takes 3.9 ms and the others 3.0 ms, each within 0.02 ms from step to step. */
static void test_one_slow_device_is_no_noise(void **state)
{
	static const char even[] = OP("a", "3e-3", "6") " lo_s=2.99e-3 hi_s=3.01e-3 least_s=2.98e-3"
							" most_s=3.02e-3";
	static const char slow[] = OP("a", "3.225e-3", "6") " lo_s=2.99e-3 hi_s=3.91e-3"
							    " least_s=3.205e-3 most_s=3.245e-3";
	static const char jumpy[] = OP("a", "3.225e-3", "6") " lo_s=2.99e-3 hi_s=3.91e-3"
							     " least_s=2.98e-3 most_s=3.92e-3";
	(void)state;
	diff(even, slow);
	assert_int_equal(d.counts[CHANGE_SLOWER], 1);
	diff_ops(&head, &base, &keep, &d);
	assert_int_equal(d.counts[CHANGE_FASTER], 1);
	head = (struct tables){ 0 };
	rows_tell(&head, &keep, jumpy);
	diff_ops(&base, &head, &keep, &d);
	assert_int_equal(d.counts[CHANGE_SAME], 1);
}

static void test_the_headline_names_a_slow_device(void **state)
{
	static const char before[] =
		"run step_time_s=0.15\n"
		"devices host=w0 device=TPU:0 slowness=1\n"
		"devices host=w1 device=TPU:1 slowness=1.01\n" OP("a", "0.15", "1");
	static const char after[] =
		"run step_time_s=0.19\n"
		"devices host=w0 device=TPU:0 slowness=1\n"
		"devices host=w1 device=TPU:1 slowness=1.3\n" OP("a", "0.16", "1");
	(void)state;
	diff(before, after);
	assert_str(diff_headline(&d, &keep), "A step takes 26.7% longer: 190 ms, was 150 ms; TPU:1"
					     " of w1 takes 30.0% longer in its ops than the other"
					     " devices");
	diff_ops(&head, &base, &keep, &d);
	assert_null(d.straggler);
	diff_ops(&head, &head, &keep, &d);
	assert_null(d.straggler);
}

static void test_noise_is_the_same(void **state)
{
	(void)state;
	diff(OP("small", "1e-3", "1") "\n" OP("noisy", "1e-3", "1") " lo_s=0.9e-3 hi_s=1.1e-3\n" OP(
		     "sure", "1e-3", "1") " lo_s=0.99e-3 hi_s=1.01e-3",
		OP("small", "1.01e-3", "1") "\n" OP(
			"noisy", "1.09e-3", "1") " lo_s=1.05e-3 hi_s=1.2e-3\n" OP("sure", "0.9e-3",
			"1") " lo_s=0.89e-3 hi_s=0.91e-3");
	assert_int_equal(d.counts[CHANGE_SAME], 2);
	assert_int_equal(d.counts[CHANGE_FASTER], 1);
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].key, "sure");
	/* A kind's change says how much of it is noise. */
	assert_int_equal(d.kind_count, 1);
	assert_true(fabs(d.kinds[0].same_s - 0.1e-3) < 1e-15);
}

/* A changed shape is another key: the new op stands in the place of the gone one of its scope. */
static void test_place_and_consumer(void **state)
{
	(void)state;
	diff("ops key=f32 name=dot.1 kind=matmul scope=ffn mean_s=1e-3 per_step=1\n"
	     "ops key=else name=dot.2 kind=matmul scope=attn mean_s=2e-3 per_step=1",
		"ops key=bf16 name=dot.7 program=1 kind=matmul scope=ffn mean_s=2e-3 per_step=1\n"
		"ops key=else name=dot.2 kind=matmul scope=attn mean_s=2e-3 per_step=1\n"
		"edges program=1 producer=dot.7 consumer=add.3\n"
		"edges program=2 producer=dot.7 consumer=wrong");
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].change, "changed");
	assert_str(d.items[0].name, "dot.7");
	assert_str(d.items[0].instead_of, "dot.1");
	assert_true(fabs(d.items[0].lost_s - 1e-3) < 1e-15);
	assert_str(d.items[0].feeds, "add.3");
}

/* Nearest in time, each once, the heaviest new one first; never another scope's or kind's. */
static void test_nearest_in_weight(void **state)
{
	(void)state;
#define GONE(key, scope, mean)                                                                     \
	"ops key=" key " name=" key " kind=matmul scope=" scope " mean_s=" mean " per_step=1\n"
	diff(GONE("a", "ffn", "1e-3") GONE("b", "ffn", "4e-3") GONE("c", "ffn", "9e-3")
			GONE("d", "attn", "5e-3"),
		GONE("new", "ffn", "5e-3") GONE("large", "ffn", "80e-3") GONE("small", "ffn",
			"1e-6") GONE("more", "ffn", "1e-7") GONE("else", "mlp", "5e-3"));
	static const char *const want[][2] = { { "large", "c" }, { "else", "" }, { "new", "b" },
		{ "more", "" }, { "small", "a" }, { "d", "" } };
	assert_int_equal(d.count, 6);
	for (int i = 0; i < 6; i++) {
		assert_str(d.items[i].name, want[i][0]);
		assert_true(str_eq(d.items[i].instead_of, str_from(want[i][1])));
	}
	assert_int_equal(d.counts[CHANGE_CHANGED], 3);
	assert_int_equal(d.counts[CHANGE_NEW], 2);
	assert_int_equal(d.counts[CHANGE_GONE], 1);
}

/* What is new one way round is gone the other way round, and the pairs are the same. */
static void test_mirror(void **state)
{
	(void)state;
	diff(GONE("a", "ffn", "10e-3") GONE("b", "ffn", "5e-3"), GONE("u", "ffn", "6e-3"));
	assert_int_equal(d.count, 2);
	assert_str(d.items[0].instead_of, "a");
	assert_str(d.items[1].change, "gone");
	assert_str(d.items[1].name, "b");
	diff_ops(&head, &base, &keep, &d);
	assert_int_equal(d.count, 2);
	assert_str(d.items[0].change, "new");
	assert_str(d.items[0].name, "b");
	assert_str(d.items[1].name, "a");
	assert_str(d.items[1].instead_of, "u");
}

/* A kernel with another block size, a layer with another kernel: each is paired by its purpose. */
static void test_purposes(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after;
		bool is_pair;
	} cases[] = {
		/* The author's name but for its numbers. */
		{ "name=rpa_bq32_p64.17 kind=custom opcode=custom-call shape=f32[3]",
			"name=rpa_bq32_p128.3 kind=custom opcode=custom-call shape=f32[4]", true },
		{ "name=rpa_bq32.1 kind=custom opcode=custom-call shape=f32[3]",
			"name=gmm_bq32.1 kind=custom opcode=custom-call shape=f32[4]", false },
		/* XLA's name says nothing, unless dimensions agree; a layout is none. */
		{ "name=fusion.1 kind=elementwise opcode=fusion shape=f32[3]{0}",
			"name=fusion.2 kind=elementwise opcode=fusion shape=f32[4]{0}", false },
		{ "name=fusion.1 kind=elementwise opcode=fusion shape=f32[8,4]{1,0}",
			"name=fusion.2 kind=elementwise opcode=fusion shape=f32[8,4]{0,1}", true },
		/* A matmul that another kernel does, in one layer of the model. */
		{ "name=dot.1 kind=matmul scope=jit(f)/Linear/dot shape=f32[3]",
			"name=qmm.1 kind=custom scope=jit(f)/Linear/q/call shape=f32[4]", true },
		{ "name=dot.1 kind=matmul scope=jit(f)/Linear/dot shape=f32[3]",
			"name=qmm.1 kind=custom scope=jit(f)/Embed/q/call shape=f32[4]", false },
		/* A collective of one sort and size, but not elementwise work of one size. */
		{ "name=psum.1 kind=all-reduce shape=f32[3]",
			"name=all-reduce.7 kind=all-reduce shape=f32[3]", true },
		{ "name=add.1 kind=elementwise shape=f32[3]",
			"name=mul.7 kind=elementwise shape=f32[3]", false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fresh(NULL);
		diff(arena_z(&keep, arena_fmt(&keep, "ops key=a mean_s=2e-3 per_step=1 %s",
					    cases[i].before)),
			arena_z(&keep, arena_fmt(&keep, "ops key=b mean_s=3e-3 per_step=1 %s",
					       cases[i].after)));
		assert_int_equal(d.counts[CHANGE_CHANGED], cases[i].is_pair);
		assert_int_equal(d.count, cases[i].is_pair ? 1 : 2);
	}
}

/* A layer of four matmuls as XLA names them: `scope` and `line` of each, 1 ms. */
#define LAYER(key, scope, line)                                                                    \
	"ops key=" key " name=" key " kind=matmul scope=" scope                                    \
	" source_file=m.py source_line=" line " mean_s=1e-3 per_step=1\n"
#define LOOP(key, scope, line, mean, count)                                                        \
	"ops key=" key " name=" key " kind=matmul scope=" scope                                    \
	" source_file=m.py source_line=" line " mean_s=" mean " per_step=" count "\n"

/* Four layers with names of their own, and the loop that does the same. */
static void test_a_loop_written_out(void **state)
{
	static const char layers[] = LAYER("a0", "jit(f)/jvp(layer_0)/block/dot", "9") LAYER("a1",
		"jit(f)/jvp(layer_1)/block/dot", "9") LAYER("a2", "jit(f)/jvp(layer_2)/block/dot",
		"9") LAYER("a3", "jit(f)/jvp(layer_3)/block/dot", "9")
		LAYER("b0", "jit(f)/transpose(jvp(layer_0))/block/dot", "9")
			LAYER("b1", "jit(f)/transpose(jvp(layer_1))/block/dot", "9")
				LAYER("b2", "jit(f)/transpose(jvp(layer_2))/block/dot", "9");
	(void)state;
	diff(layers,
		LOOP("fwd", "jit(f)/jvp()/while/body/closed_call/block/dot", "9", "1.5e-3", "4")
			LOOP("bwd", "jit(f)/transpose(jvp())/while/body/closed_call/block/dot", "9",
				"1e-3", "4"));
	assert_int_equal(d.count, 2);
	assert_str(d.items[0].change, "changed");
	assert_str(d.items[0].name, "fwd");
	assert_str(d.items[0].instead_of, "a0");
	assert_true(d.items[0].base_ops == 4 && d.items[0].head_ops == 1);
	assert_true(d.items[0].base_per_step == 4 && d.items[0].head_per_step == 4);
	assert_true(fabs(d.items[0].lost_s - 2e-3) < 1e-12);
	assert_str(d.items[1].name, "bwd"); /* the first layer's, which no one needs, is one more */
	assert_true(d.items[1].base_per_step == 3 && fabs(d.items[1].lost_s - 1e-3) < 1e-12);
	diff_ops(&head, &base, &keep, &d);
	assert_int_equal(d.count, 2);
	assert_str(d.items[1].name, "a0");
	assert_str(d.items[1].instead_of, "fwd");
	assert_true(fabs(d.items[1].lost_s + 2e-3) < 1e-12);
}

/* Layers that lose their names are the same work, in ops of one key or of several. */
static void test_layers_of_another_name(void **state)
{
	(void)state;
	diff(LAYER("a0", "jit(f)/layer_0/block/dot", "9") LAYER("a1", "jit(f)/layer_1/block/dot",
		     "9") LAYER("a2", "jit(f)/layer_2/block/dot", "9"),
		LOOP("x", "jit(f)/block/dot", "9", "1e-3", "2")
			LAYER("y", "jit(f)/block/dot", "9"));
	assert_int_equal(d.count, 1);
	assert_true(d.items[0].base_ops == 3 && d.items[0].head_ops == 2);
	assert_true(d.items[0].lost_s == 0);
	assert_int_equal(d.counts[CHANGE_NEW] + d.counts[CHANGE_GONE], 0);
}

/* Another line, another kind, or ten times as often: it is no copy of the same code. */
static void test_no_copies(void **state)
{
	static const char *const after[] = { LOOP("x", "jit(f)/block/dot", "10", "1e-3", "2"),
		LOOP("x", "jit(f)/block/dot", "9", "1e-3", "20"),
		("ops key=x name=x kind=copy scope=jit(f)/block/dot source_file=m.py source_line=9"
		 " mean_s=1e-3 per_step=2") };
	(void)state;
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		fresh(NULL);
		diff(LAYER("a0", "jit(f)/layer_0/block/dot", "9")
				LAYER("a1", "jit(f)/layer_1/block/dot", "9"),
			after[i]);
		for (ptrdiff_t k = 0; k < d.count; k++)
			assert_true(isnan(d.items[k].base_ops));
		assert_true(d.count > 1);
	}
}

/* In a CUDA graph the profile tells kernels, and not the instructions that they ran for. */
static void test_kernels_of_a_graph(void **state)
{
#define BARE(name, kind, mean)                                                                     \
	"ops key=k_" name " name=" name " kind=" kind " mean_s=" mean " per_step=1"
#define TOLD(name, kind, mean)                                                                     \
	"ops key=i_" name " name=" name " kind=" kind                                              \
	" opcode=custom-call shape=f32[8] mean_s=" mean " per_step=1"
	(void)state;
	diff(BARE("gemm_fusion_dot", "matmul", "1.61e-3") "\n" BARE(
		     "loop_max", "unknown", "2e-4") "\n" BARE("nvjet_hsh", "matmul", "1.5e-3"),
		TOLD("gemm_fusion_dot", "matmul", "1.61e-3") "\n" TOLD(
			"loop_max", "elementwise", "4e-4") "\n" TOLD("cublas", "matmul", "1.5e-3"));
	assert_int_equal(d.counts[CHANGE_NEW] + d.counts[CHANGE_GONE], 0);
	assert_int_equal(d.counts[CHANGE_SAME], 2); /* the library's kernel is its call's */
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].name, "loop_max");
	assert_str(d.items[0].change, "slower");
	assert_int_equal(d.kind_count, 2); /* none unknown */
	diff_ops(&head, &base, &keep, &d);
	assert_int_equal(d.counts[CHANGE_NEW] + d.counts[CHANGE_GONE], 0);
	assert_int_equal(d.counts[CHANGE_SAME], 2);
	base = head = (struct tables){ 0 };
	diff(BARE("nvjet_hsh", "matmul", "1.5e-3"), TOLD("cublas", "matmul", "1.9e-3"));
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].name, "cublas");
	assert_str(d.items[0].instead_of, "nvjet_hsh");

	/* Of another kind, or one of three of a name, it is another op. */
	base = head = (struct tables){ 0 };
	diff(BARE("dot", "matmul", "1e-3") "\n" BARE("add", "elementwise", "1e-3"),
		TOLD("dot", "copy", "1e-3") "\n" TOLD("add", "elementwise",
			"1e-3") "\nops key=third"
				" name=add kind=elementwise opcode=add mean_s=1e-3 per_step=1");
	assert_int_equal(d.counts[CHANGE_NEW], 3);
	assert_int_equal(d.counts[CHANGE_GONE], 2);
#undef BARE
#undef TOLD
}

/* Sums of all ops, and of each kind, the largest change first. */
static void test_kinds(void **state)
{
	(void)state;
	diff("ops key=a name=a kind=matmul mean_s=2e-3 per_step=2\n"
	     "ops key=b name=b kind=copy mean_s=1e-3 per_step=1\n"
	     "ops key=d name=d kind=rng mean_s=1e-5 per_step=1",
		"ops key=a name=a kind=matmul mean_s=3e-3 per_step=2\n"
		"ops key=c name=c kind=sort mean_s=4e-3 per_step=1\n"
		"ops key=d name=d kind=rng mean_s=5e-5 per_step=1");
	assert_int_equal(d.kind_count, 4);
	/* 40 us of 10 ms are less than half a percent. */
	assert_int_equal(d.kinds_changed, 3);
	assert_str(d.kinds[0].kind, "sort");
	assert_str(d.kinds[1].kind, "matmul");
	assert_true(fabs(d.kinds[1].head_s - d.kinds[1].base_s - 2e-3) < 1e-15);
	assert_true(fabs(d.base_ops_s - 5.01e-3) < 1e-15);
	assert_true(fabs(d.head_ops_s - 10.05e-3) < 1e-15);
}

/* What has not run takes what its roofline says; what cannot be counted takes nothing. */
static void test_plans(void **state)
{
	(void)state;
	diff("run evidence=planned\nops key=a name=a roofline_s=1e-3 per_step=2\n"
	     "ops key=b name=b per_step=1",
		"run evidence=planned\nops key=a name=a roofline_s=3e-3 per_step=2\n"
		"ops key=b name=b per_step=1");
	assert_true(d.is_planned);
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].change, "slower");
	assert_true(fabs(d.items[0].lost_s - 4e-3) < 1e-15);
	assert_int_equal(d.counts[CHANGE_SAME], 1);
}

/* An op whose time nobody knows any more is no faster one, and takes no part in the sum. */
static void test_unknown_is_not_fast(void **state)
{
	(void)state;
	diff("run evidence=planned\nops key=a name=a roofline_s=1e-3 per_step=1\n"
	     "ops key=b name=b roofline_s=1 per_step=1",
		"run evidence=planned\nops key=a name=a per_step=1\nops key=c name=c per_step=1\n"
		"ops key=b name=b roofline_s=1.001 per_step=1");
	assert_int_equal(d.counts[CHANGE_SAME], 2);
	assert_int_equal(d.untimed, 2);
	assert_true(fabs(d.lost_s - 1e-3) < 1e-15);
	assert_true(fabs(d.same_s - 1e-3) < 1e-15);
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].change, "new");
	assert_true(isnan(d.items[0].head_s) && isnan(d.items[0].lost_s));
}

/* ---- fusions that split ---------------------------------------------------------------------- */

#define FUSION                                                                                     \
	"ops key=f name=fusion.1 opcode=fusion inside=add,exponential,multiply,reduce "            \
	"kind=elementwise scope=step/norm/mul mean_s=1e-3 per_step=1\n"
#define PIECE(name, opcode, scope, mean)                                                           \
	"ops key=" name " name=" name " opcode=" opcode " kind=elementwise scope=" scope           \
	" mean_s=" mean " per_step=1\n"

static void test_split(void **state)
{
	(void)state;
	diff(FUSION PIECE("dot", "dot", "step/norm/dot", "4e-3"),
		PIECE("add.1", "add", "step/norm/add", "1e-3") PIECE(
			"fusion.7", "fusion inside=exponential,multiply", "step/norm/exp", "2e-3")
			PIECE("dot", "dot", "step/norm/dot", "4e-3"));
	assert_int_equal(d.count, 1);
	assert_int_equal(d.counts[CHANGE_SPLIT], 1);
	assert_int_equal(d.counts[CHANGE_NEW] + d.counts[CHANGE_GONE], 0);
	const struct changes_row *c = &d.items[0];
	assert_str(c->change, "split");
	assert_str(c->name, "fusion.1");
	assert_str(c->pieces, "fusion.7, add.1");
	assert_true(fabs(c->head_s - 3e-3) < 1e-15 && fabs(c->lost_s - 2e-3) < 1e-15);
	assert_true(c->base_per_step == 1 && isnan(c->head_per_step));
}

/* By line where there is no scope. */
static void test_split_by_line(void **state)
{
	(void)state;
#define LINE " kind=elementwise source_file=m.py source_line=7 mean_s=1e-3 per_step=1\n"
	diff("ops key=f name=f opcode=fusion inside=add,multiply" LINE,
		"ops key=a name=a opcode=add" LINE "ops key=m name=m opcode=multiply" LINE);
	assert_int_equal(d.counts[CHANGE_SPLIT], 1);
	assert_int_equal(d.count, 1);
}

static void assert_no_split(const char *after)
{
	base = head = (struct tables){ 0 };
	diff(FUSION, after);
	assert_int_equal(d.counts[CHANGE_SPLIT], 0);
	assert_int_equal(d.counts[CHANGE_GONE], 1);
}

static void test_no_split(void **state)
{
	(void)state;
#define GOOD PIECE("a", "add", "step/norm/add", "1e-3")
	/* one op alone; one that does something else; elsewhere; too little of it */
	assert_no_split(GOOD);
	assert_no_split(GOOD PIECE("b", "divide", "step/norm/div", "1e-3"));
	assert_no_split(GOOD PIECE("b", "multiply", "step/ffn/mul", "1e-3"));
	assert_no_split(GOOD PIECE("b", "add", "step/norm/add2", "1e-3"));
	assert_no_split(GOOD PIECE("b", "fusion", "step/norm/mul2", "1e-3"));
	/* and it is still there, beside new ones */
	base = head = (struct tables){ 0 };
	diff(FUSION, FUSION GOOD PIECE("b", "multiply", "step/norm/mul", "1e-3"));
	assert_int_equal(d.counts[CHANGE_SPLIT], 0);
	assert_int_equal(d.counts[CHANGE_NEW], 2);
}

/* Under the same key it holds less, and somebody else does the rest. */
static void test_split_in_part(void **state)
{
	(void)state;
	diff(FUSION, "ops key=f name=fusion.9 opcode=fusion inside=exponential,reduce "
		     "kind=elementwise scope=step/norm/mul mean_s=1e-3 per_step=1\n" PIECE(
			     "b", "fusion inside=add,multiply", "step/norm/add", "2e-3"));
	assert_int_equal(d.count, 1);
	assert_str(d.items[0].change, "split");
	assert_str(d.items[0].name, "fusion.1");
	assert_str(d.items[0].pieces, "fusion.9, b");
	assert_true(fabs(d.items[0].lost_s - 2e-3) < 1e-15);
}

/* Two that each do all of it are no pieces. */
static void test_twice_is_no_split(void **state)
{
	(void)state;
	diff("ops key=f name=f opcode=fusion inside=add,dot kind=matmul scope=s/x mean_s=1e-3 "
	     "per_step=1",
		PIECE("a", "fusion inside=add,dot", "s/y", "1e-3")
			PIECE("b", "fusion inside=add,dot", "s/z", "1e-3"));
	assert_int_equal(d.counts[CHANGE_SPLIT], 0);
}

/* Each piece is of one fusion only. */
static void test_two_fusions_share_no_piece(void **state)
{
	(void)state;
	diff(FUSION "ops key=g name=fusion.2 opcode=fusion inside=add,multiply kind=elementwise "
		    "scope=step/norm/mul mean_s=1e-3 per_step=1\n",
		GOOD PIECE("b", "multiply", "step/norm/mul", "1e-3"));
	assert_int_equal(d.counts[CHANGE_SPLIT], 1);
	assert_int_equal(d.counts[CHANGE_GONE], 1);
}

static void test_nothing(void **state)
{
	(void)state;
	diff("", "");
	assert_int_equal(d.count, 0);
	assert_true(isnan(d.base_step_s) && d.lost_s == 0);
}

/*
 * Two captures of 300 ms without steps.  Most of the time is in ops that ran 34 times there and 30
 * times here, so this one did 30/34 of the work: the same takes 300 ms now, and took 265 then.
 */
static void test_windows(void **state)
{
	static const char *const runs[] = { "run steps_source=window window_s=0.3\n" OP(
						    "attention", "4e-3", "34") "\n" OP("matmul",
						    "1e-3", "68") "\n" OP("send", "1e-3", "34"),
		"run steps_source=window window_s=0.3\n" OP("attention", "4e-3", "30") "\n" OP(
			"matmul", "1e-3", "60") "\n" OP("send", "2e-3", "31") };
	static const char odd[] = "run steps_source=window window_s=0.3\n" OP(
		"attention", "4e-3", "34") "\n" OP("matmul", "1e-3", "200");

	(void)state;
	diff(runs[0], runs[1]);
	assert_true(d.is_window);
	assert_true(fabs(d.work - 30. / 34) < 1e-12);
	assert_str(diff_headline(&d, &keep),
		"The same work takes 13.3% longer: 300 ms, was 265 ms (scaled: the older "
		"capture holds 1.13 times the work); mostly by send (+32.0 ms)");
	assert_int_equal(d.count, 1);
	assert_true(fabs(d.items[0].base_s - 0.03) < 1e-12);
	assert_true(fabs(d.items[0].head_s - 0.062) < 1e-12);

	base = head = (struct tables){ 0 };
	diff(runs[1], runs[0]);
	assert_true(fabs(d.work - 34. / 30) < 1e-12);
	assert_int_equal(d.counts[CHANGE_FASTER], 1);

	/* Both run ten steps of 100 ms; the second does not mark them. */
	base = head = (struct tables){ 0 };
	diff("run steps_source=annotation step_time_s=0.1 window_s=1\n" OP("a", "9e-2", "1"),
		"run steps_source=window window_s=1\n" OP("a", "9e-2", "10"));
	assert_str(diff_headline(&d, &keep), "The same work takes 1.00 s, as before");

	/* One call and ten, each in a capture that is idle but for that. */
	base = head = (struct tables){ 0 };
	diff("run steps_source=window window_s=9\n" OP("a", "4e-3", "1"),
		"run steps_source=window window_s=10\n" OP("a", "3e-3", "10"));
	assert_str(diff_headline(&d, &keep),
		"All ops together take 25.0% less time: 30.0 ms, was 40.0 ms (scaled: the older "
		"capture holds 0.1 times the work); mostly by a (-10.0 ms)");

	/* What ran once in either is not done ten times for ten times the work. */
	base = head = (struct tables){ 0 };
	diff("run steps_source=window window_s=9\n" OP("a", "4e-3", "1") "\n" OP(
		     "fill", "1e-4", "1"),
		"run steps_source=window window_s=10\n" OP("a", "4e-3", "10") "\n" OP(
			"fill", "3e-4", "1"));
	assert_int_equal(d.count, 1);
	assert_true(fabs(d.items[0].base_s - 1e-4) < 1e-12);
	assert_true(fabs(d.items[0].head_s - 3e-4) < 1e-12);

	/* What agrees is all of one side, and a little of the other: another program. */
	base = head = (struct tables){ 0 };
	diff("run steps_source=window window_s=0.3\n" OP("a", "1e-3", "100"),
		"run steps_source=window window_s=0.3\n" OP("a", "1e-3", "20") "\n" OP(
			"attention", "4e-3", "50"));
	assert_true(isnan(d.work));

	/* Of other work the counts do not agree, and nothing is said of the whole. */
	base = head = (struct tables){ 0 };
	diff(odd, runs[1]);
	assert_true(isnan(d.work) && isnan(d.base_step_s));
	assert_true(fabs(d.base_ops_s - 0.336) < 1e-12);
}

/* An op of which only the shape changed is neither lost nor won. */
static void test_picked(void **state)
{
	(void)state;
	const struct changes_row rows[] = { { .name = STR("won"), .lost_s = -1e-3 },
		{ .name = STR("none"), .lost_s = 0 }, { .name = STR("lost"), .lost_s = 1e-3 },
		{ .name = STR("most"), .lost_s = 2e-3 } };
	struct template_list lists = html_changes(rows, 4, 1, &keep);
	const struct html_changes *of = lists.items;
	const struct html_change *lost = of[0].rows.items, *won = of[1].rows.items;
	assert_int_equal(lists.count, 2);
	assert_str(of[0].title, "lost");
	assert_int_equal(of[0].rows.count, 1);
	assert_str(lost[0].name, "most");
	assert_str(of[0].more, "and 1 more, of less time each");
	assert_int_equal(of[1].rows.count, 1);
	assert_str(won[0].name, "won");
	assert_null(of[1].more.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_new_and_gone, fresh),
		cmocka_unit_test_setup(test_ops_of_one_key, fresh),
		cmocka_unit_test_setup(test_more_runs_are_not_slower, fresh),
		cmocka_unit_test_setup(test_time_between_ops_is_a_kind, fresh),
		cmocka_unit_test_setup(test_one_slow_device_is_no_noise, fresh),
		cmocka_unit_test_setup(test_the_headline_names_a_slow_device, fresh),
		cmocka_unit_test_setup(test_noise_is_the_same, fresh),
		cmocka_unit_test_setup(test_place_and_consumer, fresh),
		cmocka_unit_test_setup(test_nearest_in_weight, fresh),
		cmocka_unit_test_setup(test_mirror, fresh),
		cmocka_unit_test_setup(test_purposes, fresh),
		cmocka_unit_test_setup(test_a_loop_written_out, fresh),
		cmocka_unit_test_setup(test_layers_of_another_name, fresh),
		cmocka_unit_test_setup(test_no_copies, fresh),
		cmocka_unit_test_setup(test_kernels_of_a_graph, fresh),
		cmocka_unit_test_setup(test_kinds, fresh),
		cmocka_unit_test_setup(test_plans, fresh),
		cmocka_unit_test_setup(test_unknown_is_not_fast, fresh),
		cmocka_unit_test_setup(test_split, fresh),
		cmocka_unit_test_setup(test_split_in_part, fresh),
		cmocka_unit_test_setup(test_twice_is_no_split, fresh),
		cmocka_unit_test_setup(test_split_by_line, fresh),
		cmocka_unit_test_setup(test_no_split, fresh),
		cmocka_unit_test_setup(test_two_fusions_share_no_piece, fresh),
		cmocka_unit_test_setup(test_nothing, fresh),
		cmocka_unit_test_setup(test_windows, fresh),
		cmocka_unit_test_setup(test_picked, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
