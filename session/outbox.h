/*
 * The spool: messages that could not be delivered, kept in a directory until they are.
 *
 * A message is one file, put in place whole and removed when its receiver has said yes.  Whoever
 * sends it again holds a lock on the file meanwhile, so that two programs on one spool never send
 * the same message; a lock dies with its holder.  Only a crash between the answer and the removal
 * makes a message arrive twice, and then with the id it had the first time.
 *
 * Refuses: secrets (a file holds the names of variables), and growing: what is too old or too much
 * is dropped, oldest first.
 */
#ifndef SESSION_OUTBOX_H
#define SESSION_OUTBOX_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

#define OUTBOX_MAX_LETTERS 1000	       /* a week of a busy team's failures on one machine */
#define OUTBOX_MAX_AGE_S   (7 * 86400) /* older messages are not sent */
#define OUTBOX_MAX_BYTES   ((ptrdiff_t)256 << 10) /* a message has 32 kB; quoting may double it */

struct letter {
	struct str id;			  /* "msg_" and letters: the same whenever it is sent */
	struct str target;		  /* for people: "team-chat" */
	struct str url_from, secret_from; /* names of variables; secret_from may be missing */
	struct str body;		  /* JSON */
};
bool letter_new_id(struct arena *keep, struct str *ret, struct diag *err);
/* The file's text, and back.  Whatever a letter must be is checked here. */
struct str letter_write(const struct letter *l, struct arena *keep);
bool letter_read(
	struct str file, struct str text, struct arena *keep, struct letter *ret, struct diag *err);

/* The directory given, else the user's own for such things; missing when there is no home. */
struct str outbox_dir(struct str given, struct arena *keep);

/* `now_s` is of the clock that people read. */
bool outbox_put(struct str dir, const struct letter *l, int64_t now_s, struct arena *keep,
	struct diag *err);
/* Drop what is too old or too much; how many messages that were. */
ptrdiff_t outbox_tidy(struct str dir, int64_t now_s, struct arena *keep);
/* Names of the files, oldest first; none where there is no such directory. */
bool outbox_list(
	struct str dir, struct arena *keep, struct str **ret, ptrdiff_t *count, struct diag *err);

struct taken {
	struct str path;
	struct letter letter;
	int fd; /* holds the lock */
};
enum take {
	TAKE_OK,
	TAKE_GONE, /* somebody else sends it, or has */
	TAKE_BAD   /* with a diagnostic */
};
enum take outbox_take(
	struct str dir, struct str name, struct arena *keep, struct taken *ret, struct diag *err);
bool outbox_done(struct taken *t, struct diag *err); /* it was delivered, or is no longer wanted */
void outbox_keep(struct taken *t);		     /* it waits on */

#endif
