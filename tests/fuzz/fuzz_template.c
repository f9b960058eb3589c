/*
 * Any bytes as a page template: it is refused with its place, or fills to a page in which the
 * values stay values.
 */
#include "report/html.h"
#include "tests/fuzz/fuzz.h"

/* Looks like markup wherever it lands. */
#define VALUE STR("<zqx a='\"'>&zqx;</zqx>")

static void fill(const struct doc_template *t, bool innocent, struct arena *keep)
{
	struct html_fact fact = { VALUE, VALUE, VALUE, VALUE, VALUE };
	struct html_report report = { .id = VALUE, .profile = VALUE, .facts = { &fact, 1 } };
	struct html_page page = { .title = VALUE, .version = VALUE, .reports = { &report, 1 } };
	struct out *out = out_memory(keep);
	struct xhtml x = xhtml_new(out, keep);
	template_fill_page(t, &page, &x);
	require(x.depth == 0 && x.svg_depth == 0);
	require(!innocent || !str_contains(out_text(out), STR("<zqx")));
}

/* In the text itself, or in what it includes: there the fields of this place may be unknown. */
static bool has_place(struct str text)
{
	return str_starts(text, STR("f:")) || str_starts(text, STR("templates/"));
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { 0 };
	const struct doc_template *t =
		template_parse(STR("f"), bytes, &html_page_record, keep, &err);
	if (t)
		fill(t, !str_contains(bytes, STR("zqx")), keep);
	else
		require(err.id == DIAG_TEMPLATE && has_place(str_from(err.text)));
}
