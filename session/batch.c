/* Judging profiles, each for itself.  See batch.h. */
#include "session/batch.h"

#include <assert.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/stats.h"
#include "base/task.h"
#include "base/text.h"
#include "base/when.h"
#include "session/bucket.h"
#include "session/previous.h"
#include "session/profile_name.h"
#include "store/store.h"

/* What few jobs have: the first of these that is set. */
struct rare {
	struct diag *error;	     /* why there is no run */
	const struct found_run *run; /* cannot be found again */
	struct str *older;	     /* names of neighbours that are part of it */
	ptrdiff_t older_count;
};

/* One profile to judge.  There may be a million, so it is small. */
struct job {
	struct str shown; /* the profile's name in reports */
	struct str path;  /* where it is found again at its turn */
	const struct tree *tree;
	int64_t bytes;
	const struct rare *rare; /* or NULL */
	bool is_ours;		 /* of a part of a list that is this shard's */
};

struct crew {
	const struct batch *batch;
	struct load_options options; /* the batch's, with this process's share of threads */
	struct job *jobs;
	ptrdiff_t count, cap;
	ptrdiff_t done; /* jobs of the stretches before */
	int64_t stretches;
	bool is_broken; /* err says why nothing more is judged */
	struct run_taker taker;
	struct arena list;  /* of the jobs alone, so that it grows where it is */
	struct arena names; /* and what they borrow */
	struct arena *keep; /* of the parent: what is in the result */
	struct report_set *set;
	ptrdiff_t set_cap;
	struct arena answer; /* with a taker: the reports of one job */
	struct diag err;
};

/* ---- one job --------------------------------------------------------------------------------- */

/* What one job needs. */
struct work {
	struct crew *crew;
	const struct job *job;
	struct found_run run;
	struct arena scratch; /* dies with the job */
	struct arena *keep;   /* for the reports */
	struct report_set set;
	ptrdiff_t set_cap;
	struct loaded all, part;
};

static struct report *add_report(struct work *w)
{
	return arena_push(w->keep, w->set.items, w->set.count, w->set_cap);
}

/* A job's run as it is now; of one that is there no more at least its name. */
static bool job_find(
	const struct job *job, struct arena *keep, struct found_run *ret, struct diag *err)
{
	static const struct rare none;
	const struct rare *e = job->rare ? job->rare : &none;
	*ret = e->run ? *e->run : (struct found_run){ 0 };
	if (e->error)
		*err = *e->error;
	return !e->error && (e->run || find_again(job->tree, job->path, e->older, e->older_count,
					       keep, ret, err));
}

/*
 * What is known of a run that could not be read: by its directory's name, which tells it from other
 * nights of the same profile, and by its job file, so that it is a night of that workload.
 */
static void report_unread(const struct crew *crew, struct str shown, const struct found_run *run,
	const struct diag *err, struct arena *keep, struct report *ret)
{
	struct tables *known = arena_make(keep, struct tables, 1);
	const struct job_file *job = crew->options.measure.job;
	struct loaded *l = arena_make(keep, struct loaded, 1);
	struct sha256 h = sha256_new();
	struct diag ignored; /* a mistake in the job file is not the error that is reported */
	int64_t ns;
	l->run = *run;
	if (run->name.len) {
		struct run_row *row = table_new(known, run, keep);
		sha256_field(&h, shown);
		sha256_field(&h, run->name);
		row->fingerprint = sha256_id(&h, keep);
		row->name = arena_str(keep, run->name);
		if (when_parse_run(run->name, &ns))
			row->captured = when_text(keep, ns);
		if (!job && run->file_count && !job_file_find(l, keep, &job, &ignored))
			job = NULL;
		if (job)
			run_row_tell(job, row);
	}
	report_error(err, shown, known, crew->batch->rules->name, keep, ret);
}

static void add_error(struct work *w, struct str shown, const struct diag *err)
{
	report_unread(w->crew, shown, w->part.run.name.p ? &w->part.run : &w->run, err, w->keep,
		add_report(w));
}

