/* What the texts of ranges say, and which ranges a launch lies in.  See nsys.h. */
#include <assert.h>
#include <stdlib.h>

#include "profile/nsys.h"

/* Executions of thunks: a capture of some minutes; 40 bytes each. */
#define RANGES_MAX (8 << 20)
/* Ranges on one thread, each inside the one before: XLA nests less than ten. */
enum { DEPTH_MAX = 64 };
/* Nobody reads longer ones; XLA's have some hundred bytes. */
enum { TEXT_MAX = 4096 };

/* ---- XLA's annotations ----------------------------------------------------------------------- */

/*
 * "XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_f,program_id=7#",
 * "Thunk:#name=layer/dot_general,hlo_op=fusion.3#": the value of a key, up to the next key that we
 * know or the end, since scopes may hold commas.
 */
static const struct str keys[] = { STR_INIT(",hlo_module="), STR_INIT(",program_id="),
	STR_INIT(",hlo_op="), STR_INIT(",unique_hlo_op_id="), STR_INIT(",module=") };

static struct str value_of(struct str list, struct str key)
{
	ptrdiff_t at = str_find(list, key);
	if (at < 0)
		return (struct str){ NULL, 0 };
	struct str value = str_from_offset(list, at + key.len);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ptrdiff_t end = str_find(value, keys[i]);
		if (end >= 0)
			value = str_head(value, end);
	}
	return value;
}

/* "Word:#key=value,key=value#" -> "Word" and ",key=value,key=value" */
static bool annotation_cut(struct str text, struct arena *keep, struct str *word, struct str *list)
{
	str_take(&text, STR("TSL:"));
	ptrdiff_t at = str_find(text, STR(":#"));
	if (at <= 0 || !str_ends(text, STR("#")) || text.len < at + 3)
		return false;
	*word = str_head(text, at);
	*list = str_head(str_from_offset(text, at + 2), text.len - at - 3);
	*list = arena_fmt(keep, ",%.*s", STR_ARG(*list));
	return true;
}

static void annotation_read(struct nsys_note *n, struct str word, struct str list)
{
	n->module = value_of(list, STR(",hlo_module="));
	if (!n->module.p)
		n->module = value_of(list, STR(",module="));
	n->number = value_of(list, STR(",program_id="));
	n->op = value_of(list, STR(",hlo_op="));
	n->name = word;
	if (str_eq(word, STR("XlaModule")) && n->module.len) {
		n->kind = NOTE_MODULE;
		n->scope = value_of(list, STR(",prefix="));
	} else if (str_eq(word, STR("Thunk")) && n->op.len) {
		n->kind = NOTE_THUNK;
		n->scope = value_of(list, STR(",name="));
		n->name = n->op; /* as in a profile of JAX */
	}
}

/* ---- people's steps -------------------------------------------------------------------------- */

/* What people call a step; a number follows. */
static const struct str step_words[] = { STR_INIT("train_step"), STR_INIT("training_step"),
	STR_INIT("train step"), STR_INIT("training step"), STR_INIT("profilerstep"),
	STR_INIT("iteration"), STR_INIT("iter"), STR_INIT("step"), STR_INIT("train") };

static bool is_number(struct str s)
{
	uint64_t n;
	return s.len && s.p[0] >= '0' && s.p[0] <= '9' && str_to_u64(s, &n) && n <= INT64_MAX;
}

/* "step 12", "Iteration_12", "ProfilerStep#12"; "train#step_num=12,...#" of a TraceMe. */
static struct str step_number(struct str text)
{
	ptrdiff_t at = str_find(text, STR("#step_num="));
	if (at >= 0) {
		struct str rest = str_from_offset(text, at + 10), head, tail;
		str_cut(rest, '#', &head, &tail);
		str_cut(head, ',', &head, &tail);
		return is_number(head) ? head : (struct str){ NULL, 0 };
	}
	for (size_t i = 0; i < sizeof(step_words) / sizeof(step_words[0]); i++) {
		struct str rest = str_from_offset(text, step_words[i].len);
		if (!str_eq_nocase(str_head(text, step_words[i].len), step_words[i]))
			continue;
		while (rest.len && str_find_char(STR(" _-:=#"), rest.p[0]) >= 0)
			rest = str_from_offset(rest, 1);
		if (is_number(rest))
			return rest;
	}
	return (struct str){ NULL, 0 };
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* "aten::mm, op_id = 314286": PyTorch numbers its ranges, and no two were alike. */
static struct str without_number(struct str text)
{
	static const struct str marks[] = { STR_INIT(", op_id = "), STR_INIT(", seq = ") };
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		ptrdiff_t at = str_find(text, marks[i]);
		if (at > 0)
			text = str_head(text, at);
	}
	return str_head(text, TEXT_MAX);
}

