/* Facts in, answers out.  See fleet.h. */
#include "store/fleet.h"

#include <math.h>

#include "store/change.h"
#include "base/embed.h"
#include "base/sql.h"
#include "base/text.h"
#include "base/when.h"
#include "store/sqlite.h"
#include "store/usage.h"

struct fleet {
	struct facts_db db;  /* answers, and what is made of them */
	struct store *facts; /* those that were taken; NULL when there are none */
	struct fleet_file file;
	struct str owner; /* who is asked for; missing: all */
	struct str judge;
	struct fleet_window window;
	struct arena *keep;
};

/* ---- taking facts ---------------------------------------------------------------------------- */

static bool open_db(struct facts_db *d, struct diag *err)
{
	return facts_db_open_private(d, err) &&
	       facts_db_execute(d,
		       "PRAGMA temp.journal_mode = OFF;"
		       "CREATE TABLE usage (workload TEXT, chip_hours REAL, price REAL, "
		       "running_hours REAL);"
		       "CREATE TABLE expected (pattern TEXT, every_ns INTEGER);"
		       "CREATE TABLE budget (owner TEXT, dollars REAL, chip_hours REAL);"
		       "CREATE TABLE route (owner TEXT);"
		       "CREATE TABLE snoozed (pattern TEXT, until TEXT, reason TEXT);"
		       "CREATE TABLE felt (workload TEXT, least REAL);"
		       "CREATE TABLE levels (workload TEXT, ns INTEGER, before_s REAL, "
		       "after_s REAL, p_value REAL)",
		       err);
}

struct fleet *fleet_new(struct arena *keep, struct diag *err)
{
	struct fleet *f = arena_make(keep, struct fleet, 1);
	f->keep = keep;
	f->db = (struct facts_db){ .name = STR("answers of this audit"), .keep = keep };
	if (open_db(&f->db, err))
		return f;
	facts_db_close(&f->db);
	return NULL;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	facts_db_close(&f->db);
	store_close(f->facts);
}

/* The store that is given, else the one of what was taken. */
static struct store *store_of(struct fleet *f, struct store *given, struct diag *err)
{
	if (!given && !f->facts)
		f->facts = store_open_temporary(f->keep, err);
	return given ? given : f->facts;
}

bool fleet_take(void *fleet, const struct run_facts *facts, struct diag *err)
{
	struct fleet *f = fleet;
	struct store *store = store_of(f, NULL, err);
	return store && store_append(store, facts, MISSING, err);
}

/* Runs a statement to its end, and is done with it. */
static bool run_statement(struct fleet *f, sqlite3_stmt *stmt, struct diag *err)
{
	bool ok = facts_db_done(&f->db, stmt, err);
	sqlite3_finalize(stmt);
	return ok;
}

/* A statement that puts so many cells into a table. */
static bool prepare_insert(
	struct fleet *f, struct str table, int cells, sqlite3_stmt **ret, struct diag *err)
{
	struct arena scratch = *f->keep;
	struct out *o = out_memory(&scratch);
	out_fmt(o, "INSERT INTO %.*s VALUES (?", STR_ARG(table));
	for (int i = 1; i < cells; i++)
		out_z(o, ", ?");
	out_z(o, ")");
	return facts_db_statement(&f->db, arena_z(&scratch, out_text(o)), NULL, ret, err);
}

/* A row of texts and, behind them, of numbers; missing and NaN are NULL. */
static bool add_row(struct fleet *f, const char *table, const struct str *texts, int text_count,
	const double *reals, int real_count, struct diag *err)
{
	sqlite3_stmt *stmt;
	if (!prepare_insert(f, str_from(table), text_count + real_count, &stmt, err))
		return false;
	for (int i = 0; i < text_count; i++)
		sql_bind_text(stmt, i + 1, texts[i]);
	for (int i = 0; i < real_count; i++) /* SQLite's own NaN is NULL */
		sqlite3_bind_double(stmt, text_count + i + 1, reals[i]);
	return run_statement(f, stmt, err);
}

static bool add_usage(void *arg, const struct usage *u, struct diag *err)
{
	const double reals[] = { u->chip_hours, u->price, u->running_hours };
	return add_row(arg, "usage", &u->workload, 1, reals, 3, err);
}

bool fleet_usage(struct fleet *f, struct str file, struct str text, struct diag *err)
{
	return usage_read(file, text, add_usage, f, err);
}

