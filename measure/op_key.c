/* By what an op is known again: its key and its family. */
#include "measure/op_key.h"

#include "base/out.h"
#include "base/text.h"

/* "jit(f)/jit(main)/" in front says how it was called, not what it is. */
static struct str scope_core(struct str scope)
{
	while (str_starts(scope, STR("jit("))) {
		ptrdiff_t slash = str_find_char(scope, '/');
		if (slash < 0)
			break;
		scope = str_from_offset(scope, slash + 1);
	}
	return scope;
}

/* A GPU kernel's "loop_add_fusion_12" is named for the instruction loop_add_fusion.12. */
static struct str kernel_core(struct str name)
{
	ptrdiff_t bar = str_rfind_char(name, '_');
	int64_t number;

	return str_contains(name, STR("fusion")) && bar > 0 &&
			       str_to_i64(str_from_offset(name, bar + 1), &number)
		       ? kernel_core(str_head(name, bar))
		       : name;
}

/*
 * "fusion.123" -> "fusion", "fusion.7.remat2.1" -> "fusion.remat": how often the compiler copied an
 * op is one more of its numbers.
 */
static struct str name_core(struct str name, struct arena *keep)
{
	struct str part, rest = name;
	struct out *o = out_memory(keep);

	str_cut(rest, '.', &part, &rest);
	out_str(o, kernel_core(part));
	while (rest.len > 0) {
		str_cut(rest, '.', &part, &rest);
		struct str head = part;
		while (head.len > 0 && is_digit(head.p[head.len - 1]))
			head.len--;
		if (head.len > 0 && !str_eq(head, STR("remat")))
			head = part;
		out_fmt(o, "%s%.*s", head.len > 0 ? "." : "", STR_ARG(head));
	}
	return out_text(o);
}

/* Operands told apart in a key; a matmul has two, and a fusion's first ones are its inputs. */
#define KEY_OPERANDS 4

/* "bf16[8,16](bf16[8,32],bf16[32,16])": of equal results the operands tell dX from dW. */
static struct str shape_core(const struct subject *s, struct arena *keep)
{
	struct out *o = out_memory(keep);

	if (s->instruction < 0) {
		/* Without HLO the profile's own text, up to the layout. */
		ptrdiff_t brace = str_find_char(s->said->shape, '{');
		return brace >= 0 ? str_head(s->said->shape, brace) : s->said->shape;
	}
	const struct hlo_module *h = program_hlo(s->program);
	const struct hlo_instruction *i = &h->instructions[s->instruction];
	struct str result = shape_text(&i->shape, false, keep);
	if ((s->kind != KIND_MATMUL && s->kind != KIND_CONVOLUTION) || i->operand_count == 0)
		return result;
	out_str(o, result);
	for (ptrdiff_t k = 0; k < i->operand_count && k < KEY_OPERANDS; k++) {
		out_char(o, k == 0 ? '(' : ',');
		if (i->operands[k] >= 0)
			out_str(o, shape_text(&h->instructions[i->operands[k]].shape, false, keep));
	}
	out_char(o, ')');
	return out_text(o);
}

/* Ops the compiler made have no scope: their name without its numbers has to do. */
static struct str what_it_is(struct str scope, struct str name, struct arena *keep)
{
	struct str core = scope_core(scope);

	return core.len > 0 ? core : name_core(name, keep);
}

static struct str identity(struct arena *keep, struct str kind, struct str shape, struct str what,
	const struct op_source *where)
{
	/* The last component: a checkout elsewhere must not change a key. */
	struct str file = path_base(where->file);

	return text_clean(
		keep, arena_fmt(keep, "%.*s %.*s %.*s%s%.*s%s%.*s", STR_ARG(kind), STR_ARG(shape),
			      STR_ARG(what), file.len > 0 ? " " : "", STR_ARG(file),
			      where->function.len > 0 ? ":" : "", STR_ARG(where->function)));
}

struct op_key_text op_key_text(const struct run *run, const struct subject *s, struct str scope,
	const struct op_source *where)
{
	struct str kind = op_kind_name(s->kind), shape = shape_core(s, run->keep);
	struct str what = what_it_is(scope, s->name, run->keep);

	return (struct op_key_text){
		.key = identity(run->keep, kind, shape, what, where),
		.family = identity(
			run->keep, kind, shape, text_without_digits(run->keep, what), where),
	};
}

struct str buffer_key_text(const struct hlo_instruction *i, struct str kind, struct arena *keep)
{
	struct op_source where = { .file = i->source.file, .function = i->source.function };

	return identity(keep, kind, shape_text(&i->shape, false, keep),
		what_it_is(i->op_name, i->name, keep), &where);
}

struct str program_text(const struct program *p, struct arena *keep)
{
	if (p->label.p)
		return p->label;
	if (p->id == PROGRAM_UNKNOWN)
		return MISSING;
	if (p->by_name)
		return p->module;
	return arena_fmt(keep, "%llu", (unsigned long long)p->id);
}
