/*
 * What a message says.  See message.h; what services allow stands in chat.c.
 */
#include "report/message.h"

#include <math.h>

#include "base/text.h"
#include "report/alert.h"
#include "report/chat.h"
#include "report/prose.h"

/* ---- the fields ------------------------------------------------------------------------------ */

#define FIELD(record, field, kind, meaning)                                                        \
	{                                                                                          \
#field, kind, offsetof(struct record, field), NULL, meaning                        \
	}

static const struct template_field item_fields[] = {
	FIELD(message_item, state, FIELD_TEXT, "new, lost, fixed, still or warning"),
	FIELD(message_item, mark, FIELD_TEXT, "the same as a sign"),
	FIELD(message_item, heading, FIELD_TEXT,
		"state and rule in words, and the workload where there are several profiles"),
	FIELD(message_item, text, FIELD_TEXT, "message, cost and place in a line"),
	FIELD(message_item, rule, FIELD_TEXT, "name of the rule"),
	FIELD(message_item, workload, FIELD_TEXT, "what was run"),
	FIELD(message_item, message, FIELD_TEXT, "what is wrong, or why it cannot be told"),
	FIELD(message_item, cost, FIELD_TEXT, "step time it costs"),
	FIELD(message_item, place, FIELD_TEXT, "file and line"),
	FIELD(message_item, gain_s, FIELD_NUMBER, "seconds a step that a fix would give back"),
	FIELD(message_item, subjects, FIELD_NUMBER, "findings of the rule, with this one"),
	{ 0 },
};
static const struct template_record item_record = { "an item",
	(ptrdiff_t)sizeof(struct message_item), item_fields };

static const struct template_field message_fields[] = {
	FIELD(message, verdict, FIELD_TEXT, "the worst of the profiles' verdicts"),
	FIELD(message, word, FIELD_TEXT, "the same in capitals"),
	FIELD(message, mark, FIELD_TEXT, "the same as a sign"),
	FIELD(message, title, FIELD_TEXT, "verdict and profile in a line"),
	FIELD(message, profile, FIELD_TEXT, "the profile as it was named; none when several"),
	FIELD(message, summary, FIELD_TEXT, "step time, machine, and what fixes give back"),
	FIELD(message, change, FIELD_TEXT, "\"2 new failures, 1 fixed\""),
	{ "items", FIELD_LIST, offsetof(struct message, items), &item_record,
		"what is new, worst first" },
	FIELD(message, more, FIELD_TEXT, "how many items were left out"),
	FIELD(message, report_url, FIELD_TEXT, "what --report-url says"),
	FIELD(message, version, FIELD_TEXT, "of rooflint"),
	FIELD(message, profiles, FIELD_NUMBER, "how many profiles"),
	FIELD(message, new_count, FIELD_NUMBER, "rules that began to fail"),
	FIELD(message, lost_count, FIELD_NUMBER, "what can no longer be judged"),
	FIELD(message, fixed_count, FIELD_NUMBER, "rules that ceased to fail"),
	FIELD(message, still_count, FIELD_NUMBER, "rules that fail as before"),
	FIELD(message, warning_count, FIELD_NUMBER, "rules that warn"),
	{ 0 },
};
const struct template_record message_record = { "the message", (ptrdiff_t)sizeof(struct message),
	message_fields };

/* ---- items ----------------------------------------------------------------------------------- */

static const struct kind_words {
	struct str state;
	const char *mark, *heading, *one, *many;
} kind_words[NEWS_KINDS] = {
	[NEWS_NEW] = { STR_INIT("new"), "\xe2\x9d\x8c", "New failure", "new failure",
		"new failures" },
	[NEWS_LOST] = { STR_INIT("lost"), "\xe2\x9d\x94", "Not judged", "not judged",
		"not judged" },
	[NEWS_FIXED] = { STR_INIT("fixed"), "\xe2\x9c\x85", "Fixed", "fixed", "fixed" },
	[NEWS_STILL] = { STR_INIT("still"), "\xe2\x9d\x8c", "Still failing", "still failing",
		"still failing" },
	[NEWS_WARNS] = { STR_INIT("warning"), "\xe2\x9a\xa0\xef\xb8\x8f", "Warning", "warning",
		"warnings" },
};

