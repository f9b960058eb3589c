/*
 * Tables of ClickHouse, and runs as rows of its RowBinary, which keeps every bit of a number.
 *
 * A row has the columns of run_facts_def and behind them those of fact_part_defs as arrays with an
 * element for each rule, and for each device.  Without separators or names, one after the other:
 *
 *     hash       String             length (varint), bytes
 *     texts      Nullable(String)   1 for NULL, else 0 and a String
 *     numbers    Nullable(Float64)  1 for NULL, else 0 and 8 bytes, the lowest first
 *     of parts   Array(...)         count (varint), elements
 *
 * Refuses: judging what it read; run_facts_flaw does.
 */
#ifndef STORE_ROWBINARY_H
#define STORE_ROWBINARY_H

#include "store/facts.h"

struct rowbinary_column {
	struct str name, type;
};
/* The columns in order with types as the server tells them; "verdicts.rule" for those of parts. */
ptrdiff_t rowbinary_types(struct arena *keep, struct rowbinary_column **ret);

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

void rowbinary_write(struct out *out, const struct run_facts *f);
/* A row to append has behind these columns what questions read (facts.h), in this order. */
ptrdiff_t rowbinary_numbers(struct arena *keep, struct rowbinary_column **ret);
void rowbinary_write_numbers(struct out *out, const struct run_facts *f, struct arena *scratch);

enum rowbinary_state {
	ROWBINARY_ROW,
	ROWBINARY_END, /* no bytes are left */
	ROWBINARY_CUT, /* they end inside a row, which stays in *rest */
	ROWBINARY_BAD  /* they are no such row */
};
/* Texts are borrowed from *rest. */
enum rowbinary_state rowbinary_read(struct str *rest, struct arena *keep, struct run_facts *ret);
/* A row of two columns that are String. */
enum rowbinary_state rowbinary_read_pair(struct str *rest, struct str *first, struct str *second);

#endif
