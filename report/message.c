/*
 * The fields of a message, and fewer of them until it fits.  See message.h; what services allow
 * stands in chat.c.
 */
#include "report/message.h"

#include <math.h>

#include "report/alert.h"
#include "report/chat.h"

static RECORD(message_item, "an item", NULL, MESSAGE_ITEM);
RECORD(message, "the message", NULL, MESSAGE);

static void forget_numbers(void *record, const struct record *of)
{
	for (const struct record_field *f = of->fields; f->name; f++)
		if (f->type == RECORD_REAL)
			*(double *)(void *)((char *)record + f->offset) = NAN;
}

struct message_item message_item_empty(void)
{
	struct message_item m = { 0 };
	forget_numbers(&m, &message_item_record);
	return m;
}

struct message message_empty(void)
{
	struct message m = { 0 };
	forget_numbers(&m, &message_record);
	return m;
}

/* ---- until it fits --------------------------------------------------------------------------- */

struct attempt {
	const struct chat *chat;
	const struct doc_template *t;
	const struct message_source *source;
	struct str report_url;
	struct arena *keep;
	struct str text;      /* of the last one that was filled */
	const char *too_long; /* what in it was, or NULL */
};

/* Links of items are as the report has them. */
static void link_items(struct message *m, struct arena *keep)
{
	const struct message_item *from = m->items.items;
	struct message_item *items = arena_make(keep, struct message_item, m->items.count);
	struct str dir = str_head(m->report_url, str_rfind_char(m->report_url, '/') + 1);
	m->items.items = items;
	for (ptrdiff_t i = 0; i < m->items.count; i++) {
		items[i] = from[i];
		if (items[i].url.p && m->report_url.p)
			items[i].url = arena_fmt(keep, "%.*s%.*s",
				STR_ARG(str_starts(items[i].url, STR("#")) ? m->report_url : dir),
				STR_ARG(items[i].url));
		else
			items[i].url = MISSING;
	}
}

static bool fits(struct attempt *a, ptrdiff_t shown, const struct message_room *room)
{
	struct message m = a->source->make(a->source->of, shown, room, a->keep);
	ptrdiff_t left_out = a->source->total - shown;
	if (left_out)
		m.more = arena_fmt(a->keep, "%td more %s left out here; the report has all.",
			left_out, left_out == 1 ? "is" : "are");
	m.report_url = a->report_url;
	link_items(&m, a->keep);
	cJSON *root = template_fill_json(a->t, &m, a->chat->escapes, a->keep);
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

bool message_write(enum notice_kind kind, const struct doc_template *t,
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

struct doc_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err)
{
	struct str name = arena_fmt(keep, "%.*s.json", STR_ARG(notice_kind_name(kind)));
	return template_load(dir, name, &message_record, keep, err);
}
