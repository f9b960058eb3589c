/*
 * Events of a lane, front to back, and the stats somebody asked for.
 *
 * Every event is matched first, byte for byte, against the layout that all known writers produce
 * (fields in order, tags and lengths short).  Whatever differs in any way is read again by the
 * general reader below, which accepts fields in any order and tells what is wrong and where; so
 * the fast readers never report anything, they only decline.
 *
 * They load eight bytes at a time, past the end of a field and even of its event, but never past
 * raw_event.readable; what they took is believed only after its end was compared.
 */
#include "profile/xplane.h"

#include <assert.h>

static bool bad(struct wire *fail, const struct wire *w)
{
	*fail = *w;
	return false;
}

/* Kept out of line, so that the fast readers need no frame for them. */
#define SLOW static __attribute__((noinline))
/* What the fast readers are made of. */
#define FAST static inline __attribute__((always_inline))

static void event_number(const struct wire_field *f, struct raw_event *ret)
{
	switch (f->number) {
	case XEVENT_METADATA_ID:
		ret->metadata_id = (int64_t)f->num;
		break;
	case XEVENT_OFFSET_PS:
		ret->offset_ps = (int64_t)f->num;
		break;
	case XEVENT_DURATION_PS:
		ret->duration_ps = (int64_t)f->num;
		break;
	case XEVENT_OCCURRENCES:
		ret->aggregated = true;
		break;
	default:
		break;
	}
}

/* False with why set when the bytes are no XEvent. */
static bool raw_event_read(struct str bytes, struct raw_event *ret, struct wire *fail)
{
	struct wire w = wire_open(bytes);
	struct wire_field f;

	*ret = (struct raw_event){ .stats = { bytes.p + bytes.len, 0 }, .readable = ret->readable };
	for (const uint8_t *before = w.at; wire_next(&w, &f); before = w.at)
		if (f.type != WIRE_LEN)
			event_number(&f, ret);
		else if (f.number == XEVENT_STATS && ret->stats.len == 0)
			ret->stats = str_span((const char *)before, (const char *)w.end);
	return !w.why || bad(fail, &w);
}

static void stat_number(const struct wire_field *f, struct stat_value *ret)
{
	if (f->number == XSTAT_UINT64 || f->number == XSTAT_INT64)
		ret->i64 = (int64_t)f->num;
	if (f->number != XSTAT_DOUBLE)
		return;
	ret->real = wire_double(f->num);
	ret->is_real = true;
	/* The bounds are the nearest doubles inside int64; NaN fails both. */
	if (ret->real > -9.2e18 && ret->real < 9.2e18)
		ret->i64 = (int64_t)ret->real;
}

/* Another stat metadata's name. */
static inline void stat_reference(
	const struct plane_part *part, uint64_t id, struct stat_value *ret, uint64_t *present)
{
	int32_t i = map_get_id(&part->stats, (int64_t)id);

	if (i < 0)
		*present |= STATS_LOST;
	ret->text = i >= 0 ? part->texts[i] : STR("");
	ret->i64 = i;
	ret->is_text = true;
}

/* One XStat's value. */
SLOW bool stat_value_read(const struct plane_part *part, struct wire w, struct stat_value *ret,
	uint64_t *present, struct wire *fail)
{
	struct wire_field f;

	*ret = (struct stat_value){ 0 };
	while (wire_next(&w, &f)) {
		bool is_text = f.number == XSTAT_STR || f.number == XSTAT_BYTES;

		/* f.bytes is there only for a text, f.num only for a number. */
		if (is_text != (f.type == WIRE_LEN))
			continue;
		if (is_text) {
			ret->text = f.bytes;
			ret->is_text = true;
			ret->i64 = -1; /* no reference */
		} else if (f.number == XSTAT_REF) {
			stat_reference(part, f.num, ret, present);
		} else {
			stat_number(&f, ret);
		}
	}
	return !w.why || bad(fail, &w);
}

