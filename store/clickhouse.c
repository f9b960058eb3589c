/*
 * Stores in ClickHouse, over HTTP.
 *
 * A run is one row (rowbinary.h), so that it is there whole or not at all, and goes to one shard.
 * Rows with the same hash are the same; a ReplacingMergeTree drops them when it merges, at a time
 * of its own, so a scan drops them itself.
 *
 * Refuses: making or changing tables.  The names of database and table need no quotes (place.h).
 */
#include <time.h>

#include "base/text.h"
#include "store/kind.h"
#include "store/place.h"
#include "store/rowbinary.h"

/*
 * A batch is one block of the server's, which is written whole or not at all, far below the million
 * rows at which it would begin another.
 */
#define BATCH_BYTES ((ptrdiff_t)8 << 20)
/* Runs of large profiles come slowly; what was judged is not to be lost with the program. */
#define BATCH_S 20
/* Runs asked for at once: at some 10 kB each a tenth of what an answer may have. */
#define PAGE_ROWS    500
#define ANSWER_BYTES ((ptrdiff_t)64 << 20)
/* Columns of a table: those of facts, and what an owner has added. */
#define SCHEMA_BYTES ((ptrdiff_t)256 << 10)

struct clickhouse {
	struct place place;
	struct store_link link;
	bool is_checked;      /* the table is one of ours */
	struct arena waiting; /* the batch */
	struct arena page, row;
	struct out *batch; /* NULL when nothing waits */
	int64_t batch_since_s;
};

/* ---- asking ---------------------------------------------------------------------------------- */

/* What to do, by the number of the server's exception. */
static const struct saying {
	int64_t code;
	const char *says;
} sayings[] = {
	{ 60, "has no such table; `rooflint facts --format clickhouse` prints one" },
	{ 81, "has no such database" },
	{ 192, "knows no such user" },
	{ 193, "refuses the password" },
	{ 194, "demands a password" },
	{ 195, "refuses this machine's address for that user" },
	{ 164, "lets that user only read" },
	{ 497, "gives that user too few rights; SELECT and INSERT on the table are needed" },
	{ 516, "refuses the user or the password" },
};

static struct str name_of(const struct clickhouse *c)
{
	return c->place.text;
}

/* "Code: 60, e.displayText() = DB::Exception: ..."; -1 when it is something else. */
static int64_t exception_code(struct str body)
{
	struct str digits = body;
	ptrdiff_t end = 0;
	int64_t code;
	if (!str_take(&digits, STR("Code: ")))
		return -1;
	while (end < digits.len && digits.p[end] >= '0' && digits.p[end] <= '9')
		end++;
	return str_to_i64(str_head(digits, end), &code) ? code : -1;
}

static bool fail_saying(const struct clickhouse *c, const struct saying *s, struct diag *err)
{
	bool is_access = s->code >= 192 && s->code != 497;
	return diag_set(err, DIAG_STORE, "store '%.*s' %s%s", STR_ARG(name_of(c)), s->says,
		is_access ? "; $ROOFLINT_CLICKHOUSE_USER and $ROOFLINT_CLICKHOUSE_PASSWORD say "
			    "both, unless its address names others"
			  : "");
}

static bool refused(struct clickhouse *c, const struct store_answer *a, struct diag *err)
{
	enum { SHOWN = 300 };
	int64_t code = exception_code(a->body);
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++)
		if (sayings[i].code == code)
			return fail_saying(c, &sayings[i], err);
	struct str said = text_clean(&c->page, str_head(str_trim(a->body), SHOWN));
	return diag_set(err, DIAG_STORE_SERVER, "store '%.*s': %.*s%s%.*s%s", STR_ARG(name_of(c)),
		STR_ARG(a->error), said.len ? ": \"" : "", STR_ARG(said), said.len ? "\"" : "");
}

/* The answer lives in `page`, which is cleared. */
static bool ask(struct clickhouse *c, const char *parameters, struct str body, ptrdiff_t most,
	struct str *ret, struct diag *err)
{
	struct store_answer a = { 0 };
	struct store_question q = { .user_from = c->place.user_from,
		.password_from = c->place.password_from,
		.timeout_s = c->place.timeout_s,
		.body = body,
		.answer_bytes = most };
	q.url = arena_fmt(&c->page, "%.*s?database=%.*s&wait_end_of_query=1%s",
		STR_ARG(c->place.url), STR_ARG(c->place.database), parameters);
	c->link.ask(c->link.arg, &q, &c->page, &a);
	*ret = a.body;
	return !a.error.p || refused(c, &a, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The type of a column in lines of "name TAB type"; missing when there is none. */
static struct str type_in(struct str lines, struct str column)
{
	struct str line, name, type;
	for (bool more = true; more;) {
		more = str_cut(lines, '\n', &line, &lines);
		if (str_cut(line, '\t', &name, &type) && str_eq(name, column))
			return type;
	}
	return str_from(NULL);
}

static bool fail_table(const struct clickhouse *c, struct diag *err, const char *what)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s': table '%.*s' %s; `rooflint facts --format clickhouse` prints one "
		"that is",
		STR_ARG(name_of(c)), STR_ARG(c->place.table), what);
}