/* From what is open to a report. */
static bool judge_part(struct work *w, struct str shown, struct diag *err)
{
	const struct batch *b = w->crew->batch;
	struct tables *tables = arena_make(&w->scratch, struct tables, 1);
	struct diag_list *notes = arena_make(&w->scratch, struct diag_list, 1);
	struct judge_context context = { .today = b->today };
	const struct baseline *base;
	struct judgement judgement, previous, alone;
	struct report r;
	struct measured *m =
		run_measure(&w->part, &w->crew->options, &w->scratch, tables, notes, err);
	if (!m)
		return false;
	if (table_count(tables, run))
		table_rows(tables, run)->listing = run_listing(&w->part.run, w->keep);
	note_log_dir(&w->part, &w->crew->options, &w->scratch, notes);
	context.profile = arena_fmt(&w->scratch, "%.*s%.*s",
		STR_ARG(text_shell(&w->scratch, shown)), STR_ARG(w->crew->options.words));
	if (b->previous) {
		previous = previous_judgement(b->previous, shown);
		context.previous = &previous;
	}
	struct baselines baselines = b->baselines;
	baselines.are_of_others = w->crew->count > 1;
	bool ok = baselines_compare(&baselines, tables, shown, &w->scratch, &base, notes, err);
	if (ok && base) {
		context.base = base->tables;
		context.baseline = base->query.p ? MISSING : text_shell(&w->scratch, base->name);
		ok = judge_alone(b->rules, context.base, &w->scratch, &alone, err);
		context.alone = &alone;
	}
	context.is_compared = ok && baseline_was_there(tables);
	ok = ok && judge(b->rules, tables, &context, &w->scratch, &judgement, err);
	if (ok) {
		report_build(tables, &judgement, b->rules, notes, shown,
			b->keep_tables ? REPORT_WHOLE : REPORT_HEAD, w->keep, &r);
		ok = !b->keep_plots || run_plots(&w->part, m, w->keep, &r, err);
	}
	if (ok)
		*add_report(w) = r;
	measure_end(m);
	return ok;
}

static void add_passed_over(struct work *w)
{
	for (ptrdiff_t i = 0; i < w->part.passed_over_count; i++) {
		const struct passed_over *p = &w->part.passed_over[i];
		w->part.run = (struct found_run){ .path = p->dir, .name = path_base(p->dir) };
		add_error(w, profile_name(p->dir, w->keep), &p->why);
	}
}

/* Usually one part; neighbouring directories may turn out to be runs of their own. */
static void judge_run(struct work *w)
{
	struct diag err;
	struct str shown = arena_str(w->keep, w->job->shown); /* the list of jobs ends before */
	const struct batch *b = w->crew->batch;
	bool is_found = job_find(w->job, &w->scratch, &w->run, &err);
	if (is_found && b->skip && b->skip(b->skip_arg, shown, &w->run))
		return;
	if (!is_found || !run_open(&w->run, &w->crew->options, &w->scratch, &w->all, &err)) {
		add_error(w, shown, &err);
		return;
	}
	for (bool first = true; run_take(&w->all, &w->scratch, &w->part); first = false) {
		if (!first)
			shown = profile_name(w->part.run.path, w->keep);
		if (!judge_part(w, shown, &err))
			add_error(w, shown, &err);
		run_close(&w->part);
		if (!b->all_runs)
			break;
		add_passed_over(w);
	}
	run_close(&w->all);
}

/* ---- memory that runs out -------------------------------------------------------------------- */

/*
 * It runs out on any of several threads, in the middle of anything, so there is no way back: the
 * process ends.  A worker tells its parent how much there was by the status it ends with, this plus
 * the MiB's logarithm; statuses of sanitizers and shells lie elsewhere.
 */
enum { FULL_STATUS = 64, FULL_STATUSES = 32 };

static void set_full(struct diag *err, struct str shown, ptrdiff_t bytes)
{
	diag_set(err, DIAG_LIMIT,
		"%.*s: its names, ops and steps need more than the %td MiB that could be had for "
		"them; capture fewer steps, or give the process more memory",
		STR_ARG(shown), bytes >> 20);
}

static void end_worker(ptrdiff_t bytes)
{
	int status = FULL_STATUS;
	for (ptrdiff_t mib = bytes >> 20; mib > 1 && status < FULL_STATUS + FULL_STATUSES - 1;
		mib /= 2)
		status++;
	_exit(status);
}

/* The one profile of this process. */
static struct {
	struct str shown;
	void (*give_up)(const struct diag *err);
} alone;

static void end_alone(ptrdiff_t bytes)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct diag err;
	while (atomic_flag_test_and_set(&said))
		pause(); /* another thread is about to end the process */
	set_full(&err, alone.shown, bytes);
	alone.give_up(&err);
}

static void work_run(struct work *w)
{
	w->scratch = arena_new(ARENA_RUN_BYTES);
	judge_run(w);
	arena_free(&w->scratch);
}

/* ---- several, in worker processes ------------------------------------------------------------ */

static struct str job_run(void *arg, ptrdiff_t index, struct arena *keep)
{
	struct crew *crew = arg;
	struct work *w = arena_make(keep, struct work, 1);
	struct out *o = out_memory(keep);
	arena_on_full(end_worker);
	*w = (struct work){ .crew = crew, .job = &crew->jobs[index], .keep = keep };
	work_run(w);
	w->set.tool_version = STR(ROOFLINT_VERSION);
	report_json_write(&w->set, keep, o);
	return out_text(o);
}

