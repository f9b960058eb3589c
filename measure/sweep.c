#include "measure/sweep.h"

#include <stdlib.h>
#include <string.h>

/* Kernels of one execution told apart by name; more is one execution all the same. */
#define GROUP_KERNELS 32
/* Steps whose fate is remembered for executions that end after their step. */
#define STEP_MEMORY 64
/* Async pairs in flight; more are not followed. */
#define SPANS_MAX 256
/* Executions of the open step kept one by one; more are gathered by subject. */
#define JOURNAL_MAX 8192

/*
 * What an op of one activity goes through as a step passes, for all its ops at once: each takes
 * the difference between when it leaves and when it joined.  Its share of exposed and hidden time
 * is no whole number where several divide it; a double holds that to 10^-16 of the step.
 */
struct activity_clock {
	int64_t overlap_ps;	      /* something else computes or communicates */
	double exposed_ps, hidden_ps; /* without and with work for it to hide behind */
};

struct running {
	struct running *parent; /* the one it suspends; NULL none */
	const struct subject *op;
	int32_t subject, lane;
	int32_t bit;  /* enum activity */
	bool is_span; /* an async pair in flight, not an event */
	bool is_half; /* of an async pair: its span tells what it hides */
	int64_t start_ps, end_ps, step;
	int64_t below_end_ps;	      /* nothing below it among the active ends before this */
	int64_t self_ps;	      /* active up to now, but for */
	int64_t active_ps;	      /* the time since this, */
	struct activity_clock joined; /* when its activity's clock stood so */
};

/* Consecutive kernels of one op on one stream. */
struct kernel_group {
	int32_t subject; /* -1 none */
	int32_t kernels[GROUP_KERNELS];
	int kernel_count;
	int64_t self_ps, step;
};

struct lane_state {
	bool nested;	     /* ops suspend the one they begin in */
	struct running *top; /* the innermost running op; NULL none */
	struct kernel_group group;
};

struct program_state {
	int32_t marker; /* subject; -1 not met */
	int32_t last;	/* subject of the event that began last */
	bool open;
	int64_t run, start_ps, end_ps;
};

/* What the open step owes a subject, beside the journal.  Small: cleared with every step. */
struct pending {
	int64_t overlap_ps, bytes;    /* as in op_total */
	double exposed_ps, hidden_ps; /* the same */
	struct dist *poured;	      /* executions that left the journal; NULL none */
	int32_t instances;	      /* of a collective, so far */
	bool touched;		      /* listed in state.touched */
};

struct execution {
	int32_t subject;
	int64_t self_ps;
};

struct pending_instance {
	int32_t subject, ordinal;
	int64_t span_ps;
};

/* What is looked up once for every op of the plane. */
struct known {
	const struct subject *subject; /* NULL: not yet */
	int32_t bit;		       /* enum activity while it runs */
	int32_t program;	       /* index; -1 not known */
};

/*
 * The newest event.  Most end before anything else begins or ends: they need no place among the
 * active, and are settled in one go when the next event comes.
 */
struct held {
	const struct known *known; /* NULL: none */
	int64_t start_ps, end_ps, step;
	int32_t lane;
};

struct state {
	struct sweep *out;
	const struct step_plan *plan;
	const struct host_facts *facts;
	struct registry *registry;
	struct arena *keep;	 /* for what is handed out */
	struct arena *work;	 /* for what dies with the sweep */
	struct arena step_keep;	 /* what is pending; begins anew with every step */
	struct arena step_empty; /* the same, unused */
	int64_t now_ps;

	struct known *known; /* by plane op index */
	ptrdiff_t known_cap;

	struct running slots[SWEEP_MAX_RUNNING];
	struct running *active[SWEEP_MAX_RUNNING], *free[SWEEP_MAX_RUNNING];
	int active_count, free_count;
	struct held held;
	/* By activity: how many are active, how many of them share time, and the clock. */
	int by_bit[ACTIVITY_MASKS], sharing[ACTIVITY_MASKS];
	struct activity_clock clocks[ACTIVITY_MASKS];
	double share[SWEEP_MAX_RUNNING + 1]; /* 1/n: a division would be what an event waits for */
	int mask;			     /* the bits whose by_bit is above 0 */
	int64_t next_end_ps;		     /* nothing active ends before this */
	struct lane_state *lanes;
	struct program_state *programs;

	/*
	 * The open step's executions as they came.  A step of millions (a window without steps)
	 * must not cost memory per event: a full journal is poured into `pending`.
	 */
	struct execution journal[JOURNAL_MAX];
	ptrdiff_t journal_count;
	struct pending *pending; /* of the open step, by subject */
	int32_t *touched;	 /* subjects with something pending; room for every subject */
	ptrdiff_t touched_count;
	struct pending_instance *instances;
	ptrdiff_t instance_count, instance_cap;
	struct swept_gap gaps[SWEEP_MAX_GAPS];
	ptrdiff_t gap_count;

