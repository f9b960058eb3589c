/* profile/nsys: exports of Nsight Systems, whole, old, partial, foreign, damaged and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "profile/nsys.h"

static struct arena a;
static struct diag err;
static struct input in;
static struct profile profile;
static struct str wanted; /* pattern of the steps */

static int setup(void **state)
{
	(void)state;
	a = arena_new((ptrdiff_t)1 << 30);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&a);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	wanted = (struct str){ NULL, 0 };
	input_close(&in);
	arena_clear(&a);
	return 0;
}

/* The bytes of a database that a script makes. */
static struct str database(const char *sql)
{
	sqlite3 *db;
	sqlite3_int64 size;
	char *why = NULL;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
	struct str s = arena_str(&a, (struct str){ (const char *)bytes, size });
	sqlite3_free(bytes);
	sqlite3_close(db);
	return s;
}

static bool open_bytes(struct str bytes)
{
	in = input_memory(STR("t.sqlite"), bytes);
	return nsys_open(&in, STR("t"), wanted, &a, &profile, &err);
}

static void open_good(const char *sql)
{
	if (!open_bytes(database(sql)))
		fail_msg("%s", err.text);
}

static void refused_bytes(struct str bytes, enum diag_id id, const char *says)
{
	assert_false(open_bytes(bytes));
	if (err.id != id || !strstr(err.text, says))
		fail_msg("RL%d: %s", err.id, err.text);
}

static void refused(const char *sql, enum diag_id id, const char *says)
{
	refused_bytes(database(sql), id, says);
}

static struct plane *plane_named(const char *name)
{
	for (ptrdiff_t i = 0; i < profile.plane_count; i++)
		if (str_eq(profile.planes[i].name, str_from(name)))
			return &profile.planes[i];
	fail_msg("no plane %s", name);
	return NULL;
}

/* Ops of a plane by time: "name@start+length" in nanoseconds, or what `tell` says. */
typedef struct str tell_fn(const struct plane *p, const struct op_event *e);

static struct str tell_time(const struct plane *p, const struct op_event *e)
{
	return arena_fmt(&a, "%.*s@%lld+%lld", STR_ARG(p->ops[e->op].name),
		(long long)e->start_ps / 1000, (long long)(e->end_ps - e->start_ps) / 1000);
}

static struct str tell_owner(const struct plane *p, const struct op_event *e)
{
	const struct profile_op *op = &p->ops[e->op];
	return arena_fmt(&a, "%.*s=%.*s:%lld:%.*s:%.*s", STR_ARG(op->name), STR_ARG(op->module),
		(long long)op->program, STR_ARG(op->hlo_op), STR_ARG(op->scope));
}

static struct str tell_copy(const struct plane *p, const struct op_event *e)
{
	return arena_fmt(&a, "%d:%lld", (int)p->ops[e->op].copy, (long long)e->bytes);
}

static void assert_ops(const char *plane, tell_fn *tell, const char *expected)
{
	struct plane *p = plane_named(plane);
	struct str text = STR("");
	const struct op_event *e;
	plane_learn(p, &a);
	struct merge *m = merge_new(p, &a);
	while ((e = merge_next(m))) {
		struct str one = tell(p, e);
		text = arena_fmt(
			&a, "%.*s%s%.*s", STR_ARG(text), text.len ? " " : "", STR_ARG(one));
	}
	assert_true(merge_end(m, &err));
	merge_free(m);
	assert_string_equal(arena_z(&a, text), expected);
}

static const struct lane *lane_named(const struct plane *p, const char *name)
{
	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		if (str_eq(p->lanes[i].name, str_from(name)))
			return &p->lanes[i];
	return NULL;
}

static void assert_lane(const char *plane, const char *lane, const char *expected)
{
	const struct plane *p = plane_named(plane);
	const struct lane *l = lane_named(p, lane);
	struct str text = STR("");
	struct event e;
	if (!l)
		fail_msg("no lane %s", lane);
	struct cursor *c = cursor_new(p, l, STAT_BIT(NAME) | STAT_BIT(STEP_NUM), &a);
	while (cursor_next(c, &e))
		text = arena_fmt(&a, "%.*s%s%.*s/%d@%lld-%lld", STR_ARG(text), text.len ? " " : "",
			STR_ARG(e.name), (int)e.host, (long long)e.start_ps / 1000,
			(long long)e.end_ps / 1000);
	assert_true(cursor_end(c, &err));
	assert_string_equal(arena_z(&a, text), expected);
}

