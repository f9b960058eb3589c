/*
 * Expressions, by precedence climbing, and SELECTs as a row of expressions between keywords.  See
 * check.h.
 *
 * Where the text stops making sense the reading stops too and leaves the message to SQLite; it only
 * ever fails for a mistake that it understands.
 */
#include "rules/check.h"

#include "base/text.h"
#include "rules/parse.h"
#include "rules/token.h"

enum value_class { CLASS_ANY, CLASS_NUMBER, CLASS_TEXT, CLASS_NULL };

/* What is known of an operand. */
struct value {
	enum value_class class;
	struct dimension dimension;
	const struct column *column; /* when it is a column and nothing else */
	const struct token *literal; /* when it is one literal and nothing else */
	ptrdiff_t at, width;	     /* where it stands */
};

/* Tables that a text may name, its row among them: a join of more is generated. */
enum { TABLES_NAMED = 16, WORDS_MAX = 64 /* the longest list of a column's words has 25 */ };

struct checker {
	struct tokens tokens;
	ptrdiff_t at;
	struct str sql;
	const struct sql_names *names;
	const struct table_def *tables[TABLES_NAMED];
	int table_count;
	bool has_with; /* a table may be a WITH clause's */
	bool failed;   /* fault is filled; nothing more is read */
	int depth, selects;
	struct arena *keep;
	struct sql_fault *fault;
};

static struct value expression(struct checker *c, int precedence); /* 0: a whole one */
static struct value select_value(struct checker *c);

/* ---- tokens ------------------------------------------------------------------------------- */

static void fail(struct checker *c, enum diag_id id, ptrdiff_t at, ptrdiff_t width, const char *fmt,
	...) __attribute__((format(printf, 5, 6)));

/* Only the first fault counts; after it the reading stands at the end. */
static void fail(
	struct checker *c, enum diag_id id, ptrdiff_t at, ptrdiff_t width, const char *fmt, ...)
{
	va_list args;

	if (c->failed)
		return;
	va_start(args, fmt);
	*c->fault = (struct sql_fault){ id, at, width, arena_vfmt(c->keep, fmt, args) };
	va_end(args);
	c->failed = true;
	c->at = c->tokens.count - 1;
}

static const struct token *ahead(const struct checker *c, ptrdiff_t n)
{
	ptrdiff_t last = c->tokens.count - 1;

	return &c->tokens.items[c->at + n < last ? c->at + n : last];
}

static const struct token *next(struct checker *c)
{
	const struct token *t = ahead(c, 0);

	c->at += t->kind != TOKEN_END;
	return t;
}

static bool accept(struct checker *c, const char *word)
{
	bool is = token_is(ahead(c, 0), word);

	c->at += is;
	return is;
}

/* After the opening one: to behind its partner. */
static void skip_parentheses(struct checker *c)
{
	for (int depth = 1; depth > 0 && ahead(c, 0)->kind != TOKEN_END; c->at++)
		depth += token_is(ahead(c, 0), "(") - token_is(ahead(c, 0), ")");
}

static bool is_among(const struct token *t, const char *const *words)
{
	while (*words && !token_is(t, *words))
		words++;
	return *words != NULL;
}

/* Can be neither operand nor alias. */
static bool is_reserved(const struct token *t)
{
	static const char *const words[] = { "select", "from", "where", "group", "by", "having",
		"order", "limit", "offset", "union", "except", "intersect", "on", "using", "join",
		"left", "right", "inner", "outer", "cross", "natural", "full", "as", "asc", "desc",
		"and", "or", "in", "is", "like", "glob", "match", "regexp", "between", "then",
		"when", "else", "end", "isnull", "notnull", "collate", "escape", "distinct", "all",
		"window", "nulls", "not", "values", NULL };

	return is_among(t, words);
}

static bool is_select(const struct token *t)
{
	static const char *const words[] = { "select", "with", "values", NULL };

	return is_among(t, words);
}

/* ---- values ------------------------------------------------------------------------------- */

static struct value any(void)
{
	return (struct value){ CLASS_ANY, { DIMENSION_ANY, UNIT_NONE }, NULL, NULL, 0, 0 };
}

static struct value number(struct dimension d)
{
	return (struct value){ CLASS_NUMBER, d, NULL, NULL, 0, 0 };
}

static struct value bare(void)
{
	return number((struct dimension){ DIMENSION_BARE, UNIT_NONE });
}

static struct value truth(void)
{
	return number(dimension_of(UNIT_BOOL));
}

