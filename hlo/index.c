/* Instructions by the names that profiles and people give them. */
#include <stdio.h>

#include "hlo/internal.h"

_Static_assert(MAP_NONE == -1, "what is not found is -1 here, too");

/* Names are unique in a module; of twins, the first is found. */
void index_names(struct hlo_module *m, struct arena *keep)
{
	m->names = map_with_room(m->instruction_count, keep);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		if (m->instructions[i].name.len)
			map_put(&m->names, m->instructions[i].name, (int32_t)i, keep);
}

ptrdiff_t hlo_find_exact(const struct hlo_module *m, struct str name)
{
	return name.len ? map_get(&m->names, name) : -1;
}

/* Longest name that is looked for in another spelling: XLA's own are below 100 bytes. */
enum { NAME_BYTES = 512 };

/* "<base>-start<suffix>" */
static ptrdiff_t find_start(const struct hlo_module *m, struct str base, struct str suffix)
{
	char text[NAME_BYTES];
	int len = snprintf(text, NAME_BYTES, "%.*s-start%.*s", STR_ARG(base), STR_ARG(suffix));
	return base.len && len < NAME_BYTES ? map_get(&m->names, (struct str){ text, len }) : -1;
}

struct str hlo_unnumbered(struct str name)
{
	ptrdiff_t dot = str_rfind_char(name, '.');
	uint64_t number;
	if (dot > 0 && str_to_u64(str_from_offset(name, dot + 1), &number))
		return str_head(name, dot);
	return name;
}

static struct str last_part(struct str path)
{
	ptrdiff_t colon = str_rfind_char(path, ':');
	if (colon > 0 && path.p[colon - 1] == ':')
		return str_from_offset(path, colon + 1);
	return path;
}

ptrdiff_t hlo_find(const struct hlo_module *m, struct str name)
{
	name = last_part(name);
	str_take(&name, STR("%"));
	struct str base = hlo_unnumbered(name), number = str_from_offset(name, base.len);
	ptrdiff_t found = hlo_find_exact(m, name);
	if (found < 0 && number.len)
		found = hlo_find_exact(m, base);
	if (found < 0)
		found = find_start(m, name, STR(""));
	if (found < 0 && number.len)
		found = find_start(m, base, number);
	if (found < 0 && number.len)
		found = find_start(m, base, STR(""));
	return found;
}