	struct swept_step step; /* the open one */
	bool in_step;
	int64_t serial;		  /* of the open step */
	bool steady[STEP_MEMORY]; /* of closed steps, by serial */
	ptrdiff_t mark;		  /* next or current mark of an explicit plan */
	int64_t boundary_ps;	  /* where it begins or ends; never without such a plan */
	int64_t executions;	  /* of the main program */

	int64_t idle_since_ps;
	int32_t last_subject;
};

/* Growth: arrays by subject and by program double together. */

static void *grown(
	struct arena *keep, const void *old, ptrdiff_t old_n, ptrdiff_t n, ptrdiff_t size)
{
	void *p = arena_alloc(keep, size, 16, n);

	if (old_n > 0)
		memcpy(p, old, (size_t)(old_n * size));
	return p;
}

static void reserve_subject(struct state *s, int32_t subject)
{
	struct sweep *o = s->out;
	ptrdiff_t n = o->op_cap ? o->op_cap : 64;

	if (subject < o->op_cap)
		return;
	while (n <= subject)
		n *= 2;
	o->ops = grown(s->keep, o->ops, o->op_cap, n, (ptrdiff_t)sizeof(*o->ops));
	s->pending = grown(s->work, s->pending, o->op_cap, n, (ptrdiff_t)sizeof(*s->pending));
	s->touched = grown(s->work, s->touched, o->op_cap, n, (ptrdiff_t)sizeof(*s->touched));
	o->collectives =
		grown(s->keep, o->collectives, o->op_cap, n, (ptrdiff_t)sizeof(*o->collectives));
	o->op_cap = n;
}

static void reserve_program(struct state *s, int32_t program)
{
	struct sweep *o = s->out;
	ptrdiff_t old = o->program_cap, n = old ? old : 16;

	if (program < old)
		return;
	while (n <= program)
		n *= 2;
	o->programs = grown(s->keep, o->programs, old, n, (ptrdiff_t)sizeof(*o->programs));
	s->programs = grown(s->work, s->programs, old, n, (ptrdiff_t)sizeof(*s->programs));
	for (ptrdiff_t i = old; i < n; i++)
		s->programs[i].marker = -1;
	o->program_cap = n;
}

static int bit_of(enum op_kind kind)
{
	int bit = (int)op_kind_activity(kind);

	return bit ? bit : ACTIVITY_COMPUTE; /* a loop's own time keeps the core busy */
}

static void known_add(struct state *s, int32_t op)
{
	ptrdiff_t n = s->known_cap ? s->known_cap : 64;

	while (n <= op)
		n *= 2;
	if (n > s->known_cap)
		s->known = grown(s->work, s->known, s->known_cap, n, (ptrdiff_t)sizeof(*s->known));
	s->known_cap = n;
	enum op_kind kind;
	const struct subject *subject = registry_subject(s->registry, s->out->plane, op, &kind);
	reserve_subject(s, subject->index);
	reserve_program(s, subject->program->index);
	if (subject->start >= 0)
		reserve_subject(s, subject->start);
	bool known_program = subject->program->id != PROGRAM_UNKNOWN;
	s->known[op] = (struct known){ subject, bit_of(kind),
		known_program ? subject->program->index : -1 };
}

static const struct known *known_of(struct state *s, int32_t op)
{
	if (op >= s->known_cap || !s->known[op].subject)
		known_add(s, op);
	return &s->known[op];
}

/* What the open step owes a subject. */
static struct pending *pending_of(struct state *s, int32_t subject)
{
	struct pending *p = &s->pending[subject];

	if (!p->touched)
		s->touched[s->touched_count++] = subject;
	p->touched = true;
	return p;
}

/* Every op of the activity takes an equal share. */
static void clock_share(struct state *s, int activity, bool is_hidden, int64_t dt)
{
	struct activity_clock *c = &s->clocks[activity];
	int sharing = s->sharing[activity];

	if (sharing > 0)
		*(is_hidden ? &c->hidden_ps : &c->exposed_ps) += (double)dt * s->share[sharing];
}

/* What the clock says of an active op since it joined, to the open step. */
static void clock_settle(struct state *s, struct running *r)
{
	const struct activity_clock *now = &s->clocks[r->bit];
	bool shares = r->bit == ACTIVITY_COMMS || r->bit == ACTIVITY_TRANSFER;

	if (r->is_half || !s->in_step || (now->overlap_ps == r->joined.overlap_ps && !shares))
		return;
	struct pending *p = pending_of(s, r->subject);
	p->overlap_ps += now->overlap_ps - r->joined.overlap_ps;
	p->exposed_ps += now->exposed_ps - r->joined.exposed_ps;
	p->hidden_ps += now->hidden_ps - r->joined.hidden_ps;
}

