/*
 * Instructions without their module: one that a person wrote down, or all that a profile names.
 *
 * Parameters stand for operands that are known by their type alone.
 */
#include "base/map.h"
#include "hlo/text_inside.h"

/* The whole text is one instruction; t->types are its operands'. */
static bool read_alone(struct text *t, struct hlo_instruction *i)
{
	*i = (struct hlo_instruction){ 0 };
	t->types = NULL;
	t->type_count = 0;
	scan_space(&t->s);
	scan_take(&t->s, STR("ROOT "));
	scan_blanks(&t->s);
	if (!text_instruction(t, i))
		return false;
	scan_space(&t->s);
	for (ptrdiff_t k = 0; k < i->called_count; k++)
		i->called[k] = -1;
	return t->s.at == t->s.text.len || scan_fail(&t->s, "expected ',' and an attribute");
}

/* All instructions are there: one computation of them. */
static bool finish(struct hlo_module *m, struct arena *keep, struct diag *err)
{
	m->computations = arena_make(keep, struct hlo_computation, 1);
	m->computations[0] = (struct hlo_computation){
		.id = 1, .count = m->instruction_count, .root = m->instruction_count - 1
	};
	m->computation_count = 1;
	return module_finish(m, keep, err);
}

/* ---- one ------------------------------------------------------------------------------------- */

/* Operands with a type become parameters before it. */
static void add_parameters(struct text *t, struct hlo_instruction *i)
{
	struct hlo_module *m = t->m;
	for (ptrdiff_t k = 0; k < i->operand_count; k++) {
		struct str name = text_name_at(t, i->operands[k]);
		i->operands[k] = -1;
		if (t->types[k].dtype == DTYPE_INVALID)
			continue;
		i->operands[k] = m->instruction_count;
		text_parameter(t, name, &t->types[k], m->instruction_count)->user_count = 1;
	}
}

struct hlo_module *hlo_text_instruction(
	struct str file, struct str text, struct arena *keep, struct diag *err)
{
	struct text t;
	struct hlo_instruction i;
	text_begin(&t, text, keep);
	t.alone = true;
	if (!read_alone(&t, &i)) {
		scan_tell(&t.s, file, err);
		return NULL;
	}
	struct hlo_module *m = t.m;
	add_parameters(&t, &i);
	i.id = m->instruction_count + 1;
	*text_push(&t) = i;
	return finish(m, keep, err) ? m : NULL;
}

/* ---- "A x B" --------------------------------------------------------------------------------- */

bool hlo_text_product(
	struct str text, struct arena *keep, struct str *instruction, struct diag *err)
{
	struct shape a, b;
	struct str rest_a, rest_b;
	ptrdiff_t depth = 0, at = 0;
	for (; at < text.len; at++) {
		char c = text.p[at];
		depth += (c == '(' || c == '{') - (c == ')' || c == '}');
		if (at && !depth && str_starts(str_from_offset(text, at), STR(" x ")))
			break;
	}
	*instruction = MISSING;
	if (at == text.len)
		return true;
	struct str left = str_trim(str_head(text, at));
	struct str right = str_trim(str_from_offset(text, at + 3));
	if (!shape_parse(left, keep, &a, &rest_a, err) ||
		!shape_parse(right, keep, &b, &rest_b, err))
		return false;
	if (rest_a.len || rest_b.len || !a.rank || !b.rank || a.dims[a.rank - 1] != b.dims[0])
		return diag_set(err, DIAG_USAGE,
			"'%.*s x %.*s' is no product: the last dimension of the first array is to "
			"be the first of the second",
			STR_ARG(left), STR_ARG(right));
	struct out *dims = out_memory(keep);
	for (ptrdiff_t i = 0; i + 1 < a.rank; i++)
		out_fmt(dims, "%s%lld", i ? "," : "", (long long)a.dims[i]);
	for (ptrdiff_t i = 1; i < b.rank; i++)
		out_fmt(dims, "%s%lld", i > 1 || a.rank > 1 ? "," : "", (long long)b.dims[i]);
	*instruction = arena_fmt(keep,
		"product = %.*s[%.*s] dot(%.*s lhs, %.*s rhs), lhs_contracting_dims={%td}, "
		"rhs_contracting_dims={0}",
		STR_ARG(dtype_name(a.dtype)), STR_ARG(out_text(dims)), STR_ARG(left),
		STR_ARG(right), a.rank - 1);
	return true;
}

/* ---- all that ran ---------------------------------------------------------------------------- */

/* An operand that may turn out to be another of the instructions. */
struct reference {
	struct str name;
	struct shape type;
};

struct ops {
	struct text t;
	struct map names;
	struct reference *references; /* of all operands, in order */
	ptrdiff_t reference_count, reference_cap;
};

/* Leaves out a text that is not an instruction, and an instruction that was met before. */
static void add_op(struct ops *o, struct str text)
{
	struct hlo_module *m = o->t.m;
	struct arena *keep = o->t.s.keep;
	struct hlo_instruction i;
	o->t.s = (struct scan){ .text = text, .keep = keep };
	if (!read_alone(&o->t, &i) || !i.name.len || map_get(&o->names, i.name) != MAP_NONE)
		return;
	for (ptrdiff_t k = 0; k < i.operand_count; k++)
		*arena_push(keep, o->references, o->reference_count, o->reference_cap) =
			(struct reference){ text_name_at(&o->t, i.operands[k]), o->t.types[k] };
	map_put(&o->names, i.name, (int32_t)m->instruction_count, keep);
	i.id = m->instruction_count + 1;
	*text_push(&o->t) = i;
}

static ptrdiff_t resolve(struct ops *o, const struct reference *r)
{
	struct hlo_module *m = o->t.m;
	int32_t at = map_get(&o->names, r->name);
	if (at == MAP_NONE && (r->type.dtype == DTYPE_INVALID || !r->name.len ||
				      m->instruction_count >= HLO_MAX_INSTRUCTIONS))
		return -1;
	if (at == MAP_NONE) {
		at = (int32_t)m->instruction_count;
		map_put(&o->names, r->name, at, o->t.s.keep);
		text_parameter(&o->t, r->name, &r->type, at);
	}
	m->instructions[at].user_count++;
	return at;
}

struct hlo_module *hlo_text_ops(struct str name, const struct str *texts, ptrdiff_t count,
	struct arena *keep, struct diag *err)
{
	struct ops *o = arena_make(keep, struct ops, 1);
	text_begin(&o->t, STR(""), keep);
	o->t.alone = true;
	struct hlo_module *m = o->t.m;
	m->name = name;
	m->partial = true;
	for (ptrdiff_t i = 0; i < count && i < HLO_MAX_INSTRUCTIONS; i++)
		add_op(o, texts[i]);
	const struct reference *r = o->references;
	ptrdiff_t ops = m->instruction_count;
	for (ptrdiff_t i = 0; i < ops; i++)
		for (ptrdiff_t k = 0; k < m->instructions[i].operand_count; k++) {
			ptrdiff_t operand = resolve(o, r++);
			m->instructions[i].operands[k] = operand;
		}
	if (!ops) {
		diag_set(err, DIAG_HLO, "none of the %td texts of its ops is one of an instruction",
			count);
		return NULL;
	}
	return finish(m, keep, err) ? m : NULL;
}
