/*
 * What the events of one name have in common.  See trace.h.
 *
 *	{"device_duration_ps":"1320528","device_offset_ps":"1145398025210","hlo_category":"slice"}
 *	                                                                 `--------- tail --------'
 *
 * A name's tail is what its last two events end alike in, from a comma on, or all of its last
 * event's arguments.  Names share a fixed number of places; who comes last has one.
 *
 * A head is all of an event in front of its time: the same for all events of a thread.
 */
#include <string.h>

#include "profile/trace.h"

/* Ops of a large program, and the arguments of one with a long HLO text: 32 MiB when all are so. */
enum { PLACES = 1 << 13, WAYS = 4, TAIL_MAX = 4 << 10, TAIL_UNIT = 128, TAIL_ARGS = 16 };

struct trace_tail {
	uint64_t name;		  /* its hash */
	struct trace_tail *after; /* of the event that came behind the last one of this name */
	struct trace_memo memo;
	uint64_t present;
	char *bytes;
	int32_t len, cap, skip; /* skip: arguments in front of it */
	int32_t arg_count;
	struct tail_arg {
		uint64_t hash;
		uint16_t at, len;
		uint8_t arg;
	} args[TAIL_ARGS];
};
_Static_assert(TAIL_MAX <= UINT16_MAX, "places in a tail are 16 bits");

struct trace_tails {
	struct arena *keep;
	struct trace_tail *last;
	struct tail_place {
		uint64_t name;
		struct trace_tail *tail; /* NULL: free */
	} places[PLACES];
};

/* ---- texts ----------------------------------------------------------------------------------- */

static inline uint64_t load64(const char *p)
{
	uint64_t x;
	memcpy(&x, p, sizeof(x));
	return x;
}

/* Of long texts, by far most of a trace: four words at a time, in lanes that do not wait for each
 * other. */
uint64_t trace_hash(struct str s)
{
	const uint64_t k = UINT64_C(0x9fb21c651e98df25);
	uint64_t lanes[4] = { 1, 2, 3, 4 };
	const char *p = s.p, *end = s.p + s.len;
	for (; end - p >= 32; p += 32)
		for (int i = 0; i < 4; i++) {
			uint64_t h = (lanes[i] ^ load64(p + 8 * i)) * k;
			lanes[i] = h ^ h >> 32;
		}
	for (int i = 0; end - p >= 8; p += 8, i++)
		lanes[i] = id_hash(lanes[i] ^ load64(p));
	uint64_t rest = (uint64_t)s.len;
	while (p < end)
		rest = rest << 8 | (unsigned char)*p++;
	uint64_t h = id_hash(rest ^ lanes[0]);
	h = id_hash(h ^ lanes[1] * 3 ^ (lanes[2] * 5 + lanes[3] * 7));
	return h + !h;
}

/* ---- tails ----------------------------------------------------------------------------------- */

struct trace_tails *trace_tails_new(struct arena *keep)
{
	struct trace_tails *all = arena_make(keep, struct trace_tails, 1);
	all->keep = keep;
	return all;
}

/* The name's own place, a free one, or another's. */
static struct tail_place *place_of(struct trace_tails *all, uint64_t name)
{
	struct tail_place *set = &all->places[name % (PLACES / WAYS) * WAYS];
	for (int i = 0; i < WAYS; i++)
		if (!set[i].tail || set[i].name == name)
			return &set[i];
	return &set[(name >> 32) % WAYS];
}

static struct trace_tail *tail_of(struct trace_tails *all, uint64_t name)
{
	struct tail_place *place = place_of(all, name);
	if (!place->tail)
		place->tail = arena_make(all->keep, struct trace_tail, 1);
	struct trace_tail *t = place->tail;
	if (t->name != name)
		t->len = 0;
	t->name = place->name = name;
	return t;
}

/* All of the largest program's tails fit into no cache, but it runs its ops in the same order. */
static void expect(const struct trace_tail *t)
{
	enum { LINE = 64 };
	if (!t)
		return;
	for (size_t i = 0; i < sizeof(*t); i += LINE)
		__builtin_prefetch((const char *)t + i);
	for (int32_t i = 0; i < t->len; i += LINE)
		__builtin_prefetch(t->bytes + i);
}

void trace_members_begin(struct trace_members *m, struct trace_tails *all, struct trace_event *e)
{
	struct trace_tail *last = all->last;
	e->present = 0; /* the last of equal keys counts */
	e->name.hash = trace_text_hash(e->name);
	m->keep = all->keep;
	m->count = 0;
	if (last && last->after && last->after->name == e->name.hash)
		m->tail = last->after;
	else
		m->tail = tail_of(all, e->name.hash);
	if (last)
		last->after = m->tail;
	all->last = m->tail;
	expect(m->tail->after);
	e->memo = &m->tail->memo;
}

