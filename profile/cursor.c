/*
 * Events of a lane, front to back, and the stats somebody asked for.
 */
#include "profile/xplane.h"

static bool bad(struct wire *fail, const struct wire *w)
{
	*fail = *w;
	return false;
}

bool raw_event_read(struct str bytes, struct raw_event *ret, struct wire *fail)
{
	struct wire w = wire_open(bytes);
	struct wire_field f;
	bool placed = false;

	*ret = (struct raw_event){ .stats = { bytes.p + bytes.len, 0 } };
	for (;;) {
		const uint8_t *before = w.at;

		if (!wire_next(&w, &f))
			break;
		switch (f.number) {
		case XEVENT_METADATA_ID:
			ret->metadata_id = (int64_t)f.num;
			break;
		case XEVENT_OFFSET_PS:
			ret->offset_ps = (int64_t)f.num;
			placed = true;
			break;
		case XEVENT_DURATION_PS:
			ret->duration_ps = (int64_t)f.num;
			break;
		case XEVENT_OCCURRENCES:
			ret->aggregated = true;
			break;
		case XEVENT_STATS:
			if (ret->stats.len == 0)
				ret->stats = str_span((const char *)before, (const char *)w.end);
			/* Serializers write fields in order: behind the stats of an event that
			 * has an offset there is nothing else to learn. */
			if (placed)
				return true;
			break;
		default:
			break;
		}
	}
	return !w.why || bad(fail, &w);
}

/* One XStat's value.  A reference is another stat metadata's name. */
static bool stat_value_read(
	const struct plane_part *part, struct wire w, struct stat_value *ret, struct wire *fail)
{
	struct wire_field f;

	*ret = (struct stat_value){ 0 };
	while (wire_next(&w, &f)) {
		switch (f.number) {
		case XSTAT_DOUBLE:
			ret->real = wire_double(f.num);
			ret->is_real = true;
			/* The bounds are the nearest doubles inside int64; NaN fails both. */
			if (ret->real > -9.2e18 && ret->real < 9.2e18)
				ret->i64 = (int64_t)ret->real;
			break;
		case XSTAT_UINT64:
		case XSTAT_INT64:
			ret->i64 = (int64_t)f.num;
			break;
		case XSTAT_STR:
		case XSTAT_BYTES:
			ret->text = f.bytes;
			ret->is_text = f.type == WIRE_LEN;
			ret->i64 = -1; /* no reference */
			break;
		case XSTAT_REF: {
			int32_t i = id_map_find(&part->stats, (int64_t)f.num);
			ret->text = i >= 0 ? part->stat_names[i].name : STR("");
			ret->i64 = i;
			ret->is_text = true;
			break;
		}
		default:
			break;
		}
	}
	return !w.why || bad(fail, &w);
}

/* Which stat a message is: its metadata id is the first field of every known writer. */
static bool stat_kind(const struct plane_part *part, struct wire *w, int *ret, struct wire *fail)
{
	struct wire_field f;

	*ret = -1;
	if (!wire_next(w, &f))
		return !w->why || bad(fail, w);
	if (f.number != XSTAT_METADATA_ID || f.type != WIRE_VARINT)
		return true;
	int32_t i = id_map_find(&part->stats, (int64_t)f.num);
	if (i >= 0)
		*ret = part->stat_names[i].id;
	return true;
}

static bool stat_read(const struct plane_part *part, struct str bytes, uint64_t want,
	struct stats *ret, struct wire *fail)
{
	struct wire w = wire_open(bytes);
	int id;

	if (!stat_kind(part, &w, &id, fail))
		return false;
	if (id < 0 || !(want >> id & 1))
		return true;
	ret->present |= UINT64_C(1) << id;
	return stat_value_read(part, w, &ret->at[id], fail);
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

struct lane_walk lane_walk_new(const struct plane *p, const struct lane *l)
{
	struct lane_walk w = { .lane = l, .parts = p->parts };

