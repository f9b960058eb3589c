#include "measure/run.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "measure/key.h"
#include "measure/measured.h"

/* Ops shorter than this are tiny: launching one costs about as much. */
#define TINY_PS 10000000 /* 10 us */

static bool has_op_lane(const struct plane *p)
{
	for (ptrdiff_t i = 0; i < p->lane_count; i++)
		if ((p->lanes[i].class == LANE_OPS || p->lanes[i].class == LANE_STREAM) &&
			p->lanes[i].bytes > 0)
			return true;
	return false;
}

static struct chip_hints hints_of(const struct plane *p)
{
	const struct plane_chip *c = &p->chip;
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

	for (ptrdiff_t i = 0; i < p->profile->plane_count; i++)
		h.planes_on_host += p->profile->planes[i].class == PLANE_DEVICE;
	return h;
}

static void device_chip(struct measured *m, struct device *d)
{
	struct chip_hints h = hints_of(d->plane);

	if (m->options->chip)
		d->match = (struct chip_match){ .chip = m->options->chip,
			.why = STR("named with --hardware") };
	else if (d->plane->platform == PLATFORM_CPU)
		d->match = (struct chip_match){
			.why = STR("a CPU has no roofline here; name a file with --hardware")
		};
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
			if (p->class != PLANE_DEVICE || !has_op_lane(p))
				continue;
			struct device *d = arena_push(m->keep, m->devices, m->device_count, cap);
			d->plane = p;
			d->host = (int32_t)h;
			d->keep = arena_new(SWEEP_ARENA_BYTES);
			if (m->platform == PLATFORM_UNKNOWN)
				m->platform = p->platform;
		}
	for (ptrdiff_t i = 0; i < m->device_count; i++)
		device_chip(m, &m->devices[i]);
}

/* Step k lasts as long as on its slowest device; the median over the steady steps kept. */
static double *step_times(const struct measured *m, ptrdiff_t *count)
{
	double *times = arena_make(m->keep, double, SWEEP_MAX_STEPS);

	*count = m->steps < SWEEP_MAX_STEPS ? (ptrdiff_t)m->steps : SWEEP_MAX_STEPS;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
		ptrdiff_t k = 0;
		for (ptrdiff_t j = 0; j < s->step_count && k < *count; j++) {
			if (s->steps[j].warmup || !s->steps[j].complete)
				continue;
			double t = (double)(s->steps[j].end_ps - s->steps[j].start_ps) * PS;
			times[k] = t > times[k] ? t : times[k];
			k++;
		}
	}
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
		m->device_steps += (double)s->steady_count;
	}
	if (m->steps < 0)
		m->steps = 0;
	double *times = step_times(m, &count);
	m->step_time_s = median(times, count);
}

static struct str source_name(enum step_source s)
{
	static const struct str names[] = { STR_INIT("window"), STR_INIT("program"),
		STR_INIT("annotation"), STR_INIT("steps-line") };

	return names[s];
}

static struct str platform_name(enum platform p)
{
	static const struct str names[] = { STR_INIT("unknown"), STR_INIT("tpu"),
		STR_INIT("nvidia"), STR_INIT("amd"), STR_INIT("cpu") };

	return names[p];
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "jit_train_step" has the word "train", "jit_constrained" has not. */
static bool has_word(struct str text, struct str word)
{
	ptrdiff_t at = str_find(text, word);

	return at >= 0 && (at == 0 || !is_letter(text.p[at - 1])) &&
	       (at + word.len == text.len || !is_letter(text.p[at + word.len]));
}

/* A gradient in the main program is training; prefill and decode are inference by their names. */
static struct str phase_of(const struct program *p)
{
	static const struct str inference[] = { STR_INIT("prefill"), STR_INIT("decode"),
		STR_INIT("generate"), STR_INIT("inference") };

	if (p && p->has_gradient)
		return STR("train");
	for (size_t i = 0; p && i < sizeof(inference) / sizeof(inference[0]); i++)
		if (has_word(p->module, inference[i]))
			return STR("inference");
	return p && has_word(p->module, STR("train")) ? STR("train") : STR("unknown");
}

/* The job file's phase, else what the main program looks like. */
static struct str run_phase(const struct measured *m)
{
	static const struct str said[] = {
		[JOB_TRAIN] = STR_INIT("train"),
		[JOB_INFERENCE] = STR_INIT("inference"),
	};
	const struct job_file *j = m->options->job;

