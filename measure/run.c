/* From the profiles of a run to its tables, stage by stage.  See run.h and swept.h. */
#include "measure/run.h"

#include <math.h>

#include "measure/measured.h"
#include "measure/plots.h"

/* A plan has no host, and what it would copy or was read from says nothing of a run. */
static bool tables_fill(struct measured *m, struct str name, struct tables *ret, struct diag *err)
{
	const struct capture *in = &m->in;
	const struct host_facts *facts = &m->facts;
	const struct swept *run = &m->run;
	struct run_parts parts = { .programs = &m->programs };
	bool planned = capture_is_planned(in);

	if (planned ? !plan_programs(in, &m->run, err)
		    : !host_facts_read(in->hosts, in->host_count, in->keep, &m->facts, err) ||
				!steps_sweep(in, facts, &m->run, err))
		return false;
	struct op_facts *ops = op_facts_know(in, run);
	parts.beats_network = comms_disprove(in, run, ops);
	m->programs = programs_know(in, run, ops);
	fill_devices(in, run, ret);
	if (!fill_sparse_cores(in, run, ret, err))
		return false;
	fill_steps(in, run, ret);
	parts.ops = fill_ops(in, run, ops, ret);
	bool is_whole = fill_collectives(in, run, &parts.ops, ret);
	fill_programs(in, run, &m->programs, ret);
	fill_memory(in, run, facts, &m->programs, ret);
	is_whole &= fill_live(in, ret);
	parts.compiles_in_steps = fill_compiles(in, run, facts, ret);
	if (!planned) {
		fill_transfers(in, run, ops, ret);
		fill_files(in, ret);
	}
	if (!fill_gaps(in, run, facts, &parts.ops, ret, &parts.gaps, err))
		return false;
	parts.verdict_share = fill_phases(in, run, &parts.gaps, &m->programs, ret);
	struct str job_wrong = fill_run(in, run, &parts, name, ret);
	fill_quality(in, run, facts, &m->programs, ret, is_whole, job_wrong);
	return true;
}

struct measured *measure_begin(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = arena_make(keep, struct measured, 1);
	struct kernels *kernels = kernels_new(options->costs, keep);

	m->in = (struct capture){ .hosts = hosts,
		.host_count = host_count,
		.options = options,
		.registry = registry_new(hosts, host_count, options->dump, kernels, keep, notes),
		.kernels = kernels,
		.keep = keep,
		.notes = notes };
	m->run = (struct swept){
		.sums = aggregate_new(keep), .step_time_s = NAN, .step_mean_s = NAN
	};
	*ret = (struct tables){ 0 };
	devices_find(&m->in, &m->run);
	if (tables_fill(m, name, ret, err))
		return m;
	measure_end(m);
	return NULL;
}

void measure_end(struct measured *m)
{
	if (!m)
		return;
	aggregate_free(m->run.sums);
	registry_free(m->in.registry);
	kernels_free(m->in.kernels);
}

bool measure_run(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = measure_begin(hosts, host_count, name, options, keep, ret, notes, err);

	measure_end(m);
	return m != NULL;
}

bool measure_plots(struct measured *m, struct plots *ret, struct diag *err)
{
	*ret = (struct plots){ 0 };
	fill_usage(&m->in, &m->facts, &m->programs, ret);
	return fill_timeline(&m->in, &m->run, ret, err);
}

bool measure_around(struct measured *m, struct str name, struct str scope, struct around *ret)
{
	return around_find(&m->in, &m->run, name, scope, ret);
}
