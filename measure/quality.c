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
#include "measure/writers.h"

struct quality_row *quality_add(
	const struct run *run, const char *name, bool ok, const char *fmt, ...)
{
	struct quality_row *row = table_new(run->tables, quality, run->keep);
	va_list args;

	va_start(args, fmt);
	row->name = str_from(name);
	row->ok = ok;
	row->detail = text_clean(run->keep, arena_vfmt(run->keep, fmt, args));
	va_end(args);
	return row;
}

/* Of accelerators: those of a CPU are made of the ops that its host plane holds. */
static bool has_device_planes(const struct run *run)
{
	for (ptrdiff_t h = 0; h < run->host_count; h++)
		for (ptrdiff_t i = 0; i < run->hosts[h].plane_count; i++) {
			const struct plane *p = &run->hosts[h].planes[i];
			if (p->class == PLANE_DEVICE && p->platform != PLATFORM_CPU)
				return true;
		}
	return false;
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
	return p->has_end ? NULL
			  : "ends with neither a Task Environment plane nor the host's name, as a "
			    "whole file does";
}

/* What an export leaves out, by its format; NULL of the profiler's own. */
static const char *why_less(const struct profile *p)
{
	static const char *const lacks[] = {
		[FORMAT_XPLANE] = NULL,
		[FORMAT_RIEGELI] = NULL,
		[FORMAT_TRACE] = "is a trace viewer's export: without HLO modules, memory events "
				 "and the chip's name; the *.xplane.pb of the same run has them",
		[FORMAT_NSYS] = "is an export of Nsight Systems: without HLO modules and memory "
				"events, which a *.xplane.pb has",
		[FORMAT_DUMP] = NULL,
	};

	return lacks[p->format];
}

/* What the first host's file lacks that lacks anything. */
static void quality_files(const struct run *run, const char *name,
	const char *(*why)(const struct profile *), const char *fine)
{
	ptrdiff_t i = 0;

	while (i < run->host_count && !why(&run->hosts[i]))
		i++;
	if (i < run->host_count)
		quality_add(run, name, false, "%.*s %s", STR_ARG(run->hosts[i].host),
			why(&run->hosts[i]));
	else
		quality_add(run, name, true, "%s", fine);
}

static void quality_dropped(const struct run *run)
{
	long long dropped = 0;
	struct str first = { 0 };

	for (ptrdiff_t i = 0; i < run->host_count; i++) {
		const struct profile *p = &run->hosts[i];
		if (!first.p && p->error_count + p->warning_count > 0)
			first = p->error_count > 0 ? p->errors[0] : p->warnings[0];
		for (ptrdiff_t k = 0; k < p->plane_count; k++)
			dropped += p->planes[k].dropped_events;
	}
	if (first.p)
		quality_add(run, "no-dropped-events", false, "the profiler reported: %.*s",
			STR_ARG(first));
	else if (dropped > 0)
		quality_add(run, "no-dropped-events", false, "%lld events dropped", dropped);
	else
		quality_add(run, "no-dropped-events", true, "none reported");
}

