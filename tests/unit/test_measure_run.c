/* measure/: chips, hosts, memory, the checks of the data, and bytes that are no profile. */
#include "base/text.h"
#include "tests/unit/run.h"

#define PROGRAM 7
#define V5E	"TPU v5 lite"
#define NO_ROW                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

static struct str field(int number, struct str bytes)
{
	struct pb b = pb_new(&run.keep);
	pb_bytes(&b, number, bytes);
	return pb_done(&b);
}

/* "add.1", one array read twice; it is to run on `partitions` devices. */
static struct str module_for(int64_t partitions)
{
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[1024]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "add.1", "add", "f32[1024]{0}", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };
	struct pb assignment = pb_new(&run.keep);
	pb_int(&assignment, 1, 1);
	pb_int(&assignment, 2, partitions);
	return pb_write_module(&run.keep, c, field(15, pb_done(&assignment)));
}

/* Five executions of "add.1", 100 us of every 200. */
static void busy_half(struct xplane *tpu)
{
	struct xline *ops = x_line(tpu, "XLA Ops");

	x_op(tpu, "add.1",
		X_STATS(x_int("program_id", PROGRAM), x_text("hlo_category", "loop fusion")));
	for (int64_t i = 0; i < 5; i++)
		x_event(ops, "add.1", i * 200, i * 200 + 100, NULL);
}

static struct xspace *host_with_tpus(const char *name, int count, const char *device_type)
{
	struct xspace *host = xrun_host(&run, name);

	for (int d = 0; d < count; d++)
		busy_half(x_tpu(host, d, device_type));
	return host;
}

/* An empty file, which nobody has closed. */
static void host_without_end(const char *name)
{
	run.files[0] = xspace_new(&run.keep);
	run.names[0] = name;
	run.count = 1;
}

/*
 * XLA:CPU before its ops told their device: four devices' stand in one plane, and a program of four
 * runs each op four times a step.
 */
static void steps_of_devices_that_are_not_told_apart(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "laptop");
	struct xline *thread = x_line(x_host(host), "tf_XLATfrtCpuClient/1");
	x_hlo(host, "jit_step", PROGRAM, module_for(4));
	for (int64_t i = 0; i < 5; i++)
		for (int64_t d = 0; d < 4; d++)
			x_event(thread, "add.1", i * 200 + d * 20, i * 200 + d * 20 + 10,
				X_STATS(x_ref("hlo_op", "add.1"), x_ref("hlo_module", "jit_step"),
					x_int("program_id", PROGRAM)));
	xrun_measure(&run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_row(&run)->step_time_s, 200 * US);
	assert_number(xrun_program(&run, "jit_step")->executions, 5);
	assert_number(xrun_quality(&run, "devices-agree")->ok, 0);
}

/* ---- chips ----------------------------------------------------------------------------------- */

static void a_known_chip(void **state)
{
	(void)state;
	host_with_tpus("worker-0", 1, V5E);
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->platform, "tpu");
	assert_text(r->chip, "tpu_v5e");
	assert_text(r->chip_why, "device type \"TPU v5 lite\"");
	const struct devices_row *d = xrun_device(&run, "/device:TPU:0");
	assert_text(d->host, "worker-0");
	assert_text(d->chip, "tpu_v5e");
	assert_number(d->cores, 1);
	assert_number(d->peak_flops, 197e12);
	assert_number(d->hbm_bps, 819e9);
	assert_number(d->hbm_bytes, 16. * (1 << 30));
	assert_text(d->peaks_source, "hardware/tpu_v5e.json");
	assert_number(xrun_quality(&run, "chip-known")->ok, 1);
	assert_number(xrun_quality(&run, "peaks-agree")->ok, 1);
}

/* Nothing that needs the chip's figures is said, and what to do is. */
static void an_unknown_chip(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, "TPU v99");
	x_hlo(host, "jit_f", PROGRAM, module_for(1));
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->chip, NULL);
	assert_has(r->chip_why, "no hardware file knows the device type \"TPU v99\"");
	assert_text(r->chip_name, "TPU v99");
	assert_has(xrun_quality(&run, "chip-known")->todo, "--hardware");
	assert_unknown(r->op_util);
	assert_unknown(r->hbm_util);
	assert_unknown(r->roofline_ratio_lo);
	assert_unknown(r->roofline_ratio_hi);
	assert_unknown(r->judged_ratio);
	const struct ops_row *op = xrun_op(&run, "add.1");
	assert_number(op->common->hbm_bytes, 8192);
	assert_unknown(op->common->t_hbm_s);
	assert_unknown(op->common->roofline_s);
	assert_unknown(op->efficiency);
	assert_unknown(op->gain_s);
	assert_text(op->common->bound, NULL);
	const struct devices_row *d = xrun_device(&run, "/device:TPU:0");
	assert_text(d->chip, NULL);
	assert_unknown(d->peak_flops);
	assert_number(d->busy_ratio, 0.5);
	const struct quality_row *q = xrun_quality(&run, "chip-known");
	assert_number(q->ok, 0);
	assert_has(q->todo, "--hardware");
}