/* How long what a profile says may be, before it is escaped. */
struct room {
	ptrdiff_t text; /* of an item */
	ptrdiff_t line; /* of a title or a heading */
};
enum { NAME_BYTES = 120, SHORT_BYTES = 80 };

static struct str place_of(const struct alert *a, struct arena *keep)
{
	struct str file = a->finding ? text_clean(keep, a->finding->source_file) : MISSING;
	double line = file.len ? a->finding->source_line : (double)NAN;
	if (line >= 1 && line < 1e9)
		file = arena_fmt(keep, "%.*s:%.0f", STR_ARG(file), line);
	return text_cut(keep, file, NAME_BYTES);
}

static void put_text(struct message_item *m, ptrdiff_t text_bytes, struct arena *keep)
{
	struct out *o = out_memory(keep);
	out_str(o, m->message);
	if (m->cost.len)
		out_fmt(o, "; costs %.*s", STR_ARG(m->cost));
	if (m->subjects > 1)
		out_fmt(o, "; and %.0f more", m->subjects - 1);
	if (m->place.len)
		out_fmt(o, " (%.*s)", STR_ARG(m->place));
	m->text = text_cut(keep, out_text(o), text_bytes);
}

static struct message_item item_of(
	const struct news_item *n, bool is_batch, const struct room *room, struct arena *keep)
{
	const struct kind_words *words = &kind_words[n->kind];
	struct message_item m = { .state = words->state,
		.mark = str_from(words->mark),
		.rule = text_cut(keep, text_clean(keep, n->rule), SHORT_BYTES),
		.workload = text_cut(keep, n->workload, NAME_BYTES),
		.message = n->reason,
		.gain_s = NAN,
		.subjects = n->alert ? (double)n->subjects : (double)NAN };
	struct str heading = arena_fmt(keep, "%s: %.*s", words->heading, STR_ARG(m.rule));
	if (n->alert && !n->alert->finding && n->kind == NEWS_WARNS) {
		heading = n->alert->title; /* "inconclusive: peak-memory, idle-gaps" */
		m.mark = str_from(kind_words[NEWS_LOST].mark);
	}
	if (is_batch)
		heading = arena_fmt(keep, "%.*s in %.*s", STR_ARG(heading), STR_ARG(m.workload));
	if (n->alert) {
		m.message = n->alert->message;
		m.cost = text_cut(keep, n->alert->cost, SHORT_BYTES);
		m.place = place_of(n->alert, keep);
		m.gain_s = n->alert->gain_s;
	}
	m.heading = text_cut(keep, heading, room->line);
	m.message = text_cut(keep, m.message, room->text);
	put_text(&m, room->text, keep);
	return m;
}

/* ---- the head -------------------------------------------------------------------------------- */

static const struct sign *worst_sign(const struct report_set *set)
{
	int worst = set->count ? SIGNS - 1 : 2; /* nothing was judged */
	for (ptrdiff_t i = 0; i < set->count; i++) {
		int index = sign_index(&set->items[i]);
		worst = index < worst ? index : worst;
	}
	return &signs[worst];
}

static struct str summary_of(const struct report *r, struct arena *keep)
{
	struct out *o = out_memory(keep);
	struct str chip = text_clean(keep, fact_text(r, STR("chip")));
	double chips = fact_real(r, STR("chips")), step_s = fact_real(r, STR("step_time_s"));
	if (step_s > 0)
		out_fmt(o, "%.*s %s", STR_ARG(time_text(keep, step_s)), prose_per(r));
	if (chip.len)
		out_fmt(o, "%son %.*s", step_s > 0 ? " " : "",
			STR_ARG(text_cut(keep, chip, SHORT_BYTES)));
	if (chip.len && chips > 0 && chips < 1e9)
		out_fmt(o, " x%.0f", chips);
	if (r->gain_s > 0 && isfinite(r->gain_s))
		out_fmt(o, "%sall fixes together give back %.*s", out_text(o).len ? "; " : "",
			STR_ARG(prose_gain(r, r->gain_s, keep)));
	return out_text(o);
}

static struct str change_of(const struct news *n, struct arena *keep)
{
	struct out *o = out_memory(keep);
	for (int kind = 0; kind < NEWS_KINDS; kind++) {
		ptrdiff_t count = n->kinds[kind];
		if (count)
			out_fmt(o, "%s%lld %s", out_text(o).len ? ", " : "", (long long)count,
				count == 1 ? kind_words[kind].one : kind_words[kind].many);
	}
	return out_text(o).len ? out_text(o) : STR("nothing fails");
}

