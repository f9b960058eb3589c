/* What the host was at while devices waited: the waits that are looked at, their rows and sums. */
#include "base/stats.h"
#include "base/text.h"
#include "measure/gaps.h"

/* Gaps below this share of a step are the launch overhead of a healthy program. */
#define GAP_SHARE 0.001

/* Gaps of a job that have a row, in the steps and as many outside: more say nothing new, and memory
 * must not grow with devices. */
#define GAP_ROWS ((ptrdiff_t)64 * SWEEP_MAX_GAPS)

static int64_t length_of(const struct swept_gap *g)
{
	return g->end_ps - g->start_ps;
}

static bool is_gap(const struct run *run, int64_t length_ps)
{
	return (double)length_ps * PS >= GAP_SHARE * run->step_time_s;
}

static int gap_cmp(const void *a, const void *b)
{
	const struct host_gap *x = a, *y = b;
	int order = order_integers(x->device - y->device, 0);

	return order ? order : order_integers(x->start_ps, y->start_ps);
}

static int32_t program_of(const struct run *run, int32_t subject)
{
	return subject < 0 ? -1 : registry_subject_at(run->registry, subject)->program->index;
}

/* A device's mean time in a step, without waits between executions. */
static int64_t step_work_ps(const struct sweep *s)
{
	int64_t steps = s->steady_count > 0 ? s->steady_count : 1;

	return (s->steady_ps - s->idle_ps + s->inside_ps) / steps;
}

static bool is_of_step(const struct run *run, int32_t program)
{
	return program >= 0 && registry_program_at(run->registry, program)->role == ROLE_STEP;
}

/* The device's work before a gap: its part of the step, or an execution of other work. */
static int64_t work_before_ps(const struct run *run, const struct device *d, int32_t program)
{
	if (program < 0 || is_of_step(run, program))
		return step_work_ps(&d->sweep);
	if (program >= d->sweep.program_cap || d->sweep.programs[program].executions == 0)
		return 0;
	return d->sweep.programs[program].time_ps / d->sweep.programs[program].executions;
}

static void kept_collect(const struct run *run, const struct device *d, const struct gap_heap *h,
	struct host_gap *gaps, ptrdiff_t *count)
{
	int64_t shift_ps = d->plane->host_shift_ps;

	for (ptrdiff_t i = 0; i < h->count; i++) {
		const struct swept_gap *g = &h->items[i];
		if (is_gap(run, length_of(g)))
			gaps[(*count)++] = (struct host_gap){ .device = d,
				.gap = g,
				.has_row = true,
				.program = program_of(run, g->after),
				.work_ps = work_before_ps(run, d, program_of(run, g->before)),
				.start_ps = g->start_ps + shift_ps,
				.end_ps = g->end_ps + shift_ps };
	}
}

/* Which gaps have a row: all that are longer than this, and some of those that are as long. */
struct gap_limit {
	int64_t longer_than_ps;
	ptrdiff_t as_long;
};

static struct gap_limit limit_of(int64_t *lengths, ptrdiff_t count, ptrdiff_t most)
{
	ptrdiff_t longer = 0;

	if (count <= most)
		return (struct gap_limit){ -1, 0 };
	sort_integers(lengths, count);
	int64_t last = lengths[count - most];
	while (lengths[count - 1 - longer] > last)
		longer++;
	return (struct gap_limit){ last, most - longer };
}

static bool limit_leaves(struct gap_limit *l, int64_t length_ps)
{
	return length_ps > l->longer_than_ps ||
	       (length_ps == l->longer_than_ps && l->as_long-- > 0);
}

static bool is_other(const struct host_gap *g)
{
	return !g->gap || g->gap->is_other;
}

/* Of what lies outside the steps a device's longest have rows, whether a sweep kept them or not. */
static void others_limit(
	struct host_gap *gaps, ptrdiff_t count, const struct device *d, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < count; i++)
		if (gaps[i].has_row && gaps[i].device == d && is_other(&gaps[i]))
			lengths[n++] = gaps[i].end_ps - gaps[i].start_ps;
	struct gap_limit limit = limit_of(lengths, n, SWEEP_MAX_GAPS);
	for (ptrdiff_t i = 0; i < count; i++)
		if (gaps[i].has_row && gaps[i].device == d && is_other(&gaps[i]))
			gaps[i].has_row = limit_leaves(&limit, gaps[i].end_ps - gaps[i].start_ps);
}

/* Whether most of a wait lies in gaps that the sweep kept, by device, then by start. */
static bool is_kept(const struct host_gap *w, const struct host_gap *gaps, ptrdiff_t count)
{
	int64_t kept_ps = 0;
	ptrdiff_t at;

	FIND_FIRST(at, 0, count,
		gaps[at].device > w->device ||
			(gaps[at].device == w->device && gaps[at].end_ps > w->start_ps));
	for (; at < count && gaps[at].device == w->device && gaps[at].start_ps < w->end_ps; at++)
		kept_ps += gap_overlap_ps(w, gaps[at].start_ps, gaps[at].end_ps);
	return 2 * kept_ps > w->end_ps - w->start_ps;
}

