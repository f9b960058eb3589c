/* Connections to SQLite.  See sql.h. */
#include "base/sql.h"

#include <math.h>
#include <stdarg.h>

#include "base/sql_functions.h"

int sql_harden(sqlite3 *db, const struct sql_limit *limits, ptrdiff_t count)
{
	static const struct {
		int option, value;
	} options[] = {
		{ SQLITE_DBCONFIG_DQS_DML, 0 }, /* "matmul" is a column, never a text */
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	};
	int code = SQLITE_OK;

	for (ptrdiff_t i = 0; i < COUNT_OF(options) && code == SQLITE_OK; i++)
		code = sqlite3_db_config(db, options[i].option, options[i].value, (int *)NULL);
	for (ptrdiff_t i = 0; i < count; i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	return code;
}

bool sql_spend(struct sql_connection *c, int64_t steps)
{
	c->steps_left -= steps;
	c->all_left -= steps;
	return c->steps_left > 0 && c->all_left > 0;
}

static int look(void *arg)
{
	struct sql_connection *c = arg;

	return !sql_spend(c, SQL_STEPS_PER_LOOK * (c->step_cost ? c->step_cost : 1));
}

const struct sql_own_function *sql_own_find(const struct sql_own_function *own, struct str name)
{
	while (own && own->name.p && !str_eq_nocase(own->name, name))
		own++;
	return own && own->name.p ? own : NULL;
}

/* SQLITE_RECURSIVE, PRAGMA, ATTACH, every write and whatever comes later: denied. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *database,
	const char *trigger)
{
	(void)database;
	struct sql_connection *c = arg;
	bool ok = action == SQLITE_SELECT || c->is_declaring;

	if (action == SQLITE_READ)
		ok |= !c->may_read || c->may_read(c->arg, a, b);
	ok |= action == SQLITE_FUNCTION && sql_own_find(c->own, str_from(b));
	if (action == SQLITE_FUNCTION && c->calls != SQL_CALLS_NONE) {
		const struct sql_function *f = sql_function_find(str_from(b));

		ok |= f && (c->calls == SQL_CALLS_ALL || !f->query_only);
	}
	/* On behalf of a view, or of a WITH where those may be: a file may hold views. */
	ok &= !trigger || c->may_read;
	c->was_asked = true;
	c->was_refused |= !ok;
	return ok ? SQLITE_OK : SQLITE_DENY;
}

int sql_open(struct sql_connection *c, const struct sql_limit *limits, ptrdiff_t count)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
		    SQLITE_OPEN_NOMUTEX;
	int code = sqlite3_open_v2(":memory:", &c->db, flags, NULL);

	if (code == SQLITE_OK)
		code = sql_harden(c->db, limits, count);
	if (code != SQLITE_OK)
		return code;
	sqlite3_progress_handler(c->db, SQL_STEPS_PER_LOOK, look, c);
	/* Before the authorizer, which would refuse it: sorters never spill into files. */
	code = sqlite3_exec(c->db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
	for (const struct sql_own_function *f = c->own; f && f->name.p && code == SQLITE_OK; f++)
		if (f->call)
			code = sqlite3_create_function_v2(c->db, f->name.p, f->arguments,
				SQLITE_UTF8 | SQLITE_DIRECTONLY, c->own_arg, f->call, NULL, NULL,
				NULL);
	return code == SQLITE_OK && c->calls != SQL_CALLS_NONE ? sql_functions_register(c) : code;
}

void sql_guard(struct sql_connection *c)
{
	sqlite3_set_authorizer(c->db, authorize, c);
}

void sql_close(struct sql_connection *c)
{
	sqlite3_stmt *stmt;

	while (c->db && (stmt = sqlite3_next_stmt(c->db, NULL)))
		sqlite3_finalize(stmt);
	sqlite3_close_v2(c->db);
	c->db = NULL;
}

struct str sql_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return (struct str){ text, text ? sqlite3_column_bytes(stmt, column) : 0 };
}