static void quality_ranges(const struct run *run)
{
	for (ptrdiff_t i = 0; i < run->host_count; i++)
		if (run->hosts[i].ranges_lost.p) {
			quality_add(run, "ranges-complete", false, "the profiler reported: %.*s",
				STR_ARG(run->hosts[i].ranges_lost));
			return;
		}
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
		/* Alone, it may be whole, or as long as the window lets it be. */
		{ seen->cut, "none follows it, so its end is not known",
			seen->cut_last ? "the last is cut" : "one is cut", "are cut" },
	};
	const char *between = ": ";

	out_fmt(o, "%lld step%s in the capture", (long long)seen->all, seen->all == 1 ? "" : "s");
	for (ptrdiff_t i = 0; i < COUNT_OF(parts); i++) {
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

/* Why marks of steps were not used; missing where they were, or where the run has no marks. */
static struct str marks_trouble(const struct run *run)
{
	if (run->schedule.trouble.p || !run->without_line || run->source >= STEPS_ANNOTATION)
		return run->schedule.trouble;
	return arena_fmt(run->keep,
		"%td of %td devices have no Steps line, and what they ran does not fit the others'",
		run->without_line, run->device_count);
}

/* Why there is no step, in the reader's words. */
static struct str no_steps_text(const struct run *run)
{
	if (run->seen.all > 0)
		return seen_text(&run->seen, run->keep);
	if (marks_trouble(run).p)
		return marks_trouble(run);
	return run->host_count > 0 && run->hosts[0].format == FORMAT_NSYS
		       ? STR("nothing marks steps, and no program of XLA ran twice")
		       : STR("nothing marks steps, and no program ran twice");
}

/* Of more sorts of steps only the first are named, and the one that is judged. */
#define SORTS_NAMED 4

static void put_sorts(struct out *o, const struct run *run)
{
	const struct schedule *all = &run->schedule;
	const char *before = ": ";
	ptrdiff_t others = 0;

	if (run->plans != PLANS_SCHEDULED || all->sort_count < 2)
		return;
	for (ptrdiff_t i = 0; i < all->sort_count; i++) {
		const struct step_sort *s = &all->sorts[i];
		if (i >= SORTS_NAMED && i != all->judged) {
			others++;
			continue;
		}
		out_fmt(o, "%s%lld of %.*s (%.*s)%s", before, (long long)s->count, STR_ARG(s->name),
			STR_ARG(s->modules), i == all->judged ? ", which are judged" : "");
		before = ", ";
	}
	if (others)
		out_fmt(o, " and %td more sorts", others);
}

static void quality_steps(const struct run *run)
{
	bool found = run->source != STEPS_WINDOW && run->first;
	struct out *o = out_memory(run->keep);

	if (found && run->steps < 2)
		out_str(o, seen_text(&run->seen, run->keep));
	else
		out_z(o, "steps were found");
	if (found && marks_trouble(run).p)
		out_fmt(o, " by what repeats: %.*s", STR_ARG(marks_trouble(run)));
	if (found && run->without_line && run->source == STEPS_LINE)
		out_fmt(o,
			"; %td of %td devices have no Steps line, and take the steps of a device "
			"that ran the same",
			run->without_line, run->device_count);
	put_sorts(o, run);
	quality_add(run, "steps-found", found, "%.*s",
		STR_ARG(text_clean(run->keep, found ? out_text(o) : no_steps_text(run))));
	if (run->facts.steps.count > 0 && run->schedule.trouble.p)
		quality_add(run, "marks-used", false, "%.*s", STR_ARG(run->schedule.trouble));
	quality_add(run, "steady-steps", found && run->steps >= 2, "%lld steady step%s",
		(long long)(found ? run->steps : 0), found && run->steps == 1 ? "" : "s");
}

/* More lost than this of a device's time or events, or of the hosts' events, is not nothing. */
#define LOST_MAX 0.001

/* Of a device that does less than another, so many steps are alike if none is torn. */
#define ALIKE_STEPS 0.5

/* Not all of its executions do the same: it branches, or loops until something holds. */
static bool may_vary(const struct hlo_module *h, struct arena scratch)
{
	int64_t loops = 0;

	if (h)
		hlo_runs(h, &scratch, &loops);
	for (ptrdiff_t i = 0; h && i < h->instruction_count; i++)
		loops += h->instructions[i].op == HLO_CONDITIONAL;
	return loops > 0;
}

/*
 * Events missing from some of a device's steady steps.  Where another device of the program has the
 * same number in each of its steps, the program does the same in each: what a step has less than
 * others of this device was not recorded.
 */
static int64_t events_lost(const struct run *run, const struct device *d)
{
	const struct program *p = heaviest_program(run, d), *beside = NULL;
	const struct sweep *own = &d->sweep;
	int64_t lost = own->full_events * own->steady_count - own->steady_events;
	bool alike = (double)own->full_steps >= ALIKE_STEPS * (double)own->steady_count;

	for (ptrdiff_t i = 0; p && lost > 0 && i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		if (s->steady_count < 2 || s->full_steps < s->steady_count ||
			s->full_events < own->full_events ||
			(s->full_events > own->full_events && !alike))
			continue;
		beside = heaviest_program(run, &run->devices[i]);
		if (beside && str_eq(beside->module, p->module))
			return may_vary(program_hlo(p), *run->keep) ? 0 : lost;
	}
	return 0;
}

/*
 * All devices of the program must record about as many steps: kernels of whole devices get lost,
 * and what is judged then is not the job.
 */
static void quality_devices(const struct run *run)
{
	/* Devices the job has on the hosts whose profiles are here; 0 when nothing says. */
	double expected = run->shape.partitions * run->shape.planes_per_partition;
	double planes = 0, with_steps = 0, fewer = 0;
	const struct device *torn = NULL; /* the one that lost most */
	int64_t most = 0, torn_events = 0;

	if (run->shape.devices_mixed) {
		quality_add(run, "devices-agree", false,
			"no op says which device ran it, so those of all devices look like one "
			"device's; capture with a jaxlib of 0.7.2 or later");
		return;
	}
	if (!run->first || run->source == STEPS_WINDOW)
		return;
	for (ptrdiff_t k = 0; k < run->host_count; k++)
		planes += fmin(host_device_planes(&run->hosts[k]), run->shape.planes_per_host);
	for (ptrdiff_t i = 0; i < run->device_count; i++)
		if (run->devices[i].sweep.steady_count > most)
			most = run->devices[i].sweep.steady_count;
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		int64_t n = run->devices[i].sweep.steady_count;
		with_steps += n > 0;
		/* One step more or less is where the window was cut. */
		fewer += n > 0 && n < most - 1;
		int64_t lost = events_lost(run, &run->devices[i]);
		if (lost > torn_events &&
			(double)lost > LOST_MAX * (double)run->devices[i].sweep.steady_events) {
			torn = &run->devices[i];
			torn_events = lost;
		}
	}
	expected = fmax(fmin(expected, planes), with_steps);
	if (with_steps >= expected && fewer == 0 && !torn) {
		quality_add(run, "devices-agree", true, "all %.0f devices recorded the same steps",
			with_steps);
		return;
	}
	struct out *o = out_memory(run->keep);
	if (with_steps < expected)
		out_fmt(o, "only %.0f of %.0f devices recorded steps", with_steps, expected);
	if (fewer > 0)
		out_fmt(out_part(o, ", and "),
			"%.0f of %.0f devices recorded fewer steps than the others", fewer,
			with_steps);
	if (torn)
		out_fmt(out_part(o, ", and "),
			"%lld of %lld events of %.*s of %.*s are missing from steps that other "
			"devices recorded whole",
			(long long)torn_events,
			(long long)(torn->sweep.steady_events + torn_events), STR_ARG(torn->name),
			STR_ARG(torn->host_name));
	quality_add(run, "devices-agree", false, "%.*s", STR_ARG(out_text(o)));
}

