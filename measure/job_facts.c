/*
 * What the job file adds to the tables, and where it contradicts the profile.
 *
 * MFU and HFU are the model's formula over the peak; op_util is what was counted in the program
 * over the same peak.  They are different quantities, and none stands in for another.
 */
#include <math.h>

#include "measure/writers.h"

/* Formulas count an embedding's lookup as a product, or all pairs of a causal attention: of a usual
 * model that is a tenth.  A program that holds fewer FLOPs than the model is another model's. */
#define USEFUL_MAX 1.2

static void fill_utilisation(
	const struct run *run, const struct job_file *j, struct run_row *row, double counted_flops)
{
	enum phase phase = run_phase(run);
	/* Planes of the whole job: peaks and counted FLOPs are a plane's. */
	double planes = run->shape.devices * run->shape.planes_per_partition;
	double counted = counted_flops / run->device_steps * planes;
	/* Without steps there is no time of one. */
	double step_s = run->source == STEPS_WINDOW ? NAN : row->step_mean_s;
	double peak =
		run->first && run->first->chip.chip ? main_peak_flops(&run->first->chip) : NAN;

	row->model_flops = job_model_flops(j, phase);
	row->mfu = row->model_flops / (step_s * planes * peak);
	row->hfu = job_hardware_flops(j, phase) / (step_s * planes * peak);
	if (run->source != STEPS_WINDOW && row->uncounted_ratio <= UNCOUNTED_MAX && counted > 0)
		row->useful_flops_ratio = row->model_flops / counted;
}

void run_row_tell(const struct job_file *j, struct run_row *row)
{
	if (j->workload.p)
		row->name = j->workload;
	row->model = j->model.name;
	row->owner = j->owner;
	row->commit_id = j->commit;
	row->labels = j->labels;
	row->mesh = j->mesh;
	row->topology = j->topology;
	row->global_batch = j->global_batch;
	row->tokens_per_step = job_tokens(j);
	row->pipeline_stages = j->pipeline.stages;
	row->microbatches = j->pipeline.microbatches;
	row->bubble_ratio = job_bubble(j);
}

/* The program's transfers tell how many slices it joins at least; a torus has all of one. */
static struct str topology_contradiction(const struct run *run, const struct job_file *j)
{
	double joined = (double)run->shape.slices, slices = fmax(joined, j->slices);
	double torus = job_torus_chips(j);

	if (joined > 1 && j->slices < joined)
		return arena_fmt(run->keep,
			"the job file says slices: %.0f, and the program joins %.0f", j->slices,
			joined);
	if (torus > 0 && run->shape.partitions > 0 && torus * slices != (double)run->shape.chips)
		return arena_fmt(run->keep,
			"the job file says a slice of %.*s, %.0f chips in all, and the program is "
			"for %lld",
			STR_ARG(j->topology), torus * slices, (long long)run->shape.chips);
	if (j->slices > 1 && run->beats_network.p)
		return arena_fmt(run->keep,
			"the job file says %.0f slices, and %.*s is faster than the network "
			"between them",
			j->slices, STR_ARG(run->beats_network));
	return MISSING;
}

/* The first contradiction, or the missing string. */
static struct str contradiction(
	const struct run *run, const struct job_file *j, const struct run_row *row)
{
	double devices = run->shape.partitions, seen = (double)run->device_count;

	if (j->devices > 0 && devices > 0 && j->devices != devices)
		return arena_fmt(run->keep,
			"the job file says %.0f devices, and the program is for %.0f", j->devices,
			devices);
	if (j->devices * run->shape.planes_per_partition < seen)
		return arena_fmt(run->keep,
			"the job file says %.0f devices, and the profile has %.0f", j->devices,
			seen);
	if (j->hosts < (double)run->host_count)
		return arena_fmt(run->keep,
			"the job file says %.0f host(s), and the profile has %td", j->hosts,
			run->host_count);
	if (row->mfu > 1 || row->hfu > 1)
		return arena_fmt(run->keep,
			"the job file's model would need %.0f%% of the chips' peak: look at the "
			"parameters and the tokens per step",
			fmax(row->mfu, isnan(row->hfu) ? 0 : row->hfu) * 100);
	if (row->useful_flops_ratio > USEFUL_MAX)
		return arena_fmt(run->keep,
			"the job file's model needs %.3g FLOPs a step, %.3g times what the program "
			"has: look at the parameters and the tokens per step",
			row->model_flops, row->useful_flops_ratio);
	return topology_contradiction(run, j);
}

/* What a file of another job makes of this one's time is no utilisation. */
struct str fill_job_facts(const struct run *run, struct run_row *row, double counted_flops)
{
	const struct job_file *j = run->options->job;
	struct str wrong = { NULL, 0 };

	if (j) {
		run_row_tell(j, row);
		fill_utilisation(run, j, row, counted_flops);
		wrong = contradiction(run, j, row);
	}
	if (wrong.p)
		row->mfu = row->hfu = row->useful_flops_ratio = NAN;
	return wrong;
}
