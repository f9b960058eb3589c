/* Compiling rules.  See compile.h. */
#include "rules/compile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/out.h"
#include "rules/check.h"
#include "rules/parse.h"
#include "rules/trial.h"

bool rule_fault(struct compiler *c, const char *key, const struct origin *origin,
	const struct sql_fault *fault)
{
	struct text_place place =
		fault->at < 0 ? doc_place(origin->doc, origin->node)
			      : doc_place_in(origin->doc, origin->node, fault->at, fault->width);

	diag_caret(c->err, fault->id, place, "%.*s%s%s: %.*s", STR_ARG(c->rule->name),
		*key ? "." : "", key, STR_ARG(fault->text));
	c->ok = false;
	return mistake_note(c->set->mistakes, c->keep, c->err);
}

static bool expression_fault(struct compiler *c, struct expression *x, struct sql_fault fault)
{
	x->is_wrong = true;
	if (fault.at >= 0)
		fault.at += x->at;
	return rule_fault(c, x->key, &x->source->origin, &fault);
}

/* ---- SQLite's word on an expression ------------------------------------------------------- */

/* SQLite's word on before + text + ')': a fault becomes one in the text. */
static sqlite3_stmt *prepare_alone(struct engine *e, const struct sql_names *names,
	struct str before, struct str text, struct arena *keep, struct sql_fault *fault)
{
	struct arena scratch = e->scratch;
	struct str sql = arena_fmt(&scratch, "%.*s%.*s\n)", STR_ARG(before), STR_ARG(text));
	sqlite3_stmt *stmt = sql_prepare(&e->sql, sql, keep, fault);

	if (stmt)
		return stmt;
	sql_fault_within(fault, before.len, text.len);
	if (fault->at >= 0)
		check_tell(text, names, keep, e->scratch, fault);
	return NULL;
}

/* The columns of the run that the rows have none of stand beside each row. */
static struct str source_with(
	const struct listing *l, const struct reads *run_columns, struct arena *keep)
{
	struct out *o = out_memory(keep);

	if (!run_columns->count)
		return l->source;
	out_fmt(o, "%.*s LEFT JOIN (SELECT ", STR_ARG(l->source));
	for (ptrdiff_t i = 0; i < run_columns->count; i++)
		out_fmt(o, "%s%.*s", i ? ", " : "", STR_ARG(run_columns->items[i].column->name));
	out_z(o, " FROM run)");
	return out_text(o);
}

/* Whether SQLite takes the expression by itself; in a WHERE, so as no aggregate of the rows. */
static bool try_alone(struct engine *e, const struct listing *l, const struct expression *x,
	const struct sql_names *names, struct arena *keep, struct sql_fault *fault)
{
	struct str before = arena_fmt(keep, "SELECT 1 FROM %.*s WHERE (",
		STR_ARG(source_with(l, &x->facts.run_columns, keep)));
	sqlite3_stmt *stmt = prepare_alone(e, names, before, x->text, keep, fault);

	sqlite3_finalize(stmt);
	return stmt != NULL;
}

/* ---- rows --------------------------------------------------------------------------------- */

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
		{ STR_INIT("share"), UNIT_RATIO },
		{ STR_INIT("ratio"), UNIT_RATIO },
	};

	for (int i = 0; i < COUNT_OF(suffixes); i++)
		if (str_ends(name, suffixes[i].end))
			return suffixes[i].unit;
	return UNIT_NONE;
}

/*
 * A result column is the table's column that it hands on, under its own name or another.  Else it
 * is what SQLite declares, and a number has the unit that its name says.
 */
static struct column select_column(
	sqlite3_stmt *stmt, int i, const struct sql_facts *facts, struct arena *keep)
{
	const struct sql_results *results = &facts->results;
	struct str name = arena_str(keep, str_from(sqlite3_column_name(stmt, i)));
	const char *declared = sqlite3_column_decltype(stmt, i);
	struct column c = { .name = name, .type = COLUMN_REAL };

	const struct column *of = i < results->count ? results->items[i].column : NULL;
	for (ptrdiff_t k = 0; k < facts->reads.count; k++)
		if (str_eq(facts->reads.items[k].column->name, name))
			of = facts->reads.items[k].column;
	if (of) {
		c = *of;
		c.name = name;
		c.words = str_eq(of->name, name) ? of->words : NULL; /* a UNION may have others */
		c.of = of;
		return c;
	}
	if ((declared && !strcmp(declared, "TEXT")) ||
		(i < results->count && results->items[i].dimension.kind == DIMENSION_TEXT))
		c.type = COLUMN_TEXT;
	else
		c.unit = unit_by_suffix(name);
	return c;
}

