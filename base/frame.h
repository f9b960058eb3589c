/*
 * Frames: how two programs talk over pipes.
 *
 *     {"id":1,"method":"POST","length":5}\nhello
 *
 * One line of JSON, an object, then as many bytes as its "length" says; none when it has none.
 * So a reader never looks for an end inside a body, and a body may hold any bytes.
 *
 * Here, and not in http/ or session/, because each of the two programs has one of them.
 *
 * Refuses: knowing what the messages mean.
 */
#ifndef BASE_FRAME_H
#define BASE_FRAME_H

#include "base/json.h"

#define FRAME_MAX_HEAD ((ptrdiff_t)64 << 10) /* names, headers, an id: a hundredth of it */
#define FRAME_MAX_BODY ((ptrdiff_t)64 << 20) /* the largest batch of records sent at once */

struct frame {
	cJSON *head; /* an object; free with frame_release */
	struct str body;
};

/* Bytes to read from: up to `n` into `to`; 0 at the end, -1 on an error. */
struct frame_source {
	ptrdiff_t (*read)(void *from, char *to, ptrdiff_t n);
	void *from;
	struct str name; /* for messages: who talks */
};

enum frame_state {
	FRAME_WHOLE,
	FRAME_END, /* the other side has closed between two frames */
	FRAME_BAD  /* with a diagnostic; nothing more can be read from this source */
};
enum frame_state frame_read(
	const struct frame_source *from, struct arena *keep, struct frame *ret, struct diag *err);
void frame_release(struct frame *f);

/* Sets the head's "length" and writes the whole frame. */
bool frame_write(int fd, cJSON *head, struct str body, struct arena *scratch, struct diag *err);

/* A frame_source's read for a descriptor; `from` points at it. */
ptrdiff_t frame_read_fd(void *from, char *to, ptrdiff_t n);

#endif
