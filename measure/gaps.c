/* What the host was at while devices waited. */
#include <string.h>

#include "base/map.h"
#include "base/stats.h"
#include "base/task.h"
#include "base/text.h"
#include "measure/writers.h"

/* Gaps below this share of a step are the launch overhead of a healthy program. */
#define GAP_SHARE 0.001

/* Gaps of a job that have a row, in the steps and as many outside: more say nothing new, and memory
 * must not grow with devices. */
#define GAP_ROWS ((ptrdiff_t)64 * SWEEP_MAX_GAPS)

/* Clocks of host and device agree to so much, or to a tenth of the gap. */
#define GAP_SLACK_PS INT64_C(200000000)

/* By enum host_class; the others show no cause. */
static const enum cause causes[HOST_CLASSES] = {
	[HOST_COMPILE] = CAUSE_COMPILE,
	[HOST_COMPILER] = CAUSE_COMPILE,
	[HOST_TRANSFER] = CAUSE_TRANSFER,
	[HOST_INPUT] = CAUSE_INPUT,
	[HOST_WAIT] = CAUSE_REQUEST,
	[HOST_SYNC] = CAUSE_SYNC,
	[HOST_CALLBACK] = CAUSE_SYNC,
	[HOST_CHECKPOINT] = CAUSE_CHECKPOINT,
};

/* A gap on the host's clock, and what explains it. */
struct host_gap {
	const struct device *device;
	const struct swept_gap *gap; /* NULL: a wait between two executions, wherever it lies */
	bool has_row;		     /* as far as the device's other gaps leave it one */
	int64_t start_ps, end_ps;
	int32_t program; /* what ended it; -1 unknown */
	int32_t thread;	 /* which called that; 0: any that launches work */
	struct best {
		struct str name; /* missing while there is none */
		int64_t covered_ps, start_ps, length_ps;
		enum host_class class;
		bool launches; /* of call and user: work of the steps */
	} host,		       /* the host event that explains it best */
		call,	       /* the longest that lies in it and covers most of it */
		user,	       /* the user's own frame that covers most of it, the shortest */
		wait,	       /* a callback, else the event in which the host waited longest */
		dispatch,      /* the longest call of a library that launches one step */
		copy;	       /* the longest copy of a thread that launches nothing */
	int64_t copied_ps;     /* by all of them */
	int64_t dispatch_ps, dispatched_ps; /* in all such calls, and up to when */
	bool user_is_loop;		    /* around several steps */
	bool has_frames;		    /* Python's tracer was on */
	int64_t seen_ps;		    /* by any event, on the lane whose events cover most */
	const struct lane *lane;	    /* the one that is being read, as far as it was seen: */
	struct cover {
		int64_t ps, until_ps;
	} of_lane, of_waits;	      /* all of its events, or Python's; those that may wait */
	struct time_span call_inside; /* the last that may, unless a function is called in it */
	struct best busy;      /* what explains the gap best, if that lane launches nothing, */
	struct best of_others; /* on the one that works longest, */
	int64_t others_ps;     /* and so long */
	struct cover of_launches;
	int64_t launched_ps; /* the most in launches of programs, on a lane */
	int64_t work_ps;     /* of the device: what the host could have done beside it */
	bool by_others;	     /* another thread is at work, which keeps this one waiting */
	int64_t by_cause_ps[CAUSES];
	const struct calls *calls;
	struct str feeder; /* the loader that reaches further than the gap */
	bool waited;	   /* the host waited for a result when it began */
	bool works_after;  /* and went on with something else */
	bool is_dispatch;  /* most of it lies in such calls */
};

/* An event that shows a cause, or hides those that do. */
struct reason {
	int64_t start_ps, end_ps;
	enum host_class class;
	struct str name;
};

static int64_t length_of(const struct swept_gap *g)
{
	return g->end_ps - g->start_ps;
}

static bool is_gap(const struct run *run, int64_t length_ps)
{
	return (double)length_ps * PS >= GAP_SHARE * run->step_time_s;
}

static int gap_cmp(const void *a, const void *b)
{
	const struct host_gap *x = a, *y = b;
	int order = order_integers(x->device - y->device, 0);

	return order ? order : order_integers(x->start_ps, y->start_ps);
}

static int32_t program_of(const struct run *run, int32_t subject)
{
	return subject < 0 ? -1 : registry_subject_at(run->registry, subject)->program->index;
}

/* A device's mean time in a step, without waits between executions. */
static int64_t step_work_ps(const struct sweep *s)
{
	int64_t steps = s->steady_count > 0 ? s->steady_count : 1;

	return (s->steady_ps - s->idle_ps + s->inside_ps) / steps;
}

static bool is_of_step(const struct run *run, int32_t program)
{
	return program >= 0 && registry_program_at(run->registry, program)->role == ROLE_STEP;
}

/* The device's work before a gap: its part of the step, or an execution of other work. */
static int64_t work_before_ps(const struct run *run, const struct device *d, int32_t program)
{
	if (program < 0 || is_of_step(run, program))
		return step_work_ps(&d->sweep);
	if (program >= d->sweep.program_cap || d->sweep.programs[program].executions == 0)
		return 0;
	return d->sweep.programs[program].time_ps / d->sweep.programs[program].executions;
}

static void kept_collect(const struct run *run, const struct device *d, const struct gap_heap *h,
	struct host_gap *gaps, ptrdiff_t *count)
{
	int64_t shift_ps = d->plane->host_shift_ps;

	for (ptrdiff_t i = 0; i < h->count; i++) {
		const struct swept_gap *g = &h->items[i];
		if (is_gap(run, length_of(g)))
			gaps[(*count)++] = (struct host_gap){ .device = d,
				.gap = g,
				.has_row = true,
				.program = program_of(run, g->after),
				.work_ps = work_before_ps(run, d, program_of(run, g->before)),
				.start_ps = g->start_ps + shift_ps,
				.end_ps = g->end_ps + shift_ps };
	}
}

/* Which gaps have a row: all that are longer than this, and some of those that are as long. */
struct gap_limit {
	int64_t longer_than_ps;
	ptrdiff_t as_long;
};

static struct gap_limit limit_of(int64_t *lengths, ptrdiff_t count, ptrdiff_t most)
{
	ptrdiff_t longer = 0;

