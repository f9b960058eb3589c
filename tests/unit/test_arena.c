/* base/arena: alignment, zeroing, by-value scratch, growth and the end of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

static void aligned_and_zeroed(void **state)
{
	(void)state;
	struct arena a = arena_new(1 << 20);
	for (ptrdiff_t align = 1; align <= 64; align *= 2) {
		arena_make(&a, char, 1);
		char *p = arena_alloc(&a, 3, align, 5);
		assert_int_equal((uintptr_t)p % (uintptr_t)align, 0);
		for (int i = 0; i < 15; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xee, 15);
	}
	arena_free(&a);
	assert_null(a.base);
}

static void scribble(struct arena scratch)
{
	char *list = NULL;
	ptrdiff_t count = 0, cap = 0;
	char *p = arena_make(&scratch, char, 1024);
	memset(p, 0xee, 1024);
	while (count < 3072) /* an array that grows where it is */
		*arena_push(&scratch, list, count, cap) = '\xee';
}

static void scratch_by_value(void **state)
{
	(void)state;
	struct arena a = arena_new(1 << 20);
	char *kept = arena_make(&a, char, 1);
	*kept = 'k';
	scribble(a);
	char *p = arena_make(&a, char, 4096);
	for (int i = 0; i < 4096; i++)
		assert_int_equal(p[i], 0);
	assert_int_equal(*kept, 'k');
	arena_free(&a);
}

static void cleared(void **state)
{
	(void)state;
	struct arena a = arena_new(8 << 20);
	char *first = arena_make(&a, char, 6 << 20);
	memset(first, 0xee, 6 << 20);
	arena_clear(&a);
	char *again = arena_make(&a, char, 6 << 20);
	assert_ptr_equal(first, again);
	for (ptrdiff_t i = 0; i < 6 << 20; i += 511)
		assert_int_equal(again[i], 0);
	arena_free(&a);
}

/* Under it nothing is had again, so that a use after free is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN true
#elif defined(__has_feature)
#define HAS_ASAN __has_feature(address_sanitizer)
#else
#define HAS_ASAN false
#endif

/* Either has terabytes mapped already. */
#if defined(__SANITIZE_THREAD__)
#define HAS_SHADOW true
#elif defined(__has_feature)
#define HAS_SHADOW (HAS_ASAN || __has_feature(thread_sanitizer))
#else
#define HAS_SHADOW HAS_ASAN
#endif

/* What was freed is had again, and bytes of its former life are not. */
static void freed(void **state)
{
	(void)state;
	struct arena a = arena_new(8 << 20);
	char *first = a.base;
	memset(arena_make(&a, char, 6 << 20), 0xee, 6 << 20);
	arena_free(&a);
	a = arena_new(16 << 20);
	assert_ptr_not_equal(a.base, first); /* of another size */
	struct arena b = arena_new(8 << 20), c = arena_new(8 << 20);
	assert_true(HAS_ASAN || b.base == first);
	assert_ptr_not_equal(c.base, first);
	char *again = arena_make(&b, char, 6 << 20);
	for (ptrdiff_t i = 0; i < 6 << 20; i += 511)
		assert_int_equal(again[i], 0);
	arena_free(&a);
	arena_free(&b);
	arena_free(&c);
}

/* Room is aligned and apart from everything else, and what comes behind it is zeroed again. */
static void room_and_zeroes(void **state)
{
	(void)state;
	struct arena a = arena_new(1 << 20);
	arena_make(&a, char, 3);
	char *room = arena_room(&a, 1000);
	assert_int_equal((uintptr_t)room % alignof(max_align_t), 0);
	memset(room, 'x', 1000);
	const char *next = arena_make(&a, char, 1000);
	assert_true(next >= room + 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(next[i], 0);
	arena_free(&a);
}

static void strings(void **state)
{
	(void)state;
	struct arena a = arena_new(1 << 20);
	struct str s = arena_str(&a, str_head(STR("abcdef"), 3));
	assert_string_equal(s.p, "abc");
	assert_int_equal(s.len, 3);
	assert_null(arena_str(&a, (struct str){ NULL, 0 }).p);
	assert_string_equal(arena_str(&a, STR("")).p, "");
	assert_string_equal(arena_z(&a, (struct str){ NULL, 0 }), "");
	s = arena_fmt(&a, "%d-%s", 12, "x");
	assert_string_equal(s.p, "12-x");
	assert_int_equal(s.len, 4);
	arena_free(&a);
}

struct item {
	int64_t id;
	double value;
};

static void growing(void **state)
{
	(void)state;
	struct arena a = arena_new(1 << 20);
	struct item *items = NULL;
	ptrdiff_t count = 0, cap = 0;
	for (int i = 0; i < 1000; i++) {
		struct item *slot = arena_push(&a, items, count, cap);
		assert_int_equal(slot->id, 0);
		slot->id = i;
	}
	assert_int_equal(count, 1000);
	assert_true(cap >= 1000 && cap < 2048);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].id, i);
	arena_free(&a);
}

