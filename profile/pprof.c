/* Messages of pprof, gathered in one pass and resolved in a second.  See pprof.h. */
#include "profile/pprof.h"

#include "profile/stream.h"
#include "base/wire.h"
#include "profile/xplane.h"

/* Of a snapshot unpacked; real ones have some 50 kB, with a line for every live array. */
#define PPROF_BYTES ((int64_t)64 << 20)
/* Frames kept of a stack, where Python itself stops at a thousand; and of all of them. */
enum { FRAMES_MAX = 1024, FRAMES_ALL = 2 << 20 };

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_FIELDS
};
enum { VALUE_TYPE = 1 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct pprof {
	struct arena *keep;
	struct str whole;
	struct pieces fields[PROFILE_FIELDS]; /* bytes of the messages, by number */
	struct map locations, functions;
	ptrdiff_t count_at, bytes_at; /* which of a sample's values they are */
	ptrdiff_t frames;	      /* kept so far */
	struct wire fail;
};

static bool damaged(struct pprof *p, const struct wire *w)
{
	if (w->why && !p->fail.why)
		p->fail = *w;
	return w->why;
}

static struct str text_at(const struct pprof *p, uint64_t index)
{
	const struct pieces *strings = &p->fields[PROFILE_STRING];
	return index < (uint64_t)strings->count ? strings->items[index] : STR("");
}

/* Varints of a message, by number; others stay as they are. */
static bool numbers_read(struct pprof *p, struct str message, uint64_t *ret, uint32_t count)
{
	struct wire w = wire_open(message);
	struct wire_field f;
	while (wire_next(&w, &f))
		if (f.type == WIRE_VARINT && f.number < count)
			ret[f.number] = f.num;
	return !damaged(p, &w);
}

static void gather(struct pprof *p)
{
	struct wire w = wire_open(p->whole);
	struct wire_field f;
	while (wire_next(&w, &f))
		if (f.type == WIRE_LEN && f.number < PROFILE_FIELDS)
			pieces_add(&p->fields[f.number], f.bytes, p->keep);
	damaged(p, &w);
}

static struct map index_ids(struct pprof *p, const struct pieces *from)
{
	int64_t *ids = arena_make(p->keep, int64_t, from->count);
	for (ptrdiff_t i = 0; i < from->count; i++) {
		uint64_t numbers[2] = { 0 };
		numbers_read(p, from->items[i], numbers, 2);
		ids[i] = (int64_t)numbers[LOCATION_ID];
	}
	return map_of_ids(ids, NULL, from->count, p->keep);
}

_Static_assert((int)LOCATION_ID == (int)FUNCTION_ID, "index_ids reads both");

/* Which values are counts and bytes; false for a profile of something else. */
static bool find_values(struct pprof *p)
{
	const struct pieces *types = &p->fields[PROFILE_SAMPLE_TYPE];
	p->count_at = p->bytes_at = -1;
	for (ptrdiff_t i = 0; i < types->count; i++) {
		uint64_t numbers[2] = { 0 };
		numbers_read(p, types->items[i], numbers, 2);
		struct str type = text_at(p, numbers[VALUE_TYPE]);
		if (str_eq(type, STR("allocations")))
			p->count_at = i;
		if (str_eq(type, STR("space")))
			p->bytes_at = i;
	}
	return p->count_at >= 0 && p->bytes_at >= 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void add_frame(struct pprof *p, struct live_site *site, ptrdiff_t *cap, struct str line)
{
	uint64_t at[3] = { 0 }, of[5] = { 0 };
	if (site->frame_count >= FRAMES_MAX || p->frames >= FRAMES_ALL ||
		!numbers_read(p, line, at, 3))
		return;
	p->frames++;
	int32_t function = map_get_id(&p->functions, (int64_t)at[LINE_FUNCTION]);
	if (function >= 0)
		numbers_read(p, p->fields[PROFILE_FUNCTION].items[function], of, 5);
	*arena_push(p->keep, site->frames, site->frame_count, *cap) = (struct live_frame){
		.function = text_at(p, of[FUNCTION_NAME]),
		.file = text_at(p, of[FUNCTION_FILE]),
		.line = at[LINE_LINE] <= INT32_MAX ? (int64_t)at[LINE_LINE] : 0,
	};
}

/* Lines of a location are inlined into each other, innermost first, as locations are. */
static void add_location(struct pprof *p, struct live_site *site, ptrdiff_t *cap, uint64_t id)
{
	int32_t i = map_get_id(&p->locations, (int64_t)id);
	struct wire_field f;
	if (i < 0)
		return;
	struct wire w = wire_open(p->fields[PROFILE_LOCATION].items[i]);
	while (wire_next(&w, &f))
		if (f.number == LOCATION_LINE && f.type == WIRE_LEN)
			add_frame(p, site, cap, f.bytes);
	damaged(p, &w);
}

static void add_label(struct pprof *p, struct live_site *site, struct str label)
{
	uint64_t numbers[4] = { 0 };
	if (!numbers_read(p, label, numbers, 4))
		return;
	struct str key = text_at(p, numbers[LABEL_KEY]), value = text_at(p, numbers[LABEL_STR]);
	if (str_eq(key, STR("kind")))
		site->kind = value;
	else if (str_eq(key, STR("device")))
		site->device = value.len
				       ? value
				       : arena_fmt(p->keep, "%lld", (long long)numbers[LABEL_NUM]);
}

/* Values are counted over all fields that hold some. */
static void read_site(struct pprof *p, struct str sample, struct live_site *site)
{
	struct wire w = wire_open(sample);
	struct wire_field f;
	ptrdiff_t cap = 0, value = 0;
	uint64_t n;
	while (wire_next(&w, &f)) {
		if (f.number == SAMPLE_LABEL && f.type == WIRE_LEN)
			add_label(p, site, f.bytes);
		if (f.number != SAMPLE_LOCATION && f.number != SAMPLE_VALUE)
			continue;
		struct wire_list list = wire_list(&f);
		while (wire_list_next(&list, &n)) {
			if (f.number == SAMPLE_LOCATION)
				add_location(p, site, &cap, n);
			else if (value == p->count_at)
				site->count = (int64_t)n;
			else if (value == p->bytes_at)
				site->bytes = (int64_t)n;
			value += f.number == SAMPLE_VALUE;
		}
		damaged(p, &list.packed);
	}
	damaged(p, &w);
	site->bytes = site->bytes < 0 ? -1 : site->bytes;
	site->count = site->count < 0 ? 0 : site->count;
}

/* ---- the file -------------------------------------------------------------------------------- */

bool pprof_open(
	const struct input *in, struct arena *keep, struct live_snapshot *ret, struct diag *err)
{
	struct pprof *p = arena_make(keep, struct pprof, 1);
	*p = (struct pprof){ .keep = keep };
	*ret = (struct live_snapshot){ .name = in->path };
	if (in->kind != INPUT_GZIP)
		return diag_set(err, DIAG_PPROF,
			"no gzip data at byte 0; a snapshot is what "
			"jax.profiler.save_device_memory_profile writes");
	if (!stream_all(in, PPROF_BYTES, keep, &p->whole, err))
		return false;
	gather(p);
	p->locations = index_ids(p, &p->fields[PROFILE_LOCATION]);
	p->functions = index_ids(p, &p->fields[PROFILE_FUNCTION]);
	bool known = find_values(p);
	const struct pieces *samples = &p->fields[PROFILE_SAMPLE];
	ret->sites = arena_make(keep, struct live_site, samples->count);
	for (; known && ret->site_count < samples->count && !p->fail.why; ret->site_count++)
		read_site(p, samples->items[ret->site_count], &ret->sites[ret->site_count]);
	if (p->fail.why) {
		wire_error(&p->fail, p->whole, "Profile, unpacked,", err);
		return diag_set(err, DIAG_PPROF, "%s", arena_z(keep, str_from(err->text)));
	}
	return known || diag_set(err, DIAG_PPROF,
				"a pprof profile without allocations and space among its sample "
				"types, so it holds no live buffers");
}
