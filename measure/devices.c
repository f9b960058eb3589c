/*
 * The devices of a run: which planes they are and what chips, and their tables, devices and steps.
 *
 * Devices stand beside each other: in which op one takes longer, and which one is slow in all of
 * them.  The median is the lower one: when half of the devices are slow, it is one of the fast
 * half.
 *
 * How large the job is: by its main program, by the job file, by what was seen.
 */
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "measure/writers.h"

/* A plane whose ops ran, or were planned by the compiler. */
static bool is_device(const struct plane *p)
{
	bool any = p->profile->format == FORMAT_DUMP;

	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		any |= (p->lanes[i].class == LANE_OPS || p->lanes[i].class == LANE_STREAM) &&
		       p->lanes[i].bytes > 0;
	return p->class == PLANE_DEVICE && any;
}

/* Also where neither says it: NaN. */
static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* By what chips are recognised. */
static bool is_alike(const struct chip_hints *a, const struct chip_hints *b)
{
	return str_eq(a->device_type, b->device_type) && str_eq(a->device_name, b->device_name) &&
	       str_eq(a->vendor, b->vendor) && a->cc_major == b->cc_major &&
	       a->cc_minor == b->cc_minor && a->core_count == b->core_count &&
	       is_same(a->clock_hz, b->clock_hz) && is_same(a->memory_bytes, b->memory_bytes) &&
	       is_same(a->memory_bps, b->memory_bps);
}

/* A device is most often what the one before it is. */
static void device_chip(const struct run *run, const struct device *before, struct device *d)
{
	const struct chip_hints *said = &d->plane->chip;

	if (run->options->chip)
		d->match = (struct chip_match){ .chip = run->options->chip,
			.why = STR("named with --hardware") };
	else if (d->plane->platform == PLATFORM_CPU)
		d->match = (struct chip_match){ .why = STR("a CPU has no roofline here") };
	else if (before && is_alike(&before->plane->chip, &d->plane->chip) &&
		 before->plane->platform != PLATFORM_CPU)
		d->match = before->match;
	else
		d->match = chip_recognise(run->options->chips, said, run->keep);
	d->chip = (struct chip_device){ .share = 1, .peak_drift = NAN, .hbm_drift = NAN };
	if (d->match.chip)
		d->chip = chip_device(d->match.chip, said);
}

void devices_find(struct run *run)
{
	ptrdiff_t cap = 0;

	for (ptrdiff_t h = 0; h < run->host_count; h++)
		for (ptrdiff_t i = 0; i < run->hosts[h].plane_count; i++) {
			struct plane *p = &run->hosts[h].planes[i];
			if (!is_device(p))
				continue;
			struct device *d =
				arena_push(run->keep, run->devices, run->device_count, cap);
			d->plane = p;
			d->host = (int32_t)h;
			d->host_name = text_clean(run->keep, run->hosts[h].host);
			d->name = text_clean(run->keep, p->name);
			if (run->platform == PLATFORM_UNKNOWN)
				run->platform = p->platform;
		}
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		device_chip(run, i ? &run->devices[i - 1] : NULL, &run->devices[i]);
}

/* ---- how large the job is -------------------------------------------------------------------- */

double host_device_planes(const struct profile *host)
{
	double n = 0;

	for (ptrdiff_t i = 0; i < host->plane_count; i++)
		n += host->planes[i].class == PLANE_DEVICE;
	return n;
}

/*
 * Most devices of one host.  Idle ones have planes too, so planes tell.  But a process that has one
 * of its machine's devices may see them all: where more hosts are here than planes make, what ran
 * tells.
 */
static double most_planes(const struct run *run, double needed)
{
	double most = 0, most_ran = 0, ran = 0;

	for (ptrdiff_t i = 0; i < run->host_count; i++)
		most = fmax(most, host_device_planes(&run->hosts[i]));
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		ran = i > 0 && d[-1].host == d->host ? ran : 0;
		ran += d->sweep.events > 0;
		most_ran = fmax(most_ran, ran);
	}
	return (double)run->host_count > ceil(needed / most) && most_ran > 0 ? most_ran : most;
}

