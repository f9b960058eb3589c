/*
 * report.json: the whole model as one versioned document.
 *
 * Lossless: what report_json_read makes of it writes the same bytes again.  NaN and missing
 * strings are null; tables are arrays by column, without the columns that are null throughout.
 */
#include <math.h>

#include "base/json.h"
#include "report/model.h"

static void add_text(cJSON *o, const char *key, struct str value, struct arena *keep)
{
	json_add_str(o, key, clean_lines(keep, value));
}

static cJSON *add_item(cJSON *array)
{
	cJSON *item = cJSON_CreateObject();
	cJSON_AddItemToArray(array, item);
	return item;
}

static void write_facts(cJSON *o, const struct report *r, struct arena *keep)
{
	cJSON *facts = json_add_object(o, "facts");
	for (ptrdiff_t i = 0; i < r->fact_count; i++) {
		const struct report_fact *f = &r->facts[i];
		const char *name = arena_z(keep, clean_lines(keep, f->name));
		if (f->is_text)
			add_text(facts, name, f->text, keep);
		else
			json_add_double(facts, name, f->real);
	}
}

static void write_evidence(cJSON *array, const struct report_evidence *e, struct arena *keep)
{
	cJSON *o = add_item(array);
	add_text(o, "name", e->column, keep);
	if (e->is_null)
		json_add_str(o, "value", MISSING);
	else if (e->is_text)
		add_text(o, "value", e->text, keep);
	else
		json_add_double(o, "value", e->real);
	json_add_str(o, "unit", str_from(unit_name(e->unit)));
	json_add_bool(o, "limit", e->is_limit);
	add_text(o, "meaning", e->meaning, keep);
}

static void write_around(cJSON *o, const struct report_finding *f, struct arena *keep)
{
	if (!f->around_count) {
		json_add_str(o, "around", MISSING);
		return;
	}
	cJSON *around = json_add_object(o, "around"), *list;
	json_add_double(around, "takes_left_out", f->around_left[AROUND_TAKES]);
	json_add_double(around, "holds_left_out", f->around_left[AROUND_HOLDS]);
	json_add_double(around, "gives_left_out", f->around_left[AROUND_GIVES]);
	list = json_add_array(around, "ops");
	for (ptrdiff_t i = 0; i < f->around_count; i++) {
		const struct neighbour *n = &f->around[i];
		cJSON *op = add_item(list);
		json_add_str(op, "role", around_role_name(n->role));
		add_text(op, "name", n->name, keep);
		add_text(op, "opcode", n->opcode, keep);
		add_text(op, "shape", n->shape, keep);
		json_add_double(op, "bytes", n->bytes);
	}
}

static void write_finding(cJSON *array, const struct report_finding *f, struct arena *keep)
{
	cJSON *o = add_item(array);
	add_text(o, "rule", f->rule, keep);
	add_text(o, "verdict", f->verdict, keep);
	add_text(o, "subject", f->subject, keep);
	add_text(o, "name", f->name, keep);
	add_text(o, "message", f->message, keep);
	json_add_double(o, "gain_s", f->gain_s);
	json_add_double(o, "claimed_s", f->claimed_s);
	add_text(o, "source_file", f->source_file, keep);
	json_add_double(o, "source_line", f->source_line);
	add_text(o, "scope", f->scope, keep);
	add_text(o, "missing", f->missing, keep);
	add_text(o, "note", f->note, keep);
	json_add_double(o, "seen", f->seen);
	json_add_bool(o, "known", f->known);
	cJSON *evidence = json_add_array(o, "evidence");
	for (ptrdiff_t i = 0; i < f->evidence_count; i++)
		write_evidence(evidence, &f->evidence[i], keep);
	write_around(o, f, keep);
	add_text(o, "cause", f->cause, keep);
	add_text(o, "fix", f->fix, keep);
	add_text(o, "why", f->why, keep);
}

static void write_rule(cJSON *array, const struct report_rule *rule, struct arena *keep)
{
	cJSON *o = add_item(array);
	add_text(o, "name", rule->name, keep);
	add_text(o, "title", rule->title, keep);
	add_text(o, "verdict", rule->verdict, keep);
	add_text(o, "reason", rule->reason, keep);
	add_text(o, "withheld", rule->withheld, keep);
	add_text(o, "todo", rule->todo, keep);
	json_add_double(o, "subjects", rule->subjects);
	json_add_double(o, "unknown", rule->unknown);
	json_add_bool(o, "gate", rule->gate);
	json_add_bool(o, "required", rule->required);
	json_add_bool(o, "breaks", rule->breaks);
}

