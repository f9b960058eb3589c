/* measure/: kernels on the streams of a GPU, and ops on the threads of a CPU. */
#include "tests/unit/run.h"

#define PROGRAM 3
#define FOR(op)                                                                                    \
	X_STATS(x_ref("hlo_op", (op)), x_ref("hlo_module", "jit_train_step"),                      \
		x_int("program_id", PROGRAM))
#define H2D "kind_src:pageable kind_dst:device size:1000000 dest:0 async:1"
#define D2H "kind_src:device kind_dst:pinned size:4000 dest:0 async:1"
#define D2D "kind_src:device kind_dst:device size:8000 dest:0 async:1"

static struct xplane *one_gpu(void)
{
	return x_gpu(xrun_host(&run, "node-0"), 0, "NVIDIA H100 80GB HBM3");
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A stream of an H100 that runs a program of these instructions. */
static struct xline *stream_of(const struct pb_instruction *body)
{
	const struct pb_computation module[] = { { "main", 1, body }, { 0 } };
	struct xspace *host = xrun_host(&run, "node-0");

	x_hlo(host, "jit_train_step", PROGRAM, pb_write_module(&run.keep, module, STR("")));
	return x_line(x_gpu(host, 0, "NVIDIA H100 80GB HBM3"), "Stream #1");
}

/*
 * us        0     40   50   60       120   150   170  180   200
 * Stream 1  |dot.1-----|dot.1        |add.3|          |own
 * Stream 2             |all-reduce.2-------|
 * Stream 3                                 |--H2D--|
 *
 * dot.1 is two kernels; "own" belongs to no instruction.
 */
static void tell_streams(int64_t executions)
{
	struct xplane *gpu = one_gpu();
	struct xline *compute = x_line(gpu, "Stream #1(Compute)"),
		     *comms = x_line(gpu, "Stream #2(Compute)"),
		     *copies = x_line(gpu, "Stream #3(MemcpyH2D)");

	for (int64_t i = 0; i < executions; i++) {
		int64_t at = i * 200;
		x_event(compute, "gemm_main", at, at + 40, FOR("dot.1"));
		x_event(compute, "gemm_tail", at + 40, at + 60, FOR("dot.1"));
		x_event(comms, "ncclDevKernel_AllReduce_Sum", at + 50, at + 120,
			FOR("all-reduce.2"));
		x_event(compute, "add_kernel", at + 120, at + 150, FOR("add.3"));
		x_event(copies, "MemcpyH2D", at + 150, at + 170,
			X_STATS(x_ref("memcpy_details", H2D)));
		x_event(compute, "own_kernel", at + 170, at + 180, NULL);
	}
}

static void kernels_of_one_op_are_one_execution(void **state)
{
	(void)state;
	tell_streams(4);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->platform, "nvidia");
	assert_text(r->chip, "h100_sxm");
	assert_text(r->steps_source, "program");
	assert_text(r->main_program, "jit_train_step");
	assert_number(r->steps, 2);
	assert_number(r->step_time_s, 200 * US);
	const struct ops_row *dot = xrun_op(&run, "dot.1");
	assert_text(dot->common->program, "3");
	assert_text(dot->common->attribution, "profile");
	assert_number(dot->common->count, 2);
	assert_number(dot->common->per_step, 1);
	assert_number(dot->p50_s, 60 * US);
	assert_number(dot->time_s, 120 * US);
	assert_number(xrun_program(&run, "jit_train_step")->executions, 4);
	assert_number(xrun_program(&run, "jit_train_step")->p50_s, 150 * US);
}

/* A program of so many elementwise ops, "neg.2" last. */
static struct str module_of_ops(int count)
{
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[8]{0}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "exp.1", "exponential", "f32[8]{0}", 2, { 1 }, { 0 }, 0, { 0 } },
		{ "neg.2", "negate", "f32[8]{0}", 3, { 1 }, { 0 }, 0, { 0 } },
		{ 0 },
	};
	struct pb_instruction chosen[4] = { body[0] };
	const struct pb_computation c[] = { { "main", 1, chosen }, { 0 } };

	for (int i = 0; i < count; i++)
		chosen[1 + i] = body[3 - count + i];
	return pb_write_module(&run.keep, c, STR(""));
}

/* "neg.2" as the kernels head, tail, head, tail, after "exp.1" when the program has it. */
static void tell_repeated_kernels(int ops)
{
	struct xspace *host = xrun_host(&run, "node-0");
	struct xline *stream = x_line(x_gpu(host, 0, "NVIDIA H100 80GB HBM3"), "Stream #1");

	x_hlo(host, "jit_train_step", PROGRAM, module_of_ops(ops));
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 200;
		if (ops == 2)
			x_event(stream, "exp_kernel", at, at + 10, FOR("exp.1"));
		for (int64_t k = 0; k < 2; k++) {
			x_event(stream, "head", at + 10 + k * 40, at + 40 + k * 40, FOR("neg.2"));
			x_event(stream, "tail", at + 40 + k * 40, at + 50 + k * 40, FOR("neg.2"));
		}
	}
}

