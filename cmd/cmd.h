/*
 * Commands, their options, and what they share.
 *
 * One command is one file that ends in one const struct command.  Parsing, help texts and manual
 * pages all come from its tables, so none of them can miss an option.
 *
 * Only cmd/ prints and decides how the program ends.  What a user may pipe goes to standard
 * output; errors and chatter go to standard error.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/out.h"
#include "base/str.h"

/* How the program ends.  When several apply: 2, 1, 3, 5, 4, 0, the first that does. */
enum status {
	STATUS_OK = 0,
	STATUS_RULE = 1,     /* a rule failed at or above --fail-on */
	STATUS_USAGE = 2,    /* the command line or the rule file is wrong */
	STATUS_PROFILE = 3,  /* a profile could not be read */
	STATUS_EVIDENCE = 4, /* a gate or a required rule could not be judged */
	STATUS_DELIVERY = 5, /* a result could not be written or delivered */
};

enum option_kind {
	OPTION_FLAG,   /* bool: given or not */
	OPTION_NUMBER, /* int from 1 to OPTION_NUMBER_MAX; 0 when not given */
	OPTION_TEXT,   /* struct str, missing when not given; the last one wins */
	OPTION_LIST,   /* struct list, in the order given */
	/* int: index into the words of `argument`; the first is the default */
	OPTION_WORD,
	OPTION_HELP, /* nothing: the text is shown, and the command is not run */
};
#define OPTION_NUMBER_MAX 256 /* worker processes base/task runs at the most */

struct option {
	const char *name; /* without the dashes */
	char letter;	  /* 0 when it has none */
	enum option_kind kind;
	ptrdiff_t offset;     /* of the target in the command's settings */
	const char *argument; /* as help shows it; the words of an OPTION_WORD, separated by '|' */
	const char *help;
};

/* Behind a command's own options. */
#define OPTIONS_END                                                                                \
	{ "help", 'h', OPTION_HELP, 0, NULL, "show this text" },                                   \
	{                                                                                          \
		0                                                                                  \
	}

/* What every command shares; made once, in main. */
struct context {
	struct arena *keep;    /* lives as long as the program */
	struct out *out;       /* standard output; main closes it */
	struct engine *engine; /* of rules and queries; NULL until load_engine is called */
};

struct command {
	const char *name;
	const char *arguments;	      /* as the usage line shows them */
	const char *summary;	      /* one line, without a full stop */
	const char *details;	      /* paragraphs, an empty line between; may be NULL */
	const struct option *options; /* end with OPTIONS_END */
	int least, most;	      /* arguments it takes; most is -1 for any number */
	ptrdiff_t settings_bytes;     /* zeroed before the options are stored */
	enum status (*run)(struct context *c, const void *settings, const struct list *args);
};

extern const struct command *const commands[]; /* in the order of help; ends with NULL */
extern const struct command check_command, diff_command, init_command, ratchet_command,
	render_command, notify_command, query_command, tables_command, hlo_command,
	hardware_command, rules_command, explain_command, audit_command, facts_command,
	store_command, completion_command, mcp_command, help_command;

extern const struct option no_options[];
bool has_options(const struct command *command); /* besides --help */
/* options.c.  `words` is the command line behind the command's name.  --help sets *help. */
bool options_parse(const struct command *command, const struct list *words, struct arena *keep,
	void *settings, struct list *args, bool *help, struct diag *err);
/* The place of a verb among those that `arguments` begins with, as in "list|show FILE"; -1. */
int verb_find(const struct command *command, struct str name, struct arena *keep, struct diag *err);

/* help.c */
const struct command *command_find(struct str name); /* or NULL */
bool command_unknown(struct str name, struct arena *keep, struct diag *err);
void help_program(struct out *o);
void help_command_text(const struct command *command, struct out *o);

/* main.c */
int run_words(struct arena *keep, struct list *words); /* a command line: its exit status */
struct engine *load_engine(struct context *c, struct diag *err); /* the one engine, or NULL */
void print_error(const struct diag *d); /* "rooflint: error RL103: ..." on standard error */
void print_error_text(enum diag_id id, struct str text);
void print_line(struct str line);	   /* "rooflint: ..." on standard error */
enum status fail(const struct diag *d);	   /* print it; the status that goes with it */
enum status misused(const struct diag *d); /* print it: what the user gave is wrong */
enum status status_of(enum diag_id id);
enum status misuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * A line on the terminal while many profiles are judged: how many, how fast, how long still.
 * Nothing in the first second, so that short batches show nothing; gone when all are done.
 */
void show_progress(ptrdiff_t done, ptrdiff_t count);
/* Of a text that is whole before its file is touched; false when it failed, which was printed. */
bool write_file(struct arena *keep, struct str path, struct str text);
_Noreturn void give_up(const struct diag *d); /* print it and end: there is nothing to save */

#endif
