/* Tests of rules.  See fixture.h. */
#include "base/text.h"
#include "rules/fixture.h"

#include <math.h>
#include <string.h>

#include "rules/engine.h"
#include "rules/parse.h"

struct fixture_reader {
	struct rule_reader r; /* for errors at a node */
	const struct ruleset *rules;
	struct fixture_set *set;
	struct fixture given;
	ptrdiff_t rows; /* of the current test */
};

/* ---- rows --------------------------------------------------------------------------------- */

static bool set_cell(
	struct fixture_reader *x, const struct table_def *def, void *row, const struct doc_pair *p)
{
	const struct column *c = table_column(def, p->key->text);
	struct list names = { NULL, 0, 0 };
	struct str nearest;
	double value = NAN;
	enum unit unit;

	NAMES(&names, x->r.keep, def->columns, def->column_count);
	if (!c)
		return node_fail(&x->r, p->key, DIAG_RULE_NAME, "%.*s has no column '%.*s'%.*s",
			STR_ARG(def->name), STR_ARG(p->key->text),
			STR_ARG(did_you_mean(x->r.keep, p->key->text, names.items, names.count)));
	if (p->value->kind != DOC_SCALAR)
		return node_fail(&x->r, p->value, DIAG_RULE_SCHEMA, "a cell takes one value");
	if (c->type == COLUMN_TEXT) {
		cell_set_text(c, row, p->value->text);
		return true;
	}
	if (!str_eq(p->value->text, STR("null")) &&
		!unit_parse(p->value->text, &value, &unit, &nearest))
		return node_fail(&x->r, p->value, DIAG_RULE_UNIT,
			"%.*s is a number with or without a unit, or null", STR_ARG(c->name));
	cell_set_real(c, row, value);
	return true;
}

/* A second row of the run completes the first. */
static bool read_row(
	struct fixture_reader *x, struct tables *t, enum table_id id, const struct doc_node *node)
{
	if (node->kind != DOC_MAP)
		return node_fail(
			&x->r, node, DIAG_RULE_SCHEMA, "a row is a map from columns to values");
	if (++x->rows > FIXTURE_ROWS_MAX)
		return node_fail(&x->r, node, DIAG_LIMIT, "more than %d rows", FIXTURE_ROWS_MAX);
	bool completes = id == TABLE_run && t->items[id].count;
	void *row = completes ? t->items[id].rows : table_add(t, id, x->r.keep);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!set_cell(x, &table_defs[id], row, &node->pairs[i]))
			return false;
	return true;
}

/* One row, or a list of rows. */
static bool read_table(struct fixture_reader *x, struct fixture *f, const struct doc_pair *pair)
{
	struct str name = pair->key->text;
	bool is_base = str_take(&name, STR("base_"));
	const struct table_def *def = table_find(name);
	const struct doc_node *node = pair->value;

	if (!def)
		return node_fail(&x->r, pair->key, DIAG_RULE_NAME,
			"there is no table '%.*s'; a test has rule, name, expect and tables",
			STR_ARG(pair->key->text));
	f->has_base |= is_base;
	struct tables *t = is_base ? &f->base : &f->tables;
	enum table_id id = (enum table_id)(def - table_defs);
	if (node->kind != DOC_LIST)
		return read_row(x, t, id, node);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_row(x, t, id, node->items[i]))
			return false;
	return true;
}

/* ---- tests -------------------------------------------------------------------------------- */

static bool read_expect(struct fixture_reader *x, struct fixture *f, const struct doc_node *node)
{
	for (int v = VERDICT_PASS; v <= VERDICT_OFF; v++)
		if (str_eq(verdict_name((enum verdict)v), node->text)) {
			f->expect = (enum verdict)v;
			return true;
		}
	return node_fail(&x->r, node, DIAG_RULE_SCHEMA,
		"expect is pass, fail, warn, waived, not-applicable, inconclusive or off");
}

static bool read_key(struct fixture_reader *x, struct fixture *f, const struct doc_pair *pair)
{
	const struct doc_node *value = pair->value;

	if (str_eq(pair->key->text, STR("rule"))) {
		f->rule = value->text;
		return ruleset_rule(x->rules, f->rule) ||
		       node_fail(&x->r, value, DIAG_RULE_NAME, "there is no rule '%.*s'",
			       STR_ARG(f->rule));
	}
	if (str_eq(pair->key->text, STR("name"))) {
		f->name = value->text;
		return true;
	}
	if (str_eq(pair->key->text, STR("expect")))
		return read_expect(x, f, value);
	return read_table(x, f, pair);
}

