/*
 * Whether all devices run one program: what compares devices may else compare two jobs.
 *
 * Ids are numbers of the process on GPUs, and every job calls its step jit_train_step, so neither
 * an id nor a name tells.  The names that a compiler gave to the ops do: hosts of one job have the
 * same ones, but for what a kernel's library chose on one of them.
 */
#include <math.h>

#include "base/map.h"
#include "measure/writers.h"

/* Of the time of a program in ops that the first device has as well.  Of two training programs of
 * one name the numbered names of a compiler (all-reduce.1, fusion.3) are the same by chance. */
#define SAME_SHARE 0.5

const struct program *heaviest_program(const struct run *run, const struct device *d)
{
	const struct sweep *s = &d->sweep;
	ptrdiff_t best = -1;

	for (ptrdiff_t i = 0; i < s->program_cap; i++)
		if (s->programs[i].executions > 1 &&
			s->programs[i].time_ps > (best < 0 ? 0 : s->programs[best].time_ps))
			best = i;
	return best < 0 ? NULL : registry_program_at(run->registry, best);
}

/* The names of the ops of a module that took the device any time. */
static struct map op_names(
	const struct run *run, const struct device *d, struct str module, struct arena *keep)
{
	struct map names = { 0 };

	for (ptrdiff_t i = 0; i < d->sweep.self_count; i++) {
		const struct subject *op =
			registry_subject_at(run->registry, d->sweep.self_first + i);
		if (d->sweep.self_ps[i] > 0 && str_eq(op->program->module, module))
			map_put(&names, op->name, 0, keep);
	}
	return names;
}

/* The share of the device's time in `p` that is of those ops; NaN when no step has any of it. */
static double share_known(const struct run *run, const struct device *d, const struct program *p,
	const struct map *names)
{
	double all = 0, known = 0;

	for (ptrdiff_t i = 0; i < d->sweep.self_count; i++) {
		const struct subject *op =
			registry_subject_at(run->registry, d->sweep.self_first + i);
		double time_ps = op->program == p ? (double)d->sweep.self_ps[i] : 0;
		all += time_ps;
		known += map_get(names, op->name) != MAP_NONE ? time_ps : 0;
	}
	return all > 0 ? known / all : NAN;
}

static struct str device_name(const struct run *run, const struct device *d)
{
	return arena_fmt(run->keep, "%.*s of %.*s", STR_ARG(d->name), STR_ARG(d->host_name));
}

/* Tells of a device whose main program is not the first device's, or may not be; false: it is. */
static bool tell_stranger(const struct run *run, const struct device *d, const struct program *p,
	const struct map *names)
{
	double share = share_known(run, d, p, names);
	const struct sweep *s = &run->first->sweep;
	struct str module = p->module;
	bool ran = false; /* a program of that name, on the first device */

	for (ptrdiff_t i = 0; i < s->program_cap && !ran; i++)
		ran = s->programs[i].executions > 0 &&
		      str_eq(registry_program_at(run->registry, i)->module, module);
	/* One of a program of its own, and in no step, was taken for another job's when steps were
	 * told apart; one that is late for the steps of the first one's program was not. */
	if (ran && (isnan(share) ? p == heaviest_program(run, run->first) : share >= SAME_SHARE))
		return false;
	struct str odd = device_name(run, d), first = device_name(run, run->first);
	if (!ran)
		quality_add(run, "programs-agree", false,
			"%.*s runs %.*s, which %.*s does not: what compares devices may compare "
			"two jobs",
			STR_ARG(odd), STR_ARG(module), STR_ARG(first));
	else if (isnan(share))
		quality_add(run, "programs-agree", false,
			"nothing says that the %.*s which %.*s runs is that of %.*s: its steps "
			"are left out",
			STR_ARG(module), STR_ARG(odd), STR_ARG(first));
	else
		quality_add(run, "programs-agree", false,
			"%.*s runs another %.*s than %.*s, with %.0f%% of its time in ops that "
			"both have: what compares devices may compare two jobs",
			STR_ARG(odd), STR_ARG(module), STR_ARG(first), share * 100);
	return true;
}

void quality_programs(const struct run *run)
{
	const struct program *first = run->first ? heaviest_program(run, run->first) : NULL,
			     *last = NULL;
	struct arena scratch = *run->keep;
	struct map names = { 0 };
	struct str module = { NULL, 0 };

	for (ptrdiff_t i = 0; first && i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		const struct program *p = heaviest_program(run, d);
		bool same_host = i && d->host == run->devices[i - 1].host;
		/* A program whose bytes are the first host's is that host's; devices of one host
		 * run the same. */
		if (!p || d == run->first || (p == first && p->proto.len) ||
			(p == last && same_host))
			continue;
		if (!str_eq(p->module, module))
			names = op_names(run, run->first, p->module, &scratch);
		module = p->module;
		if (tell_stranger(run, d, p, &names))
			return;
		last = p;
	}
}
