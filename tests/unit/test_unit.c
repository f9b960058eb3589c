/* base/unit: what people write, what people read, and there and back. */
#include <math.h>
#include <string.h>

#include "base/unit.h"
#include "tests/unit/keep.h"

static void parsed(void **state)
{
	static const struct {
		const char *text;
		double value;
		enum unit unit;
	} cases[] = {
		{ "12", 12, UNIT_NONE },
		{ "0.3", 0.3, UNIT_NONE },
		{ "-1e3", -1000, UNIT_NONE },
		{ " 7 ", 7, UNIT_NONE },
		{ "1.5x", 1.5, UNIT_RATIO },
		{ "10%", 0.1, UNIT_RATIO },
		{ "7 %", 0.07, UNIT_RATIO },
		{ "64 MiB", 67108864, UNIT_BYTES },
		{ "64MiB", 67108864, UNIT_BYTES },
		{ "1.5 GB", 1.5e9, UNIT_BYTES },
		{ "3 kB", 3000, UNIT_BYTES },
		{ "3 KB", 3000, UNIT_BYTES },
		{ "1 KiB", 1024, UNIT_BYTES },
		{ "1 PiB", 1125899906842624.0, UNIT_BYTES },
		{ "2 PB", 2e15, UNIT_BYTES },
		{ "5 B", 5, UNIT_BYTES },
		{ "250 us", 250e-6, UNIT_SECONDS },
		{ "250 \xc2\xb5s", 250e-6, UNIT_SECONDS },
		{ "250 \xce\xbcs", 250e-6, UNIT_SECONDS },
		{ "2 ms", 0.002, UNIT_SECONDS },
		{ "3ns", 3e-9, UNIT_SECONDS },
		{ "1e3 s", 1000, UNIT_SECONDS },
		{ "2 min", 120, UNIT_SECONDS },
		{ "1.5 h", 5400, UNIT_SECONDS },
		{ "45 GB/s", 45e9, UNIT_BYTES_PER_SECOND },
		{ "1 GiB/s", 1073741824, UNIT_BYTES_PER_SECOND },
		{ "197 TFLOP/s", 197e12, UNIT_FLOPS_PER_SECOND },
		{ "1 PFLOP/s", 1e15, UNIT_FLOPS_PER_SECOND },
		{ "12 FLOP", 12, UNIT_FLOPS },
		{ "12 GFLOP", 12e9, UNIT_FLOPS },
		{ "$2.50", 2.5, UNIT_DOLLARS },
		{ "2.50 $", 2.5, UNIT_DOLLARS },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = -1;
		enum unit unit = UNIT_BOOL;
		struct str nearest;
		assert_true(unit_parse(str_from(cases[i].text), &value, &unit, &nearest));
		assert_true(value == cases[i].value);
		assert_int_equal(unit, cases[i].unit);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *nearest;
	} cases[] = { { "", NULL }, { "MiB", NULL }, { "1 2", NULL }, { "1..2 s", NULL },
		{ "5 eggs", NULL }, { "64 Mib", "MiB" }, { "45 Gb/s", "GB/s" },
		{ "45 GBps", "GB/s" }, { "3 TFLOPs", "TFLOP" }, { "3 TFLOPS/s", "TFLOP/s" },
		{ "10 mS", "ms" }, { "$5 B", NULL }, { "nan", NULL }, { "inf s", NULL },
		{ "1e308 PB", NULL }, { "- 5 s", NULL }, { "+5 s", NULL } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value;
		enum unit unit;
		struct str nearest;
		assert_false(unit_parse(str_from(cases[i].text), &value, &unit, &nearest));
		assert_true(str_eq(nearest, str_from(cases[i].nearest)));
		assert_int_equal(nearest.p == NULL, cases[i].nearest == NULL);
	}
}

