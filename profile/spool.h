/*
 * Bytes put aside while a file that cannot be read twice is read once: in memory while they are
 * few, in a file without a name when they are many.
 *
 * Private to profile/.
 */
#ifndef PROFILE_SPOOL_H
#define PROFILE_SPOOL_H

#include "base/arena.h"
#include "base/input.h"

struct spool;

struct spool *spool_new(struct arena *scratch);
/* Append; where it begins.  spool_done reports what went wrong. */
int64_t spool_put(struct spool *s, struct str bytes);
/*
 * All that was put, in order, takes the place of the input's own bytes, which are let go; the path
 * stays, for messages.  The spool is closed, whatever comes of it.
 */
bool spool_done(struct spool *s, struct input *in, struct arena *keep, struct diag *err);
/* Without the bytes, when reading failed. */
void spool_drop(struct spool *s);

#endif
