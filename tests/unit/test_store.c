/* store/: facts that are there already change nothing, writers do not hurt each other, and a file
 * that is no store is said to be none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/when.h"
#include "store/runs.h"
#include "store/sqlite.h"
#include "tests/unit/facts_fixture.h"

static struct arena keep;
static char dir[] = "/tmp/rooflint-store-XXXXXX";

static int begin(void **state)
{
	(void)state;
	keep = arena_new(ARENA_SCRATCH_BYTES);
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	struct dir_entry *entries;
	ptrdiff_t count;
	struct diag err;
	(void)state;
	if (dir_list(str_from(dir), &keep, &entries, &count, &err))
		for (ptrdiff_t i = 0; i < count; i++)
			unlink(arena_fmt(&keep, "%s/%.*s", dir, STR_ARG(entries[i].name)).p);
	arena_free(&keep);
	return rmdir(dir);
}

static struct str path_of(const char *name)
{
	return arena_fmt(&keep, "%s/%s", dir, name);
}

static struct store *open_store(const char *name)
{
	struct diag err;
	struct store *s = store_open(path_of(name), STORE_WRITE, NULL, &keep, &err);
	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static struct run_facts day(int number, double step_time_s)
{
	struct str captured = number ? arena_fmt(&keep, "2026-01-%02dT00:00:00.000Z", number)
				     : (struct str){ NULL, 0 };
	return fixture_run(&keep, STR("w"), captured, step_time_s);
}

static void kept(struct store *s, struct run_facts f, struct str bytes)
{
	struct diag err;
	if (!store_append(s, &f, bytes, &err))
		fail_msg("%s", err.text);
}

static void append(struct store *s, struct run_facts f)
{
	kept(s, f, (struct str){ NULL, 0 });
}

static bool write_line(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)err;
	run_facts_write(f, arg);
	return true;
}

static bool write_day(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)err;
	out_fmt(arg, "%.*s ", STR_ARG(str_from_offset(str_head(f->captured, 10), 8)));
	return true;
}

static int64_t ns_of(const char *moment)
{
	int64_t ns;
	assert_true(when_parse(str_from(moment), &ns));
	return ns;
}

static struct str scan_window(struct store *s, int64_t from_ns, int64_t to_ns, run_facts_fn *take)
{
	struct diag err;
	struct out *o = out_memory(&keep);
	if (!store_scan(s, from_ns, to_ns, take, o, &err))
		fail_msg("%s", err.text);
	return out_text(o);
}

static struct str scan(struct store *s, run_facts_fn *take)
{
	return scan_window(s, 0, INT64_MAX, take);
}

static void comes_back_whole(void **state)
{
	(void)state;
	struct store *s = open_store("whole");
	struct run_facts f = day(1, 1.0 / 3);
	struct out *o = out_memory(&keep);
	run_facts_write(&f, o);
	append(s, f);
	assert_true(str_eq(scan(s, write_line), out_text(o)));
	store_close(s);
	s = open_store("whole");
	append(s, f);
	assert_true(str_eq(scan(s, write_line), out_text(o)));
	store_close(s);
}

static void windows(void **state)
{
	(void)state;
	struct store *s = open_store("windows");
	for (int i = 5; i >= 0; i--)
		append(s, day(i, 1));
	int64_t second = ns_of("2026-01-02"), fourth = ns_of("2026-01-04");
	assert_true(str_eq(scan(s, write_day), STR("05 04 03 02 01  ")));
	assert_true(str_eq(scan_window(s, second, fourth, write_day), STR("04 03 02  ")));
	assert_true(str_eq(scan_window(s, second, INT64_MAX, write_day), STR("05 04 03 02  ")));
	store_close(s);
}

static bool stop_at_second(void *arg, const struct run_facts *f, struct diag *err)
{
	int *seen = arg;
	(void)f;
	return ++*seen < 2 || diag_set(err, DIAG_LIMIT, "enough");
}

static void scan_ends_early(void **state)
{
	(void)state;
	struct diag err;
	struct store *s = open_store("windows");
	int seen = 0;
	assert_false(store_scan(s, 0, INT64_MAX, stop_at_second, &seen, &err));
	assert_string_equal(err.text, "enough");
	assert_int_equal(seen, 2);
	assert_true(str_eq(scan(s, write_day), STR("05 04 03 02 01  ")));
	store_close(s);
}

static bool note_look(void *arg, const struct str *cells, struct diag *err)
{
	(void)err;
	out_fmt(arg, "%.*s=%.*s ", STR_ARG(cells[0]), STR_ARG(cells[1]));
	return true;
}

static struct str looked(struct store *s, struct str judge, struct str a, struct str b)
{
	const struct str profiles[] = { a, b };
	struct out *o = out_memory(&keep);
	struct diag err;
	if (!store_look(s, judge, profiles, 2, note_look, o, &err))
		fail_msg("%s", err.text);
	return out_text(o);
}

/* Of the profiles that are asked for, by that judge, and no errors. */
static void looks(void **state)
{
	(void)state;
	struct store *s = open_store("looks");
	struct run_facts f = day(1, 1), other = day(2, 1), broken = day(3, 1);
	f.profile = STR("it's/a");
	other.profile = STR("b");
	broken.profile = STR("c");
	broken.error_id = STR("RL101");
	run_facts_seal(&f, &keep);
	run_facts_seal(&other, &keep);
	run_facts_seal(&broken, &keep);
	append(s, f);
	append(s, other);
	append(s, broken);
	struct str expected = arena_fmt(&keep, "it's/a=%.*s ", STR_ARG(f.run));
	assert_true(str_eq(looked(s, f.judge, STR("it's/a"), STR("c")), expected));
	assert_true(str_eq(looked(s, STR("another"), STR("it's/a"), STR("b")), STR("")));
	assert_true(str_eq(looked(s, f.judge, STR("it's"), STR("it's/a ")), STR("")));
	store_close(s);
}

