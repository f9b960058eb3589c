/* store/: rows for a server's table are what the format's description says. */
#include "store/rowbinary.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"

static struct str row_of(const struct run_facts *f, struct str kept)
{
	struct out *o = out_memory(&keep);
	rowbinary_write(o, f, kept, &keep);
	return out_text(o);
}

/* By hand: 1 for NULL; 0, a length and bytes; 8 bytes of a double, the lowest first. */
static void bytes_by_hand(void **state)
{
	(void)state;
	struct run_facts f;
	run_facts_clear(&f);
	f.hash = STR("ab");
	f.version = STR("2.0");
	f.step_time_s = 1;
	struct str row = row_of(&f, (struct str){ "\0z", 2 });
	assert_true(str_starts(row, STR("\0\003"
					"2.0"
					"\002"
					"ab"
					"\1\1")));
	assert_true(str_contains(row, STR("\0\0\0\0\0\0\0\xf0\x3f")));
	/* What is kept, and how much that is. */
	assert_true(str_ends(row, STR("\0\002\0z\2\0\0\0\0\0\0\0")));
	assert_true(str_ends(row_of(&f, (struct str){ NULL, 0 }), STR("\1\0\0\0\0\0\0\0\0")));
}

/* A value for each column that is told: of a run without a date, each NULL and each empty array is
 * a byte. */
static void as_many_values_as_columns(void **state)
{
	(void)state;
	struct run_facts f;
	struct rowbinary_column *columns;
	ptrdiff_t count = rowbinary_columns(&keep, &columns), bytes = 0;
	run_facts_clear(&f);
	f.hash = STR("ab");
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str type = columns[i].type;
		bool is_number = str_eq(type, STR("Int64")) || str_eq(type, STR("UInt64"));
		bytes += is_number ? 8 : 1;
	}
	/* The hash, and what is said of a run without a date. */
	bytes += 2 + STR("no date").len + 1 +
		 STR("neither the profile nor its directory says when it was captured").len;
	assert_int_equal(row_of(&f, (struct str){ NULL, 0 }).len, bytes);
}

/* Lengths of 128 bytes and more take two, seven bits each. */
static void long_texts(void **state)
{
	(void)state;
	struct run_facts f;
	char text[300];
	memset(text, 'x', sizeof(text));
	run_facts_clear(&f);
	f.version = f.hash = (struct str){ text, sizeof(text) };
	assert_true(str_starts(row_of(&f, (struct str){ NULL, 0 }), STR("\0\xac\002xxx")));
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
		cmocka_unit_test(bytes_by_hand),
		cmocka_unit_test(as_many_values_as_columns),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(edited),
	};
	return cmocka_run_group_tests_name("rowbinary", tests, keep_begin, keep_end);
}
