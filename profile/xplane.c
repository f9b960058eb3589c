/*
 * Opening an xplane.pb: one hop over the planes and lines, one walk over the names.
 *
 * Lines come before the names they use, so nothing about an event can be said on the way; but a
 * line's bytes are skipped by their length, so this costs what the metadata costs.  Names are
 * checked, and kept only of the host's planes; others are learned by who reads them.
 */
#include "profile/xplane.h"

#include <limits.h>

#include "base/out.h"
#include "base/stats.h"
#include "base/text.h"

#define MAP_OF_PLANE "metadata map of an XPlane"

/* A file being opened, and what grows meanwhile. */
struct opening {
	struct profile *profile;
	struct arena *keep;
	struct arena work; /* for what a plane's pass needs */
	struct str whole;
	struct diag *err;
	ptrdiff_t plane_cap, hlo_cap;
	struct map planes; /* by their names' hashes */
	struct pieces seen;
	struct map by_ends; /* what planes' ends hash to -> index into seen */
	bool is_open;	    /* planes that are read came behind the last host's name */
};

/* What one pass over a plane's fields collects before anything can be resolved. */
struct plane_index {
	struct opening *o;
	struct plane *plane;
	struct plane_part *part;
	struct arena work;
	struct str name, names_at; /* event metadata, the first entry to the last, */
	ptrdiff_t name_count;
	struct pieces lines, stat_entries, stats; /* the last: the plane's own */
};

/* A map entry: its key, and the value's bytes. */
static bool map_entry(struct str entry, int64_t *key, struct str *value, struct wire *fail)
{
	struct wire w = wire_open(entry);
	struct wire_field f;

	*key = 0;
	*value = (struct str){ entry.p, 0 };
	while (wire_next(&w, &f)) {
		if (f.number == MAP_KEY && f.type == WIRE_VARINT)
			*key = (int64_t)f.num;
		else if (f.number == MAP_VALUE && f.type == WIRE_LEN)
			*value = f.bytes;
	}
	*fail = w;
	return !w.why;
}

bool plane_name_read(struct plane_name *n, struct wire *fail)
{
	struct wire w = wire_open(n->entry);
	struct wire_field f;

	n->name = STR("");
	while (wire_next(&w, &f))
		if (f.number == XMETADATA_NAME && f.type == WIRE_LEN)
			n->name = f.bytes;
	*fail = w;
	return !w.why;
}

/* An XStatMetadata has its name where an XEventMetadata has it. */
static bool stats_index(struct plane_index *x)
{
	struct plane_part *part = x->part;
	ptrdiff_t count = x->stat_entries.count;
	int64_t *ids = arena_make(&x->work, int64_t, count);
	int32_t *indices = arena_make(&x->work, int32_t, count), others = STAT_COUNT;

	part->texts = arena_make(x->o->keep, struct str, STAT_COUNT + count);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct plane_name n;
		struct wire fail;

		if (!map_entry(x->stat_entries.items[i], &ids[i], &n.entry, &fail))
			return wire_error(&fail, x->o->whole, MAP_OF_PLANE, x->o->err);
		if (!plane_name_read(&n, &fail))
			return wire_error(&fail, x->o->whole, "XStatMetadata", x->o->err);
		int stat = stat_id_of(n.name);
		if (stat >= 0)
			part->known |= UINT64_C(1) << stat;
		indices[i] = stat >= 0 ? stat : others++;
		part->texts[indices[i]] = n.name;
	}
	part->stats = map_of_ids(ids, indices, count, x->o->keep);
	return true;
}

/* ---- names of events ------------------------------------------------------------------------- */

#define ENTRY_READABLE (3 * (1 + WIRE_NUMBER_BYTES)) /* three tags, each with a number */

/*
 * An entry as all known writers lay it out; false, with nothing done, when it is any other.
 *
 *	22 len  08 key  12 len XEventMetadata
 */
