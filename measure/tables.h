/*
 * The tables of facts: what measure/ makes of a run and rules/ judges.
 *
 * Rows are plain structs generated from measure/columns.h; anything generic (SQL, CSV, JSON, the
 * fixtures of rule tests) reaches a cell through the column's offset.  A row of ops points at what
 * ops alike share: a job may have a million of them, and few sorts.  A REAL that is NaN and a TEXT
 * whose p is NULL are NULL: unknown, which is not the same as zero or empty.
 *
 * Every TEXT in a table has gone through text_clean.
 */
#ifndef MEASURE_TABLES_H
#define MEASURE_TABLES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/unit.h"
#include "measure/columns.h"

enum column_type { COLUMN_TEXT, COLUMN_REAL };

enum { CELL_COMMON = 1 << 16 }; /* where the offsets of what rows share begin */

struct column {
	struct str name;
	enum column_type type;
	enum unit unit;	   /* REAL only */
	ptrdiff_t offset;  /* of the cell in the row, or from CELL_COMMON on in op_common */
	const char *words; /* TEXT: allowed values separated by '|', or NULL */
	struct str meaning;
	const struct column *of; /* of a SELECT's: the table's that it hands on; NULL: none */
};

struct table_def {
	struct str name, meaning, key; /* key: the column that names a subject */
	const struct column *columns;
	ptrdiff_t column_count;
	ptrdiff_t row_bytes;
};

#define ROW_TEXT(name, words, meaning) struct str name;
#define ROW_REAL(name, unit, meaning)  double name;
#define X(table, COLUMNS, key, meaning)                                                            \
	struct table##_row {                                                                       \
		COLUMNS(ROW_TEXT, ROW_REAL)                                                        \
	};
#define NO_CELL(name, unit, meaning)
/* What ops alike share, once for all of them; a row that is read or written down has its own. */
struct op_common {
	OP_CELLS(NO_CELL, NO_CELL, ROW_TEXT, ROW_REAL)
};
#define OPS(table, COLUMNS, key, meaning)                                                          \
	struct table##_row {                                                                       \
		struct op_common *common;                                                          \
		OP_CELLS(ROW_TEXT, ROW_REAL, NO_CELL, NO_CELL)                                     \
	};
TABLES_OF(X, OPS)
#undef OPS
#undef X

enum table_id {
#define X(table, COLUMNS, key, meaning) TABLE_##table,
	TABLES(X)
#undef X
		TABLE_COUNT
};

extern const struct table_def table_defs[TABLE_COUNT];
/* The same tables of the baseline: base_run, base_ops and so on. */
extern const struct table_def base_table_defs[TABLE_COUNT];

struct table {
	void *rows;
	ptrdiff_t count, cap;
};

struct tables {
	struct table items[TABLE_COUNT];
};

/* A new last row with every cell NULL; the pointer lives until the next row is added. */
void *rows_add(struct table *t, const struct table_def *def, struct arena *keep);
void *table_add(struct tables *t, enum table_id id, struct arena *keep);
/* Room for `rows` of a table that has none yet, where it is known that there will not be more. */
void table_reserve(struct tables *t, enum table_id id, ptrdiff_t rows, struct arena *keep);
/* `struct op_row *`-style access: rows of `t` as struct <table>_row. */
#define table_rows(t, table)	  ((struct table##_row *)(t)->items[TABLE_##table].rows)
#define table_new(t, table, keep) ((struct table##_row *)table_add((t), TABLE_##table, (keep)))
#define table_count(t, table)	  ((t)->items[TABLE_##table].count)

/* What an op is and where it stands: columns that others have of their ops. */
#define OP_PLACE                                                                                   \
	OF_OP(name), OF_OP(key), OF_OP(scope), OP_COMMON(kind), OP_COMMON(source_file),            \
		OP_COMMON(source_line), OP_COMMON(user_file), OP_COMMON(user_line),                \
		OP_COMMON(shape)
#define OF_OP(column)	  row->column = op->column
#define OP_COMMON(column) row->column = op->common->column

const struct run_row *row_of_run(const struct tables *t); /* NULL: there is none */
bool is_planned(const struct tables *t);		  /* nothing ran: a compiler's dump alone */
/* Without steps: what it did in its time is no measure of what another one does in another. */
bool is_window(const struct tables *t);

/* Of a column's words the one at this place, from 0; missing where there is none. */
struct str word_at(const char *words, int place);
int word_place(const char *words, struct str word); /* -1: it is none of them */
bool word_is(struct str word, const char *words, int place);
const struct table_def *table_find(struct str name); /* NULL if unknown */
const struct column *table_column(const struct table_def *def, struct str name); /* or NULL */
/* The table's own: itself, or what a SELECT hands on under this name; NULL: a SELECT made it. */
const struct column *column_owner(const struct column *c);
/*
 * Why a table's own column is NULL: what the profile lacks, else the column's own words.  `ret`:
 * the check of the data that says so, else the column's name.
 */
struct str column_absence(const struct column *c, struct arena *keep, struct str *ret);
double cell_real(const struct column *c, const void *row);
struct str cell_text(const struct column *c, const void *row);
bool cell_is_null(const struct column *c, const void *row);
void cell_set_real(const struct column *c, void *row, double value);
void cell_set_text(const struct column *c, void *row, struct str value);
void row_copy(const struct table_def *def, void *to, const void *from);

#endif