/* What else may be looked at: an id of two bytes, the value's tag and number. */
#define STAT_BODY_READABLE (1 + 2 + 1 + WIRE_NUMBER_BYTES)
/* With the stat's head. */
#define STAT_READABLE (3 + STAT_BODY_READABLE)

/* A string that is all there is of the value. */
SLOW bool text_whole(const uint8_t *p, const uint8_t *end, struct stat_value *ret)
{
	ptrdiff_t len;
	const uint8_t *text = wire_short_field(p, end, p[0], &len);

	if (!text || text + len != end)
		return false;
	*ret = (struct stat_value){ .is_text = true,
		.i64 = -1, /* no reference */
		.text = { (const char *)text, len } };
	return true;
}

/* The value of a stat that has nothing else; false when it looks unusual. */
FAST bool value_fast(const struct plane_part *part, const uint8_t *p, const uint8_t *end,
	struct stat_value *ret, uint64_t *present)
{
	uint64_t num;

	if (p[0] == WIRE_TAG(XSTAT_UINT64, WIRE_VARINT) ||
		p[0] == WIRE_TAG(XSTAT_INT64, WIRE_VARINT)) {
		if (wire_number(p + 1, &num) != end)
			return false;
		*ret = (struct stat_value){ .i64 = (int64_t)num };
		return true;
	}
	if (p[0] == WIRE_TAG(XSTAT_STR, WIRE_LEN) || p[0] == WIRE_TAG(XSTAT_BYTES, WIRE_LEN))
		return text_whole(p, end, ret);
	if (p[0] != WIRE_TAG(XSTAT_REF, WIRE_VARINT) || wire_small_number(p + 1, &num) != end)
		return false;
	*ret = (struct stat_value){ 0 };
	stat_reference(part, num, ret, present);
	return true;
}

/* An XStat from `p` to `stop`; false when it is none of the usual ones. */
FAST bool stat_body_fast(const struct plane_part *part, const uint8_t *p, const uint8_t *stop,
	uint64_t want, struct stats *ret)
{
	struct wire fail;

	if (rarely(p[0] != WIRE_TAG(XSTAT_METADATA_ID, WIRE_VARINT)))
		return false;
	const uint8_t *value = p + 2;
	int64_t id = p[1];
	if (id >= 0x80) {
		if (*value >= 0x80)
			return false;
		id = (id & 0x7f) | (int64_t)*value++ << 7;
	}
	if (rarely(value > stop))
		return false;
	int32_t kind = map_get_id(&part->stats, id);
	if ((uint32_t)kind >= STAT_COUNT || !(want >> kind & 1)) {
		if (rarely(kind < 0))
			ret->present |= STATS_LOST;
		return true;
	}
	if (!value_fast(part, value, stop, &ret->at[kind], &ret->present) &&
		!stat_value_read(part, (struct wire){ value, stop, NULL }, &ret->at[kind],
			&ret->present, &fail))
		return false;
	ret->present |= UINT64_C(1) << kind;
	return true;
}

/* Are there so many bytes from there on?  Of a part that is made of pieces that is not known. */
static inline bool part_has(const struct plane_part *part, struct str from, ptrdiff_t bytes)
{
	return part->bytes.p && part->bytes.p + part->bytes.len - from.p >= bytes;
}

static bool stat_read(const struct plane_part *part, struct str bytes, uint64_t want,
	struct stats *ret, struct wire *fail)
{
	const uint8_t *p = (const uint8_t *)bytes.p;
	struct wire w = wire_open(bytes);
	struct wire_field f;
	int64_t name = 0; /* not written */

	if (part_has(part, bytes, STAT_BODY_READABLE) &&
		stat_body_fast(part, p, p + bytes.len, want, ret))
		return true;
	while (wire_next(&w, &f))
		if (f.number == XSTAT_METADATA_ID && f.type == WIRE_VARINT)
			name = (int64_t)f.num;
	if (w.why)
		return bad(fail, &w);
	int32_t id = map_get_id(&part->stats, name);
	if (id < 0)
		ret->present |= STATS_LOST;
	if ((uint32_t)id >= STAT_COUNT || !(want >> id & 1))
		return true;
	ret->present |= UINT64_C(1) << id;
	return stat_value_read(part, wire_open(bytes), &ret->at[id], &ret->present, fail);
}