static void journal_pour(struct state *s)
{
	for (ptrdiff_t i = 0; i < s->journal_count; i++) {
		struct pending *p = pending_of(s, s->journal[i].subject);

		if (!p->poured)
			p->poured = arena_make(&s->step_keep, struct dist, 1);
		dist_add(p->poured, &s->step_keep, s->journal[i].self_ps);
	}
	s->journal_count = 0;
}

/* An execution that began in step `serial` and took `self_ps`. */
static inline void execution_add(struct state *s, int32_t subject, int64_t serial, int64_t self_ps)
{
	if (s->in_step && serial == s->serial) {
		if (s->journal_count == JOURNAL_MAX)
			journal_pour(s);
		s->journal[s->journal_count].subject = subject;
		s->journal[s->journal_count++].self_ps = self_ps;
	} else if (serial >= 0 && s->serial - serial < STEP_MEMORY &&
		   s->steady[serial % STEP_MEMORY]) {
		dist_add(&s->out->ops[subject].self, s->keep, self_ps);
	}
}

static void instance_add(struct state *s, int32_t subject, int64_t span_ps)
{
	if (!s->in_step)
		return;
	struct pending_instance *p =
		s->instance_count < s->instance_cap
			? &s->instances[s->instance_count++]
			: arena_push(s->work, s->instances, s->instance_count, s->instance_cap);
	p->subject = subject;
	p->ordinal = pending_of(s, subject)->instances++;
	p->span_ps = span_ps;
}

/* Gaps: a heap whose root is the shortest one kept. */

static void gap_sift(struct swept_gap *g, ptrdiff_t n, ptrdiff_t i)
{
	for (;;) {
		ptrdiff_t least = i;
		for (ptrdiff_t c = 2 * i + 1; c <= 2 * i + 2 && c < n; c++)
			if (g[c].end_ps - g[c].start_ps < g[least].end_ps - g[least].start_ps)
				least = c;
		if (least == i)
			return;
		struct swept_gap t = g[i];
		g[i] = g[least];
		g[least] = t;
		i = least;
	}
}

static void gap_add(struct swept_gap *g, ptrdiff_t *n, const struct swept_gap *gap)
{
	if (*n < SWEEP_MAX_GAPS) {
		ptrdiff_t i = (*n)++;
		g[i] = *gap;
		for (; i > 0; i = (i - 1) / 2)
			gap_sift(g, *n, (i - 1) / 2);
		return;
	}
	if (gap->end_ps - gap->start_ps <= g[0].end_ps - g[0].start_ps)
		return;
	g[0] = *gap;
	gap_sift(g, *n, 0);
}

/* Steps. */

static int64_t step_number(const struct state *s)
{
	const struct step_plan *p = s->plan;

	if (p->marks)
		return p->marks[s->mark].number;
	if (p->numbers && s->serial < p->number_count)
		return p->numbers[s->serial];
	return s->serial;
}

static void step_open(struct state *s, int64_t at_ps)
{
	memset(&s->step, 0, sizeof(s->step));
	s->step.start_ps = at_ps;
	s->step.number = step_number(s);
	s->in_step = true;
}

static bool step_is_warmup(const struct state *s)
{
	int64_t shift = s->out->plane->host_shift_ps;
	int64_t from = s->step.start_ps + shift, to = s->step.end_ps + shift;

	if (s->plan->source == STEPS_WINDOW)
		return false;
	return (s->serial == 0 && s->plan->drop_first) ||
	       host_spans_meet(&s->facts->compiles, s->out->host, from, to) ||
	       host_spans_meet(&s->facts->profiler, s->out->host, from, to);
}

static void pending_clear(struct state *s)
{
	for (ptrdiff_t i = 0; i < s->touched_count; i++)
		s->pending[s->touched[i]] = (struct pending){ 0 };
	s->touched_count = s->instance_count = s->gap_count = s->journal_count = 0;
	s->step_keep = s->step_empty;
}

/* Rounded; it is not negative. */
static inline int64_t whole_ps(double ps)
{
	return (int64_t)(ps + 0.5);
}

static void pending_commit(struct op_total *t, struct arena *keep, const struct pending *p)
{
	t->overlap_ps += p->overlap_ps;
	t->exposed_ps += whole_ps(p->exposed_ps);
	t->hidden_ps += whole_ps(p->hidden_ps);
	t->bytes += p->bytes;
	if (p->poured)
		dist_merge(&t->self, keep, p->poured);
}

