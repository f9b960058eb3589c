/* base/out: buffers, files put in place whole, and numbers that read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/out.h"

static char folder[64];
static struct arena a;

static int setup(void **state)
{
	(void)state;
	a = arena_new(64 << 20);
	snprintf(folder, sizeof(folder), "/tmp/rooflint-out-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

/* Also proves that no test left a file behind: the folder must be empty. */
static int teardown(void **state)
{
	(void)state;
	arena_free(&a);
	return rmdir(folder);
}

static struct str path_of(const char *name)
{
	return arena_fmt(&a, "%s/%s", folder, name);
}

static struct str content(struct str path)
{
	struct input in;
	struct diag err;
	if (!input_open(path, &a, &in, &err))
		return (struct str){ NULL, 0 };
	struct str copy = arena_str(&a, in.bytes);
	input_close(&in);
	return copy;
}

static void to_memory(void **state)
{
	(void)state;
	struct out *o = out_memory(&a);
	assert_int_equal(out_text(o).len, 0);
	out_z(o, "a");
	out_char(o, 'b');
	out_repeat(o, '-', 3);
	out_str(o, STR("c"));
	out_str(o, (struct str){ NULL, 0 });
	out_fmt(o, "%d", 42);
	out_i64(o, INT64_MIN);
	out_i64(o, 0);
	assert_true(str_eq(out_text(o), STR("ab---c42-92233720368547758080")));
	for (int i = 0; i < 10000; i++)
		out_fmt(o, "%0300d", i);
	assert_int_equal(out_text(o).len, 29 + 3000000);
	assert_true(str_ends(out_text(o), STR("009999")));
	assert_true(out_close(o, NULL));
}

