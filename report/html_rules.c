/* The rules of a report as a page shows them: findings, what could not be judged, the rest. */

#include "report/diff.h"
#include "report/html.h"
#include "report/prose.h"
#include "report/svg.h"

enum { SUBJECTS_SHOWN = 20 /* of one rule; report.json has them all */ };

struct maker {
	const struct report *r;
	struct arena *keep;
	struct str ids; /* before every id */
};

static struct str id_of(const struct maker *m, const char *what, struct str name)
{
	return arena_fmt(
		m->keep, "%.*s%s-%.*s", STR_ARG(m->ids), what, STR_ARG(html_slug(name, m->keep)));
}

/* Rule and subject.  Hosts may share names, so the next of the same pair gets a number. */
static struct str subject_id(const struct maker *m, const struct finding *f)
{
	uint64_t hash = str_hash(f->subject);
	struct str base = arena_fmt(m->keep, "%.*s-%08x", STR_ARG(id_of(m, "finding", f->rule)),
		(unsigned)(hash ^ hash >> 32));
	int before = 0;
	for (const struct finding *o = m->r->findings.items; o < f; o++)
		before += str_eq(o->rule, f->rule) && str_eq(o->subject, f->subject);
	return before ? arena_fmt(m->keep, "%.*s-%d", STR_ARG(base), before + 1) : base;
}

/* ---- evidence -------------------------------------------------------------------------------- */

/*
 * What the page has no words for, or has said: the rule's number, flags, whose meaning is the
 * message, and numbers of no unit.
 */
static bool is_left_out(const struct finding *f, const struct evidence *e)
{
	if (!e->meaning.len)
		return true;
	return !e->value.is_null && !e->value.is_text &&
	       (e->unit == UNIT_BOOL || e->unit == UNIT_NONE || e->value.real == f->value);
}

/* What was measured, then the limits, unless the rule's number stands beside them. */
static struct template_list evidence_list(
	const struct maker *m, const struct finding *f, bool with_limits)
{
	struct html_evidence *items = arena_make(m->keep, struct html_evidence, f->evidence.count);
	ptrdiff_t count = 0;
	for (int limits = 0; limits <= with_limits; limits++)
		for (ptrdiff_t i = 0; i < f->evidence.count; i++) {
			const struct evidence *e = &f->evidence.items[i];
			if (e->limit != limits || (!limits && is_left_out(f, e)))
				continue;
			items[count++] =
				(struct html_evidence){ limits ? STR("limit") : STR("measured"),
					e->name, evidence_text(e, m->keep), e->meaning };
		}
	return LIST(items, count);
}

/* ---- neighbours ------------------------------------------------------------------------------ */

enum { SHAPE_COLUMNS = 72, NAME_COLUMNS = 56 };

static const char *const side_labels[AROUND_ROLES] = {
	[AROUND_TAKES] = "Takes",
	[AROUND_SELF] = "This op",
	[AROUND_HOLDS] = "Holds",
	[AROUND_GIVES] = "Gives to",
};

/* Where a finding stands in the program's graph, side by side; empty when that is not known. */
static struct template_list html_around(const struct finding *f, struct arena *keep)
{
	const struct around *a = &f->around;
	const double left[] = { [AROUND_TAKES] = a->takes_left_out,
		[AROUND_HOLDS] = a->holds_left_out,
		[AROUND_GIVES] = a->gives_left_out };
	struct html_side *sides = arena_make(keep, struct html_side, AROUND_ROLES);
	ptrdiff_t count = 0;
	for (int role = 0; role < AROUND_ROLES; role++) {
		struct html_neighbour *ops = arena_make(keep, struct html_neighbour, a->ops.count);
		ptrdiff_t found = 0;
		for (ptrdiff_t i = 0; i < a->ops.count; i++) {
			const struct neighbour *n = &a->ops.items[i];
			if ((int)n->role != role)
				continue;
			ops[found++] = (struct html_neighbour){
				.name = html_clip(n->name, NAME_COLUMNS, keep),
				.opcode = n->opcode,
				.shape = html_clip(n->shape, SHAPE_COLUMNS, keep),
				.bytes = n->bytes > 0 ? bytes_text(keep, n->bytes) : MISSING,
			};
		}
		if (!found)
			continue;
		struct html_side *side = &sides[count++];
		*side = (struct html_side){ .role = around_role_name((enum around_role)role),
			.label = str_from(side_labels[role]),
			.ops = LIST(ops, found) };
		if (left[role] > 0)
			side->more =
				arena_fmt(keep, "and %.0f more, of smaller results", left[role]);
	}
	return LIST(sides, count);
}

/* ---- findings -------------------------------------------------------------------------------- */