static void instances_commit(struct state *s)
{
	for (ptrdiff_t i = 0; i < s->instance_count; i++) {
		struct pending_instance *p = &s->instances[i];
		struct collective_total *c = &s->out->collectives[p->subject];

		dist_add(&c->span, s->keep, p->span_ps);
		if (s->out->steady_count < SWEEP_MAX_STEPS)
			*arena_push(s->keep, c->items, c->count, c->cap) =
				(struct instance){ (int32_t)s->out->steady_count, p->ordinal,
					p->span_ps };
	}
}

static void step_commit(struct state *s)
{
	struct sweep *o = s->out;

	for (ptrdiff_t i = 0; i < s->touched_count; i++)
		pending_commit(&o->ops[s->touched[i]], s->keep, &s->pending[s->touched[i]]);
	for (ptrdiff_t i = 0; i < s->journal_count; i++)
		dist_add(&o->ops[s->journal[i].subject].self, s->keep, s->journal[i].self_ps);
	instances_commit(s);
	for (ptrdiff_t i = 0; i < s->gap_count; i++)
		gap_add(o->gaps, &o->gap_count, &s->gaps[i]);
	for (int m = 0; m < ACTIVITY_MASKS; m++)
		o->mask_ps[m] += s->step.mask_ps[m];
	o->idle_ps += s->step.idle_ps;
	o->steady_ps += s->step.end_ps - s->step.start_ps;
	o->steady_count++;
}

/* The open step gets its part of what is active, and the next one begins at zero. */
static void clocks_restart(struct state *s)
{
	for (int i = 0; i < s->active_count; i++) {
		clock_settle(s, s->active[i]);
		s->active[i]->joined = (struct activity_clock){ 0 };
	}
	for (int bit = 1; bit < ACTIVITY_MASKS; bit <<= 1)
		s->clocks[bit] = (struct activity_clock){ 0 };
}

static void step_close(struct state *s, int64_t at_ps, bool complete)
{
	if (!s->in_step)
		return;
	clocks_restart(s);
	s->step.idle_ps = s->step.mask_ps[0];
	s->step.end_ps = at_ps;
	s->step.complete = complete;
	s->step.warmup = step_is_warmup(s);
	bool steady = complete && !s->step.warmup;
	if (steady)
		step_commit(s);
	pending_clear(s);
	int64_t alike = steady ? s->out->steady_count : ++s->out->other_count;
	if (alike <= SWEEP_MAX_STEPS)
		*arena_push(s->keep, s->out->steps, s->out->step_count, s->out->step_cap) = s->step;
	s->steady[s->serial % STEP_MEMORY] = steady;
	s->serial++;
	s->in_step = false;
}

/* The next explicit boundary, or never. */
static int64_t boundary_next(const struct state *s)
{
	const struct step_plan *p = s->plan;

	if (!p->marks || s->mark >= p->mark_count)
		return INT64_MAX;
	return s->in_step ? p->marks[s->mark].end_ps : p->marks[s->mark].start_ps;
}

static void boundary_cross(struct state *s, int64_t at_ps)
{
	if (!s->in_step) {
		step_open(s, at_ps);
	} else {
		step_close(s, at_ps, true);
		s->mark++;
	}
	s->boundary_ps = boundary_next(s);
}

/* Time. */

/*
 * Let time pass with these activities, `busy` ops of which compute or communicate.  Time in which
 * several transfers or collectives are in flight is shared among them, so that sums over them are
 * unions and no second is counted twice.
 */
static void time_passes(struct state *s, int64_t until_ps, int mask, int busy)
{
	struct activity_clock *clocks = s->clocks;
	int64_t dt = until_ps - s->now_ps;

	s->now_ps = until_ps;
	s->out->window_mask_ps[mask] += dt;
	if (!s->in_step)
		return;
	s->step.mask_ps[mask] += dt;
	if (busy > 1) {
		clocks[ACTIVITY_COMPUTE].overlap_ps += dt;
		clocks[ACTIVITY_COMMS].overlap_ps += dt;
	}
	if (busy > 0) {
		clocks[ACTIVITY_COPY].overlap_ps += dt;
		clocks[ACTIVITY_TRANSFER].overlap_ps += dt;
	}
	clock_share(s, ACTIVITY_COMMS, mask & ACTIVITY_COMPUTE, dt);
	clock_share(s, ACTIVITY_TRANSFER, mask != ACTIVITY_TRANSFER, dt);
}

static inline int busy_count(const struct state *s)
{
	return s->by_bit[ACTIVITY_COMPUTE] + s->by_bit[ACTIVITY_COMMS];
}

