/* Rows of deltas.  See deltas.h, and baseline.h for the method. */
#include "measure/deltas.h"

#include <assert.h>
#include <math.h>

#include "base/resample.h"
#include "measure/baseline.h"
#include "measure/diff.h"

/* How a figure of the run moves from step to step. */
enum series {
	SERIES_TIME,	/* it is the step's time */
	SERIES_INVERSE, /* as one over the step's time: work that does not change */
	SERIES_SHARE,	/* as a time of the step over the step */
};

static const struct metric {
	struct str column; /* of run */
	struct str name;   /* in words */
	enum series series;
	struct str part; /* SERIES_SHARE: column of steps */
	bool more_is_worse;
	double blind; /* of the baseline's value, or of the step for shares */
} metrics[] = {
	{ STR_INIT("step_time_s"), STR_INIT("the step time"), SERIES_TIME, { NULL, 0 }, true,
		0.10 }, /* the primary one */
	{ STR_INIT("roofline_ratio_lo"), STR_INIT("the roofline share"), SERIES_INVERSE,
		{ NULL, 0 }, false, 0.10 },
	{ STR_INIT("mfu"), STR_INIT("the MFU"), SERIES_INVERSE, { NULL, 0 }, false, 0.10 },
	{ STR_INIT("comms_exposed_ratio"), STR_INIT("the exposed communication"), SERIES_SHARE,
		STR_INIT("comms_exposed_s"), true, 0.05 },
	{ STR_INIT("idle_ratio"), STR_INIT("the idle time"), SERIES_SHARE, STR_INIT("idle_s"), true,
		0.05 },
	{ STR_INIT("transfer_ratio"), STR_INIT("the time in transfers"), SERIES_SHARE,
		STR_INIT("transfer_s"), true, 0.05 },
};
enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

/* A figure of one run: its value, and what its steps say of it. */
struct figure {
	double value;
	struct median_noise noise;
};

/* By the steps of the first device alone: a report keeps them whole.  They last as long as on the
 * slowest. */
static struct figure figure_of(const struct metric *m, const struct tables *t, struct arena scratch)
{
	const struct column *c = table_column(&table_defs[TABLE_run], m->column);
	const struct column *part = table_column(&table_defs[TABLE_steps], m->part);
	const struct steps_row *rows = table_rows(t, steps);
	double *series = arena_make(&scratch, double, table_count(t, steps) + 1);
	double step_s = table_rows(t, run)[0].step_time_s, value = cell_real(c, table_rows(t, run));
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < table_count(t, steps); i++) {
		const struct steps_row *s = &rows[i];
		if (!str_eq(s->device, rows[0].device) || !str_eq(s->host, rows[0].host) ||
			!(s->global_s > 0))
			continue;
		if (m->series == SERIES_TIME)
			series[n++] = s->global_s;
		else if (m->series == SERIES_INVERSE)
			series[n++] = value * step_s / s->global_s;
		else if (!isnan(cell_real(part, s)))
			series[n++] = cell_real(part, s) / s->time_s;
	}
	return (struct figure){ value, median_noise(series, n, scratch) };
}

/* ---- several runs --------------------------------------------------------------------------- */

/* Of one sample's runs, those in which the figure is known. */
struct figures {
	struct figure *items;
	ptrdiff_t count;
	double mean, n_effective;
	double within; /* mean variance of one, by its steps */
};

static double squared_se(const struct figure *f)
{
	return isnan(f->noise.se) ? 0 : f->noise.se * f->noise.se;
}

static struct figures figures_of(
	const struct metric *m, const struct run_sample *sample, struct arena *keep)
{
	struct figures all = { .items = arena_make(keep, struct figure, sample->count) };

	assert(sample->count > 0);
	for (ptrdiff_t i = 0; i < sample->count; i++) {
		struct figure f = figure_of(m, sample->runs[i], *keep);
		if (isnan(f.value))
			continue;
		all.items[all.count++] = f;
		all.mean += f.value;
		all.n_effective += f.noise.n_effective;
		all.within += squared_se(&f);
	}
	all.mean /= (double)all.count;
	all.within /= (double)all.count;
	return all;
}

/* Variances of one run's figure: from run to run, and by the steps within one. */
struct run_noise {
	double between, within;
	double runs; /* that told it; below 2 they tell nothing of `between` */
};

