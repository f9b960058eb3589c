/* See report_schema.h. */
#include "tests/unit/report_schema.h"

#include <string.h>

#include "base/json.h"
#include "report/model.h"

/* ---- what a value may be --------------------------------------------------------------------- */

static cJSON *typed(const char *type)
{
	cJSON *o = cJSON_CreateObject();
	json_add_str(o, "type", str_from(type));
	return o;
}

static cJSON *nullable(const char *type)
{
	cJSON *o = cJSON_CreateObject(), *types = json_add_array(o, "type");
	cJSON_AddItemToArray(types, json_str(str_from(type)));
	cJSON_AddItemToArray(types, json_str(STR("null")));
	return o;
}

static cJSON *ref(const char *name)
{
	char text[64] = "#/$defs/";
	cJSON *o = cJSON_CreateObject();
	strncat(text, name, sizeof(text) - strlen(text) - 1);
	json_add_str(o, "$ref", str_from(text));
	return o;
}

static cJSON *list_of(cJSON *items)
{
	cJSON *o = typed("array");
	cJSON_AddItemToObject(o, "items", items);
	return o;
}

static void describe(cJSON *o, struct str meaning, enum unit unit)
{
	json_add_str(o, "description", meaning);
	if (unit != UNIT_NONE)
		json_add_str(o, "unit", str_from(unit_name(unit)));
}

/* Allowed words, as "a|b|c". */
static void add_words(cJSON *o, const char *words, bool or_null)
{
	struct str rest = str_from(words), word;
	cJSON *list = json_add_array(o, "enum");
	while (str_next(&rest, '|', &word))
		cJSON_AddItemToArray(list, json_str(word));
	if (or_null)
		cJSON_AddItemToArray(list, cJSON_CreateNull());
}

/* ---- objects from a list of fields ----------------------------------------------------------- */

/* The definitions `text` and `number` allow null. */
static cJSON *field_schema(const struct record_field *f)
{
	switch (f->type) {
	case RECORD_TEXT:
		return f->is_needed ? typed("string") : ref("text");
	case RECORD_DIAG:
		return ref("text");
	case RECORD_REAL:
		return ref("number");
	case RECORD_FLAG:
		return typed("boolean");
	case RECORD_WORD:
		return ref(f->words->name);
	case RECORD_LIST:
		return list_of(ref(f->record->name));
	case RECORD_CONSTANT:
		return f->meaning ? typed("string") : ref(f->name);
	case RECORD_PART:
	case RECORD_INLINE:
	case RECORD_PICTURE:
	case RECORD_VALUE:
	case RECORD_FACTS:
	case RECORD_TABLES:
	case RECORD_PLOTS:
		break;
	}
	return ref(f->name);
}

static void add_fields(cJSON *required, cJSON *properties, const struct record *record)
{
	for (const struct record_field *f = record->fields; f->name; f++) {
		if (f->type == RECORD_INLINE) {
			add_fields(required, properties, f->record);
			continue;
		}
		cJSON *field = field_schema(f);
		if (f->meaning)
			describe(field, str_from(f->meaning), UNIT_NONE);
		cJSON_AddItemToObject(properties, f->name, field);
		cJSON_AddItemToArray(required, json_str(str_from(f->name)));
	}
}

static cJSON *record_schema(const struct record *record)
{
	cJSON *o = typed("object");
	describe(o, str_from(record->meaning), UNIT_NONE);
	cJSON *required = json_add_array(o, "required");
	add_fields(required, json_add_object(o, "properties"), record);
	return o;
}

static cJSON *part_schema(const struct record *record)
{
	cJSON *part = cJSON_CreateObject(), *any = json_add_array(part, "anyOf");
	cJSON_AddItemToArray(any, typed("null"));
	cJSON_AddItemToArray(any, record_schema(record));
	return part;
}

/* ---- tables and facts ------------------------------------------------------------------------ */

/* One value of a column or, as a list, all of them. */
static cJSON *cell_schema(const struct column *c, bool list)
{
	bool text = c->type == COLUMN_TEXT;
	cJSON *o = cJSON_CreateObject();
	if (!c->words) {
		cJSON_Delete(o);
		o = text ? ref(list ? "texts" : "text") : ref(list ? "numbers" : "number");
	} else {
		add_words(o, c->words, true);
		o = list ? list_of(o) : o;
	}
	describe(o, c->meaning, c->unit);
	return o;
}

static cJSON *count_schema(const char *meaning, int most)
{
	cJSON *o = typed("integer");
	describe(o, str_from(meaning), UNIT_NONE);
	json_add_i64(o, "minimum", 0);
	if (most)
		json_add_i64(o, "maximum", most);
	return o;
}

