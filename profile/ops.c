/*
 * From an event on a device lane to an op: what the profile itself says of it, once per op.
 *
 * On TPU the name alone decides the op and its metadata carries cost, scope and source.  On GPU a
 * name is a kernel, and (kernel, instruction, program) is the op.  On CPU the name is the
 * instruction and the program is a stat.
 */
#include "profile/xplane.h"

#include <math.h>

/* Distinct ops of one plane; the largest real steps have some 10^5. */
#define OPS_MAX (8 << 20)

struct op_key {
	int64_t hlo_op; /* a reference's index, or a plain text's hash; -1 when not said */
	uint64_t program;
	int32_t name, part, copy;
	int32_t next; /* another op of the same hash, -1 none */
};

struct op_table {
	struct op_key *keys; /* parallel to plane->ops */
	ptrdiff_t key_count, key_cap;
	struct map of_hash; /* the first op of a key's hash */
	int32_t last_op;    /* kernels repeat: many lookups end here */
};

static int64_t op_hash(const struct op_key *k)
{
	uint64_t h =
		(uint64_t)(uint32_t)k->name + (uint64_t)k->hlo_op * UINT64_C(0x94d049bb133111eb);

	h ^= (k->program + (uint64_t)(uint32_t)k->copy) * UINT64_C(0xbf58476d1ce4e5b9);
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return (int64_t)(h ^ h >> 29);
}

static bool op_key_eq(const struct op_key *a, const struct op_key *b)
{
	return a->name == b->name && a->hlo_op == b->hlo_op && a->program == b->program &&
	       a->part == b->part && a->copy == b->copy;
}

static struct op_table *table_of(struct plane *p)
{
	if (!p->table) {
		p->table = arena_make(p->keep, struct op_table, 1);
		p->table->last_op = -1;
	}
	return p->table;
}

/* An op's index, or -1. */
static int32_t op_find(const struct op_table *t, const struct op_key *key)
{
	int32_t i = map_get_id(&t->of_hash, op_hash(key));

	while (i >= 0 && !op_key_eq(&t->keys[i], key))
		i = t->keys[i].next;
	return i;
}

/* A new op, empty; its index. */
static int32_t op_add(struct plane *p, struct op_table *t, const struct op_key *key)
{
	struct op_key *added = arena_push(p->keep, t->keys, t->key_count, t->key_cap);
	struct profile_op *op = arena_push(p->keep, p->ops, p->op_count, p->op_cap);
	int32_t index = (int32_t)(p->op_count - 1);

	*added = *key;
	added->next = -1;
	int32_t first = map_put_id(&t->of_hash, op_hash(key), index, p->keep);
	if (first != index) {
		added->next = t->keys[first].next;
		t->keys[first].next = index;
	}
	op->program = PROGRAM_UNKNOWN;
	op->flops = op->model_flops = op->bytes_accessed = NAN;
	op->hbm_read_bytes = op->hbm_write_bytes = NAN;
	return index;
}

/*
 * MemoryAccessBreakdown: memory_accessed = 1 repeated {operation_type = 1 (1 read, 2 write),
 * memory_space = 2 (1 HBM), bytes_accessed = 3}.
 */
static void breakdown_read(struct str bytes, struct profile_op *op)
{
	struct wire w = wire_open(bytes), inner;
	struct wire_field f;

	op->hbm_read_bytes = op->hbm_write_bytes = 0;
	while (wire_next(&w, &f)) {
		uint64_t at[4] = { 0 };
		if (f.number != 1 || f.type != WIRE_LEN)
			continue;
		inner = wire_open(f.bytes);
		while (wire_next(&inner, &f))
			if (f.number >= 1 && f.number <= 3 && f.type == WIRE_VARINT)
				at[f.number] = f.num;
		if (at[2] != 1)
			continue;
		if (at[1] == 1)
			op->hbm_read_bytes += (double)at[3];
		else if (at[1] == 2)
			op->hbm_write_bytes += (double)at[3];
	}
}

static double number_of(const struct stats *s, enum stat_id id)
{
	if (!(s->present >> id & 1))
		return NAN;
	double v = s->at[id].is_real ? s->at[id].real : (double)s->at[id].i64;
	/* A negative cost is the producer's "unknown". */
	return v >= 0 ? v : NAN;
}

static struct str text_of(const struct stats *s, enum stat_id id)
{
	return s->present >> id & 1 && s->at[id].is_text ? s->at[id].text : (struct str){ 0 };
}

static const uint64_t tpu_metadata =
	STAT_BIT(HLO_CATEGORY) | STAT_BIT(PROGRAM_ID) | STAT_BIT(FLOPS) | STAT_BIT(MODEL_FLOPS) |
	STAT_BIT(BYTES_ACCESSED) | STAT_BIT(MEMORY_ACCESS_BREAKDOWN) | STAT_BIT(SHAPE_WITH_LAYOUT) |
	STAT_BIT(TF_OP) | STAT_BIT(SOURCE) | STAT_BIT(SOURCE_STACK) | STAT_BIT(SYMBOL_ID);

