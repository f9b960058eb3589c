/*
 * Where the steps come from, and the sweeps that follow from it.
 *
 * What ran when tells the steps (schedule.h): a look at it comes first, unless a Steps line marks
 * them.  Each sweep keeps what every device ran; when another plan follows from that, the devices
 * are swept again.
 */
#include <math.h>
#include <string.h>

#include "base/out.h"
#include "base/stats.h"
#include "base/task.h"
#include "measure/swept.h"

/* Events looked at to know which programs have ops: a few steps of most jobs, a millisecond. */
#define GUESS_EVENTS 20000
#define MARKS_MAX    HOST_SPANS_MAX
/* What was foreseen may be wrong once each for an op that marks, steps of several executions, and
 * what disturbs them. */
#define SWEEPS_MAX 6

struct stepping {
	const struct capture *in;
	const struct host_facts *facts;
	struct swept *run;
	struct str wanted;     /* the step's pattern, or missing, */
	const char *wanted_by; /* and who asks for it */
	bool is_window;	       /* no step is steady: all of it is taken for the one step */
};

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

	while (cursor_next(c, e) && d->mark_count < MARKS_MAX) {
		const struct stats *s = &e->stats;
		int64_t shift = (s->present & clock) == clock ? 0 : d->plane->host_shift_ps;
		int64_t number = d->mark_count; /* unless it says one, or its name is one */
		if (s->present & STAT_BIT(STEP_NUM))
			number = s->at[STAT_STEP_NUM].i64;
		else
			str_to_i64(e->name, &number);
		if (e->end_ps > e->start_ps)
			*arena_push(keep, d->marks, d->mark_count, *cap) =
				(struct step_mark){ .start_ps = e->start_ps - shift,
					.end_ps = e->end_ps - shift,
					.number = number };
	}
	return cursor_end(c, err);
}

/* The Steps line's marks, in order.  `e` has room for an event. */
static bool device_marks(struct device *d, struct event *e, struct arena *keep,
	struct arena scratch, struct diag *err)
{
	bool any = false, ok = true;
	ptrdiff_t cap = 0;

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
	if (!ok || d->mark_count == 0)
		return ok;
	sort_by(d->marks, d->mark_count, mark_cmp);
	/* Steps do not overlap: one that does begins where the one before ends. */
	for (ptrdiff_t i = 1; i < d->mark_count; i++)
		if (d->marks[i].start_ps < d->marks[i - 1].end_ps)
			d->marks[i - 1].end_ps = d->marks[i].start_ps;
	/* A last step that was cut is much shorter than the others. */
	ptrdiff_t n = d->mark_count;
	int64_t *times = arena_make(&scratch, int64_t, n);
	for (ptrdiff_t i = 0; i < n; i++)
		times[i] = d->marks[i].end_ps - d->marks[i].start_ps;
	int64_t last = times[n - 1];
	sort_integers(times, n);
	d->mark_count -= n >= 3 && last < times[n / 2] / 2;
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

/* Where there are more threads than devices, those read what the others sweep. */
static bool reads_ahead(const struct stepping *t, const struct device *d, int64_t limit)
{
	int64_t bytes = 0;

	for (ptrdiff_t i = 0; i < d->plane->lane_count; i++)
		bytes += d->plane->lanes[i].bytes;
	return limit == 0 && t->in->options->threads > t->run->device_count && bytes >= AHEAD_BYTES;
}

static void device_sweep(
	struct stepping *t, ptrdiff_t i, const struct step_plan *plan, int64_t limit)
{
	struct device *d = &t->run->devices[i];
	struct arena work = arena_new(SWEEP_ARENA_BYTES), names = arena_new(SWEEP_ARENA_BYTES);
	ptrdiff_t kept = STEP_ROWS / t->run->device_count;

