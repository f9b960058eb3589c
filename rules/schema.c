/* The JSON Schema of a rule file.  See schema.h. */
#include "rules/schema.h"

#include "base/json.h"
#include "measure/tables.h"
#include "rules/notice.h"

/* What a number may look like: 5%, 12.5 ms, 16 GiB; plain ones are numbers. */
#define SCALAR "scalar"

static cJSON *add_typed(cJSON *o, const char *key, const char *type)
{
	cJSON *ret = json_add_object(o, key);
	if (str_eq(str_from(type), STR(SCALAR)))
		json_add_str(ret, "$ref", STR("#/$defs/scalar"));
	else
		json_add_str(ret, "type", str_from(type));
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

/* ---- rules ----------------------------------------------------------------------------------- */

static void add_tables(cJSON *o)
{
	cJSON *words = json_add_array(o, "enum");
	for (int i = 0; i < TABLE_COUNT; i++)
		add_word(words, table_defs[i].name);
	for (int i = 0; i < TABLE_COUNT; i++)
		add_word(words, base_table_defs[i].name);
}

static void add_pools(cJSON *o)
{
	cJSON *words = json_add_array(o, "enum");
	for (int i = 0; i < POOL_COUNT; i++)
		add_word(words, pool_name((enum pool)i));
}

static void add_severities(cJSON *o)
{
	cJSON *words = json_add_array(o, "enum");
	add_word(words, STR("off"));
	add_word(words, STR("warn"));
	add_word(words, STR("error"));
}

static void add_rule_key(cJSON *properties, const struct rule_key *key)
{
	static const char *const types[] = { [KEY_TEXT] = "string",
		[KEY_SQL] = "string",
		[KEY_TABLE] = "string",
		[KEY_SEVERITY] = "string",
		[KEY_BOOL] = "boolean",
		[KEY_COUNT] = "integer",
		[KEY_NAMES] = "array",
		[KEY_POOL] = "string",
		[KEY_PARAMS] = "object" };
	cJSON *o = add_typed(properties, key->name.p, types[key->type]);
	json_add_str(o, "description", key->meaning);
	if (key->type == KEY_TABLE)
		add_tables(o);
	else if (key->type == KEY_POOL)
		add_pools(o);
	else if (key->type == KEY_SEVERITY)
		add_severities(o);
	else if (key->type == KEY_COUNT)
		json_add_i64(o, "minimum", 0);
	else if (key->type == KEY_NAMES)
		add_typed(o, "items", "string");
	else if (key->type == KEY_PARAMS)
		add_typed(o, "additionalProperties", SCALAR);
}

static void add_rule_def(cJSON *defs)
{
	cJSON *properties = json_add_object(add_map(defs, "rule"), "properties");
	for (ptrdiff_t i = 0; i < rule_key_count; i++)
		add_rule_key(properties, &rule_keys[i]);
}

/* A rule of the set: what it is, and its own parameters by name. */
static void add_known_rule(cJSON *properties, const struct rule *rule, struct arena *keep)
{
	cJSON *o = json_add_object(properties, arena_z(keep, rule->name));
	json_add_str(o, "$ref", STR("#/$defs/rule"));
	json_add_str(o, "description", rule->title.text);
	if (!rule->param_count)
		return;
	cJSON *params = json_add_object(json_add_object(o, "properties"), "params");
	cJSON *names = json_add_object(params, "properties");
	for (ptrdiff_t i = 0; i < rule->param_count; i++)
		add_typed(names, arena_z(keep, rule->params[i].name), SCALAR);
}

static void add_rules(cJSON *o, const char *key, const struct ruleset *set, struct arena *keep)
{
	cJSON *rules = add_typed(o, key, "object");
	json_add_str(rules, "description", STR("by name: new ones, or changes to inherited ones"));
	cJSON *names = json_add_object(rules, "propertyNames");
	json_add_str(names, "pattern", STR("^[a-z][a-z0-9-]*$"));
	cJSON *properties = json_add_object(rules, "properties");
	for (ptrdiff_t i = 0; i < set->count; i++)
		add_known_rule(properties, set->items[i], keep);
	json_add_str(json_add_object(rules, "additionalProperties"), "$ref", STR("#/$defs/rule"));
}

/* ---- the other sections ---------------------------------------------------------------------- */

/* Keys of the maps in a list or a map; parser tables are in waiver.c, costs.c and notice.c. */
static const struct member {
	const char *section, *key, *type, *meaning;
	bool required;
} members[] = {
	{ "waivers", "rule", "string", "name of the rule whose findings are accepted", true },
	{ "waivers", "where", "string", "which of them; without it all", false },
	{ "waivers", "ceiling", "string", "what must hold for the waiver to hold", true },
	{ "waivers", "owner", "string", "who accepted it", true },
	{ "waivers", "reason", "string", "why", true },
	{ "waivers", "issue", SCALAR, "where it is tracked", false },
	{ "waivers", "expires", "string", "its last day: 2027-01-31", true },
	{ "costs", "flops", SCALAR, "formula over the shapes of operands", false },
	{ "costs", "bytes", SCALAR, "formula over the shapes of operands", false },
	{ "notifications", "kind", "string", "the service", true },
	{ "notifications", "url_from", "string", "environment variable with the address", true },
	{ "notifications", "secret_from", "string", "environment variable that signs", false },
	{ "notifications", "when", "string", "when there is something to say", false },
	{ "notifications", "required", "boolean", "whether a failed delivery is one of check's",
		false },
};
enum { MEMBERS = sizeof(members) / sizeof(members[0]) };

static void add_words(cJSON *o, const struct member *m)
{
	bool is_kind = str_eq(str_from(m->key), STR("kind"));
	if (!is_kind && !str_eq(str_from(m->key), STR("when")))
		return;
	cJSON *words = json_add_array(o, "enum");
	for (int i = 0; i < (is_kind ? NOTICE_KINDS : NOTICE_WHENS); i++)
		add_word(words, is_kind ? notice_kind_name((enum notice_kind)i)
					: notice_when_name((enum notice_when)i));
}

static void add_members(cJSON *map, const char *section)
{
	cJSON *properties = json_add_object(map, "properties");
	cJSON *required = json_add_array(map, "required");
	for (int i = 0; i < MEMBERS; i++) {
		const struct member *m = &members[i];
		if (!str_eq(str_from(m->section), str_from(section)))
			continue;
		cJSON *o = add_typed(properties, m->key, m->type);
		json_add_str(o, "description", str_from(m->meaning));
		add_words(o, m);
		if (m->required)
			add_word(required, str_from(m->key));
	}
}

static void add_profiles(cJSON *properties, const struct ruleset *set, struct arena *keep)
{
	cJSON *list = add_typed(properties, "profiles", "array");
	json_add_str(list, "description", STR("changes for some workloads, by name or label"));
	cJSON *own = json_add_object(add_map(list, "items"), "properties");
	json_add_str(add_typed(own, "match", "string"), "description", STR("glob of the workload"));
	json_add_str(add_typed(own, "label", "string"), "description", STR("glob of a label"));
	add_rules(own, "rules", set, keep);
}

static void add_sections(cJSON *properties, const struct ruleset *set, struct arena *keep)
{
	cJSON *version = json_add_object(properties, "version");
	cJSON_AddItemToArray(json_add_array(version, "enum"), json_double(1));
	json_add_str(add_typed(properties, "extends", "string"), "description",
		STR("recommended, strict, fleet, or a file"));
	add_rules(properties, "rules", set, keep);
	add_members(add_map(add_typed(properties, "waivers", "array"), "items"), "waivers");
	add_profiles(properties, set, keep);
	add_members(
		add_map(add_typed(properties, "costs", "object"), "additionalProperties"), "costs");
	add_members(
		add_map(add_typed(properties, "notifications", "object"), "additionalProperties"),
		"notifications");
}

void rules_schema(const struct ruleset *set, struct arena *keep, struct out *out)
{
	cJSON *root = cJSON_CreateObject();
	json_add_str(root, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_add_str(root, "title", STR("rooflint rule file"));
	json_add_str(root, "type", STR("object"));
	json_add_bool(root, "additionalProperties", false);
	add_word(json_add_array(root, "required"), STR("version"));
	add_sections(json_add_object(root, "properties"), set, keep);
	cJSON *defs = json_add_object(root, "$defs");
	add_rule_def(defs);
	cJSON *types = json_add_array(json_add_object(defs, "scalar"), "type");
	add_word(types, STR("string"));
	add_word(types, STR("number"));
	add_word(types, STR("boolean"));
	out_str(out, json_text(root, keep));
	cJSON_Delete(root);
}
