/* Bytes as gzip, for tests of what reads them. */
#ifndef TEST_PACK_H
#define TEST_PACK_H

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "base/arena.h"

static inline struct str pack(struct str bytes, struct arena *keep)
{
	struct isal_zstream z;
	ptrdiff_t room = bytes.len + bytes.len / 8 + 1024;
	char *to = arena_make(keep, char, room);
	isal_deflate_stateless_init(&z);
	z.gzip_flag = IGZIP_GZIP;
	z.end_of_stream = 1;
	z.next_in = (uint8_t *)(uintptr_t)bytes.p;
	z.avail_in = (uint32_t)bytes.len;
	z.next_out = (uint8_t *)to;
	z.avail_out = (uint32_t)room;
	if (isal_deflate_stateless(&z) != COMP_OK)
		abort();
	return (struct str){ to, (ptrdiff_t)z.total_out };
}

#endif