/* An op may launch a kernel twice: another op has to come before it is executed again. */
static void a_repeated_kernel_is_the_same_execution(void **state)
{
	(void)state;
	tell_repeated_kernels(2);
	xrun_measure(&run);
	assert_number(xrun_op(&run, "neg.2")->common->per_step, 1);
	assert_number(xrun_op(&run, "neg.2")->p50_s, 80 * US);
	assert_number(xrun_program(&run, "jit_train_step")->executions, 4);
}

/* Nothing else does any work in its program, so its executions touch. */
static void a_repeated_kernel_of_a_lone_op(void **state)
{
	(void)state;
	tell_repeated_kernels(1);
	xrun_measure(&run);
	assert_number(xrun_program(&run, "jit_train_step")->executions, 8);
	assert_number(xrun_row(&run)->steps, 6);
	assert_number(xrun_op(&run, "neg.2")->common->per_step, 1);
	assert_number(xrun_op(&run, "neg.2")->p50_s, 40 * US);
}

static void streams_overlap(void **state)
{
	(void)state;
	tell_streams(4);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_number(r->compute_ratio, 100. / 200);
	assert_number(r->comms_hidden_ratio, 10. / 200);
	assert_number(r->comms_exposed_ratio, 60. / 200);
	assert_number(r->transfer_ratio, 20. / 200);
	assert_number(r->idle_ratio, 20. / 200);
	const struct ops_row *reduce = xrun_op(&run, "all-reduce.2");
	assert_text(reduce->common->kind, "all-reduce");
	assert_number(reduce->p50_s, 70 * US);
	assert_number(reduce->overlap_ratio, 10. / 70);
	assert_number(xrun_op(&run, "dot.1")->overlap_ratio, 10. / 60);
	const struct collectives_row *c = xrun_collective(&run, "all-reduce.2");
	assert_number(c->per_step, 1);
	assert_number(c->span_s, 70 * US);
	assert_number(c->exposed_s, 60 * US);
	assert_number(c->hidden_s, 10 * US);
	assert_number(c->exposed_share, 60. / 200);
	assert_number(c->is_async, 0);
}

/* Without steps: a device that only served a copy, if last of all, does not tell how long it is. */
static void a_capture_is_as_long_as_its_longest_device(void **state)
{
	struct xspace *host = xrun_host(&run, "node-0");

	(void)state;
	x_event(x_line(x_gpu(host, 0, "NVIDIA H100 80GB HBM3"), "Stream #1"), "gemm", 0, 90, NULL);
	x_event(x_line(x_gpu(host, 1, "NVIDIA H100 80GB HBM3"), "Stream #1"), "MemcpyH2D", 90, 100,
		NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 0);
	assert_number(xrun_row(&run)->step_time_s, 90 * US);
}

static void kernels_that_nobody_claims(void **state)
{
	(void)state;
	tell_streams(4);
	xrun_measure(&run);
	const struct ops_row *own = xrun_op(&run, "own_kernel");
	assert_text(own->common->attribution, "none");
	assert_text(own->common->program, NULL);
	assert_text(own->common->kind, "unknown");
	assert_number(xrun_row(&run)->unattributed_ratio, 10. / (60 + 70 + 30 + 20 + 10));
	/* a copy is known for what it is */
	assert_text(xrun_op(&run, "MemcpyH2D")->common->attribution, "profile");
}

