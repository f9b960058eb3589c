/*
 * Tables of ClickHouse, and runs as rows of its RowBinary, which keeps every bit of a number.
 *
 * A row has the columns of a run, those of its parts as arrays with an element for each rule, and
 * for each device, what questions read (extras in facts.h), and what is kept beside the run.
 * Without separators or names, one after the other:
 *
 *     hash       String             length (varint), bytes
 *     texts      Nullable(String)   1 for NULL, else 0 and a String
 *     numbers    Nullable(Float64)  1 for NULL, else 0 and 8 bytes, the lowest first
 *     of parts   Array(...)         count (varint), elements
 *     numbers that questions read, and how much is kept: 8 bytes, Nullable as above or not
 *
 * Refuses: reading; a server answers in text (answer.h).
 */
#ifndef STORE_ROWBINARY_H
#define STORE_ROWBINARY_H

#include "store/facts.h"

struct rowbinary_column {
	struct str name, type; /* "verdicts.rule" for those of parts */
	struct str stored;     /* the type with a dictionary, where values are few */
};
ptrdiff_t rowbinary_columns(struct arena *keep, struct rowbinary_column **ret);

/*
 * Statements that make tables, for whoever may: rooflint only reads and writes.  For one server:
 */
void store_table(struct out *out);
/*
 * For each server of a cluster that have the macros {cluster}, {shard} and {replica}: a replicated
 * table, and one that spreads rows over the shards.  Not ON CLUSTER, which runs in the other
 * servers' default database.
 */
void store_table_cluster(struct out *out);

/* `kept` may be missing. */
void rowbinary_write(
	struct out *out, const struct run_facts *f, struct str kept, struct arena *scratch);

#endif