static void shown(void **state)
{
	static const struct {
		double value;
		enum unit unit;
		const char *text;
	} cases[] = {
		{ 0.00602, UNIT_SECONDS, "6.02 ms" },
		{ 0, UNIT_SECONDS, "0 s" },
		{ 250e-9, UNIT_SECONDS, "250 ns" },
		{ 0.5e-9, UNIT_SECONDS, "0.500 ns" },
		{ 1, UNIT_SECONDS, "1.00 s" },
		{ 59.4, UNIT_SECONDS, "59.4 s" },
		{ 59.99, UNIT_SECONDS, "1.00 min" },
		{ 90, UNIT_SECONDS, "1.50 min" },
		{ 86400, UNIT_SECONDS, "24.0 h" },
		{ -0.0123, UNIT_SECONDS, "-12.3 ms" },
		{ 67108864, UNIT_BYTES, "64.0 MiB" },
		{ 512, UNIT_BYTES, "512 B" },
		{ 1023, UNIT_BYTES, "1023 B" },
		{ 1024, UNIT_BYTES, "1.00 KiB" },
		{ 1048575, UNIT_BYTES, "1.00 MiB" },
		{ 17179869184.0, UNIT_BYTES, "16.0 GiB" },
		{ 0, UNIT_BYTES, "0 B" },
		{ 45e9, UNIT_BYTES_PER_SECOND, "45.0 GB/s" },
		{ 3.35e12, UNIT_BYTES_PER_SECOND, "3.35 TB/s" },
		{ 187e12, UNIT_FLOPS_PER_SECOND, "187 TFLOP/s" },
		{ 999.6e9, UNIT_FLOPS_PER_SECOND, "1.00 TFLOP/s" },
		{ 1.2e18, UNIT_FLOPS, "1.20 EFLOP" },
		{ 0.284, UNIT_RATIO, "28.4%" },
		{ 0.003, UNIT_RATIO, "0.30%" },
		{ 0.0284, UNIT_RATIO, "2.84%" },
		{ 1, UNIT_RATIO, "100%" },
		{ 0.99951, UNIT_RATIO, "100%" },
		{ 0.9994, UNIT_RATIO, "99.9%" },
		{ 12.5, UNIT_RATIO, "1250%" },
		{ 0, UNIT_RATIO, "0%" },
		{ 1e-6, UNIT_RATIO, "<0.01%" },
		{ -0.05, UNIT_RATIO, "-5.00%" },
		{ 1234567, UNIT_COUNT, "1234567" },
		{ 2.5, UNIT_COUNT, "2.5" },
		{ 12345.67, UNIT_COUNT, "12346" },
		{ 0.3, UNIT_NONE, "0.3" },
		{ 1e20, UNIT_NONE, "1e+20" },
		{ -0.0, UNIT_NONE, "0" },
		{ 1, UNIT_BOOL, "yes" },
		{ 0, UNIT_BOOL, "no" },
		{ 12.345, UNIT_DOLLARS, "$12.35" },
		{ 1234.5, UNIT_DOLLARS, "$1234" },
		{ -5, UNIT_DOLLARS, "-$5.00" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(arena_z(&keep, unit_text(&keep, cases[i].value, cases[i].unit)),
			cases[i].text);
}

static void shown_whatever_comes(void **state)
{
	static const double odd[] = { 1e300, -1e300, 5e-324, 1e-30, 1e15, 9.99e14 };
	(void)state;
	for (int u = UNIT_NONE; u <= UNIT_DOLLARS; u++) {
		assert_true(str_eq(unit_text(&keep, NAN, (enum unit)u), STR("unknown")));
		assert_true(str_eq(unit_text(&keep, INFINITY, (enum unit)u), STR("infinite")));
		assert_true(strlen(unit_name((enum unit)u)) > 2);
		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			struct str text = unit_text(&keep, odd[i], (enum unit)u);
			assert_true(text.len > 0 && text.len < 40);
		}
	}
	assert_string_equal(unit_name(UNIT_BYTES), "bytes");
	assert_string_equal(unit_name((enum unit)99), "none");
}

/* What is shown reads back within its three digits, and shows the same again. */
static void there_and_back(void **state)
{
	static const enum unit units[] = { UNIT_SECONDS, UNIT_BYTES, UNIT_FLOPS,
		UNIT_BYTES_PER_SECOND, UNIT_FLOPS_PER_SECOND };
	(void)state;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		double low = units[u] == UNIT_SECONDS ? 1e-9 : 1024;
		for (double value = low; value < low * 1e16; value *= 1.37) {
			double back;
			enum unit unit;
			struct str nearest, text = unit_text(&keep, value, units[u]);
			assert_true(unit_parse(text, &back, &unit, &nearest));
			assert_int_equal(unit, units[u]);
			assert_true(fabs(back / value - 1) <= 0.00501);
			assert_true(str_eq(unit_text(&keep, back, unit), text));
		}
	}
}

static void for_rule_files(void **state)
{
	static const struct {
		double value;
		enum unit unit;
		const char *text;
	} cases[] = { { 0.0252, UNIT_SECONDS, "25.2 ms" }, { 0.0864, UNIT_SECONDS, "86.4 ms" },
		{ 0.000123456, UNIT_SECONDS, "123.456 us" }, { 150, UNIT_SECONDS, "150 s" },
		{ 5400, UNIT_SECONDS, "1.5 h" }, { 0, UNIT_SECONDS, "0 s" },
		{ 17179869184, UNIT_BYTES, "16 GiB" }, { 123456789, UNIT_BYTES, "123.457 MB" },
		{ 5000, UNIT_BYTES, "5 kB" }, { 0.125, UNIT_RATIO, "12.5%" },
		{ 7, UNIT_COUNT, "7" }, { 2.5, UNIT_DOLLARS, "2.5" } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			arena_z(&keep, unit_exact(&keep, cases[i].value, cases[i].unit)),
			cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsed),
		cmocka_unit_test(refused),
		cmocka_unit_test(shown),
		cmocka_unit_test(shown_whatever_comes),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(for_rule_files),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