	if (count <= most)
		return (struct gap_limit){ -1, 0 };
	sort_integers(lengths, count);
	int64_t last = lengths[count - most];
	while (lengths[count - 1 - longer] > last)
		longer++;
	return (struct gap_limit){ last, most - longer };
}

static bool limit_leaves(struct gap_limit *l, int64_t length_ps)
{
	return length_ps > l->longer_than_ps ||
	       (length_ps == l->longer_than_ps && l->as_long-- > 0);
}

static bool is_other(const struct host_gap *g)
{
	return !g->gap || g->gap->is_other;
}

/* Of what lies outside the steps a device's longest have rows, whether a sweep kept them or not. */
static void others_limit(
	struct host_gap *gaps, ptrdiff_t count, const struct device *d, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < count; i++)
		if (gaps[i].has_row && gaps[i].device == d && is_other(&gaps[i]))
			lengths[n++] = gaps[i].end_ps - gaps[i].start_ps;
	struct gap_limit limit = limit_of(lengths, n, SWEEP_MAX_GAPS);
	for (ptrdiff_t i = 0; i < count; i++)
		if (gaps[i].has_row && gaps[i].device == d && is_other(&gaps[i]))
			gaps[i].has_row = limit_leaves(&limit, gaps[i].end_ps - gaps[i].start_ps);
}

static int64_t overlap_ps(const struct host_gap *g, int64_t start_ps, int64_t end_ps)
{
	return (end_ps < g->end_ps ? end_ps : g->end_ps) -
	       (start_ps > g->start_ps ? start_ps : g->start_ps);
}

/* Whether most of a wait lies in gaps that the sweep kept, by device, then by start. */
static bool is_kept(const struct host_gap *w, const struct host_gap *gaps, ptrdiff_t count)
{
	int64_t kept_ps = 0;
	ptrdiff_t at;

	FIND_FIRST(at, 0, count,
		gaps[at].device > w->device ||
			(gaps[at].device == w->device && gaps[at].end_ps > w->start_ps));
	for (; at < count && gaps[at].device == w->device && gaps[at].start_ps < w->end_ps; at++)
		kept_ps += overlap_ps(w, gaps[at].start_ps, gaps[at].end_ps);
	return 2 * kept_ps > w->end_ps - w->start_ps;
}

/* The gaps of one host's devices, by device, then by start; behind them the waits between the
 * executions of the device that ends last. */
static struct host_gap *gaps_collect(
	const struct run *run, int32_t host, struct arena *keep, ptrdiff_t *count)
{
	struct host_gap *gaps;
	ptrdiff_t most = run->lasting.run_count + 1;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		most += run->devices[i].sweep.gaps.count + run->devices[i].sweep.other_gaps.count;
	/* There may be one between any two executions: only what is written to is memory. */
	gaps = (struct host_gap *)(void *)arena_room(keep, most * (ptrdiff_t)sizeof(*gaps));
	*count = 0;
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].host == host) {
			kept_collect(
				run, &run->devices[i], &run->devices[i].sweep.gaps, gaps, count);
			kept_collect(run, &run->devices[i], &run->devices[i].sweep.other_gaps, gaps,
				count);
		}
	sort_by(gaps, *count, gap_cmp);
	const struct device *d = run->lasting.device;
	if (d && d->host == host && !d->sweep.runs_cut) {
		int64_t at_ps = d->sweep.first_ps, shift_ps = d->plane->host_shift_ps;
		ptrdiff_t kept = *count;
		for (ptrdiff_t i = 0; i <= run->lasting.run_count; i++) {
			const struct program_run *r = &run->lasting.runs[i];
			bool more = i < run->lasting.run_count;
			int64_t until_ps = more ? r->start_ps : d->sweep.last_ps;
			struct host_gap *w = &gaps[*count];
			if (until_ps > at_ps) {
				*w = (struct host_gap){ .device = d,
					.program = more ? r->program : -1,
					.work_ps =
						work_before_ps(run, d, i > 0 ? r[-1].program : -1),
					.start_ps = at_ps + shift_ps,
					.end_ps = until_ps + shift_ps };
				/* What a server waits for before a step is the step's. */
				w->has_row = run->schedule.is_server && more && i > 0 &&
					     !is_of_step(run, r->program) &&
					     is_gap(run, until_ps - at_ps) &&
					     !is_kept(w, gaps, kept);
				++*count;
			}
			at_ps = more && r->end_ps > at_ps ? r->end_ps : at_ps;
		}
		others_limit(gaps, *count, d, *keep);
	}
	return gaps;
}

static void lane_begin(struct host_gap *g, const struct lane *l)
{
	if (g->lane == l)
		return;
	g->lane = l;
	g->of_lane = g->of_waits = g->of_launches = (struct cover){ 0, INT64_MIN };
	g->call_inside = (struct time_span){ 0, 0 };
	g->busy = (struct best){ 0 };
}

/* A lane's events are in order. */
static void cover_add(struct cover *c, const struct host_gap *g, int64_t start_ps, int64_t end_ps)
{
	int64_t from_ps = start_ps > c->until_ps ? start_ps : c->until_ps;
	int64_t new_ps = overlap_ps(g, from_ps, end_ps);

	if (new_ps > 0) {
		c->ps += new_ps;
		c->until_ps = end_ps < g->end_ps ? end_ps : g->end_ps;
	}
}

/*
 * Of the events that cover most of a gap the shortest says what the host was at: the longer ones
 * are the functions around it.  While none does, the one that covers more.
 */
static bool explains_better(const struct best *b, const struct best *than, int64_t half_ps)
{
	bool covers = b->covered_ps > half_ps, covered = than->covered_ps > half_ps;

	if (!than->name.p || covers != covered)
		return !than->name.p || covers;
	return covers ? b->length_ps < than->length_ps : b->covered_ps > than->covered_ps;
}

/* How far beyond a gap an event may reach that lies in it. */
static int64_t slack_ps(const struct host_gap *g)
{
	int64_t tenth = (g->end_ps - g->start_ps) / 10;

	return tenth < GAP_SLACK_PS ? tenth : GAP_SLACK_PS;
}

/* Python's tracer names what is written in C without its line: "$builtins next". */
static bool names_a_line(struct str name)
{
	return !str_starts(name, STR("$")) || str_contains(name, STR(".py:"));
}

