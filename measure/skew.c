/*
 * Devices beside each other: in which op one takes longer, and which one is slow in all of them.
 *
 * The median is the lower one: when half of the devices are slow, it is one of the fast half.
 */
#include <math.h>
#include <stdlib.h>

#include "measure/measured.h"

/* Seconds per step of a device in an op; 0 when it did not run it. */
static double time_in(const struct device *d, ptrdiff_t subject)
{
	const struct sweep *s = &d->sweep;
	ptrdiff_t i = subject - s->self_first;

	if (s->steady_count == 0 || i < 0 || i >= s->self_count)
		return 0;
	return (double)s->self_ps[i] * PS / (double)s->steady_count;
}

/* The lower median of the devices' times in an op, and the largest, of those that ran it; `times`
 * has room for all.  NaN with fewer than two. */
static double median_in(const struct measured *m, ptrdiff_t subject, double *times, double *largest)
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		double t = time_in(&m->devices[i], subject);
		if (t > 0)
			times[n++] = t;
	}
	sort_numbers(times, n);
	*largest = n ? times[n - 1] : 0;
	return n < 2 ? (double)NAN : times[(n - 1) / 2];
}

double subject_skew(const struct measured *m, ptrdiff_t subject)
{
	struct arena scratch = *m->keep;
	double largest, *times = arena_make(&scratch, double, m->device_count);
	double mid = median_in(m, subject, times, &largest);

	return mid > 0 ? largest / mid : NAN;
}

/* What an op tells of a device: how much longer than the median, for how much of its time. */
struct telling {
	double ratio, time_s;
};

static int by_ratio(const void *a, const void *b)
{
	const struct telling *x = a, *y = b;
	int order = order_numbers(x->ratio, y->ratio);

	return order ? order : order_numbers(x->time_s, y->time_s);
}

/*
 * The ratio below which a quarter of the time lies: a device whose experts have more to do is slow
 * in some ops, a slow device in nearly all.
 */
static double lower_quartile(struct telling *t, ptrdiff_t n)
{
	double all = 0, below = 0;

	for (ptrdiff_t i = 0; i < n; i++)
		all += t[i].time_s;
	if (n > 1)
		qsort(t, (size_t)n, sizeof(*t), by_ratio);
	for (ptrdiff_t i = 0; i < n; i++) {
		below += t[i].time_s;
		if (below >= all / 4)
			return t[i].ratio;
	}
	return NAN;
}

double *devices_slowness(const struct measured *m)
{
	double *ret = arena_make(m->keep, double, m->device_count);
	struct arena scratch = *m->keep;
	ptrdiff_t subjects = registry_subject_count(m->registry);
	double *mid = arena_make(&scratch, double, subjects), largest;
	double *times = arena_make(&scratch, double, m->device_count);
	struct telling *t = arena_make(&scratch, struct telling, subjects);

	for (ptrdiff_t i = 0; i < subjects; i++) {
		const struct subject *s = registry_subject_at(m->registry, i);
		bool compute =
			op_kind_activity(s->kind) == ACTIVITY_COMPUTE && s->async == ASYNC_NONE;
		mid[i] = compute ? median_in(m, i, times, &largest) : (double)NAN;
	}
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		ptrdiff_t n = 0;
		for (ptrdiff_t k = 0; k < subjects; k++) {
			double time_s = time_in(&m->devices[i], k);
			if (time_s > 0 && mid[k] > 0)
				t[n++] = (struct telling){ time_s / mid[k], time_s };
		}
		ret[i] = lower_quartile(t, n);
	}
	return ret;
}