bool fleet_expect(struct fleet *f, const struct fleet_file *file, struct diag *err)
{
	bool ok = true;
	f->file = *file;
	for (ptrdiff_t i = 0; ok && i < file->expected_count; i++) {
		const struct fleet_expected *e = &file->expected[i];
		double every_ns = e->every_ns ? (double)e->every_ns : (double)NAN;
		ok = add_row(f, "expected", &e->workload, 1, &every_ns, 1, err);
	}
	for (ptrdiff_t i = 0; ok && i < file->snoozed_count; i++) {
		const struct fleet_snooze *e = &file->snoozed[i];
		const struct str texts[] = { e->workload, e->until, e->reason };
		ok = add_row(f, "snoozed", texts, 3, NULL, 0, err);
	}
	for (ptrdiff_t i = 0; ok && i < file->budget_count; i++) {
		const struct fleet_budget *b = &file->budgets[i];
		const double reals[] = { b->dollars, b->chip_hours };
		ok = add_row(f, "budget", &b->owner, 1, reals, 2, err);
	}
	for (ptrdiff_t i = 0; ok && i < file->route_count; i++)
		ok = add_row(f, "route", &file->routes[i].owner, 1, NULL, 0, err);
	return ok;
}

/* ---- asking a store -------------------------------------------------------------------------- */

/* As questions.sql has them, behind its head and the one that others are made of. */
enum asked {
	ASK_DAYS,
	ASK_ALIKE,
	ASK_SEEN,
	ASK_CLAIMS,
	ASK_HOSTS,
	ASK_FLAWS,
	ASK_LATER,
	ASK_TURNS,
	ASK_SAYINGS,
	ASK_CAPTURES,
	ASK_BROKE,
	ASK_NEWEST
};

/* One audit's asking. */
struct asking {
	struct fleet *fleet;
	struct store *store;
	int64_t from_ns, to_ns, before_ns, begin_ns, end_ns, ago;
	struct str judge;
	struct str judged;	 /* the SQL of what others are made of */
	const int64_t *moments;	 /* a part of those that are looked up */
	const struct str *texts; /* the same, of hashes or names */
	ptrdiff_t count;	 /* of either */
	sqlite3_stmt *insert;
	int cells; /* of a row that is asked for */
	struct arena scratch;
};

static struct str statement_of(ptrdiff_t index)
{
	return question_statement("store/questions.sql", index);
}

static bool insert_row(void *arg, const struct str *cells, struct diag *err)
{
	struct asking *a = arg;
	for (int i = 0; i < a->cells; i++)
		sql_bind_text(a->insert, i + 1, cells[i]);
	return facts_db_done(&a->fleet->db, a->insert, err);
}

static bool put_question(struct asking *a, enum asked id, struct diag *err)
{
	const struct question_value values[] = {
		{ .name = "workload",
			.kind = QUESTION_ALIASES,
			.aliases = a->fleet->file.aliases,
			.count = a->fleet->file.alias_count },
		VALUE_SQL("judged", a->judged),
		VALUE_TEXT("judge", a->judge),
		VALUE_NUMBER("from", a->from_ns),
		VALUE_NUMBER("span", a->to_ns - a->from_ns),
		VALUE_NUMBER("to", a->to_ns),
		/* Only what is held against the window before needs to judge it. */
		VALUE_NUMBER("before", id == ASK_ALIKE ? a->before_ns : a->from_ns),
		VALUE_NUMBER("later", 2 * a->to_ns - a->from_ns),
		VALUE_NUMBER("begin", a->begin_ns),
		VALUE_NUMBER("end", a->end_ns),
		VALUE_NUMBER("ago", a->ago),
		{ .name = "moments",
			.kind = QUESTION_NUMBERS,
			.numbers = a->moments,
			.count = a->count },
		VALUE_TEXTS("hashes", a->texts, a->count),
		VALUE_TEXTS("names", a->texts, a->count),
	};
	const struct question q = { statement_of(3 + 2 * id), values, COUNT_OF(values), a->cells };
	return store_ask(a->store, &q, insert_row, a, err);
}

