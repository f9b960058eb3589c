/* Gzip in memory.  See pack.h. */
#include "session/pack.h"

#include <isa-l/igzip_lib.h>

#include "profile/stream.h"

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
	z.next_in = (uint8_t *)(uintptr_t)text.p;
	z.avail_in = (uint32_t)text.len;
	z.next_out = (uint8_t *)to;
	z.avail_out = (uint32_t)room;
	bool ok = isal_deflate_stateless(&z) == COMP_OK;
	return ok ? (struct str){ to, (ptrdiff_t)z.total_out } : MISSING;
}

struct str unpack(struct str bytes, struct arena *keep)
{
	struct input in = input_memory(STR("gzip"), bytes);
	struct diag ignored;
	struct str text;
	bool ok = in.kind == INPUT_GZIP && stream_all(&in, PACK_MAX, keep, &text, &ignored);
	return ok ? text : MISSING;
}
