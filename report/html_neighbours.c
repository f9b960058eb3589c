/* The neighbourhood of a finding's op, as lists of a page. */
#include <math.h>

#include "base/text.h"
#include "report/html.h"
#include "report/prose.h"

enum { SHAPE_COLUMNS = 72, NAME_COLUMNS = 56 };

static const char *const labels[AROUND_ROLES] = {
	[AROUND_TAKES] = "Takes",
	[AROUND_SELF] = "This op",
	[AROUND_HOLDS] = "Holds",
	[AROUND_GIVES] = "Gives to",
};

struct template_list html_around(const struct report_finding *f, struct arena *keep)
{
	const struct report_around *a = &f->around;
	const double left[] = { [AROUND_TAKES] = a->takes_left_out,
		[AROUND_HOLDS] = a->holds_left_out,
		[AROUND_GIVES] = a->gives_left_out };
	struct html_side *sides = arena_make(keep, struct html_side, AROUND_ROLES);
	ptrdiff_t count = 0;
	for (int role = 0; role < AROUND_ROLES; role++) {
		struct html_neighbour *ops = arena_make(keep, struct html_neighbour, a->ops.count);
		ptrdiff_t found = 0;
		for (ptrdiff_t i = 0; i < a->ops.count; i++) {
			const struct neighbour *n = &a->ops.items[i];
			if ((int)n->role != role)
				continue;
			ops[found++] = (struct html_neighbour){
				.name = html_clip(n->name, NAME_COLUMNS, keep),
				.opcode = n->opcode,
				.shape = html_clip(n->shape, SHAPE_COLUMNS, keep),
				.bytes = n->bytes > 0 ? bytes_text(keep, n->bytes) : MISSING,
			};
		}
		if (!found)
			continue;
		struct html_side *side = &sides[count++];
		*side = (struct html_side){ .role = around_role_name((enum around_role)role),
			.label = str_from(labels[role]),
			.ops = LIST(ops, found) };
		if (left[role] > 0)
			side->more =
				arena_fmt(keep, "and %.0f more, of smaller results", left[role]);
	}
	return LIST(sides, count);
}
