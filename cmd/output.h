/*
 * What a set of reports becomes: files, annotations, the text on the terminal.  `check` writes it
 * from what it judged and `render` from a report.json, to the same bytes.
 */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "cmd/cmd.h"
#include "report/report.h"

struct output_settings {
	struct str junit, json, sarif, gitlab, markdown, openmetrics, html, templates;
	int junit_flavor, markdown_size, color;
	bool github, quiet, verbose;
};
#define OUTPUT_OPTIONS(type)                                                                       \
	{ "junit", 0, OPTION_TEXT, offsetof(type, output.junit), "FILE",                           \
		"write JUnit XML; - is standard output" },                                         \
		{ "junit-flavor", 0, OPTION_WORD, offsetof(type, output.junit_flavor),             \
			"strict|rich",                                                             \
			"the shape Jenkins' schema allows (default), or with file, line and "      \
			"properties" },                                                            \
		{ "json", 0, OPTION_TEXT, offsetof(type, output.json), "FILE",                     \
			"write report.json, which holds everything; - is standard output" },       \
		{ "sarif", 0, OPTION_TEXT, offsetof(type, output.sarif), "FILE",                   \
			"write SARIF 2.1.0, for code scanning and editors" },                      \
		{ "github", 0, OPTION_FLAG, offsetof(type, output.github), NULL,                   \
			"annotate in a GitHub workflow: ten findings of each level, and the job "  \
			"summary where $GITHUB_STEP_SUMMARY names a file" },                       \
		{ "gitlab-quality", 0, OPTION_TEXT, offsetof(type, output.gitlab), "FILE",         \
			"write GitLab's code quality report" },                                    \
		{ "markdown", 0, OPTION_TEXT, offsetof(type, output.markdown), "FILE",             \
			"write Markdown, for a comment or a summary" },                            \
		{ "markdown-size", 0, OPTION_WORD, offsetof(type, output.markdown_size),           \
			"comment|summary",                                                         \
			"the most that Markdown may be long: 65536 characters, as in a comment "   \
			"(default), or 1 MiB" },                                                   \
		{ "openmetrics", 0, OPTION_TEXT, offsetof(type, output.openmetrics), "FILE",       \
			"write OpenMetrics text, for the node exporter's textfile collector" },    \
		{ "html", 0, OPTION_TEXT, offsetof(type, output.html), "FILE|DIR/",                \
			"write a page with findings, pictures and tables; - is standard output; "  \
			"in a folder each profile gets a page, and index.html lists them" },       \
		{ "templates", 0, OPTION_TEXT, offsetof(type, output.templates), "DIR",            \
			"templates that replace built-in ones (docs/templates.md, "                \
			"docs/notify.md)" },                                                       \
		{ "quiet", 'q', OPTION_FLAG, offsetof(type, output.quiet), NULL,                   \
			"one line per profile: its verdict" },                                     \
		{ "verbose", 'v', OPTION_FLAG, offsetof(type, output.verbose), NULL,               \
			"every rule, finding and file" },                                          \
	{                                                                                          \
		"color", 0, OPTION_WORD, offsetof(type, output.color), "auto|always|never",        \
			"colour, by default on a terminal without NO_COLOR"                        \
	}

bool output_settings_agree(const struct output_settings *s, struct diag *err);

/*
 * Everything that was asked for.  Files are written before the terminal's report, so that a reader
 * of ours who goes away costs nothing.  False when one could not be written; that was printed.
 */
bool output_write(struct context *c, const struct output_settings *s, const struct report_set *set);

#endif
