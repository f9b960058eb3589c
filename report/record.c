/* The tables of report.json's records.  See record.h. */
#include "report/record.h"

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

#define ROW(key, kind, record, member, what)                                                       \
	.name = key, .type = RECORD_##kind, .offset = offsetof(struct record, member),             \
	.meaning = what
#define NAMED(key, kind, record, member, what)                                                     \
	{                                                                                          \
		ROW(key, kind, record, member, what)                                               \
	}
#define FIELD(kind, record, member, what) NAMED(#member, kind, record, member, what)
#define NEEDED(key, record, member, what)                                                          \
	{                                                                                          \
		ROW(key, TEXT, record, member, what), .is_needed = true                            \
	}
#define WORD(record, member, list, needed)                                                         \
	{                                                                                          \
		ROW(#member, WORD, record, member, NULL), .words = &(list), .is_needed = needed    \
	}
#define LIST_OF(key, parent, member, counter, items, what)                                         \
	{                                                                                          \
		ROW(key, LIST, parent, member, what),                                              \
			.record = &(items), .count_offset = offsetof(struct parent, counter)       \
	}
#define PART(key, part)                                                                            \
	{                                                                                          \
		.name = key, .type = RECORD_PART, .record = &(part)                                \
	}
#define CONSTANT(key, value, what)                                                                 \
	{                                                                                          \
		.name = key, .type = RECORD_CONSTANT, .meaning = what, .text = value               \
	}
#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}

static const struct record_field evidence_fields[] = {
	NEEDED("name", report_evidence, column, "a column, or a parameter of the rule"),
	{ .name = "value", .type = RECORD_VALUE },
	WORD(report_evidence, unit, unit_words, false),
	NAMED("limit", FLAG, report_evidence, is_limit,
		"a parameter of the rule, not something measured"),
	FIELD(TEXT, report_evidence, meaning, "of the column"),
	END,
};
const struct record evidence_record = { "evidence", "a value that was read",
	(ptrdiff_t)sizeof(struct report_evidence), evidence_fields, NULL };

static const struct record_field neighbour_fields[] = {
	WORD(neighbour, role, role_words, true),
	FIELD(TEXT, neighbour, name, "instruction"),
	FIELD(TEXT, neighbour, opcode, NULL),
	FIELD(TEXT, neighbour, shape, "of its result, with layout"),
	FIELD(REAL, neighbour, bytes, "of its result, as laid out"),
	END,
};
const struct record neighbour_record = { "neighbour", "an op of the graph",
	(ptrdiff_t)sizeof(struct neighbour), neighbour_fields, NULL };

static const struct record_field around_fields[] = {
	NAMED("takes_left_out", REAL, report_finding, around_left[AROUND_TAKES],
		"ops it takes from that are not listed"),
	NAMED("holds_left_out", REAL, report_finding, around_left[AROUND_HOLDS],
		"ops in it that are not listed"),
	NAMED("gives_left_out", REAL, report_finding, around_left[AROUND_GIVES],
		"ops that take from it and are not listed"),
	LIST_OF("ops", report_finding, around, around_count, neighbour_record,
		"the heaviest of each role, in the program's order"),
	END,
};
const struct record around_record = { "around", "where the subject stands in the program's graph",
	(ptrdiff_t)sizeof(struct report_finding), around_fields, "ops" };

static const struct record_field place_fields[] = {
	NEEDED("subject", found_place, subject, "the row's key"),
	FIELD(TEXT, found_place, name, "the row's name, for people"),
	FIELD(REAL, found_place, value, "its part, in the rule's unit"),
	FIELD(TEXT, found_place, source_file, "where to look"),
	FIELD(REAL, found_place, source_line, NULL),
	FIELD(TEXT, found_place, scope, "JAX name stack"),
	END,
};
const struct record place_record = { "place", "a row that makes up a part of a value",
	(ptrdiff_t)sizeof(struct found_place), place_fields, NULL };

static const struct record_field finding_fields[] = {
	NEEDED("rule", report_finding, rule, "name of the rule"),
	WORD(report_finding, verdict, verdict_words, true),
	FIELD(TEXT, report_finding, subject, "the row's key, stable over recompiles"),
	FIELD(TEXT, report_finding, name, "the row's name, for people"),
	FIELD(TEXT, report_finding, message, "what is wrong"),
	FIELD(REAL, report_finding, value, "the number that is limited, in the rule's unit"),
	FIELD(REAL, report_finding, bytes, "of memory that it would give back"),
	FIELD(FLAG, report_finding, of_window,
		"work outside the steps: claimed_s is for as much of the window as a step lasts"),
	FIELD(REAL, report_finding, gain_s, "seconds per step credited to this finding"),
	FIELD(REAL, report_finding, claimed_s, "the same before each second was credited once"),
	FIELD(TEXT, report_finding, source_file, "where to look"),
	FIELD(REAL, report_finding, source_line, NULL),
	FIELD(TEXT, report_finding, scope, "JAX name stack"),
	FIELD(TEXT, report_finding, missing, "columns that were unknown, separated by commas"),
	FIELD(TEXT, report_finding, note, "why the verdict is not what the rule alone says"),
	FIELD(TEXT, report_finding, waiver_ends, "last day of the waiver that holds, or held"),
	FIELD(REAL, report_finding, seen,
		"reports in a row with it, this one too; null: no --previous"),
	FIELD(FLAG, report_finding, known, "it failed in the previous report, too"),
	LIST_OF("evidence", report_finding, evidence, evidence_count, evidence_record,
		"what the rule's expression read"),
	LIST_OF("places", report_finding, places, place_count, place_record,
		"the rows that make up the value, the largest first"),
	PART("around", around_record),
	FIELD(TEXT, report_finding, cause, "the likely cause"),
	FIELD(TEXT, report_finding, fix, "what to do"),
	FIELD(TEXT, report_finding, why, "why the rule exists"),
	END,
};
const struct record finding_record = { "finding", "one subject of a rule that did not pass",
	(ptrdiff_t)sizeof(struct report_finding), finding_fields, NULL };

static const struct record_field result_fields[] = {
	NEEDED("name", report_rule, name, NULL),
	FIELD(TEXT, report_rule, title, "what the rule demands"),
	FIELD(TEXT, report_rule, group, "what it is about"),
	WORD(report_rule, verdict, verdict_words, true),
	NAMED("value", REAL, report_rule, number.value,
		"the number that is limited, of the worst subject"),
	{ ROW("unit", WORD, report_rule, number.unit, "of value, numbers and limits"),
		.words = &unit_words },
	NAMED("at_least", FLAG, report_rule, number.at_least, "the limits are lower ones"),
	NAMED("warn_limit", REAL, report_rule, number.warn_limit, "beyond it, it warns"),
	NAMED("fail_limit", REAL, report_rule, number.fail_limit, "beyond it, it fails"),
	NAMED("warn_number", REAL, report_rule, number.warn,
		"the smallest limit at which the rule would not warn; null: any would do"),
	NAMED("fail_number", REAL, report_rule, number.fail,
		"the smallest limit at which it would not fail for what lies beyond it"),
	NAMED("warn_headroom", REAL, report_rule, number.warn_headroom,
		"share of the limit that is left; below 0: beyond it"),
	NAMED("fail_headroom", REAL, report_rule, number.fail_headroom, "the same for the failure"),
	FIELD(REAL, report_rule, cost, "of its findings together, or of what it let be: a share"),
	FIELD(FLAG, report_rule, of_capacity, "the share is of the memory, else of the step"),
	FIELD(REAL, report_rule, let_be, "subjects beyond a limit that together do not matter"),
	FIELD(TEXT, report_rule, reason, "why it is not applicable, inconclusive or off"),
	FIELD(TEXT, report_rule, closed_gate, "the gate that holds it up"),
	FIELD(REAL, report_rule, withheld,
		"subjects that would not pass, while a gate holds it up"),
	FIELD(TEXT, report_rule, todo, "what would make it conclusive"),
	FIELD(REAL, report_rule, subjects, "rows it judged"),
	FIELD(REAL, report_rule, unknown, "rows it could not judge"),
	FIELD(FLAG, report_rule, gate, "other rules rely on it"),
	FIELD(FLAG, report_rule, demanded, "being inconclusive makes the run so"),
	FIELD(FLAG, report_rule, breaks,
		"it made the exit status 1 or 4, with --fail-on and --inconclusive"),
	END,
};
const struct record result_record = { "result", "what became of a rule",
	(ptrdiff_t)sizeof(struct report_rule), result_fields, NULL };

static const struct record_field note_fields[] = {
	FIELD(DIAG, report_note, id, "of the diagnostic"),
	FIELD(TEXT, report_note, text, NULL),
	END,
};
const struct record note_record = { "note", "a remark", (ptrdiff_t)sizeof(struct report_note),
	note_fields, NULL };

static const struct record_field error_fields[] = {
	NAMED("id", DIAG, report, error_id, "of the diagnostic"),
	NEEDED("text", report, error, "what is wrong, where, and what to do"),
	END,
};
const struct record error_record = { "error", "the profile could not be read",
	(ptrdiff_t)sizeof(struct report), error_fields, "text" };

static const struct record_field report_fields[] = {
	NEEDED("profile", report, profile, "as given on the command line"),
	WORD(report, verdict, report_verdict_words, true),
	FIELD(TEXT, report, rules, "the rule file or built-in set"),
	PART("error", error_record),
	FIELD(REAL, report, gain_s, "seconds per step that all findings together would give back"),
	{ .name = "facts", .type = RECORD_FACTS },
	LIST_OF("findings", report, findings, finding_count, finding_record,
		"by verdict, then gain"),
	LIST_OF("results", report, results, result_count, result_record,
		"every rule, in the order of the rule file"),
	LIST_OF("notes", report, notes, note_count, note_record, "remarks about the data itself"),
	FIELD(TABLES, report, tables, NULL),
	FIELD(PLOTS, report, plots, NULL),
	END,
};
const struct record report_record = { "report", "one profile", (ptrdiff_t)sizeof(struct report),
	report_fields, NULL };

static const struct record_field document_fields[] = {
	CONSTANT("format", REPORT_FORMAT, NULL),
	CONSTANT("version", REPORT_VERSION, NULL),
	CONSTANT("tables_version", TABLES_VERSION, "version of the tables' columns"),
	FIELD(TEXT, report_set, tool_version, "the rooflint that wrote it"),
	LIST_OF("reports", report_set, items, count, report_record,
		"in the order of the command line"),
	END,
};
const struct record document_record = { "document", "what `rooflint check --json` writes",
	(ptrdiff_t)sizeof(struct report_set), document_fields, NULL };

const struct shelf tables_shelf = { "tables",
	"what a page may plot; a table without rows is absent", table_defs, TABLE_COUNT,
	REPORT_MAX_ROWS };
const struct shelf plots_shelf = { "plots",
	"what a page draws and no rule judges; one without rows is absent", plot_defs, PLOT_COUNT,
	PLOT_MAX_ROWS };
