/*
 * Pages: read by libxml2, checked, compiled to a tree of our own, and filled.  See template.h.
 *
 * libxml2 keeps neither columns nor the lines of attributes.  The walk goes through the document
 * in order, so a cursor that is moved to each thing as it is met knows where that thing stands.
 */
#include "report/template_tree.h"

#include <libxml/parser.h>

#include "base/input.h"
#include "base/sha256.h"

#define TEMPLATE_MAX_DEPTH    100 /* of elements; below XHTML_MAX_DEPTH */
#define TEMPLATE_MAX_INCLUDES 8	  /* files within files: more is a circle */

/* ---- attributes ------------------------------------------------------------------------------ */

static struct str xml_str(const xmlChar *z)
{
	return str_from((const char *)z);
}

/* A link people click may lead away; anything the page loads by itself must be in it. */
static bool check_address(struct loader *l, struct str element, struct str value)
{
	bool is_link = str_is_among(element, "a area");
	if (str_starts(value, STR("#")) || (!is_link && str_starts(value, STR("data:"))))
		return true;
	if (!is_link)
		return loader_bad(l, value,
			"the page is one file: an address here begins with '#' or 'data:'");
	if (!has_slot(value))
		return str_starts(value, STR("https://")) || str_starts(value, STR("http://")) ||
		       str_starts(value, STR("mailto:")) || str_find_char(value, ':') < 0 ||
		       loader_bad(l, value, "a link leads to https:, mailto: or '#'");
	if (str_starts(value, STR("./")))
		return true; /* stays a path, whatever the slot says */
	struct str rest = value;
	bool is_web = str_take(&rest, STR("https://")) || str_take(&rest, STR("http://"));
	ptrdiff_t host_end = str_find_char(rest, '/');
	if (is_web && host_end > 0 && host_end < str_find(rest, STR("{{")))
		return true;
	return loader_bad(l, value,
		"an address with a slot begins with '#', with './' or with 'https://', a host "
		"and '/'");
}

static bool check_attribute(
	struct loader *l, struct str element, struct str attribute, struct str value)
{
	/* What a browser fetches or goes to. */
	bool is_address = str_is_among(attribute,
		"href src srcset action formaction data poster background cite ping manifest "
		"codebase longdesc usemap profile");
	if (is_address && !check_address(l, element, value))
		return false;
	if (!has_slot(value))
		return true;
	if (str_starts(attribute, STR("on")) || str_is_among(attribute, "style srcdoc"))
		return loader_bad(
			l, value, "no slot may stand in '%.*s': it holds code", STR_ARG(attribute));
	if (str_is_among(attribute, "http-equiv content") && str_eq(element, STR("meta")))
		return loader_bad(
			l, value, "no slot may stand in '%.*s' of <meta>", STR_ARG(attribute));
	return true;
}

/* ---- what directs the filling ---------------------------------------------------------------- */

/* Missing where the element has none. */
static struct str attribute_of(struct loader *l, const void *from, const char *name)
{
	xmlChar *value = xmlGetNoNsProp((const xmlNode *)from, (const xmlChar *)name);
	struct str s = value ? str_trim(arena_str(l->keep, xml_str(value))) : MISSING;
	xmlFree(value);
	return s;
}