/* A table definition for the first columns of the result, their cells side by side in a row. */
static const struct table_def *select_table(
	sqlite3_stmt *stmt, int count, const struct sql_facts *facts, struct arena *keep)
{
	struct table_def *def = arena_make(keep, struct table_def, 1);
	struct column *columns = arena_make(keep, struct column, count);

	*def = (struct table_def){ STR_INIT("the SELECT"), STR_INIT("rows of the SELECT"),
		STR_INIT("key"), columns, count, 0 };
	for (int i = 0; i < count; i++) {
		columns[i] = select_column(stmt, i, facts, keep);
		columns[i].offset = def->row_bytes;
		def->row_bytes += columns[i].type == COLUMN_TEXT ? (ptrdiff_t)sizeof(struct str)
								 : (ptrdiff_t)sizeof(double);
	}
	if (!table_column(def, def->key))
		def->key = columns[0].name;
	return def;
}

/* What asks for :explained is judged last. */
static void note_facts(struct compiler *c, struct listing *l, const struct sql_facts *facts)
{
	for (ptrdiff_t i = 0; i < c->rule->param_count; i++)
		c->rule->params[i].used |= facts->uses[i];
	c->code->is_backstop |= facts->uses[PARAM_EXPLAINED];
	c->code->needs_baseline |= facts->needs_baseline;
	l->is_joining |= facts->is_joining;
	reads_join(&l->run_columns, &facts->run_columns, c->keep);
}

/* Rows whose `where` is false are left out; those where it is unknown stay. */
static struct str write_statement(const struct listing *l, struct arena *keep)
{
	struct out *o = out_memory(keep);

	out_fmt(o, "SELECT %.*s", STR_ARG(l->head));
	for (ptrdiff_t i = 0; i < l->result_count; i++)
		out_fmt(o, ", (%.*s\n)", STR_ARG(l->all[i]->text));
	out_fmt(o, " FROM %.*s", STR_ARG(l->from));
	if (l->where && l->where->source)
		out_fmt(o, " WHERE (%.*s\n) IS NOT FALSE", STR_ARG(l->where->text));
	return out_text(o);
}

bool listing_prepare(
	struct engine *e, struct listing *l, struct arena *keep, struct sql_fault *fault)
{
	struct arena scratch = e->scratch;

	if (!l->stmt)
		l->stmt = sql_prepare(&e->sql, write_statement(l, &scratch), keep, fault);
	if (l->stmt)
		l->first_result = sqlite3_column_count(l->stmt) - (int)l->result_count;
	return l->stmt != NULL;
}

struct reads rule_reads(const struct rule *rule, struct arena *keep)
{
	const struct listing *l = &rule->code->subjects;
	struct reads ret = { NULL, 0, 0 };

	reads_join(&ret, &l->of_select, keep);
	for (ptrdiff_t i = 0; i < l->result_count; i++)
		reads_join(&ret, &l->all[i]->facts.reads, keep);
	return ret;
}

/* A fault when the SELECT is wrong. */
static bool look_at_select(struct compiler *c, struct listing *l, struct sql_fault *fault)
{
	struct str select = l->select->text;
	const struct sql_names names = { .rule = c->rule };
	struct sql_facts facts;

	if (!check_select(select, &names, c->keep, c->engine->scratch, &facts, fault))
		return false;
	note_facts(c, l, &facts);
	l->of_select = facts.reads;
	/* The whole statement tells the columns, too: what ships is prepared once. */
	if (!c->rule->is_own && listing_prepare(c->engine, l, c->keep, fault)) {
		l->rows = select_table(l->stmt, l->first_result, &facts, c->keep);
		return true;
	}
	sqlite3_stmt *stmt =
		prepare_alone(c->engine, &names, STR("SELECT * FROM ("), select, c->keep, fault);
	if (!stmt)
		return false;
	l->rows = select_table(stmt, sqlite3_column_count(stmt), &facts, c->keep);
	sqlite3_finalize(stmt);
	return true;
}

/* What columns of a row say by their names, of several the first one. */
#define SAYS(column, member)                                                                       \
	{                                                                                          \
		STR_INIT(column), offsetof(struct listing, member)                                 \
	}