struct run_shape run_shape_of(const struct run *run)
{
	const struct hlo_module *h = run->main ? program_hlo(run->main) : NULL;
	const struct chip_device *c = run->first ? &run->first->chip : NULL;
	const struct job_file *j = run->options->job;
	/*
	 * Where a chip shows as one plane or two, two planes are the halves of one JAX device, and
	 * the program is partitioned over chips; elsewhere it is over planes.
	 */
	bool by_chip = c && c->chip && c->chip->planes_per_chip == 0;
	double partitions = run->main ? run->main->devices : 0;
	/* A job's longest program may be one device's; its widest has them all. */
	for (ptrdiff_t i = 0; run_is_planned(run) && i < registry_program_count(run->registry); i++)
		partitions = fmax(partitions, registry_program_at(run->registry, i)->devices);
	double chips = partitions * (c && c->chip && !by_chip ? c->share : 1);
	double seen = 0;
	struct run_shape s = { .partitions = partitions,
		.planes_per_partition = by_chip && c->share > 0 ? 1 / c->share : 1,
		.devices = j && j->devices > 0 ? j->devices
			   : partitions > 0    ? partitions
					       : NAN,
		.slices = h ? h->slices : 1 };

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].sweep.events > 0)
			seen += run->devices[i].chip.chip ? run->devices[i].chip.share : 1;
	s.chips = (int64_t)(chips >= 1 ? chips : ceil(seen));
	/* A program of one device is one plane's, whatever stands in it. */
	for (ptrdiff_t i = 0; i < run->host_count; i++)
		s.devices_mixed |= run->hosts[i].devices_mixed && partitions != 1;
	double needed = partitions * s.planes_per_partition;
	s.planes_per_host = most_planes(run, needed);
	bool untold = s.devices_mixed || !(partitions > 0 && s.planes_per_host > 0);
	s.hosts_expected =
		j && j->hosts > 0 ? j->hosts
		: untold	  ? (double)NAN
				  : fmax(ceil(needed / s.planes_per_host), (double)run->host_count);
	return s;
}

/* ---- beside each other ----------------------------------------------------------------------- */

/* Seconds per step of a device in an op; 0 when it did not run it. */
static double time_in(const struct device *d, ptrdiff_t subject)
{
	const struct sweep *s = &d->sweep;
	ptrdiff_t i = subject - s->self_first;

	if (s->steady_count == 0 || i < 0 || i >= s->self_count)
		return 0;
	return (double)s->self_ps[i] * PS / (double)s->steady_count;
}

/* The lower median of the devices' times in an op, and the largest, of those that ran it; `times`
 * has room for all.  NaN with fewer than two. */
static double median_in(const struct run *run, ptrdiff_t subject, double *times, double *largest)
{
	ptrdiff_t n = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		double t = time_in(&run->devices[i], subject);
		if (t > 0)
			times[n++] = t;
	}
	sort_numbers(times, n);
	*largest = n ? times[n - 1] : 0;
	return n < 2 ? (double)NAN : times[(n - 1) / 2];
}

double subject_skew(const struct run *run, ptrdiff_t subject)
{
	struct arena scratch = *run->keep;
	double largest, *times = arena_make(&scratch, double, run->device_count);
	double mid = median_in(run, subject, times, &largest);

	return mid > 0 ? largest / mid : NAN;
}

/* Of matmuls all but the shortest count: these may end early by chance. */
#define MATMULS_SLOW 0.02

/*
 * A device whose experts have more to do is slow in some ops, a slow device in nearly all: in three
 * quarters of its time, and in all its matmuls, which no memory can hold up.
 */
