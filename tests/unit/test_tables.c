/* measure/tables: columns as data agree with rows as structs, and with what they promise. */
#include <math.h>
#include <stdlib.h>

#include "base/kind.h"
#include "base/text.h"
#include "hardware/roofline.h"
#include "measure/tables.h"
#include "tests/unit/keep.h"
#include "tests/unit/manual.h"

#define assert_str(s, text) assert_string_equal(arena_z(&keep, (s)), (text))

typedef void column_check(const struct table_def *def, const struct column *c);

static void check_columns(column_check *check)
{
	for (int id = 0; id < TABLE_COUNT; id++)
		for (ptrdiff_t i = 0; i < table_defs[id].column_count; i++)
			check(&table_defs[id], &table_defs[id].columns[i]);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void tables_by_name(void **state)
{
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++)
		assert_ptr_equal(table_find(table_defs[id].name), &table_defs[id]);
	assert_ptr_equal(table_find(STR("run")), &table_defs[TABLE_run]);
	assert_ptr_equal(table_find(STR("deltas")), &table_defs[TABLE_deltas]);
	assert_null(table_find(STR("Run")));
	assert_null(table_find(STR("runs")));
	assert_null(table_find(STR("")));
}

/* The column of a name is the one that has it: names are unique in a table. */
static void is_found(const struct table_def *def, const struct column *c)
{
	assert_ptr_equal(table_column(def, c->name), c);
}

static void columns_by_name(void **state)
{
	(void)state;
	check_columns(is_found);
	assert_null(table_column(&table_defs[TABLE_run], STR("no_such_column")));
	assert_null(table_column(&table_defs[TABLE_run], STR("NAME")));
	assert_null(table_column(&table_defs[TABLE_run], STR("")));
}

/* Fit for SQL, for JSON and for a shell: lower case, digits and underscores. */
static void is_identifier(struct str name)
{
	assert_true(name.len > 0 && name.len <= 32);
	assert_true(name.p[0] >= 'a' && name.p[0] <= 'z');
	for (ptrdiff_t i = 0; i < name.len; i++)
		if (!(name.p[i] >= 'a' && name.p[i] <= 'z') && name.p[i] != '_' &&
			!(name.p[i] >= '0' && name.p[i] <= '9'))
			fail_msg("'%.*s' is no identifier", STR_ARG(name));
}

static void has_identifier(const struct table_def *def, const struct column *c)
{
	(void)def;
	is_identifier(c->name);
}

static void names_are_identifiers(void **state)
{
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++)
		is_identifier(table_defs[id].name);
	check_columns(has_identifier);
}

/* A sentence without its capital and its point, since tables of documents are made of them. */
static void is_meaning(struct str meaning, struct str name)
{
	if (meaning.len < 3 || str_ends(meaning, STR(".")) || meaning.p[0] == ' ')
		fail_msg("the meaning of %.*s is '%.*s'", STR_ARG(name), STR_ARG(meaning));
}

static void has_meaning(const struct table_def *def, const struct column *c)
{
	(void)def;
	is_meaning(c->meaning, c->name);
}

static void everything_has_a_meaning(void **state)
{
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++)
		is_meaning(table_defs[id].meaning, table_defs[id].name);
	check_columns(has_meaning);
}

static void keys_are_columns(void **state)
{
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++)
		assert_non_null(table_column(&table_defs[id], table_defs[id].key));
}

/* "1.0": two numbers, and nothing else. */
static void version(void **state)
{
	struct str major, minor;
	int64_t number;
	(void)state;
	assert_true(str_cut(STR(TABLES_VERSION), '.', &major, &minor));
	assert_true(str_to_i64(major, &number) && number >= 1);
	assert_true(str_to_i64(minor, &number) && number >= 0);
}

/* ---- units and words ------------------------------------------------------------------------- */

/* What a name ends in and its unit say the same. */
static void has_fitting_unit(const struct table_def *def, const struct column *c)
{
	static const struct {
		struct str ending;
		enum unit unit;
	} endings[] = {
		{ STR_INIT("_s"), UNIT_SECONDS },
		{ STR_INIT("_bytes"), UNIT_BYTES },
		{ STR_INIT("_bps"), UNIT_BYTES_PER_SECOND },
		{ STR_INIT("_share"), UNIT_RATIO },
		{ STR_INIT("_line"), UNIT_COUNT },
	};
	(void)def;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (c->type == COLUMN_REAL && str_ends(c->name, endings[i].ending))
			assert_int_equal(c->unit, endings[i].unit);
	if (str_starts(c->name, STR("is_")) || str_starts(c->name, STR("has_")))
		assert_int_equal(c->unit, UNIT_BOOL);
	if (c->type == COLUMN_TEXT)
		assert_int_equal(c->unit, UNIT_NONE);
	else
		assert_null(c->words);
}

