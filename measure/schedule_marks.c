/*
 * Which mark of the host launched what: by calls of the functions that modules are named after, by
 * the place that work has among the marks, by order.  See schedule.h.
 */
#include "base/stats.h"
#include "measure/schedule_state.h"

/* Host and device clocks agree to some tens of microseconds; a wait ends that much later. */
#define CLOCK_SLACK_PS INT64_C(200000000)
/* Of a job that waits inside its marks, so much work may end behind them. */
#define BEHIND_MAX 0.05
/* Fewer steps do not tell what regularly follows each. */
#define FOLLOWED_MIN 3
/* More of the device's time without a known mark leaves the marks unused. */
#define LOST_MAX 0.1

static int mark_cmp(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	int order = order_integers(x->by, y->by);

	order = order ? order : order_integers(x->thread, y->thread);
	order = order ? order : order_integers(x->start_ps, y->start_ps);
	order = order ? order : order_integers(y->end_ps, x->end_ps);
	return order ? order : str_cmp(x->name, y->name);
}

/* Is the outer mark asked for, and what it holds is not? */
static bool outer_is_wanted(const struct scheduling *s, const struct mark *outer)
{
	struct str wanted = s->run->wanted;

	return wanted.p && name_is_wanted(wanted, outer->name) &&
	       !name_is_wanted(wanted, outer[1].name);
}

/*
 * A mark around others of its thread (an epoch's around its steps) is no step, unless the user asks
 * for it: then the inner ones are no steps.  Marks with the same times are one.
 */
static void marks_read(struct scheduling *s)
{
	const struct host_spans *all = &s->run->facts.steps;
	struct mark *marks = s->marks = arena_make(s->scratch, struct mark, all->count);
	struct mark wanted = { .by = -1 };

	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct host_span *m = &all->items[i];
		marks[i] = (struct mark){ .start_ps = m->start_ps,
			.end_ps = m->end_ps,
			.number = m->number,
			.name = m->name,
			.by = m->host,
			.thread = m->thread,
			.sort = -1 };
	}
	sort_by(marks, all->count, mark_cmp);
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct mark *m = &marks[i], *next = m + 1;
		bool is_around = i + 1 < all->count && next->by == m->by &&
				 next->thread == m->thread && next->start_ps < m->end_ps &&
				 next->end_ps <= m->end_ps;
		if (m->by == wanted.by && m->thread == wanted.thread && m->start_ps < wanted.end_ps)
			continue;
		bool is_wanted = is_around && outer_is_wanted(s, m);
		if (is_wanted)
			wanted = *m;
		if (!is_around || is_wanted)
			marks[s->mark_count++] = *m;
	}
}

/* The marks of a host: how many there are from `first` on. */
static ptrdiff_t marks_of_host(const struct scheduling *s, int32_t host, ptrdiff_t *first)
{
	ptrdiff_t end = 0;

	for (*first = 0; *first < s->mark_count && s->marks[*first].by < host;)
		++*first;
	for (end = *first; end < s->mark_count && s->marks[end].by == host;)
		end++;
	return end - *first;
}

/* The mark that a moment of the host lies in, or -1. */
int32_t mark_at(const struct scheduling *s, ptrdiff_t first, ptrdiff_t count, int64_t at_ps)
{
	ptrdiff_t next;

	FIND_FIRST(next, first, first + count, s->marks[next].start_ps > at_ps);
	return next > first && at_ps < s->marks[next - 1].end_ps ? (int32_t)(next - 1) : -1;
}

/* The marks of `count` from `first` on that are of one thread with the first of them. */
static ptrdiff_t marks_of_thread(const struct scheduling *s, ptrdiff_t first, ptrdiff_t count)
{
	ptrdiff_t end;

	FIND_FIRST(end, first, first + count, s->marks[end].thread > s->marks[first].thread);
	return end - first;
}

/* Threads of a host that mark steps: a loop each.  Of more, marks are not held against a moment. */
#define MARKING_THREADS_MAX 64

/*
 * The mark that a host was in: of the thread's own where it has any, else the last to begin of any
 * thread's.
 */
static int32_t mark_of(
	const struct scheduling *s, ptrdiff_t first, ptrdiff_t count, int32_t thread, int64_t at_ps)
{
	int32_t ret = -1;

	for (ptrdiff_t n, i = 0; count > 0 && i < MARKING_THREADS_MAX; i++) {
		n = marks_of_thread(s, first, count);
		int32_t mark = mark_at(s, first, n, at_ps);
		if (s->marks[first].thread == thread)
			return mark;
		if (mark >= 0 && (ret < 0 || s->marks[mark].start_ps > s->marks[ret].start_ps))
			ret = mark;
		first += n;
		count -= n;
	}
	return ret;
}

