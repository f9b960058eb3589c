/* Which work is a step: sorts of steps, and plans.  See schedule.h. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/schedule_state.h"

#define TOO_MANY_RUNS                                                                              \
	"programs ran more than 100000 times on a device, too often to hold each against a mark "  \
	"or a period; a step is from one execution of the heaviest program to the next"
_Static_assert(PROGRAM_RUNS_MAX == 100000, "the text says it");

/* A module is one of those that make the sort from this share on of the work of marks that it runs
 * in: a logger's small program now and then does not make another sort of step. */
#define MODULE_SHARE 0.05

struct str function_core(struct str name, struct arena *keep)
{
	char *p = arena_make(keep, char, name.len);
	ptrdiff_t len = 0;

	str_take(&name, STR("jit_"));
	for (ptrdiff_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		if (is_letter(c) || is_digit(c))
			p[len++] = c;
	}
	return (struct str){ p, len };
}

/* More functions of one name are one: each is held against those before. */
#define FUNCTIONS_MAX 16
/* Frames looked at between an op's line and the function that its program is named after. */
#define FRAMES_MAX 16

/* Distinct lines of source. */
struct source_lines {
	struct map files, lines;
	int32_t file_count, count;
};

static void line_add(struct source_lines *s, const struct hlo_source *at, struct arena *keep)
{
	int32_t file = map_put(&s->files, at->file, s->file_count, keep);

	s->file_count += file == s->file_count;
	int64_t id = ((int64_t)file << 32) + (at->line & INT32_MAX);
	s->count += map_put_id(&s->lines, id, s->count, keep) == s->count;
}

/*
 * Adds a program's lines in the function that it is named after; returns how many there are then.
 * An op that JAX runs on its own is from the line of its first call only, so callers tell nothing.
 */
static int32_t lines_add(struct source_lines *s, const struct program *p, struct arena *keep)
{
	struct str name = function_core(p->module, keep);
	struct hlo_source stack[FRAMES_MAX];

	const struct hlo_module *m = program_hlo(p);
	for (ptrdiff_t i = 0; i < m->instruction_count; i++) {
		ptrdiff_t n = hlo_stack(m, &m->instructions[i], stack, FRAMES_MAX);
		for (ptrdiff_t k = 0; k < n; k++) {
			struct arena scratch = *keep;
			struct str function = stack[k].function;
			ptrdiff_t outer = str_rfind_char(function, '.');
			function = function_core(str_from_offset(function, outer + 1), &scratch);
			if (name.len && str_eq(function, name))
				line_add(s, &stack[k], keep);
		}
	}
	return s->count;
}

/*
 * Programs of one name are of one function, compiled for other shapes or constants, when half of
 * the lines of one are lines of the other.  Two lambdas are not.  Without lines the name decides.
 */
static bool is_one_function(const struct program *a, const struct program *b, struct arena scratch)
{
	struct source_lines both = { 0 }, alone = { 0 };

	if (!a->has_hlo || !b->has_hlo)
		return true;
	int32_t of_a = lines_add(&both, a, &scratch);
	int32_t of_b = lines_add(&alone, b, &scratch);
	int32_t shared = of_a + of_b - lines_add(&both, b, &scratch);
	return 2 * shared >= (of_a < of_b ? of_a : of_b);
}

void functions_read(struct scheduling *s, bool by_source)
{
	ptrdiff_t n = registry_program_count(s->run->registry);
	struct map by_name = { 0 };
	const struct program **first = arena_make(s->scratch, const struct program *, n);
	int32_t *next = arena_make(s->scratch, int32_t, n); /* of the same name; 0 none */

	s->modules = arena_make(s->scratch, struct str, n);
	s->module_of = arena_make(s->scratch, int32_t, n);
	s->module_count = 0;
	for (ptrdiff_t i = 0; i < n; i++) {
		const struct program *p = registry_program_at(s->run->registry, i);
		int32_t m = map_put(&by_name, p->module, (int32_t)s->module_count, s->scratch);
		for (int k = 1; by_source && k < FUNCTIONS_MAX && m < s->module_count &&
				!is_one_function(first[m], p, *s->scratch);
			k++) {
			next[m] = next[m] ? next[m] : (int32_t)s->module_count;
			m = next[m];
		}
		if (m == s->module_count) {
			first[m] = p;
			s->modules[s->module_count++] = p->module;
		}
		s->module_of[i] = m;
	}
}

