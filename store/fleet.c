/* Facts in, answers out.  See fleet.h. */
#include "store/fleet.h"

#include <math.h>

#include "store/change.h"
#include "base/embed.h"
#include "store/sqlite.h"
#include "store/usage.h"

struct fleet {
	struct facts_db db;
	struct fleet_file file;
};

/* ---- taking facts ---------------------------------------------------------------------------- */

/*
 * A private file that SQLite opens when its cache is full, and removes.  2 MiB are SQLite's own
 * default; with 4 to 64 of them ten thousand runs, and a hundred thousand, took longer.
 */
static bool open_db(struct facts_db *d, struct diag *err)
{
	if (sqlite3_open_v2("", &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return facts_db_fail(d, err);
	return facts_db_guard(d, err) &&
	       facts_db_execute(d,
		       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		       "PRAGMA cache_size = -1024;"
		       "CREATE TABLE usage (workload TEXT, chip_hours REAL, price REAL);"
		       "CREATE TABLE expected (pattern TEXT, every_days REAL);"
		       "CREATE TABLE snoozed (pattern TEXT, until TEXT, reason TEXT);"
		       "CREATE TABLE levels (workload TEXT, run_id INTEGER, before_s REAL, "
		       "after_s REAL, p_value REAL)",
		       err) &&
	       facts_db_make(d, err) && facts_db_prepare(d, err);
}

struct fleet *fleet_new(struct arena *keep, struct diag *err)
{
	struct fleet *f = arena_make(keep, struct fleet, 1);
	f->db = (struct facts_db){ .name = STR("facts of this audit"), .keep = keep };
	if (open_db(&f->db, err))
		return f;
	facts_db_close(&f->db);
	return NULL;
}

void fleet_free(struct fleet *f)
{
	if (f)
		facts_db_close(&f->db);
}

bool fleet_take(void *fleet, const struct run_facts *facts, struct diag *err)
{
	struct fleet *f = fleet;
	struct run_facts renamed = *facts;
	for (ptrdiff_t i = 0; i < f->file.alias_count; i++)
		if (str_eq(f->file.aliases[i].from, facts->workload))
			renamed.workload = f->file.aliases[i].to;
	return facts_db_append(&f->db, &renamed, err);
}

bool fleet_newest(
	struct fleet *f, struct str until, struct arena *keep, struct str *ret, struct diag *err)
{
	sqlite3_stmt *stmt;
	if (!facts_db_statement(
		    &f->db, "SELECT max(captured) FROM runs WHERE captured <= ?", NULL, &stmt, err))
		return false;
	facts_db_bind(stmt, 1, until);
	bool ok = sqlite3_step(stmt) == SQLITE_ROW || facts_db_fail(&f->db, err);
	*ret = ok ? facts_db_text(stmt, 0, keep) : (struct str){ NULL, 0 };
	sqlite3_finalize(stmt);
	return ok;
}

/* Runs a statement to its end, and is done with it. */
static bool run_statement(struct fleet *f, sqlite3_stmt *stmt, struct diag *err)
{
	bool ok = sqlite3_step(stmt) == SQLITE_DONE || facts_db_fail(&f->db, err);
	sqlite3_finalize(stmt);
	return ok;
}

static bool add_usage(void *arg, const struct usage *u, struct diag *err)
{
	struct fleet *f = arg;
	sqlite3_stmt *stmt;
	if (!facts_db_statement(&f->db, "INSERT INTO usage VALUES (?, ?, ?)", NULL, &stmt, err))
		return false;
	facts_db_bind(stmt, 1, u->workload);
	sqlite3_bind_double(stmt, 2, u->chip_hours);
	if (!isnan(u->price))
		sqlite3_bind_double(stmt, 3, u->price);
	return run_statement(f, stmt, err);
}

bool fleet_usage(struct fleet *f, struct str file, struct str text, struct diag *err)
{
	return usage_read(file, text, add_usage, f, err);
}

bool fleet_expect(struct fleet *f, const struct fleet_file *file, struct diag *err)
{
	const double day_ns = 86400e9;
	sqlite3_stmt *stmt;
	f->file = *file;
	for (ptrdiff_t i = 0; i < file->expected_count; i++) {
		if (!facts_db_statement(
			    &f->db, "INSERT INTO expected VALUES (?, ?)", NULL, &stmt, err))
			return false;
		facts_db_bind(stmt, 1, file->expected[i].workload);
		if (file->expected[i].every_ns)
			sqlite3_bind_double(stmt, 2, (double)file->expected[i].every_ns / day_ns);
		if (!run_statement(f, stmt, err))
			return false;
	}
	for (ptrdiff_t i = 0; i < file->snoozed_count; i++) {
		if (!facts_db_statement(
			    &f->db, "INSERT INTO snoozed VALUES (?, ?, ?)", NULL, &stmt, err))
			return false;
		facts_db_bind(stmt, 1, file->snoozed[i].workload);
		facts_db_bind(stmt, 2, file->snoozed[i].until);
		facts_db_bind(stmt, 3, file->snoozed[i].reason);
		if (!run_statement(f, stmt, err))
			return false;
	}
	return true;
}

/* ---- the tables that questions read ---------------------------------------------------------- */

static bool run_script(struct fleet *f, struct str name, const struct fleet_window *window,
	struct str judge, struct diag *err)
{
	const struct {
		const char *name;
		struct str value;
	} values[] = { { ":from", window->from }, { ":to", window->to },
		{ ":before", window->before }, { ":judge", judge } };
	const char *sql = embed_find(name).p;
	sqlite3_stmt *stmt;
	while (*sql) {
		if (!facts_db_statement(&f->db, sql, &sql, &stmt, err))
			return false;
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			int at = sqlite3_bind_parameter_index(stmt, values[i].name);
			if (at)
				facts_db_bind(stmt, at, values[i].value);
		}
		if (stmt && !run_statement(f, stmt, err))
			return false;
	}
	return true;
}

/* ---- change points --------------------------------------------------------------------------- */

struct series {
	struct str workload;
	double *values;
	int64_t *runs;
	ptrdiff_t count, cap, run_cap;
};

static bool end_series(
	struct fleet *f, const struct series *s, struct arena scratch, struct diag *err)
{
	struct change *changes;
	ptrdiff_t count = change_points(s->values, s->count, &scratch, &changes);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct change *c = &changes[i];
		sqlite3_stmt *stmt;
		if (!facts_db_statement(
			    &f->db, "INSERT INTO levels VALUES (?, ?, ?, ?, ?)", NULL, &stmt, err))
			return false;
		facts_db_bind(stmt, 1, s->workload);
		sqlite3_bind_int64(stmt, 2, s->runs[c->at]);
		sqlite3_bind_double(stmt, 3, c->before);
		sqlite3_bind_double(stmt, 4, c->after);
		sqlite3_bind_double(stmt, 5, c->p_value);
		if (!run_statement(f, stmt, err))
			return false;
	}
	return true;
}

