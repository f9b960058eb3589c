/*
 * A template as it is kept, what template_page.c and template_json.c make of a file and walk; and
 * what they share.  Private to them.
 *
 * In it every name is resolved, so that filling looks nothing up and cannot fail.
 */
#ifndef REPORT_TEMPLATE_TREE_H
#define REPORT_TEMPLATE_TREE_H

#include "report/template.h"

#define TEMPLATE_MAX_SCOPES 16 /* lists within lists */

/* A field, and how many scopes further out it is. */
struct ref {
	const struct record_field *field; /* NULL: there is none */
	int up;
};

/* Text with slots: literal, slot, literal ... */
struct part {
	struct str literal;
	struct ref ref;
};

struct pattern {
	struct part *parts;
	ptrdiff_t count, cap;
};

struct attribute {
	struct str name;
	struct pattern value;
};

struct node {
	struct pattern text;
	struct ref each, only_if, only_else;
	struct node *child, *next;
	/* Of a page. */
	struct str element; /* missing for text, and for <template> */
	struct str raw;	    /* of a <style> or <script>; of a message, a number, true or null */
	struct attribute *attributes;
	ptrdiff_t attribute_count, attribute_cap;
	struct ref picture;
	/* Of a message. */
	enum { NODE_OBJECT, NODE_LIST, NODE_TEXT, NODE_RAW } kind;
	struct str key;	 /* inside an object */
	struct str type; /* of an object: its member of that name, if a text without slots */
};

struct doc_template {
	struct node *root;
};

/* ---- filling, whatever the form of the file -------------------------------------------------- */

/* Records from the outermost to the one at hand. */
struct records {
	const void *items[TEMPLATE_MAX_SCOPES];
	int count;
	struct arena *keep;
};
const void *record_cell(const struct records *r, struct ref ref);
bool record_has(const struct records *r, struct ref ref);
struct str record_text(const struct records *r, struct ref ref); /* missing when it has none */
struct template_list record_list(const struct records *r, struct ref ref);
/* Whether what asks for one field, or for the lack of another, is filled; each may be none. */
bool records_allow(const struct records *r, struct ref only_if, struct ref only_else);
void records_enter(struct records *r, struct ref list, ptrdiff_t index); /* leave: count-- */

/* ---- loading, whatever the form of the file -------------------------------------------------- */

#define TEMPLATE_MAX_BYTES ((ptrdiff_t)1 << 20) /* a page that people wrote is a tenth of it */

/* Parsers keep no places, so a cursor is moved to each thing as it is met. */
struct loader_place {
	struct str file, source;
	ptrdiff_t cursor;
};

struct loader {
	struct str dir; /* missing: embedded files only */
	struct arena *keep;
	struct diag *err;
	const struct record *scopes[TEMPLATE_MAX_SCOPES];
	int scope_count;
	struct loader_place at;
	int includes, depth;
	/* Of the page. */
	struct pattern *policy; /* the content security policy; NULL: none */
	struct str scripts;	/* what it must allow: " 'sha256-...'" for each */
};

bool compile_page(struct loader *l, struct node **ret);
bool compile_message(struct loader *l, struct node **ret);

/* Makes the named file the loader's current one: the directory's, else the embedded one. */
bool loader_open(struct loader *l, struct str name);

/* Move the cursor past the next `needle`; where there is none it stays (written with entities). */
void loader_seek_past(struct loader *l, struct str needle);
/* The thing itself is wrong: the caret stands under its next occurrence.  Always false. */
bool loader_bad(struct loader *l, struct str thing, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * data-each first, whatever the order in the file: the other names are looked up in the item.
 * `get` gives the value of an attribute of `from`, or missing.
 */
bool loader_directives(struct loader *l, struct node *n, const void *from,
	struct str (*get)(struct loader *l, const void *from, const char *name));
/* Text with slots.  Flags are for attributes, and for values that are nothing else. */
bool loader_pattern(struct loader *l, struct str text, bool in_attribute, struct pattern *ret);
void loader_literal(struct loader *l, struct pattern *p, struct str text);
bool has_slot(struct str text);

#endif
