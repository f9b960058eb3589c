/*
 * Expressions, by precedence climbing.  See parser.h.
 *
 * Where the text stops making sense the parser stops too and leaves the message to SQLite; it only
 * ever fails for a mistake that it understands.
 */
#include "rules/parser.h"

#include "rules/functions.h"

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

void parser_fail(
	struct parser *p, enum diag_id id, ptrdiff_t at, ptrdiff_t width, const char *fmt, ...)
{
	va_list args;

	if (p->failed)
		return;
	va_start(args, fmt);
	*p->fault = (struct sql_fault){ id, at, width, arena_vfmt(p->keep, fmt, args) };
	va_end(args);
	p->failed = true;
	p->at = p->tokens.count - 1;
}

const struct token *token_ahead(const struct parser *p, ptrdiff_t n)
{
	ptrdiff_t last = p->tokens.count - 1;

	return &p->tokens.items[p->at + n < last ? p->at + n : last];
}

const struct token *token_next(struct parser *p)
{
	const struct token *t = token_ahead(p, 0);

	if (t->kind != TOKEN_END)
		p->at++;
	return t;
}

bool token_accept(struct parser *p, const char *word)
{
	if (!token_is(token_ahead(p, 0), word))
		return false;
	p->at++;
	return true;
}

void skip_parentheses(struct parser *p)
{
	for (int depth = 1; depth > 0 && token_ahead(p, 0)->kind != TOKEN_END; p->at++) {
		if (token_is(token_ahead(p, 0), "("))
			depth++;
		else if (token_is(token_ahead(p, 0), ")"))
			depth--;
	}
}

