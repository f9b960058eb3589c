/* Baselines: what may be compared, and what differs.  See baseline.h. */
#include "measure/baseline.h"

#include <math.h>

#include "base/kind.h"
#include "base/map.h"
#include "base/out.h"
#include "hlo/cost.h"
#include "measure/deltas.h"
#include "measure/diff.h"

/* ---- the same run --------------------------------------------------------------------------- */

/* What the clocks of a capture say: no job file, hardware file or rule has a part in it. */
static const struct str clocked[] = { STR_INIT("window_s"), STR_INIT("step_time_s"),
	STR_INIT("step_time_lo_s"), STR_INIT("step_time_hi_s"), STR_INIT("steps"),
	STR_INIT("devices"), STR_INIT("busy_ratio") };

/*
 * With --hosts-sample a part of a capture is read: whatever devices both have say the same then, of
 * the whole window, to the picosecond.
 */
static bool shares_devices(const struct tables *x, const struct tables *y)
{
	const struct devices_row *a = table_rows(x, devices), *b = table_rows(y, devices);
	ptrdiff_t shared = 0;

	for (ptrdiff_t i = 0; i < table_count(x, devices); i++)
		for (ptrdiff_t k = 0; k < table_count(y, devices); k++) {
			if (!str_eq(a[i].host, b[k].host) || !str_eq(a[i].device, b[k].device) ||
				!(a[i].busy_s > 0))
				continue;
			if (a[i].busy_s != b[k].busy_s || a[i].window_s != b[k].window_s ||
				a[i].events != b[k].events)
				return false;
			shared++;
		}
	return shared > 0;
}

/* Times are picoseconds: that a window and all that follows agree to the last is no accident. */
static bool is_same_run(const struct tables *x, const struct tables *y)
{
	const struct run_row *a = x && y ? row_of_run(x) : NULL, *b = a ? row_of_run(y) : NULL;

	if (!a || !b || !(a->window_s > 0))
		return false;
	if (a->hosts < b->hosts || a->hosts > b->hosts)
		return shares_devices(x, y);
	const struct memory_row *p = table_rows(x, memory), *q = table_rows(y, memory);
	for (ptrdiff_t i = 0; i < table_count(x, memory) && i < table_count(y, memory); i++)
		if (p[i].window_peak_bytes < q[i].window_peak_bytes ||
			p[i].window_peak_bytes > q[i].window_peak_bytes)
			return false;
	for (ptrdiff_t i = 0; i < COUNT_OF(clocked); i++) {
		const struct column *c = table_column(&table_defs[TABLE_run], clocked[i]);
		double in_a = cell_real(c, a), in_b = cell_real(c, b);
		if (isnan(in_a) != isnan(in_b) || (!isnan(in_a) && in_a != in_b))
			return false;
	}
	return true;
}

/* ---- parity --------------------------------------------------------------------------------- */

/* Columns of the run that both must agree in, where both know them; a chip that only one knows is
 * another one.  main_program is the workload of a run that no job file names. */
static const struct {
	struct str column;
	const char *words;
} parity[] = { { STR_INIT("platform"), "the platform" },
	{ STR_INIT("main_program"), "the main program" }, { STR_INIT("chip"), "the chip" },
	{ STR_INIT("chips"), "the number of chips" },
	{ STR_INIT("devices"), "the number of devices at work" },
	{ STR_INIT("phase"), "the phase" }, { STR_INIT("global_batch"), "the global batch" },
	{ STR_INIT("tokens_per_step"), "the number of tokens in a step" },
	{ STR_INIT("evidence"), "the evidence" } };

/* In the order of STEPS_WORDS: what marks a step. */
static const char *const marks[] = { "nothing", "an execution of the program",
	"the job's annotation", "the profiler's line of steps" };

static struct str cell_shown(const struct column *c, const void *row, struct arena *keep)
{
	if (str_eq(c->name, STR("steps_source")) && !cell_is_null(c, row))
		for (int i = 0; i < COUNT_OF(marks); i++)
			if (str_eq(cell_text(c, row), word_at(STEPS_WORDS, i)))
				return str_from(marks[i]);
	if (c->type == COLUMN_TEXT)
		return cell_is_null(c, row) ? STR("unknown") : cell_text(c, row);
	return unit_text(keep, cell_real(c, row), c->unit);
}

static bool cells_differ(const struct column *c, const void *a, const void *b)
{
	if (cell_is_null(c, a) || cell_is_null(c, b))
		return str_eq(c->name, STR("chip")) && cell_is_null(c, a) != cell_is_null(c, b);
	if (c->type != COLUMN_TEXT)
		return cell_real(c, a) != cell_real(c, b);
	struct str x = cell_text(c, a), y = cell_text(c, b);
	return !str_eq(x, y) && !str_eq(x, STR("unknown")) && !str_eq(y, STR("unknown"));
}

