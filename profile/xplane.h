/*
 * Inside of the xplane reader: what index, cursors and merge share.  Not for other folders.
 *
 * Field numbers are those of xplane.proto; they stand in one enum per message.
 */
#ifndef PROFILE_XPLANE_H
#define PROFILE_XPLANE_H

#include <math.h>

#include "base/wire.h"
#include "profile/profile.h"

enum xspace_field {
	XSPACE_PLANES = 1,
	XSPACE_ERRORS = 2,
	XSPACE_WARNINGS = 3,
	XSPACE_HOSTNAMES = 4
};
enum xplane_field {
	XPLANE_ID = 1,
	XPLANE_NAME = 2,
	XPLANE_LINES = 3,
	XPLANE_EVENT_METADATA = 4,
	XPLANE_STAT_METADATA = 5,
	XPLANE_STATS = 6,
};
enum xline_field { XLINE_ID = 1, XLINE_NAME = 2, XLINE_TIMESTAMP_NS = 3, XLINE_EVENTS = 4 };
enum xevent_field {
	XEVENT_METADATA_ID = 1,
	XEVENT_OFFSET_PS = 2,
	XEVENT_DURATION_PS = 3,
	XEVENT_STATS = 4,
	XEVENT_OCCURRENCES = 5,
};
enum xstat_field {
	XSTAT_METADATA_ID = 1,
	XSTAT_DOUBLE = 2,
	XSTAT_UINT64 = 3,
	XSTAT_INT64 = 4,
	XSTAT_STR = 5,
	XSTAT_BYTES = 6,
	XSTAT_REF = 7,
};
enum xmetadata_field {
	XMETADATA_ID = 1,
	XMETADATA_NAME = 2,
	XMETADATA_DISPLAY_NAME = 4,
	XMETADATA_STATS = 5,
};
enum map_field { MAP_KEY = 1, MAP_VALUE = 2 };

/* Bytes of a message's fields, in their order. */
struct pieces {
	struct str *items;
	ptrdiff_t count, cap;
};
static inline void pieces_add(struct pieces *p, struct str bytes, struct arena *keep)
{
	*arena_push(keep, p->items, p->count, p->cap) = bytes;
}

/* Planes and lines of one file; the largest real file has 142 lines, a pod host a few thousand. */
#define XPLANE_MAX_PLANES 4096
#define XPLANE_MAX_LANES  (1 << 20)
#define XPLANE_MAX_NAMES  (16 << 20)
/* Distinct ops of one plane; the largest real steps have some 10^5. */
#define OPS_MAX (8 << 20)

struct plane_part {
	struct str bytes;     /* of the plane's message; missing where there is none */
	struct str names_at;  /* its event metadata: the first entry to the last, */
	ptrdiff_t name_count; /* so many */
	struct map names;     /* event metadata id -> index into plane->names */
	/*
	 * Stat metadata id -> index into texts.  Those of the stats that we know are their enum
	 * stat_id; behind them come string constants, and stats that are not asked for.
	 */
	struct map stats;
	struct str *texts;
	uint64_t known; /* STAT_BITs that it has ids for */
};

#define PLANE_NAME_LOST (-2)

struct plane_name {
	struct str name;  /* missing until plane_name_read */
	struct str entry; /* bytes of the XEventMetadata: read on demand, as its stats are */
	int64_t id;
	int32_t part;
	int8_t host; /* enum host_class */
	/* Cache: its op when the name alone decides it; -1 not met.  Where its metadata refers to
	 * what is not there it is PLANE_NAME_LOST - op, so that the general reader counts it. */
	int32_t op;
};

/* Its text, where the bytes are those of an XEventMetadata. */
bool plane_name_read(struct plane_name *n, struct wire *fail);
/* The same, once; its bytes were checked when the file was opened. */
static inline struct str plane_name_text(struct plane_name *n)
{
	struct wire fail;

	if (!n->name.p)
		plane_name_read(n, &fail);
	return n->name;
}

