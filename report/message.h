/*
 * Messages about a set of reports, for chats and for programs: what is new, worst first.
 *
 * One model fills one JSON template per service (templates/slack.json ...).  Services cut, refuse
 * or lose what is too long, each in its own way; so a message is filled with fewer and shorter
 * findings until it keeps every limit, and says how many it left out.
 *
 * Refuses: sending (cmd/deliver.c).
 */
#ifndef REPORT_MESSAGE_H
#define REPORT_MESSAGE_H

#include "report/news.h"
#include "report/template_json.h"

struct message_item {
	struct str state, mark, heading, text, rule, workload, message, cost, place;
	double gain_s, subjects;
};

struct message {
	struct str verdict, word, mark, title, profile, summary, change, more, report_url, version;
	double profiles, new_count, lost_count, fixed_count, still_count, warning_count;
	struct template_list items;
};

extern const struct template_record message_record;

struct json_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err);
/* The body to send; `report_url` may be missing.  Fails only when the template is too long. */
bool message_write(enum notice_kind kind, const struct json_template *t, const struct news *news,
	struct str report_url, struct arena *keep, struct str *ret, struct diag *err);

#endif
