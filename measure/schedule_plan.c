/* From the steps of a device's executions to its plan: what is cut out, and what lies between. */
#include "base/stats.h"
#include "measure/schedule_state.h"

/* For an evaluation the loop waits, whoever calls it. */
const bool *modules_beside(const struct scheduling *s)
{
	const struct host_facts *f = &s->run->facts;
	bool *makes = arena_make(s->scratch, bool, s->module_count);
	bool *called = arena_make(s->scratch, bool, s->module_count);
	bool *looped = arena_make(s->scratch, bool, s->module_count);
	int32_t *function = arena_make(s->scratch, int32_t, s->module_count);
	int32_t *of = arena_make(s->scratch, int32_t, f->launched.count);
	struct map functions = { 0 }, loops = { 0 };

	for (int32_t m = 0; m < s->module_count; m++) {
		struct str core = function_core(s->modules[m], s->scratch);
		function[m] = map_put(&functions, core, m, s->scratch);
		for (ptrdiff_t i = 0; i < s->ret->sort_count; i++)
			makes[function[m]] |= s->ret->sorts[i].has[m];
	}
	for (ptrdiff_t i = 0; i < f->launched.count; i++)
		of[i] = map_get(&functions, function_core(f->launched.items[i], s->scratch));
	for (int pass = 0; pass < 2; pass++)
		for (ptrdiff_t i = 0; i < f->launches.count; i++) {
			const struct host_span *call = &f->launches.items[i];
			int32_t m = of[map_get(&f->launch_names, call->name)];
			if (m == MAP_NONE)
				continue;
			if (makes[m])
				map_put_id(&loops, call->thread, 0, s->scratch);
			called[m] = true;
			looped[m] |= map_get_id(&loops, call->thread) != MAP_NONE;
		}
	bool *ret = arena_make(s->scratch, bool, s->module_count);
	for (ptrdiff_t m = 0; m < s->module_count; m++)
		ret[m] = called[function[m]] && !looped[function[m]] &&
			 !is_evaluation(s->modules[m]);
	return ret;
}

struct planning {
	const struct scheduling *s;
	const bool *beside; /* by module */
	struct step_mark *items;
	ptrdiff_t count, cap;
	int64_t own_end_ps; /* of the step that was read last: its own work lasts until then */
	struct arena *keep;
};

static void stretch_add(
	struct planning *p, enum mark_kind kind, int64_t start_ps, int64_t end_ps, int64_t number)
{
	if (end_ps > start_ps)
		*arena_push(p->keep, p->items, p->count, p->cap) = (struct step_mark){
			.start_ps = start_ps, .end_ps = end_ps, .number = number, .kind = kind
		};
}

/* How many of these runs are other work together: until the step goes on, or what is beside it. */
static ptrdiff_t others_together(
	const struct planning *p, const struct program_run *runs, ptrdiff_t count)
{
	ptrdiff_t n = 1;

	if (p->beside[module_at(p->s, &runs[0])])
		return n;
	for (ptrdiff_t i = 1; i < count && runs[i].step < 0; i++)
		if (!p->beside[module_at(p->s, &runs[i])])
			n = i + 1;
	return n;
}

/* Of other runs together, from `lo` to `hi`, the device's own and what is between them, and before
 * and behind it another's alone. */
static void others_add(
	struct planning *p, int64_t lo, int64_t hi, const struct program_run *runs, ptrdiff_t count)
{
	int64_t begin_ps = hi, end_ps = lo;

	for (ptrdiff_t i = 0; i < count; i++) {
		const struct program_run *r = &runs[i];
		if (r->is_elsewhere)
			continue;
		begin_ps = r->start_ps < begin_ps ? r->start_ps : begin_ps;
		end_ps = r->end_ps > end_ps ? r->end_ps : end_ps;
	}
	begin_ps = begin_ps > lo ? begin_ps : lo;
	end_ps = end_ps < hi ? end_ps : hi;
	stretch_add(p, MARK_ELSEWHERE, lo, begin_ps, 0);
	stretch_add(p, MARK_OTHER, begin_ps, end_ps, 0);
	stretch_add(p, MARK_ELSEWHERE, begin_ps > end_ps ? begin_ps : end_ps, hi, 0);
}

/*
 * From `from_ps` to `until_ps`, work of no step is cut out, as far as it does not run beside the
 * step's own.  `runs` are those that begin in between.  Returns what is left.
 */
