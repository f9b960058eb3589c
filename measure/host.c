/*
 * What the host's side explains: idle gaps, compilations, and the checks of the data itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "measure/key.h"
#include "measure/measured.h"

/* Gaps below this share of a step are the launch overhead of a healthy program. */
#define GAP_SHARE 0.001

/* Gaps of a job that have a row: more say nothing new, and memory must not grow with devices. */
#define GAP_ROWS ((ptrdiff_t)64 * SWEEP_MAX_GAPS)

/* A gap on the host's clock, and the host event that explains it best. */
struct host_gap {
	const struct device *device;
	const struct swept_gap *gap;
	int64_t start_ps, end_ps;
	struct str name; /* as the file has it; missing while nothing was found */
	enum host_class class;
	int64_t covered_ps, length_ps; /* of the event found */
};

static int gap_cmp(const void *a, const void *b)
{
	const struct host_gap *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

static bool is_gap(const struct measured *m, const struct swept_gap *g)
{
	return (double)(g->end_ps - g->start_ps) * PS >= GAP_SHARE * m->step_time_s;
}

/* Of one host's devices, in their order. */
static struct host_gap *gaps_collect(
	const struct measured *m, int32_t host, struct arena *keep, ptrdiff_t *count)
{
	struct host_gap *gaps = NULL;
	ptrdiff_t cap = 0;

	*count = 0;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		for (ptrdiff_t k = 0; d->host == host && k < d->sweep.gap_count; k++) {
			const struct swept_gap *g = &d->sweep.gaps[k];
			if (!is_gap(m, g))
				continue;
			*arena_push(keep, gaps, *count, cap) = (struct host_gap){ .device = d,
				.gap = g,
				.start_ps = g->start_ps + d->plane->host_shift_ps,
				.end_ps = g->end_ps + d->plane->host_shift_ps };
		}
	}
	if (*count > 1)
		qsort(gaps, (size_t)*count, sizeof(*gaps), gap_cmp);
	return gaps;
}

/*
 * Of the events that cover most of a gap the shortest says what the host was at: the longer ones
 * are the functions around it.  While none does, the one that covers more.
 */
static bool explains_better(const struct host_gap *g, int64_t covered_ps, int64_t length_ps)
{
	int64_t half = (g->end_ps - g->start_ps) / 2;
	bool old_covers = g->covered_ps > half, new_covers = covered_ps > half;

	if (!g->name.p || new_covers != old_covers)
		return !g->name.p || new_covers;
	return new_covers ? length_ps < g->length_ps : covered_ps > g->covered_ps;
}

static void gap_meet(struct host_gap *g, const struct event *e)
{
	int64_t from = e->start_ps > g->start_ps ? e->start_ps : g->start_ps;
	int64_t to = e->end_ps < g->end_ps ? e->end_ps : g->end_ps;

	if (to <= from || !explains_better(g, to - from, e->end_ps - e->start_ps))
		return;
	g->name = e->name;
	g->class = e->host;
	g->covered_ps = to - from;
	g->length_ps = e->end_ps - e->start_ps;
}

/* The gaps of one device: disjoint and in order, so those an event meets are neighbours. */
struct device_gaps {
	struct host_gap *gaps;
	ptrdiff_t count;
};

