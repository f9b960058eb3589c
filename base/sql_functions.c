/* The functions of SQL that may be called.  See sql_functions.h. */
#include "base/sql_functions.h"

#include <math.h>

/* ---- texts: as SQLite's own, but each byte looked at is paid for ---------------------------- */

static bool is_text(sqlite3_value *v, struct str *ret)
{
	if (sqlite3_value_type(v) == SQLITE_NULL)
		return false;
	ret->p = (const char *)sqlite3_value_text(v);
	ret->len = sqlite3_value_bytes(v);
	return ret->p != NULL;
}

/* Bytes that are looked at in the time of a step. */
enum { BYTES_PER_STEP = 32 };

/* False ends the statement: the rule has spent its budget. */
static bool pay(sqlite3_context *context, ptrdiff_t bytes)
{
	bool ok = sql_spend(sqlite3_user_data(context), bytes / BYTES_PER_STEP);

	if (!ok)
		sqlite3_result_error_code(context, SQLITE_INTERRUPT);
	return ok;
}

/* Bytes of the first `count` characters; *found is how many there are. */
static ptrdiff_t characters(struct str s, int64_t count, int64_t *found)
{
	ptrdiff_t at = 0;

	for (*found = 0; at < s.len && *found < count; ++*found)
		for (at++; at < s.len && ((unsigned char)s.p[at] & 0xc0) == 0x80;)
			at++;
	return at;
}

static void change_case(sqlite3_context *context, sqlite3_value *arg, char from, char to)
{
	struct str s;
	char *copy;

	if (!is_text(arg, &s) || !pay(context, s.len))
		return;
	copy = sqlite3_malloc64((sqlite3_uint64)s.len + 1);
	if (!copy) {
		sqlite3_result_error_nomem(context);
		return;
	}
	for (ptrdiff_t i = 0; i < s.len; i++)
		copy[i] =
			(char)(s.p[i] >= from && s.p[i] < from + 26 ? s.p[i] - from + to : s.p[i]);
	sqlite3_result_text64(context, copy, (sqlite3_uint64)s.len, sqlite3_free, SQLITE_UTF8);
}

static void call_lower(sqlite3_context *context, int count, sqlite3_value **args)
{
	(void)count;
	change_case(context, args[0], 'A', 'a');
}

static void call_upper(sqlite3_context *context, int count, sqlite3_value **args)
{
	(void)count;
	change_case(context, args[0], 'a', 'A');
}

static void call_length(sqlite3_context *context, int count, sqlite3_value **args)
{
	struct str s;
	int64_t n = 0;

	(void)count;
	if (!is_text(args[0], &s) || !pay(context, s.len))
		return;
	characters(s, INT64_MAX, &n);
	sqlite3_result_int64(context, n);
}

/* The characters from the Y-th on, Z of them or the Z before it; Y counts from the end below 0. */
static void call_substr(sqlite3_context *context, int count, sqlite3_value **args)
{
	struct str s;
	int64_t all, from, to, ignored;

	for (int i = 1; i < count; i++)
		if (sqlite3_value_type(args[i]) == SQLITE_NULL)
			return;
	if (!is_text(args[0], &s) || !pay(context, s.len))
		return;
	characters(s, INT64_MAX, &all);
	int64_t y = sqlite3_value_int(args[1]),
		z = count > 2 ? sqlite3_value_int(args[2]) : INT32_MAX;
	from = y < 0 ? all + y + 1 : y;
	to = z < 0 ? from : from + z;
	from = z < 0 ? from + z : from;
	from = from < 1 ? 1 : from;
	ptrdiff_t begin = characters(s, from - 1, &ignored);
	ptrdiff_t end = to > from ? characters(s, to - 1, &ignored) : begin;
	sqlite3_result_text(context, s.p + begin, (int)(end - begin), SQLITE_TRANSIENT);
}

static void call_instr(sqlite3_context *context, int count, sqlite3_value **args)
{
	struct str s, needle;
	int64_t before;

	(void)count;
	if (!is_text(args[0], &s) || !is_text(args[1], &needle) ||
		!pay(context, (s.len + 1) * (needle.len + 1)))
		return;
	ptrdiff_t at = needle.len ? str_find(s, needle) : 0;
	characters(str_head(s, at < 0 ? 0 : at), INT64_MAX, &before);
	sqlite3_result_int64(context, at < 0 ? 0 : before + 1);
}

static bool pay_match(sqlite3_context *context, struct str pattern, struct str s)
{
	if (pattern.len > SQL_PATTERN_MAX)
		sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
	return pattern.len <= SQL_PATTERN_MAX && pay(context, (s.len + 1) * (pattern.len + 1));
}

static void call_like(sqlite3_context *context, int count, sqlite3_value **args)
{
	struct str pattern, s, escape = STR("");

	if (!is_text(args[0], &pattern) || !is_text(args[1], &s) ||
		(count > 2 && !is_text(args[2], &escape)) || !pay_match(context, pattern, s))
		return;
	if (count > 2 && (escape.len != 1 || escape.p[0] == '%' || escape.p[0] == '_'))
		sqlite3_result_error(context, "ESCAPE takes one ASCII character, not % or _", -1);
	else
		sqlite3_result_int(context, !sqlite3_strlike(pattern.p, s.p,
						    escape.len ? (unsigned char)escape.p[0] : 0));
}

