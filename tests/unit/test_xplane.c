/*
 * profile/: XSpaces written here field by field, read back through merges and cursors.
 *
 * The reader has a fast way for the layout that all known writers produce and a general way for
 * everything else; most cases here are told to both and must come out the same.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "profile/xplane.h"
#include "tests/unit/pb.h"
#include "tests/unit/keep.h"

static struct diag err;
static struct input in;
static struct profile profile;

static int clear(void **state)
{
	(void)state;
	arena_clear(&keep);
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* How the same event may be spelled. */
enum spelling {
	PLAIN,	  /* as producers do */
	SHUFFLED, /* fields in another order, */
	TURNED,	  /* and what an event or a stat is called behind what it holds */
	STRANGE,  /* fields and types that nobody knows, in between */
	LONG,	  /* numbers written longer than they need be */
	SPELLINGS
};

static void long_varint(struct pb *b, uint64_t value)
{
	for (int i = 0; i < 9; i++, value >>= 7)
		pb_varint(b, 0), b->p[b->len - 1] = (char)(value | 0x80);
	pb_varint(b, value);
}

static void number(struct pb *b, int field, int64_t value, enum spelling how)
{
	if (how == LONG) {
		pb_varint(b, (uint64_t)field << 3);
		long_varint(b, (uint64_t)value);
		return;
	}
	if (how == STRANGE) {
		pb_text(b, 77, "unknown");
		pb_text(b, field, "a known number with the wire type of a text");
	}
	pb_int(b, field, value);
}

static struct str stat_of(int64_t id, int field, int64_t value, enum spelling how)
{
	struct pb b = pb_new(&keep);
	if (how != TURNED)
		number(&b, XSTAT_METADATA_ID, id, how == LONG ? LONG : PLAIN);
	number(&b, field, value, how);
	if (how == TURNED)
		pb_int(&b, XSTAT_METADATA_ID, id);
	return pb_done(&b);
}

struct ev {
	int64_t id, offset, duration;
	struct str stats[8]; /* up to the first without bytes */
};

static void event_stats(struct pb *b, const struct ev *e)
{
	for (int i = 0; i < 8 && e->stats[i].p; i++)
		pb_bytes(b, XEVENT_STATS, e->stats[i]);
}

static struct str event_of(const struct ev *e, enum spelling how)
{
	struct pb b = pb_new(&keep);
	if (how == SHUFFLED) {
		event_stats(&b, e);
		pb_int(&b, XEVENT_DURATION_PS, e->duration);
		pb_int(&b, XEVENT_OFFSET_PS, e->offset);
		pb_int(&b, XEVENT_METADATA_ID, e->id);
		return pb_done(&b);
	}
	if (how == TURNED) {
		pb_int(&b, XEVENT_OFFSET_PS, e->offset);
		event_stats(&b, e);
		pb_int(&b, XEVENT_DURATION_PS, e->duration);
		pb_int(&b, XEVENT_METADATA_ID, e->id);
		return pb_done(&b);
	}
	number(&b, XEVENT_METADATA_ID, e->id, how);
	number(&b, XEVENT_OFFSET_PS, e->offset, how);
	if (e->duration)
		number(&b, XEVENT_DURATION_PS, e->duration, how);
	event_stats(&b, e);
	return pb_done(&b);
}

static struct pb line_new(int64_t id, const char *name, int64_t timestamp_ns)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, XLINE_ID, id);
	pb_text(&b, XLINE_NAME, name);
	pb_int(&b, XLINE_TIMESTAMP_NS, timestamp_ns);
	return b;
}

static void line_event(struct pb *line, struct ev e, enum spelling how)
{
	pb_bytes(line, XLINE_EVENTS, event_of(&e, how));
}

/* An entry of a metadata map; `more` are further fields of the metadata. */
static void metadata(struct pb *plane, int field, int64_t id, const char *name, struct str more)
{
	struct pb value = pb_new(&keep), entry = pb_new(&keep);
	pb_int(&value, XMETADATA_ID, id);
	pb_text(&value, XMETADATA_NAME, name);
	pb_raw(&value, more);
	pb_int(&entry, MAP_KEY, id);
	pb_bytes(&entry, MAP_VALUE, pb_done(&value));
	pb_bytes(plane, field, pb_done(&entry));
}

static void event_name(struct pb *plane, int64_t id, const char *name)
{
	metadata(plane, XPLANE_EVENT_METADATA, id, name, STR(""));
}

static void stat_name(struct pb *plane, int64_t id, const char *name)
{
	metadata(plane, XPLANE_STAT_METADATA, id, name, STR(""));
}

static struct pb plane_new(const char *name)
{
	struct pb b = pb_new(&keep);
	pb_text(&b, XPLANE_NAME, name);
	return b;
}