static void event_explain(const struct device_gaps *d, const struct event *e)
{
	ptrdiff_t lo = 0, hi = d->count;

	while (lo < hi) {
		ptrdiff_t mid = lo + (hi - lo) / 2;
		if (d->gaps[mid].end_ps <= e->start_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < d->count && d->gaps[lo].start_ps < e->end_ps; lo++)
		gap_meet(&d->gaps[lo], e);
}

struct gap_index {
	struct device_gaps *devices;
	ptrdiff_t count;
};

/* `gaps` are sorted by device, then start. */
static struct gap_index gaps_index(struct host_gap *gaps, ptrdiff_t count, struct arena *keep)
{
	struct gap_index x = { arena_make(keep, struct device_gaps, count), 0 };

	for (ptrdiff_t i = 0; i < count; i++) {
		if (i == 0 || gaps[i].device != gaps[i - 1].device)
			x.devices[x.count++] = (struct device_gaps){ &gaps[i], 0 };
		x.devices[x.count - 1].count++;
	}
	return x;
}

static bool lane_explain(const struct plane *p, const struct lane *l, const struct gap_index *x,
	struct arena scratch, struct diag *err)
{
	struct cursor *c = cursor_new(p, l, 0, &scratch);
	struct event *e = arena_make(&scratch, struct event, 1);

	while (cursor_next(c, e))
		for (ptrdiff_t i = 0; i < x->count && e->name.len > 0; i++)
			event_explain(&x->devices[i], e);
	return cursor_end(c, err);
}

static bool gaps_explain(const struct profile *host, struct host_gap *gaps, ptrdiff_t count,
	struct arena scratch, struct diag *err)
{
	struct gap_index x = gaps_index(gaps, count, &scratch);

	for (ptrdiff_t i = 0; i < host->plane_count; i++) {
		const struct plane *p = &host->planes[i];
		for (ptrdiff_t k = 0; k < p->lane_count; k++)
			if (p->class == PLANE_HOST && x.count > 0 &&
				!lane_explain(p, &p->lanes[k], &x, scratch, err))
				return false;
	}
	return true;
}

static struct str cause_of(const struct host_gap *g)
{
	if (!g->name.p)
		return STR("unknown");
	switch (g->class) {
	case HOST_COMPILE:
	case HOST_COMPILER:
		return STR("compile");
	case HOST_TRANSFER:
		return STR("transfer");
	case HOST_INPUT:
		return STR("input");
	case HOST_SYNC:
		return STR("sync");
	default:
		return STR("host");
	}
}

/* Which gaps have a row: all that are longer than this, and some of those that are as long. */
struct gap_limit {
	int64_t longer_than_ps;
	ptrdiff_t as_long;
};

static struct gap_limit gap_limit(const struct measured *m, struct arena scratch)
{
	int64_t *lengths = arena_make(&scratch, int64_t, m->device_count * SWEEP_MAX_GAPS);
	ptrdiff_t n = 0, longer = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++)
		for (ptrdiff_t k = 0; k < m->devices[i].sweep.gap_count; k++) {
			const struct swept_gap *g = &m->devices[i].sweep.gaps[k];
			if (is_gap(m, g))
				lengths[n++] = g->end_ps - g->start_ps;
		}
	if (n <= GAP_ROWS)
		return (struct gap_limit){ -1, 0 };
	sort_integers(lengths, n);
	int64_t last = lengths[n - GAP_ROWS];
	while (lengths[n - 1 - longer] > last)
		longer++;
	return (struct gap_limit){ last, GAP_ROWS - longer };
}

static bool gap_has_row(const struct host_gap *g, struct gap_limit *limit)
{
	int64_t length_ps = g->gap->end_ps - g->gap->start_ps;

	return length_ps > limit->longer_than_ps ||
	       (length_ps == limit->longer_than_ps && limit->as_long-- > 0);
}

static void gap_row(struct measured *m, const struct host_gap *g)
{
	struct gaps_row *row = table_new(m->tables, gaps, m->keep);

	row->host = text_clean(m->keep, m->hosts[g->device->host].host);
	row->device = text_clean(m->keep, g->device->plane->name);
	row->step = (double)g->gap->step;
	row->start_s = (double)(g->gap->start_ps - g->device->sweep.first_ps) * PS;
	row->time_s = (double)(g->gap->end_ps - g->gap->start_ps) * PS;
	row->before = registry_subject_at(m->registry, g->gap->before)->name;
	row->after = registry_subject_at(m->registry, g->gap->after)->name;
	if (m->op_rows[g->gap->after] >= 0)
		row->key = table_rows(m->tables, ops)[m->op_rows[g->gap->after]].key;
	row->cause = cause_of(g);
	/* A copy: the name's page would come back for every row that is read. */
	row->host_activity = arena_str(m->keep, text_clean(m->keep, g->name));
}

static void gap_sum(struct measured *m, const struct host_gap *g)
{
	m->gap_s += (double)(g->gap->end_ps - g->gap->start_ps) * PS;
	m->input_gap_s += g->class == HOST_INPUT ? (double)g->covered_ps * PS : 0;
	m->sync_gap_s += g->class == HOST_SYNC ? (double)g->covered_ps * PS : 0;
}

bool fill_gaps(struct measured *m, struct diag *err)
{
	struct arena work = arena_new(ARENA_SCRATCH_BYTES);
	struct gap_limit limit = gap_limit(m, work);
	bool ok = true;

	for (ptrdiff_t h = 0; ok && h < m->host_count; h++) {
		ptrdiff_t count;
		struct host_gap *gaps = gaps_collect(m, (int32_t)h, &work, &count);
		ok = gaps_explain(&m->hosts[h], gaps, count, work, err);
		for (ptrdiff_t i = 0; ok && i < count; i++) {
			gap_sum(m, &gaps[i]);
			if (gap_has_row(&gaps[i], &limit))
				gap_row(m, &gaps[i]);
		}
		profile_drop(&m->hosts[h]);
		arena_clear(&work);
	}
	arena_free(&work);
	return ok;
}

