/* The order in which a program's instructions run.  See module.h. */
#include "base/wire.h"
#include "hlo/module.h"

/* HloScheduleProto: sequences = 1, a map from a computation's id to {instruction_ids = 1}. */
enum { SCHEDULE_SEQUENCES = 1, SEQUENCE_COMPUTATION = 1, SEQUENCE_IDS = 2, IDS = 1 };

struct ordering {
	const struct hlo_module *m;
	struct str *sequences; /* by computation: ids in order; missing: as they stand */
	bool *done;	       /* by computation */
	ptrdiff_t *items, count;
	struct arena *scratch;
};

static void sequences_read(struct ordering *o)
{
	struct map ids = map_with_room(o->m->computation_count, o->scratch);
	struct wire schedule = wire_open(o->m->schedule), entry;
	struct wire_field f;

	for (ptrdiff_t i = 0; i < o->m->computation_count; i++)
		map_put_id(&ids, o->m->computations[i].id, (int32_t)i, o->scratch);
	while (o->m->schedule.len && wire_next(&schedule, &f)) {
		int32_t computation = MAP_NONE;
		struct str sequence = { 0 };
		if (f.number != SCHEDULE_SEQUENCES || f.type != WIRE_LEN)
			continue;
		entry = wire_open(f.bytes);
		while (wire_next(&entry, &f))
			if (f.number == SEQUENCE_COMPUTATION && f.type == WIRE_VARINT)
				computation = map_get_id(&ids, (int64_t)f.num);
			else if (f.number == SEQUENCE_IDS && f.type == WIRE_LEN)
				sequence = f.bytes;
		if (computation >= 0)
			o->sequences[computation] = sequence;
	}
}

/* What loops, calls and branches hold is run op by op. */
static bool runs_its_own(enum hlo_op op)
{
	return op == HLO_WHILE || op == HLO_CONDITIONAL || op == HLO_CALL;
}

static void order_computation(struct ordering *o, ptrdiff_t computation);

static void order_instruction(struct ordering *o, ptrdiff_t at)
{
	const struct hlo_instruction *i = &o->m->instructions[at];

	if (opcode_rule(i->op) == HLO_RULE_FREE || hlo_ends(i))
		return;
	if (i->op != HLO_CALL)
		o->items[o->count++] = at;
	for (ptrdiff_t k = runs_its_own(i->op) ? i->called_count : 0; k-- > 0;) {
		/* Of a loop the condition, which stands behind the body, comes first. */
		ptrdiff_t called = i->called[i->op == HLO_WHILE ? k : i->called_count - 1 - k];
		if (called >= 0)
			order_computation(o, called);
	}
}

/* Each once, however often it is called: no instruction stands twice.  Recursion is bounded by
 * HLO_MAX_CALL_DEPTH. */
static void order_computation(struct ordering *o, ptrdiff_t computation)
{
	const struct hlo_computation *c = &o->m->computations[computation];
	struct wire sequence = wire_open(o->sequences[computation]);
	struct map ids = { 0 };
	struct wire_field f;

	if (o->done[computation])
		return;
	o->done[computation] = true;
	if (!o->sequences[computation].len)
		for (ptrdiff_t i = c->first; i < c->first + c->count; i++)
			order_instruction(o, i);
	else
		ids = map_with_room(c->count, o->scratch);
	for (ptrdiff_t i = c->first; ids.slots && i < c->first + c->count; i++)
		map_put_id(&ids, o->m->instructions[i].id, (int32_t)(i - c->first), o->scratch);
	bool *met = arena_make(o->scratch, bool, c->count);
	while (ids.slots && wire_next(&sequence, &f)) {
		struct wire_list list = wire_list(&f);
		uint64_t id;
		while (f.number == IDS && wire_list_next(&list, &id)) {
			int32_t at = map_get_id(&ids, (int64_t)id);
			if (at >= 0 && !met[at])
				order_instruction(o, c->first + at);
			if (at >= 0)
				met[at] = true;
		}
	}
}

ptrdiff_t hlo_order(const struct hlo_module *m, struct arena *keep, ptrdiff_t **ret)
{
	struct arena scratch;
	struct ordering o = { .m = m, .items = arena_make(keep, ptrdiff_t, m->instruction_count) };

	scratch = *keep;
	o.scratch = &scratch;
	o.sequences = arena_make(&scratch, struct str, m->computation_count);
	o.done = arena_make(&scratch, bool, m->computation_count);
	sequences_read(&o);
	order_computation(&o, m->entry);
	*ret = o.items;
	return o.count;
}
