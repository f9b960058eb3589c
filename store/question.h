/*
 * Questions to a store: SQL in words that SQLite and ClickHouse have in common, with names in
 * braces for what differs or is only known when it is asked.
 *
 *     {runs}      a run a row, as r; in ClickHouse one may be there twice, with one hash
 *     {of_rules}, {of_devices}
 *                 a run r and one of its rules, or devices, as v a row; {place} orders those of r
 *     {has_kept}, {kept}
 *                 whether something is kept beside the run r, and what
 *     {name}      a value, written as the engine has it
 *
 * intDiv and medianExactLow are functions of ClickHouse's, and SQLite gets them here.
 *
 * Refuses: being a query builder; what is asked stands in questions.sql and runs.sql.
 */
#ifndef STORE_QUESTION_H
#define STORE_QUESTION_H

#include "base/out.h"
#include "store/fleet_file.h"

enum question_kind {
	QUESTION_NUMBER,
	QUESTION_TEXT,
	QUESTION_NUMBERS, /* a list for IN */
	QUESTION_TEXTS,
	QUESTION_ALIASES, /* the column "workload", by the name that it has now */
	QUESTION_COLUMNS, /* "r.hash, r.run" */
	QUESTION_SQL	  /* expanded, too */
};

#define QUESTION_MAX_LIST 1000 /* some 100 kB of a query; servers read 256 kB */

struct question_value {
	const char *name;
	enum question_kind kind;
	int64_t number;
	struct str text; /* of columns: what stands before each */
	const struct table_def *columns;
	const int64_t *numbers;
	const struct str *texts;
	const struct fleet_alias *aliases;
	ptrdiff_t count;
};

/* Values as a list has them. */
#define VALUE_NUMBER(called, value)                                                                \
	{                                                                                          \
		.name = called, .kind = QUESTION_NUMBER, .number = value                           \
	}
#define VALUE_TEXT(called, value)                                                                  \
	{                                                                                          \
		.name = called, .kind = QUESTION_TEXT, .text = value                               \
	}
#define VALUE_TEXTS(called, list, many)                                                            \
	{                                                                                          \
		.name = called, .kind = QUESTION_TEXTS, .texts = list, .count = many               \
	}
#define VALUE_SQL(called, value)                                                                   \
	{                                                                                          \
		.name = called, .kind = QUESTION_SQL, .text = value                                \
	}
#define VALUE_COLUMNS(called, before, def)                                                         \
	{                                                                                          \
		.name = called, .kind = QUESTION_COLUMNS, .text = before, .columns = def           \
	}

struct question {
	struct str sql;
	const struct question_value *values;
	ptrdiff_t count;
	int cells; /* of a row of its answer */
};

/* A statement of an embedded file, from 0 on: each ends with a line that has only a semicolon. */
struct str question_statement(const char *file, ptrdiff_t index);

/* How an engine writes it. */
struct dialect {
	struct str runs;					       /* the table */
	void (*put_part)(struct out *o, const struct table_def *part); /* behind the runs: JOIN */
	struct str place, has_kept, kept;
	void (*put_text)(struct out *o, struct str text);
};

/* NUL-terminated.  A name that no value has is a mistake of ours: asserted. */
struct str question_text(const struct question *q, const struct dialect *d, struct arena *keep);

/*
 * A row of an answer; cells are missing where they are NULL.  A real has as many digits as its bits
 * need, in whatever form the engine writes it.
 */
enum { QUESTION_MAX_CELLS = 64 };
typedef bool answer_row_fn(void *arg, const struct str *cells, struct diag *err);

#endif