static inline void account(struct state *s, int64_t until_ps)
{
	if (until_ps > s->now_ps)
		time_passes(s, until_ps, s->mask, busy_count(s));
}

static inline void activity_count(struct state *s, int bit, bool is_half, int by)
{
	s->by_bit[bit] += by;
	s->mask = s->by_bit[bit] > 0 ? s->mask | bit : s->mask & ~bit;
	s->sharing[bit] += is_half ? 0 : by;
}

/* From below the last one; the others' order stays, for below_end_ps. */
static __attribute__((noinline)) bool active_take_out(struct state *s, const struct running *r)
{
	int i = s->active_count - 1;

	while (i >= 0 && s->active[i] != r)
		i--;
	if (i < 0)
		return false;
	for (; i < s->active_count - 1; i++)
		s->active[i] = s->active[i + 1];
	return true;
}

static inline void active_remove(struct state *s, struct running *r)
{
	int last = s->active_count - 1;

	if (last < 0)
		return;
	if (s->active[last] == r)
		s->next_end_ps = r->below_end_ps;
	else if (!active_take_out(s, r))
		return;
	s->active_count = last;
	r->self_ps += s->now_ps - r->active_ps;
	clock_settle(s, r);
	activity_count(s, r->bit, r->is_half, -1);
}

static void active_add(struct state *s, struct running *r)
{
	s->active[s->active_count++] = r;
	r->active_ps = s->now_ps;
	r->joined = s->clocks[r->bit];
	activity_count(s, r->bit, r->is_half, 1);
	r->below_end_ps = s->next_end_ps;
	if (r->end_ps < s->next_end_ps)
		s->next_end_ps = r->end_ps;
}

/*
 * Begins to run.  Written field by field: a struct passed by value is stored in small pieces and
 * loaded in large ones, and the processor waits for that.
 */
static struct running *running_add(
	struct state *s, const struct subject *op, int32_t bit, bool is_half, const struct held *e)
{
	struct running *r = s->free[--s->free_count];

	r->parent = NULL;
	r->op = op;
	r->subject = op->index;
	r->lane = -1;
	r->bit = bit;
	r->is_half = is_half;
	r->is_span = false;
	r->start_ps = e->start_ps;
	r->end_ps = e->end_ps;
	r->self_ps = 0;
	r->step = e->step;
	return r;
}

static void running_drop(struct state *s, struct running *r)
{
	active_remove(s, r);
	s->free[s->free_count++] = r;
	if (s->active_count == 0) {
		s->idle_since_ps = s->now_ps;
		s->last_subject = r->subject;
	}
}

/* The oldest span of a start: pairs of one instruction finish in the order they began. */
static struct running *span_of(const struct state *s, int32_t start)
{
	struct running *best = NULL;

	for (int i = 0; i < s->active_count; i++) {
		struct running *r = s->active[i];
		if (r->is_span && r->subject == start && (!best || r->start_ps < best->start_ps))
			best = r;
	}
	return best;
}

static void span_end(struct state *s, const struct subject *done, int64_t done_self_ps)
{
	struct running *span = span_of(s, done->start);

	s->out->collectives[done->start].done_self_ps += done_self_ps;
	if (!span)
		return;
	instance_add(s, done->start, s->now_ps - span->start_ps);
	running_drop(s, span);
}

/* What an event that ends now leaves behind. */
static inline void event_ended(struct state *s, const struct subject *subject, int64_t step,
	int64_t self_ps, int64_t time_ps)
{
	if (!subject->groups_kernels)
		execution_add(s, subject->index, step, self_ps);
	if (subject->async == ASYNC_DONE && subject->start >= 0)
		span_end(s, subject, self_ps);
	else if (subject->async == ASYNC_NONE && bit_of(subject->kind) == ACTIVITY_COMMS)
		instance_add(s, subject->index, time_ps);
}

/* An op's event ends now.  Its slot is free afterwards, and nobody takes it before we return. */
static void finish(struct state *s, struct running *r)
{
	const struct subject *subject = r->op;

	running_drop(s, r);
	if (r->lane >= 0 && s->lanes[r->lane].top == r) {
		s->lanes[r->lane].top = r->parent;
		if (r->parent)
			active_add(s, r->parent);
	}
	event_ended(s, subject, r->step, r->self_ps, r->end_ps - r->start_ps);
}

/* The running op that ends first, at `limit_ps` or before; NULL if none. */
static struct running *ending_first(struct state *s, int64_t limit_ps)
{
	int n = s->active_count;
	struct running *best = n > 0 ? s->active[n - 1] : NULL;