static double *devices_slowness(const struct run *run)
{
	double *ret = arena_make(run->keep, double, run->device_count);
	struct arena scratch = *run->keep;
	ptrdiff_t subjects = registry_subject_count(run->registry);
	double *mid = arena_make(&scratch, double, subjects), largest;
	double *times = arena_make(&scratch, double, run->device_count);
	/* A device by its ops: how much longer than the median, for how much of its time. */
	struct weighted *told = arena_make(&scratch, struct weighted, subjects);
	struct weighted *matmuls = arena_make(&scratch, struct weighted, subjects);

	for (ptrdiff_t i = 0; i < subjects; i++) {
		const struct subject *s = registry_subject_at(run->registry, i);
		bool compute =
			op_kind_activity(s->kind) == ACTIVITY_COMPUTE && s->async == ASYNC_NONE;
		mid[i] = compute ? median_in(run, i, times, &largest) : (double)NAN;
	}
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		ptrdiff_t n = 0, matmul_count = 0;
		for (ptrdiff_t k = 0; k < subjects; k++) {
			double time_s = time_in(&run->devices[i], k);
			enum op_kind kind = registry_subject_at(run->registry, k)->kind;
			if (!(time_s > 0 && mid[k] > 0))
				continue;
			told[n++] = (struct weighted){ time_s / mid[k], time_s };
			if (kind == KIND_MATMUL || kind == KIND_CONVOLUTION)
				matmuls[matmul_count++] = told[n - 1];
		}
		ret[i] = fmin(weighted_quantile(told, n, 0.25, NAN),
			weighted_quantile(matmuls, matmul_count, MATMULS_SLOW, NAN));
	}
	return ret;
}

/* ---- their tables ---------------------------------------------------------------------------- */

struct devices_row *device_row_new(
	const struct run *run, const struct plane *p, struct str core_type)
{
	struct devices_row *row = table_new(run->tables, devices, run->keep);
	int64_t chip = p->chip.global_chip_id;

	row->host = text_clean(run->keep, p->profile->host);
	row->device = text_clean(run->keep, p->name);
	row->chip_id = chip >= 0 ? arena_fmt(run->keep, "%lld", (long long)chip) : row->device;
	row->core_type = core_type;
	row->phase = word_at(PHASE_WORDS, run_phase(run));
	return row;
}

double main_peak_flops(const struct chip_device *c)
{
	return chip_peak16(c->chip)->value * c->share;
}

void fill_devices(const struct run *run)
{
	double *slowness = devices_slowness(run);

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		const struct sweep *s = &d->sweep;
		struct devices_row *row = device_row_new(run, d->plane, STR("compute"));

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
		row->busy_s = (double)s->busy_ps * PS;
		if (s->steady_ps == 0)
			continue;
		row->idle_ratio = (double)s->idle_ps / (double)s->steady_ps;
		row->busy_ratio = 1 - row->idle_ratio;
		row->wait_ratio = (double)(s->idle_ps - s->inside_ps) / (double)s->steady_ps;
		row->other_wait_ratio =
			(double)s->other_wait_ps / (double)(s->steady_ps + s->other_ps);
		row->slowness = slowness[i];
	}
}

void fill_steps(const struct run *run)
{
	const int64_t *global_ps;
	ptrdiff_t count = aggregate_steps(run->sums, &global_ps), rows = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++)
		rows += run->devices[i].sweep.step_count;
	table_reserve(run->tables, TABLE_steps, rows, run->keep);
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct device *d = &run->devices[i];
		ptrdiff_t steady = 0;

		for (ptrdiff_t k = 0; k < d->sweep.step_count; k++) {
			const struct swept_step *s = &d->sweep.steps[k];
			struct steps_row *row = table_new(run->tables, steps, run->keep);
			row->host = d->host_name;
			row->device = d->name;
			row->step = (double)s->number;
			row->start_s = (double)(s->start_ps - d->sweep.first_ps) * PS;
			row->time_s = (double)step_length_ps(s) * PS;
			if (!s->warmup && s->complete && steady < count)
				row->global_s = (double)global_ps[steady++] * PS;
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
