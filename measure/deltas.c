/* Rows of deltas.  See deltas.h, and baseline.h for the method. */
#include "measure/deltas.h"

#include <math.h>

#include "base/map.h"
#include "base/text.h"
#include "measure/baseline.h"
#include "measure/diff.h"

#define METRIC(table, column, series, part, worse, loss, name, says)                               \
	{ STR_INIT(#table "." #column), TABLE_##table, STR_INIT(#column), SERIES_##series,         \
		STR_INIT(part), worse, LOSS_##loss, STR_INIT(name), says },
static const struct metric metrics[] = { METRICS(METRIC, METRIC) };

const struct metric *metric_find(struct str word)
{
	return NAMED(metrics, COUNT_OF(metrics), word);
}

const struct column *metric_column(const struct metric *m)
{
	return table_column(&table_defs[m->table], m->column);
}

bool metric_is_exact(const struct metric *m)
{
	return m->series >= SERIES_CONSTANT;
}

static bool is_log(const struct metric *m)
{
	return m->series != SERIES_SHARE;
}

/*
 * How long a capture without steps is says nothing: how many times as long it would be if it did
 * the head's work.  NaN: their ops do not agree on that.
 */
static double work_times(const struct tables *t, const struct tables *head, struct arena scratch)
{
	struct op_diff d;

	diff_ops(t, head, &scratch, &d);
	return diff_times(&d).by_ops ? (double)NAN : d.work;
}

/*
 * By the steps of the first device alone: a report keeps them whole.  They last as long as on the
 * slowest.  False when the figure is not known; what is 0 has no logarithm.
 */
static bool read_run(const struct metric *m, const struct tables *head, const struct tables *t,
	struct arena scratch, struct run_reading *ret)
{
	const struct column *part = table_column(&table_defs[TABLE_steps], m->part);
	const struct steps_row *rows = table_rows(t, steps);
	double *series = arena_make(&scratch, double, table_count(t, steps) + 1);
	double value = cell_real(metric_column(m), table_rows(t, run));
	ptrdiff_t n = 0;

	if (is_window(t) && m->series == SERIES_TIME)
		value *= work_times(t, head, scratch);
	for (ptrdiff_t i = 0; i < table_count(t, steps) && !is_window(t); i++) {
		const struct steps_row *s = &rows[i];
		if (!str_eq(s->device, rows[0].device) || !str_eq(s->host, rows[0].host) ||
			!(s->global_s > 0))
			continue;
		if (m->series != SERIES_SHARE)
			series[n++] = s->global_s;
		else if (!isnan(cell_real(part, s)))
			series[n++] = cell_real(part, s) / s->time_s;
	}
	*ret = reading_of(is_log(m) ? log(value) : value, series, n, is_log(m), scratch);
	return isfinite(ret->x);
}

bool job_says_work(const struct run_row *here, const struct run_row *base)
{
	bool is_used = !isnan(here->mfu) && !isnan(base->mfu);

	return (!isnan(here->global_batch) && !isnan(base->global_batch)) ||
	       (is_used && fabs(here->model_flops - base->model_flops) <=
				   DIFF_SAME * base->model_flops);
}

/* FLOPs of a step without those that compute again what a forward pass had. */
static double needed_flops(const struct run_row *run)
{
	return run->step_flops * (1 - run->remat_flops_ratio);
}

/* What says that a step does as much work as in all runs of the sample. */
static struct str work_source(const struct run_row *here, const struct run_sample *sample)
{
	bool by_job = true, by_ops = true;

	for (ptrdiff_t i = 0; i < sample->count; i++) {
		const struct run_row *base = table_rows(sample->runs[i], run);
		by_job = by_job && job_says_work(here, base);
		by_ops = by_ops && needed_flops(here) >= needed_flops(base) * (1 - DIFF_SAME);
	}
	return by_job	? word_at(WORK_SOURCE_WORDS, 0)
	       : by_ops ? word_at(WORK_SOURCE_WORDS, 1)
			: MISSING;
}

/* FLOPs of a step by scope, to sums that begin at 0; but for what is computed again. */
static void add_flops(const struct tables *t, struct map *scopes, double *sums, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct ops_row *op = &table_rows(t, ops)[i];
		double flops = op->common->flops * op->common->per_step;
		struct str scope = op->scope.len ? op->scope : op->key;
		if (flops > 0 && !(op->common->is_remat > 0))
			sums[map_put(scopes, scope, (int32_t)scopes->count, keep)] += flops;
	}
}

/*
 * Of a smaller batch or model most of the FLOPs are of what does fewer than in a run of the sample;
 * where needless work is gone, the rest computes what it did.  NAN where a run has no FLOPs by op.
 */
static double does_less(
	const struct tables *head, const struct run_sample *sample, struct arena scratch)
{
	double ret = 0;

	for (ptrdiff_t i = 0; i < sample->count && !(ret > 0); i++) {
		struct arena work = scratch;
		ptrdiff_t most = table_count(head, ops) + table_count(sample->runs[i], ops);
		double *here = arena_make(&work, double, most),
		       *base = arena_make(&work, double, most), all = 0, less = 0;
		struct map scopes = { 0 };
		add_flops(head, &scopes, here, &work);
		add_flops(sample->runs[i], &scopes, base, &work);
		for (ptrdiff_t k = 0; k < scopes.count; k++) {
			all += base[k];
			less += here[k] > 0 && here[k] < base[k] * (1 - DIFF_SAME) ? base[k] : 0;
		}
		ret = less > all / 2 ? 1 : all > 0 ? ret : (double)NAN;
	}
	return ret;
}

/* It counts the work of the ops, which may be known in part. */
static bool is_counted(const struct metric *m)
{
	return m->series == SERIES_INVERSE && m->part.len > 0;
}

/* By how much, in logarithms, the figure may be more than what is known of it. */
static double unknown_part(const struct metric *m, const struct tables *t)
{
	const struct run_row *run = table_rows(t, run);

	if (!is_counted(m))
		return 0;
	double most = cell_real(table_column(&table_defs[TABLE_run], m->part), run);
	return fmax(0, log(most / cell_real(metric_column(m), run)));
}

/* ---- samples -------------------------------------------------------------------------------- */

/* The run and its baselines, settled together: sets are slices of `all`, behind the run. */
struct figures {
	struct run_reading *all;
	struct run_readings *sets; /* a set without the figure is not there */
	ptrdiff_t *sample_of;	   /* set to sample */
	ptrdiff_t *run_of;	   /* of a set's readings, beside `all` */
	ptrdiff_t count, set_count;
};

/* Readings without steps say nothing of noise: where others have steps, they are left out. */
static ptrdiff_t keep_those_with_steps(struct figures *f, ptrdiff_t first, ptrdiff_t end)
{
	ptrdiff_t n = first;

	for (ptrdiff_t i = first; i < end; i++)
		if (f->all[i].steps > 0) {
			f->all[n] = f->all[i];
			f->run_of[n++] = f->run_of[i];
		}
	return n > first ? n : end;
}

static struct figures figures_of(const struct metric *m, const struct tables *head,
	const struct run_sample *samples, bool *const *left, ptrdiff_t count, struct arena *keep)
{
	ptrdiff_t most = 1;
	for (ptrdiff_t i = 0; i < count; i++)
		most += samples[i].count;
	struct figures f = { arena_make(keep, struct run_reading, most),
		arena_make(keep, struct run_readings, count + 1),
		arena_make(keep, ptrdiff_t, count + 1), arena_make(keep, ptrdiff_t, most), 0, 0 };

	if (!read_run(m, head, head, *keep, &f.all[0]))
		return f;
	f.count = 1;
	for (ptrdiff_t i = 0; i < count; i++) {
		ptrdiff_t first = f.count, end = first;
		for (ptrdiff_t k = 0; k < samples[i].count; k++) {
			f.run_of[end] = k;
			end += !left[i][k] &&
			       read_run(m, head, samples[i].runs[k], *keep, &f.all[end]);
		}
		f.count = keep_those_with_steps(&f, first, end);
		if (f.count == first)
			continue;
		f.sets[f.set_count] = (struct run_readings){ f.all + first, f.count - first };
		f.sample_of[f.set_count++] = i;
	}
	noise_settle(f.all, f.count);
	return f;
}

/* By the step time, and for every figure: a slow host is slow in all. */
static void leave_out(const struct tables *head, const struct run_sample *samples,
	bool *const *left, ptrdiff_t count, struct noise_prior prior, struct arena *keep,
	struct diag_list *notes)
{
	const struct figures f = figures_of(&metrics[0], head, samples, left, count, keep);

	for (ptrdiff_t i = 0; i < f.set_count; i++) {
		const struct run_readings set = f.sets[i];
		const struct run_sample *sample = &samples[f.sample_of[i]];
		bool *out = arena_make(keep, bool, set.count);
		if (!noise_outlying(set, prior, BASELINE_ALPHA, *keep, out))
			continue;
		double mean = readings_mean(set);
		for (ptrdiff_t k = 0; k < set.count; k++) {
			ptrdiff_t run = f.run_of[set.items - f.all + k];
			if (!out[k])
				continue;
			left[f.sample_of[i]][run] = true;
			diag_note(notes, keep, DIAG_DIFFERS,
				"a baseline was left out: %.*s: its step is %.1f%% %s than those "
				"of the %td baselines, which differ by less among themselves",
				STR_ARG(sample->names[run]),
				fabs(expm1(set.items[k].x - mean)) * 100,
				set.items[k].x > mean ? "longer" : "shorter", set.count);
		}
	}
}

/* ---- one comparison ------------------------------------------------------------------------- */

/* A wider interval says nothing, unless it holds no change, or no such loss. */
#define BLIND 0.15

/* One step, as it may be the only odd one, shows no noise, whatever is assumed of it. */
enum { STEPS_LEAST = 2 };

static bool is_short(const struct run_reading *here, struct run_readings set)
{
	ptrdiff_t steps = 0;

	for (ptrdiff_t k = 0; k < set.count; k++)
		steps += set.items[k].steps;
	return here->steps < STEPS_LEAST || steps < STEPS_LEAST;
}

/* Below this, of a ratio or of a second, there is rounding alone. */
#define TINY 1e-12

/* Six digits: the same text on every machine, whatever its mathematical library does last. */
static double rounded(double x)
{
	if (!isfinite(x))
		return x;
	if (fabs(x) < TINY)
		return 0;
	double scale = pow(10, 5 - floor(log10(fabs(x))));
	return isfinite(scale) && scale > 0 ? round(x * scale) / scale : x;
}

static struct deltas_row *add_delta(struct tables *head, const struct metric *m,
	const struct run_sample *sample, struct arena *keep)
{
	struct deltas_row *row = table_new(head, deltas, keep);
	struct str query = sample->query;

	row->metric = m->word;
	row->name = m->name;
	row->key =
		query.p ? arena_fmt(keep, "%.*s, %.*s", STR_ARG(m->word), STR_ARG(query)) : m->word;
	row->against = query.p ? query : sample->count == 1 ? sample->names[0] : BASELINE_NAMED;
	row->work_source = work_source(table_rows(head, run), sample);
	return row;
}

static void fill_noise(const struct figures *f, struct noise_prior prior, const struct noise *noise,
	struct deltas_row *row)
{
	row->noise = rounded(noise->taken);
	row->noise_seen = rounded(noise->seen);
	row->noise_runs = (double)(f->count - 1);
	row->noise_assumed = rounded(prior.sd);
	row->noise_worth = rounded(noise->worth);
	row->noise_workloads = prior.workloads;
	row->baselines_more = noise->baselines_more;
	row->steps_times = noise->steps_times;
	row->steps_more = noise->steps_times * (double)f->all[0].steps;
}

/*
 * How much worse it is, in logarithms or points: as if nothing were work whose amount is unknown,
 * and as if all of it were.
 */
struct worse {
	double by[2], half; /* half: of the interval of either */
	bool is_short;	    /* one of the two has too few steps */
};

static double lost_by(const struct metric *m, double step_s, double by)
{
	return rounded(step_s * (is_log(m) ? -expm1(-by) : by));
}

/* Returns which of the two is told: of a change that is sure the smaller one. */
static int fill_change(
	const struct metric *m, double step_s, const struct worse *w, struct deltas_row *row)
{
	int least = w->by[1] < w->by[0];
	double lo = w->by[least] - w->half, hi = w->by[!least] + w->half;
	bool is_ratio = is_log(m),
	     is_seen = !w->is_short && (lo > 0 || hi <= BLIND || w->half <= BLIND);
	int told = w->by[0] == w->by[1] ? 0 : lo > 0 ? least : hi < 0 ? !least : 0;

	row->worse = rounded(is_ratio ? expm1(w->by[told]) : w->by[told]);
	row->resolution = rounded(is_ratio ? expm1(w->half) : w->half);
	row->lo = is_seen ? rounded(is_ratio ? expm1(lo) : lo) : (double)NAN;
	row->hi = is_seen ? rounded(is_ratio ? expm1(hi) : hi) : (double)NAN;
	row->is_short = w->is_short;
	row->lost_s = lost_by(m, step_s, w->by[least]);
	row->lost_most_s = lost_by(m, step_s, w->by[!least]);
	/* A smaller share is a slower step only where the work is the same. */
	if (m->loss != LOSS_WORK || !(w->by[!least] > w->half))
		row->is_slower = m->loss == LOSS_STEP || m->loss == LOSS_RATE;
	return told;
}

static void compare_metric(const struct metric *m, struct tables *head,
	const struct run_sample *samples, bool *const *left, ptrdiff_t count,
	struct noise_prior prior, struct arena *keep)
{
	const struct figures f = figures_of(m, head, samples, left, count, keep);
	const struct run_reading *here = &f.all[0];
	const struct run_row *run = table_rows(head, run);
	double step_s = m->series == SERIES_TIME ? run->step_time_s : run->step_mean_s;

	for (ptrdiff_t i = 0; i < f.set_count; i++) {
		const struct run_readings set = f.sets[i];
		const struct run_sample *sample = &samples[f.sample_of[i]];
		double mean[2] = { readings_mean(set), readings_mean(set) };
		const double x[2] = { here->x, here->x + unknown_part(m, head) };
		struct worse worse;
		struct noise noise;
		for (ptrdiff_t k = 0; k < set.count; k++)
			mean[1] += unknown_part(m, sample->runs[f.run_of[set.items - f.all + k]]) /
				   (double)set.count;
		for (int k = 0; k < 2; k++)
			worse.by[k] = m->more_is_worse ? x[k] - mean[k] : mean[k] - x[k];
		worse.half = noise_interval(here, f.sets, f.set_count, i, prior, BASELINE_ALPHA,
			fmax(fabs(worse.by[0]), BLIND), &noise);
		worse.is_short = is_short(here, set);
		struct deltas_row *row = add_delta(head, m, sample, keep);
		int told = fill_change(m, step_s, &worse, row);
		if (m->loss == LOSS_WORK && row->lo > 0 && !row->work_source.p)
			row->does_less = does_less(head, sample, *keep);
		row->head = told ? exp(x[1]) : cell_real(metric_column(m), run);
		row->base = rounded(is_log(m) ? exp(mean[told]) : mean[told]);
		row->ratio = row->base > 0 ? rounded(row->head / row->base) : (double)NAN;
		row->n_head = rounded(here->worth);
		row->n_base = 0;
		for (ptrdiff_t k = 0; k < set.count; k++)
			row->n_base = rounded(row->n_base + set.items[k].worth);
		row->runs = (double)set.count;
		fill_noise(&f, prior, &noise, row);
	}
}

/* ---- without noise -------------------------------------------------------------------------- */

/* The largest of its table, which no step varies; NaN when none is known. */
static double constant_of(const struct metric *m, const struct tables *t)
{
	const struct table *rows = &t->items[m->table];
	double most = NAN;

	for (ptrdiff_t i = 0; i < rows->count && (m->series != SERIES_PLANNED || is_planned(t));
		i++)
		most = fmax(most,
			cell_real(metric_column(m),
				(const char *)rows->rows + i * table_defs[m->table].row_bytes));
	return most;
}

static void compare_constant(const struct metric *m, struct tables *head,
	const struct run_sample *sample, struct arena *keep)
{
	enum unit unit = metric_column(m)->unit;
	double here = constant_of(m, head), least = NAN, most = NAN, sum = 0;
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < sample->count; i++) {
		double there = constant_of(m, sample->runs[i]);
		if (!(there > 0))
			continue;
		least = fmin(least, there);
		most = fmax(most, there);
		sum += there;
		n++;
	}
	if (isnan(here) || !n)
		return;
	struct deltas_row *row = add_delta(head, m, sample, keep);
	row->runs = (double)n;
	row->head = here;
	row->base = sum / (double)n;
	row->ratio = rounded(here / row->base);
	row->worse = rounded(here / row->base - 1);
	row->lo = rounded(here / most - 1);
	row->hi = rounded(here / least - 1);
	row->is_slower = m->loss == LOSS_STEP;
	if (unit == UNIT_BYTES)
		row->lost_bytes = round(here - row->base);
	if (unit == UNIT_SECONDS)
		row->lost_s = row->lost_most_s = rounded(here - row->base);
}

