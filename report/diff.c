/* The diff of two runs, written.  See diff.h. */
#include "report/diff.h"

#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "measure/baseline.h"
#include "report/html.h"
#include "report/md.h"
#include "report/prose.h"
#include "report/svg.h"

struct str diff_counts(const struct op_diff *d, struct arena *keep)
{
	static const char *const words[CHANGES] = { "new", "gone", "changed", "split", "slower",
		"faster", "with more runs", "with fewer runs", "the same" };
	struct out *o = out_memory(keep);
	for (int i = 0; i < CHANGES; i++)
		if (d->counts[i] || i == CHANGE_SAME)
			out_fmt(out_part(o, ", "), "%td %s", d->counts[i], words[i]);
	if (d->same_s < 0 || d->same_s > 0)
		out_fmt(o, " (%.*s together)", STR_ARG(signed_time_text(keep, d->same_s)));
	if (d->untimed)
		out_fmt(o, "; of %td of them the %s is not known", d->untimed,
			d->is_planned ? "roofline" : "time");
	return out_text(o);
}

/* The change that did most of it: the largest of those that go the same way. */
static const struct changes_row *main_change(const struct op_diff *d)
{
	const struct changes_row *row;
	if (!d->count)
		return NULL;
	row = d->lost_s > 0 ? &d->items[0] : &d->items[d->count - 1];
	return (d->lost_s > 0) == (row->lost_s > 0) && row->size_s > 0.3 * fabs(d->lost_s) ? row
											   : NULL;
}

/* What made a change of the whole: a device, an op, all of them, or what passes between them. */
static void put_reason(struct out *o, const struct op_diff *d, double change_s, struct arena *keep)
{
	const struct changes_row *most = main_change(d);
	const struct devices_row *slow = d->straggler;
	double share = d->lost_s / change_s;
	/* All wait for the slow device: it has to be slow enough to make up most of the change. */
	if (slow && change_s > 0 && (slow->slowness - 1) * d->base_step_s > 0.5 * change_s) {
		out_fmt(o, "; %.*s of %.*s takes %.*s longer in its ops than the other devices",
			STR_ARG(text_clean(keep, slow->device)),
			STR_ARG(text_clean(keep, slow->host)),
			STR_ARG(ratio_text(keep, slow->slowness - 1)));
	} else if (!(share > 0.05)) {
		out_z(o, "; no op explains it, the time between ops does");
	} else if (!(share > 0.5)) {
		out_fmt(o, "; ops make up %.*s of it, the rest passes between them",
			STR_ARG(time_text(keep, fabs(d->lost_s))));
	} else if (most) {
		struct html_change c = html_change_of(most, keep);
		struct str place = path_end(c.place);
		out_fmt(o, "; mostly by %.*s%s%.*s (%.*s)", STR_ARG(c.name), place.len ? ", " : "",
			STR_ARG(place), STR_ARG(c.time));
	}
}

static const char *what_takes(const struct op_diff *d)
{
	return diff_times(d).by_ops ? "All ops together take"
	       : d->is_window	    ? "The same work takes"
				    : "A step takes";
}

/* After, before, and what made it. */
struct str diff_headline(const struct op_diff *d, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct diff_times t = diff_times(d);
	double base = t.base_s, head = t.head_s, change = base > 0 ? head / base - 1 : NAN;
	if (d->is_window && isnan(d->work)) {
		out_fmt(o,
			"The captures hold different work, and no steps: ops take %.*s, was %.*s",
			STR_ARG(time_text(keep, d->head_ops_s)),
			STR_ARG(time_text(keep, d->base_ops_s)));
		if (d->kinds_changed)
			out_fmt(o, "; most changed: %.*s, %.*s, was %.*s",
				STR_ARG(text_clean(keep, d->kinds[0].kind)),
				STR_ARG(time_text(keep, d->kinds[0].head_s)),
				STR_ARG(time_text(keep, d->kinds[0].base_s)));
		return out_text(o);
	}
	out_fmt(o, "%s ", what_takes(d));
	if (!(fabs(change) >= DIFF_SAME)) {
		out_fmt(o, "%.*s%s", STR_ARG(time_text(keep, head)),
			isnan(change) ? "" : ", as before");
	} else {
		struct str much = change >= MANY_TIMES - 1
					  ? arena_fmt(keep, "%.3g times as long", head / base)
					  : arena_fmt(keep, "%.*s %s",
						    STR_ARG(ratio_text(keep, fabs(change))),
						    change > 0 ? "longer" : "less time");
		out_fmt(o, "%.*s: %.*s, was %.*s", STR_ARG(much), STR_ARG(time_text(keep, head)),
			STR_ARG(time_text(keep, base)));
		if (d->is_window && fabs(d->work - 1) >= DIFF_SAME)
			out_fmt(o, " (scaled: the older capture holds %.3g times the work)",
				1 / d->work);
		put_reason(o, d, head - base, keep);
	}
	if (d->is_planned)
		out_z(o, "; by their rooflines, as neither has run");
	return out_text(o);
}

