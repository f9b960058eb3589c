/*
 * Where the steps come from, and the sweeps that follow from it.
 *
 * A plan says where the steps of a device begin and end.  A sweep measures the device by its plan,
 * and keeps what ran when.  Where that asks for other plans, all devices are swept again.  In
 * between, run->plans and run->source are the state.
 *
 * Before the first sweep of all devices (steps_plan):
 *
 *	device_marks --- a device has a Steps line ----------> GUESSED, LINE
 *	     | none has
 *	main_guess: the first events of one device tell its main program, or none
 *	     |---------- is_plain: nothing else ran ---------> GUESSED, PROGRAM or WINDOW
 *	     | several programs, marks of a host, --step, or a server
 *	plan_foresee: the Modules lines, else a look at all ops, tell what ran when
 *	     |---------- schedule_make finds no steps -------> GUESSED, PROGRAM or WINDOW
 *	     '---------- schedule_make finds steps ----------> FORESEEN, ANNOTATION or PROGRAM
 *
 * After each sweep (markers_settle, then plan_again) the first line that fits decides.  (*):
 * another sweep follows.  (+): one follows where a plan changed.  Else the lines of every state
 * come next.
 *
 *	GUESSED          another op marks -------------------> the same (*)
 *	FORESEEN         another op marks -------------------> as plan_foresee finds then (*)
 *	GUESSED, LINE    schedule_make finds steps ----------> SCHEDULED, LINE (+)
 *	                 a device lacks the line ------------> GUESSED, WINDOW (*)
 *	GUESSED          schedule_make finds steps ----------> SCHEDULED, ANNOTATION or PROGRAM (*)
 *	                 what ran is known, without steps ---> GUESSED, WINDOW (+)
 *	                 plan_by_main -----------------------> GUESSED, PROGRAM or WINDOW (+)
 *	FORESEEN         schedule_make finds steps ----------> SCHEDULED, ANNOTATION or PROGRAM (+)
 *	                 what ran is known, without steps ---> GUESSED, WINDOW (*)
 *	                 is_plain, or runs_cut --------------> GUESSED, PROGRAM or WINDOW (*)
 *	every state      no step is steady, or the last one
 *	                 alone, and most compile ------------> the same, and such steps count (*)
 *	                 no step is steady ------------------> the same, but WINDOW (*)
 *
 * What each pass reads, and what it writes for those behind it:
 *
 *	device_marks     Steps lines                           plan
 *	main_guess       the first events                      main, plan
 *	markers_settle   sweep, sums                           which ops may mark
 *	schedule_make    sweep.runs, marks and launches of     schedule, lasting, source, plan; the
 *	                 the hosts, marks of the plan (LINE)   step and the sort of sweep.runs
 *	devices_sweep    plan                                  sweep, sums
 *	plan_again       sweep, sums, schedule                 plans, source, plan, main, seen
 *	roles_set        schedule.in_step                      roles of programs
 *	totals           sweep, sums                           sums of the run; lasting
 */
#include <assert.h>
#include <math.h>

#include "base/out.h"
#include "base/stats.h"
#include "base/task.h"
#include "measure/graphs.h"
#include "measure/swept.h"

/* Events looked at for the first guess: a few steps of most jobs, a millisecond of work. */
#define GUESS_EVENTS 20000
#define MARKS_MAX    HOST_SPANS_MAX
/* The guess may be wrong once each for the program, steps of several executions, and what disturbs
 * them; for the ops that mark, once for those of loops and once for those within an execution. */
#define SWEEPS_MAX 6

static int mark_cmp(const void *a, const void *b)
{
	const struct step_mark *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	order = order ? order : order_integers(x->end_ps, y->end_ps);
	return order ? order : order_integers(x->number, y->number);
}

static bool lane_marks(struct device *d, const struct lane *l, struct event *e, ptrdiff_t *cap,
	struct arena *keep, struct diag *err)
{
	uint64_t clock = STAT_BIT(DEVICE_OFFSET_PS) | STAT_BIT(DEVICE_DURATION_PS);
	struct cursor *c = cursor_new(d->plane, l, clock | STAT_BIT(STEP_NUM), keep);
	struct step_plan *plan = &d->plan;