/* Rows that all tests share are copied, as a test completes the run's. */
static void copy_given(const struct fixture *given, struct fixture *f, struct arena *keep)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		const struct table_def *def = &table_defs[id];
		const char *rows = given->tables.items[id].rows;
		f->given_rows[id] = given->tables.items[id].count;
		for (ptrdiff_t i = 0; i < f->given_rows[id]; i++) {
			void *to = table_add(&f->tables, (enum table_id)id, keep);
			memcpy(to, rows + i * def->row_bytes, (size_t)def->row_bytes);
		}
	}
}

static bool read_test(struct fixture_reader *x, const struct doc_node *node)
{
	struct fixture f = { .expect = VERDICT_OFF, .line = node->line };

	if (node->kind != DOC_MAP || !doc_get(node, STR("rule")) || !doc_get(node, STR("expect")))
		return node_fail(&x->r, node, DIAG_RULE_SCHEMA,
			"a test is a map with rule, expect and rows of tables");
	if (x->set->count >= FIXTURES_MAX)
		return node_fail(&x->r, node, DIAG_LIMIT, "more than %d tests", FIXTURES_MAX);
	x->rows = 0;
	copy_given(&x->given, &f, x->r.keep);
	for (ptrdiff_t i = 0; i < node->count; i++)
		if (!read_key(x, &f, &node->pairs[i]))
			return false;
	*arena_push(x->r.keep, x->set->items, x->set->count, x->set->cap) = f;
	return true;
}

static bool read_document(struct fixture_reader *x)
{
	const struct doc_node *root = x->r.doc->root, *tests = doc_get(root, STR("tests"));
	const struct doc_node *version = doc_get(root, STR("version"));
	const struct doc_node *given = doc_get(root, STR("given"));

	if (!root)
		return diag_set(x->r.err, DIAG_RULE_SCHEMA, "%.*s: the file is empty",
			STR_ARG(x->r.doc->file));
	if (!version || !str_eq(version->text, STR("1")))
		return node_fail(&x->r, version ? version : root, DIAG_RULE_SCHEMA,
			"a file of tests begins with 'version: 1'");
	for (ptrdiff_t i = 0; i < root->count; i++) {
		struct str key = root->pairs[i].key->text;
		if (!str_eq(key, STR("version")) && !str_eq(key, STR("given")) &&
			!str_eq(key, STR("tests")))
			return node_fail(&x->r, root->pairs[i].key, DIAG_RULE_SCHEMA,
				"a file of tests has version, given and tests");
	}
	if (given && given->kind != DOC_MAP)
		return node_fail(
			&x->r, given, DIAG_RULE_SCHEMA, "given is a map from tables to rows");
	for (ptrdiff_t i = 0; given && i < given->count; i++)
		if (!read_table(x, &x->given, &given->pairs[i]))
			return false;
	if (!tests || tests->kind != DOC_LIST)
		return node_fail(&x->r, tests ? tests : root, DIAG_RULE_SCHEMA,
			"tests is a list: each begins with '- rule: NAME'");
	for (ptrdiff_t i = 0; i < tests->count; i++)
		if (!read_test(x, tests->items[i]))
			return false;
	return true;
}

bool fixtures_parse(struct str file, struct str text, const struct ruleset *rules,
	struct arena *keep, struct fixture_set *ret, struct diag *err)
{
	struct doc *doc = arena_make(keep, struct doc, 1);
	struct fixture_reader x = { .r = { NULL, doc, keep, err }, .rules = rules, .set = ret };

	*ret = (struct fixture_set){ 0 };
	return doc_parse(file, text, keep, doc, err) && read_document(&x);
}

/* ---- judging ------------------------------------------------------------------------------ */

bool fixture_judge(const struct ruleset *rules, struct fixture *f, struct arena *keep,
	struct rule_result *ret, struct diag *err)
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
		if (str_eq(j.results[i].rule->name, f->rule))
			*ret = j.results[i];
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
	       (r->rule->gate && r->verdict == VERDICT_INCONCLUSIVE);
}

/* False only when judging itself failed.  What it took is given back. */
static bool try_value(
	struct mutation *m, struct str table, const struct column *c, void *row, double value)
{
	double before = cell_real(c, row);
	struct arena scratch = *m->keep;
	struct rule_result result = { .verdict = VERDICT_PASS };

	cell_set_real(c, row, value);
	bool ok = fixture_judge(m->rules, m->fixture, &scratch, &result, m->err);
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

		for (size_t k = 0; k < sizeof(absurd) / sizeof(absurd[0]) && !m->is_red; k++)
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
	struct arena scratch = *m->keep;

	if (!base.items[TABLE_run].count || m->is_red)
		return true;
	for (int id = 0; id < TABLE_COUNT; id++)
		m->fixture->base.items[id].count = id == TABLE_run;
	bool ok = fixture_judge(m->rules, m->fixture, &scratch, &result, m->err);
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
