/*
 * The table of quality: each row is a check of the data itself, and says what was seen.
 *
 * Checks that need a file's own knowledge stand there: the plan's in planned.c, the dump's in
 * dumped.c, the programs' in spmd.c, the job file's in job_facts.c.
 *
 * Refuses: judging a check that does not hold; the rules' gates do.
 */
#include <math.h>

#include "base/out.h"
#include "base/text.h"
#include "measure/measured.h"

void quality_add(struct measured *m, const char *name, bool ok, const char *fmt, ...)
{
	struct quality_row *row = table_new(m->tables, quality, m->keep);
	va_list args;

	va_start(args, fmt);
	row->name = str_from(name);
	row->ok = ok;
	row->detail = text_clean(m->keep, arena_vfmt(m->keep, fmt, args));
	va_end(args);
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
	ptrdiff_t i = 0;

	while (i < m->host_count && !why_cut(&m->hosts[i]))
		i++;
	if (i < m->host_count)
		quality_add(m, "not-truncated", false, "%.*s %s", STR_ARG(m->hosts[i].host),
			why_cut(&m->hosts[i]));
	else
		quality_add(m, "not-truncated", true, "every file is whole");
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
	ptrdiff_t i = 0;

	while (i < m->host_count && !lacks[m->hosts[i].format])
		i++;
	if (i < m->host_count)
		quality_add(m, "full-profile", false, "%.*s is %s", STR_ARG(m->hosts[i].host),
			lacks[m->hosts[i].format]);
	else
		quality_add(m, "full-profile", true, "every file is the profiler's own");
}

static void quality_dropped(struct measured *m)
{
	long long dropped = 0;
	struct str first = { 0 };

	for (ptrdiff_t i = 0; i < m->host_count; i++) {
		const struct profile *p = &m->hosts[i];
		if (!first.p && p->error_count + p->warning_count > 0)
			first = p->error_count > 0 ? p->errors[0] : p->warnings[0];
		for (ptrdiff_t k = 0; k < p->plane_count; k++)
			dropped += p->planes[k].dropped_events;
	}
	if (first.p)
		quality_add(m, "no-dropped-events", false, "the profiler reported: %.*s",
			STR_ARG(first));
	else if (dropped > 0)
		quality_add(m, "no-dropped-events", false, "%lld events dropped", dropped);
	else
		quality_add(m, "no-dropped-events", true, "none reported");
}

/* "3 steps in the capture: the first is warm-up, the last is cut". */
static struct str seen_text(const struct steps_seen *seen, struct arena *keep)
{
	struct out *o = out_memory(keep);
	const struct {
		int64_t count;
		const char *only, *one, *many;
	} parts[] = {
		{ seen->warmup, "it is warm-up", "the first is warm-up", "warm up" },
		{ seen->compiled, "it holds a compilation", "one holds a compilation",
			"hold a compilation" },
		{ seen->profiled, "the profiler started in it", "the profiler started in one",
			"hold the profiler's start" },
		{ seen->cut, "its end is cut off",
			seen->cut_last ? "the last is cut" : "one is cut", "are cut" },
	};
	const char *between = ": ";

	out_fmt(o, "%lld step%s in the capture", (long long)seen->all, seen->all == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].count)
			continue;
		if (parts[i].count == 1)
			out_fmt(o, "%s%s", between, seen->all > 1 ? parts[i].one : parts[i].only);
		else
			out_fmt(o, "%s%lld %s", between, (long long)parts[i].count, parts[i].many);
		between = ", ";
	}
	return out_text(o);
}

/* Why there is no step, in the reader's words. */
static struct str no_steps_text(const struct measured *m)
{
	if (m->seen.all > 0)
		return seen_text(&m->seen, m->keep);
	if (m->schedule.trouble.p)
		return m->schedule.trouble;
	return m->host_count > 0 && m->hosts[0].format == FORMAT_NSYS
		       ? STR("nothing marks steps, and no program of XLA ran twice; lay an NVTX "
			     "range around each, named \"step 12\"")
		       : STR("nothing marks steps, and no program ran twice");
}

