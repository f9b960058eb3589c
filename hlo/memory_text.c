/*
 * What XLA dumps about a program's memory beside its HLO, as text.
 *
 *	BufferAssignment:
 *	allocation 0: size 1024, parameter 0, shape |f32[8,32]| at ShapeIndex {}:
 *	 value: <14 param @0> (size=1024,offset=0): f32[8,32]{1,0}
 *	allocation 1: size 2560, color 1, preallocated-temp:
 *	...
 *	(an empty line, and what else the compiler has to say)
 *
 * and the report's totals, one for each memory space or, of older compilers, one of all:
 *
 *	Memory Space: default (color=0)
 *	Total bytes: 3620 (3.5KiB)
 *
 * Everything else in them is passed over.
 */
#include "base/saturate.h"
#include "hlo/assignment.h"
#include "hlo/text_inside.h"

/* ---- the buffer assignment ------------------------------------------------------------------- */

struct allocation_word {
	struct str text;
	uint32_t offset; /* of a bool in struct allocation */
};

static const struct allocation_word allocation_words[] = {
	{ STR_INIT("parameter "), offsetof(struct allocation, parameter) },
	{ STR_INIT("constant"), offsetof(struct allocation, constant) },
	{ STR_INIT("thread-local"), offsetof(struct allocation, thread_local_) },
	{ STR_INIT("maybe-live-out"), offsetof(struct allocation, live_out) },
};

static bool scan_size(struct scan *s, int64_t *ret)
{
	ptrdiff_t at = s->at;
	if (!scan_i64(s, ret))
		return scan_fail(s, "expected a size in bytes");
	return (*ret >= 0 && *ret <= MAX_BUFFER_BYTES) ||
	       scan_fail_at(s, at, "no memory has that size");
}

/* To the next ", " outside of a shape between bars, or to the line's end. */
static void skip_attribute(struct scan *s)
{
	bool in_shape = false;
	for (; s->at < s->text.len && scan_peek(s) != '\n'; s->at++) {
		if (scan_peek(s) == '|')
			in_shape = !in_shape;
		if (!in_shape && str_starts(str_from_offset(s->text, s->at), STR(", ")))
			return;
	}
}

static bool read_word(struct scan *s, struct allocation *x)
{
	if (scan_take(s, STR("color ")))
		return scan_i64(s, &x->color) || scan_fail(s, "expected a memory space");
	for (ptrdiff_t i = 0; i < COUNT_OF(allocation_words); i++)
		if (scan_take(s, allocation_words[i].text))
			*(bool *)((char *)x + allocation_words[i].offset) = true;
	return true;
}

/* Behind "allocation ". */
static bool read_allocation_line(struct scan *s, struct assignment *a)
{
	struct allocation *x = READ_PUSH(s->keep, a->allocations, a->allocation_count);
	int64_t number;
	x->largest = -1;
	if (!scan_i64(s, &number) || !scan_expect(s, STR(": "), "expected ': size' and bytes"))
		return scan_fail(s, "expected the allocation's number");
	if (scan_take(s, STR("0x"))) /* an address, of older compilers */
		skip_attribute(s);
	scan_take(s, STR(", "));
	if (!scan_expect(s, STR("size "), "expected 'size' and bytes") || !scan_size(s, &x->size))
		return false;
	while (scan_take(s, STR(", "))) {
		if (!read_word(s, x))
			return false;
		skip_attribute(s);
	}
	scan_take(s, STR(":"));
	return !s->why;
}

/* "{1,0}" behind a value's name: which leaf of a tuple. */
static bool read_index(struct scan *s, struct buffer *b)
{
	return scan_peek(s) != '{' || scan_dims(s, &b->index);
}

/* Behind " value: <", as in "14 param{0} @0> (size=1024,offset=0): f32[8,32]". */
static bool read_value_line(struct scan *s, struct assignment *a)
{
	struct buffer *b = READ_PUSH(s->keep, a->buffers, a->buffer_count);
	struct allocation *x = &a->allocations[a->allocation_count - 1];
	ptrdiff_t at = a->buffer_count - 1;
	b->allocation = a->allocation_count - 1;
	if (!scan_i64(s, &b->id) || !scan_take(s, STR(" ")))
		return scan_fail(s, "expected a value's number and name");
	b->name = scan_name(s);
	if (!read_index(s, b))
		return false;
	ptrdiff_t size = str_find(str_from_offset(s->text, s->at), STR("(size="));
	ptrdiff_t end = str_find_char(str_from_offset(s->text, s->at), '\n');
	if (size < 0 || (end >= 0 && size > end))
		return scan_fail(s, "expected '(size=' and bytes in this line");
	s->at += size + STR("(size=").len;
	if (!scan_size(s, &b->size))
		return false;
	b->color = x->color;
	if (x->largest < 0 || b->size > a->buffers[x->largest].size)
		x->largest = at;
	scan_rest_of_line(s);
	return true;
}

