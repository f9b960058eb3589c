/*
 * Help texts, made from the commands' own tables.
 *
 * Wrapped at 80 columns whatever the terminal, so that the text is the same everywhere.
 */
#include <stdio.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/grid.h"

enum { HELP_INDENT = 2, OPTION_TEXT_MAX = 128 };

/* ---- finding commands ------------------------------------------------------------------------ */

const struct command *command_find(struct str name)
{
	for (ptrdiff_t i = 0; commands[i]; i++)
		if (str_eq(name, str_from(commands[i]->name)))
			return commands[i];
	return NULL;
}

bool command_unknown(struct str name, struct arena *keep, struct diag *err)
{
	struct list names = { 0 };
	for (ptrdiff_t i = 0; commands[i]; i++)
		list_add(&names, str_from(commands[i]->name), keep);
	struct str hint = did_you_mean(keep, name, names.items, names.count);
	if (!hint.len && str_find_char(name, '/') >= 0) /* a place */
		hint = arena_fmt(keep, "; did you mean 'rooflint check %.*s'?", STR_ARG(name));
	return diag_set(err, DIAG_USAGE, "unknown command '%.*s'%.*s (rooflint --help)",
		STR_ARG(name), STR_ARG(hint));
}

/* ---- options --------------------------------------------------------------------------------- */

/* "-j, --jobs N"; how wide it is. */
static int option_text(const struct option *option, char ret[OPTION_TEXT_MAX])
{
	return snprintf(ret, OPTION_TEXT_MAX, "%s%c%s--%s%s%s", option->letter ? "-" : " ",
		option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
		option->argument ? " " : "", option->argument ? option->argument : "");
}

static void put_option(struct out *o, const struct option *option, int column)
{
	char text[OPTION_TEXT_MAX];
	int at = HELP_INDENT + option_text(option, text);
	out_fmt(o, "  %s", text);
	if (at + 2 > column) {
		out_char(o, '\n');
		at = 0;
	}
	out_repeat(o, ' ', column - at);
	print_words(o, str_from(option->help), column, column, TEXT_WIDTH);
}

static void put_options(struct out *o, const struct command *command)
{
	/* Wider names stand on a line of their own. */
	enum { COLUMN_MOST = 30 };
	char text[OPTION_TEXT_MAX];
	int column = 0;
	for (const struct option *p = command->options; p->name; p++) {
		int needs = 2 * HELP_INDENT + option_text(p, text);
		column = needs > column ? needs : column;
	}
	column = column < COLUMN_MOST ? column : COLUMN_MOST;
	out_z(o, "\nOptions:\n");
	for (const struct option *p = command->options; p->name; p++)
		put_option(o, p, column);
}

/* ---- the two texts --------------------------------------------------------------------------- */

static int name_width(const struct command *c)
{
	struct str arguments = str_from(c->arguments);
	return (int)(str_from(c->name).len + (arguments.len ? 1 + arguments.len : 0));
}

void help_program(struct out *o)
{
	int column = 0;
	out_z(o, "rooflint reads accelerator profiles, puts every op beside what the hardware "
		 "could\n"
		 "have done, and judges the result with a rule file.\n"
		 "\n"
		 "usage: rooflint COMMAND [options] [arguments]\n"
		 "\n"
		 "Commands:\n");
	for (ptrdiff_t i = 0; commands[i]; i++)
		if (name_width(commands[i]) > column)
			column = name_width(commands[i]);
	for (ptrdiff_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];
		out_fmt(o, "  %s%s%s", c->name, c->arguments[0] ? " " : "", c->arguments);
		out_repeat(o, ' ', column + HELP_INDENT - name_width(c));
		print_words(o, str_from(c->summary), column + 2 * HELP_INDENT,
			column + 2 * HELP_INDENT, TEXT_WIDTH);
	}
	out_z(o, "\n"
		 "`rooflint COMMAND --help` shows a command's options, `rooflint --version` the\n"
		 "version.  Start with: rooflint check LOGDIR\n");
}

void help_command_text(const struct command *command, struct out *o)
{
	out_fmt(o, "usage: rooflint %s%s%s%s\n\n", command->name,
		has_options(command) ? " [options]" : "", command->arguments[0] ? " " : "",
		command->arguments);
	print_words(o, str_from(command->summary), 0, 0, TEXT_WIDTH);
	if (command->details) {
		out_char(o, '\n');
		print_paragraphs(o, str_from(command->details), 0, TEXT_WIDTH);
	}
	put_options(o, command);
}

/* ---- rooflint help --------------------------------------------------------------------------- */

static enum status help_run(struct context *c, const void *settings, const struct list *args)
{
	const struct command *command = args->count ? command_find(args->items[0]) : NULL;
	struct diag err;
	(void)settings;
	if (args->count && !command) {
		command_unknown(args->items[0], c->keep, &err);
		return misused(&err);
	}
	if (command)
		help_command_text(command, c->out);
	else
		help_program(c->out);
	return STATUS_OK;
}

const struct command help_command = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "the commands, or one command's options",
	.options = no_options,
	.most = 1,
	.run = help_run,
};