static void quality_steps(struct measured *m)
{
	bool found = m->source != STEPS_WINDOW && m->first;
	struct out *o = out_memory(m->keep);

	if (found && m->steps < 2)
		out_str(o, seen_text(&m->seen, m->keep));
	else
		out_z(o, "steps were told apart");
	if (found && m->schedule.trouble.p)
		out_fmt(o, " by what repeats: %.*s", STR_ARG(m->schedule.trouble));
	for (ptrdiff_t i = 0;
		m->is_scheduled && m->schedule.sort_count > 1 && i < m->schedule.sort_count; i++) {
		const struct step_sort *s = &m->schedule.sorts[i];
		out_fmt(o, "%s%lld of %.*s (%.*s)%s", i ? ", " : ": ", (long long)s->count,
			STR_ARG(s->name), STR_ARG(s->modules),
			i == m->schedule.judged ? ", which are judged" : "");
	}
	quality_add(m, "steps-found", found, "%.*s",
		STR_ARG(text_clean(m->keep, found ? out_text(o) : no_steps_text(m))));
	quality_add(m, "steady-steps", found && m->steps >= 2, "%lld steady",
		(long long)(found ? m->steps : 0));
}

/*
 * All devices of the program must tell of about as many steps: kernels of whole devices get lost,
 * and what is judged then is not the job.
 */
static void quality_devices(struct measured *m)
{
	/* Devices the job has on the hosts whose profiles are here; 0 when nothing says. */
	double expected = m->shape.partitions * m->shape.planes_per_partition;
	double planes = 0, with_steps = 0, fewer = 0;
	int64_t most = 0;

	if (m->shape.devices_mixed) {
		quality_add(m, "devices-agree", false,
			"no op says which device ran it, so those of all devices look like one "
			"device's; capture with a jaxlib of 0.7.2 or later");
		return;
	}
	if (!m->first || m->source == STEPS_WINDOW)
		return;
	for (ptrdiff_t k = 0; k < m->host_count; k++)
		planes += host_device_planes(&m->hosts[k]);
	for (ptrdiff_t i = 0; i < m->device_count; i++)
		if (m->devices[i].sweep.steady_count > most)
			most = m->devices[i].sweep.steady_count;
	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		int64_t n = m->devices[i].sweep.steady_count;
		with_steps += n > 0;
		/* One step more or less is where the window was cut. */
		fewer += n > 0 && n < most - 1;
	}
	expected = fmax(fmin(expected, planes), with_steps);
	if (with_steps >= expected && fewer == 0) {
		quality_add(m, "devices-agree", true, "all %.0f devices tell of the same steps",
			with_steps);
		return;
	}
	struct out *o = out_memory(m->keep);
	if (with_steps < expected)
		out_fmt(o, "only %.0f of %.0f devices recorded steps%s", with_steps, expected,
			fewer > 0 ? ", and " : "");
	if (fewer > 0)
		out_fmt(o, "%.0f of %.0f devices recorded fewer steps than the others", fewer,
			with_steps);
	quality_add(m, "devices-agree", false, "%.*s", STR_ARG(out_text(o)));
}

/* A host that counts twice makes all that is said of devices and chips wrong. */
static void quality_twins(struct measured *m)
{
	const struct profile *again = NULL, *several = NULL, *twins[2];

	for (ptrdiff_t i = m->host_count; i-- > 0;) {
		again = m->hosts[i].repeated > 0 ? &m->hosts[i] : again;
		several = m->hosts[i].captures > 1 ? &m->hosts[i] : several;
	}
	if (several)
		quality_add(m, "hosts-distinct", false,
			"the file of %.*s holds %d captures, one behind the other: give one of "
			"them",
			STR_ARG(text_clean(m->keep, several->host)), several->captures);
	else if (m->host_count > 1 && capture_twin(m->hosts, m->host_count, m->keep, twins))
		quality_add(m, "hosts-distinct", false,
			"%.*s and %.*s are one file under two names: take one away",
			STR_ARG(text_clean(m->keep, twins[0]->host)),
			STR_ARG(text_clean(m->keep, twins[1]->host)));
	else if (again)
		quality_add(m, "hosts-distinct", true,
			"the file of %.*s holds its capture more than once; it was read once",
			STR_ARG(text_clean(m->keep, again->host)));
	else if (m->host_count > 1)
		quality_add(m, "hosts-distinct", true, "each host has a file of its own");
}

/* Hosts whose profile is not here limit what can be said of stragglers, and of nothing else. */
static void quality_hosts(struct measured *m)
{
	double expected = m->shape.hosts_expected, here = (double)m->host_count;
	double found = m->options->hosts_found > 0 ? (double)m->options->hosts_found : here;

	if (m->first && found > here)
		quality_add(m, "hosts-sampled", true,
			"%.0f of %.0f hosts were read, as --hosts-sample asks", here, found);
	if (m->first && expected > 0)
		quality_add(m, "all-hosts", found >= expected,
			"the profile holds %.0f of %.0f hosts", found, expected);
	quality_twins(m);
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
	quality_add(m, "traces-agree", same, "%.*s names %s threads of the xplane.pb beside it%s",
		STR_ARG(text_clean(m->keep, told->trace_beside)), same ? "the" : "none of the",
		same ? ", which was read" : ": it is of another capture, and was not read");
}

