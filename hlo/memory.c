/*
 * Reading a program's buffer assignment, and what it comes to.
 *
 * Allocations that live as long as the program (parameters, results, constants) are "indefinite";
 * everything else shares one temporary allocation per memory space, whose use over time the heap
 * simulator has recorded as a trace of ALLOC, FREE and SHARE_WITH.  That allocation is larger than
 * what is in use at any time: buffers that live at different times leave holes.
 *
 * The trace's own buffer_allocation_index is not used: real files name an allocation that its
 * buffers are not in.
 */
#include "hlo/memory.h"

#include "base/saturate.h"
#include "base/stats.h"
#include "hlo/assignment.h"

static const struct read_rule buffer_table_rules[] = {
	[1] = READ_FIELD(INT, struct buffer, id),
	[2] = READ_FIELD(INT, struct buffer, size),
	[3] = READ_FIELD(STR, struct buffer, defined_at),
	[4] = READ_FIELD(INT, struct buffer, color),
};
READ_TABLE(buffer_table, "LogicalBufferProto");

static bool size_fits(struct reader *r, struct str message, const char *name, int64_t size)
{
	return (size >= 0 && size <= MAX_BUFFER_BYTES) ||
	       read_refuse(r, message, name, "no memory has that size");
}

static bool read_buffer(struct reader *r, const struct wire_field *f, void *into)
{
	struct assignment *a = into;
	struct buffer *b = READ_PUSH(r->keep, a->buffers, a->buffer_count);
	b->allocation = -1;
	return read_message(r, &buffer_table, f->bytes, b) &&
	       size_fits(r, f->bytes, buffer_table.message, b->size);
}

static const struct read_rule assigned_table_rules[] = {
	[1] = { .kind = READ_INT }, /* a buffer's id */
};
READ_TABLE(assigned_table, "BufferAllocationProto.Assigned");

static const struct read_rule allocation_table_rules[] = {
	[2] = READ_FIELD(INT, struct allocation, size),
	[3] = READ_FIELD(BOOL, struct allocation, thread_local_),
	[5] = READ_FIELD(BOOL, struct allocation, parameter),
	[7] = READ_FIELD(BOOL, struct allocation, live_out),
	[8] = READ_FIELD(INT, struct allocation, color),
	[9] = READ_ELEMENTS(assigned_table, struct allocation, members.items, members.count),
	[12] = READ_FIELD(BOOL, struct allocation, constant),
};
READ_TABLE(allocation_table, "BufferAllocationProto");

static bool read_allocation(struct reader *r, const struct wire_field *f, void *into)
{
	struct assignment *a = into;
	struct allocation *x = READ_PUSH(r->keep, a->allocations, a->allocation_count);
	x->bytes = f->bytes;
	x->largest = -1;
	return read_message(r, &allocation_table, f->bytes, x) &&
	       size_fits(r, f->bytes, allocation_table.message, x->size);
}

static const struct read_rule assignment_table_rules[] = {
	[1] = { .kind = READ_CALL, .read = read_buffer },
	[3] = { .kind = READ_CALL, .read = read_allocation },
	[4] = READ_FIELD(STRS, struct assignment, traces),
};
READ_TABLE(assignment_table, "BufferAssignmentProto");

static bool is_indefinite(const struct allocation *x)
{
	return x->parameter || x->live_out || x->constant;
}

static bool is_temporary(const struct allocation *x)
{
	return !is_indefinite(x) && !x->thread_local_;
}

static bool place_buffers(struct assignment *a)
{
	for (ptrdiff_t i = 0; i < a->allocation_count; i++) {
		struct allocation *x = &a->allocations[i];
		for (ptrdiff_t k = 0; k < x->members.count; k++) {
			ptrdiff_t at = map_get_id(&a->ids, x->members.items[k]);
			if (at < 0)
				return read_refuse(a->r, x->bytes, allocation_table.message,
					"a buffer is assigned, and no buffer has that id");
			a->buffers[at].allocation = i;
			if (x->largest < 0 || a->buffers[at].size > a->buffers[x->largest].size)
				x->largest = at;
		}
	}
	return true;
}

