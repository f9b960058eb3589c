/* What the texts of ranges say, and which ranges a launch lies in.  See nsys.h. */
#include <assert.h>

#include "base/stats.h"
#include "profile/nsys.h"

/* Executions of thunks: a capture of some minutes; 40 bytes each. */
#define RANGES_MAX (8 << 20)
/* Ranges on one thread, each inside the one before: XLA nests less than ten. */
enum { DEPTH_MAX = 64 };
/* Longer ones are cut; XLA's have some hundred bytes. */
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
		return MISSING;
	struct str value = str_from_offset(list, at + key.len);
	for (ptrdiff_t i = 0; i < COUNT_OF(keys); i++) {
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

/* What people call a step, in front of its number. */
static const struct str step_words[] = { STR_INIT("train_step"), STR_INIT("training_step"),
	STR_INIT("train step"), STR_INIT("training step"), STR_INIT("profilerstep"),
	STR_INIT("iteration"), STR_INIT("iter"), STR_INIT("step"), STR_INIT("train") };

static bool is_number(struct str s)
{
	uint64_t n;
	return s.len && is_digit(s.p[0]) && str_to_u64(s, &n) && n <= INT64_MAX;
}

/* Takes " 12" off "step 12", "#12" off "ProfilerStep#12"; missing when no number is there. */
static struct str number_cut(struct str *name)
{
	ptrdiff_t end = name->len;
	while (end > 0 && is_digit(name->p[end - 1]))
		end--;
	struct str number = str_from_offset(*name, end);
	if (!is_number(number))
		return MISSING;
	while (end > 0 && str_find_char(STR(" _-:=#"), name->p[end - 1]) >= 0)
		end--;
	*name = str_head(*name, end);
	return number;
}

/* "train#step_num=12,...#", as a TraceMe writes it: JAX calls it a step, whatever its name is. */
static bool trace_me_cut(struct str *name, struct str *number)
{
	struct str rest, tail, key = STR("#step_num=");
	ptrdiff_t at = str_find(*name, key);
	if (at < 0)
		return false;
	str_cut(str_from_offset(*name, at + key.len), '#', &rest, &tail);
	str_cut(rest, ',', &rest, &tail);
	*name = str_head(*name, at);
	*number = is_number(rest) ? rest : MISSING;
	return number->p;
}

/* Is it a step: by the user's word, or by its own?  XLA's annotations are none. */
static void step_read(struct nsys_ranges *r, struct nsys_note *n)
{
	struct str name = n->text, number = { NULL, 0 };
	bool is_step = trace_me_cut(&name, &number);
	if (!number.p)
		number = number_cut(&name);
	for (ptrdiff_t i = 0; i < COUNT_OF(step_words); i++)
		is_step |= number.p && str_eq_nocase(name, step_words[i]);
	n->is_wanted = r->wanted.p && (str_glob(n->text, r->wanted) || str_glob(name, r->wanted));
	r->any_wanted |= n->is_wanted;
	if (!is_step && !n->is_wanted)
		return;
	n->kind = NOTE_STEP;
	n->number = number;
}

/*
 * "nccl:_all_gather_base" is an all-gather, as HLO spells it: NCCL's kernel may have another name,
 * SendRecv of an all-to-all.
 */
static void comms_read(struct nsys_note *n, struct arena *keep)
{
	struct str prefix = STR("nccl:");
	if (!str_starts(n->text, prefix))
		return;
	struct str name = str_from_offset(n->text, prefix.len);
	if (str_starts(name, STR("_")))
		name = str_from_offset(name, 1);
	char *word = arena_make(keep, char, name.len);
	for (ptrdiff_t i = 0; i < name.len; i++)
		word[i] = name.p[i] == '_' ? '-' : name.p[i];
	n->kind = NOTE_COMMS;
	n->op = arena_fmt(keep, "nccl:%.*s", (int)name.len, word);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* "aten::mm, op_id = 314286": PyTorch numbers its ranges, and no two were alike. */
static struct str without_number(struct str text)
{
	static const struct str marks[] = { STR_INIT(", op_id = "), STR_INIT(", seq = ") };
	for (ptrdiff_t i = 0; i < COUNT_OF(marks); i++) {
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
	if (n->kind == NOTE_OTHER && !n->module.p)
		step_read(r, n);
	if (n->kind == NOTE_OTHER)
		comms_read(n, r->keep);
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
	int order = order_integers(x->tid, y->tid);
	order = order ? order : order_integers(x->start_ns, y->start_ns);
	order = order ? order : order_integers(y->end_ns, x->end_ns);
	return order ? order : order_integers(x->note, y->note);
}

/* Where the ranges that the user names are there, no other is a step. */
static void steps_choose(struct nsys_ranges *r)
{
	for (ptrdiff_t i = 0; r->any_wanted && i < r->note_count; i++)
		if (r->notes[i].kind == NOTE_STEP && !r->notes[i].is_wanted)
			r->notes[i].kind = NOTE_OTHER;
}

/* Ranges of a thread nest; of those that do not, the later one counts as inside. */
void nsys_ranges_sort(struct nsys_ranges *r)
{
	int32_t open[DEPTH_MAX];
	int depth = 0;
	steps_choose(r);
	sort_by(r->items, r->count, by_place);
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
	const struct nsys_range *x = r->items;
	ptrdiff_t next;
	FIND_FIRST(next, 0, r->count,
		x[next].tid > tid || (x[next].tid == tid && x[next].start_ns > at_ns));
	int32_t i = (int32_t)next - 1;
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