	/* Ops come and go like a stack, mostly: the last to begin is the first to end. */
	if (best && best->end_ps >= best->below_end_ps) {
		for (int i = n - 1; i-- > 0;)
			if (s->active[i]->end_ps <= best->end_ps)
				best = s->active[i];
	}
	s->next_end_ps = best ? best->end_ps : INT64_MAX;
	return s->next_end_ps <= limit_ps ? best : NULL;
}

/* Let time pass up to `until_ps`: ends of ops and step boundaries in their order. */
static void advance(struct state *s, int64_t until_ps)
{
	for (;;) {
		int64_t boundary = s->boundary_ps;

		if (s->next_end_ps > until_ps && boundary > until_ps)
			break;
		struct running *r = ending_first(s, until_ps);
		if (boundary <= until_ps && boundary <= (r ? r->end_ps : INT64_MAX)) {
			account(s, boundary);
			boundary_cross(s, boundary);
		} else if (r) {
			account(s, r->end_ps);
			finish(s, r);
		} else {
			break;
		}
	}
	account(s, until_ps);
}

/* Kernels and programs. */

static void group_close(struct state *s, struct kernel_group *g)
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
static bool execution_starts(const struct state *s, const struct kernel_group *g,
	const struct subject *subject, const struct op_event *e)
{
	if (!subject->groups_kernels || g->subject != subject->index)
		return true;
	if (!group_has(g, e->op))
		return false;
	return subject->alone || s->programs[subject->program->index].last != subject->index;
}

static void group_open(struct state *s, struct kernel_group *g, const struct subject *subject)
{
	g->subject = subject->index;
	g->kernel_count = 0;
	g->self_ps = 0;
	g->step = s->in_step ? s->serial : -1;
}

static void group_add(struct kernel_group *g, const struct op_event *e)
{
	if (g->kernel_count < GROUP_KERNELS)
		g->kernels[g->kernel_count++] = e->op;
	g->self_ps += e->end_ps - e->start_ps;
}

static void program_close(struct state *s, int32_t program)
{
	struct program_state *p = &s->programs[program];
	struct program_total *t = &s->out->programs[program];

	if (!p->open)
		return;
	t->executions++;
	t->time_ps += p->end_ps - p->start_ps;
	dist_add(&t->dist, s->keep, p->end_ps - p->start_ps);
	p->open = false;
}

/*
 * Does this event begin an execution of its program?  On CPU the launch's number says; elsewhere
 * the program's marker does: its first op met that is not inside a loop.
 */
static inline bool execution_begins(struct program_state *p, const struct subject *subject,
	const struct op_event *e, bool first_kernel)
{
	if (e->run != 0 && subject->platform == PLATFORM_CPU) {
		bool begins = !p->open || p->run != e->run;
		p->run = e->run;
		return begins;
	}
	if (p->marker < 0 && subject->may_mark)
		p->marker = subject->index;
	return p->marker == subject->index && first_kernel;
}

static void step_of_execution(struct state *s, int64_t at_ps)
{
	int64_t n = s->executions++;

	if (n % s->plan->per_step != 0)
		return;
	step_close(s, at_ps, true);
	step_open(s, at_ps);
}

static void program_event(
	struct state *s, const struct known *known, const struct op_event *e, bool first_kernel)
{
	const struct subject *subject = known->subject;

	if (known->program < 0)
		return;
	struct program_state *p = &s->programs[known->program];
	if (execution_begins(p, subject, e, first_kernel)) {
		program_close(s, known->program);
		p->open = true;
		p->start_ps = p->end_ps = e->start_ps;
		if (s->plan->main == subject->program)
			step_of_execution(s, e->start_ps);
	}
	p->last = subject->index;
	if (e->end_ps > p->end_ps)
		p->end_ps = e->end_ps;
	s->out->programs[known->program].kernels_self_ps += e->end_ps - e->start_ps;
}

/* Events. */

static void gap_end(struct state *s, const struct subject *next, int64_t at_ps)
{
	if (s->active_count > 0 || s->last_subject < 0 || at_ps <= s->idle_since_ps || !s->in_step)
		return;
	struct swept_gap gap;
	gap.start_ps = s->idle_since_ps;
	gap.end_ps = at_ps;
	gap.step = s->step.number;
	gap.before = s->last_subject;
	gap.after = next->index;
	gap_add(s->gaps, &s->gap_count, &gap);
}

/* A nested lane: an op that does not fit into the one before it ends that one. */
static void pop_until_fits(struct state *s, const struct held *e)
{
	struct lane_state *l = &s->lanes[e->lane];

	while (l->top && l->top->end_ps < e->end_ps) {
		l->top->end_ps = e->start_ps;
		finish(s, l->top);
	}
}

static void make_room(struct state *s)
{
	while (s->free_count < 2) {
		struct running *r = ending_first(s, INT64_MAX);
		s->out->too_deep = true;
		finish(s, r ? r : s->active[0]);
	}
}

