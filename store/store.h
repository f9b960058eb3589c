/*
 * The store: a set of facts that only grows, on two verbs, append and ask.
 *
 * Facts are known by their hash, so appending what is there changes nothing, in whatever order and
 * by however many writers at once.  A question (question.h) runs where the facts are, and adds up
 * whole numbers, so that every kind of store gives the same answers.
 *
 * A store is a SQLite file on a local disk (write-ahead logging, which several writers share, does
 * not work over network file systems), or a table of ClickHouse (address.h says how it is named).
 *
 * Beside its facts a run may have what a later run is compared with: bytes that mean nothing here.
 *
 * Refuses: changing facts, and forgetting any unasked; files and tables that are not its own;
 * opening connections, which a link does that the caller gives.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/facts.h"
#include "store/question.h"

struct store;

/* One question to a server, and its answer. */
struct store_question {
	struct str url;			     /* holds no secret */
	struct str user_from, password_from; /* names of variables; missing: none */
	struct str body;
	double timeout_s;
	ptrdiff_t answer_bytes; /* what is beyond is dropped */
};
struct store_answer {
	struct str error; /* missing: the server took the question and this is its answer */
	struct str body;  /* the server's own words if it refused */
};
struct store_link {
	void (*ask)(void *arg, const struct store_question *q, struct arena *keep,
		struct store_answer *ret);
	void *arg;
};

/*
 * A file is made when it is not there yet, unless it is only read.  One that cannot be written here
 * is read as it is, if all that was appended is in it; a question fails when it was written
 * meanwhile.
 * A server is not asked before the first append or question, and nothing is made there.  NULL and a
 * diagnostic (RL701).
 */
enum store_use { STORE_READ, STORE_WRITE, STORE_PRUNE }; /* the last: one that is there */
struct store *store_open(struct str place, enum store_use use, const struct store_link *link,
	struct arena *keep, struct diag *err);
/* One of this process, on a private file when it is large. */
struct store *store_open_temporary(struct arena *keep, struct diag *err);
/* Without flushing. */
void store_close(struct store *s);

/*
 * All of a run or nothing.  Waits for other writers, at most a minute.  A server gets runs in
 * batches: what was appended is there after a flush or a question, or when it has waited too long.
 * `kept`: what is kept beside its facts, at most STORE_KEPT_MAX; missing: nothing, and what is
 * there already stays.
 */
#define STORE_KEPT_MAX ((ptrdiff_t)1 << 19)
bool store_append(struct store *s, const struct run_facts *f, struct str kept, struct diag *err);
bool store_flush(struct store *s, struct diag *err);

/*
 * The rows of an answer, in the order of the question; a server moves nothing else.  False when the
 * store fails, or `take` ends it: then with take's diagnostic.  `take` does not use the store.
 */
bool store_ask(struct store *s, const struct question *q, answer_row_fn *take, void *arg,
	struct diag *err);

/*
 * Forgets runs captured before a moment (0: none), and of a run that was judged several times all
 * but what was appended last; how many judged runs that were.  Of a file only: a server's table has
 * an owner, and a time to live.
 */
bool store_prune(
	struct store *s, int64_t before_ns, bool superseded, int64_t *count, struct diag *err);

#endif
