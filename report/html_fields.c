/*
 * The fields that page templates may use.  docs/templates.md is this list; a test compares them.
 */
#include "report/fields.h"
#include "report/html.h"

static const struct template_field span_fields[] = {
	TEXT(html_span, text, "some words"),
	FLAG(html_span, is_code, "they stood between backquotes"),
	END,
};
RECORD("a span", html_span, span_fields);

static const struct template_field block_fields[] = {
	MANY(html_block, spans, html_span_record, "the words of a paragraph"),
	TEXT(html_block, code, "lines of code, instead of spans"),
	END,
};
RECORD("a block of prose", html_block, block_fields);

static const struct template_field fact_fields[] = {
	TEXT(html_fact, label, "what is counted: \"Step time\""),
	TEXT(html_fact, value, "how much: \"32.5 ms\""),
	TEXT(html_fact, note, "a remark in small print"),
	TEXT(html_fact, tone, "\"bad\" or \"good\" where that can be said"),
	END,
};
RECORD("a fact", html_fact, fact_fields);

static const struct template_field count_fields[] = {
	TEXT(html_count, text, "\"2 failed\""),
	TEXT(html_count, verdict, "the verdict that is counted"),
	TEXT(html_count, target, "id of the section that shows them"),
	END,
};
RECORD("a count", html_count, count_fields);

static const struct template_field evidence_fields[] = {
	TEXT(html_evidence, role, "\"measured\" or \"limit\""),
	TEXT(html_evidence, name, "column or parameter"),
	TEXT(html_evidence, value, "with its unit"),
	TEXT(html_evidence, meaning, "of the column"),
	END,
};
RECORD("evidence", html_evidence, evidence_fields);

static const struct template_field neighbour_fields[] = {
	TEXT(html_neighbour, name, "instruction"),
	TEXT(html_neighbour, opcode, "\"fusion\""),
	TEXT(html_neighbour, shape, "of its result, with layout"),
	TEXT(html_neighbour, bytes, "of its result, as laid out"),
	END,
};
RECORD("a neighbour", html_neighbour, neighbour_fields);

static const struct template_field side_fields[] = {
	TEXT(html_side, role, "takes, self, holds or gives"),
	TEXT(html_side, label, "the same for people"),
	MANY(html_side, ops, html_neighbour_record, "the heaviest, in the program's order"),
	TEXT(html_side, more, "how many are not listed"),
	END,
};
RECORD("a side of an op", html_side, side_fields);

static const struct template_field subject_fields[] = {
	TEXT(html_subject, id, "anchor of this one finding"),
	TEXT(html_subject, message, "what is wrong with it"),
	TEXT(html_subject, cost, "\"up to 6 ms\""),
	TEXT(html_subject, place, "file and line"),
	MANY(html_subject, around, html_side_record, "where it stands in the program"),
	END,
};
RECORD("a further subject", html_subject, subject_fields);

static const struct template_field finding_fields[] = {
	TEXT(html_finding, id, "anchor of the rule: \"rule-NAME\""),
	TEXT(html_finding, subject_id, "anchor of this one finding"),
	TEXT(html_finding, rule, "name of the rule"),
	TEXT(html_finding, verdict, "fail, warn or waived"),
	TEXT(html_finding, word, "the same for people"),
	PICTURE(html_finding, icon, "the sign of the verdict"),
	TEXT(html_finding, message, "what is wrong"),
	TEXT(html_finding, place, "file and line of the heaviest subject"),
	TEXT(html_finding, scope, "its JAX name stack"),
	TEXT(html_finding, cost, "step time it costs"),
	PICTURE(html_finding, share, "the same as a bar"),
	TEXT(html_finding, expected, "the rule's title: what holds in a good run"),
	MANY(html_finding, evidence, html_evidence_record, "what was measured, and the limits"),
	MANY(html_finding, others, html_subject_record, "more subjects of the same rule"),
	TEXT(html_finding, others_more, "how many are not listed"),
	MANY(html_finding, warned, html_subject_record, "subjects the rule only warns of"),
	TEXT(html_finding, warned_more, "how many are not listed"),
	TEXT(html_finding, note, "why the verdict is not what the rule alone says"),
	TEXT(html_finding, unknown, "how many could not be judged"),
	MANY(html_finding, around, html_side_record, "where it stands in the program"),
	MANY(html_finding, cause, html_block_record, "why it happens"),
	MANY(html_finding, fix, html_block_record, "what to do"),
	MANY(html_finding, why, html_block_record, "why the rule exists"),
	END,
};
RECORD("a finding", html_finding, finding_fields);