/* Executions of the main program in a step: of its ops, those in a loop come more often. */
static double main_per_step(const struct tables *t)
{
	const struct ops_row *row = table_rows(t, ops);
	double least = NAN;

	for (ptrdiff_t i = 0; i < table_count(t, ops); i++)
		if (str_eq(row[i].common->module, row_of_run(t)->main_program) &&
			row[i].common->per_step > 0)
			least = fmin(least, row[i].common->per_step);
	return least;
}

/*
 * Times as much work as this is another step.  A backward pass that computes the forward pass again
 * has 4/3 of the work; another batch or another model usually twice as much.
 */
#define WORK_RATIO_MAX 1.5

/* FLOPs of a step on a device; NaN: not known. */
struct work {
	double least, most;
};

static double peak_flops(const struct tables *t)
{
	double peak = NAN;

	for (ptrdiff_t i = 0; i < table_count(t, devices); i++)
		peak = fmax(peak, table_rows(t, devices)[i].peak_flops);
	return peak;
}

/* What is unknown can only add, and no more than the chip could do in its time. */
static struct work step_work(const struct tables *t)
{
	const struct run_row *run = row_of_run(t);
	double sum = 0;

	if (!isnan(run->step_flops))
		return (struct work){ run->step_flops, run->step_flops };
	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct op_common *op = table_rows(t, ops)[i].common;
		bool is_least = !str_eq(op->cost_bound, word_at(COST_WORDS, COST_UPPER - 1));
		if (op->flops * op->per_step > 0 && is_least)
			sum += op->flops * op->per_step;
	}
	return (struct work){ sum, sum + run->uncounted_ratio * run->step_mean_s * peak_flops(t) };
}

static bool may_compute(struct str kind)
{
	enum op_kind k = op_kind_find(kind);

	return k == KIND_CUSTOM || k == KIND_MATMUL || k == KIND_CONVOLUTION ||
	       k == KIND_ATTENTION || k == KIND_UNKNOWN;
}

/* Seconds of a step in ops of unknown work that the other run has nothing like. */
static double unknown_new_s(
	const struct tables *head, const struct tables *base, struct arena scratch)
{
	const struct ops_row *ops = table_rows(head, ops);
	struct map unknown = { 0 };
	struct op_diff d;
	double sum = 0;

	for (ptrdiff_t i = 0; i < table_count(head, ops); i++)
		if (isnan(ops[i].common->flops) && may_compute(ops[i].common->kind))
			map_put(&unknown, ops[i].key, 1, &scratch);
	diff_ops(base, head, &scratch, &d);
	for (ptrdiff_t i = 0; i < d.count; i++)
		if (str_eq(d.items[i].change, word_at(CHANGE_WORDS, CHANGE_NEW)) &&
			map_get(&unknown, d.items[i].key) != MAP_NONE)
			sum += d.items[i].head_s;
	return sum;
}

/* "at least 6.6 TFLOP" */
static struct str work_text(const struct work *w, bool is_more, struct arena *keep)
{
	return arena_fmt(keep, "%s%.*s",
		w->least == w->most ? ""
		: is_more	    ? "at least "
				    : "at most ",
		STR_ARG(unit_text(keep, is_more ? w->least : w->most, UNIT_FLOPS)));
}

static bool work_is_alike(const struct tables *head, const struct baseline *item,
	struct arena scratch, struct diag *why)
{
	const struct run_row *here = row_of_run(head), *base = row_of_run(item->tables);
	const struct work a = step_work(head), b = step_work(item->tables);
	bool is_more = a.least > WORK_RATIO_MAX * b.most;

	/* How long a capture is says nothing of a step. */
	if (is_window(head) || job_says_work(here, base))
		return true;
	if (!is_more && a.most > WORK_RATIO_MAX * b.most && here->step_time_s > base->step_time_s) {
		double new_s = unknown_new_s(head, item->tables, scratch);
		if (a.least + new_s * peak_flops(head) > WORK_RATIO_MAX * b.most)
			return diag_set(why, DIAG_DIFFERS,
				"ops that are new and whose work is unknown take %.*s of a step: "
				"it may do more than 1.5 times the work of %.*s, and no job file "
				"of both says that the batch is the same",
				STR_ARG(unit_text(&scratch, new_s, UNIT_SECONDS)),
				STR_ARG(item->name));
	}
	if (!is_more && !(b.least > WORK_RATIO_MAX * a.most))
		return true;
	return diag_set(why, DIAG_DIFFERS,
		"a step computes %.*s here and %.*s in %.*s, and no job file of both says that "
		"the batch is the same",
		STR_ARG(work_text(&a, is_more, &scratch)),
		STR_ARG(work_text(&b, !is_more, &scratch)), STR_ARG(item->name));
}