/* One plane as a whole file. */
static struct str space_of(const struct pb *plane)
{
	struct pb b = pb_new(&keep);
	pb_bytes(&b, XSPACE_PLANES, pb_done(plane));
	return pb_done(&b);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Memory of just that size, so that ASan sees every byte read too far. */
static bool open_bytes(struct str bytes)
{
	char *copy = arena_make(&keep, char, bytes.len);
	if (bytes.len)
		memcpy(copy, bytes.p, (size_t)bytes.len);
	in = input_memory(STR("test"), (struct str){ copy, bytes.len });
	return xplane_open(&in, STR("host"), &keep, &profile, &err);
}

static struct plane *open_plane(const struct pb *plane)
{
	assert_true(open_bytes(space_of(plane)));
	assert_int_equal(profile.plane_count, 1);
	return &profile.planes[0];
}

enum { EVENTS_MAX = 4096 };
static struct op_event events[EVENTS_MAX];

/* All of a plane's ops, again for every lane that turns out to be disordered; -1 on damage. */
static ptrdiff_t merge_all(struct plane *p)
{
	for (;;) {
		ptrdiff_t n = 0;
		plane_forget(p);
		plane_learn(p, &keep);
		struct merge *m = merge_new(p, &keep);
		const struct op_event *e;
		while (n < EVENTS_MAX && (e = merge_next(m)))
			events[n++] = *e;
		bool ok = merge_end(m, &err);
		merge_free(m);
		if (ok)
			return n;
		if (err.id != DIAG_NONE)
			return -1;
	}
}

static void check_event(ptrdiff_t i, int64_t start_ps, int64_t end_ps)
{
	assert_int_equal(events[i].start_ps, start_ps);
	assert_int_equal(events[i].end_ps, end_ps);
}

static void check_name_of(const struct profile_op *op, const char *name)
{
	assert_true(str_eq(op->name, str_from(name)));
}

static void check_name(const struct plane *p, ptrdiff_t i, const char *name)
{
	check_name_of(&p->ops[events[i].op], name);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static struct pb tpu_plane(const struct pb *line)
{
	struct pb b = plane_new("/device:TPU:0");
	/* As written: the events come before the names they use. */
	pb_bytes(&b, XPLANE_LINES, pb_done(line));
	event_name(&b, 1, "fusion");
	event_name(&b, 300, "copy");
	stat_name(&b, 5, "device_offset_ps");
	stat_name(&b, 200, "device_duration_ps");
	stat_name(&b, 9, "nobody reads this");
	return b;
}

/* Times on the device's clock, of every length that a number can have, and beyond. */
static const int64_t device_times[] = { 0, 1, 127, 128, INT64_C(1) << 14, INT64_C(1) << 41,
	(INT64_C(1) << 56) - 1, INT64_C(1) << 56, INT64_C(1) << 60, INT64_MAX, -1, INT64_MIN };
enum { TIMES = sizeof(device_times) / sizeof(device_times[0]) };

/* What a producer may say in between: an order of the clock's stats, types, and another stat. */
static struct ev device_event(int64_t id, int64_t start, int64_t duration, int variant)
{
	int type = variant & 1 ? XSTAT_UINT64 : XSTAT_INT64, first = variant & 2 ? 1 : 0;
	struct ev e = { .id = id, .offset = 17, .duration = variant & 4 ? 0 : 3 };

	e.stats[first] = stat_of(5, type, start, PLAIN);
	e.stats[!first] = stat_of(6, type, duration, PLAIN);
	if (variant & 8)
		e.stats[2] = stat_of(9, XSTAT_UINT64, 1, PLAIN);
	return e;
}

static ptrdiff_t device_events(enum spelling how)
{
	struct pb line = line_new(1, "XLA Ops", 2);
	for (int i = 0; i < TIMES * TIMES * 16; i++)
		line_event(&line,
			device_event(i & 16 ? 1 : 300, device_times[i / 16 % TIMES],
				device_times[i / 16 / TIMES], i % 16),
			how);
	struct pb b = tpu_plane(&line);
	stat_name(&b, 6, "device_duration_ps");
	struct plane *p = open_plane(&b);
	p->lanes[0].sort = true;
	return merge_all(p);
}

/* The usual layout is read in another way than an unusual one, and says the same. */
static void device_clock_in_any_layout(void **state)
{
	static struct op_event usual[EVENTS_MAX];
	(void)state;
	ptrdiff_t n = device_events(PLAIN);
	assert_int_equal(n, TIMES * TIMES * 16);
	memcpy(usual, events, sizeof(usual));
	for (enum spelling how = SHUFFLED; how < SPELLINGS; how++) {
		assert_int_equal(device_events(how), n);
		for (ptrdiff_t i = 0; i < n; i++) {
			check_event(i, usual[i].start_ps, usual[i].end_ps);
			assert_int_equal(events[i].op, usual[i].op);
		}
	}
}

static void spellings(void **state)
{
	(void)state;
	for (enum spelling how = PLAIN; how < SPELLINGS; how++) {
		struct pb line = line_new(1, "XLA Ops", 2);
		line_event(&line, (struct ev){ .id = 1, .offset = 100, .duration = 50 }, how);
		line_event(&line, (struct ev){ .id = 300, .offset = 200 }, how);
		line_event(&line,
			(struct ev){ 1, 300, 7,
				{ stat_of(9, XSTAT_UINT64, 1, how),
					stat_of(5, XSTAT_UINT64, INT64_C(1) << 50, how),
					stat_of(200, XSTAT_INT64, 60, how) } },
			how);
		line_event(&line, (struct ev){ 1, 400, 8, { stat_of(5, XSTAT_UINT64, 77, how) } },
			how);
		struct pb b = tpu_plane(&line);
		struct plane *p = open_plane(&b);
		assert_int_equal(merge_all(p), 4);
		check_event(0, 2100, 2150);
		check_event(1, 2200, 2200);
		check_event(2, 2400, 2408); /* one of the two stats alone is no clock */
		check_event(3, INT64_C(1) << 50, (INT64_C(1) << 50) + 60);
		check_name(p, 0, "fusion");
		check_name(p, 1, "copy");
		assert_int_equal(events[0].op, events[3].op);
		assert_int_equal(p->op_count, 2);
	}
}

/* An event's bytes in several lines, planes of one name, and names known to one of them only. */
static void parts(void **state)
{
	(void)state;
	struct pb space = pb_new(&keep);
	for (int64_t part = 0; part < 3; part++) {
		struct pb line = line_new(1, "XLA Ops", part);
		struct pb b = plane_new("/device:TPU:0");
		line_event(
			&line, (struct ev){ .id = 1 + part, .offset = 10, .duration = 5 }, PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
		event_name(&b, 1 + part, part == 1 ? "second" : "other");
		pb_bytes(&space, XSPACE_PLANES, pb_done(&b));
	}
	assert_true(open_bytes(pb_done(&space)));
	assert_int_equal(profile.plane_count, 1);
	struct plane *p = &profile.planes[0];
	assert_int_equal(p->lane_count, 1);
	assert_int_equal(p->lanes[0].chunk_count, 3);
	assert_int_equal(merge_all(p), 3);
	check_event(1, 1010, 1015);
	check_name(p, 1, "second");
	check_name(p, 2, "other");
}

/* ---- names ----------------------------------------------------------------------------------- */

/* What a writer may do to an entry of the map; the first is what all do. */
enum entry_layout { AS_USUAL, VALUE_FIRST, KEY_TWICE, MORE_BEHIND, LAYOUTS };

static void entry_as(struct pb *plane, enum entry_layout how, int64_t id, const char *name)
{
	struct pb value = pb_new(&keep), entry = pb_new(&keep);
	pb_text(&value, XMETADATA_NAME, name);
	if (how == VALUE_FIRST)
		pb_bytes(&entry, MAP_VALUE, pb_done(&value));
	if (how == KEY_TWICE)
		pb_int(&entry, MAP_KEY, id / 2);
	pb_int(&entry, MAP_KEY, id);
	if (how != VALUE_FIRST)
		pb_bytes(&entry, MAP_VALUE, pb_done(&value));
	if (how == MORE_BEHIND)
		pb_int(&entry, 9, 5);
	pb_bytes(plane, XPLANE_EVENT_METADATA, pb_done(&entry));
}

/* Entries of any layout and length, apart by other fields, the last at the file's end; and of
 * equal ids the first. */
static void names_in_any_layout(void **state)
{
	static const int64_t ids[] = { 5, 200, 70000, INT64_MAX };
	(void)state;
	for (enum entry_layout how = AS_USUAL; how < LAYOUTS; how++)
		for (int length = 1; length < 20000; length = length * 12 + 1) {
			char *name = arena_make(&keep, char, length + 1);
			memset(name, 'n', (size_t)length);
			struct pb line = line_new(1, "XLA Ops", 0), b = plane_new("/device:TPU:0");
			for (int i = 0; i < 4; i++)
				line_event(&line, (struct ev){ .id = ids[i], .offset = i }, PLAIN);
			pb_bytes(&b, XPLANE_LINES, pb_done(&line));
			for (int i = 0; i < 4; i++) {
				entry_as(&b, how, ids[i], name);
				stat_name(&b, 1 + i, "between");
			}
			entry_as(&b, how, ids[0], "the second of its id");
			struct plane *p = open_plane(&b);
			assert_int_equal(merge_all(p), 4);
			assert_int_equal(p->name_count, 5);
			for (int i = 0; i < 4; i++)
				check_name(p, i, name);
		}
}

/* Each time it is learned a plane tells the same, and in between it holds nothing. */
static void learned_again(void **state)
{
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 0);
	for (int64_t i = 0; i < 4; i++)
		line_event(&line, (struct ev){ .id = i % 2 ? 300 : 1, .offset = i }, PLAIN);
	struct pb b = tpu_plane(&line);
	struct plane *p = open_plane(&b);
	for (int i = 0; i < 2; i++) {
		struct arena work = arena_new(1 << 20);
		assert_null(p->names);
		plane_learn(p, &work);
		struct merge *m = merge_new(p, &work);
		while (merge_next(m))
			;
		assert_true(merge_end(m, &err));
		merge_free(m);
		assert_int_equal(p->op_count, 2);
		check_name_of(&p->ops[1], "copy");
		plane_forget(p);
		arena_free(&work);
		assert_int_equal(p->op_count, 0);
		assert_null(p->names);
		struct cursor *c = cursor_new(p, &p->lanes[0], 0, &keep);
		struct event *e = arena_make(&keep, struct event, 1);
		assert_true(cursor_next(c, e));
		assert_int_equal(e->name.len, 0);
	}
}

/* A name that nobody uses is looked at all the same: the file is damaged. */
static void damaged_name(void **state)
{
	(void)state;
	struct pb b = plane_new("/device:TPU:0");
	event_name(&b, 1, "whole");
	pb_bytes(&b, XPLANE_EVENT_METADATA, STR("\x08\x02\x12\x02\x12\x7f"));
	assert_false(open_bytes(space_of(&b)));
	assert_true(str_contains(str_from(err.text), STR("XEventMetadata at byte")));
	b = plane_new("/device:TPU:0");
	event_name(&b, 1, "whole");
	pb_bytes(&b, XPLANE_EVENT_METADATA, STR("\x08\x02\x12\x7f"));
	assert_false(open_bytes(space_of(&b)));
	assert_true(str_contains(str_from(err.text), STR("metadata map of an XPlane at byte")));
}

/* A file appended to itself: its planes are there again, and one that only begins alike is not. */
static void the_same_plane_again(void **state)
{
	(void)state;
	struct pb space = pb_new(&keep);
	for (int64_t part = 0; part < 4; part++) {
		struct pb line = line_new(1, "XLA Ops", 0), b = plane_new("/device:TPU:0");
		for (int64_t i = 0; i < 50; i++)
			line_event(&line,
				(struct ev){ .id = 1,
					.offset = 10 * i,
					.duration = i == 25 ? 1 + part % 2 : 5 },
				PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
		event_name(&b, 1, "dot");
		pb_bytes(&space, XSPACE_PLANES, pb_done(&b));
	}
	assert_true(open_bytes(pb_done(&space)));
	assert_int_equal(profile.repeated, 1);
	assert_int_equal(merge_all(&profile.planes[0]), 150);
}

static void unknown_names_and_aggregates(void **state)
{
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 0), counted = pb_new(&keep);
	pb_int(&counted, XEVENT_METADATA_ID, 1);
	pb_int(&counted, XEVENT_DURATION_PS, 1000);
	pb_int(&counted, XEVENT_OCCURRENCES, 4);
	line_event(&line, (struct ev){ .id = 99, .offset = 1, .duration = 1 }, PLAIN);
	pb_bytes(&line, XLINE_EVENTS, pb_done(&counted));
	line_event(&line, (struct ev){ .id = 1, .offset = 5, .duration = 1 }, PLAIN);
	struct pb b = tpu_plane(&line);
	struct plane *p = open_plane(&b);
	/* What has no name has its time all the same; what was only counted has none. */
	assert_int_equal(merge_all(p), 2);
	check_event(0, 1, 2);
	check_event(1, 5, 6);
	assert_int_equal(p->lost.events, 1);
	assert_int_equal(p->lost.time_ps, 1);
}

/* Ids may be hashes: negative, or anywhere in 64 bits. */
static void hashed_ids(void **state)
{
	static const int64_t ids[] = { -1, INT64_MIN, INT64_MAX, INT64_C(0x123456789abcdef0), 7 };
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 0);
	for (int i = 0; i < 5; i++)
		line_event(&line,
			(struct ev){ ids[i], i, 1,
				{ stat_of(-3, XSTAT_INT64, 50 + i, PLAIN),
					stat_of(INT64_MIN + 1, XSTAT_INT64, 2, PLAIN) } },
			PLAIN);
	struct pb b = plane_new("/device:TPU:0");
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	for (int i = 0; i < 5; i++)
		event_name(&b, ids[i], arena_fmt(&keep, "op%d", i).p);
	stat_name(&b, -3, "device_offset_ps");
	stat_name(&b, INT64_MIN + 1, "device_duration_ps");
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), 5);
	for (int i = 0; i < 5; i++) {
		check_event(i, 50 + i, 52 + i);
		check_name(p, i, arena_fmt(&keep, "op%d", i).p);
	}
}

