/*
 * From tables and judgement to the report model.
 *
 * Every string is cleaned and copied, so a report outlives its run.  Which rows of a
 * long table are kept depends on the rows alone: the largest by time or size, ties in table order.
 */
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "base/stats.h"
#include "report/model.h"

/* What a record, its lists and its parts hold beside numbers becomes the report's own. */
static void own_record(const struct record *record, void *item, struct arena *keep)
{
	for (const struct record_field *f = record->fields; f->name; f++) {
		void *cell = (char *)item + f->offset;
		struct str *text =
			f->type == RECORD_VALUE ? &((struct evidence_value *)cell)->text : cell;
		if (f->type == RECORD_TEXT || f->type == RECORD_VALUE) {
			*text = clean_copy(keep, *text);
		} else if (f->type == RECORD_PART || f->type == RECORD_INLINE) {
			own_record(f->record, cell, keep);
		} else if (f->type == RECORD_LIST) {
			struct template_list list = record_items(f, item);
			char *items = arena_alloc(
				keep, f->record->bytes, alignof(max_align_t), list.count);
			if (list.count)
				memcpy(items, list.items, (size_t)(list.count * f->record->bytes));
			for (ptrdiff_t i = 0; i < list.count; i++)
				own_record(f->record, items + i * f->record->bytes, keep);
			list.items = items;
			memcpy(cell, &list, sizeof(list));
		}
	}
}

