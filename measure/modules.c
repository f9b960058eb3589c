/*
 * What a TPU ran when, as its Modules line tells: the order of its executions, before any op is
 * read.
 *
 * The line is on the host's clock, which drifts against the ops' own by more than lies between two
 * executions.  So a plan made from it is passed by count (sweep_step.c), and the sweep's own
 * executions confirm it.  What cannot be told here is left to a look at the ops.
 */
#include <pthread.h>

#include "base/task.h"
#include "measure/swept.h"

/* An execution that begins so much before the last op that was looked at had its ops looked at. */
#define LOOKED_PS INT64_C(10000000000)

struct module_lane {
	struct program_run *runs;
	ptrdiff_t count, cap;
	bool usable, cut; /* cut: there are more executions than are kept */
};

struct reading {
	const struct run *run;
	struct module_lane *devices;
	pthread_mutex_t lock; /* of run->keep */
	_Atomic bool cut;     /* of some device: nothing is foreseen */
};

/* The program that a module's name is of; NULL where the capture does not list it. */
static const struct program *program_of_module(
	const struct run *run, const struct plane *p, struct str module)
{
	struct str name;
	uint64_t id;

	return module_name_of(module, &name, &id) ? registry_listed(run->registry, p, id) : NULL;
}

/* False when some execution is of a program that is not listed, or the line is damaged. */
static bool lane_modules(struct module_lane *t, const struct run *run, const struct plane *p,
	const struct lane *l, struct arena *work)
{
	uint64_t clock = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);
	struct event *e = arena_make(work, struct event, 1);
	struct cursor *c = cursor_new(p, l, clock, work);
	const struct program *program = NULL;
	struct str last = { NULL, 0 };
	struct diag err;

	while (cursor_next(c, e)) {
		int64_t shift = (e->stats.present & clock) == clock ? 0 : p->host_shift_ps;
		if (e->name.p != last.p) /* each name stands once */
			program = program_of_module(run, p, e->name);
		last = e->name;
		if (!program)
			return false;
		*arena_push(work, t->runs, t->count, t->cap) =
			(struct program_run){ .start_ps = e->start_ps - shift,
				.end_ps = e->end_ps - shift,
				.program = program->index,
				.step = -1,
				.sort = -1 };
	}
	return cursor_end(c, &err);
}

/* More executions than are kept, counted before any is read. */
static bool lines_cut(const struct plane *p)
{
	int64_t room = PROGRAM_RUNS_MAX + 1;

	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		if (p->lanes[i].class == LANE_MODULES)
			room -= lane_events(&p->lanes[i], room);
	return room == 0;
}

static void device_modules(void *arg, ptrdiff_t i)
{
	struct reading *r = arg;
	struct plane *p = r->run->devices[i].plane;
	struct module_lane *t = &r->devices[i];
	struct arena work;
	bool ok = true;

	if (p->platform != PLATFORM_TPU)
		return;
	t->cut = lines_cut(p);
	if (t->cut)
		r->cut = true;
	if (r->cut) {
		plane_drop(p);
		return;
	}
	work = arena_new(SWEEP_ARENA_BYTES);
	plane_learn(p, &work);
	for (ptrdiff_t k = 0; ok && k < p->lane_count; k++)
		if (p->lanes[k].class == LANE_MODULES)
			ok = lane_modules(t, r->run, p, &p->lanes[k], &work);
	plane_forget(p);
	plane_drop(p);
	program_runs_sort(t->runs, t->count);
	t->usable = ok && t->count > 0;
	pthread_mutex_lock(&r->lock);
	LONGER(r->run->keep, t->runs, t->count, t->count);
	pthread_mutex_unlock(&r->lock);
	arena_free(&work);
}

/*
 * Small programs may run without an op that is recorded.  Which, the look at the first events of a
 * device tells: only programs of ops have been parsed.
 */
static bool *programs_without_ops(const struct reading *r)
{
	const struct run *run = r->run;
	bool *ret = arena_make(run->keep, bool, registry_program_count(run->registry));

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		const struct module_lane *t = &r->devices[i];
		for (ptrdiff_t k = 0;
			s->events > 0 && k < t->count && t->runs[k].end_ps < s->last_ps - LOOKED_PS;
			k++)
			ret[t->runs[k].program] |=
				!registry_program_at(run->registry, t->runs[k].program)->parsed;
	}
	return ret;
}

bool modules_read(struct run *run)
{
	struct reading r = { .run = run };
	bool all = true;

	r.devices = arena_make(run->keep, struct module_lane, run->device_count);
	pthread_mutex_init(&r.lock, NULL);
	task_threads(device_modules, &r, run->device_count, run->options->threads);
	pthread_mutex_destroy(&r.lock);
	const bool *without_ops = programs_without_ops(&r);
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		struct module_lane *t = &r.devices[i];
		struct sweep *s = &run->devices[i].sweep;
		*s = (struct sweep){ .plane = run->devices[i].plane,
			.host = run->devices[i].host,
			.runs_cut = t->cut };
		s->runs = t->runs;
		for (ptrdiff_t k = 0; k < t->count; k++)
			if (!without_ops[t->runs[k].program])
				s->runs[s->run_count++] = t->runs[k];
		all &= t->usable || r.cut;
	}
	return all;
}