/* ---- databases ------------------------------------------------------------------------------- */

#define STRINGS                                                                                    \
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                    \
	"INSERT INTO StringIds VALUES (1,'void gemm<(int)128>(float*)'),(2,'gemm'),"               \
	"(3,'ncclDevKernel_AllReduce'),(4,'cudaLaunchKernel_v7000'),"                              \
	"(5,'XlaModule:#prefix=jit(f)/main,hlo_module=jit_f,program_id=7#'),"                      \
	"(6,'Thunk:#name=a,b/dot,hlo_op=fusion.1#'),(7,'TSL:Thunk:#hlo_op=all-reduce.2#'),"        \
	"(8,'step 3'),(9,'aten::mm, op_id = 77'),(10,'XlaCompile:#module=jit_f,program_id=7#'),"   \
	"(11,'Step_4'),(12,'inner iteration 0');"
#define KERNELS                                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, \"end\" INT, deviceId INT,"           \
	" contextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT,"       \
	" shortName INT);"
#define KERNEL(values) "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" values ");"
#define COPIES                                                                                     \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, \"end\" INT, deviceId INT,"           \
	" streamId INT, correlationId INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);"
#define COPY(values) "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" values ");"
#define CALLS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, \"end\" INT, globalTid INT,"         \
	" correlationId INT, nameId INT);"
#define CALL(values) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" values ");"
#define RANGES                                                                                     \
	"CREATE TABLE NVTX_EVENTS (start INT, \"end\" INT, eventType INT, text TEXT,"              \
	" globalTid INT, textId INT);"
#define RANGE(values) "INSERT INTO NVTX_EVENTS VALUES (" values ");"

/* Process 1 as Nsight packs it, and its thread 5. */
#define PID "16777216"
#define TID "16777221"

/* ---- what is read ---------------------------------------------------------------------------- */

static void kernels_and_streams(void **state)
{
	(void)state;
	open_good(STRINGS KERNELS KERNEL("100,150,0,1,7,1," PID ",1,2") KERNEL(
		"120,140,0,1,20,2," PID ",3,3")
			KERNEL("100,110,1,2,7,3," PID
			       ",99,2") "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, "
					"\"end\" INT,"
					" deviceId INT, streamId INT);"
					"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (90,95,0,7);"
					"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT,"
					" \"end\" INT, deviceId INT, streamId INT, graphId INT);"
					"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES "
					"(200,260,0,7,9);");
	assert_ops("/device:GPU:0", tell_time,
		"Memset@90+5 void gemm<(int)128>(float*)@100+50 ncclDevKernel_AllReduce@120+20 "
		"CudaGraphExec:9@200+60");
	/* A text that is not there: the next column that names it. */
	assert_ops("/device:GPU:1", tell_time, "gemm@100+10");
	assert_int_equal(plane_named("/device:GPU:0")->platform, PLATFORM_NVIDIA);
	assert_int_equal(
		lane_named(plane_named("/device:GPU:0"), "Stream #20")->class, LANE_STREAM);
	assert_int_equal(profile.event_count, 5);
	assert_int_equal(profile.format, FORMAT_NSYS);
}

/* Every kind of copy, as CUPTI numbers them. */
static void copies(void **state)
{
	(void)state;
	open_good(STRINGS COPIES COPY("1,2,0,7,1,10,1,0,2") COPY("3,4,0,7,1,20,2,2,1") COPY(
		"5,6,0,7,1,30,8,2,2") COPY("7,8,0,7,1,40,10,2,2") COPY("9,10,0,7,1,50,11,4,2")
			COPY("11,12,0,7,1,60,9,0,1") COPY("13,14,0,7,1,70,99,NULL,NULL"));
	assert_ops("/device:GPU:0", tell_copy, "1:10 2:20 3:30 4:40 1:50 5:60 5:70");
}

