/*
 * Stores in ClickHouse, over HTTP.
 *
 * A run is one row (rowbinary.h), so that it is there whole or not at all, and goes to one shard.
 * Rows with the same hash are the same; a ReplacingMergeTree drops them when it merges, at a time
 * of its own, so a scan drops them itself.
 *
 * Refuses: making or changing tables.  The names of database and table need no quotes (address.h).
 */
#include "base/text.h"
#include "base/when.h"
#include "store/kind.h"
#include "store/address.h"
#include "store/rowbinary.h"
#include "store/sqlite.h"

/*
 * A batch is one block of the server's, which is written whole or not at all, far below the million
 * rows at which it would begin another.
 */
#define BATCH_BYTES ((ptrdiff_t)8 << 20)
/* Runs of large profiles come slowly; what was judged is not to be lost with the program. */
#define BATCH_S 2
/* Runs asked for at once: at some 10 kB each a tenth of what an answer may have. */
#define PAGE_ROWS    500
#define ANSWER_BYTES ((ptrdiff_t)64 << 20)
/* Columns of a table: those of facts, and what an owner has added. */
#define SCHEMA_BYTES ((ptrdiff_t)256 << 10)

struct clickhouse {
	struct address address;
	struct store_link link;
	bool is_checked;      /* the table is one of ours */
	struct arena waiting; /* the batch */
	struct arena page, row;
	struct out *batch; /* NULL when nothing waits */
	double batch_since_s;
	int64_t version; /* the year of the server's; 0: it was not asked */
	struct arena *keep;
	struct facts_db local; /* what an old server has; its db is NULL until it is asked */
};

/* ---- asking ---------------------------------------------------------------------------------- */

/* What to do, by the number of the server's exception; is_access: about who asks. */
static const struct {
	uint64_t code;
	const char *says;
	bool is_access;
} sayings[] = {
	{ 60, "has no such table; `rooflint facts --format clickhouse` prints one", false },
	{ 81, "has no such database", false },
	{ 192, "knows no such user", true },
	{ 193, "refuses the password", true },
	{ 194, "demands a password", true },
	{ 195, "refuses this machine's address for that user", true },
	{ 164, "lets that user only read", false },
	{ 497, "gives that user too few rights; SELECT and INSERT on the table are needed", false },
	{ 516, "refuses the user or the password", true },
};

static struct str name_of(const struct clickhouse *c)
{
	return c->address.text;
}

static bool refused(struct clickhouse *c, const struct store_answer *a, struct diag *err)
{
	enum { SHOWN = 300 };
	/* "Code: 60, e.displayText() = DB::Exception: ..." */
	struct str digits = a->body;
	uint64_t code = 0;
	if (str_take(&digits, STR("Code: ")))
		str_digits(digits, &code);
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++)
		if (sayings[i].code == code)
			return diag_set(err, DIAG_STORE, "store '%.*s' %s%s", STR_ARG(name_of(c)),
				sayings[i].says,
				sayings[i].is_access
					? "; $ROOFLINT_CLICKHOUSE_USER and "
					  "$ROOFLINT_CLICKHOUSE_PASSWORD say both, unless its "
					  "address names others"
					: "");
	struct str said = text_clean(&c->page, str_head(str_trim(a->body), SHOWN));
	return diag_set(err, DIAG_STORE_SERVER, "store '%.*s': %.*s%s%.*s%s", STR_ARG(name_of(c)),
		STR_ARG(a->error), said.len ? ": \"" : "", STR_ARG(said), said.len ? "\"" : "");
}

/* The answer lives in `page`, which is cleared. */
static bool ask(struct clickhouse *c, const char *parameters, struct str body, ptrdiff_t most,
	struct str *ret, struct diag *err)
{
	struct store_answer a = { 0 };
	struct store_question q = { .user_from = c->address.user_from,
		.password_from = c->address.password_from,
		.timeout_s = c->address.timeout_s,
		.body = body,
		.answer_bytes = most };
	q.url = arena_fmt(&c->page,
		"%.*s?database=%.*s&wait_end_of_query=1&enable_http_compression=1%s",
		STR_ARG(c->address.url), STR_ARG(c->address.database), parameters);
	c->link.ask(c->link.arg, &q, &c->page, &a);
	*ret = a.body;
	return !a.error.p || refused(c, &a, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The type of a column in lines of "name TAB type"; missing when there is none. */
static struct str type_in(struct str lines, struct str column)
{
	struct str line, name, type;
	while (str_next(&lines, '\n', &line))
		if (str_cut(line, '\t', &name, &type) && str_eq(name, column))
			return type;
	return str_from(NULL);
}

static bool fail_table(const struct clickhouse *c, struct diag *err, const char *what)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s': table '%.*s' %s; `rooflint facts --format clickhouse` prints the "
		"statement that makes one",
		STR_ARG(name_of(c)), STR_ARG(c->address.table), what);
}

