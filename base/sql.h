/*
 * SQLite as a calculator: a connection in memory that can reach nothing.
 *
 * Statements may be SELECT without tables, and call the functions that are named when it is opened.
 * What they take is bounded: by SQLite's limits in bytes and depth, and by steps of its machine.
 *
 * Refuses: tables, files, PRAGMA, ATTACH, recursion, and every function that is not named.
 */
#ifndef BASE_SQL_H
#define BASE_SQL_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

/* A function of SQLite's own has no `call`. */
struct sql_function {
	struct str name;
	int arguments;
	void (*call)(struct sqlite3_context *c, int count, struct sqlite3_value **values);
};

struct sql {
	struct sqlite3 *db;
	const struct sql_function *functions; /* a missing name ends them */
	bool was_refused;
	int64_t steps_left;
};

/* `arg` is what sqlite3_user_data gives to the functions.  The struct must stay where it is. */
bool sql_open(struct sql *s, const struct sql_function *functions, void *arg, struct diag *err);
void sql_close(struct sql *s); /* statements first; fine when it was never opened */

/* A mistake, and where it stands in the text. */
struct sql_mistake {
	ptrdiff_t at, width; /* bytes */
	struct str text;
};

/* One expression, as a statement whose one column is its value; NULL with a mistake. */
struct sqlite3_stmt *sql_expression(
	struct sql *s, struct str text, struct arena *keep, struct sql_mistake *mistake);
/* To its row, within the budget of one evaluation; false when there is none. */
bool sql_compute(struct sql *s, struct sqlite3_stmt *statement);

#endif
