/* What the lanes of hosts say of the job: steps, compilations, allocators.  See hostfacts.h. */
#include "measure/hostfacts.h"

#include <math.h>
#include <pthread.h>

#include "base/map.h"
#include "base/out.h"
#include "base/stats.h"
#include "base/task.h"
#include "base/text.h"

/* One host's lanes, read into the facts of all. */
struct reading {
	struct host_facts *facts;
	int32_t host, thread, threads; /* so many so far */
	struct map allocators;	       /* of the host, by name: indices into the facts' */
	struct allocation *allocations;
	ptrdiff_t allocation_count;
	struct host_spans compilers; /* modules by name, as the compiler works on them */
	struct arena *keep;
	struct arena scratch;
	bool ok;
	struct diag *err;
};

struct allocation {
	int64_t at_ps, live_bytes; /* with it */
	int64_t bytes;		   /* its own; 0 unknown */
	int64_t address;
	int32_t allocator, place; /* in the file */
	bool is_freed;
};

static void span_add(
	struct reading *r, struct host_spans *list, const struct event *e, int64_t number)
{
	if (list->count >= HOST_SPANS_MAX) {
		list->dropped++;
		return;
	}
	*arena_push(r->keep, list->items, list->count, list->cap) = (struct host_span){ e->start_ps,
		e->end_ps, number, text_clean(r->keep, e->name), r->host, r->thread };
}

/* Compilations nest (a jit inside a jit's tracing); the outermost tells the time. */
static void compile_add(struct reading *r, const struct event *e)
{
	struct host_spans *list = &r->facts->compiles;
	const struct host_span *last = list->count > 0 ? &list->items[list->count - 1] : NULL;

	if (!last || last->host != r->host || e->start_ps < last->start_ps ||
		e->end_ps > last->end_ps)
		span_add(r, list, e, 0);
}

/* JAX's event tells when something is compiled; the compiler's own, on whatever thread, what. */
static void compiler_add(struct reading *r, const struct event *e)
{
	struct event named = *e;

	if (!(e->stats.present & STAT_BIT(NAME)))
		return;
	named.name = e->stats.at[STAT_NAME].text;
	span_add(r, &r->compilers, &named, 0);
}

/*
 * "PjitFunction(train_step)".  A call shows as two events, one in the other; the outer one is the
 * launch.  Names are few, and launches are many.
 */
static void launch_add(struct reading *r, const struct event *e)
{
	struct host_facts *f = r->facts;
	struct host_spans *list = &f->launches;
	struct host_span *last = list->count > 0 ? &list->items[list->count - 1] : NULL;
	bool inside = last && last->thread == r->thread && e->start_ps >= last->start_ps &&
		      e->end_ps <= last->end_ps;
	struct str head, name;

	if (!str_cut(e->name, '(', &head, &name) || list->count >= HOST_SPANS_MAX)
		return;
	name = str_head(name, str_rfind_char(name, ')'));
	if (inside && str_eq(last->name, name))
		return;
	int32_t at = map_get(&f->launch_names, name);
	if (at == MAP_NONE) {
		at = (int32_t)f->launched.count;
		list_add(&f->launched, arena_str(r->keep, name), r->keep);
		map_put(&f->launch_names, f->launched.items[at], at, r->keep);
	}
	*arena_push(r->keep, list->items, list->count, list->cap) = (struct host_span){ e->start_ps,
		e->end_ps, 0, f->launched.items[at], r->host, r->thread };
}

static struct str allocator_name(const struct event *e, struct arena *keep)
{
	const struct stats *s = &e->stats;

	if (s->present & STAT_BIT(ALLOCATOR_NAME) && s->at[STAT_ALLOCATOR_NAME].text.len > 0)
		return text_clean(keep, s->at[STAT_ALLOCATOR_NAME].text);
	if (s->present & STAT_BIT(INDEX_ON_HOST))
		return arena_fmt(keep, "device %lld", (long long)s->at[STAT_INDEX_ON_HOST].i64);
	if (s->present & STAT_BIT(DEVICE_ORDINAL))
		return arena_fmt(keep, "device %lld", (long long)s->at[STAT_DEVICE_ORDINAL].i64);
	return STR("allocator");
}

static struct allocator *allocator_of(struct reading *r, struct str name)
{
	struct host_facts *f = r->facts;
	int32_t at = map_get(&r->allocators, name);