/* A host that counts twice makes all that is said of devices and chips wrong. */
static void quality_twins(const struct run *run)
{
	const struct profile *again = NULL, *several = NULL, *twins[2];

	for (ptrdiff_t i = run->host_count; i-- > 0;) {
		again = run->hosts[i].repeated > 0 ? &run->hosts[i] : again;
		several = run->hosts[i].captures > 1 ? &run->hosts[i] : several;
	}
	if (several)
		quality_add(run, "hosts-distinct", false,
			"the file of %.*s holds %d captures, one behind the other: give one of "
			"them",
			STR_ARG(text_clean(run->keep, several->host)), several->captures);
	else if (run->host_count > 1 && capture_twin(run->hosts, run->host_count, run->keep, twins))
		quality_add(run, "hosts-distinct", false,
			"%.*s and %.*s are one file under two names: take one away",
			STR_ARG(text_clean(run->keep, twins[0]->host)),
			STR_ARG(text_clean(run->keep, twins[1]->host)));
	else if (again)
		quality_add(run, "hosts-distinct", true,
			"the file of %.*s holds its capture more than once; it was read once",
			STR_ARG(text_clean(run->keep, again->host)));
	else if (run->host_count > 1)
		quality_add(run, "hosts-distinct", true, "each host has a file of its own");
}

/* Hosts whose profile is not here limit what can be said of stragglers, and of nothing else. */
static void quality_hosts(const struct run *run)
{
	double expected = run->shape.hosts_expected, here = (double)run->host_count;
	double found = run->options->hosts_found > 0 ? (double)run->options->hosts_found : here;

	if (run->first && found > here)
		quality_add(run, "hosts-sampled", true,
			"%.0f of %.0f hosts were read, as --hosts-sample asks", here, found);
	if (run->first && expected > 0)
		quality_add(run, "all-hosts", found >= expected,
			"the profile holds %.0f of %.0f hosts", found, expected);
	quality_twins(run);
}