#define OWN(member) SAYS(#member, member)
static const struct {
	struct str name;
	size_t member;
} said[] = { /* How a subject is called: by the instruction, which its key is not. */
	OWN(name), SAYS("op", name), SAYS("consumer", name), SAYS("after", name),
	/* What a row takes of the step. */
	SAYS("exposed_share", share), SAYS("step_share", share), SAYS("time_share", share),
	OWN(family), OWN(kind), OWN(scope), OWN(source_file), OWN(source_line), OWN(user_file),
	OWN(user_line), OWN(host), OWN(device), OWN(module), OWN(role), OWN(recurs),
	OWN(window_share), OWN(pool_share), OWN(waited_share), OWN(unneeded_share), OWN(tells)
};

static void find_columns(struct listing *l)
{
	l->key = table_column(l->rows, l->rows->key);
	for (int i = 0; i < COUNT_OF(said); i++) {
		const struct column **to = (void *)((char *)l + said[i].member);

		*to = *to ? *to : table_column(l->rows, said[i].name);
	}
}

/* ---- expressions -------------------------------------------------------------------------- */

/* What its expressions may speak of. */
static struct sql_names names_of(const struct compiler *c, const struct listing *l)
{
	return (struct sql_names){ .table = l->rows, .rule = c->rule };
}

static bool check(
	struct compiler *c, struct listing *l, struct expression *x, struct sql_fault *fault)
{
	const struct sql_names names = names_of(c, l);
	bool ok = check_expression(
		x->text, &names, x->want, c->keep, c->engine->scratch, &x->facts, fault);

	note_facts(c, l, &x->facts);
	return ok;
}

static void list_expression(struct compiler *c, struct listing *l, struct expression *x)
{
	x->result = (int)l->result_count;
	*arena_push(c->keep, l->all, l->result_count, l->cap) = x;
}

static void add_expression(struct compiler *c, struct listing *l, struct expression *x,
	const char *key, const struct rule_text *source, enum sql_want want)
{
	if (!source->text.p)
		return;
	x->key = key;
	x->source = source;
	x->text = source->text;
	x->want = want;
	list_expression(c, l, x);
}

/* Its expressions are listed already. */
static bool open_listing(struct compiler *c, struct listing *l, const struct table_def *from,
	const struct rule_text *select, const char *key)
{
	struct sql_fault fault;

	l->rows = from;
	l->select = from ? NULL : select;
	l->source = from ? from->name
			 : arena_fmt(c->keep, "(%.*s\n) AS subject", STR_ARG(select->text));
	l->head = from ? arena_fmt(c->keep, "%.*s.rowid", STR_ARG(from->name)) : STR("subject.*");
	l->from = l->source;
	if (!from && !look_at_select(c, l, &fault))
		return rule_fault(c, key, &select->origin, &fault);
	find_columns(l);
	for (ptrdiff_t i = 0; i < l->result_count; i++)
		if (!check(c, l, l->all[i], &fault))
			expression_fault(c, l->all[i], fault);
	return true;
}

/* ---- texts -------------------------------------------------------------------------------- */

/* Another than what SQL writes without quotes. */
static bool name_is_odd(struct str name)
{
	return !name.len || !str_only(name, "a-zA-Z_0-9");
}

/* A row of the subjects' by itself, under the name that they have. */
static void open_texts(struct compiler *c)
{
	const struct listing *of = &c->code->subjects;
	struct listing *l = &c->code->texts;
	struct out *o = out_memory(c->keep);

	out_z(o, "(SELECT NULL");
	for (ptrdiff_t i = 0; i < of->rows->column_count; i++) {
		struct str name = of->rows->columns[i].name;

		if (!name_is_odd(name)) /* no text can speak of it */
			out_fmt(o, ", @c%td AS \"%.*s\"", i, STR_ARG(name));
	}
	out_fmt(o, ") AS %.*s", STR_ARG(of->select ? STR("subject") : of->source));
	*l = (struct listing){ .rows = of->rows, .source = out_text(o), .head = STR("NULL") };
}

static struct expression *add_to_texts(struct compiler *c, const struct rule_text *source,
	struct str sql, ptrdiff_t at, const char *key)
{
	struct expression *x = arena_make(c->keep, struct expression, 1);

