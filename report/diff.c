/* The diff of two runs, written.  See diff.h. */
#include "report/diff.h"

#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "report/alert.h"
#include "report/delta.h"
#include "report/md.h"
#include "report/prose.h"

/* A loop's tuple would fill a page. */
enum { SHAPE_BYTES = 60 };

/* ---- what is said of an op ------------------------------------------------------------------ */

static const struct ops_row *row_of(const struct op_change *c)
{
	return c->head ? c->head : c->base;
}

static struct str place_of(const struct ops_row *op, struct arena *keep)
{
	bool users = op->user_file.len > 0;
	struct str file = text_clean(keep, users ? op->user_file : op->source_file);
	double line = users ? op->user_line : op->source_line;
	if (!file.len)
		return text_clean(keep, op->scope);
	return line >= 1 ? arena_fmt(keep, "%.*s:%.0f", STR_ARG(file), line) : file;
}

/* "+145%", and "12 times" where a percentage would be a riddle. */
static struct str factor_text(double factor, struct arena *keep)
{
	if (factor >= 10)
		return arena_fmt(keep, "%.3g times", factor);
	return arena_fmt(keep, "%+.0f%%", 100 * (factor - 1));
}

static struct str times_of(const struct op_change *c, struct arena *keep)
{
	struct str head = time_text(keep, c->head_s), base = time_text(keep, c->base_s);
	if (!c->base)
		return arena_fmt(keep, "%.*s per step", STR_ARG(head));
	if (!c->head)
		return arena_fmt(keep, "%.*s per step before", STR_ARG(base));
	if (c->head_count != c->base_count)
		return arena_fmt(keep, "%.*s per step, %.*s before; %.*s times instead of %.*s",
			STR_ARG(head), STR_ARG(base),
			STR_ARG(unit_text(keep, c->head_count, UNIT_COUNT)),
			STR_ARG(unit_text(keep, c->base_count, UNIT_COUNT)));
	return arena_fmt(keep, "%.*s per step, %.*s before (%.*s)", STR_ARG(head), STR_ARG(base),
		STR_ARG(factor_text(c->head_s / c->base_s, keep)));
}

/* "copy bf16[8,128], before dot.3, in place of fusion.2; 1.2 ms per step" */
static struct str sentence_of(const struct op_change *c, struct arena *keep)
{
	const struct ops_row *op = row_of(c);
	struct out *o = out_memory(keep);
	out_fmt(o, "%.*s", STR_ARG(text_clean(keep, op->kind)));
	if (op->shape.len)
		out_fmt(o, " %.*s",
			STR_ARG(text_cut(keep, text_clean(keep, op->shape), SHAPE_BYTES)));
	if (c->feeds.len)
		out_fmt(o, ", before %.*s", STR_ARG(text_clean(keep, c->feeds)));
	if (c->instead)
		out_fmt(o, ", in place of %.*s", STR_ARG(text_clean(keep, c->instead->name)));
	out_fmt(o, "; %.*s", STR_ARG(times_of(c, keep)));
	return out_text(o);
}

/* ---- which are listed ----------------------------------------------------------------------- */

struct picked {
	const struct op_change **items;
	ptrdiff_t count, left_out;
};

/* Losses from the largest on, or gains from the largest on; nothing that is the same. */
static struct picked pick(const struct diff_report *d, bool losses, struct arena *keep)
{
	struct picked p = { arena_make(keep, const struct op_change *, d->ops->count + 1), 0, 0 };
	for (ptrdiff_t i = 0; i < d->ops->count; i++) {
		const struct op_change *c = &d->ops->items[losses ? i : d->ops->count - 1 - i];
		if (c->change == CHANGE_SAME || (c->lost_s > 0) != losses)
			continue;
		if (d->most && p.count == d->most)
			p.left_out++;
		else
			p.items[p.count++] = c;
	}
	return p;
}

static struct str count_line(const struct op_diff *d, struct arena *keep)
{
	return arena_fmt(keep, "%td new, %td gone, %td slower, %td faster, %td the same",
		d->counts[CHANGE_NEW], d->counts[CHANGE_GONE], d->counts[CHANGE_SLOWER],
		d->counts[CHANGE_FASTER], d->counts[CHANGE_SAME]);
}

static struct str signed_time(struct arena *keep, double seconds)
{
	return arena_fmt(
		keep, "%s%.*s", seconds < 0 ? "-" : "+", STR_ARG(time_text(keep, fabs(seconds))));
}

static struct str total_line(const struct op_diff *d, struct arena *keep)
{
	return arena_fmt(keep, "all ops together %s %.*s per step, what is hidden counted too",
		d->lost_s < 0 ? "won" : "lost", STR_ARG(time_text(keep, fabs(d->lost_s))));
}

/* ---- text ----------------------------------------------------------------------------------- */

enum { TEXT_WIDTH = 80, LINE_INDENT = 4, TEXT_INDENT = 19 };

static void put_ops(struct page *p, const char *head, const struct picked *picked)
{
	if (!picked->count)
		return;
	page_break(p);
	page_tint(p, TINT_BOLD, str_from(head));
	for (ptrdiff_t i = 0; i < picked->count; i++) {
		const struct op_change *c = picked->items[i];
		page_line(p);
		page_pad(p, 2);
		page_put(p, signed_time(p->keep, c->lost_s));
		page_pad(p, 12);
		page_put(p, change_name(c->change));
		page_pad(p, TEXT_INDENT);
		page_fmt(p, TEXT_INDENT, "%.*s: %.*s",
			STR_ARG(text_clean(p->keep, row_of(c)->name)),
			STR_ARG(sentence_of(c, p->keep)));
		struct str place = place_of(row_of(c), p->keep);
		if (place.len) {
			page_line(p);
			page_pad(p, TEXT_INDENT);
			page_put(p, place);
		}
	}
	if (picked->left_out) {
		page_line(p);
		page_fmt(p, 2, "  and %td more, of less time each", picked->left_out);
	}
	page_line(p);
}