#define JAX                                                                                        \
	STRINGS RANGES CALLS KERNELS RANGE("1000,2000,59,NULL," TID ",5")                          \
		RANGE("1100,1200,59,NULL," TID ",6") RANGE("1300,1400,59,NULL," TID ",7") CALL(    \
			"1110,1120," TID ",1,4") CALL("1310,1320," TID ",2,4")                     \
			CALL("1500,1510," TID ",3,4") CALL("2500,2510," TID ",4,4") CALL(          \
				"1110,1120,33554437,9,4") KERNEL("3000,3100,0,1,7,1," PID ",1,2")  \
				KERNEL("3100,3200,0,1,7,2," PID ",3,3")                            \
					KERNEL("3200,3300,0,1,7,3," PID ",2,2")                    \
						KERNEL("3300,3400,0,1,7,4"                         \
						       "," PID ",2,2")                             \
							KERNEL("3400,3500,0,1,7,9,33554432,2,2")

/* By the launch's thread: thunk and module, module alone, neither; and not by another process's. */
static void attribution(void **state)
{
	(void)state;
	open_good(JAX);
	assert_ops("/device:GPU:0", tell_owner,
		"void gemm<(int)128>(float*)=jit_f:7:fusion.1:jit(f)/main/a,b/dot "
		"ncclDevKernel_AllReduce=jit_f:7:all-reduce.2:jit(f)/main "
		"gemm=jit_f:7:: gemm=:-1:: gemm=:-1::");
	assert_int_equal(profile.hlo_count, 1);
	assert_true(str_eq(profile.hlo[0].name, STR("jit_f")));
}

/* PyTorch's range says which collective NCCL's kernel is of; of other kernels it says nothing. */
static void collectives(void **state)
{
	(void)state;
	open_good(STRINGS RANGES CALLS KERNELS RANGE(
		"1000,2000,59,'nccl:_all_gather_base, op_id = 7'," TID
		",NULL") CALL("1100,1110," TID ",1,4") CALL("1200,1210," TID ",2,4")
			CALL("2100,2110," TID ",3,4") KERNEL("3000,3100,0,1,7,1," PID ",3,3")
				KERNEL("3100,3200,0,1,7,2," PID ",2,2")
					KERNEL("3200,3300,0,1,7,3," PID ",3,3"));
	assert_ops("/device:GPU:0", tell_owner,
		"ncclDevKernel_AllReduce=:-1:nccl:all-gather-base: gemm=:-1:: "
		"ncclDevKernel_AllReduce=:-1::");
}

/* Ranges and calls of a thread; a mark, a range that was never closed and a step's are none. */
static void host_lanes(void **state)
{
	(void)state;
	open_good(STRINGS RANGES CALLS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2")
			RANGE("10,20,59,NULL," TID ",9") RANGE("30,90,60,'mine'," TID ",NULL")
				RANGE("40,NULL,59,'open'," TID ",NULL")
					RANGE("50,50,34,'mark'," TID ",NULL")
						RANGE("100,200,59,NULL," TID ",10")
							RANGE("5,95,59,'step 3'," TID ",NULL")
							CALL("12,14," TID ",1,4"));
	assert_lane("/host:CPU", "thread 5", "aten::mm/0@10-20 mine/0@30-90 XlaCompile/1@100-200");
	assert_lane("/host:CPU", "CUDA calls of thread 5", "cudaLaunchKernel/0@12-14");
}

/* The outermost range that is called a step; on a device from first op to first op. */
static void steps(void **state)
{
	(void)state;
	open_good(STRINGS RANGES CALLS KERNELS RANGE("1000,1900,59,NULL," TID ",8") RANGE(
		"1200,1800,59,'iteration 0'," TID ",NULL") RANGE("2000,2900,59,NULL," TID ",11")
			RANGE("3000,3900,59,'train#step_num=5,_r=1#'," TID ",NULL")
				CALL("1300,1310," TID ",1,4") CALL("2300,2310," TID ",2,4")
					CALL("3300,3310," TID ",3,4")
						KERNEL("1500,1600,0,1,7,1," PID ",1,2") KERNEL(
							"2500,2600,0,1,7,2," PID ",1,2")
							KERNEL("3500,3600,0,1,7,3," PID ",1,2"));
	assert_lane("/device:GPU:0", "Steps", "3/0@1500-2500 4/0@2500-3500");
}

