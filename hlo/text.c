/*
 * HLO text into struct hlo_module: lines are counted, computations are read one after the other,
 * and names become indices at the end of each.
 *
 * Until then operands and callees are the offsets of their names in the text.
 */
#include "hlo/text_inside.h"

bool hlo_is_text(struct str bytes)
{
	enum { LOOKED_AT = 256 };
	struct str head = str_head(bytes, LOOKED_AT);
	for (ptrdiff_t i = 0; i < head.len; i++) {
		unsigned char c = (unsigned char)head.p[i];
		if (c < ' ' && c != '\n' && c != '\t' && c != '\r')
			return false;
	}
	return head.len > 0;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* To the blank or bracket behind a shape: nothing in one is quoted. */
static struct str text_type(struct scan *s)
{
	ptrdiff_t from = s->at, depth = 0;
	for (; s->at < s->text.len; s->at++) {
		char c = s->text.p[s->at];
		if (!depth && (c == ' ' || c == ',' || c == ')' || c == '\n'))
			break;
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
	}
	return str_head(str_from_offset(s->text, from), s->at - from);
}

static bool read_type(struct text *t, struct shape *ret)
{
	struct scan s = t->s;
	struct str extent = text_type(&t->s);
	struct shape_slot *slot = shape_slot(t->cache, extent);
	if (!slot->bytes.p && !scan_shape(&s, &slot->shape))
		return scan_fail_at(&t->s, s.wrong, s.why);
	if (!slot->bytes.p && s.at < t->s.at)
		return scan_fail_at(&t->s, s.at, "this does not belong to the shape before it");
	slot->bytes = extent;
	*ret = slot->shape;
	return true;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* A type stands before an operand's name: a bracket comes before the name's end. */
static bool text_has_type(struct scan s)
{
	if (scan_peek(&s) == '(')
		return true;
	struct str word = scan_name(&s);
	return scan_peek(&s) == '[' || (scan_peek(&s) == '(' && str_eq(word, STR("b")));
}

static bool read_operand(struct text *t, struct hlo_instruction *i)
{
	struct shape type = { .dtype = DTYPE_INVALID };
	struct scan *s = &t->s;
	bool typed = text_has_type(*s);
	if (typed && t->alone && !read_type(t, &type))
		return false;
	if (typed && !t->alone)
		text_type(s);
	scan_blanks(s);
	ptrdiff_t at = s->at;
	if (!scan_name(s).len && !typed)
		return scan_fail(s, "expected the name of an operand");
	if (i->operand_count == READ_MAX_LIST)
		return scan_fail(s, "too many operands");
	*READ_PUSH(s->keep, i->operands, i->operand_count) = at;
	if (t->alone)
		*READ_PUSH(s->keep, t->types, t->type_count) = type;
	return true;
}

static bool read_operands(struct text *t, struct hlo_instruction *i)
{
	struct scan *s = &t->s;
	for (scan_space(s); !scan_take(s, STR(")")); scan_space(s)) {
		if (i->operand_count && !scan_expect(s, STR(","), "expected ',' or ')'"))
			return false;
		scan_space(s);
		if (!read_operand(t, i))
			return false;
	}
	return true;
}

/* constant(...): a number is kept, arrays are not. */
static bool read_constant(struct text *t, struct hlo_instruction *i)
{
	enum dtype type = i->shape.dtype;
	bool integer = !i->shape.rank && (type == DTYPE_S32 || type == DTYPE_S64 ||
						 type == DTYPE_U32 || type == DTYPE_U64);
	while (!t->s.why && scan_peek(&t->s) != ')' && t->s.at < t->s.text.len) {
		struct str literal = str_trim(scan_value(&t->s));
		if (integer)
			i->has_value = str_to_i64(literal, &i->value);
		if (scan_peek(&t->s) == ']' || scan_peek(&t->s) == '}')
			break;
		scan_take(&t->s, STR(","));
		scan_space(&t->s);
	}
	return scan_expect(&t->s, STR(")"), "expected ')' behind the constant");
}

static bool read_arguments(struct text *t, struct hlo_instruction *i)
{
	if (i->op == HLO_PARAMETER)
		return scan_i64(&t->s, &i->parameter_number) &&
		       scan_expect(&t->s, STR(")"), "expected ')' behind the parameter's number");
	return i->op == HLO_CONSTANT ? read_constant(t, i) : read_operands(t, i);
}

/* ---- instructions ---------------------------------------------------------------------------- */

bool text_instruction(struct text *t, struct hlo_instruction *i)
{
	ptrdiff_t from = t->s.at;
	i->name = scan_name(&t->s);
	scan_blanks(&t->s);
	if (!i->name.len || !scan_take(&t->s, STR("="))) { /* which a lone one may lack */
		if (!t->alone)
			return scan_fail_at(
				&t->s, from, "expected an instruction: name = shape opcode(");
		t->s.at = from;
		i->name = MISSING;
	}
	scan_blanks(&t->s);
	if (!read_type(t, &i->shape))
		return false;
	scan_blanks(&t->s);
	from = t->s.at;
	i->opcode = scan_name(&t->s);
	i->op = opcode_find(i->opcode);
	if (!i->opcode.len)
		return scan_fail_at(&t->s, from, "expected an opcode, such as add(");
	if (!scan_expect(&t->s, STR("("), "expected '(' and the operands"))
		return false;
	i->feature_group_count = i->batch_group_count = 1;
	if (!read_arguments(t, i) || !scan_attributes(&t->s, i))
		return false;
	instruction_bound(i);
	return true;
}

struct hlo_instruction *text_push(struct text *t)
{
	struct hlo_module *m = t->m;
	if (m->instruction_count == HLO_MAX_INSTRUCTIONS) {
		scan_fail(&t->s, "the module has more instructions than are read: 8388608");
		return NULL;
	}
	struct hlo_instruction *i =
		arena_push(t->s.keep, m->instructions, m->instruction_count, t->instruction_cap);
	i->id = m->instruction_count;
	return i;
}

struct hlo_instruction *text_parameter(
	struct text *t, struct str name, const struct shape *shape, int64_t number)
{
	struct hlo_instruction *i = text_push(t);
	if (!i)
		return NULL;
	i->name = name;
	i->opcode = STR("parameter");
	i->op = HLO_PARAMETER;
	i->shape = *shape;
	i->parameter_number = number;
	i->feature_group_count = i->batch_group_count = 1;
	return i;
}

static bool add_instruction(struct text *t, ptrdiff_t computation)
{
	struct hlo_module *m = t->m;
	if (scan_take(&t->s, STR("ROOT ")))
		t->root = m->instruction_count;
	scan_blanks(&t->s);
	struct hlo_instruction *i = text_push(t);
	if (!i)
		return false;
	i->computation = computation;
	if (!text_instruction(t, i))
		return false;
	if (i->op == HLO_OP_UNKNOWN)
		i->op = text_sugar_op(i->opcode);
	return true;
}

/* ---- names to indices ------------------------------------------------------------------------ */

struct str text_name_at(const struct text *t, ptrdiff_t at)
{
	struct scan s = { .text = t->s.text, .at = at };
	return scan_name(&s);
}

/* Where a name that was read stands in the text. */
static ptrdiff_t offset_of(const struct text *t, struct str name)
{
	return name.p ? name.p - t->s.text.p : 0;
}

/* Scratch by value: the map of one computation makes room for the next one's. */
static bool resolve_names(struct text *t, const struct hlo_computation *c, struct arena scratch)
{
	struct hlo_instruction *items = &t->m->instructions[c->first];
	struct map names = map_with_room(c->count, &scratch);
	for (ptrdiff_t k = 0; k < c->count; k++)
		if (map_put(&names, items[k].name, (int32_t)k, &scratch) != k)
			return scan_fail_at(&t->s, offset_of(t, items[k].name),
				"another instruction of this computation has the same name");
	for (ptrdiff_t k = 0; k < c->count; k++)
		for (ptrdiff_t o = 0; o < items[k].operand_count; o++) {
			ptrdiff_t at = map_get(&names, text_name_at(t, items[k].operands[o]));
			if (at < 0)
				return scan_fail_at(&t->s, items[k].operands[o],
					"no instruction of this computation has that name");
			items[k].operands[o] = c->first + at;
			items[at].user_count++;
		}
	return true;
}

/* Scratch by value: the map dies here. */
static bool resolve_calls(struct text *t, struct arena scratch)
{
	struct hlo_module *m = t->m;
	struct map names = map_with_room(m->computation_count, &scratch);
	for (ptrdiff_t k = 0; k < m->computation_count; k++) {
		struct str name = m->computations[k].name;
		if (map_put(&names, name, (int32_t)k, &scratch) != k)
			return scan_fail_at(
				&t->s, offset_of(t, name), "another computation has the same name");
	}
	for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
		struct hlo_instruction *i = &m->instructions[k];
		for (ptrdiff_t c = 0; c < i->called_count; c++) {
			ptrdiff_t at = map_get(&names, text_name_at(t, i->called[c]));
			if (at < 0)
				return scan_fail_at(
					&t->s, i->called[c], "no computation has that name");
			i->called[c] = at;
		}
	}
	return true;
}

/* ---- computations ---------------------------------------------------------------------------- */

/* Behind the '{' that ends the header's line. */
static bool read_header(struct text *t, struct hlo_computation *c)
{
	struct scan *s = &t->s;
	ptrdiff_t from = s->at;
	c->name = scan_name(s);
	ptrdiff_t behind = s->at;
	scan_rest_of_line(s);
	if (c->name.len && str_ends(str_trim(scan_since(s, behind)), STR("{")))
		return true;
	return scan_fail_at(s, from,
		"expected HloModule, a table, or a computation: name (parameters) -> shape {");
}

static bool read_instructions(struct text *t, ptrdiff_t computation)
{
	struct scan *s = &t->s;
	for (scan_space(s); !scan_take(s, STR("}")); scan_space(s)) {
		if (s->at >= s->text.len)
			return scan_fail(s, "the computation does not end: the text is cut, or a "
					    "'}' is missing");
		if (s->why || !add_instruction(t, computation))
			return false;
		scan_blanks(s);
		if (scan_peek(s) != '\n' && scan_peek(s) != '}' && s->at < s->text.len)
			return scan_fail(
				s, "expected ',' and an attribute, or the end of the line");
	}
	return true;
}

static bool read_computation(struct text *t)
{
	struct hlo_module *m = t->m;
	bool entry = scan_take(&t->s, STR("ENTRY "));
	struct hlo_computation c = { .first = m->instruction_count };
	scan_blanks(&t->s);
	if (!read_header(t, &c))
		return false;
	if (entry)
		m->entry = m->computation_count;
	c.id = m->computation_count + 1;
	t->root = -1;
	if (!read_instructions(t, m->computation_count))
		return false;
	scan_rest_of_line(&t->s); /* execution_thread="..." */
	c.count = m->instruction_count - c.first;
	c.root = t->root < 0 && c.count ? m->instruction_count - 1 : t->root;
	*arena_push(t->s.keep, m->computations, m->computation_count, t->computation_cap) = c;
	return resolve_names(t, &c, *t->s.keep);
}

/* ---- the module's own attributes and tables -------------------------------------------------- */

/* "{ {0}: (0, {}, may-alias), {1}: (2, {}) }": the number behind each '(' is a parameter. */
static bool aliases(struct scan *s, void *into)
{
	struct hlo_module *m = into;
	struct str rest = scan_value(s);
	for (ptrdiff_t at; (at = str_find_char(rest, '(')) >= 0;) {
		rest = str_from_offset(rest, at + 1);
		struct scan number = { .text = rest };
		int64_t parameter;
		if (scan_i64(&number, &parameter) && m->donated.count < READ_MAX_LIST)
			*READ_PUSH(s->keep, m->donated.items, m->donated.count) = parameter;
	}
	return !s->why;
}

static const struct scan_attr module_rows[] = { { STR_INIT("input_output_alias"), aliases, 0 } };

/* Counts that are 1 are not printed. */
static bool read_module_header(struct text *t)
{
	scan_blanks(&t->s);
	t->m->name = scan_name(&t->s);
	t->m->replica_count = t->m->partition_count = 1;
	return scan_list(&t->s, module_rows, 1, &devices_table, t->m);
}

static bool read_row(struct text *t, const struct read_rule *table)
{
	char *frames = (char *)t->m->frames;
	void *into = frames + table->offset;
	if (table->kind == READ_EACH)
		return scan_pairs(&t->s, table->table,
			read_push(t->s.keep, into, (void *)(frames + table->count),
				(ptrdiff_t)table->size));
	struct read_strs *names = into;
	*READ_PUSH(t->s.keep, names->items, names->count) = scan_string(&t->s);
	return !t->s.why;
}

/* The table whose heading fills the line at the cursor, which is left behind it; NULL: none. */
static const struct read_rule *table_here(struct text *t)
{
	struct scan look = t->s;
	const struct read_rule *table = read_named(&frames_table, scan_name(&look));
	scan_blanks(&look);
	if (!table || scan_peek(&look) != '\n')
		return NULL;
	t->s.at = look.at;
	return table;
}

/* Rows are numbered from 1 without gaps, so that a row's number is its place. */
static bool read_table(struct text *t, const struct read_rule *table)
{
	int64_t expected = 1, number;
	for (scan_space(&t->s); scan_peek(&t->s) >= '0' && scan_peek(&t->s) <= '9';
		scan_space(&t->s)) {
		ptrdiff_t at = t->s.at;
		if (!scan_i64(&t->s, &number))
			return false;
		if (number != expected++ || number > READ_MAX_LIST)
			return scan_fail_at(&t->s, at, "rows are numbered from 1, in order");
		scan_blanks(&t->s);
		if (!read_row(t, table))
			return false;
	}
	return !t->s.why;
}

/*
 * Parents are ids in some dumps and ids + 1 in others.  A frame comes after its parent, so the
 * first one has no parent: what it names instead is the difference.
 */
static void place_sources(struct hlo_module *m)
{
	struct hlo_frames *f = m->frames;
	bool one_up = f->frame_count && f->frames[0].parent == 1;
	for (ptrdiff_t i = 0; one_up && i < f->frame_count; i++)
		f->frames[i].parent--;
	for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
		struct hlo_instruction *i = &m->instructions[k];
		if (i->stack_frame && !i->source.file.len)
			i->source = frames_source(f, i->stack_frame);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Texts that lie beside a program's, or are called as one, by how they begin. */
static const struct {
	struct str begins;
	const char *why;
} others[] = {
#define NOT_COMPILED                                                                               \
	"MLIR, such as StableHLO: a program that is not compiled yet; give what XLA makes of it "  \
	"(compiled.as_text() of JAX, or *after_optimizations.txt of XLA_FLAGS=--xla_dump_to=DIR)"
#define NO_PROGRAM                                                                                 \
	"a program's memory, without its instructions; give the *after_optimizations.txt beside "  \
	"it"
	{ STR_INIT("module @"), NOT_COMPILED },
	{ STR_INIT("module attributes"), NOT_COMPILED },
	{ STR_INIT("#loc"), NOT_COMPILED },
	{ STR_INIT("BufferAssignment:"), NO_PROGRAM },
	{ STR_INIT("Total bytes used"), NO_PROGRAM },
};

static const char *other_text(struct str text)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(others); i++)
		if (str_starts(text, others[i].begins))
			return others[i].why;
	return NULL;
}

