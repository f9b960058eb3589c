/* Bytes as gzip, for tests of what reads them. */
#ifndef TEST_PACK_H
#define TEST_PACK_H

#include "base/arena.h"

struct str pack(struct str bytes, struct arena *keep);

#endif
