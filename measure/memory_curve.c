/* Slots of time, joined two by two when there are too many.  See memory_curve.h. */
#include "measure/memory_curve.h"

#include <string.h>

#include "base/stats.h"

static uint64_t from_zero(int64_t at_ps)
{
	return (uint64_t)at_ps + (UINT64_C(1) << 63);
}

static void slot_add(struct curve_slot *s, int64_t most, int64_t least)
{
	s->most = most > s->most ? most : s->most;
	s->least = least < s->least ? least : s->least;
}

/* Slots twice as long. */
static void coarsen(struct curve *c)
{
	ptrdiff_t kept = 0;

	c->shift++;
	for (ptrdiff_t i = 0; i < c->count; i++) {
		struct curve_slot s = c->slots[i];
		s.at >>= 1;
		if (kept > 0 && c->slots[kept - 1].at == s.at)
			slot_add(&c->slots[kept - 1], s.most, s.least);
		else
			c->slots[kept++] = s;
	}
	c->count = kept;
}

void curve_add(struct curve *c, int64_t at_ps, int64_t value)
{
	if (c->samples++ == 0) {
		c->shift = CURVE_SHIFT;
		c->first_ps = c->last_ps = at_ps;
	}
	c->first_ps = at_ps < c->first_ps ? at_ps : c->first_ps;
	c->last_ps = at_ps > c->last_ps ? at_ps : c->last_ps;
	for (;;) {
		uint64_t at = from_zero(at_ps) >> c->shift;
		ptrdiff_t i;
		FIND_FIRST(i, 0, c->count, c->slots[i].at >= at);
		if (i < c->count && c->slots[i].at == at) {
			slot_add(&c->slots[i], value, value);
			return;
		}
		if (c->count < CURVE_SLOTS) {
			memmove(&c->slots[i + 1], &c->slots[i],
				(size_t)(c->count - i) * sizeof(*c->slots));
			c->slots[i] = (struct curve_slot){ at, value, value };
			c->count++;
			return;
		}
		coarsen(c);
	}
}

int64_t curve_slot_ps(const struct curve *c)
{
	return INT64_C(1) << c->shift;
}

int64_t curve_at_ps(const struct curve *c, ptrdiff_t i)
{
	int64_t at_ps = (int64_t)((c->slots[i].at << c->shift) - (UINT64_C(1) << 63));

	return at_ps > c->first_ps ? at_ps : c->first_ps;
}

/* Of fewer each tells a lot, and no two halves can be compared. */
#define GROWTH_SLOTS 8

int64_t curve_growth(const struct curve *c)
{
	int64_t kept = INT64_MAX, last = 0, middle = 0, middle_ps;

	if (c->count < GROWTH_SLOTS)
		return -1;
	middle_ps = c->first_ps + (c->last_ps - c->first_ps) / 2;
	last = c->slots[c->count - 1].least;
	for (ptrdiff_t i = c->count; i-- > 0;) {
		kept = c->slots[i].least < kept ? c->slots[i].least : kept;
		middle = curve_at_ps(c, i) >= middle_ps ? kept : middle;
	}
	int64_t least = (last - kept) / 4;
	return middle - kept > least && last - middle > least ? last - kept : 0;
}
