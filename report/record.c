/* The tables of report.json's records.  See record.h and model.h. */
#include "report/model.h"

/* ---- words ----------------------------------------------------------------------------------- */

static struct str rule_verdict(int value)
{
	return verdict_name((enum verdict)value);
}

/* What report_build and report_error write; a rule has other verdicts. */
static struct str report_verdict(int value)
{
	bool is_rules =
		value == VERDICT_WAIVED || value == VERDICT_NOT_APPLICABLE || value == VERDICT_OFF;
	return is_rules ? MISSING : verdict_name((enum verdict)value);
}

static struct str unit_word(int value)
{
	return str_from(unit_name((enum unit)value));
}

static struct str role_word(int value)
{
	return around_role_name((enum around_role)value);
}

const struct record_words verdict_words = { "verdict", rule_verdict, VERDICT_OFF + 1,
	"which is not a verdict" };
const struct record_words report_verdict_words = { "report_verdict", report_verdict,
	VERDICT_ERROR + 1, "which is not a verdict of a profile" };
const struct record_words unit_words = { "unit", unit_word, UNIT_DOLLARS + 1,
	"which is not a unit" };
const struct record_words role_words = { "role", role_word, AROUND_ROLES,
	"which is none of " AROUND_WORDS };

/* ---- records --------------------------------------------------------------------------------- */

RECORD(evidence, "evidence", "a value that was read", EVIDENCE);

RECORD(neighbour, "neighbour", "an op of the graph", NEIGHBOUR);
RECORD(around, "around", "where the subject stands in the program's graph", AROUND);

RECORD(found_place, "place", "a row that makes up a part of a value", FOUND_PLACE);
RECORD(finding, "finding", "one subject of a rule that did not pass", FINDING);

static RECORD(rule_number, "number", NULL, RULE_NUMBER);
RECORD(rule_result, "result", "what became of a rule", RULE_RESULT);

#define DIAG_NOTE(R, F) F(R, DIAG, id, "of the diagnostic") F(R, TEXT, text, NULL)
RECORD(diag_note, "note", "a remark", DIAG_NOTE);
RECORD(report_error, "error", "the profile could not be read", REPORT_ERROR);
RECORD(report, "report", "one profile", REPORT_FIELDS);

static const struct record_field document_fields[] = {
	{ .name = "format", RECORD_ROW_CONSTANT(REPORT_FORMAT) },
	{ .name = "version", RECORD_ROW_CONSTANT(REPORT_VERSION) },
	{ .name = "tables_version",
		RECORD_ROW_CONSTANT(TABLES_VERSION),
		.meaning = "version of the tables' columns" },
	RECORD_NAMED(report_set, "tool_version", TEXT, tool_version, "the rooflint that wrote it")
		RECORD_NAMED(report_set, "reports", ITEMS(report), items,
			"in the order of the command line"){ 0 },
};
const struct record document_record = { "document", "what `rooflint check --json` writes",
	(ptrdiff_t)sizeof(struct report_set), document_fields };

const struct shelf tables_shelf = { "tables",
	"what a page may plot; a table without rows is absent", table_defs, TABLE_COUNT,
	REPORT_MAX_ROWS };
const struct shelf plots_shelf = { "plots",
	"what a page draws and no rule judges; one without rows is absent", plot_defs, PLOT_COUNT,
	PLOT_MAX_ROWS };
