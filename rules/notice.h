/*
 * Who is told: the `notifications:` of a rule file.
 *
 *     notifications:
 *       team-chat:
 *         kind: slack
 *         url_from: ROOFLINT_SLACK_URL    # the address of a chat's webhook is a secret: its name
 *         when: change
 *       events:
 *         kind: webhook
 *         url_from: ROOFLINT_EVENTS_URL
 *         secret_from: ROOFLINT_EVENTS_SECRET
 *         required: true
 *
 * They stand beside the rules, and are inherited and replaced with them, so that whoever takes
 * rules from a reference takes these too.
 *
 * Refuses: addresses and keys.  Only names of environment variables that begin with ROOFLINT_.
 */
#ifndef RULES_NOTICE_H
#define RULES_NOTICE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/doc.h"

enum notice_kind {
	NOTICE_SLACK,
	NOTICE_GOOGLE_CHAT,
	NOTICE_TEAMS,
	NOTICE_DISCORD,
	NOTICE_MATTERMOST,
	NOTICE_WEBHOOK,
	NOTICE_KINDS
};
struct str notice_kind_name(enum notice_kind kind); /* "google-chat" */

enum notice_when {
	NOTICE_CHANGE,	/* something began or ceased to fail, or can no longer be judged */
	NOTICE_FAILURE, /* something fails, be it news or not */
	NOTICE_ALWAYS,
	NOTICE_WHENS
};

struct notice {
	struct str name; /* "team-chat" */
	enum notice_kind kind;
	enum notice_when when;
	struct str url_from,
		secret_from;  /* secret_from: missing for chats, and may be for others */
	bool required;	      /* not delivered: exit status 5 */
	struct origin origin; /* none on the command line */
};

#endif
