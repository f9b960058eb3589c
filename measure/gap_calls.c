/* Which of a host's threads keeps a device waiting.  See gaps.h. */
#include "measure/gaps.h"

/* Calls before a gap's end that are looked at for the one that ended it. */
#define CALLS_LOOKED 256

/* Of the functions called: the steps', the program's that takes most of a step, other work's. */
enum called { OF_NO_PROGRAM, OF_STEP, OF_MAIN, OF_OTHER };

static enum called *functions_called(const struct run *run, struct arena *keep)
{
	const struct list *launched = &run->facts.launched;
	enum called *ret = arena_make(keep, enum called, launched->count);
	struct map cores = { 0 };

	/* Who comes first keeps a name that several programs have. */
	for (enum called of = OF_STEP; of <= OF_OTHER; of++)
		for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
			const struct program *p = registry_program_at(run->registry, i);
			if (of == (p == run->main		 ? OF_MAIN
					  : p->role == ROLE_STEP ? OF_STEP
								 : OF_OTHER))
				map_put(&cores, function_core(p->module, keep), (int32_t)of, keep);
		}
	for (ptrdiff_t i = 0; i < launched->count; i++) {
		int32_t of = map_get(&cores, function_core(launched->items[i], keep));
		ret[i] = of == MAP_NONE ? OF_NO_PROGRAM : (enum called)of;
	}
	return ret;
}

/* The threads that mark the judged steps. */
static struct map marking_threads(const struct run *run, struct arena *keep)
{
	const struct schedule *s = &run->schedule;
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; s->is_marked && i < run->facts.steps.count; i++)
		if (str_eq(run->facts.steps.items[i].name, s->sorts[s->judged].name))
			map_put_id(&ret, run->facts.steps.items[i].thread, 0, keep);
	return ret;
}

/* Calls of the steps' functions, or of other work's; where threads that mark the steps make any,
 * theirs alone. */
static struct calls calls_of(const struct run *run, int32_t h, const enum called *called,
	bool of_other, const struct map *marking, struct arena *keep)
{
	const struct host_facts *f = &run->facts;
	struct calls ret = { .items = arena_make(keep, const struct host_span *, f->launches.count),
		.of_main = arena_make(keep, bool, f->launches.count) };
	bool by_marking = false;

	for (ptrdiff_t i = 0; i < f->launches.count; i++) {
		const struct host_span *call = &f->launches.items[i];
		enum called of = called[map_get(&f->launch_names, call->name)];
		if (call->host != h || !of || (of == OF_OTHER) != of_other)
			continue;
		bool marks = map_get_id(marking, call->thread) != MAP_NONE;
		if (marks && !by_marking)
			ret.count = 0;
		by_marking |= marks;
		if (marks != by_marking)
			continue;
		ret.of_main[ret.count] = of == OF_MAIN || of == OF_OTHER;
		ret.items[ret.count++] = call;
	}
	for (ptrdiff_t i = 0; i < ret.count; i++) {
		ret.of_threads |= ret.items[i]->thread != ret.items[0]->thread;
		ret.tell_main |= ret.of_main[i];
	}
	return ret;
}

/*
 * Several threads may launch work, as a loader does that prepares its batches on the device, and
 * one keeps a device waiting: that which calls these functions.  Where several do, that of the
 * last call before the gap's end of the function that the program is named after.
 */
static int32_t thread_of(const struct run *run, const struct host_gap *g, struct arena scratch)
{
	const struct calls *calls = g->calls;
	int64_t end_ps = g->end_ps + gap_slack_ps(g);
	struct str module, seen = MISSING;
	ptrdiff_t at;

	if (!calls->of_threads)
		return calls->count > 0 ? calls->items[0]->thread : 0;
	if (g->program < 0)
		return 0;
	module = function_core(registry_program_at(run->registry, g->program)->module, &scratch);
	FIND_FIRST(at, 0, calls->count, calls->items[at]->start_ps > end_ps);
	for (ptrdiff_t until = at - CALLS_LOOKED; at-- > 0 && at >= until;) {
		struct arena work = scratch;
		if (calls->items[at]->name.p == seen.p) /* each name stands once */
			continue;
		seen = calls->items[at]->name;
		if (str_eq(function_core(seen, &work), module))
			return calls->items[at]->thread;
	}
	return 0;
}

void gaps_call(const struct run *run, int32_t h, struct host_gap *gaps, ptrdiff_t count,
	struct arena *keep)
{
	const enum called *called = functions_called(run, keep);
	const struct map marking = marking_threads(run, keep);
	struct calls *calls = arena_make(keep, struct calls, 2); /* of the steps; of other work */

	for (int of_other = 0; of_other < 2; of_other++)
		calls[of_other] = calls_of(run, h, called, of_other, &marking, keep);
	for (ptrdiff_t i = 0; i < count; i++) {
		gaps[i].calls = &calls[gaps[i].gap && gaps[i].gap->is_other];
		gaps[i].thread = thread_of(run, &gaps[i], *keep);
	}
}
