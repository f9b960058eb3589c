/*
 * All ops of a device plane in one order: each lane through a small window that mends disorder,
 * then a heap over the lanes' heads.
 *
 *	lane 0  ..e e e e e e e|window| -> head \
 *	lane 1  ..e e e e e e e|window| -> head  > heap -> merge_next
 *	lane 2  ..e e e e e e e|window| -> head /
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "profile/xplane.h"

/* Events a lane may be out of place by.  Real TPU lanes step back by one or two. */
#define WINDOW 64
/* Consumed pages go back to the system when a plane's lanes hold this much of them together, */
#define DROP_BYTES ((ptrdiff_t)8 << 20)
/* but not in pieces smaller than this: each costs a system call. */
#define DROP_LEAST ((ptrdiff_t)256 << 10)

struct lane_reader {
	struct lane *lane;
	struct lane_walk walk;
	int32_t index;		      /* of the lane in its plane */
	struct op_event ring[WINDOW]; /* sorted; [first, first+count) modulo WINDOW */
	int first, count;
	const struct op_event *head; /* the next event; NULL at the end */
	bool ended, disordered;
	int64_t last_start_ps;
	const char *dropped;	 /* input consumed up to here is given back, */
	ptrdiff_t drop_chunk;	 /* of this chunk */
	struct op_event *sorted; /* the whole lane, when lane->sort */
	ptrdiff_t sorted_count, sorted_at;
	size_t sorted_bytes;
};

struct merge {
	struct plane *plane;
	struct lane_reader *readers;
	ptrdiff_t reader_count, drop_bytes;
	struct lane_reader **heap; /* readers that have a head, by it */
	ptrdiff_t heap_count;
	struct wire fail;
};

/* Start first; of equal starts the longer first, so that a parent precedes its children. */
static inline bool before(const struct op_event *a, const struct op_event *b)
{
	if (a->start_ps != b->start_ps)
		return a->start_ps < b->start_ps;
	if (a->end_ps != b->end_ps)
		return a->end_ps > b->end_ps;
	return a->lane < b->lane;
}

static inline struct op_event *slot(struct lane_reader *r, int i)
{
	return &r->ring[(r->first + i) & (WINDOW - 1)];
}

/* Insertion from the end: one comparison for a lane that is in order. */
static void window_insert(struct lane_reader *r)
{
	int i = r->count++;
	struct op_event e;

	if (i == 0 || !before(slot(r, i), slot(r, i - 1)))
		return;
	e = *slot(r, i);
	do {
		*slot(r, i) = *slot(r, i - 1);
		i--;
	} while (i > 0 && before(&e, slot(r, i - 1)));
	*slot(r, i) = e;
}

static void drop_to(struct merge *m, struct lane_reader *r, const char *to)
{
	const struct input *in = m->plane->profile->input;

	/* CPU ordinals share their lanes; other planes read theirs once. */
	if (m->plane->platform != PLATFORM_CPU && r->dropped)
		input_drop(in, r->dropped - in->bytes.p, to - in->bytes.p);
	r->dropped = to;
}

static void drop_consumed(struct merge *m, struct lane_reader *r)
{
	const char *at = (const char *)r->walk.wire.at;

	for (; r->drop_chunk < r->walk.chunk && r->drop_chunk < r->lane->chunk_count;
		r->drop_chunk++) {
		struct str bytes = r->lane->chunks[r->drop_chunk].bytes;
		drop_to(m, r, bytes.p + bytes.len);
		r->dropped = NULL;
	}
	if (!r->dropped && r->drop_chunk < r->lane->chunk_count)
		r->dropped = r->lane->chunks[r->drop_chunk].bytes.p;
	if (r->dropped && (at - r->dropped >= m->drop_bytes || r->ended))
		drop_to(m, r, at);
}

/* One more event of the lane; false at its end or on damage. */
static bool reader_pull(struct merge *m, struct lane_reader *r, struct op_event *ret)
{
	struct raw_event raw;
	bool skip;

	while (lane_walk_next(&r->walk, &raw)) {
		if (!op_event_read(m->plane, &r->walk, &raw, ret, &skip, &r->walk.fail))
			break;
		if (skip)
			continue;
		ret->lane = r->index;
		return true;
	}
	if (r->walk.fail.why && !m->fail.why)
		m->fail = r->walk.fail;
	return false;
}

static __attribute__((noinline)) void reader_fill(struct merge *m, struct lane_reader *r)
{
	while (!r->ended && r->count < WINDOW) {
		if (reader_pull(m, r, slot(r, r->count)))
			window_insert(r);
		else
			r->ended = true;
	}
	drop_consumed(m, r);
}

static int sorted_cmp(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a) ? 1 : 0;
}

_Static_assert(sizeof(struct op_event) == 40, "the figure below");

/*
 * A lane to be sorted: its events as one array, in pages of their own that go back when the merge
 * ends.  40 bytes an event, where the file has about 45.
 */