static void tpu_op_said(struct profile_op *op, const struct stats *s)
{
	if (s->present & STAT_BIT(PROGRAM_ID))
		op->program = (uint64_t)s->at[STAT_PROGRAM_ID].i64;
	op->category = text_of(s, STAT_HLO_CATEGORY);
	op->scope = text_of(s, STAT_TF_OP);
	op->source = text_of(s, STAT_SOURCE);
	op->source_stack = text_of(s, STAT_SOURCE_STACK);
	op->shape = text_of(s, STAT_SHAPE_WITH_LAYOUT);
	op->flops = number_of(s, STAT_FLOPS);
	op->model_flops = number_of(s, STAT_MODEL_FLOPS);
	op->bytes_accessed = number_of(s, STAT_BYTES_ACCESSED);
	if (s->present & STAT_BIT(MEMORY_ACCESS_BREAKDOWN))
		breakdown_read(s->at[STAT_MEMORY_ACCESS_BREAKDOWN].text, op);
}

/* The op a TPU name stands for: everything is in its metadata, which is walked once. */
static bool tpu_op_fill(
	const struct plane *p, const struct plane_name *n, struct profile_op *op, struct wire *fail)
{
	struct wire w = wire_open(n->entry);
	struct str display = STR("");
	struct wire_field f;
	struct stats s;

	s.present = 0;
	op->text = STR("");
	while (wire_next(&w, &f)) {
		if (f.type != WIRE_LEN)
			continue;
		if (f.number == XMETADATA_NAME)
			op->text = f.bytes;
		else if (f.number == XMETADATA_DISPLAY_NAME)
			display = f.bytes;
		else if (f.number == XMETADATA_STATS &&
			 !stats_read(&p->parts[n->part], f.bytes, 0, tpu_metadata, &s, fail))
			return false;
	}
	op->name = display.len > 0 ? display : op->text;
	op->hlo_op = s.present ? op->name : (struct str){ 0 };
	tpu_op_said(op, &s);
	*fail = w;
	return !w.why;
}

static __attribute__((noinline)) bool tpu_op_new(struct plane *p, int32_t name, struct wire *fail)
{
	struct plane_name *n = &p->names[name];
	struct op_key key = { .name = name, .hlo_op = -1, .part = n->part };

	n->op = op_add(p, table_of(p), &key);
	return tpu_op_fill(p, n, &p->ops[n->op], fail);
}

static bool tpu_op(struct plane *p, int32_t name, int32_t *ret, struct wire *fail)
{
	if (p->names[name].op < 0 && !tpu_op_new(p, name, fail))
		return false;
	*ret = p->names[name].op;
	return true;
}

/* "size:655360" or "num_bytes:655360" in a copy's details; 0 when it says neither. */
static int64_t copy_bytes(struct str details)
{
	static const struct str keys[] = { STR_INIT("num_bytes:"), STR_INIT("size:") };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ptrdiff_t at = str_find(details, keys[i]);
		struct str head, tail;
		int64_t bytes;

		if (at < 0)
			continue;
		str_cut(str_from_offset(details, at + keys[i].len), ' ', &head, &tail);
		if (str_to_i64(head, &bytes) && bytes > 0)
			return bytes;
	}
	return 0;
}

/* A kernel's copy direction depends on its name and, where the name is silent, on its details. */
static enum copy_direction copy_of(struct plane_name *n, const struct stats *s)
{
	struct str details = text_of(s, STAT_MEMCPY_DETAILS);

	return copy_direction_of(plane_name_text(n), details);
}

/* References are small numbers; a hash with its top bits forced cannot meet them or -1. */
static int64_t hlo_op_id(const struct stat_value *v)
{
	if (v->i64 >= 0)
		return v->i64;
	return (int64_t)(str_hash(v->text) >> 2 | UINT64_C(1) << 61);
}

static int32_t kernel_op(struct plane *p, int32_t name, const struct stats *s)
{
	struct op_table *t = table_of(p);
	struct op_key key = {
		.name = name,
		.hlo_op = -1,
		.program = PROGRAM_UNKNOWN,
		.part = p->names[name].part,
		.copy = s->present & STAT_BIT(MEMCPY_DETAILS) ? (int32_t)copy_of(&p->names[name], s)
							      : -1,
	};
	if (s->present & STAT_BIT(HLO_OP))
		key.hlo_op = hlo_op_id(&s->at[STAT_HLO_OP]);
	if (s->present & STAT_BIT(PROGRAM_ID))
		key.program = (uint64_t)s->at[STAT_PROGRAM_ID].i64;
	if (t->last_op >= 0 && op_key_eq(&key, &t->keys[t->last_op]))
		return t->last_op;
	t->last_op = op_find(t, &key);
	if (t->last_op >= 0)
		return t->last_op;
	t->last_op = op_add(p, t, &key);
	struct profile_op *op = &p->ops[t->last_op];
	op->name = plane_name_text(&p->names[name]);
	op->hlo_op = text_of(s, STAT_HLO_OP);
	op->module = text_of(s, STAT_HLO_MODULE);
	op->program = key.program;
	op->scope = text_of(s, STAT_NAME);
	op->copy = copy_of(&p->names[name], s);
	return t->last_op;
}

