/* Formulas as SQL over the shapes of a call.  See formula.h. */
#include "measure/formula.h"

#include <math.h>
#include "base/sql.h"
#include "hlo/cost.h"

struct prepared {
	const struct formula *formula;
	sqlite3_stmt *statement; /* NULL: it has a mistake */
};

struct formulas {
	struct sql_connection sql;
	struct arena *keep;
	bool broken; /* SQLite could not start */
	const struct hlo_module *module;
	const struct hlo_instruction *call; /* whose shapes are meant; NULL: of none all is NULL */
	struct prepared *items;
	ptrdiff_t count, cap;
};

/* ---- functions ------------------------------------------------------------------------------- */

static const struct formulas *of(sqlite3_context *c)
{
	return sqlite3_user_data(c);
}

/* A whole number; -1 for anything else. */
static ptrdiff_t index_of(sqlite3_value *v)
{
	double x = sqlite3_value_type(v) == SQLITE_NULL ? -1 : sqlite3_value_double(v);

	return x >= 0 && x < INT32_MAX && x == floor(x) ? (ptrdiff_t)x : -1;
}

/* An operand's array; NULL where there is none. */
static const struct shape *operand_of(const struct formulas *f, ptrdiff_t k)
{
	if (!f->call || k < 0 || k >= f->call->operand_count)
		return NULL;
	return hlo_operand_array(f->module, f->call, k);
}

/* Of a tuple the first array: the others are workspace. */
static const struct shape *result_of(const struct formulas *f)
{
	return f->call ? shape_leaf(&f->call->shape, 0) : NULL;
}

static void give(sqlite3_context *c, double value)
{
	if (isnan(value))
		sqlite3_result_null(c);
	else
		sqlite3_result_double(c, value);
}

/* A size that is not known saturates at the largest integer. */
static void give_size(sqlite3_context *c, int64_t size)
{
	give(c, size >= 0 && size < INT64_MAX ? (double)size : NAN);
}

static void give_dim(sqlite3_context *c, const struct shape *s, sqlite3_value *v)
{
	double at = sqlite3_value_double(v);

	if (s && at < 0)
		at += (double)s->rank;
	bool known = s && sqlite3_value_type(v) != SQLITE_NULL && at >= 0 && at < (double)s->rank &&
		     at == floor(at);
	give(c, known && s->dims[(ptrdiff_t)at] >= 0 ? (double)s->dims[(ptrdiff_t)at] : NAN);
}

static void give_dtype(sqlite3_context *c, const struct shape *s)
{
	struct str name = s ? dtype_name(s->dtype) : MISSING;

	if (name.p)
		sqlite3_result_text(c, name.p, (int)name.len, SQLITE_STATIC);
}

/* Of the result, or of the operand that the arguments begin with. */
static const struct shape *shape_of(sqlite3_context *c, bool is_result, sqlite3_value **v)
{
	return is_result ? result_of(of(c)) : operand_of(of(c), index_of(v[0]));
}

static void dim(sqlite3_context *c, int count, sqlite3_value **v)
{
	give_dim(c, shape_of(c, count == 1, v), v[count - 1]);
}

static void elements(sqlite3_context *c, int count, sqlite3_value **v)
{
	const struct shape *s = shape_of(c, count == 0, v);
	give_size(c, s ? shape_elements(s) : -1);
}

static void bytes(sqlite3_context *c, int count, sqlite3_value **v)
{
	const struct shape *s = shape_of(c, count == 0, v);
	give_size(c, s ? shape_logical_bytes(s) : -1);
}

static void operand_rank(sqlite3_context *c, int count, sqlite3_value **v)
{
	const struct shape *s = shape_of(c, count == 0, v);
	give(c, s ? (double)s->rank : NAN);
}

static void operand_dtype(sqlite3_context *c, int count, sqlite3_value **v)
{
	give_dtype(c, shape_of(c, count == 0, v));
}

/* Factors are arrays of floating-point numbers: not tables of pages, lengths or masks. */
static ptrdiff_t factor_at(
	const struct hlo_module *m, const struct hlo_instruction *call, ptrdiff_t k)
{
	for (ptrdiff_t i = 0; i < call->operand_count; i++) {
		const struct shape *s = hlo_operand_array(m, call, i);
		if (s && s->rank >= 2 && dtype_is_float(s->dtype) && k-- == 0)
			return i;
	}
	return -1;
}

ptrdiff_t formula_factor(const struct hlo_module *m, const struct hlo_instruction *call)
{
	return factor_at(m, call, 0);
}

static void operand_factor(sqlite3_context *c, int count, sqlite3_value **v)
{
	const struct formulas *f = of(c);
	ptrdiff_t k = index_of(v[0]),
		  at = k < 0 || !f->call ? -1 : factor_at(f->module, f->call, k);
	(void)count;
	give(c, at < 0 ? NAN : (double)at);
}

static void out_count(sqlite3_context *c, int count, sqlite3_value **v)
{
	(void)count, (void)v;
	give(c, of(c)->call ? (double)of(c)->call->shape.leaves : NAN);
}