static bool compile_attributes(
	struct loader *l, struct node *n, struct str element, const xmlNode *from)
{
	for (const xmlAttr *a = from->properties; a; a = a->next) {
		struct str name = xml_str(a->name);
		loader_seek_past(l, name);
		if (a->ns)
			return loader_bad(l, name, "attributes with a prefix are not HTML");
		if (str_is_among(name, "data-each data-if data-else data-picture data-include"))
			continue;
		xmlChar *content = xmlNodeGetContent((const xmlNode *)a);
		struct str value = arena_str(l->keep, xml_str(content));
		xmlFree(content);
		if (!check_attribute(l, element, name, value))
			return false;
		struct attribute *own =
			arena_push(l->keep, n->attributes, n->attribute_count, n->attribute_cap);
		own->name = arena_str(l->keep, name);
		if (!loader_pattern(l, value, true, &own->value))
			return false;
	}
	return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

static bool compile_node(struct loader *l, const xmlNode *from, struct node **ret);
static bool compile_document(struct loader *l, struct node **ret);

/* The file in place of the element; afterwards the loader is where it was. */
static bool compile_include(struct loader *l, struct str name, struct node **ret)
{
	struct loader_place outer = l->at;
	if (l->includes == TEMPLATE_MAX_INCLUDES)
		return loader_bad(l, name, "%d files within each other: is one of them in itself?",
			TEMPLATE_MAX_INCLUDES);
	l->includes++;
	if (!loader_open(l, name) || !compile_document(l, ret))
		return false;
	l->at = outer;
	l->includes--;
	return true;
}

/* Nothing a stylesheet names may be fetched. */
static bool check_css(struct loader *l, struct str css)
{
	struct str rest = css;
	if (!xhtml_is_raw(css))
		return loader_bad(l, STR("<"), "a stylesheet may hold neither '</' nor '<!'");
	if (has_slot(css))
		return loader_bad(l, STR("{{"), "no slot may stand in a stylesheet");
	if (str_contains(css, STR("@import")))
		return loader_bad(
			l, STR("@import"), "the page is one file: '@import' is not allowed");
	for (ptrdiff_t at; (at = str_find(rest, STR("url("))) >= 0;) {
		rest = str_from_offset(rest, at + 4);
		str_take(&rest, STR("\""));
		if (!str_starts(rest, STR("data:")) && !str_starts(rest, STR("#")))
			return loader_bad(l, str_head(rest, 12),
				"the page is one file: 'url(' is followed by 'data:' or '#'");
	}
	return true;
}

static bool compile_style(struct loader *l, struct str include, struct str inner, struct node *n)
{
	struct loader_place outer = l->at;
	n->raw = arena_str(l->keep, inner);
	if (include.p && !loader_open(l, include))
		return false;
	if (include.p)
		n->raw = l->at.source;
	if (!check_css(l, n->raw))
		return false;
	l->at = outer;
	return true;
}

static bool compile_script(
	struct loader *l, struct str include, const xmlNode *from, struct node *n)
{
	struct loader_place outer = l->at;
	if (!include.p || from->children || from->properties->next)
		return loader_bad(l, STR("script"),
			"a script is <script data-include=\"file.js\"></script>, and nothing more");
	if (!loader_open(l, include))
		return false;
	if (!xhtml_is_raw(l->at.source))
		return loader_bad(l, STR("<"), "a script may hold neither '</' nor '<!'");
	if (has_slot(l->at.source))
		return loader_bad(l, STR("{{"), "no slot may stand in a script");
	n->raw = l->at.source;
	l->at = outer;
	struct sha256 hash = sha256_new();
	sha256_add(&hash, n->raw);
	l->scripts = arena_fmt(l->keep, "%.*s '%.*s'", STR_ARG(l->scripts),
		STR_ARG(sha256_source(&hash, l->keep)));
	return true;
}

/* What is inside the element: an included file, or its own nodes. */
static bool compile_inside(
	struct loader *l, struct node *n, struct str element, const xmlNode *from)
{
	struct str include = attribute_of(l, from, "data-include");
	struct node **end = &n->child;
	if (str_eq(element, STR("style"))) {
		xmlChar *content = xmlNodeGetContent(from);
		struct str own = arena_str(l->keep, xml_str(content));
		xmlFree(content);
		return compile_style(l, include, own.p ? own : STR(""), n);
	}
	if (str_eq(element, STR("script")))
		return compile_script(l, include, from, n);
	if (include.p)
		return str_eq(element, STR("template"))
			       ? compile_include(l, include, &n->child)
			       : loader_bad(l, include,
					 "data-include stands in <template>, <style> or <script>");
	for (const xmlNode *c = from->children; c; c = c->next) {
		if (!compile_node(l, c, end))
			return false;
		while (*end)
			end = &(*end)->next;
	}
	return true;
}

/* What the page says it allows; scripts are added when all are known. */
static void find_policy(struct loader *l, const struct node *n)
{
	bool is_policy = false;
	for (ptrdiff_t i = 0; i < n->attribute_count; i++) {
		const struct attribute *a = &n->attributes[i];
		is_policy |=
			str_eq(a->name, STR("http-equiv")) && a->value.count == 1 &&
			str_eq_nocase(a->value.parts[0].literal, STR("Content-Security-Policy"));
	}
	for (ptrdiff_t i = 0; i < n->attribute_count && is_policy; i++)
		if (str_eq(n->attributes[i].name, STR("content")))
			l->policy = &n->attributes[i].value;
}

static bool compile_element(struct loader *l, const xmlNode *from, struct node *n)
{
	struct str element = xml_str(from->name);
	int scopes = l->scope_count;
	loader_seek_past(l, arena_fmt(l->keep, "<%.*s", STR_ARG(element)));
	if (from->ns && from->ns->prefix)
		return loader_bad(l, element, "elements with a prefix are not HTML");
	if (str_is_among(element, "iframe object embed base frame frameset applet"))
		return loader_bad(
			l, element, "<%.*s> is not allowed in a report", STR_ARG(element));
	if (l->depth >= TEMPLATE_MAX_DEPTH)
		return loader_bad(
			l, element, "more than %d elements within each other", TEMPLATE_MAX_DEPTH);
	if (!loader_directives(l, n, from, attribute_of))
		return false;
	if (!str_eq(element, STR("template"))) {
		n->element = arena_str(l->keep, element);
		if (!compile_attributes(l, n, element, from))
			return false;
		find_policy(l, n);
	}
	l->depth++;
	bool ok = compile_inside(l, n, element, from);
	l->depth--;
	l->scope_count = scopes;
	return ok;
}

static bool compile_node(struct loader *l, const xmlNode *from, struct node **ret)
{
	struct str content = xml_str(from->content);
	if (from->type == XML_COMMENT_NODE)
		return !has_slot(content) ||
		       loader_bad(l, STR("{{"),
			       "no slot may stand in a comment; it would not be shown");
	if (from->type != XML_ELEMENT_NODE && from->type != XML_TEXT_NODE &&
		from->type != XML_CDATA_SECTION_NODE)
		return loader_bad(l, STR("&"), "only elements, text and comments may stand here");
	*ret = arena_make(l->keep, struct node, 1);
	if (from->type == XML_ELEMENT_NODE)
		return compile_element(l, from, *ret);
	/* Blanks between elements, but for one newline, are for the template's author alone. */
	bool is_layout = !str_trim(content).len && str_contains(content, STR("\n"));
	return loader_pattern(l, is_layout ? STR("\n") : content, false, &(*ret)->text);
}

/* ---- libxml2 --------------------------------------------------------------------------------- */

/* It may not read other files, nor expand entities that the file declares. */
#define XML_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

static bool syntax_error(struct loader *l, const xmlError *e)
{
	struct text_place place = { .file = l->at.file, .source = l->at.source, .width = 1 };
	struct str text = str_trim(e ? str_from(e->message) : STR("it cannot be read"));
	place.line = e && e->line > 0 ? e->line : 1;
	place.column = e && e->int2 > 0 ? e->int2 : 1;
	return diag_caret(
		l->err, DIAG_TEMPLATE, place, "not well-formed XHTML: %.*s", STR_ARG(text));
}

static bool compile_document(struct loader *l, struct node **ret)
{
	xmlParserCtxtPtr ctxt = xmlNewParserCtxt();
	if (!ctxt)
		return diag_set(l->err, DIAG_LIMIT, "no memory to read %.*s", STR_ARG(l->at.file));
	xmlDocPtr doc = xmlCtxtReadMemory(
		ctxt, l->at.source.p, (int)l->at.source.len, NULL, "UTF-8", XML_OPTIONS);
	const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	const xmlDtd *dtd = doc ? doc->intSubset : NULL;
	bool ok;
	if (!root)
		ok = syntax_error(l, xmlCtxtGetLastError(ctxt));
	else if (dtd && (dtd->children || dtd->SystemID || dtd->ExternalID))
		ok = loader_bad(
			l, STR("<!DOCTYPE"), "the document type is <!DOCTYPE html> or nothing");
	else
		ok = compile_node(l, root, ret);
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(ctxt);
	return ok;
}

bool compile_page(struct loader *l, struct node **ret)
{
	if (!compile_document(l, ret))
		return false;
	if (l->policy && l->scripts.len)
		loader_literal(
			l, l->policy, arena_fmt(l->keep, "; script-src%.*s", STR_ARG(l->scripts)));
	return true;
}

/* ---- filling --------------------------------------------------------------------------------- */

struct fill {
	struct xhtml *x;
	struct records r;
};

static void fill_attribute(const struct fill *f, const struct attribute *a)
{
	const struct part *parts = a->value.parts;
	bool is_slot = a->value.count == 1 && parts[0].ref.field;
	struct out *o = out_memory(f->x->keep);
	if (is_slot && !record_has(&f->r, parts[0].ref))
		return;
	bool is_flag = is_slot && parts[0].ref.field->type == RECORD_FLAG;
	for (ptrdiff_t i = 0; i < a->value.count && !is_flag; i++)
		out_str(o,
			parts[i].ref.field ? record_text(&f->r, parts[i].ref) : parts[i].literal);
	xhtml_attr(f->x, a->name, out_text(o));
}

static void fill_nodes(struct fill *f, const struct node *n);

static void fill_one(struct fill *f, const struct node *n)
{
	if (!records_allow(&f->r, n->only_if, n->only_else))
		return;
	for (ptrdiff_t i = 0; i < n->text.count; i++)
		xhtml_text(f->x, n->text.parts[i].ref.field
					 ? record_text(&f->r, n->text.parts[i].ref)
					 : n->text.parts[i].literal);
	if (n->raw.p) {
		xhtml_raw(f->x, n->element, n->raw);
		return;
	}
	if (n->element.p)
		xhtml_open(f->x, n->element);
	for (ptrdiff_t i = 0; i < n->attribute_count; i++)
		fill_attribute(f, &n->attributes[i]);
	if (n->picture.field && record_has(&f->r, n->picture)) {
		const struct template_picture *p = record_cell(&f->r, n->picture);
		p->draw(p->what, f->x);
	}
	fill_nodes(f, n->child);
	if (n->element.p)
		xhtml_close(f->x);
}

static void fill_nodes(struct fill *f, const struct node *n)
{
	for (; n; n = n->next) {
		ptrdiff_t count = n->each.field ? record_list(&f->r, n->each).count : 0;
		for (ptrdiff_t i = 0; i < count; i++) {
			records_enter(&f->r, n->each, i);
			fill_one(f, n);
			f->r.count--;
		}
		if (!n->each.field)
			fill_one(f, n);
	}
}

void template_fill_page(const struct doc_template *t, const void *record, struct xhtml *x)
{
	struct fill f = { .x = x, .r = { .items = { record }, .count = 1, .keep = x->keep } };
	xhtml_doctype(x);
	fill_nodes(&f, t->root);
	xhtml_close(x); /* nothing, when all is well */
}
