/* store/: rows of a server's table come back with every bit, and what is no row is told. */
#include "store/rowbinary.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

static struct str row_of(double step_time_s)
{
	struct out *o = out_memory(&keep);
	struct run_facts f = fixture_run(&keep, STR("w"), STR("2026-01-01"), step_time_s);
	rowbinary_write(o, &f);
	return out_text(o);
}

static void comes_back_whole(void **state)
{
	(void)state;
	struct str rest = row_of(1.0 / 3), row = rest;
	struct out *o = out_memory(&keep);
	struct run_facts f;
	assert_int_equal(rowbinary_read(&rest, &keep, &f), ROWBINARY_ROW);
	assert_int_equal(rest.len, 0);
	assert_null(run_facts_flaw(&f, &keep));
	assert_true(f.step_time_s == 1.0 / 3 && run_rule_count(&f) == 1);
	rowbinary_write(o, &f);
	assert_true(str_eq(out_text(o), row));
	assert_int_equal(rowbinary_read(&rest, &keep, &f), ROWBINARY_END);
}

/* The format's description, by hand: 1 for NULL; 0, a length and bytes; 8 bytes of a double. */
static void bytes_by_hand(void **state)
{
	(void)state;
	struct run_facts f;
	struct out *o = out_memory(&keep);
	run_facts_clear(&f);
	f.hash = STR("ab");
	f.version = STR("2.0");
	rowbinary_write(o, &f);
	struct str row = out_text(o);
	assert_true(str_starts(row, STR("\0\003"
					"2.0"
					"\002"
					"ab"
					"\1\1")));
	/* A byte for each NULL and for each empty array. */
	assert_int_equal(row.len, 5 + 3 + run_facts_def.column_count - 2 +
					  fact_part_defs[FACT_RULES].column_count +
					  fact_part_defs[FACT_DEVICES].column_count);
	struct out *one = out_memory(&keep);
	f.chips = 1;
	rowbinary_write(one, &f);
	assert_true(str_contains(out_text(one), STR("\0\0\0\0\0\0\0\xf0\x3f")));
}

static void cut_anywhere(void **state)
{
	(void)state;
	struct str row = row_of(1);
	for (ptrdiff_t n = 1; n < row.len; n++) {
		struct str rest = str_head(row, n);
		struct run_facts f;
		assert_int_equal(rowbinary_read(&rest, &keep, &f), ROWBINARY_CUT);
		assert_int_equal(rest.len, n);
	}
}

static void no_rows(void **state)
{
	(void)state;
	struct run_facts f;
	struct str flag = STR("\2"), length = STR("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_int_equal(rowbinary_read(&flag, &keep, &f), ROWBINARY_BAD);
	assert_int_equal(rowbinary_read(&length, &keep, &f), ROWBINARY_BAD);
}

static void pairs(void **state)
{
	(void)state;
	struct str rows = STR("\1a\2bc\0\1d"), first, second;
	assert_int_equal(rowbinary_read_pair(&rows, &first, &second), ROWBINARY_ROW);
	assert_true(str_eq(first, STR("a")) && str_eq(second, STR("bc")));
	assert_int_equal(rowbinary_read_pair(&rows, &first, &second), ROWBINARY_ROW);
	assert_true(str_eq(first, STR("")) && str_eq(second, STR("d")));
	assert_int_equal(rowbinary_read_pair(&rows, &first, &second), ROWBINARY_END);
	rows = STR("\1a\2b");
	assert_int_equal(rowbinary_read_pair(&rows, &first, &second), ROWBINARY_CUT);
	assert_int_equal(rows.len, 4);
}

static void edited(void **state)
{
	(void)state;
	struct run_facts f = fixture_run(&keep, STR("w"), STR("2026-01-01"), 1);
	f.step_time_s = 2;
	assert_string_equal(run_facts_flaw(&f, &keep), "a run that does not fit its hash");
	f.version = STR("3.0");
	assert_string_equal(run_facts_flaw(&f, &keep), "facts of another version than 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_whole),
		cmocka_unit_test(bytes_by_hand),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(pairs),
		cmocka_unit_test(edited),
	};
	return cmocka_run_group_tests_name("rowbinary", tests, keep_begin, keep_end);
}
