/* The connection: what it allows, what it costs, and how its errors read.  See engine.h. */
#include "rules/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "rules/functions.h"
#include "rules/parser.h"

/* Virtual-machine steps between two looks at the budget. */
enum { STEPS_PER_LOOK = 4096 };

/*
 * What SQLite's sorters and statements may hold, for the whole process: tables are ours and not
 * counted, so a rule needs kilobytes and a large query by hand some tens of megabytes.
 */
#define QUERY_HEAP_BYTES INT64_C(268435456)
#define RULE_HEAP_BYTES	 INT64_C(67108864)

/*
 * The longest text or sorted row.  The longest text in a table is 4 KiB, so a rule that puts two
 * together finds room; one that doubles them goes on for a few steps.
 */
enum { QUERY_TEXT_BYTES = 1 << 20, RULE_TEXT_BYTES = 1 << 16, JOINED_TEXT_BYTES = 9000 };

/* Bytes that are looked at in the time of a step. */
enum { BYTES_PER_STEP = 32 };
/* What a step of a statement counts that makes long texts, by || or by writing them out. */
enum { JOINING_STEP = 16 };

static const struct {
	int limit, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, QUERY_TEXT_BYTES },
	{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, /* a rule's expressions, twice */
	{ SQLITE_LIMIT_COLUMN, 1000 },	      /* the widest table has about 60; joins add up */
	{ SQLITE_LIMIT_EXPR_DEPTH, 200 },     /* nobody reads a deeper one */
	{ SQLITE_LIMIT_COMPOUND_SELECT, 20 },
	{ SQLITE_LIMIT_VDBE_OP, 50000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 32 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MAX },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 200 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

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

void reads_add(struct reads *reads, struct arena *keep, const struct table_def *table,
	const struct column *column)
{
	for (ptrdiff_t i = 0; i < reads->count; i++)
		if (reads->items[i].column == column && reads->items[i].table == table)
			return;
	*arena_push(keep, reads->items, reads->count, reads->cap) =
		(struct column_read){ table, column };
}

bool sql_fail(struct sql_fault *fault, struct arena *keep, enum diag_id id, ptrdiff_t at,
	ptrdiff_t width, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	*fault = (struct sql_fault){ id, at, width, arena_vfmt(keep, fmt, args) };
	va_end(args);
	return false;
}

/* SQLITE_RECURSIVE, PRAGMA, ATTACH, every write and whatever comes later: denied. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *database,
	const char *trigger)
{
	(void)database, (void)trigger;
	struct engine *e = arg;
	const struct sql_function *f =
		action == SQLITE_FUNCTION ? sql_function_find(str_from(b)) : NULL;
	const struct table_def *def = action == SQLITE_READ ? find_table(str_from(a)) : NULL;
	/* An empty column name is count(*). */
	const struct column *c = def ? table_column(def, str_from(b)) : NULL;
	int answer = SQLITE_DENY;

	if (c && e->reads)
		reads_add(e->reads, e->reads_keep, def, c);
	if (action == SQLITE_SELECT || e->is_declaring)
		answer = SQLITE_OK;
	else if (action == SQLITE_READ && def)
		answer = SQLITE_OK;
	else if (action == SQLITE_FUNCTION)
		answer = f && (e->is_query || !f->query_only) ? SQLITE_OK : SQLITE_DENY;
	if (answer != SQLITE_OK)
		e->was_refused = true;
	return answer;
}

/* What all rules of a file may take, by the rows that they look at. */
static int64_t file_steps(const struct engine *e)
{
	int64_t rows = 0;

	for (int i = 0; i < TABLE_COUNT; i++)
		rows += (e->tables ? e->tables->items[i].count : 0) +
			(e->base ? e->base->items[i].count : 0);
	return BUDGET_FILE_STEPS + rows * BUDGET_ROW_STEPS;
}

static bool spend_steps(struct engine *e, int64_t steps)
{
	e->steps_left -= steps;
	e->all_left -= steps;
	return e->steps_left > 0 && e->all_left > 0;
}

bool engine_spend(struct engine *e, ptrdiff_t bytes)
{
	return spend_steps(e, bytes / BYTES_PER_STEP);
}

static int spend(void *arg)
{
	struct engine *e = arg;

	return !spend_steps(e, STEPS_PER_LOOK * (e->is_joining ? JOINING_STEP : 1));
}

