/*
 * The row of table run: what a run comes to, over all its devices and steady steps.
 */
#include <math.h>

#include "base/map.h"
#include "base/text.h"
#include "base/when.h"
#include "measure/writers.h"

/* Ops shorter than this are tiny: launching one costs about as much. */
#define TINY_PS 10000000 /* 10 us */

enum phase run_phase(const struct run *run)
{
	const struct job_file *j = run->options->job;

	if (j && j->phase)
		return (enum phase)j->phase;
	/* Whatever else a step runs.  Kernels of no program may be of a backward pass, too. */
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++) {
		const struct program *p = registry_program_at(run->registry, i);
		if (p->role == ROLE_STEP && p->has_gradient)
			return PHASE_TRAIN;
	}
	enum phase phase = program_phase(run->main);
	if (phase == PHASE_UNKNOWN && run->plans == PLANS_SCHEDULED)
		phase = phase_of_name(run->schedule.sorts[run->schedule.judged].name);
	return phase;
}

static struct mask_sum run_masks(const struct run *run)
{
	struct mask_sum sum = { 0 };

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		struct mask_sum one = mask_sum(s->mask_ps, s->idle_ps);
		sum.compute += one.compute;
		sum.exposed += one.exposed;
		sum.hidden += one.hidden;
		sum.copy += one.copy;
		sum.transfer += one.transfer;
		sum.idle += one.idle;
	}
	return sum;
}

/* Distinct machines; NaN where a profile does not name its own. */
static double machines_named(const struct run *run)
{
	struct arena scratch = *run->keep;
	struct map names = map_with_room(run->host_count, &scratch);
	int32_t count = 0;

	for (ptrdiff_t i = 0; i < run->host_count; i++) {
		struct str name = run->hosts[i].machine;
		if (!name.len)
			return NAN;
		count += map_put(&names, name, count, &scratch) == count;
	}
	return count;
}

/* What works beside each other, so that a step takes as long as the longest of them at least. */
enum way { WAY_CHIP, WAY_LINKS, WAY_FROM_HOST, WAY_TO_HOST, WAYS };

/* What the run row needs of the ops: sums over the ops table. */
struct op_sums {
	double time, bounded, judgeable, known, uncounted, unknown_flops, unmeasured, unattributed,
		unknown_kind, tiny, count, tiny_count, copies, update_excess;
	double flops, remat_flops, hbm_bytes;
	double ideals[WAYS];  /* rooflines one after another */
	bool of_programs;     /* some op is of a program of XLA */
	struct str framework; /* of the heaviest kernel that tells; or missing */
};

/* `moving` is NULL of what moves no data. */
static enum way way_of(
	const struct op_common *op, const struct subject *s, const struct op_facts *moving)
{
	if (!isnan(op->t_comms_s))
		return WAY_LINKS;
	if (s->kind != KIND_TRANSFER || !moving)
		return WAY_CHIP;
	return moving->direction == COPY_H2D   ? WAY_FROM_HOST
	       : moving->direction == COPY_D2H ? WAY_TO_HOST
					       : WAY_CHIP;
}

static void op_sums_add(struct op_sums *sum, const struct ops_row *op, const struct subject *s,
	const struct op_facts *moving)
{
	const struct op_common *common = op->common;

	if (s->program->role != ROLE_STEP)
		return;
	sum->time += op->time_s;
	sum->count += common->count;
	sum->of_programs |= s->program->id != PROGRAM_UNKNOWN;
	if (!sum->framework.p)
		sum->framework = kernel_framework(op->name);
	if (op_is_judgeable(s)) {
		sum->judgeable += op->time_s;
		sum->known += isnan(common->roofline_s) ? 0 : op->time_s;
		bool whole = !isnan(common->flops) &&
			     !word_is(common->cost_bound, COST_WORDS, COST_LOWER - 1);
		sum->uncounted += whole ? 0 : op->time_s;
		sum->unmeasured += isnan(common->hbm_bytes) ? op->time_s : 0;
		sum->unknown_flops += isnan(common->flops) ? op->time_s : 0;
	}
	if (!isnan(common->roofline_s)) {
		sum->bounded += op->time_s;
		sum->ideals[way_of(common, s, moving)] += common->roofline_s * common->count;
	}
	if (s->attribution == ATTRIBUTION_NONE)
		sum->unattributed += op->time_s;
	if (s->kind == KIND_UNKNOWN)
		sum->unknown_kind += op->time_s;
	if (op->mean_s < TINY_PS * PS) {
		sum->tiny += op->time_s;
		sum->tiny_count += common->count;
	}
	/* A copy of unknown cause makes the sum unknown: NaN spreads. */
	if (s->kind == KIND_COPY && !common->copy_cause.p)
		sum->copies = NAN;
	if (word_is(common->copy_cause, CAUSE_WORDS, COPY_LAYOUT - 1))
		sum->copies += op->time_s;
	if (s->kind == KIND_UPDATE && op->time_s > common->roofline_s * common->count)
		sum->update_excess += op->time_s - common->roofline_s * common->count;
	if (!isnan(common->flops))
		*(common->is_remat > 0 ? &sum->remat_flops : &sum->flops) +=
			common->flops * common->count;
	if (!isnan(common->hbm_bytes))
		sum->hbm_bytes += common->hbm_bytes * common->count;
}