static inline bool name_fast(struct wire *w, struct plane_name *ret)
{
	const uint8_t *p = w->at;
	ptrdiff_t len, value;
	uint64_t id;

	if (w->end - p < ENTRY_READABLE ||
		!(p = wire_short_field(p, w->end, WIRE_TAG(XPLANE_EVENT_METADATA, WIRE_LEN), &len)))
		return false;
	const uint8_t *end = p + len;
	if (*p != WIRE_TAG(MAP_KEY, WIRE_VARINT) || !(p = wire_small_number(p + 1, &id)) ||
		!(p = wire_short_field(p, end, WIRE_TAG(MAP_VALUE, WIRE_LEN), &value)) ||
		value != end - p)
		return false;
	ret->id = (int64_t)id;
	ret->entry = (struct str){ (const char *)p, end - p };
	w->at = end;
	return true;
}

/* The next of a part's names, as far as its place in the file tells; false at the end, and with
 * why set on damage. */
static bool name_next(struct wire *w, struct plane_name *ret, struct wire *fail)
{
	struct wire_field f;

	*ret = (struct plane_name){ .op = -1 };
	fail->why = NULL;
	if (name_fast(w, ret))
		return true;
	while (wire_next(w, &f))
		if (f.number == XPLANE_EVENT_METADATA && f.type == WIRE_LEN)
			return map_entry(f.bytes, &ret->id, &ret->entry, fail);
	return false;
}

bool name_walk_next(struct name_walk *w, struct plane_name *ret)
{
	const struct plane *p = w->plane;
	struct wire fail;

	if (!p->learns) {
		if (w->next >= p->name_count)
			return false;
		*ret = p->names[w->next++];
		return true;
	}
	while (!name_next(&w->wire, ret, &fail)) {
		if (w->next >= p->part_count)
			return false;
		w->wire = wire_open(p->parts[w->next++].names_at);
	}
	ret->part = (int32_t)w->next - 1;
	return true;
}

/* A file may be written to while it is read: no more are taken than were counted. */
static void names_learn(struct plane *p, struct arena *keep)
{
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < p->part_count; i++)
		count += p->parts[i].name_count;
	p->names = arena_make(keep, struct plane_name, count);
	p->name_count = 0;
	int64_t *ids = arena_make(keep, int64_t, count);
	int32_t *indices = arena_make(keep, int32_t, count);
	for (int32_t i = 0; i < p->part_count; i++) {
		struct plane_part *part = &p->parts[i];
		struct wire w = wire_open(part->names_at), fail;
		ptrdiff_t first = p->name_count;
		for (struct plane_name *n = &p->names[first];
			p->name_count < first + part->name_count && name_next(&w, n, &fail); n++) {
			n->part = i;
			ids[p->name_count] = n->id;
			indices[p->name_count] = (int32_t)p->name_count;
			p->name_count++;
		}
		part->names = map_of_ids(ids + first, indices + first, p->name_count - first, keep);
	}
}

void plane_learn(struct plane *p, struct arena *keep)
{
	p->keep = keep;
	if (p->learns)
		names_learn(p, keep);
}

void plane_forget(struct plane *p)
{
	p->ops = NULL;
	p->op_count = p->op_cap = 0;
	p->op_keys = (struct map){ 0 };
	p->spoken = NULL;
	p->keep = NULL;
	if (p->learns) {
		for (ptrdiff_t i = 0; i < p->part_count; i++)
			p->parts[i].names = (struct map){ 0 };
		p->names = NULL;
		p->name_count = 0;
	}
	/* Elsewhere names know no ops, and CPU ordinals share them between threads. */
	for (ptrdiff_t i = 0; p->platform == PLATFORM_TPU && i < p->name_count; i++)
		p->names[i].op = -1;
}

static bool event_names_index(struct plane_index *x)
{
	struct wire w = wire_open(x->names_at), fail;
	struct plane_name n;

	while (name_next(&w, &n, &fail))
		if (!plane_name_read(&n, &fail))
			return wire_error(&fail, x->o->whole, "XEventMetadata", x->o->err);
	x->part->names_at = x->names_at;
	x->part->name_count = x->name_count;
	return !fail.why || wire_error(&fail, x->o->whole, MAP_OF_PLANE, x->o->err);
}

