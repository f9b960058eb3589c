/*
 * Replaying the heap simulator's trace of ALLOC, FREE and SHARE_WITH.
 *
 * The trace's own buffer_allocation_index is not used: real files name an allocation that its
 * buffers are not in.
 */
#include "hlo/assignment.h"

#include "base/saturate.h"

enum event_kind { EVENT_ALLOC, EVENT_FREE, EVENT_SHARE_WITH };

struct event {
	int64_t kind, buffer_id, shares_with;
};

static const struct read_rule event_table_rules[] = {
	[1] = READ_FIELD(INT, struct event, kind),
	[2] = READ_FIELD(INT, struct event, buffer_id),
	[5] = READ_FIELD(INT, struct event, shares_with),
};
READ_TABLE(event_table, "HeapSimulatorTrace.Event");

static bool next_event(struct replay *p, struct event *e)
{
	struct wire_field f;
	*e = (struct event){ 0 };
	while (p->events < p->stop && wire_next(&p->w, &f)) {
		if (f.number != 1 || f.type != WIRE_LEN)
			continue;
		p->events++;
		return read_message(p->a->r, &event_table, f.bytes, e);
	}
	return false;
}

static void event_alloc(struct replay *p, ptrdiff_t at)
{
	struct buffer *b = &p->a->buffers[at];
	b->canonical = at;
	if (!b->users++)
		p->now = sat_add(p->now, b->size);
}

static void event_free(struct replay *p, ptrdiff_t at)
{
	struct buffer *memory = &p->a->buffers[p->a->buffers[at].canonical];
	if (memory->users > 0 && !--memory->users)
		p->now -= memory->size < p->now ? memory->size : p->now;
}

/* The memory of a buffer that was freed meanwhile is taken again. */
static void event_share(struct replay *p, ptrdiff_t at, ptrdiff_t with)
{
	event_alloc(p, with);
	p->a->buffers[at].canonical = with;
}

static void event_apply(struct replay *p, const struct event *e)
{
	ptrdiff_t at = find_buffer(p->a, e->buffer_id);
	if (at < 0)
		return;
	ptrdiff_t with = at;
	if (e->kind == EVENT_SHARE_WITH && find_buffer(p->a, e->shares_with) >= 0)
		with = find_buffer(p->a, e->shares_with);
	if (e->kind == EVENT_FREE)
		event_free(p, at);
	else if (with == at)
		event_alloc(p, at);
	else
		event_share(p, at, with);
	if (p->now > p->peak) {
		p->peak = p->now;
		p->at_peak = p->events;
	}
}

static void replay_begin(
	struct replay *p, struct assignment *a, const struct trace *t, int64_t stop)
{
	*p = (struct replay){ .a = a, .w = wire_open(t->bytes), .stop = stop };
	for (ptrdiff_t i = 0; i < a->buffer_count; i++)
		a->buffers[i].users = 0;
}

static bool replay_end(const struct replay *p)
{
	struct reader *r = p->a->r;
	if (r->err->id != DIAG_NONE)
		return false;
	return !p->w.why || wire_error(&p->w, r->whole, "HeapSimulatorTrace", r->err);
}

bool replay_run(struct replay *p, struct assignment *a, const struct trace *t, int64_t stop)
{
	struct event e;
	replay_begin(p, a, t, stop);
	while (t->bytes.len && next_event(p, &e))
		event_apply(p, &e);
	return replay_end(p);
}

/* Each point stands for as many events as the others, up to one. */
static void point_add(struct replay_points *points, int64_t event, int64_t bytes)
{
	int64_t share = (points->events + points->most - 1) / points->most;
	ptrdiff_t at = (ptrdiff_t)((event - 1) / (share > 0 ? share : 1));
	struct hlo_memory_point *point = &points->items[at];
	if (at >= points->most)
		return;
	if (at >= points->count) {
		points->count = at + 1;
		*point = (struct hlo_memory_point){ bytes, bytes };
	}
	point->most = bytes > point->most ? bytes : point->most;
	point->least = bytes < point->least ? bytes : point->least;
}

bool replay_points(struct assignment *a, const struct trace *t, struct replay_points *ret)
{
	struct replay p;
	struct event e;
	replay_begin(&p, a, t, INT64_MAX);
	ret->count = 0;
	while (t->bytes.len && next_event(&p, &e)) {
		event_apply(&p, &e);
		point_add(ret, p.events, sat_add(ret->base, p.now));
	}
	return replay_end(&p);
}

/* Whether the trace's first buffer lies in a temporary allocation of the space asked for. */
static bool is_of_space(struct assignment *a, struct trace *t)
{
	struct replay p = { .a = a, .w = wire_open(t->bytes), .stop = INT64_MAX };
	struct event e;
	bool first = true, ours = false;
	while (t->bytes.len && next_event(&p, &e)) {
		ptrdiff_t at = find_buffer(a, e.buffer_id);
		const struct buffer *b = at < 0 ? NULL : &a->buffers[at];
		t->events_here += b && b->color == a->space;
		if (first && b && b->allocation >= 0) {
			const struct allocation *x = &a->allocations[b->allocation];
			ours = x->color == a->space && is_temporary(x);
		}
		first = false;
	}
	if (p.w.why)
		wire_error(&p.w, a->r->whole, "HeapSimulatorTrace", a->r->err);
	return ours;
}

const struct trace *replay_choose(struct assignment *a)
{
	const struct trace *most = NULL;
	for (ptrdiff_t i = 0; i < a->trace_count; i++) {
		struct trace *t = &a->traces[i];
		if (is_of_space(a, t))
			return t;
		if (t->events_here > (most ? most->events_here : 0))
			most = t;
	}
	return most;
}
