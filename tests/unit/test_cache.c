/* session/cache: names by version, whole files only, and what goes when there is too much. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "session/cache.h"
#include "tests/unit/keep.h"

static struct diag err;
static char folder[64];
static struct cache cache;

static int setup(void **state)
{
	keep_begin(state);
	snprintf(folder, sizeof(folder), "/tmp/rooflint-cache-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	setenv("ROOFLINT_CACHE", arena_fmt(&keep, "%s/deep/er", folder).p, 1);
	unsetenv("ROOFLINT_CACHE_LIMIT");
	return !cache_open(&keep, &cache, &err);
}

static struct str path_in(struct str name)
{
	return arena_fmt(&keep, "%.*s/%.*s", STR_ARG(cache.dir), STR_ARG(name));
}

static int teardown(void **state)
{
	struct dir_entry *entries;
	ptrdiff_t count;
	int failed = !dir_list(cache.dir, &keep, &entries, &count, &err);
	for (ptrdiff_t i = 0; i < count; i++)
		failed |= remove(path_in(entries[i].name).p);
	failed |= rmdir(cache.dir.p) | rmdir(arena_fmt(&keep, "%s/deep", folder).p) | rmdir(folder);
	return keep_end(state) | failed;
}

static void fill(struct str path, ptrdiff_t bytes)
{
	int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static struct str name_of(int number)
{
	return cache_name(
		STR("https://s3"), arena_fmt(&keep, "s3://b/%d", number), STR("v1"), &keep);
}

static void set_age(struct str path, time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	assert_int_equal(utimensat(AT_FDCWD, path.p, times, 0), 0);
}

/* An object of 100 bytes that was last used at that time. */
static void put(int number, time_t used)
{
	struct str path;
	assert_true(cache_begin(&cache, 100, &keep, &path, &err));
	fill(path, 100);
	assert_true(cache_commit(&cache, path, name_of(number), 100, &keep, &err));
	set_age(path_in(name_of(number)), used);
}

static bool has(int number)
{
	struct stat st;
	return !stat(path_in(name_of(number)).p, &st);
}

/* ---------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	(void)state;
	struct str a = cache_name(STR("o"), STR("s3://b/k"), STR("1"), &keep);
	assert_int_equal(a.len, 32);
	assert_false(str_eq(a, cache_name(STR("o"), STR("s3://b/k"), STR("2"), &keep)));
	assert_false(str_eq(a, cache_name(STR("p"), STR("s3://b/k"), STR("1"), &keep)));
	assert_false(str_eq(a, cache_name(STR("os"), STR("3://b/k"), STR("1"), &keep)));
	assert_true(str_eq(a, cache_name(STR("o"), STR("s3://b/k"), STR("1"), &keep)));
}

static void test_private(void **state)
{
	(void)state;
	struct stat st;
	struct str path;
	assert_int_equal(stat(cache.dir.p, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(cache_begin(&cache, 1, &keep, &path, &err));
	assert_int_equal(stat(path.p, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	cache_abandon(path);
	assert_true(stat(path.p, &st) != 0);
}

/* Until it is whole there is nothing under its name, and half a file never gets it. */
static void test_atomic(void **state)
{
	(void)state;
	struct str path;
	assert_true(cache_begin(&cache, 100, &keep, &path, &err));
	fill(path, 50);
	assert_null(cache_find(&cache, name_of(1), 100, &keep).p);
	assert_false(cache_commit(&cache, path, name_of(1), 100, &keep, &err));
	assert_false(has(1));
	assert_true(access(path.p, F_OK) != 0);
	put(1, 1000);
	assert_non_null(cache_find(&cache, name_of(1), 100, &keep).p);
	assert_null(cache_find(&cache, name_of(1), 99, &keep).p); /* damaged since */
}

