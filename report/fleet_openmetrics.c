/*
 * The fleet as OpenMetrics: what a dashboard plots from week to week.
 *
 * Gauges without timestamps.  Labels are names of workloads and owners.  The ranking has at most
 * FLEET_MAX_ROWS rows.
 */
#include <math.h>

#include "report/fleet.h"
#include "report/metrics.h"
#include "report/model.h"

/* What is told of a column; `unit` is what the name ends in, or NULL. */
struct metric {
	const char *column, *name, *unit;
};

static const struct metric of_fleet[] = {
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
static const struct metric of_workload[] = {
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
static void put_metric(const struct fleet_answer *a, const struct metric *m, ptrdiff_t rows,
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
		put_metric(&r->answers[FLEET_TOTALS], &of_fleet[i], 1, false, keep, out);
	for (ptrdiff_t i = 0; i < COUNT_OF(of_workload); i++)
		put_metric(&r->answers[FLEET_RANKING], &of_workload[i],
			r->answers[FLEET_RANKING].count, true, keep, out);
	out_z(out, "# EOF\n");
}
