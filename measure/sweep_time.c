/*
 * What runs when on a device, and what runs beside it.  See sweep.h.
 *
 * An event is held until the next one comes: most have ended by then, with nothing else beginning
 * or ending in between, and are settled in one go.  The others take their place among the active,
 * which come and go mostly like a stack.
 */
#include "measure/sweep_state.h"

/* Every op of the activity takes an equal share; of exposed time those in front, if any is. */
static void clock_share(struct sweeping *s, int activity, bool is_hidden, int64_t dt)
{
	struct activity_clock *c = &s->clocks[activity];

	if (mostly(s->sharing[activity] == 0))
		return;
	if (is_hidden)
		c->hidden_ps += (double)dt * (1.0 / s->sharing[activity]);
	else if (s->in_front[activity] > 0)
		c->exposed_ps += (double)dt * (1.0 / s->in_front[activity]);
	else
		c->in_flight_ps += (double)dt * (1.0 / s->sharing[activity]);
}

/* Other work waits for no step to prove steady. */
static void other_settle(struct sweeping *s, const struct running *r)
{
	const struct activity_clock *now = &s->clocks[r->known->bit];
	struct moving_total *m = sweep_moving(s->out, r->known->index);

	if (serial_now(s, r->known->subject) != SERIAL_OTHER)
		return;
	double exposed_ps = r->in_front ? now->exposed_ps - r->joined.exposed_ps
					: now->in_flight_ps - r->joined.in_flight_ps;
	sweep_op(s->out, r->known->index)->overlap_ps += now->overlap_ps - r->joined.overlap_ps;
	m->exposed_ps += (int64_t)(exposed_ps + 0.5);
	m->hidden_ps += (int64_t)(now->hidden_ps - r->joined.hidden_ps + 0.5);
}

/* What the clock says of an active op since it joined, to the open step. */
static void clock_settle(struct sweeping *s, struct running *r)
{
	int bit = r->known->bit;
	const struct activity_clock *now = &s->clocks[bit];
	bool shares = bit == ACTIVITY_COMMS || bit == ACTIVITY_TRANSFER;

	if (r->is_half || (now->overlap_ps == r->joined.overlap_ps && !shares))
		return;
	if (!s->in_step) {
		other_settle(s, r);
		return;
	}
	struct pending *p = pending_of(s, r->known->index);
	p->overlap_ps += now->overlap_ps - r->joined.overlap_ps;
	p->exposed_ps += r->in_front ? now->exposed_ps - r->joined.exposed_ps
				     : now->in_flight_ps - r->joined.in_flight_ps;
	p->hidden_ps += now->hidden_ps - r->joined.hidden_ps;
}

void clocks_restart(struct sweeping *s)
{
	for (int i = 0; i < s->active_count + s->span_count; i++) {
		int span = i - s->active_count;
		struct running *r = span < 0 ? s->active[i] : s->spans[span];
		clock_settle(s, r);
		r->joined = (struct activity_clock){ 0 };
	}
	for (int bit = 1; bit < ACTIVITY_MASKS; bit <<= 1)
		s->clocks[bit] = (struct activity_clock){ 0 };
}

/*
 * Let time pass with these activities, while `busy` ops compute or communicate.  Time in which
 * several transfers or collectives are in flight is shared among them, so that sums over them are
 * unions and no second is counted twice.
 */