/* A value that was computed: neither a column nor a literal any more. */
static struct value computed(struct value v)
{
	v.column = NULL;
	v.literal = NULL;
	return v;
}

/* How a fault speaks of an operand: as it is written. */
static struct str written(const struct checker *c, const struct value *v)
{
	return str_head(str_from_offset(c->sql, v->at), v->width);
}

/* ---- what may be compared and computed with what ------------------------------------------ */

static void unknown_word(struct checker *c, const struct value *column, const struct value *text,
	const struct str *words, ptrdiff_t count, const char *verb)
{
	struct str word = token_string(text->literal, c->keep);
	struct str hint = did_you_mean(c->keep, word, words, count);

	if (!hint.len)
		hint = arena_fmt(c->keep, "; it is one of %.*s",
			STR_ARG(words_joined(c->keep, words, count, ", ")));
	fail(c, DIAG_RULE_TYPE, text->at, text->width, "%.*s %s '%.*s'%.*s",
		STR_ARG(column->column->name), verb, STR_ARG(word), STR_ARG(hint));
}

/* `kind = 'matmull'`: a word that is never there makes a rule that never speaks; so does a glob. */
static void check_word(
	struct checker *c, const struct value *column, const struct value *text, bool is_glob)
{
	struct str words[WORDS_MAX], rest;
	ptrdiff_t count = 0;
	bool fits = false;

	if (!column->column || !column->column->words || !text->literal ||
		text->literal->kind != TOKEN_TEXT)
		return;
	struct str word = token_string(text->literal, c->keep);
	if (is_glob && str_find_char(word, '[') >= 0)
		return;
	for (rest = str_from(column->column->words); rest.p && count < WORDS_MAX; count++) {
		str_cut(rest, '|', &words[count], &rest);
		fits |= is_glob ? str_glob(words[count], word) : str_eq(words[count], word);
	}
	if (!fits)
		unknown_word(c, column, text, words, count, is_glob ? "never matches" : "is never");
}

/* A literal is easier to have mistaken than a column. */
static void check_units(
	struct checker *c, const struct value *a, const struct value *b, const char *verb)
{
	const struct value *bad = a->literal && !b->literal ? a : b, *good = bad == a ? b : a;

	if (a->class == CLASS_NUMBER && b->class == CLASS_NUMBER &&
		!dimension_fits(a->dimension, b->dimension))
		fail(c, DIAG_RULE_UNIT, bad->at, bad->width,
			"%.*s is %s and %.*s is %s; they cannot be %s", STR_ARG(written(c, good)),
			unit_noun(good->dimension.unit), STR_ARG(written(c, bad)),
			unit_noun(bad->dimension.unit), verb);
}

static void check_compare(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	static const char *const equals[] = { "=", "==", "<>", "!=", "in", "is", NULL };
	const struct value *bad = a->literal && !b->literal ? a : b, *good = bad == a ? b : a;

	if (a->class == CLASS_NULL || b->class == CLASS_NULL) {
		if (!token_is(sign, "is"))
			fail(c, DIAG_RULE_TYPE, sign->at, sign->width,
				"comparing with null is never true; write 'is null' or 'is not "
				"null'");
		return;
	}
	if (a->class != CLASS_ANY && b->class != CLASS_ANY && a->class != b->class)
		fail(c, DIAG_RULE_TYPE, bad->at, bad->width,
			"%.*s is a %s and %.*s is a %s; they cannot be compared",
			STR_ARG(written(c, good)), good->class == CLASS_TEXT ? "text" : "number",
			STR_ARG(written(c, bad)), bad->class == CLASS_TEXT ? "text" : "number");
	check_units(c, a, b, "compared");
	if (is_among(sign, equals)) {
		check_word(c, a, b, false);
		check_word(c, b, a, false);
	}
}

static void check_pattern(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct value *bad = a->class == CLASS_NUMBER ? a : b;

	if (bad->class == CLASS_NUMBER)
		fail(c, DIAG_RULE_TYPE, bad->at, bad->width,
			"%.*s is a number; '%.*s' compares texts", STR_ARG(written(c, bad)),
			STR_ARG(sign->text));
	else if (token_is(sign, "glob"))
		check_word(c, a, b, true);
}

static bool is_whole(const struct value *v)
{
	return v->literal && v->literal->kind == TOKEN_NUMBER &&
	       str_find_char(v->literal->text, '.') < 0 && str_find_char(v->literal->text, 'e') < 0;
}