	kept = kept < STEP_ROWS_MIN ? STEP_ROWS_MIN : kept;
	kept = i == 0 || kept > SWEEP_MAX_STEPS ? SWEEP_MAX_STEPS : kept;
	plane_learn(d->plane, &names);
	d->failed = !sweep_plane(d->plane, d->host, plan, t->facts, t->in->registry, limit,
		reads_ahead(t, d, limit), &work, &d->sweep, &d->err);
	if (!d->failed) {
		registry_settle(t->in->registry, d->plane, i);
		aggregate_add(t->run->sums, &d->sweep, kept);
	}
	plane_forget(d->plane);
	plane_drop(d->plane);
	arena_free(&names);
	arena_free(&work);
}

/* By the plan of each device, or all by one. */
struct sweeping_by {
	struct stepping *t;
	const struct step_plan *plan; /* NULL: each has its own */
};

static void sweep_task(void *arg, ptrdiff_t i)
{
	const struct sweeping_by *by = arg;

	device_sweep(by->t, i, by->plan ? by->plan : &by->t->run->devices[i].plan, 0);
}

static void devices_reset(struct stepping *t)
{
	for (ptrdiff_t i = 0; i < t->run->device_count; i++)
		t->run->devices[i].sweep = (struct sweep){ 0 };
	aggregate_clear(t->run->sums);
	registry_unsettle(t->in->registry);
}

static bool devices_sweep(struct stepping *t, const struct step_plan *plan, struct diag *err)
{
	struct sweeping_by by = { t, plan };

	devices_reset(t);
	task_threads(sweep_task, &by, t->run->device_count, t->in->options->threads);
	for (ptrdiff_t i = 0; i < t->run->device_count; i++)
		if (t->run->devices[i].failed) {
			*err = t->run->devices[i].err;
			return false;
		}
	return true;
}

/*
 * The steps by what every device ran, which its sweep kept, and the plans that follow from them.
 * True when some device has another plan than it had.
 */
static bool plan_schedule(struct stepping *t)
{
	struct swept *run = t->run;
	struct schedule_device *devices =
		arena_make(t->in->keep, struct schedule_device, run->device_count);
	bool changed = false;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		struct device *d = &run->devices[i];
		devices[i] = (struct schedule_device){ .host = d->host,
			.host_shift_ps = d->plane->host_shift_ps,
			.runs = d->sweep.runs,
			.run_count = d->sweep.run_count,
			.marks = d->marks,
			.mark_count = d->mark_count,
			.plan = &d->plan };
	}
	run->is_scheduled = schedule_make(devices, run->device_count, t->facts, t->in->registry,
		t->wanted, t->in->keep, &run->schedule);
	run->source = STEPS_WINDOW;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		struct step_plan *plan = &run->devices[i].plan;
		if (!run->is_scheduled && plan->source != STEPS_WINDOW) {
			*plan = (struct step_plan){ .source = STEPS_WINDOW };
			changed = true;
		}
		run->source = plan->source;
		changed |= devices[i].changed;
	}
	return changed;
}

/* At what ran when, and nothing else. */
static const struct step_plan look = { .source = STEPS_WINDOW, .only_runs = true };

/* Did the first events of the first device that has some show an execution of a program? */
static bool devices_peek(struct stepping *t, bool *any, struct diag *err)
{
	*any = false;
	for (ptrdiff_t i = 0; i < t->run->device_count; i++) {
		const struct device *d = &t->run->devices[i];
		devices_reset(t);
		device_sweep(t, i, &look, GUESS_EVENTS);
		*any = d->sweep.run_count > 0;
		if (d->failed) {
			*err = d->err;
			return false;
		}
		if (d->sweep.events > 0)
			break;
	}
	return true;
}

static void plan_tell(struct step_plan *plan, const struct sweep *ran, struct arena *keep)
{
	struct told_run *told = arena_make(keep, struct told_run, ran->run_count);

	for (ptrdiff_t i = 0; i < ran->run_count; i++)
		told[i] = (struct told_run){ ran->runs[i].start_ps, ran->runs[i].program };
	plan->told = told;
	plan->told_count = ran->run_count;
}

/* Plans before the first sweep, by what is told of the executions or looked up. */
static bool plan_foresee(struct stepping *t, struct diag *err)
{
	struct arena work;
	bool any, told;

	if (!devices_peek(t, &any, err))
		return false;
	if (!any)
		return true;
	work = arena_new(AGGREGATE_ARENA_BYTES);
	told = modules_read(t->in, t->run, &work);
	bool ok = told || devices_sweep(t, &look, err);
	if (ok)
		plan_schedule(t);
	for (ptrdiff_t i = 0; ok && told && t->run->is_scheduled && i < t->run->device_count; i++)
		plan_tell(&t->run->devices[i].plan, &t->run->devices[i].sweep, t->in->keep);
	arena_free(&work);
	return ok;
}