bool is_reserved(const struct token *t)
{
	static const char *const words[] = { "select", "from", "where", "group", "by", "having",
		"order", "limit", "offset", "union", "except", "intersect", "on", "using", "join",
		"left", "right", "inner", "outer", "cross", "natural", "full", "as", "asc", "desc",
		"and", "or", "in", "is", "like", "glob", "match", "regexp", "between", "then",
		"when", "else", "end", "isnull", "notnull", "collate", "escape", "distinct", "all",
		"window", "nulls", "not" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (token_is(t, words[i]))
			return true;
	return false;
}

/* ---- operands ----------------------------------------------------------------------------- */

static struct value bare_number(void)
{
	return value_number((struct dimension){ DIMENSION_BARE, UNIT_NONE });
}

static struct value truth(void)
{
	return value_number(dimension_of(UNIT_BOOL));
}

/* A value that was computed: neither a column nor a literal any more. */
static struct value computed(struct value v)
{
	v.column = NULL;
	v.literal = NULL;
	return v;
}

static struct value literal(struct parser *p)
{
	const struct token *t = token_next(p), *next = token_ahead(p, 0);
	struct value v = bare_number();
	struct str text = arena_fmt(p->keep, "%.*s %.*s", STR_ARG(t->text), STR_ARG(next->text));
	struct str nearest;
	double number;
	enum unit unit;

	/* "time_s <= 10 ms" */
	if (t->kind == TOKEN_NUMBER && p->row && next->kind == TOKEN_NAME &&
		unit_parse(text, &number, &unit, &nearest))
		parser_fail(p, DIAG_RULE_UNIT, next->at, next->width,
			"a unit belongs into a parameter: params: { limit: %.*s }, then :limit",
			STR_ARG(text));
	if (t->kind == TOKEN_TEXT)
		v.class = CLASS_TEXT;
	v.literal = t;
	return v;
}

static struct value parenthesis(struct parser *p)
{
	struct value v = value_any();

	token_next(p);
	if (is_select(token_ahead(p, 0))) {
		walk_select(p, p->scope);
	} else {
		v = parse_expression(p, 0);
		while (token_accept(p, ",")) {
			parse_expression(p, 0);
			v = value_any();
		}
	}
	token_accept(p, ")");
	v.column = NULL;
	return v;
}

static struct value unary(struct parser *p)
{
	const struct token *sign = token_next(p);
	struct value v = parse_expression(p, P_UNARY);

	if (v.class == CLASS_TEXT)
		check_arithmetic(p, &v, &v, sign);
	return v.literal && v.literal->kind == TOKEN_NUMBER ? v : computed(v);
}

static struct value negation(struct parser *p)
{
	token_next(p);
	struct value v = parse_expression(p, P_NOT);
	check_number(p, &v, true);
	return truth();
}

/* case [x] when a then b ... else c end */
static struct value case_value(struct parser *p)
{
	static const struct token equals = { TOKEN_SIGN, 0, STR_INIT("="), 1 };
	struct value base = value_any(), result = base;
	bool first = true;

	token_next(p);
	bool has_base = !token_is(token_ahead(p, 0), "when");
	if (has_base)
		base = parse_expression(p, 0);
	for (;;) {
		const struct token *branch = token_ahead(p, 0);
		struct value v;

		if (token_accept(p, "when")) {
			v = parse_expression(p, 0);
			if (has_base)
				check_compare(p, &base, &v, &equals);
			token_accept(p, "then");
		} else if (!token_accept(p, "else")) {
			break;
		}
		v = parse_expression(p, 0);
		if (first)
			result = v;
		else if (v.class != result.class)
			result = value_any();
		first = false;
		if (token_ahead(p, 0) == branch)
			break;
	}
	token_accept(p, "end");
	return computed(result);
}

/* cast(x as real) */
static struct value cast_value(struct parser *p)
{
	token_next(p);
	token_accept(p, "(");
	struct value v = parse_expression(p, 0);
	token_accept(p, "as");
	v.class = token_is(token_ahead(p, 0), "text") ? CLASS_TEXT : CLASS_NUMBER;
	skip_parentheses(p);
	return computed(v);
}

static struct value exists_value(struct parser *p)
{
	token_next(p);
	if (token_accept(p, "(")) {
		walk_select(p, p->scope);
		token_accept(p, ")");
	}
	return truth();
}

/* ---- functions ---------------------------------------------------------------------------- */

struct arguments {
	struct value first, last;
	ptrdiff_t count;
	bool same_unit; /* all of them */
};

static struct arguments arguments(struct parser *p)
{
	struct arguments a = { value_any(), value_any(), 0, true };

	token_accept(p, "distinct");
	if (token_accept(p, "*") || token_is(token_ahead(p, 0), ")")) {
		token_accept(p, ")");
		return a;
	}
	do {
		a.last = parse_expression(p, 0);
		if (!a.count++)
			a.first = a.last;
		else if (a.last.dimension.kind != a.first.dimension.kind ||
			 a.last.dimension.unit != a.first.dimension.unit)
			a.same_unit = false;
	} while (token_accept(p, ","));
	token_accept(p, ")");
	return a;
}

static struct value result_of(const struct sql_function *f, const struct arguments *a)
{
	struct value v = value_any();

	if (f->result == RESULT_ARGUMENT) {
		if (a->last.class != CLASS_NULL)
			v.class = a->last.class;
		if (a->same_unit && a->count)
			v.dimension = a->last.dimension;
		return v;
	}
	v.class = f->result == RESULT_TEXT ? CLASS_TEXT : CLASS_NUMBER;
	if (f->keeps_unit && a->count > 0)
		v.dimension = a->first.dimension;
	return v;
}

static void over_rows(struct parser *p, const struct token *name)
{
	const struct table_def *def = p->names->table;
	struct str instead = STR("compute it in the SELECT");

	if (find_table(def->name)) /* it is not made up for a SELECT */
		instead = arena_fmt(p->keep, "write (select %.*s(...) from %.*s)",
			STR_ARG(name->text), STR_ARG(def->name));
	parser_fail(p, DIAG_RULE_SQL, name->at, p->tokens.items[p->at - 1].at + 1 - name->at,
		"%.*s() runs over rows; %.*s", STR_ARG(name->text), STR_ARG(instead));
}

static struct value function_value(struct parser *p)
{
	const struct token *name = token_next(p);
	const struct sql_function *f = sql_function_find(name->text);

	if (!f || (f->query_only && !p->names->is_query)) {
		unknown_function(p, name);
		return value_any();
	}
	token_accept(p, "(");
	struct arguments a = arguments(p);
	if (f->result == RESULT_NUMBER && (f->keeps_unit || f->math1 || f->math2) &&
		a.first.class == CLASS_TEXT)
		parser_fail(p, DIAG_RULE_TYPE, a.first.at, a.first.width,
			"%.*s() computes with numbers, and this is a text", STR_ARG(name->text));
	/* filter (where ...) and over (...) */
	while (token_is(token_ahead(p, 0), "filter") || token_is(token_ahead(p, 0), "over")) {
		p->at++;
		if (token_accept(p, "("))
			skip_parentheses(p);
		else
			token_next(p);
	}
	/* min and max of one argument run over rows, of several over their arguments. */
	bool is_aggregate =
		f->aggregate ||
		(a.count == 1 && (str_eq(f->name, STR("min")) || str_eq(f->name, STR("max"))));
	if (p->row && p->scope == p->row && is_aggregate)
		over_rows(p, name);
	return result_of(f, &a);
}

static struct value constant(struct parser *p)
{
	struct value v = bare_number();

	if (token_is(token_next(p), "null"))
		v.class = CLASS_NULL;
	return v;
}

static const struct {
	const char *word;
	struct value (*read)(struct parser *p);
} operands[] = {
	{ "(", parenthesis },
	{ "-", unary },
	{ "+", unary },
	{ "~", unary },
	{ "not", negation },
	{ "case", case_value },
	{ "cast", cast_value },
	{ "exists", exists_value },
	{ "null", constant },
	{ "true", constant },
	{ "false", constant },
};

static struct value operand(struct parser *p)
{
	const struct token *t = token_ahead(p, 0);

	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (token_is(t, operands[i].word))
			return operands[i].read(p);
	if (t->kind == TOKEN_NUMBER || t->kind == TOKEN_TEXT)
		return literal(p);
	if (t->kind == TOKEN_PARAM)
		return param_value(p);
	if (t->kind != TOKEN_NAME || (is_reserved(t) && !names_param(p, t)))
		return value_any();
	return token_is(token_ahead(p, 1), "(") ? function_value(p) : name_value(p);
}

/* ---- operators ---------------------------------------------------------------------------- */

/* Behind its sign: `left` is what stands before, and what follows binds tighter than `next`. */
struct infix_at {
	struct value left;
	const struct token *sign;
	int next;
};

static struct value logic(struct parser *p, const struct infix_at *x)
{
	struct value right = parse_expression(p, x->next);

	check_number(p, &x->left, true);
	check_number(p, &right, true);
	return truth();
}

static struct value compare(struct parser *p, const struct infix_at *x)
{
	struct value right = parse_expression(p, x->next);

	check_compare(p, &x->left, &right, x->sign);
	return truth();
}

/* is [not] [distinct from] x */
static struct value identity(struct parser *p, const struct infix_at *x)
{
	token_accept(p, "not");
	if (token_accept(p, "distinct"))
		token_accept(p, "from");
	return compare(p, x);
}

/* in (a, b) or in (select ...) */
static struct value membership(struct parser *p, const struct infix_at *x)
{
	if (!token_accept(p, "(")) {
		token_next(p);
		return truth();
	}
	if (is_select(token_ahead(p, 0))) {
		walk_select(p, p->scope);
	} else if (!token_is(token_ahead(p, 0), ")")) {
		do {
			struct value item = parse_expression(p, 0);

			check_compare(p, &x->left, &item, x->sign);
		} while (token_accept(p, ","));
	}
	token_accept(p, ")");
	return truth();
}

static struct value pattern(struct parser *p, const struct infix_at *x)
{
	struct value right = parse_expression(p, x->next);

	check_pattern(p, &x->left, &right, x->sign);
	if (token_accept(p, "escape"))
		parse_expression(p, x->next);
	return truth();
}

static struct value range(struct parser *p, const struct infix_at *x)
{
	compare(p, x);
	token_accept(p, "and");
	return compare(p, x);
}

static struct value nullness(struct parser *p, const struct infix_at *x)
{
	(void)p, (void)x;
	return truth();
}

static struct value arithmetic(struct parser *p, const struct infix_at *x)
{
	const struct token *next = token_ahead(p, 0), *number = x->left.literal;
	double percent = 0;

	/* "idle_ratio <= 10%" reads like a percentage and would be a remainder. */
	if (token_is(x->sign, "%") && number && number->kind == TOKEN_NUMBER &&
		str_to_double(number->text, &percent) &&
		(next->kind == TOKEN_END || token_is(next, ")") || token_is(next, ",") ||
			is_reserved(next)))
		parser_fail(p, DIAG_RULE_UNIT, x->left.at, x->sign->at + 1 - x->left.at,
			"'%.*s%%' is no number in SQL; write %.6g or a param",
			STR_ARG(number->text), percent / 100);
	struct value right = parse_expression(p, x->next);
	return check_arithmetic(p, &x->left, &right, x->sign);
}

static struct value concatenation(struct parser *p, const struct infix_at *x)
{
	struct value v = value_any();

	parse_expression(p, x->next);
	v.class = CLASS_TEXT;
	return v;
}

static struct value collation(struct parser *p, const struct infix_at *x)
{
	token_next(p);
	return x->left;
}

static const struct infix {
	const char *sign;
	int precedence;
	struct value (*read)(struct parser *p, const struct infix_at *x);
} infixes[] = {
	{ "or", P_OR, logic },
	{ "and", P_AND, logic },
	{ "=", P_EQUAL, compare },
	{ "==", P_EQUAL, compare },
	{ "<>", P_EQUAL, compare },
	{ "!=", P_EQUAL, compare },
	{ "is", P_EQUAL, identity },
	{ "in", P_EQUAL, membership },
	{ "like", P_EQUAL, pattern },
	{ "glob", P_EQUAL, pattern },
	{ "between", P_EQUAL, range },
	{ "isnull", P_EQUAL, nullness },
	{ "notnull", P_EQUAL, nullness },
	{ "null", P_EQUAL, nullness }, /* the end of "not null" */
	{ "<", P_ORDER, compare },
	{ "<=", P_ORDER, compare },
	{ ">", P_ORDER, compare },
	{ ">=", P_ORDER, compare },
	{ "&", P_BITS, arithmetic },
	{ "|", P_BITS, arithmetic },
	{ "<<", P_BITS, arithmetic },
	{ ">>", P_BITS, arithmetic },
	{ "+", P_SUM, arithmetic },
	{ "-", P_SUM, arithmetic },
	{ "*", P_PRODUCT, arithmetic },
	{ "/", P_PRODUCT, arithmetic },
	{ "%", P_PRODUCT, arithmetic },
	{ "||", P_CONCAT, concatenation },
	{ "collate", P_COLLATE, collation },
};

/* The operator ahead, "not in" and its like included; NULL when it binds looser than asked. */
static const struct infix *operator_ahead(const struct parser *p, int precedence)
{
	ptrdiff_t skip = token_is(token_ahead(p, 0), "not");
	const struct token *t = token_ahead(p, skip);

	for (size_t i = 0; i < sizeof(infixes) / sizeof(infixes[0]); i++) {
		const struct infix *x = &infixes[i];

		if (token_is(t, x->sign))
			return x->precedence < precedence || (skip && x->precedence != P_EQUAL)
				       ? NULL
				       : x;
	}
	return NULL;
}

/* The text read since `from`, as the place of a value. */
static struct value spanning(const struct parser *p, struct value v, const struct token *from)
{
	const struct token *last = p->at > 0 ? &p->tokens.items[p->at - 1] : from;

	v.at = from->at;
	v.width = last->at + last->width - from->at;
	return v;
}

struct value parse_expression(struct parser *p, int precedence)
{
	const struct token *first = token_ahead(p, 0);

	if (++p->depth > SQL_MAX_DEPTH)
		parser_fail(p, DIAG_RULE_SQL, first->at, first->width,
			"nested deeper than %d levels", SQL_MAX_DEPTH);
	struct value left = spanning(p, operand(p), first);
	const struct infix *x;
	while (!p->failed && (x = operator_ahead(p, precedence))) {
		token_accept(p, "not");
		const struct infix_at at = { left, token_next(p), x->precedence + 1 };

		left = spanning(p, x->read(p, &at), first);
	}
	p->depth--;
	return left;
}