/* Compilations. */

/* The host time from the end of the first step to the end of the last, on any device. */
static bool steps_span(const struct measured *m, int32_t host, int64_t *from, int64_t *to)
{
	bool any = false;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		const struct sweep *s = &d->sweep;
		if (d->host != host || s->steady_count + s->other_count < 2)
			continue;
		int64_t start = s->first_end_ps + d->plane->host_shift_ps;
		int64_t end = s->last_end_ps + d->plane->host_shift_ps;
		*from = !any || start < *from ? start : *from;
		*to = !any || end > *to ? end : *to;
		any = true;
	}
	return any;
}

static double programs_named(const struct measured *m, struct str module)
{
	double n = 0;

	for (ptrdiff_t i = 0; i < table_count(m->tables, programs); i++)
		n += str_eq(table_rows(m->tables, programs)[i].module, module);
	return n;
}

void fill_compiles(struct measured *m)
{
	const struct host_spans *c = &m->facts.compiles;

	for (ptrdiff_t i = 0; i < c->count; i++) {
		const struct host_span *s = &c->items[i];
		struct compiles_row *row = table_new(m->tables, compiles, m->keep);
		int64_t from = 0, to = 0;
		bool steps = steps_span(m, s->host, &from, &to) && m->source != STEPS_WINDOW;

		row->module = s->name;
		row->programs = programs_named(m, s->name);
		row->start_s = (double)s->start_ps * PS;
		row->time_s = (double)(s->end_ps - s->start_ps) * PS;
		if (m->source != STEPS_WINDOW)
			row->in_step = steps && s->start_ps < to && s->end_ps > from;
	}
}

/* Quality: each row is a check of the data itself. */

void quality_add(struct measured *m, const char *name, bool ok, struct str detail)
{
	struct quality_row *row = table_new(m->tables, quality, m->keep);

	row->name = str_from(name);
	row->ok = ok;
	row->detail = text_clean(m->keep, detail);
}

static const char *why_cut(const struct profile *p)
{
	/* A database tells how long it is, or it would not be read; of a dump nothing ran. */
	if (p->format == FORMAT_NSYS || p->format == FORMAT_DUMP)
		return NULL;
	if (p->format == FORMAT_TRACE)
		return trace_is_capped(p) ? "holds exactly as many events as its exporter writes; "
					    "what came later is missing"
					  : NULL;
	return p->has_environment ? NULL
				  : "has no Task Environment plane, which closes a whole file";
}

static void quality_files(struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->host_count; i++) {
		const char *why = why_cut(&m->hosts[i]);
		if (!why)
			continue;
		quality_add(m, "not-truncated", false,
			arena_fmt(m->keep, "%.*s %s", STR_ARG(m->hosts[i].host), why));
		return;
	}
	quality_add(m, "not-truncated", true, STR("every file is whole"));
}

/* What an export leaves out, by its format; NULL of the profiler's own. */
static const char *const lacks[] = {
	[FORMAT_XPLANE] = NULL,
	[FORMAT_RIEGELI] = NULL,
	[FORMAT_TRACE] = "a trace viewer's export: without HLO modules, memory events and the "
			 "chip's name; the *.xplane.pb of the same run has them",
	[FORMAT_NSYS] = "an export of Nsight Systems: without HLO modules and memory events, which "
			"a *.xplane.pb has",
	[FORMAT_DUMP] = NULL,
};

/* What an export leaves out is known; that it is one has to be told. */
static void quality_format(struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->host_count; i++)
		if (lacks[m->hosts[i].format]) {
			quality_add(m, "full-profile", false,
				arena_fmt(m->keep, "%.*s is %s", STR_ARG(m->hosts[i].host),
					lacks[m->hosts[i].format]));
			return;
		}
	quality_add(m, "full-profile", true, STR("every file is the profiler's own"));
}

