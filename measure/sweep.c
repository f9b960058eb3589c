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

struct running {
	struct running *parent; /* the one it suspends; NULL none */
	const struct subject *op;
	int32_t subject, lane;
	int32_t bit;		 /* enum activity */
	bool is_span;		 /* an async pair in flight, not an event */
	bool is_half;		 /* of an async pair: its span tells what it hides */
	int32_t comms, transfer; /* 1 when its time is shared with others of that activity */
	int64_t start_ps, end_ps, step;
	int64_t self_ps;   /* active up to now, but for */
	int64_t active_ps; /* the time since this */
};

/* Consecutive kernels of one op on one stream. */
struct kernel_group {
	int32_t subject; /* -1 none */
	int32_t kernels[GROUP_KERNELS];
	int kernel_count;
	int64_t self_ps, step;
};

struct lane_state {
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
	int64_t overlap_ps, exposed_ps, hidden_ps, bytes; /* as in op_total */
	struct op_total *poured; /* executions that left the journal; NULL none */
	int32_t instances;	 /* of a collective, so far */
	bool touched;		 /* listed in state.touched */
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
	/* Of what is active: how many by activity, and how many share time that way. */
	int by_bit[ACTIVITY_MASKS], comms, transfers;
	int mask;	     /* the bits whose by_bit is above 0 */
	int64_t next_end_ps; /* nothing active ends before this; */
	int64_t then_end_ps; /* and when ending_first's is gone, before this */
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
	s->known[op] = (struct known){ subject, bit_of(kind) };
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

static void total_add(struct op_total *t, struct arena *keep, int64_t self_ps)
{
	t->count++;
	t->self_ps += self_ps;
	t->max_ps = self_ps > t->max_ps ? self_ps : t->max_ps;
	dist_add(&t->dist, keep, self_ps);
}

static void journal_pour(struct state *s)
{
	for (ptrdiff_t i = 0; i < s->journal_count; i++) {
		struct pending *p = pending_of(s, s->journal[i].subject);

		if (!p->poured)
			p->poured = arena_make(&s->step_keep, struct op_total, 1);
		total_add(p->poured, &s->step_keep, s->journal[i].self_ps);
	}
	s->journal_count = 0;
}

/* An execution that began in step `serial` and took `self_ps`. */
static void execution_add(struct state *s, int32_t subject, int64_t serial, int64_t self_ps)
{
	if (s->in_step && serial == s->serial) {
		if (s->journal_count == JOURNAL_MAX)
			journal_pour(s);
		s->journal[s->journal_count].subject = subject;
		s->journal[s->journal_count++].self_ps = self_ps;
	} else if (serial >= 0 && s->serial - serial < STEP_MEMORY &&
		   s->steady[serial % STEP_MEMORY]) {
		total_add(&s->out->ops[subject], s->keep, self_ps);
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

static void pending_commit(struct op_total *t, struct arena *keep, const struct pending *p)
{
	t->overlap_ps += p->overlap_ps;
	t->exposed_ps += p->exposed_ps;
	t->hidden_ps += p->hidden_ps;
	t->bytes += p->bytes;
	if (!p->poured)
		return;
	t->count += p->poured->count;
	t->self_ps += p->poured->self_ps;
	t->max_ps = p->poured->max_ps > t->max_ps ? p->poured->max_ps : t->max_ps;
	dist_merge(&t->dist, keep, &p->poured->dist);
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
		total_add(&o->ops[s->journal[i].subject], s->keep, s->journal[i].self_ps);
	instances_commit(s);
	for (ptrdiff_t i = 0; i < s->gap_count; i++)
		gap_add(o->gaps, &o->gap_count, &s->gaps[i]);
	for (int m = 0; m < ACTIVITY_MASKS; m++)
		o->mask_ps[m] += s->step.mask_ps[m];
	o->idle_ps += s->step.idle_ps;
	o->steady_ps += s->step.end_ps - s->step.start_ps;
	o->steady_count++;
}

static void step_close(struct state *s, int64_t at_ps, bool complete)
{
	if (!s->in_step)
		return;
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
		return;
	}
	step_close(s, at_ps, true);
	s->mark++;
}

/* Time. */

/* Time that is shared out among those of one activity that run. */
struct shared {
	int sharing;
	int64_t left_ps;
};

/* The last to share takes the rest, so that not a picosecond is lost. */
static int64_t share_take(struct shared *t)
{
	int64_t share = t->sharing > 1 ? t->left_ps / t->sharing : t->left_ps;

	t->sharing--;
	t->left_ps -= share;
	return share;
}

static void activity_add(struct state *s, const struct running *r, int mask, bool overlaps,
	int64_t dt, struct shared *comms, struct shared *transfer)
{
	if (!overlaps && !r->comms && !r->transfer)
		return;
	struct pending *p = pending_of(s, r->subject);
	if (overlaps)
		p->overlap_ps += dt;
	if (r->comms)
		*(mask & ACTIVITY_COMPUTE ? &p->hidden_ps : &p->exposed_ps) += share_take(comms);
	else if (r->transfer)
		*(mask != ACTIVITY_TRANSFER ? &p->hidden_ps : &p->exposed_ps) +=
			share_take(transfer);
}

/* Is something else computing or communicating while this runs? */
static bool is_overlapped(const struct state *s, const struct running *r)
{
	return s->by_bit[ACTIVITY_COMPUTE] > (r->bit == ACTIVITY_COMPUTE) ||
	       s->by_bit[ACTIVITY_COMMS] > (r->bit == ACTIVITY_COMMS);
}

/*
 * Let time pass.  Time in which several transfers or collectives are in flight is shared among
 * them, so that sums over them are unions and no second is counted twice.
 */
static void time_passes(struct state *s, int64_t until_ps)
{
	int64_t dt = until_ps - s->now_ps;
	int mask = s->mask;

	s->now_ps = until_ps;
	s->out->window_mask_ps[mask] += dt;
	if (!s->in_step)
		return;
	s->step.mask_ps[mask] += dt;
	if (s->active_count == 0)
		s->step.idle_ps += dt;
	/* One that computes or copies alone: nothing overlaps, nothing is exposed. */
	if (s->active_count < 2 && !s->comms && !s->transfers)
		return;
	struct shared comms = { s->comms, dt }, transfer = { s->transfers, dt };
	bool may_overlap = mask & (ACTIVITY_COMPUTE | ACTIVITY_COMMS);
	for (int i = 0; i < s->active_count; i++) {
		const struct running *r = s->active[i];
		if (!r->is_half)
			activity_add(s, r, mask, may_overlap && is_overlapped(s, r), dt, &comms,
				&transfer);
	}
}

static void account(struct state *s, int64_t until_ps)
{
	if (until_ps > s->now_ps)
		time_passes(s, until_ps);
}

static void active_count(struct state *s, const struct running *r, int by)
{
	s->by_bit[r->bit] += by;
	s->mask = s->by_bit[r->bit] > 0 ? s->mask | r->bit : s->mask & ~r->bit;
	s->comms += by * r->comms;
	s->transfers += by * r->transfer;
}

static void active_remove(struct state *s, struct running *r)
{
	int i = s->active_count - 1;

	while (i >= 0 && s->active[i] != r)
		i--;
	if (i < 0)
		return;
	s->active[i] = s->active[--s->active_count];
	r->self_ps += s->now_ps - r->active_ps;
	active_count(s, r, -1);
}

static void active_add(struct state *s, struct running *r)
{
	s->active[s->active_count++] = r;
	r->active_ps = s->now_ps;
	active_count(s, r, 1);
	if (r->end_ps < s->next_end_ps)
		s->next_end_ps = r->end_ps;
}

/*
 * Begins to run.  Written field by field: a struct passed by value is stored in small pieces and
 * loaded in large ones, and the processor waits for that.
 */
static struct running *running_add(struct state *s, const struct subject *op, int32_t bit,
	bool is_half, const struct op_event *e)
{
	struct running *r = s->free[--s->free_count];

	r->parent = NULL;
	r->op = op;
	r->subject = op->index;
	r->lane = -1;
	r->bit = bit;
	r->is_half = is_half;
	r->is_span = false;
	r->comms = !is_half && bit == ACTIVITY_COMMS;
	r->transfer = !is_half && bit == ACTIVITY_TRANSFER;
	r->start_ps = e->start_ps;
	r->end_ps = e->end_ps;
	r->self_ps = 0;
	r->step = s->in_step ? s->serial : -1;
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
	if (!subject->groups_kernels)
		execution_add(s, r->subject, r->step, r->self_ps);
	if (subject->async == ASYNC_DONE && subject->start >= 0)
		span_end(s, subject, r->self_ps);
	else if (subject->async == ASYNC_NONE && r->bit == ACTIVITY_COMMS)
		instance_add(s, r->subject, r->end_ps - r->start_ps);
}

/* The running op that ends first, at `limit_ps` or before; NULL if none. */
static struct running *ending_first(struct state *s, int64_t limit_ps)
{
	struct running *best = NULL;
	int64_t end = INT64_MAX, then = INT64_MAX;

	for (int i = 0; i < s->active_count; i++) {
		struct running *r = s->active[i];
		if (r->end_ps < end || !best) {
			then = end;
			end = r->end_ps;
			best = r;
		} else if (r->end_ps < then) {
			then = r->end_ps;
		}
	}
	s->next_end_ps = end;
	s->then_end_ps = then;
	return end <= limit_ps ? best : NULL;
}

/* Let time pass up to `until_ps`: ends of ops and step boundaries in their order. */
static void advance(struct state *s, int64_t until_ps)
{
	for (;;) {
		int64_t boundary = boundary_next(s);

		if (s->next_end_ps > until_ps && boundary > until_ps)
			break;
		struct running *r = ending_first(s, until_ps);
		if (boundary <= until_ps && boundary <= (r ? r->end_ps : INT64_MAX)) {
			account(s, boundary);
			boundary_cross(s, boundary);
		} else if (r) {
			account(s, r->end_ps);
			s->next_end_ps = s->then_end_ps;
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
static bool execution_begins(
	struct state *s, const struct subject *subject, const struct op_event *e, bool first_kernel)
{
	struct program_state *p = &s->programs[subject->program->index];

	if (subject->platform == PLATFORM_CPU && e->run != 0) {
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
	struct state *s, const struct subject *subject, const struct op_event *e, bool first_kernel)
{
	int32_t index = subject->program->index;
	struct program_state *p = &s->programs[index];

	if (subject->program->id == PROGRAM_UNKNOWN)
		return;
	if (execution_begins(s, subject, e, first_kernel)) {
		program_close(s, index);
		p->open = true;
		p->start_ps = p->end_ps = e->start_ps;
		if (s->plan->main == subject->program)
			step_of_execution(s, e->start_ps);
	}
	p->last = subject->index;
	if (e->end_ps > p->end_ps)
		p->end_ps = e->end_ps;
	s->out->programs[index].kernels_self_ps += e->end_ps - e->start_ps;
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
static void pop_until_fits(struct state *s, const struct op_event *e)
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

static void span_begin(struct state *s, const struct known *start, const struct op_event *e)
{
	int spans = 0;

	span_abandon(s, start->subject);
	for (int i = 0; i < s->active_count; i++)
		spans += s->active[i]->is_span;
	if (spans >= SPANS_MAX)
		return;
	struct running *r = running_add(s, start->subject, start->bit, false, e);
	r->is_span = true;
	r->end_ps = INT64_MAX;
	active_add(s, r);
}

static void event_begin(struct state *s, const struct known *known, const struct op_event *e)
{
	enum async_role async = known->subject->async;
	struct lane_state *l = &s->lanes[e->lane];
	bool nested = s->out->plane->lanes[e->lane].class == LANE_OPS;

	make_room(s);
	if (nested) {
		pop_until_fits(s, e);
		if (l->top)
			active_remove(s, l->top);
	}
	struct running *r = running_add(s, known->subject, known->bit, async != ASYNC_NONE, e);
	if (nested) {
		r->lane = e->lane;
		r->parent = l->top;
		l->top = r;
	}
	active_add(s, r);
	if (async == ASYNC_START)
		span_begin(s, known, e);
}

static void event_take(struct state *s, const struct op_event *e)
{
	const struct known *known = known_of(s, e->op);
	const struct subject *subject = known->subject;
	struct kernel_group *group = &s->lanes[e->lane].group;

	advance(s, e->start_ps);
	gap_end(s, subject, e->start_ps);
	bool first = execution_starts(s, group, subject, e);
	if (first)
		group_close(s, group);
	program_event(s, subject, e, first);
	if (subject->groups_kernels && first)
		group_open(s, group, subject);
	if (subject->groups_kernels)
		group_add(group, e);
	if (e->bytes > 0 && s->in_step)
		pending_of(s, subject->index)->bytes += e->bytes;
	event_begin(s, known, e);
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
		s->lanes[i] = (struct lane_state){ .group = { .subject = -1 } };
	for (int i = 0; i < SWEEP_MAX_RUNNING; i++)
		s->free[s->free_count++] = &s->slots[SWEEP_MAX_RUNNING - 1 - i];
	s->next_end_ps = INT64_MAX;
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
	struct op_event e;

	while ((limit == 0 || s->out->events < limit) && merge_next(m, &e)) {
		if (s->out->events == 0)
			sweep_begin(s, e.start_ps);
		event_take(s, &e);
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
