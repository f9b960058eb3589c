/* One pass over the events of a device: executions of ops and of programs.  See sweep.h. */
#include <assert.h>
#include <string.h>

#include "measure/sweep_state.h"

void *items_longer(struct arena *keep, const void *old, ptrdiff_t old_n, ptrdiff_t n,
	ptrdiff_t ahead, ptrdiff_t size)
{
	char *p = arena_alloc(keep, size, 16, n);

	assert(n >= old_n + ahead);
	if (old_n > 0)
		memcpy(p + ahead * size, old, (size_t)(old_n * size));
	return p;
}

/* What is kept by subject and by program doubles together. */

static ptrdiff_t doubled(ptrdiff_t cap, ptrdiff_t least, ptrdiff_t index)
{
	ptrdiff_t n = cap ? cap : least;

	while (n <= index)
		n *= 2;
	return n;
}

static void reserve_subject(struct sweeping *s, int32_t subject)
{
	struct sweep *o = s->out;
	ptrdiff_t old = o->op_cap, first = old ? o->op_first : subject, end = first + old;

	if (subject >= first && subject < end)
		return;
	if (subject < first) /* at least twice as many, as above */
		first = first - old < subject ? first - old : subject;
	first = first < 0 ? 0 : first;
	ptrdiff_t ahead = old ? o->op_first - first : 0;
	ptrdiff_t n = doubled(old, 64, (subject < end ? end - 1 : subject) - first);
	MOVED(s->keep, o->ops, old, n, ahead);
	MOVED(s->work, s->pending, old, n, ahead);
	MOVED(s->work, s->in_flight, old, n, ahead);
	LONGER(s->work, s->touched, old, n);
	MOVED(s->keep, o->moving, old, n, ahead);
	o->op_first = first;
	o->op_cap = n;
}

static struct program_state *program_met(struct sweeping *s, int32_t program)
{
	ptrdiff_t old = s->out->program_cap, n = doubled(old, 16, program);

	if (n > old)
		LONGER(s->work, s->programs, old, n);
	s->out->program_cap = n;
	struct program_state **p = &s->programs[program];
	if (!*p) {
		*p = arena_make(s->work, struct program_state, 1);
		(*p)->index = program;
		(*p)->total.marker = -1;
	}
	return *p;
}

static COLD void known_add(struct sweeping *s, int32_t op)
{
	ptrdiff_t n = doubled(s->known_cap, 64, op);
	enum op_kind kind;

	if (n > s->known_cap)
		LONGER(s->work, s->known, s->known_cap, n);
	s->known_cap = n;
	const struct plane *p = s->out->plane;
	const struct profile_op *ops = s->ahead ? ahead_ops(s->ahead) : p->ops;
	const struct subject *subject = registry_subject(s->registry, p, &ops[op], &kind);
	enum activity activity = op_kind_activity(kind);
	enum activity bit = activity ? activity : ACTIVITY_COMPUTE; /* a loop keeps the core busy */
	bool known_program = subject->program->id != PROGRAM_UNKNOWN;
	reserve_subject(s, subject->index);
	struct program_state *program = program_met(s, subject->program->index);
	double devices = p->profile->devices_mixed ? subject->program->devices : 1;
	program->times = devices > 1 ? (int64_t)devices : 1;
	for (int i = 0; i < subject->start_count; i++)
		reserve_subject(s, subject->starts[i]);
	s->known[op] = (struct known){ .subject = subject,
		.program = known_program ? program : NULL,
		.index = subject->index,
		.async = subject->async,
		.bit = bit,
		.is_busy = bit == ACTIVITY_COMPUTE || bit == ACTIVITY_COMMS,
		.is_shared = (bit == ACTIVITY_COMMS || bit == ACTIVITY_TRANSFER) &&
			     subject->async == ASYNC_NONE,
		.kind = kind,
		.groups_kernels = subject->groups_kernels,
		.may_mark = subject->may_mark,
		.pageable = ops[op].pageable };
}

/* Kernels and programs. */