static ptrdiff_t used(void)
{
	return keep.at - keep.base;
}

/* What opening a file takes is in proportion to its size, however it is cut into planes. */
static void many_parts(void **state)
{
	(void)state;
	struct pb space = pb_new(&keep);
	for (int64_t i = 0; i < 20000; i++) {
		struct pb line = line_new(1, "XLA Ops", i), b = plane_new("/device:TPU:0");
		line_event(&line, (struct ev){ .id = 9, .offset = 10, .duration = 5 }, PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
		event_name(&b, 9, i % 2 ? "a" : "b");
		stat_name(&b, 16000, "device_offset_ps");
		pb_bytes(&space, XSPACE_PLANES, pb_done(&b));
	}
	struct str bytes = pb_done(&space);
	ptrdiff_t before = used();
	assert_true(open_bytes(bytes));
	assert_true(used() - before < 50 * bytes.len);
	assert_int_equal(profile.plane_count, 1);
	assert_int_equal(profile.planes[0].part_count, 20000);
	assert_int_equal(profile.planes[0].name_count, 0);
	plane_learn(&profile.planes[0], &keep);
	assert_int_equal(profile.planes[0].name_count, 20000);
	assert_int_equal(profile.planes[0].lanes[0].chunk_count, 20000);
}

/* Lines are told apart by id and name together, at any distance and in any number. */
static void many_lanes(void **state)
{
	enum { LANES = 60000 };
	(void)state;
	struct pb b = plane_new("/device:TPU:0");
	for (int64_t i = 0; i < LANES; i++) {
		struct pb line = line_new(i / 2, i % 2 ? "XLA Ops" : "Steps", 0);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	struct pb line = line_new(0, "XLA Ops", 0);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	struct plane *p = open_plane(&b);
	assert_int_equal(p->lane_count, LANES);
	assert_int_equal(p->lanes[1].chunk_count, 2);
}

/* Where one lane is a mess all are sorted: the merge begins anew only once. */
static void many_lanes_in_disorder(void **state)
{
	(void)state;
	struct pb b = plane_new("/device:TPU:0");
	for (int64_t lane = 0; lane < 4; lane++) {
		struct pb line = line_new(lane, "XLA Ops", 0);
		for (int64_t i = 0; i < 500; i++)
			line_event(&line,
				(struct ev){ .id = 1, .offset = i * 303 % 500 * 10 + lane }, PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	event_name(&b, 1, "op");
	struct plane *p = open_plane(&b);
	plane_learn(p, &keep);
	struct merge *m = merge_new(p, &keep);
	while (merge_next(m))
		;
	assert_false(merge_end(m, &err));
	assert_int_equal(err.id, DIAG_NONE);
	merge_free(m);
	for (int i = 0; i < 4; i++)
		assert_true(p->lanes[i].sort);
	assert_int_equal(merge_all(p), 2000);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(events[i].start_ps, i / 4 * 10 + i % 4);
}

/* The shortest events there are: two bytes each. */
static void empty_events_are_sorted(void **state)
{
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 7);
	for (int i = 0; i < 300; i++)
		pb_bytes(&line, XLINE_EVENTS, STR(""));
	struct pb b = plane_new("/device:TPU:0");
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 0, "op");
	struct plane *p = open_plane(&b);
	p->lanes[0].sort = true;
	assert_int_equal(merge_all(p), 300);
	check_event(299, 7000, 7000);
}

/* A lane that steps back a little is mended on the way, one that is a mess is sorted. */
static void disorder(void **state)
{
	(void)state;
	for (int far = 0; far < 2; far++) {
		struct pb line = line_new(1, "XLA Ops", 0);
		for (int64_t i = 0; i < 1000; i++) {
			int64_t at = far ? i * 607 % 1000 : i ^ 7;
			line_event(&line, (struct ev){ .id = 1, .offset = at * 10, .duration = 5 },
				PLAIN);
		}
		struct pb b = tpu_plane(&line);
		struct plane *p = open_plane(&b);
		assert_int_equal(merge_all(p), 1000);
		assert_int_equal(p->lanes[0].sort, far);
		for (int64_t i = 0; i < 1000; i++)
			check_event(i, i * 10, i * 10 + 5);
	}
}

static void lanes_in_one_order(void **state)
{
	(void)state;
	struct pb b = plane_new("/device:TPU:0");
	for (int64_t lane = 0; lane < 5; lane++) {
		struct pb line = line_new(lane, "XLA Ops", 0);
		for (int64_t i = 0; i < 200; i++)
			line_event(&line,
				(struct ev){
					.id = 1, .offset = i * 5 + lane, .duration = 100 - lane },
				PLAIN);
		/* Equal starts: the longer first, so that a parent precedes its children. */
		line_event(&line, (struct ev){ .id = 1, .offset = 5000, .duration = 10 + lane },
			PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	event_name(&b, 1, "op");
	assert_int_equal(merge_all(open_plane(&b)), 1005);
	for (ptrdiff_t i = 0; i < 1000; i++)
		assert_int_equal(events[i].start_ps, i);
	for (ptrdiff_t i = 0; i < 5; i++) {
		check_event(1000 + i, 5000, 5014 - i);
		assert_int_equal(events[1000 + i].lane, 4 - i);
	}
}

/* Lines that XProf derives, and those of other kinds, hold no ops. */
static void derived_lines(void **state)
{
	static const struct {
		int64_t id;
		const char *name;
	} lines[] = { { -559038737, "XLA Ops" }, { 3, "XLA Modules" }, { 4, "Framework Ops" } };
	(void)state;
	struct pb b = plane_new("/device:TPU:0");
	for (int i = 0; i < 3; i++) {
		struct pb line = line_new(lines[i].id, lines[i].name, 0);
		line_event(&line, (struct ev){ .id = 1, .offset = 1, .duration = 1 }, PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	event_name(&b, 1, "op");
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), 0);
	assert_int_equal(p->lanes[0].class, LANE_OTHER);
	assert_int_equal(p->lanes[1].class, LANE_MODULES);
}

static struct str text_stat(int64_t id, const char *text)
{
	struct pb b = pb_new(&keep);
	pb_int(&b, XSTAT_METADATA_ID, id);
	pb_text(&b, XSTAT_STR, text);
	return pb_done(&b);
}

/* On GPU the op is (kernel, instruction, program), however the instruction is spelled. */
static void kernels(void **state)
{
	static const char memcpy_details[] = "kind_src:pageable kind_dst:device size:4096 dest:0 x "
					     "and more words, so that the length takes two bytes: "
					     "0123456789 0123456789 0123456789 0123456789";
	(void)state;
	for (enum spelling how = PLAIN; how < SPELLINGS; how++) {
		struct pb line = line_new(14, "Stream #14(Kernel)", 0);
		for (int64_t i = 0; i < 12; i++)
			line_event(&line,
				(struct ev){ 1 + i % 2, i * 10, 5,
					{ stat_of(1, XSTAT_UINT64, 1000 + i, how),
						stat_of(2, XSTAT_REF, 10 + i / 2 % 2, how),
						stat_of(3, XSTAT_UINT64, i < 8 ? -5 : 6, how) } },
				how);
		line_event(&line, (struct ev){ 3, 200, 5, { text_stat(4, memcpy_details) } }, how);
		struct pb b = plane_new("/device:GPU:0");
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
		event_name(&b, 1, "gemm");
		event_name(&b, 2, "split_k");
		event_name(&b, 3, "MemcpyH2D");
		stat_name(&b, 1, "correlation_id");
		stat_name(&b, 2, "hlo_op");
		stat_name(&b, 3, "program_id");
		stat_name(&b, 4, "memcpy_details");
		stat_name(&b, 10, "dot.1");
		stat_name(&b, 11, "dot.2");
		struct plane *p = open_plane(&b);
		assert_int_equal(p->platform, PLATFORM_NVIDIA);
		assert_int_equal(merge_all(p), 13);
		assert_int_equal(p->op_count, 9);
		for (ptrdiff_t i = 0; i < 12; i++) {
			const struct profile_op *op = &p->ops[events[i].op];
			assert_true(str_eq(op->name, i % 2 ? STR("split_k") : STR("gemm")));
			assert_true(str_eq(op->hlo_op, i / 2 % 2 ? STR("dot.2") : STR("dot.1")));
			assert_true(op->program == (i < 8 ? (uint64_t)-5 : 6));
		}
		assert_int_equal(events[12].bytes, 4096);
		assert_int_equal(p->ops[events[12].op].copy, COPY_H2D);
	}
}

/* What an event said is known when it says it again, whatever stands before and behind its launch;
 * what it lacks is counted each time. */
static void kernels_again(void **state)
{
	enum {
		KERNELS = 400, /* the table of what is expected grows, */
		ROUNDS = 8,
		LOST = 30,
		WAYS = 60 /* and more ways to say one op than are kept */
	};
	(void)state;
	struct pb line = line_new(14, "Stream #14(Kernel)", 0), b = plane_new("/device:GPU:0");
	for (int64_t i = 0; i < KERNELS * ROUNDS; i++)
		line_event(&line,
			(struct ev){ 1 + i % KERNELS, i * 10, 5,
				{ stat_of(2, XSTAT_REF, 20 + i / KERNELS % 2, PLAIN),
					stat_of(1, XSTAT_UINT64, 1 << 20 | i, PLAIN),
					stat_of(3, XSTAT_UINT64, 7, PLAIN) } },
			PLAIN);
	for (int64_t i = 0; i < LOST; i++)
		line_event(&line,
			(struct ev){ 1, 40000 + i * 10, 5,
				{ stat_of(1, XSTAT_UINT64, i, PLAIN),
					stat_of(2, XSTAT_REF, 99, PLAIN) } },
			PLAIN);
	for (int64_t i = 0; i < 2; i++)
		line_event(&line,
			(struct ev){ KERNELS + 1, 50000 + i * 10, 5,
				{ stat_of(1, XSTAT_UINT64, i, PLAIN), text_stat(4, "size:4096") } },
			PLAIN);
	for (int64_t i = 0; i < WAYS; i++)
		line_event(&line,
			(struct ev){ 1, 60000 + i * 10, 5,
				{ stat_of(5, XSTAT_UINT64, i % 20, PLAIN),
					stat_of(1, XSTAT_UINT64, i, PLAIN),
					stat_of(2, XSTAT_REF, 22, PLAIN) } },
			PLAIN);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	for (int64_t i = 0; i < KERNELS; i++)
		event_name(
			&b, 1 + i, arena_z(&keep, arena_fmt(&keep, "kernel_%lld", (long long)i)));
	event_name(&b, KERNELS + 1, "MemcpyH2D");
	stat_name(&b, 1, "correlation_id");
	stat_name(&b, 2, "hlo_op");
	stat_name(&b, 3, "program_id");
	stat_name(&b, 4, "memcpy_details");
	stat_name(&b, 5, "kernel_details");
	stat_name(&b, 20, "dot.1");
	stat_name(&b, 21, "dot.2");
	stat_name(&b, 22, "dot.3");
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), KERNELS * ROUNDS + LOST + 2 + WAYS);
	assert_int_equal(p->op_count, 2 * KERNELS + 3);
	for (ptrdiff_t i = 0; i < KERNELS * ROUNDS; i++) {
		const struct profile_op *op = &p->ops[events[i].op];
		assert_true(str_eq(
			op->name, arena_fmt(&keep, "kernel_%lld", (long long)(i % KERNELS))));
		assert_true(str_eq(op->hlo_op, i / KERNELS % 2 ? STR("dot.2") : STR("dot.1")));
		assert_int_equal(op->program, 7);
		check_event(i, i * 10, i * 10 + 5);
	}
	assert_int_equal(p->lost.events, LOST);
	assert_int_equal(p->lost.time_ps, LOST * 5);
	assert_int_equal(events[KERNELS * ROUNDS + LOST + 1].bytes, 4096);
	for (ptrdiff_t i = KERNELS * ROUNDS + LOST + 2; i < KERNELS * ROUNDS + LOST + 2 + WAYS; i++)
		assert_true(str_eq(p->ops[events[i].op].hlo_op, STR("dot.3")));
}

/* What was expected is not what came: a guess is held against all that the event says. */
static void kernels_in_no_order(void **state)
{
	enum { EVENTS = 3000 };
	struct pb line = line_new(14, "Stream #14(Kernel)", 0), b = plane_new("/device:GPU:0");
	uint8_t said[EVENTS];
	uint32_t random = 1;
	(void)state;

	for (int64_t i = 0; i < EVENTS; i++) {
		random = random * 1664525 + 1013904223;
		said[i] = (uint8_t)(random >> 29);
		line_event(&line,
			(struct ev){ 1 + (said[i] & 1), i * 10, 5,
				{ stat_of(2, XSTAT_REF, 20 + (said[i] >> 1 & 1), PLAIN),
					stat_of(1, XSTAT_UINT64, i, PLAIN),
					stat_of(3, XSTAT_UINT64, 7 + (said[i] >> 2), PLAIN) } },
			PLAIN);
	}
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 1, "gemm");
	event_name(&b, 2, "split_k");
	stat_name(&b, 1, "correlation_id");
	stat_name(&b, 2, "hlo_op");
	stat_name(&b, 3, "program_id");
	stat_name(&b, 20, "dot.1");
	stat_name(&b, 21, "dot.2");
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), EVENTS);
	assert_int_equal(p->op_count, 8);
	for (ptrdiff_t i = 0; i < EVENTS; i++) {
		const struct profile_op *op = &p->ops[events[i].op];
		assert_true(str_eq(op->name, said[i] & 1 ? STR("split_k") : STR("gemm")));
		assert_true(str_eq(op->hlo_op, said[i] >> 1 & 1 ? STR("dot.2") : STR("dot.1")));
		assert_int_equal(op->program, 7 + (said[i] >> 2));
		check_event(i, i * 10, i * 10 + 5);
	}
}

