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

static void event_apply(struct replay *p, const struct event *e)
{
	struct buffer *buffers = p->a->buffers;
	ptrdiff_t at = find_buffer(p->a, e->buffer_id), with = at;
	if (at < 0)
		return;
	if (e->kind == EVENT_SHARE_WITH && find_buffer(p->a, e->shares_with) >= 0)
		with = find_buffer(p->a, e->shares_with);
	if (e->kind == EVENT_FREE) {
		struct buffer *memory = &buffers[buffers[at].canonical];
		if (memory->users > 0 && !--memory->users)
			p->now -= memory->size < p->now ? memory->size : p->now;
	} else {
		/* The memory of a shared buffer that was freed meanwhile is taken again. */
		buffers[with].canonical = buffers[at].canonical = with;
		if (!buffers[with].users++)
			p->now = sat_add(p->now, buffers[with].size);
	}
	if (p->now > p->peak) {
		p->peak = p->now;
		p->at_peak = p->events;
	}
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

bool replay_run(struct replay *p, struct assignment *a, struct str trace, int64_t stop,
	struct replay_points *points)
{
	struct reader *r = a->r;
	struct event e;
	*p = (struct replay){ .a = a, .w = wire_open(trace), .stop = stop };
	for (ptrdiff_t i = 0; i < a->buffer_count; i++)
		a->buffers[i].users = 0;
	while (trace.len && next_event(p, &e)) {
		event_apply(p, &e);
		if (points)
			point_add(points, p->events, sat_add(points->base, p->now));
	}
	return r->err->id == DIAG_NONE &&
	       (!p->w.why || wire_error(&p->w, r->whole, "HeapSimulatorTrace", r->err));
}

/*
 * Whether the trace's first buffer lies in a temporary allocation of the space asked for, and how
 * many of its events are of buffers there.
 */
static bool is_of_space(struct assignment *a, struct str trace, int64_t *events)
{
	struct replay p = { .a = a, .w = wire_open(trace), .stop = INT64_MAX };
	struct event e;
	bool first = true, ours = false;
	*events = 0;
	while (trace.len && next_event(&p, &e)) {
		ptrdiff_t at = find_buffer(a, e.buffer_id);
		const struct buffer *b = at < 0 ? NULL : &a->buffers[at];
		*events += b && b->color == a->space;
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

struct str replay_choose(struct assignment *a)
{
	struct str best = { NULL, 0 };
	int64_t most = 0, events;
	for (ptrdiff_t i = 0; i < a->traces.count; i++) {
		if (is_of_space(a, a->traces.items[i], &events))
			return a->traces.items[i];
		if (events > most) {
			most = events;
			best = a->traces.items[i];
		}
	}
	return best;
}