/* The waits between the executions of a device, behind its gaps that are kept. */
static void waits_collect(const struct run *run, const struct device *d, struct host_gap *gaps,
	ptrdiff_t *count, struct arena scratch)
{
	int64_t at_ps = d->sweep.first_ps, shift_ps = d->plane->host_shift_ps;
	ptrdiff_t kept = *count;

	for (ptrdiff_t i = 0; i <= run->lasting.run_count; i++) {
		const struct program_run *r = &run->lasting.runs[i];
		bool more = i < run->lasting.run_count;
		int64_t until_ps = more ? r->start_ps : d->sweep.last_ps;
		struct host_gap *w = &gaps[*count];
		if (until_ps > at_ps) {
			*w = (struct host_gap){ .device = d,
				.program = more ? r->program : -1,
				.work_ps = work_before_ps(run, d, i > 0 ? r[-1].program : -1),
				.start_ps = at_ps + shift_ps,
				.end_ps = until_ps + shift_ps };
			/* What a server waits for before a step is the step's. */
			w->has_row = run->schedule.is_server && more && i > 0 &&
				     !is_of_step(run, r->program) &&
				     is_gap(run, until_ps - at_ps) && !is_kept(w, gaps, kept);
			++*count;
		}
		at_ps = more && r->end_ps > at_ps ? r->end_ps : at_ps;
	}
	others_limit(gaps, *count, d, scratch);
}

/* The gaps of one host's devices, by device, then by start; behind them the waits of the device
 * that ends last. */
static struct host_gap *gaps_collect(
	const struct run *run, int32_t host, struct arena *keep, ptrdiff_t *count)
{
	const struct device *lasting = run->lasting.device;
	ptrdiff_t most = run->lasting.run_count + 1;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		most += run->devices[i].sweep.gaps.count + run->devices[i].sweep.other_gaps.count;
	/* There may be one between any two executions: only what is written to is memory. */
	struct host_gap *gaps =
		(struct host_gap *)(void *)arena_room(keep, most * (ptrdiff_t)sizeof(*gaps));
	*count = 0;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		if (d->host != host)
			continue;
		kept_collect(run, d, &d->sweep.gaps, gaps, count);
		kept_collect(run, d, &d->sweep.other_gaps, gaps, count);
	}
	sort_by(gaps, *count, gap_cmp);
	if (lasting && lasting->host == host && !lasting->sweep.runs_cut)
		waits_collect(run, lasting, gaps, count, *keep);
	return gaps;
}

static struct gap_limit gap_limit(const struct run *run, bool of_other, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, run->device_count * SWEEP_MAX_GAPS);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		const struct gap_heap *h = of_other ? &s->other_gaps : &s->gaps;
		for (ptrdiff_t k = 0; k < h->count; k++)
			if (is_gap(run, length_of(&h->items[k])))
				lengths[n++] = length_of(&h->items[k]);
	}
	return limit_of(lengths, n, GAP_ROWS);
}

/* As Python's tracer names it, without its mark.  A copy: the name's page would come back for every
 * row that is read. */
static struct str frame_text(struct str name, struct arena *keep)
{
	str_take(&name, STR("$"));
	return arena_str(keep, text_clean(keep, name));
}

static void gap_row(const struct run *run, const struct op_rows *op_rows, const struct host_gap *g,
	enum cause cause)
{
	static const char *const before[CAUSES] = {
		[CAUSE_INPUT] = "getting the next batch, ",
		[CAUSE_CHECKPOINT] = "writing a checkpoint, ",
		[CAUSE_COMPILE] = "compiling, ",
		[CAUSE_SYNC] = "waiting for a result, ",
	};
	struct gaps_row *row = table_new(run->tables, gaps, run->keep);

	row->host = g->device->host_name;
	row->device = g->device->name;
	row->role = word_at(WORK_WORDS, is_other(g) ? ROLE_OTHER : ROLE_STEP);
	row->start_s = (double)(g->start_ps - g->device->plane->host_shift_ps -
				g->device->sweep.first_ps) *
		       PS;
	row->time_s = (double)(g->end_ps - g->start_ps) * PS;
	if (g->gap) {
		row->step = (double)g->gap->step;
		row->before = registry_subject_at(run->registry, g->gap->before)->name;
	}
	if (g->gap && g->gap->after >= 0) {
		row->after = registry_subject_at(run->registry, g->gap->after)->name;
		if (op_rows->at[g->gap->after] >= 0)
			row->key = op_rows->rows[op_rows->at[g->gap->after]].key;
	}
	row->cause = word_at(GAP_WORDS, cause);
	row->cause_s = (double)g->by_cause_ps[cause] * PS;
	row->host_activity = frame_text(g->host.name, run->keep);
	row->host_call = frame_text(g->call.name, run->keep);
	row->dispatching = g->is_dispatch;
	row->launching = 2 * g->launched_ps > g->end_ps - g->start_ps;
	row->by_others = g->by_others;
	row->works_after = g->works_after;
	struct str doing = row->host_call.p ? row->host_call : row->host_activity;
	if (doing.p)
		row->activity = arena_fmt(
			run->keep, "%s%.*s", before[cause] ? before[cause] : "", STR_ARG(doing));
}

