/* HLO back into text: modules, computations, instructions.  See print.h. */
#include "hlo/print.h"

#include "hlo/print_attr.h"
#include "hlo/text_inside.h"

/* ---- operands -------------------------------------------------------------------------------- */

/* An operand as it was written. */
struct operand {
	struct str type, name; /* either may be missing */
};

static struct operand operand_next(struct scan *s)
{
	struct operand x = { .type = { NULL, 0 } };
	scan_space(s);
	if (scan_take(s, STR(",")))
		scan_space(s);
	if (text_has_type(*s))
		x.type = text_type(s);
	scan_blanks(s);
	x.name = scan_name(s);
	return x;
}

/* XLA marks every fifth operand with its index, or none. */
enum { MARKED = 5 };

static void print_operand(struct out *o, const struct printed *p, struct operand x, ptrdiff_t at)
{
	if (at >= 0)
		x.name = p->m->instructions[at].name;
	if (x.type.len && at >= 0)
		shape_print(o, &p->m->instructions[at].shape, true);
	else
		out_str(o, x.type);
	if (!x.name.len)
		return;
	if (x.type.len)
		out_char(o, ' ');
	print_name(o, x.name, p->percent);
}

static void print_operands(struct out *o, const struct printed *p)
{
	struct scan s = { .text = p->i->written.arguments };
	bool marked = str_contains(s.text, STR("/*index="));
	for (ptrdiff_t k = 0; k < p->i->operand_count; k++) {
		if (k)
			out_z(o, ", ");
		if (k && marked && k % MARKED == 0)
			out_fmt(o, "/*index=%td*/", k);
		print_operand(o, p, operand_next(&s), p->i->operands[k]);
	}
}