	*x = (struct expression){
		.source = source, .text = sql, .at = at, .key = key, .want = WANT_ANY
	};
	list_expression(c, &c->code->texts, x);
	return x;
}

struct expression *text_expression(struct compiler *c, const struct rule_text *source,
	const char *key, struct str sql, ptrdiff_t at, struct sql_fault *fault)
{
	struct expression *x = add_to_texts(c, source, sql, at, key);
	struct str name = sql;
	bool is_param = str_take(&name, STR(":"));

	for (int i = 0; i < WORDINGS; i++)
		if (is_param && str_eq(name, wording_names[i]) &&
			!rule_param_named(c->rule, name)) {
			x->facts.dimension.kind =
				i == WORDING_VALUE ? DIMENSION_NUMBER : DIMENSION_TEXT;
			x->facts.dimension.unit = i == WORDING_VALUE ? c->code->unit : UNIT_NONE;
			return x;
		}
	if (check(c, &c->code->texts, x, fault))
		return x;
	x->is_wrong = true;
	fault->at += fault->at < 0 ? 0 : at;
	return NULL;
}

static struct advice_code *compile_advice(
	struct compiler *c, const struct advice_list *list, const char *key)
{
	struct advice_code *ret = arena_make(c->keep, struct advice_code, list->count + 1);
	struct sql_fault fault;

	for (ptrdiff_t i = 0; i < list->count; i++) {
		const struct advice_item *item = &list->items[i];

		template_compile(c, &item->text, key, &ret[i].text);
		if (!item->when.text.p)
			continue;
		ret[i].when = add_to_texts(c, &item->when, item->when.text, 0, key);
		ret[i].when->want = WANT_CONDITION;
		if (!check(c, &c->code->texts, ret[i].when, &fault))
			expression_fault(c, ret[i].when, fault);
	}
	return ret;
}

/* ---- units -------------------------------------------------------------------------------- */

static bool fits(struct compiler *c, struct rule_param *limit, const char *key)
{
	const struct origin *o = &limit->origin;
	struct keyed r = rule_reading(c->set, o->doc, c->keep, c->err);

	if (!limit->text.p || !o->node || isnan(limit->value)) /* NaN: its mistake was reported */
		return true;
	r.owner = c->rule->name;
	bool ok = number_fits(&r, str_from(key), limit, c->code->unit, STR(", as its value is"));
	c->ok &= ok;
	return ok;
}

/* A limit that no share reaches, or that every share is beyond, is meant otherwise. */
static void check_reach(struct compiler *c, const struct rule_param *limit, const char *key)
{
	const struct column *column = c->code->value.facts.column;
	bool is_share = c->code->is_share || (column && column_is_share(column));
	bool is_above = limit->value > 1;
	struct sql_fault fault;

	if (!is_share || !(is_above || limit->value < 0))
		return;
	sql_fail(&fault, c->keep, DIAG_RULE_UNIT, -1, 0,
		"a share is never %s, so that %.*s would %s %.*s",
		is_above ? "above 100%" : "below 0", STR_ARG(limit->text),
		is_above == c->rule->at_least ? "always" : "never", STR_ARG(limit->name));
	rule_fault(c, key, &limit->origin, &fault);
}

/* What the value is measured in: by its columns, else as its limits are written. */
static void settle_unit(struct compiler *c)
{
	static const char *const keys[][2] = { [PARAM_WARN] = { "at_most.warn", "at_least.warn" },
		[PARAM_FAIL] = { "at_most.fail", "at_least.fail" } };
	struct rule *rule = c->rule;
	struct dimension d = c->code->value.facts.dimension;
	struct rule_param *limit = &rule->params[PARAM_FAIL];

	if (!limit->text.p)
		limit = &rule->params[PARAM_WARN];
	c->code->unit = d.unit ? d.unit : limit->unit;
	for (int i = PARAM_WARN; i <= PARAM_FAIL; i++) {
		limit = &rule->params[i];
		if (fits(c, limit, keys[i][rule->at_least]) && limit->origin.node)
			check_reach(c, limit, keys[i][rule->at_least]);
	}
}

