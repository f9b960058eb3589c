/* SQLite without anything to reach.  See sql.h. */
#include "base/sql.h"

#include <sqlite3.h>

/* An expression that computes a kernel's FLOPs has some hundred bytes and operations. */
enum { TEXT_BYTES = 4096, DEPTH = 64, MACHINE_STEPS = 4000 };
/* Of one evaluation; SQLite asks after so many. */
enum { BUDGET_STEPS = 10000, STEPS_PER_LOOK = 100 };

static const struct sql_function *function_named(const struct sql *s, struct str name)
{
	for (const struct sql_function *f = s->functions; f->name.p; f++)
		if (str_eq_nocase(f->name, name))
			return f;
	return NULL;
}

static int authorize(void *arg, int action, const char *a, const char *b, const char *database,
	const char *trigger)
{
	struct sql *s = arg;
	bool ok = action == SQLITE_SELECT ||
		  (action == SQLITE_FUNCTION && function_named(s, str_from(b)));

	(void)a, (void)database, (void)trigger;
	s->was_refused |= !ok;
	return ok ? SQLITE_OK : SQLITE_DENY;
}

static int spend(void *arg)
{
	struct sql *s = arg;

	s->steps_left -= STEPS_PER_LOOK;
	return s->steps_left <= 0;
}

static int configure(struct sql *s, void *arg)
{
	int code = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);

	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, TEXT_BYTES);
	sqlite3_limit(s->db, SQLITE_LIMIT_SQL_LENGTH, TEXT_BYTES);
	sqlite3_limit(s->db, SQLITE_LIMIT_EXPR_DEPTH, DEPTH);
	sqlite3_limit(s->db, SQLITE_LIMIT_VDBE_OP, MACHINE_STEPS);
	sqlite3_limit(s->db, SQLITE_LIMIT_COMPOUND_SELECT, 1);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	for (const struct sql_function *f = s->functions; f->name.p && code == SQLITE_OK; f++)
		if (f->call)
			code = sqlite3_create_function_v2(s->db, f->name.p, f->arguments,
				SQLITE_UTF8 | SQLITE_DIRECTONLY, arg, f->call, NULL, NULL, NULL);
	sqlite3_set_authorizer(s->db, authorize, s);
	sqlite3_progress_handler(s->db, STEPS_PER_LOOK, spend, s);
	return code;
}

bool sql_open(struct sql *s, const struct sql_function *functions, void *arg, struct diag *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
		    SQLITE_OPEN_NOMUTEX;

	*s = (struct sql){ .functions = functions };
	int code = sqlite3_open_v2(":memory:", &s->db, flags, NULL);
	if (code == SQLITE_OK)
		code = configure(s, arg);
	if (code == SQLITE_OK)
		return true;
	sql_close(s);
	return diag_set(err, DIAG_LIMIT, "SQLite cannot start: it says '%s'", sqlite3_errstr(code));
}

void sql_close(struct sql *s)
{
	sqlite3_close_v2(s->db);
	s->db = NULL;
}

static sqlite3_stmt *mistaken(struct sql_mistake *mistake, ptrdiff_t at, struct str text)
{
	*mistake = (struct sql_mistake){ at, 1, text };
	return NULL;
}

sqlite3_stmt *sql_expression(
	struct sql *s, struct str text, struct arena *keep, struct sql_mistake *mistake)
{
	/* In brackets it is one value, and a comment ends with the line. */
	static const struct str before = STR_INIT("SELECT (");
	struct str whole = arena_fmt(keep, "%.*s%.*s\n)", STR_ARG(before), STR_ARG(text));
	sqlite3_stmt *statement = NULL;
	const char *tail = NULL;

	if (!str_trim(text).len)
		return mistaken(mistake, 0, STR("an expression is expected here"));
	if (str_find_char(text, '\0') >= 0)
		return mistaken(mistake, str_find_char(text, '\0'), STR("a text has no NUL"));
	s->was_refused = false;
	int code = sqlite3_prepare_v2(s->db, whole.p, (int)whole.len, &statement, &tail);
	if (code != SQLITE_OK) {
		ptrdiff_t at = sqlite3_error_offset(s->db) - before.len;
		at = at < 0 ? 0 : at < text.len ? at : text.len;
		return mistaken(mistake, at,
			arena_fmt(keep, s->was_refused ? "not allowed here: %s" : "%s",
				sqlite3_errmsg(s->db)));
	}
	if (tail == whole.p + whole.len && sqlite3_column_count(statement) == 1)
		return statement;
	sqlite3_finalize(statement);
	ptrdiff_t at = str_span(whole.p, tail).len - before.len;
	return mistaken(mistake, at < text.len ? at : text.len, STR("one expression, no more"));
}

bool sql_compute(struct sql *s, sqlite3_stmt *statement)
{
	sqlite3_reset(statement);
	s->steps_left = BUDGET_STEPS;
	return sqlite3_step(statement) == SQLITE_ROW;
}