/* Each writer appends the same runs from another end, and opens the file when the others do. */
static void concurrent_writers(void **state)
{
	enum { WRITERS = 4, RUNS = 28 };
	(void)state;
	for (int w = 0; w < WRITERS; w++) {
		if (fork())
			continue;
		struct diag err;
		struct store *s = store_open(path_of("many"), STORE_WRITE, NULL, &keep, &err);
		bool ok = s != NULL;
		for (int i = 0; ok && i < RUNS; i++) {
			struct run_facts f = day(1 + (i + w * 7) % RUNS, 1);
			ok = store_append(s, &f, (struct str){ NULL, 0 }, &err);
		}
		store_close(s);
		_exit(ok ? 0 : 1);
	}
	for (int w = 0, status; w < WRITERS; w++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	struct store *s = open_store("many");
	struct out *o = out_memory(&keep);
	for (int i = RUNS; i > 0; i--) {
		struct run_facts f = day(i, 1);
		run_facts_write(&f, o);
	}
	assert_true(str_eq(scan(s, write_line), out_text(o)));
	store_close(s);
}

/* ---- files that are no stores ---------------------------------------------------------------- */

static void refuses(const char *name, enum store_use use, const char *says)
{
	struct diag err;
	assert_null(store_open(path_of(name), use, NULL, &keep, &err));
	assert_int_equal(err.id, DIAG_STORE);
	if (!str_contains(str_from(err.text), str_from(says)))
		fail_msg("%s", err.text);
}

static void write_file(const char *name, struct str text)
{
	struct diag err;
	struct out *o = out_file(&keep, path_of(name), &err);
	out_str(o, text);
	assert_true(out_close(o, &err));
}

static void run_sql(const char *name, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(path_of(name).p, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void no_stores(void **state)
{
	(void)state;
	write_file("text", STR("hash,run\n1,2\n, and more than a page would need to tell\n"));
	refuses("text", STORE_WRITE, "is no SQLite database");
	refuses("no/such/place", STORE_WRITE, "cannot be opened");
	refuses("absent", STORE_READ, "cannot be opened");
	run_sql("foreign", "CREATE TABLE runs (hash)");
	refuses("foreign", STORE_WRITE, "is a database, but no store");
	store_close(open_store("newer"));
	run_sql("newer", "PRAGMA user_version = 7");
	refuses("newer", STORE_WRITE, "another rooflint (schema 7, and this one knows 3)");
}

static void damaged(void **state)
{
	(void)state;
	struct input in;
	struct diag err;
	struct store *s = open_store("damaged");
	for (int i = 1; i < 20; i++)
		append(s, day(i, 1));
	store_close(s);
	assert_true(input_open(path_of("damaged"), &keep, &in, &err));
	char *bytes = arena_make(&keep, char, in.bytes.len);
	for (ptrdiff_t i = 0; i < in.bytes.len; i++)
		bytes[i] = i < 4096 ? in.bytes.p[i] : 'x';
	ptrdiff_t len = in.bytes.len;
	input_close(&in);
	write_file("damaged", (struct str){ bytes, len });
	s = store_open(path_of("damaged"), STORE_WRITE, NULL, &keep, &err);
	struct run_facts f = day(20, 1);
	assert_true(!s || !store_append(s, &f, (struct str){ NULL, 0 }, &err));
	assert_true(str_contains(str_from(err.text), STR("is damaged")));
	store_close(s);
}

/* The superuser writes anywhere, so it is somebody else who may not. */
static void lock_dir(void)
{
	assert_int_equal(chmod(dir, 0555), 0);
	if (!getuid())
		assert_int_equal(seteuid(65534), 0);
}

static void unlock_dir(void)
{
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(dir, 0700), 0);
}

/* Of a store whose writer still has it open. */
static void copy_store(const char *from, const char *to, const char *ending)
{
	struct input in;
	struct diag err;
	assert_true(input_open(
		arena_fmt(&keep, "%.*s%s", STR_ARG(path_of(from)), ending), &keep, &in, &err));
	write_file(arena_fmt(&keep, "%s%s", to, ending).p, in.bytes);
	input_close(&in);
}

/* In a directory that takes no files beside it, and with what a name in a URI could mean. */
static void read_only(void **state)
{
	(void)state;
	struct diag err;
	struct store *s = open_store("a?b#c%41 d");
	append(s, day(1, 1));
	append(s, day(2, 1));
	store_close(s);
	lock_dir();
	assert_null(store_open(path_of("a?b#c%41 d"), STORE_WRITE, NULL, &keep, &err));
	s = store_open(path_of("a?b#c%41 d"), STORE_READ, NULL, &keep, &err);
	bool is_open = s != NULL;
	struct str days = is_open ? scan(s, write_day) : STR("");
	bool takes =
		is_open && store_append(s, &(struct run_facts){ 0 }, (struct str){ NULL, 0 }, &err);
	unlock_dir();
	assert_true(is_open);
	assert_true(str_eq(days, STR("02 01 ")));
	assert_false(takes);
	struct store *writer = open_store("a?b#c%41 d");
	append(writer, day(3, 1)); /* into its log: the file is as it was */
	assert_false(store_scan(s, 0, INT64_MAX, write_day, out_memory(&keep), &err));
	assert_true(str_contains(str_from(err.text), STR("was written while it was read")));
	store_close(writer);
	store_close(s);
}

/* What a writer that died has left beside it is not passed over. */
static void read_only_unfinished(void **state)
{
	(void)state;
	struct store *s = open_store("busy");
	append(s, day(1, 1));
	copy_store("busy", "left", "");
	copy_store("busy", "left", "-wal");
	store_close(s);
	lock_dir();
	struct diag err = { 0 };
	s = store_open(path_of("left"), STORE_READ, NULL, &keep, &err);
	unlock_dir();
	assert_null(s);
	assert_true(str_contains(str_from(err.text), STR("open it once where it may be written")));
}

static void read_only_empty(void **state)
{
	(void)state;
	write_file("nothing", STR(""));
	refuses("nothing", STORE_READ, "is empty; append to it once");
}

/* Somebody's own trigger in a store is not run. */
static void foreign_trigger(void **state)
{
	(void)state;
	store_close(open_store("trigger"));
	run_sql("trigger", "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
	struct store *s = open_store("trigger");
	append(s, day(1, 1));
	assert_true(str_eq(scan(s, write_day), STR("01 ")));
	store_close(s);
}

/* More than a page of runs, many of one moment and some without any: each once, newest first. */
static void pages(void **state)
{
	enum { RUNS = 330 };
	(void)state;
	struct store *s = open_store("pages");
	struct out *expected = out_memory(&keep);
	for (int i = 0; i < RUNS; i++) {
		struct run_facts f = day(i % 3 ? 1 + i % 2 : 0, 1);
		f.run = arena_fmt(&keep, "%d", i);
		run_facts_seal(&f, &keep);
		append(s, f);
	}
	for (int i = 0; i < RUNS; i++)
		out_z(expected, i < RUNS / 3 ? "02 " : i < 2 * RUNS / 3 ? "01 " : " ");
	assert_true(str_eq(scan(s, write_day), out_text(expected)));
	store_close(s);
}

/* A number that needs all of its digits comes back with each of them. */
static void every_bit(void **state)
{
	(void)state;
	struct store *s = open_store("bits");
	struct out *o = out_memory(&keep);
	struct run_facts f = day(1, 0.1 + 0.2);
	f.mfu = nextafter(1, 2);
	f.op_util = 5e-324;
	run_rules(&f)[0].value = -1e300 / 3;
	run_facts_seal(&f, &keep);
	append(s, f);
	run_facts_write(&f, o);
	assert_true(str_eq(scan(s, write_line), out_text(o)));
	store_close(s);
}

/* Nor is a view taken for a table: it could be a query that never ends. */
static void foreign_view(void **state)
{
	(void)state;
	struct diag err;
	store_close(open_store("view"));
	run_sql("view", "ALTER TABLE runs RENAME TO old; CREATE VIEW runs AS SELECT * FROM old");
	struct store *s = store_open(path_of("view"), STORE_WRITE, NULL, &keep, &err);
	assert_null(s);
	assert_int_equal(err.id, DIAG_STORE);
}

/* What is kept of the runs of a workload until then, "02=b 01=a ". */
static struct str recalled(struct store *s, int64_t until_ns)
{
	struct out *o = out_memory(&keep);
	struct run_pages p;
	struct diag err;
	bool ok;
	run_pages_open(&p, s, STR("w"), 0, until_ns);
	while ((ok = run_pages_next(&p, &err)) && p.count)
		for (ptrdiff_t i = 0; i < p.count; i++) {
			if (!p.runs[i]->is_kept)
				continue;
			assert_true(run_pages_kept(&p, &p.runs[i], 1, &err));
			out_str(o, str_from_offset(str_head(p.runs[i]->facts.captured, 10), 8));
			out_z(o, "=");
			out_str(o, p.runs[i]->kept);
			out_z(o, " ");
		}
	run_pages_close(&p);
	assert_true(ok);
	return out_text(o);
}

static bool write_median(void *arg, const struct str *cells, struct diag *err)
{
	(void)err;
	out_fmt(arg, "%.*s/%.*s/%.*s %.*s, ", STR_ARG(cells[0]), STR_ARG(cells[1]),
		STR_ARG(cells[2]), STR_ARG(cells[3]));
	return true;
}

static void append_step(struct store *s, const char *workload, const char *captured, double step_s)
{
	struct run_facts f = fixture_run(&keep, str_from(workload), str_from(captured), 1);
	f.step_time_s = step_s;
	run_facts_seal(&f, &keep);
	append(s, f);
}

/* Workload by workload, oldest first, once each; before that moment, and not of last year. */
static void what_runs_took(void **state)
{
	struct store *s = open_store("medians");
	struct out *o = out_memory(&keep);
	struct diag err;
	(void)state;
	append_step(s, "b", "2026-06-03T00:00:00.000Z", 3);
	append_step(s, "a", "2026-06-02T00:00:00.000Z", 2);
	append_step(s, "b", "2026-06-01T00:00:00.000Z", 1);
	append_step(s, "b", "2026-06-04T00:00:00.000Z", 4);
	append_step(s, "b", "2025-06-03T00:00:00.000Z", 9);
	append_step(s, "b", "2026-05-30T00:00:00.000Z", NAN);
	assert_true(store_medians(s, ns_of("2026-06-04"), write_median, o, &err));
	assert_string_equal(arena_z(&keep, out_text(o)), "a/tpu_v5e/8 2, b/tpu_v5e/8 1, "
							 "b/tpu_v5e/8 3, ");
	for (int i = 0; i < 2 * STORE_MEDIANS_RUNS; i++)
		append_step(s, "c",
			arena_z(&keep, arena_fmt(&keep, "2026-06-01T00:00:%02d.000Z", i)), i);
	o = out_memory(&keep);
	assert_true(store_medians(s, ns_of("2026-06-02"), write_median, o, &err));
	assert_true(str_starts(str_from_offset(out_text(o), 15), STR("c/tpu_v5e/8 20, ")));
	store_close(s);
}

/* Newest first, once each, of one workload, and not those of which nothing was kept. */
static void what_is_kept(void **state)
{
	struct store *s = open_store("kept");
	(void)state;
	kept(s, day(2, 1), STR("b"));
	kept(s, day(1, 1), STR("a"));
	kept(s, day(1, 1), STR("again"));
	append(s, day(3, 1));
	kept(s, day(4, 1), (struct str){ "\0z", 2 });
	kept(s, fixture_run(&keep, STR("other"), STR("2026-01-05T00:00:00.000Z"), 1), STR("o"));
	assert_true(str_eq(recalled(s, INT64_MAX), (struct str){ "04=\0z 02=b 01=a ", 16 }));
	assert_true(str_eq(recalled(s, ns_of("2026-01-02")), STR("02=b 01=a ")));
	char *zeros = arena_make(&keep, char, STORE_KEPT_MAX);
	kept(s, day(6, 1), (struct str){ zeros, STORE_KEPT_MAX });
	assert_int_equal(recalled(s, INT64_MAX).len, 20 + STORE_KEPT_MAX);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_whole),
		cmocka_unit_test(windows),
		cmocka_unit_test(scan_ends_early),
		cmocka_unit_test(pages),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(looks),
		cmocka_unit_test(concurrent_writers),
		cmocka_unit_test(no_stores),
		cmocka_unit_test(damaged),
		cmocka_unit_test(read_only),
		cmocka_unit_test(read_only_unfinished),
		cmocka_unit_test(read_only_empty),
		cmocka_unit_test(what_runs_took),
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(foreign_trigger),
		cmocka_unit_test(foreign_view),
	};
	return cmocka_run_group_tests_name("store", tests, begin, end);
}
