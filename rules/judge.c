/*
 * Judging.  See judge.h.
 *
 * Of a row: `where` false: no subject.  `where` unknown: inconclusive.  `assert` false: fail, or
 * warn when that is the rule's severity.  Else `assert` or `warn` unknown: inconclusive.  Else
 * `warn` false: warn.
 *
 * A row that would fail or warn is waived when a waiver of the rule holds for it; a failure is a
 * warning until it was seen in as many reports in a row as the rule's `confirm` asks for.
 *
 * Of a rule: fail, as one failed subject is proof; else inconclusive, as one unknown subject might
 * have failed; else warn; else waived; else pass.
 *
 * Of a gate: a false `assert` says that the profile does not carry the evidence, which is no
 * verdict on the program: the gate is inconclusive, and so is every rule that needs it, whatever
 * its own rows say.
 */
#include "rules/judge.h"

#include <math.h>
#include <stdlib.h>

#include "rules/credit.h"
#include "rules/finding.h"
#include "rules/profiles.h"
#include "rules/waiver.h"

/* Findings kept of one rule: no report shows more, and each costs about a kilobyte. */
enum { RULE_FINDINGS_MAX = 10000 };

struct session {
	const struct ruleset *rules;
	struct tables *tables;
	const struct judge_context *context;
	struct str today; /* missing: nobody knows */
	struct arena *keep;
	struct judgement *ret;
	struct claim *claims;
	ptrdiff_t claim_count, claim_cap, finding_cap;
	struct diag *err;
};

/* A rule at work. */
struct trial {
	struct session *s;
	struct subject subject;
	struct rule_result *result;
	sqlite3_stmt *stmt;
	int64_t failed, warned, waived, broken; /* subjects; broken: of a gate */
	int64_t seen;				/* subjects that did not pass */
	ptrdiff_t first_claim;
};

struct str verdict_name(enum verdict v)
{
	static const struct str names[] = { STR_INIT("pass"), STR_INIT("fail"), STR_INIT("warn"),
		STR_INIT("waived"), STR_INIT("not-applicable"), STR_INIT("inconclusive"),
		STR_INIT("off"), STR_INIT("error") };

	return v <= VERDICT_ERROR ? names[v] : STR("");
}

/* ---- rows --------------------------------------------------------------------------------- */

enum truth { IS_FALSE, IS_TRUE, IS_UNKNOWN };

static int result_column(const struct trial *t, const struct expression *x)
{
	return t->subject.code->first_result + x->result;
}

/* An expression that the rule does not have is true. */
static enum truth truth_of(const struct trial *t, const struct expression *x)
{
	if (!x->source)
		return IS_TRUE;
	if (sqlite3_column_type(t->stmt, result_column(t, x)) == SQLITE_NULL)
		return IS_UNKNOWN;
	return sqlite3_column_double(t->stmt, result_column(t, x)) != 0 ? IS_TRUE : IS_FALSE;
}

/* The row in its table; one of a SELECT is in none and is copied out of the result. */
static const void *current_row(const struct trial *t)
{
	const struct table_def *def = t->subject.code->rows;

	if (t->subject.rule->from) {
		const char *rows = t->s->tables->items[def - table_defs].rows;

		return rows + sqlite3_column_int64(t->stmt, 0) * def->row_bytes;
	}
	void *row = arena_alloc(t->s->keep, def->row_bytes, alignof(max_align_t), 1);
	for (int i = 0; i < (int)def->column_count; i++) {
		const struct column *c = &def->columns[i];
		int type = sqlite3_column_type(t->stmt, i);
		bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;

		if (c->type == COLUMN_REAL) {
			cell_set_real(c, row, is_number ? sqlite3_column_double(t->stmt, i) : NAN);
		} else if (type != SQLITE_NULL) {
			const char *p = (const char *)sqlite3_column_text(t->stmt, i);
			struct str text = { p, sqlite3_column_bytes(t->stmt, i) };

			cell_set_text(c, row, arena_str(t->s->keep, text));
		}
	}
	return row;
}

