/*
 * All ops of a device plane in one order: each lane through a small window that mends disorder,
 * then a heap over the lanes' heads.
 *
 *	lane 0  ..e e e e e e e|window| -> head \
 *	lane 1  ..e e e e e e e|window| -> head  > heap -> merge_run
 *	lane 2  ..e e e e e e e|window| -> head /
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profile/xplane.h"

/* Events a lane may be out of place by.  Real TPU lanes step back by one or two. */
#define LOOKAHEAD 64
/* Events held of a lane: so many more than that, that moving those is rare. */
#define WINDOW (3 * LOOKAHEAD)
/* Consumed pages go back to the system when a plane's lanes hold this much of them together, */
#define DROP_BYTES ((ptrdiff_t)2 << 20)
/* but not in pieces smaller than this: each costs a system call. */
#define DROP_LEAST ((ptrdiff_t)256 << 10)

struct lane_reader {
	struct lane *lane;
	struct lane_walk walk;
	int32_t index; /* of the lane in its plane */
	/* What is read of the lane, in order: the next event (NULL at the end), where to read on,
	 * and the end; of the window, or of the whole lane when lane->sort. */
	const struct op_event *head, *refill;
	struct op_event *end;
	bool ended, disordered;
	struct op_event *sorted;
	size_t sorted_bytes;
	struct op_event window[WINDOW];
};

struct merge {
	struct plane *plane;
	struct lane_reader *readers;
	ptrdiff_t reader_count, drop_bytes;
	struct lane_reader **heap; /* readers that have a head, by it */
	ptrdiff_t heap_count;
	const struct op_event *lent; /* the first reader's events up to here are the caller's */
	bool stopped;		     /* by damage or disorder */
	struct plane_lost lost;
	struct wire fail;
};

/* Start first; of equal starts the longer first, so that a parent precedes its children. */
static inline bool before(const struct op_event *a, const struct op_event *b)
{
	if (mostly(a->start_ps != b->start_ps))
		return a->start_ps < b->start_ps;
	if (a->end_ps != b->end_ps)
		return a->end_ps > b->end_ps;
	return a->lane < b->lane;
}

/* Insertion from the end: one comparison for a lane that is in order. */
static inline void window_insert(struct op_event *window, struct op_event *e)
{
	if (mostly(e == window || !before(e, e - 1)))
		return;
	struct op_event moved = *e;
	for (; e > window && before(&moved, e - 1); e--)
		*e = e[-1];
	*e = moved;
}

static __attribute__((noinline)) bool reader_pull_any(
	struct merge *m, struct lane_reader *r, struct op_event *ret)
{
	struct raw_event raw;
	bool skip;

	while (lane_walk_next(&r->walk, &raw)) {
		if (!op_event_read(m->plane, &r->walk, &raw, ret, &skip, &m->lost, &r->walk.fail))
			break;
		if (!skip)
			return true;
	}
	if (r->walk.fail.why && !m->fail.why)
		m->fail = r->walk.fail;
	m->stopped |= r->walk.fail.why != NULL;
	return false;
}

/*
 * The lane's next events from `to` to `end`, one or more; where they end, `to` at the lane's end
 * and on damage.
 */
static inline struct op_event *reader_pull(
	struct merge *m, struct lane_reader *r, struct op_event *to, const struct op_event *end)
{
	bool tpu = m->plane->platform == PLATFORM_TPU;
	struct op_event *ret =
		(tpu ? tpu_events_read : kernel_events_read)(m->plane, &r->walk, r->index, to, end);

	if (ret > to)
		return ret;
	to->lane = r->index;
	return reader_pull_any(m, r, to) ? to + 1 : to;
}

/* Events from `end` on, as many as the window holds. */
static void window_fill(struct merge *m, struct lane_reader *r)
{
	struct op_event *full = r->window + WINDOW, *read;

	while (r->end < full && (read = reader_pull(m, r, r->end, full)) > r->end)
		for (; r->end < read; r->end++)
			window_insert(r->window, r->end);
	r->ended = r->end < full;
	r->head = r->end > r->window ? r->window : NULL;
	r->refill = r->ended ? r->end : full - LOOKAHEAD;
	lane_walk_drop(&r->walk, r->ended ? 1 : m->drop_bytes);
}

