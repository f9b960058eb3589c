/* The tables of the fields that page templates may use.  See html.h. */
#include "report/html.h"

static TEMPLATE_RECORD(html_span, "a span", HTML_SPAN);
static TEMPLATE_RECORD(html_block, "a block of prose", HTML_BLOCK);
static TEMPLATE_RECORD(html_fact, "a fact", HTML_FACT);
static TEMPLATE_RECORD(html_count, "a count", HTML_COUNT);
static TEMPLATE_RECORD(html_evidence, "evidence", HTML_EVIDENCE);
static TEMPLATE_RECORD(html_neighbour, "a neighbour", HTML_NEIGHBOUR);
static TEMPLATE_RECORD(html_side, "a side of an op", HTML_SIDE);
static TEMPLATE_RECORD(html_subject, "a further subject", HTML_SUBJECT);
static TEMPLATE_RECORD(html_finding, "a finding", HTML_FINDING);
static TEMPLATE_RECORD(html_rule_name, "a rule's name", HTML_RULE_NAME);
static TEMPLATE_RECORD(html_trouble, "an inconclusive result", HTML_TROUBLE);
static TEMPLATE_RECORD(html_rule, "a rule", HTML_RULE);
TEMPLATE_RECORD(html_note, "a note", HTML_NOTE);
TEMPLATE_RECORD(html_picture, "a picture", HTML_PICTURE);
static TEMPLATE_RECORD(html_cell, "a cell", HTML_CELL);
TEMPLATE_RECORD(html_column, "a column", HTML_COLUMN);
static TEMPLATE_RECORD(html_row, "a row", HTML_ROW);
static TEMPLATE_RECORD(html_table, "a table", HTML_TABLE);
static TEMPLATE_RECORD(html_change, "an op that changed", HTML_CHANGE);
TEMPLATE_RECORD(html_changes, "ops that changed", HTML_CHANGES);
static TEMPLATE_RECORD(html_report, "a report", HTML_REPORT);
TEMPLATE_RECORD(html_page, "the page", HTML_PAGE);