static void add_claim(struct trial *t, const struct finding *f)
{
	struct session *s = t->s;
	const struct rule_code *code = t->subject.code;
	struct str family = subject_text(&t->subject, code->family);
	struct claim c = { .finding = s->ret->finding_count - 1,
		.pool = t->subject.rule->pool,
		.family = family.p ? family : f->subject,
		.seconds = f->claimed_s };

	claim_place(&c, code->rows, subject_text(&t->subject, code->kind));
	if (!isnan(c.seconds) && c.pool != POOL_MEMORY)
		*arena_push(s->keep, s->claims, s->claim_count, s->claim_cap) = c;
}

/* NULL when it is not kept: the rule has too many. */
static struct finding *add_finding(
	struct trial *t, enum verdict verdict, struct expression *x, bool is_unknown)
{
	struct judgement *ret = t->s->ret;

	if (t->seen++ >= RULE_FINDINGS_MAX)
		return NULL;
	struct finding *f =
		arena_push(t->s->keep, ret->findings, ret->finding_count, t->s->finding_cap);
	t->subject.row = current_row(t);
	expression_reads(t->s->rules->engine, t->subject.rule, x);
	finding_fill(&t->subject, verdict, x, is_unknown, f);
	if (verdict == VERDICT_INCONCLUSIVE)
		return f;
	/* NaN when the rule gives none, or it is unknown. */
	const struct expression *gain = &t->subject.code->gain;
	if (truth_of(t, gain) != IS_UNKNOWN && gain->source)
		f->claimed_s = sqlite3_column_double(t->stmt, result_column(t, gain));
	f->claimed_s = isfinite(f->claimed_s) ? fmax(0, f->claimed_s) : NAN;
	if (verdict != VERDICT_WAIVED) /* nobody is asked to give it back */
		add_claim(t, f);
	return f;
}

/* ---- excuses ------------------------------------------------------------------------------ */

/* The best that the rule's waivers say of the current row. */
static enum excuse find_excuse(const struct trial *t, const struct waiver **ret)
{
	enum excuse best = EXCUSE_NONE;

	for (ptrdiff_t i = 0; i < t->subject.rule->waiver_count; i++) {
		const struct waiver_code *w = &t->subject.code->waivers[i];

		if (truth_of(t, &w->where) != IS_TRUE)
			continue;
		enum truth below = truth_of(t, &w->ceiling);
		enum excuse excuse = waiver_excuse(
			w->waiver, below != IS_UNKNOWN, below == IS_TRUE, t->s->today);
		struct waiver_result *r = t->s->ret->waivers;
		while (r->waiver != w->waiver) /* all of the rules' are listed */
			r++;
		r->waived += excuse == EXCUSE_HOLDS;
		r->exceeded += excuse == EXCUSE_EXCEEDED;
		r->unknown += excuse == EXCUSE_UNKNOWN;
		r->expired += excuse == EXCUSE_EXPIRED;
		r->undated += excuse == EXCUSE_UNDATED;
		if (excuse < best) {
			best = excuse;
			*ret = w->waiver;
		}
	}
	return best;
}

/* A subject of an ordinary rule failed or warned: apply waivers and confirm, then record it. */
static void judge_bad(struct trial *t, enum verdict verdict, struct expression *x)
{
	const struct judge_context *c = t->s->context;
	const struct rule *rule = t->subject.rule;
	const struct sighting *before = NULL;
	const struct waiver *w = NULL;
	enum excuse excuse = find_excuse(t, &w);

	if (excuse == EXCUSE_HOLDS)
		verdict = VERDICT_WAIVED;
	struct finding *f = add_finding(t, verdict, x, false);
	for (ptrdiff_t i = 0; f && i < c->seen_count && !before; i++)
		if (str_eq(c->seen[i].rule, rule->name) && str_eq(c->seen[i].subject, f->subject))
			before = &c->seen[i];
	if (f) {
		f->seen = c->has_previous ? 1 + (before ? before->times : 0) : 0;
		f->known = before && before->failed;
		f->note = w ? waiver_note(w, excuse, t->s->keep) : f->note;
		if (excuse == EXCUSE_HOLDS || excuse == EXCUSE_EXPIRED)
			f->waiver_ends = w->expires.text;
		int64_t seen = f->seen ? f->seen : 1;
		if (verdict == VERDICT_FAIL && seen < rule->confirm) {
			f->verdict = VERDICT_WARN;
			f->note = arena_fmt(t->s->keep,
				"found in %lld of the %lld reports in a row after which it fails%s",
				(long long)seen, (long long)rule->confirm,
				c->has_previous ? "" : "; give the last one with --previous");
		}
		verdict = f->verdict;
	}
	t->failed += verdict == VERDICT_FAIL;
	t->warned += verdict == VERDICT_WARN;
	t->waived += verdict == VERDICT_WAIVED;
}