	while (cursor_next(c, e) && plan->mark_count < MARKS_MAX) {
		const struct stats *s = &e->stats;
		int64_t shift = (s->present & clock) == clock ? 0 : d->plane->host_shift_ps;
		int64_t number = plan->mark_count; /* unless it says one, or its name is one */
		if (s->present & STAT_BIT(STEP_NUM))
			number = s->at[STAT_STEP_NUM].i64;
		else
			str_to_i64(e->name, &number);
		if (e->end_ps > e->start_ps)
			*arena_push(keep, plan->marks, plan->mark_count, *cap) =
				(struct step_mark){ .start_ps = e->start_ps - shift,
					.end_ps = e->end_ps - shift,
					.number = number };
	}
	return cursor_end(c, err);
}

/* A step lasts until the next one: a mark may end with the work, before what the step waits for. */
static void marks_last(struct step_plan *plan)
{
	bool waits = false;

	for (ptrdiff_t i = 0; i < plan->mark_count; i++) {
		struct step_mark *m = &plan->marks[i];
		m->marked_ps = m->end_ps;
		m->end_ps = i + 1 < plan->mark_count ? m[1].start_ps : m->end_ps;
		waits |= mark_leaves(m->start_ps, m->marked_ps, m->end_ps);
	}
	if (plan->mark_count > 0)
		plan->marks[plan->mark_count - 1].is_cut = waits;
}

/* The Steps line's marks, in order.  `e` has room for an event. */
static bool device_marks(struct device *d, struct event *e, struct arena *keep,
	struct arena scratch, struct diag *err)
{
	struct step_plan *plan = &d->plan;
	bool any = false, ok = true;
	ptrdiff_t cap = 0;

	*plan = (struct step_plan){ .source = STEPS_WINDOW };
	for (ptrdiff_t i = 0; i < d->plane->lane_count; i++)
		any |= d->plane->lanes[i].class == LANE_STEPS && d->plane->lanes[i].bytes > 0;
	if (!any)
		return true;
	plane_learn(d->plane, &scratch); /* a step's name may be its number */
	for (ptrdiff_t i = 0; ok && i < d->plane->lane_count; i++)
		if (d->plane->lanes[i].class == LANE_STEPS)
			ok = lane_marks(d, &d->plane->lanes[i], e, &cap, keep, err);
	plane_forget(d->plane);
	plane_drop(d->plane);
	if (!ok || plan->mark_count == 0)
		return ok;
	plan->source = STEPS_LINE;
	plan->keep_runs = true;
	sort_by(plan->marks, plan->mark_count, mark_cmp);
	/* Steps do not overlap: one that does begins where the one before ends. */
	for (ptrdiff_t i = 1; i < plan->mark_count; i++)
		if (plan->marks[i].start_ps < plan->marks[i - 1].end_ps)
			plan->marks[i - 1].end_ps = plan->marks[i].start_ps;
	/* A last step that was cut is much shorter than the others. */
	ptrdiff_t n = plan->mark_count;
	int64_t *times = arena_make(&scratch, int64_t, n);
	for (ptrdiff_t i = 0; i < n; i++)
		times[i] = plan->marks[i].end_ps - plan->marks[i].start_ps;
	int64_t last = times[n - 1];
	sort_integers(times, n);
	plan->has_more = n >= 3 && last < times[n / 2] / 2;
	plan->mark_count -= plan->has_more;
	plan->drop_first = plan->mark_count >= 3;
	marks_last(plan);
	return true;
}

/*
 * Rows of steps that a job keeps, with up to as many that are not steady: of its first device all
 * that a sweep keeps, of 64 devices too, and of more devices fewer each.
 */
#define STEP_ROWS     (64 * SWEEP_MAX_STEPS)
#define STEP_ROWS_MIN 16

/* A plane of fewer bytes is swept in less time than another thread is worth. */
#define AHEAD_BYTES (4 << 20)

/* Where there are more threads than devices, the others read ahead of the sweeps. */
static bool reads_ahead(const struct run *run, const struct device *d, int64_t limit)
{
	int64_t bytes = 0;

	for (ptrdiff_t i = 0; i < d->plane->lane_count; i++)
		bytes += d->plane->lanes[i].bytes;
	return limit == 0 && run->options->threads > run->device_count && bytes >= AHEAD_BYTES;
}