/* What frameworks call the modules that they have XLA compile. */
static const struct {
	struct str prefix, framework;
} module_frameworks[] = {
	{ STR_INIT("jit_"), STR_INIT("jax") },
	{ STR_INIT("pmap_"), STR_INIT("jax") },
	{ STR_INIT("cluster_"), STR_INIT("tensorflow") },
	{ STR_INIT("a_inference_"), STR_INIT("tensorflow") },
	{ STR_INIT("SyncTensorsGraph"), STR_INIT("pytorch") },
};

static struct str modules_framework(const struct run *run)
{
	const struct program *const *programs = registry_programs_ranked(run->registry);

	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++)
		for (ptrdiff_t k = 0; k < COUNT_OF(module_frameworks); k++)
			if (str_starts(programs[i]->module, module_frameworks[k].prefix))
				return module_frameworks[k].framework;
	return MISSING;
}

/*
 * Without XLA's programs there is nothing that a kernel could be missing from.  XLA's own profiler
 * loses them too, so there the kernels have to say that they are TensorFlow's.
 */
static bool run_is_foreign(const struct run *run, const struct op_sums *sum)
{
	return !sum->of_programs &&
	       (run->hosts[0].format == FORMAT_NSYS || str_eq(sum->framework, STR("tensorflow")));
}

/* Returns the FLOPs counted in the steady steps of the devices seen; NaN without a step. */
static double run_row_ops(const struct run *run, const struct op_rows *ops, struct run_row *row)
{
	struct op_sums sum = { 0 };
	double t = run->steady_s;

	for (ptrdiff_t i = 0; i < ops->count; i++)
		op_sums_add(&sum, &ops->rows[i], ops->subjects[i],
			ops->moving[ops->subjects[i]->index]);
	sum.flops += sum.remat_flops;
	if (sum.flops > 0 && sum.uncounted <= UNCOUNTED_MAX * sum.judgeable)
		row->remat_flops_ratio = sum.remat_flops / sum.flops;
	if (sum.time > 0) {
		bool is_foreign = run_is_foreign(run, &sum);
		if (is_foreign)
			row->framework = sum.framework;
		row->compiler = is_foreign ? STR("none") : STR("xla");
		row->unattributed_ratio = is_foreign ? 0 : sum.unattributed / sum.time;
		row->unknown_kind_ratio = sum.unknown_kind / sum.time;
		if (run->first && run->first->chip.chip) /* without one nothing could be known */
			row->judged_ratio = sum.known / sum.judgeable;
		row->uncounted_ratio = sum.uncounted / sum.judgeable;
		row->unknown_bytes_ratio = sum.unmeasured / sum.judgeable;
		row->tiny_ops_ratio = sum.tiny / sum.time;
		row->tiny_ops_count_ratio = sum.tiny_count / sum.count;
	}
	if (!(t > 0) || !run->first)
		return NAN;
	if (sum.flops > 0 && sum.uncounted <= UNCOUNTED_MAX * sum.judgeable)
		row->step_flops = sum.flops / run->device_steps;
	row->layout_copy_ratio = sum.copies / t;
	row->update_excess_ratio = sum.update_excess / t;
	/* On GPU and CPU what communicates is named after it. */
	bool unclear = run->platform == PLATFORM_TPU && run->shape.chips > 1;
	row->unclear_comms_ratio = unclear ? sum.unknown_kind / t : 0;
	if (!run->first->chip.chip)
		return sum.flops;
	/* Where nothing could be counted, nothing is known; else what was counted is a bound. */
	double ideal = 0;
	for (int i = 0; i < WAYS; i++)
		ideal = fmax(ideal, sum.ideals[i]);
	if (sum.unknown_flops < sum.judgeable)
		row->op_util = sum.flops / (t * main_peak_flops(&run->first->chip));
	if (sum.unmeasured < sum.judgeable)
		row->hbm_util = sum.hbm_bytes / (t * roofline_hbm_bps(&run->first->chip));
	/* Ops that overlap may come to more than the step. */
	if (sum.bounded > 0)
		row->roofline_ratio_lo = fmin(1, ideal / t);
	row->roofline_ratio_hi = fmin(1, (ideal + (sum.time - sum.bounded)) / t);
	return sum.flops;
}

