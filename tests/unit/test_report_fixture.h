/*
 * Reports filled by hand for the tests of report/: the story of the demo (an FFN all-gather that
 * eats a training step), a run that passes, one that cannot be read, and one full of traps.
 */
#ifndef TEST_REPORT_FIXTURE_H
#define TEST_REPORT_FIXTURE_H

#include <math.h>
#include <string.h>

#include "report/report.h"

#define NONE ((struct str){ NULL, 0 })

static inline struct run_row *no_facts(struct arena *keep)
{
	struct tables t = { 0 };
	return table_new(&t, run, keep);
}

static inline struct evidence measured(
	const char *column, enum unit unit, double value, const char *meaning)
{
	return (struct evidence){ .name = str_from(column),
		.unit = unit,
		.value.real = value,
		.meaning = str_from(meaning) };
}

static inline struct evidence limit(const char *param, enum unit unit, double value)
{
	return (struct evidence){
		.name = str_from(param), .unit = unit, .value.real = value, .limit = true
	};
}

#define COPY_OF(keep, array)                                                                       \
	memcpy(arena_alloc((keep), (ptrdiff_t)sizeof(array), 8, 1), (array), sizeof(array))
#define COUNT_OF(array) ((ptrdiff_t)(sizeof(array) / sizeof((array)[0])))

static inline void add_rows(struct report *r, struct arena *keep)
{
	struct families_row *f = table_new(&r->tables, families, keep);
	f->name = STR("fusion.12");
	f->kind = STR("matmul");
	f->time_s = 0.0229;
	f->p50_s = 0.00143;
	f->attainable_s = 0.0014;
	f = table_new(&r->tables, families, keep);
	f->name = STR("all-gather.17");
	f->kind = STR("all-gather");
	f->time_s = 0.1 + 0.2; /* seventeen digits */
	struct quality_row *q = table_new(&r->tables, quality, keep);
	q->name = STR("warm-up");
	q->ok = 1;
	q->detail = STR("step 0 was left out: it holds a compilation");
	q = table_new(&r->tables, quality, keep);
	q->name = STR("hosts");
	q->ok = 0;
	q->detail = STR("2 of 4 hosts have no profile: stragglers among them cannot be seen");
	for (int id = 0; id < TABLE_COUNT; id++)
		r->row_totals[id] = (double)r->tables.items[id].count;
	r->row_totals[TABLE_families] = 4711;
}

static inline void add_plots(struct report *r, struct arena *keep)
{
	struct moment_row *m = plot_new(&r->plots, moment, keep);
	m->device = STR("/device:TPU:0");
	m->step = 41;
	m->step_s = m->shown_s = 0.0281;
	m->ops = 9;
	m->merged = 8;
	m->lanes = m->lanes_shown = 1;
	struct timeline_row *b = plot_new(&r->plots, timeline, keep);
	b->moment = 0;
	b->lane = STR("XLA Ops");
	b->activity = STR("communication");
	b->kind = STR("all-gather");
	b->name = STR("all-gather.17");
	b->start_s = 0.001;
	b->time_s = b->busy_s = 0.0123;
	b->ops = 1;
	b = plot_new(&r->plots, timeline, keep);
	b->moment = 0;
	b->lane = STR("XLA Ops");
	b->activity = STR("compute");
	b->kind = STR("matmul");
	b->name = STR("fusion.12");
	b->start_s = 0.0133;
	b->time_s = 0.0002;
	b->busy_s = 0.0001;
	b->ops = 8;
	struct curves_row *c = plot_new(&r->plots, curves, keep);
	c->source = STR("allocator");
	c->device = STR("device 0");
	c->length_s = 0.2;
	c->samples = 3;
	for (int i = 0; i < 3; i++) {
		struct usage_row *u = plot_new(&r->plots, usage, keep);
		u->source = STR("allocator");
		u->position = i * 0.25;
		u->bytes = 1e9 * (i + 1);
		u->least_bytes = 1e9;
	}
}

