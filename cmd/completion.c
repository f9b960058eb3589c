/*
 * rooflint completion: what a shell needs to complete command lines, made from the tables that the
 * commands are parsed by.
 *
 * Commands, options and the words of options are completed, and files elsewhere.  Nothing in a
 * script runs rooflint.
 */
#include "base/text.h"
#include "cmd/cmd.h"

/* ---- tables --------------------------------------------------------------------------------- */

/* The words of an option that takes one of a few: "a|b" is "a b". */
static void put_words(struct out *o, const struct option *option)
{
	for (const char *z = option->argument; *z; z++)
		out_char(o, *z == '|' ? ' ' : *z);
}

/* A text between single quotes; of those that `escaped` names, each behind a backslash. */
static void put_quoted(struct out *o, const char *text, const char *escaped)
{
	for (const char *z = text; *z; z++) {
		bool is_escaped = str_find_char(str_from(escaped), *z) >= 0;
		if (*z == '\'')
			out_z(o, "'\\''");
		else
			out_fmt(o, is_escaped ? "\\%c" : "%c", *z);
	}
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_script(struct out *o)
{
	out_z(o,
		"# Completion of rooflint for bash.\n"
		"_rooflint()\n"
		"{\n"
		"\tlocal now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words\n"
		"\tif [ \"$COMP_CWORD\" -eq 1 ] ||\n"
		"\t\t{ [ \"${COMP_WORDS[1]}\" = help ] && [ \"$COMP_CWORD\" -eq 2 ]; }; then\n"
		"\t\twords='");
	for (ptrdiff_t i = 0; commands[i]; i++)
		out_fmt(o, "%s%s", i ? " " : "", commands[i]->name);
	out_z(o, "'\n\telse\n\t\tcase \"${COMP_WORDS[1]} $before\" in\n");
	for (ptrdiff_t i = 0; commands[i]; i++)
		for (const struct option *option = commands[i]->options; option->name; option++) {
			if (option->kind != OPTION_WORD)
				continue;
			out_fmt(o, "\t\t'%s --%s') words='", commands[i]->name, option->name);
			put_words(o, option);
			out_z(o, "' ;;\n");
		}
	out_z(o, "\t\tesac\n\tfi\n\tif [ -z \"$words\" ] && [[ $now == -* ]]; then\n"
		 "\t\tcase ${COMP_WORDS[1]} in\n");
	for (ptrdiff_t i = 0; commands[i]; i++) {
		out_fmt(o, "\t\t%s) words='", commands[i]->name);
		for (const struct option *p = commands[i]->options; p->name; p++)
			out_fmt(o, "%s--%s", p == commands[i]->options ? "" : " ", p->name);
		out_z(o, "' ;;\n");
	}
	out_z(o, "\t\tesac\n\tfi\n"
		 "\tif [ -n \"$words\" ]; then\n"
		 "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
		 "\telse\n"
		 "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
		 "\tfi\n"
		 "}\n"
		 "complete -o filenames -F _rooflint rooflint\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

static void zsh_option(struct out *o, const struct option *option)
{
	bool is_repeated = option->kind == OPTION_LIST;
	out_fmt(o, " \\\n\t\t\t'%s--%s[", is_repeated ? "*" : "", option->name);
	put_quoted(o, option->help, "[]:\\");
	out_char(o, ']');
	if (option->kind == OPTION_WORD) {
		out_z(o, ":word:(");
		put_words(o, option);
		out_char(o, ')');
	} else if (option->argument) {
		out_char(o, ':');
		put_quoted(o, option->argument, ":\\");
		out_z(o, ":_files");
	}
	out_char(o, '\'');
}

static void zsh_script(struct out *o)
{
	out_z(o, "#compdef rooflint\n"
		 "# Completion of rooflint for zsh.\n"
		 "_rooflint()\n"
		 "{\n"
		 "\tlocal -a commands=(");
	for (ptrdiff_t i = 0; commands[i]; i++) {
		out_fmt(o, "\n\t\t'%s:", commands[i]->name);
		put_quoted(o, commands[i]->summary, ":\\");
		out_char(o, '\'');
	}
	out_z(o, ")\n"
		 "\tif (( CURRENT == 2 )) || [[ $words[2] == help && CURRENT -eq 3 ]]; then\n"
		 "\t\t_describe command commands\n"
		 "\t\treturn\n"
		 "\tfi\n"
		 "\tlocal command=$words[2]\n"
		 "\tshift words\n"
		 "\t(( CURRENT-- ))\n"
		 "\tcase $command in\n");
	for (ptrdiff_t i = 0; commands[i]; i++) {
		out_fmt(o, "\t%s)\n\t\t_arguments", commands[i]->name);
		for (const struct option *p = commands[i]->options; p->name; p++)
			zsh_option(o, p);
		out_z(o, " \\\n\t\t\t'*:file:_files' ;;\n");
	}
	out_z(o, "\tesac\n}\n_rooflint \"$@\"\n");
}

/* ---- fish ----------------------------------------------------------------------------------- */

static void fish_script(struct out *o)
{
	out_z(o, "# Completion of rooflint for fish.\n");
	for (ptrdiff_t i = 0; commands[i]; i++) {
		out_fmt(o, "complete -c rooflint -f -n __fish_use_subcommand -a %s -d '",
			commands[i]->name);
		put_quoted(o, commands[i]->summary, "\\");
		out_z(o, "'\n");
	}
	for (ptrdiff_t i = 0; commands[i]; i++)
		for (const struct option *option = commands[i]->options; option->name; option++) {
			out_fmt(o, "complete -c rooflint -n '__fish_seen_subcommand_from %s' -l %s",
				commands[i]->name, option->name);
			if (option->letter)
				out_fmt(o, " -s %c", option->letter);
			if (option->kind == OPTION_WORD) {
				out_z(o, " -x -a '");
				put_words(o, option);
				out_char(o, '\'');
			} else if (option->argument) {
				out_z(o, " -r");
			}
			out_z(o, " -d '");
			put_quoted(o, option->help, "\\");
			out_z(o, "'\n");
		}
}

/* ---- the command ---------------------------------------------------------------------------- */

static const struct shell {
	const char *name;
	void (*write)(struct out *o);
} shells[] = {
	{ "bash", bash_script },
	{ "fish", fish_script },
	{ "zsh", zsh_script },
};

static enum status completion_run(struct context *c, const void *settings, const struct list *args)
{
	(void)settings;
	struct str names[COUNT_OF(shells)];
	for (int i = 0; i < COUNT_OF(shells); i++) {
		names[i] = str_from(shells[i].name);
		if (!str_eq(args->items[0], names[i]))
			continue;
		shells[i].write(c->out);
		return STATUS_OK;
	}
	return misuse("no completion for the shell '%.*s'%.*s (bash, fish or zsh)",
		STR_ARG(args->items[0]),
		STR_ARG(did_you_mean(c->keep, args->items[0], names, COUNT_OF(shells))));
}

const struct command completion_command = {
	.name = "completion",
	.arguments = "SHELL",
	.summary = "a script that completes rooflint's command lines in bash, fish or zsh",
	.details = "Packages install it. By hand:\n"
		   "\n"
		   "  bash: eval \"$(rooflint completion bash)\" in ~/.bashrc\n"
		   "  fish: rooflint completion fish > ~/.config/fish/completions/rooflint.fish\n"
		   "  zsh:  rooflint completion zsh > _rooflint, in a folder of $fpath",
	.least = 1,
	.most = 1,
	.options = no_options,
	.run = completion_run,
};