/* Only runs on the same chips as the newest are one history. */
static const char series_sql[] =
	"SELECT u.workload, u.step_time_s, u.id FROM usable AS u "
	"JOIN (SELECT workload, chip, chips, max(captured) FROM usable GROUP BY workload) AS l "
	"ON l.workload = u.workload AND l.chip IS u.chip AND l.chips IS u.chips "
	"ORDER BY u.workload, u.captured, u.hash";

static bool find_changes(struct fleet *f, struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct series s = { 0 };
	sqlite3_stmt *stmt;
	bool ok = facts_db_statement(&f->db, series_sql, NULL, &stmt, err);
	int code = SQLITE_DONE;
	while (ok && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct str workload = { (const char *)sqlite3_column_text(stmt, 0),
			sqlite3_column_bytes(stmt, 0) };
		if (!s.workload.p || !str_eq(s.workload, workload)) {
			ok = end_series(f, &s, scratch, err);
			arena_clear(&scratch);
			s = (struct series){ .workload = arena_str(&scratch, workload) };
		}
		ptrdiff_t count = s.count;
		*arena_push(&scratch, s.values, s.count, s.cap) = sqlite3_column_double(stmt, 1);
		*arena_push(&scratch, s.runs, count, s.run_cap) = sqlite3_column_int64(stmt, 2);
	}
	ok = ok && (code == SQLITE_DONE || facts_db_fail(&f->db, err)) &&
	     end_series(f, &s, scratch, err);
	sqlite3_finalize(stmt);
	arena_free(&scratch);
	return ok;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool answer(struct fleet *f, enum fleet_id id, struct arena *keep, struct fleet_answer *ret,
	struct diag *err)
{
	const struct fleet_question *q = &fleet_questions[id];
	int count = (int)q->column_count, code;
	sqlite3_stmt *stmt;
	*ret = (struct fleet_answer){ .question = q };
	struct str sql = arena_fmt(keep, "SELECT * FROM \"%.*s\" ORDER BY rowid", STR_ARG(q->name));
	if (!facts_db_statement(&f->db, sql.p, NULL, &stmt, err))
		return false;
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (ret->total++ >= q->most_rows)
			continue;
		struct fleet_row *row = arena_push(keep, ret->rows, ret->count, ret->cap);
		row->cells = arena_make(keep, struct fleet_cell, count);
		for (int i = 0; i < count; i++) {
			struct fleet_cell *c = &row->cells[i];
			c->is_null = sqlite3_column_type(stmt, i) == SQLITE_NULL;
			if (q->columns[i].is_text)
				c->text = facts_db_text(stmt, i, keep);
			else
				c->real = c->is_null ? (double)NAN : sqlite3_column_double(stmt, i);
		}
		row->run = facts_db_text(stmt, count, keep);
		row->profile = row->run.p ? facts_db_text(stmt, count + 1, keep) : row->run;
	}
	bool ok = code == SQLITE_DONE || facts_db_fail(&f->db, err);
	sqlite3_finalize(stmt);
	return ok;
}

bool fleet_ask(struct fleet *f, const struct fleet_window *window, struct str judge,
	struct arena *keep, struct fleet_report *ret, struct diag *err)
{
	*ret = (struct fleet_report){ .window = *window };
	if (!run_script(f, STR("store/fleet.sql"), window, judge, err) || !find_changes(f, err) ||
		!run_script(f, STR("store/answers.sql"), window, judge, err))
		return false;
	for (int id = 0; id < FLEET_COUNT; id++)
		if (!answer(f, (enum fleet_id)id, keep, &ret->answers[id], err))
			return false;
	const struct fleet_answer *totals = &ret->answers[FLEET_TOTALS];
	ret->has_usage = totals->count && fleet_cell(totals, 0, STR("billed_workloads"))->real > 0;
	ret->by_hours = totals->count && fleet_cell(totals, 0, STR("by_hours"))->real > 0;
	return true;
}

ptrdiff_t fleet_column(const struct fleet_answer *a, struct str name)
{
	for (ptrdiff_t i = 0; i < a->question->column_count; i++)
		if (str_eq(a->question->columns[i].name, name))
			return i;
	return -1;
}

const struct fleet_cell *fleet_cell(const struct fleet_answer *a, ptrdiff_t row, struct str column)
{
	ptrdiff_t at = fleet_column(a, column);
	return at >= 0 ? &a->rows[row].cells[at] : NULL;
}
