/*
 * XHTML as people write it in templates, read as a tree: elements, their attributes, texts and
 * comments, each with its place in the file.
 *
 * Refuses: declarations of entities, and every entity but those five of XML and characters by their
 * number; namespaces, which HTML lacks (a name may hold a colon, and what that means is the
 * caller's to say).
 */
#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include "base/arena.h"
#include "base/diag.h"

struct markup_attribute {
	struct str name, value;
	ptrdiff_t at; /* of the name in the file */
};

struct markup {
	enum { MARKUP_ELEMENT, MARKUP_TEXT, MARKUP_COMMENT, MARKUP_OTHER } kind;
	struct str text; /* of an element its name; entities are read */
	ptrdiff_t at;	 /* of an element behind its '<' */
	struct markup_attribute *attributes;
	ptrdiff_t attribute_count, attribute_cap;
	struct markup *child, *next;
};

/* The element that is all of the document; NULL with a diagnostic. */
const struct markup *markup_read(
	struct str file, struct str source, int most_depth, struct arena *keep, struct diag *err);
/* Missing where the element has none. */
struct str markup_value(const struct markup *element, struct str name);

#endif