static void put_line(struct page *p, struct str line)
{
	page_line(p);
	page_pad(p, LINE_INDENT);
	page_wrap(p, LINE_INDENT, line);
}

void diff_text(const struct diff_report *d, struct arena *keep, struct out *out)
{
	struct page p = { .out = out, .keep = keep, .width = TEXT_WIDTH };
	struct picked lost = pick(d, true, keep), won = pick(d, false, keep);
	struct str *lines;
	ptrdiff_t count = delta_lines(d->report, keep, &lines);
	page_fmt(&p, LINE_INDENT, "%.*s, against %.*s", STR_ARG(text_clean(keep, d->head)),
		STR_ARG(text_clean(keep, d->base)));
	for (ptrdiff_t i = 0; i < count; i++)
		put_line(&p, lines[i]);
	put_line(&p, total_line(d->ops, keep));
	page_line(&p);
	put_ops(&p, "lost", &lost);
	put_ops(&p, "won", &won);
	page_break(&p);
	page_fmt(&p, 0, "ops: %.*s", STR_ARG(count_line(d->ops, keep)));
	page_line(&p);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_clean(cJSON *o, const char *key, struct str s, struct arena *keep)
{
	json_add_str(o, key, text_clean(keep, s));
}

static void add_change(cJSON *list, const struct op_change *c, struct arena *keep)
{
	const struct ops_row *op = row_of(c);
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToArray(list, o);
	json_add_str(o, "change", change_name(c->change));
	add_clean(o, "key", op->key, keep);
	add_clean(o, "name", op->name, keep);
	add_clean(o, "kind", op->kind, keep);
	add_clean(o, "shape", op->shape, keep);
	add_clean(o, "scope", op->scope, keep);
	add_clean(o, "source_file", op->source_file, keep);
	json_add_double(o, "source_line", op->source_line);
	json_add_double(o, "base_s", c->base ? c->base_s : (double)NAN);
	json_add_double(o, "head_s", c->head ? c->head_s : (double)NAN);
	json_add_double(o, "base_per_step", c->base ? c->base_count : (double)NAN);
	json_add_double(o, "head_per_step", c->head ? c->head_count : (double)NAN);
	json_add_double(o, "lost_s", c->lost_s);
	add_clean(o, "instead_of", c->instead ? c->instead->name : MISSING, keep);
	add_clean(o, "before", c->feeds, keep);
}

void diff_json(const struct diff_report *d, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *list;
	struct str *lines;
	ptrdiff_t count = delta_lines(d->report, keep, &lines);
	json_add_str(root, "format", STR("rooflint-diff"));
	json_add_str(root, "version", STR("1.0"));
	add_clean(root, "base", d->base, keep);
	add_clean(root, "head", d->head, keep);
	json_add_double(root, "base_step_s", d->ops->base_step_s);
	json_add_double(root, "head_step_s", d->ops->head_step_s);
	json_add_double(root, "lost_s", d->ops->lost_s);
	list = json_add_array(root, "news");
	for (ptrdiff_t i = 0; i < count; i++)
		cJSON_AddItemToArray(list, json_str(lines[i]));
	list = json_add_array(root, "changes");
	for (ptrdiff_t i = 0; i < d->ops->count; i++)
		if (d->ops->items[i].change != CHANGE_SAME)
			add_change(list, &d->ops->items[i], keep);
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void put_table(
	struct out *o, const char *head, const struct picked *picked, struct arena *keep)
{
	if (!picked->count)
		return;
	out_fmt(o, "\n| %s | | op | | where |\n|---:|---|---|---|---|\n", head);
	for (ptrdiff_t i = 0; i < picked->count; i++) {
		const struct op_change *c = picked->items[i];
		const struct str cells[] = { signed_time(keep, c->lost_s), change_name(c->change),
			text_clean(keep, row_of(c)->name), sentence_of(c, keep),
			place_of(row_of(c), keep) };
		for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
			out_z(o, k ? " | " : "| ");
			md_text(o, cells[k]);
		}
		out_z(o, " |\n");
	}
	if (picked->left_out)
		out_fmt(o, "\nand %td more, of less time each\n", picked->left_out);
}

static void put_item(struct out *o, struct str line)
{
	out_z(o, "- ");
	md_text(o, line);
	out_char(o, '\n');
}

void diff_markdown(const struct diff_report *d, struct arena *keep, struct out *out)
{
	struct picked lost = pick(d, true, keep), won = pick(d, false, keep);
	struct str *lines;
	ptrdiff_t count = delta_lines(d->report, keep, &lines);
	out_z(out, "### ");
	md_text(out, text_clean(keep, d->head));
	out_z(out, " against ");
	md_text(out, text_clean(keep, d->base));
	out_z(out, "\n\n");
	for (ptrdiff_t i = 0; i < count; i++)
		put_item(out, lines[i]);
	put_item(out, total_line(d->ops, keep));
	put_item(out, arena_fmt(keep, "ops: %.*s", STR_ARG(count_line(d->ops, keep))));
	put_table(out, "lost", &lost, keep);
	put_table(out, "won", &won, keep);
}
