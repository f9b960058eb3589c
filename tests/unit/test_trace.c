/*
 * profile/trace: what a trace viewer's export says, as planes, lanes and ops; and what is measured
 * of it where nothing but the ops' own text tells what they are.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/out.h"
#include "session/pack.h"
#include "profile/trace.h"
#include "tests/unit/xspace.h"
#include "tests/unit/keep.h"

static struct diag err;
static struct input in;
static struct profile profile;

static int clear(void **state)
{
	(void)state;
	input_close(&in);
	arena_clear(&keep);
	return 0;
}

static bool open_bytes(struct str bytes)
{
	in = input_memory(STR("t.trace.json.gz"), bytes);
	return trace_open(&in, STR("t"), &keep, &profile, &err);
}

static void open_good(struct str bytes)
{
	if (!open_bytes(bytes))
		fail_msg("%s", err.text);
}

#define EVENTS(text)                                                                               \
	"{\"displayTimeUnit\":\"ns\",\"metadata\":{\"x\":true},\"traceEvents\":[" text "{}]}"
#define NAME(pid, name)                                                                            \
	"{\"ph\":\"M\",\"pid\":" pid ",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}" \
	"},"
#define THREAD(pid, tid, name)                                                                     \
	"{\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid                                               \
	",\"name\":\"thread_name\",\"args\":{\"name\":\"" name "\"}},"
#define EVENT(pid, tid, ts, dur, name, args)                                                       \
	"{\"ph\":\"X\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur                 \
	",\"name\":\"" name "\",\"args\":{" args "}},"

/* A TPU that runs one program three times: a matmul fusion that calls what is not there, a copy,
 * and a gather of two halves. */
#define DOT                                                                                        \
	"%fusion.1 = bf16[256,512]{1,0:T(8,128)(2,1)S(1)} fusion(bf16[256,128]{1,0} %p.1, "        \
	"bf16[128,512]{1,0} %p.2), kind=kOutput, calls=%fused"
#define GATHER                                                                                     \
	"%all-gather.3 = f32[2048]{0} all-gather(f32[1024]{0} %copy.2), replica_groups={{0,1}}, "  \
	"dimensions={0}"
#define STEP(t)                                                                                    \
	EVENT("3", "2", t "00", "90", "jit_f(77)", "\"run_id\":\"1\"")                             \
	EVENT("3", "3", t "01", "40", "fusion.1",                                                  \
		"\"bytes_accessed\":\"999999\",\"hlo_category\":\"convolution fusion\","           \
		"\"long_name\":\"" DOT "\",\"model_flops\":\"33554432\",\"source\":\"a/m.py:7\","  \
		"\"tf_op\":\"jit(f)/dot:\"")                                                       \
	EVENT("3", "3", t "41", "20", "copy.2",                                                    \
		"\"bytes_accessed\":\"8192\",\"hlo_category\":\"copy\","                           \
		"\"long_name\":\"%copy.2 = f32[1024]{0} copy(f32[1024]{0} %p.3)\"")                \
	EVENT("3", "3", t "61", "20", "all-gather.3",                                              \
		"\"bytes_accessed\":\"12288\",\"hlo_category\":\"all-gather\","                    \
		"\"long_name\":\"" GATHER "\"")
#define TPU                                                                                        \
	NAME("3", "/device:TPU:0")                                                                 \
	THREAD("3", "2", "XLA Modules") THREAD("3", "3", "XLA Ops") THREAD("3", "9", "XLA TraceMe")
#define THREE_STEPS STEP("1") STEP("2") STEP("3")

static const struct plane *plane_of_class(enum plane_class class)
{
	for (ptrdiff_t i = 0; i < profile.plane_count; i++)
		if (profile.planes[i].class == class)
			return &profile.planes[i];
	fail_msg("no such plane");
	return NULL;
}

static ptrdiff_t count_ops(struct plane *p)
{
	struct merge *m = merge_new(p, &keep);
	const struct op_event *e;
	ptrdiff_t n = 0;
	plane_learn(p, &keep);
	for (; (e = merge_next(m)); n++) {
	}
	assert_true(merge_end(m, &err));
	merge_free(m);
	return n;
}

