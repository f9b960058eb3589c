/*
 * Any bytes as a message template: it is refused with its place, or fills to a JSON document that
 * can be read, in which what was filled in is no markup.
 */
#include "report/chat.h"
#include "report/message.h"
#include "tests/fuzz/fuzz.h"

/* Looks like markup, and like the end of a text. */
#define VALUE STR_INIT("\"}<zqx>@zqx")

static void fill(const struct doc_template *t, bool innocent, struct arena *keep)
{
	static const struct message_item item = { .rule = VALUE, .text = VALUE, .gain_s = 0.25 };
	static const struct message m = {
		.title = VALUE, .summary = VALUE, .items = { &item, 1 }, .profiles = 3
	};
	for (int kind = 0; kind < NOTICE_KINDS; kind++) {
		struct diag err;
		cJSON *root = template_fill_json(t, &m, chats[kind].escapes, keep);
		struct str text = json_compact(root, keep);
		cJSON *again = json_parse(STR("f"), text, &err);
		require(again && !str_contains(text, STR("\n")));
		if (innocent && (kind == NOTICE_GOOGLE_CHAT || kind == NOTICE_DISCORD) &&
			!str_contains(text, STR("\"url\"")) &&
			!str_contains(text, STR("\"title_link\"")))
			require(!str_contains(text, STR("}<zqx")));
		chat_too_long(&chats[kind], root, text);
		cJSON_Delete(again);
		cJSON_Delete(root);
	}
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { 0 };
	const struct doc_template *t =
		template_parse(STR("f.json"), bytes, &message_record, keep, &err);
	if (t)
		fill(t, !str_contains(bytes, STR("zqx")), keep);
	else
		require(err.id == DIAG_TEMPLATE && err.text[0]);
}
