/*
 * Stores in ClickHouse, over HTTP.
 *
 * A run is one row (rowbinary.h), so that it is there whole or not at all, and goes to one shard.
 * Rows with the same hash are the same; a ReplacingMergeTree drops them when it merges, at a time
 * of its own, so questions do it, too.
 *
 * Refuses: making or changing tables; asking a server that lacks what questions need (window
 * functions; 2022), which only takes runs.  The names of database and table need no quotes
 * (address.h).
 */
#include "base/text.h"
#include "base/when.h"
#include "store/kind.h"
#include "store/address.h"
#include "store/answer.h"
#include "store/rowbinary.h"

/*
 * A batch is one block of the server's, which is written whole or not at all, far below the million
 * rows at which it would begin another.
 */
#define BATCH_BYTES ((ptrdiff_t)8 << 20)
/* Runs of large profiles come slowly; what was judged is not to be lost with the program. */
#define BATCH_S 2
/* Questions that may have many rows are asked by pages, or by windows. */
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
};

/* ---- asking ---------------------------------------------------------------------------------- */

#define TOO_OLD                                                                                    \
	"takes runs and knows no SQL that questions are asked in: ClickHouse 22 or later answers " \
	"them"

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
	{ 62, TOO_OLD, false },
	{ 73, TOO_OLD, false },
	{ 497, "gives that user too few rights; SELECT and INSERT on the table are needed", false },
	{ 516, "refuses the user or the password", true },
};

static bool refused(struct clickhouse *c, const struct store_answer *a, struct diag *err)
{
	enum { SHOWN = 300 };
	/* "Code: 60, e.displayText() = DB::Exception: ..." */
	struct str digits = a->body;
	uint64_t code = 0;
	if (str_take(&digits, STR("Code: ")))
		str_digits(digits, &code);
	for (ptrdiff_t i = 0; i < COUNT_OF(sayings); i++)
		if (sayings[i].code == code)
			return diag_set(err, DIAG_STORE, "store '%.*s' %s%s",
				STR_ARG(c->address.text), sayings[i].says,
				sayings[i].is_access
					? "; $ROOFLINT_CLICKHOUSE_USER and "
					  "$ROOFLINT_CLICKHOUSE_PASSWORD say both, unless its "
					  "address names others"
					: "");
	struct str said = text_clean(&c->page, str_head(str_trim(a->body), SHOWN));
	return diag_set(err, DIAG_STORE_SERVER, "store '%.*s': %.*s%s%.*s%s",
		STR_ARG(c->address.text), STR_ARG(a->error), said.len ? ": \"" : "", STR_ARG(said),
		said.len ? "\"" : "");
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
	return MISSING;
}

static bool fail_table(const struct clickhouse *c, struct diag *err, const char *what)
{
	return diag_set(err, DIAG_STORE,
		"store '%.*s': table '%.*s' %s; `rooflint facts --format clickhouse` prints the "
		"statement that makes one",
		STR_ARG(c->address.text), STR_ARG(c->address.table), what);
}

static bool check_columns(struct clickhouse *c, struct str lines, struct diag *err)
{
	struct rowbinary_column *columns;
	ptrdiff_t count = rowbinary_columns(&c->page, &columns);
	if (!lines.len)
		return fail_table(c, err, "is not there, or not for this user");
	if (!type_in(lines, fact_forms[FACT_RUN].table.key).p || !type_in(lines, STR("captured")).p)
		return fail_table(c, err, "is no store of rooflint's");
	for (ptrdiff_t i = 0; i < count; i++) {
		struct str type = type_in(lines, columns[i].name);
		if (!type.p)
			return fail_table(c, err,
				arena_fmt(
					&c->page, "has no column '%.*s'", STR_ARG(columns[i].name))
					.p);
		if (!str_eq(type, columns[i].type))
			return diag_set(err, DIAG_STORE,
				"store '%.*s': column '%.*s' of '%.*s' is %.*s and should be %.*s",
				STR_ARG(c->address.text), STR_ARG(columns[i].name),
				STR_ARG(c->address.table),
				STR_ARG(str_head(type, ADDRESS_MAX_NAME)),
				STR_ARG(columns[i].type));
	}
	return true;
}

/*
 * Once, before anything is read or written.  A dictionary is the owner's affair: it changes what is
 * stored, and nothing that is said.
 */