/* A trace beside an xplane is not read; one of another capture was laid there by mistake. */
static void quality_traces(const struct run *run)
{
	const struct profile *told = NULL;

	for (ptrdiff_t i = 0; i < run->host_count; i++)
		if (run->hosts[i].trace_kin > (told ? told->trace_kin : TRACE_UNTOLD))
			told = &run->hosts[i];
	if (!told)
		return;
	bool same = told->trace_kin == TRACE_SAME;
	quality_add(run, "traces-agree", same, "%.*s names %s threads of the xplane.pb beside it%s",
		STR_ARG(text_clean(run->keep, told->trace_beside)), same ? "the" : "none of the",
		same ? ", which was read" : ": it is of another capture, and was not read");
}

/* Clocks that boost, and cores that are sold locked, are within 15%; another chip is not. */
static bool drift_is_small(double drift)
{
	return isnan(drift) || fabs(drift - 1) <= 0.15;
}

static void quality_chip(const struct run *run)
{
	const struct device *d = run->first;
	bool agree = true, one_chip = true;

	/* Where no device ran an op, `ops-recorded` says so. */
	if (!d)
		return;
	/* One run on several kinds of chip has no one roofline. */
	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct chip_device *c = &run->devices[i].chip;
		if (run->devices[i].sweep.events > 0)
			one_chip &= c->chip == d->chip.chip && c->share == d->chip.share;
		agree &= drift_is_small(c->peak_drift) && drift_is_small(c->hbm_drift);
	}
	if (!one_chip) {
		quality_add(run, "chip-known", false, "devices of several kinds are in one run");
		return;
	}
	quality_add(run, "chip-known", d->match.chip != NULL, "%.*s", STR_ARG(d->match.why))->todo =
		text_clean(run->keep, d->match.todo);
	if (!d->match.chip)
		return;
	struct out *drift = out_memory(run->keep);
	if (!isnan(d->chip.peak_drift))
		out_fmt(drift, "the plane's peak is %.3f of the table's", d->chip.peak_drift);
	if (!isnan(d->chip.hbm_drift))
		out_fmt(out_part(drift, ", "), "its memory's rate is %.3f of the table's",
			d->chip.hbm_drift);
	if (!out_text(drift).len)
		out_z(drift, "the plane names no peak");
	/* Who names a chip means it: "what if" asks about another than the profile's. */
	quality_add(run, "peaks-agree", agree || run->options->chip, "%.*s%s",
		STR_ARG(out_text(drift)),
		run->options->chip && !agree ? ", which --hardware names instead of the plane's"
					     : "");
}

const struct hlo_module *any_hlo(const struct run *run)
{
	if (run->main)
		return program_hlo(run->main);
	for (ptrdiff_t i = 0; i < registry_program_count(run->registry); i++)
		if (registry_program_at(run->registry, i)->has_hlo)
			return program_hlo(registry_program_at(run->registry, i));
	return NULL;
}

bool has_whole_hlo(const struct run *run)
{
	const struct hlo_module *h = any_hlo(run);

	return run->first && h && !h->partial;
}

static void quality_hlo(const struct run *run, const struct programs *programs)
{
	const struct hlo_module *h = any_hlo(run);
	enum profile_format format = run->host_count > 0 ? run->hosts[0].format : FORMAT_XPLANE;
	const char *says =
		h && !h->partial ? "the program's HLO is in the profile"
		: h ? "the profile holds the HLO text of the ops that ran, and not the program's "
		      "HLO: what fusions and loops hold is unknown"
		: format == FORMAT_NSYS ? "Nsight Systems does not record the program's HLO"
		: format == FORMAT_TRACE
			? "a trace viewer's export does not hold the program's HLO: give the "
			  "*.xplane.pb of the run"
		: str_eq(table_rows(run->tables, run)->compiler, STR("none"))
			? "no program of XLA ran, and only these have HLO"
			: "the program's HLO is not in the profile: capture with enable_hlo_proto";
	struct str dumped = run->main ? run->main->dumped : MISSING;

	if (run->first)
		quality_add(run, "hlo-present", has_whole_hlo(run), "%s%.*s",
			dumped.p ? "the program's HLO is that of the dump, " : says,
			STR_ARG(dumped));
	if (programs->unread.p)
		quality_add(run, "plans-read", false,
			"the plan for memory of module %.*s is there and cannot be read",
			STR_ARG(text_clean(run->keep, programs->unread)));
}

