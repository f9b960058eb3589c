/* Checking whole expressions and SELECTs.  See check.h and parser.h. */
#include "rules/parser.h"

bool is_select(const struct token *t)
{
	return token_is(t, "select") || token_is(t, "with") || token_is(t, "values");
}

static bool is_compound(const struct token *t)
{
	return token_is(t, "union") || token_is(t, "except") || token_is(t, "intersect");
}

static bool is_end(const struct token *t)
{
	return t->kind == TOKEN_END || token_is(t, ")");
}

/* Words that end a FROM clause. */
static bool is_clause(const struct token *t)
{
	return token_is(t, "where") || token_is(t, "group") || token_is(t, "having") ||
	       token_is(t, "order") || token_is(t, "limit") || token_is(t, "window");
}

/* ---- what a FROM brings into reach -------------------------------------------------------- */

static void add_table(
	struct parser *p, struct scope *s, const struct token *name, const struct token *alias)
{
	const struct table_def *def = name ? find_table(name->text) : NULL;

	if (name && !def && !p->has_with)
		unknown_table(p, name);
	if (!def)
		s->is_open = true;
	if (s->table_count == SCOPE_TABLES) {
		s->is_open = true;
		return;
	}
	s->tables[s->table_count++] = (struct scope_table){ alias  ? alias->text
							    : name ? name->text
								   : STR(""),
		def };
}

/* [as] alias, if there is one. */
static const struct token *read_alias(struct parser *p)
{
	bool as = token_accept(p, "as");
	const struct token *t = token_ahead(p, 0);

	if (t->kind != TOKEN_NAME || (!as && is_reserved(t)))
		return NULL;
	return token_next(p);
}

/* Two operands side by side: the second names the first. */
static bool is_bare_alias(const struct parser *p)
{
	const struct token *t = token_ahead(p, 0), *before = p->at > 0 ? t - 1 : t;

	if (t->kind != TOKEN_NAME || is_reserved(t) || token_is(token_ahead(p, 1), "("))
		return false;
	return token_is(before, ")") || token_is(before, "end") ||
	       (before->kind != TOKEN_SIGN && before->kind != TOKEN_END && !is_reserved(before));
}

/* Whether an item of a FROM clause follows, whose comma or word is taken then. */
static bool is_from_item(struct parser *p, bool *in_from)
{
	const struct token *t = token_ahead(p, 0);

	if (is_clause(t))
		*in_from = false;
	if (!token_is(t, "from") && !(*in_from && (token_is(t, "join") || token_is(t, ","))))
		return false;
	p->at++;
	*in_from = true;
	return true;
}

