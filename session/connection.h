/*
 * A connection to a store, as the command line names it: a file, or a server that rooflint-http
 * speaks to.  It does not survive the fork of workers.
 */
#ifndef SESSION_CONNECTION_H
#define SESSION_CONNECTION_H

#include "session/http_client.h"
#include "store/store.h"

struct connection {
	struct store *store; /* NULL when it is not open */
	struct http_client http;
};

/* Stays where it is while it is open. */
bool connection_open(struct connection *c, struct str place, enum store_use use, struct arena *keep,
	struct diag *err);
/* What was appended is there afterwards. */
bool connection_flush(struct connection *c, struct diag *err);
void connection_close(struct connection *c);

#endif
