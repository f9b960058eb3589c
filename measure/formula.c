/* Reading and computing formulas.  See formula.h. */
#include "measure/formula.h"

#include <math.h>
#include <stdarg.h>

#include "base/out.h"
#include "base/text.h"
#include "hlo/cost.h"

enum { ARGUMENTS_MAX = 2 };

/* A number, a sign with two sides, or a function with its arguments. */
struct formula_node {
	char sign; /* '+', '-', '*', '/'; '0' a number; 'f' a function */
	int function;
	double number;
	ptrdiff_t sides[ARGUMENTS_MAX];
};

/* ---- functions ------------------------------------------------------------------------------- */

struct call {
	const struct hlo_module *module;
	const struct hlo_instruction *instruction;
};

/* An operand's array, or the result's (of a tuple the first: the others are workspace). */
static const struct shape *operand_of(const struct call *c, double k)
{
	if (!(k >= 0 && k < (double)c->instruction->operand_count) || k != floor(k))
		return NULL;
	return hlo_operand_array(c->module, c->instruction, (ptrdiff_t)k);
}

static const struct shape *result_of(const struct call *c)
{
	return shape_leaf(&c->instruction->shape, 0);
}

static double dim_of(const struct shape *s, double k)
{
	double at = s && k < 0 ? k + (double)s->rank : k;

	if (!s || !(at >= 0 && at < (double)s->rank) || at != floor(at))
		return NAN;
	int64_t size = s->dims[(ptrdiff_t)at];
	return size >= 0 ? (double)size : NAN;
}

/* A size that is not known saturates at the largest integer. */
static double size_of(int64_t size)
{
	return size >= 0 && size < INT64_MAX ? (double)size : NAN;
}

static double operand_dim(const struct call *c, const double *x)
{
	return dim_of(operand_of(c, x[0]), x[1]);
}

static double operand_elements(const struct call *c, const double *x)
{
	const struct shape *s = operand_of(c, x[0]);
	return s ? size_of(shape_elements(s)) : NAN;
}

static double operand_bytes(const struct call *c, const double *x)
{
	const struct shape *s = operand_of(c, x[0]);
	return s ? size_of(shape_logical_bytes(s)) : NAN;
}

static double out_dim(const struct call *c, const double *x)
{
	return dim_of(result_of(c), x[0]);
}

static double out_elements(const struct call *c, const double *x)
{
	const struct shape *s = result_of(c);
	(void)x;
	return s ? size_of(shape_elements(s)) : NAN;
}

static double out_bytes(const struct call *c, const double *x)
{
	const struct shape *s = result_of(c);
	(void)x;
	return s ? size_of(shape_logical_bytes(s)) : NAN;
}

/* fmin and fmax forget an unknown; these do not. */
static double least(const struct call *c, const double *x)
{
	(void)c;
	return isnan(x[0]) || isnan(x[1]) ? NAN : fmin(x[0], x[1]);
}

static double most(const struct call *c, const double *x)
{
	(void)c;
	return isnan(x[0]) || isnan(x[1]) ? NAN : fmax(x[0], x[1]);
}

static const struct function {
	struct str name;
	int arguments;
	double (*compute)(const struct call *c, const double *x);
	struct str usage, meaning; /* the second may be empty */
} functions[] = {
	{ STR_INIT("dim"), 2, operand_dim, STR_INIT("dim(operand, i)"),
		STR_INIT(": size of a dimension") },
	{ STR_INIT("elements"), 1, operand_elements, STR_INIT("elements(operand)"), STR_INIT("") },
	{ STR_INIT("bytes"), 1, operand_bytes, STR_INIT("bytes(operand)"),
		STR_INIT(": its elements alone") },
	{ STR_INIT("out_dim"), 1, out_dim, STR_INIT("out_dim(i)"),
		STR_INIT(": size of a dimension of the result") },
	{ STR_INIT("out_elements"), 0, out_elements, STR_INIT("out_elements()"), STR_INIT("") },
	{ STR_INIT("out_bytes"), 0, out_bytes, STR_INIT("out_bytes()"), STR_INIT("") },
	{ STR_INIT("min"), 2, least, STR_INIT("min(a, b)"), STR_INIT("") },
	{ STR_INIT("max"), 2, most, STR_INIT("max(a, b)"), STR_INIT("") },
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* ---- reading --------------------------------------------------------------------------------- */

struct formula_reader {
	struct str text;
	ptrdiff_t at;
	struct formula *formula;
	struct arena *keep;
	struct formula_fault *fault;
	int depth;
};

/* -1: the node that could not be read. */
static ptrdiff_t fault_at(struct formula_reader *r, ptrdiff_t at, ptrdiff_t width, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));