static void time_passes(struct sweeping *s, int64_t until_ps, int mask, int busy)
{
	struct activity_clock *clocks = s->clocks;
	int64_t dt = until_ps - s->now_ps;

	s->now_ps = until_ps;
	if (mask)
		s->out->busy_ps += dt;
	if (mostly(s->in_step))
		s->mask_ps[mask] += dt;
	else if (!s->in_other)
		return;
	else if (!mask && s->marks[s->mark].kind == MARK_OTHER)
		s->step.other_wait_ps += dt;
	if (rarely(busy > 1)) {
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

static inline int busy_count(const struct sweeping *s)
{
	return s->by_bit[ACTIVITY_COMPUTE] + s->by_bit[ACTIVITY_COMMS];
}

static inline void account(struct sweeping *s, int64_t until_ps)
{
	if (until_ps > s->now_ps)
		time_passes(s, until_ps, s->mask, busy_count(s));
}

static inline void activity_count(struct sweeping *s, const struct running *r, int by)
{
	int bit = r->known->bit;

	s->by_bit[bit] += by;
	s->mask = s->by_bit[bit] > 0 ? s->mask | bit : s->mask & ~bit;
	if (r->is_half)
		return;
	s->sharing[bit] += by;
	s->in_front[bit] += r->in_front ? by : 0;
}

/* An op's own time, and its share of its activity's, goes on, */
static inline void active_join(struct sweeping *s, struct running *r)
{
	r->active_ps = s->now_ps;
	r->joined = s->clocks[r->known->bit];
	activity_count(s, r, 1);
}

static COLD bool watch_tell(const struct sweeping *s, const struct known *known,
	const struct lane_state *lane, int64_t start_ps, bool is_new)
{
	const struct sweep_watch *w = s->plan->watch;
	struct sweep_stretch stretch = { known->subject, known->kind, lane ? lane->index : -1,
		start_ps, s->now_ps };

	return w->take(w->to, &stretch, is_new);
}

/* and stands still. */
static inline void active_leave(struct sweeping *s, struct running *r)
{
	if (s->plan->watch && r->lane)
		r->is_taken |= watch_tell(s, r->known, r->lane, r->active_ps, !r->is_taken);
	r->self_ps += s->now_ps - r->active_ps;
	clock_settle(s, r);
	activity_count(s, r, -1);
}

/* From below the last one; the others' order stays, for below_end_ps. */
static __attribute__((noinline)) bool active_take_out(struct sweeping *s, const struct running *r)
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

static inline void active_remove(struct sweeping *s, struct running *r)
{
	int last = s->active_count - 1;

	if (last < 0)
		return;
	if (s->active[last] == r)
		s->next_end_ps = r->below_end_ps;
	else if (!active_take_out(s, r))
		return;
	s->active_count = last;
	active_leave(s, r);
}

static void active_add(struct sweeping *s, struct running *r)
{
	s->active[s->active_count++] = r;
	active_join(s, r);
	r->below_end_ps = s->next_end_ps;
	if (r->end_ps < s->next_end_ps)
		s->next_end_ps = r->end_ps;
}

/*
 * Begins to run.  Written field by field: a struct passed by value is stored in small pieces and
 * loaded in large ones, and the processor waits for that.
 */
static struct running *running_add(struct sweeping *s, bool is_half, const struct held *e)
{
	struct running *r = s->free;

	if (r)
		s->free = r->next_free;
	else
		r = arena_make(s->work, struct running, 1);
	s->running_count++;
	r->parent = NULL;
	r->known = e->known;
	r->lane = e->lane;
	r->is_taken = false;
	r->is_half = is_half;
	r->in_front = true;
	r->start_ps = e->start_ps;
	r->end_ps = e->end_ps;
	r->self_ps = 0;
	r->step = serial_now(s, e->known->subject);
	return r;
}

/* What no longer runs, and may have been the last. */
static void running_free(struct sweeping *s, struct running *r)
{
	r->next_free = s->free;
	s->free = r;
	s->running_count--;
	if (is_idle(s)) {
		s->idle_since_ps = s->now_ps;
		s->last_subject = r->known->index;
	}
}

static void running_drop(struct sweeping *s, struct running *r)
{
	active_remove(s, r);
	running_free(s, r);
}

/* The pair of a subject that is in flight, or NULL. */
static inline struct running **in_flight(struct sweeping *s, int32_t subject)
{
	return &s->in_flight[subject - s->out->op_first];
}

static void span_drop(struct sweeping *s, struct running *span)
{
	struct running *last = s->spans[--s->span_count];

	s->spans[span->place] = last;
	last->place = span->place;
	*in_flight(s, span->known->index) = NULL;
	active_leave(s, span);
	running_free(s, span);
}

/* The oldest of the spans that a done may end: they end in the order they began. */
static inline struct running *span_of(struct sweeping *s, const struct subject *done)
{
	struct running *best = NULL;

	for (int i = 0; i < done->start_count; i++) {
		struct running *r = *in_flight(s, done->starts[i]);
		if (r && (!best || r->start_ps < best->start_ps))
			best = r;
	}
	return best;
}

/* Its done begins: from now on it may be what the device waits for.  Mostly none is behind. */
static void span_to_front(struct sweeping *s, const struct subject *done)
{
	if (mostly(s->sharing[ACTIVITY_COMMS] == s->in_front[ACTIVITY_COMMS]))
		return;
	struct running *span = span_of(s, done);
	if (!span || span->in_front)
		return;
	clock_settle(s, span);
	activity_count(s, span, -1);
	span->in_front = true;
	span->joined = s->clocks[span->known->bit];
	activity_count(s, span, 1);
}

/*
 * A done may have nothing in flight.  The start of the first one may lie before the window: of an
 * instruction at most one is in flight.  Those of spans that were not followed are no loss.
 */
static void span_end(struct sweeping *s, const struct subject *done, int64_t done_self_ps)
{
	struct running *span = span_of(s, done);
	int32_t start = span ? span->known->index : done->starts[0];
	bool *done_before = &sweep_op(s->out, done->index)->done_before;

	sweep_moving(s->out, start)->done_self_ps += done_self_ps;
	if (span) {
		instance_add(s, span->known->subject, s->now_ps - span->start_ps);
		if (s->plan->watch)
			watch_tell(s, span->known, NULL, span->start_ps, true);
		span_drop(s, span);
	} else if (s->unfollowed > 0) {
		s->unfollowed--;
	} else {
		s->out->lost_starts += *done_before;
	}
	*done_before = true;
}

/* What an event that ends now, begun in `step`, leaves behind. */
static inline void event_ended(struct sweeping *s, const struct known *known, int64_t step,
	int64_t self_ps, int64_t time_ps)
{
	const struct subject *subject = known->subject;

	if (!known->groups_kernels)
		execution_add(s, known->index, step, self_ps);
	if (known->async == ASYNC_DONE && subject->start_count > 0)
		span_end(s, subject, self_ps);
	else if (known->async == ASYNC_NONE && known->bit == ACTIVITY_COMMS)
		instance_add(s, subject, time_ps);
}

/* An op's event ends now.  Its slot is free afterwards, and is not taken before we return. */
static void finish(struct sweeping *s, struct running *r)
{
	running_drop(s, r);
	if (r->lane->top == r) {
		r->lane->top = r->parent;
		if (r->parent)
			active_add(s, r->parent);
	}
	event_ended(s, r->known, r->step, r->self_ps, r->end_ps - r->start_ps);
}

/* The running op that ends first, at `limit_ps` or before; NULL if none. */
static struct running *ending_first(struct sweeping *s, int64_t limit_ps)
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

/* A nested lane: an op that does not fit into the one before it ends that one. */
static void pop_until_fits(struct sweeping *s, const struct held *e)
{
	struct lane_state *l = e->lane;

	while (l->top && l->top->end_ps < e->end_ps) {
		if (l->top->end_ps > e->start_ps)
			s->out->cut_ps = sat_add(s->out->cut_ps, l->top->end_ps - e->start_ps);
		l->top->end_ps = e->start_ps;
		finish(s, l->top);
	}
}

static void make_room(struct sweeping *s)
{
	while (rarely(s->running_count + 2 > SWEEP_MAX_RUNNING)) {
		struct running *r = ending_first(s, INT64_MAX);
		s->out->too_deep = true;
		finish(s, r ? r : s->active[0]);
	}
}

static void span_begin(struct sweeping *s, const struct held *e)
{
	struct running **span = in_flight(s, e->known->index);

	/* An instruction starts again only after its done: that was lost. */
	if (rarely(*span)) {
		s->out->lost_dones++;
		span_drop(s, *span);
	}
	if (rarely(s->span_count >= SPANS_MAX)) {
		s->unfollowed++;
		return;
	}
	struct running *r = running_add(s, false, e);
	r->lane = NULL;
	r->in_front =
		e->known->bit != ACTIVITY_COMMS; /* transfers share alike: their rates rest on it */
	r->place = s->span_count;
	s->spans[s->span_count++] = *span = r;
	active_join(s, r);
}

/* The held event takes its place among the active. */
static __attribute__((noinline)) void held_begin(struct sweeping *s)
{
	const struct held *e = &s->held;
	const struct known *known = e->known;
	struct lane_state *l = e->lane;

	make_room(s);
	if (l->nested) {
		pop_until_fits(s, e);
		if (l->top)
			active_remove(s, l->top);
	}
	struct running *r = running_add(s, known->async != ASYNC_NONE, e);
	if (l->nested) {
		r->parent = l->top;
		l->top = r;
	}
	active_add(s, r);
	if (known->async == ASYNC_START)
		span_begin(s, e);
	else if (known->async == ASYNC_DONE)
		span_to_front(s, known->subject);
}

/* The held event begins and ends, and nothing else does in between. */
static void held_pass(struct sweeping *s)
{
	const struct held *e = &s->held;
	const struct known *known = e->known;
	int64_t time_ps = e->end_ps - e->start_ps, step = serial_now(s, known->subject);

	if (known->async == ASYNC_START) {
		make_room(s);
		span_begin(s, e);
	}
	if (known->async == ASYNC_DONE)
		span_to_front(s, known->subject);
	/* The op that the held event suspends: its time stands still in between. */
	struct running *parent = e->lane->top;
	if (parent)
		active_leave(s, parent);
	int busy = busy_count(s);
	if (busy > 0 && known->async == ASYNC_NONE && s->in_step)
		pending_of(s, known->index)->overlap_ps += time_ps;
	else if (busy > 0 && known->async == ASYNC_NONE && step == SERIAL_OTHER)
		sweep_op(s->out, known->index)->overlap_ps += time_ps;
	if (mostly(time_ps > 0))
		time_passes(s, e->end_ps, s->mask | known->bit, busy + known->is_busy);
	if (s->plan->watch)
		watch_tell(s, known, e->lane, e->start_ps, true);
	if (parent)
		active_join(s, parent);
	if (is_idle(s)) {
		s->idle_since_ps = s->now_ps;
		s->last_subject = known->index;
	}
	event_ended(s, known, step, time_ps, time_ps);
}

/* The held event by itself up to `until_ps`, or among the active. */
static inline void held_settle(struct sweeping *s, int64_t until_ps)
{
	const struct held *e = &s->held;

	if (rarely(!e->known))
		return;
	const struct running *top = e->lane->top;
	if (top)
		sweep_op(s->out, e->known->index)->nested = true;
	if (mostly(e->end_ps <= until_ps && e->end_ps < s->next_end_ps &&
		    e->end_ps < s->boundary_ps && (!top || e->end_ps <= top->end_ps) &&
		    !e->known->is_shared))
		held_pass(s);
	else
		held_begin(s);
	s->held.known = NULL;
}

void time_advance(struct sweeping *s, int64_t until_ps)
{
	held_settle(s, until_ps);
	for (;;) {
		int64_t boundary = s->boundary_ps;

		if (mostly(s->next_end_ps > until_ps && boundary >= until_ps))
			break;
		struct running *r = ending_first(s, until_ps);
		if (boundary < until_ps && boundary <= (r ? r->end_ps : INT64_MAX)) {
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

void time_begin(struct sweeping *s)
{
	s->next_end_ps = INT64_MAX;
	s->boundary_ps = s->plan->listed ? INT64_MAX : boundary_next(s);
}

void time_end(struct sweeping *s)
{
	for (int i = s->active_count; i-- > 0;)
		running_drop(s, s->active[i]);
	while (s->span_count > 0)
		span_drop(s, s->spans[s->span_count - 1]);
}