/*
 * A line's head: every serializer writes fields in their order, so id, name and timestamp stand
 * before the first event, and the walk stops there.
 */
static bool line_head(
	const struct plane_index *x, struct str line, struct lane *ret, struct lane_chunk *chunk)
{
	struct wire w = wire_open(line);
	struct wire_field f;
	const uint8_t *event = w.at;

	*ret = (struct lane){ .name = STR("") };
	for (; wire_next(&w, &f) && f.number != XLINE_EVENTS; event = w.at) {
		if (f.number == XLINE_ID && f.type == WIRE_VARINT)
			ret->id = (int64_t)f.num;
		else if (f.number == XLINE_NAME && f.type == WIRE_LEN)
			ret->name = f.bytes;
		else if (f.number == XLINE_TIMESTAMP_NS && f.type == WIRE_VARINT)
			chunk->base_ps = (int64_t)(f.num * 1000);
	}
	chunk->bytes = str_span((const char *)event, (const char *)w.end);
	return !w.why || wire_error(&w, x->o->whole, "XLine", x->o->err);
}

/*
 * Chunks with the same id and name are one timeline.  An id of its own is no identity: planes
 * exist whose lines all have id 0.
 */
static struct lane *lane_of(struct plane *p, const struct lane *head, struct arena *keep)
{
	int64_t key = (int64_t)(str_hash(head->name) ^ hash_mix((uint64_t)head->id));
	int32_t i = map_get_id(&p->lane_map, key);

	if (i >= 0 && p->lanes[i].id == head->id && str_eq(p->lanes[i].name, head->name))
		return &p->lanes[i];
	struct lane *l = arena_push(keep, p->lanes, p->lane_count, p->lane_cap);
	map_put_id(&p->lane_map, key, (int32_t)(p->lane_count - 1), keep);
	*l = *head;
	l->class = lane_class_of(head->name, p->class, head->id);
	return l;
}

static bool lanes_index(struct plane_index *x)
{
	for (ptrdiff_t i = 0; i < x->lines.count; i++) {
		struct lane head;
		struct lane_chunk chunk = { .part = (int32_t)(x->part - x->plane->parts) };

		if (!line_head(x, x->lines.items[i], &head, &chunk))
			return false;
		struct lane *l = lane_of(x->plane, &head, x->o->keep);
		*arena_push(x->o->keep, l->chunks, l->chunk_count, l->chunk_cap) = chunk;
		l->bytes += chunk.bytes.len;
	}
	return true;
}

static bool plane_fields(struct plane_index *x, struct str bytes)
{
	struct wire w = wire_open(bytes);
	struct wire_field f;

	x->name = STR("");
	for (const uint8_t *before = w.at; wire_next(&w, &f); before = w.at) {
		if (f.type != WIRE_LEN)
			continue;
		if (f.number == XPLANE_NAME)
			x->name = f.bytes;
		else if (f.number == XPLANE_LINES)
			pieces_add(&x->lines, f.bytes, &x->work);
		else if (f.number == XPLANE_STAT_METADATA)
			pieces_add(&x->stat_entries, f.bytes, &x->work);
		else if (f.number == XPLANE_STATS)
			pieces_add(&x->stats, f.bytes, &x->work);
		else if (f.number == XPLANE_EVENT_METADATA)
			x->names_at =
				str_span(x->name_count++ ? x->names_at.p : (const char *)before,
					(const char *)w.at);
	}
	if (w.why)
		return wire_error(&w, x->o->whole, "XPlane", x->o->err);
	if (x->lines.count > XPLANE_MAX_LANES || x->name_count > XPLANE_MAX_NAMES)
		return diag_set(x->o->err, DIAG_LIMIT,
			"plane '%.*s' has %td lines and %td names; the limits are %d and %d",
			STR_ARG(x->name), x->lines.count, x->name_count, XPLANE_MAX_LANES,
			XPLANE_MAX_NAMES);
	return true;
}

