/*
 * Manual pages in roff, made from the same tables as the help texts.
 *
 * Without a date, so that the same source gives the same page; docs/man/ holds what comes out.
 */
#include "cmd/cmd.h"

/* ---- roff ------------------------------------------------------------------------------------ */

/* A backslash begins an escape, a '-' alone is a hyphen, and a leading '.' or ''' is a request. */
static void put_text(struct out *o, struct str s)
{
	if (str_starts(s, STR(".")) || str_starts(s, STR("'")))
		out_z(o, "\\&");
	for (ptrdiff_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		if (c == '\\')
			out_z(o, "\\e");
		else if (c == '-')
			out_z(o, "\\-");
		else
			out_char(o, c);
	}
}

static void put_z(struct out *o, const char *z)
{
	put_text(o, str_from(z));
}

static void put_section(struct out *o, const char *title)
{
	out_fmt(o, ".SH %s\n", title);
}

/* Lines are paragraphs; those that begin with blanks stand as they are. */
static void put_paragraphs(struct out *o, const char *text)
{
	struct str rest = str_from(text), line;
	bool literal = false, first = true;
	for (bool more = true; more; first = false) {
		more = str_cut(rest, '\n', &line, &rest);
		bool is_literal = str_starts(line, STR(" "));
		if (is_literal != literal)
			out_z(o, is_literal ? ".PP\n.nf\n" : ".fi\n");
		else if (!is_literal && line.len && !first)
			out_z(o, ".PP\n");
		literal = is_literal;
		if (!line.len)
			continue;
		put_text(o, line);
		out_char(o, '\n');
	}
	out_z(o, literal ? ".fi\n" : "");
}

/* ---- one command ----------------------------------------------------------------------------- */

static void put_option(struct out *o, const struct option *option)
{
	out_z(o, ".TP\n");
	if (option->letter)
		out_fmt(o, "\\fB\\-%c\\fR, ", option->letter);
	out_z(o, "\\fB\\-\\-");
	put_z(o, option->name);
	out_z(o, "\\fR");
	if (option->argument) {
		out_z(o, " \\fI");
		put_z(o, option->argument);
		out_z(o, "\\fR");
	}
	out_char(o, '\n');
	put_z(o, option->help);
	out_char(o, '\n');
}

static void command_page(const struct command *c, struct out *o)
{
	out_fmt(o, ".TH ROOFLINT\\-%s 1 \"\" \"rooflint\"\n", c->name);
	put_section(o, "NAME");
	out_fmt(o, "rooflint\\-%s \\- ", c->name);
	put_z(o, c->summary);
	out_char(o, '\n');
	put_section(o, "SYNOPSIS");
	out_fmt(o, "\\fBrooflint %s\\fR%s ", c->name, has_options(c) ? " [\\fIoptions\\fR]" : "");
	put_z(o, c->arguments);
	out_char(o, '\n');
	put_section(o, "DESCRIPTION");
	put_paragraphs(o, c->details ? c->details : c->summary);
	if (has_options(c))
		put_section(o, "OPTIONS");
	for (const struct option *p = c->options; p->kind != OPTION_HELP; p++)
		put_option(o, p);
	put_section(o, "SEE ALSO");
	out_z(o, "\\fBrooflint\\fR(1)\n");
}

/* ---- the program ----------------------------------------------------------------------------- */

static const char program_text[] =
	"rooflint reads the profiles that JAX and XLA jobs write (*.xplane.pb), puts every op "
	"beside what the hardware could have done, and judges the result with a rule file. The "
	"verdict goes to the terminal, to JUnit XML, to JSON and into the exit status.\n"
	"What cannot be known is inconclusive; it never counts as passed.\n"
	"Start with:\n"
	"  rooflint check LOGDIR";

static const char status_text[] =
	"The first that applies, in this order:\n"
	"  2  the command line or the rule file is wrong\n"
	"  1  a rule failed\n"
	"  3  a profile could not be read\n"
	"  5  an output could not be written, or a required message delivered\n"
	"  4  a gate or a required rule could not be judged\n"
	"  0  none of these";

/* As troff. */
static const struct variable {
	const char *names, *text;
} variables[] = {
	{ "\\fBNO_COLOR\\fR", "When set and not empty, \\fB\\-\\-color auto\\fR means no colour." },
	{ "\\fBROOFLINT_\\fR\\fI...\\fR", "Addresses and keys for notifications: rule files and "
					  "command lines name these variables, and no others." },
	{ "\\fBROOFLINT_HTTP_ALLOW\\fR", "Hosts, commas between, that may be spoken to at an "
					 "address of a private network." },
	{ "\\fBROOFLINT_CACHE\\fR, \\fBROOFLINT_CACHE_LIMIT\\fR",
		"Directory of what was fetched from buckets, and how large it may become (10 "
		"GiB)." },
	{ "\\fBROOFLINT_S3_ENDPOINT\\fR, \\fBROOFLINT_GCS_ENDPOINT\\fR",
		"Servers in place of Amazon\\(aqs and Google\\(aqs own." },
	{ "\\fBROOFLINT_HTTP_STALL\\fR", "How long a bucket\\(aqs server may send nothing (30s)." },
	{ "\\fBAWS_\\fR\\fI...\\fR, \\fBGOOGLE_APPLICATION_CREDENTIALS\\fR",
		"As with the clouds\\(aq own tools; docs/buckets.md." },
	{ "\\fBCURL_CA_BUNDLE\\fR, \\fBSSL_CERT_FILE\\fR, \\fBSSL_CERT_DIR\\fR, "
	  "\\fBhttps_proxy\\fR, \\fBno_proxy\\fR",
		"As with \\fBcurl\\fR(1)." },
};

static void program_page(struct out *o)
{
	out_z(o, ".TH ROOFLINT 1 \"\" \"rooflint\"\n");
	put_section(o, "NAME");
	out_z(o, "rooflint \\- a linter for accelerator performance\n");
	put_section(o, "SYNOPSIS");
	out_z(o, "\\fBrooflint\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n");
	put_section(o, "DESCRIPTION");
	put_paragraphs(o, program_text);
	put_section(o, "COMMANDS");
	for (ptrdiff_t i = 0; commands[i]; i++) {
		out_fmt(o, ".TP\n\\fBrooflint\\-%s\\fR(1) ", commands[i]->name);
		put_z(o, commands[i]->arguments);
		out_char(o, '\n');
		put_z(o, commands[i]->summary);
		out_char(o, '\n');
	}
	put_section(o, "EXIT STATUS");
	put_paragraphs(o, status_text);
	put_section(o, "FILES");
	out_z(o, ".TP\n\\fIrooflint.yaml\\fR\nThe rule file, looked for from the working directory "
		 "upwards. Without one the built\\-in set \\fIrecommended\\fR applies.\n");
	put_section(o, "ENVIRONMENT");
	for (ptrdiff_t i = 0; i < COUNT_OF(variables); i++)
		out_fmt(o, ".TP\n%s\n%s\n", variables[i].names, variables[i].text);
}

void manual_page(const struct command *command, struct out *o)
{
	if (command)
		command_page(command, o);
	else
		program_page(o);
}
