/* Compiling rules.  See compile.h. */
#include "rules/compile.h"

#include <string.h>

#include "base/out.h"
#include "rules/check.h"
#include "rules/token.h"
#include "rules/waiver.h"

struct compiler {
	struct engine *engine;
	struct rule *rule;
	struct rule_code *code;
	struct arena *keep;
	struct diag *err;
	struct sql_fault fault; /* of the whole statement, when code->stmt is NULL */
};

/* A fault in the text of `origin`'s node, with "<rule>.<key>: " in front. */
static bool rule_fault(const struct rule *rule, const char *key, const struct origin *origin,
	const struct sql_fault *fault, struct diag *err)
{
	struct text_place place = { origin->file, STR_INIT(""), origin->line, origin->column, 1 };

	if (origin->doc && fault->at < 0)
		place = doc_place(origin->doc, origin->node);
	else if (origin->doc)
		place = doc_place_in(origin->doc, origin->node, fault->at, fault->width);
	return diag_caret(err, fault->id, place, "%.*s.%s: %.*s", STR_ARG(rule->name), key,
		STR_ARG(fault->text));
}

/* ---- SQLite's word on an expression ------------------------------------------------------- */

/*
 * A fault in `prefix` + text + more becomes one in the text.  SQLite points at the first byte of a
 * token: all of it is marked.
 */
static void rebase(struct sql_fault *fault, struct str text, ptrdiff_t prefix, struct arena *keep)
{
	struct tokens tokens = { NULL, 0, 0 };
	struct sql_fault ignored;

	if (fault->at < 0)
		return;
	fault->at -= prefix;
	if (fault->at >= text.len) {
		ptrdiff_t end = text.len > 0 ? text.len - 1 : 0;

		*fault = (struct sql_fault){ DIAG_RULE_SQL, end, 1,
			STR_INIT("not valid SQL: something is missing at the end") };
	} else if (fault->at < 0) {
		fault->at = -1;
	} else if (tokens_read(text, keep, &tokens, &ignored)) {
		for (ptrdiff_t i = 0; i < tokens.count; i++)
			if (tokens.items[i].at == fault->at)
				fault->width = tokens.items[i].width;
	}
}

static sqlite3_stmt *prepare_alone(struct engine *e, struct str before, struct str text,
	struct str after, struct reads *reads, struct arena *keep, struct sql_fault *fault)
{
	struct str sql =
		arena_fmt(keep, "%.*s%.*s%.*s", STR_ARG(before), STR_ARG(text), STR_ARG(after));
	sqlite3_stmt *stmt = engine_prepare(e, sql, reads, keep, fault);

	if (!stmt)
		rebase(fault, text, before.len, keep);
	return stmt;
}

/*
 * Whether SQLite takes the expression by itself; adds what it reads.  In a WHERE it may not be an
 * aggregate of the rows.
 */
static bool try_alone(struct engine *e, const struct rule *rule, const struct expression *x,
	struct reads *reads, struct arena *keep, struct sql_fault *fault)
{
	struct str from = rule->code->from;
	struct str before = arena_fmt(keep, "SELECT 1 FROM %.*s WHERE (", STR_ARG(from));
	sqlite3_stmt *stmt =
		prepare_alone(e, before, x->source->text, STR("\n)"), reads, keep, fault);

	sqlite3_finalize(stmt);
	return stmt != NULL;
}

const struct reads *expression_reads(
	struct engine *e, const struct rule *rule, struct expression *x)
{
	struct sql_fault ignored; /* the whole statement was prepared */

	if (!x->is_asked)
		try_alone(e, rule, x, &x->reads, &e->keep, &ignored);
	x->is_asked = true;
	return &x->reads;
}

/* ---- expressions -------------------------------------------------------------------------- */

/* Calls check_expression and notes which parameters it met. */
static bool check_with_params(
	struct compiler *c, struct expression *x, enum sql_want want, struct sql_fault *fault)
{
	struct rule *rule = c->rule;
	struct reads of_row = { NULL, 0, 0 };
	struct sql_names names = { c->code->rows, rule->params, rule->param_count,
		arena_make(c->keep, bool, rule->param_count + 1), rule->from ? NULL : &of_row,
		false, &x->has_subquery, &x->is_open };

