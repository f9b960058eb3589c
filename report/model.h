/*
 * What the writers of report/ share: the words of the model, its lookups, and text that is safe
 * to show.  Private to report/.
 *
 * Refuses: judging.  A verdict is repeated here, never derived.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "base/json.h"
#include "base/map.h"
#include "report/report.h"

/*
 * The gate of every writer: text_clean, but newlines stay.  A report that was built here is clean
 * already and comes back as it is; one that was read from a file, or filled by hand, may not be.
 */
struct str clean_lines(struct arena *keep, struct str s);
struct str clean_copy(struct arena *keep, struct str s); /* the same, in `keep` */

/* The row of a table. */
void *table_row(const struct table_def *def, const struct table *t, ptrdiff_t index);

/* The run's numbers; all NULL when nothing is known of it.  For tables: the number of that name. */
const struct run_row *run_of(const struct report *r);
double fact_real(const struct report *r, struct str name);
const struct rule_result *rule_of(const struct report *r, struct str name); /* or NULL */

const struct quality_row *check_of(const struct report *r, struct str name); /* or NULL */

/* Too few steady steps for a verdict about time: what ran is shown as it was seen. */
bool is_only_seen(const struct report *r);

ptrdiff_t count_results(const struct report *r, enum verdict v);

/* Findings of one rule with one verdict: they share cause and fix, so they are shown together. */
struct group {
	const struct finding **items; /* as sorted in the report */
	ptrdiff_t count;
	double gain_s; /* sum of what is known, NaN when nothing is */
	/* The same, where what lies outside the steps costs as much of the window. */
	double cost_s;
};
/*
 * In the report's order, the costliest first.  Subjects that a failed rule only warns of are not
 * among them: they stand with its failures.
 */
ptrdiff_t group_findings(
	const struct report *r, enum verdict v, struct arena *keep, struct group **ret);
/* Those that failed, then those that warn. */
ptrdiff_t group_open(const struct report *r, struct arena *keep, struct group **ret);
/* The findings of one rule, in any verdict given; count 0 when there are none. */
struct group group_of(const struct report *r, struct str rule, enum verdict v, struct arena *keep);

/* The finding that stands for the rule, its first, or NULL; and what all give. */
const struct finding *finding_of(const struct report *r, struct str rule);
double rule_gain(const struct report *r, struct str rule);

/* "train.py:41", or without a line, or missing. */
struct str place_text(struct str file, double line, struct arena *keep);
bool is_line(double line);
/* Names that no two share: "x", and where that is taken "x #2", "x #3". */
struct unique {
	struct map taken;
	int64_t *numbers; /* of each name, that of the last one like it */
	ptrdiff_t count, cap;
};
struct str unique_name(struct unique *u, struct str text, struct arena *keep);

/* A file and its folder: a first line has no room for more. */
struct str path_end(struct str path);

/* The reason, and what was withheld for it; missing when there is none. */
struct str reason_of(const struct rule_result *rule, struct arena *keep);

/*
 * Inconclusive rules that say the same reason and the same to do, and those that wait for them:
 * one missing chip or closed gate stops a dozen.  A rule that tells no reason stands alone.
 */
struct trouble {
	const struct rule_result **rules; /* those whose reason it is, then those that wait */
	ptrdiff_t own, count;
	struct str reason; /* with what was withheld, if of one rule; never empty */
	struct str todo;   /* missing where a finding has said the same, and what to do */
};
ptrdiff_t group_troubles(const struct report *r, struct arena *keep, struct trouble **ret);

/*
 * What to do about a rule that could not be judged: by the columns that were NULL, by the gate
 * that stands in its way, or where to read on.
 */
struct str advice_for(const struct report *r, const struct judgement *j,
	const struct rule_result *result, struct arena *keep);

/* The step, or what is predicted of it, beside the first baseline; NULL: not compared. */
const struct deltas_row *step_delta(const struct report *r);
/* "3 more baselines like these would settle whether it is slower."; missing: it is no question. */
struct str comparison_needs(const struct report *r, struct arena *keep);

/* ---- the records of report.json (record.h), in the order of the schema ----------------------- */

void json_add_cell(
	cJSON *o, const char *key, const struct column *c, const void *row, struct arena *keep);

#define REPORT_FORMAT "rooflint-report"
extern const struct record document_record; /* of struct report_set */
extern const struct record report_error_record, report_record, finding_record, evidence_record,
	around_record, neighbour_record, found_place_record, rule_result_record, diag_note_record;
extern const struct record_words verdict_words, report_verdict_words, unit_words, role_words;

/* A set of tables: what the document calls it, and how many rows each may have. */
struct shelf {
	const char *name, *meaning;
	const struct table_def *defs;
	int count, most;
};
extern const struct shelf tables_shelf, plots_shelf;

#endif
