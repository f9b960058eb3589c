/*
 * Attributes of an instruction as text: "name=value" by name.  Plain values are those of the tables
 * that messages are read by; the table here lists the others, and what neither lists is skipped.
 *
 * Value grammars are those of XLA's HLO parser: dimension lists, dim_labels, windows, replica
 * groups in three spellings, metadata, backend configurations.
 */
#include "base/stats.h"
#include "hlo/internal.h"
#include "hlo/scan.h"
#include "hlo/work.h"

#include <assert.h>

/* More dimensions than an array can have cannot be numbered. */
enum { MAX_DIMS = SHAPE_MAX_RANK };

#define AT(member) offsetof(struct hlo_instruction, member)

/* Rows are sorted by name. */
static const struct scan_attr *attr_find(
	const struct scan_attr *rows, ptrdiff_t count, struct str name)
{
	ptrdiff_t i;
	FIND_FIRST(i, 0, count, str_cmp(rows[i].name, name) >= 0);
	assert(i < 1 || i == count || str_cmp(rows[i - 1].name, rows[i].name) < 0);
	return i < count && str_eq(rows[i].name, name) ? &rows[i] : NULL;
}

/* ---- fields that a message has, too ---------------------------------------------------------- */

/* Of an attribute that is there twice, the last one counts. */
static bool scan_rule(struct scan *s, const struct read_rule *rule, void *base)
{
	void *into = (char *)base + rule->offset;
	char c = scan_peek(s);
	switch (rule->kind) {
	case READ_INT:
		return scan_i64(s, into);
	case READ_BOOL:
		*(bool *)into = str_eq(scan_name(s), STR("true"));
		return true;
	case READ_INTS:
		*(struct hlo_dims *)into = (struct hlo_dims){ NULL, 0 };
		return scan_dims(s, into);
	case READ_STR: /* JSON and MLIR attributes stand in brackets */
		*(struct str *)into = c == '"'		     ? scan_string(s)
				      : c == '{' || c == '[' ? scan_value(s)
							     : scan_name(s);
		return !s->why;
	default:
		return scan_pairs(s, rule->table, into);
	}
}

typedef bool rule_fn(struct scan *s, const struct read_rule *rule, void *into);

static bool pairs_by(struct scan *s, const struct read_table *t, void *into, rule_fn *read)
{
	if (!scan_expect(s, STR("{"), "expected '{'"))
		return false;
	while (scan_more(s)) {
		ptrdiff_t from = s->at;
		const struct read_rule *rule = read_named(t, scan_name(s));
		bool named = scan_take(s, STR("="));
		if (rule && named)
			read(s, rule, into);
		else
			scan_element(s);
		if (s->at == from)
			return scan_fail(s, "expected a name, '=' and a value, or '}'");
	}
	return !s->why;
}

bool scan_pairs(struct scan *s, const struct read_table *t, void *into)
{
	return pairs_by(s, t, into, scan_rule);
}

/* What a message of its own holds stands beside the others in a text. */
static bool scan_field(struct scan *s, const struct read_table *t, struct str name, char *into)
{
	const struct read_rule *rule = read_named(t, name);
	for (uint32_t k = 0; !rule && k < t->count; k++) {
		const struct read_rule *outer = &t->rules[k];
		rule = outer->kind == READ_POINTER ? read_named(outer->table, name) : NULL;
		into = rule ? read_made(s->keep, outer, into + outer->offset) : into;
	}
	return !rule || scan_rule(s, rule, into);
}

bool scan_list(struct scan *s, const struct scan_attr *rows, ptrdiff_t count,
	const struct read_table *t, void *into)
{
	for (scan_blanks(s); scan_take(s, STR(",")); scan_blanks(s)) {
		scan_blanks(s);
		struct str name = scan_name(s);
		if (!scan_take(s, STR("=")))
			return scan_fail(s, "expected '=' and the attribute's value");
		const struct scan_attr *a = attr_find(rows, count, name);
		if (!(a ? a->read(s, (char *)into + a->offset) : scan_field(s, t, name, into)))
			return false;
		/* Attributes not listed, and what a newer XLA adds to a listed one. */
		if (scan_peek(s) != ',' && scan_peek(s) != '\n')
			scan_value(s);
	}
	return !s->why;
}

/* "{element, element}" into what takes one after the other. */
static bool scan_each(struct scan *s, bool (*element)(struct scan *s, void *into), void *into)
{
	bool ok = scan_expect(s, STR("{"), "expected '{'");
	while (ok && scan_more(s))
		ok = element(s, into);
	return ok && !s->why;
}

/* ---- convolution, window --------------------------------------------------------------------- */

