/* base/input: mapping, kinds of bytes, files that shrink under the reader, directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"

static char folder[64];
static struct arena a;
static struct diag err;

/* cmocka catches signals itself during a test; tests of the handler put it back with this. */
static struct sigaction handler;

static void use_handler(void)
{
	assert_int_equal(sigaction(SIGBUS, &handler, NULL), 0);
}

static int setup(void **state)
{
	(void)state;
	a = arena_new(64 << 20);
	snprintf(folder, sizeof(folder), "/tmp/rooflint-input-XXXXXX");
	struct input in;
	signal(SIGBUS, SIG_DFL);
	if (!input_open(STR("/proc/self/exe"), &a, &in, &err))
		return -1;
	input_close(&in);
	return sigaction(SIGBUS, NULL, &handler) || !mkdtemp(folder) ? -1 : 0;
}

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

static struct str file_with(const char *name, struct str bytes)
{
	struct str path = path_of(name);
	int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.p, (size_t)bytes.len), bytes.len);
	close(fd);
	return path;
}

static struct str ones(ptrdiff_t n)
{
	char *p = arena_make(&a, char, n);
	memset(p, 1, (size_t)n);
	return (struct str){ p, n };
}

static void mapped(void **state)
{
	struct input in;
	(void)state;
	struct str path = file_with("plain", STR("some bytes"));
	assert_true(input_open(path, &a, &in, &err));
	assert_non_null(in.guard);
	assert_true(str_eq(in.bytes, STR("some bytes")));
	assert_true(str_eq(in.path, path));
	assert_int_equal(in.kind, INPUT_UNKNOWN);
	assert_true(input_check(&in, &err));
	input_close(&in);
	assert_int_equal(in.bytes.len, 0);
	input_close(&in);
	unlink(path.p);
}

static void empty(void **state)
{
	struct input in;
	(void)state;
	struct str path = file_with("empty", STR(""));
	assert_true(input_open(path, &a, &in, &err));
	assert_int_equal(in.kind, INPUT_EMPTY);
	assert_null(in.guard);
	assert_true(input_check(&in, &err));
	input_close(&in);
	unlink(path.p);
}

static void assert_refused(struct str path, const char *part)
{
	struct input in;
	assert_false(input_open(path, &a, &in, &err));
	assert_int_equal(err.id, DIAG_FILE_OPEN);
	assert_non_null(strstr(err.text, part));
	assert_null(in.guard);
	input_close(&in);
}

static void refused(void **state)
{
	(void)state;
	assert_refused(path_of("nothing"), "no such file");
	assert_refused(str_from(folder), "directory");
	assert_refused(STR("/dev/null"), "device");
	assert_refused(STR(""), "not a file name");
	assert_refused(STR("a\0b"), "not a file name");
	/* A pipe without writer must not hang. */
	struct str pipe = path_of("pipe");
	assert_int_equal(mkfifo(pipe.p, 0600), 0);
	assert_refused(pipe, "pipe");
	unlink(pipe.p);
}

static void kinds(void **state)
{
	static const struct {
		struct str bytes;
		enum input_kind kind;
	} cases[] = {
		{ STR_INIT(""), INPUT_EMPTY },
		{ STR_INIT("\x1f\x8b\x08"), INPUT_GZIP },
		{ STR_INIT("\x1f"), INPUT_UNKNOWN },
		{ STR_INIT("version https://git-lfs.github.com/spec/v1\noid"), INPUT_LFS },
		{ STR_INIT("version 2"), INPUT_UNKNOWN },
		{ STR_INIT("SQLite format 3\0"), INPUT_SQLITE },
		{ STR_INIT("{\"a\": 1}"), INPUT_TEXT },
		{ STR_INIT("\xef\xbb\xbf[1]"), INPUT_TEXT },
		{ STR_INIT("<html>"), INPUT_MARKUP },
		{ STR_INIT("PK\x03\x04"), INPUT_PACKED },
		{ STR_INIT("PK"), INPUT_UNKNOWN },
		{ STR_INIT("\x28\xb5\x2f\xfd"), INPUT_PACKED },
		{ STR_INIT("\xff\xfe{"), INPUT_UTF16 },
		{ STR_INIT("HloModule jit_f"), INPUT_TEXT },
		/* An XSpace whose first plane is 123 bytes long begins like "\n{". */
		{ STR_INIT("\n{\x08\x01"), INPUT_UNKNOWN },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct input in = input_memory(STR("x"), cases[i].bytes);
		assert_int_equal(in.kind, cases[i].kind);
		assert_null(in.guard);
		assert_true(input_check(&in, &err));
		input_drop(&in, 0, in.bytes.len);
	}
}

