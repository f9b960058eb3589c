/* Columns as data, and the cells of rows.  See tables.h. */
#include "measure/tables.h"

#include <math.h>

#include "base/text.h"
#include "measure/plots.h"

/*
 * The column lists, once more as data.  A list does not carry the type of its rows, so IN begins
 * each column with the place of a member, and what the list calls names the member.
 */
#define IN(table)                                                                                  \
	{                                                                                          \
		.offset = (ptrdiff_t) & ((struct table##_row *)0)->
#define AS_TEXT(column, words_, meaning_)                                                          \
	column, .name = STR_INIT(#column), .type = COLUMN_TEXT, .words = words_,                   \
		.meaning = STR_INIT(meaning_)                                                      \
	}                                                                                          \
	,
#define AS_REAL(column, unit_, meaning_)                                                           \
	column, .name = STR_INIT(#column), .type = COLUMN_REAL, .unit = UNIT_##unit_,              \
		.meaning = STR_INIT(meaning_)                                                      \
	}                                                                                          \
	,
#define IN_COMMON                                                                                  \
	{                                                                                          \
		.offset = CELL_COMMON + (ptrdiff_t) & ((struct op_common *)0)->
#define COLUMNS_OF(table, COLUMNS, key, meaning)                                                   \
	static const struct column table##_columns[] = { COLUMNS(                                  \
		IN(table) AS_TEXT, IN(table) AS_REAL) };
#define OPS_COLUMNS_OF(table, COLUMNS, key, meaning)                                               \
	static const struct column table##_columns[] = { OP_CELLS(                                 \
		IN(table) AS_TEXT, IN(table) AS_REAL, IN_COMMON AS_TEXT, IN_COMMON AS_REAL) };
TABLES_OF(COLUMNS_OF, OPS_COLUMNS_OF)
PLOTS(COLUMNS_OF)