static void group_close(struct sweeping *s, struct kernel_group *g)
{
	if (g->subject >= 0)
		execution_add(s, g->subject, g->step, g->self_ps);
	g->subject = -1;
}

static bool group_has(const struct kernel_group *g, int32_t op)
{
	for (int i = 0; i < g->kernel_count; i++)
		if (g->kernels[i] == op)
			return true;
	return false;
}

/*
 * Does this event begin an execution of its op?  A kernel that follows one of its own op on its
 * stream belongs to the same execution.  A kernel that comes again may be the next execution's: it
 * is when another op of the program began in between, or when no other op could have, since this
 * one alone does the work of its computation.
 */
static inline bool execution_starts(const struct sweeping *s, const struct kernel_group *g,
	const struct known *known, const struct op_event *e)
{
	const struct subject *subject = known->subject;

	if (!known->groups_kernels || g->subject != known->index)
		return true;
	if (!group_has(g, e->op))
		return false;
	return subject->alone || s->programs[subject->program->index]->last != known->index;
}

static void group_add(struct sweeping *s, struct kernel_group *g, const struct known *known,
	const struct op_event *e, bool first)
{
	if (first) {
		g->subject = known->index;
		g->kernel_count = 0;
		g->self_ps = 0;
		g->step = serial_now(s, known->subject);
	}
	if (g->kernel_count < GROUP_KERNELS)
		g->kernels[g->kernel_count++] = e->op;
	g->self_ps += e->end_ps - e->start_ps;
}

static void program_close(struct sweeping *s, struct program_state *p, bool is_cut)
{
	if (!p->open)
		return;
	p->total.executions++;
	dist_add(&p->total.dist, s->keep, p->end_ps - p->start_ps);
	p->open = false;
	if (!s->plan->keep_runs)
		return;
	s->out->runs_cut |= s->out->run_count == PROGRAM_RUNS_MAX;
	/* Executions that are not kept tell no steps, whatever else there is to see. */
	if (s->out->runs_cut && s->plan->only_runs)
		s->until_ps = SWEEP_ENDED;
	if (!s->out->runs_cut)
		*arena_push(s->work, s->out->runs, s->out->run_count, s->out->run_cap) =
			(struct program_run){ p->start_ps, p->end_ps, p->index, -1, -1, is_cut,
				false };
}

/* On CPU a server's threads may run a program side by side: an op of an earlier run begins none. */
static bool run_begins(struct program_state *p, int64_t run)
{
	for (int i = 0; p->open && i < RUNS_AT_ONCE; i++)
		if (p->runs[i] == run)
			return false;
	p->run = p->runs[p->run_at] = run;
	p->run_at = (p->run_at + 1) % RUNS_AT_ONCE;
	return true;
}

/*
 * Does this event begin an execution of its program?  On CPU the launch's number says; elsewhere
 * the program's marker does: its first op met that is not inside a loop.
 */
static inline bool execution_begins(struct program_state *p, const struct known *known,
	const struct op_event *e, bool first_kernel)
{
	if (rarely(e->run != 0) && known->subject->platform == PLATFORM_CPU)
		return (!p->open || p->run != e->run) && run_begins(p, e->run);
	if (p->total.marker < 0 && known->may_mark)
		p->total.marker = known->index;
	if (p->total.marker != known->index || !first_kernel || p->left-- > 0)
		return false;
	p->left = p->times - 1;
	return true;
}

static inline void sweep_lasts(struct sweeping *s, int64_t until_ps)
{
	if (until_ps > s->out->last_ps)
		s->out->last_ps = until_ps;
}

static inline void program_lasts(struct sweeping *s, struct program_state *p, int64_t until_ps)
{
	if (until_ps > p->end_ps)
		p->end_ps = until_ps;
	sweep_lasts(s, until_ps);
	if (p->open && until_ps > s->executed_ps) {
		int64_t from_ps = p->start_ps > s->executed_ps ? p->start_ps : s->executed_ps;
		p->total.time_ps += until_ps - from_ps;
		s->executed_ps = until_ps;
	}
}

