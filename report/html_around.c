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

static struct html_neighbour neighbour_of(const struct neighbour *n, struct arena *keep)
{
	struct html_neighbour ret = { .name = html_clip(n->name, NAME_COLUMNS, keep),
		.opcode = n->opcode,
		.shape = html_clip(n->shape, SHAPE_COLUMNS, keep) };
	if (n->bytes > 0)
		ret.bytes = bytes_text(keep, n->bytes);
	return ret;
}

static struct html_side side_of(
	const struct report_finding *f, enum around_role role, struct arena *keep)
{
	struct html_side ret = { .role = around_role_name(role), .label = str_from(labels[role]) };
	struct html_neighbour *items = arena_make(keep, struct html_neighbour, f->around_count);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < f->around_count; i++)
		if (f->around[i].role == role)
			items[count++] = neighbour_of(&f->around[i], keep);
	ret.ops = LIST(items, count);
	if (f->around_left[role] > 0)
		ret.more =
			arena_fmt(keep, "and %.0f more, of smaller results", f->around_left[role]);
	return ret;
}

struct template_list html_around(const struct report_finding *f, struct arena *keep)
{
	struct html_side *sides = arena_make(keep, struct html_side, AROUND_ROLES);
	ptrdiff_t count = 0;
	for (int role = 0; role < AROUND_ROLES && f->around_count; role++) {
		sides[count] = side_of(f, (enum around_role)role, keep);
		count += sides[count].ops.count > 0;
	}
	return LIST(sides, count);
}