/* The files that ops were written in.  JAX's own are not among them: an op's place is the first
 * frame outside of JAX. */
static struct map users_files(const struct op_rows *ops, struct arena *keep)
{
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; i < ops->count; i++)
		if (ops->rows[i].common->source_file.len)
			map_put(&ret, path_base(ops->rows[i].common->source_file), 0, keep);
	return ret;
}

/* Files of installed libraries on the steps' stacks, which leave out JAX's own frames. */
static struct map libraries_files(const struct run *run, struct arena *keep)
{
	struct map ret = { 0 };

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		ptrdiff_t count = 0;
		const struct str *files = p->role == ROLE_STEP && p->has_hlo
						  ? hlo_files(program_hlo(p), &count)
						  : NULL;
		for (ptrdiff_t k = 0; k < count; k++)
			if (str_contains(files[k], STR("-packages/")))
				map_put(&ret, arena_str(keep, path_base(files[k])), 0, keep);
	}
	return ret;
}

/* What was seen of a device's waits for the host in steady steps. */
struct seen {
	int64_t all_ps, input_ps, sync_ps;
};

static bool lies_in_steady(const struct sweep *s, int64_t at_ps)
{
	ptrdiff_t next;

	FIND_FIRST(next, 0, s->step_count, s->steps[next].start_ps > at_ps);
	return next > 0 && step_is_steady(&s->steps[next - 1]) && at_ps < s->steps[next - 1].end_ps;
}

/*
 * All waits of the device that ends last are known, be they ever so short; of another device, and
 * where executions were not kept, its largest gaps between them stand for the rest.
 */
static void seen_add(const struct run *run, const struct host_gap *g, struct seen *seen)
{
	const struct sweep *s = &g->device->sweep;
	bool all_known = g->device == run->lasting.device && !s->runs_cut;

	if (g->gap ? all_known || g->gap->inside
		   : !lies_in_steady(s, g->start_ps - g->device->plane->host_shift_ps))
		return;
	seen->all_ps += g->end_ps - g->start_ps;
	seen->input_ps += g->by_cause_ps[CAUSE_INPUT];
	seen->sync_ps += g->by_cause_ps[CAUSE_SYNC];
}

/* By how much each device waits for the host at all. */
static void seen_sum(const struct run *run, const struct seen *seen, struct gap_sums *ret)
{
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		double waits_s = (double)(s->idle_ps - s->inside_ps) * PS;
		if (seen[i].all_ps == 0)
			continue;
		ret->input_s += waits_s * (double)seen[i].input_ps / (double)seen[i].all_ps;
		ret->sync_s += waits_s * (double)seen[i].sync_ps / (double)seen[i].all_ps;
	}
}

/* A wait as a whole is of one cause for its length, and its time is of all. */
static void wait_sum(const struct host_gap *g, enum cause cause, struct gap_sums *ret)
{
	for (int c = 0; c < CAUSES; c++)
		ret->waits[c].time_ps += g->by_cause_ps[c];
	dist_add(&ret->waits[cause].lengths, ret->keep, g->end_ps - g->start_ps);
}

bool fill_gaps(const struct run *run, const struct op_rows *op_rows, bool infers,
	struct gap_sums *ret, struct diag *err)
{
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);
	struct gap_limit limits[2] = { gap_limit(run, false, work), gap_limit(run, true, work) };
	const struct map files = users_files(op_rows, run->keep);
	const struct map libraries = libraries_files(run, run->keep);
	struct seen *seen = arena_make(run->keep, struct seen, run->device_count);
	const struct gap_facts facts = { &files, &libraries, infers };
	bool ok = true, has_frames = false;

	*ret = (struct gap_sums){ .keep = run->keep };
	for (ptrdiff_t h = 0; ok && h < run->host_count; h++) {
		ptrdiff_t count;
		struct host_gap *gaps = gaps_collect(run, (int32_t)h, &work, &count);
		gaps_call(run, (int32_t)h, gaps, count, &work);
		ok = gaps_explain(run, &facts, (int32_t)h, gaps, count, &work, err);
		for (ptrdiff_t i = 0; ok && i < count; i++) {
			struct host_gap *g = &gaps[i];
			enum cause cause = gap_settle(g, &facts);
			has_frames |= g->has_frames;
			/* Where executions were not kept, gaps between them stand for the waits. */
			if (!g->gap || (g->device == run->lasting.device &&
					       g->device->sweep.runs_cut && !g->gap->inside))
				wait_sum(g, cause, ret);
			if (!g->gap || !g->gap->is_other)
				seen_add(run, g, &seen[g->device - run->devices]);
			if (g->has_row &&
				limit_leaves(&limits[is_other(g)], g->end_ps - g->start_ps))
				gap_row(run, op_rows, g, cause);
		}
		profile_drop(&run->hosts[h]);
		arena_clear(&work);
	}
	arena_free(&work);
	seen_sum(run, seen, ret);
	if (has_frames)
		quality_add(run, "host-functions", true, "Python's functions are recorded");
	return ok;
}
