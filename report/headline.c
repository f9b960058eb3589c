/* The first line of a report.  See prose.h. */
#include <math.h>

#include "base/text.h"
#include "measure/diff.h"
#include "report/prose.h"

const struct deltas_row *step_delta(const struct report *r)
{
	const struct deltas_row *rows = table_rows(&r->tables, deltas);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, deltas); i++)
		if (rows[i].base > 0 &&
			(str_eq(rows[i].metric, STR("run.step_time_s")) ||
				str_eq(rows[i].metric, STR("run.predicted_step_s"))))
			return &rows[i];
	return NULL;
}

bool is_about_baseline(const struct report *r, const struct finding *f)
{
	const struct deltas_row *rows = table_rows(&r->tables, deltas);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, deltas); i++)
		if (str_eq(rows[i].key, f->subject))
			return true;
	return false;
}

/* ---- findings -------------------------------------------------------------------------------- */

/* "73.4% of the step (23.8 ms of 32.5 ms)"; missing: not known. */
static struct str cost_of(const struct report *r, const struct group *g, struct arena *keep)
{
	double step_s = run_of(r)->step_mean_s;
	if (!(g->gain_s > 0) || !isfinite(g->gain_s) || !(step_s > 0))
		return MISSING;
	return arena_fmt(keep, "%.*s of the %s (%.*s of %.*s)",
		STR_ARG(ratio_text(keep, g->gain_s / step_s)), prose_span(r),
		STR_ARG(time_text(keep, g->gain_s)), STR_ARG(time_text(keep, step_s)));
}

/*
 * The first decided; where others are credited with all of its time, the one credited most.  What
 * is about a baseline has its own number to tell.
 */
static struct group first_group(const struct report *r, struct arena *keep)
{
	struct group *groups;
	ptrdiff_t count = group_findings(r, r->verdict, keep, &groups), most = 0;
	if (!count)
		return (struct group){ NULL, 0, NAN, NAN };
	const struct finding *f = groups[0].items[0];
	if (groups[0].gain_s > 0 || !(f->shared_s > 0) || is_about_baseline(r, f))
		return groups[0];
	for (ptrdiff_t i = 1; i < count; i++)
		if (groups[i].gain_s > groups[most].gain_s)
			most = i;
	return groups[most];
}

/* The subject's name, else that of its largest place; missing for the whole run. */
static struct str name_of(const struct finding *f)
{
	if (f->places.count && str_eq(f->name, f->subject))
		return ((const struct found_place *)f->places.items)[0].name;
	return str_eq(f->name, STR(SUBJECT_RUN)) ? MISSING : f->name;
}

/* The costliest of all findings that costs more than `most`, which may be none. */
static struct group costliest_group(const struct report *r, struct group most, struct arena *keep)
{
	struct group *groups;
	ptrdiff_t count = group_open(r, keep, &groups);
	for (ptrdiff_t i = 0; i < count; i++)
		if (groups[i].cost_s > most.cost_s)
			most = groups[i];
	return most;
}

/* "exposed-communication is at 31.2% and fails above 30.0%; " */
static void put_decided(
	struct out *o, const struct report *r, const struct finding *f, struct arena *keep)
{
	const struct rule_result *rule = rule_of(r, f->rule);
	const struct rule_number *n = &rule->number;
	bool fails = r->verdict == VERDICT_FAIL && !isnan(n->fail_limit);
	out_fmt(o, "%.*s is at %.*s and %s %s %.*s; ", STR_ARG(text_clean(keep, f->rule)),
		STR_ARG(unit_text(keep, f->value, n->unit)), fails ? "fails" : "warns",
		n->at_least ? "below" : "above",
		STR_ARG(unit_text(keep, fails ? n->fail_limit : n->warn_limit, n->unit)));
}

/* What is told instead: most of the deciding one's time may be counted in others. */
static struct group most_of(const struct report *r, const struct group *g, struct arena *keep)
{
	return g->items[0]->shared_s > g->gain_s ? costliest_group(r, *g, keep) : *g;
}

/* Its message says it where no cost is known, and what is about a baseline. */
static bool says_message(
	const struct report *r, const struct group *g, const struct group *most, struct arena *keep)
{
	return !cost_of(r, most, keep).len || is_about_baseline(r, g->items[0]);
}