/*
 * Where a job waits in its own code: the outermost call of the thread that launches work which the
 * gap holds whole.  What reaches beyond the gap is the loop, and what lies deeper the libraries.
 */
static bool is_call(const struct host_gap *g, const struct event *e)
{
	int64_t slack = slack_ps(g);

	return e->start_ps >= g->start_ps - slack && e->end_ps <= g->end_ps + slack &&
	       e->host != HOST_SCOPE && names_a_line(e->name);
}

/* A frame of Python: "$dispatch.py:87 apply_primitive". */
static bool is_frame(struct str name, struct str *file)
{
	if (!str_take(&name, STR("$")))
		return false;
	ptrdiff_t end = str_find(name, STR(".py:"));
	*file = str_head(name, end + 3);
	return end >= 0;
}

/* A frame of one of these files: the user's are those that the ops were written in. */
static bool lies_in(struct str name, const struct map *files)
{
	struct str file;

	return files->count > 0 && is_frame(name, &file) && map_get(files, file) != MAP_NONE;
}

/* A host's calls, as far as they tell which thread keeps a device waiting. */
struct calls {
	const struct host_span **items; /* by begin */
	bool *of_main; /* each: of the program that takes most of a step, or other work's */
	ptrdiff_t count;
	bool of_threads; /* of several */
	bool tell_main;	 /* some are of that */
};

/* How many of them an event holds, up to 2. */
static ptrdiff_t calls_held(const struct calls *c, const struct lane *l, const struct event *e)
{
	ptrdiff_t at, n = 0;

	FIND_FIRST(at, 0, c->count, c->items[at]->start_ps >= e->start_ps);
	for (; n < 2 && at < c->count && c->items[at]->start_ps < e->end_ps; at++)
		n += c->items[at]->thread == l->thread;
	return n;
}

/* How often it launches the program that takes most of a step, up to `most`. */
static int steps_held(
	const struct calls *c, const struct lane *l, int64_t start_ps, int64_t end_ps, int most)
{
	ptrdiff_t at;
	int ret = 0;

	FIND_FIRST(at, 0, c->count, c->items[at]->start_ps >= start_ps);
	for (; ret < most && at < c->count && c->items[at]->start_ps < end_ps; at++)
		ret += c->of_main[at] && c->items[at]->thread == l->thread;
	return ret;
}

/* An annotation around a step, whatever its name: a step's mark explains nothing.  A function that
 * runs one does. */
static bool is_mark(const struct calls *c, const struct lane *l, const struct event *e)
{
	return e->host == HOST_OTHER && !str_starts(e->name, STR("$")) &&
	       steps_held(c, l, e->start_ps, e->end_ps, 1) > 0;
}

/*
 * A user's file may be named after checkpoints without writing one: then its functions decide.  In
 * inference a queue holds requests, and a wait for one, or for whatever comes from elsewhere, is
 * not the host's fault.
 */
static enum host_class class_of(const struct event *e, const struct map *files, bool infers)
{
	ptrdiff_t function = str_find(e->name, STR(".py:"));

	if (e->host == HOST_QUEUE)
		return infers ? HOST_WAIT : HOST_INPUT;
	if (e->host == HOST_WAIT && !infers)
		return HOST_OTHER;
	if (e->host == HOST_CHECKPOINT && lies_in(e->name, files) &&
		!str_contains(str_from_offset(e->name, function), STR("checkpoint")))
		return HOST_OTHER;
	return e->host;
}

/* A callback fetches its arguments first, and waits for them. */
static bool waits_longer(const struct best *b, const struct best *than)
{
	bool calls_back = b->class == HOST_CALLBACK, called = than->class == HOST_CALLBACK;

	return calls_back != called ? calls_back : b->covered_ps > than->covered_ps;
}

/* Gaps of a host that begin in one stretch of time, device by device. */
struct host_gaps {
	const struct profile *host;
	const struct map *files;     /* of the user's */
	const struct map *libraries; /* files of libraries that the steps were traced through */
	bool any_thread;	     /* the host's events do not tell which thread launches work */
	bool infers;
	struct host_gap **items;
	ptrdiff_t count;
	ptrdiff_t *ends, devices; /* where each device's end */
	struct time_span *spans;  /* all of them as one: what need be read of the host */
	ptrdiff_t span_count;
	struct diag err;
	bool failed;
};

/*
 * A library may take apart what a step is given, and put it together again, in each call: its
 * frames around the launch.  They are in order, the outer ones first.
 */
static void gap_dispatch(struct host_gap *g, const struct host_gaps *of, const struct lane *l,
	const struct best *b, const struct event *e)
{
	int64_t from_ps = e->start_ps > g->dispatched_ps ? e->start_ps : g->dispatched_ps;

	/* A frame that launches more than one step is the loop. */
	if (e->end_ps <= from_ps || !lies_in(e->name, of->libraries) ||
		calls_held(g->calls, l, e) != 1)
		return;
	if (b->length_ps > g->dispatch.length_ps)
		g->dispatch = *b;
	int64_t new_ps = overlap_ps(g, from_ps, e->end_ps);
	g->dispatch_ps += new_ps > 0 ? new_ps : 0;
	g->dispatched_ps = e->end_ps;
}

static void gap_consider(
	struct host_gap *g, const struct host_gaps *of, const struct lane *l, const struct event *e)
{
	int64_t half_ps = (g->end_ps - g->start_ps) / 2;
	struct best b = { e->name, overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
		e->end_ps - e->start_ps, e->host, false };

	if (b.covered_ps <= 0 || is_mark(g->calls, l, e))
		return;
	lane_begin(g, l);
	cover_add(&g->of_lane, g, e->start_ps, e->end_ps);
	g->seen_ps = g->of_lane.ps > g->seen_ps ? g->of_lane.ps : g->seen_ps;
	g->has_frames |= str_starts(e->name, STR("$"));
	if (e->host == HOST_LAUNCH)
		cover_add(&g->of_launches, g, e->start_ps, e->end_ps);
	if (g->of_launches.ps > g->launched_ps)
		g->launched_ps = g->of_launches.ps;
	if (explains_better(&b, &g->host, half_ps))
		g->host = b;
	if (b.length_ps > half_ps && b.length_ps > g->call.length_ps && is_call(g, e)) {
		g->call = b;
		g->call.launches = calls_held(g->calls, l, e) > 0;
	}
	if (causes[e->host] == CAUSE_SYNC && waits_longer(&b, &g->wait))
		g->wait = b;
	if (b.covered_ps > half_ps && (!g->user.name.p || b.length_ps < g->user.length_ps) &&
		lies_in(e->name, of->files)) {
		g->user = b;
		g->user.launches = calls_held(g->calls, l, e) > 0;
		g->user_is_loop = steps_held(g->calls, l, e->start_ps, e->end_ps, 2) > 1;
	}
	gap_dispatch(g, of, l, &b, e);
}

