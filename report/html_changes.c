/* Ops that changed against a baseline or another run, in words.  See html.h. */
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/diff.h"
#include "report/html.h"
#include "report/prose.h"

/* Names and shapes as they are, however long, or cut by text_brief. */
enum change_length { CHANGE_BRIEF, CHANGE_WHOLE };

static struct str cut(struct str text, enum change_length length, struct arena *keep)
{
	struct str clean = text_clean(keep, text);
	return length == CHANGE_WHOLE ? clean : text_brief(keep, clean);
}

/* Where in Python, never cut, else the scope; may be empty. */
static struct str place_of(
	const struct changes_row *op, enum change_length length, struct arena *keep)
{
	bool users = op->user_file.len > 0;
	struct str file = text_clean(keep, users ? op->user_file : op->source_file);
	double line = users ? op->user_line : op->source_line;
	if (length == CHANGE_BRIEF)
		file = path_end(file);
	if (!file.len && op->scope.len)
		return arena_fmt(keep, "in %.*s", STR_ARG(cut(op->scope, length, keep)));
	return place_text(file, line, keep);
}

/* Beyond it an op runs more often or less; one execution in some steps may be missing. */
#define OFTEN 0.05

static struct str runs_text(double per_step, struct arena *keep)
{
	return arena_fmt(keep, "%.*s run%s%s", STR_ARG(unit_text(keep, per_step, UNIT_COUNT)),
		per_step == 1 ? "" : "s", per_step == floor(per_step) ? "" : " on average");
}

static struct str times_of(const struct changes_row *c, struct arena *keep)
{
	struct str head = time_text(keep, c->head_s), base = time_text(keep, c->base_s);
	if (isnan(c->base_s))
		return head;
	if (isnan(c->head_s))
		return arena_fmt(keep, "was %.*s", STR_ARG(base));
	if (fabs(c->head_per_step / c->base_per_step - 1) > OFTEN)
		return arena_fmt(keep, "%.*s in %.*s, was %.*s in %.*s", STR_ARG(head),
			STR_ARG(runs_text(c->head_per_step, keep)), STR_ARG(base),
			STR_ARG(runs_text(c->base_per_step, keep)));
	double factor = c->head_s / c->base_s;
	if (factor >= MANY_TIMES)
		return arena_fmt(
			keep, "%.*s, was %.*s (%.3g times)", STR_ARG(head), STR_ARG(base), factor);
	return arena_fmt(
		keep, "%.*s, was %.*s (%+.0f%%)", STR_ARG(head), STR_ARG(base), 100 * (factor - 1));
}

/* One of a few words before a name or a shape that may be missing. */
static void put_name(struct out *o, const char *before, struct str name, enum change_length length,
	struct arena *keep)
{
	if (name.len)
		out_fmt(o, "%s %.*s", before, STR_ARG(cut(name, length, keep)));
}

/* NaN where it is no matter of several. */
static void put_others(struct out *o, double ops)
{
	if (ops > 1)
		out_fmt(o, " and %.0f other%s", ops - 1, ops > 2 ? "s" : "");
}

/* "copy bf16[8,128], feeding dot.3, in place of fusion.2; 1.2 ms per step" */
static struct str sentence_of(
	const struct changes_row *c, enum change_length length, struct arena *keep)
{
	struct out *o = out_memory(keep);
	bool is_known = op_kind_find(c->kind) != KIND_UNKNOWN;
	out_fmt(o, "%s%.*s", is_known ? "" : "kind ", STR_ARG(text_clean(keep, c->kind)));
	put_name(o, "", c->shape, length, keep);
	put_others(o, c->head_ops);
	if (!str_eq(c->shape, c->base_shape))
		put_name(o, ", was", c->base_shape, length, keep);
	put_name(o, ", feeding", c->feeds, length, keep);
	if (c->base_ops > 1 || !str_eq(c->instead_of, c->name)) {
		put_name(o, ", in place of", c->instead_of, length, keep);
		put_others(o, c->base_ops);
	}
	put_name(o, ", into", c->pieces, length, keep);
	out_fmt(o, "; %.*s", STR_ARG(times_of(c, keep)));
	return out_text(o);
}

/* All of it, where the text shown has been cut. */
static struct str whole_of(struct str shown, struct str whole)
{
	return str_eq(shown, whole) ? MISSING : whole;
}

struct html_change html_change_of(const struct changes_row *c, struct arena *keep)
{
	struct html_change ret = { .time = signed_time_text(keep, c->lost_s),
		.value = arena_fmt(keep, "%.9g", c->lost_s),
		.tone = c->lost_s > 0 ? STR("bad") : STR("good"),
		.change = c->change,
		.name = cut(c->name, CHANGE_BRIEF, keep),
		.text = sentence_of(c, CHANGE_BRIEF, keep),
		.place = place_of(c, CHANGE_BRIEF, keep) };
	ret.name_whole = whole_of(ret.name, cut(c->name, CHANGE_WHOLE, keep));
	ret.text_whole = whole_of(ret.text, sentence_of(c, CHANGE_WHOLE, keep));
	ret.place_whole = whole_of(ret.place, place_of(c, CHANGE_WHOLE, keep));
	return ret;
}

/* Rows of a report come by size, those of a diff by loss. */
static int by_loss(const void *a, const void *b)
{
	const struct changes_row *x = *(const struct changes_row *const *)a,
				 *y = *(const struct changes_row *const *)b;
	int order = order_numbers(y->lost_s, x->lost_s);
	return order ? order : str_cmp(x->key, y->key);
}

static int by_gain(const void *a, const void *b)
{
	return -by_loss(a, b);
}

/* Of the largest change; what is less is counted, and not shown. */
#define TRIFLE 1e-3

struct template_list html_changes(
	const struct changes_row *rows, ptrdiff_t count, ptrdiff_t most, struct arena *keep)
{
	static const struct str titles[] = { STR_INIT("won"), STR_INIT("lost") };
	struct html_changes *lists = arena_make(keep, struct html_changes, 2);
	ptrdiff_t n = 0;
	double most_s = 0;
	for (ptrdiff_t i = 0; i < count; i++)
		most_s = fmax(most_s, rows[i].size_s);
	for (int losses = 1; losses >= 0; losses--) {
		const struct changes_row **picked =
			arena_make(keep, const struct changes_row *, count);
		ptrdiff_t all = 0;
		for (ptrdiff_t i = 0; i < count; i++)
			if (losses ? rows[i].lost_s > 0 : rows[i].lost_s < 0)
				picked[all++] = &rows[i];
		if (!all)
			continue;
		sort_by(picked, all, losses ? by_loss : by_gain);
		ptrdiff_t shown = most && all > most ? most : all;
		while (shown > 1 && picked[shown - 1]->size_s < TRIFLE * most_s)
			shown--;
		struct html_change *ops = arena_make(keep, struct html_change, shown);
		struct html_changes *ret = &lists[n++];
		*ret = (struct html_changes){ .title = titles[losses], .rows = LIST(ops, shown) };
		for (ptrdiff_t i = 0; i < shown; i++) {
			ops[i] = html_change_of(picked[i], keep);
			ret->has_places |= ops[i].place.len > 0;
		}
		if (all > shown)
			ret->more = arena_fmt(keep, "and %td more, of less time each", all - shown);
	}
	return LIST(lists, n);
}
