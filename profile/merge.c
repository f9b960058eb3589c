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
/* Bytes of input after which consumed pages go back to the system. */
#define DROP_BYTES ((ptrdiff_t)16 << 20)

struct lane_reader {
	struct lane *lane;
	struct lane_walk walk;
	int32_t index;		     /* of the lane in its plane */
	struct op_event ring[WINDOW]; /* sorted; [first, first+count) modulo WINDOW */
	int first, count;
	bool ended, disordered;
	int64_t last_start_ps;
	const char *dropped; /* input consumed up to here is given back */
	struct op_event *sorted; /* the whole lane, when lane->sort */
	ptrdiff_t sorted_count, sorted_at;
	size_t sorted_bytes;
};

struct merge {
	struct plane *plane;
	struct lane_reader *readers;
	ptrdiff_t reader_count;
	int32_t *heap; /* readers by head event */
	ptrdiff_t heap_count;
	struct wire fail;
};

/* Start first; of equal starts the longer first, so that a parent precedes its children. */
static bool before(const struct op_event *a, const struct op_event *b)
{
	if (a->start_ps != b->start_ps)
		return a->start_ps < b->start_ps;
	if (a->end_ps != b->end_ps)
		return a->end_ps > b->end_ps;
	return a->lane < b->lane;
}

static struct op_event *slot(struct lane_reader *r, int i)
{
	return &r->ring[(r->first + i) & (WINDOW - 1)];
}

/* Insertion from the end: one comparison for a lane that is in order. */
static void window_insert(struct lane_reader *r, const struct op_event *e)
{
	int i = r->count++;

	while (i > 0 && before(e, slot(r, i - 1))) {
		*slot(r, i) = *slot(r, i - 1);
		i--;
	}
	*slot(r, i) = *e;
}

static void drop_consumed(struct merge *m, struct lane_reader *r)
{
	const struct input *in = m->plane->profile->input;
	const char *at = (const char *)r->walk.wire.at;

	/* CPU ordinals share their lanes; other planes read theirs once. */
	if (!r->dropped || at < r->dropped)
		r->dropped = at;
	if (at - r->dropped < DROP_BYTES || m->plane->platform == PLATFORM_CPU)
		return;
	input_drop(in, r->dropped - in->bytes.p, at - in->bytes.p);
	r->dropped = at;
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

static void reader_fill(struct merge *m, struct lane_reader *r)
{
	struct op_event e;

	while (!r->ended && r->count < WINDOW) {
		if (reader_pull(m, r, &e))
			window_insert(r, &e);
		else
			r->ended = true;
	}
	drop_consumed(m, r);
}

static int sorted_cmp(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a) ? 1 : 0;
}

/*
 * A lane the window could not order: its events as one array, in pages of their own that go back
 * when the merge ends.  40 bytes an event, where the file has about 45.
 */
static bool reader_sort(struct merge *m, struct lane_reader *r)
{
	size_t cap = (size_t)r->lane->bytes / 4 + 1; /* no event is shorter than 4 bytes */
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
	qsort(r->sorted, (size_t)r->sorted_count, sizeof(*r->sorted), sorted_cmp);
	return true;
}

static bool reader_head(struct merge *m, struct lane_reader *r, struct op_event *ret)
{
	if (r->lane->sort) {
		if (r->sorted_at >= r->sorted_count)
			return false;
		*ret = r->sorted[r->sorted_at];
		return true;
	}
	if (r->count <= WINDOW / 2)
		reader_fill(m, r);
	if (r->count == 0)
		return false;
	*ret = *slot(r, 0);
	return true;
}

static void reader_advance(struct lane_reader *r)
{
	if (r->lane->sort) {
		r->sorted_at++;
		return;
	}
	r->last_start_ps = slot(r, 0)->start_ps;
	r->first = (r->first + 1) & (WINDOW - 1);
	r->count--;
}

static bool heap_before(struct merge *m, int32_t a, int32_t b)
{
	struct op_event x, y;

	/* Readers in the heap have a head. */
	reader_head(m, &m->readers[a], &x);
	reader_head(m, &m->readers[b], &y);
	return before(&x, &y);
}

static void heap_down(struct merge *m, ptrdiff_t i)
{
	for (;;) {
		ptrdiff_t least = i, left = 2 * i + 1, right = left + 1;

		if (left < m->heap_count && heap_before(m, m->heap[left], m->heap[least]))
			least = left;
		if (right < m->heap_count && heap_before(m, m->heap[right], m->heap[least]))
			least = right;
		if (least == i)
			return;
		int32_t t = m->heap[i];
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
	struct op_event e;

	m->plane = p;
	m->readers = arena_make(keep, struct lane_reader, p->lane_count);
	m->heap = arena_make(keep, int32_t, p->lane_count);
	for (ptrdiff_t i = 0; i < p->lane_count; i++) {
		if (!lane_is_ours(&p->lanes[i]))
			continue;
		struct lane_reader *r = &m->readers[m->reader_count];
		r->lane = &p->lanes[i];
		r->index = (int32_t)i;
		r->walk = lane_walk_new(p, r->lane);
		r->last_start_ps = INT64_MIN;
		if (r->lane->sort && !reader_sort(m, r))
			return m;
		if (reader_head(m, r, &e))
			m->heap[m->heap_count++] = (int32_t)m->reader_count;
		m->reader_count++;
	}
	for (ptrdiff_t i = m->heap_count / 2 - 1; i >= 0; i--)
		heap_down(m, i);
	return m;
}

bool merge_next(struct merge *m, struct op_event *ret)
{
	if (m->heap_count == 0 || m->fail.why)
		return false;
	struct lane_reader *r = &m->readers[m->heap[0]];
	struct op_event next;

	reader_head(m, r, ret);
	if (ret->start_ps < r->last_start_ps) {
		r->disordered = true;
		m->heap_count = 0;
		return false;
	}
	reader_advance(r);
	if (!reader_head(m, r, &next))
		m->heap[0] = m->heap[--m->heap_count];
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
		m->readers[i].lane->sort = true;
		return false;
	}
	return true;
}

void merge_free(struct merge *m)
{
	for (ptrdiff_t i = 0; i < m->reader_count; i++)
		if (m->readers[i].sorted)
			munmap(m->readers[i].sorted, m->readers[i].sorted_bytes);
}
