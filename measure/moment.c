/*
 * Of which step, and on which devices, a picture is drawn.
 *
 * The step is the earliest steady one of the first device whose length is within 2% of the median,
 * so that little is read again.  Of many devices the first is drawn, and those that a reader looks
 * for: the one that keeps the others waiting, the one that waits most, and the median between them.
 */
#include <math.h>
#include <stdlib.h>

#include "measure/measured.h"

/* How far from the median a step may be and still stand for the others. */
#define TYPICAL 0.02
/* Devices that differ by less than this share of a step are alike: none is called slow. */
#define ALIKE 0.01

/* ---- the step -------------------------------------------------------------------------------- */

static int64_t length_of(const struct swept_step *s)
{
	return s->end_ps - s->start_ps;
}

static bool is_steady(const struct swept_step *s)
{
	return s->complete && !s->warmup && s->end_ps > s->start_ps;
}

/* Of the steady steps; 0 when there are none. */
static int64_t median_length(const struct sweep *s, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, s->step_count);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (is_steady(&s->steps[i]))
			lengths[n++] = length_of(&s->steps[i]);
	if (n == 0)
		return 0;
	sort_integers(lengths, n);
	return lengths[(n - 1) / 2];
}

/* The median is the length of one of them, so there is one when there are any. */
static const struct swept_step *representative(const struct sweep *s, struct arena scratch)
{
	int64_t median_ps = median_length(s, scratch);

	for (ptrdiff_t i = 0; i < s->step_count; i++) {
		const struct swept_step *step = &s->steps[i];
		double off = fabs((double)(length_of(step) - median_ps));
		if (is_steady(step) && off <= TYPICAL * (double)median_ps)
			return step;
	}
	return NULL;
}

static const struct swept_step *step_numbered(const struct sweep *s, int64_t number)
{
	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (s->steps[i].number == number && is_steady(&s->steps[i]))
			return &s->steps[i];
	return NULL;
}

/* ---- the devices ----------------------------------------------------------------------------- */

/* Of a steady step: what a device takes when it does not wait for others. */
static double own_s(const struct sweep *s)
{
	struct mask_sum sum = mask_sum(s->mask_ps, s->idle_ps);
	double steps = (double)s->steady_count;

	return steps > 0 ? ((double)s->steady_ps * PS - sum.exposed) / steps : (double)NAN;
}

static int by_own(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->own_s != y->own_s)
		return x->own_s > y->own_s ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static int by_place(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	return x->device < y->device ? -1 : x->device > y->device;
}

static ptrdiff_t devices_with(
	const struct measured *m, const struct swept_step *step, struct shown *all)
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		const struct swept_step *its =
			d == m->first ? step : step_numbered(&d->sweep, step->number);
		if (its)
			all[n++] = (struct shown){ d, its, own_s(&d->sweep), MOMENT_OTHER };
	}
	return n;
}

static void name_roles(struct shown *all, ptrdiff_t n, double step_s)
{
	qsort(all, (size_t)n, sizeof(*all), by_own);
	if (n < 2 || !(all[0].own_s - all[n - 1].own_s > ALIKE * step_s))
		return;
	all[(n - 1) / 2].role = MOMENT_MEDIAN;
	all[n - 1].role = MOMENT_WAITING;
	all[0].role = MOMENT_SLOWEST;
}

/* Those with a role, the first, and then the next in their order until the picture is full. */
static ptrdiff_t keep_some(const struct measured *m, struct shown *all, ptrdiff_t n)
{
	ptrdiff_t kept = 0, room = MOMENT_DEVICES;

	for (ptrdiff_t i = 0; i < n; i++)
		room -= all[i].role != MOMENT_OTHER || all[i].device == m->first;
	for (ptrdiff_t i = 0; i < n; i++) {
		bool is_named = all[i].role != MOMENT_OTHER || all[i].device == m->first;
		if (is_named || room-- > 0)
			all[kept++] = all[i];
	}
	return kept;
}

ptrdiff_t moment_devices(const struct measured *m, struct shown **ret, ptrdiff_t *left_out)
{
	const struct swept_step *step =
		m->first ? representative(&m->first->sweep, *m->keep) : NULL;

	if (!step)
		return 0;
	*ret = arena_make(m->keep, struct shown, m->device_count);
	ptrdiff_t n = devices_with(m, step, *ret);
	name_roles(*ret, n, (double)length_of(step) * PS);
	qsort(*ret, (size_t)n, sizeof(**ret), by_place);
	ptrdiff_t kept = keep_some(m, *ret, n);
	*left_out = n - kept;
	return kept;
}
