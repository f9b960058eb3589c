/*
 * From an event on a device lane to an op: what the profile itself says of it, once per op.
 *
 * On TPU the name alone decides the op and its metadata carries cost, scope and source.  On GPU a
 * name is a kernel, and (kernel, instruction, program) is the op.  On CPU the name is the
 * instruction and the program is a stat.
 */
#include "profile/xplane.h"

#include <math.h>

#include "base/text.h"

struct op_key {
	int64_t hlo_op; /* a reference's index, or a plain text's hash; -1 when not said */
	int64_t node;	/* of a CUDA graph; 0 none */
	uint64_t program;
	int32_t name, part, copy, pageable; /* keys are compared by their bytes */
};
_Static_assert(sizeof(struct op_key) == 40, "no byte of a key is unset");

/* A new op, empty; its index. */
static int32_t op_new(struct plane *p)
{
	struct profile_op *op = arena_push(p->keep, p->ops, p->op_count, p->op_cap);

	op->program = PROGRAM_UNKNOWN;
	op->flops = op->model_flops = op->bytes_accessed = NAN;
	op->hbm_read_bytes = op->hbm_write_bytes = NAN;
	return (int32_t)(p->op_count - 1);
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

/* A negative cost is the producer's "unknown". */
static double cost_of(const struct stats *s, enum stat_id id)
{
	double v = stat_real(s, id);

	return v >= 0 ? v : NAN;
}

static const uint64_t tpu_metadata =
	STAT_BIT(HLO_CATEGORY) | STAT_BIT(PROGRAM_ID) | STAT_BIT(FLOPS) | STAT_BIT(MODEL_FLOPS) |
	STAT_BIT(BYTES_ACCESSED) | STAT_BIT(MEMORY_ACCESS_BREAKDOWN) | STAT_BIT(SHAPE_WITH_LAYOUT) |
	STAT_BIT(TF_OP) | STAT_BIT(SOURCE) | STAT_BIT(SOURCE_STACK);

/* The op a TPU name stands for: everything is in its metadata, which is walked once. */
static COLD bool tpu_op_new(struct plane *p, struct plane_name *n, struct wire *fail)
{
	struct wire w = wire_open(n->entry);
	struct str text = STR(""), display = STR("");
	struct wire_field f;
	struct stats s;

	s.present = 0;
	while (wire_next(&w, &f)) {
		if (f.type != WIRE_LEN)
			continue;
		if (f.number == XMETADATA_NAME)
			text = f.bytes;
		else if (f.number == XMETADATA_DISPLAY_NAME)
			display = f.bytes;
		else if (f.number == XMETADATA_STATS &&
			 !stats_read(&p->parts[n->part], f.bytes, 0, tpu_metadata, &s, fail))
			return false;
	}
	*fail = w;
	if (w.why)
		return false;
	int32_t at = op_new(p);
	n->op = s.present & STATS_LOST ? PLANE_NAME_LOST - at : at;
	s.present &= ~STATS_LOST;
	struct profile_op *op = &p->ops[at];
	op->text = text;
	op->name = display.len > 0 ? display : text;
	op->hlo_op = s.present ? op->name : (struct str){ 0 };
	if (s.present & STAT_BIT(PROGRAM_ID))
		op->program = (uint64_t)s.at[STAT_PROGRAM_ID].i64;
	op->category = stat_text(&s, STAT_HLO_CATEGORY);
	op->scope = stat_text(&s, STAT_TF_OP);
	op->source = stat_text(&s, STAT_SOURCE);
	op->source_stack = stat_text(&s, STAT_SOURCE_STACK);
	op->shape = stat_text(&s, STAT_SHAPE_WITH_LAYOUT);
	op->flops = cost_of(&s, STAT_FLOPS);
	op->model_flops = cost_of(&s, STAT_MODEL_FLOPS);
	op->bytes_accessed = cost_of(&s, STAT_BYTES_ACCESSED);
	if (s.present & STAT_BIT(MEMORY_ACCESS_BREAKDOWN))
		breakdown_read(s.at[STAT_MEMORY_ACCESS_BREAKDOWN].text, op);
	return true;
}

/* "size:655360" or "num_bytes:655360" in a copy's details; 0 when it says neither. */
static int64_t copy_bytes(struct str details)
{
	static const struct str keys[] = { STR_INIT("num_bytes:"), STR_INIT("size:") };

	for (ptrdiff_t i = 0; i < COUNT_OF(keys) && details.len; i++) {
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

/* References are small numbers; a hash with its top bits forced cannot meet them or -1. */
static int64_t hlo_op_id(const struct stat_value *v)
{
	if (v->i64 >= 0)
		return v->i64;
	return (int64_t)(str_hash(v->text) >> 2 | UINT64_C(1) << 61);
}

bool plane_has_graphs(const struct plane *p)
{
	uint64_t known = 0;

	for (ptrdiff_t i = 0; i < p->part_count; i++)
		known |= p->parts[i].known;
	return known & STAT_BIT(CUDA_GRAPH_NODE_ID);
}

/* The node that an event is of, 0 none; what it runs in *at, MAP_NONE where that is not known. */
static int64_t node_of(const struct plane *p, const struct stats *s, int32_t *at)
{
	int64_t node =
		s->present & STAT_BIT(CUDA_GRAPH_NODE_ID) ? s->at[STAT_CUDA_GRAPH_NODE_ID].i64 : 0;

	*at = node && p->nodes ? map_get_id(&p->nodes->of_node, node) : MAP_NONE;
	return !p->nodes || *at >= 0 ? node : 0;
}

/* `name` is -1 where it is not in the file. */
static int32_t kernel_op(struct plane *p, int32_t part, int32_t name, const struct stats *s)
{
	int32_t runs;
	struct str text = name >= 0 ? plane_name_text(&p->names[name]) : STR("(not in the file)");
	struct str details = stat_text(s, STAT_MEMCPY_DETAILS);
	struct op_key key = {
		.name = name,
		.hlo_op = s->present & STAT_BIT(HLO_OP) ? hlo_op_id(&s->at[STAT_HLO_OP]) : -1,
		.node = node_of(p, s, &runs),
		.program = s->present & STAT_BIT(PROGRAM_ID) ? (uint64_t)s->at[STAT_PROGRAM_ID].i64
							     : PROGRAM_UNKNOWN,
		.part = part,
		/* Of a copy the details may say what its name leaves open. */
		.copy = details.p ? (int32_t)copy_direction_of(text, details) : -1,
		.pageable = details.p && str_contains(details, STR(":pageable")),
	};
	struct str bytes = { (const char *)&key, sizeof(key) };
	int32_t at = map_get(&p->op_keys, bytes);
	if (at >= 0)
		return at;
	at = op_new(p);
	map_put(&p->op_keys, arena_str(p->keep, bytes), at, p->keep);
	struct profile_op *op = &p->ops[at];
	op->name = text;
	op->hlo_op = runs >= 0 ? p->nodes->ops[runs] : stat_text(s, STAT_HLO_OP);
	op->is_scheduled = runs >= 0 && op->hlo_op.p;
	op->node = key.node;
	op->module = stat_text(s, STAT_HLO_MODULE);
	op->program = key.program;
	op->scope = stat_text(s, STAT_NAME);
	op->copy = key.copy >= 0 ? (enum copy_direction)key.copy
				 : copy_direction_of(op->name, details);
	op->pageable = key.pageable;
	return at;
}

static const uint64_t tpu_event = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);
static const uint64_t kernel_event = STAT_BIT(HLO_OP) | STAT_BIT(HLO_MODULE) |
				     STAT_BIT(PROGRAM_ID) | STAT_BIT(MEMCPY_DETAILS) |
				     STAT_BIT(NAME) | STAT_BIT(CUDA_GRAPH_NODE_ID);
static const uint64_t cpu_event = STAT_BIT(HLO_OP) | STAT_BIT(HLO_MODULE) | STAT_BIT(PROGRAM_ID) |
				  STAT_BIT(RUN_ID) | STAT_BIT(DEVICE_ORDINAL);

bool cpu_execution_is(const struct stats *s)
{
	uint64_t launch = STAT_BIT(RUN_ID) | STAT_BIT(DEVICE_ORDINAL);

	return (s->present & (launch | STAT_BIT(HLO_OP))) == launch;
}

int64_t cpu_ordinal(const struct stats *s)
{
	if (!(s->present & STAT_BIT(DEVICE_ORDINAL)))
		return -1;
	return s->at[STAT_DEVICE_ORDINAL].i64 > 0 ? s->at[STAT_DEVICE_ORDINAL].i64 : 0;
}

static bool cpu_is_ours(const struct plane *p, const struct stats *s)
{
	int64_t ordinal = cpu_ordinal(s);

	return (s->present & STAT_BIT(HLO_OP) || cpu_execution_is(s)) &&
	       (ordinal < 0 || ordinal == p->ordinal);
}

bool op_event_read(struct plane *p, struct lane_walk *w, const struct raw_event *raw,
	struct op_event *ret, bool *skip, struct plane_lost *lost, struct wire *fail)
{
	bool tpu = p->platform == PLATFORM_TPU, cpu = p->platform == PLATFORM_CPU;
	struct stats s;

	*skip = raw->aggregated || p->op_count >= OPS_MAX;
	if (*skip)
		return true;
	int32_t name = map_get_id(&w->part->names, raw->metadata_id);
	s.present = 0;
	if (!event_stats_read(w->part, raw,
		    tpu	  ? tpu_event
		    : cpu ? cpu_event
			  : kernel_event,
		    &s, fail))
		return false;
	*skip = cpu && !cpu_is_ours(p, &s);
	if (*skip)
		return true;
	event_times(w, raw, &s, &ret->start_ps, &ret->end_ps);
	/* XLA's -1, which TensorFlow leaves there, names no run. */
	ret->run = s.present & STAT_BIT(RUN_ID) && s.at[STAT_RUN_ID].i64 != -1
			   ? s.at[STAT_RUN_ID].i64
			   : 0;
	ret->bytes = copy_bytes(stat_text(&s, STAT_MEMCPY_DETAILS));
	if (cpu && cpu_execution_is(&s)) {
		ret->op = OP_EXECUTION;
		return true;
	}
	if (!tpu || name < 0) {
		ret->op = kernel_op(p, (int32_t)(w->part - p->parts), name, &s);
	} else {
		struct plane_name *n = &p->names[name];
		if (n->op == -1 && !tpu_op_new(p, n, fail))
			return false;
		ret->op = n->op < 0 ? PLANE_NAME_LOST - n->op : n->op;
		name = n->op < 0 ? -1 : name;
	}
	bool is_lost = name < 0 || s.present & STATS_LOST;
	if (is_lost) {
		lost->events++;
		lost->time_ps += ret->end_ps - ret->start_ps;
	}
	if (!tpu && !cpu)
		kernel_said(p, w, raw, ret, !is_lost);
	return true;
}

static struct program_texts *texts_new(
	struct profile_texts *t, uint64_t program, struct arena *keep)
{
	int32_t at = map_put_id(&t->by_id, (int64_t)program, (int32_t)t->count, keep);
	if (at == t->count)
		*arena_push(keep, t->items, t->count, t->cap) =
			(struct program_texts){ .module = MISSING };
	return &t->items[at];
}

/* The program of an op's entry in the metadata. */
static bool names_program(const struct plane *p, const struct plane_name *n, uint64_t *ret)
{
	struct stats s = { 0 };
	struct wire fail;

	if (!stats_read(&p->parts[n->part], n->entry, XMETADATA_STATS, STAT_BIT(PROGRAM_ID), &s,
		    &fail) ||
		!(s.present & STAT_BIT(PROGRAM_ID)))
		return false;
	*ret = (uint64_t)s.at[STAT_PROGRAM_ID].i64;
	return true;
}

static void read_texts(
	const struct plane *plane, struct profile_texts *ret, struct arena *keep, struct arena *met)
{
	struct name_walk w = { .plane = plane };
	struct plane_name n;
	uint64_t id;

	while (name_walk_next(&w, &n)) {
		struct str text = plane_name_text(&n), name;
		/* An op's text may end in a number in parentheses, too. */
		if (str_starts(text, STR("%"))) {
			if (!names_program(plane, &n, &id))
				continue;
			struct program_texts *p = texts_new(ret, id, keep);
			if (map_put(&p->met, n.name, (int32_t)p->count, met) == p->count)
				*arena_push(keep, p->ops, p->count, p->cap) = n.name;
		} else if (module_name_of(text, &name, &id)) {
			struct program_texts *p = texts_new(ret, id, keep);
			p->module = p->module.p ? p->module : text_clean(keep, name);
		}
	}
}

void profile_texts_read(const struct profile *p, struct arena *keep, struct profile_texts *ret)
{
	struct arena met = arena_new(ARENA_RUN_BYTES);

	*ret = (struct profile_texts){ .is_read = true };
	for (ptrdiff_t i = 0; i < p->plane_count; i++)
		if (p->planes[i].class == PLANE_DEVICE && p->planes[i].platform == PLATFORM_TPU)
			read_texts(&p->planes[i], ret, keep, &met);
	arena_free(&met);
}