/* ---- sorts ----------------------------------------------------------------------------------- */

/* What a mark's work is made of: one row for each of its modules. */
struct part {
	int32_t mark, module;
	int64_t time_ps;
};

static int part_cmp(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = order_integers(x->mark, y->mark);

	return order ? order : order_integers(x->module, y->module);
}

static ptrdiff_t parts_read(const struct scheduling *s, struct part **ret)
{
	struct part *parts = *ret = arena_make(s->scratch, struct part, s->all_count);
	ptrdiff_t n = 0, kept = 0;

	for (ptrdiff_t i = 0; i < s->all_count; i++) {
		const struct program_run *r = s->all[i];
		if (r->step >= 0)
			parts[n++] =
				(struct part){ r->step, module_at(s, r), r->end_ps - r->start_ps };
	}
	sort_by(parts, n, part_cmp);
	for (ptrdiff_t i = 0; i < n; i++)
		if (kept > 0 && part_cmp(&parts[kept - 1], &parts[i]) == 0)
			parts[kept - 1].time_ps += parts[i].time_ps;
		else
			parts[kept++] = parts[i];
	return kept;
}

/*
 * Which parts make their mark what it is: those of modules that take a share of the marks of that
 * name in which they run at all.  One decision for all of them, so that a module about as heavy as
 * the limit does not make two sorts of one step.
 */
static const bool *parts_that_make(
	const struct scheduling *s, const struct part *parts, ptrdiff_t n, struct arena *keep)
{
	struct presence {
		int64_t time_ps, marks_ps;
	} *all = arena_make(keep, struct presence, n);
	int32_t *which = arena_make(keep, int32_t, n), count = 0, name_count = 0;
	bool *ret = arena_make(keep, bool, n);
	struct map names = { 0 }, present = { 0 };

	for (ptrdiff_t i = 0, end; i < n; i = end) {
		int32_t name = map_put(&names, s->marks[parts[i].mark].name, name_count, keep);
		int64_t mark_ps = 0;
		name_count += name == name_count;
		for (end = i; end < n && parts[end].mark == parts[i].mark; end++)
			mark_ps += parts[end].time_ps;
		for (ptrdiff_t k = i; k < end; k++) {
			int64_t id = (int64_t)name * s->module_count + parts[k].module;
			which[k] = map_put_id(&present, id, count, keep);
			count += which[k] == count;
			all[which[k]].time_ps += parts[k].time_ps;
			all[which[k]].marks_ps += mark_ps;
		}
	}
	for (ptrdiff_t i = 0; i < n; i++) {
		const struct presence *p = &all[which[i]];
		ret[i] = (double)p->time_ps >= MODULE_SHARE * (double)p->marks_ps;
	}
	return ret;
}

/* Their names in order, each once. */
struct str modules_text(const struct scheduling *s, const bool *has)
{
	struct arena scratch = *s->scratch;
	struct str *names = arena_make(&scratch, struct str, s->module_count);
	struct map named = { 0 };
	int32_t n = 0;

	for (int32_t m = 0; m < s->module_count; m++)
		if (has[m] && map_put(&named, s->modules[m], n, &scratch) == n)
			names[n++] = s->modules[m];
	return text_sorted(s->keep, names, n, MODULES_BETWEEN);
}

bool module_trains(const struct scheduling *s, int32_t module)
{
	for (ptrdiff_t i = 0; i < registry_program_count(s->run->registry); i++)
		if (s->module_of[i] == module &&
			program_phase(registry_program_at(s->run->registry, i)) == PHASE_TRAIN)
			return true;
	return false;
}