static void test_tpu(void **state)
{
	(void)state;
	open_good(STR(EVENTS(TPU EVENT("3", "9", "5", "5", "barrier", "") THREE_STEPS)));
	struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
	assert_int_equal(p->platform, PLATFORM_TPU);
	assert_int_equal(p->ordinal, 0);
	assert_int_equal(profile.event_count, 13);
	assert_int_equal(profile.hlo_count, 1);
	assert_int_equal(profile.hlo[0].program, 77);
	assert_true(str_eq(profile.hlo[0].name, STR("jit_f")));
	assert_int_equal(profile.hlo[0].op_count, 3);
	assert_true(str_eq(profile.hlo[0].ops[0], STR(DOT)));

	struct merge *m = merge_new(p, &keep);
	const struct op_event *e;
	assert_non_null(e = merge_next(m));
	assert_int_equal(e->start_ps, 101 * INT64_C(1000000));
	assert_int_equal(e->end_ps, 141 * INT64_C(1000000));
	const struct profile_op *op = &p->ops[e->op];
	assert_true(str_eq(op->name, STR("fusion.1")) && str_eq(op->text, STR(DOT)));
	assert_int_equal(op->program, 77);
	assert_true(op->model_flops == 33554432 && op->bytes_accessed == 999999);
	assert_true(isnan(op->flops) && isnan(op->hbm_read_bytes));
	assert_true(str_eq(op->source, STR("a/m.py:7")) && str_eq(op->scope, STR("jit(f)/dot:")));
	while (merge_next(m)) {
	}
	assert_true(merge_end(m, &err));
	assert_int_equal(p->op_count, 3);
	merge_free(m);
}

/* The device's own clock where events carry it, and the program by the same clock. */
static void test_device_clock(void **state)
{
	(void)state;
#define CLOCK(offset, duration)                                                                    \
	"\"device_duration_ps\":\"" duration "\",\"device_offset_ps\":\"" offset "\""
	open_good(STR(EVENTS(TPU EVENT("3", "2", "100", "9", "jit_f(5)", CLOCK("900", "50"))
			EVENT("3", "3", "200", "3", "add.1",
				CLOCK("910", "7") ",\"long_name\":\"%add.1 = ...\""))));
	struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
	struct merge *m = merge_new(p, &keep);
	const struct op_event *e;
	assert_non_null(e = merge_next(m));
	assert_int_equal(e->start_ps, 910);
	assert_int_equal(e->end_ps, 917);
	assert_int_equal(p->ops[e->op].program, 5);
	assert_int_equal(p->host_shift_ps, 200 * 1000000 - 910);
	merge_free(m);
}

static void check_time(const char *ts, int64_t want_ps)
{
	open_good(arena_fmt(&keep,
		EVENTS(TPU "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":%s,\"name\":\"a\"},"), ts));
	struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
	struct merge *m = merge_new(p, &keep);
	const struct op_event *e;
	assert_non_null(e = merge_next(m));
	assert_int_equal(e->start_ps, want_ps);
	merge_free(m);
}

/* Writers print the nearest double of a number of picoseconds. */
static void test_times(void **state)
{
	(void)state;
	check_time("0", 0);
	check_time("12", 12000000);
	check_time("1.5", 1500000);
	check_time("1217969.0464019999", 1217969046402);
	check_time("9.9999999999999995e-07", 1);
	check_time("1E3", 1000000000);
	check_time("-2.25", -2250000);
	check_time("123456789012.000001", INT64_C(123456789012000001));
	check_time("12345678.1234567", INT64_C(12345678123457));
	check_time("123456789.12345650", INT64_C(123456789123457));
	check_time("1.99999949999999999999999999", 1999999);
	check_time("1.9999995", 2000000);
	check_time("1.", 1000000);
	check_time("0000000000001.5", 1500000);
}

