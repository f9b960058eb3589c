/*
 * Any bytes as a row of frames: each is whole, or the reader says what is wrong and stops.  What
 * was read is a request, or is refused with a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ptrdiff_t take(void *from, char *to, ptrdiff_t n)
{
	struct str *rest = from, head = str_head(*rest, n);
	if (head.len)
		memcpy(to, head.p, (size_t)head.len);
	*rest = str_from_offset(*rest, head.len);
	return head.len;
}

static void require(bool truth)
{
	if (!truth)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena keep = arena_new(ARENA_RUN_BYTES);
	struct str rest = { (const char *)data, (ptrdiff_t)size };
	struct frame_source from = { take, &rest, STR("f") };
	struct diag err = { 0 };
	struct frame f;
	enum frame_state state;
	while ((state = frame_read(&from, &keep, &f, &err)) == FRAME_WHOLE) {
		require(cJSON_IsObject(f.head) && f.body.len <= (ptrdiff_t)size);
		frame_release(&f);
	}
	require(!f.head && (state == FRAME_END ? !rest.len : err.text[0] != 0));
	arena_free(&keep);
	return 0;
}