/* A dictionary is the owner's affair: it changes what is stored, and nothing that is said. */
static struct str bare_type(struct str type, struct arena *keep)
{
	const struct str word = STR("LowCardinality(");
	ptrdiff_t at = str_find(type, word);
	if (at < 0)
		return type;
	struct str rest = str_from_offset(type, at + word.len);
	ptrdiff_t end = str_rfind_char(rest, ')');
	return end < 0 ? type
		       : arena_fmt(keep, "%.*s%.*s%.*s", STR_ARG(str_head(type, at)),
				 STR_ARG(str_head(rest, end)),
				 STR_ARG(str_from_offset(rest, end + 1)));
}

static bool is_same_type(struct str a, struct str b, struct arena *keep)
{
	return str_eq(bare_type(a, keep), bare_type(b, keep));
}

static bool check_columns(struct clickhouse *c, struct str lines, struct diag *err)
{
	struct rowbinary_column *columns;
	ptrdiff_t count = rowbinary_numbers(&c->page, &columns);
	if (!lines.len)
		return fail_table(c, err, "is not there, or not for this user");
	if (!type_in(lines, run_facts_def.key).p || !type_in(lines, STR("captured")).p)
		return fail_table(c, err, "is no store of rooflint's");
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str type = type_in(lines, columns[i].name);
		if (!type.p)
			return fail_table(c, err,
				arena_fmt(
					&c->page, "has no column '%.*s'", STR_ARG(columns[i].name))
					.p);
		if (!is_same_type(type, columns[i].type, &c->page))
			return diag_set(err, DIAG_STORE,
				"store '%.*s': column '%.*s' of '%.*s' is %.*s and should be %.*s",
				STR_ARG(name_of(c)), STR_ARG(columns[i].name),
				STR_ARG(c->address.table),
				STR_ARG(str_head(type, ADDRESS_MAX_NAME)),
				STR_ARG(columns[i].type));
	}
	return true;
}

/* Once, before anything is read or written. */
static bool check_table(struct clickhouse *c, struct diag *err)
{
	struct str lines;
	if (c->is_checked)
		return true;
	arena_clear(&c->page);
	struct str sql = arena_fmt(&c->page,
		"SELECT name, type FROM system.columns WHERE database = '%.*s' AND table = '%.*s' "
		"FORMAT TabSeparated",
		STR_ARG(c->address.database), STR_ARG(c->address.table));
	c->is_checked = ask(c, "", sql, SCHEMA_BYTES, &lines, err) && check_columns(c, lines, err);
	return c->is_checked;
}

/* ---- append ---------------------------------------------------------------------------------- */

typedef ptrdiff_t columns_fn(struct arena *keep, struct rowbinary_column **ret);

static void put_columns(struct clickhouse *c, columns_fn *list, struct out *o)
{
	struct rowbinary_column *columns;
	ptrdiff_t count = list(&c->page, &columns);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s%.*s", i ? "," : "", STR_ARG(columns[i].name));
}

/*
 * A Distributed table answers when its shards have the rows, not before.  A batch that is sent
 * twice, since its answer was lost, is there once.
 */
static bool clickhouse_flush(void *s, struct diag *err)
{
	struct clickhouse *c = s;
	struct str nothing;
	if (!c->batch)
		return true;
	if (!check_table(c, err))
		return false;
	arena_clear(&c->page);
	struct out *o = out_memory(&c->page);
	out_fmt(o, "&insert_distributed_sync=1&query=INSERT+INTO+%.*s+(",
		STR_ARG(c->address.table));
	put_columns(c, rowbinary_numbers, o);
	out_z(o, ")+FORMAT+RowBinary");
	if (!ask(c, arena_z(&c->page, out_text(o)), out_text(c->batch), SCHEMA_BYTES, &nothing,
		    err))
		return false;
	c->batch = NULL;
	arena_clear(&c->waiting);
	return true;
}

