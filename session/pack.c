/* Gzip in memory.  See pack.h. */
#include "session/pack.h"

#include <isa-l/igzip_lib.h>

static uint8_t *bytes_of(struct str s)
{
	return (uint8_t *)(uintptr_t)s.p;
}

struct str pack(struct str text, struct arena *keep)
{
	struct isal_zstream z;
	/* What cannot be made smaller grows by the heads of its blocks, of 64 KiB each. */
	ptrdiff_t room = text.len + text.len / 1024 + 1024;
	char *to = text.len <= INT32_MAX ? arena_make(keep, char, room) : NULL;
	if (!to)
		return MISSING;
	isal_deflate_stateless_init(&z);
	z.gzip_flag = IGZIP_GZIP;
	z.end_of_stream = 1;
	z.next_in = bytes_of(text);
	z.avail_in = (uint32_t)text.len;
	z.next_out = (uint8_t *)to;
	z.avail_out = (uint32_t)room;
	bool ok = isal_deflate_stateless(&z) == COMP_OK;
	return ok ? (struct str){ to, (ptrdiff_t)z.total_out } : MISSING;
}

/* The last four bytes of gzip say how long the text was; that is a hint, and nothing to trust. */
static ptrdiff_t said_length(struct str bytes)
{
	uint32_t length = 0;
	for (ptrdiff_t i = 0; i < 4 && bytes.len >= 18; i++)
		length |= (uint32_t)bytes_of(bytes)[bytes.len - 4 + i] << (8 * i);
	return length;
}

struct str unpack(struct str bytes, struct arena *keep)
{
	ptrdiff_t room = said_length(bytes);
	if (room > PACK_MAX || bytes.len > PACK_MAX)
		return MISSING;
	struct inflate_state *z = arena_make(keep, struct inflate_state, 1);
	char *to = arena_make(keep, char, room + 1);
	isal_inflate_init(z);
	z->crc_flag = ISAL_GZIP;
	z->next_in = bytes_of(bytes);
	z->avail_in = (uint32_t)bytes.len;
	z->next_out = (uint8_t *)to;
	z->avail_out = (uint32_t)room + 1;
	bool ok = isal_inflate(z) == ISAL_DECOMP_OK && z->block_state == ISAL_BLOCK_FINISH &&
		  z->total_out == room;
	return ok ? (struct str){ to, room } : MISSING;
}