bool stats_read(const struct plane_part *part, struct str bytes, uint32_t field, uint64_t want,
	struct stats *ret, struct wire *fail)
{
	if (field == 0) /* `bytes` is one XStat */
		return stat_read(part, bytes, want, ret, fail);
	struct wire w = wire_open(bytes);
	struct wire_field f;
	while (wire_next(&w, &f))
		if (f.number == field && f.type == WIRE_LEN &&
			!stat_read(part, f.bytes, want, ret, fail))
			return false;
	return !w.why || bad(fail, &w);
}

/* The stat at `p`; where it ends, or NULL when it is none of the usual ones. */
static inline const uint8_t *stat_fast(const struct plane_part *part, const uint8_t *p,
	const uint8_t *end, uint64_t want, struct stats *ret)
{
	ptrdiff_t len;
	const uint8_t *body = wire_short_field(p, end, WIRE_TAG(XEVENT_STATS, WIRE_LEN), &len);

	return body && stat_body_fast(part, body, body + len, want, ret) ? body + len : NULL;
}

bool event_stats_read(const struct plane_part *part, const struct raw_event *raw, uint64_t want,
	struct stats *ret, struct wire *fail)
{
	const uint8_t *p = (const uint8_t *)raw->stats.p, *end = p + raw->stats.len;

	while (p != end) {
		const uint8_t *next = mostly(raw->readable - p >= STAT_READABLE)
					      ? stat_fast(part, p, end, want, ret)
					      : NULL;
		if (rarely(!next))
			return stats_read(part, (struct str){ (const char *)p, end - p },
				XEVENT_STATS, want, ret, fail);
		p = next;
	}
	return true;
}

static void chunk_open(struct lane_walk *w)
{
	const struct lane_chunk *c = &w->lane->chunks[w->chunk];

	w->wire = wire_open(c->bytes);
	w->part = &w->plane->parts[c->part];
	w->base_ps = c->base_ps;
	w->dropped = c->bytes.p;
	w->heads[0] = w->heads[1] = 0;
}

struct lane_walk lane_walk_new(const struct plane *p, const struct lane *l)
{
	struct lane_walk w = { .plane = p, .lane = l };

	if (l->chunk_count > 0)
		chunk_open(&w);
	return w;
}

/* The planes of CPU ordinals share their lanes, which others may be reading. */
void lane_walk_drop(struct lane_walk *w, ptrdiff_t least)
{
	const struct input *in = w->plane->profile->input;
	const char *at = (const char *)w->wire.at;
	assert(least > 0);

	if (w->keeps || w->plane->platform == PLATFORM_CPU || at - w->dropped < least)
		return;
	input_drop(in, w->dropped - in->bytes.p, at - in->bytes.p);
	w->dropped = at;
}

SLOW bool lane_walk_slow(struct lane_walk *w, struct raw_event *ret)
{
	struct wire_field f;

	while (w->chunk < w->lane->chunk_count) {
		ret->readable = w->wire.end;
		while (wire_next(&w->wire, &f)) {
			if (f.number != XLINE_EVENTS || f.type != WIRE_LEN)
				continue;
			return raw_event_read(f.bytes, ret, &w->fail);
		}
		if (w->wire.why)
			return bad(&w->fail, &w->wire);
		lane_walk_drop(w, 1);
		if (++w->chunk < w->lane->chunk_count)
			chunk_open(w);
	}
	return false;
}

/* wire.why needs no look: where a general read failed, there is no event for the fast one. */
FAST bool walk_next(struct lane_walk *w, struct raw_event *ret)
{
	const uint8_t *end = event_fast(w->wire.at, w->wire.end, ret);

	if (rarely(!end))
		return lane_walk_slow(w, ret);
	w->wire.at = end;
	return true;
}