static void device_sweep(struct run *run, ptrdiff_t i, int64_t limit)
{
	struct device *d = &run->devices[i];
	struct arena work = arena_new(SWEEP_ARENA_BYTES), names = arena_new(SWEEP_ARENA_BYTES);
	ptrdiff_t kept = STEP_ROWS / run->device_count;

	kept = kept < STEP_ROWS_MIN ? STEP_ROWS_MIN : kept;
	kept = i == 0 || kept > SWEEP_MAX_STEPS ? SWEEP_MAX_STEPS : kept;
	plane_learn(d->plane, &names);
	if (!d->plane->nodes && plane_has_graphs(d->plane)) {
		graphs_read(d->plane, run->registry, work);
		plane_forget(d->plane);
		arena_clear(&names);
		plane_learn(d->plane, &names);
	}
	d->failed = !sweep_plane(d->plane, d->host, &d->plan, &run->facts, run->registry, limit,
		reads_ahead(run, d, limit), &work, &d->sweep, &d->err);
	if (!d->failed) {
		registry_settle(run->registry, d->plane, (int32_t)i);
		aggregate_add(run->sums, &d->sweep, kept);
	}
	plane_forget(d->plane);
	plane_drop(d->plane);
	arena_free(&names);
	arena_free(&work);
}

static void sweep_task(void *run, ptrdiff_t i)
{
	device_sweep(run, i, 0);
}

/* The program with the most kernel time among those that some device ran at least twice. */
static const struct program *main_program(const struct run *run)
{
	const struct program *best = NULL;
	int64_t best_ps = 0;

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		int64_t sum_ps = 0, most = 0;
		for (ptrdiff_t k = 0; k < run->device_count; k++) {
			const struct sweep *s = &run->devices[k].sweep;
			if (i >= s->program_cap)
				continue;
			sum_ps += s->programs[i].kernels_self_ps;
			if (s->programs[i].executions > most)
				most = s->programs[i].executions;
		}
		bool may_be = run->plans == PLANS_SCHEDULED ? run->schedule.in_step[i] : most >= 2;
		if (run->source == STEPS_LINE)
			may_be &= most >= 2;
		if (p->id != PROGRAM_UNKNOWN && may_be &&
			(!best || sum_ps > best_ps ||
				(sum_ps == best_ps && program_before(p, best)))) {
			best = p;
			best_ps = sum_ps;
		}
	}
	return best;
}

static int64_t executions_of(const struct device *d, const struct program *p)
{
	return p->index < d->sweep.program_cap ? d->sweep.programs[p->index].executions : 0;
}

/* Executions enough to do without the first, which warms up. */
#define DROP_FIRST_OF 3

/* Programs that an error names: a line's worth. */
#define PROGRAMS_NAMED 8

/* The same for all devices, but for what each is known to run. */
static void plan_all(struct run *run, struct step_plan plan)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		plan.runs_cut = run->devices[i].plan.runs_cut;
		run->devices[i].plan = plan;
	}
	run->source = plan.source;
}

static void plan_program(struct run *run, const struct program *p, bool drop_first)
{
	plan_all(run, (struct step_plan){ .source = STEPS_PROGRAM,
			      .main = p,
			      .drop_first = drop_first,
			      .keep_runs = true });
	run->main = p;
}

static void plan_window(struct run *run)
{
	plan_all(run, (struct step_plan){ .source = STEPS_WINDOW, .keep_runs = true });
}

/* Plans each device by how often it ran the program; true when a plan changes. */
static bool plan_warmups(struct run *run)
{
	bool changed = false;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		struct device *d = &run->devices[i];
		int64_t seen = executions_of(d, run->main);
		bool drop = seen >= DROP_FIRST_OF;
		changed |= seen >= 2 && drop != d->plan.drop_first;
		d->plan.drop_first = drop;
	}
	return changed;
}

/* Nothing is marked or asked for, and one program is all that ran. */
static bool is_plain(const struct run *run)
{
	const struct program *only = NULL;

	if (run->facts.steps.count > 0 || run->wanted.p || program_serves(run, run->main))
		return false;
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		bool ran = false;
		for (ptrdiff_t k = 0; k < run->device_count; k++)
			ran |= executions_of(&run->devices[k], p) > 0;
		if (ran && p->id != PROGRAM_UNKNOWN && only)
			return false;
		if (ran && p->id != PROGRAM_UNKNOWN)
			only = p;
	}
	return true;
}

static void devices_reset(struct run *run)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		run->devices[i].sweep = (struct sweep){ 0 };
	aggregate_clear(run->sums);
	registry_unsettle(run->registry);
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		registry_await(run->registry, run->devices[i].plane);
}

/*
 * The program that makes the steps, by the first events of the first device that ran one twice.
 * What the others ran is left to the whole sweep, which corrects a wrong guess.
 */