/* A thread that reads ahead hands out the same, and may be sent home at any moment. */
static void read_ahead(void **state)
{
	enum { EVENTS = 4000, KERNELS = 500 };
	struct pb line = line_new(14, "Stream #14(Kernel)", 0), b = plane_new("/device:GPU:0");
	(void)state;

	for (int64_t i = 0; i < EVENTS; i++)
		line_event(&line,
			(struct ev){ 1 + i % KERNELS, i * 10, 5,
				{ stat_of(1, XSTAT_UINT64, i / KERNELS, PLAIN) } },
			PLAIN);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	for (int64_t i = 0; i < KERNELS; i++)
		event_name(
			&b, 1 + i, arena_z(&keep, arena_fmt(&keep, "kernel_%lld", (long long)i)));
	stat_name(&b, 1, "program_id");
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), EVENTS);
	for (int take = EVENTS + 1; take > 0; take /= 7) {
		struct arena names = arena_new(ARENA_SCRATCH_BYTES);
		const struct op_event *e = NULL, *end = NULL;
		int n = 0;
		plane_forget(p);
		plane_learn(p, &names);
		struct merge *m = merge_new(p, &keep);
		struct ahead *a = ahead_new(m, p, &keep);
		assert_non_null(a);
		for (; n < take; n++, e++) {
			ptrdiff_t left = e == end ? ahead_run(a, &e) : end - e;
			if (!left)
				break;
			end = e + left;
			assert_int_equal(e->start_ps, events[n].start_ps);
			check_name_of(&ahead_ops(a)[e->op],
				arena_z(&keep, arena_fmt(&keep, "kernel_%d", n % KERNELS)));
		}
		assert_int_equal(n, take > EVENTS ? EVENTS : take);
		ahead_end(a);
		assert_true(take < EVENTS || merge_end(m, &err));
		merge_free(m);
		plane_forget(p);
		arena_free(&names);
	}
}

