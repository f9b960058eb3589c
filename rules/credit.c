/* Each second of recoverable time is credited to one finding.  See credit.h. */
#include "rules/credit.h"

#include <math.h>
#include <string.h>

#include "base/kind.h"
#include "base/map.h"
#include "base/stats.h"

/* ---- what a row is about ------------------------------------------------------------------ */

/* Tables not listed are about ops (level 0) and take their pool from the row's kind. */
static const struct {
	enum table_id table;
	enum pool pool;
	int level;
} subjects[] = {
	{ TABLE_collectives, POOL_COMMS, 0 },
	{ TABLE_transfers, POOL_TRANSFER, 0 },
	{ TABLE_gaps, POOL_IDLE, 0 },
	{ TABLE_compiles, POOL_IDLE, 0 },
	{ TABLE_devices, POOL_NONE, 1 },
	{ TABLE_steps, POOL_NONE, 1 },
	{ TABLE_run, POOL_NONE, 2 },
	{ TABLE_programs, POOL_NONE, 2 },
	{ TABLE_deltas, POOL_NONE, LEVEL_CHANGE },
};

static enum pool pool_of_kind(struct str kind)
{
	enum op_kind k = op_kind_find(kind);

	if (k == KIND_UPDATE)
		return POOL_UPDATE;
	switch (op_kind_activity(k)) {
	case ACTIVITY_COMMS:
		return POOL_COMMS;
	case ACTIVITY_COPY:
		return POOL_COPY;
	case ACTIVITY_TRANSFER:
		return POOL_TRANSFER;
	default:
		return POOL_COMPUTE;
	}
}

enum pool pool_of_row(const struct table_def *table, struct str kind)
{
	for (int i = 0; i < COUNT_OF(subjects); i++)
		if (&table_defs[subjects[i].table] == table && subjects[i].pool)
			return subjects[i].pool;
	return kind.p ? pool_of_kind(kind) : POOL_NONE;
}

enum pool pool_of_group(enum group_id group)
{
	static const enum pool pools[GROUP_COUNT] = { [GROUP_COMPUTE] = POOL_COMPUTE,
		[GROUP_COMMUNICATION] = POOL_COMMS,
		[GROUP_COPIES] = POOL_COPY,
		[GROUP_WAITING] = POOL_IDLE };

	return pools[group];
}

int claim_level(const struct table_def *table)
{
	for (int i = 0; i < COUNT_OF(subjects); i++)
		if (&table_defs[subjects[i].table] == table)
			return subjects[i].level;
	return 0;
}

/* Seconds of a claim that pools have room for. */
static double most_of(const double pools[POOL_COUNT], const struct claim *c)
{
	double waited = c->waited, share = c->share;

	if (c->pool == POOL_COMMS) { /* both are taken of one pool */
		share += waited;
		waited = 0;
	}
	double own = share > 0 ? pools[c->pool] / share : INFINITY;
	return waited > 0 ? fmin(own, pools[POOL_COMMS] / waited) : own;
}

static void take(double pools[POOL_COUNT], const struct claim *c, double seconds)
{
	pools[c->pool] -= seconds * c->share;
	pools[POOL_COMMS] -= seconds * c->waited;
}

/* ---- how much there is -------------------------------------------------------------------- */

struct purse {
	double left[POOL_COUNT];  /* what a pool still holds */
	double spent[POOL_COUNT]; /* credited so far */
	double debt[POOL_COUNT];  /* credited on lower levels, not yet taken off this one */
	double total_left, paid;
};

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

/* Unknown budgets do not limit. */
static double limit(double seconds)
{
	return isnan(seconds) ? INFINITY : fmax(seconds, 0);
}

void pools_fill(const struct tables *tables, double pools[POOL_COUNT])
{
	const struct run_row *run = row_of_run(tables);

	for (int i = 0; i < POOL_COUNT; i++)
		pools[i] = INFINITY;
	if (!run)
		return;
	/* Shares of the step; NaN when the profile does not tell. */
	const double shares[POOL_COUNT] = {
		[POOL_NONE] = NAN,
		/* updates are computing too, and have a pool of their own */
		[POOL_COMPUTE] = run->compute_ratio - known(run->update_excess_ratio),
		[POOL_UPDATE] = run->update_excess_ratio,
		[POOL_COPY] = run->layout_copy_ratio,
		[POOL_COMMS] = run->comms_exposed_ratio,
		[POOL_TRANSFER] = run->transfer_ratio,
		[POOL_IDLE] = run->idle_ratio,
	};
	for (int i = 0; i < POOL_COUNT; i++)
		pools[i] = limit(shares[i] * run->step_mean_s);
}