static int64_t stretches(struct planning *p, enum mark_kind kind, int64_t from_ps, int64_t until_ps,
	int64_t number, const struct program_run *runs, ptrdiff_t count)
{
	int64_t at_ps = from_ps, length_ps = until_ps - from_ps;
	ptrdiff_t first = p->count;

	p->own_end_ps = from_ps;
	for (ptrdiff_t i = 0; i < count;) {
		int64_t lo = runs[i].start_ps, hi = runs[i].end_ps;
		if (runs[i].step >= 0) {
			p->own_end_ps = hi > p->own_end_ps ? hi : p->own_end_ps;
			i++;
			continue;
		}
		const struct program_run *others = &runs[i];
		ptrdiff_t n = others_together(p, others, count - i);
		for (ptrdiff_t end = i + n; i < end; i++)
			hi = runs[i].end_ps > hi ? runs[i].end_ps : hi;
		int64_t next_ps = i < count && runs[i].step >= 0 ? runs[i].start_ps : until_ps;
		lo = lo > at_ps ? lo : at_ps;
		lo = lo > p->own_end_ps ? lo : p->own_end_ps;
		hi = hi < next_ps ? hi : next_ps;
		if (hi <= lo)
			continue;
		stretch_add(p, kind, at_ps, lo, number);
		others_add(p, lo, hi, others, n);
		length_ps -= hi - lo;
		at_ps = hi;
	}
	stretch_add(p, kind, at_ps, until_ps, number);
	/* Each stretch of the step but its last goes on. */
	for (ptrdiff_t i = p->count, later = 0; kind == MARK_STEP && i-- > first;)
		if (p->items[i].kind == MARK_STEP)
			p->items[i].goes_on = later++ > 0;
	return length_ps;
}

static ptrdiff_t steps_read(
	const struct scheduling *s, const struct sweep *d, struct mark **ret, struct arena *scratch)
{
	struct map by_step = { 0 };
	ptrdiff_t n = 0;

	*ret = arena_make(scratch, struct mark, d->run_count);
	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		const struct program_run *r = &d->runs[i];
		if (r->step < 0)
			continue;
		int32_t at = map_put_id(&by_step, r->step, (int32_t)n, scratch);
		if (at == n)
			(*ret)[n++] = (struct mark){ .start_ps = r->start_ps,
				.end_ps = r->end_ps,
				.number = s->ret->is_marked ? s->marks[r->step].number : r->step,
				.sort = r->sort };
		else if (r->end_ps > (*ret)[at].end_ps)
			(*ret)[at].end_ps = r->end_ps;
	}
	return n;
}

/* Without the first of three or more, which warms up, and the last, whose end was not seen. */
static void sorts_time(
	struct scheduling *s, const struct mark *steps, ptrdiff_t n, struct arena scratch)
{
	double *lengths = arena_make(&scratch, double, n);

	for (int32_t k = 0; k < s->ret->sort_count; k++) {
		ptrdiff_t of_sort = 0, first;
		for (ptrdiff_t i = 0; i < n; i++)
			if (steps[i].sort == k)
				lengths[of_sort++] = (double)steps[i].length_ps;
		of_sort -= of_sort > 1 && steps[n - 1].sort == k;
		first = of_sort > 1;
		if (of_sort > 0)
			s->ret->sorts[k].p50_ps = median(lengths + first, of_sort - first);
	}
}

/* Kernels that no program claims, which are in the steps, may be met behind a look. */
static bool plan_same(const struct step_plan *a, const struct step_plan *b)
{
	bool same = a->source == b->source && a->mark_count == b->mark_count &&
		    a->drop_first == b->drop_first;

	for (ptrdiff_t i = 0; same && i < a->mark_count; i++) {
		const struct step_mark *x = &a->marks[i], *y = &b->marks[i];
		same = x->start_ps == y->start_ps && x->end_ps == y->end_ps &&
		       x->number == y->number && x->kind == y->kind && x->goes_on == y->goes_on &&
		       x->is_cut == y->is_cut;
	}
	for (ptrdiff_t i = 0; same && i < b->in_step_count; i++)
		same = (i >= a->in_step_count || a->in_step[i]) == b->in_step[i];
	return same;
}