/* docs/rules.md has them with their meaning. */
const struct sql_own_function formula_functions[] = {
	{ STR_INIT("dim"), 2, "dim(operand, i)", dim, false },
	{ STR_INIT("rank"), 1, "rank(operand)", operand_rank, false },
	{ STR_INIT("elements"), 1, "elements(operand)", elements, false },
	{ STR_INIT("bytes"), 1, "bytes(operand)", bytes, false },
	{ STR_INIT("dtype"), 1, "dtype(operand)", operand_dtype, true },
	{ STR_INIT("factor"), 1, "factor(k)", operand_factor, false },
	{ STR_INIT("out_dim"), 1, "out_dim(i)", dim, false },
	{ STR_INIT("out_elements"), 0, "out_elements()", elements, false },
	{ STR_INIT("out_bytes"), 0, "out_bytes()", bytes, false },
	{ STR_INIT("out_count"), 0, "out_count()", out_count, false },
	{ STR_INIT("abs"), 1, NULL, NULL, false },
	{ STR_INIT("coalesce"), -1, NULL, NULL, false },
	{ STR_INIT("iif"), 3, NULL, NULL, false },
	{ STR_INIT("max"), -1, NULL, NULL, false },
	{ STR_INIT("min"), -1, NULL, NULL, false },
	{ STR_INIT("nullif"), 2, NULL, NULL, false },
	{ STR_INIT("round"), -1, NULL, NULL, false },
	{ { NULL, 0 }, 0, NULL, NULL, false },
};

/* ---- computing ------------------------------------------------------------------------------- */

struct formulas *formulas_new(struct arena *keep)
{
	struct formulas *f = arena_make(keep, struct formulas, 1);

	f->keep = keep;
	return f;
}

void formulas_free(struct formulas *f)
{
	f->count = 0;
	sql_close(&f->sql);
}

static bool may_read_nothing(void *arg, const char *table, const char *column)
{
	(void)arg, (void)table, (void)column;
	return false;
}

/* An expression that computes a kernel's FLOPs has some hundred bytes and operations. */
static const struct sql_limit limits[] = {
	{ SQLITE_LIMIT_LENGTH, 4096 },
	{ SQLITE_LIMIT_SQL_LENGTH, 4096 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 64 },
	{ SQLITE_LIMIT_VDBE_OP, 4000 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 1 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
};
enum { BUDGET_STEPS = 10000 }; /* of one evaluation */

static bool is_open(struct formulas *f)
{
	if (f->sql.db || f->broken)
		return !f->broken;
	f->sql = (struct sql_connection){ .steps_left = BUDGET_STEPS,
		.all_left = INT64_MAX,
		.may_read = may_read_nothing,
		.own = formula_functions,
		.purpose = "arithmetic over the shapes of operands",
		.own_arg = f };
	f->broken = sql_open(&f->sql, limits, COUNT_OF(limits)) != SQLITE_OK;
	if (!f->broken)
		sql_guard(&f->sql);
	return !f->broken;
}

bool formula_parse(
	struct str text, struct arena *keep, struct formula *ret, struct sql_fault *fault)
{
	struct formulas *f = formulas_new(keep);
	sqlite3_stmt *statement = NULL;

	*ret = (struct formula){ text };
	*fault = (struct sql_fault){ DIAG_LIMIT, 0, 1, STR("SQLite cannot start"), false };
	if (is_open(f))
		statement = sql_expression(&f->sql, text, keep, fault);
	/* Without a call only what is the same for all of them has a value. */
	bool ok = statement != NULL, has_value = ok && sqlite3_step(statement) == SQLITE_ROW;
	if (has_value && sql_number(statement, 0) < 0)
		ok = sql_fail(fault, keep, DIAG_RULE_TYPE, 0, text.len,
			"this is %.6g for every call, and no work is less than 0",
			sql_number(statement, 0));
	sqlite3_finalize(statement);
	formulas_free(f);
	return ok;
}

static sqlite3_stmt *prepared(struct formulas *f, const struct formula *formula)
{
	struct sql_fault ignored;

	for (ptrdiff_t i = 0; i < f->count; i++)
		if (f->items[i].formula == formula)
			return f->items[i].statement;
	struct prepared *p = arena_push(f->keep, f->items, f->count, f->cap);
	p->formula = formula;
	p->statement = sql_expression(&f->sql, formula->text, f->keep, &ignored);
	return p->statement;
}

/* The statement at its row; NULL where it has none. */
static sqlite3_stmt *computed(struct formulas *f, const struct formula *formula,
	const struct hlo_module *m, const struct hlo_instruction *call)
{
	sqlite3_stmt *statement = formula->text.p && is_open(f) ? prepared(f, formula) : NULL;

	f->module = m;
	f->call = call;
	sqlite3_reset(statement);
	f->sql.steps_left = BUDGET_STEPS;
	return statement && sqlite3_step(statement) == SQLITE_ROW ? statement : NULL;
}

double formula_value(struct formulas *f, const struct formula *formula, const struct hlo_module *m,
	const struct hlo_instruction *call)
{
	sqlite3_stmt *at = computed(f, formula, m, call);
	double value = at ? sql_number(at, 0) : NAN;

	return value >= 0 && isfinite(value) ? value : NAN;
}

enum dtype formula_dtype(struct formulas *f, const struct formula *formula,
	const struct hlo_module *m, const struct hlo_instruction *call)
{
	sqlite3_stmt *at = computed(f, formula, m, call);
	const unsigned char *text = at ? sqlite3_column_text(at, 0) : NULL;

	return text ? dtype_find(str_from((const char *)text)) : DTYPE_INVALID;
}
