/*
 * The open step: executions, instances and gaps wait here until it closes, and count only if it
 * proves steady.  See sweep.h.
 */
#include <assert.h>
#include <string.h>

#include "measure/sweep_state.h"

/* The window is a step that always counts. */
static void journal_commit(struct sweeping *s)
{
	for (ptrdiff_t i = 0; i < s->journal_count; i++)
		dist_add(&sweep_op(s->out, s->journal[i].subject)->self, s->keep,
			s->journal[i].self_ps);
	s->journal_count = 0;
}

static void journal_pour(struct sweeping *s)
{
	if (s->plan->source == STEPS_WINDOW) {
		journal_commit(s);
		return;
	}
	if (!s->step_empty.base)
		s->step_keep = s->step_empty = arena_new(STEP_ARENA_BYTES);
	for (ptrdiff_t i = 0; i < s->journal_count; i++) {
		struct pending *p = pending_of(s, s->journal[i].subject);

		if (!p->poured)
			p->poured = arena_make(&s->step_keep, struct dist, 1);
		dist_add(p->poured, &s->step_keep, s->journal[i].self_ps);
	}
	s->journal_count = 0;
}

void journal_make_room(struct sweeping *s)
{
	ptrdiff_t cap = s->journal_cap ? 2 * s->journal_cap : 256;

	if (s->journal_cap == JOURNAL_MAX) {
		journal_pour(s);
		return;
	}
	LONGER(s->work, s->journal, s->journal_count, cap);
	s->journal_cap = cap;
}

void execution_add_late(struct sweeping *s, int32_t subject, int64_t serial, int64_t self_ps)
{
	if (serial == SERIAL_OTHER)
		dist_add(&sweep_op(s->out, subject)->self, s->keep, self_ps);
	else if (serial >= 0 && s->serial - serial < STEP_MEMORY && s->steady[serial % STEP_MEMORY])
		dist_add(&sweep_op(s->out, subject)->self, s->keep, self_ps);
}

static void span_add(struct sweeping *s, int32_t subject, int64_t span_ps, bool is_kept)
{
	struct moving_total *c = sweep_moving(s->out, subject);

	dist_add(&c->span, s->keep, span_ps);
	if (is_kept)
		*arena_push(s->keep, c->spans_ps, c->count, c->cap) = span_ps;
}

void instance_add(struct sweeping *s, const struct subject *op, int64_t span_ps)
{
	int32_t subject = op->index;

	if (serial_now(s, op) == SERIAL_OTHER)
		span_add(s, subject, span_ps,
			sweep_moving(s->out, subject)->count < SWEEP_MAX_STEPS);
	if (!s->in_step)
		return;
	*arena_push(s->work, s->instances, s->instance_count, s->instance_cap) =
		(struct pending_instance){ subject, span_ps };
}

/* Gaps: a heap whose root is the shortest one kept. */

static int64_t gap_length(const struct swept_gap *g)
{
	return g->end_ps - g->start_ps;
}

/* Into the root's place. */
static void gap_sink(struct swept_gap *g, ptrdiff_t n, const struct swept_gap *gap)
{
	ptrdiff_t i = 0;

	for (ptrdiff_t c; (c = 2 * i + 1) < n; i = c) {
		c += c + 1 < n && gap_length(&g[c + 1]) < gap_length(&g[c]);
		if (gap_length(&g[c]) >= gap_length(gap))
			break;
		g[i] = g[c];
	}
	g[i] = *gap;
}

static void gap_rise(struct swept_gap *g, ptrdiff_t i, const struct swept_gap *gap)
{
	for (; i > 0 && gap_length(gap) < gap_length(&g[(i - 1) / 2]); i = (i - 1) / 2)
		g[i] = g[(i - 1) / 2];
	g[i] = *gap;
}

/* Whether it has room for one of this length. */
static bool gap_fits(const struct gap_heap *h, int64_t length_ps)
{
	return h->count < SWEEP_MAX_GAPS || length_ps > gap_length(h->items);
}

static void gap_add(struct gap_heap *h, const struct swept_gap *gap)
{
	if (h->count < SWEEP_MAX_GAPS)
		gap_rise(h->items, h->count++, gap);
	else if (gap_fits(h, gap_length(gap)))
		gap_sink(h->items, SWEEP_MAX_GAPS, gap);
}

static void gaps_join(struct gap_heap *h, struct gap_heap *of)
{
	for (ptrdiff_t i = 0; i < of->count; i++)
		gap_add(h, &of->items[i]);
}

