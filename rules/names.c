/* What a name in SQL may mean, and what it was meant to be.  See parser.h. */
#include "rules/parser.h"

#include "rules/functions.h"

static const struct column *find_column(const struct table_def *def, struct str name)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		if (str_eq_nocase(def->columns[i].name, name))
			return &def->columns[i];
	return NULL;
}

const struct table_def *find_table(struct str name)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		if (str_eq_nocase(table_defs[i].name, name))
			return &table_defs[i];
		if (str_eq_nocase(base_table_defs[i].name, name))
			return &base_table_defs[i];
	}
	return NULL;
}

void unknown_table(struct parser *p, const struct token *t)
{
	struct str names[2 * TABLE_COUNT];

	for (int i = 0; i < TABLE_COUNT; i++) {
		names[i] = table_defs[i].name;
		names[TABLE_COUNT + i] = base_table_defs[i].name;
	}
	struct str hint = did_you_mean(p->keep, t->text, names, 2 * TABLE_COUNT);
	parser_fail(p, DIAG_RULE_NAME, t->at, t->width, "there is no table '%.*s'%.*s",
		STR_ARG(t->text), STR_ARG(hint));
}

void unknown_function(struct parser *p, const struct token *t)
{
	struct str *names = arena_make(p->keep, struct str, sql_function_count);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < sql_function_count; i++)
		if (p->names->is_query || !sql_functions[i].query_only)
			names[n++] = sql_functions[i].name;
	struct str hint = did_you_mean(p->keep, t->text, names, n);
	parser_fail(p, DIAG_RULE_SQL, t->at, t->width, "there is no function %.*s() here%.*s",
		STR_ARG(t->text), STR_ARG(hint));
}

/* A column of any table in reach; *known becomes false when the name may be right nonetheless. */
static const struct column *resolve(
	const struct parser *p, struct str name, bool *known, const struct table_def **table)
{
	for (const struct scope *s = p->scope; s; s = s->outer) {
		for (ptrdiff_t i = 0; i < s->table_count; i++) {
			const struct table_def *def = s->tables[i].def;
			const struct column *c = def ? find_column(def, name) : NULL;

			*table = def;
			if (c && s == p->row && i > 0) /* the run's, in reach of every row */
				reads_add(p->names->run, p->keep, def, c);
			if (c)
				return c;
		}
		if (s->is_open)
			*known = false;
		for (ptrdiff_t i = 0; i < s->alias_count; i++)
			if (str_eq_nocase(s->aliases[i], name))
				*known = false;
	}
	return NULL;
}

static void add_columns(struct parser *p, struct list *list, const struct table_def *def)
{
	for (ptrdiff_t i = 0; def && i < def->column_count; i++)
		*arena_push(p->keep, list->items, list->count, list->cap) = def->columns[i].name;
}

static void unknown_column_of(struct parser *p, const struct token *t, const struct table_def *def)
{
	struct list list = { NULL, 0, 0 };

	add_columns(p, &list, def);
	struct str hint = did_you_mean(p->keep, t->text, list.items, list.count);
	parser_fail(p, DIAG_RULE_NAME, t->at, t->width, "%s%.*s has no column '%.*s'%.*s",
		table_find(def->name) ? "table " : "", STR_ARG(def->name), STR_ARG(t->text),
		STR_ARG(hint));
}

bool names_param(struct parser *p, const struct token *t)
{
	for (ptrdiff_t i = 0; i < p->names->param_count; i++) {
		struct str name = p->names->params[i].name;

		if (!str_eq_nocase(name, t->text))
			continue;
		parser_fail(p, DIAG_RULE_NAME, t->at, t->width, "a parameter is written :%.*s",
			STR_ARG(name));
		return true;
	}
	return false;
}

static void unknown_column(struct parser *p, const struct token *t)
{
	const struct scope *s = p->scope;
	struct list list = { NULL, 0, 0 };

	if (names_param(p, t))
		return;
	if (s && s == p->row) {
		unknown_column_of(p, t, s->tables[0].def);
		return;
	}
	for (; s; s = s->outer)
		for (ptrdiff_t i = 0; i < s->table_count; i++)
			add_columns(p, &list, s->tables[i].def);
	struct str hint = did_you_mean(p->keep, t->text, list.items, list.count);
	parser_fail(p, DIAG_RULE_NAME, t->at, t->width, "no table here has a column '%.*s'%.*s",
		STR_ARG(t->text), STR_ARG(hint));
}

static struct value column_value(const struct column *c)
{
	struct value v = value_number(dimension_of(c->unit));

	v.column = c;
	if (c->type == COLUMN_TEXT)
		v.class = CLASS_TEXT;
	return v;
}

static const struct scope_table *find_alias(const struct parser *p, struct str alias)
{
	for (const struct scope *s = p->scope; s; s = s->outer)
		for (ptrdiff_t i = 0; i < s->table_count; i++)
			if (str_eq_nocase(s->tables[i].alias, alias))
				return &s->tables[i];
	return NULL;
}

/* table.column, with `table` and the dot already read. */
static struct value qualified(struct parser *p, const struct token *table)
{
	const struct token *t = token_next(p);
	const struct scope_table *found = find_alias(p, table->text);
	ptrdiff_t width = t->at + t->width - table->at;

	if (!found && find_table(table->text))
		parser_fail(p, DIAG_RULE_NAME, table->at, width,
			"table %.*s is not in reach here; write (select %.*s from %.*s)",
			STR_ARG(table->text), STR_ARG(t->text), STR_ARG(table->text));
	if (!found || !found->def || token_is(t, "*"))
		return value_any();
	const struct column *c = find_column(found->def, t->text);
	if (c)
		return column_value(c);
	unknown_column_of(p, t, found->def);
	return value_any();
}

struct value name_value(struct parser *p)
{
	const struct token *t = token_next(p);
	const struct table_def *table;
	bool known = true;

	if (token_accept(p, "."))
		return qualified(p, t);
	const struct column *c = resolve(p, t->text, &known, &table);
	if (c && p->names->reads && p->scope == p->row)
		reads_add(p->names->reads, p->keep, table, c);
	if (c)
		return column_value(c);
	if (known)
		unknown_column(p, t);
	return value_any();
}

struct value param_value(struct parser *p)
{
	const struct token *t = token_next(p);

	for (ptrdiff_t i = 0; i < p->names->param_count; i++) {
		const struct rule_param *param = &p->names->params[i];

		if (!str_eq(param->name, t->text))
			continue;
		p->names->uses[i] = true;
		struct value v = value_number(dimension_of(param->unit));
		if (param->unit == UNIT_NONE)
			v.dimension.kind = DIMENSION_BARE;
		v.literal = t;
		return v;
	}
	struct list list = { NULL, 0, 0 };
	for (ptrdiff_t i = 0; i < p->names->param_count; i++)
		*arena_push(p->keep, list.items, list.count, list.cap) = p->names->params[i].name;
	struct str hint = did_you_mean(p->keep, t->text, list.items, list.count);
	if (p->names->is_query)
		parser_fail(p, DIAG_RULE_NAME, t->at, t->width, "a query has no parameters");
	else
		parser_fail(p, DIAG_RULE_NAME, t->at, t->width,
			"the rule has no parameter '%.*s'%s%.*s", STR_ARG(t->text),
			hint.len ? "" : "; declare it under params:", STR_ARG(hint));
	return value_any();
}
