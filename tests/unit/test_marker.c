/* measure/marker: executions in a capture that begins or ends within one. */
#include "tests/unit/run.h"

#define IS(program, category)                                                                      \
	X_STATS(x_int("program_id", (program)), x_text("hlo_category", (category)))
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

enum { TRAIN = 7, OTHER = 8 };

static struct xspace *host;
static struct xplane *tpu;
static struct xline *ops;

/* A program of one parameter: what its ops are, their events say. */
static void has_program(const char *name, int64_t id)
{
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW }, NO_ROW
	};
	static const struct pb_computation module[] = { { "main", 1, body }, NO_ROW };

	x_hlo(host, name, id, pb_write_module(&run.keep, module, STR("")));
}

static void begin_tpu(void)
{
	host = xrun_host(&run, "worker-0");
	tpu = x_tpu(host, 0, "TPU v5 lite");
	ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "copy.1", IS(TRAIN, "data formatting"));
	x_op(tpu, "while.2", IS(TRAIN, "while"));
	x_op(tpu, "dot.3", IS(TRAIN, "convolution fusion"));
	x_op(tpu, "sum.4", IS(TRAIN, "reduce"));
	x_op(tpu, "head.1", IS(OTHER, "convolution fusion"));
	x_op(tpu, "tail.2", IS(OTHER, "convolution fusion"));
}

/* What lies in the window of an op's events. */
static void seen(const char *op, int64_t from, int64_t to, int64_t begin, int64_t end)
{
	if (from >= begin && to <= end)
		x_event(ops, op, from, to, NULL);
}

/* 800 us of work and 200 of waiting, in a window. */
static void step(int64_t at, int64_t begin, int64_t end)
{
	seen("copy.1", at, at + 100, begin, end);
	seen("while.2", at + 100, at + 700, begin, end);
	for (int64_t k = 0; k < 3; k++)
		seen("dot.3", at + 100 + 200 * k, at + 300 + 200 * k, begin, end);
	seen("sum.4", at + 700, at + 800, begin, end);
}

static int64_t waits(void)
{
	int64_t ret = 0;

	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++)
		ret += !str_eq(table_rows(&run.tables, gaps)[i].cause, STR("program"));
	return ret;
}

/* Whatever a window of eight steps begins with, in a loop too. */
static void any_first_op(void **state)
{
	static const int64_t begins[] = { 0, 50, 150, 350, 550, 650, 750 };
	(void)state;
	for (int marked = 0; marked < 2; marked++)
		for (ptrdiff_t i = 0; i < COUNT_OF(begins); i++) {
			begin_tpu();
			for (int64_t at = 0; at < 8000; at += 1000) {
				step(at, begins[i], 8000);
				if (marked && at >= begins[i])
					x_event(x_line(tpu, "Steps"), "1", at, at + 1000, NULL);
			}
			xrun_measure(&run);
			const struct run_row *r = xrun_row(&run);
			assert_text(r->steps_source, marked ? "steps-line" : "program");
			assert_number(r->step_time_s, 1000 * US);
			assert_number(r->idle_ratio, .2);
			assert_true((double)waits() >= r->steps - 1);
			xrun_end(&run);
			xrun_begin(&run);
		}
}

/* All ops lie in others, as a tracer shows them that keeps no order: the first one marks. */
static void all_within_another(void **state)
{
	(void)state;
	begin_tpu();
	x_op(tpu, "call.9", IS(OTHER, "call"));
	for (int64_t at = 0; at < 5000; at += 1000) {
		x_event(ops, "call.9", at, at + 900, NULL);
		x_event(ops, "copy.1", at + 10, at + 400, NULL);
		x_event(ops, "sum.4", at + 400, at + 800, NULL);
	}
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
}

/* An execution that the window holds whole, as a TPU lists it, on a clock that is a little late. */
static void listed(const char *module, int64_t from, int64_t to, int64_t begin, int64_t end)
{
	if (from >= begin && to <= end)
		x_event(x_line(tpu, "XLA Modules"), module, from + 3, to + 3, NULL);
}