/* What Python calls for longer and no tracer looks into may be a wait. */
#define CALL_MAY_WAIT_PS INT64_C(1000000000)

static void call_settle(struct host_gap *g)
{
	if (g->call_inside.end_ps > 0)
		cover_add(&g->of_waits, g, g->call_inside.start_ps, g->call_inside.end_ps);
	g->call_inside.end_ps = 0;
}

/*
 * While the thread that launches work waits, for another or for Python's interpreter, another may
 * be at work.  Python's functions are, but for what they wait for.
 */
static void gap_others(struct host_gap *g, const struct lane *l, const struct event *e, bool waits)
{
	struct best b = { e->name, overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
		e->end_ps - e->start_ps, e->host, false };

	if (b.covered_ps <= 0 || !str_starts(e->name, STR("$")))
		return;
	lane_begin(g, l);
	cover_add(&g->of_lane, g, e->start_ps, e->end_ps);
	if (e->start_ps >= g->call_inside.end_ps)
		call_settle(g);
	else if (names_a_line(e->name))
		g->call_inside.end_ps = 0;
	if (waits)
		cover_add(&g->of_waits, g, e->start_ps, e->end_ps);
	else if (!names_a_line(e->name) && b.length_ps >= CALL_MAY_WAIT_PS)
		g->call_inside = (struct time_span){ e->start_ps, e->end_ps };
	else if (explains_better(&b, &g->busy, (g->end_ps - g->start_ps) / 2))
		g->busy = b;
}

/* Of the lane that has been read. */
static void others_add(const struct host_gaps *of, const struct lane *l)
{
	for (ptrdiff_t i = 0; i < of->count; i++) {
		struct host_gap *g = of->items[i];
		if (g->lane != l || !g->busy.name.p)
			continue;
		call_settle(g);
		int64_t busy_ps = g->of_lane.ps - g->of_waits.ps;
		if (busy_ps <= g->others_ps)
			continue;
		g->others_ps = busy_ps;
		g->of_others = g->busy;
	}
}

static bool ends_with(const struct host_gap *g, int64_t end_ps)
{
	return end_ps <= g->end_ps + (g->end_ps - g->start_ps) / 10;
}

/*
 * A runtime copies in a thread of its own, and what waits for it may show no event meanwhile.  The
 * array can be ready before the event ends; but for what lasts from before the gap to behind it
 * the device did not wait.
 */
static void gap_copied(struct host_gap *g, const struct event *e)
{
	struct best b = { e->name, overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
		e->end_ps - e->start_ps, e->host, false };

	if (b.covered_ps <= 0 || (e->start_ps < g->start_ps && !ends_with(g, e->end_ps)))
		return;
	g->copied_ps += b.covered_ps;
	if (b.covered_ps > g->copy.covered_ps)
		g->copy = b;
}

/* Gaps of one device are disjoint and in order: the first that ends behind this moment. */
static ptrdiff_t gap_behind(struct host_gap *const *gaps, ptrdiff_t count, int64_t at_ps)
{
	ptrdiff_t at;

	FIND_FIRST(at, 0, count, gaps[at]->end_ps > at_ps);
	return at;
}

/* The same, where the answer is mostly the one before: `hint`, an index. */
static inline ptrdiff_t gap_behind_near(
	struct host_gap *const *gaps, ptrdiff_t count, int64_t at_ps, ptrdiff_t *hint)
{
	ptrdiff_t k = *hint;

	if ((k > 0 && gaps[k - 1]->end_ps > at_ps) || (k < count && gaps[k]->end_ps <= at_ps))
		*hint = gap_behind(gaps, count, at_ps);
	return *hint;
}

/* A loader may hand its batch to the device before it returns, or prepare it there; what reaches
 * further is a loop around the work. */
static void reason_add(struct host_gap *g, const struct reason *r, const struct lane *l)
{
	if (!ends_with(g, r->end_ps)) {
		if (r->class != HOST_INPUT || !g->calls->tell_main ||
			steps_held(g->calls, l, r->start_ps, r->end_ps, 1) > 0)
			return;
		g->feeder = names_a_line(r->name) ? r->name : g->feeder;
	}
	g->by_cause_ps[causes[r->class]] += overlap_ps(g, r->start_ps, r->end_ps);
	g->waited |= causes[r->class] == CAUSE_SYNC && r->start_ps <= g->start_ps;
}

static int reason_cmp(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;
	int order = order_integers(x->start_ps, y->start_ps);

	return order ? order : order_integers(y->end_ps, x->end_ps);
}

static int span_cmp(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;

	return order_integers(x->start_ps, y->start_ps);
}

static void spans_join(struct host_gaps *g, struct arena *keep)
{
	g->spans = arena_make(keep, struct time_span, g->count);
	for (ptrdiff_t i = 0; i < g->count; i++)
		g->spans[i] = (struct time_span){ g->items[i]->start_ps, g->items[i]->end_ps };
	sort_by(g->spans, g->count, span_cmp);
	for (ptrdiff_t i = 0; i < g->count; i++) {
		struct time_span s = g->spans[i], *behind = &g->spans[g->span_count];
		if (g->span_count == 0 || s.start_ps > behind[-1].end_ps)
			g->spans[g->span_count++] = s;
		else if (s.end_ps > behind[-1].end_ps)
			behind[-1].end_ps = s.end_ps;
	}
}

/* Whether the thread may have launched the work that ends the gap. */
static bool is_of(const struct host_gap *g, const struct lane *l)
{
	return !g->thread || g->thread == l->thread;
}

