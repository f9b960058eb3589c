/*
 * rooflint tables: what every table and column means.
 *
 * docs/tables.md is this command's `--format markdown`.
 */
#include "base/text.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "measure/tables.h"

enum format { FORMAT_TEXT, FORMAT_MARKDOWN };

struct tables_settings {
	int format;
};

enum { WIDTH = 100, WORDS_MAX = 64 };

struct str column_unit(const struct column *c)
{
	if (c->type == COLUMN_TEXT)
		return STR("text");
	return c->unit == UNIT_NONE ? STR("number") : str_from(unit_name(c->unit));
}

/* What it means, and its words: "a, b or c", each between `quote`s. */
static struct str meaning_of(const struct column *c, const char *quote, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str rest = str_from(c->words), word;
	out_str(o, c->meaning);
	out_z(o, c->words ? ": " : "");
	for (bool more = c->words, first = true; more; first = false) {
		more = str_cut(rest, '|', &word, &rest);
		out_fmt(o, "%s%s%.*s%s",
			first  ? ""
			: more ? ", "
			       : " or ",
			quote, STR_ARG(word), quote);
	}
	return out_text(o);
}

static void put_text(const struct table_def *def, struct context *c)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = 2, .wrap = WIDTH };
	out_fmt(c->out, "%.*s: %.*s\n", STR_ARG(def->name), STR_ARG(def->meaning));
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		grid_row(&g, def->columns[i].name, column_unit(&def->columns[i]),
			meaning_of(&def->columns[i], "", c->keep));
	grid_print(&g, c->out);
}

static void put_markdown(const struct table_def *def, struct context *c)
{
	out_fmt(c->out, "## %.*s\n\n%.*s. A subject is named by its `%.*s`.\n\n",
		STR_ARG(def->name), STR_ARG(def->meaning), STR_ARG(def->key));
	out_z(c->out, "| column | unit | meaning |\n|---|---|---|\n");
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *column = &def->columns[i];
		out_fmt(c->out, "| `%.*s` | %.*s | ", STR_ARG(column->name),
			STR_ARG(column_unit(column)));
		struct str rest = meaning_of(column, "`", c->keep), head;
		for (bool more = true; more;) { /* a bar would end the cell */
			more = str_cut(rest, '|', &head, &rest);
			out_fmt(c->out, "%.*s%s", STR_ARG(head), more ? "\\|" : "");
		}
		out_z(c->out, " |\n");
	}
}

static enum status tables_run(struct context *c, const void *settings, const struct list *args)
{
	const struct tables_settings *s = settings;
	const struct table_def *first = table_defs, *end = table_defs + TABLE_COUNT;
	struct list names = { 0 };
	void (*put)(const struct table_def *, struct context *) =
		s->format == FORMAT_MARKDOWN ? put_markdown : put_text;
	if (args->count) {
		first = table_find(args->items[0]);
		NAMES(&names, c->keep, table_defs, TABLE_COUNT);
		if (!first)
			return misuse("no table is called '%.*s'%.*s (rooflint tables)",
				STR_ARG(args->items[0]),
				STR_ARG(did_you_mean(
					c->keep, args->items[0], names.items, names.count)));
		end = first + 1;
	} else if (s->format == FORMAT_MARKDOWN) {
		out_z(c->out,
			"# Tables\n"
			"\n"
			"What rules, reports and `rooflint query` read; version " TABLES_VERSION
			".\n"
			"This page is made by `rooflint tables --format markdown`.\n"
			"\n"
			"Everything is in base units: seconds, bytes, FLOPs, shares (ratio) from 0 "
			"to 1. NULL\n"
			"means unknown, which is neither zero nor empty.\n"
			"\n");
	}
	for (const struct table_def *def = first; def < end; def++) {
		out_z(c->out, def == first ? "" : "\n");
		put(def, c);
	}
	return STATUS_OK;
}

static const struct option tables_options[] = {
	{ "format", 0, OPTION_WORD, offsetof(struct tables_settings, format), "text|markdown",
		"for a terminal (default) or a page" },
	OPTIONS_END,
};

const struct command tables_command = {
	.name = "tables",
	.arguments = "[NAME]",
	.summary = "every table and column, with unit and meaning",
	.details = "Rules and `rooflint query` read these tables. With a NAME, that one only.",
	.options = tables_options,
	.most = 1,
	.settings_bytes = sizeof(struct tables_settings),
	.run = tables_run,
};
