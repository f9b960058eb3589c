/*
 * Rows of an untrusted database: read from bytes in memory, by table and columns.
 *
 * The bytes are given to SQLite as they are mapped: no file is opened beside them, no journal is
 * played back, nothing is locked or written.  Only plain columns of plain tables are read: views,
 * triggers, virtual tables and computed columns are not there.  What a row costs is ours, so all
 * reading together has one budget of VM steps, and a tree of pages that points at itself ends.
 *
 * Errors are sticky: after a database said no, every table is empty, and nsys_db_end tells why.
 *
 * Private to profile/.
 */
#ifndef PROFILE_NSYS_DB_H
#define PROFILE_NSYS_DB_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

/* Columns of one question; the widest asks for nine. */
enum { NSYS_COLUMNS = 12 };

struct nsys_db;

/* *ret is to be closed in either case.  The bytes must outlive it. */
bool nsys_db_open(struct str bytes, struct arena *keep, struct nsys_db **ret, struct diag *err);
bool nsys_db_has(const struct nsys_db *db, const char *table);
bool nsys_db_has_column(const struct nsys_db *db, const char *table, const char *column);
/* What a row says cannot be; `fmt` goes on from "TABLE: ".  The first one is kept. */
void nsys_db_doubt(struct nsys_db *db, const char *table, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool nsys_db_end(const struct nsys_db *db, struct diag *err);
void nsys_db_close(struct nsys_db *db);

/* One table being read.  A table or a column that is not there has no rows, or NULLs. */
struct nsys_rows {
	struct nsys_db *db;
	const char *table;
	struct sqlite3_stmt *stmt;
	int8_t watched[NSYS_COLUMNS]; /* columns without which a row says nothing */
	int watched_count;
};

/* The names of columns, at most NSYS_COLUMNS, end with NULL; rows where one of the first `need` is
 * NULL are left out. */
struct nsys_rows nsys_rows_open(
	struct nsys_db *db, const char *table, int need, const char *const *columns);
/* False at the end, after which the rows are closed. */
bool nsys_rows_next(struct nsys_rows *r);
bool nsys_is_null(const struct nsys_rows *r, int column);
/* SQLite holds anything in any column. */
bool nsys_is_number(const struct nsys_rows *r, int column);
int64_t nsys_int(const struct nsys_rows *r, int column); /* 0 for NULL and text */
int64_t nsys_id(const struct nsys_rows *r, int column);	 /* in which text is doubted */
double nsys_real(const struct nsys_rows *r, int column); /* NaN for NULL */
/* Good until the next row; missing for NULL. */
struct str nsys_text(const struct nsys_rows *r, int column);

#endif
