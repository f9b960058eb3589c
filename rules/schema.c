/* The JSON Schema of a rule file.  See print.h. */
#include "rules/print.h"

#include "base/json.h"
#include "measure/kernels.h"
#include "measure/tables.h"
#include "rules/parse.h"

/* What is defined once. */
#define VERSION "#/$defs/version"
#define SCALAR	"#/$defs/scalar" /* what a number may look like: 5, 5%, 12.5 ms, 16 GiB */
#define RULES	"#/$defs/rules"
#define NAMES	"#/$defs/names"

static cJSON *add_typed(cJSON *o, const char *key, const char *type)
{
	cJSON *ret = json_add_object(o, key);
	json_add_str(ret, *type == '#' ? "$ref" : "type", str_from(type));
	return ret;
}

static cJSON *add_map(cJSON *o, const char *key)
{
	cJSON *ret = add_typed(o, key, "object");
	json_add_bool(ret, "additionalProperties", false);
	return ret;
}

static void add_word(cJSON *o, struct str word)
{
	cJSON_AddItemToArray(o, json_str(word));
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* What values of a type look like; other types are texts alone. */
static const struct {
	bool (*read)(const struct keyed *r, const struct key *k, const struct doc_node *node);
	const char *shape;
} shapes[] = { { key_bool, "boolean" }, { key_int, "integer" }, { key_map, "object" },
	{ key_params, "object" }, { key_formula, SCALAR }, { key_trimmed, SCALAR },
	{ key_measure, SCALAR }, { key_ceiling, SCALAR }, { key_limit, "#/$defs/limit" },
	{ key_list, NAMES }, { key_advice, "#/$defs/advice" }, { key_changes, RULES } };

static void add_keys(cJSON *entry, const struct key *keys);

static void add_key(cJSON *properties, const struct key *key)
{
	struct str words[KEY_WORDS_MAX];
	const char *shape = "string";

	for (int i = 0; i < COUNT_OF(shapes); i++)
		shape = shapes[i].read == key->read ? shapes[i].shape : shape;
	cJSON *o = add_typed(properties, key->name.p, shape);
	json_add_str(o, "description", key->meaning);
	if (key->read == key_int)
		json_add_i64(o, "minimum", 0);
	else if (key->read == key_params)
		add_typed(o, "additionalProperties", SCALAR);
	if (key->read == key_map) {
		json_add_bool(o, "additionalProperties", false);
		add_keys(o, key->keys);
	}
	if (key->read != key_word && key->read != key_table)
		return;
	cJSON *all = json_add_array(o, "enum");
	int count = key->read == key_word ? key_words(key, words) : 0;
	for (int i = 0; i < count; i++)
		add_word(all, words[i]);
	for (int i = 0; !count && i < 2 * TABLE_COUNT; i++)
		add_word(all, i < TABLE_COUNT ? table_defs[i].name
					      : base_table_defs[i - TABLE_COUNT].name);
}

/* Own keys of an entry, and those that it must have. */
static void add_keys(cJSON *entry, const struct key *keys)
{
	cJSON *own = json_add_object(entry, "properties"), *required = NULL;
	for (const struct key *key = keys; key->read; key++) {
		add_key(own, key);
		if (key->required && !required)
			required = json_add_array(entry, "required");
		if (key->required)
			add_word(required, key->name);
	}
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A rule of the set: what it is, and its own parameters by name. */
static void add_known_rule(cJSON *properties, const struct rule *rule, struct arena *keep)
{
	cJSON *o = json_add_object(properties, arena_z(keep, rule->name));
	json_add_str(o, "$ref", STR("#/$defs/rule"));
	json_add_str(o, "description", rule->title.text);
	cJSON *params = json_add_object(json_add_object(o, "properties"), "params");
	cJSON *names = json_add_object(params, "properties");
	/* An inherited rule whose expressions stay has no parameter but those that they use. */
	json_add_str(json_add_object(o, "if"), "$ref", STR("#/$defs/retuned"));
	cJSON *then = json_add_object(json_add_object(o, "then"), "properties");
	cJSON *words = json_add_array(
		json_add_object(json_add_object(then, "params"), "propertyNames"), "enum");
	for (ptrdiff_t i = PARAM_OWN; i < rule->param_count; i++) {
		add_typed(names, arena_z(keep, rule->params[i].name), SCALAR);
		add_word(words, rule->params[i].name);
	}
}

/* What brings new expressions may bring parameters for them. */
static void add_retuned(cJSON *any)
{
	for (const struct key *key = rule_entry.keys; key->read; key++) {
		if (key->read != key_sql && key->read != key_advice &&
			!str_eq(key->name, STR("message")))
			continue;
		cJSON *has = cJSON_CreateObject();
		cJSON_AddItemToArray(any, has);
		add_word(json_add_array(has, "required"), key->name);
	}
}

/* ---- the other sections ---------------------------------------------------------------------- */

static void add_document_key(cJSON *properties, const struct key *key)
{
	const struct key *each = key->each;

	if (key->read != key_entries && key->read != key_version) {
		add_key(properties, key);
		return;
	}
	cJSON *o = add_typed(properties, key->name.p,
		each == &rule_entry ? RULES
		: !each		    ? VERSION
		: each->is_list	    ? "array"
				    : "object");
	json_add_str(o, "description", key->meaning);
	if (each == &set_entry)
		add_typed(o, "additionalProperties", NAMES);
	else if (each && each != &rule_entry)
		add_keys(add_map(o, each->is_list ? "items" : "additionalProperties"), each->keys);
}

/* All of it that no table says. */
static const char skeleton[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	"\"title\":\"rooflint rule file\",\"type\":\"object\",\"additionalProperties\":false,"
	"\"required\":[\"version\"],\"properties\":{},\"$defs\":{"
	"\"rule\":{\"type\":\"object\",\"additionalProperties\":false},"
	"\"names\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
	"\"string\"}}]},"
	"\"limit\":{\"anyOf\":[{\"$ref\":\"#/$defs/scalar\"},"
	"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
	"{\"warn\":{\"$ref\":\"#/$defs/scalar\"},\"fail\":{\"$ref\":\"#/$defs/scalar\"}}}]},"
	"\"advice\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\"}]},"
	"\"retuned\":{\"not\":{\"anyOf\":[]}},"
	"\"rules\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z][a-z0-9-]*$\"},"
	"\"properties\":{},\"additionalProperties\":{\"$ref\":\"#/$defs/rule\"}},"
	"\"version\":{\"enum\":[1]},\"scalar\":{\"type\":[\"string\",\"number\",\"boolean\"]}}}";

void rules_schema(const struct ruleset *set, struct arena *keep, struct out *out)
{
	struct diag never; /* the text above is JSON */
	cJSON *root = json_parse(STR("schema"), str_from(skeleton), &never);
	cJSON *properties = cJSON_GetObjectItem(root, "properties");
	const cJSON *defs = cJSON_GetObjectItem(root, "$defs");
	const cJSON *advice = cJSON_GetObjectItem(cJSON_GetObjectItem(defs, "advice"), "anyOf");

	for (const struct key *key = document.keys; key->read; key++)
		add_document_key(properties, key);
	add_keys(cJSON_GetObjectItem(defs, "rule"), rule_entry.keys);
	add_keys(add_map(cJSON_GetArrayItem(advice, 1), "items"), advice_entry.keys);
	add_retuned(cJSON_GetObjectItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(defs, "retuned"), "not"), "anyOf"));
	properties = cJSON_GetObjectItem(cJSON_GetObjectItem(defs, "rules"), "properties");
	for (ptrdiff_t i = 0; i < set->count; i++)
		add_known_rule(properties, set->items[i], keep);
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}