/* A host's calls of the function that a module is named after, in order. */
static const struct host_span **launches_of(const struct scheduling *s, int32_t host,
	int32_t module, ptrdiff_t *count, struct arena *scratch)
{
	const struct host_spans *all = &s->run->facts.launches;
	struct str core = function_core(s->modules[module], scratch), last = { NULL, 0 };
	const struct host_span **ret = arena_make(scratch, const struct host_span *, all->count);
	bool fits = false;

	*count = 0;
	for (ptrdiff_t i = 0; i < all->count; i++) {
		const struct host_span *l = &all->items[i];
		if (l->host != host)
			continue;
		if (l->name.p != last.p) /* each name stands once */
			fits = str_eq(function_core(l->name, scratch), core);
		last = l->name;
		if (fits)
			ret[(*count)++] = l;
	}
	return ret;
}

/* A device's executions of one module. */
struct module_runs {
	struct program_run **items;
	ptrdiff_t count;
	int64_t time_ps;
};

static struct module_runs runs_of(
	const struct scheduling *s, const struct sweep *d, int32_t module, struct arena *keep)
{
	struct module_runs ret = { arena_make(keep, struct program_run *, d->run_count), 0, 0 };

	for (ptrdiff_t i = 0; i < d->run_count; i++)
		if (module_at(s, &d->runs[i]) == module) {
			ret.items[ret.count++] = &d->runs[i];
			ret.time_ps += d->runs[i].end_ps - d->runs[i].start_ps;
		}
	return ret;
}

/*
 * How many executions the window's begin found launched: the fewest with which no call comes behind
 * its execution.  As many calls may wait for theirs when the window ends.  -1: calls and executions
 * are not of each other.
 */
static ptrdiff_t launched_before(const struct sweep *d, const struct module_runs *runs,
	const struct host_span *const *launches, ptrdiff_t count)
{
	ptrdiff_t most = may_wait(runs->count);
	ptrdiff_t before = runs->count > count ? runs->count - count : 0;

	for (; before <= most; before++) {
		ptrdiff_t fit = 0, n = runs->count - before;
		int64_t slack_ps = d->plane->host_shift_ps + CLOCK_SLACK_PS;
		if (count - n > most)
			return -1;
		while (fit < n &&
			launches[fit]->start_ps <= runs->items[before + fit]->start_ps + slack_ps)
			fit++;
		if (fit == n)
			return n > 0 ? before : -1;
	}
	return -1;
}

/* False when calls and executions are not of each other. */
static bool launches_tell(const struct scheduling *s, const struct sweep *d,
	const struct module_runs *runs, int32_t module, ptrdiff_t first, ptrdiff_t marks,
	struct arena scratch)
{
	ptrdiff_t count;
	const struct host_span **launches = launches_of(s, d->host, module, &count, &scratch);

	ptrdiff_t before = launched_before(d, runs, launches, count);
	if (before < 0)
		return false;
	for (ptrdiff_t i = before; i < runs->count; i++)
		runs->items[i]->step = mark_of(s, first, marks, launches[i - before]->thread,
			launches[i - before]->start_ps);
	return true;
}

/*
 * The executions of modules that launches do not tell are of the marks they run in.  False when the
 * job does not wait there for its work: some goes on behind the marks, or marks are without any.
 */
static bool place_tells(const struct scheduling *s, struct sweep *d, const bool *by_launch,
	ptrdiff_t first, ptrdiff_t marks, struct arena scratch)
{
	bool *has_work = arena_make(&scratch, bool, marks);
	ptrdiff_t inside = 0, behind = 0, with_work = 0;

	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		struct program_run *r = &d->runs[i];
		if (!by_launch[module_at(s, r)]) {
			r->step =
				mark_of(s, first, marks, -1, r->start_ps + d->plane->host_shift_ps);
			inside += r->step >= 0;
			behind += r->step >= 0 && r->end_ps + d->plane->host_shift_ps >
							  s->marks[r->step].end_ps + CLOCK_SLACK_PS;
		}
		if (r->step >= 0 && !has_work[r->step - first]) {
			has_work[r->step - first] = true;
			with_work++;
		}
	}
	return (double)behind <= BEHIND_MAX * (double)inside &&
	       (double)(marks - with_work) <= BEHIND_MAX * (double)marks;
}

