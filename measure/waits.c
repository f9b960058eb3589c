/*
 * The rows of waits: why the device that waits most for the host does, in the steps, and in what
 * runs between them.
 *
 * That device holds up the others, which wait for it in their collectives, so its wait is what the
 * job loses.  Its own gaps say the cause; only the longest have rows.  The gaps of all devices say
 * what the host was at, since one host's threads serve them all.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/stats.h"
#include "base/text.h"
#include "measure/writers.h"

/* Of the steps that have a cause, those with less than this of the longest are not hit by it. */
#define HIT_LEAST 0.1
/* A cause comes now and then if the steps that it hits have so much of its time. */
#define HIT_MOST 0.9
#define HITS_MAX 100
/* A device waits longer than the others if they wait for less than this share of its time. */
#define ALONE 0.9

/* What the device waits for one cause in one step. */
struct hit {
	int cause;
	double step, time_s;
};

struct waiting {
	const struct tables *tables;
	const struct run_row *run;
	const struct gaps_row **gaps; /* of this role */
	ptrdiff_t gap_count;
	enum role role;
	struct waits_row *row;
	struct arena *keep;
	bool by_compiler; /* of programs; else each kernel is launched by itself */
	int cause;	  /* of most of the wait; CAUSES: nothing tells */
};

static int cause_of(const struct gaps_row *g)
{
	int cause = word_place(GAP_WORDS, g->cause);

	assert(cause >= 0);
	return cause;
}

static struct str doing_of(const struct gaps_row *g)
{
	return g->host_call.p ? g->host_call : g->host_activity;
}

/* ---- which device ---------------------------------------------------------------------------- */

static double ratio_of(const struct waiting *w, const struct devices_row *d)
{
	return w->role == ROLE_STEP ? d->wait_ratio : d->other_wait_ratio;
}

static void device_tell(const struct waiting *w)
{
	const struct devices_row *d = table_rows(w->tables, devices), *most = NULL;
	bool is_sharded = false;
	double sum = 0, count = 0;

	for (ptrdiff_t i = 0; i < table_count(w->tables, devices); i++) {
		if (!word_is(d[i].core_type, CORE_WORDS, 0) || isnan(ratio_of(w, &d[i])))
			continue;
		sum += ratio_of(w, &d[i]);
		count++;
		if (!most || ratio_of(w, &d[i]) > ratio_of(w, most))
			most = &d[i];
	}
	if (!most)
		return;
	for (ptrdiff_t i = 0; i < table_count(w->tables, collectives) && !is_sharded; i++)
		is_sharded = word_is(table_rows(w->tables, collectives)[i].role, WORK_WORDS, 0);
	double mean = sum / count, ratio = ratio_of(w, most);
	w->row->host = most->host;
	w->row->device = most->device;
	w->row->wait_ratio = ratio;
	if (w->role == ROLE_STEP)
		w->row->pool_share = fmin(mean, w->run->idle_ratio) / ratio;
	if (mean < ALONE * ratio) {
		w->row->mean_ratio = mean;
		if (is_sharded && w->role == ROLE_STEP)
			w->row->waited_share = 1 - mean / ratio;
	}
}

/* ---- which cause ----------------------------------------------------------------------------- */

/* The rows of gaps stand by device, then by begin. */
static struct hit *hits_collect(const struct waiting *w, ptrdiff_t *count)
{
	struct hit *hits = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (ptrdiff_t i = 0; i < w->gap_count; i++) {
		const struct gaps_row *g = w->gaps[i];
		ptrdiff_t k = *count;
		int cause = cause_of(g);

		if (cause == CAUSE_PROGRAM || !str_eq(g->device, w->row->device) ||
			!str_eq(g->host, w->row->host))
			continue;
		while (k > 0 && hits[k - 1].step == g->step && hits[k - 1].cause != cause)
			k--;
		if (k == 0 || hits[k - 1].step != g->step) {
			k = *count + 1;
			*arena_push(w->keep, hits, *count, cap) =
				(struct hit){ .cause = cause, .step = g->step };
		}
		hits[k - 1].time_s += g->time_s;
	}
	return hits;
}

/* Where nothing launches programs, gaps that are all short have none of them as a cause. */
static bool gaps_tell(const struct waiting *w)
{
	double most_s = 0;

	for (ptrdiff_t i = 0; i < w->gap_count; i++)
		if (cause_of(w->gaps[i]) != CAUSE_PROGRAM)
			most_s = fmax(most_s, w->gaps[i]->time_s);
	return w->by_compiler || most_s > w->row->wait_ratio * w->run->step_mean_s / 10;
}

