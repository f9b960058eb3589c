/*
 * Escaping and limits by service.  See chat.h.
 *
 * The limits are those of the services' manuals, or, for Slack as a whole, what was seen to work;
 * a little below where the manual counts in another way than we do.
 */
#include "report/chat.h"

#include <string.h>

#include "report/md.h"

/* ---- what a value could be taken for --------------------------------------------------------- */

/* Google Chat knows <b>, <a href> and &amp;, Slack <url> and <!channel>. */
static void put_entities(struct out *o, struct str text)
{
	static const char *const texts[] = { "&lt;", "&gt;", "&amp;" };
	out_replaced(o, text, "<>&", texts);
}

static const struct json_escape entities[] = {
	{ NULL, "url", out_str },
	{ NULL, NULL, put_entities },
};
static const struct json_escape markdown[] = {
	{ NULL, "url", out_str },
	{ NULL, "title_link", out_str },
	{ NULL, NULL, md_text },
};
/* A TextRun is text and nothing else; a TextBlock is Markdown. */
static const struct json_escape cards[] = {
	{ NULL, "url", out_str },
	{ "TextRun", NULL, out_str },
	{ NULL, NULL, md_text },
};
static const struct json_escape plain[] = {
	{ NULL, NULL, out_str },
};

/* ---- how much -------------------------------------------------------------------------------- */

static const struct chat_limit slack_limits[] = {
	{ CHAT_BODY, NULL, 12000, "more than 12000 bytes" }, /* some 13200 were refused */
	{ CHAT_COUNT, "blocks", 50, "more than 50 blocks" },
	{ CHAT_TEXT, "text", 3000, "a text of more than 3000 bytes" },
	{ 0 },
};
static const struct chat_limit google_limits[] = {
	{ CHAT_BODY, NULL, 32000, "more than 32000 bytes" },
	{ CHAT_COUNT, "widgets", 100, "more than 100 widgets" }, /* others are not shown */
	{ 0 },
};
static const struct chat_limit teams_limits[] = {
	{ CHAT_BODY, NULL, 28000, "more than 28000 bytes" },
	{ 0 },
};
static const struct chat_limit discord_limits[] = {
	{ CHAT_TEXT, "content", 2000, "a content of more than 2000 bytes" },
	{ CHAT_COUNT, "embeds", 10, "more than 10 embeds" },
	{ CHAT_COUNT, "fields", 25, "more than 25 fields" },
	{ CHAT_TEXT, "title", 256, "a title of more than 256 bytes" },
	{ CHAT_TEXT, "description", 4096, "a description of more than 4096 bytes" },
	{ CHAT_TEXT, "name", 256, "a field's name of more than 256 bytes" },
	{ CHAT_TEXT, "value", 1024, "a field's value of more than 1024 bytes" },
	{ CHAT_SUM, "embeds", 6000, "embeds of more than 6000 bytes" },
	{ 0 },
};
static const struct chat_limit mattermost_limits[] = {
	{ CHAT_BODY, NULL, 16000, "more than 16000 bytes" },
	{ 0 },
};
static const struct chat_limit webhook_limits[] = {
	{ CHAT_BODY, NULL, 20000, "more than 20000 bytes" },
	{ 0 },
};

const struct chat chats[NOTICE_KINDS] = {
	[NOTICE_SLACK] = { entities, slack_limits, 20 },
	[NOTICE_GOOGLE_CHAT] = { entities, google_limits, 20 },
	[NOTICE_TEAMS] = { cards, teams_limits, 20 },
	[NOTICE_DISCORD] = { markdown, discord_limits, 20 },
	[NOTICE_MATTERMOST] = { markdown, mattermost_limits, 20 },
	[NOTICE_WEBHOOK] = { plain, webhook_limits, 100 },
};

/* ---- measuring ------------------------------------------------------------------------------- */

/* Depth is bounded by that of templates. */
static ptrdiff_t texts_bytes(const cJSON *item)
{
	ptrdiff_t bytes = cJSON_IsString(item) ? str_from(item->valuestring).len : 0;
	const cJSON *child;
	cJSON_ArrayForEach(child, item) bytes += texts_bytes(child);
	return bytes;
}

static ptrdiff_t measure(const struct chat_limit *limit, const cJSON *item)
{
	if (limit->measure == CHAT_TEXT)
		return cJSON_IsString(item) ? str_from(item->valuestring).len : 0;
	if (limit->measure == CHAT_COUNT)
		return cJSON_GetArraySize(item);
	return texts_bytes(item);
}

static bool exceeds(const struct chat_limit *limit, const cJSON *item)
{
	const cJSON *child;
	if (item->string && !strcmp(item->string, limit->key) && measure(limit, item) > limit->most)
		return true;
	cJSON_ArrayForEach(child, item) if (exceeds(limit, child)) return true;
	return false;
}

const char *chat_too_long(const struct chat *chat, const cJSON *root, struct str text)
{
	for (const struct chat_limit *limit = chat->limits; limit->meaning; limit++)
		if (limit->measure == CHAT_BODY ? text.len > limit->most : exceeds(limit, root))
			return limit->meaning;
	return NULL;
}
