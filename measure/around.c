/* The neighbourhoods of ops.  See plots.h. */
#include "measure/plots.h"

#include "base/text.h"
#include "hlo/around.h"
#include "measure/writers.h"

struct str around_role_name(enum around_role r)
{
	return word_at(AROUND_WORDS, r);
}

/* A program whose instruction of that name has that scope, else the first that has the name: the
 * main program, then in order of their ids. */
static const struct program *program_with(
	const struct run *run, struct str name, struct str scope, ptrdiff_t *instruction)
{
	const struct program *const *ranked = registry_programs_ranked(run->registry);
	const struct program *named = NULL;

	for (ptrdiff_t i = -1; i < registry_program_count(run->registry); i++) {
		const struct program *p = i < 0 ? run->main : ranked[i];
		ptrdiff_t at = p && p->has_hlo ? hlo_find_exact(program_hlo(p), name) : -1;
		if (at < 0)
			continue;
		bool fits = str_eq(program_hlo(p)->instructions[at].op_name, scope);
		if (fits || !named) {
			named = p;
			*instruction = at;
		}
		if (fits)
			break;
	}
	return named;
}

bool around_find(const struct run *run, struct str name, struct str scope, struct around *ret)
{
	ptrdiff_t instruction = -1;
	const struct program *p = program_with(run, name, scope, &instruction);
	struct hlo_neighbours self = { .count = 1 };
	struct hlo_around around;

	if (!p)
		return false;
	const struct hlo_module *hlo = program_hlo(p);
	hlo_around(hlo, instruction, *run->keep, &around);
	self.items[0] = instruction;
	const struct hlo_neighbours *sides[AROUND_ROLES] = { &around.takes, &self, &around.holds,
		&around.gives };
	*ret = (struct around){ .takes_left_out = (double)around.takes.left_out,
		.holds_left_out = (double)around.holds.left_out,
		.gives_left_out = (double)around.gives.left_out };
	ret->ops.items = arena_make(run->keep, struct neighbour, 3 * HLO_MAX_AROUND + 1);
	for (int role = 0; role < AROUND_ROLES; role++)
		for (ptrdiff_t k = 0; k < sides[role]->count; k++) {
			const struct hlo_instruction *i = &hlo->instructions[sides[role]->items[k]];
			ret->ops.items[ret->ops.count++] = (struct neighbour){
				.role = (enum around_role)role,
				.name = text_clean(run->keep, i->name),
				.opcode = text_clean(run->keep, i->opcode),
				.shape = text_clean(
					run->keep, shape_text(&i->shape, true, run->keep)),
				.bytes = (double)shape_padded_bytes(&i->shape),
			};
		}
	return true;
}
