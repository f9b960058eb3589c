/* The connection: what it allows and what it costs.  See engine.h. */
#include "rules/engine.h"

#include <stdio.h>
#include <string.h>

/*
 * What SQLite's sorters and statements may hold, for the whole process while one of ours runs:
 * tables are ours and not counted, so a rule needs kilobytes and a large query by hand some tens of
 * megabytes.
 */
#define QUERY_HEAP_BYTES INT64_C(268435456)
#define RULE_HEAP_BYTES	 INT64_C(67108864)

/*
 * The longest text or sorted row.  The longest text in a table is 4 KiB, so a rule that puts two
 * together finds room; one that doubles them goes on for a few steps.
 */
enum { QUERY_TEXT_BYTES = 1 << 20, RULE_TEXT_BYTES = 1 << 16, JOINED_TEXT_BYTES = 9000 };

/* What a step of a statement counts that makes long texts, by || or by writing them out. */
enum { JOINING_STEP = 16 };

static const struct sql_limit limits[] = {
	{ SQLITE_LIMIT_LENGTH, QUERY_TEXT_BYTES },
	{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, /* a rule's expressions, twice */
	{ SQLITE_LIMIT_COLUMN, 1000 },	      /* the widest table has about 60; joins add up */
	{ SQLITE_LIMIT_EXPR_DEPTH, 200 },     /* a deeper one cannot be read */
	{ SQLITE_LIMIT_COMPOUND_SELECT, 20 },
	{ SQLITE_LIMIT_VDBE_OP, 50000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 32 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQL_PATTERN_MAX },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 1200 }, /* a row of so many columns, and parameters */
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

const struct table_def *engine_table(struct str name)
{
	static const struct str base = STR_INIT("base_");
	bool is_base = str_eq_nocase(str_head(name, base.len), base);
	struct str own = is_base ? str_from_offset(name, base.len) : name;

	for (int i = 0; i < TABLE_COUNT; i++)
		if (str_eq_nocase(table_defs[i].name, own))
			return is_base ? &base_table_defs[i] : &table_defs[i];
	return NULL;
}

static bool may_read(void *arg, const char *table, const char *column)
{
	static const struct str own = STR_INIT("sqlite_");
	struct str name = str_from(table);

	(void)arg;
	/* Where rows are counted no column is named, of a table that WITH makes, too. */
	bool is_made = !*column && !str_eq_nocase(str_head(name, own.len), own);
	return is_made || engine_table(name) != NULL;
}

/* What a rule may take, by the rows that it may look at. */
static int64_t rule_steps(const struct engine *e)
{
	int64_t rows = 0;

	for (int i = 0; i < TABLE_COUNT; i++)
		rows += (e->tables ? e->tables->items[i].count : 0) +
			(e->base ? e->base->items[i].count : 0);
	return e->least_steps + rows * BUDGET_ROW_STEPS;
}

static int64_t file_steps(const struct engine *e)
{
	return BUDGET_FILE_RULES * rule_steps(e);
}

struct engine *engine_new(struct diag *err)
{
	struct arena keep = arena_new(ARENA_SCRATCH_BYTES);
	struct engine *e = arena_make(&keep, struct engine, 1);

	e->keep = keep;
	e->scratch = arena_new(ARENA_RUN_BYTES);
	e->least_steps = BUDGET_RULE_STEPS;
	e->sql = (struct sql_connection){ .steps_left = BUDGET_RULE_STEPS,
		.all_left = file_steps(e),
		.calls = SQL_CALLS_RULES,
		.may_read = may_read,
		.arg = e,
		.purpose = "reading the tables of the run" };
	int code = sql_open(&e->sql, limits, COUNT_OF(limits));
	for (int i = 0; i < 2 * TABLE_COUNT && code == SQLITE_OK; i++) {
		struct source *s = &e->sources[i];

		s->engine = e;
		s->is_base = i >= TABLE_COUNT;
		s->id = (enum table_id)(i % TABLE_COUNT);
		s->def = s->is_base ? &base_table_defs[s->id] : &table_defs[s->id];
		code = vtab_register(s, e->sql.db);
	}
	if (code == SQLITE_OK) {
		sql_guard(&e->sql);
		return e;
	}
	diag_set(err, DIAG_LIMIT, "the rule engine cannot start: SQLite says '%s'",
		sqlite3_errstr(code));
	engine_free(e);
	return NULL;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	sql_close(&e->sql);
	arena_free(&e->scratch);
	struct arena keep = e->keep; /* the engine lies in it */
	arena_free(&keep);
}

void engine_show(struct engine *e, const struct tables *tables, const struct tables *base)
{
	e->tables = tables;
	e->base = base;
	e->sql.all_left = file_steps(e);
	if (!tables) /* the limit is the process's: others use SQLite, too */
		sqlite3_hard_heap_limit64(0);
	for (int i = 0; i < 2 * TABLE_COUNT; i++)
		memset(e->sources[i].indexes, 0, sizeof(e->sources[i].indexes));
	arena_clear(&e->scratch);
}

/* What the statement may hold and make from now on; nothing is lowered below what is in use. */
static void set_sizes(struct engine *e, int64_t heap_bytes, int text_bytes)
{
	sqlite3_hard_heap_limit64(heap_bytes);
	sqlite3_limit(e->sql.db, SQLITE_LIMIT_LENGTH, text_bytes);
}

void engine_grant(struct engine *e, bool is_joining)
{
	e->sql.steps_left = rule_steps(e);
	e->sql.calls = SQL_CALLS_RULES;
	e->sql.step_cost = is_joining ? JOINING_STEP : 1;
	set_sizes(e, sqlite3_memory_used() + RULE_HEAP_BYTES,
		is_joining ? JOINED_TEXT_BYTES : RULE_TEXT_BYTES);
}

void engine_grant_query(struct engine *e)
{
	e->sql.steps_left = e->sql.all_left = BUDGET_QUERY_STEPS;
	e->sql.calls = SQL_CALLS_ALL;
	e->sql.step_cost = 1;
	set_sizes(e, QUERY_HEAP_BYTES, QUERY_TEXT_BYTES);
}

void engine_step_fault(struct engine *e, int code, struct arena *keep, struct sql_fault *fault)
{
	bool is_query = e->sql.calls == SQL_CALLS_ALL;
	long long million = 1000000;

	if (code == SQLITE_INTERRUPT && e->sql.all_left <= 0 && !is_query)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"with it, the rules of the file together take more than %lld million "
			"steps, which so many rows do not need",
			file_steps(e) / million);
	else if (code == SQLITE_INTERRUPT)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"it did not end within %lld million steps; join on key, family or name, "
			"or select fewer rows",
			(is_query ? BUDGET_QUERY_STEPS : rule_steps(e)) / million);
	else if (code == SQLITE_NOMEM)
		sql_fail(fault, keep, DIAG_RULE_BUDGET, -1, 0,
			"it needs more than %d MiB of memory; sort or group fewer rows",
			(int)((is_query ? QUERY_HEAP_BYTES : RULE_HEAP_BYTES) >> 20));
	else
		sql_fail(fault, keep, DIAG_RULE_SQL, -1, 0, "SQLite says: %s",
			sqlite3_errmsg(e->sql.db));
}
