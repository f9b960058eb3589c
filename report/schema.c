/*
 * The JSON Schema (2020-12) of report.json, made from the same column lists as the tables, so
 * that document and schema cannot part.  docs/report.schema.json is this text; a test compares.
 */
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
	bool more = true;
	while (more) {
		more = str_cut(rest, '|', &word, &rest);
		cJSON_AddItemToArray(list, json_str(word));
	}
	if (or_null)
		cJSON_AddItemToArray(list, cJSON_CreateNull());
}

/* ---- objects from a list of fields ----------------------------------------------------------- */

/* type: text, flag or the name of a definition; "?text" and "?number" allow null, "*" lists. */
struct field {
	const char *name, *type, *meaning;
};

static cJSON *field_schema(const char *type)
{
	if (*type == '*')
		return list_of(ref(type + 1));
	if (*type == '?')
		return ref(type + 1); /* the definitions `text` and `number` allow null */
	if (!strcmp(type, "text"))
		return typed("string");
	return strcmp(type, "flag") ? ref(type) : typed("boolean");
}

static cJSON *object_of(const struct field *fields, const char *meaning)
{
	cJSON *o = typed("object");
	describe(o, str_from(meaning), UNIT_NONE);
	cJSON *required = json_add_array(o, "required");
	cJSON *properties = json_add_object(o, "properties");
	for (; fields->name; fields++) {
		cJSON *field = field_schema(fields->type);
		if (fields->meaning)
			describe(field, str_from(fields->meaning), UNIT_NONE);
		cJSON_AddItemToObject(properties, fields->name, field);
		cJSON_AddItemToArray(required, json_str(str_from(fields->name)));
	}
	return o;
}

static const struct field document_fields[] = {
	{ "format", "format", NULL },
	{ "version", "version", NULL },
	{ "tables_version", "text", "version of the tables' columns" },
	{ "tool_version", "?text", "the rooflint that wrote it" },
	{ "reports", "*report", "in the order of the command line" },
	{ NULL, NULL, NULL },
};

static const struct field report_fields[] = {
	{ "profile", "text", "as given on the command line" },
	{ "verdict", "report_verdict", NULL },
	{ "rules", "?text", "the rule file or built-in set" },
	{ "error", "error", NULL },
	{ "gain_s", "?number", "seconds per step that all findings together would give back" },
	{ "facts", "facts", NULL },
	{ "findings", "*finding", "by verdict, then gain" },
	{ "results", "*result", "every rule, in the order of the rule file" },
	{ "notes", "*note", "remarks about the data itself" },
	{ "tables", "tables", NULL },
	{ "plots", "plots", NULL },
	{ NULL, NULL, NULL },
};

static const struct field finding_fields[] = {
	{ "rule", "text", "name of the rule" },
	{ "verdict", "verdict", NULL },
	{ "subject", "?text", "the row's key, stable over recompiles" },
	{ "name", "?text", "the row's name, for people" },
	{ "message", "?text", "what is wrong" },
	{ "gain_s", "?number", "seconds per step credited to this finding" },
	{ "claimed_s", "?number", "the same before each second was credited once" },
	{ "source_file", "?text", "where to look" },
	{ "source_line", "?number", NULL },
	{ "scope", "?text", "JAX name stack" },
	{ "missing", "?text", "columns that were unknown, separated by commas" },
	{ "note", "?text", "why the verdict is not what the rule alone says" },
	{ "seen", "?number", "reports in a row with it, this one too; null: no --previous" },
	{ "known", "flag", "it failed in the previous report, too" },
	{ "evidence", "*evidence", "what the rule's expression read" },
	{ "around", "around", NULL },
	{ "cause", "?text", "the likely cause" },
	{ "fix", "?text", "what to do" },
	{ "why", "?text", "why the rule exists" },
	{ NULL, NULL, NULL },
};

static const struct field evidence_fields[] = {
	{ "name", "text", "a column, or a parameter of the rule" },
	{ "value", "value", NULL },
	{ "unit", "unit", NULL },
	{ "limit", "flag", "a parameter of the rule, not something measured" },
	{ "meaning", "?text", "of the column" },
	{ NULL, NULL, NULL },
};

static const struct field around_fields[] = {
	{ "takes_left_out", "?number", "ops it takes from that are not listed" },
	{ "holds_left_out", "?number", "ops in it that are not listed" },
	{ "gives_left_out", "?number", "ops that take from it and are not listed" },
	{ "ops", "*neighbour", "the heaviest of each role, in the program's order" },
	{ NULL, NULL, NULL },
};

static const struct field neighbour_fields[] = {
	{ "role", "role", NULL },
	{ "name", "?text", "instruction" },
	{ "opcode", "?text", NULL },
	{ "shape", "?text", "of its result, with layout" },
	{ "bytes", "?number", "of its result, as laid out" },
	{ NULL, NULL, NULL },
};

static const struct field result_fields[] = {
	{ "name", "text", NULL },
	{ "title", "?text", "what the rule demands" },
	{ "verdict", "verdict", NULL },
	{ "reason", "?text", "why it is not applicable, inconclusive or off" },
	{ "withheld", "?text", "what it found while a gate holds it up" },
	{ "todo", "?text", "what would make it conclusive" },
	{ "subjects", "?number", "rows it judged" },
	{ "unknown", "?number", "rows it could not judge" },
	{ "gate", "flag", "other rules rely on it" },
	{ "required", "flag", "being inconclusive counts for the exit status" },
	{ "breaks", "flag", "it made the exit status 1 or 4, with --fail-on and --inconclusive" },
	{ NULL, NULL, NULL },
};

