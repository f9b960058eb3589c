/*
 * rooflint explain: one rule for people: what it demands, why, and what to do; or a diagnostic.
 */
#include "base/embed.h"
#include "base/text.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "session/load.h"

struct explain_settings {
	struct rule_settings rule;
	bool verbose;
};

enum { INDENT = 2 };

/* ---- columns --------------------------------------------------------------------------------- */

static void put_columns(struct context *c, const struct rule *r)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = INDENT, .wrap = TEXT_WIDTH };
	const struct reads reads = rule_reads(r, c->keep);
	for (ptrdiff_t i = 0; i < reads.count; i++) {
		const struct column_read of = reads.items[i];
		/* "as in ops" sends the reader to a column of the same name. */
		struct str other = of.column->meaning;
		const struct table_def *table =
			str_take(&other, STR("as in ")) ? table_find(other) : NULL;
		const struct column *same = table ? table_column(table, of.column->name) : NULL;
		grid_row(&g,
			arena_fmt(c->keep, "%.*s.%.*s", STR_ARG(of.table->name),
				STR_ARG(of.column->name)),
			column_unit(of.column), same ? same->meaning : of.column->meaning);
	}
	if (reads.count)
		out_z(c->out, "\nWhat it reads:\n");
	grid_print(&g, c->out);
}

/* ---- the parts of the text ------------------------------------------------------------------- */

static void put_part(struct context *c, const char *title, struct str text)
{
	if (!text.len)
		return;
	out_fmt(c->out, "\n%s:\n", title);
	print_paragraphs(c->out, text, INDENT, TEXT_WIDTH);
}

/* What a list shows without -v. */
enum { ITEMS_SHOWN = 6 };

/* A line that begins with blanks is a command, which stays as it is. */
static void put_item(struct context *c, struct str text)
{
	struct str line;
	out_fmt(c->out, "%*s- ", INDENT, "");
	str_next(&text, '\n', &line);
	print_words(c->out, line, INDENT + 2, INDENT + 2, TEXT_WIDTH);
	if (text.len)
		print_paragraphs(c->out, text, INDENT + 2, TEXT_WIDTH);
}

static void put_items(struct context *c, const struct list *items, ptrdiff_t most)
{
	for (ptrdiff_t i = 0; i < items->count && i < most; i++)
		put_item(c, items->items[i]);
	if (items->count > most)
		out_fmt(c->out, "%*sand %td more (-v)\n", INDENT, "", items->count - most);
}

static void put_advice(struct context *c, const char *title, const char *titles,
	const struct list *items, ptrdiff_t most)
{
	if (items->count == 1)
		put_part(c, title, items->items[0]);
	if (items->count < 2)
		return;
	out_fmt(c->out, "\n%s:\n", titles);
	put_items(c, items, most);
}

/* "It warns above 5% and fails above 10% (... of the capacity)"; missing where it has no limits. */
static struct str limits_of(const struct rule *r, struct arena *keep)
{
	const char *beyond = r->at_least ? "below" : "above";
	struct str warn = r->params[PARAM_WARN].text, fail = r->params[PARAM_FAIL].text;
	const char *fails = r->gate			   ? "does not hold"
			    : r->severity == SEVERITY_WARN ? "warns"
							   : "fails";
	struct out *o = out_memory(keep);
	if (!warn.p && !fail.p)
		return MISSING;
	out_z(o, "It ");
	if (warn.p && !str_eq(warn, fail))
		out_fmt(o, "warns %s %.*s%s", beyond, STR_ARG(warn), fail.p ? " and " : "");
	if (fail.p)
		out_fmt(o, "%s %s %.*s", fails, beyond, STR_ARG(fail));
	if (r->says.text.p)
		out_fmt(o, " (... %.*s)", STR_ARG(r->says.text));
	return out_text(o);
}