static struct str of_finding(const struct report *r, const struct group *g, struct arena *keep)
{
	const struct finding *f = g->items[0];
	struct group most = most_of(r, g, keep);
	struct str cost = cost_of(r, &most, keep), name, file, place;
	bool is_told = says_message(r, g, &most, keep);
	struct out *o = out_memory(keep);
	if (!is_told && most.items != g->items && rule_of(r, f->rule) && !isnan(f->value))
		put_decided(o, r, f, keep);
	f = is_told ? f : most.items[0];
	name = name_of(f);
	file = path_end(text_clean(keep, f->source_file));
	place = place_text(file, f->source_line, keep);
	if (is_told) {
		out_str(o, text_clean(keep, f->message));
		if (place.len)
			out_fmt(o, ", %.*s", STR_ARG(place));
		return out_text(o);
	}
	out_fmt(o, "%.*s costs %.*s", STR_ARG(text_clean(keep, f->rule)), STR_ARG(cost));
	if (name.len || place.len)
		out_fmt(o, ": %.*s%s%.*s",
			STR_ARG(text_brief(keep, text_function(text_clean(keep, name)))),
			name.len && place.len ? ", " : "", STR_ARG(place));
	return out_text(o);
}

const struct finding *headline_finding(const struct report *r, struct arena *keep)
{
	struct group g = first_group(r, keep);
	if (r->verdict == VERDICT_INCONCLUSIVE || !g.count)
		return NULL;
	struct group most = most_of(r, &g, keep);
	return says_message(r, &g, &most, keep) ? g.items[0] : NULL;
}

bool headline_says_step(const struct report *r, struct arena *keep)
{
	const struct deltas_row *d = step_delta(r);
	const struct finding *f = headline_finding(r, keep);
	if (r->verdict == VERDICT_INCONCLUSIVE) /* it says how long both took, too */
		return d != NULL;
	if (!d || is_whole_capture(r))
		return false;
	return f ? str_eq(f->subject, d->key) : !first_group(r, keep).count;
}

/* ---- other verdicts -------------------------------------------------------------------------- */

const struct rule_result *headline_cause(const struct report *r)
{
	const struct rule_result *any = NULL;
	for (int gates = 0; gates <= 1; gates++)
		for (ptrdiff_t i = r->results.count - 1; i >= 0; i--) {
			const struct rule_result *rule = &r->results.items[i];
			if (rule->verdict == VERDICT_INCONCLUSIVE && !rule->closed_gate.len &&
				rule->gate == gates && (rule->demanded || !any || !any->demanded))
				any = rule;
		}
	return any;
}

/* Captures without steps: by how often each op ran; missing: there is no baseline. */
static struct str of_captures(const struct report *r, struct arena *keep)
{
	const struct deltas_row *d = step_delta(r), *any = table_rows(&r->tables, deltas);
	if (d)
		return arena_fmt(keep,
			"the same work takes %.*s, was %.*s in %.*s; " COMPARISON_STEPLESS,
			STR_ARG(time_text(keep, d->head)), STR_ARG(time_text(keep, d->base)),
			STR_ARG(comparison_name(d, keep)));
	return table_count(&r->tables, deltas)
		       ? arena_fmt(keep, "it is unknown how long the same work took in %.*s",
				 STR_ARG(comparison_name(any, keep)))
		       : MISSING;
}

static struct str of_comparison(const struct deltas_row *d, struct arena *keep)
{
	double change = d->head / d->base - 1;
	struct str head = time_text(keep, d->head), base = time_text(keep, d->base),
		   against = comparison_name(d, keep);
	struct str much =
		change >= MANY_TIMES - 1
			? arena_fmt(keep, "%.3g times as long as", change + 1)
			: arena_fmt(keep, "%.*s %s than", STR_ARG(ratio_text(keep, fabs(change))),
				  change > 0 ? "slower" : "faster");
	if (isnan(d->resolution))
		return arena_fmt(keep, "%.*s, against %.*s in %.*s: " COMPARISON_STEPLESS,
			STR_ARG(head), STR_ARG(base), STR_ARG(against));
	if (d->is_short > 0)
		return arena_fmt(keep, "%.*s, against %.*s in %.*s: " COMPARISON_SHORT,
			STR_ARG(head), STR_ARG(base), STR_ARG(against));
	if (d->lo > 0 || d->hi < 0)
		return arena_fmt(keep, "%.*s %.*s: %.*s, was %.*s", STR_ARG(much), STR_ARG(against),
			STR_ARG(head), STR_ARG(base));
	if (isnan(d->lo))
		return arena_fmt(keep, "%.*s, against %.*s in %.*s: too noisy to tell; %.*s",
			STR_ARG(head), STR_ARG(base), STR_ARG(against),
			STR_ARG(comparison_unseen(d, keep)));
	if (!(fabs(change) < DIFF_SAME))
		return arena_fmt(keep,
			"%.*s %.*s (%.*s, was %.*s), within the noise: %.*s slower would have "
			"been seen",
			STR_ARG(much), STR_ARG(against), STR_ARG(head), STR_ARG(base),
			STR_ARG(ratio_text(keep, d->resolution)));
	return arena_fmt(keep, "as fast as %.*s: %.*s, was %.*s; %.*s slower would have been seen",
		STR_ARG(against), STR_ARG(head), STR_ARG(base),
		STR_ARG(ratio_text(keep, d->resolution)));
}