static struct value check_arithmetic(
	struct checker *c, const struct value *a, const struct value *b, const struct token *sign)
{
	const struct value *text = a->class == CLASS_TEXT ? a : b;
	char s = sign->text.p[0];

	if (text->class == CLASS_TEXT)
		fail(c, DIAG_RULE_TYPE, text->at, text->width,
			"%.*s is a text; '%c' computes with numbers", STR_ARG(written(c, text)), s);
	if (s == '/' && is_whole(a) && is_whole(b))
		fail(c, DIAG_RULE_TYPE, a->at, b->at + b->width - a->at,
			"%.*s divides whole numbers and drops the rest; write %.*s.0 / %.*s",
			STR_ARG(str_head(str_from_offset(c->sql, a->at), b->at + b->width - a->at)),
			STR_ARG(written(c, a)), STR_ARG(written(c, b)));
	if (s == '+' || s == '-')
		check_units(c, a, b, s == '+' ? "added" : "subtracted");
	return number(dimension_combine(s, a->dimension, b->dimension));
}

static void check_number(struct checker *c, const struct value *v, bool is_condition)
{
	if (v->class == CLASS_TEXT)
		fail(c, DIAG_RULE_TYPE, v->at, v->width, "%.*s is a text and no %s",
			STR_ARG(written(c, v)),
			is_condition ? "condition; compare it with something" : "number");
}

/* ---- names -------------------------------------------------------------------------------- */

static const struct column *find_column(const struct table_def *def, struct str name)
{
	for (ptrdiff_t i = 0; def && i < def->column_count; i++)
		if (str_eq_nocase(def->columns[i].name, name))
			return &def->columns[i];
	return NULL;
}

static void unknown_table(struct checker *c, const struct token *t)
{
	struct str names[2 * TABLE_COUNT];

	for (int i = 0; i < TABLE_COUNT; i++) {
		names[i] = table_defs[i].name;
		names[TABLE_COUNT + i] = base_table_defs[i].name;
	}
	struct str hint = did_you_mean(c->keep, t->text, names, 2 * TABLE_COUNT);
	fail(c, DIAG_RULE_NAME, t->at, t->width, "there is no table '%.*s'%.*s", STR_ARG(t->text),
		STR_ARG(hint));
}

static void add_columns(struct arena *keep, struct list *list, const struct table_def *def)
{
	for (ptrdiff_t i = 0; def && i < def->column_count; i++)
		*arena_push(keep, list->items, list->count, list->cap) = def->columns[i].name;
}

/* Without its colon: a fault. */
static bool names_param(struct checker *c, const struct token *t)
{
	for (ptrdiff_t i = 0; i < c->names->param_count; i++) {
		struct str name = c->names->params[i].name;

		if (!str_eq_nocase(name, t->text))
			continue;
		fail(c, DIAG_RULE_NAME, t->at, t->width, "a parameter is written :%.*s",
			STR_ARG(name));
		return true;
	}
	return false;
}

/* A name of the row that it has none of; SQLite finds those in subqueries. */
static void unknown_column(struct checker *c, const struct token *t)
{
	const struct table_def *def = c->names->table;
	struct list list = { NULL, 0, 0 };

	if (names_param(c, t))
		return;
	add_columns(c->keep, &list, def);
	struct str hint = did_you_mean(c->keep, t->text, list.items, list.count);
	if (!hint.len && c->names->run) {
		add_columns(c->keep, &list, &table_defs[TABLE_run]);
		hint = did_you_mean(c->keep, t->text, list.items, list.count);
	}
	fail(c, DIAG_RULE_NAME, t->at, t->width, "%s%.*s has no column '%.*s'%.*s",
		table_find(def->name) ? "table " : "", STR_ARG(def->name), STR_ARG(t->text),
		STR_ARG(hint));
}

static struct value column_value(const struct column *column)
{
	struct value v = number(dimension_of(column->unit));

	v.column = column;
	if (column->type == COLUMN_TEXT)
		v.class = CLASS_TEXT;
	return v;
}

/*
 * In a subquery any table that the text names may be meant.  Columns of one name are of one unit
 * nearly everywhere; where they are not, nothing is said.
 */
static struct value name_in_subquery(struct checker *c, struct str name)
{
	const struct column *found = NULL;

