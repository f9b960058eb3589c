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

struct module_proto {
	struct str name, frames;
	int64_t entry_id, replica_count, partition_count;
	struct read_strs computations, payloads;
	struct hlo_alias *aliases;
	ptrdiff_t alias_count;
};

static const struct read_rule alias_table_rules[] = {
	[2] = READ_FIELD(INT, struct hlo_alias, parameter_number),
};
READ_TABLE(alias_table, "AliasEntryProto");

static bool read_alias(struct reader *r, const struct wire_field *f, void *into)
{
	struct module_proto *p = into;
	return read_message(
		r, &alias_table, f->bytes, READ_PUSH(r->keep, p->aliases, p->alias_count));
}

static const struct read_rule aliases_table_rules[] = {
	[1] = { .kind = READ_CALL, .read = read_alias },
};
READ_TABLE(aliases_table, "HloInputOutputAliasProto");

static const struct read_rule assignment_table_rules[] = {
	[1] = READ_FIELD(INT, struct module_proto, replica_count),
	[2] = READ_FIELD(INT, struct module_proto, partition_count),
};
READ_TABLE(assignment_table, "DeviceAssignmentProto");

static const struct read_rule module_table_rules[] = {
	[1] = READ_FIELD(STR, struct module_proto, name),
	[3] = READ_FIELD(STRS, struct module_proto, computations),
	[6] = READ_FIELD(INT, struct module_proto, entry_id),
	[8] = { .kind = READ_MESSAGE, .table = &aliases_table },
	[15] = { .kind = READ_MESSAGE, .table = &assignment_table },
	[17] = READ_FIELD(STR, struct module_proto, frames),
	[22] = READ_FIELD(STRS, struct module_proto, payloads),
};
READ_TABLE(module_table, "HloModuleProto");

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

/* What is needed between the passes; all of it dies with the parse. */
struct parse {
	struct reader *r;
	struct hlo_module *m;
	struct module_proto proto;
	struct computation_proto *heads;
};

static bool read_heads(struct parse *p)
{
	struct hlo_module *m = p->m;
	ptrdiff_t total = 0;
	for (ptrdiff_t i = 0; i < m->computation_count; i++) {
		struct computation_proto *head = &p->heads[i];
		head->bytes = p->proto.computations.items[i];
		if (!read_message(p->r, &computation_table, head->bytes, head))
			return false;
		total += head->instructions;
	}
	if (total > HLO_MAX_INSTRUCTIONS || m->computation_count > HLO_MAX_INSTRUCTIONS)
		return diag_set(p->r->err, DIAG_LIMIT,
			"the HLO module has %td instructions, more than the %d that are read",
			total, HLO_MAX_INSTRUCTIONS);
	m->instructions = arena_make(p->r->keep, struct hlo_instruction, total);
	return true;
}

static void take_payload(const struct parse *p, struct hlo_instruction *i)
{
	/* payloads counts from 0, as XLA's hlo_proto_util reads it; backend_payload from 1. */
	if (!i->backend_config.len && i->backend_payload > 0 &&
		i->backend_payload <= p->proto.payloads.count)
		i->backend_config = p->proto.payloads.items[i->backend_payload - 1];
}

static bool read_instructions(struct parse *p, ptrdiff_t computation)
{
	struct hlo_module *m = p->m;
	struct wire w = wire_open(p->heads[computation].bytes);
	struct wire_field f;
	if (!p->heads[computation].bytes.len)
		return true;
	while (wire_next(&w, &f)) {
		if (f.number != 2 || f.type != WIRE_LEN)
			continue;
		struct hlo_instruction *i = &m->instructions[m->instruction_count++];
		i->computation = computation;
		if (!read_instruction(p->r, f.bytes, i))
			return false;
		take_payload(p, i);
		if (i->stack_frame && !i->source.file.len)
			i->source = frames_source(m->frames, i->stack_frame);
	}
	return true;
}