bool module_serves(const struct scheduling *s, int32_t module)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < registry_program_count(s->run->registry); i++) {
		if (s->module_of[i] != module)
			continue;
		if (!program_serves(s->run, registry_program_at(s->run->registry, i)))
			return false;
		any = true;
	}
	return any;
}

struct step_sort *sort_of(struct scheduling *s, struct str name, const bool *has)
{
	struct schedule *r = s->ret;
	size_t bytes = (size_t)s->module_count * sizeof(*has);

	for (ptrdiff_t i = 0; i < r->sort_count; i++)
		if (str_eq(r->sorts[i].name, name) && !memcmp(r->sorts[i].has, has, bytes))
			return &r->sorts[i];
	struct step_sort *ret = arena_push(s->keep, r->sorts, r->sort_count, s->sort_cap);
	*ret = (struct step_sort){ .name = name, .trains = phase_of_name(name) == PHASE_TRAIN };
	ret->has = arena_make(s->keep, bool, s->module_count);
	memcpy(ret->has, has, bytes);
	return ret;
}

/* Of more sorts no stages are looked for: a pipeline has fewer. */
#define STAGE_SORTS_MAX 256

/* Marks of a sort: those of each host, or of each device, and the most of one. */
struct sort_marks {
	int64_t *by, most;
};

static bool sort_evaluates(const struct scheduling *s, const struct step_sort *sort)
{
	bool ret = false;

	for (int32_t m = 0; m < s->module_count; m++)
		ret |= sort->has[m] && is_evaluation(s->modules[m]);
	return ret;
}

/* Whose marks are of the one are not of the other, and both mark equally often. */
static bool are_stages(const struct sort_marks *a, const struct sort_marks *b, ptrdiff_t by_count)
{
	int64_t less = a->most < b->most ? a->most : b->most, more = a->most + b->most - less;
	bool apart = more - less <= 1 + more / 20;

	for (ptrdiff_t i = 0; apart && i < by_count; i++)
		apart = !a->by[i] || !b->by[i];
	return apart;
}

static void sort_join(
	const struct scheduling *s, struct step_sort *to, const struct step_sort *from)
{
	for (int32_t m = 0; m < s->module_count; m++)
		to->has[m] |= from->has[m];
	to->trains |= from->trains;
	to->count += from->count;
	to->time_ps += from->time_ps;
	to->most_ps = from->most_ps > to->most_ps ? from->most_ps : to->most_ps;
}

/*
 * Where hosts or devices have programs of their own, as stages of a pipeline do, what each of them
 * runs in a step is one sort.
 */
static void stages_join(struct scheduling *s)
{
	struct arena scratch = *s->scratch;
	struct step_sort *sorts = s->ret->sorts;
	ptrdiff_t n = s->ret->sort_count, kept = 0;

	if (n < 2 || n > STAGE_SORTS_MAX)
		return;
	ptrdiff_t by_count = s->marks[s->mark_count - 1].by + 1;
	struct sort_marks *marks = arena_make(&scratch, struct sort_marks, n);
	int32_t now[STAGE_SORTS_MAX];
	for (ptrdiff_t i = 0; i < n; i++)
		marks[i].by = arena_make(&scratch, int64_t, by_count);
	for (ptrdiff_t i = 0; i < s->mark_count; i++) {
		const struct mark *m = &s->marks[i];
		if (m->sort < 0)
			continue;
		int64_t count = ++marks[m->sort].by[m->by];
		marks[m->sort].most = count > marks[m->sort].most ? count : marks[m->sort].most;
	}
	for (ptrdiff_t i = 0; i < n; i++) {
		int32_t to = 0;
		while (to < kept &&
			(!str_eq(sorts[to].name, sorts[i].name) ||
				sort_evaluates(s, &sorts[to]) != sort_evaluates(s, &sorts[i]) ||
				!are_stages(&marks[to], &marks[i], by_count)))
			to++;
		now[i] = to;
		if (to == kept) {
			sorts[kept] = sorts[i];
			marks[kept++] = marks[i];
			continue;
		}
		sort_join(s, &sorts[to], &sorts[i]);
		for (ptrdiff_t k = 0; k < by_count; k++)
			marks[to].by[k] += marks[i].by[k];
	}
	s->ret->sort_count = kept;
	for (ptrdiff_t i = 0; i < s->mark_count; i++)
		if (s->marks[i].sort >= 0)
			s->marks[i].sort = now[s->marks[i].sort];
}