static bool check_table(struct clickhouse *c, struct diag *err)
{
	struct str lines;
	if (c->is_checked)
		return true;
	arena_clear(&c->page);
	struct str sql = arena_fmt(&c->page,
		"SELECT name, replaceRegexpOne(type, 'LowCardinality\\\\((.*)\\\\)', '\\\\1') "
		"FROM system.columns WHERE database = '%.*s' AND table = '%.*s' "
		"FORMAT TabSeparated",
		STR_ARG(c->address.database), STR_ARG(c->address.table));
	c->is_checked = ask(c, "", sql, SCHEMA_BYTES, &lines, err) && check_columns(c, lines, err);
	return c->is_checked;
}

/* ---- append ---------------------------------------------------------------------------------- */

/*
 * A Distributed table answers when its shards have the rows, not before.  A batch that is sent
 * twice, since its answer was lost, is there once.
 */
static bool clickhouse_flush(void *s, struct diag *err)
{
	struct clickhouse *c = s;
	struct rowbinary_column *columns;
	struct str nothing;
	if (!c->batch)
		return true;
	if (!check_table(c, err))
		return false;
	arena_clear(&c->page);
	struct out *o = out_memory(&c->page);
	out_fmt(o, "&insert_distributed_sync=1&query=INSERT+INTO+%.*s+(",
		STR_ARG(c->address.table));
	ptrdiff_t count = rowbinary_columns(&c->page, &columns);
	for (ptrdiff_t i = 0; i < count; i++)
		out_fmt(o, "%s%.*s", i ? "," : "", STR_ARG(columns[i].name));
	out_z(o, ")+FORMAT+RowBinary");
	if (!ask(c, arena_z(&c->page, out_text(o)), out_text(c->batch), SCHEMA_BYTES, &nothing,
		    err))
		return false;
	c->batch = NULL;
	arena_clear(&c->waiting);
	return true;
}

static bool clickhouse_append(void *s, const struct run_facts *f, struct str kept, struct diag *err)
{
	struct clickhouse *c = s;
	if (!c->batch) {
		c->batch = out_memory(&c->waiting);
		c->batch_since_s = now_s();
	}
	arena_clear(&c->row);
	rowbinary_write(c->batch, f, kept, &c->row);
	bool is_due =
		out_text(c->batch).len >= BATCH_BYTES || now_s() - c->batch_since_s >= BATCH_S;
	return !is_due || clickhouse_flush(c, err);
}

/* ---- ask ------------------------------------------------------------------------------------- */

/* A text of anybody's in a query: no byte but those of plain names and paths stands for itself. */
static void put_text(struct out *o, struct str text)
{
	out_char(o, '\'');
	for (ptrdiff_t i = 0; i < text.len; i++) {
		bool is_plain = str_only(str_head(str_from_offset(text, i), 1), "a-zA-Z0-9_./-");
		out_fmt(o, is_plain ? "%c" : "\\x%02X", (unsigned char)text.p[i]);
	}
	out_char(o, '\'');
}

static void put_part(struct out *o, const struct table_def *part)
{
	out_fmt(o, " ARRAY JOIN %.*s AS v, arrayEnumerate(%.*s.%.*s) AS nth", STR_ARG(part->name),
		STR_ARG(part->name), STR_ARG(part->columns[0].name));
}

static bool clickhouse_ask(
	void *store, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	struct clickhouse *c = store;
	const struct dialect dialect = { c->address.table, put_part, STR("nth"),
		STR("r.kept_bytes > 0"), STR("r.kept"), put_text };
	struct str body;
	if (!check_table(c, err))
		return false;
	arena_clear(&c->page);
	struct str sql = arena_fmt(&c->page, "%.*s " ANSWER_FORMAT,
		STR_ARG(str_trim(question_text(q, &dialect, &c->page))));
	if (!ask(c, "", sql, ANSWER_BYTES, &body, err))
		return false;
	enum answer_state state = answer_read(body, q->cells, &c->row, take, arg, err);
	return state == ANSWER_WHOLE ||
	       (state == ANSWER_BROKEN &&
		       diag_set(err, DIAG_STORE_SERVER,
			       "store '%.*s' gave an answer that is not whole; try again, and see "
			       "whether something stands between here and the server",
			       STR_ARG(c->address.text)));
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
	clickhouse_ask, NULL, clickhouse_close };