double sql_number(sqlite3_stmt *stmt, int column)
{
	int type = sqlite3_column_type(stmt, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(stmt, column)
							      : (double)NAN;
}

int sql_bind_text(sqlite3_stmt *stmt, int at, struct str text)
{
	return text.p ? sqlite3_bind_text64(stmt, at, text.p, (sqlite3_uint64)text.len,
				SQLITE_STATIC, SQLITE_UTF8)
		      : sqlite3_bind_null(stmt, at);
}

/* ---- statements ------------------------------------------------------------------------------ */

bool sql_fail(struct sql_fault *fault, struct arena *keep, enum diag_id id, ptrdiff_t at,
	ptrdiff_t width, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	*fault = (struct sql_fault){ id, at, width, arena_vfmt(keep, fmt, args), false };
	va_end(args);
	return false;
}

sqlite3_stmt *sql_prepare(
	struct sql_connection *c, struct str sql, struct arena *keep, struct sql_fault *fault)
{
	sqlite3_stmt *stmt = NULL;
	const char *z = str_bytes(sql), *tail = z;

	c->was_asked = c->was_refused = false;
	int code = sqlite3_prepare_v2(c->db, z, (int)sql.len, &stmt, &tail);
	struct str rest = str_trim(str_span(tail, z + sql.len));
	if (code != SQLITE_OK && c->was_refused)
		sql_fail(fault, keep, DIAG_RULE_SQL, sqlite3_error_offset(c->db), 1,
			"not allowed here (%s): only %s is", sqlite3_errmsg(c->db), c->purpose);
	else if (code != SQLITE_OK) /* it reads well enough, once it is clear who speaks */
		sql_fail(fault, keep, DIAG_RULE_SQL, sqlite3_error_offset(c->db), 1,
			"not valid SQL: %s", sqlite3_errmsg(c->db));
	else if (!stmt)
		sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "there is no SQL here");
	else if (rest.len && !str_eq(rest, STR(";")))
		sql_fail(fault, keep, DIAG_RULE_SQL, tail - z, 1, "only one statement is allowed");
	else if (!sqlite3_stmt_readonly(stmt) || sqlite3_stmt_isexplain(stmt) ||
		 !sqlite3_column_count(stmt))
		sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "only SELECT is allowed");
	else
		return stmt;
	fault->is_of_names = c->was_asked;
	sqlite3_finalize(stmt);
	return NULL;
}

void sql_fault_within(struct sql_fault *fault, ptrdiff_t before, ptrdiff_t len)
{
	bool is_cut = str_ends(fault->text, STR("incomplete input"));

	if (fault->at < 0 && !is_cut)
		return;
	fault->at -= before;
	if (is_cut || fault->at >= len)
		*fault = (struct sql_fault){ DIAG_RULE_SQL, len > 0 ? len - 1 : 0, 1,
			STR_INIT("not valid SQL: something is missing at the end, or a bracket too "
				 "many"),
			false };
	else if (fault->at < 0)
		fault->at = -1;
}

sqlite3_stmt *sql_expression(
	struct sql_connection *c, struct str text, struct arena *keep, struct sql_fault *fault)
{
	/* In brackets it is one value, and a comment ends with the line. */
	static const struct str before = STR_INIT("SELECT (");
	struct str whole = arena_fmt(keep, "%.*s%.*s\n)", STR_ARG(before), STR_ARG(text));
	ptrdiff_t nul = str_find_char(text, '\0');
	bool is_blank = !str_trim(text).len;

	if (is_blank || nul >= 0) {
		sql_fail(fault, keep, DIAG_RULE_SQL, is_blank ? 0 : nul, 1, "%s",
			is_blank ? "an expression is expected here" : "a text has no NUL");
		return NULL;
	}
	sqlite3_stmt *stmt = sql_prepare(c, whole, keep, fault);
	if (stmt && sqlite3_column_count(stmt) == 1)
		return stmt;
	if (stmt)
		sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "one expression, no more");
	sqlite3_finalize(stmt);
	sql_fault_within(fault, before.len, text.len);
	fault->at = fault->at < 0 ? 0 : fault->at;
	return NULL;
}
