/*
 * Options by table: long ones with "=value" or " value", bundled letters, "--", in any order.
 *
 * Refuses: abbreviations, which would make a new option break old command lines.
 */
#include "cmd/cmd.h"

#include "base/text.h"

enum { WORDS_MAX = 8 };

struct parse {
	const struct command *command;
	const struct list *words;
	ptrdiff_t next; /* the first word not looked at */
	struct arena *keep;
	char *settings;
	struct list *args;
	struct diag *err;
};

const struct option no_options[] = { OPTIONS_END };

bool has_options(const struct command *command)
{
	return command->options[0].kind != OPTION_HELP;
}

static bool usage_error(struct parse *p, struct str what)
{
	return diag_set(
		p->err, DIAG_USAGE, "%.*s (rooflint %s --help)", STR_ARG(what), p->command->name);
}

/* ---- storing a value ------------------------------------------------------------------------- */

static bool store_word(struct parse *p, const struct option *o, struct str value)
{
	struct str words[WORDS_MAX];
	ptrdiff_t count = text_words(str_from(o->argument), words, WORDS_MAX);
	const struct str *word = NAMED(words, count, value);
	if (word) {
		*(int *)(void *)(p->settings + o->offset) = (int)(word - words);
		return true;
	}
	struct str hint = did_you_mean(p->keep, value, words, count);
	return usage_error(p, arena_fmt(p->keep, "--%s is one of %s, not '%.*s'%.*s", o->name,
				      o->argument, STR_ARG(value), STR_ARG(hint)));
}

static bool store(struct parse *p, const struct option *o, struct str value)
{
	char *target = p->settings + o->offset;
	struct list *list = (void *)target;
	int64_t n;
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)target = true;
		return true;
	case OPTION_NUMBER:
		if (!str_to_i64(value, &n) || n < 1 || n > OPTION_NUMBER_MAX)
			return usage_error(p,
				arena_fmt(p->keep, "--%s takes a number from 1 to %d, not '%.*s'",
					o->name, OPTION_NUMBER_MAX, STR_ARG(value)));
		*(int *)(void *)target = (int)n;
		return true;
	case OPTION_TEXT:
		*(struct str *)(void *)target = value;
		return true;
	case OPTION_LIST:
		list_add(list, value, p->keep);
		return true;
	case OPTION_WORD:
		return store_word(p, o, value);
	case OPTION_HELP:
		break;
	}
	return true;
}

/* The value of an option whose own word is over: the next word. */
static bool store_next(struct parse *p, const struct option *o)
{
	if (p->next >= p->words->count)
		return usage_error(p, arena_fmt(p->keep, "--%s needs a value: --%s %s", o->name,
					      o->name, o->argument));
	return store(p, o, p->words->items[p->next++]);
}

int verb_find(const struct command *command, struct str name, struct arena *keep, struct diag *err)
{
	struct str verbs, rest, words[WORDS_MAX];
	str_cut(str_from(command->arguments), ' ', &verbs, &rest);
	ptrdiff_t count = text_words(verbs, words, WORDS_MAX);
	const struct str *word = NAMED(words, count, name);
	if (word)
		return (int)(word - words);
	diag_set(err, DIAG_USAGE, "rooflint %s takes %.*s, not '%.*s'%.*s", command->name,
		STR_ARG(words_joined(keep, words, count, " or ")), STR_ARG(name),
		STR_ARG(did_you_mean(keep, name, words, count)));
	return -1;
}

/* ---- reading words --------------------------------------------------------------------------- */

static const struct option *find_long(const struct command *c, struct str name)
{
	for (const struct option *o = c->options; o->name; o++)
		if (str_eq(name, str_from(o->name)))
			return o;
	return NULL;
}

/* Whoever writes "--format html" for "--html" is told so: the value is what was meant. */
static bool unknown_long(struct parse *p, struct str name, struct str value)
{
	struct list names = { 0 };
	for (const struct option *o = p->command->options; o->name; o++)
		list_add(&names, arena_fmt(p->keep, "--%s", o->name), p->keep);
	struct str word = arena_fmt(p->keep, "--%.*s", STR_ARG(name));
	struct str hint = find_long(p->command, value)
				  ? arena_fmt(p->keep, "; did you mean '--%.*s'?", STR_ARG(value))
				  : did_you_mean(p->keep, word, names.items, names.count);
	return usage_error(
		p, arena_fmt(p->keep, "unknown option '%.*s'%.*s", STR_ARG(word), STR_ARG(hint)));
}

static const struct option *find_letter(const struct command *c, char letter)
{
	for (const struct option *o = c->options; o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static bool parse_long(struct parse *p, struct str word, bool *help)
{
	struct str name, value;
	bool has_value = str_cut(word, '=', &name, &value);
	const struct option *o = find_long(p->command, name);
	if (!o)
		return unknown_long(p, name,
			has_value		    ? value
			: p->next < p->words->count ? p->words->items[p->next]
						    : STR(""));
	if (o->kind == OPTION_HELP)
		return *help = true;
	if (has_value && o->kind == OPTION_FLAG)
		return usage_error(p, arena_fmt(p->keep, "--%s takes no value", o->name));
	return has_value || o->kind == OPTION_FLAG ? store(p, o, value) : store_next(p, o);
}

static bool parse_letters(struct parse *p, struct str word, bool *help)
{
	while (word.len) {
		const struct option *o = find_letter(p->command, word.p[0]);
		if (!o)
			return usage_error(p, arena_fmt(p->keep, "unknown option '-%.*s'",
						      STR_ARG(str_head(word, 1))));
		word = str_from_offset(word, 1);
		if (o->kind == OPTION_HELP)
			return *help = true;
		if (o->kind != OPTION_FLAG)
			return word.len ? store(p, o, word) : store_next(p, o);
		store(p, o, STR(""));
	}
	return true;
}

static bool parse_word(struct parse *p, struct str word, bool *help)
{
	if (str_take(&word, STR("--")))
		return parse_long(p, word, help);
	if (word.len > 1 && str_take(&word, STR("-")))
		return parse_letters(p, word, help);
	list_add(p->args, word, p->keep);
	return true;
}

bool options_parse(const struct command *command, const struct list *words, struct arena *keep,
	void *settings, struct list *args, bool *help, struct diag *err)
{
	struct parse p = { command, words, 0, keep, settings, args, err };
	bool literal = false;
	*help = false;
	while (p.next < words->count && !*help) {
		struct str word = words->items[p.next++];
		if (!literal && str_eq(word, STR("--")))
			literal = true;
		else if (literal)
			list_add(args, word, keep);
		else if (!parse_word(&p, word, help))
			return false;
	}
	if (*help)
		return true;
	if (args->count < command->least)
		return usage_error(&p, arena_fmt(keep, "too few arguments: rooflint %s %s",
					       command->name, command->arguments));
	return command->most < 0 || args->count <= command->most ||
	       usage_error(&p, arena_fmt(keep, "'%.*s' is one argument too many",
				       STR_ARG(args->items[command->most])));
}
