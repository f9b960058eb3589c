/*
 * rooflint ratchet: tighten the limits of a rule file to a better run, and touch nothing else.
 *
 * Values are replaced where they stand, so comments and order stay.  A limit is never loosened.
 */
#include <math.h>
#include <stdio.h>

#include "base/doc.h"
#include "base/input.h"
#include "cmd/shared.h"
#include "rules/limits.h"
#include "session/baseline.h"

struct ratchet_settings {
	struct read_settings read;
	struct str from;
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

/* Not for a limit that the file does not set, or that is as tight already. */
static void add_edit(
	struct context *c, const struct doc *doc, const struct limit *l, struct edits *edits)
{
	const struct str keys[] = { STR("rules"), l->rule, STR("params"), l->param };
	const struct doc_node *node = doc->root;
	struct str nearest;
	double now;
	enum unit unit;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && node; i++)
		node = doc_get(node, keys[i]);
	ptrdiff_t at = node && node->kind == DOC_SCALAR ? offset_of(doc, node) : -1;
	if (at < 0 || node->quoted || !unit_parse(node->text, &now, &unit, &nearest) ||
		!(l->value < now * 0.999))
		return;
	*arena_push(c->keep, edits->items, edits->count, edits->cap) =
		(struct edit){ at, node->text.len, l->text };
	fprintf(stderr, "%.*s.%.*s: %.*s, was %.*s (seen: %.*s)\n", STR_ARG(l->rule),
		STR_ARG(l->param), STR_ARG(l->text), STR_ARG(node->text), STR_ARG(l->seen_text));
}

/* The text with its edits, of which each place has one, in the order of places. */
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
	struct edits edits = { 0 };
	struct limit *limits;
	struct baseline good;
	struct diag err;
	struct doc doc;
	struct ruleset set;
	struct str path = args->items[0], text;
	if (!s->from.p) {
		diag_set(&err, DIAG_USAGE, "ratchet needs --from: the better run, or its report");
		return misused(&err);
	}
	/* The file must be one that check would take, too. */
	if (!load_engine(c, &err) ||
		!ruleset_load(c->engine, NULL, path, NULL, c->keep, &set, &err) ||
		!input_text(path, DOC_MAX_BYTES, c->keep, &text, &err) ||
		!doc_parse(path, text, c->keep, &doc, &err))
		return misused(&err);
	if (!baseline_load_good(s->from, &s->read, c->keep, &good, &err))
		return fail(&err);
	ptrdiff_t count = limits_of(good.tables, c->keep, &limits, NULL);
	for (ptrdiff_t i = 0; i < count; i++)
		add_edit(c, &doc, &limits[i], &edits);
	struct out *o = c->out;
	if (s->write && !edits.count)
		return STATUS_OK;
	if (s->write && !(o = out_file(c->keep, doc.file, &err)))
		return fail(&err);
	put_edited(o, doc.source, &edits);
	return !s->write || out_close(o, &err) ? STATUS_OK : fail(&err);
}

static const struct option ratchet_options[] = {
	{ "from", 0, OPTION_TEXT, offsetof(struct ratchet_settings, from), "PROFILE|REPORT.json",
		"the better run, as a profile or as the report of it" },
	{ "write", 0, OPTION_FLAG, offsetof(struct ratchet_settings, write), NULL,
		"replace RULES.yaml; without it the new file goes to standard output" },
	READ_OPTIONS(struct ratchet_settings),
	{ 0 },
};

const struct command ratchet_command = {
	.name = "ratchet",
	.arguments = "RULES.yaml",
	.summary = "tighten the limits of a rule file to a better run",
	.details = "Limits that RULES.yaml itself sets, of the rules that `rooflint init` writes, "
		   "become what `init` would write for this run, where that is less. Nothing is "
		   "loosened, and everything else in the file stays as it is.",
	.options = ratchet_options,
	.least = 1,
	.most = 1,
	.settings_bytes = sizeof(struct ratchet_settings),
	.run = ratchet_run,
};