/* No program says that it trains; a kernel's name may. */
static void backward_kernels(void **state)
{
	static const struct {
		const char *kernel, *phase;
	} cases[] = {
		{ "flash_fwd_kernel", "unknown" },
		{ "void flash::flash_bwd_dq_dk_dv_kernel<bf16>", "train" },
		{ "cutlass_tensorop_bf16_s16816dgrad_optimized", "train" },
		{ "triton_red_fused_native_layer_norm_backward_4", "train" },
		{ "multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>", "train" },
		{ "fast_hadamard_transform_kernel", "unknown" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run.count = 0;
		struct xline *compute = x_line(one_gpu(), "Stream #1(Compute)");
		for (int64_t at = 0; at < 800; at += 200) {
			x_event(compute, "gemm", at, at + 60,
				X_STATS(x_ref("hlo_op", "dot.1"), x_ref("hlo_module", "jit_f"),
					x_int("program_id", 5)));
			x_event(compute, cases[i].kernel, at + 100, at + 150, NULL);
		}
		xrun_measure(&run);
		assert_text(xrun_row(&run)->main_program, "jit_f");
		assert_text(xrun_row(&run)->phase, cases[i].phase);
		assert_text(xrun_row(&run)->compiler, "xla");
	}
}

/*
 * TensorFlow's kernels are of no program that could be missing.  A kernel that says nothing is of
 * one: XLA's own profiler can lose the names.
 */
static void frameworks_by_their_kernels(void **state)
{
	static const struct {
		const char *kernel, *compiler, *framework;
		double unattributed;
	} cases[] = {
		{ "void tensorflow::functor::ColumnReduceKernel<float>", "none", "tensorflow", 0 },
		{ "void Eigen::internal::EigenMetaKernel<float>", "none", "tensorflow", 0 },
		{ "volta_sgemm_128x64_nn", "xla", NULL, 1 },
		{ "void at::native::reduce_kernel<512>", "xla", NULL, 1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run.count = 0;
		struct xline *compute = x_line(one_gpu(), "Stream #1(Compute)");
		for (int64_t at = 0; at < 800; at += 200)
			x_event(compute, cases[i].kernel, at, at + 150, NULL);
		xrun_measure(&run);
		assert_text(xrun_row(&run)->compiler, cases[i].compiler);
		assert_text(xrun_row(&run)->framework, cases[i].framework);
		assert_number(xrun_row(&run)->unattributed_ratio, cases[i].unattributed);
		bool told = str_contains(
			xrun_quality(&run, "hlo-present")->detail, STR("enable_hlo_proto"));
		assert_int_equal(told, !cases[i].framework);
	}
}

/* A job of programs is whose modules they are, whatever else ran. */
static void frameworks_by_their_modules(void **state)
{
	(void)state;
	tell_streams(4);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->compiler, "xla");
	assert_text(xrun_row(&run)->framework, "jax");
}

static void copies_by_direction(void **state)
{
	(void)state;
	struct xplane *gpu = one_gpu();
	struct xline *compute = x_line(gpu, "Stream #1"), *copies = x_line(gpu, "Stream #2");
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 200;
		x_event(compute, "gemm", at, at + 100, FOR("dot.1"));
		x_event(copies, "MemcpyH2D", at + 90, at + 110,
			X_STATS(x_ref("memcpy_details", H2D)));
		x_event(copies, "MemcpyD2H", at + 110, at + 114,
			X_STATS(x_ref("memcpy_details", D2H)));
		x_event(copies, "MemcpyD2D", at + 120, at + 130,
			X_STATS(x_ref("memcpy_details", D2D)));
		/* an instruction's own copy is another op of the same direction */
		x_event(copies, "MemcpyD2H", at + 140, at + 150,
			X_STATS(x_ref("memcpy_details", D2H), x_ref("hlo_op", "copy.5"),
				x_int("program_id", PROGRAM)));
	}
	xrun_measure(&run);
	const struct transfers_row *t = xrun_transfer(&run, "h2d");
	assert_number(t->count, 2);
	assert_number(t->per_step, 1);
	assert_number(t->bytes, 1e6);
	assert_number(t->pageable_ratio, 1);
	assert_number(t->time_s, 20 * US);
	assert_number(t->exposed_s, 10 * US);
	assert_number(t->step_share, 10. / 200);
	assert_number(t->bps, 1e6 / (20 * US));
	t = xrun_transfer(&run, "d2h");
	assert_number(t->per_step, 2);
	assert_number(t->bytes, 8000);
	assert_number(t->pageable_ratio, 0);
	assert_number(t->time_s, 14 * US);
	assert_number(t->exposed_s, 14 * US);
	assert_number(xrun_transfer(&run, "d2d")->time_s, 10 * US);
	const struct ops_row *d2d = xrun_op(&run, "MemcpyD2D");
	assert_text(d2d->common->kind, "copy");
	assert_text(d2d->common->copy_cause, "d2d");
	assert_text(xrun_op(&run, "MemcpyD2H")->common->kind, "transfer");
}

/* Two GPUs: what one waits in a collective for the other is not transfer. */
static void the_last_to_arrive_waits_for_nobody(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "node-0");
	for (int d = 0; d < 2; d++) {
		struct xline *stream = x_line(x_gpu(host, d, "NVIDIA H100 80GB HBM3"), "Stream #1");
		int64_t late = d * 30;
		for (int64_t i = 0; i < 5; i++) {
			int64_t at = i * 200;
			x_event(stream, "gemm", at, at + 50 + late, FOR("dot.1"));
			x_event(stream, "ncclDevKernel_AllGather", at + 50 + late, at + 130,
				FOR("all-gather.2"));
		}
	}
	xrun_measure(&run);
	const struct collectives_row *c = xrun_collective(&run, "all-gather.2");
	assert_text(c->kind, "all-gather");
	assert_number(c->transfer_s, 50 * US);
	assert_number(c->wait_s, 30 * US);
	assert_number(xrun_op(&run, "dot.1")->skew, 80. / 50);
	assert_number(xrun_op(&run, "dot.1")->max_s, 80 * US);
}