	if (at != MAP_NONE)
		return &f->allocators[at];
	if (f->allocator_count >= ALLOCATORS_MAX)
		return NULL;
	name = arena_str(r->keep, name);
	map_put(&r->allocators, name, (int32_t)f->allocator_count, r->keep);
	struct allocator *a =
		arena_push(r->keep, f->allocators, f->allocator_count, f->allocator_cap);
	a->name = name;
	a->host = r->host;
	a->fragmentation = NAN;
	if (f->allocator_count <= ALLOCATOR_CURVES)
		a->used = arena_make(r->keep, struct curve, 1);
	return a;
}

static int64_t bytes_of(const struct stats *s, enum stat_id id)
{
	return s->present >> id & 1 && s->at[id].i64 > 0 ? s->at[id].i64 : 0;
}

static void allocation_keep(struct reading *r, const struct event *e, const struct allocator *a)
{
	const struct stats *s = &e->stats;

	if (r->allocation_count >= ALLOCATIONS_MAX)
		return;
	r->allocations[r->allocation_count] = (struct allocation){
		.at_ps = e->start_ps,
		.live_bytes = bytes_of(s, STAT_BYTES_ALLOCATED),
		.bytes = bytes_of(s, STAT_ALLOCATION_BYTES),
		.address = s->present & STAT_BIT(ADDR) ? s->at[STAT_ADDR].i64 : 0,
		.allocator = (int32_t)(a - r->facts->allocators),
		.place = (int32_t)r->allocation_count,
		.is_freed = e->host == HOST_DEALLOCATION,
	};
	r->allocation_count++;
}

static int by_time(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;
	int order = order_integers(x->allocator, y->allocator);

	order = order ? order : order_integers(x->at_ps, y->at_ps);
	return order ? order : order_integers(x->place, y->place);
}

static int by_address(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;
	int order = order_integers(x->address, y->address);

	return order ? order : by_time(a, b);
}

/*
 * An allocator changes under a lock, and each event tells its own bytes and all live ones: those of
 * the event before, and its own more or less.  Where that does not add up, events between the two
 * are missing.
 */
static bool follows(const struct allocation *a, const struct allocation *before)
{
	int64_t change = a->live_bytes - before->live_bytes; /* neither is negative */

	if (a->bytes == 0)
		return !a->is_freed || change < 0;
	return change == (a->is_freed ? -a->bytes : a->bytes);
}

/* A TPU's deallocations tell no bytes; those of the allocation at their address are theirs. */
static void allocations_check(struct reading *r)
{
	struct allocation *all = r->allocations, *a;

	/* More than are kept: what is missing here may be what was left out. */
	if (r->allocation_count == ALLOCATIONS_MAX)
		return;
	sort_by(all, r->allocation_count, by_address);
	for (a = all + 1; a < all + r->allocation_count; a++)
		if (a->is_freed && a->bytes == 0 && a->allocator == a[-1].allocator &&
			a->address == a[-1].address)
			a->bytes = a[-1].bytes;
	sort_by(all, r->allocation_count, by_time);
	for (a = all + 1; a < all + r->allocation_count; a++)
		if (a->allocator == a[-1].allocator && !follows(a, a - 1))
			r->facts->allocators[a->allocator].jumps++;
}

static void allocator_sample(struct reading *r, const struct event *e)
{
	const struct stats *s = &e->stats;

	if (!(s->present & STAT_BIT(BYTES_ALLOCATED)))
		return;
	struct arena scratch = r->scratch;
	struct allocator *a = allocator_of(r, allocator_name(e, &scratch));
	if (!a)
		return;
	allocation_keep(r, e, a);
	int64_t used = sat_add(bytes_of(s, STAT_BYTES_RESERVED), bytes_of(s, STAT_BYTES_ALLOCATED));
	int64_t peak = bytes_of(s, STAT_PEAK_BYTES_IN_USE);
	int64_t allocated = bytes_of(s, STAT_BYTES_ALLOCATED);
	if (a->samples++ == 0 || allocated < a->lowest_bytes)
		a->lowest_bytes = allocated;
	if (a->used)
		curve_add(a->used, e->start_ps, used);
	if (used >= a->window_peak_bytes) {
		a->window_peak_bytes = used;
		a->capacity_bytes = sat_add(used, bytes_of(s, STAT_BYTES_AVAILABLE));
	}
	if (peak > a->lifetime_peak_bytes)
		a->lifetime_peak_bytes = peak;
	if (s->present & STAT_BIT(FRAGMENTATION)) {
		const struct stat_value *v = &s->at[STAT_FRAGMENTATION];
		double share = v->is_real ? v->real : (double)v->i64;
		if (!(a->fragmentation >= share))
			a->fragmentation = share;
	}
}

