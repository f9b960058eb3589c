/*
 * Templates.  A page is well-formed XHTML, whose nodes say what is put where:
 *
 *     <li data-each="findings" data-if="place" class="{{verdict}}">{{message}}</li>
 *
 *     data-each="list"        the element once per item; inside, the item's fields come first
 *     data-if="field"         the element only if the field has a value
 *     data-else="field"       the element only if it has none
 *     data-picture="field"    the element's content is a drawing made by rooflint
 *     data-include="file"     <template>: another template in its place; <style>, <script>: that
 *                             file as it is
 *     {{field}}               in text and in attribute values
 *     <template>              leaves no element, only its content
 *
 * An attribute that is nothing but one slot is left out when the field has no value.
 *
 * A message is a JSON document, whose objects and texts say the same:
 *
 *     { "data-each": "failed", "data-if": "place", "title": "{{rule}}", "text": "{{message}}" }
 *
 * data-each stands in an object of a list.  Keys are as they are.  A text that is nothing but one
 * slot becomes a number or true where the field is one, and leaves with its key where the field has
 * no value; so does an empty list.
 *
 * Everything is checked when a template is loaded, with file, line and column: names that are not
 * fields, slots where no escaping could make them safe (scripts, styles, comments, event handlers,
 * addresses without a safe beginning), and anything that would make the page load from elsewhere.
 * A template that was loaded cannot fail.  Templates are trusted like configuration; the values
 * that fill them are not: both forms are filled as trees, and what would be markup in a text of a
 * message is escaped by the rules of the service.
 *
 * A page that states a content security policy allows the scripts it includes, by their hash, and
 * no others.
 *
 * The fields are const tables of the caller (record.h), in which docs/templates.md and the checks
 * agree.
 */
#ifndef REPORT_TEMPLATE_H
#define REPORT_TEMPLATE_H

#include "base/diag.h"
#include "base/json.h"
#include "base/record.h"
#include "report/xhtml.h"

struct template_picture {
	void (*draw)(const void *what, struct xhtml *x); /* NULL: there is none */
	const void *what;
};

struct doc_template;

/*
 * A template and what it includes: from the directory `dir` if that has the file, else embedded.
 * `dir` may be missing.  A name that ends in ".json" is of a message, others are of pages.
 */
struct doc_template *template_load(struct str dir, struct str name, const struct record *record,
	struct arena *keep, struct diag *err);
/* The same of a text, for tests; includes come from what is embedded. */
struct doc_template *template_parse(struct str file, struct str source, const struct record *record,
	struct arena *keep, struct diag *err);

void template_fill_page(const struct doc_template *t, const void *record, struct xhtml *x);

/*
 * How values are written into a text, by the "type" of the object around it and its key there;
 * NULL is any.  The first that fits; the last one fits all.
 */
struct json_escape {
	const char *type, *key;
	void (*put)(struct out *o, struct str text);
};
/* Free with cJSON_Delete. */
cJSON *template_fill_json(const struct doc_template *t, const void *record,
	const struct json_escape *escapes, struct arena *keep);

#endif