static struct html_subject subject_of(const struct maker *m, const struct finding *f)
{
	struct html_subject s = { .id = subject_id(m, f), .message = f->message };
	if (f->gain_s > 0)
		s.cost = arena_fmt(m->keep, "up to %.*s", STR_ARG(time_text(m->keep, f->gain_s)));
	s.place = place_text(f->source_file, f->source_line, m->keep);
	s.around = html_around(f, m->keep);
	return s;
}

static struct template_list subjects_of(
	const struct maker *m, const struct group *g, ptrdiff_t from, struct str *more)
{
	ptrdiff_t count = g->count > from ? g->count - from : 0;
	ptrdiff_t shown = count < SUBJECTS_SHOWN ? count : SUBJECTS_SHOWN;
	struct html_subject *items = arena_make(m->keep, struct html_subject, shown);
	for (ptrdiff_t i = 0; i < shown; i++)
		items[i] = subject_of(m, g->items[from + i]);
	if (count > shown)
		*more = arena_fmt(
			m->keep, "and %lld more, in report.json", (long long)(count - shown));
	return LIST(items, shown);
}

static struct html_finding finding_card(const struct maker *m, const struct group *g)
{
	const struct finding_told t = prose_told(m->r, g, m->keep);
	const struct finding *f = t.finding;
	struct html_finding ret = { .id = id_of(m, "rule", f->rule),
		.subject_id = subject_id(m, f),
		.rule = f->rule,
		.verdict = verdict_name(f->verdict),
		.word = str_from(verdict_looks[f->verdict].word),
		.icon = svg_icon(f->verdict),
		.message = t.message,
		.place = t.place,
		.scope = f->scope,
		.cost = t.cost,
		.share = svg_share(g->gain_s / run_of(m->r)->step_mean_s, m->keep),
		.expected = t.expected,
		.number = t.number,
		.note = html_spans(f->note, m->keep),
		.unknown = t.unknown,
		.evidence = evidence_list(m, f, !t.number.len),
		.around = html_around(f, m->keep),
		.cause = html_prose(f->cause, m->keep),
		.fix = html_prose(f->fix, m->keep),
		.why = html_prose(t.why, m->keep) };
	if (t.rule)
		ret.limits = svg_limits(&t.rule->number, f->value, m->keep);
	ret.others = subjects_of(m, g, 1, &ret.others_more);
	ret.others_count = arena_fmt(m->keep, "%td more like it", g->count - 1);
	ret.warned = subjects_of(m, &t.warned, 0, &ret.warned_more);
	return ret;
}

static struct template_list findings_of(
	const struct maker *m, const struct group *groups, ptrdiff_t count)
{
	struct html_finding *items = arena_make(m->keep, struct html_finding, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		struct html_finding *f = &items[i];
		enum verdict v = groups[i].items[0]->verdict;
		*f = finding_card(m, &groups[i]);
		f->is_open = !i && v != VERDICT_WAIVED;
		/* "rule-NAME" is where the rule's own verdict stands. */
		const struct rule_result *rule = rule_of(m->r, f->rule);
		if (rule && rule->verdict != v)
			f->id = id_of(m, arena_z(m->keep, verdict_name(v)), f->rule);
	}
	return LIST(items, count);
}

/* ---- what could not be judged ---------------------------------------------------------------- */

static struct template_list troubles_of(const struct maker *m)
{
	struct trouble *troubles;
	ptrdiff_t count = group_troubles(m->r, m->keep, &troubles);
	struct html_trouble *items = arena_make(m->keep, struct html_trouble, count);
	for (ptrdiff_t i = 0; i < count; i++) {
		const struct trouble *t = &troubles[i];
		const struct rule_result *first = t->rules[0];
		struct group g = group_of(m->r, first->name, VERDICT_INCONCLUSIVE, m->keep);
		struct html_rule_name *names = arena_make(m->keep, struct html_rule_name, t->count);
		for (ptrdiff_t k = 0; k < t->count; k++)
			names[k] = (struct html_rule_name){ t->rules[k]->name,
				id_of(m, "rule", t->rules[k]->name) };
		items[i] = (struct html_trouble){ .rules = LIST(names, t->own),
			.waiting = LIST(names + t->own, t->count - t->own),
			.icon = svg_icon(first->verdict),
			.reason = html_spans(t->reason, m->keep),
			.todo = html_prose(t->todo, m->keep) };
		if (g.count)
			items[i].evidence = evidence_list(m, g.items[0], false);
	}
	return LIST(items, count);
}

/* ---- the others ------------------------------------------------------------------------------ */