/* An instruction starts again only after its done: when it does before, the done was lost. */
static void span_abandon(struct state *s, const struct subject *start)
{
	struct running *open = span_of(s, start->index);

	if (!open)
		return;
	s->out->lost_dones++;
	running_drop(s, open);
}

static void span_begin(struct state *s, const struct held *e)
{
	int spans = 0;

	span_abandon(s, e->known->subject);
	for (int i = 0; i < s->active_count; i++)
		spans += s->active[i]->is_span;
	if (spans >= SPANS_MAX)
		return;
	struct running *r = running_add(s, e->known->subject, e->known->bit, false, e);
	r->is_span = true;
	r->end_ps = INT64_MAX;
	active_add(s, r);
}

/* The held event takes its place among the active. */
static __attribute__((noinline)) void held_begin(struct state *s)
{
	const struct held *e = &s->held;
	const struct known *known = e->known;
	struct lane_state *l = &s->lanes[e->lane];

	make_room(s);
	if (l->nested) {
		pop_until_fits(s, e);
		if (l->top)
			active_remove(s, l->top);
	}
	struct running *r =
		running_add(s, known->subject, known->bit, known->subject->async != ASYNC_NONE, e);
	if (l->nested) {
		r->lane = e->lane;
		r->parent = l->top;
		l->top = r;
	}
	active_add(s, r);
	if (known->subject->async == ASYNC_START)
		span_begin(s, e);
}

/* The op that the held event suspends; its time stands still in between. */
static void parent_pause(struct state *s, struct running *parent)
{
	parent->self_ps += s->now_ps - parent->active_ps;
	clock_settle(s, parent);
	activity_count(s, parent->bit, parent->is_half, -1);
}

static void parent_resume(struct state *s, struct running *parent)
{
	parent->active_ps = s->now_ps;
	parent->joined = s->clocks[parent->bit];
	activity_count(s, parent->bit, parent->is_half, 1);
}

/* The held event begins and ends, and nothing else does in between. */
static void held_pass(struct state *s)
{
	const struct held *e = &s->held;
	const struct subject *subject = e->known->subject;
	struct running *parent = s->lanes[e->lane].nested ? s->lanes[e->lane].top : NULL;
	int64_t time_ps = e->end_ps - e->start_ps;

	if (subject->async == ASYNC_START && s->free_count > 0)
		span_begin(s, e);
	if (parent)
		parent_pause(s, parent);
	int bit = e->known->bit, busy = busy_count(s);
	if (busy > 0 && subject->async == ASYNC_NONE && s->in_step)
		pending_of(s, subject->index)->overlap_ps += time_ps;
	if (time_ps > 0)
		time_passes(s, e->end_ps, s->mask | bit, busy + (bit <= ACTIVITY_COMMS));
	if (parent)
		parent_resume(s, parent);
	if (s->active_count == 0) {
		s->idle_since_ps = s->now_ps;
		s->last_subject = subject->index;
	}
	event_ended(s, subject, e->step, time_ps, time_ps);
}

/* Those that share their time need a clock. */
static inline bool held_shares(const struct held *e)
{
	return e->known->bit & (ACTIVITY_COMMS | ACTIVITY_TRANSFER) &&
	       e->known->subject->async == ASYNC_NONE;
}

/* The held event by itself up to `until_ps`, or among the active. */
static inline void held_settle(struct state *s, int64_t until_ps)
{
	const struct held *e = &s->held;

	if (!e->known)
		return;
	const struct running *top = s->lanes[e->lane].top;
	if (e->end_ps <= until_ps && e->end_ps < s->next_end_ps && e->end_ps < s->boundary_ps &&
		(!top || e->end_ps <= top->end_ps) && !held_shares(e))
		held_pass(s);
	else
		held_begin(s);
	s->held.known = NULL;
}

static void event_hold(struct state *s, const struct known *known, const struct op_event *e)
{
	s->held.known = known;
	s->held.start_ps = e->start_ps;
	s->held.end_ps = e->end_ps;
	s->held.step = s->in_step ? s->serial : -1;
	s->held.lane = e->lane;
}

static void event_take(struct state *s, const struct op_event *e)
{
	const struct known *known = known_of(s, e->op);
	const struct subject *subject = known->subject;
	struct kernel_group *group = &s->lanes[e->lane].group;

	held_settle(s, e->start_ps);
	advance(s, e->start_ps);
	gap_end(s, subject, e->start_ps);
	bool first = execution_starts(s, group, subject, e);
	if (first)
		group_close(s, group);
	program_event(s, known, e, first);
	if (subject->groups_kernels && first)
		group_open(s, group, subject);
	if (subject->groups_kernels)
		group_add(group, e);
	if (e->bytes > 0 && s->in_step)
		pending_of(s, subject->index)->bytes += e->bytes;
	event_hold(s, known, e);
	if (e->end_ps > s->out->last_ps)
		s->out->last_ps = e->end_ps;
	s->out->events++;
}