/* It is heard of while its program runs, or before its first op. */
static void execution_lasts(struct sweeping *s, const struct op_event *e)
{
	s->last_run = e->run;
	s->last_run_end_ps = e->end_ps;
	for (ptrdiff_t i = 0; i < s->out->program_cap; i++) {
		struct program_state *p = s->programs[i];
		if (e->run != 0 && p && p->open && p->run == e->run)
			program_lasts(s, p, e->end_ps);
	}
}

static void program_end(struct sweeping *s, struct program_state *p)
{
	if (p->open)
		sweep_op(s->out, p->last)->last = true;
	program_close(s, p, false);
}

static __attribute__((noinline)) void execution_begin(struct sweeping *s, struct program_state *p,
	const struct program *program, const struct op_event *e)
{
	program_end(s, p);
	p->open = true;
	p->start_ps = p->end_ps = e->start_ps;
	if (s->plan->main == program) {
		step_close(s, e->start_ps, true);
		step_open(s, e->start_ps);
	}
	if (rarely(e->run != 0) && e->run == s->last_run)
		program_lasts(s, p, s->last_run_end_ps);
}

/* `begins`: with it, an execution of its program. */
static inline void program_event(
	struct sweeping *s, const struct known *known, const struct op_event *e, bool begins)
{
	struct program_state *p = known->program;

	if (rarely(!p)) {
		sweep_lasts(s, e->end_ps);
		return;
	}
	if (begins)
		execution_begin(s, p, known->subject->program, e);
	if (rarely(p != s->running)) {
		bool beside = s->running && e->start_ps < s->running->end_ps;
		/* From one beside it, or on another lane, it neither comes nor comes back. */
		bool in_turn = s->running && !beside && !s->beside && s->running->lane == e->lane;
		sweep_op(s->out, known->index)->entered += in_turn;
		/* Except on a CPU nothing comes back to an execution: this one began unseen. */
		if (in_turn && !begins && known->subject->platform != PLATFORM_CPU)
			program_end(s, p);
		s->beside = beside;
		s->running = p;
	}
	if (rarely(s->awaited_ps > 0)) {
		sweep_op(s->out, known->index)->awaited_ps += s->awaited_ps;
		s->awaited_ps = 0;
	}
	p->last = known->index;
	p->lane = e->lane;
	program_lasts(s, p, e->end_ps);
	p->total.kernels_self_ps += e->end_ps - e->start_ps;
}

static COLD void limit_meet(struct sweeping *s, const struct op_event *last)
{
	if (s->plan->watch)
		s->plan->watch->until_ps = last->start_ps;
	s->until_ps = SWEEP_ENDED;
}

static inline void event_count(struct sweeping *s, const struct op_event *e)
{
	if (++s->out->events == s->limit)
		limit_meet(s, e);
	s->step_events += s->in_step;
}

/* Which executions begin, as event_take finds them, without the time. */
static void event_look(struct sweeping *s, const struct known *known, const struct op_event *e)
{
	struct kernel_group *group = &s->lanes[e->lane].group;
	struct program_state *program = known->program;
	bool first = execution_starts(s, group, known, e);

	program_event(s, known, e, program && execution_begins(program, known, e, first));
	if (first)
		group->subject = -1;
	if (known->groups_kernels)
		group_add(s, group, known, e, first);
	event_count(s, e);
}

static inline void event_take(
	struct sweeping *s, const struct known *known, const struct op_event *e)
{
	struct lane_state *lane = &s->lanes[e->lane];
	struct kernel_group *group = &lane->group;
	struct program_state *program = known->program;