static void a_chip_by_option(void **state)
{
	(void)state;
	host_with_tpus("worker-0", 1, "TPU v99");
	run.options.chip = chip_find(run.options.chips, STR("tpu_v6e"), &run.err);
	xrun_measure(&run);
	assert_text(xrun_row(&run)->chip, "tpu_v6e");
	assert_text(xrun_row(&run)->chip_why, "named with --hardware");
	assert_number(xrun_quality(&run, "chip-known")->ok, 1);
	assert_true(xrun_device(&run, "/device:TPU:0")->peak_flops > 0);
}

/* The table wins over the plane; that they differ is told. */
static void a_plane_with_another_peak(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	busy_half(x_plane(host, "/device:TPU:0",
		X_STATS(x_text("device_type_string", V5E),
			x_real("peak_teraflops_per_second", 197 * 1.3))));
	xrun_measure(&run);
	assert_number(xrun_device(&run, "/device:TPU:0")->peak_flops, 197e12);
	const struct quality_row *q = xrun_quality(&run, "peaks-agree");
	assert_number(q->ok, 0);
	assert_has(q->detail, "1.300");
}

/* So is a memory of another rate, where nothing names a peak. */
static void a_plane_with_another_memory(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	busy_half(x_plane(host, "/device:TPU:0",
		X_STATS(x_text("device_type_string", V5E),
			x_real("peak_hbm_bw_gigabytes_per_second", 819 * 1.3))));
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "peaks-agree");
	assert_number(q->ok, 0);
	assert_has(q->detail, "its memory's rate is 1.300 of the table's");
}

/* A TPU v3 shows its two cores as planes. */
static void two_planes_of_a_chip(void **state)
{
	(void)state;
	host_with_tpus("worker-0", 2, "TPU v3");
	xrun_measure(&run);
	assert_number(xrun_row(&run)->devices, 2);
	assert_number(xrun_row(&run)->chips, 1);
	assert_number(xrun_device(&run, "/device:TPU:1")->cores, 1);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static void two_hosts(void **state)
{
	(void)state;
	struct xspace *a = host_with_tpus("worker-0", 2, V5E);
	struct xspace *b = host_with_tpus("worker-1", 2, V5E);
	x_hlo(a, "jit_f", PROGRAM, module_for(4));
	x_hlo(b, "jit_f", PROGRAM, module_for(4));
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_number(r->hosts, 2);
	assert_number(r->hosts_expected, 2);
	assert_number(r->devices, 4);
	assert_number(r->chips, 4);
	assert_number(r->steps, 3);
	/* one program, though both hosts have it */
	assert_int_equal(table_count(&run.tables, programs), 1);
	assert_number(xrun_program(&run, "jit_f")->executions, 4 * 5);
	assert_int_equal(table_count(&run.tables, ops), 1);
	assert_number(xrun_op(&run, "add.1")->common->count, 4 * 3);
	assert_int_equal(table_count(&run.tables, devices), 4);
	assert_text(table_rows(&run.tables, devices)[1].host, "worker-0");
	assert_text(table_rows(&run.tables, devices)[2].host, "worker-1");
	/* two files, with the same module */
	const struct files_row *files = table_rows(&run.tables, files);
	assert_int_equal(table_count(&run.tables, files), 2);
	assert_text(files[1].host, "worker-1");
	assert_text(files[1].format, "xplane");
	assert_number(files[0].modules, 1);
	assert_true(files[0].bytes > 0 && files[0].planes >= 2 && files[0].lanes >= 2);
	assert_true(str_starts(r->inputs, STR("2 xplane.pb (")));
	assert_true(str_ends(r->inputs, STR("), 1 HLO module")));
}

/* The device assignment tells of 16 devices, and this host has 4, one of them idle. */
static void hosts_that_are_missing(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 3, V5E);
	x_tpu(host, 3, V5E);
	x_hlo(host, "jit_f", PROGRAM, module_for(16));
	xrun_measure(&run);
	assert_number(xrun_row(&run)->hosts, 1);
	assert_number(xrun_row(&run)->hosts_expected, 4);
	assert_number(xrun_row(&run)->devices, 3);
	assert_number(xrun_row(&run)->chips, 16);
}

/* Each of four processes has one of its machine's devices, and sees them all. */
static void processes_that_see_all_devices(void **state)
{
	(void)state;
	for (int here = 4; here >= 2; here--) {
		for (int i = 0; i < here; i++) {
			static const char *const names[] = { "p0", "p1", "p2", "p3" };
			struct xspace *host = host_with_tpus(names[i], 1, V5E);
			for (int idle = 1; idle < 4; idle++)
				x_tpu(host, idle, V5E);
			x_hlo(host, "jit_f", PROGRAM, module_for(4));
		}
		xrun_measure(&run);
		assert_number(xrun_row(&run)->hosts_expected, 4);
		assert_number(xrun_quality(&run, "all-hosts")->ok, here == 4);
		assert_number(xrun_quality(&run, "devices-agree")->ok, 1);
		xrun_end(&run);
		xrun_begin(&run);
	}
}