/* A count or a time: reals toward zero, never negative, 0 when not said or out of all range. */
static int64_t whole_or_0(const struct stats *s, enum stat_id id, int64_t most)
{
	int64_t v = s->present >> id & 1 ? s->at[id].i64 : 0;

	return v < 0 ? 0 : v > most ? most : v;
}

/* CoreDetails: global_chip_id = 5; zero is omitted. */
static void core_details(struct str bytes, struct chip_hints *chip)
{
	struct wire w = wire_open(bytes);
	struct wire_field f;

	chip->global_chip_id = 0;
	while (wire_next(&w, &f))
		if (f.number == 5 && f.type == WIRE_VARINT)
			chip->global_chip_id = (int64_t)f.num;
}

/*
 * Asked of every device before any is read, so the few words are copied and their pages can go.
 * memory_bandwidth is bytes/s, clock_rate kHz.
 */
static void plane_chip_read(struct plane *p, const struct stats *s)
{
	struct chip_hints *c = &p->chip;

	c->global_chip_id = -1;
	c->device_type = arena_str(p->keep, stat_text(s, STAT_DEVICE_TYPE_STRING));
	c->device_name = arena_str(p->keep, stat_text(s, STAT_GPU_DEVICE_NAME));
	c->vendor = arena_str(p->keep, stat_text(s, STAT_DEVICE_VENDOR));
	c->cc_major = (int)whole_or_0(s, STAT_COMPUTE_CAP_MAJOR, INT_MAX);
	c->cc_minor = (int)whole_or_0(s, STAT_COMPUTE_CAP_MINOR, INT_MAX);
	c->core_count = (int)whole_or_0(s, STAT_CORE_COUNT, INT_MAX);
	c->clock_hz = stat_real(s, STAT_CLOCK_RATE) * 1e3;
	c->memory_bytes = stat_real(s, STAT_MEMORY_SIZE);
	c->memory_bps = stat_real(s, STAT_MEMORY_BANDWIDTH);
	c->peak_flops = stat_real(s, STAT_PEAK_TFLOPS) * 1e12;
	c->peak_hbm_bps = stat_real(s, STAT_PEAK_HBM_GBPS) * 1e9;
	p->dropped_events = whole_or_0(s, STAT_DROPPED_TRACES, INT64_MAX);
	if (s->present & STAT_BIT(CORE_DETAILS))
		core_details(s->at[STAT_CORE_DETAILS].text, c);
	if (p->class == PLANE_DEVICE && p->platform == PLATFORM_UNKNOWN)
		p->platform = str_eq(c->vendor, STR("AMD")) ? PLATFORM_AMD : PLATFORM_NVIDIA;
}

static bool has_digit(struct str s)
{
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (is_digit(s.p[i]))
			return true;
	return false;
}

/*
 * The lines of a runtime's words in one, without PJRT's own; what has no digit ("cpu") is a name
 * and no version.
 */
static struct str runtime_text(struct str words, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str line;

	while (str_next(&words, '\n', &line)) {
		line = str_trim(line);
		if (line.len && !str_eq(line, STR("PJRT C API")))
			out_fmt(o, "%s%.*s", out_text(o).len ? ", " : "", STR_ARG(line));
	}
	return has_digit(out_text(o)) ? out_text(o) : MISSING;
}

/*
 * JAX's stats of /host:metadata (jax/_src/profiler.py, 2026): its own version, jaxlib's, and of
 * each platform the runtime's words.  XLA's schema names libtpu's and CUDA's without a plane.
 */
static void versions_read(struct profile_versions *v, const struct stats *s, struct arena *keep)
{
	static const enum stat_id runtimes[] = { STAT_TPU_VERSION, STAT_LIBTPU_VERSION,
		STAT_GPU_VERSION, STAT_CUDA_VERSION };

	if (s->present & STAT_BIT(JAX_VERSION) && !v->jax.p)
		v->jax = arena_str(keep, stat_text(s, STAT_JAX_VERSION));
	if (s->present & STAT_BIT(JAXLIB_VERSION) && !v->jaxlib.p)
		v->jaxlib = arena_str(keep, stat_text(s, STAT_JAXLIB_VERSION));
	for (ptrdiff_t i = 0; i < COUNT_OF(runtimes) && !v->runtime.p; i++)
		v->runtime = runtime_text(stat_text(s, runtimes[i]), keep);
}

