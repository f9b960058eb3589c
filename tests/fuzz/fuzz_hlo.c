/*
 * Any bytes as an HLO module and as the text of a shape: whatever parses is costed, classified,
 * replayed and printed, and what is printed must read back as the same shape.
 */
#define FUZZ_ARENA_BYTES FUZZ_SMALL
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/memory.h"
#include "tests/fuzz/fuzz.h"

enum { FRAMES = 16, SPACES = 7 };

static struct diag err;

static void same_shape(const struct shape *a, const struct shape *b)
{
	require(a->dtype == b->dtype && a->leaves == b->leaves);
	require(shape_elements(a) == shape_elements(b));
	require(shape_logical_bytes(a) == shape_logical_bytes(b));
	require(shape_padded_bytes(a) == shape_padded_bytes(b));
}

/* Text has no word for types unknown here, and memory spaces are not negative in it. */
static bool has_text(const struct shape *s)
{
	for (ptrdiff_t i = 0; i < s->leaves; i++) {
		const struct shape *leaf = shape_leaf(s, i);
		if (leaf->dtype == DTYPE_INVALID || leaf->memory_space < 0)
			return false;
	}
	return s->dtype != DTYPE_INVALID; /* an instruction without shape has no leaves either */
}

static bool has_odd_buffer(const struct shape *s)
{
	bool odd = s->dtype == DTYPE_BUFFER && s->element_count != 1;
	for (ptrdiff_t i = 0; i < s->element_count && !odd; i++)
		odd = has_odd_buffer(&s->elements[i]);
	return odd;
}

static void print_shape(const struct shape *s, struct arena scratch)
{
	struct shape back;
	struct str rest, text = shape_text(s, true, &scratch);
	require(!shape_leaf(s, s->leaves) && !shape_leaf(s, -1));
	if (!has_text(s) || has_odd_buffer(s))
		return;
	require(shape_parse(text, &scratch, &back, &rest, &err) && !rest.len);
	same_shape(s, &back);
	require(str_eq(text, shape_text(&back, true, &scratch)));
}

static void look_up(const struct hlo_module *m, const struct hlo_instruction *i)
{
	struct hlo_source stack[FRAMES];
	require(hlo_stack(m, i, stack, FRAMES) <= FRAMES);
	ptrdiff_t found = hlo_find_exact(m, i->name);
	require(found < m->instruction_count);
	if (found >= 0)
		require(str_eq(m->instructions[found].name, i->name));
	require(hlo_find(m, i->name) < m->instruction_count);
}

static void classify(const struct hlo_module *m, ptrdiff_t i, struct arena scratch)
{
	struct hlo_collective c;
	require((unsigned)hlo_kind(m, i) < KIND_COUNT);
	require(hlo_async_start(m, i) < m->instruction_count);
	require(hlo_trip_count(m, i) >= 0);
	require(hlo_unwrap(m, i) >= 0 && hlo_unwrap(m, i) < m->instruction_count);
	if (hlo_collective(m, i, &scratch, &c))
		require(op_kind_is_collective(c.kind) && c.message_bytes >= 0 &&
			c.wire_bytes >= 0 && c.group_size >= 0 && c.groups >= 0);
}

static void check_links(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = &m->computations[i->computation];
	for (ptrdiff_t k = 0; k < i->operand_count; k++)
		require(i->operands[k] == -1 ||
			(i->operands[k] >= c->first && i->operands[k] < c->first + c->count));
	for (ptrdiff_t k = 0; k < i->called_count; k++)
		require(i->called[k] >= -1 && i->called[k] < m->computation_count);
}

static void cost_all(const struct hlo_module *m, struct arena scratch)
{
	for (int platform = HLO_TPU; platform <= HLO_CPU; platform++) {
		struct hlo_costs *costs = hlo_costs_new(m, (enum hlo_platform)platform, &scratch);
		for (ptrdiff_t i = 0; i < m->instruction_count; i++) {
			struct hlo_cost c = hlo_cost(costs, i);
			if (c.flops_bound != COST_UNKNOWN)
				require(c.flops >= 0 && c.matmul_flops >= 0);
			require(c.hbm_bytes >= 0 && c.host_bytes >= 0);
		}
	}
}

static void memory_all(const struct hlo_module *m, struct arena scratch)
{
	for (int64_t space = 0; space < SPACES; space++) {
		struct hlo_memory memory;
		if (!hlo_memory(m, space, &scratch, &memory, &err))
			continue;
		require(memory.peak_bytes >= 0 && memory.live_count <= HLO_MAX_LIVE);
		for (ptrdiff_t i = 1; i < memory.live_count; i++)
			require(memory.live[i - 1].bytes >= memory.live[i].bytes);
	}
}

static void module(struct str s, struct arena scratch)
{
	const struct hlo_module *m = hlo_module_parse(s, s, &scratch, &err);
	if (!m) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	for (ptrdiff_t i = 0; i < m->instruction_count; i++) {
		check_links(m, &m->instructions[i]);
		look_up(m, &m->instructions[i]);
		classify(m, i, scratch);
		print_shape(&m->instructions[i].shape, scratch);
	}
	cost_all(m, scratch);
	memory_all(m, scratch);
}

static void text(struct str s, struct arena scratch)
{
	struct shape shape;
	struct str rest;
	if (shape_parse(s, &scratch, &shape, &rest, &err))
		print_shape(&shape, scratch);
	else
		require(err.text[0]);
}

static void fuzz(struct str bytes, struct arena *keep)
{
	text(bytes, *keep);
	module(bytes, *keep);
}
