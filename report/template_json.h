/*
 * Message templates: JSON documents whose objects and texts say what is put where.
 *
 *     { "data-each": "failed", "data-if": "place", "title": "{{rule}}", "text": "{{message}}" }
 *
 *     "data-each": "list"     an object in a list, once per item; the item's fields come first
 *     "data-if": "field"      the object only if the field has a value
 *     "data-else": "field"    the object only if it has none
 *     "{{field}}"             in texts; keys are as they are
 *
 * A text that is nothing but one slot becomes a number or true where the field is one, and leaves
 * with its key where the field has no value; so does an empty list.
 *
 * As with pages (template.h), every name is checked at load, and a template that was loaded cannot
 * fail.  The document is filled as a tree, so a value can end no text; what would be markup in a
 * text is escaped by the rules of the service, which depend on the "type" of the object around it.
 */
#ifndef REPORT_TEMPLATE_JSON_H
#define REPORT_TEMPLATE_JSON_H

#include "base/json.h"
#include "base/out.h"
#include "report/template.h"

struct json_template;

/*
 * How values are written into a text, by the "type" of the object around it and its key there;
 * NULL is any.  The first that fits; the last one fits all.
 */
struct json_escape {
	const char *type, *key;
	void (*put)(struct out *o, struct str text);
};

/* From the directory `dir` if that has the file, else embedded.  `dir` may be missing. */
struct json_template *json_template_load(struct str dir, struct str name,
	const struct record *record, struct arena *keep, struct diag *err);
/* The same of a text, for tests. */
struct json_template *json_template_parse(struct str file, struct str source,
	const struct record *record, struct arena *keep, struct diag *err);
/* Free with cJSON_Delete. */
cJSON *json_template_fill(const struct json_template *t, const void *record,
	const struct json_escape *escapes, struct arena *keep);

#endif
