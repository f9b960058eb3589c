/*
 * The table of phases: what the window of a device was spent on, so that their times add up to it.
 *
 *	host    |--train 0--|   |--train 1--|  |save|      |--train 2--|
 *	device    [jit_train]      [jit_train]     [jit_eval] [jit_train]
 *	phases     train     input train   checkpoint  jit_eval  train
 *
 * An execution is of its step's sort, or of its module where it is in no step; where two overlap,
 * the time is the first one's.  Between executions the device waits, for what the host was at.
 * Kernels that no program claims are work without a name.
 */
#include <math.h>

#include "measure/writers.h"
#include "measure/op_key.h"

/* ---- training or inference ------------------------------------------------------------------- */

/* "jit_train_step" has the word "train", "jit_constrained" has not. */
static bool has_word(struct str text, struct str word)
{
	ptrdiff_t at = str_find(text, word);

	return at >= 0 && (at == 0 || !is_letter(text.p[at - 1])) &&
	       (at + word.len == text.len || !is_letter(text.p[at + word.len]));
}

enum phase phase_of_name(struct str name)
{
	static const struct {
		struct str word;
		enum phase phase;
	} words[] = {
		{ STR_INIT("prefill"), PHASE_INFERENCE },
		{ STR_INIT("decode"), PHASE_INFERENCE },
		{ STR_INIT("generate"), PHASE_INFERENCE },
		{ STR_INIT("inference"), PHASE_INFERENCE },
		{ STR_INIT("infer"), PHASE_INFERENCE },
		{ STR_INIT("predict"), PHASE_INFERENCE },
		{ STR_INIT("serve"), PHASE_INFERENCE },
		{ STR_INIT("train"), PHASE_TRAIN },
	};

	for (ptrdiff_t i = 0; i < COUNT_OF(words); i++)
		if (has_word(name, words[i].word))
			return words[i].phase;
	return PHASE_UNKNOWN;
}

