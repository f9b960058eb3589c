/*
 * rooflint diff: what changed between two runs, op by op, the largest loss first.
 */
#include "base/task.h"
#include "cmd/shared.h"
#include "report/diff.h"
#include "session/baseline.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_MARKDOWN };

struct diff_settings {
	struct read_settings read;
	struct str html, templates;
	int format;
	bool all;
};

static bool load_one(struct str path, const struct load_options *options, struct arena *keep,
	struct baseline *ret, struct diag *err)
{
	struct baselines all = { 0 };
	if (!baseline_load(path, options, keep, &all, err))
		return false;
	if (all.count > 1)
		return diag_set(err, DIAG_USAGE,
			"%.*s: it reports on %td profiles, and a diff compares two runs",
			STR_ARG(path), all.count);
	*ret = all.items[0];
	if (!table_count(ret->tables, ops))
		return diag_set(err, DIAG_BASELINE,
			"%.*s holds no device op, and a diff compares ops; capture on the "
			"accelerator, in the process that runs the step",
			STR_ARG(path));
	return true;
}

/* Runs that are not alike are shown beside each other, as the user asks for it. */
static bool compare(struct baseline *base, struct tables *head, struct arena *keep,
	struct report *ret, struct diag *err)
{
	const struct baseline *chosen;
	struct diag_list *notes = arena_make(keep, struct diag_list, 1);
	if (!baseline_compare(head, base, 1, NOISE_PRIOR_DEFAULT, keep, &chosen, notes, err))
		return false;
	*ret = (struct report){ .tables = *head };
	ret->notes.items = notes->items;
	ret->notes.count = (ptrdiff_t)notes->count;
	return true;
}

static enum status diff_run(struct context *c, const void *settings, const struct list *args)
{
	static void (*const writers[])(const struct diff_report *, struct arena *, struct out *) = {
		[DIFF_TEXT] = diff_text, [DIFF_JSON] = diff_json, [DIFF_MARKDOWN] = diff_markdown
	};
	const struct diff_settings *s = settings;
	struct load_options options;
	struct baseline base, head;
	struct report report;
	struct op_diff ops;
	struct diag err;
	struct str before = path_trim(args->items[0]);
	if (str_eq(before, path_trim(args->items[1])))
		return misuse("%.*s is compared with itself; name two runs", STR_ARG(before));
	const struct doc_template *page = diff_html_load(s->templates, c->keep, &err);
	if (!page || !load_options(&s->read, task_cpus(), c->keep, &options, &err))
		return misused(&err);
	struct load_options earlier = baseline_options(&options);
	if (!load_one(args->items[0], &earlier, c->keep, &base, &err) ||
		!load_one(args->items[1], &options, c->keep, &head, &err))
		return fail(&err);
	if (is_planned(base.tables) != is_planned(head.tables)) {
		diag_set(&err, DIAG_BASELINE,
			"%.*s is a plan, whose ops take what their rooflines say, and the other "
			"one has run; compare two plans or two runs",
			STR_ARG(is_planned(base.tables) ? base.name : head.name));
		return fail(&err);
	}
	struct tables tables = *head.tables; /* it gets deltas of its own */
	if (!compare(&base, &tables, c->keep, &report, &err))
		return fail(&err);
	diff_ops(base.tables, head.tables, c->keep, &ops);
	struct diff_report d = { base.name, head.name, &ops, &report, s->all ? 0 : DIFF_MOST,
		STR(ROOFLINT_VERSION) };
	writers[s->format](&d, c->keep, c->out);
	if (!s->html.p)
		return STATUS_OK;
	struct out *text = out_memory(c->keep);
	diff_html(&d, page, c->keep, text);
	return write_file(c->keep, s->html, out_text(text)) ? STATUS_OK : STATUS_DELIVERY;
}

#define AT(member) offsetof(struct diff_settings, member)
static const struct option diff_options[] = {
	{ "format", 0, OPTION_WORD, AT(format), "text|json|markdown",
		"text (default), a JSON document with every change, or Markdown for a comment" },
	{ "html", 0, OPTION_TEXT, AT(html), "FILE", "write a page, too" },
	{ "templates", 0, OPTION_TEXT, AT(templates), "DIR",
		"templates that replace built-in ones (docs/templates.md)" },
	{ "all", 0, OPTION_FLAG, AT(all), NULL,
		"every op that changed, not only those that lost and won most (eight of each as "
		"text, twenty elsewhere)" },
	READ_OPTIONS(struct diff_settings),
	OPTIONS_END,
};

const struct command diff_command = {
	.name = "diff",
	.arguments = "BASE HEAD",
	.summary = "what changed between two runs, the largest loss first",
	.details = "BASE and HEAD are profiles, or the report.json of one. Ops are matched by what "
		   "they are and where they come from (kind, shapes, scope, source function), so a "
		   "recompile that renames them changes nothing; a kernel with another block size, "
		   "or another kernel for the same layer, is one that changed. Each is new, gone, "
		   "changed, split, slower, faster, or runs more or fewer times, with the time per "
		   "device and step that it lost or won; a new op is shown with the op it feeds, "
		   "one that changed with the "
		   "op it was, a fusion that split with its pieces. Two compiler's dumps are "
		   "compared by their rooflines (give --hardware).\n"
		   "\n"
		   "Whether that is a regression is for `rooflint check --baseline`.\n"
		   "\n"
		   "Exit status: 0; 2 the command line is wrong, both are the same run, or one of "
		   "them holds no ops; 3 a profile could not be read; 5 the page could not be "
		   "written.",
	.options = diff_options,
	.least = 2,
	.most = 2,
	.settings_bytes = sizeof(struct diff_settings),
	.run = diff_run,
};
