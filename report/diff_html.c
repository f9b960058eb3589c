/* The diff of two runs as a page.  See diff.h. */
#include "base/text.h"
#include "report/diff.h"
#include "report/html.h"
#include "report/svg_diff.h"

#define HTML_DIFF(R, F)                                                                            \
	F(R, TEXT, title, "for the window")                                                        \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, TEXT, head, "the later run, as it was named")                                         \
	F(R, TEXT, base, "the run it is held against")                                             \
	F(R, TEXT, headline, "before, after, and what made most of it")                            \
	F(R, TEXT, counts, "how many ops are new, gone, changed, split, slower and faster")        \
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
		.headline = diff_headline(d->ops, keep),
		.pictures = LIST(pictures, count),
		.counts = diff_counts(d->ops, keep),
		.deltas = html_comparison(d->report, keep),
		.changes = html_changes(d->ops->items, d->ops->count, d->most, keep),
	};
	page.title = arena_fmt(keep, "rooflint diff: %.*s", STR_ARG(page.headline));
	template_fill_page(t, &page, &x);
	out_char(out, '\n');
}
