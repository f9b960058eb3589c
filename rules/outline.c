/*
 * The texts of a rule for those who read about it before it found anything: see ruleset.h.
 *
 * They are filled like a finding's, from a row whose cells are all NULL.  A number then reads
 * "...", and what a text says only of some runs is left out.
 */
#include "rules/trial.h"

#include <math.h>

#include "base/text.h"

static struct list outline_list(
	const struct trial *t, const struct advice_code *items, const struct advice_list *list)
{
	struct list ret = { 0 };

	for (ptrdiff_t i = 0; i < list->count; i++) {
		struct str text =
			template_fill(&items[i].text, t->rule, &t->code->texts, true, t->s->keep);

		if (!NAMED(ret.items, ret.count, text))
			list_add(&ret, text, t->s->keep);
	}
	return ret;
}

bool rule_outline(const struct ruleset *set, const struct rule *rule, struct arena *keep,
	struct rule_outline *ret, struct diag *err)
{
	const struct judge_context context = { .profile = STR("PROFILE"),
		.baseline = STR("BASELINE") };
	struct judgement nothing = { .explained = NAN };
	struct tables tables = { 0 };
	struct table row = { 0 };
	struct judging s = { .rules = set,
		.tables = &tables,
		.context = &context,
		.keep = keep,
		.ret = &nothing,
		.ok = true,
		.err = err };
	struct trial t = { .s = &s, .rule = rule, .code = rule->code };
	struct listing *texts = &t.code->texts;

	if (!rule_rest_want(rule, err))
		return false;
	engine_show(set->engine, &tables, NULL);
	table_new(&tables, run, keep); /* all its cells are NULL, too */
	const struct subject unknown = {
		.row = rows_add(&row, texts->rows, keep), .value = NAN, .unclear = NAN, .gain = NAN
	};
	if (texts->result_count &&
		(!trial_prepare(&t, texts, &unknown) ||
			!trial_ended(&t, texts, sqlite3_step(texts->stmt), SQLITE_ROW)))
		return false;
	*ret = (struct rule_outline){ outline_list(&t, t.code->cause, &rule->cause),
		outline_list(&t, t.code->fix, &rule->fix),
		outline_list(&t, t.code->only_warns, &rule->only_warns), t.code->is_bytes };
	sqlite3_reset(texts->stmt);
	engine_show(set->engine, NULL, NULL);
	return true;
}
