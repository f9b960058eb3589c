/*
 * Blocks of unpacked bytes in a ring: one thread fills, the caller drains.  See stream.h.
 *
 *	slot   | ..... headroom | block                  |
 *	              `- unread -'`---- next window -----'
 *
 * What the caller has not used of one block is copied in front of the next, so that a window is
 * always one piece.
 */
#include "profile/stream.h"

#include <assert.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <string.h>

#include "base/out.h"

/* Large enough that handing over costs nothing, and the ring of them small beside the L2 caches. */
enum { BLOCK = 256 << 10, SLOTS = 4 };
/* Bytes of the file given to the unpacker at once, and given back to the system behind it. */
enum { FEED = 1 << 20 };
/* Below this no thread is started: it would cost more than it saves. */
enum { THREAD_LEAST = 256 << 10 };
/* Room for a ring. */
#define SCRATCH_BYTES ((ptrdiff_t)8 << 20)
/*
 * A trace of nothing but repeated events packs to a fiftieth.  Data that unpacks to more than this
 * many times its size, once it is larger than RATIO_FREE, is made to fill memory or a disk; the
 * most bytes are those of 5 million events, the exporter's limit, at 10 kB each.
 */
#define RATIO_MAX  400
#define RATIO_FREE ((int64_t)64 << 20)
#define BYTES_MAX  ((int64_t)50 << 30)

struct slot {
	char *block; /* STREAM_UNREAD bytes are free in front of it */
	ptrdiff_t len;
};

struct stream {
	const struct input *in;
	struct inflate_state *gzip; /* NULL: the bytes are handed out as they are */
	ptrdiff_t at;		    /* bytes of the file used, or with the unpacker */
	int64_t unpacked;
	const char *why; /* NULL, or what is wrong with the data */
	ptrdiff_t wrong; /* offset in the file */
	struct slot slots[SLOTS];
	int64_t drained, handed; /* blocks; bytes */
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t moved;
	int64_t filled;
	bool ended, cancelled;
};

/* ---- unpacking ------------------------------------------------------------------------------- */

static bool wrong(struct stream *s, const char *why)
{
	s->why = why;
	s->wrong = s->at - (s->gzip ? (ptrdiff_t)s->gzip->avail_in : 0);
	return false;
}

static bool feed(struct stream *s)
{
	ptrdiff_t left = s->in->bytes.len - s->at, n = left < FEED ? left : FEED;
	input_drop(s->in, s->at - FEED, s->at);
	s->gzip->next_in = (uint8_t *)(uintptr_t)str_from_offset(s->in->bytes, s->at).p;
	s->gzip->avail_in = (uint32_t)n;
	s->at += n;
	return n > 0;
}

/* Between members: another one, or zeros that pad the file to the size of a tape's block. */
static bool next_member(struct stream *s)
{
	struct inflate_state *z = s->gzip;
	while (z->avail_in || feed(s)) {
		if (*z->next_in == 0x1f) {
			isal_inflate_reset(z);
			return true;
		}
		if (*z->next_in)
			return wrong(s, "bytes that are no gzip data follow its end");
		z->next_in++;
		z->avail_in--;
	}
	return false;
}

static const char *explain(int code)
{
	static const struct {
		int code;
		const char *why;
	} reasons[] = {
		{ ISAL_INCORRECT_CHECKSUM, "the gzip data does not match its own checksum" },
		{ ISAL_UNSUPPORTED_METHOD, "the gzip data is packed in a way that is not read" },
	};
	for (ptrdiff_t i = 0; i < COUNT_OF(reasons); i++)
		if (reasons[i].code == code)
			return reasons[i].why;
	return "the gzip data is damaged";
}

static bool is_bomb(const struct stream *s)
{
	return s->unpacked > BYTES_MAX ||
	       (s->unpacked > RATIO_FREE && s->unpacked / RATIO_MAX > s->at);
}

/* One step of the unpacker: false at the end of all members, and on damage. */
static bool unpack_some(struct stream *s)
{
	struct inflate_state *z = s->gzip;
	if (z->block_state == ISAL_BLOCK_FINISH && !next_member(s))
		return false;
	if (!z->avail_in)
		feed(s);
	uint32_t in = z->avail_in, out = z->avail_out;
	int code = isal_inflate(z);
	if (code != ISAL_DECOMP_OK)
		return wrong(s, explain(code));
	if (z->block_state != ISAL_BLOCK_FINISH && !in && z->avail_out == out)
		return wrong(s, "the gzip data breaks off here");
	return true;
}

static ptrdiff_t unpack(struct stream *s, char *to)
{
	struct inflate_state *z = s->gzip;
	z->next_out = (uint8_t *)to;
	z->avail_out = BLOCK;
	while (z->avail_out && unpack_some(s)) {
	}
	ptrdiff_t n = BLOCK - (ptrdiff_t)z->avail_out;
	s->unpacked += n;
	if (!s->why && is_bomb(s))
		wrong(s, "the gzip data unpacks to more than any trace holds");
	return n;
}