	return j && j->phase ? said[j->phase] : phase_of(m->main);
}

struct mask_sum {
	double compute, exposed, hidden, copy, transfer, idle;
};

static struct mask_sum mask_sum(const int64_t *mask_ps, int64_t idle_ps)
{
	struct mask_sum r = { .idle = (double)idle_ps * PS };

	for (int mask = 0; mask < ACTIVITY_MASKS; mask++) {
		double s = (double)mask_ps[mask] * PS;
		bool compute = mask & ACTIVITY_COMPUTE, comms = mask & ACTIVITY_COMMS;
		r.compute += compute ? s : 0;
		r.exposed += comms && !compute ? s : 0;
		r.hidden += comms && compute ? s : 0;
		r.copy += mask & ACTIVITY_COPY && !compute && !comms ? s : 0;
		r.transfer += mask == ACTIVITY_TRANSFER ? s : 0;
	}
	return r;
}

static struct mask_sum run_masks(const struct measured *m)
{
	struct mask_sum sum = { 0 };

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
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

/* What the run row needs of the ops: sums over the ops table. */
struct op_sums {
	double time, bounded, judgeable, known, uncounted, unattributed, tiny, count, tiny_count,
		copies, update_excess;
	double flops, remat_flops, hbm_bytes, ideal, comms_ideal;
};

/* Work on the chip, which a roofline could judge: not moving data to others or the host. */
static bool is_judgeable(const struct ops_row *op)
{
	for (int k = 0; k < KIND_COUNT; k++)
		if (str_eq(op->kind, op_kind_name((enum op_kind)k))) {
			enum activity a = op_kind_activity((enum op_kind)k);
			return (a == ACTIVITY_COMPUTE || a == ACTIVITY_COPY) && op->is_async == 0;
		}
	return false;
}

static void op_sums_add(struct op_sums *sum, const struct ops_row *op)
{
	bool comms = !isnan(op->t_comms_s);

	sum->time += op->time_s;
	sum->count += op->count;
	if (is_judgeable(op)) {
		sum->judgeable += op->time_s;
		sum->known += isnan(op->roofline_s) ? 0 : op->time_s;
		sum->uncounted += isnan(op->flops) ? op->time_s : 0;
	}
	if (!isnan(op->roofline_s)) {
		sum->bounded += op->time_s;
		*(comms ? &sum->comms_ideal : &sum->ideal) += op->roofline_s * op->count;
	}
	if (str_eq(op->attribution, STR("none")))
		sum->unattributed += op->time_s;
	if (op->mean_s < TINY_PS * PS) {
		sum->tiny += op->time_s;
		sum->tiny_count += op->count;
	}
	/* A copy of unknown cause makes the sum unknown: NaN spreads. */
	if (str_eq(op->kind, STR("copy")) && !op->copy_cause.p)
		sum->copies = NAN;
	if (str_eq(op->copy_cause, STR("layout")))
		sum->copies += op->time_s;
	if (str_eq(op->kind, STR("update")) && op->time_s > op->roofline_s * op->count)
		sum->update_excess += op->time_s - op->roofline_s * op->count;
	if (!isnan(op->flops))
		*(op->is_remat > 0 ? &sum->remat_flops : &sum->flops) += op->flops * op->count;
	if (!isnan(op->hbm_bytes))
		sum->hbm_bytes += op->hbm_bytes * op->count;
}

/* Returns the FLOPs counted in the steady steps of the devices seen; NaN without a step. */
static double run_row_ops(struct measured *m, struct run_row *row)
{
	struct op_sums sum = { 0 };
	double t = m->steady_s;

	for (ptrdiff_t i = 0; i < table_count(m->tables, ops); i++)
		op_sums_add(&sum, &table_rows(m->tables, ops)[i]);
	sum.flops += sum.remat_flops;
	if (sum.flops > 0 && sum.uncounted <= UNCOUNTED_MAX * sum.judgeable)
		row->remat_flops_ratio = sum.remat_flops / sum.flops;
	if (sum.time > 0) {
		row->unattributed_ratio = sum.unattributed / sum.time;
		row->judged_ratio = sum.known / sum.judgeable;
		row->uncounted_ratio = sum.uncounted / sum.judgeable;
		row->tiny_ops_ratio = sum.tiny / sum.time;
		row->tiny_ops_count_ratio = sum.tiny_count / sum.count;
	}
	if (!(t > 0) || !m->first)
		return NAN;
	row->layout_copy_ratio = sum.copies / t;
	row->update_excess_ratio = sum.update_excess / t;
	if (!m->first->chip.chip)
		return sum.flops;
	enum dtype main = m->first->chip.chip->peak[DTYPE_BF16].value > 0 ? DTYPE_BF16 : DTYPE_F16;
	row->op_util = sum.flops / (t * roofline_peak_flops(&m->first->chip, main, 1));
	row->hbm_util = sum.hbm_bytes / (t * roofline_hbm_bps(&m->first->chip));
	double ideal = sum.ideal > sum.comms_ideal ? sum.ideal : sum.comms_ideal;
	row->roofline_ratio_lo = ideal / t;
	row->roofline_ratio_hi = fmin(1, (ideal + (sum.time - sum.bounded)) / t);
	return sum.flops;
}

double run_devices(const struct measured *m)
{
	const struct job_file *j = m->options->job;
	double partitions = run_partitions(m);

	if (j && j->devices > 0)
		return j->devices;
	return partitions > 0 ? partitions : NAN;
}

/* Idle devices have planes too, so planes tell how many devices a host has. */
double run_hosts_expected(const struct measured *m)
{
	if (m->options->job && m->options->job->hosts > 0)
		return m->options->job->hosts;
	double devices = run_partitions(m) * run_planes_per_partition(m), per_host = 0;

	for (ptrdiff_t h2 = 0; h2 < m->host_count; h2++) {
		double n = 0;
		for (ptrdiff_t i = 0; i < m->hosts[h2].plane_count; i++)
			n += m->hosts[h2].planes[i].class == PLANE_DEVICE;
		per_host = n > per_host ? n : per_host;
	}
	return devices > 0 && per_host > 0 ? ceil(devices / per_host) : NAN;
}

/* The earliest start of any host; missing when none tells. */
static struct str captured(const struct measured *m)
{
	int64_t first = 0;
	struct tm day;