/* Any range is a step when the user says so, with a number or without; then no other is. */
static void steps_by_name(void **state)
{
	static const struct {
		const char *wanted, *steps;
		bool named;
	} cases[] = {
		{ NULL, "7/0@1500-1600", false },
		{ "epoch*", "0/0@1500-2500 1/0@2500-3500", true },
		{ "epoch", "0/0@1500-2500 1/0@2500-3500", true },
		{ "flash_attn", "flash_attn/0@1500-2500", true },
		{ "*", "0/0@1500-2500 1/0@2500-3500", true },
		{ "nothing", "7/0@1500-1600", false },
		{ "XlaModule*", "7/0@1500-1600", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clear(NULL);
		wanted = str_from(cases[i].wanted);
		open_good(STRINGS RANGES CALLS KERNELS RANGE(
			"1000,1900,59,'epoch 0'," TID
			",NULL") RANGE("1100,1800,59,'step 7'," TID
				       ",NULL") RANGE("1200,1700,59,'flash_attn'," TID ",NULL")
				RANGE("2000,2900,60,'epoch 1'," TID ",NULL") RANGE(
					"2200,2700,59,'flash_attn'," TID
					",NULL") RANGE("3000,3900,70,'epoch 2'," TID
						       ",NULL") CALL("1300,1310," TID ",1,4")
					CALL("2300,2310," TID ",2,4") CALL("3300,3310," TID ",3,4")
						KERNEL("1500,1600,0,1,7,1," PID ",1,2") KERNEL(
							"2500,2600,0,1,7,2," PID ",1,2")
							KERNEL("3500,3600,0,1,7,3," PID ",1,2"));
		assert_lane("/device:GPU:0", "Steps", cases[i].steps);
		assert_int_equal(profile.steps_named, cases[i].named);
	}
}

static void what_is_no_step(void **state)
{
	static const char *const names[] = { "steps 3", "step", "stepper 3", "step three",
		"step 3b", "next step 3", "train#step_num=x#" };
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct nsys_ranges r = { .keep = &a };
		int32_t note = nsys_note_of(&r, str_from(names[i]));
		if (r.notes[note].kind != NOTE_OTHER)
			fail_msg("%s", names[i]);
	}
}