/* The device's plan, if it is another than it has; true then. */
static bool plan_set(const struct scheduling *s, struct step_plan *of, enum step_source source,
	const struct planning *p, ptrdiff_t judged)
{
	struct step_plan plan = { .source = source,
		.marks = p->items,
		.mark_count = p->count,
		.in_step = s->ret->in_step,
		.in_step_count = registry_program_count(s->run->registry),
		.has_more = of->has_more,
		.drop_first = judged >= 3,
		.keep_runs = s->run->platform == PLATFORM_CPU }; /* for processors.c */

	if (plan_same(of, &plan))
		return false;
	if (p->count > 0) /* without a mark NULL, as sweep.h says */
		LONGER(s->keep, plan.marks, p->count, p->count);
	*of = plan;
	return true;
}

/* What a schedule sees of a device, by begin. */
struct executions {
	struct program_run *runs;
	ptrdiff_t count, cap;
};

/* Other work of devices that share a host and its steps with this one, in programs that it never
 * runs: until that is done it waits, as for an evaluation on one of them. */
static void elsewhere_add(const struct scheduling *s, const struct device *device,
	const bool *beside, struct executions *to, struct arena *scratch)
{
	const struct sweep *own = &device->sweep;
	bool *runs = arena_make(scratch, bool, s->module_count);
	int64_t from_ps = own->run_count > 0 ? own->runs[0].start_ps : 0, until_ps = from_ps;

	for (ptrdiff_t i = 0; i < own->run_count; i++) {
		runs[module_at(s, &own->runs[i])] = true;
		until_ps = own->runs[i].end_ps > until_ps ? own->runs[i].end_ps : until_ps;
	}
	for (ptrdiff_t k = 0; k < s->run->device_count; k++) {
		const struct sweep *d = ran(s, k);
		int64_t shift_ps = d->plane->host_shift_ps - own->plane->host_shift_ps;
		bool is_judged = false;
		for (ptrdiff_t i = 0; d->host == own->host && i < d->run_count && !is_judged; i++)
			is_judged = d->runs[i].sort == s->ret->judged;
		for (ptrdiff_t i = 0; is_judged && i < d->run_count; i++) {
			struct program_run r = d->runs[i];
			if (r.step >= 0 || runs[module_at(s, &r)] || beside[module_at(s, &r)])
				continue;
			r.start_ps += shift_ps;
			r.end_ps += shift_ps;
			r.is_elsewhere = true;
			if (r.end_ps > from_ps && r.start_ps < until_ps)
				*arena_push(scratch, to->runs, to->count, to->cap) = r;
		}
	}
}

/* A device's executions, which begin no sooner than their marks on its own line, and what it waits
 * for on others. */
static struct executions executions_seen(const struct scheduling *s, const struct device *device,
	const bool *beside, bool by_line, struct arena *scratch)
{
	const struct sweep *own = &device->sweep;
	struct executions ret = { NULL, 0, 0 };

	if (!s->ret->is_server)
		elsewhere_add(s, device, beside, &ret, scratch);
	if (ret.count == 0 && !by_line)
		return (struct executions){ own->runs, own->run_count, 0 };
	for (ptrdiff_t i = 0; i < own->run_count; i++) {
		struct program_run r = own->runs[i];
		if (by_line && r.step >= 0 && r.start_ps < s->marks[r.step].start_ps)
			r.start_ps = s->marks[r.step].start_ps;
		*arena_push(scratch, ret.runs, ret.count, ret.cap) = r;
	}
	program_runs_sort(ret.runs, ret.count);
	return ret;
}

/* Other work between steps, from run `run` on.  Returns the first run of the next step. */
static ptrdiff_t others_between(struct planning *p, const struct executions *d, ptrdiff_t run,
	int64_t from_ps, int64_t until_ps)
{
	for (; run < d->count && d->runs[run].start_ps < until_ps; run++) {
		const struct program_run *r = &d->runs[run];
		int64_t lo = r->start_ps > from_ps ? r->start_ps : from_ps;
		int64_t hi = r->end_ps < until_ps ? r->end_ps : until_ps;
		if (r->step >= 0 || hi <= lo)
			continue;
		stretch_add(p, r->is_elsewhere ? MARK_ELSEWHERE : MARK_OTHER, lo, hi, 0);
		from_ps = hi;
	}
	return run;
}

/* Where a server's step ends: with its work, from run `run` on.  What its mark holds behind that
 * may be the wait for a request. */
