/*
 * A file's bytes from front to back, unpacked on the way when they are gzip.
 *
 *	struct stream *s = stream_open(in, keep);
 *	struct str window = STR("");
 *	while (stream_more(s, unread, &window))
 *		... use window, and say how many of its last bytes are still needed ...
 *	bool whole = stream_end(s, err);
 *	stream_close(s);
 *
 * Unpacking runs on a thread of its own, a few blocks ahead.  Every member of the gzip data is
 * read and its checksum compared; data that ends early is an error and not an end.  Pages of the
 * file are given back when they are used up.
 *
 * Refuses: going back; any other way of packing.
 */
#ifndef PROFILE_STREAM_H
#define PROFILE_STREAM_H

#include "base/input.h"

/* What a reader may still need of a window: the longest event of a trace, ten times over. */
#define STREAM_UNREAD ((ptrdiff_t)1 << 20)

struct stream;

/* The input must stay open. */
struct stream *stream_open(const struct input *in, struct arena *keep);
/*
 * The last `unread` bytes of the window, at most STREAM_UNREAD, and the next block behind them.
 * False at the end or an error; the window stays as it was then.
 */
bool stream_more(struct stream *s, ptrdiff_t unread, struct str *window);
/* After stream_more was false: true at the end of data that was whole. */
bool stream_end(const struct stream *s, struct diag *err);
int64_t stream_bytes(const struct stream *s); /* handed out so far, unpacked */
void stream_close(struct stream *s);

/* All at once, unpacked; `max` bytes at the most. */
bool stream_all(
	const struct input *in, int64_t max, struct arena *keep, struct str *ret, struct diag *err);

#endif