static void judge_row(struct trial *t)
{
	const struct rule *rule = t->subject.rule;
	struct rule_code *code = t->subject.code;
	enum truth where = truth_of(t, &code->where);
	enum truth demand = truth_of(t, &code->assert), wish = truth_of(t, &code->warn);

	if (where == IS_UNKNOWN) {
		t->result->unknown++;
		add_finding(t, VERDICT_INCONCLUSIVE, &code->where, true);
		return;
	}
	t->result->subjects++;
	if (demand == IS_FALSE && rule->gate) {
		t->broken++;
		add_finding(t, VERDICT_INCONCLUSIVE, &code->assert, false);
	} else if (demand == IS_FALSE) {
		judge_bad(t, rule->severity == SEVERITY_WARN ? VERDICT_WARN : VERDICT_FAIL,
			&code->assert);
	} else if (demand == IS_UNKNOWN || wish == IS_UNKNOWN) {
		t->result->unknown++;
		add_finding(t, VERDICT_INCONCLUSIVE,
			demand == IS_UNKNOWN ? &code->assert : &code->warn, true);
	} else if (wish == IS_FALSE) {
		judge_bad(t, VERDICT_WARN, &code->warn);
	}
}

static void bind_params(const struct trial *t)
{
	const struct rule *rule = t->subject.rule;

	for (ptrdiff_t i = 0; i < rule->param_count; i++) {
		struct str name = arena_fmt(t->s->keep, ":%.*s", STR_ARG(rule->params[i].name));
		int index = sqlite3_bind_parameter_index(t->stmt, name.p);

		if (index) /* the message alone may use it */
			sqlite3_bind_double(t->stmt, index, rule->params[i].value);
	}
}

static bool judge_rows(struct trial *t)
{
	struct sql_fault fault;
	struct session *s = t->s;
	const struct rule *rule = t->subject.rule;
	const struct table_def *from = rule->from;
	int code;

	if (from && !s->tables->items[from - table_defs].count)
		return true; /* no rows, whatever the rule says; SQLite need not look at it */
	t->stmt = t->subject.code->stmt;
	engine_grant(s->rules->engine, t->subject.code->is_joining);
	bind_params(t);
	while ((code = sqlite3_step(t->stmt)) == SQLITE_ROW)
		judge_row(t);
	if (code != SQLITE_DONE)
		engine_step_fault(s->rules->engine, code, s->keep, &fault);
	sqlite3_reset(t->stmt);
	return code == SQLITE_DONE ||
	       diag_set(s->err, fault.id, "%.*s:%lld:%lld: rule %.*s cannot be judged: %.*s",
		       STR_ARG(rule->origin.file), (long long)rule->origin.line,
		       (long long)rule->origin.column, STR_ARG(rule->name), STR_ARG(fault.text));
}

/* ---- rules -------------------------------------------------------------------------------- */

static struct str nothing_reason(const struct trial *t)
{
	const struct rule_code *code = t->subject.code;
	const struct table_def *def = t->subject.rule->from;

	if (!def && !code->where.source)
		return STR("its SELECT gives no row");
	if (!def)
		return arena_fmt(t->s->keep, "no row of its SELECT fits: %.*s",
			STR_ARG(code->where.source->text));
	if (!t->s->tables->items[def - table_defs].count || !code->where.source)
		return arena_fmt(t->s->keep, "table %.*s is empty", STR_ARG(def->name));
	return arena_fmt(t->s->keep, "no row of %.*s fits: %.*s", STR_ARG(def->name),
		STR_ARG(code->where.source->text));
}

static struct str inconclusive_reason(const struct trial *t)
{
	const struct judgement *ret = t->s->ret;
	struct rule_result *r = t->result;
	ptrdiff_t first = r->first_finding;
	int64_t bad = r->unknown + t->broken;

