/* Collectives between slices.  See slices.h. */
#include "hlo/slices.h"

#include "hlo/scan.h"

static const struct {
	struct str type;
	enum op_kind kind;
} kinds[] = {
	{ STR_INIT("ALL_GATHER"), KIND_ALL_GATHER },
	{ STR_INIT("ALL_REDUCE"), KIND_ALL_REDUCE },
	{ STR_INIT("ALL_TO_ALL"), KIND_ALL_TO_ALL },
	{ STR_INIT("ONE_TO_ONE"), KIND_PERMUTE },
	{ STR_INIT("REDUCE_SCATTER"), KIND_REDUCE_SCATTER },
};

enum op_kind transfer_kind(const struct hlo_instruction *i)
{
	for (ptrdiff_t k = 0; i->transfer && k < COUNT_OF(kinds); k++)
		if (str_eq(kinds[k].type, i->transfer->type))
			return kinds[k].kind;
	return KIND_UNKNOWN;
}

/* "a", "a:b" from a to b, or the pair "a->b": how many that is. */
static int64_t ids_at(struct scan *s)
{
	int64_t from, to;
	if (!scan_i64(s, &from))
		return 0;
	if (scan_take(s, STR("->")))
		return scan_i64(s, &to) ? 2 : 0;
	if (!scan_take(s, STR(":")))
		return 1;
	bool fits = scan_i64(s, &to) && from >= 0 && to >= from && to < HLO_MAX_GROUP;
	return fits ? to - from + 1 : 0;
}

/* "{1,4:6}"; 0 when that is not what is there. */
static int64_t ids_in(struct scan *s)
{
	int64_t count = 0;
	if (!scan_expect(s, STR("{"), "expected '{'"))
		return 0;
	while (scan_more(s) && count < HLO_MAX_GROUP) {
		int64_t ids = ids_at(s);
		if (!ids)
			return 0;
		count += ids;
	}
	return s->why ? 0 : count;
}

struct transfer_group transfer_group(const struct hlo_instruction *i)
{
	struct transfer_group g = { 0, 0 };
	struct scan s = { .text = i->transfer ? i->transfer->target : STR("") };
	if (!str_starts(s.text, STR("{{"))) {
		g.members = ids_in(&s);
		g.groups = scan_take(&s, STR("x")) ? ids_in(&s) : 0;
		return g;
	}
	scan_take(&s, STR("{"));
	while (scan_more(&s)) {
		int64_t members = ids_in(&s);
		g.members = members > g.members ? members : g.members;
		g.groups++;
	}
	if (transfer_kind(i) == KIND_PERMUTE)
		g.groups = 0; /* pairs form rings or chains of their own */
	return s.why ? (struct transfer_group){ 0, 0 } : g;
}

void slices_note(struct hlo_module *m)
{
	m->slices = 1;
	for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
		const struct hlo_instruction *i = &m->instructions[k];
		if (transfer_kind(i) == KIND_UNKNOWN)
			continue;
		struct transfer_group g = transfer_group(i);
		m->slices = g.members > m->slices ? g.members : m->slices;
		m->slice_devices = g.groups > m->slice_devices ? g.groups : m->slice_devices;
	}
}
