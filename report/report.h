/*
 * The report model: everything a writer may show about one profile, and nothing else.
 *
 * Built once from tables and judgement, written by any writer, and read back from report.json
 * without loss: `check --junit` equals `check --json` then `render`.  Writers do not know each
 * other, and none of them computes a verdict.
 *
 * Every string here is clean (base/text.h); every number is in base units.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/out.h"
#include "rules/judge.h"

#define REPORT_VERSION "1.0"

#define REPORT_ERROR(R, F)                                                                         \
	F(R, DIAG, id, "of the diagnostic")                                                        \
	F(R, NEEDED, text, "what is wrong, where, and what to do")
RECORD_STRUCT(report_error, REPORT_ERROR);

/*
 * The verdict is pass, fail, warn, inconclusive or error.  Where the profile could not be read,
 * there is an error, and next to nothing else.  Tables have the rows that a writer may plot, at
 * most REPORT_MAX_ROWS; plots are empty unless report_plots was called.
 */
#define REPORT_FIELDS(R, F)                                                                        \
	F(R, NEEDED, profile, "as given on the command line")                                      \
	F(R, WORD(verdict, report_verdict_words), verdict, NULL)                                   \
	F(R, TEXT, rules, "the rule file or built-in set")                                         \
	F(R, PART(report_error), error, NULL)                                                      \
	F(R, REAL, gain_s, "seconds per step that all findings together would give back")          \
	F(R, FACTS, facts, NULL)                                                                   \
	F(R, ITEMS(finding), findings, "by verdict, then gain")                                    \
	F(R, ITEMS(rule_result), results, "every rule, in the order of the rule file")             \
	F(R, ITEMS(diag_note), notes, "remarks about the data itself")                             \
	F(R, TABLES, tables, NULL)                                                                 \
	F(R, PLOTS, plots, NULL)
struct report {
	REPORT_FIELDS(report, RECORD_MEMBER)
	double row_totals[TABLE_COUNT]; /* rows there were before the cap */
};

/* The heaviest ops that a text shows where it can say no more. */
#define REPORT_SEEN_ROWS 5
/* Rows of each table kept in a report, largest first: pages stay below a megabyte. */
#define REPORT_MAX_ROWS 200
/* Findings come by gain, and a neighbourhood takes up to five kilobytes. */
#define REPORT_MAX_AROUND 40

/* "RL202"; missing for none.  And back; DIAG_NONE for another text. */
struct str diag_name(enum diag_id id, struct arena *keep);
/*
 * What a run is one of, the same from night to night, and of a file and its directory: the workload
 * that a job file names, else the profile's path without the file, the folders and the dates that
 * the profiler adds.
 */
struct str report_workload(struct str profile, struct str name);
struct str workload_of(const struct report *r, struct arena *keep); /* clean, never empty */

enum diag_id diag_by_name(struct str name);
/* VERDICT_ERROR for a word that is not a verdict. */
enum verdict verdict_by_name(struct str name);

struct report_set {
	struct report *items;
	ptrdiff_t count;
	struct str tool_version;
};

/*
 * Which tables a report holds: all, or what the heads of reports show; that is, of a run that has
 * too few steps, its heaviest ops, too.
 */
enum report_extent { REPORT_HEAD, REPORT_WHOLE };

/* The report of one judged run, or of one that could not be read. */
void report_build(const struct tables *tables, const struct judgement *judgement,
	const struct ruleset *rules, const struct diag_list *notes, struct str profile,
	enum report_extent extent, struct arena *keep, struct report *ret);
/*
 * Adds what a page draws beside the tables.  Of the findings that failed or warn, the first
 * REPORT_MAX_AROUND get their neighbourhood.  False when a profile's bytes turn out bad.
 */
bool report_plots(struct measured *m, struct arena *keep, struct report *ret, struct diag *err);
/* Of a run that could not be read a row of `known` may tell its name, when it was and whose. */
void report_error(const struct diag *error, struct str profile, const struct tables *known,
	struct str rules, struct arena *keep, struct report *ret);

struct report_style {
	bool color;
	bool verbose; /* every rule, finding and file */
	bool quiet;   /* the verdict line only */
	int width;    /* columns of the terminal; 0 for 80 */
};
/* What every writer goes by: the worst verdict first, then what costs most of its step. */
void report_set_sort(struct report_set *set);

void report_terminal(const struct report_set *set, const struct report_style *style,
	struct arena *keep, struct out *out);

/* Jenkins' strict junit-10 shape, or the rich dialect with file, line and properties. */
enum junit_flavor { JUNIT_STRICT, JUNIT_RICH };
void report_junit(const struct report_set *set, enum junit_flavor flavor, struct arena *keep,
	struct out *out);

/*
 * Pages, filled into templates: a directory's, or missing for the embedded ones (template.h).  All
 * reports stand on one page; or each has its own, in a folder with an index that links to them.
 */
struct doc_template;
struct doc_template *report_html_load(struct str dir, struct arena *keep, struct diag *err);
enum html_form {
	HTML_WHOLE,
	HTML_LIST, /* links to the pages of the reports */
	HTML_ONE,  /* of the reports that a list links to */
};
void report_html(const struct report_set *set, enum html_form form, const struct doc_template *t,
	struct arena *keep, struct out *out);
#define HTML_INDEX "index.html"
/* The file of a report's own page, the same from run to run. */
struct str report_html_name(const struct report *r, struct arena *keep);

void report_json_write(const struct report_set *set, struct arena *keep, struct out *out);
bool report_json_read(struct str file, struct str text, struct arena *keep, struct report_set *ret,
	struct diag *err);

/* Outputs for CI systems (docs/outputs.md).  Each is bounded, and says what it left out. */
void report_sarif(const struct report_set *set, struct arena *keep, struct out *out);
void report_gitlab(const struct report_set *set, struct arena *keep, struct out *out);
/* Workflow commands, for the log of a step. */
void report_github(const struct report_set *set, struct arena *keep, struct out *out);
#define MARKDOWN_COMMENT 65536 /* characters of a comment; we count bytes, which are never fewer */
#define MARKDOWN_SUMMARY (1 << 20) /* bytes of the job summary of one step */
void report_markdown(
	const struct report_set *set, ptrdiff_t bytes, struct arena *keep, struct out *out);
void report_openmetrics(const struct report_set *set, struct arena *keep, struct out *out);

#endif
