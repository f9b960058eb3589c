/*
 * Of a job that marks nothing: what repeats.  A period of its sequence of modules is a step; of a
 * server, an execution of the module that takes most of its time.  See schedule.h.
 */
#include "hlo/memory.h"
#include "hlo/walk.h"
#include "measure/schedule_state.h"

/*
 * The smallest p with seq[i] = seq[i + p] from *first on, by the failure function of Knuth et al.
 * over the sequence read backwards.  What stands before *first is less than a period: a warm-up in
 * another order, or the last execution of it, which the job did not wait for.  0: nothing repeats.
 */
static ptrdiff_t period_of(const int32_t *seq, ptrdiff_t n, ptrdiff_t *first, struct arena scratch)
{
	ptrdiff_t *fail = arena_make(&scratch, ptrdiff_t, n + 1), k = 0;

	for (ptrdiff_t i = 1; i < n; i++) {
		while (k > 0 && seq[n - 1 - i] != seq[n - 1 - k])
			k = fail[k];
		k += seq[n - 1 - i] == seq[n - 1 - k];
		fail[i + 1] = k;
	}
	for (ptrdiff_t before = 0; before < n; before++) {
		ptrdiff_t m = n - before, period = m - fail[m];
		if (m >= PERIODS_MIN * period && before < period) {
			*first = before;
			return period;
		}
	}
	return 0;
}

/* Are the `first` of them executions of modules that come again in the period behind them? */
static bool come_again(const int32_t *seq, ptrdiff_t first, ptrdiff_t period,
	ptrdiff_t module_count, struct arena scratch)
{
	bool *again = arena_make(&scratch, bool, module_count);

	for (ptrdiff_t i = first; i < first + period; i++)
		again[seq[i]] = true;
	for (ptrdiff_t i = 0; i < first; i++)
		if (!again[seq[i]])
			return false;
	return true;
}

/*
 * A period begins behind its longest wait.  Waits of a place in the period are compared by their
 * sums: each place comes as often as any other, or once less.
 */
static ptrdiff_t phase_of(
	const struct program_run *const *runs, ptrdiff_t n, ptrdiff_t period, struct arena scratch)
{
	int64_t *wait_ps = arena_make(&scratch, int64_t, period), end_ps = runs[0]->end_ps;
	ptrdiff_t best = 0;

	for (ptrdiff_t i = 1; i < n - n % period; i++) {
		if (runs[i]->start_ps > end_ps)
			wait_ps[i % period] += runs[i]->start_ps - end_ps;
		end_ps = runs[i]->end_ps > end_ps ? runs[i]->end_ps : end_ps;
	}
	for (ptrdiff_t i = 1; i < period; i++)
		if (wait_ps[i] > wait_ps[best])
			best = i;
	return best;
}

/* Numbers the device's periods; executions that are in none keep -1.  False: it has none. */
static bool device_periods(struct scheduling *s, struct sweep *d, const bool *left_out)
{
	struct arena scratch = *s->scratch;
	struct program_run **runs = arena_make(&scratch, struct program_run *, d->run_count);
	int32_t *seq = arena_make(&scratch, int32_t, d->run_count);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		d->runs[i].step = -1;
		if (left_out[module_at(s, &d->runs[i])])
			continue;
		seq[n] = module_at(s, &d->runs[i]);
		runs[n++] = &d->runs[i];
	}
	if (n == 0)
		return true; /* it ran nothing of the step */
	ptrdiff_t first, period = period_of(seq, n, &first, scratch);
	if (!period || !come_again(seq, first, period, s->module_count, scratch))
		return false;
	runs += first;
	n -= first;
	ptrdiff_t phase = phase_of((const struct program_run *const *)runs, n, period, scratch);
	for (ptrdiff_t i = phase; i < n; i++)
		runs[i]->step = (int32_t)((i - phase) / period);
	return true;
}

/* The module with least time of those that are not left out, or -1 when it is the last one. */
static int32_t module_least(
	const struct scheduling *s, const int64_t *time_ps, const bool *left_out)
{
	int32_t least = -1;
	ptrdiff_t left = 0;

	for (int32_t m = 0; m < s->module_count; m++) {
		if (left_out[m])
			continue;
		left++;
		if (least < 0 || time_ps[m] < time_ps[least])
			least = m;
	}
	return left > 1 ? least : -1;
}

