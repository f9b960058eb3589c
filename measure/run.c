/* From the profiles of a run to its tables, stage by stage.  See run.h and swept.h. */
#include "measure/run.h"

#include <math.h>

#include "measure/measured.h"
#include "measure/op_source.h"
#include "measure/plots.h"

/* A plan has no host, and what it would copy or was read from says nothing of a run. */
static bool tables_fill(struct measured *m, struct str name, struct diag *err)
{
	struct run *run = &m->run;
	struct run_parts parts = { .programs = &m->programs };
	bool planned = run_is_planned(run);

	if (planned ? !plan_programs(run, err)
		    : !host_facts_read(run->hosts, run->host_count, run->options->threads,
			      run->keep, &run->facts, err) ||
				!steps_sweep(run, err))
		return false;
	processors_share(run);
	run->beats_network = comms_disprove(run);
	parts.ops = fill_ops(run);
	m->programs = programs_know(run, parts.ops.programs);
	fill_devices(run);
	if (!fill_sparse_cores(run, err))
		return false;
	fill_steps(run);
	bool is_whole = fill_collectives(run, &parts.ops);
	fill_programs(run, &m->programs);
	fill_memory(run, &m->programs);
	is_whole &= fill_live(run);
	parts.compiles_in_steps = fill_compiles(run);
	if (!planned) {
		fill_transfers(run, &parts.ops);
		fill_files(run);
	}
	bool infers = run_phase(run) == PHASE_INFERENCE;
	if (!fill_gaps(run, &parts.ops, infers, &parts.gaps, err))
		return false;
	parts.verdict_share = fill_phases(run, &parts.gaps, &m->programs);
	struct str job_wrong = fill_run(run, &parts, name);
	fill_quality(run, &m->programs, is_whole, job_wrong);
	if (!planned)
		fill_waits(run->tables, infers, run->keep);
	return true;
}

struct measured *measure_begin(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = arena_make(keep, struct measured, 1);
	struct kernels *kernels = kernels_new(options->costs, keep);
	struct arena work = arena_new(ARENA_RUN_BYTES);

	*ret = (struct tables){ 0 };
	m->run = (struct run){ .hosts = hosts,
		.host_count = host_count,
		.options = options,
		.registry = registry_new(hosts, host_count, options->dump, kernels, keep, notes),
		.kernels = kernels,
		.checkout = options->checkout.p ? checkout_new(options, keep) : NULL,
		.keep = keep,
		.work = &work,
		.tables = ret,
		.notes = notes,
		.sums = aggregate_new(keep),
		.step_time_s = NAN,
		.step_mean_s = NAN };
	devices_find(&m->run);
	bool ok = tables_fill(m, name, err);
	arena_free(&work);
	m->run.work = NULL;
	if (ok)
		return m;
	measure_end(m);
	return NULL;
}

void measure_end(struct measured *m)
{
	if (!m)
		return;
	aggregate_free(m->run.sums);
	registry_free(m->run.registry);
	kernels_free(m->run.kernels);
}

bool measure_plots(struct measured *m, struct plots *ret, struct diag *err)
{
	*ret = (struct plots){ 0 };
	fill_usage(&m->run, &m->programs, ret);
	return fill_timeline(&m->run, ret, err);
}

bool measure_around(struct measured *m, struct str name, struct str scope, struct around *ret)
{
	return around_find(&m->run, name, scope, ret);
}