static const struct field note_fields[] = {
	{ "id", "?text", "of the diagnostic" },
	{ "text", "?text", NULL },
	{ NULL, NULL, NULL },
};

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

static cJSON *tables_schema(const struct table_def *defs, int count, int most, const char *meaning)
{
	cJSON *o = typed("object");
	describe(o, str_from(meaning), UNIT_NONE);
	cJSON *properties = json_add_object(o, "properties");
	for (int id = 0; id < count; id++)
		cJSON_AddItemToObject(properties, defs[id].name.p, table_schema(&defs[id], most));
	return o;
}

static cJSON *facts_schema(void)
{
	const struct table_def *def = &table_defs[TABLE_run];
	cJSON *o = typed("object");
	describe(o, STR("the run's headline numbers: what is known of the table run"), UNIT_NONE);
	cJSON *properties = json_add_object(o, "properties");
	for (ptrdiff_t i = 0; i < def->column_count; i++)
		cJSON_AddItemToObject(
			properties, def->columns[i].name.p, cell_schema(&def->columns[i], false));
	return o;
}

/* ---- the definitions ------------------------------------------------------------------------- */

static cJSON *words_schema(const char *words)
{
	cJSON *o = cJSON_CreateObject();
	add_words(o, words, false);
	return o;
}

static cJSON *verdict_schema(void)
{
	cJSON *o = cJSON_CreateObject(), *list = json_add_array(o, "enum");
	for (int v = VERDICT_PASS; v <= VERDICT_OFF; v++)
		cJSON_AddItemToArray(list, json_str(verdict_name((enum verdict)v)));
	return o;
}

static cJSON *unit_schema(void)
{
	cJSON *o = cJSON_CreateObject(), *list = json_add_array(o, "enum");
	for (int u = UNIT_NONE; u <= UNIT_DOLLARS; u++)
		cJSON_AddItemToArray(list, json_str(str_from(unit_name((enum unit)u))));
	return o;
}

static cJSON *value_schema(void)
{
	cJSON *o = nullable("number");
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(o, "type"), json_str(STR("string")));
	return o;
}

static cJSON *object_or_null(const struct field *fields, const char *meaning)
{
	cJSON *o = cJSON_CreateObject(), *any = json_add_array(o, "anyOf");
	cJSON_AddItemToArray(any, typed("null"));
	cJSON_AddItemToArray(any, object_of(fields, meaning));
	return o;
}

static cJSON *error_schema(void)
{
	static const struct field fields[] = {
		{ "id", "?text", "of the diagnostic" },
		{ "text", "text", "what is wrong, where, and what to do" },
		{ NULL, NULL, NULL },
	};
	return object_or_null(fields, "the profile could not be read");
}

static cJSON *version_schema(void)
{
	cJSON *o = typed("string");
	json_add_str(o, "pattern", STR("^1\\."));
	return o;
}

static void add_definitions(cJSON *defs)
{
	cJSON_AddItemToObject(defs, "format", words_schema("rooflint-report"));
	cJSON_AddItemToObject(defs, "version", version_schema());
	cJSON_AddItemToObject(defs, "text", nullable("string"));
	cJSON_AddItemToObject(defs, "number", nullable("number"));
	cJSON_AddItemToObject(defs, "texts", list_of(ref("text")));
	cJSON_AddItemToObject(defs, "numbers", list_of(ref("number")));
	cJSON_AddItemToObject(defs, "verdict", verdict_schema());
	cJSON_AddItemToObject(
		defs, "report_verdict", words_schema("pass|fail|warn|inconclusive|error"));
	cJSON_AddItemToObject(defs, "unit", unit_schema());
	cJSON_AddItemToObject(defs, "value", value_schema());
	cJSON_AddItemToObject(defs, "error", error_schema());
	cJSON_AddItemToObject(defs, "report", object_of(report_fields, "one profile"));
	cJSON_AddItemToObject(defs, "finding",
		object_of(finding_fields, "one subject of a rule that did not pass"));
	cJSON_AddItemToObject(
		defs, "evidence", object_of(evidence_fields, "a value that was read"));
	cJSON_AddItemToObject(defs, "around",
		object_or_null(around_fields, "where the subject stands in the program's graph"));
	cJSON_AddItemToObject(defs, "neighbour", object_of(neighbour_fields, "an op of the graph"));
	cJSON_AddItemToObject(defs, "role", words_schema(AROUND_WORDS));
	cJSON_AddItemToObject(defs, "result", object_of(result_fields, "what became of a rule"));
	cJSON_AddItemToObject(defs, "note", object_of(note_fields, "a remark"));
	cJSON_AddItemToObject(defs, "facts", facts_schema());
	cJSON_AddItemToObject(defs, "tables",
		tables_schema(table_defs, TABLE_COUNT, REPORT_MAX_ROWS,
			"what a page may plot; a table without rows is absent"));
	cJSON_AddItemToObject(defs, "plots",
		tables_schema(plot_defs, PLOT_COUNT, PLOT_MAX_ROWS,
			"what a page draws and no rule judges; one without rows is absent"));
}

void report_schema(struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject(), *document, *part;
	json_add_str(root, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_add_str(root, "$id", STR("urn:rooflint:report:" REPORT_VERSION));
	json_add_str(root, "title", STR("report.json of rooflint, version " REPORT_VERSION));
	document = object_of(document_fields, "what `rooflint check --json` writes");
	while ((part = document->child))
		cJSON_AddItemToObject(
			root, part->string, cJSON_DetachItemViaPointer(document, part));
	cJSON_Delete(document);
	add_definitions(json_add_object(root, "$defs"));
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}
