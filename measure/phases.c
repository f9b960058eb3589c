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
#include <stdlib.h>

#include "measure/measured.h"
#include "measure/op_key.h"

struct lasting lasting_of(const struct measured *m)
{
	const struct device *d = NULL;

	if (m->is_scheduled)
		return (struct lasting){ &m->devices[m->schedule.last], m->schedule.runs,
			m->schedule.run_count };
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *one = &m->devices[i];
		int64_t end_ps = one->sweep.last_ps + one->plane->host_shift_ps;
		if (one->sweep.events > 0 &&
			(!d || end_ps > d->sweep.last_ps + d->plane->host_shift_ps))
			d = one;
	}
	if (!d || d->sweep.runs_cut)
		return (struct lasting){ 0 };
	return (struct lasting){ d, d->sweep.runs, d->sweep.run_count };
}

double programs_per_step(const struct measured *m)
{
	double sum = 0;

	if (!m->is_scheduled)
		return m->source == STEPS_PROGRAM ? 1 : NAN;
	for (ptrdiff_t i = 0; i < registry_program_count(m->registry); i++)
		sum += m->schedule.on_last[i];
	return sum;
}

/* Work of one sort of step, or of one module. */
struct work {
	struct str name, modules, option;
	enum role role;
	double marks;
	int64_t time_ps, count, last_step;
	double p50_ps;
	struct dist lengths; /* of executions of a module */
	bool is_sort;
};

struct works {
	struct work *items;
	ptrdiff_t count, cap;
	struct map by_module;
	struct arena *keep;
};

static struct work *work_of(const struct measured *m, struct works *w, const struct program_run *r)
{
	const struct program *p = registry_program_at(m->registry, r->program);
	if (r->sort >= 0)
		return &w->items[r->sort];
	if (m->is_scheduled && p->role == ROLE_STEP) /* a part of one, at an end of the window */
		return &w->items[m->schedule.judged];
	struct str name = p->module.len ? p->module : program_text(p, w->keep);
	int32_t at = map_put(&w->by_module, name, (int32_t)w->count, w->keep);
	if (at == w->count)
		*arena_push(w->keep, w->items, w->count, w->cap) = (struct work){
			.name = name, .modules = name, .role = p->role, .last_step = -1
		};
	return &w->items[at];
}

static void sorts_begin(const struct measured *m, struct works *w)
{
	const struct schedule *s = &m->schedule;

	for (ptrdiff_t i = 0; m->is_scheduled && i < s->sort_count; i++) {
		const struct step_sort *sort = &s->sorts[i];
		*arena_push(w->keep, w->items, w->count, w->cap) =
			(struct work){ .name = sort->name,
				.modules = sort->modules,
				.option = sort->option,
				.role = i == s->judged ? ROLE_STEP : ROLE_OTHER,
				.marks = s->is_marked ? (double)sort->count : 0,
				.p50_ps = sort->p50_ps,
				.last_step = -1,
				.is_sort = true };
	}
}

/* Returns the time in executions. */
static int64_t works_add(const struct measured *m, struct works *w)
{
	const struct lasting *l = &m->lasting;
	int64_t at_ps = INT64_MIN, all_ps = 0;

	for (ptrdiff_t i = 0; i < l->run_count; i++) {
		const struct program_run *r = &l->runs[i];
		struct work *of = work_of(m, w, r);
		int64_t from_ps = r->start_ps > at_ps ? r->start_ps : at_ps;
		if (of->is_sort)
			of->count += r->step >= 0 && r->step != of->last_step;
		else
			dist_add(&of->lengths, w->keep, r->end_ps - r->start_ps);
		of->last_step = r->step;
		if (r->end_ps <= from_ps)
			continue;
		of->time_ps += r->end_ps - from_ps;
		all_ps += r->end_ps - from_ps;
		at_ps = r->end_ps;
	}
	return all_ps;
}

/* Work that is not judged now is named to --step by its module, if that ran PERIODS_MIN times. */
static void work_row(struct measured *m, const struct work *w, int64_t window_ps)
{
	struct phases_row *row = table_new(m->tables, phases, m->keep);
	bool repeats = m->is_scheduled && w->lengths.count >= PERIODS_MIN;

	row->name = w->name;
	row->role = role_names[w->role];
	row->is_judged = w->role == ROLE_STEP;
	row->is_wait = false;
	row->modules = w->modules;
	row->marks = w->marks;
	row->count = (double)(w->is_sort ? w->count : w->lengths.count);
	row->p50_s = w->is_sort ? w->p50_ps * PS : dist_quantile(&w->lengths, 0.5, *m->keep) * PS;
	if (w->is_sort && w->role == ROLE_STEP && m->source != STEPS_WINDOW)
		row->p50_s = m->step_time_s;
	if (row->count == 0)
		row->p50_s = NAN;
	row->time_s = (double)w->time_ps * PS;
	row->time_share = (double)w->time_ps / (double)window_ps;
	row->step = w->is_sort ? w->option : repeats ? w->name : (struct str){ 0 };
}

static void wait_row(struct measured *m, struct str name, int64_t time_ps,
	const struct dist *lengths, int64_t window_ps)
{
	struct phases_row *row = table_new(m->tables, phases, m->keep);

	row->name = name;
	row->role = STR("wait");
	row->is_judged = false;
	row->is_wait = true;
	row->marks = 0;
	row->count = (double)lengths->count;
	row->p50_s = lengths->count ? dist_quantile(lengths, 0.5, *m->keep) * PS : NAN;
	row->time_s = (double)time_ps * PS;
	row->time_share = (double)time_ps / (double)window_ps;
}

static int phase_cmp(const void *a, const void *b)
{
	const struct phases_row *x = a, *y = b;
	int order = order_numbers(y->time_s, x->time_s);

	order = order ? order : str_cmp(x->role, y->role);
	order = order ? order : str_cmp(x->name, y->name);
	return order ? order : str_cmp(x->modules, y->modules);
}

void fill_phases(struct measured *m, const struct gap_sums *gaps)
{
	const struct lasting *l = &m->lasting;
	struct works w = { .keep = m->keep };

	if (!l->device || l->device->sweep.last_ps <= l->device->sweep.first_ps)
		return;
	const struct sweep *s = &l->device->sweep;
	int64_t window_ps = s->last_ps - s->first_ps, unclaimed_ps;
	sorts_begin(m, &w);
	unclaimed_ps = busy_ps(s) - works_add(m, &w);
	for (ptrdiff_t i = 0; i < w.count; i++)
		if (w.items[i].time_ps > 0)
			work_row(m, &w.items[i], window_ps);
	/* Kernels of no program run where no execution does. */
	int64_t left_ps = unclaimed_ps > 0 ? unclaimed_ps : 0;
	if (left_ps > 0)
		work_row(m,
			&(struct work){
				.name = STR("kernels of no known program"), .time_ps = left_ps },
			window_ps);
	for (int c = CAUSE_UNKNOWN; c < CAUSES; c++) {
		int64_t time_ps = gaps->waits[c].time_ps;
		int64_t less_ps = time_ps < left_ps ? time_ps : left_ps;
		left_ps -= less_ps;
		if (time_ps > less_ps)
			wait_row(m, cause_words[c], time_ps - less_ps, &gaps->waits[c].lengths,
				window_ps);
	}
	if (table_count(m->tables, phases) > 1)
		qsort(table_rows(m->tables, phases), (size_t)table_count(m->tables, phases),
			sizeof(struct phases_row), phase_cmp);
}
