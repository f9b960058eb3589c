/*
 * The fields of a message, and fewer of them until it fits.  See message.h; what services allow
 * stands in chat.c.
 */
#include "report/message.h"

#include <math.h>

#include "report/alert.h"
#include "report/chat.h"
#include "report/model.h"

/* ---- the fields ------------------------------------------------------------------------------ */

#define FIELD(record, field, kind, meaning)                                                        \
	{                                                                                          \
#field, kind, offsetof(struct record, field), NULL, meaning                        \
	}

static const struct template_field item_fields[] = {
	FIELD(message_item, state, FIELD_TEXT,
		"new, lost, fixed, still or warning; of a fleet: waste, rule, new, slower, faster, "
		"fixed, waiver or unjudged"),
	FIELD(message_item, mark, FIELD_TEXT, "the same as a sign"),
	FIELD(message_item, heading, FIELD_TEXT,
		"state and rule in words, and the workload where there are several profiles"),
	FIELD(message_item, text, FIELD_TEXT, "message, cost and place in a line"),
	FIELD(message_item, rule, FIELD_TEXT, "name of the rule"),
	FIELD(message_item, workload, FIELD_TEXT, "what was run"),
	FIELD(message_item, owner, FIELD_TEXT, "whose it is, in a fleet"),
	FIELD(message_item, message, FIELD_TEXT, "what is wrong, or why it cannot be told"),
	FIELD(message_item, cost, FIELD_TEXT, "step time it costs"),
	FIELD(message_item, place, FIELD_TEXT, "file and line"),
	FIELD(message_item, gain_s, FIELD_NUMBER, "seconds a step that a fix would give back"),
	FIELD(message_item, subjects, FIELD_NUMBER, "findings of the rule, with this one"),
	FIELD(message_item, chips, FIELD_NUMBER,
		"chips' worth of work that it costs, or did cost; below zero: that was won. In a "
		"fleet only, as all below"),
	FIELD(message_item, change, FIELD_NUMBER,
		"of a mover's step time, over the one before: above zero is slower"),
	{ 0 },
};
static const struct template_record item_record = { "an item",
	(ptrdiff_t)sizeof(struct message_item), item_fields };

static const struct template_field message_fields[] = {
	FIELD(message, event, FIELD_TEXT, "report, or fleet when an audit tells"),
	FIELD(message, verdict, FIELD_TEXT, "the worst of the profiles' verdicts; none of a fleet"),
	FIELD(message, word, FIELD_TEXT, "the same in capitals, or FLEET"),
	FIELD(message, mark, FIELD_TEXT, "the same as a sign"),
	FIELD(message, title, FIELD_TEXT, "verdict and profile, or the fleet's window, in a line"),
	FIELD(message, profile, FIELD_TEXT, "the profile as it was named; none when several"),
	FIELD(message, summary, FIELD_TEXT,
		"step time, machine, and what fixes give back; coverage and ratios of a fleet"),
	FIELD(message, change, FIELD_TEXT,
		"\"2 new failures, 1 fixed\", or what all fixes give a fleet back"),
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
	FIELD(message, from, FIELD_TEXT,
		"begin of a fleet's window; none of reports, as all below"),
	FIELD(message, to, FIELD_TEXT, "its end"),
	FIELD(message, runs, FIELD_NUMBER, "runs in it"),
	FIELD(message, judged_runs, FIELD_NUMBER, "those of which all other numbers speak"),
	FIELD(message, workloads, FIELD_NUMBER, "their workloads"),
	FIELD(message, slower_count, FIELD_NUMBER, "workloads that got slower"),
	FIELD(message, faster_count, FIELD_NUMBER, "workloads that got faster"),
	FIELD(message, chips, FIELD_NUMBER, "chips of the workloads' newest runs"),
	FIELD(message, chips_back, FIELD_NUMBER, "chips that all fixes give back"),
	FIELD(message, chip_hours_back, FIELD_NUMBER, "chip-hours of the usage file, the same way"),
	FIELD(message, dollars_back, FIELD_NUMBER, "what those cost"),
	FIELD(message, share, FIELD_NUMBER, "step time that all fixes give back"),
	FIELD(message, roofline_ratio, FIELD_NUMBER, "program goodput"),
	FIELD(message, mfu, FIELD_NUMBER, "model FLOPs utilisation"),
	{ 0 },
};
const struct template_record message_record = { "the message", (ptrdiff_t)sizeof(struct message),
	message_fields };

static void forget_numbers(void *record, const struct template_field *fields)
{
	for (const struct template_field *f = fields; f->name; f++)
		if (f->kind == FIELD_NUMBER)
			*(double *)(void *)((char *)record + f->offset) = NAN;
}

struct message_item message_item_empty(void)
{
	struct message_item m = { 0 };
	forget_numbers(&m, item_fields);
	return m;
}

struct message message_empty(void)
{
	struct message m = { 0 };
	forget_numbers(&m, message_fields);
	return m;
}

/* ---- until it fits --------------------------------------------------------------------------- */

struct attempt {
	const struct chat *chat;
	const struct json_template *t;
	const struct message_source *source;
	struct str report_url;
	struct arena *keep;
	struct str text;      /* of the last one that was filled */
	const char *too_long; /* what in it was, or NULL */
};

static struct str more_of(ptrdiff_t left_out, struct arena *keep)
{
	if (!left_out)
		return MISSING;
	return arena_fmt(keep, "%lld more %s left out here; the report has all.",
		(long long)left_out, left_out == 1 ? "is" : "are");
}

static bool fits(struct attempt *a, ptrdiff_t shown, const struct message_room *room)
{
	struct message m = a->source->make(a->source->of, shown, room, a->keep);
	m.more = more_of(a->source->total - shown, a->keep);
	m.report_url = a->report_url;
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
	static const struct message_room rooms[] = { { 600, 150 }, { 300, 150 }, { 120, 80 } };
	enum { HANDFUL = 5, SHORTEST = 2 };
	ptrdiff_t count = a->source->count;
	ptrdiff_t most = a->chat->items < count ? a->chat->items : count;
	for (int i = 0; i <= SHORTEST; i++) {
		ptrdiff_t least = i == SHORTEST ? 0 : most < HANDFUL ? most : HANDFUL;
		for (ptrdiff_t shown = most; shown >= least; shown--)
			if (fits(a, shown, &rooms[i]))
				return true;
	}
	return false;
}

bool message_write(enum notice_kind kind, const struct json_template *t,
	const struct message_source *source, struct str report_url, struct arena *keep,
	struct str *ret, struct diag *err)
{
	struct attempt attempt = { &chats[kind], t, source, report_url, keep, MISSING, NULL };
	if (fit(&attempt)) {
		*ret = attempt.text;
		return true;
	}
	return diag_set(err, DIAG_TEMPLATE,
		"the template of %.*s makes a message that it would refuse, even without items: "
		"%s",
		STR_ARG(notice_kind_name(kind)), attempt.too_long);
}

struct json_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err)
{
	struct str name = arena_fmt(keep, "%.*s.json", STR_ARG(notice_kind_name(kind)));
	return json_template_load(dir, name, &message_record, keep, err);
}
