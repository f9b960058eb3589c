/*
 * Any bytes as a row of frames: each is whole, or the reader says what is wrong and stops.  What
 * was read is a request, or is refused with a reason.
 */
#include <string.h>

#include "base/frame.h"
#include "tests/fuzz/fuzz.h"

static ptrdiff_t take(void *from, char *to, ptrdiff_t n)
{
	struct str *rest = from, head = str_head(*rest, n);
	if (head.len)
		memcpy(to, head.p, (size_t)head.len);
	*rest = str_from_offset(*rest, head.len);
	return head.len;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct str rest = bytes;
	struct frame_source from = { take, &rest, STR("f") };
	struct diag err = { 0 };
	struct frame f;
	enum frame_state state;
	while ((state = frame_read(&from, keep, &f, &err)) == FRAME_WHOLE) {
		require(cJSON_IsObject(f.head) && f.body.len <= bytes.len);
		frame_release(&f);
	}
	require(!f.head && (state == FRAME_END ? !rest.len : err.text[0] != 0));
}
