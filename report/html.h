/*
 * What a page shows, as records that templates are filled with.  Private to report/.
 *
 * Each record is one list of fields, with their meaning for people who write templates;
 * docs/templates.md is the same list, and a test compares them.  Values are made from struct report
 * alone, so that a page can be made later, from report.json.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/model.h"
#include "report/template.h"

#define HTML_SPAN(R, F)                                                                            \
	F(R, TEXT, text, "some words")                                                             \
	F(R, FLAG, is_code, "they stood between backquotes")

#define HTML_BLOCK(R, F)                                                                           \
	F(R, LIST(html_span), spans, "the words of a paragraph")                                   \
	F(R, TEXT, code, "lines of code, instead of spans")

#define HTML_FACT(R, F)                                                                            \
	F(R, TEXT, label, "what is counted: \"Step time\"")                                        \
	F(R, TEXT, value, "how much: \"32.5 ms\"")                                                 \
	F(R, TEXT, note, "a remark in small print")                                                \
	F(R, TEXT, tone, "\"bad\" or \"good\" where that can be said")                             \
	F(R, TEXT, section, "of a fleet: anchor of the section that has it in parts")

#define HTML_COUNT(R, F)                                                                           \
	F(R, TEXT, text, "\"2 failed\"")                                                           \
	F(R, TEXT, verdict, "the verdict that is counted")                                         \
	F(R, TEXT, target, "id of the section that shows them")

#define HTML_EVIDENCE(R, F)                                                                        \
	F(R, TEXT, role, "\"measured\" or \"limit\"")                                              \
	F(R, TEXT, name, "column or parameter")                                                    \
	F(R, TEXT, value, "with its unit")                                                         \
	F(R, TEXT, meaning, "of the column")

#define HTML_NEIGHBOUR(R, F)                                                                       \
	F(R, TEXT, name, "instruction")                                                            \
	F(R, TEXT, opcode, "\"fusion\"")                                                           \
	F(R, TEXT, shape, "of its result, with layout")                                            \
	F(R, TEXT, bytes, "of its result, as laid out")

#define HTML_SIDE(R, F)                                                                            \
	F(R, TEXT, role, "takes, self, holds or gives")                                            \
	F(R, TEXT, label, "the same for people")                                                   \
	F(R, LIST(html_neighbour), ops, "the heaviest, in the program's order")                    \
	F(R, TEXT, more, "how many are not listed")

#define HTML_SUBJECT(R, F)                                                                         \
	F(R, TEXT, id, "anchor of this one finding")                                               \
	F(R, TEXT, message, "what is wrong with it")                                               \
	F(R, TEXT, cost, "\"up to 6 ms\"")                                                         \
	F(R, TEXT, place, "file and line")                                                         \
	F(R, LIST(html_side), around, "where it stands in the program")

#define HTML_FINDING(R, F)                                                                         \
	F(R, TEXT, id, "anchor of the rule: \"rule-NAME\"")                                        \
	F(R, TEXT, subject_id, "anchor of this one finding")                                       \
	F(R, TEXT, rule, "name of the rule")                                                       \
	F(R, TEXT, verdict, "fail, warn or waived")                                                \
	F(R, TEXT, word, "the same for people")                                                    \
	F(R, FLAG, is_open, "the first one, whose card is unfolded")                               \
	F(R, PICTURE, icon, "the sign of the verdict")                                             \
	F(R, TEXT, message, "what is wrong")                                                       \
	F(R, TEXT, place, "file and line of the heaviest subject")                                 \
	F(R, TEXT, scope, "its JAX name stack")                                                    \
	F(R, TEXT, cost, "step time it costs")                                                     \
	F(R, PICTURE, share, "the same as a bar")                                                  \
	F(R, TEXT, number, "the rule's number beside its limits")                                  \
	F(R, PICTURE, limits, "the same as a bar")                                                 \
	F(R, TEXT, expected, "the rule's title: what holds in a good run")                         \
	F(R, LIST(html_evidence), evidence, "what was measured, and the limits")                   \
	F(R, LIST(html_subject), others, "more subjects of the same rule")                         \
	F(R, TEXT, others_count, "how many these are: \"24 more\"")                                \
	F(R, TEXT, others_more, "how many are not listed")                                         \
	F(R, LIST(html_subject), warned, "subjects the rule only warns of")                        \
	F(R, TEXT, warned_more, "how many are not listed")                                         \
	F(R, LIST(html_span), note, "why the verdict is not what the rule alone says")             \
	F(R, TEXT, unknown, "how many could not be judged")                                        \
	F(R, LIST(html_side), around, "where it stands in the program")                            \
	F(R, LIST(html_block), cause, "why it happens")                                            \
	F(R, LIST(html_block), fix, "what to do")                                                  \
	F(R, LIST(html_block), why, "why the rule exists")

#define HTML_RULE_NAME(R, F)                                                                       \
	F(R, TEXT, name, "name of the rule")                                                       \
	F(R, TEXT, id, "its anchor")

#define HTML_TROUBLE(R, F)                                                                         \
	F(R, LIST(html_rule_name), rules, "the rules that could not be judged")                    \
	F(R, LIST(html_rule_name), waiting, "the rules that wait for them")                        \
	F(R, PICTURE, icon, "the sign of the verdict")                                             \
	F(R, LIST(html_span), reason, "why not")                                                   \
	F(R, LIST(html_evidence), evidence, "what was seen")                                       \
	F(R, LIST(html_block), todo, "what to do about it")

#define HTML_RULE(R, F)                                                                            \
	F(R, TEXT, name, "name of the rule")                                                       \
	F(R, TEXT, id, "its anchor")                                                               \
	F(R, TEXT, title, "what holds in a good run")                                              \
	F(R, TEXT, verdict, "pass, not-applicable or off")                                         \
	F(R, TEXT, word, "the same for people")                                                    \
	F(R, LIST(html_span), reason, "why it was not judged")                                     \
	F(R, TEXT, number, "its number beside its limits")                                         \
	F(R, PICTURE, limits, "the same as a bar")                                                 \
	F(R, PICTURE, icon, "the sign of the verdict")

#define HTML_NOTE(R, F)                                                                            \
	F(R, TEXT, id, "check or diagnostic: \"RL202\"")                                           \
	F(R, TEXT, text, "what was seen")

#define HTML_PICTURE(R, F)                                                                         \
	F(R, TEXT, id, "its anchor")                                                               \
	F(R, TEXT, title, "what it shows")                                                         \
	F(R, TEXT, caption, "what is seen in it")                                                  \
	F(R, TEXT, size, "\"wide\" when it needs the whole width")                                 \
	F(R, PICTURE, drawing, "the drawing")

#define HTML_CELL(R, F)                                                                            \
	F(R, TEXT, text, "the value with its unit")                                                \
	F(R, TEXT, whole, "all of it, when it was cut")                                            \
	F(R, TEXT, value, "of a number, in base units: what rows are sorted by")                   \
	F(R, FLAG, is_number, "it is a number")                                                    \
	F(R, TEXT, tone, "of a fleet: \"bad\" or \"good\" where that can be said")                 \
	F(R, FLAG, is_short, "of a fleet: it is a text too short to be broken into lines")         \
	F(R, TEXT, label, "of a fleet: the head of its column")                                    \
	F(R, PICTURE, picture, "of a fleet: the same, drawn")

#define HTML_COLUMN(R, F)                                                                          \
	F(R, TEXT, name, "its head")                                                               \
	F(R, TEXT, meaning, "what stands in it")                                                   \
	F(R, FLAG, is_number, "its cells are numbers")                                             \
	F(R, FLAG, is_choice, "its cells are one of a few words")

#define HTML_ROW(R, F)                                                                             \
	F(R, TEXT, page, "of a fleet: the page of the run that it is about, where there is one")   \
	F(R, TEXT, head, "the name the row goes by")                                               \
	F(R, TEXT, head_whole, "all of it, when it was cut")                                       \
	F(R, TEXT, head_value, "of a number, in base units")                                       \
	F(R, LIST(html_cell), cells, "the other columns")

#define HTML_TABLE(R, F)                                                                           \
	F(R, TEXT, id, "its anchor")                                                               \
	F(R, TEXT, title, "its name")                                                              \
	F(R, TEXT, meaning, "what a row is")                                                       \
	F(R, TEXT, count, "how many rows, of how many")                                            \
	F(R, LIST(html_column), columns, "heads of the columns")                                   \
	F(R, LIST(html_row), rows, "the rows")

#define HTML_CHANGE(R, F)                                                                          \
	F(R, TEXT, time, "lost or won, per device and step: \"+1.2 ms\"")                          \
	F(R, TEXT, value, "the same in seconds")                                                   \
	F(R, TEXT, tone, "bad or good")                                                            \
	F(R, TEXT, change, "new, gone, changed, split, slower, faster, more-runs or fewer-runs")   \
	F(R, TEXT, name, "the op")                                                                 \
	F(R, TEXT, text, "kind, shape, what it feeds or replaces, and both times")                 \
	F(R, TEXT, place, "where in Python, else its scope")                                       \
	F(R, TEXT, name_whole, "all of the name, when it was cut")                                 \
	F(R, TEXT, text_whole, "the sentence with all names whole, when one was cut")              \
	F(R, TEXT, place_whole, "all of the place, when it was cut")

#define HTML_CHANGES(R, F)                                                                         \
	F(R, TEXT, title, "lost or won")                                                           \
	F(R, LIST(html_change), rows, "the largest first")                                         \
	F(R, TEXT, more, "how many are left out")                                                  \
	F(R, FLAG, has_places, "some of them have a place")

#define HTML_REPORT(R, F)                                                                          \
	F(R, TEXT, id, "anchor of the report")                                                     \
	F(R, TEXT, ids, "what begins every id of this report; empty when it is alone")             \
	F(R, TEXT, profile, "the profile as it was named")                                         \
	F(R, TEXT, page, "the file of its own page, on an index")                                  \
	F(R, TEXT, verdict, "fail, warn, inconclusive, pass or error")                             \
	F(R, TEXT, word, "the same for people")                                                    \
	F(R, PICTURE, icon, "the sign of the verdict")                                             \
	F(R, TEXT, machine, "\"TPU v5e x8\"")                                                      \
	F(R, TEXT, headline, "what happened, how much, where and what it costs")                   \
	F(R, TEXT, summary, "machine, hosts, steps and step time in a line")                       \
	F(R, TEXT, speaks_for, "how much of the device time the verdict is about, if not all")     \
	F(R, TEXT, sorts, "the sorts of steps, where there are several")                           \
	F(R, TEXT, inputs, "the files that were read, in a line")                                  \
	F(R, TEXT, promise, "what all fixes together give back")                                   \
	F(R, TEXT, rules, "name of the rule file")                                                 \
	F(R, TEXT, error, "why the profile could not be read")                                     \
	F(R, TEXT, error_id, "id of that diagnostic")                                              \
	F(R, TEXT, step, "step time")                                                              \
	F(R, TEXT, step_value, "the same in seconds")                                              \
	F(R, TEXT, gives_back, "what fixes give back, short")                                      \
	F(R, TEXT, gives_back_value, "the same in seconds")                                        \
	F(R, PICTURE, budget, "a step as it is, without the findings, and at its roofline")        \
	F(R, LIST(html_fact), facts, "the numbers at the top")                                     \
	F(R, LIST(html_count), counts, "rules by verdict")                                         \
	F(R, LIST(html_note), deltas, "what differs from the baseline")                            \
	F(R, LIST(html_changes), changes, "ops that changed against the baseline")                 \
	F(R, LIST(html_finding), found, "what failed, then what warns, each by its cost")          \
	F(R, LIST(html_finding), brief, "the same, but for one that the headline tells")           \
	F(R, LIST(html_trouble), unsure, "rules that could not be judged")                         \
	F(R, LIST(html_finding), waived, "findings that are waived")                               \
	F(R, LIST(html_rule), passed, "rules that passed")                                         \
	F(R, LIST(html_rule), skipped, "rules that do not apply, or are off")                      \
	F(R, LIST(html_note), notes, "remarks about the data")                                     \
	F(R, LIST(html_picture), pictures, "the pictures")                                         \
	F(R, LIST(html_table), tables, "the tables")                                               \
	F(R, FLAG, is_cut, "one of too many: it has neither pictures nor tables")

#define HTML_PAGE(R, F)                                                                            \
	F(R, TEXT, title, "for the window")                                                        \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, TEXT, index, "the file that lists all profiles, on the page of one of them")          \
	F(R, TEXT, count, "\"3 profiles: 1 failed, 2 passed\"")                                    \
	F(R, TEXT, verdict, "the worst of the reports'")                                           \
	F(R, PICTURE, icon, "its sign")                                                            \
	F(R, FLAG, is_batch, "there are several reports")                                          \
	F(R, LIST(html_report), reports, "one per profile")

/* All records of the page, and how messages call them; those not static serve other pages. */
#define HTML_RECORDS(X)                                                                            \
	X(static, html_span, "a span", HTML_SPAN)                                                  \
	X(static, html_block, "a block of prose", HTML_BLOCK)                                      \
	X(, html_fact, "a fact", HTML_FACT)                                                        \
	X(static, html_count, "a count", HTML_COUNT)                                               \
	X(static, html_evidence, "evidence", HTML_EVIDENCE)                                        \
	X(static, html_neighbour, "a neighbour", HTML_NEIGHBOUR)                                   \
	X(static, html_side, "a side of an op", HTML_SIDE)                                         \
	X(static, html_subject, "a further subject", HTML_SUBJECT)                                 \
	X(static, html_finding, "a finding", HTML_FINDING)                                         \
	X(static, html_rule_name, "a rule's name", HTML_RULE_NAME)                                 \
	X(static, html_trouble, "an inconclusive result", HTML_TROUBLE)                            \
	X(static, html_rule, "a rule", HTML_RULE)                                                  \
	X(, html_note, "a note", HTML_NOTE)                                                        \
	X(, html_picture, "a picture", HTML_PICTURE)                                               \
	X(static, html_cell, "a cell", HTML_CELL)                                                  \
	X(, html_column, "a column", HTML_COLUMN)                                                  \
	X(, html_row, "a row", HTML_ROW)                                                           \
	X(static, html_table, "a table", HTML_TABLE)                                               \
	X(static, html_change, "an op that changed", HTML_CHANGE)                                  \
	X(, html_changes, "ops that changed", HTML_CHANGES)                                        \
	X(static, html_report, "a report", HTML_REPORT)                                            \
	X(, html_page, "the page", HTML_PAGE)