static int configure(struct engine *e)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && code == SQLITE_OK; i++)
		code = sqlite3_db_config(e->db, options[i].option, options[i].value, (int *)NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(e->db, limits[i].limit, limits[i].value);
	/* Before the authorizer, which would refuse it: sorters never spill into files. */
	if (code == SQLITE_OK)
		code = sqlite3_exec(e->db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sql_functions_register(e->db, e);
	for (int i = 0; i < 2 * TABLE_COUNT && code == SQLITE_OK; i++) {
		struct source *s = &e->sources[i];

		s->engine = e;
		s->is_base = i >= TABLE_COUNT;
		s->id = (enum table_id)(i % TABLE_COUNT);
		s->def = s->is_base ? &base_table_defs[s->id] : &table_defs[s->id];
		code = vtab_register(s, e->db);
	}
	sqlite3_set_authorizer(e->db, authorize, e);
	sqlite3_progress_handler(e->db, STEPS_PER_LOOK, spend, e);
	return code;
}

struct engine *engine_new(struct diag *err)
{
	struct arena keep = arena_new(ARENA_SCRATCH_BYTES);
	struct engine *e = arena_make(&keep, struct engine, 1);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
		    SQLITE_OPEN_NOMUTEX;

	e->keep = keep;
	e->scratch = arena_new(ARENA_RUN_BYTES);
	e->rule_steps = e->steps_left = BUDGET_RULE_STEPS;
	e->all_left = file_steps(e);
	sqlite3_hard_heap_limit64(QUERY_HEAP_BYTES);
	int code = sqlite3_open_v2(":memory:", &e->db, flags, NULL);
	if (code == SQLITE_OK)
		code = configure(e);
	if (code == SQLITE_OK)
		return e;
	diag_set(err, DIAG_LIMIT, "the rule engine cannot start: SQLite says '%s'",
		sqlite3_errstr(code));
	engine_free(e);
	return NULL;
}

void engine_free(struct engine *e)
{
	sqlite3_stmt *stmt;

	if (!e)
		return;
	while ((stmt = sqlite3_next_stmt(e->db, NULL)))
		sqlite3_finalize(stmt);
	sqlite3_close_v2(e->db);
	arena_free(&e->scratch);
	struct arena keep = e->keep; /* the engine lies in it */
	arena_free(&keep);
}

void engine_show(struct engine *e, const struct tables *tables, const struct tables *base)
{
	e->tables = tables;
	e->base = base;
	e->all_left = file_steps(e);
	for (int i = 0; i < 2 * TABLE_COUNT; i++)
		memset(e->sources[i].indexes, 0, sizeof(e->sources[i].indexes));
	arena_clear(&e->scratch);
}

sqlite3_stmt *engine_prepare(struct engine *e, struct str sql, struct reads *reads,
	struct arena *keep, struct sql_fault *fault)
{
	sqlite3_stmt *stmt = NULL;
	const char *z = arena_z(keep, sql), *tail = z;

	e->reads = reads;
	e->reads_keep = keep;
	e->was_refused = false;
	int code = sqlite3_prepare_v2(e->db, z, (int)sql.len, &stmt, &tail);
	e->reads = NULL;
	struct str rest = str_trim(str_span(tail, z + sql.len));
	if (code != SQLITE_OK) /* SQLite's message reads well enough, once it is clear who speaks */
		sql_fail(fault, keep, DIAG_RULE_SQL, sqlite3_error_offset(e->db), 1,
			e->was_refused
				? "not allowed here (%s): only reading the tables of the run is"
				: "not valid SQL: %s",
			sqlite3_errmsg(e->db));
	else if (!stmt)
		sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "there is no SQL here");
	else if (rest.len && !str_eq(rest, STR(";")))
		sql_fail(fault, keep, DIAG_RULE_SQL, tail - z, 1, "only one statement is allowed");
	else if (!sqlite3_stmt_readonly(stmt) || sqlite3_stmt_isexplain(stmt) ||
		 !sqlite3_column_count(stmt))
		sql_fail(fault, keep, DIAG_RULE_SQL, 0, 1, "only SELECT is allowed");
	else
		return stmt;
	sqlite3_finalize(stmt);
	return NULL;
}

/* What the statement may hold and make from now on; nothing is lowered below what is in use. */
static void set_sizes(struct engine *e, int64_t heap_bytes, int text_bytes)
{
	sqlite3_hard_heap_limit64(heap_bytes);
	sqlite3_limit(e->db, SQLITE_LIMIT_LENGTH, text_bytes);
}

void engine_grant(struct engine *e, bool is_joining)
{
	e->steps_left = e->rule_steps;
	e->is_query = false;
	e->is_joining = is_joining;
	set_sizes(e, sqlite3_memory_used() + RULE_HEAP_BYTES,
		is_joining ? JOINED_TEXT_BYTES : RULE_TEXT_BYTES);
}

void engine_grant_query(struct engine *e)
{
	e->steps_left = e->all_left = BUDGET_QUERY_STEPS;
	e->is_query = true;
	e->is_joining = false;
	set_sizes(e, QUERY_HEAP_BYTES, QUERY_TEXT_BYTES);
}

void engine_step_fault(struct engine *e, int code, struct arena *keep, struct sql_fault *fault)
{
	if (code == SQLITE_INTERRUPT && e->all_left <= 0 && !e->is_query)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"with it, the rules of the file together take more than %lld million "
			"steps, which so many rows do not need",
			(long long)(file_steps(e) / 1000000));
	else if (code == SQLITE_INTERRUPT)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"it did not end within %lld million steps; join on key, family or name, "
			"or select fewer rows",
			(long long)((e->is_query ? BUDGET_QUERY_STEPS : e->rule_steps) / 1000000));
	else if (code == SQLITE_NOMEM)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"it needs more than %lld MiB of memory; sort or group fewer rows",
			(long long)((e->is_query ? QUERY_HEAP_BYTES : RULE_HEAP_BYTES) >> 20));
	else
		sql_fail(fault, keep, DIAG_RULE_SQL, -1, 0, "SQLite says: %s",
			sqlite3_errmsg(e->db));
}
