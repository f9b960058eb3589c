/*
 * The courier: rooflint-http, started when the first message has to go or the first bucket is
 * named, and asked one request at a time.
 *
 * It is found beside this program or in its libexec folder, never by PATH: whoever can put a
 * program into PATH must not get the messages and the names of secrets.
 *
 * Refuses: looking into what it carries, and waiting without end.
 */
#ifndef SESSION_COURIER_H
#define SESSION_COURIER_H

#include <sys/types.h>

#include "base/frame.h"
#include "session/outbox.h"

enum delivery {
	DELIVERY_DONE,
	DELIVERY_FAILED, /* keep the message */
	DELIVERY_GONE	 /* the receiver wants no more, ever */
};

struct receipt {
	enum delivery outcome;
	bool is_down; /* it failed in a way that another message would, too, for now */
	int attempts;
	struct str why; /* what went wrong: clean text without secrets */
};

struct courier {
	pid_t pid;   /* 0: not started */
	pid_t owner; /* who started it: after a fork the child starts its own */
	int to, from;
	double last_id;
};

/* Starts it if need be.  Whatever goes wrong is in the receipt. */
void courier_send(
	struct courier *c, const struct letter *l, struct arena *keep, struct receipt *ret);
/*
 * Any request of rooflint-http: `head` without its id and its limits, which come from `limits`, or
 * NULL for one that says by itself that it is still at work.
 * False when rooflint-http itself gave no answer; *ret is to be released otherwise.
 */
struct courier_limits {
	double timeout_s;	/* of an attempt */
	double deadline_s;	/* no attempt begins later */
	ptrdiff_t answer_bytes; /* what is kept of an answer */
};
bool courier_ask(struct courier *c, cJSON *head, struct str body,
	const struct courier_limits *limits, struct arena *keep, struct frame *ret,
	struct diag *err);
void courier_close(struct courier *c);

#endif