static inline void gap_keep(struct sweeping *s, const struct subject *next, int64_t from_ps,
	int64_t at_ps, bool inside, bool is_other)
{
	const struct sweep *o = s->out;

	if (at_ps <= from_ps)
		return;
	int64_t length_ps = at_ps - from_ps;
	if (is_other)
		s->step.other_wait_ps -= inside ? length_ps : 0;
	else
		s->inside_ps += inside ? length_ps : 0;
	/* What is too short to be kept of all steps need not be kept of this one. */
	if (gap_fits(is_other ? &o->other_gaps : &o->gaps, length_ps))
		gap_add(is_other ? &s->other_gaps : &s->gaps,
			&(struct swept_gap){ from_ps, at_ps, s->step.number, s->last_subject,
				next ? next->index : -1, inside, is_other });
	s->told_ps = at_ps;
}

static inline void gap_until(
	struct sweeping *s, const struct subject *next, int64_t at_ps, bool inside)
{
	int64_t from_ps = s->told_ps > s->idle_since_ps ? s->told_ps : s->idle_since_ps;
	/* What is idle before other work is the step's. */
	from_ps = s->in_other && s->passed_ps > from_ps ? s->passed_ps : from_ps;
	ptrdiff_t i = s->mark, until = s->mark + (s->in_step || s->in_other);

	while (i > 0 && s->marks[i - 1].end_ps > from_ps)
		i--;
	/* Another device did other work meanwhile: that tells what it waited for.  What was idle at
	 * the end of other work that counts is that work's. */
	for (; s->marks && i < until && s->marks[i].start_ps < at_ps; i++) {
		const struct step_mark *m = &s->marks[i];
		int64_t end_ps = m->end_ps < at_ps ? m->end_ps : at_ps;
		if (mostly(m->kind != MARK_ELSEWHERE && !m->is_counted))
			continue;
		gap_keep(s, next, from_ps, m->start_ps, inside, false);
		from_ps = from_ps > m->start_ps ? from_ps : m->start_ps;
		if (m->is_counted)
			gap_keep(s, next, from_ps, end_ps, inside, true);
		s->told_ps = from_ps = from_ps > end_ps ? from_ps : end_ps;
	}
	gap_keep(s, next, from_ps, at_ps, inside, s->in_other);
}

void gap_tell(struct sweeping *s, const struct subject *next, int64_t at_ps, bool inside)
{
	gap_until(s, next, inside || s->executed_ps > at_ps ? at_ps : s->executed_ps, true);
	gap_until(s, next, at_ps, false);
}

struct mask_sum mask_sum(const int64_t *mask_ps, int64_t idle_ps)
{
	struct mask_sum r = { .idle = (double)idle_ps * PS };

	for (int mask = 0; mask < ACTIVITY_MASKS; mask++) {
		double s = (double)mask_ps[mask] * PS;
		bool compute = mask & ACTIVITY_COMPUTE, comms = mask & ACTIVITY_COMMS;
		r.compute += compute ? s : 0;
		r.exposed += comms && !compute ? s : 0;
		r.hidden += comms && compute ? s : 0;
		r.copy += mask & ACTIVITY_COPY && !compute && !comms ? s : 0;
		r.transfer += mask == ACTIVITY_TRANSFER ? s : 0;
	}
	return r;
}

void step_open(struct sweeping *s, int64_t at_ps)
{
	memset(&s->step, 0, sizeof(s->step));
	memset(s->mask_ps, 0, sizeof(s->mask_ps));
	s->inside_ps = s->step_events = s->other_gaps.count = 0;
	s->step.start_ps = at_ps;
	s->step.number = s->marks ? s->marks[s->mark].number : s->serial;
	s->in_step = true;
}

/* Work in which the host compiled, or the profiler began, tells nothing of other such work. */
static bool is_disturbed(const struct sweeping *s, int64_t from_ps, int64_t to_ps)
{
	int64_t shift = s->out->plane->host_shift_ps;
	int64_t from = from_ps + shift, to = to_ps + shift;

	return (!s->plan->keep_compiled &&
		       host_spans_meet(&s->facts->compiles, s->out->host, from, to)) ||
	       host_spans_meet(&s->facts->profiler, s->out->host, from, to);
}

static bool step_is_warmup(const struct sweeping *s)
{
	if (s->plan->source == STEPS_WINDOW)
		return false;
	return (s->serial == 0 && s->plan->drop_first) ||
	       is_disturbed(s, s->step.start_ps, s->step.end_ps);
}

