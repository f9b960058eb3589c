/*
 * The fleet as OpenMetrics: what a dashboard plots from week to week.
 *
 * Gauges without timestamps.  Labels are names of workloads and owners.  The ranking has at most
 * FLEET_MAX_ROWS rows.
 */
#include "report/fleet.h"
#include "report/metrics.h"

struct metric {
	struct str column, name;
	const char *unit;
};

static const struct metric of_fleet[] = {
	{ STR_INIT("workloads"), STR_INIT("rooflint_fleet_workloads"), NULL },
	{ STR_INIT("chips"), STR_INIT("rooflint_fleet_chips"), NULL },
	{ STR_INIT("chips_back"), STR_INIT("rooflint_fleet_recoverable_chips"), NULL },
	{ STR_INIT("chip_hours_back"), STR_INIT("rooflint_fleet_recoverable_chip_hours"), NULL },
	{ STR_INIT("dollars_back"), STR_INIT("rooflint_fleet_recoverable_dollars"), "dollars" },
	{ STR_INIT("listed_hours"), STR_INIT("rooflint_fleet_billed_chip_hours"), NULL },
	{ STR_INIT("listed_dollars"), STR_INIT("rooflint_fleet_billed_dollars"), "dollars" },
	{ STR_INIT("share"), STR_INIT("rooflint_fleet_recoverable_ratio"), "ratio" },
	{ STR_INIT("roofline_ratio"), STR_INIT("rooflint_fleet_roofline_ratio"), "ratio" },
	{ STR_INIT("mfu"), STR_INIT("rooflint_fleet_mfu_ratio"), "ratio" },
	{ STR_INIT("new_problems"), STR_INIT("rooflint_fleet_new_problems"), NULL },
	{ STR_INIT("slower"), STR_INIT("rooflint_fleet_slower_workloads"), NULL },
};
static const struct metric of_workload[] = {
	{ STR_INIT("share"), STR_INIT("rooflint_workload_recoverable_ratio"), "ratio" },
	{ STR_INIT("chips_back"), STR_INIT("rooflint_workload_recoverable_chips"), NULL },
	{ STR_INIT("dollars_back"), STR_INIT("rooflint_workload_recoverable_dollars"), "dollars" },
	{ STR_INIT("roofline_ratio"), STR_INIT("rooflint_workload_roofline_ratio"), "ratio" },
	{ STR_INIT("step_time_s"), STR_INIT("rooflint_workload_step_seconds"), "seconds" },
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct str help_of(const struct fleet_answer *a, const struct metric *m)
{
	return a->question->columns[fleet_column(a, m->column)].meaning;
}

static void put_value(struct out *o, double value)
{
	out_char(o, ' ');
	out_double(o, value);
	out_char(o, '\n');
}

static void put_gauge(struct out *o, struct str name, const char *help, double value)
{
	metrics_family(o, name, NULL, str_from(help));
	out_str(o, name);
	put_value(o, value);
}

static void put_fleet(const struct fleet_answer *a, const struct metric *m, struct out *o)
{
	const struct fleet_cell *cell = fleet_cell(a, 0, m->column);
	if (cell->is_null)
		return;
	metrics_family(o, m->name, m->unit, help_of(a, m));
	out_str(o, m->name);
	put_value(o, cell->real);
}

static void put_workloads(
	const struct fleet_answer *a, const struct metric *m, struct arena *keep, struct out *o)
{
	bool is_named = false;
	for (ptrdiff_t i = 0; i < a->count; i++) {
		const struct fleet_cell *cell = fleet_cell(a, i, m->column);
		if (cell->is_null)
			continue;
		if (!is_named)
			metrics_family(o, m->name, m->unit, help_of(a, m));
		is_named = true;
		out_fmt(o, "%.*s{", STR_ARG(m->name));
		metrics_label(o, "workload", fleet_cell(a, i, STR("workload"))->text, keep);
		out_char(o, ',');
		metrics_label(o, "owner", fleet_cell(a, i, STR("owner"))->text, keep);
		out_char(o, '}');
		put_value(o, cell->real);
	}
}

void report_fleet_openmetrics(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	const struct fleet_answer *missing = &r->answers[FLEET_MISSING];
	double judged, runs, newly = 0;
	fleet_coverage(r, &judged, &runs);
	put_gauge(out, STR("rooflint_fleet_runs"), "runs of the window that were found", runs);
	put_gauge(out, STR("rooflint_fleet_judged_runs"), "those that could be judged", judged);
	for (ptrdiff_t i = 0; i < missing->count; i++)
		newly += fleet_cell(missing, i, STR("is_new"))->real > 0;
	put_gauge(out, STR("rooflint_fleet_missing"),
		"what did not come for the first time, or was expected", newly);
	for (size_t i = 0; i < COUNT(of_fleet) && fleet_has_week(r); i++)
		put_fleet(&r->answers[FLEET_TOTALS], &of_fleet[i], out);
	for (size_t i = 0; i < COUNT(of_workload); i++)
		put_workloads(&r->answers[FLEET_RANKING], &of_workload[i], keep, out);
	out_z(out, "# EOF\n");
}