int32_t nsys_note_of(struct nsys_ranges *r, struct str text)
{
	struct str word, list;
	text = without_number(text);
	int64_t hash = (int64_t)str_hash(text);
	int32_t i = map_get_id(&r->note_of, hash);
	if (i >= 0)
		return i;
	if (r->note_count >= XPLANE_MAX_NAMES)
		return -1;
	map_put_id(&r->note_of, hash, (int32_t)r->note_count, r->keep);
	struct nsys_note *n = arena_push(r->keep, r->notes, r->note_count, r->note_cap);
	n->text = n->name = arena_str(r->keep, text);
	if (annotation_cut(n->text, r->keep, &word, &list))
		annotation_read(n, word, list);
	struct str step = step_number(n->text);
	if (n->kind == NOTE_OTHER && step.p) {
		n->kind = NOTE_STEP;
		n->number = step;
	}
	return (int32_t)r->note_count - 1;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

bool nsys_range_add(struct nsys_ranges *r, struct nsys_range range)
{
	if (r->count >= RANGES_MAX)
		return false;
	range.parent = -1;
	*arena_push(r->keep, r->items, r->count, r->cap) = range;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct nsys_range *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->note > y->note) - (x->note < y->note);
}

/* Ranges of a thread nest; of those that do not, the later one counts as inside. */
void nsys_ranges_sort(struct nsys_ranges *r)
{
	int32_t open[DEPTH_MAX];
	int depth = 0;
	if (r->count > 1)
		qsort(r->items, (size_t)r->count, sizeof(*r->items), by_place);
	for (ptrdiff_t i = 0; i < r->count; i++) {
		struct nsys_range *x = &r->items[i];
		while (depth && (r->items[open[depth - 1]].tid != x->tid ||
					r->items[open[depth - 1]].end_ns <= x->start_ns))
			depth--;
		x->parent = depth ? open[depth - 1] : -1;
		if (depth < DEPTH_MAX)
			open[depth++] = (int32_t)i;
	}
}

int32_t nsys_range_at(const struct nsys_ranges *r, int64_t tid, int64_t at_ns)
{
	ptrdiff_t from = 0, to = r->count;
	while (from < to) {
		ptrdiff_t middle = from + (to - from) / 2;
		const struct nsys_range *x = &r->items[middle];
		if (x->tid < tid || (x->tid == tid && x->start_ns <= at_ns))
			from = middle + 1;
		else
			to = middle;
	}
	int32_t i = (int32_t)from - 1;
	while (i >= 0 && r->items[i].tid == tid && r->items[i].end_ns < at_ns)
		i = r->items[i].parent;
	return i >= 0 && r->items[i].tid == tid ? i : -1;
}

const struct nsys_note *nsys_note_at(const struct nsys_ranges *r, int32_t range)
{
	assert(range >= 0 && range < r->count);
	return &r->notes[r->items[range].note];
}

int32_t nsys_range_inner(const struct nsys_ranges *r, int32_t range, enum note_kind kind)
{
	while (range >= 0 && nsys_note_at(r, range)->kind != kind)
		range = r->items[range].parent;
	return range;
}

int32_t nsys_range_outer(const struct nsys_ranges *r, int32_t range, enum note_kind kind)
{
	int32_t found = -1;
	for (; range >= 0; range = r->items[range].parent)
		if (nsys_note_at(r, range)->kind == kind)
			found = range;
	return found;
}