/* By the largest sample; of several, the first. */
static struct run_noise noise_of(const struct figures *samples, ptrdiff_t count)
{
	const struct figures *largest = samples;
	double between = 0;

	for (ptrdiff_t i = 1; i < count; i++)
		if (samples[i].count > largest->count)
			largest = &samples[i];
	for (ptrdiff_t i = 0; i < largest->count; i++) {
		double away = largest->items[i].value - largest->mean;
		between += away * away / (double)(largest->count - 1);
	}
	return (struct run_noise){ between, largest->within, (double)largest->count };
}

/* ---- one comparison ------------------------------------------------------------------------- */

struct test {
	double difference, se, df; /* NaN: nothing can be said */
};

/* Fewer independent steps have a spread that is anybody's guess. */
#define STEPS_LEAST 4

/* Welch's t on the medians of the steps. */
static struct test test_steps(const struct figure *head, const struct figure *base)
{
	double a = head->noise.se * head->noise.se, b = base->noise.se * base->noise.se;
	double na = head->noise.n_effective - 1, nb = base->noise.n_effective - 1;

	if (isnan(a + b) || na + 1 < STEPS_LEAST || nb + 1 < STEPS_LEAST)
		return (struct test){ NAN, NAN, NAN };
	double df = a + b > 0 ? (a + b) * (a + b) / (a * a / na + b * b / nb) : na + nb;
	return (struct test){ head->noise.median - base->noise.median, sqrt(a + b), df };
}

/* Whether the head could be one more of the runs before it. */
static struct test test_runs(
	const struct figure *head, const struct figures *base, const struct run_noise *noise)
{
	double n = (double)base->count;
	/* Either may have fewer steps than the runs that told the noise. */
	double more = fmax(0, squared_se(head) - noise->within) +
		      fmax(0, base->within - noise->within) / n;
	double variance = fmax(noise->between, noise->within) * (1 + 1 / n) + more;
	return (struct test){ head->value - base->mean, sqrt(variance), noise->runs - 1 };
}

/* Six digits: the same text on every machine, whatever its mathematical library does last. */
static double rounded(double x)
{
	if (!isfinite(x) || x == 0)
		return x;
	double scale = pow(10, 5 - floor(log10(fabs(x))));
	return isfinite(scale) && scale > 0 ? round(x * scale) / scale : x;
}

static void fill_delta(const struct metric *m, const struct test *t, struct deltas_row *row)
{
	double reach = isnan(t->se) ? (double)NAN : student_quantile(BASELINE_ALPHA, t->df) * t->se;
	bool is_share = m->series == SERIES_SHARE;

	row->ratio = row->base > 0 ? rounded(row->head / row->base) : (double)NAN;
	row->worse = m->more_is_worse ? row->head > row->base : row->head < row->base;
	row->resolution = rounded(is_share ? reach : reach / row->base);
	row->p_value = isnan(t->se)	    ? (double)NAN
		       : t->se > 0	    ? student_p(t->difference / t->se, t->df)
		       : t->difference != 0 ? 0
					    : 1;
	if (row->base > 0) {
		row->lo = rounded(row->ratio - reach / row->base);
		row->hi = rounded(row->ratio + reach / row->base);
	}
	if (row->p_value > BASELINE_ALPHA && !(row->resolution <= m->blind))
		row->p_value = NAN;
}

static struct deltas_row *add_delta(struct tables *head, struct str metric, struct str name,
	struct str query, struct arena *keep)
{
	struct deltas_row *row = table_new(head, deltas, keep);

	row->metric = metric;
	row->name = name;
	row->key =
		query.p ? arena_fmt(keep, "%.*s, %.*s", STR_ARG(metric), STR_ARG(query)) : metric;
	row->against = query.p ? query : BASELINE_NAMED;
	return row;
}