	for (int i = 0; i < c->table_count; i++) {
		const struct column *column = find_column(c->tables[i], name);

		if (column && found &&
			(column->unit != found->unit || column->type != found->type ||
				column->words != found->words))
			return any();
		found = found ? found : column;
	}
	const struct column *of_run = find_column(&table_defs[TABLE_run], name);
	if (!found && of_run && c->names->run) {
		reads_add(c->names->run, c->keep, &table_defs[TABLE_run], of_run);
		found = of_run;
	}
	return found ? column_value(found) : any();
}

static struct value name_of_row(struct checker *c, const struct token *t)
{
	const struct table_def *def = c->names->table;
	const struct column *column = find_column(def, t->text);

	if (!column && c->names->run) {
		def = &table_defs[TABLE_run];
		column = find_column(def, t->text);
		if (column)
			reads_add(c->names->run, c->keep, def, column);
	}
	if (column && c->names->reads)
		reads_add(c->names->reads, c->keep, def, column);
	if (column)
		return column_value(column);
	unknown_column(c, t);
	return any();
}

static struct value name_value(struct checker *c)
{
	const struct token *t = next(c), *table = t;
	bool is_row = !c->selects && c->names->table;

	if (!accept(c, "."))
		return is_row ? name_of_row(c, t) : name_in_subquery(c, t->text);
	t = next(c);
	if (is_row && table_find(table->text) && table_find(table->text) != c->names->table)
		fail(c, DIAG_RULE_NAME, table->at, t->at + t->width - table->at,
			"table %.*s is not in reach here; write (select %.*s from %.*s)",
			STR_ARG(table->text), STR_ARG(t->text), STR_ARG(table->text));
	return name_in_subquery(c, t->text);
}

static struct value param_value(struct checker *c)
{
	const struct token *t = next(c);
	struct list list = { NULL, 0, 0 };

	for (ptrdiff_t i = 0; i < c->names->param_count; i++) {
		const struct rule_param *param = &c->names->params[i];
		struct value v = number(dimension_of(param->unit));

		*arena_push(c->keep, list.items, list.count, list.cap) = param->name;
		if (!str_eq(param->name, t->text))
			continue;
		c->names->uses[i] = true;
		if (param->unit == UNIT_NONE)
			v.dimension.kind = DIMENSION_BARE;
		v.literal = t;
		return v;
	}
	struct str hint = did_you_mean(c->keep, t->text, list.items, list.count);
	if (c->names->is_query)
		fail(c, DIAG_RULE_NAME, t->at, t->width, "a query has no parameters");
	else
		fail(c, DIAG_RULE_NAME, t->at, t->width, "the rule has no parameter '%.*s'%s%.*s",
			STR_ARG(t->text),
			hint.len ? "" : "; declare it under params:", STR_ARG(hint));
	return any();
}

/* ---- functions ---------------------------------------------------------------------------- */

static void unknown_function(struct checker *c, const struct token *t)
{
	struct str *names = arena_make(c->keep, struct str, sql_function_count);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < sql_function_count; i++)
		if (c->names->is_query || !sql_functions[i].query_only)
			names[n++] = sql_functions[i].name;
	struct str hint = did_you_mean(c->keep, t->text, names, n);
	fail(c, DIAG_RULE_SQL, t->at, t->width, "there is no function %.*s() here%.*s",
		STR_ARG(t->text), STR_ARG(hint));
}

/* min and max of one argument run over rows, of several over their arguments. */
static void check_over_rows(
	struct checker *c, const struct sql_function *f, const struct token *name, ptrdiff_t count)
{
	const struct table_def *def = c->names->table;
	bool is_aggregate =
		f->aggregate ||
		(count == 1 && (str_eq(f->name, STR("min")) || str_eq(f->name, STR("max"))));

	if (c->selects || !def || !is_aggregate)
		return;
	struct str instead = table_find(def->name)
				     ? arena_fmt(c->keep, "write (select %.*s(...) from %.*s)",
					       STR_ARG(name->text), STR_ARG(def->name))
				     : STR("compute it in the SELECT");
	fail(c, DIAG_RULE_SQL, name->at, c->tokens.items[c->at - 1].at + 1 - name->at,
		"%.*s() runs over rows; %.*s", STR_ARG(name->text), STR_ARG(instead));
}

static struct value function_value(struct checker *c)
{
	const struct token *name = next(c);
	const struct sql_function *f = sql_function_find(name->text);
	struct value first = any(), last = any(), v;
	bool same_unit = true;
	ptrdiff_t count = 0;

