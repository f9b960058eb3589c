/*
 * Loading pages: read by libxml2, checked, and compiled to a tree of our own.  See template.h.
 *
 * libxml2 keeps neither columns nor the lines of attributes.  The walk goes through the document
 * in order, so a cursor that is moved to each thing as it is met knows where that thing stands.
 */
#include "report/template_tree.h"

#include <libxml/parser.h>
#include <stdio.h>

#include "base/input.h"
#include "base/sha256.h"

#define TEMPLATE_MAX_DEPTH    100 /* of elements; below XHTML_MAX_DEPTH */
#define TEMPLATE_MAX_INCLUDES 8	  /* files within files: more is a circle */

/* ---- attributes ------------------------------------------------------------------------------ */

static struct str xml_str(const xmlChar *z)
{
	return str_from((const char *)z);
}

static bool is_one_of(struct str name, const char *words)
{
	struct str rest = str_from(words), word;
	bool more = true;
	while (more) {
		more = str_cut(rest, ' ', &word, &rest);
		if (str_eq(word, name))
			return true;
	}
	return false;
}

/* Attributes whose value a browser fetches or goes to. */
static bool is_address(struct str attribute)
{
	return is_one_of(attribute,
		"href src srcset action formaction data poster background cite ping manifest "
		"codebase longdesc usemap profile");
}

static bool is_plain_link(struct str value)
{
	return str_starts(value, STR("https://")) || str_starts(value, STR("http://")) ||
	       str_starts(value, STR("mailto:")) || str_find_char(value, ':') < 0;
}

/* A link people click may lead away; anything the page loads by itself must be in it. */
static bool check_address(struct loader *l, struct str element, struct str value)
{
	bool is_link = is_one_of(element, "a area");
	if (str_starts(value, STR("#")) || (!is_link && str_starts(value, STR("data:"))))
		return true;
	if (!is_link)
		return loader_bad(l, value,
			"the page is one file: an address here begins with '#' or 'data:'");
	if (!has_slot(value))
		return is_plain_link(value) ||
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
	if (is_address(attribute) && !check_address(l, element, value))
		return false;
	if (!has_slot(value))
		return true;
	if (str_starts(attribute, STR("on")) || is_one_of(attribute, "style srcdoc"))
		return loader_bad(
			l, value, "no slot may stand in '%.*s': it holds code", STR_ARG(attribute));
	if (is_one_of(attribute, "http-equiv content") && str_eq(element, STR("meta")))
		return loader_bad(
			l, value, "no slot may stand in '%.*s' of <meta>", STR_ARG(attribute));
	return true;
}

static bool compile_attribute(
	struct loader *l, struct node *n, struct str element, struct str name, struct str value)
{
	if (!check_attribute(l, element, name, value))
		return false;
	struct attribute *a =
		arena_push(l->keep, n->attributes, n->attribute_count, n->attribute_cap);
	a->name = arena_str(l->keep, name);
	return loader_pattern(l, value, true, &a->value);
}

/* ---- what directs the filling ---------------------------------------------------------------- */

static bool compile_each(struct loader *l, struct node *n, struct str name)
{
	if (!loader_field(l, name, &n->each) ||
		!loader_want(l, name, &n->each, FIELD_LIST, "list, and cannot be repeated"))
		return false;
	if (l->scope_count == TEMPLATE_MAX_SCOPES)
		return loader_bad(
			l, name, "more than %d lists within each other", TEMPLATE_MAX_SCOPES);
	l->scopes[l->scope_count++] = n->each.field->record;
	return true;
}

static bool compile_picture(struct loader *l, struct node *n, struct str name)
{
	return loader_field(l, name, &n->picture) &&
	       loader_want(l, name, &n->picture, FIELD_PICTURE, "picture");
}

static bool is_directive(struct str attribute)
{
	return is_one_of(attribute, "data-each data-if data-else data-picture data-include");
}

/* data-each first, whatever the order in the file: the other names are looked up in the item. */
static bool compile_directives(struct loader *l, struct node *n, const xmlNode *from)
{
	static const char *const order[] = { "data-each", "data-if", "data-else", "data-picture" };
	ptrdiff_t start = l->cursor;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		xmlChar *value = xmlGetNoNsProp((xmlNode *)from, (const xmlChar *)order[i]);
		if (!value)
			continue;
		struct str name = str_trim(arena_str(l->keep, xml_str(value)));
		xmlFree(value);
		l->cursor = start;
		loader_seek_past(l, str_from(order[i]));
		bool ok = i == 0   ? compile_each(l, n, name)
			  : i == 1 ? loader_field(l, name, &n->only_if)
			  : i == 2 ? loader_field(l, name, &n->only_else)
				   : compile_picture(l, n, name);
		if (!ok)
			return false;
	}
	l->cursor = start;
	return true;
}

