/* The verbs, for whatever kind of store.  See store.h. */
#include "store/store.h"

#include <assert.h>

#include "store/kind.h"
#include "store/address.h"
#include "store/sqlite.h"

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

struct store *store_open_temporary(struct arena *keep, struct diag *err)
{
	struct store *store = arena_make(keep, struct store, 1);
	struct facts_db *d = arena_make(keep, struct facts_db, 1);
	*store = (struct store){ &file_store, d };
	if (facts_db_open_temporary(d, keep, err))
		return store;
	facts_db_close(d);
	return NULL;
}

bool store_append(struct store *s, const struct run_facts *f, struct str kept, struct diag *err)
{
	assert(kept.len <= STORE_KEPT_MAX);
	return s->kind->append(s->s, f, kept, err);
}

bool store_flush(struct store *s, struct diag *err)
{
	return !s->kind->flush || s->kind->flush(s->s, err);
}

bool store_ask(
	struct store *s, const struct question *q, answer_row_fn *take, void *arg, struct diag *err)
{
	assert(q->cells <= QUESTION_MAX_CELLS);
	return store_flush(s, err) && s->kind->ask(s->s, q, take, arg, err);
}

bool store_prune(
	struct store *s, int64_t before_ns, bool superseded, int64_t *count, struct diag *err)
{
	if (!s->kind->prune)
		return diag_set(err, DIAG_STORE,
			"a server's table is its owner's to change: its TTL drops old weeks, and "
			"so does ALTER TABLE rooflint_facts DROP PARTITION '2026-11-16'");
	return s->kind->prune(s->s, before_ns, superseded, count, err);
}

void store_close(struct store *s)
{
	if (s)
		s->kind->close(s->s);
}