static bool main_guess(struct run *run, struct diag *err)
{
	for (ptrdiff_t i = 0; i < run->device_count && !run->main; i++) {
		const struct device *d = &run->devices[i];
		devices_reset(run);
		device_sweep(run, i, GUESS_EVENTS);
		if (d->failed) {
			*err = d->err;
			return false;
		}
		run->main = main_program(run);
		bool cut = d->sweep.events >= GUESS_EVENTS;
		if (run->main)
			plan_program(run, run->main,
				cut || executions_of(d, run->main) >= DROP_FIRST_OF);
	}
	return true;
}

/* Sweeps all devices by their plans. */
static bool devices_sweep(struct run *run, struct diag *err)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		assert(run->devices[i].plan.source == run->source);
	devices_reset(run);
	run->sweeps += run->device_count > 0 && !run->devices[0].plan.only_runs;
	task_threads(sweep_task, run, run->device_count, run->options->threads);
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].failed) {
			*err = run->devices[i].err;
			return false;
		}
	return true;
}

/* A sweep that only notes which programs every device ran. */
static bool devices_look(struct run *run, struct diag *err)
{
	plan_all(run,
		(struct step_plan){ .source = STEPS_WINDOW, .keep_runs = true, .only_runs = true });
	return devices_sweep(run, err);
}

/* Plans the steps before the first sweep: by the Modules lines, else by a look at all ops. */
static bool plan_foresee(struct run *run, struct diag *err)
{
	struct step_plan *guess = arena_make(run->keep, struct step_plan, run->device_count);
	enum step_source source = run->source;
	bool by_modules = modules_read(run), is_changed;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		guess[i] = run->devices[i].plan;
	if (!by_modules && !devices_look(run, err))
		return false;
	if (!schedule_make(run, &is_changed)) {
		for (ptrdiff_t i = 0; i < run->device_count; i++) {
			struct device *d = &run->devices[i];
			d->plan = guess[i];
			d->plan.runs_cut = d->sweep.runs_cut;
		}
		run->source = source;
		return true;
	}
	run->plans = PLANS_FORESEEN;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		struct device *d = &run->devices[i];
		d->plan.keep_runs = true;
		if (by_modules) {
			d->plan.listed = d->sweep.runs;
			d->plan.listed_count = d->sweep.run_count;
		}
	}
	return true;
}

static bool steps_plan(struct run *run, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES);
	struct event *e = arena_make(&work, struct event, 1);
	ptrdiff_t marked = 0;
	bool ok = true;

	for (ptrdiff_t i = 0; ok && i < run->device_count; i++) {
		ok = device_marks(&run->devices[i], e, run->keep, work, err);
		marked += run->devices[i].plan.source == STEPS_LINE;
	}
	arena_free(&work);
	if (!ok)
		return false;
	if (marked > 0) {
		run->source = STEPS_LINE;
		run->without_line = run->device_count - marked;
		for (ptrdiff_t i = 0; i < run->device_count; i++) {
			run->devices[i].plan.source = STEPS_LINE;
			run->devices[i].plan.keep_runs = true;
		}
		if (run->hosts[0].steps_named)
			run->wanted = MISSING; /* these are what was asked for */
		return true;
	}
	plan_window(run);
	return main_guess(run, err) && (is_plain(run) || plan_foresee(run, err));
}

/* Without a schedule: a server's steps end with their marks.  True when some did not. */
static bool marks_end(struct run *run)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		for (ptrdiff_t k = 0; k < run->devices[i].plan.mark_count; k++) {
			struct step_mark *m = &run->devices[i].plan.marks[k];
			any |= m->end_ps != m->marked_ps;
			m->end_ps = m->marked_ps;
			m->is_cut = false;
		}
	return any;
}

/* A Steps line may mark several sorts of steps, and other work may run beside it. */
static bool plan_by_line(struct run *run)
{
	bool is_changed;

	if (schedule_make(run, &is_changed)) {
		run->plans = PLANS_SCHEDULED;
		return is_changed;
	}
	if (run->without_line) {
		plan_window(run);
		return true;
	}
	const struct program *p = main_program(run);
	return p && program_serves(run, p) && marks_end(run);
}

/* The executions of the program that takes most time, where that is another than was guessed. */
static bool plan_by_main(struct run *run)
{
	const struct program *p = main_program(run);

	if (p && p != run->main) {
		plan_program(run, p, false);
		plan_warmups(run);
		return true;
	}
	return p && run->source == STEPS_PROGRAM && plan_warmups(run);
}

