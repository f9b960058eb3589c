/*
 * Events and names as they are written in an xplane.pb, into blocks and the spool.  See trace.h.
 */
#include <assert.h>
#include <string.h>

#include "profile/trace.h"

/* A lane's block grows fourfold up to this: with a hundred busy lanes a few megabytes. */
enum { BLOCK_FIRST = 2 << 10, BLOCK_MAX = 32 << 10 };

#define LONG_NAME (UINT64_C(1) << ARG_LONG_NAME)

/* What is the same for every event of a TPU op, and what kind of value the others are. */
static const uint64_t of_names = STAT_BIT(HLO_CATEGORY) | STAT_BIT(FLOPS) | STAT_BIT(MODEL_FLOPS) |
				 STAT_BIT(BYTES_ACCESSED) | STAT_BIT(SHAPE_WITH_LAYOUT) |
				 STAT_BIT(TF_OP) | STAT_BIT(SOURCE) | STAT_BIT(SOURCE_STACK) |
				 LONG_NAME;
static const uint64_t texts = STAT_BIT(HLO_OP) | STAT_BIT(HLO_MODULE) | STAT_BIT(MEMCPY_DETAILS) |
			      STAT_BIT(NAME) | STAT_BIT(TF_OP) | STAT_BIT(HLO_CATEGORY) |
			      STAT_BIT(SHAPE_WITH_LAYOUT) | STAT_BIT(SOURCE) |
			      STAT_BIT(SOURCE_STACK) | STAT_BIT(ALLOCATOR_NAME);
/* Bytes that the exporter replaced by words. */
static const uint64_t opaque = STAT_BIT(MEMORY_ACCESS_BREAKDOWN) | STAT_BIT(HLO_PROTO) |
			       STAT_BIT(HLO_PROTO_OLD) | STAT_BIT(CORE_DETAILS);

/* ---- wire ------------------------------------------------------------------------------------ */

/* Bytes of one message being written; room is made beforehand. */
struct pb {
	char *p;
	ptrdiff_t len;
};

static inline void put_varint(struct pb *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		b->p[b->len++] = (char)(value | 0x80);
	b->p[b->len++] = (char)value;
}

static inline void put_tag(struct pb *b, int field, enum wire_type type)
{
	put_varint(b, (uint64_t)field << 3 | (uint64_t)type);
}

static inline void put_int(struct pb *b, int field, int64_t value)
{
	put_tag(b, field, WIRE_VARINT);
	put_varint(b, (uint64_t)value);
}

static void put_bytes(struct pb *b, int field, struct str bytes)
{
	put_tag(b, field, WIRE_LEN);
	put_varint(b, (uint64_t)bytes.len);
	if (bytes.len)
		memcpy(b->p + b->len, bytes.p, (size_t)bytes.len);
	b->len += bytes.len;
}

/* A stat of a number, of at most STAT_NUMBER bytes beside its own head. */
enum { STAT_NUMBER = 16 };
static void put_stat(struct pb *b, int field, int stat, enum xstat_field kind, uint64_t value)
{
	char bytes[STAT_NUMBER];
	struct pb inner = { bytes, 0 };
	put_int(&inner, XSTAT_METADATA_ID, TRACE_STAT_ID + stat);
	if (kind == XSTAT_DOUBLE) {
		put_tag(&inner, kind, WIRE_I64);
		for (int i = 0; i < 8; i++)
			bytes[inner.len++] = (char)(value >> (8 * i));
	} else {
		put_int(&inner, kind, (int64_t)value);
	}
	assert(inner.len <= STAT_NUMBER);
	put_bytes(b, field, (struct str){ bytes, inner.len });
}

/* A number as it is written.  False for a word. */
static bool put_number(struct pb *b, int field, int stat, struct str text)
{
	int64_t whole;
	uint64_t bits;
	double real;
	if (str_to_i64(text, &whole)) {
		put_stat(b, field, stat, XSTAT_INT64, (uint64_t)whole);
	} else if (str_to_u64(text, &bits)) {
		put_stat(b, field, stat, XSTAT_UINT64, bits);
	} else if (str_to_double(text, &real)) {
		memcpy(&bits, &real, sizeof(bits));
		put_stat(b, field, stat, XSTAT_DOUBLE, bits);
	} else {
		return false;
	}
	return true;
}

static void put_ref(struct pb *b, int stat, ptrdiff_t ref)
{
	put_stat(b, XEVENT_STATS, stat, XSTAT_REF, (uint64_t)(TRACE_STAT_ID + STAT_COUNT + ref));
}

/* ---- names ----------------------------------------------------------------------------------- */

