/* measure/: the same profile gives the same tables, however many threads measure it. */
#include <string.h>

#include "tests/unit/run.h"

#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}
#define OPS	24 /* of a program */
#define DEVICES 3  /* of a host */
#define AGAIN	20

static const char *const hosts[] = { "worker-0", "worker-1" };
enum { HOSTS = sizeof(hosts) / sizeof(hosts[0]) };

static const char *op_name(const char *what, int64_t n)
{
	return arena_z(&run.keep, arena_fmt(&run.keep, "%s.%lld", what, (long long)n));
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* Two ops to a layer, on a line of their own each. */
static struct str metadata(int64_t n)
{
	struct pb inner = pb_new(&run.keep), b = pb_new(&run.keep);

	pb_bytes(&inner, 2, arena_fmt(&run.keep, "jit(f)/layer_%lld/mul", (long long)(n / 2)));
	pb_text(&inner, 3, "model.py");
	pb_int(&inner, 4, n);
	pb_bytes(&b, 7, pb_done(&inner));
	return pb_done(&b);
}

/* what.0, what.1 ..., each reading the one before it and of a size of its own: a sum of what they
 * cost has other last digits in another order. */
static struct str module_of(const char *what, const char *opcode)
{
	struct pb_instruction body[OPS + 2] = {
		{ "x", "parameter", "f32[64]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
	};
	const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };

	for (int64_t k = 0; k < OPS; k++)
		body[k + 1] = (struct pb_instruction){ .name = op_name(what, k),
			.opcode = opcode,
			.shape = arena_z(&run.keep,
				arena_fmt(&run.keep, "f32[%lld]{0}", (long long)(64 + 37 * k * k))),
			.id = k + 2,
			.operands = { k + 1 },
			.more = metadata(k) };
	return pb_write_module(&run.keep, c, STR(""));
}

/* Compilations, samples of memory and long functions, which all hosts have. */
static void tell_threads(struct xspace *host)
{
	struct xline *thread = x_line(x_host(host), "main/1");

	x_event(thread, "backend_compile", 2100, 2200, NULL);
	x_event(thread, "$train.py:10 loop", 0, 6000, NULL);
	x_event(thread, "$train.py:20 loop", 0, 6000, NULL);
	for (int d = 0; d < DEVICES; d++)
		x_event(thread, "MemoryAllocation", 3000 + d, 3000 + d,
			X_STATS(x_int("index_on_host", d), x_int("bytes_allocated", 1000 + d),
				x_int("bytes_available", 5000 - d)));
}

/*
 * Every device begins with another op, and all ops take equally long: which thread meets what
 * first differs from run to run, and only names can order the rows.
 */
static void tell_tpu(struct xspace *host, int device)
{
	static const char *const what[] = { "neg", "gather" };
	struct xplane *tpu = x_tpu(host, device, "TPU v5 lite");
	struct xline *ops = x_line(tpu, "XLA Ops");

	for (int p = 0; p < 2; p++)
		for (int64_t k = 0; k < OPS; k++)
			x_op(tpu, op_name(what[p], k), X_STATS(x_int("program_id", 7 + p)));
	for (int64_t i = 0; i < 6; i++)
		for (int64_t k = 0; k < 2 * OPS; k++) {
			int64_t at = i * 1000 + k * 20;
			x_event(ops, op_name(what[k / OPS], (k + device * 7) % OPS), at, at + 10,
				NULL);
		}
}

static void tell_tpus(void)
{
	for (int h = 0; h < HOSTS; h++) {
		struct xspace *host = xrun_host(&run, hosts[h]);
		x_hlo(host, "jit_f", 7, module_of("neg", "negate"));
		x_hlo(host, "jit_g", 8, module_of("gather", "all-gather"));
		for (int d = 0; d < DEVICES; d++)
			tell_tpu(host, (h + d) % DEVICES);
		tell_threads(host);
	}
}

/* Stages of a pipeline: each device has ops of its own, and only its thread meets them. */
static void tell_stages(void)
{
	struct xspace *host = xrun_host(&run, hosts[0]);

	x_hlo(host, "jit_f", 7, module_of("neg", "negate"));
	for (int d = 0; d < DEVICES; d++) {
		struct xplane *tpu = x_tpu(host, d, "TPU v5 lite");
		struct xline *ops = x_line(tpu, "XLA Ops");
		for (int64_t k = d; k < OPS; k += DEVICES)
			x_op(tpu, op_name("neg", k), X_STATS(x_int("program_id", 7)));
		for (int64_t i = 0; i < 6; i++)
			for (int64_t k = d; k < OPS; k += DEVICES)
				x_event(ops, op_name("neg", k), i * 1000 + k * 20,
					i * 1000 + k * 20 + 10, NULL);
	}
	tell_threads(host);
}

static void tell_gpu(struct xspace *host, int device)
{
	static const char *const kernels[] = { "first", "second" };
	struct xplane *gpu = x_gpu(host, device, "NVIDIA H100 80GB HBM3");
	struct xline *compute = x_line(gpu, "Stream #1"), *other = x_line(gpu, "Stream #2");

	for (int64_t i = 0; i < 6; i++)
		for (int64_t k = 0; k < 2 * OPS; k++) {
			int64_t at = i * 1000 + k * 20, n = (k / 2 + device * 7) % OPS;
			x_event(compute, kernels[k % 2], at, at + 10,
				X_STATS(x_ref("hlo_op", op_name("neg", n)),
					x_ref("hlo_module", "jit_f"), x_int("program_id", 7)));
			if (k % 8 == 0)
				x_event(other, k % 16 ? "MemcpyH2D" : "MemcpyD2H", at + 5, at + 15,
					X_STATS(x_ref("memcpy_details", "num_bytes:4096")));
			if (k % 8 == 4)
				x_event(other, op_name("own_kernel", k / 8 % 4), at + 5, at + 15,
					NULL);
		}
}

static void tell_gpus(void)
{
	for (int h = 0; h < HOSTS; h++) {
		struct xspace *host = xrun_host(&run, hosts[h]);
		x_hlo(host, "jit_f", 7, module_of("neg", "negate"));
		for (int d = 0; d < DEVICES; d++)
			tell_gpu(host, (h + d) % DEVICES);
		tell_threads(host);
	}
}

/* Nothing but stats on events: two virtual devices share every thread. */
static void tell_cpus(void)
{
	for (int h = 0; h < HOSTS; h++) {
		struct xplane *cpu = x_host(xrun_host(&run, hosts[h]));
		struct xline *thread = x_line(cpu, "tf_XLAEigen/1");
		for (int64_t i = 0; i < 6; i++)
			for (int64_t k = 0; k < 2 * OPS; k++)
				x_event(thread, "op", i * 1000 + k * 20, i * 1000 + k * 20 + 10,
					X_STATS(x_ref("hlo_op", op_name("neg", k / 2)),
						x_int("program_id", 7),
						x_int("device_ordinal", k % 2),
						x_int("run_id", 100 + i)));
	}
}

/* A thread of so many events that it is read in parts, and few of them are asked for. */
static void tell_long_thread(bool is_trap)
{
	static const char fake[] = "\x22\x06\x08\x01\x10\x05\x18\x05"; /* an event, in a text */
	enum { EVENTS = 300000, FAKES = 400000 };
	struct xspace *host = xrun_host(&run, hosts[0]);
	struct xline *thread = x_line(x_host(host), "main/1");
	char *bytes = arena_make(&run.keep, char, FAKES * 8);

	x_hlo(host, "jit_f", 7, module_of("neg", "negate"));
	tell_tpu(host, 0);
	for (int i = 0; i < FAKES; i++)
		memcpy(bytes + 8 * i, fake, 8);
	if (is_trap)
		x_event(thread, "text", 0, 1,
			X_STATS(x_bytes("text", (struct str){ bytes, FAKES * 8 })));
	for (int64_t i = 0; i < EVENTS; i++) {
		int64_t at = i / 50;
		if (i % 1000 == 0)
			x_event(thread, "PjitFunction(f)", at, at + 1, NULL);
		else if (i % 1000 == 1)
			x_event(thread, "MemoryAllocation", at, at,
				X_STATS(x_int("index_on_host", 0), x_int("bytes_allocated", i),
					x_int("bytes_available", 2 * EVENTS - i)));
		else
			x_event(thread, i % 3 ? "$train.py:10 loop" : "hash", at, at + 1, NULL);
	}
}

static void tell_long(void)
{
	tell_long_thread(false);
}

static void tell_trap(void)
{
	tell_long_thread(true);
}

/* ---- and measured ---------------------------------------------------------------------------- */

/* The first line in which two texts differ, for people. */
static void fail_on_difference(struct str a, struct str b, int threads)
{
	struct str line_a, line_b;

	while (a.len > 0 || b.len > 0) {
		str_cut(a, '\n', &line_a, &a);
		str_cut(b, '\n', &line_b, &b);
		if (!str_eq(line_a, line_b))
			fail_msg("with %d threads\n%.*s\nis not\n%.*s", threads, STR_ARG(line_b),
				STR_ARG(line_a));
	}
}

static void assert_always_the_same(void (*tell)(void), int times)
{
	static const int threads[] = { 2, 1, 4, 16 };

	tell();
	xrun_measure(&run);
	struct str first = xrun_text(&run);
	assert_true(table_count(&run.tables, ops) >= OPS);
	assert_true(xrun_row(&run)->steps >= 2);
	assert_false(str_contains(first, STR("nan")));
	for (int i = 0; i < times; i++) {
		run.options.threads = threads[i % 4];
		xrun_measure(&run);
		fail_on_difference(first, xrun_text(&run), run.options.threads);
	}
}

static void tpus(void **state)
{
	(void)state;
	assert_always_the_same(tell_tpus, AGAIN);
	assert_int_equal(table_count(&run.tables, collectives), OPS);
	assert_int_equal(table_count(&run.tables, programs), 2);
	assert_int_equal(table_count(&run.tables, memory), HOSTS * DEVICES);
	assert_true(table_count(&run.tables, edges) > 0);
	assert_true(table_count(&run.tables, gaps) > 0);
}

static void stages(void **state)
{
	(void)state;
	assert_always_the_same(tell_stages, AGAIN);
	assert_int_equal(table_count(&run.tables, ops), OPS);
}

static void gpus(void **state)
{
	(void)state;
	assert_always_the_same(tell_gpus, AGAIN);
	assert_int_equal(table_count(&run.tables, ops), OPS + 2 + 4);
	assert_int_equal(table_count(&run.tables, transfers), 2);
}

static void cpus(void **state)
{
	(void)state;
	assert_always_the_same(tell_cpus, AGAIN);
	assert_number(xrun_row(&run)->devices, HOSTS * 2);
}

static void long_threads(void **state)
{
	(void)state;
	assert_always_the_same(tell_long, 3);
	assert_number(xrun_memory(&run, "device 0")->window_peak_bytes, 299001);
}

/* A part that would begin amid an event. */
static void long_texts(void **state)
{
	(void)state;
	assert_always_the_same(tell_trap, 3);
	assert_number(xrun_memory(&run, "device 0")->window_peak_bytes, 299001);
}

/* Rows that tie on time stand in the order of their names. */
static void ties_are_ordered_by_name(void **state)
{
	(void)state;
	tell_tpus();
	xrun_measure(&run);
	const struct ops_row *op = table_rows(&run.tables, ops);
	for (ptrdiff_t i = 1; i < table_count(&run.tables, ops); i++) {
		assert_true(op[i - 1].time_s == op[i].time_s);
		int order = str_cmp(op[i - 1].common->program, op[i].common->program);
		assert_true(order < 0 || (order == 0 && str_cmp(op[i - 1].name, op[i].name) < 0));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tpus),
		TEST(stages),
		TEST(gpus),
		TEST(cpus),
		TEST(long_threads),
		TEST(long_texts),
		TEST(ties_are_ordered_by_name),
	};
	return cmocka_run_group_tests_name("measure_same", tests, NULL, NULL);
}