static void quality_dropped(struct measured *m)
{
	int64_t dropped = 0, messages = 0;
	struct str first = { 0 };

	for (ptrdiff_t i = 0; i < m->host_count; i++) {
		const struct profile *p = &m->hosts[i];
		messages += p->error_count + p->warning_count;
		if (!first.p && p->error_count + p->warning_count > 0)
			first = p->error_count > 0 ? p->errors[0] : p->warnings[0];
		for (ptrdiff_t k = 0; k < p->plane_count; k++)
			dropped += p->planes[k].dropped_events;
	}
	if (messages > 0)
		quality_add(m, "no-dropped-events", false,
			arena_fmt(m->keep, "the profiler reported: %.*s", STR_ARG(first)));
	else if (dropped > 0)
		quality_add(m, "no-dropped-events", false,
			arena_fmt(m->keep, "%lld events dropped", (long long)dropped));
	else
		quality_add(m, "no-dropped-events", true, STR("none reported"));
}

static void quality_steps(struct measured *m)
{
	bool found = m->source != STEPS_WINDOW && m->first;

	bool nsys = m->host_count > 0 && m->hosts[0].format == FORMAT_NSYS;
	quality_add(m, "steps-found", found,
		found  ? STR("steps were told apart")
		: nsys ? STR("nothing marks steps, and no program of XLA ran twice; lay an NVTX "
			     "range around each, named \"step 12\"")
		       : STR("nothing marks steps, and no program ran twice without a "
			     "disturbance"));
	quality_add(m, "steady-steps", found && m->steps >= 2,
		arena_fmt(m->keep, "%lld steady", (long long)(found ? m->steps : 0)));
}

/* Devices the job has on the hosts whose profiles are here; 0 when nobody says. */
static double devices_expected(const struct measured *m)
{
	double job = run_partitions(m) * run_planes_per_partition(m), planes = 0;

	for (ptrdiff_t k = 0; k < m->host_count; k++)
		for (ptrdiff_t i = 0; i < m->hosts[k].plane_count; i++)
			planes += m->hosts[k].planes[i].class == PLANE_DEVICE;
	return job < planes ? job : planes;
}

/* What some devices lack of the steps that others recorded. */
static struct str steps_lacking(struct arena *keep, double some, double all, double fewer)
{
	struct out *o = out_memory(keep);

	if (some < all)
		out_fmt(o, "only %.0f of %.0f devices recorded steps%s", some, all,
			fewer > 0 ? ", and " : "");
	if (fewer > 0)
		out_fmt(o, "%.0f of %.0f devices recorded fewer steps than the others", fewer,
			some);
	return out_text(o);
}

/*
 * All devices of the program must tell of about as many steps: kernels of whole devices get lost,
 * and what is judged then is not the job.
 */
static void quality_devices(struct measured *m)
{
	if (run_devices_mixed(m)) {
		quality_add(m, "devices-agree", false,
			STR("no op says which device ran it, so those of all devices look like one "
			    "device's; capture with a jaxlib of 0.7.2 or later"));
		return;
	}
	double expected = devices_expected(m), with_steps = 0, fewer = 0;
	int64_t most = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++)
		if (m->devices[i].sweep.steady_count > most)
			most = m->devices[i].sweep.steady_count;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		int64_t n = m->devices[i].sweep.steady_count;
		with_steps += n > 0;
		/* One step more or less is where the window was cut. */
		fewer += n > 0 && n < most - 1;
	}
	if (!m->first || m->source == STEPS_WINDOW)
		return;
	bool ok = with_steps >= expected && fewer == 0;
	quality_add(m, "devices-agree", ok,
		ok ? arena_fmt(m->keep, "all %.0f devices tell of the same steps", with_steps)
		   : steps_lacking(m->keep, with_steps, fmax(expected, with_steps), fewer));
}

/* One run on several kinds of chip has no one roofline. */
static bool one_chip(const struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->device_count; i++)
		if (m->devices[i].sweep.events > 0 &&
			(m->devices[i].chip.chip != m->first->chip.chip ||
				m->devices[i].chip.share != m->first->chip.share))
			return false;
	return true;
}

/* Profiles one behind the other in one file: their events are on clocks of their own. */
static const struct profile *several_captures(const struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->host_count; i++)
		if (m->hosts[i].captures > 1)
			return &m->hosts[i];
	return NULL;
}

static const struct profile *repeated_capture(const struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->host_count; i++)
		if (m->hosts[i].repeated > 0)
			return &m->hosts[i];
	return NULL;
}

/* Why a host would count twice, which makes all that is said of devices and chips wrong. */
static struct str counted_twice(const struct measured *m)
{
	const struct profile *several = several_captures(m), *twins[2];