/* From SELECT on: tables and aliases of this SELECT alone; the parser stands where it stood. */
static void collect(struct parser *p, struct scope *s)
{
	ptrdiff_t start = p->at;
	bool in_from = false;

	while (!p->failed && !is_end(token_ahead(p, 0)) && !is_compound(token_ahead(p, 0))) {
		if (is_from_item(p, &in_from)) {
			const struct token *t = token_next(p);

			if (token_is(t, "(")) {
				skip_parentheses(p);
				add_table(p, s, NULL, read_alias(p));
			} else if (t->kind == TOKEN_NAME && !is_reserved(t)) {
				add_table(p, s, t, read_alias(p));
			}
		} else if (token_accept(p, "(")) {
			skip_parentheses(p);
		} else if (token_accept(p, "as") || (!in_from && is_bare_alias(p))) {
			struct str name = token_next(p)->text;

			if (s->alias_count < SCOPE_ALIASES)
				s->aliases[s->alias_count++] = name;
			else
				s->is_open = true;
		} else {
			p->at++;
		}
	}
	if (!p->failed)
		p->at = start;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* Behind a parenthesis: a subquery, which sees what is in `outer`, or something else. */
static void walk_parentheses(struct parser *p, const struct scope *outer)
{
	if (is_select(token_ahead(p, 0))) {
		walk_select(p, outer);
		token_accept(p, ")");
	} else {
		skip_parentheses(p);
	}
}

/* What stands between expressions; false when an expression begins here. */
static bool walk_word(struct parser *p)
{
	const struct token *t = token_ahead(p, 0);

	if (token_is(t, "window")) {
		while (!is_end(token_ahead(p, 0)) && !is_compound(token_ahead(p, 0)))
			if (token_is(token_next(p), "("))
				skip_parentheses(p);
	} else if (token_is(t, "as") || token_is(t, "nulls")) {
		p->at++;
		token_next(p);
	} else if (token_accept(p, "using")) {
		if (token_accept(p, "("))
			skip_parentheses(p);
	} else if ((is_reserved(t) && !token_is(t, "not")) || token_is(t, ",") ||
		   token_is(t, "*")) {
		p->at++;
	} else {
		return false;
	}
	return true;
}

static void walk_one(struct parser *p, bool *in_from)
{
	ptrdiff_t before = p->at;

	if (is_from_item(p, in_from)) {
		/* A subquery in FROM sees nothing of its neighbours. */
		if (token_is(token_next(p), "("))
			walk_parentheses(p, p->scope->outer);
		read_alias(p);
		return;
	}
	if (walk_word(p))
		return;
	parse_expression(p, 0);
	if (p->at == before || is_bare_alias(p))
		token_next(p);
}

/* with a as (select ...), b as (select ...) */
static void walk_with(struct parser *p, const struct scope *outer)
{
	p->has_with = true;
	while (!is_end(token_ahead(p, 0)) && !token_is(token_ahead(p, 0), "select") &&
		!token_is(token_ahead(p, 0), "values")) {
		const struct token *t = token_next(p);

		if (token_is(t, "recursive"))
			parser_fail(p, DIAG_RULE_SQL, t->at, t->width,
				"recursive queries are not allowed");
		if (token_is(t, "("))
			walk_parentheses(p, outer);
	}
}

/* values (1, 'a'), (2, 'b') */
static void walk_values(struct parser *p)
{
	bool in_from = false;

	do {
		if (!token_accept(p, "("))
			return;
		while (!p->failed && !is_end(token_ahead(p, 0)))
			walk_one(p, &in_from);
	} while (token_accept(p, ")") && token_accept(p, ","));
}

void walk_select(struct parser *p, const struct scope *outer)
{
	const struct scope *back = p->scope;
	const struct token *first = token_ahead(p, 0);

	if (++p->depth > SQL_MAX_DEPTH)
		parser_fail(p, DIAG_RULE_SQL, first->at, first->width,
			"nested deeper than %d levels", SQL_MAX_DEPTH);
	if (token_is(first, "with"))
		walk_with(p, outer);
	while (!p->failed && !is_end(token_ahead(p, 0))) {
		struct scope *s = arena_make(p->keep, struct scope, 1);
		bool in_from = false;

		s->outer = outer;
		while (is_compound(token_ahead(p, 0)) || token_is(token_ahead(p, 0), "all"))
			p->at++;
		collect(p, s);
		p->scope = s;
		if (token_accept(p, "values"))
			walk_values(p);
		while (!is_end(token_ahead(p, 0)) && !is_compound(token_ahead(p, 0)))
			walk_one(p, &in_from);
	}
	p->scope = back;
	p->depth--;
}

/* ---- entry -------------------------------------------------------------------------------- */

static bool open_parser(struct parser *p, struct str sql, const struct sql_names *names,
	struct arena *keep, struct sql_fault *fault)
{
	*p = (struct parser){ .sql = sql, .names = names, .keep = keep, .fault = fault };
	return tokens_read(sql, keep, &p->tokens, fault);
}

bool check_expression(struct str sql, const struct sql_names *names, enum sql_want want,
	struct arena *keep, struct sql_fault *fault)
{
	struct parser p;
	struct scope *scope = arena_make(keep, struct scope, 1);

	if (!open_parser(&p, sql, names, keep, fault))
		return false;
	if (names->table) {
		scope->tables[0] = (struct scope_table){ names->table->name, names->table };
		scope->table_count = 1;
		if (names->run)
			scope->tables[scope->table_count++] =
				(struct scope_table){ STR(""), &table_defs[TABLE_run] };
		p.scope = p.row = scope;
	}
	for (ptrdiff_t i = 0; i < p.tokens.count; i++)
		*names->has_subquery |= is_select(&p.tokens.items[i]);
	struct value v = parse_expression(&p, 0);
	if (token_is(token_ahead(&p, 0), ","))
		parser_fail(&p, DIAG_RULE_SQL, token_ahead(&p, 0)->at, 1,
			"one expression is wanted, and this begins a second one");
	if (want != WANT_ANY)
		check_number(&p, &v, want == WANT_CONDITION);
	if (names->dimension)
		*names->dimension = v.dimension;
	return !p.failed;
}

bool check_select(
	struct str sql, const struct sql_names *names, struct arena *keep, struct sql_fault *fault)
{
	struct parser p;

	if (!open_parser(&p, sql, names, keep, fault))
		return false;
	const struct token *first = token_ahead(&p, 0);
	if (!is_select(first))
		parser_fail(&p, DIAG_RULE_SQL, first->at, first->width, "a SELECT is wanted here");
	walk_select(&p, NULL);
	return !p.failed;
}