static ptrdiff_t fault_at(
	struct formula_reader *r, ptrdiff_t at, ptrdiff_t width, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	*r->fault =
		(struct formula_fault){ at, width > 0 ? width : 1, arena_vfmt(r->keep, fmt, args) };
	va_end(args);
	return -1;
}

static char ahead(struct formula_reader *r)
{
	while (r->at < r->text.len &&
		(r->text.p[r->at] == ' ' || r->text.p[r->at] == '\t' || r->text.p[r->at] == '\n'))
		r->at++;
	return r->at < r->text.len ? r->text.p[r->at] : 0;
}

static bool took(struct formula_reader *r, char c)
{
	if (ahead(r) != c)
		return false;
	r->at++;
	return true;
}

static ptrdiff_t node_add(struct formula_reader *r, struct formula_node node)
{
	if (r->formula->count == FORMULA_MAX_NODES)
		return fault_at(r, r->at, 1, "the formula is too long");
	r->formula->nodes[r->formula->count] = node;
	return r->formula->count++;
}

static ptrdiff_t read_sum(struct formula_reader *r);

static bool is_in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static ptrdiff_t read_number(struct formula_reader *r)
{
	ptrdiff_t from = r->at;
	double value;

	while (r->at < r->text.len && (is_in_word(r->text.p[r->at]) || r->text.p[r->at] == '.'))
		r->at++;
	if (!str_to_double(str_head(str_from_offset(r->text, from), r->at - from), &value))
		return fault_at(r, from, r->at - from, "this is not a number");
	return node_add(r, (struct formula_node){ .sign = '0', .number = value });
}

static ptrdiff_t unknown_name(struct formula_reader *r, struct str name, ptrdiff_t at)
{
	struct out *usages = out_memory(r->keep);
	struct str names[FUNCTIONS];

	for (int i = 0; i < FUNCTIONS; i++) {
		names[i] = functions[i].name;
		out_z(usages, i == 0 ? "" : i + 1 < FUNCTIONS ? ", " : " and ");
		out_str(usages, functions[i].usage);
	}
	struct str near = text_nearest(name, names, FUNCTIONS);
	if (near.p)
		return fault_at(r, at, name.len, "there is no '%.*s' here; did you mean '%.*s'?",
			STR_ARG(name), STR_ARG(near));
	return fault_at(r, at, name.len, "there is no '%.*s' here, but %.*s", STR_ARG(name),
		STR_ARG(out_text(usages)));
}

static bool read_arguments(struct formula_reader *r, struct formula_node *node, ptrdiff_t at)
{
	const struct function *f = &functions[node->function];
	bool ok = took(r, '(');

	for (int i = 0; ok && i < f->arguments; i++) {
		ok = i == 0 || took(r, ',');
		if (ok && (node->sides[i] = read_sum(r)) < 0)
			return false;
	}
	if (ok && took(r, ')'))
		return true;
	fault_at(r, at, f->name.len, "it is written %.*s%.*s", STR_ARG(f->usage),
		STR_ARG(f->meaning));
	return false;
}

static ptrdiff_t read_function(struct formula_reader *r)
{
	struct formula_node node = { .sign = 'f' };
	ptrdiff_t from = r->at;

	while (r->at < r->text.len && is_in_word(r->text.p[r->at]))
		r->at++;
	struct str name = str_head(str_from_offset(r->text, from), r->at - from);
	while (node.function < FUNCTIONS && !str_eq(name, functions[node.function].name))
		node.function++;
	if (node.function == FUNCTIONS)
		return unknown_name(r, name, from);
	return read_arguments(r, &node, from) ? node_add(r, node) : -1;
}

