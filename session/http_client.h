/*
 * rooflint-http, started when the first message has to go, the first bucket is named or the first
 * server of a store is asked, and asked one request at a time.
 *
 * It is found beside this program or in its libexec folder, never by PATH: whoever can put a
 * program into PATH must not get the messages and the names of secrets.
 *
 * Refuses: looking into what it carries, and waiting without end.
 */
#ifndef SESSION_HTTP_CLIENT_H
#define SESSION_HTTP_CLIENT_H

#include <sys/types.h>

#include "base/frame.h"

struct http_client {
	pid_t pid;   /* 0: not started */
	pid_t owner; /* who started it: after a fork the child starts its own */
	int to, from;
	double last_id;
};

/*
 * Any request; the program is started if need be.  `head` comes without its id and its limits,
 * which are in `limits`, or NULL for a request that says by itself that it is still at work.
 * False when rooflint-http itself gave no answer; *ret is to be released otherwise.
 */
struct http_limits {
	double timeout_s;	/* of an attempt */
	double deadline_s;	/* of all attempts */
	ptrdiff_t answer_bytes; /* what is kept of an answer */
};
bool http_client_ask(struct http_client *c, cJSON *head, struct str body,
	const struct http_limits *limits, struct arena *keep, struct frame *ret, struct diag *err);
void http_client_close(struct http_client *c);

#endif
