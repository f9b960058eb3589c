/*
 * All devices together.  A device is added when its sweep is done; what was gathered op by op is
 * then in the sums, and of its own it keeps what tells devices apart: a time for each op.  So
 * memory grows with distinct ops, and a job of many hosts needs little more than one of them.
 *
 * Sums, extremes and distributions are the same in whichever order devices come.
 */
#include "measure/aggregate.h"

#include <pthread.h>

/* What all devices did of a subject.  Few move data: NULL else. */
struct sums {
	struct op_total op;
	struct aggregate_moving *moving;
};

/* By blocks, which never move: a job of many programs has a million subjects, most have few. */
enum { BLOCK = 128 };

/* Devices run the same program in the same order, so the i-th instances belong together. */
struct aggregate {
	pthread_mutex_t lock;
	struct arena keep;
	struct sums **blocks; /* of subjects; NULL: no device has one of them */
	ptrdiff_t block_count, block_cap;
	struct dist *programs; /* by program */
	ptrdiff_t program_cap;
	const struct plane *last; /* of the device that ends last, on this host, then: its steps */
	int32_t last_host;
	int64_t last_end_ps, steps_ps[SWEEP_MAX_STEPS];
	ptrdiff_t step_count;
	struct dist lengths;
};

struct aggregate *aggregate_new(struct arena *keep)
{
	struct aggregate *j = arena_make(keep, struct aggregate, 1);

	pthread_mutex_init(&j->lock, NULL);
	j->keep = arena_new(AGGREGATE_ARENA_BYTES);
	return j;
}

void aggregate_free(struct aggregate *j)
{
	arena_free(&j->keep);
	pthread_mutex_destroy(&j->lock);
}

void aggregate_clear(struct aggregate *j)
{
	arena_clear(&j->keep);
	j->blocks = NULL;
	j->programs = NULL;
	j->block_count = j->block_cap = j->program_cap = 0;
	j->last = NULL;
	j->step_count = 0;
	j->lengths = (struct dist){ 0 };
}

/* NULL: no device has one of its block. */
static struct sums *sums_of(const struct aggregate *j, ptrdiff_t subject)
{
	ptrdiff_t block = subject / BLOCK;

	return block < j->block_count && j->blocks[block] ? &j->blocks[block][subject % BLOCK]
							  : NULL;
}

static struct sums *sums_made(struct aggregate *j, ptrdiff_t subject)
{
	while (j->block_count <= subject / BLOCK)
		*arena_push(&j->keep, j->blocks, j->block_count, j->block_cap) = NULL;
	struct sums **block = &j->blocks[subject / BLOCK];
	if (!*block)
		*block = arena_make(&j->keep, struct sums, BLOCK);
	return &(*block)[subject % BLOCK];
}

static void op_join(struct op_total *into, struct arena *keep, const struct op_total *t)
{
	into->overlap_ps += t->overlap_ps;
	into->began += t->began;
	into->began_on += t->began > 0;
	into->entered += t->entered;
	into->awaited_ps += t->awaited_ps;
	into->nested |= t->nested;
	if (t->self.count > 0) {
		into->devices++;
		into->least_ps += t->self.min;
		into->most_ps += t->self.max;
	}
	dist_merge(&into->self, keep, &t->self);
}

static void moving_join(
	struct aggregate_moving *into, struct arena *keep, const struct moving_total *c)
{
	if (c->count > into->count) {
		LONGER(keep, into->instances, into->count, c->count);
		into->count = c->count;
	}
	for (ptrdiff_t i = 0; i < c->count; i++) {
		struct aggregate_instance *k = &into->instances[i];
		int64_t span_ps = c->spans_ps[i];
		k->min_ps = k->seen == 0 || span_ps < k->min_ps ? span_ps : k->min_ps;
		k->max_ps = k->seen == 0 || span_ps > k->max_ps ? span_ps : k->max_ps;
		k->seen++;
	}
	into->exposed_ps += c->exposed_ps;
	into->hidden_ps += c->hidden_ps;
	into->bytes += c->bytes;
	into->pageable_bytes += c->pageable_bytes;
	into->done_self_ps += c->done_self_ps;
	dist_merge(&into->span, keep, &c->span);
}

static bool has_moved(const struct moving_total *c)
{
	return c->span.count || c->done_self_ps || c->exposed_ps || c->hidden_ps || c->bytes;
}

/*
 * The job's steps are those of the device that ends last; of equals, the first.  A capture without
 * steps is as long as its longest device: one that only served copies may be the last.
 */
