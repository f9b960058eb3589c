/*
 * A trace as planes and lanes: events become what they were in the xplane.pb, in the same wire
 * format, so that cursors and merges read both alike.
 *
 *	JSON event -> lane's block of XEvents -> spool
 *	arguments that are the same for all of an op's events -> its XEventMetadata -> spool
 *	at the end: blocks are the lane's chunks, metadata the plane's names
 *
 * Times in a block count from its first event, so that they are small.  What a lane holds until its
 * block is full is all that is kept of events; everything else is bounded by distinct ops.
 *
 * A trace has no program ids: on TPU an op's program is the one that the enclosing event of the
 * module lane names; elsewhere the module's name stands for it.
 */
#include "profile/trace.h"

#include "base/stats.h"

/* Threads of one host: the largest real file has 142. */
#define LANES_MAX (1 << 16)
/* Executions of programs on one device: a trace of nothing else has no ops left to place. */
#define RUNS_MAX (1 << 20)
/* Device clocks step back by one event now and then. */
enum { RUNS_BACK = 8 };
/* Where the exporters stop: until the middle of 2026, and since. */
static const int64_t caps[] = { 1000000, 5000000 };

/* ---- planes and lanes ------------------------------------------------------------------------ */

struct trace_plane *trace_plane_of(struct trace *t, int64_t pid)
{
	for (ptrdiff_t i = 0; i < t->plane_count; i++)
		if (t->planes[i]->pid == pid)
			return t->planes[i];
	if (t->plane_count >= XPLANE_MAX_PLANES) {
		t->limit = "processes";
		return NULL;
	}
	struct trace_plane *p = arena_make(t->scratch, struct trace_plane, 1);
	*p = (struct trace_plane){ .pid = pid, .name = STR("") };
	*arena_push(t->scratch, t->planes, t->plane_count, t->plane_cap) = p;
	return p;
}

/* What a lane is follows from its own name and its plane's. */
static void classify(struct trace_lane *l)
{
	l->plane_class = l->plane->class;
	l->class = lane_class_of(l->name, l->plane_class, l->id);
}

static struct trace_lane *lane_new(struct trace *t, int64_t key, struct trace_plane *p, int64_t tid)
{
	if (t->lane_count >= LANES_MAX) {
		t->limit = "threads";
		return NULL;
	}
	struct trace_lane *l = arena_make(t->scratch, struct trace_lane, 1);
	*l = (struct trace_lane){ .key = key, .id = tid, .plane = p, .name = STR("") };
	classify(l);
	map_put_id(&t->lane_of, key, (int32_t)t->lane_count, t->scratch);
	*arena_push(t->scratch, t->lanes, t->lane_count, t->lane_cap) = l;
	return l;
}

/* Events stand thread by thread, so the last one is nearly always right. */
struct trace_lane *trace_lane_of(struct trace *t, int64_t pid, int64_t tid)
{
	int64_t key = trace_pair(pid, tid);
	if (t->last && t->last->key == key)
		return t->last;
	int32_t i = map_get_id(&t->lane_of, key);
	if (i >= 0)
		return t->last = t->lanes[i];
	struct trace_plane *p = trace_plane_of(t, pid);
	return t->last = p ? lane_new(t, key, p, tid) : NULL;
}

void trace_plane_name(struct trace_plane *p, struct str name)
{
	int64_t ordinal;
	p->name = name;
	p->class = plane_class_of(name, &p->platform, &ordinal);
}

void trace_lane_name(struct trace_lane *l, struct str name)
{
	l->name = name;
	classify(l);
}

/* Names come before events in every known file; what came before its name is not lost. */
static void name_event(struct trace *t, const struct trace_event *e)
{
	if (!(e->present & STAT_BIT(NAME)))
		return;
	struct str name = arena_str(t->keep, jscan_text(e->args[STAT_NAME], t->keep));
	if (str_eq(e->name, STR("process_name"))) {
		struct trace_plane *p = trace_plane_of(t, e->pid);
		if (p)
			trace_plane_name(p, name);
	} else if (str_eq(e->name, STR("thread_name"))) {
		struct trace_lane *l = trace_lane_of(t, e->pid, e->tid);
		if (l)
			trace_lane_name(l, name);
	}
}

/* ---- programs -------------------------------------------------------------------------------- */

int32_t trace_program(struct trace *t, uint64_t id, struct str name, bool by_name)
{
	int32_t i = map_get_id(&t->program_of, (int64_t)id);
	if (i >= 0)
		return i;
	i = (int32_t)t->profile->hlo_count;
	map_put_id(&t->program_of, (int64_t)id, i, t->scratch);
	struct hlo_entry *h =
		arena_push(t->keep, t->profile->hlo, t->profile->hlo_count, t->hlo_cap);
	*h = (struct hlo_entry){
		.program = id, .by_name = by_name, .name = arena_str(t->keep, name)
	};
	return i;
}

static bool stat_number(const struct trace_event *e, enum stat_id id, int64_t *ret)
{
	return e->present >> id & 1 && str_to_i64(e->args[id], ret);
}