static void sorts_read(struct scheduling *s)
{
	struct part *parts;
	ptrdiff_t n = parts_read(s, &parts);
	struct arena scratch = *s->scratch;
	const bool *makes = parts_that_make(s, parts, n, &scratch);

	for (ptrdiff_t i = 0, end; i < n; i = end) {
		struct mark *mark = &s->marks[parts[i].mark];
		struct arena work = scratch;
		bool *has = arena_make(&work, bool, s->module_count);
		for (end = i; end < n && parts[end].mark == parts[i].mark; end++)
			has[parts[end].module] = makes[end];
		struct step_sort *sort = sort_of(s, mark->name, has);
		int64_t mark_ps = 0;
		mark->sort = (int32_t)(sort - s->ret->sorts);
		sort->count++;
		for (ptrdiff_t k = i; k < end; k++) {
			mark_ps += parts[k].time_ps;
			sort->trains = sort->trains || module_trains(s, parts[k].module);
		}
		sort->time_ps += mark_ps;
		sort->most_ps = mark_ps > sort->most_ps ? mark_ps : sort->most_ps;
	}
	stages_join(s);
	for (ptrdiff_t i = 0; i < s->ret->sort_count; i++)
		s->ret->sorts[i].modules = modules_text(s, s->ret->sorts[i].has);
}

bool name_is_wanted(struct str wanted, struct str name)
{
	return str_glob(name, wanted) || (str_take(&name, STR("jit_")) && str_glob(name, wanted));
}

static bool sort_is_wanted(
	const struct scheduling *s, const struct step_sort *sort, struct str wanted)
{
	bool fits = !wanted.p || name_is_wanted(wanted, sort->name);

	for (int32_t m = 0; !fits && m < s->module_count; m++)
		fits = sort->has[m] && name_is_wanted(wanted, s->modules[m]);
	return fits;
}

/* Does one of two sorts of a name do all that the other does, and more? */
static bool sort_is_more(
	const struct scheduling *s, const struct step_sort *more, const struct step_sort *than)
{
	bool ret = str_eq(more->name, than->name);

	for (int32_t m = 0; ret && m < s->module_count; m++)
		ret = more->has[m] || !than->has[m];
	return ret;
}

/*
 * The one that trains, else the one with most time in all of its marks but the longest; of those
 * that are wanted.  What does more in a few of its steps than in the others has those others for
 * its steps.  -1: none is.
 */
static ptrdiff_t sort_to_judge(const struct scheduling *s, struct str wanted)
{
	const struct step_sort *sorts = s->ret->sorts;
	ptrdiff_t ret = -1;

	for (ptrdiff_t i = 0; i < s->ret->sort_count; i++) {
		const struct step_sort *a = &sorts[i], *b = ret >= 0 ? &sorts[ret] : NULL;
		if (!sort_is_wanted(s, a, wanted))
			continue;
		bool rather = b && a->time_ps - a->most_ps > b->time_ps - b->most_ps;
		if (b && a->count != b->count && (sort_is_more(s, a, b) || sort_is_more(s, b, a)))
			rather = a->count > b->count;
		if (!b || (a->trains != b->trains ? a->trains : rather))
			ret = i;
	}
	return ret;
}

static bool sort_judge(struct scheduling *s)
{
	s->ret->judged = sort_to_judge(s, s->run->wanted);
	return s->ret->judged >= 0;
}