/* The earliest start of any host; missing when none tells. */
static struct str captured(const struct run *run)
{
	int64_t first = 0;

	for (ptrdiff_t i = 0; i < run->host_count; i++) {
		int64_t start = run->hosts[i].start_ns;
		if (start > 0 && (!first || start < first))
			first = start;
	}
	if (!first)
		return MISSING;
	struct str seconds = str_head(when_text(run->keep, first), STR("2026-03-14T09:26:53").len);
	return arena_fmt(run->keep, "%.*sZ", STR_ARG(seconds));
}

/* The words of libtpu have some 80 bytes; hosts of one job have two versions, if not one. */
enum { VERSION_BYTES = 200, VERSIONS_TOLD = 4 };

/* A version that every host tells, or those that they tell, each once.  The job file never replaces
 * what was recorded. */
static struct str told_version(const struct run *run, ptrdiff_t offset, struct str by_job)
{
	struct str said[VERSIONS_TOLD], told = { NULL, 0 };
	int count = 0;

	for (ptrdiff_t i = 0; i < run->host_count && count < VERSIONS_TOLD; i++) {
		const char *versions = (const char *)&run->hosts[i].versions;
		struct str one = *(const struct str *)(const void *)(versions + offset);
		int k = 0;
		one = str_head(one, VERSION_BYTES);
		while (k < count && !str_eq(said[k], one))
			k++;
		if (!one.len || k < count)
			continue;
		said[count++] = one;
		told = told.p ? arena_fmt(run->keep, "%.*s and %.*s", STR_ARG(told), STR_ARG(one))
			      : one;
	}
	told = told.p ? told : by_job;
	return told.p ? text_clean(run->keep, told) : told;
}

/* NaN without two steady steps in a row. */
static double step_interval_s(const struct run *run, const struct sweep *s)
{
	struct arena scratch = *run->keep;
	double *intervals = arena_make(&scratch, double, s->step_count + 1);
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 1; i < s->step_count; i++)
		if (step_is_steady(&s->steps[i - 1]) && step_is_steady(&s->steps[i]))
			intervals[n++] =
				(double)(s->steps[i].start_ps - s->steps[i - 1].start_ps) * PS;
	return n > 0 ? median(intervals, n) : (double)NAN;
}

static void run_row_steps(const struct run *run, struct run_row *row)
{
	const struct dist lengths = aggregate_lengths(run->sums);

	row->steps = run->source == STEPS_WINDOW ? 0 : (double)run->steps;
	if (!run->first)
		return;
	row->steps_source = word_at(STEPS_WORDS, run->source);
	row->is_server = run->plans == PLANS_SCHEDULED && run->schedule.is_server;
	row->step_time_s = run->step_time_s;
	row->step_mean_s = run->step_mean_s;
	row->step_interval_s = step_interval_s(run, &run->first->sweep);
	if (lengths.count > 0) {
		dist_median_interval(&lengths, lengths.count, *run->keep, &row->step_time_lo_s,
			&row->step_time_hi_s);
		row->step_time_lo_s *= PS;
		row->step_time_hi_s *= PS;
	}
	if (!(run->steady_s > 0))
		return;
	struct mask_sum sum = run_masks(run);
	row->idle_ratio = sum.idle / run->steady_s;
	row->busy_ratio = 1 - row->idle_ratio;
	row->compute_ratio = sum.compute / run->steady_s;
	row->comms_exposed_ratio = sum.exposed / run->steady_s;
	row->comms_hidden_ratio = sum.hidden / run->steady_s;
	row->transfer_ratio = sum.transfer / run->steady_s;
}

