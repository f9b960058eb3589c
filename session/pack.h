/*
 * Small texts as gzip, in memory, for whoever keeps many of them.
 *
 * Refuses: files (input.h, stream.h).
 */
#ifndef SESSION_PACK_H
#define SESSION_PACK_H

#include "base/arena.h"

/* Most that is unpacked.  The tables of a report with every row it may have take a tenth of it. */
#define PACK_MAX ((ptrdiff_t)16 << 20)

/* Missing when the text is longer than 2 GiB. */
struct str pack(struct str text, struct arena *keep);
/* Missing when the bytes are damaged, end early, or unpack to more than PACK_MAX. */
struct str unpack(struct str bytes, struct arena *keep);

#endif