/* All names of a plane, learned or not, in the order of the file.  Begin with { .plane = p }. */
struct name_walk {
	const struct plane *plane;
	ptrdiff_t next; /* of the names that are kept, or of the parts */
	struct wire wire;
};
bool name_walk_next(struct name_walk *w, struct plane_name *ret);

struct lane_chunk {
	struct str bytes; /* from the first event on */
	int64_t base_ps;  /* of the line's timestamp */
	int32_t part;
};

/* One event's own fields; stats stay undecoded as the byte range that holds them. */
struct raw_event {
	int64_t metadata_id, offset_ps, duration_ps;
	struct str stats;	 /* from the first stat to the event's end */
	const uint8_t *readable; /* bytes up to here may be looked at: the lane's chunk ends here */
	bool aggregated;	 /* counted, not placed in time */
};

/* Most that is looked at of an event: tag, length, three tags with numbers, and a stat's head. */
#define EVENT_READABLE (3 + 3 * (1 + WIRE_NUMBER_BYTES) + 4)

/*
 * The event at `at`, if it is laid out as known writers do: id, offset and duration, then stats or
 * nothing; or id and offset alone; where only its bounds matter, stats without a duration, too.
 * Where it ends, or NULL.
 */
static inline __attribute__((always_inline)) const uint8_t *event_at(
	const uint8_t *at, const uint8_t *readable, bool bounds_only, struct raw_event *ret)
{
	uint64_t id, offset, duration = 0;
	ptrdiff_t len;

	if (rarely(readable - at < EVENT_READABLE))
		return NULL;
	const uint8_t *p = wire_short_field(at, readable, WIRE_TAG(XLINE_EVENTS, WIRE_LEN), &len);
	if (!p)
		return NULL;
	const uint8_t *end = p + len;
	if (p[0] != WIRE_TAG(XEVENT_METADATA_ID, WIRE_VARINT) ||
		!(p = wire_small_number(p + 1, &id)) ||
		p[0] != WIRE_TAG(XEVENT_OFFSET_PS, WIRE_VARINT) ||
		!(p = wire_number(p + 1, &offset)))
		return NULL;
	bool has_duration = p < end && p[0] == WIRE_TAG(XEVENT_DURATION_PS, WIRE_VARINT);
	/* A duration that is missing may yet come behind the stats. */
	if (mostly(has_duration) ? !(p = wire_number(p + 1, &duration)) : p < end && !bounds_only)
		return NULL;
	/* Behind the event's end those tags and numbers were the next event's. */
	if (rarely(p > end) ||
		(p < end && !wire_short_field(p, end, WIRE_TAG(XEVENT_STATS, WIRE_LEN), &len)))
		return NULL;
	*ret = (struct raw_event){ .metadata_id = (int64_t)id,
		.offset_ps = (int64_t)offset,
		.duration_ps = (int64_t)duration,
		.stats = { (const char *)p, end - p },
		.readable = readable };
	return end;
}

static inline __attribute__((always_inline)) const uint8_t *event_fast(
	const uint8_t *at, const uint8_t *readable, struct raw_event *ret)
{
	return event_at(at, readable, false, ret);
}

/* Decode the stats in `want` of a message whose stats have number `field`, or of one XStat when it
 * is 0; the last of equal ones wins. */
bool stats_read(const struct plane_part *part, struct str bytes, uint32_t field, uint64_t want,
	struct stats *ret, struct wire *fail);
/* The same for an event. */
bool event_stats_read(const struct plane_part *part, const struct raw_event *raw, uint64_t want,
	struct stats *ret, struct wire *fail);

/* A stat of an event whose tag, length and id are of one byte each: the id is its fourth. */
static inline bool stat_is_short(const uint8_t *p)
{
	return p[0] == WIRE_TAG(XEVENT_STATS, WIRE_LEN) &&
	       p[2] == WIRE_TAG(XSTAT_METADATA_ID, WIRE_VARINT) && (p[1] | p[3]) < 0x80;
}