	time_advance(s, e->start_ps);
	if (is_idle(s) && s->last_subject >= 0)
		s->awaited_ps += e->start_ps - s->idle_since_ps;
	bool first = execution_starts(s, group, known, e);
	bool goes_on = program && program->open;
	bool begins = program && execution_begins(program, known, e, first);
	if (begins && rarely(s->plan->listed))
		listed_ends(s, program->index);
	/* The gap is the step's that it ends with; before the first op of a mark, that one's. */
	if (mostly(s->in_step || s->in_other))
		gap_end(s, known->subject, e->start_ps, goes_on && !begins);
	bool passed = begins && rarely(s->plan->listed) && listed_begins(s);
	passed |= time_cross(s);
	if (rarely(passed || s->in_other))
		gap_end(s, known->subject, e->start_ps, goes_on && !begins);
	if (first)
		group_close(s, group);
	sweep_op(s->out, known->index)->began += program && first;
	program_event(s, known, e, begins);
	if (known->groups_kernels)
		group_add(s, group, known, e, first);
	if (rarely(e->bytes > 0) && s->in_step) {
		struct pending *p = pending_of(s, known->index);
		p->bytes += e->bytes;
		p->pageable_bytes += known->pageable ? e->bytes : 0;
	}
	event_hold(s, known, lane, e);
	event_count(s, e);
}

static void sweep_begin(struct sweeping *s, int64_t at_ps)
{
	const struct step_plan *plan = s->plan;

	for (ptrdiff_t i = 1; i < plan->mark_count && !plan->listed; i++)
		assert(s->marks[i].start_ps >= s->marks[i - 1].end_ps);
	s->out->first_ps = s->out->last_ps = s->now_ps = s->idle_since_ps = at_ps;
	/* A marked step may begin before its first op: idle, but part of the step. */
	if (s->marks && !plan->listed && s->marks[0].start_ps < at_ps && s->marks[0].end_ps > at_ps)
		s->now_ps = s->marks[0].start_ps;
	if (s->plan->source == STEPS_WINDOW)
		step_open(s, at_ps);
}

static int run_cmp(const void *a, const void *b)
{
	const struct program_run *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	return order ? order : order_integers(x->end_ps, y->end_ps);
}

void program_runs_sort(struct program_run *runs, ptrdiff_t count)
{
	sort_by(runs, count, run_cmp);
}

/* Spans without a done never end: they are dropped at the last event's end. */
static void sweep_finish(struct sweeping *s)
{
	struct sweep *o = s->out;

	/* The last of what is listed ends with its last op. */
	if (s->plan->listed && (s->in_step || s->in_other))
		s->boundary_ps = s->marks[s->mark].end_ps = o->last_ps;
	/* A marked step that has begun ends where its mark says. */
	int64_t marked_ps = s->marks && s->in_step ? s->marks[s->mark].end_ps : o->last_ps;
	time_advance(s, marked_ps > o->last_ps ? marked_ps : o->last_ps);
	if ((s->in_step || s->in_other) && s->boundary_ps <= s->now_ps)
		boundary_cross(s, s->boundary_ps);
	time_end(s);
	for (ptrdiff_t i = 0; i < o->plane->lane_count; i++)
		group_close(s, &s->lanes[i].group);
	o->programs = arena_make(s->keep, struct program_total, o->program_cap);
	for (ptrdiff_t i = 0; i < o->program_cap; i++) {
		struct program_state *p = s->programs[i];
		if (p)
			program_close(s, p,
				p == s->running && p->total.executions > 1 &&
					!sweep_op(o, p->last)->last);
		o->programs[i] = p ? p->total : (struct program_total){ .marker = -1 };
	}
	step_close(s, o->last_ps, s->plan->source == STEPS_WINDOW);
	/* They grew among the sweep's own things; a job has many devices, so no more is kept. */
	LONGER(s->keep, o->steps, o->step_count, o->step_count);
	o->run_count = o->runs_cut ? 0 : o->run_count;
	LONGER(s->keep, o->runs, o->run_count, o->run_count);
	program_runs_sort(o->runs, o->run_count);
}

/* The first event of all or of its op: what is known of that.  NULL: of an execution. */
static COLD const struct known *event_meet(struct sweeping *s, const struct op_event *e)
{
	if (e->op == OP_EXECUTION) {
		execution_lasts(s, e);
		return NULL;
	}
	if (s->out->events == 0)
		sweep_begin(s, e->start_ps);
	known_add(s, e->op);
	return &s->known[e->op];
}