static bool ends_later(const struct aggregate *j, const struct sweep *s)
{
	int64_t end_ps = s->last_end_ps + s->plane->host_shift_ps;

	if (j->last && s->is_window && s->steady_ps != j->steps_ps[0])
		return s->steady_ps > j->steps_ps[0];

	if (!j->last || end_ps != j->last_end_ps)
		return !j->last || end_ps > j->last_end_ps;
	return s->host != j->last_host ? s->host < j->last_host : s->plane < j->last;
}

static void steps_take(struct aggregate *j, const struct sweep *s)
{
	if (s->steady_count == 0 || !ends_later(j, s))
		return;
	j->last = s->plane;
	j->last_host = s->host;
	j->last_end_ps = s->last_end_ps + s->plane->host_shift_ps;
	j->lengths = (struct dist){ 0 };
	dist_merge(&j->lengths, &j->keep, &s->lengths);
	j->step_count = 0;
	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (step_is_steady(&s->steps[i]))
			j->steps_ps[j->step_count++] = step_length_ps(&s->steps[i]);
}

/*
 * What a device keeps: its own arena ends with its sweep.  Of steps, the first `most` steady ones
 * and as many others.  Subjects are numbered as they are met: those of one program lie together,
 * and with hosts of many programs a device has few of all.
 */
static void device_keep(struct sweep *s, ptrdiff_t most, struct arena *keep)
{
	ptrdiff_t first = 0, end = s->op_cap, kept = 0, of[2] = { 0, 0 };

	while (first < end && s->ops[first].self.sum == 0)
		first++;
	while (end > first && s->ops[end - 1].self.sum == 0)
		end--;
	s->self_ps = arena_make(keep, int64_t, end - first);
	s->self_first = s->op_first + first;
	s->self_count = end - first;
	for (ptrdiff_t i = first; i < end; i++)
		s->self_ps[i - first] = s->ops[i].self.sum;
	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (of[step_is_steady(&s->steps[i])]++ < most)
			s->steps[kept++] = s->steps[i];
	s->step_count = kept;
	for (ptrdiff_t i = 0; i < s->program_cap; i++) {
		struct program_total *p = &s->programs[i];
		p->marker_nested = p->marker >= 0 && sweep_op(s, p->marker)->nested;
		p->dist = (struct dist){ 0 };
	}
	s->ops = NULL;
	s->moving = NULL;
	s->lengths = (struct dist){ 0 };
	LONGER(keep, s->programs, s->program_cap, s->program_cap);
	LONGER(keep, s->steps, s->step_count, s->step_count);
	LONGER(keep, s->runs, s->run_count, s->run_count);
	LONGER(keep, s->gaps.items, s->gaps.count, s->gaps.count);
	LONGER(keep, s->other_gaps.items, s->other_gaps.count, s->other_gaps.count);
}

void aggregate_add(struct aggregate *j, struct sweep *s, ptrdiff_t steps)
{
	pthread_mutex_lock(&j->lock);
	if (s->program_cap > j->program_cap) {
		LONGER(&j->keep, j->programs, j->program_cap, s->program_cap);
		j->program_cap = s->program_cap;
	}
	for (ptrdiff_t i = 0; i < s->op_cap; i++) {
		struct sums *sums = sums_made(j, s->op_first + i);
		const struct moving_total *c = &s->moving[i];
		op_join(&sums->op, &j->keep, &s->ops[i]);
		if (!sums->moving && has_moved(c))
			sums->moving = arena_make(&j->keep, struct aggregate_moving, 1);
		if (sums->moving)
			moving_join(sums->moving, &j->keep, c);
	}
	for (ptrdiff_t i = 0; i < s->program_cap; i++)
		dist_merge(&j->programs[i], &j->keep, &s->programs[i].dist);
	steps_take(j, s);
	device_keep(s, steps, &j->keep);
	pthread_mutex_unlock(&j->lock);
}

const struct op_total *aggregate_op(const struct aggregate *j, ptrdiff_t subject)
{
	static const struct op_total none;
	const struct sums *sums = sums_of(j, subject);

	return sums ? &sums->op : &none;
}

const struct aggregate_moving *aggregate_moving(const struct aggregate *j, ptrdiff_t subject)
{
	static const struct aggregate_moving none;
	const struct sums *sums = sums_of(j, subject);

	return sums && sums->moving ? sums->moving : &none;
}

struct dist aggregate_program(const struct aggregate *j, ptrdiff_t program)
{
	return program < j->program_cap ? j->programs[program] : (struct dist){ 0 };
}

struct dist aggregate_lengths(const struct aggregate *j)
{
	return j->lengths;
}

ptrdiff_t aggregate_steps(const struct aggregate *j, const int64_t **ret_ps)
{
	*ret_ps = j->steps_ps;
	return j->step_count;
}
