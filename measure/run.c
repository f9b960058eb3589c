/* From the profiles of a run to its tables.  See run.h. */
#include "measure/run.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "measure/measured.h"
#include "measure/op_key.h"

/* A plane of which ops are known, or whose ops the compiler planned. */
static bool is_device(const struct plane *p)
{
	bool any = p->profile->format == FORMAT_DUMP;

	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		any |= (p->lanes[i].class == LANE_OPS || p->lanes[i].class == LANE_STREAM) &&
		       p->lanes[i].bytes > 0;
	return p->class == PLANE_DEVICE && any;
}

/* By what chips are recognised. */
static bool is_alike(const struct plane_chip *a, const struct plane_chip *b)
{
	return str_eq(a->device_type, b->device_type) && str_eq(a->device_name, b->device_name) &&
	       str_eq(a->vendor, b->vendor) && a->cc_major == b->cc_major &&
	       a->cc_minor == b->cc_minor && a->core_count == b->core_count &&
	       a->clock_hz == b->clock_hz && a->memory_bytes == b->memory_bytes &&
	       a->memory_bps == b->memory_bps;
}

/* A device is most often what the one before it is. */
static void device_chip(struct measured *m, struct device *d)
{
	const struct plane_chip *c = &d->plane->chip;
	const struct device *before = d > m->devices ? d - 1 : NULL;
	struct chip_hints h = {
		.device_type = c->device_type,
		.device_name = c->device_name,
		.vendor = c->vendor,
		.cc_major = c->cc_major,
		.cc_minor = c->cc_minor,
		.core_count = c->core_count,
		.clock_hz = c->clock_hz,
		.memory_bytes = c->memory_bytes,
		.memory_bps = c->memory_bps,
		.peak_flops = c->peak_flops,
		.peak_hbm_bps = c->peak_hbm_bps,
	};

	if (m->options->chip)
		d->match = (struct chip_match){ .chip = m->options->chip,
			.why = STR("named with --hardware") };
	else if (d->plane->platform == PLATFORM_CPU)
		d->match = (struct chip_match){
			.why = STR("a CPU has no roofline here; name a file with --hardware")
		};
	else if (before && is_alike(&before->plane->chip, &d->plane->chip) &&
		 before->plane->platform != PLATFORM_CPU)
		d->match = before->match;
	else
		d->match = chip_recognise(m->options->chips, &h, m->keep);
	d->chip = (struct chip_device){ .share = 1, .peak_drift = NAN, .hbm_drift = NAN };
	if (d->match.chip)
		d->chip = chip_device(d->match.chip, &h);
}

static void devices_find(struct measured *m)
{
	ptrdiff_t cap = 0;

	for (ptrdiff_t h = 0; h < m->host_count; h++)
		for (ptrdiff_t i = 0; i < m->hosts[h].plane_count; i++) {
			struct plane *p = &m->hosts[h].planes[i];
			if (!is_device(p))
				continue;
			struct device *d = arena_push(m->keep, m->devices, m->device_count, cap);
			d->plane = p;
			d->host = (int32_t)h;
			if (m->platform == PLATFORM_UNKNOWN)
				m->platform = p->platform;
		}
	for (ptrdiff_t i = 0; i < m->device_count; i++)
		device_chip(m, &m->devices[i]);
}

struct devices_row *device_row_new(struct measured *m, const struct plane *p, struct str core_type)
{
	struct devices_row *row = table_new(m->tables, devices, m->keep);
	int64_t chip = p->chip.global_chip_id;

	row->host = text_clean(m->keep, p->profile->host);
	row->device = text_clean(m->keep, p->name);
	row->chip_id = chip >= 0 ? arena_fmt(m->keep, "%lld", (long long)chip) : row->device;
	row->core_type = core_type;
	row->phase = phase_word(run_phase(m));
	return row;
}

double *step_times(const struct measured *m, ptrdiff_t *count)
{
	const int64_t *ps;

	*count = aggregate_steps(m->sums, &ps);
	double *times = arena_make(m->keep, double, *count);
	for (ptrdiff_t i = 0; i < *count; i++)
		times[i] = (double)ps[i] * PS;
	return times;
}