static bool all_periodic(struct scheduling *s, const bool *left_out)
{
	for (ptrdiff_t i = 0; i < s->run->device_count; i++)
		if (!device_periods(s, ran(s, i), left_out))
			return false;
	return true;
}

/*
 * Every module's time over all devices, without its longest execution on each, which may hold the
 * warm-up.  A module that ran once is left out, so that an initialisation hides no step.
 */
static int64_t *module_times(const struct scheduling *s, bool *left_out)
{
	int64_t *time_ps = arena_make(s->scratch, int64_t, s->module_count);

	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		struct arena scratch = *s->scratch;
		int64_t *most_ps = arena_make(&scratch, int64_t, s->module_count);
		for (ptrdiff_t k = 0; k < ran(s, i)->run_count; k++) {
			const struct program_run *r = &ran(s, i)->runs[k];
			int64_t length_ps = r->end_ps - r->start_ps;
			int64_t *most = &most_ps[module_at(s, r)];
			time_ps[module_at(s, r)] += length_ps < *most ? length_ps : *most;
			*most = length_ps > *most ? length_ps : *most;
		}
	}
	for (int32_t m = 0; m < s->module_count; m++)
		left_out[m] = time_ps[m] == 0 ||
			      (s->run->wanted.p && !name_is_wanted(s->run->wanted, s->modules[m]));
	return time_ps;
}

bool is_server(
	const struct scheduling *s, const int64_t *time_ps, const bool *left_out, int32_t *ret)
{
	int32_t most = -1;
	bool trains = false;

	for (int32_t m = 0; m < s->module_count; m++) {
		if (!left_out[m] && (most < 0 || time_ps[m] > time_ps[most]))
			most = m;
		trains |= !left_out[m] && module_trains(s, m);
	}
	*ret = most;
	return most >= 0 && !trains && module_serves(s, most);
}

/* A regular evaluation would make one period of many steps, so beside training it is left out. */
static void evaluations_leave(const struct scheduling *s, bool *left_out)
{
	bool any = false;

	for (int32_t m = 0; m < s->module_count; m++)
		any |= !left_out[m] && module_trains(s, m) && !is_evaluation(s->modules[m]);
	for (int32_t m = 0; any && m < s->module_count; m++)
		left_out[m] |= is_evaluation(s->modules[m]) && !module_trains(s, m);
}

static bool module_updates(const struct scheduling *s, int32_t module)
{
	for (ptrdiff_t i = 0; i < registry_program_count(s->run->registry); i++) {
		const struct program *p = registry_program_at(s->run->registry, i);
		if (s->module_of[i] == module && p->has_hlo && hlo_updates_weights(program_hlo(p)))
			return true;
	}
	return false;
}

/* How often a module runs between two executions of another. */
struct tally {
	ptrdiff_t between; /* so many times it did, */
	ptrdiff_t last;	   /* the last of them here, from 1, */
	ptrdiff_t here;	   /* so often there, */
	ptrdiff_t each;	   /* and so often where it did first */
	bool differs;
};

static void tally_close(struct tally *t)
{
	if (t->between == 1)
		t->each = t->here;
	t->differs |= t->here != t->each;
}

/* Of a device that ran it three times or more: who does not run equally often between any two? */
static void others_leave(const struct scheduling *s, const struct sweep *d, int32_t trains,
	bool *between_any, bool *differs)
{
	struct arena scratch = *s->scratch;
	struct tally *tallies = arena_make(&scratch, struct tally, s->module_count);
	ptrdiff_t between = 0, end = d->run_count;

	while (end > 0 && module_at(s, &d->runs[end - 1]) != trains)
		end--;
	for (ptrdiff_t i = 0; i < end; i++) {
		struct tally *t = &tallies[module_at(s, &d->runs[i])];
		if (module_at(s, &d->runs[i]) == trains) {
			between++;
			continue;
		}
		if (between > 0 && t->last != between) {
			tally_close(t);
			*t = (struct tally){ t->between + 1, between, 0, t->each, t->differs };
		}
		t->here += between > 0;
	}
	for (int32_t m = 0; between >= PERIODS_MIN && m < s->module_count; m++) {
		tally_close(&tallies[m]);
		between_any[m] |= tallies[m].between > 0;
		differs[m] |= tallies[m].between > 0 &&
			      (tallies[m].differs || tallies[m].between < between - 1);
	}
}

