/*
 * The trace that lies beside an xplane of the same host is not read, since the xplane says all that
 * it does.  It must be of the same capture, though, and its first bytes tell: a trace begins with
 * the names of its threads, whose ids are those of the xplane's lanes.
 *
 * Refuses: comparing events; a trace as a whole takes longer to read than the xplane.
 */
#include "profile/trace.h"

/* Of the file; packed names of 142 threads, the most that a real one has, have some 4 KiB. */
enum { HEAD_BYTES = 64 << 10 };
/* Three names a thread; a file of nothing else is no trace. */
enum { NAMES_MAX = 4096 };

/* An xplane may have been written without its host's threads: then none can be the same. */
static bool has_threads(const struct profile *p)
{
	for (ptrdiff_t i = 0; i < p->plane_count; i++)
		if (p->planes[i].class == PLANE_HOST && p->planes[i].lane_count)
			return true;
	return false;
}

/* Ids are cut to 32 bits in a trace. */
static bool host_has(const struct profile *p, int64_t tid)
{
	for (ptrdiff_t i = 0; i < p->plane_count; i++)
		for (ptrdiff_t k = 0; k < p->planes[i].lane_count; k++)
			if (p->planes[i].class == PLANE_HOST &&
				(uint32_t)p->planes[i].lanes[k].id == (uint32_t)tid)
				return true;
	return false;
}

enum trace_kin trace_kin_of(const struct input *in, const struct profile *p)
{
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct input head = input_memory(in->path, str_head(in->bytes, HEAD_BYTES));
	struct trace_reader *r = arena_make(&scratch, struct trace_reader, 1);
	struct trace_event *e = arena_make(&scratch, struct trace_event, 1);
	int64_t host_pid = -1;
	int shared = 0, foreign = 0;
	bool more = trace_begin(r, &head, &scratch);
	for (int n = 0; more && n < NAMES_MAX && trace_next(r, e) && e->phase == 'M'; n++) {
		if (str_eq(e->name, STR("process_name")) && e->present & STAT_BIT(NAME) &&
			str_eq(e->args[STAT_NAME], STR("/host:CPU")))
			host_pid = e->pid;
		if (!str_eq(e->name, STR("thread_name")) || e->pid != host_pid)
			continue;
		if (host_has(p, e->tid))
			shared++;
		else
			foreign++;
	}
	trace_close(r);
	arena_free(&scratch);
	if (shared)
		return TRACE_SAME;
	return foreign && has_threads(p) ? TRACE_OTHER : TRACE_UNTOLD;
}
