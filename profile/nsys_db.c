/* SQLite, held at arm's length.  See nsys_db.h. */
#include "profile/nsys_db.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "base/sql.h"

/*
 * A row takes at least four bytes of a page, and some twenty steps to read: five a byte, and a few
 * more for the schema, which is read once for every table.
 */
#define STEPS_PER_BYTE	 8
#define STEPS_OF_ITS_OWN 2000000
/* The largest real export has 90 tables with 500 columns. */
enum { COLUMNS_MAX = 8192 };

struct nsys_column {
	struct str table, name; /* no name: the table is a view, and has no rows of its own */
	bool is_whole;		/* declared NOT NULL, and so it is in all that Nsight writes */
};

struct nsys_db {
	struct sql_connection sql;
	struct arena *keep;
	struct nsys_column *columns;
	ptrdiff_t column_count, column_cap;
	bool failed;
	struct diag why;
};

static const struct sql_limit limits[] = {
	{ SQLITE_LIMIT_LENGTH, 1 << 20 },     /* the longest names of kernels have some kilobytes */
	{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, /* of the file's own CREATE TABLEs as well */
	{ SQLITE_LIMIT_COLUMN, 200 },	      /* the widest table has 43 */
	{ SQLITE_LIMIT_EXPR_DEPTH, 20 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 2 },
	{ SQLITE_LIMIT_VDBE_OP, 10000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 4 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 8 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

/* Tables are read once from end to end, so the bytes are the cache, and few pages are copied. */
static const char pragmas[] = "PRAGMA cell_size_check=ON; PRAGMA cache_size=64";

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

/* ---- what goes wrong ------------------------------------------------------------------------- */

/* What it means, by SQLite's primary result code. */
static const struct {
	int code;
	enum diag_id id;
	const char *says;
} sayings[] = {
	{ SQLITE_INTERRUPT, DIAG_LIMIT,
		"reading it takes more steps than its bytes can need, so its pages point at "
		"each other; export it again" },
	{ SQLITE_TOOBIG, DIAG_LIMIT, "it holds a text of more than 1 MiB" },
	{ SQLITE_NOMEM, DIAG_LIMIT, "SQLite is out of memory" },
};

static bool fail_with(struct nsys_db *db, int code)
{
	if (db->failed)
		return false;
	db->failed = true;
	for (size_t i = 0; i < COUNT(sayings); i++)
		if (sayings[i].code == (code & 0xff))
			return diag_set(&db->why, sayings[i].id, "%s", sayings[i].says);
	return diag_set(&db->why, DIAG_NSYS,
		"the database is damaged (SQLite: %s); copy or export it again",
		sqlite3_errmsg(db->sql.db));
}

void nsys_db_doubt(struct nsys_db *db, const char *table, const char *fmt, ...)
{
	struct arena scratch = *db->keep;
	va_list args;
	if (db->failed)
		return;
	db->failed = true;
	va_start(args, fmt);
	struct str what = arena_vfmt(&scratch, fmt, args);
	va_end(args);
	diag_set(&db->why, DIAG_NSYS, "%s: %.*s; export it again", table, STR_ARG(what));
}

bool nsys_db_end(const struct nsys_db *db, struct diag *err)
{
	if (db->failed)
		*err = db->why;
	return !db->failed;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Where things stand in the first hundred bytes, big-endian: https://sqlite.org/fileformat.html */
enum {
	AT_PAGE_BYTES = 16,
	AT_READ_VERSION = 19,
	AT_CHANGES = 24,
	AT_PAGES = 28,
	AT_VALID_FOR = 92,
	HEADER_BYTES = 100,
};
enum { VERSION_WAL = 2 };

static int64_t big_endian(struct str bytes, int at, int count)
{
	int64_t n = 0;
	for (int i = 0; i < count; i++)
		n = n << 8 | (unsigned char)bytes.p[at + i];
	return n;
}

static bool header_check(struct str bytes, struct diag *err)
{
	if (bytes.len < HEADER_BYTES)
		return diag_set(err, DIAG_NSYS,
			"%td bytes, and the header of a database has %d; the file was cut short: "
			"copy or export it again",
			bytes.len, HEADER_BYTES);
	if (bytes.p[AT_READ_VERSION] == VERSION_WAL)
		return diag_set(err, DIAG_NSYS,
			"the database keeps a part of itself in a second file (WAL); have it "
			"written into one with `sqlite3 FILE 'PRAGMA journal_mode=DELETE'`");
	int64_t page = big_endian(bytes, AT_PAGE_BYTES, 2);
	int64_t pages = big_endian(bytes, AT_PAGES, 4);
	bool told = big_endian(bytes, AT_CHANGES, 4) == big_endian(bytes, AT_VALID_FOR, 4);
	page = page == 1 ? 65536 : page;
	if (told && pages * page > bytes.len)
		return diag_set(err, DIAG_NSYS,
			"%td bytes, and its header says %lld; the file was cut short: copy or "
			"export it again",
			bytes.len, (long long)(pages * page));
	return true;
}

/* ---- the connection -------------------------------------------------------------------------- */

static int open_bytes(struct nsys_db *db, struct str bytes)
{
	int64_t steps = bytes.len * STEPS_PER_BYTE + STEPS_OF_ITS_OWN;
	db->sql = (struct sql_connection){ .steps_left = steps, .all_left = steps };
	int code = sql_open(&db->sql, limits, COUNT(limits));
	/* Read-only, so the bytes stay as they are, although the type does not say so. */
	if (code == SQLITE_OK)
		code = sqlite3_deserialize(db->sql.db, "main", (unsigned char *)(uintptr_t)bytes.p,
			bytes.len, bytes.len, SQLITE_DESERIALIZE_READONLY);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db->sql.db, pragmas, NULL, NULL, NULL);
	return code;
}

/* Plain columns of the tables that are stored in pages; rootpage is 0 of virtual tables. */
static const char schema_sql[] =
	"SELECT t.name, c.name, c.\"notnull\" FROM sqlite_schema t, pragma_table_xinfo(t.name) c "
	"WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden = 0 "
	"UNION ALL SELECT name, '', 0 FROM sqlite_schema WHERE type = 'view'";

static bool schema_read(struct nsys_db *db)
{
	sqlite3_stmt *stmt;
	int code = sqlite3_prepare_v2(db->sql.db, schema_sql, -1, &stmt, NULL);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(stmt);
		if (code != SQLITE_ROW)
			break;
		if (db->column_count >= COLUMNS_MAX) {
			nsys_db_doubt(db, "sqlite_schema", "more than %d columns", COLUMNS_MAX);
			break;
		}
		struct nsys_column *c =
			arena_push(db->keep, db->columns, db->column_count, db->column_cap);
		c->table = arena_str(db->keep, sql_text(stmt, 0));
		c->name = arena_str(db->keep, sql_text(stmt, 1));
		c->is_whole = sqlite3_column_int(stmt, 2) != 0;
	}
	bool ok = code == SQLITE_DONE || code == SQLITE_ROW || fail_with(db, code);
	sqlite3_finalize(stmt);
	return ok;
}

bool nsys_db_open(struct str bytes, struct arena *keep, struct nsys_db **ret, struct diag *err)
{
	struct nsys_db *db = *ret = arena_make(keep, struct nsys_db, 1);
	db->keep = keep;
	if (!header_check(bytes, err))
		return false;
	int code = open_bytes(db, bytes);
	if (code != SQLITE_OK)
		fail_with(db, code);
	else if (schema_read(db)) /* then nothing but columns of tables is read */
		sql_guard(&db->sql);
	return nsys_db_end(db, err);
}

void nsys_db_close(struct nsys_db *db)
{
	sql_close(&db->sql);
}

bool nsys_db_has(const struct nsys_db *db, const char *table)
{
	for (ptrdiff_t i = 0; i < db->column_count; i++)
		if (str_eq(db->columns[i].table, str_from(table)))
			return true;
	return false;
}

/* NULL when it is not there. */
static const struct nsys_column *column_find(
	const struct nsys_db *db, const char *table, const char *column)
{
	for (ptrdiff_t i = 0; i < db->column_count; i++)
		if (str_eq(db->columns[i].table, str_from(table)) &&
			str_eq(db->columns[i].name, str_from(column)))
			return &db->columns[i];
	return NULL;
}

bool nsys_db_has_column(const struct nsys_db *db, const char *table, const char *column)
{
	return column_find(db, table, column) != NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Names are our own; "start" and "end" are words of SQL. */
static struct str question(const struct nsys_db *db, const char *table, const char *const *columns,
	struct arena *scratch)
{
	struct str sql = STR("SELECT ");
	for (int i = 0; columns[i]; i++) {
		bool here = nsys_db_has_column(db, table, columns[i]);
		const char *quote = here ? "\"" : "";
		sql = arena_fmt(scratch, "%.*s%s%s%s%s", STR_ARG(sql), i ? ", " : "", quote,
			here ? columns[i] : "NULL", quote);
	}
	return arena_fmt(scratch, "%.*s FROM \"%s\"", STR_ARG(sql), table);
}

struct nsys_rows nsys_rows_open(
	struct nsys_db *db, const char *table, int need, const char *const *columns)
{
	struct nsys_rows r = { .db = db, .table = table };
	struct arena scratch = *db->keep;
	int count = 0;
	while (columns[count])
		count++;
	assert(need <= count && count <= NSYS_COLUMNS);
	if (db->failed || !nsys_db_has(db, table))
		return r;
	/* What a view computes is not looked at, and unread it would look like nothing happened. */
	if (nsys_db_has_column(db, table, "")) {
		nsys_db_doubt(db, table, "a view, where a table was expected");
		return r;
	}
	for (int i = 0; i < need; i++) {
		const struct nsys_column *c = column_find(db, table, columns[i]);
		if (!c) {
			nsys_db_doubt(db, table, "it has no column \"%s\"", columns[i]);
			return r;
		}
		if (!c->is_whole)
			r.watched[r.watched_count++] = (int8_t)i;
	}
	struct str sql = question(db, table, columns, &scratch);
	int code = sqlite3_prepare_v2(db->sql.db, sql.p, (int)sql.len, &r.stmt, NULL);
	if (code != SQLITE_OK)
		fail_with(db, code);
	return r;
}

static bool is_whole(const struct nsys_rows *r)
{
	for (int i = 0; i < r->watched_count; i++)
		if (nsys_is_null(r, r->watched[i]))
			return false;
	return true;
}

bool nsys_rows_next(struct nsys_rows *r)
{
	while (r->stmt && !r->db->failed) {
		int code = sqlite3_step(r->stmt);
		if (code != SQLITE_ROW && code != SQLITE_DONE)
			fail_with(r->db, code);
		if (code != SQLITE_ROW)
			break;
		if (is_whole(r))
			return true;
	}
	sqlite3_finalize(r->stmt);
	r->stmt = NULL;
	return false;
}

bool nsys_is_null(const struct nsys_rows *r, int column)
{
	return sqlite3_column_type(r->stmt, column) == SQLITE_NULL;
}

bool nsys_is_number(const struct nsys_rows *r, int column)
{
	return sqlite3_column_type(r->stmt, column) <= SQLITE_FLOAT;
}

int64_t nsys_int(const struct nsys_rows *r, int column)
{
	return sqlite3_column_int64(r->stmt, column);
}

/* Its type is only asked for where it may be text: that costs as much as the number. */
int64_t nsys_id(const struct nsys_rows *r, int column)
{
	int64_t id = nsys_int(r, column);
	if (!id && !nsys_is_number(r, column))
		nsys_db_doubt(r->db, r->table, "a row has text where a number was expected");
	return id;
}

double nsys_real(const struct nsys_rows *r, int column)
{
	return nsys_is_null(r, column) ? NAN : sqlite3_column_double(r->stmt, column);
}

struct str nsys_text(const struct nsys_rows *r, int column)
{
	return sql_text(r->stmt, column);
}