static const uint64_t tpu_event = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);
static const uint64_t kernel_event = STAT_BIT(HLO_OP) | STAT_BIT(HLO_MODULE) |
				     STAT_BIT(PROGRAM_ID) | STAT_BIT(MEMCPY_DETAILS) |
				     STAT_BIT(NAME);
static const uint64_t cpu_event = STAT_BIT(HLO_OP) | STAT_BIT(HLO_MODULE) | STAT_BIT(PROGRAM_ID) |
				  STAT_BIT(RUN_ID) | STAT_BIT(DEVICE_ORDINAL);

static bool cpu_is_ours(const struct plane *p, const struct stats *s)
{
	return s->present & STAT_BIT(HLO_OP) &&
	       (!(s->present & STAT_BIT(DEVICE_ORDINAL)) ||
		       s->at[STAT_DEVICE_ORDINAL].i64 == p->ordinal);
}

static bool tpu_event_fill(struct plane *p, const struct lane_walk *w, const struct raw_event *raw,
	int32_t name, struct op_event *ret, struct wire *fail)
{
	struct stats s;

	s.present = 0;
	if (!event_stats_read(w->part, raw, tpu_event, &s, fail))
		return false;
	if ((s.present & tpu_event) == tpu_event)
		op_event_place(
			ret, s.at[STAT_DEVICE_OFFSET_PS].i64, s.at[STAT_DEVICE_DURATION_PS].i64);
	else
		op_event_place(ret, sat_add(w->base_ps, raw->offset_ps), raw->duration_ps);
	ret->run = 0;
	return tpu_op(p, name, &ret->op, fail);
}

static bool kernel_event_read(struct plane *p, const struct lane_walk *w,
	const struct raw_event *raw, int32_t name, struct op_event *ret, bool *skip,
	struct wire *fail)
{
	bool cpu = p->platform == PLATFORM_CPU;
	struct stats s;

	s.present = 0;
	if (!event_stats_read(w->part, raw, cpu ? cpu_event : kernel_event, &s, fail))
		return false;
	*skip = cpu && !cpu_is_ours(p, &s);
	if (*skip)
		return true;
	ret->run = s.present & STAT_BIT(RUN_ID) ? s.at[STAT_RUN_ID].i64 : 0;
	op_event_place(ret, sat_add(w->base_ps, raw->offset_ps), raw->duration_ps);
	if (s.present & STAT_BIT(MEMCPY_DETAILS))
		ret->bytes = copy_bytes(s.at[STAT_MEMCPY_DETAILS].text);
	ret->op = kernel_op(p, name, &s);
	return true;
}

bool op_event_read(struct plane *p, const struct lane_walk *w, const struct raw_event *raw,
	struct op_event *ret, bool *skip, struct wire *fail)
{
	int32_t name = map_get_id(&w->part->names, raw->metadata_id);

	*skip = name < 0 || raw->aggregated || p->op_count >= OPS_MAX;
	if (*skip)
		return true;
	ret->bytes = 0;
	return p->platform == PLATFORM_TPU ? tpu_event_fill(p, w, raw, name, ret, fail)
					   : kernel_event_read(p, w, raw, name, ret, skip, fail);
}

static bool is_of_program(const struct plane *p, struct plane_name *n, uint64_t program)
{
	struct stats s = { 0 };
	struct wire fail;

	return str_starts(plane_name_text(n), STR("%")) &&
	       stats_read(&p->parts[n->part], n->entry, XMETADATA_STATS, STAT_BIT(PROGRAM_ID), &s,
		       &fail) &&
	       s.present & STAT_BIT(PROGRAM_ID) && (uint64_t)s.at[STAT_PROGRAM_ID].i64 == program;
}

ptrdiff_t profile_op_texts(
	const struct profile *p, uint64_t program, struct arena *keep, struct str **ret)
{
	struct map met = { 0 };
	ptrdiff_t count = 0, cap = 0;

	*ret = NULL;
	for (ptrdiff_t i = 0; i < p->plane_count; i++) {
		const struct plane *plane = &p->planes[i];
		if (plane->class != PLANE_DEVICE || plane->platform != PLATFORM_TPU)
			continue;
		struct name_walk w = { .plane = plane };
		struct plane_name n;
		while (name_walk_next(&w, &n)) {
			if (is_of_program(plane, &n, program) &&
				map_put(&met, n.name, (int32_t)count, keep) == count)
				*arena_push(keep, *ret, count, cap) = n.name;
		}
	}
	return count;
}