	if (several)
		return arena_fmt(m->keep,
			"the file of %.*s holds %d captures, one behind the other: give one of "
			"them",
			STR_ARG(text_clean(m->keep, several->host)), several->captures);
	if (m->host_count > 1 && capture_twin(m->hosts, m->host_count, m->keep, twins))
		return arena_fmt(m->keep,
			"%.*s and %.*s are one file under two names: take one away",
			STR_ARG(text_clean(m->keep, twins[0]->host)),
			STR_ARG(text_clean(m->keep, twins[1]->host)));
	return (struct str){ 0 };
}

static void quality_twins(struct measured *m)
{
	const struct profile *again = repeated_capture(m);
	struct str wrong = counted_twice(m);

	if (wrong.p)
		quality_add(m, "hosts-distinct", false, wrong);
	else if (again)
		quality_add(m, "hosts-distinct", true,
			arena_fmt(m->keep,
				"the file of %.*s holds its capture more than once; it was read "
				"once",
				STR_ARG(text_clean(m->keep, again->host))));
	else if (m->host_count > 1)
		quality_add(m, "hosts-distinct", true, STR("each host has a file of its own"));
}

/* A trace beside an xplane is not read; one of another capture was laid there by mistake. */
static void quality_traces(struct measured *m)
{
	const struct profile *told = NULL;

	for (ptrdiff_t i = 0; i < m->host_count; i++)
		if (m->hosts[i].trace_kin > (told ? told->trace_kin : TRACE_UNTOLD))
			told = &m->hosts[i];
	if (!told)
		return;
	bool same = told->trace_kin == TRACE_SAME;
	quality_add(m, "traces-agree", same,
		arena_fmt(m->keep, "%.*s names %s threads of the xplane.pb beside it%s",
			STR_ARG(text_clean(m->keep, told->trace_beside)),
			same ? "the" : "none of the",
			same ? ", which was read"
			     : ": it is of another capture, and was not read"));
}

/* Hosts whose profile is not here limit what can be said of stragglers, and of nothing else. */
static void quality_hosts(struct measured *m)
{
	double expected = run_hosts_expected(m), here = (double)m->host_count;
	double found = m->options->hosts_found > 0 ? (double)m->options->hosts_found : here;

	if (m->first && found > here)
		quality_add(m, "hosts-sampled", true,
			arena_fmt(m->keep, "%.0f of %.0f hosts were read, as --hosts-sample asks",
				here, found));
	if (m->first && expected > 0)
		quality_add(m, "all-hosts", found >= expected,
			arena_fmt(
				m->keep, "the profile holds %.0f of %.0f hosts", found, expected));
	quality_twins(m);
}

static void quality_chip(struct measured *m)
{
	const struct device *d = m->first;
	bool agree = true;

	if (!d) {
		quality_add(
			m, "chip-known", false, STR("no device ran an op, so none names its chip"));
		return;
	}
	if (!one_chip(m)) {
		quality_add(m, "chip-known", false, STR("devices of several kinds are in one run"));
		return;
	}
	quality_add(m, "chip-known", d->match.chip != NULL, d->match.why);
	if (!d->match.chip)
		return;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct chip_device *c = &m->devices[i].chip;
		agree &= isnan(c->peak_drift) || fabs(c->peak_drift - 1) <= 0.15;
	}
	struct str drift = isnan(d->chip.peak_drift)
				   ? STR("the plane names no peak")
				   : arena_fmt(m->keep, "the plane's peak is %.3f of the table's",
					     d->chip.peak_drift);
	/* Who names a chip means it: "what if" asks about another than the profile's. */
	if (m->options->chip && !agree)
		drift = arena_fmt(m->keep, "%.*s, which --hardware names instead of the plane's",
			STR_ARG(drift));
	quality_add(m, "peaks-agree", agree || m->options->chip, drift);
}

const struct hlo_module *any_hlo(const struct measured *m)
{
	if (m->main)
		return m->main->hlo;
	for (ptrdiff_t i = 0; i < registry_program_count(m->registry); i++)
		if (registry_program_at(m->registry, i)->hlo)
			return registry_program_at(m->registry, i)->hlo;
	return NULL;
}

