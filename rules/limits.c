/* Limits from runs.  See limits.h. */
#include "rules/limits.h"

#include <math.h>

#include "rules/compile.h"

/* Room above what was seen, and twice that for the failure; of a share at least what matters: */
#define ROOM_SHARE 0.1	/* a tenth of a number */
#define ROOM_STEP  0.05 /* a twentieth of the step time */
#define ROOM_NOISE 3	/* widths of the interval of a run's median step */
#define ROOM_MOST  0.5	/* with more, a step three times as long would be no failure */

/* A limit that is as tight but for rounding is not written anew. */
#define AS_TIGHT 0.999

static bool is_limited(const struct rule *rule)
{
	return !rule->gate && rule->severity != SEVERITY_OFF &&
	       (rule->params[PARAM_WARN].text.p || rule->params[PARAM_FAIL].text.p);
}

void limits_begin(struct limits *l, const struct ruleset *rules, struct arena *keep)
{
	*l = (struct limits){ .rules = rules,
		.items = arena_make(keep, struct limit, rules->count + 1),
		.step_s = NAN };
	for (ptrdiff_t i = 0; i < rules->count; i++)
		if (is_limited(rules->items[i]))
			l->items[l->count++] = (struct limit){ .rule = rules->items[i],
				.worst = VERDICT_NOT_APPLICABLE,
				.seen = { NAN, NAN },
				.now = { NAN, NAN },
				.value = { NAN, NAN } };
}

static int weight_of(enum verdict v)
{
	static const int weights[] = { [VERDICT_NOT_APPLICABLE] = 0,
		[VERDICT_PASS] = 1,
		[VERDICT_WAIVED] = 2,
		[VERDICT_WARN] = 3,
		[VERDICT_INCONCLUSIVE] = 4,
		[VERDICT_FAIL] = 5,
		[VERDICT_OFF] = 0,
		[VERDICT_ERROR] = 0 };
	return weights[v];
}

/* Of a backstop the number is what the findings of others leave. */
static void see(struct limit *l, const struct rule_result *r, double explained)
{
	const struct rule_number *n = &r->number;
	const double seen[] = { n->warn_number, n->fail_number },
		     now[] = { n->warn_limit, n->fail_limit };

	l->unit = n->unit;
	l->at_least = n->at_least;
	if (weight_of(r->verdict) > weight_of(l->worst))
		l->worst = r->verdict;
	bool is_rest = r->rule->code->is_backstop && explained > 0;
	l->is_explained |= is_rest;
	for (int i = 0; i < LIMITS; i++) {
		double worst = l->at_least ? fmin(l->seen[i], seen[i]) : fmax(l->seen[i], seen[i]);

		l->seen[i] = is_rest ? l->seen[i] : worst;
		l->now[i] = now[i];
	}
}

void limits_add(struct limits *l, const struct judgement *j, const struct tables *tables)
{
	l->runs++;
	for (ptrdiff_t i = 0; i < l->count; i++)
		for (ptrdiff_t k = 0; k < j->result_count; k++)
			if (str_eq(j->results[k].name, l->items[i].rule->name))
				see(&l->items[i], &j->results[k], j->explained);
	const struct run_row *run = row_of_run(tables);
	if (!run)
		return;
	double width = (run->step_time_hi_s - run->step_time_lo_s) / run->step_time_s;
	l->noise = fmax(l->noise, width); /* NaN is no number to take */
	l->step_s = fmax(l->step_s, run->step_time_s);
}

/* To three digits, away from what was seen; a share to a tenth of a percent. */
static double rounded(double value, enum unit unit, bool up)
{
	double digits = unit == UNIT_RATIO ? 1000 : pow(10, 2 - floor(log10(fabs(value))));
	/* The slack keeps what is round already. */
	return up ? ceil(value * digits - 1e-9) / digits : floor(value * digits + 1e-9) / digits;
}

bool limit_is_broken(const struct limit *l, int i)
{
	return l->at_least ? l->seen[i] < l->now[i] : l->seen[i] > l->now[i];
}

bool limits_are_known(const struct limits *l)
{
	return ROOM_NOISE * l->noise <= ROOM_MOST;
}

/* Where small is good and the limit is not negative, a negative number counts as 0. */
static double counted(const struct limit *l, int i)
{
	return l->at_least || l->now[i] < 0 || isnan(l->seen[i]) ? l->seen[i] : fmax(0, l->seen[i]);
}

static void set_value(const struct limits *all, struct limit *l, int i, struct arena *keep)
{
	double seen = counted(l, i);
	double room = fabs(seen) * fmax(ROOM_SHARE, ROOM_NOISE * all->noise);

	if (isnan(l->seen[i]) || isnan(l->now[i]) || limit_is_broken(l, i))
		return;
	if (l->unit == UNIT_SECONDS && !limits_are_known(all))
		return;
	room *= i + 1;
	if (l->unit == UNIT_RATIO)
		room = fmax(room, rule_matter(all->rules, l->rule, i ? MATTER_FAIL : MATTER_WARN));
	if (!(room > 0)) /* of 0 bytes or seconds nothing is known but that there were none */
		return;
	double value = rounded(l->at_least ? seen - room : seen + room, l->unit, !l->at_least);
	bool is_tighter = l->at_least ? value * AS_TIGHT > l->now[i] : value < l->now[i] * AS_TIGHT;
	if (!is_tighter)
		return;
	l->value[i] = value;
	l->text[i] = unit_exact(keep, value, l->unit);
}

void limits_end(struct limits *all, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < all->count; i++) {
		struct limit *l = &all->items[i];
		int shown = isnan(l->now[LIMIT_FAIL]) || isnan(l->seen[LIMIT_FAIL]) ? LIMIT_WARN
										    : LIMIT_FAIL;

		/* A rule may fail by what its findings cost together, within its failure limit. */
		if (l->worst != VERDICT_PASS && !limit_is_broken(l, shown))
			shown = LIMIT_WARN;
		l->seen_text = unit_text(keep, l->seen[shown], l->unit);
		if (counted(l, shown) > l->seen[shown])
			l->seen_text = arena_fmt(keep, "%.*s, counted as %.*s",
				STR_ARG(l->seen_text), STR_ARG(unit_text(keep, 0, l->unit)));
		l->now_text = unit_text(keep, l->now[shown], l->unit);
		for (int k = 0;
			k < LIMITS && l->worst != VERDICT_FAIL && l->worst != VERDICT_INCONCLUSIVE;
			k++)
			set_value(all, l, k, keep);
	}
}

bool limits_of_step(const struct limits *l, struct arena *keep, struct str ret[LIMITS])
{
	double room = fmax(ROOM_STEP, ROOM_NOISE * l->noise);

	for (int i = 0; i < LIMITS; i++)
		ret[i] = unit_exact(keep,
			rounded(l->step_s * (1 + room * (i + 1)), UNIT_SECONDS, true),
			UNIT_SECONDS);
	return l->step_s > 0 && limits_are_known(l);
}
