/*
 * HloModuleProto into struct hlo_module: two passes over the bytes (count, then read), then ids
 * become indices, one computation at a time.
 */
#include "hlo/inside.h"
#include "hlo/internal.h"
#include "hlo/slices.h"

static bool has_computations(struct str bytes)
{
	struct wire w = wire_open(bytes);
	struct wire_field f;
	bool found = false;
	while (bytes.len && wire_next(&w, &f))
		found |= f.number == 3 && f.type == WIRE_LEN;
	return found && !w.why;
}

/*
 * HloProto is {1: module, 3: buffers}; HloModuleProto is {1: name, 2: entry name, 3: computations,
 * 5 and 6: ids, ...}.  A field 1 that itself holds computations makes it an HloProto.
 */
static bool is_wrapped(struct str proto)
{
	struct wire w = wire_open(proto);
	struct wire_field f;
	while (proto.len && wire_next(&w, &f)) {
		if (f.number == 1 && f.type == WIRE_LEN && has_computations(f.bytes))
			return true;
		if (f.number != 1 && f.number != 3)
			return false;
	}
	return false;
}

struct wrapper {
	struct str module, buffer_assignment;
};

static const struct read_rule wrapper_table_rules[] = {
	[1] = READ_FIELD(STR, struct wrapper, module),
	[3] = READ_FIELD(STR, struct wrapper, buffer_assignment),
};
READ_TABLE(wrapper_table, "HloProto");

/* A module on its way: what is needed until ids are indices. */
struct module_proto {
	struct hlo_module m;
	struct str frames;
	int64_t entry_id;
	struct read_strs computations, payloads;
};

static const struct read_rule alias_table_rules[] = {
	[2] = { .kind = READ_INT }, /* the parameter's number */
};
READ_TABLE(alias_table, "AliasEntryProto");

static const struct read_rule aliases_table_rules[] = {
	[1] = READ_ELEMENTS(alias_table, struct hlo_module, donated.items, donated.count),
};
READ_TABLE(aliases_table, "HloInputOutputAliasProto");

static const struct read_rule devices_table_rules[] = {
	[1] = READ_BOTH(INT, struct hlo_module, replica_count),
	[2] = READ_FIELD(INT, struct hlo_module, partition_count, AS("num_partitions")),
};
READ_SHARED(devices_table, "DeviceAssignmentProto");

static const struct read_rule module_table_rules[] = {
	[1] = READ_FIELD(STR, struct module_proto, m.name),
	[3] = READ_FIELD(STRS, struct module_proto, computations),
	[6] = READ_FIELD(INT, struct module_proto, entry_id),
	[7] = READ_FIELD(STR, struct module_proto, m.schedule),
	[8] = { .kind = READ_MESSAGE, .table = &aliases_table },
	[15] = { .kind = READ_MESSAGE, .table = &devices_table },
	[17] = READ_FIELD(STR, struct module_proto, frames),
	[22] = READ_FIELD(STRS, struct module_proto, payloads),
};
READ_TABLE(module_table, "HloModuleProto");
_Static_assert(offsetof(struct module_proto, m) == 0, "its messages are read into the module");

struct computation_proto {
	struct str name, bytes;
	int64_t id, root_id;
	ptrdiff_t instructions;
};

static bool count_instruction(struct reader *r, const struct wire_field *f, void *into)
{
	(void)r;
	(void)f;
	((struct computation_proto *)into)->instructions++;
	return true;
}

static const struct read_rule computation_table_rules[] = {
	[1] = READ_FIELD(STR, struct computation_proto, name),
	[2] = { .kind = READ_CALL, .read = count_instruction },
	[5] = READ_FIELD(INT, struct computation_proto, id),
	[6] = READ_FIELD(INT, struct computation_proto, root_id),
};
READ_TABLE(computation_table, "HloComputationProto");

/* Counts what the computations hold, so that all instructions fit in one array. */
static bool read_heads(struct reader *r, struct module_proto *p, struct computation_proto *heads)
{
	ptrdiff_t total = 0;
	for (ptrdiff_t i = 0; i < p->computations.count; i++) {
		heads[i].bytes = p->computations.items[i];
		if (!read_message(r, &computation_table, heads[i].bytes, &heads[i]))
			return false;
		total += heads[i].instructions;
	}
	if (total > HLO_MAX_INSTRUCTIONS || p->computations.count > HLO_MAX_INSTRUCTIONS)
		return diag_set(r->err, DIAG_LIMIT,
			"the HLO module has %td instructions, more than the %d that are read",
			total, HLO_MAX_INSTRUCTIONS);
	p->m.instructions = arena_make(r->keep, struct hlo_instruction, total);
	return true;
}

