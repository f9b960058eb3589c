/*
 * Facts in SQLite: tables made from the columns of facts.h.  Private to store/.
 *
 *     runs      id, columns and extras of its fact_form; hash is unique
 *     verdicts, machines
 *               run_id, columns and extras of theirs
 *
 *     kept      hash of a run, and bytes beside its facts
 *
 * The same tables hold a store on disk and, in memory, what questions are asked of.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>

#include "store/store.h"

/* Grows when a table changes or a question needs another index; a file of another is refused. */
#define FACTS_SCHEMA 3

/*
 * What SQLite may hold in this process before its caches give pages back: a question has up to a
 * dozen.  Its sorts are as large as the cache of a connection, which is therefore 1 MiB.
 */
#define FACTS_HEAP_BYTES (4 << 20)

struct facts_db {
	sqlite3 *db;
	struct str name; /* for messages */
	struct arena *keep;
	int64_t frozen_bytes, frozen_ns; /* of a file that is read without locks; else 0 */
	struct arena scratch;		 /* a row's texts while it is handed out */
	sqlite3_stmt *add[FACT_RECORDS], *add_kept;
};

/* What SQLite said last, in words for the user of the file.  Always false. */
bool facts_db_fail(const struct facts_db *d, struct diag *err);
/* The first statement of a text; *rest (NULL: not wanted) is what stands behind it. */
bool facts_db_statement(struct facts_db *d, const char *sql, const char **rest, sqlite3_stmt **ret,
	struct diag *err);
/* Limits and settings for a file that anybody may have written. */
bool facts_db_guard(struct facts_db *d, struct diag *err);
bool facts_db_execute(struct facts_db *d, const char *sql, struct diag *err);
/* The first cell of a statement without parameters. */
bool facts_db_number(struct facts_db *d, const char *sql, int64_t *ret, struct diag *err);
/* Runs a statement that gives no rows; it can be bound and run again. */
bool facts_db_done(struct facts_db *d, sqlite3_stmt *stmt, struct diag *err);
/* Tables and indexes. */
bool facts_db_make(struct facts_db *d, struct diag *err);
/* Statements for append, and functions for questions, after the tables are there. */
bool facts_db_prepare(struct facts_db *d, struct diag *err);
void facts_db_close(void *db);
/* One of this process, which lies on a private file when it is large; the second has the tables. */
bool facts_db_open_private(struct facts_db *d, struct diag *err);
bool facts_db_open_temporary(struct facts_db *d, struct arena *keep, struct diag *err);

/* The verbs of store.h, as kind.h calls them: `db` is a struct facts_db. */
bool facts_db_append(void *db, const struct run_facts *f, struct str kept, struct diag *err);
bool facts_db_ask(
	void *db, const struct question *q, answer_row_fn *take, void *arg, struct diag *err);

/* A result cell from 0 on; NULL is missing. */
struct str facts_db_text(sqlite3_stmt *stmt, int at, struct arena *keep);

#endif
