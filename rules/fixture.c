/* Tests of rules.  See fixture.h. */
#include "base/text.h"
#include "rules/fixture.h"

#include <math.h>

#include "base/embed.h"
#include "rules/engine.h"
#include "rules/parse.h"

/* What a reading is for. */
struct fixture_reader {
	const struct ruleset *rules;
	struct fixture_set *set;
	struct fixture given;
	struct fixture usual; /* of each table at most one row: what its others say, too */
	ptrdiff_t row_count;  /* of the current test */
	bool is_inheriting;   /* reading what the file extends: its tests are another file's */
};

/* ---- rows --------------------------------------------------------------------------------- */

static bool set_cell(
	const struct keyed *r, const struct table_def *def, void *row, const struct doc_pair *p)
{
	const struct column *c = table_column(def, p->key->text);
	struct list names = { NULL, 0, 0 };
	double value = NAN;
	enum unit unit;

	NAMES(&names, r->keep, def->columns, def->column_count);
	if (!c)
		return keyed_fail_as(r, p->key, DIAG_RULE_NAME, "%.*s has no column '%.*s'%.*s",
			STR_ARG(def->name), STR_ARG(p->key->text),
			STR_ARG(did_you_mean(r->keep, p->key->text, names.items, names.count)));
	if (p->value->kind != DOC_SCALAR)
		return keyed_fail(r, p->value, "a cell takes one value");
	if (c->type == COLUMN_TEXT) {
		cell_set_text(c, row, p->value->text);
		return true;
	}
	if (!str_eq(p->value->text, STR("null")) &&
		!unit_parse(p->value->text, &value, &unit, NULL))
		return keyed_fail_as(r, p->value, DIAG_RULE_UNIT,
			"%.*s is a number with or without a unit, or null", STR_ARG(c->name));
	cell_set_real(c, row, value);
	return true;
}

/* A second row of the run, or a second usual one, completes the first. */
static void *row_to_fill(
	const struct fixture_reader *x, struct tables *t, enum table_id id, struct arena *keep)
{
	const struct table *usual = &x->usual.tables.items[id];
	const void *like = usual->count ? usual->rows : NULL;

	if (t->items[id].count && (id == TABLE_run || t == &x->usual.tables))
		return t->items[id].rows;
	void *row = table_add(t, id, keep);
	if (like)
		row_copy(&table_defs[id], row, like);
	return row;
}

static bool read_row(
	const struct keyed *r, struct tables *t, enum table_id id, const struct doc_node *node)
{
	struct fixture_reader *x = r->arg;

	if (node->kind != DOC_MAP)
		return keyed_fail(r, node, "a row is a map from columns to values");
	if (++x->row_count > FIXTURE_ROWS_MAX)
		return keyed_fail_as(r, node, DIAG_LIMIT, "more than %d rows", FIXTURE_ROWS_MAX);
	void *row = row_to_fill(x, t, id, r->keep);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!set_cell(r, &table_defs[id], row, &node->pairs[i]))
			return false;
	return true;
}

/* One row, or a list of rows. */
static bool read_table(const struct keyed *r, struct fixture *f, const struct doc_pair *pair)
{
	struct str name = pair->key->text;
	bool is_base = str_take(&name, STR("base_"));
	const struct table_def *def = table_find(name);
	const struct doc_node *node = pair->value;

	if (!def)
		return keyed_fail_as(r, pair->key, DIAG_RULE_NAME, "there is no table '%.*s'",
			STR_ARG(pair->key->text));
	f->has_base |= is_base;
	struct tables *t = is_base ? &f->base : &f->tables;
	enum table_id id = (enum table_id)(def - table_defs);
	if (node->kind != DOC_LIST)
		return read_row(r, t, id, node);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_row(r, t, id, node->items[i]))
			return false;
	return true;
}

/* A map from tables to rows, which may be empty. */
static bool read_tables(const struct keyed *r, struct fixture *f, const struct doc_node *node)
{
	if (node->kind == DOC_SCALAR && !node->text.len)
		return true;
	if (node->kind != DOC_MAP)
		return keyed_fail(r, node, "this is a map from tables to rows");
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_table(r, f, &node->pairs[i]))
			return false;
	return true;
}

/* ---- what tests have in common ------------------------------------------------------------ */

static bool read_common(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	return read_tables(r, (void *)((char *)r->arg + k->offset), node);
}

static const struct key tests_document;

