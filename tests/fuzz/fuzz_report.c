/*
 * report.json from anywhere: the reader takes it or refuses it with a reason; what it took, every
 * writer can write, and writing and reading it again gives the same bytes.
 */
#include "report/report.h"
#include "tests/fuzz/fuzz.h"

static struct str json_of(const struct report_set *set, struct arena *keep)
{
	struct out *out = out_memory(keep);
	report_json_write(set, keep, out);
	return out_text(out);
}

static void write_each(const struct report_set *set, struct arena *keep)
{
	for (int i = 0; i < 3; i++) {
		struct report_style style = { .color = i == 1, .verbose = i, .width = 40 * i };
		report_terminal(set, &style, keep, out_memory(keep));
	}
	report_junit(set, JUNIT_STRICT, keep, out_memory(keep));
	report_junit(set, JUNIT_RICH, keep, out_memory(keep));
}

/* Whatever the numbers, no picture divides, casts or grows past its bounds. */
static void write_page(const struct report_set *set, struct arena *keep)
{
	static struct arena templates;
	static const struct doc_template *page;
	struct diag err;
	if (!page) {
		templates = arena_new(ARENA_SCRATCH_BYTES);
		page = report_html_load((struct str){ NULL, 0 }, &templates, &err);
		require(page != NULL);
	}
	report_html(set, HTML_WHOLE, page, keep, out_memory(keep));
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct report_set set, again;
	struct diag err = { 0 };
	if (report_json_read(STR("report.json"), bytes, keep, &set, &err)) {
		struct str first = json_of(&set, keep);
		require(report_json_read(STR("report.json"), first, keep, &again, &err));
		require(str_eq(json_of(&again, keep), first));
		write_each(&set, keep);
		write_page(&set, keep);
	} else {
		require(err.id != DIAG_NONE && err.text[0]);
	}
}
