/*
 * A template as it is kept: what template.c makes and template_fill.c walks.  Private to them.
 *
 * In it every name is resolved, so that filling looks nothing up and cannot fail.
 */
#ifndef REPORT_TEMPLATE_TREE_H
#define REPORT_TEMPLATE_TREE_H

#include "report/template.h"

#define TEMPLATE_MAX_SCOPES 16 /* lists within lists */

/* A field, and how many scopes further out it is. */
struct ref {
	const struct template_field *field; /* NULL: there is none */
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
	struct str element; /* missing for text, and for <template> */
	struct pattern text;
	struct str raw; /* of a <style> or <script> */
	struct attribute *attributes;
	ptrdiff_t attribute_count, attribute_cap;
	struct ref each, only_if, only_else, picture;
	struct node *child, *next;
};

struct page_template {
	struct node *root;
};

#endif
