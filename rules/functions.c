/* The functions of the rule language.  See functions.h. */
#include "rules/functions.h"

#include <math.h>

/* Whatever reads a clock, a file, a random number or the schema is absent on purpose. */
const struct sql_function sql_functions[] = {
	{ STR_INIT("abs"), RESULT_NUMBER, true, false, false, NULL, NULL },
	{ STR_INIT("min"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("max"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("coalesce"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("ifnull"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("nullif"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("iif"), RESULT_ARGUMENT, true, false, false, NULL, NULL },
	{ STR_INIT("round"), RESULT_NUMBER, true, false, false, NULL, NULL },
	{ STR_INIT("ceil"), RESULT_NUMBER, true, false, false, ceil, NULL },
	{ STR_INIT("floor"), RESULT_NUMBER, true, false, false, floor, NULL },
	{ STR_INIT("sqrt"), RESULT_NUMBER, false, false, false, sqrt, NULL },
	{ STR_INIT("ln"), RESULT_NUMBER, false, false, false, log, NULL },
	{ STR_INIT("log2"), RESULT_NUMBER, false, false, false, log2, NULL },
	{ STR_INIT("log10"), RESULT_NUMBER, false, false, false, log10, NULL },
	{ STR_INIT("exp"), RESULT_NUMBER, false, false, false, exp, NULL },
	{ STR_INIT("pow"), RESULT_NUMBER, false, false, false, NULL, pow },
	{ STR_INIT("lower"), RESULT_TEXT, false, false, false, NULL, NULL },
	{ STR_INIT("upper"), RESULT_TEXT, false, false, false, NULL, NULL },
	{ STR_INIT("substr"), RESULT_TEXT, false, false, false, NULL, NULL },
	{ STR_INIT("length"), RESULT_NUMBER, false, false, false, NULL, NULL },
	{ STR_INIT("instr"), RESULT_NUMBER, false, false, false, NULL, NULL },
	{ STR_INIT("like"), RESULT_NUMBER, false, false, false, NULL, NULL },
	{ STR_INIT("glob"), RESULT_NUMBER, false, false, false, NULL, NULL },
	{ STR_INIT("count"), RESULT_NUMBER, false, false, true, NULL, NULL },
	{ STR_INIT("sum"), RESULT_NUMBER, true, false, true, NULL, NULL },
	{ STR_INIT("total"), RESULT_NUMBER, true, false, true, NULL, NULL },
	{ STR_INIT("avg"), RESULT_NUMBER, true, false, true, NULL, NULL },
	{ STR_INIT("group_concat"), RESULT_TEXT, false, true, true, NULL, NULL },
	{ STR_INIT("format"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("printf"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("replace"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("trim"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("ltrim"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("rtrim"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("typeof"), RESULT_TEXT, false, true, false, NULL, NULL },
	{ STR_INIT("sign"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("row_number"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("rank"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("dense_rank"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("percent_rank"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("cume_dist"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("ntile"), RESULT_NUMBER, false, true, false, NULL, NULL },
	{ STR_INIT("lag"), RESULT_ARGUMENT, true, true, false, NULL, NULL },
	{ STR_INIT("lead"), RESULT_ARGUMENT, true, true, false, NULL, NULL },
	{ STR_INIT("first_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL },
	{ STR_INIT("last_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL },
	{ STR_INIT("nth_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL },
};
const ptrdiff_t sql_function_count = (ptrdiff_t)(sizeof(sql_functions) / sizeof(sql_functions[0]));

const struct sql_function *sql_function_find(struct str name)
{
	for (ptrdiff_t i = 0; i < sql_function_count; i++)
		if (str_eq_nocase(sql_functions[i].name, name))
			return &sql_functions[i];
	return NULL;
}

/* NULL in, and outside of the function's domain, NULL out: unknown stays unknown. */
static void call_math(sqlite3_context *context, int count, sqlite3_value **args)
{
	const struct sql_function *f = sqlite3_user_data(context);

	for (int i = 0; i < count; i++) {
		int type = sqlite3_value_type(args[i]);
		if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
			return;
	}
	double a = sqlite3_value_double(args[0]);
	double result = f->math1 ? f->math1(a) : f->math2(a, sqlite3_value_double(args[1]));
	if (isfinite(result))
		sqlite3_result_double(context, result);
}

int sql_functions_register(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (ptrdiff_t i = 0; i < sql_function_count && code == SQLITE_OK; i++) {
		const struct sql_function *f = &sql_functions[i];

		if (f->math1 || f->math2)
			code = sqlite3_create_function_v2(db, f->name.p, f->math1 ? 1 : 2,
				SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
				(void *)(uintptr_t)f, call_math, NULL, NULL, NULL);
	}
	return code;
}
