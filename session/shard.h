/*
 * A part of many runs, so that several machines share the work.
 *
 * Every shard sees the same list of runs and picks its own without asking the others: the largest
 * run left goes to the shard with the fewest bytes so far.  All shards must look at the same tree.
 */
#ifndef SESSION_SHARD_H
#define SESSION_SHARD_H

#include "base/arena.h"
#include "base/diag.h"

#define SHARDS_MAX 100000 /* tasks of the largest cluster schedulers */

struct shard {
	int64_t index, count; /* index from 0; a count of 0: no sharding */
};

/* "2/8", counted from 1, or "auto": what the scheduler says in the environment (table in shard.c),
 * and the whole where it says nothing. */
bool shard_parse(struct str text, struct shard *ret, struct diag *err);

/* ret[i] tells whether run i belongs to the shard, whose index is below its count. */
void shard_pick(
	struct shard shard, const int64_t *bytes, ptrdiff_t count, struct arena scratch, bool *ret);

#endif