/* An allocation counts when something of a size is in it. */
static bool counts(const struct assignment *a, const struct allocation *x)
{
	return x->color == a->space && x->largest >= 0 && a->buffers[x->largest].size > 0;
}

static void sum_allocations(const struct assignment *a, struct hlo_memory *ret)
{
	for (ptrdiff_t i = 0; i < a->allocation_count; i++) {
		const struct allocation *x = &a->allocations[i];
		if (x->color != a->space)
			continue;
		int64_t *const sums[] = {
			x->parameter ? &ret->arguments_bytes : NULL,
			x->live_out ? &ret->output_bytes : NULL,
			x->parameter && x->live_out ? &ret->alias_bytes : NULL,
			is_temporary(x) ? &ret->temp_bytes : NULL,
			is_indefinite(x) && counts(a, x) ? &ret->allocated_bytes : NULL,
		};
		for (ptrdiff_t k = 0; k < COUNT_OF(sums); k++)
			if (sums[k])
				*sums[k] = sat_add(*sums[k], x->size);
	}
}

struct location {
	struct str name;
	int64_t id;
	struct hlo_dims index;
};

static const struct read_rule location_table_rules[] = {
	[2] = READ_FIELD(STR, struct location, name),
	[3] = READ_DIMS(struct location, index),
	[4] = READ_FIELD(INT, struct location, id),
};
READ_TABLE(location_table, "LogicalBufferProto.Location");

static const struct shape *shape_at(const struct shape *s, const struct hlo_dims *index)
{
	for (ptrdiff_t i = 0; i < index->count; i++) {
		if (index->items[i] < 0 || index->items[i] >= s->element_count)
			return NULL;
		s = &s->elements[index->items[i]];
	}
	return s;
}

/* Everything alive at the peak, before it is sorted and cut. */
struct living {
	const struct hlo_module *m;
	struct assignment *a;
	struct map ids; /* of instructions */
	struct hlo_live_buffer *items;
	ptrdiff_t count;
};

static bool add_living(struct living *l, ptrdiff_t buffer, int64_t bytes, struct str kind)
{
	const struct buffer *b = &l->a->buffers[buffer];
	struct location at = { .name = b->name, .index = b->index };
	struct hlo_live_buffer *x = &l->items[l->count++];
	*x = (struct hlo_live_buffer){
		.instruction = -1, .kind = kind, .bytes = bytes, .unpadded_bytes = bytes
	};
	if (!read_message(l->a->r, &location_table, b->defined_at, &at))
		return false;
	x->instruction = at.name.len ? hlo_find_exact(l->m, at.name) : map_get_id(&l->ids, at.id);
	x->name = at.name;
	if (x->instruction < 0)
		return true;
	x->name = l->m->instructions[x->instruction].name;
	const struct shape *s = shape_at(&l->m->instructions[x->instruction].shape, &at.index);
	if (s && s->dtype != DTYPE_TUPLE) {
		x->shape = *s;
		x->unpadded_bytes = shape_logical_bytes(s);
	}
	return true;
}

static bool add_allocations(struct living *l, bool with_temp)
{
	for (ptrdiff_t i = 0; i < l->a->allocation_count; i++) {
		const struct allocation *x = &l->a->allocations[i];
		if (!counts(l->a, x) || x->size <= 0)
			continue;
		struct str kind = x->parameter	? STR("parameter")
				  : x->live_out ? STR("output")
						: STR("constant");
		/* What shares it over time is no one buffer, and its size no one's padding. */
		if (with_temp && is_temporary(x))
			l->items[l->count++] = (struct hlo_live_buffer){ .instruction = -1,
				.name = STR("(temporaries)"),
				.kind = STR("temp"),
				.bytes = x->size };
		else if (is_indefinite(x) && !add_living(l, x->largest, x->size, kind))
			return false;
	}
	return true;
}

/* Largest first; equals stay in the file's order, which the address within the array tells. */
static int larger_first(const void *a, const void *b)
{
	const struct hlo_live_buffer *const *x = a, *const *y = b;
	int order = order_integers((*y)->bytes, (*x)->bytes);
	return order ? order : order_integers(*x - *y, 0);
}

