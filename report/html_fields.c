/* The tables of the fields that page templates may use.  See html.h. */
#include "report/html.h"

static RECORD(html_span, "a span", NULL, HTML_SPAN);
static RECORD(html_block, "a block of prose", NULL, HTML_BLOCK);
static RECORD(html_fact, "a fact", NULL, HTML_FACT);
static RECORD(html_count, "a count", NULL, HTML_COUNT);
static RECORD(html_evidence, "evidence", NULL, HTML_EVIDENCE);
static RECORD(html_neighbour, "a neighbour", NULL, HTML_NEIGHBOUR);
static RECORD(html_side, "a side of an op", NULL, HTML_SIDE);
static RECORD(html_subject, "a further subject", NULL, HTML_SUBJECT);
static RECORD(html_finding, "a finding", NULL, HTML_FINDING);
static RECORD(html_rule_name, "a rule's name", NULL, HTML_RULE_NAME);
static RECORD(html_trouble, "an inconclusive result", NULL, HTML_TROUBLE);
static RECORD(html_rule, "a rule", NULL, HTML_RULE);
RECORD(html_note, "a note", NULL, HTML_NOTE);
RECORD(html_picture, "a picture", NULL, HTML_PICTURE);
static RECORD(html_cell, "a cell", NULL, HTML_CELL);
RECORD(html_column, "a column", NULL, HTML_COLUMN);
static RECORD(html_row, "a row", NULL, HTML_ROW);
static RECORD(html_table, "a table", NULL, HTML_TABLE);
static RECORD(html_change, "an op that changed", NULL, HTML_CHANGE);
RECORD(html_changes, "ops that changed", NULL, HTML_CHANGES);
static RECORD(html_report, "a report", NULL, HTML_REPORT);
RECORD(html_page, "the page", NULL, HTML_PAGE);