static inline void add_around(struct finding *f, struct arena *keep)
{
	struct neighbour around[] = {
		{ AROUND_TAKES, STR("param.3"), STR("parameter"), STR("bf16[1024,16384]{1,0}"),
			33554432 },
		{ AROUND_SELF, STR("all-gather.17"), STR("all-gather"),
			STR("bf16[8192,16384]{1,0}"), 268435456 },
		{ AROUND_GIVES, STR("fusion.12"), STR("fusion"), STR("f32[]"), NAN },
	};
	f->around.ops.items = COPY_OF(keep, around);
	f->around.ops.count = COUNT_OF(around);
	f->around.gives_left_out = 4;
}

static inline void add_demo_findings(struct report *r, struct arena *keep)
{
	struct evidence gather[] = {
		measured("exposed_share", UNIT_RATIO, 0.438, "exposed_s over the step time"),
		measured("regathers", UNIT_COUNT, 4, "times a step gathers the same array"),
		limit("far", UNIT_RATIO, 0.5),
	};
	struct evidence second[] = {
		measured("exposed_share", UNIT_RATIO, 0.214, "exposed_s over the step time"),
		limit("far", UNIT_RATIO, 0.5),
	};
	struct evidence copies[] = {
		measured("layout_copy_ratio", UNIT_RATIO, 0.034,
			"share taken by copies that only change a layout"),
		limit("near", UNIT_RATIO, 0.03),
	};
	struct str cause = STR("The partitioner gathers the whole weight matrix on every chip "
			       "before the matmul, because nothing tells it how to shard the "
			       "activations in between.");
	struct str fix = STR("Constrain the activations between the two matmuls:\n"
			     "  h = jax.lax.with_sharding_constraint(h, P('data', 'model'))\n"
			     "or gather the next layer's weights while this layer computes.");
	struct finding findings[] = {
		{ .rule = STR("oversized-all-gather"),
			.verdict = VERDICT_FAIL,
			.subject = STR("all-gather/bf16[8192,16384]/ffn"),
			.name = STR("all-gather.17"),
			.message = STR("all-gather.17 stands in the way for 12.3 ms of every step, "
				       "and gathers the same array 4 times"),
			.cause = cause,
			.fix = fix,
			.evidence = { COPY_OF(keep, gather), COUNT_OF(gather) },
			.value = 0.438,
			.gain_s = 0.0123,
			.claimed_s = 0.0123,
			.source_file = STR("model/ffn.py"),
			.source_line = 41,
			.scope = STR("jit(train_step)/transformer/ffn/dot") },
		{ .rule = STR("oversized-all-gather"),
			.verdict = VERDICT_FAIL,
			.subject = STR("all-gather/bf16[16384,8192]/ffn"),
			.name = STR("all-gather.18"),
			.message = STR("all-gather.18 stands in the way for 6.02 ms of every step"),
			.cause = cause,
			.fix = fix,
			.evidence = { COPY_OF(keep, second), COUNT_OF(second) },
			.gain_s = 0.00602,
			.value = 0.214,
			.claimed_s = 0.00602,
			.source_file = STR("model/ffn.py"),
			.source_line = 44 },
		{ .rule = STR("copy-share"),
			.verdict = VERDICT_WARN,
			.subject = STR("nightly"),
			.name = STR("nightly"),
			.message = STR("3.40% of the step only changes layouts"),
			.fix = STR("Let XLA choose the layouts of the inputs (Layout.AUTO)."),
			.evidence = { COPY_OF(keep, copies), COUNT_OF(copies) },
			.gain_s = 0.0003,
			.value = 0.034,
			.claimed_s = 0.00096,
			.shared_s = 0.00066,
			.source_line = NAN },
	};
	r->findings.items = COPY_OF(keep, findings);
	r->findings.count = COUNT_OF(findings);
	add_around(&r->findings.items[0], keep);
}