/* Makes the table that the answer is for; `cells` of them fit into a row. */
static bool begin_answer(struct asking *a, enum asked id, struct diag *err)
{
	struct facts_db *d = &a->fleet->db;
	struct str make = statement_of(2 + 2 * id), word = STR("CREATE TABLE "), name, columns;
	str_cut(str_from_offset(make, str_find(make, word) + word.len), ' ', &name, &columns);
	a->cells = 1;
	for (ptrdiff_t i = 0; i < columns.len; i++)
		a->cells += columns.p[i] == ',';
	if (!facts_db_execute(d, arena_z(&a->scratch, make), err))
		return false;
	return prepare_insert(a->fleet, name, a->cells, &a->insert, err) &&
	       facts_db_execute(d, "BEGIN", err);
}

static void end_answer(struct asking *a)
{
	sqlite3_finalize(a->insert);
	sqlite3_exec(a->fleet->db.db, "COMMIT", NULL, NULL, NULL); /* none may be open */
	a->insert = NULL;
	arena_clear(&a->scratch);
}

static bool ask_once(struct asking *a, enum asked id, struct diag *err)
{
	bool ok = begin_answer(a, id, err) && put_question(a, id, err);
	end_answer(a);
	return ok;
}

/* Window by window, so that a server holds one in its memory, and not a quarter of a year. */
static bool ask_days(struct asking *a, struct diag *err)
{
	int64_t span = a->to_ns - a->from_ns;
	bool ok = begin_answer(a, ASK_DAYS, err);
	for (a->ago = 0; ok && a->ago <= FLEET_HISTORY_WINDOWS; a->ago++) {
		a->end_ns = a->to_ns - a->ago * span;
		a->begin_ns = a->end_ns > span ? a->end_ns - span : 0;
		ok = a->end_ns <= 0 || put_question(a, ASK_DAYS, err);
	}
	end_answer(a);
	return ok;
}

/* As many at once as a query has room for. */
static bool look_up(struct asking *a, enum asked id, const char *sql, struct diag *err)
{
	struct facts_db *d = &a->fleet->db;
	int64_t *moments = arena_make(d->keep, int64_t, QUESTION_MAX_LIST);
	struct str *found = arena_make(d->keep, struct str, QUESTION_MAX_LIST);
	struct arena texts = arena_new(ARENA_SCRATCH_BYTES);
	sqlite3_stmt *stmt = NULL;
	int code = SQLITE_ROW;
	bool ok = begin_answer(a, id, err) && facts_db_statement(d, sql, NULL, &stmt, err);
	a->moments = moments;
	a->texts = found;
	while (ok && code == SQLITE_ROW) {
		arena_clear(&texts);
		for (a->count = 0; a->count < QUESTION_MAX_LIST; a->count++) {
			code = sqlite3_step(stmt);
			if (code != SQLITE_ROW)
				break;
			moments[a->count] = sqlite3_column_int64(stmt, 0);
			found[a->count] = facts_db_text(stmt, 0, &texts);
		}
		ok = (code == SQLITE_ROW || code == SQLITE_DONE || facts_db_fail(d, err)) &&
		     (!a->count || put_question(a, id, err));
	}
	sqlite3_finalize(stmt);
	arena_free(&texts);
	end_answer(a);
	return ok;
}

bool fleet_newest(
	struct fleet *f, struct store *store, int64_t until_ns, int64_t *ret, struct diag *err)
{
	struct asking a = { .fleet = f, .store = store_of(f, store, err), .end_ns = until_ns };
	if (!a.store)
		return false;
	a.scratch = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = ask_once(&a, ASK_NEWEST, err) &&
		  facts_db_number(&f->db, "SELECT ifnull(max(captured_ns), 0) FROM newest_moment",
			  ret, err);
	arena_free(&a.scratch);
	return ok;
}

/* ---- the tables that answers are made of ----------------------------------------------------- */

