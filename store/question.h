/*
 * Questions to a store: SQL in words that SQLite and ClickHouse have in common, with names in
 * braces for what differs or is only known when it is asked.
 *
 *     {runs}      a run a row, as r; in ClickHouse one may be there twice, with one hash
 *     {of_rules}, {of_devices}
 *                 a run r and one of its rules, or devices, as v a row
 *     {name}      a value, written as the engine has it
 *
 * intDiv and medianExactLow are functions of ClickHouse's, and SQLite gets them here.
 *
 * Refuses: being a query builder; what is asked stands in questions.sql.
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
	QUESTION_SQL	  /* of questions.sql; expanded, too */
};

struct question_value {
	const char *name;
	enum question_kind kind;
	int64_t number;
	struct str text;
	const int64_t *numbers;
	const struct str *texts;
	const struct fleet_alias *aliases;
	ptrdiff_t count;
};

struct question {
	struct str sql;
	const struct question_value *values;
	ptrdiff_t count;
	struct str since; /* moment before which it asks of nothing dated; missing: whenever */
};

/* How an engine writes it. */
struct dialect {
	struct str runs;     /* the table */
	struct str join, on; /* before and behind the table of a part v of a run r */
	void (*put_text)(struct out *o, struct str text);
};

/* NUL-terminated.  A name that no value has is a mistake of ours: asserted. */
struct str question_text(const struct question *q, const struct dialect *d, struct arena *keep);

/* A row of an answer; cells are missing where they are NULL. */
enum { QUESTION_MAX_CELLS = 40 };
typedef bool answer_row_fn(void *arg, const struct str *cells, int count, struct diag *err);

#endif
