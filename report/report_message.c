/*
 * What a message says of reports: what is new, worst first.  See message.h.
 */
#include "base/text.h"
#include "report/alert.h"
#include "report/message.h"
#include "report/transition.h"
#include "report/prose.h"

/* ---- items ----------------------------------------------------------------------------------- */

static const struct kind_words {
	struct str state;
	const char *mark, *heading, *one, *many;
} kind_words[TRANSITION_KINDS] = {
	[TRANSITION_NEW] = { STR_INIT("new"), "\xe2\x9d\x8c", "New failure", "new failure",
		"new failures" },
	[TRANSITION_LOST] = { STR_INIT("lost"), "\xe2\x9d\x94", "Not judged", "not judged",
		"not judged" },
	[TRANSITION_FIXED] = { STR_INIT("fixed"), "\xe2\x9c\x85", "Fixed", "fixed", "fixed" },
	[TRANSITION_STILL] = { STR_INIT("still"), "\xe2\x9d\x8c", "Still failing", "still failing",
		"still failing" },
	[TRANSITION_WARNS] = { STR_INIT("warning"), "\xe2\x9a\xa0\xef\xb8\x8f", "Warning",
		"warning", "warnings" },
};

static struct message_item item_of(const struct transition *n, bool is_batch,
	const struct message_room *room, struct arena *keep)
{
	const struct kind_words *words = &kind_words[n->kind];
	struct message_item m = message_item_empty();
	m.state = words->state;
	m.mark = str_from(words->mark);
	m.rule = text_cut(keep, text_clean(keep, n->rule), MESSAGE_SHORT_BYTES);
	m.workload = text_cut(keep, n->workload, MESSAGE_NAME_BYTES);
	m.message = n->reason;
	struct str heading = arena_fmt(keep, "%s: %.*s", words->heading, STR_ARG(m.rule));
	if (n->alert && !n->alert->finding && n->kind == TRANSITION_WARNS) {
		heading = n->alert->title; /* "inconclusive: peak-memory, idle-gaps" */
		m.mark = str_from(kind_words[TRANSITION_LOST].mark);
	}
	if (is_batch)
		heading = arena_fmt(keep, "%.*s in %.*s", STR_ARG(heading), STR_ARG(m.workload));
	if (n->alert) {
		m.message = n->alert->message;
		m.cost = text_cut(keep, n->alert->cost, MESSAGE_SHORT_BYTES);
		const struct finding *f = n->alert->finding;
		if (f) {
			m.place = text_cut(keep,
				place_text(text_clean(keep, f->source_file), f->source_line, keep),
				MESSAGE_NAME_BYTES);
			m.todo = text_cut(keep, text_clean(keep, f->fix), room->text / 2);
		}
		m.gain_s = n->alert->gain_s;
		m.subjects = (double)n->subjects;
	}
	m.heading = text_cut(keep, heading, room->line);
	m.message = text_cut(keep, m.message, room->text);
	struct out *o = out_memory(keep);
	out_str(o, m.message);
	if (m.cost.len)
		out_fmt(o, "; costs %.*s", STR_ARG(m.cost));
	if (m.subjects > 1)
		out_fmt(o, "; and %.0f more", m.subjects - 1);
	if (m.place.len)
		out_fmt(o, " (%.*s)", STR_ARG(m.place));
	if (m.todo.len)
		out_fmt(o, "\nTo do: %.*s", STR_ARG(m.todo));
	m.text = text_cut(keep, out_text(o), room->text);
	return m;
}

/* ---- the head -------------------------------------------------------------------------------- */

static struct str summary_of(const struct report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	const struct str said[] = { headline_of(r, keep), prose_brief(r, "x", keep),
		prose_speaks_for(r, keep) };
	for (ptrdiff_t i = 0; i < COUNT_OF(said); i++)
		if (said[i].len)
			out_str(out_part(o, "; "), said[i]);
	return out_text(o);
}

static struct str change_of(const struct transitions *n, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (int kind = 0; kind < TRANSITION_KINDS; kind++) {
		ptrdiff_t count = n->kinds[kind];
		if (count)
			out_fmt(out_part(o, ", "), "%td %s", count,
				count == 1 ? kind_words[kind].one : kind_words[kind].many);
	}
	return out_text(o).len ? out_text(o) : STR("nothing fails");
}

static void count(struct message *m, const struct transitions *n)
{
	m->profiles = (double)n->set->count;
	m->new_count = (double)n->kinds[TRANSITION_NEW];
	m->lost_count = (double)n->kinds[TRANSITION_LOST];
	m->fixed_count = (double)n->kinds[TRANSITION_FIXED];
	m->still_count = (double)n->kinds[TRANSITION_STILL];
	m->warning_count = (double)n->kinds[TRANSITION_WARNS];
}

/* The first items are shown. */
static struct message make(
	const void *of, ptrdiff_t shown, const struct message_room *room, struct arena *keep)
{
	const struct transitions *n = of;
	enum verdict worst = worst_verdict(n->set);
	const struct verdict_look *look = &verdict_looks[worst];
	bool is_batch = n->set->count != 1;
	struct message_item *items = arena_make(keep, struct message_item, shown + 1);
	struct message m = message_empty();
	struct str what = arena_fmt(keep, "%lld profiles", (long long)n->set->count);
	m.event = STR("report");
	m.verdict = verdict_name(worst);
	m.word = str_from(look->head);
	m.mark = str_from(look->mark);
	m.change = change_of(n, keep);
	m.version = text_cut(keep, text_clean(keep, n->set->tool_version), MESSAGE_SHORT_BYTES);
	count(&m, n);
	if (!is_batch) {
		what = text_clean(keep, n->set->items[0].profile);
		m.profile = text_cut(keep, what, MESSAGE_NAME_BYTES);
		m.summary = text_cut(keep, summary_of(&n->set->items[0], keep), room->text);
	}
	m.title = text_cut(
		keep, arena_fmt(keep, "%s rooflint: %.*s", look->head, STR_ARG(what)), room->line);
	for (ptrdiff_t i = 0; i < shown; i++)
		items[i] = item_of(&n->items[i], is_batch, room, keep);
	m.items = (struct template_list){ items, shown };
	return m;
}

struct message_source report_message(const struct transitions *n)
{
	struct message_source s = { .of = n, .make = make, .count = n->count, .total = n->count };
	for (int when = 0; when < NOTICE_WHENS; when++)
		s.is_due[when] = transitions_are_due(n, (enum notice_when)when);
	return s;
}