static bool run_script(struct asking *a, const char *name, struct diag *err)
{
	struct fleet *f = a->fleet;
	const struct {
		const char *name;
		struct str value;
	} texts[] = { { ":to", f->window.to }, { ":judge", a->judge }, { ":owner", f->owner } };
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = { { ":from_ns", a->from_ns }, { ":to_ns", a->to_ns },
		{ ":before_ns", a->before_ns }, { ":span_ns", a->to_ns - a->from_ns } };
	const char *sql = embed_find(str_from(name)).p;
	sqlite3_stmt *stmt;
	while (*sql) {
		if (!facts_db_statement(&f->db, sql, &sql, &stmt, err))
			return false;
		for (ptrdiff_t i = 0; i < COUNT_OF(texts); i++) {
			int at = sqlite3_bind_parameter_index(stmt, texts[i].name);
			if (at)
				sql_bind_text(stmt, at, texts[i].value);
		}
		for (ptrdiff_t i = 0; i < COUNT_OF(numbers); i++) {
			int at = sqlite3_bind_parameter_index(stmt, numbers[i].name);
			if (at)
				sqlite3_bind_int64(stmt, at, numbers[i].value);
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
	int64_t *moments;
	ptrdiff_t count, cap, moment_cap;
};

/* What this window has to differ by from the one before, of a workload that ran in both. */
static bool add_felt(
	struct asking *a, const struct series *s, struct arena scratch, struct diag *err)
{
	ptrdiff_t now = 0, before = 0;
	for (ptrdiff_t i = 0; i < s->count; i++) {
		now += s->moments[i] > a->from_ns;
		before += s->moments[i] > a->before_ns && s->moments[i] <= a->from_ns;
	}
	if (!now || !before)
		return true;
	double least = change_least(s->values, s->count, now, before, scratch);
	return add_row(a->fleet, "felt", &s->workload, 1, &least, 1, err);
}

static bool end_series(
	struct asking *a, const struct series *s, struct arena scratch, struct diag *err)
{
	struct change *changes;
	ptrdiff_t count = change_points(s->values, s->count, &scratch, &changes);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct change *c = &changes[i];
		struct str ns = arena_fmt(&scratch, "%lld", (long long)s->moments[c->at]);
		const struct str texts[] = { s->workload, ns };
		const double reals[] = { c->before, c->after, c->p_value };
		if (!add_row(a->fleet, "levels", texts, 2, reals, 3, err))
			return false;
	}
	return add_felt(a, s, scratch, err);
}

static bool find_changes(struct asking *a, struct diag *err)
{
	struct facts_db *d = &a->fleet->db;
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct series s = { 0 };
	sqlite3_stmt *stmt;
	bool ok = facts_db_statement(d,
		"SELECT workload, step_ns / 1e9, usable_ns FROM series ORDER BY rowid", NULL, &stmt,
		err);
	int code = SQLITE_DONE;
	while (ok && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct str workload = { (const char *)sqlite3_column_text(stmt, 0),
			sqlite3_column_bytes(stmt, 0) };
		if (!s.workload.p || !str_eq(s.workload, workload)) {
			ok = end_series(a, &s, scratch, err);
			arena_clear(&scratch);
			s = (struct series){ .workload = arena_str(&scratch, workload) };
		}
		ptrdiff_t count = s.count;
		*arena_push(&scratch, s.values, s.count, s.cap) = sqlite3_column_double(stmt, 1);
		*arena_push(&scratch, s.moments, count, s.moment_cap) =
			sqlite3_column_int64(stmt, 2);
	}
	ok = ok && (code == SQLITE_DONE || facts_db_fail(d, err)) &&
	     end_series(a, &s, scratch, err);
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
				c->real = sql_number(stmt, i);
		}
		row->run = facts_db_text(stmt, count, keep);
		row->profile = row->run.p ? facts_db_text(stmt, count + 1, keep) : row->run;
	}
	bool ok = code == SQLITE_DONE || facts_db_fail(&f->db, err);
	sqlite3_finalize(stmt);
	return ok;
}

/* Copies that lie elsewhere are no workload: not one that stopped, and none of a trend. */
static bool drop_copies(struct asking *a, struct diag *err)
{
	return run_script(a, "store/twins.sql", err) &&
	       look_up(a, ASK_CAPTURES,
		       "SELECT DISTINCT ns FROM (SELECT max(ns) AS ns FROM twins "
		       "GROUP BY copy, original) ORDER BY ns",
		       err) &&
	       facts_db_execute(&a->fleet->db,
		       "DELETE FROM days WHERE rowid IN (SELECT day FROM twins AS t "
		       "JOIN captures AS a ON a.workload = t.copy "
		       "JOIN captures AS b USING (captured_ns, run) WHERE b.workload = t.original)",
		       err);
}

