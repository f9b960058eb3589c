/*
 * From tables and judgement to the report model.
 *
 * Every string is cleaned and copied, so a report outlives the run it tells of.  Which rows of a
 * long table are kept depends on the rows alone: the largest by time or size, ties in table order.
 */
#include <math.h>

#include "base/text.h"
#include "base/stats.h"
#include "report/model.h"

static struct str own(struct arena *keep, struct str s)
{
	return arena_str(keep, clean_lines(keep, s));
}

/* Those of a record, when it has taken all of its fields. */
static void own_texts(const struct record *record, void *item, struct arena *keep)
{
	for (const struct record_field *f = record->fields; f->name; f++) {
		struct str *text = (void *)((char *)item + f->offset);
		if (f->type == RECORD_TEXT)
			*text = own(keep, *text);
	}
}

static void copy_row(const struct table_def *def, const void *from, void *to, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (c->type == COLUMN_TEXT)
			cell_set_text(c, to, own(keep, cell_text(c, from)));
		else
			cell_set_real(c, to, cell_real(c, from));
	}
}

/* ---- facts and findings ---------------------------------------------------------------------- */

static struct run_row *build_run(const struct tables *tables, struct arena *keep)
{
	struct tables own_tables = { 0 };
	if (!table_count(tables, run))
		return NULL;
	struct run_row *row = table_new(&own_tables, run, keep);
	copy_row(&table_defs[TABLE_run], table_rows(tables, run), row, keep);
	return row;
}

static void build_evidence(const struct rule *rule, const struct evidence *e, struct arena *keep,
	struct report_evidence *ret)
{
	struct str table, column;
	/* "column" in the rule's own table, else "table.column". */
	const struct table_def *def =
		str_cut(e->column, '.', &table, &column) ? table_find(table) : rule->from;
	const struct column *c = def ? table_column(def, column.len ? column : e->column) : NULL;
	ret->name = own(keep, e->column);
	ret->unit = e->unit;
	ret->value.is_null = e->is_null || (!e->is_text && !isfinite(e->real));
	ret->value.is_text = e->is_text && !ret->value.is_null;
	ret->limit = e->is_param;
	if (ret->value.is_text)
		ret->value.text = own(keep, e->text);
	else if (!ret->value.is_null)
		ret->value.real = e->real;
	if (c)
		ret->meaning = c->meaning;
}

static void build_finding(const struct finding *f, struct arena *keep, struct report_finding *ret)
{
	const struct rule *rule = f->rule;
	ret->rule = rule->name;
	ret->verdict = f->verdict;
#define TAKE(R, type, field, meaning) ret->field = f->field;
	FINDING_SAID(, TAKE)
#undef TAKE
	ret->cause = f->cause;
	ret->fix = f->fix;
	ret->seen = f->seen ? (double)f->seen : NAN;
	ret->known = f->known;
	ret->evidence.items = arena_make(keep, struct report_evidence, f->evidence_count);
	ret->evidence.count = f->evidence_count;
	for (ptrdiff_t i = 0; i < f->evidence_count; i++)
		build_evidence(rule, &f->evidence[i], keep, &ret->evidence.items[i]);
	ret->places.items = arena_make(keep, struct found_place, f->place_count);
	ret->places.count = f->place_count;
	for (ptrdiff_t i = 0; i < f->place_count; i++) {
		ret->places.items[i] = f->places[i];
		own_texts(&found_place_record, &ret->places.items[i], keep);
	}
	own_texts(&report_finding_record, ret, keep);
}

static void build_rule(const struct judgement *j, const struct rule_result *result,
	struct arena *keep, const struct report *report, struct report_rule *ret)
{
	const struct rule *rule = result->rule;
	ret->name = rule->name;
	ret->title = rule->title.text;
	ret->says = rule->says.text;
	ret->why = rule->why.text;
	ret->verdict = result->verdict;
	ret->reason = result->reason;
	ret->closed_gate = result->closed_gate;
	ret->group = rule->group.text;
	ret->withheld = (double)result->withheld;
	ret->let_be = (double)result->let_be;
	ret->cost = result->cost;
	ret->of_capacity = result->of_capacity;
	ret->number = result->number;
	ret->subjects = (double)result->subjects;
	ret->unknown = (double)result->unknown;
	ret->gate = rule->gate;
	ret->demanded = result->is_demanded;
	ret->breaks = result->verdict == VERDICT_FAIL ||
		      (result->verdict == VERDICT_INCONCLUSIVE && result->is_demanded);
	if (result->verdict == VERDICT_INCONCLUSIVE)
		ret->todo = advice_for(report, j, result, keep);
	own_texts(&report_rule_record, ret, keep);
}

