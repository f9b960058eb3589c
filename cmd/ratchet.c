/*
 * rooflint ratchet: tighten the limits of a rule file to a better run, and touch nothing else.
 *
 * Values are replaced where they stand, so comments and order stay.  A limit is never loosened.
 */
#include <math.h>

#include "base/doc.h"
#include "base/task.h"
#include "cmd/shared.h"
#include "session/baseline.h"

struct ratchet_settings {
	struct read_settings read;
	struct list from;
	bool write;
};

/* A value in the file, and what is to stand there. */
struct edit {
	ptrdiff_t at, len;
	struct str text;
};

struct edits {
	struct edit *items;
	ptrdiff_t count, cap;
};

/* Where a plain scalar stands in the text; -1 when it is not there as it reads. */
static ptrdiff_t offset_of(const struct doc *doc, const struct doc_node *node)
{
	struct str rest = doc->source, line;
	for (int64_t i = 1; i < node->line; i++)
		str_cut(rest, '\n', &line, &rest);
	ptrdiff_t at = rest.p ? doc->source.len - rest.len + (ptrdiff_t)node->column - 1 : -1;
	return at >= 0 && str_starts(str_from_offset(doc->source, at), node->text) ? at : -1;
}

static bool sets(const struct doc *doc, const struct limit *l, int which)
{
	return l->rule->params[which ? PARAM_FAIL : PARAM_WARN].origin.doc == doc;
}

/* Shares shrink in a longer step: of runs that break a limit of this file they say nothing. */
static const struct limit *first_broken(const struct doc *doc, const struct limits *limits)
{
	for (ptrdiff_t i = 0; i < limits->count; i++)
		for (int k = 0; k < LIMITS; k++)
			if (sets(doc, &limits->items[i], k) &&
				limit_is_broken(&limits->items[i], k))
				return &limits->items[i];
	return NULL;
}

/* What init wrote behind the limits of a rule. */
static void add_seen(struct context *c, const struct doc *doc, const struct limit *l, ptrdiff_t at,
	struct edits *edits)
{
	static const struct str mark = STR_INIT("# seen: ");
	struct str line, rest;
	str_cut(str_from_offset(doc->source, at), '\n', &line, &rest);
	ptrdiff_t behind = str_find(line, mark);
	if (behind >= 0)
		*arena_push(c->keep, edits->items, edits->count, edits->cap) =
			(struct edit){ at + behind + mark.len, line.len - behind - mark.len,
				l->seen_text };
}

/* Not for a limit that another file sets. */
static void add_edit(struct context *c, const struct doc *doc, const struct limit *l, int which,
	struct edits *edits)
{
	const struct rule_param *limit = &l->rule->params[which ? PARAM_FAIL : PARAM_WARN];
	const struct doc_node *node = limit->origin.node;
	if (isnan(l->value[which]) || !sets(doc, l, which) || !node || node->quoted)
		return;
	ptrdiff_t at = offset_of(doc, node);
	if (at < 0)
		return;
	*arena_push(c->keep, edits->items, edits->count, edits->cap) =
		(struct edit){ at, node->text.len, l->text[which] };
	add_seen(c, doc, l, at, edits);
	print_line(arena_fmt(c->keep, "%.*s.%.*s: %.*s, was %.*s (seen: %.*s)",
		STR_ARG(l->rule->name), STR_ARG(limit->name), STR_ARG(l->text[which]),
		STR_ARG(node->text), STR_ARG(unit_text(c->keep, l->seen[which], l->unit))));
}

/* The text with its edits, one for each place, in the order of places. */
static void put_edited(struct out *o, struct str text, const struct edits *edits)
{
	for (ptrdiff_t at = 0;;) {
		const struct edit *next = NULL;
		for (ptrdiff_t i = 0; i < edits->count; i++)
			if (edits->items[i].at >= at && (!next || edits->items[i].at < next->at))
				next = &edits->items[i];
		out_str(o, str_head(str_from_offset(text, at), (next ? next->at : text.len) - at));
		if (!next)
			return;
		out_str(o, next->text);
		at = next->at + next->len;
	}
}

static enum status ratchet_run(struct context *c, const void *settings, const struct list *args)
{
	const struct ratchet_settings *s = settings;
	const struct rule_settings rule = { .rules = args->items[0] };
	struct edits edits = { 0 };
	struct load_options options;
	struct limits limits;
	struct diag err;
	struct ruleset set;
	if (!s->from.count)
		return misuse("ratchet needs --from: the better run, or its report");
	/* The file must be one that check would take, too. */
	if (!load_judge(load_engine(c, &err), &rule, &s->read, task_cpus(), c->keep, &set, &options,
		    &err))
		return misused(&err);
	if (!limits_from_runs(&set, &s->from, &options, c->keep, &limits, &err))
		return fail(&err);
	const struct doc *doc = set.doc;
	if (!str_eq(doc->file, set.name))
		return misuse(
			"%.*s is built in; ratchet tightens a file of your own", STR_ARG(set.name));
	const struct limit *broken = first_broken(doc, &limits);
	if (broken) {
		print_line(arena_fmt(c->keep,
			"%.*s is %.*s, beyond the limit of %.*s: nothing is tightened to runs that "
			"got worse",
			STR_ARG(broken->rule->name), STR_ARG(broken->seen_text),
			STR_ARG(doc->file)));
		return STATUS_RULE;
	}
	for (ptrdiff_t i = 0; i < limits.count; i++)
		for (int k = 0; k < LIMITS; k++)
			add_edit(c, doc, &limits.items[i], k, &edits);
	struct out *o = c->out;
	if (s->write && !edits.count)
		return STATUS_OK;
	if (s->write && !(o = out_file(c->keep, doc->file, &err)))
		return fail(&err);
	put_edited(o, doc->source, &edits);
	return !s->write || out_close(o, &err) ? STATUS_OK : fail(&err);
}

static const struct option ratchet_options[] = {
	{ "from", 0, OPTION_LIST, offsetof(struct ratchet_settings, from), "RUN",
		"the better run, as a profile or as the report of it; may be repeated" },
	{ "write", 0, OPTION_FLAG, offsetof(struct ratchet_settings, write), NULL,
		"replace RULES.yaml; without it the new file goes to standard output" },
	READ_OPTIONS(struct ratchet_settings),
	OPTIONS_END,
};

const struct command ratchet_command = {
	.name = "ratchet",
	.arguments = "RULES.yaml",
	.summary = "tighten the limits of a rule file to a better run",
	.details = "Limits that RULES.yaml itself sets, of any rule, become what `rooflint init` "
		   "would write for this run, where that is tighter. Nothing is loosened, a run "
		   "that breaks such a limit changes nothing (exit status 1), and everything "
		   "else in the file stays as it is.",
	.options = ratchet_options,
	.least = 1,
	.most = 1,
	.settings_bytes = sizeof(struct ratchet_settings),
	.run = ratchet_run,
};
