/*
 * The store: a set of facts that only grows, on two verbs, append and scan.
 *
 * Facts are known by their hash, so appending what is there changes nothing, in whatever order and
 * by however many writers at once.  What is asked of facts is asked elsewhere (fleet.h), over what
 * a scan returns, so that every kind of store gives the same answers.
 *
 * A store is a SQLite file on a local disk: write-ahead logging, which several writers share, does
 * not work over network file systems.
 *
 * Refuses: changing or forgetting facts; files that are not its own.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/facts.h"

struct store;

/* Made when it is not there yet, unless it is only read.  NULL and a diagnostic (RL701). */
enum store_use { STORE_READ, STORE_WRITE };
struct store *store_open(struct str path, enum store_use use, struct arena *keep, struct diag *err);
void store_close(struct store *s);

/* All of a run or nothing.  Waits for other writers, at most a minute. */
bool store_append(struct store *s, const struct run_facts *f, struct diag *err);
/* The same as a run_facts_fn; `store` is a struct store. */
bool store_take(void *store, const struct run_facts *f, struct diag *err);

/* Moments as facts have them, both included; missing: open at that end. */
struct window {
	struct str from, to;
};
/*
 * Runs captured in the window, newest first, then by hash; those without a date come last, in any
 * window.  False when the store fails, or `take` ends it: then with take's diagnostic.
 */
bool store_scan(
	struct store *s, struct window window, run_facts_fn *take, void *arg, struct diag *err);

#endif
