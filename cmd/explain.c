/*
 * rooflint explain: one rule for people: what it demands, why, and what to do; or a diagnostic.
 */
#include "base/embed.h"
#include "cmd/grid.h"
#include "cmd/shared.h"
#include "session/load.h"

struct explain_settings {
	struct rule_settings rule;
};

enum { WIDTH = 88, INDENT = 2, CODE_INDENT = 6 };

/* ---- expressions ----------------------------------------------------------------------------- */

/* The expression with values in place of its :names. */
static struct str filled(const struct rule *r, struct str sql, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str before;
	for (bool more = true; more;) {
		more = str_cut(sql, ':', &before, &sql);
		ptrdiff_t n = 0;
		while (n < sql.len &&
			(is_letter(sql.p[n]) || is_digit(sql.p[n]) || sql.p[n] == '_'))
			n++;
		const struct rule_param *p = rule_param_named(r, str_head(sql, more ? n : 0));
		bool is_filled = p && p->text.p;
		out_fmt(o, "%.*s%.*s%s", STR_ARG(before), STR_ARG(is_filled ? p->text : STR("")),
			more && !is_filled ? ":" : "");
		sql = str_from_offset(sql, is_filled ? n : 0);
	}
	return out_text(o);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void put_columns(struct context *c, const struct rule *r)
{
	struct grid g = { .keep = c->keep, .columns = 3, .indent = INDENT, .wrap = WIDTH };
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

static void put_part(struct context *c, const char *title, const struct rule_text *text)
{
	if (!text->text.len)
		return;
	out_fmt(c->out, "\n%s:\n", title);
	print_paragraphs(c->out, text->text, INDENT, WIDTH);
}

/* Each item with its condition. */
static void put_advice(struct context *c, const char *title, const struct advice_list *list)
{
	for (ptrdiff_t i = 0; i < list->count; i++) {
		const struct advice_item *item = &list->items[i];
		const char *more = !i ? title : item->when.text.p ? "or" : "else";
		if (item->when.text.p)
			more = arena_fmt(c->keep, "%s, where %.*s", more, STR_ARG(item->when.text))
				       .p;
		put_part(c, more, &item->text);
	}
}

static void put_code(struct context *c, const struct rule *r, const char *lead, struct str sql)
{
	struct str line, text = filled(r, str_trim(sql), c->keep);
	if (!text.len)
		return;
	out_fmt(c->out, "  %s\n", lead);
	while (str_next(&text, '\n', &line)) {
		out_repeat(c->out, ' ', CODE_INDENT);
		print_words(c->out, str_trim(line), CODE_INDENT, CODE_INDENT, WIDTH);
	}
}

static void put_demand(struct context *c, const struct rule *r)
{
	bool is_warning = r->severity == SEVERITY_WARN;
	out_z(c->out, "\nWhat it demands:\n");
	if (r->from && r->where.text.len)
		out_fmt(c->out, "  of the rows of %.*s (%.*s)\n", STR_ARG(r->from->name),
			STR_ARG(r->from->meaning));
	else if (r->from)
		out_fmt(c->out, "  of every row of %.*s (%.*s)\n", STR_ARG(r->from->name),
			STR_ARG(r->from->meaning));
	put_code(c, r, "of the rows of", r->select.text);
	put_code(c, r, "where", r->where.text);
	put_code(c, r, "this number:", r->value.text);
	put_code(c, r, "and on top of it at most:", r->unclear.text);
	for (int i = PARAM_WARN; i <= PARAM_FAIL; i++)
		if (r->params[i].text.p)
			out_fmt(c->out, "  is %s %.*s (%s if not)\n",
				r->at_least ? "at least" : "at most", STR_ARG(r->params[i].text),
				i == PARAM_WARN || is_warning ? "a warning" : "a failure");
	put_code(c, r,
		r->gate	     ? "must hold (the rules that need this gate are inconclusive if not):"
		: is_warning ? "must hold (a warning if not, by its severity):"
			     : "must hold (a failure if not):",
		r->assert.text);
	put_code(c, r, "can fail only where (elsewhere a warning):", r->can_fail.text);
	put_code(c, r, "fixing it would give back, per step:", r->gain.text);
	if (r->min_subjects)
		out_fmt(c->out, "  with fewer than %lld such rows it is inconclusive\n",
			(long long)r->min_subjects);
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

static void explain(struct context *c, const struct rule *r)
{
	out_fmt(c->out, "%.*s: ", STR_ARG(r->name));
	print_words(c->out, r->title.text, (int)r->name.len + 2, INDENT, WIDTH);
	if (r->severity == SEVERITY_OFF)
		out_z(c->out, "\nIt is switched off (severity: off).\n");
	put_part(c, "Why", &r->why);
	put_demand(c, r);
	put_advice(c, "Why the others only warn", &r->only_warns);
	put_part(c, "How it is measured", &r->measured);
	put_advice(c, "Likely cause", &r->cause);
	put_advice(c, "Fix", &r->fix);
	put_part(c, "When it is wrong", &r->wrong_when);
	put_params(c, r);
	put_columns(c, r);
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
	explain(c, rule);
	return STATUS_OK;
}

static const struct option explain_options[] = { RULE_OPTIONS(struct explain_settings),
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