static cJSON *table_schema(const struct table_def *def, int most)
{
	cJSON *o = typed("object"), *columns = typed("object");
	describe(o, def->meaning, UNIT_NONE);
	cJSON *required = json_add_array(o, "required");
	cJSON *properties = json_add_object(o, "properties");
	cJSON_AddItemToObject(properties, "total", count_schema("rows there were", 0));
	cJSON_AddItemToObject(properties, "rows", count_schema("rows kept", most));
	cJSON_AddItemToObject(properties, "columns", columns);
	cJSON_ArrayForEach(columns, properties)
		cJSON_AddItemToArray(required, json_str(str_from(columns->string)));
	columns = cJSON_GetObjectItemCaseSensitive(properties, "columns");
	describe(columns, STR("each holds `rows` values; one that is absent is all null"),
		UNIT_NONE);
	columns = json_add_object(columns, "properties");
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		cJSON_AddItemToObject(
			columns, def->columns[i].name.p, cell_schema(&def->columns[i], true));
	return o;
}

static cJSON *tables_schema(const struct shelf *shelf)
{
	cJSON *o = typed("object");
	describe(o, str_from(shelf->meaning), UNIT_NONE);
	cJSON *properties = json_add_object(o, "properties");
	for (int id = 0; id < shelf->count; id++)
		cJSON_AddItemToObject(properties, shelf->defs[id].name.p,
			table_schema(&shelf->defs[id], shelf->most));
	return o;
}

/* ---- the definitions ------------------------------------------------------------------------- */

static cJSON *enum_schema(const struct record_words *words)
{
	cJSON *o = cJSON_CreateObject(), *list = json_add_array(o, "enum");
	for (int value = 0; value < words->count; value++)
		if (words->word(value).p)
			cJSON_AddItemToArray(list, json_str(words->word(value)));
	return o;
}

static void add_definitions(cJSON *defs)
{
	add_words(json_add_object(defs, "format"), REPORT_FORMAT, false);
	cJSON *version = typed("string"), *value = nullable("number");
	json_add_str(version, "pattern", STR("^1\\."));
	cJSON_AddItemToObject(defs, "version", version);
	cJSON_AddItemToObject(defs, "text", nullable("string"));
	cJSON_AddItemToObject(defs, "number", nullable("number"));
	cJSON_AddItemToObject(defs, "texts", list_of(ref("text")));
	cJSON_AddItemToObject(defs, "numbers", list_of(ref("number")));
	cJSON_AddItemToObject(defs, "verdict", enum_schema(&verdict_words));
	cJSON_AddItemToObject(defs, "report_verdict", enum_schema(&report_verdict_words));
	cJSON_AddItemToObject(defs, "unit", enum_schema(&unit_words));
	cJSON_AddItemToArray(
		cJSON_GetObjectItemCaseSensitive(value, "type"), json_str(STR("string")));
	cJSON_AddItemToObject(defs, "value", value);
	cJSON_AddItemToObject(defs, "error", part_schema(&report_error_record));
	cJSON_AddItemToObject(defs, "report", record_schema(&report_record));
	cJSON_AddItemToObject(defs, "finding", record_schema(&finding_record));
	cJSON_AddItemToObject(defs, "evidence", record_schema(&evidence_record));
	cJSON_AddItemToObject(defs, "around", part_schema(&around_record));
	cJSON_AddItemToObject(defs, "neighbour", record_schema(&neighbour_record));
	cJSON_AddItemToObject(defs, "place", record_schema(&found_place_record));
	cJSON_AddItemToObject(defs, "role", enum_schema(&role_words));
	cJSON_AddItemToObject(defs, "result", record_schema(&rule_result_record));
	cJSON_AddItemToObject(defs, "note", record_schema(&diag_note_record));
	const struct table_def *run = &table_defs[TABLE_run];
	cJSON *facts = typed("object");
	describe(facts, STR("the run's headline numbers: what is known of the table run"),
		UNIT_NONE);
	cJSON *properties = json_add_object(facts, "properties");
	for (ptrdiff_t i = 0; i < run->column_count; i++)
		cJSON_AddItemToObject(
			properties, run->columns[i].name.p, cell_schema(&run->columns[i], false));
	cJSON_AddItemToObject(defs, "facts", facts);
	cJSON_AddItemToObject(defs, "tables", tables_schema(&tables_shelf));
	cJSON_AddItemToObject(defs, "plots", tables_schema(&plots_shelf));
}

void report_schema(struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *document, *part;
	json_add_str(root, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_add_str(root, "$id", STR("urn:rooflint:report:" REPORT_VERSION));
	json_add_str(root, "title", STR("report.json of rooflint, version " REPORT_VERSION));
	document = record_schema(&document_record);
	while ((part = document->child))
		cJSON_AddItemToObject(
			root, part->string, cJSON_DetachItemViaPointer(document, part));
	cJSON_Delete(document);
	add_definitions(json_add_object(root, "$defs"));
	json_write(root, keep, out);
}
