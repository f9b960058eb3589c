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
	struct str from; /* "ops", or the SELECT in parentheses */
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

/* SQLite points at the first byte of a token: mark all of it. */
static void widen(struct sql_fault *fault, struct str sql, struct arena *keep)
{
	struct tokens tokens;
	struct sql_fault ignored;

	if (!tokens_read(sql, keep, &tokens, &ignored))
		return;
	for (ptrdiff_t i = 0; i < tokens.count; i++)
		if (tokens.items[i].at == fault->at)
			fault->width = tokens.items[i].width;
}

/* A fault in `prefix` + text + more becomes one in the text. */
static void rebase(struct sql_fault *fault, struct str text, ptrdiff_t prefix, struct arena *keep)
{
	if (fault->at < 0)
		return;
	fault->at -= prefix;
	if (fault->at >= text.len) {
		ptrdiff_t end = text.len > 0 ? text.len - 1 : 0;

		*fault = (struct sql_fault){ DIAG_RULE_SQL, end, 1,
			STR_INIT("not valid SQL: something is missing at the end") };
	} else if (fault->at < 0) {
		fault->at = -1;
	} else {
		widen(fault, text, keep);
	}
}

static sqlite3_stmt *prepare_alone(struct compiler *c, struct str before, struct str text,
	struct str after, struct reads *reads, struct sql_fault *fault)
{
	struct str sql =
		arena_fmt(c->keep, "%.*s%.*s%.*s", STR_ARG(before), STR_ARG(text), STR_ARG(after));
	sqlite3_stmt *stmt = engine_prepare(c->engine, sql, reads, c->keep, fault);

	if (!stmt)
		rebase(fault, text, before.len, c->keep);
	return stmt;
}

/* ---- expressions -------------------------------------------------------------------------- */

/* Calls check_expression and notes which parameters it met. */
static bool check_with_params(
	struct compiler *c, struct expression *x, enum sql_want want, struct sql_fault *fault)
{
	struct rule *rule = c->rule;
	bool *before = arena_make(c->keep, bool, rule->param_count + 1);
	struct reads of_row = { NULL, 0, 0 };
	struct sql_names names = { c->code->rows, rule->params, rule->param_count,
		rule->from ? NULL : &of_row, false };

	for (ptrdiff_t i = 0; i < rule->param_count; i++) {
		before[i] = rule->params[i].used;
		rule->params[i].used = false;
	}
	bool ok = check_expression(x->source->text, &names, want, c->keep, fault);
	x->params = arena_make(c->keep, const struct rule_param *, rule->param_count + 1);
	for (ptrdiff_t i = 0; i < rule->param_count; i++) {
		if (rule->params[i].used)
			x->params[x->param_count++] = &rule->params[i];
		rule->params[i].used = rule->params[i].used || before[i];
	}
	/* SQLite does not say which columns of a SELECT are read, but the check does. */
	x->reads = of_row;
	return ok;
}

static bool compile_expression(struct compiler *c, struct expression *x, const char *key,
	const struct rule_text *source, enum sql_want want)
{
	struct sql_fault fault;
	struct str after = arena_fmt(c->keep, "\n) FROM %.*s", STR_ARG(c->from));

	if (!source->text.p)
		return true;
	x->source = source;
	if (!check_with_params(c, x, want, &fault))
		return rule_fault(c->rule, key, &source->origin, &fault, c->err);
	sqlite3_stmt *stmt = prepare_alone(
		c, STR("SELECT ("), source->text, after, c->rule->from ? &x->reads : NULL, &fault);
	if (!stmt)
		return rule_fault(c->rule, key, &source->origin, &fault, c->err);
	sqlite3_finalize(stmt);
	return true;
}

/* ---- the subjects of a SELECT ------------------------------------------------------------- */

/* A result column is what a column of its name is elsewhere; else what SQLite declares. */
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
	return c;
}