static void test_spelling(void **state)
{
	(void)state;
	/* As Python writes it, keys in any order, numbers as texts and texts as numbers. */
	open_good(STR("{\"traceEvents\": [\n {\"args\": {\"name\": \"/device:TPU:0\"}, "
		      "\"name\": \"process_name\", \"pid\": 3, \"ph\": \"M\"}, {\"ph\": \"M\", "
		      "\"name\": \"thread_name\", \"tid\": \"3\", \"pid\": \"3\", \"args\": "
		      "{\"name\": \"XLA \\u004fps\"}},\n{\"args\": {\"model_flops\": 12, "
		      "\"tf_op\": \"a\\\"b\", \"other\": [1, {\"x\": \"]\"}]}, \"tid\": 3, "
		      "\"pid\": 3, \"dur\": 2, \"ts\": 1, \"ph\": \"X\", \"name\": \"x\", "
		      "\"sf\": {\"a\": []}} ], \"displayTimeUnit\": \"ns\"}\n"));
	struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
	assert_int_equal(count_ops(p), 1);
	assert_true(p->ops[0].model_flops == 12);
	assert_true(str_eq(p->ops[0].scope, STR("a\"b")));
	/* An array alone. */
	open_good(STR("[" NAME("3", "/device:TPU:0") "{}]"));
	assert_int_equal(profile.plane_count, 1);
}

/* Names behind the events they are for. */
static void test_names_last(void **state)
{
	(void)state;
	open_good(STR(EVENTS(EVENT("3", "3", "1", "2", "x", "") TPU)));
	assert_int_equal(count_ops((struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE)), 1);
}

/* Many names of one plane with many lanes: their product would be minutes. */
static void test_named_again(void **state)
{
	(void)state;
	enum { MANY = 60000, SECONDS = 10 };
	clock_t begin = clock();
	struct out *o = out_memory(&keep);
	out_z(o, "{\"traceEvents\":[");
	for (int i = 0; i < MANY; i++)
		out_fmt(o,
			"{\"ph\":\"M\",\"pid\":3,\"tid\":%d,\"name\":\"thread_name\","
			"\"args\":{\"name\":\"t\"}},",
			i);
	for (int i = 0; i < MANY; i++)
		out_z(o, TPU);
	out_z(o, "{}]}");
	open_good(out_text(o));
	assert_true(clock() - begin < (clock_t)SECONDS * CLOCKS_PER_SEC);
}

/* What an event said, and what else stood there that nobody asks for. */
static const int said_args[] = { STAT_BYTES_ACCESSED, STAT_MODEL_FLOPS, STAT_DEVICE_OFFSET_PS,
	STAT_FLOPS, STAT_HLO_OP, STAT_TF_OP, STAT_SOURCE, ARG_LONG_NAME };
enum { SAID = (int)(sizeof(said_args) / sizeof(said_args[0])), SAID_ANEW = 2 };
struct said {
	int64_t pid, tid, start_ps;
	struct str name, args[SAID];
};

static uint64_t roll(uint64_t sides)
{
	static uint64_t seed = 1;
	seed = hash_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
	return seed % sides;
}

static void say_arg(struct out *o, struct said *e, int i)
{
	struct str key =
		said_args[i] == ARG_LONG_NAME ? STR("long_name") : stat_name_of(said_args[i]);
	/* One is nearly always new, the others seldom; some are numbers that begin alike. */
	uint64_t sides = i == SAID_ANEW ? 100000 : 1 + (roll(8) == 0);
	struct str value = arena_fmt(&keep, "%llu", (unsigned long long)(roll(sides) * 977));
	bool is_number = i % 3 == 1;
	if (is_number)
		value = str_head(STR("97797"), roll(8) ? 2 : 1 + (ptrdiff_t)roll(5));
	else if (roll(40) == 0)
		value = arena_fmt(&keep, "a \\\"%.*s\\\", \\\\", STR_ARG(value));
	const char *quote = is_number ? "" : "\"";
	out_fmt(o, "\"%.*s\":%s%s%.*s%s", STR_ARG(key), roll(50) ? "" : " ", quote, STR_ARG(value),
		quote);
	e->args[i] = value;
}