static bool has_host_events(const struct run *run)
{
	for (ptrdiff_t h = 0; h < run->host_count; h++)
		for (ptrdiff_t i = 0; i < run->hosts[h].plane_count; i++) {
			const struct plane *p = &run->hosts[h].planes[i];
			for (ptrdiff_t k = 0; p->class == PLANE_HOST && k < p->lane_count; k++)
				if (p->lanes[k].bytes > 0)
					return true;
		}
	return false;
}

/* Share of the step in ops of a kind. */
static double kind_share(const struct op_rows *ops, enum op_kind kind)
{
	double sum = 0;

	for (ptrdiff_t i = 0; i < ops->count; i++)
		if (ops->subjects[i]->kind == kind)
			sum += ops->rows[i].time_share;
	return sum;
}

/* What the devices wait for. */
static void run_row_waits(const struct run *run, const struct op_rows *ops, struct run_row *row,
	const struct gap_sums *gaps)
{
	double of_steps = run->steady_s > 0 ? 1 / run->steady_s : 0;

	row->input_wait_ratio = of_steps * gaps->input_s + kind_share(ops, KIND_INFEED);
	row->sync_wait_ratio = of_steps * gaps->sync_s + kind_share(ops, KIND_OUTFEED);
}

struct str fill_run(const struct run *run, const struct run_parts *parts, struct str name)
{
	struct run_row *row = table_new(run->tables, run, run->keep);

	row->name = text_clean(run->keep, name);
	row->fingerprint = capture_fingerprint(run->hosts, run->host_count, run->keep);
	row->captured = captured(run);
	row->inputs = files_line(run);
	row->platform = word_at(PLATFORM_WORDS, run->platform);
	struct job_versions job = { 0 };
	if (run->options->job)
		job = run->options->job->versions;
	row->jax_version = told_version(run, offsetof(struct profile_versions, jax), job.jax);
	row->jaxlib_version =
		told_version(run, offsetof(struct profile_versions, jaxlib), job.jaxlib);
	row->framework = row->jax_version.p ? STR("jax") : modules_framework(run);
	row->runtime_version =
		told_version(run, offsetof(struct profile_versions, runtime), job.runtime);
	if (run->first && run->first->match.chip)
		row->chip = run->first->match.chip->id;
	if (run->first) {
		const struct chip_hints *said = &run->first->plane->chip;
		row->chip_why = text_clean(run->keep, run->first->match.why);
		row->chip_name = text_clean(
			run->keep, said->device_type.len ? said->device_type : said->device_name);
	}
	row->evidence = run_is_planned(run) ? STR("planned") : STR("measured");
	row->chips = (double)run->shape.chips;
	row->slices = run->shape.slices > 1 ? (double)run->shape.slices
		      : run->options->job   ? run->options->job->slices
					    : (double)NAN;
	row->devices = 0;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		double window_s = (double)(s->last_ps - s->first_ps) * PS;
		row->devices += s->events > 0;
		if (s->events > 0 && !(row->window_s >= window_s))
			row->window_s = window_s;
	}
	row->phase = word_at(PHASE_WORDS, run_phase(run));
	predict_step(run, parts->programs, row);
	if (run->main)
		row->main_program = run->main->module;
	if (run_is_planned(run))
		return fill_job_facts(run, row, NAN);
	row->hosts = (double)run->host_count;
	row->machines = machines_named(run);
	row->hosts_expected = run->shape.hosts_expected;
	row->all_hosts_read = row->hosts >= row->hosts_expected ? 1 : (double)NAN;
	row->whole_hlo = has_whole_hlo(run) ? 1 : (double)NAN;
	row->verdict_share = parts->verdict_share;
	row->programs_per_step = programs_per_step(run);
	run_row_steps(run, row);
	struct str job_wrong = fill_job_facts(run, row, run_row_ops(run, &parts->ops, row));
	/* Without host events nothing can be told. */
	if (has_host_events(run)) {
		row->compiles_in_steps = parts->compiles_in_steps;
		if (run->source != STEPS_WINDOW)
			run_row_waits(run, &parts->ops, row, &parts->gaps);
	}
	return job_wrong;
}