static void set_lost(struct diag *err, struct str shown, const struct job_result *result)
{
	int full = result->status - FULL_STATUS;
	if (full >= 0 && full < FULL_STATUSES)
		set_full(err, shown, (ptrdiff_t)1 << (20 + full));
	else
		diag_set(err, DIAG_WORKER,
			"%.*s: the process that judged it was lost (%s); the other profiles are "
			"judged",
			STR_ARG(shown), result->ok ? "its answer cannot be read" : result->why);
}

static void read_answer(struct crew *crew, ptrdiff_t index, const struct job_result *result,
	struct arena *keep, struct report_set *ret)
{
	struct diag err, gone;
	struct found_run run;
	struct str shown = arena_str(keep, crew->jobs[index].shown);
	*ret = (struct report_set){ 0 };
	if (result->ok && report_json_read(STR("worker"), result->bytes, keep, ret, &err))
		return;
	set_lost(&err, shown, result);
	ret->items = arena_make(keep, struct report, 1);
	ret->count = 1;
	job_find(&crew->jobs[index], keep, &run, &gone);
	report_unread(crew, shown, &run, &err, keep, ret->items);
}

static void job_done(void *arg, ptrdiff_t index, const struct job_result *result)
{
	struct crew *crew = arg;
	const struct batch *b = crew->batch;
	struct report_set set;
	read_answer(crew, index, result, b->take ? &crew->answer : crew->keep, &set);
	if (b->take) {
		b->take(b->take_arg, &set);
		arena_clear(&crew->answer);
	}
	for (ptrdiff_t i = 0; i < set.count && !b->take; i++)
		*arena_push(crew->keep, crew->set->items, crew->set->count, crew->set_cap) =
			set.items[i];
	if (b->progress)
		b->progress(crew->done + index + 1, crew->done + crew->count);
}

static void job_idle(void *arg)
{
	const struct batch *b = ((struct crew *)arg)->batch;
	b->idle(b->take_arg);
}

/* ---- from paths to jobs ---------------------------------------------------------------------- */

/* Most names are the end of their path, which is held once. */
static struct str name_in(struct str path, struct arena *keep)
{
	struct arena scratch = *keep;
	struct str shown = profile_name(path, &scratch);
	if (str_ends(path, shown))
		return str_from_offset(path, path.len - shown.len);
	*keep = scratch;
	return shown;
}

static struct job *add_job(struct crew *crew, struct str path)
{
	struct job *job = arena_push(&crew->list, crew->jobs, crew->count, crew->cap);
	job->path = arena_str(&crew->names, path);
	job->shown = name_in(job->path, &crew->names);
	return job;
}

static const struct rare *rare_of(const struct found_run *run, struct arena *keep)
{
	bool is_kept = run->refused.p || run->files[0].format == FORMAT_DUMP;
	if (!is_kept && !run->older_count)
		return NULL;
	struct rare *e = arena_make(keep, struct rare, 1);
	struct found_run *copy = arena_make(keep, struct found_run, 1);
	*copy = found_copy(run, keep);
	e->run = is_kept ? copy : NULL;
	e->older = copy->older;
	e->older_count = copy->older_count;
	return e;
}

static void take_run(void *arg, const struct found_run *run)
{
	struct crew *crew = arg;
	struct job *job = add_job(crew, run->path);
	job->tree = run->tree;
	job->bytes = run->bytes;
	job->is_ours = crew->taker.is_divided;
	job->rare = rare_of(run, &crew->names);
}

static void add_path(struct crew *crew, struct str path)
{
	struct found found = { .count = 0 };
	ptrdiff_t before = crew->count;
	int64_t stretches = crew->stretches;
	bool ok = crew->batch->all_runs ? each_profile(path, crew->keep, &crew->taker, &crew->err)
					: find_profiles(path, crew->keep, &found, &crew->err);
	before = crew->stretches > stretches ? 0 : before;
	for (ptrdiff_t i = 0; i < found.count && ok; i++)
		take_run(crew, &found.runs[i]);
	/* One run that was asked for keeps the name that it was asked for by. */
	if (ok && found.count == 1)
		crew->jobs[before].shown = profile_name(path, &crew->names);
	if (ok || crew->is_broken)
		return;
	if (crew->batch->lost) {
		crew->count = before;
		crew->batch->lost(crew->batch->take_arg, &crew->err);
		return;
	}
	/* There is no run, and the reason would be found again. */
	struct rare *e = arena_make(&crew->names, struct rare, 1);
	e->error = arena_make(&crew->names, struct diag, 1);
	*e->error = crew->err;
	crew->count = before;
	add_job(crew, path)->rare = e;
}

