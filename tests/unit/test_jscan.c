/* profile/jscan: values in windows that end anywhere. */
#include "profile/jscan.h"
#include "tests/unit/keep.h"

static void check_text(struct str inside, struct str want)
{
	struct str got = jscan_text(inside, &keep);
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.p, want.p, (size_t)want.len);
}

static void test_text(void **state)
{
	(void)state;
	check_text(STR("plain"), STR("plain"));
	check_text(STR(""), STR(""));
	check_text(STR("a\\\"b\\\\c\\/d"), STR("a\"b\\c/d"));
	check_text(STR("\\b\\f\\n\\r\\t"), STR("\b\f\n\r\t"));
	check_text(STR("\\u0041\\u00e9\\u20ac"), STR("A\xc3\xa9\xe2\x82\xac"));
	check_text(STR("\\ud83d\\ude00!"), STR("\xf0\x9f\x98\x80!"));
	check_text(STR("\\ud83d!"), STR("\xef\xbf\xbd!")); /* half a pair */
	check_text(STR("\\u12"), STR("\xef\xbf\xbd"
				     "12"));
	check_text(STR("\\q"), STR("q"));
	check_text(STR("end\\"), STR("end\\"));
}

/* Every value scanned whole; and cut anywhere it is asked for again, never taken for a shorter. */
static void test_values(void **state)
{
	(void)state;
	static const struct str values[] = { STR_INIT("\"a\\\\\""), STR_INIT("\"a\\\"]\""),
		STR_INIT("-1.5e+07"), STR_INIT("true"), STR_INIT("{\"a\":[1,{}],\"b\":\"}\"}"),
		STR_INIT("[[],[\"\\\\\"]]"), STR_INIT("{}") };
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct str text = arena_fmt(&keep, " %.*s ,", STR_ARG(values[i])), got;
		struct jscan s = jscan_open(text);
		assert_true(jscan_value(&s, &got));
		/* A string comes without its quotes. */
		assert_int_equal(got.len, values[i].len - (values[i].p[0] == '"' ? 2 : 0));
		assert_true(jscan_take(&s, ','));
		for (ptrdiff_t cut = 0; cut <= values[i].len; cut++) {
			bool closed = cut == values[i].len && text.p[cut] != 'e' &&
				      (values[i].p[0] == '"' || values[i].p[0] == '{' ||
					      values[i].p[0] == '[');
			s = jscan_open(str_head(text, cut + 1));
			assert_int_equal(jscan_value(&s, &got), closed);
			assert_int_equal(s.more, !closed);
			assert_null(s.why);
		}
	}
}

static void test_members(void **state)
{
	(void)state;
	struct jscan s = jscan_open(STR("{\"a\": 1, \"b\":[2 ,3] } x"));
	struct str key, value;
	bool first = true, inner = true;
	assert_true(jscan_take(&s, '{'));
	assert_true(jscan_member(&s, &first, &key) && str_eq(key, STR("a")));
	assert_true(jscan_word(&s, &value) && str_eq(value, STR("1")));
	assert_true(jscan_member(&s, &first, &key) && str_eq(key, STR("b")));
	assert_true(jscan_take(&s, '['));
	assert_true(jscan_element(&s, &inner) && jscan_word(&s, &value));
	assert_true(jscan_element(&s, &inner) && jscan_word(&s, &value));
	assert_true(str_eq(value, STR("3")));
	assert_false(jscan_element(&s, &inner));
	assert_false(jscan_member(&s, &first, &key));
	assert_true(!s.more && !s.why && jscan_take(&s, 'x'));
}

static void check_wrong(struct str text, const char *why)
{
	struct jscan s = jscan_open(text);
	struct str key, value;
	bool first = true;
	jscan_expect(&s, '{', "'{'");
	while (jscan_member(&s, &first, &key) && jscan_value(&s, &value)) {
	}
	assert_non_null(s.why);
	assert_string_equal(s.why, why);
}

static void test_wrong(void **state)
{
	(void)state;
	check_wrong(STR("[] "), "'{'");
	check_wrong(STR("{a:1} "), "a string");
	check_wrong(STR("{\"a\" 1} "), "':'");
	check_wrong(STR("{\"a\":1 \"b\":2} "), "',' or the closing bracket");
	check_wrong(STR("{\"a\":,} "), "a value");
	check_wrong(STR("{\"a\":1\"} "), "a value");
}

/* A value larger than any window, cut at every byte. */
static void test_skip(void **state)
{
	(void)state;
	struct str text = STR(" {\"a\":\"\\\\\\\"}\",\"b\":[[{}]]} ,");
	for (ptrdiff_t cut = 0; cut < text.len - 2; cut++) {
		struct jscan_skip skip = { 0 };
		struct jscan s = jscan_open(str_head(text, cut));
		assert_false(jscan_skip(&s, &skip));
		s = jscan_open(str_from_offset(text, cut));
		assert_true(jscan_skip(&s, &skip));
		assert_true(jscan_take(&s, ','));
	}
}

static void test_deep(void **state)
{
	(void)state;
	char *deep = arena_make(&keep, char, 100000);
	for (int i = 0; i < 100000; i++)
		deep[i] = '[';
	struct jscan s = jscan_open((struct str){ deep, 100000 });
	struct str value;
	assert_false(jscan_value(&s, &value));
	assert_non_null(s.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_deep),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