/* An instruction's HLO is found by a neighbouring name; another's is not found at all. */
static void kernels_and_their_hlo(void **state)
{
	(void)state;
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[256,256]{1,0}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "exp", "exponential", "f32[256,256]{1,0}", 2, { 1 }, { 0 }, 0, { 0 } },
		{ "neg.2", "negate", "f32[256,256]{1,0}", 3, { 2 }, { 0 }, 0, { 0 } },
		{ 0 },
	};
	struct xline *stream = stream_of(body);
	for (int64_t i = 0; i < 4; i++) {
		x_event(stream, "exp_kernel", i * 200, i * 200 + 10, FOR("exp.7"));
		x_event(stream, "neg_kernel", i * 200 + 10, i * 200 + 20, FOR("neg.2"));
		x_event(stream, "gone_kernel", i * 200 + 20, i * 200 + 30, FOR("gone.1"));
	}
	xrun_measure(&run);
	assert_text(xrun_op(&run, "exp")->common->attribution, "name");
	assert_text(xrun_op(&run, "neg.2")->common->attribution, "name");
	assert_text(xrun_op(&run, "gone.1")->common->attribution, "profile");
	assert_text(xrun_op(&run, "exp")->common->opcode, "exponential");
	assert_text(xrun_op(&run, "exp")->common->shape, "f32[256,256]{1,0}");
	assert_text(xrun_op(&run, "exp")->common->dtype, "f32");
	assert_text(xrun_op(&run, "gone.1")->common->opcode, NULL);
	assert_number(xrun_op(&run, "exp")->common->hbm_bytes, 2 * 256 * 256 * 4);
	assert_text(xrun_op(&run, "exp")->common->bound, "memory");
	assert_unknown(xrun_op(&run, "gone.1")->common->roofline_s);
	assert_number(xrun_row(&run)->judged_ratio, 2. / 3);
}

/* 2 x 4096^3 FLOPs of f32 on an H100: 66.9 TFLOP/s outside the tensor cores, 494.7 as TF32. */
static void kernels_tell_how_f32_is_multiplied(void **state)
{
	(void)state;
	struct pb gemm = pb_new(&run.keep);
	pb_text(&gemm, 28, "__cublas$gemm");
	struct str call = pb_done(&gemm);
	const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[4096,4096]{1,0}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "full.1", "custom-call", "f32[4096,4096]{1,0}", 2, { 1, 1 }, { 0 }, 0, call },
		{ "tf.2", "custom-call", "f32[4096,4096]{1,0}", 3, { 1, 1 }, { 0 }, 0, call },
		{ "any.3", "custom-call", "f32[4096,4096]{1,0}", 4, { 1, 1 }, { 0 }, 0, call },
		{ 0 },
	};
	struct xline *stream = stream_of(body);
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 20000;
		x_event(stream, "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", at, at + 2200,
			FOR("full.1"));
		x_event(stream, "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n", at + 3000, at + 3400,
			FOR("tf.2"));
		x_event(stream, "gemm_kernel", at + 4000, at + 4400, FOR("any.3"));
	}
	xrun_measure(&run);
	const double flops = 2. * 4096 * 4096 * 4096;
	assert_number(xrun_op(&run, "full.1")->common->t_math_s, flops / 66.9e12);
	assert_number(
		xrun_op(&run, "full.1")->common->attainable_s, flops / 66.9e12 / 0.8 + 1.4e-6);
	assert_number(xrun_op(&run, "tf.2")->common->t_math_s, flops / 494.7e12);
	assert_number(xrun_op(&run, "tf.2")->common->attainable_s, flops / 494.7e12 / 0.8 + 1.4e-6);
	assert_number(xrun_op(&run, "any.3")->common->t_math_s, flops / 494.7e12);
	assert_number(xrun_op(&run, "any.3")->common->attainable_s, flops / 66.9e12 / 0.8 + 1.4e-6);
}

/*
 * A call is known by its kernels, not by the copy before them; a condition that is only copied and
 * kept in order is a transfer.
 */