/* Before every third step an evaluation runs, and nothing waits.  The window begins within one. */
static void begins_within_an_evaluation(void **state)
{
	(void)state;
	for (int lists = 0; lists < 2; lists++) {
		begin_tpu();
		has_program("jit_train_step", TRAIN);
		has_program("jit_evaluate", OTHER);
		for (int64_t at = 0; at < 16000; at += 4000) {
			seen("head.1", at, at + 500, 100, 16000);
			seen("tail.2", at + 500, at + 1000, 100, 16000);
			if (lists)
				listed("jit_evaluate(8)", at, at + 1000, 100, 16000);
			for (int64_t from = at + 1000; from < at + 4000; from += 1000) {
				x_event(ops, "copy.1", from, from + 600, NULL);
				x_event(ops, "sum.4", from + 600, from + 1000, NULL);
				if (lists)
					listed("jit_train_step(7)", from, from + 1000, 0, 16000);
			}
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->step_time_s, 1000 * US);
		for (ptrdiff_t i = 0; i < table_count(&run.tables, steps); i++)
			assert_number(table_rows(&run.tables, steps)[i].time_s, 1000 * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

static double shares(void)
{
	double ret = 0;

	for (ptrdiff_t i = 0; i < table_count(&run.tables, programs); i++)
		ret += table_rows(&run.tables, programs)[i].time_share;
	return ret;
}

/* The window begins within an evaluation and ends within the next, before that comes so far. */
static void ends_within_another_execution(void **state)
{
	(void)state;
	begin_tpu();
	has_program("jit_train_step", TRAIN);
	has_program("jit_evaluate", OTHER);
	x_event(ops, "tail.2", 500, 1000, NULL);
	for (int64_t from = 1000; from < 4000; from += 1000) {
		x_event(ops, "copy.1", from, from + 600, NULL);
		x_event(ops, "sum.4", from + 600, from + 1000, NULL);
	}
	x_event(ops, "head.1", 4000, 4500, NULL);
	xrun_measure(&run);
	assert_number(xrun_program(&run, "jit_train_step")->time_s, 3000 * US);
	assert_number(xrun_program(&run, "jit_evaluate")->time_s, 500 * US);
	assert_true(shares() < 1);
}

/* What the device waits for begins an execution, though the Steps line has no step there. */
static void waits_out_of_steps(void **state)
{
	(void)state;
	begin_tpu();
	x_event(x_line(tpu, "Steps"), "1", 0, 900, NULL);
	for (int64_t at = 0; at < 2000; at += 1000) {
		x_event(ops, "copy.1", at, at + 100, NULL);
		x_event(ops, "sum.4", at + 101, at + 800, NULL);
	}
	xrun_measure(&run);
	assert_number(table_rows(&run.tables, programs)[0].time_s, 1600 * US);
}

/* Of a server the last request is as long as the window lets it be. */
static void ends_within_a_request(void **state)
{
	static const int64_t ends[] = { 4500, 4900 };
	(void)state;
	for (int i = 0; i < 4; i++) {
		int64_t end = ends[i % 2];
		begin_tpu();
		has_program("jit_decode", TRAIN);
		for (int64_t at = 0; at < 5000; at += 1000) {
			seen("copy.1", at, at + 100, 0, end);
			seen("sum.4", at + 100, at + 800, 0, end);
			if (i >= 2)
				listed("jit_decode(7)", at, at + 800, 0, end);
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->steps, end == 4500 ? 3 : 4);
		for (ptrdiff_t k = 0; (double)k < xrun_row(&run)->steps; k++)
			assert_number(table_rows(&run.tables, steps)[k].time_s, 800 * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* A loop of two rounds on a GPU, which copies back in each whether there is another; cut ahead of
 * the first kernel of the first step that is left. */
static void rounds(struct xplane *gpu, int64_t steps, ptrdiff_t first)
{
	static const struct {
		const char *kernel, *op;
		int64_t from;
	} kernels[] = { { "head_2", "head.2", 0 }, { "MemcpyD2H", "while.3", 200 },
		{ "in_1", "in.1", 250 }, { "MemcpyD2H", "while.3", 300 }, { "in_1", "in.1", 350 },
		{ "MemcpyD2H", "while.3", 400 } };
	struct xline *stream = x_line(gpu, "Stream #1(Compute)");

	for (int64_t at = 0; at < steps * 1000; at += 1000)
		for (ptrdiff_t i = at ? 0 : first; i < COUNT_OF(kernels); i++)
			x_event(stream, kernels[i].kernel, at + kernels[i].from,
				at + kernels[i].from + 40,
				X_STATS(x_int("program_id", TRAIN),
					x_text("hlo_module", "jit_step"),
					x_text("hlo_op", kernels[i].op)));
}

static struct xplane *begin_gpu(void)
{
	host = xrun_host(&run, "worker-0");
	return x_gpu(host, 0, "NVIDIA H100 80GB HBM3");
}

/* What runs in its body and what bears its own name mark nothing. */
static void rounds_of_a_loop(void **state)
{
	static const struct pb_instruction body[] = {
		{ "p", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "in.1", "add", "f32[4]", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction condition[] = {
		{ "q", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "c", "constant", "pred[]", 2, NO_ROW, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction entry[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "head.2", "add", "f32[4]", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		{ "while.3", "while", "f32[4]", 3, { 2 }, { 2, 1 }, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation module[] = { { "body", 1, body },
		{ "condition", 2, condition }, { "main", 3, entry }, NO_ROW };
	(void)state;
	rounds(begin_gpu(), 5, 1);
	x_hlo(host, "jit_step", TRAIN, pb_write_module(&run.keep, module, STR("")));
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
}

static void calls(int64_t count)
{
	for (int64_t at = 950; at < 1000 * count; at += 1000)
		x_event(x_line(x_host(host), "python"), "PjitFunction(step)", at, at + 10, NULL);
}

/* Without HLO the host's calls tell how often the program ran, of two rounds, too. */
static void rounds_without_hlo(void **state)
{
	(void)state;
	for (ptrdiff_t first = 1; first <= 2; first++) {
		rounds(begin_gpu(), 8, first);
		calls(8);
		xrun_measure(&run);
		assert_text(xrun_row(&run)->steps_source, "program");
		assert_number(xrun_row(&run)->step_time_s, 1000 * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* Nothing waits, but each execution comes behind another program's. */
static void rounds_that_nothing_waits_for(void **state)
{
	static const char *const names[] = { "other", "head", "in", "in", "tail" };
	(void)state;
	struct xline *stream = x_line(begin_gpu(), "Stream #1(Compute)");
	for (int64_t i = 2; i < 40; i++)
		x_event(stream, names[i % 5], 200 * i, 200 * i + 200,
			X_STATS(x_int("program_id", i % 5 ? TRAIN : OTHER),
				x_text("hlo_module", i % 5 ? "jit_step" : "jit_other"),
				x_text("hlo_op", names[i % 5])));
	calls(8);
	xrun_measure(&run);
	assert_number(xrun_program(&run, "jit_step")->executions, 7);
}

/* Kernels of a program without HLO, 100 us each, of what the window holds from 150 us on. */
static void kernels(struct xline *stream, const char *module, int64_t id, int64_t at,
	const char *const names[], ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count; i++)
		if (at + 200 * i >= 150)
			x_event(stream, names[i], at + 200 * i, at + 200 * i + 100,
				X_STATS(x_int("program_id", id), x_text("hlo_module", module),
					x_text("hlo_op", names[i])));
}

static const char *const three[] = { "head", "middle", "tail" };

static double idle_by_program(void)
{
	double ret = 0;

	for (ptrdiff_t i = 0; i < table_count(&run.tables, gaps); i++)
		if (str_eq(table_rows(&run.tables, gaps)[i].cause, STR("program")))
			ret += table_rows(&run.tables, gaps)[i].time_s;
	return ret;
}

/* Each waits 500 us for its host.  Another stream runs a program once, beside one or in its gap. */
static void a_program_beside(void **state)
{
	(void)state;
	for (int64_t other = 4130; other <= 4230; other += 100) {
		struct xplane *gpu = begin_gpu();
		for (int64_t at = 1000; at < 9000; at += 1000)
			kernels(x_line(gpu, "Stream #1(Compute)"), "jit_step", TRAIN, at, three, 3);
		x_event(x_line(gpu, "Stream #2(Compute)"), "other", other, other + 10,
			X_STATS(x_int("program_id", OTHER), x_text("hlo_module", "jit_other"),
				x_text("hlo_op", "other")));
		xrun_measure(&run);
		assert_number(xrun_row(&run)->step_time_s, 1000 * US);
		/* Between the kernels of six steps 200 us, less the other and the wait for it. */
		assert_number(idle_by_program(), (6 * 200 - (other < 4200 ? 40 : 0)) * US);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* Eight calls are in the window of forty executions: a host ran ahead, and there is no loop. */
static void a_host_that_ran_ahead(void **state)
{
	(void)state;
	struct xline *stream = x_line(begin_gpu(), "Stream #1(Compute)");
	for (int64_t i = 0; i < 40; i++) {
		kernels(stream, "jit_step", TRAIN, 1000 * (i + 1), three, i % 8 == 3 ? 3 : 2);
		if (i < 8)
			x_event(x_line(x_host(host), "python"), "PjitFunction(step)",
				1000 * (i + 1), 1000 * (i + 1) + 1, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
}

/* An op that one of two devices runs alone marks on neither, whichever it is. */
static void devices_of_unlike_ops(void **state)
{
	(void)state;
	for (int64_t alone = 0; alone < 2; alone++) {
		struct xplane *gpus[2] = { begin_gpu(),
			x_gpu(host, 1, "NVIDIA H100 80GB HBM3") };
		for (int64_t at = 0; at < 20000; at += 1000)
			kernels(x_line(gpus[at / 1000 % 2], "Stream #1(Compute)"), "jit_step",
				TRAIN, at / 2000 * 1000,
				at / 1000 % 2 == alone ? three : three + 1,
				at / 1000 % 2 == alone ? 3 : 2);
		xrun_measure(&run);
		/* Ten of each, less the one whose marker the window cut. */
		assert_number(xrun_program(&run, "jit_step")->executions, 19);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* A copy of no program goes ahead of each execution: the wait for it is for the program. */
static void a_copy_goes_ahead(void **state)
{
	(void)state;
	struct xline *stream = x_line(begin_gpu(), "Stream #1(Compute)");
	for (int64_t at = 0; at < 5000; at += 1000) {
		x_event(stream, "MemcpyH2D", at, at + 20, NULL);
		for (int64_t i = 0; i < 2; i++)
			x_event(stream, i ? "tail" : "head", at + 30 + 200 * i, at + 130 + 200 * i,
				X_STATS(x_int("program_id", TRAIN),
					x_text("hlo_module", "jit_step"),
					x_text("hlo_op", i ? "tail.2" : "head.1")));
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->step_time_s, 1000 * US);
	assert_int_equal(table_count(&run.tables, gaps), 3 * 3);
	for (ptrdiff_t i = 0; i < 3 * 3; i++) {
		const struct gaps_row *g = &table_rows(&run.tables, gaps)[i];
		assert_int_equal(str_eq(g->cause, STR("program")), str_eq(g->after, STR("tail.2")));
	}
}

/* A program of four kernels, two of one name and two of another, as one graph. */
static void launch(struct xline *stream, int64_t graph, int64_t number, int64_t at, int64_t apart,
	int64_t first)
{
	static const char *const names[][2] = { { "fusion_1", "fusion_2" },
		{ "head_1", "head_2" } };

	for (int64_t i = first; i < 4; i++)
		x_event(stream, names[graph - 1][i % 2], at + i * apart,
			at + i * apart + 10 * (1 + i),
			X_STATS(x_int("program_id", graph), x_text("hlo_op", "command_buffer_1"),
				x_text("hlo_module", graph == 1 ? "jit_step" : "jit_head"),
				x_int("correlation_id", number),
				x_int("cuda_graph_node_id", (graph << 32) + i)));
}

static void has_pairs(const char *module, int64_t id, const char *const names[4])
{
	static const struct pb_instruction negative[] = {
		{ "p", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "n", "negate", "f32[4]", 2, { 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_instruction twice[] = {
		{ "q", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "t", "add", "f32[4]", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	const struct pb_instruction entry[] = {
		{ "x", "parameter", "f32[4]", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ names[0], "fusion", "f32[4]", 2, { 1 }, { 1 }, 0, NO_ROW },
		{ names[1], "fusion", "f32[4]", 3, { 2 }, { 2 }, 0, NO_ROW },
		{ names[2], "fusion", "f32[4]", 4, { 3 }, { 1 }, 0, NO_ROW },
		{ names[3], "fusion", "f32[4]", 5, { 4 }, { 2 }, 0, NO_ROW },
		NO_ROW,
	};
	const struct pb_computation all[] = { { "negative", 1, negative }, { "twice", 2, twice },
		{ "main", 3, entry }, NO_ROW };

	x_hlo(host, module, id, pb_write_module(&run.keep, all, STR("")));
}

/*
 * The window begins within the first launch of a graph: the order is the next one's.  Another graph
 * that is launched meanwhile is whole.
 */
static void begins_within_a_launch(void **state)
{
	static const char *const steps[] = { "fusion.1", "fusion.2", "fusion.3", "fusion.4" };
	static const char *const heads[] = { "head.1", "head.2", "head.3", "head.4" };
	(void)state;
	struct xplane *gpu = begin_gpu();
	struct xline *one = x_line(gpu, "Stream #1(Compute)");
	struct xline *other = x_line(gpu, "Stream #2(Compute)");
	has_pairs("jit_step", 1, steps);
	has_pairs("jit_head", 2, heads);
	for (int64_t i = 0; i < 6; i++) {
		launch(one, 1, 2 * i, i * 1000, 100, i ? 0 : 2);
		launch(other, 2, 2 * i + 1, i * 1000 + 210, 40, 0);
	}
	xrun_measure(&run);
	for (int i = 0; i < 4; i++) {
		assert_number(xrun_op(&run, steps[i])->p50_s, 10 * (1 + i) * US);
		assert_number(xrun_op(&run, heads[i])->p50_s, 10 * (1 + i) * US);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_first_op),
		TEST(all_within_another),
		TEST(begins_within_an_evaluation),
		TEST(ends_within_another_execution),
		TEST(waits_out_of_steps),
		TEST(ends_within_a_request),
		TEST(rounds_of_a_loop),
		TEST(rounds_without_hlo),
		TEST(rounds_that_nothing_waits_for),
		TEST(a_program_beside), TEST(a_host_that_ran_ahead),
		TEST(devices_of_unlike_ops), TEST(a_copy_goes_ahead),
		TEST(begins_within_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
