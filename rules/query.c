/* SQL by hand.  See engine_query in judge.h. */
#include <math.h>

#include "rules/check.h"
#include "rules/engine.h"

/* A place in the SQL text, which may have several lines. */
static struct text_place place_in(struct str sql, ptrdiff_t at, ptrdiff_t width)
{
	struct str before = str_head(sql, at);
	struct text_place place = { STR_INIT("query"), sql, 1, 0, width };
	ptrdiff_t line = str_rfind_char(before, '\n');

	place.column = at - line;
	while (line >= 0) {
		place.line++;
		line = str_rfind_char(str_head(before, line), '\n');
	}
	return place;
}

static bool query_fail(const struct sql_fault *fault, struct str sql, struct diag *err)
{
	if (fault->at < 0)
		return diag_set(err, fault->id, "query: %.*s", STR_ARG(fault->text));
	return diag_caret(err, fault->id, place_in(sql, fault->at, fault->width), "%.*s",
		STR_ARG(fault->text));
}

/*
 * The check knows better words for a wrong name, but what SQLite accepts is not refused for its
 * name; a comparison that cannot be meant is.
 */
static sqlite3_stmt *prepare(struct engine *e, struct str sql, struct arena *keep, struct diag *err)
{
	struct sql_fault fault, better;
	struct sql_names names = { .is_query = true };
	struct str text = str_ends(sql, STR(";")) ? str_head(sql, sql.len - 1) : sql;
	sqlite3_stmt *stmt = engine_prepare(e, text, NULL, keep, &fault);
	bool ok = check_select(text, &names, keep, &better);

	if (!ok && (!stmt || better.id == DIAG_RULE_TYPE || better.id == DIAG_RULE_UNIT)) {
		sqlite3_finalize(stmt);
		query_fail(&better, sql, err);
		return NULL;
	}
	if (!stmt)
		query_fail(&fault, sql, err);
	return stmt;
}

static struct query_cell cell_at(sqlite3_stmt *stmt, int i)
{
	struct query_cell c = { .real = NAN };

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL:
		c.is_null = true;
		break;
	case SQLITE_INTEGER:
		c.is_integer = true;
		c.integer = sqlite3_column_int64(stmt, i);
		c.real = (double)c.integer;
		break;
	case SQLITE_FLOAT:
		c.real = sqlite3_column_double(stmt, i);
		break;
	default:
		c.is_text = true;
		c.text.p = (const char *)sqlite3_column_text(stmt, i);
		c.text.len = sqlite3_column_bytes(stmt, i);
		break;
	}
	return c;
}

struct result {
	sqlite3_stmt *stmt;
	struct str *columns;
	struct query_cell *cells;
	int count;
};

static bool send_row(struct result *r, query_row_fn *row, void *arg)
{
	for (int i = 0; i < r->count; i++)
		r->cells[i] = cell_at(r->stmt, i);
	return row(arg, r->columns, r->cells, r->count);
}

static bool send_rows(struct engine *e, struct result *r, query_row_fn *row, query_row_fn *header,
	void *arg, struct arena *keep, struct diag *err)
{
	struct sql_fault fault;
	bool more = !header || header(arg, r->columns, NULL, r->count);
	int code = SQLITE_DONE;

	while (more && (code = sqlite3_step(r->stmt)) == SQLITE_ROW)
		more = !row || send_row(r, row, arg);
	if (!more || code == SQLITE_DONE)
		return more;
	engine_step_fault(e, code, keep, &fault);
	return query_fail(&fault, STR(""), err);
}

bool engine_query(struct engine *e, const struct tables *tables, const struct tables *base,
	struct str sql, query_row_fn *row, query_row_fn *header, void *arg, struct diag *err)
{
	struct arena *keep = &e->scratch;

	engine_show(e, tables, base);
	e->is_query = true;
	e->steps_left = BUDGET_QUERY_STEPS;
	sql = str_trim(sql);
	struct result r = { .stmt = prepare(e, sql, keep, err) };
	bool ok = r.stmt != NULL;
	if (ok) {
		r.count = sqlite3_column_count(r.stmt);
		r.columns = arena_make(keep, struct str, r.count + 1);
		r.cells = arena_make(keep, struct query_cell, r.count + 1);
		for (int i = 0; i < r.count; i++)
			r.columns[i] = arena_str(keep, str_from(sqlite3_column_name(r.stmt, i)));
		ok = send_rows(e, &r, row, header, arg, keep, err);
	}
	sqlite3_finalize(r.stmt);
	e->is_query = false;
	engine_show(e, NULL, NULL);
	return ok;
}