/* Both tables of GPUs; the older one's clock and bandwidth have units that nobody tells. */
static void chips(void **state)
{
	(void)state;
	open_good(STRINGS KERNELS KERNEL(
		"1,2,1,1,7,1," PID
		",1,2") "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, totalMemory INT,"
			" memoryBandwidth INT, clockRate INT, smCount INT, computeMajor INT,"
			" computeMinor INT);"
			"INSERT INTO TARGET_INFO_GPU VALUES (0,'A',1,1,1,1,1,1),"
			"(1,'NVIDIA H100',80,3350,1980,132,9,0);");
	const struct chip_hints *c = &plane_named("/device:GPU:1")->chip;
	assert_true(str_eq(c->device_name, STR("NVIDIA H100")));
	assert_int_equal(c->core_count, 132);
	assert_int_equal(c->cc_major, 9);
	assert_true(c->clock_hz == 1980 && c->memory_bytes == 80 && c->memory_bps == 3350);

	open_good(STRINGS KERNELS KERNEL(
		"1,2,0,1,7,1," PID
		",1,2") "CREATE TABLE TARGET_INFO_CUDA_GPU (deviceId INT, name TEXT,"
			" computeCapabilityMajor INT, computeCapabilityMinor INT,"
			" numMultiprocessors INT, globalMemorySize INT, coreClockRate INT);"
			"INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0,'Tesla "
			"V100',7,0,80,32,1530000);");
	c = &plane_named("/device:GPU:0")->chip;
	assert_true(str_eq(c->device_name, STR("Tesla V100")));
	assert_int_equal(c->core_count, 80);
	assert_true(isnan(c->clock_hz) && c->memory_bytes == 32);

	open_good(STRINGS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2"));
	assert_false(plane_named("/device:GPU:0")->chip.device_name.p);
}

/* Each process calls its only GPU 0. */
static void gpus_of_processes(void **state)
{
	(void)state;
	open_good(STRINGS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2")
			KERNEL("1,3,0,1,7,1,33554432,1,2") "CREATE TABLE TARGET_INFO_CUDA_DEVICE "
							   "(gpuId INT, cudaId INT, pid INT);"
							   "INSERT INTO TARGET_INFO_CUDA_DEVICE "
							   "VALUES (4,0,1),(5,0,2);");
	assert_ops("/device:GPU:4", tell_time, "void gemm<(int)128>(float*)@1+1");
	assert_ops("/device:GPU:5", tell_time, "void gemm<(int)128>(float*)@1+2");
}

/* Only what cannot be done without. */
static void few_columns(void **state)
{
	(void)state;
	open_good("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, streamId);"
		  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,9,0,7);");
	assert_ops("/device:GPU:0", tell_time, "(unnamed)@5+4");
}

static void session(void **state)
{
	(void)state;
	open_good(STRINGS KERNELS KERNEL(
		"1,2,0,1,7,1," PID
		",1,2") "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
			"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1801386000000000000);"
			"CREATE TABLE ANALYSIS_DETAILS (duration INT);"
			"INSERT INTO ANALYSIS_DETAILS VALUES (5000000000);"
			"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
			"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2026.1');"
			"CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT);"
			"INSERT INTO DIAGNOSTIC_EVENT VALUES "
			"(1,'Number of CUDA events collected: 5.'),"
			"(1,'Number of incomplete CUPTI events dropped: 2.'),"
			"(2,'Not all OpenGL events might have been collected.'),"
			"(2,'no perf'),(2,'Not all CUDA events might have been "
			"collected.'),(3,'bad'),(3,'Unable to configure the collection of CPU "
			"IP/backtrace samples, context switch data, or event sampling data.'),"
			"(3,'CUDA device 0: Unified Memory cannot be traced on devices that "
			"don''t support peer-to-peer transfers.'),"
			"(2,'Not all NVTX events might have been collected.'),"
			"(2,'No NVTX events collected. Does the process use NVTX?');");
	assert_int_equal(profile.start_ns, INT64_C(1801386000000000000));
	assert_int_equal(profile.stop_ns, INT64_C(1801386005000000000));
	assert_true(str_eq(profile.writer, STR("Nsight Systems 2026.1")));
	/* What is said of ranges, of CPUs, of pages and of drawing is no loss of kernels. */
	assert_int_equal(profile.warning_count, 3);
	assert_true(
		str_eq(profile.ranges_lost, STR("Not all NVTX events might have been collected.")));
}

#define ENVIRONMENT(rows)                                                                          \
	STRINGS KERNELS KERNEL(                                                                    \
		"1,2,0,1,7,1," PID ",1,2") "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INT, "  \
					   "name TEXT, value TEXT);"                               \
					   "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES " rows ";"

/* Of the machine's environment nothing but the driver and its CUDA. */
static void versions(void **state)
{
	(void)state;
	open_good(ENVIRONMENT("(1,'NvDriverVersion','535.129.03'),(1,'DeviceEnvironment','K=1'),"
			      "(1,'CudaDriverVersion','12080')"));
	assert_true(str_eq(profile.versions.runtime, STR("CUDA 12.8, driver 535.129.03")));
	assert_null(profile.versions.jax.p);
	open_good(ENVIRONMENT("(1,'CudaDriverVersion','N/A'),(1,'NvDriverVersion','535')"));
	assert_true(str_eq(profile.versions.runtime, STR("driver 535")));
	open_good(ENVIRONMENT("(1,'KernelVersion','5.15')"));
	assert_null(profile.versions.runtime.p);
}

/* An export that was shifted to the time of day. */
static void times_since_1970(void **state)
{
	(void)state;
	open_good(STRINGS KERNELS KERNEL(
		"1801386000000000100,1801386000000000150,0,1,7,1," PID ",1,2")
			KERNEL("1801386000000000200,1801386000000000250,0,1,7,1," PID ",2,2"));
	assert_ops("/device:GPU:0", tell_time, "void gemm<(int)128>(float*)@0+50 gemm@100+50");
}

/* ---- what is not ----------------------------------------------------------------------------- */

static void foreign_and_empty(void **state)
{
	(void)state;
	refused("CREATE TABLE runs (id INT);", DIAG_FILE_KIND, "not of Nsight Systems");
	refused(STRINGS, DIAG_NSYS, "no work of a GPU was recorded");
	refused(STRINGS KERNELS, DIAG_NSYS, "no work of a GPU was recorded");
	refused(STRINGS CALLS CALL("1,2," TID ",1,9"), DIAG_NSYS, "no work of a GPU was recorded");
	refused(STRINGS CALLS CALL("1,2," TID ",1,4") CALL("3,4," TID ",2,4"), DIAG_NSYS,
		"holds 2 launches and nothing of what a GPU did");
	refused("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT);", DIAG_NSYS,
		"it has no column \"end\"");
	refused(STRINGS KERNELS KERNEL("1,2,-5,1,7,1," PID ",1,2"), DIAG_NSYS, "count from -5");
	refused(STRINGS KERNELS KERNEL("1,9223372036854775807,0,1,7,1," PID ",1,2"), DIAG_NSYS,
		"26 days apart");
	refused(STRINGS KERNELS KERNEL("-9223372036854775807,2,0,1,7,1," PID ",1,2"), DIAG_NSYS,
		"26 days apart");
}

/* SQLite would read them as 0, and the row as one of the capture's beginning. */
static void text_for_numbers(void **state)
{
	(void)state;
	refused(STRINGS KERNELS KERNEL("'12:00:03',2,0,1,7,1," PID ",1,2"), DIAG_NSYS,
		"CUPTI_ACTIVITY_KIND_KERNEL: a row has text where a time");
	refused(STRINGS KERNELS KERNEL("100,'12:00:03',0,1,7,1," PID ",1,2"), DIAG_NSYS,
		"has text");
	refused(STRINGS KERNELS KERNEL("1,2,'gpu',1,7,1," PID ",1,2"), DIAG_NSYS, "has text");
	refused(STRINGS KERNELS KERNEL("1,2,0,1,'blue',1," PID ",1,2"), DIAG_NSYS, "has text");
	refused(STRINGS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2")
			COPIES COPY("'x',2,0,7,1,1,1,1,1"),
		DIAG_NSYS, "CUPTI_ACTIVITY_KIND_MEMCPY: a row has text");
	refused(STRINGS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2") CALLS CALL("1,'x'," TID ",1,4"),
		DIAG_NSYS, "CUPTI_ACTIVITY_KIND_RUNTIME: a row has text");
	refused(STRINGS KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2")
			RANGES RANGE("1,2,59,'step 1','main',NULL"),
		DIAG_NSYS, "NVTX_EVENTS: a row has text");
}

/* What runs something when it is read is not there. */
static void hostile_schemas(void **state)
{
	(void)state;
	refused(STRINGS "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS \"end\","
			" 0 AS deviceId, 7 AS streamId;",
		DIAG_NSYS, "CUPTI_ACTIVITY_KIND_KERNEL: a view, where a table");
	refused(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, deviceId INT,"
			" streamId INT, \"end\" INT AS (length(hex(zeroblob(start)))));",
		DIAG_NSYS, "it has no column \"end\"");
	refused(STRINGS KERNELS KERNEL(
			"1,2,0,1,7,1," PID
			",50,50") "INSERT INTO StringIds VALUES (50, hex(zeroblob(600000)));",
		DIAG_LIMIT, "more than 1 MiB");
}

static void put_be(char *p, int64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--, value >>= 8)
		p[i] = (char)value;
}

