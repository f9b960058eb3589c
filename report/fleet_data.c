/* The fleet as data: every answer as JSON, the ranking as CSV.  Base units, no rounding. */
#include <math.h>

#include "base/json.h"
#include "report/fleet.h"
#include "report/model.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_cell(cJSON *object, const struct fleet_column *c, const struct fleet_cell *cell,
	struct arena *keep)
{
	if (c->is_text)
		json_add_str(object, c->name.p, clean_lines(keep, cell->text));
	else
		json_add_double(object, c->name.p, cell->real);
}

static void add_answer(cJSON *root, const struct fleet_answer *a, struct arena *keep)
{
	const struct fleet_question *q = a->question;
	cJSON *rows = json_add_array(root, q->name.p);
	for (ptrdiff_t i = 0; i < a->count; i++) {
		cJSON *row = cJSON_CreateObject();
		for (ptrdiff_t k = 0; k < q->column_count; k++)
			add_cell(row, &q->columns[k], &a->rows[i].cells[k], keep);
		json_add_str(row, "run", clean_lines(keep, a->rows[i].run));
		json_add_str(row, "profile", clean_lines(keep, a->rows[i].profile));
		cJSON_AddItemToArray(rows, row);
	}
}

void report_fleet_json(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *totals;
	json_add_str(root, "version", STR(FLEET_REPORT_VERSION));
	json_add_str(root, "tool_version", r->tool_version);
	json_add_str(root, "from", r->window.from);
	json_add_str(root, "to", r->window.to);
	json_add_str(root, "before", r->window.before);
	json_add_str(root, "weighted_by", r->has_usage ? STR("chip-hours") : STR("chips"));
	totals = json_add_object(root, "row_totals");
	for (int id = 0; id < FLEET_COUNT; id++) {
		json_add_i64(totals, fleet_questions[id].name.p, r->answers[id].total);
		add_answer(root, &r->answers[id], keep);
	}
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/*
 * RFC 4180: quoted, with quotes doubled.  A spreadsheet runs what begins like a formula, quoted or
 * not; behind an apostrophe it is text.
 */
static void put_quoted(struct out *out, struct str s)
{
	struct str head;
	out_char(out, '"');
	if (s.len && str_find_char(STR("=+-@"), s.p[0]) >= 0)
		out_char(out, '\'');
	for (bool more = true; more;) {
		more = str_cut(s, '"', &head, &s);
		out_str(out, head);
		out_z(out, more ? "\"\"" : "");
	}
	out_char(out, '"');
}

static void put_row(
	const struct fleet_answer *a, ptrdiff_t row, struct arena *keep, struct out *out)
{
	for (ptrdiff_t k = 0; k < a->question->column_count; k++) {
		const struct fleet_cell *cell = &a->rows[row].cells[k];
		if (k)
			out_char(out, ',');
		if (cell->is_null)
			continue;
		if (a->question->columns[k].is_text)
			put_quoted(out, clean_lines(keep, cell->text));
		else
			out_double(out, cell->real);
	}
	out_char(out, ',');
	put_quoted(out, clean_lines(keep, a->rows[row].profile));
	out_char(out, '\n');
}

void report_fleet_csv(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	const struct fleet_answer *a = &r->answers[FLEET_RANKING];
	for (ptrdiff_t k = 0; k < a->question->column_count; k++)
		out_fmt(out, "%.*s,", STR_ARG(a->question->columns[k].name));
	out_z(out, "profile\n");
	for (ptrdiff_t i = 0; i < a->count; i++)
		put_row(a, i, keep, out);
}
