/* The comparison in sentences.  See prose.h. */
#include <math.h>

#include "base/out.h"
#include "base/text.h"
#include "measure/baseline.h"
#include "measure/diff.h"
#include "report/prose.h"

bool note_is_comparison(const struct diag_note *note)
{
	return note->id == DIAG_DIFFERS;
}

/* How long a step takes is said even when nothing changed. */
static bool is_always(const struct metric *m)
{
	return metric_column(m)->unit == UNIT_SECONDS;
}

/* A smaller change is not told: half a percent, or half a point of a share. */
static bool has_changed(const struct metric *m, const struct deltas_row *d)
{
	double change = metric_column(m)->unit == UNIT_RATIO ? d->head - d->base : d->ratio - 1;
	if (!(fabs(change) >= DIFF_SAME))
		return false;
	return metric_is_exact(m) || d->lo > 0 || d->hi < 0;
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

struct str comparison_needs(const struct report *r, struct arena *keep)
{
	const struct deltas_row *d = step_delta(r);
	struct out *o = out_memory(keep);
	bool is_compared = table_count(&r->tables, deltas) > 0;
	if ((is_compared && is_whole_capture(r)) || (d && isnan(d->lo) && isnan(d->resolution)))
		return STR("Capture whole steps of both runs: without them a change looks like "
			   "noise.");
	if (!d || !isnan(d->lo))
		return MISSING;
	if (d->is_short > 0)
		return STR("Capture more whole steps in both runs: one independent step shows no "
			   "noise.");
	if (d->baselines_more > 0)
		out_fmt(o, "%.0f more baseline%s like these", d->baselines_more,
			d->baselines_more == 1 ? "" : "s");
	if (d->steps_more > 0)
		out_fmt(out_part(o, ", or "),
			"%.0f times the steps in every run (%.0f in this one)", d->steps_times,
			d->steps_more);
	if (!out_text(o).len)
		return STR("Neither more baselines nor more steps would settle it.");
	return arena_fmt(keep, "%.*s would settle whether it is slower.", STR_ARG(out_text(o)));
}

/* + 0.0: there is no -0.0% */
double comparison_percent(const struct deltas_row *d)
{
	return round((d->head / d->base - 1) * 1000) / 10 + 0.0;
}

struct str comparison_unseen(const struct deltas_row *d, struct arena *keep)
{
	return d->resolution >= 1 ? STR("not even twice as long would be seen")
				  : arena_fmt(keep, "less than %.1f%% slower would not be seen",
					    d->resolution * 100);
}

/* How sure the change of the step is. */
static struct str surety_text(const struct deltas_row *d, struct arena *keep)
{
	struct str noise = noise_text(d, keep);
	if (isnan(d->resolution))
		return STR(COMPARISON_STEPLESS);
	if (d->is_short > 0)
		return STR(COMPARISON_SHORT);
	if (d->lo > 0 || d->hi < 0)
		return arena_fmt(keep, "beyond the noise (%.*s)", STR_ARG(noise));
	return arena_fmt(keep, "%s (%.*s); %.*s",
		isnan(d->lo) ? "too noisy to tell" : "within the noise", STR_ARG(noise),
		STR_ARG(comparison_unseen(d, keep)));
}

/* "a step takes 1.41 ms, was 2.05 ms (31.5% less)" */
static void put_metric(struct out *o, const struct report *r, const struct metric *m,
	const struct deltas_row *d, struct arena *keep)
{
	enum unit unit = metric_column(m)->unit;
	bool is_share = unit == UNIT_RATIO;
	double percent = 100 * fabs(is_share ? d->head - d->base : d->ratio - 1);
	struct str left_out =
		m->series == SERIES_PLANNED && is_always(m) ? prose_unpredicted(r, keep) : STR("");
	out_fmt(o, "%s %.*s%.*s, was %.*s", m->says, STR_ARG(unit_text(keep, d->head, unit)),
		STR_ARG(left_out), STR_ARG(unit_text(keep, d->base, unit)));
	if (!is_share && d->ratio >= MANY_TIMES)
		out_fmt(o, " (%.3g times)", d->ratio);
	else if (percent >= 0.05)
		out_fmt(o, " (%.1f%s %s)", percent, is_share ? " points" : "%",
			d->head > d->base ? "more" : "less");
}

static void put_delta(struct out *o, const struct report *r, const struct metric *m,
	const struct deltas_row *d, enum comparison_told told, struct arena *keep)
{
	bool is_step = m->series == SERIES_TIME;
	enum unit unit = metric_column(m)->unit;
	if (is_step && is_whole_capture(r)) { /* its length says nothing of the program */
		if (told == COMPARISON_WHOLE)
			out_fmt(o, "the same work takes %.*s, was %.*s: ",
				STR_ARG(unit_text(keep, d->head, unit)),
				STR_ARG(unit_text(keep, d->base, unit)));
		out_z(o, "neither has steps, so they are compared by how often each op ran");
		return;
	}
	if (!is_always(m) || told == COMPARISON_WHOLE)
		put_metric(o, r, m, d, keep);
	else if (is_step && d->ratio >= MANY_TIMES)
		out_fmt(o, "the step takes %.3g times as long", d->ratio);
	else if (is_step)
		out_fmt(o, "the step changed by %+.1f%%", comparison_percent(d));
	if (is_step)
		out_fmt(o, ": %.*s", STR_ARG(surety_text(d, keep)));
}

/* Of one set of baselines: what changed, then what is always told and did not. */
static struct str against_text(
	const struct report *r, struct str against, enum comparison_told told, struct arena *keep)
{
	const struct deltas_row *rows = table_rows(&r->tables, deltas);
	struct out *all = out_memory(keep);
	for (ptrdiff_t i = 0; i < 2 * table_count(&r->tables, deltas); i++) {
		bool changed = i < table_count(&r->tables, deltas);
		const struct deltas_row *d = &rows[i % table_count(&r->tables, deltas)];
		const struct metric *m = metric_find(d->metric);
		struct out *one = out_memory(keep);
		if (!m || !str_eq(d->against, against) || has_changed(m, d) != changed ||
			!(changed || is_always(m)))
			continue;
		put_delta(one, r, m, d, told, keep);
		if (out_text(one).len)
			out_str(out_part(all, "; "), out_text(one));
	}
	return out_text(all);
}

static struct str failed_check(const struct report *r, struct str name)
{
	const struct quality_row *row = check_of(r, name);
	return row && !(row->ok > 0) ? row->detail : MISSING;
}

struct str comparison_missing(const struct report *r)
{
	return failed_check(r, STR("baseline-found"));
}

#define UNLIKE STR("baseline-comparable")

struct str comparison_unlike(const struct report *r)
{
	return failed_check(r, UNLIKE);
}

/* A query is told whole. */
struct str comparison_name(const struct deltas_row *d, struct arena *keep)
{
	struct str name = text_clean(keep, d->against.p ? d->against : BASELINE_NAMED);
	return str_eq(d->key, d->metric) ? path_end(name) : name;
}

/* Whether the first line is that the baselines are unlike. */
static bool headline_says_unlike(const struct report *r)
{
	const struct rule_result *cause =
		r->verdict == VERDICT_INCONCLUSIVE ? headline_cause(r) : NULL;
	return cause && str_eq(cause->lacks, UNLIKE);
}

struct list comparison_lines(const struct report *r, enum comparison_told told, struct arena *keep)
{
	const struct deltas_row *rows = table_rows(&r->tables, deltas), *step = step_delta(r);
	struct list lines = { 0 };
	struct str missing = comparison_missing(r);
	if (missing.p)
		list_add(&lines,
			arena_fmt(keep, "compared with nothing: %.*s",
				STR_ARG(text_clean(keep, missing))),
			keep);
	struct str unlike = comparison_unlike(r);
	if (unlike.p && told == COMPARISON_WHOLE && !headline_says_unlike(r))
		list_add(&lines,
			arena_fmt(keep, "not compared: %.*s", STR_ARG(text_clean(keep, unlike))),
			keep);
	for (ptrdiff_t i = 0; i < r->notes.count; i++)
		if (note_is_comparison(&r->notes.items[i]))
			list_add(&lines, text_clean(keep, r->notes.items[i].text), keep);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, deltas); i++) {
		bool is_first = true;
		for (ptrdiff_t k = 0; k < i; k++)
			is_first = is_first && !str_eq(rows[k].against, rows[i].against);
		/* The first line is about the first of several sets. */
		bool is_told = step && str_eq(step->against, rows[i].against);
		struct str text = is_first ? against_text(r, rows[i].against,
						     is_told ? told : COMPARISON_WHOLE, keep)
					   : MISSING;
		if (text.len)
			list_add(&lines,
				arena_fmt(keep, "against %.*s: %.*s",
					STR_ARG(comparison_name(&rows[i], keep)), STR_ARG(text)),
				keep);
	}
	return lines;
}