static int64_t served_until(
	const struct executions *d, ptrdiff_t run, int64_t from_ps, int64_t until_ps)
{
	int64_t end_ps = from_ps;

	for (; run < d->count && d->runs[run].start_ps < until_ps; run++)
		if (d->runs[run].step >= 0 && d->runs[run].end_ps > end_ps)
			end_ps = d->runs[run].end_ps;
	return end_ps > from_ps && end_ps < until_ps ? end_ps : until_ps;
}

/* A last step that lacks a wait of less than this share shifts no mean by what matters. */
#define WAIT_SHARE 0.01

/* What judged steps wait for at their ends, so far. */
struct waits_seen {
	bool behind;	      /* their marks; or the work itself makes the steps */
	int64_t within_ps[2]; /* the marks of the last two; INT64_MAX: there was none */
};

/*
 * Whether a last step that waits so long behind its work was not seen to end, since those before
 * wait longer: both of them, as one may have waited for a compilation.
 */
static bool lacks_wait(const struct waits_seen *seen, int64_t wait_ps, int64_t length_ps)
{
	const int64_t *within_ps = seen->within_ps;
	int64_t usual_ps = within_ps[0] < within_ps[1] ? within_ps[0] : within_ps[1];

	return seen->behind ||
	       (usual_ps < INT64_MAX && (double)usual_ps > WAIT_SHARE * (double)length_ps &&
		       wait_ps < usual_ps / 2);
}

static void wait_see(struct waits_seen *seen, int64_t wait_ps)
{
	seen->within_ps[1] = seen->within_ps[0];
	seen->within_ps[0] = wait_ps;
}

bool device_plan(struct scheduling *s, struct device *device, enum step_source source,
	const bool *beside, struct mark *marks)
{
	struct step_plan *plan = &device->plan;
	struct arena scratch = *s->scratch;
	struct planning p = { .s = s, .beside = beside, .keep = &scratch };
	struct mark *steps = marks;
	ptrdiff_t n = marks ? plan->mark_count : steps_read(s, &device->sweep, &steps, &scratch);
	ptrdiff_t judged = 0, run = 0;
	bool alone = s->ret->is_server, is_last = device == s->run->lasting.device;
	const struct executions all = executions_seen(s, device, beside, marks, &scratch),
				*d = &all;
	struct waits_seen waits = { !marks, { INT64_MAX, INT64_MAX } };
	int64_t until_ps = INT64_MIN;

	for (ptrdiff_t i = 0; i < n; i++) {
		struct mark *step = &steps[i];
		bool is_judged = step->sort == s->ret->judged;
		run = others_between(&p, d, run, until_ps, step->start_ps);
		/* What ends one execution may run beside what begins the next. */
		until_ps = i + 1 < n && (!alone || step->end_ps > step[1].start_ps)
				   ? step[1].start_ps
				   : step->end_ps;
		if (alone)
			until_ps = served_until(d, run, step->start_ps, until_ps);
		ptrdiff_t begin = run, before = p.count;
		bool is_cut = false;
		for (; run < d->count && d->runs[run].start_ps < until_ps; run++)
			is_cut |= !marks && d->runs[run].is_cut && d->runs[run].step >= 0;
		step->length_ps = stretches(&p, is_judged ? MARK_STEP : MARK_OTHER, step->start_ps,
			until_ps, step->number, &d->runs[begin], run - begin);
		int64_t wait_ps = until_ps - p.own_end_ps, length_ps = until_ps - step->start_ps;
		is_cut |= !alone && !(plan->has_more && !waits.behind) &&
			  lacks_wait(&waits, wait_ps, length_ps);
		waits.behind |= mark_leaves(step->start_ps, step->end_ps, until_ps);
		if (is_judged && judged > 0) /* the first one warms up */
			wait_see(&waits, wait_ps);
		for (ptrdiff_t k = before; k < p.count; k++)
			p.items[k].is_marked =
				!is_judged && step->sort >= 0 && p.items[k].kind == MARK_OTHER;
		if (i + 1 == n && is_cut && is_judged && p.count > before)
			p.items[p.count - 1].is_cut = true;
		judged += is_judged;
		if (is_last && marks && step->sort >= 0) /* each device has marks of its own */
			s->ret->sorts[step->sort].count++;
	}
	others_between(&p, d, run, until_ps, INT64_MAX);
	if (is_last)
		sorts_time(s, steps, n, scratch);
	return plan_set(s, plan, source, &p, judged);
}
