/* SQL by hand.  See engine_query in judge.h. */
#include <math.h>

#include "rules/check.h"
#include "rules/engine.h"

static bool query_fail(const struct sql_fault *fault, struct str sql, struct diag *err)
{
	if (fault->at < 0)
		return diag_set(err, fault->id, "query: %.*s", STR_ARG(fault->text));
	struct text_place place = text_place_at(STR("query"), sql, fault->at);
	place.width = fault->width;
	return diag_caret(err, fault->id, place, "%.*s", STR_ARG(fault->text));
}

static sqlite3_stmt *prepare(struct engine *e, struct str sql, struct arena *keep, struct diag *err)
{
	struct sql_fault fault;
	struct sql_facts ignored;
	const struct sql_names names = { .table = NULL };
	struct str text = str_ends(sql, STR(";")) ? str_head(sql, sql.len - 1) : sql;
	/* `keep` is the scratch arena: what the checks need lies behind what the engine keeps. */
	bool is_good = check_select(text, &names, keep, e->keep, &ignored, &fault);
	sqlite3_stmt *stmt = is_good ? sql_prepare(&e->sql, text, keep, &fault) : NULL;

	if (!stmt && is_good && fault.at >= 0)
		check_tell(text, &names, keep, e->keep, &fault);
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
		c.text = sql_text(stmt, i);
		break;
	}
	return c;
}

/* Rows to whoever asked, until they have enough: then their diagnostic stands. */
static bool send_rows(struct engine *e, sqlite3_stmt *stmt, query_row_fn *row, query_row_fn *header,
	void *arg, struct diag *err)
{
	struct sql_fault fault;
	int count = sqlite3_column_count(stmt), code = SQLITE_DONE;
	struct str *columns = arena_make(&e->scratch, struct str, count + 1);
	struct query_cell *cells = arena_make(&e->scratch, struct query_cell, count + 1);

	for (int i = 0; i < count; i++)
		columns[i] = arena_str(&e->scratch, str_from(sqlite3_column_name(stmt, i)));
	bool more = !header || header(arg, columns, NULL, count);
	while (more && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (int i = 0; i < count && row; i++)
			cells[i] = cell_at(stmt, i);
		more = !row || row(arg, columns, cells, count);
	}
	if (!more || code == SQLITE_DONE)
		return more;
	engine_step_fault(e, code, &e->scratch, &fault);
	return query_fail(&fault, STR(""), err);
}

bool engine_query(struct engine *e, const struct tables *tables, const struct tables *base,
	struct str sql, query_row_fn *row, query_row_fn *header, void *arg, struct diag *err)
{
	engine_show(e, tables, base);
	engine_grant_query(e);
	sqlite3_stmt *stmt = prepare(e, str_trim(sql), &e->scratch, err);
	bool ok = stmt && send_rows(e, stmt, row, header, arg, err);
	sqlite3_finalize(stmt);
	e->sql.calls = SQL_CALLS_RULES;
	engine_show(e, NULL, NULL);
	return ok;
}