	bool ok = check_expression(x->source->text, &names, want, c->keep, fault);
	x->uses = names.uses;
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		rule->params[i].used |= x->uses[i];
	/* SQLite does not say which columns of a SELECT are read, but the check does. */
	x->is_asked = !rule->from;
	x->reads = of_row;
	return ok;
}

static bool check_expressions(struct compiler *c)
{
	struct sql_fault fault;

	for (int i = 0; i < c->code->result_count; i++) {
		struct expression *x = c->code->all[i];
		enum sql_want want = x == &c->code->gain ? WANT_SECONDS : WANT_CONDITION;

		bool ok = check_with_params(c, x, want, &fault);
		/*
		 * SQL gives (select max(ops.time_s) from devices) to the rows of the outer ops, and
		 * a statement with such an aggregate has one row, whatever else it judges.  Only
		 * SQLite knows whose one is.
		 */
		if (ok && c->code->stmt && x->has_subquery)
			ok = try_alone(c->engine, c->rule, x, NULL, c->keep, &fault);
		if (!ok)
			return rule_fault(c->rule, x->key, &x->source->origin, &fault, c->err);
	}
	return true;
}

/* ---- the subjects of a SELECT ------------------------------------------------------------- */

/* What the names of the tables' own columns end in. */
static enum unit unit_by_suffix(struct str name)
{
	static const struct {
		struct str end;
		enum unit unit;
	} suffixes[] = {
		{ STR_INIT("_s"), UNIT_SECONDS },
		{ STR_INIT("_bytes"), UNIT_BYTES },
		{ STR_INIT("_bps"), UNIT_BYTES_PER_SECOND },
		{ STR_INIT("_flops"), UNIT_FLOPS },
		{ STR_INIT("_share"), UNIT_RATIO },
		{ STR_INIT("_ratio"), UNIT_RATIO },
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (str_ends(name, suffixes[i].end))
			return suffixes[i].unit;
	return UNIT_NONE;
}

/*
 * A result column is what a column of its name is elsewhere; else what SQLite declares, and a
 * number has the unit that its name says.
 */
static struct column select_column(
	sqlite3_stmt *stmt, int i, const struct reads *reads, struct arena *keep)
{
	struct str name = arena_str(keep, str_from(sqlite3_column_name(stmt, i)));
	const char *declared = sqlite3_column_decltype(stmt, i);
	struct column c = { name, COLUMN_REAL, UNIT_NONE, 0, NULL, STR_INIT("") };

	for (ptrdiff_t k = 0; k < reads->count; k++)
		if (str_eq(reads->items[k].column->name, name))
			return *reads->items[k].column;
	for (int t = 0; t < TABLE_COUNT; t++) {
		const struct column *known = table_column(&table_defs[t], name);

		if (known)
			return *known;
	}
	if (declared && !strcmp(declared, "TEXT"))
		c.type = COLUMN_TEXT;
	else
		c.unit = unit_by_suffix(name);
	return c;
}

/* A table definition for the first columns of the result, their cells side by side in a row. */
static const struct table_def *select_table(
	sqlite3_stmt *stmt, int count, const struct reads *reads, struct arena *keep)
{
	struct table_def *def = arena_make(keep, struct table_def, 1);
	struct column *columns = arena_make(keep, struct column, count);

	*def = (struct table_def){ STR_INIT("the SELECT"), STR_INIT("rows of the SELECT"),
		STR_INIT("key"), columns, count, 0 };
	for (int i = 0; i < count; i++) {
		columns[i] = select_column(stmt, i, reads, keep);
		columns[i].offset = def->row_bytes;
		def->row_bytes += columns[i].type == COLUMN_TEXT ? (ptrdiff_t)sizeof(struct str)
								 : (ptrdiff_t)sizeof(double);
	}
	if (!table_column(def, def->key))
		def->key = columns[0].name;
	return def;
}

/* What a SELECT's rows look like when the whole statement is wrong; or the SELECT itself is. */
static bool look_at_select(struct compiler *c)
{
	struct sql_fault fault;
	struct reads reads = { NULL, 0, 0 };
	const struct rule_text *select = &c->rule->select;
	sqlite3_stmt *stmt = prepare_alone(c->engine, STR("SELECT * FROM ("), select->text,
		STR("\n)"), &reads, c->keep, &fault);

	if (!stmt)
		return rule_fault(c->rule, "select", &select->origin, &fault, c->err);
	c->code->rows = select_table(stmt, sqlite3_column_count(stmt), &reads, c->keep);
	sqlite3_finalize(stmt);
	return true;
}

/* ---- the whole statement ------------------------------------------------------------------ */

static void add_expression(struct rule_code *code, struct expression *x, const char *key,
	const struct rule_text *source)
{
	if (!source->text.p)
		return;
	x->key = key;
	x->source = source;
	x->result = code->result_count;
	code->all[code->result_count++] = x;
}

static void list_expressions(struct compiler *c)
{
	const struct rule *rule = c->rule;
	struct rule_code *code = c->code;

	code->all = arena_make(c->keep, struct expression *, 4 + 2 * rule->waiver_count);
	code->waivers = arena_make(c->keep, struct waiver_code, rule->waiver_count + 1);
	add_expression(code, &code->where, "where", &rule->where);
	add_expression(code, &code->warn, "warn", &rule->warn);
	add_expression(code, &code->assert, "assert", &rule->assert);
	add_expression(code, &code->gain, "gain", &rule->gain);
	for (ptrdiff_t i = 0; i < rule->waiver_count; i++) {
		struct waiver_code *w = &code->waivers[i];

		w->waiver = rule->waivers[i];
		add_expression(code, &w->where, "waiver.where", &w->waiver->where);
		add_expression(code, &w->ceiling, "waiver.ceiling", &w->waiver->ceiling);
	}
}

/* Rows whose `where` is false are left out; those where it is unknown stay. */
static struct str write_statement(struct compiler *c)
{
	struct rule_code *code = c->code;
	struct out *o = out_memory(c->keep);