static bool read_computations(struct parse *p)
{
	struct hlo_module *m = p->m;
	for (ptrdiff_t i = 0; i < m->computation_count; i++) {
		const struct computation_proto *head = &p->heads[i];
		m->computations[i] = (struct hlo_computation){ .name = head->name,
			.id = head->id,
			.first = m->instruction_count,
			.count = head->instructions,
			.root = -1 };
		if (!read_instructions(p, i))
			return diag_context(p->r->err, "computation %.*s", STR_ARG(head->name));
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
 * Ids are (computation << 32 | local) in new files and small in old ones; in either an operand
 * may be named by its local half alone.
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
	ptrdiff_t root = find_id(&s, root_id);
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

/* Callers before callees; `waiting` counts the calls that lead to a computation. */
struct order {
	struct hlo_module *m;
	ptrdiff_t *waiting, *queue;
	ptrdiff_t queued;
};

static void count_calls(struct order *o)
{
	struct hlo_module *m = o->m;
	for (ptrdiff_t i = 0; i < m->computation_count; i++)
		m->computations[i].loop = -1;
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		for (ptrdiff_t k = 0; k < m->instructions[i].called_count; k++)
			if (m->instructions[i].called[k] >= 0)
				o->waiting[m->instructions[i].called[k]]++;
	for (ptrdiff_t i = 0; i < m->computation_count; i++)
		if (!o->waiting[i])
			o->queue[o->queued++] = i;
}

static void visit_call(struct order *o, const struct hlo_computation *caller,
	const struct hlo_instruction *i, ptrdiff_t callee)
{
	struct hlo_computation *c = &o->m->computations[callee];
	if (c->depth <= caller->depth)
		c->depth = caller->depth + 1;
	c->in_loop |= caller->in_loop || i->op == HLO_WHILE;
	if (i->op == HLO_WHILE && callee == i->called[0])
		c->loop = i - o->m->instructions;
	if (!--o->waiting[callee])
		o->queue[o->queued++] = callee;
}

static void visit_computation(struct order *o, const struct hlo_computation *c)
{
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++) {
		const struct hlo_instruction *caller = &o->m->instructions[i];
		for (ptrdiff_t k = 0; k < caller->called_count; k++)
			if (caller->called[k] >= 0)
				visit_call(o, c, caller, caller->called[k]);
	}
}

/* Computations that call each other in a ring never come to the queue. */
static bool order_calls(struct order *o, struct diag *err)
{
	struct hlo_module *m = o->m;
	count_calls(o);
	for (ptrdiff_t next = 0; next < o->queued; next++) {
		const struct hlo_computation *c = &m->computations[o->queue[next]];
		if (c->depth >= HLO_MAX_CALL_DEPTH)
			return diag_set(err, DIAG_LIMIT,
				"computations call each other more than %d deep",
				HLO_MAX_CALL_DEPTH);
		visit_computation(o, c);
	}
	return o->queued == m->computation_count ||
	       diag_set(err, DIAG_HLO, "computations call each other in a ring");
}

static void reverse(ptrdiff_t *items, ptrdiff_t count)
{
	for (ptrdiff_t i = 0; i < count / 2; i++) {
		ptrdiff_t last = items[count - 1 - i];
		items[count - 1 - i] = items[i];
		items[i] = last;
	}
}

bool module_finish(struct hlo_module *m, struct arena *keep, struct diag *err)
{
	index_names(m, keep);
	struct order o = { .m = m };
	o.waiting = arena_make(keep, ptrdiff_t, m->computation_count);
	o.queue = arena_make(keep, ptrdiff_t, m->computation_count);
	if (!order_calls(&o, err))
		return false;
	reverse(o.queue, o.queued);
	inside_gather(m, o.queue, keep);
	slices_note(m);
	return true;
}

static bool resolve(struct parse *p)
{
	struct hlo_module *m = p->m;
	struct arena *keep = p->r->keep;
	for (ptrdiff_t i = 0; i < m->computation_count; i++)
		if (!resolve_operands(
			    m, &m->computations[i], p->heads[i].root_id, *keep, p->r->err))
			return diag_context(
				p->r->err, "computation %.*s", STR_ARG(m->computations[i].name));
	resolve_called(m, p->proto.entry_id, *keep);
	return module_finish(m, keep, p->r->err);
}

static bool read_module(struct parse *p, struct str bytes)
{
	struct hlo_module *m = p->m;
	if (!read_message(p->r, &module_table, bytes, &p->proto))
		return false;
	m->name = p->proto.name;
	m->replica_count = p->proto.replica_count;
	m->partition_count = p->proto.partition_count;
	m->aliases = p->proto.aliases;
	m->alias_count = p->proto.alias_count;
	m->computation_count = p->proto.computations.count;
	if (!m->computation_count)
		return diag_set(p->r->err, DIAG_HLO, "the bytes hold no HLO computation");
	m->frames = frames_parse(p->r, p->proto.frames);
	if (!m->frames)
		return false;
	m->computations = arena_make(p->r->keep, struct hlo_computation, m->computation_count);
	p->heads = arena_make(p->r->keep, struct computation_proto, m->computation_count);
	return read_heads(p) && read_computations(p) && resolve(p);
}

struct hlo_module *hlo_module_parse(
	struct str proto, struct str whole, struct arena *keep, struct diag *err)
{
	struct reader r = { .keep = keep, .whole = whole, .err = err };
	struct wrapper w = { .module = proto };
	r.cache = arena_make(keep, struct shape_cache, 1);
	if (is_wrapped(proto) && !read_message(&r, &wrapper_table, proto, &w))
		return NULL;
	struct parse p = { .r = &r, .m = arena_make(keep, struct hlo_module, 1) };
	p.m->buffer_assignment = w.buffer_assignment;
	if (read_module(&p, w.module))
		return p.m;
	diag_context(err, "HLO module %.*s", STR_ARG(p.m->name));
	return NULL;
}
