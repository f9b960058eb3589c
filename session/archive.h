/*
 * A store as the command line names it, with the courier to those on servers.
 */
#ifndef SESSION_ARCHIVE_H
#define SESSION_ARCHIVE_H

#include "session/courier.h"
#include "store/store.h"

struct archive {
	struct store *store; /* NULL when it is not open */
	struct courier courier;
};

/* Stays where it is while it is open. */
bool archive_open(struct archive *a, struct str place, enum store_use use, struct arena *keep,
	struct diag *err);
/* What was appended is there afterwards. */
bool archive_flush(struct archive *a, struct diag *err);
void archive_close(struct archive *a);

#endif