static bool plane_stats(struct plane_index *x)
{
	struct plane *p = x->plane;
	struct profile *profile = x->o->profile;
	struct stats s = { 0 };
	struct wire fail = { 0 };

	for (ptrdiff_t i = 0; i < x->stats.count; i++)
		if (!stats_read(x->part, x->stats.items[i], 0, UINT64_MAX, &s, &fail))
			return wire_error(&fail, x->o->whole, "XStat of an XPlane", x->o->err);
	p->stats_lost |= (s.present & STATS_LOST) != 0;
	if (p->class == PLANE_DEVICE || p->class == PLANE_SPARSE)
		plane_chip_read(p, &s);
	versions_read(&profile->versions, &s, x->o->keep);
	if (p->class == PLANE_ENVIRONMENT) {
		profile->captures++;
		profile->start_ns = whole_or_0(&s, STAT_PROFILE_START_TIME, INT64_MAX);
		profile->stop_ns = whole_or_0(&s, STAT_PROFILE_STOP_TIME, INT64_MAX);
	}
	return true;
}

static bool hlo_index(struct plane_index *x)
{
	struct profile *profile = x->o->profile;
	struct wire w = wire_open(x->part->names_at), fail;
	uint64_t protos = STAT_BIT(HLO_PROTO) | STAT_BIT(HLO_PROTO_OLD);
	struct plane_name n;

	while (name_next(&w, &n, &fail)) {
		struct stats s = { 0 };

		if (!stats_read(x->part, n.entry, XMETADATA_STATS, protos | STAT_BIT(PROGRAM_ID),
			    &s, &fail))
			return wire_error(&fail, x->o->whole, "XStat of a module", x->o->err);
		x->plane->stats_lost |= (s.present & STATS_LOST) != 0;
		if (!(s.present & protos))
			continue;
		struct hlo_entry *e =
			arena_push(x->o->keep, profile->hlo, profile->hlo_count, x->o->hlo_cap);
		e->program = (uint64_t)n.id;
		module_name_of(plane_name_text(&n), &e->name, &e->program);
		if (s.present & STAT_BIT(PROGRAM_ID))
			e->program = (uint64_t)s.at[STAT_PROGRAM_ID].i64;
		e->proto =
			s.at[s.present & STAT_BIT(HLO_PROTO) ? STAT_HLO_PROTO : STAT_HLO_PROTO_OLD]
				.text;
	}
	return true;
}

/* Planes with one name are parts of one. */
static struct plane *plane_named(struct opening *o, struct str name)
{
	struct profile *profile = o->profile;
	int64_t key = (int64_t)str_hash(name);
	int32_t i = map_get_id(&o->planes, key);

	if (i >= 0 && str_eq(profile->planes[i].name, name))
		return &profile->planes[i];
	struct plane *p = arena_push(o->keep, profile->planes, profile->plane_count, o->plane_cap);
	map_put_id(&o->planes, key, (int32_t)(profile->plane_count - 1), o->keep);
	p->profile = profile;
	p->name = arena_str(o->keep, name);
	p->class = plane_class_of(name, &p->platform, &p->ordinal);
	p->chip.global_chip_id = -1;
	p->keep = o->keep;
	p->learns = p->class != PLANE_HOST;
	return p;
}

/* Bytes at either end of a plane that tell most planes apart. */
#define PLANE_END 64

/*
 * A file that was appended to itself: every plane comes again, byte for byte, and its events would
 * count twice.  Of planes whose ends are equal the first one is compared.
 */