/* ---- versions -------------------------------------------------------------------------------- */

static void recorded(struct xspace *host, const char *jax, const char *key, const char *runtime)
{
	x_plane(host, "/host:metadata",
		X_STATS(x_text("jax_version", jax), x_text("jaxlib_version", "0.10.2"),
			x_text("cpu_version", "cpu"), x_text(key, runtime)));
}

/* Of a TPU's hosts, of which one was updated; the job file does not replace what they say. */
static void versions_that_were_recorded(void **state)
{
	(void)state;
	struct job_file job = { .versions = { STR("1.0"), STR("1.0"), STR("libtpu 1") } };
	recorded(host_with_tpus("worker-0", 1, V5E), "0.10.2", "tpu_version",
		"PJRT C API\nTFRT TPU v5 lite\nBuilt on Nov 12 2026 (1) cl/8310");
	recorded(host_with_tpus("worker-1", 1, V5E), "0.11.0", "tpu_version",
		"PJRT C API\nTFRT TPU v5 lite\nBuilt on Nov 12 2026 (1) cl/8310");
	run.options.job = &job;
	xrun_measure(&run);
	const struct run_row *r = xrun_row(&run);
	assert_text(r->jax_version, "0.10.2 and 0.11.0");
	assert_text(r->jaxlib_version, "0.10.2");
	assert_text(r->runtime_version, "TFRT TPU v5 lite, Built on Nov 12 2026 (1) cl/8310");
}

/* "cpu" is a name and no version; the job file has a say where nothing was recorded. */
static void versions_that_the_job_tells(void **state)
{
	(void)state;
	struct job_file job = { .versions = { .jax = STR("1.0"), .runtime = STR("libtpu 1") } };
	host_with_tpus("worker-0", 1, V5E);
	run.options.job = &job;
	xrun_measure(&run);
	assert_text(xrun_row(&run)->jax_version, "1.0");
	assert_text(xrun_row(&run)->jaxlib_version, NULL);
	assert_text(xrun_row(&run)->runtime_version, "libtpu 1");
}

static void versions_of_any_length(void **state)
{
	(void)state;
	struct str text = arena_fmt(&run.keep, "%0300d\x01", 1);
	recorded(host_with_tpus("worker-0", 1, V5E), text.p, "tpu_version", text.p);
	xrun_measure(&run);
	assert_int_equal(xrun_row(&run)->jax_version.len, 200);
	assert_int_equal(xrun_row(&run)->runtime_version.len, 200);
}

static void versions_that_nobody_tells(void **state)
{
	(void)state;
	recorded(host_with_tpus("worker-0", 1, V5E), "0.10.2", "gpu_version", "PJRT C API\n");
	xrun_measure(&run);
	assert_text(xrun_row(&run)->jax_version, "0.10.2");
	assert_text(xrun_row(&run)->runtime_version, NULL);
}

/* Ids are each process's own: the same one may mean different programs. */
static void one_id_two_programs(void **state)
{
	static const struct pb_instruction body[] = {
		{ "x", "parameter", "f32[8]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
		{ "add.1", "add", "f32[8]{0}", 2, { 1, 1 }, NO_ROW, 0, NO_ROW },
		NO_ROW,
	};
	static const struct pb_computation small[] = { { "main", 1, body }, NO_ROW };
	(void)state;
	struct xspace *a = host_with_tpus("worker-0", 1, V5E);
	struct xspace *b = host_with_tpus("worker-1", 1, V5E);
	x_hlo(a, "jit_f", PROGRAM, module_for(1));
	x_hlo(b, "jit_g", PROGRAM, pb_write_module(&run.keep, small, STR("")));
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, programs), 2);
	assert_number(xrun_program(&run, "jit_f")->executions, 5);
	assert_number(xrun_program(&run, "jit_g")->executions, 5);
	const struct quality_row *q = xrun_quality(&run, "programs-agree");
	assert_number(q->ok, 0);
	assert_has(q->detail, "of worker-1 runs jit_g, which /device:TPU:0 of worker-0 does not");
}

/* A device that only served copies has no step, and does not take them from the others. */
static void a_device_without_steps(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 2, V5E);
	struct xplane *odd = x_tpu(host, 2, V5E);
	x_op(odd, "copy.9", X_STATS(x_text("hlo_category", "copy")));
	x_event(x_line(odd, "XLA Ops"), "copy.9", 0, 10, NULL);
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	const struct quality_row *q = xrun_quality(&run, "devices-agree");
	assert_has(q->detail, "all 2 devices");
}