static struct state *state_new(struct sweep *out, const struct step_plan *plan,
	const struct host_facts *facts, struct registry *registry, struct arena *keep,
	struct arena *work, struct arena step_empty)
{
	struct state *s = arena_make(work, struct state, 1);

	s->out = out;
	s->plan = plan;
	s->facts = facts;
	s->registry = registry;
	s->keep = keep;
	s->work = work;
	s->step_keep = s->step_empty = step_empty;
	s->last_subject = -1;
	s->lanes = arena_make(work, struct lane_state, out->plane->lane_count);
	for (ptrdiff_t i = 0; i < out->plane->lane_count; i++)
		s->lanes[i] = (struct lane_state){
			.nested = out->plane->lanes[i].class == LANE_OPS,
			.group = { .subject = -1 },
		};
	for (int i = 0; i < SWEEP_MAX_RUNNING; i++)
		s->free[s->free_count++] = &s->slots[SWEEP_MAX_RUNNING - 1 - i];
	for (int i = 1; i <= SWEEP_MAX_RUNNING; i++)
		s->share[i] = 1.0 / i;
	s->next_end_ps = INT64_MAX;
	s->boundary_ps = boundary_next(s);
	return s;
}

static bool in_marked_step(const struct state *s)
{
	return s->plan->marks && s->in_step;
}

static void sweep_begin(struct state *s, int64_t at_ps)
{
	const struct step_plan *plan = s->plan;

	s->out->first_ps = s->out->last_ps = s->now_ps = s->idle_since_ps = at_ps;
	/* A marked step may begin before its first op: idle, but part of the step. */
	if (plan->marks && plan->marks[0].start_ps < at_ps && plan->marks[0].end_ps > at_ps)
		s->now_ps = plan->marks[0].start_ps;
	if (s->plan->source == STEPS_WINDOW)
		step_open(s, at_ps);
}

/* Spans without a done never end: they are dropped at the last event's end. */
static void sweep_finish(struct state *s)
{
	struct sweep *o = s->out;

	held_settle(s, o->last_ps);
	/* A marked step that has begun ends where its mark says. */
	advance(s, in_marked_step(s) && s->plan->marks[s->mark].end_ps > o->last_ps
			   ? s->plan->marks[s->mark].end_ps
			   : o->last_ps);
	for (int i = s->active_count; i-- > 0;)
		running_drop(s, s->active[i]);
	for (ptrdiff_t i = 0; i < o->plane->lane_count; i++)
		group_close(s, &s->lanes[i].group);
	for (int32_t i = 0; i < o->program_cap; i++)
		program_close(s, i);
	step_close(s, o->last_ps, s->plan->source == STEPS_WINDOW);
}

static bool sweep_once(struct state *s, int64_t limit, struct diag *err)
{
	struct merge *m = merge_new(s->out->plane, s->work);
	const struct op_event *e;

	while ((limit == 0 || s->out->events < limit) && (e = merge_next(m))) {
		if (s->out->events == 0)
			sweep_begin(s, e->start_ps);
		event_take(s, e);
	}
	bool stopped = limit > 0 && s->out->events >= limit;
	err->id = DIAG_NONE;
	bool ok = stopped || merge_end(m, err);
	merge_free(m);
	if (ok && s->out->events > 0)
		sweep_finish(s);
	return ok;
}

bool sweep_plane(struct plane *p, int32_t host, const struct step_plan *plan,
	const struct host_facts *facts, struct registry *registry, int64_t limit,
	struct arena *keep, struct sweep *ret, struct diag *err)
{
	struct arena work = arena_new(SWEEP_ARENA_BYTES), step_empty = arena_new(STEP_ARENA_BYTES);
	bool ok;

	p->keep = keep;
	for (;;) {
		*ret = (struct sweep){ .plane = p, .host = host };
		ret->gaps = arena_make(keep, struct swept_gap, SWEEP_MAX_GAPS);
		ok = sweep_once(
			state_new(ret, plan, facts, registry, keep, &work, step_empty), limit, err);
		if (ok || err->id != DIAG_NONE)
			break;
		arena_clear(&work); /* lanes are marked to be sorted: begin again */
	}
	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		ret->sorted |= p->lanes[i].sort;
	arena_free(&work);
	arena_free(&step_empty);
	return ok || diag_context(err, "%.*s", STR_ARG(p->profile->input->path));
}
