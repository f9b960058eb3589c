/* rooflint tables: what every table and column means. */
#include "base/text.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "measure/tables.h"

enum { WORDS_MAX = 64 };

struct str column_unit(const struct column *c)
{
	if (c->type == COLUMN_TEXT)
		return STR("text");
	return c->unit == UNIT_NONE ? STR("number") : str_from(unit_name(c->unit));
}

/* What it means, and its words: "a, b or c". */
static struct str meaning_of(const struct column *c, struct arena *keep)
{
	struct str words[WORDS_MAX];
	ptrdiff_t count = c->words ? text_words(str_from(c->words), words, WORDS_MAX) : 0;
	return count ? arena_fmt(keep, "%.*s: %.*s", STR_ARG(c->meaning),
			       STR_ARG(words_joined(keep, words, count, " or ")))
		     : c->meaning;
}

static void put_text(const struct table_def *def, struct context *c)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = 2, .wrap = TEXT_WIDTH };
	out_fmt(c->out, "%.*s: %.*s\n", STR_ARG(def->name), STR_ARG(def->meaning));
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		grid_row(&g, def->columns[i].name, column_unit(&def->columns[i]),
			meaning_of(&def->columns[i], c->keep));
	grid_print(&g, c->out);
}

static enum status tables_run(struct context *c, const void *settings, const struct list *args)
{
	const struct table_def *first = table_defs, *end = table_defs + TABLE_COUNT;
	struct list names = { 0 };
	(void)settings;
	if (args->count) {
		first = table_find(args->items[0]);
		NAMES(&names, c->keep, table_defs, TABLE_COUNT);
		if (!first)
			return misuse("no table is called '%.*s'%.*s (rooflint tables)",
				STR_ARG(args->items[0]),
				STR_ARG(did_you_mean(
					c->keep, args->items[0], names.items, names.count)));
		end = first + 1;
	}
	for (const struct table_def *def = first; def < end; def++) {
		out_z(c->out, def == first ? "" : "\n");
		put_text(def, c);
	}
	return STATUS_OK;
}

const struct command tables_command = {
	.name = "tables",
	.arguments = "[NAME]",
	.summary = "every table and column, with unit and meaning",
	.details = "Rules and `rooflint query` read these tables. With a NAME, that one only.",
	.options = no_options,
	.most = 1,
	.run = tables_run,
};