static void calls_that_copy_first(void **state)
{
	(void)state;
	struct pb sort = pb_new(&run.keep);
	pb_text(&sort, 28, "xla.gpu.ext.cub_sort_pairs");
	const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[256]{0}", 1, { 0 }, { 0 }, 0, { 0 } },
		{ "while.1", "while", "f32[256]{0}", 2, { 1 }, { 0 }, 0, { 0 } },
		{ "sort.2", "custom-call", "f32[256]{0}", 3, { 2 }, { 0 }, 0, pb_done(&sort) },
		{ 0 },
	};
	struct xline *stream = stream_of(body);
	for (int64_t i = 0; i < 4; i++) {
		int64_t at = i * 200;
		x_event(stream, "MemcpyD2H", at, at + 2,
			X_STATS(x_ref("memcpy_details", D2H), x_ref("hlo_op", "while.1"),
				x_int("program_id", PROGRAM)));
		x_event(stream, "condition", at + 2, at + 4, FOR("while.1"));
		x_event(stream, "MemcpyH2D", at + 10, at + 11,
			X_STATS(x_ref("memcpy_details", H2D), x_ref("hlo_op", "sort.2"),
				x_int("program_id", PROGRAM)));
		x_event(stream, "cub::DeviceRadixSort", at + 11, at + 80, FOR("sort.2"));
	}
	xrun_measure(&run);
	assert_text(xrun_op(&run, "sort.2")->common->kind, "sort");
	assert_number(xrun_op(&run, "sort.2")->p50_s, 70 * US);
	assert_int_equal(table_count(&run.tables, transfers), 1);
	assert_text(xrun_op(&run, "while.1")->common->kind, "transfer");
	assert_number(xrun_transfer(&run, "d2h")->per_step, 1);
}

/* Id 0 is an id like any other. */
static void program_zero(void **state)
{
	(void)state;
	struct xline *stream = x_line(one_gpu(), "Stream #1");
	for (int64_t i = 0; i < 4; i++)
		x_event(stream, "gemm", i * 200, i * 200 + 10,
			X_STATS(x_ref("hlo_op", "dot.1"), x_ref("hlo_module", "jit_f"),
				x_int("program_id", 0)));
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 2);
	assert_text(xrun_program(&run, "jit_f")->program, "0");
	assert_text(xrun_op(&run, "dot.1")->common->program, "0");
}

/* JAX calls instructions after its primitives, and a fusion may be called after what it holds. */
static void collectives_by_the_name_of_a_primitive(void **state)
{
	static const struct {
		const char *name, *kind;
	} cases[] = {
		{ "psum.7", "all-reduce" },
		{ "psum_invariant.1", "all-reduce" },
		{ "all_gather.6", "all-gather" },
		{ "all_gather-start.2", "all-gather" },
		{ "reduce_scatter.14", "reduce-scatter" },
		{ "all_to_all", "all-to-all" },
		{ "ppermute.6.clone", "permute" },
		{ "all-reduce.3", "all-reduce" },
		{ "psum_fusion.1", "unknown" },
		{ "cumsum.2", "unknown" },
	};
	enum { NAMES = sizeof(cases) / sizeof(cases[0]) };
	(void)state;
	struct xline *stream = x_line(one_gpu(), "Stream #1");
	for (int64_t i = 0; i < 4 * NAMES; i++)
		x_event(stream, "kernel", i * 20, i * 20 + 10,
			X_STATS(x_ref("hlo_op", cases[i % NAMES].name),
				x_ref("hlo_module", "jit_f"), x_int("program_id", PROGRAM)));
	xrun_measure(&run);
	for (int k = 0; k < NAMES; k++)
		assert_text(xrun_op(&run, cases[k].name)->common->kind, cases[k].kind);
}

/* ---- XLA:CPU --------------------------------------------------------------------------------- */

#define OF_CPU(module, program, op, ordinal, launch)                                               \
	X_STATS(x_ref("hlo_op", (op)), x_ref("hlo_module", (module)),                              \
		x_int("program_id", (program)), x_int("device_ordinal", (ordinal)),                \
		x_int("run_id", (launch)))
#define ON_CPU(op, ordinal, launch) OF_CPU("jit_step", PROGRAM, (op), (ordinal), (launch))

/* Before ordinals were written: nothing tells a second device's ops from the first one's. */
static void ops_of_a_cpu_without_ordinals(void **state)
{
	(void)state;
	struct xline *a = x_line(x_host(xrun_host(&run, "laptop")), "tf_XLATfrtCpuClient/1");
	for (int64_t i = 0; i < 5; i++)
		x_event(a, "dot.1", i * 200, i * 200 + 30,
			X_STATS(x_ref("hlo_op", "dot.1"), x_ref("hlo_module", "jit_step"),
				x_int("program_id", PROGRAM), x_int("run_id", 40 + i)));
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "devices-agree");
	assert_number(q->ok, 0);
	assert_has(q->detail, "which device ran it");
	assert_unknown(xrun_row(&run)->hosts_expected);
}