static inline struct report demo_report(struct arena *keep)
{
	struct report r = { .profile = STR("runs/nightly"),
		.verdict = VERDICT_FAIL,
		.rules = STR("recommended"),
		.gain_s = 0.01862 };
	struct run_row *run = no_facts(keep);
	run->name = STR("nightly");
	run->platform = STR("tpu");
	run->chip = STR("tpu_v5e");
	run->chips = 8;
	run->hosts = 2;
	run->hosts_expected = 4;
	run->steps = 8;
	run->step_time_s = run->step_mean_s = 0.0281;
	run->idle_ratio = 0.021;
	run->compute_ratio = 0.263;
	run->comms_exposed_ratio = 0.652;
	struct rule_result results[] = {
		{ .name = STR("matmul-roofline"),
			.title = STR("Matmuls run within 10% of their roofline"),
			.verdict = VERDICT_PASS,
			.subjects = 12 },
		{ .name = STR("oversized-all-gather"),
			.title = STR("No all-gather holds up more than a fifth of the step"),
			.says = STR("of all devices"),
			.why = STR("Waiting chips compute nothing."),
			.verdict = VERDICT_FAIL,
			.number = { .unit = UNIT_RATIO, .warn_limit = 0.2, .fail_limit = 0.5 },
			.cost = 0.65,
			.breaks = true,
			.subjects = 5,
			.unknown = 1 },
		{ .name = STR("copy-share"),
			.title = STR("Copies take at most 3% of a step"),
			.verdict = VERDICT_WARN,
			.number = { .unit = UNIT_RATIO, .warn_limit = 0.03, .fail_limit = NAN },
			.subjects = 1 },
		{ .name = STR("peak-memory"),
			.title = STR("Memory stays near what the compiler planned"),
			.verdict = VERDICT_INCONCLUSIVE,
			.subjects = 8,
			.unknown = 8,
			.reason = STR("window_peak_bytes is unknown for all 8 rows of memory"),
			.todo = STR("the profile has no allocator events; record it with host "
				    "tracing on") },
		{ .name = STR("recompiles"),
			.title = STR("Nothing compiles inside the steps"),
			.verdict = VERDICT_NOT_APPLICABLE,
			.reason = STR("no compilation was seen") },
		{ .name = STR("idle-gaps"),
			.title = STR("Devices idle at most 5% of a step"),
			.verdict = VERDICT_PASS,
			.subjects = 8 },
		{ .name = STR("tiny-ops"),
			.title = STR("Few ops are shorter than 10 us"),
			.verdict = VERDICT_OFF,
			.reason = STR("severity is off in rooflint.yaml") },
	};
	struct diag_note notes[] = {
		{ 202, STR("host1.xplane.pb: 3 events begin before the line they are on; "
			   "they were left out") },
	};
	r.facts = run;
	r.results.items = COPY_OF(keep, results);
	r.results.count = COUNT_OF(results);
	r.notes.items = COPY_OF(keep, notes);
	r.notes.count = COUNT_OF(notes);
	add_demo_findings(&r, keep);
	add_rows(&r, keep);
	add_plots(&r, keep);
	return r;
}

/* The same where nothing told steps apart: its "step" is all that was recorded. */
static inline struct report capture_report(struct arena *keep)
{
	struct report r = demo_report(keep);
	r.facts->steps_source = STR("window");
	r.facts->transfer_ratio = 0;
	for (ptrdiff_t i = 0; i < r.findings.count; i++)
		r.findings.items[i].message = STR("it is slow");
	for (ptrdiff_t i = 0; i < r.results.count; i++)
		r.results.items[i].title = NONE;
	return r;
}

static inline struct report good_report(struct arena *keep)
{
	struct report r = { .profile = STR("runs/good"),
		.verdict = VERDICT_PASS,
		.rules = STR("recommended"),
		.gain_s = 0 };
	struct run_row *run = no_facts(keep);
	run->chip = STR("h100_sxm");
	run->chips = 1;
	run->hosts = 1;
	run->steps = 1;
	run->step_time_s = run->step_mean_s = 0.5;
	struct rule_result results[] = {
		{ .name = STR("copy-share"),
			.title = STR("Copies take at most 3% of a step"),
			.verdict = VERDICT_PASS,
			.number = { 0.02, UNIT_RATIO, false, 0.03, NAN, 0.02, NAN, 1. / 3, NAN },
			.subjects = 1 },
	};
	r.facts = run;
	r.results.items = COPY_OF(keep, results);
	r.results.count = COUNT_OF(results);
	return r;
}

