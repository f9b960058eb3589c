/* From tables and judgement to the model: what is kept, in which order, and what is said to do. */
#include "base/text.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/keep.h"

static const struct ruleset rules = { .name = STR_INIT("recommended") };

static struct report build(const struct tables *tables, const struct judgement *judgement)
{
	struct report r;
	report_build(tables, judgement, &rules, NULL, STR("runs/x"), REPORT_WHOLE, &keep, &r);
	return r;
}

static struct report build_tables(const struct tables *tables)
{
	struct judgement j = { .gain_s = NAN };
	return build(tables, &j);
}

#define assert_str(s, z) assert_string_equal(arena_z(&keep, (s)), (z))

static void test_facts_are_the_known_columns(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct run_row *run = table_new(&t, run, &keep);
	run->chip = STR("tpu_v5e");
	run->step_time_s = run->step_mean_s = 0.0281;
	run->idle_ratio = 0;
	struct report r = build_tables(&t);
	assert_str(r.facts->chip, "tpu_v5e");
	assert_true(r.facts->step_time_s == 0.0281);
	assert_true(r.facts->idle_ratio == 0);
	assert_true(isnan(r.facts->mfu));
	assert_ptr_not_equal(r.facts, run);
	assert_str(r.rules, "recommended");
	assert_str(r.profile, "runs/x");
}

static void test_nothing(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct report r = build_tables(&t);
	assert_int_equal(r.findings.count + r.results.count + r.notes.count, 0);
	assert_int_equal(r.verdict, VERDICT_PASS);
	assert_null(r.error.text.p);
	assert_null(r.facts);
}

/* Heaviest first; unknown last; ties as they came. */
static void test_rows_by_weight(void **state)
{
	(void)state;
	static const double times[] = { 1, NAN, 3, 1, 2 };
	struct tables t = { 0 };
	for (ptrdiff_t i = 0; i < COUNT_OF(times); i++) {
		struct ops_row *op = table_new(&t, ops, &keep);
		op->name = arena_fmt(&keep, "op%d", (int)i);
		op->time_s = times[i];
	}
	struct report r = build_tables(&t);
	const struct ops_row *rows = table_rows(&r.tables, ops);
	assert_str(rows[0].name, "op2");
	assert_str(rows[1].name, "op4");
	assert_str(rows[2].name, "op0");
	assert_str(rows[3].name, "op3");
	assert_str(rows[4].name, "op1");
}

static void test_rows_are_capped(void **state)
{
	(void)state;
	struct tables t = { 0 };
	for (int i = 0; i < 1000; i++) {
		((struct collectives_row *)table_new(&t, collectives, &keep))->exposed_s = i;
		((struct quality_row *)table_new(&t, quality, &keep))->ok = i;
	}
	struct report r = build_tables(&t);
	assert_int_equal(table_count(&r.tables, collectives), REPORT_MAX_ROWS);
	assert_true(table_rows(&r.tables, collectives)[0].exposed_s == 999);
	assert_true(r.row_totals[TABLE_collectives] == 1000);
	assert_true(table_rows(&r.tables, quality)[0].ok == 0);
	assert_true(table_rows(&r.tables, quality)[199].ok == 199);
}

/* Of ops a head has those of a run that cannot be judged, and says how many there are. */
static void test_head(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct judgement j = { .gain_s = NAN };
	struct run_row *run = table_new(&t, run, &keep);
	run->evidence = STR("measured");
	for (int i = 0; i < 20; i++) {
		((struct families_row *)table_new(&t, families, &keep))->time_s = i;
		table_new(&t, ops, &keep);
		table_new(&t, quality, &keep);
	}
	for (int steps = 1; steps <= 2; steps++) {
		struct report r;
		run->steps = steps;
		report_build(&t, &j, &rules, NULL, STR("x"), REPORT_HEAD, &keep, &r);
		assert_int_equal(table_count(&r.tables, quality), 20);
		assert_int_equal(table_count(&r.tables, ops), 0);
		assert_true(r.row_totals[TABLE_ops] == 20);
		assert_int_equal(
			table_count(&r.tables, families), steps < 2 ? REPORT_SEEN_ROWS : 0);
		assert_true(steps > 1 || table_rows(&r.tables, families)[0].time_s == 19);
	}
}

