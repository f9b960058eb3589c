/* Connections to SQLite.  See sql.h. */
#include "base/sql.h"

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

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && code == SQLITE_OK; i++)
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

/* SQLITE_RECURSIVE, PRAGMA, ATTACH, every write and whatever comes later: denied. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *database,
	const char *trigger)
{
	(void)database;
	struct sql_connection *c = arg;
	bool ok = action == SQLITE_SELECT || c->is_declaring;

	if (action == SQLITE_READ)
		ok |= !c->may_read || c->may_read(c->arg, a, b);
	if (action == SQLITE_FUNCTION && c->calls != SQL_CALLS_NONE) {
		const struct sql_function *f = sql_function_find(str_from(b));

		ok |= f && (c->calls == SQL_CALLS_ALL || !f->query_only);
	}
	/* On behalf of a view, or of a WITH where those may be: a file may hold views. */
	ok &= !trigger || c->may_read;
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
