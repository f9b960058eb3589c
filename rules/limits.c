/* Limits from a good run.  See limits.h. */
#include "rules/limits.h"

#include <math.h>

#include "base/out.h"

#define NONE                                                                                       \
	{                                                                                          \
		NULL, 0                                                                            \
	}

/* Rules of recommended with two levels, and the share that they limit: the largest of its rows. */
static const struct share {
	struct str rule;
	enum table_id table;
	struct str column, only, word; /* only: rows whose column `only` says `word` */
} shares[] = {
	{ STR_INIT("exposed-communication"), TABLE_run, STR_INIT("comms_exposed_ratio"), NONE,
		NONE },
	{ STR_INIT("oversized-all-gather"), TABLE_collectives, STR_INIT("kind_exposed_share"),
		STR_INIT("kind"), STR_INIT("all-gather") },
	{ STR_INIT("copy-share"), TABLE_run, STR_INIT("layout_copy_ratio"), NONE, NONE },
	{ STR_INIT("update-excess"), TABLE_run, STR_INIT("update_excess_ratio"), NONE, NONE },
	{ STR_INIT("idle-gaps"), TABLE_devices, STR_INIT("wait_ratio"), STR_INIT("core_type"),
		STR_INIT("compute") },
	{ STR_INIT("host-transfers"), TABLE_transfers, STR_INIT("step_share"), NONE, NONE },
};
enum { SHARES = sizeof(shares) / sizeof(shares[0]) };

/* Room above what was seen: half a point of a step or a tenth, or three times the run's noise. */
#define ROOM_POINTS 0.005
#define ROOM_SHARE  0.1
#define ROOM_TIME   0.05
#define ROOM_NOISE  3

static double largest(const struct tables *t, const struct share *s)
{
	const struct table_def *def = &table_defs[s->table];
	const struct column *c = table_column(def, s->column);
	const struct column *only = s->only.p ? table_column(def, s->only) : NULL;
	double most = NAN;
	for (ptrdiff_t i = 0; i < t->items[s->table].count; i++) {
		const char *row = (const char *)t->items[s->table].rows + i * def->row_bytes;
		if (!only || str_eq(cell_text(only, row), s->word))
			most = fmax(most, cell_real(c, row));
	}
	return most;
}

/* Width of the median's interval over the step; 0 when nobody knows. */
static double noise_of(const struct run_row *run)
{
	double noise = (run->step_time_hi_s - run->step_time_lo_s) / run->step_time_s;
	return isfinite(noise) ? noise : 0;
}

static struct limit share_limit(
	struct str rule, const char *param, double seen, double value, struct arena *keep)
{
	/* To a tenth of a percent; the slack keeps what is one already. */
	value = fmin(1, ceil(value * 1000 - 1e-9) / 1000);
	return (struct limit){ rule, str_from(param), seen, value,
		arena_fmt(keep, "%.1f%%", value * 100), unit_text(keep, seen, UNIT_RATIO) };
}

bool limits_cover(struct str rule)
{
	for (int i = 0; i < SHARES; i++)
		if (str_eq(shares[i].rule, rule))
			return true;
	return false;
}

ptrdiff_t limits_of(
	const struct tables *t, struct arena *keep, struct limit **ret, struct str *left_out)
{
	const struct run_row *run = table_rows(t, run);
	struct limit *items = arena_make(keep, struct limit, 2 * SHARES + 1);
	struct out *o = out_memory(keep);
	ptrdiff_t n = 0;
	double noise = 0;
	if (table_count(t, run)) {
		noise = ROOM_NOISE * noise_of(run);
		double step_s = run->step_time_s * (1 + fmax(ROOM_TIME, noise));
		double digits = pow(10, 3 - floor(log10(step_s))); /* four are written */
		step_s = ceil(step_s * digits - 1e-9) / digits;
		struct str text = step_s < 1e-3 ? arena_fmt(keep, "%.6g us", step_s * 1e6)
				  : step_s < 1	? arena_fmt(keep, "%.6g ms", step_s * 1e3)
						: arena_fmt(keep, "%.6g s", step_s);
		if (step_s > 0)
			items[n++] = (struct limit){ STEP_TIME_RULE, STR("limit"), run->step_time_s,
				step_s, text, unit_text(keep, run->step_time_s, UNIT_SECONDS) };
	}
	for (int i = 0; i < SHARES; i++) {
		struct str rule = shares[i].rule;
		double seen = largest(t, &shares[i]);
		double room = fmax(ROOM_POINTS, seen * fmax(ROOM_SHARE, noise));
		/* No share is more than all of a step: a limit there would pass whatever comes. */
		if (seen + 2 * room < 1) {
			items[n++] = share_limit(rule, "warn_at", seen, seen + room, keep);
			items[n++] = share_limit(rule, "limit", seen, seen + 2 * room, keep);
		} else if (!isnan(seen)) {
			out_fmt(o, "%s%.*s (%.1f%%)", out_text(o).len ? ", " : "", STR_ARG(rule),
				100 * seen);
		}
	}
	if (left_out)
		*left_out = out_text(o).len ? out_text(o) : (struct str){ NULL, 0 };
	*ret = items;
	return n;
}
