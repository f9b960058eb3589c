/*
 * OpenMetrics text, of reports and of a fleet, for the textfile collector of Prometheus' node
 * exporter and for GitLab's metrics report.
 *
 * Gauges only, no timestamps, and names that end in their unit, so that the older Prometheus text
 * format reads it, too.  Labels come from few values: the workload (never a date), the chip, a
 * rule, a verdict; of a fleet the workload and its owner.  Facts become metrics by the columns of
 * the run table.
 */
#include <math.h>

#include "base/text.h"
#include "report/fleet.h"
#include "report/prose.h"

enum {
	PROFILES_MAX = 1000, /* a label each; more belong into a warehouse */
	LABEL_BYTES = 128,
};

struct series {
	struct out *out;
	struct arena *keep;
	const struct report **items; /* the profiles shown */
	struct str *labels;	     /* of each: run="...",chip="..." */
	ptrdiff_t count;
};

/* ---- text ------------------------------------------------------------------------------------ */

static void put_escaped(struct out *o, struct str s)
{
	static const char *const texts[] = { "\\\\", "\\\"", "\\n" };
	out_replaced(o, s, "\\\"\n", texts);
}

/* One more label, cut and escaped. */
static void metrics_label(struct out *o, const char *name, struct str value, struct arena *keep)
{
	out_fmt(out_part(o, ","), "%s=\"", name);
	put_escaped(o, text_cut(keep, text_clean(keep, value), LABEL_BYTES));
	out_char(o, '"');
}

/* `unit` is what the name ends in, or NULL. */
static void metrics_family(struct out *o, struct str name, const char *unit, struct str help)
{
	out_fmt(o, "# TYPE %.*s gauge\n", STR_ARG(name));
	if (unit)
		out_fmt(o, "# UNIT %.*s %s\n", STR_ARG(name), unit);
	out_fmt(o, "# HELP %.*s ", STR_ARG(name));
	put_escaped(o, help);
	out_char(o, '\n');
}

static void metrics_sample(struct out *o, struct str name, struct str labels, double value)
{
	out_str(o, name);
	if (labels.len)
		out_fmt(o, "{%.*s}", STR_ARG(labels));
	out_char(o, ' ');
	out_double(o, value);
	out_char(o, '\n');
}

/* ---- whose series ---------------------------------------------------------------------------- */

/* Two series of the same labels would be an error: the second of a workload is "name #2". */
static void add_one(struct series *s, const struct report *r, struct unique *names)
{
	struct out *labels = out_memory(s->keep);
	struct str run = text_cut(s->keep, workload_of(r, s->keep), LABEL_BYTES - 8);
	struct str chip = text_clean(s->keep, run_of(r)->chip);
	run = arena_fmt(
		s->keep, "%.*s\n%.*s", STR_ARG(chip.len ? chip : STR("unknown")), STR_ARG(run));
	str_cut(unique_name(names, run, s->keep), '\n', &chip, &run);
	metrics_label(labels, "run", run, s->keep);
	metrics_label(labels, "chip", chip, s->keep);
	s->items[s->count] = r;
	s->labels[s->count++] = out_text(labels);
}

