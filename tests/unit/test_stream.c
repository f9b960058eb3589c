/*
 * profile/stream: what comes out is what was put in, however it was packed and wherever a window
 * ends; data that is not whole is told.
 */
#include <string.h>

#include "profile/stream.h"
#include "session/pack.h"
#include "tests/unit/keep.h"

static struct diag err;

/* Text without a period that a window could hide behind. */
static struct str text_of(ptrdiff_t len)
{
	char *p = arena_make(&keep, char, len);
	uint32_t x = 1;
	for (ptrdiff_t i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (char)('a' + (x >> 24) % 16);
	}
	return (struct str){ p, len };
}

static struct str join(struct str x, struct str y)
{
	char *p = arena_make(&keep, char, x.len + y.len);
	memcpy(p, x.p, (size_t)x.len);
	memcpy(p + x.len, y.p, (size_t)y.len);
	return (struct str){ p, x.len + y.len };
}

/* All of it, leaving `unread` bytes of each window for the next; false when it is not whole. */
static bool read_all(struct str bytes, ptrdiff_t unread, struct str want)
{
	struct input in = input_memory(STR("test"), bytes);
	struct stream *s = stream_open(&in, &keep);
	struct str window = STR("");
	ptrdiff_t at = 0, left = 0;
	while (stream_more(s, left, &window)) {
		assert_true(at - left + window.len <= want.len);
		assert_memory_equal(window.p, want.p + at - left, (size_t)window.len);
		at += window.len - left;
		left = window.len < unread ? window.len : unread;
	}
	assert_int_equal(stream_bytes(s), at);
	bool whole = stream_end(s, &err);
	stream_close(s);
	assert_true(!whole || at == want.len);
	return whole;
}

static void test_plain_and_packed(void **state)
{
	(void)state;
	static const ptrdiff_t sizes[] = { 1, 1000, 256 << 10, (256 << 10) + 1, 3000000 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct str text = text_of(sizes[i]);
		assert_true(read_all(text, 0, text));
		assert_true(read_all(text, 100000, text));
		assert_true(read_all(pack(text, &keep), 0, text));
		assert_true(read_all(pack(text, &keep), STREAM_UNREAD, text));
	}
}

static void test_members(void **state)
{
	(void)state;
	struct str x = text_of(700000), y = text_of(5), both = join(x, y);
	struct str packed = join(pack(x, &keep), pack(y, &keep));
	assert_true(read_all(packed, 17, both));
	/* The same, large enough for the thread, and with a pad of zeros. */
	for (int i = 0; i < 3; i++) {
		packed = join(packed, packed);
		both = join(both, both);
	}
	assert_true(read_all(
		join(packed, (struct str){ arena_make(&keep, char, 512), 512 }), 17, both));
}

static void test_not_whole(void **state)
{
	(void)state;
	struct str text = text_of(900000), packed = pack(text, &keep);
	static const ptrdiff_t cuts[] = { 1, 2, 9, 10, 11, 1000, 300000, 8, 4 };
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		ptrdiff_t len = i < 7 ? cuts[i] : packed.len - cuts[i];
		struct str cut = str_head(packed, len);
		if (len == 1)
			continue; /* not known for gzip by one byte */
		assert_false(read_all(cut, 0, text));
		assert_non_null(strstr(err.text, "breaks off"));
		assert_int_equal(err.id, DIAG_GZIP);
	}
	assert_false(read_all(join(packed, STR("junk")), 0, text));
	assert_non_null(strstr(err.text, "follow its end"));
}

static void test_damage(void **state)
{
	(void)state;
	struct str text = text_of(900000), packed = pack(text, &keep);
	char *bytes = arena_make(&keep, char, packed.len);
	memcpy(bytes, packed.p, (size_t)packed.len);
	bytes[packed.len - 6] ^= 1; /* of the checksum */
	assert_false(read_all((struct str){ bytes, packed.len }, 0, text));
	assert_non_null(strstr(err.text, "checksum"));
}

/* Half a gigabyte of zeros in half a megabyte. */
static void test_bomb(void **state)
{
	(void)state;
	struct str zeros = { arena_make(&keep, char, 16 << 20), 16 << 20 },
		   packed = pack(zeros, &keep);
	struct str bomb = STR("");
	for (int i = 0; i < 64; i++)
		bomb = join(bomb, packed);
	struct input in = input_memory(STR("test"), bomb);
	struct stream *s = stream_open(&in, &keep);
	struct str window = STR("");
	while (stream_more(s, 0, &window)) {
	}
	assert_false(stream_end(s, &err));
	assert_non_null(strstr(err.text, "more than any trace"));
	assert_true(stream_bytes(s) < (int64_t)600 << 20);
	stream_close(s);
}

/* Closed before it was read. */
static void test_abandoned(void **state)
{
	(void)state;
	struct str text = text_of(9000000), packed = pack(text, &keep), window = STR("");
	struct input in = input_memory(STR("test"), packed);
	struct stream *s = stream_open(&in, &keep);
	assert_true(stream_more(s, 0, &window));
	stream_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_and_packed),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_abandoned),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