/* The outermost events of a thread, each to the gaps that it meets. */
static void reasons_lay(
	const struct host_gaps *g, const struct lane *l, struct reason *reasons, ptrdiff_t count)
{
	int64_t until_ps = INT64_MIN;

	sort_by(reasons, count, reason_cmp);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct reason *r = &reasons[i];
		if (r->start_ps < until_ps)
			continue;
		until_ps = r->end_ps;
		for (ptrdiff_t d = 0, first = 0; d < g->devices; first = g->ends[d++]) {
			struct host_gap **gaps = &g->items[first];
			ptrdiff_t n = g->ends[d] - first;
			for (ptrdiff_t k = gap_behind(gaps, n, r->start_ps);
				k < n && gaps[k]->start_ps < r->end_ps; k++)
				if (is_of(gaps[k], l))
					reason_add(gaps[k], r, l);
		}
	}
}

/* What is called within is no cause. */
static bool hides_waits(enum host_class class)
{
	return class == HOST_SCOPE || class == HOST_PUT;
}

/* Of a thread that `launches` no work only copies tell what the job waits for, and Python's
 * functions. */
static bool lane_explain(const struct plane *p, const struct lane *l, bool launches,
	const struct host_gaps *g, struct arena scratch, struct diag *err)
{
	struct lane near = lane_within(l, g->spans, g->span_count, &scratch);
	struct cursor *c = cursor_new(p, &near, 0, &scratch);
	struct event *e = arena_make(&scratch, struct event, 1);
	struct reason *reasons = NULL;
	ptrdiff_t count = 0, cap = 0, *hints = arena_make(&scratch, ptrdiff_t, g->devices);
	bool of_python = l->classes >> HOST_FRAME & 1;

	if (!launches && !of_python)
		cursor_only(c, 1 << HOST_TRANSFER);
	while (cursor_next(c, e)) {
		if (e->host == HOST_STEP || e->host == HOST_THREAD) /* explain nothing */
			continue;
		bool waits = e->host == HOST_WAIT || e->host == HOST_QUEUE;
		e->host = class_of(e, g->files, g->infers);
		/* reasons_lay takes the outermost: inner ones need no room, and may be millions. */
		bool is_inner = count > 0 && e->start_ps >= reasons[count - 1].start_ps &&
				e->end_ps <= reasons[count - 1].end_ps;
		if (launches && (causes[e->host] || hides_waits(e->host)) && !is_inner &&
			count < HOST_SPANS_MAX)
			*arena_push(&scratch, reasons, count, cap) =
				(struct reason){ e->start_ps, e->end_ps, e->host, e->name };
		for (ptrdiff_t d = 0, first = 0; d < g->devices && e->name.len > 0;
			first = g->ends[d++])
			for (ptrdiff_t k =
					first + gap_behind_near(&g->items[first],
							g->ends[d] - first, e->start_ps, &hints[d]);
				k < g->ends[d] && g->items[k]->start_ps < e->end_ps; k++)
				if (launches && is_of(g->items[k], l))
					gap_consider(g->items[k], g, l, e);
				else if (e->host == HOST_TRANSFER)
					gap_copied(g->items[k], e);
				else if (of_python)
					gap_others(g->items[k], l, e, waits);
	}
	reasons_lay(g, l, reasons, count);
	others_add(g, l);
	return cursor_end(c, err);
}

static bool part_explain(struct host_gaps *g, struct arena scratch)
{
	struct host_gap *const *gaps = g->items;

	g->ends = arena_make(&scratch, ptrdiff_t, g->count);
	for (ptrdiff_t i = 0; i < g->count; i++) {
		g->devices += i == 0 || gaps[i]->device != gaps[i - 1]->device ||
			      !gaps[i]->gap != !gaps[i - 1]->gap;
		g->ends[g->devices - 1] = i + 1;
	}
	spans_join(g, &scratch);
	for (ptrdiff_t i = 0; g->devices > 0 && i < g->host->plane_count; i++) {
		const struct plane *p = &g->host->planes[i];
		for (ptrdiff_t k = 0; p->class == PLANE_HOST && k < p->lane_count; k++) {
			const struct lane *l = &p->lanes[k];
			bool launches = g->any_thread || l->classes >> HOST_LAUNCH & 1;
			if ((launches || (l->classes >> HOST_FRAME & 1) ||
				    l->classes >> HOST_TRANSFER & 1) &&
				!lane_explain(p, l, launches, g, scratch, &g->err))
				return false;
		}
	}
	return true;
}

static void part_task(void *arg, ptrdiff_t i)
{
	struct host_gaps *g = (struct host_gaps *)arg + i;
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);

	g->failed = !part_explain(g, work);
	arena_free(&work);
}

/* A host's lanes of fewer bytes are read in less time than a thread takes to start. */
#define PART_BYTES (4 << 20)

static int parts_of(const struct run *run, int32_t h, ptrdiff_t gaps)
{
	const struct profile *host = &run->hosts[h];
	int64_t bytes = 0, most = run->options->threads < gaps ? run->options->threads : gaps;

	for (ptrdiff_t i = 0; i < host->plane_count; i++)
		for (ptrdiff_t k = 0; k < host->planes[i].lane_count; k++)
			if (host->planes[i].class == PLANE_HOST)
				bytes += host->planes[i].lanes[k].bytes;
	return (int)(bytes / PART_BYTES + 1 < most ? bytes / PART_BYTES + 1 : most);
}

/* Calls before a gap's end that are looked at for the one that ended it. */
#define CALLS_LOOKED 256

/* Of the functions called: the steps', the program's that takes most of a step, other work's. */
enum called { OF_NO_PROGRAM, OF_STEP, OF_MAIN, OF_OTHER };

static enum called *functions_called(const struct run *run, struct arena *keep)
{
	const struct list *launched = &run->facts.launched;
	enum called *ret = arena_make(keep, enum called, launched->count);
	struct map cores = { 0 };

	/* Who comes first keeps a name that several programs have. */
	for (enum called of = OF_STEP; of <= OF_OTHER; of++)
		for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
			const struct program *p = registry_program_at(run->registry, i);
			if (of == (p == run->main		 ? OF_MAIN
					  : p->role == ROLE_STEP ? OF_STEP
								 : OF_OTHER))
				map_put(&cores, function_core(p->module, keep), (int32_t)of, keep);
		}
	for (ptrdiff_t i = 0; i < launched->count; i++) {
		int32_t of = map_get(&cores, function_core(launched->items[i], keep));
		ret[i] = of == MAP_NONE ? OF_NO_PROGRAM : (enum called)of;
	}
	return ret;
}