/* What was foreseen is confirmed here, or given up. */
static bool plan_by_runs(struct run *run)
{
	bool was_foreseen = run->plans == PLANS_FORESEEN, is_changed;

	run->plans = PLANS_GUESSED;
	bool is_one = is_plain(run);
	if (!is_one && schedule_make(run, &is_changed)) {
		run->plans = PLANS_SCHEDULED;
		/* What was passed by count is on the ops' clock now, for whatever sweep follows. */
		for (ptrdiff_t i = 0; i < run->device_count; i++)
			run->devices[i].plan.listed = NULL;
		return !was_foreseen || is_changed;
	}
	bool by_main = is_one || runs_cut(run); /* else no steps follow from what ran */
	if (was_foreseen && by_main && run->main)
		plan_program(run, run->main, true);
	else if (was_foreseen || (!by_main && run->source == STEPS_PROGRAM))
		plan_window(run);
	else
		return by_main && plan_by_main(run);
	return true;
}

static struct steps_seen steps_seen(const struct run *run)
{
	struct steps_seen ret = { 0 };
	const struct device *d = NULL;
	int64_t most = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		if (s->steady_count + s->other_count <= most)
			continue;
		most = s->steady_count + s->other_count;
		d = &run->devices[i];
	}
	ret.all = most;
	ret.ends_clean =
		d && (d->plan.has_more || step_is_steady(&d->sweep.steps[d->sweep.step_count - 1]));
	for (ptrdiff_t i = 0; d && i < d->sweep.step_count; i++) {
		const struct swept_step *s = &d->sweep.steps[i];
		int64_t from = s->start_ps + d->plane->host_shift_ps;
		int64_t to = s->end_ps + d->plane->host_shift_ps;
		if (step_is_steady(s))
			continue;
		if (!s->complete) {
			ret.cut++;
			ret.cut_last = i + 1 == d->sweep.step_count;
		} else if (host_spans_meet(&run->facts.compiles, d->host, from, to)) {
			ret.compiled++;
		} else if (host_spans_meet(&run->facts.profiler, d->host, from, to)) {
			ret.profiled++;
		} else {
			ret.warmup++;
		}
	}
	return ret;
}

/* A warm-up compiles once, and once more where the layouts of what was donated have changed. */
#define WARMUP_COMPILES 2

/*
 * A compilation is an accident of a step, unless it is the habit of a job that compiles in most of
 * them: no step is without it then, or the last one alone.  True when that was not planned.
 */
static bool plan_compiled(struct run *run)
{
	const struct steps_seen *seen = &run->seen;
	bool changed = false;

	if (seen->compiled <= WARMUP_COMPILES + seen->ends_clean || 2 * seen->compiled <= seen->all)
		return false;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		changed |= !run->devices[i].plan.keep_compiled;
		run->devices[i].plan.keep_compiled = true;
	}
	return changed;
}

/* Whether what the sweep saw asks for another sweep. */
static bool plan_again(struct run *run)
{
	int64_t steady = 0; /* on the device with most */

	if (run->plans != PLANS_SCHEDULED &&
		(run->source == STEPS_LINE ? plan_by_line : plan_by_runs)(run))
		return true;
	run->main = main_program(run);
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].sweep.steady_count > steady)
			steady = run->devices[i].sweep.steady_count;
	if (run->source == STEPS_WINDOW)
		return false;
	run->seen = steps_seen(run);
	if ((steady == 0 || (steady == 1 && run->seen.ends_clean)) && plan_compiled(run))
		return true;
	if (steady == 0)
		plan_window(run);
	return steady == 0;
}

static void roles_set(struct run *run)
{
	for (ptrdiff_t i = 0;
		run->plans == PLANS_SCHEDULED && i < registry_program_count(run->registry); i++) {
		struct program *p = registry_program_at(run->registry, i);
		if (!run->schedule.in_step[i])
			p->role = run->schedule.is_server && program_serves(run, p) ? ROLE_SERVING
										    : ROLE_OTHER;
	}
}

/* Without a schedule: the device with the last op. */
static struct lasting lasting_of(const struct run *run)
{
	const struct device *d = NULL;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *one = &run->devices[i];
		int64_t end_ps = one->sweep.last_ps + one->plane->host_shift_ps;
		if (one->sweep.events > 0 &&
			(!d || end_ps > d->sweep.last_ps + d->plane->host_shift_ps))
			d = one;
	}
	return d ? (struct lasting){ d, d->sweep.runs, d->sweep.run_count } : (struct lasting){ 0 };
}

