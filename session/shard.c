/* Parts of many runs.  See shard.h. */
#include "session/shard.h"
#include "base/stats.h"

#include <assert.h>
#include <stdlib.h>

/* ---- what schedulers say --------------------------------------------------------------------- */

/* The first whose index is set.  Sources: the schedulers' own manuals. */
static const struct scheduler {
	const char *name, *index, *count;
	const char *first, *step; /* what index begins with, and its distance; NULL: 0 and 1 */
	int64_t base;		  /* the least index where `first` is NULL */
} schedulers[] = {
	{ "rooflint", "ROOFLINT_SHARD_INDEX", "ROOFLINT_SHARD_COUNT", NULL, NULL, 0 },
	{ "GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", NULL, NULL, 1 },
	{ "Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", NULL, NULL, 0 },
	{ "Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
		"SLURM_ARRAY_TASK_STEP", 0 },
	/* An Indexed Job is not told how many there are: its manifest says it in our variable. */
	{ "Kubernetes", "JOB_COMPLETION_INDEX", "ROOFLINT_SHARD_COUNT", NULL, NULL, 0 },
};

static bool number_in(const char *variable, int64_t otherwise, int64_t *ret)
{
	struct str value = variable ? str_from(getenv(variable)) : MISSING;
	*ret = otherwise;
	return !value.len || str_to_i64(value, ret);
}

static bool read_scheduler(const struct scheduler *s, struct shard *ret, struct diag *err)
{
	int64_t first, step;
	bool ok = number_in(s->index, -1, &ret->index) && number_in(s->count, 0, &ret->count) &&
		  number_in(s->first, s->base, &first) && number_in(s->step, 1, &step);
	if (ok && step > 0) {
		ret->index = (ret->index - first) / step;
		if (ret->index >= 0 && ret->index < ret->count && ret->count <= SHARDS_MAX)
			return true;
	}
	return diag_set(err, DIAG_USAGE,
		"--shard auto: %s says '%s' in $%s and '%s' in $%s, which names no shard; set "
		"both, or give --shard I/N",
		s->name, getenv(s->index), s->index, getenv(s->count) ? getenv(s->count) : "",
		s->count);
}

static bool shard_auto(struct shard *ret, struct diag *err)
{
	*ret = (struct shard){ 0, 0 };
	for (int i = 0; i < COUNT_OF(schedulers); i++)
		if (str_from(getenv(schedulers[i].index)).len)
			return read_scheduler(&schedulers[i], ret, err);
	return true;
}

bool shard_parse(struct str text, struct shard *ret, struct diag *err)
{
	struct str index, count;
	if (str_eq(text, STR("auto")))
		return shard_auto(ret, err);
	if (str_cut(text, '/', &index, &count) && str_to_i64(index, &ret->index) &&
		str_to_i64(count, &ret->count) && ret->index >= 1 && ret->index <= ret->count &&
		ret->count <= SHARDS_MAX) {
		ret->index--;
		return true;
	}
	return diag_set(err, DIAG_USAGE,
		"--shard takes I/N, like 2/8 for the second of eight, or auto, not '%.*s'",
		STR_ARG(text));
}

/* ---- who takes what -------------------------------------------------------------------------- */

struct load {
	int64_t bytes;
	ptrdiff_t index; /* of the run, or of the shard */
};

/* Largest first, ties in the order of the runs. */
static int by_weight(const void *a, const void *b)
{
	const struct load *x = a, *y = b;
	int order = order_integers(y->bytes, x->bytes);
	return order ? order : order_integers(x->index, y->index);
}

static bool is_lighter(const struct load *a, const struct load *b)
{
	return a->bytes < b->bytes || (a->bytes == b->bytes && a->index < b->index);
}

/* The root of a heap of shards, lightest on top, became heavier. */
static void sink(struct load *heap, ptrdiff_t count)
{
	for (ptrdiff_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_lighter(&heap[child + 1], &heap[child]))
			child++;
		if (!is_lighter(&heap[child], &heap[at]))
			return;
		struct load swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
	}
}

void shard_pick(
	struct shard shard, const int64_t *bytes, ptrdiff_t count, struct arena scratch, bool *ret)
{
	assert(shard.index >= 0 && shard.index < shard.count);
	struct load *runs = arena_make(&scratch, struct load, count);
	struct load *heap = arena_make(&scratch, struct load, shard.count);
	for (ptrdiff_t i = 0; i < shard.count; i++)
		heap[i].index = i;
	for (ptrdiff_t i = 0; i < count; i++)
		runs[i] = (struct load){ bytes[i], i };
	sort_by(runs, count, by_weight);
	for (ptrdiff_t i = 0; i < count; i++) {
		ret[runs[i].index] = heap[0].index == shard.index;
		heap[0].bytes += runs[i].bytes + 1; /* opening a file costs, too */
		sink(heap, shard.count);
	}
}