/* As readers see it. */
static struct str text_of(const struct trace *t, struct str text, struct arena *keep)
{
	return t->plain ? text : jscan_text(text, keep);
}

/* One text of several: a sum of these does not depend on their order. */
static inline uint64_t hash_part(int what, struct str text)
{
	return str_hash_quick(text, (uint64_t)what * UINT64_C(0x9e3779b97f4a7c15));
}

/* Sixty-four bits: of a million names two are mistaken for one with a chance of 3 in 10^8. */
static uint64_t name_hash(const struct trace_event *e, uint64_t said, const struct trace_run *run)
{
	uint64_t h = (run ? hash_mix(run->program) : 0) + hash_part(-1, e->name);
	for (; said; said &= said - 1) {
		int arg = __builtin_ctzll(said);
		h += hash_part(arg, e->args[arg]);
	}
	return h;
}

/* Room for tags and lengths of an entry's fields; each stat repeats no more than its own text. */
enum { ENTRY_OVERHEAD = 64 + 48 * 16 };

static ptrdiff_t entry_bytes(const struct trace_event *e, uint64_t said)
{
	ptrdiff_t n = ENTRY_OVERHEAD + e->name.len;
	for (; said; said &= said - 1)
		n += e->args[__builtin_ctzll(said)].len;
	return n;
}

static void put_stat_text(struct pb *b, int stat, struct str text, struct arena scratch)
{
	struct pb inner = { arena_make(&scratch, char, text.len + 16), 0 };
	put_int(&inner, XSTAT_METADATA_ID, TRACE_STAT_ID + stat);
	put_bytes(&inner, XSTAT_STR, text);
	put_bytes(b, XMETADATA_STATS, (struct str){ inner.p, inner.len });
}

/*
 * The XEventMetadata of an op met for the first time: where there is a long name, that is the name,
 * and the short one is for display.
 */
static void name_write(struct trace *t, const struct trace_event *e, uint64_t said,
	const struct trace_run *run, struct trace_name *n, struct arena scratch)
{
	struct pb b = { arena_make(&scratch, char, entry_bytes(e, said)), 0 };
	bool is_long = said & LONG_NAME;
	struct str name = text_of(t, e->name, &scratch);
	struct str text = is_long ? text_of(t, e->args[ARG_LONG_NAME], &scratch) : name;
	put_bytes(&b, XMETADATA_NAME, text);
	n->name = (int32_t)(b.len - text.len);
	n->name_len = (int32_t)text.len;
	if (is_long)
		put_bytes(&b, XMETADATA_DISPLAY_NAME, name);
	for (uint64_t rest = said & ~LONG_NAME; rest; rest &= rest - 1) {
		int stat = __builtin_ctzll(rest);
		if (texts >> stat & 1)
			put_stat_text(&b, stat, text_of(t, e->args[stat], &scratch), scratch);
		else
			put_number(&b, XMETADATA_STATS, stat, e->args[stat]);
	}
	if (run)
		put_stat(&b, XMETADATA_STATS, STAT_PROGRAM_ID, XSTAT_UINT64, run->program);
	assert(b.len <= entry_bytes(e, said));
	n->len = (int32_t)b.len;
	n->at = spool_put(t->spool, (struct str){ b.p, b.len });
	n->program = run && str_starts(text, STR("%")) ? run->index : -1;
}

/* An index into the plane's names; -1 when there are too many. */
static int32_t name_of(struct trace *t, struct trace_plane *p, const struct trace_event *e,
	const struct trace_run *run)
{
	uint64_t said = e->present & of_names;
	int64_t hash = (int64_t)name_hash(e, said, run);
	int32_t i = map_get_id(&p->name_of, hash);
	if (i >= 0)
		return i;
	if (p->name_count >= XPLANE_MAX_NAMES) {
		t->limit = "ops";
		return -1;
	}
	map_put_id(&p->name_of, hash, (int32_t)p->name_count, t->scratch);
	struct trace_name *n = arena_push(t->scratch, p->names, p->name_count, p->name_cap);
	name_write(t, e, said, run, n, *t->scratch);
	p->seen |= said | (run ? STAT_BIT(PROGRAM_ID) : 0);
	p->amd |= str_starts(e->name, STR("__amd_rocclr_")) || str_starts(e->name, STR("Cijk_"));
	return (int32_t)p->name_count - 1;
}