static void units_follow_names(void **state)
{
	(void)state;
	check_columns(has_fitting_unit);
}

static ptrdiff_t words_count(const char *words, struct str wanted, ptrdiff_t *found)
{
	struct str word, rest = str_from(words);
	ptrdiff_t count = 0;

	*found = 0;
	for (bool more = true; more; count++) {
		more = str_cut(rest, '|', &word, &rest);
		*found += str_eq(word, wanted);
	}
	return count;
}

static bool is_word(struct str s)
{
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9') &&
			s.p[i] != '-' && s.p[i] != '.' && s.p[i] != '_')
			return false;
	return s.len > 0;
}

static void has_good_words(const struct table_def *def, const struct column *c)
{
	struct str word, rest = str_from(c->words);
	ptrdiff_t found;

	(void)def;
	if (!c->words)
		return;
	assert_true(words_count(c->words, STR(""), &found) >= 2);
	for (bool more = true; more;) {
		more = str_cut(rest, '|', &word, &rest);
		words_count(c->words, word, &found);
		if (!is_word(word) || found != 1)
			fail_msg("the words of %.*s are %s", STR_ARG(c->name), c->words);
	}
}

/* No word is empty or there twice, and each can stand in a rule. */
static void words_are_well_formed(void **state)
{
	(void)state;
	check_columns(has_good_words);
}

/* What a buffer is, or what a snapshot saw, has words of its own. */
static void has_words_of_kinds(const struct table_def *def, const struct column *c)
{
	if (str_ends(c->name, STR("kind")) && !str_eq(c->name, STR("operand_kind")) &&
		!str_eq(def->name, STR("buffers")) && !str_eq(def->name, STR("live")))
		assert_string_equal(c->words, KIND_WORDS);
}

static void words_of_kinds(void **state)
{
	ptrdiff_t found;
	(void)state;
	for (int k = 0; k < KIND_COUNT; k++) {
		words_count(KIND_WORDS, op_kind_name((enum op_kind)k), &found);
		if (found != 1)
			fail_msg("'%.*s' is not among the words of kinds",
				STR_ARG(op_kind_name((enum op_kind)k)));
	}
	assert_int_equal(words_count(KIND_WORDS, STR(""), &found), KIND_COUNT);
	check_columns(has_words_of_kinds);
}