/* Arguments of any number and order, now and then twice or of no interest. */
static void say_args(struct out *o, struct said *e)
{
	bool any = false;
	for (int i = 0; i < SAID; i++) {
		if (roll(30) == 0)
			continue;
		out_z(o, any ? "," : "");
		any = true;
		int which = roll(60) ? i : (int)roll(SAID);
		say_arg(o, e, which);
		if (roll(20) == 0)
			out_fmt(o, ",\"other\":[%d,{\"x\":\"}\"}]", (int)roll(3));
	}
}

static void say(struct out *o, struct said *e)
{
	*e = (struct said){ .pid = 1 + (int64_t)roll(2), .tid = (int64_t)roll(2) };
	e->start_ps = (int64_t)roll(1000000);
	e->name = arena_fmt(&keep, "n%d", (int)(roll(3) ? roll(8) : roll(20000)));
	out_fmt(o, "{\"ph\":\"X\",\"pid\":%d,", (int)e->pid);
	if (roll(10))
		out_fmt(o, "\"tid\":%d,", (int)e->tid);
	else
		e->tid = -1;
	bool early = e->tid < 0 && roll(2);
	if (early)
		out_fmt(o, "\"name\":\"%.*s\",", STR_ARG(e->name));
	out_fmt(o, "\"ts\":%.6f", (double)e->start_ps / 1e6);
	if (!early)
		out_fmt(o, ",\"name\":\"%.*s\"", STR_ARG(e->name));
	if (roll(15)) {
		out_z(o, ",\"args\":{");
		say_args(o, e);
		out_z(o, "}");
	}
	out_z(o, "},");
}

static void check_said(const struct trace_event *e, const struct said *want)
{
	assert_int_equal(e->phase, 'X');
	assert_int_equal(e->pid, want->pid);
	assert_int_equal(e->tid, want->tid);
	assert_int_equal(e->start_ps, want->start_ps);
	assert_true(str_eq(e->name, want->name));
	for (int i = 0; i < SAID; i++) {
		bool here = e->present >> said_args[i] & 1;
		assert_int_equal(here, want->args[i].p != NULL);
		struct str got = e->args[said_args[i]];
		if (here && !str_eq(got, want->args[i]))
			fail_msg("%.*s instead of %.*s", STR_ARG(got), STR_ARG(want->args[i]));
	}
}

/* Events of any spelling and order of members, across many windows. */
static void test_said(void **state)
{
	(void)state;
	enum { EVENTS = 60000 };
	struct said *all = arena_make(&keep, struct said, EVENTS);
	struct trace_event *e = arena_make(&keep, struct trace_event, 1);
	struct trace_reader r;
	struct out *o = out_memory(&keep);
	out_z(o, "{\"traceEvents\":[");
	for (int i = 0; i < EVENTS; i++)
		say(o, &all[i]);
	out_z(o, "{}]}");
	in = input_memory(STR("t.trace.json.gz"), out_text(o));
	assert_true(trace_begin(&r, &in, &keep));
	for (int i = 0; i < EVENTS; i++) {
		assert_true(trace_next(&r, e));
		check_said(e, &all[i]);
	}
	while (trace_next(&r, e)) {
	}
	assert_true(trace_end(&r, &err));
	trace_close(&r);
}

/* 200 MB of JSON would take long; this is enough for many windows and blocks, and for the spool's
 * file. */
static void test_large(void **state)
{
	(void)state;
	enum { ROUNDS = 150000 };
	struct out *o = out_memory(&keep);
	out_z(o, "{\"traceEvents\":[" TPU THREAD("3", "4", "Steps"));
	for (int i = 0; i < ROUNDS; i++) {
		out_fmt(o, "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":%d.25,\"dur\":0.5,", 3 * i);
		out_fmt(o, "\"name\":\"op.%d\",\"args\":{", i % 7);
		out_fmt(o, "\"device_duration_ps\":\"400000\",\"device_offset_ps\":\"%d000000\"",
			i);
		out_z(o, ",\"tf_op\":\"");
		out_repeat(o, 'x', i % 500 + (i % 50000 == 7 ? 400000 : 0));
		out_z(o, "\"}},");
	}
	out_z(o, "{}]}");
	struct str text = out_text(o), packed = pack(text, &keep);
	struct str both[] = { text, packed };
	for (int i = 0; i < 2; i++) {
		open_good(both[i]);
		struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
		struct merge *m = merge_new(p, &keep);
		const struct op_event *e;
		int64_t n = 0;
		for (; (e = merge_next(m)); n++) {
			assert_int_equal(e->start_ps, n * 1000000);
			assert_int_equal(e->end_ps - e->start_ps, 400000);
		}
		assert_true(merge_end(m, &err));
		assert_int_equal(n, ROUNDS);
		assert_non_null(in.guard); /* 7 MB of events are more than the spool holds */
		merge_free(m);
		plane_forget(p);
		input_close(&in);
	}
}