static bool fail_type(const struct clickhouse *c, const struct rowbinary_column *column,
	struct str type, struct diag *err)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s': column '%.*s' of '%.*s' is %.*s and should be %.*s",
		STR_ARG(name_of(c)), STR_ARG(column->name), STR_ARG(c->place.table),
		STR_ARG(str_head(type, PLACE_MAX_NAME)), STR_ARG(column->type));
}

static bool check_columns(struct clickhouse *c, struct str lines, struct diag *err)
{
	struct rowbinary_column *columns;
	struct out *missing = out_memory(&c->page);
	ptrdiff_t count = rowbinary_types(&c->page, &columns);
	if (!lines.len)
		return fail_table(c, err, "is not there, or not for this user");
	if (!type_in(lines, run_facts_def.key).p || !type_in(lines, STR("captured")).p)
		return fail_table(c, err, "is no store of rooflint's");
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str type = type_in(lines, columns[i].name);
		if (type.p && !str_eq(type, columns[i].type))
			return fail_type(c, &columns[i], type, err);
		if (!type.p)
			out_fmt(missing, "%s ADD COLUMN %.*s %.*s",
				out_text(missing).len ? "," : "", STR_ARG(columns[i].name),
				STR_ARG(columns[i].type));
	}
	return !out_text(missing).len ||
	       diag_set(err, DIAG_STORE,
		       "store '%.*s' was made by an older rooflint; say ALTER TABLE %.*s%.*s",
		       STR_ARG(name_of(c)), STR_ARG(c->place.table), STR_ARG(out_text(missing)));
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
		STR_ARG(c->place.database), STR_ARG(c->place.table));
	c->is_checked = ask(c, "", sql, SCHEMA_BYTES, &lines, err) && check_columns(c, lines, err);
	return c->is_checked;
}

/* ---- append ---------------------------------------------------------------------------------- */

static void put_columns(struct clickhouse *c, struct out *o)
{
	struct rowbinary_column *columns;
	ptrdiff_t count = rowbinary_types(&c->page, &columns);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s%.*s", i ? "," : "", STR_ARG(columns[i].name));
}

static int64_t now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec;
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
	out_fmt(o, "&insert_distributed_sync=1&query=INSERT+INTO+%.*s+(", STR_ARG(c->place.table));
	put_columns(c, o);
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
	rowbinary_write(c->batch, f);
	bool is_due =
		out_text(c->batch).len >= BATCH_BYTES || now_s() - c->batch_since_s >= BATCH_S;
	return !is_due || clickhouse_flush(c, err);
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* What a table is sorted by, as its key says it, so that a window reads no more than it must. */
#define MOMENT "ifNull(captured, '')"

/* Where a scan is: behind the run that was handed out last. */
struct scanning {
	struct window window;
	struct str captured, hash; /* hash: missing before the first */
	struct arena keep;	   /* of these two */
};

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A text of anybody's in a query: no byte but letters and digits stands for itself. */
static void put_literal(struct out *o, struct str s)
{
	out_char(o, '\'');
	for (ptrdiff_t i = 0; i < s.len; i++)
		if (is_plain(s.p[i]))
			out_char(o, s.p[i]);
		else
			out_fmt(o, "\\x%02X", (unsigned char)s.p[i]);
	out_char(o, '\'');
}

