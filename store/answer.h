/*
 * Answers of a ClickHouse server: a line for each row, cells between tabs, texts escaped, \N for
 * NULL, and a last line behind the rows, so that an answer that was cut differs from one that has
 * ended.
 *
 * Refuses: rows of another number of cells than the question has.
 */
#ifndef STORE_ANSWER_H
#define STORE_ANSWER_H

#include "store/question.h"

/* Behind a question. */
#define ANSWER_FORMAT                                                                              \
	"FORMAT CustomSeparated SETTINGS format_custom_escaping_rule = 'Escaped', "                \
	"format_custom_field_delimiter = '\t', format_custom_row_after_delimiter = '\n', "         \
	"format_custom_result_after_delimiter = '\\\\.\n'"

enum answer_state {
	ANSWER_WHOLE,
	ANSWER_BROKEN, /* it was cut, or is no answer */
	ANSWER_LEFT    /* `take` ended it, and said why */
};
/* `scratch`: of a row's cells. */
enum answer_state answer_read(struct str body, int cells, struct arena *scratch,
	answer_row_fn *take, void *arg, struct diag *err);

#endif