static bool steps_plan(struct stepping *t, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES);
	struct event *e = arena_make(&work, struct event, 1);
	bool ok = true, all_marked = t->run->device_count > 0;

	for (ptrdiff_t i = 0; ok && i < t->run->device_count; i++) {
		ok = device_marks(&t->run->devices[i], e, t->in->keep, work, err);
		all_marked &= t->run->devices[i].mark_count > 0;
	}
	arena_free(&work);
	if (ok && all_marked && t->in->hosts[0].steps_named)
		t->wanted = (struct str){ NULL, 0 }; /* these are what was asked for */
	for (ptrdiff_t i = 0; i < t->run->device_count; i++) {
		struct device *d = &t->run->devices[i];
		if (!all_marked)
			d->mark_count = 0;
		d->plan = (struct step_plan){ .source = all_marked ? STEPS_LINE : STEPS_WINDOW,
			.marks = d->marks,
			.mark_count = d->mark_count,
			.drop_first = d->mark_count >= WARM_UP_OF };
	}
	return ok && (all_marked || plan_foresee(t, err));
}

/*
 * A capture may begin inside a loop, and without HLO the first op met of a program marks its
 * executions.  True when such a mark was seen inside another op later: it is none.
 */
static bool mark_was_nested(struct stepping *t)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < registry_subject_count(t->in->registry); i++) {
		struct subject *s = registry_subject_at(t->in->registry, i);
		bool is_told = s->instruction >= 0 && !s->program->hlo->partial;
		s->may_mark &= is_told || !aggregate_op(t->run->sums, i).nested;
	}
	for (ptrdiff_t i = 0; i < t->run->device_count; i++) {
		const struct sweep *s = &t->run->devices[i].sweep;
		for (ptrdiff_t k = 0; k < s->program_cap; k++)
			any |= s->programs[k].marker >= 0 &&
			       !registry_subject_at(t->in->registry, s->programs[k].marker)
					->may_mark;
	}
	return any;
}