static void keep_largest(struct living *l, struct arena *keep, struct hlo_memory *ret)
{
	const struct hlo_live_buffer **order =
		arena_make(keep, const struct hlo_live_buffer *, l->count);
	for (ptrdiff_t i = 0; i < l->count; i++)
		order[i] = &l->items[i];
	sort_by(order, l->count, larger_first);
	ret->live_count = l->count < HLO_MAX_LIVE ? l->count : HLO_MAX_LIVE;
	ret->live = arena_make(keep, struct hlo_live_buffer, ret->live_count);
	for (ptrdiff_t i = 0; i < ret->live_count; i++)
		ret->live[i] = *order[i];
}

static bool list_living(const struct hlo_module *m, struct assignment *a, struct arena *keep,
	struct hlo_memory *ret)
{
	struct living l = { .m = m, .a = a };
	l.ids = map_with_room(m->instruction_count, keep);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++)
		map_put_id(&l.ids, m->instructions[i].id, (int32_t)i, keep);
	l.items =
		arena_make(keep, struct hlo_live_buffer, a->allocation_count + a->buffer_count + 1);
	if (!add_allocations(&l, !ret->from_trace))
		return false;
	for (ptrdiff_t i = 0; ret->from_trace && i < a->buffer_count; i++) {
		const struct buffer *b = &a->buffers[i];
		if (b->users > 0 && b->size > 0 && !add_living(&l, i, b->size, STR("temp")))
			return false;
	}
	/* What the trace leaves of the temporary allocation at its peak. */
	int64_t hole = ret->allocated_bytes - ret->peak_bytes;
	if (hole > 0)
		l.items[l.count++] = (struct hlo_live_buffer){ .instruction = -1,
			.name = STR("(holes)"),
			.kind = STR("hole"),
			.bytes = hole,
			.unpadded_bytes = hole };
	keep_largest(&l, keep, ret);
	return true;
}

/* ---- the trace ------------------------------------------------------------------------------- */

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

struct replay {
	struct assignment *a;
	int64_t now, peak; /* bytes */
	int64_t events, at_peak;
	bool is_ours;	    /* its first buffer lies in a temporary allocation of the space */
	int64_t our_events; /* of buffers of the space */
};

/* What is in use over the schedule: at most `most` points for `events` events, above `base`. */
struct replay_points {
	struct hlo_memory_point *items;
	ptrdiff_t most;
	int64_t events, base;
	ptrdiff_t count;
};

