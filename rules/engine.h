/*
 * The SQL engine behind rules and queries: a private SQLite connection whose only content is the
 * tables of a run, as virtual tables.
 *
 * Reading those tables and calling the functions of sql_functions is all that is allowed; there is
 * no file, no schema to write, no extension, no clock, no randomness, and no statement runs longer
 * than its budget.  Private to rules/.
 *
 * Refuses: knowing what a rule is (judge.c); speaking of files and lines: a fault points into the
 * SQL text, and the caller knows where that came from.
 */
#ifndef RULES_ENGINE_H
#define RULES_ENGINE_H

#include "base/sql_functions.h"
#include "base/text.h"
#include "rules/judge.h"

/* A virtual table's view of one table of the run. */
struct source {
	sqlite3_vtab vtab; /* first: SQLite hands this pointer back */
	struct engine *engine;
	const struct table_def *def;
	enum table_id id;
	bool is_base;		      /* of the baseline's table */
	struct row_index *indexes[3]; /* by indexed_columns; NULL until asked for */
};

struct engine {
	struct sql_connection sql;
	struct arena keep;			/* the engine itself, and what lives as long */
	struct arena scratch;			/* indexes of the current tables */
	const struct tables *tables, *base;	/* what the virtual tables show; NULL: no rows */
	struct source sources[2 * TABLE_COUNT]; /* the run's, then the baseline's */
	int64_t least_steps; /* of a rule over no rows: BUDGET_RULE_STEPS, or less for a test */
};

/*
 * Virtual-machine steps one statement may take: so many, and more for each row of the tables.  A
 * rule takes 10 to 50 steps a row, sixteen times that where it joins texts, so it ends on a job of
 * any size; a runaway join is stopped within seconds.  A query by hand may take forty times that.
 */
#define BUDGET_RULE_STEPS  INT64_C(50000000)
#define BUDGET_ROW_STEPS   INT64_C(1000)
#define BUDGET_QUERY_STEPS INT64_C(2000000000)
/* All rules of a file together take what so many may: a thousand simple ones fit. */
enum { BUDGET_FILE_RULES = 2 };

/* Of the run or of the baseline, by its name as SQL may write it; NULL: there is none. */
const struct table_def *engine_table(struct str name);
/* Show `tables`, and `base` as base_*, from now on; either may be NULL. */
void engine_show(struct engine *e, const struct tables *tables, const struct tables *base);
/* A rule's statement is about to run; `is_joining`: it makes long texts. */
void engine_grant(struct engine *e, bool is_joining);
void engine_grant_query(struct engine *e);
/* Why a step failed: budget, memory, or what SQLite says. */
void engine_step_fault(struct engine *e, int code, struct arena *keep, struct sql_fault *fault);

/* vtab.c */
int vtab_register(struct source *source, sqlite3 *db);

#endif