/* Two virtual devices share two threads; device 1 takes twice as long. */
static void ordinals_of_a_cpu_are_devices(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *a = x_line(cpu, "tf_XLAEigen/1"), *b = x_line(cpu, "tf_XLAEigen/2");
	for (int64_t i = 0; i < 5; i++) {
		int64_t at = i * 200, launch = 40 + i;
		x_event(a, "dot.1", at, at + 30, ON_CPU("dot.1", 0, launch));
		x_event(b, "add.2", at + 30, at + 40, ON_CPU("add.2", 0, launch));
		x_event(a, "dot.1", at + 60, at + 120, ON_CPU("dot.1", 1, launch));
		x_event(b, "add.2", at + 120, at + 140, ON_CPU("add.2", 1, launch));
		x_event(a, "ThreadpoolListener::Record", at + 150, at + 190, NULL);
	}
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->platform, "cpu");
	assert_text(r->chip, NULL);
	assert_has(r->chip_why, "a CPU has no roofline here");
	assert_number(r->devices, 2);
	assert_number(r->steps, 3);
	assert_text(r->steps_source, "program");
	assert_number(r->step_time_s, 200 * US);
	assert_number(xrun_device(&run, "/device:CPU:0")->events, 10);
	assert_number(xrun_device(&run, "/device:CPU:0")->busy_ratio, 40. / 200);
	assert_number(xrun_device(&run, "/device:CPU:1")->busy_ratio, 80. / 200);
	const struct ops_row *dot = xrun_op(&run, "dot.1");
	assert_number(dot->common->count, 6);
	assert_number(dot->time_s, 3 * (30 + 60) * US);
	assert_number(dot->skew, 60. / 30);
	assert_number(xrun_program(&run, "jit_step")->executions, 10);
}

/* Two threads of a server launch one program, and a CPU runs both at once: op by op in turns. */
static void launches_of_a_cpu_side_by_side(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *a = x_line(cpu, "tf_XLAEigen/1"), *b = x_line(cpu, "tf_XLAEigen/2");
	for (int64_t i = 0; i < 10; i += 2)
		for (int64_t k = 0; k < 4; k++) {
			int64_t at = i * 100 + k * 40;
			x_event(a, "dot.1", at, at + 20, ON_CPU("dot.1", 0, 40 + i));
			x_event(b, "dot.1", at + 10, at + 30, ON_CPU("dot.1", 0, 41 + i));
		}
	xrun_measure(&run);
	assert_number(xrun_program(&run, "jit_step")->executions, 10);
}

/* The same op many times in one launch, on many threads: the launch is one execution. */
static void a_launch_of_a_cpu_is_one_execution(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *thread = x_line(cpu, "tf_XLAEigen/1");
	for (int64_t i = 0; i < 4; i++)
		for (int64_t k = 0; k < 3; k++)
			x_event(thread, "dot.1", i * 200 + k * 20, i * 200 + k * 20 + 10,
				ON_CPU("dot.1", 0, 40 + i));
	xrun_measure(&run);
	assert_number(xrun_program(&run, "jit_step")->executions, 4);
	assert_number(xrun_row(&run)->steps, 2);
	assert_number(xrun_op(&run, "dot.1")->common->per_step, 3);
}

/*
 * The runtime waits until a launch is done, longer than its ops last: only what lies outside of the
 * launches is the host's.
 *
 * us after a launch's begin   0     30        150    200
 *                             |dot.1|
 *                               |-- waits ----|
 */
static void an_execution_lasts_until_its_launch_is_done(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *ops = x_line(cpu, "tf_XLAEigen/1");
	struct xline *client = x_line(cpu, "tf_XLAPjRtCpuClient/2");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = i * 200,
			waits = i % 2 ? at + 10 : at - 10; /* also before the first op */
		x_event(ops, "dot.1", at, at + 30, ON_CPU("dot.1", 0, 40 + i));
		x_event(client, "ThunkExecutor::Execute (wait for completion)", waits, at + 150,
			X_STATS(x_int("run_id", 40 + i), x_int("device_ordinal", 0)));
	}
	xrun_measure(&run);
	const struct devices_row *d = xrun_device(&run, "/device:CPU:0");
	assert_number(d->events, 6);
	assert_number(d->idle_ratio, 170. / 200);
	assert_number(d->wait_ratio, 50. / 200);
	assert_number(d->window_s, (5 * 200 + 150) * US);
	assert_number(xrun_program(&run, "jit_step")->p50_s, 150 * US);
	const struct gaps_row *gaps = table_rows(&run.tables, gaps);
	assert_text(gaps[0].cause, "program");
	assert_number(gaps[0].time_s, 120 * US);
	assert_number(gaps[1].time_s, 50 * US);
}