static void step_commit(struct sweeping *s)
{
	struct sweep *o = s->out;

	for (ptrdiff_t i = 0; i < s->touched_count; i++) {
		const struct pending *p = &s->pending[s->touched[i] - o->op_first];
		struct op_total *t = sweep_op(o, s->touched[i]);
		struct moving_total *m = sweep_moving(o, s->touched[i]);
		t->overlap_ps += p->overlap_ps;
		m->exposed_ps += (int64_t)(p->exposed_ps + 0.5); /* rounded: none is negative */
		m->hidden_ps += (int64_t)(p->hidden_ps + 0.5);
		m->bytes += p->bytes;
		m->pageable_bytes += p->pageable_bytes;
		if (p->poured)
			dist_merge(&t->self, s->keep, p->poured);
	}
	journal_commit(s);
	for (ptrdiff_t i = 0; i < s->instance_count; i++) {
		const struct pending_instance *p = &s->instances[i];
		span_add(s, p->subject, p->span_ps, o->steady_count < SWEEP_MAX_STEPS);
	}
	gaps_join(&o->gaps, &s->gaps);
	gaps_join(&o->other_gaps, &s->other_gaps);
	for (int m = 0; m < ACTIVITY_MASKS; m++)
		o->mask_ps[m] += s->mask_ps[m];
	o->idle_ps += s->mask_ps[0];
	/* An execution may last beyond its step. */
	o->inside_ps += s->inside_ps < s->mask_ps[0] ? s->inside_ps : s->mask_ps[0];
	o->steady_ps += step_length_ps(&s->step);
	o->other_ps += s->step.other_ps;
	o->other_wait_ps += s->step.other_wait_ps;
	dist_add(&o->lengths, s->keep, step_length_ps(&s->step));
	o->steady_count++;
	o->steady_events += s->step_events;
	o->full_steps = s->step_events > o->full_events
				? 1
				: o->full_steps + (s->step_events == o->full_events);
	o->full_events = s->step_events > o->full_events ? s->step_events : o->full_events;
}

void step_close(struct sweeping *s, int64_t at_ps, bool complete)
{
	if (!s->in_step && !s->paused)
		return;
	clocks_restart(s);
	s->step.end_ps = at_ps;
	s->step.complete = complete;
	s->step.warmup = step_is_warmup(s);
	bool steady = complete && !s->step.warmup;
	if (steady)
		step_commit(s);
	for (ptrdiff_t i = 0; i < s->touched_count; i++)
		s->pending[s->touched[i] - s->out->op_first] = (struct pending){ 0 };
	s->touched_count = s->instance_count = s->journal_count = 0;
	s->gaps.count = s->other_gaps.count = 0;
	s->step_keep = s->step_empty;
	if (s->serial == 0 || (s->step.warmup && !s->out->steady_count))
		s->out->first_end_ps = at_ps; /* one shape after the other warms up */
	s->out->last_end_ps = at_ps;
	int64_t alike = steady ? s->out->steady_count : ++s->out->other_count;
	if (alike <= SWEEP_MAX_STEPS) {
		s->step.sum = mask_sum(s->mask_ps, s->mask_ps[0]);
		*arena_push(s->work, s->out->steps, s->out->step_count, s->out->step_cap) = s->step;
	}
	s->steady[s->serial % STEP_MEMORY] = steady;
	s->serial++;
	s->in_step = s->paused = false;
}

int64_t boundary_next(const struct sweeping *s)
{
	const struct step_plan *p = s->plan;

	if (!s->marks || s->mark >= p->mark_count)
		return INT64_MAX;
	return s->in_step || s->in_other ? s->marks[s->mark].end_ps : s->marks[s->mark].start_ps;
}

/* Of other work that lies in no step; what runs before the first one warms up. */
static void other_open(struct sweeping *s, struct step_mark *m)
{
	s->step.other_wait_ps = s->other_gaps.count = 0;
	s->step.number = m->number;
	m->is_counted = false;
}

static void other_close(struct sweeping *s, struct step_mark *m)
{
	struct sweep *o = s->out;

	m->is_counted = m->is_marked && s->serial > 0 && !is_disturbed(s, m->start_ps, m->end_ps);
	if (!m->is_counted)
		return;
	o->other_ps += m->end_ps - m->start_ps;
	o->other_wait_ps += s->step.other_wait_ps;
	gaps_join(&o->other_gaps, &s->other_gaps);
}

static void mark_begin(struct sweeping *s, struct step_mark *m)
{
	if (m->kind != MARK_STEP) {
		s->in_other = true;
		if (!s->paused)
			other_open(s, m);
	} else if (s->paused) {
		clocks_restart(s);
		s->step.other_ps += m->start_ps - s->step.end_ps;
		s->in_step = true;
		s->paused = false;
	} else {
		step_open(s, m->start_ps);
	}
}