static void compare_metric(const struct metric *m, struct tables *head,
	const struct run_sample *samples, ptrdiff_t count, struct arena *keep)
{
	struct figure here = figure_of(m, head, *keep);
	struct figures *all = arena_make(keep, struct figures, count);

	if (isnan(here.value))
		return;
	for (ptrdiff_t i = 0; i < count; i++)
		all[i] = figures_of(m, &samples[i], keep);
	struct run_noise noise = noise_of(all, count);
	struct str metric = arena_fmt(keep, "run.%.*s", STR_ARG(m->column));
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct figures *there = &all[i];
		if (!there->count)
			continue;
		struct test t = noise.runs > 1 ? test_runs(&here, there, &noise)
					       : test_steps(&here, there->items);
		struct deltas_row *row = add_delta(head, metric, m->name, samples[i].query, keep);
		row->head = here.value;
		row->base = there->mean;
		row->n_head = rounded(here.noise.n_effective);
		row->n_base = rounded(there->n_effective);
		row->runs = (double)there->count;
		row->noise_runs = noise.runs;
		fill_delta(m, &t, row);
	}
}

/* ---- without noise -------------------------------------------------------------------------- */

/* One number of each run, which no step varies: the largest of a column. */
static const struct constant {
	struct str metric, name;
	enum table_id table;
	struct str column;
	bool planned; /* of two plans alone: what has run has its own figures */
} constants[] = {
	{ STR_INIT("memory.window_peak_bytes"), STR_INIT("the peak memory"), TABLE_memory,
		STR_INIT("window_peak_bytes"), false },
	{ STR_INIT("run.predicted_step_s"), STR_INIT("the predicted step time"), TABLE_run,
		STR_INIT("predicted_step_s"), true },
	{ STR_INIT("memory.compiled_bytes"), STR_INIT("the planned memory"), TABLE_memory,
		STR_INIT("compiled_bytes"), true },
};
enum { CONSTANTS = sizeof(constants) / sizeof(constants[0]) };

/* NaN when none is known. */
static double constant_of(const struct constant *c, const struct tables *t)
{
	const struct table_def *def = &table_defs[c->table];
	const struct column *column = table_column(def, c->column);
	const struct table *rows = &t->items[c->table];
	double most = NAN;

	for (ptrdiff_t i = 0; i < rows->count && (!c->planned || is_planned(t)); i++)
		most = fmax(most, cell_real(column, (const char *)rows->rows + i * def->row_bytes));
	return most;
}

static void compare_constant(const struct constant *c, struct tables *head,
	const struct run_sample *sample, struct arena *keep)
{
	double here = constant_of(c, head), least = NAN, most = NAN, sum = 0;
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < sample->count; i++) {
		double there = constant_of(c, sample->runs[i]);
		if (!(there > 0))
			continue;
		least = fmin(least, there);
		most = fmax(most, there);
		sum += there;
		n++;
	}
	if (isnan(here) || !n)
		return;
	struct deltas_row *row = add_delta(head, c->metric, c->name, sample->query, keep);
	row->runs = (double)n;
	row->head = here;
	row->base = sum / (double)n;
	row->ratio = rounded(here / row->base);
	row->lo = rounded(here / most);
	row->hi = rounded(here / least);
	row->worse = here > row->base;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Those of the step time, or all others, together. */
static void adjust(struct tables *head, ptrdiff_t first, bool step_time, struct arena scratch)
{
	struct deltas_row *rows = table_rows(head, deltas);
	ptrdiff_t count = table_count(head, deltas), n = 0;
	double *p = arena_make(&scratch, double, count + 1);
	struct deltas_row **of = arena_make(&scratch, struct deltas_row *, count + 1);

	for (ptrdiff_t i = first; i < count; i++) {
		if (str_eq(rows[i].metric, STR("run.step_time_s")) != step_time)
			continue;
		of[n] = &rows[i];
		p[n++] = rows[i].p_value;
	}
	holm_adjust(p, n, scratch);
	for (ptrdiff_t i = 0; i < n; i++)
		of[i]->p_value = rounded(p[i]);
}

void compare_runs(
	struct tables *head, const struct run_sample *samples, ptrdiff_t count, struct arena *keep)
{
	ptrdiff_t first = table_count(head, deltas);

	for (int i = 0; i < METRICS; i++)
		compare_metric(&metrics[i], head, samples, count, keep);
	adjust(head, first, true, *keep);
	adjust(head, first, false, *keep);
	for (ptrdiff_t i = 0; i < count; i++)
		for (int k = 0; k < CONSTANTS; k++)
			compare_constant(&constants[k], head, &samples[i], keep);
}