static const void *row_at(const struct table_def *def, const struct table *t, ptrdiff_t i)
{
	return (const char *)t->rows + i * def->row_bytes;
}

/* Infinity has no JSON either. */
static bool is_absent(const struct column *c, const void *row)
{
	return cell_is_null(c, row) || (c->type == COLUMN_REAL && isinf(cell_real(c, row)));
}

static bool is_null_throughout(
	const struct table_def *def, const struct column *c, const struct table *t)
{
	for (ptrdiff_t i = 0; i < t->count; i++)
		if (!is_absent(c, row_at(def, t, i)))
			return false;
	return true;
}

static cJSON *write_column(const struct table_def *def, const struct column *c,
	const struct table *t, struct arena *keep)
{
	cJSON *array = cJSON_CreateArray();
	for (ptrdiff_t i = 0; i < t->count; i++) {
		const void *row = row_at(def, t, i);
		cJSON_AddItemToArray(array, c->type == COLUMN_TEXT
						    ? json_str(clean_lines(keep, cell_text(c, row)))
						    : json_double(cell_real(c, row)));
	}
	return array;
}

static void write_table(cJSON *tables, const struct table_def *def, const struct table *t,
	double total, struct arena *keep)
{
	if (!t->count)
		return;
	cJSON *o = json_add_object(tables, def->name.p);
	json_add_double(o, "total", total);
	json_add_double(o, "rows", (double)t->count);
	cJSON *columns = json_add_object(o, "columns");
	for (ptrdiff_t i = 0; i < def->column_count; i++) {
		const struct column *c = &def->columns[i];
		if (!is_null_throughout(def, c, t))
			cJSON_AddItemToObject(columns, c->name.p, write_column(def, c, t, keep));
	}
}

static void write_error(cJSON *o, const struct report *r, struct arena *keep)
{
	if (!r->error.p) {
		json_add_str(o, "error", MISSING);
		return;
	}
	cJSON *error = json_add_object(o, "error");
	add_text(error, "id", r->error_id, keep);
	add_text(error, "text", r->error, keep);
}

static void write_report(cJSON *array, const struct report *r, struct arena *keep)
{
	cJSON *o = add_item(array), *list;
	add_text(o, "profile", r->profile, keep);
	add_text(o, "verdict", r->verdict, keep);
	add_text(o, "rules", r->rules, keep);
	write_error(o, r, keep);
	json_add_double(o, "gain_s", r->gain_s);
	write_facts(o, r, keep);
	list = json_add_array(o, "findings");
	for (ptrdiff_t i = 0; i < r->finding_count; i++)
		write_finding(list, &r->findings[i], keep);
	list = json_add_array(o, "results");
	for (ptrdiff_t i = 0; i < r->result_count; i++)
		write_rule(list, &r->results[i], keep);
	list = json_add_array(o, "notes");
	for (ptrdiff_t i = 0; i < r->note_count; i++) {
		cJSON *note = add_item(list);
		add_text(note, "id", r->notes[i].id, keep);
		add_text(note, "text", r->notes[i].text, keep);
	}
	list = json_add_object(o, "tables");
	for (int id = 0; id < TABLE_COUNT; id++)
		write_table(list, &table_defs[id], &r->tables.items[id], r->row_totals[id], keep);
	list = json_add_object(o, "plots");
	for (int id = 0; id < PLOT_COUNT; id++) {
		const struct table *t = &r->plots.items[id];
		write_table(list, &plot_defs[id], t, (double)t->count, keep);
	}
}

bool report_json_write(
	const struct report_set *set, struct arena *keep, struct out *out, struct diag *err)
{
	cJSON *root = cJSON_CreateObject();
	if (!root)
		return diag_set(err, DIAG_LIMIT, "no memory left to write report.json");
	json_add_str(root, "format", STR("rooflint-report"));
	json_add_str(root, "version", STR(REPORT_VERSION));
	json_add_str(root, "tables_version", STR(TABLES_VERSION));
	add_text(root, "tool_version", set->tool_version, keep);
	cJSON *reports = json_add_array(root, "reports");
	for (ptrdiff_t i = 0; i < set->count; i++)
		write_report(reports, &set->items[i], keep);
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
	return true;
}