/* A stat's text, or the missing string; its number, or NaN. */
static inline struct str stat_text(const struct stats *s, enum stat_id id)
{
	return s->present >> id & 1 && s->at[id].is_text ? s->at[id].text : (struct str){ 0 };
}
static inline double stat_real(const struct stats *s, enum stat_id id)
{
	if (!(s->present >> id & 1))
		return NAN;
	return s->at[id].is_real ? s->at[id].real : (double)s->at[id].i64;
}

/* A lane's next raw event, across its chunks. */
struct lane_walk {
	const struct plane *plane;
	const struct lane *lane;
	ptrdiff_t chunk;
	struct wire wire;
	const struct plane_part *part; /* of the chunk, */
	int64_t base_ps;	       /* and its */
	struct wire fail;	       /* why set on the first malformed byte */
	const char *dropped;	       /* of the chunk, up to here: see lane_walk_drop, */
	bool keeps;		       /* which does nothing then */
	uint64_t heard;		       /* GPU: of the last events (kernels.c) */
	uint64_t heads[2]; /* TPU: of the last event's stats (tpu.c); of this part's ids */
};
struct lane_walk lane_walk_new(const struct plane *p, const struct lane *l);
bool lane_walk_next(struct lane_walk *w, struct raw_event *ret);
/* Give back the memory of what was read since the last time, if it is `least` bytes or more. */
void lane_walk_drop(struct lane_walk *w, ptrdiff_t least);

/* names.c: what producers call things. */
enum plane_class plane_class_of(struct str name, enum platform *platform, int64_t *ordinal);
enum lane_class lane_class_of(struct str name, enum plane_class plane, int64_t id);
enum host_class host_class_of(struct str name);
enum copy_direction copy_direction_of(struct str kernel, struct str details);
int stat_id_of(struct str name); /* -1 unknown */
struct str stat_name_of(int id);

/* xplane.c: host clock minus device clock, from the events that carry both. */
bool plane_shift(struct plane *p, struct str whole, struct diag *err);

/* An event's times, whatever the file says: end >= start, with room for sums and differences. */
static inline void times_bound(
	int64_t start_ps, int64_t duration_ps, int64_t *ret_start_ps, int64_t *ret_end_ps)
{
	const int64_t limit = INT64_MAX / 4;

	start_ps = start_ps > limit ? limit : start_ps < -limit ? -limit : start_ps;
	*ret_start_ps = *ret_end_ps = start_ps;
	if (duration_ps > 0)
		*ret_end_ps += duration_ps > limit ? limit : duration_ps;
}
/* The same of an event of a lane: on the device's own clock where `s` has its times by that. */
void event_times(const struct lane_walk *w, const struct raw_event *raw, const struct stats *s,
	int64_t *ret_start_ps, int64_t *ret_end_ps);

/* tpu.c: the next events of a TPU lane from `to` to `end`, of ops that were met before, in the
 * usual layout; where what was read ends: nothing was done with an event that is anything else. */
struct op_event *tpu_events_read(const struct plane *p, struct lane_walk *w, int32_t lane,
	struct op_event *to, const struct op_event *end);

/* kernels.c: the same for a lane of a GPU, of events that say what others said before. */
struct op_event *kernel_events_read(const struct plane *p, struct lane_walk *w, int32_t lane,
	struct op_event *to, const struct op_event *end);
/* An event of a kernel was understood; `is_whole`: nothing that it refers to is lost. */
void kernel_said(struct plane *p, struct lane_walk *w, const struct raw_event *raw,
	const struct op_event *e, bool is_whole);

/* ops.c: from an event of a device lane to an op, or of XLA:CPU to OP_EXECUTION. */
bool cpu_execution_is(const struct stats *s);
/* The device that an event of XLA:CPU names, else -1; the -1 of XLA is its default device, 0. */
int64_t cpu_ordinal(const struct stats *s);
bool op_event_read(struct plane *p, struct lane_walk *w, const struct raw_event *raw,
	struct op_event *ret, bool *skip, struct plane_lost *lost, struct wire *fail);

/* cpu.c: XLA:CPU records ops on host threads; give each device ordinal a plane of its own. */
bool cpu_planes(struct profile *profile, struct arena *keep, struct diag *err);

#endif
