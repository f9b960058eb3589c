/*
 * Kinds of stores: what each of them does for the verbs of store.h.  Private to store/.
 */
#ifndef STORE_KIND_H
#define STORE_KIND_H

#include "store/store.h"

struct store_kind {
	/* NULL and a diagnostic; what it returns is `s` below. */
	void *(*open)(struct str place, enum store_use use, const struct store_link *link,
		struct arena *keep, struct diag *err);
	bool (*append)(void *s, const struct run_facts *f, struct str kept, struct diag *err);
	bool (*flush)(void *s, struct diag *err); /* NULL: what was appended is there */
	bool (*ask)(void *s, const struct question *q, answer_row_fn *take, void *arg,
		struct diag *err);
	/* NULL: it forgets by itself. */
	bool (*prune)(
		void *s, int64_t before_ns, bool superseded, int64_t *count, struct diag *err);
	void (*close)(void *s);
};

extern const struct store_kind file_store;	 /* file.c: SQLite on a local disk */
extern const struct store_kind clickhouse_store; /* clickhouse.c: a table on a server */

#endif