static void copy_row(const struct table_def *def, const void *from, void *to, struct arena *keep)
{
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (c->type == COLUMN_TEXT)
			cell_set_text(c, to, clean_copy(keep, cell_text(c, from)));
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

/* What follows for each rule from all of them together. */
static void settle_rules(const struct judgement *j, struct arena *keep, struct report *ret)
{
	for (ptrdiff_t i = 0; i < j->result_count; i++) {
		struct rule_result *r = &ret->results.items[i];
		bool is_open = r->verdict == VERDICT_INCONCLUSIVE;
		r->breaks = r->verdict == VERDICT_FAIL || (is_open && r->demanded);
		if (is_open)
			r->todo = clean_copy(keep, advice_for(ret, j, &j->results[i], keep));
		r->rule = NULL;
	}
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* What users should know of a waiver; missing: nothing. */
static struct str waiver_remark(const struct waiver_result *w)
{
	if (w->subjects[EXCUSE_EXPIRED])
		return STR("has expired: mend the cause, or renew it with a new reason");
	if (w->subjects[EXCUSE_EXCEEDED])
		return STR("was exceeded: what it accepted has grown");
	if (w->subjects[EXCUSE_UNKNOWN])
		return STR("does not hold, as the value that it limits is unknown here");
	if (w->subjects[EXCUSE_UNDATED])
		return STR("does not hold, as the day of the capture is unknown: give --today");
	if (w->judged && !w->subjects[EXCUSE_HOLDS])
		return STR("waives nothing here: remove it if that is so for every profile");
	return MISSING;
}

static void build_waiver_notes(const struct judgement *j, struct arena *keep, struct report *ret)
{
	for (ptrdiff_t i = 0; i < j->waiver_count; i++) {
		const struct waiver *w = j->waivers[i].waiver;
		struct str remark = waiver_remark(&j->waivers[i]);
		if (!remark.p)
			continue;
		ret->notes.items[ret->notes.count++] = (struct diag_note){
			.id = DIAG_WAIVER,
			.text = arena_fmt(keep, "the waiver of %.*s by %.*s (%.*s, line %lld) %.*s",
				STR_ARG(w->rule.text), STR_ARG(w->owner.text),
				STR_ARG(w->origin.doc->file), (long long)w->origin.node->line,
				STR_ARG(remark)),
		};
	}
}

static void build_notes(const struct diag_list *list, struct arena *keep, struct report *ret)
{
	for (int64_t i = 0; i < list->count; i++)
		ret->notes.items[ret->notes.count++] = list->items[i];
	if (list->dropped)
		ret->notes.items[ret->notes.count++] = (struct diag_note){
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

/* Rows of a table at most: of a head what is shown there. */
static ptrdiff_t rows_most(const struct report *r, enum table_id id, enum report_extent extent)
{
	if (extent == REPORT_WHOLE || id == TABLE_quality || id == TABLE_deltas ||
		id == TABLE_files || id == TABLE_phases || id == TABLE_devices)
		return REPORT_MAX_ROWS;
	return id == TABLE_families && is_only_seen(r) ? REPORT_SEEN_ROWS : 0;
}

static void build_table(const struct tables *t, enum table_id id, ptrdiff_t most,
	struct arena *keep, struct report *ret)
{
	ptrdiff_t count = t->items[id].count;
	ret->row_totals[id] = (double)count;
	if (!most)
		return;
	struct pick *picks = arena_make(keep, struct pick, count);
	ptrdiff_t kept = id == TABLE_steps
				 ? pick_steps(t, picks, arena_make(keep, struct pick, count))
				 : pick_heaviest(t, id, picks);
	for (ptrdiff_t i = 0; i < kept && i < most; i++)
		copy_row(&table_defs[id], table_row(&table_defs[id], &t->items[id], picks[i].index),
			table_add(&ret->tables, id, keep), keep);
}

/* ---- plots ----------------------------------------------------------------------------------- */

bool report_plots(struct measured *m, struct arena *keep, struct report *ret, struct diag *err)
{
	struct plots plots;
	int count = 0;
	if (!measure_plots(m, &plots, err))
		return false;
	for (int id = 0; id < PLOT_COUNT; id++)
		for (ptrdiff_t i = 0; i < plots.items[id].count && i < PLOT_MAX_ROWS; i++)
			copy_row(&plot_defs[id], table_row(&plot_defs[id], &plots.items[id], i),
				rows_add(&ret->plots.items[id], &plot_defs[id], keep), keep);
	for (ptrdiff_t i = 0; i < ret->findings.count && count < REPORT_MAX_AROUND; i++) {
		struct finding *f = &ret->findings.items[i];
		bool is_open = f->verdict == VERDICT_FAIL || f->verdict == VERDICT_WARN;
		if (!is_open || !f->name.len || !measure_around(m, f->name, f->scope, &f->around))
			continue;
		own_record(&around_record, &f->around, keep);
		count++;
	}
	return true;
}

/* ---- the two ways to a report ---------------------------------------------------------------- */

void report_build(const struct tables *tables, const struct judgement *judgement,
	const struct ruleset *rules, const struct diag_list *notes, struct str profile,
	enum report_extent extent, struct arena *keep, struct report *ret)
{
	bool is_settled = judgement->verdict == VERDICT_PASS ||
			  judgement->verdict == VERDICT_FAIL || judgement->verdict == VERDICT_WARN;
	*ret = (struct report){ .profile = profile,
		/* Anything else would be green by absence. */
		.verdict = is_settled ? judgement->verdict : VERDICT_INCONCLUSIVE,
		.rules = rules->name,
		.gain_s = judgement->gain_s,
		.facts = build_run(tables, keep),
		.findings = { judgement->findings, judgement->finding_count },
		.results = { judgement->results, judgement->result_count } };
	for (int id = 0; id < TABLE_COUNT; id++)
		build_table(tables, (enum table_id)id, rows_most(ret, (enum table_id)id, extent),
			keep, ret);
	ret->notes.items = arena_make(keep, struct diag_note,
		judgement->waiver_count + (notes ? (ptrdiff_t)notes->count : 0) + 1);
	build_waiver_notes(judgement, keep, ret);
	if (notes)
		build_notes(notes, keep, ret);
	own_record(&report_record, ret, keep);
	settle_rules(judgement, keep, ret);
}

void report_error(const struct diag *error, struct str profile, const struct tables *known,
	struct str rules, struct arena *keep, struct report *ret)
{
	*ret = (struct report){ .profile = profile,
		.verdict = VERDICT_ERROR,
		.rules = rules,
		.error = { error->id, str_from(error->text) },
		.gain_s = NAN,
		.facts = build_run(known, keep) };
	own_record(&report_record, ret, keep);
}
