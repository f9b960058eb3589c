/*
 * rooflint completion: what a shell needs to complete command lines.
 *
 * templates/completion/ has a script for each shell, with one slot: a line for each command and for
 * each of its options, from the tables that command lines are parsed by.  Commands, options and the
 * words of options are completed, and files elsewhere.  Nothing in a script runs rooflint.
 */
#include "base/embed.h"
#include "base/text.h"
#include "cmd/cmd.h"

static const struct shell {
	struct str name;
	const char *script, *quote; /* how a quote is written between single quotes */
} shells[] = {
	{ STR_INIT("bash"), "templates/completion/rooflint.bash", "'\\''" },
	{ STR_INIT("fish"), "templates/completion/rooflint.fish", "\\'" },
	{ STR_INIT("zsh"), "templates/completion/rooflint.zsh", "'\\''" },
};

/* Fields end in a tab; a dash stands for one that is empty. */
static void put_field(struct out *o, struct str text)
{
	out_fmt(o, "%.*s\t", STR_ARG(text.len ? text : STR("-")));
}

/* Command, option, letter, whether it may be repeated, words, argument, help. */
static void put_line(struct out *o, const char *command, const struct option *option)
{
	struct str argument = str_from(option->argument), word;
	bool is_word = option->kind == OPTION_WORD;
	put_field(o, str_from(command));
	put_field(o, str_from(option->name));
	put_field(o, (struct str){ &option->letter, option->letter != 0 });
	put_field(o, option->kind == OPTION_LIST ? STR("*") : STR(""));
	if (!is_word)
		put_field(o, STR(""));
	while (is_word && argument.len) {
		str_cut(argument, '|', &word, &argument);
		out_fmt(o, "%.*s%c", STR_ARG(word), argument.len ? ' ' : '\t');
	}
	put_field(o, is_word ? STR("") : argument);
	out_z(o, option->help);
}

static struct str lines_of_all(struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; commands[i]; i++) {
		const struct option itself = { .help = commands[i]->summary };
		out_z(o, i ? "\n" : "");
		put_line(o, commands[i]->name, &itself);
		for (const struct option *p = commands[i]->options; p->name; p++) {
			out_char(o, '\n');
			put_line(o, commands[i]->name, p);
		}
	}
	return out_text(o);
}

static enum status completion_run(struct context *c, const void *settings, const struct list *args)
{
	static const struct str slot = STR_INIT("@LINES@");
	const struct shell *shell = NAMED(shells, COUNT_OF(shells), args->items[0]);
	struct list names = { 0 };
	(void)settings;
	NAMES(&names, c->keep, shells, COUNT_OF(shells));
	if (!shell)
		return misuse("no completion for the shell '%.*s'%.*s (bash, fish or zsh)",
			STR_ARG(args->items[0]),
			STR_ARG(did_you_mean(c->keep, args->items[0], names.items, names.count)));
	struct str script = embed_find(str_from(shell->script));
	ptrdiff_t at = str_find(script, slot);
	out_str(c->out, str_head(script, at));
	out_replaced(c->out, lines_of_all(c->keep), "'", &shell->quote);
	out_str(c->out, str_from_offset(script, at + slot.len));
	return STATUS_OK;
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