bool lane_walk_next(struct lane_walk *w, struct raw_event *ret)
{
	return walk_next(w, ret);
}

/* Pages behind a cursor are given back in pieces of this size: a call costs as much as 10 kB do. */
enum { DROP_BYTES = 2 << 20 };

/* Bytes of a lane's piece: reading one takes some 20 us, and a gigabyte has 8,000 of them. */
#define PIECE_BYTES ((ptrdiff_t)128 << 10)

struct cursor {
	struct lane_walk walk;
	uint64_t want, classes;
	bool skips; /* there may be events of classes that were not asked for */
	struct plane_lost lost;
	bool finds;	    /* cursor_find: an event is found now, and read and counted later */
	const char *found;  /* the last event */
	struct lane *noted; /* NULL: nothing is noted */
	struct arena *keep; /* for its pieces */
};

struct cursor *cursor_new(
	const struct plane *p, const struct lane *l, uint64_t want, struct arena *keep)
{
	struct cursor *c = arena_make(keep, struct cursor, 1);

	*c = (struct cursor){ .walk = lane_walk_new(p, l), .want = want, .classes = UINT64_MAX };
	return c;
}

void cursor_only(struct cursor *c, uint64_t classes)
{
	c->classes = classes;
	c->skips = true;
}

void cursor_note(struct cursor *c, struct lane *l, struct arena *keep)
{
	assert(l == c->walk.lane);
	l->piece_count = 0;
	l->classes = 0;
	c->noted = l;
	c->keep = keep;
}

/* The event that was read from `at` on. */
static inline void piece_add(struct cursor *c, const char *at, const struct raw_event *raw)
{
	struct lane *l = c->noted;
	struct lane_piece *p = l->piece_count > 0 ? &l->pieces[l->piece_count - 1] : NULL;
	int64_t start_ps, end_ps;

	times_bound(sat_add(c->walk.base_ps, raw->offset_ps), raw->duration_ps, &start_ps, &end_ps);
	if (!p || p->chunk != c->walk.chunk || at - p->at >= PIECE_BYTES) {
		bool first = !p || p->chunk != c->walk.chunk;
		p = arena_push(c->keep, l->pieces, l->piece_count, l->piece_cap);
		p->at = first ? l->chunks[c->walk.chunk].bytes.p : at;
		p->chunk = (int32_t)c->walk.chunk;
		p->start_ps = start_ps;
		p->end_ps = end_ps;
	}
	p->start_ps = start_ps < p->start_ps ? start_ps : p->start_ps;
	p->end_ps = end_ps > p->end_ps ? end_ps : p->end_ps;
}