	out_z(o, c->rule->from ? "SELECT rowid" : "SELECT *");
	for (int i = 0; i < code->result_count; i++)
		out_fmt(o, ", (%.*s\n)", STR_ARG(code->all[i]->source->text));
	out_fmt(o, " FROM %.*s", STR_ARG(code->from));
	if (code->where.source)
		out_fmt(o, " WHERE (%.*s\n) IS NOT FALSE", STR_ARG(code->where.source->text));
	return out_text(o);
}

/* Whether the text makes long texts: by putting some together, or by writing one out. */
static bool is_joining(struct str sql, struct arena scratch)
{
	struct tokens tokens = { NULL, 0, 0 };
	struct sql_fault ignored;
	bool found = !tokens_read(sql, &scratch, &tokens, &ignored);

	for (ptrdiff_t i = 0; i < tokens.count; i++)
		found |=
			token_is(&tokens.items[i], "||") ||
			(tokens.items[i].kind == TOKEN_TEXT && tokens.items[i].width > PATTERN_MAX);
	return found;
}

/*
 * SQLite is asked once, for the whole; only if it refuses, part by part.  A fault of the whole is
 * kept for the case that every part is fine.
 */
static void prepare_whole(struct compiler *c)
{
	struct rule_code *code = c->code;
	struct reads reads = { NULL, 0, 0 };

	code->stmt = engine_prepare(c->engine, write_statement(c), &reads, c->keep, &c->fault);
	code->needs_baseline = c->rule->from == &table_defs[TABLE_deltas];
	code->is_joining = c->rule->select.text.p && is_joining(c->rule->select.text, *c->keep);
	for (int i = 0; i < code->result_count; i++)
		code->is_joining |= is_joining(code->all[i]->source->text, *c->keep);
	for (ptrdiff_t i = 0; i < reads.count; i++)
		for (int t = 0; t < TABLE_COUNT; t++)
			code->needs_baseline |= reads.items[i].table == &base_table_defs[t];
	if (!code->stmt)
		return;
	code->first_result = sqlite3_column_count(code->stmt) - code->result_count;
	if (!c->rule->from)
		code->rows = select_table(code->stmt, code->first_result, &reads, c->keep);
}

/* When SQLite refuses the whole, an expression that it refuses alone is the fault, with a caret. */
static bool check_statement(struct compiler *c)
{
	struct sql_fault fault;

	for (int i = 0; i < c->code->result_count && !c->code->stmt; i++) {
		const struct expression *x = c->code->all[i];

		if (!try_alone(c->engine, c->rule, x, NULL, c->keep, &fault))
			return rule_fault(c->rule, x->key, &x->source->origin, &fault, c->err);
	}
	if (c->code->stmt)
		return true;
	/* A limit of SQLite's: each is small enough, and its place is in no file. */
	const struct origin *origin = &c->rule->origin;
	return diag_caret(c->err, c->fault.id, doc_place(origin->doc, origin->node),
		"%.*s: its expressions and its %lld waivers are too much for one statement: %.*s",
		STR_ARG(c->rule->name), (long long)c->rule->waiver_count, STR_ARG(c->fault.text));
}

static void find_subject_columns(struct rule_code *code)
{
	/* How a subject is called: by the instruction, which its key is not. */
	static const struct str names[] = { STR_INIT("name"), STR_INIT("op"), STR_INIT("consumer"),
		STR_INIT("after") };
	const struct table_def *def = code->rows;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !code->name; i++)
		code->name = table_column(def, names[i]);
	code->key = table_column(def, def->key);
	code->family = table_column(def, STR("family"));
	code->kind = table_column(def, STR("kind"));
	code->scope = table_column(def, STR("scope"));
	code->source_file = table_column(def, STR("source_file"));
	code->source_line = table_column(def, STR("source_line"));
	code->user_file = table_column(def, STR("user_file"));
	code->user_line = table_column(def, STR("user_line"));
}