static const struct template_field rule_name_fields[] = {
	TEXT(html_rule_name, name, "name of the rule"),
	TEXT(html_rule_name, id, "its anchor"),
	END,
};
RECORD("a rule's name", html_rule_name, rule_name_fields);

static const struct template_field trouble_fields[] = {
	MANY(html_trouble, rules, html_rule_name_record, "the rules that could not be judged"),
	PICTURE(html_trouble, icon, "the sign of the verdict"),
	MANY(html_trouble, reason, html_span_record, "why not"),
	MANY(html_trouble, evidence, html_evidence_record, "what was seen"),
	MANY(html_trouble, todo, html_block_record, "what to do about it"),
	END,
};
RECORD("an inconclusive result", html_trouble, trouble_fields);

static const struct template_field rule_fields[] = {
	TEXT(html_rule, name, "name of the rule"),
	TEXT(html_rule, id, "its anchor"),
	TEXT(html_rule, title, "what holds in a good run"),
	TEXT(html_rule, verdict, "pass, not-applicable or off"),
	TEXT(html_rule, word, "the same for people"),
	MANY(html_rule, reason, html_span_record, "why it was not judged"),
	PICTURE(html_rule, icon, "the sign of the verdict"),
	END,
};
RECORD("a rule", html_rule, rule_fields);

static const struct template_field note_fields[] = {
	TEXT(html_note, id, "check or diagnostic: \"RL202\""),
	TEXT(html_note, text, "what was seen"),
	FLAG(html_note, is_bad, "it is no good sign"),
	END,
};
const struct template_record html_note_record = { "a note", (ptrdiff_t)sizeof(struct html_note),
	note_fields };

static const struct template_field picture_fields[] = {
	TEXT(html_picture, id, "its anchor"),
	TEXT(html_picture, title, "what it shows"),
	TEXT(html_picture, caption, "what is seen in it"),
	TEXT(html_picture, size, "\"wide\" when it needs the whole width"),
	PICTURE(html_picture, drawing, "the drawing"),
	END,
};
RECORD("a picture", html_picture, picture_fields);

static const struct template_field cell_fields[] = {
	TEXT(html_cell, text, "the value with its unit"),
	TEXT(html_cell, whole, "all of it, when it was cut"),
	TEXT(html_cell, value, "of a number, in base units: what rows are sorted by"),
	FLAG(html_cell, is_number, "it is a number"),
	END,
};
RECORD("a cell", html_cell, cell_fields);

static const struct template_field column_fields[] = {
	TEXT(html_column, name, "its head"),
	TEXT(html_column, meaning, "what stands in it"),
	FLAG(html_column, is_number, "its cells are numbers"),
	FLAG(html_column, is_choice, "its cells are one of a few words"),
	END,
};
RECORD("a column", html_column, column_fields);

static const struct template_field row_fields[] = {
	TEXT(html_row, head, "the name the row goes by"),
	TEXT(html_row, head_whole, "all of it, when it was cut"),
	TEXT(html_row, head_value, "of a number, in base units"),
	MANY(html_row, cells, html_cell_record, "the other columns"),
	END,
};
RECORD("a row", html_row, row_fields);

static const struct template_field table_fields[] = {
	TEXT(html_table, id, "its anchor"),
	TEXT(html_table, title, "its name"),
	TEXT(html_table, meaning, "what a row is"),
	TEXT(html_table, count, "how many rows, of how many"),
	MANY(html_table, columns, html_column_record, "heads of the columns"),
	MANY(html_table, rows, html_row_record, "the rows"),
	END,
};
RECORD("a table", html_table, table_fields);