static bool spans_meet(const struct time_span *spans, ptrdiff_t count, const struct lane_piece *p)
{
	ptrdiff_t lo = 0, hi = count;

	while (lo < hi) {
		ptrdiff_t mid = lo + (hi - lo) / 2;
		if (spans[mid].end_ps < p->start_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && spans[lo].start_ps <= p->end_ps;
}

/* Pieces that follow one another are one chunk. */
struct lane lane_within(
	const struct lane *l, const struct time_span *spans, ptrdiff_t count, struct arena *keep)
{
	struct lane ret = *l;
	const struct lane_piece *before = NULL;

	if (!l->pieces)
		return ret;
	ret.chunks = NULL;
	ret.chunk_count = ret.chunk_cap = 0;
	for (ptrdiff_t i = 0; i < l->piece_count; i++) {
		const struct lane_piece *p = &l->pieces[i];
		const struct lane_chunk *whole = &l->chunks[p->chunk];
		bool is_last = i + 1 == l->piece_count || p[1].chunk != p->chunk;
		const char *end = is_last ? whole->bytes.p + whole->bytes.len : p[1].at;

		if (!spans_meet(spans, count, p))
			continue;
		if (!before || before + 1 != p || before->chunk != p->chunk) {
			struct lane_chunk *c =
				arena_push(keep, ret.chunks, ret.chunk_count, ret.chunk_cap);
			*c = *whole;
			c->bytes = str_span(p->at, end);
		}
		struct lane_chunk *last = &ret.chunks[ret.chunk_count - 1];
		last->bytes = str_span(last->bytes.p, end);
		before = p;
	}
	return ret;
}

int64_t lane_events(const struct lane *l, int64_t most)
{
	int64_t count = 0;

	for (ptrdiff_t i = 0; i < l->chunk_count; i++) {
		struct wire w = wire_open(l->chunks[i].bytes);
		struct wire_field f;
		while (count < most && wire_next(&w, &f))
			count += f.number == XLINE_EVENTS && f.type == WIRE_LEN;
	}
	return count;
}

/* ---- parts of a lane ------------------------------------------------------------------------- */

/* Events that stand one behind the other where one is taken to begin, */
#define EVENTS_SURE 32
/* and how far that place is looked for: longer events have lanes that are not divided. */
#define BEGIN_BYTES 4096

/* A stat has an event's tag, but no offset. */
static bool events_stand_at(const uint8_t *at, const uint8_t *end)
{
	struct raw_event raw;

	for (int i = 0; i < EVENTS_SURE && at; i++)
		at = event_at(at, end, true, &raw);
	return at;
}

/* Where a part that has `bytes` or a little more ends. */
static const char *part_end(const char *at, const char *end, ptrdiff_t bytes)
{
	const char *next = at;

	if (end - at < 2 * bytes)
		return end;
	for (next += bytes; next < at + bytes + BEGIN_BYTES; next++)
		if (events_stand_at((const uint8_t *)next, (const uint8_t *)end))
			return next;
	return end;
}

struct lane_part *lane_parts(const struct profile *of, const struct lane *l, ptrdiff_t bytes,
	struct arena *keep, ptrdiff_t *count)
{
	struct lane_part *ret = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (int32_t i = 0; i < l->chunk_count; i++) {
		struct str whole = l->chunks[i].bytes;
		const char *at = whole.p, *end = whole.p + whole.len, *next;
		for (; at < end; at = next) {
			struct lane_part *p = arena_push(keep, ret, *count, cap);
			next = part_end(at, end, bytes);
			p->lane = *l;
			p->lane.chunks = arena_make(keep, struct lane_chunk, 1);
			p->lane.chunks[0] = l->chunks[i];
			p->lane.chunks[0].bytes = p->bytes = str_span(at, next);
			/* A look at one page may map megabytes around it. */
			profile_drop_part(of, p->bytes);
			p->lane.chunk_count = 1;
			p->lane.pieces = NULL;
			p->lane.piece_count = p->lane.piece_cap = 0;
			p->chunk = i;
		}
	}
	return ret;
}

void lane_join(struct lane *l, const struct lane_part *part, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < part->lane.piece_count; i++) {
		struct lane_piece *p = arena_push(keep, l->pieces, l->piece_count, l->piece_cap);
		*p = part->lane.pieces[i];
		p->chunk = part->chunk;
	}
	l->classes |= part->lane.classes;
}

void event_times(const struct lane_walk *w, const struct raw_event *raw, const struct stats *s,
	int64_t *ret_start_ps, int64_t *ret_end_ps)
{
	uint64_t both = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);

	if ((s->present & both) == both)
		times_bound(s->at[STAT_DEVICE_OFFSET_PS].i64, s->at[STAT_DEVICE_DURATION_PS].i64,
			ret_start_ps, ret_end_ps);
	else
		times_bound(sat_add(w->base_ps, raw->offset_ps), raw->duration_ps, ret_start_ps,
			ret_end_ps);
}

/* A step annotation carries both a root mark and a number, under any name. */
static const uint64_t step_stats = STAT_BIT(ROOT) | STAT_BIT(STEP_NUM);