static bool is_repeated(struct opening *o, struct str bytes)
{
	struct str head = str_head(bytes, PLANE_END), tail = bytes;

	if (tail.len > PLANE_END)
		tail = str_from_offset(bytes, bytes.len - PLANE_END);
	uint64_t key = str_hash(head) ^ hash_mix(str_hash(tail) + (uint64_t)bytes.len);
	int32_t next = (int32_t)o->seen.count;
	int32_t i = map_put_id(&o->by_ends, (int64_t)key, next, o->keep);
	if (i < next)
		return str_eq(o->seen.items[i], bytes);
	pieces_add(&o->seen, bytes, o->keep);
	return false;
}

static bool plane_index(struct opening *o, struct str bytes)
{
	struct plane_index x = { .o = o, .work = o->work };

	if (!plane_fields(&x, bytes))
		return false;
	if (o->profile->plane_count >= XPLANE_MAX_PLANES)
		return diag_set(o->err, DIAG_LIMIT, "more than %d planes", XPLANE_MAX_PLANES);
	if (is_repeated(o, bytes)) {
		o->profile->repeated++;
		return true;
	}
	struct plane *p = x.plane = plane_named(o, x.name);
	o->is_open |= p->class != PLANE_OTHER;
	x.part = arena_push(o->keep, p->parts, p->part_count, p->part_cap);
	x.part->bytes = bytes;
	if (!stats_index(&x) || !event_names_index(&x) || !lanes_index(&x) || !plane_stats(&x))
		return diag_context(o->err, "plane '%.*s'", STR_ARG(x.name));
	return p->class != PLANE_METADATA || hlo_index(&x);
}

/* Host clock minus device clock: the median over the lane's first events that carry both. */
#define SHIFT_SAMPLES 65
/* Events of a lane looked at for them: old captures have lanes without any. */
#define SHIFT_EVENTS 1024

/* Wraps for hostile times and is bounded then: sums of it and a time must fit. */
static double clock_difference(int64_t base_ps, int64_t offset_ps, int64_t device_ps)
{
	const int64_t limit = INT64_MAX / 4;
	int64_t d = (int64_t)((uint64_t)base_ps + (uint64_t)offset_ps - (uint64_t)device_ps);

	return (double)(d > limit ? limit : d < -limit ? -limit : d);
}

bool plane_shift(struct plane *p, struct str whole, struct diag *err)
{
	double shifts[SHIFT_SAMPLES];
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < p->lane_count && count < SHIFT_SAMPLES; i++) {
		if (p->lanes[i].class != LANE_OPS)
			continue;
		struct lane_walk w = lane_walk_new(p, &p->lanes[i]);
		struct raw_event raw;
		for (int n = 0;
			n < SHIFT_EVENTS && count < SHIFT_SAMPLES && lane_walk_next(&w, &raw);
			n++) {
			struct stats s = { 0 };
			if (!event_stats_read(
				    w.part, &raw, STAT_BIT(DEVICE_OFFSET_PS), &s, &w.fail))
				break;
			if (s.present)
				shifts[count++] = clock_difference(
					w.base_ps, raw.offset_ps, s.at[STAT_DEVICE_OFFSET_PS].i64);
		}
		if (w.fail.why)
			return wire_error(&w.fail, whole, "XEvent", err);
	}
	sort_numbers(shifts, count);
	p->host_shift_ps = count > 0 ? (int64_t)shifts[count / 2] : 0;
	return true;
}

static bool xspace_fields(struct opening *o)
{
	struct profile *profile = o->profile;
	struct wire w = wire_open(o->whole);
	struct wire_field f;
	ptrdiff_t error_cap = 0, warning_cap = 0;
	int named = 0; /* times that planes ended with a host's name */

	while (wire_next(&w, &f)) {
		if (f.type != WIRE_LEN)
			return diag_set(o->err, DIAG_WIRE,
				"XSpace at byte %td: field %u is a number where a plane was "
				"expected",
				(const char *)w.at - o->whole.p, f.number);
		if (f.number == XSPACE_PLANES && !plane_index(o, f.bytes))
			return false;
		if (f.number == XSPACE_HOSTNAMES) {
			named += o->is_open;
			o->is_open = false;
			profile->machine = f.bytes;
		}
		if (f.number == XSPACE_ERRORS)
			*arena_push(o->keep, profile->errors, profile->error_count, error_cap) =
				f.bytes;
		if (f.number == XSPACE_WARNINGS)
			*arena_push(o->keep, profile->warnings, profile->warning_count,
				warning_cap) = f.bytes;
	}
	/* Runtimes of before 2024 write no Task Environment plane. */
	profile->has_end = named > 0 ? !o->is_open : profile->captures > 0;
	named += named > 0 && o->is_open; /* of the last capture the end is missing */
	profile->captures = profile->captures > named ? profile->captures : named;
	return !w.why || wire_error(&w, o->whole, "XSpace", o->err);
}