static bool reader_sort(struct merge *m, struct lane_reader *r)
{
	size_t cap = (size_t)r->lane->bytes / 2 + 1; /* an event's tag and its length */
	struct op_event e;

	r->sorted_bytes = cap * sizeof(*r->sorted);
	void *p = mmap(NULL, r->sorted_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		m->fail.why = "a lane is out of order and too large to sort";
		return false;
	}
	r->sorted = p;
	while ((size_t)r->sorted_count < cap && reader_pull(m, r, &e))
		r->sorted[r->sorted_count++] = e;
	r->ended = true;
	drop_consumed(m, r);
	qsort(r->sorted, (size_t)r->sorted_count, sizeof(*r->sorted), sorted_cmp);
	return true;
}

/* Find the head; it stays in place until the reader advances. */
static inline void reader_look(struct merge *m, struct lane_reader *r)
{
	if (r->lane->sort) {
		r->head = r->sorted_at < r->sorted_count ? &r->sorted[r->sorted_at] : NULL;
		return;
	}
	if (r->count <= WINDOW / 2 && !r->ended)
		reader_fill(m, r);
	r->head = r->count > 0 ? slot(r, 0) : NULL;
}

static inline void reader_advance(struct merge *m, struct lane_reader *r)
{
	r->last_start_ps = r->head->start_ps;
	r->sorted_at++;
	r->first = (r->first + 1) & (WINDOW - 1);
	r->count--;
	reader_look(m, r);
}

/* Readers in the heap have a head. */
static inline bool heap_before(const struct merge *m, ptrdiff_t a, ptrdiff_t b)
{
	return before(m->heap[a]->head, m->heap[b]->head);
}

static void heap_down(struct merge *m, ptrdiff_t i)
{
	for (;;) {
		ptrdiff_t least = i, left = 2 * i + 1, right = left + 1;

		if (left < m->heap_count && heap_before(m, left, least))
			least = left;
		if (right < m->heap_count && heap_before(m, right, least))
			least = right;
		if (least == i)
			return;
		struct lane_reader *t = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = t;
		i = least;
	}
}

static bool lane_is_ours(const struct lane *l)
{
	return (l->class == LANE_OPS || l->class == LANE_STREAM) && l->bytes > 0;
}

static ptrdiff_t lanes_of_ours(const struct plane *p)
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		n += lane_is_ours(&p->lanes[i]);
	return n;
}

struct merge *merge_new(struct plane *p, struct arena *keep)
{
	struct merge *m = arena_make(keep, struct merge, 1);
	ptrdiff_t lanes = lanes_of_ours(p), share = DROP_BYTES / (lanes > 0 ? lanes : 1);

	m->plane = p;
	m->drop_bytes = share > DROP_LEAST ? share : DROP_LEAST;
	m->readers = arena_make(keep, struct lane_reader, lanes);
	m->heap = arena_make(keep, struct lane_reader *, lanes);
	for (ptrdiff_t i = 0; i < p->lane_count; i++) {
		if (!lane_is_ours(&p->lanes[i]))
			continue;
		struct lane_reader *r = &m->readers[m->reader_count++];
		r->lane = &p->lanes[i];
		r->index = (int32_t)i;
		r->walk = lane_walk_new(p, r->lane);
		r->last_start_ps = INT64_MIN;
		if (r->lane->sort && !reader_sort(m, r))
			return m;
		reader_look(m, r);
		if (r->head)
			m->heap[m->heap_count++] = r;
	}
	for (ptrdiff_t i = m->heap_count / 2 - 1; i >= 0; i--)
		heap_down(m, i);
	return m;
}

bool merge_next(struct merge *m, struct op_event *ret)
{
	if (m->heap_count == 0 || m->fail.why)
		return false;
	struct lane_reader *r = m->heap[0];

	*ret = *r->head;
	if (r->head->start_ps < r->last_start_ps) {
		r->disordered = true;
		m->heap_count = 0;
		return false;
	}
	reader_advance(m, r);
	if (!r->head)
		m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count > 1)
		heap_down(m, 0);
	return true;
}

bool merge_end(const struct merge *m, struct diag *err)
{
	err->id = DIAG_NONE;
	if (m->fail.why) {
		wire_error(&m->fail, m->plane->profile->input->bytes, "XEvent", err);
		return diag_context(err, "plane '%.*s'", STR_ARG(m->plane->name));
	}
	for (ptrdiff_t i = 0; i < m->reader_count; i++) {
		if (!m->readers[i].disordered)
			continue;
		for (ptrdiff_t k = 0; k < m->reader_count; k++)
			m->readers[k].lane->sort = true;
		return false;
	}
	return true;
}

void merge_free(struct merge *m)
{
	for (ptrdiff_t i = 0; i < m->reader_count; i++) {
		struct lane_reader *r = &m->readers[i];
		r->ended = true;
		drop_consumed(m, r);
		if (r->sorted)
			munmap(r->sorted, r->sorted_bytes);
	}
}