/* That of the most time in, or behind, the steps that it hits. */
static void cause_tell(struct waiting *w)
{
	struct {
		double time_s, most_s, hits_s, hits;
	} of[CAUSES] = { 0 };
	double told_s = 0;
	int cause = CAUSES;
	ptrdiff_t count;

	if (!gaps_tell(w))
		return;
	const struct hit *hits = hits_collect(w, &count);
	for (ptrdiff_t i = 0; i < count; i++) {
		told_s += hits[i].time_s;
		of[hits[i].cause].time_s += hits[i].time_s;
		of[hits[i].cause].most_s = fmax(of[hits[i].cause].most_s, hits[i].time_s);
	}
	for (ptrdiff_t i = 0; i < count; i++)
		if (hits[i].time_s > HIT_LEAST * of[hits[i].cause].most_s) {
			of[hits[i].cause].hits_s += hits[i].time_s;
			of[hits[i].cause].hits++;
		}
	for (int c = 0; c < CAUSES; c++)
		if (of[c].hits > 0 && (cause == CAUSES || of[c].hits_s > of[cause].hits_s))
			cause = c;
	w->cause = cause;
	if (cause == CAUSES)
		return;
	w->row->cause = word_at(GAP_WORDS, cause);
	/* Else it comes in most steps, or what has rows is the smaller part of the wait. */
	if (w->role == ROLE_STEP && of[cause].hits * 2 <= w->run->steps &&
		of[cause].hits < HITS_MAX && of[cause].hits_s >= HIT_MOST * of[cause].time_s &&
		told_s > w->row->wait_ratio * w->run->step_mean_s * w->run->steps / 2) {
		w->row->steps_hit = of[cause].hits;
		w->row->hit_s = of[cause].hits_s / of[cause].hits;
	}
}

/* ---- what the host was at -------------------------------------------------------------------- */

/* The text in which most of the cause's time is; the first such gap. */
static const struct gaps_row *heaviest(
	const struct waiting *w, struct str (*text)(const struct gaps_row *))
{
	struct map known = map_with_room(w->gap_count, w->keep);
	double *time_s = arena_make(w->keep, double, w->gap_count + 1);
	ptrdiff_t most = -1;

	for (ptrdiff_t i = 0; i < w->gap_count; i++)
		if (cause_of(w->gaps[i]) == w->cause) {
			ptrdiff_t k = map_put(&known, text(w->gaps[i]), (int32_t)i, w->keep);
			time_s[k] += w->gaps[i]->time_s;
			most = most < 0 || time_s[k] > time_s[most] ? k : most;
		}
	return most < 0 ? NULL : w->gaps[most];
}

static struct str activity_of(const struct gaps_row *g)
{
	return g->host_activity;
}

static bool is_one_of(struct str text, const struct str *patterns, int count)
{
	for (int i = 0; i < count; i++)
		if (str_glob(text, patterns[i]))
			return true;
	return false;
}
#define IS_ONE_OF(text, patterns) is_one_of((text), (patterns), COUNT_OF(patterns))

/* A manager of orbax writes in the background unless it is told otherwise. */
static bool writes_in_background(const struct gaps_row *g)
{
	static const struct str patterns[] = { STR_INIT("*async_checkpointer*"),
		STR_INIT("checkpoint_manager.py:*") };

	return IS_ONE_OF(g->host_call, patterns) || str_glob(g->host_activity, patterns[0]);
}

static bool checks_results(const struct gaps_row *g)
{
	return str_glob(doing_of(g), STR("dispatch.py:* check_special"));
}

static bool is_dispatching(const struct gaps_row *g)
{
	return g->dispatching == 1;
}

static bool is_launching(const struct gaps_row *g)
{
	return g->launching == 1;
}

static bool works_after(const struct gaps_row *g)
{
	return g->works_after == 1;
}

static bool is_by_others(const struct gaps_row *g)
{
	return g->by_others == 1;
}

/* Does this hold for most of the cause's time? */
static bool is_most(const struct waiting *w, bool (*holds)(const struct gaps_row *))
{
	double all_s = 0, of_it_s = 0;

	for (ptrdiff_t i = 0; i < w->gap_count; i++)
		if (cause_of(w->gaps[i]) == w->cause) {
			all_s += w->gaps[i]->time_s;
			of_it_s += holds(w->gaps[i]) ? w->gaps[i]->time_s : 0;
		}
	return of_it_s > all_s / 2;
}

static bool is_any(const struct waiting *w, bool (*holds)(const struct gaps_row *))
{
	for (ptrdiff_t i = 0; i < w->gap_count; i++)
		if (cause_of(w->gaps[i]) == w->cause && holds(w->gaps[i]))
			return true;
	return false;
}