/* On the device's own clock where the event carries it, as cursors place it. */
static void device_times(const struct trace_event *e, int64_t *start_ps, int64_t *end_ps)
{
	int64_t start, duration;
	*start_ps = e->start_ps;
	*end_ps = e->start_ps + e->duration_ps;
	if (stat_number(e, STAT_DEVICE_OFFSET_PS, &start) &&
		stat_number(e, STAT_DEVICE_DURATION_PS, &duration) &&
		!__builtin_add_overflow(start, duration, end_ps))
		*start_ps = start;
}

/* An execution of a program, on a device's module lane; kept by start: the file's order. */
static void run_event(struct trace *t, struct trace_plane *p, const struct trace_event *e)
{
	struct arena scratch = *t->scratch;
	struct str name;
	uint64_t program;
	if (p->run_count >= RUNS_MAX ||
		!module_name_of(jscan_text(e->name, &scratch), &name, &program))
		return;
	struct trace_run r = { .program = program };
	device_times(e, &r.start_ps, &r.end_ps);
	r.index = trace_program(t, program, name, false);
	struct trace_run *to = arena_push(t->scratch, p->runs, p->run_count, p->run_cap);
	for (int n = 0; n < RUNS_BACK && to > p->runs && to[-1].start_ps > r.start_ps; n++, to--)
		*to = to[-1];
	*to = r;
}

/* The execution that an op lies in, or NULL. */
static const struct trace_run *run_around(const struct trace_plane *p, const struct trace_event *e)
{
	int64_t start_ps, end_ps;
	ptrdiff_t next;
	device_times(e, &start_ps, &end_ps);
	FIND_FIRST(next, 0, p->run_count, p->runs[next].start_ps > start_ps);
	return next > 0 && start_ps < p->runs[next - 1].end_ps ? &p->runs[next - 1] : NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void take(struct trace *t, const struct trace_event *e)
{
	if (e->phase == 'M') {
		name_event(t, e);
		return;
	}
	if (e->phase != 'X')
		return;
	t->profile->event_count++;
	struct trace_lane *l = trace_lane_of(t, e->pid, e->tid);
	if (!l)
		return;
	/* Here and not when the plane is named, which a file may do as often as it has events. */
	if (l->plane_class != l->plane->class)
		classify(l);
	if (l->class == LANE_MODULES)
		run_event(t, l->plane, e);
	bool is_op = l->class == LANE_OPS && l->plane->platform == PLATFORM_TPU;
	/* A lane that is not read is dropped; one without a name may still get another class. */
	if (l->class != LANE_OTHER || !l->name.len)
		trace_write(t, l, e, is_op ? run_around(l->plane, e) : NULL);
}

static bool is_jax(const struct trace *t)
{
	for (ptrdiff_t i = 0; i < t->plane_count; i++)
		if (t->planes[i]->class != PLANE_OTHER)
			return true;
	return false;
}

static bool read_events(struct trace *t, struct input *in, struct diag *err)
{
	struct trace_event *e = arena_make(t->scratch, struct trace_event, 1);
	if (trace_begin(&t->reader, in, t->scratch))
		while (!t->limit && trace_next(&t->reader, e))
			take(t, e);
	if (t->limit)
		return diag_set(err, DIAG_LIMIT, "the trace has too many %s", t->limit);
	if (!trace_end(&t->reader, err))
		return false;
	return is_jax(t) ||
	       diag_set(err, DIAG_FILE_KIND,
		       "a trace without a process for a device or /host:CPU, so not one of JAX; "
		       "capture with jax.profiler, which writes *.xplane.pb");
}

void trace_start(
	struct trace *t, struct profile *profile, struct arena *keep, struct arena *scratch)
{
	*t = (struct trace){ .profile = profile, .keep = keep, .scratch = scratch };
	t->spool = spool_new(scratch);
}

bool trace_finish(struct trace *t, bool ok, struct input *in, struct diag *err)
{
	for (ptrdiff_t i = 0; ok && i < t->lane_count; i++)
		trace_flush(t, t->lanes[i]);
	if (ok && input_check(in, err))
		return spool_done(t->spool, in, t->keep, err) && trace_build(t, err);
	spool_drop(t->spool);
	return false;
}

bool trace_open(struct input *in, struct str host, struct arena *keep, struct profile *ret,
	struct diag *err)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct trace *t = arena_make(&scratch, struct trace, 1);
	*ret = (struct profile){
		.format = FORMAT_TRACE, .input = in, .host = host, .file_bytes = in->bytes.len
	};
	trace_start(t, ret, keep, &scratch);
	bool ok = read_events(t, in, err);
	trace_close(&t->reader);
	ok = trace_finish(t, ok, in, err);
	arena_free(&scratch);
	return ok;
}

bool trace_is_capped(const struct profile *p)
{
	for (ptrdiff_t i = 0; i < COUNT_OF(caps); i++)
		if (p->event_count == caps[i])
			return true;
	return false;
}