static void event_sort_out(struct reading *r, const struct event *e)
{
	switch (e->host) {
	case HOST_STEP:
		span_add(r, &r->facts->steps, e, e->stats.at[STAT_STEP_NUM].i64);
		break;
	case HOST_COMPILE:
		compile_add(r, e);
		break;
	case HOST_COMPILER:
		compiler_add(r, e);
		break;
	case HOST_LAUNCH:
		launch_add(r, e);
		break;
	case HOST_PROFILER:
		span_add(r, &r->facts->profiler, e, 0);
		break;
	case HOST_ALLOCATION:
	case HOST_DEALLOCATION:
		allocator_sample(r, e);
		break;
	default:
		break;
	}
}

static const uint64_t wanted_stats =
	STAT_BIT(NAME) | STAT_BIT(ALLOCATOR_NAME) | STAT_BIT(INDEX_ON_HOST) |
	STAT_BIT(DEVICE_ORDINAL) | STAT_BIT(BYTES_RESERVED) | STAT_BIT(BYTES_ALLOCATED) |
	STAT_BIT(BYTES_AVAILABLE) | STAT_BIT(FRAGMENTATION) | STAT_BIT(PEAK_BYTES_IN_USE) |
	STAT_BIT(ALLOCATION_BYTES) | STAT_BIT(ADDR);
static const uint64_t wanted_classes = 1u << HOST_STEP | 1u << HOST_COMPILE | 1u << HOST_COMPILER |
				       1u << HOST_LAUNCH | 1u << HOST_PROFILER |
				       1u << HOST_ALLOCATION | 1u << HOST_DEALLOCATION;

/* ---- threads of a host ----------------------------------------------------------------------- */

/* A part is searched in two milliseconds; a lane of less than two is one part. */
#define PART_BYTES ((ptrdiff_t)2 << 20)
/* Parts that may be found before they are read: what they hold of the file stays in memory. */
#define PARTS_AHEAD 4

/*
 * A stretch of a host's thread.  One event in ten is asked for: tasks search for these, each in a
 * part of its own, and whoever has searched the next part reads what was found, in order.
 *
 *	task 0   search 0 | read 0 | search 2          | read 1, 2
 *	task 1   search 1                  | search 3       | search 4
 */
struct part {
	const struct plane *plane;
	struct lane *whole;
	struct lane_part of;
	int32_t thread;
	const char **found;
	ptrdiff_t count, cap;
	struct plane_lost lost;
	struct arena work;
	bool is_searched, failed;
	struct diag *err;
};

struct finding {
	struct reading *reading;
	struct part *parts;
	ptrdiff_t count, next; /* to be read */
	bool is_reading;
	pthread_mutex_t lock; /* of next, is_reading, and the parts' is_searched */
	pthread_cond_t changed;
};

static void part_search(struct part *p)
{
	struct event *e = arena_make(&p->work, struct event, 1);
	struct cursor *c = cursor_new(p->plane, &p->of.lane, 0, &p->work);
	const char *at;

	cursor_only(c, wanted_classes);
	cursor_note(c, &p->of.lane, &p->work); /* for gap_causes.c */
	while ((at = cursor_find(c, e)))
		*arena_push(&p->work, p->found, p->count, p->cap) = at;
	p->lost = cursor_lost(c);
	p->err = arena_make(&p->work, struct diag, 1);
	p->failed = !cursor_end(c, p->err);
}

/* What was found in it, or else all of it. */
static bool part_read(struct reading *r, struct part *p, struct diag *err)
{
	struct arena scratch = r->scratch;
	struct event *e = arena_make(&r->scratch, struct event, 1);
	struct cursor *c = cursor_new(p->plane, &p->of.lane, wanted_stats, &r->scratch);
	ptrdiff_t i = 0;

	cursor_only(c, wanted_classes);
	if (!p->is_searched)
		cursor_note(c, &p->of.lane, &r->scratch);
	r->thread = p->thread;
	while (p->is_searched ? i < p->count && cursor_read(c, p->found[i++], e)
			      : cursor_next(c, e))
		event_sort_out(r, e);
	r->facts->lost.events += p->lost.events + cursor_lost(c).events;
	r->facts->lost.of_events += p->is_searched ? p->lost.of_events : cursor_lost(c).of_events;
	lane_join(p->whole, &p->of, r->keep);
	r->scratch = scratch;
	if (p->failed)
		*err = *p->err;
	return !p->failed && cursor_end(c, err);
}

