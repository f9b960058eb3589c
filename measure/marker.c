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
	bool ran, nested,
		may_else;	  /* it has a marker; that lay in another op; another op did not */
	int64_t often;		  /* so often the marker of the first device ran */
	int32_t entered, awaited; /* the ops that were come to most, and waited for longest, */
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
			all[i].nested |= p->marker_nested;
			if (!all[i].ran && p->executions >= 2) {
				all[i].ran = true;
				all[i].often = total_of(run, p->marker)->self.count;
			}
		}
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

/* How long the devices waited for each op. */
static int64_t *waits_read(const struct run *run, struct arena *keep)
{
	int64_t *ret = arena_make(keep, int64_t, registry_subject_count(run->registry));

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		for (ptrdiff_t k = 0; k < s->gap_count; k++)
			if (s->gaps[k].after >= 0)
				ret[s->gaps[k].after] += s->gaps[k].end_ps - s->gaps[k].start_ps;
	}
	return ret;
}

/* The op of each program that its devices came to most, and the one that they waited for. */
static void others_look(const struct run *run, struct marking *all, const int64_t *waits)
{
	int64_t devices = 0; /* one execution of each may be cut */

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		devices += run->devices[i].sweep.events > 0;
	for (int32_t i = 0; i < registry_subject_count(run->registry); i++) {
		struct marking *m = &all[registry_subject_at(run->registry, i)->program->index];
		const struct op_total *t = total_of(run, i);
		int64_t more = t->self.count - m->often;
		if (!m->ran || more < -devices || more > devices ||
			(t->entered <= m->entries && waits[i] <= m->waited_ps) ||
			!may_begin(run, i))
			continue;
		if (t->entered > m->entries) {
			m->entries = t->entered;
			m->entered = i;
		}
		if (waits[i] > m->waited_ps) {
			m->waited_ps = waits[i];
			m->awaited = i;
		}
	}
}

/* Does an op that marks yield to one of those? */
static bool others_rather(const struct run *run, struct marking *m, const struct program *p,
	int32_t marker, const int64_t *waits, struct arena scratch)
{
	int32_t rather = m->entries > 2 * total_of(run, marker)->entered ? m->entered
			 : m->waited_ps > 2 * waits[marker]		 ? m->awaited
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
	const int64_t *waits = waits_read(run, &scratch);
	others_look(run, all, waits);
	for (ptrdiff_t k = 0; k < run->device_count; k++) {
		const struct sweep *s = &run->devices[k].sweep;
		for (ptrdiff_t i = 0; i < programs && i < s->program_cap; i++)
			if (s->programs[i].marker >= 0 && s->programs[i].executions >= 2)
				any |= others_rather(run, &all[i],
					registry_program_at(run->registry, i),
					s->programs[i].marker, waits, scratch);
	}
	for (int32_t i = 0; any && i < registry_subject_count(run->registry); i++) {
		struct subject *s = registry_subject_at(run->registry, i);
		int32_t first = all[s->program->index].first;
		s->may_mark &= first < 0 || first == i;
	}
	return any;
}