static struct tables steps_of(int devices, int steps)
{
	struct tables t = { 0 };
	for (int s = 0; s < steps; s++)
		for (int d = 0; d < devices; d++) {
			struct steps_row *row = table_new(&t, steps, &keep);
			row->device = arena_fmt(&keep, "/device:TPU:%d", d);
			row->step = s;
		}
	return t;
}

static ptrdiff_t count_first(const struct report *r)
{
	ptrdiff_t n = 0;
	for (ptrdiff_t i = 0; i < table_count(&r->tables, steps); i++)
		n += str_eq(table_rows(&r->tables, steps)[i].device, STR("/device:TPU:0"));
	return n;
}

static void test_steps_of_the_first_device_stay(void **state)
{
	(void)state;
	struct tables few = steps_of(8, 20), many = steps_of(8, 100), long_run = steps_of(2, 256);
	struct report r = build_tables(&few);
	assert_int_equal(table_count(&r.tables, steps), 160);
	r = build_tables(&many);
	assert_int_equal(table_count(&r.tables, steps), REPORT_MAX_ROWS);
	assert_int_equal(count_first(&r), 100);
	assert_true(table_rows(&r.tables, steps)[199].step == 99);
	r = build_tables(&long_run);
	assert_int_equal(table_count(&r.tables, steps), REPORT_MAX_ROWS);
	assert_int_equal(count_first(&r), REPORT_MAX_ROWS);
	assert_true(table_rows(&r.tables, steps)[199].step == 254);
}

/* Rows are copies: the run may go away. */
static void test_strings_are_copied_and_clean(void **state)
{
	(void)state;
	char name[] = "a\x1b[31mb";
	struct tables t = { 0 };
	((struct ops_row *)table_new(&t, ops, &keep))->name = str_from(name);
	struct report r = build_tables(&t);
	memset(name, 'x', sizeof(name) - 1);
	assert_str(table_rows(&r.tables, ops)[0].name, "a\xef\xbf\xbd[31mb");
	assert_null(table_rows(&r.tables, ops)[0].common->kind.p);
}

static struct rule rule_named(const char *name, enum table_id from)
{
	return (struct rule){
		.name = str_from(name), .from = &table_defs[from], .severity = SEVERITY_ERROR
	};
}

static void test_finding(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct rule rule = rule_named("oversized-all-gather", TABLE_collectives);
	struct rule_param params[] = { { .name = STR("far"), .value = 0.5, .unit = UNIT_RATIO } };
	struct evidence evidence[] = {
		{ .name = STR("exposed_share"), .unit = UNIT_RATIO, .value.real = 0.4 },
		{ .name = STR("transfer_s"), .unit = UNIT_SECONDS, .value.is_null = true },
		{ .name = STR("link"), .value = { .is_text = true, .text = STR("i\tci") } },
		{ .name = STR("far"), .unit = UNIT_RATIO, .value.real = 0.5, .limit = true },
	};
	struct found_place places[] = {
		{ .subject = STR("k"), .name = STR("ag.1"), .value = 0.3 }
	};
	struct finding finding = { .rule = rule.name,
		.verdict = VERDICT_FAIL,
		.subject = STR("key"),
		.message = STR("two\nlines"),
		.evidence = { evidence, COUNT_OF(evidence) },
		.fix = STR("do this"),
		.value = 0.4,
		.places = { places, 1 },
		.gain_s = NAN };
	struct rule_result result = { .name = rule.name,
		.rule = &rule,
		.verdict = VERDICT_FAIL,
		.subjects = 5,
		.unknown = 1 };
	struct judgement j = { &result, 1, &finding, 1, 0.25, 0.25, VERDICT_FAIL, NULL, 0 };
	rule.params = params;
	rule.param_count = 1;
	struct report r = build(&t, &j);
	const struct finding *f = &r.findings.items[0];
	assert_int_equal(r.verdict, VERDICT_FAIL);
	assert_true(r.gain_s == 0.25);
	assert_str(f->rule, "oversized-all-gather");
	assert_str(f->message, "two\nlines");
	assert_str(f->fix, "do this");
	assert_true(f->value == 0.4);
	assert_int_equal(f->places.count, 1);
	assert_str(f->places.items[0].name, "ag.1");
	assert_true(f->places.items[0].value == 0.3);
	assert_null(f->cause.p);
	assert_false(f->evidence.items[0].limit);
	assert_true(f->evidence.items[1].value.is_null);
	assert_str(f->evidence.items[2].value.text, "i ci");
	assert_true(f->evidence.items[3].limit);
	assert_null(f->evidence.items[3].meaning.p);
	assert_true(r.results.items[0].unknown == 1);
	assert_null(r.results.items[0].todo.p);
}

