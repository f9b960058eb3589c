/*
 * What the events of a host say of its devices' gaps.  See gaps.h.
 *
 * The outermost events of the thread that launches work share out a gap's time by cause.  Other
 * threads are asked what that one waits for: they copy, or run Python.
 */
#include <string.h>

#include "base/task.h"
#include "measure/gaps.h"

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

/* An event that shows a cause, or hides those that do. */
struct reason {
	int64_t start_ps, end_ps;
	enum host_class class;
	struct str name;
};

static void lane_begin(struct host_gap *g, const struct lane *l)
{
	if (g->lane.of == l)
		return;
	g->lane.of = l;
	g->lane.all = g->lane.waits = g->lane.launches = (struct cover){ 0, INT64_MIN };
	g->lane.call = (struct time_span){ 0, 0 };
	g->lane.busy = (struct best){ 0 };
}

/* A lane's events are in order. */
static void cover_add(struct cover *c, const struct host_gap *g, int64_t start_ps, int64_t end_ps)
{
	int64_t from_ps = start_ps > c->until_ps ? start_ps : c->until_ps;
	int64_t new_ps = gap_overlap_ps(g, from_ps, end_ps);

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
	int64_t slack = gap_slack_ps(g);

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

/* How many calls an event holds, up to 2. */
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
struct part {
	const struct profile *host;
	const struct gap_facts *facts;
	bool any_thread; /* the host's events do not tell which thread launches work */
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
static void gap_dispatch(struct host_gap *g, const struct part *part, const struct lane *l,
	const struct best *b, const struct event *e)
{
	int64_t from_ps = e->start_ps > g->dispatch_until_ps ? e->start_ps : g->dispatch_until_ps;

	/* A frame that launches more than one step is the loop. */
	if (e->end_ps <= from_ps || !lies_in(e->name, part->facts->libraries) ||
		calls_held(g->calls, l, e) != 1)
		return;
	if (b->length_ps > g->dispatch.length_ps)
		g->dispatch = *b;
	int64_t new_ps = gap_overlap_ps(g, from_ps, e->end_ps);
	g->dispatch_ps += new_ps > 0 ? new_ps : 0;
	g->dispatch_until_ps = e->end_ps;
}

static void gap_consider(
	struct host_gap *g, const struct part *part, const struct lane *l, const struct event *e)
{
	int64_t half_ps = (g->end_ps - g->start_ps) / 2;
	struct best b = { e->name, gap_overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
		e->end_ps - e->start_ps, e->host, false };

	if (b.covered_ps <= 0 || is_mark(g->calls, l, e))
		return;
	lane_begin(g, l);
	cover_add(&g->lane.all, g, e->start_ps, e->end_ps);
	g->seen_ps = g->lane.all.ps > g->seen_ps ? g->lane.all.ps : g->seen_ps;
	g->has_frames |= str_starts(e->name, STR("$"));
	if (e->host == HOST_LAUNCH)
		cover_add(&g->lane.launches, g, e->start_ps, e->end_ps);
	if (g->lane.launches.ps > g->launched_ps)
		g->launched_ps = g->lane.launches.ps;
	if (explains_better(&b, &g->host, half_ps))
		g->host = b;
	if (b.length_ps > half_ps && b.length_ps > g->call.length_ps && is_call(g, e)) {
		g->call = b;
		g->call.launches = calls_held(g->calls, l, e) > 0;
	}
	if (causes[e->host] == CAUSE_SYNC && waits_longer(&b, &g->wait))
		g->wait = b;
	if (b.covered_ps > half_ps && (!g->user.name.p || b.length_ps < g->user.length_ps) &&
		lies_in(e->name, part->facts->files)) {
		g->user = b;
		g->user.launches = calls_held(g->calls, l, e) > 0;
		g->user_is_loop = steps_held(g->calls, l, e->start_ps, e->end_ps, 2) > 1;
	}
	gap_dispatch(g, part, l, &b, e);
}

/* What Python calls for longer and no tracer looks into may be a wait. */
#define CALL_MAY_WAIT_PS INT64_C(1000000000)

static void call_settle(struct host_gap *g)
{
	if (g->lane.call.end_ps > 0)
		cover_add(&g->lane.waits, g, g->lane.call.start_ps, g->lane.call.end_ps);
	g->lane.call.end_ps = 0;
}

/*
 * While the thread that launches work waits, for another or for Python's interpreter, another may
 * be at work.  Python's functions are, but for what they wait for.
 */
static void gap_others(struct host_gap *g, const struct lane *l, const struct event *e, bool waits)
{
	struct best b = { e->name, gap_overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
		e->end_ps - e->start_ps, e->host, false };

	if (b.covered_ps <= 0 || !str_starts(e->name, STR("$")))
		return;
	lane_begin(g, l);
	cover_add(&g->lane.all, g, e->start_ps, e->end_ps);
	if (e->start_ps >= g->lane.call.end_ps)
		call_settle(g);
	else if (names_a_line(e->name))
		g->lane.call.end_ps = 0;
	if (waits)
		cover_add(&g->lane.waits, g, e->start_ps, e->end_ps);
	else if (!names_a_line(e->name) && b.length_ps >= CALL_MAY_WAIT_PS)
		g->lane.call = (struct time_span){ e->start_ps, e->end_ps };
	else if (explains_better(&b, &g->lane.busy, (g->end_ps - g->start_ps) / 2))
		g->lane.busy = b;
}

/* Of the lane that has been read. */
static void others_add(const struct part *part, const struct lane *l)
{
	for (ptrdiff_t i = 0; i < part->count; i++) {
		struct host_gap *g = part->items[i];
		if (g->lane.of != l || !g->lane.busy.name.p)
			continue;
		call_settle(g);
		int64_t busy_ps = g->lane.all.ps - g->lane.waits.ps;
		if (busy_ps <= g->others_ps)
			continue;
		g->others_ps = busy_ps;
		g->others = g->lane.busy;
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
	struct best b = { e->name, gap_overlap_ps(g, e->start_ps, e->end_ps), e->start_ps,
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
	g->by_cause_ps[causes[r->class]] += gap_overlap_ps(g, r->start_ps, r->end_ps);
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

static void spans_join(struct part *part, struct arena *keep)
{
	part->spans = arena_make(keep, struct time_span, part->count);
	for (ptrdiff_t i = 0; i < part->count; i++)
		part->spans[i] =
			(struct time_span){ part->items[i]->start_ps, part->items[i]->end_ps };
	sort_by(part->spans, part->count, span_cmp);
	for (ptrdiff_t i = 0; i < part->count; i++) {
		struct time_span s = part->spans[i], *behind = &part->spans[part->span_count];
		if (part->span_count == 0 || s.start_ps > behind[-1].end_ps)
			part->spans[part->span_count++] = s;
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
	const struct part *part, const struct lane *l, struct reason *reasons, ptrdiff_t count)
{
	int64_t until_ps = INT64_MIN;

	sort_by(reasons, count, reason_cmp);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct reason *r = &reasons[i];
		if (r->start_ps < until_ps)
			continue;
		until_ps = r->end_ps;
		for (ptrdiff_t d = 0, first = 0; d < part->devices; first = part->ends[d++]) {
			struct host_gap **gaps = &part->items[first];
			ptrdiff_t n = part->ends[d] - first;
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
	const struct part *part, struct arena scratch, struct diag *err)
{
	struct lane near = lane_within(l, part->spans, part->span_count, &scratch);
	struct cursor *c = cursor_new(p, &near, 0, &scratch);
	struct event *e = arena_make(&scratch, struct event, 1);
	struct reason *reasons = NULL;
	ptrdiff_t count = 0, cap = 0, *hints = arena_make(&scratch, ptrdiff_t, part->devices);
	bool of_python = l->classes >> HOST_FRAME & 1;

	if (!launches && !of_python)
		cursor_only(c, 1 << HOST_TRANSFER);
	while (cursor_next(c, e)) {
		if (e->host == HOST_STEP || e->host == HOST_THREAD) /* explain nothing */
			continue;
		bool waits = e->host == HOST_WAIT || e->host == HOST_QUEUE;
		e->host = class_of(e, part->facts->files, part->facts->infers);
		/* reasons_lay takes the outermost: inner ones need no room, and may be millions. */
		bool is_inner = count > 0 && e->start_ps >= reasons[count - 1].start_ps &&
				e->end_ps <= reasons[count - 1].end_ps;
		if (launches && (causes[e->host] || hides_waits(e->host)) && !is_inner &&
			count < HOST_SPANS_MAX)
			*arena_push(&scratch, reasons, count, cap) =
				(struct reason){ e->start_ps, e->end_ps, e->host, e->name };
		for (ptrdiff_t d = 0, first = 0; d < part->devices && e->name.len > 0;
			first = part->ends[d++])
			for (ptrdiff_t k = first + gap_behind_near(&part->items[first],
							   part->ends[d] - first, e->start_ps,
							   &hints[d]);
				k < part->ends[d] && part->items[k]->start_ps < e->end_ps; k++)
				if (launches && is_of(part->items[k], l))
					gap_consider(part->items[k], part, l, e);
				else if (e->host == HOST_TRANSFER)
					gap_copied(part->items[k], e);
				else if (of_python)
					gap_others(part->items[k], l, e, waits);
	}
	reasons_lay(part, l, reasons, count);
	others_add(part, l);
	return cursor_end(c, err);
}

static bool part_explain(struct part *part, struct arena scratch)
{
	struct host_gap *const *gaps = part->items;

	part->ends = arena_make(&scratch, ptrdiff_t, part->count);
	for (ptrdiff_t i = 0; i < part->count; i++) {
		part->devices += i == 0 || gaps[i]->device != gaps[i - 1]->device ||
				 !gaps[i]->gap != !gaps[i - 1]->gap;
		part->ends[part->devices - 1] = i + 1;
	}
	spans_join(part, &scratch);
	for (ptrdiff_t i = 0; part->devices > 0 && i < part->host->plane_count; i++) {
		const struct plane *p = &part->host->planes[i];
		for (ptrdiff_t k = 0; p->class == PLANE_HOST && k < p->lane_count; k++) {
			const struct lane *l = &p->lanes[k];
			bool launches = part->any_thread || l->classes >> HOST_LAUNCH & 1;
			if ((launches || (l->classes >> HOST_FRAME & 1) ||
				    l->classes >> HOST_TRANSFER & 1) &&
				!lane_explain(p, l, launches, part, scratch, &part->err))
				return false;
		}
	}
	return true;
}

static void part_task(void *arg, ptrdiff_t i)
{
	struct part *part = (struct part *)arg + i;
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);

	part->failed = !part_explain(part, work);
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
bool gaps_explain(const struct run *run, const struct gap_facts *facts, int32_t h,
	struct host_gap *gaps, ptrdiff_t count, struct arena *keep, struct diag *err)
{
	int n = parts_of(run, h, count);
	struct part *parts = arena_make(keep, struct part, n);
	int64_t *begins = arena_make(keep, int64_t, count);

	for (ptrdiff_t i = 0; i < count; i++)
		begins[i] = gaps[i].start_ps;
	if (n > 1)
		sort_integers(begins, count);
	for (int k = 0; k < n; k++)
		parts[k] = (struct part){ .host = &run->hosts[h],
			.facts = facts,
			.any_thread = has_no_launches(run, h),
			.items = arena_make(keep, struct host_gap *, count) };
	for (ptrdiff_t i = 0; i < count; i++) {
		struct part *p = parts;
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

enum cause gap_settle(struct host_gap *g, const struct gap_facts *facts)
{
	int64_t length_ps = g->end_ps - g->start_ps;
	enum cause most = CAUSE_UNKNOWN;

	if (g->gap && g->gap->inside) {
		memset(g->by_cause_ps, 0, sizeof(g->by_cause_ps));
		g->host.name = g->call.name = MISSING;
		g->by_cause_ps[CAUSE_PROGRAM] = length_ps;
		return CAUSE_PROGRAM;
	}
	share_out(g, facts->infers);
	others_share(g);
	for (int c = 1; c < CAUSES; c++)
		if (g->by_cause_ps[c] > g->by_cause_ps[most])
			most = (enum cause)c;
	if (most == CAUSE_UNKNOWN)
		g->host.name = g->call.name = MISSING;
	g->by_others &= most == CAUSE_HOST;
	if (g->by_others) {
		g->host = g->others;
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
	bool says_less = !lies_in(said, facts->files) &&
			 (is_frame(said, &file) || (!names_a_line(said) && !g->user_is_loop));
	if (most == CAUSE_HOST && !g->is_dispatch && g->user.name.p && says_less)
		g->call = g->user;
	if (most == CAUSE_SYNC && g->wait.class != HOST_CALLBACK &&
		lies_around(&g->user, &g->wait) && !g->user_is_loop && is_frame(said, &file) &&
		!lies_in(said, facts->files))
		g->call = g->user;
	if (most == CAUSE_INPUT && g->feeder.p)
		g->call.name = g->feeder;
	g->works_after &= most == CAUSE_SYNC && g->call.name.p && !g->call.launches &&
			  causes[g->call.class] != CAUSE_SYNC;
	return most;
}
