/*
 * Which op marks the executions of its program.
 *
 * A sweep takes the first op of a program that it meets, but for those that HLO says stand in a
 * loop.  In a capture that was asked for at any moment that op may stand anywhere.  An execution
 * then lasts from one such op to the next, or until the device leaves the program for another, and
 * the gap between two real executions lies inside one, as if the program waited there and not the
 * device for its host.  After a sweep it is known what the others did, and another op marks from
 * now on where
 *
 *	- the one that marks lay inside another op later: it is of a loop;
 *	- without HLO, it ran more often than the host called the program and may have queued: the
 *	  same.  The op that ran as often as the calls and was waited for longest marks, or where
 *	  none was, the one that was entered most often;
 *	- an op that ran as often was entered from other programs more than twice as often, or
 *	  waited for more than twice as long.  Then the first of the schedule marks, where there
 *	  is one, else that op.
 *
 * Counts are of the whole window: which steps are steady says nothing of an op's place.
 *
 * Refuses: steps and plans.  An op that does not run on every device that ran its program marks
 * nowhere.
 */
#include "measure/swept.h"

/* What all devices saw of a program. */
struct marking {
	bool ran;		    /* two executions of it began */
	bool nested;		    /* an op that marks lay in another one, */
	bool may_else;		    /* and some op did not */
	bool in_loop;		    /* those that mark run in every round of a loop */
	int64_t devices;	    /* that ran it */
	int64_t often, margin;	    /* so often one runs that may mark, more or less */
	int32_t entered, awaited;   /* the ops that were come to most, and waited for longest, */
	int64_t entries, waited_ps; /* and how much that is */
	int32_t first;		    /* it marks from now on; -1: those that do */
};

static const struct op_total *total_of(const struct run *run, int32_t op)
{
	return aggregate_op(run->sums, op);
}

static void marking_read(const struct run *run, struct marking *all, ptrdiff_t programs)
{
	for (ptrdiff_t i = 0; i < programs; i++)
		all[i] = (struct marking){ .entered = -1, .awaited = -1, .first = -1 };
	for (ptrdiff_t k = 0; k < run->device_count; k++) {
		const struct sweep *s = &run->devices[k].sweep;
		for (ptrdiff_t i = 0; i < programs && i < s->program_cap; i++) {
			const struct program_total *p = &s->programs[i];
			if (p->marker < 0)
				continue;
			all[i].devices++;
			all[i].margin++; /* one execution of each device may be cut */
			all[i].nested |= p->marker_nested;
			if (!all[i].ran && p->executions >= 2) {
				all[i].ran = true;
				all[i].often = total_of(run, p->marker)->began;
			}
		}
	}
}

/* A host's calls of a function. */
struct calls {
	int64_t count, last_ps, apart_ps; /* the longest time from one to the next */
};

/* Of each function, by the core of its name, and each host. */
static struct calls *calls_count(const struct run *run, struct map *functions, struct arena *keep)
{
	const struct host_facts *f = &run->facts;
	struct calls *ret = arena_make(keep, struct calls, f->launched.count * run->host_count);
	int32_t *of = arena_make(keep, int32_t, f->launched.count);

	for (int32_t i = 0; i < f->launched.count; i++)
		of[i] = map_put(functions, function_core(f->launched.items[i], keep), i, keep);
	for (ptrdiff_t i = 0; i < f->launches.count; i++) { /* by host, then start */
		const struct host_span *call = &f->launches.items[i];
		int32_t function = of[map_get(&f->launch_names, call->name)];
		struct calls *c = &ret[function * run->host_count + call->host];
		if (c->count++ && call->start_ps - c->last_ps > c->apart_ps)
			c->apart_ps = call->start_ps - c->last_ps;
		c->last_ps = call->start_ps;
	}
	return ret;
}

/*
 * Of a function those for the devices that ran its program; 0 where they cannot be all: a host that
 * ran ahead and waits calls no more while its devices still work.
 */
static int64_t calls_of(const struct run *run, const struct program *p, const struct calls *by_host)
{
	int64_t ret = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		if (p->index >= d->sweep.program_cap || d->sweep.programs[p->index].marker < 0)
			continue;
		const struct calls *c = &by_host[d->host];
		if (c->count > 1 &&
			d->sweep.last_ps + d->plane->host_shift_ps > c->last_ps + 2 * c->apart_ps)
			return 0;
		ret += c->count;
	}
	return ret;
}

/*
 * Without HLO a GPU's kernels do not say which of them are of a loop: those are that run more often
 * than the host called the program, but for what waited in a queue.
 */
static void calls_read(
	const struct run *run, struct marking *all, ptrdiff_t programs, struct arena scratch)
{
	struct map functions = { 0 };
	const struct calls *by_host = NULL;

	for (ptrdiff_t i = 0; i < programs; i++) {
		const struct program *p = registry_program_at(run->registry, i);
		if (!all[i].ran || p->has_hlo)
			continue;
		if (!by_host)
			by_host = calls_count(run, &functions, &scratch);
		int32_t at = map_get(&functions, function_core(p->module, &scratch));
		if (at == MAP_NONE)
			continue;
		int64_t calls = calls_of(run, p, by_host + at * run->host_count);
		int64_t margin = all[i].margin + may_wait(calls);
		if (calls == 0 || all[i].often <= calls + margin)
			continue;
		all[i].in_loop = true;
		all[i].often = calls;
		all[i].margin = margin;
	}
}