static void call_glob(sqlite3_context *context, int count, sqlite3_value **args)
{
	struct str pattern, s;

	(void)count;
	if (is_text(args[0], &pattern) && is_text(args[1], &s) && pay_match(context, pattern, s))
		sqlite3_result_int(context, !sqlite3_strglob(pattern.p, s.p));
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Whatever reads a clock, a file, a random number or the schema is absent on purpose. */
const struct sql_function sql_functions[] = {
	{ STR_INIT("abs"), RESULT_NUMBER, true, false, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("min"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0, "least" },
	{ STR_INIT("max"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0,
		"greatest" },
	{ STR_INIT("coalesce"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0,
		"nvl" },
	{ STR_INIT("ifnull"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("nullif"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("iif"), RESULT_ARGUMENT, true, false, false, NULL, NULL, NULL, 0, 0, "if" },
	{ STR_INIT("round"), RESULT_NUMBER, true, false, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("ceil"), RESULT_NUMBER, true, false, false, ceil, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("floor"), RESULT_NUMBER, true, false, false, floor, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("sqrt"), RESULT_NUMBER, false, false, false, sqrt, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("ln"), RESULT_NUMBER, false, false, false, log, NULL, NULL, 0, 0, "log" },
	{ STR_INIT("log2"), RESULT_NUMBER, false, false, false, log2, NULL, NULL, 0, 0, "log" },
	{ STR_INIT("log10"), RESULT_NUMBER, false, false, false, log10, NULL, NULL, 0, 0, "log" },
	{ STR_INIT("exp"), RESULT_NUMBER, false, false, false, exp, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("pow"), RESULT_NUMBER, false, false, false, NULL, pow, NULL, 0, 0, "power" },
	{ STR_INIT("lower"), RESULT_TEXT, false, false, false, NULL, NULL, call_lower, 1, 1, NULL },
	{ STR_INIT("upper"), RESULT_TEXT, false, false, false, NULL, NULL, call_upper, 1, 1, NULL },
	{ STR_INIT("substr"), RESULT_TEXT, false, false, false, NULL, NULL, call_substr, 2, 3,
		NULL },
	{ STR_INIT("length"), RESULT_NUMBER, false, false, false, NULL, NULL, call_length, 1, 1,
		NULL },
	{ STR_INIT("instr"), RESULT_NUMBER, false, false, false, NULL, NULL, call_instr, 2, 2,
		NULL },
	{ STR_INIT("like"), RESULT_NUMBER, false, false, false, NULL, NULL, call_like, 2, 3, NULL },
	{ STR_INIT("glob"), RESULT_NUMBER, false, false, false, NULL, NULL, call_glob, 2, 2, NULL },
	{ STR_INIT("count"), RESULT_NUMBER, false, false, true, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("sum"), RESULT_NUMBER, true, false, true, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("total"), RESULT_NUMBER, true, false, true, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("avg"), RESULT_NUMBER, true, false, true, NULL, NULL, NULL, 0, 0,
		"average|mean" },
	{ STR_INIT("group_concat"), RESULT_TEXT, false, true, true, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("format"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("printf"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("replace"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("trim"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("ltrim"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("rtrim"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("typeof"), RESULT_TEXT, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("sign"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("row_number"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("rank"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("dense_rank"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("percent_rank"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0,
		NULL },
	{ STR_INIT("cume_dist"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("ntile"), RESULT_NUMBER, false, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("lag"), RESULT_ARGUMENT, true, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("lead"), RESULT_ARGUMENT, true, true, false, NULL, NULL, NULL, 0, 0, NULL },
	{ STR_INIT("first_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL, NULL, 0, 0,
		NULL },
	{ STR_INIT("last_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL, NULL, 0, 0,
		NULL },
	{ STR_INIT("nth_value"), RESULT_ARGUMENT, true, true, false, NULL, NULL, NULL, 0, 0, NULL },
};
const ptrdiff_t sql_function_count = COUNT_OF(sql_functions);

const struct sql_function *sql_function_find(struct str name)
{
	for (ptrdiff_t i = 0; i < sql_function_count; i++)
		if (str_eq_nocase(sql_functions[i].name, name))
			return &sql_functions[i];
	return NULL;
}

bool sql_function_is_meant(const struct sql_function *f, struct str name)
{
	struct str rest = str_from(f->foreign), word;

	while (str_next(&rest, '|', &word))
		if (str_eq_nocase(word, name))
			return true;
	return false;
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

int sql_functions_register(struct sql_connection *c)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = SQLITE_OK;

	for (ptrdiff_t i = 0; i < sql_function_count && code == SQLITE_OK; i++) {
		const struct sql_function *f = &sql_functions[i];

		if (f->math1 || f->math2)
			code = sqlite3_create_function_v2(c->db, f->name.p, f->math1 ? 1 : 2, flags,
				(void *)(uintptr_t)f, call_math, NULL, NULL, NULL);
		for (int n = f->args_min; f->text && n <= f->args_max && code == SQLITE_OK; n++)
			code = sqlite3_create_function_v2(
				c->db, f->name.p, n, flags, c, f->text, NULL, NULL, NULL);
	}
	return code;
}