/* Pages of 64 KiB, each with seven thousand times the same child. */
static void put_interior(char *page, int64_t child)
{
	enum { PAGE = 65536, CELLS = 7000, CELL = 5 };
	memset(page, 0, PAGE);
	page[0] = 5;
	put_be(page + 3, CELLS, 2);
	put_be(page + 5, PAGE - CELLS * CELL, 2);
	put_be(page + 8, child, 4);
	for (int i = 0; i < CELLS; i++) {
		int at = PAGE - (i + 1) * CELL;
		put_be(page + 12 + 2 * i, at, 2);
		put_be(page + at, child, 4);
		page[at + 4] = 1;
	}
}

/* Few pages that hold billions of rows, as each is there again and again. */
static void tree_that_multiplies(void **state)
{
	enum { PAGE = 65536 };
	(void)state;
	struct str whole =
		database("PRAGMA page_size=65536;" KERNELS KERNEL("1,2,0,1,7,1," PID ",1,2"));
	int64_t pages = whole.len / PAGE;
	char *bytes = arena_make(&a, char, whole.len + 2 * PAGE);
	memcpy(bytes, whole.p, (size_t)whole.len);
	memcpy(bytes + whole.len, bytes + whole.len - PAGE, PAGE);
	put_interior(bytes + whole.len + PAGE, pages + 1);
	put_interior(bytes + whole.len - PAGE, pages + 2);
	put_be(bytes + 28, pages + 2, 4);
	refused_bytes(
		(struct str){ bytes, whole.len + 2 * PAGE }, DIAG_LIMIT, "point at each other");
}