/* As memory-regression: below it, a program that was compiled anew has as much memory. */
#define MEMORY_LEAST 0.03

/* Where a step takes as long as before, what it takes of the memory may be the change. */
static struct str memory_change(const struct diff_report *d, struct arena *keep)
{
	const struct tables *t = &d->report->tables;
	const struct diff_times times = diff_times(d->ops);
	for (ptrdiff_t i = 0; i < table_count(t, deltas); i++) {
		const struct deltas_row *row = &table_rows(t, deltas)[i];
		const struct metric *m = metric_find(row->metric);
		double change = row->ratio - 1;
		if (m && m->table == TABLE_memory && fabs(change) > MEMORY_LEAST &&
			!(fabs(times.head_s / times.base_s - 1) >= DIFF_SAME))
			return arena_fmt(keep, "; %.*s %s by %.*s", STR_ARG(row->name),
				change > 0 ? "grew" : "shrank",
				STR_ARG(ratio_text(keep, fabs(change))));
	}
	return STR("");
}

/* Without steps nothing is known of noise but the spread of each op. */
static bool is_explained(const struct op_diff *d)
{
	struct diff_times t = diff_times(d);
	double change_s = t.head_s - t.base_s;

	return !(fabs(change_s) >= DIFF_SAME * t.base_s) ||
	       (d->lost_s - d->same_s) / change_s > 0.5;
}

/* Whoever reads one line only must not take noise for a change. */
static struct str first_line(const struct diff_report *d, struct arena *keep)
{
	struct str line = diff_headline(d->ops, keep);
	const struct tables *t = &d->report->tables;
	const struct diff_times times = diff_times(d->ops);
	struct str unlike = comparison_unlike(d->report);
	bool is_told = !d->ops->is_planned && !d->ops->is_window && d->ops->base_step_s > 0 &&
		       fabs(d->ops->head_step_s / d->ops->base_step_s - 1) >= DIFF_SAME;

	/* No factor, where `check` would not judge one. */
	if (unlike.p) {
		struct out *o = out_memory(keep);
		double change_s = times.head_s - times.base_s;
		out_fmt(o, "Not the same work: %.*s. %s %.*s, was %.*s",
			STR_ARG(text_clean(keep, unlike)), what_takes(d->ops),
			STR_ARG(time_text(keep, times.head_s)),
			STR_ARG(time_text(keep, times.base_s)));
		if (fabs(change_s) >= DIFF_SAME * times.base_s)
			put_reason(o, d->ops, change_s, keep);
		return out_text(o);
	}
	if (d->ops->is_window && !is_explained(d->ops))
		return arena_fmt(keep, "%.*s; this may be noise", STR_ARG(line));
	for (ptrdiff_t i = 0; is_told && i < table_count(t, deltas); i++) {
		const struct deltas_row *row = &table_rows(t, deltas)[i];
		if (str_eq(row->metric, STR("run.step_time_s")) && !isnan(row->resolution) &&
			!(row->lo > 0 || row->hi < 0))
			return arena_fmt(keep, "%.*s; this may be noise", STR_ARG(line));
	}
	return arena_fmt(keep, "%.*s%.*s", STR_ARG(line), STR_ARG(memory_change(d, keep)));
}

/* The first line has said the change of a step, or why the runs are not alike. */
static struct list diff_lines(const struct diff_report *d, struct arena *keep)
{
	return comparison_lines(d->report, COMPARISON_REST, keep);
}

/* ---- text ----------------------------------------------------------------------------------- */

enum { LINE_INDENT = 4, TEXT_INDENT = 23 };
enum { TEXT_MOST = 8 /* losses, and gains: a screen of each */ };

static void put_ops(struct page *p, const struct html_changes *ops)
{
	const struct html_change *rows = ops->rows.items;
	page_break(p);
	page_tint(p, TINT_BOLD, ops->title);
	for (ptrdiff_t i = 0; i < ops->rows.count; i++) {
		page_line(p);
		page_pad(p, 2);
		page_put(p, rows[i].time);
		page_pad(p, 12);
		page_put(p, rows[i].change);
		page_pad(p, TEXT_INDENT);
		page_fmt(
			p, TEXT_INDENT, "%.*s: %.*s", STR_ARG(rows[i].name), STR_ARG(rows[i].text));
		if (rows[i].place.len) {
			page_line(p);
			page_pad(p, TEXT_INDENT);
			page_put(p, rows[i].place);
		}
	}
	page_told(p, LINE_INDENT, ops->more);
	page_line(p);
}