/* On CPU the ops stand on host threads; every ordinal is a plane of its own. */
static void check_ordinals_from(int64_t first)
{
	struct pb line = line_new(1, "tf_XLAEigen/1", 0), b = plane_new("/host:CPU");
	for (int64_t i = 0; i < 9; i++)
		line_event(&line,
			(struct ev){ 1, i * 10, 5,
				{ stat_of(1, XSTAT_REF, 9, PLAIN),
					stat_of(2, XSTAT_INT64, first + i % 3, PLAIN),
					stat_of(3, XSTAT_INT64, 40 + i, PLAIN) } },
			PLAIN);
	line_event(&line, (struct ev){ .id = 2, .offset = 100, .duration = 1 }, PLAIN);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 1, "dot.1");
	event_name(&b, 2, "ThreadpoolListener::Record");
	stat_name(&b, 1, "hlo_op");
	stat_name(&b, 2, "device_ordinal");
	stat_name(&b, 3, "run_id");
	stat_name(&b, 9, "dot.1");
	assert_true(open_bytes(space_of(&b)));
	assert_int_equal(profile.plane_count, 4);
	for (ptrdiff_t i = 0; i < 3; i++) {
		struct plane *p = &profile.planes[1 + i];
		assert_int_equal(p->platform, PLATFORM_CPU);
		assert_int_equal(p->ordinal, first + i);
		assert_ptr_equal(p->names, profile.planes[0].names);
		assert_int_equal(merge_all(p), 3);
		check_event(1, (i + 3) * 10, (i + 3) * 10 + 5);
		assert_int_equal(events[2].run, 46 + i);
	}
}