/*
 * A core does one thing at a time: its ops hold each other or follow, but for rounding.  More than
 * this of the window is a clock that jumped while they ran, and moved them over others.
 */
#define CUT_MAX 0.01

static void quality_lanes(const struct run *run)
{
	const struct device *jumped = NULL; /* the first one */
	bool sorted = false, deep = false;
	long long dones = 0, starts = 0;

	if (!run->first)
		return;
	for (ptrdiff_t i = run->device_count; i-- > 0;) {
		const struct device *d = &run->devices[i];
		const struct sweep *s = &d->sweep;
		/* Two captures over each other: `hosts-distinct` says so. */
		if (d->plane->platform == PLATFORM_TPU && run->hosts[d->host].captures < 2 &&
			(double)s->cut_ps > CUT_MAX * (double)(s->last_ps - s->first_ps))
			jumped = d;
		sorted |= s->sorted;
		deep |= s->too_deep;
		dones += s->lost_dones;
		starts += s->lost_starts;
	}
	quality_add(run, "lanes-in-order", !sorted, "%s",
		sorted ? "a lane was out of order; it was sorted, and nothing is lost"
		       : "all lanes");
	if (deep)
		quality_add(
			run, "clock-sane", false, "more ops ran at once than a device can hold");
	else if (run->first->sweep.events > 1 && run->first->sweep.busy_ps == 0)
		quality_add(run, "clock-sane", false, "no op took any time");
	else if (jumped)
		quality_add(run, "clock-sane", false,
			"ops of %.*s overlap for %.3g ms, and a core does one at a time: the clock "
			"jumped while it was recorded, and the events do not carry the device's "
			"own",
			STR_ARG(jumped->name), (double)jumped->sweep.cut_ps * PS * 1e3);
	else
		quality_add(run, "clock-sane", true, "ops nest and follow as they should");
	/* Of an async pair one half alone tells neither what was in flight nor for how long. */
	if (dones > 0)
		quality_add(run, "pairs-complete", false, "%lld asynchronous starts have no done",
			dones);
	else if (starts > 0)
		quality_add(run, "pairs-complete", false, "%lld asynchronous dones have no start",
			starts);
}

/* A plane whose own stats, or those of its metadata, refer to nothing; NULL: none. */
static const struct plane *plane_with_lost_stats(const struct run *run)
{
	for (ptrdiff_t i = 0; i < run->host_count; i++)
		for (ptrdiff_t k = 0; k < run->hosts[i].plane_count; k++) {
			const struct plane *p = &run->hosts[i].planes[k];
			if (p->stats_lost && p->class != PLANE_OTHER && p->class != PLANE_HOST)
				return p;
		}
	return NULL;
}

/*
 * Events refer to metadata by number.  One that refers to nothing has a time and no name, so that
 * no rule that looks for slow ops finds it.  The row is there only where something is lost.
 */
static void quality_references(const struct run *run)
{
	const struct plane_lost *host = &run->facts.lost;
	const struct plane *said = plane_with_lost_stats(run);
	const struct device *worst = NULL;
	double most = 0;

	for (ptrdiff_t i = 0; i < run->device_count; i++) {
		const struct sweep *s = &run->devices[i].sweep;
		const struct plane_lost *lost = &run->devices[i].plane->lost;
		double of_time = (double)lost->time_ps / fmax((double)s->busy_ps, 1);
		double of_events = (double)lost->events / fmax((double)s->events, 1);
		double share = fmin(fmax(of_time, of_events), 1);
		if (share > most) {
			most = share;
			worst = &run->devices[i];
		}
	}
	bool host_ok = (double)host->events <= LOST_MAX * (double)host->of_events;
	if (said)
		quality_add(run, "references-resolved", false,
			"what %.*s says of itself refers to stats or texts that are not in the "
			"file",
			STR_ARG(text_clean(run->keep, said->name)));
	else if (worst && (most > LOST_MAX || host->events == 0))
		quality_add(run, "references-resolved", most <= LOST_MAX,
			"%lld events of %.*s, %.3g ms, refer to metadata or texts that are not in "
			"the file",
			(long long)worst->plane->lost.events, STR_ARG(worst->name),
			(double)worst->plane->lost.time_ps * PS * 1e3);
	else if (host->events > 0)
		quality_add(run, "references-resolved", host_ok,
			"%lld of %lld events of the hosts' threads refer to metadata or texts that "
			"are not in the file",
			(long long)host->events, (long long)host->of_events);
}

