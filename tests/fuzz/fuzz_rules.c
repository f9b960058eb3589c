/*
 * Rule files: any text gives a rule set or a diagnostic, and a rule set can judge: the tables below
 * hold numbers, texts that look like SQL, NULLs and extremes.  Text behind "assert:" or "select:"
 * is an expression or a SELECT of a rule that is fine otherwise, which lets a fuzzer spend its time
 * on SQL instead of YAML.
 *
 * What must hold of any judgement: gains that exist are not negative, and together they do not
 * exceed the step; a rule without a passing subject does not pass.
 */
#include <math.h>

#include "base/out.h"
#include "rules/engine.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/rules_text.h"

/* Enough for rules over three rows a table; joins that explode must end soon. */
enum { STEPS = 200000, STEP_TIME_S = 1 };

static void fill_row(const struct table_def *def, void *row, int variant)
{
	static const double numbers[] = { 0, 1, 0.25, -1, 1e308, 5e-324 };
	static const struct str texts[] = { STR_INIT("x"), STR_INIT(""), STR_INIT("'||(1)||'"),
		STR_INIT("\xc3\xa9{name}") };

	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		struct str words = str_from(c->words), word;
		ptrdiff_t pick = i + variant;

		if (pick % 4 == 3)
			continue; /* stays NULL */
		if (c->type == COLUMN_REAL) {
			cell_set_real(c, row, numbers[pick % 6]);
		} else if (words.p) {
			str_cut(words, '|', &word, &words);
			cell_set_text(c, row, word);
		} else {
			cell_set_text(c, row, texts[pick % 4]);
		}
	}
}

static void fill(struct tables *t, struct arena *keep)
{
	for (int id = 0; id < TABLE_COUNT; id++)
		for (int k = 0; k < (id == TABLE_run ? 1 : 3); k++)
			fill_row(&table_defs[id], table_add(t, (enum table_id)id, keep), k);
	table_rows(t, run)->step_time_s = table_rows(t, run)->step_mean_s = STEP_TIME_S;
	table_rows(t, run)->roofline_ratio_lo = NAN;
}

static void check(const struct judgement *j)
{
	double sum = 0;

	for (ptrdiff_t i = 0; i < j->finding_count; i++) {
		const struct finding *f = &j->findings[i];

		if (f->gain_s < 0 || f->gain_s > f->claimed_s || !f->message.p)
			abort();
		if (!isnan(f->gain_s))
			sum += f->gain_s;
	}
	if (sum > STEP_TIME_S * (1 + 1e-9))
		abort();
	for (ptrdiff_t i = 0; i < j->result_count; i++)
		if (j->results[i].verdict == VERDICT_PASS && !(j->results[i].subjects > 0))
			abort();
}

static void judge_with(const struct ruleset *set, struct arena *keep)
{
	struct diag err = { .id = DIAG_NONE };
	struct tables tables = { 0 };
	struct judge_context context = { .today = STR_INIT("2026-01-01") };
	struct judgement j;

	set->engine->least_steps = STEPS;
	fill(&tables, keep);
	for (int again = 0; again < 2; again++) {
		if (judge(set, &tables, &context, keep, &j, &err))
			check(&j);
		else if (err.id == DIAG_NONE || !err.text[0])
			abort();
	}
}

/* The text as a block scalar: its lines indented, so that none of it can be YAML. */
static struct str indented(struct arena *keep, struct str text)
{
	struct out *o = out_memory(keep);
	struct str line;

	while (text.p) {
		str_cut(text, '\n', &line, &text);
		out_z(o, "\n      ");
		out_str(o, line);
	}
	return out_text(o);
}

static struct str rule_file(struct arena *keep, struct str text)
{
	static const char head[] = "version: 1\nrules:\n  r:\n    ";

	if (str_take(&text, STR("assert:")))
		return arena_fmt(keep,
			"%sfrom: ops\n    params: { limit: 1 }\n    warn: p50_s < "
			":limit\n    gain: p50_s\n    assert: |%.*s\n",
			head, STR_ARG(indented(keep, text)));
	if (str_take(&text, STR("select:")))
		return arena_fmt(keep, "%sassert: 1 = 2\n    gain: '1'\n    select: |%.*s\n", head,
			STR_ARG(indented(keep, text)));
	return text;
}

static void fuzz(struct str bytes, struct arena *keep)
{
	struct diag err = { .id = DIAG_NONE };
	struct engine *engine = engine_new(&err);
	struct ruleset set;
	struct str text = rule_file(keep, arena_str(keep, bytes));
	if (!engine)
		abort();
	if (ruleset_parse(engine, STR("fuzz.yaml"), text, keep, &set, &err))
		judge_with(&set, keep);
	else if (err.id == DIAG_NONE || !err.text[0])
		abort();
	engine_free(engine);
}
