/* base/str: comparing, cutting, globbing, and numbers at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/str.h"

static const struct str missing = { NULL, 0 };

#define assert_str(s, text) assert_true(str_eq((s), STR(text)))

static void making(void **state)
{
	static const char text[] = "abc";
	(void)state;
	assert_null(str_from(NULL).p);
	assert_int_equal(str_from(NULL).len, 0);
	assert_int_equal(str_from("").len, 0);
	assert_non_null(str_from("").p);
	assert_str(str_span(text, text + 2), "ab");
	assert_int_equal(str_span(NULL, NULL).len, 0);
}

static void comparing(void **state)
{
	(void)state;
	assert_true(str_eq(STR("ab"), STR("ab")));
	assert_false(str_eq(STR("ab"), STR("ac")));
	assert_false(str_eq(STR("ab"), STR("abc")));
	assert_true(str_eq(missing, STR("")));
	assert_true(str_eq_nocase(STR("TPU v5E"), STR("tpu V5e")));
	assert_false(str_eq_nocase(STR("a["), STR("A{")));
	assert_true(str_cmp(STR("ab"), STR("abc")) < 0);
	assert_true(str_cmp(STR("abc"), STR("ab")) > 0);
	assert_true(str_cmp(STR("b"), STR("abc")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(missing, STR("")), 0);
}

static void hashing(void **state)
{
	char bytes[40] = { 0 };
	(void)state;
	/* A constant of the file format of nothing, but of every table order: it must not drift. */
	assert_true(str_hash(STR("fusion.123")) == str_hash(STR("fusion.123")));
	for (ptrdiff_t n = 0; n < 40; n++) {
		uint64_t h = str_hash((struct str){ bytes, n });
		assert_true(h != str_hash((struct str){ bytes, n + 1 }) || n == 39);
		for (ptrdiff_t i = 0; i < n; i++) {
			bytes[i] = 1;
			assert_true(h != str_hash((struct str){ bytes, n }));
			bytes[i] = 0;
		}
	}
	assert_true(str_hash(missing) == str_hash(STR("")));
	for (ptrdiff_t n = 0; n < 40; n++) {
		struct str zeros = { bytes, n };
		uint64_t h = str_hash_quick(zeros, 7);
		assert_true(h != str_hash_quick(zeros, 8));
		assert_true(h != str_hash_quick((struct str){ bytes, n + 1 }, 7) || n == 39);
		for (ptrdiff_t i = 0; i < n; i++) {
			bytes[i] = 1;
			assert_true(h != str_hash_quick(zeros, 7));
			bytes[i] = 0;
		}
	}
	assert_true(str_hash_quick(missing, 7) == str_hash_quick(STR(""), 7));
}

static void finding(void **state)
{
	(void)state;
	struct str s = STR("aabaabb");
	assert_int_equal(str_find(s, STR("aabb")), 3);
	assert_int_equal(str_find(s, STR("bb")), 5);
	assert_int_equal(str_find(s, STR("")), 0);
	assert_int_equal(str_find(s, STR("c")), -1);
	assert_int_equal(str_find(STR("ab"), STR("abc")), -1);
	assert_int_equal(str_find(missing, STR("a")), -1);
	assert_int_equal(str_find_char(s, 'b'), 2);
	assert_int_equal(str_rfind_char(s, 'a'), 4);
	assert_int_equal(str_rfind_char(s, 'z'), -1);
	assert_int_equal(str_find_char(missing, 'z'), -1);
	assert_true(str_contains(s, STR("baa")));
	assert_true(str_starts(s, STR("aab")));
	assert_false(str_starts(STR("a"), STR("aa")));
	assert_true(str_ends(s, STR("abb")));
	assert_false(str_ends(s, STR("aba")));
	assert_true(str_starts(missing, STR("")));
}

static void cutting(void **state)
{
	struct str head, tail, s = STR("key=a=b");
	(void)state;
	assert_true(str_cut(s, '=', &head, &tail));
	assert_str(head, "key");
	assert_str(tail, "a=b");
	assert_false(str_cut(s, ';', &head, &tail));
	assert_str(head, "key=a=b");
	assert_null(tail.p);
	assert_true(str_cut(STR("x="), '=', &head, &tail));
	assert_non_null(tail.p);
	assert_int_equal(tail.len, 0);
	assert_str(str_trim(STR(" \t\r\n a b\n")), "a b");
	assert_str(str_trim(STR("  ")), "");
	assert_str(str_from_offset(STR("abc"), 2), "c");
	assert_str(str_from_offset(STR("abc"), 9), "");
	assert_str(str_from_offset(STR("abc"), -1), "abc");
	assert_null(str_from_offset(missing, 3).p);
	assert_str(str_head(STR("abc"), 2), "ab");
	assert_str(str_head(STR("abc"), 7), "abc");
	assert_str(str_head(STR("abc"), -7), "");
	s = STR("abc");
	assert_true(str_take(&s, STR("ab")));
	assert_str(s, "c");
	assert_false(str_take(&s, STR("ab")));
	assert_str(s, "c");
}

