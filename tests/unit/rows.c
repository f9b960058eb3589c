#include "tests/unit/rows.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

static void *row_for(struct tables *tables, struct arena *keep, const struct table_def *def)
{
	enum table_id id = (enum table_id)(def - table_defs);

	if (id == TABLE_run && table_count(tables, run))
		return tables->items[id].rows;
	return table_add(tables, id, keep);
}

static void set_cell(struct arena *keep, const struct table_def *def, void *row, struct str name,
	struct str value)
{
	const struct column *c = table_column(def, name);
	double number = NAN;

	if (!c)
		fail_msg("no column %s", arena_z(keep, name));
	if (c->type == COLUMN_TEXT) {
		cell_set_text(c, row, arena_str(keep, value));
		return;
	}
	if (!str_eq(value, STR("null")) && !str_to_double(value, &number))
		fail_msg("no number: %s", arena_z(keep, value));
	cell_set_real(c, row, number);
}

static void add_row(struct tables *tables, struct arena *keep, struct str line)
{
	struct str word, name, value;

	str_cut(line, ' ', &word, &line);
	const struct table_def *def = table_find(word);
	if (!def)
		fail_msg("no table %s", arena_z(keep, word));
	void *row = row_for(tables, keep, def);
	while (line.p) {
		str_cut(line, ' ', &word, &line);
		if (str_cut(word, '=', &name, &value))
			set_cell(keep, def, row, name, value);
	}
}

void rows_tell(struct tables *tables, struct arena *keep, const char *lines)
{
	struct str rest = str_from(lines), line;

	while (rest.p) {
		str_cut(rest, '\n', &line, &rest);
		if (line.len)
			add_row(tables, keep, line);
	}
}