/* Keys of random numbers are so long: two or four words. */
#define KEY_WORDS 4

/* Does it make arrays of nothing, but for numbers and keys?  No work of a loop does. */
static bool program_fills(const struct program *p)
{
	if (!p->has_hlo || p->is_partial)
		return false;
	const struct hlo_module *m = program_hlo(p);
	const struct hlo_computation *c = &m->computations[m->entry];
	for (ptrdiff_t i = c->first; i < c->first + c->count; i++) {
		const struct hlo_instruction *x = &m->instructions[i];
		int64_t n = x->op == HLO_PARAMETER ? shape_elements(&x->shape) : 0;
		if (n > 1 && (n > KEY_WORDS || x->shape.dtype != DTYPE_U32))
			return false;
	}
	return true;
}

/* Does it make arrays of the shapes that it takes, as an update of weights does? */
static bool module_hands_on(const struct scheduling *s, int32_t module)
{
	for (ptrdiff_t i = 0; i < registry_program_count(s->run->registry); i++) {
		const struct program *p = registry_program_at(s->run->registry, i);
		if (s->module_of[i] == module && p->has_hlo && !program_fills(p) &&
			(p->undonated_bytes > 0 || program_hlo(p)->donated.count > 0))
			return true;
	}
	return false;
}

/*
 * Where the only module that trains updates its weights itself, or is followed each time by what
 * does, each of its executions is a step.  What does not run as often in each of them (a norm for
 * the log behind every tenth, an average, samples to look at) is other work, and would make a
 * period of many steps.
 */
static void rounds_leave(const struct scheduling *s, bool *left_out)
{
	bool *between_any = arena_make(s->scratch, bool, s->module_count);
	bool *differs = arena_make(s->scratch, bool, s->module_count);
	int32_t trains = -1;

	for (int32_t m = 0; m < s->module_count; m++) {
		if (left_out[m] || !module_trains(s, m))
			continue;
		if (trains >= 0)
			return;
		trains = m;
	}
	if (trains < 0)
		return;
	for (ptrdiff_t i = 0; i < s->run->device_count; i++)
		others_leave(s, ran(s, i), trains, between_any, differs);
	bool updates = module_updates(s, trains), updated = updates;
	for (int32_t m = 0; !updates && m < s->module_count; m++) {
		if (m == trains || left_out[m] || !module_hands_on(s, m))
			continue;
		updated = between_any[m] && !differs[m];
		if (!updated)
			return;
	}
	for (int32_t m = 0; updated && m < s->module_count; m++)
		left_out[m] |= m != trains && (!between_any[m] || differs[m]);
}

/*
 * What repeats and takes less than this of the devices' time is not what the job is about.  An
 * initialisation fills array after array by one small program, so that would be half of it.
 */
#define REPEATS_MIN 0.1
#define FILLING_MIN 0.5

static bool periods_weigh(const struct scheduling *s)
{
	double all = 0, own = 0;
	bool fills = true;

	for (ptrdiff_t i = 0; i < s->all_count; i++) {
		const struct program_run *r = s->all[i];
		double time = (double)(r->end_ps - r->start_ps);
		all += time;
		own += r->step >= 0 ? time : 0;
		fills = fills && (r->step < 0 || program_fills(registry_program_at(
							 s->run->registry, r->program)));
	}
	if (s->run->wanted.p || own >= (fills ? FILLING_MIN : REPEATS_MIN) * all)
		return true;
	if (!s->ret->trouble.p)
		s->ret->trouble = arena_fmt(s->keep,
			"nothing marks steps, and what repeats takes %.1f%% of the devices' time",
			own / all * 100);
	return false;
}

/* Does it only add arrays up, as one does that collects gradients? */
static bool module_adds_up(const struct scheduling *s, int32_t module)
{
	bool adds = false;

	for (ptrdiff_t i = 0; i < registry_program_count(s->run->registry); i++) {
		const struct program *p = registry_program_at(s->run->registry, i);
		if (s->module_of[i] != module)
			continue;
		if (!p->has_hlo || p->is_partial)
			return false;
		const struct hlo_module *m = program_hlo(p);
		for (ptrdiff_t k = 0; k < m->instruction_count; k++) {
			enum hlo_op op = m->instructions[k].op;
			adds |= op == HLO_ADD;
			if (op != HLO_ADD && op != HLO_PARAMETER && op != HLO_TUPLE &&
				op != HLO_FUSION && op != HLO_CALL && !hlo_seen_through(op))
				return false;
		}
	}
	return adds;
}

