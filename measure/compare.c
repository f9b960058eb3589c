/* Rows of deltas.  See compare.h, and baseline.h for the method. */
#include "measure/compare.h"

#include <math.h>

#include "base/resample.h"
#include "measure/baseline.h"

/* How a figure of the run moves from step to step. */
enum series {
	SERIES_TIME,	/* it is the step's time */
	SERIES_INVERSE, /* as one over the step's time: work that does not change */
	SERIES_SHARE,	/* as a time of the step over the step */
};

static const struct metric {
	struct str column; /* of run */
	enum series series;
	struct str part; /* SERIES_SHARE: column of steps */
	bool more_is_worse;
	double blind; /* of the baseline's value, or of the step for shares */
} metrics[] = {
	{ STR_INIT("step_time_s"), SERIES_TIME, { NULL, 0 }, true, 0.10 }, /* the primary one */
	{ STR_INIT("roofline_ratio_lo"), SERIES_INVERSE, { NULL, 0 }, false, 0.10 },
	{ STR_INIT("mfu"), SERIES_INVERSE, { NULL, 0 }, false, 0.10 },
	{ STR_INIT("comms_exposed_ratio"), SERIES_SHARE, STR_INIT("comms_exposed_s"), true, 0.05 },
	{ STR_INIT("idle_ratio"), SERIES_SHARE, STR_INIT("idle_s"), true, 0.05 },
	{ STR_INIT("transfer_ratio"), SERIES_SHARE, STR_INIT("transfer_s"), true, 0.05 },
};
enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

/* A figure of one run: its value, and what its steps say of it. */
struct figure {
	double value;
	struct median_noise noise;
};

static const struct column *run_column(const struct metric *m)
{
	return table_column(&table_defs[TABLE_run], m->column);
}

/* Of the first device alone: a report keeps its steps whole.  The length is that of the slowest. */
static ptrdiff_t series_of(
	const struct metric *m, const struct tables *t, double value, double *ret)
{
	const struct column *part = table_column(&table_defs[TABLE_steps], m->part);
	const struct steps_row *rows = table_rows(t, steps);
	double step_s = table_rows(t, run)[0].step_time_s;
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < table_count(t, steps); i++) {
		const struct steps_row *s = &rows[i];
		if (!str_eq(s->device, rows[0].device) || !str_eq(s->host, rows[0].host) ||
			!(s->slowest_s > 0))
			continue;
		if (m->series == SERIES_TIME)
			ret[n++] = s->slowest_s;
		else if (m->series == SERIES_INVERSE)
			ret[n++] = value * step_s / s->slowest_s;
		else if (!isnan(cell_real(part, s)))
			ret[n++] = cell_real(part, s) / s->time_s;
	}
	return n;
}

static struct figure figure_of(const struct metric *m, const struct tables *t, struct arena scratch)
{
	struct figure f = { .value = cell_real(run_column(m), table_rows(t, run)) };
	double *series = arena_make(&scratch, double, table_count(t, steps) + 1);
	ptrdiff_t n = series_of(m, t, f.value, series);

	f.noise = median_noise(series, n, scratch);
	return f;
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

static double squared_se(const struct figure *f)
{
	return isnan(f->noise.se) ? 0 : f->noise.se * f->noise.se;
}

/* Whether the head could be one more of the runs before it. */
static struct test test_runs(
	const struct figure *head, const struct figure *bases, ptrdiff_t count, double mean)
{
	double between = 0, within = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		between += (bases[i].value - mean) * (bases[i].value - mean) / (double)(count - 1);
		within += squared_se(&bases[i]) / (double)count;
	}
	double more = fmax(0, squared_se(head) - within); /* it may have fewer steps than they */
	double variance = fmax(between, within) * (1 + 1 / (double)count) + more;
	return (struct test){ head->value - mean, sqrt(variance), (double)(count - 1) };
}

/* Six digits: the same text on every machine, whatever its mathematical library does last. */
static double rounded(double x)
{
	if (!isfinite(x) || x == 0)
		return x;
	double scale = pow(10, 5 - floor(log10(fabs(x))));
	return isfinite(scale) && scale > 0 ? round(x * scale) / scale : x;
}

static double p_of(const struct test *t)
{
	if (isnan(t->se))
		return NAN;
	if (!(t->se > 0))
		return t->difference != 0 ? 0 : 1;
	return student_p(t->difference / t->se, t->df);
}

