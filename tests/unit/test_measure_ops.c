/* measure/: what an op is, what it costs, where it comes from, and how long it stays itself. */
#include <math.h>

#include "tests/unit/run.h"

#define PROGRAM 7
#define STEPS	5
#define STEADY	3 /* of as many executions: neither the first nor the last */
#define OF_IT	X_STATS(x_int("program_id", PROGRAM))
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

/* ---- parts of HLO ---------------------------------------------------------------------------- */

static struct str field(int number, struct str bytes)
{
	struct pb b = pb_new(&run.keep);
	pb_bytes(&b, number, bytes);
	return pb_done(&b);
}

static struct str join(struct str a, struct str b)
{
	struct pb both = pb_new(&run.keep);
	pb_raw(&both, a);
	pb_raw(&both, b);
	return pb_done(&both);
}

/* OpMetadata of an instruction; `frame` 0: the file and line stand here. */
static struct str from(const char *op_name, const char *file, int64_t line, int64_t frame)
{
	struct pb b = pb_new(&run.keep);
	pb_text(&b, 2, op_name);
	if (file)
		pb_text(&b, 3, file);
	pb_int(&b, 4, line);
	pb_int(&b, 15, frame);
	return field(7, pb_done(&b));
}

/* A row-major product: the last dimension of the left with the first of the right. */
static struct str product(void)
{
	struct pb b = pb_new(&run.keep);
	pb_packed(&b, 1, PB_LIST(1));
	pb_packed(&b, 2, PB_LIST(0));
	return field(30, pb_done(&b));
}

/* One group of devices 0 to 3, by their global ids. */
static struct str all_four(void)
{
	struct pb b = pb_new(&run.keep);
	pb_int(&b, 26, 1);
	pb_bytes(&b, 49, pb_list(&run.keep, 1, PB_LIST(0, 1, 2, 3)));
	pb_int(&b, 71, 1);
	return pb_done(&b);
}

static struct str partitions(int64_t count)
{
	struct pb b = pb_new(&run.keep);
	pb_int(&b, 1, 1);
	pb_int(&b, 2, count);
	return field(15, pb_done(&b));
}

static struct str module_of(const struct pb_instruction *body, struct str more)
{
	const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };
	return pb_write_module(&run.keep, c, more);
}

/* A host's one TPU, and the program that it runs. */
static struct xplane *tpu_with(struct str module)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");

	x_hlo(host, "jit_step", PROGRAM, module);
	return tpu;
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* x . w of 1024 x 1024 bf16: 2 * 1024^3 FLOPs and three arrays of 2 MiB. */
#define MIB	   1048576.0
#define DOT_FLOPS  (2.0 * 1024 * 1024 * 1024)
#define V5E_FLOPS  197e12
#define V5E_HBM	   819e9
#define ATTAINABLE 0.95 /* of the peak, by hardware/tpu_v5e.json */