static void phases(void **state)
{
	static const struct {
		const char *module, *scope, *phase;
	} cases[] = {
		{ "jit_train_step", "jit(f)/mul", "train" },
		{ "jit_update", "jit(f)/transpose(jvp(loss))/mul", "train" },
		{ "jit_decode", "jit(f)/mul", "inference" },
		{ "jit_infer", "jit(f)/mul", "inference" },
		{ "jit_predict", "jit(f)/mul", "inference" },
		{ "jit_f", "jit(f)/mul", "unknown" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb metadata = pb_new(&run.keep);
		pb_text(&metadata, 2, cases[i].scope);
		const struct pb_instruction body[] = {
			{ "x", "parameter", "f32[8]{0}", 1, NO_ROW, NO_ROW, 0, NO_ROW },
			{ "add.1", "add", "f32[8]{0}", 2, { 1, 1 }, NO_ROW, 0,
				field(7, pb_done(&metadata)) },
			NO_ROW,
		};
		const struct pb_computation c[] = { { "main", 1, body }, NO_ROW };
		run.count = 0;
		struct xspace *host = host_with_tpus("worker-0", 1, V5E);
		x_hlo(host, cases[i].module, PROGRAM, pb_write_module(&run.keep, c, STR("")));
		xrun_measure(&run);
		assert_text(xrun_row(&run)->phase, cases[i].phase);
	}
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define MIB 1048576

static struct xstat memory_stats[9];

/* One sample of an allocator, in MiB. */
static void sample(struct xline *thread, int64_t at, struct xstat who, int64_t reserved,
	int64_t allocated, int64_t peak)
{
	const int64_t capacity = 1000;

	memory_stats[0] = who;
	memory_stats[1] = x_int("bytes_reserved", reserved * MIB);
	memory_stats[2] = x_int("bytes_allocated", allocated * MIB);
	memory_stats[3] = x_int("bytes_available", (capacity - reserved - allocated) * MIB);
	memory_stats[4] = x_int("peak_bytes_in_use", peak * MIB);
	memory_stats[5] = x_real("fragmentation", (double)allocated / 1000);
	memory_stats[6] = (struct xstat){ .name = NULL };
	x_event(thread, "MemoryAllocation", at, at, memory_stats);
}

static void what_allocators_tell(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 2, V5E);
	struct xline *thread = x_line(x_host(host), "main/1");
	struct xstat first = x_int("index_on_host", 0), second = x_int("index_on_host", 1);
	sample(thread, 10, first, 100, 200, 900);
	sample(thread, 20, first, 100, 400, 900);
	sample(thread, 30, first, 300, 150, 950);
	sample(thread, 40, second, 0, 50, 60);
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, memory), 2);
	const struct memory_row *m = xrun_memory(&run, "device 0");
	assert_text(m->host, "worker-0");
	assert_number(m->samples, 3);
	assert_number(m->window_peak_bytes, 500. * MIB);
	assert_number(m->lifetime_peak_bytes, 950. * MIB);
	assert_number(m->capacity_bytes, 1000. * MIB);
	assert_number(m->fragmentation, 0.4);
	assert_unknown(m->compiled_bytes);
	assert_number(xrun_memory(&run, "device 1")->window_peak_bytes, 50. * MIB);
}

/* An allocation of so many MiB at an address; 0: a deallocation, which on TPUs tells no bytes. */
static void allocated(struct xline *thread, int64_t at, int64_t address, int64_t mib, int64_t live)
{
	memory_stats[0] = x_int("index_on_host", 0);
	memory_stats[1] = x_int("bytes_allocated", live * MIB);
	memory_stats[2] = x_int("addr", address);
	memory_stats[3] = x_int("allocation_bytes", mib * MIB);
	memory_stats[mib > 0 ? 4 : 3] = (struct xstat){ .name = NULL };
	x_event(thread, mib > 0 ? "MemoryAllocation" : "MemoryDeallocation", at, at, memory_stats);
}

/* Two threads; `without` is one of the six events of the first device. */
static void allocations_without(int without)
{
	static const struct {
		int64_t address, mib, live;
	} told[] = { { 7, 10, 100 }, { 8, 20, 120 }, { 7, 0, 110 }, { 7, 40, 150 }, { 8, 0, 130 },
		{ 9, 0, 90 } };
	struct xspace *host = host_with_tpus("worker-0", 2, V5E);
	struct xplane *threads = x_host(host);
	struct xline *lines[] = { x_line(threads, "main/1"), x_line(threads, "main/2") };

	for (int i = 0; i < 6; i++)
		if (i != without)
			allocated(lines[i % 2], 10 * i, told[i].address, told[i].mib, told[i].live);
	xrun_measure(&run);
}

static void allocations_follow_from_each_other(void **state)
{
	(void)state;
	allocations_without(-1);
	for (ptrdiff_t i = 0; i < table_count(&run.tables, quality); i++)
		assert_false(str_eq(
			table_rows(&run.tables, quality)[i].name, STR("allocations-complete")));
}

/* The first and the last may not have been recorded; of the others each is missed. */
static void an_allocation_that_is_missing_is_told(void **state)
{
	(void)state;
	allocations_without(3);
	const struct quality_row *q = xrun_quality(&run, "allocations-complete");
	assert_number(q->ok, 0);
	assert_text(q->detail, "memory events of device 0 on worker-0 are missing: 1 of 5 do not "
			       "follow from the one before");
}