#define X(scope, R, label, FIELDS) RECORD_STRUCT(R, FIELDS);
HTML_RECORDS(X)
#undef X
extern const struct record html_fact_record, html_note_record, html_picture_record,
	html_column_record, html_row_record, html_changes_record, html_page_record,
	html_diff_record;

/* ---- making them ----------------------------------------------------------------------------- */

#define LIST(items, count) ((struct template_list){ (items), (count) })

/* Prose with code in it: lines that begin with two blanks, and words between backquotes. */
struct template_list html_prose(struct str text, struct arena *keep);
struct template_list html_spans(struct str text, struct arena *keep); /* of one line */
/* At most `columns` characters, the last of them an ellipsis when something was cut. */
struct str html_clip(struct str s, int columns, struct arena *keep);
/* Letters, digits, '-', '_' and '.'; anything else becomes '-'. */
struct str html_slug(struct str s, struct arena *keep);

struct html_change html_change_of(const struct changes_row *c, struct arena *keep);
/* At most two lists: losses, and gains. */
struct template_list html_changes(
	const struct changes_row *rows, ptrdiff_t count, ptrdiff_t most, struct arena *keep);
/* A note for each. */
struct template_list html_lines(struct list lines, struct arena *keep);

void html_rules(const struct report *r, struct arena *keep, struct html_report *ret);
void html_tables(const struct report *r, struct arena *keep, struct html_report *ret);

#endif
