/* base/when: moments at the calendar's edges, and what is none. */
#include "base/when.h"
#include "tests/unit/keep.h"

#define S INT64_C(1000000000)

/* Seconds by `date -u -d TEXT +%s`. */
static const struct {
	struct str text, full;
	int64_t ns;
} moments[] = {
	{ STR_INIT("1970-01-01"), STR_INIT("1970-01-01T00:00:00.000Z"), 0 },
	{ STR_INIT("2000-02-29"), STR_INIT("2000-02-29T00:00:00.000Z"), 951782400 * S },
	{ STR_INIT("2100-03-01"), STR_INIT("2100-03-01T00:00:00.000Z"), 4107542400 * S },
	{ STR_INIT("2026-12-31T23:59:59Z"), STR_INIT("2026-12-31T23:59:59.000Z"), 1798761599 * S },
	{ STR_INIT("2026-03-14T09:26:53.25Z"), STR_INIT("2026-03-14T09:26:53.250Z"),
		1773480413 * S + S / 4 },
	{ STR_INIT("2261-12-31"), STR_INIT("2261-12-31T00:00:00.000Z"), 9214560000 * S },
};

static void both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		int64_t ns = -1;
		assert_true(when_parse(moments[i].text, &ns));
		assert_int_equal(ns, moments[i].ns);
		assert_true(str_eq(when_text(&keep, ns), moments[i].full));
	}
}

static void every_day(void **state)
{
	(void)state;
	for (int64_t day = 0; day < 106000; day += 13) {
		int64_t ns;
		assert_true(when_parse(when_text(&keep, day * 86400 * S), &ns));
		assert_int_equal(ns, day * 86400 * S);
	}
}

static void no_moments(void **state)
{
	(void)state;
	static const struct str texts[] = { STR_INIT(""), STR_INIT("2026-02-29"),
		STR_INIT("2100-02-29"), STR_INIT("2026-13-01"), STR_INIT("2026-00-01"),
		STR_INIT("2026-01-32"), STR_INIT("1969-12-31"), STR_INIT("2262-01-01"),
		STR_INIT("2026-01-01T24:00:00Z"), STR_INIT("2026-01-01T00:00:60Z"),
		STR_INIT("2026-01-01T00:00:00"), STR_INIT("2026-01-01T00:00:00.Z"),
		STR_INIT("2026-01-01T00:00:00+01:00"), STR_INIT("2026-01-01 00:00:00Z"),
		STR_INIT("+026-01-01"), STR_INIT("2026-01-01T-0:00:00Z"), STR_INIT("2026-1-001"),
		STR_INIT("2026-01-01x") };
	int64_t ns;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(when_parse(texts[i], &ns));
}

static void run_names(void **state)
{
	(void)state;
	int64_t ns;
	assert_true(when_parse_run(STR("2026_03_14_09_26_53"), &ns));
	assert_int_equal(ns, 1773480413 * S);
	assert_false(when_parse_run(STR("2026_03_14_09_26"), &ns));
	assert_false(when_parse_run(STR("2026_03_14_09_26_53_"), &ns));
	assert_false(when_parse_run(STR("2026-03-14_09_26_53"), &ns));
}

static void spans(void **state)
{
	(void)state;
	int64_t ns;
	assert_true(span_parse(STR("7d"), &ns));
	assert_int_equal(ns, 7 * 86400 * S);
	assert_true(span_parse(STR("90m"), &ns));
	assert_int_equal(ns, 5400 * S);
	assert_true(span_parse(STR("36525d"), &ns));
	assert_false(span_parse(STR("36526d"), &ns));
	assert_false(span_parse(STR("0d"), &ns));
	assert_false(span_parse(STR("-1d"), &ns));
	assert_false(span_parse(STR("7"), &ns));
	assert_false(span_parse(STR("d"), &ns));
	assert_false(span_parse(STR("7 d"), &ns));
}

static void days(void **state)
{
	(void)state;
	assert_true(when_is_day(STR("2024-02-29")));
	assert_true(when_is_day(STR("2000-02-29")));
	assert_true(when_is_day(STR("9999-12-31")));
	assert_false(when_is_day(STR("1900-02-29")));
	assert_false(when_is_day(STR("2026-13-01")));
	assert_false(when_is_day(STR("2026-04-31")));
	assert_false(when_is_day(STR("2026-04-00")));
	assert_false(when_is_day(STR("2026-4-01x")));
	assert_false(when_is_day(STR("2026-04-01T")));
	assert_false(when_is_day(STR("-000-04-01")));
	assert_false(when_is_day(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(every_day),
		cmocka_unit_test(no_moments),
		cmocka_unit_test(run_names),
		cmocka_unit_test(days),
		cmocka_unit_test(spans),
	};
	return cmocka_run_group_tests_name("when", tests, keep_begin, keep_end);
}
