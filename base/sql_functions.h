/*
 * The SQL functions that rules and queries may call: deterministic, and without side effects.
 */
#ifndef BASE_SQL_FUNCTIONS_H
#define BASE_SQL_FUNCTIONS_H

#include "base/sql.h"
#include "base/str.h"

enum function_result {
	RESULT_NUMBER,
	RESULT_TEXT,
	RESULT_ARGUMENT, /* of the type and unit of its last argument */
};

struct sql_function {
	struct str name;
	enum function_result result;
	bool keeps_unit; /* a number in the unit of its first argument */
	bool query_only;
	bool aggregate;		 /* over rows: has its place in a SELECT only */
	double (*math1)(double); /* ours, because SQLite may be built without it */
	double (*math2)(double, double);
	/* ours, because SQLite counts a step for any number of bytes */
	void (*text)(sqlite3_context *context, int count, sqlite3_value **args);
	int args_min, args_max;
	const char *foreign; /* what other languages call it: "average|mean"; or NULL */
};

extern const struct sql_function sql_functions[];
extern const ptrdiff_t sql_function_count;

const struct sql_function *sql_function_find(struct str name);		   /* NULL if not allowed */
bool sql_function_is_meant(const struct sql_function *f, struct str name); /* by a foreign one */
int sql_functions_register(struct sql_connection *c);

/* The longest pattern of LIKE and GLOB. */
enum { SQL_PATTERN_MAX = 256 };

#endif
