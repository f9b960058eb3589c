/* The verbs, for whatever kind of store.  See store.h. */
#include "store/store.h"

#include <assert.h>

#include "store/kind.h"
#include "store/address.h"

struct store {
	const struct store_kind *kind;
	void *s;
};

struct store *store_open(struct str place, enum store_use use, const struct store_link *link,
	struct arena *keep, struct diag *err)
{
	struct store *store = arena_make(keep, struct store, 1);
	store->kind = address_is_remote(place) ? &clickhouse_store : &file_store;
	store->s = store->kind->open(place, use, link, keep, err);
	return store->s ? store : NULL;
}

bool store_append(struct store *s, const struct run_facts *f, struct diag *err)
{
	return s->kind->append(s->s, f, err);
}

bool store_flush(struct store *s, struct diag *err)
{
	return !s->kind->flush || s->kind->flush(s->s, err);
}

bool store_scan(
	struct store *s, struct window window, run_facts_fn *take, void *arg, struct diag *err)
{
	return s->kind->scan(s->s, window, take, arg, err);
}

bool store_ask(
	struct store *s, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	return s->kind->ask(s->s, q, take, arg, err);
}

bool store_look(struct store *s, struct str judge, const struct str *profiles, ptrdiff_t count,
	store_look_fn *take, void *arg, struct diag *err)
{
	assert(count <= STORE_LOOK_MAX);
	return s->kind->look(s->s, judge, profiles, count, take, arg, err);
}

bool store_keep(struct store *s, const struct run_facts *f, struct str bytes, struct diag *err)
{
	return !s->kind->keep || s->kind->keep(s->s, f, bytes, err);
}

bool store_recall(struct store *s, struct str workload, struct str until, run_kept_fn *take,
	void *arg, struct diag *err)
{
	if (!s->kind->recall)
		return diag_set(err, DIAG_STORE,
			"a server keeps facts of runs, and a comparison needs more: record into a "
			"file, or give --baseline a report.json");
	return s->kind->recall(s->s, workload, until, take, arg, err);
}

bool store_medians(
	struct store *s, struct str until, store_median_fn *take, void *arg, struct diag *err)
{
	return !s->kind->medians || s->kind->medians(s->s, until, take, arg, err);
}

bool store_prune(
	struct store *s, struct str before, bool superseded, int64_t *count, struct diag *err)
{
	if (!s->kind->prune)
		return diag_set(err, DIAG_STORE,
			"a server's table is its owner's to change: its TTL drops old weeks, and "
			"so "
			"does ALTER TABLE rooflint_facts DROP PARTITION '2026-11-16'");
	return s->kind->prune(s->s, before, superseded, count, err);
}

void store_close(struct store *s)
{
	if (s)
		s->kind->close(s->s);
}
