/*
 * Pages as a stream of elements, attributes and text, written as HTML5.
 *
 * Escaping is by construction: text and attribute values are given as they are, and no function
 * here takes markup.  The document is at the same time well-formed enough for an XML reader to read
 * its SVG: attributes are quoted, empty SVG elements are closed, `<` and `&` are always escaped.
 *
 *     xhtml_open(x, "a"); xhtml_attr(x, STR("href"), url); xhtml_text(x, name); xhtml_close(x);
 *
 * Refuses: text inside <script> (there is no function for it), and within <style> anything that
 * could end it.  Names of elements and attributes are ours or a checked template's, never a
 * profile's.
 */
#ifndef REPORT_XHTML_H
#define REPORT_XHTML_H

#include "base/out.h"

/* Deeper pages do not come from people. */
#define XHTML_MAX_DEPTH 128

struct xhtml {
	struct out *out;
	struct arena *keep;
	bool in_tag; /* after a name, before its '>': attributes may follow */
	int depth, svg_depth;
	struct str open[XHTML_MAX_DEPTH];
};

struct xhtml xhtml_new(struct out *out, struct arena *keep);
/* Elements of a page that are written before those that stand in front of them; taken once. */
struct xhtml xhtml_aside(const struct xhtml *x);
void xhtml_take(struct xhtml *x, const struct xhtml *aside);
void xhtml_doctype(struct xhtml *x);
void xhtml_open(struct xhtml *x, struct str name);
void xhtml_attr(struct xhtml *x, struct str name, struct str value);
void xhtml_text(struct xhtml *x, struct str text);
void xhtml_close(struct xhtml *x); /* the element opened last */
/* <style> or <script> with this text; only text that xhtml_is_raw accepts. */
void xhtml_raw(struct xhtml *x, struct str element, struct str text);
bool xhtml_is_raw(struct str text); /* holds nothing that would end the element */

#endif
