/*
 * Any bytes as a page template: it is refused with its place, or fills to a page in which the
 * values stay values.
 */
#include <stdint.h>
#include <stdlib.h>

#include "report/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* Looks like markup wherever it lands; templates cannot contain it themselves by chance. */
#define VALUE STR("<zqx a='\"'>&zqx;</zqx>")

static void fill(const struct page_template *t, struct arena *keep)
{
	struct html_fact fact = { VALUE, VALUE, VALUE, VALUE };
	struct html_report report = { .id = VALUE, .profile = VALUE, .facts = { &fact, 1 } };
	struct html_page page = { .title = VALUE, .version = VALUE, .reports = { &report, 1 } };
	struct out *out = out_memory(keep);
	struct xhtml x = xhtml_new(out, keep);
	page_template_fill(t, &page, &x);
	require(x.depth == 0 && x.svg_depth == 0);
	require(!str_contains(out_text(out), STR("<zqx a=")));
	require(!str_contains(out_text(out), STR("a='\"'")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena keep;
	struct diag err = { 0 };
	if (!keep.base)
		keep = arena_new(ARENA_SCRATCH_BYTES);
	arena_clear(&keep);
	struct str source = { size ? (const char *)data : "", (ptrdiff_t)size };
	const struct page_template *t =
		page_template_parse(STR("f"), source, &html_page_record, &keep, &err);
	if (t)
		fill(t, &keep);
	else
		require(err.id != DIAG_NONE && str_starts(str_from(err.text), STR("f:")));
	return 0;
}