/* ---- the job as a whole ---------------------------------------------------------------------- */

/* Of the devices that run judged steps the one whose work ends last on the host's clock; the first
 * of equals. */
static const struct device *device_last(const struct scheduling *s)
{
	const struct device *last = s->run->devices;
	int64_t last_ps = INT64_MIN;

	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		const struct sweep *d = ran(s, i);
		int64_t end_ps = INT64_MIN;
		bool is_judged = false;
		for (ptrdiff_t k = 0; k < d->run_count; k++) {
			int64_t at_ps = d->runs[k].end_ps + d->plane->host_shift_ps;
			end_ps = at_ps > end_ps ? at_ps : end_ps;
			is_judged |= d->runs[k].sort == s->ret->judged;
		}
		if (is_judged && end_ps > last_ps) {
			last_ps = end_ps;
			last = &s->run->devices[i];
		}
	}
	return last;
}

/* What --step takes: the first of its names that a schedule would choose this sort by. */
static struct str sort_option(const struct scheduling *s, ptrdiff_t sort)
{
	const struct step_sort *of = &s->ret->sorts[sort];
	struct str ret = { NULL, 0 };

	if (!s->ret->is_marked) /* the only sort: a name narrows it to one of its modules */
		return str_contains(of->modules, STR(MODULES_BETWEEN)) ? ret : of->modules;
	if (sort_to_judge(s, of->name) == sort)
		return of->name;
	for (int32_t m = 0; m < s->module_count; m++)
		if (of->has[m] && (!ret.p || str_cmp(s->modules[m], ret) < 0) &&
			sort_to_judge(s, s->modules[m]) == sort)
			ret = s->modules[m];
	return ret;
}

/*
 * Executions of each program in a device's judged steps, and how many steps these are.  The ends of
 * a window may cut the first and the last of them.
 */
static int64_t executions_count(const struct scheduling *s, const struct sweep *d, double *counts)
{
	int32_t first = INT32_MAX, last = -1, before = -1;
	int64_t steps = 0;

	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		const struct program_run *r = &d->runs[i];
		if (r->sort < 0 || r->sort != s->ret->judged)
			continue;
		steps += r->step > before;
		before = r->step > before ? r->step : before;
		first = r->step < first ? r->step : first;
		last = r->step > last ? r->step : last;
	}
	bool whole = steps > 2;
	for (ptrdiff_t i = 0; i < d->run_count; i++) {
		const struct program_run *r = &d->runs[i];
		if (r->sort >= 0 && r->sort == s->ret->judged &&
			!(whole && (r->step == first || r->step == last)))
			counts[r->program]++;
	}
	return whole ? steps - 2 : steps;
}

static void executions_read(struct scheduling *s)
{
	ptrdiff_t n = registry_program_count(s->run->registry);
	struct schedule *r = s->ret;
	int64_t steps = 0, on_last = 0;

	r->per_step = arena_make(s->keep, double, n);
	r->on_last = arena_make(s->keep, double, n);
	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		steps += executions_count(s, ran(s, i), r->per_step);
		if (&s->run->devices[i] == s->run->lasting.device)
			on_last = executions_count(s, ran(s, i), r->on_last);
	}
	for (ptrdiff_t i = 0; i < n; i++) {
		r->per_step[i] /= steps > 0 ? (double)steps : NAN;
		r->on_last[i] /= on_last > 0 ? (double)on_last : NAN;
	}
}

/*
 * What follows from the steps of all executions and the sort that is judged, but for plans.
 * Kernels that no program claims are the step's where they run in one.
 */