	for (ptrdiff_t i = 0; i < m->host_count; i++) {
		int64_t start = m->hosts[i].start_ns;
		if (start > 0 && (!first || start < first))
			first = start;
	}
	time_t seconds = (time_t)(first / 1000000000);
	if (!first || !gmtime_r(&seconds, &day))
		return (struct str){ NULL, 0 };
	return arena_fmt(m->keep, "%04d-%02d-%02dT%02d:%02d:%02dZ", day.tm_year + 1900,
		day.tm_mon + 1, day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec);
}

static double window_s(const struct measured *m)
{
	double longest = NAN;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
		double w = (double)(s->last_ps - s->first_ps) * PS;
		if (s->events > 0 && !(longest >= w))
			longest = w;
	}
	return longest;
}

static void run_row_steps(struct measured *m, struct run_row *row)
{
	ptrdiff_t n;
	double *times = step_times(m, &n);
	struct dist d = { 0 };

	row->steps = m->source == STEPS_WINDOW ? (m->first ? 1 : 0) : (double)m->steps;
	if (!m->first)
		return;
	row->steps_source = source_name(m->source);
	if (m->main)
		row->main_program = m->main->module;
	row->step_time_s = m->step_time_s;
	for (ptrdiff_t i = 0; i < n; i++)
		dist_add(&d, m->keep, (int64_t)llround(times[i] / PS));
	if (n > 0) {
		dist_median_interval(&d, n, *m->keep, &row->step_time_lo_s, &row->step_time_hi_s);
		row->step_time_lo_s *= PS;
		row->step_time_hi_s *= PS;
	}
	if (!(m->steady_s > 0))
		return;
	struct mask_sum sum = run_masks(m);
	row->idle_ratio = sum.idle / m->steady_s;
	row->busy_ratio = 1 - row->idle_ratio;
	row->compute_ratio = sum.compute / m->steady_s;
	row->comms_exposed_ratio = sum.exposed / m->steady_s;
	row->comms_hidden_ratio = sum.hidden / m->steady_s;
	row->transfer_ratio = sum.transfer / m->steady_s;
}

static double count_compiles_in_steps(const struct measured *m)
{
	const struct compiles_row *rows = table_rows(m->tables, compiles);
	double n = 0;

	for (ptrdiff_t i = 0; i < table_count(m->tables, compiles); i++)
		n += rows[i].in_step > 0;
	return n;
}

static bool has_host_events(const struct measured *m)
{
	for (ptrdiff_t h = 0; h < m->host_count; h++)
		for (ptrdiff_t i = 0; i < m->hosts[h].plane_count; i++) {
			const struct plane *p = &m->hosts[h].planes[i];
			for (ptrdiff_t k = 0; p->class == PLANE_HOST && k < p->lane_count; k++)
				if (p->lanes[k].bytes > 0)
					return true;
		}
	return false;
}

/* Share of the step in ops of a kind. */
static double kind_share(const struct measured *m, enum op_kind kind)
{
	double sum = 0;

	for (ptrdiff_t i = 0; i < table_count(m->tables, ops); i++)
		if (str_eq(table_rows(m->tables, ops)[i].kind, op_kind_name(kind)))
			sum += table_rows(m->tables, ops)[i].time_share;
	return sum;
}

/*
 * What idles the device, by what the host was doing in the gaps kept.  They are the largest ones,
 * so their shares stand for all the idle time.
 */
static void run_row_waits(const struct measured *m, struct run_row *row)
{
	double idle = m->gap_s > 0 ? row->idle_ratio / m->gap_s : 0;

	row->input_wait_ratio = idle * m->input_gap_s + kind_share(m, KIND_INFEED);
	row->sync_wait_ratio = idle * m->sync_gap_s + kind_share(m, KIND_OUTFEED);
}

static void fill_run(struct measured *m, struct str name)
{
	struct run_row *row = table_new(m->tables, run, m->keep);
	double devices = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++)
		devices += m->devices[i].sweep.events > 0;
	row->name = text_clean(m->keep, name);
	row->fingerprint = capture_fingerprint(m->hosts, m->host_count, m->keep);
	row->captured = captured(m);
	row->platform = platform_name(m->platform);
	if (m->first && m->first->match.chip)
		row->chip = m->first->match.chip->id;
	if (m->first)
		row->chip_why = text_clean(m->keep, m->first->match.why);
	row->chips = (double)run_chips(m);
	row->devices = devices;
	row->hosts = (double)m->host_count;
	row->hosts_expected = run_hosts_expected(m);
	row->phase = run_phase(m);
	row->window_s = window_s(m);
	run_row_steps(m, row);
	fill_owner(m, row, run_row_ops(m, row));
	/* Without host events nobody can tell. */
	if (!has_host_events(m))
		return;
	row->compiles_in_steps = count_compiles_in_steps(m);
	if (m->source != STEPS_WINDOW)
		run_row_waits(m, row);
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
		struct devices_row *row = table_new(m->tables, devices, m->keep);