	if (l->chunk_count > 0)
		w.wire = wire_open(l->chunks[0].bytes);
	return w;
}

const struct plane_part *lane_walk_part(const struct lane_walk *w)
{
	return &w->parts[w->lane->chunks[w->chunk].part];
}

int64_t lane_walk_base(const struct lane_walk *w)
{
	return w->lane->chunks[w->chunk].base_ps;
}

bool lane_walk_next(struct lane_walk *w, struct raw_event *ret)
{
	struct wire_field f;

	while (w->chunk < w->lane->chunk_count) {
		while (wire_next(&w->wire, &f)) {
			if (f.number != XLINE_EVENTS || f.type != WIRE_LEN)
				continue;
			return raw_event_read(f.bytes, ret, &w->fail);
		}
		if (w->wire.why)
			return bad(&w->fail, &w->wire);
		if (++w->chunk < w->lane->chunk_count)
			w->wire = wire_open(w->lane->chunks[w->chunk].bytes);
	}
	return false;
}

struct cursor {
	const struct plane *plane;
	struct lane_walk walk;
	uint64_t want, classes;
};

struct cursor *cursor_new(
	const struct plane *p, const struct lane *l, uint64_t want, struct arena *keep)
{
	struct cursor *c = arena_make(keep, struct cursor, 1);

	*c = (struct cursor){ p, lane_walk_new(p, l), want, UINT64_MAX };
	return c;
}

void cursor_only(struct cursor *c, uint64_t classes)
{
	c->classes = classes;
}

/* A step annotation carries both a root mark and a number. */
static bool is_step(const struct stats *s)
{
	return s->present & STAT_BIT(ROOT) && s->present & STAT_BIT(STEP_NUM);
}

/*
 * Saturating: hostile offsets must not wrap a time around.  Half the range leaves room for
 * differences and shifts.
 */
static int64_t time_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		sum = b > 0 ? INT64_MAX : INT64_MIN;
	return sum > INT64_MAX / 4 ? INT64_MAX / 4 : sum < -(INT64_MAX / 4) ? -(INT64_MAX / 4) : sum;
}

static bool event_make(struct cursor *c, const struct raw_event *raw, struct event *ret)
{
	const struct plane_part *part = lane_walk_part(&c->walk);
	int32_t name = id_map_find(&part->names, raw->metadata_id);
	enum host_class host = name >= 0 ? c->plane->names[name].host : HOST_OTHER;
	bool steps = c->classes >> HOST_STEP & 1;

	if (!(c->classes >> host & 1) && !(steps && host == HOST_OTHER && raw->stats.len > 0))
		return false;
	ret->stats.present = 0;
	uint64_t want = c->want | (steps ? STAT_BIT(ROOT) | STAT_BIT(STEP_NUM) : 0);
	if (!stats_read(part, raw->stats, XEVENT_STATS, want, &ret->stats, &c->walk.fail))
		return false;
	if (steps && is_step(&ret->stats))
		host = HOST_STEP;
	if (!(c->classes >> host & 1))
		return false;
	ret->host = host;
	ret->name_index = name;
	ret->name = name >= 0 ? c->plane->names[name].name : STR("");
	ret->start_ps = time_add(lane_walk_base(&c->walk), raw->offset_ps);
	ret->end_ps = time_add(ret->start_ps, raw->duration_ps > 0 ? raw->duration_ps : 0);
	return true;
}

/* Device lanes: the device's own clock where the event carries it. */
static void on_device_clock(struct event *e)
{
	uint64_t both = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);

	if ((e->stats.present & both) != both)
		return;
	e->start_ps = time_add(0, e->stats.at[STAT_DEVICE_OFFSET_PS].i64);
	int64_t duration = e->stats.at[STAT_DEVICE_DURATION_PS].i64;
	e->end_ps = time_add(e->start_ps, duration > 0 ? duration : 0);
}

bool cursor_next(struct cursor *c, struct event *ret)
{
	struct raw_event raw;

	while (lane_walk_next(&c->walk, &raw)) {
		if (raw.aggregated)
			continue;
		if (event_make(c, &raw, ret)) {
			if (c->walk.lane->class != LANE_HOST)
				on_device_clock(ret);
			return true;
		}
		if (c->walk.fail.why)
			return false;
	}
	return false;
}

bool cursor_end(const struct cursor *c, struct diag *err)
{
	if (!c->walk.fail.why)
		return true;
	wire_error(&c->walk.fail, c->plane->profile->input->bytes, "XEvent", err);
	return diag_context(err, "plane '%.*s', line '%.*s'", STR_ARG(c->plane->name),
		STR_ARG(c->walk.lane->name));
}
