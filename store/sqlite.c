/* Facts in SQLite.  See sqlite.h. */
#include "store/sqlite.h"

#include <assert.h>
#include <math.h>

#include "base/sql.h"
#include "base/stats.h"

/* ---- the connection -------------------------------------------------------------------------- */

/* What to do, by SQLite's primary result code. */
static const struct {
	int code;
	const char *says;
} sayings[] = {
	{ SQLITE_NOTADB, "is no SQLite database; name a store, or a file that does not exist yet" },
	{ SQLITE_CORRUPT, "is damaged; make it again from profiles or from `rooflint facts`" },
	{ SQLITE_READONLY, "cannot be written; check its rights and its directory's" },
	{ SQLITE_CANTOPEN, "cannot be opened; check that its directory exists and may be written" },
	{ SQLITE_PERM, "cannot be opened; check its rights" },
	{ SQLITE_BUSY, "was kept locked by another program for a minute; try again later" },
	{ SQLITE_FULL, "cannot grow: the disk is full" },
};

bool facts_db_fail(const struct facts_db *d, struct diag *err)
{
	int code = sqlite3_errcode(d->db) & 0xff;
	for (ptrdiff_t i = 0; i < COUNT_OF(sayings); i++)
		if (sayings[i].code == code)
			return diag_set(err, DIAG_STORE, "store '%.*s' %s", STR_ARG(d->name),
				sayings[i].says);
	return diag_set(err, DIAG_STORE, "store '%.*s' cannot be used: %s", STR_ARG(d->name),
		sqlite3_errmsg(d->db));
}

bool facts_db_execute(struct facts_db *d, const char *sql, struct diag *err)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK || facts_db_fail(d, err);
}

bool facts_db_guard(struct facts_db *d, struct diag *err)
{
	static const struct sql_limit limits[] = { { SQLITE_LIMIT_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_ATTACHED, 0 } };
	enum { BUSY_MS = 60000 }; /* a writer holds the lock for the rows of one run */
	if (sql_harden(d->db, limits, COUNT_OF(limits)) != SQLITE_OK)
		return facts_db_fail(d, err);
	sqlite3_soft_heap_limit64(FACTS_HEAP_BYTES);
	/* It reads the file: a locked one keeps 2 MiB, and others fail where it matters. */
	sqlite3_exec(d->db, "PRAGMA cache_size = -1024", NULL, NULL, NULL);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	return true;
}

bool facts_db_number(struct facts_db *d, const char *sql, int64_t *ret, struct diag *err)
{
	sqlite3_stmt *stmt;
	if (!facts_db_statement(d, sql, NULL, &stmt, err))
		return false;
	bool ok = sqlite3_step(stmt) == SQLITE_ROW;
	*ret = ok ? sqlite3_column_int64(stmt, 0) : 0;
	if (!ok)
		facts_db_fail(d, err);
	sqlite3_finalize(stmt);
	return ok;
}