/*
 * One side of dim_labels: the letter at position n says what dimension n is.  The two letters are
 * 'b' and 'f', or 'i' and 'o'; what they say is read into `at`.
 */
static bool read_side(
	struct scan *s, const char letters[2], int64_t at[2], struct hlo_dims *spatial)
{
	for (int64_t n = 0; n < MAX_DIMS; n++) {
		char c = scan_peek(s);
		if (is_digit(c)) {
			while (spatial->count <= c - '0')
				*READ_PUSH(s->keep, spatial->items, spatial->count) = 0;
			spatial->items[c - '0'] = n;
		} else if (c == letters[0] || c == letters[1]) {
			at[c == letters[1]] = n;
		} else if (c != '?') {
			return true;
		}
		s->at++;
	}
	return scan_fail(s, "too many dimensions");
}

static bool dim_labels(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	struct hlo_convolution *c = arena_make(s->keep, struct hlo_convolution, 1);
	int64_t in[2] = { 0 }, kernel[2] = { 0 }, out[2];
	bool ok = read_side(s, "bf", in, &c->input_spatial) &&
		  scan_expect(s, STR("_"), "expected '_' and the kernel's") &&
		  read_side(s, "io", kernel, &c->kernel_spatial) &&
		  scan_expect(s, STR("->"), "expected '->'") &&
		  read_side(s, "bf", out, &c->output_spatial);
	c->input_batch = in[0];
	c->input_feature = in[1];
	c->kernel_output_feature = kernel[1];
	i->convolution = c;
	return ok;
}

static struct hlo_window_dim *window_dim(struct scan *s, struct hlo_instruction *i, ptrdiff_t n)
{
	while (i->window_rank <= n && n < MAX_DIMS)
		*READ_PUSH(s->keep, i->window, i->window_rank) = (struct hlo_window_dim){
			.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1
		};
	return n < MAX_DIMS ? &i->window[n] : NULL;
}

/* "3x3" or, for padding, "1_1x0_0": the numbers of dimension after dimension. */
static bool window_numbers(struct scan *s, const struct read_rule *rule, void *into)
{
	ptrdiff_t n = 0;
	do {
		struct hlo_window_dim *dim = window_dim(s, into, n++);
		int64_t high;
		if (!dim)
			return scan_fail(s, "the window has too many dimensions");
		if (!scan_i64(s, (void *)((char *)dim + rule->offset)) ||
			(scan_take(s, STR("_")) && !scan_i64(s, &high)))
			return false;
	} while (scan_take(s, STR("x")));
	return true;
}

static bool window(struct scan *s, void *into)
{
	return pairs_by(s, &window_dim_table, into, window_numbers);
}

/* ---- slice={[7:8], [0:1024:2]}: start, limit, and a stride where it is not 1 -- */

static bool slice_dim(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	if (i->slice_rank == MAX_DIMS)
		return scan_fail(s, "too many dimensions");
	struct hlo_slice_dim *dim = READ_PUSH(s->keep, i->slice, i->slice_rank);
	dim->stride = 1;
	return scan_expect(s, STR("["), "expected '['") && scan_i64(s, &dim->start) &&
	       scan_expect(s, STR(":"), "expected ':' and the limit") && scan_i64(s, &dim->limit) &&
	       (!scan_take(s, STR(":")) || scan_i64(s, &dim->stride)) &&
	       scan_expect(s, STR("]"), "expected ']'");
}

static bool slice(struct scan *s, void *into)
{
	((struct hlo_instruction *)into)->slice_rank = 0;
	return scan_each(s, slice_dim, into);
}

/* ---- precision ------------------------------------------------------------------------------- */

/* Each stands at its number in PrecisionConfig of xla_data.proto. */
static const struct str precisions[] = { STR_INIT("default"), STR_INIT("high"),
	STR_INIT("highest") };
static const struct str algorithms[] = { STR_INIT("dot_unset"), STR_INIT("dot_any_f8_any_f8_f32"),
	STR_INIT("dot_any_f8_any_f8_f32_fast_accum"), STR_INIT("dot_f16_f16_f16"),
	STR_INIT("dot_f16_f16_f32"), STR_INIT("dot_bf16_bf16_bf16"), STR_INIT("dot_bf16_bf16_f32"),
	STR_INIT("dot_bf16_bf16_f32_x3"), STR_INIT("dot_bf16_bf16_f32_x6"),
	STR_INIT("dot_tf32_tf32_f32"), STR_INIT("dot_tf32_tf32_f32_x3"),
	STR_INIT("dot_f32_f32_f32"), STR_INIT("dot_f64_f64_f64"),
	STR_INIT("dot_bf16_bf16_f32_x9") };