	if (!f || (f->query_only && !c->names->is_query)) {
		unknown_function(c, name);
		return any();
	}
	accept(c, "(");
	accept(c, "distinct");
	if (!accept(c, "*") && !token_is(ahead(c, 0), ")"))
		do {
			last = expression(c, 0);
			first = count++ ? first : last;
			same_unit &= last.dimension.kind == first.dimension.kind &&
				     last.dimension.unit == first.dimension.unit;
		} while (accept(c, ","));
	accept(c, ")");
	if (f->result == RESULT_NUMBER && (f->keeps_unit || f->math1 || f->math2) &&
		first.class == CLASS_TEXT)
		fail(c, DIAG_RULE_TYPE, first.at, first.width,
			"%.*s() computes with numbers, and this is a text", STR_ARG(name->text));
	while (accept(c, "filter") || accept(c, "over")) /* (where ...), or a window's name */
		token_is(next(c), "(") ? skip_parentheses(c) : (void)0;
	check_over_rows(c, f, name, count);
	v = any();
	if (f->result == RESULT_ARGUMENT) {
		v.class = last.class == CLASS_NULL ? CLASS_ANY : last.class;
		if (same_unit && count)
			v.dimension = last.dimension;
		return v;
	}
	v.class = f->result == RESULT_TEXT ? CLASS_TEXT : CLASS_NUMBER;
	if (f->keeps_unit && count)
		v.dimension = first.dimension;
	return v;
}

/* ---- operands ----------------------------------------------------------------------------- */

/* www.sqlite.org/lang_expr.html, from loose to tight. */
enum precedence {
	P_OR = 1,
	P_AND,
	P_NOT,
	P_EQUAL,
	P_ORDER,
	P_BITS,
	P_SUM,
	P_PRODUCT,
	P_CONCAT,
	P_COLLATE,
	P_UNARY
};

static struct value literal(struct checker *c)
{
	const struct token *t = next(c), *unit_word = ahead(c, 0);
	struct value v = bare();
	struct str nearest;
	double ignored;
	enum unit unit;

	/* "time_s <= 10 ms" */
	struct str text =
		arena_fmt(c->keep, "%.*s %.*s", STR_ARG(t->text), STR_ARG(unit_word->text));
	if (t->kind == TOKEN_NUMBER && c->names->table && unit_word->kind == TOKEN_NAME &&
		unit_parse(text, &ignored, &unit, &nearest))
		fail(c, DIAG_RULE_UNIT, unit_word->at, unit_word->width,
			"a unit belongs into a parameter: params: { slack: %.*s }, then :slack",
			STR_ARG(text));
	if (t->kind == TOKEN_TEXT)
		v.class = CLASS_TEXT;
	v.literal = t;
	return v;
}

static struct value parenthesis(struct checker *c)
{
	struct value v;

	next(c);
	if (is_select(ahead(c, 0)))
		return select_value(c);
	v = expression(c, 0);
	while (accept(c, ",")) {
		expression(c, 0);
		v = any();
	}
	accept(c, ")");
	v.column = NULL;
	return v;
}

static struct value unary(struct checker *c)
{
	const struct token *sign = next(c);
	struct value v = expression(c, P_UNARY);

	if (v.class == CLASS_TEXT)
		check_arithmetic(c, &v, &v, sign);
	return v.literal && v.literal->kind == TOKEN_NUMBER ? v : computed(v);
}

static struct value negation(struct checker *c)
{
	next(c);
	struct value v = expression(c, P_NOT);
	check_number(c, &v, true);
	return truth();
}

/* case [x] when a then b ... else c end */
static struct value case_value(struct checker *c)
{
	static const struct token equals = { TOKEN_SIGN, 0, STR_INIT("="), 1 };
	struct value base = any(), result = any(), v;
	ptrdiff_t before;

	next(c);
	bool first = true, has_base = !token_is(ahead(c, 0), "when");
	if (has_base)
		base = expression(c, 0);
	for (before = -1; c->at != before; first = false) {
		before = c->at;
		if (accept(c, "when")) {
			v = expression(c, 0);
			if (has_base)
				check_compare(c, &base, &v, &equals);
			accept(c, "then");
		} else if (!accept(c, "else")) {
			break;
		}
		v = expression(c, 0);
		result = first ? v : v.class == result.class ? result : any();
	}
	accept(c, "end");
	return computed(result);
}

/* cast(x as real) */
static struct value cast_value(struct checker *c)
{
	next(c);
	accept(c, "(");
	struct value v = expression(c, 0);
	accept(c, "as");
	v.class = token_is(ahead(c, 0), "text") ? CLASS_TEXT : CLASS_NUMBER;
	skip_parentheses(c);
	return computed(v);
}