static void a_deallocation_that_is_missing_is_told(void **state)
{
	(void)state;
	allocations_without(2);
	assert_number(xrun_quality(&run, "allocations-complete")->ok, 0);
}

static void pinned_host_memory_is_no_chips(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("node-0", 1, V5E);
	struct xline *thread = x_line(x_host(host), "main/1");
	sample(thread, 10, x_ref("allocator_name", "GPU_0_bfc"), 0, 200, 200);
	sample(thread, 20, x_ref("allocator_name", "xla_gpu_host_bfc"), 0, 900, 900);
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, memory), 1);
	assert_number(xrun_memory(&run, "GPU_0_bfc")->window_peak_bytes, 200. * MIB);
}

/* LogicalBufferProto and BufferAllocationProto, whose flag 5 is a parameter and 7 an output. */
static void allocation(struct pb *b, int64_t buffer, int64_t instruction, int64_t size, int flag)
{
	struct pb l = pb_new(&run.keep), a = pb_new(&run.keep), at = pb_new(&run.keep);
	pb_int(&at, 4, instruction);
	pb_int(&l, 1, buffer);
	pb_int(&l, 2, size);
	pb_bytes(&l, 3, pb_done(&at));
	pb_bytes(b, 1, pb_done(&l));
	struct pb assigned = pb_new(&run.keep);
	pb_int(&assigned, 1, buffer);
	pb_int(&a, 2, size);
	if (flag)
		pb_int(&a, flag, 1);
	pb_bytes(&a, 9, pb_done(&assigned));
	pb_bytes(b, 3, pb_done(&a));
}

/* An HloProto whose compiler planned for 64 MiB in, 16 out and so much between. */
static struct str module_with_temp(int64_t mib)
{
	struct pb buffers = pb_new(&run.keep), proto = pb_new(&run.keep);
	allocation(&buffers, 1, 1, 64 * MIB, 5);
	allocation(&buffers, 2, 2, 16 * MIB, 7);
	allocation(&buffers, 3, 2, mib * MIB, 0);
	pb_bytes(&proto, 1, module_for(1));
	pb_bytes(&proto, 3, pb_done(&buffers));
	return pb_done(&proto);
}

static struct str planned_module(void)
{
	return module_with_temp(32);
}

static void what_the_compiler_planned(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 2, V5E);
	x_hlo(host, "jit_f", PROGRAM, planned_module());
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, memory), 2);
	const struct memory_row *m = xrun_memory(&run, "/device:TPU:1");
	assert_number(m->compiled_bytes, 112. * MIB);
	assert_text(m->compiled_program, "jit_f");
	assert_number(m->arguments_bytes, 64. * MIB);
	assert_number(m->output_bytes, 16. * MIB);
	assert_number(m->temp_bytes, 32. * MIB);
	assert_number(m->capacity_bytes, 16. * 1024 * MIB);
	assert_unknown(m->window_peak_bytes);
	assert_unknown(m->owner_bytes);
	assert_number(xrun_program(&run, "jit_f")->compiled_bytes, 112. * MIB);
}

/* The largest counts; of two alike the one with the smaller id, which runs last here. */
static void the_largest_of_the_programs(void **state)
{
	static const int64_t temps[2][3] = { { 10, 50, 30 }, { 20, 20, 20 } };
	(void)state;
	for (int i = 0; i < 2; i++) {
		run.count = 0;
		struct xspace *host = xrun_host(&run, "worker-0");
		struct xplane *tpu = x_tpu(host, 0, V5E);
		struct xline *ops = x_line(tpu, "XLA Ops");
		for (int k = 0; k < 3; k++) {
			const char *name = arena_z(&run.keep, arena_fmt(&run.keep, "add.%d", k));
			x_hlo(host, name, (uint64_t)(9 - k), module_with_temp(temps[i][k]));
			x_op(tpu, name, X_STATS(x_int("program_id", 9 - k)));
			x_event(ops, name, k * 100, k * 100 + 50, NULL);
		}
		xrun_measure(&run);
		const struct memory_row *m = xrun_memory(&run, "/device:TPU:0");
		assert_number(m->compiled_bytes, (80. + (i ? 20 : 50)) * MIB);
		assert_text(m->compiled_program, i ? "add.2" : "add.1");
	}
}

/* What is alive at the peak, largest first; f32[1024] takes 4 KiB of what was allocated. */
static void buffers_at_the_peak(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	x_hlo(host, "jit_f", PROGRAM, planned_module());
	xrun_measure(&run);
	const struct buffers_row *b = table_rows(&run.tables, buffers);
	assert_int_equal(table_count(&run.tables, buffers), 3);
	assert_text(b[0].op, "x");
	assert_text(b[0].kind, "parameter");
	assert_text(b[0].program, "7");
	assert_text(b[0].shape, "f32[1024]{0}");
	assert_number(b[0].bytes, 64. * MIB);
	assert_number(b[0].share, 64. / 112);
	assert_number(b[0].unpadded_bytes, 4096);
	assert_number(b[0].padding_ratio, 64. * MIB / 4096);
	assert_text(b[1].kind, "temp");
	assert_text(b[2].op, "add.1");
	assert_text(b[2].kind, "output");
}