/* The threads that mark the judged steps. */
static struct map marking_threads(const struct run *run, struct arena *keep)
{
	const struct schedule *s = &run->schedule;
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; s->is_marked && i < run->facts.steps.count; i++)
		if (str_eq(run->facts.steps.items[i].name, s->sorts[s->judged].name))
			map_put_id(&ret, run->facts.steps.items[i].thread, 0, keep);
	return ret;
}

/* Calls of the steps' functions, or of other work's; where threads that mark the steps make any,
 * theirs alone. */
static struct calls calls_of(const struct run *run, int32_t h, const enum called *called,
	bool of_other, struct arena *keep)
{
	const struct host_facts *f = &run->facts;
	const struct map marking = marking_threads(run, keep);
	struct calls ret = { .items = arena_make(keep, const struct host_span *, f->launches.count),
		.of_main = arena_make(keep, bool, f->launches.count) };
	bool by_marking = false;

	for (ptrdiff_t i = 0; i < f->launches.count; i++) {
		const struct host_span *call = &f->launches.items[i];
		enum called of = called[map_get(&f->launch_names, call->name)];
		if (call->host != h || !of || (of == OF_OTHER) != of_other)
			continue;
		bool marks = map_get_id(&marking, call->thread) != MAP_NONE;
		if (marks && !by_marking)
			ret.count = 0;
		by_marking |= marks;
		if (marks != by_marking)
			continue;
		ret.of_main[ret.count] = of == OF_MAIN || of == OF_OTHER;
		ret.items[ret.count++] = call;
	}
	for (ptrdiff_t i = 0; i < ret.count; i++) {
		ret.of_threads |= ret.items[i]->thread != ret.items[0]->thread;
		ret.tell_main |= ret.of_main[i];
	}
	return ret;
}

/*
 * Several threads may launch work, as a loader does that prepares its batches on the device, and
 * one keeps a device waiting: that which calls these functions.  Where several do, that of the
 * last call before the gap's end of the function that the program is named after.
 */
static int32_t thread_of(const struct run *run, const struct host_gap *g, struct arena scratch)
{
	const struct calls *calls = g->calls;
	int64_t end_ps = g->end_ps + slack_ps(g);
	struct str module, seen = MISSING;
	ptrdiff_t at;

	if (!calls->of_threads)
		return calls->count > 0 ? calls->items[0]->thread : 0;
	if (g->program < 0)
		return 0;
	module = function_core(registry_program_at(run->registry, g->program)->module, &scratch);
	FIND_FIRST(at, 0, calls->count, calls->items[at]->start_ps > end_ps);
	for (ptrdiff_t until = at - CALLS_LOOKED; at-- > 0 && at >= until;) {
		struct arena work = scratch;
		if (calls->items[at]->name.p == seen.p) /* each name stands once */
			continue;
		seen = calls->items[at]->name;
		if (str_eq(function_core(seen, &work), module))
			return calls->items[at]->thread;
	}
	return 0;
}

/* Whether no call was recorded that tells which of the host's threads launch work. */
static bool has_no_launches(const struct run *run, int32_t h)
{
	const struct host_spans *s = &run->facts.launches;
	ptrdiff_t at;

	FIND_FIRST(at, 0, s->count, s->items[at].host >= h);
	return at == s->count || s->items[at].host != h;
}

/*
 * A gap is explained by what is near it, so stretches of time with as many gaps each can be looked
 * at side by side.
 */
static bool gaps_explain(const struct run *run, const struct host_gaps *of, int32_t h,
	struct host_gap *gaps, ptrdiff_t count, struct arena *keep, struct diag *err)
{
	int n = parts_of(run, h, count);
	struct host_gaps *parts = arena_make(keep, struct host_gaps, n);
	int64_t *begins = arena_make(keep, int64_t, count);

	for (ptrdiff_t i = 0; i < count; i++)
		begins[i] = gaps[i].start_ps;
	const enum called *called = functions_called(run, keep);
	struct calls *calls =
		arena_make(keep, struct calls, 2); /* of the steps, and other work's */
	for (int k = 0; k < 2; k++)
		calls[k] = calls_of(run, h, called, k == 1, keep);
	for (ptrdiff_t i = 0; i < count; i++) {
		gaps[i].calls = &calls[gaps[i].gap && gaps[i].gap->is_other];
		gaps[i].thread = thread_of(run, &gaps[i], *keep);
	}
	if (n > 1)
		sort_integers(begins, count);
	for (int k = 0; k < n; k++)
		parts[k] = (struct host_gaps){ .host = &run->hosts[h],
			.files = of->files,
			.libraries = of->libraries,
			.any_thread = has_no_launches(run, h),
			.infers = of->infers,
			.items = arena_make(keep, struct host_gap *, count) };
	for (ptrdiff_t i = 0; i < count; i++) {
		struct host_gaps *p = parts;
		for (int k = 1; k < n && gaps[i].start_ps >= begins[count * k / n]; k++)
			p = &parts[k];
		p->items[p->count++] = &gaps[i];
	}
	task_threads(part_task, parts, n, n);
	for (int k = n; k-- > 0;)
		if (parts[k].failed) {
			*err = parts[k].err;
			return false;
		}
	return true;
}

static bool lies_around(const struct best *b, const struct best *in)
{
	return b->name.p && b->start_ps <= in->start_ps &&
	       b->start_ps + b->length_ps >= in->start_ps + in->length_ps;
}

/*
 * Shares out the gap's time that no event covers.  A host that waited for a result could have
 * done the rest beside the device's work, but no more than that lasts; what follows a result in
 * inference may need it.
 */