/* `head` has come to `refill`: the events behind it move to the front, and others follow. */
static __attribute__((noinline)) void reader_refill(struct merge *m, struct lane_reader *r)
{
	int64_t last_ps = r->head[-1].start_ps;
	ptrdiff_t left = r->end - r->head;

	if (r->ended) {
		r->head = NULL;
		return;
	}
	memmove(r->window, r->head, (size_t)left * sizeof(*r->head));
	r->end = r->window + left;
	window_fill(m, r);
	r->disordered = r->head->start_ps < last_ps;
	m->stopped |= r->disordered;
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
static void reader_sort(struct merge *m, struct lane_reader *r)
{
	size_t cap = (size_t)r->lane->bytes / 2 + 1; /* an event's tag and its length */
	struct op_event *read;

	r->sorted_bytes = cap * sizeof(*r->sorted);
	void *p = mmap(NULL, r->sorted_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		m->fail.why = "a lane is out of order and too large to sort";
		m->stopped = true;
		return;
	}
	r->sorted = r->end = p;
	const struct op_event *full = r->sorted + cap;
	while (r->end < full && (read = reader_pull(m, r, r->end, full)) > r->end)
		r->end = read;
	r->ended = true;
	lane_walk_drop(&r->walk, 1);
	qsort(r->sorted, (size_t)(r->end - r->sorted), sizeof(*r->sorted), sorted_cmp);
	r->refill = r->end;
	r->head = r->end > r->sorted ? r->sorted : NULL;
}

/* Readers in the heap have a head. */
static void heap_down(struct merge *m, ptrdiff_t i)
{
	for (;;) {
		ptrdiff_t least = i;

		for (ptrdiff_t k = 2 * i + 1; k <= 2 * i + 2 && k < m->heap_count; k++)
			if (before(m->heap[k]->head, m->heap[least]->head))
				least = k;
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

struct merge *merge_new(struct plane *p, struct arena *keep)
{
	struct merge *m = arena_make(keep, struct merge, 1);
	ptrdiff_t lanes = 0;

	assert(p->keep); /* learned, and not forgotten since */
	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		lanes += lane_is_ours(&p->lanes[i]);
	ptrdiff_t share = DROP_BYTES / (lanes > 0 ? lanes : 1);
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
		r->end = r->window;
		if (r->lane->sort)
			reader_sort(m, r);
		else
			window_fill(m, r);
		if (r->head)
			m->heap[m->heap_count++] = r;
	}
	for (ptrdiff_t i = m->heap_count / 2 - 1; i >= 0; i--)
		heap_down(m, i);
	return m;
}

/* What was handed out last is consumed only now: it was lent from its reader's window. */
static void merge_advance(struct merge *m)
{
	struct lane_reader *r = m->heap[0];

	r->head = m->lent;
	if (r->head == r->refill)
		reader_refill(m, r);
	if (!r->head)
		m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count > 1)
		heap_down(m, 0);
}

/* The least head of the readers behind the first one; NULL: there is no other. */
static const struct op_event *second_head(const struct merge *m)
{
	if (m->heap_count < 2)
		return NULL;
	const struct op_event *a = m->heap[1]->head;
	const struct op_event *b = m->heap_count > 2 ? m->heap[2]->head : a;
	return before(b, a) ? b : a;
}

ptrdiff_t merge_run(struct merge *m, ptrdiff_t most, const struct op_event **ret)
{
	if (m->lent)
		merge_advance(m);
	m->lent = NULL;
	if (m->heap_count == 0 || m->stopped)
		return 0;
	const struct lane_reader *r = m->heap[0];
	const struct op_event *next = second_head(m), *e = r->head + 1;
	const struct op_event *end = r->refill - r->head < most ? r->refill : r->head + most;
	while (e < end && (!next || before(e, next)))
		e++;
	m->lent = e;
	*ret = r->head;
	return e - r->head;
}

const struct op_event *merge_next(struct merge *m)
{
	const struct op_event *ret;

	return merge_run(m, 1, &ret) ? ret : NULL;
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
	m->plane->lost = m->lost;
	return true;
}

void merge_free(struct merge *m)
{
	for (ptrdiff_t i = 0; i < m->reader_count; i++) {
		struct lane_reader *r = &m->readers[i];
		lane_walk_drop(&r->walk, 1);
		if (r->sorted)
			munmap(r->sorted, r->sorted_bytes);
	}
}