static void sorts_settle(struct scheduling *s)
{
	ptrdiff_t programs = registry_program_count(s->run->registry);
	struct schedule *r = s->ret;

	assert(r->judged >= 0 && r->judged < r->sort_count);
	for (ptrdiff_t i = 0; i < s->all_count; i++) {
		struct program_run *run = s->all[i];
		assert(!r->is_marked || run->step < s->mark_count);
		run->sort = run->step < 0 ? -1 : r->is_marked ? s->marks[run->step].sort : 0;
	}
	for (ptrdiff_t i = 0; i < r->sort_count; i++)
		r->sorts[i].option = sort_option(s, i);
	const struct device *last = device_last(s);
	struct lasting *l = &s->run->lasting;
	*l = (struct lasting){ last, last->sweep.runs, last->sweep.run_count };
	LONGER(s->keep, l->runs, l->run_count, l->run_count);
	r->in_step = arena_make(s->keep, bool, programs);
	for (ptrdiff_t i = 0; i < programs; i++)
		r->in_step[i] = registry_program_at(s->run->registry, i)->id == PROGRAM_UNKNOWN;
	for (ptrdiff_t i = 0; i < s->all_count; i++)
		if (s->all[i]->sort >= 0 && s->all[i]->sort == r->judged)
			r->in_step[s->all[i]->program] = true;
	executions_read(s);
}

/* ---- marks of the devices themselves --------------------------------------------------------- */

/* A Steps line's marks hold their work, give or take a clock's tick.  Where more hold none, they
 * tell of something else. */
#define IDLE_MARKS_MAX 0.05

/* All marks, device by device; each execution is of the mark that its middle lies in. */
static void line_read(struct scheduling *s)
{
	ptrdiff_t all = 0;

	for (ptrdiff_t i = 0; i < s->run->device_count; i++)
		all += s->run->devices[i].plan.mark_count;
	s->marks = arena_make(s->scratch, struct mark, all);
	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		const struct sweep *d = ran(s, i);
		const struct step_plan *plan = &s->run->devices[i].plan;
		ptrdiff_t first = s->mark_count;
		for (ptrdiff_t k = 0; k < plan->mark_count; k++) {
			const struct step_mark *m = &plan->marks[k];
			s->marks[s->mark_count++] = (struct mark){ .start_ps = m->start_ps,
				.end_ps = m->marked_ps,
				.number = m->number,
				.by = (int32_t)i,
				.sort = -1 };
		}
		for (ptrdiff_t k = 0; k < d->run_count; k++) {
			struct program_run *r = &d->runs[k];
			r->step = mark_at(s, first, plan->mark_count,
				r->start_ps + (r->end_ps - r->start_ps) / 2);
		}
	}
}

static bool ran_alike(const struct sweep *a, const struct sweep *b)
{
	bool ret = a->run_count == b->run_count;

	for (ptrdiff_t i = 0; ret && i < a->run_count; i++)
		ret = a->runs[i].program == b->runs[i].program;
	return ret;
}

/*
 * A device without a line takes the steps of one that ran the same programs in the same order.  One
 * that ran nothing of a step has none.  False: its steps cannot be told.
 */
static bool line_lends(struct scheduling *s, struct sweep *to, const bool *in_steps)
{
	bool none = true;

	for (ptrdiff_t i = 0; i < s->run->device_count; i++) {
		const struct sweep *from = ran(s, i);
		if (!s->run->devices[i].plan.mark_count || !ran_alike(from, to))
			continue;
		for (ptrdiff_t k = 0; k < to->run_count; k++)
			to->runs[k].step = from->runs[k].step;
		return true;
	}
	for (ptrdiff_t k = 0; k < to->run_count; k++)
		none &= !in_steps[to->runs[k].program];
	return none;
}

static bool lines_lend(struct scheduling *s)
{
	struct arena scratch = *s->scratch;
	bool *in_steps = arena_make(&scratch, bool, registry_program_count(s->run->registry));
	bool ok = true;

	for (ptrdiff_t i = 0; i < s->all_count; i++)
		in_steps[s->all[i]->program] |= s->all[i]->step >= 0;
	for (ptrdiff_t i = 0; ok && i < s->run->device_count; i++)
		ok = s->run->devices[i].plan.mark_count > 0 || line_lends(s, ran(s, i), in_steps);
	return ok;
}

