/* The fleet as data: every answer as JSON, the ranking as CSV.  Base units, no rounding. */
#include "base/json.h"
#include "report/fleet.h"
#include "report/model.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A year's history has tens of thousands of rows: each is gone when it is written. */
static void put_json_answer(
	struct json_stream *s, const struct fleet_answer *a, const struct arena *keep)
{
	json_open(s, a->question->name.p, '[');
	for (ptrdiff_t i = 0; i < a->count; i++) {
		const struct fleet_row *r = &a->rows[i];
		struct arena scratch = *keep;
		cJSON *row = cJSON_CreateObject();
		for (ptrdiff_t k = 0; k < a->question->column_count; k++) {
			const struct fleet_column *c = &a->question->columns[k];
			if (c->is_text)
				json_add_str(
					row, c->name.p, clean_lines(&scratch, r->cells[k].text));
			else
				json_add_double(row, c->name.p, r->cells[k].real);
		}
		json_add_str(row, "run", clean_lines(&scratch, r->run));
		json_add_str(row, "profile", clean_lines(&scratch, r->profile));
		json_item(s, NULL, row);
		cJSON_Delete(row);
	}
	json_close(s, ']');
}

void report_fleet_json(const struct fleet_report *r, struct arena *keep, struct out *out)
{
	cJSON *head = cJSON_CreateObject(), *totals;
	struct json_stream s = { .out = out };
	json_add_str(head, "version", STR(FLEET_REPORT_VERSION));
	json_add_str(head, "tool_version", r->tool_version);
	json_add_str(head, "from", r->window.from);
	json_add_str(head, "to", r->window.to);
	json_add_str(head, "before", r->window.before);
	json_add_str(head, "weighted_by", r->by_hours ? STR("chip-hours") : STR("chips"));
	totals = json_add_object(head, "row_totals");
	for (int id = 0; id < FLEET_COUNT; id++)
		json_add_i64(totals, fleet_questions[id].name.p, r->answers[id].total);
	json_open(&s, NULL, '{');
	json_items(&s, head);
	for (int id = 0; id < FLEET_COUNT; id++)
		put_json_answer(&s, &r->answers[id], keep);
	json_close(&s, '}');
	cJSON_Delete(head);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

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
			out_csv(out, clean_lines(keep, cell->text));
		else
			out_double(out, cell->real);
	}
	out_char(out, ',');
	out_csv(out, clean_lines(keep, a->rows[row].profile));
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