	if (!r->subjects && !r->unknown)
		return nothing_reason(t);
	if (!bad)
		return arena_fmt(t->s->keep, "%lld of at least %lld subjects found",
			(long long)r->subjects, (long long)t->subject.rule->min_subjects);
	while (first < ret->finding_count && ret->findings[first].verdict != VERDICT_INCONCLUSIVE)
		first++;
	if (first == ret->finding_count) /* it came after the last finding that is kept */
		return arena_fmt(t->s->keep, "%lld subjects cannot be judged", (long long)bad);
	struct str message = ret->findings[first].message;
	return bad == 1 ? message
			: arena_fmt(t->s->keep, "%.*s, and %lld more", STR_ARG(message),
				  (long long)(bad - 1));
}

static void conclude(struct trial *t)
{
	struct rule_result *r = t->result;

	if (t->failed) {
		r->verdict = VERDICT_FAIL;
	} else if (r->unknown || t->broken || r->subjects < t->subject.rule->min_subjects) {
		r->verdict = VERDICT_INCONCLUSIVE;
		r->reason = inconclusive_reason(t);
	} else if (t->warned) {
		r->verdict = VERDICT_WARN;
	} else if (t->waived) {
		r->verdict = VERDICT_WAIVED;
	} else if (!r->subjects) {
		r->verdict = VERDICT_NOT_APPLICABLE;
		r->reason = nothing_reason(t);
	} else {
		r->verdict = VERDICT_PASS;
	}
}

/* ---- gates -------------------------------------------------------------------------------- */

/* The result of a gate that holds the rule up, or NULL. */
static const struct rule_result *closed_gate(const struct session *s, const struct rule *rule)
{
	for (ptrdiff_t i = 0; i < s->rules->count; i++) {
		const struct rule *gate = s->rules->items[i];
		bool is_needed = rule->needs_all;

		for (ptrdiff_t k = 0; k < rule->need_count && !is_needed; k++)
			is_needed = str_eq(rule->needs[k], gate->name);
		if (gate->gate && is_needed && s->ret->results[i].verdict == VERDICT_INCONCLUSIVE)
			return &s->ret->results[i];
	}
	return NULL;
}

/* What the rule found is not to be trusted: only its number is told. */
static void hold_up(struct trial *t, const struct rule_result *gate)
{
	struct rule_result *r = t->result;
	struct session *s = t->s;

	s->ret->finding_count = r->first_finding;
	s->claim_count = t->first_claim;
	r->verdict = VERDICT_INCONCLUSIVE;
	r->closed_gate = gate->rule->name;
	r->reason = arena_fmt(s->keep, "gate %.*s failed: %.*s", STR_ARG(gate->rule->name),
		STR_ARG(gate->reason));
	if (t->failed + t->warned)
		r->withheld = arena_fmt(s->keep, "%lld of %lld subjects would not pass",
			(long long)(t->failed + t->warned), (long long)r->subjects);
}

static bool judge_rule(struct session *s, ptrdiff_t index)
{
	const struct rule *rule = s->rules->items[index];
	struct rule_result *r = &s->ret->results[index];
	struct trial t = { .s = s,
		.result = r,
		.first_claim = s->claim_count,
		.subject = { rule, rule->code, NULL, s->tables, s->context->base, s->keep } };

	r->rule = rule;
	r->first_finding = s->ret->finding_count;
	if (rule->severity == SEVERITY_OFF) {
		r->verdict = VERDICT_OFF;
		r->reason = arena_fmt(s->keep, "switched off in %.*s, line %lld",
			STR_ARG(rule->severity_origin.file), (long long)rule->severity_origin.line);
		return true;
	}
	if (rule->code->needs_baseline && !s->context->base && !table_count(s->tables, deltas)) {
		r->verdict = VERDICT_NOT_APPLICABLE;
		r->reason = STR("there is no baseline to compare with (--baseline)");
		return true;
	}
	if (!judge_rows(&t))
		return false;
	conclude(&t);
	const struct rule_result *gate = rule->gate ? NULL : closed_gate(s, rule);
	if (gate)
		hold_up(&t, gate);
	for (ptrdiff_t i = 0; !gate && i < s->ret->waiver_count; i++)
		if (str_eq(s->ret->waivers[i].waiver->rule.text, rule->name))
			s->ret->waivers[i].judged = true;
	r->finding_count = s->ret->finding_count - r->first_finding;
	return true;
}

