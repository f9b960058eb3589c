/* The comparison in sentences.  See prose.h. */
#include <math.h>

#include "base/out.h"
#include "base/text.h"
#include "measure/baseline.h"
#include "report/prose.h"

static const struct metric_look {
	struct str metric;
	const char *name;
	enum unit unit;
	bool always;	   /* told even when nothing changed */
	bool exact;	   /* there is no noise in it */
	const char *least; /* in words, behind the number that would have been seen */
} looks[] = {
	{ STR_INIT("run.step_time_s"), "a step takes", UNIT_SECONDS, true, false, "% slower" },
	{ STR_INIT("run.predicted_step_s"), "a step is predicted to take at least", UNIT_SECONDS,
		true, true, "" },
	{ STR_INIT("run.step_flops"), "the ops of a step compute", UNIT_FLOPS, false, true, "" },
	{ STR_INIT("run.roofline_ratio_lo"), "the roofline share is", UNIT_RATIO, false, false,
		"% slower" },
	{ STR_INIT("run.mfu"), "the MFU is", UNIT_RATIO, false, false, "% slower" },
	{ STR_INIT("run.comms_exposed_ratio"), "waiting for communication takes", UNIT_RATIO, false,
		false, " points more" },
	{ STR_INIT("run.idle_ratio"), "idle time is", UNIT_RATIO, false, false, " points more" },
	{ STR_INIT("run.transfer_ratio"), "moving data to or from the host takes", UNIT_RATIO,
		false, false, " points more" },
	{ STR_INIT("memory.window_peak_bytes"), "memory peaks at", UNIT_BYTES, false, true, "" },
	{ STR_INIT("memory.compiled_bytes"), "the compiler plans for", UNIT_BYTES, false, true,
		"" },
};

bool note_is_comparison(const struct diag_note *note)
{
	return note->id == DIAG_DIFFERS;
}

/* A smaller change is not told: half a percent, or half a point of a share. */
#define CHANGE_LEAST 0.005

static bool has_changed(const struct metric_look *look, const struct deltas_row *d)
{
	double change = look->unit == UNIT_RATIO ? d->head - d->base : d->ratio - 1;
	if (!(fabs(change) >= CHANGE_LEAST))
		return false;
	return look->exact || d->lo > 0 || d->hi < 0;
}

/* Beyond this many times what is assumed, the assumption does not hold. */
#define NOISY 1.5

/* "1.0% between runs: ...": what the comparison took the noise for, and why. */
static struct str noise_text(const struct deltas_row *d, struct arena *keep)
{
	struct out *o = out_memory(keep);
	double assumed = d->noise_assumed * 100, seen = d->noise_seen * 100;
	bool by_store = d->noise_workloads > 0;

	if (isnan(seen) && !by_store)
		out_fmt(o, "%.1f%% between runs: assumed, since one baseline shows none", assumed);
	else if (isnan(seen))
		out_fmt(o, "%.1f%% between runs, as %.0f workloads of the store show", assumed,
			d->noise_workloads);
	else if (!(d->noise_worth > 0))
		out_fmt(o, "%.1f%% between runs, as %.0f runs show", d->noise * 100, d->noise_runs);
	else
		out_fmt(o,
			"%.1f%% between runs: %.1f%% seen in %.0f runs, %.1f%% %s, which counts as "
			"%.3g runs",
			d->noise * 100, seen, d->noise_runs, assumed,
			by_store ? "in the store" : "assumed", d->noise_worth);
	if (d->noise_seen > NOISY * d->noise_assumed)
		out_fmt(o,
			"; runs differ by %.1f%%, more than the %.1f%% %s: false failures are "
			"likelier",
			seen, assumed, by_store ? "of the store's workloads" : "assumed");
	return out_text(o);
}

struct str comparison_needs(const struct deltas_row *d, struct arena *keep)
{
	struct out *o = out_memory(keep);
	bool by_baselines = d->baselines_more > 0, by_steps = d->steps_more > 0;
	if (!isnan(d->lo))
		return STR("");
	if (by_baselines)
		out_fmt(o, "%.0f more baseline%s like these", d->baselines_more,
			d->baselines_more == 1 ? "" : "s");
	if (by_steps)
		out_fmt(o, "%s%.0f times the steps in every run (%.0f in this one)",
			by_baselines ? ", or " : "", d->steps_times, d->steps_more);
	if (!by_baselines && !by_steps)
		return STR("; neither more baselines nor more steps would settle it");
	return arena_fmt(keep, "; %.*s would settle it", STR_ARG(out_text(o)));
}