static int64_t index_of(const struct str *words, ptrdiff_t count, struct str text)
{
	for (ptrdiff_t i = 0; i < count; i++)
		if (str_eq_nocase(words[i], text))
			return i;
	return 0;
}

int64_t hlo_algorithm(struct str name)
{
	return index_of(algorithms, COUNT_OF(algorithms), name);
}

static bool precision_word(struct scan *s, void *into)
{
	struct hlo_dims *ret = into;
	struct str name = scan_name(s);
	if (!name.len || ret->count == MAX_DIMS)
		return scan_fail(s, "expected default, high or highest");
	*READ_PUSH(s->keep, ret->items, ret->count) =
		index_of(precisions, COUNT_OF(precisions), name);
	return true;
}

static bool precision(struct scan *s, void *into)
{
	*(struct hlo_dims *)into = (struct hlo_dims){ NULL, 0 };
	return scan_each(s, precision_word, into);
}

static bool algorithm(struct scan *s, void *into)
{
	*(int64_t *)into = hlo_algorithm(scan_name(s));
	return true;
}

/* ---- what it calls --------------------------------------------------------------------------- */

static bool push_callee(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	ptrdiff_t at = s->at;
	if (!scan_name(s).len)
		return scan_fail(s, "expected the name of a computation");
	if (i->called_count == READ_MAX_LIST)
		return scan_fail(s, "too many computations are called");
	*READ_PUSH(s->keep, i->called, i->called_count) = at;
	return true;
}

static bool callees(struct scan *s, void *into)
{
	return scan_peek(s) == '{' ? scan_each(s, push_callee, into) : push_callee(s, into);
}