/* The n-th group of a module's executions is the n-th mark's, where one thread marks. */
static bool order_tells(const struct scheduling *s, const struct module_runs *runs, ptrdiff_t first,
	ptrdiff_t marks)
{
	if (marks == 0 || runs->count % marks || marks_of_thread(s, first, marks) != marks)
		return false;
	for (ptrdiff_t i = 0; i < runs->count; i++)
		runs->items[i]->step = (int32_t)(first + i / (runs->count / marks));
	return true;
}

/* All but one, or but few. */
static bool is_nearly(ptrdiff_t part, ptrdiff_t whole)
{
	ptrdiff_t less = (ptrdiff_t)(BEHIND_MAX * (double)whole);

	return whole >= FOLLOWED_MIN && part >= whole - (less > 1 ? less : 1);
}

/* Do nearly all marks of one name hold as many of these calls, at least one each? */
static bool calls_keep_time(const struct scheduling *s, ptrdiff_t first, ptrdiff_t marks,
	const struct host_span *const *calls, ptrdiff_t count, struct arena scratch)
{
	ptrdiff_t *held = arena_make(&scratch, ptrdiff_t, marks);
	struct map names = { 0 };
	struct named {
		ptrdiff_t marks, calls, alike;
	} *of = arena_make(&scratch, struct named, marks);
	int32_t *which = arena_make(&scratch, int32_t, marks), n = 0;
	bool ret = false;

	for (ptrdiff_t i = 0; i < count; i++) {
		int32_t mark = mark_of(s, first, marks, calls[i]->thread, calls[i]->start_ps);
		if (mark >= 0)
			held[mark - first]++;
	}
	for (ptrdiff_t i = 0; i < marks; i++) {
		which[i] = map_put(&names, s->marks[first + i].name, n, &scratch);
		n += which[i] == n;
		of[which[i]].marks++;
		of[which[i]].calls += held[i];
	}
	for (ptrdiff_t i = 0; i < marks; i++) {
		struct named *name = &of[which[i]];
		ptrdiff_t each = (name->calls + name->marks / 2) / name->marks;
		name->alike += each > 0 && held[i] == each;
	}
	for (int32_t i = 0; i < n; i++)
		ret |= is_nearly(of[i].alike, of[i].marks);
	return ret;
}

/*
 * Modules that run beside the marks: only threads without marks call them, and out of time with
 * the marks, as one does that evaluates or acts meanwhile.  None trains, and there is none where
 * threads that mark call nothing: there another thread launches what is marked.
 */
static const bool *modules_aside(const struct scheduling *s, int32_t host, ptrdiff_t first,
	ptrdiff_t marks, struct arena *keep)
{
	bool *ret = arena_make(keep, bool, s->module_count), marked = false;
	struct map marking = { 0 };

	for (ptrdiff_t i = first; i < first + marks; i++)
		map_put_id(&marking, s->marks[i].thread, 0, keep);
	for (int32_t m = 0; m < s->module_count; m++) {
		struct arena scratch = *keep;
		ptrdiff_t count;
		const struct host_span **calls = launches_of(s, host, m, &count, &scratch);
		bool any = false;
		for (ptrdiff_t i = 0; i < count && !any; i++)
			any = map_get_id(&marking, calls[i]->thread) != MAP_NONE;
		marked |= any;
		ret[m] = count > 0 && !any && !module_trains(s, m) &&
			 !calls_keep_time(s, first, marks, calls, count, scratch);
	}
	for (int32_t m = 0; m < s->module_count; m++)
		ret[m] &= marked;
	return ret;
}

/* What a device's work says about its marks. */
enum told {
	TOLD_NOT,   /* of too much is not known which mark's it is, or none is of any */
	TOLD_ASIDE, /* all of it runs beside the marks */
	TOLD,
};

static enum told device_tells(struct scheduling *s, struct sweep *d, const bool *aside,
	ptrdiff_t first, ptrdiff_t marks, struct arena scratch)
{
	bool *by_launch = arena_make(&scratch, bool, s->module_count);
	int64_t all_ps = 0, lost_ps = 0;
	bool any = false, all_aside = true;

	for (int32_t m = 0; m < s->module_count; m++) {
		struct arena work = scratch;
		struct module_runs runs = runs_of(s, d, m, &work);
		by_launch[m] = runs.count == 0 || aside[m] ||
			       launches_tell(s, d, &runs, m, first, marks, work);
		for (ptrdiff_t i = 0; aside[m] && i < runs.count; i++)
			runs.items[i]->step = -1;
		all_aside &= runs.count == 0 || aside[m];
		all_ps += runs.time_ps;
	}
	bool by_place = place_tells(s, d, by_launch, first, marks, scratch);
	for (int32_t m = 0; m < s->module_count && !by_place; m++) {
		struct arena work = scratch;
		struct module_runs runs = runs_of(s, d, m, &work);
		if (by_launch[m] || order_tells(s, &runs, first, marks))
			continue;
		for (ptrdiff_t i = 0; i < runs.count; i++)
			runs.items[i]->step = -1;
		lost_ps += runs.time_ps;
	}
	for (ptrdiff_t i = 0; i < d->run_count; i++)
		any |= d->runs[i].step >= 0;
	return all_aside					     ? TOLD_ASIDE
	       : any && (double)lost_ps <= LOST_MAX * (double)all_ps ? TOLD
								     : TOLD_NOT;
}