/*
 * The module that computes gradients which nothing updates weights by: beside it there is none, or
 * one that adds them up, and then `is_summed`.  Else -1.
 */
static int32_t gradients_alone(const struct scheduling *s, const bool *left_out, bool *is_summed)
{
	int32_t alone = -1;

	for (int32_t m = 0; m < s->module_count; m++) {
		if (left_out[m])
			continue;
		if (module_trains(s, m) && alone < 0 && !module_updates(s, m))
			alone = m;
		else if (module_adds_up(s, m))
			*is_summed = true;
		else
			return -1;
	}
	return alone;
}

/*
 * Gradients of now more and now less micro-batches, and then an update: that ends a step, where it
 * is the only one left out that may be, and comes PERIODS_MIN times.  Sums are of the step, too.
 */
static bool updates_tell(struct scheduling *s, bool *left_out)
{
	int32_t update = -1;

	for (int32_t m = 0; m < s->module_count; m++) {
		if (!left_out[m] || is_evaluation(s->modules[m]) || !module_hands_on(s, m))
			continue;
		left_out[m] = !module_adds_up(s, m);
		if (left_out[m] && update >= 0)
			return false;
		update = left_out[m] ? m : update;
	}
	if (update < 0)
		return false;
	left_out[update] = false;
	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		struct sweep *d = ran(s, i);
		int32_t step = 0;
		bool any = false;
		for (ptrdiff_t k = 0; k < d->run_count; k++) {
			int32_t m = module_at(s, &d->runs[k]);
			d->runs[k].step = left_out[m] ? -1 : step;
			any |= !left_out[m];
			step += m == update;
		}
		if (any && step < PERIODS_MIN)
			return false;
	}
	return true;
}

/*
 * What does not fit into a period is left out, the module with least time first: but a gradient is
 * no step without what adds it to the weights, and steps too few to show a period are none.
 */
bool periods_tell(struct scheduling *s)
{
	functions_read(s, true);
	bool *left_out = arena_make(s->scratch, bool, s->module_count);
	const int64_t *time_ps = module_times(s, left_out);
	bool *has = arena_make(s->scratch, bool, s->module_count);
	int32_t most, least;
	bool hands_on = false, is_summed = false;
	bool alone = is_server(s, time_ps, left_out, &most);

	if (most < 0)
		return false;
	evaluations_leave(s, left_out);
	for (int32_t m = 0; alone && m < s->module_count; m++)
		left_out[m] = m != most;
	rounds_leave(s, left_out);
	while (!all_periodic(s, left_out)) {
		if ((least = module_least(s, time_ps, left_out)) < 0)
			return false;
		left_out[least] = true;
		hands_on |= module_hands_on(s, least);
	}
	int32_t gradients = gradients_alone(s, left_out, &is_summed);
	if ((!hands_on && !is_summed) || (gradients >= 0 && updates_tell(s, left_out)))
		gradients = -1;
	if (gradients >= 0 && !s->ret->trouble.p)
		s->ret->trouble = arena_fmt(s->keep,
			"%.*s updates no weights, and what does comes too rarely to show a period",
			STR_ARG(s->modules[gradients]));
	if (gradients >= 0 || !periods_weigh(s))
		return false;
	s->ret->sort_count = 0;
	for (int32_t m = 0; m < s->module_count; m++)
		has[m] = !left_out[m];
	struct str modules = modules_text(s, has);
	struct step_sort *sort = sort_of(s, modules, has);
	sort->modules = modules;
	for (int32_t m = 0; m < s->module_count; m++)
		sort->trains = sort->trains || (!left_out[m] && module_trains(s, m));
	for (ptrdiff_t i = 0; i < s->all_count; i++)
		if (s->all[i]->step >= sort->count)
			sort->count = s->all[i]->step + 1;
	s->ret->judged = 0;
	s->ret->is_server = alone;
	return true;
}