/*
 * Marks may stand around less work than a period of programs is, or around more: around each
 * microbatch, say.  By one way of telling steps, another number of executions is the job's news.
 */

static bool steps_are_alike(const struct tables *head, const struct baseline *item,
	struct arena scratch, struct diag *why)
{
	const struct run_row *here = row_of_run(head), *base = row_of_run(item->tables);
	const struct column *source = table_column(&table_defs[TABLE_run], STR("steps_source"));
	double a = main_per_step(head), b = main_per_step(item->tables);
	struct str none = word_at(STEPS_WORDS, 0);

	/* How long a capture is says nothing of a step. */
	if (str_eq(here->steps_source, none) != str_eq(base->steps_source, none))
		return diag_set(why, DIAG_DIFFERS,
			"nothing marks the steps of %.*s, and %s has steps",
			STR_ARG(str_eq(here->steps_source, none) ? STR("this run") : item->name),
			str_eq(here->steps_source, none) ? "the baseline" : "this run");
	if (here->is_server + base->is_server == 1)
		return diag_set(why, DIAG_DIFFERS,
			"a step of %s leaves out the waits between executions, and one of %s holds "
			"them: mark the steps of both, or of neither",
			here->is_server > 0 ? "this run" : "the baseline",
			here->is_server > 0 ? "the baseline" : "this run");
	if (str_eq(here->steps_source, base->steps_source) ||
		!(fmax(a, b) > WORK_RATIO_MAX * fmin(a, b)))
		return true;
	return diag_set(why, DIAG_DIFFERS,
		"a step is %.*s executions of %.*s here (marked by %.*s) and %.*s in %.*s (by "
		"%.*s); --step names what a step is in both",
		STR_ARG(unit_text(&scratch, a, UNIT_COUNT)), STR_ARG(here->main_program),
		STR_ARG(cell_shown(source, here, &scratch)),
		STR_ARG(unit_text(&scratch, b, UNIT_COUNT)), STR_ARG(item->name),
		STR_ARG(cell_shown(source, base, &scratch)));
}

/* Why not: the first column in which the two must agree and do not. */
bool baseline_fits(const struct tables *head, const struct baseline *item, struct arena scratch,
	struct diag *why)
{
	const struct run_row *here = row_of_run(head),
			     *base = item->tables ? row_of_run(item->tables) : NULL;

	if (!item->tables)
		return diag_set(why, DIAG_DIFFERS, "%.*s", STR_ARG(item->name));
	if (!base)
		return diag_set(why, DIAG_DIFFERS, "%.*s has no measured run", STR_ARG(item->name));
	for (ptrdiff_t i = 0; i < COUNT_OF(parity); i++) {
		const struct column *c = table_column(&table_defs[TABLE_run], parity[i].column);
		if (cells_differ(c, here, base))
			return diag_set(why, DIAG_DIFFERS, "%s is %.*s here and %.*s in %.*s",
				parity[i].words, STR_ARG(cell_shown(c, here, &scratch)),
				STR_ARG(cell_shown(c, base, &scratch)), STR_ARG(item->name));
	}
	if (here->labels.p && base->labels.p && !str_eq(here->name, base->name))
		return diag_set(why, DIAG_DIFFERS, "the workload is %.*s here and %.*s in %.*s",
			STR_ARG(here->name), STR_ARG(base->name), STR_ARG(item->name));
	return steps_are_alike(head, item, scratch, why) && work_is_alike(head, item, scratch, why);
}

/* ---- the news ------------------------------------------------------------------------------- */

/* Ops worth a mention: what is shorter comes and goes with every compiler. */
#define NEWS_SHARE 0.001

/* The share of all ops' time that ops of one change take; 0 where each is too short to mention. */
static double share_of_change(const struct op_diff *d, enum change change)
{
	struct str word = word_at(CHANGE_WORDS, change);
	double share = 0, most = 0;

	for (ptrdiff_t i = 0; i < d->count; i++) {
		const struct changes_row *row = &d->items[i];
		double part = change == CHANGE_GONE ? row->base_s / d->base_ops_s
						    : row->head_s / d->head_ops_s;
		if (!str_eq(row->change, word) || isnan(part))
			continue;
		share += part;
		most = fmax(most, part);
	}
	return most >= NEWS_SHARE ? share : 0;
}