static enum input_kind kind_with(ptrdiff_t size, ptrdiff_t marks)
{
	char *p = arena_make(&a, char, size);
	memset(p, 7, (size_t)size);
	for (ptrdiff_t i = 0; i < marks; i++)
		memcpy(p + 3 * i, "\xef\xbf\xbd", 3);
	return input_memory(STR("x"), (struct str){ p, size }).kind;
}

static void mangled(void **state)
{
	(void)state;
	assert_int_equal(kind_with(100, 16), INPUT_MANGLED);
	assert_int_equal(kind_with(100, 15), INPUT_UNKNOWN);
	assert_int_equal(kind_with(64000, 1001), INPUT_MANGLED);
	assert_int_equal(kind_with(64000, 1000), INPUT_UNKNOWN);
}

/* Cut to nothing while mapped: zeros instead of a crash, and the check tells. */
/* A copy, which outlives the file; at most so much of it. */
static void texts(void **state)
{
	(void)state;
	struct str path = file_with("text", STR("key: 1\n")), text;
	assert_true(input_text(path, 7, &a, &text, &err));
	unlink(path.p);
	assert_string_equal(text.p, "key: 1\n");
	assert_int_equal(text.len, 7);
	assert_false(input_text(path, 7, &a, &text, &err));
	assert_int_equal(err.id, DIAG_FILE_OPEN);
	path = file_with("text", ones(1025));
	assert_false(input_text(path, 1024, &a, &text, &err));
	assert_int_equal(err.id, DIAG_LIMIT);
	assert_non_null(strstr(err.text, "text: larger than 1 KiB"));
	unlink(path.p);
}

static void shrinks_to_nothing(void **state)
{
	struct input in;
	(void)state;
	use_handler();
	struct str path = file_with("shrinks", ones(100000));
	assert_true(input_open(path, &a, &in, &err));
	assert_int_equal(in.bytes.p[50000], 1);
	assert_int_equal(truncate(path.p, 0), 0);
	for (ptrdiff_t i = 0; i < in.bytes.len; i += 100)
		assert_int_equal(in.bytes.p[i], 0);
	assert_false(input_check(&in, &err));
	assert_int_equal(err.id, DIAG_FILE_SHRANK);
	assert_non_null(strstr(err.text, "100000"));
	input_close(&in);
	unlink(path.p);
}

/* No page is lost here, so no signal comes. */
static void shrinks_within_a_page(void **state)
{
	struct input in;
	(void)state;
	struct str path = file_with("shrinks", ones(100));
	assert_true(input_open(path, &a, &in, &err));
	assert_int_equal(truncate(path.p, 50), 0);
	assert_false(input_check(&in, &err));
	input_close(&in);
	unlink(path.p);
}

/* Grown back before the check: the reader has still seen zeros. */
static void shrinks_and_grows(void **state)
{
	struct input in;
	(void)state;
	use_handler();
	struct str path = file_with("shrinks", ones(100000));
	assert_true(input_open(path, &a, &in, &err));
	assert_int_equal(truncate(path.p, 10), 0);
	assert_int_equal(in.bytes.p[99999], 0);
	assert_int_equal(truncate(path.p, 100000), 0);
	assert_false(input_check(&in, &err));
	input_close(&in);
	assert_true(input_open(path, &a, &in, &err));
	assert_true(input_check(&in, &err));
	input_close(&in);
	unlink(path.p);
}

/* A fault that is none of ours still kills. */
static void other_faults_stay_fatal(void **state)
{
	struct input in;
	int status;
	(void)state;
	struct str path = file_with("fault", ones(10));
	assert_true(input_open(path, &a, &in, &err));
	pid_t pid = fork();
	if (!pid) {
		use_handler();
		int fd = open(path.p, O_RDWR);
		volatile char *p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
		close(STDERR_FILENO);
		_exit(p[4096 + 1] + 100);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* Under ASan its own handler ends the process with a status. */
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) < 100);
	input_close(&in);
	unlink(path.p);
}