/* Of a profile, with a label of its own. */
static void put_sample(const struct series *s, ptrdiff_t index, struct str name, const char *label,
	struct str of, const char *level, double value)
{
	struct out *labels = out_memory(s->keep);
	out_str(labels, s->labels[index]);
	metrics_label(labels, label, of, s->keep);
	if (level)
		metrics_label(labels, "level", str_from(level), s->keep);
	metrics_sample(s->out, name, out_text(labels), value);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* What a column's name ends in, and what its metric does. */
static const struct suffix {
	enum unit unit;
	struct str column, metric;
	const char *name; /* of the unit, or NULL */
} suffixes[] = {
	{ UNIT_SECONDS, STR_INIT("_s"), STR_INIT("_seconds"), "seconds" },
	{ UNIT_RATIO, STR_INIT("_ratio"), STR_INIT("_ratio"), "ratio" },
	{ UNIT_COUNT, STR_INIT(""), STR_INIT(""), NULL },
};

static void put_fact(struct series *s, const struct column *c)
{
	const struct suffix *suffix = suffixes;
	struct str stem = c->name, name;
	/* A capture without steps has no step time, though its length stands there for one. */
	bool is_of_step = str_starts(c->name, STR("step_")) || str_eq(c->name, STR("steps"));
	bool is_named = false;
	while (suffix < suffixes + COUNT_OF(suffixes) && suffix->unit != c->unit)
		suffix++;
	if (c->type != COLUMN_REAL || suffix == suffixes + COUNT_OF(suffixes))
		return;
	/* step_time_lo_s and roofline_ratio_lo alike: the unit stands last. */
	if (suffix->column.len && str_ends(stem, suffix->column))
		stem = str_head(stem, stem.len - suffix->column.len);
	name = arena_fmt(s->keep, "rooflint_%.*s%.*s", STR_ARG(stem), STR_ARG(suffix->metric));
	for (ptrdiff_t i = 0; i < s->count; i++) {
		double value = cell_real(c, run_of(s->items[i]));
		if (!isfinite(value) || (is_of_step && is_whole_capture(s->items[i])))
			continue;
		if (!is_named)
			metrics_family(s->out, name, suffix->name, c->meaning);
		is_named = true;
		metrics_sample(s->out, name, s->labels[i], value);
	}
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* One sample a verdict; one of them is 1, so a dashboard can tell "pass" from "gone". */
static void put_verdicts(struct series *s)
{
	static const enum verdict verdicts[] = { VERDICT_PASS, VERDICT_WARN, VERDICT_INCONCLUSIVE,
		VERDICT_FAIL, VERDICT_ERROR };
	struct str name = STR("rooflint_verdict");
	metrics_family(
		s->out, name, NULL, STR("1 for the verdict of the profile, 0 for the others"));
	for (ptrdiff_t i = 0; i < s->count; i++)
		for (ptrdiff_t v = 0; v < COUNT_OF(verdicts); v++)
			put_sample(s, i, name, "verdict", verdict_name(verdicts[v]), NULL,
				s->items[i]->verdict == verdicts[v]);
}

static void put_counts(struct series *s)
{
	struct str name = STR("rooflint_rules");
	metrics_family(s->out, name, NULL, STR("rules of each verdict"));
	for (ptrdiff_t i = 0; i < s->count; i++)
		for (int v = VERDICT_PASS; v <= VERDICT_OFF && !s->items[i]->error.text.p; v++)
			put_sample(s, i, name, "verdict", verdict_name((enum verdict)v), NULL,
				(double)count_results(s->items[i], (enum verdict)v));
}

/* The number that each rule limits, its limits, how much of them is left, and what it costs. */
static const struct rule_metric {
	struct str name;
	const char *level; /* or NULL */
	ptrdiff_t offset;  /* in struct rule_number; -1: the gain */
	const char *meaning;
} rule_metrics[] = {
	{ STR_INIT("rooflint_rule_value"), NULL, offsetof(struct rule_number, value),
		"the number that a rule limits, of its worst subject, in base units" },
	{ STR_INIT("rooflint_rule_limit"), "warn", offsetof(struct rule_number, warn_limit),
		"where a rule warns, and where it fails" },
	{ STR_INIT("rooflint_rule_limit"), "fail", offsetof(struct rule_number, fail_limit), NULL },
	{ STR_INIT("rooflint_rule_headroom"), "warn", offsetof(struct rule_number, warn_headroom),
		"share of the limit that is left, as what it costs matters; below 0: beyond it" },
	{ STR_INIT("rooflint_rule_headroom"), "fail", offsetof(struct rule_number, fail_headroom),
		NULL },
	{ STR_INIT("rooflint_rule_gain_seconds"), NULL, -1,
		"step time that the findings of a rule would give back" },
};

/* NaN where it is missing. */
static double metric_of(
	const struct rule_metric *m, const struct report *r, const struct rule_result *rule)
{
	double gain_s = m->offset < 0 ? rule_gain(r, rule->name) : 0;
	if (m->offset < 0)
		return gain_s > 0 ? gain_s : (double)NAN;
	if (isnan(rule->number.value))
		return NAN;
	return *(const double *)(const void *)((const char *)&rule->number + m->offset);
}

static void put_rule_metric(struct series *s, const struct rule_metric *m)
{
	if (m->meaning)
		metrics_family(
			s->out, m->name, m->offset < 0 ? "seconds" : NULL, str_from(m->meaning));
	for (ptrdiff_t i = 0; i < s->count; i++)
		for (ptrdiff_t k = 0; k < s->items[i]->results.count; k++) {
			const struct rule_result *rule = &s->items[i]->results.items[k];
			double value = metric_of(m, s->items[i], rule);
			if (isfinite(value) && rule_of(s->items[i], rule->name) == rule)
				put_sample(s, i, m->name, "rule", rule->name, m->level, value);
		}
}

void report_openmetrics(const struct report_set *set, struct arena *keep, struct out *out)
{
	const struct table_def *run = &table_defs[TABLE_run];
	ptrdiff_t count = set->count < PROFILES_MAX ? set->count : PROFILES_MAX;
	struct series s = { .out = out,
		.keep = keep,
		.items = arena_make(keep, const struct report *, count),
		.labels = arena_make(keep, struct str, count) };
	struct unique names = { 0 };
	struct str left_out = STR("rooflint_profiles_left_out");
	for (ptrdiff_t i = 0; i < count; i++)
		add_one(&s, &set->items[i], &names);
	put_verdicts(&s);
	put_counts(&s);
	for (ptrdiff_t i = 0; i < run->column_count; i++)
		put_fact(&s, &run->columns[i]);
	for (ptrdiff_t i = 0; i < COUNT_OF(rule_metrics); i++)
		put_rule_metric(&s, &rule_metrics[i]);
	metrics_family(out, left_out, NULL, STR("profiles beyond the most that this file holds"));
	metrics_sample(out, left_out, MISSING, (double)(set->count - s.count));
	out_z(out, "# EOF\n");
}

/* ---- a fleet --------------------------------------------------------------------------------- */

/* The help of a column; `unit` is what the name ends in, or NULL. */
struct fleet_metric {
	const char *column, *name, *unit;
};

static const struct fleet_metric of_fleet[] = {
	{ "workloads", "rooflint_fleet_workloads", NULL },
	{ "chips", "rooflint_fleet_chips", NULL },
	{ "chips_back", "rooflint_fleet_recoverable_chips", NULL },
	{ "chip_hours_back", "rooflint_fleet_recoverable_chip_hours", NULL },
	{ "dollars_back", "rooflint_fleet_recoverable_dollars", "dollars" },
	{ "listed_hours", "rooflint_fleet_billed_chip_hours", NULL },
	{ "listed_dollars", "rooflint_fleet_billed_dollars", "dollars" },
	{ "share", "rooflint_fleet_recoverable_ratio", "ratio" },
	{ "roofline_ratio", "rooflint_fleet_roofline_ratio", "ratio" },
	{ "mfu", "rooflint_fleet_mfu_ratio", "ratio" },
	{ "new_problems", "rooflint_fleet_new_problems", NULL },
	{ "slower", "rooflint_fleet_slower_workloads", NULL },
};
static const struct fleet_metric of_workload[] = {
	{ "share", "rooflint_workload_recoverable_ratio", "ratio" },
	{ "chips_back", "rooflint_workload_recoverable_chips", NULL },
	{ "dollars_back", "rooflint_workload_recoverable_dollars", "dollars" },
	{ "roofline_ratio", "rooflint_workload_roofline_ratio", "ratio" },
	{ "step_time_s", "rooflint_workload_step_seconds", "seconds" },
};

static void put_gauge(struct out *o, const char *name, const char *help, double value)
{
	metrics_family(o, str_from(name), NULL, str_from(help));
	metrics_sample(o, str_from(name), MISSING, value);
}

/* The first `rows` of an answer, as far as they are known. */
static void put_column(const struct fleet_answer *a, const struct fleet_metric *m, ptrdiff_t rows,
	bool is_labelled, struct arena *keep, struct out *o)
{
	struct str help = a->question->columns[fleet_column(a, str_from(m->column))].meaning;
	bool is_named = false;
	for (ptrdiff_t i = 0; i < rows; i++) {
		struct out *labels = out_memory(keep);
		double value = fleet_real(a, i, m->column);
		if (isnan(value))
			continue;
		if (!is_named)
			metrics_family(o, str_from(m->name), m->unit, help);
		is_named = true;
		if (is_labelled) {
			metrics_label(labels, "workload", fleet_word(a, i, "workload"), keep);
			metrics_label(labels, "owner", fleet_word(a, i, "owner"), keep);
		}
		metrics_sample(o, str_from(m->name), out_text(labels), value);
	}
}

void report_fleet_openmetrics(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	const struct fleet_answer *missing = &r->answers[FLEET_MISSING];
	double judged, runs, newly = 0;
	fleet_coverage(r, &judged, &runs);
	put_gauge(out, "rooflint_fleet_runs", "runs of the window that were found", runs);
	put_gauge(out, "rooflint_fleet_judged_runs", "those that could be judged", judged);
	for (ptrdiff_t i = 0; i < missing->count; i++)
		newly += fleet_real(missing, i, "is_new") > 0;
	put_gauge(out, "rooflint_fleet_missing",
		"what did not come for the first time, or was expected", newly);
	for (ptrdiff_t i = 0; i < COUNT_OF(of_fleet) && fleet_has_week(r); i++)
		put_column(&r->answers[FLEET_TOTALS], &of_fleet[i], 1, false, keep, out);
	for (ptrdiff_t i = 0; i < COUNT_OF(of_workload); i++)
		put_column(&r->answers[FLEET_RANKING], &of_workload[i],
			r->answers[FLEET_RANKING].count, true, keep, out);
	out_z(out, "# EOF\n");
}