static const struct template_field change_fields[] = {
	TEXT(html_change, time, "lost or won, per device and step: \"+1.2 ms\""),
	TEXT(html_change, value, "the same in seconds"),
	TEXT(html_change, tone, "bad or good"),
	TEXT(html_change, change, "new, gone, changed, split, slower or faster"),
	TEXT(html_change, name, "the op"),
	TEXT(html_change, text, "kind, shape, what it feeds or replaces, and both times"),
	TEXT(html_change, place, "where in Python, else its scope"),
	TEXT(html_change, name_whole, "all of the name, when it was cut"),
	TEXT(html_change, text_whole, "the sentence with all names whole, when one was cut"),
	TEXT(html_change, place_whole, "all of the place, when it was cut"),
	END,
};
RECORD("an op that changed", html_change, change_fields);

static const struct template_field changes_fields[] = {
	TEXT(html_changes, title, "lost or won"),
	MANY(html_changes, rows, html_change_record, "the largest first"),
	TEXT(html_changes, more, "how many are left out"),
	FLAG(html_changes, has_places, "some of them have a place"),
	END,
};
const struct template_record html_changes_record = { "ops that changed",
	(ptrdiff_t)sizeof(struct html_changes), changes_fields };

static const struct template_field report_fields[] = {
	TEXT(html_report, id, "anchor of the report"),
	TEXT(html_report, ids, "what begins every id of this report; empty when it is alone"),
	TEXT(html_report, profile, "the profile as it was named"),
	TEXT(html_report, verdict, "fail, warn, inconclusive, pass or error"),
	TEXT(html_report, word, "the same for people"),
	PICTURE(html_report, icon, "the sign of the verdict"),
	TEXT(html_report, machine, "\"TPU v5e x8\""),
	TEXT(html_report, summary, "machine, hosts, steps and step time in a line"),
	TEXT(html_report, inputs, "the files that were read, in a line"),
	TEXT(html_report, promise, "what all fixes together give back"),
	TEXT(html_report, rules, "name of the rule file"),
	TEXT(html_report, error, "why the profile could not be read"),
	TEXT(html_report, error_id, "id of that diagnostic"),
	TEXT(html_report, step, "step time"),
	TEXT(html_report, step_value, "the same in seconds"),
	TEXT(html_report, gives_back, "what fixes give back, short"),
	TEXT(html_report, gives_back_value, "the same in seconds"),
	TEXT(html_report, first_finding, "the rule that costs most"),
	PICTURE(html_report, budget, "a step as it is, without the findings, and at its roofline"),
	MANY(html_report, facts, html_fact_record, "the numbers at the top"),
	MANY(html_report, counts, html_count_record, "rules by verdict"),
	MANY(html_report, deltas, html_note_record, "what differs from the baseline"),
	MANY(html_report, changes, html_changes_record, "ops that changed against the baseline"),
	MANY(html_report, failed, html_finding_record, "rules that failed"),
	MANY(html_report, warned, html_finding_record, "rules that warn"),
	MANY(html_report, unsure, html_trouble_record, "rules that could not be judged"),
	MANY(html_report, waived, html_finding_record, "findings that are waived"),
	MANY(html_report, passed, html_rule_record, "rules that passed"),
	MANY(html_report, skipped, html_rule_record, "rules that do not apply, or are off"),
	MANY(html_report, notes, html_note_record, "remarks about the data"),
	MANY(html_report, pictures, html_picture_record, "the pictures"),
	MANY(html_report, tables, html_table_record, "the tables"),
	FLAG(html_report, is_cut, "one of too many: it has neither pictures nor tables"),
	END,
};
RECORD("a report", html_report, report_fields);

static const struct template_field page_fields[] = {
	TEXT(html_page, title, "for the window"),
	TEXT(html_page, version, "of rooflint"),
	TEXT(html_page, count, "\"3 profiles: 1 failed, 2 passed\""),
	TEXT(html_page, verdict, "the worst of the reports'"),
	PICTURE(html_page, icon, "its sign"),
	FLAG(html_page, is_batch, "there are several reports"),
	MANY(html_page, reports, html_report_record, "one per profile"),
	END,
};
const struct template_record html_page_record = { "the page", (ptrdiff_t)sizeof(struct html_page),
	page_fields };