static bool read_computation(
	struct reader *r, struct module_proto *p, const struct computation_proto *head)
{
	struct hlo_module *m = &p->m;
	struct wire w = wire_open(head->bytes);
	struct wire_field f;
	ptrdiff_t computation = m->computation_count++;
	m->computations[computation] = (struct hlo_computation){ .name = head->name,
		.id = head->id,
		.first = m->instruction_count,
		.count = head->instructions,
		.root = -1 };
	while (head->bytes.len && wire_next(&w, &f)) {
		if (f.number != 2 || f.type != WIRE_LEN)
			continue;
		struct hlo_instruction *i = &m->instructions[m->instruction_count++];
		i->computation = computation;
		if (!read_instruction(r, f.bytes, i))
			return false;
		/* payloads counts from 0, as XLA's hlo_proto_util reads it; this from 1. */
		if (!i->backend_config.len && i->backend_payload > 0 &&
			i->backend_payload <= p->payloads.count)
			i->backend_config = p->payloads.items[i->backend_payload - 1];
		if (i->stack_frame && !i->source.file.len)
			i->source = frames_source(m->frames, i->stack_frame);
	}
	return true;
}

/* The instructions of one computation by id. */
struct scope {
	struct hlo_instruction *items;
	ptrdiff_t count;
	struct map ids;
};

static ptrdiff_t find_id(const struct scope *s, int64_t id)
{
	/* Writers number instructions one after the other: look there first. */
	uint64_t guess = s->count ? (uint64_t)id - (uint64_t)s->items[0].id : 0;
	if (guess < (uint64_t)s->count && s->items[guess].id == id)
		return (ptrdiff_t)guess;
	return map_get_id(&s->ids, id);
}

/*
 * Ids are (computation << 32 | local) in new files and small in old ones; in either an operand or
 * a root may be named by its local half alone.
 */
static ptrdiff_t find_operand(const struct scope *s, int64_t user, int64_t id)
{
	ptrdiff_t found = find_id(s, id);
	if (found < 0 && user != id)
		found = find_id(s, (int64_t)(((uint64_t)user & ~(uint64_t)UINT32_MAX) |
					     ((uint64_t)id & UINT32_MAX)));
	return found;
}

/* Scratch by value: the map of one computation makes room for the next one's. */
static bool resolve_operands(struct hlo_module *m, struct hlo_computation *c, int64_t root_id,
	struct arena scratch, struct diag *err)
{
	struct scope s = { .items = &m->instructions[c->first], .count = c->count };
	s.ids = map_with_room(s.count, &scratch);
	for (ptrdiff_t i = 0; i < s.count; i++)
		if (map_put_id(&s.ids, s.items[i].id, (int32_t)i, &scratch) != i)
			return diag_set(err, DIAG_HLO, "two instructions have the id %lld",
				(long long)s.items[i].id);
	for (ptrdiff_t i = 0; i < s.count; i++) {
		struct hlo_instruction *user = &s.items[i];
		for (ptrdiff_t k = 0; k < user->operand_count; k++) {
			ptrdiff_t at = find_operand(&s, user->id, user->operands[k]);
			user->operands[k] = at < 0 ? -1 : c->first + at;
			if (at >= 0)
				s.items[at].user_count++;
		}
	}
	ptrdiff_t root = find_operand(&s, s.count ? s.items[0].id : root_id, root_id);
	c->root = root < 0 ? -1 : c->first + root;
	return true;
}

static void resolve_called(struct hlo_module *m, int64_t entry_id, struct arena scratch)
{
	struct map ids = map_with_room(m->computation_count, &scratch);
	for (ptrdiff_t i = 0; i < m->computation_count; i++)
		map_put_id(&ids, m->computations[i].id, (int32_t)i, &scratch);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++) {
		struct hlo_instruction *caller = &m->instructions[i];
		for (ptrdiff_t k = 0; k < caller->called_count; k++)
			caller->called[k] = map_get_id(&ids, caller->called[k]);
	}
	m->entry = map_get_id(&ids, entry_id);
	if (m->entry < 0)
		m->entry = m->computation_count - 1; /* callees come first */
}

/*
 * Depths and loops, and all computations with callees before callers.  `waiting` counts the calls
 * that lead to one; those that call each other in a ring never come to the queue.
 */
