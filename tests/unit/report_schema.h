/*
 * The JSON Schema (2020-12) of report.json, made from the same column lists as the tables, so
 * that document and schema cannot part.  docs/report.schema.json is this text.
 */
#ifndef TESTS_UNIT_REPORT_SCHEMA_H
#define TESTS_UNIT_REPORT_SCHEMA_H

#include "base/out.h"

void report_schema(struct arena *keep, struct out *out);

#endif