/* The least that was ever allocated, less what the program's parameters take of it. */
static void what_else_was_alive(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	struct xline *thread = x_line(x_host(host), "main/1");
	x_hlo(host, "jit_f", PROGRAM, planned_module());
	sample(thread, 10, x_int("index_on_host", 0), 32, 380, 400);
	sample(thread, 20, x_int("index_on_host", 0), 32, 200, 400);
	xrun_measure(&run);
	assert_int_equal(table_count(&run.tables, memory), 1);
	assert_number(xrun_memory(&run, "device 0")->window_peak_bytes, (32 + 380.) * MIB);
	assert_number(xrun_memory(&run, "device 0")->compiled_bytes, 112. * MIB);
	assert_number(xrun_memory(&run, "device 0")->other_live_bytes, (200 - 64.) * MIB);
}

/* ---- the data itself ------------------------------------------------------------------------- */

static void a_file_in_good_order(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	x_hlo(host, "jit_f", PROGRAM, module_for(1));
	xrun_measure(&run);
	ptrdiff_t count = table_count(&run.tables, quality);
	assert_true(count >= 9);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct quality_row *q = &table_rows(&run.tables, quality)[i];
		if (!(q->ok == 1))
			fail_msg("%.*s: %.*s", STR_ARG(q->name), STR_ARG(q->detail));
		assert_true(q->detail.len > 0);
	}
	assert_int_equal(run.notes.count, 0);
}

/* What is written last is missing: the file was cut, or is still written. */
static void a_cut_file(void **state)
{
	(void)state;
	host_without_end("worker-0");
	busy_half(x_tpu(run.files[0], 0, V5E));
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "not-truncated");
	assert_number(q->ok, 0);
	assert_has(q->detail, "worker-0 ends with neither a Task Environment plane nor");
}

/* Runtimes of before 2024: the host's name is the last word, and without it the file was cut. */
static void a_file_of_an_old_runtime(void **state)
{
	(void)state;
	host_without_end("worker-0");
	busy_half(x_tpu(run.files[0], 0, V5E));
	x_hostname(run.files[0], "worker-0");
	xrun_measure(&run);
	assert_number(xrun_quality(&run, "not-truncated")->ok, 1);
}

/* Another capture was appended, and its end is missing. */
static void a_second_capture_that_is_cut(void **state)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct pb plane = pb_new(&run.keep);
	(void)state;
	busy_half(x_tpu(host, 0, V5E));
	x_hostname(host, "worker-0");
	pb_text(&plane, 2, "/host:metadata");
	x_behind(host, pb_done(&plane));
	xrun_measure(&run);
	assert_number(xrun_quality(&run, "not-truncated")->ok, 0);
}

/* A plane that no reader knows, as a later profiler may write one, cuts nothing off. */
static void a_plane_of_a_later_profiler(void **state)
{
	struct xspace *host = xrun_host(&run, "worker-0");
	struct pb plane = pb_new(&run.keep);
	(void)state;
	busy_half(x_tpu(host, 0, V5E));
	x_hostname(host, "worker-0");
	pb_text(&plane, 2, "/device:CUSTOM:New");
	x_behind(host, pb_done(&plane));
	xrun_measure(&run);
	assert_number(xrun_quality(&run, "not-truncated")->ok, 1);
}

static void the_profilers_own_complaints(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	x_error(host, "buffer full, 12 events lost");
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "no-dropped-events");
	assert_number(q->ok, 0);
	assert_has(q->detail, "buffer full, 12 events lost");
}

static void dropped_events(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker-0");
	busy_half(x_plane(host, "/device:TPU:0",
		X_STATS(x_text("device_type_string", V5E), x_int("dropped_traces", 12))));
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "no-dropped-events");
	assert_number(q->ok, 0);
	assert_has(q->detail, "12 events dropped");
}

/* An event that refers to no metadata is not left out: its time is counted, and named as lost. */
static void events_without_metadata(void **state)
{
	(void)state;
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, V5E);
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "add.1", X_STATS(x_int("program_id", PROGRAM)));
	for (int64_t i = 0; i < 5; i++) {
		x_event(ops, "add.1", i * 200, i * 200 + 100, NULL);
		x_event(ops, NULL, i * 200 + 100, i * 200 + 150, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_device(&run, "/device:TPU:0")->events, 10);
	const struct quality_row *q = xrun_quality(&run, "references-resolved");
	assert_number(q->ok, 0);
	assert_has(q->detail, "5 events of /device:TPU:0, 0.25 ms,");
}