static bool read_items(struct text *t)
{
	t->m->entry = -1;
	for (scan_space(&t->s); t->s.at < t->s.text.len; scan_space(&t->s)) {
		const struct read_rule *table = t->s.why ? NULL : table_here(t);
		bool ok = table				       ? read_table(t, table)
			  : scan_take(&t->s, STR("HloModule")) ? read_module_header(t)
							       : read_computation(t);
		if (!ok)
			return false;
	}
	if (!t->m->computation_count)
		return scan_fail(&t->s, "the text holds no HLO computation");
	if (t->m->entry < 0 && t->m->name.len)
		return scan_fail(&t->s, "the module is cut: it has no ENTRY computation");
	if (t->m->entry < 0) /* computations that a person wrote down */
		t->m->entry = t->m->computation_count - 1; /* callees come first */
	if (!resolve_calls(t, *t->s.keep))
		return false;
	if (t->m->computations[t->m->entry].root < 0)
		return scan_fail(&t->s, "the ENTRY computation has no instructions");
	return text_desugar(t);
}

void text_begin(struct text *t, struct str text, struct arena *keep)
{
	*t = (struct text){ .s = { .text = text, .keep = keep } };
	t->m = arena_make(keep, struct hlo_module, 1);
	t->m->frames = arena_make(keep, struct hlo_frames, 1);
	t->cache = arena_make(keep, struct shape_cache, 1);
}

struct hlo_module *hlo_text_parse(
	struct str file, struct str text, struct arena *keep, struct diag *err)
{
	struct text t;
	const char *other = other_text(text);
	if (other) {
		diag_set(err, DIAG_HLO, "%.*s: %s", STR_ARG(file), other);
		return NULL;
	}
	text_begin(&t, text, keep);
	/* Room for all at once: a line that holds one has a " = ", and few others do. */
	struct str rest = text, line;
	for (bool more = true; more && t.instruction_cap < HLO_MAX_INSTRUCTIONS;) {
		more = str_cut(rest, '\n', &line, &rest);
		t.instruction_cap += str_contains(line, STR(" = "));
	}
	t.m->instructions = arena_make(keep, struct hlo_instruction, t.instruction_cap);
	if (!read_items(&t)) {
		scan_tell(&t.s, file, err);
		return NULL;
	}
	place_sources(t.m);
	return module_finish(t.m, keep, err) ? t.m : NULL;
}