/* False where the sweep ends before its events do. */
static bool events_sweep(struct sweeping *s, const struct op_event *e, ptrdiff_t n)
{
	bool looks = s->plan->only_runs;

	for (; n > 0 && e->start_ps < s->until_ps; e++, n--) {
		/* OP_EXECUTION is beyond what is known, too. */
		const struct known *known =
			(uint32_t)e->op < s->known_cap ? &s->known[e->op] : NULL;
		if (!known || !known->subject)
			known = event_meet(s, e);
		if (rarely(looks) && known)
			event_look(s, known, e);
		else if (known)
			event_take(s, known, e);
	}
	return n == 0 && s->until_ps != SWEEP_ENDED;
}

static bool sweep_once(struct sweeping *s, bool ahead, struct diag *err)
{
	struct merge *m = merge_new(s->out->plane, s->work);
	const struct op_event *e;
	bool goes_on = true;
	ptrdiff_t n;

	s->ahead = ahead ? ahead_new(m, s->out->plane, s->work) : NULL;
	while (goes_on &&
		(n = s->ahead ? ahead_run(s->ahead, &e) : merge_run(m, PTRDIFF_MAX, &e)) > 0)
		goes_on = events_sweep(s, e, n);
	if (s->ahead)
		ahead_end(s->ahead);
	err->id = DIAG_NONE;
	bool ok = !goes_on || merge_end(m, err);
	merge_free(m);
	if (ok && s->out->events > 0)
		sweep_finish(s);
	return ok;
}

bool sweep_plane(struct plane *p, int32_t host, const struct step_plan *plan,
	const struct host_facts *facts, struct registry *registry, int64_t limit, bool ahead,
	struct arena *keep, struct sweep *ret, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES), again = arena_new(SWEEP_ARENA_BYTES);
	ptrdiff_t changing = plan->listed ? plan->mark_count : 0;
	struct step_mark *planned = arena_make(&again, struct step_mark, changing);
	bool ok;

	for (ptrdiff_t i = 0; i < changing; i++)
		planned[i] = plan->marks[i];
	for (;;) {
		*ret = (struct sweep){ .plane = p, .host = host, .runs_cut = plan->runs_cut };
		ret->gaps.items = arena_make(keep, struct swept_gap, SWEEP_MAX_GAPS);
		ret->other_gaps.items = arena_make(keep, struct swept_gap, SWEEP_MAX_GAPS);
		struct sweeping *s = arena_make(&work, struct sweeping, 1);
		s->gaps.items = arena_make(&work, struct swept_gap, SWEEP_MAX_GAPS);
		s->other_gaps.items = arena_make(&work, struct swept_gap, SWEEP_MAX_GAPS);
		s->out = ret;
		s->plan = plan;
		s->facts = facts;
		s->registry = registry;
		s->keep = keep;
		s->work = &work;
		s->limit = limit;
		s->until_ps = plan->watch ? plan->watch->until_ps : INT64_MAX;
		s->last_subject = -1;
		s->passed_ps = s->executed_ps = INT64_MIN;
		s->lanes = arena_make(&work, struct lane_state, p->lane_count);
		for (ptrdiff_t i = 0; i < p->lane_count; i++) {
			s->lanes[i].index = (int32_t)i;
			s->lanes[i].nested = p->lanes[i].class == LANE_OPS;
			s->lanes[i].group.subject = -1;
		}
		s->marks = plan->marks;
		ret->is_window = plan->source == STEPS_WINDOW;
		time_begin(s);
		ok = sweep_once(s, ahead, err);
		arena_free(&s->step_empty);
		if (ok || err->id != DIAG_NONE)
			break;
		/* Lanes are marked to be sorted: begin again, with the marks as planned. */
		arena_clear(&work);
		for (ptrdiff_t i = 0; i < changing; i++)
			plan->marks[i] = planned[i];
	}
	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		ret->sorted |= p->lanes[i].sort;
	arena_free(&again);
	arena_free(&work);
	return ok || diag_context(err, "%.*s", STR_ARG(p->profile->input->path));
}