static bool compile_attributes(
	struct loader *l, struct node *n, struct str element, const xmlNode *from)
{
	for (const xmlAttr *a = from->properties; a; a = a->next) {
		struct str name = xml_str(a->name);
		loader_seek_past(l, name);
		if (a->ns)
			return loader_bad(l, name, "attributes with a prefix are not HTML");
		if (is_directive(name))
			continue;
		xmlChar *value = xmlNodeGetContent((const xmlNode *)a);
		struct str copy = arena_str(l->keep, xml_str(value));
		xmlFree(value);
		if (!compile_attribute(l, n, element, name, copy))
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
	struct loader outer = *l;
	if (!is_file_name(name))
		return loader_bad(
			l, name, "a template's name has small letters, digits, '-', '_', '.'");
	if (l->includes == TEMPLATE_MAX_INCLUDES)
		return loader_bad(l, name, "%d files within each other: is one of them in itself?",
			TEMPLATE_MAX_INCLUDES);
	l->includes++;
	if (!loader_open(l, name) || !compile_document(l, ret))
		return false;
	l->file = outer.file;
	l->source = outer.source;
	l->cursor = outer.cursor;
	l->includes = outer.includes;
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
	struct loader outer = *l;
	n->raw = arena_str(l->keep, inner);
	if (!include.p)
		return check_css(l, n->raw);
	if (!is_file_name(include))
		return loader_bad(
			l, include, "a stylesheet's name has small letters, digits, '-', '.'");
	if (!loader_open(l, include) || !check_css(l, l->source))
		return false;
	n->raw = l->source;
	l->file = outer.file;
	l->source = outer.source;
	l->cursor = outer.cursor;
	return true;
}

/* A script stands in a file, so that it can be read, and the page names its hash. */
static bool check_script(struct loader *l, struct str include, const xmlNode *from)
{
	if (!include.p || from->children || from->properties->next)
		return loader_bad(l, STR("script"),
			"a script is <script data-include=\"file.js\"></script>, and nothing more");
	return is_file_name(include) ||
	       loader_bad(l, include, "a script's name has small letters, digits, '-', '.'");
}

static bool compile_script(
	struct loader *l, struct str include, const xmlNode *from, struct node *n)
{
	struct loader outer = *l;
	if (!check_script(l, include, from) || !loader_open(l, include))
		return false;
	if (!xhtml_is_raw(l->source))
		return loader_bad(l, STR("<"), "a script may hold neither '</' nor '<!'");
	if (has_slot(l->source))
		return loader_bad(l, STR("{{"), "no slot may stand in a script");
	n->raw = l->source;
	*l = outer;
	struct sha256 hash = sha256_new();
	sha256_add(&hash, n->raw);
	l->scripts = arena_fmt(l->keep, "%.*s '%.*s'", STR_ARG(l->scripts),
		STR_ARG(sha256_source(&hash, l->keep)));
	return true;
}

static bool compile_children(struct loader *l, const xmlNode *from, struct node **ret)
{
	for (const xmlNode *c = from->children; c; c = c->next) {
		if (!compile_node(l, c, ret))
			return false;
		while (*ret)
			ret = &(*ret)->next;
	}
	return true;
}

static struct str own_content(struct loader *l, const xmlNode *from)
{
	xmlChar *text = xmlNodeGetContent(from);
	struct str s = arena_str(l->keep, xml_str(text));
	xmlFree(text);
	return s.p ? s : STR("");
}

static struct str include_of(struct loader *l, const xmlNode *from)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)from, (const xmlChar *)"data-include");
	struct str s = value ? str_trim(arena_str(l->keep, xml_str(value))) : str_from(NULL);
	xmlFree(value);
	return s;
}