/* A thousandth is told, and closes nothing. */
static void one_event_without_metadata(void **state)
{
	(void)state;
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, V5E);
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "add.1", X_STATS(x_int("program_id", PROGRAM)));
	for (int64_t i = 0; i < 2000; i++)
		x_event(ops, "add.1", i * 200, i * 200 + 100, NULL);
	x_event(ops, NULL, 400000, 400010, NULL);
	xrun_measure(&run);
	assert_number(xrun_quality(&run, "references-resolved")->ok, 1);
}

/* What all stats of an op refer to is gone from the file: the op's time counts as lost. */
static void a_text_that_is_not_there(void **state)
{
	(void)state;
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, V5E);
	struct xline *ops = x_line(tpu, "XLA Ops");
	x_op(tpu, "add.1", X_STATS(x_int("program_id", PROGRAM), x_ref("tf_op", NULL)));
	for (int64_t i = 0; i < 50; i++)
		x_event(ops, "add.1", i * 200, i * 200 + 100, NULL);
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "references-resolved");
	assert_number(q->ok, 0);
	assert_has(q->detail, "50 events of /device:TPU:0, 5 ms,");
}

/* The same of the hosts' threads, where steps, compilations and allocators are told. */
static void host_events_without_metadata(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	struct xline *thread = x_line(x_host(host), "python");
	x_event(thread, "f", 0, 10, NULL);
	x_event(thread, NULL, 10, 20, NULL);
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "references-resolved");
	assert_number(q->ok, 0);
	assert_has(q->detail, "1 of 2 events of the hosts' threads");
}

/*
 * What told the steps is gone from the file: no stat of the plane could mark one, and that it could
 * not is told.
 */
static void host_stats_without_metadata(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	struct xline *thread = x_line(x_host(host), "python");
	for (int64_t i = 0; i < 5; i++)
		x_event(thread, "train", i * 100, i * 100 + 90, X_STATS(x_unnamed()));
	xrun_measure(&run);
	const struct quality_row *q = xrun_quality(&run, "references-resolved");
	assert_number(q->ok, 0);
	assert_has(q->detail, "5 of 5 events of the hosts' threads");
}

/* The last event of a line comes first: none is lost, and none is out of place. */
static void a_lane_out_of_order(void **state)
{
	(void)state;
	struct xplane *tpu = x_tpu(xrun_host(&run, "worker-0"), 0, V5E);
	struct xline *ops = x_line(tpu, "XLA Ops"), *steps = x_line(tpu, "Steps");
	x_op(tpu, "add.1", X_STATS(x_int("program_id", PROGRAM)));
	for (int64_t i = 200; i-- > 0;) {
		x_event(ops, "add.1", i * 200, i * 200 + 100, NULL);
		x_event(steps, "0", i * 200, i * 200 + 200, NULL);
	}
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 199);
	assert_number(xrun_row(&run)->step_time_s, 200 * US);
	assert_number(xrun_device(&run, "/device:TPU:0")->events, 200);
	const struct quality_row *q = xrun_quality(&run, "lanes-in-order");
	assert_number(q->ok, 0);
	assert_has(q->detail, "was sorted");
}

/* A program that cannot be read costs what it would have told, and nothing else. */
static void hlo_that_is_none(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 1, V5E);
	x_hlo(host, "jit_f", PROGRAM, STR("\x0a\xff\xff\xff no module"));
	xrun_measure(&run);
	assert_number(xrun_row(&run)->steps, 3);
	assert_number(xrun_program(&run, "jit_f")->has_hlo, 0);
	assert_text(xrun_op(&run, "add.1")->common->attribution, "profile");
	assert_number(xrun_quality(&run, "hlo-present")->ok, 0);
	assert_int_equal(run.notes.count, 1);
	assert_has(run.notes.items[0].text, "module jit_f");
}

/* Nobody vouches for names in a profile. */
static void hostile_names(void **state)
{
	(void)state;
	struct xspace *host = xrun_host(&run, "worker\x1b[31m-0");
	struct xplane *gpu = x_gpu(host, 0, "NVIDIA \342\200\256001H");
	struct xline *stream = x_line(gpu, "Stream #1");
	for (int64_t i = 0; i < 5; i++)
		x_event(stream, "kernel\n\x01\xff", i * 200, i * 200 + 100,
			X_STATS(x_ref("hlo_op", "fusion\x07.1"), x_ref("hlo_module", "jit\xc0"),
				x_ref("name", "scope\xe2\x80\xa8/x"), x_int("program_id", 1)));
	x_event(x_line(x_host(host), "main\x02"), "backend_compile \x03", 450, 460, NULL);
	x_error(host, "lost\x08\x08\x08");
	xrun_measure(&run);
	for (int id = 0; id < TABLE_COUNT; id++)
		for (ptrdiff_t i = 0; i < run.tables.items[id].count; i++)
			for (ptrdiff_t k = 0; k < table_defs[id].column_count; k++) {
				const struct column *c = &table_defs[id].columns[k];
				const char *rows = run.tables.items[id].rows;
				const char *row = rows + i * table_defs[id].row_bytes;
				if (c->type == COLUMN_TEXT && !text_is_clean(cell_text(c, row)))
					fail_msg("%.*s.%.*s is not clean",
						STR_ARG(table_defs[id].name), STR_ARG(c->name));
			}
	assert_has(table_rows(&run.tables, ops)->name, "fusion");
}