static ptrdiff_t *order_calls(struct hlo_module *m, struct arena *keep, struct diag *err)
{
	ptrdiff_t count = m->computation_count, queued = count;
	ptrdiff_t *waiting = arena_make(keep, ptrdiff_t, count);
	ptrdiff_t *queue = arena_make(keep, ptrdiff_t, count);
	for (ptrdiff_t i = 0; i < count; i++)
		m->computations[i].loop = -1;
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		for (ptrdiff_t k = 0; k < m->instructions[i].called_count; k++)
			if (m->instructions[i].called[k] >= 0)
				waiting[m->instructions[i].called[k]]++;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!waiting[i])
			queue[--queued] = i;
	for (ptrdiff_t next = count - 1; next >= queued; next--) {
		const struct hlo_computation *caller = &m->computations[queue[next]];
		if (caller->depth >= HLO_MAX_CALL_DEPTH) {
			diag_set(err, DIAG_LIMIT, "computations call each other more than %d deep",
				HLO_MAX_CALL_DEPTH);
			return NULL;
		}
		for (ptrdiff_t at = caller->first; at < caller->first + caller->count; at++) {
			const struct hlo_instruction *i = &m->instructions[at];
			for (ptrdiff_t k = 0; k < i->called_count; k++) {
				if (i->called[k] < 0)
					continue;
				struct hlo_computation *c = &m->computations[i->called[k]];
				if (c->depth <= caller->depth)
					c->depth = caller->depth + 1;
				c->in_loop |= caller->in_loop || i->op == HLO_WHILE;
				if (i->op == HLO_WHILE && i->called[k] == i->called[0])
					c->loop = at;
				if (!--waiting[i->called[k]])
					queue[--queued] = i->called[k];
			}
		}
	}
	if (!queued)
		return queue;
	diag_set(err, DIAG_HLO, "computations call each other in a ring");
	return NULL;
}

/* A program of several slices is compiled for the devices of one, unless it counts all it names. */
double hlo_devices(const struct hlo_module *m)
{
	double n = (double)m->replica_count * (double)m->partition_count;

	if (m->slice_devices <= 0 || n < (double)m->slices * (double)m->slice_devices)
		n *= (double)m->slices;
	/* No machine has this many; a hostile count must not pass for one. */
	return n > 0 && n < 1e9 ? n : 0;
}

bool module_finish(struct hlo_module *m, struct arena *keep, struct diag *err)
{
	index_names(m, keep);
	const ptrdiff_t *callees_first = order_calls(m, keep, err);
	if (!callees_first)
		return false;
	inside_gather(m, callees_first, keep);
	slices_note(m);
	return true;
}

static bool read_module(struct reader *r, struct str bytes, struct module_proto *p)
{
	struct hlo_module *m = &p->m;
	if (!read_message(r, &module_table, bytes, p))
		return false;
	ptrdiff_t count = p->computations.count;
	if (!count)
		return diag_set(r->err, DIAG_HLO, "the bytes hold no HLO computation");
	m->frames = frames_parse(r, p->frames);
	if (!m->frames)
		return false;
	m->computations = arena_make(r->keep, struct hlo_computation, count);
	struct computation_proto *heads = arena_make(r->keep, struct computation_proto, count);
	if (!read_heads(r, p, heads))
		return false;
	for (ptrdiff_t i = 0; i < count; i++)
		if (!read_computation(r, p, &heads[i]))
			return diag_context(r->err, "computation %.*s", STR_ARG(heads[i].name));
	for (ptrdiff_t i = 0; i < count; i++)
		if (!resolve_operands(m, &m->computations[i], heads[i].root_id, *r->keep, r->err))
			return diag_context(r->err, "computation %.*s", STR_ARG(heads[i].name));
	resolve_called(m, p->entry_id, *r->keep);
	if (m->computations[m->entry].root < 0)
		return diag_set(r->err, DIAG_HLO,
			"the root of its entry computation is none of the instructions there");
	return module_finish(m, r->keep, r->err);
}

struct hlo_module *hlo_module_parse(
	struct str proto, struct str whole, struct arena *keep, struct diag *err)
{
	struct reader r = { .keep = keep, .whole = whole, .err = err };
	struct wrapper w = { .module = proto };
	struct module_proto *p = arena_make(keep, struct module_proto, 1);
	r.cache = arena_make(keep, struct shape_cache, 1);
	if (is_wrapped(proto) && !read_message(&r, &wrapper_table, proto, &w))
		return NULL;
	p->m.buffer_assignment = w.buffer_assignment;
	if (read_module(&r, w.module, p))
		return &p->m;
	diag_context(err, "HLO module %.*s", STR_ARG(p->m.name));
	return NULL;
}

struct hlo_module *hlo_module_blank(ptrdiff_t instructions, struct arena *keep)
{
	struct hlo_module *m = arena_make(keep, struct hlo_module, 1);
	struct diag ignored;

	m->instruction_count = instructions;
	m->instructions = arena_make(keep, struct hlo_instruction, instructions);
	for (ptrdiff_t i = 0; i < instructions; i++)
		instruction_bound(&m->instructions[i]);
	m->computation_count = 1;
	m->computations = arena_make(keep, struct hlo_computation, 1);
	m->computations[0] =
		(struct hlo_computation){ .count = instructions, .root = -1, .loop = -1 };
	m->frames = arena_make(keep, struct hlo_frames, 1);
	module_finish(m, keep, &ignored);
	return m;
}