/* The column of a table, else one that a rule's own SELECT makes. */
static const struct column *any_column(struct str name)
{
	const struct column *c = NULL;
	for (int i = 0; i < TABLE_COUNT && !c; i++)
		c = table_column(&table_defs[i], name);
	struct column *made = arena_make(&keep, struct column, 1);
	made->name = name;
	return c ? c : made;
}

/* A judgement of one rule that lacks these columns; what to do about it. */
static struct str todo(
	struct tables *t, struct rule_result *results, ptrdiff_t count, const char *missing)
{
	struct finding finding = { .rule = results[0].name, .verdict = VERDICT_INCONCLUSIVE };
	struct str names = str_from(missing), name;
	while (str_next(&names, ',', &name))
		*arena_push(&keep, finding.unknown.items, finding.unknown.count,
			finding.unknown.cap) = (struct column_read){ NULL, any_column(name) };
	struct judgement j = { results, count, &finding, missing ? 1 : 0, NAN, NAN,
		VERDICT_INCONCLUSIVE, NULL, 0 };
	struct report r = build(t, &j);
	assert_int_equal(r.verdict, VERDICT_INCONCLUSIVE);
	return r.results.items[0].todo;
}

static void test_what_to_do(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct rule rule = rule_named("matmul-roofline", TABLE_families);
	struct rule gate = rule_named("evidence-coverage", TABLE_run);
	struct rule_result results[] = {
		{ .name = rule.name, .rule = &rule, .verdict = VERDICT_INCONCLUSIVE },
		{ .name = gate.name, .rule = &gate, .gate = true, .verdict = VERDICT_INCONCLUSIVE }
	};
	const struct rule *needed[] = { &gate };
	gate.gate = true;
	rule.gates = needed;
	rule.gate_count = 1;
	struct run_row *run = table_new(&t, run, &keep);
	assert_true(str_starts(
		todo(&t, results, 1, "lo_s,attainable_s"), STR("Record a few whole steps")));
	assert_true(str_starts(todo(&t, results, 1, "attainable_s"), STR("Name the chip with")));
	run->chip = STR("h100_sxm");
	assert_true(
		str_starts(todo(&t, results, 1, "attainable_s"), STR("The program (HLO) is not")));
	assert_str(todo(&t, results, 2, NULL),
		"Settle 'evidence-coverage' first: what relies on it is not judged before.");
	results[1].verdict = VERDICT_PASS;
	assert_true(
		str_starts(todo(&t, results, 1, "name,steps"), STR("Record a few whole steps")));
	assert_str(todo(&t, results, 2, NULL),
		"`rooflint explain -v matmul-roofline` lists what it reads.");
}

/* A gate's own finding says what to do, not one that only warns; a check that knows it, first. */
static void test_what_closed_a_gate(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct rule gate = rule_named("data-quality", TABLE_quality);
	struct rule_result result = { .name = gate.name,
		.rule = &gate,
		.gate = true,
		.lacks = STR("no-dropped-events"),
		.verdict = VERDICT_INCONCLUSIVE };
	struct finding findings[] = {
		{ .rule = gate.name, .verdict = VERDICT_WARN, .fix = STR("copy the others") },
		{ .rule = gate.name, .verdict = VERDICT_INCONCLUSIVE, .fix = STR("again") },
	};
	struct judgement j = { &result, 1, findings, COUNT_OF(findings), NAN, NAN,
		VERDICT_INCONCLUSIVE, NULL, 0 };
	gate.gate = true;
	table_new(&t, run, &keep);
	assert_str(build(&t, &j).results.items[0].todo, "again");
	struct quality_row *quality = table_new(&t, quality, &keep);
	quality->name = result.lacks;
	quality->todo = STR("record less");
	assert_str(build(&t, &j).results.items[0].todo, "record less");
}

