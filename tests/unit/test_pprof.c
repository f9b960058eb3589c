/*
 * profile/pprof: snapshots of live buffers in both spellings of their labels, and the table made of
 * them.
 */
#include <string.h>

#include "profile/pprof.h"
#include "session/pack.h"
#include "tests/unit/xspace.h"
#include "tests/unit/keep.h"

static struct diag err;
static struct live_snapshot snapshot;

/* ---- writing --------------------------------------------------------------------------------- */

static const char *const strings[] = { "", "allocations", "count", "space", "bytes", "kind",
	"buffer", "executable", "device", "cuda:0", "/x/site-packages/jax/_src/array.py", "bind",
	"/home/me/train.py", "main", "<module>" };
enum {
	S_ALLOCATIONS = 1,
	S_COUNT,
	S_SPACE,
	S_BYTES,
	S_KIND,
	S_BUFFER,
	S_EXECUTABLE,
	S_DEVICE,
	S_CUDA,
	S_JAX_PY,
	S_BIND,
	S_TRAIN_PY,
	S_MAIN,
	S_MODULE,
	STRINGS
};

static void pair(struct pb *to, int field, int first, int64_t x, int second, int64_t y)
{
	struct pb b = pb_new(&keep);
	if (first)
		pb_int(&b, first, x);
	if (second)
		pb_int(&b, second, y);
	pb_bytes(to, field, pb_done(&b));
}

static void packed(struct pb *to, int field, int64_t x, int64_t y)
{
	struct pb b = pb_new(&keep);
	pb_varint(&b, (uint64_t)x);
	if (y != INT64_MIN)
		pb_varint(&b, (uint64_t)y);
	pb_bytes(to, field, pb_done(&b));
}

enum device { ON_CUDA, ON_NUMBER, ON_ZERO, ON_NONE };

/* A sample at locations 1 (in JAX) and `line`, innermost first. */
static void sample(struct pb *to, int64_t count, int64_t bytes, enum device device, int line)
{
	struct pb b = pb_new(&keep);
	packed(&b, 1, 1, line);
	packed(&b, 2, count, bytes);
	pair(&b, 3, 1, S_KIND, 2, device == ON_NONE ? S_EXECUTABLE : S_BUFFER);
	if (device == ON_CUDA)
		pair(&b, 3, 1, S_DEVICE, 2, S_CUDA);
	if (device == ON_NUMBER)
		pair(&b, 3, 1, S_DEVICE, 3, 7);
	if (device == ON_ZERO)
		pair(&b, 3, 1, S_DEVICE, 0, 0);
	pb_bytes(to, 2, pb_done(&b));
}

static void function(struct pb *to, int64_t id, int name, int file)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, 1, id);
	pb_int(&b, 2, name);
	pb_int(&b, 4, file);
	pb_bytes(to, 5, pb_done(&b));
}

static void location(struct pb *to, int64_t id, int64_t function_id, int64_t line)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, 1, id);
	pair(&b, 4, 1, function_id, 2, line);
	pb_bytes(to, 4, pb_done(&b));
}

static struct pb profile_new(int type)
{
	struct pb b = pb_new(&keep);
	pair(&b, 1, 1, S_ALLOCATIONS, 2, S_COUNT);
	pair(&b, 1, 1, type, 2, S_BYTES);
	return b;
}

static struct str profile_done(struct pb *b)
{
	function(b, 1, S_BIND, S_JAX_PY);
	function(b, 2, S_MAIN, S_TRAIN_PY);
	location(b, 1, 1, 500);
	location(b, 2, 2, 91);
	location(b, 3, 2, 92);
	for (int i = 0; i < STRINGS; i++)
		pb_text(b, 6, strings[i]);
	return pb_done(b);
}

static bool open_bytes(struct str bytes)
{
	struct input in = input_memory(STR("memory.prof"), bytes);
	return pprof_open(&in, &keep, &snapshot, &err);
}