/* A built-in set: what its tests have in common, this file's have, too. */
static bool read_extends(const struct keyed *r, const struct key *k, const struct doc_node *node)
{
	struct fixture_reader *x = r->arg;
	struct str file = arena_fmt(r->keep, "%.*s.test.yaml", STR_ARG(node->text));
	struct str text = embed_find(arena_fmt(r->keep, "rules/%.*s", STR_ARG(file)));
	struct keyed below = *r;
	bool was = x->is_inheriting;

	if (!text.p)
		return key_fail(r, k, node, DIAG_RULE_NAME,
			": '%.*s' is no built-in set; write extends: recommended, if that is meant",
			STR_ARG(node->text));
	struct doc *doc = arena_make(r->keep, struct doc, 1);
	below.doc = doc;
	x->is_inheriting = true;
	bool ok = keyed_open(&below, doc, file, text, &tests_document) &&
		  keyed_map(&below, &tests_document, doc->root, doc->root);
	x->is_inheriting = was;
	return ok;
}

/* ---- tests -------------------------------------------------------------------------------- */

/* Rows that all tests share are copied, as a test completes the run's. */
static void copy_given(const struct fixture *given, struct fixture *f, struct arena *keep)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		const struct table_def *def = &table_defs[id];
		const char *rows = given->tables.items[id].rows;
		f->given_rows[id] = given->tables.items[id].count;
		for (ptrdiff_t i = 0; i < f->given_rows[id]; i++)
			row_copy(def, table_add(&f->tables, (enum table_id)id, keep),
				rows + i * def->row_bytes);
	}
}

/* "fail: { run: ... }", and perhaps a name and a fix. */
static bool read_test(const struct keyed *r, struct str rule, const struct doc_node *node)
{
	static const struct key verdicts = { .form = VERDICT_WORDS };
	struct fixture_reader *x = r->arg;
	struct fixture f = { .rule = rule, .expect = VERDICT_OFF, .line = node->line };
	struct str words[KEY_WORDS_MAX];
	int count = key_words(&verdicts, words), found = 0;

	if (x->set->count >= FIXTURES_MAX)
		return keyed_fail_as(r, node, DIAG_LIMIT, "more than %d tests", FIXTURES_MAX);
	x->row_count = 0;
	copy_given(&x->given, &f, r->keep);
	for (ptrdiff_t i = 0; node->kind == DOC_MAP && i < node->count; i++) {
		const struct doc_pair *pair = &node->pairs[i];
		const struct str *verdict = NAMED(words, count, pair->key->text);

		if (verdict) {
			found++;
			f.expect = (enum verdict)(verdict - words);
			if (!read_tables(r, &f, pair->value))
				return false;
		} else if (str_eq(pair->key->text, STR("name"))) {
			f.name = pair->value->text;
		} else if (str_eq(pair->key->text, STR("fix"))) {
			f.fix = pair->value->text;
		} else {
			return keyed_fail(r, pair->key,
				"a test has a name, a verdict and a fix, which '%.*s' is not: %.*s",
				STR_ARG(pair->key->text),
				STR_ARG(words_joined(r->keep, words, count, ", ")));
		}
	}
	if (found != 1)
		return keyed_fail(r, node,
			"a test is one verdict with the rows for it: fail: { run: { steps: 1 } }");
	*arena_push(r->keep, x->set->items, x->set->count, x->set->cap) = f;
	return true;
}

static bool read_tests(const struct keyed *r, const struct key *each, const struct doc_node *rule,
	const struct doc_node *node)
{
	const struct fixture_reader *x = r->arg;

	(void)each;
	if (x->is_inheriting)
		return true;
	if (!ruleset_rule(x->rules, rule->text))
		return keyed_fail_as(
			r, rule, DIAG_RULE_NAME, "there is no rule '%.*s'", STR_ARG(rule->text));
	if (node->kind != DOC_LIST)
		return keyed_fail(r, node, "the tests of a rule are a list: - pass: { ... }");
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_test(r, rule->text, node->items[i]))
			return false;
	return true;
}

static const struct key test_entry = { .name = STR_INIT("the tests of a rule"),
	.entry = read_tests };
static const struct key document_keys[] = {
	KEYED("version", key_version, .form = "files of tests", .required = true),
	KEYED("extends", read_extends),
	KEYED("usual", read_common, .offset = offsetof(struct fixture_reader, usual)),
	KEYED("given", read_common, .offset = offsetof(struct fixture_reader, given)),
	KEYED("tests", key_entries, .each = &test_entry, .required = true,
		.form = "a map from rules to lists of tests"),
	KEYED_END,
};
static const struct key tests_document = { .name = STR_INIT("a file of tests"),
	.keys = document_keys };

bool fixtures_parse(struct str file, struct str text, const struct ruleset *rules,
	struct arena *keep, struct fixture_set *ret, struct diag *err)
{
	struct fixture_reader x = { .rules = rules, .set = ret };
	struct doc *doc = arena_make(keep, struct doc, 1);
	const struct keyed r = {
		.doc = doc, .keep = keep, .mistake = DIAG_RULE_SCHEMA, .err = err, .arg = &x
	};

	*ret = (struct fixture_set){ 0 };
	return keyed_open(&r, doc, file, text, &tests_document) &&
	       keyed_map(&r, &tests_document, doc->root, doc->root);
}