static struct str matmul_module(void)
{
	const struct pb_instruction body[] = {
		{ "x.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "w.2", "parameter", "bf16[1024,1024]{1,0}", 2, NO_ROW, NO_ROW, 1, NO_ROW },
		{ "dot.3", "dot", "bf16[1024,1024]{1,0}", 3, { 1, 2 }, NO_ROW, 0,
			join(product(), from("jit(f)/jit(main)/dot_general", "model.py", 12, 0)) },
		{ "add.4", "add", "bf16[1024,1024]{1,0}", 4, { 3, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	return module_of(body, STR(""));
}

static void tell_matmuls(const struct xstat *of_dot)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");

	x_hlo(host, "jit_f", PROGRAM, matmul_module());
	x_op(tpu, "dot.3", of_dot);
	x_op(tpu, "add.4", OF_IT);
	for (int64_t i = 0; i < STEPS; i++) {
		x_event(ops, "dot.3", i * 200, i * 200 + 20, NULL);
		x_event(ops, "add.4", i * 200 + 20, i * 200 + 30, NULL);
		x_event(ops, "add.4", i * 200 + 30, i * 200 + 40, NULL);
	}
}

/* Steps alternate between two lengths on each of two unlike devices. */
static void the_range_of_each_device(void **state)
{
	struct xspace *host = xrun_host(&run, "worker-0");

	(void)state;
	x_hlo(host, "jit_f", PROGRAM, matmul_module());
	for (int64_t d = 0; d < 2; d++) {
		struct xplane *tpu = x_tpu(host, (int)d, "TPU v5 lite");
		struct xline *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.3", OF_IT);
		for (int64_t i = 0; i < STEPS; i++)
			x_event(ops, "dot.3", i * 200, i * 200 + 20 + d * 30 + i % 2 * 4, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_op(&run, "dot.3")->least_s, (20 + 50) / 2. * US);
	assert_number(xrun_op(&run, "dot.3")->most_s, (24 + 54) / 2. * US);
}

/* Of 8 batches when `batched`: three arrays that all have that dimension. */
static const struct ops_row *matmul_of(const char *x, const char *w, const char *out, bool batched)
{
	struct pb b = pb_new(&run.keep);
	pb_packed(&b, 1, PB_LIST(batched ? 2 : 1));
	pb_packed(&b, 2, PB_LIST(batched ? 1 : 0));
	for (int side = 3; batched && side <= 4; side++)
		pb_packed(&b, side, PB_LIST(0));
	const struct pb_instruction body[] = {
		{ "x.1", "parameter", x, 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "w.2", "parameter", w, 2, NO_ROW, NO_ROW, 1, NO_ROW },
		{ "dot.3", "dot", out, 3, { 1, 2 }, NO_ROW, 0, field(30, pb_done(&b)) },
		NO_ROW,
	};
	struct xplane *tpu = tpu_with(module_of(body, STR("")));
	x_op(tpu, "dot.3", OF_IT);
	for (int64_t i = 0; i < STEPS; i++)
		x_event(x_line(tpu, "XLA Ops"), "dot.3", i * 200, i * 200 + 20, NULL);
	xrun_measure(&run);
	return xrun_op(&run, "dot.3");
}

/* With r times the 64 rows x and the result take r times as long to move, and w no longer. */
static void a_thin_matmul_wants_rows(void **state)
{
	double side = 64. * 4096 * 2 / V5E_HBM, t_math = 2. * 64 * 4096 * 4096 / V5E_FLOPS;

	(void)state;
	const struct ops_row *dot = matmul_of(
		"bf16[64,4096]{1,0}", "bf16[4096,4096]{1,0}", "bf16[64,4096]{1,0}", false);
	assert_number(dot->common->aligned_to, 64);
	assert_number(dot->common->rows_ratio, 4096. * 4096 * 2 / V5E_HBM / (t_math - 2 * side));
}

/* Scores of attention, which grow with all that could be rows. */
static void no_rows_help_a_batched_matmul(void **state)
{
	(void)state;
	const struct ops_row *dot = matmul_of("bf16[8,1024,96]{2,1,0}", "bf16[8,96,1024]{2,1,0}",
		"bf16[8,1024,1024]{2,1,0}", true);
	assert_unknown(dot->common->rows_ratio);
	assert_number(dot->common->aligned_to, 32);
}

/* 63 x 32 weights: the activations take longer to move than to multiply, however many there are. */
static void no_rows_help_small_weights(void **state)
{
	(void)state;
	const struct ops_row *dot =
		matmul_of("bf16[8192,63]{1,0}", "bf16[63,32]{1,0}", "bf16[8192,32]{1,0}", false);
	assert_unknown(dot->common->rows_ratio);
	assert_number(dot->common->aligned_to, 1);
}

static void a_matmul_against_its_roofline(void **state)
{
	(void)state;
	tell_matmuls(OF_IT);
	xrun_measure(&run);
	const struct ops_row *dot = xrun_op(&run, "dot.3");
	double t_math = DOT_FLOPS / V5E_FLOPS;
	assert_text(dot->common->kind, "matmul");
	assert_text(dot->common->opcode, "dot");
	assert_text(dot->common->dtype, "bf16");
	assert_text(dot->common->shape, "bf16[1024,1024]{1,0}");
	assert_text(dot->common->attribution, "name");
	assert_number(dot->common->flops, DOT_FLOPS);
	assert_text(dot->common->flops_source, "hlo");
	assert_text(dot->common->cost_bound, "exact");
	assert_number(dot->common->hbm_bytes, 6 * MIB);
	assert_number(dot->common->t_math_s, t_math);
	assert_number(dot->common->t_hbm_s, 6 * MIB / V5E_HBM);
	assert_unknown(dot->common->t_comms_s);
	assert_number(dot->common->roofline_s, t_math);
	/* And what it takes to start. */
	assert_number(dot->common->attainable_s, t_math / ATTAINABLE + 0.5 * US);
	assert_text(dot->common->bound, "compute");
	assert_number(dot->efficiency, t_math / (20 * US));
	assert_number(dot->gain_s, 20 * US - dot->common->attainable_s);
	assert_number(dot->common->padding_ratio, 1);
	const struct ops_row *add = xrun_op(&run, "add.4");
	assert_text(add->common->kind, "elementwise");
	assert_text(add->common->bound, "memory");
	assert_number(add->common->attainable_s, 6 * MIB / V5E_HBM + 0.5 * US);
	assert_number(add->gain_s, 2 * (10 * US - add->common->attainable_s)); /* twice a step */
}

static void a_run_against_its_roofline(void **state)
{
	(void)state;
	tell_matmuls(OF_IT);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	const struct ops_row *add = xrun_op(&run, "add.4");
	double ideal = DOT_FLOPS / V5E_FLOPS + 2 * add->common->roofline_s;
	assert_number(r->roofline_ratio_lo, ideal / (200 * US));
	assert_number(r->roofline_ratio_hi, ideal / (200 * US)); /* every op is known */
	assert_number(r->judged_ratio, 1);
	assert_number(r->op_util, (DOT_FLOPS + 2 * add->common->flops) / (200 * US * V5E_FLOPS));
	assert_number(r->step_flops, DOT_FLOPS + 2 * add->common->flops);
	assert_number(r->hbm_util, (6 + 2 * 6) * MIB / (200 * US * V5E_HBM));
	assert_number(xrun_program(&run, "jit_f")->floor_s, ideal);
	assert_number(xrun_program(&run, "jit_f")->serial_s, ideal);
}

/* A model of more FLOPs than the program has is another job's, though the chip could do them. */
static void a_job_file_that_cannot_fit(void **state)
{
	static const double times[] = { 1.1, 2.4 };
	struct job_file job;
	struct diag err;
	(void)state;
	assert_true(job_parse(STR("job.yaml"), STR("version: 1\nphase: train\ndevices: 1\n"),
		&run.keep, &job, &err));
	run.options.job = &job;
	for (int i = 0; i < 2; i++) {
		xrun_end(&run);
		xrun_begin(&run);
		run.options.job = &job;
		tell_matmuls(OF_IT);
		job.model.flops_per_token = times[i] * DOT_FLOPS;
		job.tokens_per_step = 1;
		xrun_measure(&run);
		const struct run_row *r = xrun_row(&run);
		const struct quality_row *q = xrun_quality(&run, "job-agrees");
		assert_number(q->ok, i == 0);
		assert_true(isnan(r->mfu) == (i == 1));
		assert_true(isnan(r->useful_flops_ratio) == (i == 1));
		if (i == 1)
			assert_has(q->detail, "2.4 times what the program has");
	}
}

/* The compiler's own figures win; an upper bound would not be theirs. */
static void the_profiles_own_costs(void **state)
{
	/* MemoryAccessBreakdown: 5 MiB read from HBM, 1 MiB written, 9 read from VMEM */
	struct pb b = pb_new(&run.keep);
	static const int64_t accesses[3][3] = { { 1, 1, 5 }, { 2, 1, 1 }, { 1, 3, 9 } };
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct pb one = pb_new(&run.keep);
		pb_int(&one, 1, accesses[i][0]);
		pb_int(&one, 2, accesses[i][1]);
		pb_int(&one, 3, accesses[i][2] * 1048576);
		pb_bytes(&b, 1, pb_done(&one));
	}
	tell_matmuls(X_STATS(x_int("program_id", PROGRAM), x_int("flops", 3000000),
		x_int("model_flops", 2000000), x_int("bytes_accessed", 99),
		x_bytes("memory_access_breakdown", pb_done(&b)),
		x_text("hlo_category", "convolution fusion")));
	xrun_measure(&run);
	const struct ops_row *dot = xrun_op(&run, "dot.3");
	assert_number(dot->common->flops, 2000000);
	assert_text(dot->common->flops_source, "profile");
	assert_text(dot->common->category, "convolution fusion");
	assert_number(dot->common->hbm_bytes, 6 * MIB);
	assert_text(dot->common->bound, "memory");
}

/* What comes from the host comes over PCIe, whose time is the roofline. */
static void bytes_from_the_host(void **state)
{
	const struct pb_instruction body[] = {
		{ "x.1", "parameter", "f32[1024,1024]{1,0:S(5)}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "copy.2", "copy", "f32[1024,1024]{1,0}", 2, { 1 }, NO_ROW, 0, NO_ROW },
		{ "negate.3", "negate", "f32[1024,1024]{1,0}", 3, { 2 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_f", PROGRAM, module_of(body, STR("")));
	x_op(tpu, "copy.2", X_STATS(x_int("program_id", PROGRAM)));
	x_op(tpu, "negate.3", X_STATS(x_int("program_id", PROGRAM)));
	for (int64_t i = 0; i < STEPS; i++) {
		x_event(ops, "copy.2", i * 500, i * 500 + 300, NULL);
		x_event(ops, "negate.3", i * 500 + 300, i * 500 + 320, NULL);
	}
	xrun_measure(&run);
	const struct ops_row *copy = xrun_op(&run, "copy.2"), *negate = xrun_op(&run, "negate.3");
	assert_text(copy->common->kind, "transfer");
	assert_number(copy->common->t_hbm_s, 4 * MIB / V5E_HBM);
	assert_number(copy->common->t_host_s, 4 * MIB / 16e9);
	assert_number(copy->common->roofline_s, 4 * MIB / 16e9);
	assert_text(copy->common->bound, "host");
	assert_unknown(negate->common->t_host_s);
	/* The rate of a TPU's vector units is not published. */
	assert_unknown(negate->common->t_math_s);
	assert_text(negate->common->bound, "memory");
}

/* What a custom call says of itself is off by any factor. */
static void a_custom_calls_own_costs_are_not_believed(void **state)
{
	const struct pb_instruction body[] = {
		{ "x.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "call.2", "custom-call", "bf16[1024,1024]{1,0}", 2, { 1 }, NO_ROW, 0,
			field(28, STR("somebodys_kernel")) },
		NO_ROW,
	};
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_f", PROGRAM, module_of(body, STR("")));
	x_op(tpu, "call.2",
		X_STATS(x_int("program_id", PROGRAM), x_int("flops", 1000000),
			x_text("hlo_category", "custom-call")));
	for (int64_t i = 0; i < STEPS; i++)
		x_event(ops, "call.2", i * 200, i * 200 + 20, NULL);
	xrun_measure(&run);
	assert_text(xrun_op(&run, "call.2")->common->kind, "custom");
	assert_unknown(xrun_op(&run, "call.2")->common->flops);
	assert_unknown(xrun_op(&run, "call.2")->common->roofline_s);
	assert_number(xrun_row(&run)->judged_ratio, 0);
	assert_unknown(xrun_row(&run)->roofline_ratio_lo); /* nothing was counted: it is not 0 */
	assert_unknown(xrun_row(&run)->op_util);
	assert_number(xrun_row(&run)->unknown_bytes_ratio, 1);
	assert_unknown(xrun_row(&run)->hbm_util);
	assert_number(xrun_row(&run)->roofline_ratio_hi, 20. / 200);
}

static void what_one_op_hands_to_another(void **state)
{
	(void)state;
	tell_matmuls(OF_IT);
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, edges), 1); /* parameters did not run */
	const struct edges_row *e = table_rows(&run.tables, edges);
	assert_text(e->producer, "dot.3");
	assert_text(e->producer_kind, "matmul");
	assert_text(e->consumer, "add.4");
	assert_number(e->bytes, 2 * MIB);
}

/* ---- asynchronous pairs ---------------------------------------------------------------------- */

/*
 * us                  0   2                 50             80
 * all-gather-start.2  |---|
 * dot.4                   |-----------------|
 * all-gather-done.3                         |--------------|
 */
static void tell_gathers_but(int64_t done_us, int64_t first_start, int64_t dones)
{
	const struct pb_instruction body[] = {
		{ "w.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather-start.2", "all-gather-start",
			"(bf16[1024,1024]{1,0}, bf16[4096,1024]{1,0})", 2, { 1 }, NO_ROW, 0,
			all_four() },
		{ "dot.4", "dot", "bf16[1024,1024]{1,0}", 4, { 1, 1 }, NO_ROW, 0, product() },
		{ "all-gather-done.3", "all-gather-done", "bf16[4096,1024]{1,0}", 3, { 2 }, NO_ROW,
			0, NO_ROW },
		NO_ROW,
	};
	struct xspace *host = xrun_host(&run, "worker-0");

	x_hlo(host, "jit_step", PROGRAM, module_of(body, partitions(4)));
	for (int d = 0; d < 4; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "all-gather-start.2", OF_IT);
		x_op(tpu, "dot.4", OF_IT);
		x_op(tpu, "all-gather-done.3", OF_IT);
		for (int64_t i = 0; i < STEPS; i++) {
			int64_t at = i * 200;
			if (i >= first_start)
				x_event(ops, "all-gather-start.2", at, at + 2, NULL);
			x_event(ops, "dot.4", at + 2, at + 50, NULL);
			if (i < dones)
				x_event(ops, "all-gather-done.3", at + 50, at + 50 + done_us, NULL);
		}
	}
}

static void tell_gathers(int64_t done_us)
{
	tell_gathers_but(done_us, 0, STEPS);
}

/* An evaluation now and then gathers, too; devices arrive 5 us after one another. */
static void a_collective_outside_the_steps(void **state)
{
	enum { EVALUATION = PROGRAM + 1 };
	const struct pb_instruction step[] = {
		{ "w.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "dot.2", "dot", "bf16[1024,1024]{1,0}", 2, { 1, 1 }, NO_ROW, 0, product() },
		NO_ROW,
	};
	const struct pb_instruction evaluation[] = {
		{ "w.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather.3", "all-gather", "bf16[4096,1024]{1,0}", 3, { 1 }, NO_ROW, 0,
			all_four() },
		NO_ROW,
	};
	struct xspace *host = xrun_host(&run, "worker-0");

	(void)state;
	x_hlo(host, "jit_train_step", PROGRAM, module_of(step, partitions(4)));
	x_hlo(host, "jit_evaluate", EVALUATION, module_of(evaluation, partitions(4)));
	for (int d = 0; d < 4; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *ops = x_line(tpu, "XLA Ops");
		x_op(tpu, "dot.2", OF_IT);
		x_op(tpu, "all-gather.3", X_STATS(x_int("program_id", EVALUATION)));
		for (int64_t i = 0; i < 8; i++) {
			x_event(ops, "dot.2", i * 1000, i * 1000 + 50, NULL);
			if (i == 3 || i == 6)
				x_event(ops, "all-gather.3", i * 1000 + 500 + d * 5, i * 1000 + 600,
					NULL);
		}
	}
	xrun_measure(&run);
	const struct collectives_row *c = xrun_collective(&run, "all-gather.3");
	assert_text(c->role, "other");
	assert_number(c->per_step, 0);
	assert_number(c->span_s, (100 - 7.5) * US);
	assert_number(c->transfer_s, 85 * US); /* since the last one came */
	assert_number(c->wait_s, 15 * US);
	assert_number(c->exposed_share, 0);
	assert_unknown(c->exposed_s);
	/* Twice 100, 95, 90 and 85 us, of four windows of 7050. */
	assert_number(c->window_share, 2. * 370 / (4 * 7050));
	assert_number(c->recurs, 1);
	/* Two of six steps are shorter by an evaluation, of 92.5 us on average. */
	assert_number(c->rate, 8 / (4 * 7050. / ((6 * 1000 - 2 * 92.5) / 6)));
	assert_text(c->module, "jit_evaluate");
	assert_number(xrun_op(&run, "all-gather.3")->overlap_ratio, 0);
	assert_true(c->expected_lo_s > 0);
	const struct programs_row *p = xrun_program(&run, "jit_evaluate");
	assert_number(p->executions, 8);
	assert_number(p->floor_s, c->expected_lo_s);
	assert_number(xrun_program(&run, "jit_train_step")->floor_s, DOT_FLOPS / V5E_FLOPS);
	assert_number(xrun_row(&run)->predicted_step_s, DOT_FLOPS / V5E_FLOPS);
}

/* A second program of each step has no HLO: the sum is without its ops, and says so. */
static void a_prediction_without_a_program(void **state)
{
	enum { UNKNOWN = PROGRAM + 1 };
	const struct pb_instruction step[] = {
		{ "w.1", "parameter", "bf16[1024,1024]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "dot.2", "dot", "bf16[1024,1024]{1,0}", 2, { 1, 1 }, NO_ROW, 0, product() },
		NO_ROW,
	};
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");

	(void)state;
	x_hlo(host, "jit_train_step", PROGRAM, module_of(step, partitions(1)));
	x_op(tpu, "dot.2", OF_IT);
	x_op(tpu, "fusion.1", X_STATS(x_int("program_id", UNKNOWN)));
	x_op(tpu, "fusion.2", X_STATS(x_int("program_id", UNKNOWN)));
	for (int64_t i = 0; i < 6; i++) {
		x_event(ops, "dot.2", i * 1000, i * 1000 + 50, NULL);
		x_event(ops, "fusion.1", i * 1000 + 50, i * 1000 + 80, NULL);
		x_event(ops, "fusion.2", i * 1000 + 80, i * 1000 + 90, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->programs_per_step, 2);
	assert_number(xrun_row(&run)->predicted_step_s, DOT_FLOPS / V5E_FLOPS);
	assert_number(xrun_row(&run)->unpredicted_ops, 2);
	assert_number(xrun_program(&run, "jit_train_step")->unpredicted_ops, 0);
}

static void a_pair_spans_from_start_to_done(void **state)
{
	(void)state;
	tell_gathers(30);
	xrun_measure(&run);
	const struct collectives_row *c = xrun_collective(&run, "all-gather-start.2");
	assert_int_equal(table_count(&run.tables, collectives), 1);
	assert_text(c->kind, "all-gather");
	assert_number(c->is_async, 1);
	assert_number(c->per_step, 1);
	assert_number(c->span_s, 80 * US);
	assert_number(c->hidden_s, 48 * US);
	assert_number(c->exposed_s, 32 * US);
	assert_number(c->exposed_share, 32. / 200);
	assert_number(c->done_waits, 1);
	assert_number(c->transfer_s, 80 * US);
	assert_number(c->wait_s, 0);
	assert_number(xrun_row(&run)->comms_exposed_ratio, 32. / 200);
	assert_number(xrun_row(&run)->comms_hidden_ratio, 48. / 200);
	const struct ops_row *done = xrun_op(&run, "all-gather-done.3");
	assert_number(done->common->is_async, 1);
	assert_text(done->common->kind, "all-gather");
	assert_number(done->p50_s, 30 * US);
	assert_unknown(done->overlap_ratio); /* its span tells, not the half */
	assert_unknown(done->common->roofline_s);
	assert_number(xrun_op(&run, "dot.4")->overlap_ratio, 1);
	assert_unknown(xrun_family(&run, "all-gather-start.2")->overlap_ratio);
	assert_unknown(xrun_family(&run, "all-gather-done.3")->overlap_ratio);
	assert_number(xrun_family(&run, "dot.4")->overlap_ratio, 1);
}

/* The done only asked: when the data had come is not in the profile. */
static void a_done_that_did_not_wait(void **state)
{
	(void)state;
	tell_gathers(1);
	xrun_measure(&run);
	const struct collectives_row *c = xrun_collective(&run, "all-gather-start.2");
	assert_number(c->span_s, 51 * US);
	assert_number(c->done_waits, 0);
	assert_unknown(c->transfer_s);
	assert_unknown(c->bandwidth_bps);
}

/* Recording began between the two: the start is known from the HLO before it is met. */
static void a_done_comes_first(void **state)
{
	const struct pb_instruction body[] = {
		{ "w.1", "parameter", "bf16[256]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather-start.2", "all-gather-start", "(bf16[256]{0}, bf16[1024]{0})", 2,
			{ 1 }, NO_ROW, 0, all_four() },
		{ "all-gather-done.3", "all-gather-done", "bf16[1024]{0}", 3, { 2 }, NO_ROW, 0,
			NO_ROW },
		NO_ROW,
	};
	(void)state;
	struct xplane *tpu = tpu_with(module_of(body, partitions(4)));
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "all-gather-start.2",
		X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "async-start")));
	x_op(tpu, "all-gather-done.3", OF_IT);
	for (int64_t i = 0; i < STEPS; i++) {
		x_event(ops, "all-gather-done.3", i * 200, i * 200 + 30, NULL);
		x_event(ops, "all-gather-start.2", i * 200 + 100, i * 200 + 102, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_op(&run, "all-gather-start.2")->common->category, "async-start");
	assert_number(xrun_collective(&run, "all-gather-start.2")->span_s, 130 * US);
}

/*
 * us                  0   2            40               60             80
 * all-gather-start.2  |---|
 * dot.4                   |------------|
 * all-reduce.5                         |----------------|
 * all-gather-done.3                                     |--------------|
 *
 * While the all-reduce runs, it is what the device waits for, and not the gather in flight.
 */
static void what_is_in_flight_keeps_nobody_waiting(void **state)
{
	const struct pb_instruction body[] = {
		{ "w.1", "parameter", "bf16[256]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather-start.2", "all-gather-start", "(bf16[256]{0}, bf16[1024]{0})", 2,
			{ 1 }, NO_ROW, 0, all_four() },
		{ "dot.4", "negate", "bf16[256]{0}", 4, { 1 }, NO_ROW, 0, NO_ROW },
		{ "all-reduce.5", "all-reduce", "bf16[256]{0}", 5, { 4 }, NO_ROW, 0, all_four() },
		{ "all-gather-done.3", "all-gather-done", "bf16[1024]{0}", 3, { 2 }, NO_ROW, 0,
			NO_ROW },
		NO_ROW,
	};
	(void)state;
	struct xplane *tpu = tpu_with(module_of(body, partitions(4)));
	struct xline *ops = x_line(tpu, "XLA Ops");
	for (size_t i = 1; i < 5; i++)
		x_op(tpu, body[i].name, OF_IT);
	for (int64_t i = 0; i < STEPS; i++) {
		x_event(ops, "all-gather-start.2", i * 200, i * 200 + 2, NULL);
		x_event(ops, "dot.4", i * 200 + 2, i * 200 + 40, NULL);
		x_event(ops, "all-reduce.5", i * 200 + 40, i * 200 + 60, NULL);
		x_event(ops, "all-gather-done.3", i * 200 + 60, i * 200 + 80, NULL);
	}
	xrun_measure(&run);
	const struct collectives_row *gather = xrun_collective(&run, "all-gather-start.2");
	assert_number(xrun_collective(&run, "all-reduce.5")->exposed_s, 20 * US);
	assert_number(gather->exposed_s, 22 * US);
	assert_number(gather->hidden_s, 38 * US);
	assert_number(xrun_row(&run)->comms_exposed_ratio, 42. / 200);
}

static struct str element(int64_t index)
{
	struct pb b = pb_new(&run.keep);
	pb_int(&b, 13, index);
	return pb_done(&b);
}

/* A loop that begins in one trip what it waits for in the next: see test_hlo_pairs. */
static struct str rotated_module(void)
{
#define GATHER "(bf16[256]{0}, bf16[1024]{0})"
#define STATE  "(" GATHER ", bf16[256]{0})"
	const struct pb_instruction body[] = {
		{ "state", "parameter", STATE, 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "flight", "get-tuple-element", GATHER, 2, { 1 }, NO_ROW, 0, element(0) },
		{ "all-gather-done.3", "all-gather-done", "bf16[1024]{0}", 3, { 2 }, NO_ROW, 0,
			NO_ROW },
		{ "shard", "get-tuple-element", "bf16[256]{0}", 4, { 1 }, NO_ROW, 0, element(1) },
		{ "all-gather-start.2", "all-gather-start", GATHER, 5, { 4 }, NO_ROW, 0,
			all_four() },
		{ "work.4", "negate", "bf16[256]{0}", 6, { 4 }, NO_ROW, 0, NO_ROW },
		{ "next", "tuple", STATE, 7, { 5, 6 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	const struct pb_instruction condition[] = {
		{ "seen", "parameter", STATE, 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "go", "constant", "pred[]", 2, NO_ROW, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	const struct pb_instruction entry[] = {
		{ "w.1", "parameter", "bf16[256]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "all-gather-start.1", "all-gather-start", GATHER, 2, { 1 }, NO_ROW, 0,
			all_four() },
		{ "init", "tuple", STATE, 3, { 2, 1 }, NO_ROW, 0, NO_ROW },
		{ "while.1", "while", STATE, 4, { 3 }, { 2, 3 }, 0, NO_ROW },
		{ "last", "get-tuple-element", GATHER, 5, { 4 }, NO_ROW, 0, element(0) },
		{ "all-gather-done.1", "all-gather-done", "bf16[1024]{0}", 6, { 5 }, NO_ROW, 0,
			NO_ROW },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "body", 2, body }, { "condition", 3, condition },
		{ "main", 1, entry }, NO_ROW };
#undef GATHER
#undef STATE
	return pb_write_module(&run.keep, c, partitions(4));
}

static const struct quality_row *pairs_check(void)
{
	for (ptrdiff_t i = 0; i < table_count(&run.tables, quality); i++)
		if (str_eq(table_rows(&run.tables, quality)[i].name, STR("pairs-complete")))
			return &table_rows(&run.tables, quality)[i];
	return NULL;
}

/* Three trips of 40 us each: the done of one trip ends what the trip before began. */
static void pairs_from_trip_to_trip(void **state)
{
	static const char *const ops_of[] = { "while.1", "all-gather-start.1", "all-gather-done.1",
		"all-gather-start.2", "all-gather-done.3", "work.4" };
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_step", PROGRAM, rotated_module());
	for (size_t i = 0; i < sizeof(ops_of) / sizeof(ops_of[0]); i++)
		x_op(tpu, ops_of[i], OF_IT);
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t at = i * 200;
		x_event(ops, "all-gather-start.1", at, at + 2, NULL);
		x_event(ops, "while.1", at + 2, at + 122, NULL);
		for (int64_t trip = at + 2; trip < at + 122; trip += 40) {
			x_event(ops, "all-gather-done.3", trip, trip + 10, NULL);
			x_event(ops, "all-gather-start.2", trip + 10, trip + 12, NULL);
			x_event(ops, "work.4", trip + 12, trip + 40, NULL);
		}
		x_event(ops, "all-gather-done.1", at + 122, at + 132, NULL);
	}
	xrun_measure(&run);
	const struct collectives_row *first = xrun_collective(&run, "all-gather-start.1");
	const struct collectives_row *in_loop = xrun_collective(&run, "all-gather-start.2");
	assert_int_equal(table_count(&run.tables, collectives), 2);
	assert_number(first->per_step, 1);
	assert_number(first->span_s, 12 * US);
	assert_number(first->exposed_s, 12 * US);
	assert_number(in_loop->per_step, 3);
	assert_number(in_loop->span_s, 40 * US);
	assert_number(in_loop->hidden_s, 3 * 28 * US);
	assert_number(in_loop->exposed_s, 3 * 12 * US);
	assert_null(pairs_check());
}

/* Both halves of every pair, or it says so; at the window's edges one of each may be outside. */
static void halves_of_pairs(void **state)
{
	static const struct {
		int64_t first_start, dones;
		const char *says;
	} cases[] = {
		{ 0, STEPS, NULL },
		{ 1, STEPS, NULL },
		{ 0, STEPS - 1, NULL },
		{ 1, STEPS - 1, NULL },
		{ 2, STEPS, "4 asynchronous dones have no start" },
		{ STEPS, STEPS, "16 asynchronous dones have no start" },
		{ 0, STEPS - 2, "4 asynchronous starts have no done" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run_end(state);
		run_begin(state);
		tell_gathers_but(30, cases[i].first_start, cases[i].dones);
		xrun_measure(&run);
		const struct quality_row *q = pairs_check();
		assert_int_equal(q != NULL, cases[i].says != NULL);
		if (q)
			assert_text(q->detail, cases[i].says);
	}
}

static void what_a_collective_moves(void **state)
{
	(void)state;
	tell_gathers(30);
	xrun_measure(&run);
	const struct collectives_row *c = xrun_collective(&run, "all-gather-start.2");
	assert_number(c->group_size, 4);
	assert_number(c->groups, 1);
	assert_text(c->axis, "all");
	assert_text(c->operand_kind, "parameter");
	assert_text(c->link, "ici");
	assert_number(c->message_bytes, 8 * MIB);
	assert_number(c->wire_bytes, 6 * MIB);
	assert_number(c->regathers, 1);
	assert_number(c->bandwidth_bps, 6 * MIB / (80 * US));
	assert_true(c->expected_lo_s > 0 && c->expected_lo_s < c->expected_hi_s);
	assert_text(c->key, arena_z(&run.keep, xrun_op(&run, "all-gather-start.2")->key));
	assert_number(xrun_row(&run)->chips, 4);
}

/* 8 MiB in 30 us, where the network between the slices that a job file tells takes milliseconds:
 * neither the op nor the step keeps what it should take. */
static void links_that_the_run_disproves(void **state)
{
	(void)state;
	for (int told = 0; told < 2; told++) {
		const struct pb_instruction body[] = {
			{ "g.1", "parameter", "f32[2097152]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
			{ "all-reduce.2", "all-reduce", "f32[2097152]{0}", 2, { 1 }, NO_ROW, 0,
				all_four() },
			NO_ROW,
		};
		struct xspace *host = xrun_host(&run, "worker-0");
		struct job_file job;
		struct diag err;
		x_hlo(host, "jit_step", PROGRAM, module_of(body, partitions(4)));
		for (int d = 0; d < 4; d++) {
			struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
			struct xline *ops = x_line(tpu, "XLA Ops");
			x_op(tpu, "all-reduce.2", OF_IT);
			for (int64_t i = 0; i < STEPS; i++)
				x_event(ops, "all-reduce.2", i * 200, i * 200 + 30, NULL);
		}
		assert_true(job_parse(
			STR("job.yaml"), STR("version: 1\nslices: 2\n"), &run.keep, &job, &err));
		run.options.job = told ? &job : NULL;
		xrun_measure(&run);
		assert_int_equal(isnan(xrun_collective(&run, "all-reduce.2")->expected_lo_s), told);
		assert_int_equal(isnan(xrun_op(&run, "all-reduce.2")->common->roofline_s), told);
		assert_int_equal(isnan(xrun_row(&run)->predicted_step_s), told);
		run_end(state);
		run_begin(state);
	}
}

/* The same array gathered by two instructions, once and twice a step. */
static void one_array_gathered_thrice(void **state)
{
	const struct pb_instruction body[] = {
		{ "w.1", "parameter", "bf16[256]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "v.2", "parameter", "bf16[256]{0}", 2, NO_ROW, NO_ROW, 1, NO_ROW },
		{ "all-gather.3", "all-gather", "bf16[1024]{0}", 3, { 1 }, NO_ROW, 0, all_four() },
		{ "copy.4", "copy", "bf16[256]{0}", 4, { 1 }, NO_ROW, 0, NO_ROW },
		{ "all-gather.5", "all-gather", "bf16[1024]{0}", 5, { 4 }, NO_ROW, 0, all_four() },
		{ "all-gather.6", "all-gather", "bf16[1024]{0}", 6, { 2 }, NO_ROW, 0, all_four() },
		NO_ROW,
	};
	static const char *const order[] = { "all-gather.3", "all-gather.5", "all-gather.5",
		"all-gather.6" };
	(void)state;
	struct xplane *tpu = tpu_with(module_of(body, partitions(4)));
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "all-gather.3", OF_IT);
	x_op(tpu, "all-gather.5", OF_IT);
	x_op(tpu, "all-gather.6", OF_IT);
	for (int64_t i = 0; i < STEPS; i++)
		for (int64_t k = 0; k < 4; k++)
			x_event(ops, order[k], i * 200 + k * 20, i * 200 + k * 20 + 10, NULL);
	xrun_measure(&run);
	assert_number(xrun_collective(&run, "all-gather.3")->regathers, 3);
	assert_number(xrun_collective(&run, "all-gather.5")->regathers, 3);
	assert_number(xrun_collective(&run, "all-gather.6")->regathers, 1);
	assert_number(xrun_collective(&run, "all-gather.6")->exposed_share, 10. / 200);
}

/* One layer of two stacked ones of 256. */
static struct str slice_at(int64_t layer)
{
	const int64_t dims[][3] = { { layer, layer + 1, 1 }, { 0, 256, 1 } };
	struct pb slice = pb_new(&run.keep);

	for (int d = 0; d < 2; d++) {
		struct pb dim = pb_new(&run.keep);
		for (int k = 0; k < 3; k++)
			pb_int(&dim, k + 1, dims[d][k]);
		pb_bytes(&slice, 17, pb_done(&dim));
	}
	return pb_done(&slice);
}

static struct str element_at(int64_t index)
{
	struct pb element = pb_new(&run.keep);

	pb_int(&element, 13, index);
	return pb_done(&element);
}

/* One fusion hands out the layers of a stack: layer 0 twice, layer 1, and one that it computes. */
static void layers_of_a_stack_are_unlike_arrays(void **state)
{
	static const char one[] = "bf16[1,256]{1,0}", all[] = "bf16[1,1024]{1,0}";
	const struct pb_instruction fused[] = {
		{ "p.20", "parameter", "bf16[2,256]{1,0}", 20, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "slice.21", "slice", one, 21, { 20 }, NO_ROW, 0, slice_at(0) },
		{ "slice.22", "slice", one, 22, { 20 }, NO_ROW, 0, slice_at(1) },
		{ "slice.23", "slice", one, 23, { 20 }, NO_ROW, 0, slice_at(0) },
		{ "bitcast.24", "bitcast", "bf16[256]{0}", 24, { 23 }, NO_ROW, 0, NO_ROW },
		{ "negate.25", "negate", one, 25, { 22 }, NO_ROW, 0, NO_ROW },
		{ "tuple.26", "tuple", NULL, 26, { 21, 22, 24, 25 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	const struct pb_instruction body[] = {
		{ "w.1", "parameter", "bf16[2,256]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "fusion.2", "fusion", NULL, 2, { 1 }, { 2 }, 0, NO_ROW },
		{ "gte.3", "get-tuple-element", one, 3, { 2 }, NO_ROW, 0, element_at(0) },
		{ "gte.4", "get-tuple-element", one, 4, { 2 }, NO_ROW, 0, element_at(1) },
		{ "gte.5", "get-tuple-element", "bf16[256]{0}", 5, { 2 }, NO_ROW, 0,
			element_at(2) },
		{ "gte.6", "get-tuple-element", one, 6, { 2 }, NO_ROW, 0, element_at(3) },
		{ "slice.7", "slice", one, 7, { 1 }, NO_ROW, 0, slice_at(0) },
		{ "all-gather.0", "all-gather", all, 10, { 3 }, NO_ROW, 0, all_four() },
		{ "all-gather.1", "all-gather", all, 11, { 4 }, NO_ROW, 0, all_four() },
		{ "all-gather.2", "all-gather", all, 12, { 5 }, NO_ROW, 0, all_four() },
		{ "all-gather.3", "all-gather", all, 13, { 6 }, NO_ROW, 0, all_four() },
		{ "all-gather.4", "all-gather", all, 14, { 7 }, NO_ROW, 0, all_four() },
		NO_ROW,
	};
	const struct pb_computation c[] = { { "fused", 2, fused }, { "main", 1, body }, NO_ROW };
	static const double regathers[] = { 3, 1, 3, 1, 3 };
	(void)state;
	struct xplane *tpu = tpu_with(pb_write_module(&run.keep, c, partitions(4)));
	struct xline *ops = x_line(tpu, "XLA Ops");

	for (int64_t k = 0; k < 5; k++) {
		const char *name =
			arena_z(&run.keep, arena_fmt(&run.keep, "all-gather.%lld", (long long)k));
		x_op(tpu, name, OF_IT);
		for (int64_t i = 0; i < STEPS; i++)
			x_event(ops, name, i * 200 + k * 20, i * 200 + k * 20 + 10, NULL);
	}
	xrun_measure(&run);
	for (int k = 0; k < 5; k++) {
		struct str name = arena_fmt(&run.keep, "all-gather.%d", k);
		assert_number(
			xrun_collective(&run, arena_z(&run.keep, name))->regathers, regathers[k]);
	}
}

/* S(5) is the host's memory, S(1) the core's own. */
static void copies_between_memories(void **state)
{
	const struct pb_instruction body[] = {
		{ "x.1", "parameter", "f32[1024]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "copy-start.2", "copy-start", "(f32[1024]{0:S(5)}, f32[1024]{0}, u32[])", 2,
			{ 1 }, NO_ROW, 0, NO_ROW },
		{ "copy-done.3", "copy-done", "f32[1024]{0:S(5)}", 3, { 2 }, NO_ROW, 0, NO_ROW },
		{ "copy-start.4", "copy-start", "(f32[1024]{0:S(1)}, f32[1024]{0}, u32[])", 4,
			{ 1 }, NO_ROW, 0, NO_ROW },
		{ "copy-done.5", "copy-done", "f32[1024]{0:S(1)}", 5, { 4 }, NO_ROW, 0, NO_ROW },
		{ "copy.6", "copy", "f32[1024]{0}", 6, { 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const char *const order[] = { "copy-start.2", "copy-done.3", "copy-start.4",
		"copy-done.5", "copy.6" };
	(void)state;
	struct xplane *tpu = tpu_with(module_of(body, STR("")));
	struct xline *ops = x_line(tpu, "XLA Ops");
	for (int k = 0; k < 5; k++)
		x_op(tpu, order[k], OF_IT);
	for (int64_t i = 0; i < STEPS; i++)
		for (int64_t k = 0; k < 5; k++)
			x_event(ops, order[k], i * 200 + k * 20, i * 200 + k * 20 + 10, NULL);
	xrun_measure(&run);
	assert_text(xrun_op(&run, "copy-start.2")->common->kind, "transfer");
	assert_text(xrun_op(&run, "copy-start.2")->common->copy_cause, "offload");
	assert_text(xrun_op(&run, "copy-done.5")->common->kind, "copy");
	assert_text(xrun_op(&run, "copy-done.5")->common->copy_cause, "prefetch");
	/* the same layout on both sides, and a prefetch changes none either */
	assert_text(xrun_op(&run, "copy.6")->common->copy_cause, "donation");
	assert_number(xrun_row(&run)->layout_copy_ratio, 0);
	const struct transfers_row *t = xrun_transfer(&run, "d2h");
	assert_int_equal(table_count(&run.tables, transfers), 1);
	assert_number(t->count, STEADY);
	assert_number(t->bytes, 4096);
	assert_number(t->time_s, 30 * US);	/* from the start to the end of the done */
	assert_number(t->least_s, 4096 / 16e9); /* a v5e's link, of which no share is published */
}

/* ---- kinds without HLO ----------------------------------------------------------------------- */

static void kinds_by_the_profilers_category(void **state)
{
	static const struct {
		const char *category, *name, *kind;
	} cases[] = {
		{ "convolution fusion", "fusion.1", "matmul" },
		{ "loop fusion", "fusion.2", "elementwise" },
		{ "input fusion", "fusion.3", "reduce" },
		{ "data formatting", "copy.4", "copy" },
		{ "all-reduce", "all-reduce.5", "all-reduce" },
		{ "all-reduce-scatter fusion", "fusion.6", "reduce-scatter" },
		{ "async-start", "all-gather-start.7", "all-gather" },
		{ "custom-call", "tpu_custom_call.8", "custom" },
		{ "dynamic-update-slice", "fusion.9", "update" },
		{ "infeed", "infeed.10", "infeed" },
		{ "host send", "send.11", "transfer" },
		{ "while", "while.12", "control" },
		{ "something new", "fusion.13", "unknown" },
	};
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	ptrdiff_t count = (ptrdiff_t)(sizeof(cases) / sizeof(cases[0]));
	for (ptrdiff_t k = 0; k < count; k++)
		x_op(tpu, cases[k].name,
			X_STATS(x_int("program_id", PROGRAM),
				x_text("hlo_category", cases[k].category),
				x_text("tf_op", "jit(f)/jit(main)/mul:"),
				x_text("source", "model.py:31:8"),
				x_text("shape_with_layout", "f32[8]{0}")));
	for (int64_t i = 0; i < STEPS; i++)
		for (int64_t k = 0; k < count; k++)
			x_event(ops, cases[k].name, i * 200 + k * 10, i * 200 + k * 10 + 10, NULL);
	xrun_measure(&run);
	for (ptrdiff_t k = 0; k < count; k++) {
		const struct ops_row *op = xrun_op(&run, cases[k].name);
		assert_text(op->common->kind, cases[k].kind);
		assert_text(op->common->category, cases[k].category);
		assert_text(op->common->attribution, "profile");
		assert_text(op->scope, "jit(f)/jit(main)/mul");
		assert_text(op->common->source_file, "model.py");
		assert_number(op->common->source_line, 31);
		assert_text(op->common->shape, "f32[8]{0}");
		assert_text(op->common->opcode, NULL);
	}
	const struct quality_row *q = xrun_quality(&run, "hlo-present");
	assert_number(q->ok, 0);
	assert_has(q->detail, "enable_hlo_proto");
}

/*
 * Without HLO a TPU's ops still say what they are, as text.  What their fusions hold is not there:
 * bf16 arrays can only be multiplied as such, f32 ones in one pass or in six.
 */
static void what_texts_alone_tell(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text, *kind, *dtype;
		double roofline_s;
	} cases[] = {
		{ "fusion.1",
			"%fusion.1 = f32[1024,1024]{1,0} fusion(bf16[1024,1024]{1,0} %a, "
			"bf16[1024,1024]{1,0} %b, f32[] %c), kind=kOutput, calls=%f.1",
			"matmul", "bf16", 0x1p31 / 197e12 },
		{ "fusion.2",
			"%fusion.2 = f32[1024,1024]{1,0} fusion(f32[1024,1024]{1,0} %d, "
			"f32[1024,1024]{1,0} %e), kind=kOutput, calls=%f.2",
			"matmul", NULL, NAN },
		{ "fusion.3",
			"%fusion.3 = f32[1024,1024]{1,0} fusion(f32[1024,1024]{1,0} %d, "
			"bf16[1024,1024]{1,0} %a), kind=kOutput, calls=%f.3",
			"matmul", NULL, NAN },
	};
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };

	for (int k = 0; k < CASES; k++)
		x_name(tpu, cases[k].text, cases[k].name,
			X_STATS(x_int("program_id", PROGRAM), x_int("flops", INT64_C(1) << 31),
				x_int("bytes_accessed", 6 << 20),
				x_text("hlo_category", "convolution fusion")));
	for (int64_t i = 0; i < 4 * CASES; i++)
		x_event(ops, cases[i % CASES].name, i * 100, i * 100 + 90, NULL);
	xrun_measure(&run);
	for (int k = 0; k < CASES; k++) {
		const struct ops_row *op = xrun_op(&run, cases[k].name);
		assert_text(op->common->kind, cases[k].kind);
		if (cases[k].dtype)
			assert_text(op->common->dtype, cases[k].dtype);
		else
			assert_null(op->common->dtype.p);
		if (isnan(cases[k].roofline_s))
			assert_true(isnan(op->common->roofline_s));
		else
			assert_number(op->common->roofline_s, cases[k].roofline_s);
	}
	assert_number(xrun_quality(&run, "hlo-present")->ok, 0);
}

/* A collective that a fusion begins or ends: what goes in and what comes out tell which. */
static void async_collectives_by_their_texts(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text, *kind;
	} cases[] = {
		{ "async-collective-start.1",
			"%async-collective-start.1 = (bf16[8,4]{1,0}, bf16[32,4]{1,0}, u32[]) "
			"fusion(bf16[8,4]{1,0} %a), kind=kCustom, calls=%f.1",
			"all-gather" },
		{ "async-collective-done.1",
			"%async-collective-done.1 = bf16[32,4]{1,0} fusion(bf16[8,4]{1,0} %b, "
			"bf16[32,4]{1,0} %c, u32[] %d), kind=kCustom, calls=%f.2",
			"all-gather" },
		{ "async-collective-start.2",
			"%async-collective-start.2 = (f32[32,4]{1,0}, f32[8,4]{1,0}, u32[]) "
			"fusion(f32[32,4]{1,0} %e), kind=kCustom, calls=%f.3",
			"reduce-scatter" },
		{ "async-collective-start.3",
			"%async-collective-start.3 = (f32[8,4]{1,0}, f32[8,4]{1,0}, u32[]) "
			"fusion(f32[8,4]{1,0} %g), kind=kCustom, calls=%f.4",
			"unknown" },
	};
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };

	for (int k = 0; k < CASES; k++)
		x_name(tpu, cases[k].text, cases[k].name,
			X_STATS(x_int("program_id", PROGRAM),
				x_text("hlo_category", "custom fusion")));
	for (int64_t i = 0; i < 4 * CASES; i++)
		x_event(ops, cases[i % CASES].name, i * 100, i * 100 + 90, NULL);
	xrun_measure(&run);
	for (int k = 0; k < CASES; k++)
		assert_text(xrun_op(&run, cases[k].name)->common->kind, cases[k].kind);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* An op as one compilation named it and one version of the source had it. */
struct told {
	const char *name, *scope, *file;
	int64_t line;
};

/* Elementwise ops of f32[64,64], one behind the other. */
static void tell_ops(const struct told *told, ptrdiff_t count)
{
	struct pb_instruction body[9] = {
		{ "x", "parameter", "f32[64,64]{1,0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
	};
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");

	assert_true(count < 8);
	for (ptrdiff_t k = 0; k < count; k++) {
		body[k + 1] = (struct pb_instruction){ .name = told[k].name,
			.opcode = "multiply",
			.shape = "f32[64,64]{1,0}",
			.id = k + 2,
			.operands = { k + 1, k + 1 } };
		if (told[k].scope)
			body[k + 1].more = from(told[k].scope, told[k].file, told[k].line, 0);
		x_op(tpu, told[k].name, OF_IT);
	}
	x_hlo(host, "jit_f", PROGRAM, module_of(body, STR("")));
	for (int64_t i = 0; i < STEPS; i++)
		for (int64_t k = 0; k < count; k++)
			x_event(ops, told[k].name, i * 200 + k * 20, i * 200 + k * 20 + 10 - k,
				NULL);
	xrun_measure(&run);
}

/* The key of an op that a run of its own has. */
static const char *key_of(struct told told)
{
	run.count = 0;
	tell_ops(&told, 1);
	return arena_z(&run.keep, xrun_op(&run, told.name)->key);
}

static void a_key_survives_a_recompile(void **state)
{
	static const struct told before = { "fusion.12", "jit(f)/jit(main)/mlp/mul",
		"/home/a/model.py", 10 };
	static const struct told same[] = {
		{ "fusion.4711", "jit(f)/jit(main)/mlp/mul", "/home/a/model.py", 10 },
		{ "fusion.12", "jit(f)/jit(main)/mlp/mul", "/home/a/model.py", 31 },
		{ "fusion.12", "jit(f)/jit(main)/mlp/mul", "/srv/checkout/model.py", 10 },
		{ "fusion.12", "jit(step)/jit(main)/mlp/mul", "/home/a/model.py", 10 },
	};
	static const struct told other[] = {
		{ "fusion.12", "jit(f)/jit(main)/attention/mul", "/home/a/model.py", 10 },
		{ "fusion.12", "jit(f)/jit(main)/mlp/mul", "/home/a/layers.py", 10 },
	};
	(void)state;
	const char *key = key_of(before);
	assert_string_equal(key, "elementwise f32[64,64] mlp/mul model.py");
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_string_equal(key_of(same[i]), key);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_string_not_equal(key_of(other[i]), key);
}

/* Without a scope the name has to do, less its numbers. */
static void a_key_of_the_compilers_own_op(void **state)
{
	static const struct {
		const char *name, *key;
	} own[] = {
		{ "fusion.12", "elementwise f32[64,64] fusion" },
		{ "fusion.7.clone.1", "elementwise f32[64,64] fusion.clone" },
		{ "fusion.7.remat2.1", "elementwise f32[64,64] fusion.remat" },
		{ "loop_multiply_fusion_3", "elementwise f32[64,64] loop_multiply_fusion" },
		{ "wrapped_64", "elementwise f32[64,64] wrapped_64" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_string_equal(
			key_of((struct told){ own[i].name, NULL, NULL, 0 }), own[i].key);
}

static void layers_are_a_family(void **state)
{
	static const struct told layers[] = {
		{ "fusion.1", "jit(f)/jit(main)/layer_0/mul", "model.py", 10 },
		{ "fusion.2", "jit(f)/jit(main)/layer_1/mul", "model.py", 10 },
		{ "fusion.3", "jit(f)/jit(main)/layer_2/mul", "model.py", 10 },
		{ "fusion.4", "jit(f)/jit(main)/head/mul", "model.py", 10 },
	};
	(void)state;
	tell_ops(layers, 4);
	const struct ops_row *first = xrun_op(&run, "fusion.1"), *next = xrun_op(&run, "fusion.2");
	assert_false(str_eq(first->key, next->key));
	assert_true(str_eq(first->common->family, next->common->family));
	assert_int_equal(table_count(&run.tables, families), 2);
	const struct families_row *f = xrun_family(&run, "fusion.1"); /* the heaviest names it */
	assert_number(f->members, 3);
	assert_number(f->count, 3 * STEADY);
	assert_number(f->per_step, 3);
	assert_number(f->time_s, STEADY * (10 + 9 + 8) * US);
	assert_number(f->p50_s, 9 * US);
	assert_number(f->max_s, 10 * US);
	assert_text(f->key, arena_z(&run.keep, first->key));
	assert_text(f->scope, "jit(f)/jit(main)/layer_0/mul");
	assert_number(xrun_family(&run, "fusion.4")->members, 1);
}

/* What is alike in two programs stays apart. */
static void a_family_is_of_one_module(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	static const char *const names[] = { "mul.1", "mul.2" };
	for (int p = 0; p < 2; p++) {
		const struct pb_instruction body[] = {
			{ "x", "parameter", "f32[8]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
			{ names[p], "multiply", "f32[8]{0}", 2, { 1, 1 }, NO_ROW, 0,
				from("jit(f)/mul", "model.py", 1, 0) },
			NO_ROW,
		};
		x_hlo(host, p ? "jit_g" : "jit_f", (uint64_t)p + 1, module_of(body, STR("")));
		x_op(tpu, names[p], X_STATS(x_int("program_id", p + 1)));
	}
	for (int64_t i = 0; i < STEPS; i++) {
		x_event(ops, "mul.1", i * 200, i * 200 + 20, NULL);
		x_event(ops, "mul.2", i * 200 + 20, i * 200 + 30, NULL);
	}
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, families), 2);
	assert_true(str_eq(xrun_family(&run, "mul.1")->family, xrun_family(&run, "mul.2")->family));
}

static void ops_below_ten_us_are_tiny(void **state)
{
	static const struct told two[] = { { "fusion.1", "a", "model.py", 1 },
		{ "fusion.2", "b", "model.py", 2 } }; /* of 10 and 9 us */
	(void)state;
	tell_ops(two, 2);
	assert_number(xrun_row(&run)->tiny_ops_ratio, 9. / 19);
	assert_number(xrun_row(&run)->tiny_ops_count_ratio, 0.5);
}

static void recomputation(void **state)
{
	static const struct told ops[] = {
		{ "fusion.1", "jit(f)/checkpoint/mul", "model.py", 1 },
		{ "fusion.2", "jit(f)/rematted_computation/mul", "model.py", 1 },
		{ "fusion.3.remat2", "jit(f)/mul", "model.py", 1 },
	};
	(void)state;
	tell_ops(ops, 3);
	assert_number(xrun_op(&run, "fusion.1")->common->is_remat, 0);
	assert_number(xrun_op(&run, "fusion.2")->common->is_remat, 1);
	assert_number(xrun_op(&run, "fusion.3.remat2")->common->is_remat, 1);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* The second of two roots, the first of which fits nothing. */
static void set_roots(const char *seen, const char *kept)
{
	struct source_root *roots = arena_make(&run.keep, struct source_root, 2);
	roots[0].seen = STR("/home/m");
	roots[1] = (struct source_root){ str_from(seen), str_from(kept) };
	run.options.source_roots = roots;
	run.options.source_root_count = 2;
}

static void the_users_line_below_a_library(void **state)
{
	struct pb frames = pb_new(&run.keep);
	(void)state;
	pb_frame(&run.keep, &frames, 1, "/usr/lib/python3/flax/linear.py", "Dense.__call__", 280);
	pb_frame(&run.keep, &frames, 2, "/home/me/projects/other.py", "not_mine", 5);
	pb_frame(&run.keep, &frames, 3, "/home/me/project/model/ffn.py", "ffn", 41);
	pb_frame(&run.keep, &frames, 4, "/home/me/project/train.py", "main", 99);
	const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[64]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "mul.2", "multiply", "f32[64]{0}", 2, { 1, 1 }, NO_ROW, 0,
			from("jit(f)/mul", NULL, 0, 1) },
		NO_ROW,
	};
	struct xspace *host = xrun_host(&run, "worker-0");
	struct xplane *tpu = x_tpu(host, 0, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_hlo(host, "jit_f", PROGRAM, module_of(body, field(17, pb_done(&frames))));
	x_op(tpu, "mul.2", OF_IT);
	for (int64_t i = 0; i < STEPS; i++)
		x_event(ops, "mul.2", i * 200, i * 200 + 20, NULL);
	set_roots("/home/me/project", "");
	xrun_measure(&run);
	const struct ops_row *op = xrun_op(&run, "mul.2");
	/* The innermost outside of installed packages. */
	assert_text(op->common->source_file, "/home/me/projects/other.py");
	assert_number(op->common->source_line, 5);
	assert_text(op->common->user_file, "model/ffn.py");
	assert_number(op->common->user_line, 41);
	assert_text(op->key, "elementwise f32[64] mul other.py:not_mine");
}

/* Old programs carry a file and a line, and no stack. */
static void a_line_without_a_stack(void **state)
{
	static const struct told one = { "fusion.1", "jit(f)/mul", "/home/me/model.py", 7 };
	(void)state;
	tell_ops(&one, 1);
	const struct ops_row *op = xrun_op(&run, "fusion.1");
	assert_text(op->common->source_file, "/home/me/model.py");
	assert_number(op->common->source_line, 7);
	assert_text(op->common->user_file, NULL); /* without a repository no file is the user's */
	assert_unknown(op->common->user_line);
	run.count = 0;
	set_roots("/home/me", "");
	tell_ops(&one, 1);
	op = xrun_op(&run, "fusion.1");
	assert_text(op->common->user_file, "model.py");
	assert_number(op->common->user_line, 7);
	run.count = 0;
	set_roots("/home/me", "python/train");
	tell_ops(&one, 1);
	assert_text(xrun_op(&run, "fusion.1")->common->user_file, "python/train/model.py");
}

/* Of the checkout of these tests, as a job elsewhere saw its files. */
static void assert_user_file(const char *seen, const char *expected)
{
	const struct told one = { "fusion.1", "jit(f)/mul", seen, 7 };
	run.count = 0;
	run.options.checkout = STR("tests");
	tell_ops(&one, 1);
	assert_text(xrun_op(&run, "fusion.1")->common->user_file, expected);
}

static void a_file_of_the_checkout_by_the_end_of_its_path(void **state)
{
	(void)state;
	assert_user_file("/home/me/repository/unit/test_load.c", "unit/test_load.c");
	assert_user_file("unit/test_load.c", "unit/test_load.c");
	assert_user_file("/app/layers.awk", "layers.awk");
	assert_user_file("/app/unit", NULL); /* a folder */
	run.options.checkout_folder = STR("unit");
	assert_user_file("/app/test_load.c", "unit/test_load.c");
	run.options.checkout_folder = MISSING;
	assert_user_file("/app/test_load.c", NULL);
	assert_user_file("/app/unit/test_load.c/none", NULL);
	assert_user_file("/app/../tests/unit/test_load.c", NULL);
	/* Installed, it is a package's file or nothing. */
	assert_user_file("/usr/lib/python3.12/site-packages/unit/test_load.c", "unit/test_load.c");
	assert_user_file("tests/venv/lib/python3.12/unit/test_load.c", "unit/test_load.c");
	assert_user_file("/usr/lib/python3.12/layers.awk", NULL);
	assert_user_file("/usr/lib/python3/dist-packages/layers.awk", NULL);
	/* The user's word is the last. */
	set_roots("/home/me", "");
	assert_user_file("/home/me/site-packages/unit/test_load.c", "unit/test_load.c");
	assert_user_file("/home/me/site-packages/unit/other.c", NULL);
	assert_user_file("/home/me/other.c", "other.c");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_range_of_each_device),
		TEST(a_matmul_against_its_roofline),
		TEST(a_thin_matmul_wants_rows),
		TEST(no_rows_help_a_batched_matmul),
		TEST(no_rows_help_small_weights),
		TEST(a_run_against_its_roofline),
		TEST(the_profiles_own_costs),
		TEST(bytes_from_the_host),
		TEST(a_custom_calls_own_costs_are_not_believed),
		TEST(what_one_op_hands_to_another),
		TEST(a_job_file_that_cannot_fit),
		TEST(a_collective_outside_the_steps),
		TEST(a_prediction_without_a_program),
		TEST(a_pair_spans_from_start_to_done),
		TEST(a_done_that_did_not_wait),
		TEST(a_done_comes_first),
		TEST(links_that_the_run_disproves),
		TEST(what_is_in_flight_keeps_nobody_waiting),
		TEST(pairs_from_trip_to_trip),
		TEST(halves_of_pairs),
		TEST(what_a_collective_moves),
		TEST(one_array_gathered_thrice),
		TEST(layers_of_a_stack_are_unlike_arrays),
		TEST(copies_between_memories),
		TEST(kinds_by_the_profilers_category),
		TEST(what_texts_alone_tell),
		TEST(async_collectives_by_their_texts),
		TEST(a_key_survives_a_recompile),
		TEST(a_key_of_the_compilers_own_op),
		TEST(layers_are_a_family),
		TEST(a_family_is_of_one_module),
		TEST(ops_below_ten_us_are_tiny),
		TEST(recomputation),
		TEST(the_users_line_below_a_library),
		TEST(a_line_without_a_stack),
		TEST(a_file_of_the_checkout_by_the_end_of_its_path),
	};
	return cmocka_run_group_tests_name("measure_ops", tests, NULL, NULL);
}