		row->host = text_clean(m->keep, m->hosts[d->host].host);
		row->device = text_clean(m->keep, d->plane->name);
		row->chip_id = d->plane->chip.global_chip_id >= 0
				       ? arena_fmt(m->keep, "%lld",
						 (long long)d->plane->chip.global_chip_id)
				       : row->device;
		row->core_type = STR("compute");
		row->phase = run_phase(m);
		if (d->chip.chip) {
			enum dtype t =
				d->chip.chip->peak[DTYPE_BF16].value > 0 ? DTYPE_BF16 : DTYPE_F16;
			row->chip = d->chip.chip->id;
			row->cores = d->chip.share * d->chip.chip->cores_per_chip;
			row->peak_flops = roofline_peak_flops(&d->chip, t, 1);
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
		row->slowness = slowness[i];
	}
}

static void fill_steps(struct measured *m)
{
	ptrdiff_t count;
	const double *slowest = step_times(m, &count);

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		struct str host = text_clean(m->keep, m->hosts[d->host].host);
		struct str device = text_clean(m->keep, d->plane->name);
		ptrdiff_t steady = 0;

		for (ptrdiff_t k = 0; k < d->sweep.step_count; k++) {
			const struct swept_step *s = &d->sweep.steps[k];
			struct mask_sum sum = mask_sum(s->mask_ps, s->idle_ps);
			struct steps_row *row = table_new(m->tables, steps, m->keep);
			row->host = host;
			row->device = device;
			row->step = (double)s->number;
			row->start_s = (double)(s->start_ps - d->sweep.first_ps) * PS;
			row->time_s = (double)(s->end_ps - s->start_ps) * PS;
			if (!s->warmup && s->complete && steady < count)
				row->slowest_s = slowest[steady++];
			row->compute_s = sum.compute;
			row->comms_exposed_s = sum.exposed;
			row->comms_hidden_s = sum.hidden;
			row->copy_s = sum.copy;
			row->transfer_s = sum.transfer;
			row->idle_s = sum.idle;
			row->is_warmup = s->warmup;
			row->is_complete = s->complete;
		}
	}
}