static struct str hlo_detail(const struct measured *m, const struct hlo_module *h)
{
	if (m->main && m->main->dumped.p)
		return arena_fmt(m->keep, "the program's HLO is that of the dump, %.*s",
			STR_ARG(m->main->dumped));
	if (!h && m->hosts[0].format == FORMAT_NSYS)
		return STR("Nsight Systems does not record the program's HLO");
	if (!h)
		return STR(
			"the program's HLO is not in the profile: capture with enable_hlo_proto");
	if (h->partial)
		return STR("the profile holds the HLO text of the ops that ran, and not the "
			   "program's HLO: what fusions and loops hold is unknown");
	return STR("the program's HLO is in the profile");
}

static void quality_hlo(struct measured *m)
{
	const struct hlo_module *h = any_hlo(m);

	quality_add(m, "hlo-present", m->first && h && !h->partial,
		m->first ? hlo_detail(m, h) : STR("no op ran that a program's HLO could be of"));
}

/*
 * A core does one thing at a time: its ops hold each other or follow, but for rounding.  More than
 * this of the window is a clock that jumped while they ran, and moved them over others.
 */
#define CUT_MAX 0.01

static const struct device *clock_jumped(const struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct device *d = &m->devices[i];
		double window_ps = (double)(d->sweep.last_ps - d->sweep.first_ps);
		/* Two captures over each other: `hosts-distinct` says so. */
		if (d->plane->platform == PLATFORM_TPU && m->hosts[d->host].captures < 2 &&
			(double)d->sweep.cut_ps > CUT_MAX * window_ps)
			return d;
	}
	return NULL;
}

/* Or the missing string. */
static struct str clock_wrong(const struct measured *m, bool deep)
{
	const struct device *d = clock_jumped(m);

	if (deep)
		return STR("more ops ran at once than a device can hold");
	if (m->first->sweep.events > 1 && busy_ps(&m->first->sweep) == 0)
		return STR("no op took any time");
	if (!d)
		return (struct str){ 0 };
	return arena_fmt(m->keep,
		"ops of %.*s overlap for %.3g ms, and a core does one at a time: the clock jumped "
		"while it was recorded, and the events do not carry the device's own",
		STR_ARG(text_clean(m->keep, d->plane->name)), (double)d->sweep.cut_ps * PS * 1e3);
}

/* Of an async pair one half alone tells neither what was in flight nor for how long. */
static void quality_pairs(struct measured *m)
{
	long long dones = 0, starts = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		dones += m->devices[i].sweep.lost_dones;
		starts += m->devices[i].sweep.lost_starts;
	}
	if (dones > 0)
		quality_add(m, "pairs-complete", false,
			arena_fmt(m->keep, "%lld asynchronous starts have no done", dones));
	else if (starts > 0)
		quality_add(m, "pairs-complete", false,
			arena_fmt(m->keep, "%lld asynchronous dones have no start", starts));
}

static void quality_lanes(struct measured *m)
{
	bool sorted = false, deep = false;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		sorted |= m->devices[i].sweep.sorted;
		deep |= m->devices[i].sweep.too_deep;
	}
	if (!m->first)
		return;
	quality_add(m, "lanes-in-order", !sorted,
		sorted ? STR("a lane was out of order; it was sorted, and nothing is lost")
		       : STR("all lanes"));
	struct str wrong = clock_wrong(m, deep);
	quality_add(m, "clock-sane", !wrong.p,
		wrong.p ? wrong : STR("ops nest and follow as they should"));
	quality_pairs(m);
}

/* What a limit cut off is judged by no rule, so it must be told. */
static void quality_limits(struct measured *m)
{
	const struct host_facts *f = &m->facts;
	bool cut = m->incomplete || registry_full(m->registry) || f->steps.dropped > 0 ||
		   f->compiles.dropped > 0 || f->profiler.dropped > 0;

	quality_add(m, "complete", !cut,
		cut ? STR("more ops, collectives or host events than are kept: see docs/tables.md")
		    : STR("no limit was reached"));
}

void fill_quality(struct measured *m)
{
	quality_files(m);
	if (m->planned) {
		quality_plan(m);
		quality_chip(m);
		quality_hlo(m);
		quality_limits(m);
		quality_owner(m);
		return;
	}
	quality_format(m);
	quality_dropped(m);
	quality_add(m, "ops-recorded", m->first != NULL,
		m->first ? STR("device ops are in the profile")
			 : STR("no device op was recorded: on CPU older runtimes record none"));
	quality_steps(m);
	quality_devices(m);
	quality_programs(m);
	quality_hosts(m);
	quality_traces(m);
	quality_chip(m);
	quality_hlo(m);
	quality_dump(m);
	quality_lanes(m);
	quality_limits(m);
	quality_owner(m);
}