static bool clickhouse_append(void *s, const struct run_facts *f, struct diag *err)
{
	struct clickhouse *c = s;
	if (!c->batch) {
		c->batch = out_memory(&c->waiting);
		c->batch_since_s = now_s();
	}
	arena_clear(&c->row);
	rowbinary_write_numbers(c->batch, f, &c->row);
	bool is_due =
		out_text(c->batch).len >= BATCH_BYTES || now_s() - c->batch_since_s >= BATCH_S;
	return !is_due || clickhouse_flush(c, err);
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* As a text, so that it is compared as facts have it; the number beside it says which weeks. */
#define MOMENT "ifNull(captured, '')"

/* Where a scan is: behind the run that was handed out last. */
struct scanning {
	struct window window;
	struct str captured, hash; /* hash: missing before the first */
	struct arena keep;	   /* of these two */
};

/* A text of anybody's in a query: no byte but letters and digits stands for itself. */
static void put_compared(struct out *o, const char *before, struct str value)
{
	out_fmt(o, "%s'", before);
	for (ptrdiff_t i = 0; i < value.len; i++) {
		char c = value.p[i], letter = c | 0x20;
		bool is_plain = (c >= '0' && c <= '9') || (letter >= 'a' && letter <= 'z');
		out_fmt(o, is_plain ? "%c" : "\\x%02X", (unsigned char)c);
	}
	out_char(o, '\'');
}

/* The rows of the window that were not handed out yet. */
static void put_where(struct out *o, const struct scanning *s)
{
	put_compared(o, " WHERE (" MOMENT " = '' OR (" MOMENT " >= ", s->window.from);
	if (s->window.to.p)
		put_compared(o, " AND " MOMENT " <= ", s->window.to);
	out_z(o, "))");
	if (!s->hash.p)
		return;
	put_compared(o, " AND (" MOMENT " < ", s->captured);
	put_compared(o, " OR (" MOMENT " = ", s->captured);
	put_compared(o, " AND hash > ", s->hash);
	out_z(o, "))");
}

/*
 * The next rows, each hash once.  The inner query says how far back they reach, from the columns of
 * the key alone; so the other columns are read for these rows only, and not sorted for all.
 */
static struct str page_sql(struct clickhouse *c, const struct scanning *s)
{
	struct out *o = out_memory(&c->page);
	struct str table = c->address.table;
	out_z(o, "SELECT ");
	put_columns(c, rowbinary_types, o);
	out_fmt(o, " FROM %.*s", STR_ARG(table));
	put_where(o, s);
	out_fmt(o,
		" AND " MOMENT " >= (SELECT min(moment) FROM (SELECT " MOMENT " AS moment FROM "
		"%.*s",
		STR_ARG(table));
	put_where(o, s);
	out_fmt(o,
		" ORDER BY moment DESC, hash LIMIT %d)) ORDER BY " MOMENT " DESC, hash LIMIT 1 "
		"BY hash LIMIT %d FORMAT RowBinary",
		PAGE_ROWS, PAGE_ROWS);
	return out_text(o);
}

static bool fail_answer(const struct clickhouse *c, enum rowbinary_state state, struct diag *err)
{
	return diag_set(err, DIAG_STORE_SERVER,
		"store '%.*s' gave an answer that %s; try again, and see whether something stands "
		"between here and the server",
		STR_ARG(name_of(c)),
		state == ROWBINARY_CUT ? "ends inside a row" : "is not made of rows");
}

/*
 * Hands out the rows of an answer and counts them.  One that was cut gives what is whole of it; the
 * next page begins behind that.
 */
static bool hand_out(struct clickhouse *c, struct scanning *s, struct str rows, ptrdiff_t *count,
	run_facts_fn *take, void *arg, struct diag *err)
{
	enum rowbinary_state state;
	struct run_facts f;
	for (*count = 0;; ++*count) {
		arena_clear(&c->row);
		state = rowbinary_read(&rows, &c->row, &f);
		if (state != ROWBINARY_ROW)
			break;
		const char *flaw = run_facts_flaw(&f, &c->row);
		if (flaw)
			return diag_set(err, DIAG_STORE,
				"store '%.*s': a row (hash '%.*s') is %s; delete it",
				STR_ARG(name_of(c)),
				STR_ARG(str_head(text_clean(&c->row, f.hash), ADDRESS_MAX_NAME)),
				flaw);
		if (!take(arg, &f, err))
			return false;
		arena_clear(&s->keep);
		s->captured = arena_str(&s->keep, f.captured);
		s->hash = arena_str(&s->keep, f.hash);
	}
	return state == ROWBINARY_END || (state == ROWBINARY_CUT && *count) ||
	       fail_answer(c, state, err);
}

/* An empty answer could be a lost one: only the server's word ends a scan. */
static bool is_over(struct clickhouse *c, const struct scanning *s, struct diag *err)
{
	struct str said;
	arena_clear(&c->page);
	struct out *o = out_memory(&c->page);
	out_fmt(o, "SELECT count() FROM (SELECT hash FROM %.*s", STR_ARG(c->address.table));
	put_where(o, s);
	out_z(o, " LIMIT 1) FORMAT TabSeparated");
	if (!ask(c, "", out_text(o), SCHEMA_BYTES, &said, err))
		return false;
	return str_eq(str_trim(said), STR("0")) ||
	       diag_set(err, DIAG_STORE_SERVER,
		       "store '%.*s' gave no rows where it has some; try again",
		       STR_ARG(name_of(c)));
}

static bool clickhouse_scan(
	void *store, struct window window, run_facts_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	struct scanning s = { .window = window };
	if (!clickhouse_flush(c, err) || !check_table(c, err))
		return false;
	s.keep = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = true;
	for (ptrdiff_t count = 1; ok && count;) {
		struct str rows;
		arena_clear(&c->page);
		ok = ask(c, "", page_sql(c, &s), ANSWER_BYTES, &rows, err) &&
		     hand_out(c, &s, rows, &count, take, arg, err);
	}
	ok = ok && is_over(c, &s, err);
	arena_free(&s.keep);
	return ok;
}

/* ---- ask ------------------------------------------------------------------------------------- */

/* Behind the last row, so that an answer that was cut is told from one that has ended. */
#define END_OF_ANSWER "\\."

/* "26.9.1": whether it knows window functions, and all else that questions use. */
static bool is_modern(struct clickhouse *c, bool *ret, struct diag *err)
{
	enum { SINCE = 22 };
	struct str said, year;
	uint64_t number = 0;
	arena_clear(&c->page);
	if (!c->version &&
		!ask(c, "", STR("SELECT version() FORMAT TabSeparated"), SCHEMA_BYTES, &said, err))
		return false;
	if (!c->version && str_cut(said, '.', &year, &said) && str_digits(year, &number))
		c->version = (int64_t)number;
	*ret = c->version >= SINCE;
	return true;
}

/* In place: "\\t" becomes a tab.  Missing: NULL. */
static struct str take_cell(struct str *line)
{
	struct str cell, rest;
	if (!str_cut(*line, '\t', &cell, &rest))
		rest = (struct str){ NULL, 0 };
	*line = rest;
	return str_eq(cell, STR("\\N")) ? (struct str){ NULL, 0 } : cell;
}

static struct str plain_cell(struct str cell, struct arena *keep)
{
	static const char codes[] = "t\tn\nr\rb\bf\f0\0";
	if (str_find_char(cell, '\\') < 0)
		return cell;
	struct out *o = out_memory(keep);
	for (ptrdiff_t i = 0; i < cell.len; i++) {
		char c = cell.p[i];
		if (c == '\\' && ++i < cell.len) {
			c = cell.p[i];
			for (size_t k = 0; k + 1 < sizeof(codes); k += 2)
				if (codes[k] == cell.p[i])
					c = codes[k + 1];
		}
		out_char(o, c);
	}
	return out_text(o);
}

static bool take_answer(
	struct clickhouse *c, struct str body, answer_row_fn *take, void *arg, struct diag *err)
{
	struct str line, cells[QUESTION_MAX_CELLS];
	arena_clear(&c->row);
	while (str_cut(body, '\n', &line, &body)) {
		struct arena row = c->row; /* each row has its place */
		int count = 0;
		if (str_eq(line, STR(END_OF_ANSWER)))
			return true;
		while (line.p && count < QUESTION_MAX_CELLS)
			cells[count++] = plain_cell(take_cell(&line), &row);
		if (!take(arg, cells, count, err))
			return false;
	}
	return fail_answer(c, ROWBINARY_CUT, err);
}

static bool take_locally(void *arg, const struct run_facts *f, struct diag *err)
{
	return facts_db_append(arg, f, err);
}

/* What an old server has comes here once. */
static bool ask_locally(struct clickhouse *c, const struct question *q, answer_row_fn *take,
	void *arg, struct diag *err)
{
	const struct window window = { q->since, { NULL, 0 } };
	if (!c->local.db && !(facts_db_open_temporary(&c->local, c->keep, err) &&
				    clickhouse_scan(c, window, take_locally, &c->local, err)))
		return false;
	return facts_db_ask(&c->local, q, take, arg, err);
}

static void put_text(struct out *o, struct str text)
{
	put_compared(o, "", text);
}

static bool clickhouse_ask(
	void *store, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	struct str table = c->address.table, body;
	bool knows;
	if (!clickhouse_flush(c, err) || !check_table(c, err) || !is_modern(c, &knows, err))
		return false;
	if (!knows)
		return ask_locally(c, q, take, arg, err);
	arena_clear(&c->page);
	const struct dialect dialect = { table, STR(" ARRAY JOIN "), STR(""), put_text };
	struct str sql = arena_fmt(&c->page,
		"%.*s FORMAT CustomSeparated SETTINGS format_custom_escaping_rule = 'Escaped', "
		"format_custom_field_delimiter = '\t', format_custom_row_after_delimiter = '\n', "
		"format_custom_result_after_delimiter = '\\" END_OF_ANSWER "\n'",
		STR_ARG(str_trim(question_text(q, &dialect, &c->page))));
	return ask(c, "", sql, ANSWER_BYTES, &body, err) && take_answer(c, body, take, arg, err);
}

/* ---- look ------------------------------------------------------------------------------------ */

static bool clickhouse_look(void *store, struct str judge, const struct str *profiles,
	ptrdiff_t count, store_look_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	struct str rows, profile, run;
	enum rowbinary_state state;
	if (!clickhouse_flush(c, err) || !check_table(c, err))
		return false;
	arena_clear(&c->page);
	/* The columns may be NULL, and where profiles are named they are not. */
	struct out *o = out_memory(&c->page);
	out_fmt(o,
		"SELECT DISTINCT ifNull(profile, ''), ifNull(listing, ifNull(run, '')) FROM %.*s",
		STR_ARG(c->address.table));
	put_compared(o, " WHERE error_id IS NULL AND judge = ", judge);
	for (ptrdiff_t i = 0; i < count; i++)
		put_compared(o, i ? ", " : " AND profile IN (", profiles[i]);
	out_z(o, ") FORMAT RowBinary");
	if (!ask(c, "", out_text(o), ANSWER_BYTES, &rows, err))
		return false;
	while ((state = rowbinary_read_pair(&rows, &profile, &run)) == ROWBINARY_ROW)
		take(arg, profile, run);
	return state == ROWBINARY_END || fail_answer(c, state, err);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void *clickhouse_open(struct str place, enum store_use use, const struct store_link *link,
	struct arena *keep, struct diag *err)
{
	struct clickhouse *c = arena_make(keep, struct clickhouse, 1);
	(void)use;
	if (!address_parse(place, keep, &c->address, err))
		return NULL;
	c->link = *link;
	c->keep = keep;
	c->waiting = arena_new(ARENA_SCRATCH_BYTES);
	c->page = arena_new(ARENA_SCRATCH_BYTES);
	c->row = arena_new(ARENA_SCRATCH_BYTES);
	return c;
}

static void clickhouse_close(void *store)
{
	struct clickhouse *c = store;
	facts_db_close(&c->local);
	arena_free(&c->waiting);
	arena_free(&c->page);
	arena_free(&c->row);
}

const struct store_kind clickhouse_store = { clickhouse_open, clickhouse_append, clickhouse_flush,
	clickhouse_scan, clickhouse_ask, clickhouse_look, NULL, NULL, NULL, NULL,
	clickhouse_close };