static struct str example(void)
{
	struct pb b = profile_new(S_SPACE);
	sample(&b, 2, 1024, ON_CUDA, 2);
	sample(&b, 1, 3072, ON_CUDA, 2);
	sample(&b, 1, 12288, ON_CUDA, 3);
	sample(&b, 4, 64, ON_NUMBER, 2);
	sample(&b, 5, 80, ON_ZERO, 2);
	sample(&b, 1, -1, ON_NONE, 2);
	return profile_done(&b);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void test_read(void **state)
{
	(void)state;
	assert_true(open_bytes(pack(example(), &keep)));
	assert_int_equal(snapshot.site_count, 6);
	const struct live_site *s = snapshot.sites;
	assert_true(str_eq(s[0].kind, STR("buffer")) && str_eq(s[0].device, STR("cuda:0")));
	assert_int_equal(s[0].count, 2);
	assert_int_equal(s[0].bytes, 1024);
	assert_int_equal(s[0].frame_count, 2);
	assert_true(str_eq(s[0].frames[0].function, STR("bind")));
	assert_true(str_eq(s[0].frames[1].file, STR("/home/me/train.py")));
	assert_int_equal(s[0].frames[1].line, 91);
	assert_true(str_eq(s[3].device, STR("7")));
	assert_true(str_eq(s[4].device, STR("0")));
	assert_null(s[5].device.p);
	assert_int_equal(s[5].bytes, -1);
}

static void check_refused(struct str bytes, enum diag_id id, const char *part)
{
	assert_false(open_bytes(bytes));
	assert_int_equal(err.id, id);
	if (!strstr(err.text, part))
		fail_msg("'%s' says nothing of '%s'", err.text, part);
}

static void test_refused(void **state)
{
	(void)state;
	struct pb b = profile_new(S_KIND);
	struct str whole = example();
	check_refused(whole, DIAG_PPROF, "no gzip data");
	check_refused(pack(profile_done(&b), &keep), DIAG_PPROF, "allocations and space");
	check_refused(
		pack(str_head(whole, whole.len - 3), &keep), DIAG_PPROF, "Profile, unpacked,");
	struct str packed_whole = pack(whole, &keep);
	check_refused(str_head(packed_whole, packed_whole.len - 1), DIAG_GZIP, "breaks off");
	/* Never a crash, wherever it is cut. */
	for (ptrdiff_t n = 0; n < whole.len; n++)
		open_bytes(pack(str_head(whole, n), &keep));
}

/* ---- the table ------------------------------------------------------------------------------- */

static void test_table(void **state)
{
	(void)state;
	struct xrun run;
	struct profile host = { .host = STR("h") };
	struct live_snapshot both[2];
	struct diag why = { .id = DIAG_PPROF, .text = "other.prof: damaged" };
	assert_true(open_bytes(pack(example(), &keep)));
	both[0] = snapshot;
	both[1] = (struct live_snapshot){ .name = STR("other.prof"), .why = &why };
	host.snapshots = both;
	host.snapshot_count = 2;
	struct input in = input_memory(STR("h"), STR(""));
	host.input = &in;
	xrun_begin(&run);
	static const struct source_root root = { STR_INIT("/home/me"), { NULL, 0 } };
	run.options.source_roots = &root;
	run.options.source_root_count = 1;
	assert_true(xrun_profiles(&run, &host, 1));
	assert_int_equal(table_count(&run.tables, live), 5);
	const struct live_row *rows = table_rows(&run.tables, live);
	assert_text(rows[0].device, "0");
	assert_text(rows[1].device, "7");
	/* Two samples of one line are one row; the heaviest line of a device comes first. */
	assert_text(rows[2].device, "cuda:0");
	assert_number(rows[2].bytes, 12288);
	assert_number(rows[2].share, 0.75);
	assert_number(rows[2].source_line, 92);
	assert_number(rows[3].bytes, 4096);
	assert_number(rows[3].count, 3);
	assert_text(rows[3].source_file, "/home/me/train.py");
	assert_text(rows[3].function, "main");
	assert_text(rows[3].user_file, "train.py");
	assert_number(rows[3].user_line, 91);
	assert_text(rows[4].kind, "executable");
	assert_unknown(rows[4].bytes);
	assert_text(rows[4].device, NULL);
	assert_int_equal(run.notes.count, 1);
	assert_has(run.notes.items[0].text, "other.prof: damaged");
	xrun_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
