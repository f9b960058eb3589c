/*
 * One virtual table per table of the run, named like it and always there ("eponymous").
 *
 * Rows are handed out as they stand in memory, nothing is copied.  Equality on key, family or name
 * goes through a hash index built on first use, so that joins of ops with edges or collectives do
 * not become quadratic; every other constraint is a scan.
 */
#include <string.h>

#include "base/map.h"
#include "base/out.h"
#include "rules/engine.h"

struct cursor {
	sqlite3_vtab_cursor base;      /* first: SQLite hands this pointer back */
	ptrdiff_t row;		       /* the current row, or past the end */
	const struct row_index *index; /* NULL: a scan */
};

/*
 * Rows by one text column; those of one text are chained in ascending order.  SQLite checks the
 * equality again: rows without a text are chained with the empty one.
 */
struct row_index {
	struct map first;
	ptrdiff_t *next; /* by row; -1: it is the last */
};

enum { INDEXED_COUNT = 3 };
static const struct str indexed_columns[INDEXED_COUNT] = { STR_INIT("key"), STR_INIT("family"),
	STR_INIT("name") };

static struct source *source_of(sqlite3_vtab_cursor *c)
{
	return (struct source *)c->pVtab;
}

static const struct table *table_of(const struct source *s)
{
	static const struct table nothing;

	const struct tables *t = s->is_base ? s->engine->base : s->engine->tables;

	return t ? &t->items[s->id] : &nothing;
}

static const void *row_at(const struct source *s, ptrdiff_t row)
{
	return (const char *)table_of(s)->rows + row * s->def->row_bytes;
}

static int x_connect(sqlite3 *db, void *arg, int count, const char *const *args, sqlite3_vtab **ret,
	char **message)
{
	(void)count, (void)args, (void)message;
	struct source *s = arg;
	struct arena *keep = &s->engine->keep;
	struct out *o = out_memory(keep);

	out_z(o, "CREATE TABLE x(");
	for (ptrdiff_t i = 0; i < s->def->column_count; i++) {
		out_z(o, i ? ",\"" : "\"");
		out_str(o, s->def->columns[i].name);
		out_z(o, s->def->columns[i].type == COLUMN_TEXT ? "\" TEXT" : "\" REAL");
	}
	out_z(o, ")");
	s->engine->sql.is_declaring = true;
	int code = sqlite3_declare_vtab(db, arena_z(keep, out_text(o)));
	s->engine->sql.is_declaring = false;
	*ret = &s->vtab;
	return code;
}

static int x_disconnect(sqlite3_vtab *vtab)
{
	(void)vtab; /* part of the engine */
	return SQLITE_OK;
}

/* Number of the index that serves a constraint, or -1. */
static int index_for(const struct source *s, sqlite3_index_info *info, int i)
{
	int column = info->aConstraint[i].iColumn;

	if (!info->aConstraint[i].usable || column < 0 ||
		info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY"))
		return -1;
	for (int k = 0; k < INDEXED_COUNT; k++)
		if (str_eq(s->def->columns[column].name, indexed_columns[k]))
			return k;
	return -1;
}

/*
 * Rules are prepared before there are rows, and rows come in the order of the plan: it is one plan
 * for all runs.  The run is one row; what else a run has many of may be joined.
 */
static int x_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct source *s = (const struct source *)vtab;
	double rows = s->id == TABLE_run ? 1 : 1000;

	info->idxNum = -1;
	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	for (int i = 0; i < info->nConstraint; i++) {
		int k = index_for(s, info, i);

		if (k < 0)
			continue;
		info->idxNum = k;
		info->aConstraintUsage[i].argvIndex = 1;
		info->estimatedCost = 2;
		info->estimatedRows = 1;
		break;
	}
	return SQLITE_OK;
}

static int x_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = sqlite3_malloc64(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	c->base.pVtab = vtab;
	*ret = &c->base;
	return SQLITE_OK;
}

static int x_close(sqlite3_vtab_cursor *c)
{
	sqlite3_free(c);
	return SQLITE_OK;
}

static struct row_index *index_build(const struct source *s, struct str column)
{
	struct arena *keep = &s->engine->scratch;
	const struct column *c = table_column(s->def, column);
	ptrdiff_t rows = table_of(s)->count;
	struct row_index *x = arena_make(keep, struct row_index, 1);
	ptrdiff_t *last = arena_make(keep, ptrdiff_t, rows + 1); /* by the first of a text */

	x->next = arena_make(keep, ptrdiff_t, rows + 1);
	for (ptrdiff_t i = 0; i < rows; i++) {
		struct str text = cell_text(c, row_at(s, i));
		ptrdiff_t first = map_put(&x->first, text, (int32_t)i, keep);

		if (first < i)
			x->next[last[first]] = i;
		x->next[i] = -1;
		last[first] = i;
	}
	return x;
}

static int x_filter(
	sqlite3_vtab_cursor *cursor, int k, const char *plan, int count, sqlite3_value **args)
{
	(void)plan;
	struct cursor *c = (struct cursor *)cursor;
	struct source *s = source_of(cursor);

	c->row = 0;
	c->index = NULL;
	if (k < 0 || count != 1 || sqlite3_value_type(args[0]) != SQLITE_TEXT)
		return SQLITE_OK;
	if (!s->indexes[k])
		s->indexes[k] = index_build(s, indexed_columns[k]);
	c->index = s->indexes[k];
	struct str text = { (const char *)sqlite3_value_text(args[0]),
		sqlite3_value_bytes(args[0]) };
	if (!text.p)
		return SQLITE_NOMEM;
	c->row = map_get(&c->index->first, text);
	if (c->row < 0)
		c->row = table_of(s)->count;
	return SQLITE_OK;
}

static int x_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	c->row = c->index ? c->index->next[c->row] : c->row + 1;
	if (c->row < 0)
		c->row = table_of(source_of(cursor))->count;
	return SQLITE_OK;
}

static int x_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->row >= table_of(source_of(cursor))->count;
}

/* Texts live in the run's tables, which outlive every statement: nothing is copied. */
static int x_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i)
{
	const struct source *s = source_of(cursor);
	const struct column *c = &s->def->columns[i];
	const void *row = row_at(s, ((struct cursor *)cursor)->row);

	if (cell_is_null(c, row))
		sqlite3_result_null(context);
	else if (c->type == COLUMN_REAL)
		sqlite3_result_double(context, cell_real(c, row));
	else
		sqlite3_result_text64(context, cell_text(c, row).p,
			(sqlite3_uint64)cell_text(c, row).len, SQLITE_STATIC, SQLITE_UTF8);
	return SQLITE_OK;
}

static int x_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = ((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

int vtab_register(struct source *source, sqlite3 *db)
{
	/* No xCreate: such a table needs no CREATE VIRTUAL TABLE and cannot be dropped. */
	static const sqlite3_module module = {
		.xConnect = x_connect,
		.xDisconnect = x_disconnect,
		.xBestIndex = x_best_index,
		.xOpen = x_open,
		.xClose = x_close,
		.xFilter = x_filter,
		.xNext = x_next,
		.xEof = x_eof,
		.xColumn = x_column,
		.xRowid = x_rowid,
	};

	return sqlite3_create_module_v2(db, source->def->name.p, &module, source, NULL);
}