/* Sum of the rooflines of a program's ops per execution; NaN when none is known. */
static double program_ideal(const struct measured *m, const struct program *p, double executions)
{
	struct str id = program_text(p, m->keep);
	double sum = 0, steady = 0;

	for (ptrdiff_t i = 0; i < table_count(m->tables, ops); i++) {
		const struct ops_row *op = &table_rows(m->tables, ops)[i];
		if (!str_eq(op->program, id) || isnan(op->roofline_s))
			continue;
		sum += op->roofline_s * op->per_step;
		steady++;
	}
	/* per_step counts main-program steps; other programs have no execution rate of their own */
	return steady > 0 && p == m->main && executions > 0 ? sum : NAN;
}

static void program_row(struct measured *m, const struct program *p)
{
	struct program_total sum = { 0 };
	struct hlo_memory memory;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
		if (p->index >= s->program_cap)
			continue;
		sum.executions += s->programs[p->index].executions;
		sum.time_ps += s->programs[p->index].time_ps;
		dist_merge(&sum.dist, m->keep, &s->programs[p->index].dist);
	}
	if (p->id == PROGRAM_UNKNOWN || sum.executions == 0)
		return;
	struct programs_row *row = table_new(m->tables, programs, m->keep);
	row->program = program_text(p, m->keep);
	row->module = p->module;
	row->role = p == m->main ? STR("main") : STR("other");
	row->phase = phase_of(p);
	row->executions = (double)sum.executions;
	row->time_s = (double)sum.time_ps * PS;
	row->p50_s = dist_quantile(&sum.dist, 0.5, *m->keep) * PS;
	row->ideal_s = program_ideal(m, p, row->executions);
	row->has_hlo = p->hlo != NULL;
	if (p->hlo)
		row->undonated_bytes = (double)hlo_undonated_bytes(p->hlo, *m->keep);
	if (program_memory(m, p, &memory))
		row->compiled_bytes = (double)memory.peak_bytes;
}

static int program_cmp(const void *a, const void *b)
{
	const struct programs_row *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s > y->time_s ? -1 : 1;
	return str_cmp(x->program, y->program);
}

static void fill_programs(struct measured *m)
{
	for (ptrdiff_t i = 0; i < registry_program_count(m->registry); i++)
		program_row(m, registry_program_at(m->registry, i));
	if (table_count(m->tables, programs) > 1)
		qsort(table_rows(m->tables, programs), (size_t)table_count(m->tables, programs),
			sizeof(struct programs_row), program_cmp);
}

static bool fill_all(struct measured *m, struct str name, struct diag *err)
{
	for (ptrdiff_t i = 0; i < m->device_count; i++)
		registry_settle(m->registry, m->devices[i].plane);
	totals(m);
	fill_devices(m);
	fill_steps(m);
	fill_ops(m);
	fill_collectives(m);
	fill_transfers(m);
	fill_programs(m);
	fill_memory(m);
	fill_live(m);
	fill_compiles(m);
	if (!fill_gaps(m, err))
		return false;
	fill_run(m, name);
	fill_quality(m);
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
	*ret = (struct tables){ 0 };
	m->registry = registry_new(hosts, host_count, keep, notes);
	devices_find(m);
	if (host_facts_read(hosts, host_count, keep, &m->facts, err) && steps_plan(m, err) &&
		steps_sweep(m, err) && fill_all(m, name, err))
		return m;
	measure_end(m);
	return NULL;
}

void measure_end(struct measured *m)
{
	if (!m)
		return;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		plane_forget_ops(m->devices[i].plane);
		arena_free(&m->devices[i].keep);
	}
	registry_free(m->registry);
}

bool measure_run(struct profile *hosts, ptrdiff_t host_count, struct str name,
	const struct measure_options *options, struct arena *keep, struct tables *ret,
	struct diag_list *notes, struct diag *err)
{
	struct measured *m = measure_begin(hosts, host_count, name, options, keep, ret, notes, err);

	measure_end(m);
	return m != NULL;
}
