/*
 * Facts of a report.  See facts.h.
 *
 * What a profile does not say of itself is taken from where it lies: a log directory is a workload,
 * and a run directory bears its date.
 */
#include "report/facts.h"

#include <math.h>

#include "base/sha256.h"
#include "base/stats.h"
#include "base/when.h"
#include "report/model.h"

/* ---- where it lies --------------------------------------------------------------------------- */

/* Always written the same way. */
struct str report_moment(
	struct str profile, struct str name, struct str captured, struct arena *keep)
{
	int64_t ns;
	bool is_told = when_parse(captured, &ns) || when_parse_run(path_base(profile), &ns) ||
		       when_parse_run(name, &ns);
	return is_told ? when_text(keep, ns) : MISSING;
}

static void take_identity(const struct report *r, struct arena *keep, struct run_facts *ret)
{
	struct str name = run_of(r)->name;
	struct sha256 h = sha256_new();
	ret->profile = r->profile;
	ret->run = run_of(r)->fingerprint;
	if (!ret->run.p) { /* it could not be read, so only its place tells it apart */
		sha256_field(&h, r->profile);
		sha256_field(&h, name);
		ret->run = sha256_id(&h, keep);
	}
	ret->workload = report_workload(r->profile, name);
	struct str said = run_of(r)->captured;
	int64_t ns;
	ret->captured = report_moment(r->profile, name, said, keep);
	if (ret->captured.p)
		ret->captured_source =
			when_parse(said, &ns) && !r->error.text.p ? STR("profile") : STR("name");
}

/* ---- what was measured ----------------------------------------------------------------------- */

/* Columns of the run table that facts have under the same name. */
static void take_columns(const struct report *r, struct run_facts *ret)
{
	const struct table_def *def = &fact_forms[FACT_RUN].table;
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		const struct column *run = table_column(&table_defs[TABLE_run], c->name);
		if (!run || run->type != c->type)
			continue;
		if (c->type == COLUMN_REAL)
			cell_set_real(c, ret, cell_real(run, run_of(r)));
		else if (!cell_text(c, ret).p)
			cell_set_text(c, ret, cell_text(run, run_of(r)));
	}
}

static void take_phases(const struct report *r, struct run_facts *ret)
{
	const struct phases_row *rows = table_rows(&r->tables, phases);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, phases); i++)
		if (rows[i].is_judged > 0)
			ret->steps_ratio = (isnan(ret->steps_ratio) ? 0 : ret->steps_ratio) +
					   rows[i].time_share;
}

/* ---- what the rules said --------------------------------------------------------------------- */

/* The costliest finding comes first in its rule. */
static void take_findings(
	const struct report *r, const struct rule_result *rule, struct rule_facts *ret)
{
	ret->findings = 0;
	for (ptrdiff_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];
		/* What a failed rule only warns of costs, too. */
		bool is_counted = f->verdict == rule->verdict ||
				  (rule->verdict == VERDICT_FAIL && f->verdict == VERDICT_WARN);
		if (!str_eq(f->rule, rule->name) || !is_counted)
			continue;
		if (ret->findings++ == 0) {
			ret->message = f->message;
			ret->note = f->note;
			ret->waiver_ends = f->waiver_ends;
			ret->source_file = f->source_file;
			ret->source_line = f->source_line;
		}
		if (!isnan(f->gain_s))
			ret->gain_s = (isnan(ret->gain_s) ? 0 : ret->gain_s) + f->gain_s;
	}
}

static void take_rules(const struct report *r, struct arena *keep, struct run_facts *ret)
{
	for (ptrdiff_t i = 0; i < r->results.count; i++) {
		const struct rule_result *result = &r->results.items[i];
		if (result->verdict == VERDICT_OFF)
			continue;
		struct rule_facts *rule = run_facts_add(ret, FACT_RULES, keep);
		rule->rule = result->name;
		rule->title = result->title;
		rule->verdict = verdict_name(result->verdict);
		/* The gate's own record has the reason for all that it holds up. */
		if (!result->closed_gate.p)
			rule->reason = reason_of(result, keep);
		rule->closed_gate = result->closed_gate;
		rule->subjects = result->subjects;
		rule->rule_group = result->group;
		rule->value = result->number.value;
		rule->warn_limit = result->number.warn_limit;
		rule->fail_limit = result->number.fail_limit;
		rule->warn_headroom = result->number.warn_headroom;
		rule->fail_headroom = result->number.fail_headroom;
		take_findings(r, result, rule);
	}
}

/* ---- devices --------------------------------------------------------------------------------- */

static int by_slowness(const void *a, const void *b)
{
	const struct device_facts *x = a, *y = b;
	int order = order_numbers(y->slowness, x->slowness);
	order = order ? order : str_cmp(x->host, y->host);
	return order ? order : str_cmp(x->device, y->device);
}

/*
 * A CPU is no chip, and a device without a host's name is no machine that could be found.  All wait
 * for what the slowest computes longer than the median, whose compute time is the mean over devices
 * without their slowness.
 */
static void take_devices(const struct report *r, struct arena *keep, struct run_facts *ret)
{
	const struct devices_row *rows = table_rows(&r->tables, devices);
	double compute_s = run_of(r)->compute_ratio * run_of(r)->step_mean_s;
	double slowness = 0;
	ptrdiff_t compared = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, devices); i++)
		if (rows[i].slowness > 0) {
			slowness += rows[i].slowness;
			compared++;
		}
	for (ptrdiff_t i = 0; i < table_count(&r->tables, devices); i++) {
		const struct devices_row *row = &rows[i];
		if (!row->host.len || !(row->slowness > 0) || str_eq(ret->platform, STR("cpu")))
			continue;
		struct device_facts *d = run_facts_add(ret, FACT_DEVICES, keep);
		d->host = row->host;
		d->device = row->device;
		d->slowness = row->slowness;
		d->lost_s = fmax(0, row->slowness - 1) * compute_s / slowness * (double)compared;
	}
	sort_by(run_devices(ret), run_device_count(ret), by_slowness);
	if (run_device_count(ret) > FACTS_MAX_ROWS)
		run_device_count(ret) = FACTS_MAX_ROWS;
}

void report_facts(const struct report *r, struct str judge, struct str tool, struct arena *keep,
	struct run_facts *ret)
{
	run_facts_clear(ret);
	take_identity(r, keep, ret);
	take_columns(r, ret);
	take_phases(r, ret);
	const struct quality_row *checks = table_rows(&r->tables, quality);
	struct out *broken = out_memory(keep);
	for (ptrdiff_t i = 0; i < table_count(&r->tables, quality); i++)
		if (checks[i].ok == 0)
			out_str(out_part(broken, ","), checks[i].name);
	if (out_text(broken).len)
		ret->quality = out_text(broken);
	ret->judge = judge;
	ret->rules = r->rules;
	ret->tool = tool;
	ret->verdict = verdict_name(r->verdict);
	ret->gain_s = r->gain_s;
	ret->error_id = diag_name(r->error.id, keep);
	ret->error = r->error.text;
	take_rules(r, keep, ret);
	take_devices(r, keep, ret);
	run_facts_seal(ret, keep);
}