static void cpu_ordinals(void **state)
{
	(void)state;
	check_ordinals_from(0);
	check_ordinals_from(2048); /* of the job's second process */
}

/* TensorFlow leaves -1 for the device and the run of each op: XLA's default device, and no run. */
static void cpu_default_ordinal(void **state)
{
	(void)state;
	struct pb line = line_new(1, "tf_numa_-1_Eigen/1", 0), b = plane_new("/host:CPU");
	for (int64_t i = 0; i < 4; i++)
		line_event(&line,
			(struct ev){ 1, i * 10, 5,
				{ stat_of(1, XSTAT_REF, 9, PLAIN),
					stat_of(2, XSTAT_INT64, -1, PLAIN),
					stat_of(3, XSTAT_INT64, -1, PLAIN) } },
			PLAIN);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 1, "dot.1");
	stat_name(&b, 1, "hlo_op");
	stat_name(&b, 2, "device_ordinal");
	stat_name(&b, 3, "run_id");
	stat_name(&b, 9, "dot.1");
	assert_true(open_bytes(space_of(&b)));
	assert_false(profile.devices_mixed);
	assert_int_equal(profile.plane_count, 2);
	struct plane *p = &profile.planes[1];
	assert_int_equal(p->platform, PLATFORM_CPU);
	assert_int_equal(p->ordinal, 0);
	assert_int_equal(merge_all(p), 4);
	check_event(3, 30, 35);
	assert_int_equal(events[3].run, 0);
}

static struct str real_stat(int64_t id, double value)
{
	struct pb b = pb_new(&keep);
	char bits[8];
	memcpy(bits, &value, 8); /* little-endian machines only, as everywhere in these tests */
	pb_int(&b, XSTAT_METADATA_ID, id);
	pb_varint(&b, XSTAT_DOUBLE << 3 | WIRE_I64);
	pb_raw(&b, (struct str){ bits, 8 });
	return pb_done(&b);
}

/* Reals where counts are due: no number of a file is cast out of its range. */
static void hostile_numbers(void **state)
{
	static const double values[] = { 1e300, -1e300, NAN, INFINITY, -0.5, 3e9 };
	static const int counts[] = { 0, 0, 0, 0, 0, INT_MAX };
	(void)state;
	for (int i = 0; i < 6; i++) {
		struct pb b = plane_new("/device:GPU:0"), env = plane_new("Task Environment");
		struct pb space = pb_new(&keep);
		stat_name(&b, 1, "core_count");
		stat_name(&b, 2, "compute_cap_major");
		stat_name(&b, 3, "dropped_traces");
		stat_name(&env, 1, "profile_start_time");
		pb_bytes(&b, XPLANE_STATS, real_stat(1, values[i]));
		pb_bytes(&b, XPLANE_STATS, stat_of(2, XSTAT_INT64, INT64_MIN, PLAIN));
		pb_bytes(&b, XPLANE_STATS, text_stat(3, "many"));
		pb_bytes(&env, XPLANE_STATS, real_stat(1, values[i]));
		pb_bytes(&space, XSPACE_PLANES, pb_done(&b));
		pb_bytes(&space, XSPACE_PLANES, pb_done(&env));
		assert_true(open_bytes(pb_done(&space)));
		assert_int_equal(profile.planes[0].chip.core_count, counts[i]);
		assert_int_equal(profile.planes[0].chip.cc_major, 0);
		assert_int_equal(profile.planes[0].dropped_events, 0);
		assert_true(profile.start_ns == (i < 5 ? 0 : INT64_C(3000000000)));
	}
}