static ptrdiff_t copy(struct stream *s, char *to)
{
	struct str rest = str_head(str_from_offset(s->in->bytes, s->at), BLOCK);
	if (rest.len)
		memcpy(to, rest.p, (size_t)rest.len);
	s->at += rest.len;
	if (s->at % FEED == 0)
		input_drop(s->in, s->at - FEED, s->at);
	return rest.len;
}

/* False when nothing is left. */
static bool fill(struct stream *s, struct slot *slot)
{
	slot->len = s->why ? 0 : s->gzip ? unpack(s, slot->block) : copy(s, slot->block);
	return slot->len > 0;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static void *run(void *arg)
{
	struct stream *s = arg;
	for (bool more = true; more;) {
		pthread_mutex_lock(&s->lock);
		/* One slot is the caller's. */
		while (!s->cancelled && s->filled - s->drained >= SLOTS - 1)
			pthread_cond_wait(&s->moved, &s->lock);
		struct slot *slot = &s->slots[s->filled % SLOTS];
		bool cancelled = s->cancelled;
		pthread_mutex_unlock(&s->lock);
		more = !cancelled && fill(s, slot);
		pthread_mutex_lock(&s->lock);
		s->filled += more;
		s->ended = !more;
		pthread_cond_signal(&s->moved);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

/* The next block, when there is one: waited for, or made here. */
static bool await(struct stream *s)
{
	if (!s->threaded) {
		s->ended = s->ended || !fill(s, &s->slots[s->filled % SLOTS]);
		s->filled += !s->ended;
		return !s->ended;
	}
	pthread_mutex_lock(&s->lock);
	while (s->filled == s->drained && !s->ended)
		pthread_cond_wait(&s->moved, &s->lock);
	bool any = s->filled > s->drained;
	pthread_mutex_unlock(&s->lock);
	return any;
}

struct stream *stream_open(const struct input *in, struct arena *keep)
{
	struct stream *s = arena_make(keep, struct stream, 1);
	*s = (struct stream){ .in = in };
	for (int i = 0; i < SLOTS; i++)
		s->slots[i].block = arena_room(keep, STREAM_UNREAD + BLOCK) + STREAM_UNREAD;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->moved, NULL);
	if (in->kind != INPUT_GZIP)
		return s;
	s->gzip = arena_make(keep, struct inflate_state, 1);
	isal_inflate_init(s->gzip);
	s->gzip->crc_flag = ISAL_GZIP;
	s->threaded = in->bytes.len >= THREAD_LEAST && !pthread_create(&s->thread, NULL, run, s);
	return s;
}

bool stream_more(struct stream *s, ptrdiff_t unread, struct str *window)
{
	if (!await(s))
		return false;
	struct slot *slot = &s->slots[s->drained % SLOTS];
	assert(unread <= STREAM_UNREAD);
	char *begin = slot->block - unread;
	if (unread)
		memcpy(begin, str_from_offset(*window, window->len - unread).p, (size_t)unread);
	*window = (struct str){ begin, unread + slot->len };
	s->handed += slot->len;
	pthread_mutex_lock(&s->lock);
	s->drained++;
	pthread_cond_signal(&s->moved);
	pthread_mutex_unlock(&s->lock);
	return true;
}

bool stream_end(const struct stream *s, struct diag *err)
{
	if (!s->why)
		return true;
	return diag_set(err, DIAG_GZIP, "at byte %td of %td: %s; copy or capture it again",
		s->wrong, s->in->bytes.len, s->why);
}

int64_t stream_bytes(const struct stream *s)
{
	return s->handed;
}

void stream_close(struct stream *s)
{
	if (s->threaded) {
		pthread_mutex_lock(&s->lock);
		s->cancelled = true;
		pthread_cond_signal(&s->moved);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->moved);
	pthread_mutex_destroy(&s->lock);
}

bool stream_all(
	const struct input *in, int64_t max, struct arena *keep, struct str *ret, struct diag *err)
{
	struct arena scratch = arena_new(SCRATCH_BYTES);
	struct stream *s = stream_open(in, &scratch);
	struct out *o = out_memory(keep);
	struct str window = STR("");
	while (stream_bytes(s) <= max && stream_more(s, 0, &window))
		out_str(o, window);
	bool fits = stream_bytes(s) <= max;
	bool whole = fits ? stream_end(s, err)
			  : diag_set(err, DIAG_LIMIT, "more than %lld MiB, unpacked",
				    (long long)(max >> 20));
	stream_close(s);
	arena_free(&scratch);
	*ret = out_text(o);
	return whole;
}