/*
 * Steady steps every device has.  A device without any (its kernels were lost, or it only served
 * copies) says nothing about the others' steps; `devices-agree` in quality names it.
 */
static void totals(struct measured *m)
{
	ptrdiff_t count;

	m->steps = -1;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
		if (s->events == 0)
			continue;
		if (!m->first || (m->first->sweep.steady_count == 0 && s->steady_count > 0))
			m->first = &m->devices[i];
		if (s->steady_count > 0 && (m->steps < 0 || s->steady_count < m->steps))
			m->steps = s->steady_count;
		m->steady_s += (double)s->steady_ps * PS;
		m->windows_s += (double)(s->last_ps - s->first_ps) * PS;
		m->device_steps += (double)s->steady_count;
	}
	if (m->steps < 0)
		m->steps = 0;
	double *times = step_times(m, &count);
	m->step_time_s = median(times, count);
	m->shape = run_shape_of(m);
}

double main_peak_flops(const struct chip_device *c)
{
	return roofline_peak_flops(
		c, c->chip->peak[DTYPE_BF16].value > 0 ? DTYPE_BF16 : DTYPE_F16, 1);
}

int64_t busy_ps(const struct sweep *s)
{
	int64_t sum_ps = 0;

	for (int mask = 1; mask < ACTIVITY_MASKS; mask++)
		sum_ps += s->window_mask_ps[mask];
	return sum_ps;
}

static void fill_devices(struct measured *m)
{
	double *slowness = devices_slowness(m);

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		const struct sweep *s = &d->sweep;
		struct devices_row *row = device_row_new(m, d->plane, STR("compute"));

		if (d->chip.chip) {
			row->chip = d->chip.chip->id;
			row->cores = d->chip.share * d->chip.chip->cores_per_chip;
			row->peak_flops = main_peak_flops(&d->chip);
			row->hbm_bytes = d->chip.chip->hbm_bytes.value * d->chip.share;
			row->hbm_bps = roofline_hbm_bps(&d->chip);
			row->link_bps = d->chip.chip->link_bps.value;
			row->peaks_source = d->chip.chip->file;
		}
		row->events = (double)s->events;
		row->steps = (double)s->steady_count;
		if (s->events == 0)
			continue;
		row->window_s = (double)(s->last_ps - s->first_ps) * PS;
		row->busy_s = (double)busy_ps(s) * PS;
		if (s->steady_ps == 0)
			continue;
		row->idle_ratio = (double)s->idle_ps / (double)s->steady_ps;
		row->busy_ratio = 1 - row->idle_ratio;
		row->wait_ratio = (double)(s->idle_ps - s->inside_ps) / (double)s->steady_ps;
		row->slowness = slowness[i];
	}
}

static void fill_steps(struct measured *m)
{
	ptrdiff_t count, rows = 0;
	const double *global = step_times(m, &count);

	for (ptrdiff_t i = 0; i < m->device_count; i++)
		rows += m->devices[i].sweep.step_count;
	table_reserve(m->tables, TABLE_steps, rows, m->keep);
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		struct str host = text_clean(m->keep, m->hosts[d->host].host);
		struct str device = text_clean(m->keep, d->plane->name);
		ptrdiff_t steady = 0;

		for (ptrdiff_t k = 0; k < d->sweep.step_count; k++) {
			const struct swept_step *s = &d->sweep.steps[k];
			struct steps_row *row = table_new(m->tables, steps, m->keep);
			row->host = host;
			row->device = device;
			row->step = (double)s->number;
			row->start_s = (double)(s->start_ps - d->sweep.first_ps) * PS;
			row->time_s = (double)step_length_ps(s) * PS;
			if (!s->warmup && s->complete && steady < count)
				row->global_s = global[steady++];
			row->compute_s = s->sum.compute;
			row->comms_exposed_s = s->sum.exposed;
			row->comms_hidden_s = s->sum.hidden;
			row->copy_s = s->sum.copy;
			row->transfer_s = s->sum.transfer;
			row->idle_s = s->sum.idle;
			row->is_warmup = s->warmup;
			row->is_complete = s->complete;
		}
	}
}

struct programs_row *program_row_new(struct measured *m, const struct program *p)
{
	struct programs_row *row = table_new(m->tables, programs, m->keep);
	struct hlo_memory memory;

