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

#include "report/template.h"
#include "rules/notice.h"

#define MESSAGE_ITEM(R, F)                                                                         \
	F(R, TEXT, state,                                                                          \
		"new, lost, fixed, still or warning; of a fleet: missing, waste, rule, machine, "  \
		"new, slower, faster, other-work, fixed, waiver or unjudged")                      \
	F(R, TEXT, mark, "the same as a sign")                                                     \
	F(R, TEXT, heading,                                                                        \
		"state and rule in words, and the workload where there are several profiles")      \
	F(R, TEXT, text, "message, cost and place in a line, and what to do in another")           \
	F(R, TEXT, rule, "name of the rule")                                                       \
	F(R, TEXT, workload, "what was run")                                                       \
	F(R, TEXT, owner, "whose it is, in a fleet")                                               \
	F(R, TEXT, message, "what is wrong, or why it is unknown")                                 \
	F(R, TEXT, cost, "step time it costs")                                                     \
	F(R, TEXT, place, "file and line")                                                         \
	F(R, TEXT, todo, "what to do about a finding")                                             \
	F(R, REAL, gain_s, "seconds a step that a fix would give back")                            \
	F(R, REAL, subjects, "findings of the rule, with this one")                                \
	F(R, REAL, chips,                                                                          \
		"chips' worth of work that it costs, or did cost; below zero: that was won. In a " \
		"fleet only, as all below")                                                        \
	F(R, REAL, chip_hours, "of the usage file that it costs")                                  \
	F(R, REAL, dollars, "what those cost")                                                     \
	F(R, TEXT, url,                                                                            \
		"where it is shown: the page of its run where --pages wrote one, else its part "   \
		"of --report-url")                                                                 \
	F(R, REAL, seen_before, "windows before in which its rule was broken, too")                \
	F(R, REAL, ran_before, "of so many in which it ran")                                       \
	F(R, REAL, change, "of a mover's step time, over the one before: above zero takes longer")
RECORD_STRUCT(message_item, MESSAGE_ITEM);

#define MESSAGE(R, F)                                                                              \
	F(R, TEXT, event, "report, or fleet when an audit sends it")                               \
	F(R, TEXT, verdict, "the worst of the profiles' verdicts; none of a fleet")                \
	F(R, TEXT, word, "the same in capitals, or FLEET")                                         \
	F(R, TEXT, mark, "the same as a sign")                                                     \
	F(R, TEXT, title, "verdict and profile, or the fleet's window, in a line")                 \
	F(R, TEXT, profile, "the profile as it was named; none when several")                      \
	F(R, TEXT, summary,                                                                        \
		"step time, machine, and what fixes give back; coverage and ratios of a fleet")    \
	F(R, TEXT, change, "\"2 new failures, 1 fixed\", or what all fixes give a fleet back")     \
	F(R, LIST(message_item), items, "what is new, worst first")                                \
	F(R, TEXT, more, "how many items were left out")                                           \
	F(R, TEXT, report_url, "what --report-url says")                                           \
	F(R, TEXT, version, "of rooflint")                                                         \
	F(R, REAL, profiles, "how many profiles")                                                  \
	F(R, REAL, new_count, "rules that began to fail")                                          \
	F(R, REAL, lost_count, "what can no longer be judged")                                     \
	F(R, REAL, fixed_count, "rules that ceased to fail")                                       \
	F(R, REAL, still_count, "rules that fail as before")                                       \
	F(R, REAL, warning_count, "rules that warn")                                               \
	F(R, TEXT, from, "begin of a fleet's window; none of reports, as all below")               \
	F(R, TEXT, to, "its end")                                                                  \
	F(R, REAL, runs, "runs in it")                                                             \
	F(R, REAL, judged_runs, "those that all other numbers are about")                          \
	F(R, REAL, workloads, "their workloads")                                                   \
	F(R, REAL, slower_count, "workloads that got slower")                                      \
	F(R, REAL, faster_count, "workloads that got faster")                                      \
	F(R, REAL, chips, "chips of the workloads' newest runs")                                   \
	F(R, REAL, chips_back, "chips that all fixes give back")                                   \
	F(R, REAL, chip_hours_back, "chip-hours of the usage file, the same way")                  \
	F(R, REAL, dollars_back, "what those cost")                                                \
	F(R, REAL, share, "step time that all fixes give back")                                    \
	F(R, REAL, roofline_ratio, "program goodput")                                              \
	F(R, REAL, mfu, "model FLOPs utilisation")
RECORD_STRUCT(message, MESSAGE);

extern const struct record message_record;

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

struct transitions;
struct message_source report_message(const struct transitions *n);
struct fleet_report;
struct fleet_pages;
/* Both outlive what comes back, which is in `keep`. */
struct message_source fleet_message(
	const struct fleet_report *r, const struct fleet_pages *pages, struct arena *keep);

struct doc_template *message_load(
	enum notice_kind kind, struct str dir, struct arena *keep, struct diag *err);
/* The body to send; `report_url` may be missing.  Fails only when the template is too long. */
bool message_write(enum notice_kind kind, const struct doc_template *t,
	const struct message_source *source, struct str report_url, struct arena *keep,
	struct str *ret, struct diag *err);

#endif