static void settle_gain(struct compiler *c)
{
	struct rule_code *code = c->code;
	struct expression *x = &code->gain;
	bool is_known = x->source && x->facts.dimension.unit;

	code->is_bytes =
		is_known ? x->facts.dimension.unit == UNIT_BYTES : c->rule->known == GROUP_MEMORY;
	if (!is_known || x->facts.dimension.unit == UNIT_BYTES ||
		x->facts.dimension.unit == UNIT_SECONDS)
		return;
	struct sql_fault fault;
	sql_fail(&fault, c->keep, DIAG_RULE_UNIT, 0, x->text.len,
		"this is %s; a gain is seconds per step, or bytes; 'gain: value' says that the "
		"value is a share of the step",
		unit_noun(x->facts.dimension.unit));
	expression_fault(c, x, fault);
}

/* A parameter that nothing uses is misspelt or forgotten. */
static void check_params(struct compiler *c)
{
	struct rule *rule = c->rule;
	struct str *names = arena_make(c->keep, struct str, rule->param_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = PARAM_OWN; i < rule->param_count; i++)
		if (rule->params[i].used)
			names[n++] = rule->params[i].name;
	for (ptrdiff_t i = PARAM_OWN; i < rule->param_count; i++) {
		const struct rule_param *param = &rule->params[i];
		const struct key *meant = key_named(rule_entry.keys, param->name);
		struct sql_fault fault = { .id = DIAG_RULE_NAME, .at = -1 };

		if (!param->used)
			fault.text = arena_fmt(c->keep, "no expression of the rule uses '%.*s'%.*s",
				STR_ARG(param->name),
				STR_ARG(meant && !meant->read
						? arena_fmt(c->keep, "; %s", meant->form)
						: did_you_mean(c->keep, param->name, names, n)));
		else if (table_column(c->code->subjects.rows, param->name))
			fault.text = arena_fmt(c->keep,
				"'%.*s' is a column of %.*s; give the parameter another name",
				STR_ARG(param->name), STR_ARG(c->code->subjects.rows->name));
		if (fault.text.p)
			rule_fault(c, "params", &param->origin, &fault);
	}
}

/* ---- waivers ------------------------------------------------------------------------------ */

static void check_waivers(struct compiler *c)
{
	struct rule *rule = c->rule;

	for (ptrdiff_t i = 0; i < rule->waiver_count; i++) {
		struct waiver *w = rule->waivers[i];
		struct sql_fault fault = { .id = DIAG_RULE_SCHEMA, .at = -1 };

		if (rule->gate)
			fault.text = STR("the rule is of the group evidence, and evidence that is "
					 "missing cannot be waived");
		else if (!rule->value.text.p && w->limit.text.p)
			fault.text = STR("the rule has an assert, so its waiver has no limit");
		else if (rule->value.text.p && !w->limit.text.p)
			fault.text = arena_fmt(c->keep, "a waiver has a limit: %s",
				rule->at_least ? "at_least" : "at_most");
		else if (rule->places.origin.node && i >= PLACE_WAIVERS_MAX)
			fault.text = arena_fmt(c->keep,
				"more than %d waivers of one rule with places", PLACE_WAIVERS_MAX);
		else if (rule->value.text.p && w->at_least != rule->at_least)
			fault.text =
				arena_fmt(c->keep, "the rule's limit is %s, and so is a waiver's",
					rule->at_least ? "at_least" : "at_most");
		if (fault.text.p)
			rule_fault(c, "waiver", &w->rule.origin, &fault);
		else
			fits(c, &w->limit, w->at_least ? "waiver.at_least" : "waiver.at_most");
	}
}

/* ---- the whole statement ------------------------------------------------------------------ */

int result_column(const struct listing *l, const struct expression *x)
{
	return l->first_result + x->result;
}

double number_of(const struct listing *l, const struct expression *x)
{
	double number = x->source ? sql_number(l->stmt, result_column(l, x)) : NAN;

	return isfinite(number) ? number : NAN;
}

/*
 * SQLite is asked of each expression, which shows where a fault stands, and whether it makes of all
 * rows one: (select max(ops.time_s) from devices) is an aggregate of the outer ops.
 */
static void check_listing(struct compiler *c, struct listing *l)
{
	const struct sql_names names = names_of(c, l);
	struct sql_fault fault;
	bool is_told = false;

	l->from = source_with(l, &l->run_columns, c->keep);
	if (!c->rule->is_own) /* it ships with the program, whose tests have asked SQLite */
		return;
	for (ptrdiff_t i = 0; i < l->result_count; i++) {
		struct expression *x = l->all[i];

		if (!x->is_wrong && !try_alone(c->engine, l, x, &names, c->keep, &fault))
			expression_fault(c, x, fault);
		is_told |= x->is_wrong;
	}
	if (is_told || listing_prepare(c->engine, l, c->keep, &fault))
		return;
	/* A limit of SQLite's: each is small enough, and its place is in no file. */
	fault.at = -1;
	fault.text = arena_fmt(c->keep,
		"its expressions and its %td waivers are too much for one statement: %.*s",
		c->rule->waiver_count, STR_ARG(fault.text));
	rule_fault(c, "", &c->rule->origin, &fault);
}

