/*
 * Options that several commands have, each row once.
 */
#ifndef CMD_SHARED_H
#define CMD_SHARED_H

#include "cmd/cmd.h"
#include "session/deliver.h"
#include "session/load.h"

/* What `--store` takes, for help. */
#define STORE_ARGUMENT "FILE|URL"

/* Of a --today that is not a day. */
#define NO_DAY "--today %.*s: it takes a day, such as 2027-01-31"

/* Of the commands that read profiles. */
#define READ_OPTIONS(type)                                                                         \
	{ "hardware", 0, OPTION_TEXT, offsetof(type, read.hardware), "NAME|FILE",                  \
		"the chip, where it is not recognised or to ask \"what if\"; a name of "           \
		"`rooflint hardware` or a YAML or JSON file" },                                    \
		{ "job", 0, OPTION_TEXT, offsetof(type, read.job), "FILE",                         \
			"what only the owner knows (model, tokens per step, mesh, memory, "        \
			"commit); by "                                                             \
			"default the rooflint.job.yaml of the run" },                              \
		{ "hlo", 0, OPTION_TEXT, offsetof(type, read.hlo), "DIR",                          \
			"the compiler's dump of the job (--xla_dump_to), when it is not beside "   \
			"the profile: HLO and memory plans that the profile lacks" },              \
		{ "step", 0, OPTION_TEXT, offsetof(type, read.step), "PATTERN",                    \
			"which steps are judged, where a job has several sorts: the name of "      \
			"their annotation or of a program in them, as in 'train*'; by default "    \
			"those that train, else those that take most time" },                      \
		{ "hosts-sample", 0, OPTION_NUMBER, offsetof(type, read.hosts_sample), "N",        \
			"read only N hosts of a larger run, spread evenly" },                      \
	{                                                                                          \
		"source-root", 0, OPTION_LIST, offsetof(type, read.source_roots), "DIR[=PATH]",    \
			"directory of your own sources as the job saw it, and where in the "       \
			"repository it lies, when not at its root: findings point at the first "   \
			"stack frame below it; may be repeated; by default those files that the "  \
			"repository around this directory has, too (not for audit)"                \
	}

/* Of the commands that read a rule file. */
#define RULE_OPTIONS(type)                                                                         \
	{ "rules", 0, OPTION_TEXT, offsetof(type, rule.rules), "FILE|SET",                         \
		"rule file or built-in set (recommended, strict, fleet); by default the "          \
		"rooflint.yaml in this directory or above, else recommended" },                    \
		{ "rules-from", 0, OPTION_TEXT, offsetof(type, rule.rules_from), "REF",            \
			"take the rule file, and those it extends, from this git ref, so that a "  \
			"pull request cannot loosen its own judge" },                              \
	{                                                                                          \
		"set", 0, OPTION_LIST, offsetof(type, rule.set), "RULE.PARAM=VALUE",               \
			"change one value of the rule file; may be repeated"                       \
	}

/* A stale profile must not pass for the one that was asked for. */
#define CURRENCY_OPTIONS(type)                                                                     \
	{ "expect-commit", 0, OPTION_TEXT, offsetof(type, read.expect_commit), "SHA",              \
		"refuse a profile whose job file names another commit, or none" },                 \
	{                                                                                          \
		"max-age", 0, OPTION_TEXT, offsetof(type, read.max_age), "DURATION",               \
			"refuse a profile captured longer ago than this, as in 2h or 7d"           \
	}

/* `name` is how the command calls its list of targets. */
#define NOTIFY_OPTIONS(type, name, name_when, help)                                                \
	{ name, 0, OPTION_LIST, offsetof(type, notify.to), "TARGET", help },                       \
		{ name_when, 0, OPTION_WORD, offsetof(type, notify.when),                          \
			"target|change|failure|always",                                            \
			"when there is something to say: as each target has it (default), or one " \
			"for all" },                                                               \
		{ "report-url", 0, OPTION_TEXT, offsetof(type, notify.report_url), "URL",          \
			"where messages say that the report is" },                                 \
	{                                                                                          \
		"spool", 0, OPTION_TEXT, offsetof(type, notify.spool), "DIR",                      \
			"where undelivered messages wait; by default rooflint/spool in "           \
			"$XDG_STATE_HOME, else in ~/.local/state"                                  \
	}

/* tables.c: "text", "number", or what the column is counted in. */
struct str column_unit(const struct column *c);

#endif
