/* session/pack: texts come back, and what is damaged or claims too much does not. */
#include <string.h>

#include "session/pack.h"
#include "tests/unit/keep.h"

static struct str noise(ptrdiff_t length)
{
	char *p = arena_make(&keep, char, length + 1);
	uint32_t x = 1;
	for (ptrdiff_t i = 0; i < length; i++)
		p[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
	return (struct str){ p, length };
}

static void assert_returns(struct str text)
{
	struct str packed = pack(text, &keep);
	assert_non_null(packed.p);
	assert_true(str_eq(unpack(packed, &keep), text));
}

static void test_round_trip(void **state)
{
	(void)state;
	assert_returns(STR(""));
	assert_returns(STR("x"));
	assert_returns(noise(1 << 20));
	char *zeros = arena_make(&keep, char, 1 << 20);
	assert_returns((struct str){ zeros, 1 << 20 });
	assert_true(pack((struct str){ zeros, 1 << 20 }, &keep).len < 1 << 14);
}

static void test_damage(void **state)
{
	(void)state;
	struct str packed = pack(noise(5000), &keep);
	for (ptrdiff_t at = 0; at < packed.len; at += 7)
		assert_null(unpack(str_head(packed, at), &keep).p);
	char *bytes = arena_make(&keep, char, packed.len);
	memcpy(bytes, packed.p, (size_t)packed.len);
	bytes[packed.len / 2] ^= 1;
	assert_null(unpack((struct str){ bytes, packed.len }, &keep).p);
}

/* A length that is a lie: too long for the text, too short for it, and beyond all measure. */
static void test_lies(void **state)
{
	(void)state;
	struct str packed = pack(noise(5000), &keep);
	static const uint32_t lies[] = { 5001, 4999, 0, UINT32_MAX };
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		char *bytes = arena_make(&keep, char, packed.len);
		memcpy(bytes, packed.p, (size_t)packed.len);
		memcpy(bytes + packed.len - 4, &lies[i], 4);
		assert_null(unpack((struct str){ bytes, packed.len }, &keep).p);
	}
	char *zeros = arena_make(&keep, char, PACK_MAX + 1);
	packed = pack((struct str){ zeros, PACK_MAX + 1 }, &keep);
	assert_true(packed.len > 0 && !unpack(packed, &keep).p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
