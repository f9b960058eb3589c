/*
 * SQLite, held at arm's length: what every connection of ours is, may and costs.
 *
 * Options that a hostile file or expression must not find otherwise, limits that the caller names
 * with their reasons, an authorizer that allows reading and nothing else, and a budget of
 * virtual-machine steps, so that what is answered never depends on the machine's speed.
 *
 * Refuses: knowing what is read, and what a text of SQL is for.
 */
#ifndef BASE_SQL_H
#define BASE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* Virtual-machine steps between two looks at the budget. */
enum { SQL_STEPS_PER_LOOK = 4096 };

struct sql_limit {
	int limit, value; /* SQLITE_LIMIT_LENGTH ... */
};

/* Which functions a statement may call (sql_functions.h). */
enum sql_calls { SQL_CALLS_NONE, SQL_CALLS_RULES, SQL_CALLS_ALL };

/* A function that one connection alone has; one of SQLite's own has no `call`. */
struct sql_own_function {
	struct str name;
	int arguments;	  /* -1: any number */
	const char *form; /* how it is called; NULL: as in SQL */
	void (*call)(sqlite3_context *context, int count, sqlite3_value **args);
	bool is_text; /* what it comes to */
};
/* The one of that name, in any case; NULL when there is none, or no list. */
const struct sql_own_function *sql_own_find(const struct sql_own_function *own, struct str name);

struct sql_connection {
	sqlite3 *db;
	int64_t steps_left, all_left; /* of the statement, and of all of them */
	int step_cost;		      /* what a step counts */
	enum sql_calls calls;
	/* Whether a column may be read; NULL: all may. */
	bool (*may_read)(void *arg, const char *table, const char *column);
	void *arg;
	const struct sql_own_function *own; /* may be called, too; a missing name ends them */
	void *own_arg;			    /* what sqlite3_user_data gives to them */
	bool is_declaring;   /* a virtual table states its columns, which looks like a write */
	bool was_asked;	     /* the authorizer: the grammar is right */
	bool was_refused;    /* it said no */
	const char *purpose; /* "reading the tables of the run": all that is allowed, for people */
};

/* The options, and these limits, on any connection.  SQLite's code. */
int sql_harden(sqlite3 *db, const struct sql_limit *limits, ptrdiff_t count);
/*
 * A private connection in memory, hardened, with the functions that its calls name, and a budget
 * that the caller fills.  sql_guard: from now on it only reads.
 */
int sql_open(struct sql_connection *c, const struct sql_limit *limits, ptrdiff_t count);
void sql_guard(struct sql_connection *c);
void sql_close(struct sql_connection *c); /* with its statements */
/* False when the budget is spent. */
bool sql_spend(struct sql_connection *c, int64_t steps);

/* A result as text, until the next step; missing for NULL, and when memory for it is refused. */
struct str sql_text(sqlite3_stmt *stmt, int column);
/* A result as a number; NaN for NULL and for what is none. */
double sql_number(sqlite3_stmt *stmt, int column);
/* A text that outlives the statement's run; NULL when it is missing.  SQLite's code.  (A number
 * that is NaN is NULL for sqlite3_bind_double.) */
int sql_bind_text(sqlite3_stmt *stmt, int at, struct str text);

/* A mistake in a text of SQL, and where it stands there. */
struct sql_fault {
	enum diag_id id;
	ptrdiff_t at, width; /* bytes; at is -1 when no place is known */
	struct str text;
	bool is_of_names; /* SQLite's, of a text whose grammar is right */
};
/* Fills `fault` and returns false, so that `return sql_fail(...)` reads well. */
bool sql_fail(struct sql_fault *fault, struct arena *keep, enum diag_id id, ptrdiff_t at,
	ptrdiff_t width, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* One statement, reading only; NULL and a fault. */
sqlite3_stmt *sql_prepare(
	struct sql_connection *c, struct str sql, struct arena *keep, struct sql_fault *fault);
/* A fault in `before` bytes, a text of `len` and a bracket as one in the text; -1: ahead of it. */
void sql_fault_within(struct sql_fault *fault, ptrdiff_t before, ptrdiff_t len);
/* One expression, as a statement whose one column is its value; NULL and a fault. */
sqlite3_stmt *sql_expression(
	struct sql_connection *c, struct str text, struct arena *keep, struct sql_fault *fault);

#endif