static struct value exists_value(struct checker *c)
{
	next(c);
	if (accept(c, "("))
		select_value(c);
	return truth();
}

static struct value constant(struct checker *c)
{
	struct value v = bare();

	if (token_is(next(c), "null"))
		v.class = CLASS_NULL;
	return v;
}

static struct value operand(struct checker *c)
{
	static const struct {
		const char *word;
		struct value (*read)(struct checker *c);
	} operands[] = { { "(", parenthesis }, { "-", unary }, { "+", unary }, { "~", unary },
		{ "not", negation }, { "case", case_value }, { "cast", cast_value },
		{ "exists", exists_value }, { "null", constant }, { "true", constant },
		{ "false", constant } };
	const struct token *t = ahead(c, 0);

	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (token_is(t, operands[i].word))
			return operands[i].read(c);
	if (t->kind == TOKEN_NUMBER || t->kind == TOKEN_TEXT)
		return literal(c);
	if (t->kind == TOKEN_PARAM)
		return param_value(c);
	if (t->kind != TOKEN_NAME || (is_reserved(t) && !names_param(c, t)))
		return any();
	return token_is(ahead(c, 1), "(") ? function_value(c) : name_value(c);
}

/* ---- operators ---------------------------------------------------------------------------- */

/* What an operator does with what stands before it, and what it reads behind. */
enum infix_kind {
	LOGIC,
	COMPARE,
	IDENTITY,
	MEMBERSHIP,
	PATTERN,
	RANGE,
	NULLNESS,
	SUM,
	CONCAT,
	COLLATE
};

static const struct infix {
	const char *sign;
	int precedence;
	enum infix_kind kind;
} infixes[] = {
	{ "or", P_OR, LOGIC },
	{ "and", P_AND, LOGIC },
	{ "=", P_EQUAL, COMPARE },
	{ "==", P_EQUAL, COMPARE },
	{ "<>", P_EQUAL, COMPARE },
	{ "!=", P_EQUAL, COMPARE },
	{ "is", P_EQUAL, IDENTITY },
	{ "in", P_EQUAL, MEMBERSHIP },
	{ "like", P_EQUAL, PATTERN },
	{ "glob", P_EQUAL, PATTERN },
	{ "between", P_EQUAL, RANGE },
	{ "isnull", P_EQUAL, NULLNESS },
	{ "notnull", P_EQUAL, NULLNESS },
	{ "null", P_EQUAL, NULLNESS }, /* the end of "not null" */
	{ "<", P_ORDER, COMPARE },
	{ "<=", P_ORDER, COMPARE },
	{ ">", P_ORDER, COMPARE },
	{ ">=", P_ORDER, COMPARE },
	{ "&", P_BITS, SUM },
	{ "|", P_BITS, SUM },
	{ "<<", P_BITS, SUM },
	{ ">>", P_BITS, SUM },
	{ "+", P_SUM, SUM },
	{ "-", P_SUM, SUM },
	{ "*", P_PRODUCT, SUM },
	{ "/", P_PRODUCT, SUM },
	{ "%", P_PRODUCT, SUM },
	{ "||", P_CONCAT, CONCAT },
	{ "collate", P_COLLATE, COLLATE },
};

/* The operator ahead, "not in" and its like included; NULL when it binds looser than asked. */
static const struct infix *operator_ahead(const struct checker *c, int precedence)
{
	ptrdiff_t skip = token_is(ahead(c, 0), "not");
	const struct token *t = ahead(c, skip);

	for (size_t i = 0; i < sizeof(infixes) / sizeof(infixes[0]); i++) {
		const struct infix *x = &infixes[i];

		if (token_is(t, x->sign))
			return x->precedence < precedence || (skip && x->precedence != P_EQUAL)
				       ? NULL
				       : x;
	}
	return NULL;
}

/* in (a, b) or in (select ...) */
static void membership(struct checker *c, const struct value *left, const struct token *sign)
{
	if (!accept(c, "(")) {
		next(c);
		return;
	}
	if (is_select(ahead(c, 0))) {
		select_value(c);
		return;
	}
	if (!token_is(ahead(c, 0), ")"))
		do {
			struct value item = expression(c, 0);

			check_compare(c, left, &item, sign);
		} while (accept(c, ","));
	accept(c, ")");
}