/* What is inside the element: an included file, or its own nodes. */
static bool compile_inside(
	struct loader *l, struct node *n, struct str element, const xmlNode *from)
{
	struct str include = include_of(l, from);
	if (str_eq(element, STR("style")))
		return compile_style(l, include, own_content(l, from), n);
	if (str_eq(element, STR("script")))
		return compile_script(l, include, from, n);
	if (!include.p)
		return compile_children(l, from, &n->child);
	if (!str_eq(element, STR("template")))
		return loader_bad(
			l, include, "data-include stands in <template>, <style> or <script>");
	return compile_include(l, include, &n->child);
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

static bool check_element(struct loader *l, struct str element, const xmlNode *from)
{
	if (from->ns && from->ns->prefix)
		return loader_bad(l, element, "elements with a prefix are not HTML");
	if (is_one_of(element, "iframe object embed base frame frameset applet"))
		return loader_bad(
			l, element, "<%.*s> is not allowed in a report", STR_ARG(element));
	if (l->depth >= TEMPLATE_MAX_DEPTH)
		return loader_bad(
			l, element, "more than %d elements within each other", TEMPLATE_MAX_DEPTH);
	return true;
}

static bool compile_element(struct loader *l, const xmlNode *from, struct node *n)
{
	struct str element = xml_str(from->name);
	int scopes = l->scope_count;
	loader_seek_past(l, arena_fmt(l->keep, "<%.*s", STR_ARG(element)));
	if (!check_element(l, element, from) || !compile_directives(l, n, from))
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

/* Blanks between elements, but for one newline, are for the template's author alone. */
static bool is_layout(struct str text)
{
	return !str_trim(text).len && str_contains(text, STR("\n"));
}

static bool compile_text(struct loader *l, struct str text, struct node *n)
{
	return loader_pattern(l, is_layout(text) ? STR("\n") : text, false, &n->text);
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
	return compile_text(l, content, *ret);
}

/* ---- libxml2 --------------------------------------------------------------------------------- */

/* It may not read other files, nor expand entities that the file declares. */
#define XML_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

static bool syntax_error(struct loader *l, const xmlError *e)
{
	struct text_place place = { .file = l->file, .source = l->source, .width = 1 };
	struct str text = str_trim(e ? str_from(e->message) : STR("it cannot be read"));
	place.line = e && e->line > 0 ? e->line : 1;
	place.column = e && e->int2 > 0 ? e->int2 : 1;
	return diag_caret(
		l->err, DIAG_TEMPLATE, place, "not well-formed XHTML: %.*s", STR_ARG(text));
}

/* <!DOCTYPE html> and nothing in it. */
static bool check_doctype(struct loader *l, const xmlDoc *doc)
{
	const xmlDtd *dtd = doc->intSubset;
	if (!dtd || (!dtd->children && !dtd->SystemID && !dtd->ExternalID))
		return true;
	return loader_bad(l, STR("<!DOCTYPE"), "the document type is <!DOCTYPE html> or nothing");
}

static bool compile_document(struct loader *l, struct node **ret)
{
	xmlParserCtxtPtr ctxt = xmlNewParserCtxt();
	if (!ctxt)
		return diag_set(l->err, DIAG_LIMIT, "no memory to read %.*s", STR_ARG(l->file));
	xmlDocPtr doc = xmlCtxtReadMemory(
		ctxt, l->source.p, (int)l->source.len, NULL, "UTF-8", XML_OPTIONS);
	const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	bool ok = root ? check_doctype(l, doc) && compile_node(l, root, ret)
		       : syntax_error(l, xmlCtxtGetLastError(ctxt));
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(ctxt);
	return ok;
}

static struct page_template *finish(struct loader *l)
{
	struct page_template *t = arena_make(l->keep, struct page_template, 1);
	if (!compile_document(l, &t->root))
		return NULL;
	if (l->policy && l->scripts.len)
		loader_literal(
			l, l->policy, arena_fmt(l->keep, "; script-src%.*s", STR_ARG(l->scripts)));
	return t;
}

struct page_template *page_template_load(struct str dir, struct str name,
	const struct template_record *record, struct arena *keep, struct diag *err)
{
	struct loader l = loader_new(dir, record, keep, err);
	return loader_start(&l, name) ? finish(&l) : NULL;
}

struct page_template *page_template_parse(struct str file, struct str source,
	const struct template_record *record, struct arena *keep, struct diag *err)
{
	struct loader l = loader_new(str_from(NULL), record, keep, err);
	l.file = file;
	l.source = source;
	if (source.len > TEMPLATE_MAX_BYTES) {
		diag_set(err, DIAG_TEMPLATE, "%.*s: longer than %td KiB", STR_ARG(file),
			TEMPLATE_MAX_BYTES >> 10);
		return NULL;
	}
	return finish(&l);
}