static jmp_buf out_of_memory;
static ptrdiff_t full_bytes;

static void on_full(ptrdiff_t bytes)
{
	full_bytes = bytes;
	longjmp(out_of_memory, 1);
}

static bool fits(ptrdiff_t arena_bytes, ptrdiff_t size, ptrdiff_t count)
{
	struct arena a = arena_new(arena_bytes);
	volatile bool ok = false;
	full_bytes = 0;
	arena_on_full(on_full);
	if (!setjmp(out_of_memory)) {
		arena_alloc(&a, size, 8, count);
		ok = true;
	} else {
		assert_int_equal(full_bytes, arena_bytes);
	}
	arena_on_full(NULL);
	arena_free(&a);
	return ok;
}

static void running_out(void **state)
{
	(void)state;
	assert_true(fits(1 << 20, 1, (1 << 20) - 256));
	assert_true(fits(1 << 20, 0, 1000));
	assert_false(fits(1 << 20, 1, (1 << 20) + 1));
	assert_false(fits(1 << 20, PTRDIFF_MAX / 2, 3));
	assert_false(fits(1 << 20, 8, PTRDIFF_MAX));
	assert_false(fits(1 << 20, 8, -1));
}

static bool emulated(void)
{
	const char *emulator = getenv("EMULATOR"); /* empty where there is none */
	return emulator && *emulator;
}

/* More address space than there is: what can be had is taken. */
static void reservation_halves(void **state)
{
	(void)state;
	/* qemu-user keeps a table of all pages: 21 GiB for the 64 TiB that can be had. */
	if (emulated())
		skip();
	struct arena a = arena_new((ptrdiff_t)1 << 50);
	assert_non_null(a.base);
	assert_true(a.end - a.base < (ptrdiff_t)1 << 50);
	arena_make(&a, char, 100)[99] = 1;
	arena_free(&a);
}

#if !HAS_SHADOW
static const ptrdiff_t ration = (ptrdiff_t)4 << 30;

static void true_figure(ptrdiff_t bytes)
{
	_exit(bytes > ration / 4 && bytes <= ration ? 0 : 1);
}

/* The first arenas leave room for more, none is too small to be of use, and the end is told. */
static void rationed(void)
{
	struct rlimit limit = { (rlim_t)ration, (rlim_t)ration };
	arena_on_full(true_figure);
	if (setrlimit(RLIMIT_AS, &limit))
		_exit(2);
	for (int i = 0; i < 100000; i++) {
		struct arena a = arena_new(ARENA_RUN_BYTES);
		if (a.end - a.base < (i < 50 ? ration / 64 : 8 << 20))
			_exit(3);
		if (i % 2)
			arena_free(&a);
	}
	_exit(4);
}
#endif

static void address_space_is_short(void **state)
{
	(void)state;
#if HAS_SHADOW
	skip();
#else
	int status = 0;
	if (emulated())
		skip(); /* its own address space would be rationed, too */
	pid_t pid = fork();
	if (!pid)
		rationed();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
#endif
}

static void freed_twice(void **state)
{
	(void)state;
	struct arena a = arena_new(4096);
	arena_free(&a);
	arena_free(&a);
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_and_zeroed),
		cmocka_unit_test(scratch_by_value),
		cmocka_unit_test(cleared),
		cmocka_unit_test(freed),
		cmocka_unit_test(room_and_zeroes),
		cmocka_unit_test(strings),
		cmocka_unit_test(growing),
		cmocka_unit_test(running_out),
		cmocka_unit_test(reservation_halves),
		cmocka_unit_test(address_space_is_short),
		cmocka_unit_test(freed_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
