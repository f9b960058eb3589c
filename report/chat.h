/*
 * What each chat service makes of a text, and how much it takes.  Private to report/.
 */
#ifndef REPORT_CHAT_H
#define REPORT_CHAT_H

#include "report/template.h"
#include "rules/notice.h"

enum chat_measure {
	CHAT_BODY,  /* bytes of the whole message */
	CHAT_TEXT,  /* bytes of each text of that key; never fewer than its characters */
	CHAT_COUNT, /* items of each list of that key */
	CHAT_SUM    /* bytes of all texts below that key together */
};

struct chat_limit {
	enum chat_measure measure;
	const char *key;
	ptrdiff_t most;
	const char *meaning; /* for messages; NULL ends a list */
};

struct chat {
	const struct json_escape *escapes;
	const struct chat_limit *limits;
	ptrdiff_t items; /* the most that is shown: a chat is glanced at */
};
extern const struct chat chats[NOTICE_KINDS];

/* What in the message the service would refuse, or NULL. */
const char *chat_too_long(const struct chat *chat, const cJSON *root, struct str text);

#endif
