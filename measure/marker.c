/*
 * Which op marks the executions of its program.
 *
 * A sweep takes the first op of a program that it meets, but for those that HLO says stand in a
 * loop.  In a capture that was asked for at any moment that op may stand anywhere: executions then
 * last from there to there, and what lies between two real ones is within one of these, as if the
 * program waited there and not the device for its host.  After a sweep it is known what the others
 * did, and another op marks from now on where
 *
 *	- the one that marks lay inside another op later: it is of a loop;
 *	- without HLO, it ran more than twice as often as the host called the program: the same.
 *	  The op marks that ran as often as the calls and was waited for longest;
 *	- the device came to another from other programs more than twice as often, or waited
 *	  more than twice as long for it, and it ran as often.  Then the first of the schedule
 *	  marks, where there is one, else that other one.
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
	bool looped;		    /* those that mark run in every round of a loop */
	int64_t often, give;	    /* so often one runs that may mark, more or less */
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
			all[i].give++; /* one execution of each device may be cut */
			all[i].nested |= p->marker_nested;
			if (!all[i].ran && p->executions >= 2) {
				all[i].ran = true;
				all[i].often = total_of(run, p->marker)->self.count;
			}
		}
	}
}

/* Of each function, by the core of its name, how often each host called it. */
static int64_t *calls_count(const struct run *run, struct map *functions, struct arena *keep)
{
	const struct host_facts *f = &run->facts;
	int64_t *ret = arena_make(keep, int64_t, f->launched.count * run->host_count);
	int32_t *of = arena_make(keep, int32_t, f->launched.count);

	for (int32_t i = 0; i < f->launched.count; i++)
		of[i] = map_put(functions, function_core(f->launched.items[i], keep), i, keep);
	for (ptrdiff_t i = 0; i < f->launches.count; i++) {
		const struct host_span *call = &f->launches.items[i];
		ret[of[map_get(&f->launch_names, call->name)] * run->host_count + call->host]++;
	}
	return ret;
}

/* Of a function those for the devices that ran its program. */
static int64_t calls_of(const struct run *run, const struct program *p, const int64_t *by_host)
{
	int64_t ret = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		if (p->index < s->program_cap && s->programs[p->index].marker >= 0)
			ret += by_host[run->devices[i].host];
	}
	return ret;
}

/*
 * Without HLO a GPU's kernels do not say which of them are of a loop: those are that run more than
 * twice as often as the host called the program.
 */
static void calls_read(
	const struct run *run, struct marking *all, ptrdiff_t programs, struct arena scratch)
{
	struct map functions = { 0 };
	const int64_t *counts = NULL;

	for (ptrdiff_t i = 0; i < programs; i++) {
		const struct program *p = registry_program_at(run->registry, i);
		if (!all[i].ran || p->has_hlo)
			continue;
		if (!counts)
			counts = calls_count(run, &functions, &scratch);
		int32_t at = map_get(&functions, function_core(p->module, &scratch));
		if (at == MAP_NONE)
			continue;
		int64_t calls = calls_of(run, p, counts + at * run->host_count);
		if (calls == 0 || all[i].often <= 2 * calls)
			continue;
		all[i].looped = true;
		all[i].often = calls;
		all[i].give += may_wait(calls);
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
		all[s->program->index].may_else |= s->may_mark && !t->nested && t->self.count > 0;
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
static bool may_begin(const struct run *run, int32_t op)
{
	const struct subject *subject = registry_subject_at(run->registry, op);
	bool ret = subject->may_mark && !total_of(run, op)->nested;

	for (ptrdiff_t i = 0; i < run->device_count && ret; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		int32_t program = subject->program->index;
		if (program < s->program_cap && s->programs[program].marker >= 0)
			ret = op >= s->self_first && op - s->self_first < s->self_count &&
			      s->self_ps[op - s->self_first] > 0;
	}
	return ret;
}

/* Of the ops of a program that ran half as often as this one, or more: the schedule's first. */
static int32_t first_scheduled(
	const struct run *run, const struct program *p, int32_t op, struct arena scratch)
{
	const struct hlo_module *m = program_hlo(p);
	ptrdiff_t *order, count = p->subjects ? hlo_order(m, &scratch, &order) : 0;
	int64_t least = total_of(run, op)->self.count / 2;

	for (ptrdiff_t i = 0; i < count; i++) {
		int32_t at = p->subjects[order[i]] - 1;
		if (at >= 0 && total_of(run, at)->self.count > least && may_begin(run, at))
			return at;
	}
	return op;
}

/* The op of each program that its devices came to most, and the one that they waited for. */
static void others_look(const struct run *run, struct marking *all)
{
	for (int32_t i = 0; i < registry_subject_count(run->registry); i++) {
		struct marking *m = &all[registry_subject_at(run->registry, i)->program->index];
		const struct op_total *t = total_of(run, i);
		int64_t more = t->self.count - m->often;
		if (!m->ran || more < -m->give || more > m->give ||
			(t->entered <= m->entries && t->awaited_ps <= m->waited_ps) ||
			!may_begin(run, i))
			continue;
		if (t->entered > m->entries) {
			m->entries = t->entered;
			m->entered = i;
		}
		if (t->awaited_ps > m->waited_ps) {
			m->waited_ps = t->awaited_ps;
			m->awaited = i;
		}
	}
}

/* Does an op that marks yield to one of those? */
static bool others_rather(const struct run *run, struct marking *m, const struct program *p,
	int32_t marker, struct arena scratch)
{
	const struct op_total *t = total_of(run, marker);
	int32_t rather = m->looped			    ? m->awaited
			 : m->entries > 2 * t->entered	    ? m->entered
			 : m->waited_ps > 2 * t->awaited_ps ? m->awaited
							    : -1;
	const struct hlo_module *hlo = rather < 0 ? NULL : program_hlo(p);

	if (hlo && !hlo->partial)
		rather = first_scheduled(run, p, rather, scratch);
	if (rather < 0 || rather == marker)
		return false;
	m->first = rather;
	return true;
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
	for (ptrdiff_t k = 0; k < run->device_count; k++) {
		const struct sweep *s = &run->devices[k].sweep;
		for (ptrdiff_t i = 0; i < programs && i < s->program_cap; i++)
			if (s->programs[i].marker >= 0 && s->programs[i].executions >= 2)
				any |= others_rather(run, &all[i],
					registry_program_at(run->registry, i),
					s->programs[i].marker, scratch);
	}
	for (int32_t i = 0; any && i < registry_subject_count(run->registry); i++) {
		struct subject *s = registry_subject_at(run->registry, i);
		int32_t first = all[s->program->index].first;
		s->may_mark &= first < 0 || first == i;
	}
	return any;
}