/*
 * Steady steps every device has.  A device without any (its kernels were lost, or it only served
 * copies) says nothing about the others' steps; `devices-agree` in quality names it.
 */
static void totals(struct run *run)
{
	const struct dist lengths = aggregate_lengths(run->sums);

	run->steps = -1;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		if (s->events == 0)
			continue;
		if (!run->first || (run->first->sweep.steady_count == 0 && s->steady_count > 0))
			run->first = &run->devices[i];
		if (s->steady_count > 0 && (run->steps < 0 || s->steady_count < run->steps))
			run->steps = s->steady_count;
		run->steady_s += (double)s->steady_ps * PS;
		run->other_s += (double)s->other_ps * PS;
		run->windows_s += (double)(s->last_ps - s->first_ps) * PS;
		run->device_steps += (double)s->steady_count;
	}
	if (run->steps < 0)
		run->steps = 0;
	if (lengths.count > 0)
		run->step_time_s = dist_quantile(&lengths, .5, *run->keep) * PS;
	run->step_mean_s = run->device_steps > 0 ? run->steady_s / run->device_steps : NAN;
	run->shape = run_shape_of(run);
	if (run->plans != PLANS_SCHEDULED)
		run->lasting = lasting_of(run);
}

/* Names that --step could have, in a sentence: what is marked and repeats, else what ran. */
static void put_names(const struct run *run, struct out *o)
{
	const struct schedule *s = &run->schedule;
	struct map named = { 0 };
	ptrdiff_t count = 0;

	for (ptrdiff_t i = 0; i < s->sort_count; i++, count++)
		out_fmt(o, "%s%.*s (%.*s)", i ? ", " : "; there are ", STR_ARG(s->sorts[i].name),
			STR_ARG(s->sorts[i].modules));
	for (ptrdiff_t i = 0; s->sort_count == 0 && i < registry_program_count(run->registry);
		i++) {
		const struct program *p = registry_program_at(run->registry, i);
		if (p->id == PROGRAM_UNKNOWN || aggregate_program(run->sums, i).count == 0 ||
			map_get(&named, p->module) != MAP_NONE)
			continue;
		map_put(&named, p->module, 0, run->keep);
		if (++count <= PROGRAMS_NAMED)
			out_fmt(o, "%s%.*s", count > 1 ? ", " : "; there are ", STR_ARG(p->module));
	}
	if (s->sort_count == 0 && count > PROGRAMS_NAMED)
		out_fmt(o, " and %td more", count - PROGRAMS_NAMED);
}

bool steps_sweep(struct run *run, struct diag *err)
{
	const struct measure_options *o = run->options;
	const struct schedule *schedule = &run->schedule;
	bool again = true, by_job = !o->step.p && o->job && o->job->step.p;
	const char *wanted_by = by_job ? "step: of the job file," : "--step";

	run->wanted = by_job ? o->job->step : o->step;
	if (!steps_plan(run, err))
		return false;
	for (int i = 0; i < SWEEPS_MAX && again; i++) {
		if (!devices_sweep(run, err))
			return false;
		/* What no sweep follows is not changed any more. */
		if (run->plans == PLANS_SCHEDULED || i + 1 == SWEEPS_MAX || !markers_settle(run)) {
			again = plan_again(run);
			continue;
		}
		for (ptrdiff_t k = 0; k < run->device_count; k++)
			run->devices[k].plan.runs_cut = false;
		if (run->plans == PLANS_FORESEEN && !plan_foresee(run, err))
			return false;
	}
	roles_set(run);
	totals(run);
	if (!run->wanted.p || run->plans == PLANS_SCHEDULED)
		return true;
	if (!schedule->sort_count && schedule->trouble.p)
		return diag_set(err, DIAG_USAGE,
			"%s %.*s: steps of that name cannot be found: %.*s", wanted_by,
			STR_ARG(run->wanted), STR_ARG(schedule->trouble));
	struct out *list = out_memory(run->keep);
	put_names(run, list);
	return diag_set(err, DIAG_USAGE,
		"%s %.*s: no annotation and no program that ran is called so%.*s", wanted_by,
		STR_ARG(run->wanted), STR_ARG(out_text(list)));
}