bool is_evaluation(struct str name)
{
	static const struct str words[] = { STR_INIT("eval"), STR_INIT("evaluate"),
		STR_INIT("evaluation"), STR_INIT("validate"), STR_INIT("validation") };

	for (ptrdiff_t i = 0; i < COUNT_OF(words); i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

enum phase program_phase(const struct program *p)
{
	if (!p)
		return PHASE_UNKNOWN;
	return p->has_gradient ? PHASE_TRAIN : phase_of_name(p->module);
}

bool program_serves(const struct run *run, const struct program *p)
{
	const struct job_file *job = run->options->job;
	enum phase phase = job && job->phase ? (enum phase)job->phase : program_phase(p);

	return p && phase == PHASE_INFERENCE;
}

/* ---- the table ------------------------------------------------------------------------------- */

double programs_per_step(const struct run *run)
{
	const struct device *last = run->lasting.device;
	double sum = 0, steps = 0;

	if (run->plans == PLANS_SCHEDULED) {
		for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++)
			sum += run->schedule.on_last[i];
		return sum;
	}
	if (run->source != STEPS_PROGRAM)
		return NAN;
	if (!last || !last->sweep.runs_cut)
		return 1;
	for (ptrdiff_t i = 0; i < last->sweep.program_cap; i++) {
		double executions = (double)last->sweep.programs[i].executions;
		sum += executions;
		steps += i == run->main->index ? executions : 0;
	}
	return steps > 0 ? sum / steps : (double)NAN;
}

/* Work of one sort of step, or of one module. */
struct work {
	struct str name, modules;
	const struct step_sort *sort; /* NULL: a module's */
	enum role role;
	int64_t time_ps, count, last_step;
	double judged_ps;    /* of that time */
	struct dist lengths; /* of executions of a module */
};

struct works {
	struct work *items;
	ptrdiff_t count, cap;
	struct map by_module;
	struct arena *keep;
};

static struct work *work_of_module(struct works *w, const struct program *p)
{
	struct str name = p->module.len ? p->module : program_text(p, w->keep);
	int32_t at = map_put(&w->by_module, name, (int32_t)w->count, w->keep);
	if (at == w->count)
		*arena_push(w->keep, w->items, w->count, w->cap) = (struct work){
			.name = name, .modules = name, .role = p->role, .last_step = -1
		};
	return &w->items[at];
}

static struct work *work_of(const struct run *run, struct works *w, const struct program_run *r)
{
	const struct program *p = registry_program_at(run->registry, r->program);
	if (r->sort >= 0)
		return &w->items[r->sort];
	if (run->plans == PLANS_SCHEDULED &&
		p->role == ROLE_STEP) /* a part of one, at an end of the window */
		return &w->items[run->schedule.judged];
	return work_of_module(w, p);
}

static void sorts_begin(const struct run *run, struct works *w)
{
	const struct schedule *s = &run->schedule;

	for (ptrdiff_t i = 0; run->plans == PLANS_SCHEDULED && i < s->sort_count; i++) {
		const struct step_sort *sort = &s->sorts[i];
		*arena_push(w->keep, w->items, w->count, w->cap) =
			(struct work){ .name = sort->name,
				.modules = sort->modules,
				.sort = sort,
				.role = i == s->judged ? ROLE_STEP : ROLE_OTHER,
				.last_step = -1 };
	}
}

static int64_t work_add(
	struct work *of, const struct programs *programs, ptrdiff_t program, int64_t time_ps)
{
	double share = of->role == ROLE_STEP ? 1 : programs->of[program].judged_ratio;

	of->time_ps += time_ps;
	of->judged_ps += share > 0 ? share * (double)time_ps : 0;
	return time_ps;
}

/* Returns the time in executions. */
static int64_t works_add(const struct run *run, const struct programs *programs, struct works *w)
{
	const struct lasting *l = &run->lasting;
	int64_t at_ps = INT64_MIN, all_ps = 0;

	for (ptrdiff_t i = 0; i < l->run_count; i++) {
		const struct program_run *r = &l->runs[i];
		struct work *of = work_of(run, w, r);
		int64_t from_ps = r->start_ps > at_ps ? r->start_ps : at_ps;
		of->count += !of->sort || (r->step >= 0 && r->step != of->last_step);
		if (!of->sort)
			dist_add(&of->lengths, w->keep, r->end_ps - r->start_ps);
		of->last_step = r->step;
		if (r->end_ps <= from_ps)
			continue;
		all_ps += work_add(of, programs, r->program, r->end_ps - from_ps);
		at_ps = r->end_ps;
	}
	return all_ps;
}

/* The same by the programs' sums; lengths of executions are those of all devices. */
static int64_t works_sum(const struct run *run, const struct programs *programs, struct works *w)
{
	const struct sweep *s = &run->lasting.device->sweep;
	const struct program *const *ranked = registry_programs_ranked(run->registry);
	int64_t all_ps = 0;

	for (ptrdiff_t k = 0; k < registry_program_count(run->registry); k++) {
		int32_t i = ranked[k]->index;
		struct dist lengths = aggregate_program(run->sums, i);
		if (i >= s->program_cap || s->programs[i].executions == 0)
			continue;
		struct work *of = work_of_module(w, ranked[k]);
		of->count += s->programs[i].executions;
		dist_merge(&of->lengths, w->keep, &lengths);
		all_ps += work_add(of, programs, i, s->programs[i].time_ps);
	}
	return all_ps;
}

static struct phases_row *phase_row(
	const struct run *run, struct str name, struct str role, int64_t time_ps, int64_t window_ps)
{
	struct phases_row *row = table_new(run->tables, phases, run->keep);

	row->name = name;
	row->role = role;
	row->is_judged = row->judged_share = row->is_wait = row->marks = 0;
	row->time_s = (double)time_ps * PS;
	row->time_share = (double)time_ps / (double)window_ps;
	return row;
}

/* Work that is not judged now is named to --step by its module, if that ran PERIODS_MIN times. */
static void work_row(const struct run *run, const struct work *w, int64_t window_ps)
{
	struct phases_row *row =
		phase_row(run, w->name, word_at(WORK_WORDS, w->role), w->time_ps, window_ps);

	row->is_judged = w->role == ROLE_STEP;
	row->judged_share = w->judged_ps / (double)w->time_ps;
	row->modules = w->modules;
	row->count = (double)w->count;
	if (w->sort && run->schedule.is_marked)
		row->marks = (double)w->sort->count;
	if (w->count > 0)
		row->p50_s = !w->sort ? dist_quantile(&w->lengths, 0.5, *run->keep) * PS
			     : w->role == ROLE_STEP && run->source != STEPS_WINDOW
				     ? run->step_time_s
				     : w->sort->p50_ps * PS;
	if (w->sort)
		row->step = w->sort->option;
	else if (run->plans == PLANS_SCHEDULED && w->count >= PERIODS_MIN)
		row->step = w->name;
}

/* `lengths` of all its waits, or NULL: not known. */
static void wait_row(const struct run *run, struct str name, int64_t time_ps,
	const struct dist *lengths, int64_t window_ps)
{
	struct phases_row *row = phase_row(run, name, STR("wait"), time_ps, window_ps);

	row->is_wait = true;
	if (lengths)
		row->count = (double)lengths->count;
	if (lengths && lengths->count)
		row->p50_s = dist_quantile(lengths, 0.5, *run->keep) * PS;
}

static int phase_cmp(const void *a, const void *b)
{
	const struct phases_row *x = a, *y = b;
	int order = order_numbers(y->time_s, x->time_s);

	order = order ? order : str_cmp(x->role, y->role);
	order = order ? order : str_cmp(x->name, y->name);
	return order ? order : str_cmp(x->modules, y->modules);
}

/* Of the time in executions, what is judged; NaN where no program is known to have run. */
static double verdict_share(const struct phases_row *rows, ptrdiff_t count)
{
	double judged_s = 0, all_s = 0;

	for (ptrdiff_t i = 0; i < count; i++) {
		all_s += rows[i].is_wait > 0 ? 0 : rows[i].time_s;
		judged_s += rows[i].time_s * rows[i].judged_share;
	}
	return judged_s / all_s;
}

double fill_phases(
	const struct run *run, const struct gap_sums *gaps, const struct programs *programs)
{
	const struct lasting *l = &run->lasting;
	struct works w = { .keep = run->keep };

	if (!l->device || l->device->sweep.last_ps <= l->device->sweep.first_ps)
		return NAN;
	const struct sweep *s = &l->device->sweep;
	bool summed = s->runs_cut;
	sorts_begin(run, &w);
	int64_t window_ps = s->last_ps - s->first_ps;
	int64_t executed_ps = (summed ? works_sum : works_add)(run, programs, &w);
	for (ptrdiff_t i = 0; i < w.count; i++)
		if (w.items[i].time_ps > 0)
			work_row(run, &w.items[i], window_ps);
	/* Kernels of no program run where no execution does. */
	int64_t left_ps = s->busy_ps > executed_ps ? s->busy_ps - executed_ps : 0;
	int64_t untold_ps = window_ps - executed_ps; /* waits that are in none of the sums */
	for (int c = CAUSE_UNKNOWN; c < CAUSES; c++)
		untold_ps -= gaps->waits[c].time_ps;
	if (left_ps > 0)
		work_row(run,
			&(struct work){ .name = STR("kernels of no known program"),
				.time_ps = left_ps,
				.judged_ps = (double)left_ps },
			window_ps);
	for (int c = CAUSE_UNKNOWN; c < CAUSES; c++) {
		int64_t time_ps = gaps->waits[c].time_ps;
		time_ps += c == CAUSE_UNKNOWN && untold_ps > 0 ? untold_ps : 0;
		int64_t less_ps = time_ps < left_ps ? time_ps : left_ps;
		left_ps -= less_ps;
		if (time_ps > less_ps)
			wait_row(run, word_at(GAP_WORDS, c), time_ps - less_ps,
				summed ? NULL : &gaps->waits[c].lengths, window_ps);
	}
	sort_by(table_rows(run->tables, phases), table_count(run->tables, phases), phase_cmp);
	return verdict_share(table_rows(run->tables, phases), table_count(run->tables, phases));
}