/*
 * Where steps are asked for, the stats of every event may tell one.  They are looked at where the
 * walk's part has no such stats, too: that they are not in the file may be what was lost.
 */
static inline bool seeks_steps(const struct cursor *c)
{
	return c->classes >> HOST_STEP & 1;
}

static bool event_make(struct cursor *c, const struct raw_event *raw, struct event *ret)
{
	const struct plane_part *part = c->walk.part;
	int32_t name = map_get_id(&part->names, raw->metadata_id);
	struct plane_name *n = name >= 0 ? &c->walk.plane->names[name] : NULL;
	enum host_class host = n ? n->host : HOST_OTHER;
	bool steps = seeks_steps(c), wanted = c->classes >> host & 1;
	int64_t lost = c->lost.events;

	c->lost.of_events++;
	c->lost.events += !n;
	if (c->noted)
		c->noted->classes |= UINT64_C(1) << host;
	if (!wanted && !(steps && host == HOST_OTHER && raw->stats.len > 0))
		return false;
	if (c->finds && wanted) {
		c->lost.events = lost;
		return true;
	}
	ret->stats.present = 0;
	uint64_t want = (wanted ? c->want : 0) | (steps ? step_stats : 0);
	if (want && !event_stats_read(part, raw, want, &ret->stats, &c->walk.fail))
		return false;
	c->lost.events += n && ret->stats.present & STATS_LOST;
	if (steps && (ret->stats.present & step_stats) == step_stats) {
		if (!event_stats_read(part, raw, c->want & ~want, &ret->stats, &c->walk.fail))
			return false;
		host = HOST_STEP;
	}
	if (!(c->classes >> host & 1))
		return false;
	if (c->finds)
		c->lost.events = lost;
	ret->host = host;
	ret->name = n ? plane_name_text(n) : STR("");
	event_times(&c->walk, raw, &ret->stats, &ret->start_ps, &ret->end_ps);
	return true;
}

/* An event's name and times, undecoded. */
struct glance {
	int64_t id;
	uint64_t offset, duration; /* as wire_loose_in has them */
	const uint8_t *stats, *end;
};

/* The head of an event of less than 128 bytes: 22 len 08 id, and what of it is fixed. */
#define HEAD_MASK 0x00ff80ffu
#define HEAD_FIXED                                                                                 \
	(WIRE_TAG(XLINE_EVENTS, WIRE_LEN) | WIRE_TAG(XEVENT_METADATA_ID, WIRE_VARINT) << 16)

/* False for what is unusual in any way, or takes more than 56 bits. */
FAST bool glance_at(const uint8_t *at, struct glance *ret)
{
	const uint8_t *p = at + 4;
	uint64_t x = wire_load64(at), stops;
	ptrdiff_t len;

	ret->end = at + 2 + at[1];
	ret->id = at[3];
	if ((x & HEAD_MASK) != HEAD_FIXED)
		return false;
	if (ret->id >= 0x80) {
		ret->id = (ret->id & 0x7f) | (int64_t)*p << 7;
		if (*p++ >= 0x80)
			return false;
	}
	x = wire_load64(p + 1);
	stops = ~x & 0x8080808080808080u;
	if (p[0] != WIRE_TAG(XEVENT_OFFSET_PS, WIRE_VARINT) || !stops)
		return false;
	ret->offset = wire_loose_in(x, stops);
	p += 1 + wire_varint_bytes(stops);
	ret->duration = 0;
	if (mostly(p < ret->end && p[0] == WIRE_TAG(XEVENT_DURATION_PS, WIRE_VARINT))) {
		x = wire_load64(p + 1);
		stops = ~x & 0x8080808080808080u;
		ret->duration = wire_loose_in(x, stops);
		if (!stops)
			return false;
		p += 1 + wire_varint_bytes(stops);
	}
	ret->stats = p;
	return p == ret->end || (p < ret->end && wire_short_field(p, ret->end,
							 WIRE_TAG(XEVENT_STATS, WIRE_LEN), &len));
}