/* What a finding has to cost, as the file says it. */
static struct str matter_text(const struct ruleset *set, const struct rule *r, enum matter m)
{
	return r->matters[m].text.p ? r->matters[m].text : set->matters[m].text;
}

/* "All findings together have to cost 1% of the step to warn, and 2% to fail" */
static void put_matters(
	struct out *o, const struct ruleset *set, const struct rule *r, bool is_bytes)
{
	bool can_fail = r->params[PARAM_FAIL].text.p && r->severity == SEVERITY_ERROR;
	if (!r->gain.text.p || r->gate)
		return;
	out_fmt(o, "Its findings together have to cost %.*s of the %s to warn",
		STR_ARG(matter_text(set, r, is_bytes ? MATTER_MEMORY_WARN : MATTER_WARN)),
		is_bytes ? "memory" : "step");
	if (can_fail)
		out_fmt(o, ", and %.*s to fail",
			STR_ARG(matter_text(set, r, is_bytes ? MATTER_MEMORY_FAIL : MATTER_FAIL)));
	out_z(o, ".\n");
}

/* The gates that it needs, and what comes of those that do not hold. */
static void put_gates(struct out *o, const struct rule *r, struct arena *keep)
{
	struct list names = { 0 };
	for (ptrdiff_t i = 0; i < r->gate_count; i++)
		list_add(&names, r->gates[i]->name, keep);
	if (r->gate)
		out_z(o, "It is a gate: where it does not hold, the rules that need it are "
			 "inconclusive.\n");
	else if (names.count)
		out_fmt(o, "It is inconclusive unless these gates hold: %.*s.\n",
			STR_ARG(words_joined(keep, names.items, names.count, ", ")));
}

static void put_demand(struct context *c, const struct ruleset *set, const struct rule *r,
	const struct rule_outline *outline)
{
	struct str limits = limits_of(r, c->keep);
	struct out *o = out_memory(c->keep); /* a line for each sentence */
	if (r->applies_to.text.p || r->from)
		out_fmt(o, "It judges %.*s.\n",
			STR_ARG(r->applies_to.text.p ? r->applies_to.text : r->from->meaning));
	out_fmt(o, "%.*s%s", STR_ARG(limits), limits.p ? ".\n" : "");
	const struct column *column = r->from ? table_column(r->from, r->value.text) : NULL;
	if (column)
		out_fmt(o, "That number is %.*s: %.*s.\n", STR_ARG(column->name),
			STR_ARG(column->meaning));
	put_matters(o, set, r, outline->is_bytes);
	if (r->assert.text.p && !r->gate)
		out_fmt(o, "It %s where its condition (assert) does not hold.\n",
			r->severity == SEVERITY_WARN ? "warns" : "fails");
	if (r->min_subjects == 1)
		out_z(o, "Where there is nothing to judge it is inconclusive.\n");
	else if (r->min_subjects)
		out_fmt(o, "With fewer than %d to judge it is inconclusive.\n", r->min_subjects);
	put_gates(o, r, c->keep);
	if (r->required)
		out_z(o, "It is required: a run in which it cannot be judged is inconclusive.\n");
	put_part(c, "What it demands", str_trim(out_text(o)));
}

static void put_params(struct context *c, const struct rule *r)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = INDENT };
	const struct rule_param *first = NULL;
	for (ptrdiff_t i = 0; i < r->param_count; i++) {
		const struct rule_param *p = &r->params[i];
		if (!p->text.p)
			continue;
		first = first ? first : p;
		const struct doc *doc = p->origin.doc;
		grid_row(&g, p->name, p->text,
			doc->root ? arena_fmt(c->keep, "%.*s:%lld", STR_ARG(doc->file),
					    (long long)p->origin.node->line)
				  : doc->file);
	}
	if (!first)
		return;
	out_fmt(c->out, "\nIts values (change one with --set %.*s.%.*s=...):\n", STR_ARG(r->name),
		STR_ARG(first->name));
	grid_print(&g, c->out);
}