/* Every prefix is refused, and says so; so is any page of zeros, or it changes nothing. */
static void cut_and_damaged(void **state)
{
	(void)state;
	struct str whole = database("PRAGMA page_size=512;" JAX);
	char *bytes = arena_make(&a, char, whole.len);
	for (ptrdiff_t n = 16; n < whole.len; n += 97) {
		struct arena before = a;
		refused_bytes(str_head(whole, n), DIAG_NSYS, "cut short");
		a = before;
	}
	for (ptrdiff_t at = 512; at < whole.len; at += 512) {
		struct arena before = a;
		memcpy(bytes, whole.p, (size_t)whole.len);
		memset(bytes + at, 0, 512);
		bool ok = open_bytes((struct str){ bytes, whole.len });
		assert_true(ok || (err.id == DIAG_NSYS && err.text[0]));
		input_close(&in);
		a = before;
	}
	memcpy(bytes, whole.p, (size_t)whole.len);
	bytes[18] = bytes[19] = 2;
	refused_bytes((struct str){ bytes, whole.len }, DIAG_NSYS, "journal_mode=DELETE");
}

/* Ranges inside ranges, beyond what anybody nests, and such as cross each other. */
static void deep_ranges(void **state)
{
	struct nsys_ranges r = { .keep = &a };
	(void)state;
	int32_t step = nsys_note_of(&r, STR("step 1"));
	for (int i = 0; i < 1000; i++)
		assert_true(nsys_range_add(&r, (struct nsys_range){ 1, i, 5000 - i, step, -1 }));
	assert_true(nsys_range_add(&r, (struct nsys_range){ 2, 10, 20, step, -1 }));
	assert_true(nsys_range_add(&r, (struct nsys_range){ 2, 15, 30, step, -1 }));
	nsys_ranges_sort(&r);
	assert_int_equal(nsys_range_outer(&r, nsys_range_at(&r, 1, 2500), NOTE_STEP), 0);
	assert_int_equal(nsys_range_at(&r, 2, 9), -1);
	assert_int_equal(nsys_range_at(&r, 2, 12), 1000);
	assert_int_equal(nsys_range_at(&r, 2, 25), 1001);
	assert_int_equal(nsys_range_at(&r, 2, 31), -1);
	assert_int_equal(nsys_range_at(&r, 3, 15), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(kernels_and_streams, clear),
		cmocka_unit_test_teardown(copies, clear),
		cmocka_unit_test_teardown(attribution, clear),
		cmocka_unit_test_teardown(collectives, clear),
		cmocka_unit_test_teardown(host_lanes, clear),
		cmocka_unit_test_teardown(steps, clear),
		cmocka_unit_test_teardown(steps_by_name, clear),
		cmocka_unit_test_teardown(what_is_no_step, clear),
		cmocka_unit_test_teardown(chips, clear),
		cmocka_unit_test_teardown(gpus_of_processes, clear),
		cmocka_unit_test_teardown(few_columns, clear),
		cmocka_unit_test_teardown(session, clear),
		cmocka_unit_test_teardown(versions, clear),
		cmocka_unit_test_teardown(times_since_1970, clear),
		cmocka_unit_test_teardown(foreign_and_empty, clear),
		cmocka_unit_test_teardown(text_for_numbers, clear),
		cmocka_unit_test_teardown(hostile_schemas, clear),
		cmocka_unit_test_teardown(tree_that_multiplies, clear),
		cmocka_unit_test_teardown(cut_and_damaged, clear),
		cmocka_unit_test_teardown(deep_ranges, clear),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