/* A table definition for the result, its cells side by side in a row. */
static const struct table_def *select_table(
	sqlite3_stmt *stmt, const struct reads *reads, struct arena *keep)
{
	int count = sqlite3_column_count(stmt);
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

static bool reads_baseline(const struct reads *reads)
{
	for (ptrdiff_t i = 0; i < reads->count; i++) {
		const struct table_def *t = reads->items[i].table;
		if (t >= base_table_defs && t < base_table_defs + TABLE_COUNT)
			return true;
	}
	return false;
}

static bool compile_select(struct compiler *c)
{
	struct sql_fault fault;
	const struct rule_text *select = &c->rule->select;
	struct sql_names names = { NULL, c->rule->params, c->rule->param_count, NULL, false };
	struct reads reads = { NULL, 0, 0 };

	c->from = arena_fmt(c->keep, "(%.*s\n)", STR_ARG(select->text));
	if (!check_select(select->text, &names, c->keep, &fault))
		return rule_fault(c->rule, "select", &select->origin, &fault, c->err);
	sqlite3_stmt *stmt =
		prepare_alone(c, STR("SELECT * FROM ("), select->text, STR("\n)"), &reads, &fault);
	if (!stmt)
		return rule_fault(c->rule, "select", &select->origin, &fault, c->err);
	c->code->rows = select_table(stmt, &reads, c->keep);
	c->code->needs_baseline = reads_baseline(&reads);
	sqlite3_finalize(stmt);
	return true;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void add_result(struct out *o, struct expression *x, int *result)
{
	if (!x->source)
		return;
	out_z(o, ", (");
	out_str(o, x->source->text);
	out_z(o, "\n)");
	x->result = ++*result;
}

/* Rows whose `where` is false are left out; those where it is unknown stay. */
static void write_statement(struct compiler *c)
{
	struct rule_code *code = c->code;
	struct out *o = out_memory(c->keep);
	int result = c->rule->from ? 0 : (int)code->rows->column_count - 1;

	out_z(o, c->rule->from ? "SELECT rowid" : "SELECT *");
	add_result(o, &code->where, &result);
	add_result(o, &code->warn, &result);
	add_result(o, &code->assert, &result);
	add_result(o, &code->gain, &result);
	for (ptrdiff_t i = 0; i < c->rule->waiver_count; i++) {
		add_result(o, &code->waivers[i].where, &result);
		add_result(o, &code->waivers[i].ceiling, &result);
	}
	out_fmt(o, " FROM %.*s", STR_ARG(c->from));
	if (code->where.source)
		out_fmt(o, " WHERE (%.*s\n) IS NOT FALSE", STR_ARG(code->where.source->text));
	code->sql = out_text(o);
}

static void find_subject_columns(struct rule_code *code)
{
	const struct table_def *def = code->rows;

	code->key = table_column(def, def->key);
	code->name = table_column(def, STR("name"));
	code->family = table_column(def, STR("family"));
	code->kind = table_column(def, STR("kind"));
	code->scope = table_column(def, STR("scope"));
	code->source_file = table_column(def, STR("source_file"));
	code->source_line = table_column(def, STR("source_line"));
	code->user_file = table_column(def, STR("user_file"));
	code->user_line = table_column(def, STR("user_line"));
}

static bool compile_waivers(struct compiler *c)
{
	const struct rule *rule = c->rule;

	c->code->waivers = arena_make(c->keep, struct waiver_code, rule->waiver_count + 1);
	for (ptrdiff_t i = 0; i < rule->waiver_count; i++) {
		struct waiver_code *w = &c->code->waivers[i];

		w->waiver = rule->waivers[i];
		if (!compile_expression(
			    c, &w->where, "waiver.where", &w->waiver->where, WANT_CONDITION) ||
			!compile_expression(c, &w->ceiling, "waiver.ceiling", &w->waiver->ceiling,
				WANT_CONDITION))
			return false;
	}
	return true;
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
static struct str unused_param(const struct compiler *c, const struct rule_param *param)
{
	struct str *names = arena_make(c->keep, struct str, c->rule->param_count);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < c->rule->param_count; i++)
		if (c->rule->params[i].used)
			names[n++] = c->rule->params[i].name;
	struct str hint = near_hint(c->keep, param->name, names, n);
	return arena_fmt(c->keep, "no expression of the rule uses '%.*s'%.*s", STR_ARG(param->name),
		STR_ARG(hint));
}

static bool check_params(struct compiler *c)
{
	for (ptrdiff_t i = 0; i < c->rule->param_count; i++) {
		const struct rule_param *param = &c->rule->params[i];
		struct sql_fault fault = { DIAG_RULE_NAME, -1, 0, { NULL, 0 } };

		if (!param->used)
			fault.text = unused_param(c, param);
		else if (table_column(c->code->rows, param->name))
			fault.text = arena_fmt(c->keep,
				"'%.*s' is a column of %.*s; give the parameter another name",
				STR_ARG(param->name), STR_ARG(c->code->rows->name));
		if (fault.text.p)
			return rule_fault(c->rule, "params", &param->origin, &fault, c->err);
	}
	return true;
}

bool rule_compile(struct engine *e, struct rule *rule, struct arena *keep, struct diag *err)
{
	struct rule_code *code = arena_make(keep, struct rule_code, 1);
	struct compiler c = { e, rule, code, keep, err, { NULL, 0 } };

	rule->code = code;
	if (rule->from) {
		code->rows = rule->from;
		code->needs_baseline = rule->from == &table_defs[TABLE_deltas];
		c.from = rule->from->name;
	} else if (!compile_select(&c)) {
		return false;
	}
	if (!compile_expression(&c, &code->where, "where", &rule->where, WANT_CONDITION) ||
		!compile_expression(&c, &code->warn, "warn", &rule->warn, WANT_CONDITION) ||
		!compile_expression(&c, &code->assert, "assert", &rule->assert, WANT_CONDITION) ||
		!compile_expression(&c, &code->gain, "gain", &rule->gain, WANT_SECONDS) ||
		!compile_waivers(&c) || !compile_message(&c) || !check_params(&c))
		return false;
	find_subject_columns(code);
	write_statement(&c);
	return true;
}