/* ---- programs launched one by one ------------------------------------------------------------ */

/* "time sleep": what is written in C has no line of Python. */
static bool is_builtin(struct str text)
{
	ptrdiff_t blank = str_find_char(text, ' ');

	return text.len > 0 && (text.p[0] == '<' || (text.p[0] >= 'a' && text.p[0] <= 'z')) &&
	       blank >= 0 && !str_contains(text, STR(".py:"));
}

/* Files that ops were written in, but for installed packages'. */
static struct map own_files(const struct waiting *w)
{
	const struct ops_row *ops = table_rows(w->tables, ops);
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; i < table_count(w->tables, ops); i++) {
		struct str file = ops[i].common->source_file;
		if (file.len && !str_contains(file, STR("-packages/")))
			map_put(&ret, path_base(file), 0, w->keep);
	}
	return ret;
}

/* The job's own code runs: where that calls JAX, the innermost frame is a library's. */
static bool is_own_work(const struct waiting *w)
{
	const struct map files = own_files(w);
	double all_s = 0, own_s = 0;

	for (ptrdiff_t i = 0; i < w->gap_count; i++) {
		const struct gaps_row *g = w->gaps[i];
		if (cause_of(g) != CAUSE_HOST)
			continue;
		struct str runs = is_builtin(g->host_activity) ? g->host_call : g->host_activity;
		ptrdiff_t end = str_find(runs, STR(".py:"));
		all_s += g->time_s;
		if (end >= 0 && g->launching != 1 &&
			map_get(&files, str_head(runs, end + 3)) != MAP_NONE)
			own_s += g->time_s;
	}
	return own_s > all_s / 2;
}

/*
 * How many programs a step launches, if that is why the host is late: not where one gap of each
 * step is most of its wait.  A gap without a row is at most as long as those with one.
 */
static double launches_of(const struct waiting *w)
{
	const struct programs_row *programs = table_rows(w->tables, programs);
	double steps = w->run->steps * w->run->devices, longest_s = 0, least_s = NAN, seen = 0;
	double executions = 0;
	const struct gaps_row *longest = NULL; /* of the step that is being read */

	for (ptrdiff_t i = 0; i < w->gap_count; i++) {
		const struct gaps_row *g = w->gaps[i];
		if (cause_of(g) != CAUSE_HOST)
			continue;
		least_s = fmin(least_s, g->time_s);
		if (!longest || g->step != longest->step || !str_eq(g->device, longest->device) ||
			!str_eq(g->host, longest->host)) {
			seen++;
			longest_s += longest ? longest->time_s : 0;
			longest = g;
		} else if (g->time_s > longest->time_s) {
			longest = g;
		}
	}
	longest_s += longest ? longest->time_s : 0;
	for (ptrdiff_t i = 0; i < table_count(w->tables, programs); i++)
		if (word_is(programs[i].role, WORK_WORDS, 0) && !isnan(programs[i].executions))
			executions += programs[i].executions;
	double wait_s = w->row->wait_ratio * w->run->step_mean_s * steps;
	if (w->role != ROLE_STEP || !w->by_compiler || is_own_work(w) ||
		!(longest_s + fmax(0, steps - seen) * least_s <= wait_s / 2))
		return NAN;
	return executions / w->run->devices / (w->run->window_s / w->run->step_mean_s);
}

/* ---- the row --------------------------------------------------------------------------------- */

/* When the devices wait, in words; missing where nothing tells. */
static struct str when_of(const struct waiting *w)
{
	static const struct str words[CAUSES] = {
		[CAUSE_UNKNOWN] = STR_INIT("while it does what the profile does not show"),
		[CAUSE_INPUT] = STR_INIT("while it gets the next batch"),
		[CAUSE_COMPILE] = STR_INIT("while it compiles"),
		[CAUSE_CHECKPOINT] = STR_INIT("while it writes a checkpoint"),
		[CAUSE_TRANSFER] = STR_INIT("while it copies arrays"),
		[CAUSE_SYNC] = STR_INIT("after it waited for a result"),
		[CAUSE_REQUEST] = STR_INIT("while it waits for a request"),
		[CAUSE_HOST] = STR_INIT("while it runs other code"),
	};
	const struct waits_row *row = w->row;