/* What a capture lacks is said of captures that lack it, and of no other. */
static void test_what_is_lacking(void **state)
{
	enum { HLO = 1, HOST = 2, STEPS = 4, CHIP = 8, WHOLE = HLO | HOST | STEPS | CHIP };
	static const struct {
		const char *column, *format, *platform;
		int has;
		const char *todo;
	} cases[] = {
		{ "flops", "xplane", "tpu", WHOLE & ~HLO,
			"The program (HLO) is not in the profile" },
		{ "flops", "xplane", "tpu", WHOLE, "The program does not say what" },
		{ "flops", "nsys", "nvidia", WHOLE & ~HLO, "Exports do not hold the program" },
		{ "flops", "nsys", "nvidia", WHOLE, "The program does not say what" },
		{ "attainable_s", "trace", "tpu", WHOLE & ~CHIP, "Name the chip with" },
		{ "attainable_s", "trace", "tpu", WHOLE & ~HLO, "Exports do not hold the program" },
		/* What a rule's own SELECT makes is the rule's to explain. */
		{ "unsized", "xplane", "tpu", WHOLE, "`rooflint explain -v any`" },
		{ "expected_hi_s", "nsys", "nvidia", WHOLE & ~HLO, "Exports do not hold" },
		{ "expected_hi_s", "xplane", "tpu", WHOLE, "Where the job file contradicts" },
		{ "expected_hi_s", "xplane", "tpu", WHOLE & ~HLO, "The program (HLO) is not" },
		{ "input_wait_ratio", "xplane", "tpu", WHOLE & ~HOST,
			"Record it with host tracing" },
		{ "input_wait_ratio", "xplane", "tpu", WHOLE & ~STEPS, "Record a few whole steps" },
		{ "compiles_in_steps", "xplane", "tpu", WHOLE & ~HOST, "Record it with host" },
		{ "window_peak_bytes", "nsys", "nvidia", WHOLE & ~HLO, "Exports hold no memory" },
		{ "window_peak_bytes", "xplane", "cpu", WHOLE,
			"Nothing: XLA records no allocator" },
		{ "window_peak_bytes", "xplane", "tpu", WHOLE,
			"The profile has no allocator events" },
		{ "layout_copy_ratio", "xplane", "tpu", WHOLE & ~HLO,
			"The program (HLO) is not in" },
		{ "layout_copy_ratio", "xplane", "tpu", WHOLE, "`rooflint explain -v any`" },
		{ "step_time_s", "xplane", "tpu", WHOLE & ~STEPS, "Record a few whole steps" },
	};
	(void)state;
	for (ptrdiff_t i = 0; i < COUNT_OF(cases); i++) {
		struct tables t = { 0 };
		struct rule rule = rule_named("any", TABLE_run);
		struct rule_result result = {
			.name = rule.name, .rule = &rule, .verdict = VERDICT_INCONCLUSIVE
		};
		struct run_row *run = table_new(&t, run, &keep);
		struct files_row *file = table_new(&t, files, &keep);
		struct quality_row *quality = table_new(&t, quality, &keep);
		run->platform = str_from(cases[i].platform);
		run->evidence = STR("measured");
		run->steps = cases[i].has & STEPS ? 9 : 1;
		run->chip = cases[i].has & CHIP ? STR("h100_sxm") : (struct str){ 0 };
		if (cases[i].has & HOST)
			run->compiles_in_steps = 0;
		file->format = str_from(cases[i].format);
		quality->name = STR("hlo-present");
		quality->ok = (cases[i].has & HLO) != 0;
		struct str said = todo(&t, &result, 1, cases[i].column);
		if (!str_starts(said, str_from(cases[i].todo)))
			fail_msg("%s of %s: %.*s", cases[i].column, cases[i].format, STR_ARG(said));
	}
}