/* ---- judging ------------------------------------------------------------------------------ */

bool fixture_judge(const struct ruleset *rules, struct fixture *f, struct arena *keep,
	struct rule_result *ret, struct str *fix, struct diag *err)
{
	struct ruleset set = *rules;
	struct judge_context context = { .base = f->has_base ? &f->base : NULL };
	struct judgement j;

	/* The rule and the gates: others would only cost time. */
	set.items = arena_make(keep, struct rule *, rules->count + 1);
	set.count = 0;
	for (ptrdiff_t i = 0; i < rules->count; i++)
		if (rules->items[i]->gate || str_eq(rules->items[i]->name, f->rule))
			set.items[set.count++] = rules->items[i];
	if (!judge(&set, &f->tables, &context, keep, &j, err))
		return false;
	for (ptrdiff_t i = 0; i < j.result_count; i++)
		if (str_eq(j.results[i].name, f->rule))
			*ret = j.results[i];
	*fix = MISSING;
	for (ptrdiff_t i = 0; i < j.finding_count && !fix->p; i++)
		if (str_eq(j.findings[i].rule, f->rule))
			*fix = j.findings[i].fix;
	return true;
}

/* ---- turning a good one bad --------------------------------------------------------------- */

struct mutation {
	const struct ruleset *rules;
	struct fixture *fixture;
	struct arena *keep;
	struct diag *err;
	int more; /* further values that may be absurd at the same time */
	bool is_red;
	struct str how;
};

static bool mutate_rows(struct mutation *m, bool own);

static bool is_red(const struct rule_result *r)
{
	return r->verdict == VERDICT_FAIL || r->verdict == VERDICT_WARN ||
	       (r->gate && r->verdict == VERDICT_INCONCLUSIVE);
}

/* False only when judging itself failed.  What it took is given back. */
static bool try_value(
	struct mutation *m, struct str table, const struct column *c, void *row, double value)
{
	double before = cell_real(c, row);
	struct arena scratch = *m->keep;
	struct rule_result result = { .verdict = VERDICT_PASS };
	struct str ignored;

	cell_set_real(c, row, value);
	bool ok = fixture_judge(m->rules, m->fixture, &scratch, &result, &ignored, m->err);
	if (ok && is_red(&result)) {
		m->is_red = true;
		m->how = arena_fmt(
			m->keep, "%.*s.%.*s = %g", STR_ARG(table), STR_ARG(c->name), value);
	} else if (ok && m->more) {
		m->more--;
		ok = mutate_rows(m, true);
		m->more++;
	}
	cell_set_real(c, row, before);
	return ok;
}

static bool mutate_row(struct mutation *m, const struct table_def *def, void *row)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		double value = c->type == COLUMN_REAL ? cell_real(c, row) : (double)NAN;
		const double absurd[] = { value * 100, value / 100, 0, value + 1 };

		for (int k = 0; k < COUNT_OF(absurd) && !m->is_red; k++)
			if (!isnan(value) && absurd[k] != value &&
				!try_value(m, def->name, c, row, absurd[k]))
				return false;
	}
	return true;
}

/* The test's own rows, or those that all tests share. */
static bool mutate_rows(struct mutation *m, bool own)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		const struct table_def *def = &table_defs[id];
		struct table *t = &m->fixture->tables.items[id];
		ptrdiff_t given = m->fixture->given_rows[id];

		for (ptrdiff_t i = own ? given : 0; i < (own ? t->count : given); i++)
			if (!m->is_red && !mutate_row(m, def, (char *)t->rows + i * def->row_bytes))
				return false;
	}
	return true;
}

/* Without its rows a baseline is empty, which makes what was there come anew. */
static bool mutate_base(struct mutation *m)
{
	struct tables base = m->fixture->base;
	struct rule_result result = { .verdict = VERDICT_PASS };
	struct str ignored;
	struct arena scratch = *m->keep;

	if (!base.items[TABLE_run].count || m->is_red)
		return true;
	for (int id = 0; id < TABLE_COUNT; id++)
		m->fixture->base.items[id].count = id == TABLE_run;
	bool ok = fixture_judge(m->rules, m->fixture, &scratch, &result, &ignored, m->err);
	m->fixture->base = base;
	m->is_red = ok && is_red(&result);
	m->how = STR("a baseline with nothing in it");
	return ok;
}

bool fixture_mutate(const struct ruleset *rules, struct fixture *f, struct arena *keep, bool *red,
	struct str *how, struct diag *err)
{
	struct mutation m = { .rules = rules, .fixture = f, .keep = keep, .err = err };

	bool ok = mutate_rows(&m, true) && mutate_rows(&m, false) && mutate_base(&m);
	m.more = 1;
	ok = ok && (m.is_red || mutate_rows(&m, true));
	*red = m.is_red;
	*how = m.how;
	return ok;
}
