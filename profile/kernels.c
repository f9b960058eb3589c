/*
 * Kernels of a GPU, many in one go: their events are known again by their bytes.
 *
 *	22 len  08 id  10 offset  18 duration   22 len (..)    22 len (08 id 18 launch)  22 ..
 *	event   name                            before the id of the launch              behind it
 *
 * Events of one op have the same bytes, but for the id of the launch, which is among their first
 * stats.  What such bytes were understood as is kept.  A stream runs the same kernels in the same
 * order, over and over: what came behind the last few events the last time is what is expected
 * now, and an event of these bytes need not be understood again.  Any other is declined, so that
 * the general readers (cursor.c, ops.c) take it, and kernel_said hears what it was.
 */
#include "profile/xplane.h"

#define SPOKEN_MAX     65536 /* distinct ones kept: the ops of most jobs, in some 8 MB */
#define SPOKEN_ALIKE   16    /* of one op: a few launches of one kernel */
#define SPOKEN_BYTES   256   /* those of an event that are looked at; real ones have some 60 */
#define EXPECTED_LEAST 12    /* bits of the size of the table of what is expected, */
#define EXPECTED_MOST  16    /* and at most */

struct spoken {
	const char *bytes; /* before the id's stat, and behind it */
	int32_t before, behind, part, op;
	int32_t next; /* of the same op; -1 none */
	int64_t name, copied;
	uint8_t id; /* of the stat */
};

struct spoken_table {
	struct spoken *items;
	ptrdiff_t count, cap;
	int32_t *first; /* item, by op; -1 none */
	ptrdiff_t op_count, op_cap;
	int32_t *expected; /* item, plus 1, by what was heard before; 0 none */
	int expected_bits;
};

static struct spoken_table *table_new(const struct plane *p)
{
	struct spoken_table *t = arena_make(p->keep, struct spoken_table, 1);

	t->expected_bits = EXPECTED_LEAST;
	while (t->expected_bits < EXPECTED_MOST && p->name_count >> (t->expected_bits - 4))
		t->expected_bits++;
	t->expected = arena_make(p->keep, int32_t, (ptrdiff_t)1 << t->expected_bits);
	return t;
}

static inline bool says(const struct spoken *s, ptrdiff_t part, const struct raw_event *raw)
{
	const uint8_t *at = (const uint8_t *)raw->stats.p, *end = at + raw->stats.len;

	if (s->name != raw->metadata_id || s->part != part ||
		raw->stats.len < s->before + 4 + s->behind ||
		(s->before && memcmp(at, s->bytes, (size_t)s->before)))
		return false;
	at += s->before;
	return stat_is_short(at) && at[3] == s->id && end - at - 2 - at[1] == s->behind &&
	       !memcmp(end - s->behind, s->bytes + s->before, (size_t)s->behind);
}

/* What was said is `item`, or -1: anything else.  The last four decide. */
static inline uint64_t hear(uint64_t heard, ptrdiff_t item)
{
	return heard << 16 | ((uint64_t)(item + 1) & UINT16_MAX);
}

static inline int32_t *expected_now(const struct spoken_table *t, uint64_t heard)
{
	return &t->expected[heard * 0x9e3779b97f4a7c15u >> (64 - t->expected_bits)];
}

struct op_event *kernel_events_read(const struct plane *p, struct lane_walk *w, int32_t lane,
	struct op_event *to, const struct op_event *end)
{
	const struct spoken_table *t = p->spoken;
	ptrdiff_t part = w->part - p->parts;
	const uint8_t *at = w->wire.at, *next;
	uint64_t heard = w->heard;
	struct raw_event raw;

	if (!t || p->op_count >= OPS_MAX)
		return to;
	for (; to < end && (next = event_fast(at, w->wire.end, &raw)); to++, at = next) {
		int32_t i = *expected_now(t, heard) - 1;
		if (i < 0 || !says(&t->items[i], part, &raw))
			break;
		times_bound(sat_add(w->base_ps, raw.offset_ps), raw.duration_ps, &to->start_ps,
			&to->end_ps);
		to->op = t->items[i].op;
		to->lane = lane;
		to->run = 0;
		to->bytes = t->items[i].copied;
		heard = hear(heard, i);
	}
	w->wire.at = at;
	w->heard = heard;
	return to;
}

/* False where that is not laid out as all known writers do. */
static bool spoken_read(const struct lane_walk *w, const struct raw_event *raw, struct arena *keep,
	struct spoken *ret)
{
	const uint8_t *at = (const uint8_t *)raw->stats.p, *end = at + raw->stats.len;

	if (raw->stats.len > SPOKEN_BYTES)
		return false;
	for (int i = 0; i < 2 && end - at > 4 && stat_is_short(at); i++) {
		const uint8_t *stop = at + 2 + at[1];
		if (stop > end)
			return false;
		if (map_get_id(&w->part->stats, at[3]) == STAT_CORRELATION_ID) {
			struct str before = str_span(raw->stats.p, (const char *)at);
			struct str behind = str_span((const char *)stop, (const char *)end);
			char *bytes = arena_make(keep, char, before.len + behind.len);
			memcpy(bytes, before.p, (size_t)before.len);
			memcpy(bytes + before.len, behind.p, (size_t)behind.len);
			*ret = (struct spoken){ .bytes = bytes,
				.before = (int32_t)before.len,
				.behind = (int32_t)behind.len,
				.part = (int32_t)(w->part - w->plane->parts),
				.name = raw->metadata_id,
				.id = at[3] };
			return true;
		}
		at = stop;
	}
	return false;
}

/* The index of what an event says among what is kept; -1: it is new, and there is no room. */
static ptrdiff_t spoken_keep(struct plane *p, const struct lane_walk *w,
	const struct raw_event *raw, const struct op_event *e)
{
	struct spoken_table *t = p->spoken;
	struct spoken new;
	int alike = 0;

	while (t->op_count <= e->op)
		*arena_push(p->keep, t->first, t->op_count, t->op_cap) = -1;
	int32_t *last = &t->first[e->op];
	for (; *last >= 0; last = &t->items[*last].next, alike++)
		if (says(&t->items[*last], w->part - p->parts, raw))
			return *last;
	if (alike == SPOKEN_ALIKE || t->count == SPOKEN_MAX || !spoken_read(w, raw, p->keep, &new))
		return -1;
	new.op = e->op;
	new.copied = e->bytes;
	new.next = -1;
	*last = (int32_t)t->count;
	*arena_push(p->keep, t->items, t->count, t->cap) = new;
	return t->count - 1;
}

void kernel_said(struct plane *p, struct lane_walk *w, const struct raw_event *raw,
	const struct op_event *e, bool is_whole)
{
	if (!p->spoken)
		p->spoken = table_new(p);
	ptrdiff_t item = is_whole ? spoken_keep(p, w, raw, e) : -1;
	*expected_now(p->spoken, w->heard) = (int32_t)item + 1;
	w->heard = hear(w->heard, item);
}
