/* The diff of two runs, written.  See diff.h. */
#include "report/diff.h"

#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "report/op_change.h"
#include "report/comparison.h"
#include "report/md.h"
#include "report/prose.h"

static struct picked_changes pick(const struct diff_report *d, bool losses, struct arena *keep)
{
	return changes_pick(d->ops->items, d->ops->count, losses, d->most, keep);
}

static struct str signed_time(double s, struct arena *keep)
{
	return arena_fmt(keep, "%s%.*s", s < 0 ? "-" : "+", STR_ARG(time_text(keep, fabs(s))));
}

struct str diff_counts(const struct op_diff *d, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_fmt(o,
		"%td new, %td gone, %td changed, %td split, %td slower, %td faster, %td the same",
		d->counts[CHANGE_NEW], d->counts[CHANGE_GONE], d->counts[CHANGE_CHANGED],
		d->counts[CHANGE_SPLIT], d->counts[CHANGE_SLOWER], d->counts[CHANGE_FASTER],
		d->counts[CHANGE_SAME]);
	if (d->same_s < 0 || d->same_s > 0)
		out_fmt(o, " (%.*s together)", STR_ARG(signed_time(d->same_s, keep)));
	if (d->untimed)
		out_fmt(o, "; of %td of them the %s is not known", d->untimed,
			d->is_planned ? "roofline" : "time");
	return out_text(o);
}

struct str diff_total(const struct op_diff *d, struct arena *keep)
{
	return arena_fmt(keep, "all ops together %s %.*s %s, %s", d->lost_s < 0 ? "won" : "lost",
		STR_ARG(time_text(keep, fabs(d->lost_s))),
		d->is_window ? "in the whole capture" : "per step",
		d->is_planned  ? "by their rooflines: neither has run"
		: d->is_window ? "each taken as often as it ran in the newer one"
			       : "what is hidden counted too");
}

/* ---- text ----------------------------------------------------------------------------------- */

enum { TEXT_WIDTH = 80, LINE_INDENT = 4, TEXT_INDENT = 20 };

static void put_ops(struct page *p, const char *head, const struct picked_changes *picked)
{
	if (!picked->count)
		return;
	page_break(p);
	page_tint(p, TINT_BOLD, str_from(head));
	for (ptrdiff_t i = 0; i < picked->count; i++) {
		const struct changes_row *c = picked->items[i];
		page_line(p);
		page_pad(p, 2);
		page_put(p, change_lost(c, p->keep));
		page_pad(p, 12);
		page_put(p, c->change);
		page_pad(p, TEXT_INDENT);
		page_fmt(p, TEXT_INDENT, "%.*s: %.*s",
			STR_ARG(change_name(c, CHANGE_BRIEF, p->keep)),
			STR_ARG(change_sentence(c, CHANGE_BRIEF, p->keep)));
		struct str place = change_place(c, CHANGE_BRIEF, p->keep);
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
	struct picked_changes lost = pick(d, true, keep), won = pick(d, false, keep);
	struct str *lines;
	ptrdiff_t count = comparison_lines(d->report, keep, &lines);
	page_fmt(&p, LINE_INDENT, "%.*s, against %.*s", STR_ARG(text_clean(keep, d->head)),
		STR_ARG(text_clean(keep, d->base)));
	for (ptrdiff_t i = 0; i < count; i++)
		put_line(&p, lines[i]);
	put_line(&p, diff_total(d->ops, keep));
	page_line(&p);
	put_ops(&p, "lost", &lost);
	put_ops(&p, "won", &won);
	page_break(&p);
	page_fmt(&p, 0, "ops: %.*s", STR_ARG(diff_counts(d->ops, keep)));
	page_line(&p);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_clean(cJSON *o, const char *key, struct str s, struct arena *keep)
{
	json_add_str(o, key, text_clean(keep, s));
}

/* Columns of the table changes, under their names, but for one. */
static void add_change(cJSON *list, const struct changes_row *row, struct arena *keep)
{
	static const char *const names[] = { "change", "key", "name", "kind", "shape", "base_shape",
		"scope", "source_file", "source_line", "base_s", "head_s", "base_per_step",
		"head_per_step", "lost_s", "instead_of", "feeds", "pieces" };
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToArray(list, o);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct column *c =
			table_column(&table_defs[TABLE_changes], str_from(names[i]));
		const char *key = str_eq(c->name, STR("feeds")) ? "before" : names[i];
		if (c->type == COLUMN_TEXT)
			add_clean(o, key, cell_text(c, row), keep);
		else
			json_add_double(o, key, cell_real(c, row));
	}
}

void diff_json(const struct diff_report *d, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *list;
	struct str *lines;
	ptrdiff_t count = comparison_lines(d->report, keep, &lines);
	json_add_str(root, "format", STR("rooflint-diff"));
	json_add_str(root, "version", STR("1.0"));
	add_clean(root, "base", d->base, keep);
	add_clean(root, "head", d->head, keep);
	json_add_double(root, "base_step_s", d->ops->base_step_s);
	json_add_double(root, "head_step_s", d->ops->head_step_s);
	json_add_double(root, "lost_s", d->ops->lost_s);
	json_add_double(root, "same_s", d->ops->same_s);
	json_add_i64(root, "untimed", d->ops->untimed);
	list = json_add_array(root, "news");
	for (ptrdiff_t i = 0; i < count; i++)
		cJSON_AddItemToArray(list, json_str(lines[i]));
	list = json_add_array(root, "changes");
	for (ptrdiff_t i = 0; i < d->ops->count; i++)
		add_change(list, &d->ops->items[i], keep);
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void put_table(
	struct out *o, const char *head, const struct picked_changes *picked, struct arena *keep)
{
	if (!picked->count)
		return;
	out_fmt(o, "\n| %s | | op | | where |\n|---:|---|---|---|---|\n", head);
	for (ptrdiff_t i = 0; i < picked->count; i++) {
		const struct changes_row *c = picked->items[i];
		const struct str cells[] = { change_lost(c, keep), c->change,
			change_name(c, CHANGE_BRIEF, keep), change_sentence(c, CHANGE_BRIEF, keep),
			change_place(c, CHANGE_BRIEF, keep) };
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
	struct picked_changes lost = pick(d, true, keep), won = pick(d, false, keep);
	struct str *lines;
	ptrdiff_t count = comparison_lines(d->report, keep, &lines);
	out_z(out, "### ");
	md_text(out, text_clean(keep, d->head));
	out_z(out, " against ");
	md_text(out, text_clean(keep, d->base));
	out_z(out, "\n\n");
	for (ptrdiff_t i = 0; i < count; i++)
		put_item(out, lines[i]);
	put_item(out, diff_total(d->ops, keep));
	put_item(out, arena_fmt(keep, "ops: %.*s", STR_ARG(diff_counts(d->ops, keep))));
	put_table(out, "lost", &lost, keep);
	put_table(out, "won", &won, keep);
}