/* Of the right length, and still not what was fetched. */
static void test_trust(void **state)
{
	(void)state;
	struct str path = path_in(name_of(1));
	put(1, 1000);
	int fd = open(path.p, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 50), 1);
	close(fd);
	assert_null(cache_find(&cache, name_of(1), 100, &keep).p);
	put(1, 1000); /* fetched anew */
	assert_non_null(cache_find(&cache, name_of(1), 100, &keep).p);
	assert_int_equal(chmod(path.p, 0666), 0);
	assert_null(cache_find(&cache, name_of(1), 100, &keep).p);
	put(1, 1000);
	assert_int_equal(rename(path.p, path_in(STR("elsewhere")).p), 0);
	assert_int_equal(symlink("elsewhere", path.p), 0);
	assert_null(cache_find(&cache, name_of(1), 100, &keep).p);
	put(1, 1000);
	assert_int_equal(unlink(arena_fmt(&keep, "%.*s.sum", STR_ARG(path)).p), 0);
	assert_null(cache_find(&cache, name_of(1), 100, &keep).p);
	assert_int_equal(chmod(cache.dir.p, 0777), 0);
	assert_false(cache_open(&keep, &cache, &err));
	assert_int_equal(err.id, DIAG_BUCKET);
	assert_int_equal(chmod(cache.dir.p, 0700), 0);
}

static void test_oldest_goes(void **state)
{
	(void)state;
	cache.limit = 350;
	put(1, 1000);
	put(2, 2000);
	put(3, 3000);
	assert_non_null(cache_find(&cache, name_of(1), 100, &keep).p); /* used now */
	put(4, 4000);
	assert_true(has(1) && !has(2) && has(3) && has(4));
	cache.limit = 0;
	put(5, 5000);
	assert_true(!has(1) && !has(3) && !has(4) && has(5));
}

/* Somebody may have named a directory that holds other things. */
static void test_others_stay(void **state)
{
	(void)state;
	struct str note = path_in(STR("notes.txt")), fresh = path_in(STR(".new-fresh1")),
		   stale = path_in(STR(".new-stale1"));
	fill(note, 1000);
	cache.limit = 250;
	put(1, 1000);
	put(2, 2000);
	assert_true(has(1) && has(2)); /* nor do they count */
	fill(fresh, 1000);
	fill(stale, 10);
	set_age(note, 1000);
	set_age(stale, 1000);
	cache.limit = 0;
	put(3, 3000);
	assert_true(!access(note.p, F_OK) && !access(fresh.p, F_OK));
	assert_true(access(stale.p, F_OK) != 0 && !has(1) && !has(2) && has(3));
}

static void test_limit(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t limit; /* -1: refused */
	} limits[] = { { "", CACHE_LIMIT }, { "2 GiB", (int64_t)2 << 30 }, { "0", 0 }, { "5", -1 },
		{ "many", -1 }, { "10 s", -1 }, { "-1 MB", -1 } };
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		setenv("ROOFLINT_CACHE_LIMIT", limits[i].text, 1);
		assert_int_equal(cache_open(&keep, &cache, &err), limits[i].limit >= 0);
		if (limits[i].limit >= 0)
			assert_true(cache.limit == limits[i].limit);
	}
}

static void test_no_place(void **state)
{
	(void)state;
	struct cache other;
	setenv("ROOFLINT_CACHE", "/dev/null/cache", 1);
	assert_false(cache_open(&keep, &other, &err));
	assert_non_null(strstr(err.text, "/dev/null/cache"));
	setenv("ROOFLINT_CACHE", "", 1);
	setenv("XDG_CACHE_HOME", folder, 1);
	assert_true(cache_open(&keep, &other, &err));
	assert_true(str_ends(other.dir, STR("/rooflint")));
	assert_int_equal(rmdir(other.dir.p), 0);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_false(cache_open(&keep, &other, &err));
	assert_non_null(strstr(err.text, "ROOFLINT_CACHE"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),
		TEST(test_private),
		TEST(test_atomic),
		TEST(test_trust),
		TEST(test_oldest_goes),
		TEST(test_others_stay),
		TEST(test_limit),
		TEST(test_no_place),
	};
	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