/* The row is there only where something is lost. */
static void quality_allocations(const struct run *run)
{
	for (ptrdiff_t i = 0; i < run->facts.allocator_count; i++) {
		const struct allocator *a = &run->facts.allocators[i];
		/* Two captures over each other: `hosts-distinct` says so. */
		if ((double)a->jumps <= LOST_MAX * (double)a->samples ||
			run->hosts[a->host].captures > 1)
			continue;
		quality_add(run, "allocations-complete", false,
			"memory events of %.*s on %.*s are missing: %lld of %lld do not follow "
			"from the one before",
			STR_ARG(a->name), STR_ARG(run->hosts[a->host].host), (long long)a->jumps,
			(long long)a->samples);
		return;
	}
}

/* What a limit cut off is judged by no rule, so it must be told. */
static void quality_limits(const struct run *run, bool is_whole)
{
	const struct host_facts *f = &run->facts;
	bool cut = !is_whole || registry_full(run->registry) || f->steps.dropped > 0 ||
		   f->compiles.dropped > 0 || f->profiler.dropped > 0;

	quality_add(run, "complete", !cut, "%s",
		cut ? "more ops, collectives or host events than are kept: see docs/tables.md"
		    : "no limit was reached");
}

static void quality_ops(const struct run *run)
{
#define WAIT_FOR_STEPS                                                                             \
	"Let at least five steps run in the trace, and wait for the last (jax.block_until_ready) " \
	"before it stops: what is launched and has not run is not recorded."
	const struct list *called = &run->facts.launched;

	if (run->first)
		quality_add(run, "ops-recorded", true, "device ops are in the profile");
	else if (called->count > 0)
		quality_add(run, "ops-recorded", false,
			"the host called %.*s%s, and no device op was recorded",
			STR_ARG(text_clean(run->keep, called->items[0])),
			called->count > 1 ? " and others" : "")
			->todo = STR(WAIT_FOR_STEPS
			" If the job does wait, the profiler does not see this device: capture on "
			"the accelerator.");
	else if (has_device_planes(run))
		quality_add(run, "ops-recorded", false,
			"no device op was recorded: the planes of its devices are empty, as where "
			"the window lies between two steps, or the driver keeps the profiler out")
			->todo = STR(WAIT_FOR_STEPS);
	else
		quality_add(run, "ops-recorded", false,
			"no device op was recorded: on CPU the host's tracer records them, from "
			"host_tracer_level 1 on, and older runtimes record none")
			->todo = STR("Capture in the process that runs the step: on the "
				     "accelerator, or on CPU with host_tracer_level = 2 (in JAX "
				     "jax.profiler.ProfileOptions).");
}

void fill_quality(
	const struct run *run, const struct programs *programs, bool is_whole, struct str job_wrong)
{
	quality_files(run, "not-truncated", why_cut, "every file is whole");
	if (run_is_planned(run)) {
		quality_plan(run, programs);
		quality_chip(run);
		quality_hlo(run, programs);
	} else {
		/* What an export leaves out is known; that it is one has to be told. */
		quality_files(run, "full-profile", why_less, "every file is the profiler's own");
		quality_dropped(run);
		quality_ranges(run);
		quality_ops(run);
		quality_steps(run);
		quality_devices(run);
		quality_programs(run);
		quality_hosts(run);
		quality_traces(run);
		quality_chip(run);
		quality_hlo(run, programs);
		quality_dump(run);
		quality_lanes(run);
		quality_references(run);
		quality_allocations(run);
	}
	quality_limits(run, is_whole);
	if (run->options->job)
		quality_add(run, "job-agrees", !job_wrong.p, "%.*s",
			STR_ARG(job_wrong.p ? job_wrong
					    : STR("the job file and the profile do not contradict "
						  "each other")));
}