/* "idle_ratio <= 10%" reads like a percentage and would be a remainder. */
static void check_percent(struct checker *c, const struct value *left, const struct token *sign)
{
	const struct token *t = ahead(c, 0), *x = left->literal;
	bool is_end =
		t->kind == TOKEN_END || token_is(t, ")") || token_is(t, ",") || is_reserved(t);
	double percent;

	if (token_is(sign, "%") && x && x->kind == TOKEN_NUMBER && is_end &&
		str_to_double(x->text, &percent))
		fail(c, DIAG_RULE_UNIT, left->at, sign->at + 1 - left->at,
			"'%.*s%%' is no number in SQL; write %.6g or a param", STR_ARG(x->text),
			percent / 100);
}

static struct value infix_value(
	struct checker *c, struct value left, const struct token *sign, const struct infix *x)
{
	struct value right;

	switch (x->kind) {
	case NULLNESS:
		return truth();
	case COLLATE:
		next(c);
		return left;
	case MEMBERSHIP:
		membership(c, &left, sign);
		return truth();
	case IDENTITY: /* is [not] [distinct from] x */
		accept(c, "not");
		if (accept(c, "distinct"))
			accept(c, "from");
		break;
	case SUM:
		check_percent(c, &left, sign);
		break;
	default:
		break;
	}
	right = expression(c, x->precedence + 1);
	if (x->kind == SUM)
		return check_arithmetic(c, &left, &right, sign);
	if (x->kind == CONCAT) {
		right = any();
		right.class = CLASS_TEXT;
		return right;
	}
	if (x->kind == LOGIC) {
		check_number(c, &left, true);
		check_number(c, &right, true);
	} else if (x->kind == PATTERN) {
		check_pattern(c, &left, &right, sign);
		if (accept(c, "escape"))
			expression(c, x->precedence + 1);
	} else {
		check_compare(c, &left, &right, sign);
	}
	if (x->kind == RANGE && accept(c, "and")) {
		right = expression(c, x->precedence + 1);
		check_compare(c, &left, &right, sign);
	}
	return truth();
}

/* The text read since `from`, as the place of a value. */
static struct value spanning(const struct checker *c, struct value v, const struct token *from)
{
	const struct token *last = c->at > 0 ? &c->tokens.items[c->at - 1] : from;

	v.at = from->at;
	v.width = last->at + last->width - from->at;
	return v;
}

static bool too_deep(struct checker *c)
{
	if (++c->depth > SQL_MAX_DEPTH)
		fail(c, DIAG_RULE_SQL, ahead(c, 0)->at, ahead(c, 0)->width,
			"nested deeper than %d levels", SQL_MAX_DEPTH);
	return c->failed;
}

static struct value expression(struct checker *c, int precedence)
{
	const struct token *first = ahead(c, 0);
	const struct infix *x;

	if (too_deep(c))
		return any();
	struct value left = spanning(c, operand(c), first);
	while (!c->failed && (x = operator_ahead(c, precedence))) {
		accept(c, "not");
		const struct token *sign = next(c);

		left = spanning(c, infix_value(c, left, sign, x), first);
	}
	c->depth--;
	return left;
}

/* ---- SELECT ------------------------------------------------------------------------------- */

/* Behind FROM or JOIN: a table, or something in parentheses. */
static void from_item(struct checker *c)
{
	const struct token *t = ahead(c, 0);

	if (t->kind == TOKEN_NAME && !is_reserved(t) && !c->has_with && !engine_table(t->text))
		unknown_table(c, t);
	if (t->kind == TOKEN_NAME && !is_reserved(t))
		next(c);
}

/*
 * From SELECT, WITH or VALUES to behind its ')' or the end: expressions between keywords.  It comes
 * to what its first column is.
 */
static struct value select_value(struct checker *c)
{
	struct texts *texts = c->names->texts;
	static const char *const in_list[] = { "select", "distinct", "all", "as", NULL };
	struct value first = any();
	bool is_first = token_is(ahead(c, 0), "select"), is_listing = is_first, is_new = is_first;