/* Two devices take turns on one processor: while the other runs, a device waits for it. */
static void cpu_devices_share_their_host(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *a = x_line(cpu, "tf_XLAEigen/1"), *b = x_line(cpu, "tf_XLAEigen/2");
	for (int64_t i = 0; i < 6; i++) {
		int64_t at = i * 200;
		x_event(a, "dot.1", at, at + 60, ON_CPU("dot.1", 0, 40 + i));
		x_event(b, "dot.1", at + 60, at + 120, ON_CPU("dot.1", 1, 40 + i));
	}
	xrun_measure(&run);
	assert_number(xrun_device(&run, "/device:CPU:0")->idle_ratio, 140. / 200);
	assert_number(xrun_device(&run, "/device:CPU:0")->wait_ratio, 80. / 200);
	assert_number(xrun_device(&run, "/device:CPU:1")->wait_ratio, 80. / 200);
}

/* One of them evaluates behind every second step: the other waits for that in no step. */
static void a_cpu_device_evaluates(void **state)
{
	(void)state;
	struct xplane *cpu = x_host(xrun_host(&run, "laptop"));
	struct xline *a = x_line(cpu, "tf_XLAEigen/1"), *b = x_line(cpu, "tf_XLAEigen/2");
	for (int64_t i = 0; i < 8; i++) {
		int64_t at = i * 400;
		x_event(a, "dot.1", at, at + 60,
			OF_CPU("jit_train_step", PROGRAM, "dot.1", 0, 40 + i));
		x_event(b, "dot.1", at + 60, at + 120,
			OF_CPU("jit_train_step", PROGRAM, "dot.1", 1, 40 + i));
		if (i % 2)
			x_event(a, "sum.1", at + 160, at + 260,
				OF_CPU("jit_eval_step", PROGRAM + 1, "sum.1", 0, 80 + i));
	}
	xrun_measure(&run);
	for (int i = 0; i < 2; i++) {
		const struct devices_row *d =
			xrun_device(&run, i ? "/device:CPU:1" : "/device:CPU:0");
		assert_number(d->steps, 6);
		assert_number(d->idle_ratio, 3 * (340 + 240) / 2100.);
		assert_number(d->wait_ratio, 3 * (280 + 180) / 2100.);
		assert_number(d->other_wait_ratio, 0);
	}
}

/* Older runtimes record no op. */
static void a_cpu_without_ops(void **state)
{
	(void)state;
	struct xline *thread = x_line(x_host(xrun_host(&run, "laptop")), "tf_XLAEigen/1");
	x_event(thread, "TfrtCpuExecutable::Execute", 0, 40, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->devices, 0);
	assert_text(xrun_row(&run)->platform, "unknown");
	const struct quality_row *q = xrun_quality(&run, "ops-recorded");
	assert_number(q->ok, 0);
	assert_has(q->detail, "no device op was recorded");
}

