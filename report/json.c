/*
 * report.json: the whole model as one versioned document.
 *
 * Lossless: what report_json_read makes of it writes the same bytes again.  NaN and missing
 * strings are null; tables are arrays by column, without the columns that are null throughout.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/model.h"

static void add_text(cJSON *o, const char *key, struct str value, struct arena *keep)
{
	json_add_str(o, key, clean_lines(keep, value));
}

void json_add_cell(
	cJSON *o, const char *key, const struct column *c, const void *row, struct arena *keep)
{
	if (c->type == COLUMN_TEXT)
		add_text(o, key, cell_text(c, row), keep);
	else
		json_add_double(o, key, cell_real(c, row));
}

static void write_facts(cJSON *o, const struct report *r, struct arena *keep)
{
	const struct table_def *run = &table_defs[TABLE_run];
	for (const struct column *c = run->columns; c < run->columns + run->column_count; c++)
		if (!cell_is_null(c, run_of(r)))
			json_add_cell(o, c->name.p, c, run_of(r), keep);
}

/* Infinity has no JSON either. */
static bool is_absent(const struct column *c, const void *row)
{
	return cell_is_null(c, row) || (c->type == COLUMN_REAL && isinf(cell_real(c, row)));
}

static void write_column(cJSON *columns, const struct table_def *def, const struct column *c,
	const struct table *t, struct arena *keep)
{
	cJSON *array = cJSON_CreateArray();
	bool is_known = false;
	for (ptrdiff_t i = 0; i < t->count; i++) {
		const void *row = table_row(def, t, i);
		is_known |= !is_absent(c, row);
		cJSON_AddItemToArray(array, c->type == COLUMN_TEXT
						    ? json_str(clean_lines(keep, cell_text(c, row)))
						    : json_double(cell_real(c, row)));
	}
	if (is_known)
		cJSON_AddItemToObject(columns, c->name.p, array);
	else
		cJSON_Delete(array);
}

/* Without `totals` all rows there were are kept. */
static void write_tables(cJSON *o, const struct shelf *shelf, const struct table *tables,
	const double *totals, struct arena *keep)
{
	for (int id = 0; id < shelf->count; id++) {
		const struct table_def *def = &shelf->defs[id];
		const struct table *t = &tables[id];
		if (!t->count)
			continue;
		cJSON *table = json_add_object(o, def->name.p);
		json_add_double(table, "total", totals ? totals[id] : (double)t->count);
		json_add_double(table, "rows", (double)t->count);
		cJSON *columns = json_add_object(table, "columns");
		for (ptrdiff_t i = 0; i < def->column_count; i++)
			write_column(columns, def, &def->columns[i], t, keep);
	}
}

static void write_record(
	cJSON *o, const struct record *record, const void *item, struct arena *keep);

/* A part is there when its list has items, or its required text is set. */
static bool has_part(const struct record *part, const char *item)
{
	for (const struct record_field *f = part->fields; f->name; f++)
		if (f->type == RECORD_LIST || f->is_needed)
			return f->type == RECORD_LIST
				       ? record_items(f, item).count > 0
				       : ((const struct str *)(item + f->offset))->p != NULL;
	return true;
}

static void write_list(cJSON *o, const struct record_field *f, const char *item, struct arena *keep)
{
	cJSON *array = json_add_array(o, f->name);
	struct template_list list = record_items(f, item);
	for (ptrdiff_t i = 0; i < list.count; i++)
		write_record(json_push_object(array), f->record,
			(const char *)list.items + i * f->record->bytes, keep);
}

static void write_field(
	cJSON *o, const struct record_field *f, const char *item, struct arena *keep)
{
	const char *cell = item + f->offset;
	const struct report *r = (const void *)item;
	const struct evidence_value *v = (const void *)cell;
	int value;
	switch (f->type) {
	case RECORD_TEXT:
		add_text(o, f->name, *(const struct str *)(const void *)cell, keep);
		break;
	case RECORD_REAL:
		json_add_double(o, f->name, *(const double *)(const void *)cell);
		break;
	case RECORD_FLAG:
		json_add_bool(o, f->name, *(const bool *)cell);
		break;
	case RECORD_WORD:
		memcpy(&value, cell, sizeof(value));
		json_add_str(o, f->name, f->words->word(value));
		break;
	case RECORD_DIAG:
		memcpy(&value, cell, sizeof(value));
		json_add_str(o, f->name, diag_name((enum diag_id)value, keep));
		break;
	case RECORD_LIST:
		write_list(o, f, item, keep);
		break;
	case RECORD_PART:
		if (has_part(f->record, cell))
			write_record(json_add_object(o, f->name), f->record, cell, keep);
		else
			json_add_str(o, f->name, MISSING);
		break;
	case RECORD_INLINE:
		write_record(o, f->record, cell, keep);
		break;
	case RECORD_CONSTANT:
		json_add_str(o, f->name, str_from(f->text));
		break;
	case RECORD_VALUE:
		if (v->is_text || v->is_null)
			add_text(o, f->name, v->is_null ? MISSING : v->text, keep);
		else
			json_add_double(o, f->name, v->real);
		break;
	case RECORD_FACTS:
		write_facts(json_add_object(o, f->name), r, keep);
		break;
	case RECORD_TABLES:
		write_tables(json_add_object(o, f->name), &tables_shelf, r->tables.items,
			r->row_totals, keep);
		break;
	case RECORD_PLOTS:
		write_tables(json_add_object(o, f->name), &plots_shelf, r->plots.items, NULL, keep);
		break;
	case RECORD_PICTURE:
		break;
	}
}

static void write_record(
	cJSON *o, const struct record *record, const void *item, struct arena *keep)
{
	for (const struct record_field *f = record->fields; f->name; f++)
		write_field(o, f, item, keep);
}

void report_json_write(const struct report_set *set, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject();
	write_record(root, &document_record, set, keep);
	json_write(root, keep, out);
}
