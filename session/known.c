/* Which runs a store has.  See known.h. */
#include "session/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/stats.h"
#include "session/load.h"

static struct known_id known_id_of(struct str profile, struct str run)
{
	struct known_id id;
	struct sha256 h = sha256_new();
	sha256_field(&h, profile);
	sha256_field(&h, run);
	sha256_id_bytes(&h, id.bytes);
	return id;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct known_id));
}

static bool know(void *arg, const struct str *cells, struct diag *err)
{
	struct known *k = arg;
	(void)err;
	*arena_push(&k->keep, k->ids, k->count, k->cap) = known_id_of(cells[0], cells[1]);
	return true;
}

/* Only of profiles that are to be judged, so that a store's history costs nothing. */
static bool know_some(void *arg, const struct str *shown, ptrdiff_t count, struct diag *err)
{
	struct known *k = arg;
	if (count)
		return store_look(k->store, k->judge, shown, count, know, k, err);
	sort_by(k->ids, k->count, by_bytes);
	return true;
}

/* As facts have it; both ends of the run's files are read.  Missing: one cannot be opened. */
static struct str identity_of(const struct found_run *run, struct arena *keep)
{
	struct profile *hosts = arena_make(keep, struct profile, run->file_count);
	struct input *inputs = arena_make(keep, struct input, run->file_count);
	struct str id = { NULL, 0 };
	ptrdiff_t count = 0;
	struct diag err;
	while (count < run->file_count &&
		run->tree->open(run->tree, run->files[count].path, keep, &inputs[count], &err)) {
		hosts[count].input = &inputs[count];
		hosts[count].host = run->files[count].host;
		count++;
	}
	if (count && count == run->file_count)
		id = capture_fingerprint(hosts, count, keep);
	while (count)
		input_close(&inputs[--count]);
	return id;
}

/* Nothing is judged. */
static bool is_known(void *arg, struct str shown, const struct found_run *run)
{
	const struct known *k = arg;
	if (!k->count)
		return false;
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	const struct found_run sample = run_sample(run, k->hosts_sample, &scratch);
	struct str id = run_listing(&sample, &scratch);
	if (!id.p)
		id = identity_of(&sample, &scratch);
	const struct known_id key = known_id_of(shown, id);
	bool is_known = id.p && bsearch(&key, k->ids, (size_t)k->count, sizeof(key), by_bytes);
	arena_free(&scratch);
	return is_known;
}

void known_begin(struct known *k, struct store *store, struct str judge, struct batch *batch)
{
	*k = (struct known){
		.store = store, .judge = judge, .hosts_sample = batch->options->hosts_sample
	};
	k->keep = arena_new(ARENA_SCRATCH_BYTES);
	batch->skip = is_known;
	batch->expect = know_some;
	batch->skip_arg = k;
}

void known_end(struct known *k)
{
	arena_free(&k->keep);
}