/* "3 new ops take 18.5% of the time, 1 op that is gone took 4.10%" */
static struct str news_of_ops(const struct op_diff *d, struct arena *keep)
{
	static const struct {
		enum change change;
		const char *one, *many;
	} news[] = {
		{ CHANGE_NEW, "new op takes", "new ops take" },
		{ CHANGE_CHANGED, "changed op takes", "changed ops take" },
		{ CHANGE_GONE, "op that is gone took", "ops that are gone took" },
	};
	struct out *o = out_memory(keep);

	for (ptrdiff_t i = 0; i < COUNT_OF(news); i++) {
		double share = share_of_change(d, news[i].change);
		ptrdiff_t count = d->counts[news[i].change];
		bool is_first = !out_text(o).len;
		if (share > 0)
			out_fmt(out_part(o, ", "), "%td %s %.*s%s", count,
				count == 1 ? news[i].one : news[i].many,
				STR_ARG(unit_text(keep, share, UNIT_RATIO)),
				is_first ? " of the time" : "");
	}
	return out_text(o);
}

/* What matmuls and convolutions of a type take of a step; of any that is known without one. */
static double matmul_share(const struct tables *t, struct str dtype)
{
	double share = 0;

	for (ptrdiff_t i = 0; i < table_count(t, ops); i++) {
		const struct ops_row *op = &table_rows(t, ops)[i];
		bool is_of =
			dtype.p ? str_eq(op->common->dtype, dtype) : op->common->dtype.p != NULL;
		enum op_kind kind =
			is_of && op->time_share > 0 ? op_kind_find(op->common->kind) : KIND_UNKNOWN;
		if (kind == KIND_MATMUL || kind == KIND_CONVOLUTION)
			share += op->time_share;
	}
	return share;
}

/* Another precision, which a result's shape does not show. */
static void tell_dtypes(const struct tables *head, const struct tables *base, struct arena *keep,
	struct diag_list *notes)
{
	if (!(matmul_share(head, MISSING) > 0) || !(matmul_share(base, MISSING) > 0))
		return;
	for (int t = 0; t < DTYPE_COUNT; t++) {
		struct str name = dtype_name((enum dtype)t);
		double here = matmul_share(head, name), there = matmul_share(base, name);
		if ((here >= NEWS_SHARE) == (there >= NEWS_SHARE))
			continue;
		diag_note(notes, keep, DIAG_DIFFERS,
			"matmuls in %.*s take %.*s of the time, was %.*s", STR_ARG(name),
			STR_ARG(unit_text(keep, here, UNIT_RATIO)),
			STR_ARG(unit_text(keep, there, UNIT_RATIO)));
	}
}

/* `d`: op by op; NULL where one of them has no ops. */
static void tell_news(const struct tables *head, const struct baseline *base,
	const struct op_diff *d, struct arena *keep, struct diag_list *notes)
{
	static const struct {
		struct str column;
		const char *words;
	} told[] = { { STR_INIT("jax_version"), "JAX is" },
		{ STR_INIT("jaxlib_version"), "jaxlib is" },
		{ STR_INIT("runtime_version"), "the runtime is" },
		{ STR_INIT("hosts"), "the number of hosts is" },
		{ STR_INIT("steps_source"), "the source of the steps is" } };
	struct str ops = d ? news_of_ops(d, keep) : STR("");

	for (ptrdiff_t i = 0; i < COUNT_OF(told); i++) {
		const struct column *c = table_column(&table_defs[TABLE_run], told[i].column);
		if (cells_differ(c, row_of_run(head), row_of_run(base->tables)))
			diag_note(notes, keep, DIAG_DIFFERS, "%s %.*s, was %.*s", told[i].words,
				STR_ARG(cell_shown(c, row_of_run(head), keep)),
				STR_ARG(cell_shown(c, row_of_run(base->tables), keep)));
	}
	tell_dtypes(head, base->tables, keep, notes);
	if (ops.len)
		diag_note(notes, keep, DIAG_DIFFERS, "the program changed: %.*s", STR_ARG(ops));
}

/* ---- the comparison ------------------------------------------------------------------------- */

/* What was chosen of the baselines, each set of them in the order given. */
struct choice {
	struct run_sample *samples;
	ptrdiff_t count, taken;
	const struct baseline *first;
	struct str *left; /* why the others were left out */
	ptrdiff_t left_count;
	ptrdiff_t missing; /* of these: queries that found no run, and the run itself */
};