/* The program with the most kernel time in the steps; without any, of those that ran again. */
static const struct program *main_program(const struct stepping *t)
{
	const struct program *best = NULL;
	int64_t best_ps = 0;

	for (ptrdiff_t i = 0; i < registry_program_count(t->in->registry); i++) {
		const struct program *p = registry_program_at(t->in->registry, i);
		int64_t sum_ps = 0, most = 0;
		for (ptrdiff_t k = 0; k < t->run->device_count; k++) {
			const struct sweep *s = &t->run->devices[k].sweep;
			if (i >= s->program_cap)
				continue;
			sum_ps += s->programs[i].kernels_self_ps;
			if (s->programs[i].executions > most)
				most = s->programs[i].executions;
		}
		bool may_be = t->run->is_scheduled ? t->run->schedule.in_step[i] : most >= 2;
		if (t->run->source == STEPS_LINE)
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

static struct steps_seen steps_seen(const struct stepping *t)
{
	struct steps_seen ret = { 0 };
	const struct device *d = NULL;
	int64_t most = 0;

	for (ptrdiff_t i = 0; i < t->run->device_count; i++) {
		const struct sweep *s = &t->run->devices[i].sweep;
		if (s->steady_count + s->other_count <= most)
			continue;
		most = s->steady_count + s->other_count;
		d = &t->run->devices[i];
	}
	ret.all = most;
	for (ptrdiff_t i = 0; d && i < d->sweep.step_count; i++) {
		const struct swept_step *s = &d->sweep.steps[i];
		int64_t from = s->start_ps + d->plane->host_shift_ps;
		int64_t to = s->end_ps + d->plane->host_shift_ps;
		if (step_is_steady(s))
			continue;
		if (!s->complete) {
			ret.cut++;
			ret.cut_last = i + 1 == d->sweep.step_count;
		} else if (host_spans_meet(&t->facts->compiles, d->host, from, to)) {
			ret.compiled++;
		} else if (host_spans_meet(&t->facts->profiler, d->host, from, to)) {
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
 * them: no step is without it then.  True when that was not planned.
 */
static bool plan_compiled(struct stepping *t)
{
	const struct steps_seen *seen = &t->run->seen;
	bool changed = false;

	if (seen->compiled <= WARMUP_COMPILES || 2 * seen->compiled <= seen->all)
		return false;
	for (ptrdiff_t i = 0; i < t->run->device_count; i++) {
		changed |= !t->run->devices[i].plan.keep_compiled;
		t->run->devices[i].plan.keep_compiled = true;
	}
	return changed;
}

/* Does what the whole sweep saw ask for another one? */
static bool plan_again(struct stepping *t)
{
	bool any_steady = false;

	if (!t->is_window && mark_was_nested(t))
		return true;
	if (plan_schedule(t) && !t->is_window)
		return true;
	t->run->main = main_program(t);
	for (ptrdiff_t i = 0; i < t->run->device_count; i++)
		any_steady |= t->run->devices[i].sweep.steady_count > 0;
	if (t->is_window)
		t->run->source = STEPS_WINDOW;
	if (t->run->source != STEPS_WINDOW)
		t->run->seen = steps_seen(t);
	if (any_steady || t->run->source == STEPS_WINDOW)
		return false;
	t->is_window = !plan_compiled(t);
	return true;
}

static void roles_set(struct stepping *t)
{
	for (ptrdiff_t i = 0; t->run->is_scheduled && i < registry_program_count(t->in->registry);
		i++) {
		struct program *p = registry_program_at(t->in->registry, i);
		if (!t->run->schedule.in_step[i])
			p->role = t->run->schedule.is_server && program_phase(p) == PHASE_INFERENCE
					  ? ROLE_SERVING
					  : ROLE_OTHER;
	}
}

/* The one whose work ends last on the host's clock; of those that run judged steps, if any do. */
static const struct device *device_last(const struct swept *run)
{
	const struct device *d = NULL;

	if (run->is_scheduled)
		return &run->devices[run->schedule.last];
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *one = &run->devices[i];
		int64_t end_ps = one->sweep.last_ps + one->plane->host_shift_ps;
		if (one->sweep.events > 0 &&
			(!d || end_ps > d->sweep.last_ps + d->plane->host_shift_ps))
			d = one;
	}
	return d;
}

/*
 * Steady steps every device has.  A device without any (its kernels were lost, or it only served
 * copies) says nothing about the others' steps; `devices-agree` in quality names it.
 */
static void totals(const struct capture *in, struct swept *run)
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
		run->windows_s += (double)(s->last_ps - s->first_ps) * PS;
		run->device_steps += (double)s->steady_count;
	}
	if (run->steps < 0)
		run->steps = 0;
	if (lengths.count > 0)
		run->step_time_s = dist_quantile(&lengths, .5, *in->keep) * PS;
	run->step_mean_s = run->device_steps > 0 ? run->steady_s / run->device_steps : NAN;
	run->shape = run_shape_of(in, run);
	run->last = device_last(run);
}

bool steps_sweep(const struct capture *in, const struct host_facts *facts, struct swept *ret,
	struct diag *err)
{
	const struct measure_options *o = in->options;
	bool again = true, by_job = !o->step.p && o->job && o->job->step.p;
	struct stepping t = { .in = in,
		.facts = facts,
		.run = ret,
		.wanted = by_job ? o->job->step : o->step,
		.wanted_by = by_job ? "step: of the job file," : "--step" };

	if (!steps_plan(&t, err))
		return false;
	for (ret->sweeps = 0; ret->sweeps < SWEEPS_MAX && again; ret->sweeps++) {
		static const struct step_plan window = { .source = STEPS_WINDOW };
		if (!devices_sweep(&t, t.is_window ? &window : NULL, err))
			return false;
		/* What was told is passed: the marks are on the ops' clock now. */
		for (ptrdiff_t i = 0; i < ret->device_count; i++)
			ret->devices[i].plan.told = NULL;
		again = plan_again(&t);
	}
	roles_set(&t);
	totals(in, ret);
	if (!t.wanted.p || ret->is_scheduled)
		return true;
	if (!ret->schedule.sort_count && ret->schedule.trouble.p)
		return diag_set(err, DIAG_USAGE, "%s %.*s: steps of that name cannot be told: %.*s",
			t.wanted_by, STR_ARG(t.wanted), STR_ARG(ret->schedule.trouble));
	struct out *list = out_memory(in->keep);
	for (ptrdiff_t i = 0; i < ret->schedule.sort_count; i++)
		out_fmt(list, "%s%.*s (%.*s)", i ? ", " : "; there are ",
			STR_ARG(ret->schedule.sorts[i].name),
			STR_ARG(ret->schedule.sorts[i].modules));
	return diag_set(err, DIAG_USAGE,
		"%s %.*s: no annotation and no program that ran is called so%.*s", t.wanted_by,
		STR_ARG(t.wanted), STR_ARG(out_text(list)));
}