/* Offsets and durations at the ends of their range neither wrap nor trap. */
static void hostile_times(void **state)
{
	static const int64_t values[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX / 4,
		INT64_MAX / 2, INT64_MAX };
	const int n = sizeof(values) / sizeof(values[0]);
	(void)state;
	for (int t = 0; t < n; t++) {
		struct pb line = line_new(1, "XLA Ops", values[t]);
		for (int i = 0; i < n * n; i++)
			line_event(&line,
				(struct ev){ 1, values[i / n], values[i % n],
					{ stat_of(i % 2 ? 5 : 9, XSTAT_INT64, values[i % n], PLAIN),
						stat_of(200, XSTAT_INT64, values[i / n], PLAIN) } },
				PLAIN);
		struct pb b = tpu_plane(&line);
		assert_int_equal(merge_all(open_plane(&b)), n * n);
		for (int i = 0; i < n * n; i++) {
			assert_true(events[i].end_ps >= events[i].start_ps);
			assert_true(events[i].end_ps <= INT64_MAX / 2);
			assert_true(events[i].start_ps >= -(INT64_MAX / 4));
		}
	}
}

/* Markers and host events: any stat, of any type, and classes that are skipped undecoded. */
static void cursors(void **state)
{
	static const char name_text[] = "some text";
	(void)state;
	struct pb line = line_new(1, "python", 1);
	for (enum spelling how = PLAIN; how < SPELLINGS; how++)
		line_event(&line,
			(struct ev){ 1, 10 * how, 3,
				{ stat_of(1, XSTAT_INT64, 40 + how, how), real_stat(2, 0.5),
					text_stat(3, name_text) } },
			how);
	line_event(&line, (struct ev){ .id = 2, .offset = 90, .duration = 1 }, PLAIN);
	struct pb b = plane_new("/host:CPU");
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 1, "MemoryAllocation");
	event_name(&b, 2, "something else");
	stat_name(&b, 1, "bytes_allocated");
	stat_name(&b, 2, "fragmentation");
	stat_name(&b, 3, "allocator_name");
	struct plane *p = open_plane(&b);
	struct cursor *c = cursor_new(p, &p->lanes[0], UINT64_MAX, &keep);
	struct event *e = arena_make(&keep, struct event, 1);
	cursor_only(c, 1u << HOST_ALLOCATION);
	for (enum spelling how = PLAIN; how < SPELLINGS; how++) {
		assert_true(cursor_next(c, e));
		assert_int_equal(e->start_ps, 1000 + 10 * (int)how);
		assert_int_equal(e->end_ps - e->start_ps, 3);
		assert_int_equal(e->stats.at[STAT_BYTES_ALLOCATED].i64, 40 + (int)how);
		assert_true(e->stats.at[STAT_FRAGMENTATION].real == 0.5);
		assert_true(str_eq(e->stats.at[STAT_ALLOCATOR_NAME].text, STR("some text")));
	}
	assert_false(cursor_next(c, e));
	assert_true(cursor_end(c, &err));
}

/* What a noted lane holds of a moment: every event that meets it, and few of the others. */
static void pieces_of_a_lane(void **state)
{
	enum { EVENTS = 60000, LINES = 2, EACH_PS = 10, LONG_PS = 3000000 };
	struct time_span spans[] = { { -50, 25 }, { 250000, 250000 }, { 900001, 900009 } };
	struct event *e = arena_make(&keep, struct event, 1);
	struct pb b = plane_new("/host:CPU");
	(void)state;

	for (int l = 0; l < LINES; l++) {
		struct pb line = line_new(1, "python", 0);
		for (int i = 0; i < EVENTS; i++) /* the second chunk's are the later ones */
			line_event(&line,
				(struct ev){ .id = 1,
					.offset = (int64_t)(l * EVENTS + i) * EACH_PS,
					.duration = l == 1 && i == 7 ? LONG_PS : EACH_PS - 1 },
				PLAIN);
		pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	}
	event_name(&b, 1, "PjitFunction(f)");
	struct plane *p = open_plane(&b);
	assert_int_equal(p->lane_count, 1);
	struct lane *l = &p->lanes[0], all = lane_within(l, spans, 3, &keep);
	assert_int_equal(all.chunk_count, LINES); /* nothing was noted yet */
	struct cursor *c = cursor_new(p, l, 0, &keep);
	cursor_only(c, 1u << HOST_ALLOCATION);
	cursor_note(c, l, &keep);
	assert_false(cursor_next(c, e));
	assert_true(l->classes == UINT64_C(1) << HOST_LAUNCH);
	assert_true(l->piece_count > 5);

	struct lane near = lane_within(l, spans, 3, &keep);
	int64_t met = 0, read = 0, bytes = 0;
	for (ptrdiff_t i = 0; i < near.chunk_count; i++)
		bytes += near.chunks[i].bytes.len;
	assert_true(bytes > 0 && bytes < l->bytes / 2);
	c = cursor_new(p, &near, 0, &keep);
	for (; cursor_next(c, e); read++)
		for (int i = 0; i < 3; i++)
			met += e->start_ps <= spans[i].end_ps && e->end_ps >= spans[i].start_ps;
	assert_true(cursor_end(c, &err));
	assert_true(read < (int64_t)LINES * EVENTS / 2);
	/* Three at the beginning; one that begins at 250,000; one; and the long one once more. */
	assert_int_equal(met, 3 + 1 + 1 + 1);
	near = lane_within(l, spans, 0, &keep);
	assert_int_equal(near.chunk_count, 0);
	c = cursor_new(p, &near, 0, &keep);
	assert_false(cursor_next(c, e));
}

/* Marks of a moment have no duration: a lane that holds some is divided, and no event is lost. */
static void parts_of_a_lane(void **state)
{
	enum { EVENTS = 20000, PART_BYTES = 1 << 14 };
	struct event *e = arena_make(&keep, struct event, 1);
	struct pb b = plane_new("/host:CPU"), line = line_new(1, "python", 0);
	ptrdiff_t count, read = 0;
	(void)state;

	for (int i = 0; i < EVENTS; i++)
		line_event(&line,
			(struct ev){ .id = 1,
				.offset = (int64_t)i * 10,
				.duration = i % 3,
				.stats = { stat_of(2, XSTAT_INT64, i, PLAIN) } },
			PLAIN);
	pb_bytes(&b, XPLANE_LINES, pb_done(&line));
	event_name(&b, 1, "PjitFunction(f)");
	struct plane *p = open_plane(&b);
	struct lane_part *parts =
		lane_parts(p->profile, &p->lanes[0], PART_BYTES, &keep, &count);
	assert_true(count > p->lanes[0].bytes / PART_BYTES / 2);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct cursor *c = cursor_new(p, &parts[i].lane, 0, &keep);
		while (cursor_next(c, e))
			read++;
		assert_true(cursor_end(c, &err));
	}
	assert_int_equal(read, EVENTS);
}

/* Device offset against the line's clock: the host's clock is ahead by the median difference. */
static void clock_shift(void **state)
{
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 1);
	for (int64_t i = 0; i < 9; i++)
		line_event(&line,
			(struct ev){ 1, i * 100, 5,
				{ stat_of(5, XSTAT_UINT64, i * 100 + (i == 4 ? 99 : 7), PLAIN),
					stat_of(200, XSTAT_UINT64, 5, PLAIN) } },
			PLAIN);
	struct pb b = tpu_plane(&line);
	struct plane *p = open_plane(&b);
	assert_int_equal(p->host_shift_ps, 993);
	assert_int_equal(merge_all(p), 9);
	check_event(0, 7, 12);
}