/* Every column that can be unknown has an answer to "what now?", or a reason to have none. */
static void test_advice_knows_its_columns(void **state)
{
	(void)state;
	static const char *const read_by_rules[] = { "attainable_s", "efficiency", "t_math_s",
		"expected_hi_s", "padding_ratio", "compiled_bytes", "window_peak_bytes",
		"capacity_bytes", "owner_bytes", "transfer_s", "layout_copy_ratio", "judged_ratio",
		"unattributed_ratio", "steps", "idle_ratio", "comms_exposed_ratio", "exposed_share",
		"step_share", "tiny_ops_ratio", "mfu", "regathers", "all_hosts_read", "whole_hlo",
		"compiles_in_steps", "remat_flops_ratio" };
	struct tables t = { 0 };
	struct rule rule = rule_named("any", TABLE_run);
	struct rule_result result = {
		.name = rule.name, .rule = &rule, .verdict = VERDICT_INCONCLUSIVE
	};
	for (ptrdiff_t i = 0; i < COUNT_OF(read_by_rules); i++)
		if (str_starts(todo(&t, &result, 1, read_by_rules[i]), STR("`rooflint explain -v")))
			fail_msg("no advice for %s", read_by_rules[i]);
}

/* Where no program of XLA ran, nothing is advised that only JAX can do. */
static void test_advice_fits_the_framework(void **state)
{
	(void)state;
	static const char *const columns[] = { "attainable_s", "compiled_bytes", "steps",
		"idle_ratio", "comms_exposed_ratio", "layout_copy_ratio", "window_peak_bytes",
		"input_wait_ratio", "step_time_s" };
	static const char *const formats[] = { "xplane", "nsys" };
	for (ptrdiff_t f = 0; f < COUNT_OF(formats); f++) {
		struct tables t = { 0 };
		struct rule rule = rule_named("any", TABLE_run);
		struct rule_result result = {
			.name = rule.name, .rule = &rule, .verdict = VERDICT_INCONCLUSIVE
		};
		struct run_row *run = table_new(&t, run, &keep);
		struct files_row *file = table_new(&t, files, &keep);
		run->platform = STR("nvidia");
		run->evidence = STR("measured");
		run->compiler = STR("none");
		run->chip = STR("h100_sxm");
		run->compiles_in_steps = 0;
		file->format = str_from(formats[f]);
		for (ptrdiff_t i = 0; i < COUNT_OF(columns); i++) {
			struct str said = todo(&t, &result, 1, columns[i]);
			if (str_contains(said, STR("jax")))
				fail_msg("%s of %s: %.*s", columns[i], formats[f], STR_ARG(said));
		}
		assert_true(str_contains(
			todo(&t, &result, 1, "steps"), f ? STR("NVTX") : STR("tf.profiler")));
	}
}

/* A verdict that a whole run cannot have is open, never green. */
static void test_odd_verdict(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct judgement j = { .gain_s = NAN, .verdict = VERDICT_OFF };
	assert_int_equal(build(&t, &j).verdict, VERDICT_INCONCLUSIVE);
}

static void test_notes(void **state)
{
	(void)state;
	struct tables t = { 0 };
	struct judgement j = { .gain_s = NAN };
	struct diag_list list = { .count = 1, .dropped = 12 };
	struct report r;
	list.items[0].id = DIAG_XPLANE;
	list.items[0].text = STR("odd");
	report_build(&t, &j, &rules, &list, STR("x"), REPORT_WHOLE, &keep, &r);
	assert_int_equal(r.notes.count, 2);
	assert_int_equal(r.notes.items[0].id, 202);
	assert_str(r.notes.items[0].text, "odd");
	assert_str(r.notes.items[1].text, "12 more remarks were left out");
}

static void test_error(void **state)
{
	(void)state;
	struct report r = broken_report(&keep);
	assert_int_equal(r.verdict, VERDICT_ERROR);
	assert_int_equal(r.error.id, 201);
	assert_true(isnan(r.gain_s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts_are_the_known_columns),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_rows_by_weight),
		cmocka_unit_test(test_rows_are_capped),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_steps_of_the_first_device_stay),
		cmocka_unit_test(test_strings_are_copied_and_clean),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_what_to_do),
		cmocka_unit_test(test_what_closed_a_gate),
		cmocka_unit_test(test_what_is_lacking),
		cmocka_unit_test(test_advice_knows_its_columns),
		cmocka_unit_test(test_advice_fits_the_framework),
		cmocka_unit_test(test_odd_verdict),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_error),
	};
	return cmocka_run_group_tests_name("report_build", tests, keep_begin, keep_end);
}
