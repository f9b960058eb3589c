/* The diff of two runs as a page.  See diff.h. */
#include "base/text.h"
#include "report/diff.h"
#include "report/fields.h"
#include "report/html.h"

struct html_diff {
	struct str title, version, base, head, total, counts;
	struct template_list deltas, changes;
};

static const struct template_field diff_fields[] = {
	TEXT(html_diff, title, "for the window"),
	TEXT(html_diff, version, "of rooflint"),
	TEXT(html_diff, head, "the later run, as it was named"),
	TEXT(html_diff, base, "the run it is held against"),
	TEXT(html_diff, total, "what all ops together lost or won"),
	TEXT(html_diff, counts, "how many ops are new, gone, changed, split, slower and faster"),
	MANY(html_diff, deltas, html_note_record, "what differs of the runs as a whole"),
	MANY(html_diff, changes, html_changes_record, "ops that changed"),
	END,
};
const struct template_record html_diff_record = { "the page of a diff",
	(ptrdiff_t)sizeof(struct html_diff), diff_fields };

struct page_template *diff_html_load(struct str dir, struct arena *keep, struct diag *err)
{
	return page_template_load(dir, STR("diff.xhtml"), &html_diff_record, keep, err);
}

void diff_html(const struct diff_report *d, const struct page_template *t, struct arena *keep,
	struct out *out)
{
	struct xhtml x = xhtml_new(out, keep);
	struct html_diff page = {
		.version = d->tool_version,
		.base = text_clean(keep, d->base),
		.head = text_clean(keep, d->head),
		.total = diff_total(d->ops, keep),
		.counts = diff_counts(d->ops, keep),
		.deltas = html_deltas(d->report, keep),
		.changes = html_changes(d->ops->items, d->ops->count, d->most, keep),
	};
	page.title = arena_fmt(keep, "diff: %.*s", STR_ARG(page.head));
	page_template_fill(t, &page, &x);
	out_char(out, '\n');
}