/* What of a kind's change no change of an op explains. */
static const char *kind_doubt(const struct diff_kind *k)
{
	return fabs(k->same_s) > fabs(k->head_s - k->base_s) / 2 ? ", within its spread or 2%" : "";
}

static void put_kinds(struct page *p, const struct op_diff *d)
{
	int count = d->kinds_changed;
	if (!count)
		return;
	page_break(p);
	page_tint(p, TINT_BOLD, STR("by kind"));
	for (int i = 0; i < count; i++) {
		const struct diff_kind *k = &d->kinds[i];
		page_line(p);
		page_pad(p, 2);
		page_put(p, signed_time_text(p->keep, k->head_s - k->base_s));
		page_pad(p, 12);
		page_put(p, text_clean(p->keep, k->kind));
		page_pad(p, 32);
		page_put(p, arena_fmt(p->keep, "%.*s, was %.*s%s",
				    STR_ARG(time_text(p->keep, k->head_s)),
				    STR_ARG(time_text(p->keep, k->base_s)), kind_doubt(k)));
	}
	page_line(p);
}

void diff_text(const struct diff_report *d, struct arena *keep, struct out *out)
{
	struct page p = { .out = out, .keep = keep, .width = TEXT_WIDTH };
	ptrdiff_t most = d->most ? TEXT_MOST : 0;
	struct template_list lists = html_changes(d->ops->items, d->ops->count, most, keep);
	const struct html_changes *ops = lists.items;
	struct list lines = diff_lines(d, keep);
	page_fmt(&p, 0, "%.*s", STR_ARG(first_line(d, keep)));
	page_item(&p, LINE_INDENT, "after: %.*s", STR_ARG(text_clean(keep, d->head)));
	page_item(&p, LINE_INDENT, "before: %.*s", STR_ARG(text_clean(keep, d->base)));
	page_lines(&p, LINE_INDENT, lines);
	page_line(&p);
	put_kinds(&p, d->ops);
	for (ptrdiff_t i = 0; i < lists.count; i++)
		put_ops(&p, &ops[i]);
	page_break(&p);
	page_fmt(&p, 0, "ops: %.*s", STR_ARG(diff_counts(d->ops, keep)));
	page_line(&p);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_clean(cJSON *o, const char *key, struct str s, struct arena *keep)
{
	json_add_str(o, key, text_clean(keep, s));
}

/* Columns of the table changes. */
static void add_change(cJSON *list, const struct changes_row *row, struct arena *keep)
{
	static const char *const names[] = { "change", "key", "name", "kind", "shape", "base_shape",
		"scope", "source_file", "source_line", "base_s", "head_s", "base_per_step",
		"head_per_step", "lost_s", "instead_of", "feeds", "pieces" };
	cJSON *o = json_push_object(list);
	for (ptrdiff_t i = 0; i < COUNT_OF(names); i++) {
		const struct column *c =
			table_column(&table_defs[TABLE_changes], str_from(names[i]));
		json_add_cell(o, names[i], c, row, keep);
	}
}

void diff_json(const struct diff_report *d, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *list;
	struct list lines = comparison_lines(d->report, COMPARISON_WHOLE, keep); /* no first line */
	json_add_str(root, "format", STR("rooflint-diff"));
	json_add_str(root, "version", STR("1.0"));
	add_clean(root, "base", d->base, keep);
	add_clean(root, "head", d->head, keep);
	json_add_double(root, "work", d->ops->work);
	json_add_double(root, "base_step_s", d->ops->base_step_s);
	json_add_double(root, "head_step_s", d->ops->head_step_s);
	json_add_double(root, "base_ops_s", d->ops->base_ops_s);
	json_add_double(root, "head_ops_s", d->ops->head_ops_s);
	json_add_double(root, "lost_s", d->ops->lost_s);
	json_add_double(root, "same_s", d->ops->same_s);
	json_add_i64(root, "untimed", d->ops->untimed);
	list = json_add_array(root, "news");
	for (ptrdiff_t i = 0; i < lines.count; i++)
		cJSON_AddItemToArray(list, json_str(lines.items[i]));
	list = json_add_array(root, "kinds");
	for (int i = 0; i < d->ops->kind_count; i++) {
		cJSON *kind = json_push_object(list);
		add_clean(kind, "kind", d->ops->kinds[i].kind, keep);
		json_add_double(kind, "base_s", d->ops->kinds[i].base_s);
		json_add_double(kind, "head_s", d->ops->kinds[i].head_s);
		json_add_double(kind, "same_s", d->ops->kinds[i].same_s);
	}
	list = json_add_array(root, "changes");
	for (ptrdiff_t i = 0; i < d->ops->count; i++)
		add_change(list, &d->ops->items[i], keep);
	json_write(root, keep, out);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void put_table(struct out *o, const struct html_changes *ops)
{
	const struct html_change *rows = ops->rows.items;
	out_fmt(o, "\n| %.*s | | op | | where |\n|---:|---|---|---|---|\n", STR_ARG(ops->title));
	for (ptrdiff_t i = 0; i < ops->rows.count; i++) {
		const struct str cells[] = { rows[i].time, rows[i].change, rows[i].name,
			rows[i].text, rows[i].place };
		md_row(o, cells, COUNT_OF(cells));
	}
	if (ops->more.len)
		out_fmt(o, "\n%.*s\n", STR_ARG(ops->more));
}

static void put_kinds_table(struct out *o, const struct op_diff *d, struct arena *keep)
{
	int count = d->kinds_changed;
	if (!count)
		return;
	out_z(o, "\n| by kind | before | after | change |\n|---|---:|---:|---:|\n");
	for (int i = 0; i < count; i++) {
		const struct diff_kind *k = &d->kinds[i];
		const struct str cells[] = { text_clean(keep, k->kind), time_text(keep, k->base_s),
			time_text(keep, k->head_s),
			arena_fmt(keep, "%.*s%s",
				STR_ARG(signed_time_text(keep, k->head_s - k->base_s)),
				kind_doubt(k)) };
		md_row(o, cells, COUNT_OF(cells));
	}
}

void diff_markdown(const struct diff_report *d, struct arena *keep, struct out *out)
{
	struct template_list lists = html_changes(d->ops->items, d->ops->count, d->most, keep);
	const struct html_changes *ops = lists.items;
	struct list lines = diff_lines(d, keep);
	out_z(out, "### ");
	md_text(out, first_line(d, keep));
	out_z(out, "\n\n");
	md_item(out, arena_fmt(keep, "after: %.*s", STR_ARG(text_clean(keep, d->head))));
	md_item(out, arena_fmt(keep, "before: %.*s", STR_ARG(text_clean(keep, d->base))));
	for (ptrdiff_t i = 0; i < lines.count; i++)
		md_item(out, lines.items[i]);
	md_item(out, arena_fmt(keep, "ops: %.*s", STR_ARG(diff_counts(d->ops, keep))));
	put_kinds_table(out, d->ops, keep);
	for (ptrdiff_t i = 0; i < lists.count; i++)
		put_table(out, &ops[i]);
}

/* ---- the page -------------------------------------------------------------------------------- */

#define HTML_DIFF(R, F)                                                                            \
	F(R, TEXT, title, "for the window")                                                        \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, TEXT, head, "the later run, as it was named")                                         \
	F(R, TEXT, base, "the run it is held against")                                             \
	F(R, TEXT, headline, "before, after, and what made most of it")                            \
	F(R, TEXT, counts, "how many ops are new, gone, changed, split, slower, faster and so on") \
	F(R, TEXT, span, "what times are of, on each device: step, or capture")                    \
	F(R, LIST(html_picture), pictures, "the way from before to after, and the time by kind")   \
	F(R, LIST(html_note), deltas, "what differs of the runs as a whole")                       \
	F(R, LIST(html_changes), changes, "ops that changed")
RECORD_STRUCT(html_diff, HTML_DIFF);
RECORD(html_diff, "the page of a diff", NULL, HTML_DIFF);

struct doc_template *diff_html_load(struct str dir, struct arena *keep, struct diag *err)
{
	return template_load(dir, STR("diff.xhtml"), &html_diff_record, keep, err);
}

void diff_html(const struct diff_report *d, const struct doc_template *t, struct arena *keep,
	struct out *out)
{
	struct xhtml x = xhtml_new(out, keep);
	struct html_picture *pictures = arena_make(keep, struct html_picture, 2);
	ptrdiff_t count = 0;
	count += svg_waterfall(d->ops, keep, &pictures[count]);
	count += svg_kinds_change(d->ops, keep, &pictures[count]);
	struct html_diff page = {
		.version = d->tool_version,
		.base = text_clean(keep, d->base),
		.head = text_clean(keep, d->head),
		.headline = first_line(d, keep),
		.pictures = LIST(pictures, count),
		.counts = diff_counts(d->ops, keep),
		.span = d->ops->is_window ? STR("capture") : STR("step"),
		.deltas = html_lines(diff_lines(d, keep), keep),
		.changes = html_changes(d->ops->items, d->ops->count, d->most, keep),
	};
	page.title = arena_fmt(keep, "rooflint diff: %.*s", STR_ARG(page.headline));
	template_fill_page(t, &page, &x);
	out_char(out, '\n');
}
