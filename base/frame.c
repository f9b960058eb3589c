/* Frames over pipes.  See frame.h. */
#include "base/frame.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/out.h"

ptrdiff_t frame_read_fd(void *from, char *to, ptrdiff_t n)
{
	ssize_t got;
	do
		got = read(*(const int *)from, to, (size_t)n);
	while (got < 0 && errno == EINTR);
	return got;
}

static enum frame_state bad(const struct frame_source *from, struct diag *err, const char *what)
{
	diag_set(err, DIAG_DELIVERY, "%.*s: %s", STR_ARG(from->name), what);
	return FRAME_BAD;
}

/*
 * The line without its newline.  Byte by byte, so that nothing behind it is taken: a head has some
 * hundred bytes, and a connection takes longer than a thousand of such calls.
 */
static enum frame_state read_head(
	const struct frame_source *from, struct arena *keep, struct str *ret, struct diag *err)
{
	struct out *line = out_memory(keep);
	for (ptrdiff_t len = 0; len < FRAME_MAX_HEAD; len++) {
		char c;
		ptrdiff_t got = from->read(from->from, &c, 1);
		if (got == 0 && len == 0)
			return FRAME_END;
		if (got <= 0)
			return bad(from, err, "it ended inside a message");
		if (c == '\n') {
			*ret = out_text(line);
			return FRAME_WHOLE;
		}
		out_char(line, c);
	}
	return bad(from, err, "the first line of a message is longer than 64 KiB");
}

/* Bytes of the body; -1 when the head says nothing that can be one. */
static ptrdiff_t body_length(const cJSON *head)
{
	double length = json_get_double(head, "length");
	if (!cJSON_HasObjectItem(head, "length"))
		return 0;
	bool fits = length >= 0 && length <= (double)FRAME_MAX_BODY && length == trunc(length);
	return fits ? (ptrdiff_t)length : -1;
}

static bool read_body(const struct frame_source *from, ptrdiff_t length, struct arena *keep,
	struct str *ret, struct diag *err)
{
	/* In pieces, so that a length which nothing follows costs no memory. */
	enum { PIECE = 64 << 10 };
	struct out *body = out_memory(keep);
	char *piece = arena_make(keep, char, PIECE);
	for (ptrdiff_t left = length; left > 0;) {
		ptrdiff_t got = from->read(from->from, piece, left < PIECE ? left : PIECE);
		if (got <= 0) {
			bad(from, err, "it ended inside a message");
			return false;
		}
		out_str(body, (struct str){ piece, got });
		left -= got;
	}
	*ret = out_text(body);
	return true;
}

enum frame_state frame_read(
	const struct frame_source *from, struct arena *keep, struct frame *ret, struct diag *err)
{
	struct str line;
	*ret = (struct frame){ 0 };
	enum frame_state state = read_head(from, keep, &line, err);
	if (state != FRAME_WHOLE)
		return state;
	ret->head = json_parse(from->name, line, err);
	if (!ret->head)
		return FRAME_BAD;
	ptrdiff_t length = cJSON_IsObject(ret->head) ? body_length(ret->head) : -1;
	if (length >= 0 && read_body(from, length, keep, &ret->body, err))
		return FRAME_WHOLE;
	frame_release(ret);
	return length >= 0 ? FRAME_BAD
			   : bad(from, err, "a message is an object with a length up to 64 MiB");
}

void frame_release(struct frame *f)
{
	cJSON_Delete(f->head);
	f->head = NULL;
}

bool frame_write(int fd, cJSON *head, struct str body, struct arena *scratch, struct diag *err)
{
	struct out *o = out_fd(scratch, fd);
	cJSON_DeleteItemFromObjectCaseSensitive(head, "length");
	json_add_i64(head, "length", body.len);
	json_line(head, o);
	out_str(o, body);
	return out_close(o, err);
}