static struct purse purse_of(const struct tables *tables, bool is_explaining)
{
	const struct run_row *run = row_of_run(tables);
	struct purse purse = { .total_left = INFINITY };

	if (run)
		purse.total_left = limit(run->step_mean_s * (1 - known(run->roofline_ratio_lo)));
	/* Faster than predicted, it is the prediction that is wrong. */
	if (run && !is_explaining && run->predicted_step_s < run->step_mean_s)
		purse.total_left = fmin(purse.total_left, run->step_mean_s - run->predicted_step_s);
	pools_fill(tables, purse.left);
	return purse;
}

/* ---- one claim a family ------------------------------------------------------------------- */

struct sums {
	struct map places;
	double *items;
	int32_t count;
};

static double *sum_of(struct sums *s, struct str key, struct arena *keep)
{
	int32_t at = map_put(&s->places, key, s->count, keep);

	s->count += at == s->count;
	return &s->items[at];
}

/* What rules claim for one family are the same seconds: a claim has what is beyond the others'. */
static void settle_families(
	struct claim *claims, ptrdiff_t count, const struct finding *findings, struct arena *keep)
{
	struct sums sums = { .items = arena_make(keep, double, 2 * count + 1) };

	for (ptrdiff_t i = 0; i < count; i++) {
		struct claim *c = &claims[i];

		if (!c->pool || !c->family.len)
			continue;
		struct str family = arena_fmt(keep, "%d\n%.*s", (int)c->pool, STR_ARG(c->family));
		double *all = sum_of(&sums, family, keep);
		double *own = sum_of(&sums,
			arena_fmt(keep, "%.*s\n%.*s", STR_ARG(findings[c->finding].rule),
				STR_ARG(family)),
			keep);

		*own += c->seconds;
		c->seconds = fmax(0, fmin(c->seconds, *own - *all));
		*all += c->seconds;
	}
}

/* ---- paying out --------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int order = order_integers(x->level, y->level);

	if (!order)
		order = x->is_waived - y->is_waived;
	if (!order)
		order = (y->waited > 0) - (x->waited > 0);
	if (!order)
		order = order_numbers(y->seconds, x->seconds);
	return order ? order : order_integers(x->finding, y->finding);
}

static double pay(struct purse *purse, const struct claim *claim)
{
	if (claim->level == LEVEL_CHANGE)
		return fmax(0, claim->seconds - purse->paid);
	/* A claim that takes nothing of its own pool makes the others wait in communication. */
	enum pool above = claim->share > 0 ? claim->pool : POOL_COMMS;
	double taken = fmin(claim->seconds, purse->debt[above]);
	double wanted = fmin(claim->seconds - taken, most_of(purse->left, claim));
	double paid = fmax(0, fmin(wanted, purse->total_left + claim->unneeded_s));

	purse->debt[above] -= fmax(0, taken);
	take(purse->left, claim, paid);
	take(purse->spent, claim, -paid);
	purse->total_left -= fmax(0, paid - claim->unneeded_s); /* of work that remains */
	return paid;
}

double credit(const struct tables *tables, bool is_explaining, struct claim *claims,
	ptrdiff_t count, struct finding *findings, struct arena *keep)
{
	struct purse purse = purse_of(tables, is_explaining);
	int level = 0;

	/* What is explained is of the distance to the roofline, which counts all FLOPs. */
	for (ptrdiff_t i = 0; i < count && is_explaining; i++) {
		claims[i].seconds -= fmin(claims[i].seconds, claims[i].unneeded_s);
		claims[i].unneeded_s = 0;
	}
	sort_by(claims, count, by_size);
	settle_families(claims, count, findings, keep);
	for (ptrdiff_t i = 0; i < count; i++) {
		if (claims[i].level != level)
			memcpy(purse.debt, purse.spent, sizeof(purse.debt));
		level = claims[i].level;
		double paid = pay(&purse, &claims[i]);
		if (!claims[i].is_waived)
			findings[claims[i].finding].gain_s = paid;
		purse.paid += paid;
	}
	/* It lacks what others were paid of its pool, or of the step; the rest is beyond both. */
	for (ptrdiff_t i = 0; i < count; i++) {
		struct finding *f = &findings[claims[i].finding];
		double spent = claims[i].pool ? purse.spent[claims[i].pool] : purse.paid;

		if (!claims[i].is_waived)
			f->shared_s = fmax(0, fmin(f->claimed_s - f->gain_s, spent - f->gain_s));
	}
	return purse.paid;
}
