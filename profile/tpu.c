/*
 * Op events of a TPU as libtpu writes them, many in one go.
 *
 *	22 len  08 id  10 offset  18 duration    22 len (08 id 18 number)  22 len (08 id 18 number)
 *	event   name   host clock, stepped over  device_offset_ps          device_duration_ps
 *
 * A training job's profile is tens of millions of these, and little else.  What differs in any way
 * is declined, so that the general readers (cursor.c, ops.c) take it and tell what is wrong; what
 * is accepted here is what they would have read.
 */
#include "profile/xplane.h"

/* Most that is looked at: two bytes of head, three tags with numbers, two stats. */
#define STAT_HEAD   5 /* tag, length, tag, id, tag */
#define OP_READABLE (2 + 3 * (1 + WIRE_NUMBER_BYTES) + 2 * (STAT_HEAD + WIRE_NUMBER_BYTES))

/* The part of a stat's head that is the same in every event: all but its length, of one byte. */
#define HEAD_MASK UINT64_C(0xffffff80ff)

static COLD bool head_is(const struct plane_part *part, const uint8_t *p, enum stat_id kind)
{
	return stat_is_short(p) && map_get_id(&part->stats, p[3]) == (int32_t)kind &&
	       (p[4] == WIRE_TAG(XSTAT_UINT64, WIRE_VARINT) ||
		       p[4] == WIRE_TAG(XSTAT_INT64, WIRE_VARINT));
}

/*
 * Behind the stat at `p`, if it is of this kind and a number; NULL otherwise.  The head that was
 * understood last is known again by its bytes.
 */
static inline __attribute__((always_inline)) const uint8_t *number_stat(
	const struct plane_part *part, const uint8_t *p, enum stat_id kind, uint64_t *head,
	int64_t *ret)
{
	const uint8_t *stop = p + 2 + p[1];
	uint64_t num, now = wire_load64(p) & HEAD_MASK;

	if (now != *head) {
		if (!head_is(part, p, kind))
			return NULL;
		*head = now;
	}
	if (wire_number(p + STAT_HEAD, &num) != stop)
		return NULL;
	*ret = (int64_t)num;
	return stop;
}

/* Behind the event's own numbers; NULL when they are not those three, or those two. */
static inline const uint8_t *own_numbers(const uint8_t *p, uint64_t *ret_id)
{
	if (p[0] != WIRE_TAG(XEVENT_METADATA_ID, WIRE_VARINT) ||
		!(p = wire_small_number(p + 1, ret_id)) ||
		p[0] != WIRE_TAG(XEVENT_OFFSET_PS, WIRE_VARINT) || !(p = wire_number_skip(p + 1)))
		return NULL;
	if (rarely(p[0] != WIRE_TAG(XEVENT_DURATION_PS, WIRE_VARINT)))
		return p;
	return wire_number_skip(p + 1);
}

/* Behind the event at `at`; NULL when it is none of those. */
static inline __attribute__((always_inline)) const uint8_t *event_read(const struct plane *p,
	const struct plane_part *part, const uint8_t *at, uint64_t heads[2], struct op_event *ret)
{
	const uint8_t *stop = at + 2 + at[1];
	int64_t start_ps, duration_ps;
	uint64_t id;

	if (at[0] != WIRE_TAG(XLINE_EVENTS, WIRE_LEN) || at[1] >= 0x80 ||
		!(at = own_numbers(at + 2, &id)) ||
		!(at = number_stat(part, at, STAT_DEVICE_OFFSET_PS, &heads[0], &start_ps)) ||
		number_stat(part, at, STAT_DEVICE_DURATION_PS, &heads[1], &duration_ps) != stop)
		return NULL;
	int32_t name = map_get_id(&part->names, (int64_t)id);
	if (name < 0 || p->names[name].op < 0)
		return NULL;
	times_bound(start_ps, duration_ps, &ret->start_ps, &ret->end_ps);
	ret->op = p->names[name].op;
	ret->run = ret->bytes = 0;
	return stop;
}

struct op_event *tpu_events_read(const struct plane *p, struct lane_walk *w, int32_t lane,
	struct op_event *to, const struct op_event *end)
{
	const uint8_t *at = w->wire.at;
	uint64_t heads[] = { w->heads[0], w->heads[1] };

	while (to < end && w->wire.end - at >= OP_READABLE) {
		const uint8_t *next = event_read(p, w->part, at, heads, to);
		if (rarely(!next))
			break;
		to++->lane = lane;
		at = next;
	}
	w->wire.at = at;
	w->heads[0] = heads[0];
	w->heads[1] = heads[1];
	return to;
}