/* No op that lay in another marks, in programs whose marker did and that have others. */
static bool nested_leave(const struct run *run, struct marking *all)
{
	ptrdiff_t n = registry_subject_count(run->registry);
	bool any = false;

	for (int32_t i = 0; i < n; i++) {
		const struct subject *s = registry_subject_at(run->registry, i);
		const struct op_total *t = total_of(run, i);
		all[s->program->index].may_else |= s->may_mark && !t->nested && t->began > 0;
	}
	for (int32_t i = 0; i < n; i++) {
		struct subject *s = registry_subject_at(run->registry, i);
		const struct marking *m = &all[s->program->index];
		if (s->may_mark && m->nested && m->may_else && total_of(run, i)->nested) {
			s->may_mark = false;
			any = true;
		}
	}
	return any;
}

/* May an op mark the executions of its program on every device that had some? */
static bool may_begin(const struct run *run, const struct marking *m, int32_t op)
{
	const struct op_total *t = total_of(run, op);

	return registry_subject_at(run->registry, op)->may_mark && !t->nested &&
	       t->began_on >= m->devices;
}

/* Of the ops of a program that ran more than half as often as this one: the schedule's first. */
static int32_t first_scheduled(const struct run *run, const struct marking *marking,
	const struct program *p, int32_t op, struct arena scratch)
{
	const struct hlo_module *m = program_hlo(p);
	ptrdiff_t *order, count = p->subjects ? hlo_order(m, &scratch, &order) : 0;
	int64_t least = total_of(run, op)->began / 2;

	for (ptrdiff_t i = 0; i < count; i++) {
		int32_t at = p->subjects[order[i]] - 1;
		if (at >= 0 && total_of(run, at)->began > least && may_begin(run, marking, at))
			return at;
	}
	return op;
}

/* Of equals the one that was waited for longer: devices race for the ids of ops. */
static bool is_entered_more(
	const struct run *run, const struct marking *m, const struct op_total *t)
{
	return t->entered > m->entries ||
	       (m->entries > 0 && t->entered == m->entries &&
		       t->awaited_ps > total_of(run, m->entered)->awaited_ps);
}

/* The op of each program that its devices came to most, and the one that they waited for. */
static void others_look(const struct run *run, struct marking *all)
{
	for (int32_t i = 0; i < registry_subject_count(run->registry); i++) {
		struct marking *m = &all[registry_subject_at(run->registry, i)->program->index];
		const struct op_total *t = total_of(run, i);
		int64_t more = t->began - m->often;
		bool enters = is_entered_more(run, m, t), is_awaited = t->awaited_ps > m->waited_ps;
		if (!m->ran || more < -m->margin || more > m->margin || !(enters || is_awaited) ||
			!may_begin(run, m, i))
			continue;
		if (enters) {
			m->entries = t->entered;
			m->entered = i;
		}
		if (is_awaited) {
			m->waited_ps = t->awaited_ps;
			m->awaited = i;
		}
	}
}

/* The op that an op which marks yields to; -1: none. */
static int32_t yields_to(const struct run *run, const struct marking *m, int32_t marker)
{
	const struct op_total *t = total_of(run, marker);

	return m->in_loop && m->awaited < 0	  ? m->entered
	       : m->in_loop			  ? m->awaited
	       : m->entries > 2 * t->entered	  ? m->entered
	       : m->waited_ps > 2 * t->awaited_ps ? m->awaited
						  : -1;
}

/* Where the markers of a program's devices yield, what marks instead; true when that is another. */
static bool marker_yields(
	const struct run *run, struct marking *m, const struct program *p, struct arena scratch)
{
	const struct hlo_module *hlo = NULL;
	int32_t first = -1;
	bool any = false;

	for (ptrdiff_t k = 0; k < run->device_count; k++) {
		const struct sweep *s = &run->devices[k].sweep;
		if (p->index >= s->program_cap || s->programs[p->index].executions < 2)
			continue;
		int32_t marker = s->programs[p->index].marker;
		int32_t to = marker < 0 ? -1 : yields_to(run, m, marker);
		if (to < 0)
			continue;
		hlo = first < 0 ? program_hlo(p) : NULL;
		first = first >= 0	       ? first
			: hlo && !hlo->partial ? first_scheduled(run, m, p, to, scratch)
					       : to;
		any |= first != marker;
	}
	m->first = any ? first : -1;
	return any;
}

bool markers_settle(struct run *run)
{
	ptrdiff_t programs = registry_program_count(run->registry);
	struct arena scratch = *run->keep;
	struct marking *all = arena_make(&scratch, struct marking, programs);
	bool any = false;

	marking_read(run, all, programs);
	if (nested_leave(run, all))
		return true;
	calls_read(run, all, programs, scratch);
	others_look(run, all);
	for (ptrdiff_t i = 0; i < programs; i++)
		any |= marker_yields(run, &all[i], registry_program_at(run->registry, i), scratch);
	for (int32_t i = 0; any && i < registry_subject_count(run->registry); i++) {
		struct subject *s = registry_subject_at(run->registry, i);
		int32_t first = all[s->program->index].first;
		s->may_mark &= first < 0 || first == i;
	}
	return any;
}