/* All that the rows are asked, in the order of their results. */
static void list_expressions(struct compiler *c)
{
	const struct rule *rule = c->rule;
	const struct rule_places *p = &rule->places;
	struct rule_code *code = c->code;
	struct listing *l = &code->subjects, *places = &code->places;

	l->where = &code->where;
	places->where = &code->place_where;
	add_expression(c, l, &code->where, "where", &rule->where, WANT_CONDITION);
	add_expression(c, l, &code->value, "value", &rule->value, WANT_NUMBER);
	add_expression(c, l, &code->unclear, "unclear", &rule->unclear, WANT_NUMBER);
	add_expression(c, l, &code->assert, "assert", &rule->assert, WANT_CONDITION);
	add_expression(c, l, &code->can_fail, "can_fail", &rule->can_fail, WANT_CONDITION);
	if (!code->is_share)
		add_expression(c, l, &code->gain, "gain", &rule->gain, WANT_NUMBER);
	add_expression(c, places, &code->place_where, "places.where", &p->where, WANT_CONDITION);
	add_expression(c, places, &code->place_value, "places.value", &p->value, WANT_NUMBER);
	code->waivers = arena_make(c->keep, struct waiver_code, rule->waiver_count + 1);
	for (ptrdiff_t i = 0; i < rule->waiver_count; i++) {
		struct waiver_code *w = &code->waivers[i];

		w->waiver = rule->waivers[i];
		add_expression(c, p->origin.node ? places : l, &w->where, "waiver.where",
			&w->waiver->where, WANT_CONDITION);
	}
}

/* Its places, and the texts of its findings. */
static void compile_rest(struct compiler *c)
{
	const struct rule_places *p = &c->rule->places;
	struct rule_code *code = c->code;

	if ((p->from || p->select.text.p) &&
		open_listing(c, &code->places, p->from, &p->select, "places.select"))
		check_listing(c, &code->places);
	open_texts(c);
	if (c->rule->message.text.p)
		template_compile(c, &c->rule->message, "message", &code->message);
	code->cause = compile_advice(c, &c->rule->cause, "cause");
	code->fix = compile_advice(c, &c->rule->fix, "fix");
	code->only_warns = compile_advice(c, &c->rule->only_warns, "only_warns");
	check_listing(c, &code->texts);
}

bool rule_rest_want(const struct rule *rule, struct diag *err)
{
	struct compiler *c = rule->code->later;
	bool is_backstop = rule->code->is_backstop, needs_baseline = rule->code->needs_baseline;

	if (!c)
		return true;
	c->keep = &c->engine->keep;
	c->err = err;
	compile_rest(c);
	if (!c->ok)
		return false;
	rule->code->later = NULL;
	/* The rule was judged as if this asked for neither. */
	assert(rule->code->is_backstop == is_backstop &&
		rule->code->needs_baseline == needs_baseline);
	return true;
}

void rule_compile(struct ruleset *set, struct rule *rule, struct arena *keep, struct diag *err)
{
	struct rule_code *code = arena_make(keep, struct rule_code, 1);
	struct compiler *c = arena_make(keep, struct compiler, 1);

	*c = (struct compiler){ set, set->engine, rule, code, keep, err, true };
	rule->code = code;
	code->needs_baseline =
		rule->from == &table_defs[TABLE_deltas] || rule->from == &table_defs[TABLE_changes];
	code->is_share = str_eq(str_trim(rule->gain.text), STR("value"));
	list_expressions(c);
	if (!open_listing(c, &code->subjects, rule->from, &rule->select, "select"))
		return;
	settle_unit(c);
	settle_gain(c);
	check_waivers(c);
	check_listing(c, &code->subjects);
	if (rule->is_own)
		compile_rest(c);
	else
		code->later = c;
	if (c->ok && rule->is_own && !rule->is_broken) /* what is misspelt there is used nowhere */
		check_params(c);
}
