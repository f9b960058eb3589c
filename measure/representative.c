/*
 * Of which step, and on which devices, a picture is drawn.
 *
 * The step is the earliest steady one of the first device whose length is within 2% of the median,
 * so that little is read again.  Of many devices the first is drawn, and those that a reader looks
 * for: the one that keeps the others waiting, the one that waits most, and the median between them.
 */
#include <math.h>
#include <stdlib.h>

#include "measure/writers.h"

/* How far from the median a step may be and still stand for the others. */
#define TYPICAL 0.02
/* Devices that differ by less than this share of a step are alike: none is called slow. */
#define ALIKE 0.01

/* A length of zero stands for nothing. */
static bool stands_for_others(const struct swept_step *s)
{
	return step_is_steady(s) && s->end_ps > s->start_ps;
}

/* The median is the length of one of them, so there is one when any is steady. */
static const struct swept_step *typical_step(const struct sweep *s, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, s->step_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (stands_for_others(&s->steps[i]))
			lengths[n++] = step_length_ps(&s->steps[i]);
	sort_integers(lengths, n);
	double median_ps = n ? (double)lengths[(n - 1) / 2] : 0;
	for (ptrdiff_t i = 0; i < s->step_count; i++) {
		double off = fabs((double)step_length_ps(&s->steps[i]) - median_ps);
		if (stands_for_others(&s->steps[i]) && off <= TYPICAL * median_ps)
			return &s->steps[i];
	}
	return NULL;
}

static const struct swept_step *step_numbered(const struct sweep *s, int64_t number)
{
	for (ptrdiff_t i = 0; i < s->step_count; i++)
		if (s->steps[i].number == number && stands_for_others(&s->steps[i]))
			return &s->steps[i];
	return NULL;
}

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
	int order = order_numbers(y->own_s, x->own_s);

	return order ? order : order_integers(x->device - y->device, 0);
}

static int by_place(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	return order_integers(x->device - y->device, 0);
}

static void name_roles(struct shown *all, ptrdiff_t n, double step_s)
{
	qsort(all, (size_t)n, sizeof(*all), by_own);
	if (n < 2 || !(all[0].own_s - all[n - 1].own_s > ALIKE * step_s))
		return;
	all[(n - 1) / 2].role = SHOWN_MEDIAN;
	all[n - 1].role = SHOWN_WAITING;
	all[0].role = SHOWN_SLOWEST;
}

ptrdiff_t representative_step(
	const struct capture *in, const struct swept *run, struct shown **ret, ptrdiff_t *left_out)
{
	const struct swept_step *step =
		run->first ? typical_step(&run->first->sweep, *in->keep) : NULL;
	struct shown *all = arena_make(in->keep, struct shown, run->device_count);
	ptrdiff_t n = 0, kept = 0, room = SHOWN_DEVICES;

	*ret = all;
	if (!step)
		return 0;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		const struct swept_step *its =
			d == run->first ? step : step_numbered(&d->sweep, step->number);
		if (its)
			all[n++] = (struct shown){ d, its, own_s(&d->sweep), SHOWN_OTHER };
	}
	name_roles(all, n, (double)step_length_ps(step) * PS);
	qsort(all, (size_t)n, sizeof(*all), by_place);
	/* Those with a role, the first, and then the next until the picture is full. */
	for (ptrdiff_t i = 0; i < n; i++)
		room -= all[i].role != SHOWN_OTHER || all[i].device == run->first;
	for (ptrdiff_t i = 0; i < n; i++)
		if (all[i].role != SHOWN_OTHER || all[i].device == run->first || room-- > 0)
			all[kept++] = all[i];
	*left_out = n - kept;
	return kept;
}