/* How sure that is, and of what. */
static struct str surety_text(
	const struct metric_look *look, const struct deltas_row *d, struct arena *keep)
{
	if (look->exact)
		return STR("");
	if (isnan(d->resolution))
		return STR("; without steps noise cannot be told from change");
	struct str noise = look->always ? arena_fmt(keep, " (%.*s)", STR_ARG(noise_text(d, keep)))
					: STR(""); /* told once */
	if (d->lo > 0 || d->hi < 0)
		return arena_fmt(keep, "; that is beyond the noise%.*s", STR_ARG(noise));
	return arena_fmt(keep, "; %s%.*s; less than %.1f%s would not be seen%.*s",
		isnan(d->lo) ? "too noisy to tell" : "that is within the noise", STR_ARG(noise),
		d->resolution * 100, look->least, STR_ARG(comparison_needs(d, keep)));
}

static struct str comparison_line(const struct report *r, const struct metric_look *look,
	const struct deltas_row *d, struct arena *keep)
{
	bool is_length = str_eq(look->metric, STR("run.step_time_s")) && is_whole_capture(r);
	struct str against = d->against.p ? d->against : BASELINE_NAMED;
	if (is_length) /* how long a capture is says nothing of the program */
		return arena_fmt(keep,
			"this capture is %.*s long, and %.*s is %.*s: neither has steps, so they "
			"are "
			"compared by how often each op ran",
			STR_ARG(unit_text(keep, d->head, look->unit)), STR_ARG(against),
			STR_ARG(unit_text(keep, d->base, look->unit)));
	bool is_share = look->unit == UNIT_RATIO;
	double percent = 100 * fabs(is_share ? d->head - d->base : d->ratio - 1);
	struct str change =
		percent < 0.05 ? STR("the same")
			       : arena_fmt(keep, "%.1f%s %s", percent, is_share ? " points" : "%",
					 d->head > d->base ? "more" : "less");
	struct str left_out = str_eq(look->metric, STR("run.predicted_step_s"))
				      ? prose_unpredicted(r, keep)
				      : STR("");
	return arena_fmt(keep, "%s %.*s%.*s, against %.*s in %.*s: %.*s%.*s", look->name,
		STR_ARG(unit_text(keep, d->head, look->unit)), STR_ARG(left_out),
		STR_ARG(unit_text(keep, d->base, look->unit)), STR_ARG(against), STR_ARG(change),
		STR_ARG(surety_text(look, d, keep)));
}

/* What changed, or what is always told and did not. */
static void add_lines(const struct report *r, bool changed, struct arena *keep, struct list *lines)
{
	for (ptrdiff_t i = 0; i < table_count(&r->tables, deltas); i++) {
		const struct deltas_row *d = &table_rows(&r->tables, deltas)[i];
		const struct metric_look *look = NAMED(looks, COUNT_OF(looks), d->metric);
		if (look && has_changed(look, d) == changed && (changed || look->always))
			list_add(lines, comparison_line(r, look, d, keep), keep);
	}
}

struct str comparison_missing(const struct report *r)
{
	const struct quality_row *row = check_of(r, STR("baseline-found"));
	return row && !(row->ok > 0) ? row->detail : MISSING;
}

struct list comparison_lines(const struct report *r, struct arena *keep)
{
	struct list lines = { 0 };
	struct str missing = comparison_missing(r);
	if (missing.p)
		list_add(&lines,
			arena_fmt(keep, "compared with nothing: %.*s",
				STR_ARG(text_clean(keep, missing))),
			keep);
	/* Without a failure the first line says it. */
	const struct quality_row *alike = check_of(r, STR("baseline-comparable"));
	if (r->verdict == VERDICT_FAIL && alike && !(alike->ok > 0))
		list_add(&lines,
			arena_fmt(keep, "not compared: %.*s",
				STR_ARG(text_clean(keep, alike->detail))),
			keep);
	for (ptrdiff_t i = 0; i < r->notes.count; i++)
		if (note_is_comparison(&r->notes.items[i]))
			list_add(&lines, text_clean(keep, r->notes.items[i].text), keep);
	add_lines(r, true, keep, &lines);
	add_lines(r, false, keep, &lines);
	return lines;
}