static ptrdiff_t read_operand(struct formula_reader *r)
{
	char c = ahead(r);

	if (took(r, '(')) {
		ptrdiff_t inside = read_sum(r);
		if (inside >= 0 && !took(r, ')'))
			return fault_at(r, r->at, 1, "a ')' is missing here");
		return inside;
	}
	if (took(r, '-')) {
		ptrdiff_t zero = node_add(r, (struct formula_node){ .sign = '0' });
		ptrdiff_t side = zero < 0 ? -1 : read_operand(r);
		return side < 0 ? -1
				: node_add(r, (struct formula_node){
						      .sign = '-', .sides = { zero, side } });
	}
	if ((c >= '0' && c <= '9') || c == '.')
		return read_number(r);
	if (is_in_word(c))
		return read_function(r);
	return fault_at(r, r->at, 1, "a number or a function is expected here");
}

/* `signs` bind from the left: a - b - c. */
static ptrdiff_t read_chain(
	struct formula_reader *r, const char *signs, ptrdiff_t (*part)(struct formula_reader *r))
{
	ptrdiff_t left = part(r);

	while (left >= 0 && (ahead(r) == signs[0] || ahead(r) == signs[1])) {
		char sign = r->text.p[r->at++];
		ptrdiff_t right = part(r);
		left = right < 0 ? -1
				 : node_add(r, (struct formula_node){
						       .sign = sign, .sides = { left, right } });
	}
	return left;
}

static ptrdiff_t read_product(struct formula_reader *r)
{
	return read_chain(r, "*/", read_operand);
}

static ptrdiff_t read_sum(struct formula_reader *r)
{
	if (++r->depth > FORMULA_MAX_DEPTH)
		return fault_at(r, r->at, 1, "the formula is nested too deeply");
	ptrdiff_t node = read_chain(r, "+-", read_product);
	r->depth--;
	return node;
}

bool formula_parse(
	struct str text, struct arena *keep, struct formula *ret, struct formula_fault *fault)
{
	struct formula_reader r = { text, 0, ret, keep, fault, 0 };

	*ret = (struct formula){ .text = text,
		.nodes = arena_make(keep, struct formula_node, FORMULA_MAX_NODES) };
	ret->root = read_sum(&r);
	if (ret->root < 0)
		return false;
	ahead(&r);
	if (r.at < text.len)
		fault_at(&r, r.at, 1, "an operator is expected here");
	return r.at == text.len;
}

/* ---- computing ------------------------------------------------------------------------------- */

/* Sides stand before their node, so one pass in order computes all. */
double formula_value(
	const struct formula *f, const struct hlo_module *m, const struct hlo_instruction *call)
{
	double values[FORMULA_MAX_NODES] = { 0 }; /* of a side that is none, too */
	struct call c = { m, call };

	for (ptrdiff_t i = 0; i < f->count; i++) {
		const struct formula_node *n = &f->nodes[i];
		double x[ARGUMENTS_MAX] = { values[n->sides[0]], values[n->sides[1]] };
		values[i] = n->sign == '+'   ? x[0] + x[1]
			    : n->sign == '-' ? x[0] - x[1]
			    : n->sign == '*' ? x[0] * x[1]
			    : n->sign == '/' ? x[0] / x[1]
			    : n->sign == 'f' ? functions[n->function].compute(&c, x)
					     : n->number;
	}
	double value = f->count > 0 ? values[f->root] : NAN;
	return value >= 0 && isfinite(value) ? value : NAN;
}

/* ---- which call ------------------------------------------------------------------------------ */

/* "flash_attention.3" is an instance of flash_attention. */
static struct str without_number(struct str name)
{
	ptrdiff_t dot = str_rfind_char(name, '.');
	int64_t number;

	return dot > 0 && str_to_i64(str_from_offset(name, dot + 1), &number) ? str_head(name, dot)
									      : name;
}

const struct op_cost *op_cost_find(const struct op_costs *costs, const struct hlo_instruction *i)
{
	if (!costs || i->op != HLO_CUSTOM_CALL)
		return NULL;
	for (ptrdiff_t k = costs->count - 1; k >= 0; k--) {
		struct str name = costs->items[k].name;
		if (str_glob(i->custom_call_target, name) || str_glob(i->op_name, name) ||
			str_glob(without_number(i->name), name))
			return &costs->items[k];
	}
	return NULL;
}