/* What cannot be found weighs nothing.  What is ours by its name is not given away. */
static void take_shard(struct crew *crew)
{
	struct arena scratch = arena_new(ARENA_RUN_BYTES);
	int64_t *bytes = arena_make(&scratch, int64_t, crew->count);
	bool *is_ours = arena_make(&scratch, bool, crew->count);
	ptrdiff_t kept = 0;
	for (ptrdiff_t i = 0; i < crew->count; i++)
		bytes[i] = crew->jobs[i].bytes;
	shard_pick(crew->batch->shard, bytes, crew->count, scratch, is_ours);
	for (ptrdiff_t i = 0; i < crew->count; i++)
		if (is_ours[i] || crew->jobs[i].is_ours)
			crew->jobs[kept++] = crew->jobs[i];
	crew->count = kept;
	arena_free(&scratch);
}

static bool expect_all(const struct crew *crew, struct diag *err)
{
	const struct batch *b = crew->batch;
	struct arena scratch = arena_new(ARENA_SCRATCH_BYTES);
	struct str *shown = arena_make(&scratch, struct str, QUESTION_MAX_LIST);
	ptrdiff_t count = 0;
	bool ok = true;
	for (ptrdiff_t i = 0; ok && i < crew->count; i++) {
		shown[count++] = crew->jobs[i].shown;
		if (count < QUESTION_MAX_LIST && i + 1 < crew->count)
			continue;
		ok = b->expect(b->skip_arg, shown, count, err);
		count = 0;
	}
	arena_free(&scratch);
	return ok && b->expect(b->skip_arg, NULL, 0, err);
}

static void run_alone(struct crew *crew)
{
	struct work *w = arena_make(crew->keep, struct work, 1);
	alone.shown = crew->jobs[0].shown;
	alone.give_up = crew->batch->give_up;
	arena_full_fn *before = arena_on_full(end_alone);
	*w = (struct work){ .crew = crew, .job = &crew->jobs[0], .keep = crew->keep };
	work_run(w);
	arena_on_full(before);
	*crew->set = w->set;
	if (crew->batch->take)
		crew->batch->take(crew->batch->take_arg, crew->set);
}

/* Each profile once, in the order of names, and of a shard its own. */
static void settle_jobs(struct crew *crew)
{
	ptrdiff_t kept = 0;
	sort_by(crew->jobs, crew->count, names_order);
	for (ptrdiff_t i = 0; i < crew->count; i++)
		if (!kept || !str_eq(crew->jobs[kept - 1].shown, crew->jobs[i].shown))
			crew->jobs[kept++] = crew->jobs[i];
	crew->count = kept;
	if (crew->batch->shard.count)
		take_shard(crew);
}

/* What was found so far; whatever goes on is judged by others, so that one may fail. */
static bool judge_jobs(struct crew *crew, bool goes_on, struct diag *err)
{
	const struct batch *b = crew->batch;
	settle_jobs(crew);
	if (crew->count > 1)
		crew->options.measure.threads =
			b->workers > crew->count ? b->workers / (int)crew->count : 1;
	if (b->expect && !expect_all(crew, err))
		return false;
	if (crew->count == 1 && !goes_on) {
		run_alone(crew);
		return true;
	}
	if (b->take)
		crew->answer = arena_new(ARENA_SCRATCH_BYTES);
	bool ok = task_processes(
		job_run, job_done, b->idle ? job_idle : NULL, crew, crew->count, b->workers, err);
	arena_free(&crew->answer);
	return ok;
}

/* A stretch of a list was told: it is judged, and forgotten. */
static bool judge_stretch(void *arg, struct diag *err)
{
	struct crew *crew = arg;
	crew->is_broken = !judge_jobs(crew, true, err);
	crew->done += crew->count;
	crew->stretches++;
	crew->jobs = NULL;
	crew->count = crew->cap = 0;
	arena_clear(&crew->list);
	arena_clear(&crew->names);
	return !crew->is_broken;
}

bool batch_run(const struct batch *b, const struct list *paths, struct arena *keep,
	struct report_set *ret, struct diag *err)
{
	assert(b->workers > 0 && b->give_up);
	struct crew *crew = arena_make(keep, struct crew, 1);
	*crew = (struct crew){ .batch = b, .keep = keep, .set = ret, .options = *b->options };
	crew->taker = (struct run_taker){ .take = take_run, .arg = crew, .shard = b->shard };
	crew->taker.full = b->take ? judge_stretch : NULL;
	crew->list = arena_new(ARENA_RUN_BYTES);
	crew->names = arena_new(ARENA_RUN_BYTES);
	*ret = (struct report_set){ 0 };
	for (ptrdiff_t i = 0; i < paths->count && !crew->is_broken; i++)
		add_path(crew, paths->items[i]);
	bool ok = !crew->is_broken && judge_jobs(crew, crew->stretches > 0, err);
	if (crew->is_broken)
		*err = crew->err;
	ret->tool_version = STR(ROOFLINT_VERSION);
	if (ok)
		report_set_sort(ret);
	arena_free(&crew->list);
	arena_free(&crew->names);
	return ok;
}
