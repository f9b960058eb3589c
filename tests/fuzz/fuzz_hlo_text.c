/*
 * Any bytes as the text of a module and of an instruction: whatever parses keeps the promises of
 * hlo/module.h and can be costed, classified and run through.
 */
#define FUZZ_ARENA_BYTES FUZZ_SMALL
#include "hlo/collective.h"
#include "hlo/cost.h"
#include "hlo/text.h"
#include "tests/fuzz/fuzz.h"

static struct diag err;

static void check_links(const struct hlo_module *m, const struct hlo_instruction *i)
{
	const struct hlo_computation *c = &m->computations[i->computation];
	for (ptrdiff_t k = 0; k < i->operand_count; k++)
		require(i->operands[k] == -1 ||
			(i->operands[k] >= c->first && i->operands[k] < c->first + c->count));
	for (ptrdiff_t k = 0; k < i->called_count; k++)
		require(i->called[k] >= -1 && i->called[k] < m->computation_count);
	require(i->feature_group_count > 0 && i->batch_group_count > 0 && i->channel_id >= 0);
}

static void classify(const struct hlo_module *m, ptrdiff_t i, struct arena scratch)
{
	struct hlo_collective c;
	struct hlo_product p;
	require((unsigned)hlo_kind(m, i) < KIND_COUNT);
	require(hlo_unwrap(m, i) >= 0 && hlo_unwrap(m, i) < m->instruction_count);
	if (hlo_collective(m, i, &scratch, &c))
		require(c.message_bytes >= 0 && c.group_size >= 0 && c.groups >= 0);
	hlo_product(m, i, scratch, &p);
	shape_text(&m->instructions[i].shape, true, &scratch);
}

static void check(const struct hlo_module *m, struct arena scratch)
{
	int64_t unknown;
	if (!m) {
		require(err.text[0] && err.id != DIAG_NONE);
		return;
	}
	const double *runs = hlo_runs(m, &scratch, &unknown);
	require(m->entry >= 0 && m->entry < m->computation_count && runs[m->entry] >= 1);
	struct hlo_costs *costs = hlo_costs_new(m, HLO_TPU, &scratch);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++) {
		check_links(m, &m->instructions[i]);
		classify(m, i, scratch);
		require(hlo_cost(costs, i).hbm_bytes >= 0);
	}
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct arena first = *keep, second = *keep;
	check(hlo_text_parse(STR("fuzz"), bytes, &first, &err), first);
	check(hlo_text_instruction(STR("fuzz"), bytes, &second, &err), second);
}