static void mark_end(struct sweeping *s, struct step_mark *m)
{
	if (m->kind != MARK_STEP) {
		clocks_restart(s);
		s->in_other = false;
		if (!s->paused)
			other_close(s, m);
	} else if (m->goes_on) {
		clocks_restart(s);
		s->step.end_ps = m->end_ps;
		s->in_step = false;
		s->paused = true;
	} else {
		step_close(s, m->end_ps, !m->is_cut);
	}
	s->mark++;
}

static bool kind_turns(const struct sweeping *s)
{
	const struct step_mark *m = &s->marks[s->mark], *next = m + 1;

	return s->mark + 1 < s->plan->mark_count && next->start_ps == m->end_ps &&
	       next->kind != m->kind && next->kind != MARK_ELSEWHERE && m->kind != MARK_ELSEWHERE;
}

void boundary_cross(struct sweeping *s, int64_t at_ps)
{
	struct step_mark *m = &s->marks[s->mark];
	bool ends = s->in_step || s->in_other;

	assert(s->plan->listed || at_ps == boundary_next(s));
	/* What is idle before work of another kind, which begins behind its mark, is this one's. */
	if (ends && is_idle(s) && !s->held.known && s->last_subject >= 0 && kind_turns(s))
		gap_tell(s, NULL, at_ps, false);
	*(ends ? &m->end_ps : &m->start_ps) = s->passed_ps = at_ps;
	(ends ? mark_end : mark_begin)(s, m);
	s->boundary_ps = s->plan->listed ? INT64_MAX : boundary_next(s);
}

static void idle_count(struct sweeping *s, int64_t idle_ps)
{
	if (s->in_step)
		s->mask_ps[0] += idle_ps;
	else if (s->in_other && s->marks[s->mark].kind == MARK_OTHER)
		s->step.other_wait_ps += idle_ps;
}

/* Time that a boundary comes too late for was idle. */
static void cross_late(struct sweeping *s, int64_t at_ps)
{
	int64_t late_ps = s->now_ps - at_ps;

	idle_count(s, -late_ps);
	boundary_cross(s, at_ps);
	idle_count(s, late_ps);
}

/* Another device's work begins or ends at the next boundary: none of this one's executions does. */
static bool meets_elsewhere(const struct sweeping *s)
{
	ptrdiff_t from = s->mark - (s->mark > 0),
		  until = s->mark + (s->mark + 1 < s->plan->mark_count);
	bool ret = false;

	for (ptrdiff_t i = from; i <= until; i++)
		ret |= s->marks[i].kind == MARK_ELSEWHERE;
	return ret;
}

/* It lies as far before the execution that begins now as in the list, within the idle time. */
static int64_t elsewhere_ps(const struct sweeping *s, int64_t boundary_ps)
{
	const struct step_plan *p = s->plan;
	ptrdiff_t begins = s->begun - 1;
	int64_t least_ps = s->idle_since_ps > s->passed_ps ? s->idle_since_ps : s->passed_ps;

	if (begins >= p->listed_count)
		return s->now_ps;
	int64_t at_ps = s->now_ps - (p->listed[begins].start_ps - boundary_ps);
	return at_ps < least_ps ? least_ps : at_ps < s->now_ps ? at_ps : s->now_ps;
}

/* Passes the next boundary, if it is at the begin of an execution, or at an end, as asked. */
static bool listed_cross(struct sweeping *s, bool at_begin)
{
	const struct step_plan *p = s->plan;
	int64_t boundary_ps = boundary_next(s);

	while (s->expected < p->listed_count && p->listed[s->expected].start_ps < boundary_ps)
		s->expected++;
	bool begins =
		s->expected < p->listed_count && p->listed[s->expected].start_ps == boundary_ps;
	if (boundary_ps == INT64_MAX || s->expected >= s->begun || begins != at_begin)
		return false;
	bool was_idle = !at_begin && is_idle(s) && !s->held.known;
	int64_t at_ps = s->now_ps;
	if (was_idle && meets_elsewhere(s))
		at_ps = elsewhere_ps(s, boundary_ps);
	else if (was_idle && s->idle_since_ps >= s->passed_ps)
		at_ps = s->idle_since_ps;
	cross_late(s, at_ps);
	return true;
}

void listed_ends(struct sweeping *s, int32_t program)
{
	const struct step_plan *p = s->plan;

	while (s->begun < p->listed_count && p->listed[s->begun].program != program)
		s->begun++;
	s->begun++; /* the window may end within one, which is not listed */
	while (listed_cross(s, false))
		;
}

bool listed_begins(struct sweeping *s)
{
	bool any = false;

	while (listed_cross(s, true))
		any = true;
	return any;
}