void facts_db_close(void *db)
{
	struct facts_db *d = db;
	for (int i = 0; i < FACT_RECORDS; i++)
		sqlite3_finalize(d->add[i]);
	sqlite3_finalize(d->add_kept);
	sqlite3_close(d->db);
	arena_free(&d->scratch);
	*d = (struct facts_db){ 0 };
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool make_table(struct facts_db *d, enum fact_record record, struct diag *err)
{
	const struct fact_form *form = &fact_forms[record];
	struct out *o = out_memory(d->keep);
	out_fmt(o, "CREATE TABLE IF NOT EXISTS %.*s (%s", STR_ARG(form->table.name),
		record == FACT_RUN ? "id INTEGER PRIMARY KEY" : "run_id INTEGER NOT NULL");
	for (ptrdiff_t i = 0; i < form->table.column_count; i++)
		out_fmt(o, ", %.*s %s", STR_ARG(form->table.columns[i].name),
			form->table.columns[i].type == COLUMN_TEXT ? "TEXT" : "REAL");
	for (ptrdiff_t i = 0; i < form->extra_count; i++)
		out_fmt(o, ", %.*s %s", STR_ARG(form->extras[i].name),
			form->extras[i].is_text ? "TEXT" : "INTEGER");
	out_z(o, ")");
	return facts_db_execute(d, arena_z(d->keep, out_text(o)), err);
}

bool facts_db_make(struct facts_db *d, struct diag *err)
{
	bool ok = true;
	for (enum fact_record i = 0; ok && i < FACT_RECORDS; i++)
		ok = make_table(d, i, err);
	return ok &&
	       facts_db_execute(d,
		       "CREATE UNIQUE INDEX IF NOT EXISTS runs_hash ON runs (hash);"
		       "CREATE INDEX IF NOT EXISTS runs_history ON runs (captured_ns, workload, "
		       "chip, "
		       "chips, global_batch, tokens_per_step, outcome, step_ns, platform, "
		       "share_e12, "
		       "lo_e12, hi_e12);"
		       "CREATE INDEX IF NOT EXISTS verdicts_run ON verdicts (run_id);"
		       "CREATE INDEX IF NOT EXISTS machines_run ON machines (run_id);"
		       "CREATE TABLE IF NOT EXISTS kept (hash TEXT PRIMARY KEY, bytes BLOB)",
		       err);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The words of ClickHouse's that questions use. */
static void int_div(sqlite3_context *c, int count, sqlite3_value **values)
{
	int64_t by = sqlite3_value_int64(values[1]);
	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL || !by)
		sqlite3_result_null(c);
	else
		sqlite3_result_int64(c, sqlite3_value_int64(values[0]) / by);
}

/* The values of one median: SQLite gives them room, and we what they point at. */
struct median {
	int64_t *values;
	ptrdiff_t count, cap;
};

static void median_step(sqlite3_context *c, int count, sqlite3_value **values)
{
	struct median *m = sqlite3_aggregate_context(c, sizeof(*m));
	(void)count;
	if (!m || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	if (m->count == m->cap) {
		ptrdiff_t cap = m->cap ? 2 * m->cap : 8;
		int64_t *larger =
			sqlite3_realloc64(m->values, (sqlite3_uint64)cap * sizeof(*larger));
		if (!larger) {
			sqlite3_result_error_nomem(c);
			return;
		}
		m->values = larger;
		m->cap = cap;
	}
	m->values[m->count++] = sqlite3_value_int64(values[0]);
}

/* The lower one of two in the middle, so that it is one that was measured. */
static void median_end(sqlite3_context *c)
{
	struct median *m = sqlite3_aggregate_context(c, 0);
	if (!m || !m->count)
		return;
	sort_integers(m->values, m->count);
	sqlite3_result_int64(c, m->values[(m->count - 1) / 2]);
	sqlite3_free(m->values);
}

static bool add_functions(struct facts_db *d, struct diag *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	return (sqlite3_create_function(d->db, "intDiv", 2, flags, NULL, int_div, NULL, NULL) ==
			       SQLITE_OK &&
		       sqlite3_create_function(d->db, "medianExactLow", 1, flags, NULL, NULL,
			       median_step, median_end) == SQLITE_OK) ||
	       facts_db_fail(d, err);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* A run's id is its row's number, which SQLite makes. */
static struct str insert_sql(struct facts_db *d, enum fact_record record)
{
	const struct fact_form *form = &fact_forms[record];
	struct out *o = out_memory(d->keep);
	out_fmt(o, "INSERT INTO %.*s (%s", STR_ARG(form->table.name),
		record == FACT_RUN ? "id" : "run_id");
	for (ptrdiff_t i = 0; i < form->table.column_count; i++)
		out_fmt(o, ", %.*s", STR_ARG(form->table.columns[i].name));
	for (ptrdiff_t i = 0; i < form->extra_count; i++)
		out_fmt(o, ", %.*s", STR_ARG(form->extras[i].name));
	out_z(o, ") VALUES (?");
	for (ptrdiff_t i = 0; i < form->table.column_count + form->extra_count; i++)
		out_z(o, ", ?");
	out_z(o, record == FACT_RUN ? ") ON CONFLICT (hash) DO NOTHING" : ")");
	return out_text(o);
}

bool facts_db_statement(struct facts_db *d, const char *sql, const char **rest, sqlite3_stmt **ret,
	struct diag *err)
{
	return sqlite3_prepare_v2(d->db, sql, -1, ret, rest) == SQLITE_OK || facts_db_fail(d, err);
}

static bool prepare(struct facts_db *d, struct str sql, sqlite3_stmt **ret, struct diag *err)
{
	return facts_db_statement(d, arena_z(d->keep, sql), NULL, ret, err);
}

bool facts_db_prepare(struct facts_db *d, struct diag *err)
{
	bool ok = true;
	d->scratch = arena_new(ARENA_SCRATCH_BYTES);
	for (enum fact_record i = 0; ok && i < FACT_RECORDS; i++)
		ok = prepare(d, insert_sql(d, i), &d->add[i], err);
	return ok && add_functions(d, err) &&
	       prepare(d, STR("INSERT OR IGNORE INTO kept (hash, bytes) VALUES (?, ?)"),
		       &d->add_kept, err);
}

bool facts_db_open_private(struct facts_db *d, struct diag *err)
{
	if (sqlite3_open_v2("", &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return facts_db_fail(d, err);
	return facts_db_guard(d, err) &&
	       facts_db_execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err);
}

bool facts_db_open_temporary(struct facts_db *d, struct arena *keep, struct diag *err)
{
	*d = (struct facts_db){ .name = STR("facts of this audit"), .keep = keep };
	return facts_db_open_private(d, err) && facts_db_make(d, err) && facts_db_prepare(d, err);
}

/* ---- append ---------------------------------------------------------------------------------- */

static void bind_cell(sqlite3_stmt *stmt, int at, const struct column *c, const void *row)
{
	if (c->type == COLUMN_TEXT)
		sql_bind_text(stmt, at, cell_text(c, row));
	else
		sqlite3_bind_double(
			stmt, at, isfinite(cell_real(c, row)) ? cell_real(c, row) : NAN);
}

static void bind_extra(
	sqlite3_stmt *stmt, int at, const struct fact_extra *extra, const union fact_value *value)
{
	if (extra->is_text)
		sql_bind_text(stmt, at, value->text);
	else if (value->number == FACT_NONE)
		sqlite3_bind_null(stmt, at);
	else
		sqlite3_bind_int64(stmt, at, value->number);
}

bool facts_db_done(struct facts_db *d, sqlite3_stmt *stmt, struct diag *err)
{
	bool ok = sqlite3_step(stmt) == SQLITE_DONE || facts_db_fail(d, err);
	sqlite3_reset(stmt);
	return ok;
}

/* `id`: of its run; of the run itself 0. */
static bool append_row(struct facts_db *d, int64_t id, const struct run_facts *f,
	enum fact_record record, ptrdiff_t row, struct diag *err)
{
	struct arena scratch = *d->keep; /* for what is bound until the statement is over */
	const struct fact_form *form = &fact_forms[record];
	sqlite3_stmt *stmt = d->add[record];
	union fact_value extras[FACT_EXTRAS_MAX];
	int at = 1;
	if (id)
		sqlite3_bind_int64(stmt, at, id);
	for (ptrdiff_t i = 0; i < form->table.column_count; i++)
		bind_cell(stmt, ++at, &form->table.columns[i], fact_row(f, record, row));
	fact_extras(f, record, row, &scratch, extras);
	for (ptrdiff_t i = 0; i < form->extra_count; i++)
		bind_extra(stmt, ++at, &form->extras[i], &extras[i]);
	return facts_db_done(d, stmt, err);
}

static bool append_rows(struct facts_db *d, const struct run_facts *f, struct diag *err)
{
	if (!append_row(d, 0, f, FACT_RUN, 0, err))
		return false;
	if (!sqlite3_changes(d->db))
		return true; /* it was there, with its parts */
	int64_t id = sqlite3_last_insert_rowid(d->db);
	for (enum fact_record k = FACT_RUN + 1; k < FACT_RECORDS; k++)
		for (ptrdiff_t i = 0; i < fact_row_count(f, k); i++)
			if (!append_row(d, id, f, k, i, err))
				return false;
	return true;
}

static bool keep_bytes(
	struct facts_db *d, const struct run_facts *f, struct str kept, struct diag *err)
{
	if (!kept.p)
		return true;
	sql_bind_text(d->add_kept, 1, f->hash);
	sqlite3_bind_blob(d->add_kept, 2, kept.p, (int)kept.len, SQLITE_STATIC);
	return facts_db_done(d, d->add_kept, err);
}

bool facts_db_append(void *db, const struct run_facts *f, struct str kept, struct diag *err)
{
	struct facts_db *d = db;
	if (!facts_db_execute(d, "BEGIN IMMEDIATE", err))
		return false;
	if (append_rows(d, f, err) && keep_bytes(d, f, kept, err) &&
		facts_db_execute(d, "COMMIT", err))
		return true;
	sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

struct str facts_db_text(sqlite3_stmt *stmt, int at, struct arena *keep)
{
	const char *p = (const char *)sqlite3_column_text(stmt, at);
	return p ? arena_str(keep, (struct str){ p, sqlite3_column_bytes(stmt, at) }) : MISSING;
}

/* ---- ask ------------------------------------------------------------------------------------- */

static void put_quoted(struct out *o, struct str text)
{
	out_char(o, '\'');
	for (ptrdiff_t i = 0; i < text.len; i++)
		out_fmt(o, "%s%c", text.p[i] == '\'' ? "'" : "", text.p[i]);
	out_char(o, '\'');
}

static void put_part(struct out *o, const struct table_def *part)
{
	out_fmt(o, " JOIN %.*s AS v ON v.run_id = r.id", STR_ARG(part->name));
}

/* SQLite's own text of a real has 15 digits. */
static struct str read_cell(sqlite3_stmt *stmt, int at, struct arena *keep)
{
	if (sqlite3_column_type(stmt, at) == SQLITE_FLOAT)
		return double_text(keep, sqlite3_column_double(stmt, at));
	const char *p = (const char *)sqlite3_column_text(stmt, at);
	return (struct str){ p, p ? sqlite3_column_bytes(stmt, at) : 0 };
}

bool facts_db_ask(
	void *db, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	static const struct dialect dialect = { STR_INIT("runs"), put_part, STR_INIT("v.rowid"),
		STR_INIT("EXISTS (SELECT 1 FROM kept AS k WHERE k.hash = r.hash)"),
		STR_INIT("(SELECT k.bytes FROM kept AS k WHERE k.hash = r.hash)"), put_quoted };
	struct facts_db *d = db;
	struct str cells[QUESTION_MAX_CELLS];
	sqlite3_stmt *stmt;
	bool ok = true;
	int code = SQLITE_DONE;
	arena_clear(&d->scratch);
	if (!facts_db_statement(d, question_text(q, &dialect, &d->scratch).p, NULL, &stmt, err))
		return false;
	assert(sqlite3_column_count(stmt) == q->cells);
	arena_clear(&d->scratch);
	while (ok && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct arena row = d->scratch; /* each row has its place */
		for (int i = 0; i < q->cells; i++)
			cells[i] = read_cell(stmt, i, &row);
		ok = take(arg, cells, err);
	}
	ok = ok && (code == SQLITE_DONE || facts_db_fail(d, err));
	sqlite3_finalize(stmt);
	sqlite3_db_release_memory(d->db); /* its pages are not read again */
	return ok;
}