static void part_task(void *arg, ptrdiff_t i)
{
	struct finding *f = arg;

	pthread_mutex_lock(&f->lock);
	while (i >= f->next + PARTS_AHEAD)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
	f->parts[i].work = arena_new(ARENA_SCRATCH_BYTES);
	part_search(&f->parts[i]);
	pthread_mutex_lock(&f->lock);
	f->parts[i].is_searched = true;
	while (!f->is_reading && f->next < f->count && f->parts[f->next].is_searched) {
		struct part *p = &f->parts[f->next];
		f->is_reading = true;
		pthread_mutex_unlock(&f->lock);
		if (f->reading->ok)
			f->reading->ok = part_read(f->reading, p, f->reading->err);
		profile_drop_part(p->plane->profile, p->of.bytes);
		arena_free(&p->work);
		pthread_mutex_lock(&f->lock);
		f->is_reading = false;
		f->next++;
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
}

/* All parts of all lanes, in order. */
static struct part *host_parts(
	struct reading *r, struct profile *p, ptrdiff_t bytes, ptrdiff_t *count)
{
	struct part *parts = NULL;
	ptrdiff_t cap = 0, n;

	for (ptrdiff_t i = 0; i < p->plane_count; i++)
		for (ptrdiff_t k = 0; k < p->planes[i].lane_count; k++) {
			struct lane *l = &p->planes[i].lanes[k];
			if (p->planes[i].class != PLANE_HOST)
				continue;
			struct lane_part *of = lane_parts(p, l, bytes, &r->scratch, &n);
			l->piece_count = 0;
			l->classes = 0;
			l->thread = ++r->threads;
			for (ptrdiff_t at = 0; at < n; at++)
				*arena_push(&r->scratch, parts, *count, cap) =
					(struct part){ .plane = &p->planes[i],
						.whole = l,
						.of = of[at],
						.thread = l->thread };
		}
	return parts;
}

/* In any order of the tasks, as if each part were read behind the one before it. */
static void parts_read(struct finding *f, int tasks)
{
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	task_threads(part_task, f, f->count, tasks);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
}

static void host_read(struct reading *r, struct profile *p, ptrdiff_t part_bytes, int tasks)
{
	struct arena scratch = r->scratch;
	struct finding f = { .reading = r };
	int64_t bytes = 0;

	r->allocators = (struct map){ 0 };
	r->allocation_count = 0;
	f.parts = host_parts(r, p, part_bytes, &f.count);
	for (ptrdiff_t i = 0; i < f.count; i++)
		bytes += f.parts[i].of.bytes.len;
	if (tasks > 1 && bytes >= 2 * PART_BYTES)
		parts_read(&f, tasks);
	for (; r->ok && f.next < f.count; f.next++)
		r->ok = part_read(r, &f.parts[f.next], r->err);
	r->scratch = scratch;
	if (r->ok)
		allocations_check(r);
	profile_drop(p);
}

static int span_cmp(const void *a, const void *b)
{
	const struct host_span *x = a, *y = b;
	int order = order_integers(x->host, y->host);

	order = order ? order : order_integers(x->start_ps, y->start_ps);
	order = order ? order : order_integers(y->end_ps, x->end_ps);
	return order ? order : str_cmp(x->name, y->name);
}

static void spans_sort(struct host_spans *s, struct arena *keep)
{
	sort_by(s->items, s->count, span_cmp);
	s->unions = arena_make(keep, struct host_span, s->count);
	for (ptrdiff_t i = 0; i < s->count; i++) {
		struct host_span *last = s->union_count > 0 ? &s->unions[s->union_count - 1] : NULL;
		if (last && last->host == s->items[i].host &&
			s->items[i].start_ps <= last->end_ps) {
			if (s->items[i].end_ps > last->end_ps)
				last->end_ps = s->items[i].end_ps;
		} else {
			s->unions[s->union_count++] = s->items[i];
		}
	}
}

/* Of a crowd of compilers at work at one time only the first are looked at. */
#define COMPILERS_LOOKED 64

/* The first that a compiler began and ended within a compilation is what was compiled. */
static void compiles_name(struct host_spans *compiles, const struct host_spans *compilers)
{
	for (ptrdiff_t i = 0; i < compiles->count; i++) {
		struct host_span *c = &compiles->items[i];
		const struct host_span *x = compilers->items;
		ptrdiff_t at, end;
		FIND_FIRST(at, 0, compilers->count,
			x[at].host == c->host ? x[at].start_ps >= c->start_ps
					      : x[at].host > c->host);
		end = at + COMPILERS_LOOKED;
		end = end < compilers->count ? end : compilers->count;
		for (; at < end && x[at].host == c->host && x[at].start_ps < c->end_ps; at++)
			if (x[at].end_ps <= c->end_ps) {
				c->name = x[at].name;
				break;
			}
	}
}

/* Names of one form, "train_*", in the thread that has them first. */
struct name_form {
	int32_t host, thread;
	int64_t spans, names;
};

/* Fewer are not told from stages or phases of a program. */
#define COUNTED_MIN 3

/* Each run of digits is a star. */
static struct str form_of(struct str name, struct arena *keep)
{
	ptrdiff_t i = 0;

	while (i < name.len && !is_digit(name.p[i]))
		i++;
	if (i == name.len)
		return name;
	struct out *o = out_memory(keep);
	for (i = 0; i < name.len; i++)
		if (!is_digit(name.p[i]))
			out_char(o, name.p[i]);
		else if (!i || !is_digit(name.p[i - 1]))
			out_char(o, '*');
	return out_text(o);
}

/*
 * "train_1", "train_2": annotations that are numbered by their names become one, "train_*".  The
 * number is a counter where most names come only once; that of a bucket or a stage comes again.
 */
static void names_uncount(struct host_spans *steps, struct arena *keep)
{
	struct map names = { 0 }, by_form = { 0 };
	struct name_form *forms = NULL;
	struct str *form = arena_make(keep, struct str, steps->count);
	int32_t *form_at = arena_make(keep, int32_t, steps->count);
	ptrdiff_t count = 0, cap = 0;

	for (ptrdiff_t i = 0; i < steps->count; i++) {
		const struct host_span *s = &steps->items[i];
		form[i] = form_of(s->name, keep);
		form_at[i] = map_put(&by_form, form[i], (int32_t)count, keep);
		if (form_at[i] == count)
			*arena_push(keep, forms, count, cap) =
				(struct name_form){ s->host, s->thread, 0, 0 };
		struct name_form *f = &forms[form_at[i]];
		if (f->host != s->host || f->thread != s->thread)
			continue;
		f->spans++;
		f->names += map_put(&names, s->name, (int32_t)i, keep) == i;
	}
	for (ptrdiff_t i = 0; i < steps->count; i++) {
		const struct name_form *f = &forms[form_at[i]];
		if (f->names >= COUNTED_MIN && 2 * f->names > f->spans)
			steps->items[i].name = form[i];
	}
}

static bool facts_read(struct profile *hosts, ptrdiff_t host_count, ptrdiff_t part_bytes, int tasks,
	struct arena *keep, struct host_facts *ret, struct diag *err)
{
	struct reading r = { .facts = ret,
		.keep = keep,
		.scratch = arena_new(ARENA_SCRATCH_BYTES),
		.ok = true,
		.err = err };

	*ret = (struct host_facts){ 0 };
	r.allocations = (struct allocation *)(void *)arena_room(
		&r.scratch, ALLOCATIONS_MAX * (ptrdiff_t)sizeof(struct allocation));
	for (; r.ok && r.host < host_count; r.host++)
		host_read(&r, &hosts[r.host], part_bytes, tasks);
	arena_free(&r.scratch);
	if (!r.ok)
		return false;
	spans_sort(&ret->steps, keep);
	names_uncount(&ret->steps, keep);
	spans_sort(&ret->compiles, keep);
	sort_by(r.compilers.items, r.compilers.count, span_cmp);
	compiles_name(&ret->compiles, &r.compilers);
	spans_sort(&ret->profiler, keep);
	spans_sort(&ret->launches, keep);
	return true;
}

/* Where a part was damaged it may have begun amid an event: once more, all lanes whole. */
bool host_facts_read(struct profile *hosts, ptrdiff_t host_count, int threads, struct arena *keep,
	struct host_facts *ret, struct diag *err)
{
	return facts_read(hosts, host_count, PART_BYTES, threads, keep, ret, err) ||
	       facts_read(hosts, host_count, PTRDIFF_MAX / 2, 1, keep, ret, err);
}

bool host_spans_meet(const struct host_spans *s, int32_t host, int64_t from_ps, int64_t to_ps)
{
	const struct host_span *u = s->unions;
	ptrdiff_t i;

	FIND_FIRST(
		i, 0, s->union_count, u[i].host == host ? u[i].end_ps > from_ps : u[i].host > host);
	return i < s->union_count && u[i].host == host && u[i].start_ps < to_ps;
}
