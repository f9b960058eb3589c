/*
 * What the events of one name have in common.  See trace.h.
 *
 *	{"bytes_accessed":"10264","device_offset_ps":"1145398025210","hlo_category":"slice"}
 *	 `------ front ---------'                                   `--------- tail --------'
 *
 * A name's front and tail are what two events of it begin and end alike in, from a comma on and up
 * to one; the tail is all of its last event's arguments as long as that is the only one.  Names
 * share a fixed number of places; who comes last has one.
 *
 * A head is all of an event in front of its time: the same for all events of a thread.
 */
#include <string.h>

#include "profile/trace.h"

/* Ops of a large program, and the arguments of one with a long HLO text: 36 MiB when all are so. */
enum { PLACES = 1 << 13, WAYS = 4, FRONT_MAX = 512, TAIL_MAX = 4 << 10 };
enum { PIECE_UNIT = 128, PIECE_ARGS = 16 };

/* Arguments that stand together. */
struct trace_piece {
	char *bytes;
	uint64_t present;
	int32_t len, cap; /* len 0: none */
	int32_t arg_count;
	struct piece_arg {
		uint64_t hash;
		uint16_t at, len;
		uint8_t arg;
	} args[PIECE_ARGS];
};
_Static_assert(TAIL_MAX <= UINT16_MAX, "places in a piece are 16 bits");

struct trace_tail {
	uint64_t name;		  /* its hash */
	struct trace_tail *after; /* of the event that came behind the last one of this name */
	struct trace_memo memo;
	int32_t ahead, skip;	  /* arguments in the front; in front of the tail */
	struct trace_piece front; /* with the comma behind it, so that its last value ends there */
	struct trace_piece tail;
};

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
		t->front.len = t->tail.len = 0;
	t->name = place->name = name;
	return t;
}

static void fetch(const void *bytes, ptrdiff_t len)
{
	enum { LINE = 64 };
	for (ptrdiff_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)bytes + i);
}

/* All of the largest program's tails fit into no cache, but it runs its ops in the same order. */
static void expect(const struct trace_tail *t)
{
	if (!t)
		return;
	fetch(t, sizeof(*t));
	fetch(t->front.bytes, t->front.len);
	fetch(t->tail.bytes, t->tail.len);
}

