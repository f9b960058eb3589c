/*
 * Messages for chats and for programs: what is new in reports, or what a fleet wastes, worst first.
 *
 * One model fills one JSON template per service (templates/slack.json ...).  Services cut, refuse
 * or lose what is too long, each in its own way; so a message is filled with fewer and shorter
 * items until it keeps every limit, and says how many it left out.
 *
 * Refuses: sending (session/deliver.c).
 */
#ifndef REPORT_MESSAGE_H
#define REPORT_MESSAGE_H

#include "report/template_json.h"
#include "rules/notice.h"

struct message_item {
	struct str state, mark, heading, text, rule, workload, owner, message, cost, place;
	double gain_s, subjects, chips, change;
};

struct message {
	struct str event, verdict, word, mark, title, profile, summary, change, more, report_url,
		version, from, to;
	double profiles, new_count, lost_count, fixed_count, still_count, warning_count;
	/* Of a fleet; NaN of reports. */
	double runs, judged_runs, workloads, slower_count, faster_count;
	double chips, chips_back, chip_hours_back, dollars_back, share, roofline_ratio, mfu;
	struct template_list items;
};

extern const struct template_record message_record;

/* No text, no number. */
struct message message_empty(void);
struct message_item message_item_empty(void);

/* How long what a profile says may be, before it is escaped. */
struct message_room {
	ptrdiff_t text; /* of an item */
	ptrdiff_t line; /* of a title or a heading */
};
/* Of names, which are cut at all times. */
enum { MESSAGE_NAME_BYTES = 120, MESSAGE_SHORT_BYTES = 80 };

/* What a message is made of, as long as `of` lives. */
struct message_source {
	const void *of;
	/* The message with `shown` of the items. */
	struct message (*make)(const void *of, ptrdiff_t shown, const struct message_room *room,
		struct arena *keep);
	ptrdiff_t count; /* the most items it can show */
	ptrdiff_t total; /* items that there are, with those that it never shows */
	bool is_due[NOTICE_WHENS];
};

struct news;
struct message_source news_message(const struct news *n);
struct fleet_report;
struct message_source fleet_message(const struct fleet_report *r);

struct json_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err);
/* The body to send; `report_url` may be missing.  Fails only when the template is too long. */
bool message_write(enum notice_kind kind, const struct json_template *t,
	const struct message_source *source, struct str report_url, struct arena *keep,
	struct str *ret, struct diag *err);

#endif