static void build_judgement(const struct judgement *j, struct arena *keep, struct report *ret)
{
	bool is_settled = j->verdict == VERDICT_PASS || j->verdict == VERDICT_FAIL ||
			  j->verdict == VERDICT_WARN;
	/* Anything else would be green by absence. */
	ret->verdict = is_settled ? j->verdict : VERDICT_INCONCLUSIVE;
	ret->gain_s = j->gain_s;
	ret->findings.items = arena_make(keep, struct report_finding, j->finding_count);
	ret->findings.count = j->finding_count;
	for (ptrdiff_t i = 0; i < j->finding_count; i++)
		build_finding(&j->findings[i], keep, &ret->findings.items[i]);
	ret->results.items = arena_make(keep, struct report_rule, j->result_count);
	ret->results.count = j->result_count;
	for (ptrdiff_t i = 0; i < j->result_count; i++)
		build_rule(j, &j->results[i], keep, ret, &ret->results.items[i]);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* What a waiver needs to be told of, or the missing string. */
static struct str waiver_remark(const struct waiver_result *w)
{
	if (w->expired)
		return STR("has expired: mend the cause, or renew it with a new reason");
	if (w->exceeded)
		return STR("was exceeded: what it accepted has grown");
	if (w->unknown)
		return STR("does not hold, as its ceiling asks for what is not known here");
	if (w->undated)
		return STR("does not hold, as the day of the capture is not known: give --today");
	if (w->judged && !w->waived)
		return STR("waives nothing here: take it out if that holds for every profile");
	return MISSING;
}

static void build_waiver_notes(const struct judgement *j, struct arena *keep, struct report *ret)
{
	for (ptrdiff_t i = 0; i < j->waiver_count; i++) {
		const struct waiver *w = j->waivers[i].waiver;
		struct str remark = waiver_remark(&j->waivers[i]);
		if (!remark.p)
			continue;
		ret->notes.items[ret->notes.count++] = (struct report_note){
			.id = DIAG_WAIVER,
			.text = own(keep,
				arena_fmt(keep, "the waiver of %.*s by %.*s (%.*s, line %lld) %.*s",
					STR_ARG(w->rule.text), STR_ARG(w->owner.text),
					STR_ARG(w->origin.doc->file),
					(long long)w->origin.node->line, STR_ARG(remark))),
		};
	}
}

static void build_notes(const struct diag_list *list, struct arena *keep, struct report *ret)
{
	for (int64_t i = 0; i < list->count; i++)
		ret->notes.items[ret->notes.count++] = (struct report_note){
			.id = list->items[i].id,
			.text = own(keep, list->items[i].text),
		};
	if (list->dropped)
		ret->notes.items[ret->notes.count++] = (struct report_note){
			.id = DIAG_LIMIT,
			.text = arena_fmt(
				keep, "%lld more remarks were left out", (long long)list->dropped),
		};
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* What makes a row worth keeping; tables without a line keep their first rows in order. */
static const struct str measures[TABLE_COUNT] = {
	[TABLE_programs] = STR_INIT("time_s"),
	[TABLE_ops] = STR_INIT("time_s"),
	[TABLE_families] = STR_INIT("time_s"),
	[TABLE_edges] = STR_INIT("bytes"),
	[TABLE_collectives] = STR_INIT("exposed_s"),
	[TABLE_buffers] = STR_INIT("bytes"),
	[TABLE_live] = STR_INIT("bytes"),
	[TABLE_gaps] = STR_INIT("time_s"),
	[TABLE_compiles] = STR_INIT("time_s"),
	[TABLE_changes] = STR_INIT("size_s"),
};

struct pick {
	ptrdiff_t index; /* row of the table */
	double weight;
};

/* Heaviest first, unknown last, ties in table order: a total order, so qsort is deterministic. */
static int pick_cmp(const void *a, const void *b)
{
	const struct pick *x = a, *y = b;
	if (isnan(x->weight) != isnan(y->weight))
		return isnan(x->weight) ? 1 : -1;
	int order = order_numbers(y->weight, x->weight);
	return order ? order : order_integers(x->index, y->index);
}

static ptrdiff_t pick_heaviest(const struct tables *t, enum table_id id, struct pick *picks)
{
	const struct column *c = table_column(&table_defs[id], measures[id]);
	ptrdiff_t count = t->items[id].count;
	for (ptrdiff_t i = 0; i < count; i++)
		picks[i] = (struct pick){ i,
			c ? cell_real(c, table_row(&table_defs[id], &t->items[id], i)) : 0 };
	sort_by(picks, count, pick_cmp);
	return count < REPORT_MAX_ROWS ? count : REPORT_MAX_ROWS;
}

/* `want` of `count` picks, evenly spaced from the first on; in place. */
static ptrdiff_t thin(struct pick *picks, ptrdiff_t count, ptrdiff_t want)
{
	if (count <= want)
		return count;
	for (ptrdiff_t i = 0; i < want; i++)
		picks[i] = picks[i * count / want];
	return want;
}

/* The first device whole, for the plots of one device; the others fill what room is left. */
static ptrdiff_t pick_steps(const struct tables *t, struct pick *picks, struct pick *others)
{
	const struct steps_row *rows = table_rows(t, steps);
	ptrdiff_t first = 0, other = 0;
	for (ptrdiff_t i = 0; i < table_count(t, steps); i++) {
		bool is_first = str_eq(rows[i].device, rows[0].device) &&
				str_eq(rows[i].host, rows[0].host);
		*(is_first ? &picks[first++] : &others[other++]) = (struct pick){ i, 0 };
	}
	first = thin(picks, first, REPORT_MAX_ROWS);
	other = thin(others, other, REPORT_MAX_ROWS - first);
	for (ptrdiff_t i = 0; i < other; i++)
		picks[first + i] = others[i];
	return first + other;
}

static void build_table(
	const struct tables *t, enum table_id id, struct arena *keep, struct report *ret)
{
	ptrdiff_t count = t->items[id].count;
	struct pick *picks = arena_make(keep, struct pick, count);
	ptrdiff_t kept = id == TABLE_steps
				 ? pick_steps(t, picks, arena_make(keep, struct pick, count))
				 : pick_heaviest(t, id, picks);
	ret->row_totals[id] = (double)count;
	for (ptrdiff_t i = 0; i < kept; i++)
		copy_row(&table_defs[id], table_row(&table_defs[id], &t->items[id], picks[i].index),
			table_add(&ret->tables, id, keep), keep);
}

void report_keep_head(struct report *r)
{
	for (int id = 0; id < TABLE_COUNT; id++) {
		struct table *t = &r->tables.items[id];
		bool is_seen = is_only_seen(r) && table_is_seen((enum table_id)id);
		if (id == TABLE_quality || id == TABLE_deltas || id == TABLE_files ||
			id == TABLE_phases || id == TABLE_devices)
			continue;
		if (!is_seen)
			*t = (struct table){ NULL, 0, 0 };
		else if (t->count > REPORT_SEEN_ROWS)
			t->count = REPORT_SEEN_ROWS;
	}
}

/* ---- plots ----------------------------------------------------------------------------------- */

static void build_around(const struct around *around, struct arena *keep, struct report_finding *f)
{
	struct report_around *a = &f->around;
	a->ops.items = arena_make(keep, struct neighbour, around->count);
	a->ops.count = around->count;
	for (ptrdiff_t i = 0; i < around->count; i++) {
		a->ops.items[i] = around->items[i];
		own_texts(&neighbour_record, &a->ops.items[i], keep);
	}
	a->takes_left_out = (double)around->left_out[AROUND_TAKES];
	a->holds_left_out = (double)around->left_out[AROUND_HOLDS];
	a->gives_left_out = (double)around->left_out[AROUND_GIVES];
}

bool report_plots(struct measured *m, struct arena *keep, struct report *ret, struct diag *err)
{
	struct plots plots;
	struct around around;
	int count = 0;
	if (!measure_plots(m, &plots, err))
		return false;
	for (int id = 0; id < PLOT_COUNT; id++)
		for (ptrdiff_t i = 0; i < plots.items[id].count && i < PLOT_MAX_ROWS; i++)
			copy_row(&plot_defs[id], table_row(&plot_defs[id], &plots.items[id], i),
				rows_add(&ret->plots.items[id], &plot_defs[id], keep), keep);
	for (ptrdiff_t i = 0; i < ret->findings.count && count < REPORT_MAX_AROUND; i++) {
		struct report_finding *f = &ret->findings.items[i];
		bool is_open = f->verdict == VERDICT_FAIL || f->verdict == VERDICT_WARN;
		if (!is_open || !f->name.len || !measure_around(m, f->name, f->scope, &around))
			continue;
		build_around(&around, keep, f);
		count++;
	}
	return true;
}

/* ---- the two ways to a report ---------------------------------------------------------------- */

void report_build(const struct tables *tables, const struct judgement *judgement,
	const struct ruleset *rules, const struct diag_list *notes, struct str profile,
	struct arena *keep, struct report *ret)
{
	*ret = (struct report){ 0 };
	ret->profile = own(keep, profile);
	ret->rules = own(keep, rules->name);
	ret->facts = build_run(tables, keep);
	for (int id = 0; id < TABLE_COUNT; id++)
		build_table(tables, (enum table_id)id, keep, ret);
	build_judgement(judgement, keep, ret); /* what to do depends on what was read */
	ret->notes.items = arena_make(keep, struct report_note,
		judgement->waiver_count + (notes ? (ptrdiff_t)notes->count : 0) + 1);
	build_waiver_notes(judgement, keep, ret);
	if (notes)
		build_notes(notes, keep, ret);
}

void report_error(const struct diag *error, struct str profile, const struct tables *known,
	struct str rules, struct arena *keep, struct report *ret)
{
	*ret = (struct report){ 0 };
	ret->facts = build_run(known, keep);
	ret->profile = own(keep, profile);
	ret->rules = own(keep, rules);
	ret->verdict = VERDICT_ERROR;
	ret->error.id = error->id;
	ret->error.text = own(keep, str_from(error->text));
	ret->gain_s = NAN;
}