static bool line_serves(const struct scheduling *s)
{
	int64_t *time_ps = arena_make(s->scratch, int64_t, s->module_count);
	bool *left_out = arena_make(s->scratch, bool, s->module_count);
	int32_t most;

	for (ptrdiff_t i = 0; i < s->all_count; i++) {
		const struct program_run *r = s->all[i];
		if (r->step >= 0 && s->marks[r->step].sort == s->ret->judged)
			time_ps[module_at(s, r)] += r->end_ps - r->start_ps;
	}
	for (int32_t m = 0; m < s->module_count; m++)
		left_out[m] = time_ps[m] == 0;
	return is_server(s, time_ps, left_out, &most);
}

static bool line_sorts(struct scheduling *s)
{
	ptrdiff_t idle = 0;

	line_read(s);
	if (!lines_lend(s))
		return false;
	sorts_read(s);
	for (ptrdiff_t i = 0; i < s->mark_count; i++)
		idle += s->marks[i].sort < 0;
	if ((double)idle > IDLE_MARKS_MAX * (double)s->mark_count)
		return false;
	for (ptrdiff_t i = 0; i < s->ret->sort_count; i++) {
		s->ret->sorts[i].name = s->ret->sorts[i].modules;
		s->ret->sorts[i].count = 0; /* by the last device */
	}
	s->ret->is_marked = sort_judge(s);
	s->ret->is_server = s->ret->is_marked && line_serves(s);
	return s->ret->is_marked;
}

/* By the host's marks, else by what repeats. */
static bool sorts_tell(struct scheduling *s)
{
	bool ok = marks_tell(s);

	if (ok) {
		sorts_read(s);
		ok = sort_judge(s);
	}
	s->ret->is_marked = ok;
	return ok || periods_tell(s);
}

static void executions_list(struct scheduling *s)
{
	for (ptrdiff_t i = 0; i < s->run->device_count; i++)
		s->all_count += ran(s, i)->run_count;
	struct program_run **at = s->all =
		arena_make(s->scratch, struct program_run *, s->all_count);
	for (ptrdiff_t i = 0; i < s->run->device_count; i++)
		for (ptrdiff_t k = 0; k < ran(s, i)->run_count; k++) {
			*at = &ran(s, i)->runs[k];
			assert(k == 0 || at[-1]->start_ps <= at[0]->start_ps);
			at++;
		}
}

bool runs_cut(const struct run *run)
{
	bool ret = false;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		ret |= run->devices[i].sweep.runs_cut;
	return ret;
}

bool schedule_make(struct run *run, bool *is_changed)
{
	bool by_line = run->source == STEPS_LINE;

	assert(run->plans != PLANS_SCHEDULED);
	*is_changed = false;
	run->schedule = (struct schedule){ .judged = -1 };
	if (runs_cut(run)) {
		run->schedule.trouble = by_line ? MISSING : STR(TOO_MANY_RUNS);
		return false;
	}
	struct arena scratch = arena_new(SWEEP_ARENA_BYTES);
	struct scheduling s = {
		.run = run, .keep = run->keep, .scratch = &scratch, .ret = &run->schedule
	};
	ptrdiff_t marks = 0; /* of the devices before */

	executions_list(&s);
	functions_read(&s, false);
	bool ok = by_line ? line_sorts(&s) : sorts_tell(&s);
	if (ok)
		sorts_settle(&s);
	const bool *beside = ok ? modules_beside(&s) : NULL;
	if (ok && !by_line)
		run->source = run->schedule.is_marked ? STEPS_ANNOTATION : STEPS_PROGRAM;
	for (ptrdiff_t i = 0; ok && i < run->device_count; i++) {
		struct device *d = &run->devices[i];
		ptrdiff_t own = by_line ? d->plan.mark_count : 0;
		*is_changed |=
			device_plan(&s, d, run->source, beside, own > 0 ? &s.marks[marks] : NULL);
		marks += own;
	}
	arena_free(&scratch);
	return ok;
}