void trace_members_begin(struct trace_members *m, struct trace_tails *all, struct trace_event *e)
{
	struct trace_tail *last = all->last;
	e->present = 0;
	e->is_said_twice = false;
	e->name.hash = trace_text_hash(e->name);
	m->keep = all->keep;
	m->first = true;
	m->known = m->count = 0;
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

static bool piece_take(const struct trace_piece *p, struct jscan *s, struct trace_event *e)
{
	struct str rest = str_span(s->at, s->end);
	if (!p->len || !str_starts(rest, (struct str){ p->bytes, p->len }))
		return false;
	for (const struct piece_arg *a = p->args; a < p->args + p->arg_count; a++)
		e->args[a->arg] = (struct trace_text){ { rest.p + a->at, a->len }, a->hash };
	e->present |= p->present;
	s->at = str_from_offset(rest, p->len).p;
	return true;
}

/* One that is no longer alike is none, until another is learned; not where the window ends. */
static void front_take(struct trace_members *m, struct jscan *s, struct trace_event *e)
{
	struct trace_tail *t = m->tail;
	if (piece_take(&t->front, s, e)) {
		s->at--;
		m->first = false;
		m->known = m->count = t->ahead;
	} else if (s->end - s->at >= t->front.len) {
		t->front.len = 0;
	}
}

bool trace_members_alike(struct trace_members *m, struct jscan *s, struct trace_event *e)
{
	const struct trace_tail *t = m->tail;
	if (!m->count)
		front_take(m, s, e);
	int before = m->count++;
	if (before < TRACE_MEMBERS)
		m->at[before] = s->at;
	return before == t->skip && piece_take(&t->tail, s, e);
}

/* How many bytes two texts begin, and end, alike in. */
static ptrdiff_t begins_alike(struct str a, struct str b)
{
	ptrdiff_t n = 0, most = a.len < b.len ? a.len : b.len;
	while (n < most && a.p[n] == b.p[n])
		n++;
	return n;
}

static ptrdiff_t ends_alike(struct str a, struct str b)
{
	ptrdiff_t n = 0, most = a.len < b.len ? a.len : b.len;
	while (n < most && a.p[a.len - 1 - n] == b.p[b.len - 1 - n])
		n++;
	return n;
}

static bool piece_keep(struct trace_piece *p, struct str bytes, ptrdiff_t most, struct arena *keep)
{
	p->len = 0;
	if (bytes.len > most)
		return false;
	if (bytes.len > p->cap) {
		p->cap = (int32_t)((bytes.len + PIECE_UNIT - 1) / PIECE_UNIT * PIECE_UNIT);
		p->bytes = arena_make(keep, char, p->cap);
	}
	memcpy(p->bytes, bytes.p, (size_t)bytes.len);
	p->len = (int32_t)bytes.len;
	return true;
}

/* Texts that lie in the piece; without room for all of them there is none. */
static void piece_args(struct trace_piece *p, struct str bytes, struct trace_event *e)
{
	p->present = 0;
	p->arg_count = 0;
	for (uint64_t rest = e->present; rest; rest &= rest - 1) {
		int arg = __builtin_ctzll(rest);
		struct trace_text *text = &e->args[arg];
		ptrdiff_t at = text->text.p - bytes.p;
		if (at < 0 || at >= bytes.len)
			continue;
		if (p->arg_count == PIECE_ARGS) {
			p->len = 0;
			return;
		}
		text->hash = trace_text_hash(*text);
		p->args[p->arg_count++] = (struct piece_arg){ text->hash, (uint16_t)at,
			(uint16_t)text->text.len, (uint8_t)arg };
		p->present |= UINT64_C(1) << arg;
	}
}

static void piece_learn(struct trace_piece *p, struct str bytes, ptrdiff_t most,
	struct trace_event *e, struct arena *keep)
{
	if (piece_keep(p, bytes, most, keep))
		piece_args(p, bytes, e);
}

/* From a last event that is known as a whole, and this one.  Of an argument that is said again only
 * the last text is known, which may lie behind the front. */
static void front_learn(struct trace_members *m, struct str whole, struct trace_event *e)
{
	struct trace_tail *t = m->tail;
	struct str old = { t->tail.bytes, t->tail.len };
	ptrdiff_t alike = begins_alike(old, whole);
	int n = 0;
	while (n + 1 < m->count && m->at[n + 1] - whole.p < alike)
		n++;
	t->ahead = n;
	t->front.len = 0;
	if (n > 0 && *m->at[n] == ',' && !e->is_said_twice)
		piece_learn(&t->front, str_span(whole.p, m->at[n] + 1), FRONT_MAX, e, m->keep);
}

/*
 * In front of how many arguments the new tail begins: where the old one and these end alike, unless
 * that is less than half of the old one, for then they are of different ops.
 */
static int tail_begin(const struct trace_members *m, struct str whole)
{
	const struct trace_piece *t = &m->tail->tail;
	struct str old = { t->bytes, t->len };
	ptrdiff_t alike = t->len ? ends_alike(old, whole) : 0;
	int n = m->known;
	if (2 * alike < t->len || !alike)
		return n;
	while (n < m->count && whole.len - (m->at[n] - whole.p) > alike)
		n++;
	return n;
}

void trace_members_end(struct trace_members *m, const char *end, struct trace_event *e)
{
	struct trace_tail *t = m->tail;
	if (m->count > TRACE_MEMBERS)
		return;
	struct str whole = str_span(m->at[m->known], end);
	int skip = tail_begin(m, whole);
	if (skip == m->count)
		return;
	if (!m->known && !t->skip && skip)
		front_learn(m, whole, e);
	t->skip = skip;
	piece_learn(&t->tail, str_span(m->at[skip], end), TAIL_MAX, e, m->keep);
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
