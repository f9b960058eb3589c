/*
 * Whether all devices run one program: what compares devices may else compare two jobs.
 *
 * Ids are numbers of the process on GPUs, and every job calls its step jit_train_step, so neither
 * an id nor a name tells.  The names that a compiler gave to the ops do: hosts of one job have the
 * same ones, but for what a kernel's library chose on one of them.
 */
#include <math.h>

#include "base/map.h"
#include "base/text.h"
#include "measure/measured.h"

/* Of the time of a program in ops that the first device has as well.  Of two training programs of
 * one name the numbered names of a compiler (all-reduce.1, fusion.3) are the same by chance. */
#define SAME_SHARE 0.5

/* The program that a device spent most time in, of those that it ran again and again; or NULL. */
static const struct program *heaviest_program(const struct measured *m, const struct device *d)
{
	const struct sweep *s = &d->sweep;
	ptrdiff_t best = -1;

	for (ptrdiff_t i = 0; i < s->program_cap; i++)
		if (s->programs[i].executions > 1 &&
			s->programs[i].time_ps > (best < 0 ? 0 : s->programs[best].time_ps))
			best = i;
	return best < 0 ? NULL : registry_program_at(m->registry, best);
}

static bool device_ran(const struct measured *m, const struct device *d, const struct program *p)
{
	for (ptrdiff_t i = 0; i < d->sweep.program_cap; i++)
		if (d->sweep.programs[i].executions > 0 &&
			str_eq(registry_program_at(m->registry, i)->module, p->module))
			return true;
	return false;
}

/* Ops by module and name. */
static struct str op_key(const struct subject *s, struct arena *keep)
{
	return arena_fmt(keep, "%.*s %.*s", STR_ARG(s->program->module), STR_ARG(s->name));
}

static void ops_learn(
	const struct measured *m, const struct device *d, struct map *ops, struct arena *keep)
{
	const struct sweep *s = &d->sweep;

	for (ptrdiff_t i = 0; i < s->self_count; i++) {
		const struct subject *op = registry_subject_at(m->registry, s->self_first + i);
		struct str key = op_key(op, keep);
		if (s->self_ps[i] > 0 && map_get(ops, key) == MAP_NONE)
			map_put(ops, key, 0, keep);
	}
}

/* The share of the device's time in `p` that is of those ops; NaN when no step has any of it. */
static double share_known(const struct measured *m, const struct device *d, const struct program *p,
	const struct map *ops, struct arena scratch)
{
	const struct sweep *s = &d->sweep;
	double all = 0, known = 0;

	for (ptrdiff_t i = 0; i < s->self_count; i++) {
		const struct subject *op = registry_subject_at(m->registry, s->self_first + i);
		struct arena of_op = scratch;
		if (op->program != p)
			continue;
		all += (double)s->self_ps[i];
		if (map_get(ops, op_key(op, &of_op)) != MAP_NONE)
			known += (double)s->self_ps[i];
	}
	return all > 0 ? known / all : NAN;
}

/* A device of which it cannot be said that it runs the first one's program. */
struct stranger {
	const struct device *device; /* NULL: there is none */
	const struct program *program;
	bool same_name;
	double share; /* of its time in ops that the first one has, too */
};

/* A program whose bytes are the first host's is that host's; devices of one host run the same. */
static bool is_settled(
	const struct measured *m, ptrdiff_t i, const struct program *p, const struct program *last)
{
	const struct program *first = heaviest_program(m, m->first);
	bool same_host = i && m->devices[i].host == m->devices[i - 1].host;

	return !p || (p == first && p->proto.len) || (p == last && same_host) ||
	       &m->devices[i] == m->first;
}

/* One of a program of its own, and in no step, was taken for another job's when steps were told
 * apart; one that is late for the steps of the first one's program was not. */
static bool is_stranger(const struct measured *m, const struct stranger *s)
{
	if (!s->same_name)
		return true;
	if (isnan(s->share))
		return s->program != heaviest_program(m, m->first);
	return s->share < SAME_SHARE;
}

static struct stranger stranger_find(const struct measured *m, struct arena scratch)
{
	struct map ops = { 0 };
	const struct program *last = NULL;

	ops_learn(m, m->first, &ops, &scratch);
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		const struct program *p = heaviest_program(m, d);
		if (is_settled(m, i, p, last))
			continue;
		struct stranger s = { d, p, device_ran(m, m->first, p),
			share_known(m, d, p, &ops, scratch) };
		if (is_stranger(m, &s))
			return s;
		last = p;
	}
	return (struct stranger){ 0 };
}

static struct str device_name(struct measured *m, const struct device *d)
{
	struct str plane = text_clean(m->keep, d->plane->name);
	struct str host = text_clean(m->keep, m->hosts[d->host].host);

	return arena_fmt(m->keep, "%.*s of %.*s", STR_ARG(plane), STR_ARG(host));
}

static struct str stranger_text(struct measured *m, const struct stranger *s)
{
	struct str odd = device_name(m, s->device), first = device_name(m, m->first);
	struct str module = s->program->module;

	if (!s->same_name)
		return arena_fmt(m->keep,
			"%.*s runs %.*s, which %.*s does not: what compares devices may compare "
			"two jobs",
			STR_ARG(odd), STR_ARG(module), STR_ARG(first));
	if (isnan(s->share))
		return arena_fmt(m->keep,
			"nothing tells that the %.*s which %.*s runs is that of %.*s: its steps "
			"are left out",
			STR_ARG(module), STR_ARG(odd), STR_ARG(first));
	return arena_fmt(m->keep,
		"%.*s runs another %.*s than %.*s, with %.0f%% of its time in ops that both have: "
		"what compares devices may compare two jobs",
		STR_ARG(odd), STR_ARG(module), STR_ARG(first), s->share * 100);
}

void quality_programs(struct measured *m)
{
	struct stranger s = { 0 };

	if (m->first && heaviest_program(m, m->first))
		s = stranger_find(m, *m->keep);
	if (s.device)
		quality_add(m, "programs-agree", false, "%.*s", STR_ARG(stranger_text(m, &s)));
}