static void sets(void **state)
{
	(void)state;
	assert_true(str_only(STR("az09_-."), "a-z0-9._-"));
	assert_false(str_only(STR("aZ"), "a-z"));
	assert_true(str_only(STR(""), "a") && str_only(str_from(NULL), ""));
	assert_false(str_only(STR("b"), "a-") || str_only(STR("x"), ""));
	assert_true(str_only(STR("a-"), "a-"));
	assert_true(str_only(STR(" ~"), " -~"));
	assert_false(str_only(STR("\xc3\xa4"), " -~"));
}

static void globbing(void **state)
{
	(void)state;
	assert_true(str_glob(STR("layers_12/attn"), STR("layers_*/attn")));
	assert_true(str_glob(STR("abc"), STR("a?c")));
	assert_false(str_glob(STR("ac"), STR("a?c")));
	assert_true(str_glob(STR(""), STR("**")));
	assert_false(str_glob(STR("a"), STR("")));
	assert_true(str_glob(STR("aXbXc"), STR("*X*c")));
	assert_false(str_glob(STR("aXbXc"), STR("*X*d")));
	assert_true(str_glob(STR("abcabd"), STR("*abd")));
}

/* Exponential in the stars for a matcher that tries them all. */
static void globbing_in_time(void **state)
{
	static char text[20000];
	(void)state;
	memset(text, 'a', sizeof(text));
	struct str s = { text, (ptrdiff_t)sizeof(text) };
	assert_false(str_glob(s, STR("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b")));
}

static void integers(void **state)
{
	int64_t i = 7;
	uint64_t u = 7;
	(void)state;
	assert_true(str_to_i64(STR("-9223372036854775808"), &i));
	assert_true(i == INT64_MIN);
	assert_true(str_to_i64(STR("9223372036854775807"), &i));
	assert_true(i == INT64_MAX);
	assert_true(str_to_u64(STR("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(str_to_i64(STR("-0"), &i));
	assert_int_equal(i, 0);
	assert_true(str_to_i64(STR("007"), &i));
	assert_int_equal(i, 7);
	assert_true(str_to_u64(STR("0000000000000000000000000012345678901"), &u));
	assert_true(u == 12345678901);
	assert_true(str_to_u64(STR("1145398025210"), &u));
	assert_true(u == 1145398025210);
}

static void check_digits(struct str s, int count, uint64_t want)
{
	uint64_t value = 7;
	assert_int_equal(str_digits(s, &value), count);
	assert_int_equal(value, want);
}

/* Every count of digits, with every other character behind them, and where the text ends. */
static void digits_at_once(void **state)
{
	uint64_t want = 0;
	(void)state;
	for (int n = 0; n <= 8; n++) {
		char text[] = "9283746503827465";
		check_digits((struct str){ text, n }, n, want);
		for (int c = 0; c < 256; c++) {
			text[n] = (char)c;
			for (ptrdiff_t len = n + 1; (c < '0' || c > '9') && len <= 16; len++)
				check_digits((struct str){ text, len }, n, want);
		}
		want = want * 10 + (uint64_t)("928374650"[n] - '0');
	}
	check_digits(STR("0000000000"), 8, 0);
	check_digits(STR("99999999"), 8, 99999999);
}

static void integers_refused(void **state)
{
	static const char *const bad[] = { "", "-", "+1", "1 ", " 1", "1.0", "0x10", "--1", "1e3",
		"12345678x", "1234567x90123456", "9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "99999999999999999999999" };
	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		int64_t i = 42;
		assert_false(str_to_i64(str_from(bad[k]), &i));
		assert_int_equal(i, 42);
	}
	uint64_t u = 42;
	assert_false(str_to_u64(STR("18446744073709551616"), &u));
	assert_false(str_to_u64(STR("-1"), &u));
	assert_false(str_to_u64(missing, &u));
	assert_int_equal(u, 42);
}

static void doubles(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 }, { "-1.5", -1.5 }, { "1e3", 1000 }, { ".5", .5 }, { "5.", 5 },
		{ "1E-2", .01 }, { "2e+2", 200 }, { "0.1", .1 }, { "1e-400", 0 },
		{ "1.7976931348623157e308", 0x1.fffffffffffffp1023 } };
	double d;
	(void)state;
	for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
		assert_true(str_to_double(str_from(good[k].text), &d));
		assert_true(d == good[k].value);
	}
	/* The slice ends before the digits do. */
	assert_true(str_to_double(str_head(STR("12345"), 2), &d));
	assert_true(d == 12);
}

static void doubles_refused(void **state)
{
	static const char *const bad[] = { "", "-", ".", "e5", "1e", "1e+", "1 ", " 1", "+1",
		"1e400", "-1e400", "inf", "nan", "0x10", "1,5", "1.2.3", "--1", "1e5.0", "1d",
		"infinity" };
	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		double d = 42;
		assert_false(str_to_double(str_from(bad[k]), &d));
		assert_true(d == 42);
	}
	double d = 42;
	assert_false(str_to_double(missing, &d));
	assert_false(str_to_double(STR("1\0002"), &d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(making),
		cmocka_unit_test(comparing),
		cmocka_unit_test(hashing),
		cmocka_unit_test(finding),
		cmocka_unit_test(cutting),
		cmocka_unit_test(sets),
		cmocka_unit_test(globbing),
		cmocka_unit_test(globbing_in_time),
		cmocka_unit_test(integers),
		cmocka_unit_test(digits_at_once),
		cmocka_unit_test(integers_refused),
		cmocka_unit_test(doubles),
		cmocka_unit_test(doubles_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
