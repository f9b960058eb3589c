/*
 * Rows of tables from text, for tests: "ops name=dot kind=matmul p50_s=1e-3".
 *
 * The run has one row, which later lines complete; every other line is a row of its own.
 */
#ifndef TESTS_UNIT_ROWS_H
#define TESTS_UNIT_ROWS_H

#include "measure/tables.h"

void rows_tell(struct tables *tables, struct arena *keep, const char *lines);

#endif