/*
 * Steps over events of classes that were not asked for: the lane's pieces need their times, and
 * that is all.  It stops at any other, and at the least that is unusual.
 */
static void skip_unasked(struct cursor *c)
{
	const int64_t far_ps = INT64_MAX / 16; /* with it, the sum of two numbers of 56 bits fits */
	const struct lane_walk *w = &c->walk;
	struct lane *l = c->noted;
	struct lane_piece *piece = l && l->piece_count > 0 ? &l->pieces[l->piece_count - 1] : NULL;
	const uint8_t *at = w->wire.at, *stop;
	const char *from = piece ? piece->at : w->dropped; /* NULL: nothing is given back here */
	const char *enough = from ? from + (piece ? PIECE_BYTES : DROP_BYTES) : NULL;
	uint64_t first = UINT64_MAX, last = 0, met = 0;
	int64_t count = 0;
	struct glance g;

	if (!from || w->wire.end - at < EVENT_READABLE ||
		(l && (!piece || piece->chunk != w->chunk)) || w->base_ps > far_ps ||
		w->base_ps < -far_ps)
		return;
	/* Its stats show that it is a step annotation. */
	uint64_t bare = c->classes, with_stats = bare | (uint64_t)seeks_steps(c) << HOST_OTHER;
	stop = w->wire.end - EVENT_READABLE;
	stop = (const char *)stop < enough ? stop : (const uint8_t *)enough;
	for (; at < stop && glance_at(at, &g); at = g.end) {
		int32_t name = map_get_id(&w->part->names, g.id);
		if (name < 0)
			break;
		int host = w->plane->names[name].host;
		if ((g.stats < g.end ? with_stats : bare) >> host & 1)
			break;
		uint64_t until = wire_loose_sum(g.offset, g.duration);
		first = g.offset < first ? g.offset : first;
		last = until > last ? until : last;
		met |= UINT64_C(1) << host;
		count++;
	}
	c->walk.wire.at = at;
	c->lost.of_events += count;
	if (!piece || count == 0)
		return;
	l->classes |= met;
	int64_t start_ps = w->base_ps + (int64_t)wire_squeeze(first);
	int64_t end_ps = w->base_ps + (int64_t)wire_squeeze(last);
	piece->start_ps = start_ps < piece->start_ps ? start_ps : piece->start_ps;
	piece->end_ps = end_ps > piece->end_ps ? end_ps : piece->end_ps;
}

bool cursor_next(struct cursor *c, struct event *ret)
{
	struct raw_event raw;

	for (;;) {
		if (c->skips)
			skip_unasked(c);
		const char *at = (const char *)c->walk.wire.at;
		if (!walk_next(&c->walk, &raw))
			return false;
		if ((const char *)c->walk.wire.at - c->walk.dropped > DROP_BYTES)
			lane_walk_drop(&c->walk, 1);
		if (raw.aggregated)
			continue;
		if (c->noted)
			piece_add(c, at, &raw);
		c->found = at;
		if (event_make(c, &raw, ret))
			return true;
		if (c->walk.fail.why)
			return false;
	}
}

const char *cursor_find(struct cursor *c, struct event *scratch)
{
	c->finds = c->walk.keeps = true;
	return cursor_next(c, scratch) ? c->found : NULL;
}

bool cursor_read(struct cursor *c, const char *found, struct event *ret)
{
	c->walk.keeps = true;
	c->skips = false;
	c->walk.wire.at = (const uint8_t *)found;
	return cursor_next(c, ret);
}

struct plane_lost cursor_lost(const struct cursor *c)
{
	return c->lost;
}

bool cursor_end(const struct cursor *c, struct diag *err)
{
	if (!c->walk.fail.why)
		return true;
	const struct plane *p = c->walk.plane;
	wire_error(&c->walk.fail, p->profile->input->bytes, "XEvent", err);
	return diag_context(
		err, "plane '%.*s', line '%.*s'", STR_ARG(p->name), STR_ARG(c->walk.lane->name));
}