static ptrdiff_t ref_of(struct trace *t, struct trace_plane *p, struct str text)
{
	int64_t hash = (int64_t)str_hash_quick(text, 0);
	int32_t i = map_get_id(&p->ref_of, hash);
	if (i >= 0)
		return i;
	if (p->ref_count >= XPLANE_MAX_NAMES) {
		t->limit = "texts";
		return 0;
	}
	map_put_id(&p->ref_of, hash, (int32_t)p->ref_count, t->scratch);
	struct str decoded = text_of(t, text, t->keep);
	*arena_push(t->scratch, p->refs, p->ref_count, p->ref_cap) =
		decoded.p == text.p ? arena_str(t->keep, text) : decoded;
	return p->ref_count - 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

void trace_flush(struct trace *t, struct trace_lane *l)
{
	if (!l->len)
		return;
	*arena_push(t->scratch, l->blocks, l->block_count, l->block_cap) =
		(struct trace_block){ spool_put(t->spool, (struct str){ l->bytes, l->len }),
			l->base_ps, l->len };
	l->written += l->len;
	l->len = 0;
}

/* Room for an event of at most `bytes`; a block begins where the event before it did not fit. */
static void lane_room(struct trace *t, struct trace_lane *l, ptrdiff_t bytes, int64_t start_ps)
{
	if (l->len + bytes > l->cap) {
		trace_flush(t, l);
		if (l->cap < BLOCK_MAX) {
			l->cap = l->cap ? l->cap * 4 : BLOCK_FIRST;
			l->bytes = arena_make(t->scratch, char, l->cap);
		}
	}
	if (!l->len)
		l->base_ps = start_ps;
}

/* What a trace does not say, but what it says tells. */
static void put_implied(
	struct trace *t, struct trace_plane *p, const struct trace_event *e, struct pb *b)
{
	/* The mark of a root is left out; only annotations of steps carry a number. */
	if (p->class == PLANE_HOST && e->present & STAT_BIT(STEP_NUM)) {
		put_stat(b, XEVENT_STATS, STAT_ROOT, XSTAT_INT64, 1);
		p->seen |= STAT_BIT(ROOT);
	}
	if (e->present & STAT_BIT(HLO_MODULE) && !(e->present & STAT_BIT(PROGRAM_ID))) {
		struct str name = p->refs[ref_of(t, p, e->args[STAT_HLO_MODULE])];
		/* The same on every host and machine, and never one that the profiler gives out. */
		uint64_t id = str_hash(name) | UINT64_C(1) << 63;
		trace_program(t, id, name, true);
		put_stat(b, XEVENT_STATS, STAT_PROGRAM_ID, XSTAT_UINT64, id);
		p->seen |= STAT_BIT(PROGRAM_ID);
	}
	/* A kernel's scope is called "name" in the xplane.pb; this word stands for none. */
	if (p->class == PLANE_DEVICE && p->platform != PLATFORM_TPU &&
		(e->present & (STAT_BIT(TF_OP) | STAT_BIT(NAME))) == STAT_BIT(TF_OP) &&
		!str_eq(e->args[STAT_TF_OP], STR("XlaModule:"))) {
		put_ref(b, STAT_NAME, ref_of(t, p, e->args[STAT_TF_OP]));
		p->seen |= STAT_BIT(NAME);
	}
}

/* Head of the event and three implied stats; then every stat has STAT_NUMBER and its own head. */
enum { EVENT_BYTES = 48 + 3 * 32 + STAT_COUNT * (STAT_NUMBER + 2), EVENT_HEAD = 4 };
_Static_assert(EVENT_BYTES + EVENT_HEAD <= BLOCK_FIRST, "an event fits into an empty block");

void trace_write(struct trace *t, struct trace_lane *l, const struct trace_event *e,
	const struct trace_run *run)
{
	struct trace_plane *p = l->plane;
	int32_t name = name_of(t, p, e, run);
	uint64_t stats = e->present & ~(of_names | opaque);
	char bytes[EVENT_BYTES];
	struct pb b = { bytes, 0 };
	if (name < 0)
		return;
	lane_room(t, l, EVENT_BYTES + EVENT_HEAD, e->start_ps);
	put_int(&b, XEVENT_METADATA_ID, name);
	put_int(&b, XEVENT_OFFSET_PS, e->start_ps - l->base_ps);
	if (e->duration_ps)
		put_int(&b, XEVENT_DURATION_PS, e->duration_ps);
	for (; stats; stats &= stats - 1) {
		int stat = __builtin_ctzll(stats);
		if (texts >> stat & 1)
			put_ref(&b, stat, ref_of(t, p, e->args[stat]));
		else if (!put_number(&b, XEVENT_STATS, stat, e->args[stat]))
			continue;
		p->seen |= UINT64_C(1) << stat;
	}
	put_implied(t, p, e, &b);
	assert(b.len <= EVENT_BYTES);
	struct pb block = { l->bytes, l->len };
	put_bytes(&block, XLINE_EVENTS, (struct str){ bytes, b.len });
	l->len = block.len;
}