#define DEF(table, name, meaning, key)                                                             \
	{ STR_INIT(name), STR_INIT(meaning), STR_INIT(key), table##_columns,                       \
		(ptrdiff_t)(sizeof(table##_columns) / sizeof(table##_columns[0])),                 \
		(ptrdiff_t)sizeof(struct table##_row) },
#define PLAIN(table, COLUMNS, key, meaning) DEF(table, #table, meaning, key)
#define BASE(table, COLUMNS, key, meaning)                                                         \
	DEF(table, "base_" #table, "of the baseline: " meaning, key)
const struct table_def table_defs[TABLE_COUNT] = { TABLES(PLAIN) };
const struct table_def plot_defs[PLOT_COUNT] = { PLOTS(PLAIN) };
const struct table_def base_table_defs[TABLE_COUNT] = { TABLES(BASE) };

void *rows_add(struct table *t, const struct table_def *def, struct arena *keep)
{
	void *row = arena_grow(keep, &t->rows, &t->count, &t->cap, def->row_bytes);

	if (def->columns == ops_columns)
		((struct ops_row *)row)->common = arena_make(keep, struct op_common, 1);
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		if (def->columns[i].type == COLUMN_REAL)
			cell_set_real(&def->columns[i], row, NAN);
	return row;
}

void *table_add(struct tables *t, enum table_id id, struct arena *keep)
{
	return rows_add(&t->items[id], &table_defs[id], keep);
}

void table_reserve(struct tables *t, enum table_id id, ptrdiff_t rows, struct arena *keep)
{
	t->items[id].rows = arena_alloc(keep, table_defs[id].row_bytes, 16, rows);
	t->items[id].cap = rows;
}

const struct run_row *row_of_run(const struct tables *t)
{
	return table_count(t, run) ? table_rows(t, run) : NULL;
}

bool is_planned(const struct tables *t)
{
	return row_of_run(t) && str_eq(row_of_run(t)->evidence, STR("planned"));
}

bool is_window(const struct tables *t)
{
	return row_of_run(t) && str_eq(row_of_run(t)->steps_source, STR("window"));
}

struct str word_at(const char *words, int place)
{
	struct str rest = str_from(words), word = { NULL, 0 };

	for (int i = 0; i <= place; i++)
		if (!str_cut(rest, '|', &word, &rest) && i < place)
			return MISSING;
	return word;
}

int word_place(const char *words, struct str word)
{
	struct str rest = str_from(words), one;

	for (int place = 0; rest.len; place++) {
		str_cut(rest, '|', &one, &rest);
		if (str_eq(one, word))
			return place;
	}
	return -1;
}

bool word_is(struct str word, const char *words, int place)
{
	return word_place(words, word) == place;
}

const struct table_def *table_find(struct str name)
{
	return NAMED(table_defs, TABLE_COUNT, name);
}

const struct column *table_column(const struct table_def *def, struct str name)
{
	return NAMED(def->columns, def->column_count, name);
}

static void *cell(const struct column *c, const void *row)
{
	if (c->offset >= CELL_COMMON)
		return (char *)((const struct ops_row *)row)->common + (c->offset - CELL_COMMON);
	return (char *)row + c->offset;
}

double cell_real(const struct column *c, const void *row)
{
	return *(const double *)cell(c, row);
}

struct str cell_text(const struct column *c, const void *row)
{
	return *(const struct str *)cell(c, row);
}

bool cell_is_null(const struct column *c, const void *row)
{
	return c->type == COLUMN_TEXT ? !cell_text(c, row).p : isnan(cell_real(c, row));
}

void cell_set_real(const struct column *c, void *row, double value)
{
	*(double *)cell(c, row) = value;
}

void cell_set_text(const struct column *c, void *row, struct str value)
{
	*(struct str *)cell(c, row) = value;
}

void row_copy(const struct table_def *def, void *to, const void *from)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];

		if (c->type == COLUMN_TEXT)
			cell_set_text(c, to, cell_text(c, from));
		else
			cell_set_real(c, to, cell_real(c, from));
	}
}

/* ---- what a NULL means ----------------------------------------------------------------------- */

#define NO_ALLOCATOR "the host's plane holds no events of an allocator"
#define NO_HOST	     "the profile holds no events of the host"
#define NO_WAITS     NO_HOST ", or its steps were not found"

#define ABSENT(name, says, ...)                                                                    \
	{                                                                                          \
		.column = STR_INIT(name), .lacks = STR_INIT(says), __VA_ARGS__                     \
	}
/* By name, which columns of several tables share. */
static const struct absence {
	struct str column, lacks;
	struct str check; /* of the data, which then does not hold; or none */
} absences[] = {
	ABSENT("window_peak_bytes", NO_ALLOCATOR),
	ABSENT("other_live_bytes", NO_ALLOCATOR),
	ABSENT("compiled_bytes", "no program's HLO with its buffers is in the profile"),
	ABSENT("compiles_in_steps", NO_HOST ", or a call took as long as a compilation while the "
					    "devices waited, and none was recorded in it"),
	ABSENT("input_wait_ratio", NO_WAITS),
	ABSENT("sync_wait_ratio", NO_WAITS),
	ABSENT("mfu",
		"the job file does not say the model and its tokens, or contradicts the profile"),
	ABSENT("useful_flops_ratio",
		"the job file contradicts the profile, or not all FLOPs are counted"),
	ABSENT("remat_flops_ratio", "the FLOPs of most compute time are unknown"),
	ABSENT("t_math_s", "the FLOPs of these ops are unknown"),
	ABSENT("t_hbm_s", "the bytes that these ops move are unknown"),
	ABSENT("slowness", "fewer than two devices recorded steady steps"),
	ABSENT("all_hosts_read",
		"not all hosts of the job were read (files are missing, or --hosts-sample left "
		"them out), or nothing says how many it has",
		.check = STR_INIT("all-hosts")),
	ABSENT("whole_hlo",
		"the program's HLO is not in the profile, and without it only a part is known",
		.check = STR_INIT("hlo-present")),
	ABSENT("expected_hi_s", "the size of these collectives or the speed of the links is "
				"unknown, or the job file's slices contradict the profile"),
	ABSENT("owner_bytes", "the job file does not say how much memory is expected"),
	ABSENT("lo", "the runs or their steps differ too much, or are too few, to tell a change "
		     "from noise"),
	ABSENT("is_slower", "the step may do another amount of work than before: its ops compute "
			    "fewer FLOPs than they did, or those of some are unknown"),
	ABSENT("unattributed_ratio", "no device op was recorded",
		.check = STR_INIT("ops-recorded")),
};

const struct column *column_owner(const struct column *c)
{
	return c->of ? c->of : c->meaning.len ? c : NULL;
}

struct str column_absence(const struct column *c, struct arena *keep, struct str *ret)
{
	struct str said = c->meaning, rest;
	const struct absence *a = NAMED(absences, COUNT_OF(absences), c->name);

	*ret = a && a->check.p ? a->check : c->name;
	if (a)
		return a->lacks;
	str_cut(said, ';', &said, &rest);
	str_cut(said, '(', &said, &rest);
	return arena_fmt(keep, "the profile does not say \"%.*s\"", STR_ARG(str_trim(said)));
}