/* Behind how many steps of one name a module runs. */
struct follower {
	int64_t id;	    /* of both */
	int32_t name, last; /* of those steps */
	ptrdiff_t steps;
};

/*
 * Work behind every mark of a name belongs to its step: such marks stand around a part of the loop,
 * as around its gradient alone.  An evaluation never does, however often it comes.  Where all of it
 * runs inside the marks as well, it is steps that have no mark.
 */
static void followers_join(
	const struct scheduling *s, struct sweep *d, const bool *aside, struct arena scratch)
{
	struct map names = { 0 }, pairs = { 0 }, inside = { 0 };
	bool *has_work = arena_make(&scratch, bool, s->mark_count);
	bool *is_part = arena_make(&scratch, bool, s->mark_count); /* the marks of a name */
	ptrdiff_t *steps = arena_make(&scratch, ptrdiff_t, s->mark_count);
	struct follower *followers = arena_make(&scratch, struct follower, d->run_count);
	int32_t *pair_of = arena_make(&scratch, int32_t, d->run_count);
	int32_t *behind = arena_make(&scratch, int32_t, d->run_count);
	int32_t name_count = 0, pair_count = 0, before = -1, name = -1;

	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		const struct program_run *r = &d->runs[i];
		pair_of[i] = -1;
		if (r->step >= 0) {
			name = map_put(&names, s->marks[r->step].name, name_count, &scratch);
			name_count += name == name_count;
			steps[name] += !has_work[r->step];
			has_work[before = r->step] = true;
		}
		int32_t m = module_at(s, r);
		int64_t id = (int64_t)name * s->module_count + m;
		if (r->step >= 0)
			map_put_id(&inside, id, 0, &scratch);
		if (r->step >= 0 || before < 0 || aside[m] || is_evaluation(s->modules[m]))
			continue;
		int32_t at = map_put_id(&pairs, id, pair_count, &scratch);
		if (at == pair_count)
			followers[pair_count++] =
				(struct follower){ .id = id, .name = name, .last = -1 };
		followers[at].steps += followers[at].last != before;
		followers[at].last = behind[i] = before;
		pair_of[i] = at;
	}
	for (int32_t i = 0; i < pair_count; i++)
		is_part[followers[i].name] |=
			is_nearly(followers[i].steps, steps[followers[i].name]) &&
			map_get_id(&inside, followers[i].id) == MAP_NONE;
	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		const struct follower *f = pair_of[i] >= 0 ? &followers[pair_of[i]] : NULL;
		if (f && is_part[f->name] && is_nearly(f->steps, steps[f->name]))
			d->runs[i].step = behind[i];
	}
}

/* Why the marks that there are cannot be used. */
static struct str marks_trouble(const struct scheduling *s, const struct sweep *d)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < d->run_count; i++)
		any |= d->runs[i].step >= 0;
	return arena_fmt(s->keep,
		any ? "which of %td annotations launched what is unknown: the job does not "
		      "wait inside them, and they do not divide its executions"
		    : "the host has %td annotations of steps, and no work of a device is of one",
		s->mark_count);
}

bool marks_tell(struct scheduling *s)
{
	marks_read(s);
	if (s->mark_count == 0)
		return false;
	struct arena scratch;
	const bool *aside = NULL; /* of the host; its devices lie together */
	ptrdiff_t first = 0, marks = 0;
	bool any = false;
	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		struct sweep *d = ran(s, i);
		if (i == 0 || d->host != ran(s, i - 1)->host) {
			scratch = *s->scratch;
			marks = marks_of_host(s, d->host, &first);
			aside = modules_aside(s, d->host, first, marks, &scratch);
		}
		enum told told = device_tells(s, d, aside, first, marks, scratch);
		if (told == TOLD_NOT || (!any && i + 1 == s->run->device_count && told != TOLD)) {
			s->ret->trouble = marks_trouble(s, d);
			return false;
		}
		any |= told == TOLD;
		followers_join(s, d, aside, scratch);
	}
	return any;
}