/* What the names of libraries' kernels tell, without any HLO. */
static void kernels_by_their_names(void **state)
{
	static const struct {
		const char *kernel, *kind, *dtype;
	} known[] = {
		{ "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "matmul", "bf16" },
		{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", "matmul", "f16" },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_ffma_execute_kernel__5x_cublas", "matmul",
			"f32" },
		{ "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_execute_segment_k_off_kernel__5x_"
		  "cublas",
			"matmul", "f8e4m3fn" },
		{ "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn",
			"matmul", "f16" },
		{ "volta_sgemm_128x64_nn", "matmul", "f32" },
		{ "Cijk_Ailk_Bljk_BBS_BH_MT256x256x64_MI16x16x1", "matmul", "bf16" },
		{ "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc", "convolution",
			"bf16" },
		{ "volta_scudnn_128x64_relu_interior_nn_v1", "convolution", "f32" },
		{ "cudnn_volta_fp16_scudnn_fp16_128x64_relu_medium_nn_v1", "convolution", "f16" },
		{ "cudnn_turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
			"convolution", "f16" },
		{ "sm50_xmma_pooling_coalescedC_NHWC_kMAX_3_False_execute_kernel_trt", "reduce",
			NULL },
		{ "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7", "attention",
			"f16" },
		{ "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, cutlass::bfloat16_t>>",
			"attention", "bf16" },
		{ "gemm_fusion_dot_12", "matmul", NULL },
		{ "gemma_rmsnorm_kernel", "reduce", NULL },
		{ "gemma_rope_kernel", "unknown", NULL },
		{ "triton_poi_fused_add_gelu_7", "elementwise", NULL },
		{ "triton_for_fused_1", "elementwise", NULL },
		{ "triton_red_fused_native_layer_norm_backward_4", "reduce", NULL },
		{ "triton_per_fused__softmax_2", "reduce", NULL },
		{ "triton_tem_fused_addmm_0", "matmul", NULL },
		{ "triton_tem_fused_flex_attention_0", "attention", NULL },
		{ "kernel_unified_attention_2d", "attention", NULL },
		{ "void cublasLt::splitKreduce_kernel<32, 16, int, float>", "reduce", NULL },
		{ "void gemv2T_kernel_val<int, int, float>", "matmul", NULL },
		{ "void cub::DeviceRadixSortOnesweepKernel<long>", "sort", NULL },
		{ "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>", "elementwise",
			NULL },
		{ "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>", "scatter", NULL },
		{ "void at::native::elementwise_kernel<128, 2, c10::BFloat16>", "elementwise",
			NULL },
		{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_"
		  "cuda(at::TensorIteratorBase &)>",
			"copy", NULL },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduce",
			NULL },
		{ "void at::native::vectorized_gather_kernel<16, long>", "gather", NULL },
		{ "void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<float>",
			"rng", NULL },
		/* the ops that it was made from come after what it is */
		{ "triton_red_fused_addmm_fmha_v3_fwd_mean_mul_24", "reduce", NULL },
		{ "triton_poi_fused__to_copy_flash_fwd_cat_14", "elementwise", NULL },
		{ "attn_fwd", "attention", NULL },
		{ "void BatchPrefillWithPagedKVCacheKernel<1>", "attention", NULL },
		{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "convolution", "bf16" },
		{ "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_"
		  "bf16_256x64_32x4_nhwc_align8>",
			"convolution", "bf16" },
		{ "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_"
		  "cshuffle_v3INS_28GridwiseGemm_xdl_cshuffle_v3IN",
			"convolution", NULL },
		{ "nvjet_sm103_tst_8x64_64x16_4x1_v_bz_TNN", "matmul", "bf16" },
		{ "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x144x64", "matmul", "bf16" },
		{ "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128", "matmul", "f32" },
		{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "matmul", "bf16" },
		{ "_finalize_matmul_scatter_bf16", "reduce", NULL },
		{ "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2", "matmul", NULL },
		{ "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>",
			"all-reduce", NULL },
		{ "batched_transpose_16x32_half", "copy", NULL },
		{ "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half>", "copy",
			NULL },
		{ "void at::native::batch_norm_collect_statistics_kernel<float>", "reduce", NULL },
		{ "void at::native::batch_norm_transform_input_kernel<float>", "elementwise",
			NULL },
		{ "MIOpenBatchNormBwdSpatial", "reduce", NULL },
		{ "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>", "sort",
			NULL },
		{ "void vllm::scaled_fp8_quant_kernel_strided<float>", "elementwise", NULL },
		{ "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<float>, int>",
			"elementwise", NULL },
		{ "void tensorflow::functor::FillPhiloxRandomKernelLaunch<float>", "rng", NULL },
	};
	enum { KNOWN = sizeof(known) / sizeof(known[0]) };
	struct xspace *host = xrun_host(&run, "node-0");
	struct xline *stream = x_line(x_gpu(host, 0, "NVIDIA H100 80GB HBM3"), "Stream #1");

	(void)state;
	for (int64_t i = 0; i < 3; i++)
		for (int64_t k = 0; k < KNOWN; k++)
			x_event(stream, known[k].kernel, (i * KNOWN + k) * 100,
				(i * KNOWN + k) * 100 + 50, NULL);
	xrun_measure(&run);
	for (ptrdiff_t k = 0; k < KNOWN; k++) {
		const struct ops_row *op = xrun_op(&run, known[k].kernel);
		assert_text(op->common->kind, known[k].kind);
		assert_text(op->common->dtype, known[k].dtype);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kernels_of_one_op_are_one_execution),
		TEST(a_repeated_kernel_is_the_same_execution),
		TEST(a_repeated_kernel_of_a_lone_op),
		TEST(streams_overlap),
		TEST(a_capture_is_as_long_as_its_longest_device),
		TEST(kernels_that_nobody_claims),
		TEST(backward_kernels),
		TEST(frameworks_by_their_kernels),
		TEST(frameworks_by_their_modules),
		TEST(copies_by_direction),
		TEST(calls_that_copy_first),
		TEST(the_last_to_arrive_waits_for_nobody),
		TEST(kernels_and_their_hlo),
		TEST(kernels_tell_how_f32_is_multiplied),
		TEST(kernels_by_their_names),
		TEST(program_zero),
		TEST(collectives_by_the_name_of_a_primitive),
		TEST(ops_of_a_cpu_without_ordinals),
		TEST(ordinals_of_a_cpu_are_devices),
		TEST(launches_of_a_cpu_side_by_side),
		TEST(a_launch_of_a_cpu_is_one_execution),
		TEST(an_execution_lasts_until_its_launch_is_done),
		TEST(cpu_devices_share_their_host),
		TEST(a_cpu_device_evaluates),
		TEST(a_cpu_without_ops),
	};
	return cmocka_run_group_tests_name("measure_gpu", tests, NULL, NULL);
}