	c->selects++;
	c->has_with |= token_is(ahead(c, 0), "with");
	if (too_deep(c))
		return any();
	while (!c->failed && ahead(c, 0)->kind != TOKEN_END && !token_is(ahead(c, 0), ")")) {
		const struct token *t = ahead(c, 0);
		ptrdiff_t before = c->at;

		if (token_is(t, "recursive"))
			fail(c, DIAG_RULE_SQL, t->at, t->width,
				"recursive queries are not allowed");
		is_new |= token_is(t, ",");
		is_listing &= !token_is(t, "*") && (!is_reserved(t) || is_among(t, in_list));
		if (accept(c, "from") || accept(c, "join")) {
			from_item(c);
		} else if (accept(c, "as")) {
			if (!token_is(ahead(c, 0), "("))
				next(c); /* a name */
		} else if ((is_reserved(t) && !token_is(t, "not")) || token_is(t, ",") ||
			   token_is(t, "*")) {
			c->at++;
		} else {
			struct value v = expression(c, 0);

			first = is_first ? v : first;
			is_listing &= !token_is(ahead(c, -1), "*");
			if (is_new && is_listing && texts && c->selects == 1)
				*arena_push(c->keep, texts->items, texts->count, texts->cap) =
					v.class == CLASS_TEXT;
			is_first = is_new = false;
			c->at += c->at == before && !c->failed; /* it begins no expression */
		}
	}
	accept(c, ")");
	c->depth--;
	c->selects--;
	return computed(first);
}

/* ---- entry -------------------------------------------------------------------------------- */

static bool open_checker(struct checker *c, struct str sql, const struct sql_names *names,
	struct arena *keep, struct sql_fault *fault)
{
	*c = (struct checker){ .sql = sql, .names = names, .keep = keep, .fault = fault };
	if (!tokens_read(sql, keep, &c->tokens, fault))
		return false;
	if (names->table)
		c->tables[c->table_count++] = names->table;
	for (ptrdiff_t i = 0; i < c->tokens.count; i++) {
		const struct table_def *def = c->tokens.items[i].kind == TOKEN_NAME
						      ? engine_table(c->tokens.items[i].text)
						      : NULL;

		if (def && c->table_count < TABLES_NAMED)
			c->tables[c->table_count++] = def;
		const struct token *t = &c->tokens.items[i];
		bool is_long = t->kind == TOKEN_TEXT && t->width > SQL_PATTERN_MAX;
		if (names->has_subquery)
			*names->has_subquery |= is_select(t);
		if (names->needs_baseline)
			*names->needs_baseline |= def && !table_find(def->name);
		if (names->is_joining)
			*names->is_joining |= is_long || token_is(t, "||");
	}
	return true;
}

bool check_expression(struct str sql, const struct sql_names *names, enum sql_want want,
	struct arena *keep, struct sql_fault *fault)
{
	struct checker c;

	if (!open_checker(&c, sql, names, keep, fault))
		return false;
	struct value v = expression(&c, 0);
	if (token_is(ahead(&c, 0), ","))
		fail(&c, DIAG_RULE_SQL, ahead(&c, 0)->at, 1,
			"one expression is wanted, and this begins a second one");
	if (want != WANT_ANY)
		check_number(&c, &v, want == WANT_CONDITION);
	if (names->dimension)
		*names->dimension = v.dimension;
	return !c.failed;
}

bool check_select(
	struct str sql, const struct sql_names *names, struct arena *keep, struct sql_fault *fault)
{
	struct checker c;

	if (!open_checker(&c, sql, names, keep, fault))
		return false;
	if (!is_select(ahead(&c, 0)))
		fail(&c, DIAG_RULE_SQL, 0, ahead(&c, 0)->width, "a SELECT is wanted here");
	select_value(&c);
	return !c.failed;
}

static bool is_known(const struct checker *c, struct str name)
{
	bool known = false;

	for (int i = 0; i < c->table_count; i++)
		known |= find_column(c->tables[i], name) != NULL;
	return known;
}

void check_hint(
	struct str sql, const struct table_def *rows, struct arena *keep, struct sql_fault *fault)
{
	struct sql_names names = { .table = rows };
	struct sql_fault ignored;
	struct list list = { NULL, 0, 0 };
	struct checker c;

	if (!open_checker(&c, sql, &names, keep, &ignored))
		return;
	for (int i = 0; i < c.table_count; i++)
		add_columns(keep, &list, c.tables[i]);
	for (ptrdiff_t i = 0; i < c.tokens.count; i++) {
		const struct token *t = &c.tokens.items[i];

		if (t->at != fault->at)
			continue;
		if (i + 2 < c.tokens.count && token_is(t + 1, ".")) /* table.column */
			t += 2;
		fault->width = t->at + t->width - fault->at;
		if (t->kind == TOKEN_NAME && !is_reserved(t) && !is_known(&c, t->text) &&
			!token_is(t + 1, "("))
			fault->text = arena_fmt(keep, "%.*s%.*s", STR_ARG(fault->text),
				STR_ARG(did_you_mean(keep, t->text, list.items, list.count)));
		return;
	}
}