static void words_of_bounds(void **state)
{
	ptrdiff_t found;
	(void)state;
	for (int b = BOUND_COMPUTE; b <= BOUND_COMMS; b++) {
		words_count(BOUND_WORDS, bound_name((enum bound)b), &found);
		assert_int_equal(found, 1);
	}
	/* an unknown bound is NULL, no word */
	words_count(BOUND_WORDS, bound_name(BOUND_UNKNOWN), &found);
	assert_int_equal(found, 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Cells lie one behind the other in the order of the columns, without room between them; so do
 * those of what ops alike share, which a row of ops points at. */
static void cells_fill_the_row(void **state)
{
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++) {
		ptrdiff_t ends[2] = { id == TABLE_ops ? (ptrdiff_t)sizeof(struct op_common *) : 0,
			CELL_COMMON };
		for (ptrdiff_t i = 0; i < table_defs[id].column_count; i++) {
			const struct column *c = &table_defs[id].columns[i];
			ptrdiff_t *end = &ends[c->offset >= CELL_COMMON];
			assert_int_equal(c->offset, *end);
			*end += c->type == COLUMN_TEXT ? (ptrdiff_t)sizeof(struct str)
						       : (ptrdiff_t)sizeof(double);
		}
		assert_int_equal(table_defs[id].row_bytes, ends[0]);
		if (id == TABLE_ops)
			assert_int_equal(
				CELL_COMMON + (ptrdiff_t)sizeof(struct op_common), ends[1]);
	}
}

static void members_are_cells(void **state)
{
	struct tables t = { 0 };
	(void)state;
	struct ops_row *op = table_new(&t, ops, &keep);
	const struct table_def *ops = table_find(STR("ops"));
	op->name = STR("fusion.1");
	op->common->t_comms_s = 0.25;
	op->common->is_async = 1;
	assert_str(cell_text(table_column(ops, STR("name")), op), "fusion.1");
	assert_true(cell_real(table_column(ops, STR("t_comms_s")), op) == 0.25);
	assert_true(cell_real(table_column(ops, STR("is_async")), op) == 1);
	cell_set_text(table_column(ops, STR("shape")), op, STR("f32[8]"));
	cell_set_real(table_column(ops, STR("p50_s")), op, 3);
	assert_str(op->common->shape, "f32[8]");
	assert_true(op->p50_s == 3);
}

static void new_rows_are_null(void **state)
{
	struct tables t = { 0 };
	(void)state;
	for (int id = 0; id < TABLE_COUNT; id++) {
		const void *row = table_add(&t, (enum table_id)id, &keep);
		assert_int_equal(t.items[id].count, 1);
		for (ptrdiff_t i = 0; i < table_defs[id].column_count; i++)
			assert_true(cell_is_null(&table_defs[id].columns[i], row));
	}
}

/* Unknown is not zero, and not empty. */
static void zero_and_empty_are_not_null(void **state)
{
	struct tables t = { 0 };
	(void)state;
	struct run_row *row = table_new(&t, run, &keep);
	row->steps = 0;
	row->name = STR("");
	const struct table_def *def = &table_defs[TABLE_run];
	assert_false(cell_is_null(table_column(def, STR("steps")), row));
	assert_false(cell_is_null(table_column(def, STR("name")), row));
	cell_set_real(table_column(def, STR("steps")), row, NAN);
	cell_set_text(table_column(def, STR("name")), row, (struct str){ NULL, 0 });
	assert_true(cell_is_null(table_column(def, STR("steps")), row));
	assert_true(cell_is_null(table_column(def, STR("name")), row));
}

/* Also those that come where a grown table lay before, and every cell stays what it was. */
static void tables_grow(void **state)
{
	enum { ROWS = 5000 };
	struct tables t = { 0 };
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		struct steps_row *row = table_new(&t, steps, &keep);
		assert_null(row->host.p);
		assert_true(isnan(row->step) && isnan(row->is_complete));
		row->step = i;
		row->host = arena_fmt(&keep, "host %d", i);
	}
	assert_int_equal(table_count(&t, steps), ROWS);
	for (int i = 0; i < ROWS; i++) {
		assert_true(table_rows(&t, steps)[i].step == i);
		assert_true(isnan(table_rows(&t, steps)[i].is_complete));
	}
	assert_str(table_rows(&t, steps)[4321].host, "host 4321");
	assert_int_equal(table_count(&t, ops), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keep_begin, keep_end)

/* ---- the manual ------------------------------------------------------------------------------ */

/* What it means, and its words: "`a`, `b` or `c`"; a bar would end the cell. */
static void put_meaning(struct out *o, const struct column *c)
{
	static const char *const bar[] = { "\\|" };
	struct str words[64];
	ptrdiff_t count = c->words ? text_words(str_from(c->words), words, COUNT_OF(words)) : 0;
	out_replaced(o, c->meaning, "|", bar);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s`%.*s`",
			!i		? ": "
			: i + 1 < count ? ", "
					: " or ",
			STR_ARG(words[i]));
}

static void manual_is_kept(void **state)
{
	(void)state;
	static const char page[] = "docs/tables.md";
	struct str kept = manual_kept(page);
	struct out *o = out_memory(&keep);
	out_str(o, str_head(kept, str_find(kept, STR("\n## "))));
	for (const struct table_def *def = table_defs; def < table_defs + TABLE_COUNT; def++) {
		out_fmt(o, "\n## %.*s\n\n%.*s. A subject is named by its `%.*s`.\n\n",
			STR_ARG(def->name), STR_ARG(def->meaning), STR_ARG(def->key));
		out_z(o, "| column | unit | meaning |\n|---|---|---|\n");
		for (const struct column *c = def->columns; c < def->columns + def->column_count;
			c++) {
			out_fmt(o, "| `%.*s` | %s | ", STR_ARG(c->name),
				c->type == COLUMN_TEXT ? "text"
				: c->unit == UNIT_NONE ? "number"
						       : unit_name(c->unit));
			put_meaning(o, c);
			out_z(o, " |\n");
		}
	}
	manual_is(page, out_text(o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tables_by_name),
		TEST(columns_by_name),
		TEST(names_are_identifiers),
		TEST(everything_has_a_meaning),
		TEST(keys_are_columns),
		TEST(version),
		TEST(units_follow_names),
		TEST(words_are_well_formed),
		TEST(words_of_kinds),
		TEST(words_of_bounds),
		TEST(cells_fill_the_row),
		TEST(members_are_cells),
		TEST(new_rows_are_null),
		TEST(zero_and_empty_are_not_null),
		TEST(tables_grow),
		TEST(manual_is_kept),
	};
	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
