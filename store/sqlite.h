/*
 * Facts in SQLite: two tables made from the columns of facts.h.  Private to store/.
 *
 *     runs      id, and the columns of run_facts_def; hash is unique
 *     verdicts  run_id, and the columns of rule_facts_def
 *
 *     kept      hash of a run, and bytes beside its facts (store_keep)
 *
 * The same tables hold a store on disk and, in memory, what questions are asked of.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>

#include "store/store.h"

/* Grows when a table or an index changes; columns that are missing are added to older files. */
#define FACTS_SCHEMA 4

struct facts_db {
	sqlite3 *db;
	struct str name; /* for messages */
	struct arena *keep;
	int64_t frozen_bytes, frozen_ns; /* of a file that is read without locks; else 0 */
	struct arena scratch;		 /* a row's texts while it is handed out */
	sqlite3_stmt *add_run, *add_rule, *scan_runs, *scan_undated, *scan_rules, *look, *add_kept,
		*recall;
};

/* What SQLite said last, in words for the user of the file.  Always false. */
bool facts_db_fail(const struct facts_db *d, struct diag *err);
/* Limits and settings for a file that anybody may have written. */
bool facts_db_guard(struct facts_db *d, struct diag *err);
bool facts_db_execute(struct facts_db *d, const char *sql, struct diag *err);
/* The first cell of a statement without parameters. */
bool facts_db_number(struct facts_db *d, const char *sql, int64_t *ret, struct diag *err);
/* Tables, index, and columns that are missing. */
bool facts_db_make(struct facts_db *d, struct diag *err);
/* Statements for append and scan, after the tables are there. */
bool facts_db_prepare(struct facts_db *d, struct diag *err);
void facts_db_close(struct facts_db *d);

bool facts_db_append(struct facts_db *d, const struct run_facts *f, struct diag *err);
bool facts_db_scan(
	struct facts_db *d, struct window window, run_facts_fn *take, void *arg, struct diag *err);
/* Quick where profiles have an index, as in a file (file.c). */
bool facts_db_look(struct facts_db *d, struct str judge, const struct str *profiles,
	ptrdiff_t count, store_look_fn *take, void *arg, struct diag *err);
bool facts_db_keep(
	struct facts_db *d, const struct run_facts *f, struct str bytes, struct diag *err);
bool facts_db_recall(struct facts_db *d, struct str workload, struct str until, run_kept_fn *take,
	void *arg, struct diag *err);

#endif