/* ---- what is lost of a step ----------------------------------------------------------------- */

static bool is_time(const struct deltas_row *row)
{
	return metric_find(row->metric)->loss == LOSS_STEP;
}

static const struct deltas_row *time_of(const struct tables *head, struct str against)
{
	const struct deltas_row *rows = table_rows(head, deltas);

	for (ptrdiff_t i = 0; i < table_count(head, deltas); i++)
		if (is_time(&rows[i]) && str_eq(rows[i].against, against))
			return &rows[i];
	return NULL;
}

/* What a step does counts while its own time does not say that it is slower.  It may be shorter
 * since needless work is gone. */
static bool tells_step(const struct tables *head, const struct deltas_row *row)
{
	enum loss loss = metric_find(row->metric)->loss;
	const struct deltas_row *time = time_of(head, row->against);

	if (loss == LOSS_STEP || loss == LOSS_NONE)
		return loss == LOSS_STEP;
	if (loss == LOSS_WORK && row->work_source.p)
		return false;
	double lost_s = time && time->hi < 0 ? row->lost_s : row->lost_most_s;
	return !time || !(time->lo > 0 || (time->lost_s + lost_s < 0 && !(row->does_less > 0)));
}

/* Of rows that are surely worse the time's goes first, then the larger loss. */
static bool says_better(const struct deltas_row *row, const struct deltas_row *best)
{
	bool is_sure = row->tells_step > 0 && row->lo > 0 && !isnan(row->is_slower);

	if (!is_sure || !best)
		return is_sure;
	if (is_time(row) != is_time(best))
		return is_time(row);
	return row->lost_s > best->lost_s ||
	       (row->lost_s >= best->lost_s && str_cmp(row->key, best->key) < 0);
}