static inline struct report broken_report(struct arena *keep)
{
	struct report r;
	struct diag d;
	diag_set(&d, DIAG_WIRE,
		"runs/broken/host0.xplane.pb: XPlane at byte 1021: the file ends "
		"inside a field; it is cut off: copy or record it again");
	report_error(&d, STR("runs/broken"), &(struct tables){ 0 }, STR("recommended"), keep, &r);
	return r;
}

/* What no writer may let through: control codes, bad UTF-8, ends of CDATA, bidi, a whole page. */
#define HOSTILE                                                                                    \
	STR("\x1b[31mred\x1b[0m\r\n]]><!-- & \"'\xff\xc0\xaf\xed\xa0\x80\xef\xbf\xbe \xe2\x80\xae" \
	    "\x01\x7f\xc2\x9b"                                                                     \
	    "0;1m \xf0\x9f\x94\xa5 \t\0end")

/* Every text hostile, every number unknown or past all bounds, in each verdict once. */
static inline struct report hostile_report(struct arena *keep)
{
	struct report r = {
		.profile = HOSTILE, .verdict = VERDICT_FAIL, .rules = HOSTILE, .gain_s = INFINITY
	};
	struct run_row *run = no_facts(keep);
	run->name = run->chip = HOSTILE;
	run->chips = 1e300;
	struct evidence evidence[] = {
		{ .name = HOSTILE,
			.value = { .is_text = true, .text = HOSTILE },
			.meaning = HOSTILE },
		{ .name = STR("x"), .unit = UNIT_SECONDS, .value.real = INFINITY },
		{ .name = STR("y"), .value.is_null = true },
	};
	struct diag_note notes[] = { { 202, HOSTILE }, { DIAG_NONE, NONE } };
	r.facts = run;
	r.notes.items = COPY_OF(keep, notes);
	r.notes.count = COUNT_OF(notes);
	r.results.items = arena_make(keep, struct rule_result, VERDICT_OFF + 1);
	r.findings.items = arena_make(keep, struct finding, VERDICT_OFF + 1);
	for (int v = VERDICT_PASS; v <= VERDICT_OFF; v++) {
		enum verdict verdict = (enum verdict)v;
		r.results.items[r.results.count++] = (struct rule_result){ .name = HOSTILE,
			.why = HOSTILE,
			.title = HOSTILE,
			.says = HOSTILE,
			.verdict = verdict,
			.reason = HOSTILE,
			.group = HOSTILE,
			.withheld = -1,
			.number = { NAN, UNIT_RATIO, v % 2, 0, NAN, 1e300, -1, -1e300, 0 },
			.let_be = 3,
			.cost = NAN,
			.todo = HOSTILE,
			.subjects = NAN,
			.unknown = 1e300,
			.gate = v % 2,
			.demanded = v % 3,
			.breaks = v % 5 };
		r.findings.items[r.findings.count++] = (struct finding){ .rule = HOSTILE,
			.verdict = verdict,
			.subject = HOSTILE,
			.name = HOSTILE,
			.message = HOSTILE,
			.cause = HOSTILE,
			.fix = HOSTILE,
			.evidence = { COPY_OF(keep, evidence), COUNT_OF(evidence) },
			.gain_s = v == VERDICT_FAIL ? 1e300 : (double)NAN,
			.claimed_s = -1,
			.source_file = HOSTILE,
			.source_line = 1e300,
			.scope = HOSTILE,
			.missing = HOSTILE };
	}
	struct ops_row *op = table_new(&r.tables, ops, keep);
	op->name = HOSTILE;
	op->time_s = INFINITY;
	struct quality_row *q = table_new(&r.tables, quality, keep);
	q->name = HOSTILE;
	q->ok = 0;
	q->detail = HOSTILE;
	return r;
}

/* One report of each sort. */
static inline struct report_set all_reports(struct arena *keep)
{
	struct report items[] = { demo_report(keep), good_report(keep), broken_report(keep),
		hostile_report(keep),
		{ .profile = STR(""), .verdict = VERDICT_INCONCLUSIVE, .gain_s = NAN } };
	return (struct report_set){ COPY_OF(keep, items), COUNT_OF(items), STR("0.1.0") };
}

#endif