static void put_compared(struct out *o, const char *before, struct str value)
{
	out_z(o, before);
	put_literal(o, value);
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
	struct str table = c->place.table;
	out_z(o, "SELECT ");
	put_columns(c, o);
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

static struct str rest_sql(struct clickhouse *c, const struct scanning *s)
{
	struct out *o = out_memory(&c->page);
	out_fmt(o, "SELECT count() FROM (SELECT hash FROM %.*s", STR_ARG(c->place.table));
	put_where(o, s);
	out_z(o, " LIMIT 1) FORMAT TabSeparated");
	return out_text(o);
}

static void remember_place(struct scanning *s, const struct run_facts *f)
{
	arena_clear(&s->keep);
	s->captured = arena_str(&s->keep, f->captured);
	s->hash = arena_str(&s->keep, f->hash);
}

static bool fail_row(
	const struct clickhouse *c, struct str hash, const char *what, struct diag *err)
{
	return diag_set(err, DIAG_STORE, "store '%.*s': a row (hash '%.*s') is %s; delete it",
		STR_ARG(name_of(c)), STR_ARG(str_head(hash, PLACE_MAX_NAME)), what);
}

static bool fail_answer(const struct clickhouse *c, enum rowbinary_state state, struct diag *err)
{
	return diag_set(err, DIAG_STORE_SERVER,
		"store '%.*s' gave an answer that %s; try again, and see whether something stands "
		"between here and the server",
		STR_ARG(name_of(c)),
		state == ROWBINARY_CUT ? "ends inside a row" : "is not made of rows");
}

enum page_end {
	PAGE_MORE,
	PAGE_LAST, /* nothing came */
	PAGE_FAILED
};

/* An answer that was cut gives what is whole of it; the next page begins behind that. */
static enum page_end hand_out(struct clickhouse *c, struct scanning *s, struct str rows,
	run_facts_fn *take, void *arg, struct diag *err)
{
	ptrdiff_t count = 0;
	enum rowbinary_state state;
	struct run_facts f;
	for (;; count++) {
		arena_clear(&c->row);
		state = rowbinary_read(&rows, &c->row, &f);
		if (state != ROWBINARY_ROW)
			break;
		const char *flaw = run_facts_flaw(&f, &c->row);
		if (flaw)
			fail_row(c, text_clean(&c->row, f.hash), flaw, err);
		if (flaw || !take(arg, &f, err))
			return PAGE_FAILED;
		remember_place(s, &f);
	}
	if (state == ROWBINARY_BAD || (state == ROWBINARY_CUT && !count)) {
		fail_answer(c, state, err);
		return PAGE_FAILED;
	}
	return count ? PAGE_MORE : PAGE_LAST;
}

/* An empty answer could be a lost one: only the server's word ends a scan. */
static bool is_over(struct clickhouse *c, const struct scanning *s, struct diag *err)
{
	struct str said;
	arena_clear(&c->page);
	if (!ask(c, "", rest_sql(c, s), SCHEMA_BYTES, &said, err))
		return false;
	return str_eq(str_trim(said), STR("0")) ||
	       diag_set(err, DIAG_STORE_SERVER,
		       "store '%.*s' gave no rows where it has some; try again",
		       STR_ARG(name_of(c)));
}

static bool scan_pages(
	struct clickhouse *c, struct scanning *s, run_facts_fn *take, void *arg, struct diag *err)
{
	for (;;) {
		struct str rows;
		arena_clear(&c->page);
		if (!ask(c, "", page_sql(c, s), ANSWER_BYTES, &rows, err))
			return false;
		enum page_end end = hand_out(c, s, rows, take, arg, err);
		if (end != PAGE_MORE)
			return end == PAGE_LAST && is_over(c, s, err);
	}
}

static bool clickhouse_scan(
	void *store, struct window window, run_facts_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	struct scanning s = { .window = window };
	if (!clickhouse_flush(c, err) || !check_table(c, err))
		return false;
	s.keep = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = scan_pages(c, &s, take, arg, err);
	arena_free(&s.keep);
	return ok;
}

/* ---- look ------------------------------------------------------------------------------------ */

/* The columns may be NULL, and where profiles are named they are not. */
static struct str look_sql(
	struct clickhouse *c, struct str judge, const struct str *profiles, ptrdiff_t count)
{
	struct out *o = out_memory(&c->page);
	out_fmt(o, "SELECT DISTINCT ifNull(profile, ''), ifNull(run, '') FROM %.*s",
		STR_ARG(c->place.table));
	put_compared(o, " WHERE error_id IS NULL AND judge = ", judge);
	for (ptrdiff_t i = 0; i < count; i++)
		put_compared(o, i ? ", " : " AND profile IN (", profiles[i]);
	out_z(o, ") FORMAT RowBinary");
	return out_text(o);
}

static bool clickhouse_look(void *store, struct str judge, const struct str *profiles,
	ptrdiff_t count, store_look_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	struct str rows, profile, run;
	enum rowbinary_state state;
	if (!clickhouse_flush(c, err) || !check_table(c, err))
		return false;
	arena_clear(&c->page);
	if (!ask(c, "", look_sql(c, judge, profiles, count), ANSWER_BYTES, &rows, err))
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
	if (!place_parse(place, keep, &c->place, err))
		return NULL;
	c->link = *link;
	c->waiting = arena_new(ARENA_SCRATCH_BYTES);
	c->page = arena_new(ARENA_SCRATCH_BYTES);
	c->row = arena_new(ARENA_SCRATCH_BYTES);
	return c;
}

static void clickhouse_close(void *store)
{
	struct clickhouse *c = store;
	arena_free(&c->waiting);
	arena_free(&c->page);
	arena_free(&c->row);
}

const struct store_kind clickhouse_store = { clickhouse_open, clickhouse_append, clickhouse_flush,
	clickhouse_scan, clickhouse_look, NULL, NULL, clickhouse_close };
