/*
 * The tolerant SQL parser behind check.h, over several files: parser.c reads expressions, names.c
 * knows what a name may mean, types.c what may be compared, check.c walks SELECTs.  Private to
 * rules/.
 */
#ifndef RULES_PARSER_H
#define RULES_PARSER_H

#include "rules/check.h"
#include "rules/token.h"

enum value_class { CLASS_ANY, CLASS_NUMBER, CLASS_TEXT, CLASS_NULL };

/* What is known of an operand. */
struct value {
	enum value_class class;
	struct dimension dimension;
	const struct column *column; /* when it is a column and nothing else */
	const struct token *literal; /* when it is one literal and nothing else */
	ptrdiff_t at, width;	     /* where it stands; parse_expression sets it */
};

/* Tables that names may come from, innermost first. */
enum { SCOPE_TABLES = 16, SCOPE_ALIASES = 64 };
struct scope {
	const struct scope *outer;
	struct scope_table {
		struct str alias;
		const struct table_def *def; /* NULL: a subquery */
	} tables[SCOPE_TABLES];
	struct str aliases[SCOPE_ALIASES]; /* of result columns */
	ptrdiff_t table_count, alias_count;
	bool is_open; /* not everything is known: any name may be right */
};

struct parser {
	struct tokens tokens;
	ptrdiff_t at;
	struct str sql;
	const struct sql_names *names;
	const struct scope *scope;
	const struct scope *row; /* the scope outside of subqueries; NULL for a SELECT */
	bool has_with;		 /* a table may be a WITH clause's */
	bool failed;		 /* fault is filled; nothing more is read */
	int depth;
	struct arena *keep;
	struct sql_fault *fault;
};

/* parser.c */
struct value parse_expression(struct parser *p, int precedence); /* 0: a whole one */
const struct token *token_ahead(const struct parser *p, ptrdiff_t n);
const struct token *token_next(struct parser *p);
bool token_accept(struct parser *p, const char *word);
void skip_parentheses(struct parser *p); /* after the opening one: to behind its partner */
bool is_reserved(const struct token *t); /* can be neither operand nor alias */

/* check.c */
bool is_select(const struct token *t);
void walk_select(struct parser *p, const struct scope *outer); /* up to its ')' or the end */

/* names.c */
struct value name_value(struct parser *p);		   /* column or table.column */
struct value param_value(struct parser *p);		   /* :name */
bool names_param(struct parser *p, const struct token *t); /* without its colon: a fault */
const struct table_def *find_table(struct str name);
void unknown_table(struct parser *p, const struct token *t);
void unknown_function(struct parser *p, const struct token *t);

/* types.c */
void check_compare(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign);
void check_pattern(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign);
struct value check_arithmetic(
	struct parser *p, const struct value *a, const struct value *b, const struct token *sign);
void check_number(struct parser *p, const struct value *v, bool is_condition);
struct value value_any(void); /* of unknown class and unit; the parser sets places */
struct value value_number(struct dimension d);

/* Only the first fault counts; after it the parser stands at the end. */
void parser_fail(struct parser *p, enum diag_id id, ptrdiff_t at, ptrdiff_t width, const char *fmt,
	...) __attribute__((format(printf, 5, 6)));

#endif