static struct template_list rules_of(const struct maker *m, const enum verdict *verdicts, int n)
{
	struct html_rule *items = NULL;
	ptrdiff_t count = 0, cap = 0;
	for (ptrdiff_t i = 0; i < m->r->results.count; i++) {
		const struct rule_result *rule = &m->r->results.items[i];
		for (int k = 0; k < n; k++)
			if (rule->verdict == verdicts[k])
				*arena_push(m->keep, items, count, cap) = (struct html_rule){
					.name = rule->name,
					.id = id_of(m, "rule", rule->name),
					.title = rule->title,
					.verdict = verdict_name(rule->verdict),
					.word = str_from(verdict_looks[rule->verdict].word),
					.reason = html_spans(rule->reason, m->keep),
					.number = prose_limits(rule, rule->number.value, m->keep),
					.limits = svg_limits(
						&rule->number, rule->number.value, m->keep),
					.icon = svg_icon(rule->verdict),
				};
	}
	return LIST(items, count);
}

static struct template_list counts_of(const struct maker *m)
{
	struct html_count *items = arena_make(m->keep, struct html_count, RULE_VERDICTS);
	ptrdiff_t count = 0;
	for (int i = 0; i < RULE_VERDICTS; i++) {
		enum verdict v = rule_verdicts[i];
		const struct verdict_look *look = &verdict_looks[v];
		ptrdiff_t n = count_results(m->r, v);
		if (n)
			items[count++] = (struct html_count){
				arena_fmt(m->keep, "%lld %s", (long long)n,
					n == 1 ? look->one : look->many),
				verdict_name(v),
				arena_fmt(m->keep, "%.*s%s", STR_ARG(m->ids),
					v == VERDICT_FAIL || v == VERDICT_WARN ? "findings"
					: v == VERDICT_NOT_APPLICABLE || v == VERDICT_OFF
						? "skipped"
						: look->one),
			};
	}
	return LIST(items, count);
}

/* The page says with the rule why it could not be judged. */
static bool is_reason(const struct report *r, struct str check)
{
	for (ptrdiff_t i = 0; i < r->results.count; i++)
		if (str_eq(r->results.items[i].lacks, check))
			return true;
	return false;
}

static struct template_list notes_of(const struct maker *m)
{
	const struct quality_row *rows = table_rows(&m->r->tables, quality);
	struct html_note *items = NULL;
	ptrdiff_t count = 0, cap = 0;
	for (ptrdiff_t i = 0; i < table_count(&m->r->tables, quality); i++)
		if (rows[i].ok == 0 && rows[i].detail.len && !is_reason(m->r, rows[i].name))
			*arena_push(m->keep, items, count, cap) =
				(struct html_note){ rows[i].name, rows[i].detail };
	for (ptrdiff_t i = 0; i < m->r->notes.count; i++)
		if (!note_is_comparison(&m->r->notes.items[i]))
			*arena_push(m->keep, items, count, cap) =
				(struct html_note){ diag_name(m->r->notes.items[i].id, m->keep),
					m->r->notes.items[i].text };
	return LIST(items, count);
}

struct template_list html_lines(struct list lines, struct arena *keep)
{
	struct html_note *items = arena_make(keep, struct html_note, lines.count);
	for (ptrdiff_t i = 0; i < lines.count; i++)
		items[i].text = lines.items[i];
	return LIST(items, lines.count);
}

void html_rules(const struct report *r, struct arena *keep, struct html_report *ret)
{
	static const enum verdict passed[] = { VERDICT_PASS };
	static const enum verdict skipped[] = { VERDICT_NOT_APPLICABLE, VERDICT_OFF };
	struct maker m = { r, keep, ret->ids };
	ret->word = str_from(verdict_looks[r->verdict].word);
	struct group *open, *waived;
	ptrdiff_t found = group_open(r, keep, &open);
	ptrdiff_t waivers = group_findings(r, VERDICT_WAIVED, keep, &waived);
	ret->found = findings_of(&m, open, found);
	/* One alone is the headline, and what it says is not said again. */
	const struct finding *told = headline_finding(r, keep);
	struct html_finding *brief = arena_make(keep, struct html_finding, found + 1);
	ptrdiff_t count = 0;
	for (ptrdiff_t i = 0; i < found && found > 1; i++)
		if (open[i].items[0] != told)
			brief[count++] = ((const struct html_finding *)ret->found.items)[i];
	ret->brief = LIST(brief, count);
	ret->waived = findings_of(&m, waived, waivers);
	ret->unsure = troubles_of(&m);
	ret->passed = rules_of(&m, passed, 1);
	ret->skipped = rules_of(&m, skipped, 2);
	ret->counts = counts_of(&m);
	ret->notes = notes_of(&m);
	ret->deltas = html_lines(comparison_lines(r, COMPARISON_WHOLE, keep), keep);
	ret->changes = html_changes(
		table_rows(&r->tables, changes), table_count(&r->tables, changes), DIFF_MOST, keep);
}
