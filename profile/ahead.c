/*
 * A plane's events read by a thread of its own, so that what is made of them takes no longer than
 * the slower of the two.
 *
 *	reader:  merge -> block, block, block      at most BLOCKS ahead
 *	taker:                      block -> event, event ...
 *
 * Ops are met by the reader: a block brings those that its events may refer to.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "profile/xplane.h"

#define BLOCKS	     8
#define BLOCK_EVENTS 1024 /* 40 kB: blocks stay in a processor's own cache */

struct block {
	ptrdiff_t count;
	const struct profile_op *ops;
	struct op_event events[BLOCK_EVENTS];
};

struct ahead {
	struct merge *merge;
	struct plane *plane;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	ptrdiff_t filled, taken; /* blocks, since the beginning; those between are full */
	bool ended, stopped;
	const struct profile_op *ops; /* of the block that is being taken */
	bool taking;
	struct block blocks[BLOCKS];
};

/*
 * To wake the other thread takes some 5 us, a sixth of what a block takes.  A thread that waits for
 * a full block, or for a free one, is woken when half of them are.  The count moves by one, so it
 * cannot skip that half, and each wait ends.
 */
static void wake(struct ahead *a)
{
	if (a->ended || a->filled - a->taken == BLOCKS / 2)
		pthread_cond_signal(&a->changed);
}

/* A block to fill; NULL when the reader has stopped. */
static struct block *block_free(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->stopped && a->filled - a->taken == BLOCKS)
		pthread_cond_wait(&a->changed, &a->lock);
	struct block *b = a->stopped ? NULL : &a->blocks[a->filled % BLOCKS];
	pthread_mutex_unlock(&a->lock);
	return b;
}

static void *read_ahead(void *arg)
{
	struct ahead *a = arg;
	const struct op_event *run;
	struct block *b;

	for (bool more = true; more && (b = block_free(a));) {
		b->count = 0;
		for (ptrdiff_t n; (n = merge_run(a->merge, BLOCK_EVENTS - b->count, &run)) > 0;) {
			memcpy(&b->events[b->count], run, (size_t)n * sizeof(*run));
			b->count += n;
			if (b->count == BLOCK_EVENTS)
				break;
		}
		b->ops = a->plane->ops;
		more = b->count == BLOCK_EVENTS;
		pthread_mutex_lock(&a->lock);
		a->filled++;
		a->ended = !more;
		wake(a);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

struct ahead *ahead_new(struct merge *m, struct plane *p, struct arena *keep)
{
	struct ahead *a = arena_make(keep, struct ahead, 1);

	a->merge = m;
	a->plane = p;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (!pthread_create(&a->thread, NULL, read_ahead, a))
		return a;
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	return NULL;
}

/* A whole block. */
ptrdiff_t ahead_run(struct ahead *a, const struct op_event **ret)
{
	pthread_mutex_lock(&a->lock);
	a->taken += a->taking;
	wake(a);
	while (a->taken == a->filled && !a->ended)
		pthread_cond_wait(&a->changed, &a->lock);
	a->taking = a->taken < a->filled;
	pthread_mutex_unlock(&a->lock);
	if (!a->taking)
		return 0;
	const struct block *b = &a->blocks[a->taken % BLOCKS];
	a->ops = b->ops;
	*ret = b->events;
	return b->count;
}

const struct profile_op *ahead_ops(const struct ahead *a)
{
	return a->ops;
}

void ahead_end(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->stopped = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
}