static struct str more_of(ptrdiff_t left_out, struct arena *keep)
{
	if (!left_out)
		return MISSING;
	return arena_fmt(keep, "%lld more %s left out here; report.json has all.",
		(long long)left_out, left_out == 1 ? "is" : "are");
}

/* With the first `shown` items. */
static struct message message_of(const struct news *n, struct str report_url, ptrdiff_t shown,
	const struct room *room, struct arena *keep)
{
	const struct sign *sign = worst_sign(n->set);
	bool is_batch = n->set->count != 1;
	struct message_item *items = arena_make(keep, struct message_item, shown + 1);
	struct message m = { .verdict = sign->verdict,
		.word = str_from(sign->head),
		.mark = str_from(sign->mark),
		.change = change_of(n, keep),
		.more = more_of(n->count - shown, keep),
		.report_url = report_url,
		.version = text_cut(keep, text_clean(keep, n->set->tool_version), SHORT_BYTES),
		.profiles = (double)n->set->count,
		.new_count = (double)n->kinds[NEWS_NEW],
		.lost_count = (double)n->kinds[NEWS_LOST],
		.fixed_count = (double)n->kinds[NEWS_FIXED],
		.still_count = (double)n->kinds[NEWS_STILL],
		.warning_count = (double)n->kinds[NEWS_WARNS] };
	struct str what = arena_fmt(keep, "%lld profiles", (long long)n->set->count);
	if (!is_batch) {
		what = text_clean(keep, n->set->items[0].profile);
		m.profile = text_cut(keep, what, NAME_BYTES);
		m.summary = summary_of(&n->set->items[0], keep);
	}
	m.title = text_cut(
		keep, arena_fmt(keep, "%s rooflint: %.*s", sign->head, STR_ARG(what)), room->line);
	for (ptrdiff_t i = 0; i < shown; i++)
		items[i] = item_of(&n->items[i], is_batch, room, keep);
	m.items = (struct template_list){ items, shown };
	return m;
}

/* ---- until it fits --------------------------------------------------------------------------- */

struct attempt {
	const struct chat *chat;
	const struct json_template *t;
	const struct news *news;
	struct str report_url;
	struct arena *keep;
	struct str text;      /* of the last one that was filled */
	const char *too_long; /* what in it was, or NULL */
};

static bool fits(struct attempt *a, ptrdiff_t shown, const struct room *room)
{
	struct message m = message_of(a->news, a->report_url, shown, room, a->keep);
	cJSON *root = json_template_fill(a->t, &m, a->chat->escapes, a->keep);
	a->text = json_compact(root, a->keep);
	a->too_long = chat_too_long(a->chat, root, a->text);
	cJSON_Delete(root);
	return !a->too_long;
}

/* Long texts first, then shorter ones, and only then less than a handful of items. */
static bool fit(struct attempt *a)
{
	/* The last holds even if escaping makes three bytes of one. */
	static const struct room rooms[] = { { 600, 150 }, { 300, 150 }, { 120, 80 } };
	enum { HANDFUL = 5, SHORTEST = 2 };
	ptrdiff_t most = a->chat->items < a->news->count ? a->chat->items : a->news->count;
	for (int i = 0; i <= SHORTEST; i++) {
		ptrdiff_t least = i == SHORTEST ? 0 : most < HANDFUL ? most : HANDFUL;
		for (ptrdiff_t shown = most; shown >= least; shown--)
			if (fits(a, shown, &rooms[i]))
				return true;
	}
	return false;
}

bool message_write(enum notice_kind kind, const struct json_template *t, const struct news *news,
	struct str report_url, struct arena *keep, struct str *ret, struct diag *err)
{
	struct attempt attempt = { &chats[kind], t, news, report_url, keep, MISSING, NULL };
	if (fit(&attempt)) {
		*ret = attempt.text;
		return true;
	}
	return diag_set(err, DIAG_TEMPLATE,
		"the template of %.*s makes a message that it would refuse, even without findings: "
		"%s",
		STR_ARG(notice_kind_name(kind)), attempt.too_long);
}

struct json_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err)
{
	struct str name = arena_fmt(keep, "%.*s.json", STR_ARG(notice_kind_name(kind)));
	return json_template_load(dir, name, &message_record, keep, err);
}
