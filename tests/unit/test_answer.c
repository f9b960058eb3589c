/* store/: a server's answer is read inside its bytes, and one that is not whole is told. */
#include "store/answer.h"
#include "tests/unit/keep.h"

static bool write_row(void *arg, const struct str *cells, struct diag *err)
{
	struct out *o = arg;
	for (int i = 0; i < 2; i++) {
		out_z(o, cells[i].p ? "<" : "NULL");
		out_str(o, cells[i]);
		out_z(o, cells[i].p ? ">" : "");
	}
	return !str_eq(cells[0], STR("stop")) || diag_set(err, DIAG_LIMIT, "enough");
}

static enum answer_state read_it(struct str body, struct str *rows)
{
	struct out *o = out_memory(&keep);
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct diag err;
	enum answer_state state = answer_read(body, 2, &scratch, write_row, o, &err);
	*rows = out_text(o);
	arena_free(&scratch);
	return state;
}

/* As the format's description has them. */
static void cells(void **state)
{
	struct str rows;
	(void)state;
	assert_int_equal(
		read_it(STR("a\tb\n\\N\t\n\\t\\n\\\\N\t\\0\\'\\r\n\\.\n"), &rows), ANSWER_WHOLE);
	assert_true(str_eq(rows, STR("<a><b>NULL<><\t\n\\N><\0'\r>")));
	assert_int_equal(read_it(STR("\\.\n"), &rows), ANSWER_WHOLE);
	assert_int_equal(rows.len, 0);
}

static void is_not_whole(void **state)
{
	static const struct str whole = STR_INIT("a\tb\nc\td\n\\.\n");
	struct str rows;
	(void)state;
	for (ptrdiff_t n = 0; n < whole.len; n++)
		assert_int_equal(read_it(str_head(whole, n), &rows), ANSWER_BROKEN);
	assert_int_equal(read_it(whole, &rows), ANSWER_WHOLE);
	assert_int_equal(read_it(STR("a\n\\.\n"), &rows), ANSWER_BROKEN);
	assert_int_equal(read_it(STR("a\tb\tc\n\\.\n"), &rows), ANSWER_BROKEN);
	assert_int_equal(read_it(STR("a\tb\n\\.\nCode: 241. DB::Exception"), &rows), ANSWER_BROKEN);
}

static void is_left(void **state)
{
	struct str rows;
	(void)state;
	assert_int_equal(read_it(STR("stop\tb\nc\td\n\\.\n"), &rows), ANSWER_LEFT);
	assert_true(str_eq(rows, STR("<stop><b>")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells),
		cmocka_unit_test(is_not_whole),
		cmocka_unit_test(is_left),
	};
	return cmocka_run_group_tests_name("answer", tests, keep_begin, keep_end);
}