static void share_out(struct host_gap *g, bool infers)
{
	int64_t length_ps = g->end_ps - g->start_ps, left_ps = length_ps;

	g->by_cause_ps[CAUSE_UNKNOWN] = 0;
	for (int c = 0; c < CAUSES; c++) { /* two threads may cover the same time */
		if (g->by_cause_ps[c] > left_ps)
			g->by_cause_ps[c] = left_ps;
		left_ps -= g->by_cause_ps[c];
	}
	int64_t waited_ps = !g->waited || infers ? 0 : left_ps < g->work_ps ? left_ps : g->work_ps;
	int64_t seen_ps = g->seen_ps > g->host.covered_ps ? g->seen_ps : g->host.covered_ps;
	int64_t unseen_ps = length_ps - seen_ps;
	g->works_after = waited_ps > g->by_cause_ps[CAUSE_SYNC];
	g->by_cause_ps[CAUSE_SYNC] += waited_ps;
	left_ps -= waited_ps;
	unseen_ps = unseen_ps < left_ps ? unseen_ps : left_ps;
	if (left_ps > 0) {
		int64_t copied_ps = unseen_ps < g->copied_ps ? unseen_ps : g->copied_ps;
		g->by_cause_ps[CAUSE_TRANSFER] += copied_ps;
		unseen_ps -= copied_ps;
		left_ps -= copied_ps;
		g->by_cause_ps[CAUSE_UNKNOWN] += unseen_ps;
		g->by_cause_ps[CAUSE_HOST] += left_ps - unseen_ps;
	}
}

/*
 * The thread that launches work may wait for another, or for Python's interpreter, which runs one
 * thread at a time.  If another works for most of that time, its work is the host's.
 */
static void others_share(struct host_gap *g)
{
	int64_t *request_ps = &g->by_cause_ps[CAUSE_REQUEST],
		*unknown_ps = &g->by_cause_ps[CAUSE_UNKNOWN];
	int64_t waits_ps = *request_ps + (g->has_frames ? *unknown_ps : 0);
	int64_t others_ps = g->others_ps < waits_ps ? g->others_ps : waits_ps;

	if (2 * others_ps <= waits_ps)
		return;
	g->by_cause_ps[CAUSE_HOST] += others_ps;
	g->by_others = 2 * others_ps > g->by_cause_ps[CAUSE_HOST];
	int64_t requests_ps = others_ps < *request_ps ? others_ps : *request_ps;
	*request_ps -= requests_ps;
	*unknown_ps -= others_ps - requests_ps;
}

/* The cause is that of the larger part; then the names are those of what caused it. */
static enum cause gap_settle(struct host_gap *g, const struct map *files, bool infers)
{
	int64_t length_ps = g->end_ps - g->start_ps;
	enum cause most = CAUSE_UNKNOWN;

	if (g->gap && g->gap->inside) {
		memset(g->by_cause_ps, 0, sizeof(g->by_cause_ps));
		g->host.name = g->call.name = MISSING;
		g->by_cause_ps[CAUSE_PROGRAM] = length_ps;
		return CAUSE_PROGRAM;
	}
	share_out(g, infers);
	others_share(g);
	for (int c = 1; c < CAUSES; c++)
		if (g->by_cause_ps[c] > g->by_cause_ps[most])
			most = (enum cause)c;
	if (most == CAUSE_UNKNOWN)
		g->host.name = g->call.name = MISSING;
	g->by_others &= most == CAUSE_HOST;
	if (g->by_others) {
		g->host = g->of_others;
		g->call.name = MISSING;
		return most;
	}
	if (most == CAUSE_TRANSFER && g->copy.covered_ps > g->host.covered_ps)
		g->host = g->copy;
	/* What is launched after a wait is not what the host waited for. */
	if (most == CAUSE_SYNC && g->wait.name.p &&
		(g->wait.class == HOST_CALLBACK || g->host.class == HOST_LAUNCH ||
			g->call.class == HOST_LAUNCH)) {
		g->host = g->wait;
		g->call = g->wait;
		g->call.name = names_a_line(g->wait.name) ? g->wait.name : MISSING;
	}
	/* The user's own function may be called in between. */
	g->is_dispatch = most == CAUSE_HOST && 2 * g->dispatch_ps > length_ps &&
			 !(g->user.name.p && g->user.length_ps < g->dispatch.length_ps);
	if (g->is_dispatch)
		g->call = g->dispatch;
	/* The user's line says more than the library's frame that it called. */
	struct str file, said = g->call.name.p ? g->call.name : g->host.name;
	bool says_less = !lies_in(said, files) &&
			 (is_frame(said, &file) || (!names_a_line(said) && !g->user_is_loop));
	if (most == CAUSE_HOST && !g->is_dispatch && g->user.name.p && says_less)
		g->call = g->user;
	if (most == CAUSE_SYNC && g->wait.class != HOST_CALLBACK &&
		lies_around(&g->user, &g->wait) && !g->user_is_loop && is_frame(said, &file) &&
		!lies_in(said, files))
		g->call = g->user;
	if (most == CAUSE_INPUT && g->feeder.p)
		g->call.name = g->feeder;
	g->works_after &= most == CAUSE_SYNC && g->call.name.p && !g->call.launches &&
			  causes[g->call.class] != CAUSE_SYNC;
	return most;
}

static struct gap_limit gap_limit(const struct run *run, bool of_other, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, run->device_count * SWEEP_MAX_GAPS);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		const struct gap_heap *h = of_other ? &s->other_gaps : &s->gaps;
		for (ptrdiff_t k = 0; k < h->count; k++)
			if (is_gap(run, length_of(&h->items[k])))
				lengths[n++] = length_of(&h->items[k]);
	}
	return limit_of(lengths, n, GAP_ROWS);
}

/* As Python's tracer names it, without its mark.  A copy: the name's page would come back for every
 * row that is read. */
static struct str frame_text(struct str name, struct arena *keep)
{
	str_take(&name, STR("$"));
	return arena_str(keep, text_clean(keep, name));
}

static void gap_row(const struct run *run, const struct op_rows *op_rows, const struct host_gap *g,
	enum cause cause)
{
	static const char *const before[CAUSES] = {
		[CAUSE_INPUT] = "getting the next batch, ",
		[CAUSE_CHECKPOINT] = "writing a checkpoint, ",
		[CAUSE_COMPILE] = "compiling, ",
		[CAUSE_SYNC] = "waiting for a result, ",
	};
	struct gaps_row *row = table_new(run->tables, gaps, run->keep);

