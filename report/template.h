/*
 * Page templates: well-formed XHTML whose nodes say what is put where.
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
 * Everything is checked when a template is loaded, with file, line and column: names that are not
 * fields, slots where no escaping could make them safe (scripts, styles, comments, event handlers,
 * addresses without a safe beginning), and anything that would make the page load from elsewhere.
 * A template that was loaded cannot fail.  Templates are trusted like configuration; the values
 * that fill them are not.
 *
 * A page that states a content security policy allows the scripts it includes, by their hash, and
 * no others.
 *
 * The fields are const tables of the caller (template_record), in which docs/templates.md and the
 * checks agree.
 */
#ifndef REPORT_TEMPLATE_H
#define REPORT_TEMPLATE_H

#include "base/diag.h"
#include "report/xhtml.h"

enum template_kind {
	FIELD_TEXT,    /* struct str; none when missing or empty */
	FIELD_FLAG,    /* bool */
	FIELD_LIST,    /* struct template_list */
	FIELD_PICTURE, /* struct template_picture */
	FIELD_NUMBER,  /* double; none when NaN or infinite */
};

struct template_list {
	const void *items;
	ptrdiff_t count;
};

struct template_picture {
	void (*draw)(const void *what, struct xhtml *x); /* NULL: there is none */
	const void *what;
};

struct template_field {
	const char *name;
	enum template_kind kind;
	ptrdiff_t offset;		      /* in the record */
	const struct template_record *record; /* of a list's items */
	const char *meaning;
};

struct template_record {
	const char *name;
	ptrdiff_t bytes;
	const struct template_field *fields; /* the last one has no name */
};

/*
 * A record's fields are listed once, and struct and table made of the list:
 *
 *     #define PET(R, F) F(R, TEXT, name, "what it is called") F(R, LIST(leg), legs, "it walks on")
 *     TEMPLATE_STRUCT(pet, PET);
 *     static TEMPLATE_RECORD(pet, "a pet", PET);
 */
#define TEMPLATE_STRUCT(record, FIELDS)                                                            \
	struct record {                                                                            \
		FIELDS(record, TEMPLATE_MEMBER)                                                    \
	}
#define TEMPLATE_RECORD(record, label, FIELDS)                                                     \
	const struct template_record record##_record = { label, (ptrdiff_t)sizeof(struct record),  \
		(const struct template_field[]){ FIELDS(record, TEMPLATE_ROW){ 0 } } }

#define TEMPLATE_MEMBER(R, kind, field, what) TEMPLATE_MEMBER_##kind field;
#define TEMPLATE_MEMBER_TEXT		      struct str
#define TEMPLATE_MEMBER_FLAG		      bool
#define TEMPLATE_MEMBER_NUMBER		      double
#define TEMPLATE_MEMBER_PICTURE		      struct template_picture
#define TEMPLATE_MEMBER_LIST(items)	      struct template_list

#define TEMPLATE_ROW(R, type, field, what)                                                         \
	{ .name = #field,                                                                          \
		.offset = offsetof(struct R, field),                                               \
		.meaning = what,                                                                   \
		TEMPLATE_ROW_##type },
#define TEMPLATE_ROW_TEXT	 .kind = FIELD_TEXT
#define TEMPLATE_ROW_FLAG	 .kind = FIELD_FLAG
#define TEMPLATE_ROW_NUMBER	 .kind = FIELD_NUMBER
#define TEMPLATE_ROW_PICTURE	 .kind = FIELD_PICTURE
#define TEMPLATE_ROW_LIST(items) .kind = FIELD_LIST, .record = &items##_record

struct page_template;

/*
 * A template and what it includes: from the directory `dir` if that has the file, else embedded.
 * `dir` may be missing.
 */
struct page_template *page_template_load(struct str dir, struct str name,
	const struct template_record *record, struct arena *keep, struct diag *err);
/* The same of a text, for tests; includes come from what is embedded. */
struct page_template *page_template_parse(struct str file, struct str source,
	const struct template_record *record, struct arena *keep, struct diag *err);
void page_template_fill(const struct page_template *t, const void *record, struct xhtml *x);

#endif