/* The body comes first, as in a proto, whichever is written first. */
static bool body(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	if (!push_callee(s, i))
		return false;
	ptrdiff_t last = i->called_count - 1, at = i->called[last];
	i->called[last] = i->called[0];
	i->called[0] = at;
	return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool group(struct scan *s, void *into)
{
	struct hlo_dims ids = { NULL, 0 };
	if (!scan_dims(s, &ids))
		return false;
	if (ids.count > HLO_MAX_GROUP)
		return scan_fail(s, "the group is too large");
	groups_add(into, &ids);
	return true;
}

/* "[4,2]T(1,0)", without its first bracket */
static bool shaped(struct scan *s, struct hlo_dims *dimensions, struct hlo_dims *perm)
{
	return scan_numbers(s, STR("]"), dimensions) &&
	       (!scan_take(s, STR("T(")) || scan_numbers(s, STR(")"), perm));
}

/* "[2,4]<=[4,2]T(1,0)" */
static bool groups_iota(struct scan *s, struct hlo_replica_groups *g)
{
	struct hlo_dims size = { NULL, 0 }, from = { NULL, 0 }, perm = { NULL, 0 };
	s->at++;
	if (!scan_numbers(s, STR("]"), &size) ||
		!scan_expect(s, STR("<=["), "expected '<=[' and the devices") ||
		!shaped(s, &from, &perm))
		return false;
	if (size.count != 2)
		return scan_fail(s, "expected [groups,size]");
	groups_of_iota(g, size.items[0], size.items[1], &from, &perm, s->keep);
	return true;
}

struct mesh_names {
	struct mesh m;
	struct str names[MAX_AXES];
};

/* 'name' */
static struct str axis_name(struct scan *s)
{
	ptrdiff_t from = s->at + 1;
	struct str rest = str_from_offset(s->text, from);
	ptrdiff_t end = str_find_char(rest, '\'');
	if (scan_peek(s) != '\'' || end < 0) {
		scan_fail(s, "expected an axis name in single quotes");
		return MISSING;
	}
	s->at = from + end + 1;
	return str_head(rest, end);
}

/* ", device_ids=(3,2,1,0)" or ", device_ids=([2,4]T(1,0))" */
static bool mesh_devices(struct scan *s, struct mesh *m)
{
	bool ok = scan_take(s, STR("(")) || scan_expect(s, STR("["), "expected '('");
	if (!ok || !scan_take(s, STR("[")))
		return ok && scan_numbers(s, STR(")"), &m->device_ids);
	return shaped(s, &m->reshape, &m->perm) && scan_expect(s, STR(")"), "expected ')'");
}

static bool mesh_axes(struct scan *s, struct mesh_names *x)
{
	while (!scan_take(s, STR("]"))) {
		int64_t size;
		if (x->m.axis_count == MAX_AXES)
			return scan_fail(s, "the mesh has too many axes");
		struct str name = axis_name(s);
		if (!scan_expect(s, STR("="), "expected '='") || !scan_i64(s, &size))
			return false;
		x->names[x->m.axis_count] = name;
		mesh_add(&x->m, size);
		scan_take(s, STR(","));
		scan_blanks(s);
	}
	if (!scan_take(s, STR(", device_ids=")) && !scan_take(s, STR(",device_ids=")))
		return true;
	return mesh_devices(s, &x->m);
}

/* 'a', or a part of it: 'a':(2)4 is the 4 after the first 2. */
static bool mesh_part(struct scan *s, void *into)
{
	struct mesh_names *x = into;
	struct axis_ref ref = { 0 };
	struct str name = axis_name(s);
	ref.axis = -1;
	for (ptrdiff_t i = 0; i < x->m.axis_count; i++)
		if (str_eq(x->names[i], name))
			ref.axis = i;
	if (scan_take(s, STR(":(")) &&
		!(scan_i64(s, &ref.pre_size) && scan_expect(s, STR(")"), "expected ')'") &&
			scan_i64(s, &ref.size)))
		return false;
	mesh_take(&x->m, ref);
	return !s->why;
}

/* "mesh['a'=2,'b'=4] {'b'}"; no list of axes means everybody */
static bool groups_mesh(struct scan *s, struct hlo_replica_groups *g)
{
	struct mesh_names x = { .m = { .bad = false } };
	if (!mesh_axes(s, &x))
		return false;
	scan_blanks(s);
	if (scan_peek(s) == '{' && !scan_each(s, mesh_part, &x))
		return false;
	groups_of_mesh(g, &x.m, s->keep);
	return !s->why;
}

static bool replica_groups(struct scan *s, void *into)
{
	struct hlo_replica_groups *g = into;
	*g = (struct hlo_replica_groups){ 0 };
	scan_take(s, STR("@"));
	if (scan_take(s, STR("mesh[")))
		return groups_mesh(s, g);
	if (scan_peek(s) == '[')
		return groups_iota(s, g);
	return scan_peek(s) == '{' ? scan_each(s, group, g)
				   : scan_fail(s, "expected {{...}}, [...]<=[...] or mesh[...]");
}

static bool pair(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	struct hlo_dims two = { NULL, 0 };
	if (!scan_dims(s, &two))
		return false;
	if (two.count != 2 || i->pair_count == READ_MAX_LIST)
		return scan_fail(s, "expected a pair of numbers before this");
	*READ_PUSH(s->keep, i->pairs, i->pair_count) =
		(struct hlo_pair){ two.items[0], two.items[1] };
	return true;
}

static bool pairs(struct scan *s, void *into)
{
	((struct hlo_instruction *)into)->pair_count = 0;
	return scan_each(s, pair, into);
}

/* ---- frontend attributes --------------------------------------------------------------------- */

/* Only those of sends and recvs are looked at. */
static bool frontend(struct scan *s, void *into)
{
	struct hlo_instruction *i = into;
	if ((i->op != HLO_SEND && i->op != HLO_RECV) || scan_peek(s) != '{') {
		scan_value(s);
		return !s->why;
	}
	i->transfer = arena_make(s->keep, struct hlo_transfer, 1);
	bool ok = scan_pairs(s, &transfer_table, i->transfer);
	if (!i->transfer->type.len)
		i->transfer = NULL;
	return ok;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct scan_attr rows[] = {
	{ STR_INIT("algorithm"), algorithm, AT(algorithm) },
	{ STR_INIT("body"), body, 0 },
	{ STR_INIT("branch_computations"), callees, 0 },
	{ STR_INIT("called_computations"), callees, 0 },
	{ STR_INIT("calls"), callees, 0 },
	{ STR_INIT("condition"), callees, 0 },
	{ STR_INIT("dim_labels"), dim_labels, 0 },
	{ STR_INIT("false_computation"), callees, 0 },
	{ STR_INIT("frontend_attributes"), frontend, 0 },
	{ STR_INIT("operand_precision"), precision, AT(precision) },
	{ STR_INIT("replica_groups"), replica_groups, AT(groups) },
	{ STR_INIT("scatter"), callees, 0 },
	{ STR_INIT("select"), callees, 0 },
	{ STR_INIT("slice"), slice, 0 },
	{ STR_INIT("source_target_pairs"), pairs, 0 },
	{ STR_INIT("to_apply"), callees, 0 },
	{ STR_INIT("true_computation"), callees, 0 },
	{ STR_INIT("window"), window, 0 },
};

bool scan_attributes(struct scan *s, struct hlo_instruction *i)
{
	return scan_list(s, rows, COUNT_OF(rows), &instruction_table, i);
}