/* ---- the run ------------------------------------------------------------------------------ */

/* The order in which findings are shown. */
static int by_rank(const void *a, const void *b)
{
	static const int ranks[] = { [VERDICT_FAIL] = 0,
		[VERDICT_WARN] = 1,
		[VERDICT_WAIVED] = 2,
		[VERDICT_INCONCLUSIVE] = 3 };
	const struct finding *x = a, *y = b;
	double gx = isnan(x->gain_s) ? -1 : x->gain_s, gy = isnan(y->gain_s) ? -1 : y->gain_s;
	int order = ranks[x->verdict] - ranks[y->verdict];

	if (!order)
		order = (gx < gy) - (gx > gy);
	if (!order)
		order = str_cmp(x->rule->name, y->rule->name);
	if (!order)
		order = str_cmp(x->name, y->name);
	if (!order)
		order = str_cmp(x->subject, y->subject);
	return order ? order : str_cmp(x->message, y->message);
}

/*
 * As the exit status has it: lacking evidence that was demanded weighs more than a warning.  A run
 * of which no rule could say anything good has not passed; gates alone are no praise.
 */
static enum verdict run_verdict(const struct session *s)
{
	bool failed = false, open = false, warned = false, good = false;

	for (ptrdiff_t i = 0; i < s->ret->result_count; i++) {
		const struct rule *rule = s->ret->results[i].rule;
		enum verdict v = s->ret->results[i].verdict;

		failed |= v == VERDICT_FAIL;
		open |= v == VERDICT_INCONCLUSIVE && (rule->gate || rule->required);
		warned |= v == VERDICT_WARN;
		good |= (v == VERDICT_PASS || v == VERDICT_WAIVED) && !rule->gate;
	}
	return failed	? VERDICT_FAIL
	       : open	? VERDICT_INCONCLUSIVE
	       : warned ? VERDICT_WARN
	       : good	? VERDICT_PASS
			: VERDICT_INCONCLUSIVE;
}

static void set_run_gain(struct tables *tables, double gain_s)
{
	for (ptrdiff_t i = 0; i < table_count(tables, run); i++)
		table_rows(tables, run)[i].gain_s = gain_s;
}

bool judge(const struct ruleset *rules, struct tables *tables, const struct judge_context *context,
	struct arena *keep, struct judgement *ret, struct diag *err)
{
	struct session s = { .rules = profiles_apply(rules, tables, keep),
		.tables = tables,
		.context = context,
		.today = context->today,
		.keep = keep,
		.ret = ret,
		.err = err };

	if (!s.today.p && table_count(tables, run)) /* so that an old profile keeps its verdict */
		s.today = table_rows(tables, run)[0].captured;
	*ret = (struct judgement){ .result_count = rules->count };
	ret->results = arena_make(keep, struct rule_result, rules->count + 1);
	ret->waivers = arena_make(keep, struct waiver_result, rules->waiver_count + 1);
	for (ptrdiff_t i = 0; i < rules->waiver_count; i++)
		ret->waivers[ret->waiver_count++].waiver = rules->waivers[i];
	set_run_gain(tables, NAN); /* of an earlier judgement */
	engine_show(rules->engine, tables, context->base);
	bool ok = true;
	for (int gates = 1; gates >= 0; gates--)
		for (ptrdiff_t i = 0; i < s.rules->count && ok; i++)
			if (s.rules->items[i]->gate == gates)
				ok = judge_rule(&s, i);
	engine_show(rules->engine, NULL, NULL);
	if (!ok)
		return false;
	ret->gain_s = credit(tables, s.claims, s.claim_count, ret->findings, keep);
	set_run_gain(tables, ret->gain_s);
	if (ret->finding_count)
		qsort(ret->findings, (size_t)ret->finding_count, sizeof(*ret->findings), by_rank);
	ret->verdict = run_verdict(&s);
	return true;
}