	row->program = program_text(p, m->keep);
	row->module = p->module;
	row->role = role_names[p->role];
	row->phase = phase_word(program_phase(p));
	row->has_hlo = p->hlo != NULL;
	row->floor_s = m->floors[p->index].floor_s;
	row->serial_s = m->floors[p->index].serial_s;
	if (p->hlo)
		row->undonated_bytes = (double)hlo_undonated_bytes(p->hlo, *m->keep);
	if (program_memory(m, p, &memory))
		row->compiled_bytes = (double)memory.allocated_bytes;
	return row;
}

static void program_row(struct measured *m, const struct program *p)
{
	struct dist d = aggregate_program(m->sums, p->index);

	if (p->id == PROGRAM_UNKNOWN || d.count == 0)
		return;
	struct programs_row *row = program_row_new(m, p);
	row->executions = (double)d.count;
	row->time_s = (double)d.sum * PS;
	row->time_share = m->windows_s > 0 ? row->time_s / m->windows_s : NAN;
	row->p50_s = dist_quantile(&d, 0.5, *m->keep) * PS;
}

static int program_cmp(const void *a, const void *b)
{
	const struct programs_row *x = a, *y = b;
	int order = order_numbers(y->time_s, x->time_s);

	return order ? order : str_cmp(x->program, y->program);
}

static void fill_programs(struct measured *m)
{
	m->floors = program_floors(m);
	for (ptrdiff_t i = 0; i < registry_program_count(m->registry); i++)
		program_row(m, registry_program_at(m->registry, i));
	if (table_count(m->tables, programs) > 1)
		qsort(table_rows(m->tables, programs), (size_t)table_count(m->tables, programs),
			sizeof(struct programs_row), program_cmp);
}

/* Of programs that have not run: what needs no event. */
static bool fill_plan(struct measured *m, struct str name, struct diag *err)
{
	if (!plan_programs(m, err))
		return false;
	fill_devices(m);
	fill_ops(m);
	fill_collectives(m);
	plan_program_rows(m);
	fill_memory(m);
	fill_quality(m, fill_run(m, name, NULL));
	return true;
}

static bool fill_all(struct measured *m, struct str name, struct diag *err)
{
	struct gap_sums gaps;

	if (!host_facts_read(m->hosts, m->host_count, m->keep, &m->facts, err) ||
		!steps_plan(m, err) || !steps_sweep(m, err))
		return false;
	totals(m);
	fill_devices(m);
	if (!fill_sparse_cores(m, err))
		return false;
	fill_steps(m);
	fill_ops(m);
	fill_collectives(m);
	fill_transfers(m);
	fill_programs(m);
	fill_memory(m);
	fill_live(m);
	fill_compiles(m);
	fill_files(m);
	m->lasting = lasting_of(m);
	if (!fill_gaps(m, &gaps, err))
		return false;
	fill_phases(m, &gaps);
	fill_quality(m, fill_run(m, name, &gaps));
	return true;
}

struct measured *measure_begin(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = arena_make(keep, struct measured, 1);

	*m = (struct measured){ .hosts = hosts,
		.host_count = host_count,
		.options = options,
		.keep = keep,
		.tables = ret,
		.notes = notes,
		.step_time_s = NAN };
	bool by_job = !options->step.p && options->job && options->job->step.p;
	m->wanted = by_job ? options->job->step : options->step;
	m->wanted_by = by_job ? "step: of the job file," : "--step";
	*ret = (struct tables){ 0 };
	m->sums = aggregate_new(keep);
	m->kernels = kernels_new(options->costs, keep);
	m->registry = registry_new(hosts, host_count, options->dump, m->kernels, keep, notes);
	devices_find(m);
	m->planned = host_count > 0 && hosts[0].format == FORMAT_DUMP;
	if (m->planned ? fill_plan(m, name, err) : fill_all(m, name, err))
		return m;
	measure_end(m);
	return NULL;
}

void measure_end(struct measured *m)
{
	if (!m)
		return;
	aggregate_free(m->sums);
	registry_free(m->registry);
	kernels_free(m->kernels);
}

bool measure_run(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = measure_begin(hosts, host_count, name, options, keep, ret, notes, err);

	measure_end(m);
	return m != NULL;
}