/*
 * Its first bytes show a text.  A plane has bytes below ' ' there: at the latest the tag that
 * follows its own tag and its length, which has ten bytes at most.
 */
enum { SNIFF_BYTES = 512, SNIFF_LEAST = 12, SNIFF_SHOWN = 24 };

static bool is_text(struct str first)
{
	for (ptrdiff_t i = 0; i < first.len; i++)
		if ((unsigned char)first.p[i] < ' ' &&
			str_find_char(STR("\t\n\f\r"), first.p[i]) < 0)
			return false;
	return first.len >= SNIFF_LEAST;
}

/* An XSpace begins with one of its fields, 1 to 4, each with a length.  Zeros are damage. */
static bool is_xspace(struct str bytes)
{
	if (!bytes.len || !bytes.p[0])
		return true;
	return str_find_char(STR("\n\x12\x1a\""), bytes.p[0]) >= 0 &&
	       !is_text(str_head(bytes, SNIFF_BYTES));
}

static bool refuse_kind(struct str bytes, struct arena *keep, struct diag *err)
{
	return diag_set(err, DIAG_FILE_KIND,
		"not an xplane: it begins with '%.*s', where a protobuf message was expected; give "
		"the *.xplane.pb that jax.profiler.trace wrote",
		STR_ARG(text_clean(keep, str_head(bytes, SNIFF_SHOWN))));
}

bool xplane_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err)
{
	if (!is_xspace(in->bytes))
		return refuse_kind(in->bytes, keep, err);
	*ret = (struct profile){ .input = in, .host = host, .file_bytes = in->bytes.len };
	struct opening o = { .profile = ret,
		.keep = keep,
		.work = arena_new(ARENA_SCRATCH_BYTES),
		.whole = in->bytes,
		.err = err };
	bool ok = xspace_fields(&o);

	arena_free(&o.work);
	if (!ok)
		return false;
	if (ret->plane_count == 0)
		return diag_set(err, DIAG_XPLANE,
			"no XPlane in %td bytes: the message is empty or cut; capture again",
			in->bytes.len);
	for (struct plane *p = ret->planes; p < ret->planes + ret->plane_count; p++) {
		if (!plane_shift(p, in->bytes, err))
			return diag_context(err, "plane '%.*s'", STR_ARG(p->name));
		if (p->class != PLANE_HOST)
			continue;
		/* Host events are sorted out by their names again and again, so those stay. */
		names_learn(p, keep);
		for (ptrdiff_t i = 0; i < p->name_count; i++)
			p->names[i].host = (int8_t)host_class_of(plane_name_text(&p->names[i]));
	}
	profile_drop(ret);
	return cpu_planes(ret, keep, err);
}

void profile_drop_part(const struct profile *p, struct str bytes)
{
	ptrdiff_t from = bytes.p - p->input->bytes.p;

	if (bytes.len > 0)
		input_drop(p->input, from, from + bytes.len);
}

void profile_drop(const struct profile *p)
{
	profile_drop_part(p, p->input->bytes);
}

/* The planes of CPU ordinals have the host plane's bytes, which others may be reading. */
void plane_drop(const struct plane *p)
{
	for (ptrdiff_t i = 0; p->platform != PLATFORM_CPU && i < p->part_count; i++)
		profile_drop_part(p->profile, p->parts[i].bytes);
}