static void dropped(void **state)
{
	struct input in;
	(void)state;
	struct str path = file_with("dropped", ones(40000));
	assert_true(input_open(path, &a, &in, &err));
	input_drop(&in, -5, 1 << 30);
	input_drop(&in, 30000, 20);
	input_drop(&in, 5000, 30000);
	for (ptrdiff_t i = 0; i < in.bytes.len; i++)
		assert_int_equal(in.bytes.p[i], 1);
	assert_true(input_check(&in, &err));
	input_close(&in);
	unlink(path.p);
}

static void many_at_once(void **state)
{
	/* More than a process may usually have descriptors: mappings need none. */
	static struct input in[3000];
	int open_now = 0;
	(void)state;
	struct str path = file_with("many", STR("x"));
	while (open_now < 3000 && input_open(path, &a, &in[open_now], &err))
		open_now++;
	assert_int_equal(open_now, 3000);
	for (int i = 0; i < open_now; i++)
		input_close(&in[i]);
	assert_true(input_open(path, &a, &in[0], &err));
	input_close(&in[0]);
	unlink(path.p);
}

static void directories(void **state)
{
	struct dir_entry *entries;
	ptrdiff_t count;
	(void)state;
	assert_true(dir_list(str_from(folder), &a, &entries, &count, &err));
	assert_int_equal(count, 0);
	struct str b = file_with("b", STR("12345")), z = file_with("Z", STR(""));
	struct str sub = path_of("a"), dangling = path_of("c");
	assert_int_equal(mkdir(sub.p, 0700), 0);
	assert_int_equal(symlink("nowhere", dangling.p), 0);
	assert_true(dir_list(str_from(folder), &a, &entries, &count, &err));
	assert_int_equal(count, 4);
	assert_true(str_eq(entries[0].name, STR("Z")));
	assert_true(str_eq(entries[1].name, STR("a")));
	assert_true(entries[1].is_dir);
	assert_int_equal(entries[2].bytes, 5);
	assert_true(entries[2].mtime_ns > (int64_t)1500000000 * 1000000000);
	assert_false(entries[2].is_dir);
	assert_true(str_eq(entries[3].name, STR("c")));
	unlink(b.p);
	unlink(z.p);
	unlink(dangling.p);
	rmdir(sub.p);
	assert_true(dir_list(str_from(folder), &a, &entries, &count, &err));
	assert_int_equal(count, 0);
	assert_false(dir_list(path_of("no"), &a, &entries, &count, &err));
	assert_int_equal(err.id, DIAG_FILE_OPEN);
}

/* A file is known again by its own bytes, whatever a reader made of them. */
static void ends_stay(void **state)
{
	(void)state;
	char *bytes = arena_make(&a, char, 3 * INPUT_END_BYTES);
	bytes[0] = 'a';
	bytes[3 * INPUT_END_BYTES - 1] = 'z';
	struct input in = input_memory(STR("x"), (struct str){ bytes, 3 * INPUT_END_BYTES });
	input_replace(&in, STR("other"), &a);
	memset(bytes, 0, 3 * INPUT_END_BYTES);
	struct input_ends e = input_ends(&in);
	assert_true(str_eq(in.bytes, STR("other")));
	assert_int_equal(e.bytes, 3 * INPUT_END_BYTES);
	assert_int_equal(e.head.len, INPUT_END_BYTES);
	assert_int_equal(e.head.p[0], 'a');
	assert_int_equal(e.tail.p[e.tail.len - 1], 'z');
	in = input_memory(STR("x"), STR("small"));
	assert_true(str_eq(input_ends(&in).head, STR("small")));
	assert_int_equal(input_ends(&in).tail.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped),
		cmocka_unit_test(empty),
		cmocka_unit_test(refused),
		cmocka_unit_test(kinds),
		cmocka_unit_test(mangled),
		cmocka_unit_test(texts),
		cmocka_unit_test(shrinks_to_nothing),
		cmocka_unit_test(shrinks_within_a_page),
		cmocka_unit_test(shrinks_and_grows),
		cmocka_unit_test(other_faults_stay_fatal),
		cmocka_unit_test(dropped),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(directories),
		cmocka_unit_test(ends_stay),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