	row->host = g->device->host_name;
	row->device = g->device->name;
	row->role = word_at(WORK_WORDS, is_other(g) ? ROLE_OTHER : ROLE_STEP);
	row->start_s = (double)(g->start_ps - g->device->plane->host_shift_ps -
				g->device->sweep.first_ps) *
		       PS;
	row->time_s = (double)(g->end_ps - g->start_ps) * PS;
	if (g->gap) {
		row->step = (double)g->gap->step;
		row->before = registry_subject_at(run->registry, g->gap->before)->name;
	}
	if (g->gap && g->gap->after >= 0) {
		row->after = registry_subject_at(run->registry, g->gap->after)->name;
		if (op_rows->at[g->gap->after] >= 0)
			row->key = op_rows->rows[op_rows->at[g->gap->after]].key;
	}
	row->cause = word_at(GAP_WORDS, cause);
	row->host_activity = frame_text(g->host.name, run->keep);
	row->host_call = frame_text(g->call.name, run->keep);
	row->dispatching = g->is_dispatch;
	row->launching = 2 * g->launched_ps > g->end_ps - g->start_ps;
	row->by_others = g->by_others;
	row->works_after = g->works_after;
	struct str doing = row->host_call.p ? row->host_call : row->host_activity;
	if (doing.p)
		row->activity = arena_fmt(
			run->keep, "%s%.*s", before[cause] ? before[cause] : "", STR_ARG(doing));
}

/* The files that ops were written in.  JAX's own are not among them: an op's place is the first
 * frame outside of JAX. */
static struct map users_files(const struct op_rows *ops, struct arena *keep)
{
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; i < ops->count; i++)
		if (ops->rows[i].common->source_file.len)
			map_put(&ret, path_base(ops->rows[i].common->source_file), 0, keep);
	return ret;
}

/* Files of installed libraries on the steps' stacks, which leave out JAX's own frames. */
static struct map libraries_files(const struct run *run, struct arena *keep)
{
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		ptrdiff_t count = 0;
		const struct str *files = p->role == ROLE_STEP && p->has_hlo
						  ? hlo_files(program_hlo(p), &count)
						  : NULL;
		for (ptrdiff_t k = 0; k < count; k++)
			if (str_contains(files[k], STR("-packages/")))
				map_put(&ret, arena_str(keep, path_base(files[k])), 0, keep);
	}
	return ret;
}

/* What was seen of a device's waits for the host in steady steps. */
struct seen {
	int64_t all_ps, input_ps, sync_ps;
};

static bool lies_in_steady(const struct sweep *s, int64_t at_ps)
{
	ptrdiff_t next;

	FIND_FIRST(next, 0, s->step_count, s->steps[next].start_ps > at_ps);
	return next > 0 && step_is_steady(&s->steps[next - 1]) && at_ps < s->steps[next - 1].end_ps;
}

/*
 * All waits of the device that ends last are known, be they ever so short; of another device, and
 * where executions were not kept, its largest gaps between them stand for the rest.
 */
static void seen_add(const struct run *run, const struct host_gap *g, struct seen *seen)
{
	const struct sweep *s = &g->device->sweep;
	bool all_known = g->device == run->lasting.device && !s->runs_cut;

	if (g->gap ? all_known || g->gap->inside
		   : !lies_in_steady(s, g->start_ps - g->device->plane->host_shift_ps))
		return;
	seen->all_ps += g->end_ps - g->start_ps;
	seen->input_ps += g->by_cause_ps[CAUSE_INPUT];
	seen->sync_ps += g->by_cause_ps[CAUSE_SYNC];
}

/* By how much each device waits for the host at all. */
static void seen_sum(const struct run *run, const struct seen *seen, struct gap_sums *ret)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		double waits_s = (double)(s->idle_ps - s->inside_ps) * PS;
		if (seen[i].all_ps == 0)
			continue;
		ret->input_s += waits_s * (double)seen[i].input_ps / (double)seen[i].all_ps;
		ret->sync_s += waits_s * (double)seen[i].sync_ps / (double)seen[i].all_ps;
	}
}

/* A wait as a whole is of one cause for its length, and its time is of all. */
static void wait_sum(const struct host_gap *g, enum cause cause, struct gap_sums *ret)
{
	for (int c = 0; c < CAUSES; c++)
		ret->waits[c].time_ps += g->by_cause_ps[c];
	dist_add(&ret->waits[cause].lengths, ret->keep, g->end_ps - g->start_ps);
}

bool fill_gaps(const struct run *run, const struct op_rows *op_rows, bool infers,
	struct gap_sums *ret, struct diag *err)
{
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);
	struct gap_limit limits[2] = { gap_limit(run, false, work), gap_limit(run, true, work) };
	const struct map files = users_files(op_rows, run->keep);
	const struct map libraries = libraries_files(run, run->keep);
	struct seen *seen = arena_make(run->keep, struct seen, run->device_count);
	const struct host_gaps all = { .files = &files, .libraries = &libraries, .infers = infers };
	bool ok = true, has_frames = false;

	*ret = (struct gap_sums){ .keep = run->keep };
	for (ptrdiff_t h = 0; ok && h < run->host_count; h++) {
		ptrdiff_t count;
		struct host_gap *gaps = gaps_collect(run, (int32_t)h, &work, &count);
		ok = gaps_explain(run, &all, (int32_t)h, gaps, count, &work, err);
		for (ptrdiff_t i = 0; ok && i < count; i++) {
			struct host_gap *g = &gaps[i];
			enum cause cause = gap_settle(g, &files, infers);
			has_frames |= g->has_frames;
			/* Where executions were not kept, gaps between them stand for the waits. */
			if (!g->gap || (g->device == run->lasting.device &&
					       g->device->sweep.runs_cut && !g->gap->inside))
				wait_sum(g, cause, ret);
			if (!g->gap || !g->gap->is_other)
				seen_add(run, g, &seen[g->device - run->devices]);
			if (g->has_row &&
				limit_leaves(&limits[is_other(g)], g->end_ps - g->start_ps))
				gap_row(run, op_rows, g, cause);
		}
		profile_drop(&run->hosts[h]);
		arena_clear(&work);
	}
	arena_free(&work);
	seen_sum(run, seen, ret);
	if (has_frames)
		quality_add(run, "host-functions", true, "Python's functions are recorded");
	return ok;
}