/* Everything that can be read from a file that opened; false when some of it is damaged. */
static bool read_all(void)
{
	struct event *e = arena_make(&keep, struct event, 1);
	for (ptrdiff_t i = 0; i < profile.plane_count; i++) {
		struct plane *p = &profile.planes[i];
		if (p->class == PLANE_DEVICE && merge_all(p) < 0)
			return false;
		for (ptrdiff_t k = 0; k < p->lane_count; k++) {
			struct cursor *c = cursor_new(p, &p->lanes[k], UINT64_MAX, &keep);
			while (cursor_next(c, e))
				;
			if (!cursor_end(c, &err))
				return false;
		}
	}
	return true;
}

static struct str small_space(void)
{
	struct pb line = line_new(1, "XLA Ops", 2), host = line_new(2, "python", 0);
	for (int64_t i = 0; i < 4; i++)
		line_event(&line,
			(struct ev){ 1, i * 1000, 50,
				{ stat_of(5, XSTAT_UINT64, (i + 1) << 40, PLAIN),
					stat_of(200, XSTAT_INT64, 60, PLAIN) } },
			(enum spelling)i);
	line_event(&host, (struct ev){ 1, 1, 2, { text_stat(5, "text") } }, PLAIN);
	struct pb b = tpu_plane(&line), c = plane_new("/host:CPU"), space = pb_new(&keep);
	pb_bytes(&c, XPLANE_LINES, pb_done(&host));
	event_name(&c, 1, "end: dot");
	stat_name(&c, 5, "allocator_name");
	pb_bytes(&space, XSPACE_PLANES, pb_done(&b));
	pb_bytes(&space, XSPACE_PLANES, pb_done(&c));
	return pb_done(&space);
}

/* Cut at every length: an error that says where, or whole planes of what is there. */
static void truncation(void **state)
{
	(void)state;
	struct str whole = small_space();
	int opened = 0;
	assert_true(open_bytes(whole) && read_all());
	for (ptrdiff_t len = 0; len < whole.len; len++) {
		err = (struct diag){ .id = DIAG_NONE };
		if (open_bytes(str_head(whole, len)) && read_all()) {
			assert_int_equal(profile.plane_count, 1);
			opened++;
		} else {
			assert_int_not_equal(err.id, DIAG_NONE);
			assert_true(err.text[0]);
		}
	}
	assert_int_equal(opened, 1); /* just behind the first plane */
}

/* One byte changed, each in turn: never more than an error. */
static void damage(void **state)
{
	static const unsigned char changes[] = { 0x01, 0x07, 0x08, 0x20, 0x80, 0xff };
	(void)state;
	struct str whole = small_space();
	char *bytes = malloc((size_t)whole.len);
	assert_non_null(bytes);
	for (ptrdiff_t at = 0; at < whole.len; at++)
		for (size_t k = 0; k < sizeof(changes); k++) {
			struct arena scratch = keep;
			memcpy(bytes, whole.p, (size_t)whole.len);
			bytes[at] = (char)(bytes[at] ^ changes[k]);
			err = (struct diag){ .id = DIAG_NONE };
			if (!open_bytes((struct str){ bytes, whole.len }) || !read_all())
				assert_true(err.id != DIAG_NONE && err.text[0]);
			keep = scratch;
		}
	free(bytes);
}

/* The byte that an error names is that of the file. */
static void error_offset(void **state)
{
	(void)state;
	struct pb line = line_new(1, "XLA Ops", 0);
	for (int64_t i = 0; i < 1100; i++) /* more than opening looks at */
		line_event(&line, (struct ev){ .id = 1, .offset = i, .duration = 1 }, PLAIN);
	pb_bytes(&line, XLINE_EVENTS, STR("\x08\x01\x10\x02\x18\xff"));
	line_event(&line, (struct ev){ .id = 1, .offset = 99, .duration = 1 }, PLAIN);
	struct pb b = tpu_plane(&line);
	struct str bytes = space_of(&b);
	ptrdiff_t at = str_find(bytes, STR("\x08\x01\x10\x02\x18\xff"));
	struct plane *p = open_plane(&b);
	assert_int_equal(merge_all(p), -1);
	assert_true(str_contains(str_from(err.text),
		arena_fmt(&keep, "XEvent at byte %td: a number runs past the end", at + 4)));
	assert_true(str_contains(str_from(err.text), STR("/device:TPU:0")));
}

static void refused(void **state)
{
	(void)state;
	assert_false(open_bytes(STR("")));
	assert_int_equal(err.id, DIAG_XPLANE);
	static const struct {
		struct str bytes;
		enum diag_id id;
	} cases[] = {
		{ STR_INIT("\x08\x01"), DIAG_FILE_KIND }, /* no field of an XSpace */
		{ STR_INIT("# How to capture"), DIAG_FILE_KIND },
		{ STR_INIT("\n- a list, after an empty line"), DIAG_FILE_KIND },
		{ STR_INIT("\n"), DIAG_WIRE }, /* cut */
		{ STR_INIT("\n\xff"), DIAG_WIRE }, { STR_INIT("\0\0\0\0"), DIAG_WIRE },
		{ STR_INIT("\n\0\x08\x01"), DIAG_WIRE }, /* damaged behind its beginning */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(open_bytes(cases[i].bytes));
		assert_int_equal(err.id, cases[i].id);
	}
}

#define CASE(f) cmocka_unit_test_setup(f, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(spellings),
		CASE(parts),
		CASE(names_in_any_layout),
		CASE(learned_again),
		CASE(damaged_name),
		CASE(the_same_plane_again),
		CASE(unknown_names_and_aggregates),
		CASE(hashed_ids),
		CASE(many_parts),
		CASE(many_lanes),
		CASE(device_clock_in_any_layout),
		CASE(disorder),
		CASE(many_lanes_in_disorder),
		CASE(empty_events_are_sorted),
		CASE(lanes_in_one_order),
		CASE(derived_lines),
		CASE(kernels),
		CASE(kernels_again),
		CASE(kernels_in_no_order),
		CASE(read_ahead),
		CASE(cpu_ordinals),
		CASE(cpu_default_ordinal),
		CASE(hostile_numbers),
		CASE(hostile_times),
		CASE(cursors),
		CASE(pieces_of_a_lane),
		CASE(parts_of_a_lane),
		CASE(clock_shift),
		CASE(truncation),
		CASE(damage),
		CASE(error_offset),
		CASE(refused),
	};
	return cmocka_run_group_tests(tests, keep_begin, keep_end);
}