static void test_gpu_and_host(void **state)
{
	(void)state;
	open_good(STR(EVENTS(NAME("1", "/device:GPU:0") THREAD("1", "7", "Stream #7(Compute)") NAME(
		"701", "/host:CPU") THREAD("701", "1", "main") EVENT("701", "1", "1", "9", "train",
		"\"step_num\":\"4\"") EVENT("1", "7", "2", "1", "kernel",
		"\"hlo_module\":\"jit_g\",\"hlo_op\":\"fusion.1\","
		"\"correlation_id\":\"3\",\"tf_op\":\"jit(g)/add\"") EVENT("1", "7", "4", "1",
		"MemcpyH2D", "\"memcpy_details\":\"kind_src:pageable size:64\""))));
	struct plane *p = (struct plane *)(uintptr_t)plane_of_class(PLANE_DEVICE);
	assert_int_equal(p->platform, PLATFORM_NVIDIA);
	assert_int_equal(count_ops(p), 2);
	assert_true(str_eq(p->ops[0].hlo_op, STR("fusion.1")));
	assert_true(str_eq(p->ops[0].module, STR("jit_g")));
	assert_true(str_eq(p->ops[0].scope, STR("jit(g)/add")));
	assert_int_equal(p->ops[0].program, profile.hlo[0].program);
	assert_true(profile.hlo[0].by_name);
	assert_int_equal(p->ops[1].copy, COPY_H2D);

	const struct plane *host = plane_of_class(PLANE_HOST);
	struct cursor *c = cursor_new(host, &host->lanes[0], 0, &keep);
	struct event *e = arena_make(&keep, struct event, 1);
	cursor_only(c, 1 << HOST_STEP);
	assert_true(cursor_next(c, e));
	assert_int_equal(e->stats.at[STAT_STEP_NUM].i64, 4);
	assert_false(cursor_next(c, e));
}

static void check_refused(struct str bytes, enum diag_id id, const char *part)
{
	if (open_bytes(bytes))
		fail_msg("read: %.*s", STR_ARG(bytes));
	assert_int_equal(err.id, id);
	if (!strstr(err.text, part))
		fail_msg("'%s' says nothing of '%s'", err.text, part);
}