/* Words of every cell that is one of a list are of that list. */
static void words_are_the_listed_ones(void **state)
{
	(void)state;
	struct xspace *host = host_with_tpus("worker-0", 2, V5E);
	x_hlo(host, "jit_train", PROGRAM, planned_module());
	xrun_measure(&run);
	for (int id = 0; id < TABLE_COUNT; id++)
		for (ptrdiff_t i = 0; i < run.tables.items[id].count; i++)
			for (ptrdiff_t k = 0; k < table_defs[id].column_count; k++) {
				const struct column *c = &table_defs[id].columns[k];
				const char *rows = run.tables.items[id].rows;
				struct str word, rest, cell = { NULL, 0 };
				if (c->words)
					cell = cell_text(c, rows + i * table_defs[id].row_bytes);
				if (!cell.p)
					continue;
				rest = str_from(c->words);
				do {
					str_cut(rest, '|', &word, &rest);
				} while (!str_eq(word, cell) && rest.len > 0);
				assert_true(str_eq(word, cell));
			}
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void nothing_at_all(void **state)
{
	(void)state;
	host_without_end("worker-0");
	assert_false(xrun_try(&run));
	assert_int_equal(run.err.id, DIAG_XPLANE);
	assert_has(str_from(run.err.text), "no XPlane in 0 bytes");
}

static void a_run_without_files(void **state)
{
	(void)state;
	xrun_measure(&run);
	assert_number(xrun_row(&run)->hosts, 0);
	assert_number(xrun_quality(&run, "ops-recorded")->ok, 0);
}

/* An event whose bytes are none: found when the lane is read, and where it is is told. */
static void a_damaged_event(void **state)
{
	(void)state;
	static const char damage[] = "\x22\x03\x08\xff\xff"; /* an event that ends inside its id */
	struct pb line = pb_new(&run.keep), plane = pb_new(&run.keep), space = pb_new(&run.keep);
	struct input in;
	struct profile profile;
	pb_int(&line, 1, 1);
	pb_text(&line, 2, "XLA Ops");
	pb_raw(&line, (struct str){ damage, sizeof(damage) - 1 });
	pb_text(&plane, 2, "/device:TPU:0");
	pb_bytes(&plane, 3, pb_done(&line));
	pb_bytes(&space, 1, pb_done(&plane));
	in = input_memory(STR("worker-0.xplane.pb"), pb_done(&space));
	bool ok = xplane_open(&in, STR("worker-0"), &run.keep, &profile, &run.err) &&
		  xrun_profiles(&run, &profile, 1);
	assert_false(ok);
	assert_int_equal(run.err.id, DIAG_WIRE);
	assert_has(str_from(run.err.text), "/device:TPU:0");
	assert_has(str_from(run.err.text), "XEvent at byte");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, run_begin, run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(steps_of_devices_that_are_not_told_apart),
		TEST(a_known_chip),
		TEST(an_unknown_chip),
		TEST(a_chip_by_option),
		TEST(a_plane_with_another_peak),
		TEST(a_plane_with_another_memory),
		TEST(two_planes_of_a_chip),
		TEST(two_hosts),
		TEST(hosts_that_are_missing),
		TEST(processes_that_see_all_devices),
		TEST(versions_that_were_recorded),
		TEST(versions_that_the_job_tells),
		TEST(versions_of_any_length),
		TEST(versions_that_nobody_tells),
		TEST(one_id_two_programs),
		TEST(a_device_without_steps),
		TEST(phases),
		TEST(what_allocators_tell),
		TEST(allocations_follow_from_each_other),
		TEST(an_allocation_that_is_missing_is_told),
		TEST(a_deallocation_that_is_missing_is_told),
		TEST(pinned_host_memory_is_no_chips),
		TEST(what_the_compiler_planned),
		TEST(the_largest_of_the_programs),
		TEST(buffers_at_the_peak),
		TEST(what_else_was_alive),
		TEST(a_file_in_good_order),
		TEST(a_cut_file),
		TEST(a_file_of_an_old_runtime),
		TEST(a_second_capture_that_is_cut),
		TEST(a_plane_of_a_later_profiler),
		TEST(the_profilers_own_complaints),
		TEST(dropped_events),
		TEST(events_without_metadata),
		TEST(one_event_without_metadata),
		TEST(a_text_that_is_not_there),
		TEST(host_events_without_metadata),
		TEST(host_stats_without_metadata),
		TEST(a_lane_out_of_order),
		TEST(hlo_that_is_none),
		TEST(hostile_names),
		TEST(words_are_the_listed_ones),
		TEST(nothing_at_all),
		TEST(a_run_without_files),
		TEST(a_damaged_event),
	};
	return cmocka_run_group_tests_name("measure_run", tests, NULL, NULL);
}
