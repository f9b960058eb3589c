/* Costs together.  See weigh.h. */
#include "rules/weigh.h"

#include <math.h>

#include "base/stats.h"

/* A sum that knows where its parts come from. */
struct tally {
	const struct scale *scale;
	double pools[POOL_COUNT];
	double *chips;
	double worst_chip;
	bool is_any;
};

static struct tally tally_new(const struct scale *s, struct arena *keep)
{
	return (struct tally){ .scale = s, .chips = arena_make(keep, double, s->chips + 1) };
}

static void tally_add(struct tally *t, const struct weighed *s, double cost)
{
	t->is_any = true;
	if (s->chip < 0) {
		t->pools[s->pool] += cost;
		return;
	}
	t->chips[s->chip] += cost;
	t->worst_chip = fmax(t->worst_chip, t->chips[s->chip]);
}

static double tally_sum(const struct tally *t)
{
	double sum = t->worst_chip;

	for (int i = 0; i < POOL_COUNT; i++)
		sum += isinf(t->pools[i]) ? INFINITY : fmin(t->pools[i], t->scale->pools[i]);
	return isinf(sum) ? sum : fmin(sum, 1);
}

enum verdict weigh(const struct weighed *subjects, ptrdiff_t count, const struct scale *s,
	bool at_worst, struct arena scratch, double *cost, bool *together)
{
	struct tally all = tally_new(s, &scratch), far = tally_new(s, &scratch),
		     able = tally_new(s, &scratch);

	for (ptrdiff_t i = 0; i < count; i++) {
		const struct weighed *x = &subjects[i];
		const struct weight *w = at_worst ? &x->most : &x->least;

		if (x->is_waived || w->level == LEVEL_OK)
			continue;
		tally_add(&all, x, w->cost);
		if (w->can_fail)
			tally_add(&able, x, w->cost);
		if (w->can_fail && w->level == LEVEL_FAR)
			tally_add(&far, x, w->cost);
	}
	*cost = tally_sum(&all);
	*together = able.is_any && !isinf(s->together) && tally_sum(&able) >= s->together;
	if (!all.is_any || *cost < s->warn)
		return VERDICT_PASS;
	bool fails = *together || (far.is_any && tally_sum(&far) >= s->fail);
	return s->can_fail && fails ? VERDICT_FAIL : VERDICT_WARN;
}

/* ---- the number --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const struct weighed *x = *(struct weighed *const *)a, *y = *(struct weighed *const *)b;
	int order = order_numbers(y->value, x->value);

	return order ? order : (x > y) - (x < y);
}

double weigh_number(const struct weighed *subjects, ptrdiff_t count, const struct scale *s,
	double matter, bool of_failures, struct arena scratch)
{
	const struct weighed **sorted = arena_make(&scratch, const struct weighed *, count + 1);
	struct tally t = tally_new(s, &scratch);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < count; i++)
		if (!isnan(subjects[i].value) &&
			!(subjects[i].is_waived && subjects[i].least.level) &&
			(!of_failures || subjects[i].least.can_fail))
			sorted[n++] = &subjects[i];
	sort_by(sorted, n, by_value);
	/* From the worst on: beyond a limit of this value lies what was added before. */
	for (ptrdiff_t i = 0; i < n; i++) {
		const struct weighed *x = sorted[s->at_least ? n - 1 - i : i];

		tally_add(&t, x, x->least.cost);
		if (tally_sum(&t) >= matter)
			return x->value;
	}
	return NAN;
}