static void test_refused(void **state)
{
	(void)state;
	static const struct str whole = STR_INIT(EVENTS(TPU THREE_STEPS));
	/* Wherever it is cut, it is not taken for a whole one. */
	for (ptrdiff_t n = 1; n < whole.len; n += 7)
		check_refused(str_head(whole, n), DIAG_TRACE, "breaks off; copy or capture");
	check_refused(STR("{\"a\":[1,2]}"), DIAG_TRACE, "expected traceEvents");
	check_refused(STR("{\"traceEvents\":3}"), DIAG_TRACE, "byte 15 of its JSON: expected '['");
	check_refused(STR("{\"traceEvents\":[{}]} x"), DIAG_TRACE, "nothing behind");
	check_refused(STR("{\"traceEvents\":[],\"traceEvents\":[]}"), DIAG_TRACE, "not two");
	check_refused(STR("[{\"ph\":\"X\",\"ts\":1e300,\"name\":\"a\"}]"), DIAG_TRACE, "26 days");
	check_refused(STR("[{\"ph\":\"X\",\"ts\":x}]"), DIAG_TRACE, "26 days");
	check_refused(STR("[{\"ph\" \"X\"}]"), DIAG_TRACE, "':'");
	/* A comma too many, and one too few. */
#define ARGS(args) "{\"ph\":\"X\",\"name\":\"a\",\"args\":{" args "}},"
	check_refused(STR("[" ARGS("\"flops\":1,\"tf_op\":\"a\"") ARGS(
			      "\"flops\":2,\"tf_op\":\"a\"") ARGS(",\"tf_op\":\"a\"") "{}]"),
		DIAG_TRACE, "a string");
	check_refused(STR("[" ARGS("\"tf_op\":\"a\"") ARGS("\"flops\":2\"tf_op\":\"a\"") "{}]"),
		DIAG_TRACE, "a value");
	check_refused(STR("[{}]"), DIAG_FILE_KIND, "not one of JAX");
	check_refused(STR("{\"schemaVersion\":1,\"traceEvents\":[]}"), DIAG_FILE_KIND, "PyTorch");
	check_refused(STR("[{\"ph\":\"X\",\"cat\":\"Operator\"}]"), DIAG_FILE_KIND,
		"another profiler than JAX's");
	check_refused(STR("{\"rocprofiler-sdk-tool\":[]}"), DIAG_FILE_KIND, "rocprof");
	check_refused(STR("[{\"cols\":[]}]"), DIAG_FILE_KIND, "XProf");
	check_refused(STR("[{\"cat\":\"x\"}]"), DIAG_FILE_KIND, "nsys export --type sqlite");
	struct str packed = pack(whole, &keep);
	check_refused(str_head(packed, packed.len - 9), DIAG_GZIP, "breaks off");
}

static void test_too_large(void **state)
{
	(void)state;
	struct out *o = out_memory(&keep);
	out_z(o, "[{\"name\":\"");
	out_repeat(o, 'x', 3 << 20);
	out_z(o, "\"}]");
	check_refused(out_text(o), DIAG_TRACE, "less than 1 MiB");
}

static void test_capped(void **state)
{
	(void)state;
	struct profile p = { .event_count = 1000000 };
	assert_true(trace_is_capped(&p));
	p.event_count = 5000000;
	assert_true(trace_is_capped(&p));
	p.event_count = 999999;
	assert_false(trace_is_capped(&p));
}

/* ---- what is measured of it ------------------------------------------------------------------ */

static void measure(struct str json, struct xrun *run)
{
	xrun_begin(run);
	open_good(json);
	run->options.chip = chip_find(run->options.chips, STR("v5e"), &run->err);
	if (!xrun_profiles(run, &profile, 1))
		fail_msg("%s", run->err.text);
}

static void test_measured(void **state)
{
	(void)state;
	struct xrun run;
	measure(STR(EVENTS(TPU THREE_STEPS STEP("4") STEP("5"))), &run);
	assert_text(xrun_row(&run)->steps_source, "program");
	assert_number(xrun_row(&run)->steps, 3);
	assert_true(str_ends(xrun_row(&run)->inputs, STR(", HLO text of the ops that ran")));

	const struct ops_row *dot = xrun_op(&run, "fusion.1");
	assert_text(dot->common->kind, "matmul");
	assert_text(dot->common->program, "77");
	assert_text(dot->common->opcode, "fusion");
	assert_text(dot->common->flops_source, "profile");
	assert_number(dot->common->flops, 33554432);
	/* 64 KiB and 128 KiB from HBM; the result stays on the chip, whatever the sum says. */
	assert_number(dot->common->hbm_bytes, 2 * 256 * 128 + 2 * 128 * 512);
	assert_number(dot->p50_s, 40 * US);
	assert_text(dot->common->source_file, "a/m.py");

	const struct ops_row *copy = xrun_op(&run, "copy.2");
	assert_text(copy->common->kind, "copy");
	assert_text(copy->common->copy_cause, "donation"); /* the layout is the same */
	assert_number(copy->common->hbm_bytes, 8192);

	const struct collectives_row *gather = xrun_collective(&run, "all-gather.3");
	assert_number(gather->message_bytes, 8192);
	assert_number(gather->group_size, 2);
	assert_unknown(gather->regathers); /* how often a loop runs it is not known */

	assert_number(xrun_quality(&run, "full-profile")->ok, 0);
	assert_number(xrun_quality(&run, "hlo-present")->ok, 0);
	assert_number(xrun_quality(&run, "not-truncated")->ok, 1);
	xrun_end(&run);

	struct str cut = STR(EVENTS(TPU THREE_STEPS STEP("4")));
	measure(cut, &run);
	xrun_end(&run);
	profile.event_count = 1000000;
	xrun_begin(&run);
	assert_true(xrun_profiles(&run, &profile, 1));
	assert_number(xrun_quality(&run, "not-truncated")->ok, 0);
	assert_has(xrun_quality(&run, "not-truncated")->detail, "what came later is missing");
	xrun_end(&run);
}