static void quality_chip(struct measured *m)
{
	const struct device *d = m->first;
	bool agree = true, one_chip = true;

	/* One run on several kinds of chip has no one roofline. */
	for (ptrdiff_t i = 0; d && i < m->device_count; i++) {
		const struct chip_device *c = &m->devices[i].chip;
		if (m->devices[i].sweep.events > 0)
			one_chip &= c->chip == d->chip.chip && c->share == d->chip.share;
		agree &= isnan(c->peak_drift) || fabs(c->peak_drift - 1) <= 0.15;
	}
	if (!d || !one_chip) {
		quality_add(m, "chip-known", false, "%s",
			d ? "devices of several kinds are in one run"
			  : "no device ran an op, so none names its chip");
		return;
	}
	quality_add(m, "chip-known", d->match.chip != NULL, "%.*s", STR_ARG(d->match.why));
	if (!d->match.chip)
		return;
	struct str drift = isnan(d->chip.peak_drift)
				   ? STR("the plane names no peak")
				   : arena_fmt(m->keep, "the plane's peak is %.3f of the table's",
					     d->chip.peak_drift);
	/* Who names a chip means it: "what if" asks about another than the profile's. */
	quality_add(m, "peaks-agree", agree || m->options->chip, "%.*s%s", STR_ARG(drift),
		m->options->chip && !agree ? ", which --hardware names instead of the plane's"
					   : "");
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

static void quality_hlo(struct measured *m)
{
	const struct hlo_module *h = any_hlo(m);
	const char *const name = "hlo-present";
	bool ok = m->first && h && !h->partial;

	if (!m->first)
		quality_add(m, name, ok, "no op ran that a program's HLO could be of");
	else if (m->main && m->main->dumped.p)
		quality_add(m, name, ok, "the program's HLO is that of the dump, %.*s",
			STR_ARG(m->main->dumped));
	else if (!h && m->hosts[0].format == FORMAT_NSYS)
		quality_add(m, name, ok, "Nsight Systems does not record the program's HLO");
	else if (!h && m->hosts[0].format == FORMAT_TRACE)
		quality_add(m, name, ok,
			"a trace viewer's export does not hold the program's HLO: give the "
			"*.xplane.pb of the run");
	else if (!h)
		quality_add(m, name, ok,
			"the program's HLO is not in the profile: capture with enable_hlo_proto");
	else if (h->partial)
		quality_add(m, name, ok,
			"the profile holds the HLO text of the ops that ran, and not the "
			"program's HLO: what fusions and loops hold is unknown");
	else
		quality_add(m, name, ok, "the program's HLO is in the profile");
	if (m->plan_unread.p)
		quality_add(m, "plans-read", false,
			"the plan for memory of module %.*s is there and cannot be read",
			STR_ARG(text_clean(m->keep, m->plan_unread)));
}

/*
 * A core does one thing at a time: its ops hold each other or follow, but for rounding.  More than
 * this of the window is a clock that jumped while they ran, and moved them over others.
 */
#define CUT_MAX 0.01

static void quality_lanes(struct measured *m)
{
	const struct device *jumped = NULL; /* the first one */
	bool sorted = false, deep = false;
	long long dones = 0, starts = 0;

	if (!m->first)
		return;
	for (ptrdiff_t i = m->device_count; i-- > 0;) {
		const struct device *d = &m->devices[i];
		const struct sweep *s = &d->sweep;
		/* Two captures over each other: `hosts-distinct` says so. */
		if (d->plane->platform == PLATFORM_TPU && m->hosts[d->host].captures < 2 &&
			(double)s->cut_ps > CUT_MAX * (double)(s->last_ps - s->first_ps))
			jumped = d;
		sorted |= s->sorted;
		deep |= s->too_deep;
		dones += s->lost_dones;
		starts += s->lost_starts;
	}
	quality_add(m, "lanes-in-order", !sorted, "%s",
		sorted ? "a lane was out of order; it was sorted, and nothing is lost"
		       : "all lanes");
	if (deep)
		quality_add(m, "clock-sane", false, "more ops ran at once than a device can hold");
	else if (m->first->sweep.events > 1 && busy_ps(&m->first->sweep) == 0)
		quality_add(m, "clock-sane", false, "no op took any time");
	else if (jumped)
		quality_add(m, "clock-sane", false,
			"ops of %.*s overlap for %.3g ms, and a core does one at a time: the clock "
			"jumped while it was recorded, and the events do not carry the device's "
			"own",
			STR_ARG(text_clean(m->keep, jumped->plane->name)),
			(double)jumped->sweep.cut_ps * PS * 1e3);
	else
		quality_add(m, "clock-sane", true, "ops nest and follow as they should");
	/* Of an async pair one half alone tells neither what was in flight nor for how long. */
	if (dones > 0)
		quality_add(
			m, "pairs-complete", false, "%lld asynchronous starts have no done", dones);
	else if (starts > 0)
		quality_add(m, "pairs-complete", false, "%lld asynchronous dones have no start",
			starts);
}

/* More lost than this of a device's time or events, or of the hosts' events, is not nothing. */
#define LOST_MAX 0.001

/* A plane whose own stats, or those of its metadata, refer to nothing; NULL: none. */
static const struct plane *plane_with_lost_stats(const struct measured *m)
{
	for (ptrdiff_t i = 0; i < m->host_count; i++)
		for (ptrdiff_t k = 0; k < m->hosts[i].plane_count; k++) {
			const struct plane *p = &m->hosts[i].planes[k];
			if (p->stats_lost && p->class != PLANE_OTHER && p->class != PLANE_HOST)
				return p;
		}
	return NULL;
}

/*
 * Events refer to metadata by number.  One that refers to nothing has a time and no name, so that
 * no rule that looks for slow ops finds it.  The row is there only where something is lost.
 */
static void quality_references(struct measured *m)
{
	const struct plane_lost *host = &m->facts.lost;
	const struct plane *said = plane_with_lost_stats(m);
	const struct device *worst = NULL;
	double most = 0;

	for (ptrdiff_t i = 0; i < m->device_count; i++) {
		const struct sweep *s = &m->devices[i].sweep;
		const struct plane_lost *lost = &m->devices[i].plane->lost;
		double of_time = (double)lost->time_ps / fmax((double)busy_ps(s), 1);
		double of_events = (double)lost->events / fmax((double)s->events, 1);
		double share = fmin(fmax(of_time, of_events), 1);
		if (share > most) {
			most = share;
			worst = &m->devices[i];
		}
	}
	bool host_ok = (double)host->events <= LOST_MAX * (double)host->of_events;
	if (said)
		quality_add(m, "references-resolved", false,
			"what %.*s says of itself refers to stats or texts that are not in the "
			"file",
			STR_ARG(text_clean(m->keep, said->name)));
	else if (worst && (most > LOST_MAX || host->events == 0))
		quality_add(m, "references-resolved", most <= LOST_MAX,
			"%lld events of %.*s, %.3g ms, refer to metadata or texts that are not in "
			"the file",
			(long long)worst->plane->lost.events,
			STR_ARG(text_clean(m->keep, worst->plane->name)),
			(double)worst->plane->lost.time_ps * PS * 1e3);
	else if (host->events > 0)
		quality_add(m, "references-resolved", host_ok,
			"%lld of %lld events of the hosts' threads refer to metadata or texts that "
			"are not in the file",
			(long long)host->events, (long long)host->of_events);
}

/* What a limit cut off is judged by no rule, so it must be told. */
static void quality_limits(struct measured *m)
{
	const struct host_facts *f = &m->facts;
	bool cut = m->incomplete || registry_full(m->registry) || f->steps.dropped > 0 ||
		   f->compiles.dropped > 0 || f->profiler.dropped > 0;

	quality_add(m, "complete", !cut, "%s",
		cut ? "more ops, collectives or host events than are kept: see docs/tables.md"
		    : "no limit was reached");
}

void fill_quality(struct measured *m, struct str job_wrong)
{
	quality_files(m);
	if (m->planned) {
		quality_plan(m);
		quality_chip(m);
		quality_hlo(m);
	} else {
		quality_format(m);
		quality_dropped(m);
		quality_add(m, "ops-recorded", m->first != NULL, "%s",
			m->first ? "device ops are in the profile"
				 : "no device op was recorded: on CPU older runtimes record none");
		quality_steps(m);
		quality_devices(m);
		quality_programs(m);
		quality_hosts(m);
		quality_traces(m);
		quality_chip(m);
		quality_hlo(m);
		quality_dump(m);
		quality_lanes(m);
		quality_references(m);
	}
	quality_limits(m);
	if (m->options->job)
		quality_add(m, "job-agrees", !job_wrong.p, "%.*s",
			STR_ARG(job_wrong.p ? job_wrong
					    : STR("the job file and the profile do not "
						  "contradict each other")));
}