static void explain(struct context *c, const struct ruleset *set, const struct rule *r,
	const struct rule_outline *o, bool is_verbose)
{
	ptrdiff_t most = is_verbose ? PTRDIFF_MAX : ITEMS_SHOWN;
	out_fmt(c->out, "%.*s: ", STR_ARG(r->name));
	print_words(c->out, r->title.text, (int)r->name.len + 2, INDENT, TEXT_WIDTH);
	if (r->severity == SEVERITY_OFF)
		out_z(c->out, "\nIt is switched off (severity: off).\n");
	put_part(c, "Why", r->why.text);
	put_demand(c, set, r, o);
	put_advice(c, "Why some only warn", "Why some only warn", &o->only_warns, most);
	put_part(c, "How it is measured", r->measured.text);
	put_advice(c, "Likely cause", "Likely causes", &o->cause, most);
	put_advice(c, "Fix", "Fixes", &o->fix, most);
	put_part(c, "When it is wrong", r->wrong_when.text);
	put_params(c, r);
	if (is_verbose)
		put_columns(c, r);
	if (o->cause.count > 1 || o->fix.count > 1)
		out_z(c->out, "\nA finding names the cause and the fix that apply to its run.");
	out_fmt(c->out, "\nThe rule as it is written, with its SQL: rooflint rules show %.*s\n",
		STR_ARG(r->name));
}

/* ---- diagnostics ----------------------------------------------------------------------------- */

/* Its section of the manual, which stands below a heading of its own. */
static bool explain_diagnostic(struct context *c, struct str id)
{
	struct str rest = embed_find(STR("docs/diagnostics.md")), line;
	struct str heading = arena_fmt(c->keep, "### %.*s: ", STR_ARG(id));
	bool is_inside = false, is_found = false;
	while (str_next(&rest, '\n', &line)) {
		if (str_starts(line, STR("#"))) {
			is_inside = str_starts(line, heading);
			is_found |= is_inside;
			line = str_from_offset(line, is_inside ? 4 : 0);
		}
		if (is_inside)
			out_fmt(c->out, "%.*s\n", STR_ARG(line));
	}
	return is_found;
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum status explain_run(struct context *c, const void *settings, const struct list *args)
{
	const struct explain_settings *s = settings;
	struct ruleset set;
	struct diag err;
	struct str id = args->items[0];
	if (str_starts(id, STR("RL")) && explain_diagnostic(c, id))
		return STATUS_OK;
	if (str_starts(id, STR("RL")))
		return misuse("there is no diagnostic %.*s (docs/diagnostics.md)", STR_ARG(id));
	if (!load_rules(load_engine(c, &err), &s->rule, c->keep, &set, &err))
		return misused(&err);
	const struct rule *rule = ruleset_find_rule(&set, args->items[0], c->keep, &err);
	if (!rule)
		return misused(&err);
	struct rule_outline outline;
	if (!rule_outline(&set, rule, c->keep, &outline, &err))
		return misused(&err);
	explain(c, &set, rule, &outline, s->verbose);
	return STATUS_OK;
}

static const struct option explain_options[] = { RULE_OPTIONS(struct explain_settings),
	{ "verbose", 'v', OPTION_FLAG, offsetof(struct explain_settings, verbose), NULL,
		"every cause and fix, and the columns that it reads" },
	OPTIONS_END };

const struct command explain_command = {
	.name = "explain",
	.arguments = "RULE|RLnnn",
	.summary = "what a rule demands, why, and how to mend what it finds",
	.details =
		"With the limits that apply here: those of the rule file, and of --set. Of the "
		"id that an error or a remark begins with, such as RL304: what it means, and what "
		"can be done.",
	.options = explain_options,
	.least = 1,
	.most = 1,
	.settings_bytes = sizeof(struct explain_settings),
	.run = explain_run,
};
