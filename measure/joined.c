/*
 * All devices together.  A device is added when its sweep is done; what was gathered op by op is
 * then in the sums, and of its own it keeps what tells devices apart: a time for each op.  So
 * memory grows with distinct ops, and a job of many hosts needs little more than one of them.
 *
 * Sums, extremes and distributions are the same in whichever order devices come.
 */
#include "measure/joined.h"

#include <pthread.h>
#include <string.h>

/* Devices run the same program in the same order, so the i-th instances belong together. */
struct joined {
	pthread_mutex_t lock;
	struct arena keep;
	struct op_total *ops; /* these two by subject */
	struct joined_collective *collectives;
	ptrdiff_t op_cap;
	struct dist *programs; /* by program */
	ptrdiff_t program_cap;
	int64_t slowest_ps[SWEEP_MAX_STEPS];
};

struct joined *joined_new(struct arena *keep)
{
	struct joined *j = arena_make(keep, struct joined, 1);

	pthread_mutex_init(&j->lock, NULL);
	j->keep = arena_new(JOINED_ARENA_BYTES);
	return j;
}

void joined_free(struct joined *j)
{
	arena_free(&j->keep);
	pthread_mutex_destroy(&j->lock);
}

void joined_clear(struct joined *j)
{
	arena_clear(&j->keep);
	j->ops = NULL;
	j->collectives = NULL;
	j->programs = NULL;
	j->op_cap = j->program_cap = 0;
	memset(j->slowest_ps, 0, sizeof(j->slowest_ps));
}

static void *longer(
	struct arena *keep, const void *old, ptrdiff_t old_n, ptrdiff_t n, ptrdiff_t size)
{
	void *p = arena_alloc(keep, size, 16, n);

	if (old_n > 0)
		memcpy(p, old, (size_t)(old_n * size));
	return p;
}

#define LONGER(keep, items, old_n, n)                                                              \
	((items) = longer((keep), (items), (old_n), (n), (ptrdiff_t)sizeof(*(items))))

static void make_room(struct joined *j, const struct sweep *s)
{
	if (s->op_cap > j->op_cap) {
		LONGER(&j->keep, j->ops, j->op_cap, s->op_cap);
		LONGER(&j->keep, j->collectives, j->op_cap, s->op_cap);
		j->op_cap = s->op_cap;
	}
	if (s->program_cap > j->program_cap) {
		LONGER(&j->keep, j->programs, j->program_cap, s->program_cap);
		j->program_cap = s->program_cap;
	}
}

static void op_join(struct op_total *into, struct arena *keep, const struct op_total *t)
{
	into->overlap_ps += t->overlap_ps;
	into->exposed_ps += t->exposed_ps;
	into->hidden_ps += t->hidden_ps;
	into->bytes += t->bytes;
	into->nested |= t->nested;
	dist_merge(&into->self, keep, &t->self);
}

static void instance_join(struct joined_instance *into, int64_t span_ps)
{
	if (into->seen == 0 || span_ps < into->min_ps)
		into->min_ps = span_ps;
	if (into->seen == 0 || span_ps > into->max_ps)
		into->max_ps = span_ps;
	into->seen++;
}

static void collective_join(
	struct joined_collective *into, struct arena *keep, const struct collective_total *c)
{
	if (c->count > into->count) {
		LONGER(keep, into->instances, into->count, c->count);
		into->count = c->count;
	}
	for (ptrdiff_t i = 0; i < c->count; i++)
		instance_join(&into->instances[i], c->spans_ps[i]);
	into->done_self_ps += c->done_self_ps;
	dist_merge(&into->span, keep, &c->span);
}

static bool is_steady(const struct swept_step *s)
{
	return s->complete && !s->warmup;
}

/* The k-th steady steps of all devices are one step of the job. */
static void steps_join(int64_t *slowest_ps, const struct sweep *s)
{
	ptrdiff_t k = 0;

	for (ptrdiff_t i = 0; i < s->step_count; i++) {
		int64_t length_ps = s->steps[i].end_ps - s->steps[i].start_ps;
		if (!is_steady(&s->steps[i]))
			continue;
		if (length_ps > slowest_ps[k])
			slowest_ps[k] = length_ps;
		k++;
	}
}

/* The first `most` steady ones and as many others, in place. */
static void steps_cut(struct sweep *s, ptrdiff_t most)
{
	ptrdiff_t kept = 0, of[2] = { 0, 0 };

	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (of[is_steady(&s->steps[i])]++ < most)
			s->steps[kept++] = s->steps[i];
	s->step_count = kept;
}

static void *copied(struct arena *keep, const void *items, ptrdiff_t n, ptrdiff_t size)
{
	return longer(keep, items, n, n, size);
}

#define COPIED(keep, items, n) copied((keep), (items), (n), (ptrdiff_t)sizeof(*(items)))

/* Subjects are numbered as they are met: those of one program lie together, and with hosts of many
 * programs a device has few of all. */
static void times_keep(struct sweep *s, struct arena *keep)
{
	ptrdiff_t first = 0, end = s->op_cap;

	while (first < end && s->ops[first].self.sum == 0)
		first++;
	while (end > first && s->ops[end - 1].self.sum == 0)
		end--;
	s->self_ps = arena_make(keep, int64_t, end - first);
	s->self_first = first;
	s->self_count = end - first;
	for (ptrdiff_t i = first; i < end; i++)
		s->self_ps[i - first] = s->ops[i].self.sum;
}

/* What a device keeps: its own arena ends with its sweep. */
static void device_keep(struct sweep *s, struct arena *keep)
{
	times_keep(s, keep);
	for (ptrdiff_t i = 0; i < s->program_cap; i++) {
		struct program_total *p = &s->programs[i];
		p->marker_nested = p->marker >= 0 && s->ops[p->marker].nested;
		p->dist = (struct dist){ 0 };
	}
	s->ops = NULL;
	s->collectives = NULL;
	s->programs = COPIED(keep, s->programs, s->program_cap);
	s->steps = COPIED(keep, s->steps, s->step_count);
	s->gaps = COPIED(keep, s->gaps, s->gap_count);
}

void joined_add(struct joined *j, struct sweep *s, ptrdiff_t steps)
{
	pthread_mutex_lock(&j->lock);
	make_room(j, s);
	for (ptrdiff_t i = 0; i < s->op_cap; i++) {
		op_join(&j->ops[i], &j->keep, &s->ops[i]);
		collective_join(&j->collectives[i], &j->keep, &s->collectives[i]);
	}
	for (ptrdiff_t i = 0; i < s->program_cap; i++)
		dist_merge(&j->programs[i], &j->keep, &s->programs[i].dist);
	steps_join(j->slowest_ps, s);
	steps_cut(s, steps);
	device_keep(s, &j->keep);
	pthread_mutex_unlock(&j->lock);
}

ptrdiff_t joined_op_count(const struct joined *j)
{
	return j->op_cap;
}

struct op_total joined_op(const struct joined *j, ptrdiff_t subject)
{
	return subject < j->op_cap ? j->ops[subject] : (struct op_total){ 0 };
}

struct joined_collective joined_collective(const struct joined *j, ptrdiff_t subject)
{
	return subject < j->op_cap ? j->collectives[subject] : (struct joined_collective){ 0 };
}

struct dist joined_program(const struct joined *j, ptrdiff_t program)
{
	return program < j->program_cap ? j->programs[program] : (struct dist){ 0 };
}

const int64_t *joined_slowest_ps(const struct joined *j)
{
	return j->slowest_ps;
}