/* A step of two slices: a send and a recv, work beside them, and the wait for what is received.
 * In JSON's string the quotes of frontend attributes are escaped. */
#define TRANSFER                                                                                   \
	"frontend_attributes={_xla_megascale_target=\\\"{1,2}x{0:7}\\\","                          \
	"_xla_megascale_transfer_type=\\\"ALL_REDUCE\\\"}"
#define OP(t, dur, name, text)                                                                     \
	EVENT("3", "3", t, dur, name, "\"hlo_category\":\"x\",\"long_name\":\"" text "\"")
#define SLICES(t)                                                                                  \
	EVENT("3", "2", t "00", "90", "jit_f(77)", "\"run_id\":\"1\"")                             \
	OP(t "01", "1", "send",                                                                    \
		"%send = (f32[1048576], u32[], token[]) send(f32[1048576] %p, token[] %t), "       \
		"is_host_transfer=true, " TRANSFER)                                                \
	OP(t "03", "1", "recv",                                                                    \
		"%recv = (f32[1048576], u32[], token[]) recv(token[] %t), "                        \
		"is_host_transfer=true, " TRANSFER)                                                \
	OP(t "05", "40", "add", "%add = f32[9] add(f32[9] %a, f32[9] %b)")                         \
	OP(t "45", "1", "send-done",                                                               \
		"%send-done = token[] send-done((f32[1048576], u32[], token[]) %send), "           \
		"is_host_transfer=true")                                                           \
	OP(t "46", "44", "recv-done",                                                              \
		"%recv-done = (f32[1048576], token[]) recv-done((f32[1048576], u32[], token[]) "   \
		"%recv), is_host_transfer=true")

static void test_slices(void **state)
{
	(void)state;
	struct xrun run;
	measure(STR(EVENTS(TPU SLICES("1") SLICES("2") SLICES("3") SLICES("4") SLICES("5"))), &run);
	const struct collectives_row *recv = xrun_collective(&run, "recv");
	assert_text(recv->kind, "all-reduce");
	assert_text(recv->link, "dcn");
	assert_text(recv->axis, "2 slices");
	assert_number(recv->message_bytes, 4194304);
	assert_number(recv->expected_lo_s, 4194304 / 3.125e9);
	assert_number(recv->span_s, 87 * US);	 /* from the recv's begin to its done's end */
	assert_number(recv->hidden_s, 40 * US);	 /* behind the addition */
	assert_number(recv->exposed_s, 46 * US); /* the rest, but for the 1 us of send-done */
	assert_text(xrun_op(&run, "send")->common->kind, "send");
	assert_number(xrun_row(&run)->slices, 2);
	assert_number(xrun_row(&run)->transfer_ratio, 0); /* none of it is the host's */
	xrun_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_tpu, clear),
		cmocka_unit_test_teardown(test_slices, clear),
		cmocka_unit_test_teardown(test_device_clock, clear),
		cmocka_unit_test_teardown(test_times, clear),
		cmocka_unit_test_teardown(test_spelling, clear),
		cmocka_unit_test_teardown(test_names_last, clear),
		cmocka_unit_test_teardown(test_named_again, clear),
		cmocka_unit_test_teardown(test_said, clear),
		cmocka_unit_test_teardown(test_large, clear),
		cmocka_unit_test_teardown(test_gpu_and_host, clear),
		cmocka_unit_test_teardown(test_refused, clear),
		cmocka_unit_test_teardown(test_too_large, clear),
		cmocka_unit_test_teardown(test_capped, clear),
		cmocka_unit_test_teardown(test_measured, clear),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