static void to_descriptor(void **state)
{
	static char big[200000];
	int ends[2];
	char got[16] = { 0 };
	(void)state;
	assert_int_equal(pipe(ends), 0);
	struct out *o = out_fd(&a, ends[1]);
	out_z(o, "hello");
	assert_true(out_close(o, NULL));
	assert_int_equal(read(ends[0], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	/* Not closed by out_close. */
	assert_int_equal(write(ends[1], "x", 1), 1);
	close(ends[0]);
	close(ends[1]);
	struct diag err;
	o = out_fd(&a, ends[1]);
	out_str(o, (struct str){ big, sizeof(big) });
	assert_false(out_close(o, &err));
	assert_int_equal(err.id, DIAG_OUTPUT);
	assert_non_null(strstr(err.text, strerror(EBADF)));
}

static void to_file(void **state)
{
	static char big[300000];
	struct diag err;
	(void)state;
	struct str path = path_of("report.xml");
	struct out *o = out_file(&a, path, &err);
	assert_non_null(o);
	out_z(o, "first");
	assert_null(content(path).p);
	assert_true(out_close(o, &err));
	assert_true(str_eq(content(path), STR("first")));
	memset(big, 'x', sizeof(big));
	o = out_file(&a, path, &err);
	out_z(o, "second");
	out_str(o, (struct str){ big, sizeof(big) });
	assert_true(str_eq(content(path), STR("first")));
	assert_true(out_close(o, &err));
	assert_int_equal(content(path).len, 6 + (ptrdiff_t)sizeof(big));
	assert_int_equal(unlink(path.p), 0);
}

/* Of a writer that is killed nothing stays: teardown finds the folder empty. */
static void killed(void **state)
{
	struct diag err;
	(void)state;
#ifdef __linux__
	struct str path = path_of("report.xml");
	int how;
	pid_t child = fork();
	if (!child) {
		struct out *o = out_file(&a, path, &err);
		out_repeat(o, 'x', 1 << 20);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFSIGNALED(how));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
#else
	(void)err;
#endif
}

static void mode_and_links_are_kept(void **state)
{
	struct diag err;
	struct stat st;
	(void)state;
	struct str path = path_of("real"), link = path_of("link");
	assert_true(out_close(out_file(&a, path, &err), &err));
	assert_int_equal(chmod(path.p, 0640), 0);
	assert_int_equal(symlink("real", link.p), 0);
	struct out *o = out_file(&a, link, &err);
	out_z(o, "through");
	assert_true(out_close(o, &err));
	assert_int_equal(lstat(link.p, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path.p, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_true(str_eq(content(path), STR("through")));
	unlink(link.p);
	unlink(path.p);
}

static void devices_stay(void **state)
{
	struct diag err;
	struct stat st;
	(void)state;
	struct out *o = out_file(&a, STR("/dev/null"), &err);
	assert_non_null(o);
	out_z(o, "gone");
	assert_true(out_close(o, &err));
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void files_that_cannot_be(void **state)
{
	struct diag err;
	(void)state;
	assert_null(out_file(&a, path_of("no/such/folder"), &err));
	assert_int_equal(err.id, DIAG_OUTPUT);
	assert_non_null(strstr(err.text, "no/such/folder"));
	assert_null(out_file(&a, str_from(folder), &err));
	assert_non_null(strstr(err.text, strerror(EISDIR)));
}

/* /dev/full takes nothing: the error comes at the end, once. */
static void full_disk(void **state)
{
	struct diag err = { 0 };
	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	struct out *o = out_file(&a, STR("/dev/full"), &err);
	assert_non_null(o);
	for (int i = 0; i < 100000; i++)
		out_z(o, "0123456789");
	assert_false(out_close(o, &err));
	assert_string_equal(
		err.text, arena_fmt(&a, "cannot write '/dev/full': %s", strerror(ENOSPC)).p);
}

static void doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0, "0" }, { -0.0, "-0" }, { 1, "1" }, { -12, "-12" }, { 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" }, { 2.0 / 3, "0.6666666666666666" },
		{ 1e14, "100000000000000" }, { 999999999999999, "999999999999999" },
		{ 1e15, "1e15" }, { 1e100, "1e100" }, { 1.5e-7, "1.5e-7" }, { 0.0001, "0.0001" },
		{ 1e-5, "1e-5" }, { 5e-324, "5e-324" }, { DBL_MAX, "1.7976931348623157e308" },
		{ DBL_MIN, "2.2250738585072014e-308" }, { 0.1 + 0.2, "0.30000000000000004" },
		{ 2251799813685249.5, "2251799813685249.5" }, { 67108864, "67108864" } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(double_text(&a, cases[i].value).p, cases[i].text);
}

static void doubles_read_back(void **state)
{
	uint64_t bits = 12345;
	(void)state;
	struct arena all = a;
	for (int i = 0; i < 20000; i++) {
		double value, back;
		struct arena scratch = all;
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		struct str text = double_text(&scratch, value);
		assert_true(text.len <= 24);
		assert_true(str_to_double(text, &back));
		assert_memory_equal(&back, &value, sizeof(value));
	}
}

/* What a log's reader gets of `text`, written whole and a byte at a time. */
static void assert_logged(const char *text, const char *want)
{
	for (int step = 1; step < 10000; step += 5000) {
		FILE *file = tmpfile();
		struct str rest = str_from(text);
		struct out *o = out_log(&a, fileno(file));
		for (; rest.len; rest = str_from_offset(rest, step)) {
			out_str(o, str_head(rest, step));
			out_flush(o);
		}
		char *seen = arena_make(&a, char, (ptrdiff_t)strlen(text) + 1);
		rewind(file);
		seen[fread(seen, 1, strlen(text), file)] = 0;
		assert_string_equal(seen, want);
		fclose(file);
	}
}

/* No line is a command to a CI's runner, and columns stay where they are. */
static void inert_for_runners(void **state)
{
	(void)state;
	assert_logged("a\n::error::x\n \xc2\xa0 ::y\nstd::z ##[group] # [k]\n",
		"a\n:?error::x\n \xc2\xa0 :?y\nstd::z ##?group] # [k]\n");
	assert_logged("x ##vso[task] ###[a ##teamcity[b] ## x[ #a[",
		"x ##vso?task] ###?a ##teamcity?b] ## x[ #a[");
	assert_logged("\r::a\n: : b\n:::c", "\r:?a\n: : b\n:?:c");
	assert_logged("no newline ::", "no newline ::");
	char *big = arena_make(&a, char, 200001);
	memset(big, 'x', 200000);
	memcpy(big + (64 << 10) - 2, "##[", 3);
	char *want = arena_make(&a, char, 200001);
	memcpy(want, big, 200001);
	want[64 << 10] = '?';
	struct str all = { big, 200000 };
	FILE *file = tmpfile();
	struct out *o = out_log(&a, fileno(file));
	out_str(o, all);
	out_flush(o);
	rewind(file);
	assert_int_equal(fread(big, 1, 200000, file), 200000);
	assert_string_equal(big, want);
	fclose(file);
}

static void assert_words(const char *text, const char *expected)
{
	struct out *o = out_memory(&a);
	out_words(o, str_from(text), 0, 0, 20);
	assert_string_equal(arena_z(&a, out_text(o)), expected);
}

static void commands_are_not_broken(void **state)
{
	(void)state;
	assert_words("see what `rooflint hardware` lists", "see what\n`rooflint hardware`\nlists");
	assert_words("run `a b`, then c", "run `a b`, then c");
	assert_words("a `command that is longer than a line`",
		"a `command that is\nlonger than a line`");
	assert_words("a `b c d e f g h i j k", "a `b c d e f g h i j\nk");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_memory),
		cmocka_unit_test(to_descriptor),
		cmocka_unit_test(to_file),
		cmocka_unit_test(killed),
		cmocka_unit_test(mode_and_links_are_kept),
		cmocka_unit_test(devices_stay),
		cmocka_unit_test(files_that_cannot_be),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(inert_for_runners),
		cmocka_unit_test(doubles),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(commands_are_not_broken),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
