/* store/facts: what is written is read again, and what was cut or edited is refused. */
#include <math.h>

#include "base/input.h"
#include "tests/unit/facts_fixture.h"
#include "tests/unit/keep.h"
#include "tests/unit/manual.h"

static struct str two_runs(void)
{
	struct out *o = out_memory(&keep);
	struct run_facts a = fixture_run(&keep, STR("a"), STR("2026-01-01T00:00:00.000Z"), 0.1);
	struct run_facts b = fixture_run(&keep, STR("b"), STR("2026-01-02T00:00:00.000Z"), 1.0 / 3);
	run_facts_write(&a, o);
	run_facts_write(&b, o);
	return out_text(o);
}

static bool write_again(void *arg, const struct run_facts *f, struct diag *err)
{
	(void)err;
	run_facts_write(f, arg);
	return true;
}

static bool read_again(struct str text, struct out *o, struct diag *err)
{
	const struct input in = input_memory(STR("f"), text);
	return run_facts_read(&in, write_again, o, err);
}

static void same_again(void **state)
{
	(void)state;
	struct diag err;
	struct str text = two_runs();
	struct out *o = out_memory(&keep);
	assert_true(read_again(text, o, &err));
	assert_true(str_eq(out_text(o), text));
	assert_true(str_contains(text, STR("\"step_time_s\":0.3333333333333333,")));
	assert_true(str_contains(text, STR("\"owner\":\"team \\\"a\\\"\",")));
	assert_false(str_contains(text, STR("null")));
}

static void hash_is_of_content(void **state)
{
	(void)state;
	struct run_facts a = fixture_run(&keep, STR("a"), STR("2026-01-01T00:00:00.000Z"), 0.1);
	struct str hash = a.hash;
	run_facts_seal(&a, &keep);
	assert_true(str_eq(a.hash, hash));
	run_rules(&a)->subjects = 0; /* known now */
	run_facts_seal(&a, &keep);
	assert_false(str_eq(a.hash, hash));
	run_rules(&a)->subjects = NAN;
	a.owner.p = NULL;
	run_facts_seal(&a, &keep);
	assert_false(str_eq(a.hash, hash));
}

static void refuses(struct str text, const char *says)
{
	struct diag err;
	struct out *o = out_memory(&keep);
	assert_false(read_again(text, o, &err));
	assert_int_equal(err.id, DIAG_FACTS);
	if (!str_contains(str_from(err.text), str_from(says)))
		fail_msg("%s", err.text);
}

/* `text` with the first `from` replaced. */
static struct str edited(struct str text, struct str from, const char *to)
{
	ptrdiff_t at = str_find(text, from);
	assert_true(at >= 0);
	struct str tail = str_from_offset(text, at + from.len);
	return arena_fmt(&keep, "%.*s%s%.*s", STR_ARG(str_head(text, at)), to, STR_ARG(tail));
}

#define VERSION_NOW "\"version\":\"" FACTS_VERSION "\""

static void damaged(void **state)
{
	(void)state;
	struct str text = two_runs(), line, rest;
	str_cut(text, '\n', &line, &rest);
	refuses(rest, "f:1: a record of a rule or a device does not follow its run's");
	refuses(str_head(text, text.len - 10), "f:4: not a JSON object");
	refuses(line, "f:1: what ends here is a run that does not fit its hash");
	refuses(edited(text, STR("\"chips\":8"), "\"chips\":9"), "f:3: what ends here");
	refuses(edited(text, STR("\"chips\":8"), "\"chips\":\"8\""), "f:1: chips is no number");
	refuses(edited(text, STR("\"chip\":\"tpu_v5e\""), "\"chip\":{}"), "f:1: chip is no text");
	refuses(edited(text, STR("\"record\":\"run\""), "\"record\":1"), "f:1: no record");
	refuses(edited(text, STR(VERSION_NOW), "\"version\":\"1.1\""), "another version");
	refuses(STR("[1]"), "f:1: no record");
}

/* A newer minor version has columns that we do not know, and its hash covers them. */
static void newer_minor(void **state)
{
	(void)state;
	struct diag err;
	struct str text =
		edited(two_runs(), STR(VERSION_NOW), "\"colour\":\"red\",\"version\":\"2.9\"");
	struct out *o = out_memory(&keep);
	assert_true(read_again(text, o, &err));
	assert_true(str_contains(out_text(o), STR("\"version\":\"2.9\"")));
}

/* "run, rule" */
static struct str records_with(struct str column)
{
	struct out *o = out_memory(&keep);
	for (const struct fact_form *f = fact_forms; f < fact_forms + FACT_RECORDS; f++)
		if (str_eq(column, STR("hash")) || table_column(&f->table, column))
			out_str(out_part(o, ", "), f->word);
	return out_text(o);
}

static void manual_is_kept(void **state)
{
	(void)state;
	static const char page[] = "docs/facts.md";
	struct str kept = manual_kept(page);
	struct out *o = out_memory(&keep);
	out_fmt(o,
		"%.*s| column | type | unit | record | meaning |\n|---|---|---|---|---|\n"
		"| `record` | text | | all | " FACT_RECORD_MEANING " |\n",
		STR_ARG(str_head(kept, str_find(kept, STR("| column |")))));
	for (const struct fact_form *f = fact_forms; f < fact_forms + FACT_RECORDS; f++)
		for (ptrdiff_t i = 0; i < f->table.column_count; i++) {
			const struct column *c = &f->table.columns[i];
			bool is_text = c->type == COLUMN_TEXT;
			if (fact_first(c->name) != f)
				continue;
			struct str records = records_with(c->name);
			out_fmt(o, "| `%.*s` | %s | %s | %.*s | %.*s |\n", STR_ARG(c->name),
				is_text ? "text" : "number", is_text ? "" : unit_name(c->unit),
				STR_ARG(records), STR_ARG(c->meaning));
		}
	manual_is(page, out_text(o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_again),
		cmocka_unit_test(hash_is_of_content),
		cmocka_unit_test(damaged),
		cmocka_unit_test(newer_minor),
		cmocka_unit_test(manual_is_kept),
	};
	return cmocka_run_group_tests_name("facts", tests, keep_begin, keep_end);
}
