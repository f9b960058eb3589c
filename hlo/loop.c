/*
 * Trip counts of while loops.
 *
 * GPU and CPU programs carry known_trip_count in the loop's backend config.  TPU programs do not;
 * there a counted loop is recognised by its parts: the condition compares element k of the state
 * with a constant, the body adds a constant to it, the initial state has a constant there.
 *
 * And with them, how often every computation runs.
 */
#include "hlo/walk.h"
#include "hlo/work.h"

static int64_t written_down(const struct hlo_instruction *loop)
{
	struct str rest = loop->backend_config, key = STR("\"known_trip_count\":{\"n\":\"");
	ptrdiff_t at = str_find(rest, key);
	int64_t n;
	if (at < 0)
		return 0;
	rest = str_from_offset(rest, at + key.len);
	return str_to_i64(str_head(rest, str_find_char(rest, '"')), &n) && n > 0 ? n : 0;
}

static const struct hlo_instruction *value_of(
	const struct hlo_module *m, const struct hlo_instruction *i)
{
	ptrdiff_t at = i ? hlo_walk(m, i - m->instructions, THROUGH_BITCASTS | THROUGH_COPIES) : -1;
	return at >= 0 ? &m->instructions[at] : NULL;
}

/* NULL when it is none whose value is known. */
static const struct hlo_instruction *constant_of(
	const struct hlo_module *m, const struct hlo_instruction *i)
{
	i = value_of(m, i);
	return i && i->op == HLO_CONSTANT && !i->shape.rank && i->has_value ? i : NULL;
}

/* The element of the loop's state that an instruction hands on; -1 if it does anything else. */
static int64_t state_index(const struct hlo_module *m, const struct hlo_instruction *i)
{
	i = value_of(m, i);
	const struct hlo_instruction *from = i ? operand_at(m, i, 0) : NULL;
	if (!from || i->op != HLO_GET_TUPLE_ELEMENT || from->op != HLO_PARAMETER)
		return -1;
	return i->tuple_index;
}

static const struct hlo_instruction *root_of(
	const struct hlo_module *m, const struct hlo_instruction *loop, ptrdiff_t callee)
{
	const struct hlo_computation *c = called_at(m, loop, callee);
	return c && c->root >= 0 ? &m->instructions[c->root] : NULL;
}

static const struct hlo_instruction *element(
	const struct hlo_module *m, const struct hlo_instruction *tuple, int64_t index)
{
	ptrdiff_t at = tuple ? hlo_tuple_element(m, tuple - m->instructions, index) : -1;
	return at >= 0 ? &m->instructions[at] : NULL;
}

/* What the body adds to element `index`. */
static const struct hlo_instruction *step_of(
	const struct hlo_module *m, const struct hlo_instruction *body, int64_t index)
{
	const struct hlo_instruction *next = value_of(m, element(m, body, index));
	if (!next || next->op != HLO_ADD)
		return NULL;
	const struct hlo_instruction *a = operand_at(m, next, 0), *b = operand_at(m, next, 1);
	if (a && state_index(m, a) == index)
		return constant_of(m, b);
	return b && state_index(m, b) == index ? constant_of(m, a) : NULL;
}

/* Callees are the body and the condition. */
static int64_t counted(const struct hlo_module *m, const struct hlo_instruction *loop)
{
	const struct hlo_instruction *condition = root_of(m, loop, 1);
	if (!condition || condition->op != HLO_COMPARE || !str_eq(condition->direction, STR("LT")))
		return 0;
	const struct hlo_instruction *counter = operand_at(m, condition, 0);
	int64_t index = counter ? state_index(m, counter) : -1;
	const struct hlo_instruction *end = constant_of(m, operand_at(m, condition, 1)),
				     *begin = constant_of(
					     m, element(m, operand_at(m, loop, 0), index)),
				     *step = step_of(m, root_of(m, loop, 0), index);
	int64_t way;
	if (!end || !begin || !step || step->value <= 0 ||
		__builtin_sub_overflow(end->value, begin->value, &way) || way <= 0)
		return 0;
	return ceil_div(way, step->value);
}

int64_t hlo_trip_count(const struct hlo_module *m, ptrdiff_t instruction)
{
	const struct hlo_instruction *loop = &m->instructions[instruction];
	if (loop->op != HLO_WHILE)
		return 0;
	int64_t n = written_down(loop);
	return n ? n : counted(m, loop);
}

/* In a step: at a nanosecond each, a quarter of an hour.  A program that says more is damaged. */
#define RUNS_MAX 1e12

static void run_callees(const struct hlo_module *m, const struct hlo_instruction *i, double runs,
	double *ret, int64_t *unknown)
{
	if (i->op != HLO_WHILE && i->op != HLO_CALL && i->op != HLO_CONDITIONAL)
		return;
	if (i->op == HLO_WHILE) {
		int64_t trips = hlo_trip_count(m, i - m->instructions);
		*unknown += !trips;
		runs *= trips ? (double)trips : 1;
	}
	for (ptrdiff_t k = 0; k < i->called_count; k++)
		if (i->called[k] >= 0)
			if ((ret[i->called[k]] += runs) > RUNS_MAX) {
				ret[i->called[k]] = RUNS_MAX;
				++*unknown;
			}
}

/* Callers are less deep than what they call, so a level is complete when its turn comes. */
double *hlo_runs(const struct hlo_module *m, struct arena *keep, int64_t *unknown)
{
	double *ret = arena_make(keep, double, m->computation_count);
	*unknown = 0;
	if (m->entry >= 0)
		ret[m->entry] = 1;
	for (int depth = 0; depth <= HLO_MAX_CALL_DEPTH; depth++)
		for (ptrdiff_t k = 0; k < m->computation_count; k++) {
			const struct hlo_computation *c = &m->computations[k];
			if (c->depth != depth || !(ret[k] > 0))
				continue;
			for (ptrdiff_t i = c->first; i < c->first + c->count; i++)
				run_callees(m, &m->instructions[i], ret[k], ret, unknown);
		}
	return ret;
}
