/* Ops that changed, in words.  See op_change.h. */
#include "report/op_change.h"

#include <math.h>

#include "base/text.h"
#include "report/prose.h"

static struct str cut(struct str text, enum change_length length, struct arena *keep)
{
	struct str clean = text_clean(keep, text);
	return length == CHANGE_WHOLE ? clean : text_brief(keep, clean);
}

struct str change_name(const struct changes_row *c, enum change_length length, struct arena *keep)
{
	return cut(c->name, length, keep);
}

struct str change_place(const struct changes_row *op, enum change_length length, struct arena *keep)
{
	bool users = op->user_file.len > 0;
	struct str file = text_clean(keep, users ? op->user_file : op->source_file);
	double line = users ? op->user_line : op->source_line;
	if (length == CHANGE_BRIEF)
		file = path_end(file);
	if (!file.len)
		return cut(op->scope, length, keep);
	return line >= 1 ? arena_fmt(keep, "%.*s:%.0f", STR_ARG(file), line) : file;
}

static struct str times_of(const struct changes_row *c, struct arena *keep)
{
	struct str head = time_text(keep, c->head_s), base = time_text(keep, c->base_s);
	if (isnan(c->base_s))
		return head;
	if (isnan(c->head_s))
		return arena_fmt(keep, "%.*s before", STR_ARG(base));
	if (c->head_per_step < c->base_per_step || c->head_per_step > c->base_per_step)
		return arena_fmt(keep, "%.*s, %.*s before; %.*s time%s instead of %.*s",
			STR_ARG(head), STR_ARG(base),
			STR_ARG(unit_text(keep, c->head_per_step, UNIT_COUNT)),
			c->head_per_step == 1 ? "" : "s",
			STR_ARG(unit_text(keep, c->base_per_step, UNIT_COUNT)));
	double factor = c->head_s / c->base_s;
	if (factor >= 10) /* a percentage would be a riddle */
		return arena_fmt(keep, "%.*s, %.*s before (%.3g times)", STR_ARG(head),
			STR_ARG(base), factor);
	return arena_fmt(keep, "%.*s, %.*s before (%+.0f%%)", STR_ARG(head), STR_ARG(base),
		100 * (factor - 1));
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

struct str change_sentence(
	const struct changes_row *c, enum change_length length, struct arena *keep)
{
	struct out *o = out_memory(keep);
	bool is_known = op_kind_find(c->kind) != KIND_UNKNOWN;
	out_fmt(o, "%s%.*s", is_known ? "" : "kind ", STR_ARG(text_clean(keep, c->kind)));
	put_name(o, "", c->shape, length, keep);
	put_others(o, c->head_ops);
	if (!str_eq(c->shape, c->base_shape))
		put_name(o, ", was", c->base_shape, length, keep);
	put_name(o, ", before", c->feeds, length, keep);
	put_name(o, ", in place of", c->instead_of, length, keep);
	put_others(o, c->base_ops);
	put_name(o, ", into", c->pieces, length, keep);
	out_fmt(o, "; %.*s", STR_ARG(times_of(c, keep)));
	return out_text(o);
}

int kinds_changed(const struct op_diff *d)
{
	int n = 0;
	while (n < d->kind_count && fabs(d->kinds[n].head_s - d->kinds[n].base_s) >=
					    0.005 * fmax(d->base_ops_s, d->head_ops_s))
		n++;
	return n;
}
