/*
 * Tables for stores in ClickHouse, for whoever may make them: rooflint only reads and writes.
 */
#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#include "base/out.h"

/* Statements for one server. */
void store_table(struct out *out);
/*
 * For each server of a cluster that have the macros {cluster}, {shard} and {replica}: a replicated
 * table, and one that spreads rows over the shards.  Not ON CLUSTER, which runs in the other
 * servers' default database.
 */
void store_table_cluster(struct out *out);

#endif