static bool read_assignment_line(struct scan *s, struct assignment *a)
{
	if (scan_take(s, STR("allocation ")))
		return read_allocation_line(s, a);
	if (a->allocation_count && scan_take(s, STR(" value: <")))
		return read_value_line(s, a);
	return scan_fail(s, "expected 'allocation' and its number, or one of its values");
}

static bool line_ends(struct scan *s)
{
	scan_take(s, STR("\r"));
	return scan_take(s, STR("\n"));
}

/* The first of the program's fusions and products whose result no allocation holds; NULL: none. */
static const struct hlo_instruction *first_unplaced(
	const struct assignment *a, const struct hlo_module *m)
{
	const struct hlo_computation *c = &m->computations[m->entry];
	struct map placed = map_with_room(a->buffer_count, a->r->keep);

	for (ptrdiff_t i = 0; i < a->buffer_count; i++)
		map_put(&placed, a->buffers[i].name, (int32_t)i, a->r->keep);
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++) {
		const struct hlo_instruction *x = &m->instructions[i];
		if ((x->op == HLO_FUSION || x->op == HLO_DOT || x->op == HLO_CONVOLUTION) &&
			map_get(&placed, x->name) == MAP_NONE)
			return x;
	}
	return NULL;
}

/*
 * The text has no mark at its end, so it may be cut.  A whole one sums up to the total that the
 * report beside it names, and has a value of each op.
 */
static void check_whole(struct scan *s, const struct assignment *a, const struct hlo_module *m)
{
	struct diag err = { .id = DIAG_NONE };
	int64_t total, sum = 0;

	for (ptrdiff_t i = 0; i < a->allocation_count; i++)
		if (a->allocations[i].color == a->space)
			sum = sat_add(sum, a->allocations[i].size);
	if (m->memory_note.text.len && report_total(&m->memory_note, a->space, &total, &err) &&
		sum < total)
		scan_fail(s, "the text is cut: its allocations are less than the memory usage "
			     "report's total");
	else if (!m->partial && m->entry >= 0 && first_unplaced(a, m))
		scan_fail(s, "the text is cut: it holds no value of some ops of the program");
}

bool assignment_of_text(struct assignment *a, const struct hlo_module *m)
{
	const struct hlo_note *note = &m->buffers_note;
	struct scan s = { .text = note->text, .keep = a->r->keep };
	scan_expect(&s, STR("BufferAssignment:"), "expected 'BufferAssignment:'");
	while (!s.why && line_ends(&s) && s.at < s.text.len && scan_peek(&s) != '\n' &&
		scan_peek(&s) != '\r')
		read_assignment_line(&s, a);
	if (!s.why && s.at < s.text.len && scan_peek(&s) != '\n' && scan_peek(&s) != '\r')
		scan_fail(&s, "expected the line to end");
	if (!s.why && !a->allocation_count)
		scan_fail(&s, "expected at least one allocation");
	if (!s.why)
		check_whole(&s, a, m);
	return !s.why || scan_tell(&s, note->file, a->r->err);
}

/* ---- the memory usage report ----------------------------------------------------------------- */

/* Moves behind `word` at the beginning of a line; false when no line begins so. */
static bool find_line(struct scan *s, struct str word)
{
	while (s->at < s->text.len) {
		if (scan_take(s, word))
			return true;
		scan_rest_of_line(s);
		scan_take(s, STR("\n"));
	}
	return false;
}

/* "default (color=0)" */
static bool read_space(struct scan *s, int64_t *ret)
{
	ptrdiff_t end = str_find_char(str_from_offset(s->text, s->at), '\n');
	struct str line = str_head(str_from_offset(s->text, s->at), end < 0 ? 0 : end);
	ptrdiff_t color = str_find(line, STR("(color="));
	if (color < 0)
		return scan_fail(s, "expected the space's '(color=' and number");
	s->at += color + STR("(color=").len;
	return scan_i64(s, ret) || scan_fail(s, "expected a memory space");
}

bool report_total(const struct hlo_note *note, int64_t space, int64_t *ret, struct diag *err)
{
	struct scan s = { .text = note->text };
	int64_t color = -1;
	*ret = -1;
	if (scan_take(&s, STR("Total bytes used: "))) {
		if (!space)
			scan_size(&s, ret);
	} else if (!str_starts(note->text, STR("Memory Space: "))) {
		scan_fail(&s, "expected 'Memory Space:' or 'Total bytes used:'");
	}
	while (!s.why && color != space && find_line(&s, STR("Memory Space: ")))
		if (read_space(&s, &color) && color == space) {
			scan_rest_of_line(&s);
			scan_take(&s, STR("\n"));
			if (scan_expect(&s, STR("Total bytes: "), "expected 'Total bytes:'"))
				scan_size(&s, ret);
		}
	if (s.why)
		return scan_tell(&s, note->file, err);
	return *ret >= 0;
}