static void fill_delta(const struct metric *m, const struct test *t, struct deltas_row *row)
{
	double reach = isnan(t->se) ? (double)NAN : student_quantile(BASELINE_ALPHA, t->df) * t->se;
	bool is_share = m->series == SERIES_SHARE;

	row->ratio = row->base > 0 ? rounded(row->head / row->base) : (double)NAN;
	row->worse = m->more_is_worse ? row->head > row->base : row->head < row->base;
	row->resolution = rounded(is_share ? reach : reach / row->base);
	row->p_value = p_of(t);
	if (row->base > 0) {
		row->lo = rounded(row->ratio - reach / row->base);
		row->hi = rounded(row->ratio + reach / row->base);
	}
	if (row->p_value > BASELINE_ALPHA && !(row->resolution <= m->blind))
		row->p_value = NAN;
}

static struct deltas_row *add_delta(
	struct tables *head, struct str metric, ptrdiff_t runs, struct arena *keep)
{
	struct deltas_row *row = table_new(head, deltas, keep);

	row->metric = metric;
	row->key = metric;
	row->runs = (double)runs;
	return row;
}

static void compare_metric(const struct metric *m, struct tables *head,
	const struct tables *const *bases, ptrdiff_t count, struct arena *keep)
{
	struct figure here = figure_of(m, head, *keep);
	struct figure *there = arena_make(keep, struct figure, count);
	double sum = 0, n_base = 0;
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		struct figure f = figure_of(m, bases[i], *keep);
		if (isnan(f.value))
			continue;
		there[n++] = f;
		sum += f.value;
		n_base += f.noise.n_effective;
	}
	if (isnan(here.value) || !n)
		return;
	struct test t =
		n > 1 ? test_runs(&here, there, n, sum / (double)n) : test_steps(&here, there);
	struct str name = arena_fmt(keep, "run.%.*s", STR_ARG(m->column));
	struct deltas_row *row = add_delta(head, name, n, keep);
	row->head = here.value;
	row->base = sum / (double)n;
	row->n_head = rounded(here.noise.n_effective);
	row->n_base = rounded(n_base);
	fill_delta(m, &t, row);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The largest of any device; NaN when none is known. */
static double peak_of(const struct tables *t)
{
	double peak = NAN;

	for (ptrdiff_t i = 0; i < table_count(t, memory); i++)
		peak = fmax(peak, table_rows(t, memory)[i].window_peak_bytes);
	return peak;
}

static void compare_memory(
	struct tables *head, const struct tables *const *bases, ptrdiff_t count, struct arena *keep)
{
	double here = peak_of(head), least = NAN, most = NAN, sum = 0;
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		double there = peak_of(bases[i]);
		if (!(there > 0))
			continue;
		least = fmin(least, there);
		most = fmax(most, there);
		sum += there;
		n++;
	}
	if (isnan(here) || !n)
		return;
	struct deltas_row *row = add_delta(head, STR("memory.window_peak_bytes"), n, keep);
	row->head = here;
	row->base = sum / (double)n;
	row->ratio = rounded(here / row->base);
	row->lo = rounded(here / most);
	row->hi = rounded(here / least);
	row->worse = here > row->base;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The step time is the question; the others explain, and share their chance of a false alarm. */
static void adjust(struct tables *head, ptrdiff_t first, struct arena scratch)
{
	struct deltas_row *rows = table_rows(head, deltas);
	ptrdiff_t count = table_count(head, deltas), n = 0;
	double *p = arena_make(&scratch, double, count + 1);
	bool leads = first < count && str_eq(rows[first].metric, STR("run.step_time_s"));

	for (ptrdiff_t i = first + leads; i < count; i++)
		p[n++] = rows[i].p_value;
	holm_adjust(p, n, scratch);
	for (ptrdiff_t i = 0; i < n; i++)
		rows[first + leads + i].p_value = p[i];
	for (ptrdiff_t i = first; i < count; i++)
		rows[i].p_value = rounded(rows[i].p_value);
}

void compare_runs(
	struct tables *head, const struct tables *const *bases, ptrdiff_t count, struct arena *keep)
{
	ptrdiff_t first = table_count(head, deltas);

	for (int i = 0; i < METRICS; i++)
		compare_metric(&metrics[i], head, bases, count, keep);
	adjust(head, first, *keep);
	compare_memory(head, bases, count, keep);
}