static void print_arguments(struct out *o, const struct printed *p)
{
	if (p->i->op == HLO_PARAMETER)
		out_i64(o, p->i->parameter_number);
	else if (p->i->op == HLO_CONSTANT && p->i->has_value)
		out_i64(o, p->i->value);
	else if (p->i->op == HLO_CONSTANT)
		out_str(o, p->i->written.arguments);
	else
		print_operands(o, p);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool has_percent(const struct hlo_instruction *i)
{
	return i->written.percent ||
	       (!i->name.len && str_find_char(i->written.arguments, '%') >= 0);
}

static const struct hlo_instruction *caller_of(
	const struct hlo_module *m, const struct hlo_instruction *i)
{
	bool made = i->called_count && i->called[0] >= 0 && m->computations[i->called[0]].is_made;
	return made ? &m->instructions[m->computations[i->called[0]].root] : i;
}

void hlo_print_instruction(
	const struct hlo_module *m, ptrdiff_t instruction, struct arena *keep, struct out *o)
{
	const struct hlo_instruction *i = &m->instructions[instruction];
	const struct printed p = { m, i, caller_of(m, i), has_percent(i), keep };
	if (i->name.len) {
		print_name(o, i->name, p.percent);
		out_z(o, " = ");
	}
	shape_print(o, &i->shape, true);
	out_char(o, ' ');
	out_str(o, i->opcode);
	out_char(o, '(');
	print_arguments(o, &p);
	out_char(o, ')');
	print_attributes(o, &p);
}

/* ---- computations ---------------------------------------------------------------------------- */

/* Of the numbers 0, 1, ... all there once; else NULL. */
static ptrdiff_t *parameters_of(const struct hlo_module *m, const struct hlo_computation *c,
	struct arena *keep, ptrdiff_t *count)
{
	ptrdiff_t *at = arena_make(keep, ptrdiff_t, c->count);
	*count = 0;
	for (ptrdiff_t k = 0; k < c->count; k++)
		at[k] = -1;
	for (ptrdiff_t k = c->first; k < c->first + c->count; k++) {
		int64_t number = m->instructions[k].parameter_number;
		if (m->instructions[k].op != HLO_PARAMETER)
			continue;
		if (number < 0 || number >= c->count || at[number] >= 0)
			return NULL;
		at[number] = k;
		++*count;
	}
	for (ptrdiff_t k = 0; k < *count; k++)
		if (at[k] < 0)
			return NULL;
	return at;
}

/* "(a: f32[8], b: f32[]) -> f32[8]" */
static void print_signature(struct out *o, const struct hlo_module *m,
	const struct hlo_computation *c, struct arena *keep)
{
	ptrdiff_t count, *parameters = parameters_of(m, c, keep, &count);
	if (!parameters || c->root < 0) {
		out_str(o, c->written.arguments);
		return;
	}
	out_char(o, '(');
	for (ptrdiff_t k = 0; k < count; k++) {
		const struct hlo_instruction *i = &m->instructions[parameters[k]];
		out_z(o, k ? ", " : "");
		out_str(o, i->name);
		out_z(o, ": ");
		shape_print(o, &i->shape, false);
	}
	out_z(o, ") -> ");
	shape_print(o, &m->instructions[c->root].shape, false);
}

void hlo_print_computation(
	const struct hlo_module *m, ptrdiff_t computation, struct arena *keep, struct out *o)
{
	const struct hlo_computation *c = &m->computations[computation];
	out_z(o, computation == m->entry ? "ENTRY " : "");
	print_name(o, c->name, c->written.percent);
	if (c->written.arguments.len) {
		out_char(o, ' ');
		print_signature(o, m, c, keep);
	}
	out_z(o, " {\n");
	for (ptrdiff_t k = c->first; k < c->first + c->count; k++) {
		out_z(o, k == c->root ? "  ROOT " : "  ");
		hlo_print_instruction(m, k, keep, o);
		out_char(o, '\n');
	}
	out_char(o, '}');
	out_str(o, c->written.attributes);
	out_char(o, '\n');
}

/* ---- modules --------------------------------------------------------------------------------- */

static void print_header(struct out *o, const struct hlo_module *m)
{
	out_z(o, "HloModule ");
	out_str(o, m->name);
	print_module_attributes(o, m);
	out_z(o, "\n\n");
}

static void print_strings(
	struct out *o, const char *title, const struct str *items, ptrdiff_t count)
{
	out_fmt(o, "%s\n", title);
	for (ptrdiff_t k = 0; k < count; k++) {
		out_fmt(o, "%td ", k + 1);
		print_string(o, items[k]);
		out_char(o, '\n');
	}
	out_char(o, '\n');
}

static void print_location(struct out *o, const struct frame_location *l, bool ends)
{
	out_fmt(o, "{file_name_id=%lld function_name_id=%lld line=%lld", (long long)l->file,
		(long long)l->function, (long long)l->line);
	if (ends)
		out_fmt(o, " end_line=%lld", (long long)l->end_line);
	out_fmt(o, " column=%lld", (long long)l->column);
	if (ends)
		out_fmt(o, " end_column=%lld", (long long)l->end_column);
	out_z(o, "}\n");
}

static void print_tables(struct out *o, const struct hlo_frames *f)
{
	print_strings(o, "FileNames", f->files, f->file_count);
	print_strings(o, "FunctionNames", f->functions, f->function_count);
	out_z(o, "FileLocations\n");
	for (ptrdiff_t k = 0; k < f->location_count; k++) {
		out_fmt(o, "%td ", k + 1);
		print_location(o, &f->locations[k], f->has_ends);
	}
	out_z(o, "\nStackFrames\n");
	for (ptrdiff_t k = 0; k < f->frame_count; k++)
		out_fmt(o, "%td {file_location_id=%lld parent_frame_id=%lld}\n", k + 1,
			(long long)f->frames[k].location,
			(long long)(f->frames[k].parent + f->parents_up));
	out_z(o, "\n\n");
}

bool hlo_prints(const struct hlo_module *m)
{
	for (ptrdiff_t k = 0; k < m->instruction_count; k++)
		if (m->instructions[k].written.attributes.p)
			return true;
	return false;
}

void hlo_print_module(const struct hlo_module *m, struct arena *keep, struct out *o)
{
	const struct hlo_frames *f = m->frames;
	if (m->written.attributes.p)
		print_header(o, m);
	if (f && f->file_count + f->function_count + f->location_count + f->frame_count)
		print_tables(o, f);
	for (ptrdiff_t k = 0; k < m->computation_count && !m->computations[k].is_made; k++) {
		hlo_print_computation(m, k, keep, o);
		out_char(o, '\n');
	}
}