static void event_apply(struct replay *p, const struct event *e)
{
	struct assignment *a = p->a;
	struct buffer *buffers = a->buffers;
	ptrdiff_t at = map_get_id(&a->ids, e->buffer_id), with = at;
	p->events++;
	if (at < 0)
		return;
	p->our_events += buffers[at].color == a->space;
	if (p->events == 1 && buffers[at].allocation >= 0) {
		const struct allocation *x = &a->allocations[buffers[at].allocation];
		p->is_ours = x->color == a->space && is_temporary(x);
	}
	if (e->kind == EVENT_SHARE_WITH && map_get_id(&a->ids, e->shares_with) >= 0)
		with = map_get_id(&a->ids, e->shares_with);
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

/*
 * The trace's first `stop` events one by one, straight from the wire: they are many and needed
 * twice.  Afterwards buffers that are alive have users.  `points` may be NULL.
 */
static bool replay_run(struct replay *p, struct assignment *a, struct str trace, int64_t stop,
	struct replay_points *points)
{
	struct wire w = wire_open(trace);
	struct wire_field f;
	*p = (struct replay){ .a = a };
	for (ptrdiff_t i = 0; i < a->buffer_count; i++) {
		a->buffers[i].users = 0;
		a->buffers[i].canonical = i;
	}
	while (trace.len && p->events < stop && wire_next(&w, &f)) {
		struct event e = { 0 };
		if (f.number != 1 || f.type != WIRE_LEN)
			continue;
		if (!read_message(a->r, &event_table, f.bytes, &e))
			return false;
		event_apply(p, &e);
		if (points)
			point_add(points, p->events, sat_add(points->base, p->now));
	}
	return !w.why || wire_error(&w, a->r->whole, "HeapSimulatorTrace", a->r->err);
}

/*
 * The trace of the space asked for, run through once: the first that begins there, else the one
 * with the most events there.  Missing if there is none; false if the bytes are bad.
 */
static bool replay_choose(struct assignment *a, struct replay *ret, struct str *trace)
{
	struct replay p;
	*ret = (struct replay){ .our_events = 0 };
	*trace = MISSING;
	for (ptrdiff_t i = 0; i < a->traces.count && !ret->is_ours; i++) {
		if (!replay_run(&p, a, a->traces.items[i], INT64_MAX, NULL))
			return false;
		if (p.is_ours || p.our_events > ret->our_events) {
			*ret = p;
			*trace = a->traces.items[i];
		}
	}
	return true;
}

/* Once more up to the peak, to see what is alive there. */
static bool replay_trace(struct assignment *a, int64_t *peak, struct hlo_memory *ret)
{
	struct replay p;
	struct str t;
	if (!replay_choose(a, &p, &t))
		return false;
	ret->from_trace = t.p != NULL;
	*peak = t.p ? p.peak : *peak;
	return !t.p || replay_run(&p, a, t, p.at_peak, NULL);
}

static bool read_assignment(const struct hlo_module *m, struct assignment *a)
{
	if (!m->buffer_assignment.len)
		return m->buffers_note.text.len && assignment_of_text(a, m);
	if (!read_message(a->r, &assignment_table, m->buffer_assignment, a))
		return false;
	a->ids = map_with_room(a->buffer_count, a->r->keep);
	for (ptrdiff_t i = 0; i < a->buffer_count; i++)
		map_put_id(&a->ids, a->buffers[i].id, (int32_t)i, a->r->keep);
	return place_buffers(a);
}

bool hlo_memory(const struct hlo_module *m, int64_t space, struct arena *keep,
	struct hlo_memory *ret, struct diag *err)
{
	struct reader r = { .keep = keep, .whole = m->buffer_assignment, .err = err };
	struct assignment a = { .r = &r, .space = space };
	*ret = (struct hlo_memory){ .space = space };
	err->id = DIAG_NONE;
	if (!m->buffer_assignment.len && !m->buffers_note.text.len && m->memory_note.text.len) {
		/* A report alone knows one figure: what all allocations come to. */
		ret->total_only = true;
		bool found = report_total(&m->memory_note, space, &ret->allocated_bytes, err);
		ret->peak_bytes = ret->allocated_bytes;
		return found;
	}
	if (!read_assignment(m, &a))
		return false;
	sum_allocations(&a, ret);
	int64_t peak = ret->temp_bytes;
	if (!replay_trace(&a, &peak, ret))
		return false;
	/* Older compilers list what the trace is of among the allocations of another space. */
	ret->temp_bytes = ret->temp_bytes > peak ? ret->temp_bytes : peak;
	ret->peak_bytes = sat_add(ret->allocated_bytes, peak);
	ret->allocated_bytes = sat_add(ret->allocated_bytes, ret->temp_bytes);
	return list_living(m, &a, keep, ret);
}

ptrdiff_t hlo_memory_points(const struct hlo_module *m, struct arena *keep,
	struct hlo_memory_point *ret, ptrdiff_t most, int64_t *events)
{
	struct diag err = { .id = DIAG_NONE };
	struct reader r = { .keep = keep, .whole = m->buffer_assignment, .err = &err };
	struct assignment a = { .r = &r };
	struct hlo_memory sums = { 0 };
	struct replay p;
	struct str t;
	if (!read_assignment(m, &a) || !replay_choose(&a, &p, &t) || !t.len)
		return 0;
	sum_allocations(&a, &sums);
	*events = p.events;
	struct replay_points points = {
		.items = ret, .most = most, .events = p.events, .base = sums.allocated_bytes
	};
	return replay_run(&p, &a, t, INT64_MAX, &points) ? points.count : 0;
}