static bool gather(struct asking *a, struct diag *err)
{
	static const enum asked once[] = { ASK_ALIKE, ASK_SEEN, ASK_CLAIMS, ASK_HOSTS, ASK_FLAWS,
		ASK_LATER };
	if (!ask_days(a, err) || !drop_copies(a, err))
		return false;
	for (ptrdiff_t i = 0; i < COUNT_OF(once); i++)
		if (!ask_once(a, once[i], err))
			return false;
	return run_script(a, "store/gather.sql", err) && find_changes(a, err) &&
	       look_up(a, ASK_TURNS,
		       "SELECT ns FROM moments UNION SELECT ns FROM levels ORDER BY ns", err) &&
	       run_script(a, "store/latest.sql", err) &&
	       look_up(a, ASK_SAYINGS, "SELECT hash FROM latest ORDER BY hash", err) &&
	       run_script(a, "store/fleet.sql", err) &&
	       look_up(a, ASK_BROKE, "SELECT workload FROM earlier ORDER BY workload", err);
}

static bool begin_asking(struct asking *a)
{
	const struct fleet_window *w = &a->fleet->window;
	a->judge = a->fleet->judge;
	a->judged = statement_of(1);
	if (!when_parse(w->from, &a->from_ns) || !when_parse(w->to, &a->to_ns) ||
		!when_parse(w->before, &a->before_ns))
		return false;
	a->scratch = arena_new(ARENA_SCRATCH_BYTES);
	return true;
}

static bool answer_all(
	struct asking *a, struct arena *keep, struct fleet_report *ret, struct diag *err)
{
	*ret = (struct fleet_report){ .window = a->fleet->window, .owner = a->fleet->owner };
	bool ok = run_script(a, "store/answers.sql", err);
	for (int id = 0; ok && id < FLEET_COUNT; id++)
		ok = answer(a->fleet, (enum fleet_id)id, keep, &ret->answers[id], err);
	if (!ok)
		return false;
	const struct fleet_answer *totals = &ret->answers[FLEET_TOTALS];
	ret->has_usage = totals->count && fleet_cell(totals, 0, STR("billed_workloads"))->real > 0;
	ret->by_hours = totals->count && fleet_cell(totals, 0, STR("by_hours"))->real > 0;
	return true;
}

bool fleet_ask(struct fleet *f, struct store *store, const struct fleet_window *window,
	struct str judge, struct arena *keep, struct fleet_report *ret, struct diag *err)
{
	struct asking a = { .fleet = f, .store = store_of(f, store, err) };
	f->window = *window;
	f->judge = judge;
	if (!a.store || !begin_asking(&a))
		return false;
	bool ok = gather(&a, err) && answer_all(&a, keep, ret, err);
	arena_free(&a.scratch);
	return ok;
}

/* ---- one owner's part ------------------------------------------------------------------------ */

/* What scripts made for the fleet, or for another owner. */
static bool drop_made(struct facts_db *d, struct diag *err)
{
	sqlite3_stmt *stmt;
	if (!facts_db_statement(d,
		    "SELECT group_concat('DROP TABLE temp.\"' || name || '\"', ';') "
		    "FROM temp.sqlite_schema WHERE type = 'table'",
		    NULL, &stmt, err))
		return false;
	bool ok = sqlite3_step(stmt) == SQLITE_ROW || facts_db_fail(d, err);
	struct str drops = ok ? facts_db_text(stmt, 0, d->keep) : MISSING;
	sqlite3_finalize(stmt);
	return ok && (!drops.p || facts_db_execute(d, arena_z(d->keep, drops), err));
}

bool fleet_ask_owner(struct fleet *f, struct str owner, struct arena *keep,
	struct fleet_report *ret, struct diag *err)
{
	struct asking a = { .fleet = f };
	f->owner = owner;
	bool ok = drop_made(&f->db, err) && begin_asking(&a);
	if (ok) {
		ok = run_script(&a, "store/owner.sql", err) &&
		     run_script(&a, "store/gather.sql", err) &&
		     run_script(&a, "store/latest.sql", err) &&
		     run_script(&a, "store/fleet.sql", err) && answer_all(&a, keep, ret, err);
		arena_free(&a.scratch);
	}
	f->owner = MISSING;
	return ok;
}

ptrdiff_t fleet_column(const struct fleet_answer *a, struct str name)
{
	const struct fleet_column *columns = a->question->columns, *column;
	column = NAMED(columns, a->question->column_count, name);
	return column ? column - columns : -1;
}

const struct fleet_cell *fleet_cell(const struct fleet_answer *a, ptrdiff_t row, struct str column)
{
	ptrdiff_t at = fleet_column(a, column);
	return at >= 0 ? &a->rows[row].cells[at] : NULL;
}
