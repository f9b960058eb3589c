/* A buffer, and the file it flows over into.  See spool.h. */
#include "profile/spool.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"

/* Traces of a few megabytes need no file; larger ones write in pieces of this size.  Most are much
 * smaller, and memory that was never touched costs nothing. */
#define BUFFER ((ptrdiff_t)4 << 20)
/* 5 million events, the exporter's limit, are 200 MB; this is room for any text beside them. */
#define SPOOL_MAX ((int64_t)16 << 30)

struct spool {
	struct arena room; /* its own: what is put may lie in the caller's unused memory */
	char *buffer;
	ptrdiff_t len;
	int64_t flushed;
	int fd;	   /* -1: everything is in the buffer */
	int error; /* errno of the first failure */
};

struct spool *spool_new(struct arena *scratch)
{
	struct spool *s = arena_make(scratch, struct spool, 1);
	s->room = arena_new(2 * BUFFER);
	s->buffer = arena_room(&s->room, BUFFER);
	s->fd = -1;
	return s;
}

/* Its name is gone at once, so that nothing is left behind, however the process ends. */
static int file_without_name(void)
{
	char path[4096];
	const char *dir = getenv("TMPDIR");
	if (!dir || !*dir || strlen(dir) > sizeof(path) - 32)
		dir = "/tmp";
	snprintf(path, sizeof(path), "%s/rooflint-XXXXXX", dir);
	int fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static void flush(struct spool *s)
{
	if (s->fd < 0 && !s->error && (s->fd = file_without_name()) < 0)
		s->error = errno;
	if (s->flushed + s->len > SPOOL_MAX && !s->error)
		s->error = EFBIG;
	if (!s->error && !write_all(s->fd, (struct str){ s->buffer, s->len }))
		s->error = errno;
	s->flushed += s->len;
	s->len = 0;
}

int64_t spool_put(struct spool *s, struct str bytes)
{
	int64_t at = s->flushed + s->len;
	assert(s->buffer); /* neither done nor dropped */
	while (bytes.len) {
		ptrdiff_t room = BUFFER - s->len, n = bytes.len < room ? bytes.len : room;
		memcpy(s->buffer + s->len, bytes.p, (size_t)n);
		s->len += n;
		bytes = str_from_offset(bytes, n);
		if (s->len == BUFFER)
			flush(s);
	}
	return at;
}

bool spool_done(struct spool *s, struct input *in, struct arena *keep, struct diag *err)
{
	if (s->fd >= 0)
		flush(s);
	bool ok = !s->error;
	if (!ok)
		diag_set(err, DIAG_OUTPUT,
			"its events could not be put aside: %s; have TMPDIR name a directory with "
			"room",
			strerror(s->error));
	else if (s->fd < 0)
		input_replace(in, arena_str(keep, (struct str){ s->buffer, s->len }), keep);
	else
		ok = input_replace_file(in, s->fd, keep, err);
	spool_drop(s);
	return ok;
}

void spool_drop(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->buffer = NULL;
	arena_free(&s->room);
}