static void choose_one(struct choice *c, const struct tables *head, const struct baseline *item,
	ptrdiff_t room, struct arena *keep)
{
	struct diag why;
	ptrdiff_t i = 0;

	if (!baseline_fits(head, item, *keep, &why)) {
		c->left[c->left_count++] = arena_str(keep, str_from(why.text));
		c->missing += item->is_missing;
		return;
	}
	while (i < c->count && !str_eq(c->samples[i].query, item->query))
		i++;
	if (i == c->count)
		c->samples[c->count++] = (struct run_sample){ item->query,
			arena_make(keep, const struct tables *, room),
			arena_make(keep, struct str, room), 0 };
	c->samples[i].names[c->samples[i].count] = item->name;
	c->samples[i].runs[c->samples[i].count++] = item->tables;
	c->first = c->first ? c->first : item;
	c->taken++;
}

static bool choose(struct choice *c, const struct tables *head, const struct baseline *items,
	ptrdiff_t count, struct arena *keep, struct diag *err)
{
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct baseline *item = &items[i], *twin = NULL;
		bool is_head = item->is_head || is_same_run(head, item->tables);
		bool named = !item->query.p;
		/* A run given twice would show that nothing ever varies. */
		for (ptrdiff_t k = 0; k < i && !twin; k++)
			if (str_eq(items[k].query, item->query) &&
				is_same_run(items[k].tables, item->tables))
				twin = &items[k];
		if (is_head && named && item->is_of_others) {
			c->missing++;
			c->left[c->left_count++] = arena_fmt(keep,
				"%.*s is this very run, and no run is compared with itself",
				STR_ARG(item->name));
			continue;
		}
		if (is_head && named)
			return diag_set(err, DIAG_BASELINE,
				"%.*s is this very run, and there is nothing to compare; name an "
				"earlier one",
				STR_ARG(item->name));
		if (twin && named)
			return diag_set(err, DIAG_BASELINE,
				"the baselines %.*s and %.*s are one run, which cannot show how "
				"runs vary; name it once",
				STR_ARG(twin->name), STR_ARG(item->name));
		if (!is_head && !twin)
			choose_one(c, head, item, count, keep);
	}
	return true;
}

#define COMPARABLE STR("baseline-comparable")

bool baseline_was_there(const struct tables *head)
{
	for (ptrdiff_t i = 0; i < table_count(head, quality); i++)
		if (str_eq(table_rows(head, quality)[i].name, COMPARABLE))
			return true;
	return false;
}

/* More of them say nothing new: usually all differ in the same way. */
enum { LEFT_MOST = 5 };

bool baseline_compare(struct tables *head, const struct baseline *items, ptrdiff_t count,
	struct noise_prior prior, struct arena *keep, const struct baseline **ret,
	struct diag_list *notes, struct diag *err)
{
	struct choice c = { .samples = arena_make(keep, struct run_sample, count + 1),
		.left = arena_make(keep, struct str, count + 1) };

	*ret = NULL;
	if (!count || !row_of_run(head))
		return true;
	if (!choose(&c, head, items, count, keep, err))
		return false;
	struct quality_row *row = table_new(head, quality, keep);
	bool is_missing = !c.taken && c.missing == c.left_count && c.missing;
	row->name = is_missing ? STR("baseline-found") : COMPARABLE;
	row->ok = c.taken > 0;
	row->detail = c.taken	     ? arena_fmt(keep, "%td of %td baselines match", c.taken,
					       c.taken + c.left_count)
		      : c.left_count ? c.left[0]
				     : STR("all that was found is this very run");
	/* Where none was taken, the gate tells the first. */
	for (ptrdiff_t i = c.taken ? 0 : 1; i < c.left_count && i < LEFT_MOST; i++)
		diag_note(notes, keep, DIAG_DIFFERS, "a baseline was left out: %.*s",
			STR_ARG(c.left[i]));
	if (c.left_count > LEFT_MOST)
		diag_note(notes, keep, DIAG_DIFFERS, "%td more baselines were left out",
			c.left_count - LEFT_MOST);
	if (!c.taken)
		return true;
	const struct tables *base = c.first->tables;
	*ret = c.first;
	/* Op by op; a base without ops would have every op come from nowhere. */
	bool has_ops = table_count(base, ops) && table_count(head, ops);
	struct op_diff d;
	if (has_ops) {
		diff_ops(base, head, keep, &d);
		diff_fill(&d, head, keep);
	}
	tell_news(head, c.first, has_ops ? &d : NULL, keep, notes);
	compare_runs(head, c.samples, c.count, prior, keep, notes);
	return true;
}