/* A rule without a message says what did not hold, in its own words. */
static bool compile_message(struct compiler *c)
{
	struct sql_fault fault;
	const struct rule_text *message = &c->rule->message;
	const struct rule_text *demand = c->rule->assert.text.p ? &c->rule->assert : &c->rule->warn;

	if (!message->text.p) {
		*arena_push(c->keep, c->code->message.pieces, c->code->message.count,
			c->code->message.cap) =
			(struct piece){ .text = arena_fmt(c->keep, "this does not hold: %.*s",
						STR_ARG(demand->text)) };
		return true;
	}
	if (template_compile(
		    message->text, c->code->rows, c->rule, c->keep, &c->code->message, &fault))
		return true;
	return rule_fault(c->rule, "message", &message->origin, &fault, c->err);
}

/* A parameter that nothing uses is misspelt or forgotten. */
static bool check_params(struct compiler *c)
{
	struct rule *rule = c->rule;
	struct str *names = arena_make(c->keep, struct str, rule->param_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		if (rule->params[i].used)
			names[n++] = rule->params[i].name;
	for (ptrdiff_t i = 0; i < rule->param_count; i++) {
		const struct rule_param *param = &rule->params[i];
		struct sql_fault fault = { DIAG_RULE_NAME, -1, 0, { NULL, 0 } };

		if (!param->used)
			fault.text = arena_fmt(c->keep, "no expression of the rule uses '%.*s'%.*s",
				STR_ARG(param->name),
				STR_ARG(did_you_mean(c->keep, param->name, names, n)));
		else if (table_column(c->code->rows, param->name))
			fault.text = arena_fmt(c->keep,
				"'%.*s' is a column of %.*s; give the parameter another name",
				STR_ARG(param->name), STR_ARG(c->code->rows->name));
		if (fault.text.p)
			return rule_fault(rule, "params", &param->origin, &fault, c->err);
	}
	return true;
}

bool rule_compile(struct engine *e, struct rule *rule, struct arena *keep, struct diag *err)
{
	struct rule_code *code = arena_make(keep, struct rule_code, 1);
	struct compiler c = { .engine = e, .rule = rule, .code = code, .keep = keep, .err = err };

	rule->code = code;
	code->rows = rule->from;
	code->from = rule->from ? rule->from->name
				: arena_fmt(keep, "(%.*s\n)", STR_ARG(rule->select.text));
	list_expressions(&c);
	struct sql_names names = { .params = rule->params,
		.param_count = rule->param_count,
		.uses = arena_make(keep, bool, rule->param_count + 1) };
	struct sql_fault fault;
	if (!rule->from && !check_select(rule->select.text, &names, keep, &fault))
		return rule_fault(rule, "select", &rule->select.origin, &fault, err);
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		rule->params[i].used |= names.uses[i];
	prepare_whole(&c);
	if ((!code->rows && !look_at_select(&c)) || !check_expressions(&c) ||
		!compile_message(&c) || !check_params(&c) || !check_statement(&c))
		return false;
	find_subject_columns(code);
	return true;
}