/* The evidence whose absence decided, the step beside the baseline's, and the costliest finding. */
static struct str of_trouble(const struct report *r, struct arena *keep)
{
	const struct rule_result *rule = headline_cause(r);
	struct group most = costliest_group(r, (struct group){ NULL, 0, 0, 0 }, keep);
	struct str reason = rule ? text_clean(keep, reason_of(rule, keep)) : MISSING;
	reason = reason.len ? reason : STR("no rule could be judged");
	const struct deltas_row *d = step_delta(r);
	struct str compared = is_whole_capture(r) ? of_captures(r, keep)
			      : d		  ? of_comparison(d, keep)
						  : MISSING;
	if (compared.p)
		reason = arena_fmt(keep, "%.*s; %.*s", STR_ARG(reason), STR_ARG(compared));
	if (!most.count)
		return reason;
	return arena_fmt(
		keep, "%.*s; even so, %.*s", STR_ARG(reason), STR_ARG(of_finding(r, &most, keep)));
}

struct str headline_delta(const struct report *r, struct arena *keep)
{
	const struct deltas_row *d = step_delta(r);
	if (!d || is_whole_capture(r))
		return MISSING;
	if (d->ratio >= MANY_TIMES)
		return arena_fmt(keep, "%.3g times as long as in %.*s", d->ratio,
			STR_ARG(comparison_name(d, keep)));
	return arena_fmt(keep, "%+.1f%% against %.*s", comparison_percent(d),
		STR_ARG(comparison_name(d, keep)));
}

/* The rule with the least room to its limit. */
static struct str of_pass(const struct report *r, struct arena *keep)
{
	const struct rule_result *closest = NULL;
	double least = INFINITY;
	for (ptrdiff_t i = 0; i < r->results.count; i++) {
		const struct rule_result *rule = &r->results.items[i];
		const struct rule_number *n = &rule->number;
		double room = isnan(n->warn_headroom) ? n->fail_headroom : n->warn_headroom;
		if (rule->verdict != VERDICT_PASS || rule->gate || !(room < least))
			continue;
		closest = rule;
		least = room;
	}
	if (!closest)
		return STR("all rules that apply hold");
	const struct rule_number *n = &closest->number;
	bool warns = !isnan(n->warn_headroom) && !isnan(n->warn_limit);
	return arena_fmt(keep, "closest to its limit: %.*s, %.*s where it %s %s %.*s",
		STR_ARG(text_clean(keep, closest->name)),
		STR_ARG(unit_text(
			keep, isnan(n->warn_headroom) ? n->fail_number : n->warn_number, n->unit)),
		warns ? "warns" : "fails", n->at_least ? "below" : "above",
		STR_ARG(unit_text(keep, warns ? n->warn_limit : n->fail_limit, n->unit)));
}

struct str headline_of(const struct report *r, struct arena *keep)
{
	const struct deltas_row *d = step_delta(r);
	struct str missing = comparison_missing(r).p ? STR("; no earlier run to compare with")
						     : STR(""),
		   text;
	struct group first = first_group(r, keep);
	if (r->error.text.p)
		return text_clean(keep, r->error.text);
	if (r->verdict == VERDICT_INCONCLUSIVE)
		text = of_trouble(r, keep);
	else if (first.count)
		text = of_finding(r, &first, keep);
	else if (d && !is_whole_capture(r))
		text = of_comparison(d, keep);
	else
		text = of_pass(r, keep);
	return arena_fmt(keep, "%.*s%.*s", STR_ARG(text), STR_ARG(missing));
}