bool trace_members_alike(struct trace_members *m, struct jscan *s, struct trace_event *e)
{
	const struct trace_tail *t = m->tail;
	struct str rest = str_span(s->at, s->end);
	int before = m->count++;
	if (before < TRACE_MEMBERS)
		m->at[before] = s->at;
	if (before != t->skip || !t->len || !str_starts(rest, (struct str){ t->bytes, t->len }))
		return false;
	for (const struct tail_arg *a = t->args; a < t->args + t->arg_count; a++)
		e->args[a->arg] = (struct trace_text){ { rest.p + a->at, a->len }, a->hash };
	e->present |= t->present;
	s->at = str_from_offset(rest, t->len).p;
	return true;
}

/* How many bytes two texts end alike in. */
static ptrdiff_t ends_alike(struct str a, struct str b)
{
	ptrdiff_t n = 0, most = a.len < b.len ? a.len : b.len;
	while (n < most && a.p[a.len - 1 - n] == b.p[b.len - 1 - n])
		n++;
	return n;
}

/*
 * In front of how many arguments the new tail begins: where the old one and these end alike, unless
 * that is less than half of the old one, for then they are of different ops.
 */
static int tail_begin(const struct trace_members *m, struct str whole)
{
	const struct trace_tail *t = m->tail;
	struct str old = { t->bytes, t->len };
	ptrdiff_t alike = t->len ? ends_alike(old, whole) : 0;
	int n = 0;
	if (2 * alike < t->len || !alike)
		return 0;
	while (n < m->count && whole.len - (m->at[n] - whole.p) > alike)
		n++;
	return n;
}

static bool tail_keep(struct trace_tail *t, struct str bytes, struct arena *keep)
{
	t->len = 0;
	if (bytes.len > TAIL_MAX)
		return false;
	if (bytes.len > t->cap) {
		t->cap = (int32_t)((bytes.len + TAIL_UNIT - 1) / TAIL_UNIT * TAIL_UNIT);
		t->bytes = arena_make(keep, char, t->cap);
	}
	memcpy(t->bytes, bytes.p, (size_t)bytes.len);
	t->len = (int32_t)bytes.len;
	return true;
}

/* Texts that lie in the tail; without room for all of them there is none. */
static void tail_args(struct trace_tail *t, struct str bytes, struct trace_event *e)
{
	t->present = 0;
	t->arg_count = 0;
	for (uint64_t rest = e->present; rest; rest &= rest - 1) {
		int arg = __builtin_ctzll(rest);
		struct trace_text *text = &e->args[arg];
		ptrdiff_t at = text->text.p - bytes.p;
		if (at < 0)
			continue;
		if (t->arg_count == TAIL_ARGS) {
			t->len = 0;
			return;
		}
		text->hash = trace_text_hash(*text);
		t->args[t->arg_count++] = (struct tail_arg){ text->hash, (uint16_t)at,
			(uint16_t)text->text.len, (uint8_t)arg };
		t->present |= UINT64_C(1) << arg;
	}
}

void trace_members_end(struct trace_members *m, const char *end, struct trace_event *e)
{
	if (m->count > TRACE_MEMBERS)
		return;
	struct str whole = str_span(m->at[0], end);
	int skip = tail_begin(m, whole);
	if (skip == m->count)
		return;
	struct str bytes = str_span(m->at[skip], end);
	m->tail->skip = skip;
	if (tail_keep(m->tail, bytes, m->keep))
		tail_args(m->tail, bytes, e);
}

/* ---- heads ----------------------------------------------------------------------------------- */

bool trace_head_alike(const struct trace_head *h, struct jscan *s, struct trace_event *e)
{
	struct str rest = str_span(s->at, s->end), head = { h->bytes, h->len };
	if (!h->len || !str_take(&rest, head))
		return false;
	e->phase = h->phase;
	e->pid = h->pid;
	e->tid = h->tid;
	s->at = rest.p;
	return true;
}

void trace_head_learn(
	struct trace_head *h, const char *begin, const char *end, const struct trace_event *e)
{
	struct str bytes = str_span(begin, end);
	if (bytes.len > (ptrdiff_t)sizeof(h->bytes) || !e->phase || e->pid < 0 || e->tid < 0)
		return;
	memcpy(h->bytes, bytes.p, (size_t)bytes.len);
	h->len = bytes.len;
	h->phase = e->phase;
	h->pid = e->pid;
	h->tid = e->tid;
}