/* One loss is seen in several rows, and against several sets: one row claims it. */
static void claim_losses(struct tables *head)
{
	struct deltas_row *rows = table_rows(head, deltas);
	const struct deltas_row *best = NULL;

	for (ptrdiff_t i = 0; i < table_count(head, deltas); i++) {
		rows[i].tells_step = tells_step(head, &rows[i]);
		best = says_better(&rows[i], best) ? &rows[i] : best;
	}
	for (ptrdiff_t i = 0; i < table_count(head, deltas); i++) {
		struct deltas_row *row = &rows[i];
		row->claimed_s = 0;
		if (row->tells_step > 0 && isnan(row->is_slower))
			row->claimed_s = row->lost_most_s;
		else if (row == best || (row->tells_step > 0 && isnan(row->lo)))
			row->claimed_s = isnan(row->lo) && is_time(row) ? (double)NAN : row->lost_s;
	}
}

/* ---- all of them ---------------------------------------------------------------------------- */

void compare_runs(struct tables *head, const struct run_sample *samples, ptrdiff_t count,
	struct noise_prior prior, struct arena *keep, struct diag_list *notes)
{
	bool **left = arena_make(keep, bool *, count + 1);

	for (ptrdiff_t i = 0; i < count; i++)
		left[i] = arena_make(keep, bool, samples[i].count);
	leave_out(head, samples, left, count, prior, keep, notes);
	for (ptrdiff_t k = 0; k < COUNT_OF(metrics); k++)
		if (!metric_is_exact(&metrics[k]))
			compare_metric(&metrics[k], head, samples, left, count, prior, keep);
	for (ptrdiff_t i = 0; i < count; i++)
		for (ptrdiff_t k = 0; k < COUNT_OF(metrics); k++)
			if (metric_is_exact(&metrics[k]))
				compare_constant(&metrics[k], head, &samples[i], keep);
	claim_losses(head);
}