	if (w->cause == CAUSES)
		return w->by_compiler ? MISSING : STR("a little before each kernel");
	if (w->cause != CAUSE_HOST)
		return words[w->cause];
	if (row->by_others == 1)
		return STR("while another thread runs Python code");
	if (str_glob(row->innermost, STR("* acquire")))
		return STR("while it waits for another thread");
	if (str_glob(row->innermost, STR("* poll")) || str_glob(row->innermost, STR("select *")))
		return STR("while its event loop waits");
	if (row->launches > 2)
		return STR("while it launches programs one by one");
	return row->launching == 1 ? STR("while it launches a program") : words[CAUSE_HOST];
}

static void host_tell(const struct waiting *w)
{
	static const struct str launches[] = { STR_INIT("PjitFunction(*"),
		STR_INIT("*Executable::Execute*"), STR_INIT("pjit.py:*"),
		STR_INIT("pxla.py:* __call__") };
	struct waits_row *row = w->row;
	const struct gaps_row *of = heaviest(w, doing_of), *inmost = heaviest(w, activity_of);

	row->launches = launches_of(w);
	if (!of || !inmost)
		return;
	row->name = of->activity.p ? of->activity : STR("host activity not recorded");
	row->doing = doing_of(of);
	row->innermost = inmost->host_activity;
	row->in_background = w->cause == CAUSE_CHECKPOINT && is_any(w, writes_in_background);
	row->works_after = w->cause == CAUSE_SYNC && is_most(w, works_after);
	row->is_debugging = w->cause == CAUSE_SYNC && is_most(w, checks_results);
	row->dispatching = w->cause == CAUSE_HOST && is_most(w, is_dispatching);
	row->by_others = w->cause == CAUSE_HOST && is_most(w, is_by_others);
	row->launching = row->dispatching == 1 ||
			 (w->cause == CAUSE_HOST &&
				 (IS_ONE_OF(row->doing, launches) || is_most(w, is_launching)));
}

/*
 * Inference may have nothing to do between executions, since there is no request: then what it
 * does itself costs no time of the devices.  What was not recorded may be such a wait.  The row is
 * of marked steps, too, whose waits may be for requests.
 */
static void inference_tell(struct waiting *w)
{
	const struct phases_row *phases = table_rows(w->tables, phases);
	double own = 0, others = 0, most = 0;

	for (ptrdiff_t i = 0; i < table_count(w->tables, phases); i++) {
		double share = phases[i].time_share;
		if (phases[i].is_wait != 1)
			continue;
		int cause = word_place(GAP_WORDS, phases[i].name);
		if (cause == CAUSE_UNKNOWN || cause == CAUSE_REQUEST) {
			others += share;
			continue;
		}
		own += share;
		if (share > most) {
			most = share;
			w->cause = cause;
		}
	}
	if (own <= others)
		w->cause = CAUSES;
	if (w->cause == CAUSES)
		return;
	w->row->wait_ratio = own;
	w->row->cause = word_at(GAP_WORDS, w->cause);
}

/* Whether no check says that a device runs a program of its own. */
static bool programs_agree(const struct tables *t)
{
	const struct quality_row *q = table_rows(t, quality);

	for (ptrdiff_t i = 0; i < table_count(t, quality); i++)
		if (str_eq(q[i].name, STR("programs-agree")) && q[i].ok != 1)
			return false;
	return true;
}

static void row_fill(struct tables *t, enum role role, bool infers, const struct gaps_row **gaps,
	struct arena *keep)
{
	const struct run_row *run = row_of_run(t);
	const struct gaps_row *all = table_rows(t, gaps);
	struct waits_row *row = table_new(t, waits, keep);
	struct waiting w = { .tables = t,
		.run = run,
		.gaps = gaps,
		.role = role,
		.row = row,
		.keep = keep,
		.by_compiler = !str_eq(run->compiler, STR("none")),
		.cause = CAUSES };

	for (ptrdiff_t i = 0; i < table_count(t, gaps); i++)
		if (infers || word_is(all[i].role, WORK_WORDS, role))
			gaps[w.gap_count++] = &all[i];
	row->key = run->name;
	row->role = word_at(WORK_WORDS, role);
	row->programs_agree = programs_agree(t);
	if (infers) {
		inference_tell(&w);
	} else {
		device_tell(&w);
		if (row->device.p)
			cause_tell(&w);
	}
	if (row->device.p || w.cause != CAUSES)
		host_tell(&w);
	row->at = when_of(&w);
}

void fill_waits(struct tables *t, bool infers, struct arena *keep)
{
	const struct gaps_row **gaps =
		arena_make(keep, const struct gaps_row *, table_count(t, gaps));

	row_fill(t, ROLE_STEP, false, gaps, keep);
	row_fill(t, ROLE_OTHER, infers, gaps, keep);
}
